"""The JSON Schema of contract files: it accepts what the loader accepts, and refuses wrong keys."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from sponsio_like import ContractError
from sponsio_like.checks import read_file
from sponsio_like.contracts import CATALOG, loader, parse, schema
from sponsio_like.contracts.loader import loads
from tests.project.test_contract_files import KEYS, Key, skeleton

ROOT = Path(__file__).parents[2]
SCHEMA = schema.file_schema()
VALIDATOR = Draft7Validator(SCHEMA)


def loaded(path: Path) -> bool:
    """True if this file is a contract file that loads."""
    try:
        read_file(path)
    except ContractError:
        return False
    return True


def readable(text: str) -> bool:
    """True if this text is that of a contract file without mistakes."""
    try:
        loads(text)
    except ContractError:
        return False
    return True


FILES = [
    path
    for folder in ("sponsio_like", "examples", "campaigns", "tests")
    for path in sorted((ROOT / folder).rglob("*.yaml"))
    if loaded(path)
]
BLOCKS = [
    text
    for page in sorted((ROOT / "docs").rglob("*.md"))
    for text in re.findall(r"```yaml[^\n]*\n(version: .*?)```", page.read_text("utf-8"), re.DOTALL)
    if readable(text)
]


def wrong(data: Any) -> list[str]:
    """What the schema says against a contract file."""
    return [error.message for error in VALIDATOR.iter_errors(json.loads(json.dumps(data)))]


def of(guarantee: Any, **more: Any) -> dict[str, Any]:
    """A contract file with one contract."""
    return {"version": 1, "contracts": [{"name": "a", "guarantee": guarantee, **more}]}


def test_the_schema_is_one() -> None:
    """It is a JSON Schema of draft 7 by itself, and every definition that it refers to is there."""
    Draft7Validator.check_schema(SCHEMA)
    named = set(re.findall(r'"#/definitions/([^"]+)"', json.dumps(SCHEMA)))
    assert named <= set(SCHEMA["definitions"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_contract_file_of_the_repository_is_accepted(path: Path) -> None:
    """What loads is accepted: the demo, the examples, the packs."""
    assert not wrong(parse(path.read_text("utf-8")).data)


@pytest.mark.parametrize("text", BLOCKS)
def test_every_file_of_the_docs_is_accepted(text: str) -> None:
    """The files that the pages show are accepted."""
    assert not wrong(parse(text).data)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: f"{key.kind} {key.name}")
def test_the_example_of_every_key_is_accepted(key: Key) -> None:
    """The example that each key of the reference has is accepted."""
    assert not wrong(skeleton(key.kind, key.name, yaml.safe_load(key.example))())


@pytest.mark.parametrize("name", CATALOG)
def test_the_example_of_every_pattern_is_accepted(name: str) -> None:
    """The arguments that a pattern is declared with are accepted, and one more is not."""
    guarantee = {"pattern": name, **CATALOG[name].example}
    assert not wrong(of(guarantee))
    assert wrong(of({**guarantee, "nonsense": 1}))


def test_places_to_fill_in_are_accepted() -> None:
    """`${x}` may stand where a number, a list or one of a few words does; a number as text not."""
    pack = {
        "version": 1,
        "parameters": {"limit": 3, "mode": "observe", "names": ["a"]},
        "contracts": [
            {
                "name": "a",
                "guarantee": {**CAP, "limit": "${limit}"},
                "mode": "${mode}",
                "tags": "${names}",
            }
        ],
    }
    assert not wrong(pack)
    assert not wrong({"version": 1, "include": [{"file": "pack.yaml", "with": {"limit": 1}}]})


def test_the_schema_has_the_keys_of_the_reference() -> None:
    """Each kind of mapping has the keys that the page about contract files has, and no others."""
    shown: dict[str, set[str]] = {}
    for key in KEYS:
        shown.setdefault(key.kind, set()).add(key.name)
    definitions = {**SCHEMA["definitions"], "contract file": SCHEMA}
    definitions["condition"] = definitions["atom"]
    definitions["include"] = SCHEMA["properties"]["include"]["anyOf"][0]["items"]["anyOf"][1]
    for kind, names in shown.items():
        if kind in ("guarantee", "strategies"):
            continue
        found = set(definitions[kind]["properties"])
        if kind == "comparison":  # beside the facts of typed texts
            assert names <= found
        else:
            assert found == names, kind


def test_every_key_of_a_file_is_described() -> None:
    """No key of a file or of a contract takes anything at all."""
    assert set(loader.FILE_KEYS) <= set(schema._FILE)
    assert set(loader.CONTRACT_KEYS) <= set(schema._CONTRACT)


CAP = {"pattern": "rate_limit", "action": "pay", "limit": 3}
BAD: dict[str, Any] = {
    "no version": {"contracts": [{"name": "a", "guarantee": CAP}]},
    "another version": {**of(CAP), "version": 2},
    "no contracts": {"version": 1},
    "an empty list": {"version": 1, "contracts": []},
    "a misspelt key of the file": {**of(CAP), "contract": []},
    "a mode that is none": {**of(CAP), "mode": "enforced"},
    "tools as a text": {**of(CAP), "tools": "pay"},
    "a tool with another key": {**of(CAP), "tools": {"pay": {"args": {}}}},
    "a kind that is none": {**of(CAP), "tools": {"pay": {"fields": {"to": "text"}}}},
    "unlisted as a truth value": {**of(CAP), "tools": ["pay"], "unlisted": False},
    "a contract without a guarantee": {"version": 1, "contracts": [{"name": "a"}]},
    "a contract without a name": {"version": 1, "contracts": [{"guarantee": CAP}]},
    "a misspelt key of a contract": of(CAP, asume={"called": "pay"}),
    "a severity that is none": of(CAP, severity="urgent"),
    "tags as a text": of(CAP, tags="money"),
    "world as a text": of(CAP, world="yes"),
    "a pattern that is none": of({"pattern": "rate_limits", "action": "pay", "limit": 3}),
    "a pattern without an argument": of({"pattern": "rate_limit", "action": "pay"}),
    "a misspelt argument": of({**CAP, "windw": {"seconds": 60}}),
    "a number as a text": of({**CAP, "limit": "3"}),
    "a number below its least": of({**CAP, "limit": -1}),
    "a window of two sizes": of({**CAP, "window": {"seconds": 60, "steps": 3}}),
    "a window that is none": of({**CAP, "window": "hour"}),
    "a choice that is none": of({**CAP, "counts": "tried"}),
    "a guarantee of two kinds": of({**CAP, "ltl": "G !called(pay)"}),
    "a formula that is no text": of({"ltl": True}),
    "an empty match": of({"pattern": "absent", "match": {}}),
    "a misspelt key of a match": of({"pattern": "absent", "match": {"tol": "pay"}}),
    "a status that is none": of({"pattern": "absent", "match": {"tool": "pay", "status": "bad"}}),
    "a misspelt comparison": of(
        {"pattern": "absent", "match": {"tool": "pay", "args": {"amount": {"gte": 100}}}}
    ),
    "a variable without a dollar": of(
        {"pattern": "absent", "match": {"tool": "pay", "args": {"to": {"carries": "who"}}}}
    ),
    "a condition of two atoms": of(CAP, assume={"called": "pay", "failed": "pay"}),
    "an approval without a role": of(CAP, assume={"approved": {"action": "pay"}}),
    "a scope of one end": of(CAP, scope={"between": [{"called": "pay"}]}),
    "a strategy that is none": of(CAP, strategy="blok"),
    "options that a strategy does not have": of(CAP, strategy={"block": {"roles": ["boss"]}}),
    "a redirect without a target": of(CAP, strategy={"redirect_to_safe": {}}),
    "a misspelt option": of(CAP, strategy={"escalate": {"role": ["boss"]}}),
    "a notifier of two addresses": of(
        CAP, strategy={"escalate": {"notify": {"webhook": "https://a", "slack": "https://b"}}}
    ),
    "risk without a threshold": {**of(CAP), "risk": {"model": "risk.json"}},
    "risk above one": {**of(CAP), "risk": {"model": "risk.json", "threshold": 20}},
}


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_file_is_refused_by_schema_and_loader(name: str) -> None:
    """What the schema refuses the loader refuses, too; so an editor never marks what is right."""
    assert wrong(BAD[name])
    with pytest.raises(ContractError):
        loads(json.dumps(BAD[name]))
