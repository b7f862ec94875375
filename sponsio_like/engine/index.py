"""Finds the clauses that have to see a position, by the name of the tool or by its kind.

In: clauses. Out: their numbers, in order. Tools that no contract names, and that the same globs
match, have the same clauses.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from sponsio_like.engine.clause import Clause
from sponsio_like.events import Kind, glob_matcher
from sponsio_like.monitor import OTHER, Name

INDEX_CAP = 4_096
"""Most tools, and combinations of globs, whose clauses are cached; others are
looked up each time.
"""
KINDS: tuple[Kind, ...] = ("call", "message", "step", "end")


class Index:
    """The clauses of a policy by tool and by kind of position; immutable but for its cache."""

    def __init__(self, clauses: Sequence[Clause]) -> None:
        self._clauses = clauses
        self._known: dict[Name, tuple[int, ...]] = {}
        each = list(enumerate(clauses))
        self.counting = {kind: tuple(i for i, one in each if kind in one.kinds) for kind in KINDS}
        self.names = frozenset(name for clause in clauses for name in clause.names)
        found = dict.fromkeys(glob for clause in clauses for glob in clause.globs)
        self._globs: list[tuple[str, Callable[[str], bool]]] = [
            (glob, glob_matcher(glob)) for glob in found
        ]

    def name_of(self, tool: str) -> Name:
        """Return the name by which contracts know a tool: its own, or the globs that match it."""
        if tool in self.names:
            return tool
        return frozenset([glob for glob, matches in self._globs if matches(tool)])

    def concerned(self, name: Name) -> tuple[int, ...]:
        """Return the clauses that a call concerns, if contracts know its tool by this name."""
        found = self._known.get(name)
        if found is None:
            found = tuple(i for i in self._asked(name) if self._clauses[i].concerns(name))
            if len(self._known) < INDEX_CAP:
                self._known[name] = found
        return found

    def breadth(self, tool: str) -> int:
        """Return how many clauses a call of a tool that contracts name concerns, at most."""
        return len(self._of_any) + len(self._naming.get(tool, ()))

    def _asked(self, name: Name) -> Sequence[int]:
        """Return the clauses that may be concerned: those that name the tool, or speak of any."""
        if not isinstance(name, str):
            return self.counting["call"]
        return sorted({*self._of_any, *self._naming.get(name, ())})

    @functools.cached_property
    def _of_any(self) -> tuple[int, ...]:
        """The clauses that may have to see calls of tools that they do not name."""
        each = ((i, self._clauses[i]) for i in self.counting["call"])
        return tuple(i for i, clause in each if clause.globs or clause.concerns(OTHER))

    @functools.cached_property
    def _naming(self) -> dict[str, list[int]]:
        """The clauses that name a tool, by its name."""
        found: dict[str, list[int]] = {}
        for i in self.counting["call"]:
            for name in self._clauses[i].names:
                found.setdefault(name, []).append(i)
        return found
