"""Graphs in graphs, enumerated: what is outside, what is inside, and how their guards are related.

The caps of the outer and of the inner guard hold exactly, over two turns of one thread; or the
guard says why they could not.
"""

from __future__ import annotations

import pytest

from tests.adapters.nests import (
    RELATIONS,
    Inside,
    Outer,
    agent_inside,
    calling_graph,
    functional,
    graph_inside,
    guarded_agent,
    guarded_graph,
    guarded_graph_around,
    plain_graph,
    react_agent,
    turns,
)

FORGETS = ["forgets them at its end"]
LACKS = ["does not share `__contracts__`"]
NODES = {
    "one guard": FORGETS,
    "one guard, shared": ["iio", "i"],
    "its own": FORGETS,
    "its own, shared": ["iio", "i"],
    "its own, goes on": ["iio", "i"],
    "its own, each run": ["io", "io"],
}
"""What runs where the inner graphs are nodes: `o` is one of them, too."""
TASKS = {**NODES, "one guard, shared": LACKS, "its own, shared": LACKS}
"""What runs where they are called without the state of the outer graph."""
TOOLS = {
    "one guard": ["iio", "i"],
    "one guard, shared": ["iio", "i"],
    "its own": FORGETS,
    "its own, shared": LACKS,
    "its own, goes on": ["iio", "i"],
    "its own, each run": ["io", "i"],
}
"""What runs where the inner graph is a guarded tool."""
BEHIND = {
    "one guard": FORGETS,
    "one guard, shared": ["oii", "o"],
    "its own": FORGETS,
    "its own, shared": ["oii", "i"],
    "its own, goes on": ["oii", "i"],
    "its own, each run": ["oi", "i"],
}
"""What runs where the inner graph is a node behind the guarded tools of the outer one."""

OUTERS: dict[Outer, dict[str, list[str]]] = {
    plain_graph: NODES,
    calling_graph: NODES,
    functional: TASKS,
    react_agent: TASKS,
    guarded_graph: TOOLS,
    guarded_agent: TOOLS,
    guarded_graph_around: BEHIND,
}


@pytest.mark.long
@pytest.mark.parametrize("later", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("inside", [graph_inside, agent_inside])
@pytest.mark.parametrize("outer", OUTERS)
def test_both_caps_hold(outer: Outer, inside: Inside, relation: str, *, later: bool) -> None:
    """Over two turns; what is within them runs. What cannot be held is refused, and says why."""
    came, expected = turns(outer, inside, relation, later=later), OUTERS[outer][relation]
    for each in came.values():
        assert each == expected if len(expected) > 1 else expected[0] in each[0]
