"""The oracle over a session: what is reported at which event, scopes, and the bridge to it."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from sponsio_like.logic import formula as f
from tests.reference import bridge
from tests.reference.oracle import (
    Event,
    Formula,
    call,
    holds,
    kinds,
    message,
    positions,
    settle,
    tick,
)
from tests.reference.oracle_runs import Scope, run, run_scoped, segments, verdict, would_violate
from tests.reference.test_oracle import (
    ATOMS,
    DONE,
    FAILED,
    NOT_A,
    NOT_B,
    A,
    B,
    C,
    calls,
    some_events,
    some_formula,
)

RESPONSE = ("G", ("implies", A, ("F", B)))
PRECEDENCE = ("G", ("implies", B, ("Y", ("O", DONE))))


def reports(g: Formula, events: Sequence[Event]) -> list[tuple[int, str]]:
    return [(report.moment, report.reason) for report in run(g, events).reports]


# --- instances ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("g", "trace", "moments"),
    [
        (("G", NOT_A), "abaa", [0, 2, 3]),
        (("F", ("and", A, B)), "abaa", [0]),
        (("W", NOT_A, B), "aaba", [0, 1]),
        (("U", NOT_A, B), "aaba", [0, 1]),
        (("R", A, B), "bcabc", [1, 2]),
        (("G", ("implies", A, ("X", B))), "aab", [1]),
        (("G", ("implies", A, ("X", B))), "acac", [1, 3]),
        (("G", ("implies", A, ("X", ("F", B, ("steps", 1))))), "acccacbacc", [2, 9]),
        (("G", ("G", NOT_A)), "ababa", [0, 2, 4]),
        (("and", ("G", NOT_A), ("G", NOT_B)), "abc", [0, 1]),
        (("and", ("G", NOT_A), ("G", ("not", A))), "a", [0]),
        (("and", NOT_A, ("X", NOT_A)), "aa", [0]),
        (("not", ("F", A)), "aa", [0]),
    ],
    ids=str,
)
def test_each_violation_is_reported_once(g: Formula, trace: str, moments: list[int]) -> None:
    """An instance is violated at the first step after which nothing can satisfy it, and dropped."""
    assert reports(g, calls(trace)) == [(moment, "instance") for moment in moments]


def test_what_is_lost_only_together_is_reported() -> None:
    """When the live instances cannot all be satisfied, though each could, that is one violation."""
    g = ("and", RESPONSE, ("G", ("implies", C, ("G", NOT_B))))
    assert reports(g, calls("ac")) == [(1, "joint")]
    assert reports(g, calls("acdd")) == [(1, "joint")]
    assert reports(g, calls("aca")) == [(1, "joint")]


def test_what_is_lost_together_is_reported_again_when_it_had_been_regained() -> None:
    """After a loss together the next such report waits until all could be satisfied again."""
    g = ("and", RESPONSE, ("G", ("implies", C, ("G", NOT_B))))
    assert reports(g, calls("acbac")) == [(1, "joint"), (2, "instance"), (4, "joint")]


def test_positions_to_come_count_among_what_is_lost_together() -> None:
    """The conjuncts `G` bind the positions that a live instance still needs."""
    assert reports(("and", ("G", ("implies", A, ("X", ("F", B)))), ("G", NOT_B)), calls("ca")) == [
        (1, "joint")
    ]
    assert reports(("G", ("X", A)), calls("aab")) == [(0, "joint"), (2, "instance")]


def test_a_late_result_reveals_a_violation_at_its_call() -> None:
    """A settlement that violates is reported then, for the position of the call that settled."""
    events = [call("a"), call("b"), settle(0, "failed"), call("b")]
    (report,) = run(("G", ("not", FAILED)), events).reports
    assert (report.moment, report.position, report.reason) == (2, 0, "instance")
    assert report.instances == ((("not", FAILED), 0),)


def test_a_late_result_revises_no_decision() -> None:
    """A call that came before the result of its prerequisite stays a violation, only that one."""
    events = [call("a"), call("b"), settle(0, "done"), call("b")]
    assert reports(PRECEDENCE, events) == [(1, "instance")]
    assert [report.position for report in run(PRECEDENCE, events).reports] == [1]


def test_a_late_result_opens_and_meets_obligations() -> None:
    """An obligation begins or ends with the result that its formula waits for."""
    g = ("G", ("implies", DONE, ("X", ("F", ("done", "b")))))
    events = [call("a"), call("b"), settle(0, "done"), settle(1, "done")]
    assert [bool(run(g, events[:n]).unfulfilled) for n in range(5)] == [0, 1, 1, 1, 0]


def test_time_that_ran_out_is_reported_at_the_next_event() -> None:
    """An obligation that expired between events is reported then and is not that event's fault."""
    g = ("G", ("implies", A, ("F", B, ("seconds", 5))))
    events = [call("a", time=0), call("c", time=5)]
    assert reports(g, events) == []
    assert not would_violate(g, events, call("b", time=5))
    assert not would_violate(g, events, call("c", time=6))
    (report,) = run(g, [*events, tick(6), tick(7)]).reports
    assert (report.moment, report.position, report.expired) == (2, None, True)


def test_one_step_makes_one_report() -> None:
    """All instances that one step violates are in one report; expiry is a step of its own."""
    g = ("and", ("G", ("implies", A, ("F", B, ("seconds", 5)))), ("G", ("not", C)))
    events = [call("a", time=0), call("a", time=1), call("c", time=9)]
    found = run(g, events).reports
    assert [(r.moment, r.expired, len(r.instances)) for r in found] == [(2, True, 2), (2, False, 1)]


def test_a_decision_asks_whether_the_call_itself_violates() -> None:
    """A call is judged in flight, by the live instances, also after violations let through."""
    assert would_violate(PRECEDENCE, [call("a")], call("b"))
    assert not would_violate(PRECEDENCE, [call("a"), settle(0, "done")], call("b"))
    assert would_violate(PRECEDENCE, [call("a"), settle(0, "failed")], call("b"))
    assert would_violate(("G", NOT_A), calls("a"), call("a"))
    assert not would_violate(("F", ("and", A, B)), calls("a"), call("a"))
    assert not would_violate(("G", ("not", FAILED)), [], call("a"))


def test_what_is_open_at_the_end_is_unfulfilled() -> None:
    """Live instances that are false at the end are unfulfilled; violated ones are not, again."""
    assert [i for _, i in run(RESPONSE, calls("acba")).unfulfilled] == [3]
    assert [i for _, i in run(RESPONSE, calls("aca")).unfulfilled] == [0, 2]
    assert run(RESPONSE, calls("ab")).unfulfilled == ()
    assert run(("G", NOT_A), calls("a")).unfulfilled == ()
    assert run(("F", A), []).unfulfilled == ((("and", ("F", A)), 0),)


def test_at_the_end_an_unsettled_call_is_read_whichever_way_violates() -> None:
    """A call without a result may have been done, and may have failed."""
    assert len(run(("F", DONE), calls("a")).unfulfilled) == 1
    assert len(run(("G", ("not", DONE)), calls("a")).unfulfilled) == 1
    assert run(("F", ("or", DONE, FAILED)), calls("a")).unfulfilled == ()


def test_verdicts_latch() -> None:
    """A verdict once given stays; it turns violated with the first report, or was so at first."""
    rng = random.Random(4)
    for _ in range(150):
        g = some_formula(rng, 3, [A, B, *ATOMS], past=False)
        events = some_events(rng, 4)
        found = run(g, events)
        changes = [v for v, w in zip(found.verdicts, found.verdicts[1:], strict=False) if v != w]
        assert set(changes) <= {"inconclusive"}, (g, events)
        assert found.verdicts[-1] == verdict(g, events)
        if found.verdicts[0] != "violated":
            first = found.reports[0].moment + 1 if found.reports else len(events) + 1
            assert "violated" not in found.verdicts[:first]
            assert set(found.verdicts[first:]) <= {"violated"}


def test_at_the_end_nothing_is_open_exactly_if_the_formula_holds() -> None:
    """With all settled and nothing violated, a formula holds if nothing is unfulfilled."""
    rng = random.Random(5)
    for _ in range(150):
        g = ("and", ("true",), some_formula(rng, 3, [A, B, *ATOMS], past=False))
        g = g if g[2][0] not in ("W", "U", "R") else ("or", *g[1:])
        events = [e for e in some_events(rng, 3) if e.kind == "call"]
        events = [x for n, e in enumerate(events) for x in (e, settle(2 * n, "done"))]
        found = run(g, events)
        whole = holds(g, positions(events, kinds(g)), 0)
        assert whole == (not found.reports and not found.unfulfilled), (g, events)


# --- scopes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "trace", "expected"),
    [
        (("after", A), "bab", [(1, None)]),
        (("after", A), "bb", []),
        (("after", A), "aba", [(0, None)]),
        (("before", A), "bba", [(0, 2)]),
        (("before", A), "bb", [(0, None)]),
        (("before", A), "abab", [(0, 0)]),
        (("between", A, B), "cacabcac", [(1, 4), (6, None)]),
        (("after_until", A, B), "bbacb", [(2, 4)]),
        (("between", A, A), "acacb", [(0, 2), (2, None)]),
    ],
    ids=str,
)
def test_where_a_scope_is_in_force(
    scope: Scope, trace: str, expected: list[tuple[int, int | None]]
) -> None:
    """A segment includes the position that begins it and excludes the one that ends it."""
    assert segments(scope, calls(trace)) == expected


def scoped(g: Formula, scope: Scope, trace: str) -> tuple[list[tuple[int, str]], int]:
    runs = run_scoped(g, scope, calls(trace))
    found = [(report.moment, report.reason) for each in runs for report in each.reports]
    return found, sum(len(each.unfulfilled) for each in runs)


@pytest.mark.parametrize(
    ("g", "scope", "trace", "moments", "unfulfilled"),
    [
        (("G", NOT_A), ("after", C), "acaa", [2, 3], 0),
        (("G", NOT_A), ("before", C), "aaca", [0, 1], 0),
        (("G", NOT_A), ("before", C), "caa", [], 0),
        (("G", NOT_A), ("before", C), "aa", [0, 1], 0),
        (("F", A), ("before", C), "bca", [1], 0),
        (("F", A), ("before", C), "bb", [], 0),
        (("F", A), ("after", C), "acb", [], 1),
        (("F", A), ("between", C, ("called", "d")), "cbdcad", [2], 0),
        (("F", A), ("between", C, ("called", "d")), "cb", [], 0),
        (("F", A), ("after_until", C, ("called", "d")), "cb", [], 1),
        (("G", NOT_A), ("between", C, ("called", "d")), "acadaca", [2, 6], 0),
        (("compare", ("count", A, None, None), "<=", ("number", 1)), ("after", C), "aca", [], 0),
        (
            ("G", ("compare", ("count", A, None, None), "<=", ("number", 1))),
            ("between", C, ("called", "d")),
            "cadcaadca",
            [5],
            0,
        ),
        (("G", ("implies", A, ("Y", ("O", B)))), ("after", C), "bcaba", [2], 0),
    ],
    ids=str,
)
def test_a_guarantee_within_a_scope(
    g: Formula, scope: Scope, trace: str, moments: list[int], unfulfilled: int
) -> None:
    """Each segment starts afresh; what is open where it ends fails there."""
    found, remains = scoped(g, scope, trace)
    assert ([moment for moment, _ in found], remains) == (moments, unfulfilled)


def test_a_segment_bounds_positions_of_other_kinds() -> None:
    """A scope may begin with a message though the guarantee speaks of calls."""
    events = [call("a"), message("user"), call("a"), message("user"), call("b")]
    scope = ("between", ("message", "user"), ("message", "user"))
    assert [len(each.reports) for each in run_scoped(("G", NOT_A), scope, events)] == [1, 0]


def test_a_closed_segment_waits_for_its_results() -> None:
    """What depends on a call in flight where the segment ends is decided when it settles."""
    scope = ("between", C, ("called", "d"))
    events = [call("c"), call("a"), call("d"), call("b"), settle(1, "failed")]
    (found,) = run_scoped(("F", DONE), scope, events)
    assert [report.moment for report in found.reports] == [4]
    (found,) = run_scoped(("F", DONE), scope, events[:-1])
    assert (len(found.reports), len(found.unfulfilled)) == (0, 1)


# --- the bridge -----------------------------------------------------------------------------------


def target(*names: str, conditions: tuple[f.Condition, ...] = ()) -> f.Target:
    return (f.Match(names=names, conditions=conditions),)


PAY = f.Happens("called", target("pay"))
CHECK = f.Happens("done", target("check"))
RESULTS = ("delivered", ("called", "pay"))


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (f.TRUE, ("true",)),
        (PAY, ("called", "pay")),
        (f.Happens("done", target("a", "b")), ("or", ("done", "a"), ("done", "b"))),
        (f.Happens("called", (f.Match(globs=("*",)),)), ("called", "*")),
        (
            f.Happens("failed", (*target("a"), *target("b"))),
            ("or", ("failed", "a"), ("failed", "b")),
        ),
        (f.ByAgent("x"), ("and", ("called", "*"), ("prop", "agent||=|'x'"))),
        (f.TextMatches("x"), ("and", ("message", "*"), ("prop", "text||matches|'x'"))),
        (f.MessageBy("user"), ("message", "user")),
        (f.Observed("p"), ("step", "p")),
        (f.OutputIs("id", ">", 3), ("output", "output|id|>|3")),
        (f.Until(f.Not(PAY), CHECK), ("U", ("not", ("called", "pay")), ("done", "check"))),
        (
            f.And((PAY, CHECK, PAY)),
            ("and", ("called", "pay"), ("done", "check"), ("called", "pay")),
        ),
        (f.Eventually(PAY, f.Steps(3)), ("F", ("called", "pay"), ("steps", 3))),
        (f.Once(PAY, f.Seconds(60)), ("O", ("called", "pay"), ("seconds", 60))),
        (f.WeakYesterday(f.Historically(PAY)), ("WY", ("H", ("called", "pay")))),
        (f.Arg("n") <= 3, ("prop", "arg|n|<=|3", "call")),
        (f.Ctx("k").equals("v"), ("prop", "ctx|k|=|'v'")),
        (f.term(1) < 2, ("true",)),
        (
            f.Count(PAY, CHECK, f.Steps(5)) < 3,
            (
                "compare",
                ("count", ("called", "pay"), ("done", "check"), ("steps", 5)),
                "<",
                ("number", 3),
            ),
        ),
        (
            f.Sum(target("pay"), "n") >= f.Arg("n"),
            ("compare", ("sum", ("called", "pay"), "n", None), ">=", ("arg", "n")),
        ),
        (f.Age(PAY) > 5, ("compare", ("age", ("called", "pay")), ">", ("number", 5))),
        (
            f.Delivered(target("pay")).equals(f.Last(f.Delivered(target("pay")), CHECK)),
            ("compare", RESULTS, "=", ("last", RESULTS, ("done", "check"))),
        ),
        (
            f.Mark("n").equals(f.Last(f.Mark("n"), PAY)),
            ("compare", ("mark", "n"), "=", ("last", ("mark", "n"), ("called", "pay"))),
        ),
        (f.FactAge("k") <= 60, ("compare", ("fact age", "k"), "<=", ("number", 60))),
        (
            f.ApprovalAge("pay", "boss") <= 60,
            ("compare", ("approval age", "pay", "boss"), "<=", ("number", 60)),
        ),
    ],
    ids=repr,
)
def test_the_bridge_translates(node: f.Formula, expected: Formula) -> None:
    """Every formula of the engine has one translation for the oracle."""
    assert bridge.translate(node) == expected


def test_the_bridge_refuses_what_it_cannot_say() -> None:
    """A glob needs the list of tools; fuzzy repetition and marks inside values are not known."""
    glob = f.Happens("called", (f.Match(globs=("pay_*",)),))
    with pytest.raises(ValueError, match="glob"):
        bridge.translate(glob)
    assert bridge.translate(glob, ("pay_a", "x", "pay_b")) == (
        "or",
        ("called", "pay_a"),
        ("called", "pay_b"),
    )
    with pytest.raises(ValueError, match="Mark"):
        bridge.translate(f.Mark("a.b").equals(f.Last(f.Mark("a.b"), PAY)))
    with pytest.raises(ValueError, match="marks"):
        bridge.translate(f.Mark("a") < f.Last(f.Mark("a"), PAY))
    with pytest.raises(ValueError, match="Repeats"):
        bridge.translate(f.Repeats(target("pay"), "fuzzy") > 2)


def test_the_facts_of_an_event() -> None:
    """A condition holds, does not hold, or cannot be made, which is a fact of its own."""
    conditions = (
        f.Condition("n", ">", 3),
        f.Condition("who.name", "=", "bob"),
        f.Condition("n", "in", (1, 2)),
        f.Condition("missing", "=", 1),
        f.Condition("who", "<", 1),
    )
    g = bridge.translate(f.Happens("called", target("pay", conditions=conditions)))
    true, unknown = bridge.facts(g, {"arg": {"n": 5, "who": {"name": "bob"}}})
    assert true == {"arg|n|>|3", "arg|who.name|=|'bob'"}
    assert unknown == {"arg|who|<|1"}


@pytest.mark.parametrize(
    ("left", "op", "right", "expected"),
    [
        (1, "=", 1.0, True),
        (True, "=", 1, False),
        (True, "!=", 1, True),
        ("a", "<", "b", True),
        ("a", "<", 1, None),
        (True, "<", 2, None),
        (2, "in", (1, 2), True),
        ("xay", "matches", "a", True),
        (1, "matches", "a", None),
        ("1", "=", 1, None),
    ],
)
def test_scalars_compare_as_json(
    left: object, op: str, right: object, expected: bool | None
) -> None:
    """`1` is `1.0`, `true` is not `1`, and only like is greater or less than like."""
    assert bridge.compare(left, op, right) is expected
