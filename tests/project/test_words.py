"""Docstrings open with what is returned or done, never with a question word or half a sentence."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "sponsio_like"

RIDDLES = re.compile(
    r"(What|Whether|How|Where|When|Why|Who|Which|Whose|If|As|So|Those|That|Of|No|There)\b"
)
"""First words of docstrings that make the reader guess who does what."""


def riddles(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the first line of each docstring, of constants too, that opens so."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(ast.Constant(str(text))) if RIDDLES.match(text):
                yield node.lineno, text.splitlines()[0]


def test_docstrings_say_what_is_returned_or_done() -> None:
    """No docstring opens with a question word or half a sentence."""
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {text}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, text in riddles(path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize("word", ["What", "Whether", "How", "Of", "There", "No"])
def test_an_opening_that_makes_the_reader_guess_is_found(word: str) -> None:
    """A docstring of a module, a constant, a class or a function that opens so is reported."""
    for source in (
        f'"""{word} is owed."""',
        f'A = 1\n"""{word} is owed."""',
        f'class A:\n    """{word} is owed."""',
        f'def a():\n    """{word} is owed."""',
    ):
        assert [text for _, text in riddles(source)] == [f"{word} is owed."]


@pytest.mark.parametrize("opening", ["Return what is owed.", "True if owed.", "Nothing is owed."])
def test_an_opening_that_says_what_is_done_passes(opening: str) -> None:
    """A verb, a predicate and a noun are openings; a longer word than those listed is one, too."""
    assert list(riddles(f'def a():\n    """{opening}"""')) == []
