"""Checks and compiles contracts: a `Policy`, or every mistake at once."""

from __future__ import annotations

from collections.abc import Iterable

from sponsio_like.checks.inventory import with_inventory
from sponsio_like.checks.lint import linted
from sponsio_like.contracts import NOTHING_KNOWN, Contract, Inventory, contracts_of
from sponsio_like.engine import Policy
from sponsio_like.errors import ContractError
from sponsio_like.outcome import Mode


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
    contracts = tuple(with_inventory(each, inventory.names) for each in contracts_of(contracts))
    found = linted(contracts, mode, inventory)
    if found.problems:
        raise ContractError(*found.problems)
    clauses = tuple(clause for _, clause in found.clauses)
    owner = tuple(k for k, _ in found.clauses)
    modes = tuple[Mode, ...]("observe" if relaxed else each.mode or mode for each in contracts)
    return Policy(contracts, modes, clauses, owner, inventory, mode, found.warnings)
