"""Stores the labels that people give violations: right to stop the call, wrong, or unsure.

In: the records of logs, and answers. Out: a file of labels, a line each; later lines count.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sponsio_like.errors import TraceError
from sponsio_like.replay.evidence import label_of
from sponsio_like.traces import Line, read_lines

ANSWERS = {"r": "right", "w": "wrong", "u": "unsure"}
SAID = frozenset(ANSWERS.values())


class ToReview(NamedTuple):
    """One violation, and how it is shown."""

    label: str
    text: str


def labels_of(path: Path | None) -> dict[str, str]:
    """Return the answer for each label of a violation; an empty map if there is no file.

    Raises `TraceError` for a line that is no answer.
    """
    if path is None or not path.exists():
        return {}
    found: dict[str, str] = {}
    for where, value in read_lines(path):
        label, said = value.get("label"), value.get("said")
        if not isinstance(label, str) or not isinstance(said, str) or said not in SAID:
            raise TraceError(f"{where}: not an answer of `sponsio-like review`")
        found[label] = said
    return found


def add_label(path: Path, label: str, said: str) -> None:
    """Append one answer."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"label": label, "said": said}) + "\n")


def to_review(
    lines: Iterable[Line], known: Mapping[str, str], contract: str | None = None
) -> Iterator[ToReview]:
    """Yield each violation that has no label yet, once."""
    seen = set(known)
    for _, record in lines:
        for each in record.get("violations", ()):
            label = label_of(record, each)
            if contract in (None, each["contract"]) and label not in seen:
                seen.add(label)
                yield ToReview(label, _shown(record, each))


def _shown(record: Mapping[str, Any], violation: Mapping[str, Any]) -> str:
    would = "would be " if violation["mode"] == "observe" else ""
    args = json.dumps(record["args"], default=str) if "args" in record else "arguments not recorded"
    tool = violation.get("tool") or record.get("role") or "no call"
    lines = [
        f"{violation['contract']}: {violation.get('because') or violation['message']}",
        f"  session {record.get('session')}, call {violation['position']}: {tool} {args}",
        f"  {would}{violation['action']}",
    ]
    return "\n".join(lines)
