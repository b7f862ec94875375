"""Texts that are tried for contracts on what texts mean: each means what it was written for."""

from __future__ import annotations

import pytest

import sponsio_like.kinds  # noqa: F401  it declares the kinds
from sponsio_like.contracts import loads
from sponsio_like.replay import shortest_lines
from sponsio_like.replay.sample_texts import VERBS, WEEK, WRITTEN, texts_for
from sponsio_like.values import TEXT_KINDS

FACTS = [(kind, fact) for kind, facts in WRITTEN.items() for fact in facts]
ASKED = {
    "amount": 5,
    "port": 8443,
    "hosts": "a.com",
    "host": "a.com",
    "domain": "a.com",
    "address": "ann@a.com",
    "currency": "EUR",
    "path": "/a",
    "scheme": "ftp",
    "reaches_out": "pg_read_file",
    "without_where": "t",
}


def read(kind: str, text: str, fact: str) -> tuple[object, ...]:
    """The values of a fact of a text."""
    facts = TEXT_KINDS[kind].facts_of(text)
    assert facts is not None
    return facts.get(fact) or facts.get(f"{fact}[]") or ()


@pytest.mark.parametrize(("kind", "fact"), FACTS)
def test_a_text_has_the_fact_that_it_was_written_for(kind: str, fact: str) -> None:
    """What the contract compares with is read back from one of the texts, and not from all."""
    names = {each.removesuffix("[]") for each in TEXT_KINDS[kind].facts}
    assert fact in names
    asked = ASKED.get(fact, "x1")
    texts = list(texts_for(kind, fact, "=", asked))
    found = [read(kind, text, fact) for text in texts]
    plain = "{}" not in WRITTEN[kind][fact][0]
    has = [bool(each) and each != (False,) if plain else asked in each for each in found]
    assert True in has
    assert False in has


@pytest.mark.parametrize("verb", VERBS)
def test_a_statement_has_its_verb(verb: str) -> None:
    """Only this one."""
    assert set(read("sql", VERBS[verb], "verbs")) == {verb}


@pytest.mark.parametrize("day", WEEK)
def test_a_date_is_of_its_day(day: str) -> None:
    """As the kind reads it."""
    assert read("date", WEEK[day], "weekday") == (day,)


FILE = """version: 1
tools:
  bash: {fields: {command: shell}}
  db: {fields: {query: sql}}
  pay: {fields: {amount: money, on: date}}
  mail: {fields: {to: email}}
  fetch: {fields: {url: url}}
  write: {fields: {path: path}}
contracts:
  - name: rule
    guarantee: SENTENCE
"""
SHORTEST = {
    'bash must not run "rm"': ("bash(command=ls x)", "bash(command=rm x)"),
    'bash may only run "ls"': ("bash(command=ls x)", "bash(command=cat x)"),
    "bash must not write outside /data": (
        "bash(command=touch /data/a)",
        "bash(command=touch /elsewhere/a)",
    ),
    "db must not drop": ("db(query=SELECT a FROM t)", "db(query=DROP TABLE t)"),
    'db may only read from the table "users"': (
        "db(query=SELECT a FROM users)",
        "db(query=SELECT a FROM t)",
    ),
    "`pay.amount` at most 100": ("pay(amount=100 EUR)", "pay(amount=101 EUR)"),
    'the amount of pay must be in currency "EUR"': ("pay(amount=1 EUR)", "pay(amount=1 CHF)"),
    "the `on` of pay must not be on sunday": ("pay(on=2024-01-01)", "pay(on=2024-01-07)"),
    "the `to` of mail must be in domain corp.com": (
        "mail(to=ann@corp.com)",
        "mail(to=ann@example.org)",
    ),
    "fetch must not reach private addresses": (
        "fetch(url=https://example.com/)",
        "fetch(url=http://127.0.0.1/)",
    ),
    "write must not write outside /srv": ("write(path=/srv/a)", "write(path=/elsewhere/a)"),
}


@pytest.mark.long
@pytest.mark.parametrize("sentence", SHORTEST)
def test_the_shortest_traces_have_texts(sentence: str) -> None:
    """They are calls that an agent might make."""
    (contract,) = loads(FILE.replace("SENTENCE", f"'{sentence}'")).contracts
    keeps, breaks = SHORTEST[sentence]
    found = [(label, line.replace('"', "")) for label, line in shortest_lines(contract)]
    assert found == [("keeps", keeps), ("breaks", breaks)]
