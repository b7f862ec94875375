"""Who may run a call: what the store of the world says, and what a batch writes there."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.types import Command

from sponsio_like.adapters.langgraph import approve
from sponsio_like.adapters.langgraph.leases import Lease, Taken
from sponsio_like.worlds import Entry, MemoryWorld, Processes, SqliteWorld
from tests.adapters.bench import POLL
from tests.adapters.harness import Call
from tests.adapters.processes import elsewhere, start
from tests.adapters.rules import asked, spending
from tests.adapters.talks import Way, ask, everywhere


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


def calls(*amounts: int) -> list[Call]:
    """Payments of one message."""
    return [Call("pay", {"amount": each}, f"c{each}") for each in amounts]


# --- batches --------------------------------------------------------------------------------------


@everywhere
def test_a_call_beside_one_that_people_are_asked_about_counts_once(way: Way) -> None:
    """The world counts it when it runs, and not when people are asked, however often."""
    talk = way.open([pay], spending(100).world(), asked(50), world=MemoryWorld())
    came = talk.say(calls(10, 60))
    talk.go(Command(resume="nobody knows"))
    manager: dict[str, Any] = {"by": "ann", "role": "manager"}
    talk.go(Command(resume=approve(came.asked[0]["ticket"], **manager)))
    came = talk.say(calls(30), calls(1))
    assert came.result("c30") == "paid 30"
    came.refused("c1")


@everywhere
def test_a_call_that_never_runs_has_not_counted(way: Way) -> None:
    """People are asked about the one beside it, and the user says something else."""
    talk = way.open([pay], spending(100).world(), asked(50), world=MemoryWorld())
    talk.say(calls(40, 60))
    assert talk.say(calls(50), calls(49)).result("c49") == "paid 49"


@everywhere
def test_a_store_that_cannot_be_written_lets_nothing_run(way: Way) -> None:
    """What was decided is not there in the end: the run ends with the error of the store."""

    class Broken(MemoryWorld):
        @contextmanager
        def entry(self, id: str) -> Iterator[Entry]:
            with super().entry(id) as entry:
                yield entry
                raise OSError("the disk is full")

    talk = way.open([pay], spending(100).world(), world=Broken())
    with pytest.raises(OSError, match="the disk is full"):
        talk.say(ask("pay", amount=1))
    assert talk.statuses() == []


# --- leases ---------------------------------------------------------------------------------------


class Known(MemoryWorld):
    """A store that knows processes. `now`: the one that asks."""

    now, living = "mine", frozenset({"mine", "other"})

    def process(self) -> str:
        """The one that asks."""
        return self.now

    def lives(self, process: str) -> bool:
        """Whether this one lives."""
        return process in self.living


def lease(world: Any, rev: str = "first", call: str = "call") -> Lease:
    """A call that was decided in a part."""
    return Lease(world, "thread", "decided", rev, call)


@pytest.mark.parametrize("world", [MemoryWorld(), Known()], ids=["any", "known"])
def test_what_was_decided_once_belongs_to_the_run_that_begins(world: Any) -> None:
    """Another run that has decided the same never runs it; this one may try again."""
    assert lease(world).begin() == "first"
    assert lease(world, "second", "other call").begin() == "never"
    lease(world).end(came=False)
    assert lease(world, "second", "other call").begin() == "never"
    assert lease(world).begin() == "first"


def test_a_call_is_run_by_one_process_at_a_time() -> None:
    """Another one has to wait until it has failed there, or has died."""
    world = Known()
    assert lease(world).begin() == "first"
    world.now = "other"
    with pytest.raises(Taken):
        lease(world).begin()
    lease(world).end(came=False)  # by one that has not begun it: nothing
    with pytest.raises(Taken):
        lease(world).begin()
    world.living = frozenset({"other"})
    assert lease(world).begin() == "again"
    lease(world).end(came=False)
    world.now, world.living = "mine", frozenset({"mine", "other"})
    assert lease(world).begin() == "first"


def test_what_has_just_ended_is_not_begun_in_another_process() -> None:
    """Its result may be on its way to the checkpoint. The process that ran it may replay it."""
    world = Known()
    lease(world).begin()
    lease(world).end(came=True)
    assert lease(world).begin() == "first"
    lease(world).end(came=True)
    world.now = "other"
    with pytest.raises(Taken):
        lease(world).begin()


# --- processes ------------------------------------------------------------------------------------


def _name(path: str) -> str:
    return SqliteWorld(path).process()


def _waiting(path: str) -> None:
    world = SqliteWorld(path)
    Path(f"{path}.name").write_text(world.process())
    while not Path(f"{path}.end").exists():
        time.sleep(POLL)


def test_a_store_in_a_file_knows_which_processes_live(tmp_path: Path) -> None:
    """This one does, as does another one until it has ended."""
    path = str(tmp_path / "world.sqlite")
    world = SqliteWorld(path)
    assert isinstance(world, Processes)
    assert world.lives(world.process())
    assert SqliteWorld(path).process() == world.process()
    assert not world.lives(elsewhere(_name, path))
    other, name = start(_waiting, path), Path(f"{path}.name")
    while not (name.exists() and name.read_text()):
        time.sleep(POLL)
    assert world.lives(name.read_text())
    Path(f"{path}.end").touch()
    assert other.ended() == 0
    assert not world.lives(name.read_text())
