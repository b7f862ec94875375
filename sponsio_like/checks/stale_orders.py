"""Finds orders of calls by which an old check opens a later call, whatever was written in between.

In: contracts, and the tools that there are. Out: warnings: `run_tests`, `apply_patch`, `merge_pr`
keeps “`run_tests` must precede `merge_pr`”, and is seldom meant. What a tool does is told by the
words of its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import sponsio_like.logic.formula as f
from sponsio_like.checks.orders import calls_before, demands_at_every_position
from sponsio_like.contracts import Contract, contract_place, formulas
from sponsio_like.errors import Problem
from sponsio_like.events import names_tool

CHECKING = frozenset(
    {"test", "tests", "testing", "pytest", "lint", "linter", "typecheck", "build", "compile"}
    | {"scan", "review", "checks", "ci"}
)
"""The words in names of tools that look at what has been written so far,"""
WRITING = frozenset(
    {"write", "edit", "patch", "modify", "replace", "insert", "append", "overwrite"}
)
"""those in names of tools that write it anew,"""
CHANGING = frozenset({"create", "save", "update", "delete", "remove", "move", "rename"})
"""those that do so if a file stands beside them: `update_file`, and not `update_order`,"""
FILES = frozenset({"file", "files", "code", "source", "patch", "diff", "notebook", "workspace"})
"""those for files,"""
ANYTHING = frozenset(
    {"apply", "str", "string", "text", "to", "in", "multi", "lines", "line", "tool"}
)
"""and those that name nothing that is written: `edit_ticket` and `write_email` write no files."""
SHOWN = 4
"""The most tools that are named."""


def outdated(contracts: Sequence[Contract], tools: Iterable[str]) -> Iterator[Problem]:
    """Yield a warning for each order whose first call looks at what other tools may write again,
    where no contract speaks of these tools and of the later call together.
    """
    writers = [each for each in dict.fromkeys(tools) if _writes(each)]
    together = [_tools_named(each, writers) for each in contracts]
    told = set[tuple[str, ...]]()
    for contract in contracts if writers else ():
        for first, then in _orders(contract):
            both = (*first, *then)
            if both in told or not any(_says(each, CHECKING) for each in first):
                continue
            told.add(both)
            spoken = [names for names in together if names.issuperset(then)]
            left = [each for each in writers if each not in set(both).union(*spoken)]
            if left and not any(_writes(each) for each in then):
                yield _problem(contract, first, then, left)


def _problem(
    contract: Contract, first: Sequence[str], then: Sequence[str], writers: Sequence[str]
) -> Problem:
    """Return the warning, with the sentence that asks for a new check."""
    earlier, later, between = (_either(each) for each in (first, then, writers[:SHOWN]))
    what = f"a success of {earlier} counts for {later}, also where {between} comes between them"
    hint = f"if it has to be made anew then, add “no {later} after {between} until {earlier}”"
    return Problem(what, contract_place(contract), hint)


def _orders(contract: Contract) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield the names of the tools of which one has to come first, and of those that need it;
    for all calls alike, whatever their values.
    """
    for rule in (each for each in contract.rules if not each.by):
        for body in demands_at_every_position(rule.formula):
            match body:
                case f.Implies(f.Happens("called", then), needed):
                    first = calls_before(needed)
                    if first and _names(first) and _names(then):
                        yield _names(first), _names(then)


def _names(target: f.Target) -> tuple[str, ...]:
    """Return the names of tools in a target; none if it has a glob, any tool, or values."""
    if any(match.globs or not match.names or match.conditions for match in target):
        return ()
    return tuple(dict.fromkeys(name for match in target for name in match.names))


def _tools_named(contract: Contract, tools: Sequence[str]) -> set[str]:
    """Return the names that stand in a contract, and those of `tools` that its globs have."""
    found = [match for root in formulas(contract) for match in f.matches_in([root])]
    globs = [match for match in found if match.globs]
    named = {name for match in found for name in match.names}
    return named | {tool for tool in tools if any(names_tool(match, tool) for match in globs)}


def _says(name: str, words: frozenset[str]) -> bool:
    """True if one of these words is part of the name: `run_tests`, `runTests`, `ci.run-tests`."""
    return not words.isdisjoint(_words(name))


def _writes(name: str) -> bool:
    """True if a tool writes files, as the words of its name tell: `fs.write`, `update_file`."""
    words = _words(re.split(r"[.:/]|__", name)[-1])
    if not words.isdisjoint(FILES):
        return not words.isdisjoint(WRITING | CHANGING)
    return not words.isdisjoint(WRITING) and words <= WRITING | ANYTHING


def _words(name: str) -> frozenset[str]:
    """Return the words of a name, in small letters."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return frozenset(re.split(r"[\W_]+", parted.lower())) - {""}


def _either(names: Iterable[str]) -> str:
    return " or ".join(f"`{each}`" for each in names)
