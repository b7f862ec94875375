"""Decorated tools: a substitute runs on what was decided, and never for somebody else."""
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import functools
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


def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator like any other."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def closures(customer: str) -> Any:
    """Two functions that share what they close over."""

    def send(text: str) -> Any:
        raise AssertionError(customer)

    def draft(text: str, mode: str = "x") -> Any:
        return "drafted", customer

    return send, draft


def decorated(customer: str) -> Any:
    """Closures under another decorator."""
    return tuple(logged(each) for each in closures(customer))


def methods(customer: str) -> Any:
    mail = Mail(customer)
    return mail.send, mail.draft


def draft_for(customer: str, text: str) -> Any:
    return "drafted", customer


def send_for(customer: str, text: str) -> Any:
    raise AssertionError


def partials(customer: str) -> Any:
    return tuple(functools.partial(each, customer) for each in (send_for, draft_for))


MAKERS = [closures, decorated, methods, partials]
NAMES = ("send", "draft")


@requirement("S-TOOL-21")
@pytest.mark.parametrize("make", MAKERS)
def test_a_redirect_stays_with_its_customer(make: Callable[[str], Any]) -> None:
    """Of several tools of one name, the substitute is the one that was wrapped together with it."""
    guard, _ = ruled(drafts())
    tools = {
        customer: guard.wrap(dict(zip(NAMES, make(customer), strict=True)))
        for customer in ("ann", "bob", "cid")
    }
    with guard.session().active():
        for customer, each in tools.items():
            assert each["send"]("hi") == ("drafted", customer)


@requirement("S-TOOL-21")
@pytest.mark.parametrize("make", MAKERS)
def test_without_its_own_substitute_a_redirect_blocks(make: Callable[[str], Any]) -> None:
    """Of several that were decorated one by one, none is guessed; the advice says what to do."""
    guard, _ = ruled(drafts())
    sends = []
    for customer in ("ann", "bob"):
        send, draft = make(customer)
        sends.append(guard.tool(send, name="send"))
        guard.tool(draft, name="draft")
    sends += guard.wrap([Mail("cid").send]) if make is methods else []
    with guard.session().active():
        for send in sends:
            with pytest.raises(CallBlocked, match=r"several functions .* `draft`.*guard\.wrap\("):
                send("hi")


@requirement("S-TOOL-21")
def test_the_draft_of_one_customer_is_not_that_of_all() -> None:
    """It is the only one of its name, but `send` is several: whose draft it is, nobody knows."""
    guard, _ = ruled(drafts())
    send, draft = closures("ann")
    mine = guard.tool(send, name="send"), guard.tool(draft, name="draft")
    other = guard.tool(closures("bob")[0], name="send")
    with guard.session().active():
        for each in (other, mine[0]):
            with pytest.raises(CallBlocked, match=r"several functions .* `send`.*guard\.wrap\("):
                each("hi")


class Draft:
    """A callable object, of one customer."""

    def __call__(self, text: str) -> Any:
        return "drafted", self


class Special(Mail):
    """The mail of a customer, with a little more."""


@requirement("S-TOOL-21")
@pytest.mark.parametrize(
    "tools",
    [
        lambda guard, ann, bob: (guard.tool(ann.send), guard.tool(bob.draft)),
        lambda guard, ann, bob: guard.wrap([ann.send, bob.draft]),
        lambda guard, ann, bob: guard.wrap([ann.send, Special("bob").draft]),
        lambda guard, ann, bob: guard.wrap([Special("ann").send, bob.draft]),
        lambda guard, ann, bob: guard.wrap([logged(ann.send), logged(bob.draft)]),
        lambda guard, ann, bob: guard.wrap(
            {"send": functools.partial(ann.send), "draft": functools.partial(bob.draft)}
        ).values(),
        lambda guard, ann, bob: guard.wrap({"send": Draft(), "draft": Draft()}).values(),
        lambda guard, ann, bob: (
            functools.partial(guard.tool(Mail.send), ann),
            guard.tool(bob.draft),
        ),
    ],
)
def test_a_method_is_no_substitute_for_that_of_another_object(tools: Any) -> None:
    """Even where only one of them is known, or both were wrapped together."""
    guard, _ = ruled(drafts())
    send, _ = tools(guard, Mail("ann"), Mail("bob"))
    with guard.session().active(), pytest.raises(CallBlocked, match="a method of another object"):
        send("hi")


@requirement("S-TOOL-21")
def test_two_objects_of_one_class_never_draft_for_each_other() -> None:
    """Whether their tools are wrapped together, or decorated one by one after that."""
    guard, _ = ruled(drafts())
    mails = [Mail("ann"), Mail("bob")]
    together = [guard.wrap([mail.send, mail.draft])[0] for mail in mails]
    alone = [(guard.tool(mail.send), guard.tool(mail.draft))[0] for mail in mails]
    with guard.session().active():
        assert [send("hi") for send in together] == [("drafted", "ann"), ("drafted", "bob")]
        for send in alone:
            with pytest.raises(CallBlocked, match="several functions"):
                send("hi")


@requirement("S-TOOL-21")
@pytest.mark.parametrize("draft", [Mail("ann").draft, functools.partial(draft_for, "ann")])
def test_one_function_that_is_decorated_twice_is_one(draft: Callable[..., Any]) -> None:
    """As for each session; a method of one object is one function, too."""
    guard, _ = ruled(drafts())
    for _ in range(2):
        guard.tool(draft, name="draft")
    send = guard.tool(lambda text: 1 / 0, name="send")
    with guard.session().active():
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
