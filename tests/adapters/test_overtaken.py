"""Two processes at one thread: one of them waits at a point while the other one runs.

It waits at each point of its run in turn: after each time that it has saved, and around each tool.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sponsio_like.errors import SessionError
from tests.adapters.lives import TOTAL, WAYS, Home, Life
from tests.adapters.processes import barrier, elsewhere, start
from tests.adapters.rules import pay
from tests.support.size import WHOLE, sized

ALL = [(keeps, way) for keeps in ("sqlite", "postgres") for way in WAYS]
SOME = [
    ("sqlite", "graph"),
    ("postgres", "graph async"),
    ("postgres", "agent"),
    ("sqlite", "agent async"),
]
everywhere = pytest.mark.parametrize(("keeps", "way"), ALL if WHOLE else SOME)
LARGE = 200
"""An amount that may be paid once."""


@pytest.fixture
def home(keeps: str, tmp_path: Path, request: pytest.FixtureRequest) -> Home:
    """A thread of its own."""
    address = "" if keeps == "sqlite" else request.getfixturevalue("address")
    return Home(str(tmp_path), address, thread=str(tmp_path))


def told(work: Callable[[], Any]) -> str:
    """What the model was told; or the error, if another process is at it.

    That may hold a transaction of SQLite, too, where it waits.
    """
    try:
        return str(work().told)
    except (SessionError, sqlite3.OperationalError) as error:
        return str(error)


def clicked(life: Life, tickets: list[str]) -> str:
    """A manager says yes."""
    return told(lambda: life.click(tickets))


def said(life: Life, at_once: Any = None) -> str:
    """The user says something, and the model asks for a large payment."""
    if at_once is not None:
        at_once.wait()
    return told(lambda: life.say([pay(LARGE, "a")], "done"))


def hello(life: Life) -> tuple[()]:
    """The thread begins."""
    life.say("hello")
    return ()


def asks(life: Life) -> tuple[list[str]]:
    """The thread asks a manager; the tickets."""
    return (life.say().tickets,)


def overtaken(
    life: Life, opens: Callable[[Life], Any], work: Callable[..., str]
) -> Iterator[tuple[str, Life]]:
    """Yield each point where a process was overtaken by another one, and the life that both left.

    Both did the same `work`, on a thread that `opens` has begun. The odd points are tried over
    SQLite, the even ones over Postgres; in `make check` each second of these.
    """
    whole = life.moved("whole")
    given = opens(whole)
    before = len(whole.home.lines("points"))
    elsewhere(work, whole, *given)
    last = len(whole.home.lines("points")) - before
    for point in range(2 if life.home.address else 1, last + 1, sized(2, 4)):
        both = life.moved(str(point))
        given = opens(both)
        waits = start(work, replace(both, pause=point), *given)
        both.home.wait("pauses")
        came = [elsewhere(work, both, *given)]
        both.home.note("goes on", "")
        came.append(waits.came())
        yield f"{point}, {both.home.lines('pauses')[0]}: {came}", both
        both.home.clear()


@pytest.mark.long
@everywhere
def test_with_a_world_one_answer_is_one_run(home: Home, way: str) -> None:
    """Both were given one answer: wherever the one waits, the call runs once."""
    life = Life(home, way, "held", world=True)
    paid = {at: dict(both.home.paid) for at, both in overtaken(life, asks, clicked)}
    assert paid
    assert {at: each for at, each in paid.items() if each != {230: 1}} == {}


@pytest.mark.long
@everywhere
def test_two_runs_of_one_thread_hold_the_cap_of_a_contract_on_the_world(
    home: Home, way: str
) -> None:
    """The user has written twice: wherever the one run waits, one of both payments is made."""
    wrong, points = [], 0
    for at, both in overtaken(Life(home, way, "beside", world=True), hello, said):
        points += 1
        if both.home.paid != {LARGE: 1}:
            wrong.append(f"{at}: {dict(both.home.paid)}")
        left = both.say([pay(TOTAL - LARGE, "y"), pay(1, "z")], "done")
        if left.told != {"y": [f"paid {TOTAL - LARGE}"], "z": ["refused"]}:
            wrong.append(f"{at}: afterwards it was told {left.told}")
    assert points
    assert not wrong


@everywhere
def test_two_runs_that_begin_at_once_hold_the_cap_of_a_contract_on_the_world(
    home: Home, way: str
) -> None:
    """Nobody waits for the other one, but at the start.

    The file is made before: LangGraph's saver raises "database is locked" if two processes make it.
    """
    with home.saver() as saver:
        saver.setup()
    life, both = Life(home, way, "beside", world=True), barrier(2)
    runs = [start(said, life, both) for _ in range(2)]
    came = sorted(each.came() for each in runs)
    assert home.paid == {LARGE: 1}, came
    assert came == ["{'a': ['paid 200']}", "{'a': ['refused']}"]
