"""Which contracts need a session that lasts: all that remember, or read what the host tells."""

from __future__ import annotations

import random
from typing import Any

import pytest

import sponsio_like.patterns  # noqa: F401  declares the patterns
from sponsio_like import Contract, ContractError, Session, atom, contract
from sponsio_like.contracts.declaration import Rule, catalog
from sponsio_like.contracts.definition import Scope
from sponsio_like.logic.formula import Always, Custom, Not
from sponsio_like.outcome import Escalate
from sponsio_like.syntax import read
from tests.fuzz.fuzz_cases import Formulas
from tests.fuzz.fuzz_traces import Traces
from tests.reference import pattern_cases, values_cases
from tests.semantics.manifest import requirement
from tests.support.play import Clock, guarded
from tests.support.size import sized

STATELESS = {
    *("arg_allowlist", "arg_blacklist", "arg_length_limit", "arg_value_range"),
    *("delegation_depth_limit", "max_length", "no_keywords", "redirect_to_safe", "tool_allowlist"),
    *("absent", "dangerous_bash_commands", "dangerous_sql_verbs", "date_within"),
    *("host_allowlist", "no_other_call", "no_pii", "scope_limit"),
}
OURS = [each for each in catalog() if each.build.__module__.startswith("sponsio_like.")]


@requirement("S-DECIDE-14")
@pytest.mark.parametrize("pattern", OURS, ids=lambda each: each.name)
def test_patterns_over_one_call_or_one_answer_remember_nothing(pattern: Any) -> None:
    """Those that speak of a single call, or of a single answer; all others need a session."""
    rules = [pattern.rule(pattern.example)]
    cases = [*pattern_cases.CASES, *values_cases.CASES]
    rules += [each.contract.rules[0] for each in cases if each.name == pattern.name]
    stateful = {bool(guarded(Contract("c", (rule,))).policy.stateful) for rule in rules}
    assert stateful == {pattern.name not in STATELESS}


@requirement("S-DECIDE-14")
@pytest.mark.parametrize(
    "formula",
    [
        "G !called(a)",
        "G(called(a) -> arg(n) <= 3 & agent = bob)",
        "G !(called(a, n > 3) | called(b))",
        "G !called(a) & G !called(b)",
        "G(called(a) -> depth() <= 1)",
        'G(message(assistant) -> !text matches "x")',
        "G !step(p)",
    ],
)
def test_a_condition_on_each_event_remembers_nothing(formula: str) -> None:
    """`G` over a state formula: what is decided depends on the event alone."""
    assert guarded(formula).policy.stateful == ()


@requirement("S-DECIDE-14")
@pytest.mark.parametrize(
    "formula",
    [
        "!called(a)",
        "!called(a) W called(b)",
        "G(called(a) -> O called(b))",
        "G(called(a) -> Y called(b))",
        "G(called(a) -> O[<=3] called(b))",
        "G(called(a) -> H[<=3s] !called(b))",
        "G(called(a) -> !called(b) S called(c))",
        "G(called(a) -> X called(b))",
        "G(called(a) -> F[<=3s] called(b))",
        "G F called(a)",
        "F called(a)",
        "G count(a) <= 3",
        "G sum(a, n) <= 3",
        "G(called(a) -> since(b) > 1)",
        "G(called(a) -> age(b) > 1)",
        "G repeats(a) <= 3",
        "G(called(a) -> arg(n) = last(arg(n), called(b)))",
        "G(called(a) -> ctx(k) = 1)",
        "G(called(a) -> permission(p))",
        "G(called(a) -> approved(x, boss))",
        "G(called(a) -> fact_age(k) < 5)",
        "G(called(a) -> approval_age(x, boss) < 5)",
        "G(called(a) -> delivered(b) > 0)",
        "G(called(a) -> tokens() < 5)",
        "G !done(a)",
        "G(called(a) -> output.ok = true)",
    ],
)
def test_what_reads_more_than_the_event_remembers(formula: str) -> None:
    """The past, the future, counts, values, results, and whatever the host tells."""
    assert guarded(formula).policy.stateful == ("rule 0",)


PLAIN = Rule(read("G !called(a)"))


@requirement("S-DECIDE-14")
@pytest.mark.parametrize(
    "made",
    [
        Contract("c", (Rule(read("G !called(a)"), by=("n",)),)),
        Contract("c", (PLAIN,), segment=Scope("before", None, read("called(b)"))),
        Contract("c", (PLAIN,), assumption=read("O called(b)")),
        Contract("c", (PLAIN,), assumption=read("ctx(k) = 1")),
        Contract("c", (PLAIN, Rule(read("G count(a) <= 3")))),
    ],
    ids=["values", "scope", "assumption over the past", "assumption over facts", "one of two"],
)
def test_all_parts_of_a_contract_count(made: Contract) -> None:
    """What splits it, its scope, its assumption, and each of its guarantees."""
    assert guarded(made).policy.stateful == ("c",)


@requirement("S-DECIDE-14")
def test_contracts_are_named_in_order_whatever_their_mode_or_strategy() -> None:
    """Who is asked makes no difference: tickets are the session's, not the contract's."""
    held = Contract("held", (PLAIN,), answer=Escalate())
    seen = contract("seen").guarantees({"ltl": "G count(a) <= 1"}).observe()
    made = guarded(Contract("z", (Rule(read("F called(a)")),)), held, seen)
    assert made.policy.stateful == ("z", "seen")


def test_an_atom_of_the_user_reads_what_it_declares() -> None:
    """One that reads facts says so; any other speaks of the call alone."""
    atom("of the call")(lambda call, context: False)
    atom("of a fact", inputs=frozenset({"facts"}))(lambda call, context: False)
    atom("of the result", waits=True)(lambda tool, result: False)
    names = ("of the call", "of a fact", "of the result")
    made = guarded(*(Contract(name, (Rule(Always(Not(Custom(name)))),)) for name in names))
    assert made.policy.stateful == ("of a fact", "of the result")


def decided(session: Session, event: dict[str, Any]) -> object:
    """The outcome of a call, a message or a step, without what counts the calls before it."""
    by = {"agent": event.get("agent", "agent"), "depth": event.get("depth", 0)}
    match event["type"]:
        case "call":
            return type(session.decide(event["tool"], event["args"], **by))
        case "message":
            return type(session.message(event["role"], event["text"]))
    return len(session.step(event["atoms"]))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_what_remembers_nothing_says_the_same_in_a_new_session(seed: int) -> None:
    """Random contracts that are not stateful: no event leaves a trace in what they say or are."""
    dice = random.Random(seed)
    found = 0
    while found < sized(25, 8):
        formula = Formulas(dice).guarantee()
        try:
            made = guarded(Contract("c", (Rule(formula),)))
        except ContractError:
            continue
        if made.policy.stateful:
            continue
        found += 1
        session, clock = made.session(clock=Clock()), Clock()
        for event in Traces(dice, formula).trace(12):
            if event["type"] in ("call", "message", "step"):
                assert decided(session, event) == decided(made.session(clock=clock), event)
                (state,) = session._inner.ledger.states
                assert state._replace(violated=False) == made.policy.clauses[0].start
