"""Leads one call from its decision to its result, through all that stands around its tool.

In: the request of a tool call. Out: what came of it, with the entries of its results for the
channel; or the answer that it was refused with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.types import Command

from sponsio_like.adapters.langgraph import proxy
from sponsio_like.adapters.langgraph.answers import refusal, refused, result_of
from sponsio_like.adapters.langgraph.asked_calls import Asking, Tools, call_fingerprint, last_asking
from sponsio_like.adapters.langgraph.attempts import RunningCall
from sponsio_like.adapters.langgraph.channel import CHANNEL, GuardPart
from sponsio_like.adapters.langgraph.gate import Ruling
from sponsio_like.adapters.langgraph.journal import JournalEntry, catch_up
from sponsio_like.adapters.langgraph.node_context import NodeContext, read_context
from sponsio_like.adapters.langgraph.payloads import messages_of
from sponsio_like.adapters.langgraph.pending_writes import ended_in
from sponsio_like.adapters.langgraph.place import place_of
from sponsio_like.adapters.langgraph.sessions import Sessions, undisturbed
from sponsio_like.errors import SessionError
from sponsio_like.guard import Flow, Run, adrive, drive

HALF = (
    "this call was not decided before it reached the second middleware of the pair; give the agent "
    "both: middleware=guarded(guard, tools)"
)


@dataclass(frozen=True)
class Calls:
    """The tool calls of one agent, or of one node.

    `back`: the node that sends the model on, where the agent would end before it hears a refusal.
    """

    sessions: Sessions
    tools: Tools
    key: str = "messages"
    back: str = ""
    node: str = ""
    """The node of a graph that calls are sent to when they were decided; in an agent, none."""
    inside: list[bool] = field(default_factory=list, compare=False)
    """Not empty, when the second middleware of the pair was met: it checks calls inside of all."""

    # --- around the tool --------------------------------------------------------------------------

    def whole(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Run the call, outside of all middlewares; return its result with entries for the channel.

        Unless a middleware inside of all others does, it checks the call, too. Raises
        `SessionError` if the same step of the thread runs already.
        """
        return drive(self._recorded(request, handler, later=False))

    async def awhole(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Do what `whole` does, asynchronously."""
        return await adrive(self._recorded(request, handler, later=True))

    def _recorded(self, request: Any, handler: Callable[[Any], Any], *, later: bool) -> Flow:
        running = yield from undisturbed(
            self.sessions.guard, self._running(request, later=later), lambda: None
        )
        if not isinstance(running, (RunningCall, type(None))):
            return running
        if running is None:
            return (yield Run(self._undecided if self._enforces else handler, (request,)))
        stand: NodeContext = running.stand
        agent, depth = stand.by

        def work() -> Flow:
            with running.session.active(agent=agent, depth=depth):
                inner = request if self.inside else self._checked(request, running)
                return (yield Run(handler, (inner,)))

        at = (request.runtime.config, request.runtime)
        try:
            came = yield from running.alone(work(), *at, later=later)
        finally:
            proxy.release(running)
        ended = self._ended(came, running, request)
        came = yield from undisturbed(self.sessions.guard, ended, lambda: came)
        running.rests()
        return came

    def _ended(self, came: Any, running: RunningCall, request: Any) -> Flow:
        """Return the result of the call, with the entries for the channel."""
        if not running.entries:  # another middleware has answered
            answer = result_of(came, request.tool_call["id"], running.heard)
            running.came(running.own, answer)
        return (yield Run(self._with, (came, running, request)))

    def checked(self, request: Any) -> Any:
        """Return the request, inside of all middlewares, with a tool that asks before it runs."""
        running: RunningCall | None = self.sessions.live.running(self._step(request))
        if running is None and self._enforces:
            raise SessionError(HALF)
        if running is None:
            return request
        return self._checked(request, running.again(running.stand, request.state))

    def _checked(self, request: Any, running: RunningCall) -> Any:
        ruling, call, tool = running.ruling, request.tool_call, request.tool
        changed = ruling["tool"] != ruling["asked"] or ruling.get("edited")
        if changed and call["name"] == ruling["asked"]:
            tool = tool if ruling.get("edited") else self.tools.by_name[ruling["tool"]]
            if call_fingerprint(call["name"], call["args"]) == ruling["mark"]:
                call = {**call, "name": ruling["tool"], "args": dict(ruling["raw"])}
        return proxy.asking(request, tool, running, call)

    def meet(self) -> None:
        """Note that a middleware inside of all others checks the calls."""
        self.inside[:] = [True]

    # --- what is known of it ----------------------------------------------------------------------

    def _running(self, request: Any, *, later: bool) -> Flow:
        """Return the call as it was let through; the same one, if a policy tries its node again.

        Return the answer to it, if it was refused; None if it was not decided.
        """
        stand = read_context(self.sessions, request.runtime.config, request.runtime)
        known: RunningCall | None = self.sessions.live.running(stand.place.step)
        here = request.runtime.execution_info
        if known is not None and (here.node_attempt > 1 or known.execution is here):
            return known.again(stand, request.state)
        id, kept = request.tool_call["id"], stand.kept
        key = f"{self.node}/{request.tool_call.get('own')}" if self.node else id
        ruling = kept.get("rulings", {}).get(key)
        if ruling is None or not (self.node or ruling["of"] == self._message(request)):
            return None
        if "told" in ruling:
            return self._refused(ruling, request)
        config, ended = request.runtime.config, list[JournalEntry]()
        before = yield from stand.done_inside(ruling["id"], config, request.runtime, later=later)
        if not stand.lives:
            rev = kept.get("rev", "")
            ended = yield from ended_in(config, request.runtime, rev, 1, later=later)
        session = stand.beside(ruling["id"], ended)
        catch_up(session, before)
        return RunningCall(
            stand, self.tools, session, id, ruling, here, request.state, before=before
        )

    def _refused(self, ruling: Mapping[str, Any], request: Any) -> Any:
        """Return the answer to a call that was refused with the others of its message."""
        call = request.tool_call
        answer = refused(call["id"], call["name"], ruling["told"], ruling["contracts"])
        if not self._ends(request):
            return answer
        return Command(update={self.key: [answer]}, goto=self.back)

    def _ends(self, request: Any) -> bool:
        """True if the agent would end with the answer, and the model hear nothing."""
        return bool(self.back) and bool(getattr(request.tool, "return_direct", False))

    def _undecided(self, request: Any) -> ToolMessage:
        call = request.tool_call
        why = f"`{call['name']}` was not decided with the others of its message; call it again"
        return refusal(Ruling(Asking(call["id"] or "", call["name"], call["args"]), why=why))

    @property
    def _enforces(self) -> bool:
        return self.sessions.guard.policy.enforces

    def _step(self, request: Any) -> str:
        return place_of(request.runtime.config, request.runtime).step

    def _message(self, request: Any) -> str | None:
        """Return the id of the model's message that asks for the call; None if there is none."""
        asking = last_asking(messages_of(request.state, self.key))
        return None if asking is None else asking.id

    def _with(self, came: Any, running: RunningCall, request: Any) -> Any:
        """Add the entries for the channel to the result of the call."""
        kept = running.stand.kept
        value: GuardPart = {"rev": running.rev, "results": running.entries}
        more: dict[str, Any] = {}
        if self._ends(request) and (
            running.refused or any("told" in each for each in kept["rulings"].values())
        ):
            more["goto"] = self.back
        match came:
            case Command() if came.graph == Command.PARENT and not self.sessions.shared:
                return came
            case Command(update=update):
                if came.graph == Command.PARENT:  # this graph ends: the one around it goes on
                    results = [*kept.get("results", ()), *running.entries]
                    value = {**kept, "results": results}
                value = self.sessions.wrote(value)
                if isinstance(update, Mapping):  # as middlewares around ours know it
                    inner = update.get(CHANNEL, {})  # of a graph inside, which shares the channel
                    return replace(came, update={**update, CHANNEL: {**inner, **value}})
                return replace(came, update=[*(update or ()), (CHANNEL, value)])
            case ToolMessage():
                return Command(
                    update={self.key: [came], CHANNEL: self.sessions.wrote(value)}, **more
                )
            case list():
                return [*came, Command(update={CHANNEL: self.sessions.wrote(value)}, **more)]
        return came
