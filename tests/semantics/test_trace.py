"""Traces, calls in flight, ids, time (docs/semantics.md, sections 1 to 4)."""

from __future__ import annotations

import pytest

from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract, contract
from sponsio_like.outcome import Allowed, Blocked
from sponsio_like.session.session import Session
from sponsio_like.syntax import read
from tests.semantics.manifest import requirement
from tests.support.play import guarded, opened

CHECK_FIRST = "G(called(pay) -> Y O done(check))"


# --- positions --------------------------------------------------------------------------------


@requirement("S-TRACE-01")
def test_sessions_share_nothing() -> None:
    """What happens in one session is nothing to another of the same guard."""
    guard = guarded("G(count(pay) <= 1)")
    one, two = guard.session(), guard.session()
    assert isinstance(one.decide("pay"), Allowed)
    assert isinstance(one.decide("pay"), Blocked)
    assert isinstance(two.decide("pay"), Allowed)


@requirement("S-TRACE-02")
def test_results_and_facts_are_no_positions() -> None:
    """Results and facts do not count as steps; calls do."""
    next_is_b = "G(called(a) -> X called(b))"
    assert opened(next_is_b)("a? ok:a ctx:k=1 b") == "..."
    assert opened(next_is_b)("a? other") == ".x"


@requirement("S-TRACE-02")
def test_messages_and_plain_steps_are_positions() -> None:
    """Messages and plain steps are positions of the clauses that speak of them."""
    played = opened("G(message(user) -> X message(assistant))")
    assert played("msg:user=hi msg:assistant=hello msg:user=hi msg:user=hi") == "...w"
    session = guarded("G(step(red) -> X step(green))", mode="observe").session()
    assert [len(session.step([name])) for name in ("red", "green", "red", "red")] == [0, 0, 0, 1]


@requirement("S-TRACE-03")
def test_blocked_calls_are_not_in_the_trace() -> None:
    """A blocked call is refused as often as it is tried, and nobody has seen it."""
    assert opened(CHECK_FIRST)("pay pay pay check pay") == "xxx.."
    assert (
        opened("G(count(pay) <= 1)", "G(called(pay) -> Y O called(a))")("pay pay a pay") == "xx.."
    )


@requirement("S-TRACE-04")
def test_clauses_count_the_kinds_that_they_speak_of() -> None:
    """Messages are no steps for a clause about calls, and calls none for one about messages."""
    assert opened("G(called(a) -> X called(b))")("a msg:user=hi b") == "..."
    assert opened("G(called(a) -> F[<=2] called(b))")("a msg:user=1 msg:user=2 c b") == "....."
    assert opened("G(message(user) -> WX message(user))")("msg:user=1 a b msg:user=2") == "...."
    assert opened("G(called(a) -> X (called(b) | message(user)))")("a msg:user=hi c") == "..."


@requirement("S-TRACE-04")
def test_terms_speak_of_kinds_too() -> None:
    """A sum, a run or an argument speaks of calls, also beside an atom about messages."""
    played = opened("G(message(assistant) -> sum(pay, amount) <= 100)")
    assert played("pay(amount=200) msg:assistant=hi") == ".x"
    assert opened("G(step(p) | arg(amount) <= 5)")("pay(amount=200)") == "x"


@requirement("S-TRACE-04")
def test_what_speaks_of_no_kind_counts_calls() -> None:
    """A clause over the context alone counts calls."""
    played = opened("G(ctx(open) = true -> X ctx(open) = false)")
    assert played("ctx:open=true a ctx:open=false msg:user=hi ctx:open=true b") == "..x"


@requirement("S-TRACE-05")
def test_kinds_are_judged_clause_by_clause() -> None:
    """A clause about messages beside a deadline does not stretch the deadline."""
    both = contract("c").guarantees(
        read("G(called(a) -> X called(b))"), read('G !text matches "secret"')
    )
    assert opened(both)("a msg:user=hi b a msg:user=hi c") == ".....x"


@requirement("S-TRACE-06")
def test_responses_are_decided_other_messages_recorded() -> None:
    """A response can be blocked, and is then not in the trace; a user's message cannot."""
    polite = 'G !text matches "secret"'
    assert opened(polite)("msg:user=secret msg:assistant=secret msg:assistant=ok") == "wx."
    assert (
        opened("G(count(message(assistant)) <= 1)", polite)(
            "msg:assistant=secret msg:assistant=a msg:assistant=b"
        )
        == "x.x"
    )


@requirement("S-TRACE-07")
def test_arguments_are_read_once() -> None:
    """What the host does to arguments, outputs or facts afterwards changes nothing."""
    session = guarded("G(called(pay) -> !Y O called(pay, to = bob))", "G(ctx(k) != 2)").session()
    args = {"to": "bob"}
    session.decide("pay", args)
    args["to"] = "eve"
    assert isinstance(session.decide("pay"), Blocked)
    value = [1]
    session = guarded("G(repeats(pay) <= 1)").session()
    session.decide("pay", {"items": value})
    value.append(2)
    assert isinstance(session.decide("pay", {"items": [1]}), Blocked)
    facts = {"agent": ["pay"]}
    session = guarded("G(called(pay) -> permission(pay))").session()
    session.fact("permissions", facts)
    facts["agent"].clear()
    assert isinstance(session.decide("pay"), Allowed)


@requirement("S-TRACE-08")
def test_text_is_not_read_as_a_number() -> None:
    """Whether `"5000"` is 5000 cannot be told: it violates, and is not above 4000."""
    small = "G(called(pay) -> arg(amount) <= 5000)"
    assert opened(small)('pay(amount=5000) pay(amount="5000")') == ".x"
    assert opened("G !called(pay, amount = 5000)")('pay(amount="5000") pay(amount=5000)') == "xx"
    assert opened("G(called(pay) -> arg(amount) > 4000)")('pay(amount="5000")') == "x"


# --- calls in flight --------------------------------------------------------------------------


@requirement("S-FLIGHT-01")
def test_calls_count_as_called_at_once() -> None:
    """A cap counts calls in flight, done or failed."""
    assert opened("G(count(pay) <= 2)")("pay? pay! pay ok:pay") == "..x."
    assert opened("G(called(pay) -> Y O called(check))")("check? pay") == ".."


@requirement("S-FLIGHT-02")
def test_a_batch_is_decided_in_order() -> None:
    """Of three parallel `pay(60)` under a limit of 100, one is paid."""
    session = guarded("G(sum(pay, amount) <= 100)").session()
    batch = session.decide_batch([("pay", {"amount": 60})] * 3)
    assert [type(outcome) for outcome in batch] == [Allowed, Blocked, Blocked]


@requirement("S-FLIGHT-03")
def test_status_belongs_to_the_position_of_the_call() -> None:
    """`done` holds at the call's position, not where the result arrives."""
    done_then_b = "G(done(a) -> X called(b))"
    assert opened(done_then_b)("a? b ok:a c") == "...."
    assert opened(done_then_b)("a? c ok:a") == "..r"
    assert opened("G !output = yes")("a=yes b=no c") == "r.."


@requirement("S-FLIGHT-04")
def test_past_operators_see_what_has_settled() -> None:
    """A prerequisite in flight does not help yet, and one that failed does not help at all."""
    assert opened(CHECK_FIRST)("check? pay ok:check pay") == ".x.."
    assert opened(CHECK_FIRST)("check! pay") == ".x"
    assert opened("G(called(pay) -> count(done(check)) >= 1)")("check? pay ok:check pay") == ".x.."
    assert opened("G(called(pay) -> Y H !failed(check))")("check? pay error:check pay") == "...x"


@requirement("S-FLIGHT-05")
def test_no_call_meets_its_own_prerequisite() -> None:
    """A call that needs a success of its own tool is never let through first."""
    assert opened("G(called(pay) -> O done(pay))")("pay pay") == "xx"
    assert opened("G(called(pay) -> count(done(pay)) >= 1)")("pay") == "x"


@requirement("S-FLIGHT-06")
def test_late_results_revise_no_past() -> None:
    """What was let through because nothing had failed stays right when a failure arrives."""
    calm = "G(called(pay) -> !Y O failed(check))"
    assert opened(calm)("check? pay error:check") == "..."
    observed = opened(CHECK_FIRST, guard={"mode": "observe"})
    assert observed("check? pay ok:check") == ".w."
    assert observed.verdict() == "violated"


@requirement("S-FLIGHT-07")
def test_later_positions_see_late_results() -> None:
    """A result that comes in between counts for the next decision, through any past operator."""
    assert opened("G(called(pay) -> Y Y O done(check))")("check? a b pay ok:check pay") == "...x.."
    assert (
        opened("G(called(pay) -> !Y (!called(b) S failed(a)))")("a? c error:a pay b pay")
        == "...x.."
    )


@requirement("S-FLIGHT-08")
def test_late_results_open_obligations() -> None:
    """Whether something has to follow is known when the call settles."""
    played = opened("G(done(a) -> X F called(b))")
    assert played("a? c") == ".."
    assert "result of a call in flight" in str(played.session.pending())
    assert played("ok:a") == "."
    assert [each.contract for each in played.session.pending()] == ["rule 0"]
    assert played("b") == "."
    assert played.session.pending() == ()


@requirement("S-FLIGHT-03", "S-FLIGHT-09")
def test_late_results_meet_obligations() -> None:
    """An obligation can be met by a call that settles long after."""
    played = opened("G(called(a) -> X F[<=1] done(b))")
    assert played("a b? c d ok:b") == "....."
    assert played.unfulfilled() == []
    assert opened("G(called(a) -> X F[<=1] done(b))")("a b? c d error:b") == "....r"


@requirement("S-FLIGHT-10")
def test_late_results_reveal_violations() -> None:
    """`settle` returns what a result has revealed, at the position of the call."""
    session = guarded("G !failed(pay)").session()
    session.decide("other")
    session.decide("pay", id="p")
    session.decide("other")
    (violation,) = session.settle("p", error="no")
    assert (violation.position, violation.tool, violation.action) == (1, "pay", "reported")


@requirement("S-FLIGHT-11")
def test_the_first_result_counts() -> None:
    """A second result, or one of a call that never ran, changes nothing and is logged."""
    played = opened(CHECK_FIRST)
    played("check?")
    id = played.outcomes[-1].id
    played.session.settle(id, error="no")
    played.session.settle(id, output="yes")
    assert played.records[-1]["event"] == "result_ignored"
    assert played("pay") == "x"
    played.session.settle(played.outcomes[-1].id)
    assert played.records[-1]["event"] == "result_ignored"
    assert played("pay") == "x"


@requirement("S-FLIGHT-12")
def test_assume_success_settles_at_the_next_turn() -> None:
    """Without results a call counts as done once the next turn is decided, not within its batch."""
    session = guarded(CHECK_FIRST).session(assume_success=True)
    batch = session.decide_batch([("check", {}), ("pay", {})])
    assert [type(outcome) for outcome in batch] == [Allowed, Blocked]
    assert isinstance(session.decide("pay"), Allowed)


@requirement("S-FLIGHT-12")
def test_assume_success_holds_for_responses() -> None:
    """A response is a turn of its own: the calls before it count as done."""
    session = guarded("G(message(assistant) -> Y O done(check))").session(assume_success=True)
    session.decide("check")
    assert isinstance(session.message("assistant", "done"), Allowed)


@requirement("S-FLIGHT-13")
def test_calls_in_flight_are_capped() -> None:
    """The 1,001st call in flight is refused; settling one makes room."""
    session = guarded("G !called(never)").session()
    for n in range(1_000):
        assert isinstance(session.decide("a", id=str(n)), Allowed)
    refused = session.decide("a")
    assert isinstance(refused, Blocked)
    assert "in flight" in refused.advice
    session.settle("0")
    assert isinstance(session.decide("a"), Allowed)


COUNTED = "G(called(pay) -> O (called(go) & count(done(check)) > 2))"


def _full(*contracts: Contract) -> tuple[Session, int]:
    """A session with as many checks in flight as the first contract can tell apart."""
    session = guarded(*contracts).session()
    for n in range(1_000):
        outcome = session.decide("check", id=f"c{n}")
        if isinstance(outcome, Blocked) or (isinstance(outcome, Allowed) and outcome.observed):
            return session, n
    raise AssertionError("nothing was refused")


@requirement("S-FLIGHT-14")
def test_branches_for_calls_in_flight_are_capped() -> None:
    """Calls that are never settled stop the calls on which too much more would depend."""
    session, many = _full(Contract("counted", (Rule(read(COUNTED)),)))
    assert 50 < many < 80
    refused = session.decide("check", id="more")
    assert isinstance(refused, Blocked)
    assert "could not be evaluated (call at position 0 is in flight" in refused.advice
    assert "settle it" in refused.advice
    assert "first wait for the result of `check` with the id `c0`" in refused.advice
    assert isinstance(session.decide("a"), Allowed)
    session.settle("c0")
    assert isinstance(session.decide("check"), Allowed)


@requirement("S-FLIGHT-14")
@pytest.mark.parametrize(
    "text",
    [
        "G(called(pay) -> Y (!called(a) S done(check)))",
        "G(called(pay) -> Y O done(check))",
        "G(called(pay) -> count(done(check)) >= 1)",
        "G(called(pay) -> since(done(check)) < 5)",
    ],
)
def test_what_few_results_decide_needs_few_branches(text: str) -> None:
    """However many calls are in flight, and however long: nothing is refused."""
    session = guarded(text).session()
    for n in range(300):
        assert isinstance(session.decide("check", id=f"c{n}"), Allowed)
    for _ in range(1_000):
        session.settle(session.decide("b").id)
    assert isinstance(session.decide("pay"), Blocked)
    session.settle("c299")
    assert isinstance(session.decide("pay"), Allowed if "since" not in text else Blocked)


@pytest.mark.long
@requirement("S-FLIGHT-15")
def test_a_full_memory_is_the_business_of_its_own_clause() -> None:
    """A clause that cannot remember more says so where it observes; other clauses go on."""
    watching = Contract("watching", (Rule(read(COUNTED)),), mode="observe")
    few = Contract("few", (Rule(read("G(count(check) <= 100)")),))
    session, many = _full(watching, few)
    allowed = session.decide("check", id="one more")
    assert isinstance(allowed, Allowed)
    assert [each.contract for each in allowed.observed] == ["watching"]
    assert "settle it" in allowed.observed[0].message
    for n in range(many + 2, 100):
        assert isinstance(session.decide("check", id=f"c{n}"), Allowed)
    refused = session.decide("check")
    assert isinstance(refused, Blocked)
    assert [each.contract for each in refused.violations] == ["few"]


# --- ids --------------------------------------------------------------------------------------


@requirement("S-ID-01")
def test_open_ids_give_the_first_answer() -> None:
    """Deciding an id in flight again counts nothing; arguments are compared as JSON."""
    session = guarded("G(count(pay) <= 2)").session()
    first = session.decide("pay", {"n": 1, "m": 2}, id="p")
    assert session.decide("pay", {"m": 2, "n": 1.0}, id="p") == first
    assert isinstance(session.decide("pay", id="q"), Allowed)
    assert isinstance(session.decide("pay", id="r"), Blocked)


@requirement("S-ID-02")
@pytest.mark.parametrize(
    ("tool", "args"), [("pay", {"n": 2}), ("pay", {"n": True}), ("x", {"n": 1})]
)
def test_open_ids_of_other_calls_are_blocked(tool: str, args: dict[str, object]) -> None:
    """An id in flight cannot be used for another tool or other arguments."""
    session = guarded("G(count(pay) <= 9)").session()
    session.decide("pay", {"n": 1}, id="p")
    assert isinstance(session.decide(tool, args, id="p"), Blocked)


@requirement("S-ID-03")
def test_ids_are_made() -> None:
    """Without an id one is made; the outcome has it, and it can be settled."""
    session = guarded(CHECK_FIRST).session()
    one, two = session.decide("check"), session.decide("check")
    assert one.id != two.id
    session.settle(two.id)
    assert isinstance(session.decide("pay"), Allowed)


@requirement("S-ID-04")
def test_settled_ids_are_free() -> None:
    """After its result an id can be used for a new call, which counts."""
    session = guarded("G(count(pay) <= 1)").session()
    session.decide("pay", id="p")
    session.settle("p")
    assert isinstance(session.decide("pay", id="p"), Blocked)


# --- time -------------------------------------------------------------------------------------


@requirement("S-TIME-01")
def test_time_never_goes_back() -> None:
    """A clock that goes back stands still for the session."""
    played = opened("G(count[<=60s](pay) <= 1)")
    assert played("pay +100s other") == ".."
    played.clock.now = 30.0
    assert played("pay") == "."
    played.clock.now = 99.0
    assert played("pay +60s pay") == "x."


@requirement("S-TIME-02")
def test_windows_exclude_their_beginning() -> None:
    """A call exactly W seconds ago is no longer in the window of the last W seconds."""
    assert opened("G(count[<=60s](pay) <= 1)")("pay +59s pay +1s pay") == ".x."
    assert opened("G(sum[<=60s](pay, n) <= 1)")("pay(n=1) +59s pay(n=1) +1s pay(n=1)") == ".x."


@requirement("S-TIME-03")
def test_the_last_steps_include_this_one() -> None:
    """The last three steps are this position and the two before it."""
    assert opened("G(count[<=3](pay) <= 1)")("pay a pay b pay") == "..x.."
    assert opened("G(sum[<=3](pay, n) <= 1)")("pay(n=1) a pay(n=1) b pay(n=1)") == "..x.."


@requirement("S-TIME-04")
def test_bounds_in_seconds_are_inclusive() -> None:
    """`F[<=5s]` and `O[<=5s]` see a position exactly five seconds away, and none beyond."""
    soon = "G(called(a) -> F[<=5s] called(b))"
    assert opened(soon)("a +5s b") == ".."
    assert opened(soon)("a +5.5s b") == ".t."
    recent = "G(called(b) -> O[<=5s] called(a))"
    assert opened(recent)("a +5s b +0.5s b") == "..x"


@requirement("S-TIME-05")
def test_time_that_ran_out_stops_nothing() -> None:
    """An overdue obligation is reported at the next event, whatever it is, and blocks no call."""
    soon = "G(called(a) -> F[<=5s] called(b))"
    assert opened(soon)("a +9s c b") == ".t.."
    played = opened(soon)
    assert played("a? +9s ok:a c") == ".r."
    assert played.session.pending() == ()


@requirement("S-TIME-05")
def test_time_that_ran_out_before_the_end_is_logged() -> None:
    """The end is an event as well: what is overdue by then is reported there."""
    played = opened("G(called(a) -> F[<=5s] called(b))")
    played("a")
    played.clock.now = 99.0
    played.session.finish()
    assert [each["contract"] for each in played.records[-1]["violations"]] == ["rule 0"]


@requirement("S-TIME-05")
def test_time_runs_out_for_keyed_clauses() -> None:
    """A clause per value has its own clocks; none of them stops a call."""
    from sponsio_like.contracts.declaration import Rule
    from sponsio_like.contracts.definition import Contract

    rule = Rule(read("G(called(a) -> F[<=5s] called(b))"), by=("k",))
    assert opened(Contract("c", (rule,)))("a(k=1) +9s b(k=1)") == ".t."
