"""Decorated tools: a substitute runs on what was decided, and never for somebody else."""
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import functools
import gc
import json
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field, SecretStr

from sponsio_like import CallBlocked, ContractError, Guard
from sponsio_like.patterns import arg_blacklist, arg_value_range, idempotent, redirect_to_safe
from tests.guard.test_tools import Client, drafts, events, held, ruled
from tests.semantics.manifest import requirement

# --- what is decided on ---------------------------------------------------------------------------


@requirement("S-TOOL-11")
@pytest.mark.parametrize("to", ["EVIL", "fine"])
def test_a_substitute_is_decided_on_what_it_receives(to: str) -> None:
    """Coercion, validators and defaults come first: no contract on the substitute is passed by."""
    guard, records = ruled(
        drafts(),
        arg_blacklist("draft", "to", ["evil"]),
        arg_blacklist("draft", "mode", ["publish"]),
    )
    runs: list[Any] = []

    @guard.tool
    def send(to: str, mode: str) -> Any:
        raise AssertionError

    @guard.tool
    def draft(to: Annotated[str, AfterValidator(str.lower)], mode: str = "save") -> None:
        runs.append((to, mode))

    with guard.session().active():
        for mode in ("save", "publish"):
            if (to, mode) == ("fine", "save"):
                send(to, mode)
            else:
                with pytest.raises(CallBlocked, match="no calls make it legal with these argumen"):
                    send(to, mode)
    assert runs == ([("fine", "save")] if to == "fine" else [])
    assert events(records) == (["redirected", "ok"] if to == "fine" else ["blocked"]) + ["blocked"]


def test_defaults_of_a_substitute_are_decided_on() -> None:
    """What only the substitute has is read too."""
    guard, _ = ruled(drafts(), arg_blacklist("draft", "mode", ["publish"]))
    guard.tool(lambda to: 1 / 0, name="send")
    guard.tool(lambda to, mode="publish all": 1 / 0, name="draft")
    with guard.session().active(), pytest.raises(CallBlocked):
        guard.tool(lambda to: 1 / 0, name="send")("ann")


@requirement("S-TOOL-11")
def test_equal_calls_of_a_substitute_are_equal() -> None:
    """`"5"`, `" 5"` and 5 are one request for a substitute that takes a number."""
    guard, _ = ruled(
        redirect_to_safe("pay", "request"),
        idempotent("request", by=["n"]),
        arg_value_range("request", "n", max=5),
    )
    runs: list[int] = []
    pay = guard.tool(lambda n: 1 / 0, name="pay", blocked="return")

    @guard.tool
    def request(n: int) -> None:
        runs.append(n)

    with guard.session().active():
        for n in ("5", " 5", "05", 5, "6"):
            pay(n)
    assert runs == [5]


class Letter(BaseModel):
    body: str = Field(alias="Body")


class Note(BaseModel):
    body: str


@requirement("S-TOOL-11")
def test_a_substitute_receives_what_the_tool_would_have() -> None:
    """Models, secrets and clients are passed on; where they do not fit, their data may."""
    guard, records = ruled(drafts())
    client, received = Client(), list[Any]()

    @guard.tool
    def send(letter: Letter, key: SecretStr, client: Client) -> Any:
        raise AssertionError

    @guard.tool(name="draft")
    def same(letter: Letter, key: SecretStr, client: Client) -> None:
        received.append((letter, key.get_secret_value(), client))

    with guard.session().active():
        send({"Body": "hi"}, "hunter2", client)

    other, _ = ruled(drafts())
    unsafe = other.tool(send.__wrapped__)

    @other.tool(name="draft")
    def like(letter: Note, key: str, client: Client) -> None:
        received.append((letter, key, client))

    with other.session().active():
        unsafe({"Body": "hi"}, "hunter2", client)
    assert received == [
        (Letter(Body="hi"), "hunter2", client),
        (Note(body="hi"), "hunter2", client),
    ]
    assert records[0]["args"] == {"letter": {"body": "hi"}, "key": "hunter2"}


def test_a_held_call_is_redirected_when_it_has_been_approved() -> None:
    """A call that waits binds its substitute when it is decided again, on what it is then."""
    guard, _ = ruled(held(), redirect_to_safe("pay", "note"))
    noted: list[Any] = []
    to = {"name": "ann"}

    @guard.tool(held="return")
    def pay(amount: int, to: Any) -> Any:
        raise AssertionError

    @guard.tool
    def note(amount: float, to: Any) -> None:
        noted.append((amount, dict(to)))

    session = guard.session()
    with session.active():
        pay("5", to)
        session.approve(pay("900", to), by="ann")
        pay("900", to)
    assert noted == [(5.0, to), (900.0, to)]


def test_a_substitute_in_flight_is_in_the_snapshot() -> None:
    """What cannot be read of a substitute hinders no snapshot."""
    guard, _ = ruled(drafts())
    kept: list[Any] = []
    send = guard.tool(lambda to: 1 / 0, name="send")
    client = Client()

    @guard.tool
    def draft(to: str, client: Any = client) -> None:
        kept.append(session.snapshot())

    session = guard.session()
    with session.active():
        send("ann")
    assert guard.restore(json.loads(json.dumps(kept[0]))).calls == 1


# --- whose it is ----------------------------------------------------------------------------------


class Mail:
    """Two tools of one customer."""

    def __init__(self, customer: str) -> None:
        self.customer = customer

    def send(self, text: str) -> Any:
        raise AssertionError

    def draft(self, text: str) -> Any:
        return "drafted", self.customer


def closures(guard: Guard, customer: str) -> Any:
    """Two functions that share what they close over."""

    @guard.tool
    def send(text: str) -> Any:
        raise AssertionError(customer)

    @guard.tool
    def draft(text: str, mode: str = "x") -> Any:
        return "drafted", customer

    return send, draft


def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator like any other."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def decorated(guard: Guard, customer: str) -> Any:
    """Closures under another decorator."""

    @guard.tool
    @logged
    def send(text: str) -> Any:
        raise AssertionError(customer)

    @guard.tool
    @logged
    def draft(text: str) -> Any:
        return "drafted", customer

    return send, draft


def methods(guard: Guard, customer: str) -> Any:
    mail = Mail(customer)
    return guard.tool(mail.send), guard.tool(mail.draft)


def wrapped(guard: Guard, customer: str) -> Any:
    return guard.wrap([Mail(customer).send, Mail(customer).draft])


def draft_for(customer: str, text: str) -> Any:
    return "drafted", customer


def send_for(customer: str, text: str) -> Any:
    raise AssertionError


def partials(guard: Guard, customer: str) -> Any:
    bound = {each: functools.partial(each, customer) for each in (send_for, draft_for)}
    tools = guard.wrap({"send": bound[send_for], "draft": bound[draft_for]})
    return tuple(tools.values())


MAKERS = [closures, decorated, methods, wrapped, partials]


@requirement("S-TOOL-21")
@pytest.mark.parametrize("make", MAKERS)
def test_a_redirect_stays_with_its_customer(make: Callable[[Guard, str], Any]) -> None:
    """Of several tools of one name, the substitute is the one that was made with the same."""
    guard, _ = ruled(drafts())
    tools = {customer: make(guard, customer) for customer in ("ann", "bob", "cid")}
    with guard.session().active():
        for customer, (send, _) in tools.items():
            assert send("hi") == ("drafted", customer)


@requirement("S-TOOL-21")
@pytest.mark.parametrize("make", MAKERS)
def test_without_its_own_substitute_a_redirect_blocks(make: Callable[[Guard, str], Any]) -> None:
    """Nothing of another customer runs in its place, even if its own is gone."""
    guard, _ = ruled(drafts())
    send, draft = make(guard, "ann")
    make(guard, "bob")
    del draft
    if make is wrapped:
        send = guard.wrap([Mail("ann").send])[0]
    gc.collect()
    with guard.session().active(), pytest.raises(CallBlocked, match="no tool `draft` is known to"):
        send("hi")


@requirement("S-TOOL-21")
def test_a_method_is_no_substitute_for_that_of_another_object() -> None:
    """Even where only one of them is known."""
    guard, _ = ruled(drafts())
    guard.tool(Mail("bob").draft)
    with guard.session().active(), pytest.raises(CallBlocked, match="known to belong"):
        guard.tool(Mail("ann").send)("hi")


def test_tools_without_anything_of_their_own_are_interchangeable() -> None:
    """What is defined again, with nothing or the same in it, stays a substitute for all."""
    guard, _ = ruled(drafts())
    client, mail = Client(), Mail("ann")

    def tools() -> Any:
        @guard.tool
        def send(text: str) -> Any:
            return client

        @guard.tool
        @logged
        def draft(text: str, note: str = "x", count: int = 5) -> Any:
            return client

        return send

    sends = [tools() for _ in range(3)]
    with guard.session().active():
        assert [send("hi") for send in sends] == [client] * 3

    other, _ = ruled(drafts())
    other.tool(mail.draft)
    send = other.tool(lambda text: 1 / 0, name="send")
    with other.session().active():
        assert send("hi") == ("drafted", "ann")


class Asks:
    def __call__(self) -> None:
        pass


class Answers(Asks):
    pass


@requirement("S-TOOL-17")
@pytest.mark.parametrize(
    "twice",
    [
        lambda guard: guard.wrap([Mail("ann").send, Mail("bob").send]),
        lambda guard: [guard.tool(each(), name="x") for each in (Asks, Answers)],
        lambda guard: [
            guard.tool(functools.partial(each, "ann"), name="x") for each in (send_for, draft_for)
        ],
    ],
)
def test_names_that_are_taken_are_refused(twice: Callable[[Guard], Any]) -> None:
    """Objects of different classes, partials of different functions, two of one name at once."""
    guard, _ = ruled()
    with pytest.raises(ContractError, match="two tools are named"):
        twice(guard)


# --- overridden methods ---------------------------------------------------------------------------


@requirement("S-TOOL-11")
def test_the_substitute_is_that_of_the_objects_class() -> None:
    """A method that a class further down has overridden runs as the object has it."""
    guard, _ = ruled(drafts())

    class Base:
        @guard.tool
        def send(self, text: str) -> Any:
            raise AssertionError

        @guard.tool
        def draft(self, text: str) -> Any:
            return "base", text

    class Sub(Base):
        def draft(self, text: int) -> Any:
            return self, text

    class Static(Base):
        @staticmethod
        def draft(text: str) -> Any:
            return "static", text

    class Made(Base):
        @classmethod
        def draft(cls, text: str) -> Any:
            return cls, text

    class Value(Base):
        draft = 5

    class Same(Base):
        draft = logged(Base.draft)

    sub = Sub()
    with guard.session().active():
        assert Base().send("5") == ("base", "5")
        assert sub.send("5") == (sub, 5)
        assert Static().send("5") == ("static", "5")
        assert Made().send("5") == (Made, "5")
        assert Same().send("5") == ("base", "5")
        with pytest.raises(CallBlocked, match="`draft` of `Value` is no method"):
            Value().send("5")
