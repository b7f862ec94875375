"""Contract → YAML → contract: what is written of a contract is read as the same contract."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Any

import pytest
import yaml

from sponsio_like.cli.draft.yaml_text import entry
from sponsio_like.contracts import Contract, contract, fingerprint, loads
from tests.reference.pattern_cases import CASES, Case

BESIDE: list[dict[str, Any]] = [
    {},
    {"assume": {"ctx": {"env": "prod"}}, "because": 'a "reason": with #signs, [and] {these}'},
    {"scope": {"after": {"called": "start"}}, "mode": "observe", "owner": "yes"},
    {"strategy": {"escalate": {"roles": ["manager"], "within": 60}}, "severity": "high"},
    {"advice": {"de": "erst `a`: {how}", "pt-BR": "não {tool}"}},
    {"strategy": "warn_only", "tags": ["on", "null", "~", "é\u202e"]},
]
"""What else a contract has: each goes with some of the cases."""
SAID: dict[str, Callable[[Contract, Any], Contract]] = {
    "assume": Contract.assume,
    "scope": lambda one, value: one.after(value["after"]),
    "strategy": Contract.strategy,
    "mode": Contract.in_mode,
    "because": Contract.because,
    "owner": Contract.owner,
    "severity": Contract.severity,
    "advice": lambda one, value: one.advice(**value),
    "tags": lambda one, value: one.tags(*value),
}
"""How the same is said in Python."""


def lines(each: dict[str, Any]) -> str:
    """Return a contract file, as the package writes contracts."""
    inner = "\n    ".join(line for key, value in each.items() for line in entry(key, value))
    return f"version: 1\ncontracts:\n  - {inner}\n"


def dumped(each: dict[str, Any]) -> str:
    """Return a contract file, as PyYAML writes it."""
    return yaml.safe_dump({"version": 1, "contracts": [each]}, sort_keys=False)


@pytest.mark.parametrize("write", [lines, dumped], ids=["ours", "PyYAML"])
@pytest.mark.parametrize(
    ("case", "beside"),
    list(zip(CASES, cycle(BESIDE), strict=False)),
    ids=lambda each: str(each)[:60],
)
def test_each_pattern_is_read_as_it_was_written(
    case: Case, beside: dict[str, Any], write: Any
) -> None:
    """The meaning, the strategy, the mode and all that is told of it are the same."""
    guarantee = {"pattern": case.name, **case.given}
    if "strategy" in beside and case.contract.rules[0].answer is not None:
        beside = {key: value for key, value in beside.items() if key != "strategy"}
    given = {"name": "a: rule # no comment", "guarantee": guarantee, **beside}
    direct = contract("a: rule # no comment").guarantees(case.contract.rules[0])
    for key, value in beside.items():
        direct = SAID[key](direct, value)
    (read,) = loads(write(given)).contracts
    assert fingerprint(read) == fingerprint(direct)
    assert [str(rule.formula) for rule in read.rules] == [
        str(rule.formula) for rule in case.contract.rules
    ]
    for what in ("name", "answer", "mode", "about"):
        assert getattr(read, what) == getattr(direct, what)
