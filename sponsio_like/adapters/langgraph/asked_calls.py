"""Reads the calls that a model asks for, with the arguments that the tools will receive.

In: a message with tool calls, and the tools by name. Out: `Asking`, one for each call. What a tool
would not accept is a problem, and so is a call that no answer could be matched to.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, InjectedToolArg
from langgraph.prebuilt import ToolNode, ToolRuntime

from sponsio_like.adapters.langgraph.schemas import validator_of
from sponsio_like.checks import check_tools
from sponsio_like.contracts import FieldKind
from sponsio_like.engine import Policy
from sponsio_like.errors import ContractError
from sponsio_like.guard import declared_kinds, refuse_again
from sponsio_like.values import NotCanonical, as_data, as_members, digest, freeze_args


@dataclass(frozen=True)
class Asking:
    """One call that the model asks for.

    `raw`: the arguments as the model wrote them; `args`: as the tool receives them, and contracts
    read them. `passed`: what the tool is called with, so that it receives `args`. `problem`: why
    the call can neither be decided nor run.
    """

    id: str
    tool: str
    raw: Mapping[str, Any]
    args: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""
    passed: Mapping[str, Any] = field(default_factory=dict)
    blind: bool = False
    """True if nobody here knows the tool: it may receive other arguments."""
    of: str = ""
    """The id of the model's message that asks for it."""

    @functools.cached_property
    def mark(self) -> str:
        """A fingerprint of the tool and its arguments, which tells calls of one id apart."""
        return call_fingerprint(self.tool, self.raw)

    @property
    def written(self) -> str:
        """The id and the mark, which name the call as the model wrote it."""
        return f"{self.id} {self.mark}"

    @property
    def own(self) -> str:
        """The id that it is decided under: some models begin anew in each message (`call_0`)."""
        if not self.of:
            return self.id
        return f"{hashlib.blake2b(self.of.encode(), digest_size=6).hexdigest()}/{self.id}"


def call_fingerprint(tool: str, raw: Mapping[str, Any]) -> str:
    """Return a fingerprint of a call as it was written; `""` if its arguments are no plain data."""
    try:
        return digest(tool, freeze_args(raw))
    except (NotCanonical, TypeError, ValueError):
        return ""


def alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """True if both have the same texts and numbers; False, too, for what is not so plain."""
    for name, each in one.items():
        same = name in other and type(each) in _ATOMS and type(each) is type(other[name])
        if not same or each != other[name]:
            return False
    return len(one) == len(other)


def passing(call: Mapping[str, Any], raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the call with these arguments, beside those that LangGraph injects."""
    return {**call, "args": {**call["args"], **raw}}


def last_asking(messages: Sequence[Any]) -> AIMessage | None:
    """Return the last message of the model; None if there is none."""
    return next((each for each in reversed(messages) if isinstance(each, AIMessage)), None)


def name_of(messages: Sequence[Any]) -> str | None:
    """Return the id of the model's last message; without one, a name from its place and calls."""
    asking = last_asking(messages)
    if asking is None or asking.id:
        return None if asking is None else asking.id
    place = next(i for i, each in enumerate(messages) if each is asking)
    said = [
        [call["id"], call["name"], call_fingerprint("", call["args"])] for call in asking.tool_calls
    ]
    return f"{place} {hashlib.blake2b(repr(said).encode(), digest_size=9).hexdigest()}"


def unanswered(messages: Sequence[Any]) -> list[Mapping[str, Any]]:
    """Return the calls of the model's last message that no message has answered since."""
    asking = last_asking(messages)
    if asking is None or not asking.tool_calls:
        return []
    since = takewhile(lambda each: each is not asking, reversed(messages))
    answered = {each.tool_call_id for each in since if isinstance(each, ToolMessage)}
    return [call for call in asking.tool_calls if call["id"] not in answered]


def check_list(tools: Any, write: str) -> None:
    """Raise `ContractError` for one tool, or a node of tools, in the place of a list.

    `write`: what to write instead, with a gap for the tools.
    """
    if isinstance(tools, BaseTool):
        what, names = f"`tools` is the tool `{tools.name}`, and no list", tools.name
    elif isinstance(tools, ToolNode):
        what, names = (
            "`tools` is a ToolNode, whose options would be lost",
            ", ".join(tools.tools_by_name),
        )
    else:
        return
    raise ContractError.of(what, f"write {write.format(names)}")


class Tools:
    """The tools by name, and what each will receive. `others`: there may be more than these."""

    def __init__(self, tools: Iterable[BaseTool], *, others: bool = False) -> None:
        self.by_name = {each.name: each for each in tools}
        self.others = others
        self._schemas: dict[str, tuple[BaseTool, _Schema]] = {}

    @property
    def arguments(self) -> dict[str, frozenset[str] | None]:
        """The names of the arguments of each tool; None where they may be any."""
        return {name: self._schema(tool).names for name, tool in self.by_name.items()}

    @property
    def kinds(self) -> list[FieldKind]:
        """The kinds of arguments that the tools declare."""
        tools = self.by_name.items()
        return [kind for name, tool in tools for kind in declared_kinds(tool, name)]

    def check_contracts(self, policy: Policy) -> None:
        """Raise `ContractError` for what the contracts say of these tools, and that is not so."""
        check_tools(policy, self.arguments, self.kinds)
        for name, tool in self.by_name.items():
            for body in ("func", "coroutine"):
                refuse_again(policy, getattr(tool, body, None), name)

    def learn(self, tools: Iterable[Any]) -> list[str]:
        """Add these tools, and return the names of those that were not known."""
        mine = {each.name: each for each in tools if isinstance(each, BaseTool)}
        new = [name for name, each in mine.items() if self.by_name.get(name) is not each]
        self.by_name.update(mine)
        return new

    def asked(
        self,
        calls: Sequence[Mapping[str, Any]],
        of: str | None,
        tool: BaseTool | None = None,
    ) -> list[Asking]:
        """Return each call of message `of`; an id that is missing, or there twice, is a problem.

        `tool` is the one that runs, if it is known by then.
        """
        ids = Counter(call["id"] for call in calls)
        return [self._asking(call, ids[call["id"]], of or "", tool) for call in calls]

    def written(self, tool: BaseTool, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments that the model has written, without those that LangGraph injects."""
        injected = self._schema(tool).injected
        return {key: each for key, each in args.items() if key not in injected}

    def passed(self, name: str, raw: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what the tool is called with, so that it receives what was decided.

        Of a tool whose schema is JSON, the arguments as they were validated. Of others, what the
        model wrote, and what the tool would else make up by itself each time (`default_factory`).
        """
        tool = self.by_name.get(name)
        return raw if tool is None else _passed(self._schema(tool), raw)

    def _asking(self, call: Mapping[str, Any], same: int, of: str, tool: BaseTool | None) -> Asking:
        id, name, raw = call["id"], call["name"], _copied(call["args"])
        if not isinstance(id, str) or not id:
            why = f"`{name}` has no call id, so nothing can be answered; call it again with an id"
            return Asking("", name, raw, problem=why, of=of)
        if same > 1:
            why = f"{same} calls have the id `{id}`; call each again under an id of its own"
            return Asking(id, name, raw, problem=why, of=of)
        tool = self.by_name.get(name) if tool is None else tool
        if tool is None and self.others:
            return Asking(id, name, raw, raw, passed=raw, blind=True, of=of)
        passed = raw if tool is None else _passed(self._schema(tool), raw)
        args = self.received(name, raw) if tool is None else self.received_by(tool, passed)
        if isinstance(args, str):
            return Asking(id, name, raw, problem=args, of=of)
        return Asking(id, name, raw, args, passed=passed, of=of)

    def received(self, name: str, raw: Mapping[str, Any]) -> dict[str, Any] | str:
        """Return the arguments that the tool will receive, as data; or why it rejects them."""
        tool = self.by_name.get(name)
        if tool is None:
            known = ", ".join(f"`{each}`" for each in sorted(self.by_name)) or "none"
            return f"there is no tool `{name}`; tools: {known}"
        return self.received_by(tool, raw)

    def received_by(self, tool: BaseTool, raw: Mapping[str, Any]) -> dict[str, Any] | str:
        """Return what `received` does, of this very tool."""
        data = _received(self._schema(tool), raw)
        if isinstance(data, str):
            return f"`{tool.name}` does not accept these arguments: {data}"
        return data

    def _schema(self, tool: BaseTool) -> _Schema:
        known = self._schemas.get(tool.name)
        if known is None or known[0] is not tool:
            known = self._schemas[tool.name] = (tool, _schema_of(tool))
        return known[1]


class _Schema(NamedTuple):
    """The arguments of a tool. `validate`: its own validation; None if it takes anything.

    `injected` are arguments that no model gives. `names` are the others; None if they may be any.
    `made_up`: those with a default that is made anew each time, each with the name that the model
    would give it. `plain`: what is validated is plain data, and no model.
    """

    validate: Callable[[dict[str, Any]], Any] | None = None
    injected: frozenset[str] = frozenset()
    names: frozenset[str] | None = None
    made_up: Mapping[str, str] = MappingProxyType({})
    plain: bool = False


def _schema_of(tool: BaseTool) -> _Schema:
    from pydantic import BaseModel

    full, hosts = tool.args_schema, _injected_into(tool)
    if isinstance(full, type) and issubclass(full, BaseModel):
        return _of_model(tool, full, hosts)
    if not isinstance(full, Mapping):
        return _Schema(injected=hosts)
    taken = {"config", "run_manager"}.intersection(inspect.signature(tool._run).parameters)  # noqa: SLF001
    return _of_json(full, hosts | taken)  # what LangChain takes for itself never reaches the body


def _of_model(tool: BaseTool, full: Any, hosts: frozenset[str]) -> _Schema:
    from pydantic import create_model

    wanted = getattr(tool.tool_call_schema, "model_fields", {})
    fields: Mapping[str, Any] = full.model_fields
    injected: dict[str, Any] = {each: (Any, None) for each in fields if each not in wanted}
    model = create_model(full.__name__, __base__=full, **injected) if injected else full
    made_up = {
        name: each.validation_alias or name
        for name, each in fields.items()
        if each.default_factory is not None and name in wanted
    }
    texts = {name: each for name, each in made_up.items() if isinstance(each, str)}
    open_ = model.model_config.get("extra") == "allow"
    names = None if open_ else frozenset(fields).difference(injected)
    return _Schema(model.model_validate, hosts.union(injected), names, texts)


def _of_json(full: Mapping[str, Any], hosts: frozenset[str]) -> _Schema:
    validator, given = validator_of(full), full.get("properties")
    names = frozenset(given if isinstance(given, Mapping) else ()) - hosts
    validate = None if validator is None else validator.validate_python
    open_ = full.get("additionalProperties")
    return _Schema(validate, hosts, None if open_ else names, plain=True)


def _injected_into(tool: BaseTool) -> frozenset[str]:
    """Return the names of the arguments that the host gives, as the tool's function says them.

    Older versions of LangChain do not know those of annotations that are texts; LangGraph does.
    """
    known = frozenset(getattr(tool, "_injected_args_keys", ()))
    functions = (getattr(tool, "func", None), getattr(tool, "coroutine", None), tool._run)  # noqa: SLF001
    function = next(each for each in functions if each is not None)
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError, AttributeError):
        return known
    return known | {name for name, each in hints.items() if _is_injected(each)}


_INJECTED = (InjectedToolArg, ToolRuntime)


def _is_injected(hint: Any) -> bool:
    whole, *about = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    marks = [each if isinstance(each, type) else type(each) for each in about]
    kind = get_origin(whole) or whole
    return any(issubclass(each, _INJECTED) for each in [*marks, kind] if isinstance(each, type))


_ATOMS = (str, int, float, bool, type(None))


def _copied(args: Any) -> Any:
    """Return a deep copy of arguments."""
    if type(args) is dict and all(type(each) in _ATOMS for each in args.values()):
        return args.copy()
    return copy.deepcopy(args)


def _validated(schema: _Schema, raw: Mapping[str, Any]) -> Any:
    """Return what the validation makes of arguments; or why it will not accept them."""
    from pydantic import ValidationError

    data = _copied(dict(raw))
    if schema.validate is None:
        return data
    try:
        return schema.validate(data)
    except ValidationError as error:
        places = [(".".join(map(str, each["loc"])), each["msg"]) for each in error.errors()]
        return "; ".join(f"{where or 'arguments'}: {what}" for where, what in places)
    except Exception as error:  # validators are code of the tool's author
        return f"{type(error).__name__}: {error}"


def _received(schema: _Schema, raw: Mapping[str, Any]) -> dict[str, Any] | str:
    """Return the arguments as data; or why they are not accepted."""
    found = _validated(schema, raw)
    if isinstance(found, str):
        return found
    data = found if schema.validate is None else as_members(found)
    return {key: each for key, each in data.items() if key not in schema.injected}


def _passed(schema: _Schema, written: Mapping[str, Any]) -> Mapping[str, Any]:
    raw = {key: each for key, each in written.items() if key not in schema.injected}
    missing = {name: each for name, each in schema.made_up.items() if each not in raw}
    if not missing and not schema.plain:
        return raw
    found = _validated(schema, raw)
    if isinstance(found, str):
        return raw
    if schema.plain:
        return {key: each for key, each in found.items() if key not in schema.injected}
    made = {name: as_data(getattr(found, name, None)) for name in missing}
    readable = {
        missing[name]: each for name, each in made.items() if call_fingerprint("", {"": each})
    }
    whole = {**raw, **readable}
    same = as_members(found) == as_members(_validated(schema, whole))
    return whole if same else raw
