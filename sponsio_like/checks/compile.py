"""Checks and compiles contracts, from Python or a file: a `Policy`, or every mistake at once.

In: contracts, and the tools of their guard; or a path. A rule made in Python is fitted to these
tools: it becomes what a file with that inventory would have made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from sponsio_like.checks.lint import linted
from sponsio_like.contracts import (
    CATALOG,
    NO_TEXTS,
    NOTHING_KNOWN,
    Contract,
    Inventory,
    Rule,
    Texts,
    Vocabulary,
    contracts_of,
)
from sponsio_like.engine import Policy
from sponsio_like.errors import refuse
from sponsio_like.outcome import Mode


def with_inventory(contract: Contract, words: Vocabulary) -> Contract:
    """Return the contract, as it reads where there are these tools and no others."""
    if words.tools is None:
        return contract
    rules = tuple(_fitted(rule, words) for rule in contract.rules)
    return contract if rules == contract.rules else replace(contract, rules=rules)


def _fitted(rule: Rule, words: Vocabulary) -> Rule:
    declared = CATALOG.get(rule.pattern)
    if declared is None or rule.answer is not None or not declared.lacks(rule.arguments, words):
        return rule
    if rule.formula != declared.rule(rule.arguments).formula:  # made where more was known: actions
        return rule
    return replace(declared.rule(rule.arguments, words), authored=rule.authored)


def compile_policy(
    contracts: Iterable[Contract] | Contract,
    mode: Mode,
    inventory: Inventory = NOTHING_KNOWN,
    *,
    relaxed: bool = False,
) -> Policy:
    """Compile every contract. `mode` is for those that state none; `relaxed`: all of them observe.

    Raises `ContractError` with all problems found.
    """
    words = Vocabulary(None if inventory.names is None else dict.fromkeys(inventory.names))
    contracts = tuple(with_inventory(each, words) for each in contracts_of(contracts))
    found = linted(contracts, mode, inventory)
    refuse(found.problems)
    clauses = tuple(clause for _, clause in found.clauses)
    owner = tuple(k for k, _ in found.clauses)
    modes = tuple[Mode, ...]("observe" if relaxed else each.mode or mode for each in contracts)
    return Policy(contracts, modes, clauses, owner, inventory, mode, found.warnings)


if TYPE_CHECKING:
    from sponsio_like.contracts import FieldKind, File, Source


def read_file(
    path: Source,
    mode: Mode | None = None,
    kinds: Iterable[FieldKind] = (),
    instead: Texts = NO_TEXTS,
) -> File:
    """Return a contract file, a folder of them, or several, as one.

    `mode` is for contracts where neither they nor the file state one; `kinds` are those of fields
    that are declared elsewhere; `instead` has texts in the place of those of files. Raises
    `ContractError` with every mistake that can be found: of the text, and of the meaning of those
    contracts that could be read.
    """
    from sponsio_like.contracts import load

    return load(
        path,
        lambda file: compile_policy(file.contracts, file.mode or mode or "enforce", file.inventory),
        kinds,
        instead,
    )
