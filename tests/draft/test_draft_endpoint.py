"""`sponsio-like draft` against a real server: what is sent, what comes of it, what stays secret."""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sponsio_like import cli
from sponsio_like.cli.draft import client as chatting
from sponsio_like.cli.draft.client import Completion, ask
from sponsio_like.contracts.loader import load
from sponsio_like.contracts.schema import schema_text
from sponsio_like.errors import SponsioLikeError
from sponsio_like.guard.guard import Guard
from sponsio_like.outcome import Allowed

ROOT = Path(__file__).parents[2]
ANSWERS = Path(__file__).parent / "drafts"
EXAMPLE = ROOT / "examples" / "draft"
HUSH = "sk-test-HUSH-4711"
CHAT = [{"role": "user", "content": "draft"}]
SECONDS = 60.0


def said(text: Any, **more: Any) -> bytes:
    """What an endpoint answers, with this text of a model."""
    return json.dumps({"choices": [{"message": {"content": text}, **more}]}).encode()


@dataclass
class Server:
    """A server that answers so, and remembers what it was sent."""

    body: bytes = said("- name: n")
    status: int = 200
    requests: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    hang: threading.Event | None = None
    drips: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    port: int = 0

    @property
    def url(self) -> str:
        """What a user gives as the endpoint."""
        return f"http://127.0.0.1:{self.port}/v1"

    def handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append((self.path, dict(self.headers), sent))
                if server.hang is not None:
                    server.hang.wait(SECONDS)
                self.send_response(server.status)
                for name, value in server.headers.items():
                    self.send_header(name, value)
                if not server.drips:
                    self.send_header("Content-Length", str(len(server.body)))
                self.end_headers()
                with suppress(OSError):  # the client has had enough
                    self.drip() if server.drips else self.wfile.write(server.body)

            def drip(self) -> None:
                for _ in range(200):
                    self.wfile.write(b" ")
                    self.wfile.flush()
                    time.sleep(0.02)

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that is running until the test is over."""
    made = Server()
    running = ThreadingHTTPServer(("127.0.0.1", 0), made.handler())
    made.port = running.server_address[1]
    threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
    yield made
    if made.hang is not None:
        made.hang.set()
    running.shutdown()
    running.server_close()


@pytest.fixture(autouse=True)
def _no_keys_and_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this machine's own keys and network gets into a test."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name in chatting.KEYS:
            monkeypatch.delenv(name)


def closed_port() -> int:
    """A port where nobody listens."""
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return int(each.getsockname()[1])


# --- what is sent ---------------------------------------------------------------------------------


def test_a_question_is_one_post_with_model_messages_and_key(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What every OpenAI-compatible server takes, and no more: some refuse what they do not know."""
    monkeypatch.setenv("OPENAI_API_KEY", HUSH)
    assert ask(server.url, "small-1", CHAT) == Completion("- name: n")
    ((path, headers, sent),) = server.requests
    assert path == "/v1/chat/completions"
    assert sent == {"model": "small-1", "messages": CHAT}
    assert headers["Authorization"] == f"Bearer {HUSH}"


def test_our_own_variable_comes_first(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key of its own is used where both variables are set; without any, none is sent."""
    ask(server.url, "m", CHAT)
    monkeypatch.setenv("OPENAI_API_KEY", "other")
    monkeypatch.setenv("SPONSIO_LIKE_API_KEY", f" {HUSH}\n")
    ask(server.url, "m", CHAT)
    found = [headers.get("Authorization") for _, headers, _ in server.requests]
    assert found == [None, f"Bearer {HUSH}"]


@pytest.mark.parametrize(
    ("end", "path"),
    [
        ("", "/chat/completions"),
        ("/", "/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("/v1/chat/completions", "/v1/chat/completions"),
        ("/d/x?version=2", "/d/x/chat/completions?version=2"),
    ],
)
def test_the_endpoint_is_what_stands_before_chat_completions(
    end: str, path: str, server: Server
) -> None:
    """With or without a slash at its end, and if somebody gave the whole address."""
    ask(f"http://127.0.0.1:{server.port}{end}", "m", CHAT)
    assert server.requests[0][0] == path


def test_an_answer_that_was_cut_says_so(server: Server) -> None:
    """The endpoint tells that the model had more to say."""
    server.body = said("- name: n", finish_reason="length")
    assert ask(server.url, "m", CHAT).cut


def test_half_characters_of_an_answer_are_replaced(server: Server) -> None:
    """An answer is text that can be written to a file, whatever JSON lets through."""
    server.body = said("a\ud83d\ude00\ud800b")
    assert ask(server.url, "m", CHAT).text == "a\U0001f600\ufffdb"


# --- what goes wrong ------------------------------------------------------------------------------

FAILURES: dict[str, tuple[int, bytes, str]] = {
    "401": (401, b'{"error": {"message": "no such key: HUSH"}}', "refused without a key"),
    "403": (
        403,
        b"",
        "refused without a key (status 403); set SPONSIO_LIKE_API_KEY or OPENAI_API_KEY",
    ),
    "404": (404, b"", "status 404; --endpoint is what stands before /chat/completions"),
    "400": (400, b'{"error": {"message": "no\\nmodel \\u001b[1mx"}}', "status 400: no model [1mx"),
    "400 text": (400, b'{"error": "bad"}', "answered with status 400: bad"),
    "429": (429, b"", "too many requests"),
    "500": (500, b"<html>", "answered with status 500"),
    "redirect": (307, b"", "answered with status 307"),
    "not JSON": (200, b"<html>hello</html>", "the answer is not JSON"),
    "deep JSON": (200, b"[" * 100_000, "the answer is not JSON"),
    "not UTF-8": (200, b'{"choices": "\xff"}', "the answer is not JSON"),
    "no object": (200, b"[]", "the answer is not JSON"),
    "no choices": (200, b'{"choices": []}', "the answer has no choices"),
    "no list": (200, b'{"choices": {"a": 1}}', "the answer has no choices"),
    "nothing": (200, b"{}", "the answer has no choices"),
    "no text": (200, said(None), "the answer has no text"),
    "blank text": (200, said(" \n"), "the answer has no text"),
    "parts": (200, said([{"type": "text"}]), "the answer has no text"),
    "huge": (200, said("x" * 1_000_001), "the answer has more than 1,000,000 bytes"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_says_what_went_wrong(name: str, server: Server) -> None:
    """Each failure of an endpoint is one line: the host, what it did, what to do."""
    server.status, server.body, says = FAILURES[name]
    server.headers = {"Location": "/elsewhere"} if name == "redirect" else {}
    with pytest.raises(SponsioLikeError) as wrong:
        ask(server.url, "m", CHAT)
    assert str(wrong.value).startswith("127.0.0.1: ")
    assert says in str(wrong.value)
    assert "\n" not in str(wrong.value)
    assert len(server.requests) == 1


def test_a_refused_connection_says_so() -> None:
    """Nobody listens there."""
    with pytest.raises(SponsioLikeError, match="cannot be reached: connection refused"):
        ask(f"http://127.0.0.1:{closed_port()}/v1", "m", CHAT)


@pytest.mark.parametrize(("trouble", "says"), [("No Such\nName", "no such name"), ("", "no conn")])
def test_a_host_that_is_not_found_says_so(
    trouble: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the system says about it, on one line."""

    def unknown(*_: Any, **__: Any) -> None:
        raise socket.gaierror(trouble)

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(SponsioLikeError, match=f"cannot be reached: {says}"):
        ask("http://nowhere.invalid/v1", "m", CHAT)


@pytest.mark.parametrize("drips", [False, True])
def test_an_answer_has_its_time(drips: bool, server: Server) -> None:
    """No answer within the time, or one that drips on and on, is a failure."""
    server.hang, server.drips = (None if drips else threading.Event()), drips
    with pytest.raises(SponsioLikeError, match=r"no answer within 0\.3 seconds"):
        ask(server.url, "m", CHAT, timeout=0.3)


def test_a_torn_connection_says_so(server: Server) -> None:
    """A server that ends before its answer does."""
    server.headers = {"Content-Length": "10", "Connection": "close"}
    server.drips, server.body = False, b""
    with pytest.raises(SponsioLikeError, match="the connection failed"):
        ask(server.url, "m", CHAT, timeout=2)


@pytest.mark.parametrize(
    "endpoint", ["", "host/v1", "ftp://host", "http://", "http://[", "http://h:x/", "file:///etc"]
)
def test_an_endpoint_has_to_be_a_web_address(endpoint: str) -> None:
    """Anything else is refused before anybody is asked."""
    with pytest.raises(SponsioLikeError, match="the endpoint is no web address"):
        ask(endpoint, "m", CHAT)


# --- what stays secret ----------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 400, 401, 403, 500])
def test_the_key_stands_in_no_answer_and_no_error(
    status: int, server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Even if the server repeats it: in the text of the model, or in the message of an error."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OPENAI_API_KEY", HUSH)
    server.status = status
    server.body = said(f"- name: {HUSH}")
    if status != 200:
        server.body = json.dumps({"error": {"message": f"the key {HUSH} is bad"}}).encode()
    try:
        told = ask(server.url, "m", CHAT).text
    except SponsioLikeError as error:
        told = f"{error!r}{error.__cause__!r}{error.__context__!r}"
    assert HUSH not in told
    assert HUSH not in caplog.text
    if status in (401, 403):
        assert "refused the key of OPENAI_API_KEY" in told


@pytest.mark.parametrize("key", ["a b", "a\nb", "schlüssel", "a\x7f"])
def test_what_is_no_key_is_not_sent(
    key: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file pasted into the variable is refused without being shown."""
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(SponsioLikeError, match="what OPENAI_API_KEY has is no key") as wrong:
        ask(server.url, "m", CHAT)
    assert key not in str(wrong.value)
    assert server.requests == []


def test_the_rest_of_an_address_stands_in_no_error(server: Server) -> None:
    """An endpoint may have a secret in its path or its query; errors name the host alone."""
    server.status = 500
    with pytest.raises(SponsioLikeError) as wrong:
        ask(f"http://ann:{HUSH}@127.0.0.1:{server.port}/{HUSH}?key={HUSH}", "m", CHAT)
    assert HUSH not in f"{wrong.value!r}"


# --- the command ----------------------------------------------------------------------------------


class Ran(NamedTuple):
    """What a command printed, and its status."""

    status: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Runs `sponsio-like draft` on the example, in a folder of its own."""

    def command(*arguments: str) -> Ran:
        monkeypatch.chdir(tmp_path)
        traces = ("--traces", str(EXAMPLE / "traces.jsonl"))
        given = ("draft", str(EXAMPLE / "SKILL.md"), *traces, *arguments)
        monkeypatch.setattr(sys, "argv", ["sponsio-like", *given])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        out, err = capsys.readouterr()
        return Ran(int(stopped.value.code or 0), out, err)

    return command


def from_example(server: Server) -> tuple[str, ...]:
    """The server answers as the example does; how it is asked."""
    server.body = said((EXAMPLE / "answer.md").read_text("utf-8"))
    return ("--endpoint", server.url, "--model", "small-1")


def test_a_draft_goes_from_the_specification_to_a_file(
    run: Run, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is asked with specification and signature; the file is kept, the rest is told."""
    monkeypatch.setenv("OPENAI_API_KEY", HUSH)
    ran = run(*from_example(server), "--out", "drafted.yaml")
    assert (ran.status, ran.err) == (0, "")
    ((_, _, sent),) = server.requests
    assert "Never refund an order that you have not looked up" in sent["messages"][1]["content"]
    assert '"tool": "issue_refund", "calls": 5, "failed": 1' in sent["messages"][1]["content"]
    file = load(tmp_path / "drafted.yaml")
    assert (file.mode, len(file.contracts)) == ("observe", 8)
    text = (tmp_path / "drafted.yaml").read_text("utf-8")
    first, _, rest = text.partition("\n")
    assert first == "# yaml-language-server: $schema=contract-file-1.schema.json"
    assert (tmp_path / first.rpartition("=")[2]).read_text("utf-8") == schema_text()
    assert rest.startswith("# Drafted by the model `small-1` from `SKILL.md`; 8 of 11 statements")
    assert "unknown tool `delete_order`" in ran.out
    assert "strategy `desk.rules:decide` is not one of a draft" in ran.out
    assert ran.out.endswith("kept 8 of 11 statements\n")
    assert HUSH not in f"{ran}{text}"


def test_without_a_file_the_contracts_are_printed(run: Run, server: Server) -> None:
    """Standard output has the contract file and nothing else, so that it can be piped."""
    ran = run(*from_example(server))
    assert ran.status == 0
    assert ran.out.startswith("# Drafted by")
    assert len(re.findall(r"^  - name: ", ran.out, re.MULTILINE)) == 8
    assert "kept 8 of 11 statements" in ran.err


def test_a_draft_can_be_json(run: Run, server: Server) -> None:
    """`--json` prints one object: what was kept, with counts; what was refused, with reasons."""
    ran = run(*from_example(server), "--json")
    found = json.loads(ran.out)
    assert (ran.status, ran.err) == (0, "")
    assert (found["traces"], found["calls"]) == (4, 14)
    first = found["kept"][0]
    assert (first["judged"], first["broken"]) == (4, 1)
    assert first["statement"]["guarantee"]["pattern"] == "precedence"
    assert [each["reasons"][0][:20] for each in found["refused"]] == [
        "unknown tool `delete",
        "tool `issue_refund` ",
        "strategy `desk.rules",
    ]
    assert found["contracts"].startswith("# Drafted by")


def test_a_draft_is_told_to_people(run: Run) -> None:
    """What each contract would have done; what to look at; what was refused, shortened; the sum."""
    ran = run("--answer", str(EXAMPLE / "answer.md"), "--out", "d.yaml")
    table, _, rest = ran.out.partition("\n\n")
    assert table.splitlines()[0].split() == [
        "contract",
        "judged",
        "applied",
        "broken",
        "violations",
        "unfulfilled",
    ]
    assert len(table.splitlines()) == 9
    lines = rest.splitlines()
    assert lines[:4] == [
        "to look at",
        "  no dollars",
        '    `currency` is never "USD" in the traces',
        "",
    ]
    assert lines[4] == "refused"
    assert lines[5].startswith('  {name: "no order is deleted", guarantee: {pattern: absent, ')
    assert lines[6] == "    unknown tool `delete_order` (did you mean `get_order`?)"
    assert lines[-2:] == ["", "kept 8 of 11 statements"]
    assert max(map(len, lines)) <= 206


def test_what_has_nothing_odd_is_told_in_short(run: Run, tmp_path: Path) -> None:
    """Without notes and refusals there are no headings for them."""
    (tmp_path / "a.md").write_text(
        "- {name: n, quote: Do not delete orders., guarantee: tool `get_order` at most 9 times}",
        "utf-8",
    )
    assert run("--answer", "a.md").err.partition("\n\n")[2] == "kept 1 of 1 statement\n"


def test_an_answer_can_be_given_as_a_file(run: Run) -> None:
    """With `--answer` nobody is asked: what a model said elsewhere is vetted all the same."""
    ran = run("--answer", str(EXAMPLE / "answer.md"), "--json")
    assert len(json.loads(ran.out)["kept"]) == 8


@pytest.mark.parametrize("more", [(), ("--json",), ("--out", "drafted.yaml")])
def test_where_nothing_is_kept_the_status_is_1(
    more: tuple[str, ...], run: Run, tmp_path: Path
) -> None:
    """No file is written then: one without contracts would not load."""
    ran = run("--answer", str(ANSWERS / "prose.md"), *more)
    assert ran.status == 1
    assert not (tmp_path / "drafted.yaml").exists()


def test_what_would_be_sent_can_be_seen(run: Run) -> None:
    """`--prompt` prints it and sends nothing; `--no-values` leaves values of arguments out."""
    ran = run("--prompt")
    assert ran.status == 0
    assert "ann@shop.example" in ran.out
    assert "`must_precede(first, then, accept=none, within=none, counts=done)`" in ran.out
    assert "ann@shop.example" not in run("--prompt", "--no-values").out
    assert [each["role"] for each in json.loads(run("--prompt", "--json").out)] == [
        "system",
        "user",
    ]


GIVEN = ("--answer", str(EXAMPLE / "answer.md"))
WRONG: dict[str, tuple[str, ...]] = {
    "--endpoint is missing": (),
    "--model is missing": ("--endpoint", "http://127.0.0.1"),
    "there.yaml: is there already": (*GIVEN, "--out", "there.yaml"),
    "nowhere: cannot be read: no such file": ("--answer", "nowhere"),
    "bytes: not UTF-8": ("--answer", "bytes"),
    "long: at most": ("--answer", "long"),
    "nowhere.jsonl: cannot be read": (*GIVEN, "--traces", "nowhere.jsonl"),
    ".: traces are read twice": (*GIVEN, "--traces", "."),
    "no/folder.yaml: cannot be written": (*GIVEN, "--out", "no/folder.yaml"),
    "--timeout 0 is no number": (*GIVEN, "--timeout", "0"),
    "--timeout 86401 is no number": (*GIVEN, "--timeout", "86401"),
    "--timeout nan is no number": (*GIVEN, "--timeout", "nan"),
}


@pytest.mark.parametrize("says", WRONG)
def test_what_cannot_work_is_status_2(says: str, run: Run, tmp_path: Path) -> None:
    """A mistake is one line on standard error, and nothing is overwritten."""
    (tmp_path / "there.yaml").write_text("mine", "utf-8")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "long").write_text("x" * 1_000_001, "utf-8")
    ran = run(*WRONG[says])
    assert (ran.status, ran.out) == (2, "")
    assert says in ran.err
    assert ran.err.count("\n") == 1
    assert (tmp_path / "there.yaml").read_text("utf-8") == "mine"


@pytest.mark.parametrize("empty", ["specification", "traces"])
def test_nothing_to_draft_from_is_status_2(
    empty: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty specification, or traces without a call, are told before a model is asked."""
    (tmp_path / "s.md").write_text("" if empty == "specification" else "Be kind.", "utf-8")
    (tmp_path / "t.jsonl").write_text('{"events": []}', "utf-8")
    monkeypatch.chdir(tmp_path)
    arguments = ["draft", "s.md", "--traces", "t.jsonl", "--answer", "s.md"]
    monkeypatch.setattr(sys, "argv", ["sponsio-like", *arguments])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 2
    says = {"specification": "is empty", "traces": "no calls"}[empty]
    assert says in capsys.readouterr().err


def test_a_failure_of_the_endpoint_is_status_2(run: Run, server: Server) -> None:
    """One line, and no traceback."""
    server.status = 500
    ran = run("--endpoint", server.url, "--model", "m")
    assert ran == Ran(2, "", "127.0.0.1: answered with status 500\n")


def test_an_answer_that_was_cut_is_told(run: Run, server: Server) -> None:
    """Whoever reads the draft should know that statements may be missing."""
    arguments = from_example(server)
    text = (EXAMPLE / "answer.md").read_text("utf-8")
    server.body = said(text[: text.index("  - name: no dollars")], finish_reason="length")
    assert "the answer was cut off before its end" in run(*arguments).err


def test_several_trace_files_are_one_signature(run: Run, tmp_path: Path) -> None:
    """`--traces` may be repeated; a tool of any of them can be named."""
    (tmp_path / "more.jsonl").write_text('{"events": [{"tool": "delete_order"}]}', "utf-8")
    ran = run("--answer", str(EXAMPLE / "answer.md"), "--traces", "more.jsonl", "--json")
    found = json.loads(ran.out)
    assert (found["traces"], len(found["kept"])) == (5, 9)


def test_what_a_model_wrote_cannot_steer_the_terminal(run: Run, tmp_path: Path) -> None:
    """Control characters of an answer are shown as escapes, in the file and in the report."""
    (tmp_path / "a.md").write_text(
        '- {name: "a\\e[2J", guarantee: "\\e[31mred"}\n'
        '- {name: ok, quote: "\\e[31m", guarantee: "tool `get_order` at most 9 times"}\n',
        "utf-8",
    )
    ran = run("--answer", "a.md")
    assert ran.status == 0
    assert "\x1b" not in ran.out + ran.err


# --- its place ------------------------------------------------------------------------------------


def test_nothing_on_the_path_of_a_decision_knows_of_drafts() -> None:
    """No other room imports these but the command line, where `draft` is asked for."""
    using = re.compile(r"^( *)from sponsio_like\.cli\.draft\S* import", re.MULTILINE)
    found = {
        path.stem: {each[1] for each in using.finditer(path.read_text("utf-8"))}
        for path in (ROOT / "sponsio_like").rglob("*.py")
        if path.parent.stem != "draft"
    }
    used = {name: indents for name, indents in found.items() if indents}
    assert used == {"files": {"    "}, "runs": {"    "}}


def test_a_draft_guards_at_once(run: Run, tmp_path: Path) -> None:
    """The file is one like any other: a guard takes it, and in observe mode it stops nothing."""
    assert run("--answer", str(EXAMPLE / "answer.md"), "--out", "d.yaml").status == 0
    session = Guard.from_yaml(tmp_path / "d.yaml").session("s")
    outcome = session.decide("issue_refund", {"order": 1, "amount": 900})
    assert isinstance(outcome, Allowed)
    assert {each.contract for each in outcome.observed} >= {"refunds are at most 200"}
