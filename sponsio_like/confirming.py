"""What counts as a confirmation: a call of the confirming tool that succeeded and did not say no.

In: the confirming tools, and what their answer has to match, if anything. Out: a formula. Answers
are read with care, but they are words (English ones): only `accept` is strict.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from typing import Any

from sponsio_like.events import Result
from sponsio_like.formula import Custom, Formula, OutputIs, Target
from sponsio_like.limits import TEXT_CAP
from sponsio_like.parts import Counts, worked
from sponsio_like.registry import atom

NO = r"(?:no|not|never|nor|cannot|\w+n['’]t)"
"""What turns the words after it round."""
BEGINS = re.compile(
    r"\W*(?:(?:n|no|not|none|nope|nah|nay|never|false|stop|do\s+not|\w+n['’]t)\b|0\W*$"
    r"|den(?:y|ied|ies|ial)|reject|cancel|refus|declin|disallow|disapprov|abort|forbid|prohibit"
    r"|un(?:confirmed|approved|authori[sz]ed))",
    re.IGNORECASE,
)
"""A text that begins so refuses."""
SAYS = re.compile(
    rf"\b{NO}(?:[\s-]+\w+){{0,3}}?[\s-]+"
    r"(?:confirm|approv|accept|allow|agree|permit|proceed|consent|authori[sz]|grant)"
    r"|\b(?:denied|denies|rejected|rejects|refused|refuses|declined|declines|forbidden|prohibited)\b"
    r"|\b(?:disallow|disapprov|unapproved|unconfirmed|unauthori[sz]ed)"
    r"|(?:\?|\b(?:answer|reply|response|choice|decision|confirm\w*|approv\w*|accept\w*)\s*[:=>])"
    r"\s*(?:n|no|nope|never|false)\s*(?:$|[.,;!\n])",
    re.IGNORECASE,
)
"""A short text with this in it refuses, wherever it stands."""
STOPPED = re.compile(r"\b(?:cancell?ed|aborted)\b", re.IGNORECASE)
"""So does a text with this in it, unless a yes comes first: what is confirmed may be to cancel."""
YES_FIRST = re.compile(
    r"\W*(?:\w+\s+){0,3}?"
    r"(?:yes|ok|okay|sure|(?:confirm|accept|allow)(?:s|ed)?|(?:approve|agree)[sd]?)\b",
    re.IGNORECASE,
)
ANSWER = re.compile(
    r"(?:is |user )?(?:confirm(?:ed|s|ation)?|approve[ds]?|approval|accept(?:ed|s)?|allow(?:ed|s)?"
    r"|agree[ds]?|consent(?:ed)?|permit(?:ted)?|proceed|go ahead|granted|ok|yes|answer|reply"
    r"|response|choice|decision|verdict)",
    re.IGNORECASE,
)
"""The keys of an object under which an answer stands."""
REFUSED = re.compile(
    r"(?:is |user )?(?:denied|rejected|cancell?ed|refused|declined|disallowed|disapproved|aborted"
    r"|forbidden|unconfirmed|unapproved|not (?:confirmed|approved|accepted|allowed)|error)",
    re.IGNORECASE,
)
"""The keys under which a yes is a no."""
AROUND = re.compile(r"result|output|data|text|content|structured content|body", re.IGNORECASE)
"""The keys under which a whole answer stands."""
OUTCOME = re.compile(r"action|status|outcome|result", re.IGNORECASE)
"""The keys under which one of `NOES` refuses; they may as well be about something else."""
NOES = re.compile(
    r"no|false|deny|denied|reject(?:ed)?|refused?|declined?|cancel|disallow(?:ed)?|disapproved?"
    r"|not (?:approved|confirmed|allowed|accepted)",
    re.IGNORECASE,
)
ANSWER_CAP = 200
"""Longest text, in characters, that is taken for a mere answer, and read to its end."""
PLAIN = re.compile(r"\w[\w\s-]*")
"""What is looked for as a word, not as a regular expression."""


def confirmed(by: Target, accept: str | None, counts: Counts) -> Formula:
    """This call confirms. `accept`: its answer has to match; else it must not refuse."""
    if not accept:
        return worked(by, counts) & Custom("confirms")
    answer: Formula = OutputIs("", "matches", accept)
    if PLAIN.fullmatch(accept):
        answer = answer & Custom("answers", (accept,))
    return worked(by, counts) & answer


@atom("confirms", waits=True)
def confirms(_: str, result: Result) -> bool | None:
    """The answer is not a refusal. Without any output, to have succeeded is to confirm."""
    return result.output is None or _agrees(result.output)


@atom("answers", waits=True)
def answers(_: str, result: Result, word: str) -> bool | None:
    """The answer has this word in it, as a whole word, and never after a `not`."""
    text = result.output
    if not isinstance(text, str) or len(text) > TEXT_CAP:
        return None
    whole, negated = _looked_for(word)
    return whole.search(text) is not None and negated.search(text) is None


@functools.lru_cache(maxsize=1024)
def _looked_for(word: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    whole = rf"(?<![\w-]){re.escape(word)}(?![\w-])"
    negated = rf"\b{NO}(?:\s+\w+){{0,3}}?\s+{re.escape(word)}(?![\w-])"
    return re.compile(whole), re.compile(negated, re.IGNORECASE)


# --- what answers say -----------------------------------------------------------------------------


def _agrees(answer: Any) -> bool | None:
    """Whether an answer is none that refuses; None if that cannot be told."""
    match answer:
        case str():
            return _text_agrees(answer)
        case [only]:
            return _agrees(only)
        case Mapping() if answer:
            return _object_agrees({_words(key): value for key, value in answer.items()})
    return bool(answer)


def _text_agrees(text: str) -> bool | None:
    if len(text) > TEXT_CAP:
        return None
    if text.lstrip()[:1] in ("{", "["):
        try:
            return _agrees(json.loads(text))
        except (ValueError, RecursionError):
            pass  # then it is a text like any other
    words = text.replace("_", " ")
    if not words.strip() or BEGINS.match(words):
        return False
    if len(words) > ANSWER_CAP:
        return True
    if SAYS.search(words):
        return False
    return YES_FIRST.match(words) is not None or STOPPED.search(words) is None


def _object_agrees(answer: Mapping[str, Any]) -> bool | None:
    """What stands under the keys of an answer has to agree; other data says nothing."""
    for key, value in answer.items():
        if REFUSED.fullmatch(key) and _is_yes(value):
            return False
        if OUTCOME.fullmatch(key) and isinstance(value, str) and NOES.fullmatch(_words(value)):
            return False
    told = [value for key, value in answer.items() if ANSWER.fullmatch(key)]
    around = [value for key, value in answer.items() if AROUND.fullmatch(key) and value is not None]
    said = [_agrees(value) for value in told or around]
    return False if False in said else None if None in said else True


def _is_yes(value: Any) -> bool:
    return value is True or (isinstance(value, str) and YES_FIRST.match(value) is not None)


def _words(name: Any) -> str:
    """The words of a name: `notApproved`, `not_approved` as `not approved`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_-]", " ", str(name).strip())
