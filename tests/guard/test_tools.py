"""Decorated tools: no call passes its contracts, and what the body receives is what was decided on.

The guards are untyped here, since arguments are given that the annotations do not allow.
"""
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import enum
import inspect
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import BaseModel, Field, RootModel, ValidationError

from sponsio_like import (
    Allowed,
    Blocked,
    CallBlocked,
    CallHeld,
    Contract,
    ContractError,
    Guard,
    Rule,
    Session,
    SessionError,
    Ticket,
    contract,
)
from sponsio_like.guard import flow as running
from sponsio_like.logic import formula as f
from sponsio_like.loops import running as running_call
from sponsio_like.loops import said
from sponsio_like.patterns import (
    arg_value_range,
    bounded_retry,
    must_precede,
    no_keywords,
    rate_limit,
    redirect_to_safe,
)
from sponsio_like.syntax import read
from tests.semantics.manifest import requirement
from tests.support.costs import work

SECONDS = 60.0


@pytest.fixture(autouse=True)
def _looking_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that wait look for their answer more often than they would."""
    monkeypatch.setattr(running, "POLL_SECONDS", 0.002)


NAMED = ("check", "draft", "drop", "other", "pay", "send")
"""Tools that contracts name here, and that need not be decorated."""


def ruled(*what: Any, **options: Any) -> tuple[Any, list[dict[str, Any]]]:
    """A guard under these guarantees, or contracts; and what it logs, with arguments."""
    records: list[dict[str, Any]] = []
    contracts = [
        each if isinstance(each, Contract) else contract(f"rule {n}").guarantees(each)
        for n, each in enumerate(what or [rate_limit("other", 9)])
    ]
    named = {"elsewhere": NAMED, "log": records.append, "log_args": True}
    return Guard(contracts, **{**named, **options}), records


def held(limit: float = 100) -> Contract:
    """Payments above the limit have to be approved."""
    return (
        contract("large")
        .guarantees(arg_value_range("pay", "amount", max=limit))
        .strategy("escalate")
    )


def events(records: Iterable[dict[str, Any]]) -> list[str]:
    """What was logged, in short: outcomes of decisions, and statuses of settlements."""
    words = {"decision": "outcome", "settlement": "status"}
    return [each[words[each["event"]]] for each in records if each["event"] in words]


# --- what is decided on ---------------------------------------------------------------------------


class Currency(enum.Enum):
    EUR = "eur"
    USD = "usd"


class Level(enum.IntEnum):
    LOW = 1


class Item(BaseModel):
    sku: str
    price: Decimal


class Order(BaseModel):
    id: int
    items: list[Item] = []
    currency: Currency = Currency.EUR


class Tags(RootModel[list[str]]):
    pass


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.5


class Options(TypedDict):
    fast: bool


UUID = uuid.UUID(int=5)
VALUES: dict[str, tuple[Any, Any, Any, Any]] = {
    "a number as text": (int, "5000", 5000, 5000),
    "a fraction as text": (float, "0.5", 0.5, 0.5),
    "a decimal": (Decimal, "10.50", Decimal("10.50"), Decimal("10.50")),
    "true as text": (bool, "true", True, True),
    "an enum": (Currency, "eur", Currency.EUR, "eur"),
    "an enum of numbers": (Level, 1, Level.LOW, 1),
    "a moment": (
        datetime,
        "2026-01-02T03:04:05Z",
        datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        "2026-01-02T03:04:05Z",
    ),
    "a day": (date, "2026-01-02", date(2026, 1, 2), "2026-01-02"),
    "a path": (Path, "a/b", Path("a/b"), "a/b"),
    "an id": (uuid.UUID, str(UUID), UUID, str(UUID)),
    "bytes": (bytes, "ab", b"ab", "ab"),
    "a list of numbers": (list[int], ["1", 2], [1, 2], [1, 2]),
    "a tuple": (tuple[int, str], ["1", "x"], (1, "x"), [1, "x"]),
    "a set": (set[str], ["b", "a"], {"a", "b"}, ["a", "b"]),
    "a map": (dict[str, int], {"a": "1"}, {"a": 1}, {"a": 1}),
    "one of two types": (int | None, None, None, None),
    "a constrained number": (Annotated[int, Field(ge=0)], "3", 3, 3),
    "a model": (
        Order,
        {"id": "1", "items": [{"sku": "a", "price": "2.5"}]},
        Order(id=1, items=[Item(sku="a", price=Decimal("2.5"))]),
        {"id": 1, "items": [{"sku": "a", "price": Decimal("2.5")}], "currency": "eur"},
    ),
    "a model of a list": (Tags, ["a"], Tags(["a"]), ["a"]),
    "a dataclass": (Point, {"x": "1"}, Point(1), {"x": 1, "y": 0.5}),
    "a typed dict": (Options, {"fast": True}, {"fast": True}, {"fast": True}),
    "anything": (Any, {"a": [1, None]}, {"a": [1, None]}, {"a": [1, None]}),
    "a number, not annotated": (None, "5", "5", "5"),
    "an enum, not annotated": (None, Currency.USD, Currency.USD, "usd"),
    "a model, not annotated": (None, Tags(["a"]), Tags(["a"]), ["a"]),
}


def taking(annotation: Any, receive: Callable[[Any], None]) -> Callable[..., Any]:
    """A function `take` of one argument with this annotation."""

    def take(value: Any) -> None:
        receive(value)

    take.__annotations__ = {} if annotation is None else {"value": annotation}
    return take


@requirement("S-TOOL-03")
@pytest.mark.parametrize("what", VALUES)
def test_the_body_receives_what_was_decided_on(what: str) -> None:
    """Arguments are coerced by their annotations, decided on as JSON data, and passed on so."""
    annotation, given, receives, data = VALUES[what]
    guard, records = ruled()
    received: list[Any] = []
    take = guard.tool(taking(annotation, received.append))
    with guard.session().active():
        take(given)
    assert received == [receives]
    assert type(received[0]) is type(receives)
    assert records[0]["args"] == {"value": data}


@requirement("S-TOOL-05")
@pytest.mark.parametrize("what", VALUES)
def test_where_only_observed_the_body_receives_what_was_given(what: str) -> None:
    """Observing disturbs nobody: the same is decided on, and the arguments are left as they are."""
    annotation, given, _, data = VALUES[what]
    guard, records = ruled(mode="observe")
    received: list[Any] = []
    take = guard.tool(taking(annotation, received.append))
    with guard.session().active():
        take(given)
    assert received[0] is given
    assert records[0]["args"] == {"value": data}


@requirement("S-TOOL-03")
def test_a_limit_sees_the_number_that_the_tool_would_receive() -> None:
    """`"5000"` for a number is decided on as 5000."""
    guard, _ = ruled(arg_value_range("pay", "amount", max=100))
    paid: list[int] = []

    @guard.tool
    def pay(amount: int) -> None:
        paid.append(amount)

    with guard.session().active():
        pay("50")
        with pytest.raises(CallBlocked):
            pay("5000")
    assert paid == [50]


@requirement("S-TOOL-02")
def test_arguments_have_their_names_however_they_are_given() -> None:
    """By position, by name or by default, an argument is known by the name of its parameter."""
    guard, records = ruled()

    @guard.tool
    def send(to: str, /, text: str, *more: int, urgent: bool = False, **options: int) -> Any:
        return to, text, more, urgent, options

    with guard.session().active():
        assert send("ann", "hi") == ("ann", "hi", (), False, {})
        assert send("ann", text="hi", urgent="true") == ("ann", "hi", (), True, {})
        assert send("ann", "hi", "1", 2, size="3") == ("ann", "hi", (1, 2), False, {"size": 3})
    assert [each["args"] for each in records if each["event"] == "decision"] == [
        {"to": "ann", "text": "hi", "more": [], "urgent": False},
        {"to": "ann", "text": "hi", "more": [], "urgent": True},
        {"to": "ann", "text": "hi", "more": [1, 2], "urgent": False, "size": 3},
    ]


@requirement("S-TOOL-02")
@pytest.mark.parametrize("twice", [{"amount": 5}, {"more": [5]}])
def test_no_argument_hides_another(twice: dict[str, Any]) -> None:
    """A name that `**options` may have as well is refused: contracts would read the wrong one."""
    guard, _ = ruled(arg_value_range("pay", "amount", max=100))
    paid: list[Any] = []

    @guard.tool
    def pay(amount: int, /, *more: int, **options: Any) -> None:
        paid.append((amount, options))

    with guard.session().active(), pytest.raises(TypeError, match="is given twice"):
        pay(9000, **twice)
    assert paid == []


@requirement("S-TOOL-04")
def test_arguments_that_do_not_fit_are_errors_of_the_caller() -> None:
    """A value that cannot be coerced, or a wrong number of them, raises; nothing is decided."""
    guard, records = ruled()
    runs: list[int] = []

    @guard.tool
    def pay(amount: Annotated[int, Field(ge=0)], to: str = "ann") -> None:
        runs.append(amount)

    with guard.session().active():
        for wrong in ({"amount": "a lot"}, {"amount": -1}, {"amount": 1, "to": 5}):
            with pytest.raises(ValidationError):
                pay(**wrong)
        for missing in ({}, {"amount": 1, "note": "x"}):
            with pytest.raises(TypeError, match="argument"):
                pay(**missing)
    assert runs == []
    assert records == []


@requirement("S-TOOL-03")
def test_defaults_are_not_coerced() -> None:
    """A default is what the function says it is, whatever its annotation."""
    guard, records = ruled()

    @guard.tool
    def find(text: str, limit: int = None) -> Any:  # type: ignore[assignment]  # noqa: RUF013
        return limit

    with guard.session().active():
        assert find("x") is None
        assert find("x", limit="5") == 5
    assert records[0]["args"] == {"text": "x", "limit": None}


class Client:
    """Something of the host, that no model could write down."""


@requirement("S-TOOL-06")
def test_what_is_the_hosts_is_passed_on_unread() -> None:
    """A parameter whose type is no data is no argument of the model: contracts do not see it."""
    guard, records = ruled(held())
    client, paid = Client(), list[Any]()

    @guard.tool(held="return")
    def pay(client: Client, amount: int, spare: list[Client] | None = None) -> None:
        paid.append((client, amount))

    session = guard.session()
    with session.active():
        ticket = pay(client, "900")
        assert isinstance(ticket, Ticket)
        session.approve(ticket, by="ann")
        pay(client, 900)
    assert paid == [(client, 900)]
    assert [each["args"] for each in records if "args" in each] == [{"amount": 900}] * 2


class Broken:
    """Data that raises when it is read."""

    def __iter__(self) -> Iterator[Any]:
        raise OSError("gone")


class BrokenMap(dict[str, Any]):
    def items(self) -> Any:
        raise OSError("gone")


@dataclasses.dataclass
class BrokenData:
    x: int = 0

    def __getattribute__(self, name: str) -> Any:
        if name == "x":
            raise OSError("gone")
        return super().__getattribute__(name)


def endless() -> list[Any]:
    """A list that has itself in it, twice."""
    each: list[Any] = []
    each += [each, each]
    return each


UNREADABLE: dict[str, Callable[[], Any]] = {
    "an object": Client,
    "a function": lambda: print,
    "a map that raises": lambda: BrokenMap(a=1),
    "a dataclass that raises": BrokenData,
    "a key that raises": lambda: {Broken(): 1} | {type("K", (), {"__str__": 5})(): 1},
    "a list in itself": endless,
    "a generator": lambda: (n for n in range(3)),
    "bytes that are no text": lambda: b"\xff",
}


@requirement("S-TOOL-07")
@pytest.mark.parametrize("mode", ["enforce", "observe"])
@pytest.mark.parametrize("what", UNREADABLE)
def test_what_cannot_be_read_is_held_against_the_call(what: str, mode: Any) -> None:
    """A contract that asks for such an argument is violated; others are not."""
    guard, records = ruled(arg_value_range("pay", "amount", max=100), mode=mode)
    runs: list[Any] = []

    @guard.tool(blocked="return")
    def pay(amount: Any) -> None:
        runs.append(amount)

    @guard.tool
    def note(amount: Any) -> None:
        runs.append(amount)

    value = UNREADABLE[what]()
    with guard.session().active():
        note(value)
        assert work(lambda: pay(value)) < 1_000_000
    assert len(runs) == (1 if mode == "enforce" else 2)
    assert all(each is value for each in runs)
    assert [bool(each["violations"]) for each in records if each["event"] == "decision"] == [0, 1]


@requirement("S-TOOL-05")
@pytest.mark.parametrize("mode", ["enforce", "observe"])
@pytest.mark.parametrize("annotation", [None, Any, list[int], Iterable[int]])
def test_iterators_are_not_used_up(annotation: Any, mode: Any) -> None:
    """What can be gone through once is left for the body."""
    guard, _ = ruled(mode=mode)
    received: list[list[int]] = []
    take = guard.tool(taking(annotation, lambda value: received.append(list(value))))
    with guard.session().active():
        take(n for n in range(3))
    assert received == [[0, 1, 2]]


def test_equal_sets_are_equal_data() -> None:
    """The order in which a set happens to be is no part of the arguments."""
    guard, records = ruled()
    take = guard.tool(taking(None, lambda _: None))
    with guard.session().active():
        take({*range(0, 4000, 8), "a"})
        take({"a", *reversed(range(0, 4000, 8))})
    first, second = (each["args"] for each in records if each["event"] == "decision")
    assert first == second


# --- what can be decorated ------------------------------------------------------------------------


def kinds(guard: Guard) -> dict[str, Callable[..., Any]]:
    """A tool `pay` of every kind, as it is called with an amount."""

    class Bank:
        @guard.tool(name="method")
        def method(self, amount: int) -> Any:
            return "paid", amount

        @guard.tool(name="static, outside")
        @staticmethod
        def static_outside(amount: int) -> Any:
            return "paid", amount

        @staticmethod
        @guard.tool(name="static, inside")
        def static_inside(amount: int) -> Any:
            return "paid", amount

        @guard.tool(name="class, outside")
        @classmethod
        def class_outside(cls, amount: int) -> Any:
            return "paid", amount

        @classmethod
        @guard.tool(name="class, inside")
        def class_inside(cls, amount: int) -> Any:
            return "paid", amount

        def plain(self, amount: int) -> Any:
            return "paid", amount

        def __call__(self, amount: int) -> Any:
            return "paid", amount

    @guard.tool
    def function(amount: int) -> Any:
        return "paid", amount

    @guard.tool(name="named self")
    def function_of_self(self: int, amount: int) -> Any:
        return "paid", amount

    bank = Bank()
    return {
        "function": function,
        "named self": lambda amount: function_of_self(1, amount),
        "method": bank.method,
        "static, outside": bank.static_outside,
        "static, inside": Bank.static_inside,
        "class, outside": Bank.class_outside,
        "class, inside": bank.class_inside,
        "bound": guard.tool(bank.plain, name="bound"),
        "callable": guard.tool(bank, name="callable"),
        "lambda": guard.tool(lambda amount: ("paid", int(amount)), name="lambda"),
    }


KINDS = list(kinds(ruled()[0]))


@requirement("S-TOOL-01")
@pytest.mark.parametrize("kind", KINDS)
def test_functions_and_methods_of_every_kind_are_tools(kind: str) -> None:
    """Each is decided under its name, runs as it would, and is settled with what it returned."""
    guard, records = ruled(rate_limit(kind, 1))
    pay = kinds(guard)[kind]
    with guard.session().active():
        assert pay("5") == ("paid", 5)
        with pytest.raises(CallBlocked):
            pay(5)
    assert events(records) == ["allowed", "ok", "blocked"]
    assert [each["tool"] for each in records] == [kind] * 3
    assert records[-1]["args"]["amount"] == 5
    assert set(records[-1]["args"]) == {"amount"} | ({"self"} if kind == "named self" else set())


@requirement("S-TOOL-01")
async def test_coroutine_functions_are_tools() -> None:
    """An async tool is decided when it is awaited, and settled when it has ended."""
    guard, records = ruled(rate_limit("pay", 1))

    @guard.tool
    async def pay(amount: int) -> Any:
        await asyncio.sleep(0)
        assert events(records) == ["allowed"]
        return "paid", amount

    assert inspect.iscoroutinefunction(pay)
    with guard.session().active():
        assert await pay("5") == ("paid", 5)
        with pytest.raises(CallBlocked):
            await pay(5)
    assert events(records) == ["allowed", "ok", "blocked"]


@requirement("S-TOOL-14")
async def test_what_a_plain_function_leaves_to_be_awaited_is_settled_then() -> None:
    """A function that returns a coroutine is in flight until that has been awaited."""
    guard, records = ruled(must_precede("check", "pay"))

    async def later(amount: int) -> int:
        if amount < 0:
            raise ValueError("negative")
        return amount

    @guard.tool
    def check(amount: int) -> Any:
        return later(amount)

    @guard.tool(blocked="return")
    def pay() -> str:
        return "paid"

    with guard.session().active():
        waiting = check(5)
        assert pay() != "paid"
        assert await waiting == 5
        assert pay() == "paid"
        with pytest.raises(ValueError, match="negative"):
            await check(-5)
    assert events(records) == ["allowed", "blocked", "ok", "allowed", "ok", "allowed", "error"]


def test_a_tool_looks_like_the_function_that_it_was() -> None:
    """Name, documentation and signature stay, for frameworks that read them."""
    guard, _ = ruled()

    def pay(amount: int, *, to: str = "ann") -> str:
        """Pay somebody."""
        return to

    guarded = guard.tool(pay)
    assert (guarded.__name__, guarded.__doc__) == ("pay", "Pay somebody.")
    assert inspect.signature(guarded) == inspect.signature(pay)


def generates() -> Iterator[int]:
    yield 1


async def generates_later() -> Any:
    yield 1


def odd(value: Nowhere) -> None:  # type: ignore[name-defined]  # noqa: F821
    pass


def another() -> Callable[..., Any]:
    def pay() -> None:
        pass

    return pay


REFUSED: dict[str, tuple[Callable[[Guard], Any], str]] = {
    "a generator": (lambda guard: guard.tool(generates), "`generates` is a generator"),
    "an async generator": (lambda guard: guard.tool(generates_later), "is a generator"),
    "no function": (lambda guard: guard.tool(5), "`5` is no function with a name"),
    "an object without a name": (lambda guard: guard.tool(Client()), "no function with a name"),
    "a lambda": (lambda guard: guard.tool(lambda: 1), "no function with a name"),
    "an unknown annotation": (lambda guard: guard.tool(odd), "annotation that is not known"),
    "a builtin": (lambda guard: guard.tool(dict), "which arguments it takes"),
    "another answer": (
        lambda guard: guard.tool(blocked="log"),  # type: ignore[call-overload]
        "blocked='log'",
    ),
    "another wait": (
        lambda guard: guard.tool(held="sleep"),  # type: ignore[call-overload]
        "held='sleep'",
    ),
    "what is guarded": (
        lambda guard: guard.tool(guard.tool(another())),
        "`pay` is decorated with this guard already",
    ),
    "a name twice": (
        lambda guard: [guard.tool(another()), guard.tool(odd2)],
        "two tools are named",
    ),
}


def odd2() -> None:
    pass


odd2.__name__ = "pay"


@requirement("S-TOOL-17")
@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_guarded_is_refused(what: str) -> None:
    """It would run unguarded, or be settled before it ran; the error says what to write instead."""
    act, says = REFUSED[what]
    with pytest.raises(ContractError, match=says.replace("(", r"\(")):
        act(ruled()[0])


def test_a_function_that_is_defined_again_is_the_same_tool() -> None:
    """A module that is loaded again, or a function made for each request, is no second tool."""
    guard, _ = ruled()
    for _ in range(3):
        guard.tool(another())


@requirement("S-TOOL-18")
def test_many_tools_are_wrapped_at_once() -> None:
    """`wrap` takes a list of functions, or a mapping from names to functions, with options."""
    guard, _ = ruled(rate_limit(["pay", "note"], 0))

    def pay() -> str:
        return "paid"

    def note() -> str:
        return "noted"

    def look() -> str:
        return "seen"

    listed = guard.wrap([pay, look], blocked="return")
    mapped = guard.wrap({"note": look, "see": note}, blocked=lambda outcome: outcome.id)
    with guard.session().active():
        assert listed[0]() != "paid"
        assert listed[1]() == "seen"
        assert mapped["note"]().startswith("auto-")
        assert mapped["see"]() == "noted"
    assert isinstance(listed, list)
    assert list(mapped) == ["note", "see"]


# --- blocked, held --------------------------------------------------------------------------------


@requirement("S-TOOL-08")
def test_a_blocked_call_raises_the_advice() -> None:
    """`CallBlocked` is an error whose text is for the model; the body has not run."""
    guard, records = ruled(must_precede("check", "pay"))
    runs: list[int] = []

    @guard.tool
    def pay() -> None:
        runs.append(1)

    with guard.session().active(), pytest.raises(CallBlocked) as error:
        pay()
    assert str(error.value) == error.value.advice == error.value.outcome.advice
    assert "first call `check`" in str(error.value)
    assert runs == []
    assert events(records) == ["blocked"]


def test_advice_is_worked_out_when_it_is_read() -> None:
    """Raising `CallBlocked` costs nothing; who reads it has it worked out."""
    asked: list[int] = []

    def advise() -> str:
        asked.append(1)
        return "the advice"

    error = CallBlocked(Blocked("1", (), advise))
    assert asked == []
    assert f"{error}" == "the advice"


@requirement("S-TOOL-08")
def test_a_blocked_call_can_return_the_advice_or_what_you_like() -> None:
    """`blocked="return"` gives the advice to whoever called, a function what it makes of it."""
    guard, _ = ruled(rate_limit("pay", 0))
    advice = guard.tool(blocked="return")(another())
    custom = guard.tool(blocked=lambda outcome: (outcome.id, outcome.violations))(another())
    with guard.session().active():
        assert "`pay` was not allowed by `rule 0`" in advice()
        assert custom()[1][0].contract == "rule 0"


async def test_what_answers_a_blocked_call_may_be_async() -> None:
    """The function for blocked calls of an async tool is awaited, if it is async."""
    guard, _ = ruled(rate_limit("pay", 0))

    async def answer(outcome: Blocked) -> str:
        await asyncio.sleep(0)
        return outcome.violations[0].contract

    @guard.tool(blocked=answer)
    async def pay() -> None:
        raise AssertionError

    with guard.session().active():
        assert await pay() == "rule 0"


@requirement("S-TOOL-09")
def test_a_held_call_raises_or_returns_its_ticket() -> None:
    """`CallHeld` has the ticket, and says who may answer; `held="return"` returns it."""
    strict = held().strategy({"escalate": {"roles": ["manager", "owner"]}})
    guard, _ = ruled(strict)
    paid: list[int] = []

    def pay(amount: int) -> None:
        paid.append(amount)

    raising, returning = guard.tool(pay), guard.tool(pay, held="return")
    session = guard.session()
    with session.active():
        with pytest.raises(CallHeld, match="`pay` waits for `manager` or `owner`") as error:
            raising(900)
        assert returning(900) == error.value.ticket == error.value.outcome.ticket
        assert paid == []
        session.approve(error.value.ticket, by="ann", role="owner")
        raising(900)
    assert paid == [900]


Act = Callable[[Session, Ticket], Any]
ANSWERS: dict[str, tuple[Act, Any]] = {
    "approve": (lambda session, ticket: session.approve(ticket, by="ann"), "paid"),
    "deny": (lambda session, ticket: session.deny(ticket, by="ann"), CallBlocked),
    "expire": (lambda session, ticket: session.expire(ticket), CallBlocked),
    "revoke": (lambda session, ticket: session.revoke(ticket, by="ann"), CallBlocked),
    "finish": (lambda session, _: session.finish(), SessionError),
}


def answered(session: Session, act: Act, times: int = 1) -> threading.Thread:
    """A thread that answers the next tickets."""

    def answer() -> None:
        for _ in range(times):
            while not (waiting := session.tickets()):
                time.sleep(0.001)
            act(session, waiting[0])

    thread = threading.Thread(target=answer)
    thread.start()
    return thread


@requirement("S-TOOL-09", "S-TOOL-10")
@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("answer", ANSWERS)
def test_a_held_call_can_wait_for_its_answer(answer: str, how: str) -> None:
    """`held="wait"` goes on when somebody has answered, or when nobody can any more."""
    act, outcome = ANSWERS[answer]
    guard, _ = ruled(held())
    runs: list[int] = []

    def pay(amount: int) -> str:
        runs.append(amount)
        return "paid"

    async def pay_later(amount: int) -> str:
        return pay(amount)

    guarded = guard.tool(pay if how == "sync" else pay_later, name="pay", held="wait")
    session = guard.session()

    def call() -> Any:
        with session.active():
            return guarded(900) if how == "sync" else asyncio.run(guarded(900))

    thread = answered(session, act)
    if isinstance(outcome, str):
        assert call() == outcome
    else:
        with pytest.raises(outcome):
            call()
    thread.join(SECONDS)
    assert runs == ([900] if outcome == "paid" else [])


def test_time_to_answer_ends_the_wait() -> None:
    """A call that waits is refused when the time to answer is over."""
    guard, _ = ruled(held().strategy({"escalate": {"within": 0.02}}))
    pay = guard.tool(lambda amount: "paid", name="pay", held="wait")
    with guard.session().active(), pytest.raises(CallBlocked, match="nobody answered in time"):
        pay(900)


@requirement("S-TOOL-10")
async def test_a_call_that_is_cancelled_while_it_waits_does_not_run() -> None:
    """Cancelling ends the wait; the ticket can still be answered, for the next try."""
    guard, records = ruled(held())
    runs: list[int] = []

    @guard.tool(held="wait")
    async def pay(amount: int) -> None:
        runs.append(amount)

    session = guard.session()
    with session.active():
        task = asyncio.create_task(pay(900))
        while not session.tickets():  # noqa: ASYNC110
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert runs == []
        assert session.calls == 0
        session.approve(session.tickets()[0], by="ann")
        await pay(900)
    assert runs == [900]
    assert events(records) == ["held", "allowed", "ok"]


def test_each_of_equal_calls_that_wait_needs_an_answer() -> None:
    """Eight equal calls that wait in threads share a ticket: one answer, one run; then the next."""
    guard, _ = ruled(held())
    runs: list[int] = []

    @guard.tool(held="wait")
    def pay(amount: int) -> None:
        runs.append(amount)

    session = guard.session()

    def work() -> None:
        with session.active():
            pay(900)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    started = time.monotonic()
    for n in range(8):
        answered(session, ANSWERS["approve"][0]).join(SECONDS)
        while len(runs) < n + 1:
            assert time.monotonic() - started < SECONDS
            time.sleep(0.001)
        assert len(runs) == n + 1
    for thread in threads:
        thread.join(SECONDS)
    assert session.calls == 8


@requirement("S-TOOL-10")
def test_arguments_that_change_while_a_call_waits_are_not_approved() -> None:
    """The call is decided on what the body will receive when it runs, not on what it was."""
    guard, records = ruled(held())
    paid: list[Any] = []

    @guard.tool(held="wait")
    def pay(amount: int, to: Any) -> None:
        paid.append(to["name"])

    session, to = guard.session(), {"name": "ann"}

    def change(session: Session, ticket: Ticket) -> None:
        to["name"] = "eve"
        session.approve(ticket, by="ann")

    thread = answered(session, change, times=2)
    with session.active():
        pay(900, to)
    thread.join(SECONDS)
    assert paid == ["eve"]
    assert events(records) == ["held", "held", "allowed", "ok"]


# --- redirected -----------------------------------------------------------------------------------


def drafts(**renames: Any) -> Contract:
    """Sending is redirected to drafts."""
    options = {"to": "draft", "map": renames} if renames else {"to": "draft"}
    return (
        contract("drafts").guarantees(rate_limit("send", 0)).strategy({"redirect_to_safe": options})
    )


@requirement("S-TOOL-11")
def test_a_redirected_call_runs_the_real_substitute() -> None:
    """The body of the substitute runs, with the arguments renamed and coerced for it."""
    guard, records = ruled(drafts(recipient="to", urgent=None))

    @guard.tool
    def send(recipient: str, size: int, urgent: bool = False) -> Any:
        raise AssertionError

    @guard.tool
    def draft(to: Annotated[str, Field(max_length=3)], size: Decimal, note: str = "later") -> Any:
        return "drafted", to, size, note

    with guard.session().active():
        assert send("ann", 5) == ("drafted", "ann", Decimal(5), "later")
        with pytest.raises(CallBlocked, match="cannot: ValidationError"):
            send("nobody", 5)
    assert events(records) == ["redirected", "ok", "blocked"]
    assert [each["tool"] for each in records] == ["send", "draft", "send"]


async def test_an_async_call_is_redirected_to_either_kind() -> None:
    """An async tool may have a substitute that is async, or one that is not."""
    guard, _ = ruled(drafts(), drafts_of("wire", "note"))

    @guard.tool
    async def send(to: str) -> Any:
        raise AssertionError

    @guard.tool
    async def wire(to: str) -> Any:
        raise AssertionError

    @guard.tool
    async def draft(to: str) -> Any:
        await asyncio.sleep(0)
        return "drafted", to

    @guard.tool
    def note(to: str) -> Any:
        return "noted", to

    with guard.session().active():
        assert await send("ann") == ("drafted", "ann")
        assert await wire("ann") == ("noted", "ann")


def drafts_of(unsafe: str, safe: str) -> Contract:
    """One tool is redirected to another."""
    return contract(f"no {unsafe}").guarantees(redirect_to_safe(unsafe, safe))


@requirement("S-TOOL-11")
def test_methods_are_redirected_to_methods_of_the_same_object() -> None:
    """The substitute of a method may be a method, a class method, a static method or a function."""
    safe = ["method", "class_method", "static_method", "function"]
    guard, _ = ruled(*(drafts_of(f"send_{each}", each) for each in safe))

    @guard.tool
    def function(to: str) -> Any:
        return "function", to

    class Mail:
        @guard.tool
        def method(self, to: str) -> Any:
            return self, to

        @guard.tool
        @classmethod
        def class_method(cls, to: str) -> Any:
            return cls, to

        @guard.tool
        @staticmethod
        def static_method(to: str) -> Any:
            return "static", to

        @guard.tool
        def send_method(self, to: str) -> Any:
            raise AssertionError

        send_class_method = guard.tool(name="send_class_method")(lambda self, to: 1 / 0)
        send_static_method = guard.tool(name="send_static_method")(lambda self, to: 1 / 0)
        send_function = guard.tool(name="send_function")(lambda self, to: 1 / 0)

    mail = Mail()
    with guard.session().active():
        assert mail.send_method("ann") == (mail, "ann")
        assert mail.send_class_method("ann") == (Mail, "ann")
        assert mail.send_static_method("ann") == ("static", "ann")
        assert mail.send_function("ann") == ("function", "ann")


def test_the_host_gives_the_substitute_what_it_gave_the_tool() -> None:
    """A parameter of the host, such as a client, is passed on if the substitute has it too."""
    guard, _ = ruled(drafts())
    client = Client()

    @guard.tool
    def send(client: Client, to: str) -> Any:
        raise AssertionError

    @guard.tool
    def draft(to: str, client: Client) -> Any:
        return client, to

    with guard.session().active():
        assert send(client, "ann") == (client, "ann")


def impossible(guard: Guard, why: str) -> Callable[[Any], Any]:
    """A tool `send` whose substitute cannot run."""

    @guard.tool
    def send(to: Any) -> Any:
        raise AssertionError

    class Mail:
        def draft(self, to: str) -> Any:
            raise AssertionError

    async def later(to: str) -> Any:
        raise AssertionError

    def other(subject: str) -> Any:
        raise AssertionError

    def strict(to: str, copy: str) -> Any:
        raise AssertionError

    substitutes: dict[str, Any] = {
        "of another class": Mail.draft,
        "is a coroutine": later,
        "subject": other,
        "copy": strict,
    }
    if why in substitutes:
        guard.tool(substitutes[why], name="draft")
    return send


@requirement("S-TOOL-12")
@pytest.mark.parametrize(
    "why", ["no tool `draft` is decorated", "of another class", "is a coroutine", "subject", "copy"]
)
def test_a_substitute_that_cannot_run_blocks(why: str) -> None:
    """Without a substitute that can take the call, nothing runs, and nothing was let through."""
    guard, records = ruled(drafts())
    send = impossible(guard, why)
    session = guard.session()
    with session.active(), pytest.raises(CallBlocked, match=f"instead, but it cannot: .*{why}"):
        send("ann")
    assert events(records) == ["blocked"]
    assert session.calls == 0


@pytest.mark.parametrize(
    "value", [Client(), [Client()], list(range(6_000)), float("nan")], ids=type
)
def test_arguments_that_cannot_be_read_cannot_be_redirected(value: Any) -> None:
    """A substitute would not receive what the tool would have: the call is blocked."""
    guard, records = ruled(drafts())
    send = guard.tool(lambda to: 1 / 0, name="send")
    guard.tool(lambda to: 1 / 0, name="draft")
    with guard.session().active(), pytest.raises(CallBlocked, match="cannot be read"):
        send(value)
    assert events(records) == ["blocked"]


# --- sessions -------------------------------------------------------------------------------------


@requirement("S-TOOL-15")
def test_a_tool_belongs_to_the_session_that_is_active() -> None:
    """Within `with session.active()` calls are that session's, also in nested blocks."""
    guard, records = ruled(rate_limit("pay", 1))
    pay = guard.tool(lambda: "paid", name="pay")
    first, second = guard.session("first"), guard.session("second")
    with first.active():
        pay()
        with second.active():
            pay()
        with pytest.raises(CallBlocked):
            pay()
    assert [each["session"] for each in records if each["event"] == "decision"] == [
        "first",
        "second",
        "first",
    ]


@requirement("S-TOOL-15")
def test_a_tool_may_have_a_session_of_its_own() -> None:
    """`session=` binds a tool to one session, whatever is active."""
    guard, records = ruled()
    mine = guard.session("mine")
    pay = guard.tool(lambda: "paid", name="pay", session=mine)
    pay()
    with guard.session("other").active():
        pay()
    assert {each["session"] for each in records} == {"mine"}


def no_session(guard: Guard) -> contextvars.Context:
    return contextvars.copy_context()


def finished(guard: Guard) -> contextvars.Context:
    session = guard.session()
    with session.active():
        session.finish()
        return contextvars.copy_context()


def anothers(guard: Guard) -> contextvars.Context:
    with ruled()[0].session().active():
        return contextvars.copy_context()


@requirement("S-TOOL-16")
@pytest.mark.parametrize("where", [no_session, finished, anothers])
def test_without_a_session_nothing_runs(where: Callable[[Guard], contextvars.Context]) -> None:
    """Where contracts are enforced, a call that no session decides is refused, with what to do."""
    guard, _ = ruled()
    runs: list[int] = []
    pay = guard.tool(lambda: runs.append(1), name="pay")
    with pytest.raises(SessionError, match=r"tool `pay` needs a session.*with session.active\(\)"):
        where(guard).run(pay)
    assert runs == []


@requirement("S-TOOL-16")
@pytest.mark.parametrize("where", [no_session, finished, anothers])
def test_without_a_session_the_agent_is_not_disturbed(
    where: Callable[[Guard], contextvars.Context],
) -> None:
    """Where contracts only observe, it runs, and a warning says that nobody has looked."""
    guard, records = ruled(mode="observe")
    pay = guard.tool(lambda: "paid", name="pay")
    context = where(guard)
    records.clear()
    with pytest.warns(UserWarning, match="tool `pay` is not observed") as caught:
        assert context.run(pay) == "paid"
    assert caught[0].filename == __file__
    assert records == []


@requirement("S-TOOL-15")
async def test_every_task_has_its_own_session() -> None:
    """Tasks and threads that asyncio starts inherit the session that was active, and no other."""
    guard, _ = ruled(rate_limit("pay", 1))
    pay = guard.tool(lambda: "paid", name="pay", blocked="return")

    async def conversation() -> list[bool]:
        with guard.session().active():
            each = [await asyncio.to_thread(pay), pay()]
            await asyncio.sleep(0)
            return [answer == "paid" for answer in each]

    answers = await asyncio.gather(*(conversation() for _ in range(10)))
    assert answers == [[True, False]] * 10


@requirement("S-TOOL-15")
def test_a_new_thread_has_no_session() -> None:
    """A thread of your own is given the context, or refused: nobody guesses whose it is."""
    guard, _ = ruled()
    pay = guard.tool(lambda: "paid", name="pay")
    results: list[Any] = []

    def work() -> None:
        try:
            results.append(pay())
        except SessionError as error:
            results.append(type(error))

    with guard.session().active():
        context = contextvars.copy_context()
        for target in (work, lambda: context.run(work)):
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
    assert results == [SessionError, "paid"]


def test_of_all_threads_a_limit_lets_five_run() -> None:
    """A cap of five lets exactly five bodies run, in however many threads."""
    guard, _ = ruled(rate_limit("pay", 5))
    runs: list[int] = []
    session = guard.session()
    pay = guard.tool(lambda: runs.append(1), name="pay", session=session, blocked="return")
    threads = [threading.Thread(target=lambda: [pay() for _ in range(50)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(runs) == session.calls == 5


# --- what becomes of a call -----------------------------------------------------------------------


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise OSError("no words")


RAISED = [ValueError("no"), KeyboardInterrupt(), SystemExit(1), StopIteration(5), Unspeakable()]


@requirement("S-TOOL-13")
@pytest.mark.parametrize("mode", ["enforce", "observe"])
@pytest.mark.parametrize("raised", RAISED, ids=repr)
def test_what_a_tool_raises_is_its_result(raised: BaseException, mode: Any) -> None:
    """The call has failed, and the very exception goes on to the caller."""
    guard, records = ruled(bounded_retry("pay", retries=1), mode=mode)

    def fail() -> None:
        raise raised

    pay = guard.tool(fail, name="pay")
    with guard.session().active():
        for _ in range(2):
            with pytest.raises(type(raised)) as error:
                pay()
            assert error.value is raised
        if mode == "enforce":
            with pytest.raises(CallBlocked):
                pay()
    assert events(records)[:4] == ["allowed", "error"] * 2


@requirement("S-TOOL-13")
async def test_an_async_tool_that_fails_or_is_cancelled_is_settled() -> None:
    """Failed, cancelled, or closed: an async call is in flight no longer."""
    guard, records = ruled()

    @guard.tool
    async def pay(how: str) -> None:
        if how == "fail":
            raise ValueError(how)
        await asyncio.sleep(SECONDS)

    with guard.session().active():
        with pytest.raises(ValueError, match="fail"):
            await pay("fail")
        task = asyncio.create_task(pay("cancel"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        closed = pay("close")
        closed.send(None)
        closed.close()
    assert events(records) == ["allowed", "error"] * 3


@requirement("S-TOOL-01")
def test_what_a_tool_returns_can_be_read() -> None:
    """Models and dataclasses that a tool returns are read as their data."""
    paid = Rule(read('G(called(ship) -> Y O output.items[].sku = "a")'))
    guard, _ = ruled(paid)
    order = Order(id=1, items=[Item(sku="a", price=Decimal(1))])
    check = guard.tool(lambda: order, name="check")
    ship = guard.tool(lambda: "shipped", name="ship")
    with guard.session().active():
        with pytest.raises(CallBlocked):
            ship()
        assert check() is order
        assert ship() == "shipped"


# --- hand-written loops ---------------------------------------------------------------------------


@requirement("S-TOOL-19")
def test_a_block_of_code_is_a_call() -> None:
    """`running` decides before the block, and settles it with its output or its exception."""
    guard, records = ruled("tool `check` must precede `pay`")
    session = guard.session()
    with pytest.raises(CallBlocked, match="first call `check`"), running_call(session, "pay"):
        raise AssertionError
    with pytest.raises(ValueError, match="no"), running_call(session, "check"):
        raise ValueError("no")
    with running_call(session, "check", {"id": 1}, id="c", agent="ann", depth=2) as call:
        assert (call.id, call.tool, call.args) == ("c", "check", {"id": 1})
        call.output = "fine"
    with running_call(session, "pay"):
        pass
    assert events(records) == ["blocked", "allowed", "error", "allowed", "ok", "allowed", "ok"]


@requirement("S-TOOL-19")
def test_a_block_of_code_sees_what_is_to_run() -> None:
    """A redirect shows in the tool and the arguments; what is held does not begin."""
    guard, _ = ruled(drafts(to="recipient"), held())
    session = guard.session()
    with running_call(session, "send", {"to": "ann"}) as call:
        assert (call.tool, call.args) == ("draft", {"recipient": "ann"})
    with pytest.raises(CallHeld) as error, running_call(session, "pay", {"amount": 900}, id="1"):
        raise AssertionError
    session.approve(error.value.ticket, by="ann")
    with running_call(session, "pay", {"amount": 900}, id="1"):
        pass
    assert session.calls == 2


@requirement("S-TOOL-20")
def test_an_answer_is_decided_before_it_is_shown() -> None:
    """`said` returns the text, or raises what stands against it."""
    guard, _ = ruled(
        no_keywords(["never"]),
        contract("ask").guarantees(no_keywords(["maybe"])).strategy("escalate"),
    )
    session = guard.session()
    assert said(session, "yes") == "yes"
    with pytest.raises(CallBlocked):
        said(session, "never")
    with pytest.raises(CallHeld) as error:
        said(session, "maybe")
    session.approve(error.value.ticket, by="ann")
    assert said(session, "maybe") == "maybe"


def test_warnings_are_not_needed_where_all_is_well() -> None:
    """A guarded call under an active session warns of nothing."""
    guard, _ = ruled(Rule(f.Always(~f.Happens("called", (f.Match(("drop",)),)))), mode="observe")
    pay = guard.tool(lambda: "paid", name="pay")
    with warnings.catch_warnings(), guard.session().active() as session:
        warnings.simplefilter("error")
        assert pay() == "paid"
        assert isinstance(session.decide("pay"), Allowed)
