"""Explains patterns and contracts in words.

In: the catalog of patterns, or the contracts of a file. Out: lines for people, each with a style.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sponsio_like.contracts import (
    ALL_INPUTS,
    Contract,
    Parameter,
    Pattern,
    Rule,
    Vocabulary,
    argument_text,
    inputs_needed,
    read_sentence,
)
from sponsio_like.errors import ContractError, Problem
from sponsio_like.outcome import Ask, Block, Decision, Escalate, Mode, Redirect, Stop, Warn
from sponsio_like.syntax import show
from sponsio_like.terminal import Styled, backticked

NO_WORDS = Vocabulary()
"""The words of sentences where neither tools nor actions nor fields are known."""
REQUIRED = {
    "domain": "must be in domain",
    "runs": "may only run",
    "verbs": "may only",
    "currency": "must be in currency",
}
"""The demands of sentences on the facts of a text."""
HEAD = "bold cyan"
NAME = "bold"
FAINT = "dim"
PLAIN_WORD = re.compile(r"\$?[A-Za-z_][\w.-]*")
RESERVED = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "none"}
ORDER = ("safety", "compliance", "operational", "exclusion", "arguments", "texts")
NOTATION = (
    "In traces, x! is a call that failed, x? one in flight until ok:x or error:x, x=.. one with an",
    "answer, x@a one by agent a; +60s is a minute later, msg:role=.. a message; ctx:, permit: and",
    "approve: are facts.",
)


# --- patterns -------------------------------------------------------------------------------------


def catalog_page(patterns: Iterable[Pattern]) -> list[Styled]:
    """Return all patterns by family, each with its sentence, as lines."""
    families: dict[str, list[Pattern]] = {family: [] for family in ORDER}
    for each in patterns:
        families.setdefault(each.family, []).append(each)
    width = max(len(each.name) for members in families.values() for each in members) + 2
    page: list[Styled] = []
    for family, members in families.items():
        if not members:
            continue
        page.append((family, HEAD))
        page += [(f"  {each.name:<{width}}{template(each.sentences[0])}", "") for each in members]
        page.append(("", ""))
    page.append(("`sponsio-like patterns NAME` explains one, with an example.", FAINT))
    return page


def template(sentence: str) -> str:
    """Return a sentence with its places shown: tool `<first>` must precede `<then>`."""
    return re.sub(r"\{([a-z_.]+)(?::[^}]*)?\}", lambda place: f"<{place[1]}>", sentence)


def pattern_page(pattern: Pattern) -> list[Styled]:
    """Return a page on one pattern: its meaning, its form, traces that keep and break it."""
    rule = pattern.rule(pattern.example)
    page: list[Styled] = [(f"{pattern.name}", HEAD), (f"family: {pattern.family}", FAINT), ("", "")]
    page += [(f"  {template(sentence)}", NAME) for sentence in pattern.sentences]
    page += [("", ""), *((line, "") for line in pattern.summary.splitlines()), ("", "")]
    page += [("arguments", HEAD), *_arguments(pattern.parameters), ("", "")]
    page += [
        ("in a contract file", HEAD),
        *((f"  {s}", "") for s in example_file(pattern)),
        ("", ""),
    ]
    page += [("which means", HEAD), (f"  {rule.sentence}", ""), (f"  {show(rule.formula)}", "")]
    page += [("", ""), ("traces that keep it", HEAD), *_traces(pattern.keeps), ("", "")]
    page += [("traces that break it", HEAD), *_traces(pattern.breaks), ("", "")]
    page += [(line, FAINT) for line in NOTATION]
    return page


def _arguments(parameters: Iterable[Parameter]) -> Iterator[Styled]:
    parameters = list(parameters)
    width = max(len(each.name) for each in parameters) + 2
    for each in parameters:
        default = "" if each.required else f" (default: {argument_text(each.default)})"
        yield f"  {each.name:<{width}}{each.expects}{default}", ""


def _traces(traces: Iterable[str]) -> Iterator[Styled]:
    for trace in traces:
        yield f"  {trace or '(nothing happens)'}", ""


def example_file(pattern: Pattern) -> list[str]:
    """Return the lines of a whole contract file with the pattern's own example."""
    arguments = {"pattern": pattern.name, **pattern.example}
    return [
        "version: 1",
        "contracts:",
        f"  - name: {pattern.name.replace('_', ' ')}",
        f"    guarantee: {yaml_line(arguments)}",
    ]


def yaml_line(value: Any) -> str:
    """Return JSON-like data on one line of YAML, with quotes only where they are needed."""
    match value:
        case Mapping():
            return (
                "{" + ", ".join(f"{yaml_line(k)}: {yaml_line(v)}" for k, v in value.items()) + "}"
            )
        case list() | tuple():
            return "[" + ", ".join(map(yaml_line, value)) + "]"
        case str() if PLAIN_WORD.fullmatch(value) and value.lower() not in RESERVED:
            return value
    return json.dumps(value, ensure_ascii=False)


# --- contracts ------------------------------------------------------------------------------------


Labelled = Iterable[tuple[str, str]]
"""Traces in words, each with a label."""


def contracts_page(
    contracts: Iterable[Contract],
    mode: Mode,
    traces: Mapping[str, Labelled] | None = None,
    words: Vocabulary = NO_WORDS,
) -> list[Styled]:
    """Return what was understood of each contract.

    `mode` is that of contracts that do not say; `traces` are shown under the contract of that name;
    `words` are those that sentences may use.
    """
    page: list[Styled] = []
    for contract in contracts:
        shown = (traces or {}).get(contract.name, ())
        page += [*_contract(contract, contract.mode or mode, shown, words), ("", "")]
    return page


def warnings_page(warnings: Iterable[Problem]) -> list[Styled]:
    """Return the warnings of contracts, each with what to write instead."""
    return [line for each in warnings for line in ((f"warning: {each}", HEAD), ("", ""))]


def sentence_page(rule: Rule, traces: Labelled, words: Vocabulary = NO_WORDS) -> list[Styled]:
    """Return what a sentence means as lines; `traces` are traces with their labels."""
    return [*_rule(rule, words, ""), *((f"{label:<7}  {text}", "") for label, text in traces)]


def _rule(rule: Rule, words: Vocabulary, indent: str = "  ") -> Iterator[Styled]:
    if rule.sentence:
        yield f"{indent}must     {_written(rule, words)}", ""
    label = "formula" if rule.sentence else "must   "
    split = f", for each {backticked(rule.by)}" if rule.by else ""
    yield f"{indent}{label}  {show(rule.formula)}{split}", FAINT if rule.sentence else ""


def _contract(
    contract: Contract, mode: Mode, traces: Labelled, words: Vocabulary
) -> Iterator[Styled]:
    yield contract.name, NAME
    yield f"  {contract.where}", FAINT
    for key, said in contract.about.said().items():
        yield f"  {key:<9}{', '.join(said) if key == 'tags' else said}", ""
    if contract.assumption is not None:
        yield f"  where    {show(contract.assumption)}", ""
    if (scope := contract.segment) is not None:
        ends = [show(end) for end in (scope.start, scope.stop) if end is not None]
        yield f"  scope    {scope.kind.replace('_', ' ')} {' and '.join(ends)}", ""
    for rule in contract.rules:
        yield from _rule(rule, words)
    yield from ((f"  {label:<7}  {text}", "") for label, text in traces)
    answers = [contract.answer or rule.answer or Block() for rule in contract.rules]
    doing = " or ".join(dict.fromkeys(map(_answer, answers)))
    would = "" if mode == "enforce" else "would "
    some = f", in {100 * contract.share:g} % of sessions" if contract.share < 1 else ""
    yield f"  else     {would}{doing} ({mode} mode{some})", ""
    if contract.on_world:
        yield "  kept     in the world: no fork or checkpoint rewinds it", ""
    if wants := inputs_needed(contract) & ALL_INPUTS:
        yield f"  needs    {', '.join(sorted(wants))}", ""


def _written(rule: Rule, words: Vocabulary) -> str:
    """Return a sentence of a rule if it reads back; else the pattern as a file writes it."""
    for sentence in (rule.sentence, *_of_kinds(rule.arguments.get("call"))):
        try:
            again = read_sentence(sentence, words)
        except ContractError:
            continue
        if (again.formula, again.by) == (rule.formula, rule.by):
            return sentence
    if not rule.pattern:
        return yaml_line({"ltl": show(rule.formula)})
    return yaml_line({"pattern": rule.pattern, **rule.arguments})


def _of_kinds(call: object) -> Iterator[str]:
    """Yield the sentence of calls whose field has to mean something: of one fact, for one tool."""
    match call:
        case {"tool": str(tool), "args": {**fields}} if len(fields) == 1:
            [(field, facts)] = fields.items()
        case _:
            return
    match facts:
        case {**one} if len(one) == 1 and (demand := REQUIRED.get(str(next(iter(one))))):
            [asked] = one.values()
        case _:
            return
    match asked:
        case {"every": {"in": [*texts]}} | {"in": [*texts]} | [*texts]:
            plain = demand.endswith("only")  # verbs
            shown = ", ".join(map(str, texts)) if plain else " or ".join(map(_quoted, texts))
            yield f"the `{field}` of `{tool}` {demand} {shown}"


def _quoted(text: object) -> str:
    return f'"{text}"'


def _answer(decision: Decision) -> str:
    match decision:
        case Block():
            return "block the call"
        case Stop():
            return "block the call, and end the run"
        case Warn():
            return "warn"
        case Redirect(tool):
            return f"call `{tool}` instead"
        case Escalate(roles):
            return f"hold the call for {' or '.join(roles) or 'a person'}"
        case Ask(name):
            return f"ask `{name}`"
