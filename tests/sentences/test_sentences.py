"""Sentences that people write: each means the contract that is expected, or is refused."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

import sponsio_like.logic.formula as f
from sponsio_like import ContractError
from sponsio_like.contracts import find_pattern, read_sentence
from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.demands import demanded_where, same_meaning
from sponsio_like.contracts.targets import Vocabulary, read_target
from sponsio_like.syntax import read

HERE = Path(__file__).parent


class Row(NamedTuple):
    """A sentence, the tools that are declared, and the contract that is meant (None: refused)."""

    sentence: str
    tools: tuple[str | tuple[str, tuple[tuple[str, str], ...]], ...] | None
    meant: dict[str, Any] | None

    @property
    def words(self) -> Vocabulary:
        """The vocabulary of the declared tools."""
        if self.tools is None:
            return Vocabulary(None)
        each = [
            (one, None) if isinstance(one, str) else (one[0], dict(one[1])) for one in self.tools
        ]
        return Vocabulary(dict(each))


def tools_of(written: Any) -> tuple[Any, ...] | None:
    """Return the tools of a part of a table: names, or a map from names to kinds of fields."""
    if not isinstance(written, dict):
        return None if written is None else tuple(written)
    return tuple((name, tuple(fields.items())) for name, fields in written.items())


def rows(name: str) -> Iterator[Row]:
    """Yield the rows of a table."""
    for part in yaml.safe_load((HERE / name).read_text("utf-8")):
        tools = tools_of(part["tools"])
        yield from (Row(sentence, tools, meant) for sentence, meant in part["understood"])
        yield from (Row(sentence, tools, meant) for sentence, meant in part.get("repaired", ()))
        yield from (Row(sentence, tools, None) for sentence in part["refused"])
        yield from (Row(sentence, tools, None) for sentence, _ in part.get("missed", ()))


TABLES = (
    *(
        "blind",
        "blind_second",
        "blind_third",
        "blind_fourth",
        "blind_fifth",
        "blind_sixth",
        "blind_seventh",
        "blind_eighth",
    ),
    *("typed", "own", "more", "neighbours"),
    *("others", "phrasings", "spelling", "traps"),
)
TABLE = [row for name in TABLES for row in rows(f"{name}.yaml")]
MEANT = [row for row in TABLE if row.meant is not None]


def expected(row: Row) -> Rule:
    """Return the rule that a row expects."""
    assert row.meant is not None
    meant = dict(row.meant)
    if "ltl" in meant:
        return Rule(read(meant["ltl"]))
    when = meant.pop("when", None)
    rule = find_pattern(meant.pop("pattern")).rule(meant, row.words)
    if when is None:
        return rule
    return Rule(demanded_where(_when(when), rule.formula, "if"), by=rule.by, answer=rule.answer)


def _when(text: str) -> f.Formula:
    if not text.startswith("after "):
        return read(text)
    calls = read_target(text.removeprefix("after "))
    return f.Yesterday(f.Once(f.Happens("called", calls) & ~f.Happens("failed", calls)))


@cache
def score(row_: tuple[str, tuple[Any, ...] | None]) -> Rule | str:
    """Return the rule of a sentence, or the error that refuses it."""
    row = Row(*row_, None)
    try:
        return read_sentence(row.sentence, row.words)
    except ContractError as error:
        return str(error)


def judged(row: Row) -> str:
    """Return `right`, `missed` or `misread`."""
    found = score((row.sentence, row.tools))
    if isinstance(found, str):
        return "right" if row.meant is None else "missed"
    if row.meant is None:
        return "misread"
    return "right" if same_meaning(found, expected(row)) else "misread"


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.sentence)
def test_a_sentence_means_what_is_expected_or_is_refused(row: Row) -> None:
    """A sentence that people write is the contract that they mean, or is refused."""
    assert judged(row) == "right", score((row.sentence, row.tools))


@pytest.mark.parametrize("row", MEANT, ids=lambda row: row.sentence)
def test_what_was_understood_is_said_in_a_sentence_that_reads_back(row: Row) -> None:
    """The sentence that is shown for what was understood means the same, if it is one."""
    found = score((row.sentence, row.tools))
    assert not isinstance(found, str)
    try:
        again = read_sentence(found.sentence, row.words)
    except ContractError:
        assert found.pattern  # it is shown as a file writes it
    else:
        assert same_meaning(again, found)


NEAREST = {
    "respond within 3 steps of receive": "tool `respond` within 3 steps of `receive`",
    "never call deploy before noon": "tool `noon` must precede `deploy`",
    "tool `A` must precede `B` or else": "tool `A` must precede `B`",
    "call `pay` exactly 3 times": "tool `pay` at most 3 times",
    "`check` must precede `pay` unless": "tool `check` must precede `pay`",
    "never call `pay` and `check`": "tools `pay` and `check` are mutually exclusive",
    "if ctx env, `deploy` requires confirmation": "tool `deploy` requires confirmation",
    "`pay` must not precede `check`": "after `pay`, tool `check` is forbidden",
}


@pytest.mark.parametrize("sentence", NEAREST)
def test_a_refusal_offers_the_nearest_form_with_the_words_that_were_written(sentence: str) -> None:
    """What is not understood is refused with the closest sentence, filled with its own words."""
    found = score((sentence, None))
    assert isinstance(found, str)
    assert f"“{NEAREST[sentence]}”" in found


@pytest.mark.parametrize(
    "sentence",
    [
        "never fail to call `check` before `pay`",
        "do not forget to call `check` before `pay`",
        "not every `refund` must be followed by `notify`",
        "`pay` does not require confirmation",
        "`check` need not precede `pay`",
        "it is not true that `check` must precede `pay`",
    ],
)
def test_a_refusal_never_offers_the_opposite(sentence: str) -> None:
    """No sentence is offered that denies what was affirmed, or the other way round."""
    found = score((sentence, None))
    assert isinstance(found, str)
    assert "did you mean" not in found


def test_a_sentence_that_can_mean_two_things_is_refused_with_both() -> None:
    """Where readings demand different things, both are shown, and none is chosen."""
    found = score(("`a` must not precede `b`", None))
    assert isinstance(found, str)
    assert "“`a` must not precede `b`” can mean two things" in found
    assert "“tool `b` must precede `a`” or “after `a`, tool `b` is forbidden”" in found


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("`a` must not precede `b`", "“must not precede” has both meanings"),
        ('the "a" must be called after "b".', "“must be called after” has both meanings"),
        ("if ctx env is prod, `a` must not precede `b`", ": “must not precede” has both"),
        ("`a` must not precede `b` unless ctx env is prod", ": “must not precede” has both"),
        ("`a` within 2 minutes of `b`", "“within 2 minutes of” has both meanings"),
        ("call `a` before each `b`", "“before each” has both meanings"),
    ],
)
def test_the_words_that_can_mean_two_things_are_named(sentence: str, words: str) -> None:
    """Those between the names; without a condition, which is not in question."""
    found = score((sentence, None))
    assert isinstance(found, str)
    assert words in found


def test_two_meanings_that_sound_alike_are_told_apart() -> None:
    """A call that is only allowed in time, and one that has to come in time."""
    found = score(("`a` within 2 minutes of `b`", None))
    assert isinstance(found, str)
    assert "“`a` within 120s of `b`” (it is called only then)" in found
    assert "“tool `a` within 120 seconds of `b`” (it has to be called then)" in found


def test_the_page_on_sentences_tells_the_truth() -> None:
    """Each sentence in the table of docs/sentences.md means the one beside it."""
    page = (HERE.parents[1] / "docs" / "sentences.md").read_text("utf-8")
    part = page.partition("## What can be said")[2].partition("\n## ")[0]
    table = [line for line in part.splitlines() if line.startswith("| ")][1:]
    lines = [line.strip("| ").split(" | ") for line in table]
    assert len(lines) > 10
    for written, means in lines:
        for each in written.split("; "):
            found = read_sentence(each)
            if not means.startswith("both") and "confirmed by" not in each:
                assert same_meaning(found, read_sentence(means)), each


def test_the_page_on_kinds_has_sentences_that_are_understood() -> None:
    """Each sentence in the first column of its table, where the kinds are declared."""
    page = (HERE.parents[1] / "docs" / "kinds.md").read_text("utf-8")
    part = page.partition("## In words")[2].partition("\n## ")[0]
    table = [line for line in part.splitlines() if line.startswith("| ")][1:]
    words = next(rows("typed.yaml")).words
    sentences = [each for line in table for each in line.strip("| ").split(" | ")[0].split("; ")]
    assert len(sentences) > 10
    for each in sentences:
        assert read_sentence(each, words).sentence
