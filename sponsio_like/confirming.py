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
from sponsio_like.freezing import UNREADABLE
from sponsio_like.limits import DEPTH_CAP, TEXT_CAP
from sponsio_like.matches import outputs
from sponsio_like.operands import fixed, pattern_text
from sponsio_like.parts import Counts, worked
from sponsio_like.registry import atom
from sponsio_like.tokens import leaves, read_json

WORDS = ("yes", "approved", "confirmed", "ok", "okay", "true")
"""What a yes is made of."""
ANSWERS = {*WORDS, "approve", "confirm", "approval", "confirmation", "status", "answer", "reply"}
ANSWERS |= {"response", "decision", "result", "outcome", "verdict", "text", "content"}
"""What the names of fields are made of in which an answer stands,"""
BESIDE = {"is", "was", "has", "been", "user"}
"""with these beside them: `approval_status`, `isApproved`, `user_reply`."""
DATA = re.compile(
    r"(?:.* )?(?:id|ids|uuid)|(?:(?:approved|confirmed|answered|decided|created) )?(?:by|at|on)"
    r"|time|timestamp|date|user(?: name)?|name|tool|order|amount|currency"
)
"""The names of fields in which no answer stands."""
_WORD = f"(?:{'|'.join(WORDS)})"
YES = re.compile(rf'[\s"]*{_WORD}(?:[\s,.!]+{_WORD})*[\s.!"]*', re.IGNORECASE)
NOT = r"\b(?:no|not|never|nor|none|cannot|without|nein|\w+n['’]t)\b"
"""What turns the words after it round."""
AGAINST = re.compile(
    rf"{NOT}|fals|fail|error|mismatch|\bden(?:y|ied)|reject|refus|declin|cancell?ed|abort|invalid"
    r"|disallow|disapprov|expired|revoked|forbid|\bun\w+ed\b|pending|\bwait|\bhold|\blater\b|\bstop"
    r"|time\w? ?out|block|withdr|flagged|malicious|suspicious",
    re.IGNORECASE,
)
"""What may not stand in fields of data, nor in their names."""
HARMLESS = (("success", True), ("type", "text"))
"""Fields that say nothing of the answer."""
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
    """The answer has this word in it, whole and not denied, and nothing in it says otherwise."""
    try:
        found = list(leaves(result.output))
    except Unreadable:
        return None
    texts = [leaf for name, leaf in found if name is not None and isinstance(leaf, str)]
    if not texts or sum(map(len, texts)) > TEXT_CAP:
        return None
    whole, denied = _looked_for(word)
    if any(map(denied.search, texts)) or not any(map(whole.search, texts)):
        return False
    return not _denies("", read_json(result.output, wholly=True), whole)


def _denies(name: str, value: Any, whole: re.Pattern[str]) -> bool:
    """Whether a field says something else than the accepted word."""
    if _is_nothing(name, value):
        return False
    if isinstance(value, Mapping) and not _is_against(name):
        return any(_denies(_words(key), each, whole) for key, each in value.items())
    if isinstance(value, list | tuple):
        return any(_denies(name, each, whole) for each in value)
    if isinstance(value, str) and whole.search(value):
        return _is_against(name)
    return _says_no(name, value) or (_is_answer(name) and not is_yes(value))


@functools.lru_cache(maxsize=1024)
def _looked_for(word: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What finds the word, and what finds it denied."""
    whole = rf"(?<![\w-]){re.escape(word)}(?![\w-])"
    before = rf"{NOT}(?:\s+\w+){{0,3}}?\s+{re.escape(word)}(?![\w-])"
    after = rf"{whole}['\"]?\s?[:=?]\s?['\"]?(?:{NOT}|false|0)"
    return re.compile(whole, re.IGNORECASE), re.compile(f"{before}|{after}", re.IGNORECASE)


# --- what answers say -----------------------------------------------------------------------------


def is_yes(answer: Any, depth: int = DEPTH_CAP) -> bool:
    """Whether an answer is a yes that cannot be read otherwise."""
    if depth < 0:
        return False
    match read_json(answer, wholly=True):
        case bool(said):
            return said
        case str(said):
            return YES.fullmatch(said) is not None
        case [only]:
            return is_yes(only, depth - 1)
        case Mapping() as said:
            fields = [(_words(key), value) for key, value in said.items()]
            says = any(_is_answer(name) for name, _ in fields)
            return says and not any(_objects(*each, depth - 1) for each in fields)
    return False


def _objects(name: str, value: Any, depth: int) -> bool:
    """Whether a field is neither a yes nor plainly no answer."""
    if _is_answer(name):
        return not is_yes(value, depth)
    if _is_nothing(name, value):
        return False
    if not depth:
        return True
    data = read_json(value, wholly=True)
    if isinstance(data, Mapping) and not _is_against(name):
        return any(_objects(_words(key), each, depth - 1) for key, each in data.items())
    if isinstance(data, list | tuple):
        return any(_objects(name, each, depth - 1) for each in data)
    return not DATA.fullmatch(name) or _says_no(name, value)


def _is_nothing(name: str, value: Any) -> bool:
    """Whether a field says nothing of the answer; `error: false` is no error."""
    no_error = value is False and _is_against(name)
    return no_error or value is None or value in ("", [], {}) or (name, value) in HARMLESS


def _says_no(name: str, value: Any) -> bool:
    unclear = value is False or value is UNREADABLE
    return unclear or _is_against(name) or _is_against(value)


def _is_answer(name: str) -> bool:
    """Whether an answer stands in fields of this name."""
    words = set(name.split())
    return not words.isdisjoint(ANSWERS) and words <= ANSWERS | BESIDE


def _is_against(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    return len(value) > TEXT_CAP or AGAINST.search(_words(value)) is not None


def _words(name: Any) -> str:
    """The words of a name: `notApproved`, `not_approved` as `not approved`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_-]", " ", str(name).strip()).casefold()
