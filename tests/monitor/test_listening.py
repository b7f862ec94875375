"""A clause is shown only the calls that concern it, and says what it would if it saw them all."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract, Scope
from sponsio_like.engine.clause import Clause
from sponsio_like.engine.policy import Policy
from sponsio_like.event_types import Call
from sponsio_like.guard.guard import Guard
from sponsio_like.logic.formula import Const, Happens, Last, Match
from sponsio_like.monitor.alphabet import OTHER, Name, static
from sponsio_like.monitor.program import Program
from sponsio_like.monitor.relevance import known
from sponsio_like.syntax import read
from tests.support.play import Clock, opened

# --- what a name tells ----------------------------------------------------------------------------

KNOWN = """
true                            | True  True  True
false                           | False False False
called(a)                       | True  False False
!called(a)                      | False True  True
called(*)                       | True  True  True
!called(*)                      | False False False
called("a*")                    | True  False False
called(a, x = 1)                | any   False False
!called(a, x = 1)               | any   True  True
done(a)                         | any   False False
!done(a)                        | any   True  True
agent = bob                     | any   any   any
message(user)                   | False False False
called(a) & agent = bob         | any   False False
called(*) & agent = bob         | any   any   any
called(a) & called(*)           | True  False False
called(a) & O called(a)         | True  False False
called(*) & O called(b)         | same  True  same
agent = bob & O called(b)       | any   any   any
called(a) or agent = bob        | True  any   any
called(a) or O called(b)        | True  True  same
agent = bob or O called(b)      | any   True  any
O called(a)                     | True  same  same
O called(*)                     | True  True  True
H !called(a)                    | False same  same
H called(a)                     | same  False False
H called(*)                     | same  same  same
Y called(a)                     | same  same  same
called(a) S called(b)           | same  same  same
O[<=2] called(a)                | True  same  same
Y O[<=2] called(a)              | same  same  same
O[<=2s] called(a)               | any   any   any
H[<=2s] called(a)               | any   any   any
O agent = bob                   | any   any   any
count(a) <= 1                   | same  same  same
count[<=3](a) <= 1              | any   any   any
count[<=3s](a) <= 1             | any   any   any
since(a) <= 1                   | any   any   any
age(a) <= 1                     | any   any   any
sum(a, x) <= 1                  | any   any   any
repeats(a) <= 1                 | any   any   any
fact_age(k) <= 1                | any   any   any
last(depth(), called(b)) <= 1   | same  any   same
ctx(k) = 1                      | any   any   any
arg(x) = 1                      | any   any   any
count(a) <= ctx(k)              | any   any   any
O (count(a) <= 1)               | same  same  same
X called(a)                     | same  same  same
"""


def lines(text: str) -> list[tuple[str, ...]]:
    """The rows of a table."""
    return [
        tuple(cell.strip() for cell in (row + " ").split(" | ")) for row in text.split("\n") if row
    ]


@pytest.mark.parametrize(("text", "expected"), lines(KNOWN))
def test_a_name_tells_what_a_formula_is_worth(text: str, expected: str) -> None:
    """At calls of `a`, of `b` and of a tool that nobody names; "same": whatever it was before."""
    program = Program()
    root = program.add(read(text.replace(" or ", " | ")))
    names = ("a", "b", OTHER)
    told = [known(program, static(program.slots, name))[root] for name in names]
    assert [str(each) for each in told] == expected.split()


CONCERNED = """
G !called(a)                                 | light calm | a     | a
G(called(a) -> agent = bob)                  | light calm | a     | a
G agent = bob                                | light all  | a b c other | a b c other
G !called(*)                                 | light all  | a b c other | a b c other
G(called(a) -> O called(b))                  | calm       | a b   | a
G(called(a) -> O[<=2] called(b))             |            | a b   | a
G(called(a) -> Y called(b))                  |            | a b   | a
G(called(a) -> WY called(b))                 |            | a b   | a
G(called(a) -> called(b) S called(c))        |            | a b c | a
F called(a)                                  | calm       | a     |
G(called(a) -> X F called(b))                | calm       | a b   | a
G(called(a) -> F[<=2] called(b))             | calm       | a b   | a
G(called(a) -> H called(a))                  |            | a     | a
G(count(a) <= 1)                             |            | a     | a b c other
G(count(called(*)) <= 3)                     |            |       | a b c other
G(count[<=3](a) <= 1)                        | all        | a b c other | a b c other
G(called(a) -> count[<=3](b) <= 1)           | calm       | a b   | a
G(called(a) -> count(b since c) <= 1)        | calm       | a b c | a
G(called(a) -> count(b since agent = bob) <= 1) | all     | a b c other | a
G(called(a) -> count(b since !called(c)) <= 1) |          | a b c | a
G(called(a) -> since(b) > 2)                 | calm       | a b   | a
G(called(a) -> age(b) > 2)                   | calm       | a b   | a
G(called(a) -> last(count(b), called(c)) <= 1) | calm     | a b c | a
G(called(a) -> last(arg(x), called(c)) <= 1) | calm       | a c   | a
G(called(a) -> repeats(a) <= 1)              | calm       | a     | a
G(called(a) -> sum(b, x) <= 1)               | calm       | a b   | a
G(called(a) -> sum(*, x) <= 1)               | calm all   | a b c other | a
G(called(a) -> repeats(*) <= 1)              | calm all   | a b c other | a
G(called(a) -> last(arg(x), called(*)) <= 1) | all        | a b c other | a
G(called(a) -> ctx(k) = 1)                   | light calm | a     | a
G ctx(k) = 1                                 | light all  | a b c other | a b c other
G(called(a) -> O ctx(k) = 1)                 | all        | a b c other | a
G(called(a) -> Y count(b) <= ctx(k))         | all        | a b c other | a
G(called(a) -> O !called(b))                 |            | a b   |
G !message(user)                             | light calm |       |
G !done(a)                                   | light calm | a     | a
"""


@pytest.mark.parametrize(("text", "how", "heard", "restricted"), lines(CONCERNED))
def test_a_name_tells_whether_a_call_matters(
    text: str, how: str, heard: str, restricted: str
) -> None:
    """Which calls a clause has to see, which can violate it, and whether others change nothing."""
    clause = Clause(Contract("c", (Rule(read(text)),)), Rule(read(text)))
    listens = clause._listens
    flags = {"light": listens.memoryless, "calm": listens.unaffected, "all": listens.sees_all}
    assert " ".join(name for name, flag in flags.items() if flag) == how
    names: dict[str, Name] = {"a": "a", "b": "b", "c": "c", "other": OTHER}
    assert " ".join(n for n, tool in names.items() if clause.concerns(tool)) == heard
    assert " ".join(n for n, tool in names.items() if clause.restricts(tool)) == restricted


def test_a_gate_is_listened_to_as_well() -> None:
    """What stands in the assumption or in a scope counts, not only the guarantee."""
    rule = Rule(read("G !called(a)"))
    plain = Clause(Contract("c", (rule,)), rule)
    assert not plain.concerns("b")
    assumed = Clause(Contract("c", (rule,), read("O called(b)")), rule)
    assert (assumed.concerns("b"), assumed._listens.memoryless, assumed._listens.sees_all) == (
        *(True, False, False),
    )
    present = Clause(Contract("c", (rule,), read("O agent = bob")), rule)
    assert present._listens.sees_all
    told = Clause(Contract("c", (rule,), read("O message(user)")), rule)
    assert (told.kinds != told.counts, told.concerns("b")) == (True, True)
    until = Clause(Contract("c", (rule,), None, Scope("before", None, read("called(b)"))), rule)
    assert (until.concerns("b"), until._listens.memoryless) == (True, False)


def test_a_constant_term_tells_nothing_new() -> None:
    """The last value of a constant is told by its register alone."""
    program = Program()
    called = Happens("called", (Match(("a",)),))
    term = program.add(read("last(ctx(k), called(a)) = 1"))
    fixed = program.add(read("last(ctx(k), called(a)) = 1"))
    assert term == fixed
    root = program.node("last", program.node("value", len(program.slots)), program.add(called))
    program.slots.append(type(program.slots[0])("value", Const(3)))
    letter = static(program.slots, OTHER)
    assert known(program, letter)[program.nodes[root][1]] == "same"
    assert repr(Last(Const(3), called)) == "last(3, called(a))"


# --- held against a session that sees everything --------------------------------------------------

FORMULAS = (
    "G(called(a) -> O[<=2] called(b))",
    "G(called(a) -> H[<=2] !called(b))",
    "G(called(a) -> O[<=2s] called(b))",
    "G(called(a) -> Y called(b))",
    "G(called(a) -> Y Y called(b))",
    "G(called(a) -> WY !called(b))",
    "G(called(a) -> !called(c) S called(b))",
    "G(called(b) -> F[<=2] called(a))",
    "G(called(b) -> F[<=3] called(a)) & G(called(c) -> F[<=3] called(b))",
    "G(called(b) -> G[<=2] !called(a))",
    "G(called(b) -> X called(a))",
    "G(called(b) -> WX called(a))",
    "G(called(b) -> X !called(a) U called(c))",
    "G(called(b) -> F[<=2s] called(a))",
    "G(done(b) -> X F[<=2] done(a))",
    "G(count[<=3](a) <= 1)",
    "G(called(a) -> count[<=3](b) <= 1)",
    "G(called(a) -> count[<=3s](b since c) <= 1)",
    "G(count(a) <= 2)",
    "G(count(called(*)) <= 5)",
    "G(called(a) -> count(called(*)) <= 3)",
    "G(called(a) -> count(b since !called(c)) <= 1)",
    "G(called(a) -> since(b) > 2)",
    "G(called(a) -> since(b) < 3)",
    "G(called(a) -> age(b) > 2)",
    "G(called(a) -> sum(b, x) <= 4)",
    "G(called(a) -> sum[<=3](b, x) <= 4)",
    "G(called(a) -> repeats(a) <= 1)",
    "G(called(a) -> last(arg(x), called(b)) <= 1)",
    "G(called(a) -> last(count(b), called(c)) <= 1)",
    "G(called(a) -> last(arg(x), called(*)) <= 1)",
    "G(called(a) -> last(ctx(k), !called(b)) <= 1)",
    "G(called(a) -> sum(*, x) <= 9)",
    "G(called(a) -> repeats(*) <= 1)",
    "G(called(a) -> O ctx(k) = 1)",
    "G(called(a) -> Y ctx(k) = 1)",
    "G(called(a) -> fact_age(k) <= 2)",
    "G(called(a) -> O agent = bob)",
    "G(called(a) -> H called(a))",
    "G(called(a) -> O done(b))",
    "G(called(a) -> Y O[<=3] done(b))",
    "G(message(user) -> F[<=2] called(a))",
    "G(called(a) -> Y message(user))",
    "F called(a)",
    "!called(a) U called(b)",
)


@contextmanager
def hearing_all() -> Iterator[None]:
    """Every clause that counts calls sees every call."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Policy, "concerned", lambda policy, _: policy.counting("call"))
        yield


def played(guard: Guard, seed: int) -> list[Any]:
    """What a session says along a random run, most of it calls that nobody speaks of."""
    chance, clock = random.Random(seed), Clock()
    session = guard.session(clock=clock)
    said: list[Any] = []
    flying: list[str] = []
    for number in range(22):
        clock.now += chance.choice((0.0, 1.0, 1.0, 2.5))
        draw = chance.random()
        if draw < 0.1:
            session.fact("k", chance.choice((1, 2)))
        elif draw < 0.2 and flying:
            error = chance.choice((None, "failed"))
            revealed = session.settle(flying.pop(), output=1, error=error)
            said.append([each.contract for each in revealed])
        elif draw < 0.3:
            said.append(type(session.message("user", "x")))
        else:
            outcome = session.decide(
                chance.choice("abcoooo"),
                {"x": chance.choice((1, 3))},
                id=str(number),
                agent=chance.choice(("bob", "eve")),
            )
            flying.append(str(number))
            said.append((type(outcome), outcome.observed, outcome.warnings))  # type: ignore[union-attr]
        said.append((session.verdicts(), session.pending()))
    return said


@pytest.mark.long
@pytest.mark.parametrize("text", FORMULAS)
def test_a_clause_says_what_it_would_if_it_saw_every_call(text: str) -> None:
    """Along random runs, verdicts, violations and what is pending are the same."""
    for assumption, seed in itertools.product((None, "O called(c)"), range(5)):
        assume = None if assumption is None else read(assumption)
        contracts = [Contract("c", (Rule(read(text)),), assume)]
        quiet = played(Guard(contracts, mode="observe"), seed)
        with hearing_all():
            loud = played(Guard(contracts, mode="observe"), seed)
        assert quiet == loud


@pytest.mark.long
@pytest.mark.parametrize("kind", ["after", "before", "between", "after_until"])
def test_scoped_clauses_say_what_they_would_if_they_saw_every_call(kind: Any) -> None:
    """The same for every scope, whose ends are heard too."""
    start = None if kind == "before" else read("called(c)")
    stops = ("called(b) & Y O called(b)", "!called([a, b, c])")
    texts = ("G(count(a) <= 1)", FORMULAS[0], "F called(a)")
    for text, stop, seed in itertools.product(texts, stops, range(3)):
        end = None if kind == "after" else read(stop)
        contracts = [Contract("c", (Rule(read(text)),), None, Scope(kind, start, end))]
        quiet = played(Guard(contracts, mode="observe"), seed)
        with hearing_all():
            loud = played(Guard(contracts, mode="observe"), seed)
        assert quiet == loud


@pytest.mark.parametrize(
    ("text", "run", "touched"),
    [
        ("G(called(a) -> Y O called(b))", "b o o", False),
        ("G(called(a) -> O called(b))", "b o", False),
        ("G(called(a) -> O called(b))", "", False),
        ("G(called(a) -> O[<=3] called(b))", "", False),
        ("G(called(a) -> F[<=5] called(b))", "a", False),
        ("G(called(a) -> F[<=2] called(b))", "a o", True),
        ("G(called(a) -> X called(b))", "a", True),
        ("G(called(a) -> Y called(b))", "b", True),
        ("G(called(a) -> Y called(b))", "b o", False),
        ("G(called(a) -> Y called(b))", "", False),
    ],
)
def test_only_a_clock_that_runs_out_wakes_a_clause(text: str, run: str, touched: bool) -> None:
    """Calls of other tools are shown to a clause where they make a difference, and only there."""
    session = opened(text)
    session(run)
    event = Call("o", {}, "id", "agent", 0)
    assert bool(session.session._inner.ledger.touched(event)) is touched


@pytest.mark.parametrize(
    "text",
    [
        "G(called(a) -> Y O[<=2] done(b))",
        "G(called(a) -> WY H[<=2] !done(b))",
        "G(called(a) -> Y O[<=2] done(b)) & G(called(b) -> WY H[<=3] !called(a))",
    ],
)
def test_a_contract_about_the_last_calls_is_not_woken_by_others(text: str) -> None:
    """However many there are: that the bound runs out changes nothing that it remembers."""
    session = opened(text, guard={"mode": "observe"})
    for run in ("b", "o o o o o", "a o b", "o o o"):
        session(run)
        assert session.session._inner.ledger.soonest > 1 << 50
        assert session.session._inner.ledger.touched(Call("o", {}, "id", "agent", 0)) == []


@pytest.mark.parametrize(
    "text",
    [
        "G !Y O[<=2] called(b)",
        "G(called(a) -> O (!Y O[<=2] called(b) & Y called(*)))",
        "G(called(a) -> Y !Y O[<=2] called(b))",
        "G(called(b) -> F called(a)) & G(called(a) -> Y O[<=2] called(b))",
    ],
)
def test_a_contract_that_others_may_violate_or_change_sees_the_bound_run_out(text: str) -> None:
    """The same when every call is shown to it."""
    for seed in range(20):
        quiet = played(Guard([Contract("c", (Rule(read(text)),))], mode="observe"), seed)
        with hearing_all():
            loud = played(Guard([Contract("c", (Rule(read(text)),))], mode="observe"), seed)
        assert quiet == loud


def test_a_clause_is_shown_a_call_once() -> None:
    """Though the call concerns it, and its clock runs out as well."""
    session = opened("G(called(a) -> Y called(b))")
    session("b")
    assert session.session._inner.ledger.touched(Call("b")) == [0]


def test_a_tool_that_nobody_names_is_what_globs_say() -> None:
    """A tool that matches another glob, or none, is not taken for one that matches."""
    session = opened('G(called("a*") | called(b) | called("c*"))')
    assert session("a1 b c2 d a2 e") == "...x.x"
