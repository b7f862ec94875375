"""Verdicts, instances, the end, residuals, keyed clauses (docs/semantics.md, sections 11 to 15)."""

from __future__ import annotations

import functools
import json

import pytest

from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract, contract
from sponsio_like.errors import ContractError, SessionError
from sponsio_like.monitor import reachability as search
from sponsio_like.monitor.residual import both, either, literals_of, one
from sponsio_like.outcome import Allowed
from sponsio_like.patterns import idempotent, segregation_of_duty
from sponsio_like.syntax import read
from tests.semantics.manifest import requirement
from tests.support.play import Played, guarded, opened


def observed(*what: str | Contract, **options: object) -> Played:
    """A session in which everything is let through."""
    return opened(*what, guard={"mode": "observe", **options})


def verdicts(formula: str, trace: str, **options: object) -> str:
    """The verdict before the trace and after each word of it: `?`, `+` or `-`."""
    played = observed(formula, **options)
    signs = {"inconclusive": "?", "satisfied": "+", "violated": "-"}
    out = signs[played.verdict()]
    for word in trace.split():
        played(word)
        out += signs[played.verdict()]
    return out


# --- verdicts ---------------------------------------------------------------------------------


@requirement("S-VERDICT-01")
def test_violated_as_soon_as_nothing_helps() -> None:
    """A clause is violated at the first event after which no continuation keeps it."""
    assert verdicts("G !called(a)", "b a") == "??-"
    assert verdicts("F[<=2] called(a)", "b b b") == "???-"
    assert verdicts("X called(a)", "b b") == "??-"
    assert verdicts("G(called(a) -> X called(b))", "a a") == "??-"


@requirement("S-VERDICT-01")
def test_ending_here_is_a_continuation() -> None:
    """What holds if the session ends now is not violated."""
    assert verdicts("G(called(a) -> WX called(b))", "a") == "??"
    assert opened("G(called(a) -> WX called(b))")("a b a") == "..."
    assert verdicts("G(called(a) -> WX false)", "a b") == "??-"


@requirement("S-VERDICT-02")
def test_satisfied_as_soon_as_nothing_harms() -> None:
    """A clause is satisfied at the first event after which no continuation breaks it."""
    assert verdicts("F called(a)", "b a") == "??+"
    assert verdicts("!called(b) W called(a)", "c a b") == "??++"
    assert verdicts("G[<=1] !called(a)", "b b a") == "??++"


@requirement("S-VERDICT-03")
def test_verdicts_latch() -> None:
    """A verdict that is not inconclusive never changes."""
    assert verdicts("G !called(a)", "a b") == "?--"
    assert verdicts("F called(a)", "a b") == "?++"
    assert verdicts("G(called(b) -> Y O called(a))", "b a b a") == "?----"


@requirement("S-VERDICT-04")
@pytest.mark.parametrize(
    "formula",
    [
        "G(called(c) -> X called(a) & X called(b))",
        "G(called(c) -> F called(a) & G !called(a))",
        "G(called(c) -> X (called(a) & F[<=0] called(b)))",
        "G(called(c) -> F (called(a) & X false))" + " & G(called(a) -> X called(b))",
        "G(called(c) -> X WX Y called(b)) & G !called(b) & G(called(c) -> X X true)",
    ],
)
def test_verdicts_are_exact(formula: str) -> None:
    """What no continuation can keep is violated at once, though no part of it is false yet."""
    assert verdicts(formula, "d c") == "??-"
    assert opened(formula)("d c") == ".x"


@requirement("S-VERDICT-04")
def test_past_and_future_are_weighed_together() -> None:
    """An obligation that a past operator has made impossible is lost at once."""
    formula = "G(called(c) -> F called(a)) & G(called(a) -> !Y O called(b))"
    assert opened(formula)("b c") == ".x"
    assert opened(formula)("c b") == ".x"


@requirement("S-VERDICT-05")
def test_continuations_have_another_tool() -> None:
    """A tool that nobody mentions may always be called, and a session need not go on."""
    assert verdicts("G(called(a) -> F !(called(a) | called(b)))", "a") == "??"
    assert verdicts("G(called(a) -> X !(called(a) | called(b)))", "a") == "??"


@requirement("S-VERDICT-05")
def test_continuations_have_the_kinds_that_are_spoken_of() -> None:
    """Messages of any role continue a clause that speaks of messages, and calls do not."""
    assert verdicts("G(message(user) -> X !message(user))", "msg:user=x") == "??"
    assert opened("G(message(user) -> F (message(*) & !message(user)))")("msg:user=x") == "."


@requirement("S-VERDICT-05")
def test_every_call_settles_before_the_end() -> None:
    """Nothing stays in flight for ever, so neither done nor failed is no way out."""
    assert verdicts("G(called(a) -> done(a) | failed(a)) & G(called(c) -> false)", "a? c") == "??-"
    with pytest.raises(ContractError, match="never be violated"):
        guarded("G(called(a) -> done(a) | failed(a))")
    with pytest.raises(ContractError, match="never be kept"):
        guarded("F(called(a) & !done(a) & !failed(a))")


@requirement("S-VERDICT-06")
def test_an_inventory_limits_continuations() -> None:
    """With an inventory, what only other tools could do is possible through one of them."""
    another = "G(called(c) -> X (called(d*) & !called(d)))"
    assert verdicts(another, "c") == "??"
    assert verdicts(another, "c", tools=["c", "d"]) == "?-"
    assert verdicts("G(called(c) -> X called(d))", "c", tools=["c", "d"]) == "??"
    assert verdicts("G(called(c) -> X !called([c, d]))", "c", tools=["c", "d"]) == "??"


@requirement("S-VERDICT-07")
def test_calls_in_a_continuation_may_settle_late() -> None:
    """A continuation may keep a result from the past operators until the end."""
    hidden = "G(called(c) -> F (called(a) & done(a) & X called(b) & X !Y O done(a)))"
    assert verdicts(hidden, "c") == "??"


@requirement("S-VERDICT-07")
def test_calls_in_flight_may_settle_either_way() -> None:
    """While the result is out, both are possible; then only one is."""
    assert verdicts("G(called(a) -> done(a))", "a? ok:a") == "???"
    assert verdicts("G(called(a) -> done(a))", "a? error:a") == "??-"
    both = "G(called(a) -> done(a)) & G(called(b) -> F Y O failed(a))"
    assert verdicts(both, "b") == "?-"
    assert verdicts("G(called(b) -> F Y O failed(a))", "b a? c") == "????"


@requirement("S-VERDICT-08")
def test_conditions_are_free() -> None:
    """Arguments, context and counters of later positions may turn out either way."""
    assert verdicts("G(called(c) -> X called(a, n > 5))", "c a(n=5)") == "??-"
    assert verdicts("G(called(c) -> X (ctx(k) = 1))", "c c") == "??-"
    assert verdicts("F (count(a) = 2)", "a a a") == "??++"
    assert verdicts("G(called(c) -> F (count(a) = 0))", "a c") == "???"


@requirement("S-VERDICT-09")
def test_time_may_pass_in_a_continuation() -> None:
    """An obligation bound in seconds may be met or may run out before any further position."""
    assert verdicts("G(called(a) -> F[<=5s] called(b))", "a") == "??"
    assert verdicts("G(called(a) -> !F[<=5s] called(b)) & G(called(a) -> X called(b))", "a") == "??"
    assert verdicts("F[<=5s] called(b)", "a") == "??"


@requirement("S-VERDICT-10")
def test_a_search_that_gives_up_is_late_never_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without budget a violation is seen when it is plain, and nothing else is called one."""
    formula = "G(called(c) -> F called(a) & G !called(a))"
    assert verdicts(formula, "c a") == "?--"
    monkeypatch.setattr(search, "BUDGET", 0)
    assert verdicts(formula, "c b a") == "???-"
    assert verdicts("G(called(c) -> X called(a))", "c a c b") == "????-"


# --- instances --------------------------------------------------------------------------------


@requirement("S-INST-01")
def test_every_position_has_its_instance() -> None:
    """Each position of an always conjunct is watched by itself; the rest is one instance."""
    assert observed("G(called(a) -> X called(b))")("a c a b a c") == ".w...w"
    assert observed("F[<=1] called(a) & G !called(b)")("c c b b") == ".www"
    assert observed("X called(a) & X X called(b)")("c c c c") == ".w.."


@requirement("S-INST-02")
def test_weak_until_is_read_at_every_position() -> None:
    """A top `f W g` of the past is violated wherever f is missing before g."""
    assert observed("!called(b) W called(a)")("b c b a b") == "w.w.."
    assert observed("(!called(b) W called(a)) | false")("b b a b") == "w..."


@requirement("S-INST-03")
def test_until_is_weak_until_and_an_obligation() -> None:
    """A top `f U g` is that, and g has to come."""
    played = observed("!called(b) U called(a)")
    assert played("b b") == "ww"
    assert played.session.pending()
    assert played("a b") == ".."
    assert played.unfulfilled() == []


@requirement("S-INST-04")
def test_release_is_read_at_every_position() -> None:
    """A top `f R g` is violated wherever g is missing with no f before."""
    assert observed("called(a) R !called(b)")("b b a b") == "ww.."
    assert observed("called(a) R !called(a)")("a a") == "w."


@requirement("S-INST-05")
def test_every_violation_is_reported_once() -> None:
    """Each violating call is reported, once; calls that do not violate are not."""
    assert observed("G(called(pay) -> Y O done(check))")("pay pay x check pay") == "ww..."
    assert observed("G(called(a) -> X called(b))")("a c c c") == ".w.."
    assert observed("G(called(a) -> X F[<=2] called(b))")("a c c c c c") == "...w.."


@requirement("S-INST-06")
def test_one_event_makes_one_report() -> None:
    """However many instances an event violates, the contract is reported once."""
    played = observed("G(called(a) -> F[<=2] called(b))")
    assert played("a a a c c c") == "..www."
    both = contract("c").guarantees(read("G !called(a)"), read("G(called(a) -> O called(b))"))
    played = observed(both)
    assert played("a a") == "ww"
    outcome = played.outcomes[-1]
    assert isinstance(outcome, Allowed)
    assert len(outcome.observed) == 1


@requirement("S-INST-07")
def test_instances_that_cannot_be_kept_together_are_reported_once() -> None:
    """A conflict of obligations is reported when it arises, and again once it was resolved."""
    conflict = "G(called(a) -> F called(c)) & G(called(b) -> G !called(c))"
    assert opened(conflict)("a b c") == ".x."
    assert observed(conflict)("a b x a x") == ".w..."
    assert observed(conflict)("a b x c a b") == ".w.w.w"


@requirement("S-INST-08")
def test_decisions_are_made_on_what_lives() -> None:
    """After a violation that was let through, the verdict stays and the contract goes on."""
    warned = (
        contract("c").guarantees(read("G(called(pay) -> Y O done(check))")).strategy("warn_only")
    )
    played = opened(warned)
    assert played("pay") == "w"
    assert played.verdict() == "violated"
    assert played("pay check pay") == "w.."
    assert played.verdict() == "violated"


# --- the end ----------------------------------------------------------------------------------


@requirement("S-END-01")
def test_pending_has_what_is_open() -> None:
    """Open obligations are told, in words, until they are met."""
    played = opened("G(done(refund) -> X F done(mail))")
    assert played.session.pending() == ()
    played("refund")
    (open_one,) = played.session.pending()
    assert open_one.contract == "rule 0"
    assert "done(mail)" in open_one.message
    played("mail")
    assert played.session.pending() == ()


@requirement("S-END-02")
def test_what_is_open_at_the_end_is_unfulfilled() -> None:
    """`finish` returns what was still open; nothing of it is a violation."""
    played = opened("G(called(a) -> X called(b))", "F called(z)", "G !called(c)")
    assert played("a") == "."
    assert played.unfulfilled() == ["rule 0", "rule 1"]
    assert played.records[-1]["violations"] == []


@requirement("S-END-03")
def test_an_unsettled_call_is_read_whichever_way_violates() -> None:
    """Neither success nor failure of a call that never settled helps the agent."""
    for formula in (
        "G(called(a) -> done(a))",
        "G(called(a) -> failed(a))",
        "G(done(a) -> X called(b))",
    ):
        played = opened(formula)
        played("a?")
        assert played.unfulfilled() == ["rule 0"], formula
    played = opened("G(called(a) -> !failed(a))")
    played("a? b")
    assert played.unfulfilled() == ["rule 0"]


@requirement("S-END-04")
def test_finished_sessions_decide_nothing() -> None:
    """A finished session refuses to go on: that is a mistake of the host."""
    session = guarded("G !called(a)").session()
    session.finish()
    with pytest.raises(SessionError, match="finished"):
        session.decide("b")
    with pytest.raises(SessionError, match="finished"):
        session.message("user")


# --- residuals --------------------------------------------------------------------------------

OWING = [
    "G(called(a) -> X F called(b))",
    "G(called(a) -> X F[<=3] called(b))",
    "G(called(a) -> F[<=9s] called(b))",
    "G(called(a) -> X (called(c) W called(b)))",
    "G(called(a) -> X G[<=5] !called(b))",
    "G(called(a) -> F (called(b) & X F called(c)))",
]


@requirement("S-RESID-01")
@pytest.mark.parametrize("formula", OWING)
def test_residuals_do_not_grow(formula: str) -> None:
    """What is owed after 200 calls is no larger than after 20."""
    sizes = []
    for length in (20, 200):
        played = observed(formula)
        played("a c " * (length // 2))
        sizes.append(len(json.dumps(played.session.snapshot()["clauses"])))
    assert sizes[1] <= 1.3 * sizes[0] + 40


@requirement("S-RESID-01")
def test_what_another_demands_already_is_not_kept() -> None:
    """Of two bounds on the same formula the sooner one stays; strong next covers weak next."""
    for formula, literals in (
        ("G(called(a) -> X (F[<=3] called(b) & F[<=5] called(b)))", ["F"]),
        ("G(called(a) -> X (G[<=3] called(b) & G[<=5] called(b)))", ["G"]),
        ("G(called(a) -> X (X called(b) & WX called(b)))", ["X"]),
        ("G(called(a) -> X (F called(b) & (F called(b) | F called(c))))", ["X"]),
    ):
        played = observed(formula)
        played("a b" if "G[" in formula else "a d")
        (state,) = played.session._inner.ledger.states
        assert state.segment is not None
        assert [one[0] for each in state.segment.live for one in literals_of(each)] == literals


@pytest.mark.long
@requirement("S-RESID-02")
def test_too_many_alternatives_are_refused() -> None:
    """A formula that needs more alternatives than can be kept never lets a call through."""
    ways = [either(one(("F", f"a{n}", 1)), one(("F", f"b{n}", 1))) for n in range(10)]
    with pytest.raises(ContractError, match="too many alternatives"):
        functools.reduce(both, ways)
    wide = " & ".join(f"(F called(a{n}) | X G !called(b{n}))" for n in range(10))
    with pytest.raises(ContractError, match="10 parts leaves 1024 ways to keep it; write a guar"):
        guarded(f"G(called(go) -> ({wide}))")


# --- keyed clauses ----------------------------------------------------------------------------


@requirement("S-KEY-01")
def test_each_value_has_its_own_monitor() -> None:
    """Once per order is once for each order; calls of one do not count in another."""
    played = opened(contract("c").guarantees(idempotent("pay", by=["order"])))
    assert played("pay(order=1) pay(order=2) pay(order=1) x pay(order=2)") == "..x.x"
    steps = Contract("s", (Rule(read("G(count[<=2](pay) <= 1)"), by=("k",)),))
    assert opened(steps)("pay(k=1) pay(k=2) pay(k=2) pay(k=1)") == "..xx"


@requirement("S-KEY-02")
def test_keys_are_compared_as_they_read() -> None:
    """`1` is `1.0`, `"1"` and `[1]`, and not `true`; `@agent` is who calls."""
    played = opened(contract("c").guarantees(idempotent("pay", by=["order"])))
    assert (
        played('pay(order=1) pay(order=1.0) pay(order=true) pay(order="1") pay(order=[1])')
        == ".x.xx"
    )
    agents = opened(contract("c").guarantees(segregation_of_duty("review", "approve")))
    assert agents("review@ann approve@bob approve@ann") == "..x"


@requirement("S-KEY-03")
def test_a_call_without_its_key_violates() -> None:
    """What the clause restricts needs the values; what it does not mention passes without."""
    played = opened(contract("c").guarantees(idempotent("pay", by=["order"])))
    assert played("pay other pay(order=1)") == "x.."


@requirement("S-KEY-04")
def test_a_full_memory_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value too many violates; the values that are remembered keep their state."""
    from sponsio_like.engine import ledger

    monkeypatch.setattr(ledger, "KEYS_CAP", 2)
    played = opened(contract("c").guarantees(idempotent("pay", by=["order"])))
    assert played("pay(order=1) pay(order=2) pay(order=3) pay(order=1) other(order=4)") == "..xx."


def test_a_violated_verdict_stays_under_scopes_and_assumptions() -> None:
    """What was violated once stays violated, whatever follows."""
    never = {"ltl": "G(called(b) -> Y O called(a))"}
    for each in (
        contract("c").assume({"ltl": "O called(open)"}).guarantees(never),
        contract("c").after({"ltl": "called(open)"}).guarantees(never),
    ):
        played = observed(each)
        played("open b")
        assert played.verdict() == "violated"
        played("a b b")
        assert played.verdict() == "violated"
