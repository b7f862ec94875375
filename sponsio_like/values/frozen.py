"""Copies arguments and answers once: a private copy, bounded in depth and size.

What lies beyond the bounds, or is not JSON data, becomes `UNREADABLE`: no comparison with it can be
made. A list or an object that does not fit is unreadable as a whole: nothing of it is missing. A
foreign value (a model, a date) is opened by an `opener`, one step at a time, within the bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, TypeAlias

from sponsio_like.values.canonical_form import NotCanonical, composed
from sponsio_like.values.limits import (
    BITS_CAP,
    CHARACTERS_CAP,
    DEPTH_CAP,
    DIGITS_CAP,
    NUMBER_CAP,
    SHORT_NUMBER,
    TEXT_CAP,
    VALUES_CAP,
)


class Blank:
    """The class of `UNREADABLE`: a value that no comparison can be made with."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<unreadable>"


UNREADABLE = Blank()
FLAT = 100
"""Most arguments that are tested one by one, to see if all are plain."""
FEW, LITTLE_TEXT = 20, 2_000
"""Most members, and characters, of a small answer."""
LARGE = 1 << 63
_FLAT = frozenset({bool, type(None)})
_PLAIN = (str, int, float, bool, type(None), Decimal)
_SETS = (set, frozenset)
_LISTS = (list, tuple, *_SETS)
Opener: TypeAlias = Callable[[Any], Any]
"""A function from a foreign value to its map, list or scalar; else to `UNREADABLE`."""


@dataclass(slots=True)
class Room:
    """The values, digits and characters that may still be read of one call, or of one answer."""

    values: int
    digits: int = DIGITS_CAP
    characters: int = CHARACTERS_CAP
    met: str = ""
    """The first cap that was met."""
    most: int = 0
    opener: Opener | None = None

    def __post_init__(self) -> None:
        self.most = self.values

    def has(self, value: Any) -> bool:
        """True if there is room for a scalar, which then takes it."""
        if isinstance(value, str):
            return self.holds(len(value))
        digits = _digits(value)
        if digits <= SHORT_NUMBER:
            return True
        self.digits -= digits
        if digits > NUMBER_CAP:
            return self.lacks(f"a number of more than {NUMBER_CAP:,} digits")
        return self.digits >= 0 or self.lacks(f"more than {DIGITS_CAP:,} digits together")

    def holds(self, characters: int) -> bool:
        """True if there is room for so many characters, which then take it."""
        self.characters -= characters
        return self.characters >= 0 or self.lacks(f"more than {CHARACTERS_CAP:,} characters")

    def lacks(self, what: str) -> bool:
        """Return False; the first time, note which cap was met."""
        self.met = self.met or what
        return False


class Cut(dict[str, Any]):
    """The members of a map that could not all be read; `met`: the cap."""

    met = ""


def flat_copy(args: Any) -> dict[str, Any] | None:
    """Return a copy of arguments whose names and values never change; None for all others."""
    if type(args) is not dict or len(args) >= FLAT:
        return {} if args is None else None
    for name, value in args.items():
        kind = type(value)
        if kind is str:
            if len(value) > TEXT_CAP:
                return None
        elif kind is int:
            if not -LARGE < value < LARGE:
                return None
        elif kind not in _FLAT and not (kind is float and _is_short(value)):
            return None
        if type(name) is not str or not name.isascii():
            return None
    return args.copy()


def small_answer(value: Any) -> Any:
    """Return an answer as `freeze` does, if it is a plain value or a flat map of few of them, and
    has little text; `UNREADABLE` for all others.
    """
    if type(value) is dict and len(value) <= FEW:
        texts = [each for pair in value.items() for each in pair if type(each) is str]
        flat = flat_copy(value) if sum(map(len, texts)) <= LITTLE_TEXT else None
        return UNREADABLE if flat is None else flat
    if type(value) is str and len(value) <= LITTLE_TEXT:
        return value
    small = type(value) in _FLAT or (type(value) is int and -LARGE < value < LARGE)
    return value if small else UNREADABLE


def freeze_args(args: Any, opener: Opener | None = None) -> Any:
    """Return the arguments of a call, frozen; every name is kept. `opener`: for foreign values.

    Raises `TypeError` if they are not a map, and `NotCanonical` if they have too many names.
    """
    flat = flat_copy(args)
    if flat is not None:
        return flat
    if not isinstance(args, Mapping):
        raise TypeError(f"arguments are a {type(args).__name__}, not a map of names to values")
    if len(args) > VALUES_CAP:
        raise NotCanonical(f"{len(args):,} arguments are too many: at most {VALUES_CAP:,} are read")
    return freeze(args, opener=opener)


def _is_short(value: float) -> bool:
    """True for a number of few digits."""
    return value == 0 or 1e-5 < abs(value) < LARGE


def freeze(value: Any, most: int = VALUES_CAP, opener: Opener | None = None) -> Any:
    """Return a copy of at most `most` values, which later changes to `value` do not reach."""
    try:
        room = Room(most, opener=opener)
        if opener is not None and not isinstance(value, (*_PLAIN, *_LISTS, Mapping)):
            value = opener(value)
        if not isinstance(value, Mapping):
            return frozen_copy(value, DEPTH_CAP, room)
        room.holds(sum(len(name) for name in value if isinstance(name, str)))
        members = freeze_members(
            value.items(), lambda each: frozen_copy(each, DEPTH_CAP - 1, room), most
        )
        return _cut(members, room.met) if room.met and members is not UNREADABLE else members
    except Exception:  # a mapping of the host's own making may raise when it is read
        return UNREADABLE


def _cut(members: dict[str, Any], met: str) -> Cut:
    cut = Cut(members)
    cut.met = met
    return cut


def freeze_members(pairs: Iterable[tuple[Any, Any]], read: Any, most: int) -> Any:
    """Return the members of a map by name: each of them is read, or is unreadable itself.

    A map of more than `most` members is unreadable; so is a name that two members have.
    """
    members: dict[str, Any] = {}
    for count, (key, value) in enumerate(pairs):
        if count >= most:
            return UNREADABLE
        name = key_name(key)
        members[name] = UNREADABLE if name in members else read(value)
    return members


def key_name(key: Any) -> str:
    """Return a key as text in NFC: of an enum its value, not its name."""
    if isinstance(key, Enum):
        return key_name(key.value)
    if isinstance(key, bytes):
        return key_name(key.decode())
    name = str.__str__(key) if isinstance(key, str) else str(key)
    return composed(name)


def frozen_copy(value: Any, depth: int, room: Room) -> Any:
    """Return a copy of a value, as far as there is room; a scalar takes no room
    among the values.
    """
    if type(value) is dict and depth > 0 and _is_flat(value, room):
        return value.copy()
    if isinstance(value, Enum):  # before texts: a text enum is written by its value
        return _foreign(value, depth, room)
    if isinstance(value, _PLAIN):
        return value if room.has(value) else UNREADABLE
    if depth <= 0:
        room.lacks(f"more than {DEPTH_CAP} levels")
        return UNREADABLE
    if not isinstance(value, (Mapping, *_LISTS)):
        return _foreign(value, depth, room)
    if room.values <= 0:
        return _full(room)
    room.values -= 1
    if isinstance(value, Mapping):
        return _members(value, depth - 1, room)
    if isinstance(value, _SETS) and len(value) <= room.most:
        value = sorted(value, key=repr)  # equal sets are in equal order
    return _items(value, depth - 1, room)


def _is_flat(value: dict[Any, Any], room: Room) -> bool:
    """True if a map has plain names and short values, and room, which it then takes."""
    characters = 0
    for name, item in value.items():
        kind = type(item)
        if kind is str:
            characters += len(item)
        elif kind is int:
            if not -LARGE < item < LARGE:
                return False
        elif kind not in _FLAT and not (kind is float and _is_short(item)):
            return False
        if type(name) is not str or not name.isascii():
            return False
        characters += len(name)
    if room.values <= len(value) or room.characters < characters:
        return False
    room.values -= 1 + len(value)
    room.characters -= characters
    return True


def _foreign(value: Any, depth: int, room: Room) -> Any:
    """Return a copy of what the opener finds in a foreign value; `UNREADABLE`
    if it finds nothing.
    """
    if isinstance(value, Enum):
        inside = value.value
    elif room.opener is None or value is UNREADABLE or depth <= 0:
        inside = UNREADABLE
    else:
        inside = room.opener(value)
    inner = isinstance(inside, (dict, list))
    room.values -= not inner
    return UNREADABLE if inside is UNREADABLE else frozen_copy(inside, depth - (not inner), room)


def _members(value: Mapping[Any, Any], depth: int, room: Room) -> Any:
    members: dict[str, Any] = {}
    for key, item in value.items():
        name = key if type(key) is str and key.isascii() else key_name(key)
        if room.values <= 0 or not room.holds(len(name)):
            return _full(room)
        room.values -= isinstance(item, _PLAIN)
        members[name] = UNREADABLE if name in members else frozen_copy(item, depth, room)
    return members


def _items(value: Iterable[Any], depth: int, room: Room) -> Any:
    items: list[Any] = []
    for item in value:
        if room.values <= 0:
            return _full(room)
        room.values -= isinstance(item, _PLAIN)
        items.append(frozen_copy(item, depth, room))
    return items


def _full(room: Room) -> Blank:
    """Return `UNREADABLE`; note that there are too many values, if no other cap was met before."""
    room.lacks(f"more than {room.most:,} values")
    return UNREADABLE


def _digits(value: Any) -> int:
    """Return about how many digits a number has when it is written out; 0 for what has none."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value.bit_length() * 3 // 10 if value.bit_length() <= BITS_CAP else NUMBER_CAP + 1
    exact = value if isinstance(value, Decimal) else Decimal(float.__repr__(value))
    if not exact.is_finite() or not exact:
        return 0
    return max(abs(exact.adjusted()), len(exact.as_tuple().digits))
