"""Fields of recorded calls that stand beside empty arguments, and are not read."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import cli
from sponsio_like.traces.trace import trace_of
from tests.semantics.manifest import requirement

CONTRACTS = """version: 1
contracts:
  - {name: small, guarantee: {pattern: arg_value_range, tool: pay, field: amount, max: 100}}
"""
EMPTY = [{}, "{}", "", "{ }", "null"]


def ran(
    command: str,
    events: list[Any],
    *more: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> tuple[int, str, str]:
    """The status of a command on one trace of these events, and what it says."""
    (folder / "c.yaml").write_text(CONTRACTS, "utf-8")
    (folder / "t.jsonl").write_text(json.dumps({"id": "t", "events": events}), "utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["sponsio-like", command, "c.yaml", "t.jsonl", *more])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    return int(stopped.value.code or 0), *capsys.readouterr()


@requirement("S-REPLAY-13")
@pytest.mark.parametrize("more", [(), ("--json",)], ids=["table", "json"])
@pytest.mark.parametrize("command", ["replay", "explain"])
@pytest.mark.parametrize("args", EMPTY, ids=repr)
def test_a_field_that_a_contract_names_beside_empty_arguments_is_warned_of(
    args: Any,
    command: str,
    more: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It says which field of which tool, once, and judges as if the field were not there."""
    context: Any = {"folder": tmp_path, "monkeypatch": monkeypatch, "capsys": capsys}
    call = {"tool": "pay", "args": args}
    bare = ran(command, [call, call], *more, **context)
    told = ran(command, [call | {"amount": 500}, call | {"amount": 7}], *more, **context)
    assert "warning" not in bare[2]
    assert told[:2] == bare[:2]
    words = " ".join(told[2].split())
    assert words.count("warning") == 1
    assert "trace `t`: `small` names `amount` of `pay`, which stands beside empty `args`" in words


@requirement("S-REPLAY-13")
@pytest.mark.parametrize(
    "call",
    [
        {"tool": "pay", "args": {}, "note": "hello", "span": 7},
        {"tool": "other", "args": {}, "amount": 500},
        {"tool": "pay", "args": {}, "amount": None},
        {"tool": "pay", "args": {"amount": 5}, "amount": 500},
    ],
    ids=repr,
)
def test_remarks_that_no_contract_names_are_not_warned_of(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Unknown fields are carried along, and so are those beside arguments that were recorded."""
    context: Any = {"folder": tmp_path, "monkeypatch": monkeypatch, "capsys": capsys}
    assert "warning" not in ran("replay", [call], **context)[2]


@requirement("S-REPLAY-13")
def test_a_trace_keeps_what_stands_beside_empty_arguments() -> None:
    """Tools and fields; not those of results, messages and calls with arguments."""
    events: list[Any] = [
        {"tool": "pay", "args": {}, "amount": 5, "id": "a", "time": 1.0},
        {"type": "result", "id": "a", "output": {}, "extra": 5},
        {"tool": "look", "args": {"q": "x"}, "span": 3},
        {"type": "message", "role": "user", "text": "x", "model": "y"},
    ]
    assert trace_of({"events": events}).beside == {("pay", "amount")}
