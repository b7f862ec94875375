"""Finds the phrasings that are most like a sentence which the grammar does not have.

In: a sentence, the phrasings, and which bare words are names of tools. Out: names of phrasings with
the words that were written in the places of their arguments. A phrasing that denies what the
sentence affirms is never offered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from functools import cache
from typing import Any, NamedTuple

from sponsio_like.contracts.prose.bare_words import SHAPE
from sponsio_like.contracts.prose.grammar import RESERVED, grammar_for
from sponsio_like.contracts.prose.numbers import WORDS, read_number, seconds_of
from sponsio_like.contracts.prose.signs import one_spelling
from sponsio_like.contracts.prose.trees import Phrasings

LIKE = 0.62
"""The least likeness of words from which a phrasing is looked at, from 0 to 1."""
NEAR = 0.5
"""The least likeness of a phrasing that is offered, less what its differences cost."""
BLANK = 0.05
"""The likeness that each argument costs that was not written."""
LEFT = 0.15
"""The likeness that each value costs that was written and has no place in the phrasing."""
TOLD = 0.15
"""The likeness that each word of `TELLING` costs that was not written."""
TELLING = frozenset(
    {"retries", "retry", "retried", "tokens", "characters", "chars", "words", "levels", "refusals"}
    | {"permission", "confirmation", "response", "responses", "same", "agents", "approval", "host"}
    | {"backup", "dry", "leak", "cooldown", "data", "ctx", "total", "once", "between", "next"}
    | {"redirect", "instead", "review", "loop", "row", "failures", "log", "first", "until"}
    | {"within", "per"}
)
"""Words that tell which contract is meant."""
NEGATIONS = frozenset(
    {"not", "never", "no", "cannot", "can't", "don't", "mustn't", "shouldn't", "isn't", "without"}
    | {"forbidden", "neither", "nor", "fail", "fails", "forget", "avoid", "refuse"}
)
"""Words that turn a sentence round, or may."""
EXCEPTIONS = frozenset({"but", "except", "besides", "apart", "other"})
"""Words that turn round what the tools behind them are."""
DENIED = re.compile(
    r"not\b|.*\b(?:need not|needn't|does not|doesn't|not (?:always|necessarily|every|have to))\b",
    re.IGNORECASE | re.DOTALL,
)
"""A demand that is denied, and is none."""
GOVERNING = frozenset({"call", "calling", "called"})
ARTICLES = frozenset({"tool", "tools", "the", "a", "an", "every", "each", "please"})
"""Words that make no sentence more like another."""
TIMES = {"once": 1, "twice": 2}
AROUND = {
    "atmost": ("at", "most", "<number>", "times"),
    "excess": ("more", "than", "<number>", "times"),
    "count": ("<number>", "times"),
    "most": ("at", "most", "<number>"),
    "window": ("per", "<span>"),
}
"""The words of an argument that is more than a value."""
TOPICS = (
    (
        r"approv\w*|human|supervisor|manager|sign(?:ed)?[ -]?off",
        ("must_confirm", "approval_active"),
    ),
    (r"admins?|administrators?|authori[sz]ed|privileged", ("requires_permission", "ctx_required")),
    (r"in (?:this|that|the following) order", ("must_precede",)),
    (r"in a row|repeat\w*|loops?", ("loop_detection", "duplicate_call_limit")),
    (r"failed|failures?", ("repeated_failure", "bounded_retry")),
    (r"in total|altogether|sum|spend", ("amount_limit",)),
    (r"leak\w*|exfiltrat\w*|come from|comes from", ("no_data_leak",)),
    (r"released|closed|undone|cleaned up", ("always_followed_by",)),
)
"""Words, as regular expressions, and the patterns that are about them."""
NUMBERS = ("number", "count", "atmost", "excess", "most", "most_real")
SPANS = ("span", "window", "seconds", "steps")
_NUMBER = rf"-?\d+(?:,\d{{3}})*(?:\.\d+)?|(?:an? )?(?:{WORDS})(?:[ -](?:{WORDS}))*"
WRITTEN = re.compile(
    r"`(?P<text>[^`]+)`|[\"“](?P<quote>[^\"”]+)[\"”]|(?<!\w)'(?P<single>[^'\s]+)'(?!\w)|"
    rf"(?P<size>{_NUMBER}) ?(?P<unit>seconds?|s|minutes?|min|hours?|h|days?|weeks?|steps?)(?!\w)|"
    rf"(?P<number>(?<!\w)(?:{_NUMBER})(?!\w))|(?P<word>[\w.*:'-]+)",
    re.IGNORECASE,
)


class Near(NamedTuple):
    """A phrasing that is like the sentence: its owner, and arguments that were written."""

    name: str
    arguments: dict[str, Any]
    missing: tuple[str, ...]


class _Piece(NamedTuple):
    """A word (in small letters), or an argument: what it is like, and its value or its name."""

    shape: str
    value: Any = None


def nearest(sentence: str, phrasings: Phrasings, is_tool: Callable[[str], bool]) -> Iterator[Near]:
    """Yield the phrasings most like the sentence: one for each owner, the nearest first."""
    sentence = one_spelling(sentence)
    written = list(_pieces(sentence, is_tool))
    mine = [each.shape for each in written]
    denied = _denials(written)
    if DENIED.match(sentence.strip()):
        return
    found: list[tuple[float, int]] = []
    for i, spoken in enumerate(_spoken(phrasings)):
        theirs = [each.shape for each in spoken]
        alike = EXCEPTIONS.isdisjoint(mine) == EXCEPTIONS.isdisjoint(theirs)
        if alike and sum(each in NEGATIONS for each in theirs) == denied:
            likeness = SequenceMatcher(None, mine, theirs, autojunk=False).ratio()
            if likeness >= LIKE and (likeness := likeness - _cost(spoken, written)) >= NEAR:
                found.append((-likeness, i))
    told: set[str] = set()
    for _, i in sorted(found):
        name = phrasings[i][0]
        if name not in told:
            told.add(name)
            yield _filled(name, _spoken(phrasings)[i], written)


def _cost(spoken: tuple[_Piece, ...], written: list[_Piece]) -> float:
    """Return the likeness that is lost by what only one of a phrasing and a sentence has."""
    missing = len(_filled("", spoken, written).missing)
    places = sum(each.value is not None for each in spoken) - missing
    left = max(0, sum(each.value is not None for each in written) - places)
    words = {each.shape for each in spoken} - {each.shape for each in written}
    return BLANK * missing + LEFT * left + TOLD * len(words & TELLING)


def on_topic(sentence: str, phrasings: Phrasings, is_tool: Callable[[str], bool]) -> Iterator[Near]:
    """Yield the patterns that are about a word of the sentence, filled with what was written.

    Nothing for a sentence without the name of a tool, or one that may deny what they demand.
    """
    sentence = one_spelling(sentence)
    written = list(_pieces(sentence, is_tool))
    tools = any(each.shape == "<text>" for each in written)
    if not tools or DENIED.match(sentence.strip()) or _denials(written) % 2:
        return
    for words, names in TOPICS:
        if re.search(rf"(?<![\w`])(?:{words})(?![\w`])", sentence, re.IGNORECASE):
            yield from (_filled(each, _simplest(each, phrasings), written) for each in names)


def _simplest(name: str, phrasings: Phrasings) -> tuple[_Piece, ...]:
    """Return the phrasing of a pattern with the fewest arguments; one that begins with a tool."""
    spoken = _spoken(phrasings)
    own = [spoken[i] for i, (owner, _) in enumerate(phrasings) if owner == name]

    def cost(pieces: tuple[_Piece, ...]) -> tuple[int, bool]:
        kinds = [each.value[1] for each in pieces if each.value is not None]
        return len(kinds), kinds[0] not in ("every", "union", "tools", "one")

    return min(own, key=cost)


def _denials(written: list[_Piece]) -> int:
    return sum(each.shape in NEGATIONS for each in written)


def _filled(name: str, spoken: tuple[_Piece, ...], written: list[_Piece]) -> Near:
    """Return the phrasing with the arguments that were written, in their order."""
    left = {
        shape: [each.value for each in written if each.shape == shape]
        for shape in ("<text>", "<number>", "<span>")
    }
    given: dict[str, Any] = {}
    missing: list[str] = []
    for piece in spoken:
        if piece.value is None:
            continue
        path, kind = piece.value
        if kind in ("place", "told", "places"):
            first, second = path.split(".")
            texts = left["<text>"]
            tool, dot, field = str(texts[0]).partition(".") if texts else ("", "", "")
            if dot:
                texts.pop(0)
                given |= {first: tool, second: field}
                continue
            missing += [first, second]
        elif left[piece.shape]:
            value = left[piece.shape].pop(0)
            said = value if path == "*" else {path: _as(kind, value)}
            missing += [each for each, one in said.items() if one is None]
            given |= {each: one for each, one in said.items() if one is not None}
        else:
            missing.append(path)
    return Near(name, given, tuple(missing))


def _as(kind: str, value: Any) -> Any:
    if kind in ("seconds", "steps"):
        return value.get(kind)
    return [value] if kind in ("texts", "pairs", "together") else value


# --- the sentence ---------------------------------------------------------------------------------


def _pieces(sentence: str, is_tool: Callable[[str], bool]) -> Iterator[_Piece]:
    before = ""
    for found in WRITTEN.finditer(sentence):
        text = found["text"] or found["quote"] or found["single"]
        if text is not None:
            yield _Piece("<text>", text)
        elif found["size"] is not None:
            yield _Piece("<span>", _span(found["size"], found["unit"].lower()))
        elif found["number"] is not None:
            number = read_number(found["number"])
            yield _Piece("<number>", number) if number is not None else _Piece(found["number"])
        elif (
            is_tool(word := found["word"].rstrip("."))
            or SHAPE.fullmatch(word)
            or before == "tool"
            or (before in GOVERNING and not re.fullmatch(RESERVED, word))
        ):
            yield _Piece("<text>", word)
        elif word.endswith("s") and is_tool(word[:-1]):
            yield _Piece("<text>", word[:-1])
        elif (small := word.lower().strip(".'")) in TIMES:
            yield from (_Piece("<number>", TIMES[small]), _Piece("times"))
        elif small not in ARTICLES:
            yield _Piece(small)
        before = found[0].lower()


def _span(size: str, unit: str) -> dict[str, Any]:
    number = read_number(size) or 1
    return {"steps": number} if unit[:2] == "st" else {"seconds": seconds_of(number, unit)}


# --- the phrasings --------------------------------------------------------------------------------


@cache
def _spoken(phrasings: Phrasings) -> tuple[tuple[_Piece, ...], ...]:
    """Return each phrasing in its first words, without what may be left out."""
    grammar = grammar_for(phrasings)

    def said(name: str) -> Iterator[_Piece]:
        if name.startswith("a_"):
            path, _, kind = name.removeprefix("a_").partition("__")
            shape = "<number>" if kind in NUMBERS else "<span>" if kind in SPANS else "<text>"
            path = "*" if path == "all_of_it" else path.replace("_dot_", ".")
            for part in AROUND.get(kind, (shape,)):
                yield _Piece(part, (path, kind) if part == shape else None)
        elif name in grammar.terminals:
            yield _Piece(grammar.words.get(name, ","))
        else:
            for each in grammar.expansions[name][0].symbols:
                yield from said(each)

    return tuple(
        tuple(
            piece
            for each in grammar.expansions[f"p{i}"][0].symbols
            for piece in said(each)
            if piece.shape not in ARTICLES
        )
        for i in range(len(phrasings))
    )
