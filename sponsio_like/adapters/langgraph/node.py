"""Guarded tools as a node of any graph: gate, tools, settle, in one task.

In: a graph builder, a guard and tools. Out: the builder with the node. Whatever is asked or
refused is so before the first tool runs. Parallel calls run as tasks of their own: none that has
finished runs again because another one has interrupted the graph.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph._internal._runnable import RunnableCallable
from langgraph.errors import GraphInterrupt, ParentCommand
from langgraph.graph import StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime

from sponsio_like.adapters.langgraph.answers import combined, handed_here, refusal, result_of
from sponsio_like.adapters.langgraph.asking import Tools, last_asking, unanswered
from sponsio_like.adapters.langgraph.gate import Batch, Ruling
from sponsio_like.adapters.langgraph.hearing import refuse_answers
from sponsio_like.adapters.langgraph.journal import Entry, catch_up, decisions, result
from sponsio_like.adapters.langgraph.lineage import CHANNEL
from sponsio_like.adapters.langgraph.outer import within
from sponsio_like.adapters.langgraph.schemas import with_channel
from sponsio_like.adapters.langgraph.sessions import Sessions
from sponsio_like.adapters.langgraph.standing import Stand, standing
from sponsio_like.adapters.langgraph.steps import begin, end, ended
from sponsio_like.errors import ContractError
from sponsio_like.guard import Guard
from sponsio_like.raising import blocked
from sponsio_like.rollcall import meet_all
from sponsio_like.running import Flow, Run, adrive, drive
from sponsio_like.session import Session


def guard_tools(
    builder: StateGraph[Any, Any, Any, Any],
    guard: Guard,
    tools: Sequence[BaseTool | Callable[..., Any]],
    *,
    name: str = "tools",
    messages_key: str = "messages",
    options: dict[str, Any] | None = None,
    **sessions: Any,
) -> StateGraph[Any, Any, Any, Any]:
    """Add a node of guarded tools, where `builder.add_node("tools", ToolNode(tools))` stood.

    `options` are those of `ToolNode`, but no wrappers. `sessions`: `agent` is whose calls these
    are; `scope="run"` begins a session with each run instead of each thread; `shared` is for
    graphs that run inside others; `world` is the store of contracts on the world; `facts` tells
    facts of the context before each batch; `clock`. Raises `InputMissing` and `ContractError` for
    contracts that could not be kept here. Where the strategy `stop` ends the run, the node raises
    `RunStopped` before any call of the batch runs.
    """
    opened = Sessions(guard, **sessions)
    refuse_answers(guard.policy)
    for each in ("wrap_tool_call", "awrap_tool_call"):
        if each in (options or {}):
            raise ContractError.of(
                f"`options` has `{each}`, which may change a call after it was decided",
                "wrap the tools, or use the middleware of sponsio_like.adapters.langchain",
            )
    inner = ToolNode(tools, name=name, messages_key=messages_key, **(options or {}))
    node = _Node(opened, inner, messages_key, name)
    meet_all(guard.policy, node.tools.arguments)
    runnable = RunnableCallable(node.run, node.arun, name=name, trace=False)
    return builder.add_node(name, runnable, input_schema=with_channel(builder.state_schema))


class _Node:
    """The node. Nothing is kept here between two batches but what can be lost."""

    def __init__(self, sessions: Sessions, inner: ToolNode, key: str, name: str) -> None:
        self._sessions = sessions
        self._inner = inner
        self._key = key
        self._name = name
        self.tools = Tools(inner.tools_by_name.values())

    def run(self, state: Any, config: RunnableConfig, runtime: Runtime[Any]) -> Any:
        return drive(self._flow(state, config, runtime, later=False))

    async def arun(self, state: Any, config: RunnableConfig, runtime: Runtime[Any]) -> Any:
        return await adrive(self._flow(state, config, runtime, later=True))

    def _flow(self, state: Any, config: RunnableConfig, runtime: Any, *, later: bool) -> Flow:
        """Decide the batch, run what may run, settle it."""
        opened = self._sessions
        stand = yield from standing(opened, state, config, runtime, later=later)
        messages = state[self._key] if isinstance(state, dict) else getattr(state, self._key)
        asking, heard = last_asking(messages), list[str]()
        stand = replace(stand, batch=(asking and asking.id) or stand.place.step)

        def tell_all(session: Session) -> None:
            heard[:] = stand.tell(session, state, config, messages)

        gate = stand.gate(tell_all, self.tools, again=opened.live.ran_before(stand.place.step))
        calls = self.tools.asked(unanswered(messages))
        batch = yield from gate.decide(calls, later=later, runs=True)
        outputs, entries = yield from self._outputs(stand, batch, state, later=later)
        after = stand.after(batch.session, {"heard": heard}, entries)
        return combined(outputs, {CHANNEL: after}, self._key, shared=opened.shared)

    def _outputs(self, stand: Stand, batch: Batch, state: Any, *, later: bool) -> Flow:
        """What comes of each call, in order; and what the session was told."""
        step, session = stand.place.step, batch.session
        runs = [each for each in batch.rulings if each.tool]
        with stand.running(session):
            if (
                batch.over is not None
            ):  # an edge would lead to the model: only an error surely ends it
                catch_up(session, [result(*each) for each in batch.dropped(step)])
                raise blocked(batch.over)
            ran = yield from self._ran(session, step, runs, state, later=later)
        told: list[Entry] = []
        for ruling, (output, inner) in zip(runs, ran, strict=True):
            told.extend(inner)
            if ruling.settles:
                came = result_of(output, ruling.asking.id)
                told.append(result(f"ended {step} {ruling.id}", ruling.id, came))
        catch_up(session, told)
        rest = iter(ran)
        outputs = [next(rest)[0] if each.tool else refusal(each) for each in batch.rulings]
        return outputs, [*decisions(step, runs, stand.by), *told]

    def _ran(
        self, session: Session, step: str, runs: list[Ruling], state: Any, *, later: bool
    ) -> Flow:
        """Run these: one as it is, several beside each other.

        Of each: what came of it, and what graphs inside of it have done.
        """
        ready = threading.Event()
        doing = [self._doing(each, step, state, ready, later=later) for each in runs]
        if len(doing) < 2:
            ready.set()
            return [(yield Run(doing[0]))] if doing else []
        try:
            waiting = self._begun(session, doing)
        finally:
            ready.set()
        results: list[Any] = []
        failed: list[BaseException] = []
        for each in waiting:
            try:
                results.append((yield Run(end, (each, later))))
            except GraphInterrupt as error:
                failed.append(error)
            except Exception as error:  # the others are waited for, then it goes on
                failed.insert(0, error)
        if failed:
            raise _first(failed)
        return results

    def _begun(self, session: Session, doing: list[Callable[[], Any]]) -> list[Any]:
        """Begin them, in order: that names them. What has ended before this run is told first."""
        waiting = [begin(each, f"{self._name}.call") for each in doing]
        for each in waiting:
            for _, inner in ended(each):
                catch_up(session, inner)
        return waiting

    def _doing(
        self, ruling: Ruling, step: str, state: Any, ready: threading.Event, *, later: bool
    ) -> Callable[[], Any]:
        call = {"name": ruling.tool, "args": dict(ruling.raw), "id": ruling.asking.id}
        given = {
            "__type": "tool_call_with_context",
            "tool_call": {**call, "type": "tool_call"},
            "state": state,
        }

        def run() -> Any:
            ready.wait()
            with within(step, ruling.id) as call:
                try:
                    output = self._inner.invoke(given)
                except ParentCommand as error:
                    output = _handed(error)
            return [output, list(call.entries.values())]

        async def arun() -> Any:
            with within(step, ruling.id) as call:
                try:
                    output = await self._inner.ainvoke(given)
                except ParentCommand as error:
                    output = _handed(error)
            return [output, list(call.entries.values())]

        return arun if later else run


def _handed(error: ParentCommand) -> Any:
    command = handed_here(error)
    if command is None:
        raise error
    return command


def _first(failed: list[BaseException]) -> BaseException:
    """What has to be raised: an error; else one interrupt, with the questions of all."""
    if not isinstance(failed[0], GraphInterrupt):
        return failed[0]
    return GraphInterrupt(tuple(each for error in failed for each in error.args[0]))
