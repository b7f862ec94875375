"""The patterns of values with their predicates and the letters of their traces.

In: predicates (`tests/reference/predicates_values.py`). Out: `CASES`.
"""

from __future__ import annotations

from typing import Any

from tests.reference import predicates as p
from tests.reference import predicates_values as v
from tests.reference.pattern_cases import case


def about(tool: str, value: Any = "$x") -> dict[str, Any]:
    """A call of the tool whose `n` is this."""
    return {"tool": tool, "args": {"n": value}}


A, B, C = ("a", "n"), ("b", "n"), ("c", "n")
OPEN: dict[str, Any] = {"match": about("a"), "by": about("b")}
LOCK: dict[str, Any] = {"trigger": about("a"), "forbidden": about("b")}
SHOWN = {"tool": "a", "output": {"path": "id", "bind": "$x"}}

CASES = [
    case("absent", "a(n=1)|a(n=2)|a|b(n=1)!", v.is_given(A, 1), match=about("a", 1)),
    case(
        "absent",
        "msg:assistant=yes|msg:assistant=no|msg:user=yes|a",
        v.says("assistant", "yes"),
        match={"message": "assistant", "text": {"matches": "yes"}},
    ),
    case(
        "precedence",
        "a(n=1)|b(n=1)|a(n=2)|b(n=2)",
        v.lacks_same(B, A),
        match=about("b"),
        requires=about("a"),
    ),
    case(
        "precedence",
        "a(n=1)!|a(n=1)?|ok:a|b(n=1.0)|b",
        v.lacks_same(B, A),
        match=about("b"),
        requires=about("a"),
    ),
    case(
        "precedence",
        "a(n=1)|+3s b(n=1)|a(n=2)|b(n=2)",
        v.lacks_recent(B, A, seconds=4),
        match=about("b"),
        requires=about("a"),
        within={"seconds": 4},
    ),
    case(
        "precedence",
        "a(n=1)|b(n=1)|a(n=2)!|b(n=2)",
        v.lacks_recent(B, A, steps=2),
        match=about("b"),
        requires=about("a"),
        within=2,
    ),
    case(
        "precedence",
        "a(n=1)|b(n=1)|b(n=2)|b",
        v.lacks_same(B, A, refuses=False),
        match={**about("b"), "missing": "skip"},
        requires=about("a"),
    ),
    case(
        "precedence",
        'a={"id":1}|a={"id":2}|a={}|b(n=1)|b(n=2)',
        v.lacks_shown(B, "a"),
        match=about("b"),
        requires=SHOWN,
    ),
    case("precedence", "a|b|c|a!", p.others_lack("a"), match={"tool": "*"}, requires="a"),
    case(
        "precedence",
        "a(n=1)|b(n=1)|c(n=2)|b|a(n=2)!",
        v.others_lack_same(A),
        match=about("*"),
        requires=about("a"),
    ),
    case("response", "a(n=1)|b(n=1)|a(n=2)|b(n=2)", p.never, v.owes_same(A, B), **OPEN),
    case("response", "a(n=1)|b(n=1)?|ok:b|error:b|a(n=2)", p.never, v.owes_same(A, B), **OPEN),
    case(
        "bounded_response",
        "a(n=1)|b(n=1)|a(n=2)|c",
        v.too_late(A, B, 2),
        v.owes_in_time(A, B, 2),
        **OPEN,
        within=2,
    ),
    case("bounded_response", "a(n=1)|b(n=1)?|ok:b|a(n=2)|c", v.too_late(A, B, 2), **OPEN, within=2),
    case(
        "resolved",
        "a(n=1)|b(n=1)|a(n=2)|b(n=2)!",
        p.never,
        v.owes_same(A, B, last_only=True),
        **OPEN,
    ),
    case(
        "until",
        "a(n=1)|b(n=1)|c(n=1)|b(n=2)",
        v.locked(A, B, C),
        **LOCK,
        release=about("c"),
    ),
    case(
        "until",
        "a(n=1)|b(n=1)|c(n=1)?|ok:c|a(n=2)",
        v.locked(A, B, C),
        **LOCK,
        release=about("c"),
    ),
    case("until", "a(n=1)!|a(n=2)?|b(n=1)|b(n=2)", v.locked(A, B), **LOCK),
    case(
        "value_from",
        'a={"id":1}|a="see 2, 31"|b(n=2)|b(n=3)',
        v.unseen(B, "a"),
        tool="b",
        field="n",
        source="a",
    ),
    case(
        "value_from",
        'a={"id":1}|a?|ok:a="no. 1"|error:a|b(n=1)',
        v.unseen(B, "a"),
        tool="b",
        field="n",
        source="a",
    ),
    case(
        "value_from",
        "a?|ok:a=x|msg:user=y|msg:assistant=z|b(n=x)|b(n=y)",
        v.unseen(B, "a", "user"),
        tool="b",
        field="n",
        source=["a", {"message": "user"}],
    ),
    case(
        "message_says",
        'msg:user="yes, do"|msg:user=no|msg:assistant=yes|a',
        v.not_said("a", "user", "yes"),
        action="a",
        matches="yes",
    ),
    case(
        "repeated_failure",
        "a(n=1)!|a(n=1)|a(n=2)!|b(n=1)!",
        v.failed_before(2),
    ),
    case(
        "repeated_failure",
        "a(n=1)?|error:a|a(n=2)!|b!",
        v.failed_before(1, "a"),
        action="a",
        limit=1,
    ),
    case(
        "no_data_leak",
        's={"k":"ab-12"}|s="pin 1234 of"|k(n="is AB-12")|k(n=1234)|k(n=of)',
        v.leaked("s", "k"),
        source="s",
        sink="k",
        match="values",
    ),
]
