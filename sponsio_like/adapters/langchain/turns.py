"""Decides one turn of the model: what it says, then the calls that it asks for.

In: the agent's state after the model. Out: the update of the state: an answer that is withheld, the
calls that are refused, a reminder of what is still owed, and how the others may run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.config import get_config

from sponsio_like.adapters.langgraph.answers import refusal
from sponsio_like.adapters.langgraph.asked_calls import Asking, Tools, last_asking, unanswered
from sponsio_like.adapters.langgraph.channel import CHANNEL, GuardPart, rev_of
from sponsio_like.adapters.langgraph.gate import DROPPED, Batch, Ruling, advised
from sponsio_like.adapters.langgraph.journal import catch_up, result
from sponsio_like.adapters.langgraph.messages import hear, said_by_user, tell_answer, told_facts
from sponsio_like.adapters.langgraph.node_context import NodeContext, newest, node_context
from sponsio_like.adapters.langgraph.sessions import Sessions, read_channels, undisturbed
from sponsio_like.guard import Flow
from sponsio_like.outcome import Allowed, Blocked, Outcome
from sponsio_like.session import Session

WITHHELD = "(this answer was withheld)"
"""The text in the conversation instead of an answer that a contract does not allow."""
EDITS = "hitl_edited_tool_calls"
"""The key of what people have made of calls, in the state of an agent."""
OURS = {"lc_source": "contracts"}
"""The mark of a message that the contracts say, and neither the model nor the user."""


@dataclass
class Turn:
    """One turn of the model while it is decided."""

    messages: Sequence[Any]
    kept: GuardPart
    asking: AIMessage | None
    since: str
    """The mark of what the user has said last."""
    heard: list[str] = field(default_factory=list)
    answer: Outcome | None = None

    def begin(self, session: Session, *, listens: bool) -> None:
        """Tell the session what was said since, and decide what the model says now."""
        if not listens:
            return
        earlier = [each for each in self.messages if each is not self.asking]
        self.heard = hear(session, earlier, self.kept.get("heard", ()))
        if self.asking is not None:
            self.heard, self.answer = tell_answer(session, self.asking, self.heard)

    @property
    def over(self) -> Blocked | None:
        """The refusal of the answer, if that ends the run."""
        answer = self.answer
        return answer if isinstance(answer, Blocked) and answer.ends_run else None

    def sent_back(self, why: str) -> int:
        """Return how often the model was sent back for this since the user has said something."""
        told = self.kept.get("sent_back", {})
        return int(told.get(why, 0)) if told.get("after") == self.since else 0

    def counting(self, **more: int) -> GuardPart:
        """Return the counts to be kept, and these more."""
        counts = {why: self.sent_back(why) for why in ("withheld", "reminded")}
        for why, each in more.items():
            counts[why] += each
        return {"after": self.since, **counts}


@dataclass(frozen=True)
class Turns:
    """Decides the turns of one agent.

    The model is sent back `retries` times at most for a withheld answer, and `reminders` times for
    what it owes.
    """

    sessions: Sessions
    tools: Tools
    retries: int
    reminders: int
    asks: bool = False
    """True if LangChain's middleware that asks people is between the two of the pair."""

    def flow(self, state: Any, runtime: Any, *, later: bool) -> Flow:
        """Return the update after the model; None, if something fails where nothing is enforced."""
        work = self._flow(state, runtime, later=later)
        return undisturbed(self.sessions.guard, work, lambda: None)

    def _flow(self, state: Any, runtime: Any, *, later: bool) -> Flow:
        config, opened = get_config(), self.sessions
        messages = state["messages"]
        if self._returned(config, messages):
            return {"jump_to": "model"}
        stand = yield from node_context(opened, config, runtime, later=later)
        asking = last_asking(messages)
        said = asking.id if asking is not None else None
        stand = replace(stand, batch=said or stand.place.step)
        stand = yield from newest(stand, config, runtime, later=later)
        turn = Turn(messages, stand.kept, asking, said_by_user(messages))

        def begin(session: Session) -> None:
            told_facts(session, opened.facts, state, config)
            turn.begin(session, listens=opened.listens)

        calls = self.tools.asked(self._edited(state, unanswered(turn.messages)), said)
        never = _refused_elsewhere(read_channels(config, CHANNEL), opened.part, said)
        mine = [each for each in calls if each.id not in never]
        batch = yield from stand.gate(begin, self.tools).decide(mine, later=later)
        yield from advised(batch.rulings, later=later)
        over = turn.over or batch.over
        if over is not None:
            batch.rulings.extend(
                Ruling(each, why=never[each.id]["told"]) for each in calls if each.id in never
            )
            return _ended(stand, turn, batch, over)
        return self._written(stand, turn, batch, calls, never)

    def _written(
        self,
        stand: NodeContext,
        turn: Turn,
        batch: Batch,
        calls: Sequence[Asking],
        never: Mapping[str, GuardPart],
    ) -> dict[str, Any]:
        """Return the update of a run that goes on: what is said, and how the calls may run."""
        instead, more = self._after(turn, batch.session, calls)
        if not calls and not instead and self._is_as_kept(stand, turn, more):
            self.sessions.live.keep(rev_of(stand.kept), batch.session)
            return {CHANNEL: {}}
        refused = [each for each in batch.rulings if not each.tool and self._is_direct(each)]
        place, said = stand.place.step, None if turn.asking is None else turn.asking.id
        rulings = _kept(batch, never, {"of": said, "answer": batch.question})
        value = {"heard": turn.heard, "place": place, "rulings": rulings, "of": said, **more}
        jump = {"jump_to": "model"} if more["sent_back"] != turn.counting() else {}
        written = stand.write(batch.session, value, batch.rulings)
        if any(each.tool for each in batch.rulings):
            self.sessions.once_answered(batch.question, written)
        said_now = [*instead, *map(refusal, refused)]
        return {**({"messages": said_now} if said_now else {}), CHANNEL: written, **jump}

    def _returned(self, config: Any, messages: Sequence[Any]) -> bool:
        """True if the tools have run, and the agent would end before the model hears a refusal."""
        asking = last_asking(messages)
        if asking is None or not asking.tool_calls or unanswered(messages):
            return False
        return bool(self.sessions.kept_in(config).get("of") == asking.id)

    def _is_as_kept(self, stand: NodeContext, turn: Turn, more: GuardPart) -> bool:
        """True if a turn without calls has changed nothing that the channel would have to say."""
        opened, kept = self.sessions, stand.kept
        says = rev_of(kept) and not stand.newer
        tells = opened.listens or opened.facts is not None or opened.guard.policy.world
        beside = opened.shared or stand.place.inside or stand.around is not None
        same = more["sent_back"] == kept.get("sent_back") and turn.heard == kept.get("heard")
        return bool(says and same and not (tells or beside or stand.place.ended))

    def _is_direct(self, ruling: Ruling) -> bool:
        """True if the agent ends with the answer of the tool: then its refusal is said here.

        All others are answered where their tools would run, unless somebody else has done it.
        """
        tool = self.tools.by_name.get(ruling.asking.tool)
        return bool(ruling.asking.id) and bool(getattr(tool, "return_direct", False))

    def _edited(self, state: Any, calls: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return the calls, as people have edited them in LangChain's middleware.

        Where that stands in front of the pair, the state has the edits of the turn before.
        """
        edits, earlier = state.get(EDITS) or {}, set[str]()
        if not edits:
            return [*calls]
        if not self.asks:
            said = [each for each in state["messages"] if isinstance(each, AIMessage)][:-1]
            earlier = {str(call["id"]) for each in said for call in each.tool_calls}
        mine = {id: each for id, each in edits.items() if id not in earlier}
        return [{**call, **mine.get(call["id"], {})} for call in calls]

    def _after(
        self, turn: Turn, session: Session, calls: Sequence[Any]
    ) -> tuple[list[Any], GuardPart]:
        """Return what is said instead of the answer, or to send the model back; and the counts."""
        asking = turn.asking
        if asking is not None and not isinstance(turn.answer, (Allowed, type(None))):
            instead = _withheld(asking)
            if calls or turn.sent_back("withheld") >= self.retries:
                return [instead], {"sent_back": turn.counting()}
            why = f"Your answer was withheld: {_why(turn.answer)}. Answer again."
            return [instead, _told(why)], {"sent_back": turn.counting(withheld=1)}
        owed = [] if calls else _owed(session)
        if owed and turn.sent_back("reminded") < self.reminders:
            why = f"Before you finish: {'; '.join(owed)}."
            return [_told(why)], {"sent_back": turn.counting(reminded=1)}
        return [], {"sent_back": turn.counting()}


def _refused_elsewhere(
    whole: Mapping[str, GuardPart], part: str, of: str | None
) -> Mapping[str, GuardPart]:
    """Return the calls of this message that another pair around the agent refused, by their ids.

    They never happen, so that they are not decided here.
    """
    others = [kept for at, kept in whole.items() if at != part and "on" not in kept]
    said = [kept["rulings"] for kept in others if of is not None and kept.get("of") == of]
    return {id: each for rulings in said for id, each in rulings.items() if "told" in each}


def _ended(stand: NodeContext, turn: Turn, batch: Batch, over: Blocked) -> dict[str, Any]:
    """Return the update of a run that is over: each call is answered, none runs, the agent ends."""
    step, session = stand.place.step, batch.session
    dropped = [result(*each) for each in batch.dropped(step)]
    catch_up(session, dropped)
    said = [] if turn.over is None or turn.asking is None else [_withheld(turn.asking)]
    answers = [
        refusal(replace(each, why=each.told or DROPPED)) for each in batch.rulings if each.asking.id
    ]
    last = AIMessage(over.advice, additional_kwargs=OURS)
    value = {"heard": turn.heard, "place": step, "rulings": {}, "sent_back": turn.counting()}
    return {
        "messages": [*said, *answers, last],
        CHANNEL: stand.write(session, value, batch.rulings, dropped),
        "jump_to": "end",
    }


def _kept(
    batch: Batch, never: Mapping[str, Mapping[str, Any]], about: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the rulings of the turn, another guard's refusals too, by the ids of their calls."""
    mine = {each.asking.id: each.kept() for each in batch.rulings if each.asking.id}
    return {id: {**each, **about} for id, each in {**mine, **never}.items()}


def _withheld(asking: AIMessage) -> AIMessage:
    return asking.model_copy(update={"content": WITHHELD})


def _owed(session: Session) -> list[str]:
    policy = session.policy
    modes = {each.name: mode for each, mode in zip(policy.contracts, policy.modes, strict=True)}
    return [str(each) for each in session.pending() if modes[each.contract] == "enforce"]


def _why(outcome: Outcome) -> str:
    if isinstance(outcome, Blocked):
        return outcome.advice
    return "a person would have to approve it, and answers cannot wait for one"


def _told(text: str) -> HumanMessage:
    """Return a message of the contracts, which is none of the user's."""
    return HumanMessage(text, additional_kwargs=OURS)
