"""Inputs, facts, atoms, terms and comparisons (docs/semantics.md, sections 5 to 8)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

from sponsio_like.contracts.definition import contract
from sponsio_like.errors import ContractError, InputMissing, SessionError
from sponsio_like.event_types import Call
from sponsio_like.events import registry
from sponsio_like.outcome import Allowed, Blocked
from sponsio_like.syntax import read
from tests.semantics.manifest import requirement
from tests.support.play import guarded, opened

# --- inputs -----------------------------------------------------------------------------------

NEEDS = [
    ("G(called(a) -> Y O done(b))", "results"),
    ("G !failed(a)", "results"),
    ("G !output = no", "results"),
    ('G !text matches "x"', "messages"),
    ("G !message(user)", "messages"),
    ("G(called(a) -> tokens() < 5)", "usage"),
    ('G(called(a) -> agent = "bob")', "agents"),
    ("G !called(a, @agent = bob)", "agents"),
    ("G(called(a) -> depth() <= 3)", "depth"),
    ("G(called(a) -> ctx(k) = 1)", "facts"),
    ("G(called(a) -> permission(p))", "facts"),
    ("G(called(a) -> approved(a, boss))", "facts"),
    ("G(count[<=60s](a) <= 1)", "time"),
    ("G(called(a) -> age(b) > 5)", "time"),
    ("G(called(a) -> O[<=5s] called(b))", "time"),
    ("G(called(a) -> F called(b))", "finish"),
    ("(called(a) | called(b)) U called(c)", "finish"),
]
INPUTS = [
    "results",
    "messages",
    "usage",
    "agents",
    "depth",
    "facts",
    "time",
    "finish",
    "tool_names",
]


@requirement("S-INPUT-01")
@pytest.mark.parametrize(("formula", "needed"), NEEDS)
def test_missing_inputs_are_refused(formula: str, needed: str) -> None:
    """A contract whose input the session does not get is refused at once, and both are named."""
    guard = guarded(formula)
    with pytest.raises(InputMissing, match=f"`rule 0`.*{needed}"):
        guard.session(inputs=[each for each in INPUTS if each != needed])
    guard.session(inputs=["results", "messages", needed] if needed == "finish" else [needed])


@requirement("S-INPUT-02")
def test_unknown_inputs_are_refused() -> None:
    """An input that does not exist is a mistake of the host."""
    with pytest.raises(ContractError, match="unknown input `result`"):
        guarded("G !called(a)").session(inputs=["result"])


@requirement("S-INPUT-03")
def test_assumed_success_is_a_result() -> None:
    """A session that assumes success needs no results."""
    guard = guarded("G(called(a) -> Y O done(b))")
    assert guard.session(inputs=[], assume_success=True).pending() == ()


# --- facts ------------------------------------------------------------------------------------


@requirement("S-FACT-01")
def test_facts_are_visible_from_the_next_decision_on() -> None:
    """A fact counts for later decisions, and does not change what earlier positions were."""
    assert opened("G(called(pay) -> ctx(k) = 1)")("pay ctx:k=1 pay ctx:k=2 pay") == "x.x"
    was_open = "G(called(pay) -> Y (ctx(k) = 1))"
    assert opened(was_open)("ctx:k=1 a ctx:k=2 pay") == ".."
    assert opened(was_open)("ctx:k=2 a ctx:k=1 pay") == ".x"


@requirement("S-FACT-02")
def test_permissions_are_a_list_or_by_agent() -> None:
    """A list of permissions is everybody's, a map is by agent; the latest replaces the others."""
    session = guarded("G(called(pay) -> permission(p))").session()
    told: list[Any] = [["p"], ["q"], {"bob": ["p"]}, {"agent": ["p", "q"]}, {"agent": "p"}, []]
    answers = []
    for value in told:
        session.fact("permissions", value)
        answers.append(isinstance(session.decide("pay"), Allowed))
    assert answers == [True, False, False, True, False, False]


def approval(**changed: Any) -> dict[str, Any]:
    """An approval that stands, unless something is changed."""
    return {"action": "pay", "role": "boss", "decision": "approve", "by": "ann", **changed}


@requirement("S-FACT-03")
@pytest.mark.parametrize(
    "changed",
    [
        {"decision": "disapprove"},
        {"decision": "denied"},
        {"revoked": True},
        {"action": "refund"},
        {"role": "clerk"},
    ],
)
def test_only_exact_approvals_stand(changed: dict[str, Any]) -> None:
    """An approval stands if its decision is exactly `approve`, for that action and role."""
    session = guarded("G(called(pay) -> approved(pay, boss))").session()
    session.fact("approval", approval(**changed))
    assert isinstance(session.decide("pay"), Blocked)
    session.fact("approval", approval())
    assert isinstance(session.decide("pay"), Allowed)


@requirement("S-FACT-03")
def test_newer_approvals_replace_those_of_the_same_person() -> None:
    """Who approved can revoke; an approval by somebody else still stands."""
    session = guarded("G(called(pay) -> approved(pay, boss))").session()
    session.fact("approval", approval())
    session.fact("approval", approval(by="bob"))
    session.fact("approval", approval(revoked=True))
    assert isinstance(session.decide("pay"), Allowed)
    session.fact("approval", approval(by="bob", revoked=True))
    assert isinstance(session.decide("pay"), Blocked)


@requirement("S-FACT-05")
@pytest.mark.parametrize(
    ("key", "value"),
    [("permissions", "p"), ("approval", "yes"), ("approval", {"action": "pay"}), (5, 5)],
)
def test_facts_that_mean_nothing_are_refused(key: Any, value: Any) -> None:
    """A fact that could never be understood is a mistake of the host, and told at once."""
    session = guarded("G !called(a)").session()
    with pytest.raises(SessionError):
        session.fact(key, value)
    with pytest.raises(SessionError):
        session.message("user", usage={"total_tokens": -1})


@requirement("S-FACT-04")
def test_other_facts_are_context() -> None:
    """The latest value of a key is its context; values keep their type."""
    played = opened("G(called(pay) -> ctx(ok) = true)")
    assert played('pay ctx:ok="true" pay ctx:ok=1 pay ctx:ok=true pay') == "xxx."


# --- atoms ------------------------------------------------------------------------------------


@requirement("S-ATOM-01")
@pytest.mark.parametrize("tool", ["Pay", "pay ", "mcp__x__pay", "pay2", ""])
def test_tools_are_named_exactly(tool: str) -> None:
    """Case counts, and a prefix is part of the name."""
    session = guarded("G called(pay)").session()
    assert isinstance(session.decide(tool), Blocked)
    assert isinstance(session.decide("pay"), Allowed)


@requirement("S-ATOM-02")
def test_globs_are_held_against_the_full_name() -> None:
    """`pay_*` is no `xpay_a`, and `Pay_a` is not of it either."""
    assert opened("G !called(pay_*)")("pay pay_a xpay_a Pay_a pay_") == ".x..x"
    assert opened('G !called("p[ab]?")')("pa pax pcx pbxx") == ".x.."
    assert opened('G !called(="p*")')("px") == "."


@requirement("S-ATOM-03")
def test_targets_are_alternatives_of_conditions() -> None:
    """All conditions of one alternative have to agree; any alternative will do."""
    played = opened("G !called(pay, n > 5, to = bob; refund, @agent = eve)")
    assert played("pay(n=6, to=al) pay(n=5, to=bob) pay(n=6, to=bob)") == "..x"
    assert played("refund refund@eve pay(n=6, to=bob)@eve") == ".xx"
    assert opened("G !called([pay, refund], n > 5)")("pay(n=6) refund(n=6) x(n=6)") == "xx."


@requirement("S-ATOM-04")
def test_paths_lead_through_objects_and_lists() -> None:
    """A condition holds if some value at its path agrees."""
    eve = opened("G !called(pay, customer.name = eve)")
    assert eve('pay(customer={"name":"al"}) pay(customer={"name":"eve"})') == ".x"
    sku = opened("G !called(pay, items[].sku = 7)")
    assert sku('pay(items=[{"sku":1},{"sku":7}]) pay(items=[{"sku":1}])') == "x."
    session = guarded('G !called(pay, "a.b" = 1)').session()
    assert isinstance(session.decide("pay", {"a.b": 1, "a": {"b": 2}}), Blocked)
    assert isinstance(session.decide("pay", {"a.b": 2, "a": {"b": 1}}), Blocked)
    assert isinstance(session.decide("pay", {"a.b": 2}), Allowed)


@requirement("S-ATOM-05")
def test_outputs_are_compared() -> None:
    """An output atom holds where the tool answered so, or failed with such a text."""
    assert opened('G !output matches "denied"')("a=granted a=denied") == ".r"
    assert opened("G !output.n > 5")('a={"n":6} a={"n":5}') == "r."
    assert opened('G !output matches "boom"')('a? error:a="boom boom"') == ".r"
    assert (
        opened("G(called(pay) -> Y O output.ok = true)")('a={"ok":false} pay a={"ok":true} pay')
        == ".x.."
    )


@requirement("S-ATOM-06")
def test_agents_are_who_decides() -> None:
    """`agent` and `@agent` are the agent that was given to `decide`."""
    assert opened('G(called(pay) -> agent = "bob")')("pay pay@eve pay@bob") == "xx."
    assert opened("G !called(pay, @agent = eve)")("pay pay@eve") == ".x"


@requirement("S-ATOM-07")
def test_message_atoms_hold_of_messages() -> None:
    """A call is no message, of any role, and has no text."""
    assert opened("G(called(a) | message(user))")("a msg:user=x msg:tool=x") == "..w"
    assert opened("G(called(a) -> WX message(*))")("a msg:user=x a a") == "...x"
    assert opened('G(called(a) -> X !text matches "a")')('a b a msg:user="a"') == "...w"


@requirement("S-ATOM-08")
def test_permissions_are_those_of_the_calling_agent() -> None:
    """Another agent's permission does not help."""
    session = guarded("G(called(pay) -> permission(p))").session()
    session.fact("permissions", {"bob": ["p"]})
    assert isinstance(session.decide("pay", agent="eve"), Blocked)
    assert isinstance(session.decide("pay", agent="bob"), Allowed)


@requirement("S-ATOM-09")
def test_step_atoms_hold_at_plain_steps() -> None:
    """A plain step has the atoms that it was told, and no others."""
    session = guarded("G(step(alarm) -> step(door))", mode="observe").session()
    told: list[list[str]] = [["door"], [], ["alarm", "door"], ["alarm"]]
    assert [len(session.step(names)) for names in told] == [0, 0, 0, 1]


@pytest.fixture
def registered() -> Iterator[list[str]]:
    """Atoms of a user, registered for one test; the list is what they were asked."""
    before, asked = dict(registry.CUSTOM), []

    @registry.atom("is_odd")
    def _(call: Call, context: Any, path: str) -> bool | None:
        asked.append(path)
        value = call.args.get(path)
        return value % 2 == 1 if isinstance(value, int) else None

    @registry.atom("answered", waits=True)
    def _(tool: str, result: Any, wanted: str) -> bool | None:
        return bool(result.output == wanted)

    yield asked
    registry.CUSTOM.clear()
    registry.CUSTOM.update(before)


@requirement("S-ATOM-10")
def test_users_register_atoms(registered: list[str]) -> None:
    """A registered atom is used by name; what it cannot tell violates; one may wait for results."""
    assert opened('G(called(pay) -> is_odd("n"))')("pay(n=3) pay(n=2) pay(n=x) a(n=2)") == ".xx."
    assert set(registered) == {"n"}
    assert opened('G !answered("no")')("a=yes a=no") == ".r"
    assert opened('G(called(pay) -> Y O answered("yes"))')("a? pay ok:a=yes pay") == ".x.."


@requirement("S-ATOM-11")
def test_past_positions_keep_their_own_facts() -> None:
    """Under a past operator arguments, agent and context are those of that position."""
    assert (
        opened("G(called(pay) -> Y called(a, n = 1))")("a(n=1) pay(n=2) a(n=2) pay(n=1)") == "...x"
    )
    assert opened('G(called(pay) -> Y agent = "bob")')("a@bob pay@eve pay@bob") == "..x"
    assert opened("G(called(pay) -> Y ctx(k) = 1)")("ctx:k=1 a ctx:k=2 pay") == ".."


# --- terms ------------------------------------------------------------------------------------


@requirement("S-TERM-01")
def test_counts_and_sums_include_the_present_call() -> None:
    """The call being decided counts, whatever will become of it, and so do all before it."""
    assert opened("G(count(pay) <= 2)")("pay! pay? pay ok:pay") == "..x."
    assert opened("G(sum(pay, n) <= 10)")("pay(n=6)! pay(n=4) pay(n=1) pay(n=0)") == "..x."
    assert opened("G(sum(pay, n) <= 10)")("pay(n=11) refund(n=99)") == "x."


@requirement("S-TERM-02")
def test_a_reset_sets_a_count_to_zero() -> None:
    """What is counted begins anew after the reset, which does not count itself."""
    assert opened("G(count(pay since login) <= 1)")("pay pay login pay pay") == ".x..x"
    played = opened("G(count(called(*) since login) <= 2)")
    assert played("a b c login a b c") == "..x...x"


@requirement("S-TERM-03")
def test_sums_are_exact() -> None:
    """0.1 + 0.2 is 0.3, and no rounding lets a call through or stops it."""
    assert opened("G(sum(pay, n) <= 0.3)")("pay(n=0.1) pay(n=0.2)") == ".."
    played = opened("G(sum(pay, n) <= 9007199254740992)")
    assert played("pay(n=9007199254740992) pay(n=1)") == ".x"


@requirement("S-TERM-04")
def test_what_never_happened_is_infinitely_long_ago() -> None:
    """`since` and `age` of what never happened are greater than every number, on either side."""
    assert opened("G(called(pay) -> age(done(a)) <= 60)")("pay a pay +61s pay") == "x..x"
    assert opened("G(called(pay) -> age(done(a)) > 60)")("pay a pay +61s pay") == "..x."
    assert opened("G(called(pay) -> 60 < age(done(a)))")("pay a pay +61s pay") == "..x."
    assert opened("G(called(pay) -> since(a) <= 2)")("pay a b pay pay") == "x...x"
    assert opened("G(called(pay) -> 2 < since(a))")("pay a b pay") == "...x"


@requirement("S-TERM-05")
def test_repeats_are_runs_of_similar_calls() -> None:
    """Another tool or other arguments end a run; `fuzzy` compares words."""
    runs = opened("G(repeats(get) <= 2)")
    assert runs("get(q=1) get(q=1.0) get(q=1) get(q=2) get(q=1) get(q=1) get(q=1)") == "..x...x"
    assert opened("G(repeats(get) <= 2)")("get get other get get") == "....."
    words = " ".join(map(str, range(30)))
    fuzzy = opened("G(repeats(get, fuzzy) <= 1)")
    assert fuzzy(f'get(q="{words} x") get(q="{words} y") get(q="all new")') == ".x."
    assert opened("G(repeats(*, fuzzy) <= 1)")(f'get(q="{words}") put(q="{words}")') == ".."


@requirement("S-TERM-05")
def test_words_are_parted_by_the_ends_of_lines_too() -> None:
    """A text and the same text in lines have the same words; what cannot be read repeats itself."""
    session = guarded("G(repeats(get, fuzzy) <= 1)").session()
    words = [str(n) for n in range(30)]
    assert isinstance(session.decide("get", {"q": " ".join(words)}), Allowed)
    assert isinstance(session.decide("get", {"q": "\n".join(words)}), Blocked)
    assert isinstance(session.decide("get", {"q": b"\xfe"}), Allowed)
    assert isinstance(session.decide("get", {"q": b"\xff"}), Blocked)


@requirement("S-TERM-06")
def test_tokens_are_those_of_messages() -> None:
    """Tokens are summed over the usage of all messages."""
    session = guarded("G(called(a) -> tokens() < 100)").session()
    session.message("assistant", usage={"total_tokens": 60})
    assert isinstance(session.decide("a"), Allowed)
    session.message("user", usage={"total_tokens": 40})
    assert isinstance(session.decide("a"), Blocked)


@requirement("S-TERM-06")
def test_depth_and_arguments_are_those_of_the_call() -> None:
    """`depth()` is what was given to `decide`, and arguments can be compared with the context."""
    session = guarded("G(called(*) -> depth() <= 1)").session()
    assert isinstance(session.decide("a", depth=1), Allowed)
    assert isinstance(session.decide("a", depth=2), Blocked)
    assert (
        opened("G(called(pay) -> arg(n) <= ctx(limit))")("pay(n=1) ctx:limit=5 pay(n=5) pay(n=6)")
        == "x.x"
    )


@requirement("S-TERM-07")
def test_windows_are_capped() -> None:
    """A window whose limit is larger than what can be remembered is refused when loaded."""
    guarded("G(count[<=60s](a) <= 9000)")
    with pytest.raises(ContractError, match="too large"):
        guarded("G(count[<=60s](a) <= 20000)")
    played = opened("G(count[<=60s](a) <= 3)")
    assert played("+0s a +0s a +0s a +0s a") == "...x"


# --- comparisons ------------------------------------------------------------------------------


@requirement("S-CMP-01")
def test_values_are_equal_as_json() -> None:
    """`1` is `1.0`, `true` is not `1`, and strings are equal in Unicode NFC."""
    assert opened("G !called(a, v = 1)")("a(v=1) a(v=1.0) a(v=true) a(v=2)") == "xx.."
    assert opened("G !called(a, v = true)")('a(v=1) a(v=true) a(v="yes")') == ".x."
    assert opened('G !called(a, v = "\u00e9")')('a(v="e\u0301") a(v="e")') == "x."
    assert opened("G !called(a, v in [1, null])")("a(v=null) a(v=1.0) a(v=false)") == "xx."
    assert opened("G !called(a, v != 1)")("a(v=1.0) a(v=2)") == ".x"
    assert (
        opened("G(arg(v) = arg(w))")('a(v={"x":1,"y":2},w={"y":2,"x":1.0}) a(v=[1],w=[2])') == ".x"
    )


@requirement("S-CMP-02")
def test_order_is_among_numbers_and_among_strings() -> None:
    """A number and a string, or a truth value, have no order: the comparison cannot be made."""
    small = opened("G(called(a) -> arg(v) < 5)")
    assert small('a(v=4) a(v=5) a(v="4") a(v=true) a(v={})') == ".xxxx"
    assert opened('G(called(a) -> arg(v) < "b")')('a(v="a") a(v="b") a(v=1)') == ".xx"


@requirement("S-CMP-03")
def test_regular_expressions_are_searched() -> None:
    """`matches` finds its expression anywhere in a string, and nothing in a number."""
    played = opened('G(called(a) -> arg(v) matches "b+$")')
    assert played('a(v="abb") a(v="bba") a(v=5)') == ".xx"


@requirement("S-CMP-04")
def test_comparisons_that_cannot_be_made_violate() -> None:
    """Of another type, too long: each occurrence has the answer that violates."""
    for formula in (
        "G(called(a) -> arg(v) <= 5)",
        "G(called(a) -> !(arg(v) > 5))",
        "G(called(a) -> arg(v) <= 5 & !(arg(v) > 5))",
        "G !called(a, v > 5)",
        "G(called(a) <-> called(a, v <= 5))",
        'G(called(a) -> !arg(v) matches "x")',
    ):
        assert opened(formula)("a(v=[{}]) a(v={}) b(v=9)") == "xx.", formula
    assert opened("G !called(a, v.n = 5)")('a(v=1) a(v="{}") a(v={"n":{}}) a(v={})') == "xxx."
    long = {"v": "y" * (64 * 1024 + 1)}
    session = guarded('G(called(a) -> !arg(v) matches "x")').session()
    assert isinstance(session.decide("a", long), Blocked)
    assert isinstance(session.decide("a", {"v": long["v"][1:]}), Allowed)


@requirement("S-CMP-04")
def test_an_object_cannot_be_compared_with_what_is_none() -> None:
    """Neither equal nor unequal to a text, nor among texts, whichever side it stands on."""
    banned = opened("G(called(pay) -> !(arg(to) in ctx(banned)))")
    assert banned('ctx:banned=["eve"] pay(to="eve") pay(to={"name":"eve"}) pay(to="bob")') == "xx."
    assert banned('pay(to=[{"name":"eve"}]) pay(to=["bob"]) pay(to=null)') == "x.."
    known = opened("G(called(pay) -> arg(to) in ctx(known))")
    told = 'ctx:known=[{"id":1},{"id":2}] pay(to={"id":1.0}) pay(to={"id":3}) pay(to=1)'
    assert known(told) == ".xx"
    among = opened('G(called(send) -> !("eve" in arg(to)))')
    assert among('send(to=["bob"]) send(to=["eve"]) send(to=[{"name":"eve"}])') == ".xx"
    for comparison in ('ctx(tier) != "free"', '!(ctx(tier) = "free")', '!(ctx(tier) in ["free"])'):
        told = 'ctx:tier="paid" pay ctx:tier="free" pay ctx:tier={"name":"free"} pay'
        assert opened(f"G(called(pay) -> {comparison})")(told) == ".xx", comparison


@requirement("S-CMP-04")
def test_what_cannot_be_told_of_outputs_violates() -> None:
    """What stands in an output and cannot be compared is the worst it can be."""
    assert opened("G(called(pay) -> Y O output.ok = true)")("a=yes pay") == ".x"
    assert opened("G !output.n > 5")('a={"n":"many"} a={"n":1}') == "r."
    assert opened("G !output.ok = false")('a={"ok":{}} a={"ok":[{}]}') == "rr"
    assert opened("G !output.ok = false")("a=yes a={} a") == "..."


@requirement("S-CMP-05")
def test_in_an_assumption_unknown_means_that_the_rule_applies() -> None:
    """A rule for amounts above 100 applies to an amount that cannot be read."""
    only_large = (
        contract("c")
        .assume(read("called(pay, n > 100)"))
        .guarantees(read("G(called(pay) -> Y O done(check))"))
    )
    assert opened(only_large)('pay(n=5) pay(n=500) pay(n="500") pay') == ".xx."
    quiet = (
        contract("c")
        .assume(read("!called(pay, n <= 100)"))
        .guarantees(read("G(called(pay) -> Y O done(check))"))
    )
    assert opened(quiet)('pay(n=5) pay(n="5") pay') == ".xx"


@requirement("S-CMP-06")
def test_what_cannot_be_added_violates_where_it_stands() -> None:
    """A missing amount is refused; if it is let through, it is not part of later sums."""
    total = "G(called(pay) -> sum(pay, n) <= 10)"
    assert opened(total)('pay pay(n="5") pay(n=NaN) pay(n=10) pay(n=1)') == "xxx.x"
    assert opened(total, guard={"mode": "observe"})("pay pay(n=10) pay(n=1)") == "w.w"


@requirement("S-CMP-07")
def test_nan_equals_nothing() -> None:
    """NaN is not even itself, and neither small nor large."""
    session = guarded("G(called(a) -> arg(v) = arg(v))").session()
    assert isinstance(session.decide("a", {"v": 1}), Allowed)
    assert isinstance(session.decide("a", {"v": math.nan}), Blocked)
    for formula in ("G(called(a) -> arg(v) < 5)", "G(called(a) -> !(arg(v) >= 5))"):
        assert isinstance(guarded(formula).session().decide("a", {"v": math.nan}), Blocked)
