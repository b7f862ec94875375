"""The patterns of calls and arguments, each with its predicate and the letters of its traces.

In: predicates (`tests/reference/predicates.py`). Out: `CASES`: a rule, and what it has to mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from sponsio_like.contracts.declaration import CATALOG
from sponsio_like.contracts.definition import Contract, contract
from tests.reference import predicates as p
from tests.support import notation

Letters: TypeAlias = "tuple[str, ...]"


@dataclass(frozen=True)
class Case:
    """A rule, the letters that its traces are made of, and its predicates."""

    name: str
    given: dict[str, Any]
    letters: Letters
    refused: p.Refused
    owed: p.Owed = p.nothing

    def __str__(self) -> str:
        arguments = ",".join(f"{key}={value}" for key, value in self.given.items())
        return f"{self.name}({arguments})"

    @property
    def contract(self) -> Contract:
        return contract("rule").guarantees(CATALOG[self.name].rule(self.given))


def case(
    name: str, letters: str, refused: p.Refused, owed: p.Owed = p.nothing, **given: Any
) -> Case:
    return Case(name, given, tuple(notation.split(letters, "|")), refused, owed)


AB: dict[str, Any] = {"first": "a", "then": "b"}

CASES = [
    case("must_precede", "a|a!|a?|ok:a|b", p.lacks_success("b", "a"), **AB),
    case("must_precede", "a|a!|a?|b|c", p.lacks_call("b", "a"), **AB, counts="called"),
    case("must_precede", "a|b!|c|d", p.lacks_success("d", "b", "c"), first=["b", "c"], then="d"),
    case(
        "must_precede",
        "+2s b|a|a!|z",
        p.lacks_recent("b", "a", seconds=3),
        **AB,
        within={"seconds": 3},
    ),
    case(
        "must_precede",
        "b|a?|ok:a|+2s z|+3s z",
        p.lacks_recent("b", "a", seconds=4),
        **AB,
        within={"seconds": 4},
    ),
    case("must_precede", "a|a!|b|z", p.lacks_recent("b", "a", steps=2), **AB, within=2),
    case("must_precede", "a|b?|b|z", p.lacks_recent("b", "a", steps=1), **AB, within={"steps": 1}),
    case(
        "must_precede",
        "a|b|a=fine|a=bad",
        p.lacks_recent("b", "a", says="fine"),
        **AB,
        accept="^fine",
    ),
    case("must_precede", "a|a!|a?|ok:a|b|c", p.others_lack("a"), first="a", then="*"),
    case(
        "must_precede",
        "pay_a|pay_check|pay_check!|c",
        p.others_lack("pay_check", glob="pay_*"),
        first="pay_check",
        then="pay_*",
    ),
    case(
        "must_precede",
        "pay_a|pay_check_a|pay_check_b!|c",
        p.others_lack("pay_check_a", "pay_check_b", glob="pay_*"),
        first="pay_check_*",
        then="pay_*",
    ),
    case("must_confirm", "x|y|y=yes|y!|y=no", p.lacks_own_yes("x", "y"), action="x", by="y"),
    case(
        "must_confirm",
        "x|y?|ok:y=true|ok:y=false|error:y",
        p.lacks_own_yes("x", "y"),
        action="x",
        by="y",
    ),
    case(
        "must_confirm",
        'x|y="OK."|y="disallow"|y={"ok":true}|y={"ok":true,"answer":"ok"}|y="yes? no"|y=1',
        p.lacks_own_yes("x", "y"),
        action="x",
        by="y",
    ),
    case(
        "must_confirm",
        'x|y="allow"|y="disallow"|y="I do not allow"|y',
        p.lacks_own_match("x", "y", "allow"),
        action="x",
        by="y",
        accept="allow",
    ),
    case("must_confirm", "x|confirm_x=yes|x?|z", p.lacks_own_yes("x", "confirm_x"), action="x"),
    case(
        "must_confirm",
        'x|y="yes"|y="sure yes"|y=no|y',
        p.lacks_own_match("x", "y", "yes"),
        action="x",
        by="y",
        accept="^yes",
    ),
    case(
        "must_confirm",
        'x|y={"is":1}|y={"is":2}|y=yes|y',
        p.lacks_own("x", "y", {"is": 1}),
        action="x",
        by="y",
        accept={"path": "is", "equals": 1},
    ),
    case(
        "must_confirm",
        "x|y|y=yes|y?",
        p.lacks_own("x", "y", None),
        action="x",
        by="y",
        accept={"equals": None},
    ),
    case(
        "must_confirm",
        "x(k=1)|x(k=2)|x|y(k=1)=yes|y(k=2)=yes",
        p.lacks_own_yes("x", "y", same="k"),
        action="x",
        by="y",
        same=["k"],
    ),
    case(
        "must_confirm",
        "x|y?|y!|y=yes",
        p.lacks_own_yes("x", "y"),
        action="x",
        by="y",
        counts="called",
    ),
    case(
        "requires_permission",
        "permit:p|permit:q|x|z",
        p.lacks_permission("x", "p"),
        tool="x",
        permission="p",
    ),
    case("no_data_leak", "s|s!|s?|ok:s|k", p.after_success("k", "s"), source="s", sink="k"),
    case(
        "no_data_leak", "s|s!|s?|k|z", p.after_call("k", "s"), source="s", sink="k", counts="called"
    ),
    case(
        "no_data_leak",
        "z@s|z@s!|z@k|z",
        p.after_agent("k", "s"),
        source={"agent": "s"},
        sink={"agent": "k"},
    ),
    case(
        "destructive_action_gate",
        "x|y=yes|y?|y=no",
        p.lacks_own_yes("x", "y"),
        action="x",
        gate="y",
    ),
    case(
        "destructive_action_gate",
        "x|y=yes|approve:x/boss|approve:x/clerk",
        p.either(p.lacks_own_yes("x", "y"), p.lacks_approval("x", "boss")),
        action="x",
        gate="y",
        role="boss",
    ),
    case(
        "workflow_step", "a|b|c", p.not_next("a", "b"), p.last_is("a"), trigger="a", next_action="b"
    ),
    case(
        "workflow_step",
        "ctx:h=1|ctx:h=0|b|c",
        p.not_after_rise("h", 1, "b"),
        trigger={"ctx": {"h": 1}},
        next_action="b",
    ),
    case("no_reversal", "a|a?|error:a|r", p.after_effort("r", "a"), commitment="a", reversal="r"),
    case(
        "no_reversal",
        "a|a!|a?|r",
        p.after_call("r", "a"),
        commitment="a",
        reversal="r",
        counts="called",
    ),
    case(
        "segregation_of_duty",
        "a@x|b@x|b@y|a@x!",
        p.both_by_one("a", "b"),
        first="a",
        second="b",
    ),
    case(
        "segregation_of_duty",
        "a@x|b@x|a@x!|b@y",
        p.both_by_one("a", "b", failed=True),
        first="a",
        second="b",
        counts="called",
    ),
    case(
        "always_followed_by",
        "a|a!|a?|b",
        p.never,
        p.unanswered("a", "b"),
        trigger="a",
        response="b",
    ),
    case(
        "always_followed_by",
        "a?|error:a|ok:a|b?|error:b",
        p.never,
        p.unanswered("a", "b"),
        trigger="a",
        response="b",
    ),
    case(
        "always_followed_by",
        "a|a!|b!|b?|c",
        p.never,
        p.unanswered_calls("a", "b"),
        trigger="a",
        response="b",
        counts="called",
    ),
    case(
        "required_steps_completion",
        "a|b|b?|g",
        p.lacks_all("g", ("a", "b")),
        steps=["a", "b"],
        gate="g",
    ),
    case(
        "required_steps_completion",
        "a!|b|c|g",
        p.lacks_all("g", ("a", "b"), called=True),
        steps=["a", "b"],
        gate="g",
        counts="called",
    ),
    case("rate_limit", "q|q!|q?|z", p.too_often("q", 2), action="q", limit=2),
    case(
        "rate_limit",
        "q|q!|q?|error:q",
        p.too_often("q", 2, failed=False),
        action="q",
        limit=2,
        counts="done",
    ),
    case(
        "rate_limit", "q|q!|z", p.too_often("q", 2, steps=4), action="q", limit=2, per={"steps": 4}
    ),
    case(
        "rate_limit",
        "q|+3s q!|z|+2s z",
        p.too_often("q", 1, seconds=3),
        action="q",
        limit=1,
        per={"seconds": 3},
    ),
    case("idempotent", "t|t!|t?|z", p.too_often("t", 1), action="t"),
    case("idempotent", "t(k=1)|t(k=1.0)|t(k=true)|t", p.again_with("t", "k"), action="t", by=["k"]),
    case("cooldown", "s|s!|z", p.within_steps("s", 2), action="s", steps=2),
    case(
        "cooldown",
        "s|s!|s?|error:s|z",
        p.within_steps("s", 2, failed=False),
        action="s",
        steps=2,
        counts="done",
    ),
    case("cooldown", "s|+2s s|+3s z", p.within_seconds("s", 3), action="s", seconds=3),
    case(
        "deadline",
        "t|a|z",
        p.missed("t", "a", 2),
        p.still_due("t", "a", 2),
        trigger="t",
        action="a",
        steps=2,
    ),
    case(
        "deadline",
        "t|a|z",
        p.missed("t", "ta", 2),
        p.still_due("t", "ta", 2),
        trigger="t",
        action=["t", "a"],
        steps=2,
    ),
    case("bounded_retry", "d|d!|d?|z", p.too_many_retries("d", 1), action="d", retries=1),
    case(
        "bounded_retry", "d?|d!|ok:d|error:d|z", p.too_many_retries("d", 2), action="d", retries=2
    ),
    case("loop_detection", "s(q=1)|s(q=1)!|s(q=2)|z", p.looping("s", 2), action="s", limit=2),
    case(
        "denial_limit",
        "s(q=1)|s(q=1)~|s(q=2)~|z",
        p.refused_before(2, lambda tried, now: tried == (now.tool, now.args)),
        limit=2,
    ),
    case(
        "denial_limit",
        "s(q=1)|s(q=1)~|s(q=2)~|z",
        p.refused_before(2, lambda tried, now: tried[0] == now.tool),
        limit=2,
        per="tool",
    ),
    case(
        "denial_limit",
        "s|s~|z~|z",
        p.refused_before(2, lambda tried, now: now.tool == "s" and tried[0] == "s"),
        limit=2,
        per="session",
        tool="s",
    ),
    case("mutual_exclusion", "a|a?|error:a|b", p.exclusive("a", "b"), first="a", second="b"),
    case(
        "mutual_exclusion",
        "a|a!|b|b!",
        p.exclusive("a", "b", failed=True),
        first="a",
        second="b",
        counts="called",
    ),
    case("tool_allowlist", "a|b|ab|A", p.not_among("a", "b"), tools=["a", "b"]),
    case("redirect_to_safe", "u|u!|s|z", p.is_call("u"), unsafe="u", safe="s"),
    case(
        "arg_blacklist",
        'b(c="rm\\t -rf")|b(c="rm")|z(c="rm -rf")',
        p.argument("b", "c", lambda v: v in ("rm -rf", "rm\t -rf")),
        tool="b",
        field="c",
        patterns=["rm -rf"],
    ),
    case(
        "arg_allowlist",
        "b(c=ok)|b(c=okay)|z(c=no)",
        p.argument("b", "c", lambda v: v != "ok"),
        tool="b",
        field="c",
        patterns=["ok"],
    ),
    case(
        "arg_length_limit",
        'b(c=ab)|b(c=abc)|z(c=abc)|b(c={"abc":1})|b(c=[123])|b(c={"a":1})',
        p.argument("b", "c", lambda v: v in ("abc", {"abc": 1}, [123])),
        tool="b",
        field="c",
        max_chars=2,
    ),
    case(
        "arg_value_range",
        "b(c=1)|b(c=3)|b|z(c=3)",
        p.argument("b", "c", lambda v: v != 1),
        tool="b",
        field="c",
        min=0,
        max=2,
    ),
    case("must_confirm", "x|y=yes|y=no|z", p.others_lack_own("y", yes=True), action="*", by="y"),
    case(
        "backup_before_destructive",
        "x|y|y!|z",
        p.others_lack_own("y"),
        backup="y",
        action="*",
    ),
    case(
        "required_steps_completion",
        "a|b|b!|c",
        p.others_lack("a", "b", each=True),
        steps=["a", "b"],
        gate="*",
    ),
]
