"""Finds texts that have a recognisable form inside of other texts: addresses, numbers, keys.

In: a text, and the names of detectors. Out: where each stands, and what it is without blanks and
signs. Texts are searched as a person sees them: full-width letters and digits, digits of other
scripts, invisible characters and odd dashes make no difference.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from sponsio_like.errors import ContractError, closest
from sponsio_like.kinds.registry import import_needed
from sponsio_like.kinds.seen_text import Seen, seen_places
from sponsio_like.values import NotCanonical, once_per_decision, spend

Found: TypeAlias = Iterator[tuple[int, int, str]]
"""Start and end of each, and its plain value."""
LONGEST_KEPT = 4_096
"""Most characters of a text of which it is remembered that something was found in it."""
MOST = 1_000
"""Most texts that one detector finds in a text."""
STEPS, CHECK_STEPS = 200, 700
"""The work of searching one character, and of a microsecond where a number may be, in steps."""


class Hit(NamedTuple):
    """A text that was found. `value` is it without blanks and signs, `name` that of its detector.

    `start` and `end` are places in the text that was searched.
    """

    name: str
    start: int
    end: int
    value: str


@dataclass(frozen=True)
class Detector:
    """A detector: `find` gets a text as it is seen. `needs` are modules of the extra `[kinds]`."""

    name: str
    group: str
    find: Callable[[Seen], Found]
    needs: tuple[str, ...] = ()


DETECTORS: dict[str, Detector] = {}
"""The detectors by name."""


def detector(
    name: str, group: str, *needs: str
) -> Callable[[Callable[[Seen], Found]], Callable[[Seen], Found]]:
    """Declare a detector of the group `personal` or `secrets`."""

    def declare(find: Callable[[Seen], Found]) -> Callable[[Seen], Found]:
        DETECTORS[name] = Detector(name, group, find, needs)
        return find

    return declare


def chosen_detectors(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of detectors; `personal` and `secrets` stand for all of that group.

    Raises `ContractError` for other names, and where a module is missing that one needs.
    """
    groups = dict.fromkeys(each.group for each in DETECTORS.values())
    out: dict[str, None] = {}
    for name in names:
        if name not in DETECTORS and name not in groups:
            hint = closest(name, [*groups, *DETECTORS])
            known = f"write one of {', '.join([*groups, *DETECTORS])}"
            raise ContractError.of(f"`{name}` is no kind of text that is found", hint or known)
        known_as = (each.name for each in DETECTORS.values() if name in (each.name, each.group))
        out |= dict.fromkeys(known_as)
    for name in out:
        import_needed(f"finding `{name}`", DETECTORS[name].needs)
        list(DETECTORS[name].find(Seen("")))  # no call waits until its expressions are compiled
    return tuple(out)


def hits(text: str, names: Iterable[str]) -> list[Hit]:
    """Return what these detectors find, by where it starts, however much work it is."""
    found = list(_found(Seen(text, capped=False), names))
    places, ends = seen_places(text) if found else ((), ())
    out = [hit._replace(start=places[hit.start], end=ends[hit.end - 1]) for hit in found]
    return sorted(out, key=lambda hit: (hit.start, -hit.end))


def found_hits(text: str, names: Iterable[str]) -> tuple[list[Hit], bool]:
    """Return what these detectors find, by where it starts in the text as it is seen; and whether
    that is all: not if there was too much to look at.
    """
    found, whole = list[Hit](), False
    try:
        found.extend(_found(Seen(text), names))
        whole = len(found) < MOST
    except NotCanonical:
        pass
    return sorted(found, key=lambda hit: (hit.start, -hit.end)), whole


def _found(seen: Seen, names: Iterable[str]) -> Iterator[Hit]:
    for name in names:
        for start, end, value in itertools.islice(DETECTORS[name].find(seen), MOST):
            yield Hit(name, start, end, value)


class _Told(NamedTuple):
    """The answer to whether a text has something, None if that is too much; and the work."""

    has: bool | None
    work: int


def _told(text: str, names: tuple[str, ...]) -> _Told:
    try:
        seen = Seen(text)
    except NotCanonical:
        return _Told(None, 0)
    try:
        has = any(next(DETECTORS[name].find(seen), None) is not None for name in names)
    except NotCanonical:
        return _Told(None, seen.work)
    return _Told(has, seen.work)


_told_kept = functools.lru_cache(maxsize=4_096)(_told)


def has_hits(text: str, names: tuple[str, ...]) -> bool | None:
    """True if one of these detectors finds something; None if there is too much to look at.

    The work is counted, whether or not it is remembered. Raises `NotCanonical` beyond the cap.
    """

    def tell(text: str) -> bool | None:
        spend(len(text) * STEPS)
        told = (_told_kept if len(text) <= LONGEST_KEPT else _told)(text, names)
        spend(told.work * CHECK_STEPS)
        return told.has

    return once_per_decision(f"finds {names}", text, tell)


def between(text: str, start: int, end: int) -> str:
    """Return letters and digits between two places, the letters as capitals."""
    return re.sub(r"[\W_]", "", text[start:end]).upper()
