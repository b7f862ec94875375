"""Makes a contract file from the answer of a model: what is grounded in the traces is kept.

In: the answer, the specification that it is about, the signature of recorded runs. Out: a `Draft`:
the text of a contract file in observe mode, and the statements that were refused, with reasons. No
model is asked here, and no decision depends on it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sponsio_like.checks import compile_policy
from sponsio_like.cli.draft.observed import ObservedTools, ObservedValues, with_value
from sponsio_like.cli.draft.occurrence import sought, ungrounded
from sponsio_like.cli.draft.statements import LEFT_OUT, Statement, objections, statements, why
from sponsio_like.cli.draft.yaml_text import entry, flow, one_line
from sponsio_like.contracts import Contract, Inventory, inputs_needed, loads
from sponsio_like.errors import ContractError
from sponsio_like.replay import ContractSummary, Replay, Summary
from sponsio_like.traces import CallEvent, FactEvent, Trace

KEYS = ("name", "assume", "scope", "guarantee", "strategy")
QUOTE_CHARS = 300
"""The most characters of a quotation that are kept."""


@dataclass(frozen=True, slots=True)
class RefusedStatement:
    """A statement that was not kept, and the reasons."""

    text: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeptStatement:
    """A statement that was kept: its data, the words it is from, and what is odd about it.

    `tried` is what it would have done on the traces.
    """

    name: str
    data: Mapping[str, Any]
    quote: str = ""
    notes: tuple[str, ...] = ()
    tried: ContractSummary = field(default_factory=ContractSummary)

    @property
    def remarks(self) -> list[str]:
        """The things that a person should know before trusting this contract."""
        found = [f'from "{self.quote}"'] if self.quote else []
        if self.tried.judged:
            found.append(f"broken in {self.tried.broken} of {self.tried.judged} traces")
        return found + [f"note: {note}" for note in self.notes]

    def lines(self) -> list[str]:
        """Return the contract as it stands in a contract file."""
        first, *rest = [line for key, value in self.data.items() for line in entry(key, value)]
        remarks = [f"  # {one_line(remark)}" for remark in self.remarks]
        return [*remarks, f"  - {first}", *(f"    {line}" for line in rest)]


@dataclass(frozen=True, slots=True)
class Draft:
    """The kept and the refused statements of an answer.

    `about` has lines for the head of the file.
    """

    kept: tuple[KeptStatement, ...]
    refused: tuple[RefusedStatement, ...]
    tools: Mapping[str, Any]
    about: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The contract file."""
        return _written(self.kept, self.tools, self.about)[0]


def _written(
    kept: Iterable[KeptStatement], tools: Mapping[str, Any], about: Iterable[str] = ()
) -> tuple[str, list[int]]:
    """Return a contract file, and the lines in which its contracts begin, from 1."""
    lines = [f"# {one_line(line)}" for line in about]
    lines += ["version: 1", "mode: observe", "unlisted: allow  # the runs need not show all tools"]
    lines.append("tools:")
    lines += [f"  {line}" for name, tool in tools.items() for line in entry(name, tool)]
    lines.append("contracts:")
    starts = []
    for each in kept:
        starts.append(len(lines) + 1)
        lines += each.lines()
    return "\n".join([*lines, ""]), starts


# --- drafting -------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Case:
    """A statement while it is judged; it is kept if it has no reasons against it."""

    text: str
    reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    quote: str = ""

    @property
    def kept(self) -> KeptStatement:
        name = str(self.data.get("name", "")).strip()
        return KeptStatement(name, self.data, self.quote, tuple(self.notes))


def drafted(answer: str, specification: str, signature: ObservedTools) -> Draft:
    """Return the draft made of an answer. Raises `SponsioLikeError` for one that is too long."""
    words = _words(specification)
    cases = [_case(statement, words) for statement in statements(answer)]
    _tell_apart(cases)
    for case, contract in _loaded(cases, signature.inventory):
        case.reasons += _faults(contract, signature)
        if not case.reasons and (lack := inputs_needed(contract) - signature.inputs):
            case.notes.append(f"not judged: the traces have no {', '.join(sorted(lack))}")
    kept = [case.kept for case in cases if not case.reasons]
    refused = [RefusedStatement(case.text, tuple(case.reasons)) for case in cases if case.reasons]
    return Draft(tuple(kept), tuple(refused), signature.inventory)


def _case(statement: Statement, words: str) -> _Case:
    """Return the case of a statement, before anything of it is loaded."""
    data = statement.data
    reasons = [statement.reason] if statement.reason else objections(data)
    case = _Case(statement.text, reasons)
    if reasons:
        return case
    unknown = [key for key in data if key not in (*KEYS, *LEFT_OUT, "quote")]
    case.data = {key: data[key] for key in (*KEYS, *unknown) if key in data}
    case.notes += [f"`{key}` was left out: {LEFT_OUT[key]}" for key in LEFT_OUT if key in data]
    case.quote = one_line(str(data.get("quote") or ""))[:QUOTE_CHARS]
    if not case.quote:
        case.notes.append("it quotes nothing of the specification")
    elif f" {_words(case.quote)} " not in f" {words} ":
        case.notes.append("what it quotes does not stand in the specification")
    return case


def _words(text: str) -> str:
    """Return a text without case, signs and blanks that vary."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _tell_apart(cases: Iterable[_Case]) -> None:
    """Refuse a contract that is there twice, and rename one whose name is taken."""
    names: set[str] = set()
    said: dict[str, str] = {}
    for case in cases:
        name = case.data.get("name")
        if case.reasons or not isinstance(name, str):
            continue
        means = flow({key: value for key, value in case.data.items() if key != "name"})
        if means in said:
            case.reasons.append(f"it says the same as `{said[means]}`")
            continue
        number, own = 1, name.strip()
        while own in names:
            number += 1
            own = f"{name.strip()} ({number})"
        if number > 1:
            case.notes.append(f"another one was named `{name.strip()}`, too")
            case.data["name"] = own
        names.add(own)
        said[means] = own


def _loaded(cases: Sequence[_Case], tools: Mapping[str, Any]) -> list[tuple[_Case, Contract]]:
    """Return the statements with their contracts, as the loader of contract files reads them.

    The loader tells every mistake with its line: the statement in that line is refused, and the
    others are tried again.
    """
    while standing := [case for case in cases if not case.reasons]:
        text, starts = _written([case.kept for case in standing], tools)
        try:
            return list(zip(standing, loads(text, "draft").contracts, strict=True))
        except ContractError as error:
            _blame(error, standing, starts)
    return []


def _blame(error: ContractError, cases: Sequence[_Case], starts: Sequence[int]) -> None:
    """Note each mistake at the statement in whose lines it stands."""
    for problem in error.problems:
        line = int(problem.where.split(":")[1])
        place = bisect_right(starts, line) - 1
        if place < 0:
            raise error
        cases[place].reasons.append(why(ContractError(problem)))


def _faults(contract: Contract, signature: ObservedTools) -> Iterator[str]:
    """Yield what is wrong with a contract that could be read."""
    found = ungrounded(contract, signature)
    yield from found
    if not found:
        try:
            compile_policy([contract], "observe", Inventory(dict.fromkeys(signature.tools)))
        except ContractError as error:
            yield why(error)


# --- trying ---------------------------------------------------------------------------------------


def try_contracts(draft: Draft, traces: Iterable[Trace]) -> tuple[Draft, Summary]:
    """Return the draft with what its contracts would have done, and the summary of the traces.

    It also notes values that no call has, or no fact.
    """
    file = loads(draft.text, "draft")
    player = Replay(file.contracts, mode="observe", tools=file.inventory)
    summary = Summary(player.needs)
    values = {contract.name: sought(contract) for contract in file.contracts}
    facts: dict[str, ObservedValues] = {}
    for trace in traces:
        summary.add(player.judge(trace))
        for event in trace.events:
            if isinstance(event, CallEvent):
                for each in values.values():
                    each.see(event.call)
            elif isinstance(event, FactEvent):
                for each in values.values():
                    each.see_fact(event.key, event.value)
                facts[event.key] = with_value(facts.get(event.key, ObservedValues()), event.value)
    kept = [
        replace(
            each,
            notes=(*each.notes, *values[each.name].notes(facts)),
            tried=summary.lines[each.name],
        )
        for each in draft.kept
    ]
    return replace(draft, kept=tuple(kept)), summary
