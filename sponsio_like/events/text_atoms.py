"""Built-in atoms over what texts mean: where paths lead, which host a URL reaches, what is in them.

In: a call, an answer or a message, and what is allowed there. Out: `True`, `False`, or `None`
where that cannot be decided.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from sponsio_like.event_types import Call, Message, Result
from sponsio_like.events.argument_atoms import Read, nested_values, texts
from sponsio_like.events.context import Context
from sponsio_like.events.registry import atom
from sponsio_like.kinds import date_bounds, has_hits, host_of, private_host
from sponsio_like.values import NotCanonical, leaves_of, reach, real, scalar_text, under


@atom("arg_inside", prepared=True)
def arg_inside(path: str, folders: tuple[str, ...], root: str = "", links: bool = False) -> Read:
    """Return the test: every path in the argument lies in one of the folders. Missing: True.

    Relative paths start from `root`, or from the first folder. With `links`, symbolic links are
    followed, too, as they are at that moment.
    """
    start = root or folders[0]

    def read(call: Call, _: Context) -> bool | None:
        answers = {_inside(each, folders, start, links) for each in _each(call, path)}
        return False if False in answers else None if None in answers else True

    return read


def _inside(value: Any, folders: tuple[str, ...], root: str, links: bool) -> bool | None:
    answer = under(value, folders, root)
    if not links or answer is not True:
        return answer
    kept = tuple(real(each, "/") for each in folders)
    return under(real(value, root), kept) if "~" not in value[:1] else answer


@atom("arg_host", prepared=True)
def arg_host(path: str, hosts: tuple[str, ...]) -> Read:
    """Return the test: every URL in the argument reaches one of the hosts; `*.x` is below `x`.

    A host that is not public has to be listed in full. A missing argument: None.
    """
    exact = frozenset(each for each in hosts if each[:2] != "*.")
    below = tuple(each[1:] for each in hosts if each[:2] == "*.")

    def fits(value: Any) -> bool | None:
        host = host_of(value) if isinstance(value, str) else None
        if not isinstance(host, str):
            return None
        return host in exact or (host.endswith(below) and not private_host(host))

    def read(call: Call, _: Context) -> bool | None:
        answers = {fits(each) for each in _each(call, path)}
        return None if None in answers or not answers else False not in answers

    return read


def _each(call: Call, path: str) -> Iterator[Any]:
    """Yield the values at a path one by one, and those in lists; nulls are left out."""
    yield from (each for each in leaves_of(reach(call.args, path)[0]) if each is not None)


@atom("arg_dated", prepared=True)
def arg_dated(path: str, last: float | None, coming: float | None) -> Read:
    """Return the test: every date in the argument lies so many seconds before the call, or behind.

    A day lies there if some second of it does. None for what is no date, and if it is missing.
    """

    def fits(value: Any, now: float) -> bool | None:
        found = date_bounds(value) if isinstance(value, str) else None
        if found is None:
            return None
        return found[1] >= now - (last or 0) and found[0] <= now + (coming or 0)

    def read(call: Call, _: Context) -> bool | None:
        answers = {fits(each, call.time) for each in _each(call, path)}
        return None if None in answers or not answers else False not in answers

    return read


# --- personal data and secrets --------------------------------------------------------------------


@atom("arg_finds", prepared=True)
def arg_finds(path: str, names: tuple[str, ...]) -> Read:
    """Return the test: one of these detectors finds something in the argument; `*` is all of them.

    None if the argument cannot be read.
    """
    return lambda call, _: _finds([call.args] if path == "*" else reach(call.args, path)[0], names)


@atom("output_finds", waits=True)
def output_finds(_: str, result: Result, names: tuple[str, ...]) -> bool | None:
    """True if one of these detectors finds something in the answer; None if it cannot be read."""
    return _finds([result.output], names)


@atom("text_finds", about="message")
def text_finds(message: Message, _: Context, names: tuple[str, ...]) -> bool | None:
    """True if one of these detectors finds something in the text; None if it cannot be read."""
    return _finds([message.text], names)


def _finds(values: list[Any], names: tuple[str, ...]) -> bool | None:
    """True if a text or a number inside, or a list of texts read as one, has something."""
    try:
        plain = [each for each in nested_values(values) if isinstance(each, (int, float, Decimal))]
        numbers = [scalar_text(each) for each in plain if not isinstance(each, bool)]
        for text in [*texts(values), *(each for each in numbers if each is not None)]:
            found = has_hits(text, names)
            if found is not False:
                return found
    except NotCanonical:
        return None
    return False
