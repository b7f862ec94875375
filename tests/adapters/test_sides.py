"""Every kind of middleware on every side of the pair: what runs was allowed, and counts as it ran.

In: what somebody's middleware does to a call of 60, where it stands, and the contracts. Out: the
bodies that ran. All combinations are tried; what is expected is said by rules, and not by a list.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import pytest
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    ToolCallLimitMiddleware,
    ToolRetryMiddleware,
)
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.types import Command

from sponsio_like.contracts.definition import Contract
from tests.adapters.middlewares import Around, Rewrites, Steps, answering, editing, retrying, twice
from tests.adapters.rules import few, small, spending
from tests.adapters.talks import AGENTS, Came, Talk, Way, ask
from tests.support.size import WHOLE

RAN: list[int] = []
"""What bodies have received."""
BUSY: list[bool] = []
"""Whether the next body raises."""


@pytest.fixture(autouse=True)
def _fresh() -> None:
    RAN.clear()
    BUSY.clear()


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    RAN.append(amount)
    if BUSY:
        raise ValueError("the line is busy")
    return f"paid {amount}"


def _own(amount: int) -> str:
    """Pay an amount, for this user."""
    RAN.append(amount)
    return f"paid {amount} for you"


OWN: Final = tool("pay")(_own)
"""A tool of the same name, with the user's own access."""


# --- what they do ---------------------------------------------------------------------------------


def swapping() -> Around:
    """Puts the user's own tool in place."""

    def steps(request: Any) -> Steps:
        return (yield request.override(tool=OWN))

    return Around(steps)


def swapping_and_editing(amount: int) -> Around:
    """Puts the user's own tool in place, and other arguments."""

    def steps(request: Any) -> Steps:
        call = {**request.tool_call, "args": {"amount": amount}}
        return (yield request.override(tool=OWN, tool_call=call))

    return Around(steps)


def raising() -> Around:
    """Raises instead of calling the tool."""

    def steps(request: Any) -> Steps:
        yield from ()
        raise OSError("no network")

    return Around(steps)


def raising_after() -> Around:
    """Raises when the tool has run."""

    def steps(request: Any) -> Steps:
        yield request
        raise OSError("no network")

    return Around(steps)


def rewriting(amount: int) -> Rewrites:
    """Edits what the model has said."""

    def change(message: AIMessage) -> AIMessage:
        calls = [{**each, "args": {"amount": amount}} for each in message.tool_calls]
        return message.model_copy(update={"tool_calls": calls})

    return Rewrites(change)


@dataclass(frozen=True)
class Kind:
    """What a middleware does to a call of 60.

    `runs`: what bodies would receive of it if nothing was forbidden, one after another; `busy`:
    they raise; `says`: what a person says, who is asked.
    """

    name: str
    make: Callable[[], Any]
    runs: tuple[int, ...]
    busy: bool = False
    says: dict[str, Any] | None = None


def edit(amount: int) -> dict[str, Any]:
    """A person gives another amount."""
    return {"type": "edit", "edited_action": {"name": "pay", "args": {"amount": amount}}}


def human() -> Any:
    """LangChain's own way of asking people."""
    return HumanInTheLoopMiddleware({"pay": True})


def trying(times: int) -> Any:
    """LangChain's retries."""
    return ToolRetryMiddleware(max_retries=times - 1, initial_delay=0, jitter=False)


def nothing() -> Any:
    """Looks on."""

    def steps(request: Any) -> Steps:
        return (yield request)

    return Around(steps)


KINDS: Final = (
    Kind("nothing", nothing, (60,)),
    Kind("edits up", lambda: editing(amount=90), (90,)),
    Kind("edits down", lambda: editing(amount=20), (20,)),
    Kind("rewrites up", lambda: rewriting(90), (90,)),
    Kind("rewrites down", lambda: rewriting(20), (20,)),
    Kind("twice", twice, (60, 60)),
    Kind("retries", lambda: retrying(3), (60, 60, 60), busy=True),
    Kind("ToolRetry", lambda: trying(3), (60, 60, 60), busy=True),
    Kind("ToolRetry idle", lambda: trying(3), (60,)),
    Kind("swaps", swapping, (60,)),
    Kind("swaps and edits", lambda: swapping_and_editing(90), (90,)),
    Kind("answers", lambda: answering("not today"), ()),
    Kind("raises", raising, ()),
    Kind("raises after", raising_after, (60,)),
    Kind("limit", lambda: ToolCallLimitMiddleware(run_limit=1), (60,)),
    Kind("limit of none", lambda: ToolCallLimitMiddleware(run_limit=0), ()),
    Kind("human yes", human, (60,), says={"type": "approve"}),
    Kind("human no", human, (), says={"type": "reject"}),
    Kind("human up", human, (90,), says=edit(90)),
    Kind("human down", human, (20,), says=edit(20)),
)
SIDES: Final = ("before", "others", "behind")
MOST: Final = (10, 60, 90)
"""The most of one payment that a contract allows."""


def run(talk: Talk, kind: Kind, *turns: Any) -> Came | None:
    """One run; None if it has ended with the error of somebody's middleware."""
    BUSY[:] = [True] * kind.busy
    came: Came | None = None
    with suppress(OSError, ValueError):
        came = talk.say(*turns)
        if kind.says is not None and "__interrupt__" in came.state:
            came = talk.go(Command(resume={"decisions": [kind.says]}))
    BUSY.clear()
    return came


def opened(way: Way, kind: Kind, side: str, *rules: Contract) -> Talk:
    """An agent with this middleware on this side."""
    options: dict[str, Any] = {side: [kind.make()]}
    return way.open([pay], *rules, **options)


def cases() -> list[Any]:
    """Every kind on every side, in both ways; a part of it has the two ways by turns."""
    found = [
        (way, kind, side)
        for k, (kind, side) in enumerate(product(KINDS, SIDES))
        for way in (AGENTS if WHOLE else [AGENTS[k % len(AGENTS)]])
    ]
    names = [f"{way.name}-{kind.name}-{side}".replace(" ", "-") for way, kind, side in found]
    return [pytest.param(*each, id=name) for each, name in zip(found, names, strict=True)]


tables = pytest.mark.parametrize(("way", "kind", "side"), cases())
"""Every kind of middleware on every side of the pair."""


# --- what holds -----------------------------------------------------------------------------------


@tables
@pytest.mark.parametrize("most", MOST)
def test_no_forbidden_body_runs(way: Way, kind: Kind, side: str, most: int) -> None:
    """Whatever a middleware makes of a call, no body receives what a contract does not allow."""
    talk = opened(way, kind, side, small(most))
    came = run(talk, kind, ask("pay", amount=60))
    assert all(each <= most for each in RAN)
    if came is not None:
        answers = [each for each in came.state["messages"] if isinstance(each, ToolMessage)]
        assert [each.tool_call_id for each in answers] == ["a"]


@tables
def test_honest_work_passes(way: Way, kind: Kind, side: str) -> None:
    """Under contracts that allow all of it, what runs is what would run without contracts."""
    talk = opened(way, kind, side, small(100), spending(1000), few("pay", 9))
    run(talk, kind, ask("pay", amount=60))
    assert tuple(RAN) == kind.runs


@pytest.mark.long
@tables
@pytest.mark.parametrize("limit", [2, 3])
def test_a_cap_counts_every_run_of_a_body(way: Way, kind: Kind, side: str, limit: int) -> None:
    """However a middleware repeats a call: no more bodies run than are allowed, in all turns."""
    talk = opened(way, kind, side, few("pay", limit))
    for each in "abcd":
        run(talk, kind, ask("pay", each, amount=60))
    assert len(RAN) <= limit
    if kind.runs:
        assert len(RAN) == (limit // 2 if changes(kind, side) else limit)


@pytest.mark.long
@tables
def test_a_sum_counts_every_run_of_a_body(way: Way, kind: Kind, side: str) -> None:
    """What bodies have received, in all turns, is never more than the limit, and comes up to it."""
    talk = opened(way, kind, side, spending(100))
    for each in "abcdef":
        run(talk, kind, ask("pay", each, amount=60))
    assert sum(RAN) <= 100
    if kind.runs and not changes(kind, side):
        assert sum(RAN) + max(kind.runs) > 100


def changes(kind: Kind, side: str) -> bool:
    """Whether the call is changed after its decision: then both count, what was let through, too.

    What is changed before is decided as it is, and so is what a person has edited, whom LangChain
    asks between the two or behind them.
    """
    if kind.name.startswith("rewrites") or kind.name in ("human up", "human down"):
        return side == "before"
    return kind.name in ("edits up", "edits down", "swaps and edits")
