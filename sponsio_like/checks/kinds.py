"""Finds comparisons that are never equal: of a field of one kind with a value of another.

In: a contract, and the tools with the declared kinds of their fields. Out: problems. A field whose
kind is not declared, or is any, may be anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TypeAlias

import sponsio_like.logic.formula as f
from sponsio_like.checks.names import meant_tools
from sponsio_like.contracts import Contract, Rule, forbidden_matches, formulas
from sponsio_like.errors import Problem
from sponsio_like.events import names_tool
from sponsio_like.values import TEXT_KINDS, TextKind

Tools: TypeAlias = Mapping[str, Mapping[str, str] | None]
KINDS = MappingProxyType(
    {"string": "a text", "number": "a number", "integer": "a number", "boolean": "true or false"}
)
"""The kinds of one plain value, in words; whole numbers are numbers."""
MONEY = "an amount of money"
"""The kind `money`, which may come as a number or as a text such as `EUR 5`."""
NEEDS = MappingProxyType(
    dict.fromkeys(("arg_blacklist", "arg_allowlist"), "a text")
    | dict.fromkeys(("arg_value_range", "amount_limit"), "a number")
)
"""The kind that the `field` of a pattern needs."""

ADDRESSED = frozenset(
    {"to", "cc", "bcc", "email", "recipient", "recipients", "reply_to", "sender", "mail_to"}
)
"""Names of fields that have the address of a mail."""

AS_WRITTEN = frozenset({"=", "in", "<", "<=", ">", ">=", "matches"})
"""The comparisons with a text as it is written; another spelling may fail them."""

ONE_SPELLING = MappingProxyType(
    {"path": ("place",), "email": ("address[]",), "domain": ("name",), "id": ("value",)}
    | {"url": ("host", "path", "query"), "date": ("date", "seconds")}
)
"""The facts of kinds that are the same for all spellings of one text."""

TABLES = frozenset({"reads", "writes", "without_where"})
"""The facts of SQL that are names of tables, with the schema if the query names one."""


def unlike(contract: Contract, tools: Tools) -> list[Problem]:
    """Return a problem for each comparison of a contract with a value of another kind."""
    if not tools:
        return []
    found = [problem for root in formulas(contract) for problem in _compared(root, tools)]
    found += [problem for rule in contract.rules for problem in _patterned(rule, tools)]
    return list(dict.fromkeys(found))


def found_always(contract: Contract, tools: Tools) -> Iterator[Problem]:
    """Yield a problem for each field in which a detector finds something in every honest call.

    A mail has the address that it goes to: whoever forbids addresses in all its arguments forbids
    the mail.
    """
    if not tools:
        return
    for rule in contract.rules:
        searched = [
            node
            for node in f.postorder(rule.formula)
            if isinstance(node, f.Custom) and node.name == "arg_finds" and node.args[0] == "*"
        ]
        if not any("email" in str(node.args[1:]) for node in searched):
            continue
        for match in f.matches_in([rule.formula]):
            for tool in (tool for tool in tools if names_tool(match, tool)):
                yield from _addresses(tool, tools[tool] or {})


def _addresses(tool: str, fields: Mapping[str, str]) -> Iterator[Problem]:
    """Yield a problem for each field that is an e-mail address, by its kind or by its name."""
    for path, kind in fields.items():
        bare, name = kind.strip("[]"), path.rpartition(".")[2].removesuffix("[]").casefold()
        if bare == "email":
            what = f"`{path}` of `{tool}` is an e-mail address, and so is found in every call"
        elif bare in ("string", "any") and name in ADDRESSED:
            what = f"`{path}` of `{tool}` is an e-mail address by its name, and then is found, too"
        else:
            continue
        hint = "name the `field` to search, or leave `email` out: kinds: [card, iban, ..]"
        yield Problem(what, hint=hint)


def spelled(contract: Contract, tools: Tools) -> Iterator[Problem]:
    """Yield a problem for each text of a declared kind that is compared as it is written, where
    another spelling of the same would pass: `/etc/./passwd` for `/etc/passwd`.
    """
    assumed = [] if contract.assumption is None else [contract.assumption]
    for root in [*(rule.formula for rule in contract.rules), *(~each for each in assumed)]:
        for match in forbidden_matches(root):
            for each in match.conditions:
                if each.op in AS_WRITTEN and not isinstance(each.value, f.Var):
                    yield from _spelled(match, each.path, each.value, tools)
                    yield from _begun(each)
                    yield from _in_a_schema(each)
    for rule in contract.rules:
        matches = list(f.matches_in([rule.formula]))
        for path in _contained(rule.formula):
            yield from (each for match in matches for each in _spelled(match, path, "", tools))
        apart = rule.pattern == "segregation_of_duty"
        alike = () if apart else rule.arguments.get("same") or ()  # else nothing is confirmed
        for path in (path for path in rule.by if path not in alike):
            kind = next(filter(None, (_grammar(match, path, tools) for match in matches)), None)
            if kind is not None:
                what = f"`{path}` is of the kind `{kind.name}`, and each spelling counts apart"
                field = path.removesuffix(":path.whole")
                facts = ONE_SPELLING.get(kind.name, tuple(kind.facts))
                said = " or ".join(f"`{field}:{kind.name}.{name}`" for name in facts)
                yield Problem(what, hint=f"write {said}")


def _begun(each: f.Condition) -> Iterator[Problem]:
    """Yield a problem for a call of a shell that is compared from its first letter on."""
    whole = each.op in ("=", "in") or str(each.value).startswith("^")
    if each.path.endswith(":shell.calls[]") and whole:
        what = f"`{each.path}` is compared from its beginning, and `git -C a push` or"
        hint = r"leave room: {matches: '(^|/)git (-\S+ (\S+ )?)*push( |$)'}"
        yield Problem(f"{what} `/usr/bin/git push` is no `git push`", hint=hint)


def _in_a_schema(each: f.Condition) -> Iterator[Problem]:
    """Yield a problem for a table that is compared with the schema in its name."""
    path, _, fact = each.path.rpartition(".")
    names = each.value if isinstance(each.value, tuple) else (each.value,)
    dotted = next((name for name in names if "." in str(name)), None)
    if ":sql" in path and fact.removesuffix("[]") in TABLES and dotted and each.op in ("=", "in"):
        table = str(dotted).rpartition(".")[2]
        what = f"`{each.path}` has names as a query writes them: `other.{dotted}`, and `{table}`"
        hint = f"`{{{fact.removesuffix('[]')}: {table}}}` is the table of that name in every schema"
        yield Problem(f"{what} behind `SET search_path`, are no `{dotted}`", hint=hint)


def _contained(root: f.Formula) -> Iterator[str]:
    """Yield the path of each field that must not contain a pattern."""
    for node in f.postorder(root):
        match node:
            case f.Custom("arg_contains", (str(path), *_)):
                yield path


def _spelled(match: f.Match, path: str, value: object, tools: Tools) -> Iterator[Problem]:
    kind = _grammar(match, path, tools)
    values = value if isinstance(value, tuple) else (value,)
    if kind is not None and any(isinstance(each, str) for each in values):
        what = f"`{path}` of {_tool(match)} is of the kind `{kind.name}`, and is compared as it is"
        facts = ", ".join(name for name in kind.names if name not in ("whole", "place"))
        more = "under, outside, " if kind.main == "whole" else ""
        hint = f"ask for what it means, {{FACT: ..}}, by one of {more}{facts}"
        yield Problem(f"{what} written: another spelling of the same passes", hint=hint)


def _grammar(match: f.Match, path: str, tools: Tools) -> TextKind | None:
    """Return the kind that a tool declares for a field, if it reads the text by a grammar.

    A kind that only `finds` something in a text leaves the text as it is. The fact `whole` of a
    path is the text.
    """
    if path.endswith(":path.whole"):
        return TEXT_KINDS["path"]
    for tool, fields in tools.items():
        if names_tool(match, tool):
            declared = (fields or {}).get(path) or (fields or {}).get(path.removesuffix("[]"), "")
            kind = TEXT_KINDS.get(declared.strip("[]"))
            if kind is not None and "finds" not in kind.names:
                return kind
    return None


def _compared(root: f.Formula, tools: Tools) -> Iterator[Problem]:
    bound: dict[str, tuple[str, str]] = {}
    for match in f.matches_in([root]):
        for each in match.conditions:
            kind = _kind(match, each.path, tools)
            if kind == MONEY:
                if "a number" in _wanted(each):
                    yield _no_number(each.path, match)
                continue
            if kind is None:
                continue
            field = f"field `{each.path}` of {_tool(match)} is {kind}"
            if isinstance(each.value, f.Var) and each.op == "=":
                other, before = bound.setdefault(each.value.name, (kind, field))
                if other != kind:
                    what = f"`${each.value.name}` is never equal in both: {before}, {field}"
                    yield Problem(what, hint="bind fields of one kind, or correct the kinds")
            elif any(kind != wanted for wanted in _wanted(each)):
                hint = "write a value of that kind" if each.op != "matches" else "compare by size"
                yield Problem(f"{field}, and is compared with {_wanted(each)[0]}", hint=hint)


def _patterned(rule: Rule, tools: Tools) -> Iterator[Problem]:
    if rule.pattern not in NEEDS:
        return
    needs = NEEDS[rule.pattern]
    path = str(rule.arguments["field"])
    for match in f.matches_in([rule.formula]):
        kind = _kind(match, path, tools)
        if kind == MONEY:
            if needs == "a number" and path in _between(rule.formula):
                yield _no_number(path, match)
        elif kind not in (None, needs):
            hint = "compare the value: absent: {tool: .., args: {field: {gt: 100}}}"
            if needs == "a number":
                hint = "declare it as a number, which the calls have to send"
            what = f"field `{path}` of {_tool(match)} is {kind}, and `{rule.pattern}` needs {needs}"
            yield Problem(what, hint=hint)


def _no_number(path: str, match: f.Match) -> Problem:
    what = f"field `{path}` of {_tool(match)} is {MONEY}, and is compared with a number"
    return Problem(what, hint=f"write `{path}:money.amount`")


def _between(root: f.Formula) -> set[object]:
    """Return the paths whose values are compared with a range of numbers."""
    atoms = (node for node in f.postorder(root) if isinstance(node, f.Custom))
    return {each.args[0] for each in atoms if each.name == "arg_between"}


def _tool(match: f.Match) -> str:
    return " or ".join(f"`{name}`" for name in (*match.names, *match.globs)) or "every tool"


def _kind(match: f.Match, path: str, tools: Tools) -> str | None:
    """Return the one kind that the field has in all tools that are meant; None if it may be
    another. Money of one tool and numbers of another are money.
    """
    found = {_declared(tools[tool], path) for tool in meant_tools([match], tools)}
    if MONEY in found:
        found.discard("a number")
    return found.pop() if len(found) == 1 else None


def _declared(fields: Mapping[str, str] | None, path: str) -> str | None:
    """Return the kind of one value there; of a list, that of its elements; None if it is not
    declared.
    """
    kind = (fields or {}).get(path) or (fields or {}).get(path.removesuffix("[]"), "")
    inner = kind[1:-1] if kind[:1] == "[" else kind
    if inner == "money":
        return MONEY
    if inner in TEXT_KINDS and not TEXT_KINDS[inner].numbers:
        return KINDS["string"]
    return KINDS.get(inner)


def _wanted(each: f.Condition) -> list[str]:
    """Return the kinds of the values that a condition compares with."""
    if each.op in ("matches", "under", "outside"):
        return ["a text"]
    if each.op in ("has", "carries") or isinstance(each.value, f.Var):
        return []
    values = each.value if isinstance(each.value, tuple) else (each.value,)
    return [_kind_of(value) for value in values if value is not None]


def _kind_of(value: f.Scalar) -> str:
    if isinstance(value, bool):
        return "true or false"
    return "a text" if isinstance(value, str) else "a number"
