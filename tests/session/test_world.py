"""Contracts on the world: what they remember is kept outside, and no snapshot rewinds it."""

from __future__ import annotations

import gc
import json
import multiprocessing
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import (
    Allowed,
    Blocked,
    Guard,
    Held,
    Outcome,
    Redirected,
    Session,
    SessionError,
    atom,
    contract,
)
from sponsio_like.contracts.declaration import Pattern, catalog
from sponsio_like.patterns import (
    always_followed_by,
    idempotent,
    must_precede,
    rate_limit,
)
from sponsio_like.worlds import Entry, MemoryWorld, SqliteWorld, World
from tests.semantics.manifest import requirement
from tests.support import notation
from tests.support.play import opened

BUDGET = contract("budget").guarantees({"ltl": "G sum(pay, n) <= 100"}).world()
TWICE = contract("twice").guarantees(rate_limit("look", 2))
OURS = [each for each in catalog() if each.build.__module__.startswith("sponsio_like.")]


@pytest.fixture(params=["memory", "sqlite"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    """A store, of either kind."""
    return MemoryWorld() if request.param == "memory" else SqliteWorld(tmp_path / "world.db")


def text(data: Any) -> Any:
    """Data as a checkpoint keeps it: through text and back."""
    return json.loads(json.dumps(data))


def paid(session: Session, n: int, id: str) -> Outcome:
    """Decide a payment; if it is let through, it works."""
    outcome = session.decide("pay", {"n": n}, id=id)
    if isinstance(outcome, Allowed):
        session.settle(id, output="paid")
    return outcome


def contents(world: World, id: str = "s") -> Any:
    """What the store has under an id."""
    with world.entry(id) as entry:
        return text(entry.read())


class Broken:
    """A store that raises at a point: `enter`, `read`, `replace` or `exit`; works if it is ``."""

    def __init__(self, at: str) -> None:
        self.at = at
        self.inner = MemoryWorld()

    @contextmanager
    def entry(self, id: str) -> Iterator[Entry]:
        """A transaction, or not."""
        self.fail("enter")
        with self.inner.entry(id) as entry:
            yield BrokenEntry(self, entry)
            self.fail("exit")

    def fail(self, point: str) -> None:
        """Raise, if this is the point."""
        if self.at == point:
            raise OSError("the disk is gone")


class BrokenEntry:
    """An entry of a store that raises."""

    def __init__(self, world: Broken, inner: Entry) -> None:
        self.world = world
        self.inner = inner

    def read(self) -> Mapping[str, Any] | None:
        """The data, or not."""
        self.world.fail("read")
        return self.inner.read()

    def replace(self, data: Mapping[str, Any]) -> None:
        """Replace it, or not."""
        self.world.fail("replace")
        self.inner.replace(data)


# --- what it is -----------------------------------------------------------------------------------


@requirement("S-WORLD-01")
def test_a_contract_says_that_it_is_on_the_world(tmp_path: Path) -> None:
    """`world: true` in a file and `.world()` in Python say the same; the policy names them."""
    path = tmp_path / "contracts.yaml"
    path.write_text(
        "version: 1\ncontracts:\n"
        "  - {name: a, guarantee: tool `pay` at most 3 times, world: true}\n"
        "  - {name: b, guarantee: tool `pay` at most 3 times, world: false}\n"
        "  - {name: c, guarantee: tool `pay` at most 3 times}\n"
    )
    assert Guard.from_yaml(path).policy.world == ("a",)
    assert Guard([BUDGET, TWICE]).policy.world == ("budget",)


def test_anything_but_true_and_false_is_refused(tmp_path: Path) -> None:
    """A `world` that is neither true nor false is a mistake, with its place."""
    path = tmp_path / "contracts.yaml"
    path.write_text(
        "version: 1\ncontracts:\n  - {name: a, guarantee: tool `pay` at most 3 times, world: 1}\n"
    )
    with pytest.raises(Exception, match=r"3:\d+: `1` is not true or false"):
        Guard.from_yaml(path)


@requirement("S-WORLD-02")
def test_a_session_without_a_store_is_the_world() -> None:
    """Without a store the session remembers everything, and its snapshot has everything."""
    guard = Guard([BUDGET, TWICE])
    session = guard.session("s")
    session.place("anywhere")
    paid(session, 60, "a")
    again = guard.restore(text(session.snapshot()))
    assert again.started_anew == ()
    assert isinstance(paid(again, 60, "b"), Blocked)


def test_what_is_no_store_is_refused() -> None:
    """Something else than a store, such as a path, is refused when the session is opened."""
    with pytest.raises(SessionError, match=r"SqliteWorld"):
        Guard([BUDGET]).session("s", world="world.db")  # type: ignore[arg-type]


def test_a_session_over_a_store_has_an_id() -> None:
    """A made id would be that of another session in another process: with a store it is refused."""
    with pytest.raises(SessionError, match="needs an id"):
        Guard([BUDGET]).session(world=MemoryWorld())


def test_a_place_is_a_text() -> None:
    """A place that is no text is an error of the host."""
    with pytest.raises(SessionError, match="has to be a string"):
        Guard([BUDGET]).session("s", world=MemoryWorld()).place(5)  # type: ignore[arg-type]


# --- lineage and world ----------------------------------------------------------------------------


@requirement("S-WORLD-03")
def test_a_fork_sees_what_was_paid(world: World) -> None:
    """After a fork the lineage's contracts count from the fork on, those on the world all of it."""
    guard = Guard([BUDGET, TWICE])
    first = guard.session("s", world=world)
    early = text(first.snapshot())
    first.place("one")
    assert isinstance(first.decide("look"), Allowed)
    assert isinstance(first.decide("look"), Allowed)
    assert isinstance(paid(first, 60, "a"), Allowed)
    fork = guard.restore(early, world=world)
    fork.place("two")
    assert isinstance(fork.decide("look"), Allowed)
    assert isinstance(paid(fork, 60, "a"), Blocked)
    assert isinstance(paid(fork, 40, "b"), Allowed)
    assert isinstance(paid(first, 1, "c"), Blocked)


@pytest.mark.long
@requirement("S-WORLD-03")
def test_a_new_session_of_the_same_id_goes_on(world: World) -> None:
    """The world outlives its sessions; other ids have worlds of their own."""
    guard = Guard([BUDGET])
    assert isinstance(paid(guard.session("s", world=world), 60, "a"), Allowed)
    gc.collect()
    again = guard.session("s", world=world)
    again.place("later")
    assert isinstance(paid(again, 60, "a"), Blocked)
    assert isinstance(paid(guard.session("t", world=world), 60, "a"), Allowed)


@requirement("S-WORLD-03")
def test_a_snapshot_beside_a_store_has_the_lineage_only(world: World) -> None:
    """What is on the world is not in the snapshot, and is never taken from one."""
    guard = Guard([BUDGET, TWICE])
    plain = guard.session("s")
    paid(plain, 90, "a")
    session = guard.restore(text(plain.snapshot()), world=world)
    assert session.started_anew == ("budget",)
    assert isinstance(paid(session, 90, "b"), Allowed)
    data = text(session.snapshot())
    assert "budget" not in json.dumps(data)
    alone = guard.restore(data)
    assert alone.started_anew == ("budget",)
    assert guard.restore(data, world=world).started_anew == ()


# --- places ---------------------------------------------------------------------------------------


@requirement("S-WORLD-04")
def test_a_step_that_is_executed_again_counts_once(world: World) -> None:
    """From the snapshot before it, the same call at the same place counts for the lineage only."""
    guard = Guard([BUDGET, contract("once").guarantees(rate_limit("pay", 1))])
    first = guard.session("s", world=world)
    first.place("here")
    early = text(first.snapshot())
    assert isinstance(first.decide("pay", {"n": 60}, id="a"), Allowed)
    for _ in range(3):
        again = guard.restore(early, world=world)
        again.place("here")
        assert isinstance(again.decide("pay", {"n": 60}, id="a"), Allowed)
        assert isinstance(again.decide("pay", {"n": 1}, id="b"), Blocked)  # it has counted
    again.settle("a", output="paid")
    other = Guard(guard.policy.contracts).session("s", world=world)
    other.place("there")
    assert isinstance(other.decide("pay", {"n": 41}, id="a"), Blocked)
    assert isinstance(other.decide("pay", {"n": 40}, id="a"), Allowed)


@requirement("S-WORLD-04")
def test_a_result_settles_lineage_and_world(world: World) -> None:
    """After a crash between tool and result, the result of the second execution settles both."""
    checked = contract("checked").guarantees(must_precede("check", "pay"))
    guard = Guard([checked.world()])
    first = guard.session("s", world=world)
    first.place("here")
    early = text(first.snapshot())
    first.decide("check", id="a")
    again = guard.restore(early, world=world)
    again.place("here")
    assert isinstance(again.decide("check", id="a"), Allowed)
    assert isinstance(again.decide("pay"), Blocked)
    assert again.settle("a", output="fine") == ()
    assert isinstance(again.decide("pay"), Allowed)
    assert isinstance(guard.session("s", world=world).decide("pay"), Allowed)


@requirement("S-WORLD-04")
def test_what_was_settled_stays_settled(world: World) -> None:
    """A call whose first result has arrived keeps it, whatever its second execution says."""
    checked = contract("checked").guarantees(must_precede("check", "pay"))
    guard = Guard([contract("world").guarantees(must_precede("check", "pay")).world(), checked])
    first = guard.session("s", world=world)
    first.place("here")
    early = text(first.snapshot())
    first.settle(first.decide("check", id="a").id)
    again = guard.restore(early, world=world)
    again.place("here")
    assert isinstance(again.decide("check", id="a"), Allowed)
    again.settle("a", error="this time it failed")
    blocked = again.decide("pay")
    assert isinstance(blocked, Blocked)
    assert [each.contract for each in blocked.violations] == ["checked"]


@requirement("S-WORLD-04")
def test_a_call_that_was_let_through_is_not_judged_again(world: World) -> None:
    """What used up the budget is let through again at its place, and refused anywhere else."""
    guard = Guard([BUDGET])
    first = guard.session("s", world=world)
    first.place("here")
    early = text(first.snapshot())
    assert isinstance(paid(first, 100, "a"), Allowed)
    for place, expected in (("here", Allowed), ("there", Blocked)):
        again = guard.restore(early, world=world)
        again.place(place)
        assert isinstance(paid(again, 100, "a"), expected)


@requirement("S-WORLD-05")
def test_what_is_not_the_same_call_counts_anew(world: World) -> None:
    """Another id, tool, argument or agent at the same place is another call."""
    guard = Guard([contract("few").guarantees(rate_limit("*", 5)).world()])
    first = guard.session("s", world=world)
    first.place("here")
    early = text(first.snapshot())
    first.decide("pay", {"n": 1}, id="a")
    others: list[tuple[str, dict[str, int], str, str]] = [
        ("pay", {"n": 1}, "b", "agent"),
        ("pay", {"n": 2}, "a", "agent"),
        ("tip", {"n": 1}, "a", "agent"),
        ("pay", {"n": 1}, "a", "bob"),
    ]
    for tool, args, id, agent in others:
        again = guard.restore(early, world=world)
        again.place("here")
        assert isinstance(again.decide(tool, args, id=id, agent=agent), Allowed)
    assert isinstance(first.decide("pay", {"n": 3}, id="z"), Blocked)


@requirement("S-WORLD-05")
@pytest.mark.parametrize("place", ["", "here"])
def test_an_id_that_is_used_again_is_a_new_call(world: World, place: str) -> None:
    """In one lineage an id may be used again once its call has settled; then it counts anew."""
    guard = Guard([BUDGET])
    session = guard.session("s", world=world)
    session.place(place)
    assert isinstance(paid(session, 40, "a"), Allowed)
    session = guard.restore(text(session.snapshot()), world=world)
    session.place(place)
    assert isinstance(paid(session, 40, "a"), Allowed)
    assert isinstance(paid(session, 40, "a"), Blocked)


@requirement("S-WORLD-05")
def test_an_id_is_remembered_from_its_result_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the call was in flight, and whatever was decided meanwhile."""
    monkeypatch.setattr("sponsio_like.session.world.USES_CAP", 3)
    session = Guard([BUDGET]).session("s", world=MemoryWorld())
    assert isinstance(session.decide("pay", {"n": 60}, id="a"), Allowed)
    assert isinstance(paid(session, 1, "b"), Allowed)
    assert isinstance(paid(session, 1, "c"), Allowed)
    session.settle("a")
    assert isinstance(paid(session, 1, "d"), Allowed)
    assert isinstance(paid(session, 60, "a"), Blocked)


@requirement("S-WORLD-05")
def test_a_place_that_comes_up_anew_counts_anew(world: World) -> None:
    """The same id at the next place is the next call, as after a replay."""
    guard = Guard([BUDGET])
    session = guard.session("s", world=world)
    for place, expected in (("one", Allowed), ("two", Allowed), ("three", Blocked)):
        session.place(place)
        assert isinstance(paid(session, 50, "a"), expected)


def test_a_call_in_flight_is_settled_from_a_later_place(world: World) -> None:
    """The result of a call settles it, wherever the session stands by then."""
    guard = Guard([contract("checked").guarantees(must_precede("check", "pay")).world()])
    session = guard.session("s", world=world)
    session.place("one")
    session.decide("check", id="a")
    session = guard.restore(text(session.snapshot()), world=world)
    session.place("two")
    session.settle("a")
    assert isinstance(session.decide("pay"), Allowed)


@requirement("S-WORLD-12")
def test_the_store_forgets_what_was_settled_long_ago() -> None:
    """Of the calls that have settled, the last thousand are known; an entry does not grow."""
    world = MemoryWorld()
    guard = Guard([contract("some").guarantees(rate_limit("pay", 5000)).world()])
    session = guard.session("s", world=world, clock=lambda: 0.0)
    early = text(session.snapshot())
    sizes = []
    for n in range(2_200):
        session.settle(session.decide("pay", {"n": n}, id=f"{n}").id)
        if n in (1_100, 2_199):
            sizes.append(len(json.dumps(contents(world))))
    assert sizes[0] == sizes[1]
    assert len(json.dumps(session.snapshot())) < 60_000
    for n, counted in ((2_150, 2_200), (1_200, 2_200), (1_199, 2_201)):
        again = guard.restore(early, world=world, clock=lambda: 0.0)
        again.settle(again.decide("pay", {"n": n}, id=f"{n}").id)
        (part,) = contents(world)["contracts"].values()
        assert [times for _, times in part["positions"]] == [counted]


@requirement("S-WORLD-12")
def test_too_many_calls_in_flight_in_the_world_are_refused() -> None:
    """Calls that never settle, of any lineage, do not fill the store: one too many is refused."""
    world = MemoryWorld()
    guard = Guard([contract("some").guarantees(rate_limit("pay", 5000)).world()])
    for place in "ab":
        session = guard.session("s", world=world)
        session.place(place)
        for n in range(500):
            assert isinstance(session.decide("pay", id=f"{n}"), Allowed)
    blocked = session.decide("pay", id="one more")
    assert isinstance(blocked, Blocked)
    assert "too many calls are in flight" in blocked.advice
    session.settle("7")
    assert isinstance(session.decide("pay", id="one more"), Allowed)


# --- what is refused, held, redirected ------------------------------------------------------------


@requirement("S-WORLD-06")
@pytest.mark.parametrize("refuses", ["lineage", "world"])
def test_a_refused_call_leaves_no_trace(world: World, refuses: str) -> None:
    """Whoever refuses a call, the entry is as it was."""
    no = contract("no").guarantees({"ltl": "G !called(pay, n > 50)"})
    guard = Guard([BUDGET, no if refuses == "lineage" else no.world()])
    session = guard.session("s", world=world)
    session.decide("pay", {"n": 10}, id="a")
    before = contents(world)
    for _ in range(3):
        assert isinstance(session.decide("pay", {"n": 60}, id="b"), Blocked)
        assert isinstance(session.decide("pay", {"n": 95}, id="c"), Blocked)
    assert contents(world) == before


@requirement("S-WORLD-06")
def test_a_redirect_counts_the_substitute(world: World) -> None:
    """The substitute is what runs, so it is what counts, once, also when it is decided again."""
    small = contract("small").guarantees({"ltl": "G !called(pay, n > 50)"})
    small = small.strategy({"redirect_to_safe": {"to": "queue"}}).world()
    few = contract("few").guarantees(rate_limit("queue", 2)).world()
    guard = Guard([small, few])
    first = guard.session("s", world=world)
    first.place("here")
    early = text(first.snapshot())
    for settles in (False, True, True, True):
        again = guard.restore(early, world=world)
        again.place("here")
        outcome = again.decide("pay", {"n": 60}, id="a")
        assert isinstance(outcome, Redirected)
        assert outcome.tool == "queue"
        if settles:
            again.settle("a")
    assert isinstance(again.decide("queue", id="b"), Allowed)
    assert isinstance(again.decide("queue", id="c"), Blocked)


@requirement("S-WORLD-06")
def test_a_held_call_counts_when_it_is_let_through(world: World) -> None:
    """A call that waits for a person is not in the world; approved, it counts once."""
    held = contract("held").guarantees({"ltl": "G sum(pay, n) <= 50"})
    guard = Guard([held.strategy("escalate").world(), BUDGET])
    session = guard.session("s", world=world)
    session.place("here")
    outcome = session.decide("pay", {"n": 60}, id="a")
    assert isinstance(outcome, Held)
    assert contents(world) is None
    waiting = text(session.snapshot())
    for _ in range(2):  # approved, let through, lost, and executed again
        again = guard.restore(waiting, world=world)
        again.place("here")
        for ticket in again.tickets():
            again.approve(ticket, by="ann")
        assert isinstance(again.decide("pay", {"n": 60}, id="a"), Allowed)
    again.settle("a")
    other = guard.session("s", world=world)
    other.place("there")
    assert isinstance(other.decide("pay", {"n": 41}, id="b"), Blocked)
    assert isinstance(other.decide("pay", {"n": 1}, id="b"), Held)


# --- kinds of contracts ---------------------------------------------------------------------------


def test_a_prerequisite_on_the_world_holds_for_forks(world: World) -> None:
    """What was checked before the fork needs no second check, once it has settled."""
    guard = Guard([contract("checked").guarantees(must_precede("check", "pay")).world()])
    first = guard.session("s", world=world)
    early = text(first.snapshot())
    first.place("one")
    first.decide("check", id="a")
    fork = guard.restore(early, world=world)
    fork.place("two")
    assert isinstance(fork.decide("pay"), Blocked)
    first.settle("a")
    assert isinstance(fork.decide("pay"), Allowed)


def test_keyed_contracts_on_the_world_count_by_value(world: World) -> None:
    """A contract for each value has a state for each value in the world, too."""
    each = contract("each").guarantees(idempotent("book", by=["id"])).world()
    guard = Guard([each])
    first = guard.session("s", world=world)
    early = text(first.snapshot())
    first.place("one")
    for id in (1, 2):
        first.settle(first.decide("book", {"id": id}).id)
    fork = guard.restore(early, world=world)
    fork.place("two")
    assert isinstance(fork.decide("book", {"id": 1}), Blocked)
    assert isinstance(fork.decide("book", {"id": 3}), Allowed)
    assert isinstance(first.decide("book", {"id": 3}), Blocked)


def test_answers_on_the_world_are_tied_to_their_calls(world: World) -> None:
    """What a call has given is kept in the world until its answer comes, in whichever session."""
    tied = "G(called(back, order = $o, item = $i) -> Y O(done(get, id = $o) & output.items[] = $i))"
    guard = Guard([contract("w").guarantees({"ltl": tied}).world()])
    first = guard.session("s", world=world)
    asked = first.decide("get", {"id": "A"})
    fork = guard.restore(text(first.snapshot()), world=world)
    fork.settle(asked.id, output={"items": [1]})
    other = guard.session("s", world=world)
    assert isinstance(other.decide("back", {"order": "A", "item": 1}), Allowed)
    assert isinstance(other.decide("back", {"order": "A", "item": 2}), Blocked)
    assert isinstance(other.decide("back", {"order": "B", "item": 1}), Blocked)


def test_step_windows_on_the_world_count_its_own_steps(world: World) -> None:
    """A fork does not give back the steps that a window on the world has seen."""
    rule = "G(called(pay) -> count[<=3](pay) <= 1)"
    guard = Guard([contract("w").guarantees({"ltl": rule}).world()])
    first = guard.session("s", world=world)
    early = text(first.snapshot())
    first.place("one")
    for tool in ("look", "look", "pay"):
        assert isinstance(first.decide(tool), Allowed)
    fork = guard.restore(early, world=world)
    fork.place("two")
    assert isinstance(fork.decide("pay"), Blocked)
    assert isinstance(fork.decide("look"), Allowed)
    assert isinstance(fork.decide("pay"), Blocked)
    assert isinstance(first.decide("look"), Allowed)
    assert isinstance(fork.decide("pay"), Allowed)


def test_time_on_the_world_is_that_of_the_latest(world: World) -> None:
    """Time goes on for all that share an entry; one whose clock is behind stands still."""
    guard = Guard([contract("c").guarantees({"ltl": "G count[<=60s](pay) <= 1"}).world()])
    late = guard.session("s", world=world, clock=lambda: 100.0)
    early = guard.session("s", world=world, clock=lambda: 50.0)
    late.place("one")
    early.place("two")
    assert isinstance(late.decide("pay"), Allowed)
    assert isinstance(early.decide("pay"), Blocked)
    later = guard.session("s", world=world, clock=lambda: 160.0)
    later.place("three")
    assert isinstance(later.decide("pay"), Allowed)


def test_an_obligation_on_the_world_is_open_for_all(world: World) -> None:
    """What one lineage owes the world is pending in the other, which may fulfil it."""
    guard = Guard([contract("told").guarantees(always_followed_by("pay", "tell")).world()])
    first = guard.session("s", world=world)
    early = text(first.snapshot())
    first.place("one")
    first.settle(first.decide("pay").id)
    fork = guard.restore(early, world=world)
    fork.place("two")
    assert [each.contract for each in fork.pending()] == ["told"]
    assert fork.verdicts() == {"told": "inconclusive"}
    fork.settle(fork.decide("tell").id)
    assert first.pending() == ()
    assert first.finish() == ()


def test_a_bound_in_seconds_that_runs_out_is_reported_once(world: World) -> None:
    """Time that ran out in the world is reported to whoever comes first, and to nobody else."""
    now = [0.0]
    said: list[dict[str, Any]] = []
    rule = "G(called(pay) -> F[<=60s] called(tell))"
    guard = Guard([contract("soon").guarantees({"ltl": rule}).world()], log=said.append)
    first, fork = (guard.session("s", world=world, clock=lambda: now[0]) for _ in "ab")
    first.place("one")
    fork.place("two")
    first.decide("pay")
    now[0] = 100.0
    assert isinstance(fork.decide("look"), Allowed)
    assert isinstance(first.decide("look"), Allowed)
    late = [each for record in said for each in record["violations"]]
    assert [each["action"] for each in late] == ["reported"]
    assert first.verdicts() == {"soon": "violated"}


@requirement("S-WORLD-03")
def test_what_has_run_out_is_kept_where_nothing_else_changes(world: World) -> None:
    """A call that the contract does not count tells of it, and the next one does not."""
    now = [0.0]
    said: list[dict[str, Any]] = []
    rule = "G(message(user) -> F[<=60s] message(assistant))"
    guard = Guard([contract("soon").guarantees({"ltl": rule}).world()], log=said.append)
    first, fork = (guard.session("s", world=world, clock=lambda: now[0]) for _ in "ab")
    first.message("user", "please")
    now[0] = 100.0
    for session in (fork, first):
        assert isinstance(session.decide("look"), Allowed)
    late = [each for record in said for each in record["violations"]]
    assert [each["action"] for each in late] == ["reported"]


def test_step_bounds_wake_contracts_on_the_world(world: World) -> None:
    """An obligation within steps is called in by the calls of any lineage."""
    rule = "G(called(pay) -> X F[<=2] called(tell))"
    guard = Guard([contract("soon").guarantees({"ltl": rule}).world()])
    first, fork = (guard.session("s", world=world) for _ in "ab")
    first.place("one")
    fork.place("two")
    first.decide("pay")
    assert isinstance(fork.decide("look"), Allowed)
    assert isinstance(first.decide("look"), Allowed)
    assert isinstance(fork.decide("look"), Blocked)
    assert isinstance(first.decide("look"), Blocked)
    assert isinstance(fork.decide("tell"), Allowed)


@pytest.mark.parametrize("kept", [True, False])
def test_values_on_the_world_see_the_first_call(kept: bool, world: World) -> None:
    """A value for which only the first call may be made is refused later, whatever came first."""
    rule = contract("first of all").guarantees({"ltl": "G(called(b, to = $x) -> WY false)"})
    guard = Guard([rule.world() if kept else rule])
    session = guard.session("s", world=world if kept else None)
    assert isinstance(session.decide("a", {}), Allowed)
    assert isinstance(session.decide("b", {"to": "q"}), Blocked)


def test_messages_count_in_the_world(world: World) -> None:
    """Contracts on messages may be on the world, and judge answers before they are shown."""
    rule = 'G !(text matches "refund" & Y O text matches "refund")'
    guard = Guard([contract("said once").guarantees({"ltl": rule}).world()])
    first, fork = (guard.session("s", world=world) for _ in "ab")
    assert isinstance(first.message("assistant", "a refund"), Allowed)
    assert isinstance(fork.message("assistant", "a refund"), Blocked)
    assert isinstance(fork.message("user", "the weather"), Allowed)


def test_advice_knows_of_the_world(world: World) -> None:
    """The advice to a refused call counts what other lineages have done."""
    guard = Guard([contract("checked").guarantees(must_precede("check", "pay")).world(), BUDGET])
    first, fork = (guard.session("s", world=world) for _ in "ab")
    first.place("one")
    fork.place("two")
    first.settle(first.decide("check").id)
    blocked = fork.decide("pay", {"n": 101})
    assert isinstance(blocked, Blocked)
    assert "check" not in blocked.advice
    assert [each.contract for each in blocked.violations] == ["budget"]


@requirement("S-WORLD-07")
def test_where_it_is_only_observed_nothing_stops(world: World) -> None:
    """In observe mode forks see the true verdict, once for each time that it happens."""
    said: list[dict[str, Any]] = []
    guard = Guard([BUDGET], mode="observe", log=said.append)
    first = guard.session("s", world=world)
    early = text(first.snapshot())
    first.place("one")
    assert paid(first, 60, "a") == Allowed("a")
    fork = guard.restore(early, world=world)
    fork.place("two")
    outcome = paid(fork, 60, "a")
    assert isinstance(outcome, Allowed)
    assert [each.contract for each in outcome.observed] == ["budget"]
    again = guard.restore(early, world=world)
    again.place("two")
    assert paid(again, 60, "a") == Allowed("a")
    assert [len(r["violations"]) for r in said if r["event"] == "decision"] == [0, 1, 0]


class Texts(MemoryWorld):
    """A store that keeps text, as a file or a server does."""

    @contextmanager
    def entry(self, id: str) -> Iterator[Entry]:
        """A transaction."""
        with super().entry(id) as entry:
            yield Text(entry)


class Text:
    """An entry as text."""

    def __init__(self, inner: Entry) -> None:
        self.inner = inner

    def read(self) -> Mapping[str, Any] | None:
        """The data, made of text."""
        data = self.inner.read()
        return None if data is None else json.loads(data["text"])

    def replace(self, data: Mapping[str, Any]) -> None:
        """The data as text."""
        self.inner.replace({"text": json.dumps(data, allow_nan=False)})


@pytest.mark.long
@pytest.mark.parametrize("declared", OURS, ids=lambda each: each.name)
def test_every_pattern_means_the_same_on_the_world(declared: Pattern) -> None:
    """What a pattern says of its example traces does not depend on where its state is kept.

    Not even if every event is decided by a new session, made of a snapshot and the store.
    """
    one = contract("c").guarantees(declared.rule(declared.example))
    for trace in (*declared.keeps, *declared.breaks):
        plain, world = opened(one), Texts()
        apart = opened(one.world(), id="s", world=world)
        for word in notation.split(trace, " \n"):
            assert apart.word(word) == plain.word(word), (trace, word)
            data = text(apart.session.snapshot())
            apart.session = apart.guard.restore(data, clock=apart.clock, world=world)
            assert apart.session.started_anew == ()
            assert apart.session.verdicts() == plain.session.verdicts()
            assert apart.session.pending() == plain.session.pending()
        assert apart.unfulfilled() == plain.unfulfilled()


# --- stores that fail -----------------------------------------------------------------------------


@requirement("S-WORLD-08")
@pytest.mark.parametrize("at", ["enter", "read", "replace", "exit"])
def test_a_store_that_raises_blocks(at: str) -> None:
    """Where the store fails nothing runs, and nothing has changed when it works again."""
    world = Broken("")
    guard = Guard([BUDGET, contract("once").guarantees(rate_limit("pay", 2))])
    session = guard.session("s", world=world)
    assert isinstance(paid(session, 10, "a"), Allowed)
    before, data = text(session.snapshot()), contents(world)
    world.at = at
    blocked = session.decide("pay", {"n": 10}, id="b")
    assert isinstance(blocked, Blocked)
    assert "the store of the world failed: OSError: the disk is gone" in blocked.advice
    world.at = ""
    after = text(session.snapshot())
    assert {**after, "time": 0, "seal": ""} == {**before, "time": 0, "seal": ""}
    assert contents(world) == data
    assert isinstance(paid(session, 90, "b"), Allowed)
    assert isinstance(paid(session, 1, "c"), Blocked)


@requirement("S-WORLD-08")
@pytest.mark.parametrize("at", ["enter", "read", "replace", "exit"])
def test_a_store_that_raises_disturbs_no_observer(at: str) -> None:
    """Where everything observes, the call runs, and the failure is said."""
    world = Broken(at)
    session = Guard([BUDGET], mode="observe").session("s", world=world)
    outcome = session.decide("pay", {"n": 10}, id="a")
    assert isinstance(outcome, Allowed)
    assert ["the disk is gone" in each.message for each in outcome.observed] == [True]
    assert session.settle("a") == ()
    assert session.pending() == ()
    assert session.finish() == ()


@requirement("S-WORLD-08")
@pytest.mark.parametrize("at", ["enter", "read", "replace", "exit"])
def test_a_result_that_cannot_be_kept_may_come_again(at: str) -> None:
    """A result that the store does not take is reported, and counts for nobody until it does."""
    world = Broken("")
    checked = contract("a").guarantees(must_precede("check", "pay"))
    guard = Guard([checked.world(), contract("b").guarantees(must_precede("check", "pay"))])
    session = guard.session("s", world=world)
    session.decide("check", id="a")
    world.at = at
    (failure,) = session.settle("a", output="fine")
    assert "the result of `check` is not kept" in failure.message
    assert "the disk is gone" in failure.message
    world.at = ""
    blocked = session.decide("pay")
    assert isinstance(blocked, Blocked)
    assert [each.contract for each in blocked.violations] == ["a", "b"]
    assert session.settle("a", output="fine") == ()
    assert isinstance(session.decide("pay"), Allowed)


@requirement("S-WORLD-08")
@pytest.mark.parametrize("data", [[], 5, {"format": 2}, {"format": 1}, {"format": 1, "time": "x"}])
def test_an_entry_that_cannot_be_read_blocks(data: Any) -> None:
    """An entry that is damaged, or of another version, is like a store that fails."""
    world = MemoryWorld()
    guard = Guard([BUDGET])
    with world.entry("s") as entry:
        entry.replace(data)
    blocked = guard.session("s", world=world).decide("pay", {"n": 1})
    assert isinstance(blocked, Blocked)
    assert "the store of the world failed" in blocked.advice
    assert contents(world) == data


@requirement("S-WORLD-08")
def test_a_damaged_contract_of_an_entry_blocks(world: World) -> None:
    """The state of every contract is looked at before anything is decided on it."""
    guard = Guard([BUDGET])
    session = guard.session("s", world=world)
    paid(session, 10, "a")
    good = contents(world)
    (means,) = good["contracts"]
    for key in ("clauses", "positions", "flights", "settled"):
        for damage in (None, 5, [5], [], {"x": 1}):
            broken = text(good)
            broken["contracts"][means][key] = damage
            if broken == good:
                continue
            with world.entry("s") as entry:
                entry.replace(broken)
            for each in (session, guard.session("s", world=world)):
                assert isinstance(each.decide("pay", {"n": 1}), Blocked), (key, damage)


def test_a_message_that_the_store_does_not_take_is_not_shown() -> None:
    """An answer is blocked as a call is; a plain step is reported."""
    world = Broken("")
    rule = 'G(text matches "secret" -> O step(door))'
    session = Guard([contract("c").guarantees({"ltl": rule}).world()]).session("s", world=world)
    world.at = "enter"
    assert isinstance(session.message("assistant", "hello"), Blocked)
    (failure,) = session.step(["door"])
    assert "the disk is gone" in failure.message


# --- changed contracts ----------------------------------------------------------------------------


@requirement("S-WORLD-09")
def test_a_session_over_an_entry_names_what_starts_anew() -> None:
    """What others have counted there under this id was not counted by this contract."""
    world = MemoryWorld()
    Guard([BUDGET]).session("s", world=world).decide("pay", {"n": 1})
    few = contract("few").guarantees(rate_limit("pay", 1)).world()
    assert Guard([few]).session("s", world=world).started_anew == ("few",)


@requirement("S-WORLD-09")
def test_a_changed_contract_on_the_world_starts_anew(world: World) -> None:
    """What means the same keeps its entry; what has changed begins again, and is named."""
    few = contract("few").guarantees(rate_limit("pay", 1)).world()
    other = contract("few").guarantees(rate_limit("pay", 2)).world()
    session = Guard([BUDGET, few]).session("s", world=world)
    session.place("one")
    assert session.started_anew == ()
    assert isinstance(paid(session, 60, "a"), Allowed)
    changed = Guard([other, BUDGET]).restore(text(session.snapshot()), world=world)
    changed.place("two")
    assert changed.started_anew == ("few",)
    assert isinstance(paid(changed, 50, "b"), Blocked)
    assert isinstance(paid(changed, 20, "b"), Allowed)
    assert isinstance(paid(changed, 20, "c"), Allowed)
    assert Guard([other, BUDGET]).session("s", world=world).started_anew == ()


@requirement("S-WORLD-09")
def test_versions_side_by_side_do_not_reset_each_other(world: World) -> None:
    """While two versions of a contract run, each goes on with its own state."""
    one, two = (contract("few").guarantees(rate_limit("pay", n)).world() for n in (1, 2))
    old, new = (Guard([each]).session("s", world=world) for each in (one, two))
    old.place("one")
    new.place("two")
    assert isinstance(paid(old, 1, "a"), Allowed)
    assert isinstance(paid(new, 1, "a"), Allowed)
    for _ in range(3):
        assert isinstance(paid(old, 1, "x"), Blocked)
        paid(new, 1, "y")
    assert isinstance(paid(new, 1, "z"), Blocked)


@requirement("S-WORLD-09")
def test_guards_that_share_a_contract_share_its_world(world: World) -> None:
    """Two guards over one store and id count what both have, and keep what the other has."""
    tips = contract("tips").guarantees(rate_limit("tip", 1)).world()
    one = Guard([BUDGET]).session("s", world=world)
    two = Guard([tips, BUDGET]).session("s", world=world)
    one.place("one")
    two.place("two")
    assert isinstance(two.decide("tip"), Allowed)
    assert isinstance(paid(two, 60, "a"), Allowed)
    assert isinstance(paid(one, 60, "a"), Blocked)
    assert isinstance(paid(one, 40, "a"), Allowed)
    assert isinstance(two.decide("tip"), Blocked)
    assert isinstance(paid(two, 1, "b"), Blocked)


def test_versions_of_long_ago_are_forgotten() -> None:
    """An entry does not grow with every version that there ever was of a contract."""
    world = MemoryWorld()
    for n in range(1, 301):
        guard = Guard([contract("few").guarantees(rate_limit("pay", n)).world()])
        guard.session("s", world=world).decide("pay")
    assert len(contents(world)["contracts"]) == 100


def test_a_changed_contract_forgets_what_waited_for_results(world: World) -> None:
    """A call that is in flight while its contract changes settles for those that have not."""
    old = contract("checked").guarantees(must_precede("check", "pay")).world()
    new = contract("checked").guarantees(must_precede("check", "refund")).world()
    session = Guard([old, BUDGET]).session("s", world=world)
    session.place("one")
    session.decide("check", id="a")
    changed = Guard([new, BUDGET]).restore(text(session.snapshot()), world=world)
    changed.place("one")
    changed.settle("a")
    assert changed.settle("a") == ()


@requirement("S-WORLD-09")
def test_a_store_that_was_lost_is_named(world: World) -> None:
    """A lineage that has lived, over a store without an entry: its contracts start anew."""
    said = contract("said").guarantees({"ltl": 'G !(text matches "x")'}).world()
    for one, anew in ((BUDGET, "budget"), (said, "said")):
        session = Guard([one]).session("s", world=world)
        data = text(session.snapshot())
        assert Guard([one]).restore(data, world=MemoryWorld()).started_anew == ()
        session.decide("look", id="a")
        data = text(session.snapshot())
        assert Guard([one]).restore(data, world=MemoryWorld()).started_anew == (anew,)
        assert Guard([one]).restore(data, world=world).started_anew == ()


@requirement("S-WORLD-04")
def test_a_result_that_was_lost_comes_with_another_try() -> None:
    """A call in flight that a host has lost is decided again at its place, and settled."""
    world = MemoryWorld()
    guard = Guard([contract("checked").guarantees(must_precede("check", "pay")).world()])
    lost = guard.session("s", world=world)
    lost.place("here")
    lost.decide("check", id="a")
    later = guard.session("s", world=world)
    later.place("there")
    later.decide("look", id="b")
    later.place("here")
    later.decide("check", id="a")
    later.settle("a")
    assert isinstance(later.decide("pay"), Allowed)


# --- users' code ----------------------------------------------------------------------------------


@requirement("S-WORLD-10")
def test_no_transaction_is_open_while_code_of_the_user_runs() -> None:
    """Atoms, clocks, strategies and notifiers run outside of transactions on the store."""
    world = MemoryWorld()
    free: list[bool] = []

    def look(*_: Any) -> bool:
        free.append(not world._lock.locked())
        return True

    @atom(name="world_is_free")
    def world_is_free(event: Any, context: Any) -> bool:
        return look(event, context)

    @atom(name="world_is_free_later", waits=True)
    def world_is_free_later(tool: str, result: Any) -> bool:
        return look(tool, result)

    def clock() -> float:
        return float(look())

    rules = (
        contract("a").guarantees({"ltl": "G(called(pay) -> world_is_free())"}).world(),
        contract("b").guarantees({"ltl": "G(called(pay) -> world_is_free_later())"}).world(),
        contract("c")
        .guarantees({"ltl": "G !called(pay)"})
        .strategy(lambda _: "warn_only" if look() else "block")
        .world(),
    )
    session = Guard(rules).session("s", world=world, clock=clock)
    assert isinstance(session.decide("pay", id="a"), Allowed)
    session.settle("a")
    session.finish()
    assert len(free) > 6
    assert all(free)


# --- concurrency ----------------------------------------------------------------------------------


def spend(world: World, names: list[str], tries: int) -> list[int]:
    """So many payments of 1 under a budget of 100, in a thread for each name; how many worked."""
    guard = Guard([BUDGET])
    worked = dict.fromkeys(names, 0)
    start = threading.Barrier(len(names))

    def run(name: str) -> None:
        session = guard.session("s", world=world)
        session.place(name)
        start.wait()
        for n in range(tries):
            worked[name] += isinstance(paid(session, 1, f"{n}"), Allowed)

    threads = [threading.Thread(target=run, args=(name,)) for name in names]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return list(worked.values())


@requirement("S-WORLD-11")
def test_threads_never_overspend(world: World) -> None:
    """Of four threads, each a lineage of its own, exactly 100 payments of 1 are let through."""
    assert sum(spend(world, list("abcd"), 40)) == 100


@requirement("S-WORLD-11")
def test_threads_of_one_session_never_overspend(world: World) -> None:
    """Of four threads on one session, exactly 100 payments of 1 are let through."""
    session = Guard([BUDGET]).session("s", world=world)
    worked: list[bool] = []

    def run() -> None:
        worked.extend(isinstance(session.decide("pay", {"n": 1}), Allowed) for _ in range(40))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sum(worked) == 100


def spend_in_process(path: str, names: list[str], out: Any) -> None:
    """What one process does: open the file, and spend."""
    out.put(sum(spend(SqliteWorld(path, timeout=30.0), names, 40)))


@pytest.mark.long
@requirement("S-WORLD-11")
def test_processes_never_overspend(tmp_path: Path) -> None:
    """Of two processes with two threads each, exactly 100 payments of 1 are let through."""
    path = str(tmp_path / "world.db")
    context = multiprocessing.get_context("spawn")
    out = context.Queue()
    names = [["a", "b"], ["c", "d"]]
    made = [context.Process(target=spend_in_process, args=(path, each, out)) for each in names]
    for each in made:
        each.start()
    assert sum(out.get(timeout=60) for _ in made) == 100
    for each in made:
        each.join(timeout=10)


@requirement("S-WORLD-11")
def test_a_step_that_runs_twice_at_once_counts_once(world: World) -> None:
    """Two workers that execute the same step at the same time count its call once."""
    guard = Guard([BUDGET])
    early = text(guard.session("s", world=world).snapshot())
    start = threading.Barrier(4)
    outcomes: list[Outcome] = []

    def run() -> None:
        session = guard.restore(early, world=world)
        session.place("here")
        start.wait()
        outcomes.append(paid(session, 60, "a"))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert [type(each) for each in outcomes] == [Allowed] * 4
    other = guard.session("s", world=world)
    other.place("there")
    assert isinstance(paid(other, 41, "a"), Blocked)


# --- the stores -----------------------------------------------------------------------------------


def test_a_transaction_that_raises_changes_nothing(world: World) -> None:
    """A transaction that is left by an exception has not happened, and the next one may begin."""
    with world.entry("s") as entry:
        assert entry.read() is None
        entry.replace({"a": 1})

    def fails() -> None:
        with world.entry("s") as entry:
            entry.replace({"a": 2})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert contents(world) == {"a": 1}
    assert contents(world, "t") is None


def test_transactions_come_one_after_another(world: World) -> None:
    """What is read and replaced in one transaction is not overtaken by another."""

    def add() -> None:
        for _ in range(50):
            with world.entry("s") as entry:
                entry.replace({"n": (entry.read() or {"n": 0})["n"] + 1})

    threads = [threading.Thread(target=add) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert contents(world) == {"n": 200}


def test_a_file_is_closed_and_opened_again(tmp_path: Path) -> None:
    """A store in a file keeps its entries when it is closed, and for others who open it."""
    world = SqliteWorld(tmp_path / "world.db")
    with world.entry("s") as entry:
        entry.replace({"a": 1})
    world.close()
    assert contents(world) == {"a": 1}
    assert contents(SqliteWorld(tmp_path / "world.db", durable=False)) == {"a": 1}


def test_a_file_that_is_locked_is_waited_for(tmp_path: Path) -> None:
    """A transaction waits for another one as long as the store was told, then raises."""
    path = tmp_path / "world.db"
    world, other = SqliteWorld(path, timeout=0.05), SqliteWorld(path)
    with other.entry("s") as entry:
        entry.replace({"a": 1})
        with pytest.raises(sqlite3.OperationalError, match="locked"), world.entry("s"):
            pass
    assert contents(world) == {"a": 1}


def test_a_path_that_cannot_be_opened_raises(tmp_path: Path) -> None:
    """A file that cannot be made is an error at once, not at the first call."""
    with pytest.raises(sqlite3.OperationalError):
        SqliteWorld(tmp_path / "nowhere" / "world.db", timeout=0.0)


@pytest.mark.parametrize(
    "formula", ["G count(pay) <= 1", "G(called(pay, to=$v) -> !Y O called(pay, to=$v))"]
)
def test_what_a_store_has_forgotten_has_not_happened(formula: str) -> None:
    """An entry that is gone starts anew, in a session that knew it, too; with values as without."""
    world = MemoryWorld()
    session = Guard([contract("once").guarantees({"ltl": formula}).world()]).session(
        "s", world=world
    )

    def paid() -> bool:
        outcome = session.decide("pay", {"to": "eve"})
        if isinstance(outcome, Allowed):
            session.settle(outcome.id)
        return isinstance(outcome, Allowed)

    assert [paid(), paid()] == [True, False]
    world._data.clear()
    assert [paid(), paid()] == [True, False]
