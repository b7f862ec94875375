"""Traps of adapters: calls that run past the contracts, or a second time, or for somebody else."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedState
from langgraph.types import Command, interrupt

from sponsio_like.adapters.langgraph import approve, deny
from sponsio_like.errors import SessionError, SnapshotError
from tests.adapters.harness import Call
from tests.adapters.middlewares import Around, Steps
from tests.adapters.rules import asked, checked, few, kept, small, spending
from tests.adapters.talks import GRAPHS, More, Way, agents, ask, everywhere, once
from tests.semantics.manifest import requirement

RAN: list[Any] = []
"""The bodies that ran, with what they received."""


@pytest.fixture(autouse=True)
def _fresh() -> None:
    RAN.clear()


@tool
def check() -> str:
    """Check what there is to check."""
    RAN.append("check")
    return "clean"


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    RAN.append(amount)
    return f"paid {amount}"


@tool
def delete(path: str) -> str:
    """Delete a file for good."""
    RAN.append(("delete", path))
    return f"deleted {path}"


@tool
def trash(file: str) -> str:
    """Put a file where it can be found again."""
    RAN.append(("trash", file))
    return f"trashed {file}"


@tool
def sure(question: str) -> str:
    """Ask a person by itself."""
    said = interrupt(question)
    RAN.append(("sure", said))
    return f"somebody said {said}"


@tool(response_format="content_and_artifact", return_direct=True)
def look(word: str, state: Annotated[Any, InjectedState]) -> tuple[str, list[str]]:
    """Look at the conversation; the host gets a picture."""
    return f"{word} {len(state['messages'])}", [word]


def several(*amounts: int) -> list[Call]:
    """Payments that a model asks for at once."""
    return [Call("pay", {"amount": each}, f"call {n}") for n, each in enumerate(amounts)]


# --- history --------------------------------------------------------------------------------------


@everywhere
@requirement("T-06")
def test_parallel_calls_do_not_share_a_snapshot(way: Way) -> None:
    """Of three payments of 60 in one message, under a limit of 100, one is paid."""
    came = way.open([pay], spending(100)).say(several(60, 60, 60))
    assert (came.result("call 0"), RAN) == ("paid 60", [60])
    came.refused("call 1")
    came.refused("call 2")


@once
@requirement("T-10")
def test_threads_of_an_agent_do_not_share_a_history(way: Way) -> None:
    """What one thread has earned or used is not another's."""
    talk = way.open([check, pay], checked(), spending(100))
    talk.say(ask("check"), ask("pay", "b", amount=60), thread="one")
    talk.say(ask("pay", amount=60), thread="two").refused("a")
    talk.say(ask("check"), ask("pay", "b", amount=60), thread="two")
    assert RAN == ["check", 60, "check", 60]


@everywhere
@requirement("T-10")
def test_an_agent_without_a_thread_does_not_count(way: Way) -> None:
    """A contract that remembers is refused where all users would have one history, or none."""
    talk = way.open([pay], spending(100), more=More(saver=None))
    with pytest.raises(SessionError, match="`spending` remembers earlier calls"):
        talk.say(ask("pay", amount=60), thread=None)
    assert RAN == []


@once
@requirement("T-47")
def test_a_fork_has_the_history_that_it_has(way: Way) -> None:
    """From before a payment it may be made again; after it, and after both, it may not."""
    talk = way.open([pay], spending(100))
    talk.say("hello")
    start = talk.graph.get_state({"configurable": {"thread_id": "one"}}).config
    talk.say(ask("pay", amount=60))
    paid = talk.graph.get_state({"configurable": {"thread_id": "one"}}).config
    user: Any = {"messages": [("user", "go on")]}
    fork = {"configurable": dict(start["configurable"])}
    assert talk.go(user, ask("pay", amount=60), config=fork, thread=None).result("a") == "paid 60"
    for each in (paid, {"configurable": {"thread_id": "one"}}):
        again = {"configurable": dict(each["configurable"])}
        talk.go(user, ask("pay", amount=60), config=again, thread=None).refused("a")
    assert RAN == [60, 60]


# --- past the contracts ---------------------------------------------------------------------------


@everywhere
@requirement("T-39")
def test_a_redirect_never_runs_the_original(way: Way) -> None:
    """The substitute's own body runs, on its own arguments, under the id of the call."""
    came = way.open([delete, trash], kept()).say(ask("delete", path="old"))
    assert RAN == [("trash", "old")]
    assert came.result("a") == "trashed old"


@everywhere
@requirement("T-40")
def test_no_way_of_running_is_unguarded(way: Way) -> None:
    """`invoke`, `ainvoke`, `stream` and `astream` decide; so do `batch` and `abatch`."""
    talk = way.open([pay], small(100))
    given = {"messages": [("user", "go on")]}
    talk.say(ask("pay", amount=900))
    talk.stream(ask("pay", amount=900), mode="values")
    configs: Any = [{"configurable": {"thread_id": each}} for each in ("two", "three")]
    if way.later:
        asyncio.run(talk.graph.abatch([given, given], configs))
    else:
        talk.graph.batch([given, given], configs)
    assert RAN == []
    assert len(talk.outcomes()) == 4


@agents
@requirement("T-41")
def test_a_hidden_tool_does_not_run_when_it_is_named(way: Way) -> None:
    """The model was not offered it, names it, and is refused with the advice."""
    talk = way.open([check, pay], checked(), hide=True)
    came = talk.say(ask("pay", amount=5))
    assert talk.model.offered == ["check"]
    assert "`check`" in came.refused("a")
    assert RAN == []


@everywhere
@requirement("T-45")
def test_a_call_without_an_id_does_not_run(way: Way) -> None:
    """Its model is told, and the agent goes on."""
    talk = way.open([pay], spending(100))
    nameless: Any = {"name": "pay", "args": {"amount": 60}, "id": None}
    came = talk.say(AIMessage("", tool_calls=[nameless]), ask("pay", amount=60))
    assert (came.result("a"), came.last, RAN) == ("paid 60", "done", [60])


@everywhere
@requirement("T-48")
def test_a_hook_that_crashes_lets_nothing_run(way: Way) -> None:
    """Facts that cannot be told: the host hears its own error, and no body runs."""

    def facts(*_: Any) -> dict[str, Any]:
        raise OSError("no directory")

    with pytest.raises(OSError, match="no directory"):
        way.open([pay], few("pay", 5), facts=facts).say(ask("pay", amount=5))
    assert RAN == []


@everywhere
@requirement("T-48")
def test_a_state_that_cannot_be_read_lets_nothing_run(way: Way) -> None:
    """A damaged checkpoint is no empty history: the run ends with an error."""
    talk = way.open([pay], spending(100))
    talk.say(ask("pay", amount=60))
    state = talk.graph.get_state({"configurable": {"thread_id": "one"}})
    saved = talk.graph.checkpointer.get_tuple(state.config).checkpoint["channel_values"]
    revs = {key: each["rev"] for key, each in saved["__contracts__"].items() if "rev" in each}
    line = [*revs.values()]
    part = {"rev": "x", "line": line, "live": "?", "seq": 0, "session": {"format": "?"}}
    damaged = {"__contracts__": {next(iter(revs)): part}}
    node = "tools" if way in GRAPHS else "contracts.after_model"
    talk.graph.update_state(state.config, damaged, as_node=node)
    with pytest.raises(SnapshotError):
        talk.say(ask("pay", amount=60))
    assert RAN == [60]


# --- people ---------------------------------------------------------------------------------------


@everywhere
@requirement("T-42")
def test_nothing_swallows_the_question_to_a_person(way: Way) -> None:
    """A held call stops the run, also where all errors are told to the model."""
    talk = way.open([pay, sure], asked(100), **_kind(way))
    (question,) = talk.say(ask("pay", amount=900)).asked
    yes = approve(question["ticket"], by="ann", role="manager")
    assert talk.go(Command(resume=yes)).result("a") == "paid 900"


@everywhere
@requirement("T-42")
def test_nothing_swallows_the_question_of_a_tool(way: Way) -> None:
    """A tool that asks by itself is answered, beside another one that has run."""
    talk = way.open([pay, sure], few("sure", 1), spending(100), **_kind(way))
    came = talk.say([*ask("sure", question="really?"), *ask("pay", "b", amount=60)])
    assert [each.value for each in came.state["__interrupt__"]] == ["really?"]
    came = talk.go(Command(resume="yes"))
    assert (came.result("a"), came.result("b")) == ("somebody said yes", "paid 60")
    assert sorted(RAN, key=str) == [("sure", "yes"), 60]
    talk.say(ask("sure", question="really?")).refused("a")
    talk.say(ask("pay", amount=60)).refused("a")


def _kind(way: Way) -> dict[str, Any]:
    """What tells the model of every error."""
    if way in GRAPHS:
        return {"options": {"handle_tool_errors": True}}

    def steps(request: Any) -> Steps:
        try:
            return (yield request)
        except ValueError as error:
            return str(error)

    return {"others": [Around(steps)]}


@everywhere
@requirement("T-43")
def test_an_approval_reaches_its_own_call(way: Way) -> None:
    """Of two calls that are held, the one that was approved runs, in whatever order they stand."""
    for first, second in ((0, 1), (1, 0)):
        talk = way.open([pay], asked(100))
        questions = talk.say(several(900, 901)).asked
        by: Any = {"by": "ann", "role": "manager"}
        said = approve(questions[first]["ticket"], **by) | deny(questions[second]["ticket"], **by)
        came = talk.go(Command(resume=said))
        assert came.result(f"call {first}") == f"paid {900 + first}"
        came.refused(f"call {second}")
    assert RAN == [900, 901]


@everywhere
@requirement("T-43")
def test_an_approval_alone_answers_nobody_else(way: Way) -> None:
    """While one has not been answered, the batch waits, and nothing has run."""
    talk = way.open([pay], asked(100))
    questions = talk.say(several(900, 901)).asked
    said = approve(questions[1]["ticket"], by="ann", role="manager")
    assert [each["call"] for each in talk.go(Command(resume=said)).asked] == ["call 0"]
    assert RAN == []


@everywhere
@requirement("T-44")
def test_a_resume_runs_nothing_twice(way: Way) -> None:
    """Neither what stood beside a held call, nor what stood beside a tool that asks."""
    talk = way.open([pay, check, sure], asked(100))
    questions = talk.say([*ask("check"), *ask("pay", "b", amount=900)]).asked
    said = approve(questions[0]["ticket"], by="ann", role="manager")
    talk.go(Command(resume=said))
    assert sorted(RAN, key=str) == [900, "check"]
    RAN.clear()
    talk.say([*ask("check"), *ask("sure", "b", question="really?"), *ask("check", "c")])
    assert talk.go(Command(resume="yes")).result("b") == "somebody said yes"
    assert sorted(RAN, key=str) == [("sure", "yes"), "check", "check"]


# --- tools ----------------------------------------------------------------------------------------


@everywhere
@requirement("T-46")
def test_a_guarded_tool_loses_nothing(way: Way) -> None:
    """Artifact, state, identity and the direct end are those of the tool without contracts."""
    came = way.open([look], few("look", 1)).say(ask("look", word="hi"))
    assert came.message("a").artifact == ["hi"]
    assert came.result("a") == "hi 2"
    assert (came.message("a").name, isinstance(look, BaseTool)) == ("look", True)
    assert came.last == ("done" if way in GRAPHS else "hi 2")
