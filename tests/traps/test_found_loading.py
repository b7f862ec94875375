"""Contracts that looked armed: what loading refuses, and what it warns of."""

from __future__ import annotations

import difflib
import itertools
import math
import random
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, ContractError, ContractWarning, Guard, contract
from sponsio_like.contracts.declaration import Pattern, catalog
from sponsio_like.contracts.parameters import Tools
from sponsio_like.errors import closest
from sponsio_like.events.atoms import OPEN
from sponsio_like.explain import contracts_page
from sponsio_like.logic.decomposition import decompose
from sponsio_like.ltl import F, called, initially
from sponsio_like.monitor.alphabet import settlements, static
from sponsio_like.monitor.in_flight import open_positions, settle_residual
from sponsio_like.monitor.monitor import Monitor
from sponsio_like.monitor.program import Program
from sponsio_like.monitor.residual import conjunction
from sponsio_like.monitor.trees import branching
from sponsio_like.patterns import (
    destructive_action_gate,
    must_confirm,
    must_precede,
    mutual_exclusion,
    no_reversal,
    precedence,
    segregation_of_duty,
    tool_allowlist,
)
from sponsio_like.syntax import read, show
from tests.semantics.manifest import requirement
from tests.support.command_line import run_command
from tests.support.play import Clock, opened


def loaded(*guarantees: Any, **options: Any) -> Guard:
    """A guard of one contract for each guarantee, as a user writes it."""
    each = [contract(f"c{n}").guarantees(_written(one)) for n, one in enumerate(guarantees)]
    return Guard(each, **options)


def _written(guarantee: Any) -> Any:
    formula = isinstance(guarantee, str) and "`" not in guarantee
    return {"ltl": guarantee} if formula else guarantee


def refusal(*guarantees: Any, **options: Any) -> str:
    """What is said against it."""
    with pytest.raises(ContractError) as caught:
        loaded(*guarantees, **options)
    return str(caught.value)


def warned(*guarantees: Any, **options: Any) -> list[str]:
    """What it is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        guard = loaded(*guarantees, **options)
    said = [str(each.message) for each in caught if each.category is ContractWarning]
    assert said == [str(each) for each in guard.policy.warnings]
    return said


# --- of the first position only -------------------------------------------------------------------


@requirement("S-LOAD-08")
@pytest.mark.parametrize(
    "formula",
    [
        "called(refund) -> Y O done(check)",
        "called(refund) -> F done(tell)",
        "!called(refund)",
        "O called(check)",
        "H !called(refund)",
        "count(pay) <= 3",
        "called(b) | G !called(a)",
    ],
)
def test_a_forgotten_g_is_refused(formula: str) -> None:
    """What would be judged at the first position only is refused, with both ways to say it."""
    said = refusal(formula)
    assert "judged at the first position only" in said
    text = show(read(formula))
    assert f"write `G({text})`; if only the first position is meant, `initially({text})`" in said
    for right in (f"G({text})", f"initially({text})"):
        loaded(right)


@requirement("S-LOAD-13")
@pytest.mark.parametrize(
    ("formula", "instead"),
    [
        ("G(called(pay) -> done(check))", "`Y O done(check)`"),
        ("G(called(pay) -> called(check))", "`Y O called(check)`"),
        ("G(!done(check) -> !called(pay))", "`Y O done(check)`"),
        ("G(called(pay) -> count(pay) <= 3 & failed([check, look]))", "`Y O failed("),
        ("G(O called(pay) -> !called(pay))", "`Y O called(pay)`"),
        ("G(O called([pay, send]) -> !called(pay, n > 3))", "`Y O called("),
    ],
)
def test_what_no_call_can_be_is_not_asked_of_it(formula: str, instead: str) -> None:
    """It forbids the tool for good, which says nobody so."""
    assert instead in refusal(formula)


@pytest.mark.parametrize(
    "formula",
    [
        "G(called(pay) -> done(pay))",
        'G(called("pay_*") -> done(pay_check))',
        "G(called(pay) -> Y O done(check))",
        "G(O called(pay) -> !called(send))",
        "G(Y O called(pay) -> !called(pay))",
        "G(O done(pay) -> !called(pay))",
        "G(O called(pay, n > 3) -> !called(pay))",
        "G(called(pay) -> F done(tell))",
    ],
)
def test_what_a_call_can_be_is_asked_of_it(formula: str) -> None:
    """Of the same tool, of an earlier call, of a later one."""
    loaded(formula)


def test_a_next_on_top_is_refused() -> None:
    """So is what would be judged at the second position only."""
    assert "`initially(X called(a))`" in refusal("X called(a)")
    loaded("initially(X called(a))")


def test_each_part_without_an_operator_is_told() -> None:
    """Of a conjunction, each part that would be judged once is named, and only these."""
    said = refusal("G !called(a) & !called(b) & !called(c)")
    assert said.count("first position only") == 2
    assert "`!called(b)`" in said
    assert "`!called(c)`" in said


@pytest.mark.parametrize(
    "formula",
    [
        "G !called(a) & F called(b)",
        "!called(b) W done(a)",
        "!called(b) U done(a)",
        "done(a) R !called(b)",
        "F[<=10] called(report)",
        "F called(a) -> F called(b)",
        "G !called(a) | G !called(b)",
        "X F called(a)",
    ],
)
def test_what_goes_through_the_trace_loads(formula: str) -> None:
    """Every operator that goes through the trace says by itself where it holds."""
    assert warned(formula) == []


def test_a_forgotten_g_in_a_file_has_its_place() -> None:
    """The mistake is told with line and column of the formula."""
    from sponsio_like.contracts.loader import loads

    with pytest.raises(ContractError) as caught:
        loads('version: 1\ncontracts:\n- name: c\n  guarantee: {ltl: "!called(b)"}\n', "c.yaml")
    assert str(caught.value).startswith("c.yaml:4:20: `!called(b)` would be judged at the first")


@requirement("S-OP-20")
def test_initially_speaks_of_the_first_position() -> None:
    """`initially(f)` is violated by a first position without f, and by nothing that follows."""
    assert read("initially(called(login))") is initially(called("login"))
    assert show(read("initially(called(login))")) == "initially(called(login))"
    assert read("initially(called(a))") is read("G(!Y true -> called(a))")
    assert opened("initially(called(login))")("login a login") == "..."
    assert opened("initially(called(login))")("a login a") == "x.."  # a is not in the trace
    assert opened("initially(called(a) -> X called(b))")("c a c") == "..."


# --- seconds from the call before -----------------------------------------------------------------


@requirement("S-LOAD-09")
@pytest.mark.parametrize(
    ("formula", "instead"),
    [
        ("G(called(pay) -> Y O[<=3600s] done(approve))", "`age(done(approve)) <= 3600`"),
        ("G(called(pay) -> !Y O[<=60s] failed(pay))", "`age(failed(pay)) <= 60`"),
        ("G(called(pay) -> Y !O[<=60s] called(pay))", "`count[<=60s](called(pay))`"),
        ("G(called(pay) -> Y H[<=60s] !failed(pay))", "`age(failed(pay)) > 60`"),
    ],
)
def test_seconds_from_the_call_before_are_refused(formula: str, instead: str) -> None:
    """`Y O[<=W s]` measures from the position before: it is refused with what measures from now."""
    said = refusal(formula)
    assert "seconds from the position before" in said
    assert instead in said


@pytest.mark.parametrize(
    "formula",
    [
        "G(called(pay) -> Y O[<=3] done(approve))",
        "G(called(pay) -> O[<=3600s] done(approve))",
        "G(called(pay) -> Y (called(a) & O[<=60s] done(b)))",
    ],
)
def test_other_bounds_in_the_past_load(formula: str) -> None:
    """In steps, of this position, or of an earlier one that is described, bounds say what is
    meant.
    """
    assert warned(formula) == []


@pytest.mark.parametrize("right", ["age(done(approve)) <= 3600", "O[<=3600s] done(approve)"])
@pytest.mark.parametrize("between", [(), (1.0,), (1.0, 3599.0)])
def test_what_is_advised_measures_from_this_call(right: str, between: tuple[float, ...]) -> None:
    """An approval counts up to and including its 3,600th second, whatever is called in between."""
    for late, allowed in ((3600.0, True), (3600.5, False)):
        clock = Clock()
        session = loaded(f"G(called(pay) -> {right})").session(clock=clock)
        session.settle(session.decide("approve").id)
        for clock.now in between:
            session.settle(session.decide("other").id)
        clock.now = late
        assert isinstance(session.decide("pay"), Allowed if allowed else Blocked)


def test_what_is_advised_waits_for_the_result() -> None:
    """An approval that is in flight approves nothing yet."""
    session = loaded("G(called(pay) -> age(done(approve)) <= 3600)").session(clock=lambda: 0.0)
    outcome = session.decide("approve")
    assert isinstance(session.decide("pay"), Blocked)
    session.settle(outcome.id)
    assert isinstance(session.decide("pay"), Allowed)


# --- a next position that nobody asked for --------------------------------------------------------


@requirement("S-LOAD-10")
@pytest.mark.parametrize(
    ("formula", "instead"),
    [
        ("G(done(transfer) -> X G !called(*))", "`WX G !called(*)`"),
        ("G(called(a) -> X !called(a))", "`WX !called(a)`"),
        ("G(called(a) -> X (!called(b) W called(c)))", "`WX !called(b) W called(c)`"),
    ],
)
def test_a_strong_next_over_a_prohibition_is_warned_of(formula: str, instead: str) -> None:
    """Where nothing has to come next, `X` blames the end of the session, and `WX` is meant."""
    (said,) = warned(formula)
    assert instead in said
    assert "contract `c0`" in said
    assert warned(formula.replace("X", "WX")) == []


@pytest.mark.parametrize(
    "formula",
    [
        "G(called(a) -> X called(b))",
        "G(called(a) -> X F called(b))",
        "G(called(a) -> X (called(b) | called(c)))",
        "G(called(a) -> X Y called(a) & X called(b))",
        "G(!X !called(a) | called(b))",
    ],
)
def test_a_strong_next_over_an_obligation_is_meant(formula: str) -> None:
    """What has to come next is what `X` demands."""
    assert warned(formula) == []


@requirement("S-LOAD-11")
def test_warnings_are_seen(tmp_path: Path) -> None:
    """A warning is a Python warning of the guard, in its policy, and in what `check` prints."""
    file = tmp_path / "c.yaml"
    text = (
        'version: 1\ncontracts:\n- name: alone\n  guarantee: {ltl: "G(called(a) -> X !called(b))"}'
    )
    file.write_text(text, "utf-8")
    with pytest.warns(ContractWarning, match="is also broken by a session that ends there"):
        guard = Guard.from_yaml(file)
    (warning,) = guard.policy.warnings
    assert warning.where == f"{file}:3:9"
    asked = [sys.executable, "-m", "sponsio_like", "check", str(file)]
    told = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert "warning: " in told.stdout
    assert "`WX !called(b)`" in " ".join(told.stdout.split())
    assert told.stderr == ""


# --- what nothing violates, and what everything does ----------------------------------------------


@requirement("S-LOAD-01")
@pytest.mark.parametrize("formula", ["F true", "F (called(a) -> O called(a))", "O true", "true"])
def test_what_no_event_can_break_is_refused(formula: str) -> None:
    """A guarantee that only a session without any event leaves open protects nothing."""
    assert "violate" in refusal(formula) or "judged at the first" in refusal(formula)


@requirement("S-LOAD-02")
@pytest.mark.parametrize(
    "guarantee",
    [
        "G(called(a) & called(b))",
        "G false",
        "G(called(a) & !called(a))",
        "G(message(user) & called(a))",
        {"ltl": "G(called(a) & X false)"},
    ],
)
def test_what_every_event_breaks_is_refused(guarantee: Any) -> None:
    """What no call can keep forbids all of them, which is said by `G !called(*)`."""
    assert "violates `" in refusal(guarantee) or "never be kept" in refusal(guarantee)
    assert warned("G !called(*)") == []


# --- the same twice, and orders that contradict each other ----------------------------------------


@requirement("S-LOAD-12")
@pytest.mark.parametrize(
    "rules",
    [
        [must_precede("a", "a")],
        [must_precede("a", "b"), must_precede("b", "a")],
        [must_precede("a", "b"), must_precede("b", "c"), must_precede("c", "a")],
        [must_precede(["a", "b"], ["b", "a"])],
        [must_confirm("a", by="a")],
        [destructive_action_gate("a", gate="a")],
        [precedence({"tool": "a"}, {"tool": "a"})],
        [must_precede("check", "pay"), tool_allowlist(["pay"])],
        ["G(called(b) -> Y O done(a)) & G !called(a)"],
    ],
)
def test_orders_that_contradict_each_other_are_refused(rules: list[Any]) -> None:
    """A call that waits for itself, by however many orders, can never be made: that is said."""
    written = [_written(each) for each in rules]
    with pytest.raises(ContractError, match="can never be called: "):
        Guard([contract("one").guarantees(*written)])


@pytest.mark.parametrize(
    "rules",
    [
        [must_precede("a", "b"), must_precede("b", "c")],
        [must_precede(["a", "b"], "a")],
        [must_precede("*", "a")],
        [must_precede({"tool": "a", "args": {"dry": True}}, {"tool": "a", "args": {"dry": False}})],
        [must_precede("a", {"tool": "b", "args": {"x": 1}}), must_precede("b", "a")],
        ["G !called(drop)"],
        [tool_allowlist(["a", "b"]), must_precede("a", "b")],
    ],
)
def test_orders_that_can_be_kept_load(rules: list[Any]) -> None:
    """An order that some calls can keep is none of these."""
    written = [_written(each) for each in rules]
    assert Guard([contract("one").guarantees(*written)]).policy.warnings == ()


def test_contracts_that_contradict_each_other_are_warned_of() -> None:
    """What two contracts make impossible together is a warning with both of their names."""
    (said,) = warned(must_precede("check", "pay"), must_precede("pay", "check"))
    assert "`check` needs `pay` before it" in said
    assert "`pay` needs `check` before it" in said
    assert "contract `c0`" in said
    assert "contract `c1`" in said
    (said,) = warned(must_precede("check", "pay"), tool_allowlist(["pay", "tell"]))
    assert "`pay` can never be called" in said
    assert "`check` is never allowed" in said


def test_orders_that_are_not_for_good_are_not_judged() -> None:
    """Within a scope, under an assumption, or where a person may approve, nothing is certain."""
    there, back = must_precede("a", "b"), must_precede("b", "a")
    for held in (
        contract("x").guarantees(there, back).strategy("escalate"),
        contract("x").guarantees(there, back).after({"called": "c"}),
        contract("x").guarantees(there, back).assume({"ctx": {"k": 1}}),
    ):
        assert Guard([held]).policy.warnings == ()


@pytest.mark.parametrize("pattern", [mutual_exclusion, segregation_of_duty, no_reversal])
def test_a_tool_is_not_held_against_itself(pattern: Any) -> None:
    """Where a pattern holds two tools against each other, one on both sides is a mistake."""
    for first, second in (("a", "a"), (["a", "b"], ["b", "c"]), ("mcp__*", "mcp__drop")):
        with pytest.raises(ContractError, match="is on both sides"):
            pattern(first, second)
    pattern({"tool": "a", "agent": "ann"}, {"tool": "a", "agent": "bob"})
    pattern(["a", "b"], "c")


# --- slips of the pen -----------------------------------------------------------------------------


@requirement("S-LOAD-13")
@pytest.mark.parametrize(
    ("guarantee", "instead"),
    [
        ("G !called(any)", "did you mean `*`?"),
        ({"pattern": "must_precede", "first": "check", "then": "all"}, "did you mean `*`?"),
        ({"pattern": "arg_value_range", "tool": "t", "field": "passengers[5]", "max": 1},
         "`passengers[]`"),
        ('G !called(book, "passengers[5].age" < 18)', "`passengers[].age`"),
        ({"pattern": "arg_allowlist", "tool": "t", "field": "to",
          "patterns": ["@[^ourcompany.com$]"]}, "stands for one character"),
        ("G !called(send, to matches '@[^ourcompany.com$]')", "stands for one character"),
        ({"pattern": "arg_blacklist", "tool": "t", "field": "to", "patterns": ["[^admin$]"]},
         "stands for one character"),
        ({"pattern": "arg_allowlist", "tool": "t", "field": "to", "patterns": ["^"]},
         "matches every text"),
        ({"pattern": "arg_allowlist", "tool": "t", "field": "to", "patterns": ["a", r"[\s\S]*"]},
         "matches every text"),
        ({"pattern": "arg_blacklist", "tool": "t", "field": "to", "patterns": ["x*"]},
         "matches every text"),
        ({"pattern": "arg_blacklist", "tool": "t", "field": "to", "patterns": ["a", "$100"]},
         r"write `\$`"),
        ("`t` `to` must not contain `pay $5 now`", r"write `\$`"),
        ("G !called(send, to matches 'a^b')", r"write `\^`"),
        ("G !called(send, to matches 'x|${HOME}/a')", "never matches"),
        ("G !called(send, to matches '$(ls)')", "never matches"),
        ({"pattern": "rate_limit", "action": "t", "limit": 2, "per": {"steps": 2}},
         "at most 2 in 2 steps is never broken"),
        ("G(called(t) -> count[<=2](called(t)) < 3)", "at most 3 in 2 steps is never broken"),
        ({"pattern": "precedence", "match": {"tool": "mcp__*", "call": "$t"},
          "requires": {"message": "user", "text": {"has": "$t"}}}, "a tool's name cannot be bound"),
    ],
)  # fmt: skip
def test_slips_of_the_pen_are_refused(guarantee: Any, instead: str) -> None:
    """What compiles and can never match, or matches all, is refused with what may be meant."""
    assert instead in refusal(guarantee)


@pytest.mark.parametrize(
    "guarantee",
    [
        *(
            {"pattern": "arg_allowlist", "tool": "t", "field": "f", "patterns": [each]}
            for each in (
                r"^https://api\.corp/", "[A-Za-z0-9._-]+", "[a-z.]+", "(?s).*", "[^/]+", ".+",
                r"[\w.-]+@corp\.com", "[aeiou]", "[^a-z.$]", r"https://[a-z]+\.corp\.com/.*",
                r"^https?://(www\.)?corp\.com(/|$)", r"^https://api\.corp:443/", "^https://",
                r"^https://[\w.-]+\.corp\.com$", r"https://api\.corp", r"^/srv/api\.corp",
            )
        ),
        {"pattern": "arg_blacklist", "tool": "t", "field": "f", "patterns": ["evil.com", "[.]"]},
        {"pattern": "rate_limit", "action": "t", "limit": 10_000},
        {"pattern": "rate_limit", "action": "t", "limit": 2, "per": {"steps": 3}},
        {"ltl": "G(called(t) -> count[<=2](called(t)) < 2)"},
        {"pattern": "absent", "match": {"tool": "t", "args": {"items[].n": 5}}},
        {"pattern": "until", "trigger": {"tool": "t", "call": "$c"}, "forbidden": {"call": "$c"}},
    ],
)  # fmt: skip
def test_honest_arguments_load(guarantee: Any) -> None:
    """What is written with care passes, without a warning."""
    assert warned(guarantee) == []


@pytest.mark.parametrize(
    "guarantee",
    [
        "G(called(t) -> count(done(t)) < 3)",
        "G(called(t) -> count(done(a)) <= 3)",
        "G(called(t) -> count(called(t) & !failed(t)) <= 3)",
        "G(count(called(t)) <= 3)",
        "G(done(t) -> X F done(a))",
        "G(done(t) -> !(output matches '(?i)error'))",
        {"pattern": "precedence", "match": {"tool": "t", "status": "ok"}, "requires": "a"},
        "G(called(t) & O done(a) -> Y O done(b))",
        "G(called(t) -> called(t, note matches 'TICKET-[0-9]+'))",
    ],
)
def test_a_cap_that_counts_the_call_itself_is_not_warned_of(guarantee: Any) -> None:
    """Nor is one of other calls, nor a text that is searched for on purpose."""
    assert warned(guarantee) == []


def test_a_tool_of_the_inventory_may_have_any_name() -> None:
    """A tool that is really called `any` is one of the inventory."""
    assert loaded("G !called(any)", tools=["any", "b"]).policy.warnings == ()


@requirement("S-LOAD-14")
@pytest.mark.parametrize(
    ("guarantee", "instead"),
    [
        ({"pattern": "arg_allowlist", "tool": "t", "field": "url",
          "patterns": ["^https://api.corp/"]}, r"`^https://api\.corp/`"),
        *(
            ({"pattern": "arg_allowlist", "tool": "t", "field": "url", "patterns": [each]}, through)
            for each, through in (
                (r"^https://api\.corp", "`https://api.corp.evil.example/`"),
                (r"^https://api\.corp:443", "`https://api.corp:443@evil.example/`"),
                (r"^https?:\/\/(www\.)?corp\.com\b", "`https://corp.com.evil.example/`"),
                (r"^https://.*\.corp\.com/", "`https://evil.example/x.corp.com/`"),
                (r"^https://[^/]*\.corp\.com/", "`https://evil.example?x.corp.com/`"),
                (r"^http://localhost", "`http://localhost.evil.example/`"),
            )
        ),
        ({"pattern": "arg_allowlist", "tool": "t", "field": "to",
          "patterns": [r"[\w.]+@corp.example.com"]}, r"`[\w.]+@corp\.example\.com`"),
        ({"pattern": "arg_allowlist", "tool": "t", "field": "to", "patterns": [".*"]}, "`(?s).*`"),
        ({"pattern": "arg_allowlist", "tool": "t", "field": "to", "patterns": ["a", "^.*$"]},
         "matches every text of one line"),
        ({"pattern": "rate_limit", "action": "t", "limit": 999999999}, "never reached"),
        ("G(count(t) <= 1000000)", "never reached"),
        ("G(count(done(t)) <= 3)", "`count(called(t) & !failed(t)) <= 3`"),
        ("G(count(done(t)) < 3)", "`count(called(t) & !failed(t)) < 3`"),
        ("G(called(t) -> count(done(t)) <= 3)", "`count(called(t) & !failed(t)) <= 3`"),
        ("G(called(t) -> count[<=60s](failed(t)) <= 3)",
         "`G(called(t) -> count[<=60s](failed(t)) < 3)`"),
        ("G(count(failed(t)) <= 3)", "`G(called(t) -> count(failed(t)) < 3)`"),
        ("G(done(t) -> O done(a))", "write `called(t)` for `done(t)`"),
        ("G(failed(t) & called(t, n > 3) -> Y O done(a))", "write `called(t)` for `failed(t)`"),
        ({"ltl": r"G(called(t) -> called(t, url matches 'https://api\.corp/'))"},
         "`https://evil.example/?https://api.corp/`"),
        ({"pattern": "no_other_call",
          "call": {"tool": "t", "args": {"url": {"matches": "^https://api.corp/"}}}},
         r"`^https://api\.corp/`"),
        ({"pattern": "arg_value_range", "tool": "t", "field": "passengers.length", "max": 5},
         "`passengers[]`"),
    ],
)  # fmt: skip
def test_what_is_seldom_meant_is_warned_of(guarantee: Any, instead: str) -> None:
    """What may be meant, and seldom is, loads with a warning that says what to write instead."""
    (said,) = warned(guarantee)
    assert instead in said


# --- all mistakes in one pass ---------------------------------------------------------------------

MISTAKES = """version: 1
version: 1
contracts:
  - name: misspelt
    guarantee: {pattern: must_preceed, first: a, then: b}
  - name: forgotten
    guarantee: {ltl: "called(a)"}
  - name: contradicts
    guarantee: {ltl: "G false"}
  - name: nothing
    mode: observe
    guarantee: {ltl: "F true"}
  - name: read and twice wrong
    guarantee:
      - {pattern: must_precede, first: a, then: a}
      - {ltl: "G !called(any)"}
  - name: disputed
    strategy: no
    guarantee: {ltl: "G(called(a) & called(b))"}
"""


@requirement("S-FILE-08")
def test_all_mistakes_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    """Mistakes of every phase are told in one error: of the text, of words, of what is meant.

    What is wrong in its words is not judged by what it would mean.
    """
    file = tmp_path / "c.yaml"
    file.write_text(MISTAKES, "utf-8")
    with pytest.raises(ContractError) as caught:
        Guard.from_yaml(file)
    lines = [int(each.where.split(":")[-2]) for each in caught.value.problems]
    assert lines == [2, 5, 7, 8, 10, 13, 13, 18]
    told = run_command("check", file)
    assert told.returncode == 2
    assert told.stderr.strip() == str(caught.value)


# --- exact verdicts, or a warning -----------------------------------------------------------------

LOCKED = "G(called(lock) -> X called(report) & X called(mail))"
REPORTED = "G(called(report) -> X Y O done(check))"


@requirement("S-VERDICT-11")
@pytest.mark.parametrize("many", [0, 5, 6, 200])
def test_verdicts_are_exact_however_many_calls_are_in_flight(many: int) -> None:
    """A contradiction is seen under six calls in flight as under five, and under hundreds."""
    session = loaded(f"{LOCKED} & {REPORTED}").session()
    for number in range(many):
        assert isinstance(session.decide("check", id=f"k{number}"), Allowed)
    assert isinstance(session.decide("lock"), Blocked)


IN_FLIGHT = [
    "G(called(x) -> X Y O done(a))",
    "G(done(a) -> X F done(b)) & G(called(x) -> X (O failed(a) | H !done(b)))",
    "G(done(a) -> X F[<=3] called(b)) & G(called(x) -> WX (count(done(a)) <= 2))",
    "G(called(x) -> X (O[<=2] done(a) & !O failed(b)))",
    "G(failed(a) | done(b) -> X (called(b) S done(a)))",
]


@requirement("S-VERDICT-11")
@pytest.mark.parametrize("formula", IN_FLIGHT)
def test_ways_that_come_to_the_same_are_all_the_ways(formula: str) -> None:
    """What is told apart is just what all combinations of results, one by one, come to."""
    dice, met = random.Random(formula), 0
    for _ in range(40):
        monitor = Monitor(Program(), decompose(read(formula)))
        state, slots = monitor.start, monitor.program.slots
        for position in range(dice.randint(1, 6)):
            tool = dice.choice("abx")
            known = static(slots, tool)
            letter = tuple(
                OPEN if slot.waits and value is not False else bool(value)
                for slot, value in zip(slots, known, strict=True)
            )
            state = monitor.step(state, letter, position, float(position)).state
        owed = frozenset(residual for each in state.live for residual in each)
        flying = open_positions(owed)
        for at, found in branching(state.branches).items():
            flying[at] = sorted({*found, *flying.get(at, ())})
        each = [settlements(slots, found) for found in flying.values()]
        if math.prod(map(len, each)) > 1_024:
            continue
        ways = [dict(zip(flying, way, strict=True)) for way in itertools.product(*each)]
        expected = set()
        for way in ways:
            registers, left = state.registers, list(owed)
            trees = state.branches
            for at in [at for at, (_, late) in way.items() if not late]:
                trees, registers = monitor.branches.settled(trees, registers, at, way[at][0])
            for at, (final, _) in way.items():
                left = [settle_residual(each, at, final) for each in left]
            expected.add((registers, conjunction(left)))
        ends = monitor.branches.ends(state.branches, state.registers, owed)
        assert ends is not None
        assert set(ends) == expected
        assert len(ends) == len(expected)
        met += len(expected) > 1
    assert met


@pytest.mark.parametrize("most", [10, 100, 300])
def test_long_bounds_are_searched_to_their_end(most: int) -> None:
    """What a bound of hundreds of steps forbids is refused at once, as under one of ten."""
    owed = f"G(called(c) -> X F[<={most}] called(a))"
    guard = loaded(f"{owed} & G(called(c) -> G[<={most + 5}] !called(a))")
    assert guard.policy.warnings == ()
    assert isinstance(guard.session().decide("c"), Blocked)
    assert guard.policy.limited == ()


@pytest.mark.parametrize("many", [3, 9, 14])
def test_many_responses_are_searched_to_their_end(many: int) -> None:
    """A contradiction beside many other obligations of one formula is seen."""
    owed = " & ".join(f"G(called(a{n}) -> X F called(b{n}))" for n in range(many))
    guard = loaded(f"{owed} & G(called(a0) -> WX G !called(b0))")
    session = guard.session()
    assert isinstance(session.decide("a1"), Allowed)
    assert isinstance(session.decide("a0"), Blocked)
    assert guard.policy.limited == ()


def test_what_is_too_large_for_exact_verdicts_is_warned_of() -> None:
    """Where the search gives up after the first position, loading says so."""
    long = "G(called(c) -> X F[<=90000] called(a)) & G(called(c) -> G[<=90005] !called(a))"
    (said,) = warned(long)
    assert "is too large for exact verdicts" in said
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContractWarning)
        assert loaded(long).policy.limited == ("c0",)


# --- sizes ----------------------------------------------------------------------------------------

HUGE = "9" * 390


@requirement("S-LOAD-15")
@pytest.mark.parametrize(
    "guarantee",
    [
        f"{{ltl: 'G(called(a) -> F[<={HUGE}] called(b))'}}",
        f"{{ltl: 'G(called(a) -> F[<={HUGE}s] called(b))'}}",
        f"{{ltl: 'G(called(a) -> F[<={HUGE}{HUGE}] called(b))'}}",
        f"{{pattern: cooldown, action: a, seconds: {HUGE}}}",
        f"{{pattern: rate_limit, action: a, limit: 1, per: {{seconds: {HUGE}}}}}",
    ],
)
def test_a_bound_of_hundreds_of_digits_is_refused(guarantee: str, tmp_path: Path) -> None:
    """A bound beyond 10^12 is a mistake with its place, in the library and on the command line."""
    from sponsio_like.contracts.loader import loads

    text = f"version: 1\ncontracts:\n  - name: x\n    guarantee: {guarantee}\n"
    with pytest.raises(ContractError, match=r"c\.yaml:4:\d+: .*too l(arge|ong)"):
        loads(text, "c.yaml")


def test_bounds_in_python_have_the_same_limit() -> None:
    """Nor can Python say more."""
    for bound in ({"steps": 10**400}, {"seconds": 10**400}):
        with pytest.raises(ContractError, match="a bound is too large; at most 1,000,000,000,000"):
            F(called("a"), **bound)


@requirement("S-LOAD-15")
def test_a_guarantee_of_too_many_atoms_is_refused() -> None:
    """How many atoms one guarantee may have is said; lists of tools may be longer."""
    many = " | ".join(f"called(t{n}, k = {n})" for n in range(501))
    said = refusal(f"G(called(x) -> {many})")
    assert "502 different atoms" in said
    assert "at most 500" in said
    assert loaded(tool_allowlist([f"t{n}" for n in range(3_000)])).policy.warnings == ()


def test_loading_asks_no_more_of_an_inventory_than_it_tells_apart() -> None:
    """However many tools there are, the search knows those that a guarantee tells apart."""
    sizes = set()
    for many in (10, 1_000):
        guard = loaded(
            "G(called(tool_1) -> X F called(tool_2*))", tools=[f"tool_{n}" for n in range(many)]
        )
        sizes.add(len(guard.policy.clauses[0].monitor.search.letters))
    assert len(sizes) == 1


def test_similar_names_are_looked_for_among_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of thousands of tools, a misspelt name is held against those that begin or end like it."""
    compared: list[int] = []
    near = difflib.get_close_matches

    def counted(word: str, among: list[str], **how: Any) -> list[str]:
        compared.append(len(among))
        return near(word, among, **how)

    monkeypatch.setattr("sponsio_like.errors.difflib.get_close_matches", counted)
    names = [f"{first}_{n}_tool" for n in range(2_000) for first in ("get", "put", "list")]
    for word in ("get_17_tol", "put_1999_tol", "lst_1234_tool"):
        right = word.replace("tol", "tool").replace("toool", "tool").replace("lst", "list")
        assert f"`{right}`" in closest(word, names)
    assert closest("nothing like it", names).endswith("and 5900 more")
    assert max(compared) <= 300


# --- what is printed is read back -----------------------------------------------------------------


def _forms(declared: Pattern) -> list[dict[str, Any]]:
    """The example of a pattern: with single tools, with lists of them, with globs."""
    kinds = {each.name: each.annotation for each in declared.parameters}
    changes: list[Any] = [lambda v: v, lambda v: [v, f"{v}_2"], lambda v: f"{v}*"]
    return [
        {
            key: change(value) if kinds[key] == Tools and isinstance(value, str) else value
            for key, value in declared.example.items()
        }
        for change in changes
    ]


@requirement("S-FILE-09")
@pytest.mark.parametrize("declared", catalog(), ids=lambda declared: declared.name)
def test_what_check_prints_is_read_back(declared: Pattern) -> None:
    """Each line `must` of `check` is a guarantee, typed as it stands, and the same one."""
    import yaml

    met = 0
    for given in _forms(declared):
        try:
            made = contract("c").guarantees({"pattern": declared.name, **given})
        except ContractError:  # a pattern of one exact tool
            continue
        (line,) = [text for text, _ in contracts_page([made], "enforce") if "  must  " in text]
        written = line.partition("must     ")[2]
        back: Any = yaml.safe_load(written) if written.startswith("{") else written
        again = contract("c").guarantees(back)
        assert [(r.formula, r.by) for r in again.rules] == [(r.formula, r.by) for r in made.rules]
        met += 1
    assert met


def test_lists_of_tools_are_read_back() -> None:
    """Several tools stand in a sentence as they are printed."""
    said = "tool `check` or `vet` must precede `pay` or `refund`"
    assert must_precede(["check", "vet"], ["pay", "refund"]).sentence == said
    (rule,) = contract("c").guarantees(said).rules
    assert rule.formula is must_precede(["check", "vet"], ["pay", "refund"]).formula


@requirement("S-FILE-09")
@pytest.mark.parametrize("to", [{"in": ["a", "b"]}, "`", {"matches": "`"}], ids=str)
def test_what_no_sentence_says_is_printed_as_in_a_file(to: Any) -> None:
    """A match with a list of values, or a backtick, has no sentence: it stands as in a file."""
    import yaml

    given = {"first": "check", "then": {"tool": "pay", "args": {"to": to}}}
    made = contract("c").guarantees({"pattern": "must_precede", **given})
    page = "\n".join(text for text, _ in contracts_page([made], "enforce"))
    (written,) = [each.partition("must     ")[2] for each in page.splitlines() if "must  " in each]
    assert yaml.safe_load(written) == {"pattern": "must_precede", **given}


@pytest.mark.parametrize(
    "pattern",
    [
        *("^a$", "(a$|b)", "^a|^b", "(?i)^a", "(?:^a)", "(?i:^a)", "(^| )a", "a( |$)", "x*^a"),
        *(r"\$100", "[$]100", "[^a]b", r"^\s*$", "https?://[^/]+$", r"\^a", "(?P<x>a)$", "$( x)?"),
        *("(?m)a$b", "(?ms)a^b"),
    ],
)
def test_the_ends_of_a_text_where_they_may_stand(pattern: str) -> None:
    """At the end of an alternative, in a class, escaped, or of a line."""
    match = {"tool": "t", "args": {"to": {"matches": pattern}}}
    assert loaded({"pattern": "absent", "match": match}).policy.clauses
