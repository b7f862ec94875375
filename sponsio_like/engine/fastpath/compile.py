"""The fast path of a call through its contracts: one piece of Python source for each tool.

In: a policy. Out: a `Lane` for each tool, or none. A lane only knows calls that are let through and
settled before anything else happens; all others take the slow path, through the readable monitor,
as do tools and clauses that have no lane.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sponsio_like.engine.fastpath.lane import Lane, NoLane
from sponsio_like.engine.fastpath.source import Writer
from sponsio_like.engine.policy import Policy
from sponsio_like.monitor import OTHER, Name

EAGER_LANES_CAP = 64
"""Most tools that contracts name of which all lanes are built when the guard is made.

Of more tools, each lane is built at its tool's second call, or by `Guard.warm`.
"""
LARGE = 10
"""Most clauses of a lane that is built while a call waits; larger ones are built at once."""


def prepare(policy: Policy) -> None:
    """Build the lanes of the tools that contracts name, unless there are many."""
    few = len(policy.index.names) <= EAGER_LANES_CAP
    for tool in policy.index.names:
        if few or policy.index.breadth(tool) > LARGE:
            named_lane(policy, tool)
    policy.lanes[OTHER] = lane_of(policy, OTHER, policy.index.concerned(OTHER))


def named_lane(policy: Policy, tool: str) -> Lane | None:
    """Return the lane of a tool that contracts name, or None; it is built once."""
    if tool not in policy.lanes:
        policy.lanes[tool] = checking_inventory(
            policy, tool, lane_of(policy, tool, policy.concerned(tool))
        )
    lane: Lane | None = policy.lanes[tool]
    return lane


def checking_inventory(policy: Policy, tool: str, lane: Lane | None) -> Lane | None:
    """The lane of a tool of the inventory, where its arguments have to fit; of others, none."""
    known = policy.inventory
    if lane is None or not known.has(tool):
        return None
    fits, check = known.fits(tool), lane.check
    if fits is None:
        return lane

    def checked(ledger: Any, tool: str, args: Mapping[str, Any], *rest: Any) -> Any:
        return check(ledger, tool, args, *rest) if fits(args) else None

    return replace(lane, check=checked)


def lane_of(policy: Policy, name: Name, clauses: Sequence[int]) -> Lane | None:
    """The lane of a tool past these clauses, if there can be one."""
    try:
        return Writer(policy, name).lane(tuple(clauses))
    except NoLane:
        return None
