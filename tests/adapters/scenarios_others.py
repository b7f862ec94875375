"""Scenarios about one run: parallel calls, retries, streams, graphs that keep nothing.

In: a way. Out: the story of what was observed.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain.agents.middleware import ToolRetryMiddleware
from langgraph.config import get_stream_writer
from langgraph.types import RetryPolicy

from tests.adapters.apps import App, Way, charge, kit, made_tool, opened
from tests.adapters.harness import Call
from tests.adapters.rules import few, pay, small, spending


def eight(way: Way) -> str:
    """Eight parallel payments of 30."""
    app = opened(kit(way, spending(100)))
    app.note("first", app.say([pay(30, each) for each in "abcdefgh"]))
    app.note("then", app.say([pay(10, "i"), pay(1, "j")]))
    return app.told()


def no_checkpointer(way: Way) -> str:
    """The graph is compiled without a checkpointer, and a contract remembers."""
    made = kit(way, spending(100))
    app = App(made, made.agent)
    app.note_of("first", lambda: app.say([pay(60, "a")]))
    return app.told()


def no_thread(way: Way) -> str:
    """The graph has a checkpointer, but the config no `thread_id`."""
    app = opened(kit(way, spending(100)))
    app.thread = None
    app.note_of("first", lambda: app.say([pay(60, "a")]))
    return app.told()


def no_memory(way: Way) -> str:
    """No checkpointer and no `thread_id`, and no contract remembers: each payment at most 50."""
    made = kit(way, small(50))
    app = App(made, made.agent, None)
    app.note("first", app.say([pay(60, "a"), pay(50, "b")]))
    return app.told()


def scope_run(way: Way) -> str:
    """With `scope="run"` the session is one run; nothing is saved."""
    made = kit(way, spending(100))
    app = App(made, lambda: made.agent(scope="run"), None)
    app.note("first", app.say([pay(60, "a")], [pay(60, "b")]))
    app.note("second", app.say([pay(60, "a")], [pay(60, "b")]))
    return app.told()


def retry(way: Way) -> str:
    """A charge fails, and `RetryPolicy` or `ToolRetryMiddleware` tries again; two are allowed."""
    made, fails = kit(way, spending(100), few("charge", 2)), iter([True])

    def meanwhile() -> Iterator[None]:
        if next(fails, False):
            raise ConnectionError("not now")
        yield

    policy: dict[str, Any] = {"max_retries": 2, "initial_delay": 0.0, "jitter": False}
    again = ToolRetryMiddleware(retry_on=(ConnectionError,), **policy)
    options = {"change": _retried} if way.adapter == "node" else {"others": [again]}
    app = opened(made, made.charging(meanwhile), **options)
    app.note("first", app.say([pay(60, "a"), charge(5, "b")]))
    app.note("then", app.say([pay(40, "c"), charge(5, "d")], [pay(1, "e"), charge(5, "f")]))
    return app.told()


def _retried(builder: Any) -> None:
    policy = RetryPolicy(initial_interval=0.0, jitter=False, retry_on=ConnectionError)
    builder.nodes["tools"] = replace(builder.nodes["tools"], retry_policy=policy)


def streams(way: Way) -> str:
    """A run is streamed in four modes; three tools write to the stream, and a call is refused."""

    def work(what: str) -> str:
        get_stream_writer()({"doing": what})
        return f"did {what}"

    async def awork(what: str) -> str:
        return work(what)

    app = opened(kit(way, spending(100)), made_tool(way, work, awork))
    half, rest, more = (Call("work", {"what": each}, each) for each in ("half", "rest", "more"))
    app.kit.script[:] = [[half, rest, pay(101, "c")], [more], "done"]
    streamed = _streamed(app)
    final = [each.id for each in streamed["values"][-1]["messages"] if each.type != "human"]
    updated = [each.id for chunk in streamed["updates"] for each in _messages(chunk)]
    shown = [each.id for each, _ in streamed["messages"]]
    custom = sorted(each["doing"] for each in streamed["custom"])
    app.story.append(f"the tools write {', '.join(custom)}")
    app.story.append(f"`messages` has {_often(shown, final)}")
    app.story.append(f"`updates` has {_often(updated, final)}")
    return app.told()


def _often(found: Sequence[str], wanted: Sequence[str]) -> str:
    counts = Counter(found)
    if set(counts) != set(wanted):
        return f"{len(counts)} of {len(wanted)} messages"
    twice = sum(n == 2 for n in counts.values())
    return "every message once" if not twice else f"every message, {twice} of them twice"


def _messages(chunk: Mapping[str, Any]) -> list[Any]:
    return [each for update in chunk.values() if update for each in update.get("messages", ())]


def _streamed(app: App) -> dict[str, list[Any]]:
    """The chunks of a run, by mode."""
    given, modes = {"messages": [("user", "go on")]}, ["values", "updates", "messages", "custom"]

    async def astreamed() -> list[tuple[str, Any]]:
        return [each async for each in app.graph.astream(given, app.config, stream_mode=modes)]

    later = app.kit.way.later
    chunks = (
        asyncio.run(astreamed())
        if later
        else list(app.graph.stream(given, app.config, stream_mode=modes))
    )
    return {mode: [chunk for of, chunk in chunks if of == mode] for mode in modes}
