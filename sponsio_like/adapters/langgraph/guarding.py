"""Any node, guarded: its run is a call of its name, decided by a node in front of it.

In: a graph builder, a guard and the action of a node. Out: the builder with the node. What is
blocked does not run: the run of the graph ends with `CallBlocked`, or goes on with what `blocked`
makes of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph._internal._runnable import RunnableCallable, coerce_to_runnable
from langgraph.graph import StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from sponsio_like.adapters.langgraph.asking import Asking, Tools
from sponsio_like.adapters.langgraph.channel import CHANNEL, GuardedState, Kept
from sponsio_like.adapters.langgraph.deciding import SENT, Asks, Decide, Sent, instead_of
from sponsio_like.adapters.langgraph.gate import Ruling
from sponsio_like.adapters.langgraph.hearing import Facts, refuse_answers
from sponsio_like.adapters.langgraph.journal import catch_up, result
from sponsio_like.adapters.langgraph.node import messages_of
from sponsio_like.adapters.langgraph.outer import within
from sponsio_like.adapters.langgraph.routes import Exits, check_state, goto, route, state_of
from sponsio_like.adapters.langgraph.sessions import Scope, Sessions, read
from sponsio_like.adapters.langgraph.standing import stand_of
from sponsio_like.guard import Guard
from sponsio_like.naming import fresh
from sponsio_like.outcome import Blocked
from sponsio_like.plain import as_answer, as_members
from sponsio_like.raising import CallBlocked
from sponsio_like.running import Flow, Run, adrive, drive, told
from sponsio_like.worlds import World

OnBlocked = Callable[[Any, str], Any]
"""The update of a node that does not run, from the state and the advice."""


def guard_node(  # noqa: PLR0913  the options of users, each by its name
    builder: StateGraph[Any, Any, Any, Any],
    guard: Guard,
    name: str,
    action: Any,
    *,
    args: Callable[[Any], Mapping[str, Any]] = lambda _: {},
    blocked: OnBlocked | None = None,
    messages_key: str = "messages",
    agent: str = "agent",
    scope: Scope = "thread",
    shared: bool = False,
    world: World | None = None,
    clock: Callable[[], float] = time.time,
    facts: Facts | None = None,
) -> StateGraph[Any, Any, Any, Any]:
    """Add a guarded node, where `builder.add_node(name, action)` stood.

    Contracts know it as the tool `name`, called with `args` of the state; its update is the output.
    `blocked` makes the update of a node that does not run; without it `CallBlocked` is raised.
    `agent` to `facts` as for `guard_tools`. A redirect blocks: a graph has fixed edges.
    """
    schema = builder.state_schema
    opened = Sessions(
        guard, agent=agent, scope=scope, shared=shared, world=world, clock=clock, facts=facts
    )
    refuse_answers(guard.policy)
    check_state(builder)
    guard.policy.roll.add(name, None)
    channels = tuple(builder.schemas[schema])

    def asks(state: Any, kept: Kept, step: str, _: Any) -> Asks:
        id, given = _waiting(name, kept, step), as_members(dict(args(state)))
        call = Asking(id, name, given, given)
        return {"of": id, "calls": [call], "messages": messages_of(state, messages_key)}

    exits = route(builder, name, guard)
    Decide(opened, Tools(()), name, schema, channels, exits, asks, _sent).add(builder)
    runnable = coerce_to_runnable(action, name=name, trace=False)
    node = _Node(opened, name, runnable, blocked, schema, channels, exits)
    whole = RunnableCallable(node.run, node.arun, name=name, trace=False)
    return builder.add_node(name, whole, input_schema=GuardedState)


def _waiting(name: str, kept: Kept, step: str) -> str:
    """The id of the call of this node: the one that waits for an answer, or was just decided."""
    planned = [each["mark"][0] for each in kept.get("plan", ())] if not step else []
    asked = kept.get("asked", {}).items()
    answered = [of for of, each in asked if each[-1]["said"] is not None]
    mine = [each for each in (*planned, *answered) if each.startswith(f"{name} ")]
    return mine[0] if mine else f"{name} {step}"


def _sent(ruling: Ruling) -> Sent:
    if ruling.tool:
        return {SENT: "run", "call": ruling.id}
    return {SENT: "refused", "call": ruling.id, "advice": ruling.told}


@dataclass(frozen=True)
class _Node:
    sessions: Sessions
    name: str
    action: Runnable[Any, Any]
    blocked: OnBlocked | None
    schema: Any
    channels: tuple[str, ...]
    exits: Exits

    def run(self, given: Any, config: RunnableConfig, runtime: Runtime[Any]) -> Any:
        return drive(self._flow(given, config, runtime, later=False))

    async def arun(self, given: Any, config: RunnableConfig, runtime: Runtime[Any]) -> Any:
        return await adrive(self._flow(given, config, runtime, later=True))

    def _flow(self, given: Any, config: RunnableConfig, runtime: Any, *, later: bool) -> Flow:
        if (instead := instead_of(given, self.name, config, self.sessions)) is not None:
            return instead
        state = state_of(self.schema, read(config, list(self.channels)))
        if given[SENT] == "refused":
            return self._and_on(self._refused(given, state))
        id, stand = given["call"], stand_of(self.sessions, config, runtime)
        session, (agent, depth) = stand.beside(id), stand.by
        invoke = self.action.ainvoke if later else self.action.invoke
        with (
            session.active(agent=agent, depth=depth),
            within(self.sessions.guard, stand.place.step, id) as here,
        ):
            try:
                update = yield Run(invoke, (state, config))
            except Exception as error:
                catch_up(session, [*here.entries.values()])
                session.settle(id, error=told(error))
                raise
        entries = [*here.entries.values(), result(fresh(), id, {"output": as_answer(update)})]
        catch_up(session, entries)
        value = {"rev": stand.kept.get("rev", ""), "results": entries}
        return self._and_on(update, self.sessions.wrote(value))

    def _refused(self, given: Sent, state: Any) -> Any:
        if self.blocked is not None:
            return self.blocked(state, given["advice"])
        raise CallBlocked(Blocked(given["call"], (), lambda: given["advice"]))

    def _and_on(self, update: Any, value: dict[str, Kept] | None = None) -> list[Any]:
        """The update of the action, the value of the channel, and where the graph goes."""
        parts = update if isinstance(update, list) else [] if update is None else [update]
        more = {} if value is None else {CHANNEL: value}
        return [*parts, Command(update=more, goto=goto(self.exits))]
