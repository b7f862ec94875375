"""Plain decorated tools: a hand-written loop over functions that `Guard.wrap` has guarded.

In: a script. Out: what such a loop tells the model. The calls of a turn run in parallel, each is
decided when it is made; a call that is held is made again when it has been answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

from sponsio_like.guard.raised import CallHeld, RunStopped
from sponsio_like.session.session import Session
from tests.adapters.bench import Function
from tests.adapters.by_hand import INPUTS
from tests.adapters.harness import Adapter, Agent, Answers, Call, Host, Report, Shown, Told, Turn
from tests.adapters.playing import Conversation, Failed, aplay, play

NO_IDS = "a function is called without an id"
IMPOSSIBLE = {
    "an_id_given_twice_in_one_turn_is_refused": f"{NO_IDS}: these are two calls, decided each",
    "equal_calls_are_answered_one_by_one": f"{NO_IDS}: equal calls of a session share a ticket",
    "people_are_shown_the_arguments_that_the_body_receives": "a held call raises, without its "
    "arguments: the loop can only show what the model wrote",
}
PLAIN = {"a_cancelled_call_is_settled_as_an_error": "a function that is not async runs to its end"}


@dataclass(eq=False)
class Waiting:
    """A call that is held, and its ticket."""

    call: Call
    held: CallHeld

    def answered(self, session: Session, answers: Answers) -> bool:
        """Pass on what was said to it. Whether its ticket is no longer open."""
        answer = answers.get(str(self.call.id))
        if answer is not None:
            say = session.approve if answer.yes else session.deny
            say(self.held.ticket, by=answer.by, role=answer.role)
        return session.ticket(self.held.ticket).status != "open"


def unknown(**_: Any) -> Any:
    """What is called where no tool has the name that the model has chosen."""
    raise LookupError("there is no tool of this name")


def conversation(
    session: Session | None,
    tools: Mapping[str, Function],
    script: Sequence[Turn],
    people: Iterator[Answers],
) -> Conversation:
    """Make the calls of each turn; those that are held again, once they have been answered."""
    told: list[Told] = []
    shown: list[Shown] = []
    with nullcontext() if session is None else session.active():
        for turn in script:
            calls = [] if isinstance(turn, str) else list(turn)
            held: list[Waiting] = []
            while calls:
                jobs = [partial(tools.get(each.tool, unknown), **each.args) for each in calls]
                for call, result in zip(calls, (yield jobs), strict=True):
                    if isinstance(result, Failed) and isinstance(result.error, RunStopped):
                        raise result.error
                    if isinstance(result, Failed) and isinstance(result.error, CallHeld):
                        held.append(Waiting(call, result.error))
                        shown.append(Shown(call.id, call.tool, call.args))
                    else:
                        told.append(Told(call.id, str(result), isinstance(result, Failed)))
                calls = []
                while held and not calls:
                    answers = next(people, None)
                    if answers is None or session is None:
                        waiting = frozenset(each.call.id for each in held)
                        return Report(tuple(told), tuple(shown), waiting)
                    ready = [each for each in held if each.answered(session, answers)]
                    held = [each for each in held if each not in ready]
                    calls = [each.call for each in ready]
    return Report(tuple(told), tuple(shown))


def opened(host: Host, tools: Mapping[str, Function], plays: Any) -> Agent:
    """An agent with a session for each thread."""
    guarded = host.guard.wrap(tools)
    sessions: dict[str, Session] = {}

    def agent(script: Sequence[Turn], thread: str | None, people: Iterator[Answers]) -> Any:
        session = None
        if thread is not None:
            if thread not in sessions:
                sessions[thread] = host.guard.session(thread, clock=host.clock, inputs=INPUTS)
            session = sessions[thread]
        return plays(conversation(session, guarded, script, people))

    return agent


DECORATED = (
    Adapter(
        "decorated sync", lambda host: opened(host, host.bench.tools, play), IMPOSSIBLE | PLAIN
    ),
    Adapter(
        "decorated async", lambda host: opened(host, host.bench.async_tools, aplay), IMPOSSIBLE
    ),
)
