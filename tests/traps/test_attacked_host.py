"""What an attack on the host's side has found: traces that are read as nothing, options that are
taken and do nothing, sessions and answers that get lost.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from sponsio_like.cli import main
from sponsio_like.errors import TraceError
from sponsio_like.trace import trace_of
from tests.manifest import requirement

FILE = """\
version: 1
contracts:
  - name: few
    guarantee: tool `pay` at most 1 times
"""


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> Any:
    """Runs the command line in a folder with a contract file; its status, and what it prints."""
    monkeypatch.chdir(tmp_path)
    Path("b.yaml").write_text(FILE, "utf-8")

    def command(*words: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["sponsio-like", *words])
        try:
            main()
        except SystemExit as end:
            printed = capsys.readouterr()
            return int(end.code or 0), printed.out + printed.err
        return 0, capsys.readouterr().out

    return command


# --- traces ---------------------------------------------------------------------------------------


@requirement("S-REPLAY-12")
@pytest.mark.parametrize("text", ["", "\n\n"])
@pytest.mark.parametrize(
    "words",
    [("replay", "b.yaml"), ("explain", "b.yaml"), ("check", "b.yaml", "--traces")],
    ids=lambda words: words[0],
)
def test_a_file_without_traces_keeps_no_contract(
    run: Any, words: tuple[str, ...], text: str
) -> None:
    """A trace file without any trace is bad input: status 2, with its name."""
    Path("k.jsonl").write_text(text, "utf-8")
    status, told = run(*words, "k.jsonl")
    assert (status, "k.jsonl: there are no traces in it" in told) == (2, True)


@requirement("S-REPLAY-12")
def test_a_trace_that_is_not_there_is_not_kept(run: Any) -> None:
    """To explain a trace of an id that no trace has is bad input, and no clean trace."""
    Path("k.jsonl").write_text('{"id": "1", "events": []}\n', "utf-8")
    assert run("explain", "b.yaml", "k.jsonl", "--id", "1")[0] == 0
    status, told = run("explain", "b.yaml", "k.jsonl", "--id", "2")
    assert (status, "no trace has the id `2`" in told) == (2, True)


RM = {"command": "rm -rf /"}
NO_ARGS: dict[str, Any] = {}


@requirement("S-REPLAY-08")
@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({"args": {}, "arguments": RM}, "arguments"),
        ({"args_json": '{"command": "rm -rf /"}'}, "args_json"),
        ({"args": {}, "args_json": '{"command": "rm'}, "args_json"),
        ({"Args": RM}, "Args"),
        ({"args": None, "ARGS": RM}, "ARGS"),
        ({"args": {}, "Args": RM}, "Args"),
        ({"command": "rm -rf /"}, "command"),
        ({"argv": ["rm", "-rf", "/"]}, "argv"),
        ({"args": {}, "Output": "done"}, "Output"),
        ({"args": "{}", "payload": RM}, "payload"),
        *(
            ({**args, key: RM}, key)
            for args in (NO_ARGS, {"args": NO_ARGS})
            for key in ("argument", "call_args", "raw_args", "payload", "data", "body")
        ),
        *(({"args": {}, key: RM}, key) for key in ("request", "call", "function")),
        ({"args": []}, "args"),
        ({"args": ["rm"]}, "args"),
    ],
)
def test_no_call_is_read_as_empty(more: dict[str, Any], name: str) -> None:
    """A call without arguments beside anything that may be its arguments is refused."""
    with pytest.raises(TraceError, match=re.escape(f"event 0: `{name}` ")):
        trace_of({"events": [{"tool": "bash", **more}]}, "file:1")


@requirement("S-REPLAY-08")
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"args": {}},
        {"args": None, "output": {"a": 1}},
        {"args": {}, "origin": "user", "no_result": True, "returncode": 0},
        {"args": {}, "meta": {}, "note": None},
        {"args": {"q": 1}, "arguments": {"q": 1}, "meta": {"run": 1}},
    ],
    ids=str,
)
def test_what_cannot_be_arguments_is_carried_along(more: dict[str, Any]) -> None:
    """Scalars beside empty arguments, and anything beside others, are nobody's mistake."""
    assert trace_of({"events": [{"tool": "list_files", **more}]}, "file:1").calls == 1
