"""Decides what counts as a confirmation: a success of the confirming tool whose answer is a yes.

In: the confirming tools, and what their answer has to be, if the contract says so. Out: a formula.
Without `accept` an answer confirms only if it cannot be read otherwise.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from sponsio_like.contracts import reports
from sponsio_like.contracts.blocks import Counts, worked
from sponsio_like.contracts.matches import outputs
from sponsio_like.contracts.operands import check_no_variable, pattern_text
from sponsio_like.events import Result, atom
from sponsio_like.logic.formula import Custom, Formula, Output, OutputIs, Target, conj
from sponsio_like.values import DEPTH_CAP, TEXT_CAP, UNREADABLE, NotCanonical, leaves, read_json

WORDS = ("yes", "approved", "confirmed", "ok", "okay", "true")
"""The words that make up a yes."""
ANSWERS = {*WORDS, "approve", "confirm", "approval", "confirmation", "status", "answer", "reply"}
ANSWERS |= {"response", "decision", "result", "outcome", "verdict", "state", "text", "content"}
"""The words that make up the names of fields in which an answer stands,"""
BESIDE = {"is", "was", "has", "been", "user"}
"""and the words that may stand beside them: `approval_status`, `isApproved`, `user_reply`."""
RECEIPT = {"ok", "okay"}
"""Words in the names of fields that may say no more than that a request was received: `{"ok":
true}`.

A yes has to stand in another field, and such a field, if there is one, has to say yes as well.
"""
WRAPPERS = {"review", "data", "payload", "body"}
"""The names of fields in which an object may stand that has the answer."""
DATA = re.compile(
    r"(?:.* )?(?:id|ids|uuid)|time|timestamp|date|name|tool|order|amount|currency"
    r"|(?:(?:sys )?(?:approved|confirmed|answered|decided|reviewed|signed|submitted|created"
    r"|updated) )?(?:by|at|on)|(?:user|login|approver|reviewer|signer)s?|(?:user|display) ?name"
    r"|e ?mail|ticket|reference|version|(?:html )?url"
)
"""The names of fields in which no answer stands."""
_WORD = f"(?:{'|'.join(WORDS)})"
YES = re.compile(rf'[\s"]*{_WORD}(?:[\s,.!]+{_WORD})*[\s.!"]*', re.IGNORECASE)
NOT = (
    r"\b(?:no(?!\.? ?\d)|nope|not|non|never|nor|none|nobody|nothing|neither|cannot|without|nein"
    r"|\w+n['’]t|(?:ca|wo|do|does|did|is|was|has|have)nt)\b"
)
"""Words that negate what stands around them; `no. 17` is a number."""
TAKEN_BACK = (
    r"mistake|\brevert|rolled back|reopen|\bchanged \w{2,5} mind\b|second thought"
    r"|cancell?ed|expired|revok|withdr|rescind|retract|overrul|overrid|veto|\brevers(?:ed|al)"
    r"|\brecall|\bvoid|\bundo|supersed|suspend|dismiss|disput|\btook (?:\w+ ){0,3}back\b"
)
FAILED = (
    r"false|falsi|fail(?:s|ed|ing|ures?)?\b|error|mismatch|\bden(?:y|ie[ds]|ial)|reject|refus|declin"
    r"|crash|\bbroken|abort|invalid|disallow|disapprov|forbid|\b(?!united)un\w+ed\b|block(?:s|ed|ers?|ing)?\b"
    r"|time\w? ?out|flagged|malicious|suspicious|fraud|negative|unable|insufficient|missing|wrong"
    r"|problem|[\u2717\u2718\u274c\u26d4\U0001f44e\U0001f6ab]"
)
EXITED = (
    r"\b(?:exit(?:ed)?(?: with)?(?: (?:code|status))?|exitcode|returncode|return code)[ :=]+"
    r"(?!0\b)-?\d"
)
"""A process that says by its exit code that it has failed."""
DELAYED = (
    r"pending|wait(?:s|ed|ing)?\b|\bhold(?:s|ing)?\b|\bheld\b|\blater\b|\bstop(?:s|ped|ping)?\b"
    r"|paused|postpon|deferred|delay|escalat|changes requested|\btoo (?:late|early)\b"
)
AGAINST = re.compile(f"{NOT}|{TAKEN_BACK}|{FAILED}|{EXITED}|{DELAYED}", re.IGNORECASE)
"""Words that may stand neither beside a yes nor in the names of fields."""
OPEN = re.compile(
    r"\?|\b(?:if|unless|until|once|provided|subject to)\b"
    r"|\b(?:must|needs?|should|would|could|might|shall)\b"
    r"|\b(?:to|will|may) (?:be|have)\b|\b(?:but|however|although|except|before)\b|condition|requir"
    r"|maybe|perhaps|probabl|possibl|almost|nearly|partial|hardly|barely|previous|former"
    r"|please \0|\0 ?[/|]|[/|] ?\0|\bor \0|\0 or\b|\0 (?:is )?(?:requested|sought)"
    r"|\0['\"]?\s?[:=]\s?['\"]?(?:0|n|n/a|null|off)\b|\0:? (\d+)/(?!\1\b)\d|\b(?:0|zero) \0"
    r"|\b(\d+) (?:out )?of (?!\2\b)\d|(?<![\d/])(\d+)/(?!\3\b)\d+ \0|kidding"
    r"|^(?:who|what|which|when|is|was|has|did) |scratch|disregard"
    r"|ignore|removed|skipp|sandbox|simulat|dry ?run|draft|unknown|unclear|\btb[acd]\b|\bempty\b"
    r"|some(?:one|body|thing) else"
)
r"""Words that leave open whether an accepted word, here `\0`, is meant."""
AMISS = (
    r"(?:failed|failing|failures?|errored|errors?|rejected|denied|declined|blocked|ignored|skipped"
    r"|pending|cancell?ed|aborted)"
)
ZERO = r"(?<!\d[.,])(?<![:=])(?<![:=] )\b0"  # in front of what it counts, and no value of a name
ALL_WELL = re.compile(
    rf"(?:{ZERO}|\b(?:no|without))(?: further| other| open| any)?"
    r" (?:problem|issue|objection|concern|error|failure|finding|condition|comment|change)s?\b"
    rf"|{ZERO} {AMISS}\b|\b{AMISS} ?[:=] ?0\b(?![.,]?\d| \0)"
    r"|\bno (?:further )?action (?:is )?(?:needed|required)\b"
)
"""Words that sound like a no, and say that nothing is wrong."""
SENTENCE = re.compile(r"(?=(?:\S+\s+){3}\S)(?:.*\s)?[^\W\d_A-Z]{4,}", re.DOTALL)
"""A text of more than three words, one of them long and in small letters: no name."""
CODE = re.compile(r"\w+(?:[_.:/-]\w+)+|[a-z]+(?:[A-Z][a-z]+)+")
"""The name of a tool, of several words: `block_card` is what was asked, and no answer."""
HARMLESS = (
    ("success", True),
    ("type", "text"),
    ("type", "block_actions"),
    ("livemode", False),
    ("site admin", False),
)
"""Fields that say nothing about the answer."""
PLAIN = re.compile(r"""\w(?:[^\\.^$*+?{}()\[\]|"<>]|(?<=\w)\.(?!\S))*""")
"""A text that is looked for as words: no sign of a regular expression is in it.

A full stop after a word is not such a sign: it ends a sentence.
"""


def confirmed(by: Target, accept: Formula | None, counts: Counts) -> Formula:
    """Return the formula that this call confirms: its answer is as `accept` says, else a yes."""
    return worked(by, counts) & (Custom("confirms") if accept is None else accept)


def accepted(value: Any) -> Formula:
    """Read `accept`: a regular expression, a plain word, or outputs as a match has them."""
    if isinstance(value, str):
        check_no_variable(value, "what confirms")
        text = pattern_text(value)
        plain = PLAIN.fullmatch(text)
        return Custom("answers", (text,)) if plain else OutputIs("", "matches", text)
    found = outputs(value)
    for each in found:
        if isinstance(each, OutputIs):
            check_no_variable(each.value, "what confirms")
    return conj(*found)


def reads_answer(node: object) -> bool:
    """True if this atom or term reads the answer of a call."""
    confirming = isinstance(node, Custom) and node.name in ("confirms", "answers")
    return confirming or isinstance(node, OutputIs | Output)


@atom("confirms", waits=True)
def confirms(_: str, result: Result) -> bool:
    """True if the answer is a yes, and cannot be read otherwise."""
    return result.status == "ok" and is_yes(result.output)


@atom("answers", waits=True)
def answers(_: str, result: Result, word: str) -> bool | None:
    """True if the answer has this word and no objection; None if it cannot be read."""
    try:
        texts = [each for name, each in leaves(result.output) if name is not None]
    except NotCanonical:
        return None
    if sum(len(each) for each in texts if isinstance(each, str)) > TEXT_CAP:
        return None
    return _says("", result.output, _whole(word), DEPTH_CAP) or False


class _Word(NamedTuple):
    """An accepted word: what finds it, itself as names have it, and whether it counts tests."""

    found: re.Pattern[str]
    words: str
    counts: bool


def _says(name: str, value: Any, word: _Word, depth: int) -> bool | None:
    """True if a field has the word, False if it is an objection, None if it is neither."""
    data = read_json(value, wholly=True)
    if _is_nothing(name, data) or (_is_zero(data) and _is_against(name)):
        return None
    if depth < 0:
        return False
    named = _by_name(name, data, word)
    if named is not None:
        return named
    inside: list[bool | None] = []
    if isinstance(data, Mapping) and not _is_against(name):
        fields = {_words(key): each for key, each in data.items()}
        inside = [_says(_words(key), each, word, depth - 1) for key, each in data.items()]
        inside += [False] if word.counts and reports.falls_short(fields, word.words) else []
    elif isinstance(data, list | tuple):
        inside = [_says(name, each, word, depth - 1) for each in data]
    elif isinstance(data, str) and word.found.search(data):
        return not _is_against(name) and _is_unqualified(data, word)
    elif word.counts and reports.is_set_aside(name, data):
        return None
    elif _says_no(name, data) or _has_exited(name, data) or (_is_answer(name) and not is_yes(data)):
        return False
    return False if False in inside else (True in inside or None)


def _by_name(name: str, data: Any, word: _Word) -> bool | None:
    """Return what a field says whose name has the word: `{"passed": 3}`, `{"isApproved": true}`;
    None if that says nothing.
    """
    if not reports.is_named(name, word.words):
        return None
    if isinstance(data, bool | str) and is_yes(data):
        return True
    number = reports.number_of_tests(data) if word.counts else None
    return None if number is None else number > 0


def _is_unqualified(text: str, word: _Word) -> bool:
    """True if no negation, condition or question in a text qualifies the word."""
    beside = ALL_WELL.sub(" ", _words(word.found.sub("\0", text)))
    beside = reports.without_set_aside(beside) if word.counts else beside
    return not AGAINST.search(beside) and not OPEN.search(beside)


@functools.lru_cache(maxsize=1024)
def _whole(word: str) -> _Word:
    """Return what finds the word, whole and in upper or lower case."""
    found = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])", re.IGNORECASE)
    return _Word(found, _words(word), reports.PASS.search(word) is not None)


# --- what answers say -----------------------------------------------------------------------------


def is_yes(answer: Any, depth: int = DEPTH_CAP) -> bool:
    """True if an answer is a yes that cannot be read otherwise."""
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
            says = any(_is_answer(name) and not _is_receipt(name) for name, _ in fields)
            says = says or any(_holds_yes(*each, depth - 1) for each in fields)
            return says and not any(_is_objection(*each, depth - 1) for each in fields)
    return False


def _holds_yes(name: str, value: Any, depth: int) -> bool:
    """True if a field is what an answer is wrapped in, and has a yes: `{"review": {"status":
    "approved"}}`.
    """
    data = read_json(value, wholly=True) if name in WRAPPERS else None
    return isinstance(data, Mapping) and is_yes(data, depth)


def _is_objection(name: str, value: Any, depth: int) -> bool:
    """True if a field is neither a yes nor one that cannot hold an answer."""
    if _is_answer(name):
        return not is_yes(value, depth)
    if _is_nothing(name, value):
        return False
    if not depth:
        return True
    data = read_json(value, wholly=True)
    if isinstance(data, Mapping) and not _is_against(name):
        return any(_is_objection(_words(key), each, depth - 1) for key, each in data.items())
    if isinstance(data, list | tuple):
        return any(_is_objection(name, each, depth - 1) for each in data)
    return not DATA.fullmatch(name) or not _is_data(name, value)


def _is_nothing(name: str, value: Any) -> bool:
    """True if a field says nothing about the answer; `error: false` is no error."""
    no_error = value is False and _is_against(name)
    return no_error or value is None or value in ("", [], {}) or (name, value) in HARMLESS


def _is_zero(value: Any) -> bool:
    """True if a value is the number 0: `failed: 0` counts no failure."""
    return isinstance(value, int | float | Decimal) and value is not False and value == 0


def _has_exited(name: str, value: Any) -> bool:
    """True if a field is the exit code of a process that has failed: `exit_code: 1`."""
    return isinstance(value, int | float | Decimal | str) and bool(
        re.match(EXITED, f"{name}: {value}".casefold())
    )


def _says_no(name: str, value: Any) -> bool:
    unclear = value is False or value is UNREADABLE
    return unclear or _is_against(name) or _is_against(value)


def _is_data(name: str, value: Any) -> bool:
    """True if the value is a name, a number or a time, and no sentence."""
    if not isinstance(value, str):
        return not _says_no(name, value)
    if name in ("email", "e mail") and "@" in value and not re.search(r"\s", value):
        return True
    if name == "tool" and CODE.fullmatch(value):
        return not re.search(NOT, _words(value))
    return not _says_no(name, value) and not SENTENCE.match(value)


def _is_answer(name: str) -> bool:
    """True if fields of this name hold an answer."""
    words = set(name.split())
    return not words.isdisjoint(ANSWERS) and words <= ANSWERS | BESIDE


def _is_receipt(name: str) -> bool:
    """True if a field of this name may say that a request was received: `{"ok": true}`."""
    return not RECEIPT.isdisjoint(name.split())


def _is_against(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    return len(value) > TEXT_CAP or AGAINST.search(_words(value)) is not None


def _words(name: Any) -> str:
    """Return the words of a name: `notApproved`, `not_approved` as `not approved`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_-]", " ", str(name).strip()).casefold()
