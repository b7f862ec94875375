"""Tools that are described by a JSON schema, as those of MCP servers are: it is validated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import pytest
from langchain_core.tools import InjectedToolArg, StructuredTool
from langgraph.prebuilt import ToolRuntime

from sponsio_like import ContractError, Guard, contract
from sponsio_like.adapters.langgraph.asked_calls import Tools
from sponsio_like.patterns import arg_blacklist, idempotent, rate_limit
from tests.adapters.rules import few, told
from tests.adapters.talks import Talk, Way, ask, everywhere
from tests.adapters.test_attacked_tools import MEETINGS, Meets

RAN: list[dict[str, Any]] = []
"""What the body has received."""


def described(
    properties: Mapping[str, Any], name: str = "refund", /, **more: Any
) -> StructuredTool:
    """A tool of this JSON schema, of the shape that the tools of an MCP server have."""

    def body(
        runtime: Annotated[object | None, InjectedToolArg()] = None, **args: Any
    ) -> tuple[list[Any], Any]:
        assert isinstance(runtime, ToolRuntime)
        RAN.append(args)
        return [{"type": "text", "text": f"did {args}"}], None

    async def abody(
        runtime: Annotated[object | None, InjectedToolArg()] = None, **args: Any
    ) -> tuple[list[Any], Any]:
        return body(runtime, **args)

    return StructuredTool(
        name=name,
        description=name,
        args_schema={"type": "object", "properties": dict(properties), **more},
        func=body,
        coroutine=abody,
        response_format="content_and_artifact",
    )


ORDER = described({"order": {"type": "integer"}}, required=["order"])


def args_of(talk: Talk) -> list[dict[str, Any]]:
    """What contracts have read, by the log."""
    return [each["args"] for each in talk.records if each["event"] == "decision"]


# --- what contracts read is what runs -------------------------------------------------------------


@everywhere
def test_once_per_order_holds_however_the_order_is_written(way: Way) -> None:
    """`17`, `"17"` and `17.0` are one order: the second refund is refused."""
    talk = way.open([ORDER], contract("once").guarantees(idempotent("refund", ["order"])))
    came = talk.say(ask("refund", order=17), ask("refund", "b", order="17"))
    came.refused("b")
    talk.say(ask("refund", "c", order=17.0)).refused("c")
    assert RAN == [{"order": 17}]


@everywhere
def test_a_forbidden_number_is_forbidden_as_a_text(way: Way) -> None:
    """`never 13` refuses `"13"` where the server would make 13 of it."""
    talk = way.open([ORDER], told("G(called(refund) -> !called(refund, order = 13))"))
    came = talk.say(ask("refund", order="13"), ask("refund", "b", order="14"))
    came.refused("a")
    came.result("b")
    assert RAN == [{"order": 14}]


@everywhere
def test_the_tool_receives_what_was_decided(way: Way) -> None:
    """Defaults are filled in, and values are of the type that was asked for."""
    properties = {
        "order": {"type": "integer"},
        "why": {"type": "string", "default": "late"},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
        "by": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
    }
    line = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}
    more: dict[str, Any] = {"$defs": {"Line": line}, "required": ["order"]}
    whole = described(properties, "refund", **more)
    talk = way.open([whole], few("refund", 5))
    talk.say(ask("refund", order="17", lines=[{"n": "1.5"}]))
    talk.say(ask("refund", order=1, lines='[{"n": 2}]', by="7", why="lost"))
    first = {"order": 17, "why": "late", "lines": [{"n": 1.5}], "by": None}
    second = {"order": 1, "why": "lost", "lines": [{"n": 2}], "by": 7}
    assert args_of(talk) == [first, second] == RAN


@everywhere
def test_a_call_that_is_let_through_is_decided_once(way: Way) -> None:
    """What LangGraph injects beside the arguments changes no call, nor does their coercion."""
    talk = way.open([ORDER], few("refund", 2))
    talk.say(ask("refund", order="17"), ask("refund", "b", order=18))
    assert talk.outcomes() == ["allowed", "allowed"]
    assert talk.statuses() == ["ok", "ok"]


@everywhere
def test_a_redirect_validates_the_substitute(way: Way) -> None:
    """What runs instead receives the arguments as its own schema has them."""
    other = described(
        {"file": {"type": "integer"}, "days": {"type": "integer", "default": 3}}, "keep"
    )
    keep = {"redirect_to_safe": {"to": "keep", "map": {"order": "file"}}}
    talk = way.open([ORDER, other], few("refund").strategy(keep))
    talk.say(ask("refund", order="17")).result("a")
    assert RAN == [{"file": 17, "days": 3}]


@everywhere
def test_what_a_schema_refuses_is_told_and_counts_nothing(way: Way) -> None:
    """As with other tools: the model hears what is wrong, and no attempt is counted."""
    talk = way.open([ORDER], few("refund", 1))
    came = talk.say(ask("refund", order="many"), ask("refund", "b"), ask("refund", "c", order=None))
    assert "order: Input should be a valid integer" in came.refused("a")
    assert "order: Field required" in came.refused("b")
    came.refused("c")
    assert talk.say(ask("refund", "d", order=5)).result("d")
    assert (talk.outcomes(), RAN) == (["allowed"], [{"order": 5}])


@everywhere
def test_in_observe_mode_the_tool_receives_what_the_model_wrote(way: Way) -> None:
    """Contracts read what a server would make of it; the call is not touched."""
    talk = way.open([ORDER], few("refund", 5), mode="observe")
    talk.say(ask("refund", order="17"), ask("refund", "b", order="many"))
    assert RAN == [{"order": "17"}, {"order": "many"}]
    assert args_of(talk) == [{"order": 17}]


# --- keyword by keyword ---------------------------------------------------------------------------

REFUSED = "refused"
TREE = {"type": "object", "properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/T"}}}
AS_READ: list[tuple[str, Any, Any, Any]] = [
    ("integer", {"type": "integer"}, "17", 17),
    ("integer that is written as a float", {"type": "integer"}, 17.0, 17),
    ("integer with a rest", {"type": "integer"}, 17.5, REFUSED),
    ("number", {"type": "number"}, "1.5", 1.5),
    ("number that is whole", {"type": "number"}, "15", 15),
    ("number that is none", {"type": "number"}, float("nan"), REFUSED),
    ("boolean", {"type": "boolean"}, "true", True),
    ("string", {"type": "string"}, "17", "17"),
    ("string that is a number", {"type": "string"}, 17, REFUSED),
    ("null", {"type": "integer"}, None, REFUSED),
    ("bounds", {"type": "integer", "minimum": 1, "maximum": 9}, "10", REFUSED),
    (
        "bounds of an older draft",
        {"type": "number", "minimum": 1, "exclusiveMinimum": True},
        1,
        REFUSED,
    ),
    ("a bound with a rest", {"type": "integer", "minimum": 0.5}, 0, REFUSED),
    ("multipleOf", {"type": "integer", "multipleOf": 5}, "12", REFUSED),
    ("length", {"type": "string", "maxLength": 2}, "abc", REFUSED),
    ("pattern", {"type": "string", "pattern": "^a+$"}, "b", REFUSED),
    ("pattern that takes no linear time", {"type": "string", "pattern": "(?=a)b"}, "c", "c"),
    ("enum", {"type": "integer", "enum": [1, 2]}, "2", 2),
    ("enum, another value", {"type": "integer", "enum": [1, 2]}, 3, REFUSED),
    ("enum of anything", {"enum": ["a", {"b": 1}, None]}, {"b": 1}, {"b": 1}),
    ("const", {"const": "a"}, "b", REFUSED),
    ("array", {"type": "array", "items": {"type": "integer"}}, ["1", 2], [1, 2]),
    ("array that is a text", {"type": "array", "items": {"type": "integer"}}, '["1"]', [1]),
    ("array of too few", {"type": "array", "minItems": 1}, [], REFUSED),
    (
        "array with other first items",
        {"prefixItems": [{}], "type": "array", "items": False},
        ["1"],
        ["1"],
    ),
    ("object", {"type": "object", "properties": {"n": {"type": "integer"}}}, {"n": "1"}, {"n": 1}),
    ("object with a default inside", {"properties": {"n": {"default": 3}}}, {}, {"n": 3}),
    ("object with more", {"type": "object"}, {"n": "1"}, {"n": "1"}),
    ("closed object", {"type": "object", "additionalProperties": False}, {"n": 1}, REFUSED),
    ("object of numbers", {"additionalProperties": {"type": "integer"}}, {"n": "1"}, {"n": 1}),
    (
        "object by patterns",
        {"patternProperties": {"n": {}}, "additionalProperties": False, "type": "object"},
        {"n": 1},
        {"n": 1},
    ),
    ("object without what is required", {"required": ["n"]}, {}, REFUSED),
    ("types", {"type": ["integer", "null"]}, "17", 17),
    ("types with text", {"type": ["integer", "string"]}, "17", "17"),
    ("a list or a text", {"type": ["array", "string"]}, "[1]", "[1]"),
    ("nullable", {"type": "integer", "nullable": True}, None, None),
    ("anyOf", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "17", 17),
    ("anyOf, none of them", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "x", REFUSED),
    (
        "oneOf by a mark",
        {
            "oneOf": [
                {"properties": {"k": {"const": "a"}, "n": {"type": "string"}}, "required": ["k"]},
                {"properties": {"k": {"const": "b"}, "n": {"type": "integer"}}, "required": ["k"]},
            ]
        },
        {"k": "b", "n": "1"},
        {"k": "b", "n": 1},
    ),
    ("allOf", {"allOf": [{"type": "integer"}, {"maximum": 9, "type": "integer"}]}, "10", REFUSED),
    (
        "a reference to itself",
        {"$ref": "#/$defs/T"},
        {"n": "1", "next": {"n": "2"}},
        {"n": 1, "next": {"n": 2}},
    ),
    ("a reference to what is not here", {"$ref": "https://example.com/a.json"}, "1", "1"),
    ("a type that is none", {"type": "int"}, "1", "1"),
    ("true", True, "1", "1"),
    ("nothing", {}, "1", "1"),
]


@pytest.mark.parametrize(
    ("schema", "written", "read"), [pytest.param(*each[1:], id=each[0]) for each in AS_READ]
)
def test_an_argument_is_read_as_its_schema_says(schema: Any, written: Any, read: Any) -> None:
    """Read as a pydantic model would read it; what is not known of a schema is left to the tool."""
    trees: dict[str, Any] = {"$defs": {"T": TREE}}
    tools = Tools([described({"it": schema}, "refund", **trees)])
    found = tools.received("refund", {"it": written})
    assert isinstance(found, str) if read == REFUSED else found == {"it": read}
    if read != REFUSED:
        assert tools.passed("refund", {"it": written}) == found
        assert repr(found) == repr({"it": read})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "default": None},
        {"type": "integer", "default": "many"},
        {"$ref": "#/$defs/gone", "type": "integer", "default": []},
    ],
)
def test_a_default_that_is_no_value_of_its_schema_is_not_filled_in(schema: Any) -> None:
    """The server may take it for what it is; it would refuse it as an argument."""
    assert Tools([described({"it": schema})]).received("refund", {}) == {}


@pytest.mark.parametrize("schema", [{"properties": 5, "required": 7}, {"properties": {"a": 5}}, {}])
def test_a_schema_that_says_nothing_lets_anything_through(schema: Any) -> None:
    """The arguments are decided as they are written."""
    open_ = StructuredTool(name="t", description="t", args_schema=schema, func=lambda **args: "")
    assert Tools([open_]).received("t", {"a": "1"}) == {"a": "1"}


def test_what_is_injected_is_no_argument() -> None:
    """A model cannot give it, and no contract reads it."""
    tools = Tools([ORDER])
    assert tools.received("refund", {"order": 1, "runtime": 5}) == {"order": 1}
    assert tools.arguments == {"refund": frozenset({"order"})}


def test_what_langchain_takes_for_itself_is_no_argument() -> None:
    """An argument `config` of a server never reaches it: a rule about it would not hold."""
    tools = Tools([described({"config": {}, "run_manager": {}, "callbacks": {}})])
    assert tools.arguments == {"refund": frozenset({"callbacks"})}
    assert tools.received("refund", {"config": 1, "callbacks": 2}) == {"callbacks": 2}


# --- what is declared of it -----------------------------------------------------------------------


@pytest.mark.parametrize("meets", MEETINGS[:2], ids=lambda each: each.__name__)
def test_an_argument_that_the_schema_does_not_have_is_refused_where_the_tool_is_met(
    meets: Meets,
) -> None:
    """A rule about it would look armed, and never fire."""
    rule = contract("no rm").guarantees(arg_blacklist("refund", "number", ["1"]))
    with pytest.raises(ContractError, match="`refund` has no field `number`"):
        meets(Guard([rule]), ORDER)


@pytest.mark.parametrize("meets", MEETINGS[:2], ids=lambda each: each.__name__)
def test_declared_fields_are_compared_with_a_json_schema(meets: Meets) -> None:
    """In both directions, as with other tools; an open schema may take anything."""
    rule = contract("few").guarantees(rate_limit("refund", 9))

    def guard(*fields: str) -> Guard:
        return Guard([rule], tools={"refund": {"fields": dict.fromkeys(fields, "any")}})

    with pytest.raises(ContractError, match="`refund` does not take `id`"):
        meets(guard("order", "id"), ORDER)
    whole = described({"order": {"type": "integer"}, "why": {"type": "string"}})
    with pytest.raises(ContractError, match="`refund` takes `why`"):
        meets(guard("order"), whole)
    meets(guard("order"), ORDER)
    meets(guard("order", "id"), described({"order": {}}, additionalProperties=True))
