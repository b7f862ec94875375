"""Judgements that only a person can make.

In: checked.yaml: violations that were read call by call, and why a contract is never broken or
never kept. The campaign shows these in its tables, and fails if one of them is not found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

Judgement: TypeAlias = Literal["right", "too strict", "false alarm"]


@dataclass(frozen=True)
class Checked:
    """One violation that a person has read.

    `at` is its position, `call` the essential call, `why` the reason of the judgement.
    """

    trace: str
    contract: str
    at: int
    call: str
    judgement: Judgement
    why: str


def _read() -> Any:
    import yaml

    return yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))


_FILE = _read()
CHECKED: tuple[Checked, ...] = tuple(Checked(**each) for each in _FILE["checked"])
REASONS: Mapping[str, str] = _FILE["reasons"]
