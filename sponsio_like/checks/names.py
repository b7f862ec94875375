"""Finds what contracts name that is not there: tools, globs that match none, arguments.

In: a contract, and the words of an inventory, wherever that comes from; or decorated functions one
by one, or all tools of an adapter. Out: problems. Where only some tools are known yet, only what is
said of these can be wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from unicodedata import is_normalized, normalize

import sponsio_like.logic.formula as f
from sponsio_like.contracts import (
    CATALOG,
    Contract,
    Default,
    FieldKind,
    Fields,
    Inventory,
    Rule,
    Vocabulary,
    common_kind,
    contract_place,
    contradiction,
    formulas,
    known_field,
    made_name,
    read_target,
)
from sponsio_like.engine import Policy
from sponsio_like.errors import ContractError, Problem, Problems, closest, refuse
from sponsio_like.events import names_tool
from sponsio_like.logic.formula import Match
from sponsio_like.outcome import Redirect
from sponsio_like.values import path_parts

ARGUMENTS = frozenset({"arg_contains", "arg_allowed", "arg_missing", "arg_length", "arg_between"})
"""The built-in atoms that name an argument first."""

BRACKETS = re.compile(r"\[.+\]|\{.*,.*\}")
SIGNS = re.compile(r"[\W_]")
MOST_NAMES = 300
"""From so many names on, none are compared."""
LONG_ENOUGH = 6
"""Shorter names that are alike may both be meant: `form` and `from`."""
_WITH_PATH = (f.OutputIs, f.Output, f.Sum)
WAITS = "which its pattern waits for where you name none"
INSTEAD = "name the tool that is there, or list all in `tools:`: then a person is asked"


def unknown_names(
    contract: Contract, words: Vocabulary, *, met: bool = False, away: str = ""
) -> list[Problem]:
    """Return problems for what a contract names and an agent with this whole inventory lacks.

    `met`: the inventory is not declared but met, so the tools that patterns name themselves have to
    be there. `away` is added to what is said of tools that are not there, and not of fields.
    """
    names = words.names
    if names is None:
        return []
    problems, own = Problems(), made(contract.rules)
    for root in formulas(contract):
        for match in f.matches_in([root]):
            for name in match.names:
                if not words.lacks(name):
                    continue
                if name not in own:
                    problems.add(f"unknown tool `{name}`", _hints(closest(name, names), away))
                elif met:
                    problems.add(f"unknown tool `{name}`, {WAITS}", _hints(INSTEAD, away))
            for glob in match.globs:
                if not any(fnmatchcase(tool, glob) for tool in names):
                    problems.add(f"no tool matches `{glob}`", _hints(closest(glob, names), away))
        _fields(root, words, problems)
    for rule in contract.rules:
        for path, match in _pattern_fields(rule):
            known_field(path, match, words, (), problems)
        for path in rule.by:
            _note_field_of_none(path, list(f.matches_in([rule.formula])), words, problems)
    return list(dict.fromkeys(problems.found))


def decomposed_names(contract: Contract) -> Iterator[Problem]:
    """Yield a problem for each name that is not in NFC, in which the names of calls are read."""
    roots = formulas(contract)
    named = [path for rule in contract.rules for path in rule.by]
    for match in f.matches_in(roots):
        named += [*match.names, *match.globs, *(each.path for each in match.conditions)]
    for root in roots:
        terms = (node for node in f.postorder(root) if isinstance(node, _WITH_PATH))
        named += [*_paths(root), *(node.path for node in terms)]
    for name in dict.fromkeys(named):
        if not is_normalized("NFC", name):
            other = json.dumps(normalize("NFC", name))
            what = f"`{name}` has a letter and its accent as two characters, as no call has it"
            yield Problem(what, "", f"write {other}")


def alike_names(contracts: Iterable[Contract], inventory: Inventory) -> Iterator[Problem]:
    """Yield a warning for each two names of tools that are one but for a slip of the pen, capitals
    or signs.

    Where a file has `tools:`, the misspelt one is refused.
    """
    if inventory.tools is not None:
        return
    named: dict[str, Contract] = {}
    index: dict[str | int, list[str]] = {}
    shorter: dict[int, list[str]] = {}
    for contract in contracts:
        own = made(contract.rules)
        names = {name for match in f.matches_in(formulas(contract)) for name in match.names}
        if len(named) + len(names) > MOST_NAMES:
            return
        for name in sorted(names - own - named.keys()):
            bare, letters, less = _likeness(name)
            near = {*index.get(bare, ())}
            some = [*index.get(letters, ()), *shorter.get(letters, ())]
            some += [each for key in less for each in index.get(key, ())]
            near |= {each for each in some if each[:1] in {*name[:2]} and _is_slip(name, each)}
            if near:
                other = next(each for each in named if each in near)
                what = f"`{name}` is nearly `{other}`, which contract `{named[other].name}` names"
                hint = "correct the misspelt one; if both are meant, list all tools in `tools:`"
                yield Problem(what, contract_place(contract), hint)
            for key in (bare, letters):
                index.setdefault(key, []).append(name)
            for key in less:
                shorter.setdefault(key, []).append(name)
            named[name] = contract


def bracketed_names(contracts: Iterable[Contract], inventory: Inventory) -> Iterator[Problem]:
    """Yield a warning for each name of a tool that looks like a glob and is none: `file[ab]`.

    Where a file has `tools:`, one that they do not have is refused.
    """
    for contract in contracts if inventory.tools is None else ():
        for match in f.matches_in(formulas(contract)):
            for name in filter(BRACKETS.search, match.names):
                what = f"`{name}` is the tool of this very name: brackets and braces are no glob"
                hint = "list the tools that are meant; if it is a name, list all in `tools:`"
                yield Problem(what, contract_place(contract), hint)


def _likeness(name: str) -> tuple[str, int, set[int]]:
    """Return a name without capitals and signs, a number that other names of its letters have, and
    the numbers of names with one letter less.
    """
    letters = sum(map(hash, name))
    return SIGNS.sub("", name).lower(), letters, {letters - hash(each) for each in name}


def _is_slip(one: str, other: str) -> bool:
    """True if two names differ in two letters that changed places, or in a letter that one lacks
    within a word: the first letter of one is among the first two of the other.
    """
    short, long = sorted((one, other), key=len)
    if len(long) < LONG_ENOUGH or len(long) - len(short) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) == len(long):
        swapped = short[at : at + 2]
        return swapped.isalpha() and short[:at] + swapped[::-1] + short[at + 2 :] == long
    around = long[max(at - 1, 0) : at + 2]
    return short[at:] == long[at + 1 :] and at > 0 and len(around) == 3 and around.isalpha()


def unknown_fields(contract: Contract, tool: str, words: Vocabulary) -> list[Problem]:
    """Return problems for what a contract names of this tool that the tool does not have.

    It makes no difference which other tools there are.
    """
    problems, wanted = Problems(), Match((tool,))
    for root in formulas(contract):
        matches = list(f.matches_in([root]))
        for match in matches:
            for each in match.conditions if tool in match.names else ():
                known_field(each.path, wanted, words, (), problems)
        if matches and all(each.names == (tool,) and not each.globs for each in matches):
            for path in _paths(root):
                known_field(path, wanted, words, (), problems)
    for rule in contract.rules:
        for path, match in _pattern_fields(rule):
            if tool in match.names:
                known_field(path, wanted, words, (), problems)
    return list(dict.fromkeys(problems.found))


def unchecked(contract: Contract, words: Vocabulary) -> set[str]:
    """Return the tools whose arguments a contract names, and whose arguments
    nobody has declared.
    """
    found: set[str] = set()
    for root in formulas(contract):
        anyhow = any(True for _ in _paths(root))
        for match in f.matches_in([root]):
            named = [each for each in match.conditions if each.path[:1] not in ("@", "*")]
            found.update(match.names if named or anyhow else ())
    for _, match in (each for rule in contract.rules for each in _pattern_fields(rule)):
        found.update(match.names)
    return {each for each in found if each in (words.tools or {}) and words.fields(each) is None}


def made(rules: Iterable[Rule]) -> set[str]:
    """Return the names of tools that patterns derive from other names, such as
    `confirm_{action}`.
    """
    found: set[str] = set()
    for rule in rules:
        declared = CATALOG.get(rule.pattern)
        for each in declared.parameters if declared is not None else ():
            if isinstance(each.default, Default) and rule.arguments.get(each.name) is None:
                with suppress(KeyError):  # an argument is not one name, so none is made
                    found.add(made_name(each.default, rule.arguments))
    return found


def at_place(contract: Contract, problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield the problems, each with the name and the place of the contract."""
    for each in problems:
        what = f"contract `{contract.name}`: {each.what}"
        yield replace(each, what=what, where=contract.where)


def _hints(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


# --- what a formula names -------------------------------------------------------------------------


def _paths(root: f.Formula) -> Iterator[str]:
    """Yield the paths of arguments that the formula reads of every call, whatever its tool."""
    for node in f.postorder(root):
        match node:
            case f.Arg(path) | f.Mark(path):
                yield path
            case f.Custom(name, (str(path), *_)) if name in ARGUMENTS:
                yield path


def _fields(root: f.Formula, words: Vocabulary, problems: Problems) -> None:
    matches = list(f.matches_in([root]))
    for match in matches:
        for condition in match.conditions:
            known_field(condition.path, match, words, (), problems)
    for node in f.postorder(root):
        if isinstance(node, f.Sum):
            for match in node.target:
                known_field(node.path, match, words, (), problems)
    for path in _paths(root):
        _note_field_of_none(path, matches, words, problems)


def _note_field_of_none(
    path: str, matches: list[Match], words: Vocabulary, problems: Problems
) -> None:
    """Note a problem for a field that none of the matched tools has."""
    own = Problems()
    meant = meant_tools(matches or [Match()], words.places)
    for tool in sorted(meant, key=words.places.__getitem__):
        before = len(own.found)
        known_field(path, Match((tool,)), words, (), own)
        if len(own.found) == before:
            return  # this tool has the field, or may have it
    problems.found += own.found[:1]


def meant_tools(matches: Sequence[Match], tools: Collection[str]) -> Collection[str]:
    """Return those of these tools that one of the matches speaks of."""
    if any(match.globs or not match.names for match in matches):
        return [each for each in tools if any(names_tool(match, each) for match in matches)]
    return {name for match in matches for name in match.names if name in tools}


def _pattern_fields(rule: Rule) -> Iterator[tuple[str, Match]]:
    """Yield each path in the arguments of a pattern, with the calls whose arguments it is read
    from.
    """
    declared = CATALOG.get(rule.pattern)
    given = rule.arguments
    for path, _, calls in () if declared is None else declared.fields(given):
        with suppress(ContractError):  # an action of its file: its tools stand in the formula
            yield from ((path, match) for match in read_target(given[calls]))


ELSEWHERE = "what is not guarded here is named in `elsewhere`"


def check_tool(
    policy: Policy,
    tool: str,
    arguments: Iterable[str] | None,
    hosts: frozenset[str] = frozenset(),
    kinds: Iterable[FieldKind] = (),
) -> None:
    """Check a decorated function, which takes these arguments, or any (None).

    `hosts` are the arguments that the host gives, and no model. Raises `ContractError` if contracts
    name arguments that the function does not take, if it takes others than are declared, or if its
    `kinds` contradict the declared ones. Names of other tools are not checked: they may still come.
    """
    refuse(contradictions(policy.inventory, kinds))
    fields = None if arguments is None else dict.fromkeys(arguments, "any")
    refuse(undeclared(policy.inventory, tool, fields, hosts))
    words = Vocabulary({tool: fields})
    found = [(each, unknown_fields(each, tool, words)) for each in policy.contracts]
    refuse([problem for each, wrong in found for problem in at_place(each, wrong)])
    policy.known_tools.add(tool, fields)


def check_tools(
    policy: Policy,
    tools: Mapping[str, Iterable[str] | None],
    kinds: Iterable[FieldKind] = (),
) -> None:
    """Check all tools of an agent, together with those that the guard has met before.

    Raises `ContractError` for what contracts name that is not there, for tools that take other
    arguments than are declared, and for `kinds` that contradict those that are declared.
    """
    known = policy.inventory
    refuse(contradictions(known, kinds))
    refuse([each for name in tools for each in undeclared(known, name, tools[name])])
    for name, arguments in tools.items():
        policy.known_tools.add(name, arguments)
    policy.known_tools.complete = False
    check_names(policy)


def contradictions(known: Inventory, kinds: Iterable[FieldKind]) -> list[Problem]:
    """Return a problem for each field of which another kind is declared."""
    found = list[Problem]()
    for each in kinds:
        kind = known.fields.get(each.tool, {}).get(each.field, "any")
        place = known.places.get((each.tool, each.field), "`tools`")
        if common_kind(kind, each.kind) is None:
            before = FieldKind(each.tool, each.field, kind, place)
            found.append(replace(contradiction(before, each), path=()))
    return found


def undeclared(
    known: Inventory,
    tool: str,
    arguments: Iterable[str] | None,
    hosts: frozenset[str] = frozenset(),
) -> list[Problem]:
    """Return a problem for each argument that the tool takes and `tools` does not declare, or the
    other way round.

    There is none where either is unknown. With `unlisted: allow` it may take more than is declared.
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
    """Raise `ContractError` for tools and arguments that contracts name and no tool of the guard
    has.
    """
    known_tools = policy.known_tools
    if known_tools.complete or not known_tools.tools:
        return
    refuse_strangers(policy.contracts, known_names(policy.inventory, known_tools.tools), ELSEWHERE)
    known_tools.complete = True


def refuse_strangers(contracts: Iterable[Contract], words: Vocabulary, hint: str = "") -> None:
    """Raise `ContractError` for tools and arguments that contracts name and `words` does not have.

    `hint` is added where a tool is not there.
    """
    found = [
        (each, [*unknown_names(each, words, met=True, away=hint), *_substitutes(each, words)])
        for each in contracts
    ]
    refuse([problem for each, wrong in found for problem in at_place(each, wrong)])


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
