"""The numbers of a report are those of a loop that shares nothing with it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="the extra `report` is not installed")
pytest.importorskip("scipy", reason="the bounds are computed by it")

from campaigns.big_log import differences, make


def test_every_number_of_a_report_is_counted_again(tmp_path: Path) -> None:
    """Of a log in which everything happens: the page, the table, and the bounds."""
    log = tmp_path / "log.jsonl"
    make(log, 1500)
    each = list(differences(log))
    assert len(each) > 150
    assert [found for found in each if found[1] != found[2]] == []
