"""Any node, guarded: its run is a call of its name, decided before it begins.

In: a graph builder, a guard and the action of a node. Out: the builder with the node. What is
blocked does not run: the run of the graph ends with `CallBlocked`, or goes on with what `blocked`
makes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph._internal._runnable import RunnableCallable, coerce_to_runnable
from langgraph.graph import StateGraph
from langgraph.runtime import Runtime

from sponsio_like.adapters.langgraph.asking import Asking, Tools
from sponsio_like.adapters.langgraph.gate import Ruling
from sponsio_like.adapters.langgraph.hearing import refuse_answers
from sponsio_like.adapters.langgraph.journal import catch_up, decisions, result
from sponsio_like.adapters.langgraph.lineage import CHANNEL
from sponsio_like.adapters.langgraph.outer import within
from sponsio_like.adapters.langgraph.schemas import with_channel
from sponsio_like.adapters.langgraph.sessions import Sessions
from sponsio_like.adapters.langgraph.standing import Stand, standing
from sponsio_like.guard import Guard
from sponsio_like.outcome import Blocked
from sponsio_like.plain import as_answer, as_members
from sponsio_like.raising import CallBlocked, blocked
from sponsio_like.running import Flow, Run, adrive, drive
from sponsio_like.session import Session

OnBlocked = Callable[[Any, str], Any]
"""The update of a node that does not run, from the state and the advice."""


def guard_node(
    builder: StateGraph[Any, Any, Any, Any],
    guard: Guard,
    name: str,
    action: Any,
    *,
    args: Callable[[Any], Mapping[str, Any]] = lambda _: {},
    blocked: OnBlocked | None = None,
    messages_key: str = "messages",
    **sessions: Any,
) -> StateGraph[Any, Any, Any, Any]:
    """Add a guarded node, where `builder.add_node(name, action)` stood.

    Contracts know it as the tool `name`, called with `args` of the state; its update is the output.
    `blocked` makes the update of a node that does not run; without it `CallBlocked` is raised.
    `sessions` as for `guard_tools`. A redirect blocks: a graph has fixed edges.
    """
    opened = Sessions(guard, **sessions)
    refuse_answers(guard.policy)
    guard.policy.roll.add(name, None)
    runnable = coerce_to_runnable(action, name=name, trace=False)
    node = _Guarded(opened, name, runnable, args, blocked, messages_key)
    whole = RunnableCallable(node.run, node.arun, name=name, trace=False)
    return builder.add_node(name, whole, input_schema=with_channel(builder.state_schema))


@dataclass(frozen=True)
class _Guarded:
    sessions: Sessions
    name: str
    action: Runnable[Any, Any]
    args: Callable[[Any], Mapping[str, Any]]
    blocked: OnBlocked | None
    key: str

    def run(self, state: Any, config: RunnableConfig, runtime: Runtime[Any]) -> Any:
        return drive(self._flow(state, config, runtime, later=False))

    async def arun(self, state: Any, config: RunnableConfig, runtime: Runtime[Any]) -> Any:
        return await adrive(self._flow(state, config, runtime, later=True))

    def _flow(self, state: Any, config: RunnableConfig, runtime: Any, *, later: bool) -> Flow:
        stand: Stand = yield from standing(self.sessions, state, config, runtime, later=later)
        heard: list[str] = []

        def tell_all(session: Session) -> None:
            heard[:] = stand.tell(session, state, config, _of(state, self.key, ()))

        given = as_members(dict(self.args(state)))
        asking = Asking(f"{self.name} {stand.place.step}", self.name, given, given)
        stand = replace(stand, batch=asking.id)
        again = self.sessions.live.ran_before(stand.place.step)
        batch = yield from stand.gate(tell_all, Tools(()), again=again).decide(
            [asking], later=later
        )
        (ruling,) = batch.rulings
        if not ruling.tool:
            return self._stopped(ruling, state)
        invoke = self.action.ainvoke if later else self.action.invoke
        with stand.running(batch.session), within(stand.place.step, ruling.id) as call:
            update = yield Run(invoke, (state, config))
        key = f"ended {stand.place.step} {ruling.id}"
        told = [*call.entries.values(), result(key, ruling.id, {"output": as_answer(update)})]
        catch_up(batch.session, told)
        entries = [*decisions(stand.place.step, batch.rulings, stand.by), *told]
        after = stand.after(batch.session, {"heard": heard}, entries)
        return _joined(update, after)

    def _stopped(self, ruling: Ruling, state: Any) -> Any:
        refused = ruling.outcome if isinstance(ruling.outcome, Blocked) else None
        if self.blocked is not None and not (refused and refused.ends_run):
            return self.blocked(state, ruling.told)
        if refused is not None:
            raise blocked(refused)
        raise CallBlocked(Blocked(ruling.asking.id, (), lambda: ruling.told))


def _of(state: Any, key: str, default: Any) -> Any:
    return state.get(key, default) if isinstance(state, dict) else getattr(state, key, default)


def _joined(update: Any, after: Any) -> Any:
    """The update of the action, and of the channel."""
    if update is None or isinstance(update, Mapping):
        return {**(update or {}), CHANNEL: after}
    parts = list(update) if isinstance(update, list) else [update]
    return [*parts, {CHANNEL: after}]
