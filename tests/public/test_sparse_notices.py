"""Notifiers that are told less, and messages for Slack."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from sponsio_like import ContractError, Guard, contract
from sponsio_like.contracts.strategies import mailbox
from sponsio_like.notices import Mailbox, Notice, Sparsely, drain
from sponsio_like.webhook import in_words
from tests.semantics.manifest import requirement

NOTICE = Notice("s", "few", "pay", "1", 0, "blocked", "at most once")


class Told:
    """A notifier that remembers, with a clock of its own."""

    def __init__(self) -> None:
        self.notices: list[Notice] = []
        self.now = 0.0
        self.fails = False

    def __call__(self, notice: Notice) -> None:
        if self.fails:
            raise ConnectionError
        self.notices.append(notice)

    def sparsely(self, every: float = 60, per_minute: int = 30) -> Sparsely:
        """This notifier, told less."""
        return Sparsely(self, every, per_minute, lambda: self.now)

    @property
    def counts(self) -> list[tuple[int, int]]:
        """How many notices each stood for, and how many were left out before it."""
        return [(each.times, each.skipped) for each in self.notices]


@requirement("S-TELL-14")
def test_notices_alike_are_told_once_in_a_while() -> None:
    """The first is told at once; when the time is over, the next one stands for all since then."""
    told = Told()
    notifier = told.sparsely(every=60)
    for told.now in (0, 10, 59, 60, 61, 200):
        notifier(NOTICE)
    assert told.counts == [(1, 0), (3, 0), (2, 0)]


@requirement("S-TELL-14")
def test_what_differs_is_told_apart() -> None:
    """Another contract, tool or action is another kind; another session or call is not."""
    told = Told()
    notifier = told.sparsely()
    for other in ({}, {"contract": "c"}, {"tool": None}, {"action": "held"}):
        notifier(replace(NOTICE, **other))
        notifier(replace(NOTICE, session="t", call="2", position=5, **other))
    assert told.counts == [(1, 0)] * 4


@requirement("S-TELL-14")
def test_no_more_than_so_many_a_minute_are_told() -> None:
    """What is too much is counted in the next notice that is told."""
    told = Told()
    notifier = told.sparsely(every=0, per_minute=3)
    for told.now in (0, 1, 2, 3, 4, 59, 60, 61, 62, 63, 130):
        notifier(NOTICE)
    assert told.counts == [(1, 0), (1, 0), (1, 0), (1, 3), (1, 0), (1, 0), (1, 1)]


@requirement("S-TELL-14")
def test_a_notice_with_a_ticket_is_always_told() -> None:
    """Somebody has to answer it, however many there are."""
    told = Told()
    notifier = told.sparsely(every=60, per_minute=1)
    for n in range(5):
        notifier(replace(NOTICE, action="held", ticket=f"t{n}"))
    assert [each.ticket for each in told.notices] == [f"t{n}" for n in range(5)]


def test_what_could_not_be_told_counts_as_not_told() -> None:
    """After a failure the next notice is tried at once, and nothing is forgotten."""
    told = Told()
    notifier = told.sparsely(every=60, per_minute=2)
    for told.now, told.fails in ((0, False), (1, False), (61, True), (62, False)):
        if told.fails:
            with pytest.raises(ConnectionError):
                notifier(NOTICE)
        else:
            notifier(NOTICE)
    assert told.counts == [(1, 0), (2, 0)]


def test_only_so_many_kinds_are_remembered() -> None:
    """A model that makes up names of tools fills no memory."""
    told = Told()
    notifier = told.sparsely(per_minute=5000)
    for n in range(3000):
        notifier(replace(NOTICE, tool=str(n)))
    assert len(notifier._told) == 1000


WRONG: list[dict[str, Any]] = [
    *({"every": each} for each in (-1, "60", True)),
    *({"per_minute": each} for each in (0, 1.5)),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_number_is_refused(wrong: dict[str, Any]) -> None:
    """In Python and in a contract file."""
    with pytest.raises(ContractError, match="is no number"):
        Sparsely(Told(), **wrong)
    with pytest.raises(ContractError, match="is no number"):
        mailbox({"webhook": "https://hooks.example.com/a", **wrong})


# --- Slack ------------------------------------------------------------------------------------


@pytest.fixture
def posted() -> Iterator[tuple[str, list[Any]]]:
    """The address of a server, and what it was sent."""
    sent: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/T0/B0", sent
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def direct(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy of this machine is used."""
    monkeypatch.setenv("no_proxy", "*")


@requirement("S-TELL-15")
def test_a_message_says_who_what_and_why(posted: tuple[str, list[Any]]) -> None:
    """Slack gets a text: what was done, by which contract, why, in which session; once a minute."""
    address, sent = posted
    few = contract("few").guarantees("tool `pay` at most 0 times").because("money <is> short")
    session = Guard([few.owner("ann")], notify={"slack": address}).session("s1")
    for n in range(20):
        session.decide("pay", {"amount": 987654}, id=str(n))
    assert drain(20)
    (message,) = sent
    assert message == {
        "text": "*blocked*: `pay` by `few`\nmoney &lt;is&gt; short\nsession s1, owner ann"
    }


@requirement("S-TELL-15")
def test_nothing_of_a_call_is_mark_up() -> None:
    """Names that a model makes up mention nobody, link nowhere, and end no line."""
    odd = "<!channel> <https://x|y> `*a*`\n*held*"
    text = in_words(replace(NOTICE, tool=odd, session=odd, contract=odd))
    assert not any(sign in text for sign in ("<", ">", "`*"))
    assert len(text.splitlines()) == 3


def test_a_message_has_what_was_left_out() -> None:
    """A ticket says who answers; counts are there where something was left out."""
    notice = replace(NOTICE, ticket="t1", roles=("owner", "boss"), times=7, skipped=3)
    assert in_words(notice).splitlines() == [
        "*blocked*: `pay` by `few` (7 times)",
        "at most once",
        "session s",
        "ticket `t1` is to be answered by owner, boss",
        "3 other notices were left out before this one",
    ]


def test_a_webhook_is_told_everything_unless_asked(posted: tuple[str, list[Any]]) -> None:
    """Without `every` and `per_minute` each notice is posted; with one of them, fewer."""
    address, sent = posted
    for options in ({}, {"every": 60}, {"per_minute": 2}):
        box: Mailbox = mailbox({"webhook": address, **options})
        for _ in itertools.repeat(None, 5):
            box.post(NOTICE)
        assert drain(20)
    assert len(sent) == 5 + 1 + 2
    with pytest.raises(ContractError, match="needs one address"):
        mailbox({"webhook": address, "slack": address})
