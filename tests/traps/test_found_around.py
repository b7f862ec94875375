"""What was found around a session: the collector, forks, snapshots in between, clocks, stores."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, CallBlocked, Guard, atom, contract
from sponsio_like.outcome import Mode, Violation
from sponsio_like.session import Session
from sponsio_like.session.collected import COLLECTING
from sponsio_like.worlds import Entry, MemoryWorld
from tests.semantics.manifest import requirement

MODES: tuple[Mode, ...] = ("enforce", "observe")
SECONDS = 20


def _guard(*rules: str, mode: Mode = "enforce", world: bool = False) -> Guard:
    """One contract for each formula."""
    each = [contract(f"c{n}").guarantees({"ltl": rule}) for n, rule in enumerate(rules)]
    return Guard([one.world() for one in each] if world else each, mode=mode)


def _pay() -> None:
    """A tool."""


def _ends(work: Callable[[], Any]) -> bool:
    """Whether a thread that does this ends soon."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(SECONDS)
    return not thread.is_alive()


def _soon(is_so: Callable[[], bool]) -> bool:
    """Whether it is so, soon."""
    end = time.monotonic() + SECONDS
    while not is_so() and time.monotonic() < end:
        time.sleep(0.01)
    return is_so()


# --- the collector --------------------------------------------------------------------------------


class _Cycle:
    """An object that only the collector can remove."""

    def __init__(self, body: Any) -> None:
        self.me, self.body = self, body


class _Never:
    """What is never there."""

    def __await__(self) -> Generator[None, None, None]:
        yield


@requirement("S-TOOL-14")
@pytest.mark.parametrize("mode", MODES)
def test_the_collector_ends_a_generator_while_a_call_is_decided(mode: Mode) -> None:
    """A consumer that stops half-way, in a cycle: the collector may come within the lock."""
    guard = _guard("G(count(called(rows)) <= 5)", mode=mode)

    @guard.tool
    def rows() -> Generator[int, None, None]:
        return (n for n in range(3))

    session = guard.session()

    def collect() -> None:
        with session.active():
            next(_Cycle(rows()).body)
        with session._inner.lock:
            gc.collect()

    assert _ends(collect)
    assert _soon(lambda: not session._inner.in_flight())


@requirement("S-TOOL-14")
@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("mode", MODES)
def test_a_tool_that_the_collector_calls_is_decided_or_refused(mode: Mode, held: bool) -> None:
    """It is refused while its own thread decides another call; it never waits for itself."""
    guard, ran = _guard("G(count(called(rows)) <= 5)", mode=mode), list[str]()
    tidy: Any = guard.tool(lambda: ran.append("x"), name="tidy")

    def body() -> Generator[int, None, None]:
        try:
            yield 1
        finally:
            with suppress(CallBlocked):
                tidy()

    def made() -> Generator[int, None, None]:
        return body()

    rows: Any = guard.tool(made, name="rows")
    session = guard.session()

    def collect() -> None:
        with session.active():
            next(_Cycle(rows()).body)
            with session._inner.lock if held else nullcontext():
                gc.collect()

    assert _ends(collect)
    assert ran == ([] if held and mode == "enforce" else ["x"])


@requirement("S-TOOL-14")
def test_the_collector_ends_a_coroutine_while_a_call_is_decided() -> None:
    """Likewise a coroutine that was never finished; the call has failed."""
    guard = _guard("G(called(pay) -> Y O failed(fetch))")

    @guard.tool
    async def fetch() -> None:
        await _Never()

    guard.tool(_pay, name="pay")
    session = guard.session()

    def collect() -> None:
        with session.active():
            _Cycle(fetch()).body.send(None)
        with session._inner.lock:
            gc.collect()

    assert _ends(collect)
    assert _soon(lambda: isinstance(session.decide("pay", {}), Allowed))


# --- what tools return ----------------------------------------------------------------------------


@requirement("S-TOOL-14")
@pytest.mark.parametrize("mode", MODES)
def test_an_asynchronous_generator_gets_what_is_sent_and_thrown(mode: Mode) -> None:
    """As a plain one does."""
    guard = _guard("G(count(called(*)) <= 5)", mode=mode)

    async def body() -> AsyncGenerator[Any, Any]:
        got: Any = None
        while got != "stop":
            try:
                got = yield got
            except ValueError as error:
                got = str(error)

    @guard.tool
    def rows() -> AsyncGenerator[Any, Any]:
        return body()

    async def play(session: Session) -> list[Any]:
        with session.active():
            each = rows()
        said = [
            await each.asend(None),
            await each.asend("sent"),
            await each.athrow(ValueError("x")),
        ]
        assert session._inner.in_flight()
        with pytest.raises(StopAsyncIteration):
            await each.asend("stop")
        return said

    session = guard.session()
    assert asyncio.run(play(session)) == [None, "sent", "x"]
    assert not session._inner.in_flight()


@requirement("S-TOOL-14")
@pytest.mark.parametrize("mode", MODES)
def test_a_plain_tool_may_return_a_task(mode: Mode) -> None:
    """Its caller gets the task, and may cancel it; the call is in flight until it is done."""
    guard = _guard("G(called(pay) -> Y O failed(start))", mode=mode)

    @guard.tool
    def start(seconds: float) -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(asyncio.sleep(seconds))

    guard.tool(_pay, name="pay")

    async def play(session: Session) -> None:
        with session.active():
            short, long = start(0), start(60)
        assert len(session._inner.in_flight()) == 2
        await short
        await short
        assert len(session._inner.in_flight()) == 1
        assert isinstance(session.decide("pay", {}), Blocked) == (mode == "enforce")
        long.cancel()
        await asyncio.wait([long])
        await asyncio.sleep(0)
        assert isinstance(session.decide("pay", {}), Allowed)

    asyncio.run(play(guard.session()))


@requirement("S-TOOL-14")
@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_a_generator_that_never_begins_has_failed(mode: Mode, later: bool) -> None:
    """Its call is in flight until it is thrown away; one that runs is not settled twice."""
    guard = _guard("G(called(pay) -> Y O failed(rows))", mode=mode)

    async def one() -> AsyncGenerator[int, None]:
        yield 1

    def rows() -> Any:
        return one() if later else (each for each in [1])

    tool: Any = guard.tool(rows)
    guard.tool(_pay, name="pay")
    session = guard.session()
    with session.active():
        kept, dropped = tool(), tool()
    del dropped
    gc.collect()
    assert len(session._inner.in_flight()) == 1
    assert isinstance(session.decide("pay", {}), Allowed)
    assert (asyncio.run(_all(kept)) if later else [*kept]) == [1]
    assert len(session._inner.in_flight()) == 1  # `pay`


async def _all(each: AsyncGenerator[int, None]) -> list[int]:
    return [one async for one in each]


@requirement("S-TOOL-14")
@pytest.mark.parametrize("closes", [False, True])
def test_a_tool_may_return_a_future_that_is_done(closes: bool) -> None:
    """Its result is there at once, also if its loop is closed by then."""
    guard = _guard("G(called(pay) -> Y O done(start))")
    guard.tool(_pay, name="pay")
    loop = asyncio.new_event_loop()
    done: asyncio.Future[int] = loop.create_future()
    done.set_result(1)

    @guard.tool
    def start() -> asyncio.Future[int]:
        return done

    async def play(session: Session) -> Any:
        with session.active():
            assert await start() == 1
        return session.decide("pay", {})

    session = guard.session()
    if closes:
        loop.close()
        with session.active():
            assert start() is done
        assert isinstance(session.decide("pay", {}), Allowed)
    else:
        assert isinstance(loop.run_until_complete(play(session)), Allowed)
        loop.close()


# --- forks ----------------------------------------------------------------------------------------


def _child(work: Callable[[], bool]) -> int:
    """The exit status of a forked process: 0 if `work` returned True there, soon."""
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        os._exit(0 if work() else 1)
    return os.waitpid(child, 0)[1]


@requirement("S-FAIL-09")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_session_that_was_forked_within_a_decision_is_in_doubt(mode: Mode) -> None:
    """Nobody knows how much the other thread had changed; the parent goes on."""
    session = _guard("G(count(called(pay)) <= 5)", mode=mode).session()
    session.settle(session.decide("pay", {}).id)
    runs = Blocked if mode == "enforce" else Allowed
    with session._inner.lock:
        assert _child(lambda: isinstance(session.decide("pay", {}), runs)) == 0
    assert _child(lambda: isinstance(session.decide("pay", {}), Allowed)) == 0
    assert isinstance(session.decide("pay", {}), Allowed)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_opens_sessions() -> None:
    """Whatever the threads of its parent were just about to do."""
    from sponsio_like.logic import tree
    from sponsio_like.session import session as made

    guard = _guard("G(count(called(*)) <= 5)")

    def decides() -> bool:
        new = _guard("G(count(called(x)) <= 7)").session("x")
        return isinstance(guard.session("a").decide("pay", {}), Allowed) and new.open

    with made.MAKING, tree._LOCK, guard._roster._lock:
        assert _child(decides) == 0


@requirement("S-FAIL-09")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize("within", [False, True])
def test_a_call_that_another_thread_was_settling_is_in_flight_in_a_fork(within: bool) -> None:
    """It can be settled there; `within`: the thread that settles it is the one that forks."""
    inside, go, statuses = threading.Event(), threading.Event(), list[int]()

    def reads(tool: str, result: Any) -> bool:
        if within and not statuses:
            statuses.append(0)
            statuses.append(os.fork())
        inside.set()
        return within or go.wait(SECONDS)

    atom("forks_or_waits", waits=True)(reads)
    session = _guard("G(called(pay) -> Y O(done(check) & forks_or_waits()))").session()
    session.decide("check", {}, id="1")

    def settled() -> bool:
        go.set()
        session.settle("1", output="x")
        passes = isinstance(session.decide("pay", {}, id="2"), Allowed)
        return passes and session._inner.in_flight() == ["2"]

    if within:
        done = settled()
        if statuses[-1] == 0:
            os._exit(0 if done else 1)
        assert done
        assert os.waitpid(statuses[-1], 0)[1] == 0
        return
    threading.Thread(target=session.settle, args=("1",), daemon=True).start()
    assert inside.wait(SECONDS)
    assert _child(settled) == 0
    go.set()
    assert _soon(settled)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_forgets_in_which_other_threads_the_collector_ran() -> None:
    """A new thread may get the number of one that is not there any more."""
    COLLECTING.add(-1)
    try:
        assert _child(lambda: -1 not in COLLECTING) == 0
    finally:
        COLLECTING.discard(-1)


# --- snapshots ------------------------------------------------------------------------------------


@requirement("S-SNAPSHOT-01")
def test_a_snapshot_is_made_while_a_result_is_read() -> None:
    """The call is in flight there, and can be settled by the session that is restored."""
    made: list[dict[str, Any]] = []

    def look(tool: str, result: Any) -> bool:
        made.append(session.snapshot())
        return True

    atom("looks_around", waits=True)(look)
    guard = _guard("G(called(pay) -> Y O(done(check) & looks_around()))")
    session = guard.session("a")
    session.decide("check", {}, id="1")
    session.settle("1", output="x")
    again = guard.restore(json.loads(json.dumps(made[0])))
    assert isinstance(again.decide("pay", {}), Blocked)
    assert again._inner.in_flight() == ["1"]
    session = again
    again.settle("1", output="x")
    assert isinstance(again.decide("pay", {}), Allowed)
    assert guard.restore(again.snapshot())._inner.in_flight() == again._inner.in_flight()


@requirement("S-SNAPSHOT-01")
def test_a_clock_may_say_times_before_zero() -> None:
    """Nothing says that it may not; a snapshot can be restored, and a store read."""
    now = [-9.0]
    guard, world = _guard("G(called(pay) -> O[<=5s] called(check))", world=True), MemoryWorld()

    def opened(session: Callable[..., Session], first: Any) -> Session:
        return session(first, clock=lambda: now[0], world=world)

    one = opened(guard.session, "a")
    one.decide("check", {})
    other = opened(guard.restore, json.loads(json.dumps(one.snapshot())))
    now[0] = -4.0
    assert isinstance(other.decide("pay", {}), Allowed)
    now[0] = -3.0
    assert isinstance(opened(guard.session, "a").decide("pay", {}), Blocked)


@requirement("S-SNAPSHOT-01")
def test_a_fact_that_was_told_without_a_clock_is_json_data() -> None:
    """Infinity is none."""

    def broken() -> float:
        raise OSError

    guard = _guard("G(called(pay) -> fact_age(day) <= 5)")
    session = guard.session(clock=broken)
    session.fact("day", "monday")
    plain = json.dumps(session.snapshot(), allow_nan=False)
    again = guard.restore(json.loads(plain), clock=lambda: 1.0)
    assert isinstance(again.decide("pay", {}), Blocked)


# --- stores ---------------------------------------------------------------------------------------


class _Failing(MemoryWorld):
    """A store that keeps nothing while it fails."""

    fails = False

    @contextmanager
    def entry(self, id: str) -> Iterator[Entry]:
        with super().entry(id) as entry:
            yield entry
            if self.fails:
                raise OSError


@requirement("S-INST-05")
@pytest.mark.parametrize("settles", [False, True])
def test_what_a_store_has_not_kept_is_told_once(settles: bool) -> None:
    """A deadline on the world that has run out, in a transaction that fails."""
    now, world = [0.0], _Failing()
    guard = _guard("G(called(a) -> F[<=5s] called(b))", world=True)
    session = guard.session("a", clock=lambda: now[0], world=world)
    session.decide("a", {}, id="1")
    now[0] = 9.0
    told: list[Violation] = []
    for world.fails in (True, False, False):
        told += session.settle("1") if settles else session.step([])
    assert [each.contract for each in told] == ["session", "c0"]


@requirement("S-WORLD-10")
def test_nobody_waits_for_the_store_of_another_session() -> None:
    """Not even for the first decision of a session without a store."""
    asked, go = threading.Event(), threading.Event()

    class Slow(MemoryWorld):
        @contextmanager
        def entry(self, id: str) -> Iterator[Entry]:
            asked.set()
            go.wait(SECONDS)
            with super().entry(id) as entry:
                yield entry

    guard = _guard("G(count(called(*)) <= 5)", world=True)
    thread = threading.Thread(target=lambda: guard.session("slow", world=Slow()), daemon=True)
    thread.start()
    assert asked.wait(SECONDS)
    decided = threading.Thread(target=lambda: guard.session().decide("a", {}), daemon=True)
    decided.start()
    decided.join(SECONDS / 4)
    waits = decided.is_alive()
    go.set()
    thread.join(SECONDS)
    assert not waits


@requirement("S-WORLD-03")
@pytest.mark.parametrize(
    "rule", ["X called(b, to = $x)", "X F[<=1] called(b, to = $x)", "X X called(b, to = $x)"]
)
def test_what_is_owed_at_the_next_call_is_owed_in_a_store(rule: str) -> None:
    """Of each value: a call of another tool is decided with a store as it is without one."""

    def said(world: MemoryWorld | None) -> list[Any]:
        guard = _guard(f"G(called(a, to = $x) -> {rule})", world=True)
        session, told = guard.session("s", world=world), list[Any]()
        for tool, to in (("a", "x"), ("c", "x"), ("c", "y"), ("b", "x"), ("c", "x"), ("a", "y")):
            outcome = session.decide(tool, {"to": to})
            session.settle(outcome.id)
            told.append((type(outcome).__name__, len(session.pending())))
        return told

    assert said(MemoryWorld()) == said(None)
