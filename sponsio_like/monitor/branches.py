"""Keeps the registers for every way in which the calls in flight may settle, as decision trees.

In: letters with open slots, and results. Out: trees. Followed by the results that come, a tree
leads to the registers that the past would have if these results had been known from the start. So a
result picks a branch, and no position is ever read again. Each group of registers that read one
another has a tree of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from sponsio_like.events import OPEN
from sponsio_like.logic.formula import Seconds, Steps
from sponsio_like.monitor.alphabet import settlements
from sponsio_like.monitor.groups import Group, at_last, echoes_of, groups_of, is_plain_count
from sponsio_like.monitor.in_flight import Owed, open_positions, settle_residual, settled_ways
from sponsio_like.monitor.past import Letter, Past, Register, Registers, Value, compare_nodes, kept
from sponsio_like.monitor.past_source import Advanced, compiled_registers
from sponsio_like.monitor.program import Op, Program
from sponsio_like.monitor.residual import conjunction
from sponsio_like.monitor.trees import (
    INNER,
    WAITING,
    Addition,
    Branch,
    Comparison,
    Leaf,
    ToCome,
    Tree,
    TreeBuilder,
    TreeNode,
    Trees,
    additions,
    branching,
)

CAP = 2_000
"""Most nodes of one tree."""
OFTEN = 16
"""From so many steps on, those of a group or a monitor are computed by a function of its own."""
SOURCE_CAP = 200
"""Most nodes of a program that has such functions."""
SLOTS_CAP = 10
"""Most slots that wait for one result, and whose values are tried in all combinations."""
STEPS_CAP = 10_000
"""Most branches that one question about what results may come to takes."""


Walk: TypeAlias = tuple[Any, ...]
"""The node at which one is in each tree; of a group with additions, its register."""
End: TypeAlias = tuple[Registers, Owed]
"""The registers, and the residuals that are left."""
_Keys: TypeAlias = tuple[tuple[bool, ...], ...]
_Now: TypeAlias = tuple[Letter, int, float]
_Supposed: TypeAlias = tuple[tuple[tuple[int, Any, Any], bool], ...]
_Fate: TypeAlias = tuple[Mapping[int, bool] | None, Mapping[int, bool]]


class TooManyBranches(Exception):
    """Too much depends on the results of calls in flight, the first of them at `position`."""

    def __init__(self, position: int) -> None:
        super().__init__(
            f"call at position {position} is in flight, and with those after it needs more than "
            f"{CAP:,} branches; settle it"
        )
        self.position = position


class Undecided(Exception):
    """A comparison needs an output that is still to come."""

    def __init__(self, node: int, left: Any, right: Any) -> None:
        super().__init__(node)
        self.asked = (node, left, right)


class _Values(list[Any]):
    """The values of nodes, and what is supposed of comparisons with outputs to come."""

    supposed: _Supposed = ()


class Branches:
    """The trees of one program.

    `slots`: all that wait for results below a register.
    """

    def __init__(self, program: Program, past: Past) -> None:
        self.program = program
        self.past = past
        self.groups = tuple(groups_of(program, past))
        self._echoes = tuple(echoes_of(program, past))
        self.slots = tuple(sorted({i for each in self.groups for i in each.waits + each.outputs}))
        self._forget()
        self._values: list[Any] = list(past.values)
        self._cells: list[Register] = list(past.cells)
        if any(group.outputs for group in self.groups):
            self._read_outputs_to_come()

    def _forget(self) -> None:
        """Begin without anything that was asked before."""
        self._asked = [0] * len(self.groups)
        self._advanced: dict[tuple[int, ...], Advanced | None] = {}
        self._known_keys: dict[tuple[int, ...], _Keys] = {}
        self._known_additions: dict[Any, tuple[tuple[int, ...], tuple[int, ...]] | None] = {}

    def over(self, program: Program) -> Branches:
        """Return the same branches of a program with other slots."""
        twin = object.__new__(Branches)
        twin.__dict__.update(self.__dict__)
        twin.program = program
        twin._forget()
        return twin

    def _read_outputs_to_come(self) -> None:
        """Let comparisons ask about outputs to come, and let `last` remember them."""
        for i, op in enumerate(self.program.nodes):
            value = self._values[i]
            if op[0] == "cmp" and value is not None:
                self._values[i] = _asking(i, op, value)
        for r, cell in enumerate(self._cells):
            op = self.program.nodes[cell.node]
            if op[0] == "last":
                self._cells[r] = _remembering(op, cell)

    # --- positions and results ----------------------------------------------------------------

    def after(
        self,
        trees: Trees,
        registers: tuple[Registers, Registers],
        letter: Letter,
        at: int,
        time: float,
    ) -> Trees:
        """Return the trees after position `at`. Raises `TooManyBranches`.

        `registers`: those before and those after it, if all calls in flight stay open.
        """
        if not trees and not any(letter[slot] is OPEN for slot in self.slots):
            return ()
        found = []
        for k, group in enumerate(self.groups):
            tree, now = trees[k] if trees else (), (letter, at, time)
            if group.body < 0:
                found.append(self._after(group, tree, registers[0], now))
            else:
                found.append(self._added(group, tree, registers[1], now))
        return tuple(found) if any(found) else ()

    def _added(self, group: Group, tree: Tree, after: Registers, now: _Now) -> Tree:
        letter, at, time = now
        if self._is_over(group, after):
            return ()
        cell, kept = self.past.cells[group.cells[0]], tree
        if tree and self._is_forgotten(cell, tree[0], at, time):
            kept = tuple([each for each in tree if not self._is_forgotten(cell, each, at, time)])
        found = self._waiting_and_held(group, letter)
        return kept if found is None else (*kept, Addition(at, time, *found))

    def _waiting_and_held(
        self, group: Group, letter: Letter
    ) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Return the slots that wait, and those that hold; None if no result changes anything."""
        bits = tuple([letter[i] for i in group.literals])
        key = (group.cells[0], bits)
        if key not in self._known_additions:
            slots = tuple([i for i in group.waits if letter[i] is OPEN])
            held = tuple([i for i in group.literals if letter[i] is True])
            open_, at_most = self._counts(group, held), self._counts(group, {*held, *slots})
            self._known_additions[key] = None if open_ is at_most else (slots, held)
        return self._known_additions[key]

    def _is_forgotten(self, cell: Register, added: TreeNode, at: int, time: float) -> bool:
        """True if a bound forgets that position, whatever its result."""
        op = self.program.nodes[cell.node]
        bound = op[3] if op[0] == "count" else op[2] if op[0] in ("O", "H") else None
        match bound, added:
            case Steps(count), Addition():
                return added.at < at - count
            case Seconds(count), Addition():
                return added.time < time - count
        return False

    def _is_over(self, group: Group, registers: Registers) -> bool:
        """True if nothing that is added changes the register any more."""
        (r,) = group.cells
        op = self.program.nodes[self.past.cells[r].node]
        return op[0] in ("O", "H") and op[2] is None and registers[r] is (op[0] == "O")

    def _counts(self, group: Group, held: Container[int]) -> bool:
        """True if a position at which these slots are true adds to the register."""
        letter = tuple([i in held for i in range(len(self.program.slots))])
        values: list[Any] = [None] * (group.body + 1)
        for i in group.nodes:
            value = self.past.values[i]
            if i <= group.body and value is not None:
                values[i] = value(values, letter, (), 0, 0.0)
        sought = self.program.nodes[self.past.cells[group.cells[0]].node][0] != "H"
        return values[group.body] is sought

    def _after(self, group: Group, tree: Tree, before: Registers, now: _Now) -> Tree:
        letter, at, time = now
        slots, keys, letters = self._letters(group, letter, at)
        if not letters and (not tree or self._stays(group, tree, now)):
            return tree
        made, new = TreeBuilder(), list[int]()
        for node in tree or (_part(group, before),):
            if isinstance(node, INNER):
                new.append(made.copied(node, new))
            else:
                still = self._leaf(made, group, node, now)
                ways = [self._leaf(made, group, node, (each, at, time)) for each in letters]
                new.append(made.branch(Branch(at, slots, keys, still, tuple(ways))))
            if len(made.nodes) > CAP:
                raise TooManyBranches(min(branching((tree,)), default=at))
        return made.tree(new[-1])

    def _stays(self, group: Group, tree: Tree, now: _Now) -> bool:
        """True if no registers change, whatever the results."""
        return not group.outputs and all(
            isinstance(node, INNER) or node == self._registers(group, node, now, ())
            for node in tree
        )

    def _letters(
        self, group: Group, letter: Letter, at: int
    ) -> tuple[tuple[int, ...], _Keys, list[Letter]]:
        """Return the slots that wait for the result of this call, and their values together.

        And the letter for each; none if the group does not wait.
        """
        slots = tuple([i for i in group.waits if letter[i] is OPEN])
        outputs = [i for i in group.outputs if letter[i] is OPEN]
        if not slots and not outputs:
            return (), (), []
        keys, found = self._keys(slots, at), list[Letter]()
        for key in keys:
            told = list(letter)
            for i in outputs:
                told[i] = ToCome(at, i)
            for i, value in zip(slots, key, strict=True):
                told[i] = value
            found.append(tuple(told))
        return slots, keys, found

    def _keys(self, slots: tuple[int, ...], at: int) -> _Keys:
        """Return the values that these slots may have together, once a call has its result."""
        if slots not in self._known_keys:
            if len(slots) > SLOTS_CAP:
                raise TooManyBranches(at)
            ways = settlements(self.program.slots, slots, unreadable=True)
            finals = [final for final, _ in ways]
            keys = dict.fromkeys(tuple([final[i] for i in slots]) for final in finals)
            self._known_keys[slots] = tuple(keys)
        return self._known_keys[slots]

    def _leaf(
        self, made: TreeBuilder, group: Group, leaf: Leaf, now: _Now, supposed: _Supposed = ()
    ) -> int:
        """Return the node of these registers after a position.

        That is a comparison if they depend on how an output that is still to come compares.
        """
        try:
            return made.number(self._registers(group, leaf, now, supposed))
        except Undecided as need:
            asked = need.asked
        yes = self._leaf(made, group, leaf, now, (*supposed, (asked, True)))
        no = self._leaf(made, group, leaf, now, (*supposed, (asked, False)))
        return made.comparison(Comparison(*asked, yes, no))

    def _registers(self, group: Group, leaf: Leaf, now: _Now, supposed: _Supposed) -> Leaf:
        advanced = self._advanced.get(group.cells) or self._often(group)
        if advanced is not None:
            return advanced(now[0], leaf, *now[1:])  # type: ignore[no-any-return]
        known = dict(zip(group.cells, leaf, strict=True))
        registers = tuple([known.get(r) for r in range(len(self._cells))])
        values = _Values([None] * len(self._values))
        values.supposed = supposed
        letter, at, time = now
        for i in group.nodes:
            values[i] = self._values[i](values, letter, registers, at, time)
        cells = [self._cells[r] for r in group.cells]
        return tuple([cell.update(values, letter, registers, at, time) for cell in cells])

    def _often(self, group: Group) -> Advanced | None:
        """Return the function that advances the registers, once it has been asked for a few times.

        None for those that read outputs: they may be still to come.
        """
        k = self.groups.index(group)
        self._asked[k] += 1
        if group.outputs or self._asked[k] != OFTEN or len(self.program.nodes) > SOURCE_CAP:
            return None
        found = self._advanced[group.cells] = compiled_registers(
            self.program, self.past, group.cells
        )
        return found

    def settled(
        self, trees: Trees, registers: Registers, at: int, final: Mapping[int, Any]
    ) -> tuple[Trees, Registers]:
        """Return the trees, and the registers, once the call at position `at` has its result.

        `final`: the values of its slots that waited for it.
        """
        if not any(each.at == at for tree in trees for each in tree if isinstance(each, WAITING)):
            return trees, registers
        now, found = list(registers), list[Tree]()
        for group, tree in zip(self.groups, trees, strict=False):
            if not any(isinstance(node, WAITING) and node.at == at for node in tree):
                found.append(tree)
                continue
            if group.body >= 0:
                found.append(self._with_addition(group, tree, now, at, final))
                continue
            made, root = self._settled(tree, at, final)
            found.append(made.tree(root))
            for r, value in zip(group.cells, _open_leaf(made.nodes, root), strict=True):
                now[r] = value
        return tuple(found) if any(found) else (), self._echoed(now)

    def _echoed(self, registers: list[Any]) -> Registers:
        """Return the registers, once those that follow from others do so again."""
        for r, nodes in self._echoes:
            values: list[Any] = [None] * (nodes[-1] + 1)
            for i in nodes:
                values[i] = at_last(self.program, self.past, i, values, registers)
            registers[r] = values[nodes[-1]]
        return tuple(registers)

    def _with_addition(
        self, group: Group, tree: Tree, now: list[Any], at: int, final: Mapping[int, Any]
    ) -> Tree:
        """Return what the other calls may add; the register in `now` has what this one adds."""
        (r,) = group.cells
        for each in tree:
            if isinstance(each, Addition) and each.at == at:
                now[r] = self._plus(group, now[r], each, final)
        over = self._is_over(group, tuple(now))
        return () if over else tuple([each for each in tree if each.at != at])  # type: ignore[union-attr]

    def _plus(self, group: Group, register: Any, added: Addition, final: Mapping[int, Any]) -> Any:
        cell = self.past.cells[group.cells[0]]
        counts = self._counts(group, {*added.held, *[i for i in added.slots if final[i] is True]})
        if is_plain_count(self.program.nodes[cell.node]):
            return register + counts - self._counts(group, added.held)
        return cell.late(register, added.at, added.time) if counts and cell.late else register

    def _settled(self, tree: Tree, at: int, final: Mapping[int, Any]) -> tuple[TreeBuilder, int]:
        made, new = TreeBuilder(), list[int]()
        for node in tree:
            if isinstance(node, Branch):
                mine = node.at == at
                new.append(new[_chosen(node, final)] if mine else made.copied(node, new))
            elif isinstance(node, Comparison):
                left, right = (_come(each, at, final) for each in (node.left, node.right))
                told = self._compared(node.node, left, right)
                if told is None:
                    known = node._replace(left=left, right=right)
                    new.append(made.copied(known, new))
                else:
                    new.append(new[node.yes if told else node.no])
            else:
                new.append(made.number(tuple([_come(each, at, final) for each in node])))
        return made, new[-1]

    def _compared(self, node: int, left: Any, right: Any) -> bool | None:
        """Return how two values compare; None if an output is still to come."""
        if type(left) is ToCome or type(right) is ToCome:
            return None
        _, _, op, _, (negated, bad) = self.program.nodes[node]
        return bool(compare_nodes(0, op, 1, negated, bad)([left, right], (), (), 0, 0.0))

    # --- what results may come to -------------------------------------------------------------

    def ends(self, trees: Trees, registers: Registers, owed: Owed) -> list[End] | None:
        """Return what is remembered, and owed, for each way in which the calls in flight settle.

        Ways that come to the same are one: their number grows with what is told apart, and not with
        that of the calls. None if there are too many.
        """
        waiting, flying = open_positions(owed), branching(trees)
        beside = {at: found for at, found in waiting.items() if at not in flying}
        lefts = settled_ways(self.program.slots, owed, beside)
        if lefts is None or not trees:
            return None if lefts is None else [(registers, left) for left in lefts]
        starts = self._starts(trees, registers)
        places = dict.fromkeys([(walk, left) for walk in starts for left in lefts])
        steps, added = 0, additions(trees)
        for at, slots in flying.items():
            if len({*slots, *waiting.get(at, ())}) > SLOTS_CAP:
                return None
            fates = self._fates(slots, waiting.get(at, ()))
            steps += len(fates) * len(places)
            if steps > STEPS_CAP:
                return None
            places = dict.fromkeys(
                (
                    walk,
                    conjunction(settle_residual(each, at, final) for each in left)
                    if final
                    else left,
                )
                for (before, left) in places
                for known, final in fates
                for walk in self._walked(trees, before, at, known, added.get(at, ()))
            )
        ends = [(self._at(trees, walk, registers), left) for walk, left in places]
        return list(dict.fromkeys(ends))

    def end(
        self, trees: Trees, registers: Registers, finals: Mapping[int, Mapping[int, bool]]
    ) -> Registers:
        """Return the registers once every call in flight has its result; no output is read."""
        walk: list[Any] = []
        for group, tree in zip(self.groups, trees, strict=False):
            if group.body >= 0:
                register = registers[group.cells[0]]
                for each in tree:
                    if isinstance(each, Addition):
                        register = self._plus(group, register, each, finals[each.at])
                walk.append(register)
                continue
            i = len(tree) - 1
            while i >= 0 and isinstance(node := tree[i], Branch):
                i = _chosen(node, finals[node.at])
            walk.append(i)
        return self._at(trees, tuple(walk), registers) if trees else registers

    def _starts(self, trees: Trees, registers: Registers) -> Iterator[Walk]:
        """Yield where one is before any call settles."""
        pairs = zip(self.groups, trees, strict=True)
        start = [len(t) - 1 if g.body < 0 else registers[g.cells[0]] for g, t in pairs]
        return self._beyond_comparisons(trees, start)

    def _walked(
        self,
        trees: Trees,
        walk: Walk,
        at: int,
        known: Mapping[int, bool] | None,
        added: Iterable[tuple[int, Addition]],
    ) -> Iterator[Walk]:
        """Yield where one comes to as the call at `at` settles; `known`: None if it is late.

        `added`: what it may add, each with the number of its group.
        """
        went = list(walk)
        for k, each in added if known is not None else ():
            went[k] = self._plus(self.groups[k], went[k], each, known or {})
        for k, (group, tree, i) in enumerate(zip(self.groups, trees, walk, strict=True)):
            if group.body >= 0:
                continue
            node = tree[i] if tree else ()
            if isinstance(node, Branch) and node.at == at:
                went[k] = node.open if known is None else _chosen(node, known)
        return self._beyond_comparisons(trees, went)

    def _beyond_comparisons(self, trees: Trees, walk: Sequence[Any]) -> Iterator[Walk]:
        """Yield where one may be beyond comparisons, whose answers are free."""
        each = zip(self.groups, trees, walk, strict=True)
        return itertools.product(
            *[_answers(tree, i) if group.body < 0 else (i,) for group, tree, i in each]
        )

    def _fates(self, slots: Iterable[int], owed: Iterable[int]) -> list[_Fate]:
        """Return how a call may settle: what its branches read of it, and what it owes."""
        found: dict[Any, _Fate] = {}
        for final, late in settlements(self.program.slots, sorted({*slots, *owed})):
            known = None if late else {i: final[i] for i in slots}
            told = {i: final[i] for i in owed}
            found[known and tuple(known.items()), late, tuple(told.items())] = known, told
        return list(found.values())

    def _at(self, trees: Trees, walk: Walk, registers: Registers) -> Registers:
        now = list(registers)
        for group, tree, i in zip(self.groups, trees, walk, strict=True):
            if group.body >= 0:
                now[group.cells[0]] = i
                continue
            for r, value in zip(group.cells, tree[i] if tree else (), strict=False):
                now[r] = value
        return self._echoed(now)


# --- trees ----------------------------------------------------------------------------------------


def _open_leaf(nodes: Sequence[TreeNode], i: int) -> Leaf:
    """Return the registers if all calls in flight stay open."""
    node = nodes[i]
    while isinstance(node, Branch):
        node = nodes[node.open]
    assert not isinstance(node, Comparison)  # what is open has no output, so none is asked for
    return node


def _chosen(node: Branch, final: Mapping[int, Any]) -> int:
    return node.ways[node.keys.index(tuple([final[i] is True for i in node.slots]))]


def _come(value: Any, at: int, final: Mapping[int, Any]) -> Any:
    """Return the value; of an output of the call at position `at`, what has come."""
    if type(value) is not ToCome or value.at != at:
        return value
    return kept(final[value.slot]) if value.kept else final[value.slot]


# --- walks ----------------------------------------------------------------------------------------


def _answers(tree: Tree, i: int) -> Iterator[int]:
    node = tree[i] if tree else ()
    if isinstance(node, Comparison):
        yield from _answers(tree, node.yes)
        yield from _answers(tree, node.no)
    else:
        yield i


def _part(group: Group, registers: Registers) -> Leaf:
    return tuple([registers[r] for r in group.cells])


def _asking(i: int, op: Op, value: Value) -> Value:
    """Return a comparison that asks where an output is still to come."""

    def asked(v: Any, x: Letter, s: Registers, p: int, t: float) -> Any:
        left, right = v[op[1]], v[op[3]]
        if type(left) is not ToCome and type(right) is not ToCome:
            return value(v, x, s, p, t)
        known = (i, left, right)
        for each, truth in v.supposed:
            if each == known:
                return truth
        raise Undecided(*known)

    return asked


def _remembering(op: Op, cell: Register) -> Register:
    """Return a register of `last` that also remembers that an output is still to come."""
    _, term, body = op

    def update(v: Any, x: Letter, s: Registers, p: int, t: float) -> Any:
        later = v[body] and type(v[term]) is ToCome
        return v[term]._replace(kept=True) if later else cell.update(v, x, s, p, t)

    return Register(cell.node, cell.start, update)
