"""The node that decides: all calls of a batch in order, before any of them runs.

In: the state of the graph, and the session of its channel. Out: the next value of the channel, and
where each call goes: to run, to be answered with a refusal, or to wait until people were asked.
What was decided is therefore part of a checkpoint before a tool runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.graph import StateGraph
from langgraph.types import Command, Send, interrupt

from sponsio_like.adapters.langgraph.asked_calls import Asking, Tools
from sponsio_like.adapters.langgraph.channel import CHANNEL, GuardPart, rev_of
from sponsio_like.adapters.langgraph.gate import Batch, BatchGate, Ruling, advised
from sponsio_like.adapters.langgraph.journal import JournalEntry, catch_up, result
from sponsio_like.adapters.langgraph.node_context import NodeContext, newest, node_context
from sponsio_like.adapters.langgraph.payloads import SENT, Sent, is_given, to_decide
from sponsio_like.adapters.langgraph.people import AskedCall, question
from sponsio_like.adapters.langgraph.place import Place, place_of, turn_of
from sponsio_like.adapters.langgraph.routes import Exits, decides, node_of, state_of
from sponsio_like.adapters.langgraph.sessions import (
    Sessions,
    read_channels,
    successor,
    undisturbed,
)
from sponsio_like.guard import Flow, blocked_exception
from sponsio_like.outcome import Blocked
from sponsio_like.session import Session


class Asks(NamedTuple):
    """Calls that are to be decided, the name of their batch, and the messages before them.

    `at`: of each call the payload that brought it, by its place among those that were sent.
    """

    of: str
    calls: list[Asking]
    messages: Sequence[Any]
    at: Sequence[int] = ()


@dataclass(frozen=True)
class Decide:
    """The node that decides for the node `name`.

    `asks` says what is to be decided, from the state, the payloads that were sent (None if none
    were), a name for the batch and the config; `sent` what the node receives of a call that was
    decided.
    `channels` are those of the state.
    """

    sessions: Sessions
    tools: Tools
    name: str
    schema: Any
    channels: tuple[str, ...]
    exits: Exits
    asks: Callable[[Any, list[Any] | None, str, RunnableConfig], Asks]
    sent: Callable[[Ruling], Sent]

    def add(self, builder: StateGraph[Any, Any, Any, Any], *, defer: bool = False) -> None:
        """Add the node, and its edges to the node that it decides for."""
        name = decides(self.name)
        builder.add_node(name, node_of(self.flow, name), defer=defer)
        route = RunnableCallable(self.route, name="route", trace=False)
        builder.add_conditional_edges(name, route)

    def flow(self, *given: Any, later: bool) -> Flow:
        """Decide the batch; return the next value of the channel, and where the calls go."""
        work = self._flow(*given, later=later)
        return undisturbed(self.sessions.guard, work, lambda: self._unseen(*given))

    def _unseen(self, state: Any, config: RunnableConfig, runtime: Any) -> Command[Any]:
        """Let all calls run, as deciding failed and nothing is enforced."""
        kept = self.sessions.mine(read_channels(config, CHANNEL))
        state, payloads, of = self._given(state, config, "-")
        asks = self.asks(state, payloads, of, config)
        every = [Ruling(each, tool=each.tool, raw=each.raw) for each in asks.calls]
        plan = self._plan(every, place_of(config, runtime), asks, payloads)
        more = {"loose": True, "batch": asks.of, "rulings": {}, **plan, **self._step(config)}
        without = ("instead", "results", "given")
        old = {key: each for key, each in kept.items() if key not in without}
        after = successor(kept, more, shared=self.sessions.shared)
        return self._on(self.sessions.wrote({**old, **after}))

    def _given(
        self, state: Any, config: RunnableConfig, step: str
    ) -> tuple[Any, list[Any] | None, str]:
        """Return the state of the graph, the payloads that were sent, and a name for the batch."""
        if not is_given(state):
            return state, None, f"{self.name} {step}"
        whole = state_of(self.schema, read_channels(config, list(self.channels)))
        return whole, state.get("given"), state.get("of") or f"{self.name} {step}"

    def route(self, _: Any, config: RunnableConfig) -> Any:
        """Return where the decided calls go; back, if they are not those of the state any more.

        LangGraph asks after `update_state`, which may have changed them.
        """
        kept = self.sessions.mine(read_channels(config, CHANNEL, fresh=True))
        if kept.get("given") is None:
            state = state_of(self.schema, read_channels(config, list(self.channels), fresh=True))
            asks = self.asks(state, None, kept.get("batch", ""), config)
            if [each["mark"] for each in kept.get("plan", [])] != list(map(_mark, asks.calls)):
                return decides(self.name)
        return self._sends(kept)

    def _sends(self, kept: GuardPart) -> list[Any]:
        """Return where the calls of a part go, or what happens instead."""
        plan, payloads = kept.get("plan", []), kept.get("given")
        sent = [each["sent"] for each in plan] or [{SENT: "none"}]
        if instead := kept.get("instead"):
            sent = [{**instead, **({} if payloads is None else {"given": payloads})}]
        elif payloads is not None and plan:
            alone = {"of": kept["batch"]} if len(payloads) == len(plan) == 1 else {}
            sent = [{**each["sent"], "given": payloads[each["at"]], **alone} for each in plan]
        return [*(Send(self.name, each) for each in sent), *self.exits.idle]

    def _on(self, written: dict[str, GuardPart]) -> Command[Any]:
        """Return what is written to the channel, and where the calls go."""
        return Command(update={CHANNEL: written}, goto=self._sends(written[self.sessions.part]))

    def _flow(self, state: Any, config: RunnableConfig, runtime: Any, *, later: bool) -> Flow:
        stand: NodeContext = yield from node_context(self.sessions, config, runtime, later=later)
        heard = list[str]()
        state, payloads, of = self._given(state, config, stand.place.step)
        asks = self.asks(state, payloads, of, config)
        group = None if payloads is None else _group(self.name, asks.of)
        stand = replace(stand, batch=asks.of, group=group)
        stand = yield from newest(stand, config, runtime, later=later)

        def begin(session: Session) -> None:
            heard[:] = stand.tell(session, state, config, asks.messages)

        gate = stand.gate(begin, self.tools)
        if self.exits.several:
            own = gate.own
            gate = replace(gate, own=lambda id: f"{self.name}/{own(id)}")
        calls = [self._once(stand, gate, each) for each in asks.calls]
        batch = gate.attempt(calls, _asked(stand))
        yield from advised(batch.rulings, later=later)
        plan = self._plan(batch.rulings, stand.place, asks, payloads)
        more = {"batch": asks.of, "group": group, **plan, **self._step(config)}
        if batch.held and gate.waits:
            return self._on(self._held(stand, batch, more))
        return self._on(self._decided(stand, batch, {"heard": heard, **more}))

    def _plan(
        self, rulings: Sequence[Ruling], place: Place, asks: Asks, payloads: list[Any] | None
    ) -> GuardPart:
        """Return each call and what the node receives of it: a cache knows where it was decided."""
        where = f"{place.thread} {place.run}" if place.thread is not None else place.step
        sent = [(each, {**self.sent(each), "where": where}) for each in rulings]
        plan: list[GuardPart] = [{"mark": _mark(each.asking), "sent": it} for each, it in sent]
        if payloads is None:
            return {"plan": plan}
        placed = [{**each, "at": at} for each, at in zip(plan, asks.at, strict=True)]
        return {"plan": placed, "given": payloads}

    def _step(self, config: RunnableConfig) -> GuardPart:
        """Return the step in which this node decides: `joined` nodes wait for its calls."""
        return {"steps": dict([turn_of(config, self.name)])}

    def _once(self, stand: NodeContext, gate: BatchGate, call: Asking) -> Asking:
        """Return the call; with a problem, if it was sent twice, and another task decides it."""
        checkpoint, task, *_ = f"{stand.place.step} ".split(" ")
        if call.problem or self.sessions.live.decides(gate.own(call.own), checkpoint, task):
            return call
        why = f"`{call.tool}` was sent twice as `{call.id}`; call each under an id of its own"
        return replace(call, problem=why)

    def _held(self, stand: NodeContext, batch: Batch, more: GuardPart) -> dict[str, GuardPart]:
        """Return the channel while people are asked: the session is as before the batch."""
        tickets = {held.ticket.id: list(held.ticket.contracts) for _, held in batch.held}
        now = AskedCall(self.sessions.clock(), tickets, None, batch.passed)._asdict()
        shown = {"held": [question(*each) for each in batch.held], "problems": batch.problems}
        asked = [*(each._asdict() for each in _asked(stand)), now]
        value = {
            **more,
            "heard": stand.kept.get("heard", []),
            "asked": {**_waiting(stand), stand.batch: asked},
            "instead": {SENT: "ask", "shown": shown, "of": stand.batch},
        }
        return stand.write(stand.open().session, value)

    def _decided(self, stand: NodeContext, batch: Batch, more: GuardPart) -> dict[str, GuardPart]:
        """Return the channel when all is decided: the session, and where each call goes."""
        step, rulings = stand.place.step, batch.rulings
        dropped = list[JournalEntry]()
        question = stand.kept["rev"] if _asked(stand) else ""
        value = {
            **more,
            "place": step,
            "asked": _waiting(stand),
            "rulings": {
                f"{self.name}/{each.id}": {
                    **each.kept(),
                    "of": each.asking.of,
                    "answer": question,
                }
                for each in rulings
                if each.tool
            },
        }
        if batch.over is not None:
            dropped = [result(*each) for each in batch.dropped(step)]
            catch_up(batch.session, dropped)
            value["instead"] = {SENT: "stop", "advice": batch.over.advice}
        written = stand.write(batch.session, value, rulings, dropped)
        if value["rulings"]:
            self.sessions.once_answered(question, written)
        return written


def instead_of(
    given: Any, name: str, config: RunnableConfig, sessions: Sessions, exits: Exits
) -> Command[Any] | None:
    """Return what a guarded node does without a call to run: ask, stop, or go to be decided.

    None if there is a call to run, or to be answered. Raises `RunStopped` where the run is over.
    """
    match given:
        case {"sponsio_like": "ask", "shown": shown, "of": of}:
            said, rev = interrupt(shown), sessions.kept_in(config)["rev"]
            answer = sessions.wrote({"rev": rev, "said": said, "of": of})
            again = to_decide(decides(name), given.get("given"), of)
            return Command(update={CHANNEL: answer}, goto=[again, *exits.idle])
        case {"sponsio_like": "stop", "advice": advice}:
            raise blocked_exception(Blocked("", (), lambda: str(advice), ends_run=True))
        case {"sponsio_like": _, "of": of} if _waits(name, of, sessions.kept_in(config)):
            again = to_decide(decides(name), [given["given"]], of)
            return Command(goto=[again, *exits.idle])
        case {"sponsio_like": _}:
            return None
        case {"__contracts__": _, **rest} if not rest:
            goto: Any = decides(name)
        case None:
            goto = decides(name)
        case _:
            goto = [to_decide(decides(name), [given]), *exits.idle]
    begun = {"rev": rev_of(sessions.kept_in(config)), "steps": dict([turn_of(config, name)])}
    return Command(update={CHANNEL: sessions.wrote(begun)}, goto=goto)


def _group(name: str, of: str) -> str:
    """Return the common name of the batches that go on from the same checkpoint as this one."""
    return f"{name} {of.removeprefix(f'{name} ').split(' ')[0]} "


def _waits(name: str, of: str, kept: GuardPart) -> bool:
    """True if a batch that was sent beside this one waits for people.

    Then this one is decided again, when they have answered: what is sent by a command runs with the
    others, and the model is called when all have ended.
    """
    group = _group(name, of)
    return any(each != of and each.startswith(group) for each in kept.get("asked", {}))


def _mark(asking: Asking) -> list[str]:
    return [asking.id, asking.mark]


def _asked(stand: NodeContext) -> list[AskedCall]:
    """Return what people were asked about this batch, and what they have said."""
    return [AskedCall(**each) for each in stand.kept.get("asked", {}).get(stand.batch, ())]


def _waiting(stand: NodeContext) -> GuardPart:
    """Return what people were asked about other batches, which wait beside this one."""
    asked = stand.kept.get("asked", {})
    return {
        of: each for of, each in asked.items() if of != stand.batch and each[-1]["said"] is None
    }
