"""Finds what is wrong with contracts before they are compiled.

In: contracts, however they were made. Out: problems: names that are given twice, and parts that
would load and then do nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from sponsio_like.contracts import CONTRACT, Contract
from sponsio_like.errors import Problem
from sponsio_like.outcome import Decision, Mode

MODES = ("observe", "enforce")
TAKEN = {CONTRACT: "the inventory", "session": "what the guard reports itself"}
"""Names under which outcomes, logs and tickets report what comes from no contract."""


def duplicates(contracts: Sequence[Contract]) -> list[Problem]:
    """Return problems for names that logs and tickets could not distinguish:
    given twice, or taken.
    """
    seen: dict[str, Contract] = {}
    problems = []
    for contract in contracts:
        if contract.name in seen:
            problems.append(
                Problem(f"two contracts are named `{contract.name}`", contract.where, "rename one")
            )
        seen[contract.name] = contract
        if contract.name in TAKEN:
            what = f"no contract may be named `{contract.name}`: that stands for "
            problems.append(Problem(what + TAKEN[contract.name], contract.where, "rename it"))
    return problems


def structural_problems(contracts: Sequence[Contract], mode: Mode) -> list[Problem]:
    """Return problems for parts that would load and do nothing: no guarantee, an unknown mode.

    A strategy that is not a decision is such a part, too.
    """
    found = (
        [] if mode in MODES else [Problem(f"unknown mode `{mode}`", "", "write observe or enforce")]
    )
    for contract in contracts:
        where = contract.where or f"contract `{contract.name}`"
        answers = [contract.answer, *(rule.answer for rule in contract.rules)]
        if not contract.rules:
            found.append(Problem("there is no guarantee", where, "say what must hold"))
        if contract.mode not in (None, *MODES):
            found.append(
                Problem(f"unknown mode `{contract.mode}`", where, "write observe or enforce")
            )
        if not all(each is None or isinstance(each, Decision) for each in answers):
            found.append(Problem("the strategy is no decision", where, 'use `.strategy("block")`'))
    return found
