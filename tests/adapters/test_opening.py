"""What is refused when an agent is built or run, and what a host may say: facts, agent, scope."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import AgentState
from langchain_core.tools import tool

from sponsio_like.contracts.definition import contract
from sponsio_like.errors import ContractError, InputMissing, SessionError
from sponsio_like.guard.guard import Guard
from sponsio_like.patterns import (
    approval_active,
    ctx_required,
    max_length,
    requires_permission,
    segregation_of_duty,
)
from sponsio_like.worlds import MemoryWorld
from tests.adapters.bench import Clock
from tests.adapters.rules import checked, few, small, spending, told
from tests.adapters.talks import AGENTS, GRAPHS, More, Way, agents, ask, everywhere, graphs, once


@tool
def check() -> str:
    """Check what there is to check."""
    return "clean"


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


TOOLS = [check, pay]


class Office(AgentState[Any]):
    """A conversation in an office."""

    stage: str


# --- refused when it is built ---------------------------------------------------------------------


@once
def test_facts_that_nobody_tells_are_refused(way: Way) -> None:
    """The error names the contract and the input that is missing."""
    rule = contract("staged").guarantees(ctx_required("pay", "stage", ["open"]))
    with pytest.raises(InputMissing, match=r"`staged` needs facts; give facts="):
        way.open(TOOLS, rule)


def test_a_node_does_not_hear_the_end() -> None:
    """A node of tools never knows that the agent has ended; the middleware does."""
    rule = told("G(called(pay) -> F called(check))")
    with pytest.raises(InputMissing, match=r"`told` needs finish; .* use the middleware"):
        GRAPHS[0].open(TOOLS, rule)
    AGENTS[0].open(TOOLS, rule)


def test_a_node_does_not_judge_answers() -> None:
    """The error says what does."""
    rule = contract("short").guarantees(max_length(max_words=3))
    with pytest.raises(InputMissing, match=r"`short`.*use the middleware"):
        GRAPHS[0].open(TOOLS, rule)
    AGENTS[0].open(TOOLS, rule)


@once
def test_a_contract_on_the_world_needs_its_store(way: Way) -> None:
    """The error says what to give."""
    with pytest.raises(ContractError, match=r"`spending` is on the world.*give world="):
        way.open(TOOLS, spending(100).world())
    way.open(TOOLS, spending(100).world(), world=MemoryWorld())


@once
def test_a_scope_that_nobody_knows_is_refused(way: Way) -> None:
    """The error says which there are."""
    with pytest.raises(ContractError, match="write thread or run"):
        way.open(TOOLS, small(), scope="forever")


@once
def test_an_option_that_nobody_knows_is_refused(way: Way) -> None:
    """A typing error is one."""
    with pytest.raises(TypeError, match="agnet"):
        way.open(TOOLS, small(), agnet="bob")


# --- refused when it runs -------------------------------------------------------------------------


@everywhere
@pytest.mark.parametrize("lacks", ["thread", "checkpointer"])
def test_a_contract_that_counts_needs_a_thread(way: Way, lacks: str) -> None:
    """The error names the contract, and says what to do; nothing has run."""
    more = More(saver=None) if lacks == "checkpointer" else More()
    talk = way.open(TOOLS, spending(100), more=more)
    with pytest.raises((SessionError, ValueError)) as caught:
        talk.say(ask("pay", amount=5), thread=None if lacks == "thread" else "one")
    if lacks == "checkpointer":
        assert "`spending` remembers earlier calls" in str(caught.value)
        assert "thread_id" in str(caught.value)
    assert talk.outcomes() == []


@everywhere
def test_a_contract_that_remembers_nothing_needs_no_thread(way: Way) -> None:
    """Where every call stands for itself, the agent runs without a checkpointer."""
    talk = way.open(TOOLS, small(100), more=More(saver=None))
    came = talk.say(ask("pay", amount=5), ask("pay", "b", amount=900), thread=None)
    assert came.result("a") == "paid 5"
    came.refused("b")


@everywhere
def test_where_nothing_is_enforced_there_is_only_a_warning(
    way: Way, caplog: pytest.LogCaptureFixture
) -> None:
    """A contract that could not count is told of in the log, and every call runs."""
    talk = way.open(TOOLS, few("pay", 1), mode="observe", more=More(saver=None))
    came = talk.say(ask("pay", amount=5), ask("pay", "b", amount=6), thread=None)
    assert (came.result("a"), came.result("b")) == ("paid 5", "paid 6")
    assert "`few pay` remembers earlier calls, but nothing keeps them" in caplog.text


# --- scope ----------------------------------------------------------------------------------------


@everywhere
def test_a_session_may_last_for_a_run(way: Way) -> None:
    """A limit holds over one run of the graph, without any checkpointer, and begins anew."""
    talk = way.open(TOOLS, spending(100), scope="run", more=More(saver=None))
    for _ in range(2):
        came = talk.say(ask("pay", amount=60), ask("pay", "b", amount=60), thread=None)
        assert came.result("a") == "paid 60"
        came.refused("b")


@everywhere
def test_a_session_of_a_run_needs_a_graph_without_threads(way: Way) -> None:
    """With a checkpointer a run goes on where the last one ended, and so would its session."""
    talk = way.open(TOOLS, spending(100), scope="run")
    with pytest.raises(SessionError, match="graphs without a thread"):
        talk.say(ask("pay", amount=60))


# --- facts and agents -----------------------------------------------------------------------------


@everywhere
def test_facts_are_told_before_each_batch(way: Way) -> None:
    """They are read from the state and the config of that moment."""
    rule = contract("staged").guarantees(ctx_required("pay", "stage", ["open"]))

    def facts(state: Any, config: Any) -> dict[str, Any]:
        return {"stage": state["stage"], "who": config["configurable"]["thread_id"]}

    talk = way.open(TOOLS, rule, facts=facts, more=More(schema=Office))
    talk.say(ask("pay", amount=5), stage="shut").refused("a")
    assert talk.say(ask("pay", amount=5), stage="open").result("a") == "paid 5"
    talk.say(ask("pay", amount=5), stage="shut").refused("a")
    assert {each["key"] for each in talk.records if each["event"] == "fact"} == {"stage", "who"}


@everywhere
def test_a_fact_that_has_not_changed_is_told_once(way: Way) -> None:
    """The log is not filled with what everybody knows."""
    rule = contract("staged").guarantees(ctx_required("pay", "stage", ["open"]))
    talk = way.open(TOOLS, rule, facts=lambda *_: {"stage": "open"})
    for _ in range(3):
        talk.say(ask("pay", amount=5), ask("pay", "b", amount=5))
    assert sum(each["event"] == "fact" for each in talk.records) == 1


@everywhere
def test_an_approval_that_is_told_again_gets_no_younger(way: Way) -> None:
    """One that was given long ago runs out, however often the host tells it."""
    rule = contract("approved").guarantees(approval_active("pay", "boss", seconds=60))
    approval = {"action": "pay", "role": "boss", "by": "ann", "decision": "approve"}
    clock = Clock()
    talk = way.open(TOOLS, rule, facts=lambda *_: {"approval": approval}, clock=clock)
    for _ in range(3):
        assert talk.say(ask("pay", amount=5)).result("a") == "paid 5"
        clock.now += 25
    talk.say(ask("pay", amount=5)).refused("a")
    approval["by"] = "bob"
    assert talk.say(ask("pay", amount=5)).result("a") == "paid 5"


@everywhere
def test_facts_that_raise_let_nothing_run(way: Way) -> None:
    """Without them nothing is decided; the host hears its own error."""

    def facts(*_: Any) -> dict[str, Any]:
        raise OSError("no directory")

    rule = contract("staged").guarantees(ctx_required("pay", "stage", ["open"]))
    talk = way.open(TOOLS, rule, facts=facts)
    with pytest.raises(OSError, match="no directory"):
        talk.say(ask("pay", amount=5))
    assert talk.outcomes() == []


@everywhere
def test_calls_are_those_of_the_agent_that_is_named(way: Way) -> None:
    """Permissions and duties are looked up under that name."""
    rule = contract("allowed").guarantees(requires_permission("pay", "money"))
    facts = {"permissions": {"ann": ["money"]}}
    for agent, allowed in (("ann", True), ("bob", False)):
        talk = way.open(TOOLS, rule, facts=lambda *_: facts, agent=agent)
        came = talk.say(ask("pay", amount=5))
        (came.result if allowed else came.refused)("a")
        assert [each["agent"] for each in talk.records if each["event"] == "decision"] == [agent]


@graphs
def test_two_agents_of_a_graph_have_their_own_duties(way: Way) -> None:
    """Two nodes may act for two agents, in one session."""
    rule = contract("duties").guarantees(segregation_of_duty("check", "pay"))
    alone = way.open(TOOLS, rule, agent="ann")
    came = alone.say(ask("check"), ask("pay", "b", amount=5))
    came.refused("b")


@agents
def test_an_agent_without_tools_is_guarded(way: Way) -> None:
    """Its answers are, and a tool that it names is refused."""
    rule = contract("short").guarantees(max_length(max_words=3))
    talk = way.open([], rule)
    assert talk.say("one two three four", "one two").said == [
        "(this answer was withheld)",
        "one two",
    ]


@once
def test_one_guard_may_guard_many_agents(way: Way) -> None:
    """Their threads are not those of the other, though they have the same name."""
    guard = Guard([checked()])
    first, second = way.under(guard, TOOLS), way.under(guard, TOOLS)
    assert first.say(ask("check"), ask("pay", "b", amount=5)).result("b") == "paid 5"
    second.say(ask("pay", amount=5)).refused("a")
    assert first.say(ask("pay", amount=5)).result("a") == "paid 5"
