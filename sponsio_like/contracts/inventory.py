"""The tools that an agent has, as its host or its contract file has declared them.

In: `tools:`, `elsewhere:` and `unlisted:` of a file or a guard. Out: an `Inventory`, which says of
each call what is wrong with it: a tool that is not listed, an argument that the tool does not have,
a value of another kind. Such a message never shows the values of the call.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from sponsio_like.contracts.operands import check_keys
from sponsio_like.errors import ContractError, Problems, closest
from sponsio_like.events import Call
from sponsio_like.kinds import installed
from sponsio_like.logic import is_glob
from sponsio_like.values import TEXT_KINDS, UNREADABLE, TextKind, find, path_parts

CONTRACT = "tools"
"""The name that stands for a contract where a call is refused because of the inventory."""
SHOWN = 80
"""The most characters of a name that are shown."""
HINTS_CAP = 300
"""The most tools among which a similar name is looked for."""

Fields: TypeAlias = Mapping[str, str]
"""The arguments of a tool by name, each with its kind."""
Unlisted: TypeAlias = Literal["refuse", "allow"]


# --- kinds ----------------------------------------------------------------------------------------


def _is_integer(value: Any) -> bool:
    if isinstance(value, float):
        return value.is_integer()  # 5.0 is 5 in JSON
    if isinstance(value, Decimal):
        return value.is_finite() and value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)


KINDS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "string": ("a text", lambda value: isinstance(value, str)),
    "number": (
        "a number",
        lambda value: isinstance(value, (int, float, Decimal)) and not isinstance(value, bool),
    ),
    "integer": ("a whole number", _is_integer),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "array": ("a list", lambda value: isinstance(value, (list, tuple))),
    "object": ("an object", lambda value: isinstance(value, Mapping)),
    "any": ("anything", lambda _: True),
}
"""The kinds of value that are checked, each in words and as a test. `[kind]` is a list of them;
the kinds of `sponsio_like.kinds` are texts.
"""


ALIASES = MappingProxyType(
    {
        **dict.fromkeys(("text", "str"), "string"),
        **dict.fromkeys(("int", "long"), "integer"),
        **dict.fromkeys(("float", "double", "decimal"), "number"),
        "bool": "boolean",
        **dict.fromkeys(("list", "tuple"), "array"),
        **dict.fromkeys(("dict", "map", "json"), "object"),
        **dict.fromkeys(("mail", "e-mail"), "email"),
        **dict.fromkeys(("uri", "link"), "url"),
        **dict.fromkeys(("file", "folder"), "path"),
        **dict.fromkeys(("bash", "sh", "command"), "shell"),
    }
)
"""Names of kinds in other languages, each with the name here."""


def read_kind(written: Any) -> str:
    """Return a kind as it was written: `integer`, or `[integer]` for a list.

    Raises `ContractError`.
    """
    if isinstance(written, list) and len(written) == 1:
        return f"[{read_kind(written[0])}]"
    inner = written[1:-1] if isinstance(written, str) and written[:1] == "[" else written
    if isinstance(inner, str) and written in (inner, f"[{inner}]"):
        if inner in TEXT_KINDS:
            installed(TEXT_KINDS[inner])
        if inner in TEXT_KINDS or inner in KINDS:
            return str(written)
    known = [*KINDS, "[string]", *TEXT_KINDS]
    named = ALIASES.get(inner) if isinstance(inner, str) else None
    hint = f"write `{named}`" if named else closest(written, known)
    raise ContractError.of(f"unknown kind `{written}`", hint)


def _test(kind: str) -> tuple[str, Callable[[Any], bool]]:
    """Return what a kind expects in words, and its test."""
    if kind in TEXT_KINDS:
        return _text_test(TEXT_KINDS[kind])
    if kind[:1] != "[":
        return KINDS[kind]
    words, fits = _test(kind[1:-1])
    return (
        f"a list, each {words}",
        lambda value: isinstance(value, (list, tuple)) and all(map(fits, value)),
    )


def _text_test(kind: TextKind) -> tuple[str, Callable[[Any], bool]]:
    """Return what a kind of text expects in words, and its test."""
    if kind.numbers:
        return (
            "a text or a number",
            lambda each: KINDS["string"][1](each) or KINDS["number"][1](each),
        )
    if kind.of_words is None:
        return KINDS["string"]
    listed = _test("[string]")[1]
    return "a text, or a list of texts", lambda each: isinstance(each, str) or listed(each)


# --- the inventory --------------------------------------------------------------------------------


class Wrong(NamedTuple):
    """The mistake in a call, and a hint that says what to call instead."""

    what: str
    hint: str


@dataclass(frozen=True)
class Inventory:
    """The tools of an agent, as far as they are declared.

    `tools`: each with its declared fields, or None where they are not declared; None altogether
    where no inventory is declared. `elsewhere` are tools of other agents: contracts may name them.
    With `unlisted="allow"` a call of any tool, with any argument, is let through.
    """

    tools: Mapping[str, Fields | None] | None = None
    elsewhere: tuple[str, ...] = ()
    unlisted: Unlisted = "refuse"
    places: Mapping[tuple[str, str], str] = field(default_factory=dict, compare=False)
    """The place where the kind of a field of a tool is declared, as far as it is known."""

    @cached_property
    def names(self) -> tuple[str, ...] | None:
        """Every name that a contract may give to a tool; None if any may be given."""
        return None if self.tools is None else tuple(dict.fromkeys((*self.tools, *self.elsewhere)))

    @cached_property
    def fields(self) -> dict[str, Fields]:
        """The declared fields of each tool that has them declared."""
        return {name: each for name, each in (self.tools or {}).items() if each is not None}

    @cached_property
    def _entries(self) -> dict[str, _Declared]:
        closed = self.unlisted == "refuse"
        return {name: _Declared.of(name, each, closed=closed) for name, each in self.fields.items()}

    def has(self, tool: str) -> bool:
        """True if calls of the tool may be let through at all."""
        return self.tools is None or self.unlisted == "allow" or tool in self.tools

    def fits(self, tool: str) -> Callable[[Any], bool] | None:
        """Return the test of the arguments of a tool; None where any will do."""
        entry = self._entries.get(tool)
        return None if entry is None else entry.fits

    def wrong(self, call: Call) -> Wrong | None:
        """Return the mistake in a call; None if there is none."""
        if self.has(call.tool):
            entry = self._entries.get(call.tool)
            return None if entry is None else entry.wrong(call.args)
        name, known = call.tool[:SHOWN], list(self.tools or ())
        few = len(known) <= HINTS_CAP and len(call.tool) <= SHOWN
        near = difflib.get_close_matches(name, known, n=1) if few else []
        hint = f"did you mean `{near[0]}`?" if near else "call a tool that is listed"
        return Wrong(f"tool `{name}` is not listed", hint)


NOTHING_KNOWN = Inventory()


class KnownTools:
    """The tools that a guard has met: decorated functions, the tools of adapters.

    `complete`: every name of its contracts was among them; names are only added.
    """

    __slots__ = ("complete", "tools")

    def __init__(self) -> None:
        self.tools: dict[str, Fields | None] = {}
        self.complete = False

    def add(self, tool: str, arguments: Iterable[str] | None) -> None:
        """Add a tool with these arguments, beside others of its name; None: it takes any."""
        known = self.tools.get(tool, {})
        merged = None if arguments is None or known is None else {*known, *arguments}
        self.tools[tool] = None if merged is None else dict.fromkeys(sorted(merged), "any")


@dataclass(frozen=True, slots=True)
class _Declared:
    """A tool whose fields are declared. `closed`: it takes no others."""

    tool: str
    roots: frozenset[str]
    kinds: tuple[tuple[str, str, Callable[[Any], bool]], ...]
    closed: bool = True

    @classmethod
    def of(cls, tool: str, fields: Fields, *, closed: bool) -> _Declared:
        roots = frozenset(root for path in fields for root in (path, *path_parts(path)[:1]))
        kinds = ((path, *_test(kind)) for path, kind in fields.items() if kind != "any")
        return cls(tool, roots, tuple(kinds), closed)

    def fits(self, args: Any) -> bool:
        return self.wrong(args) is None

    def wrong(self, args: Any) -> Wrong | None:
        """Return the first argument that is unknown, or of another kind; None if all are right."""
        if not isinstance(args, Mapping):
            return Wrong(f"the arguments of `{self.tool}` cannot be read", "give them by name")
        for name, value in args.items() if self.closed else ():
            if name not in self.roots and value is not None:
                shown = str(name)[:SHOWN]
                hint = closest(shown, sorted(self.roots)) or "leave it out"
                return Wrong(f"`{self.tool}` has no argument `{shown}`", hint)
        for path, words, fits in self.kinds:
            for value in _values(args, path):
                if value is not None and not fits(value):
                    unread = ", and it cannot be read" if value is UNREADABLE else ""
                    what = f"`{path}` of `{self.tool}` has to be {words}{unread}"
                    return Wrong(what, f"give {words}")
        return None


def _values(args: Mapping[str, Any], path: str) -> Iterable[Any]:
    return (args[path],) if path in args else find(args, path)


InventoryLike: TypeAlias = (
    "Iterable[str] | Mapping[str, Mapping[str, Any] | None] | Inventory | None"
)
"""The forms in which a host gives the tools of an agent."""


# --- reading --------------------------------------------------------------------------------------


def read_inventory(value: Any) -> dict[str, Fields | None]:
    """Read the tools of a file: a list of names, or a map from name to `{fields: {name: kind}}`.

    Raises `ContractError` with every mistake.
    """
    problems = Problems()
    tools: dict[str, Fields | None] = {}
    if not isinstance(value, (list, Mapping)) or not value:
        raise ContractError.of(f"`{value}` is not a list of tools", "write [check, refund]")
    for i, name in enumerate(value):
        at = (name,) if isinstance(value, Mapping) else (i,)
        if not _is_name(name):
            problems.add(f"`{name}` is not the name of a tool", "write every name in full", *at)
        elif name in tools:
            problems.add(f"tool `{name}` is listed twice", "remove one", *at)
        else:
            about = value[name] if isinstance(value, Mapping) else None
            tools[name] = problems.attempt(at, _fields, about)
    problems.check()
    return tools


def names_in(value: Any) -> dict[str, Fields | None]:
    """Return the tools that a declaration names, also by entries with mistakes; none
    for no list.
    """
    given = value if isinstance(value, (list, tuple, Mapping)) else ()
    return dict.fromkeys(each for each in given if _is_name(each))


def read_elsewhere(value: Any) -> tuple[str, ...]:
    """Read the tools of other agents: a list of names.

    Raises `ContractError` with every mistake.
    """
    if not isinstance(value, (list, tuple)) or not value:
        raise ContractError.of(f"`{value}` is not a list of tools", "write [approve, publish]")
    problems = Problems()
    for i, name in enumerate(value):
        if not _is_name(name):
            problems.add(f"`{name}` is not the name of a tool", "write every name in full", i)
    problems.check()
    return tuple(dict.fromkeys(value))


def read_unlisted(value: Any) -> Unlisted:
    """Return `refuse` or `allow`, as calls of unlisted tools are treated.

    Raises `ContractError`.
    """
    for each in get_args(Unlisted):
        if value == each:
            return each  # type: ignore[no-any-return]
    raise ContractError.of(f"`{value}` is not possible here", "write refuse or allow")


def declared(tools: Any, others: Any = None, open_: Any = None) -> Inventory:
    """Return the inventory of a guard, as its host gives it.

    Raises `ContractError` with all mistakes.
    """
    if isinstance(tools, Inventory):
        return tools
    problems = Problems()
    given = tools if tools is None or isinstance(tools, Mapping) else _listed(tools)
    known = None if given is None else problems.attempt(("tools",), read_inventory, given)
    away = (
        () if others is None else problems.attempt(("elsewhere",), read_elsewhere, _listed(others))
    )
    unlisted = None if open_ is None else problems.attempt(("unlisted",), read_unlisted, open_)
    problems.found += misplaced(tools is not None, known or {}, away or (), unlisted)
    problems.check()
    return Inventory(known, away or (), unlisted or "refuse")


def misplaced(
    listed: bool, known: Iterable[str], others: Iterable[str], unlisted: Any
) -> list[Any]:
    """Return the problems of `tools`, `elsewhere` and `unlisted` that contradict each other."""
    problems = Problems()
    for name in others:
        if name in known:
            what = f"`{name}` is a tool of this agent, and of another one"
            problems.add(what, "leave it out of `elsewhere` or of `tools`", "elsewhere")
    if unlisted is not None and not listed:
        problems.add("`unlisted` says nothing without `tools`", "list the tools", "unlisted")
    return problems.found


def _listed(value: Any) -> Any:
    return value if isinstance(value, str) or not isinstance(value, Iterable) else list(value)


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and bool(name.strip()) and not is_glob(name) and "`" not in name


def _fields(about: Any) -> Fields | None:
    if about is None:
        return None
    if not isinstance(about, Mapping):
        raise ContractError.of(f"`{about}` describes no tool", "write {fields: {id: string}}")
    problems = Problems()
    check_keys(about, ("fields",), "tool", problems)
    fields = about.get("fields")
    if not isinstance(fields, Mapping):
        said = "its fields are missing" if fields is None else f"`{fields}` is no map of fields"
        hint = "write {fields: {id: string}}, or {fields: {}} if it takes none"
        problems.add(said, hint, "fields")
        fields = {}
    kinds = {
        str(name): problems.attempt(("fields", str(name)), read_kind, kind)
        for name, kind in fields.items()
    }
    problems.check()
    return {name: kind for name, kind in kinds.items() if kind is not None}
