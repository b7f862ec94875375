"""An agent loop that calls the session by itself: the shortest code that does all that is asked.

In: a script. Out: its report. Each turn goes through the same steps, which can be replaced one by
one: that is how wrong adapters are made, for a suite that cannot fail is worth nothing.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pydantic import create_model

from sponsio_like.errors import SessionError
from sponsio_like.outcome import Allowed, Blocked, Held, Outcome, Redirected
from sponsio_like.session.session import Session
from tests.adapters.bench import Function
from tests.adapters.harness import Adapter, Agent, Answers, Call, Host, Report, Shown, Told, Turn
from tests.adapters.playing import Conversation, Failed, aplay, play

INPUTS = frozenset({"results", "time", "tool_names"})
"""What the loops by hand deliver to a session: nobody tells them facts, messages or usage."""

PLAIN = {"a_cancelled_call_is_settled_as_an_error": "a function that is not async runs to its end"}


@dataclass(frozen=True)
class Waiting:
    """A call that is held."""

    call: Call
    outcome: Held


# --- the steps ------------------------------------------------------------------------------------


def session_of(host: Host, sessions: dict[str, Session], thread: str | None) -> Session:
    """One session for each thread; without a thread, none."""
    if thread is None:
        raise SessionError("whose calls are these? name a thread")
    if thread not in sessions:
        sessions[thread] = host.guard.session(thread, clock=host.clock, inputs=INPUTS)
    return sessions[thread]


def received(function: Function, args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the body would receive them. Raises `ValueError`."""
    hints = inspect.get_annotations(inspect.unwrap(function), eval_str=True)
    fields: dict[str, Any] = {name: (hints[name], ...) for name in hints if name != "return"}
    return dict(create_model("Args", **fields)(**args))


def decide(session: Session, calls: Sequence[Call]) -> list[Outcome]:
    """Decide the calls of one turn."""
    return session.decide_batch([(each.tool, each.args, each.id) for each in calls])


def to_run(call: Call, outcome: Outcome) -> tuple[str, Mapping[str, Any]] | None:
    """Which tool runs with which arguments, if one does."""
    match outcome:
        case Allowed():
            return call.tool, call.args
        case Redirected(tool=tool, args=args):
            return tool, args
        case Blocked() | Held():
            return None


def settle(session: Session, id: str, result: Any) -> None:
    """What became of a call that was let through."""
    if isinstance(result, Failed):
        session.settle(id, error=str(result))
    else:
        session.settle(id, output=result)


def hear(session: Session, waiting: Sequence[Waiting], answers: Answers) -> None:
    """Pass on what people said."""
    for each in waiting:
        answer = answers.get(str(each.call.id))
        if answer is not None:
            say = session.approve if answer.yes else session.deny
            say(each.outcome.ticket, by=answer.by, role=answer.role)


def tell(call: Call, result: Any) -> Told:
    """What the model is told of a call."""
    return Told(call.id, str(result), isinstance(result, Failed))


def again(_: Sequence[Call], held: Sequence[Waiting]) -> list[Call]:
    """The calls of a turn that are decided again after a pause: those that were held."""
    return [each.call for each in held]


def ends(outcome: Outcome) -> bool:
    """Whether the run is over."""
    return isinstance(outcome, Blocked) and outcome.ends_run


@dataclass(frozen=True)
class Steps:
    """What the loop does, step by step."""

    session_of: Callable[[Host, dict[str, Session], str | None], Session] = session_of
    received: Callable[[Function, Mapping[str, Any]], dict[str, Any]] = received
    decide: Callable[[Session, Sequence[Call]], list[Outcome]] = decide
    to_run: Callable[[Call, Outcome], tuple[str, Mapping[str, Any]] | None] = to_run
    settle: Callable[[Session, str, Any], None] = settle
    hear: Callable[[Session, Sequence[Waiting], Answers], None] = hear
    again: Callable[[Sequence[Call], Sequence[Waiting]], list[Call]] = again
    tell: Callable[[Call, Any], Told] = tell
    distinct: bool = True
    ends: Callable[[Outcome], bool] = ends


# --- the loop -------------------------------------------------------------------------------------


@dataclass
class Loop:
    """One run of the agent."""

    steps: Steps
    session: Session
    tools: Mapping[str, Function]
    told: list[Told] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    over: bool = False

    def conversation(self, script: Sequence[Turn], people: Iterator[Answers]) -> Conversation:
        """Turn by turn; a turn is over when every call has been answered."""
        for turn in script:
            calls = [] if isinstance(turn, str) else self.valid(turn)
            while calls:
                held = yield from self.round(calls)
                answers = next(people, None) if held else {}
                if answers is None:
                    waiting = frozenset(each.call.id for each in held)
                    return Report(tuple(self.told), tuple(self.shown), waiting)
                self.steps.hear(self.session, held, answers)
                calls = self.steps.again(calls, held) if held else []
            if self.over:
                break
        return Report(tuple(self.told), tuple(self.shown))

    def valid(self, turn: Iterable[Call]) -> list[Call]:
        """The calls as the tools would receive them; the model is told of those that are none."""
        calls, valid = list(turn), list[Call]()
        times = Counter(each.id for each in calls)
        for call in calls:
            if self.steps.distinct and call.id is not None and times[call.id] > 1:
                self.tell(call, Failed(ValueError(f"id {call.id} is given twice")))
            elif call.tool not in self.tools:
                self.tell(call, Failed(LookupError(f"there is no tool {call.tool}")))
            else:
                try:
                    args = self.steps.received(self.tools[call.tool], call.args)
                except ValueError as error:
                    self.tell(call, Failed(error))
                else:
                    valid.append(Call(call.tool, args, call.id))
        return valid

    def round(self, calls: Sequence[Call]) -> Any:
        """Decide the calls, run those that may run, and settle them. Those that are held."""
        outcomes = self.steps.decide(self.session, calls)
        self.over = any(map(self.steps.ends, outcomes))
        running: list[tuple[Call, str, partial[Any]]] = []
        held: list[Waiting] = []
        for call, outcome in zip(calls, outcomes, strict=True):
            ready = self.steps.to_run(call, outcome)
            if ready is not None:
                job = partial(self.tools[ready[0]], **ready[1])
                running.append((call, outcome.id, job))
            elif isinstance(outcome, Held):
                held.append(Waiting(call, outcome))
                self.shown.append(Shown(call.id, call.tool, call.args))
            elif isinstance(outcome, Blocked):
                self.tell(call, Failed(PermissionError(outcome.advice)))
        results: list[Any] = [Failed(InterruptedError("cancelled"))] * len(running)
        try:
            results = yield [job for _, _, job in running]
        finally:
            for (_, id, _), result in zip(running, results, strict=True):
                self.steps.settle(self.session, id, result)
        for (call, _, _), result in zip(running, results, strict=True):
            self.tell(call, result)
        return held

    def tell(self, call: Call, result: Any) -> None:
        """Tell the model what became of a call."""
        self.told.append(self.steps.tell(call, result))


def opened(host: Host, steps: Steps, *, plain: bool) -> Agent:
    """An agent that goes through these steps, with plain functions or with coroutines."""
    sessions: dict[str, Session] = {}
    tools = host.bench.tools if plain else host.bench.async_tools

    def agent(script: Sequence[Turn], thread: str | None, people: Iterator[Answers]) -> Any:
        session = steps.session_of(host, sessions, thread)
        conversation = Loop(steps, session, tools).conversation(script, people)
        return play(conversation) if plain else aplay(conversation)

    return agent


def by_hand(name: str, steps: Steps, *, plain: bool) -> Adapter:
    """An adapter of these steps."""
    return Adapter(name, partial(opened, steps=steps, plain=plain), PLAIN if plain else {})


BY_HAND = (
    by_hand("by hand sync", Steps(), plain=True),
    by_hand("by hand async", Steps(), plain=False),
)
