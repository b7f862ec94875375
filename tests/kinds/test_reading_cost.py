"""What is not asked for is not read: parsers that no contract needs, and texts of other fields."""

from __future__ import annotations

import dataclasses
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, Guard
from sponsio_like.kinds import sql, sql_parser
from sponsio_like.kinds.sql import (
    COMMENTED,
    CONDITIONAL,
    DEPTH,
    DIFFERENT,
    ROLES,
    _depth,
    _is_alike,
    _is_deep,
    _run,
    _told,
)
from sponsio_like.values import TEXT_KINDS, UNREADABLE
from tests.support.costs import beside, work

EXTRAS = {"ada_url", "phonenumbers", "sqlglot", "stdnum", "tree_sitter", "tree_sitter_bash"}
"""The modules of the extra `[kinds]`."""
PROBE = """
import sys
from sponsio_like import Guard
guard = Guard.from_yaml({path!r})
session = guard.session()
for _ in range(2):
    session.settle(session.decide({tool!r}, {args!r}).id, output="done")
print(*sys.modules)
"""
PLAIN = """
version: 1
tools:
  bash: {fields: {command: string, many: integer}}
  look:
  pay:
contracts:
  - name: small
    guarantee: {pattern: arg_value_range, tool: bash, field: many, max: 5}
  - name: no_word
    guarantee: {pattern: absent, match: {tool: bash, args: {command: {matches: "rm -rf"}}}}
  - name: first
    guarantee: {pattern: must_precede, first: look, then: pay}
"""
KINDS = """
version: 1
tools:
  look:
  bash: {fields: {command: shell, text: string, query: string}}
  ask:
    fields: {command: string, query: sql, page: url, file: path, to: email, day: date, code: id}
contracts:
  - name: no_rm
    guarantee: {pattern: absent, match: {tool: bash, args: {command: {runs: [rm]}}}}
  - name: only_reads
    guarantee: {pattern: absent, match: {tool: ask, args: {query: {verbs: [delete]}}}}
  - name: no_host
    guarantee: {pattern: absent, match: {tool: ask, args: {page: {host: a.com}}}}
  - name: no_file
    guarantee: {pattern: absent, match: {tool: ask, args: {file: {suffix: key}}}}
  - name: no_mail
    guarantee: {pattern: absent, match: {tool: ask, args: {to: {domain: a.com}}}}
  - name: no_sunday
    guarantee: {pattern: absent, match: {tool: ask, args: {day: {weekday: sunday}}}}
"""


def loaded(tmp_path: Path, contracts: str, tool: str, args: dict[str, Any]) -> set[str]:
    """The modules that a process has loaded after two calls under these contracts."""
    file = tmp_path / "contracts.yaml"
    file.write_text(contracts)
    code = PROBE.format(path=str(file), tool=tool, args=args)
    command = [sys.executable, "-c", code]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {name.partition(".")[0] for name in shown.split()}


def test_contracts_without_kinds_load_no_parser(tmp_path: Path) -> None:
    """A guard that compares plain arguments loads nothing of the extra, when it decides either."""
    args = {"command": "echo 'rm' | sh", "many": 3}
    assert not loaded(tmp_path, PLAIN, "bash", args) & EXTRAS


def test_contracts_with_kinds_load_the_parsers_of_texts_that_they_read(tmp_path: Path) -> None:
    """A contract about commands loads their parser, whatever is called, and no other one: the kinds
    of `tools:` that no contract asks about load none.
    """
    no_rm = KINDS.partition("  - name: only_reads")[0]
    seen = loaded(tmp_path, no_rm, "bash", {"command": "if a; then b; fi"})
    assert seen & EXTRAS == {"tree_sitter", "tree_sitter_bash"}
    assert loaded(tmp_path, no_rm, "look", {}) & EXTRAS == seen & EXTRAS


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the kinds whose readers run, one for each time; nothing is kept."""
    ran = list[str]()

    def counted(name: str, read: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def noted(given: Any) -> Any:
            ran.append(name)
            return read(given)

        return noted

    for name, kind in list(TEXT_KINDS.items()):
        whole = None if kind.of_words is None else counted(name, kind.of_words)
        counting = dataclasses.replace(kind, read=counted(name, kind.read), of_words=whole)
        monkeypatch.setitem(TEXT_KINDS, name, counting)
    return ran


def test_calls_without_such_fields_run_no_reader(tmp_path: Path, readings: list[str]) -> None:
    """Other tools, missing arguments, other arguments: no kind reads anything."""
    file = tmp_path / "contracts.yaml"
    file.write_text(KINDS)
    guard = Guard.from_yaml(str(file))
    session = guard.session()
    readings.clear()
    for tool, args in (
        ("look", {"command": "rm a", "query": "delete from a", "page": "http://a.com"}),
        ("bash", {}),
        ("bash", {"text": "rm a", "query": "delete from a"}),
        ("ask", {"command": "rm a", "code": "ORD 17"}),
    ):
        for _ in range(3):
            call = session.decide(tool, args)
            assert isinstance(call, Allowed)
            session.settle(call.id, output={"command": "rm a", "page": "http://a.com"})
    assert readings == []
    session.decide("bash", {"command": "ls a"})
    session.decide("ask", {"query": "select 1", "page": "http://b.com"})
    assert sorted(readings) == ["shell", "sql", "url"]
    session.decide("bash", {"command": "ls a"})
    assert sorted(readings) == ["shell", "sql", "url"]


def test_a_long_text_is_read_once_for_all_contracts(tmp_path: Path, readings: list[str]) -> None:
    """As short ones are: whatever ten contracts ask of it, and the advice."""
    rules = [
        f"""  - name: r{i}
    guarantee: {{pattern: absent, match: {{tool: bash, args: {{command: {{runs: [x{i}]}}}}}}}}"""
        for i in range(10)
    ]
    tools = "version: 1\ntools:\n  bash: {fields: {command: shell}}\ncontracts:\n"
    file = tmp_path / "contracts.yaml"
    file.write_text(tools + "\n".join(rules))
    session = Guard.from_yaml(str(file)).session()
    readings.clear()
    outcome = session.decide("bash", {"command": "ls a\n" * 1_200 + "x3"})
    assert isinstance(outcome, Blocked)
    assert "r3" in outcome.advice
    assert readings == ["shell"]


# --- what is looked at first says the same --------------------------------------------------------

PARTS = (
    *("(", ")", "[", "]", "case ", "NOT ", "not(", "notes", "--", "-- ", "/*", "*/", "into ", "-"),
    *(
        "INTO\tOUTFILE 'a'",
        "İnto dumpfile",
        "file",
        "select a ",
        "'a' ",
        '"',
        "!=",
        "$1 ",
        "é",
        ";",
    ),
)


def test_texts_that_no_database_reads_differently_are_told_by_few_signs() -> None:
    """Both ways to look for such signs, and for deep brackets, agree on random texts."""
    dice, told = random.Random(1), list[tuple[bool, bool]]()
    for _ in range(4_000):
        some = dice.choices(PARTS, k=5)
        text = "".join(dice.choices(some, k=dice.choice((3, 12, 200))))
        alike = DIFFERENT.search(text) is None and COMMENTED.search(text) is None
        told.append((alike, _depth(text) > DEPTH))
        assert (_is_alike(text), _is_deep(text)) == told[-1], text
    assert min(map(told.count, {(a, b) for a in (True, False) for b in (True, False)})) > 20


def test_every_node_that_says_something_is_told() -> None:
    """The nodes are those of the parser's own walk, in its order, but for names and literals."""
    from sqlglot import parse_one

    path = Path(__file__).with_name("queries.txt")
    queries = [
        line for line in path.read_text().splitlines() if re.match(r"(?i)(select|with)", line)
    ]
    seen = 0
    for text in queries:
        if not sql(text)["statements"] or (root := _tree_of(parse_one, text)) is None:
            continue
        walked = [(ROLES[node.__class__], node) for node in root.walk()]
        assert [id(node) for _, node in _told(root)[1:]] == [
            id(node) for role, node in walked[1:] if role
        ]
        seen += 1
    assert seen > 100


def _tree_of(parse: Callable[..., Any], text: str) -> Any:
    from sqlglot.errors import SqlglotError

    try:
        return parse(text, read="postgres")
    except SqlglotError:
        return None


def test_comments_that_mysql_runs_are_found_as_if_each_was_searched_to_the_end() -> None:
    """The search stops where no comment is closed any more; it finds the same."""
    rng = random.Random(11)
    for _ in range(3_000):
        text = "".join(rng.choices(["/*", "!", "M", "*/", "5", "a", " ", "*", "/"], k=14))
        assert _run(text) == CONDITIONAL.sub(r" \1 ", text)


def test_comments_that_nothing_ends_are_not_searched_to_the_end_each() -> None:
    """It took 700 times as much as the yardstick, now less than it."""
    assert beside(lambda: _run("/*!" * 5_000)) < 30
    assert beside(lambda: _run("/*! */" + "/*!" * 5_000)) < 30


@pytest.mark.parametrize("text", ["a[1],", "1+", "(1,2,a),", "a.b,", "f(a),", "?,"])
def test_a_query_of_more_than_so_many_tokens_is_not_parsed(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is unknown, and the parser is not asked; half as many are read."""
    asked = list[int]()
    dialect = sql_parser._dialect("postgres")
    parser = dialect.parser()

    class Asked:
        def parse(self, tokens: Any, sql: str) -> Any:
            asked.append(len(tokens))
            return parser.parse(tokens, sql)

    monkeypatch.setattr(type(dialect), "parser", lambda _self: Asked())
    each = len(sql_parser.TOKENIZERS.of("postgres").tokenize(text)) + 30 * text.count("[")
    with pytest.raises(sql_parser.TooLongError):
        sql_parser.parsed(f"select {text * (2_300 // each)}a", "postgres")
    assert asked == []
    tokens, statements = sql_parser.parsed(f"select {text * (1_900 // each)}a", "postgres")
    parsed = statements is not None
    assert (parsed, asked) == (True, [len(tokens)])


ROWS = ("insert into t values {rows}", "select a from t where (x, y) in ({rows})")
LISTS = ("select a from t where x in ({values})", "insert into t values ({values})")


@pytest.mark.parametrize("query", [*ROWS, *LISTS])
@pytest.mark.parametrize("behind", ["", "; delete from u"])
def test_further_rows_of_values_are_not_parsed(query: str, behind: str) -> None:
    """A query is read with all its rows, and as if it had eight of them; one with a call in them
    has that, and one of more than 8,000 tokens is unknown.
    """

    def read(many: int, each: str = "(1, 'a')") -> Any:
        rows, values = ", ".join([each] * many), ", ".join(["17"] * 2 * many)
        return sql(query.format(rows=rows, values=values) + behind)

    assert read(700) == read(9) != read(2_500)
    assert read(2_500)["verbs"] == (UNREADABLE,)
    if query in ROWS:
        assert read(40, "(1, f(2))")["functions"] == ("f",)


def test_what_several_databases_read_has_half_the_tokens() -> None:
    """Three parsers read a text with a quote that one of them takes for another sign."""
    text = "select a from t where b = 1" + " and b = 1" * 300
    assert sql(text)["verbs"] == ("select",)
    assert sql(text + " and c = 'a\\'")["verbs"] == (UNREADABLE,)
    assert sql("select a from t where b = 1" + " and b = 1" * 100 + ' and c = "a"')["verbs"] == (
        "select",
    )


@pytest.mark.parametrize("piece", [" union select a from t", "; select 1", " join x on a = b"])
def test_a_query_at_the_cap_costs_a_bounded_number_of_calls(piece: str) -> None:
    """The longest text that is parsed, and one of more tokens: 40,000 calls; there were 100,000."""
    for many in (1_900, 4_000):
        each = len(sql_parser.TOKENIZERS.of("postgres").tokenize(piece))
        text = "".join(["select a from t", *[piece] * (many // each)])
        assert work(lambda text=text: sql(text)) < 40_000  # type: ignore[misc]
