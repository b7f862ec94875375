"""What is done about a violation (docs/semantics.md, sections 16 to 18)."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, Guard, Held, Redirected, Violation, contract
from sponsio_like.contracts import STRATEGIES
from sponsio_like.contracts.targets import NOTHING
from sponsio_like.errors import ContractError
from sponsio_like.notices import drain
from sponsio_like.outcome import Block, Decision, Escalate, Outcome
from sponsio_like.patterns import no_keywords, rate_limit, redirect_to_safe
from sponsio_like.replay.replay import Replay
from sponsio_like.traces.trace import trace_of
from tests.semantics.manifest import requirement

NEVER = rate_limit("pay", 0)


def decided(*strategies: Any, mode: Any = "enforce") -> Outcome:
    """A payment that violates one contract for each of these strategies."""
    rules = [
        contract(f"rule {n}").guarantees(NEVER).strategy(each) for n, each in enumerate(strategies)
    ]
    return Guard(rules, mode=mode).session().decide("pay", {"amount": 5})


@requirement("S-STRAT-01")
def test_the_strategy_of_the_contract_comes_first() -> None:
    """Then that of the pattern; without any, the call is blocked."""
    session = Guard([contract("safe").guarantees(redirect_to_safe("pay", "draft"))]).session()
    assert isinstance(session.decide("pay"), Redirected)
    own = contract("safe").guarantees(redirect_to_safe("pay", "draft")).strategy("warn_only")
    assert isinstance(Guard([own]).session().decide("pay"), Allowed)
    assert isinstance(Guard([contract("c").guarantees(NEVER)]).session().decide("pay"), Blocked)


@requirement("S-STRAT-02")
def test_arguments_are_renamed_or_dropped_for_the_substitute() -> None:
    """What `map` does not name stays as it is."""
    to = {"to": "draft", "map": {"amount": "sum", "card": None}}
    rule = contract("c").guarantees(NEVER).strategy({"redirect_to_safe": to})
    outcome = Guard([rule]).session().decide("pay", {"amount": 5, "card": 1, "note": "x"})
    assert isinstance(outcome, Redirected)
    assert outcome.args == {"sum": 5, "note": "x"}


@requirement("S-STRAT-03")
def test_a_response_has_no_substitute() -> None:
    """A response that would be redirected is blocked."""
    rule = contract("c").guarantees(no_keywords(["secret"]))
    session = Guard([rule.strategy({"redirect_to_safe": {"to": "draft"}})]).session()
    assert isinstance(session.message("assistant", "the secret"), Blocked)
    assert isinstance(session.message("assistant", "nothing"), Allowed)


@requirement("S-STRAT-04", "S-DECIDE-01")
def test_escalate_is_between_block_and_redirect() -> None:
    """Held is stricter than redirected or warned about, and less strict than blocked."""
    redirect = {"redirect_to_safe": {"to": "draft"}}
    assert isinstance(decided("escalate"), Held)
    assert isinstance(decided(redirect, "escalate", "warn_only"), Held)
    assert isinstance(decided("block", "escalate"), Blocked)


@requirement("S-STRAT-05")
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("block", Blocked),
        ("warn_only", Allowed),
        ({"escalate": {"roles": ["owner"]}}, Held),
        ({"redirect_to_safe": {"to": "draft"}}, Redirected),
    ],
)
def test_a_callable_answers_with_a_strategy(answer: Any, outcome: type[Outcome]) -> None:
    """It is given the violation, once for each decision, and answers as a file would."""
    asked: list[Violation] = []

    def ask(violation: Violation) -> Any:
        asked.append(violation)
        return answer

    assert isinstance(decided(ask), outcome)
    assert [(each.contract, each.tool, each.action) for each in asked] == [
        ("rule 0", "pay", "custom")
    ]
    assert isinstance(decided(ask, "block"), Blocked)
    assert len(asked) == 2


ASKED: list[Violation] = []


def asked_by_path(violation: Violation) -> str:
    """A strategy that is found by its path."""
    ASKED.append(violation)
    return "warn_only"


@requirement("S-STRAT-05")
def test_a_callable_may_be_given_by_its_path() -> None:
    """`package.module:callable` is imported when the contract is made."""
    ASKED.clear()
    assert isinstance(decided(f"{__name__}:asked_by_path"), Allowed)
    assert len(ASKED) == 1


def raises(_: Violation) -> str:
    raise OSError("nobody there")


@requirement("S-STRAT-06")
@pytest.mark.parametrize(
    "ask", [raises, lambda _: None, lambda _: "allow", lambda _: raises], ids=["raises", *"123"]
)
def test_what_is_no_answer_blocks(ask: Any) -> None:
    """An exception, nothing, an unknown word or another callable: the call does not run."""
    assert isinstance(decided(ask), Blocked)


@requirement("S-STRAT-08")
def test_where_only_observed_no_callable_is_asked() -> None:
    """There is nothing to decide: the call runs, and the log has what would have been done."""
    asked: list[Violation] = []
    outcome = decided(asked.append, mode="observe")
    assert isinstance(outcome, Allowed)
    assert [each.action for each in outcome.observed] == ["custom"]
    assert asked == []


@requirement("S-STRAT-08")
def test_where_only_observed_the_guard_tells_nobody() -> None:
    """Notifiers of the guard are told what was stopped or warned about, not what was seen."""
    told: list[str] = []
    rules = [
        contract("seen").guarantees(NEVER).observe(),
        contract("also seen").guarantees(NEVER).strategy("warn_only").observe(),
        contract("warned").guarantees(NEVER).strategy("warn_only"),
    ]
    guard = Guard(rules, notify=[lambda notice: told.append(notice.contract)])
    assert isinstance(guard.session().decide("pay"), Allowed)
    assert drain(5)
    assert told == ["warned"]


@requirement("S-REPLAY-05")
@pytest.mark.parametrize(
    ("strategy", "action"), [("escalate", "held"), (raises, "custom"), ("warn_only", "warned")]
)
def test_a_replay_tells_what_would_have_been_done(strategy: Any, action: str) -> None:
    """The strategy of the contract is not carried out; its action stands in the line."""
    rule = contract("c").guarantees(NEVER).strategy(strategy)
    trace = trace_of({"id": "t", "events": [{"tool": "pay"}]})
    assert [each.action for each in Replay([rule]).judge(trace).violations] == [action]


@requirement("S-ASK-10")
def test_of_several_times_to_answer_the_shortest_counts() -> None:
    """Contracts that hold a call together leave the least time that any of them leaves."""
    each = [
        contract(name).guarantees(NEVER).strategy({"escalate": {"within": seconds}})
        for name, seconds in (("c", 60), ("d", 30), ("e", None))
    ]
    held = Guard(each).session(clock=lambda: 5.0).decide("pay")
    assert isinstance(held, Held)
    assert held.ticket.until == 35


# --- who may answer, and until when ---------------------------------------------------------------


OPTIONS: dict[str, dict[str, Any]] = {"redirect_to_safe": {"to": "draft"}}
"""What a strategy of the package cannot do without, by its name."""


def holds_for_anyone_for_ever(strategy: Any, options: dict[str, Any]) -> bool:
    """Whether a strategy holds calls, and neither says who may answer until when, nor takes it."""

    def is_open(decision: Decision) -> bool:
        return isinstance(decision, Escalate) and not (decision.roles and decision.within)

    if not is_open(strategy(options, NOTHING)):
        return False
    try:
        return is_open(strategy({**options, "roles": ["manager"], "within": 60}, NOTHING))
    except ContractError:
        return True


@pytest.mark.parametrize("name", STRATEGIES)
def test_no_strategy_holds_for_anyone_for_ever(name: str) -> None:
    """One that holds calls has roles and an end of its own, or takes `roles` and `within`."""
    assert not holds_for_anyone_for_ever(STRATEGIES[name], OPTIONS.get(name, {}))


@pytest.mark.parametrize(
    ("strategy", "noticed"),
    [
        (lambda options, words: Escalate(), True),
        (lambda options, words: Escalate(tuple(options.get("roles", ()))), True),
        (lambda options, words: Escalate(("manager",)), True),
        (lambda options, words: Escalate(within=60), True),
        (lambda options, words: Escalate(("manager",), within=60), False),
        (lambda options, words: Block(), False),
    ],
)
def test_a_hold_without_roles_or_without_an_end_is_noticed(strategy: Any, noticed: bool) -> None:
    """A strategy that drops one of the two is one that holds for anyone, or for ever."""
    assert holds_for_anyone_for_ever(strategy, {}) is noticed
