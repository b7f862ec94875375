"""Compares what the contracts of a guard name with the tools of its host.

In: decorated functions one by one, or all tools of an adapter. Out: nothing; or a `ContractError`
with everything that contracts name and that is not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sponsio_like.checks.names import at_place, unknown_fields, unknown_names
from sponsio_like.contracts import Contract, Fields, Inventory, Vocabulary
from sponsio_like.engine import Policy
from sponsio_like.errors import ContractError, Problem, closest
from sponsio_like.outcome import Redirect
from sponsio_like.values import path_parts

ELSEWHERE = "what is not guarded here is named in `elsewhere`"


def check_tool(
    policy: Policy,
    tool: str,
    arguments: Iterable[str] | None,
    hosts: frozenset[str] = frozenset(),
) -> None:
    """Check a decorated function, which takes these arguments, or any (None). Others may still
    come.

    `hosts`: those of the arguments that no model gives. Raises `ContractError` for arguments of it
    that contracts name, and that it does not take; and where it takes others than are declared.
    """
    fields = None if arguments is None else dict.fromkeys(arguments, "any")
    _refuse(undeclared(policy.inventory, tool, fields, hosts))
    words = Vocabulary({tool: fields})
    found = [(each, unknown_fields(each, tool, words)) for each in policy.contracts]
    _refuse([problem for each, wrong in found for problem in at_place(each, wrong)])
    policy.roll.add(tool, fields)


def check_tools(policy: Policy, tools: Mapping[str, Iterable[str] | None]) -> None:
    """Check all tools of an agent, together with those that the guard has met before.

    Raises `ContractError` for what contracts name that is not there, and for tools that take other
    arguments than are declared.
    """
    known = policy.inventory
    _refuse([each for name in tools for each in undeclared(known, name, tools[name])])
    for name, arguments in tools.items():
        policy.roll.add(name, arguments)
    policy.roll.complete = False
    check_names(policy)


def undeclared(
    known: Inventory,
    tool: str,
    arguments: Iterable[str] | None,
    hosts: frozenset[str] = frozenset(),
) -> list[Problem]:
    """Return problems where a tool takes other arguments than are declared of it, or lacks declared
    ones.

    None, where either is unknown. With `unlisted: allow` it may take more than is declared.
    """
    fields = known.fields.get(tool)
    if fields is None or arguments is None:
        return []
    takes = dict.fromkeys(arguments)
    roots = {path: path_parts(path)[0] for path in fields}
    lacking = [path for path, root in roots.items() if path not in takes and root not in takes]
    more = set(takes) - hosts - fields.keys() - set(roots.values())
    found = [
        Problem(
            f"`{tool}` does not take `{each}`, which `tools` declares", hint=closest(each, takes)
        )
        for each in lacking
    ]
    if known.unlisted == "refuse":
        hint = "declare it: a call with it would be refused"
        found += [
            Problem(f"`{tool}` takes `{each}`, which `tools` does not declare", hint=hint)
            for each in takes
            if each in more
        ]
    return found


def check_names(policy: Policy) -> None:
    """Raise `ContractError` for what contracts name that none of the tools met is, or takes."""
    roll = policy.roll
    if roll.complete or not roll.tools:
        return
    refuse_strangers(policy.contracts, known_names(policy.inventory, roll.tools), ELSEWHERE)
    roll.complete = True


def refuse_strangers(contracts: Iterable[Contract], words: Vocabulary, hint: str = "") -> None:
    """Raise `ContractError` for what contracts name that these words do not have.

    `hint` is added where a tool is not there.
    """
    found = [
        (each, [*unknown_names(each, words, met=True, away=hint), *_substitutes(each, words)])
        for each in contracts
    ]
    _refuse([problem for each, wrong in found for problem in at_place(each, wrong)])


def known_names(known: Inventory, tools: Mapping[str, Fields | None]) -> Vocabulary:
    """Return the words of these tools, of those that were declared, and of
    those of other agents.
    """
    merged: dict[str, Fields | None] = {**(known.tools or {})}
    for name, fields in tools.items():
        declared = merged.get(name)
        merged[name] = {**fields, **declared} if fields is not None and declared else fields
    return Vocabulary(merged, elsewhere=known.elsewhere)


def _substitutes(contract: Contract, words: Vocabulary) -> list[Problem]:
    answers = [contract.answer, *(rule.answer for rule in contract.rules)]
    names = dict.fromkeys(each.tool for each in answers if isinstance(each, Redirect))
    return [
        Problem(f"there is no tool `{name}` to run instead", "", closest(name, words.names or ()))
        for name in names
        if name not in (words.names or ())
    ]


def _refuse(problems: list[Problem]) -> None:
    if problems:
        raise ContractError(*problems)
