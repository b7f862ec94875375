"""docs/contract-files.md has every key that the loader accepts, and no other; its examples load."""

from __future__ import annotations

import ast
import copy
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from sponsio_like.checks import read_file
from sponsio_like.contracts import STRATEGIES, inventory, operands
from sponsio_like.contracts.about import SEVERITIES
from sponsio_like.contracts.definition import MODES
from sponsio_like.errors import ContractError

PAGE = (Path(__file__).parents[2] / "docs" / "contract-files.md").read_text("utf-8")
TABLE = re.compile(r"<!-- keys: ([\w ]+) -->\n\n((?:\|.*\n)+)")
BASE = """\
version: 1
parameters: {limit: 3}
contracts:
- {name: few, guarantee: {pattern: rate_limit, action: pay, limit: "${limit}"}}
- {name: more, guarantee: {pattern: rate_limit, action: look, limit: 9}}
"""
"""The file `base.yaml`, which the examples include."""
PLAIN = {"name": "a", "guarantee": {"ltl": "G !called(issue_refund)"}}
TEST = {"name": "a", "trace": "find_order", "expect": "allowed"}


class Key(NamedTuple):
    """A row of a table."""

    kind: str
    name: str
    type: str
    default: str
    example: str


def rows() -> Iterator[Key]:
    """Every key of the page, by the kind of mapping in which it stands."""
    for kind, table in TABLE.findall(PAGE):
        for line in table.splitlines()[2:]:
            name, type_, default, _, example = [cell.strip() for cell in line[1:-1].split("|")]
            yield Key(kind, name.strip("`"), type_, default, example[1:-1])


KEYS = list(rows())


def skeleton(kind: str, name: str, example: Any) -> Callable[[], dict[str, Any]]:
    """Return a function that makes the smallest contract file in which the example stands."""
    bound = {"tool": "issue_refund", "args": {"to": "$x"}}

    def event(match: dict[str, Any]) -> dict[str, Any]:
        if "$x" not in str(match):
            return {"guarantee": {"pattern": "absent", "match": match}}
        if name == "carries":
            leak = {"tool": "read", "output": {"carries": "$x"}}
            return {"guarantee": {"pattern": "until", "trigger": leak, "forbidden": match}}
        if name == "missing":
            return {"guarantee": {"pattern": "until", "trigger": bound, "forbidden": match}}
        if name in ("call", "agent"):
            again = copy.deepcopy(match)  # YAML would write an anchor
            return {"guarantee": {"pattern": "precedence", "match": match, "requires": again}}
        return {"guarantee": {"pattern": "precedence", "match": bound, "requires": match}}

    def contract() -> dict[str, Any]:
        match kind:
            case "contract":
                return example  # type: ignore[no-any-return]
            case "guarantee" | "window" | "event":
                return {"guarantee": example}
            case "match" | "text":
                return event(example)
            case "comparison":
                return event({"tool": "send", **example})
            case "condition":
                return {"scope": {"after": example}}
            case "scope":
                return {"scope": example}
            case "notifier":
                return {"strategy": {"escalate": {"notify": example}}}
        return {"strategy": example}

    def file() -> dict[str, Any]:
        if kind == "contract file":
            more = {"tools": ["issue_refund"]} if name == "unlisted" else {}
            more |= {"tools": ["issue_refund"]} if name == "elsewhere" else {}
            more |= {"include": ["base.yaml"]} if name == "overrides" else {}
            blank = {"parameters": "${team}", "env": "${HOME}"}.get(name)
            if blank is not None:
                return {"version": 1, "contracts": [{**PLAIN, "owner": blank}], **example}
            return {"version": 1, "contracts": [PLAIN], **more, **example}
        if kind == "include":
            return {"version": 1, "include": [example]}
        if kind == "override":
            return {"version": 1, "include": ["base.yaml"], "overrides": [example]}
        if kind == "test":
            return {"version": 1, "contracts": [PLAIN], "tests": [example]}
        if kind == "risk section":
            return {"version": 1, "contracts": [PLAIN], "risk": example}
        if kind == "tool":
            return {"version": 1, "tools": {"issue_refund": example}, "contracts": [PLAIN]}
        return {"version": 1, "contracts": [{**PLAIN, **contract()}]}

    return file


def load(key: Key, folder: Path) -> None:
    """Load the example of a key, in the smallest file that it can stand in."""
    file = folder / "contracts.yaml"
    made = skeleton(key.kind, key.name, yaml.safe_load(key.example))()
    file.write_text(yaml.safe_dump(made, sort_keys=False), "utf-8")
    (folder / "base.yaml").write_text(BASE, "utf-8")
    read_file(file)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    """The keys that the loader knows in each kind of mapping, as far as it has read one."""
    found: dict[str, set[str]] = defaultdict(set)

    def check_keys(value: Any, known: Iterable[str], what: str, *rest: Any) -> None:
        found[what] |= set(known)
        operands_check_keys(value, known, what, *rest)

    operands_check_keys = operands.check_keys
    for name, module in list(sys.modules.items()):
        if (
            name.startswith("sponsio_like.")
            and getattr(module, "check_keys", None) is operands_check_keys
        ):
            monkeypatch.setattr(module, "check_keys", check_keys)
    return found


@pytest.mark.parametrize("key", KEYS, ids=lambda key: f"{key.kind} {key.name}")
def test_the_example_of_a_key_loads(key: Key, tmp_path: Path) -> None:
    """Each key has an example in which it stands, and which loads with what it needs beside it."""
    assert re.search(rf"\b{key.name}\b", key.example)
    load(key, tmp_path)


def test_the_page_has_every_key_that_the_loader_accepts(
    asked: dict[str, set[str]], tmp_path: Path
) -> None:
    """For each kind of mapping that the loader reads there is a table, with the same keys."""
    for key in KEYS:
        load(key, tmp_path)
    shown: dict[str, set[str]] = defaultdict(set)
    for key in KEYS:
        shown[key.kind].add(key.name)
    assert shown.pop("strategies") == set(STRATEGIES)
    assert shown == asked


@pytest.mark.long
def test_every_mapping_that_the_loader_reads_is_read_here() -> None:
    """No call of `check_keys` names a kind of mapping that the page does not have."""
    package = Path(operands.__file__).parents[1]
    trees = [ast.parse(path.read_text("utf-8")) for path in package.rglob("*.py")]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    kinds = {
        ast.literal_eval(call.args[2]) for call in calls if ast.unparse(call.func) == "check_keys"
    }
    assert kinds == {key.kind for key in KEYS} - {"strategies"}


def test_the_words_that_a_key_takes_are_those_of_the_loader() -> None:
    """Where a key takes one of a few words, its type has all of them."""
    types = {(key.kind, key.name): set(re.findall(r"`([\w]+)`", key.type)) for key in KEYS}
    assert types["contract", "mode"] == types["contract file", "mode"] == set(MODES)
    assert types["contract", "severity"] == set(SEVERITIES)
    assert types["contract file", "unlisted"] == {"refuse", "allow"}
    kinds = re.search(r"The kinds are (.*?), and `\[kind\]`", PAGE, re.DOTALL)
    assert kinds
    assert re.findall(r"`(\w+)`", kinds[1]) == list(inventory.KINDS)


WITHOUT: dict[tuple[str, str], dict[str, Any]] = {
    ("contract file", "version"): {"contracts": [PLAIN]},
    ("contract file", "contracts"): {"version": 1},
    ("contract", "name"): {"guarantee": PLAIN["guarantee"]},
    ("contract", "guarantee"): {"name": "a"},
    ("redirect", "to"): {**PLAIN, "strategy": {"redirect_to_safe": {"map": {"a": "b"}}}},
    ("risk section", "model"): {"version": 1, "contracts": [PLAIN], "risk": {"threshold": 0.2}},
    ("risk section", "threshold"): {
        "version": 1,
        "contracts": [PLAIN],
        "risk": {"model": "r.json"},
    },
    **{
        ("test", key): {
            "version": 1,
            "contracts": [PLAIN],
            "tests": [{k: v for k, v in TEST.items() if k != key}],
        }
        for key in TEST
    },
    ("include", "file"): {"version": 1, "include": [{"with": {"limit": 3}}]},
    ("override", "name"): {
        "version": 1,
        "include": ["base.yaml"],
        "overrides": [{"mode": "observe"}],
    },
    ("notifier", "webhook"): {**PLAIN, "strategy": {"escalate": {"notify": {"timeout": 2}}}},
}
"""For each key that is required, the same without it: a file, or a contract."""


@pytest.mark.parametrize("place", WITHOUT, ids=" ".join)
def test_what_is_required_is_missed(place: tuple[str, str], tmp_path: Path) -> None:
    """A mapping without a key whose default is `required` is refused."""
    made, file = WITHOUT[place], tmp_path / "contracts.yaml"
    files = ("contract file", "risk section", "include", "override", "test")
    (tmp_path / "base.yaml").write_text(BASE, "utf-8")
    whole = made if place[0] in files else {"version": 1, "contracts": [made]}
    file.write_text(yaml.safe_dump(whole), "utf-8")
    with pytest.raises(ContractError):
        read_file(file)


def test_the_page_says_what_is_required() -> None:
    """The keys whose default is `required` are those whose lack is refused."""
    assert {(key.kind, key.name) for key in KEYS if key.default == "required"} == {*WITHOUT}
