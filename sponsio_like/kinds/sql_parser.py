"""Parses queries by sqlglot, in a bounded number of steps.

In: a text, and the name of a database. Out: its tokens, and a tree for each statement.
"""

from __future__ import annotations

import functools
import itertools
import re
import threading
from typing import Any

OPEN_JOINS = 10
"""Most joins without a condition: for each the parser takes twice the time."""
NESTED = 8
"""Most brackets in brackets that stand beside one of these words, for the same reason."""
NESTING = frozenset({"UNION", "EXCEPT", "INTERSECT", "STRUCT", "OBJECT", "NESTED"})
COUNTED = (
    "SUPPORTS_COLUMN_JOIN_MARKS",
    "NORMALIZE_NOT_NULL",
    "SUPPORTS_USER_DEFINED_TYPES",
)
"""The attributes of a database that the parser reads whenever it tries to read an expression."""
NAMES_END = frozenset({"VAR", "IDENTIFIER", "R_PAREN"})
"""The words before `NATURAL JOIN`, where it is no name itself."""
JOINING = frozenset({"JOIN", "STRAIGHT_JOIN"})
TRIES = 100
"""Most of these questions about one text, and three more for each token of it: honest texts need
one for a token or less.
"""
READ, WORK, SEVERAL = 8_000, 2_000, 1_000
"""Most tokens of one text; most without further rows of values, and where several databases read a
text: recorded queries have up to 83.
"""
LETTERS = dict.fromkeys(("NUMBER", "STRING", "NULL", "TRUE", "FALSE"), "v")
LETTERS |= {"COMMA": ",", "L_PAREN": "(", "R_PAREN": ")", "DASH": "-", "SEMICOLON": ";"}
FURTHER_VALUES = re.compile(r"(?:,-?v){8}+((?:,-?v)+)(?=[,)])")
FURTHER_ROWS = re.compile(r"(?:,\(-?v(?:,-?v)*\)){8}+((?:,\(-?v(?:,-?v)*\))+)(?=[,);]|$)")
"""Values behind the first eight of a list, and rows behind the first eight: they say nothing else
of what the query does.
"""
INDEX = 30
"""The tokens that an opening `[` counts for: the parser works out the types around each."""


class _TooLongError(Exception):
    """Raised out of the parser when it has tried to read too much."""


class TooLongError(Exception):
    """Raised where a text has too many tokens to be parsed."""


class Tries(threading.local):
    """The number of attempts that are left to the parser, in this thread."""

    left = 0


TRIED = Tries()


@functools.cache
def _dialect(name: str) -> Any:
    """Return a database as sqlglot knows it, which counts what its parser tries.

    A few expressions have the parser try each part twice, and so each part of that: `+ if + if ..`.
    """
    import logging

    import sqlglot

    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns of each `Command`
    of = type(sqlglot.Dialect.get_or_raise(name))
    counting: Any = type(f"Counted{of.__name__}", (of,), {})
    for each in COUNTED:
        setattr(counting, each, _counted(getattr(of, each)))
    return counting()


def _counted(value: Any) -> property:
    """Return a property of this value, which counts how often it is read."""

    def read(_of: Any) -> Any:
        TRIED.left -= 1
        if TRIED.left < 0:
            raise _TooLongError
        return value

    return property(read)


class Tokenizers(threading.local):
    """The tokenizers of a thread: they take long to make, and each reads one text at a time."""

    def __init__(self) -> None:
        self.made: dict[str, Any] = {}

    def of(self, dialect: str) -> Any:
        """Return the tokenizer for a database."""
        if dialect not in self.made:
            self.made[dialect] = _dialect(dialect).tokenizer()
        return self.made[dialect]


TOKENIZERS = Tokenizers()
BROKEN = (ValueError, AttributeError, TypeError, LookupError)
"""The errors of the parser that are not its own, at texts that end too soon (`SHOW TABLE`)."""


def parsed(text: str, dialect: str, most: int = WORK) -> tuple[list[Any], list[Any] | None]:
    """Return the tokens of a text, and its statements; None for these if it does not parse.

    Raises `TooLongError` if there are more tokens than `most`.
    """
    import sqlglot  # of the extra [kinds]

    try:
        tokens = TOKENIZERS.of(dialect).tokenize(text)
        few = _without_rows(tokens) if most < len(tokens) <= READ else tokens
        if len(few) + INDEX * text.count("[") > most:
            raise TooLongError
        if _takes_long(text, few):
            return [], None
        TRIED.left = TRIES + 3 * len(few)
        return tokens, list(_dialect(dialect).parser().parse(few, text))
    except (sqlglot.errors.SqlglotError, RecursionError, _TooLongError, *BROKEN):
        return [], None


def _without_rows(tokens: list[Any]) -> list[Any]:
    """Return the tokens without values behind the first of a list, and rows of such values."""
    few, letter = tokens, _letters().get
    for further in (FURTHER_VALUES, FURTHER_ROWS):
        signs = "".join([letter(each.token_type, "x") for each in few])
        past, kept = 0, list[Any]()
        for match in further.finditer(signs):
            kept += few[past : match.start(1)]
            past = match.end(1)
        few = kept + few[past:]
    return few


@functools.cache
def _letters() -> dict[Any, str]:
    from sqlglot import TokenType  # of the extra [kinds]

    return {each: LETTERS[each.name] for each in TokenType if each.name in LETTERS}


def _takes_long(text: str, tokens: list[Any]) -> bool:
    """True if the parser may take twice the time for each of many joins or brackets."""
    if text.count("(") > NESTED and _nested(tokens) > NESTED:
        return True
    return text.lower().count("join") > OPEN_JOINS and _open_joins(tokens) > OPEN_JOINS


def _nested(tokens: list[Any]) -> int:
    """Return how many brackets beside a word of `NESTING` stand in one another."""
    kinds = [each.token_type.name for each in tokens]
    around, depth, most = list[bool](), 0, 0
    for i, each in enumerate(kinds):
        if each == "L_PAREN":
            around.append(not NESTING.isdisjoint(kinds[max(0, i - 1) : i + 2]))
            depth += around[-1]
            most = max(most, depth)
        elif each == "R_PAREN" and around:
            depth -= around.pop()
    return most


def _open_joins(tokens: list[Any]) -> int:
    """Return the number of joins that another one, or the end, follows before any condition."""
    kinds = [each.token_type.name for each in tokens]
    ends = [each for each in kinds if each in JOINING or each in ("ON", "USING")]
    closed = sum(one in JOINING and other not in JOINING for one, other in itertools.pairwise(ends))
    free = sum(
        each in JOINING and kinds[i - 1] in ("CROSS", "NATURAL") and kinds[i - 2] in NAMES_END
        for i, each in enumerate(kinds)
    )
    return sum(each in JOINING for each in kinds) - closed - free
