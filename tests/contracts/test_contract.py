"""The builder: contracts in Python."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from sponsio_like.contracts import conditions
from sponsio_like.contracts import sentences as phrases
from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract, Scope, contract
from sponsio_like.errors import ContractError
from sponsio_like.outcome import Block, Redirect, Warn
from sponsio_like.patterns import must_precede, rate_limit
from sponsio_like.syntax import read
from tests.semantics.manifest import requirement


def mistake(build: Any) -> str:
    with pytest.raises(ContractError) as error:
        build()
    return str(error.value)


def test_a_contract_is_built_in_one_sentence() -> None:
    """Name, assumption, guarantees, strategy and mode are given one after the other."""
    gate = (
        contract("checked first")
        .assume("called `refund`")
        .guarantees("must call `check` before `refund`", rate_limit("refund", 3))
        .guarantees(read("G !called(other)"))
        .strategy("warn_only")
        .observe()
    )
    assert gate == Contract(
        "checked first",
        (must_precede("check", "refund"), rate_limit("refund", 3), Rule(read("G !called(other)"))),
        read("O called(refund)"),
        None,
        Warn(),
        "observe",
    )


def test_a_contract_is_frozen() -> None:
    """Every step returns a changed copy; a contract itself never changes."""
    one = contract("one")
    assert one.enforce() is not one
    assert one.mode is None
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.mode = "observe"  # type: ignore[misc]
    assert len({one, one.observe(), contract("one")}) == 2


def test_the_seed_example_reads() -> None:
    """The sentences of the first document build the contract that the patterns build."""
    seed = (
        contract("the policy is checked before refunds")
        .assume("called `issue_refund`")
        .guarantees("must call `check_policy` before `issue_refund`")
        .strategy("block")
    )
    assert seed.rules == (must_precede("check_policy", "issue_refund"),)
    assert seed.answer == Block()


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("called `x`", "O called(x)"),
        ({"called": "x"}, "O called(x)"),
        ({"done": ["x", "y*"]}, "O done([x, y*])"),
        ({"failed": {"tool": "x", "agent": "bob"}}, 'O failed(x, @agent = "bob")'),
        ({"called": {"tool": "x", "args": {"n": {"gt": 5}}}}, "called(x, n > 5)"),
        ({"called": ["y", {"tool": "x", "args": {"n": 1}}]}, "O called(y) | called(x, n = 1)"),
        ({"ctx": {"stage": "review"}}, 'ctx(stage) = "review"'),
        (
            {"ctx": {"on": True, "n": {"gt": 1, "le": 3}}},
            "ctx(on) = true & ctx(n) > 1 & ctx(n) <= 3",
        ),
        ({"ctx": {"k": {"in": ["a", "b"]}}}, 'ctx(k) in ["a", "b"]'),
        ({"ctx": {"k": {"matches": "^a"}}}, 'ctx(k) matches "^a"'),
        ({"permission": "p"}, "permission(p)"),
        ({"approved": {"action": "pay", "role": "boss"}}, "approved(pay, boss)"),
        ({"agent": "bob"}, 'agent = "bob"'),
        ({"message": "user"}, "message(user)"),
        ({"message": "user", "text": {"matches": "yes"}}, 'message(user) & text matches "yes"'),
        ({"step": "p"}, "step(p)"),
        ({"ltl": "called(x) & O done(y)"}, "called(x) & O done(y)"),
        (read("called(x)"), "called(x)"),
    ],
)
def test_an_assumption_is_a_sentence_an_atom_or_a_formula(written: Any, means: str) -> None:
    """`called x` means by now; conditions on arguments speak of this call; formulas stay."""
    assert repr(contract("c").assume(written).assumption) == repr(read(means))


@pytest.mark.parametrize(
    ("written", "wrong"),
    [
        ("whenever x", "is not understood; write called `x`"),
        (5, "`5` is not a condition"),
        ({}, "an empty mapping says nothing"),
        ({"called": "x", "done": "y"}, "combine several with {ltl:"),
        ({"caled": "x"}, "unknown key `caled` in a condition; did you mean `called`"),
        ({"done": {"tool": "x", "args": {"n": 1}}}, "is not known yet"),
        ({"ctx": "k"}, "write {ctx: {key: v}}"),
        ({"ctx": {}}, "write {ctx: {key: v}}"),
        ({"ctx": {"k": {}}}, "an empty comparison"),
        ({"ctx": {"k": {"like": 1}}}, "unknown key `like` in a comparison"),
        ({"ctx": {"k": [1]}}, "`[1]` is not a plain value"),
        ({"ctx": {"k": {"matches": "("}}}, "does not compile"),
        ({"permission": 3}, "`3` is not a name"),
        ({"approved": "pay"}, "write {action: pay, role: boss}"),
        ({"message": "user", "text": "yes"}, "write {matches: regex}"),
        ({"text": {"matches": "x"}}, "a `text` is of a message; write message: user beside it"),
        ({"ltl": 3}, "`3` is not a formula"),
        ({"ltl": "called(x"}, "contract `mine`, 1:"),
        ({"ltl": "F called(x)"}, "an assumption cannot speak of the future"),
        ({"ltl": "text matches '('"}, "does not compile"),
        ({"ltl": "arg_contains(3)"}, "missing a required argument: 'patterns'"),
    ],
)
def test_a_wrong_assumption_is_refused(written: Any, wrong: str) -> None:
    """What is not understood, or speaks of the future, is refused, with the contract."""
    text = mistake(lambda: contract("mine").assume(written))
    assert wrong in text
    assert "contract `mine`" in text


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        ("block", Block()),
        ("warn_only", Warn()),
        (Warn(), Warn()),
        ({"redirect_to_safe": {"to": "t"}}, Redirect("t", None)),
        (
            {"redirect_to_safe": {"to": "t", "map": {"a": "b", "c": None}}},
            Redirect("t", (("a", "b"), ("c", None))),
        ),
    ],
)
def test_strategies_are_known_by_name(written: Any, answer: Any) -> None:
    """A strategy is `block`, `warn_only`, or a redirect with its tool."""
    assert contract("c").strategy(written).answer == answer


@requirement("S-STRAT-09")
@pytest.mark.parametrize(
    ("written", "wrong"),
    [
        ("blok", "unknown strategy `blok`; did you mean `block`?"),
        ("observe", "`observe` is a mode; write mode: observe"),
        ({"escalate": {"rolls": ["boss"]}}, "unknown key `rolls` in a strategy"),
        ({"escalate": {"within": 0}}, "`0` is not a number of seconds above 0"),
        ({"escalate": {"notify": [5]}}, "`5` is not a notifier"),
        ({"escalate": {"notify": [{"webhook": "ftp://x"}]}}, "webhook at `x` is no web address"),
        ("package.module:function", "`package.module:function` cannot be imported"),
        ("package.module.function", "a callable is written package.module:callable"),
        ("redirect_to_safe", "write {redirect_to_safe: {to: tool}}"),
        ({"redirect_to_safe": {"map": {}}}, "`redirect_to_safe` needs `to`"),
        ({"redirect_to_safe": {"too": "x", "to": "t"}}, "unknown key `too` in a redirect"),
        ({"redirect_to_safe": {"to": "t*"}}, "`t*` is not one tool"),
        ({"warn": {}}, "unknown strategy `warn`; did you mean `warn_only`?"),
        ({"warn_only": {}, "block": {}}, "unknown strategy"),
        (3, "unknown strategy `3`"),
        (None, "unknown strategy `None`"),
    ],
)
def test_a_wrong_strategy_is_refused(written: Any, wrong: str) -> None:
    """An unknown strategy is refused; what comes later says so."""
    assert wrong in mistake(lambda: contract("c").strategy(written))


def test_scopes_are_segments() -> None:
    """A scope is after, before, between or after-until; its ends are conditions of a position."""
    x, y = read("called(x)"), read("done(y)")
    assert contract("c").after("called `x`").segment == Scope("after", x)
    assert contract("c").before({"called": "x"}).segment == Scope("before", None, x)
    assert contract("c").between(x, {"done": "y"}).segment == Scope("between", x, y)
    assert contract("c").after_until("called `x`", y).segment == Scope("after_until", x, y)
    assert "a scope is given twice" in mistake(lambda: contract("c").after(x).before(y))
    assert "cannot speak of the future" in mistake(lambda: contract("c").after(read("F called(x)")))


def test_modes_are_observe_and_enforce() -> None:
    """A mode is observe or enforce."""
    assert contract("c").observe().mode == "observe"
    assert contract("c").enforce().mode == "enforce"
    wrong: Any = "watch"
    assert "unknown mode `watch`; known: `observe`, `enforce`" in mistake(
        lambda: contract("c").in_mode(wrong)
    )


@pytest.mark.parametrize(
    ("written", "wrong"),
    [
        ("do no evil", "“do no evil” is not understood"),
        ({"patern": "x"}, "unknown key `patern` in a guarantee; did you mean `pattern`?"),
        ({"pattern": "must_precde"}, "unknown pattern `must_precde`; did you mean `must_precede`?"),
        ({"pattern": 3}, "unknown pattern `3`"),
        ({"ltl": "G called(", "counts": "done"}, "unknown key `counts` in a guarantee"),
        ({}, "an empty guarantee"),
        (None, "`None` is not a guarantee"),
        (["x"], "is not a guarantee"),
    ],
)
def test_a_wrong_guarantee_is_refused(written: Any, wrong: str) -> None:
    """A guarantee that is not understood is refused, with the name of its contract."""
    text = mistake(lambda: contract("mine").guarantees(written))
    assert wrong in text
    assert "contract `mine`" in text


def test_all_wrong_guarantees_are_told_at_once() -> None:
    """Every guarantee that is not understood is told, not only the first."""
    text = mistake(lambda: contract("c").guarantees("x", rate_limit("a", 1), {"pattern": "y"}))
    assert "“x”" in text
    assert "`y`" in text


def test_a_contract_has_a_name_and_one_assumption() -> None:
    """A name is some text; an assumption is given once."""
    wrong: Any = None
    assert "is not the name of a contract" in mistake(lambda: contract("  "))
    assert "is not the name of a contract" in mistake(lambda: contract(wrong))
    assert "`assume` is given twice" in mistake(
        lambda: contract("c").assume("called `x`").assume("called `y`")
    )


def test_a_mapping_makes_the_same_rule_as_python() -> None:
    """A pattern as a mapping, as a sentence and as a call are one rule."""
    mapping = {"pattern": "must_precede", "first": "a", "then": "b"}
    rules = contract("c").guarantees(mapping, "tool `a` must precede `b`", must_precede("a", "b"))
    assert len(set(rules.rules)) == 1


def test_sentences_and_conditions_are_read_in_one_place() -> None:
    """The builder reads sentences and conditions as files do."""
    assert contract("c").guarantees("tool `a` at most once").rules[0] == phrases.read_sentence(
        "tool `a` at most once"
    )
    assert contract("c").assume({"ctx": {"k": 1}}).assumption is conditions.assumption(
        {"ctx": {"k": 1}}
    )
