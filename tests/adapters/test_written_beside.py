"""Parts that two tasks of a session write at the same time: the channel keeps what both decided."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import pytest

from sponsio_like import Blocked, Guard
from sponsio_like.adapters.langgraph import sessions as opening
from sponsio_like.adapters.langgraph.channel import merged
from sponsio_like.adapters.langgraph.place import Place
from sponsio_like.adapters.langgraph.sessions import Sessions
from tests.adapters.rules import few

NAP = 0.3
"""Seconds for which the first task stops where it is, so that the other one may overtake it."""


class FirstStops:
    """A function that does what another one does; the first caller stops at its end."""

    def __init__(self, work: Any) -> None:
        self.work = work
        self.stopped, self.on = threading.Event(), threading.Event()

    def __call__(self, *given: Any) -> Any:
        came = self.work(*given)
        if not self.stopped.is_set():
            self.stopped.set()
            self.on.wait(20)
        return came


@pytest.mark.parametrize("where", ["fresh_id", "saved"])
@pytest.mark.parametrize("turned", [False, True], ids=["in order", "turned"])
def test_what_two_tasks_have_decided_is_kept(
    monkeypatch: pytest.MonkeyPatch, where: str, turned: bool
) -> None:
    """One task is overtaken while it writes; LangGraph hands the writes over in either order."""
    sessions = Sessions(Guard([few("pay", 1)]))
    place = Place("thread", inside=False, step="checkpoint task")
    first = FirstStops(getattr(opening, where))
    session = sessions.open({}, place).session
    monkeypatch.setattr(opening, where, first)
    with ThreadPoolExecutor(2) as pool:
        early = pool.submit(sessions.after, {}, session, {})
        assert first.stopped.wait(20)
        session.decide("pay", {"amount": 1}, id="1")
        late = pool.submit(sessions.after, {}, session, {})
        wait([late], NAP)
        first.on.set()
        written = [late.result(), early.result()] if turned else [early.result(), late.result()]
    whole: dict[str, Any] = {}
    for each in written:
        whole = merged(whole, sessions.wrote(each))
    other = Sessions(Guard([few("pay", 1)]))
    again = other.seen(other.mine(whole), place)
    assert isinstance(again.decide("pay", {"amount": 1}, id="2"), Blocked)
