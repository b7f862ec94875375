"""Checks that what a contract names occurs in recorded runs.

In: a contract, and the signature of the runs. Out: what it names that never occurs. Tools, paths,
agents, roles, facts and steps have to occur, since a rule over nothing can never be kept or broken
by these runs; a value need not, but a person should know (`Sought`).
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import sponsio_like.logic.formula as f
from sponsio_like.cli.draft.observed import ObservedTools, ObservedValues
from sponsio_like.contracts import CATALOG, Contract, Rule, Vocabulary, formulas, read_target
from sponsio_like.errors import closest
from sponsio_like.events import Call, meets, names_tool
from sponsio_like.logic.formula import Condition, Match, Scalar, Target
from sponsio_like.values import kind_step, path_parts

ANY = (Match(),)


def ungrounded(contract: Contract, signature: ObservedTools) -> list[str]:
    """Return what the contract names that never occurs in the runs, with similar names that do."""
    found: dict[str, None] = {}
    for root in formulas(contract):
        for node in f.postorder(root):
            found.update(dict.fromkeys(_of_node(node, signature)))
    for rule in contract.rules:
        found.update(dict.fromkeys(_of_pattern(rule, signature)))
    return list(found)


def _of_node(node: f.Node, signature: ObservedTools) -> Iterator[str]:
    yield from _of_target(f.matches_of(node), signature)
    match node:
        case f.Sum(calls, path):
            yield from _path(path, calls, signature)
        case f.Arg(path) | f.Mark(path):
            yield from _path(path, ANY, signature)
        case f.OutputIs(path) | f.Output(path):
            yield from _output(path, signature)
        case f.ByAgent(agent):
            yield from _one_of(agent, signature.agents, "agent")
        case f.MessageBy(role) if role != "*":
            yield from _one_of(role, signature.roles, "role of a message")
        case f.TextMatches() | f.TextIs() if not signature.roles:
            yield "there are no messages in the traces"
        case f.Ctx(key) | f.FactAge(key):
            yield from _one_of(key, signature.facts, "fact")
        case f.Observed(step):
            yield from _one_of(step, signature.steps, "step")


def _one_of(name: str, known: Iterable[str], what: str) -> Iterator[str]:
    if name not in known:
        hint = closest(name, known)
        yield f"{what} `{name}` never occurs in the traces" + (f"; {hint}" if hint else "")


def _of_target(calls: Target, signature: ObservedTools) -> Iterator[str]:
    for match in calls:
        for name in match.names:
            yield from _one_of(name, signature.tools, "tool")
        if match.globs and not _meant(match, signature):
            yield f"no tool in the traces matches `{match.globs[0]}`"
        if match.agent is not None:
            yield from _one_of(match.agent, signature.agents, "agent")
        for condition in match.conditions:
            yield from _path(condition.path, (match,), signature)


# --- paths ----------------------------------------------------------------------------------------


def _path(path: str, calls: Target, signature: ObservedTools) -> Iterator[str]:
    """Yield a mistake for a path that a named tool lacks, or that all tools of a glob lack."""
    if path.startswith("@") or path_parts(path)[0] == "*":
        return
    for match in calls:
        having = [
            tool
            for tool in _meant(match, signature)
            if normal_path(path) in signature.tools[tool].args
        ]
        lacking = [tool for tool in match.names if tool in signature.tools and tool not in having]
        for tool in lacking:
            yield _no_path(f"`{tool}`", path, signature.tools[tool].args)
        if not lacking and not having:
            every = dict.fromkeys(each for tool in signature.tools.values() for each in tool.args)
            yield _no_path("any such tool", path, every)


def _no_path(whose: str, path: str, known: Iterable[str]) -> str:
    hint = closest(path, known)
    return f"field `{path}` of {whose} never occurs in the traces" + (f"; {hint}" if hint else "")


def _meant(match: Match, signature: ObservedTools) -> list[str]:
    return [tool for tool in signature.tools if names_tool(match, tool)]


def normal_path(path: str) -> str:
    """Return a path as the signature writes it, without facts of a text: `items[].sku`."""
    parts = itertools.takewhile(lambda part: kind_step(part) is None, path_parts(path))
    return ".".join(parts).replace(".[]", "[]")


def _output(path: str, signature: ObservedTools) -> Iterator[str]:
    """Yield a mistake for a path whose first part is in no recorded output.

    The signature has no more of outputs.
    """
    if not path:
        return
    known = {path_parts(each)[0] for tool in signature.tools.values() for each in tool.output}
    if path_parts(path)[0] not in known:
        yield f"no output in the traces has a field `{path}`; {closest(path, known)}"


def _of_pattern(rule: Rule, signature: ObservedTools) -> Iterator[str]:
    """Yield mistakes in paths in the arguments of a pattern, of the tools named beside them."""
    declared = CATALOG.get(rule.pattern)
    if declared is None:
        return
    given = rule.arguments
    words = Vocabulary(dict.fromkeys(signature.tools))
    for path, _, calls in declared.fields(given):
        yield from _path(path, read_target(given[calls], words), signature)


# --- values ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class Sought:
    """Values that a contract names, and that no call and no fact had so far."""

    left: dict[tuple[Match, str, str], Condition] = field(default_factory=dict)
    facts: dict[str, set[str]] = field(default_factory=dict)

    def see(self, call: Call) -> None:
        """Remove the values that this call has."""
        for key, condition in list(self.left.items()):
            if names_tool(key[0], call.tool) and meets(condition)(call.args):
                del self.left[key]

    def see_fact(self, key: str, value: Any) -> None:
        """Remove the value that this fact has."""
        self.facts.get(key, set()).discard(json.dumps(value))

    def notes(self, facts: Mapping[str, ObservedValues]) -> list[str]:
        """Return a note for each value that never occurred; of facts, with values that did."""
        notes = [f"`{path}` is never {value} in the traces" for _, path, value in self.left]
        for key, values in self.facts.items():
            for value in sorted(values):
                seen = ", ".join(facts[key].values) if key in facts else ""
                so = f", where it is {seen}" if seen else ""
                notes.append(f"the fact `{key}` is never {value} in the traces{so}")
        return notes


def sought(contract: Contract) -> Sought:
    """Return the values that arguments and facts are compared with, or are one of."""
    found = Sought()
    for root in formulas(contract):
        for node in f.postorder(root):
            if isinstance(node, f.Compare) and isinstance(node.left, f.Ctx):
                found.facts.setdefault(node.left.key, set()).update(_facts_of(node))
            for match, path, value in _equalities(node):
                key = (Match(match.names, match.globs), path, json.dumps(value))
                found.left[key] = Condition(path, "=", value)
    return found


def _equalities(node: f.Node) -> Iterator[tuple[Match, str, Scalar]]:
    for each in f.matches_of(node):
        for condition in each.conditions:
            if condition.op in ("=", "in"):
                yield from _each(each, condition.path, condition.value)
    match node:
        case f.Compare(f.Arg(path), "=" | "in", f.Const(value)):
            yield from _each(ANY[0], path, value)


def _facts_of(node: f.Compare) -> Iterator[str]:
    match node:
        case f.Compare(_, "=" | "in", f.Const(value)):
            yield from (json.dumps(each) for _, _, each in _each(ANY[0], "", value))


def _each(match: Match, path: str, value: f.Operand) -> Iterator[tuple[Match, str, Scalar]]:
    for each in value if isinstance(value, tuple) else (value,):
        if not isinstance(each, f.Var):
            yield match, path, each
