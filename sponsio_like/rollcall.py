"""Where the contracts of a guard meet the tools of its host.

In: decorated functions one by one, or all tools of an adapter. Out: nothing; or a `ContractError`
with everything that contracts name and that is not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sponsio_like.compiler import Policy
from sponsio_like.contract import Contract
from sponsio_like.errors import ContractError, Problem, closest
from sponsio_like.inventory import Fields, Inventory
from sponsio_like.outcome import Redirect
from sponsio_like.strangers import misnamed, placed, strangers
from sponsio_like.vocabulary import Vocabulary

ELSEWHERE = "what is not guarded here is named in `elsewhere`"


def meet(policy: Policy, tool: str, arguments: Iterable[str] | None) -> None:
    """A function is decorated: it takes these arguments, or any. Others may still come.

    Raises `ContractError` for arguments of it that contracts name, and that it does not take.
    """
    fields = None if arguments is None else dict.fromkeys(arguments, "any")
    words = Vocabulary({tool: fields})
    found = [(each, misnamed(each, tool, words)) for each in policy.contracts]
    _refuse([problem for each, wrong in found for problem in placed(each, wrong)])
    policy.roll.add(tool, fields)


def meet_all(policy: Policy, tools: Mapping[str, Iterable[str] | None]) -> None:
    """An agent has these tools, beside those that the guard has met before."""
    for name, arguments in tools.items():
        policy.roll.add(name, arguments)
    policy.roll.complete = False
    check_names(policy)


def check_names(policy: Policy) -> None:
    """Raise `ContractError` for what contracts name that none of the tools met is, or takes."""
    roll = policy.roll
    if roll.complete or not roll.tools:
        return
    refuse_strangers(policy.contracts, words_of(policy.inventory, roll.tools), ELSEWHERE)
    roll.complete = True


def refuse_strangers(contracts: Iterable[Contract], words: Vocabulary, hint: str = "") -> None:
    """Raise `ContractError` for what contracts name that these words do not have."""
    found = [
        (each, [*strangers(each, words, met=True), *_substitutes(each, words)])
        for each in contracts
    ]
    _refuse([problem for each, wrong in found for problem in placed(each, wrong, hint)])


def words_of(known: Inventory, tools: Mapping[str, Fields | None]) -> Vocabulary:
    """These tools, those that were declared, and those of other agents."""
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
