"""Makes the JSON Schema of contract files, for editors: keys, patterns, and what they take.

In: the registries of patterns, strategies and kinds, as they stand. Out: plain data, draft 7. It
accepts every file that the loader accepts, and refuses wrong keys and types; names and sense are
checked by `sponsio-like check` alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from sponsio_like.contracts.about import LANGUAGE, SEVERITIES
from sponsio_like.contracts.conditions import HAPPENINGS
from sponsio_like.contracts.declaration import Pattern, catalog
from sponsio_like.contracts.definition import MODES
from sponsio_like.contracts.inventory import KINDS
from sponsio_like.contracts.loader import CONTRACT_KEYS, FILE_KEYS, VERSION
from sponsio_like.contracts.matches import HAPPENING
from sponsio_like.contracts.operands import COMPARISONS, SEARCHES
from sponsio_like.contracts.parameter_section import ENV_KINDS
from sponsio_like.contracts.parameters import SECONDS, TEXT, refers, schema_of, whole
from sponsio_like.contracts.risk_section import SAME
from sponsio_like.contracts.strategies import STRATEGIES
from sponsio_like.contracts.tests_section import OUTCOMES
from sponsio_like.contracts.typed_fields import fact_keys
from sponsio_like.values import TEXT_KINDS

Schema: TypeAlias = Mapping[str, Any]
SCHEMA_NAME = f"contract-file-{VERSION}.schema.json"
"""The name of the file in which the schema is written; its number is the version of the format."""

PLAIN: Schema = {"type": ["string", "number", "boolean", "null"]}
VARIABLE: Schema = {"type": "string", "pattern": "^\\$[A-Za-z_][A-Za-z0-9_]*$"}
SIZE: Schema = {"type": ["string", "number"]}
MODE: Schema = {"enum": list(MODES)}
BLANK: Schema = {"type": "string", "pattern": r"^\$\{[A-Za-z_][A-Za-z0-9_]*\}$"}
MEMBERS = ("contracts", "include")
"""A file has one of these at least."""
SHARE: Schema = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}


def file_schema() -> dict[str, Any]:
    """Return the JSON Schema of contract files, with every pattern that is declared now."""
    file = {key: _FILE.get(key, {}) for key in FILE_KEYS}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"contract file of sponsio-like, version {VERSION}",
        **_mapping(_fillable(file), ("version",), anyOf=[{"required": [key]} for key in MEMBERS]),
        "definitions": {**_fillable(_definitions()), "blank": BLANK},
    }


def _fillable(schema: Any) -> Any:
    """Return a schema that also takes `${name}` where it takes a number, a list, or one of few."""
    if isinstance(schema, list):
        return [_fillable(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: each if key == "if" else _fillable(each) for key, each in schema.items()}
    some = schema.get("type") in ("integer", "number", "boolean", "array")
    return _any(found, refers("blank")) if some or "enum" in schema else found


def schema_text() -> str:
    """Return the schema as the text of a file."""
    return json.dumps(file_schema(), indent=1) + "\n"


def modeline(path: str = SCHEMA_NAME) -> str:
    """Return the comment by which an editor finds the schema of a contract file."""
    return f"# yaml-language-server: $schema={path}"


def _mapping(keys: Schema, required: Iterable[str] = (), **more: Any) -> dict[str, Any]:
    """Return the schema of a mapping with these keys and no others."""
    found = {"type": "object", "properties": dict(keys), "additionalProperties": False, **more}
    return {**found, "required": list(required)} if required else found


def _some(each: Schema) -> dict[str, Any]:
    return {"type": "array", "items": each, "minItems": 1}


def _map(each: Schema) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": each}


def _any(*schemas: Schema) -> dict[str, Any]:
    return {"anyOf": list(schemas)}


def _about(text: str, schema: Schema) -> dict[str, Any]:
    """Return the schema with a description; beside `$ref` nothing else would be read."""
    inner = {"allOf": [schema]} if "$ref" in schema else schema
    return {"description": text, **inner}


# --- the file and its contracts -------------------------------------------------------------------

_FILE: Schema = {
    "version": {"const": VERSION},
    "import": _about("Python modules whose patterns, atoms and kinds are used", _some(TEXT)),
    "include": _about(
        "files, folders, or package:file, whose contracts are taken in",
        _some(_any(TEXT, _mapping({"file": TEXT, "with": {"type": "object"}}, ("file",)))),
    ),
    "parameters": _about(
        "names that ${name} stands for, with defaults", {"type": "object", "minProperties": 1}
    ),
    "env": _about(
        "environment variables that ${NAME} stands for",
        _any(_some(TEXT), {**_map({"enum": list(ENV_KINDS)}), "minProperties": 1}),
    ),
    "overrides": _about("changes of contracts of included files", _some(refers("override"))),
    "mode": _about("for contracts that do not say", MODE),
    "tools": _about(
        "the tools that the agent has",
        _any(
            _some(TEXT),
            {**_map(_any({"type": "null"}, refers("tool"))), "minProperties": 1},
        ),
    ),
    "elsewhere": _about("tools of other agents", _some(TEXT)),
    "unlisted": _about("calls of tools that are not listed", {"enum": ["refuse", "allow"]}),
    "actions": _about("names for kinds of calls", _map(refers("calls"))),
    "contracts": _some(refers("contract")),
    "risk": refers("risk section"),
    "tests": _some(refers("test")),
}
_CONTRACT: Schema = {
    "name": _about("stands in advice, logs and reports", TEXT),
    "assume": _about("a violation counts only where this holds", refers("condition")),
    "scope": _about("where in the session it is demanded", refers("scope")),
    "guarantee": _about("what has to hold", _any(refers("guarantee"), _some(refers("guarantee")))),
    "strategy": _about("what is done about a violation", refers("answer")),
    "mode": _any(
        MODE,
        _mapping({"enforce": _any({"type": "string"}, {"type": "number"})}, ("enforce",)),
    ),
    "world": _about("it counts what no snapshot takes back", {"type": "boolean"}),
    "because": _about("the reason, told to the model and to people", TEXT),
    "owner": _about("who is asked about it", TEXT),
    "severity": {"enum": list(SEVERITIES)},
    "tags": _some(TEXT),
    "advice": _about(
        "words for the model, by language",
        {
            "type": "object",
            "minProperties": 1,
            "propertyNames": {"pattern": f"^{LANGUAGE.pattern}$"},
            "additionalProperties": TEXT,
        },
    ),
}


def _definitions() -> dict[str, Any]:
    return {
        "contract": _mapping(
            {key: _CONTRACT.get(key, {}) for key in CONTRACT_KEYS}, ("name", "guarantee")
        ),
        "override": _mapping({**_CONTRACT, "remove": {"const": True}}, ("name",), minProperties=2),
        "test": _test(),
        "tool": _mapping({"fields": _map(refers("kind"))}, ("fields",)),
        "kind": _kind(),
        **_guarantees(),
        **_EVENTS,
        "comparison": _comparison(),
        "answer": _answer(),
        "intervention": _intervention(),
        **_ANSWERS,
    }


def _test() -> dict[str, Any]:
    """Return the schema of a test: a trace, and what is expected of its last step."""
    steps = _some(_any(TEXT, {"type": "object"}))
    by = _any(TEXT, _some(TEXT))
    refused = _mapping(dict.fromkeys(OUTCOMES[1:], by), minProperties=1, maxProperties=1)
    keys = {
        "name": _about("stands in the results", TEXT),
        "trace": _about("steps such as pay(amount=80), or a trace file", _any(TEXT, steps)),
        "expect": _about("what becomes of the last step", _any({"const": "allowed"}, refused)),
        "proposed": _about("nobody has confirmed it yet", {"const": True}),
    }
    return _mapping(keys, ("name", "trace", "expect"))


def _kind() -> dict[str, Any]:
    known = [*KINDS, *TEXT_KINDS]
    one_of = {"type": "array", "items": refers("kind"), "minItems": 1, "maxItems": 1}
    return _any({"enum": known}, {"type": "string", "pattern": r"^\[.*\]$"}, one_of)


# --- guarantees -----------------------------------------------------------------------------------


def _guarantees() -> dict[str, Any]:
    patterns = catalog()
    chosen = [
        {
            "if": {"properties": {"pattern": {"const": each.name}}},
            "then": refers(f"pattern {each.name}"),
        }
        for each in patterns
    ]
    named = {
        "type": "object",
        "required": ["pattern"],
        "properties": {"pattern": {"enum": [each.name for each in patterns]}},
        "allOf": chosen,
    }
    formula = _mapping({"ltl": TEXT}, ("ltl",))
    either = {
        "type": "object",
        "if": {"required": ["ltl"]},
        "then": formula,
        "else": refers("pattern"),
    }
    return {
        "guarantee": _any(_about("a sentence", TEXT), either),
        "pattern": named,
        **{f"pattern {each.name}": _pattern(each) for each in patterns},
    }


def _pattern(pattern: Pattern) -> dict[str, Any]:
    keys: dict[str, Any] = {"pattern": _about(pattern.summary, {"const": pattern.name})}
    for each in pattern.parameters:
        read = schema_of(each.annotation)
        optional = read if each.required else _any(read, {"type": "null"})
        keys[each.name] = _about(each.expects, optional)
    needed = [each.name for each in pattern.parameters if each.required]
    return _mapping(keys, ("pattern", *needed))


# --- events and conditions ------------------------------------------------------------------------

_WANTED = _any(PLAIN, refers("comparison"))
_OF_CALLS: Schema = {
    "tool": refers("calls"),
    "args": _map(_WANTED),
    "agent": TEXT,
    "call": VARIABLE,
    "missing": {"enum": ["refuse", "skip"]},
}
_TWO: Schema = {**_some(refers("condition")), "minItems": 2, "maxItems": 2}
_OUTPUT = _any(PLAIN, refers("comparison"))
_ATOMS: Schema = {
    **dict.fromkeys(HAPPENINGS, refers("calls")),
    "ctx": {**_map(_WANTED), "minProperties": 1},
    "permission": TEXT,
    "approved": _mapping({"action": TEXT, "role": TEXT}, ("action", "role")),
    "agent": TEXT,
    "message": TEXT,
    "step": TEXT,
    "ltl": TEXT,
}
_EVENTS: Schema = {
    "calls": _any(TEXT, _mapping(_OF_CALLS, minProperties=1), _some(refers("calls"))),
    "match": _mapping(
        {
            **_OF_CALLS,
            "status": {"enum": list(HAPPENING)},
            "output": refers("output"),
            "message": TEXT,
            "text": _any(VARIABLE, refers("text")),
        },
        minProperties=1,
    ),
    "output": _any(_OUTPUT, _some(_OUTPUT)),
    "text": _mapping(
        {"matches": TEXT, **dict.fromkeys(("bind", *SEARCHES), VARIABLE)}, minProperties=1
    ),
    "atom": _mapping(_ATOMS, minProperties=1, maxProperties=1),
    "condition": _any(TEXT, refers("match"), refers("atom")),
    "occurrence": _any(TEXT, refers("match"), refers("atom"), _some(refers("occurrence"))),
    "scope": _mapping(
        {
            **dict.fromkeys(("after", "before"), refers("condition")),
            **dict.fromkeys(("between", "after_until"), _TWO),
        },
        minProperties=1,
        maxProperties=1,
    ),
    "window": _mapping({"steps": whole(1), "seconds": SECONDS}, minProperties=1, maxProperties=1),
    "event": _mapping({"fact": TEXT}, ("fact",)),
    "values": _any(PLAIN, _some(PLAIN)),
}


def _comparison() -> dict[str, Any]:
    """Return the schema of comparisons: of the text itself, and of what it means."""
    folders = _any(TEXT, _some(TEXT))
    keys: dict[str, Any] = {
        **dict.fromkeys(COMPARISONS, SIZE),
        **dict.fromkeys(("equals", "ne"), PLAIN),
        **dict.fromkeys(("under", "outside"), folders),
        **dict.fromkeys(("bind", *SEARCHES), VARIABLE),
        **dict.fromkeys(("some", "every"), _WANTED),
        "in": _some(PLAIN),
        "matches": TEXT,
        "path": TEXT,
    }
    facts = {key for kind in TEXT_KINDS.values() for key in fact_keys(kind)}
    asked = _any(PLAIN, refers("comparison"), _some(PLAIN))
    return _mapping({**dict.fromkeys(sorted(facts - keys.keys()), asked), **keys}, minProperties=1)


# --- what is done about a violation ---------------------------------------------------------------

_OPTIONS = {"escalate": "strategy", "redirect_to_safe": "redirect"}
_NO_OPTIONS: Schema = {"type": ["object", "null"], "maxProperties": 0}
_FUNCTION: Schema = {"type": "string", "pattern": ":"}
_ADDRESS: Schema = {"type": "string", "minLength": 1}
_ANSWERS: Schema = {
    "strategy": _mapping(
        {
            "roles": _any(_some(TEXT), {"type": "null"}),
            "notify": _any(refers("told"), _some(refers("told")), {"type": "null"}),
            "within": _any(SECONDS, {"type": "null"}),
        }
    ),
    "redirect": _mapping(
        {"to": TEXT, "map": _any(_map({"type": ["string", "null"]}), {"type": "null"})}, ("to",)
    ),
    "told": _any(_FUNCTION, refers("notifier")),
    "notifier": _mapping(
        {
            **dict.fromkeys(("webhook", "slack"), _ADDRESS),
            "timeout": {"type": "number"},
            "retries": whole(0),
            "headers": _map({"type": "string"}),
            "every": {"type": "number"},
            "per_minute": {"type": "number"},
        },
        oneOf=[{"required": ["webhook"]}, {"required": ["slack"]}],
    ),
    "risk section": _mapping(
        {
            "model": TEXT,
            "threshold": SHARE,
            "on_risk": refers("intervention"),
            "on_unknown": _any({"const": "log"}, refers("intervention")),
            "horizon": whole(1),
            "confidence": SHARE,
            "least": whole(1),
            "mode": MODE,
        },
        ("model", "threshold"),
    ),
}


def _one_of(options: Schema) -> dict[str, Any]:
    """Return the schema of one of these names: bare, or as the key of its options."""
    needy = {name for name, kind in _OPTIONS.items() if _ANSWERS[kind].get("required")}
    bare = [name for name in options if SAME.get(name, name) not in needy]
    return _any({"enum": bare}, _FUNCTION, _mapping(options, minProperties=1, maxProperties=1))


def _answer() -> dict[str, Any]:
    return _one_of(
        {
            name: _any({"type": "null"}, refers(_OPTIONS[name]))
            if name in _OPTIONS
            else _NO_OPTIONS
            for name in STRATEGIES
        }
    )


def _intervention() -> dict[str, Any]:
    examine = _mapping({"times": whole(1), "then": refers("intervention")})
    others: dict[str, Any] = {name: {} for name in SAME}
    return _any(refers("answer"), _one_of({"llm_self_examine": _any(examine), **others}))
