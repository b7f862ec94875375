"""Reads the tools of an agent from a file that was not written for contracts.

In: a file (JSON or YAML): names; schemas of functions; the manifest of an MCP server; `tools:` of a
contract file. Or recorded traces. Out: each tool with the kinds of its arguments, None where these
are not known.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sponsio_like.checks import at_place, known_names, refuse_strangers, unchecked, unknown_names
from sponsio_like.cli.draft.observed import signature_of
from sponsio_like.contracts import (
    SIZE_CAP,
    TOOL_FORMS,
    Contract,
    FieldKind,
    Fields,
    File,
    Inventory,
    Vocabulary,
    parse,
    read_inventory,
    schema_of_tool,
)
from sponsio_like.errors import ContractError, Problem, changed, closest, refuse
from sponsio_like.traces import Trace, read_traces

HOW = "with --tools FILE or --traces FILE"


def unchecked_names(file: File, tools: Path | None, traces: Sequence[Path]) -> list[str]:
    """Return the names in a contract file that could not be checked, in lines for people.

    `tools` is a file that lists the agent's tools; `traces` are recorded runs, which may never have
    given an optional argument. Raises `ContractError` for names of tools that are not there, and
    for arguments that are not declared.
    """
    known = file.inventory
    given = None if tools is None else read_tools(tools)
    if given is not None:
        _check_declared(known, given, str(tools))
    told = known_names(known, given or {})
    shown = tools_in_traces(each for path in traces for each in read_traces(path))
    words = known_names(Inventory(told.tools, known.elsewhere), shown)
    if words.tools:
        declared = {
            each: None if told.fields(each) is None else fields
            for each, fields in words.tools.items()
        }
        searched = f"searched: {_sources(known, tools, traces)}"
        refuse_strangers(file.contracts, replace(words, tools=declared), searched)
        never = [f"warning: {each}" for each in _never_given(file.contracts, words)]
        lacking = sorted({each for one in file.contracts for each in unchecked(one, words)})
        names = ", ".join(f"`{each}`" for each in lacking)
        hint = f"declare their `fields:` in `tools:`, or give them {HOW}"
        left = [f"names of arguments of {names} were NOT checked; {hint}"] if lacking else []
        return [*never, *left]
    hint = f"list them in `tools:`, or give them {HOW}"
    return [f"names of tools and arguments were NOT checked: the agent's are not known; {hint}"]


def _never_given(contracts: Iterable[Contract], words: Vocabulary) -> Iterator[Problem]:
    """Yield the arguments that contracts name and no recorded run gives; they may be optional."""
    for each in contracts:
        for problem in at_place(each, unknown_names(each, words)):
            yield replace(problem, what=f"{problem.what} in the recorded runs")


def _check_declared(known: Inventory, given: Mapping[str, Fields | None], where: str) -> None:
    missing = [each for each in known.tools or () if each not in given]
    what = "`tools:` lists `{}`, which is not there"
    refuse(Problem(what.format(each), where, closest(each, given)) for each in missing)


def _sources(known: Inventory, tools: Path | None, traces: Sequence[Path]) -> str:
    declared = [] if known.tools is None else ["`tools:`"]
    return ", ".join([*declared, *([] if tools is None else [str(tools)]), *map(str, traces)])


def kinds_in_tools(path: Path | None) -> list[FieldKind]:
    """Return the kinds of arguments that a file of tools tells; none without a file."""
    tools = {} if path is None else read_tools(path)
    named = (
        (tool, field, kind)
        for tool, known in tools.items()
        for field, kind in (known or {}).items()
    )
    return [FieldKind(*each, str(path)) for each in named if each[2] != "any"]


def read_tools(path: Path) -> dict[str, Fields | None]:
    """Return the tools of a file. Raises `ContractError` for what is no list of tools."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise ContractError.of(f"cannot be read: {reason}", "", str(path)) from None
    try:
        found = _tools(_data(text))
    except ContractError as error:
        at = str(path)
        raise changed(
            error, lambda p: replace(p, where=f"{at}:{p.where}" if p.where else at)
        ) from None
    if not found:
        raise ContractError.of("there are no tools in it", TOOL_FORMS, str(path))
    return found


def tools_in_traces(traces: Iterable[Trace]) -> dict[str, Fields | None]:
    """Return the tools that traces show, with the arguments that were given."""
    signature = signature_of(traces)
    return {name: None if tool.lost else tool.fields for name, tool in signature.tools.items()}


def _data(text: str) -> Any:
    try:
        return json.loads(text) if len(text) <= 4 * SIZE_CAP else parse(text).data
    except (ValueError, RecursionError):
        document = parse(text)
        if document.problems:
            raise ContractError(*document.problems) from None
        return document.data


def _tools(data: Any) -> dict[str, Fields | None]:
    match data:
        case {"result": {"tools": inner}} | {"tools": inner}:  # MCP; a contract file
            return _tools(inner)
        case list():
            pairs = [schema_of_tool(each) for each in data]
            return {name: fields for name, fields in pairs if name}
        case {"name": str()} | {"function": {"name": str()}}:
            return _tools([data])
        case dict():
            return read_inventory(data)
    raise ContractError.of("it is no list of tools", TOOL_FORMS)
