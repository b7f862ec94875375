"""Two versions of the package held against each other: the same contract files, loaded by each.

    python -m tests.fuzz.files N --old DIR [--seed S]

`DIR`: a tree or an unpacked wheel of another version. In: the contract files of the repository, N
random files made of the examples of the catalog, and N broken ones. Out: how many were read and
refused; every difference in mistakes, places, warnings, what was understood, and what is decided.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from sponsio_like.contracts import CATALOG, Pattern, catalog
from sponsio_like.errors import ContractError
from sponsio_like.syntax import show
from tests.fuzz.fuzz_cases import Formulas
from tests.fuzz.readers import ROOT, broken, seeds
from tests.fuzz.versions import campaign

READER = Path(__file__).with_name("file_reader.py")
BATCH = 250
SWAPS = ("pay", "refund", "Refund", "pya", "db.*", "*", "any", "every", "send_email", "send_emial")
TEXTS = (
    "login",
    "Login",
    "lgoin",
    "$100",
    "[^host.com$]",
    ".*",
    "^https://api.corp",
    r"\bé",
    "> 5",
    "*.env",
    "rm *",
    "a(b|c)",
)
NUMBERS = (0, 1, 2, 3, 1000, 1_000_000, -1, 0.5, "3", True)
DOUBTFUL: tuple[Any, ...] = (
    {"pattern": "rate_limit", "action": "pay", "limit": 1_000_000},
    {"pattern": "rate_limit", "action": "check_policy", "limit": 3},
    {"pattern": "rate_limit", "action": "chekc_policy", "limit": 4},
    {"pattern": "rate_limit", "action": "checkpolicy", "limit": 4},
    {"pattern": "arg_allowlist", "tool": "get", "field": "url", "patterns": ["^https://api.corp/"]},
    {
        "pattern": "arg_allowlist",
        "tool": "get",
        "field": "url",
        "patterns": [r"^https://api\.corp"],
    },
    {"pattern": "arg_blacklist", "tool": "get", "field": "q", "patterns": [r"\bé"]},
    {"pattern": "absent", "match": {"tool": "mail", "args": {"to": "*@corp.example"}}},
    {"pattern": "absent", "match": {"tool": "open", "args": {"path": {"under": ["/etc"]}}}},
    {"pattern": "absent", "match": {"tool": "open", "args": {"to.length": {"gt": 3}}}},
    {"pattern": "must_precede", "first": "a", "then": "b"},
    {"pattern": "must_precede", "first": "b", "then": "a"},
    {"ltl": "G(called(a) -> X(called(b) -> done(c)))"},
    {
        "pattern": "precedence",
        "match": {"tool": "mail", "args": {"to": {"matches": "@(.*)", "bind": "$x"}}},
        "requires": {"tool": "find", "output": {"path": "id", "bind": "$x"}},
    },
)
"""What is loaded with a warning, alone or beside another of them."""
OTHERS: tuple[tuple[str, tuple[Any, ...], float], ...] = (
    ("strategy", ("block", "warn_only", "escalate", {"redirect_to_safe": {"to": "draft"}}), 0.2),
    ("assume", ({"called": "a"}, "called `a`", {"ctx": {"x": "y"}}, {"ltl": "O done(a)"}), 0.1),
    ("scope", ({"after": {"called": "a"}}, {"between": [{"called": "a"}, {"called": "b"}]}), 0.1),
    ("mode", ("observe", "enforce", {"enforce": "10%"}), 0.1),
    ("mode", ("obsrve", None), 0.003),
)
"""The other keys of a contract, values, and how often each has one."""


def changed(value: Any, dice: random.Random, often: float) -> Any:
    """Return arguments with some parts of them changed."""
    if isinstance(value, dict):
        return {key: changed(each, dice, often) for key, each in value.items()}
    if isinstance(value, list):
        return [changed(each, dice, often) for each in value]
    if dice.random() >= often:
        return value
    if isinstance(value, str):
        return dice.choice((*SWAPS, *TEXTS, {"tool": dice.choice(SWAPS), "args": {"to": "$x"}}))
    return dice.choice(NUMBERS)


def guarantee(dice: random.Random, often: float) -> Any:
    """Return a random guarantee."""
    if dice.random() < 0.15:
        return dice.choice(DOUBTFUL)
    if dice.random() < 0.1:
        return {"ltl": show(Formulas(dice).guarantee())}
    one = dice.choice(catalog())
    if dice.random() < 0.1:
        return one.rule(one.example).sentence
    return {"pattern": one.name, **renamed(one, changed(dict(one.example), dice, often), dice)}


def renamed(one: Pattern, given: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    """Return the arguments with other names of tools, where they can be read with them."""
    found = {key: _suffixed(each, dice.choice(("", "_1", "_2"))) for key, each in given.items()}
    with suppress(ContractError):
        one.rule(found)
        return found
    return given


def _suffixed(value: Any, end: str) -> Any:
    if isinstance(value, list):
        return [_suffixed(each, end) for each in value]
    if isinstance(value, dict):
        return {key: _suffixed(each, end) for key, each in value.items()}
    return value + end if isinstance(value, str) and value[:1] != "$" else value


def made(dice: random.Random) -> str:
    """Return a random contract file: many contracts of few shapes, some with mistakes."""
    often = dice.choice((0, 0, 0.02, 0.02, 0.05, 0.1, 0.3))
    contracts = []
    for k in range(dice.choice((1, 2, 5, 12))):
        said: dict[str, Any] = {"name": f"c{k}", "guarantee": guarantee(dice, often)}
        for key, among, part in OTHERS:
            if dice.random() < part:
                said[key] = dice.choice(among)
        contracts.append(said)
        if dice.random() < 0.3:  # the same again, about others
            again = json.loads(json.dumps(said))
            again["name"] = f"d{k}"
            if isinstance(again["guarantee"], dict) and "pattern" in again["guarantee"]:
                name = again["guarantee"].pop("pattern")
                given = changed(again["guarantee"], dice, often / 2)
                again["guarantee"] = {"pattern": name, **renamed(CATALOG[name], given, dice)}
            contracts.append(again)
    file: dict[str, Any] = {"version": 1, "contracts": contracts}
    if dice.random() < 0.1:
        file["tools"] = sorted({*SWAPS} - {"db.*", "*", "any", "every"})
        file["unlisted"] = "allow"
    text = json.dumps(file)
    return text if dice.random() < 0.5 else yaml.safe_dump(json.loads(text), sort_keys=False)


def committed() -> list[Any]:
    """Return the contract files of the repository, and the texts of those that are refused."""
    found = [path for path in sorted(ROOT.rglob("*.yaml")) if ".venv" not in path.parts]
    texts = (ROOT / "tests/contracts" / f"{name}_files.yaml" for name in ("bad", "hurried"))
    return [*found, *(each["file"] for path in texts for each in yaml.safe_load(path.read_text()))]


def batches(seed: int, count: int) -> Iterator[list[Any]]:
    """Yield the files of the repository, then random ones."""
    yield committed()
    among = seeds()
    for start in range(0, count, BATCH):
        batch = list[Any]()
        for k in range(start, min(start + BATCH, count)):
            dice = random.Random(f"{seed}/{k}")
            text = made(dice)
            batch += [text, broken(dice.choice([text, *among]), among, dice)]
        yield batch


def compared(old: Path, batch: list[Any], tally: Counter[str]) -> list[str]:
    """Return the differences of one batch."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "batch"
        path.write_bytes(pickle.dumps(batch))
        players = [
            subprocess.Popen(
                [sys.executable, "-P", str(READER), str(path)],
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": str(version), "PYTHONHASHSEED": "0"},
                cwd=folder,
            )
            for version in (old, ROOT)
        ]
        said = [pickle.loads(each.communicate()[0]) for each in players]  # noqa: S301  our own
    found = []
    for each, one, other in zip(batch, *said, strict=True):
        kind, text = other
        tally[kind] += 1
        tally["warned"] += kind == "read" and not text.startswith("[[]")
        tally["blocked"] += text.count("('Blocked'")
        if one != other:
            found.append(f"{each}\n    old {one}\n    new {other}")
    return found


if __name__ == "__main__":
    raise SystemExit(campaign(__doc__, 1_000, batches, compared))
