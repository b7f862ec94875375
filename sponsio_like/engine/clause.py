"""Compiles one guarantee of one contract: a monitor, its assumption and its scope.

In: events. Out: letters, steps, and the tools that it concerns. There are two monitors:
`scope_monitor` follows the assumption and the ends of segments over the whole session; `monitor`
follows the guarantee, and starts anew with every segment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from sponsio_like.contracts import Contract, Rule
from sponsio_like.engine.automaton import NOWHERE, Automaton, has_many_parts, is_finite
from sponsio_like.errors import ContractError
from sponsio_like.events import (
    OPEN,
    Call,
    Context,
    End,
    Event,
    Kind,
    Result,
    Status,
    inputs_of,
    kinds_of,
    settled_value,
)
from sponsio_like.logic import Decomposition, decompose
from sponsio_like.logic.formula import TRUE, Denied, Node, Seconds, postorder
from sponsio_like.monitor import (
    NEVER,
    OTHER,
    Bindings,
    BoundLetters,
    Change,
    ClauseState,
    ClauseStep,
    Instance,
    Letter,
    Monitor,
    Name,
    Now,
    PositionCounts,
    Program,
    Relevance,
    RootedProgram,
    Slot,
    TooManyBranches,
    Verdict,
    concerned,
    dont_care_slots,
    due,
    has_one_register,
    is_unchanged,
    keeps_registers,
    memory,
    remembers_texts_once,
    slot_reader,
    split_key,
    static,
    targets_of,
    unconcerned_letter,
    variable_layout,
    vars_in,
)

MOMENT = 0.001
"""Seconds until the next position that `_stays` supposes: by then a register of
the time differs.
"""
FEW = 8
"""Most instances owed of a state about which `_is_quiet` caches an answer: larger ones seldom come
again.
"""
QUIET_CAP = 256
"""Most answers of `_is_quiet` that one clause caches."""


class Clause:
    """One guarantee of one contract, compiled. Sessions share it; immutable but for its caches.

    `monitor`: of the guarantee; `scope_monitor`: of the assumption and the scope; both read one
    letter. `automaton`: the steps that are remembered of a finite clause, else None.
    `ignores_others`: calls of tools that it does not name leave it as it is, in any state;
    `sees_all`: whatever it has to see concerns it. `by`:
    the paths whose values choose a monitor of their own; `bindings`: the value variables, or None;
    `counts`: the kinds of position that the guarantee counts; `kinds`: those that the clause sees.
    """

    def __init__(self, contract: Contract, rule: Rule, tools: Iterable[str] | None = None) -> None:
        self.contract = contract
        self.rule = rule
        self.by = rule.by
        program = Program()
        self.monitor = Monitor(program, decompose(rule.formula), tools)
        counted = list(program.slots)
        outer = Program(beside=program)
        scope = contract.segment
        self.kind_of_scope = scope.kind if scope else None
        assumption = TRUE if contract.assumption is None else contract.assumption
        self.assume = outer.add(assumption, violates=True)
        self.opens = None
        if scope and scope.start is not None:
            self.opens = outer.add(scope.start, violates=True)
        self.closes = outer.add(scope.stop) if scope and scope.stop is not None else None
        self.scope_monitor = Monitor(outer, Decomposition((), ()), tools)
        ends = [root for root in (self.opens, self.closes) if root is not None]
        self.opens_late = any(self.scope_monitor.future.waits[root] for root in ends)
        self.slots: list[Slot] = program.slots
        self._always = roots = [root for parts in self.monitor.always for root in parts]
        self._bare = scope is None and contract.assumption is None
        self.is_plain = scope is None and self.monitor.plain and not outer.looks_ahead(self.assume)
        once = self.is_plain and remembers_texts_once(program, roots, outer)
        self.bindings = _bindings(contract, rule, self.slots, indexed=once)
        self.readers  # noqa: B018  which checks what the atoms are given
        self.counts = _kinds(counted) or frozenset({"call"})
        self.kinds = self.counts | _kinds(self.slots)
        self.roots = (*roots, *self.monitor.rest)
        mine, scoped = (program, self.roots), (outer, (self.assume, *ends))
        self._judged = (RootedProgram(*mine), RootedProgram(*scoped))
        lasting, split = bool(self.monitor.rest) or scope is not None, bool(rule.by)
        self._listens = listens = Relevance(
            program, roots, outer, ends, assume=self.assume, lasting=lasting, split=split
        )
        matches = targets_of(self.slots)
        self.names = frozenset(name for match in matches for name in match.names)
        self.globs = frozenset(glob for match in matches for glob in match.globs)
        counts = self.monitor.counts_steps or self.scope_monitor.counts_steps
        steady = listens.unaffected and (self.is_plain or not counts)
        self.sees_all = listens.memoryless or listens.sees_all or self.kinds != self.counts
        self.may_wake = not (self.by or listens.memoryless or listens.sees_all or steady)
        self.automaton = Automaton() if self._is_finite() else None
        self._forget()
        self.ignores_others = self.keeps_registers(static(self.slots, OTHER))

    def _forget(self) -> None:
        """Begin without anything that was asked before."""
        self.asked: dict[Any, Any] = {}  # answers about it that other rooms remember
        self._quiet: dict[Any, bool] = {}
        self._rests: dict[Any, tuple[ClauseState, bool]] = {}
        self._finals: dict[Any, dict[int, Any]] = {}

    def alike(
        self, contract: Contract, rule: Rule, nodes: Iterable[Node], names: Iterable[str]
    ) -> Clause:
        """Return the clause of a rule of the same shape.

        `nodes`: what its slots read, in the order of these slots; `names`: the tools it names. It
        has the states of this clause. Of a clause with value variables there is none.
        """
        assert self.bindings is None
        twin, _ = object.__new__(Clause), self.start
        twin.__dict__.update(self.__dict__)
        for own in ("readers", "_unconcerned_letter"):
            twin.__dict__.pop(own, None)
        twin.contract, twin.rule, twin.names = contract, rule, frozenset(names)
        pairs = zip(self.slots, nodes, strict=True)
        twin.slots = [Slot(slot.kind, node, slot.default, slot.waits) for slot, node in pairs]
        twin.monitor, twin.scope_monitor = (
            self.monitor.over(twin.slots),
            self.scope_monitor.over(twin.slots),
        )
        twin._forget()
        return twin

    @cached_property
    def readers(self) -> list[Callable[[Event, Context], Any]]:
        """The functions that read the slots."""
        return [_reader(slot) for slot in self.slots]

    @cached_property
    def _unconcerned_letter(self) -> Letter:
        """The letter of a call of a tool that no contract names."""
        return unconcerned_letter(self.slots)

    @cached_property
    def timed(self) -> bool:
        """True if a bound in seconds can run out."""
        bounds = [op[2] for op in self.monitor.program.nodes if op[0] in ("F", "G")]
        return any(isinstance(bound, Seconds) for bound in bounds)

    def _is_finite(self) -> bool:
        """True if steps are worth remembering. Of counts, only what results of calls change."""
        each = (self.monitor, self.scope_monitor)
        late = any(one.branches.groups for one in each)
        return self.kinds == self.counts and all(
            is_finite(one.program, counts=late) for one in each
        )

    @cached_property
    def has_one_register(self) -> bool:
        """True if older snapshots have more registers than this clause."""
        return has_one_register(self.monitor)  # those of the scope are as they were

    @cached_property
    def is_memoryless(self) -> bool:
        """True if calls that are let through change nothing."""
        return self.is_plain and not (self.monitor.past.cells or self.scope_monitor.past.cells)

    # --- reading ------------------------------------------------------------------------------

    def concerns(self, tool: Name) -> bool:
        """True if a call of `tool` can matter to this clause."""
        return self.kinds != self.counts or self._listens.to(self.slots, tool)

    def can_break(self, event: Event) -> bool:
        """True if such an event can violate the guarantee, as far as its tool tells."""
        return not isinstance(event, Call) or self.restricts(event.tool)

    def restricts(self, tool: Name) -> bool:
        """True if a call of `tool` by itself can violate the guarantee."""
        return self._listens.restricts(self.slots, tool)

    def read(self, event: Event, context: Context) -> Letter:
        """Return the letter of this position. Atoms that users registered run
        here, and may raise.
        """
        return tuple([read(event, context) for read in self.readers])

    def bound_letters(self, event: Event, context: Context) -> BoundLetters:
        """Return the letters of this position: for each value that it binds, and for all others."""
        assert self.bindings is not None
        return self.bindings.see(
            self.read(event, context), event, context, self.keeps_registers, self.dont_care_slots
        )

    def results(self, letter: Letter, result: Result, tool: str) -> dict[int, Any]:
        """Return the final value of every slot that waits for this result, by the slot's number.

        Outputs with value variables are left out: `bindings` settles them.
        """
        final = {}
        for i, value in enumerate(letter):
            if value is OPEN and not (self.bindings and i in self.bindings.revealing):
                answer = settled_value(self.slots[i].node, result, tool)
                final[i] = self.slots[i].default if answer is None else answer
        return final

    def keeps_registers(self, letter: Sequence[bool | None]) -> bool:
        """True if positions with this letter leave the clause as it is, in any state."""
        if not self.is_plain:
            return False
        still = [
            each if isinstance(each, bool) else None for each in unconcerned_letter(self.slots)
        ]
        return not concerned(self.monitor.program, self._always, letter) and all(
            keeps_registers(each.program, each.past, one)
            for each in (self.monitor, self.scope_monitor)
            for one in (letter, still)
        )

    def dont_care_slots(self, letter: Sequence[bool | None]) -> frozenset[int]:
        """Return the outputs that bind values, and make no difference at positions with this
        letter.
        """
        return self.idle_slots(letter, self.bindings.revealing if self.bindings else ())

    def idle_slots(self, letter: Sequence[bool | None], slots: Iterable[int]) -> frozenset[int]:
        """Return which of these slots make no difference at positions with this letter, in which
        None stands for what is not known.
        """
        return dont_care_slots(self._judged, letter, slots)

    def by_status(self, letter: Letter, status: Status, tool: str) -> Mapping[int, Any]:
        """Return what `results` does, of a result of which the clause reads the status alone."""
        key = (letter, status, tool)
        if key not in self._finals:
            if len(self._finals) >= QUIET_CAP:
                self._finals.clear()
            self._finals[key] = self.results(letter, Result(status), tool)
        return self._finals[key]

    def worst(self, letter: Letter) -> dict[int, bool]:
        """Return the value that violates, for every slot that waits for a result."""
        return {i: self.slots[i].default for i, value in enumerate(letter) if value is OPEN}

    def key(self, event: Event) -> Any:
        """Return the values that choose the monitor of this call; None if one is missing."""
        return split_key(event, self.by, self.rule.single) if isinstance(event, Call) else None

    # --- watching -----------------------------------------------------------------------------

    @cached_property
    def start(self) -> ClauseState:
        """The state before the first position, one for all sessions."""
        open_at_once = self.kind_of_scope in (None, "before")
        return ClauseState(self.scope_monitor.start, self.monitor.start if open_at_once else None)

    def step(
        self, state: ClauseState, letter: Letter, kind: Kind, at: PositionCounts, time: float
    ) -> ClauseStep:
        """Return the state after one position; the caller has called `expire` for its time."""
        if self.automaton is None:
            return self._stepped(state, letter, kind, at, time)
        known = self.automaton.known(state, (kind, letter), at.seen)
        if known is not None:
            return known

        def ask(before: ClauseState, rank: int) -> ClauseStep:
            return self._stepped(before, letter, kind, PositionCounts(rank, rank), 0.0)

        return self.automaton.step(state, (kind, letter), at.seen, ask)

    def _stepped(
        self, state: ClauseState, letter: Letter, kind: Kind, at: PositionCounts, time: float
    ) -> ClauseStep:
        if self._bare and state.segment is not None and kind in self.counts:
            inner, violated = self.monitor.step(state.segment, letter, at.counted, time)
            if inner is state.segment and not violated:
                return ClauseStep(state, False)
            broken = state.violated or violated
            return ClauseStep(
                ClauseState(state.outer, inner, state.closed, broken, state.left_open), violated
            )
        values = self.scope_monitor.past.read(letter, state.outer.registers, at.seen, time)
        outer = self.scope_monitor.step(state.outer, letter, at.seen, time).state
        after, violated = self._segment(state._replace(outer=outer), values)
        if after.segment is not None and kind in self.counts:
            step = self.monitor.step(after.segment, letter, at.counted, time)
            after, violated = after._replace(segment=step.state), violated or step.violated
        return self._seen(after, violated and values[self.assume])

    def _segment(self, state: ClauseState, values: list[Any]) -> ClauseStep:
        """Return the state as segments end and begin at this position; violated
        if one has failed.
        """
        starts = self.opens is not None and values[self.opens]
        stops = self.closes is not None and values[self.closes]
        failed = False
        if state.segment is not None and stops:
            left, failed = self.monitor.closed(state.segment)
            over = self.kind_of_scope == "before"
            state = state._replace(segment=None, closed=over, left_open=state.left_open | left)
        if state.segment is None and starts and not state.closed:
            state = state._replace(segment=self.monitor.start)
        return ClauseStep(state, failed)

    def settle(
        self,
        state: ClauseState,
        change: Change,
        final: Mapping[int, bool],
        last: PositionCounts,
        now: Now,
    ) -> ClauseStep:
        """Return the state once a call has its result; violated if the result shows that the call
        was.

        Where a scope speaks of results, a segment may begin or end now.
        """
        if self.automaton is None:
            seen = self._settled(state, change, final, last, now)
        elif change.at.seen not in state.flying and not self.opens_late:
            return ClauseStep(state, False)
        else:

            def ask(before: ClauseState, rank: int) -> ClauseStep:
                mine = change._replace(at=PositionCounts(rank, rank))
                return self._settled(before, mine, final, mine.at, now)

            told = (tuple(final.items()), change.letter if self.opens_late else ())
            seen = self.automaton.settle(state, told, change.at.seen, ask)
        if not (seen.violated and self.assumed(seen.state, last, now)):
            return ClauseStep(seen.state, False)
        return self._seen(seen.state, True)

    def _settled(
        self,
        state: ClauseState,
        change: Change,
        final: Mapping[int, bool],
        last: PositionCounts,
        now: Now,
    ) -> ClauseStep:
        """Return what `settle` does; violated wherever the assumption does not matter."""
        outer = self.scope_monitor.settle(state.outer, change.at.seen, final, last.seen).state
        state, failed = state._replace(outer=outer), False
        if state.segment is not None:
            step = self.monitor.settle(state.segment, change.at.counted, final, last.counted)
            state, failed = state._replace(segment=step.state), step.violated
        if state.left_open:
            left, ended = self.monitor.settled(state.left_open, change.at.counted, final)
            state, failed = state._replace(left_open=left), failed or ended
        if self.opens_late:
            letter = tuple(final.get(i, value) for i, value in enumerate(change.letter))
            values = self.scope_monitor.past.read(letter, outer.registers, change.at.seen, now.time)
            state, ended = self._segment(state, values)
            failed = failed or ended
        return ClauseStep(state, failed)

    def awaits(self, state: ClauseState, at: PositionCounts) -> bool:
        """Return False if the result of the call at this position changes nothing any more."""
        return self.automaton is None or self.opens_late or at.seen in state.flying

    def expire(self, state: ClauseState, last: PositionCounts, now: Now) -> ClauseStep:
        """Return the state at this time; violated if a bound in seconds has run out."""
        if state.segment is None:
            return ClauseStep(state, False)
        step = self.monitor.expire(state.segment, last.counted, now.time)
        state = state._replace(segment=step.state)
        return self._seen(state, step.violated and self.assumed(state, last, now))

    @staticmethod
    def _seen(state: ClauseState, violated: bool) -> ClauseStep:
        return ClauseStep(state._replace(violated=state.violated or violated), violated)

    def assumed(self, state: ClauseState, last: PositionCounts, now: Now) -> bool:
        """True if the assumption holds after the last position, of which only
        the context is read.
        """
        nothing = self.read(End(), now.context)
        if self.bindings is not None:
            nothing = self.bindings.nothing(nothing, now.context)
        values = self.scope_monitor.past.read(
            nothing, state.outer.registers, last.seen + 1, now.time
        )
        return bool(values[self.assume])

    def verdict(self, state: ClauseState, last: PositionCounts) -> Verdict:
        """Return the verdict, which stays once violated; inconclusive for a scope that may open
        again.
        """
        if state.violated:
            return "violated"
        if state.closed and not state.left_open:
            return "satisfied"
        if state.segment is None or self.kind_of_scope or self.by:
            return "inconclusive"
        return self.monitor.verdict(state.segment, last.counted)

    def open_ends(self, state: ClauseState) -> list[Instance]:
        """Return the instances that would be unfulfilled if the session ended now."""
        live = state.left_open
        if state.segment is not None and self.kind_of_scope not in ("before", "between"):
            live |= state.segment.live
        return self.monitor.open_ends(live)

    # --- waking -------------------------------------------------------------------------------

    def skips(self, letter: Sequence[Any]) -> bool:
        """True if states skip calls with this letter until the position that `wakes_at` returns."""
        return not (self.sees_all or self.ignores_others) and letter == self._unconcerned_letter

    def wakes_at(self, state: ClauseState, last: PositionCounts, time: float) -> int:
        """Return the next position that this state has to see, whatever the tool.

        `NEVER` if there is none.
        """
        position = last.seen
        if self.sees_all:
            return NEVER  # it sees every position that matters by itself
        if self.automaton is not None:
            return NEVER if self._rests_in(state) else position + 1
        if not self._is_quiet(state, position, time):
            return position + 1
        dues = [due(self.scope_monitor, state.outer, position)]
        if state.segment is not None:
            dues.append(due(self.monitor, state.segment, position))
        return min(dues)

    def _is_quiet(self, state: ClauseState, position: int, time: float) -> bool:
        """True if a call of a tool that no contract names leaves the state as it is."""
        if self._listens.unaffected and not (state.segment and state.segment.live):
            return True
        if self.is_plain or len(state.segment.live if state.segment else ()) > FEW:
            return self._stays(state, position, time)
        key = (
            memory(self.scope_monitor, state.outer, position),
            state.segment and memory(self.monitor, state.segment, position),
        )
        if key not in self._quiet:
            if len(self._quiet) >= QUIET_CAP:
                self._quiet.clear()
            self._quiet[key] = self._stays(state, position, time)
        return self._quiet[key]

    def _rests_in(self, state: ClauseState) -> bool:
        """True if a call that no contract names leads from this state to itself."""
        outer, segment, closed, broken, left, _ = state
        if self._listens.unaffected and not (segment and segment.live):
            return True
        key = (id(outer), id(segment), closed, broken, id(left))
        found = self._rests.get(key)
        if found is None:
            letter, at = self._unconcerned_letter, PositionCounts(NOWHERE, NOWHERE)
            try:
                seen = self.step(state, letter, "call", at, 0.0)
            except (TooManyBranches, ContractError):  # the next position will raise it
                return False
            if len(self._rests) >= QUIET_CAP:
                self._rests.clear()
            found = (state, seen.state is state and not seen.violated)
            if not has_many_parts(state):
                self._rests[key] = found
        return found[1]

    def _stays(self, state: ClauseState, position: int, time: float) -> bool:
        letter, at = self._unconcerned_letter, PositionCounts(position + 1, position + 1)
        inner = state.segment if self._bare else None
        try:
            if inner and self.monitor.owes_other(inner, letter, at.counted, time + MOMENT):
                return False
            seen = self.step(state, letter, "call", at, time + MOMENT)
        except (TooManyBranches, ContractError):  # the next position will raise it
            return False
        before, after = state.segment, seen.state.segment
        if seen.violated or not is_unchanged(self.scope_monitor, state.outer, seen.state.outer):
            return False
        if before is None or after is None:
            return before is after
        return before.live == after.live and is_unchanged(self.monitor, before, after)


def _bindings(
    contract: Contract, rule: Rule, slots: Sequence[Slot], *, indexed: bool
) -> Bindings | None:
    """Return the value variables of a clause; None if it has none.

    `indexed`: the values of texts may be remembered together, if there is one variable.
    """
    scope = contract.segment
    ends = (scope.start, scope.stop) if scope else ()
    roots = [each for each in (rule.formula, contract.assumption, *ends) if each is not None]
    names = variable_layout(roots, rule.formula)
    if not (names.places or names.local):
        return None
    indexed = indexed and len(names.places) == 1 and set(names.forms.values()) == {"text"}
    return Bindings(slots, names, indexed=indexed)


def _reader(slot: Slot) -> Callable[[Event, Context], Any]:
    """Return the function that reads a slot; with variables, its default (see `bindings.py`)."""
    if any(vars_in(node) for node in postorder(slot.node)):
        return lambda event, context: slot.default
    return slot_reader(slot)


def _kinds(slots: Iterable[Slot]) -> frozenset[Kind]:
    """Return the kinds of position that these slots are read from."""
    return frozenset(kind for slot in slots for kind in kinds_of(slot.node))


TOLD = frozenset({"facts", "usage", "results"})
"""The inputs that reach a session apart from the event that is decided."""


def is_stateful(clause: Clause) -> bool:
    """True if a session has to keep anything for the clause, or to be told anything besides the
    event.
    """
    if clause.by or clause.kind_of_scope is not None or not clause.monitor.plain:
        return True
    if clause.monitor.past.cells or clause.scope_monitor.past.cells:
        return True
    read = [each for slot in clause.slots for each in postorder(slot.node)]
    return any(isinstance(each, Denied) or inputs_of(each) & TOLD for each in read)
