"""Finds the contracts that read what a decision log did not record.

In: a policy, and what was withheld of a session, such as `("args", "pay", "iban")`. Out: for each
contract that reads it, the words for what is missing; such a contract cannot be judged there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import sponsio_like.logic.formula as f
from sponsio_like.checks.asked import nodes_of, paths_asked
from sponsio_like.engine import Clause, Policy
from sponsio_like.events import CUSTOM
from sponsio_like.logic.formula import Node
from sponsio_like.values import path_parts

WHOLE = frozenset({"*", "@call"})
"""The paths that mean all arguments together."""
OURS = "sponsio_like."


def content_missing(
    policy: Policy, withheld: Iterable[tuple[str, ...]]
) -> dict[str, frozenset[str]]:
    """Return the contracts that cannot be judged, each with what is missing, in words."""
    found: dict[str, set[str]] = {}
    for kind, *names in withheld:
        for i in _readers(policy, kind, names):
            name = policy.contracts[policy.owner[i]].name
            found.setdefault(name, set()).add(_words(kind, names))
    return {name: frozenset(words) for name, words in found.items()}


def _readers(policy: Policy, kind: str, names: list[str]) -> Iterator[int]:
    for i, clause in enumerate(policy.clauses):
        match kind, names:
            case "calls", _:
                reads = True
            case "args", [tool, *field]:
                reads = i in policy.concerned(tool) and _reads_args(clause, tool, field)
            case "outputs", [tool]:
                reads = i in policy.concerned(tool) and any(map(_hears, nodes_of(clause)))
            case "texts", _:
                texts = (f.TextMatches, f.TextIs)
                reads = any(isinstance(n, texts) or _is_foreign(n) for n in nodes_of(clause))
            case "facts", [key]:
                reads = any(_asks(node, key) for node in nodes_of(clause))
            case _:
                reads = False
        if reads:
            yield i


def _reads_args(clause: Clause, tool: str, field: list[str]) -> bool:
    """True if the clause reads this field of the tool's calls; without a field, if it reads any."""
    if any(_is_foreign(node) or _reads_all(node) for node in nodes_of(clause)):
        return True
    paths = [path for path in paths_asked(clause, tool) if path != "@agent"]
    if not field:
        return bool(paths)
    return any(path in WHOLE or path_parts(path)[:1] == (*field,) for path in paths)


def _reads_all(node: Node) -> bool:
    match node:
        case f.Repeats() | f.Denied(_, "call"):
            return True
    return False


def _hears(node: Node) -> bool:
    return isinstance(node, f.OutputIs | f.Output) or _is_foreign(node)


def _is_foreign(node: Node) -> bool:
    """True for an atom of users, which may read anything."""
    if not isinstance(node, f.Custom):
        return False
    known = CUSTOM.get(node.name)
    return known is None or not known.read.__module__.startswith(OURS)


def _asks(node: Node, key: str) -> bool:
    match node:
        case f.Ctx(asked) | f.FactAge(asked):
            return asked.partition(".")[0] == key or asked == key
        case f.Permitted():
            return key == "permissions"
        case f.Approved() | f.ApprovalAge():
            return key == "approval"
    return _is_foreign(node)


def _words(kind: str, names: list[str]) -> str:
    match kind, names:
        case "calls", _:
            return "some of the calls"
        case "args", [tool]:
            return f"the arguments of `{tool}`"
        case "args", [tool, field]:
            return f"`{field}` of `{tool}`"
        case "outputs", [tool]:
            return f"the answers of `{tool}`"
        case "texts", [role]:
            return f"the texts of `{role}`"
    return f"the value of `{names[0]}`"
