"""The calls that a model asks for, with the arguments that the tools will receive.

In: a message with tool calls, and the tools by name. Out: `Asking`, one for each call. What a tool
would not accept is a problem, and so is a call that no answer could be matched to.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool

from sponsio_like.events import Unreadable, digest
from sponsio_like.freezing import freeze_args
from sponsio_like.plain import as_members


@dataclass(frozen=True, slots=True)
class Asking:
    """One call. `raw`: as the model wrote it; `args`: what contracts read, that is, what it gets.

    `problem`: why it can neither be decided nor run.
    """

    id: str
    tool: str
    raw: Mapping[str, Any]
    args: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""
    blind: bool = False
    """Whether nobody here knows the tool: it may receive other arguments."""

    @property
    def mark(self) -> str:
        """What tells this call from another of the same id."""
        return mark_of(self.tool, self.raw)


def mark_of(tool: str, raw: Mapping[str, Any]) -> str:
    """A fingerprint of a call as it was written; empty if that cannot be read."""
    try:
        return digest(tool, freeze_args(raw))
    except (Unreadable, TypeError, ValueError):
        return ""


def last_asking(messages: Sequence[Any]) -> AIMessage | None:
    """The last message of the model."""
    return next((each for each in reversed(messages) if isinstance(each, AIMessage)), None)


def unanswered(messages: Sequence[Any]) -> list[Mapping[str, Any]]:
    """The calls of the last message of the model that no message has answered since."""
    asking = last_asking(messages)
    if asking is None or not asking.tool_calls:
        return []
    after = messages[next(i for i, each in enumerate(messages) if each is asking) + 1 :]
    answered = {each.tool_call_id for each in after if isinstance(each, ToolMessage)}
    return [call for call in asking.tool_calls if call["id"] not in answered]


class Tools:
    """The tools by name, and what each will receive. `others`: there may be more than these."""

    def __init__(self, tools: Iterable[BaseTool], *, others: bool = False) -> None:
        self.by_name = {each.name: each for each in tools}
        self.others = others
        self._schemas: dict[str, tuple[BaseTool, _Schema | None]] = {}

    @property
    def arguments(self) -> dict[str, frozenset[str] | None]:
        """The names of the arguments of each tool; None where they may be any."""
        return {name: _arguments(tool, self._schema(tool)) for name, tool in self.by_name.items()}

    def learn(self, tools: Iterable[Any]) -> list[str]:
        """Know these tools, too. The names of those that were not known."""
        mine = {each.name: each for each in tools if isinstance(each, BaseTool)}
        new = [name for name, each in mine.items() if self.by_name.get(name) is not each]
        self.by_name.update(mine)
        return new

    def asked(
        self, calls: Sequence[Mapping[str, Any]], tool: BaseTool | None = None
    ) -> list[Asking]:
        """What the model asks for. Ids that are missing, or there twice, are problems.

        `tool` is the one that runs, if it is known by then.
        """
        ids = Counter(call["id"] for call in calls)
        return [self._asking(call, ids[call["id"]], tool) for call in calls]

    def written(self, tool: BaseTool, args: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments that the model has written, without those that LangGraph injects."""
        schema = self._schema(tool)
        injected = frozenset(
            getattr(tool, "_injected_args_keys", ())
        )  # of a function with a schema
        injected |= frozenset[str]() if schema is None else schema.injected
        return {key: each for key, each in args.items() if key not in injected}

    def _asking(self, call: Mapping[str, Any], same: int, tool: BaseTool | None) -> Asking:
        id, name, raw = call["id"], call["name"], copy.deepcopy(call["args"])
        if not isinstance(id, str) or not id:
            why = f"`{name}` has no call id, so nothing can be answered; call it again with an id"
            return Asking("", name, raw, problem=why)
        if same > 1:
            why = f"{same} calls have the id `{id}`; call each again under an id of its own"
            return Asking(id, name, raw, problem=why)
        if tool is None and self.others and name not in self.by_name:
            return Asking(id, name, raw, raw, blind=True)
        args = self.received(name, raw) if tool is None else self.received_by(tool, raw)
        if isinstance(args, str):
            return Asking(id, name, raw, problem=args)
        return Asking(id, name, raw, args)

    def received(self, name: str, raw: Mapping[str, Any]) -> dict[str, Any] | str:
        """The arguments that the tool will receive, as data; or why it will not accept them."""
        tool = self.by_name.get(name)
        if tool is None:
            known = ", ".join(f"`{each}`" for each in sorted(self.by_name)) or "none"
            return f"there is no tool `{name}`; tools: {known}"
        return self.received_by(tool, raw)

    def received_by(self, tool: BaseTool, raw: Mapping[str, Any]) -> dict[str, Any] | str:
        """As `received`, of this very tool."""
        schema = self._schema(tool)
        return dict(raw) if schema is None else _received(tool.name, schema, raw)

    def _schema(self, tool: BaseTool) -> _Schema | None:
        known = self._schemas.get(tool.name)
        if known is None or known[0] is not tool:
            known = self._schemas[tool.name] = (tool, _schema_of(tool))
        return known[1]


class _Schema(NamedTuple):
    """What validates the arguments of a tool, of which those `injected` are not the model's."""

    model: Any
    injected: frozenset[str]


def _schema_of(tool: BaseTool) -> _Schema | None:
    """None for tools that take whatever they are given."""
    from pydantic import BaseModel, create_model

    full, asked = tool.args_schema, tool.tool_call_schema
    if not isinstance(full, type) or not issubclass(full, BaseModel):
        return None
    wanted = getattr(asked, "model_fields", {})
    injected: dict[str, Any] = {
        each: (Any, None) for each in full.model_fields if each not in wanted
    }
    return _Schema(create_model(full.__name__, __base__=full, **injected), frozenset(injected))


def _arguments(tool: BaseTool, schema: _Schema | None) -> frozenset[str] | None:
    if schema is not None:
        open_ = schema.model.model_config.get("extra") == "allow"
        return None if open_ else frozenset(schema.model.model_fields) - schema.injected
    plain = tool.args_schema
    if not isinstance(plain, dict) or plain.get("additionalProperties"):
        return None
    return frozenset(plain.get("properties", ()))


def _received(name: str, schema: _Schema, raw: Mapping[str, Any]) -> dict[str, Any] | str:
    from pydantic import ValidationError

    try:
        data = as_members(schema.model.model_validate(copy.deepcopy(dict(raw))))
    except ValidationError as error:
        places = [(".".join(map(str, each["loc"])), each["msg"]) for each in error.errors()]
        wrong = "; ".join(f"{where or 'arguments'}: {what}" for where, what in places)
    except Exception as error:  # validators are code of the tool's author
        wrong = f"{type(error).__name__}: {error}"
    else:
        return {key: each for key, each in data.items() if key not in schema.injected}
    return f"`{name}` does not accept these arguments: {wrong}"
