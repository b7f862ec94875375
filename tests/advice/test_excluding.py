"""Which tools are impossible now: those of which every call would be blocked, whatever it says."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import sponsio_like.logic.formula as f
from sponsio_like import Blocked, Contract, ContractError, Session, SessionError, atom, contract
from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Scope, formulas
from sponsio_like.logic.formula import Always, Custom, Not
from sponsio_like.outcome import Decision, Escalate, Redirect, Warn
from sponsio_like.patterns import must_precede, rate_limit
from sponsio_like.session import impossible as excluding_module
from sponsio_like.syntax import read
from sponsio_like.worlds import Entry, MemoryWorld
from tests.fuzz.fuzz_cases import NUMBERS, TOOLS, WORDS, Formulas, target
from tests.fuzz.fuzz_traces import Traces
from tests.semantics.manifest import requirement
from tests.support.costs import costs
from tests.support.play import Played, guarded, opened
from tests.support.size import sized

ABC = ("a", "b", "c", "other")


def ruled(formula: str, answer: Decision | None = None, **more: Any) -> Contract:
    """A contract of one formula."""
    return Contract("c", (Rule(read(formula), by=more.pop("by", ())),), answer=answer, **more)


def out(played: Played, **by: Any) -> set[str]:
    """The tools that are impossible now."""
    return set(played.session.impossible(ABC, **by))


# --- what is certain ------------------------------------------------------------------------------


@requirement("S-DECIDE-13")
def test_a_tool_whose_limit_is_used_up_is_impossible() -> None:
    """It is not before; what other tools are allowed makes no difference."""
    played = opened(contract("few").guarantees(rate_limit("a", 2)))
    assert out(played) == set()
    played("a")
    assert out(played) == set()
    played("a")
    assert out(played) == {"a"}


@requirement("S-DECIDE-13")
def test_a_tool_whose_prerequisite_is_missing_is_impossible() -> None:
    """Until it has been done: a call in flight is not, nor is one that has failed."""
    played = opened(contract("first").guarantees(must_precede("a", "b")))
    assert out(played) == {"b"}
    played("a?")
    assert out(played) == {"b"}
    played("error:a")
    assert out(played) == {"b"}
    played("a")
    assert out(played) == set()


@requirement("S-DECIDE-13")
@pytest.mark.parametrize(
    ("formula", "trace", "tools"),
    [
        ("G !called(a)", "", {"a"}),
        ('G !called("a*")', "", {"a"}),
        ("G !called(*)", "", set(ABC)),
        ("G called([a, b])", "", {"c", "other"}),
        ("G(called(a) -> X called(b))", "a", {"a", "c", "other"}),
        ("G(called(a) -> X called(b))", "a b", set()),
        ("G(called(a) -> F[<=2] called(b))", "a c", {"a", "c", "other"}),
        ("G(called(a, n > 3) -> X called(b))", "a(n=4)", {"a", "c", "other"}),
        ("G(called(a, n > 3) -> X called(b))", "a(n=3)", set()),
        ("called(a)", "", {"b", "c", "other"}),
        ("G(called(b) -> Y called(a))", "", {"b"}),
        ("G(called(b) -> Y called(a))", "a c", {"b"}),
        ("G(called(b) -> O[<=2] called(a))", "a c c", {"b"}),
        ("G(called(b) -> O done(a, n = 1))", "a(n=2)", {"b"}),
        ("G(called(b) -> count(called(a) & arg(n) = 1) >= 1)", "a(n=2)", {"b"}),
        ("G(called(b) -> since(a) > 2)", "a", {"b"}),
        ("G(called(b) -> ctx(k) = 1)", "", {"b"}),
        ("G(called(b) -> ctx(k) = 1)", "ctx:k=1", set()),
        ("G(called(b) -> permission(p))", "permit:p", set()),
        ("G(called(b) -> tokens() < 5)", "tokens:9", {"b"}),
        ("G(called(b) -> delivered(a) > 0)", "a? a?", {"b"}),
        ("G(called(b) -> arg(n) > 3 & O called(a))", "", {"b"}),
        ("G(called(b) -> sum(b, n) <= 3 & O called(a))", "", {"b"}),
        ("G(called(b) -> (arg(n) > 3 -> O called(a)) & O called(c))", "a", {"b"}),
        ("G(called(b) -> fact_age(k) < 5)", "", {"b"}),
        ("G repeats(b) >= 1", "", {"a", "c", "other"}),
        ("G(called(b) -> agent = bob)", "", {"b"}),
        ("G(called(b) -> depth() >= 1)", "", {"b"}),
    ],
)
def test_what_no_arguments_can_change_is_certain(formula: str, trace: str, tools: set[str]) -> None:
    """Names, the past, what is owed, what the host has told, who calls."""
    played = opened(formula)
    played(trace)
    assert out(played) == tools
    for tool in sorted(tools):
        assert isinstance(played.session.decide(tool, {"n": 4}), Blocked)


@requirement("S-DECIDE-13")
@pytest.mark.parametrize(
    ("formula", "trace"),
    [
        ("G !called(a, n > 3)", ""),
        ("G(called(b) -> O called(a) | arg(n) > 3)", ""),
        ("G(called(b) -> O called(a) & arg(n) > 3 | O called(a) | arg(n) > 9)", ""),
        ("G(called(b, n > 3) -> O done(a))", ""),
        ("G(called(b) -> O called(b, n > 3))", ""),
        ("G(called(b) -> count(called(b) & arg(n) > 3) >= 1)", ""),
        ("G(called(b) -> count(called(b) & arg(n) > 3) = 1)", ""),
        ("G(called(b) -> since(called(b) & arg(n) > 3) = 0)", ""),
        ("G sum(a, n) <= 3", "a(n=3)"),
        ("G repeats(a) <= 1", "a(n=1)"),
        ("G(called(b) -> arg(n) = last(arg(n), called(a)))", "a(n=1)"),
        ("G(called(b) -> mark(n) = last(mark(n), called(a)))", "a(n=1)"),
        ("G(called(a) -> X called(b, n > 3))", "a"),
        ("G(called(a) -> X (arg(n) > 3))", "a"),
    ],
)
def test_what_depends_on_arguments_is_not(formula: str, trace: str) -> None:
    """A call with others may be legal: conditions, values, sums, repetitions."""
    played = opened(formula)
    played(trace)
    assert "b" not in out(played)
    assert "a" not in out(played) or "X" in formula


@requirement("S-DECIDE-13")
@pytest.mark.parametrize("answer", [Escalate(), Redirect("c"), Warn()], ids=repr)
def test_what_is_held_redirected_or_warned_of_is_possible(answer: Decision) -> None:
    """Something comes of such a call; only what is blocked for certain is impossible."""
    assert out(opened(ruled("G !called(a)", answer))) == set()


@requirement("S-DECIDE-13")
def test_what_is_only_observed_is_possible() -> None:
    """In a contract, or in a guard, that observes; the strictest of several counts."""
    assert out(opened(ruled("G !called(a)", mode="observe"))) == set()
    assert out(opened("G !called(a)", guard={"mode": "observe"})) == set()
    held = ruled("G !called(a)", Escalate())
    assert out(opened(held, "G !called(a)")) == {"a"}


@requirement("S-DECIDE-13")
def test_atoms_of_users_are_not_asked() -> None:
    """They may read the arguments; what depends on them is not certain."""
    asked: list[object] = []

    def ask(*told: object) -> bool:
        asked.append(told)
        return True

    atom("excluding asks")(ask)
    atom("excluding waits", waits=True)(ask)
    never = Contract("c", (Rule(Always(Not(Custom("excluding asks")))),))
    rest = Contract(
        "d", (Rule(f.Always(f.Implies(Custom("excluding waits"), f.Once(read("called(b)"))))),)
    )
    assert out(opened(never)) == set()
    assert out(opened(rest)) == set()
    assert asked == []


# --- who, and for whom ----------------------------------------------------------------------------


@requirement("S-DECIDE-13")
def test_it_is_asked_for_an_agent_at_a_depth() -> None:
    """Another one may be allowed what this one is not."""
    played = opened("G(called(a) -> agent = bob)", "G(called(b) -> depth() <= 1)")
    assert out(played) == {"a"}
    assert out(played, agent="bob") == set()
    assert out(played, agent="bob", depth=2) == {"b"}
    never = opened(
        Contract("c", (Rule(Always(Not(f.Happens("called", target("a", agent="bob"))))),))
    )
    assert out(never) == set()
    assert out(never, agent="bob") == {"a"}


@requirement("S-DECIDE-13")
def test_a_contract_for_each_value_excludes_what_no_value_allows() -> None:
    """A new value, and none, have to be refused like all that are known."""
    first = ruled("G(called(b) -> O called(a))", by=("n",))
    played = opened(first)
    assert out(played) == {"b"}
    played("a(n=1)")
    assert out(played) == set()
    once = opened(ruled("G count(a) <= 1", by=("n",)))
    once("a(n=1)")
    assert out(once) == set()
    anything = opened(ruled("G(called(a) -> X called(b))", by=("n",)))
    anything("a(n=1)")
    assert out(anything) == set()


@requirement("S-DECIDE-13")
def test_a_contract_for_each_agent_is_asked_for_this_one() -> None:
    """What others have done does not matter."""
    played = opened(ruled("G count(a) <= 1", by=("@agent",)))
    played("a a@bob c@bob")
    assert out(played) == {"a"}
    assert out(played, agent="bob") == {"a"}
    assert out(played, agent="eve") == set()


def test_of_too_many_values_one_may_allow_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a number of them nothing is excluded."""
    monkeypatch.setattr(excluding_module, "KEYS_TRIED", 2)
    played = opened(ruled("G(called(b) -> O called(a) & O called(c))", by=("n",)))
    for n, tools in enumerate([{"b"}, {"b"}, {"b"}, set()]):
        assert out(played) == tools
        played(f"a(n={n})")


@requirement("S-DECIDE-13")
def test_assumptions_and_scopes_count() -> None:
    """Only where the assumption holds, and in the segment, a call is refused."""
    assumed = opened(ruled("G !called(a)", assumption=read("O called(b)")))
    assert out(assumed) == set()
    assumed("b")
    assert out(assumed) == {"a"}
    unsure = opened(ruled("G !called(a)", assumption=read("O called(c, n > 3)")))
    assert out(unsure) == set()
    unsure("c(n=4)")
    assert out(unsure) == {"a"}
    after = opened(ruled("G !called(a)", segment=Scope("after", read("called(b)"), None)))
    assert out(after) == set()
    after("b")
    assert out(after) == {"a"}
    ends = Scope("between", read("called(b)"), read("called(a, n > 3)"))
    between = opened(ruled("G !called([a, c])", segment=ends))
    between("b")
    assert out(between) == {"c"}


# --- now ------------------------------------------------------------------------------------------


@requirement("S-DECIDE-13")
def test_it_is_told_for_now() -> None:
    """Time goes by: what is out of a window, or has run out, excludes nothing any more."""
    played = opened("G(called(a) -> !O[<=5s] called(b))", "G(called(c) -> F[<=9s] called(b))")
    played("b")
    assert out(played) == {"a"}
    played.clock.now += 5.5
    assert out(played) == set()
    played("c")
    played.clock.now += 100
    assert out(played) == set()


@requirement("S-DECIDE-13")
def test_where_nobody_settles_calls_of_this_turn_will_be_done() -> None:
    """What hangs on their results is not certain; all else is."""
    played = opened(
        contract("first").guarantees(must_precede("a", "b")),
        contract("few").guarantees(rate_limit("a", 1)),
        "G(called(c) -> delivered(a) > 0)",
        assume_success=True,
    )
    session = played.session
    assert out(played) == {"b", "c"}
    session.decide("a", {})
    assert out(played) == {"a"}
    session.decide("other", {})
    assert out(played) == {"a"}
    assert session.decide("b", {}).__class__ is not Blocked


@requirement("S-DECIDE-13")
def test_nothing_changes_and_nothing_is_logged() -> None:
    """The state stays what it was, to the last bit, and so does the time of the session."""
    played = opened("G(called(a) -> F[<=3s] called(b))", "G count(a) <= 1")
    played("a?")
    before, logged = json.dumps(played.session.snapshot()), len(played.records)
    played.clock.now += 100
    assert out(played) == {"a"}
    assert json.dumps(played.session.snapshot()) == before
    assert len(played.records) == logged


class Failing(MemoryWorld):
    """A store that can break."""

    broken = False

    @contextmanager
    def entry(self, id: str) -> Iterator[Entry]:
        if self.broken:
            raise OSError("the disk is gone")
        with super().entry(id) as entry:
            yield entry


@requirement("S-DECIDE-13")
def test_contracts_on_the_world_are_told_as_the_world_stands() -> None:
    """What was done in another session of the same id counts; where the store fails, the last."""
    world = Failing()
    few = contract("few").guarantees(rate_limit("a", 1)).world()
    made = guarded(few, contract("first").guarantees(must_precede("a", "b")).world())
    one, other = made.session("s", world=world), made.session("s", world=world)
    assert other.impossible(ABC) == {"b"}
    one.decide("a", {}, id="1")
    assert other.impossible(ABC) == {"a", "b"}
    one.settle("1")
    assert other.impossible(ABC) == {"a"}
    world.broken = True
    assert other.impossible(ABC) == {"a"}
    assert all(isinstance(other.decide(tool, {}), Blocked) for tool in ABC)


@requirement("S-DECIDE-13")
def test_where_nobody_settles_the_world_waits_as_well() -> None:
    """What hangs on the results of this turn is not certain, wherever it is kept."""
    first = contract("first").guarantees(must_precede("a", "b")).world()
    session = guarded(first).session("s", world=MemoryWorld(), assume_success=True)
    assert session.impossible(ABC) == {"b"}
    session.decide("a", {})
    assert session.impossible(ABC) == frozenset()
    assert not isinstance(session.decide("b", {}), Blocked)


def test_a_session_that_is_finished_excludes_nothing() -> None:
    """It decides nothing more, so asking it is an error of the host."""
    played = opened("G !called(a)")
    played.session.finish()
    with pytest.raises(SessionError, match="is finished"):
        out(played)


def test_to_ask_costs_less_than_to_decide() -> None:
    """Tools that a contract cannot tell apart are one question to it: 20 by 20 are soon told."""
    tools = [f"tool {n}" for n in range(20)]
    rules = [must_precede(f"check {n}", [*tools, "last"]) for n in range(20)]
    made = [contract(f"c{n}").guarantees(rule) for n, rule in enumerate(rules)]
    session = opened(*made, guard={"mode": "observe"}).session
    enforced = opened(*made).session
    for n in range(20):
        for each in (session, enforced):
            each.decide(f"check {n}", {}, id=f"{n}")
            each.settle(f"{n}")

    session._direct = False

    def decide() -> None:
        """The slow path: to ask is to look at monitors, too."""
        for n, tool in enumerate(tools):
            session.decide(tool, {}, id=f"call {n}")
            session.settle(f"call {n}")

    asked, decided = costs(lambda: enforced.impossible(tools), decide)
    assert enforced.impossible(tools) == frozenset()
    assert asked < decided


# --- against decisions ----------------------------------------------------------------------------

ARGUMENTS: list[dict[str, Any]] = [
    {},
    *({"n": n, "to": to, "who": {"id": 1}} for n, to in itertools.product(NUMBERS, WORDS)),
    {"n": -1000, "to": "odd", "who": {"id": 2}},
    {"n": 10**9, "who": 1},
    {"n": "odd", "to": 5},
    {"n": float("nan")},
]
OF_ARGUMENTS = (f.Arg, f.Mark, f.Sum, f.Repeats, f.Custom)


def of_arguments(formula: f.Formula) -> bool:
    """Whether the formula reads more of a call than its tool, agent and depth."""
    nodes = list(f.postorder(formula))
    matches = [
        m for node in nodes if isinstance(node, f.Happens | f.Delivered) for m in node.target
    ]
    return any(isinstance(node, OF_ARGUMENTS) for node in nodes) or any(
        m.conditions for m in matches
    )


def reads_outputs(made: Iterable[Contract]) -> bool:
    """Whether a contract reads outputs: then somebody has to settle calls."""
    nodes = (node for each in made for rule in each.rules for node in f.postorder(rule.formula))
    return any(isinstance(node, f.OutputIs) for node in nodes)


def policies(dice: random.Random) -> Iterator[list[Contract]]:
    """Small policies of random formulas: some for each value, some assumed, or in a scope."""
    some = Formulas(dice)
    while True:
        made = []
        for name in "cd"[: dice.choice([1, 1, 2])]:
            by = dice.choice([(), (), (), ("n",), ("@agent",), ("@agent", "to")])
            called = f.Happens("called", target(dice.choice(TOOLS)))
            extra: dict[str, Any] = dice.choice(
                [
                    *({}, {}, {}),
                    {"assumption": f.Once(called)},
                    {"assumption": f.Once(f.conj(called, read("arg(n) > 2")))},
                    {"segment": Scope("after", called, None)},
                    {"segment": Scope("between", called, read("called(b, n > 2)"))},
                ]
            )
            made.append(Contract(name, (Rule(some.guarantee(), by=by),), **extra))
        yield made


def happen(session: Session, event: dict[str, Any]) -> None:
    """Let an event of a random trace happen, as far as it is allowed."""
    match event["type"]:
        case "call":
            by = {"agent": event.get("agent", "agent"), "depth": event.get("depth", 0)}
            session.decide(event["tool"], event["args"], id=event["id"], **by)
        case "result":
            ok = event["status"] == "ok"
            session.settle(event["id"], **{"output" if ok else "error": event["output"]})
        case "message":
            session.message(event["role"], event["text"], usage=event.get("usage"))
        case "step":
            session.step(event["atoms"])
        case "fact":
            session.fact(event["key"], event["value"])


@pytest.mark.long
@requirement("S-DECIDE-13")
@pytest.mark.parametrize("seed", range(4))
def test_what_is_impossible_is_blocked_with_any_arguments(seed: int) -> None:
    """Random policies and sessions, tried out; without arguments to speak of, nothing is missed."""
    dice = random.Random(seed)
    found = missed = 0
    for made in policies(dice):
        if found > sized(150, 50):
            break
        try:
            settles_itself = dice.random() < 0.1 and not reads_outputs(made)
            played = opened(*made, assume_success=settles_itself)
        except ContractError:
            continue
        exact = not any(each.rules[0].by or any(map(of_arguments, formulas(each))) for each in made)
        session, events = played.session, Traces(dice, made[0].rules[0].formula).trace(9)
        for event in events:
            played.clock.now = event["time"]
            happen(session, event)
            if dice.random() < 0.3:
                count, lost = tried(played, dice, exact=exact)
                found, missed = found + count, missed + lost
    assert missed == 0


def tried(played: Played, dice: random.Random, *, exact: bool) -> tuple[int, int]:
    """How many tools were impossible, and how many others were blocked with all arguments."""
    session = played.session
    by: dict[str, Any] = dice.choice([{}, {}, {"agent": "bob", "depth": dice.randrange(3)}])
    tools = session.impossible(ABC, **by)
    data = session.snapshot()
    options: dict[str, Any] = {
        "clock": played.clock,
        "assume_success": session._assume_success,
    }
    missed = 0
    for tool in ABC:
        if tool not in tools and not exact:
            continue
        blocked = []
        for args in ARGUMENTS if tool in tools else ARGUMENTS[:1]:
            copy = played.guard.restore(data, **options)
            blocked.append(isinstance(copy.decide(tool, args, **by), Blocked))
        assert all(blocked) or tool not in tools, (played.guard.policy.contracts, tool, by)
        missed += all(blocked) and tool not in tools and not played.session._assume_success
    return len(tools), missed
