"""Behaviours of every adapter: what a decision about one call comes to."""

from __future__ import annotations

from tests.adapters.harness import Call, Open
from tests.adapters.rules import check as checks
from tests.adapters.rules import (
    checked,
    delete,
    few,
    kept,
    pay,
    send,
    small,
    spending,
    told,
)


def test_a_call_that_is_allowed_runs(opened: Open) -> None:
    """The body receives the model's arguments, and the model its result."""
    stage = opened(few("delete"))
    report = stage.run([send("hello", "a")], [checks("b")])
    assert stage.ran == [("send", {"to": "ann", "text": "hello"}), ("check", {})]
    assert (report.result("a"), report.result("b")) == ("sent hello to ann", "clean")
    assert stage.statuses("send", "check") == ["ok", "ok"]


def test_a_blocked_call_does_not_run(opened: Open) -> None:
    """It is answered with an error, as often as it is tried."""
    stage = opened(few("pay"))
    report = stage.run([pay(1, "a")], [pay(1, "b")], [pay(1, "c")])
    for each in "abc":
        report.refused(each)
    assert (stage.tools(), stage.statuses("pay")) == ([], [])
    assert stage.outcomes("pay") == ["blocked"] * 3


def test_advice_reaches_the_model_and_works(opened: Open) -> None:
    """The error says what makes the call legal; a model that does it gets its call."""
    stage = opened(checked())
    report = stage.run([pay(5, "a")], [checks("b")], [pay(5, "c")])
    assert "first call `check`" in report.refused("a")
    assert report.result("c") == "paid 5"
    assert stage.tools() == ["check", "pay"]


def test_a_warning_lets_the_call_run(opened: Open) -> None:
    """It runs as if nothing were said, and the log has the warning."""
    stage = opened(few("pay").strategy("warn_only"))
    report = stage.run([pay(5, "a")])
    assert (report.result("a"), stage.tools()) == ("paid 5", ["pay"])
    assert (stage.outcomes("pay"), stage.actions("pay")) == (["allowed"], ["warned"])


# --- redirects ------------------------------------------------------------------------------------


def test_a_redirect_runs_the_substitute_and_never_the_original(opened: Open) -> None:
    """The substitute runs on the mapped arguments, and the call has its result."""
    stage = opened(kept())
    report = stage.run([delete("old", "a")])
    assert stage.ran == [("trash", {"file": "old"})]
    assert report.result("a") == "trashed old"
    assert stage.outcomes("delete") == ["redirected"]
    assert stage.statuses("delete", "trash") == ["ok"]


def test_a_substitute_is_decided_as_well(opened: Open) -> None:
    """Where the substitute is not allowed either, neither runs."""
    stage = opened(kept(), few("trash", 1))
    report = stage.run([delete("old", "a"), delete("new", "b")])
    assert stage.tools() == ["trash"]
    assert sorted(each.error for each in report.told) == [False, True]


def test_a_substitute_that_cannot_take_the_arguments_is_an_error(opened: Open) -> None:
    """Where no argument has the name that the substitute asks for, neither runs."""
    stage = opened(few("delete").strategy({"redirect_to_safe": {"to": "trash"}}))
    stage.run([delete("old", "a")]).refused("a")
    assert (stage.tools(), "ok" in stage.statuses("delete", "trash")) == ([], False)


def test_a_redirect_in_a_batch_leaves_the_others_alone(opened: Open) -> None:
    """Each call of the turn gets its own answer."""
    stage = opened(kept(), few("pay"))
    report = stage.run([pay(5, "a"), delete("old", "b"), send("hello", "c")])
    assert sorted(stage.tools()) == ["send", "trash"]
    report.refused("a")
    assert (report.result("b"), report.result("c")) == ("trashed old", "sent hello to ann")


# --- arguments ------------------------------------------------------------------------------------


def test_arguments_are_decided_on_as_the_tool_receives_them(opened: Open) -> None:
    """`"5000"` for a number is the 5000 that the body would receive."""
    stage = opened(small(100), spending(100))
    report = stage.run([pay("5000", "a")], [pay("60", "b")], [pay("60", "c")])
    assert stage.ran == [("pay", {"amount": 60})]
    report.refused("a")
    assert report.result("b") == "paid 60"
    report.refused("c")


def test_arguments_that_do_not_validate_are_an_error_and_count_nothing(opened: Open) -> None:
    """The model is told, no body runs, no limit is used, and the other calls go their way."""
    stage = opened(few("pay", 1))
    report = stage.run([pay("a lot", "a"), Call("pay", {}, "b"), send("hello", "c")], [pay(5, "d")])
    for each in "ab":
        report.refused(each)
    assert stage.ran == [("send", {"to": "ann", "text": "hello"}), ("pay", {"amount": 5})]


def test_a_tool_that_nobody_knows_is_an_error(opened: Open) -> None:
    """The model is told, and goes on."""
    stage = opened(few("pay", 1))
    report = stage.run([Call("fly", {"to": "moon"}, "a"), send("hello", "b")], [pay(5, "c")])
    report.refused("a")
    assert (report.result("b"), report.result("c")) == ("sent hello to ann", "paid 5")


def test_arguments_that_change_later_do_not_change_history(opened: Open) -> None:
    """What the host or a body does to the arguments after the decision was never said."""
    stage = opened(spending(100))
    first = pay(60, "a")

    def forget() -> bool:
        first.args["amount"] = 0
        return True

    stage.bench.pause["pay"] = forget
    report = stage.run([first], [pay(60, "b")])
    assert (report.result("a"), stage.tools()) == ("paid 60", ["pay"])
    report.refused("b")


def test_an_argument_that_a_body_empties_was_what_it_was(opened: Open) -> None:
    """A list is decided on and remembered as it was given, though the tool takes it apart."""
    stage = opened(told("G(called(pay) -> O called(label, tags[] = 'red'))"))
    report = stage.run([pay(5, "a")], [Call("label", {"tags": ["red", "old"]}, "b")], [pay(5, "c")])
    report.refused("a")
    assert (report.result("b"), report.result("c")) == ("labelled red old", "paid 5")


# --- results --------------------------------------------------------------------------------------


def test_contracts_see_the_text_that_a_tool_returned(opened: Open) -> None:
    """A condition on `output` is decided by the result."""
    stage = opened(told('G(called(pay) -> Y O (called(check) & output = "clean"))'))
    stage.bench.outputs["check"] = "dirty"
    stage.run([checks("a")], [pay(5, "b")]).refused("b")
    stage.bench.outputs["check"] = "clean"
    assert stage.run([checks("c")], [pay(5, "d")]).result("d") == "paid 5"


def test_contracts_see_the_fields_that_a_tool_returned(opened: Open) -> None:
    """A result that is data is read as data."""
    stage = opened(told("G(called(pay) -> Y O (called(check) & output.risk < 5))"))
    stage.bench.outputs["check"] = {"risk": 7}
    stage.run([checks("a")], [pay(5, "b")]).refused("b")
    stage.bench.outputs["check"] = {"risk": 3}
    assert stage.run([checks("c")], [pay(5, "d")]).result("d") == "paid 5"
