"""The webhook, against a real server: what is sent, tried again, and kept secret."""

from __future__ import annotations

import base64
import json
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import ContractError, Guard, Held, contract, webhook
from sponsio_like.contracts.strategies import strategy
from sponsio_like.notices import Notice, drain
from sponsio_like.patterns import rate_limit
from sponsio_like.webhook import Webhook
from tests.semantics.manifest import requirement

NOTICE = Notice("s", "large", "pay", "7", 3, "held", "must be small", "t1", ("manager", "owner"))
HUSH = "T000-B000-hush"
SECONDS = 60.0


@dataclass
class Server:
    """A server that answers with these statuses, then 200, and remembers what it was sent."""

    statuses: list[int] = field(default_factory=list)
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    hang: threading.Event | None = None
    port: int = 0

    @property
    def url(self) -> str:
        """An address whose path and query are secrets."""
        return f"http://127.0.0.1:{self.port}/hooks/{HUSH}?token={HUSH}"

    def handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                server.requests.append((self.path, dict(self.headers), body))
                if server.hang is not None:
                    server.hang.wait(SECONDS)
                self.send_response(server.statuses.pop(0) if server.statuses else 200)
                self.send_header("Content-Length", "0")
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


@pytest.fixture
def start() -> Iterator[Callable[[Server], None]]:
    """Starts servers, which are stopped when the test is over."""
    running: list[ThreadingHTTPServer] = []

    def begin(server: Server) -> None:
        running.append(ThreadingHTTPServer(("127.0.0.1", server.port), server.handler()))
        server.port = running[-1].server_address[1]
        threading.Thread(target=running[-1].serve_forever, args=(0.01,), daemon=True).start()

    yield begin
    for each in running:
        each.shutdown()
        each.server_close()


@pytest.fixture
def server(start: Callable[[Server], None]) -> Server:
    """A server that is running."""
    made = Server()
    start(made)
    return made


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between tries, which are not made; and no proxy of this machine."""
    made: list[float] = []
    monkeypatch.setattr(webhook, "sleep", made.append)
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    return made


def closed_port() -> int:
    """A port where nobody listens."""
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return int(each.getsockname()[1])


# --- what is sent ---------------------------------------------------------------------------------


@requirement("S-TELL-10")
def test_the_notice_is_posted_as_json(server: Server) -> None:
    """One POST with the notice as a JSON object, and the headers that were given."""
    Webhook(server.url, headers={"Authorization": "Bearer x"})(NOTICE)
    ((path, headers, body),) = server.requests
    assert path == f"/hooks/{HUSH}?token={HUSH}"
    assert headers["Content-Type"] == "application/json"
    assert headers["Authorization"] == "Bearer x"
    assert json.loads(body) == {**asdict(NOTICE), "roles": ["manager", "owner"], "tags": []}


def test_a_name_in_the_address_is_sent_as_authorization(server: Server) -> None:
    """`http://user:word@host` authorizes as browsers do."""
    Webhook(server.url.replace("//", "//ann:p%40ss@"))(NOTICE)
    ((path, headers, _),) = server.requests
    assert headers["Authorization"] == "Basic " + base64.b64encode(b"ann:p@ss").decode()
    assert "ann" not in path


def test_nothing_of_the_arguments_is_sent(server: Server, tmp_path: Path) -> None:
    """From a contract file to the server: who is asked for which call, and none of its values."""
    file = tmp_path / "contracts.yaml"
    file.write_text(
        "version: 1\ncontracts:\n- name: large\n"
        "  guarantee: {pattern: arg_value_range, tool: pay, field: amount, max: 100}\n"
        f"  strategy: {{escalate: {{roles: [owner], notify: [{{webhook: '{server.url}'}}]}}}}\n",
        "utf-8",
    )
    session = Guard.from_yaml(file).session("s1")
    outcome = session.decide("pay", {"amount": 987654, "note": "confidential"}, id="1")
    assert isinstance(outcome, Held)
    assert drain(SECONDS)
    ((_, headers, body),) = server.requests
    assert json.loads(body)["ticket"] == outcome.ticket.id
    assert "987654" not in f"{headers}{body!r}"
    assert "confidential" not in f"{headers}{body!r}"


def test_names_of_half_characters_are_sent(server: Server) -> None:
    """A tool name that is no proper Unicode, as a model may make up, does not stop a notice."""
    odd = Notice("s", "large", "pay\ud800", "\udfff", 0, "held", "m")
    Webhook(server.url)(odd)
    assert json.loads(server.requests[0][2])["tool"] == "pay\ud800"


# --- what is tried again --------------------------------------------------------------------------


@requirement("S-TELL-10")
@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_failure_of_the_server_is_tried_again(
    status: int, server: Server, pauses: list[float]
) -> None:
    """500 and above, and 429, may pass: there is another try after each pause, twice as long."""
    server.statuses = [status, status]
    Webhook(server.url)(NOTICE)
    assert len(server.requests) == 3
    assert pauses == [webhook.PAUSE_SECONDS, webhook.PAUSE_SECONDS * 2]


@requirement("S-TELL-10")
@pytest.mark.parametrize("retries", [0, 1, 3])
def test_tries_come_to_an_end(retries: int, server: Server) -> None:
    """After as many retries as were asked for, the notice is lost, and the error says why."""
    server.statuses = [500] * 10
    with pytest.raises(ConnectionError, match="status 500"):
        Webhook(server.url, retries=retries)(NOTICE)
    assert len(server.requests) == retries + 1


@requirement("S-TELL-10")
@pytest.mark.parametrize("status", [301, 302, 400, 401, 404, 410])
def test_what_will_not_change_is_not_tried_again(
    status: int, server: Server, pauses: list[float]
) -> None:
    """An answer that says the request was wrong, or leads elsewhere, ends it at once."""
    server.statuses = [status]
    with pytest.raises(ConnectionError, match=f"status {status}"):
        Webhook(server.url)(NOTICE)
    assert len(server.requests) == 1
    assert pauses == []


def test_a_refused_connection_is_tried_again(
    start: Callable[[Server], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that comes up between two tries is told."""
    late = Server(port=closed_port())
    monkeypatch.setattr(webhook, "sleep", lambda _: start(late))
    Webhook(late.url)(NOTICE)
    assert len(late.requests) == 1


def test_nobody_there_is_an_error_in_the_end(pauses: list[float]) -> None:
    """Where every connection is refused, all tries are made."""
    with pytest.raises(ConnectionError, match=r"127\.0\.0\.1 failed: ConnectError"):
        Webhook(Server(port=closed_port()).url, retries=3)(NOTICE)
    assert len(pauses) == 3


def test_a_server_that_does_not_answer_is_left(server: Server) -> None:
    """Each try waits as long as `timeout` says, and is a failure that may pass."""
    server.hang = threading.Event()
    with pytest.raises(ConnectionError, match="ReadTimeout"):
        Webhook(server.url, timeout=0.05, retries=1)(NOTICE)
    server.hang.set()
    assert len(server.requests) == 2


# --- secrets --------------------------------------------------------------------------------------


@requirement("S-TELL-11")
@pytest.mark.parametrize("status", [200, 404, 500])
def test_the_address_stays_out_of_errors_and_logs(
    status: int, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """The path of a webhook is often its secret: no log of any library has more than the host."""
    caplog.set_level(logging.DEBUG)
    server.statuses = [status] * 3
    url = server.url.replace("http://", f"http://user:{HUSH}@")
    escalate = strategy(
        {"escalate": {"notify": {"webhook": url, "headers": {"Authorization": HUSH}}}}
    )
    rule = contract("none").guarantees(rate_limit("pay", 0)).strategy(escalate)
    Guard([rule]).session().decide("pay")
    assert drain(SECONDS)
    assert len(server.requests) == (3 if status == 500 else 1)
    assert ("the webhook at 127.0.0.1 failed" in caplog.text) == (status != 200)
    assert HUSH not in caplog.text
    assert HUSH not in repr(escalate)
    assert HUSH not in repr(Webhook(url, headers={"Authorization": HUSH}))


@requirement("S-TELL-11")
@pytest.mark.parametrize(
    ("url", "host"),
    [
        (f"htps://hooks.example.com/T0/{HUSH}", "hooks.example.com"),
        (f"htps://user:{HUSH}@hooks.example.com", "hooks.example.com"),
        (f"https://hooks.example.com:99999/{HUSH}", "hooks.example.com"),
        (f"hooks.example.com/T0/{HUSH}", ""),
        (f"https://[::1/{HUSH}", ""),
        (f"https:///{HUSH}", ""),
        (HUSH, ""),
    ],
)
def test_a_wrong_address_is_not_told(url: str, host: str) -> None:
    """A mistake in an address is told without the address: just with its host, if there is one."""
    for make in (Webhook, lambda url: strategy({"escalate": {"notify": [{"webhook": url}]}})):
        with pytest.raises(ContractError) as error:
            make(url)
        assert HUSH not in str(error.value)
        assert host in str(error.value)
        assert "no web address" in str(error.value)


# --- proxies, and mistakes ------------------------------------------------------------------------


def test_the_proxy_of_the_environment_is_used(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the network is reached through a proxy, so is the webhook; `no_proxy` is kept."""
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.port}")
    Webhook("http://hooks.invalid/x")(NOTICE)
    assert [path for path, *_ in server.requests] == ["http://hooks.invalid/x"]
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    Webhook(server.url)(NOTICE)
    assert server.requests[-1][0].startswith("/hooks/")


WRONG: list[dict[str, Any]] = [
    {"webhook": "hooks.example.com/x"},
    {"webhook": "ftp://example.com/x"},
    {"webhook": "https://"},
    {"webhook": "https://[::1/x"},
    {"webhook": "https://example.com:99999/x"},
    {"webhook": ""},
    {"webhook": None},
    {"webhook": 5},
    {"timeout": 5},
    {"webhook": "https://example.com", "timeout": 0},
    {"webhook": "https://example.com", "timeout": "5"},
    {"webhook": "https://example.com", "timeout": True},
    {"webhook": "https://example.com", "timeout": float("nan")},
    {"webhook": "https://example.com", "timeout": None},
    {"webhook": "https://example.com", "retries": -1},
    {"webhook": "https://example.com", "retries": 1.5},
    {"webhook": "https://example.com", "retries": "2"},
    {"webhook": "https://example.com", "headers": "X: y"},
    {"webhook": "https://example.com", "headers": {"X": 5}},
    {"webhook": "https://example.com", "headers": {"X": "a\nY: b"}},
    {"webhook": "https://example.com", "retry": 2},
]


@requirement("S-STRAT-09")
@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_webhook_that_cannot_work_is_refused(wrong: dict[str, Any]) -> None:
    """An address that is none, and options that make no sense, are errors when they are loaded."""
    with pytest.raises(ContractError) as error:
        strategy({"escalate": {"notify": [wrong]}})
    (problem,) = error.value.problems
    assert problem.path[:3] == ("escalate", "notify", 0)
