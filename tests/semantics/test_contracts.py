"""Contracts, decisions, snapshots (docs/semantics.md, sections 16 and 17)."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from sponsio_like.contracts.definition import Contract, contract
from sponsio_like.errors import ContractError
from sponsio_like.guard.guard import Guard
from sponsio_like.outcome import Allowed, Blocked, Redirected
from sponsio_like.patterns import (
    always_followed_by,
    arg_value_range,
    bounded_retry,
    cooldown,
    idempotent,
    must_precede,
    mutual_exclusion,
    no_reversal,
    rate_limit,
    redirect_to_safe,
)
from sponsio_like.syntax import read
from tests.semantics.manifest import requirement
from tests.support.play import guarded, opened

CHECK_FIRST = must_precede("check", "pay")


def rule(formula: str, name: str = "c") -> Contract:
    """A contract of one formula."""
    return contract(name).guarantees(read(formula))


# --- assume -----------------------------------------------------------------------------------


@requirement("S-ASSUME-01")
def test_a_guarantee_is_watched_whether_or_not_it_applies() -> None:
    """A check before the assumption holds counts; elsewhere the contract is silent."""
    in_prod = contract("c").assume({"ctx": {"env": "prod"}}).guarantees(CHECK_FIRST)
    assert opened(in_prod)("ctx:env=dev pay ctx:env=prod pay other check pay") == ".x..."
    assert opened(in_prod)("check ctx:env=prod pay") == ".."
    assert opened(in_prod)("ctx:env=dev pay pay") == ".."


@requirement("S-ASSUME-01")
def test_where_the_assumption_fails_the_verdict_stays_open() -> None:
    """What does not count does not latch."""
    in_prod = contract("c").assume({"ctx": {"env": "prod"}}).guarantees(CHECK_FIRST)
    played = opened(in_prod, guard={"mode": "observe"})
    assert played("ctx:env=dev pay") == "."
    assert played.verdict() == "inconclusive"
    assert played("ctx:env=prod pay") == "w"
    assert played.verdict() == "violated"


@requirement("S-ASSUME-01")
def test_the_assumption_is_asked_where_a_result_reveals() -> None:
    """A violation that a result or the clock reveals counts where the assumption holds then."""
    in_prod = contract("c").assume({"ctx": {"env": "prod"}})
    assert (
        opened(in_prod.guarantees(read("G !failed(a)")))(
            "ctx:env=dev a! ctx:env=prod a! ctx:env=dev a!"
        )
        == ".r."
    )
    soon = in_prod.guarantees(read("G(called(a) -> F[<=5s] called(b))"))
    assert opened(soon)("ctx:env=prod a +9s c ctx:env=dev a +9s c") == ".t..."


@requirement("S-ASSUME-02")
def test_called_in_an_assumption_means_by_now() -> None:
    """The sentence "called `x`" holds from the call of x on, that call included."""
    after_login = contract("c").assume("called `login`").guarantees(read("G !called(pay)"))
    assert opened(after_login)("pay login pay other pay") == "..x.x"
    own = contract("c").assume("called `pay`").guarantees(CHECK_FIRST)
    assert opened(own)("other pay check pay") == ".x.."


@requirement("S-ASSUME-03")
def test_conditions_in_an_assumption_speak_of_the_present_call() -> None:
    """A match on arguments is about the call being decided, not about an earlier one."""
    large = contract("c").assume({"called": {"tool": "pay", "args": {"n": {"gt": 100}}}})
    played = opened(large.guarantees(CHECK_FIRST))
    assert played("pay(n=5) pay(n=500) pay(n=5) check pay(n=500)") == ".x..."
    few = large.guarantees(rate_limit("pay", 1))
    assert opened(few)("pay(n=500) pay(n=5) pay(n=500) pay(n=5)") == "..x."


@requirement("S-ASSUME-04")
def test_context_in_an_assumption_means_now() -> None:
    """Context, permissions and agents are those of the moment; past operators look back."""
    assert (
        opened(contract("c").assume({"permission": "p"}).guarantees(read("G !called(a)")))(
            "a permit:p a permit:q a"
        )
        == ".x."
    )
    assert (
        opened(contract("c").assume({"agent": "eve"}).guarantees(read("G !called(a)")))("a a@eve a")
        == ".x."
    )
    looks_back = contract("c").assume({"ltl": "Y Y called(b)"}).guarantees(read("G !called(a)"))
    assert opened(looks_back)("a b a a a") == "...xx"


@requirement("S-ASSUME-05")
def test_for_the_end_the_assumption_is_asked_at_the_end() -> None:
    """What is unfulfilled counts if the assumption holds when the session ends."""
    in_prod = contract("c").assume({"ctx": {"env": "prod"}}).guarantees(read("F called(z)"))
    for facts, expected in (("ctx:env=prod", ["c"]), ("ctx:env=prod a ctx:env=dev", [])):
        played = opened(in_prod)
        played(f"a {facts}")
        assert played.unfulfilled() == expected
    later = contract("c").assume("called `x`").guarantees(always_followed_by("a", "b"))
    for trace, expected in (("a", []), ("a x", ["c"]), ("x a", ["c"]), ("x a b", [])):
        played = opened(later)
        played(trace)
        assert played.unfulfilled() == expected, trace


@requirement("S-ASSUME-06")
def test_an_assumption_has_no_future() -> None:
    """An assumption that speaks of the future is refused."""
    with pytest.raises(ContractError, match="future"):
        contract("c").assume({"ltl": "F called(a)"})


@requirement("S-ASSUME-07")
def test_an_assumption_about_the_present_call_is_about_its_guarantee() -> None:
    """A condition on this call would never meet a violation by another one: it is refused."""
    large = contract("c").assume({"called": {"tool": "pay", "args": {"n": {"gt": 100}}}})
    guarded(large.guarantees(CHECK_FIRST))
    for useless in ("G(called(pay) -> X called(tell))", "G !called(refund)"):
        with pytest.raises(ContractError, match="the assumption speaks of the present call"):
            guarded(large.guarantees(read(useless)))


# --- scope ------------------------------------------------------------------------------------

CALLED_F, CALLED_G = {"called": "f"}, {"called": "g"}
NO_A = read("G !called(a)")


@requirement("S-SCOPE-01")
def test_after_begins_once() -> None:
    """`after` binds from the first f to the end; a second f changes nothing."""
    played = opened(contract("c").guarantees(read("G(count(a) <= 1)")).after(CALLED_F))
    assert played("a a f a f a a") == ".....xx"


@requirement("S-SCOPE-02")
def test_before_binds_until_the_end_mark() -> None:
    """`before` binds from the start, also if f never comes, and no longer once it has."""
    played = opened(contract("c").guarantees(NO_A).before(CALLED_F))
    assert played("a b a f a f a") == "x.x...."


@requirement("S-SCOPE-03")
@pytest.mark.parametrize("kind", ["between", "after_until"])
def test_segments_repeat(kind: str) -> None:
    """`between` and `after_until` bind from each f to the next g."""
    played = opened(getattr(contract("c").guarantees(NO_A), kind)(CALLED_F, CALLED_G))
    assert played("a f a g a f a a g a") == "..x...xx.."


@requirement("S-SCOPE-04")
def test_a_segment_includes_its_beginning_and_excludes_its_end() -> None:
    """The position of f belongs to the segment, that of g does not."""
    no_mark = read("G !called([f, g])")
    played = opened(contract("c").guarantees(no_mark).after_until(CALLED_F, CALLED_G))
    assert played("f g f") == "x.x"
    played = opened(contract("c").guarantees(no_mark).before(CALLED_F))
    assert played("g f f g") == "x..."


@requirement("S-SCOPE-05")
def test_each_segment_is_a_fresh_start() -> None:
    """Counts and the past begin anew with each segment."""
    capped = contract("c").guarantees(rate_limit("a", 1)).after_until(CALLED_F, CALLED_G)
    assert opened(capped)("f a a g f a a") == "..x...x"
    gated = contract("c").guarantees(must_precede("check", "a")).between(CALLED_F, CALLED_G)
    assert opened(gated)("check f a check a g f a") == "..x....x"


@requirement("S-SCOPE-06")
def test_open_obligations_fail_at_the_end_of_a_segment() -> None:
    """The position that would end a segment is refused while something is owed in it."""
    owed = read("G(called(a) -> X F called(b))")
    played = opened(contract("c").guarantees(owed).between(CALLED_F, CALLED_G))
    assert played("f a g b g") == "..x.."
    played = opened(contract("c").guarantees(read("F called(a)")).before(CALLED_G))
    assert played("b g a g") == ".x.."


@requirement("S-SCOPE-07")
@pytest.mark.parametrize(
    ("kind", "ends", "expected"),
    [
        ("after", [CALLED_F], ["c"]),
        ("before", [CALLED_G], []),
        ("between", [CALLED_F, CALLED_G], []),
        ("after_until", [CALLED_F, CALLED_G], ["c"]),
    ],
)
def test_open_segments_bind_at_once(kind: str, ends: list[Any], expected: list[str]) -> None:
    """Without g a segment binds all the same; what it owes at the end depends on the scope."""
    played = opened(getattr(contract("c").guarantees(NO_A), kind)(*ends))
    assert played("f a") == ".x"
    played = opened(getattr(contract("c").guarantees(read("F called(b)")), kind)(*ends))
    played("f")
    assert played.unfulfilled() == expected


@requirement("S-SCOPE-08")
def test_a_segment_may_begin_and_end_with_results() -> None:
    """Where a condition waits for a result, the segment begins or ends when the result arrives."""
    after = contract("c").guarantees(NO_A).after({"done": "login"})
    assert opened(after)("a login! a login a") == "....x"
    assert opened(after)("login? a ok:login a") == "...x"
    before = contract("c").guarantees(NO_A).before({"done": "login"})
    assert opened(before)("a login! a login? a ok:login a") == "x.x.x.."
    between = contract("c").guarantees(NO_A).between({"done": "on"}, {"done": "off"})
    assert opened(between)("a on a off! a off a on a") == "..x.x...x"


# --- modes ------------------------------------------------------------------------------------


@requirement("S-MODE-01")
def test_the_nearest_mode_counts() -> None:
    """A contract's own mode comes first, then the guard's; else it is enforced."""
    assert opened(rule("G !called(a)"))("a") == "x"
    assert opened(rule("G !called(a)"), guard={"mode": "observe"})("a") == "w"
    assert opened(rule("G !called(a)").enforce(), guard={"mode": "observe"})("a") == "x"
    assert opened(rule("G !called(a)").observe())("a") == "w"


@requirement("S-MODE-01")
@pytest.mark.parametrize(
    ("of_file", "of_guard", "blocked"),
    [
        ("", None, True),
        ("", "observe", False),
        ("mode: enforce", "observe", True),
        ("mode: observe", None, False),
    ],
)
def test_a_file_comes_before_the_guard(
    tmp_path: Any, of_file: str, of_guard: Any, blocked: bool
) -> None:
    """The mode of a file comes before that of the guard."""
    path = tmp_path / "c.yaml"
    path.write_text(
        f'version: 1\n{of_file}\ncontracts:\n- name: c\n  guarantee: {{ltl: "G !called(a)"}}\n'
    )
    outcome = Guard.from_yaml(path, mode=of_guard).session().decide("a")
    assert isinstance(outcome, Blocked) is blocked


@requirement("S-MODE-02")
def test_observing_stops_nothing_and_logs_the_truth() -> None:
    """What only observes is in `observed` and in the log, as what would have been done."""
    played = opened(rule("G !called(a)").observe(), rule("G !called(b)", "d"))
    assert played("a b") == "wx"
    outcome = played.outcomes[0]
    assert isinstance(outcome, Allowed)
    assert [(v.contract, v.action, v.mode) for v in outcome.observed] == [
        ("c", "blocked", "observe")
    ]
    assert outcome.warnings == ()
    (logged,) = played.records[0]["violations"]
    assert (logged["contract"], logged["mode"]) == ("c", "observe")


@requirement("S-MODE-03")
def test_the_environment_relaxes_only_where_allowed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The variable has an effect on guards that allow it, and says so."""
    monkeypatch.setenv("SPONSIO_LIKE_MODE", "observe")
    assert opened(rule("G !called(a)"))("a") == "x"
    with caplog.at_level(logging.WARNING):
        played = opened(rule("G !called(a)").enforce(), guard={"relaxable": True})
    assert "SPONSIO_LIKE_MODE" in caplog.text
    assert played.records[0]["event"] == "relaxed"
    assert played.guard.relaxed
    assert played("a") == "w"
    monkeypatch.setenv("SPONSIO_LIKE_MODE", "off")
    with pytest.raises(ContractError, match="may only be `observe`"):
        opened(rule("G !called(a)"), guard={"relaxable": True})


# --- what counts ------------------------------------------------------------------------------


@requirement("S-COUNT-01")
def test_restrictions_count_attempts() -> None:
    """Caps and cooldowns count calls that fail or are in flight."""
    assert opened(contract("c").guarantees(rate_limit("a", 2)))("a! a? a") == "..x"
    assert opened(contract("c").guarantees(idempotent("a")))("a! a") == ".x"
    assert opened(contract("c").guarantees(cooldown("a", steps=1)))("a! a b a") == ".x.."


@requirement("S-COUNT-02")
def test_prerequisites_count_successes() -> None:
    """What failed, or is in flight, is no prerequisite, and no answer."""
    assert (
        opened(contract("c").guarantees(CHECK_FIRST))("check! pay check? pay ok:check pay")
        == ".x.x.."
    )
    played = opened(contract("c").guarantees(always_followed_by("pay", "tell")))
    played("pay tell!")
    assert played.unfulfilled() == ["c"]


@requirement("S-COUNT-03")
def test_failures_do_not_count_against_the_agent() -> None:
    """Exclusions and reversals forgive what failed, not what is in flight."""
    assert opened(contract("c").guarantees(mutual_exclusion("a", "b")))("a! b") == ".."
    assert opened(contract("c").guarantees(mutual_exclusion("a", "b")))("a? b error:a b") == ".x.."
    assert opened(contract("c").guarantees(no_reversal("a", "b")))("a? b ok:a b") == ".x.x"
    assert opened(contract("c").guarantees(bounded_retry("a", 1)))("a! a! a") == "..x"


@requirement("S-COUNT-04")
def test_what_counts_can_be_chosen() -> None:
    """`counts: called` takes tries for prerequisites, `counts: done` forgives failures to caps."""
    assert (
        opened(contract("c").guarantees(must_precede("check", "pay", counts="called")))(
            "check! pay"
        )
        == ".."
    )
    done = contract("c").guarantees(rate_limit("a", 1, counts="done"))
    assert opened(done)("a! a! a? a error:a a a") == "...x..x"


# --- decisions --------------------------------------------------------------------------------

SAFE = redirect_to_safe("pay", "ask")


@requirement("S-DECIDE-01")
def test_the_strictest_answer_wins() -> None:
    """Block wins over redirect, redirect over warn; contracts that observe have no say."""
    warn = rule("G !called(pay)", "w").strategy("warn_only")
    redirect = contract("r").guarantees(SAFE)
    block = rule("G !called(pay)", "b")
    assert opened(warn, redirect)("pay") == ">"
    assert opened(redirect, block, warn)("pay") == "x"
    assert opened(warn, block.observe())("pay") == "w"
    assert opened(redirect.observe(), warn)("pay") == "w"


@requirement("S-DECIDE-02")
def test_all_violated_contracts_are_told() -> None:
    """Every violated contract is in the outcome, with what its strategy does."""
    warn = rule("G !called(pay)", "w").strategy("warn_only")
    played = opened(
        warn, contract("r").guarantees(SAFE), rule("G !called(pay)", "b"), rule("G !called(x)", "n")
    )
    played("pay")
    outcome = played.outcomes[0]
    assert isinstance(outcome, Blocked)
    assert [(v.contract, v.action) for v in outcome.violations] == [
        ("w", "warned"),
        ("r", "redirected"),
        ("b", "blocked"),
    ]


@requirement("S-DECIDE-03")
def test_a_substitute_is_decided_like_any_call() -> None:
    """The substitute runs under the same id, alone in the trace, or the call is blocked."""
    played = opened(contract("r").guarantees(SAFE), rule("G(count(ask) <= 1)"))
    outcome = played.session.decide("pay", {"n": 5}, id="p")
    assert isinstance(outcome, Redirected)
    assert (outcome.id, outcome.tool, outcome.args) == ("p", "ask", {"n": 5})
    assert isinstance(played.session.decide("pay", {"n": 5}, id="q"), Blocked)
    seen = opened(
        contract("r").guarantees(SAFE), rule("G(called(end) -> Y called(ask) & !O called(pay))")
    )
    assert seen("pay end") == ">."


@requirement("S-DECIDE-03")
def test_arguments_of_a_substitute_are_renamed() -> None:
    """`map` renames arguments, and drops those that it maps to nothing."""
    safe = redirect_to_safe("pay", "ask", {"to": "person", "card": None})
    outcome = (
        guarded(contract("r").guarantees(safe))
        .session()
        .decide("pay", {"to": 1, "card": 2, "n": 3})
    )
    assert isinstance(outcome, Redirected)
    assert outcome.args == {"person": 1, "n": 3}


@requirement("S-DECIDE-04")
def test_advice_says_why_and_what_to_do() -> None:
    """The advice names contract and demand, and the shortest way, or that there is none."""
    played = opened(contract("gate").guarantees(CHECK_FIRST), rule("G !called(never)", "no"))
    played("pay never")
    first, second = played.outcomes
    assert isinstance(first, Blocked)
    assert isinstance(second, Blocked)
    assert "`gate`" in first.advice
    assert "tool `check` must precede `pay`" in first.advice
    assert "first call `check` (it must succeed)" in first.advice
    assert "no calls make it legal" in second.advice


@requirement("S-DECIDE-05")
def test_advice_can_be_followed() -> None:
    """Following the advice makes the call allowed, with two gates in the order they need."""
    two = [must_precede("login", "check"), CHECK_FIRST]
    played = opened(contract("c").guarantees(*two))
    assert played("pay") == "x"
    outcome = played.outcomes[-1]
    assert isinstance(outcome, Blocked)
    assert (
        "first call `login` (it must succeed), then call `check` (it must succeed)"
        in outcome.advice
    )
    assert played("login check pay") == "..."
    cool = opened(contract("c").guarantees(cooldown("a", steps=2)))
    cool("a a")
    outcome = cool.outcomes[-1]
    assert isinstance(outcome, Blocked)
    assert outcome.advice.count("some other tool") == 2
    assert cool("b b a") == "..."


@requirement("S-DECIDE-07")
def test_messages_and_log_have_no_argument_values() -> None:
    """Neither violations nor the log tell what was in a call, unless asked for."""
    word = "hunter2"
    contracts = (
        contract("c").guarantees(arg_value_range("pay", "n", max=5)),
        rule("G !output = bad", "d"),
    )
    for log_args in (False, True):
        played = opened(*contracts, guard={"log_args": log_args})
        session = played.session
        outcome = session.decide("pay", {"n": word})
        assert isinstance(outcome, Blocked)
        assert word not in outcome.advice + str(outcome.violations[0])
        session.settle(session.decide("pay", {"n": 1, "to": word}).id, output=word)
        session.fact("key", word)
        session.message("assistant", word)
        assert (word in json.dumps(played.records, default=str)) is log_args


# --- snapshots --------------------------------------------------------------------------------


@requirement("S-SNAPSHOT-01")
def test_a_restored_session_goes_on() -> None:
    """A snapshot is JSON, and a session made of it decides as the original would have."""
    contracts = (
        contract("gate").guarantees(CHECK_FIRST),
        contract("cap").guarantees(rate_limit("pay", 1)),
        contract("owed").guarantees(always_followed_by("pay", "tell")),
        contract("ctx").assume({"ctx": {"env": "prod"}}).guarantees(read("G !called(x)")),
        contract("once").guarantees(idempotent("book", by=["n"])),
    )
    played = opened(*contracts)
    played("check? ctx:env=prod book(n=1)")
    id = played.outcomes[0].id
    data = json.loads(json.dumps(played.session.snapshot()))
    session = played.guard.restore(data)
    assert session.started_anew == ()
    for each in (played.session, session):
        assert isinstance(each.decide("pay"), Blocked)
        assert isinstance(each.decide("x"), Blocked)
        assert isinstance(each.decide("book", {"n": 1}), Blocked)
        each.settle(id)
        each.settle(each.decide("pay").id)
        assert isinstance(each.decide("pay"), Blocked)
        assert [one.contract for one in each.pending()] == ["owed"]


@requirement("S-SNAPSHOT-02")
def test_changed_contracts_start_anew() -> None:
    """What means the same keeps its state; what has changed begins again and is named."""
    old = guarded(
        contract("a").guarantees(rate_limit("x", 1)), contract("b").guarantees(rate_limit("y", 1))
    )
    new = guarded(
        contract("b").guarantees(rate_limit("y", 1)), contract("a").guarantees(rate_limit("x", 2))
    )
    session = old.session()
    session.decide("x")
    session.decide("y")
    restored = new.restore(session.snapshot())
    assert restored.started_anew == ("a",)
    assert isinstance(restored.decide("y"), Blocked)
    assert isinstance(restored.decide("x"), Allowed)
