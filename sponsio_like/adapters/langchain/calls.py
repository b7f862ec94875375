"""One call on its way through the middlewares: recorded outside of all, checked inside of all.

In: the request of a tool call. Out: what came of it, with a record of its result for the session.
What reaches the tool has to be what was decided; a call that another middleware has edited, or
runs a second time, is decided anew, as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.types import Command

from sponsio_like.adapters.langchain.siblings import siblings
from sponsio_like.adapters.langchain.ways import Way, begun, way_of
from sponsio_like.adapters.langgraph.answers import any_refused, refusal, result_of
from sponsio_like.adapters.langgraph.asking import Asking, Tools, last_asking, mark_of
from sponsio_like.adapters.langgraph.gate import Ruling
from sponsio_like.adapters.langgraph.journal import Entry
from sponsio_like.adapters.langgraph.lineage import CHANNEL
from sponsio_like.adapters.langgraph.sessions import Sessions
from sponsio_like.adapters.langgraph.standing import Stand, stand_of
from sponsio_like.running import Flow, Run


@dataclass(frozen=True)
class Calls:
    """The tool calls of one agent."""

    sessions: Sessions
    tools: Tools

    def recorded(self, request: Any, handler: Callable[[Any], Any], *, later: bool) -> Flow:
        """Outside of all: what came of the call is kept for the session."""
        stand, id, ended = self._stand(request), request.tool_call["id"], list[Entry]()
        if not stand.lives:
            where = (request.runtime.config, request.runtime, stand.kept.get("rev", ""), later)
            ended = yield Run(siblings, where)
        way = begun(
            request.runtime, lambda: Way(stand.beside(ended), stand.kept, id, _message(request))
        )
        agent, depth = stand.by
        try:
            with way.session.active(agent=agent, depth=depth):
                result = yield Run(handler, (request,))
        except BaseException:
            if way.anew:  # the graph forgets this step, and so does the session
                stand.forget()
            raise
        if way.ruling is None:
            return result
        if not way.entries:  # another middleware has answered
            way.came(way.own, result_of(result, id))
        return self._with(result, way, request)

    def _stand(self, request: Any) -> Stand:
        return stand_of(self.sessions, request.state, request.runtime.config, request.runtime)

    def _with(self, came: Any, way: Way, request: Any) -> Any:
        """What came of the call, and the records for the channel."""
        kept, heard = way.kept, way.refused or any_refused(request.state["messages"])
        value = {"rev": kept.get("rev", ""), "results": way.entries}
        more: dict[str, Any] = {"goto": "model"} if heard and _is_direct(request) else {}
        match came:
            case Command() if came.graph == Command.PARENT and not self.sessions.shared:
                return came
            case Command(update=update):
                if came.graph == Command.PARENT:  # this graph ends: the one around it goes on
                    value = {**kept, "results": [*kept.get("results", ()), *way.entries]}
                pairs = list(update.items()) if isinstance(update, Mapping) else list(update or ())
                return replace(came, update=[*pairs, (CHANNEL, value)])
            case ToolMessage():
                return Command(update={"messages": [came], CHANNEL: value}, **more)
            case list():
                return [*came, Command(update={CHANNEL: value}, **more)]
        return came

    def checked(self, request: Any, handler: Callable[[Any], Any]) -> Flow:
        """Inside of all: only what was decided runs."""
        way, call = way_of(request.runtime), request.tool_call
        if way is None or way.ruling is None:
            if not self._enforces:
                return (yield Run(handler, (request,)))
            why = f"`{call['name']}` was not decided with the others of its message; call it again"
            return refusal(Ruling(Asking(call["id"] or "", call["name"], call["args"]), told=why))
        way.ran += 1
        mark = mark_of(call["name"], call["args"])
        if way.ran == 1 and mark and way.ruling["mark"] == mark:
            going = self._as_ruled(request, way.ruling["tool"], way.ruling["raw"])
            return (yield from way.run(way.own, handler, going))
        if way.ran == 1:
            way.came(way.own, {"error": "it was changed before it ran"})
        ruling = self._ruling(request, way)
        if not ruling.tool:
            return _refused(way, ruling, call)
        going = self._as_ruled(request, ruling.tool, ruling.raw)
        return (yield from way.run(ruling.id, handler, going))

    @property
    def _enforces(self) -> bool:
        return self.sessions.guard.policy.enforces

    def _ruling(self, request: Any, way: Way) -> Ruling:
        """Decide what another middleware has made of the call, or runs again."""
        call, stand = request.tool_call, self._stand(request)
        (asking,) = self.tools.asked([{**call, "id": f"{way.id}/{way.ran}"}])
        gate = stand.gate(lambda _: None, self.tools)
        return way.decide(lambda: gate.ruling(way.session, asking), stand.by)

    def _as_ruled(self, request: Any, tool: str, raw: Mapping[str, Any]) -> Any:
        """The request, of the tool that was decided: the substitute, if the call is redirected."""
        if not self._enforces:
            return request
        own = self.tools.by_name[tool]
        if tool == request.tool_call["name"]:
            return request if request.tool is own else request.override(tool=own)
        call = {**request.tool_call, "name": tool, "args": dict(raw)}
        return request.override(tool_call=call, tool=own)


def _refused(way: Way, ruling: Ruling, call: Mapping[str, Any]) -> ToolMessage:
    """The answer to an attempt that does not run, under the id of its call."""
    way.refused = True
    asked = f"`{call['name']}` was changed, and a person would have to approve it"
    update = {"tool_call_id": call["id"], "content": ruling.told or asked}
    return refusal(ruling).model_copy(update=update)


def _message(request: Any) -> str | None:
    """The message that the model has asked for the call in."""
    asking = last_asking(request.state["messages"])
    return None if asking is None else asking.id


def _is_direct(request: Any) -> bool:
    """Whether the agent would end with the answer, and the model hear nothing."""
    return bool(getattr(request.tool, "return_direct", False))
