"""Makes a small set of events that differ in what the contract reads of them.

In: a contract. Out: events as a trace file has them: calls with arguments that meet the conditions
of the contract and some that do not, their answers and failures, facts, messages, and waits.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import sponsio_like.logic.formula as f
from sponsio_like.contracts import Contract, formulas
from sponsio_like.replay.sample_texts import texts_for
from sponsio_like.values import kind_step, path_parts

Letter = dict[str, Any]
"""One event of a trace file; `wait` are the seconds since the one before, where they are not 1."""
VALUE, OTHER_VALUE = "x1", "x2"
STRANGERS = ("other", "another", "a third")
"""Names for a tool that a contract does not mention."""
CALLS_CAP = 12
"""The most different calls of one tool that are tried."""
DATA = {
    "email": "ann@example.com",
    "phone": "+49 30 901820",
    "card": "4111 1111 1111 1111",
    "iban": "DE89 3704 0044 0532 0130 00",
    "aws_key": "AKIAIOSFODNN7EXAMPLE",
}
"""A text in which the detector of this name finds something."""
SIGNS = {">": (1, 0), ">=": (0, -1), "<": (-1, 0), "<=": (0, 1)}
"""A number that meets a comparison, and one that does not, as distances."""


def letters_of(contract: Contract) -> list[Letter]:
    """Return the events to try, plain ones first."""
    nodes = list(dict.fromkeys(node for root in formulas(contract) for node in f.postorder(root)))
    found = [*_facts(nodes), *_calls(nodes, contract), *_messages(nodes)]
    found += _calls_of_unnamed(nodes, contract)
    waits = sorted(set(_waits(nodes)))
    found += [{**each, "wait": wait} for wait in waits for each in found]
    return list({repr(each): each for each in found}.values())


def numbers_of(contract: Contract) -> list[float]:
    """Return the numbers that stand in a contract."""
    nodes = (node for root in formulas(contract) for node in f.postorder(root))
    return [n for node in nodes for n in _numbers(node)]


def _numbers(node: f.Node) -> Iterator[float]:
    match node:
        case f.Const(int() | float() as value) if not isinstance(value, bool):
            yield value
        case f.Custom(_, args):
            yield from (n for n in args if isinstance(n, (int, float)))
    if isinstance(bound := getattr(node, "bound", None), f.Steps):
        yield bound.count


# --- calls ----------------------------------------------------------------------------------------


def _calls(nodes: Iterable[f.Node], contract: Contract) -> Iterator[Letter]:
    nodes = list(nodes)
    targets = [match for node in nodes for match in f.matches_of(node)]
    tools = dict.fromkeys(name for match in targets for name in _names(match))
    agents = _agents(nodes, targets, contract)
    for tool in tools:
        fields = _fields(nodes, targets, tool, contract)
        for args in itertools.islice(_arguments(fields), CALLS_CAP):
            for end, agent in itertools.product(_ends(nodes, tool), agents or [{}]):
                yield {"tool": tool, **({"args": args} if args else {}), **agent, **end}


def _calls_of_unnamed(nodes: Iterable[f.Node], contract: Contract) -> Iterator[Letter]:
    """Yield calls of a tool that the contract does not name."""
    stranger = _unnamed_tool(nodes)
    yield {"tool": stranger}
    if any(isinstance(node, f.Depth) for node in nodes):
        yield from ({"tool": stranger, "depth": int(n) + 1} for n in numbers_of(contract))
    if any(isinstance(node, f.Denied) for node in nodes):
        yield {"tool": stranger, "status": "refused"}


def _names(match: f.Match) -> Iterator[str]:
    yield from match.names
    globs = (glob.replace("*", "x").replace("?", "x") for glob in match.globs if glob.strip("*"))
    yield from globs
    if any(not glob.strip("*") for glob in match.globs):
        yield "other"


def _unnamed_tool(nodes: Iterable[f.Node]) -> str:
    """Return a name of a tool that the contract does not mention."""
    taken = {n for node in nodes for match in f.matches_of(node) for n in _names(match)}
    return next(name for name in STRANGERS if name not in taken)


def _agents(
    nodes: Iterable[f.Node], targets: Iterable[f.Match], contract: Contract
) -> list[Letter]:
    names = [node.name for node in nodes if isinstance(node, f.ByAgent)]
    names += [match.agent for match in targets if isinstance(match.agent, str)]
    if any("@agent" in rule.by for rule in contract.rules):
        names += ["ann"]
    return [{"agent": name} for name in dict.fromkeys([*names, *(["bob"] if names else [])])]


def _fields(
    nodes: Iterable[f.Node], targets: Iterable[f.Match], tool: str, contract: Contract
) -> dict[str, list[Any]]:
    """Return the fields of a tool, each with values that matter."""
    fields: dict[str, list[Any]] = {}
    for match in targets:
        if tool in _names(match):
            for each in match.conditions:
                path, texts = _of_kind(each.path, each.op, each.value)
                fields.setdefault(path, []).extend(texts or _samples(each.op, each.value))
    for node in nodes:
        match node:
            case f.Custom(name, (str(path), *rest)) if name.startswith("arg_"):
                base, texts = _of_kind(path, "in", tuple(n for n in rest if n is not None))
                fields.setdefault(base, []).extend(texts or _of_atom(name, rest))
            case f.Arg(path) | f.Sum(_, path):
                near = [n + step for n in numbers_of(contract) for step in (0, 1, -1)]
                fields.setdefault(path, []).extend(near or [1])
            case f.Mark(path):
                fields.setdefault(path, []).extend([VALUE, OTHER_VALUE])
    for path in (path for rule in contract.rules for path in rule.by if path[0] != "@"):
        fields.setdefault(path, []).extend([VALUE, OTHER_VALUE])
    return {k: _unique(v) for k, v in fields.items() if k and k[0] != "@"}


def _of_kind(path: str, op: str, value: Any) -> tuple[str, list[Any]]:
    """Return the field of a path to a fact of a text, and texts to try; else the path, and none."""
    parts = path_parts(path)
    kind = next((part for part in parts if kind_step(part) is not None), "")
    if not kind:
        return (path, _folders(value) if op in ("under", "outside") else [])
    fact = next(iter(parts[parts.index(kind) + 1 :]), "")
    texts = list(texts_for(kind[1:], fact, op, value))
    return (path.partition(kind)[0], texts) if texts else (path, [])


def _folders(value: Any) -> list[str]:
    return [*(f"{str(each).rstrip('/')}/a" for each in value), "/elsewhere/a"]


def _of_atom(name: str, rest: list[Any]) -> list[Any]:
    match name, rest:
        case (("arg_contains" | "arg_allowed"), [tuple(patterns), *_]):
            return [*map(literal, patterns), "other"]
        case "arg_length", [int(most), *_]:
            return ["x" * most, "x" * (most + 1)]
        case "arg_between", [least, most, *_]:
            some = [n for n in (least, most) if n is not None]
            return [*some, *(n + 1 for n in some[-1:]), *(n - 1 for n in some[:1])]
        case "arg_inside", [tuple(folders), *_]:
            return [f"{folders[0].rstrip('/')}/a", "/elsewhere"]
        case "arg_host", [tuple(hosts), *_]:
            return [f"https://{hosts[0].replace('*', 'www')}/", "https://elsewhere.example/"]
        case "arg_finds", [tuple(names), *_]:
            return ["other", *_data(names)]
    return [VALUE]


def _data(names: Iterable[Any]) -> list[str]:
    """Return a text in which one of these detectors finds something, if one is known."""
    return [DATA[each] for each in names if each in DATA][:1]


def _samples(op: str, value: Any) -> list[Any]:
    """Return a value that meets a comparison, and one that does not."""
    if isinstance(value, f.Var):
        return [VALUE, OTHER_VALUE]
    if op in SIGNS and isinstance(value, (int, float)):
        return [value + step for step in SIGNS[op]]
    if op == "matches":
        return [literal(value), "other"]
    if isinstance(value, tuple):
        return [value[0], "other"]
    return ["other", value] if op == "!=" else [value, "other"]


def _arguments(fields: Mapping[str, list[Any]]) -> Iterator[Letter]:
    """Yield arguments: the first value of each field; then others of one; then without one."""
    first = {path: values[0] for path, values in fields.items()}
    yield _nested(first)
    for path, values in fields.items():
        yield from (_nested({**first, path: value}) for value in values[1:])
    for path in fields:
        yield _nested({key: value for key, value in first.items() if key != path})


def _nested(flat: Mapping[str, Any]) -> Letter:
    out: Letter = {}
    for path, value in flat.items():
        if path == "*":
            out["x"] = value
            continue
        *outer, last = path_parts(path.replace("[]", ""))
        inside = out
        for part in outer:
            inside = inside.setdefault(part, {})
        inside[last] = [value] if path.endswith("[]") else value
    return out


def _ends(nodes: Iterable[f.Node], tool: str) -> list[Letter]:
    """Return the ways in which a call can end: it worked, with these answers, or failed."""
    ends: list[Letter] = []
    failing = False
    for node in nodes:
        match node:
            case f.OutputIs(path, op, value):
                shown = _samples(op, value) if path or op != "has" else [VALUE, OTHER_VALUE]
                ends += [{"output": _nested({path: each}) if path else each} for each in shown]
            case f.Custom("output_finds", (tuple(names),)):
                ends += [{"output": each} for each in _data(names)]
            case f.Custom("confirms"):
                ends += [{"output": "yes"}, {"output": "no"}]
            case f.Happens("done" | "failed", target):
                failing = failing or any(tool in _names(match) for match in target)
    if any(isinstance(node, f.Denied) for node in nodes):
        ends.append({"status": "refused"})
    return [{}, *ends, *([{"status": "error"}] if failing else [])]


# --- other events ---------------------------------------------------------------------------------


def _facts(nodes: Iterable[f.Node]) -> Iterator[Letter]:
    for node in nodes:
        match node:
            case f.Compare(f.Ctx(key), op, f.Const(value)):
                yield from (_fact(key, each) for each in _samples(op, value))
            case f.Permitted(name):
                yield _fact("permissions", [name])
            case f.Approved(action, role):
                told = {"action": action, "role": role, "decision": "approve", "by": role}
                yield _fact("approval", told)
            case f.FactAge(key):
                yield _fact(key, True)


def _fact(key: str, value: Any) -> Letter:
    return {"type": "fact", "key": key, "value": value}


def _messages(nodes: Iterable[f.Node]) -> Iterator[Letter]:
    nodes = list(nodes)
    texts = [literal(node.regex) for node in nodes if isinstance(node, f.TextMatches)]
    texts += [VALUE for node in nodes if isinstance(node, f.TextIs)]
    texts += [text for node in nodes for text in _texts(node)]
    roles = dict.fromkeys(node.role for node in nodes if isinstance(node, f.MessageBy))
    for role in roles:
        for text in dict.fromkeys([*texts, "other"]):
            yield {"type": "message", "role": "user" if role == "*" else role, "text": text}
    if any(isinstance(node, f.Tokens) for node in nodes):
        for most in (n for node in nodes for n in _numbers(node)):
            usage = {"total_tokens": int(most)}
            yield {"type": "message", "role": "system", "text": "", "usage": usage}


def _texts(node: f.Node) -> Iterator[str]:
    match node:
        case f.Custom("text_mentions", (tuple(words), *_)):
            yield from map(str, words)
        case f.Custom("text_finds", (tuple(names),)):
            yield from _data(names)
        case f.Custom("text_within", (words, chars)):
            yield from ["x " * (words + 1)] if isinstance(words, int) else []
            yield from ["x" * (chars + 1)] if isinstance(chars, int) else []


def _waits(nodes: Iterable[f.Node]) -> Iterator[float]:
    for node in nodes:
        if isinstance(bound := getattr(node, "bound", None), f.Seconds):
            yield bound.count + 1
        match node:
            case f.Compare(
                f.Age() | f.FactAge() | f.ApprovalAge(), _, f.Const(int() | float() as n)
            ):
                yield n + 1


def literal(regex: str) -> str:
    """Return a text that matches a regular expression; `x` if it is no plain one."""
    bare = re.sub(r"^\(\?[a-z]+\)|\\b", "", regex).split("|")[0].strip("^$()")
    text = re.sub(r"\\(.)", r"\1", re.sub(r"\\d[+*]?", "7", re.sub(r"\\w[+*]?", "w", bare)))
    text = re.sub(r"\.[*+]", "", text)
    try:
        return text if re.search(regex, text) else VALUE
    except re.error:
        return VALUE


def _unique(values: Iterable[Any]) -> list[Any]:
    return list({repr(each): each for each in values}.values())
