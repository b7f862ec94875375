"""Has the decision trees of what calls in flight may come to: their nodes, and how they are made.

In: nodes. Out: trees, in which equal parts stand once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from sponsio_like.monitor.past import Registers


class ToCome(NamedTuple):
    """The value of slot `slot`, an output, that the result of the call at position `at` will have.

    It stands in registers, below the branches of this call. `kept`: remembered, so that it must be
    small.
    """

    at: int
    slot: int
    kept: bool = False


class Branch(NamedTuple):
    """The choice between nodes that the result of the call at position `at` makes.

    `open`: the node while there is none; `ways`: the nodes for the `keys`, each of which has the
    values of the `slots` that wait for it. Nodes are numbers in the tree.
    """

    at: int
    slots: tuple[int, ...]
    keys: tuple[tuple[bool, ...], ...]
    open: int
    ways: tuple[int, ...]


class Comparison(NamedTuple):
    """The choice between nodes by a comparison with an output to come, at `node` of the program.

    `yes`, `no`: the nodes of the tree.
    """

    node: int
    left: Any
    right: Any
    yes: int
    no: int


class Addition(NamedTuple):
    """The call at position `at` may add to a register, if its result gives the `slots` such values.
    Of a count, it may take back what it has added while it was open.

    That does not depend on any other call, so there is no need to branch. `time`: that of the call;
    `held`: the other slots that are true there.
    """

    at: int
    time: float
    slots: tuple[int, ...]
    held: tuple[int, ...]


INNER = (Branch, Comparison, Addition)
"""The kinds of node that are not registers."""
WAITING = (Branch, Addition)
"""The kinds of node that wait for the result of a call."""
Leaf: TypeAlias = Registers
TreeNode: TypeAlias = "Leaf | Branch | Comparison | Addition"
Tree: TypeAlias = tuple[TreeNode, ...]
"""Each node after those that it leads to; the last one is the root. Empty if there is no branch.
From the root on, branches are in the order of their calls. Or nothing but additions.
"""
Trees: TypeAlias = tuple[Tree, ...]
"""A tree for each group of registers. Empty if none has a branch."""


class TreeBuilder:
    """A tree that is being made: equal nodes are one, and what decides nothing is left out."""

    def __init__(self) -> None:
        self.nodes: list[TreeNode] = []
        self._numbers: dict[Any, int] = {}

    def number(self, node: TreeNode) -> int:
        """Return the number of this node."""
        key = _key(node)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.nodes)
            self.nodes.append(node)
        return found

    def branch(self, node: Branch) -> int:
        """Return the number of this branch, or of what all its ways lead to."""
        still, ways = node.open, node.ways
        if ways.count(still) == len(ways):
            return still
        key = (node.at, still, ways)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.nodes)
            self.nodes.append(node)
        return found

    def comparison(self, node: Comparison) -> int:
        """Return the number of this comparison, or of what both its answers lead to."""
        return node.yes if node.yes == node.no else self.number(node)

    def copied(self, node: TreeNode, new: Sequence[int]) -> int:
        """Return the number of this node of another tree, whose nodes have these new numbers."""
        if isinstance(node, Branch):
            return self.branch(_moved(node, new))
        return (
            self.comparison(_moved(node, new))
            if isinstance(node, Comparison)
            else self.number(node)
        )

    def tree(self, root: int) -> Tree:
        """Return what can be reached from this node, in an order that equal trees share."""
        if not isinstance(self.nodes[root], INNER):
            return ()
        made, new, stack = list[TreeNode](), [-1] * len(self.nodes), [root]
        while stack:
            node = self.nodes[stack[-1]]
            missing = [k for k in _below(node) if new[k] < 0]
            if missing:
                stack += reversed(missing)
                continue
            i = stack.pop()
            if new[i] < 0:
                new[i] = len(made)
                made.append(_moved(node, new))
        return tuple(made)


def _moved(node: Any, new: Sequence[int]) -> Any:
    """Return a node with other numbers for those that it leads to."""
    match node:
        case Branch(at, slots, keys, still, ways):
            return Branch(at, slots, keys, new[still], tuple([new[way] for way in ways]))
        case Comparison(i, left, right, yes, no):
            return Comparison(i, left, right, new[yes], new[no])
    return node


def _key(node: TreeNode) -> Any:
    """Return a key that equal nodes share; `1` and `True` are not equal."""
    if isinstance(node, Comparison):  # an argument may be a list
        return node.node, repr(node.left), repr(node.right), node.yes, node.no
    return (node, *map(type, node))


def branching(trees: Trees) -> dict[int, list[int]]:
    """Return the positions of the calls that branches wait for, in order, each with its slots."""
    found: dict[int, set[int]] = {}
    for tree in trees:
        for node in tree:
            if isinstance(node, WAITING):
                found.setdefault(node.at, set()).update(node.slots)
    return {at: sorted(slots) for at, slots in sorted(found.items())}


def renamed_trees(trees: Trees, names: Mapping[int, int]) -> Trees:
    """Return the trees with other numbers for the calls; their order stays."""
    return tuple(
        tuple(
            [
                node._replace(at=names[node.at]) if isinstance(node, WAITING) else node
                for node in tree
            ]
        )
        for tree in trees
    )


def additions(trees: Trees) -> dict[int, list[tuple[int, Addition]]]:
    """Return what calls in flight may add, by their positions, each with the number of the tree."""
    found: dict[int, list[tuple[int, Addition]]] = {}
    for k, tree in enumerate(trees):
        for node in tree:
            if isinstance(node, Addition):
                found.setdefault(node.at, []).append((k, node))
    return found


def _below(node: TreeNode) -> tuple[int, ...]:
    match node:
        case Branch(_, _, _, still, ways):
            return (still, *ways)
        case Comparison(_, _, _, yes, no):
            return (yes, no)
    return ()
