"""One call from its decision to its result, through all that stands around its tool.

In: the request of a tool call. Out: what came of it, with the entries of its results for the
channel. The tool asks before each run of its body: what was not decided as it comes (a middleware
has edited it, or runs it again; a policy retries the node) is decided then, as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp, ParentCommand
from langgraph.types import Command

from sponsio_like.adapters.langgraph import proxy
from sponsio_like.adapters.langgraph.answers import handed_here, refusal, refused, result_of
from sponsio_like.adapters.langgraph.asking import Asking, Tools, last_asking, mark_of, passing
from sponsio_like.adapters.langgraph.bodies import CHANGED, Changed
from sponsio_like.adapters.langgraph.gate import Ruling
from sponsio_like.adapters.langgraph.journal import Entry, catch_up, decision, result
from sponsio_like.adapters.langgraph.lineage import CHANNEL
from sponsio_like.adapters.langgraph.outer import within
from sponsio_like.adapters.langgraph.sessions import Sessions
from sponsio_like.adapters.langgraph.siblings import siblings
from sponsio_like.adapters.langgraph.standing import Stand, stand_of
from sponsio_like.naming import fresh
from sponsio_like.running import Flow, Run, adrive, drive, told
from sponsio_like.session import Session


@dataclass
class Running:
    """A call that runs: it was let through as `ruling`, with the others of its message.

    `entries`: what the session was told of it. `ran`: how often its body was about to run in this
    `execution` of its step, retries of a policy included.
    """

    stand: Stand
    tools: Tools
    session: Session
    id: str
    ruling: Mapping[str, Any]
    execution: Any
    ran: int = 0
    refused: bool = False
    entries: list[Entry] = field(default_factory=list)
    heard: list[Any] = field(default_factory=list)
    """What the body has returned, where contracts only watch."""
    decided: Mapping[str, Any] = field(default_factory=dict)
    """What the body that runs was let through as."""

    @property
    def own(self) -> str:
        """The id that it was let through under."""
        return str(self.ruling["id"])

    def run(self, tool: BaseTool, call: Mapping[str, Any], go: Callable[[Any], Any]) -> Any:
        """Run the body, if it may run as it is called now."""
        return drive(self._flow(tool, call, go))

    async def arun(self, tool: BaseTool, call: Mapping[str, Any], go: Callable[[Any], Any]) -> Any:
        """As `run`."""
        return await adrive(self._flow(tool, call, go))

    def _flow(self, tool: BaseTool, call: Mapping[str, Any], go: Callable[[Any], Any]) -> Flow:
        self.ran += 1
        if not self.stand.sessions.guard.policy.enforces:
            output, self.heard = yield Run(go, (call,))
            return output
        raw = self.tools.written(tool, call["args"])
        if self.ran == 1 and self._is_as_decided(tool, raw):
            return (yield from self._body(self.ruling, passing(call, self.ruling["raw"]), go))
        if self.ran == 1:
            self.came(self.own, {"error": CHANGED})
        ruling = self._decided({**call, "name": tool.name, "args": raw}, tool)
        if not ruling.tool:
            return self._refusal(ruling, call)
        if ruling.tool == tool.name:
            return (yield from self._body(ruling.kept(), passing(call, ruling.raw), go))
        other = {**call, "name": ruling.tool, "args": dict(ruling.raw)}
        other_tool = self.tools.by_name[ruling.tool]
        kept = ruling.kept()
        return (yield from self._body(kept, other, lambda it: (other_tool.invoke(it), [])))

    def _is_as_decided(self, tool: BaseTool, raw: Mapping[str, Any]) -> bool:
        """Whether the contracts have read what this tool receives now."""
        decided, known = self.ruling, self.tools.by_name.get(tool.name)
        mark, passed = mark_of(tool.name, raw), self.tools.written(tool, decided["raw"])
        same = mark in (decided["mark"], mark_of(tool.name, passed))
        if not mark or tool.name != decided["tool"] or not same:
            return False
        if decided.get("blind"):
            self.tools.learn([tool])
            read: Any = passed
        elif known is None or known is tool:
            return True
        else:
            read = self.tools.received_by(known, passed)
        receives: Any = self.tools.received_by(tool, passed)
        return mark_of(tool.name, read) == mark_of(tool.name, receives)

    def _body(
        self, as_: Mapping[str, Any], call: Mapping[str, Any], go: Callable[..., Any]
    ) -> Flow:
        """Run the body, and tell the session what comes of it; an interrupt is nothing yet."""
        self.decided = as_
        with within(self.stand.kept.get("place", ""), as_["id"]) as here:
            try:
                output, returned = yield Run(go, (call,))
            except ParentCommand as error:
                output, returned = handed_here(error), []
                if output is None:
                    raise
            except GraphBubbleUp:
                raise
            except Changed as changed:
                return self._refusal(changed.ruling, call)
            except Exception as error:
                self.entries.extend(here.entries.values())
                self.came(self.decided["id"], {"error": told(error)})
                raise
        self.entries.extend(here.entries.values())
        self.came(self.decided["id"], result_of(output, call["id"], returned))
        return output

    def came(self, id: str, what: Mapping[str, Any]) -> None:
        """This has come of a run: `output`, or `error`. The session is told at once."""
        self._note(result(fresh(), id, what))

    def _note(self, entry: Entry) -> None:
        self.entries.append(entry)
        catch_up(self.session, self.entries)

    def _decided(self, call: Mapping[str, Any], tool: BaseTool) -> Ruling:
        """Decide a run that was not decided with the others."""
        catch_up(self.session, self.entries)
        again, of = {**call, "id": f"{self.id}/{self.ran}"}, self.stand.kept.get("of")
        (asking,) = self.tools.asked([again], of, tool)
        return self.ruled(asking)

    def ruled(self, asking: Asking) -> Ruling:
        """Decide this run."""
        ruling = self.stand.gate(lambda _: None, self.tools).ruling(self.session, asking)
        if ruling.settles:
            self._note(decision(fresh(), ruling, self.stand.by))
        return ruling

    def _refusal(self, ruling: Ruling, call: Mapping[str, Any]) -> ToolMessage:
        self.refused = True
        asked = f"`{call['name']}` was changed, and a person would have to approve it"
        update = {"tool_call_id": call["id"], "content": ruling.told or asked}
        return refusal(ruling).model_copy(update=update)


@dataclass(frozen=True)
class Calls:
    """The tool calls of one agent, or of one node.

    `back`: the node that sends the model on, where the agent would end before it hears a refusal.
    """

    sessions: Sessions
    tools: Tools
    key: str = "messages"
    back: str = ""

    # --- around the tool --------------------------------------------------------------------------

    def whole(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Both `recorded` and `checked`, where no middleware stands between them."""
        return drive(self.recorded(request, lambda it: handler(self.checked(it)), later=False))

    async def awhole(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """As `whole`."""
        return await adrive(
            self.recorded(request, lambda it: handler(self.checked(it)), later=True)
        )

    def recorded(self, request: Any, handler: Callable[[Any], Any], *, later: bool) -> Flow:
        """Outside of all: what comes of the call, with the entries of its results."""
        stand = stand_of(self.sessions, request.runtime.config, request.runtime)
        ruling = self._rulings(stand, request).get(request.tool_call["id"])
        if ruling is not None and "told" in ruling:
            return self._refused(ruling, request)
        running = yield from self._running(stand, request, later=later)
        if running is None:
            return (yield Run(self._undecided if self._enforces else handler, (request,)))
        agent, depth = stand.by
        live = self.sessions.live
        live.begin(stand.place.step, running)
        try:
            with running.session.active(agent=agent, depth=depth):
                came = yield Run(handler, (request,))
        except GraphBubbleUp:
            live.end(stand.place.step)  # it is run from its start again
            raise
        finally:
            proxy.release(running)
        if not running.entries:  # another middleware has answered
            running.came(running.own, result_of(came, request.tool_call["id"], running.heard))
        return self._with(came, running, request)

    def checked(self, request: Any) -> Any:
        """Inside of all: the request of a tool that asks before it runs."""
        running: Running | None = self.sessions.live.running(self._step(request))
        if running is None:
            return request
        ruling, call, tool = running.ruling, request.tool_call, request.tool
        changed = ruling["tool"] != ruling["asked"] or ruling.get("edited")
        if changed and call["name"] == ruling["asked"]:
            tool = tool if ruling.get("edited") else self.tools.by_name[ruling["tool"]]
            if mark_of(call["name"], call["args"]) == ruling["mark"]:
                call = {**call, "name": ruling["tool"], "args": dict(ruling["raw"])}
        return proxy.asking(request, tool, running, call)

    # --- what is known of it ----------------------------------------------------------------------

    def _running(self, stand: Stand, request: Any, *, later: bool) -> Flow:
        """The call as it was let through; the same one, if a policy tries its node again."""
        known: Running | None = self.sessions.live.running(stand.place.step)
        here = request.runtime.execution_info
        if known is not None and (here.node_attempt > 1 or known.execution is here):
            return known
        id, kept = request.tool_call["id"], stand.kept
        if (ruling := self._rulings(stand, request).get(id)) is None:
            return None
        ended: list[Entry] = []
        if not stand.lives:
            where = (request.runtime.config, request.runtime, kept.get("rev", ""), later)
            ended = yield Run(siblings, where)
        return Running(stand, self.tools, stand.beside(ended), id, ruling, here)

    def _rulings(self, stand: Stand, request: Any) -> Mapping[str, Any]:
        """What was decided of the message that this call is of."""
        kept = stand.kept
        return kept.get("rulings", {}) if kept.get("of") == self._message(request) else {}

    def _refused(self, ruling: Mapping[str, Any], request: Any) -> Any:
        """The answer to a call that was refused with the others of its message."""
        call = request.tool_call
        answer = refused(call["id"], call["name"], ruling["told"], ruling["contracts"])
        if not self._ends(request):
            return answer
        return Command(update={self.key: [answer]}, goto=self.back)

    def _ends(self, request: Any) -> bool:
        """Whether the agent would end with the answer, and the model hear nothing."""
        return bool(self.back) and bool(getattr(request.tool, "return_direct", False))

    def _undecided(self, request: Any) -> ToolMessage:
        call = request.tool_call
        why = f"`{call['name']}` was not decided with the others of its message; call it again"
        return refusal(Ruling(Asking(call["id"] or "", call["name"], call["args"]), told=why))

    @property
    def _enforces(self) -> bool:
        return self.sessions.guard.policy.enforces

    def _step(self, request: Any) -> str:
        return stand_of(self.sessions, request.runtime.config, request.runtime).place.step

    def _messages(self, request: Any) -> Any:
        state = request.state
        return state[self.key] if isinstance(state, Mapping) else getattr(state, self.key)

    def _message(self, request: Any) -> str | None:
        """The message that the model has asked for the call in."""
        asking = last_asking(self._messages(request))
        return None if asking is None else asking.id

    def _with(self, came: Any, running: Running, request: Any) -> Any:
        """What came of the call, and the entries for the channel."""
        kept = running.stand.kept
        heard = running.refused or any("told" in each for each in kept["rulings"].values())
        value = {"rev": kept.get("rev", ""), "results": running.entries}
        more: dict[str, Any] = {"goto": self.back} if heard and self._ends(request) else {}
        match came:
            case Command() if came.graph == Command.PARENT and not self.sessions.shared:
                return came
            case Command(update=update):
                if came.graph == Command.PARENT:  # this graph ends: the one around it goes on
                    results = [*kept.get("results", ()), *running.entries]
                    value = {**kept, "results": results}
                if isinstance(update, Mapping):  # as middlewares around ours know it
                    return replace(came, update={**update, CHANNEL: value})
                return replace(came, update=[*(update or ()), (CHANNEL, value)])
            case ToolMessage():
                return Command(update={self.key: [came], CHANNEL: value}, **more)
            case list():
                return [*came, Command(update={CHANNEL: value}, **more)]
        return came
