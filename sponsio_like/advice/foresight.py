"""Decides whether a call violates a clause while its arguments are not known yet.

In: a clause, a tool and an agent. Out: a `View`, which says whether the call is violated in a given
state, whatever its arguments. What the clause reads of arguments, and atoms of users, are assumed
to be as the guarantee likes best; programs are in negation normal form, so what is violated even
then is violated anyway.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sponsio_like.engine import Clause
from sponsio_like.events import OPEN, Call, Context, custom, names_tool
from sponsio_like.logic.formula import (
    Arg,
    ByAgent,
    Const,
    Custom,
    Denied,
    Happens,
    Mark,
    MessageBy,
    Node,
    Observed,
    OutputIs,
    Repeats,
    Sum,
    TextMatches,
    postorder,
)
from sponsio_like.monitor import (
    STATEFUL,
    ClauseState,
    Known,
    Letter,
    Op,
    Past,
    PositionCounts,
    Program,
    Slot,
    Value,
    known,
    operands,
    static,
)

FIXED = (ByAgent, Const, Happens, MessageBy, Observed, OutputIs, Repeats, Sum, TextMatches)
"""Nodes whose value the tool and the agent determine, unless they also read arguments."""
UNKNOWN_CAP = 4
"""The most unknown atoms of which all values are tried, where something is owed for later."""


@dataclass(frozen=True, slots=True)
class View:
    """A clause as far as it depends on the tool and the agent of a call.

    `unknown` are the slots that read more of a call; `told` is the letter, if no context is read.
    `optimistic` is the past of the guarantee with the unknown as the guarantee likes best, and
    `pessimistic` the same for the assumption, if there is one. `optimistic` is None where more is
    owed than a single position tells; then all values of the unknown are tried.
    """

    clause: Clause
    unknown: frozenset[int]
    told: Letter | None = None
    optimistic: Past | None = None
    pessimistic: Past | None = None

    def letter(self, call: Call, context: Context) -> Letter:
        """Return the letter of the call, with None for what is not known.

        Atoms of users are not asked.
        """
        readers = enumerate(self.clause.readers)
        return tuple([None if i in self.unknown else read(call, context) for i, read in readers])

    def violated(self, state: ClauseState, letter: Letter, at: PositionCounts, time: float) -> bool:
        """True if such a call violates in this state, whatever its arguments."""
        clause = self.clause
        if self.optimistic is None:
            steps = (clause.step(state, each, "call", at, time) for each in self._filled(letter))
            return all(step.violated for step in steps)
        if self.pessimistic is not None:
            assumed = self.pessimistic.read(letter, state.outer.registers, at.seen, time)
            if not assumed[clause.assume]:
                return False
        assert state.segment is not None  # it has no scope
        values = self.optimistic.read(letter, state.segment.registers, at.counted, time)
        return not all([values[root] for roots in clause.monitor.always for root in roots])

    def _filled(self, letter: Letter) -> Iterator[Letter]:
        """Yield every letter that it may be. A call has not settled when it is decided."""
        slots = self.clause.slots
        for values in itertools.product((True, False), repeat=len(self.unknown)):
            chosen = dict(zip(self.unknown, values, strict=True))
            yield tuple(
                (OPEN if chosen[i] and slots[i].waits else chosen[i]) if i in chosen else value
                for i, value in enumerate(letter)
            )


def view(clause: Clause, call: Call) -> View | None:
    """Return the view of calls of this tool and agent; None if one of them may always be legal."""
    if "call" not in clause.counts or (clause.by and not clause.restricts(call.tool)):
        return None
    slots = list(enumerate(clause.slots))
    unknown = frozenset(i for i, slot in slots if _is_unknown(slot, call))
    fixed = all(i in unknown or isinstance(slot.node, FIXED) for i, slot in slots)
    seen = View(clause, unknown)
    if fixed:
        seen = replace(seen, told=seen.letter(call, Context()))
    if clause.monitor.plain and clause.kind_of_scope is None:
        return _at_once(seen, call)
    atoms = all(clause.slots[i].kind == "atom" for i in unknown)
    return seen if atoms and len(unknown) <= UNKNOWN_CAP else None


def _at_once(seen: View, call: Call) -> View | None:
    """Return the view of a clause that judges calls by themselves; None if one may be legal."""
    clause = seen.clause
    hidden = {i for i in seen.unknown if not clause.slots[i].waits}  # nothing has settled yet
    fixed = static(clause.slots, call.tool)
    state, gate = clause.monitor.program, clause.scope_monitor.program
    hopeful, kept = _supposed(state, clause.monitor.past, known(state, fixed), hidden, truth=True)
    doubtful, idle = _supposed(
        gate, clause.scope_monitor.past, known(gate, fixed), hidden, truth=False
    )
    roots = [root for parts in clause.monitor.always for root in parts]
    if clause.assume in idle or kept.issuperset(roots):
        return None
    always = gate.nodes[clause.assume] == ("true",)
    return replace(seen, optimistic=hopeful, pessimistic=None if always else doubtful)


def _is_unknown(slot: Slot, call: Call) -> bool:
    """True if the slot reads more than tool and agent, or is an atom of a user."""
    match slot.node:
        case Happens(_, target) | Sum(target) | Repeats(target):
            mine = [each for each in target if each.agent in (None, call.agent)]
            of = [each for each in mine if names_tool(each, call.tool)]
            certain = isinstance(slot.node, Happens) and not all(each.conditions for each in of)
            return bool(of) and not certain
        case Custom():
            asked = custom(slot.node)
            return not asked.waits and asked.kind not in ("message", "step")
    return any(map(_of_arguments, postorder(slot.node)))


def _of_arguments(node: Node) -> bool:
    return isinstance(node, Arg | Mark) or (isinstance(node, Denied) and node.like == "call")


def _supposed(
    program: Program, past: Past, fixed: list[Known], hidden: set[int], *, truth: bool
) -> tuple[Past, set[int]]:
    """Return the past with `truth` for what reads hidden slots, and the nodes that then have it.

    They have it whatever the registers are.
    """
    values, loose, sure = list(past.values), set[int](), set[int]()
    for i, op in enumerate(program.nodes):
        if fixed[i] is truth or (op[0] in ("and", "or") and _carries(op, sure, truth=truth)):
            sure.add(i)
        if isinstance(fixed[i], bool) or not _reads(op, hidden, loose):
            continue
        loose.add(i)
        if op[0] in ("lit", "cmp"):
            sure.add(i)
            values[i] = _always(truth)
        elif op[0] in STATEFUL or op[0] == "value":
            values[i] = _always(None)  # only comparisons read it, and they are fixed
    return Past(tuple(values), past.cells), sure


def _reads(op: Op, hidden: set[int], loose: set[int]) -> bool:
    """True if the value of a node now depends on a hidden slot."""
    if op[0] in ("lit", "value", "sum", "repeats", "elapsed"):
        return op[1] in hidden
    return op[0] not in ("Y", "WY", "YO", "WYH", "last") and not loose.isdisjoint(operands(op))


def _carries(op: Op, sure: set[int], *, truth: bool) -> bool:
    enough = any if (op[0] == "or") is truth else all
    return enough(k in sure for k in operands(op))


def _always(value: bool | None) -> Value:
    return lambda v, x, s, p, t: value
