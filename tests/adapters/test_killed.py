"""A process is killed between any two steps, and another one goes on with its thread."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.adapters.lives import STORIES, TOTAL, WAYS, Home, Life, lived
from tests.adapters.processes import elsewhere, start
from tests.adapters.rules import pay
from tests.adapters.talks import older
from tests.support.size import sized

EVERY = bool(os.environ.get("EVERY_DEATH"))
"""Whether all cases are tried, which takes half an hour, and not only those that differ most."""


@dataclass(frozen=True)
class Case:
    """How an agent lives that is killed."""

    story: str
    way: str
    keeps: str = "sqlite"
    world: bool = False
    durability: str = "sync"

    def __str__(self) -> str:
        more = "world" if self.world else "session"
        return "-".join([self.story, *self.way.split(), self.keeps, more, self.durability])


ALL = [
    Case(story, way, keeps, world, durability)
    for story in ("beside", "asked", "inside")
    for way in WAYS
    for keeps in ("sqlite", "postgres")
    for world in (False, True)
    for durability in ("sync", "async")
]
SOME = [
    Case("beside", "agent async", durability="async"),
    Case("asked", "graph async", world=True),
    Case("asked", "agent", "postgres"),
    Case("inside", "graph"),
]


@pytest.fixture
def life(request: pytest.FixtureRequest, tmp_path: Path) -> Life:
    """A life of its own for this case."""
    case: Case = request.param
    address = request.getfixturevalue("address") if case.keeps == "postgres" else ""
    home = Home(str(tmp_path), address)
    return Life(home, case.way, case.story, case.world, case.durability)


each_case = pytest.mark.parametrize("life", ALL if EVERY else SOME, indirect=True, ids=str)


def deaths(life: Life) -> Iterator[tuple[str, Life]]:
    """Each point where the process may be killed, and the life that was killed there.

    Each second point, unless `EVERY` is set: the odd ones of sync ways, the even ones of async. Of
    these each second one in `make check`.
    """
    whole = life.moved("whole")
    elsewhere(lived, whole)
    assert set(whole.home.paid) == STORIES[life.story].pays
    first, step = (1, 1) if EVERY else (1 + life.way.endswith("async"), sized(2, 4))
    for point in range(first, len(whole.home.lines("points")) + 1, step):
        dies = life.moved(str(point))
        assert start(lived, replace(dies, last=point)).ended() == -signal.SIGKILL
        yield f"{point}, {dies.home.lines('points')[-1]}", dies
        dies.home.clear()


def amounts(life: Life, what: str) -> set[int]:
    """The payments that points of this kind tell of."""
    points = [
        each.removeprefix(what) for each in life.home.lines("points") if each.startswith(what)
    ]
    return {int(each) for line in points for each in re.findall(r"paid (\d+)", line)}


def running(life: Life) -> set[int]:
    """The payments that may run again: they had begun, and what has come of them was not saved."""
    if life.durability == "async":
        return amounts(life, "begin")
    return amounts(life, "begin") - amounts(life, "saved")


def counts_again(life: Life) -> bool:
    """True if the world may have counted a decision that was not saved: calls are decided anew."""
    points = life.home.lines("points")
    named = max((i for i, each in enumerate(points) if each == "saved in __return__"), default=0)
    begun = any(each.startswith("begin") for each in points[named:])
    return life.world and (
        life.durability == "async" or ("counted" in points[named:] and not begun)
    )


def wrong_when_it_goes_on(life: Life) -> Iterator[str]:
    """What is wrong when another process goes on where this one was."""
    story, twice, again_counted = STORIES[life.story], running(life), counts_again(life)
    saved = any(each.startswith("saved checkpoint") for each in life.home.lines("points"))
    left = life.to_the_end(life.on() if saved else life.say())
    if any(len(each) != 1 for each in left.told.values()):
        yield f"the model was told {left.told}"
    left = life.say([pay(story.rest, "y"), pay(1, "z")], "done")
    paid = life.home.paid
    if again_counted:
        if sum(paid) > TOTAL:
            yield f"paid {paid}"
    elif set(paid) != {*story.pays, story.rest}:
        yield f"paid {paid}, and it was told {left.told}"
    if again := {each for each, number in paid.items() if number > 1 + (each in twice)}:
        yield f"paid again {again}"


def wrong_when_the_user_goes_on(life: Life) -> Iterator[str]:
    """What is wrong when the user says something else, to another process."""
    certain = life.world or life.durability == "sync"
    spent = sum(life.home.paid if certain else amounts(life, "saved checkpoint"))
    rest = STORIES[life.story].rest
    left = life.say([pay(TOTAL - spent + 1, "y"), pay(rest, "z")], "done")
    if left.told != {"y": ["refused"], "z": [f"paid {rest}"]}:
        yield f"when {spent} was spent, of 1 too much and of {rest} it was told {left.told}"


@pytest.mark.long
@pytest.mark.parametrize("life", ALL if EVERY else SOME, indirect=True, ids=str)
def test_a_process_is_killed_between_any_two_steps(life: Life) -> None:
    """Another one goes on: what has run counts once, and nobody is stuck.

    What was running may run again.
    """
    if life.story == "inside" and older("langgraph", 1, 2):
        pytest.skip("LangGraph 1.1 runs a call of a sub-agent again whose result was just saved")
    wrong = []
    for death, died in deaths(life):
        other = died.copied()
        wrong += [f"{death}: goes on: {each}" for each in wrong_when_it_goes_on(died)]
        wrong += [f"{death}: something else: {each}" for each in wrong_when_the_user_goes_on(other)]
        other.home.clear()
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
def test_what_a_sub_agent_has_done_is_found_by_another_process(way: str, tmp_path: Path) -> None:
    """It was killed when the sub-agent had paid: that has counted when the thread goes on."""
    life = Life(Home(str(tmp_path)), way, "inside").moved("one")
    elsewhere(lived, life)
    points = life.home.lines("points")
    point = 1 + max(i for i, each in enumerate(points) if each.startswith("saved paid 30"))
    died = life.moved("two")
    assert start(lived, replace(died, last=point)).ended() == -signal.SIGKILL
    assert not [*wrong_when_the_user_goes_on(died)]
