"""What an adapter has to offer, so that its behaviour can be tried: `Adapter`, a name and `open`.

In: a guard, the bench of tools, and a script that a fake model plays, with the answers of people.
Out: what the model was told of each call, and what people were shown. What ran, and what the guard
logged, a `Stage` finds out by itself. Behaviours know no framework; adapters know no behaviour,
except those that they declare impossible.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sponsio_like.contracts.definition import Contract
from sponsio_like.guard.guard import Guard
from sponsio_like.outcome import Mode
from sponsio_like.risk import RiskPolicy
from tests.adapters.bench import PATIENCE, POLL, Bench, Clock

# --- what goes in ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """What a model asks for; `args` as the model wrote them."""

    tool: str
    args: dict[str, Any]
    id: str | None


Turn: TypeAlias = Sequence[Call] | str
"""What the model says at once: parallel calls, or the final text."""


@dataclass(frozen=True)
class Answer:
    """What a person says to one call that is held."""

    yes: bool
    by: str = "ann"
    role: str = "manager"


Answers: TypeAlias = Mapping[str, Answer]
"""What was answered before the agent goes on, by call id; who is not in it has not answered yet."""


@dataclass(frozen=True)
class Host:
    """What an agent is made of. Its sessions have this clock."""

    guard: Guard
    bench: Bench
    clock: Clock


# --- what comes out -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Told:
    """What the model was told of one call: the result, or an error."""

    call: str | None
    text: str
    error: bool


@dataclass(frozen=True)
class Shown:
    """What people were shown of a call that is held: nobody can approve what they do not see."""

    call: str | None
    tool: str
    args: Mapping[str, Any]


@dataclass(frozen=True)
class Report:
    """What came of one run of the agent.

    `told`: in order. `shown`: every ticket of every pause; one that waits on may be shown again.
    `waiting`: the calls that still wait for a person, if the run ended so. `raised`: the exception
    that the run ended with; `Stage.run` fills it in.
    """

    told: tuple[Told, ...] = ()
    shown: tuple[Shown, ...] = ()
    waiting: frozenset[str | None] = frozenset()
    raised: Exception | None = None

    def of(self, call: str | None) -> Told:
        """What the model was told of this call, which has to be one thing."""
        found = [each for each in self.told if each.call == call]
        assert len(found) == 1, f"of call {call!r} the model was told {found}"
        return found[0]

    def refused(self, call: str | None) -> str:
        """The text of the error that the model was told of this call."""
        told = self.of(call)
        assert told.error, f"call {call!r} was not refused: {told.text}"
        return told.text

    def result(self, call: str | None) -> str:
        """The result that the model was told of this call."""
        told = self.of(call)
        assert not told.error, f"call {call!r} is an error: {told.text}"
        return told.text


# --- an adapter -----------------------------------------------------------------------------------

Agent: TypeAlias = Callable[
    [Sequence[Turn], str | None, Iterator[Answers]], Report | Coroutine[Any, Any, Report]
]
"""`agent(script, thread, people)`: play the script, from a new message of the user on.

Any number of times, on any threads; a known thread goes on. A script ends with a final text.
Whenever calls are held, the next of `people` says what was answered, and the agent goes on, maybe
only to ask again; if there is no next, the run ends there. What the framework raises is raised.
"""


@dataclass(frozen=True)
class Adapter:
    """One way to guard an agent. A sync one and an async one are two adapters.

    `open` makes an agent from the bench, whose tools it has to guard. `cannot`: the behaviours that
    the framework makes impossible, each with its reason in words; the name of a behaviour is that
    of its test, without `test_`.
    """

    name: str
    open: Callable[[Host], Agent]
    cannot: Mapping[str, str] = field(default_factory=dict)


# --- a trial --------------------------------------------------------------------------------------

People: TypeAlias = Iterable[Answers | float]
"""What happens while calls are held: answers come, or so many seconds pass and none does."""


@dataclass(frozen=True)
class Stage:
    """One agent under one guard, and all that can be seen of it."""

    agent: Agent
    host: Host
    records: list[dict[str, Any]]

    @property
    def bench(self) -> Bench:
        return self.host.bench

    @property
    def ran(self) -> list[tuple[str, dict[str, Any]]]:
        """The bodies that ran, with the arguments that they received."""
        return [(each.tool, each.args) for each in self.bench.ran]

    def tools(self) -> list[str]:
        """The names of the bodies that ran."""
        return [tool for tool, _ in self.ran]

    def outcomes(self, tool: str) -> list[str]:
        """How the calls of a tool were decided, by the log."""
        return [each["outcome"] for each in self._logged("decision", tool)]

    def actions(self, tool: str) -> list[str]:
        """What was, or would have been, done about violations of calls of a tool, by the log."""
        decided = self._logged("decision", tool)
        return [found["action"] for each in decided for found in each["violations"]]

    def statuses(self, *tools: str) -> list[str]:
        """How the calls of these tools ended, by the log."""
        return [each["status"] for tool in tools for each in self._logged("settlement", tool)]

    def _logged(self, event: str, tool: str) -> list[dict[str, Any]]:
        return [each for each in self.records if (each["event"], each.get("tool")) == (event, tool)]

    def decided(self) -> int:
        """How many decisions were made so far."""
        return sum(each["event"] == "decision" for each in self.records)

    def run(
        self,
        *script: Turn,
        thread: str | None = "thread",
        people: People = (),
        raises: bool = False,
    ) -> Report:
        """Play the script. `raises`: the run may end with an exception, which is then reported."""
        try:
            return _done(self._run(script, thread, people))
        except Exception as error:
            if not raises:
                raise
            return Report(raised=error)

    def cancel(self, *script: Turn, thread: str = "thread") -> None:
        """Play the script as a task, and cancel the task when the first body runs."""
        asyncio.run(self._cancelled(self._run(script, thread, ())))

    def _run(
        self, script: Sequence[Turn], thread: str | None, people: People
    ) -> Report | Coroutine[Any, Any, Report]:
        ended = script if script and isinstance(script[-1], str) else (*script, "done")
        return self.agent(ended, thread, self._answers(people))

    def _answers(self, people: People) -> Iterator[Answers]:
        for each in people:
            if isinstance(each, Mapping):
                yield each
            else:
                self.host.clock.now += each
                yield {}

    async def _cancelled(self, running: Report | Awaitable[Report]) -> None:
        assert isinstance(running, Coroutine), "a plain function cannot be cancelled"
        task = asyncio.create_task(running)
        until = time.monotonic() + PATIENCE
        while not self.bench.ran and time.monotonic() < until:  # noqa: ASYNC110  a body says so
            await asyncio.sleep(POLL)
        assert self.bench.ran, "no body began to run"
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _done(running: Report | Coroutine[Any, Any, Report]) -> Report:
    return running if isinstance(running, Report) else asyncio.run(running)


def staged(
    adapter: Adapter, *contracts: Contract, mode: Mode = "enforce", risk: RiskPolicy | None = None
) -> Stage:
    """A new agent of this adapter, under these contracts and this policy of risk."""
    records: list[dict[str, Any]] = []
    guard = Guard(contracts, mode=mode, log=records.append, log_args=True, risk=risk)
    host = Host(guard, Bench(), Clock())
    return Stage(adapter.open(host), host, records)


Open: TypeAlias = Callable[..., Stage]
"""`opened(*contracts, mode=, risk=)`: a new agent of the adapter that is tried; see `staged`."""
