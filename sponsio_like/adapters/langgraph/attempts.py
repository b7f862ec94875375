"""Runs the body of one call: each run is as it was decided, or is decided then.

In: a call that was let through with the others of its message. Out: what came of its runs, and the
entries that the session was told. A run that was not decided as it comes (a middleware has edited
it, or runs it again; a policy retries the node) is decided then, as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp, ParentCommand
from langgraph.prebuilt import ToolNode

from sponsio_like.adapters.langgraph.answers import handed_here, refusal, result_of
from sponsio_like.adapters.langgraph.asked_calls import (
    Asking,
    Tools,
    alike,
    call_fingerprint,
    passing,
)
from sponsio_like.adapters.langgraph.channel import GuardPart, rev_of
from sponsio_like.adapters.langgraph.gate import Ruling, advised
from sponsio_like.adapters.langgraph.journal import JournalEntry, catch_up, decided_entry, result
from sponsio_like.adapters.langgraph.leases import TAKEN, Taken
from sponsio_like.adapters.langgraph.node_context import NodeContext
from sponsio_like.adapters.langgraph.pending_writes import is_saved
from sponsio_like.adapters.langgraph.place import within
from sponsio_like.adapters.langgraph.proxy import CHANGED, Changed
from sponsio_like.engine import decode
from sponsio_like.errors import SessionError
from sponsio_like.guard import Flow, Run, error_text
from sponsio_like.session import Session, fresh_id

AT_ONCE = "this call runs already: the same step of the thread was begun twice at once"
SPENT = "it did not run: the answer of a person lets it run once, and it has run"
"""The reason told of a call that was let through by an answer, and has run before."""


@dataclass
class RunningCall:
    """A call that runs: it was let through as `ruling`, with the others of its message.

    `entries`: what the session was told of it. `ran`: how often its body was about to run in this
    `execution` of its step, retries of a policy included.
    """

    stand: NodeContext
    tools: Tools
    session: Session
    id: str
    ruling: Mapping[str, Any]
    execution: Any
    state: Any
    ran: int = 0
    refused: bool = False
    unless: str = ""
    """The reason why it does not run, though it was let through; `""` if it may."""
    entries: list[JournalEntry] = field(default_factory=list)
    before: list[JournalEntry] = field(default_factory=list)
    """The entries of graphs inside of it that ran in another process."""
    heard: list[Any] = field(default_factory=list)
    """The values that the body has returned, where contracts only observe."""
    decided: Mapping[str, Any] = field(default_factory=dict)
    """The ruling that the body runs under now: the first one, or one of a later run."""

    @property
    def own(self) -> str:
        """The id that it was let through under."""
        return str(self.ruling["id"])

    @property
    def rev(self) -> str:
        """The name of the part that it was decided in; `""` if there is none."""
        return rev_of(self.stand.kept)

    @contextmanager
    def leased(self) -> Iterator[bool]:
        """Hold the call within the block, unless another run has taken it, or spent its answer.

        Yields True if a process that was at it has died. Raises `SessionError` if it lives.
        """
        question, live = self.ruling.get("answer", ""), self.stand.sessions.live
        if not self.session.policy.enforces:
            yield False
            return
        if question and not live.spend(question, self.stand.kept, self.own):
            self.unless = SPENT
        lease, came = None if self.unless else self.stand.lease(self.own, question), False
        try:
            leave = "first" if lease is None else lease.begin()
            self.unless = TAKEN if leave == "never" else self.unless
            yield leave == "again"
            came = True
        except Taken:
            raise SessionError(AT_ONCE) from None
        finally:
            if self.unless != SPENT and not (came and self.ran and not self.unless):
                live.give_back(question, self.own)
            if lease is not None:
                lease.end(came=came)

    def alone(self, work: Flow, config: Any, runtime: Any, *, later: bool) -> Flow:
        """Do the work of the call, which no other run of its step does meanwhile.

        Raises `SessionError` if one does, or has done it.
        """
        live, step = self.stand.sessions.live, self.stand.place.step
        if not live.begin(step, self) and self.session.policy.enforces:
            raise SessionError(AT_ONCE)
        try:
            with self.leased() as again:
                call = (self.own, self.rev)
                if again and (yield from is_saved(config, runtime, *call, later=later)):
                    raise SessionError(AT_ONCE)
                return (yield from work)
        except GraphBubbleUp:
            live.end(step)  # it is run from its start again
            raise
        finally:
            live.rests(step, self)

    def rests(self) -> None:
        """Let go of what is read again, should the call run once more in its step."""
        kept = self.stand.kept
        few: GuardPart = {key: kept[key] for key in ("rev", "line", "place") if key in kept}
        self.stand, self.state = replace(self.stand, kept=few, whole=None), None

    def again(self, stand: NodeContext, state: Any) -> RunningCall:
        """Return this call, which runs once more in its step."""
        self.stand, self.state = stand, state
        return self

    def flow(
        self, tool: BaseTool, call: Mapping[str, Any], go: Callable[[Any], Any], *, later: bool
    ) -> Flow:
        """Run the body, if it may run as it is called now; return its output, or the refusal."""
        self.ran += 1
        if not self.session.policy.enforces:
            output, self.heard = yield Run(go, (call,))
            return output
        if self.unless:
            return self._refusal(Ruling(Asking(self.id, call["name"], {}), why=self.unless), call)
        raw = self.tools.written(tool, call["args"])
        if self.ran == 1 and self._is_as_decided(tool, raw):
            return (yield from self._once(passing(call, self.ruling["raw"]), go))
        if self.ran == 1:
            self.came(self.own, {"error": CHANGED})
        ruling = self._decided({**call, "name": tool.name, "args": raw}, tool)
        if not ruling.tool:
            yield from advised([ruling], later=later)
            return self._refusal(ruling, call)
        if ruling.tool == tool.name:
            return (yield from self._body(ruling.kept(), passing(call, ruling.raw), go))
        other = {**call, "name": ruling.tool, "args": dict(ruling.raw)}
        go = _going(self.tools.by_name[ruling.tool], self.state, later=later)
        return (yield from self._body(ruling.kept(), other, go))

    def _is_as_decided(self, tool: BaseTool, raw: Mapping[str, Any]) -> bool:
        """True if the contracts have read what this tool receives now."""
        decided, known = self.ruling, self.tools.by_name.get(tool.name)
        if tool.name != decided["tool"] or not decided["mark"]:
            return False
        passed = self.tools.written(tool, decided["raw"])
        if not alike(raw, passed):
            mark = call_fingerprint(tool.name, raw)
            if not mark or mark not in (decided["mark"], call_fingerprint(tool.name, passed)):
                return False
        if decided.get("blind"):
            self.tools.learn([tool])
            read: Any = passed
        elif known is None or known is tool:
            return True
        else:
            read = self.tools.received_by(known, passed)
        receives: Any = self.tools.received_by(tool, passed)
        return call_fingerprint(tool.name, read) == call_fingerprint(tool.name, receives)

    def _body(
        self, as_: Mapping[str, Any], call: Mapping[str, Any], go: Callable[..., Any]
    ) -> Flow:
        """Run the body of the tool, and tell the session its result."""
        try:
            came = yield from self.body(as_, Run(go, (call,)))
        except Changed as changed:
            return self._refusal(changed.ruling, call)
        output, returned = came if isinstance(came, tuple) else (came, [])
        self.came(self.decided["id"], result_of(output, call["id"], returned))
        return output

    def body(self, as_: Mapping[str, Any], work: Run) -> Flow:
        """Run a body as it was decided; return what it gives, or the command that it hands over.

        The session is told of its error, and of what is done inside; an interrupt is no result yet.
        """
        self.decided = as_
        guard, place = self.stand.sessions.guard, self.stand.kept.get("place", "")
        with within(guard, place, as_["id"], self.before) as here:
            try:
                came = yield work
            except ParentCommand as error:
                if (came := handed_here(error)) is None:
                    raise
            except (GraphBubbleUp, Changed):
                raise
            except Exception as error:
                self.entries.extend(here.entries.values())
                self.came(self.decided["id"], {"error": error_text(error)})
                raise
        self.entries.extend(here.entries.values())
        return came

    def _once(self, call: Mapping[str, Any], go: Callable[[Any], Any]) -> Flow:
        """Run the body as it was decided; if it fails, what a person has said lets it run again."""
        try:
            return (yield from self._body(self.ruling, call, go))
        except BaseException:
            self.stand.sessions.live.give_back(self.ruling.get("answer", ""), self.own)
            raise

    def came(self, id: str, what: Mapping[str, Any]) -> None:
        """Tell the session at once what a run has come to: `output`, or `error`."""
        self._note(result(fresh_id(), id, what))

    def _note(self, entry: JournalEntry) -> None:
        self.entries.append(entry)
        catch_up(self.session, self.entries)

    def _decided(self, call: Mapping[str, Any], tool: BaseTool) -> Ruling:
        """Decide a run that was not decided with the others."""
        catch_up(self.session, self.entries)
        again, of = {**call, "id": f"{self.id}/{self.ran}"}, self.ruling["of"]
        (asking,) = self.tools.asked([again], of, tool)
        return self.ruled(asking)

    def ruled(self, asking: Asking) -> Ruling:
        """Decide this run, tell the session if it is let through, and return the ruling."""
        ruling = self.stand.gate(lambda _: None, self.tools).ruling(self.session, asking)
        if ruling.settles:
            self._note(decided_entry(fresh_id(), ruling, self.stand.by))
        return ruling

    def _refusal(self, ruling: Ruling, call: Mapping[str, Any]) -> ToolMessage:
        self.refused = True
        update = {"tool_call_id": call["id"], "content": ruling.told or self._waits(call["name"])}
        return refusal(ruling).model_copy(update=update)

    def _waits(self, tool: str) -> str:
        """Return what the model is told of a run that a person would have to approve."""
        errors = [decode(each["error"]) for each in self.entries if "error" in each]
        if failed := [each for each in errors if each != CHANGED]:
            return (
                f"`{tool}` has failed ({failed[-1]}), and a person would have to approve it again"
            )
        if self.ran > 1:
            return f"`{tool}` has run, and a person would have to approve it again"
        return f"`{tool}` was changed, and a person would have to approve it"


def _going(tool: BaseTool, state: Any, *, later: bool) -> Callable[[Any], Any]:
    """Return what runs the tool that a call is redirected to, when its body is about to run.

    With all that LangGraph injects; it gives the answer, and an empty list.
    """
    node = ToolNode([tool], handle_tool_errors=False)

    def given(call: Mapping[str, Any]) -> dict[str, Any]:
        whole = {**call, "type": "tool_call"}
        return {"__type": "tool_call_with_context", "tool_call": whole, "state": state}

    def answer(came: Any) -> tuple[Any, list[Any]]:
        found = came["messages"] if isinstance(came, Mapping) else came
        return found[0] if len(found) == 1 else found, []

    async def arun(call: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        return answer(await node.ainvoke(given(call)))

    return arun if later else lambda call: answer(node.invoke(given(call)))
