"""An answer of a person that is given again, with the config of the checkpoint that it is about."""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph.types import Command

from sponsio_like.adapters.langgraph import approve, waiting
from sponsio_like.errors import SessionError
from sponsio_like.guard.guard import Guard
from tests.adapters.bodies import RAN, pay
from tests.adapters.rules import asked
from tests.adapters.talks import AGENTS, Came, More, Talk, Way, agents, ask, everywhere, older


def at(talk: Talk) -> Any:
    """The config of the checkpoint where the thread stands."""
    return talk.graph.get_state({"configurable": {"thread_id": "one"}}).config


def go(talk: Talk, given: Any, config: Any) -> Any:
    """What comes of a run with this config; or how it was refused."""
    try:
        if talk.later:
            return Came(asyncio.run(talk.graph.ainvoke(given, config)))
        return Came(talk.graph.invoke(given, config))
    except SessionError as error:
        return error


def yes(came: Came) -> Command[Any]:
    """A manager says yes to what waits."""
    return Command(resume=approve(came.asked[0]["ticket"], by="ann", role="manager"))


@everywhere
def test_an_answer_to_the_question_of_a_checkpoint_is_good_once(way: Way) -> None:
    """The second time it is the same question, and the answer to it is spent."""
    talk = way.open([pay], asked())
    answer = yes(talk.say(ask("pay", amount=900)))
    where = at(talk)
    assert go(talk, answer, where).result("a") == "paid 900"
    for _ in range(2):
        assert "this answer was given before" in str(go(talk, answer, where))
    assert RAN == [900]


@everywhere
def test_so_it_is_when_it_was_given_to_the_thread_before(way: Way) -> None:
    """Whether the config of its answer names the checkpoint makes no other question of it."""
    talk = way.open([pay], asked())
    answer = yes(talk.say(ask("pay", amount=900)))
    where = at(talk)
    assert talk.go(answer).result("a") == "paid 900"
    assert isinstance(go(talk, answer, where), SessionError)
    assert RAN == [900]


@everywhere
def test_so_it_is_where_another_process_has_asked(way: Way) -> None:
    """The process that has run the call refuses it the second time, whoever has asked."""
    more = More()
    asks, answers = (way.under(Guard([asked()]), [pay], more=more) for _ in range(2))
    answer = yes(asks.say(ask("pay", amount=900)))
    where = at(asks)
    answers.plan("done")
    assert go(answers, answer, {"configurable": {"thread_id": "one"}}).result("a") == "paid 900"
    for _ in range(2):
        assert isinstance(go(answers, answer, where), SessionError)
    assert RAN == [900]


@everywhere
def test_the_question_of_a_replay_is_another_one(way: Way) -> None:
    """The thread goes on from before the decision: people are asked again, and the answer runs."""
    talk = way.open([pay], asked())
    came = talk.say(ask("pay", amount=900))
    where = _before_the_decision(talk)
    talk.go(yes(came))
    talk.plan(*[ask("pay", amount=900)])
    again = go(talk, None, where)
    assert [each["args"] for each in again.asked] == [{"amount": 900}]
    answer = yes(again)
    here = older("langgraph", 1, 2) and way in AGENTS  # which saves no checkpoint of a replay
    on = where if here else {"configurable": {"thread_id": "one"}}
    for _ in range(2):
        go(talk, answer, on)
    assert RAN == [900, 900]


def _before_the_decision(talk: Talk) -> Any:
    """The config of the last checkpoint before a call was decided."""
    every = talk.graph.get_state_history({"configurable": {"thread_id": "one"}})
    nexts = ("tools.decide",), ("contracts.after_model",)
    return next(each.config for each in every if each.next in nexts)


@agents
def test_the_question_of_a_replay_may_be_answered_where_it_began(way: Way) -> None:
    """An answer to the checkpoint where a replay has begun is one to what the replay has asked."""
    talk = way.open([pay], asked())
    came = talk.say(ask("pay", amount=900))
    where = at(talk)
    talk.go(yes(came))
    again = go(talk, None, where)
    assert again.asked
    go(talk, yes(again), where)
    assert RAN == [900, 900]
    assert isinstance(go(talk, yes(again), where), SessionError)
    assert RAN == [900, 900]


@everywhere
def test_each_of_two_answers_is_good_once(way: Way) -> None:
    """Two calls are answered one after the other, then both answers come again."""
    talk, answers = way.open([pay], asked()), list[Command[Any]]()
    both = [*ask("pay", "a", amount=800), *ask("pay", "b", amount=900)]
    first = talk.say(both)
    for each in first.asked:
        answers.append(Command(resume=approve(each["ticket"], by="ann", role="manager")))
    places = [at(talk)]
    second = go(talk, answers[0], places[0])
    assert len(waiting(second.state)) == 1
    places.append(at(talk))
    go(talk, answers[1], places[1])
    assert sorted(RAN) == [800, 900]
    go(talk, answers[1], places[1])
    assert sorted(RAN) == [800, 900]
