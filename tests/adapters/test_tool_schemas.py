"""What contracts read is what the body receives, whatever describes the arguments of a tool."""

from __future__ import annotations

import itertools
from datetime import date, timedelta
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from langchain_core.callbacks import CallbackManagerForToolRun
from langchain_core.tools import BaseTool, StructuredTool, tool
from langgraph.types import Command
from pydantic import BaseModel, Field, SecretStr, field_validator

from sponsio_like.adapters.langgraph import approve
from sponsio_like.contracts.definition import contract
from sponsio_like.patterns import arg_blacklist, arg_value_range
from tests.adapters.rules import few, small, spending, told
from tests.adapters.talks import Came, Way, ask, everywhere, older

RAN: list[tuple[str, Any]] = []
"""The bodies that ran, with what they received."""


class Payment(BaseModel):
    """Who gets how much."""

    amount: int = Field(ge=0)
    to: str = "ann"
    note: str | None = None

    @field_validator("to")
    @classmethod
    def _plain(cls, value: str) -> str:
        """Names are written small."""
        if not value.strip():
            raise ValueError("say who")
        return value.strip().lower()


class Pay(BaseTool):
    """A class of the host's own, with a body of its own."""

    name: str = "pay"
    description: str = "Pay somebody."
    args_schema: Any = Payment
    bank: str = "Rye"

    def _run(
        self,
        amount: int,
        to: str,
        note: str | None,
        run_manager: CallbackManagerForToolRun | None = None,
    ) -> str:
        RAN.append(("pay", {"amount": amount, "to": to, "note": note}))
        return f"{self.bank} paid {amount} to {to}"


class Wire(StructuredTool):
    """A tool of a class that somebody else has made."""


def _wire(amount: int, to: str = "ann") -> str:
    RAN.append(("wire", {"amount": amount, "to": to}))
    return f"wired {amount} to {to}"


class Line(BaseModel):
    """A part of an order."""

    item: str
    count: int = 1


class Size(Enum):
    """How large it is."""

    S = "small"
    L = "large"


@tool
def order(lines: list[Line], day: date, size: Size = Size.S) -> str:
    """Order things."""
    RAN.append(("order", (lines, day, size)))
    return f"{sum(each.count for each in lines)} things, {size.value}, on {day}"


@tool
def login(user: str, password: SecretStr) -> str:
    """Log in."""
    RAN.append(("login", (user, password.get_secret_value())))
    return f"{user} is in"


JSON = {
    "type": "object",
    "title": "book",
    "description": "Book a room.",
    "properties": {"room": {"type": "integer"}, "nights": {"type": "integer"}},
    "required": ["room"],
}


def _book(**args: Any) -> str:
    RAN.append(("book", args))
    return f"booked {args}"


book = StructuredTool(name="book", description="Book a room.", args_schema=JSON, func=_book)
wire = Wire.from_function(_wire, name="wire", description="Wire an amount.")


def args_of(talk: Any) -> list[dict[str, Any]]:
    """What contracts have read, by the log."""
    return [each["args"] for each in talk.records if each["event"] == "decision"]


@everywhere
def test_a_class_of_the_host_is_kept(way: Way) -> None:
    """`isinstance` holds where the tool runs, and its own fields are there."""
    mine = Pay(bank="Oak")
    talk = way.open([mine], spending(100))
    came = talk.say(ask("pay", amount="60", to=" Bob "), ask("pay", "b", amount=60))
    assert came.result("a") == "Oak paid 60 to bob"
    came.refused("b")
    assert RAN == [("pay", {"amount": 60, "to": "bob", "note": None})]


@everywhere
def test_a_subclass_of_a_structured_tool_is_kept(way: Way) -> None:
    """It runs as it is, and what contracts read has the default of the body."""
    talk = way.open([wire], few("wire", 1))
    assert talk.say(ask("wire", amount=5)).result("a") == "wired 5 to ann"
    assert args_of(talk) == [{"amount": 5, "to": "ann"}]
    assert isinstance(wire, Wire)


@everywhere
def test_contracts_read_what_the_validators_have_made(way: Way) -> None:
    """Defaults, coerced and changed values: all as the body receives them."""
    talk = way.open([Pay()], few("pay", 1))
    talk.say(ask("pay", amount="60", to=" Bob "))
    assert args_of(talk) == [{"amount": 60, "to": "bob", "note": None}]
    assert [("pay", args_of(talk)[0])] == RAN


class Aliased(BaseModel):
    """An amount that the model calls by another name than the body."""

    amount: int = Field(alias="sum")


@tool(args_schema=Aliased)
def give(amount: int) -> str:
    """Give an amount."""
    RAN.append(("give", {"amount": amount}))
    return f"gave {amount}"


@everywhere
@pytest.mark.skipif(
    older("langchain-core", 1, 3), reason="this version calls the body without the argument"
)
def test_contracts_read_the_name_that_the_body_has(way: Way) -> None:
    """An alias is for the model: contracts read the field."""
    talk = way.open([give], contract("c").guarantees(arg_value_range("give", "amount", max=9)))
    came = talk.say(ask("give", sum=5), ask("give", "b", sum=50))
    assert came.result("a") == "gave 5"
    came.refused("b")
    assert (args_of(talk)[0], RAN) == ({"amount": 5}, [("give", {"amount": 5})])


@everywhere
@pytest.mark.parametrize(
    "args",
    [{"amount": -1}, {"amount": 1, "to": " "}, {}, {"amount": 1, "to": ["ann"]}, {"sum": 5}],
    ids=["too small", "not plain", "nothing", "no text", "another name"],
)
def test_what_a_validator_refuses_never_runs(way: Way, args: dict[str, Any]) -> None:
    """The model hears what is wrong, and no limit is used up."""
    talk = way.open([Pay()], few("pay", 1))
    came = talk.say(ask("pay", **args), ask("pay", "b", amount=5))
    assert "pay" in came.refused("a")
    assert (came.result("b"), len(RAN)) == ("Rye paid 5 to ann", 1)


@everywhere
def test_contracts_read_models_and_dates_as_data(way: Way) -> None:
    """What the body receives as objects, contracts read as JSON would have it."""
    most, fine = (
        arg_value_range("order", "lines[].count", max=3),
        ("order", "lines[].item", ["gun"]),
    )
    talk = way.open([order], contract("fine").guarantees(most, arg_blacklist(*fine)))
    good = [{"item": "pen", "count": "3"}, {"item": "ink"}]
    came = talk.say(
        ask("order", lines=good, day="2026-01-02", size="large"),
        ask("order", "b", lines=[*good, {"item": "gun"}], day="2026-01-02"),
        ask("order", "c", lines=[{"item": "pen", "count": 4}], day="2026-01-02"),
    )
    assert came.result("a") == "4 things, large, on 2026-01-02"
    came.refused("b")
    came.refused("c")
    lines = [{"item": "pen", "count": 3}, {"item": "ink", "count": 1}]
    assert args_of(talk)[0] == {"lines": lines, "day": "2026-01-02", "size": "large"}
    assert [("order", ([Line(item="pen", count=3), Line(item="ink")], DAY, Size.L))] == RAN


DAY = date(2026, 1, 2)


@everywhere
def test_contracts_read_secrets(way: Way) -> None:
    """A secret is decided on as what it is."""
    talk = way.open([login], told('G(called(login) -> called(login, password != "1234"))'))
    first, second = ({"user": "ann", "password": each} for each in ("1234", "abc"))
    came = talk.say(ask("login", **first), ask("login", "b", **second))
    came.refused("a")
    assert came.result("b") == "ann is in"
    assert RAN == [("login", ("ann", "abc"))]


@everywhere
def test_a_json_schema_describes_a_tool(way: Way) -> None:
    """The body receives what contracts have read."""
    talk = way.open([book], told("G(called(book) -> called(book, nights <= 7))"))
    came = talk.say(ask("book", room=1, nights=9), ask("book", "b", room=1, nights=7))
    came.refused("a")
    came.result("b")
    assert RAN == [("book", {"room": 1, "nights": 7})]


@everywhere
def test_a_json_schema_is_validation(way: Way) -> None:
    """A text where a number was asked for is a number, above a limit or below it."""
    talk = way.open([book], told("G(called(book) -> called(book, nights <= 7))"))
    came = talk.say(
        ask("book", room=1, nights="9"), ask("book", "b", room=1), ask("book", "c", nights="7")
    )
    came.refused("a")
    came.refused("b")
    came.refused("c")
    assert talk.say(ask("book", "d", room="1", nights="7")).result("d")
    assert RAN == [("book", {"room": 1, "nights": 7})]


@everywhere
def test_a_plain_function_is_a_tool(way: Way) -> None:
    """As with the framework itself, its signature describes the arguments."""

    def pay(amount: int, to: Literal["ann", "bob"] = "ann") -> str:
        """Pay somebody."""
        RAN.append(("pay", {"amount": amount, "to": to}))
        return f"paid {amount}"

    talk = way.open([pay], small(100))
    came = talk.say(ask("pay", amount="90"), ask("pay", "b", amount="900"))
    assert came.result("a") == "paid 90"
    came.refused("b")
    talk.say(ask("pay", amount=5, to="carl")).refused("a")
    assert RAN == [("pay", {"amount": 90, "to": "ann"})]


@everywhere
def test_arguments_that_a_tool_does_not_have_are_dropped(way: Way) -> None:
    """What the body never receives, contracts never read."""
    talk = way.open([wire], few("wire", 1))
    assert talk.say(ask("wire", amount=5, urgent=True)).result("a") == "wired 5 to ann"
    assert args_of(talk) == [{"amount": 5, "to": "ann"}]


@everywhere
def test_a_validator_that_raises_anything_refuses_the_call(way: Way) -> None:
    """Code of the host that fails lets nothing run, and ends nothing."""
    came: Came = way.open([cursed], few("cursed", 1)).say(ask("cursed", word="boo"))
    assert "no luck" in came.refused("a")
    assert (RAN, came.last) == ([], "done")


class Cursed(BaseModel):
    """A word, which nobody can look at."""

    word: Annotated[str, Field(min_length=1)]

    @field_validator("word")
    @classmethod
    def _never(cls, value: str) -> str:
        raise OSError(f"no luck with {value}")


@tool(args_schema=Cursed)
def cursed(word: str) -> str:
    """Say a word."""
    RAN.append(("cursed", word))
    return word


COUNT = itertools.count(1)


class Numbered(BaseModel):
    """A payment with a number of its own, which is made when none is given."""

    amount: int
    number: int = Field(default_factory=lambda: next(COUNT), alias="no")
    lines: list[int] = Field(default_factory=list)
    day: date = Field(default_factory=lambda: date(2020, 1, 1) + timedelta(next(COUNT)))


@tool(args_schema=Numbered)
def number(amount: int, number: int, lines: list[int], day: date) -> str:
    """Pay an amount, under a number."""
    RAN.append(("number", {"number": number, "lines": lines, "day": day.isoformat()}))
    return f"paid {amount} as {number}"


@everywhere
@pytest.mark.skipif(
    older("langchain-core", 1, 3), reason="this version calls the body without the argument"
)
def test_a_default_that_is_made_is_made_once(way: Way) -> None:
    """Contracts read the very default that the body receives; a value that is given is kept."""
    talk = way.open([number], few("number", 2))
    talk.say(ask("number", amount=5), ask("number", "b", amount=5, no=7, day="2020-02-01"))
    first, second = args_of(talk)
    assert [first, second] == [{"amount": 5, **args} for _, args in RAN]
    assert (second["number"], second["day"], second["lines"]) == (7, "2020-02-01", [])


@tool(args_schema=Numbered)
def pay_numbered(amount: int, number: int, lines: list[int], day: date) -> str:
    """Pay an amount, under a number."""
    RAN.append(("pay", {"amount": amount, "number": number, "lines": lines}))
    return f"paid {amount}"


@everywhere
@pytest.mark.skipif(
    older("langchain-core", 1, 3), reason="this version calls the body without the argument"
)
def test_a_person_approves_the_default_that_is_made(way: Way) -> None:
    """The call that is approved is the one that was shown, and it is asked about once."""
    rule = contract("asked").guarantees(arg_value_range("pay_numbered", "amount", max=100))
    talk = way.open([pay_numbered], rule.strategy({"escalate": {"roles": ["manager"]}}))
    (question,) = talk.say(ask("pay_numbered", amount=900)).asked
    answer = approve(question["ticket"], by="ann", role="manager")
    came = talk.go(Command(resume=answer))
    assert (came.asked, came.result("a")) == ([], "paid 900")
    shown = {key: each for key, each in question["args"].items() if key != "day"}
    assert [("pay", shown)] == RAN


class Rated(BaseModel):
    """An amount, which is more each time that it is looked at."""

    amount: int

    @field_validator("amount")
    @classmethod
    def _rated(cls, value: int) -> int:
        """In another currency, as of now."""
        return value + 10 * next(RATES)


RATES = itertools.count()


@tool(args_schema=Rated)
def rated(amount: int) -> str:
    """Pay an amount in another currency."""
    RAN.append(("rated", {"amount": amount}))
    return f"paid {amount}"


@everywhere
def test_what_a_validation_makes_of_a_call_later_is_decided(way: Way) -> None:
    """Where it differs from what was decided it is decided anew, and only then it may run."""
    most = 10 * next(RATES) + 60
    rule = contract("small").guarantees(arg_value_range("rated", "amount", max=most))
    talk = way.open([rated], rule)
    came = talk.say(*(ask("rated", id, amount=5) for id in "abcdefgh"))
    allowed = [
        args
        for args, outcome in zip(args_of(talk), talk.outcomes(), strict=True)
        if outcome == "allowed"
    ]
    assert RAN
    assert all(args in allowed and args["amount"] <= most for _, args in RAN)
    assert talk.statuses().count("ok") == len(RAN)
    assert "amount" in came.refused("h")
