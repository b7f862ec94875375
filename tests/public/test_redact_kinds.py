"""Every kind of text that is found is taken out of a log, and out of the advice in it."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like.kinds import chosen_detectors
from sponsio_like.log import redacted
from tests.kinds.test_found_texts import FOUND


def logged(name: str, text: str) -> dict[str, Any]:
    """A record with this text everywhere that content may stand, as it is written."""
    records: list[Any] = []
    content = {"args": {"body": [text]}, "output": {"a": text}, "text": text, "value": text}
    redacted(records.append, [name])({"event": "decision", **content, "advice": f"not {text}"})
    return dict(records[0])


@pytest.mark.parametrize(("name", "text"), FOUND, ids=lambda each: each[:40])
def test_what_is_found_is_taken_out(name: str, text: str) -> None:
    """Its name stands in the place of each, in arguments, answers, messages, facts and advice."""
    name = name.partition("-")[0]
    record = logged(name, text)
    fields = ["args", "output", "text", "value", "advice"]
    assert sorted(record["redacted"]) == sorted(fields)
    for field in fields:
        assert f"[{name}]" in str(record[field])


def test_each_detector_is_tried() -> None:
    """Those of both groups."""
    tried = {name.partition("-")[0] for name, _ in FOUND}
    assert tried == {*chosen_detectors(["personal", "secrets"])}
