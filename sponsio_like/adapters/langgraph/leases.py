"""Decides which process may run a call, where several share a store of the world.

In: the store, a thread, and a call that was let through. Out: whether it runs here. Not where
another run has made something else of the same step, or of the same answer, and runs that; and not
while another process, that lives, runs this very step, or has just run it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sponsio_like.worlds import Processes, World

CAP = 100
"""Most decisions of a thread that are known; of more, those that have run first are forgotten."""
SAVING = 10.0
"""Seconds in which what a call has come to is saved. Later it runs again if that is not known."""
TAKEN = "it did not run: another run of this step has run its calls, or runs them now"
"""The reason told of a call that another run has taken."""


Leave: TypeAlias = Literal["first", "again", "never"]
"""The permission to run a call: the first time, again after a process that died, or never."""


class Taken(Exception):
    """Raised if another process runs this step, or has just run it."""


@dataclass(frozen=True)
class Lease:
    """A call that was `decided` by a name, in the part `rev`, and runs in a step of a thread."""

    world: World
    thread: str
    decided: str
    rev: str
    step: str

    def begin(self) -> Leave:
        """Note that the call begins; return whether it may run as it was decided.

        Raises `Taken` if another process is at it. After one that has died ("again") the checkpoint
        may know what the call has come to.
        """
        with self.world.entry(self._name) as entry:
            data = entry.read() or {}
            decided, runs = data.get("decided", {}), data.get("runs", {})
            if decided.get(self.decided, self.rev) != self.rev:
                return "never"
            before = self._others_of(runs)
            latest = dict(list({**decided, self.decided: self.rev}.items())[-CAP:])
            entry.replace({"decided": latest, "runs": self._with_mine(runs)})
            return "again" if before else "first"

    def end(self, *, came: bool) -> None:
        """Note that the call has ended. `came`: it has a result, and is not to run again."""
        if not isinstance(self.world, Processes):
            return
        with self.world.entry(self._name) as entry:
            data = entry.read() or {}
            runs, own = dict(data.get("runs", {})), self.world.process()
            if runs.pop(self.step, [None])[0] != own:
                return
            if came:
                runs[self.step] = [own, time.time()]
            entry.replace({**data, "runs": runs})

    @property
    def _name(self) -> str:
        return f"leases of {self.thread}"

    def _others_of(self, runs: Mapping[str, Any]) -> bool:
        """True if another process was at this step, and has died. Raises `Taken` if it lives."""
        world = self.world
        if not isinstance(world, Processes) or self.step not in runs:
            return False
        process, ended = runs[self.step]
        if ended is not None and ended < time.time() - SAVING:
            return False
        if process != world.process() and world.lives(process):
            raise Taken
        return bool(process != world.process())

    def _with_mine(self, runs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the steps that are run, or were just now, and this one."""
        if not isinstance(self.world, Processes):
            return {}
        since = time.time() - SAVING
        recent = [(step, run) for step, run in runs.items() if run[1] is None or run[1] > since]
        return {**dict(recent[-CAP:]), self.step: [self.world.process(), None]}
