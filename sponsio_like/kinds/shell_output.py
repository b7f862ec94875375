"""Redirections of what a command writes: into files, into nothing, and into each other.

In: the redirections of a command, one after another, and what it writes. Out: files are noted;
what still goes to the output is returned, None where that is unknown.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import NamedTuple

from sponsio_like.kinds.shell_state import NOTHING, Shell
from sponsio_like.kinds.shell_words import is_known

FILE = re.compile(r"/dev/null|(?!.*(?:dev|proc)/)[\w./-]+", re.ASCII)
"""A file that is not the output itself, as `/dev/stdout` is."""


class Redirection(NamedTuple):
    """A redirection. `source`: the descriptor, 1 for the output; `to`: where to, as it is written;
    `places`: the same, expanded.
    """

    source: str
    sign: str
    to: str
    places: Sequence[str]


def emptied(state: Shell, them: Sequence[Redirection]) -> None:
    """Note the files that redirections leave with nothing in them: nothing is written there."""
    for each in them:
        if each.sign in (">", ">|", "&>"):
            for place in each.places:
                state.deletes(place)


def directed(
    state: Shell, them: Sequence[Redirection], output: str | None, cwd: str | None
) -> str | None:
    """Note what redirections write; return what still goes to the output.

    `cwd` is the folder before anything ran: there the files were opened. Where messages of errors
    are mixed in, nobody can tell the text.
    """
    content = None if any(["&" in each.sign for each in them]) else output
    at_home, mixed = True, False
    after, state.cwd = state.cwd, cwd
    for source, sign, to, places in them:
        said = content if source == "1" and sign not in (">>", "&>>") else None
        if sign == ">&" and to.removesuffix("-").isdigit():
            turned = (source, to) == ("2", "1") and at_home
            mixed = mixed or turned or (source, to) not in (("1", "2"), ("2", "1"))
            places = ()  # noqa: PLW2901  no file
        elif to != NOTHING or sign == "<>":
            plain = sign != "<>" and FILE.fullmatch(to)
            mixed = mixed or not plain or not (state.cwd == "" or FILE.fullmatch(state.place(to)))
        for each in places:
            if sign[-1:] != "&" or (each != "-" and not each.removesuffix("-").isdigit()):
                state.writes(each, said)
                if after != cwd and is_known(each) and after is not None:  # `cd` may have failed
                    state.files[posixpath.normpath(posixpath.join(after, each))] = None
                if said == "":
                    state.deletes(each)
        at_home = at_home and source != "1"
    state.cwd = after
    return None if mixed else output if at_home else ""
