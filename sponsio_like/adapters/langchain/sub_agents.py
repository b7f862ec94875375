"""Checks that sub-agents of a tool, as `task` of deepagents, have a guard of their own.

In: a tool that the model is offered, and the contracts of the agent. Out: nothing; or a
`ContractError` for a sub-agent that has a tool which contracts name, and no guard. deepagents
gives its `general-purpose` agent all tools of the agent, and none of its middlewares.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterator, Mapping
from typing import Any

from langgraph.prebuilt import ToolNode

from sponsio_like.adapters.langgraph.channel import CHANNEL
from sponsio_like.engine import Policy
from sponsio_like.errors import ContractError
from sponsio_like.monitor import told_apart


def check_sub_agents(policy: Policy, tool: Any) -> None:
    """Raise `ContractError` for a sub-agent without a guard; where nothing is enforced, warn."""
    for name, graph in _sub_agents(tool):
        if CHANNEL in graph.channels:
            continue
        bodies = [getattr(each, "bound", None) for each in graph.nodes.values()]
        tools = [
            each for body in bodies if isinstance(body, ToolNode) for each in body.tools_by_name
        ]
        named = [each for each in tools if _is_named(policy, each)]
        if not named:
            continue
        what = f"sub-agent `{name}` has the tool `{named[0]}`, which contracts name, and no guard"
        hint = f"give the agent a sub-agent `{name}` that has guarded(..) among its middlewares"
        if policy.enforces:
            raise ContractError.of(what, hint)
        logging.getLogger("sponsio_like").warning("%s; %s", what, hint)


def _sub_agents(tool: Any) -> Iterator[tuple[str, Any]]:
    """Yield the graphs that the function of a tool holds by name, each with its name."""
    function = getattr(tool, "func", None)
    if not inspect.isfunction(function):
        return
    for held in inspect.getclosurevars(function).nonlocals.values():
        graphs = held.items() if isinstance(held, Mapping) else ()
        yield from (each for each in graphs if hasattr(each[1], "channels"))


def _is_named(policy: Policy, tool: str) -> bool:
    nodes = [slot.node for clause in policy.clauses for slot in clause.slots]
    return bool(told_apart(nodes, [tool]))
