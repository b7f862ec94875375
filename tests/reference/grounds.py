"""Value variables by definition: a formula holds if it holds with every value put in its place.

    python -m tests.reference.grounds [pairs] [--seed N]

In: random guarantees with a variable, and sessions. Each is played twice: with the variable, and
with one guarantee for every value that occurs, and for one that never does. Out: the disagreements
about reports, verdicts and what stays unfulfilled.
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import sponsio_like.logic.formula as f
from sponsio_like.contracts.conditions import HAPPENINGS
from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract, Scope, Segment
from sponsio_like.errors import ContractError
from sponsio_like.guard.guard import Guard
from sponsio_like.monitor.parametric.variables import all_vars

VALUES: tuple[Any, ...] = (1, 2, "b", True)
NEVER = "a value that never occurs"
TOOLS = ("a", "b", "c")
Event = Mapping[str, Any]


class Said(NamedTuple):
    """What is said at an event: whether something is violated, and the verdict."""

    violated: bool
    verdict: str


# --- by definition ----------------------------------------------------------------------------


def ground(root: f.Formula, values: Mapping[str, Any]) -> f.Formula:
    """The formula with values in the places of its variables."""
    done: dict[f.Node, f.Node] = {}

    def swap(part: Any) -> Any:
        match part:
            case f.Node():
                return done[part]
            case f.Var(name):
                return values[name]
            case f.Match():
                return replace(part, conditions=tuple(map(swap, part.conditions)))
            case f.Condition():
                return replace(part, value=swap(part.value))
            case tuple():
                return tuple(map(swap, part))
        return part

    for node in f.postorder(root):
        if isinstance(node, f.Variable):
            done[node] = f.Const(values[node.name])
        else:
            done[node] = type(node)(*(swap(getattr(node, n)) for n in f.fields_of(type(node))))
    return done[root]  # type: ignore[return-value]


def grounded(contract: Contract, values: Mapping[str, Any]) -> Contract:
    """The contract with values in the places of its variables."""
    rules = tuple(replace(rule, formula=ground(rule.formula, values)) for rule in contract.rules)
    assumption = contract.assumption
    assumption = None if assumption is None else ground(assumption, values)
    scope = contract.segment
    if scope is not None:
        ends = (scope.start, scope.stop)
        start, stop = (None if each is None else ground(each, values) for each in ends)
        scope = Scope(scope.kind, start, stop)
    return replace(contract, rules=rules, assumption=assumption, segment=scope)


# --- playing ----------------------------------------------------------------------------------


def play(contract: Contract, events: Iterable[Event], *, short: bool = False) -> list[Said] | None:
    """What is said at every event, and at the end; None where the contract is refused."""
    records: list[dict[str, Any]] = []
    try:
        guard = Guard([contract], mode="observe", log=records.append)
    except ContractError:
        return None
    now = [0.0]
    session = guard.session(clock=lambda: now[0])
    session._direct = session._direct and short
    out = []
    for event in events:
        records.clear()
        now[0] = event["time"]
        match event["type"]:
            case "call":
                session.decide(event["tool"], dict(event["args"]), id=event["id"])
            case "ok":
                session.settle(event["id"], output=event["output"])
            case "error":
                session.settle(event["id"], error=event["output"])
            case "message":
                session.message(event["role"], event["text"])
            case "fact":
                session.fact("who", event["value"])
        violated = any(record.get("violations") for record in records)
        verdict = "" if short else session.verdicts()["c"]
        out.append(Said(violated, verdict))
    records.clear()
    left = session.finish()
    out.append(Said(bool(left) or any(record.get("violations") for record in records), ""))
    return out


def together(each: Sequence[Sequence[Said]]) -> list[Said]:
    """What is said of all values at once."""
    out = []
    for said in zip(*each, strict=True):
        verdicts = {one.verdict for one in said}
        verdict = next((v for v in ("violated", "inconclusive", "satisfied") if v in verdicts), "")
        out.append(Said(any(one.violated for one in said), verdict))
    return out


def disagreement(contract: Contract, events: Sequence[Event]) -> str:
    """How the two ways differ; nothing if they do not, or if the contract is refused."""
    mine = play(contract, events)
    if mine is None:
        return "refused"
    scope = contract.segment
    ends = (scope.start, scope.stop) if scope else ()
    roots = [
        root for root in (contract.rules[0].formula, contract.assumption, *ends) if root is not None
    ]
    names = dict.fromkeys(var.name for root in roots for _, var in all_vars(root))
    choices = itertools.product((*VALUES, NEVER), repeat=len(names))
    each = [grounded(contract, dict(zip(names, values, strict=True))) for values in choices]
    if any(play(one, ()) is None for one in each):
        return "refused"
    their = together([play(one, events) or [] for one in each])
    if mine != their:
        where = next(k for k, (one, two) in enumerate(zip(mine, their, strict=True)) if one != two)
        return f"at event {where}: {mine[where]} with variables, {their[where]} by definition"
    short = play(contract, events, short=True)
    if short is None or [one.violated for one in short] != [one.violated for one in mine]:
        return "the fast path says something else"
    return ""


# --- random guarantees and sessions -----------------------------------------------------------


class Random:
    """Guarantees and sessions, by dice."""

    def __init__(self, dice: random.Random, *, tied: bool = False, at_once: bool = False) -> None:
        self.dice, self.tied, self.at_once = dice, tied, at_once

    def target(self, *names: str) -> f.Target:
        dice, tool = self.dice, self.dice.choice(TOOLS)
        paths = dice.sample(("id", "id", "id", "ids[]", "o.id"), len(names))
        ops: list[f.Op] = ["=" for _ in names]
        if len(names) > 1 and dice.random() < 0.25:
            ops[-1] = dice.choice(("!=", "<"))
        each = zip(paths, ops, names, strict=True)
        conditions = tuple(f.Condition(path, op, f.Var(name)) for path, op, name in each)
        return (f.Match((tool,), conditions=conditions),)

    def tie(self) -> f.Formula:
        """A call that binds one variable, and its answer that binds the other one."""
        one, other = self.dice.sample(("x", "y"), 2)
        done = f.Happens(self.dice.choice(("done", "done", "failed")), self.target(one))
        return done & f.OutputIs(self.dice.choice(("id", "ids[]")), "=", f.Var(other))

    def atom(self, *, bound: bool) -> f.Formula:
        dice = self.dice
        names = ("x", "y") if self.tied and bound else ("x",) if bound else ()
        kind = dice.choice(("called", "called", "done", "done", "failed", "output", "text", "ctx"))
        if self.tied and bound and dice.random() < 0.4:
            return self.tie()
        if kind in HAPPENINGS:
            return f.Happens(HAPPENINGS[HAPPENINGS.index(kind)], self.target(*names))
        if kind == "output" and bound and not self.tied:
            done = f.Happens("done", self.target())
            return done & f.OutputIs(dice.choice(("id", "ids[]")), "=", f.Var("x"))
        if kind == "text":
            return f.MessageBy("user")
        if kind == "ctx" and bound and not self.tied:
            return f.Compare(f.Ctx("who"), "=", f.Variable("x"))
        return f.Happens("called", self.target(*names))

    def formula(self, depth: int, *, past: bool) -> Any:
        dice = self.dice
        if depth == 0 or dice.random() < 0.15:
            return self.atom(bound=dice.random() < 0.7)
        kinds: list[Any] = [f.Not, f.Once, f.Historically, f.Yesterday, f.WeakYesterday, f.Since]
        kinds += [f.And, f.Or, f.Count]
        if not past:
            kinds += [f.Next, f.WeakNext, f.Eventually, f.Always, f.Until, f.WeakUntil] * 2
        kind = dice.choice(kinds)
        below = past or kind in (f.Once, f.Historically, f.Yesterday, f.WeakYesterday, f.Since)
        if kind is f.Count:
            return f.Count(self.formula(depth - 1, past=True)) <= dice.randint(0, 2)
        one = self.formula(depth - 1, past=below)
        if kind in (f.Since, f.Until, f.WeakUntil):
            return kind(one, self.formula(depth - 1, past=below))
        if kind in (f.And, f.Or):
            return kind((one, self.formula(depth - 1, past=below)))
        if kind in (f.Once, f.Historically, f.Eventually, f.Always) and dice.random() < 0.3:
            bound = f.Steps(dice.randint(0, 3)) if dice.random() < 0.6 else f.Seconds(3.0)
            return kind(one, bound)
        return kind(one)

    def contract(self) -> Contract:
        dice = self.dice
        event = self.atom(bound=True)
        if dice.random() < 0.3:
            event = event & self.formula(1, past=True)
        body: f.Formula = event >> self.formula(dice.randint(1, 3), past=dice.random() < 0.5)
        rule = Rule(f.Always(body))
        contract = Contract("c", (rule,))
        if dice.random() < 0.15:
            condition = self.formula(1, past=True)
            contract = replace(contract, assumption=condition)
        if dice.random() < 0.15:
            kinds: tuple[Segment, ...] = ("after", "between", "after_until", "before")
            kind = dice.choice(kinds)
            ends = [self.atom(bound=dice.random() < 0.5) for _ in range(2)]
            start = None if kind == "before" else ends[0]
            stop = None if kind == "after" else ends[1]
            contract = replace(contract, segment=Scope(kind, start, stop))
        return contract

    def data(self) -> dict[str, Any]:
        dice = self.dice
        some = [dice.choice(VALUES) for _ in range(dice.randint(1, 2))]
        return {"id": dice.choice(VALUES), "ids": some, "o": {"id": dice.choice(VALUES)}}

    def events(self) -> Iterator[Event]:
        dice, time = self.dice, 0.0
        flying: list[str] = []
        for k in range(dice.randint(2, 9)):
            time += dice.choice((0.5, 1.0, 4.0))
            kind = dice.random()
            if kind < 0.08:
                yield {"type": "fact", "value": dice.choice(VALUES), "time": time}
            elif kind < 0.16:
                yield {"type": "message", "role": "user", "text": "go", "time": time}
            elif kind < 0.3 and flying:
                yield self.result(flying.pop(dice.randrange(len(flying))), time)
            else:
                call = {"type": "call", "tool": dice.choice(TOOLS), "args": self.data()}
                yield {**call, "id": str(k), "time": time}
                if dice.random() < 0.6 or self.at_once:
                    yield self.result(str(k), time)
                else:
                    flying.append(str(k))
        for id in flying if self.tied else ():  # until then, it may be about any value
            yield self.result(id, time)

    def result(self, id: str, time: float) -> Event:
        kind = "ok" if self.dice.random() < 0.75 else "error"
        return {"type": kind, "id": id, "output": self.data(), "time": time}


def campaign(pairs: int, seed: int, traces: int = 4) -> tuple[int, int, list[str]]:
    """How many pairs agreed, how many had violations, and the disagreements."""
    agreed = violated = number = 0
    failures: list[str] = []
    while agreed < pairs and len(failures) < 3:
        dice = random.Random(f"{seed}/{number}")
        tied = number % 4 == 0
        contract = Random(dice, tied=tied).contract()
        compares = tied and any(sign in repr(contract.rules) for sign in ("!=", " < $"))
        for _ in range(traces):
            events = list(Random(dice, tied=tied, at_once=compares).events())
            found = disagreement(contract, events)
            if found == "refused":
                break
            if found:
                shown = "\n".join(map(str, events))
                assume = f"{contract.assumption!r} {contract.segment!r}"
                failures.append(
                    f"{number}: {contract.rules[0].formula!r} {assume}\n{found}\n{shown}"
                )
                break
            agreed += 1
            violated += any(said.violated for said in play(contract, events) or ())
        number += 1
    return agreed, violated, failures


def main() -> None:
    """Compare on random pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=int, nargs="?", default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    agreed, violated, failures = campaign(given.pairs, given.seed)
    print(f"{agreed} pairs agreed, {violated} of them with violations")
    for failure in failures:
        print(failure)
    raise SystemExit(bool(failures))


if __name__ == "__main__":
    main()
