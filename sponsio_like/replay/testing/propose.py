"""Proposes tests for contracts: the shortest traces that keep and that break each.

In: a contract file. Out: the text of a section `tests:`, for a person to read, correct and keep.
Each was tried; what it expects is what the contracts do now, be that right or wrong.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from sponsio_like.contracts import Contract, Expected, File, Inventory, WrittenTest
from sponsio_like.errors import ContractError
from sponsio_like.replay.letters import OTHER_VALUE, VALUE
from sponsio_like.replay.shortest import Shortest, notation, shortest_of
from sponsio_like.replay.testing.run import became_in, run_tests

Events: TypeAlias = tuple[dict[str, Any], ...]
MADE_UP = {VALUE: 1, OTHER_VALUE: 2}
"""The values that stand for any, each with a number for a field that is one."""
AROUND = 60
"""The most traces that are tried around the shortest one."""
HEAD = """\
# Proposed: what the contracts do now. Read each; correct what they should do instead; then take
# `proposed: true` away."""


def proposed(file: File) -> str:
    """Return a section `tests:` as YAML; empty if the file has a test of each name already.

    Where the file has tests, it is the lines to be added below them.
    """
    known = {test.name for test in file.tests}
    found = {
        each.name: _of_tools(shortest_of(replace(each, mode=None)), file) for each in file.contracts
    }
    new = [
        line
        for contract in file.contracts
        for test in _tests(contract, file, found)
        if test.name not in known
        for line in _written(test)
    ]
    head = [HEAD] if file.tests else [HEAD, "tests:"]
    return "\n".join([*head, *new]) + "\n" if new else ""


def with_proposed(text: str, file: File) -> str | None:
    """Return the text of a contract file with proposed tests at its end.

    None if nothing is to be proposed, or if the file has tests already: those stay as they are.
    """
    lines = "" if file.tests else proposed(file)
    return f"{text.rstrip()}\n{lines}" if lines else None


def _tests(contract: Contract, file: File, found: Mapping[str, Shortest]) -> Iterator[WrittenTest]:
    """Yield a test in which the contract is kept, and one in which it is broken."""
    own = found[contract.name]
    for word, how in ((own.keeps, "kept"), (own.breaks, "broken")):
        name = f"{contract.name}: {how}"
        spare: WrittenTest | None = None
        for events in _beside(word, contract.name, found) if word else ():
            became = _became(WrittenTest(name, events, "allowed"), file)
            if became is None:
                continue
            test = WrittenTest(name, events, *became)
            if _keeps(test, file) if how == "kept" else test.by == (contract.name,):
                yield test
                break
            if how == "broken" and contract.name in test.by:
                spare = spare or test
        else:
            if spare is not None:
                yield spare


def _keeps(test: WrittenTest, file: File) -> bool:
    """True if a test in which all is allowed passes: some contract speaks of what it calls."""
    return test.expect == "allowed" and run_tests(replace(file, tests=(test,))).passed


def _of_tools(found: Shortest, file: File) -> Shortest:
    """Return the traces with a tool of the file for one of nobody, if the file says its tools.

    Left out: a trace with facts for a text, and one that keeps a contract by tools of nobody alone.
    """
    known = tuple(file.inventory.tools or ())

    def named(word: Events | None, how: str) -> Events | None:
        if word is None or any(key[:1] == ":" for each in word for key in _keys(each.get("args"))):
            return None
        used = {each["tool"] for each in word if "tool" in each}
        if used and how == "kept" and used.isdisjoint(known):
            return None
        spare = next((tool for tool in known if tool not in used), "")
        of_file = (
            {**each, "tool": spare} if spare and each.get("tool", spare) not in known else each
            for each in word
        )
        return _of_kinds(tuple(of_file), file.inventory)

    if not known:
        return found
    return replace(found, keeps=named(found.keeps, "kept"), breaks=named(found.breaks, "broken"))


def _of_kinds(word: Events, inventory: Inventory) -> Events:
    """Return the trace with numbers for its made-up values, if a field that has one is a number."""
    asked = [
        (inventory.fields.get(each["tool"], {}).get(path, "").strip("[]"), value)
        for each in word
        if "tool" in each
        for path, value in each.get("args", {}).items()
    ]
    numbers = any(
        kind in ("integer", "number") and _numbered(value) != value for kind, value in asked
    )
    return tuple(_numbered(each) for each in word) if numbers else word


def _numbered(data: Any) -> Any:
    """Return data with a number in the place of each made-up value."""
    if isinstance(data, dict):
        return {key: _numbered(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_numbered(each) for each in data]
    return MADE_UP.get(data, data) if isinstance(data, str) else data


def _keys(data: Any) -> Iterator[str]:
    """Yield the keys of an object and of those in it."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield key
            yield from _keys(value)


def _became(test: WrittenTest, file: File) -> tuple[Expected, tuple[str, ...]] | None:
    try:
        return became_in(test, file)
    except ContractError:
        return None  # the file has no such tool


def _beside(word: Events, name: str, found: Mapping[str, Shortest]) -> Iterator[Events]:
    """Yield the trace alone, and with what keeps other contracts: arguments, calls around it.

    A trace that is the shortest for one contract may be stopped by another.
    """
    kept = [each.keeps for other, each in found.items() if other != name and each.keeps]
    args: dict[str, dict[str, Any]] = {}
    for other in kept:
        for each in other:
            if "tool" in each:
                args[each["tool"]] = {**each.get("args", {}), **args.get(each["tool"], {})}
    starts = {repr(other[:n]): other[:n] for other in kept for n in range(len(other))}
    ends = {repr(other[n:]): other[n:] for other in kept for n in range(1, len(other))}
    around = itertools.product({"()": (), **ends}.values(), {"()": (), **starts}.values())
    for end, start in itertools.islice(around, AROUND):
        yield (*start, *word, *end)
        yield _filled((*start, *word, *end), args)


def _filled(events: Events, args: Mapping[str, Mapping[str, Any]]) -> Events:
    """Return the events with these arguments where a call has others, or none."""
    return tuple(
        {**each, "args": both}
        if "tool" in each and (both := {**args.get(each["tool"], {}), **each.get("args", {})})
        else each
        for each in events
    )


def _written(test: WrittenTest) -> Iterator[str]:
    yield "- proposed: true"
    yield f"  name: {_text(test.name)}"
    yield f"  trace: {_text(notation(test.events, whole=True))}"
    by = _text(test.by[0]) if len(test.by) == 1 else f"[{', '.join(map(_text, test.by))}]"
    expect = test.expect if not test.by else f"{{{test.expect}: {by}}}"
    yield f"  expect: {expect}"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
