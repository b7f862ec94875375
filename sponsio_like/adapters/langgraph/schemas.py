"""Reads JSON schemas as pydantic reads a model of the same fields.

In: the schema of a tool that was described in JSON, as those of MCP servers are. Out: a validator
of its arguments: `"17"` becomes 17 where a whole number is asked for, defaults are filled in. What
it does not know of a schema is left to the tool: such a part is taken as it is written.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Shape: TypeAlias = Any
"""A schema of pydantic's core."""
_OBJECT = ("properties", "required", "additionalProperties")
_TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")


def validator_of(schema: Mapping[str, Any]) -> Any:
    """Return a validator of arguments (`validate_python`); None for an unreadable schema."""
    from pydantic_core import SchemaError

    try:
        return _Reader(schema).validator({**schema, "type": "object"})
    except (SchemaError, RecursionError):
        return None


class _Reader:
    """Reads one schema, and what it refers to."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._found: dict[str, Shape] = {}

    def validator(self, schema: Any) -> Any:
        """Return a validator of a value of this schema. Raises `SchemaError`."""
        return self._built(self._of(schema))

    def _built(self, shape: Shape) -> Any:
        from pydantic_core import SchemaValidator, core_schema

        found = [each for each in self._found.values() if each is not None]
        return SchemaValidator(core_schema.definitions_schema(shape, found) if found else shape)

    def _of(self, schema: Any) -> Shape:
        from pydantic_core import core_schema

        parts = list(self._parts(schema)) if isinstance(schema, Mapping) else []
        if len(parts) > 1:
            return core_schema.chain_schema(parts)
        return parts[0] if parts else core_schema.any_schema()

    def _parts(self, schema: Mapping[str, Any]) -> Iterator[Shape]:
        """Yield all that has to hold; each reads what the one before has made."""
        from pydantic_core import core_schema

        if isinstance(ref := schema.get("$ref"), str):
            yield self._referred(ref)
        if kinds := _kinds(schema):
            yield self._any_of([self._typed(each, schema) for each in kinds], kinds)
        if "const" in schema:
            yield core_schema.literal_schema([schema["const"]])
        if isinstance(values := schema.get("enum"), list) and values:
            yield core_schema.literal_schema(values)
        for each in _list(schema, "allOf"):
            yield self._of(each)
        for word in ("anyOf", "oneOf"):
            if branches := _list(schema, word):
                yield self._any_of([self._of(each) for each in branches], _names(branches))

    def _any_of(self, shapes: list[Shape], names: Sequence[str]) -> Shape:
        """Return a union: what a value fits best; else the first that it can be made to fit."""
        from pydantic_core import core_schema

        if len(shapes) == 1:
            return shapes[0]
        pairs: list[Any] = sorted(
            zip(shapes, names, strict=True), key=lambda pair: pair[1] != "string"
        )
        return core_schema.union_schema(pairs)  # texts first: a text stays one where it may

    def _referred(self, ref: str) -> Shape:
        """Return the part of the schema that is referred to; anything, if it is not here."""
        from pydantic_core import core_schema

        if ref not in self._found:
            part = _at(self._root, ref)
            if part is None:
                return core_schema.any_schema()
            self._found[ref] = None  # it may refer to itself
            self._found[ref] = {**self._of(part), "ref": ref}
        return core_schema.definition_reference_schema(ref)

    def _typed(self, kind: str, schema: Mapping[str, Any]) -> Shape:
        from pydantic_core import core_schema

        match kind:
            case "string":
                return core_schema.str_schema(**_sizes(schema, "Length"), **_pattern(schema))
            case "integer":
                return core_schema.int_schema(**_whole_bounds(schema))
            case "number":
                whole = core_schema.int_schema(**_whole_bounds(schema))
                broken = core_schema.float_schema(allow_inf_nan=False, **_bounds(schema))
                return core_schema.union_schema([(whole, "integer"), (broken, "number")])
            case "boolean":
                return core_schema.bool_schema()
            case "null":
                return core_schema.none_schema()
            case "array":
                items = None if "prefixItems" in schema else schema.get("items")
                listed = core_schema.list_schema(self._of(items), **_sizes(schema, "Items"))
                return core_schema.no_info_before_validator_function(_opened, listed)
        return core_schema.no_info_before_validator_function(_opened, self._object(schema))

    def _object(self, schema: Mapping[str, Any]) -> Shape:
        from pydantic_core import core_schema

        given = schema.get("properties")
        properties = dict(given) if isinstance(given, Mapping) else {}
        required = [each for each in _list(schema, "required") if isinstance(each, str)]
        fields = {
            name: self._field(properties.get(name), required=name in required)
            for name in (*properties, *required)
        }
        more = None if schema.get("patternProperties") else schema.get("additionalProperties")
        return core_schema.typed_dict_schema(
            fields,
            extra_behavior="forbid" if more is False else "allow",
            extras_schema=self._of(more) if isinstance(more, Mapping) else None,
        )

    def _field(self, schema: Any, *, required: bool) -> Shape:
        """Return a property, with its default where that is a value of it."""
        from pydantic_core import core_schema

        shape = self._of(schema)
        if isinstance(schema, Mapping) and "default" in schema:
            whole = core_schema.with_default_schema(
                shape, default=schema["default"], validate_default=True
            )
            if self._accepts(whole, schema["default"]):
                return core_schema.typed_dict_field(whole, required=False)
        return core_schema.typed_dict_field(shape, required=required)

    def _accepts(self, shape: Shape, value: Any) -> bool:
        from pydantic_core import SchemaError, ValidationError

        try:
            self._built(shape).validate_python(value)
        except (SchemaError, ValidationError):  # it may refer to what is not read to its end
            return False
        return True


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    """Return the types that a value may have; none if that is not said, or not known here."""
    said = schema.get("type")
    if said is None and any(each in schema for each in _OBJECT):
        said = "object"
    kinds = said if isinstance(said, list) else [] if said is None else [said]
    if not all(each in _TYPES for each in kinds):
        return []
    return [*kinds, "null"] if kinds and schema.get("nullable") is True else kinds


def _list(schema: Mapping[str, Any], word: str) -> list[Any]:
    found = schema.get(word)
    return found if isinstance(found, list) else []


def _names(branches: Sequence[Any]) -> list[str]:
    """Return the names of the branches in errors: each by its type, or by its number."""
    types = [each.get("type") if isinstance(each, Mapping) else None for each in branches]
    return [each if isinstance(each, str) else f"[{i}]" for i, each in enumerate(types)]


def _at(root: Any, ref: str) -> Any:
    """Return the part of a schema that a reference like `#/$defs/Line` means; None if elsewhere."""
    if ref[:1] != "#" or (ref[1:] and ref[1] != "/"):
        return None
    part = root
    for step in ref[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(part, list) and name.isdigit() and int(name) < len(part):
            part = part[int(name)]
        elif isinstance(part, Mapping) and name in part:
            part = part[name]
        else:
            return None
    return part


def _opened(value: Any) -> Any:
    """Return the list or object that was written as a text of JSON; else the value as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _sizes(schema: Mapping[str, Any], of: str) -> dict[str, Any]:
    words: dict[str, Any] = {
        "min_length": schema.get(f"min{of}"),
        "max_length": schema.get(f"max{of}"),
    }
    return {word: each for word, each in words.items() if _is_number(each) and each == int(each)}


def _pattern(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the pattern, if it can be matched in linear time; others are left to the tool."""
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    pattern = schema.get("pattern")
    if not isinstance(pattern, str):
        return {}
    try:
        SchemaValidator(core_schema.str_schema(pattern=pattern))
    except SchemaError:
        return {}
    return {"pattern": pattern}


def _bounds(schema: Mapping[str, Any]) -> dict[str, Any]:
    words: dict[str, Any] = {
        "ge": schema.get("minimum"),
        "gt": schema.get("exclusiveMinimum"),
        "le": schema.get("maximum"),
        "lt": schema.get("exclusiveMaximum"),
        "multiple_of": schema.get("multipleOf"),
    }
    for wide, narrow in (("ge", "gt"), ("le", "lt")):
        if words[narrow] is True:  # as older drafts write it
            words[wide], words[narrow] = None, words[wide]
    return {word: each for word, each in words.items() if _is_number(each)}


def _whole_bounds(schema: Mapping[str, Any]) -> dict[str, Any]:
    near = {"ge": math.ceil, "gt": math.floor, "le": math.floor, "lt": math.ceil}
    bounds = _bounds(schema)
    step = bounds.pop("multiple_of", None)
    whole = {word: near[word](each) for word, each in bounds.items()}
    return whole if step is None or step != int(step) else {**whole, "multiple_of": int(step)}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
