"""What becomes of a call if code of the user, or the world outside, fails somewhere on its way.

In: a point of failure, a strategy, a mode, and a call that keeps its contract or violates it. Out:
how often the tool ran, what its caller saw; and the page of all of that (`docs/faults.md`).
"""

from __future__ import annotations

import asyncio
import io
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator

from sponsio_like import Allowed, CallBlocked, CallHeld, Contract, Guard, Redirected, atom, contract
from sponsio_like.event_types import Call, Result
from sponsio_like.events.context import Context
from sponsio_like.log import json_log
from sponsio_like.notices import drain
from sponsio_like.outcome import Outcome
from sponsio_like.session.session import Session

_T = TypeVar("_T")
Mode = Literal["enforce", "observe"]
POINTS: Mapping[str, str] = {
    "nothing": "nothing fails",
    "atom": "an atom of yours, in a decision",
    "assumption": "an atom of yours, in an assumption",
    "result atom": "an atom of yours that reads results, when the call is settled",
    "strategy": "a callable of yours that is a strategy",
    "notifier": "a notifier",
    "clock": "the clock of the session",
    "sink": "the sink of the log",
    "arguments": "an argument with code of its own",
    "validator": "a validator in an annotation of the tool",
    "on_block": "the function that answers blocked calls",
    "tool": "the tool itself",
}
"""Where user code or input and output run; what they are called in the docs."""
STRATEGIES: Mapping[str, Any] = {
    "block": "block",
    "escalate": "escalate",
    "redirect_to_safe": {"redirect_to_safe": {"to": "faults_draft"}},
    "warn_only": "warn_only",
    "a callable": lambda _: passing("strategy", "block"),
}
KEEPS, VIOLATES = 5, 900


class Boom(Exception):
    """What is raised at the point of failure."""


HITS: Counter[str] = Counter()
"""How often each point has failed."""
_failing: list[tuple[str, type[BaseException]]] = []


def fail(point: str) -> None:
    """Raise if this is the point."""
    for name, kind in _failing:
        if name == point:
            HITS[point] += 1
            raise kind(point)


def passing(point: str, value: _T) -> _T:
    """The value, unless this is the point."""
    fail(point)
    return value


@contextmanager
def failing(point: str, kind: type[BaseException] = Boom) -> Iterator[None]:
    """Let that point fail, and nobody hear of it."""
    logger = logging.getLogger("sponsio_like")
    _failing.append((point, kind))
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        drain()
        _failing.remove((point, kind))
        logger.disabled = before


@atom("faults_small")
def small(event: Call, _: Context) -> bool:
    fail("atom")
    return bool(event.args["amount"] <= 100)


@atom("faults_assumed")
def assumed(_: Call, __: Context) -> bool:
    fail("assumption")
    return True


@atom("faults_settled", waits=True)
def settled(_: str, __: Result) -> bool:
    fail("result atom")
    return True


class FragileMap(dict[str, Any]):
    def items(self) -> Any:
        fail("arguments")
        return super().items()


class FragileText(io.StringIO):
    """A text in memory, which a log writes to in the thread that decides."""

    def write(self, _: str) -> int:
        fail("sink")
        return 0


def validated(value: Any) -> Any:
    fail("validator")
    return value


@dataclass
class Played:
    """What came of one call."""

    ran: int = 0
    instead: int = 0
    seen: str = ""
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def word(self) -> str:
        """`runs`, `blocked`, `runs, raises` and the like."""
        what = ["runs"] * self.ran + ["substitute runs"] * self.instead
        return ", ".join([*what, *([self.seen] if self.seen else [])])


def contracts(strategy: str, point: str) -> list[Contract]:
    """The contract that is violated, one that waits for results; for a strategy, its contract."""
    small = contract("small").guarantees({"ltl": "G(called(faults_pay) -> faults_small())"})
    found = [
        small.assume({"ltl": "faults_assumed()"}).strategy(STRATEGIES[strategy]),
        contract("settled").guarantees(
            {"ltl": "G(called(faults_pay) -> WY H (called(faults_pay) -> faults_settled()))"}
        ),
    ]
    if point == "strategy" and strategy != "a callable":
        asked = contract("asked").guarantees({"ltl": "G(called(faults_pay) -> faults_small())"})
        found.append(asked.strategy(lambda _: passing("strategy", "warn_only")))
    return found


def guarded(strategy: str, point: str, mode: Mode) -> Guard:
    """A guard whose log and notifier may fail."""
    return Guard(
        contracts(strategy, point),
        mode=mode,
        log=json_log(FragileText()),
        notify=[lambda _: fail("notifier")],
    )


def opened(guard: Guard) -> Session:
    """A session whose clock may fail."""
    return guard.session(clock=lambda: passing("clock", 1.0))


def play(point: str, strategy: str, mode: Mode, amount: int, *, later: bool = False) -> Played:
    """One call of a decorated tool; `later`: of a coroutine function."""
    played = Played()
    guard = guarded(strategy, point, mode)

    def pay(amount: Annotated[int, BeforeValidator(validated)], about: Any) -> str:
        played.ran += 1
        fail("tool")
        return "paid"

    def draft(amount: int, about: Any) -> str:
        played.instead += 1
        fail("tool")
        return "drafted"

    async def pay_later(amount: Annotated[int, BeforeValidator(validated)], about: Any) -> str:
        return pay(amount, about)

    async def draft_later(amount: int, about: Any) -> str:
        return draft(amount, about)

    blocked: Any = (lambda _: fail("on_block")) if point == "on_block" else "raise"
    tool = guard.tool(pay_later if later else pay, name="faults_pay", blocked=blocked)
    guard.tool(draft_later if later else draft, name="faults_draft")
    session = opened(guard)
    watch(session, played)
    with failing(point), session.active():
        played.seen = seen(tool, (amount, FragileMap(to="ann")))
    return played


def watch(session: Session, played: Played) -> None:
    """Remember what is decided."""
    decide = session._decide

    def watched(*args: Any, **kwargs: Any) -> Outcome:
        played.outcomes.append(decide(*args, **kwargs))
        return played.outcomes[-1]

    session._decide = watched  # type: ignore[method-assign]


def seen(tool: Any, args: tuple[Any, ...]) -> str:
    """What the caller sees; nothing special if it has what the tool returned."""
    try:
        answer = tool(*args)
        if asyncio.iscoroutine(answer):
            answer = asyncio.run(_awaited(answer))
    except CallBlocked:
        return "blocked"
    except CallHeld:
        return "held"
    except Boom:
        return "raises"
    return "" if answer in ("paid", "drafted") else f"returns {answer}"


async def _awaited(answer: Any) -> Any:
    return await answer


def allowed(played: Played) -> tuple[int, int]:
    """How often the tool, and its substitute, may have run."""
    return (
        sum(isinstance(each, Allowed) for each in played.outcomes),
        sum(isinstance(each, Redirected) for each in played.outcomes),
    )


# --- the page -------------------------------------------------------------------------------------

HEAD = """\
# When something fails

This page is made by playing every case, by `python -m tests.project.pages --write`;
`tests/session/test_faults.py` plays them again. Each cell is one call of a decorated tool, while an
exception is raised at the point that the row names: does the tool run, and what does its caller
see? *Raises* is the exception itself; blocked and held calls raise `CallBlocked` and `CallHeld`.
"""
ENFORCE = """
## Enforced

The tool runs only if the call was allowed. The columns are strategies, for a call that violates its
contract; the last one is a call that keeps it. A strategy that fails is, in the columns of
the others, that of a second contract which is violated as well.
"""
OBSERVE = """
## Observed

The tool runs exactly once, whatever fails, and its caller sees what it returned or raised.
"""


@cache
def matrix() -> Mapping[tuple[str, str, Mode, int], Played]:
    """Every case."""
    modes: tuple[Mode, ...] = ("enforce", "observe")
    return {
        (point, strategy, mode, amount): play(point, strategy, mode, amount)
        for point in POINTS
        for strategy in STRATEGIES
        for mode in modes
        for amount in (VIOLATES, KEEPS)
    }


def page() -> str:
    """The page of all cases."""
    return "\n".join([HEAD.rstrip(), ENFORCE, *_table("enforce"), OBSERVE, *_table("observe"), ""])


def _table(mode: Mode) -> Iterable[str]:
    yield f"| what fails | {' | '.join(f'{each}' for each in STRATEGIES)} | a call that keeps it |"
    yield "|---" * (len(STRATEGIES) + 2) + "|"
    cases = matrix()
    for point, name in POINTS.items():
        bad = [cases[point, each, mode, VIOLATES].word for each in STRATEGIES]
        good = dict.fromkeys(cases[point, each, mode, KEEPS].word for each in STRATEGIES)
        yield f"| {name} | {' | '.join(bad)} | {' or '.join(good)} |"
