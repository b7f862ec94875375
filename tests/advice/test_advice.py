"""What a blocked call is told (docs/semantics.md, section 17): it is true and short, or says so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sponsio_like.advice import search as ways
from sponsio_like.advice import trial as supposing
from sponsio_like.advice.moves import answer_words
from sponsio_like.contracts import loads
from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract, contract
from sponsio_like.engine import judgement as judging
from sponsio_like.engine.ledger import Ledger
from sponsio_like.events.registry import CUSTOM, atom
from sponsio_like.guard.guard import Guard
from sponsio_like.logic.formula import Custom
from sponsio_like.outcome import Allowed, Blocked, Held
from sponsio_like.patterns import (
    amount_limit,
    arg_allowlist,
    arg_value_range,
    cooldown,
    destructive_action_gate,
    host_allowlist,
    idempotent,
    loop_detection,
    must_confirm,
    must_precede,
    mutual_exclusion,
    rate_limit,
    redirect_to_safe,
    required_steps_completion,
    requires_permission,
    tool_allowlist,
)
from sponsio_like.session import user_code as perceiving
from sponsio_like.syntax import read
from sponsio_like.worlds import MemoryWorld
from tests.advice.advised import ANSWERS, TRACES, Tally, check, lasting, policies
from tests.semantics.manifest import requirement
from tests.support.play import Played, guarded, opened
from tests.support.size import sized

CAP = 4 * (ways.STRAIGHT + ways.SEARCH)
EVERY = sized(90, 180)
"""One policy of so many is followed up here; all of them, by `python -m tests.advice.advised`."""
SUPPORT = Path(__file__).parents[2] / "examples" / "support" / "contracts.yaml"
LESS = 13
"""One of so many, where the last pattern holds or redirects."""
MUST = "(it must succeed)"
ANSWER = (
    "the answer must be yes, unless the contract has `accept: REGEX` or"
    " `accept: {path: ok, equals: true}`"
)
YES = f"(it must succeed, and {ANSWER})"
PAY_FIRST = must_precede("check", "pay")


def kept(*rules: Rule | str) -> list[Contract]:
    """A contract for each rule; a text is a formula."""
    named = enumerate(read(each) if isinstance(each, str) else each for each in rules)
    return [contract(f"c{n}").guarantees(rule) for n, rule in named]


def told(played: Played, call: str) -> str:
    """What is said about this call, which is blocked, behind the reason."""
    assert played(call) == "x", call
    outcome = played.outcomes[-1]
    assert isinstance(outcome, Blocked)
    return outcome.advice.rpartition("; ")[2].removeprefix("to make it legal, first ")


def after(trace: str, *rules: Rule | str) -> Played:
    """A session that has come so far; nothing in the trace is blocked."""
    played = opened(*kept(*rules))
    assert "x" not in played(trace)
    return played


# --- following it -------------------------------------------------------------------------------


@pytest.mark.long
@requirement("S-DECIDE-05")
def test_following_the_advice_makes_the_call_allowed_and_nothing_shorter_does() -> None:
    """For pairs of patterns and all short traces, against trying everything that is shorter."""
    tally = Tally()
    for pair in policies()[::EVERY]:
        for events, fly in TRACES:
            check(pair, tally, min(events, 4), fly=fly)
    assert tally.wrong == []
    steps = {name: n for name, n in tally.told.items() if name.endswith("steps")}
    assert len(steps) >= 3
    assert sum(steps.values()) > 100
    assert tally.told["no calls make it legal in this session"] > 50
    assert tally.told["no short way to make it legal was found"] < 5


@requirement("S-DECIDE-05")
def test_many_prerequisites_are_all_told_in_the_order_that_they_need() -> None:
    """Twelve calls are needed, each of which needs another: all are told, and can be followed."""
    first = [must_precede(f"t{i}", "pay") for i in range(12)]
    second = [must_precede(f"s{i}", f"t{i}") for i in range(12)]
    played = after("", *first, *second)
    steps = re.findall(r"call `(\w+)` \(it must succeed\)", told(played, "pay"))
    assert sorted(steps) == sorted(f"{kind}{i}" for kind in "st" for i in range(12))
    assert played(" ".join([*steps, "pay"])) == "." * 25


@requirement("S-DECIDE-05")
def test_steps_of_one_guarantee_are_told_as_well_as_those_of_many() -> None:
    """The ten steps that one contract asks for, less those that have been done."""
    steps = [f"t{i}" for i in range(10)]
    played = after("t3", required_steps_completion(steps, "pay"))
    assert told(played, "pay") == ", then ".join(f"call `{t}` {MUST}" for t in steps if t != "t3")


@requirement("S-DECIDE-05")
def test_a_shorter_way_is_taken_where_there_is_one() -> None:
    """What reaches one goal after the other is not told if one call reaches both."""
    either = "G(called(pay) -> O done(a) | O done(both))"
    other = "G(called(pay) -> O done(b) | O done(both))"
    assert told(after("", either, other), "pay") == f"call `both` {MUST}"


@requirement("S-DECIDE-05")
def test_the_same_step_many_times_is_counted() -> None:
    """Long runs of one step are told once, with how often."""
    assert told(after("a", cooldown("a", steps=40)), "a") == "call some other tool 40 times"
    two = ", then ".join(["call some other tool"] * 2)
    assert told(after("a", cooldown("a", steps=2)), "a") == two


@requirement("S-DECIDE-05")
def test_what_the_step_itself_needs_is_part_of_the_way() -> None:
    """A step that another contract refuses is told with its own prerequisites, or not at all."""
    chain = [must_precede(f"t{i + 1}", f"t{i}") for i in range(7)]
    way = ", then ".join(f"call `t{i}` {MUST}" for i in range(7, 0, -1))
    assert told(after("", *chain), "t0") == way
    filler = [tool_allowlist(["pay", "note"]), cooldown("pay", steps=1)]
    assert told(after("pay", *filler), "pay") == "call `note`"


@requirement("S-DECIDE-05")
def test_other_values_are_left_alone() -> None:
    """The state of the refused value decides: another tool does not make it legal again."""
    once = after("pay(id=1)", idempotent("pay", by=["id"]))
    assert told(once, "pay(id=1)") == "no calls make it legal with these arguments"
    confirmed = must_confirm("pay", same=["id"])
    played = after("", confirmed)
    assert told(played, "pay(id=1)") == f"call `confirm_pay` with the same `id` {YES}"
    assert played("confirm_pay(id=2)=yes") == "."
    assert played("pay(id=1)") == "x"
    assert played("confirm_pay(id=1)=yes pay(id=1)") == ".."


@requirement("S-DECIDE-05")
def test_arguments_that_a_step_needs_are_told() -> None:
    """Where a condition is asked of the step, its arguments are told; of a glob, an example."""
    full = 'G(called(pay) -> O done(check, kind = "full"))'
    assert told(after("", full), "pay") == f'call `check` with `kind = "full"` {MUST}'
    assert told(after("", must_precede("check_*", "pay")), "pay") == (
        f"call a tool like `check_*` {MUST}"
    )
    again = after("s(q=1) s(q=1)", loop_detection("s", 2))
    assert told(again, "s(q=1)") == "call `s` with other arguments"


@requirement("S-DECIDE-05")
def test_of_an_inventory_only_its_tools_are_told() -> None:
    """Where the tools are known, a tool that does not exist is not recommended."""
    rules = kept(must_precede("check_*", "pay"))
    played = opened(*rules, guard={"tools": ["check_all", "pay", "note"]})
    assert told(played, "pay") == f"call `check_all` {MUST}"
    played = opened(*kept(cooldown("a", steps=1)), guard={"tools": ["a"]})
    played("a")
    assert told(played, "a") == "no calls make it legal in this session"


KNOWN = """version: 1
tools:
  find: {fields: {order: integer}}
  pay: {fields: {order: integer, amount: money}}
elsewhere: [review]
contracts:
  - name: rule
    guarantee: GUARANTEE
"""
VALUES = "{pattern: precedence, match: {tool: pay, args: {order: $o}}, requires: REQUIRED}"


@requirement("S-DECIDE-05")
@pytest.mark.filterwarnings("ignore:.*`review` is a tool of another agent")
@pytest.mark.parametrize(
    ("guarantee", "way"),
    [
        (
            VALUES.replace("REQUIRED", "{tool: find, args: {order: $o}}"),
            f"call `find` with the same `order` {MUST}",
        ),
        (
            VALUES.replace("REQUIRED", "{tool: [review, find], args: {order: $o}}"),
            f"call `find` with the same `order` {MUST}",
        ),
        (
            VALUES.replace("REQUIRED", "{tool: review, args: {order: $o}}"),
            "no short way to make it legal was found",
        ),
        (
            "{pattern: amount_limit, tool: pay, field: amount, total: 9}",
            "no calls make it legal with these arguments, but an `amount` of at most 9 would fit",
        ),
    ],
)
def test_contracts_with_values_know_the_tools_and_their_fields(guarantee: str, way: str) -> None:
    """What is advised can be called as it stands: with the fields that the tool has."""
    file = loads(KNOWN.replace("GUARANTEE", guarantee))
    refused = (
        Guard(file.contracts, tools=file.inventory)
        .session()
        .decide("pay", {"order": 1, "amount": "EUR 50"})
    )
    assert isinstance(refused, Blocked)
    assert way in refused.advice


@requirement("S-DECIDE-05")
def test_each_step_is_told_with_the_arguments_that_it_has() -> None:
    """Of two contracts that go by different fields, each step is told with its own."""
    file = loads(
        """version: 1
tools:
  look: {fields: {patient: string}}
  review: {fields: {claim: string}}
  approve: {fields: {claim: string, patient: string}}
contracts:
  - name: reviewed
    guarantee: {pattern: must_confirm, action: approve, by: review, same: [claim]}
  - name: looked at
    guarantee: {pattern: precedence, match: {tool: approve, args: {patient: $p}}, requires: LOOK}
  - name: few for each patient
    guarantee: {pattern: idempotent, action: approve, by: [patient]}
""".replace("LOOK", "{tool: look, args: {patient: $p}}")
    )
    session = Guard(file.contracts, tools=file.inventory).session()
    refused = session.decide("approve", {"claim": "C1", "patient": "P7"})
    assert isinstance(refused, Blocked)
    assert f"call `look` with the same `patient` {MUST}, then" in refused.advice
    assert "then call `review` with the same `claim` (it must" in refused.advice


@requirement("S-DECIDE-05")
def test_the_substitute_of_a_redirect_is_what_has_to_become_legal() -> None:
    """A call that is blocked because its substitute is: the way makes the substitute legal."""
    played = after("", redirect_to_safe("pay", "ask"), must_precede("check", "ask"))
    assert told(played, "pay") == f"call `check` {MUST}, then `ask` runs instead of it"
    assert played("check pay") == ".>"


# --- results, messages, facts -------------------------------------------------------------------


@requirement("S-DECIDE-11")
def test_the_result_of_a_call_in_flight_is_waited_for() -> None:
    """What is in flight need not be called again; of two calls of a tool, the id is told."""
    played = after("check?", PAY_FIRST)
    waiting = "wait for the result of `check`, which is in flight"
    assert told(played, "pay") == f"{waiting} {MUST}"
    assert played("ok:check pay") == ".."
    played = after("a?", mutual_exclusion("a", "b"))
    assert told(played, "b") == waiting.replace("check", "a") + " (it has to fail)"
    session = guarded(*kept(PAY_FIRST)).session()
    session.decide_batch([("check", {}, "x"), ("check", {}, "y")])
    outcome = session.decide("pay")
    assert isinstance(outcome, Blocked)
    assert outcome.advice.endswith(f"`check` with the id `x`, which is in flight {MUST}")


@requirement("S-DECIDE-11")
@pytest.mark.parametrize(
    ("rule", "asked", "answer"),
    [
        (must_confirm("pay", by="ask"), ANSWER, "Yes."),
        (
            must_confirm("pay", by="ask", accept="fine"),
            'the answer must say "fine", and nothing against it',
            "fine, go on",
        ),
        (
            must_confirm("pay", by="ask", accept={"path": "status", "equals": "done"}),
            'for its answer `output.status = "done"` must hold',
            {"status": "done"},
        ),
        (
            must_confirm("pay", by="ask", accept="^(?:yes|ok)"),
            'for its answer `output matches "^(?:yes|ok)"` must hold',
            "ok then",
        ),
        (
            must_confirm("pay", by="ask", accept="[0-9]{6}"),
            'for its answer `output matches "[0-9]{6}"` must hold',
            "code 123456",
        ),
        (
            "G(called(pay) -> Y O (done(ask) & output.approved = true))",
            "for its answer `output.approved = true` must hold",
            {"approved": True},
        ),
    ],
)
def test_what_the_answer_of_a_step_has_to_be_is_told(
    rule: Rule | str, asked: str, answer: Any
) -> None:
    """A confirmation is asked for with the answer that it takes, which makes the call legal."""
    played = after("", rule)
    assert told(played, "pay") == f"call `ask` (it must succeed, and {asked})"
    for output in ("no", answer):
        assert isinstance(played.session.decide("pay"), Blocked)
        played.session.settle(played.session.decide("ask").id, output=output)
    assert isinstance(played.session.decide("pay"), Allowed)


@requirement("S-DECIDE-11")
def test_messages_and_observations_are_waited_for() -> None:
    """Where a contract asks for a message, or an observation, that is the way."""
    yes = 'G(called(pay) -> O (message(user) & text matches "^yes"))'
    played = after("", yes)
    assert told(played, "pay") == "wait for a message of the user that matches `^yes`"
    played.session.message("user", "yes, please")
    assert played("pay") == "."
    spoken = after("", "G(called(pay) -> O message(assistant))")
    assert told(spoken, "pay") == "answer"
    assert told(after("", "G(called(pay) -> O step(ready))"), "pay") == (
        "wait until `ready` is observed"
    )


@requirement("S-DECIDE-11")
def test_an_answer_that_is_refused_has_ways_as_well() -> None:
    """A response may need a call first; one that is refused for its text is said differently."""
    played = opened("G(message(assistant) -> O done(check))")
    outcome = played.session.message("assistant", "done!")
    assert isinstance(outcome, Blocked)
    assert outcome.advice.endswith(f"first call `check` {MUST}")
    played = opened('G !(message(assistant) & text matches "secret")')
    outcome = played.session.message("assistant", "the secret is ...")
    assert isinstance(outcome, Blocked)
    assert outcome.advice.endswith("; say it differently")


@requirement("S-DECIDE-11")
def test_facts_are_asked_for_where_nothing_else_helps() -> None:
    """Permissions, approvals and facts are told last: only the host can state them."""
    boss = requires_permission("pay", "boss")
    assert told(after("", boss), "pay") == "get the permission `boss`"
    assert told(after("", boss, PAY_FIRST), "pay") == (
        f"call `check` {MUST}, then get the permission `boss`"
    )
    gate = destructive_action_gate("drop", gate="ask", role="owner")
    assert told(after("ask=yes", gate), "drop") == "get an approval of `drop` by a `owner`"
    test = 'G(called(pay) -> ctx(env) = "test")'
    assert told(after("", test), "pay") == 'have the host state `ctx(env) = "test"`'
    prod = 'G(called(pay) & ctx(env) = "prod" -> O done(check))'
    assert told(after("ctx:env=prod", prod), "pay") == f"call `check` {MUST}"


@requirement("S-DECIDE-11")
def test_facts_that_are_asked_for_make_the_call_legal() -> None:
    """Once the host has stated them, the call is allowed."""
    role = destructive_action_gate("drop", gate="ask", role="owner")
    played = after("ask=yes", requires_permission("drop", "boss"), role)
    way = told(played, "drop")
    assert way == "get the permission `boss`, then get an approval of `drop` by a `owner`"
    played.session.fact("permissions", ["boss"])
    assert played("drop") == "x"
    approval = {"action": "drop", "role": "owner", "decision": "approve", "by": "ann"}
    played.session.fact("approval", approval)
    assert played("drop") == "."


# --- waiting ------------------------------------------------------------------------------------


def waits(way: str) -> Iterator[int]:
    """The seconds that the way says to wait."""
    return (int(n) for n in re.findall(r"wait (\d+) s", way))


@requirement("S-DECIDE-10")
@pytest.mark.parametrize(
    ("rule", "trace", "wait"),
    [
        (cooldown("pay", seconds=60), "pay", 59),
        (cooldown("pay", seconds=60), "pay other other", 57),
        (rate_limit("pay", 3, per={"seconds": 60}), "pay pay pay other", 56),
        (rate_limit("pay", 2, per={"seconds": 10}), "pay other pay", 7),
        ("G(called(pay) -> age(called(a)) > 30)", "a", 30),
        ("G(called(pay) -> !O[<=30s] called(a))", "a other", 29),
        ("G(called(pay) -> sum[<=9s](pay, n) <= 5)", "pay(n=3)", 8),
    ],
)
def test_where_time_makes_it_legal_it_is_told_how_long(
    rule: Rule | str, trace: str, wait: int
) -> None:
    """Waiting as long as that makes the call legal, and a second less does not."""
    played = after(trace, rule)
    call = "pay(n=3)" if "n=" in trace else "pay"
    assert told(played, call) == f"wait {wait} s"
    asked = played.clock.now
    assert played(f"+{wait - 1}s {call}") == "x"
    assert played(f"+1s {call}") == "."
    assert played.clock.now == asked + wait


@requirement("S-DECIDE-10")
def test_calls_come_before_waiting_and_go_with_it() -> None:
    """Where calls alone are enough nobody waits; where both are needed, both are told."""
    both = after("check=yes pay", cooldown("pay", seconds=60), must_confirm("pay", by="check"))
    assert told(both, "pay") == f"call `check` {YES}, then wait 59 s"
    assert both("check=yes +58s pay") == ".."
    either = "G(called(pay) -> age(called(a)) > 30 | Y called(ok))"
    assert told(after("a", either), "pay") == "call `ok`"
    fresh = ["G(called(pay) -> O[<=30s] done(a))", "G(called(pay) -> !O[<=10s] called(a))"]
    played = after("", *fresh)
    assert told(played, "pay") == f"call `a` {MUST}, then wait 11 s"
    assert played("a +10s pay +1s pay") == ".x."


@requirement("S-DECIDE-10")
def test_waiting_is_not_told_where_it_breaks_something() -> None:
    """A wait that lets a deadline pass is no way."""
    soon = "G(done(open) -> F[<=20s] done(close))"
    assert list(waits(told(after("pay", cooldown("pay", seconds=60), soon), "pay"))) == [59]
    played = after("pay open", cooldown("pay", seconds=60), soon)
    assert told(played, "pay").startswith(f"call `close` {MUST}, then wait ")


@requirement("S-DECIDE-10")
def test_deadlines_of_other_values_do_not_hinder_waiting() -> None:
    """What runs out for another value of a split clause is not known of, and does not matter."""
    soon = Rule(read("G(called(a) -> F[<=10s] called(b))"), by=("n",))
    played = after("a(n=1) a(n=2) pay(n=1)", soon, cooldown("pay", seconds=60))
    assert told(played, "pay(n=1)") == "call `b` with the same `n`, then wait 59 s"


# --- honesty ------------------------------------------------------------------------------------


@requirement("S-DECIDE-09")
@pytest.mark.parametrize(
    ("rules", "trace", "call"),
    [
        (["G !called(pay)"], "", "pay"),
        ([rate_limit("pay", 2)], "pay pay", "pay"),
        ([mutual_exclusion("a", "b")], "a", "b"),
        (["G(called(pay) -> O done(a))", "G(called(pay) -> !O done(a))"], "", "pay"),
        ([must_precede("a", "c"), must_precede("b", "c"), mutual_exclusion("a", "b")], "", "c"),
        ([must_confirm("pay", by="ask"), idempotent("ask")], "ask!", "pay"),
        ([tool_allowlist([f"t{i}" for i in range(400)])], "t1", "pay"),
    ],
)
def test_where_no_way_exists_that_is_said(rules: list[Rule | str], trace: str, call: str) -> None:
    """What is forbidden for good, alone or by contradiction, is told so."""
    assert told(after(trace, *rules), call) == "no calls make it legal in this session"


@requirement("S-DECIDE-09")
def test_where_the_arguments_are_to_blame_that_is_said() -> None:
    """A call that is only forbidden with its arguments is told so."""
    assert told(after("", arg_value_range("pay", "n", max=5)), "pay(n=9)") == (
        "no calls make it legal with these arguments"
    )


@requirement("S-DECIDE-09")
@pytest.mark.parametrize(
    ("rules", "trace", "call"),
    [
        ([must_confirm("pay", accept="^[A-Z]{2}-[0-9]{4}$")], "", "pay"),
        (["G(called(pay) -> arg(n) <= ctx(limit))"], "ctx:limit=3", "pay(n=4)"),
        (["G(sum(pay, n) <= 9)"], "pay(n=6)", "pay(n=6)"),
        (["G(called(pay) -> Y done(a))", idempotent("a", by=["n"])], "", "pay"),
        (
            [
                "G(called(pay) -> count(called(a)) > count(called(b)))",
                "G(called(pay) -> count(called(b)) > count(called(a)))",
            ],
            "",
            "pay",
        ),
    ],
)
def test_where_not_everything_was_tried_nothing_is_claimed(
    rules: list[Rule | str], trace: str, call: str
) -> None:
    """Answers, arguments and facts that cannot be guessed, and endless searches: nothing found."""
    assert told(after(trace, *rules), call) == "no short way to make it legal was found"


# --- people and substitutes ---------------------------------------------------------------------


def answering(answer: Any, *rules: Rule | str) -> list[Contract]:
    """Contracts with this strategy; a text is a formula."""
    named = enumerate(read(each) if isinstance(each, str) else each for each in rules)
    return [contract(f"{answer} {n}").guarantees(rule).strategy(answer) for n, rule in named]


def asked(*roles: str) -> dict[str, Any]:
    """A strategy: people in these roles have to approve."""
    return {"escalate": {"roles": list(roles)}}


SMALL = arg_value_range("pay", "n", max=5)
BIG = {"n": 9}


@requirement("S-DECIDE-15")
@pytest.mark.parametrize(
    ("answers", "who"),
    [
        ([asked("manager")], "a `manager` has to approve it"),
        ([asked("manager", "owner")], "a `manager` or `owner` has to approve it"),
        (["escalate"], "a person has to approve it"),
        (["escalate", asked("owner")], "a `owner` has to approve it"),
        ([asked("boss"), asked("owner")], "a `boss`, and a `owner` have to approve it"),
    ],
)
def test_a_way_may_end_with_people(answers: list[Any], who: str) -> None:
    """What one contract blocks and others hold: after the way it is held, and approved it runs."""
    held = [replace(answering(each, SMALL)[0], name=f"{n}") for n, each in enumerate(answers)]
    session = guarded(*kept(PAY_FIRST), *held).session()
    outcome = session.decide("pay", BIG, id="1")
    assert isinstance(outcome, Blocked)
    assert outcome.advice.endswith(f"first call `check` {MUST}, then {who}")
    session.settle(session.decide("check").id)
    outcome = session.decide("pay", BIG, id="1")
    assert isinstance(outcome, Held)
    for each in answers:
        roles = each["escalate"].get("roles", [""]) if isinstance(each, dict) else [""]
        if session.tickets():
            session.approve(outcome.ticket, by="ann", role=roles[0])
    assert isinstance(session.decide("pay", BIG, id="1"), Allowed)


@requirement("S-DECIDE-15")
def test_a_large_refund_is_not_given_up() -> None:
    """The support agent of the examples is told of the check, and of the manager after it."""
    session = Guard.from_yaml(SUPPORT).session()
    outcome = session.decide("issue_refund", {"order": 18, "amount": 700})
    assert isinstance(outcome, Blocked)
    assert outcome.advice.rpartition("; ")[2] == (
        "to make it legal, first call `check_policy` with the same `order` (it must succeed, and "
        'the answer must say "yes", and nothing against it), then a `manager` has to approve it'
    )


@requirement("S-DECIDE-15")
def test_calls_come_before_people() -> None:
    """Where calls alone make it allowed, nobody is asked; where they do not, nobody waits."""
    held = answering("escalate", must_precede("kyc", "pay"))
    assert told(opened(*kept(PAY_FIRST), *held), "pay") == (
        f"call `check` {MUST}, then call `kyc` {MUST}"
    )
    fresh = kept("G(called(pay) -> Y done(check))")
    soon = opened(*fresh, *answering("escalate", cooldown("pay", seconds=60)))
    soon("check pay")
    assert told(soon, "pay") == f"call `check` {MUST}, then a person has to approve it"


@requirement("S-DECIDE-15")
def test_people_come_before_facts_and_go_with_them() -> None:
    """What only the host can state is told where approval alone is not enough."""
    boss = requires_permission("pay", "boss")
    held = opened(*kept(PAY_FIRST), *answering("escalate", boss))
    assert told(held, "pay") == f"call `check` {MUST}, then a person has to approve it"
    both = opened(*kept(boss), *answering("escalate", SMALL))
    assert told(both, "pay(n=9)") == "get the permission `boss`, then a person has to approve it"


@requirement("S-DECIDE-15")
def test_a_step_may_have_to_be_approved() -> None:
    """A step that would be held is told with who has to approve it; then it can be followed."""
    slow = answering(asked("manager"), "G !called(check)")
    session = guarded(*kept(PAY_FIRST), *slow).session()
    outcome = session.decide("pay")
    assert isinstance(outcome, Blocked)
    way = f"first call `check`, which a `manager` has to approve {MUST}"
    assert outcome.advice.endswith(way)
    ticket = session.decide("check", id="c")
    assert isinstance(ticket, Held)
    session.approve(ticket.ticket, by="ann", role="manager")
    session.settle(session.decide("check", id="c").id)
    assert isinstance(session.decide("pay"), Allowed)


@requirement("S-DECIDE-15")
def test_what_was_approved_needs_nobody_and_what_was_denied_nobody_helps() -> None:
    """A ticket that has its answer is taken for it: the way ends without people, or nowhere."""
    two = "G(called(pay) -> !O done(note) | Y done(check))"
    for answer, way in (
        ("approve", f"call `check` {MUST}"),
        ("deny", "no calls make it legal with these arguments"),
    ):
        session = guarded(*kept(two), *answering("escalate", SMALL)).session()
        held = session.decide("pay", BIG, id="1")
        assert isinstance(held, Held)
        getattr(session, answer)(held.ticket, by="ann")
        session.settle(session.decide("note").id)
        outcome = session.decide("pay", BIG, id="1")
        assert isinstance(outcome, Blocked)
        assert outcome.advice.endswith(way)
        other = session.decide("pay", BIG, id="2")
        assert isinstance(other, Blocked)
        assert other.advice.endswith(f"call `check` {MUST}, then a person has to approve it")
        session.settle(session.decide("check").id)
        outcome = session.decide("pay", BIG, id="1")
        assert isinstance(outcome, Allowed if answer == "approve" else Blocked)


@requirement("S-DECIDE-15")
def test_a_way_may_end_with_a_substitute() -> None:
    """What another contract would redirect runs as its substitute, if nothing is against that."""
    safe = {"redirect_to_safe": {"to": "ask", "map": {"n": "m"}}}
    instead = "then `ask` runs instead of it"
    played = opened(*kept(PAY_FIRST), *answering(safe, SMALL))
    assert told(played, "pay(n=9)") == f"call `check` {MUST}, {instead}"
    assert played("check pay(n=9)") == ".>"
    more = opened(*kept(PAY_FIRST, must_precede("kyc", "ask")), *answering(safe, SMALL))
    assert told(more, "pay(n=9)") == f"call `check` {MUST}, then call `kyc` {MUST}, {instead}"
    assert more("check pay(n=9) kyc pay(n=9)") == ".x.>"
    both = [*answering(safe, SMALL), *answering("escalate", "G !called(pay)")]
    assert told(opened(*kept(PAY_FIRST), *both), "pay(n=9)") == (
        f"call `check` {MUST}, then a person has to approve it, and `ask` runs instead of it"
    )


@requirement("S-DECIDE-15")
@pytest.mark.parametrize(
    "against", ["G !called(ask)", arg_value_range("ask", "m", max=5), "G(called(ask) -> Y O x())"]
)
@pytest.mark.parametrize("answer", ["block", "escalate"])
def test_a_substitute_that_would_not_run_is_no_way(against: Rule | str, answer: str) -> None:
    """A substitute that would be blocked or held is none: the call is blocked for good."""
    if isinstance(against, str):
        against = against.replace("x()", "called(check) & Y O called(pay)")
    safe = {"redirect_to_safe": {"to": "ask", "map": {"n": "m"}}}
    rules = [*kept(PAY_FIRST), *answering(safe, "G !called(pay)"), *answering(answer, against)]
    way = told(opened(*rules), "pay(n=9)")
    assert way.startswith("no ")
    assert "called" in str(against) or way == "no calls make it legal with these arguments"


@requirement("S-DECIDE-15")
def test_a_redirect_that_calls_avoid_is_avoided() -> None:
    """Where the substitute is forbidden, and a step lifts the redirect, that step is told."""
    safe = {"redirect_to_safe": {"to": "ask"}}
    rules = [*kept("G !called(ask)"), *answering(safe, must_precede("check", "pay"))]
    assert told(opened(*rules), "pay") == f"call `check` {MUST}"


@requirement("S-DECIDE-15")
def test_a_response_may_have_to_be_approved() -> None:
    """A response that is blocked and would be held ends with people; it has no substitute."""
    rules = kept("G(message(assistant) -> O done(check))")
    for answer, way in (
        ("escalate", f"first call `check` {MUST}, then a person has to approve it"),
        ({"redirect_to_safe": {"to": "x"}}, "no calls make it legal in this session"),
    ):
        played = opened(*rules, *answering(answer, "G !message(assistant)"))
        outcome = played.session.message("assistant", "done!")
        assert isinstance(outcome, Blocked)
        assert outcome.advice.endswith(way)


@requirement("S-DECIDE-15")
def test_what_a_callable_has_answered_it_is_taken_to_answer_again() -> None:
    """A callable that asks people is no obstacle either; what it blocks is never for good."""
    said: list[Any] = [asked("manager")]
    ruled = opened(*kept(PAY_FIRST), *answering(lambda _: said[0], SMALL))
    way = f"call `check` {MUST}, then a `manager` has to approve it"
    assert told(ruled, "pay(n=9)") == way
    said[0] = "warn_only"
    assert told(ruled, "pay(n=9)") == f"call `check` {MUST}"
    said[0] = "block"
    assert told(ruled, "pay(n=9)") == "no short way to make it legal was found"
    later = [*kept(PAY_FIRST), *answering(lambda _: "warn_only", "G !called(check)")]
    assert told(opened(*later), "pay") == "no short way to make it legal was found"


@pytest.mark.long
@requirement("S-DECIDE-15")
def test_following_the_advice_ends_with_the_people_that_it_names() -> None:
    """For pairs of patterns of which one holds or redirects, against trying all that is shorter."""
    tally = Tally()
    for n, answer in enumerate(ANSWERS):
        for pair in lasting()[n::LESS]:
            for events, fly in TRACES:
                check(pair, tally, min(events, 3), fly=fly, answer=answer)
    assert tally.wrong == []
    assert tally.told["then a person has to approve it"] > 20
    assert tally.told["approved steps"] > 2
    assert tally.told["then `d` runs instead of it"] > 20
    assert tally.told["then `c` runs instead of it"] > 20


@requirement("S-DECIDE-05")
@pytest.mark.parametrize(
    "rule",
    [
        arg_allowlist("send", "cc", ["[0-9]"]),
        arg_value_range("send", "cc", max=5),
        host_allowlist("send", "cc", ["a.com"]),
        {"ltl": "G(called(send) -> called(send, cc = y))"},
        {"ltl": "G(called(send) -> arg(cc) = y)"},
    ],
    ids=str,
)
def test_a_field_that_is_missing_is_named(rule: Any) -> None:
    """A field that a call may leave out, and that a contract needs; not where it is there."""
    session = Guard([contract("c").guarantees(rule)]).session()
    lacking, given = session.decide("send", {}), session.decide("send", {"cc": "x"})
    assert isinstance(lacking, Blocked)
    assert "; field `cc` is missing)" in lacking.advice
    assert isinstance(given, Blocked)
    assert "missing" not in given.advice


@requirement("S-DECIDE-05")
def test_a_field_that_is_forbidden_is_not_missing() -> None:
    """Of two forbidden values, the field of the other one is nothing that the call lacks."""
    rule = {"ltl": "G !(called(send, cc = x) | called(send, to = x))"}
    refused = Guard([contract("c").guarantees(rule)]).session().decide("send", {"to": "x"})
    assert isinstance(refused, Blocked)
    assert "missing" not in refused.advice


# --- what is used up ----------------------------------------------------------------------------


TOTAL = amount_limit("pay", "n", total=9)


@requirement("S-DECIDE-16")
@pytest.mark.parametrize(
    ("rules", "trace", "call", "way"),
    [
        ([TOTAL], "pay(n=6)", "pay(n=6)", ", but a `n` of at most 3 would fit"),
        ([TOTAL], "pay(n=6.5)", "pay(n=6)", ", but a `n` of at most 2.5 would fit"),
        ([TOTAL], "pay(n=9)", "pay(n=6)", ""),
        ([TOTAL, arg_value_range("pay", "n", min=4)], "pay(n=6)", "pay(n=6)", ""),
        ([TOTAL, PAY_FIRST], "", "pay(n=10)", ""),
        ([TOTAL, PAY_FIRST], "check pay(n=6)", "pay(n=6)", ", but a `n` of at most 3 would fit"),
        ([amount_limit("pay", "n", total=9, by=("to",))], "pay(n=6,to=1)", "pay(n=6,to=1)", "3"),
        ([amount_limit("pay", "n.m", total=9)], "", 'pay(n={"m":10})', "9"),
        (['G(count(called(pay, kind = "x")) <= 1)'], 'pay(kind="x")', 'pay(kind="x")', ""),
    ],
)
def test_a_cap_that_is_used_up_is_told(
    rules: list[Rule | str], trace: str, call: str, way: str
) -> None:
    """A count or total of the whole session only grows; if less would fit, that is told."""
    no = "no calls make it legal with these arguments"
    said = told(after(trace, *rules), call)
    assert said.startswith(no)
    assert way in said
    assert bool(way) == (said != no)


@requirement("S-DECIDE-16")
def test_the_amount_that_would_fit_is_the_largest() -> None:
    """With the amount that is told the call is allowed, and with a little more it is not."""
    played = after("pay(n=6.25)", TOTAL)
    fits = re.search(r"at most (\S+) would fit", told(played, "pay(n=6)"))
    assert fits
    assert played("pay(n=2.76)") == "x"
    assert played(f"pay(n={fits[1]})") == "."


@requirement("S-DECIDE-16")
@pytest.mark.parametrize(
    ("rule", "assumed"),
    [
        ("G(sum(pay, n) <= 9)", None),
        ("G(called(pay) -> sum(pay, n) <= 9 & arg(n) >= -9)", None),
        (amount_limit("pay", "n", total=9, per={"steps": 3}), None),
        ("G(count(called(pay, n = 6) since called(note)) <= 1)", None),
        (TOTAL, 'ctx(strict) = "yes"'),
        ("G(count(done(pay)) <= 0 | arg(n) > 9)", None),
    ],
)
def test_a_cap_that_may_have_room_again_is_not_used_up(
    rule: Rule | str, assumed: str | None
) -> None:
    """Totals that may shrink, windows, resets, and what is only assumed are not for good."""
    (each,) = kept(rule)
    played = opened(each if assumed is None else each.assume({"ltl": assumed}))
    played("ctx:strict=yes pay(n=6)")
    assert not told(played, "pay(n=6)").startswith("no calls")


@requirement("S-DECIDE-16")
def test_what_others_have_used_up_is_not_told() -> None:
    """Of a contract on the world, how much is left is not told: others may have used it."""
    played = opened(*[each.world() for each in kept(TOTAL)], world=MemoryWorld(), id="s")
    played("pay(n=6)")
    assert told(played, "pay(n=6)") == "no calls make it legal with these arguments"


# --- safety and cost ----------------------------------------------------------------------------


@pytest.fixture
def atoms() -> Iterator[None]:
    """Atoms that are registered in a test are forgotten after it."""
    known = dict(CUSTOM)
    yield
    CUSTOM.clear()
    CUSTOM.update(known)


@requirement("S-DECIDE-08")
@pytest.mark.usefixtures("atoms")
def test_reading_advice_never_raises_what_an_atom_raises() -> None:
    """An atom that raises later leaves the reason, and words instead of a way."""
    broken: list[str] = []

    @atom("fits")
    def fits(_event: Any, _context: Any) -> bool:
        if broken:
            raise RuntimeError("no connection")
        return False

    played = opened(*kept("G(called(pay) -> fits() | O done(check))"))
    assert played("pay") == "x"
    broken.append("now")
    outcome = played.outcomes[-1]
    assert isinstance(outcome, Blocked)
    assert outcome.advice.startswith("`pay` was not allowed by `c0` (")
    assert outcome.advice.endswith("cannot be told, since a contract could not be evaluated")


@requirement("S-DECIDE-08")
@pytest.mark.usefixtures("atoms")
def test_an_atom_that_raises_does_not_hide_a_way_around_it() -> None:
    """An atom that cannot stand other arguments, or no answer, only refuses what it is asked."""

    @atom("small")
    def small(event: Any, _context: Any) -> bool:
        return bool(event.args["n"] < 5)

    @atom("long_answer", waits=True)
    def long_answer(_tool: str, result: Any) -> bool:
        return len(result.output) > 2

    played = opened(*kept("G(called(pay) -> small())", PAY_FIRST))
    assert told(played, "pay(n=1)") == f"call `check` {MUST}"
    answered = opened(*kept("G(called(pay) -> Y O (done(ask) & long_answer()))"))
    asked = "for its answer `long_answer()` must hold"
    assert told(answered, "pay") == f"call `ask` (it must succeed, and {asked})"


@requirement("S-DECIDE-08")
def test_whatever_goes_wrong_in_the_search_the_reason_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A mistake in the search itself is not raised either."""

    def wrong(*_: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr("sponsio_like.advice.search.way_to", wrong)
    assert told(opened(*kept(PAY_FIRST)), "pay") == (
        "what would make it legal could not be found out (ZeroDivisionError)"
    )


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many clauses were judged, in each judgement of an event."""
    counts: list[int] = []
    judge = judging.judge

    def counting(ledger: Ledger, event: Any, reads: Any, time: float) -> Any:
        reads = list(reads)
        counts.append(len(reads))
        return judge(ledger, event, reads, time)

    for module in (supposing, perceiving):
        monkeypatch.setattr(module, "judge", counting)
    return counts


HARD: Mapping[str, list[Rule | str]] = {
    "thirty gates": [must_precede(f"t{i}", "pay") for i in range(30)],
    "gates behind gates": [
        *(must_precede(f"t{i}", "pay") for i in range(12)),
        *(must_precede(f"s{i}", f"t{i}") for i in range(12)),
    ],
    "endless": [
        "G(called(pay) -> count(called(a)) > count(called(b)))",
        "G(called(pay) -> count(called(b)) > count(called(a)))",
        *(must_precede(f"t{i}", "a") for i in range(8)),
        *(cooldown(f"t{i}", steps=3) for i in range(8)),
    ],
    "every tool needs every other": [
        must_precede("t0", "pay"),
        *(must_precede(f"t{i}", f"t{k}") for i in range(10) for k in range(10) if i != k),
    ],
    "many confirmations and little time": [
        *(must_confirm("pay", by=f"t{i}") for i in range(15)),
        *(rate_limit(f"t{i}", 1, per={"seconds": 60}) for i in range(15)),
        "G(called(pay) -> !O done(t3))",
    ],
}


@requirement("S-DECIDE-12")
@pytest.mark.filterwarnings("ignore:.*can never be called")
@pytest.mark.parametrize("name", HARD)
def test_the_work_for_one_advice_is_bounded(name: str, judged: list[int]) -> None:
    """No advice takes more than so many judgements of a clause, whatever the contracts."""
    played = after("", *HARD[name])
    assert played("pay") == "x"
    judged.clear()
    outcome = played.outcomes[-1]
    assert isinstance(outcome, Blocked)
    assert outcome.advice
    assert sum(judged) < CAP + 2 * len(HARD[name])
    assert outcome.advice == outcome.advice
    work = sum(judged)
    assert outcome.advice
    assert sum(judged) == work  # said once, it is remembered


@requirement("S-DECIDE-12")
@pytest.mark.filterwarnings("ignore:.*can never be called")
@pytest.mark.parametrize("answer", ["escalate", {"redirect_to_safe": {"to": "safe"}}])
@pytest.mark.parametrize("name", HARD)
def test_the_work_is_bounded_with_people_as_well(name: str, answer: Any, judged: list[int]) -> None:
    """Neither does advice that may end with people, or with a substitute."""
    half = len(HARD[name]) // 2
    held = answering(answer, *HARD[name][half:], "G !called(pay)")
    endless = "G(called(safe) -> count(called(a)) > 99)"
    played = opened(*kept(*HARD[name][:half], endless), *held)
    assert played("pay") == "x"
    judged.clear()
    outcome = played.outcomes[-1]
    assert isinstance(outcome, Blocked)
    assert "could not" not in outcome.advice
    assert sum(judged) < CAP + 4 * len(HARD[name])


@requirement("S-DECIDE-12")
def test_thirty_gates_take_little_work(judged: list[int]) -> None:
    """Thirty independent prerequisites are found straight away, not by trying combinations."""
    played = after("", *HARD["thirty gates"])
    judged.clear()
    steps = re.findall(r"call `(\w+)`", told(played, "pay"))
    assert len(steps) == 30
    assert sum(judged) < 300
    assert played(" ".join([*steps, "pay"])) == "." * 31


@requirement("S-DECIDE-12")
def test_a_session_has_many_calls_in_flight_and_advice_still_comes(judged: list[int]) -> None:
    """Calls in flight by the hundred: only some of their results are tried."""
    session = Guard(kept(mutual_exclusion("a", "b"))).session()
    for n in range(300):
        session.decide("a", id=f"a{n}")
    outcome = session.decide("b")
    assert isinstance(outcome, Blocked)
    judged.clear()
    assert outcome.advice.endswith("no short way to make it legal was found")
    assert sum(judged) < CAP


def test_an_answer_that_must_not_be_a_yes_is_told_in_words() -> None:
    """A model cannot read `!confirms()`."""
    told_of = Tally()
    assert "the answer must not be a yes" in answer_words(Custom("confirms", ()), holds=False)
    pair = (
        ("destructive_action_gate", {"action": "a", "gate": "b"}),
        ("deadline", {"trigger": "a", "action": "b", "steps": 2}),
    )
    check(pair, told_of, 3, fly=False)
    assert told_of.wrong == []
