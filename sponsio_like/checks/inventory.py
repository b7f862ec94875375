"""Fits rules to an inventory that was not known when they were made.

In: a contract made in Python, and the tools of its guard. Out: the contract. Where a pattern would
ask for a tool that is not there, its rule is what a file with that inventory would have made.
"""

from __future__ import annotations

from dataclasses import replace

from sponsio_like.contracts import CATALOG, Contract, Rule, Vocabulary


def with_inventory(contract: Contract, tools: tuple[str, ...] | None) -> Contract:
    """Return the contract, as it reads where there are these tools and no others."""
    if tools is None:
        return contract
    words = Vocabulary(dict.fromkeys(tools))
    rules = tuple(_fitted(rule, words) for rule in contract.rules)
    return contract if rules == contract.rules else replace(contract, rules=rules)


def _fitted(rule: Rule, words: Vocabulary) -> Rule:
    declared = CATALOG.get(rule.pattern)
    if declared is None or rule.answer is not None or not declared.lacks(rule.arguments, words):
        return rule
    if rule.formula != declared.rule(rule.arguments).formula:  # made where more was known: actions
        return rule
    return replace(declared.rule(rule.arguments, words), authored=rule.authored)
