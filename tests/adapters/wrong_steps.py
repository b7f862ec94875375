"""Steps of an agent loop that are wrong, each as some adapter in the world has it.

In: what the right step is given (`by_hand.py`). Out: something that looks like what it answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from sponsio_like.outcome import Allowed, Blocked, Held, Outcome, Redirected
from sponsio_like.session.session import Session
from tests.adapters.by_hand import Waiting, decide, hear, session_of, settle, tell, to_run
from tests.adapters.harness import Answer, Answers, Call, Host, Told
from tests.adapters.playing import Failed

Ready: TypeAlias = tuple[str, Mapping[str, Any]] | None

# --- who runs, and what ---------------------------------------------------------------------------


def ignores_blocks(call: Call, outcome: Outcome) -> Ready:
    """A call that is blocked runs."""
    return (call.tool, call.args) if isinstance(outcome, Blocked) else to_run(call, outcome)


def ignores_holds(call: Call, outcome: Outcome) -> Ready:
    """A call that is held runs."""
    return (call.tool, call.args) if isinstance(outcome, Held) else to_run(call, outcome)


def runs_the_original(call: Call, outcome: Outcome) -> Ready:
    """A redirect changes nothing."""
    return (call.tool, call.args) if isinstance(outcome, Redirected) else to_run(call, outcome)


def redirects_by_name(call: Call, outcome: Outcome) -> Ready:
    """A redirect runs the substitute on the arguments of the original."""
    ready = to_run(call, outcome)
    return (outcome.tool, call.args) if isinstance(outcome, Redirected) else ready


def stops_what_is_warned_of(call: Call, outcome: Outcome) -> Ready:
    """Whatever violates does not run."""
    violates = isinstance(outcome, Allowed) and (outcome.warnings or outcome.observed)
    return None if violates else to_run(call, outcome)


# --- what is decided ------------------------------------------------------------------------------


def lets_failures_through(session: Session, calls: Sequence[Call]) -> list[Outcome]:
    """A decision that has failed is none, and without one a call may run."""
    outcomes = decide(session, calls)
    failed = [isinstance(each, Blocked) and "OSError" in each.advice for each in outcomes]
    return [Allowed(o.id) if f else o for o, f in zip(outcomes, failed, strict=True)]


def sees_one_snapshot(session: Session, calls: Sequence[Call]) -> list[Outcome]:
    """Each call of a turn is decided as if it were the only one."""
    found: list[Outcome] = []
    for each in calls:
        alone = Session(session.policy, session.id)
        alone.resume(session.snapshot())
        found += decide(alone, [each])
    decided = decide(session, calls)
    return [b if isinstance(a, Blocked) else a for a, b in zip(decided, found, strict=True)]


def settles_first(session: Session, calls: Sequence[Call]) -> list[Outcome]:
    """A call has succeeded as soon as it is allowed."""
    found: list[Outcome] = []
    for each in calls:
        (outcome,) = decide(session, [each])
        session.settle(outcome.id)
        found.append(outcome)
    return found


def lets_nameless_calls_run(session: Session, calls: Sequence[Call]) -> list[Outcome]:
    """A call without an id cannot be decided."""
    return [
        Allowed("") if each.id is None else outcome
        for each, outcome in zip(calls, decide(session, calls), strict=True)
    ]


# --- what is settled ------------------------------------------------------------------------------


def never_settles(session: Session, id: str, result: Any) -> None:
    """Calls stay in flight for ever."""


def takes_failures_for_success(session: Session, id: str, result: Any) -> None:
    """Whatever came of it is an output."""
    session.settle(id, output=str(result))


def forgets_the_cancelled(session: Session, id: str, result: Any) -> None:
    """A call that is cancelled is not settled."""
    cancelled = isinstance(result, Failed) and isinstance(result.error, InterruptedError)
    return None if cancelled else settle(session, id, result)


# --- what people said -----------------------------------------------------------------------------


def hears_by_position(session: Session, waiting: Sequence[Waiting], answers: Answers) -> None:
    """The first answer is for the first call that waits."""
    ids = [str(each.call.id) for each in waiting]
    hear(session, waiting, dict(zip(ids, answers.values(), strict=False)))


def hears_only_yes(session: Session, waiting: Sequence[Waiting], answers: Answers) -> None:
    """Whoever answers has said yes."""
    hear(session, waiting, {id: replace(each, yes=True) for id, each in answers.items()})


def hears_for_all(session: Session, waiting: Sequence[Waiting], answers: Answers) -> None:
    """One yes is a yes to all that wait."""
    granted = any(each.yes for each in answers.values())
    everyone = {str(each.call.id): Answer(True) for each in waiting}
    hear(session, waiting, everyone if granted else answers)


def hears_anybody(session: Session, waiting: Sequence[Waiting], answers: Answers) -> None:
    """Whoever answers is a manager."""
    hear(session, waiting, {id: replace(each, role="manager") for id, each in answers.items()})


def hears_nobody(session: Session, waiting: Sequence[Waiting], answers: Answers) -> None:
    """Calls wait for ever."""


# --- sessions -------------------------------------------------------------------------------------


def shares_a_session(host: Host, sessions: dict[str, Session], thread: str | None) -> Session:
    """All threads are one."""
    return session_of(host, sessions, "one for all")


def forgets_the_session(host: Host, sessions: dict[str, Session], thread: str | None) -> Session:
    """Each run begins anew."""
    return host.guard.session(clock=host.clock)


def names_no_inputs(host: Host, sessions: dict[str, Session], thread: str | None) -> Session:
    """A session is opened as if it were told everything."""
    return sessions.setdefault(str(thread), host.guard.session(thread, clock=host.clock))


def makes_a_thread_up(host: Host, sessions: dict[str, Session], thread: str | None) -> Session:
    """Without a thread, each run has a session of its own."""
    return session_of(host, sessions if thread else {}, thread or "somebody")


# --- what the model is told -----------------------------------------------------------------------


def hides_errors(call: Call, result: Any) -> Told:
    """An error looks like a result."""
    return replace(tell(call, result), error=False)


def keeps_reasons(call: Call, result: Any) -> Told:
    """An error does not say why."""
    told = tell(call, result)
    return replace(told, text="error") if told.error else told
