"""Reads comparisons with what a text means: `command: {runs: [rm]}`, `url: {host: api.corp.com}`.

In: a place whose kind is declared in `tools:`, or written as `command:shell`, and what is asked of
it. Out: paths to facts of the kind, `command:shell.runs[]`, with plain comparisons; or problems.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

import sponsio_like.logic.formula as f
from sponsio_like.errors import ContractError, Problem, closest
from sponsio_like.kinds import import_needed, installed, value_hint
from sponsio_like.values import TEXT_KINDS, TextKind, kind_step, path_parts

_WITH_PATHS = frozenset(
    {f.Happens, f.Sum, f.Repeats, f.Delivered, f.Denied}
    | {f.Arg, f.Mark, f.OutputIs, f.Output, f.Custom}
)
"""The nodes that may have paths, in themselves or in their matches."""
FOLDERS = ("outside", "under")
"""The comparisons with folders: `writes_outside: /workspace`."""
BARE = {
    "reads": "read_names",
    "writes": "written_names",
    "without_where": "without_where_names",
}
"""The facts of tables, and those of their names without a schema."""
Asked: TypeAlias = tuple[str, Any]
"""The path to a fact, and what is asked of it."""


def declared_kind(
    path: str, tools: Iterable[Mapping[str, str] | None], *, number: bool = False
) -> tuple[str, TextKind] | None:
    """Return the path with its kind, and the kind; None if these tools declare none, or several.

    `number`: a number is asked for, so that `money` of one tool and a number of another are both
    an amount. Raises `ContractError` if a module is missing that the kind needs.
    """
    written = kind_step(path_parts(path)[-1])
    declared = {_declared(fields or {}, path) for fields in tools}
    if number and "money" in declared:
        declared -= {"number", "integer"}
    kind = written or (TEXT_KINDS.get(declared.pop()) if len(declared) == 1 else None)
    if kind is None:
        return None
    installed(kind)
    return (path if written else f"{path}:{kind.name}"), kind


def _declared(fields: Mapping[str, str], path: str) -> str:
    return (fields.get(path) or fields.get(path.removesuffix("[]"), "")).strip("[]")


def amount_path(path: str, tools: Iterable[Mapping[str, str] | None]) -> str:
    """Return the path to the amount, if one of these tools declares the field `money`, and the
    others a number; else the path.
    """
    known = declared_kind(path, tools, number=True)
    if known is None or known[1].name != "money":
        return path
    return f"{known[0]}.amount"


def asks_an_amount(root: f.Formula) -> bool:
    """True if a formula asks for the amount of a text of the kind `money`."""
    return any(
        path.endswith(":money.amount") for node in f.postorder(root) for path in _paths(node)
    )


def asks_amount(wanted: Any, kind: TextKind) -> bool:
    """True if a text of the kind `money` is compared with numbers."""
    if kind.name != "money":
        return False
    inner = wanted.values() if isinstance(wanted, Mapping) else [wanted]
    values = [each for part in inner for each in (part if isinstance(part, list) else [part])]
    return bool(values) and all(type(each) in (int, float, Decimal) for each in values)


def asks_facts(wanted: Any, of_texts: Iterable[str]) -> bool:
    """True if a comparison asks for facts of a kind, and not for the text itself."""
    return isinstance(wanted, Mapping) and not wanted.keys() <= {*of_texts}


def fact_keys(kind: TextKind) -> list[str]:
    folders = [f"{name}_{each}" for name in kind.names for each in FOLDERS]
    return ["only", *kind.names, *folders]


def has_fact(kind: str, key: str) -> bool:
    """True if a kind of field, or of each in a list, has what a key asks for."""
    known = TEXT_KINDS.get(kind.strip("[]"))
    return known is not None and key in fact_keys(known)


def asked(path: str, wanted: Mapping[Any, Any], kind: TextKind) -> Iterator[Asked]:
    """Yield the facts that a comparison asks for, each with what it is compared with.

    Raises `ContractError` for a key that is no fact of the kind.
    """
    for key, value in wanted.items():
        fact, sign, folders = str(key).rpartition("_")
        if key == "only":
            among = {"in": value if isinstance(value, (list, tuple)) else [value]}
            many = kind.has_many(kind.main) or "[]" in path_parts(path)
            yield _place(path, kind, kind.main), {"every": among} if many else among
        elif names := _table_names(kind, str(key), value):
            yield _place(path, kind, BARE[str(key)]), {"in": names}
        elif key in kind.names:
            listed = isinstance(value, (list, tuple))
            yield _place(path, kind, str(key)), {"in": value} if listed else value
        elif sign and folders in FOLDERS and fact in kind.names:
            yield _place(path, kind, fact), {folders: value}
        else:
            what = f"unknown key `{key}` of the kind `{kind.name}`"
            raise ContractError.of(what, closest(key, fact_keys(kind)))


def _table_names(kind: TextKind, key: str, value: Any) -> list[str]:
    """Return the names of tables that are asked for without a schema, in small letters; else none.

    `users` is the table of that name in every schema: a query may write `public.users`. A variable
    is a whole name.
    """
    inner = value["in"] if isinstance(value, Mapping) and [*value] == ["in"] else value
    names = inner if isinstance(inner, (list, tuple)) else [inner]
    if key not in BARE or BARE[key] not in kind.names:
        return []
    plain = all(
        isinstance(each, str) and not set(".*") & set(each) and each[:1] != "$" for each in names
    )
    return [each.lower() for each in names] if plain else []


def _place(path: str, kind: TextKind, fact: str) -> str:
    return f"{path}.{fact}{'[]' if kind.has_many(fact) else ''}"


def where_declared(key: object, path: str) -> str:
    """Return a hint for a key that is a fact of some kind, where no kind is declared; or empty.

    `only` is about the main fact of a kind, and stands for what is written of any other.
    """
    kinds = [kind.name for kind in TEXT_KINDS.values() if key in fact_keys(kind)]
    if key == "only":
        return "write {every: {in: [..]}}" if "[]" in path_parts(path) else "write {in: [..]}"
    if not kinds:
        return ""
    return f"declare the field's kind: `tools: {{name: {{fields: {{field: {kinds[0]}}}}}}}`"


# --- paths that are written out -------------------------------------------------------------------


def unknown_facts(
    roots: Iterable[f.Formula], keys: Iterable[str], tools: Iterable[Mapping[str, str] | None]
) -> list[Problem]:
    """Return a problem for each path that asks for a kind that is none, or for no fact of it.

    `keys` are more paths. The name of a declared field may have a colon itself.
    """
    nodes = [node for root in roots for node in f.postorder(root) if type(node) in _WITH_PATHS]
    paths = dict.fromkeys([*keys, *(path for node in nodes for path in _paths(node))])
    found = {path: wrong for path in paths if (wrong := [*_wrong(path)])}
    named = {field for fields in (tools if found else ()) for field in fields or ()}
    return [each for path, wrong in found.items() if path not in named for each in wrong]


def values_never_had(roots: Iterable[f.Formula]) -> list[Problem]:
    """Return a problem for each comparison with a value that no text has for that fact.

    `{runs: "rm -rf"}` would guard nothing: what runs are single commands. So would a bare name of
    a table, where whole names are compared: `public.users` is another one.
    """
    found: dict[Problem, None] = {}
    for each in conditions_in(roots):
        if each.op in ("=", "!=", "in") and not isinstance(each.value, f.Var):
            found |= dict.fromkeys(_never_had(each.path, each.value))
        if each.op in ("=", "in") and not each.every:
            found |= dict.fromkeys(_whole_names(each.path, each.value))
    return list(found)


def conditions_in(roots: Iterable[f.Formula]) -> Iterator[f.Condition]:
    """Yield every condition on arguments in the matches of these formulas."""
    for match in f.matches_in(roots):
        yield from match.conditions


def _never_had(path: str, value: Any) -> Iterator[Problem]:
    parts = path_parts(path)
    for i, part in enumerate(parts[:-1]):
        kind, fact = kind_step(part), parts[i + 1]
        if kind is None or fact not in kind.names:
            continue
        for each in value if isinstance(value, tuple) else (value,):
            hint = "" if each is None else value_hint(kind.name, fact, each)
            if hint:
                what = f"no text of the kind `{kind.name}` has {_shown(each)} as its `{fact}`"
                yield Problem(what, hint=hint)


def _whole_names(path: str, value: Any) -> Iterator[Problem]:
    """Yield a problem for a table without a schema where whole names are compared."""
    parts = path_parts(path)
    for i, part in enumerate(parts[:-1]):
        kind, fact = kind_step(part), parts[i + 1]
        if kind is None or BARE.get(fact) not in kind.names:
            continue
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, str) and "." not in each:
                what = f"`{path}` compares whole names: `public.{each}` is another than `{each}`"
                yield Problem(what, hint=f"write `{BARE[fact]}[]`")


def _shown(value: Any) -> str:
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _paths(node: f.Node) -> Iterator[str]:
    match node:
        case f.Sum(_, path) | f.Arg(path) | f.Mark(path) | f.OutputIs(path) | f.Output(path):
            yield path
        case f.Custom(name, (str(path), *_)) if name.startswith("arg_"):
            yield path
    for match in f.matches_of(node):
        yield from (each.path for each in match.conditions)


def _wrong(path: str) -> Iterator[Problem]:
    parts = path_parts(path)
    for i, part in enumerate(parts):
        kind = kind_step(part)
        if kind is None:
            yield from _no_kind(path, part)
            continue
        try:
            import_needed(f"kind `{kind.name}`", kind.needs)
        except ContractError as error:
            yield from error.problems
        fact, rest = parts[i + 1 : i + 2], parts[i + 2 :]
        if not fact or fact[0] not in kind.names:
            what = f"`{path}` asks for no fact of the kind `{kind.name}`"
            hint = closest(fact[0], kind.names) if fact else ""
            yield Problem(what, hint=hint or f"its facts are {', '.join(kind.facts)}")
        elif rest != (("[]",) if kind.has_many(fact[0]) else ()):
            instead = f"{fact[0]}[]" if kind.has_many(fact[0]) else fact[0]
            yield Problem(f"`{path}`: the fact is `{instead}`", hint="write it so, at the end")
        return


def _no_kind(path: str, part: str) -> Iterator[Problem]:
    name, sign, kind = part.rpartition(":")
    if sign and name and kind.isidentifier():
        near = closest(kind, TEXT_KINDS)
        hint = "declare an argument of that very name in `tools:`"
        yield Problem(f"`{path}`: no kind is named `{kind}`", hint=near or hint)
