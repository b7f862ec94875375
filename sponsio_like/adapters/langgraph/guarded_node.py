"""Guards any node: its run is a call of its name, which a node in front of it decides.

In: a graph builder, a guard and the action of a node. Out: the builder with the node. What is
blocked does not run: the run of the graph ends with `CallBlocked`, or goes on with what `blocked`
makes of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.graph import StateGraph
from langgraph.types import CachePolicy, Command, RetryPolicy, Send

from sponsio_like.adapters.langgraph.asked_calls import Asking, Tools
from sponsio_like.adapters.langgraph.attempts import RunningCall
from sponsio_like.adapters.langgraph.channel import CHANNEL, GuardedState, GuardPart
from sponsio_like.adapters.langgraph.decision_node import Asks, Decide, instead_of
from sponsio_like.adapters.langgraph.gate import Ruling
from sponsio_like.adapters.langgraph.handlers import on_state
from sponsio_like.adapters.langgraph.journal import catch_up
from sponsio_like.adapters.langgraph.messages import Facts
from sponsio_like.adapters.langgraph.node_context import read_context
from sponsio_like.adapters.langgraph.payloads import SENT, Sent, messages_of, to_decide
from sponsio_like.adapters.langgraph.proxy import CHANGED
from sponsio_like.adapters.langgraph.routes import (
    Exits,
    add,
    check_state,
    decides,
    goto,
    learned,
    node_of,
    route,
    state_of,
)
from sponsio_like.adapters.langgraph.sessions import Scope, Sessions, read_channels
from sponsio_like.guard import CallBlocked, Flow, Guard, Run
from sponsio_like.outcome import Blocked, Held
from sponsio_like.values import as_answer, as_members
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
    input_schema: Any = None,
    destinations: Any = None,
    defer: bool = False,
    metadata: dict[str, Any] | None = None,
    retry_policy: RetryPolicy | Sequence[RetryPolicy] | None = None,
    cache_policy: CachePolicy[Any] | None = None,
    timeout: Any = None,
    error_handler: Any = None,
) -> StateGraph[Any, Any, Any, Any]:
    """Add a guarded node, where `builder.add_node(name, action)` stood.

    Contracts know it as the tool `name`, called with `args` of the state; its update is the output.
    `blocked` makes the update of a node that does not run; without it `CallBlocked` is raised. Both
    receive what the action takes of the state. `agent` to `facts` as for `guard_tools`, the rest as
    for `add_node`: with `defer` the decision waits. A redirect blocks: a graph has fixed edges.
    """
    opened = Sessions(guard, agent, scope, shared, world, clock, facts)
    known = learned(builder, name, action, input_schema, destinations)
    whole = _whole(builder, opened, known, (name, messages_key), (args, blocked), defer=defer)
    more = {
        "input_schema": GuardedState,
        "destinations": known.ends or None,
        "metadata": metadata,
        "retry_policy": retry_policy,
        "cache_policy": cache_policy,
        "timeout": timeout,
        "error_handler": error_handler and on_state(error_handler, builder, known.input_schema),
    }
    return add(builder, name, whole, more)


def _whole(
    builder: StateGraph[Any, Any, Any, Any],
    opened: Sessions,
    known: Any,
    names: tuple[str, str],
    given: tuple[Callable[[Any], Mapping[str, Any]], OnBlocked | None],
    *,
    defer: bool,
) -> RunnableCallable:
    """Add the node that decides, and return the one that runs the action."""
    schema, (name, messages_key), (args, blocked) = builder.state_schema, names, given
    check_state(builder)
    opened.guard.policy.known_tools.add(name, None)
    taken = tuple(builder.schemas[known.input_schema])
    exits = route(builder, name, opened.guard, on_state)
    node = _Node(opened, name, known.runnable, args, blocked, known.input_schema, taken, exits)

    def asks(whole: Any, payloads: list[Any] | None, batch: str, config: RunnableConfig) -> Asks:
        ids = [batch] if payloads is None else [f"{batch} {i}" for i, _ in enumerate(payloads)]
        states = [node.state(config, fresh=True)] if payloads is None else payloads
        made = [_called(args, each) for each in states]
        calls = [Asking(id, name, each, each) for id, each in zip(ids, made, strict=True)]
        return Asks(batch, calls, messages_of(whole, messages_key), range(len(calls)))

    channels = tuple(builder.schemas[schema])
    decide = Decide(opened, Tools(()), name, schema, channels, exits, asks, _sent)
    decide.add(builder, defer=defer)
    return node_of(node.flow, name)


def _called(args: Callable[[Any], Mapping[str, Any]], state: Any) -> Mapping[str, Any]:
    """Return the arguments of the call that this state makes."""
    members: Mapping[str, Any] = as_members(dict(args(state)))
    return members


def _sent(ruling: Ruling) -> Sent:
    id, own = ruling.asking.id, ruling.id
    if ruling.tool and id == own:  # in a cache's key, one text twice is not two equal ones
        return {SENT: "run", "call": id}
    if ruling.tool:
        return {SENT: "run", "call": id, "own": own}
    return {SENT: "refused", "call": ruling.id, "advice": ruling.told}


@dataclass(frozen=True)
class _Node:
    """The node that runs the action. `schema` and `channels`: what it takes of the state."""

    sessions: Sessions
    name: str
    action: Runnable[Any, Any]
    args: Callable[[Any], Mapping[str, Any]]
    blocked: OnBlocked | None
    schema: Any
    channels: tuple[str, ...]
    exits: Exits

    def state(self, config: RunnableConfig, *, fresh: bool = False) -> Any:
        """Return what the action takes of the state; `fresh`: with what this step has written."""
        return state_of(self.schema, read_channels(config, list(self.channels), fresh=fresh))

    def flow(self, given: Any, config: RunnableConfig, runtime: Any, *, later: bool) -> Flow:
        """Run the action, if it may run; or do what the node does without a call."""
        if (instead := instead_of(given, self.name, config, self.sessions, self.exits)) is not None:
            return instead
        state = given.get("given")
        if "given" not in given:
            state = self.state(config)
        if given[SENT] == "refused":
            return self._and_on(self._refused(given["call"], given["advice"], state))
        to = to_decide(decides(self.name), [state] if "given" in given else None)
        running = yield from self._running(given, config, runtime, later=later)
        work = self._decided(running, state, config, to, later=later)
        came = yield from running.alone(work, config, runtime, later=later)
        running.rests()
        return came

    def _running(self, given: Sent, config: RunnableConfig, runtime: Any, *, later: bool) -> Flow:
        """Return the call as it was let through; the same one, if a policy tries its node again."""
        stand, here = read_context(self.sessions, config, runtime), runtime.execution_info
        known: RunningCall | None = self.sessions.live.running(stand.place.step)
        if known is not None and here.node_attempt > 1:
            return known
        id, own = given["call"], given.get("own", given["call"])
        ruling = stand.kept.get("rulings", {}).get(f"{self.name}/{own}", {"id": own})
        before = yield from stand.done_inside(ruling["id"], config, runtime, later=later)
        session = stand.beside(ruling["id"])
        catch_up(session, before)
        return RunningCall(stand, Tools(()), session, id, ruling, here, None, before=before)

    def _decided(
        self, running: RunningCall, state: Any, config: Any, again: Send, *, later: bool
    ) -> Flow:
        """Run the action, if it may run on this state; one that was not decided is decided now.

        `again`: where the graph goes to have it decided anew, where people have to be asked.
        """
        running.ran += 1
        if not running.session.policy.enforces:
            return (yield from self._ran(running, running.own, state, config, later=later))
        if running.unless:
            return self._and_on(self._refused(running.own, running.unless, state))
        given, own = _called(self.args, state), running.own
        call = Asking(f"{running.id}/{running.ran}", self.name, given, given)
        if running.ran == 1 and call.mark and call.mark == running.ruling.get("mark"):
            return (yield from self._ran(running, running.own, state, config, later=later))
        if running.ran == 1:
            running.came(own, {"error": CHANGED})
        ruling = running.ruled(call)
        if isinstance(ruling.outcome, Held):  # people are asked about the call as it is now
            return Command(update={CHANNEL: self._results(running)}, goto=[again, *self.exits.idle])
        if not ruling.tool:
            return self._and_on(self._refused(own, ruling.told, state), self._results(running))
        return (yield from self._ran(running, ruling.id, state, config, later=later))

    def _ran(self, running: RunningCall, id: str, state: Any, config: Any, *, later: bool) -> Flow:
        """Run the action as the call `id`; return its update, with entries for the channel."""
        session, (agent, depth) = running.session, running.stand.by
        invoke = self.action.ainvoke if later else self.action.invoke
        with session.active(agent=agent, depth=depth):
            update = yield from running.body({"id": id}, Run(invoke, (state, config)))
        running.came(id, {"output": as_answer(update)})
        return self._and_on(update, self._results(running))

    def _results(self, running: RunningCall) -> dict[str, GuardPart]:
        """Return the entries of the runs, as the channel takes them."""
        return self.sessions.wrote({"rev": running.rev, "results": running.entries})

    def _refused(self, id: str, advice: str, state: Any) -> Any:
        if self.blocked is not None:
            return self.blocked(state, advice)
        raise CallBlocked(Blocked(id, (), lambda: advice))

    def _and_on(self, update: Any, value: dict[str, GuardPart] | None = None) -> list[Any]:
        """Return the update of the action, the value of the channel, and where the graph goes."""
        parts = update if isinstance(update, list) else [] if update is None else [update]
        more = {} if value is None else {CHANNEL: value}
        return [*parts, Command(update=more, goto=goto(self.exits))]
