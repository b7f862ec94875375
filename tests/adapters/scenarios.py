"""The scenarios of the LangGraph and LangChain adapters, each with what has to be observed.

In: the functions of `scenarios_*.py`, which play them. Out: `GROUPS`. `test_scenarios.py` plays
each in every way, and `docs/adapters/langgraph.md` shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from tests.adapters import scenarios_history as history
from tests.adapters import scenarios_nesting as nesting
from tests.adapters import scenarios_others as others
from tests.adapters import scenarios_people as people
from tests.adapters import scenarios_process as process
from tests.adapters.apps import IN_ONE_PROCESS, WAYS, Way


@dataclass(frozen=True)
class Differs:
    """What an adapter shows instead, and why its framework leaves it no choice."""

    observed: str
    why: str


@dataclass(frozen=True)
class Scenario:
    """What is done: the docstring of `play`. `expected`: the story that has to come of it.

    `differs`: by adapter. `bugs`: what is not as expected yet, by the beginning of a way.
    """

    play: Callable[[Way], str]
    expected: str
    differs: Mapping[str, Differs] = field(default_factory=dict)
    bugs: Mapping[str, str] = field(default_factory=dict)
    ways: tuple[Way, ...] = WAYS

    @property
    def name(self) -> str:
        return self.play.__name__

    def expected_of(self, way: Way) -> str:
        """What has to be observed in this way."""
        differs = self.differs.get(way.adapter)
        return self.expected if differs is None else differs.observed

    def bug(self, way: Way) -> str:
        """Why this way is not as expected yet; empty if it is."""
        return next((why for each, why in self.bugs.items() if str(way).startswith(each)), "")


FORGETS = "contract `spending` remembers earlier calls, but"

HISTORY = (
    Scenario(history.replay, "first: pay 60; replay: pay 60; then: pay 40, refused pay 1"),
    Scenario(
        history.replay_of_an_approval,
        "approved: pay 900; replay: asked pay 900; approved: pay 900",
    ),
    Scenario(
        history.replay_of_what_was_approved,
        "approved: pay 900; replay: refused pay 900",
        ways=IN_ONE_PROCESS,
    ),
    Scenario(history.replay_in_the_world, "first: pay 60; replay: refused pay 60; then: pay 40"),
    Scenario(history.at_once, "one run: pay 60; the other: refused pay 60"),
    Scenario(
        history.fork,
        "first: pay 60; one branch: pay 40, refused pay 1; other branch: pay 30, refused pay 20; "
        "goes on: pay 10; one branch goes on: refused pay 1",
    ),
    Scenario(history.edited_call, "first: pay 60; edited: pay 30; then: pay 70, refused pay 1"),
    Scenario(
        history.edited_when_decided,
        "first: pay 60; edited: pay 30; then: pay 1, refused pay 70",
    ),
    Scenario(
        history.edited_while_held,
        "first: asked pay 900; first approved: asked pay 9000; second approved: pay 9000",
    ),
    Scenario(history.edited_messages, "first: pay 60; then: pay 40, refused pay 60"),
    Scenario(
        history.injected,
        "first: pay 60; empty: refused pay 60; made up: refused pay 60; the output has no such key",
    ),
    Scenario(
        history.durability_exit,
        "first: asked pay 60; approved: pay 40, pay 60; then: refused pay 1",
    ),
)

ERRORS = (
    Scenario(
        process.dead_process,
        "goes on: charge 60; then: charge 40, pay 40, refused pay 1, refused charge 1",
        ways=IN_ONE_PROCESS,
    ),
    Scenario(
        history.failing_tool,
        "first: charge 5, pay 60, “not now”; goes on: charge 5; then: pay 40, refused pay 1",
    ),
    Scenario(
        history.failing_saver,
        "first: pay 20, pay 30, “the disk is full”; goes on: nothing; then: pay 50, refused pay 1",
    ),
    Scenario(
        history.failing_model,
        "first: pay 20, pay 30, “the script is over, but the agent is not”; goes on: nothing; "
        "then: pay 50, refused pay 1",
    ),
    Scenario(
        others.retry,
        "first: charge 5 × 2, pay 60; then: pay 40, refused charge 5 × 2, refused pay 1",
    ),
)

PEOPLE = (
    Scenario(
        people.beside_others,
        "first: asked pay 900; no answer: asked pay 900; approved: pay 5, pay 900, send ann hello",
    ),
    Scenario(
        people.in_reverse,
        "first: asked pay 900, asked pay 800; no to the second: asked pay 900; "
        "yes to the first: pay 900, refused pay 800",
    ),
    Scenario(
        people.twice,
        "approved: pay 900; approved again: nothing; the same call later: asked pay 900; "
        "approved with the first answer: asked pay 900",
    ),
    Scenario(
        people.of_another,
        "the user goes on: asked pay 901; approved what was asked first: asked pay 901",
    ),
    Scenario(
        people.said_meanwhile, "first: asked pay 900; something else: pay 100, send ann sorry"
    ),
    Scenario(
        process.new_process,
        "found: asked pay 900; approved: pay 900, send ann hello; then: pay 100, refused pay 1",
        ways=IN_ONE_PROCESS,
    ),
    Scenario(
        people.own_interrupts,
        "first: pay 60; colour answered: nothing; size answered: nothing; "
        "the model is told size: small, colour: red; then: refused pay 1",
    ),
)

NESTING = (
    Scenario(nesting.sub_agent, "run: pay 10, pay 20, pay 30, pay 40, refused pay 1"),
    Scenario(nesting.sub_agent_depth, "run: pay 2, pay 3"),
    Scenario(nesting.sub_agent_beside, "run: pay 40, pay 60, refused pay 1"),
    Scenario(
        nesting.sub_agents_with_equal_ids,
        "run: pay 30 × 2, pay 40, refused pay 1",
    ),
    Scenario(
        nesting.sub_agent_held,
        "run: pay 20, send ann hello, asked pay 60; approved: pay 20, pay 60, refused pay 1",
    ),
    Scenario(
        nesting.sub_agents_held,
        "run: 2 interrupts; the second approved: pay 70, asked pay 60; "
        "the first approved: pay 40, pay 60, refused pay 1",
    ),
    Scenario(
        nesting.sub_agent_finished,
        "run: pay 40; answered: pay 60, refused pay 1",
    ),
    Scenario(
        nesting.sub_agent_then_held,
        "run: pay 40, asked pay 60; approved: pay 60, refused pay 1",
    ),
    Scenario(
        nesting.subgraph,
        f"run: “{FORGETS} this graph runs inside another one and forgets them at its end”",
    ),
    Scenario(
        nesting.shared_subgraphs,
        "run: pay 30, pay 60, refused pay 60; next run: pay 10, refused pay 1",
    ),
    Scenario(nesting.handed_over, "run: pay 40, pay 60, refused pay 50"),
    Scenario(
        nesting.branches,
        "run: pay 60, refused pay 60",
    ),
)

OTHERS = (
    Scenario(others.eight, "first: pay 30 × 3, refused pay 30 × 5; then: pay 10, refused pay 1"),
    Scenario(others.no_checkpointer, f"first: “{FORGETS} nothing keeps them”"),
    Scenario(
        others.no_thread,
        "first: “Checkpointer requires one or more of the following 'configurable' keys”",
    ),
    Scenario(others.no_memory, "first: pay 50, refused pay 60"),
    Scenario(others.scope_run, "first: pay 60, refused pay 60; second: pay 60, refused pay 60"),
    Scenario(
        others.streams,
        "the tools write half, more, rest; `messages` has every message once; "
        "`updates` has every message once",
    ),
)

GROUPS: Mapping[str, tuple[Scenario, ...]] = MappingProxyType(
    {
        "history": HISTORY,
        "errors": ERRORS,
        "people": PEOPLE,
        "nesting": NESTING,
        "others": OTHERS,
    }
)
"""By the name of their table."""
