"""Rules of one shape are compiled once: the clauses made from the first are those made alone."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

import sponsio_like.logic.formula as f
from campaigns.bench.translated import written
from campaigns.bench.workload import policy, trace
from sponsio_like import Allowed, Blocked, ContractError, Guard, Session
from sponsio_like.contracts import CATALOG, Contract, Rule, Scope
from sponsio_like.engine import Clause, Compiled
from sponsio_like.monitor import OTHER, Monitor, Name
from sponsio_like.syntax import read
from tests.fuzz.automata import scoped
from tests.fuzz.twins import contracts


def renamed(root: f.Formula | None) -> Any:
    """The formula with other tools."""

    def swap(part: Any) -> f.Match | None:
        if not isinstance(part, f.Match):
            return None
        return replace(part, names=tuple([f"other_{each}" for each in part.names]))

    return None if root is None else f.rewritten(root, swap)


def other_tools(contract: Contract) -> Contract:
    """The contract about other tools."""
    rules = tuple(replace(rule, formula=renamed(rule.formula)) for rule in contract.rules)
    scope = contract.segment
    if scope is not None:
        scope = replace(scope, start=renamed(scope.start), stop=renamed(scope.stop))
    return replace(contract, rules=rules, assumption=renamed(contract.assumption), segment=scope)


def told(clause: Clause) -> dict[str, Any]:
    """All that a clause has when it has been compiled."""
    left = (
        "monitor",
        "scope_monitor",
        "bindings",
        "readers",
        "automaton",
        "_listens",
        "_judged",
        "slots",
    )
    rest = {name: each for name, each in vars(clause).items() if name not in left}
    listens = {name: each for name, each in vars(clause._listens).items() if name != "state"}
    each = (clause.monitor, clause.scope_monitor)
    names: list[Name] = [*sorted(clause.names), OTHER, "nobody"]
    return {
        **rest,
        "start": clause.start,
        "listens": listens,
        "slots": list(clause.slots),
        "programs": [(one.program.nodes, list(one.program.slots)) for one in each],
        "groups": [(one.branches.groups, one.branches.slots) for one in each],
        "letters": [one.search.letters for one in each],
        "finite": clause.automaton is not None,
        "hears": [(clause.concerns(name), clause.restricts(name)) for name in names],
        "readers": len(clause.readers),
    }


def compared(given: Iterable[Contract], tools: Iterable[str] | None = None) -> int:
    """How many clauses were made from others; each is what it would be by itself."""
    known, made = Compiled(tools), 0
    for contract in given:
        for rule in contract.rules:
            try:
                first = known.clause(contract, rule, known.shape(contract, rule))
            except ContractError:
                continue
            alone = Clause(contract, rule, tools)
            made += first.monitor.past is not alone.monitor.past and first.monitor.search.slots != (
                tuple(first.slots)
            )
            assert told(first) == told(alone)
    return made


def test_patterns_about_other_tools_are_compiled_as_if_alone() -> None:
    """Every pattern of the catalog, by its example, then with all tools renamed."""
    found = []
    for declared in CATALOG.values():
        contract = Contract(declared.name, (declared.rule(declared.example),))
        found += [contract, other_tools(contract)]
    assert compared(found) > 20


@pytest.mark.long
def test_random_contracts_about_other_tools_are_compiled_as_if_alone() -> None:
    """With assumptions and scopes; with an inventory that has some of the tools, and without."""
    for tools in (None, ("a", "b", "other_a", "other_c")):
        dice = random.Random(11)
        found = [each for _ in range(150) for each in scoped(contracts(dice), dice)]
        assert compared([each for one in found for each in (one, other_tools(one))], tools) > 20


ALIKE = [
    ("G(called(a) -> Y O done(b))", "G(called(c) -> Y O done(d))", True),
    ("G(called(a) -> count(called(a)) <= 3)", "G(called(b) -> count(called(b)) <= 4)", True),
    ("G(called(a, x > 3) -> O done(a, x > 3))", "G(called(b, y = 1) -> O done(b, y = 1))", True),
    ("G(called(a) -> Y O done(b))", "G(called(a) -> Y O done(a))", False),
    ("G(called(a) -> Y O done(b))", "G(called(a) -> Y O failed(b))", False),
    ("G(called(a, x > 3) -> O done(a, x > 3))", "G(called(a, x > 3) -> O done(a))", False),
    ("G(count[<=9](called(b)) <= 1)", "G(count[<=9](called(b)) <= 2)", False),
    ("G(called(a) -> O[<=3] done(b))", "G(called(a) -> O[<=4] done(b))", False),
    ("G(called(a*) -> Y O done(b))", "G(called(c*) -> Y O done(b))", False),
    ("F(count(called(a)) >= 1)", "F(count(called(a)) >= 0)", False),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "alike"), ALIKE, ids=str)
def test_rules_of_one_shape_differ_in_tools_and_values_alone(
    first: str, second: str, alike: bool
) -> None:
    """Where the same tools and values stand matters, and what is done with them."""
    compiled, shapes = Compiled(None), []
    for text in (first, second):
        rule = Rule(read(text))
        shapes.append(compiled.shape(Contract(text, (rule,)), rule))
    assert (None not in shapes and shapes[0].key == shapes[1].key) is alike  # type: ignore[union-attr]


def test_the_scope_and_the_assumption_are_of_the_shape() -> None:
    """The same guarantee in another scope, or under another assumption, is compiled anew."""
    rule, compiled = Rule(read("G(called(a) -> Y O done(b))")), Compiled(None)
    each = [
        Contract("c", (rule,)),
        Contract("c", (rule,), read("O called(b)")),
        Contract("c", (rule,), read("O called(c)")),
        Contract("c", (rule,), None, Scope("before", None, read("called(b)"))),
        Contract("c", (rule,), None, Scope("after", read("called(b)"))),
    ]
    shapes = [compiled.shape(contract, rule) for contract in each]
    assert len({shape and shape.key for shape in shapes}) == len(each)


def test_steps_are_shared_where_values_are_equal() -> None:
    """One automaton for all contracts of a shape and of its values."""
    compiled, made = Compiled(None), []
    for tool, most in (("a", 3), ("b", 3), ("c", 4)):
        rule = Rule(read(f"G(called({tool}) -> count(done({tool})) <= {most})"))
        contract = Contract(tool, (rule,))
        shape = compiled.shape(contract, rule)
        made.append(compiled.clause(contract, rule, shape).automaton)
    assert made[0] is made[1]
    assert None not in made
    assert made[2] is not made[0]


def test_what_an_atom_is_given_is_checked_in_every_contract() -> None:
    """A regular expression with a mistake is told, also where the shape is known."""
    texts = ["x", "y", "[", "z"]
    rows = [f'G(called(t{k}) -> arg_contains("x", ["{text}"]))' for k, text in enumerate(texts)]
    made = [Contract(f"c{k}", (Rule(read(row)),)) for k, row in enumerate(rows)]
    with pytest.raises(ContractError) as raised:
        Guard(made)
    assert all("c2" in each.where for each in raised.value.problems)


@pytest.mark.long
def test_many_contracts_of_few_shapes_are_compiled_once_each(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """Ten times as many contracts make as many monitors."""
    made: list[int] = []
    monkeypatch.setattr(
        "sponsio_like.engine.clause.Monitor",
        lambda *each, made=made: made.append(1) or Monitor(*each),
    )
    counts = []
    for n in (66, 660):
        made.clear()
        path = tmp_path / f"{n}.yaml"
        path.write_text(written(policy(n)), "utf-8")
        assert len(Guard.from_yaml(path).policy.clauses) == n
        counts.append(len(made))
    assert counts[0] == counts[1]


def played(session: Session, dice: random.Random) -> list[Any]:
    """The outcomes of calls of copied tools, three in flight, their results in any order."""
    calls, found = [(f"{tool}_1", args) for tool, args in trace(300)], list[Any]()
    for first in range(0, len(calls) - 2, 3):
        run = []
        for k, (tool, args) in enumerate(calls[first : first + 3]):
            found.append(outcome := session.decide(tool, args, id=f"{first} {k}"))
            if isinstance(outcome, Allowed):
                run.append(outcome.id)
            if isinstance(outcome, Blocked):
                found.append(outcome.advice)
        for id in dice.sample(run, len(run)):
            error = "no" if dice.random() < 0.2 else None
            found.append(session.settle(id, error=error))
    return [*found, session.verdicts(), session.pending()]


def test_copies_decide_as_they_do_by_themselves(tmp_path: Any) -> None:
    """Contracts that are made from others decide, advise and owe what they do alone."""
    path = tmp_path / "policy.yaml"
    path.write_text(written(policy(65)), "utf-8")
    first = Guard.from_yaml(path).policy.contracts
    both, alone = Guard([*first[:32], *first[33:]]), Guard(first[33:])  # but the list of tools
    for seed in range(3):
        one, other = (played(each.session(), random.Random(seed)) for each in (both, alone))
        assert one[:-2] == other[:-2]
        assert one[-1] == other[-1]
        assert one[-2].items() >= other[-2].items()
