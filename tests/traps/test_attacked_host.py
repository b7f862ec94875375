"""What an attack on the host's side has found: traces that are read as nothing, options that are
taken and do nothing, sessions and answers that get lost.
"""

from __future__ import annotations

import gc
import re
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, ContractError, Guard, contract
from sponsio_like.errors import SessionError, TraceError
from sponsio_like.notices import Notice, drain
from sponsio_like.patterns import no_keywords
from sponsio_like.traces.trace import trace_of
from tests.semantics.manifest import requirement

FILE = """\
version: 1
contracts:
  - name: few
    guarantee: tool `pay` at most 1 times
"""


@pytest.fixture(autouse=True)
def _a_file(run: Any) -> None:
    """The folder of the command line has a contract file."""
    Path("b.yaml").write_text(FILE, "utf-8")


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


# --- what a guard is given ------------------------------------------------------------------------

FEW = contract("few").guarantees("tool `pay` at most 1 times")
HEARD: list[Notice] = []


def paid_twice(**options: Any) -> None:
    """A second payment, which is blocked."""
    session = Guard([FEW], **options).session()
    session.decide("pay")
    assert isinstance(session.decide("pay"), Blocked)
    assert drain()


@requirement("S-TELL-13")
@pytest.mark.parametrize(
    ("notify", "told"),
    [
        ("http://x", "write {webhook: https://..}"),
        (["https://x/secret"], "write {webhook: https://..}"),
        ([5], "`5` is not a notifier"),
        (5, "`5` is not a notifier"),
        ({"webhok": "http://x"}, "webhok"),
        ([{"webhook": "x"}], "no web address"),
        (["json:nothing"], "cannot be imported"),
        ([lambda: None], "one argument"),
    ],
)
def test_a_guard_refuses_what_cannot_be_told(notify: Any, told: str) -> None:
    """What is neither a function of a notice nor a webhook is refused when the guard is made."""
    with pytest.raises(ContractError, match=re.escape(told)) as refused:
        Guard([FEW], notify=notify)
    assert "secret" not in str(refused.value)


@requirement("S-TELL-13")
@pytest.mark.parametrize(
    "notify",
    [HEARD.append, [HEARD.append], (each for each in [HEARD.append])],
    ids=["one", "list", "any"],
)
def test_a_guard_takes_notifiers_as_a_strategy_does(notify: Any) -> None:
    """One notifier, or several; a webhook as `{webhook: url}`."""
    HEARD.clear()
    paid_twice(notify=notify)
    assert [each.contract for each in HEARD] == ["few"]
    Guard([FEW], notify=[{"webhook": "http://127.0.0.1:9/"}, "json:dumps"])


@requirement("S-HOST-04")
@pytest.mark.parametrize("value", ["false", "", 1, None])
@pytest.mark.parametrize("name", ["relaxable", "log_args"])
def test_a_switch_is_true_or_false(name: str, value: Any) -> None:
    """A switch that is a text, or anything but True and False, is refused."""
    given: dict[str, Any] = {name: value}
    with pytest.raises(ContractError, match=f"{name}=.* write True or False"):
        Guard([FEW], **given)


@requirement("S-HOST-01")
@pytest.mark.parametrize("id", [4711, "", b"x", ["x"], 0])
def test_an_id_of_a_session_is_a_text(id: Any) -> None:
    """What is empty or not a text, or empty, is refused: `4711` and `"4711"` were two budgets."""
    with pytest.raises(SessionError, match=re.escape(f"session id {id!r} is empty or not a text")):
        Guard([FEW]).session(id)


@pytest.mark.long
@requirement("S-HOST-02")
def test_a_restored_session_that_nobody_holds_is_kept() -> None:
    """Sessions that are restored one after the other are there when they are asked for by id."""
    before = Guard([FEW])
    for id in "ab":
        before.session(id).decide("pay")
    snapshots = [before.session(id).snapshot() for id in "ab"]
    guard = Guard([FEW])
    for each in snapshots:
        guard.restore(each)
    gc.collect()
    assert all(isinstance(guard.session(id).decide("pay"), Blocked) for id in "ab")
    guard.session("a").finish()
    assert isinstance(guard.session("a").decide("pay"), Allowed)


@requirement("S-TOOL-24")
@pytest.mark.parametrize("status", ["error", "success"])
@pytest.mark.parametrize("artifact", [False, True])
def test_a_message_of_an_error_is_a_failure(status: Any, artifact: bool) -> None:
    """A finished tool that returns a message of status `error` has failed."""
    pytest.importorskip("langchain_core")
    from langchain_core.messages import ToolMessage
    from langchain_core.tools import StructuredTool

    def pay() -> Any:
        """Pays."""
        said = ToolMessage("no money", status=status, tool_call_id="1")
        return (said, {"raw": 1}) if artifact else said

    form: Any = "content_and_artifact" if artifact else "content"
    records: list[dict[str, Any]] = []
    guard = Guard([FEW], log=records.append)
    tool = guard.tool(StructuredTool.from_function(pay, response_format=form))
    with guard.session().active():
        tool.invoke({})
    ends = [each["status"] for each in records if each["event"] == "settlement"]
    assert ends == ["error" if status == "error" else "ok"]


@pytest.mark.parametrize("role", ["ai", "model", "Bot"])
def test_a_response_under_another_name_is_refused(role: str) -> None:
    """A response has the role `assistant`; under another name nobody would decide it."""
    session = Guard([contract("k").guarantees(no_keywords(["bomb"]))]).session()
    with pytest.raises(SessionError, match="write `assistant`"):
        session.message(role, "a bomb")
    with pytest.raises(TraceError, match="a response has the role `assistant`"):
        trace_of({"id": "a", "events": [{"type": "message", "role": role, "text": "a bomb"}]})
