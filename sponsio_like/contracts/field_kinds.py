"""Reads the kinds of the arguments of a tool from its JSON Schema, and compares declarations.

In: schemas as MCP servers and frameworks have them; kinds that were declared in several places.
Out: each tool with the kinds of its arguments; one kind for each field, or what contradicts what.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from sponsio_like.contracts.composition import Piece
from sponsio_like.contracts.inventory import KINDS, Fields
from sponsio_like.errors import ContractError, Problem
from sponsio_like.values import TEXT_KINDS

FORMATS = MappingProxyType(
    dict.fromkeys(("uri", "iri"), "url")
    | dict.fromkeys(("email", "idn-email"), "email")
    | dict.fromkeys(("hostname", "idn-hostname"), "domain")
    | dict.fromkeys(("date", "date-time"), "date")
)
"""The kinds that formats of JSON Schema are."""
SCHEMAS = ("parameters", "inputSchema", "input_schema")
"""The keys under which formats have the schema of a tool's arguments."""
TOOL_FORMS = (
    "write a list of names, a list of {name: .., parameters: {properties: ..}}, "
    "or what an MCP server answers to tools/list"
)


class FieldKind(NamedTuple):
    """The kind of a field of a tool, and the place where it is declared."""

    tool: str
    field: str
    kind: str
    place: str


# --- schemas --------------------------------------------------------------------------------------


def schema_of_tool(spec: Any) -> tuple[str, Fields | None]:
    """Return the name and the arguments of a tool that is described as JSON.

    Raises `ContractError` for what describes no tool.
    """
    match spec:
        case str():
            return spec, None
        case {"function": {"name": str()} as inner}:  # as OpenAI has it
            return schema_of_tool(inner)
        case {"name": str(name)}:
            schemas = [spec[key] for key in SCHEMAS if isinstance(spec.get(key), Mapping)]
            return name, schema_fields(schemas[0]) if schemas else None
    raise ContractError.of(f"`{str(spec)[:60]}` is not a tool", TOOL_FORMS)


def schema_fields(schema: Mapping[str, Any]) -> Fields | None:
    """Return the arguments of a JSON Schema; None where it takes more than it names."""
    if schema.get("additionalProperties") or not isinstance(schema.get("properties", {}), Mapping):
        return None
    if not schema.keys() & {"properties", "type"}:  # `$ref`, `oneOf`: not looked into
        return None
    return {str(name): schema_kind(each) for name, each in schema.get("properties", {}).items()}


def schema_kind(schema: Any) -> str:
    """Return the kind of a value of this JSON Schema; `any` where it is not told, or several."""
    if not isinstance(schema, Mapping):
        return "any"
    kind = schema.get("type")
    for key in ("anyOf", "oneOf"):
        if kind is None and isinstance(schema.get(key), list):
            return _one_kind(schema[key])
    if isinstance(kind, list):
        return _one_kind([{**schema, "type": each} for each in kind])
    if kind == "string":
        return FORMATS.get(str(schema.get("format")), "string")
    inner = schema_kind(schema.get("items")) if kind == "array" else "any"
    if inner in TEXT_KINDS:
        return f"[{inner}]"
    return kind if isinstance(kind, str) and kind in KINDS else "any"


def _one_kind(schemas: Iterable[Any]) -> str:
    """Return the kind of a value that may be missing, or `any` if it may be of several."""
    told = [each for each in schemas if not isinstance(each, Mapping) or each.get("type") != "null"]
    kinds = {schema_kind(each) for each in told}
    return kinds.pop() if len(kinds) == 1 else "any"


# --- declarations that have to agree --------------------------------------------------------------


def common_kind(one: str, other: str) -> str | None:
    """Return the kind of a field of which these two are declared; None if they contradict.

    `string` and `any` say less than a kind of text; other plain kinds are not compared.
    """
    if one == other:
        return one
    if one[:1] == other[:1] == "[":
        inner = common_kind(one[1:-1], other[1:-1])
        return None if inner is None else f"[{inner}]"
    if _is_of(one, other):
        return one
    if _is_of(other, one) or not (is_text_kind(one) or is_text_kind(other)):
        return other
    return None


def is_text_kind(kind: str) -> bool:
    """True for a kind of text with a grammar, and for a list of such texts."""
    return kind.strip("[]") in TEXT_KINDS


def _is_of(kind: str, wider: str) -> bool:
    """True if values of this kind are also of the other one."""
    if wider == "any" or (wider == "array" and kind[:1] == "["):
        return True
    known = TEXT_KINDS.get(kind)
    if known is None:
        return False
    words = known.of_words is not None and wider in ("array", "[string]")
    return wider == "string" or words or (known.numbers and wider in ("number", "integer"))


def joined_kinds(
    declared: Iterable[FieldKind], problems: list[Problem]
) -> dict[tuple[str, str], FieldKind]:
    """Return one declaration for each field, and note where two contradict each other."""
    found: dict[tuple[str, str], FieldKind] = {}
    for each in declared:
        before = found.setdefault((each.tool, each.field), each)
        kind = common_kind(before.kind, each.kind)
        if kind is None:
            problems.append(contradiction(before, each))
        elif kind != before.kind:
            found[each.tool, each.field] = each._replace(kind=kind)
    return found


def contradiction(one: FieldKind, other: FieldKind) -> Problem:
    """Return the problem that a field has two kinds, with both places."""
    what = f"`{one.field}` of `{one.tool}` is `{one.kind}` in {one.place}"
    hint = "declare one kind in both, or leave one out"
    path = ("tools", one.tool, "fields", one.field)
    return Problem(f"{what}, and `{other.kind}` in {other.place}", hint=hint, path=path)


def declared_in(pieces: Iterable[Piece]) -> Iterator[tuple[FieldKind, Piece]]:
    """Yield the kinds that contract files declare in `tools:`, each with its file."""
    for piece in pieces:
        tools = piece.data.get("tools")
        for tool, about in tools.items() if isinstance(tools, Mapping) else ():
            fields = about.get("fields") if isinstance(about, Mapping) else None
            for field, kind in fields.items() if isinstance(fields, Mapping) else ():
                at = Problem("", path=("tools", tool, "fields", field))
                written = f"[{kind[0]}]" if isinstance(kind, list) and len(kind) == 1 else kind
                if isinstance(written, str):
                    place = f"`tools:` ({piece.located(at).where})"
                    yield FieldKind(str(tool), str(field), written, place), piece
