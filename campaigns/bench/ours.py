"""This engine as a contestant, used as its users do: a file, fresh ids, results, advice that is
read.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from campaigns.bench.translated import written
from campaigns.bench.workload import TEMPLATES, TOOLS, WITHOUT_PATHS, Row, policy
from sponsio_like import Allowed, Blocked, Guard, Session, contract
from sponsio_like.patterns import precedence

Step = Callable[[str, dict[str, Any]], bool]
"""A function that is True if the call is denied."""

UNIX = [r"rm\s+-[rf]+", r"\bsudo\b", r"curl[^|]*\|\s*(ba)?sh"]
THREE: list[Row] = [
    ("arg_blacklist", "bash", "command", UNIX),
    ("must_precede", "check", "bash"),
    ("rate_limit", "bash", 1_000_000),
]


def guard(rows: Sequence[Row], **options: Any) -> Guard:
    """Return the guard of these contracts, from a file, warmed as it is when a process starts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy.yaml"
        path.write_text(written(rows), "utf-8")
        made = Guard.from_yaml(path, **options)
    while not made.warm(1_000):
        pass
    return made


def steps(session: Session, output: Any = "ok") -> Step:
    """Return a step that decides, reads the advice if the call is denied, and settles it with this
    output if not.
    """

    def denied(tool: str, args: dict[str, Any]) -> bool:
        outcome = session.decide(tool, args)
        if isinstance(outcome, Allowed):
            session.settle(outcome.id, output=output)
            return False
        assert isinstance(outcome, Blocked)
        assert outcome.advice
        return True

    return denied


def contracts(n: int) -> Step:
    """Return a step under so many contracts of the workload."""
    return steps(guard(policy(n)).session())


def without_paths() -> Step:
    """Return a step under the policy without its contracts about paths."""
    return steps(guard(WITHOUT_PATHS).session())


def bound() -> Guard:
    """Return a guard with one contract about values: who is paid was vetted before."""
    vetted = precedence(
        {"tool": "pay", "args": {"to": "$who"}}, {"tool": "vet", "args": {"name": "$who"}}
    )
    return Guard([contract("only who was vetted is paid").guarantees(vetted)])


def templates() -> Step:
    """Return a step under the templates that the smallest rival has."""
    denied = steps(guard(TEMPLATES).session())
    for tool in TOOLS:
        denied(tool, {"amount": 1})
    return denied


def three() -> Step:
    """Return a step under three contracts about one tool."""
    return steps(guard(THREE).session())
