"""Compiles one guarantee of one contract: a monitor, its assumption and its scope.

In: events. Out: letters, steps, and the tools that it concerns. The gate reads the whole session
(the assumption, the ends of segments); the monitor starts anew with every segment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sponsio_like.contracts.contract import Contract
from sponsio_like.contracts.pattern import Rule
from sponsio_like.errors import ContractError
from sponsio_like.events.atoms import OPEN, kinds_of, settled
from sponsio_like.events.context import Context
from sponsio_like.events.events import Call, End, Event, Kind, Result
from sponsio_like.logic.decompose import Reading, take_apart
from sponsio_like.logic.formula import TRUE, Seconds, postorder
from sponsio_like.monitor.alphabet import OTHER, Name, quiet, static, targets_of
from sponsio_like.monitor.in_flight import WindowFull
from sponsio_like.monitor.monitor import Instance, Monitor, Verdict
from sponsio_like.monitor.parametric.bindings import Bindings, Sight
from sponsio_like.monitor.parametric.variables import names_of, vars_in
from sponsio_like.monitor.past import Letter
from sponsio_like.monitor.program import Program, Slot
from sponsio_like.monitor.relevance import Listening, concerned
from sponsio_like.monitor.resting import NEVER, due, in_the_air, memory, same
from sponsio_like.monitor.slots import key_of, slot_reader
from sponsio_like.monitor.state import Change, Now, Place, Seen, Watch
from sponsio_like.monitor.steady import Judged, is_steady, mute

MOMENT = 0.001
"""Seconds until the next position that `_stays` supposes: by then a register of
the time differs.
"""
QUIET_CAP = 256
"""Most answers of `_is_quiet` that one clause caches."""


class Clause:
    """One guarantee of one contract, compiled. Sessions share it; immutable but for its caches.

    `by`: the paths whose values choose a monitor of their own; `bound`: the value variables, or
    None; `counts`: the kinds of position that the guarantee counts; `kinds`: those that the clause
    sees.
    """

    def __init__(self, contract: Contract, rule: Rule, tools: Iterable[str] | None = None) -> None:
        self.contract = contract
        self.rule = rule
        self.by = rule.by
        program = Program()
        self.monitor = Monitor(program, take_apart(rule.formula), tools)
        counted = list(program.slots)
        gate = Program(beside=program)
        scope = contract.segment
        self.kind_of_scope = scope.kind if scope else None
        assumption = TRUE if contract.assumption is None else contract.assumption
        self.assume = gate.add(assumption, violates=True)
        self.opens = None
        if scope and scope.start is not None:
            self.opens = gate.add(scope.start, violates=True)
        self.closes = gate.add(scope.stop) if scope and scope.stop is not None else None
        self.gate = Monitor(gate, Reading((), ()), tools)
        ends = [root for root in (self.opens, self.closes) if root is not None]
        self.opens_late = any(self.gate.future.waits[root] for root in ends)
        self.slots: list[Slot] = program.slots
        self.bound = _bindings(contract, rule, self.slots)
        self.readers = [_reader(slot) for slot in self.slots]
        self.counts = _kinds(counted) or frozenset({"call"})
        self.kinds = self.counts | _kinds(self.slots)
        self._always = roots = [root for parts in self.monitor.always for root in parts]
        self.roots = (*roots, *self.monitor.rest)
        self._judged = (Judged(program, self.roots), Judged(gate, (self.assume, *ends)))
        lasting = bool(self.monitor.rest) or scope is not None
        split = bool(rule.by)
        self._listens = Listening(
            program, roots, gate, ends, assume=self.assume, lasting=lasting, split=split
        )
        self._quiet: dict[Any, bool] = {}
        matches = targets_of(self.slots)
        self.names = frozenset(name for match in matches for name in match.names)
        self.globs = frozenset(glob for match in matches for glob in match.globs)
        self._bare = scope is None and contract.assumption is None
        self.is_plain = scope is None and self.monitor.plain and not gate.looks_ahead(self.assume)
        steady = self._listens.calm and not (self.monitor.counts_steps or self.gate.counts_steps)
        self.may_wake = not (self.by or self._listens.light or self._listens.all or steady)
        bounds = [op[2] for op in program.nodes if op[0] in ("F", "G")]
        self.timed = any(isinstance(bound, Seconds) for bound in bounds)
        self.is_still = self.is_steady(static(self.slots, OTHER))

    # --- reading ------------------------------------------------------------------------------

    def concerns(self, tool: Name) -> bool:
        """True if a call of `tool` can matter to this clause."""
        return self.kinds != self.counts or self._listens.to(tool)

    def can_break(self, event: Event) -> bool:
        """True if such an event can violate the guarantee, as far as its tool tells."""
        return not isinstance(event, Call) or self.restricts(event.tool)

    def restricts(self, tool: Name) -> bool:
        """True if a call of `tool` by itself can violate the guarantee."""
        return self._listens.restricts(tool)

    def read(self, event: Event, context: Context) -> Letter:
        """Return the letter of this position. Atoms that users registered run
        here, and may raise.
        """
        return tuple([read(event, context) for read in self.readers])

    def sight(self, event: Event, context: Context) -> Sight:
        """Return the letters of this position: for each value that it binds, and for all others."""
        assert self.bound is not None
        return self.bound.see(self.read(event, context), event, context, self.is_steady, self.mute)

    def results(self, letter: Letter, result: Result, tool: str) -> dict[int, Any]:
        """Return the final value of every slot that waits for this result, by the slot's number.

        Outputs with value variables are left out: `bound` settles them.
        """
        final = {}
        for i, value in enumerate(letter):
            if value is OPEN and not (self.bound and i in self.bound.revealing):
                answer = settled(self.slots[i].node, result, tool)
                final[i] = self.slots[i].default if answer is None else answer
        return final

    def is_steady(self, letter: Sequence[bool | None]) -> bool:
        """True if positions with this letter leave the clause as it is, in any state."""
        if not self.is_plain:
            return False
        still = [each if isinstance(each, bool) else None for each in quiet(self.slots)]
        return not concerned(self.monitor.program, self._always, letter) and all(
            is_steady(each.program, each.past, one)
            for each in (self.monitor, self.gate)
            for one in (letter, still)
        )

    def mute(self, letter: Sequence[bool | None]) -> frozenset[int]:
        """Return the outputs that bind values, and make no difference at positions with this
        letter.
        """
        return mute(self._judged, letter, self.bound.revealing if self.bound else ())

    def worst(self, letter: Letter) -> dict[int, bool]:
        """Return the value that violates, for every slot that waits for a result."""
        return {i: self.slots[i].default for i, value in enumerate(letter) if value is OPEN}

    def key(self, event: Event) -> Any:
        """Return the values that choose the monitor of this call; None if one is missing."""
        return key_of(event, self.by) if isinstance(event, Call) else None

    # --- watching -----------------------------------------------------------------------------

    @property
    def start(self) -> Watch:
        """The watch before the first position."""
        open_at_once = self.kind_of_scope in (None, "before")
        return Watch(self.gate.start, self.monitor.start if open_at_once else None)

    def step(self, watch: Watch, letter: Letter, kind: Kind, at: Place, time: float) -> Seen:
        """Return the watch after one position; the caller has called `expire` for its time."""
        if self._bare and watch.inner is not None and kind in self.counts:
            inner, violated = self.monitor.step(watch.inner, letter, at.counted, time)
            broken = watch.broken or violated
            return Seen(Watch(watch.gate, inner, watch.over, broken, watch.hanging), violated)
        values = self.gate.past.read(letter, watch.gate.registers, at.seen, time)
        gate = self.gate.step(watch.gate, letter, at.seen, time).state
        after, violated = self._segment(watch._replace(gate=gate), values)
        if after.inner is not None and kind in self.counts:
            step = self.monitor.step(after.inner, letter, at.counted, time)
            after, violated = after._replace(inner=step.state), violated or step.violated
        return self._seen(after, violated and values[self.assume])

    def _segment(self, watch: Watch, values: list[Any]) -> Seen:
        """Return the watch as segments end and begin at this position; violated
        if one has failed.
        """
        starts = self.opens is not None and values[self.opens]
        stops = self.closes is not None and values[self.closes]
        failed = False
        if watch.inner is not None and stops:
            left, failed = self.monitor.closed(watch.inner)
            over = self.kind_of_scope == "before"
            watch = watch._replace(inner=None, over=over, hanging=watch.hanging | left)
        if watch.inner is None and starts and not watch.over:
            watch = watch._replace(inner=self.monitor.start)
        return Seen(watch, failed)

    def settle(
        self, watch: Watch, change: Change, final: Mapping[int, bool], last: Place, now: Now
    ) -> Seen:
        """Return the watch once a call has its result; violated if the result shows that the call
        was.

        Where a scope speaks of results, a segment may begin or end now.
        """
        gate = self.gate.settle(watch.gate, change.at.seen, final, last.seen).state
        watch, failed = watch._replace(gate=gate), False
        if watch.inner is not None:
            step = self.monitor.settle(watch.inner, change.at.counted, final, last.counted)
            watch, failed = watch._replace(inner=step.state), step.violated
        if watch.hanging:
            left, ended = self.monitor.settled(watch.hanging, change.at.counted, final)
            watch, failed = watch._replace(hanging=left), failed or ended
        if self.opens_late:
            letter = tuple(final.get(i, value) for i, value in enumerate(change.letter))
            values = self.gate.past.read(letter, gate.registers, change.at.seen, now.time)
            watch, ended = self._segment(watch, values)
            failed = failed or ended
        return self._seen(watch, failed and self.assumed(watch, last, now))

    def expire(self, watch: Watch, last: Place, now: Now) -> Seen:
        """Return the watch at this time; violated if a bound in seconds has run out."""
        if watch.inner is None:
            return Seen(watch, False)
        step = self.monitor.expire(watch.inner, last.counted, now.time)
        watch = watch._replace(inner=step.state)
        return self._seen(watch, step.violated and self.assumed(watch, last, now))

    @staticmethod
    def _seen(watch: Watch, violated: bool) -> Seen:
        return Seen(watch._replace(broken=watch.broken or violated), violated)

    def assumed(self, watch: Watch, last: Place, now: Now) -> bool:
        """True if the assumption holds after the last position, of which only
        the context is read.
        """
        nothing = self.read(End(), now.context)
        if self.bound is not None:
            nothing = self.bound.nothing(nothing, now.context)
        values = self.gate.past.read(nothing, watch.gate.registers, last.seen + 1, now.time)
        return bool(values[self.assume])

    def verdict(self, watch: Watch, last: Place) -> Verdict:
        """Return the verdict, which stays once violated; inconclusive for a scope that may open
        again.
        """
        if watch.broken:
            return "violated"
        if watch.over and not watch.hanging:
            return "satisfied"
        if watch.inner is None or self.kind_of_scope or self.by:
            return "inconclusive"
        return self.monitor.verdict(watch.inner, last.counted)

    def open_ends(self, watch: Watch) -> list[Instance]:
        """Return the instances that would be unfulfilled if the session ended now."""
        live = watch.hanging
        if watch.inner is not None and self.kind_of_scope not in ("before", "between"):
            live |= watch.inner.live
        return self.monitor.open_ends(live)

    # --- waking -------------------------------------------------------------------------------

    def wakes_at(self, watch: Watch, last: Place, time: float) -> int:
        """Return the next position that this watch has to see, whatever the tool.

        `NEVER` if there is none.
        """
        position = last.seen
        if self._listens.light or self._listens.all or self.kinds != self.counts:
            return NEVER  # it sees every position by itself
        if not self._is_quiet(watch, position, time):
            return position + 1
        dues = [due(self.gate, watch.gate, position)]
        if watch.inner is not None:
            dues.append(due(self.monitor, watch.inner, position))
        return min(dues)

    def _is_quiet(self, watch: Watch, position: int, time: float) -> bool:
        """True if a call of a tool that no contract names leaves the watch as it is."""
        if self._listens.calm and not (watch.inner and watch.inner.live):
            return True
        if in_the_air(watch.gate) or (watch.inner is not None and in_the_air(watch.inner)):
            return self._stays(watch, position, time)  # a window does not repeat: not worth caching
        key = (
            memory(self.gate, watch.gate, position),
            watch.inner and memory(self.monitor, watch.inner, position),
        )
        if key not in self._quiet:
            if len(self._quiet) >= QUIET_CAP:
                self._quiet.clear()
            self._quiet[key] = self._stays(watch, position, time)
        return self._quiet[key]

    def _stays(self, watch: Watch, position: int, time: float) -> bool:
        letter, at = self.gate.search.quiet_letter, Place(position + 1, position + 1)
        try:
            seen = self.step(watch, letter, "call", at, time + MOMENT)
        except (WindowFull, ContractError):  # the next position will raise it
            return False
        before, after = watch.inner, seen.watch.inner
        if seen.violated or not same(self.gate, watch.gate, seen.watch.gate):
            return False
        if before is None or after is None:
            return before is after
        return before.live == after.live and same(self.monitor, before, after)


def _bindings(contract: Contract, rule: Rule, slots: Sequence[Slot]) -> Bindings | None:
    """Return the value variables of a clause; None if it has none."""
    scope = contract.segment
    ends = (scope.start, scope.stop) if scope else ()
    roots = [each for each in (rule.formula, contract.assumption, *ends) if each is not None]
    names = names_of(roots, rule.formula)
    return Bindings(slots, names) if names.places or names.local else None


def _reader(slot: Slot) -> Callable[[Event, Context], Any]:
    """Return the function that reads a slot; with variables, its default (see `bindings.py`)."""
    if any(vars_in(node) for node in postorder(slot.node)):
        return lambda event, context: slot.default
    return slot_reader(slot)


def _kinds(slots: Iterable[Slot]) -> frozenset[Kind]:
    """Return the kinds of position that these slots are read from."""
    return frozenset(kind for slot in slots for kind in kinds_of(slot.node))
