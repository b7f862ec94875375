"""The pair of middlewares together with others: what really runs is what was decided."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.types import Command

from sponsio_like.adapters.langchain import approve
from sponsio_like.contracts.definition import contract
from sponsio_like.patterns import bounded_retry, duplicate_call_limit, redirect_to_safe
from tests.adapters.bodies import RAN, pay, shaky
from tests.adapters.middlewares import (
    Around,
    Rewrites,
    Steps,
    answer,
    answering,
    consoling,
    editing,
    retrying,
    twice,
)
from tests.adapters.rules import asked, checked, few, small, spending, told
from tests.adapters.talks import Way, agents, ask


@tool
def check() -> str:
    """Check, or fail."""
    raise ValueError("cannot check")


@tool
def trash(amount: int) -> str:
    """Do nothing."""
    RAN.append("trash")
    return f"nothing for {amount}"


# --- calls that are edited ------------------------------------------------------------------------


@agents
def test_an_edit_that_breaks_a_contract_is_refused(way: Way) -> None:
    """What the model asked for was allowed, what would run is not: the body never runs."""
    talk = way.open([pay], small(100), others=[editing(amount=900)])
    came = talk.say(ask("pay", amount=5))
    assert "`small`" in came.refused("a")
    assert (RAN, came.last) == ([], "done")


@agents
def test_an_edit_that_is_allowed_runs_and_counts(way: Way) -> None:
    """It runs as it was edited, and it is what a limit adds up."""
    talk = way.open([pay], spending(100), others=[editing(amount=60)])
    assert talk.say(ask("pay", amount=5)).result("a") == "paid 60"
    talk.say(ask("pay", amount=5)).refused("a")
    assert RAN == [60]


@agents
def test_an_edit_counts_beside_what_was_edited(way: Way) -> None:
    """What was let through counts, and what ran instead of it counts too."""
    talk = way.open([pay], few("pay", 2), spending(100), others=[editing(amount=60)])
    assert talk.say(ask("pay", amount=5)).result("a") == "paid 60"
    talk.say(ask("pay", amount=5)).refused("a")


@agents
def test_an_edit_is_validated(way: Way) -> None:
    """Contracts read what the body would receive of an edit, too."""
    talk = way.open([pay], small(100), others=[editing(amount="900")])
    talk.say(ask("pay", amount=5)).refused("a")
    assert "pay" in way.open([pay], small(), others=[editing(amount="x")]).say(
        ask("pay", amount=5)
    ).refused("a")
    assert RAN == []


@agents
def test_a_call_that_becomes_another_tool_is_decided_as_that(way: Way) -> None:
    """A middleware that names another tool does not get around its contract."""

    def steps(request: Any) -> Steps:
        return (yield request.override(tool_call={**request.tool_call, "name": "pay"}, tool=pay))

    talk = way.open([pay, trash], few("pay"), others=[Around(steps)])
    assert "`few pay`" in talk.say(ask("trash", amount=5)).refused("a")
    assert RAN == []


@agents
def test_only_the_tool_of_the_name_runs(way: Way) -> None:
    """A middleware that puts another tool under the name of the call does not get around it."""

    def steps(request: Any) -> Steps:
        return (yield request.override(tool=pay))

    talk = way.open([pay, trash], few("pay"), others=[Around(steps)])
    talk.say(ask("trash", amount=5))
    assert "pay" not in [each for each in RAN if each != "trash"]
    assert 5 not in RAN


@agents
def test_an_edit_that_a_person_would_have_to_approve_is_refused(way: Way) -> None:
    """Nobody can be asked inside of a call; the model hears so."""
    talk = way.open([pay], asked(100), others=[editing(amount=900)])
    came = talk.say(ask("pay", amount=5))
    assert "person" in came.refused("a")
    assert RAN == []


@agents
def test_an_approval_is_not_good_for_an_edit(way: Way) -> None:
    """What a person has approved is what may run, and nothing else."""
    talk = way.open([pay], asked(100), others=[editing(amount=9000)])
    (question,) = talk.say(ask("pay", amount=900)).asked
    yes = approve(question["ticket"], by="ann", role="manager")
    talk.go(Command(resume=yes)).refused("a")
    assert RAN == []


@agents
def test_an_edit_may_be_redirected(way: Way) -> None:
    """Where the edited call has a substitute, that runs."""
    rule = contract("mild").guarantees(redirect_to_safe("pay", "trash")).assume("called `check`")
    talk = way.open([pay, trash, check], rule, others=[consoling(), editing(amount=7)])
    talk.say(ask("check"))
    assert talk.say(ask("pay", amount=5)).result("a") == "nothing for 7"
    assert RAN == ["trash"]


@agents
def test_what_the_model_said_may_be_edited_before_it_is_decided(way: Way) -> None:
    """A middleware that changes the message of the model is heard as if the model had said so."""

    def cheaper(message: AIMessage) -> AIMessage:
        calls = [{**each, "args": {"amount": 50}} for each in message.tool_calls]
        return message.model_copy(update={"tool_calls": calls})

    talk = way.open([pay], spending(100), others=[Rewrites(cheaper)])
    assert talk.say(ask("pay", amount=900)).result("a") == "paid 50"
    assert talk.say(ask("pay", amount=900)).result("a") == "paid 50"
    talk.say(ask("pay", amount=900)).refused("a")
    assert RAN == [50, 50]


# --- calls that run again, or not at all ----------------------------------------------------------


@agents
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_every_attempt_is_decided(way: Way, limit: int) -> None:
    """A middleware that retries gets as many attempts as a limit allows, and no more."""
    talk = way.open([shaky], few("shaky", limit), others=[retrying(3)])
    if limit < 3:
        assert "`few shaky`" in talk.say(ask("shaky", amount=5)).refused("a")
    else:
        with pytest.raises(ValueError, match="no paper"):
            talk.say(ask("shaky", amount=5))
    assert [5] * limit == RAN


@agents
def test_attempts_are_counted_as_failures(way: Way) -> None:
    """A contract on tries after failures holds over attempts of one call, and over later calls."""
    rule = contract("patient").guarantees(bounded_retry("shaky", 1))
    talk = way.open([shaky], rule, others=[retrying(5)])
    assert "`patient`" in talk.say(ask("shaky", amount=5)).refused("a")
    talk.say(ask("shaky", amount=5)).refused("a")
    assert RAN == [5, 5]


@agents
def test_a_call_that_runs_twice_counts_twice(way: Way) -> None:
    """What succeeded first has succeeded, whatever the middleware makes of it."""
    rule = contract("few").guarantees(duplicate_call_limit("pay", limit=2))
    talk = way.open([pay], rule, others=[twice()])
    assert talk.say(ask("pay", amount=5)).result("a") == "paid 5"
    talk.say(ask("pay", amount=5)).refused("a")
    assert RAN == [5, 5]


@agents
def test_a_middleware_may_answer_by_itself(way: Way) -> None:
    """No tool runs, and the model hears the middleware."""
    talk = way.open([pay], few("pay", 1), others=[answering("not today")])
    assert talk.say(ask("pay", amount=5)).result("a") == "not today"
    assert RAN == []


@agents
def test_a_refusal_cannot_be_answered_by_a_middleware(way: Way) -> None:
    """What was refused never reaches the others."""
    seen: list[str] = []

    def steps(request: Any) -> Steps:
        seen.append(request.tool_call["id"])
        return (yield request)

    talk = way.open([pay], few("pay"), others=[Around(steps)])
    talk.say(ask("pay", amount=5)).refused("a")
    assert seen == []


@agents
def test_an_error_that_is_told_as_a_result_is_still_a_failure(way: Way) -> None:
    """A check that raised has not succeeded, however kindly the model is told."""
    talk = way.open([check, pay], checked(), others=[consoling()])
    came = talk.say(ask("check"), ask("pay", "b", amount=5))
    assert came.result("a") == "please try again: cannot check"
    came.refused("b")
    assert RAN == []


@agents
def test_contracts_see_what_the_tool_returned(way: Way) -> None:
    """A middleware that rewrites results for the model does not rewrite what has happened."""

    def steps(request: Any) -> Steps:
        yield request
        return answer(request, "clean")

    rule = told('G(called(pay) -> Y O (called(trash) & output = "clean"))')
    talk = way.open([trash, pay], rule, others=[Around(steps)])
    came = talk.say(ask("trash", amount=1), ask("pay", "b", amount=5))
    assert came.result("a") == "clean"
    came.refused("b")
