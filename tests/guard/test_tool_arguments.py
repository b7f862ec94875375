"""Decorated tools: contracts read what the body receives, however it is typed, held or wrapped."""
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import collections
import contextlib
import dataclasses
import enum
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from decimal import Decimal
from typing import Annotated, Any, Unpack

import pytest
from pydantic import (
    AnyUrl,
    BaseModel,
    ConfigDict,
    Field,
    SecretBytes,
    SecretStr,
    ValidationError,
    field_serializer,
)
from typing_extensions import TypedDict

from sponsio_like import CallBlocked, ContractError, Guard, Ticket, contract
from sponsio_like.patterns import (
    amount_limit,
    arg_blacklist,
    idempotent,
    must_precede,
    rate_limit,
)
from sponsio_like.syntax import read
from sponsio_like.values.plain import as_data
from tests.guard.test_tools import Client, events, held, ruled
from tests.semantics.manifest import requirement


class Recipient:
    """Something that pydantic cannot make of data."""

    def __init__(self, name: str) -> None:
        self.name = name


@dataclasses.dataclass
class Connection:
    """A client that happens to be a dataclass."""

    url: str
    socket: Client


class Options(TypedDict, total=False):
    body: str
    size: int


def of_any(*patterns: str) -> Any:
    """No argument of any tool may say so; no argument is named."""
    return arg_blacklist("*", "*", list(patterns))


# --- parameters of the host -----------------------------------------------------------------------


def send_one(to: str | Recipient) -> Any:
    return to


def send_many(to: list[Recipient | str]) -> Any:
    return to


def send_map(to: dict[str, Recipient | str]) -> Any:
    return to


def send_rest(*to: Recipient) -> Any:
    return to


def send_options(**to: Recipient) -> Any:
    return to


WRITTEN: dict[str, tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = {
    "a text": (send_one, ("evil",), {}),
    "an enum": (send_one, (enum.Enum("E", {"A": "evil"}).A,), {}),  # type: ignore[attr-defined]
    "a list": (send_many, (["evil"],), {}),
    "a list with the host's": (send_many, ([Recipient("x"), "evil"],), {}),
    "a queue with the host's": (send_many, (collections.deque([Recipient("x"), "evil"]),), {}),
    "a map": (send_map, ({"a": "evil"},), {}),
    "a name in a map of the host's": (send_map, ({"evil": Recipient("x")},), {}),
    "one of many": (send_rest, (Recipient("x"), "evil"), {}),
    "an option": (send_options, (), {"a": Recipient("x"), "b": "evil"}),
}


@requirement("S-TOOL-06")
@pytest.mark.parametrize("what", WRITTEN)
def test_what_a_model_may_have_written_is_read_whatever_the_type(what: str) -> None:
    """A text that is given for a parameter of the host is an argument like any other."""
    function, args, kwargs = WRITTEN[what]
    guard, _ = ruled(of_any("evil"))
    send = guard.tool(function, name="send")
    with guard.session().active(), pytest.raises(CallBlocked):
        send(*args, **kwargs)


@requirement("S-TOOL-06")
@pytest.mark.parametrize(
    "client",
    [
        Client(),
        None,
        [Client()],
        {},
        Connection("evil", Client()),
        collections.ChainMap({"a": "evil"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_hosts_own_is_not_read(client: Any) -> None:
    """A client, a list of clients, or a mapping of the host's making disturbs no contract."""
    guard, records = ruled(of_any("evil"), held())

    @guard.tool(held="return")
    def pay(amount: int, client: Client | Connection | list[Client] | None) -> str:
        return "paid"

    session = guard.session()
    with session.active():
        ticket = pay(900, client)
        assert isinstance(ticket, Ticket)
        session.approve(ticket, by="ann")
        assert pay(900, client) == "paid"
    assert records[0]["args"] == {"amount": 900}


NAMED: dict[str, Any] = {
    "an atom over arguments": arg_blacklist("send", "to.name", ["evil"]),
    "a term": read('G(called(send) -> arg(to) = "ann")'),
    "a condition": read('G !called(send, to = "eve")'),
    "a sum": amount_limit("send", "to", 5),
    "a key": idempotent("send", by=["to"]),
    "any tool": arg_blacklist("*", "to", ["evil"]),
}


@requirement("S-TOOL-06")
@pytest.mark.parametrize("what", NAMED)
@pytest.mark.parametrize("annotation", [Recipient, str | Recipient, list[Recipient]], ids=str)
def test_a_contract_cannot_name_what_is_the_hosts(what: str, annotation: Any) -> None:
    """A contract that would never find its argument is told when the tool is decorated."""
    guard = Guard([contract("c").guarantees(NAMED[what])])

    def send(to: Any, text: str) -> None:
        pass

    send.__annotations__["to"] = annotation
    with pytest.raises(ContractError, match="contract `c` reads `to` of `send`, whose type is no"):
        guard.tool(send)


def test_a_contract_may_name_the_argument_of_another_tool() -> None:
    """Only contracts on this tool are asked which of its parameters they read."""
    guard, _ = ruled(
        arg_blacklist("other", "to", ["evil"]),
        read('G(called(send) -> O done(other, to = "ann"))'),
    )
    guard.tool(lambda to: to, name="other")

    @guard.tool
    def send(to: Recipient) -> None:
        pass


# --- annotations ----------------------------------------------------------------------------------


@requirement("S-TOOL-03")
def test_unpacked_options_have_types_of_their_own() -> None:
    """`**options: Unpack[..]` are coerced key by key, and read; so are unpacked positionals."""
    guard, records = ruled(arg_blacklist("send", "body", ["evil"]))
    received: list[Any] = []

    @guard.tool
    def send(**options: Unpack[Options]) -> None:
        received.append(options)

    def rest(*a: Unpack[tuple[int, ...]], **more: Any) -> None:  # noqa: UP044
        received.append(a)

    listed = guard.tool(rest)
    with guard.session().active():
        send(body="fine", size="5", note="x")
        listed("1", 2)
        with pytest.raises(CallBlocked):
            send(body="evil")
        with pytest.raises(ValidationError):
            send(body="fine", size="large")
    assert received == [{"body": "fine", "size": 5, "note": "x"}, (1, 2)]
    assert records[2]["args"] == {"a": [1, 2]}


class Connected(TypedDict):
    client: Client
    body: str


@requirement("S-TOOL-06")
def test_unpacked_options_may_be_the_hosts_too() -> None:
    """A client among unpacked options is passed on unread; a text beside it is read."""
    guard, records = ruled(arg_blacklist("send", "body", ["evil"]))
    client = Client()

    @guard.tool
    def send(**options: Unpack[Connected]) -> Any:
        return options["client"]

    with guard.session().active():
        assert send(client=client, body="fine") is client
        with pytest.raises(CallBlocked):
            send(client=client, body="evil")
    assert records[0]["args"] == {"body": "fine"}


def test_starred_positionals_are_unpacked_too() -> None:
    """`*values: *tuple[..]` is the same as `Unpack`."""
    guard, records = ruled(arg_blacklist("listed", "values", ["evil"]))

    @guard.tool
    def listed(*values: *tuple[int, str]) -> Any:
        return values

    with guard.session().active():
        assert listed("1", "x") == (1, "x")
        with pytest.raises(CallBlocked):
            listed(1, "evil")
    assert records[0]["args"] == {"values": [1, "x"]}


@requirement("S-TOOL-03")
@pytest.mark.parametrize("given", [["ok", "fine"], ("ok", "fine")], ids=type)
def test_what_would_be_coerced_while_it_is_read_is_coerced_at_once(given: Any) -> None:
    """An `Iterable` parameter can be read by contracts if what is given can be read again."""
    guard, records = ruled(arg_blacklist("send", "to", ["evil"]))
    received: list[Any] = []

    @guard.tool
    def send(to: Iterable[str]) -> None:
        received.append(list(to))

    with guard.session().active():
        send(given)
        with pytest.raises(CallBlocked):
            send(["evil"])
        with pytest.raises(ValidationError):
            send([5])
        with pytest.raises(CallBlocked):  # it could not be read, and is left for the body
            send(itertools.repeat("ok"))
    assert received == [["ok", "fine"]]
    assert records[0]["args"] == {"to": ["ok", "fine"]}


@requirement("S-TOOL-17")
@pytest.mark.parametrize("wrong", ["int |", "5 | str", "enum.Nothing", "Nowhere"])
def test_annotations_that_cannot_be_told_are_refused(wrong: str) -> None:
    """An annotation that raises is a mistake in the tool, told when it is decorated."""
    guard, _ = ruled()

    def send(to: Any) -> None:
        pass

    send.__annotations__["to"] = wrong
    with pytest.raises(ContractError, match="`send` has an annotation that is not known"):
        guard.tool(send)


# --- what is read of a value ----------------------------------------------------------------------


class Key(str, enum.Enum):  # noqa: UP042
    MODE = "mode"


class Shouting(str):  # noqa: SLOT000
    def __str__(self) -> str:
        return self.upper()


class Pairs(BaseModel):
    """A model that is gone through in its own way, as pydantic's pages show."""

    items: list[tuple[str, str]]

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        return iter(self.items)


class Hiding(BaseModel):
    """A model whose serializer says something else."""

    body: str
    note: str = Field("x", exclude=True)

    @field_serializer("body")
    def _hide(self, value: str) -> str:
        return "***"


class Aliased(BaseModel):
    body: str = Field(alias="Body")


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    body: str

    @functools.cached_property
    def size(self) -> int:
        return len(self.body)


def opened() -> Open:
    """With one more field, and a property that was read."""
    model = Open(body="a", more="b")  # type: ignore[call-arg]
    assert model.size == 1
    return model


SAID: dict[str, tuple[Any, Any]] = {
    "a secret": (SecretStr("rm -rf"), "rm -rf"),
    "a secret of bytes": (SecretBytes(b"rm -rf"), "rm -rf"),
    "a key that is an enum": ({Key.MODE: 1}, {"mode": 1}),
    "a key of the host's own": ({Shouting("mode"): 1}, {"mode": 1}),
    "a key of bytes": ({b"mode": 1}, {"mode": 1}),
    "a model that is gone through": (Pairs(items=[("a", "b")]), {"items": [["a", "b"]]}),
    "models in a queue": (
        collections.deque([Hiding(body="evil", note="y")]),
        [{"body": "evil", "note": "y"}],
    ),
    "an alias": (Aliased(Body="hi"), {"body": "hi"}),
    "more than its fields": (opened(), {"body": "a", "more": "b"}),
    "a view": ({1: "a"}.values(), ["a"]),
    "a buffer": (memoryview(b"ab"), "ab"),
    "an address": (AnyUrl("http://a.example/b"), "http://a.example/b"),
    "a range": (range(3), [0, 1, 2]),
}


@requirement("S-TOOL-23")
@pytest.mark.parametrize("what", SAID)
def test_contracts_read_what_the_tool_receives(what: str) -> None:
    """No mask, no name of an enum, no serializer and no alias stands between them."""
    value, data = SAID[what]
    guard, records = ruled()
    take = guard.tool(lambda value: None, name="take")
    with guard.session().active():
        take(value)
    assert records[0]["args"] == {"value": data}
    assert as_data(value) == data


@requirement("S-TOOL-23")
def test_two_members_of_one_name_cannot_be_told() -> None:
    """`{1: .., "1": ..}` is one name for a contract, and either value would be the wrong one."""
    guard, _ = ruled(arg_blacklist("conf", "settings", ["danger"]))
    conf = guard.tool(lambda settings: settings, name="conf")
    with guard.session().active():
        conf({1: "fine", "2": "fine"})
        for settings in ({1: "danger", "1": "fine"}, {"1": "fine", 1: "fine"}):
            with pytest.raises(CallBlocked):
                conf(settings)


@requirement("S-TOOL-01")
def test_what_a_tool_returns_is_not_used_up() -> None:
    """The caller receives what the body returned, with what can be gone through once left in it."""
    guard, _ = ruled()
    make = guard.tool(lambda: collections.deque([(n for n in range(3))]), name="make")
    with guard.session().active():
        assert list(make()[0]) == [0, 1, 2]


@requirement("S-TOOL-05")
def test_a_name_given_twice_disturbs_nobody_where_only_observed() -> None:
    """What is legal Python runs; contracts that only observe cannot tell the argument."""
    guard, records = ruled(arg_blacklist("f", "a", ["evil"]), mode="observe")

    @guard.tool
    def f(a: Any, /, **more: Any) -> Any:
        return a, more

    with guard.session().active():
        assert f("fine", a="fine") == ("fine", {"a": "fine"})
    assert records[0]["violations"]


# --- whose a parameter is -------------------------------------------------------------------------


def test_a_static_method_may_call_its_argument_as_it_likes() -> None:
    """`cls` and `self` of a static method are arguments, on whichever side it is decorated."""
    guard, _ = ruled(of_any("evil"))

    class Mail:
        @guard.tool
        @staticmethod
        def outside(cls: str) -> str:  # noqa: PLW0211
            return cls

        @staticmethod
        @guard.tool
        def inside(self: str) -> str:  # noqa: PLW0211
            return self

        @guard.tool
        @classmethod
        def made(klass, to: str) -> Any:  # noqa: N804
            return klass, to

    with guard.session().active():
        assert (Mail.outside("fine"), Mail.inside("fine")) == ("fine", "fine")
        assert Mail.made("fine") == (Mail, "fine")
        for tool in (Mail.outside, Mail.inside, Mail.made):
            with pytest.raises(CallBlocked):
                tool("evil")


# --- bodies that run later ------------------------------------------------------------------------


class Check:
    """An object that generates when it is called."""

    def __call__(self, x: int = 0) -> Iterator[int]:
        yield x


class CheckLater:
    async def __call__(self) -> Any:
        yield 1


def generates() -> Iterator[int]:
    yield 1


@functools.wraps(generates)
def wraps() -> Iterator[int]:
    return generates()


@functools.wraps(generates)
def collects() -> list[int]:
    return list(generates())


@requirement("S-TOOL-17")
@pytest.mark.parametrize(
    "function",
    [
        Check(),
        CheckLater(),
        functools.partial(generates),
        contextlib.contextmanager(generates),
        contextlib.asynccontextmanager(CheckLater.__call__),
    ],
    ids=["object", "async object", "partial", "context manager", "async context manager"],
)
def test_generators_are_refused_wherever_they_hide(function: Any) -> None:
    """An object, a partial or a context manager that generates has a body that would run late."""
    guard, _ = ruled()
    with pytest.raises(ContractError, match="`check` is a generator"):
        guard.tool(function, name="check")


def test_a_function_in_a_context_manager_is_a_tool() -> None:
    """The library of context managers has made it, too, but its body runs when it is called."""
    guard, _ = ruled(rate_limit("pay", 1))
    pay = guard.tool(contextlib.contextmanager(generates)()(lambda: "paid"), name="pay")
    with guard.session().active():
        assert pay() == "paid"
        with pytest.raises(CallBlocked):
            pay()


def later(steps: Callable[[bool], Any], fail: bool) -> Any:
    """A plain function that returns a generator."""
    return steps(fail)


@requirement("S-TOOL-14")
def test_a_generator_that_is_returned_is_in_flight_until_it_has_run() -> None:
    """Nothing has been done until the body has run to its end; what it raises has failed."""
    guard, records = ruled(must_precede("check", "pay"))

    def steps(fail: bool) -> Iterator[int]:
        yield 1
        if fail:
            raise ValueError("no")

    check = guard.tool(functools.partial(later, steps), name="check")
    pay = guard.tool(lambda: "paid", name="pay", blocked="return")
    with guard.session().active():
        left, failing, passing = check(False), check(True), check(False)
        assert pay() != "paid"
        with pytest.raises(ValueError, match="no"):
            list(failing)
        assert pay() != "paid"
        assert list(passing) == [1]
        assert pay() == "paid"
        left.close()
    assert events(records)[3:] == ["blocked", "error", "blocked", "ok", "allowed", "ok"]


@requirement("S-TOOL-14")
def test_a_wrapper_of_a_generator_is_known_by_what_it_returns() -> None:
    """One that runs it has done its work; one that leaves it to its caller has not."""
    guard, records = ruled()
    wrapping, collecting = guard.tool(wraps, name="a"), guard.tool(collects, name="b")
    with guard.session().active():
        left = wrapping()
        assert collecting() == [1]
        assert events(records) == ["allowed", "allowed", "ok"]
        assert list(left) == [1]
    assert events(records)[3:] == ["ok"]


@requirement("S-TOOL-14")
async def test_an_async_generator_that_is_returned_is_in_flight_until_it_has_run() -> None:
    """The same where the body is gone through in an event loop."""
    guard, records = ruled(must_precede("check", "pay"))

    async def steps(fail: bool) -> Any:
        yield 1
        if fail:
            raise ValueError("no")

    check = guard.tool(functools.partial(later, steps), name="check")
    pay = guard.tool(lambda: "paid", name="pay", blocked="return")
    with guard.session().active():
        failing, passing = check(True), check(False)
        assert pay() != "paid"
        with pytest.raises(ValueError, match="no"):
            [each async for each in failing]
        assert [each async for each in passing] == [1]
        assert pay() == "paid"
    assert events(records)[2:] == ["blocked", "error", "ok", "allowed", "ok"]


@requirement("S-TOOL-14")
def test_work_that_is_given_to_an_executor_is_in_flight_until_it_is_done() -> None:
    """Submitting it does nothing yet; what it raises, or that it is cancelled, has failed."""
    guard, records = ruled(must_precede("check", "pay"))
    pay = guard.tool(lambda: "paid", name="pay", blocked="return")
    waiting, failing, cancelled = jobs = [Future[str]() for _ in range(3)]
    left = iter(jobs)
    check = guard.tool(lambda: next(left), name="check")
    with guard.session().active():
        assert [check(), check(), check()] == jobs
        assert pay() != "paid"
        failing.set_exception(ValueError("no"))
        assert cancelled.cancel()
        assert pay() != "paid"
        waiting.set_result("fine")
        assert pay() == "paid"
    said = ["allowed"] * 3 + ["blocked", "error", "error", "blocked", "ok", "allowed", "ok"]
    assert events(records) == said


def test_an_answer_that_comes_by_an_executor_is_read() -> None:
    """Conditions ask what the future has, and not the future."""
    guard, _ = ruled(read("G(called(pay) -> O (done(check) & output.fine = true))"))
    pay = guard.tool(lambda: "paid", name="pay", blocked="return")
    with ThreadPoolExecutor(1) as pool, guard.session().active():
        check = guard.tool(lambda fine: pool.submit(dict, fine=fine), name="check")
        check(False).result()
        assert pay() != "paid"
        check(True).result()
        pool.submit(str).result()  # the callbacks of the one before have run
        assert pay() == "paid"


def test_numbers_keep_their_kind() -> None:
    """Exact numbers are read as they are, constrained or not."""
    guard, records = ruled(rate_limit("other", 1))

    @guard.tool
    def pay(amount: Annotated[Decimal, Field(ge=0)]) -> None:
        pass

    with guard.session().active():
        pay("0.10")
    assert records[0]["args"] == {"amount": Decimal("0.10")}
