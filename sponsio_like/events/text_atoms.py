"""Built-in atoms over what the texts of a call mean: where paths lead, which host a URL reaches.

In: a call, a path into its arguments, and what is allowed there. Out: `True`, `False`, or `None`
where that cannot be decided.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sponsio_like.events.argument_atoms import Read
from sponsio_like.events.context import Context
from sponsio_like.events.events import Call
from sponsio_like.events.registry import atom
from sponsio_like.kinds import host_of, private_host
from sponsio_like.values import leaves_of, reach, real, under


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
