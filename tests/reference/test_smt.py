"""Values that travel, judged by an SMT solver: what it says by hand-made examples, and that the
engine says the same on random statements and traces. More pairs: `python -m
tests.reference.smt_campaign`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.reference.smt import judged
from tests.reference.smt_brute import failing
from tests.reference.smt_campaign import campaign
from tests.reference.smt_values import FRESH, Event, key
from tests.support.size import sized

HERE = Path(__file__).parent
JUDGES = ("smt.py", "smt_facts.py", "smt_reading.py", "smt_values.py", "smt_brute.py")
PAIRS = sized(300, 150)

VETTED = {
    "pattern": "precedence",
    "match": {"tool": "pay", "args": {"to": "$x"}},
    "requires": {"tool": "vet", "args": {"name": "$x"}},
}
"""Nobody is paid who has not been vetted."""


def call(tool: str, output: Any = None, *, failed: bool = False, **args: Any) -> Event:
    """A call, settled at once."""
    status = "error" if failed else "ok"
    return {"tool": tool, "args": args, "output": output, "status": status}


def said(text: str) -> Event:
    """A message of the user."""
    return {"type": "message", "role": "user", "text": text}


class Example(NamedTuple):
    """A statement, a trace, and the events with the values that are to blame."""

    mapping: Mapping[str, Any]
    events: Sequence[Event]
    blamed: Sequence[tuple[Any, ...]]


def form(name: str, first: str, second: str, **more: Any) -> dict[str, Any]:
    """A form over two tools that share the argument `to`."""
    return {
        "pattern": name,
        "match": {"tool": first, "args": {"to": "$x"}},
        "by": {"tool": second, "args": {"to": "$x"}},
        **more,
    }


def until(**release: Any) -> dict[str, Any]:
    """Once closed, an account gets nothing, until it is opened again."""
    made: dict[str, Any] = {
        "pattern": "until",
        "trigger": {"tool": "close", "args": {"to": "$x"}},
        "forbidden": {"tool": "pay", "args": {"to": "$x"}},
    }
    return {**made, **release}


OPENED = {"release": {"tool": "open", "args": {"to": "$x"}}}
WARP = {"tool": "warpAffine", "status": "ok", "args": {"transform": "$x"}}
LISTED = {
    "pattern": "precedence",
    "match": {"tool": "book", "args": {"passengers[].name": "$x"}},
    "requires": {"tool": "check", "args": {"names[]": "$x"}},
}
ORDERS = {
    "pattern": "precedence",
    "match": {"tool": "cancel", "args": {"order": "$x"}},
    "requires": {"tool": "find", "output": {"path": "id", "bind": "$x"}},
}
MENTIONED = {
    "pattern": "precedence",
    "match": {"tool": "cancel", "args": {"order": "$x"}},
    "requires": {"message": "user", "text": {"matches": r"order (\w+)", "bind": "$x"}},
}
CHEAPER = {
    "pattern": "absent",
    "match": {"tool": "bid", "args": {"price": {"lt": "$x"}, "floor": "$x"}},
}
EXAMPLES = {
    "the same value, earlier": Example(
        VETTED, [call("vet", name="a"), call("pay", to="a"), call("pay", to="b")], [(2, "b")]
    ),
    "a failed guard is none": Example(
        VETTED, [call("vet", name="a", failed=True), call("pay", to="a")], [(1, "a")]
    ),
    "earlier is not now, and not later": Example(
        VETTED, [call("pay", to="a"), call("vet", name="a")], [(0, "a")]
    ),
    "a call without the field that is required is meant": Example(
        VETTED, [call("vet", name="a"), call("pay")], [(1, FRESH)]
    ),
    "unless it is skipped": Example(
        {**VETTED, "match": {**VETTED["match"], "missing": "skip"}},  # type: ignore[dict-item]
        [call("pay", note="a")],
        [],
    ),
    "1 is 1.0": Example(VETTED, [call("vet", name=1), call("pay", to=1.0)], []),
    "1 is not its text": Example(VETTED, [call("vet", name=1), call("pay", to="1")], [(1, "1")]),
    "true is not 1": Example(VETTED, [call("vet", name=1), call("pay", to=True)], [(1, True)]),
    "composed and decomposed": Example(
        VETTED, [call("vet", name="caf\u00e9"), call("pay", to="cafe\u0301")], []
    ),
    "a list has several values": Example(
        LISTED,
        [call("check", names=["a"]), call("book", passengers=[{"name": "a"}, {"name": "b"}])],
        [(1, "b")],
    ),
    "an output, read as JSON": Example(
        ORDERS,
        [call("find", '{"id": 7}'), call("cancel", order=7), call("cancel", order="7")],
        [(2, "7")],
    ),
    "a message shows the value": Example(
        MENTIONED,
        [said("order 7, order b2"), call("cancel", order=7), call("cancel", order="b3")],
        [(2, "b3")],
    ),
    "smaller than the value": Example(
        CHEAPER, [call("bid", price=9, floor=10), call("bid", price=10, floor=10)], [(0, 10)]
    ),
    "each is answered": Example(
        form("response", "ask", "tell"),
        [call("ask", to="a"), call("ask", to="b"), call("tell", to="a"), call("ask", to="a")],
        [(1, "b"), (3, "a")],
    ),
    "within two events": Example(
        form("bounded_response", "ask", "tell", within=2),
        [
            call("ask", to="a"),
            call("ask", to="b"),
            call("x"),
            call("tell", to="b"),
            call("tell", to="a"),
        ],
        [(0, "a")],
    ),
    "messages are no events of calls": Example(
        form("bounded_response", "ask", "tell", within=1),
        [call("ask", to="a"), said("well"), call("tell", to="a")],
        [],
    ),
    "only the last one": Example(
        form("resolved", "edit", "test"),
        [call("edit", to="a"), call("edit", to="b"), call("edit", to="a"), call("test", to="b")],
        [(2, "a")],
    ),
    "closed for good": Example(
        until(),
        [call("pay", to="a"), call("close", to="a"), call("pay", to="a"), call("pay", to="b")],
        [(2, "a")],
    ),
    "closed until opened": Example(
        until(**OPENED),
        [
            call("close", to="a"),
            call("open", to="a"),
            call("pay", to="a"),
            call("close", to="a"),
            call("pay", to="a"),
        ],
        [(4, "a")],
    ),
    "validated before it is consumed": Example(
        {
            "pattern": "precedence",
            "match": WARP,
            "requires": {"tool": "validate_output", "args": {"target": "$x"}},
        },
        [
            call("sampling", fps=6),
            call("estimate_M", "M"),
            call("warpAffine", transform="M"),
            call("validate_output", target="mask"),
        ],
        [(2, "M")],
    ),
    "past and future in one body": Example(
        {"always": {"not": {"and": [WARP, {"not": {"earlier": {"later": {"tool": "end"}}}}]}}},
        [
            call("warpAffine", transform=1),
            call("warpAffine", transform=2),
            call("end"),
            call("warpAffine", transform=3),
        ],
        [(0, 1)],
    ),
}


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_the_solver_blames_the_right_events(example: Example) -> None:
    """A condition is refuted at just these events, for just these values of the variables."""
    blamed = {(n, *(v if v == FRESH else key(v) for v in values)) for n, *values in example.blamed}
    verdict = judged(example.mapping, example.events)
    assert {(number, *binding) for number, binding in verdict.witnesses} == blamed
    assert verdict.violated == bool(blamed)
    assert failing(example.mapping, example.events) == verdict.witnesses


def test_until_can_be_told_from_either_end() -> None:
    """The conditions of triggers are refuted just if those of what is forbidden are."""
    for example in (EXAMPLES["closed for good"], EXAMPLES["closed until opened"]):
        verdict = judged(example.mapping, example.events, by="trigger")
        assert verdict.violated
        assert {number for number, _ in verdict.witnesses} != {n for n, *_ in example.blamed}


@pytest.mark.long
def test_the_solver_agrees_with_the_definition() -> None:
    """On random pairs, z3 refutes the conditions that fail by their definition, and no other."""
    tally = campaign(PAIRS, seed=5, brute=True)
    assert tally.failures == []
    assert tally.missed() == []


@pytest.mark.long
def test_the_engine_agrees_with_the_solver() -> None:
    """On random pairs, a session reports the events, and names values, that z3 blames."""
    tally = campaign(PAIRS, seed=3)
    assert tally.failures == []
    assert tally.missed() == []


@pytest.mark.parametrize("judge", JUDGES)
def test_the_second_opinion_shares_no_code(judge: str) -> None:
    """What judges imports the solver, the standard library, and itself."""
    tree = ast.parse((HERE / judge).read_text("utf-8"))
    modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    own = {f"tests.reference.{name.removesuffix('.py')}" for name in JUDGES}
    assert {m for m in modules if m not in own | {"z3"}} <= sys.stdlib_module_names | {
        "collections.abc"
    }
