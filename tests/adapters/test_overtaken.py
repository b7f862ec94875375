"""Two processes are given one answer, and one of them waits at a point while the other one runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sponsio_like.errors import SessionError
from tests.adapters.lives import WAYS, Home, Life
from tests.adapters.processes import elsewhere, start


def clicked(life: Life, tickets: list[str]) -> str:
    """A manager says yes; "told so" if the process is told that another one is at it."""
    try:
        return str(life.click(tickets).told)
    except SessionError:
        return "told so"


def overtaken(life: Life) -> Iterator[tuple[str, Life]]:
    """Yield each point where a process was overtaken by another one, and the life that both left.

    Both were given the same answer to what the thread asks.
    """
    asks = life.moved("asks")
    tickets = elsewhere(Life.say, asks).tickets
    whole = asks.copied()
    before = len(whole.home.lines("points"))
    elsewhere(Life.click, whole, tickets)
    for point in range(1, len(whole.home.lines("points")) - before + 1):
        both = replace(asks, home=asks.home.copied(str(point)))
        first = start(clicked, replace(both, pause=point), tickets)
        both.home.wait("pauses")
        came = [elsewhere(clicked, both, tickets)]
        both.home.note("goes on", "")
        came.append(first.came())
        yield f"{point}, {both.home.lines('pauses')[0]}: {came}", both
        both.home.clear()


@pytest.mark.parametrize("way", WAYS)
def test_with_a_world_one_answer_is_one_run(tmp_path: Path, way: str) -> None:
    """Wherever the one waits, the call runs once."""
    life = Life(Home(str(tmp_path)), way, "held", world=True)
    wrong = {at: dict(both.home.paid) for at, both in overtaken(life) if both.home.paid != {230: 1}}
    assert not wrong
