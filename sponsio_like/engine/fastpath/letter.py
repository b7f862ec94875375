"""Writes the source with which a lane reads a call: each slot once, unless the tool's name
decides it.

In: the slots of the clauses that a tool concerns. Out: lines of source that read them, and for
each slot an expression: a truth value that is known from the name, or a variable.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sponsio_like.engine.clause import Clause
from sponsio_like.engine.fastpath.readers import (
    ArgumentReader,
    is_large,
    key_part,
    shortcut,
    similar,
)
from sponsio_like.events import OPEN, Call, custom, inputs_of
from sponsio_like.logic.formula import (
    ApprovalAge,
    Approved,
    Arg,
    Compare,
    Const,
    Ctx,
    Custom,
    Delivered,
    Denied,
    FactAge,
    Happens,
    Match,
    Node,
    OutputIs,
    Sum,
    Target,
    Tokens,
    postorder,
)
from sponsio_like.monitor import (
    Code,
    Name,
    Names,
    Slot,
    likeness,
    slot_reader,
    split_key,
    static,
    vars_in,
)
from sponsio_like.values import kind_step, path_parts

OF_CONTEXT = (ApprovalAge, Approved, Compare, Const, Ctx, Delivered, FactAge, Tokens)

ORDER = {"=": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
SEARCHING = frozenset({"matches", "has", "carries"})


class Lettering:
    """The letters of the clauses at calls of one tool. `variables`: what was read, in order."""

    def __init__(self, names: Names, name: Name, lines: list[str]) -> None:
        self.variables: dict[str, None] = {}
        self._names, self._name, self._lines = names, name, lines
        self._known: dict[Any, str] = {}
        self._arguments: dict[str, str] = {}
        self._is_small = False

    def letter(self, clause: Clause) -> list[Code]:
        """An expression for each slot; for what a result decides, as if it were to come."""
        pairs = zip(clause.slots, static(clause.slots, self._name), strict=True)
        return [self.slot(slot, told) for slot, told in pairs]

    def in_flight(self, clause: Clause, letter: list[Code]) -> str:
        """The letter as long as the call has no result, as one expression."""
        waiting = self._names.bind(OPEN)
        values: dict[str, Any] = {"True": True, "False": False, waiting: OPEN}
        out = []
        for slot, code in zip(clause.slots, letter, strict=True):
            if not slot.waits or code is False:
                out.append(str(code))
            else:
                out.append(waiting if code is True else f"({waiting} if {code} else False)")
        if set(out) <= values.keys():
            return self._names.bind(tuple(values[each] for each in out))
        return f"({''.join(f'{each}, ' for each in out)})"

    def key(self, by: tuple[str, ...], single: bool) -> str:
        """The variable of the key that chooses a monitor. Without one: the slow path."""
        name = by, single
        if name not in self._known:
            key = self._known[name] = self.keep(self._names.new())
            ways = [key_part(path) for path in by]
            whole = f"{self._names.bind(split_key)}({self.call()}, {by!r}, {single})"
            if None in ways:
                self._lines.append(f"{key} = {whole}")
            else:
                parts = "".join(f"{self._short(way)}, " for way in ways if way is not None)
                missing = f"{key}[0] is None" if len(by) == 1 else f"None in {key}"
                self._lines += [f"{key} = ({parts})", f"if {missing}: {key} = {whole}"]
            self._lines.append(f"if {key} is None: return None")
        return self._known[name]

    def place(self, counter: int) -> str:
        """The variable of the next position that the counter of this number counts."""
        if counter not in self._known:
            self._known[counter] = self.keep(self._names.new())
            self._lines.append(f"{self._known[counter]} = positions[{counter}]")
        return self._known[counter]

    def keep(self, variable: str) -> str:
        """The variable, which is needed when the result is there."""
        self.variables[variable] = None
        return variable

    def counts(self, target: Target) -> bool | None:
        """True if calls of the tool are of this target; None if its name does not decide it."""
        return static([Slot("atom", Happens("called", target))], self._name)[0]

    # --- one slot -----------------------------------------------------------------------------

    def slot(self, slot: Slot, told: bool | None) -> Code:
        """An expression for one slot; `told`: what is known of it already."""
        if slot.kind == "atom" and told is not None:
            return told
        if isinstance(slot.node, Const):
            return self._names.bind(slot.node.value)
        if of_answer(slot):
            return True  # as any call has one, sooner or later
        if told is False and slot.kind in ("key", "amount"):
            return "None" if slot.kind == "key" else self._names.bind(Decimal(0))
        if slot not in self._known:
            self._known[slot] = self.keep(self._names.new())
            self._lines += self._look(slot, self._known[slot])
        return self._known[slot]

    def _look(self, slot: Slot, name: str) -> list[str]:
        """The lines that read a slot."""
        always = self.counts(getattr(slot.node, "target", ())) is True
        if similar(slot) and always:
            return [f"{name} = {self._names.bind(likeness)}(tool, args)"]
        if (delivered := self._delivered(slot)) is not None:
            return [f"{name} = {delivered}"]
        of_context = all(map(_of_context, postorder(slot.node)))
        read = self._names.bind(slot_reader(slot))
        whole = f"{read}({None if of_context else self.call()}, context)"
        if slot.waits:
            return [*self._leave_large(slot), f"{name} = {whole} is {self._names.bind(OPEN)}"]
        short = shortcut(slot) if slot.kind != "amount" or always else None
        long = [*self._leave_large(slot, always=short is None), f"{name} = {whole}"]
        if short is None:
            return long
        lines = [f"{name} = {self._short(short)}", f"if {name} is None:"]
        return [*lines, *(f"    {line}" for line in long)]

    def _leave_large(self, slot: Slot, *, always: bool = True) -> list[str]:
        """Return the line that leaves calls with much text to the slow path, which counts what it
        reads; none if no text is read, or if such a line came before.

        `always`: the line is reached at every call.
        """
        if self._is_small or not searches(slot):
            return []
        self._is_small = always
        return [f"if {self._names.bind(is_large)}(args): return None"]

    def _short(self, short: ArgumentReader) -> str:
        """Return the expression that reads one argument; it is taken from the others once."""
        argument = self._arguments.get(short.path)
        if argument is None:
            argument = self._arguments[short.path] = self._names.new()
            self._lines.append(f"{argument} = args.get({short.path!r})")
        quick = short.quick(argument, self._names.bind)
        return f"{quick} {self._names.bind(short.read)}({argument})"

    def _delivered(self, slot: Slot) -> str | None:
        """Return the expression for how often results have arrived, or for what is asked of it."""
        match slot.node:
            case Delivered() as source:
                asked = ""
            case Compare(Delivered() as source, op, Const(int() as count)) if op in ORDER:
                asked = f" {ORDER[op]} {count!r}"
            case _:
                return None
        return f"context.delivered.get({self._names.bind(source)}, 0){asked}"

    def call(self) -> str:
        return f"{self._names.bind(Call)}(tool, args, '', agent, depth, t)"


def runs_user_code(slot: Slot) -> bool:
    """True if code of users runs when this slot is read."""
    return any(isinstance(node, Custom) and _is_of_user(node) for node in postorder(slot.node))


def is_read_apart(slot: Slot) -> bool:
    """True if code of users runs when this slot is read, or an atom that waits for results."""
    return any(
        isinstance(node, Custom) and (_is_of_user(node) or "results" in inputs_of(node))
        for node in postorder(slot.node)
    )


def of_answer(slot: Slot) -> bool:
    """True if the slot is a condition on the answer of the call, without value variables."""
    return isinstance(slot.node, OutputIs) and not vars_in(slot.node)


def foreign(slot: Slot) -> bool:
    """True if this slot is read of more than the call, its status and conditions on its answer, or
    by code of users.
    """
    if slot.waits and not (isinstance(slot.node, Happens) or of_answer(slot)):
        return True
    return is_read_apart(slot)


def _of_context(node: Node) -> bool:
    """True if the node is read of the context alone, whatever the call."""
    return isinstance(node, OF_CONTEXT) or (isinstance(node, Denied) and node.like == "any")


def searches(slot: Slot) -> bool:
    """True if reading the slot may search in texts, or read them by a kind, which the slow path
    counts.
    """
    return any(
        (isinstance(node, Custom) and node.name in ("arg_contains", "arg_allowed", "arg_finds"))
        or (isinstance(node, Compare) and node.op in SEARCHING)
        or (isinstance(node, Arg | Sum) and _is_of_kind(node.path))
        or (isinstance(node, Happens) and any(map(_asks_texts, node.target)))
        for node in postorder(slot.node)
    )


def _asks_texts(match: Match) -> bool:
    return any(each.op in SEARCHING or _is_of_kind(each.path) for each in match.conditions)


def _is_of_kind(path: str) -> bool:
    return ":" in path and any(kind_step(part) is not None for part in path_parts(path))


def _is_of_user(node: Custom) -> bool:
    home = getattr(custom(node).read, "__module__", "") or ""
    return home.split(".")[0] != "sponsio_like"
