"""Collects what recorded runs show: tools, their arguments and outputs, roles, agents, facts,
steps.

In: traces, one by one. Out: `ObservedTools`, the words that a drafted contract may use. Memory is
bounded by the caps below, however many traces there are; the same traces make the same signature.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sponsio_like.logic import is_glob
from sponsio_like.traces import CallEvent, FactEvent, MessageEvent, ResultEvent, StepEvent, Trace
from sponsio_like.values import TEXT_CAP, path_parts

TOOLS_CAP = 300
"""The most tools; calls of further ones are only counted."""
PATHS_CAP = 100
"""The most paths of the arguments of one tool, and of its outputs."""
NAMES_CAP = 200
"""The most roles, agents, keys of facts, steps."""
NAME_CHARS = 200
"""The longest name of anything."""
DEPTH_CAP = 6
"""The deepest path, in parts."""
OUTPUT_DEPTH = 2
"""The deepest path into an output: `id`, `[].id`, `items[]`."""
ELEMENTS_CAP = 50
"""The most elements of one list that are looked into."""
VALUES_CAP = 5
"""The most example values of a path."""
VALUE_CHARS = 60
"""The most characters of an example value."""

ORDER = ("boolean", "integer", "number", "string", "array", "object", "null")


@dataclass(frozen=True, slots=True)
class ObservedValues:
    """The values at a path: their kinds, and the first few that differ."""

    kinds: tuple[str, ...] = ()
    values: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """One word for the kinds, as inventories have it."""
        kinds = set(self.kinds) - {"null"}
        if kinds == {"integer", "number"}:
            return "number"
        return kinds.pop() if len(kinds) == 1 else "any"


@dataclass(frozen=True, slots=True)
class ObservedTool:
    """A tool as it was seen. `lost` counts the paths that are not listed any more."""

    calls: int = 0
    failed: int = 0
    structured: int = 0
    args: Mapping[str, ObservedValues] = field(default_factory=dict)
    output: Mapping[str, ObservedValues] = field(default_factory=dict)
    lost: int = 0

    @property
    def fields(self) -> dict[str, str]:
        """The arguments by name, each with its kind; `integer` is widened to `number`."""
        own = {path: each.kind for path, each in self.args.items() if len(path_parts(path)) == 1}
        return {path: "number" if kind == "integer" else kind for path, kind in own.items()}


@dataclass(frozen=True, slots=True)
class ObservedTools:
    """All that traces show.

    `inputs` are those that any of them delivers; `lost` counts calls of unlisted tools.
    """

    tools: Mapping[str, ObservedTool]
    traces: int
    calls: int
    lost: int
    roles: tuple[str, ...]
    agents: tuple[str, ...]
    steps: tuple[str, ...]
    facts: Mapping[str, ObservedValues]
    inputs: frozenset[str]

    @property
    def inventory(self) -> dict[str, dict[str, dict[str, str]]]:
        """The tools with their fields, as a contract file declares them."""
        return {name: {"fields": tool.fields} for name, tool in self.tools.items()}


def signature_of(traces: Iterable[Trace]) -> ObservedTools:
    """Return the signature of all these traces together."""
    collector = Collector()
    for trace in traces:
        collector.add(trace)
    return collector.signature()


# --- collecting -----------------------------------------------------------------------------------


@dataclass(slots=True)
class _ToolCounts:
    """A tool while traces are read."""

    calls: int = 0
    failed: int = 0
    structured: int = 0
    args: dict[str, ObservedValues] = field(default_factory=dict)
    output: dict[str, ObservedValues] = field(default_factory=dict)
    lost: int = 0

    def note(self, into: dict[str, ObservedValues], data: Any, depth: int) -> None:
        """Note every path of some data."""
        for path, value in walk(data, depth):
            known = into.get(path)
            if known is None and len(into) >= PATHS_CAP:
                self.lost += 1
                continue
            into[path] = with_value(known or ObservedValues(), value)


class Collector:
    """A collector of what traces show, one by one."""

    def __init__(self) -> None:
        self._tools: dict[str, _ToolCounts] = {}
        self._names: dict[str, dict[str, None]] = {
            each: {} for each in ("roles", "agents", "steps")
        }
        self._facts: dict[str, ObservedValues] = {}
        self._traces = self._calls = self._lost = 0
        self._inputs: set[str] = set()

    def add(self, trace: Trace) -> None:
        """Note what one more trace shows."""
        self._traces += 1
        self._inputs |= trace.inputs
        flying: dict[str, _ToolCounts] = {}
        for event in trace.events:
            match event:
                case CallEvent(call, result):
                    tool = self._call(call.tool)
                    self._name("agents", call.agent)
                    if tool is None:
                        continue
                    tool.note(tool.args, call.args, DEPTH_CAP)
                    if result is None:
                        flying[call.id] = tool
                    else:
                        _settle(tool, result.status, result.output)
                case ResultEvent(id, result) if id in flying:
                    _settle(flying.pop(id), result.status, result.output)
                case MessageEvent(message):
                    self._name("roles", message.role)
                case FactEvent(key, value):
                    self._fact(key, value)
                case StepEvent(step):
                    for atom in sorted(step.atoms):
                        self._name("steps", atom)
                case _:
                    pass

    def signature(self) -> ObservedTools:
        """Return the signature of the traces so far."""
        tools = {
            name: ObservedTool(
                t.calls, t.failed, t.structured, dict(t.args), dict(t.output), t.lost
            )
            for name, t in sorted(self._tools.items())
        }
        names = {kind: tuple(sorted(found)) for kind, found in self._names.items()}
        return ObservedTools(
            tools,
            self._traces,
            self._calls,
            self._lost,
            **names,
            facts=dict(sorted(self._facts.items())),
            inputs=frozenset(self._inputs),
        )

    def _call(self, name: str) -> _ToolCounts | None:
        """Return the tool of this name; None for one that no contract can name, or one too many."""
        self._calls += 1
        tool = self._tools.get(name)
        if tool is None:
            if len(self._tools) >= TOOLS_CAP or not can_be_named(name):
                self._lost += 1
                return None
            tool = self._tools[name] = _ToolCounts()
        tool.calls += 1
        return tool

    def _name(self, kind: str, name: str) -> None:
        known = self._names[kind]
        if len(known) < NAMES_CAP and len(name) <= NAME_CHARS:
            known.setdefault(name)

    def _fact(self, key: str, value: Any) -> None:
        known = self._facts.get(key)
        if known is not None or (len(self._facts) < NAMES_CAP and len(key) <= NAME_CHARS):
            self._facts[key] = with_value(known or ObservedValues(), value)


def can_be_named(tool: str) -> bool:
    """True if a contract file can name this tool: a model may have called anything."""
    plain = tool.isprintable() and tool == tool.strip() and "`" not in tool
    return plain and 0 < len(tool) <= NAME_CHARS and not is_glob(tool)


def _settle(tool: _ToolCounts, status: str, output: Any) -> None:
    tool.failed += status == "error"
    data = structured(output)
    if data is not None:
        tool.structured += 1
        tool.note(tool.output, data, OUTPUT_DEPTH)


def structured(output: Any) -> Any:
    """Return an object or a list, also one that is written as text; None for any other output."""
    if isinstance(output, str) and output[:1] in "{[" and len(output) <= TEXT_CAP:
        try:
            output = json.loads(output)
        except (ValueError, RecursionError):
            return None
    return output if isinstance(output, (dict, list)) else None


# --- paths and values -----------------------------------------------------------------------------


def walk(data: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield every path into some data that a contract can write, with the value there.

    Keys with a dot or a bracket are left out: they could not be told from a path.
    """
    stack: list[tuple[str, int, Any]] = [("", 0, data)]
    while stack:
        path, level, value = stack.pop()
        if path:
            yield path, value
        if level >= depth:
            continue
        below: list[tuple[str, int, Any]] = []
        if isinstance(value, Mapping):
            below = [
                (f"{path}.{key}" if path else key, level + 1, each)
                for key, each in value.items()
                if _is_part(key)
            ]
        elif isinstance(value, list):
            below = [(f"{path}[]", level + 1, each) for each in value[:ELEMENTS_CAP]]
        stack.extend(reversed(below))


def _is_part(key: Any) -> bool:
    plain = isinstance(key, str) and key == key.strip() and key.isprintable()
    return plain and 0 < len(key) <= NAME_CHARS and not set(key) & set(".[]*@")


def with_value(shape: ObservedValues, value: Any) -> ObservedValues:
    """Return the shape with one more value."""
    kinds = {*shape.kinds, json_kind(value)}
    values = shape.values
    if len(values) < VALUES_CAP and not isinstance(value, (dict, list)):
        shown = value_sample(value)
        values = values if shown in values else (*values, shown)
    if len(kinds) == len(shape.kinds) and values is shape.values:
        return shape
    return ObservedValues(tuple(kind for kind in ORDER if kind in kinds), values)


def json_kind(value: Any) -> str:
    """Return the kind of a JSON value, as inventories have it."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
    return "object"


def value_sample(value: Any) -> str:
    """Return a value as JSON, shortened."""
    if isinstance(value, str) and len(value) > VALUE_CHARS:
        return json.dumps(value[:VALUE_CHARS]) + ".."
    return json.dumps(value)
