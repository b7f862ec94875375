"""The oracle itself: every operator against a truth table written by hand, and the two searches."""

from __future__ import annotations

import ast
import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.reference.oracle import (
    PAST,
    Event,
    Formula,
    call,
    children,
    close,
    holds,
    kinds,
    message,
    positions,
    settle,
    step,
    tick,
    value,
)
from tests.reference.oracle_exact import possible
from tests.reference.oracle_runs import as_read, conjuncts, run, verdict
from tests.reference.oracle_search import Answers, Question, search
from tests.support.size import sized

A, B, C = ("called", "a"), ("called", "b"), ("called", "c")
DONE, FAILED = ("done", "a"), ("failed", "a")
CALLS = frozenset({"call"})


def calls(tools: str) -> list[Event]:
    """A call for each letter, none of which ever settles."""
    return [call(tool) for tool in tools]


def row(f: Formula, events: Sequence[Event]) -> str:
    """The truth of `f` at each position: `101`."""
    trace = positions(events, kinds(f))
    return "".join(str(int(holds(f, trace, i))) for i in range(len(trace)))


@pytest.mark.parametrize(
    ("f", "trace", "expected"),
    [
        (("true",), "ab", "11"),
        (("false",), "ab", "00"),
        (A, "aba", "101"),
        (("called", "*"), "ab", "11"),
        (("not", A), "aba", "010"),
        (("and", A, B), "ab", "00"),
        (("and", A, ("not", B), ("true",)), "ab", "10"),
        (("or", A, B), "abc", "110"),
        (("or", A, B, C), "abcd", "1110"),
        (("implies", A, B), "abc", "011"),
        (("iff", A, B), "abc", "001"),
        (("X", A), "aaba", "1010"),
        (("X", ("not", A)), "ab", "10"),
        (("X", ("true",)), "ab", "10"),
        (("WX", A), "aaba", "1011"),
        (("WX", ("false",)), "ab", "01"),
        (("F", A), "babb", "1100"),
        (("G", A), "abaa", "0011"),
        (("F", A, ("steps", 0)), "bab", "010"),
        (("F", A, ("steps", 1)), "bbab", "0110"),
        (("F", A, ("steps", 2)), "bbab", "1110"),
        (("G", A, ("steps", 1)), "aabaa", "10011"),
        (("U", A, B), "aabacba", "1110010"),
        (("U", A, B), "aac", "000"),
        (("U", A, B), "aa", "00"),
        (("W", A, B), "aabac", "11100"),
        (("W", A, B), "aacaa", "00011"),
        (("W", A, B), "cb", "01"),
        (("R", A, B), "bbb", "111"),
        (("R", A, B), "bba", "000"),
        (("R", B, ("or", A, B)), "abc", "110"),
        (("R", C, ("or", B, C)), "bcabb", "11011"),
        (("Y", A), "aba", "010"),
        (("Y", ("not", A)), "ba", "01"),
        (("WY", A), "aba", "110"),
        (("O", A), "bab", "011"),
        (("H", A), "aab", "110"),
        (("O", A, ("steps", 0)), "bab", "010"),
        (("O", A, ("steps", 1)), "babb", "0110"),
        (("O", A, ("steps", 2)), "abbb", "1110"),
        (("H", A, ("steps", 1)), "abaa", "1001"),
        (("S", A, B), "abaac", "01110"),
        (("S", A, B), "aab", "001"),
        (("G", ("implies", A, ("F", B))), "abab", "1111"),
        (("G", ("implies", A, ("F", B))), "aba", "000"),
        (("Y", ("O", A)), "bab", "001"),
        (("X", ("F", A)), "aba", "110"),
        (("H", ("implies", B, ("O", A))), "cbab", "1000"),
        (("F", ("and", B, ("Y", A))), "abb", "110"),
    ],
    ids=str,
)
def test_an_operator_has_its_truth_table(f: Formula, trace: str, expected: str) -> None:
    """Each operator is true exactly where its table, written by hand, says so."""
    assert row(f, calls(trace)) == expected


@pytest.mark.parametrize(
    ("f", "times", "trace", "expected"),
    [
        (("F", A, ("seconds", 5)), (0, 5, 10), "bba", "011"),
        (("F", A, ("seconds", 4.9)), (0, 5, 10), "bba", "001"),
        (("F", A, ("seconds", 0)), (3, 3, 4), "bab", "110"),
        (("G", A, ("seconds", 5)), (0, 5, 11), "aab", "110"),
        (("O", A, ("seconds", 5)), (0, 5, 6), "abb", "110"),
        (("O", A, ("seconds", 6)), (0, 5, 6), "abb", "111"),
        (("H", A, ("seconds", 1)), (0, 5, 6, 7.5), "baba", "0101"),
    ],
    ids=str,
)
def test_a_bound_in_seconds_includes_its_end(
    f: Formula, times: tuple[float, ...], trace: str, expected: str
) -> None:
    """A bound of T seconds reaches the positions at most T seconds away, T included."""
    events = [call(tool, time=time) for tool, time in zip(trace, times, strict=True)]
    assert row(f, events) == expected


INF = float("inf")


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (("number", 3), [3, 3, 3, 3, 3]),
        (("arg", "n"), [5, 5, None, 7, 7]),
        (("count", A, None, None), [1, 2, 2, 3, 4]),
        (("count", A, B, None), [1, 2, 0, 1, 2]),
        (("count", B, B, None), [0, 0, 0, 0, 0]),
        (("count", A, None, ("steps", 2)), [1, 2, 1, 1, 2]),
        (("count", A, None, ("steps", 1)), [1, 1, 0, 1, 1]),
        (("count", A, None, ("seconds", 10)), [1, 1, 1, 1, 2]),
        (("since", B), [INF, INF, 0, 1, 2]),
        (("since", A), [0, 0, 1, 0, 0]),
        (("age", A), [0, 0, 5, 0, 0]),
        (("age", B), [INF, INF, 0, 15, 20]),
        (("sum", A, "n", None), [5, 10, 10, 17, 24]),
        (("sum", A, "n", ("steps", 2)), [5, 10, 5, 7, 14]),
        (("sum", A, "n", ("seconds", 10)), [5, 5, 5, 7, 14]),
        (("sum", ("called", "*"), "n", None), [5, 10, None, 17, 24]),
        (("repeats", A), [1, 2, 0, 1, 2]),
        (("repeats", B), [0, 0, 1, 0, 0]),
    ],
    ids=str,
)
def test_a_term_has_its_table_of_values(term: Formula, expected: list[float | None]) -> None:
    """Counts, distances, sums and runs include the present and nothing outside their window."""
    events = [
        call("a", n=5, time=0),
        call("a", n=5, time=10),
        call("b", time=15),
        call("a", n=7, time=30),
        call("a", n=7, time=35),
    ]
    trace = positions(events, CALLS)
    assert [value(term, trace, i, INF) for i in range(5)] == expected


@pytest.mark.parametrize(
    ("op", "expected"),
    [("<", "100"), ("<=", "110"), ("=", "010"), ("!=", "101"), (">=", "011"), (">", "001")],
)
def test_a_comparison_compares_values(op: str, expected: str) -> None:
    """A comparison of terms is true where the values at that position compare so."""
    f = ("compare", ("count", A, None, None), op, ("number", 2))
    assert row(f, calls("aaa")) == expected


def test_a_count_starts_after_the_latest_reset() -> None:
    """A count with a reset counts what came after the latest one, which counts nothing itself."""
    f = ("compare", ("count", A, B, None), ">=", ("number", 2))
    assert row(f, calls("aabaabab")) == "01001000"


def test_an_infinite_distance_exceeds_every_number() -> None:
    """`since` and `age` of what never happened are infinite."""
    assert row(("compare", ("since", A), ">", ("number", 10**9)), calls("b")) == "1"
    assert row(("compare", ("age", A), "<", ("number", 10**9)), calls("b")) == "0"


def test_a_result_belongs_to_the_position_of_its_call() -> None:
    """`done` and `failed` hold at the call's position, once it has settled so."""
    events = [call("a"), call("a"), settle(0, "failed"), settle(1, "done", "fine"), call("a")]
    assert row(DONE, events) == "010"
    assert row(FAILED, events) == "100"
    assert row(("output", "fine"), events) == "010"
    assert row(("done", "*"), events) == "010"


def test_the_first_result_counts() -> None:
    """A call settles once; later results change nothing."""
    assert row(DONE, [call("a"), settle(0, "done"), settle(0, "failed")]) == "1"


def test_no_call_meets_its_own_prerequisite() -> None:
    """Under a past operator a call's own result is not yet known, at its own position."""
    events = [call("a"), settle(0, "done"), call("b")]
    assert row(("O", DONE), events) == "01"
    assert row(("S", ("true",), DONE), events) == "01"
    assert row(("H", ("not", DONE)), events) == "10"
    assert row(("compare", ("count", DONE, None, None), ">=", ("number", 1)), events) == "01"
    assert row(("compare", ("since", DONE), "<=", ("number", 1)), events) == "01"


def test_the_past_is_read_as_it_was_known_at_the_decision() -> None:
    """A call in flight counts for the decisions after its result, not for those before it."""
    events = [call("a"), call("b"), settle(0, "done"), call("b"), call("a"), settle(4, "failed")]
    assert row(("O", DONE), events) == "0011"
    assert row(("Y", DONE), events) == "0000"
    assert row(("Y", ("Y", DONE)), events) == "0010"
    assert row(("H", ("implies", A, DONE)), events) == "0010"


def test_the_present_waits_for_results() -> None:
    """Outside past operators, also under future ones, a result is read as it finally is."""
    events = [call("a"), call("b"), settle(0, "done")]
    assert row(DONE, events) == "10"
    assert row(("F", DONE), events) == "10"
    assert row(("and", DONE, ("O", DONE)), events) == "00"
    assert row(("X", ("O", DONE)), events) == "00"
    assert row(("F", ("O", DONE)), [*events, call("b")]) == "111"


def test_a_clause_counts_only_the_kinds_it_speaks_of() -> None:
    """Positions of other kinds do not exist for a formula; one of no kind counts calls."""
    events = [call("a"), message("user"), step("p", "q"), call("b"), tick(), message("tool")]
    assert row(("X", B), events) == "10"
    assert row(("X", ("message", "tool")), events) == "10"
    assert row(("message", "*"), events) == "11"
    assert row(("and", ("step", "p"), ("step", "q")), events) == "1"
    assert row(("or", A, ("message", "user")), events) == "1100"
    assert row(("prop", "p"), events) == "00"
    assert row(("prop", "p", "step"), events) == "1"
    assert row(("or", ("step", "p"), ("message", "p")), events) == "010"


def test_a_trace_without_positions() -> None:
    """Where there is no position nothing happens: F is false, G is true, no atom holds."""
    true = [("G", A), ("H", A), ("WX", A), ("WY", A), ("not", A), ("W", A, B), ("R", A, B)]
    false = [("F", A), ("O", A), ("X", A), ("Y", A), A, DONE, ("U", A, B), ("S", A, B)]
    assert [holds(f, (), 0) for f in true] == [True] * len(true)
    assert [holds(f, (), 0) for f in false] == [False] * len(false)


TRACES = [
    positions(calls("".join(word)), CALLS)
    for length in range(5)
    for word in itertools.product("abc", repeat=length)
]
NOT_A, NOT_B = ("not", A), ("not", B)


@pytest.mark.parametrize(
    ("f", "g"),
    [
        (("G", A), ("not", ("F", NOT_A))),
        (("H", A), ("not", ("O", NOT_A))),
        (("WX", A), ("not", ("X", NOT_A))),
        (("WY", A), ("not", ("Y", NOT_A))),
        (("R", A, B), ("not", ("U", NOT_A, NOT_B))),
        (("W", A, B), ("or", ("U", A, B), ("G", A))),
        (("R", A, B), ("W", B, ("and", A, B))),
        (("U", A, B), ("and", ("W", A, B), ("F", B))),
        (("F", A), ("U", ("true",), A)),
        (("O", A), ("S", ("true",), A)),
        (("U", A, B), ("or", B, ("and", A, ("X", ("U", A, B))))),
        (("S", A, B), ("or", B, ("and", A, ("Y", ("S", A, B))))),
        (("F", A, ("steps", 2)), ("or", A, ("X", ("F", A, ("steps", 1))))),
        (("O", A, ("steps", 2)), ("or", A, ("Y", ("O", A, ("steps", 1))))),
        (("G", A, ("steps", 2)), ("not", ("F", NOT_A, ("steps", 2)))),
        (("H", A, ("steps", 2)), ("not", ("O", NOT_A, ("steps", 2)))),
        (("F", A, ("steps", 9)), ("F", A)),
        (("H", A, ("seconds", 9)), ("H", A)),
        (("compare", ("count", A, None, None), ">=", ("number", 1)), ("O", A)),
        (("compare", ("since", A), "<=", ("number", 1)), ("O", A, ("steps", 1))),
        (("compare", ("age", A), "<=", ("number", 1)), ("O", A, ("seconds", 1))),
        (("implies", A, B), ("or", NOT_A, B)),
        (("iff", A, B), ("and", ("implies", A, B), ("implies", B, A))),
    ],
    ids=str,
)
def test_laws_of_the_operators(f: Formula, g: Formula) -> None:
    """Dual and unfolded forms agree at every position of every short trace."""
    for trace in TRACES:
        assert [holds(f, trace, i) for i in range(len(trace))] == [
            holds(g, trace, i) for i in range(len(trace))
        ]


# --- how a guarantee is read ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "parts"),
    [
        (("W", A, B), [("G", ("or", A, ("O", B)))]),
        (("U", A, ("Y", B)), [("G", ("or", A, ("O", ("Y", B)))), ("F", ("Y", B))]),
        (("R", A, B), [("G", ("or", B, ("Y", ("O", A))))]),
        (("W", A, ("X", B)), [("W", A, ("X", B))]),
        (("G", ("W", A, B)), [("G", ("W", A, B))]),
        (("G", ("and", A, B)), [("G", ("and", A, B))]),
        (("or", ("W", A, B), C), [("or", ("W", A, B), C)]),
        (("and", ("and", A, ("W", A, B)), B), [A, ("G", ("or", A, ("O", B))), B]),
    ],
    ids=str,
)
def test_top_level_conjuncts_are_read_by_position(f: Formula, parts: list[Formula]) -> None:
    """`W`, `U` and `R` of the past and present, standing at the top, speak of each position."""
    assert list(conjuncts(f)) == parts


def test_a_future_below_the_past_is_refused() -> None:
    """A past operator must not have a future operator below it."""
    with pytest.raises(ValueError, match="future operator below"):
        as_read(("G", ("O", ("F", A))))


P = ("prop", "p")


@pytest.mark.parametrize(
    "f",
    [
        ("G", P),
        ("G", ("not", P)),
        ("G", ("implies", P, ("not", P))),
        ("G", ("iff", P, P)),
        ("G", ("or", P, ("not", P))),
        ("G", ("not", ("O", P))),
        ("G", ("compare", ("count", P, None, None), "<=", ("number", 0))),
        ("G", ("compare", ("count", P, None, None), ">=", ("number", 1))),
        ("G", ("compare", ("number", 1), ">", ("count", P, None, None))),
        ("G", ("compare", ("count", A, P, None), "<", ("number", 1))),
        ("G", ("compare", ("count", A, P, None), ">=", ("number", 1))),
        ("G", ("compare", ("since", P), "<=", ("number", 3))),
        ("G", ("not", ("compare", ("age", P), "<", ("number", 3)))),
        ("G", ("compare", ("sum", A, "n", None), "<", ("number", 3))),
        ("G", ("not", ("compare", ("sum", A, "n", None), "<", ("number", 3)))),
    ],
    ids=str,
)
def test_what_cannot_be_compared_violates(f: Formula) -> None:
    """A comparison that cannot be made takes, wherever it stands, the value that violates."""
    unknown = Event("call", "a", unknown=frozenset({"p"}))
    assert verdict(f, [unknown]) == "violated"


def test_what_can_be_compared_is_read_as_it_is() -> None:
    """A fact that is known has its own value, under a negation as elsewhere."""
    known, other = call("a", "p"), call("a")
    assert [verdict(("G", P), [event]) for event in (known, other)] == ["inconclusive", "violated"]
    assert verdict(("G", ("not", P)), [known]) == "violated"
    assert verdict(("G", ("not", P)), [other]) == "inconclusive"


# --- verdicts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "events", "expected"),
    [
        (("and", ("F", A), ("G", NOT_A)), [], "violated"),
        (("and", ("X", A), ("X", B)), calls("c"), "violated"),
        (("and", ("X", A), ("X", B)), [], "violated"),
        (("G", ("X", A)), calls("a"), "violated"),
        (("or", A, NOT_A), [], "satisfied"),
        (("F", ("true",)), [], "inconclusive"),
        (("F", ("true",)), calls("a"), "satisfied"),
        (("X", ("true",)), calls("a"), "inconclusive"),
        (("F", A), calls("b"), "inconclusive"),
        (("F", A), calls("ba"), "satisfied"),
        (("G", A), calls("ab"), "violated"),
        (("F", A, ("steps", 2)), calls("bb"), "inconclusive"),
        (("F", A, ("steps", 2)), calls("bbb"), "violated"),
        (("G", ("implies", A, ("F", B))), calls("a"), "inconclusive"),
        (("W", NOT_A, B), calls("a"), "violated"),
        (("W", NOT_A, B), calls("b"), "satisfied"),
        (("U", NOT_A, B), calls("c"), "inconclusive"),
        (("F", DONE), calls("a"), "inconclusive"),
        (DONE, [call("a"), settle(0, "failed")], "violated"),
        (DONE, calls("b"), "violated"),
        (("or", DONE, FAILED), calls("a"), "satisfied"),
        (("and", DONE, FAILED), calls("a"), "violated"),
        (("G", ("implies", B, ("Y", ("O", DONE)))), calls("ab"), "violated"),
        (("G", ("implies", B, ("F", DONE))), calls("ab"), "inconclusive"),
        (("X", ("Y", DONE)), calls("a"), "inconclusive"),
        (("X", ("Y", DONE)), calls("ab"), "violated"),
        (("and", ("message", "user"), ("message", "tool")), [], "violated"),
        (("F", ("and", ("step", "p"), ("step", "q"))), [], "inconclusive"),
        (("F", ("and", P, NOT_A)), calls("a"), "inconclusive"),
        (
            ("G", ("compare", ("count", A, None, None), "<=", ("number", 1))),
            calls("aa"),
            "violated",
        ),
        (("F", A, ("seconds", 5)), [call("b", time=0), tick(5)], "inconclusive"),
        (("F", A, ("seconds", 5)), [call("b", time=0), tick(5.5)], "violated"),
        (("F", A), [*calls("b"), close()], "violated"),
        (("F", DONE), [*calls("a"), close()], "inconclusive"),
    ],
    ids=str,
)
def test_a_verdict_by_hand(f: Formula, events: list[Event], expected: str) -> None:
    """A verdict is given as soon as, and not before, no continuation can change it."""
    assert verdict(f, events) == expected


def test_the_inventory_bounds_what_can_be_called() -> None:
    """With an inventory, continuations call its tools alone."""
    f, events = as_read(("F", ("not", ("or", A, B)))), calls("a")
    assert possible(f, [(f, 0)], events) == {(True,), (False,)}
    assert possible(f, [(f, 0)], events, tools=("a", "b")) == {(False,)}


def test_results_may_arrive_between_later_positions() -> None:
    """Where a result may arrive after some further position, more continuations exist."""
    unseen, seen = ("F", ("and", B, ("not", ("O", DONE)))), ("F", ("and", C, ("O", DONE)))
    f = as_read(("and", unseen, seen, ("G", ("implies", A, ("WY", ("H", NOT_A))))))
    assert possible(f, [(f, 0)], calls("a")) == {(False,)}
    assert possible(f, [(f, 0)], calls("a"), waiting=1) == {(True,), (False,)}
    assert search(f, [(f, 0)], calls("a"), 2, waiting=1) == {(True,), (False,)}


# --- the exact answers agree with the search ------------------------------------------------------

UNARY = ["not", "X", "WX", "F", "G", "Y", "WY", "O", "H"]
BINARY = ["and", "or", "U", "W", "R", "S"]
ATOMS: list[Formula] = [A, DONE]


def small_formulas() -> Iterator[Formula]:
    """All formulas of two operators, without a future below the past."""
    one: list[Formula] = [
        *((op, f) for op in UNARY for f in ATOMS),
        *((op, f, ("steps", 1)) for op in "FGOH" for f in ATOMS),
        *((op, f, g) for op in BINARY for f, g in itertools.product(ATOMS, repeat=2)),
    ]
    yield from one
    for f in one:
        past = f[0] in PAST or f[0] in ("not", "and", "or")
        yield from ((op, f) for op in UNARY if past or op not in PAST)
        yield from ((op, f, DONE) for op in BINARY if past or op not in PAST)


def some_formula(rng: random.Random, depth: int, leaves: Sequence[Formula], past: bool) -> Formula:
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(leaves)
    ops = ["not", "implies", "iff", "and", "or", "Y", "WY", "O", "H", "S"]
    op = rng.choice(ops if past else [*ops, "X", "WX", "F", "G", "U", "W", "R"])
    arity = 1 if op in UNARY else 2
    below = past or op in PAST
    parts = [some_formula(rng, depth - 1, leaves, below) for _ in range(arity)]
    bounded = op in ("F", "G", "O", "H") and rng.random() < 0.4
    return (op, *parts, ("steps", rng.randrange(3))) if bounded else (op, *parts)


def some_events(rng: random.Random, length: int, tools: str = "abz") -> list[Event]:
    """Calls that settle at once, later, or not at all."""
    events: list[Event] = []
    flying: list[int] = []
    for _ in range(length):
        flying.append(len(events))
        events.append(call(rng.choice(tools), *rng.choice([(), ("p",)])))
        while flying and rng.random() < 0.5:
            status = rng.choice(["done", "failed"])
            events.append(settle(flying.pop(rng.randrange(len(flying))), status))
    return events


def agree(f: Formula, events: Sequence[Event], lengths: Sequence[int], waiting: int = 0) -> None:
    """The search finds nothing but the exact answers, and all of them at one of the lengths."""
    read = as_read(f)
    end = len(positions(events, kinds(read)))
    questions = [(read, 0), *((g, end) for g in children(read))]
    exact = possible(read, questions, events, waiting=waiting)
    for length in lengths:
        found = search(read, questions, events, length, waiting=waiting)
        assert found <= exact, (f, events)
        if found == exact:
            return
    pytest.fail(f"not found: {exact - found} of {f} after {events}")


@pytest.mark.long
def test_exact_answers_on_all_small_formulas() -> None:
    """On all formulas of two operators the exact answers are those of the search."""
    for f in itertools.islice(small_formulas(), None, None, sized(1, 3)):
        agree(f, calls("a"), (2, 3))


@pytest.mark.long
@pytest.mark.parametrize(("seed", "waiting", "times"), [(1, 0, 40), (2, 0, 40), (3, 2, 10)])
def test_exact_answers_on_random_formulas(seed: int, waiting: int, times: int) -> None:
    """Whatever the search finds is possible, and nothing else, if it may search far enough."""
    rng = random.Random(seed)
    leaves = [A, B, DONE, FAILED, P]
    for _ in range(times):
        f = some_formula(rng, 3, rng.sample(leaves, 3), past=False)
        agree(
            f, some_events(rng, rng.randint(0, 2)), (1, 2, 3) if waiting else (1, 2, 3, 4), waiting
        )


@pytest.mark.long
@pytest.mark.parametrize(
    "f",
    [
        ("G", ("implies", A, ("F", DONE, ("seconds", 1)))),
        ("F", ("and", B, ("O", A, ("seconds", 1)))),
        ("and", ("F", A, ("seconds", 1)), ("F", B, ("seconds", 0.5))),
        ("F", ("and", ("H", NOT_A, ("seconds", 1)), ("G", NOT_A, ("seconds", 1)))),
        ("G", ("implies", ("message", "user"), ("X", ("message", "assistant")))),
        ("and", ("F", A), ("G", ("implies", A, ("X", ("message", "user"))))),
        ("F", ("and", ("step", "p"), ("Y", ("step", "q")))),
        ("G", ("implies", DONE, ("X", ("O", ("output", "fine"))))),
        ("W", P, ("and", A, ("compare", ("count", A, None, None), ">=", ("number", 2)))),
        ("F", ("Y", ("compare", ("count", DONE, None, None), ">=", ("number", 1)))),
    ],
    ids=str,
)
def test_exact_answers_on_other_atoms_and_time(f: Formula) -> None:
    """Bounds in seconds, messages, steps, outputs and comparisons agree with the search, too."""
    for events in (
        [call("a", time=0)],
        [call("a", time=0), tick(1)],
        [call("a", time=0), settle(0, "done", "fine", time=1.5)],
        [call("b", time=0), message("user", time=1)],
        [step("q"), step()],
    ):
        agree(f, events, (2, 3))


@pytest.mark.long
def test_a_run_is_the_same_by_search() -> None:
    """Reports, verdicts and open obligations do not depend on how continuations are found."""
    rng = random.Random(7)

    def by_search(f: Formula, asked: Sequence[Question], events: Sequence[Event]) -> Answers:
        closed = any(event.kind == "close" for event in events)
        return search(f, asked, events, 0 if closed else 3)

    for _ in range(8):
        f = some_formula(rng, 2, [A, DONE], past=False)
        events = some_events(rng, 2)
        assert run(f, events) == run(f, events, by_search), (f, events)


def test_the_oracle_is_independent() -> None:
    """The oracle imports nothing of what it judges."""
    for path in Path(__file__).parent.glob("oracle*.py"):
        tree = ast.walk(ast.parse(path.read_text()))
        named = [node.module or "" for node in tree if isinstance(node, ast.ImportFrom)]
        assert "import sponsio_like" not in path.read_text()
        assert [name for name in named if name.startswith("sponsio_like")] == []
