"""What counts as a confirmation: a success of the confirming tool whose answer is a yes.

In: the confirming tools, and what their answer has to be, if the contract says so. Out: a formula.
Without `accept` an answer confirms only if it cannot be read otherwise.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

from sponsio_like.events import Result, Unreadable
from sponsio_like.formula import Custom, Formula, Output, OutputIs, Target, conj
from sponsio_like.limits import TEXT_CAP
from sponsio_like.matches import outputs
from sponsio_like.operands import fixed, pattern_text
from sponsio_like.parts import Counts, worked
from sponsio_like.registry import atom
from sponsio_like.tokens import leaves, read_json

WORDS = ("yes", "approved", "confirmed", "ok", "okay", "true")
"""What a yes is made of."""
ANSWERS = {*WORDS, "status", "answer", "reply", "response", "decision", "result"}
ANSWERS |= {"confirmation", "approval", "text", "content"}
"""The fields in which an answer stands."""
_WORD = f"(?:{'|'.join(WORDS)})"
YES = re.compile(rf'[\s"]*{_WORD}(?:[\s,.!]+{_WORD})*[\s.!"]*', re.IGNORECASE)
NOT = r"\b(?:no|not|never|nor|none|cannot|without|nein|\w+n['’]t)\b"
"""What turns the words after it round."""
AGAINST = re.compile(
    rf"{NOT}|fals|fail|error|mismatch|\bden(?:y|ied)|reject|refus|declin|cancell?ed|abort|invalid"
    r"|disallow|disapprov|expired|revoked|forbid|\bun\w+ed\b",
    re.IGNORECASE,
)
"""What may not stand in any other field, or in its name."""
PLAIN = re.compile(r"\w[\w\s-]*")
"""What is looked for as a word, not as a regular expression."""


def confirmed(by: Target, accept: Formula | None, counts: Counts) -> Formula:
    """This call confirms: its answer is as `accept` says, else a yes."""
    return worked(by, counts) & (Custom("confirms") if accept is None else accept)


def accepted(value: Any) -> Formula:
    """An answer as `accept` says: a regular expression, a plain word, or as a match has outputs."""
    if isinstance(value, str):
        fixed(value, "what confirms")
        text = pattern_text(value)
        plain = PLAIN.fullmatch(text)
        return Custom("answers", (text,)) if plain else OutputIs("", "matches", text)
    found = outputs(value)
    for each in found:
        if isinstance(each, OutputIs):
            fixed(each.value, "what confirms")
    return conj(*found)


def reads_answer(node: object) -> bool:
    """Whether this atom or term reads what a call has answered."""
    confirming = isinstance(node, Custom) and node.name in ("confirms", "answers")
    return confirming or isinstance(node, OutputIs | Output)


@atom("confirms", waits=True)
def confirms(_: str, result: Result) -> bool:
    """The answer is a yes, and cannot be read otherwise."""
    return result.status == "ok" and is_yes(result.output)


@atom("answers", waits=True)
def answers(_: str, result: Result, word: str) -> bool | None:
    """The answer has this word in it, as a whole word, and never after a `not`."""
    try:
        found = leaves(result.output)
        texts = [leaf for name, leaf in found if name is not None and isinstance(leaf, str)]
    except Unreadable:
        return None
    if not texts or sum(map(len, texts)) > TEXT_CAP:
        return None
    whole, negated = _looked_for(word)
    return any(map(whole.search, texts)) and not any(map(negated.search, texts))


@functools.lru_cache(maxsize=1024)
def _looked_for(word: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    whole = rf"(?<![\w-]){re.escape(word)}(?![\w-])"
    negated = rf"{NOT}(?:\s+\w+){{0,3}}?\s+{re.escape(word)}(?![\w-])"
    return re.compile(whole), re.compile(negated, re.IGNORECASE)


# --- what answers say -----------------------------------------------------------------------------


def is_yes(answer: Any) -> bool:
    """Whether an answer is a yes that cannot be read otherwise."""
    match answer:
        case bool():
            return answer
        case str():
            data = read_json(answer, wholly=True)
            return YES.fullmatch(answer) is not None if isinstance(data, str) else is_yes(data)
        case [only]:
            return is_yes(only)
        case Mapping():
            fields = [(_words(key), value) for key, value in answer.items()]
            said = [value for name, value in fields if name in ANSWERS]
            others = ((name, value) for name, value in fields if name not in ANSWERS)
            return bool(said) and all(map(is_yes, said)) and not any(map(_objects, others))
    return False


def _objects(field: tuple[str, Any]) -> bool:
    """Whether a field beside the answer may mean the opposite, by its name or by what is in it."""
    name, value = field
    nothing = value is None or value in ("", [], {})
    if nothing or (value is False and _is_against(name)):  # `error: false` is no error
        return False
    try:
        return any(each is False or _is_against(each) for _, each in leaves([name, value]))
    except Unreadable:
        return True


def _is_against(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    return len(value) > TEXT_CAP or AGAINST.search(_words(value)) is not None


def _words(name: Any) -> str:
    """The words of a name: `notApproved`, `not_approved` as `not approved`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_-]", " ", str(name).strip()).casefold()
