"""Words beside their opposite, sentences among the data, answers that are given by hand."""

from __future__ import annotations

import collections
import enum
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel, SecretStr

from sponsio_like import Allowed, Blocked, Guard, contract
from sponsio_like.contracts.confirmation import is_yes
from sponsio_like.engine.unread import why_unread
from sponsio_like.patterns import (
    absent,
    confirm_after_source,
    destructive_action_gate,
    must_confirm,
    must_precede,
    rate_limit,
    untrusted_source_gate,
)
from sponsio_like.values.frozen import UNREADABLE
from sponsio_like.values.limits import ANSWER_CAP
from sponsio_like.values.plain import given_value
from tests.semantics.manifest import requirement

GATES = {
    "must_confirm": must_confirm("pay", by="ask", accept="approved"),
    "destructive_action_gate": destructive_action_gate("pay", gate="ask", accept="approved"),
    "confirm_after_source": confirm_after_source("read", "ask", sinks=["pay"], accept="approved"),
    "untrusted_source_gate": untrusted_source_gate("read", "ask", ["pay"], accept="approved"),
    "must_precede": must_precede("ask", "pay", accept="approved"),
}


def opens(rule: Any, answer: Any) -> bool:
    """Whether a payment is let through after this answer."""
    mine = Guard([contract("rule").guarantees(rule)]).session()
    mine.settle(mine.decide("read").id, output="a page")
    mine.settle(mine.decide("ask").id, output=answer)
    return isinstance(mine.decide("pay"), Allowed)


# --- a word, and its opposite beside it -----------------------------------------------------------

TAKEN_BACK = [
    *("approved, then revoked", "not approved", "approved; later withdrawn", "approved but void"),
    *("Approved on Monday, rescinded on Tuesday", "approved, and overruled by the board"),
    *("the decision to have it approved was reversed", "nobody approved it", "approved \u274c"),
    *("No. Ann approved another one", "approved: 0", "approved=false", "approved / escalated"),
]
OPEN = [
    *("approved?", "Is it approved? Ask Ann", "approved if the manager agrees", "to be approved"),
    *("must be approved by finance", "approved subject to a second signature", "please approved"),
    *("will be approved tomorrow", "would have been approved", "approved or escalated, unknown"),
    *("almost approved", "approved once the fee is paid", "approved, unless Bob objects"),
]
OPEN += [
    *("approved: n", "approved: N/A", "approved = off", "approved 1/3", "1 of 3 have approved"),
    *("0 approved", "approved; reverted", "rolled back after approved", "approved by mistake"),
    *(
        "approved, just kidding",
        "approved, then changed my mind",
        "approved, disregard",
        "TBD/approved",
    ),
    *("Who approved this", "approved (draft)", "approved in the sandbox", "approved; reopened"),
    *(
        "approved: unknown",
        "approved, escalated",
        "approved \u2717",
        "approved: null",
        "was it approved",
    ),
]
PLAINLY = [
    *("Approved by 2 of 2 reviewers", "order no. 17 approved", "approved with no comments"),
    *("LGTM, approved", "status=approved; code=0", "approved on 10/15/2026", "Approved 2/2"),
    {"state": "APPROVED", "user": {"login": "octocat", "site_admin": False}, "body": "LGTM"},
    {"content": [{"type": "text", "text": '{"status": "approved", "error": null}'}]},
    {"type": "block_actions", "user": {"id": "U1"}, "actions": [{"value": "approved"}]},
    {"key": "OPS-12", "fields": {"status": {"name": "Approved"}, "assignee": {"name": "Ann"}}},
    {"result": {"sys_id": "a", "state": "approved", "sys_updated_on": "2026-01-02 10:00:00"}},
    *("approved", "Approved.", "Your request was approved by Ann.", "APPROVED (ticket A-17)"),
    *("Approved. No further action required.", "approved, no issues found", "approved: true"),
    *("Refund approved for order 17, 0 errors", {"status": "approved", "note": "by Ann"}),
]


@requirement("S-CONFIRM-04")
@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("answer", [*TAKEN_BACK, *OPEN])
def test_a_word_beside_its_opposite_is_not_accepted(gate: str, answer: str) -> None:
    """A text with the word that also takes it back, asks, or waits for something opens no gate."""
    assert not opens(GATES[gate], answer)
    assert not opens(GATES[gate], {"message": answer})


@requirement("S-CONFIRM-04")
@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("answer", PLAINLY, ids=repr)
def test_a_word_that_nothing_speaks_against_is_accepted(gate: str, answer: Any) -> None:
    """A sentence that has the word, and says that nothing is wrong, opens every gate."""
    assert opens(GATES[gate], answer)


REPORTS = [
    *("5 passed, 0 failed", "Tests:  0 failed, 5 passed, 5 total", "passed: 5, failed: 0"),
    "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; in 0.00s",
    *("Passed! - Failed: 0, Passed: 5, Skipped: 0", "passed=5 failed=0 errors=0", "10/10 passed"),
    *("10 out of 10 passed", {"status": "passed", "failed": 0, "errors": 0.0}),
    {"summary": "5 passed, 0 failed"},
    *({"exit_code": 0, "stdout": "5 passed"}, {"returncode": "0", "output": "5 passed"}),
    *("5 passed\n[exit code: 0]", {"status_code": 200, "body": "5 passed"}),
    *(
        "5 passed, 2 skipped",
        "all tests passed, 2 skipped",
        "== 3 passed, 1 xfailed in 0.3s ==",
        "passed: 5, skipped: 2",
    ),
    *("3 passed, 1 xpassed, 2 deselected, 1 warning", "5 passed | 2 skipped | 1 todo (8)"),
    "Test Suites: 1 skipped, 2 passed, 2 of 3 total\nTests: 1 skipped, 5 passed, 6 total",
    "test result: ok. 5 passed; 0 failed; 2 ignored; 0 measured; 1 filtered out",
    *({"passed": 3, "failed": 0}, {"passed": 3, "failed": 0, "skipped": 2, "total": 5}),
    *({"summary": {"passed": 3, "xfailed": 1}}, {"tests_passed": "3", "tests_failed": 0}),
    *({"passed": True}, {"all_passed": True, "errors": 0}, {"passed": 3, "total": 3}),
    *('{"passed": 3, "failed": 0}', {"exit_code": 0, "passed": 3}),
]
SHORT_OF = [
    *("3 failed, 2 passed", "10 failed, 5 passed", "v1.0 failed, v1.1 passed", "7 of 10 passed"),
    *("7/10 passed", "7 out of 10 passed", "passed 7 out of 10", "2 passed, 3 broken, 1 crashed"),
    *("passed: 0 failed: 5", "passed: 0 errors: 5", "passed=0 failed=5", "error: 0 passed"),
    *("failed: 0.5, passed: 1", {"status": "passed", "failed": 3}, {"status": "passed", "ok": 0}),
    {"status": "passed", "failed": True},
    *({"exit_code": 1, "stdout": "5 passed"}, {"exitCode": "2", "stdout": "5 passed"}),
    *({"result": {"returncode": -9}, "log": "5 passed"}, {"exit_code": 1.0, "log": "5 passed"}),
    *(
        "5 passed\nexit code: 1",
        "5 passed. Process exited with code 137",
        "5 passed, exit status 2",
    ),
    *("0 passed", "no tests ran", "0 passed, 2 skipped", "2 skipped", "1 xfailed", "passed: 0"),
    *("3 passed, 1 failed, 2 skipped", "3 passed, 1 error", "3 passed, 1 xfailed, 1 failed"),
    *(
        "passed, but lint skipped",
        "passed (skipped)",
        "passed, 2 skipped",
        "5 passed, 2 pending",
        "3 of 5 passed",
    ),
    *("5 passed, all of security skipped", "5 passed, 2 skipped, exit code: 1"),
    *({"passed": 0, "failed": 0}, {"passed": 3, "failed": 1}, {"passed": 3, "errors": 1}),
    *(
        {"passed": False},
        {"passed": 3, "total": 5},
        {"passed": 3, "tests": 5},
        {"passed": -1},
        {"passed": None},
    ),
    *({"passed": 3, "exit_code": 1}, {"passed": 3, "skipped": 1, "total": 5}, {"xfailed": 1}),
    *({"passed": True, "error": "disk full"}, {"passed": "0"}, {"seconds_passed": 3}),
    *({"not_passed": 3}, {"not_passed": True}, [{"passed": 3}, {"passed": 0}]),
    *({"passed": 3, "ok": False}, {"skipped": 3}, {"should_have_passed": True}),
]


@requirement("S-CONFIRM-04", "S-CONFIRM-10")
@pytest.mark.parametrize("answer", REPORTS, ids=repr)
def test_a_report_that_counts_no_failure_is_accepted(answer: Any) -> None:
    """As programs that run tests write it: `0 failed` says that nothing is wrong."""
    assert opens(must_precede("ask", "pay", accept="passed"), answer)


@requirement("S-CONFIRM-04", "S-CONFIRM-10")
@pytest.mark.parametrize("answer", SHORT_OF, ids=repr)
def test_a_report_that_falls_short_is_not(answer: Any) -> None:
    """Some failed, or not all of them have passed; a zero belongs to the word that it counts."""
    assert not opens(must_precede("ask", "pay", accept="passed"), answer)


@requirement("S-CONFIRM-10")
def test_a_number_counts_tests_only_and_true_says_any_word() -> None:
    """`approved: 5` may be an amount, and `1 approved, 2 skipped` may be a vote."""
    approved = must_precede("ask", "pay", accept="approved")
    assert opens(approved, {"approved": True})
    assert opens(approved, {"isApproved": "true"})
    for answer in ({"approved": 5}, "1 approved, 2 skipped", {"approved": False}, {"approved": 1}):
        assert not opens(approved, answer)


@requirement("S-CONFIRM-04")
def test_a_word_may_have_a_no_in_itself() -> None:
    """What is accepted does not speak against itself, once or twice."""
    for word in ("not required", "no objection", "rejected", "on hold", "no virus found"):
        assert opens(must_confirm("pay", by="ask", accept=word), f"{word}; {word.title()}!")
        assert not opens(must_confirm("pay", by="ask", accept=word), f"{word}; withdrawn")


@requirement("S-CONFIRM-04")
@pytest.mark.parametrize(
    ("accept", "answer"),
    [
        ("(approved)", "approved, then revoked"),
        ("^not approved$", "not approved"),
        ({"path": "status", "equals": "approved"}, {"status": "approved", "denied": True}),
        ({"matches": "approved"}, "not approved"),
    ],
)
def test_who_writes_an_expression_or_a_path_gets_what_is_written(accept: Any, answer: Any) -> None:
    """Only a plain word is read as a word."""
    assert opens(must_confirm("pay", by="ask", accept=accept), answer)


@requirement("S-CONFIRM-04")
def test_a_field_that_stands_twice_hides_no_refusal() -> None:
    """JSON text of which something would be lost is read as a text: the first word counts too."""
    rule = must_confirm("pay", by="ask", accept="approved")
    assert opens(rule, '{"status": "approved", "by": "ann"}')
    assert not opens(rule, '{"status": "denied", "status": "approved"}')


@requirement("S-CONFIRM-03", "S-FAIL-05")
def test_an_answer_is_looked_into_as_deep_as_data_are_read() -> None:
    """Sixty levels are read; what lies under more, in texts inside of texts, confirms nothing."""
    word, yes = must_confirm("pay", by="ask", accept="approved"), must_confirm("pay", by="ask")
    assert opens(word, boxed("approved", 60))
    assert opens(yes, {"approved": True, "id": listed(5, 60)})
    assert opens(yes, listed("yes", 60))
    assert opens(yes, {"approved": listed(True, 60)})
    assert opens(word, listed("approved", 60))
    deep = boxed(json.dumps(boxed("approved", 40)), 40)
    assert not opens(word, deep)
    assert not opens(yes, {"approved": True, "id": listed(json.dumps(listed(5, 40)), 40)})
    assert not opens(yes, listed(json.dumps(listed("yes", 40)), 40))
    assert not opens(word, listed(json.dumps(listed("approved", 40)), 40))
    assert opens(yes, {"approved": True, "id": boxed(5, 60, "id")})
    assert not opens(yes, {"approved": True, "id": boxed(json.dumps(boxed(5, 40, "id")), 40, "id")})


def boxed(value: Any, levels: int, name: str = "state") -> Any:
    """The value under so many fields."""
    for _ in range(levels):
        value = {name: value}
    return value


def listed(value: Any, levels: int) -> Any:
    """The value in so many lists."""
    for _ in range(levels):
        value = [value]
    return value


# --- data beside a yes ----------------------------------------------------------------------------

SENTENCES = [
    *(
        "payment was declined",
        "he said nope",
        "it was vetoed by the board",
        "ask me again on Monday",
    ),
    *("the board took it back", "overruled", "rescinded", "nobody knows who", "negative"),
]
NAMES = [
    *(
        "No\u00e9",
        "A-17",
        "Nina Holder",
        "Ann Waite",
        "Notaro",
        "Bank of America Merchant Services",
    ),
    *("Falk Stopper", "Ann van der Berg", "confirm_delete", "No\u00e9mie Blockland", "2026-01-02"),
    *("Wed, 21 Oct 2026 07:28:00 GMT", "Refund Desk", "Willa Failla", "United Airlines", "No. 17"),
]


@requirement("S-CONFIRM-02")
@pytest.mark.parametrize("field", ["name", "user", "tool", "order", "by", "order_id"])
@pytest.mark.parametrize("said", SENTENCES)
def test_what_is_said_in_a_field_of_data_is_an_objection(field: str, said: str) -> None:
    """A sentence beside a yes, or a word that says no, is no name, whatever its field is called."""
    assert not opens(must_confirm("pay", by="ask"), {"status": "approved", field: said})
    assert not opens(must_confirm("pay", by="ask"), {"approved": True, field: {"name": [said]}})


SERVICES: list[Any] = [
    {"state": "APPROVED", "user": "octocat", "submitted_at": "2026-01-02T00:00:00Z", "id": 80},
    {
        "result": {
            "sys_id": "a",
            "state": "approved",
            "approved_by": "ann",
            "sys_updated_on": "2026",
        }
    },
    {"approved": True, "reviewer": {"display_name": "Ann", "email": "ann@no-reply.example.org"}},
    {"decision": "approved", "ticket": "OPS-12", "url": "https://example.org/OPS-12", "version": 3},
    {"status": "approved", "approvers": ["ann", "bob"], "signed_by": "Ann", "updated_at": "2026"},
]
NOT_YET: list[Any] = [
    {"state": "CHANGES_REQUESTED"},
    {"state": "APPROVED", "dismissed_at": "2026-01-02"},
    {"ok": True, "channel": "C1", "ts": "17.5", "message": {"text": "Shall I pay?"}},
    {"status": "approved", "approver": "pending"},
    {"status": "approved", "approvers": ["ann", "none yet"]},
    {"decision": "approved", "order": "second thoughts"},
    {"approved": True, "name": "changes requested"},
    {"approved": True, "tool": "do_not_pay"},
    {"status": "approved", "email": "declined by ann@example.org"},
    {"status": "approved", "by": "rejected@review.example.org"},
    {"status": "approved", "errors": {"id": 5}},
]


@requirement("S-CONFIRM-02")
@pytest.mark.parametrize("answer", SERVICES, ids=repr)
def test_a_yes_of_a_service_is_a_yes(answer: Any) -> None:
    """Who approved, when, and under which number or address is data."""
    assert opens(must_confirm("pay", by="ask"), answer)


@requirement("S-CONFIRM-02")
@pytest.mark.parametrize("answer", NOT_YET, ids=repr)
def test_what_a_service_has_not_approved_is_no_yes(answer: Any) -> None:
    """An approval that was dismissed, or that somebody owes, and a message that was sent."""
    assert not opens(must_confirm("pay", by="ask"), answer)


@requirement("S-CONFIRM-02")
@pytest.mark.parametrize("field", ["name", "user", "tool", "order", "by", "order_id"])
@pytest.mark.parametrize("name", NAMES)
def test_names_beside_a_yes_are_no_objection(field: str, name: str) -> None:
    """Names of people, of companies, of tools and dates are data, whatever syllables they have."""
    assert opens(must_confirm("pay", by="ask"), {"approved": True, field: name})


# --- values that are given by hand ----------------------------------------------------------------


class Colour(str, enum.Enum):  # noqa: UP042  as hosts write them
    RED = "red"
    YES = "yes"


class Level(enum.Enum):
    HIGH = 3
    YES = "yes"


class Model(BaseModel):
    """A model, with models in it."""

    status: str = "approved"
    colour: Colour = Colour.RED
    inner: list[Model] = []


class Reply(BaseModel):
    """A model that says yes."""

    status: Colour = Colour.YES


@dataclass(frozen=True)
class Record:
    """What services of the host answer."""

    approved: bool = True
    at: datetime = datetime(2026, 1, 2, tzinfo=UTC)


GIVEN: dict[str, tuple[Any, Any]] = {
    "a model": (Model(inner=[Model()]), Model(inner=[Model()]).model_dump(mode="json")),
    "a dataclass": (Record(), {"approved": True, "at": "2026-01-02T00:00:00Z"}),
    "an id": (UUID(int=7), str(UUID(int=7))),
    "a date": (date(2026, 1, 2), "2026-01-02"),
    "an exact number": (Decimal("1.50"), Decimal("1.50")),
    "an enum": (Level.HIGH, 3),
    "an enum of texts": (Colour.RED, "red"),
    "bytes": (b"red", "red"),
    "a secret": (SecretStr("red"), "red"),
    "names that are enums": ({Colour.RED: Colour.RED}, {"red": "red"}),
    "a queue": (collections.deque([Colour.RED]), ["red"]),
    "a set": ({"b", "a", "c"}, ["a", "b", "c"]),
    "in lists": (
        [Record(), UUID(int=7)],
        [{"approved": True, "at": "2026-01-02T00:00:00Z"}, str(UUID(int=7))],
    ),
}


def taken(value: Any) -> None:
    """A tool that takes anything."""


def read_by_contracts(value: Any) -> list[Any]:
    """What contracts read of a value: in an argument by hand, of a decorated tool, in an answer."""
    records: list[dict[str, Any]] = []
    guard = Guard(
        [contract("c").guarantees(rate_limit("take", 9))],
        log=records.append,
        log_args=True,
    )
    mine = guard.session()
    mine.decide("take", {"value": value})
    take = guard.tool(taken, name="take")
    with guard.session().active():
        take(value)
    by_hand, decorated = (each["args"]["value"] for each in records if "args" in each)
    return [by_hand, decorated, given_value(value, ANSWER_CAP)]


@requirement("S-TOOL-23")
@pytest.mark.parametrize("what", GIVEN)
def test_values_are_read_alike_wherever_they_are_given(what: str) -> None:
    """An argument or an answer that is given by hand reads as that of a decorated tool."""
    value, data = GIVEN[what]
    for read in read_by_contracts(value):
        assert json.dumps(read, default=str) == json.dumps(data, default=str)


@pytest.mark.parametrize(
    "answer", [Record(), Reply(), Level.YES, {"approved": True, "order": UUID(int=7)}, [Record()]]
)
@requirement("S-TOOL-23")
def test_a_yes_of_the_host_s_own_making_is_a_yes(answer: Any) -> None:
    """Models, records and enums that are settled by hand confirm as their data would."""
    assert opens(must_confirm("pay", by="ask"), answer)


@requirement("S-TOOL-23")
def test_arguments_by_hand_are_compared_as_data() -> None:
    """A rule about a field holds for a model, an id, a date and an enum in it."""
    same = {"a": str(UUID(int=7)), "b": "red", "c": "2026-01-02"}
    rules = [f'G(called(x) -> arg({key}) = "{value}")' for key, value in same.items()]
    mine = Guard([contract(each).guarantees({"ltl": each}) for each in rules]).session()
    args = {"a": UUID(int=7), "b": Colour.RED, "c": date(2026, 1, 2)}
    assert isinstance(mine.decide("x", args), Allowed)
    assert isinstance(mine.decide("x", {**args, "a": UUID(int=8)}), Blocked)


@requirement("S-FAIL-05")
def test_what_is_opened_keeps_to_the_bounds() -> None:
    """What is long or deep is cut, in models as in data; and nothing is used up."""
    deep: Any = "x"
    for _ in range(100):
        deep = Model.model_construct(inner=deep)
    steps: Iterator[int] = iter([1])
    wide = {"rows": range(10**9), "steps": steps, "fine": Colour.RED}
    assert given_value(wide, ANSWER_CAP) == {"rows": UNREADABLE, "steps": UNREADABLE, "fine": "red"}
    assert list(steps) == [1]
    assert given_value({"ids": [UUID(int=7)] * 5_001}) == {"ids": UNREADABLE}
    assert given_value({"ids": [UUID(int=7)] * 4_900}) != {"ids": UNREADABLE}
    assert UNREADABLE in every(given_value(deep, ANSWER_CAP))
    long = given_value({"a": b"x" * 9_000_000, "b": 1}, ANSWER_CAP)
    assert long["a"] is UNREADABLE
    assert long.met.endswith("characters")


def every(value: Any) -> Iterator[Any]:
    """Every value in there."""
    yield value
    inner = value.values() if isinstance(value, dict) else value
    for each in inner if isinstance(value, dict | list) else ():
        yield from every(each)


@requirement("S-TOOL-07")
def test_one_value_that_raises_makes_no_other_unreadable() -> None:
    """What stands beside it is read."""

    class Row(collections.UserList[Any]):
        def __iter__(self) -> Any:
            raise RuntimeError

    told = given_value({"half_written": Row([1]), "fine": Colour.RED}, ANSWER_CAP)
    assert told == {"half_written": UNREADABLE, "fine": "red"}


# --- what is missing, and what could not be read --------------------------------------------------


@requirement("S-EXPLAIN-04")
@pytest.mark.parametrize("args", [{}, {"to": None}, {"to": []}, {"to": {"id": None}}], ids=repr)
def test_a_null_key_is_missing(args: Any) -> None:
    """What is null or empty is told as missing, like what is not there at all."""
    assert why_unread("to.id", args) == "field `to.id` is missing"


@requirement("S-EXPLAIN-04", "S-CMP-11")
def test_advice_and_explanation_say_the_same_of_a_field() -> None:
    """Which field could not be read, and why."""
    rule = absent({"tool": "pay", "args": {"to.id": "evil"}})
    args = {"to": "evil"}
    outcome = Guard([contract("c").guarantees(rule)]).session().decide("pay", args)
    assert isinstance(outcome, Blocked)
    said = "field `to.id` could not be read: a text, where an object is expected"
    assert said in outcome.advice
    assert why_unread("to.id", args) == said


@pytest.mark.parametrize("field", ["amount", "id", "user", "note", "verified"])
def test_a_false_beside_a_yes_is_no_confirmation(field: str) -> None:
    """Whatever the field is called: nothing else is false in an answer that says yes."""
    assert is_yes({"approved": True})
    assert is_yes({"approved": True, "id": "a7"})
    assert not is_yes({"approved": True, field: False})
    assert not is_yes({"approved": True, field: UNREADABLE})
