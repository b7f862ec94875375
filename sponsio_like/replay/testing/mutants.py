"""Changes contracts a little, and asks whether a test notices.

In: a contract file with tests that pass. Out: mutants, each with what was changed, and those that
every test lets pass: what they say instead, no test tells apart from what the file says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sponsio_like.contracts import CATALOG, Contract, File, Rule, Vocabulary, contract
from sponsio_like.errors import ContractError
from sponsio_like.replay.testing.run import results_of, traces_of

FLIPS = (("<=", "<"), (">=", ">"), (" & ", " | "), (" | ", " & "), ("G(", "F("), ("O ", "H "))
"""Pieces of formulas, each with what is put in its place."""
WHOLE = re.compile(r"(?<![\w.\"-])\d+(?![\w.\"])")
KEPT = ("per", "counts", "match", "role", "missing")
"""Arguments whose other values are other kinds of contracts."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A contract that was changed; `change` says how."""

    contract: Contract
    change: str

    def __str__(self) -> str:
        return f"`{self.contract.name}` {self.change}"


def mutants_of(original: Contract, words: Vocabulary) -> Iterator[Mutant]:
    """Yield the contract without each of its parts, and with each part changed a little."""
    if len(original.rules) > 1:
        for i, rule in enumerate(original.rules):
            left = original.rules[:i] + original.rules[i + 1 :]
            said = rule.sentence or str(rule.formula)
            yield Mutant(replace(original, rules=left), f"without its guarantee {said}")
    if original.assumption is not None:
        yield Mutant(replace(original, assumption=None), "without `assume`")
    if original.segment is not None:
        yield Mutant(replace(original, segment=None), "without `scope`")
    for i, rule in enumerate(original.rules):
        for changed, how in _changed(rule, words):
            rules = (*original.rules[:i], changed, *original.rules[i + 1 :])
            yield Mutant(replace(original, rules=rules), how)


def surviving(file: File) -> Iterator[Mutant]:
    """Yield the mutants that no test notices; the first for each contract is its absence."""
    pairs = [(test, trace) for test in file.tests for trace in traces_of(test, file)]
    words = file.words

    def notices(contracts: list[Contract]) -> bool:
        try:
            return not all(each.passed for each in results_of(contracts, file, pairs))
        except ContractError:
            return True  # such a contract would not load

    for i, original in enumerate(file.contracts):
        rest = [*file.contracts[:i], *file.contracts[i + 1 :]]
        if rest and not notices(rest):
            yield Mutant(original, "left out")
            continue
        for mutant in mutants_of(original, words):
            if not notices([*rest[:i], mutant.contract, *rest[i:]]):
                yield mutant


def _changed(rule: Rule, words: Vocabulary) -> Iterator[tuple[Rule, str]]:
    declared = CATALOG.get(rule.pattern)
    if declared is None:
        yield from _other_formulas(rule)
        return
    for arguments, how in _other_arguments(rule.arguments):
        try:
            made = declared.rule(arguments, words)
        except ContractError:
            continue
        if made.formula != rule.formula:
            yield made, how


def _other_formulas(rule: Rule) -> Iterator[tuple[Rule, str]]:
    text = str(rule.formula)
    for found in WHOLE.finditer(text):
        for step in (1, -1):
            number = int(found[0]) + step
            other = f"{text[: found.start()]}{number}{text[found.end() :]}"
            yield from _read(other, f"with {number} for {found[0]}: {other}")
    for old, new in FLIPS:
        for found in re.finditer(re.escape(old), text):
            other = text[: found.start()] + new + text[found.end() :]
            yield from _read(other, f"with `{new.strip()}` for `{old.strip()}`: {other}")


def _read(text: str, how: str) -> Iterator[tuple[Rule, str]]:
    try:
        yield contract("it").guarantees({"ltl": text}).rules[0], how
    except ContractError:
        return


def _other_arguments(given: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    for name, value in given.items():
        if name in KEPT:
            continue
        for other in _other_values(value):
            yield {**given, name: other}, f"with `{name}: {_short(other)}` for `{_short(value)}`"
    tools = [name for name, value in given.items() if isinstance(value, str)]
    if len(tools) > 1:
        one, other = tools[:2]
        swapped = {**given, one: given[other], other: given[one]}
        yield swapped, f"with `{one}` and `{other}` swapped"


def _other_values(value: Any) -> Iterator[Any]:
    match value:
        case bool():
            yield not value
        case int() | float():
            yield from (value + 1, value - 1)
        case list() | tuple():
            if len(value) > 1:
                for i in range(len(value)):
                    yield [*value[:i], *value[i + 1 :]]
            for i, each in enumerate(value):
                for other in _other_values(each) if not isinstance(each, str) else ():
                    yield [*value[:i], other, *value[i + 1 :]]
        case Mapping():
            for key, each in value.items():
                if len(value) > 1 and key != "tool":
                    yield {name: one for name, one in value.items() if name != key}
                for other in _other_values(each):
                    yield {**value, key: other}


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + ".."
