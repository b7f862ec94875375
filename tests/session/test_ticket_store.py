"""The tickets of one session, by themselves: who is asked, who is told, and what is forgotten."""

from __future__ import annotations

import re
from typing import Any

import pytest

from sponsio_like.errors import SessionError
from sponsio_like.event_types import HeldBy, Ticket
from sponsio_like.session import tickets
from sponsio_like.session.ids import MADE
from sponsio_like.session.tickets import Tickets
from tests.semantics.manifest import requirement

C, D = HeldBy("c"), HeldBy("d", ("boss",))


def opened(desk: Tickets, *asked: HeldBy, **more: Any) -> tuple[Ticket, frozenset[str]]:
    """A ticket for a call, and who has to be told."""
    given = {"call": "1", "mark": "mark", "within": None, "now": 0.0, **more}
    names = frozenset(each.contract for each in asked)
    violated = given.pop("violated", names)
    mark = given.pop("mark")
    return desk.open(given.pop("call"), "pay", mark, asked, violated, **given)


def test_a_call_has_one_ticket() -> None:
    """It is the same as long as nobody else asks; then nothing is new."""
    desk = Tickets()
    first, news = opened(desk, C)
    assert news == {"c"}
    again, news = opened(desk, C)
    assert (again, news) == (first, frozenset())
    other, news = opened(desk, C, call="2")
    assert other.id != first.id
    assert news == {"c"}
    assert len({ticket.id for ticket in desk.by_id.values()}) == 2


@requirement("S-ASK-21")
def test_the_same_call_has_the_same_ticket_id_in_every_process() -> None:
    """It is made of the ids of session and call, and of what is asked; not of the time."""
    first, _ = opened(Tickets("s"), C)
    again, _ = opened(Tickets("s"), C, D, now=5.0, within=1.0)
    assert first.id == again.id == "ticket-99aa41b2235fffd3"
    others = [
        opened(Tickets("other"), C),
        opened(Tickets("s"), C, call="2"),
        opened(Tickets("s"), C, mark="other"),
        opened(Tickets('s", "1'), C, call=""),
    ]
    assert len({first.id, *(ticket.id for ticket, _ in others)}) == 5


@requirement("S-ASK-21")
def test_a_call_that_is_asked_for_again_has_its_ticket_id_again() -> None:
    """Once the ticket was used up, the same call waits anew, unanswered, under the same id."""
    desk = Tickets("s")
    first, _ = opened(desk, C)
    desk.use(desk.approve(first.id, "ann", "", 0.0))
    again, news = opened(desk, C)
    assert again == first
    assert news == {"c"}


@requirement("S-ASK-21")
@pytest.mark.parametrize("call", ["", f"{MADE}00000000-1"])
def test_what_has_no_id_has_a_ticket_of_its_own_in_every_process(call: str) -> None:
    """Responses, and calls whose ids were made: nothing could tell that they are the same."""
    made = {opened(Tickets("s"), C, call=call)[0].id for _ in range(8)}
    assert len(made) == 8
    assert all(re.fullmatch("ticket-[0-9a-f]{16}", each) for each in made)


@requirement("S-ASK-22")
def test_a_call_that_was_held_before_has_the_time_from_then() -> None:
    """The same call, held once more from an earlier snapshot, keeps its first `until`."""
    desk = Tickets()
    ticket, _ = opened(desk, C, within=10.0, now=100.0)
    assert ticket.until == 110.0
    moved = desk.asked(ticket.id, 95.5, 100.0)
    assert (moved.until, moved.status) == (105.5, "open")
    assert desk.known(ticket.id, 100.0) == moved
    for later in (95.5, 97.0, 100.0, 500.0, float("nan")):
        assert desk.asked(ticket.id, later, 100.0) == moved
    assert desk.asked(ticket.id, 89.9, 100.0).status == "expired"
    assert desk.waiting(100.0) == ()


@requirement("S-ASK-22")
def test_an_answer_that_comes_too_late_from_then_is_none() -> None:
    """The time to use an answer is over as well; what was answered with no stays so."""
    desk = Tickets()
    yes, no = (opened(desk, C, call=each, within=10.0, now=100.0)[0] for each in "12")
    desk.approve(yes.id, "ann", "", 100.0)
    desk.deny(no.id, "ann", "", 100.0)
    assert desk.asked(yes.id, 90.0, 100.0).status == "approved"
    assert desk.asked(yes.id, 80.0, 100.0).status == "expired"
    assert desk.asked(no.id, 80.0, 100.0).status == "denied"


@requirement("S-ASK-22")
def test_the_shortest_time_counts_from_then() -> None:
    """Of the contracts that hold the call; where none has a limit, there is none."""
    desk = Tickets()
    opened(desk, C, within=9.0, now=100.0)
    ticket, _ = opened(desk, C, D, within=4.0, now=100.0)
    assert desk.asked(ticket.id, 98.0, 100.0).until == 102.0
    opened(desk, C, D, HeldBy("e"), now=100.0)
    assert desk.asked(ticket.id, 97.0, 100.0).until == 101.0
    patient, _ = opened(desk, C, call="2", now=100.0)
    assert desk.asked(patient.id, 0.0, 100.0) == patient
    with pytest.raises(SessionError, match="no ticket `x`"):
        desk.asked("x", 0.0, 100.0)


def test_who_asks_later_opens_the_ticket_again() -> None:
    """With less time, never more; who was told before is not told again."""
    desk = Tickets()
    first, _ = opened(desk, C, within=9.0)
    desk.approve(first.id, "ann", "", 0.0)
    more, news = opened(desk, C, D, within=20.0)
    assert more.status == "open"
    assert (more.contracts, more.until, [*news]) == (("c", "d"), 9.0, ["d"])
    assert more.roles == ("boss",)
    less, _ = opened(desk, C, D, HeldBy("e"), within=5.0)
    assert less.until == 5.0
    unlimited, _ = opened(desk, C, D, HeldBy("e"), HeldBy("f"))
    assert unlimited.until == 5.0


def test_other_roles_are_asked_anew() -> None:
    """What one has approved is no answer for another; and they are told."""
    desk = Tickets()
    first, _ = opened(desk, HeldBy("c", ("clerk",)))
    desk.approve(first.id, "ann", "clerk", 0.0)
    again, news = opened(desk, HeldBy("c", ("boss",)))
    assert again.status == "open"
    assert (again.roles, [*news]) == (("boss",), ["c"])
    assert again.contracts == ("c",)


def test_a_no_stays_whoever_asks_later() -> None:
    """A ticket that is closed is not opened again; who was violated is told once."""
    desk = Tickets()
    first, _ = opened(desk, C)
    desk.deny(first.id, "ann", "", 0.0)
    again, news = opened(desk, C, D)
    assert again.status == "denied"
    assert (again.contracts, [*news]) == (("c",), ["d"])
    _, news = opened(desk, C, D)
    assert news == frozenset()


def test_who_is_violated_is_told_though_nobody_asks_for_it() -> None:
    """A contract that blocks by itself is among those told of, once."""
    desk = Tickets()
    _, news = opened(desk, C, violated=frozenset({"c", "other"}))
    assert news == {"c", "other"}
    _, news = opened(desk, C, violated=frozenset({"c", "other", "third"}))
    assert news == {"third"}


def test_an_approval_needs_every_contract() -> None:
    """Each by one who may; then the call is approved, until its time."""
    desk = Tickets()
    ticket, _ = opened(desk, C, D, within=5.0)
    half = desk.approve(ticket.id, "eve", "clerk", 1.0)
    assert (half.status, half.roles) == ("open", ("boss",))
    assert [each.by for each in half.asked] == ["eve", ""]
    with pytest.raises(SessionError, match="is for `boss`, not for role `clerk`"):
        desk.approve(ticket.id, "eve", "clerk", 1.0)
    with pytest.raises(SessionError, match="needs the name"):
        desk.approve(ticket.id, "", "boss", 1.0)
    assert desk.approve(ticket.id, "ann", "boss", 2.0).status == "approved"
    assert desk.approved("1", "mark", 5.0) is not None
    assert desk.approved("1", "other", 5.0) is None
    assert desk.approved("2", "mark", 5.0) is None
    assert desk.waiting(5.0) == ()
    assert desk.approved("1", "mark", 5.5) is None
    assert desk.known(ticket.id, 5.5).status == "expired"


def test_a_ticket_is_taken_over_if_all_would_still_ask() -> None:
    """Of a snapshot; with what was answered."""
    desk = Tickets()
    ticket, _ = opened(desk, C, D)
    desk.approve(ticket.id, "eve", "", 0.0)
    for still, kept in ((("c", "d"), 1), (("c",), 0), ((), 0)):
        other = Tickets()
        other.resume(desk.plain(), lambda asked: asked.contract in still)  # noqa: B023
        assert len(other.by_id) == kept
    assert desk.known(ticket.id, 0.0).asked[0].by == "eve"


def test_the_oldest_closed_ticket_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no room; without a closed one, no further call can be held."""
    monkeypatch.setattr(tickets, "TICKETS_CAP", 3)
    desk = Tickets()
    made = [opened(desk, C, call=str(n))[0] for n in range(3)]
    with pytest.raises(SessionError, match="too many calls are held"):
        opened(desk, C, call="3")
    desk.approve(made[0].id, "ann", "", 0.0)
    desk.deny(made[1].id, "ann", "", 0.0)
    desk.deny(made[2].id, "ann", "", 0.0)
    opened(desk, C, call="3")
    assert [ticket.call for ticket in desk.by_id.values()] == ["0", "2", "3"]


def test_a_ticket_shows_neither_its_mark_nor_who_was_told() -> None:
    """What tells calls apart is nobody's business."""
    ticket, _ = opened(Tickets(), C)
    assert "mark" not in repr(ticket)
    assert "told" not in repr(ticket)
