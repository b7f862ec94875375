"""The source of one lane: what a call of one tool does to the clauses that it concerns.

In: a policy, and a tool. Out: a `Lane`, which tells whether anything stands against a call, and,
once the call has its result, what its contracts remember of it. Raises `NoLane` for what has to
take the slow path. Nothing in a lane runs code of users.

For a clause that calls of the tool do not concern, the code says when it has to see one (`wakes`).
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sponsio_like.engine.clause import MOMENT, Clause
from sponsio_like.engine.fastpath.deadlines import Deadlines, has_deadlines
from sponsio_like.engine.fastpath.lane import Lane, NoLane, Opener, Reader, ResultPart
from sponsio_like.engine.fastpath.letter import (
    Lettering,
    foreign,
    is_read_apart,
    of_answer,
    searches,
)
from sponsio_like.engine.fastpath.readers import condition_reader, is_large
from sponsio_like.engine.fastpath.transitions import (
    ENDS,
    Transitions,
    has_transitions,
    of_few_bits,
)
from sponsio_like.engine.fastpath.value_readers import lookup, short_values
from sponsio_like.engine.open_call import open_clause
from sponsio_like.engine.policy import Policy
from sponsio_like.logic.formula import Happens
from sponsio_like.monitor import (
    NEVER,
    SLOTS_CAP,
    STAMPED,
    BoundLetters,
    ClauseState,
    Code,
    Emitter,
    Monitor,
    Name,
    Names,
    Read,
    Slot,
    State,
    bounded_steps,
    static,
    unconcerned_letter,
)

Rests = Callable[[ClauseState, int, float], int]
"""(state, last position, time) -> the next position that it has to see, whatever the tool."""


def rests(clause: Clause) -> Rests:
    """The function for a clause over the past."""
    names = Names()
    letter = [_code(names, value) for value in unconcerned_letter(clause.slots)]
    lines = ["p, t = last + 1, time + moment"]
    bounds: list[str] = []
    assumed: Code = True
    for monitor, state in ((clause.scope_monitor, "state[0]"), (clause.monitor, "state[1]")):
        emitter = Emitter(names, monitor.program, monitor.past, letter, f"{state}[0]", "p")
        owed = [emitter.value(root) for roots in monitor.always for root in roots]
        assumed = emitter.value(clause.assume) if monitor is clause.scope_monitor else assumed
        after = emitter.after()
        lines += emitter.lines
        lines += [f"if not {code} and {assumed}: return p" for code in owed if code is not True]
        if after is not None:
            lines += _changed(monitor, after, f"{state}[0]")
        bounds += _bounds(monitor, f"{state}[0]") if monitor.counts_steps else []
    lines.append(
        f"soon = [each for each in ({''.join(f'{each}, ' for each in bounds)}) if each > last]"
    )
    lines.append("return min(soon, default=never)")
    names.bound |= {"never": NEVER, "moment": MOMENT}
    made = names.functions({"rests(state, last, time)": lines})
    return made["rests"]  # type: ignore[no-any-return]


def _code(names: Names, value: Any) -> Code:
    return value if isinstance(value, bool) else names.bind(value)


def _changed(monitor: Monitor, after: str, before: str) -> list[str]:
    """Is any register another one, but for what time makes forget."""
    lines = []
    for j, cell in enumerate(monitor.past.cells):
        op, new, old = monitor.program.nodes[cell.node], f"{after}[{j}]", f"{before}[{j}]"
        more = f"{new} != {old}"
        if op[0] in STAMPED and op[2] is not None:
            more += f" and {new} is not None"
        elif op[0] in ("count", "sum"):
            more += f" and not (type({old}) is tuple and set({new}) <= set({old}))"
        lines.append(f"if {more}: return p")
    return lines


def _bounds(monitor: Monitor, before: str) -> list[str]:
    """The positions at which bounds in steps run out."""
    found = []
    for j, cell in enumerate(monitor.past.cells):
        bound = bounded_steps(monitor.program.nodes[cell.node])
        if bound is not None:
            own = f"{before}[{j}]"
            found.append(f"(-1 if {own} is None else {own} + {int(bound.count) + 1})")
    return found


NAME, LET = re.compile(r"\bv\d+\b"), re.compile(r"(?P<name>v\d+) = (?P<value>.+)")
"""A name that lanes make; and a line that gives one to a value."""
CALL = "ledger, tool, args, agent, depth, context, t"
RESULT = "ledger, x, t, now, answer"
OPENED = "opened(ledger, x, t)"
STATES_CAP = 512
"""Most states of a clause that sessions share."""
NODES_CAP = 200
"""Most nodes of a clause that has a lane."""
TAKEN = {name: f"{name} = ledger.{name}" for name in ("states", "keyed", "stores", "positions")}


class _Where(NamedTuple):
    """The names of a clause's state in `check`, of its next position, and of its key."""

    state: str
    place: str
    key: str


class _InFlight(NamedTuple):
    """The letter of a call without its result, if the clause waits for that, and the registers if
    it does not.
    """

    letter: str
    waits: bool
    afters: Sequence[str | None]


class _End(NamedTuple):
    """The source of `done` or `failed`: what is worked out, and then what is written."""

    lines: list[str]
    writes: list[str]


class Writer:
    """Writes the source of one lane."""

    def __init__(self, policy: Policy, name: Name) -> None:
        self._policy = policy
        self._names, self._name = Names(), name
        self._check: list[str] = []
        self._ends = {"done": _End([], []), "failed": _End([], [])}
        self._open = _End([], [])
        self._reads: list[str] = []
        self._may_refuse = self._needs_monitor = self._may_ask = False
        self._result_part: ResultPart = "status"
        self._answers, self._waiting = dict[Slot, str](), dict[int, None]()
        counts = [f"positions[{k}] += 1" for k in policy.call_counters]
        self._counts = [*counts, "ledger.passed += 1", "ledger.calls += 1"]
        self._said = Lettering(self._names, name, self._check)

    def lane(self, clauses: tuple[int, ...]) -> Lane:
        """The lane. Raises `NoLane`."""
        for i in clauses:
            self._clause(i, self._policy.clauses[i])
        counts = {source: self._said.counts(source.target) for source in self._policy.sources}
        if None in counts.values():
            raise NoLane
        sources = tuple(source for source, counted in counts.items() if counted)
        branching = _branching(self._policy, clauses)
        check, done, failed = self._functions()
        how = (
            tuple(self._waiting),
            branching,
            self._needs_monitor,
            bool(self._answers),
            self._result_part,
        )
        return Lane(clauses, sources, check, done, failed, self._opener(), self._reader(), *how)

    def _functions(self) -> tuple[Any, Any, Any]:
        kept = "".join(f"{each}, " for each in self._said.variables)
        taken = self._kept()
        self._check[:] = _used(self._check, kept)
        check = [*_taking(self._check), *self._begun(), *self._check, *self._answered(f"({kept})")]
        done, failed = (self._end(end, taken) for end in self._ends.values())
        bodies = {f"check({CALL})": check, f"done({RESULT})": done}
        if failed != done:  # the result makes a difference
            bodies[f"failed({RESULT})"] = failed
        made = self._names.functions(bodies)
        return made["check"], made["done"], made.get("failed", made["done"])

    def _begun(self) -> list[str]:
        """Return the lines that `_answered` needs in front."""
        asked = ["asks = False"] if self._may_ask else []
        return ["bad = ()", *asked] if asked or self._may_refuse or self._needs_monitor else []

    def _answered(self, kept: str) -> list[str]:
        """Return the lines that return what was read, and what stands against the call."""
        found = f"[bad, {kept}]"
        if self._needs_monitor:
            return [f"return {found}"]
        asked = [f"if asks: return None if bad else {found}"] if self._may_ask else []
        return [
            *asked,
            f"return {found} if bad else {kept}" if self._may_refuse else f"return {kept}",
        ]

    def _end(self, end: _End, taken: list[str]) -> list[str]:
        """Return the source of a result: it is written down, and the call is counted."""
        body = [*end.lines, *end.writes, *self._counts]
        return [*_taking(body), *(taken if end.lines or end.writes else ()), *body, "return True"]

    def _reader(self) -> Callable[[], Reader]:
        """Return what compiles the reader of letters, when it is asked for, which is not often."""
        body = [*self._kept(), f"return [{', '.join(self._reads)}]"]
        return functools.cache(lambda: self._names.functions({"reads(x)": body})["reads"])

    def _opener(self) -> Callable[[], Opener]:
        """Write the source that makes the call a call in flight; compiled at the first one."""
        lines, counts = self._open.lines, self._counts
        writes = [*self._open.writes, "for each in into[0]: ledger.keep(*each)", *counts]
        body = ["now, into = t, ([], [])", *_taking([*lines, *writes]), *self._kept(), *lines]
        body += ["ledger.half_written = True", *writes, "return into[1]"]
        return functools.cache(lambda: self._names.functions({OPENED: body})["opened"])

    def _kept(self) -> list[str]:
        """Return the line that names what was read, if anything was."""
        kept = "".join(f"{each}, " for each in self._said.variables)
        return [f"{kept} = x"] if kept else []

    def _clause(self, i: int, clause: Clause) -> None:
        if self._result_part == "status" and (self._of_answer(clause) or _reads_answer(clause)):
            self._result_part = "answer"
        if clause.bindings is not None:
            self._with_values(i, clause)
        elif _is_simple(clause) and clause.is_plain:
            self._plain(i, clause, self._said.letter(clause))
        elif _is_simple(clause) and has_transitions(clause):
            self._finite(i, clause, self._said.letter(clause))
        elif _is_simple(clause) and has_deadlines(clause):
            self._within_steps(i, clause, self._said.letter(clause))
        else:
            self._asked(i, clause)

    def _asked(self, i: int, clause: Clause) -> None:
        """Add a clause whose monitor judges the call. Raises `NoLane` for code of users, and for
        atoms that wait for results.
        """
        if any(map(is_read_apart, clause.slots)):
            raise NoLane
        letter = self._said.keep(self._names.new())
        self._check.append(f"{letter} = {self._whole_letter(clause)}")
        key = self._said.key(clause.by, clause.rule.single) if clause.by else "()"
        self._open.lines.append(self._says(i, letter, key))
        self._needs_monitor = True

    def _whole_letter(self, clause: Clause) -> str:
        """Return the expression for what the clause reads of a call that is in flight."""
        if not any(map(foreign, clause.slots)):
            return self._said.in_flight(clause, self._said.letter(clause))
        if any(map(searches, clause.slots)):
            self._check.append(f"if {self._names.bind(is_large)}(args): return None")
        return f"{self._names.bind(clause.read)}({self._said.call()}, context)"

    def _with_values(self, i: int, clause: Clause) -> None:
        """A clause with value variables, at a call that tells one value apart, or none."""
        values = short_values(clause, self._name) if _is_small(clause) else None
        if values is None:
            raise NoLane
        if values.key is None:
            return
        letter: list[Code] = []
        for slot, told in zip(clause.slots, values.letter, strict=True):
            if told is None and (foreign(slot) or of_answer(slot)):
                raise NoLane
            letter.append(self._said.slot(slot, told))
        self._plain(i, clause, letter)

    def _says(self, i: int, letter: str, key: str = "()", *more: str) -> str:
        """Note what a clause reads; return what asks its monitor about a call in flight."""
        self._reads.append(f"{self._names.bind(Read)}({i}, {letter}, {key})")
        given = ", ".join(("ledger", str(i), letter, key, "t", "into", *more))
        return f"if not {self._names.bind(open_clause)}({given}): return None"

    def _says_unless_still(self, i: int, letter: str) -> list[str]:
        """Return the same for a clause with remembered steps, where it is not known that the call
        changes nothing.
        """
        still = self._names.bind(self._policy.lanes.setdefault(("still", i), {}))
        known = f"(id(states[{i}]), {letter}) in {still} and {i} not in ledger.wakes"
        return [f"if not ({known}):", f"    {self._says(i, letter, '()', still)}"]

    # --- clauses with few states --------------------------------------------------------------

    def _finite(self, i: int, clause: Clause, letter: list[Code]) -> None:
        """Write the step of a finite clause: a move that the first such call has looked up."""
        moves = self._policy.lanes.setdefault(("moves", i), Transitions(i, clause))
        known, find = self._names.bind(moves.known.get), self._names.bind(moves.find)
        said, state = self._said.in_flight(clause, letter), f"states[{i}]"
        move = self._said.keep(self._names.new())
        self._check += [
            f"{move} = {known}((id({state}), {said})) or {find}({state}, {said}, tool)",
            f"if {move} is None: return None",
        ]
        find_end = self._names.bind(moves.end)
        answers = "".join(f", {self._answer(slot)}" for slot in self._of_answer(clause))
        for (name, (lines, writes)), status in zip(self._ends.items(), ENDS, strict=True):
            end = f"{move}.{name}"
            if answers:
                end = self._names.new()
                lines.append(f"{end} = {find_end}({move}, {status!r}{answers})")
            lines.append(f"if {end} is None: return False")
            writes.append(f"{state} = {end}")
        self._open.lines.extend(self._says_unless_still(i, said))

    # --- clauses that owe things within steps -------------------------------------------------

    def _within_steps(self, i: int, clause: Clause, letter: list[Code]) -> None:
        """Write the step of a clause with deadlines; its monitor is asked once one is due."""
        turns = self._policy.lanes.setdefault(("deadlines", i), Deadlines(i, clause))
        place = self._said.place(self._policy.counting_all.numbers[i][0])
        said = self._said.in_flight(clause, letter)
        slots = list(zip(clause.slots, letter, strict=True))
        finals = [
            self._whole([self._settled(slot, code, status, ()) for slot, code in slots])
            for status in self._ends
        ]
        passes, known = self._names.bind(turns.passes), self._said.keep(self._names.new())
        self._check += [f"{known} = {passes}(ledger, {place}, {', '.join(finals)})"]
        self._check += [f"if not {known}: asks = True"]
        self._may_ask = True
        take = self._names.bind(turns.take)
        for final, end in zip(finals, self._ends.values(), strict=True):
            end.writes.append(f"{take}(ledger, {place}, {final})")
        asked = self._says(i, said)
        if any(slot.waits and code is not False for slot, code in slots):
            self._waiting.setdefault(i)
            self._open.lines.append(asked)
            return
        self._open.lines.extend((f"if not {known}:", f"    {asked}"))
        self._open.writes.append(f"if {known}: {take}(ledger, {place}, {finals[0]})")

    def _whole(self, letter: Sequence[Code]) -> str:
        """Return a letter as one expression."""
        if all(isinstance(each, bool) for each in letter):
            return self._names.bind(tuple(letter))
        return f"({''.join(f'{each}, ' for each in letter)})"

    # --- clauses over the past ----------------------------------------------------------------

    def _plain(self, i: int, clause: Clause, letter: list[Code]) -> None:
        """Write the step of a clause over the past: it is decided at once, and its registers change
        now or with the result.
        """
        where = self._where(i, clause)
        slots = list(zip(clause.slots, letter, strict=True))
        now = [False if slot.waits else code for slot, code in slots]
        inner, gate = self._emitters(clause, now, where.state, where.place)
        owed = [inner.value(root) for roots in clause.monitor.always for root in roots]
        assumed = gate.value(clause.assume)
        self._may_refuse |= any(code is not True for code in owed)
        of_result = self._of_answer(clause)
        waits = any(slot.waits and code is not False for slot, code in slots)
        later = any(
            slot.waits and code is not False and (slot in of_result or not of_answer(slot))
            for slot, code in slots
        )
        afters = [] if later else [inner.after(), gate.after()]
        kept = [each and self._said.keep(each) for each in afters]
        self._check += [*gate.lines, *inner.lines]
        self._check += [
            f"if not {code} and {assumed}: bad += ({i},)" for code in owed if code is not True
        ]
        for status, end in self._ends.items():
            if later:
                final = [self._settled(slot, code, status, of_result) for slot, code in slots]
                self._commit(i, clause, final, where, end)
            else:
                self._store(i, clause, self._again(i, clause, where, end.lines), kept, end)
        said = self._said.in_flight(clause, letter)
        open_call = self._value_open if clause.bindings is not None else self._plain_open
        open_call(i, clause, where, _InFlight(said, waits, kept))

    def _plain_open(self, i: int, clause: Clause, where: _Where, call: _InFlight) -> None:
        """Write the step for a call in flight."""
        if call.waits and not clause.by and clause.automaton is not None:
            self._open.lines.extend(self._says_unless_still(i, call.letter))
            return
        asked = self._says(i, call.letter, where.key or "()")
        if call.waits or clause.by:
            self._open.lines.append(asked)
        elif not clause.is_memoryless:
            self._store_open(i, clause, where, call.afters, asked)

    def _value_open(self, i: int, clause: Clause, where: _Where, call: _InFlight) -> None:
        """Write the step for a call in flight, of a clause with value variables."""
        values = short_values(clause, self._name)
        assert values is not None
        others = self._names.bind(values.others)
        sight = (
            f"{self._names.bind(BoundLetters)}({{{where.key}: {call.letter}}}, {others}, True, ())"
        )
        self._reads.append(f"{self._names.bind(Read)}({i}, {others}, {sight})")
        if call.waits:
            self._result_part = "all"
            self._open.lines.append("return None")
        else:
            self._store_value(i, clause, where, call.afters, self._open, "None")

    def _where(self, i: int, clause: Clause) -> _Where:
        if clause.bindings is not None:
            return self._where_values(i, clause)
        if not clause.by:
            if not (clause.monitor.past.cells or clause.scope_monitor.past.cells):
                return _Where("", "", "")
            state = self._names.new()
            self._check.append(f"{state} = states[{i}]")
            return _Where(state, self._said.place(self._policy.counting_all.numbers[i][0]), "")
        key, found = self._said.key(clause.by, clause.rule.single), self._names.new()
        state, place = (self._said.keep(self._names.new()) for _ in range(2))
        start = self._names.bind((clause.start, 0))
        self._check += [
            f"{found} = keyed[{i}].get({key})",
            f"if {found} is None and ledger.is_full({i}): return None",
            f"{state}, {place} = {found} or {start}",
        ]
        return _Where(state, place, key)

    def _where_values(self, i: int, clause: Clause) -> _Where:
        values = short_values(clause, self._name)
        assert values is not None
        key, state = (self._said.keep(self._names.new()) for _ in range(2))
        found, store, read = self._names.new(), self._names.new(), self._names.bind(values.key)
        self._check += [f"{key} = {read}(args)", f"{store} = stores[{i}]"]
        self._check += lookup(key, state, found, store)
        return _Where(state, self._said.place(self._policy.counting_all.numbers[i][0]), key)

    def _emitters(
        self, clause: Clause, letter: Sequence[Code], state: str, place: str
    ) -> tuple[Emitter, Emitter]:
        """Return the emitters of changes to the registers of the guarantee, and of the gate."""
        pairs = ((clause.monitor, f"{state}[1][0]"), (clause.scope_monitor, f"{state}[0][0]"))
        inner, gate = (
            Emitter(self._names, each.program, each.past, letter, registers, place)
            for each, registers in pairs
        )
        return inner, gate

    def _commit(
        self, i: int, clause: Clause, letter: Sequence[Code], where: _Where, end: _End
    ) -> None:
        """The call has its result; from that, the registers."""
        where = self._again(i, clause, where, end.lines)
        inner, gate = self._emitters(clause, letter, where.state, where.place)
        afters = [inner.after(), gate.after()]
        end.lines.extend((*inner.lines, *gate.lines))
        self._store(i, clause, where, afters, end)

    def _again(self, i: int, clause: Clause, where: _Where, lines: list[str]) -> _Where:
        """Take the state as it is now, if it is one of the clause alone that may change."""
        if clause.by or clause.bindings is not None or clause.is_memoryless:
            return where
        state = self._names.new()
        lines.append(f"{state} = states[{i}]")
        return where._replace(state=state)

    def _of_answer(self, clause: Clause) -> list[Slot]:
        """Return the conditions on the answer that make a difference at calls of this tool; none
        if they make none.
        """
        numbers = [k for k, slot in enumerate(clause.slots) if of_answer(slot)]
        if not numbers:
            return []
        idle = clause.idle_slots(static(clause.slots, self._name), numbers)
        return [] if len(idle) == len(numbers) else [clause.slots[k] for k in numbers]

    def _settled(self, slot: Slot, code: Code, status: str, of_result: Sequence[Slot]) -> Code:
        """Return the code for the slot once the call has a result of this status. `of_result`: the
        conditions on the answer that make a difference.
        """
        if not slot.waits:
            return code
        if of_answer(slot):
            return self._answer(slot) if slot in of_result else False
        return code if isinstance(slot.node, Happens) and slot.node.what == status else False

    def _answer(self, slot: Slot) -> str:
        """Return the variable of what a condition says of the answer; it is read once."""
        if slot not in self._answers:
            name = self._answers[slot] = self._names.new()
            line = f"{name} = {self._names.bind(condition_reader(slot))}(answer)"
            for end in self._ends.values():
                end.lines.append(line)
        return self._answers[slot]

    def _store(
        self, i: int, clause: Clause, where: _Where, afters: Sequence[str | None], end: _End
    ) -> None:
        """The state with these registers; as it was, where there are none."""
        old = where.state
        if clause.bindings is not None:
            self._store_value(i, clause, where, afters, end, "False")
            return
        if _groups(clause) and not clause.by:
            self._waiting[i] = None
        elif _groups(clause):
            end.lines.append(f"if {_waits(old)}: return False")
        changed, new = self._new(i, clause, old, afters)
        if clause.by:
            keys = f"(keyed[{i}] if type(keyed[{i}]) is dict else ledger.keys({i}))"
            end.writes.append(f"{keys}[{where.key}] = ({new}, {where.place} + 1)")
        elif changed and not clause.may_wake and _always_changes(clause):
            end.writes.append(f"states[{i}] = {new}")
        elif changed:
            end.writes.extend((f"if {changed}:", f"    states[{i}] = {new}"))
            if clause.may_wake:
                end.writes.append(f"    {self._wakes(i, clause, where)}")

    def _store_value(
        self,
        i: int,
        clause: Clause,
        where: _Where,
        afters: Sequence[str | None],
        end: _End,
        otherwise: str,
    ) -> None:
        """The state of one value. `otherwise`: what is returned where it waits for results."""
        if _groups(clause):
            end.lines.append(f"if {_waits(where.state)}: return {otherwise}")
        changed, new = self._new(i, clause, where.state, afters)
        if changed:
            end.writes.append(f"if {changed}: stores[{i}].put({where.key}, {new}, ledger.calls)")

    def _store_open(
        self, i: int, clause: Clause, where: _Where, afters: Sequence[str | None], asked: str
    ) -> None:
        """The same at a call in flight, whose result is nothing to the clause.

        `asked`: what asks the monitor, where the state waits for results of other calls.
        """
        lines, writes = self._open
        old, knows = self._again(i, clause, where, lines).state, ""
        if _groups(clause):
            waits = self._names.new()
            lines += [f"{waits} = {_waits(old)}", f"if {waits}:", f"    {asked}"]
            knows = f"not {waits} and "
        changed, new = self._new(i, clause, old, afters)
        if changed:
            writes += [f"if {knows}({changed}):", f"    states[{i}] = {new}"]
        if clause.may_wake:
            wakes = self._wakes(i, clause, where)
            writes += [f"    {wakes}"] if changed else []
            writes.append(f"{'el' if changed else ''}if {knows}{i} in ledger.wakes: {wakes}")

    def _new(
        self, i: int, clause: Clause, old: str, afters: Sequence[str | None]
    ) -> tuple[str, str]:
        """Return the condition that the state changes (empty: it never does), and the new one."""
        if not any(afters):
            return "", old
        inner, outer = afters
        segment, gate = f"{old}[1]", f"{old}[0]"
        changed = [
            f"{each} != {state}[0]" for each, state in ((inner, segment), (outer, gate)) if each
        ]
        segment = segment if inner is None else self._state(segment, inner)
        gate = gate if outer is None else self._state(gate, outer)
        make, kind = self._names.bind(tuple.__new__), self._names.bind(ClauseState)
        rest = ", ".join(f"{old}[{k}]" for k in range(2, len(ClauseState._fields)))
        new = f"{make}({kind}, ({gate}, {segment}, {rest}))"
        few = _counts_by_key(clause) if clause.by else of_few_bits(clause)
        if clause.bindings is None and inner and not clause.scope_monitor.past.cells and few:
            new = f"{new} if {old}[3] else {self._names.bind(self._shared(i, clause))}({inner})"
        return " or ".join(changed), new

    def _wakes(self, i: int, clause: Clause, where: _Where) -> str:
        """Return the statement that notes when the state is woken next."""
        wakes = self._names.bind(self._rests(i, clause))
        return f"ledger.set_wake({i}, {wakes}(states[{i}], {where.place}, now))"

    def _shared(self, i: int, clause: Clause) -> Callable[[Any], ClauseState]:
        """The state with these registers: of few bits, and low counts, there are few, and sessions
        share them.
        """
        name, start = ("states", i), clause.start
        assert start.segment is not None
        inner = start.segment
        make = functools.lru_cache(STATES_CAP)(
            lambda registers: start._replace(segment=inner._replace(registers=registers))
        )
        return self._policy.lanes.setdefault(name, make)  # type: ignore[no-any-return]

    def _rests(self, i: int, clause: Clause) -> Rests:
        shared: dict[Any, Any] = self._policy.lanes
        if ("rests", i) not in shared:
            shared["rests", i] = rests(clause)
        return shared["rests", i]  # type: ignore[no-any-return]

    def _state(self, old: str, registers: str) -> str:
        """A state with these registers, and nothing in flight."""
        make, kind = self._names.bind(tuple.__new__), self._names.bind(State)
        return f"{make}({kind}, ({registers}, {old}[1], (), {old}[3]))"


def _is_simple(clause: Clause) -> bool:
    """True if a lane can say what the clause reads, and what it remembers."""
    return _is_small(clause) and not any(map(foreign, clause.slots))


def _is_small(clause: Clause) -> bool:
    """True if the clause sees calls only, and few nodes and conditions on results."""
    each = (clause.monitor, clause.scope_monitor)
    groups = [group for one in each for group in one.branches.groups if group.body < 0]
    return (
        clause.kinds == clause.counts
        and sum(len(one.program.nodes) for one in each) <= NODES_CAP
        and all(len(group.waits) <= SLOTS_CAP for group in groups)
    )


def _counts_by_key(clause: Clause) -> bool:
    """True if all that the guarantee remembers of a key is how often something was so."""
    ops = [clause.monitor.program.nodes[cell.node] for cell in clause.monitor.past.cells]
    return all(op[0] == "count" and op[3] is None for op in ops)


def _always_changes(clause: Clause) -> bool:
    """True if most calls change what the guarantee remembers, so that nobody has to look."""
    ops = [clause.monitor.program.nodes[cell.node] for cell in clause.monitor.past.cells]
    return any(op[0] in ("count", "repeats") for op in ops)


def _branching(policy: Policy, clauses: Sequence[int]) -> tuple[int, ...] | None:
    """Return the clauses that may branch; None if one of them has keys or values."""
    found = tuple(i for i in clauses if _may_branch(policy.clauses[i]))
    each = [policy.clauses[i] for i in found]
    return None if any(one.by or one.bindings is not None for one in each) else found


def _may_branch(clause: Clause) -> bool:
    """True if results of calls in flight do not just add to its registers."""
    groups = (*clause.monitor.branches.groups, *clause.scope_monitor.branches.groups)
    return any(group.body < 0 for group in groups)


def _groups(clause: Clause) -> bool:
    """True if results of calls in flight matter to its registers."""
    return bool(clause.monitor.branches.groups or clause.scope_monitor.branches.groups)


def _waits(state: str) -> str:
    """Return the condition that a state waits for results."""
    return f"{state}[1][2] or {state}[0][2]"


def _used(lines: Sequence[str], kept: str) -> list[str]:
    """Return the lines without values that nothing asks for; one that is asked for once stands
    where it is.
    """
    left, asked = list[str](), Counter(NAME.findall(kept) * 2)
    for line in reversed(lines):
        found = LET.fullmatch(line)
        times = asked[found["name"]] if found else 2
        if found and times == 1:
            at = next(k for k, each in enumerate(left) if found["name"] in NAME.findall(each))
            value = f"({found['value']})".replace("\\", r"\\")
            left[at] = re.sub(rf"\b{found['name']}\b", value, left[at])
        elif times:
            left.append(line)
        if times:
            asked.update(NAME.findall(line))
    return left[::-1]


def _taking(lines: Sequence[str]) -> list[str]:
    """Return the lines that take from the ledger what these lines use."""
    text = "\n".join(lines)
    return [line for name, line in TAKEN.items() if f"{name}[" in text]


def _reads_answer(clause: Clause) -> bool:
    """True if the clause reads answers in another way than by conditions on them."""
    waiting = (slot for slot in clause.slots if slot.waits and not of_answer(slot))
    return any(not isinstance(slot.node, Happens) for slot in waiting)
