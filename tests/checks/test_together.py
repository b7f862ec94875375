"""Contracts that contradict, forbid or repeat each other: sixty planted pairs, sixty sound ones."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import NamedTuple

import pytest

from sponsio_like.contracts import ALL_INPUTS, Contract
from sponsio_like.contracts.definition import contract
from sponsio_like.contracts.loader import File, loads
from sponsio_like.replay import Replay
from sponsio_like.replay.letters import letters_of
from sponsio_like.replay.replay import TraceVerdict
from sponsio_like.replay.shortest import timed
from sponsio_like.replay.together import PairFinding, PairFindings, found_together
from sponsio_like.syntax import read
from sponsio_like.traces import trace_of
from tests.semantics.manifest import requirement


class Planted(NamedTuple):
    """Two guarantees, and what they do to each other; `tool`: the one that they forbid."""

    kind: str
    first: str
    second: str
    tool: str = ""


def ltl(text: str) -> str:
    """A guarantee that is a formula."""
    return f"{{ltl: '{text}'}}"


def precede(first: str, then: str) -> str:
    """A guarantee: one tool before another."""
    return f"{{pattern: must_precede, first: {first}, then: {then}}}"


def cap(tool: str, limit: int) -> str:
    """A guarantee: at most so many calls."""
    return f"{{pattern: rate_limit, action: {tool}, limit: {limit}}}"


def answered(trigger: str, response: str) -> str:
    """A guarantee: a call is followed by another."""
    return f"{{pattern: always_followed_by, trigger: {trigger}, response: {response}}}"


def never(tool: str) -> str:
    """A guarantee: a tool is not called."""
    return ltl(f"G !called({tool})")


def file_of(*guarantees: str, more: str = "") -> File:
    """A contract file with these guarantees: `c0`, `c1`, .."""
    lines = "".join(f"  - {{name: c{i}, guarantee: {g}}}\n" for i, g in enumerate(guarantees))
    return loads(f"version: 1\n{more}contracts:\n{lines}")


def found(*guarantees: str) -> PairFindings:
    """What is found of contracts with these guarantees."""
    file = file_of(*guarantees)
    return found_together(file.contracts, inventory=file.inventory)


PLANTED = (
    # together they can never be kept
    Planted("conflict", ltl("F called(a)"), never("a")),
    Planted("conflict", ltl("F done(a)"), never("a")),
    Planted("conflict", ltl("F called(a)"), ltl("G !(called(a) | called(b))")),
    Planted("conflict", ltl("F called(a) & F called(b)"), never("b")),
    Planted("conflict", ltl("F (called(a) & agent = bob)"), never("a")),
    Planted("conflict", ltl("F called(a) | F called(b)"), ltl("G !(called(a) | called(b))")),
    Planted("conflict", ltl("F (called(a) & X F called(b))"), never("b")),
    Planted("conflict", ltl("F called(b)"), never("*")),
    Planted("conflict", ltl("F called(b)"), ltl("G !called(a) & G !called(b)")),
    Planted("conflict", ltl("F called(pay)"), '{pattern: absent, match: {tool: "pa*"}}'),
    # each lets a call through, after which they cannot both be kept
    Planted("trap", answered("pay", "mail"), never("mail")),
    Planted("trap", ltl("G(called(pay) -> X F called(mail))"), never("mail")),
    Planted("trap", answered("pay", "mail"), ltl("G(called(mail) -> H !called(pay))")),
    Planted("trap", ltl("G(called(a) -> X called(b))"), ltl("G(called(a) -> X called(c))")),
    Planted("trap", ltl("G(called(a) -> X called(b))"), ltl("G(called(b) -> !Y called(a))")),
    Planted("trap", ltl("G(called(a) -> X X called(b))"), ltl("G(called(a) -> X X !called(b))")),
    Planted("trap", answered("open", "close"), ltl("G(called(close) -> H !called(open))")),
    Planted("trap", ltl("G(done(a) -> X F called(b))"), never("b")),
    Planted("trap", ltl("G(called(a) -> F called(b))"), ltl("G(called(a) -> G !called(b))")),
    Planted("trap", ltl("G(called(a) -> F[<=2] called(b))"), ltl("G(called(a) -> G !called(b))")),
    # together they forbid a call for good
    Planted("forbidden", precede("check", "pay"), precede("pay", "check"), "pay"),
    Planted("forbidden", precede("check", "pay"), never("check"), "pay"),
    Planted(
        "forbidden", precede("check", "pay"), ltl("G(called(check) -> H !called(*) | false)"), "pay"
    ),
    Planted("forbidden", precede("a", "b"), ltl("G(called(b) -> H !called(a))"), "b"),
    Planted(
        "forbidden", ltl("G(called(b) -> Y O called(a))"), ltl("G(called(b) -> H !called(a))"), "b"
    ),
    Planted(
        "forbidden", ltl("G(called(b) -> Y called(a))"), ltl("G(called(b) -> Y called(c))"), "b"
    ),
    Planted(
        "forbidden", ltl("G(called(b) -> Y called(a))"), ltl("G(called(b) -> !Y O called(a))"), "b"
    ),
    Planted("forbidden", "{pattern: must_precede, first: vet, then: send}", never("vet"), "send"),
    Planted(
        "forbidden", precede("login", "pay"), ltl("G(called(login) -> Y O called(pay))"), "pay"
    ),
    Planted("forbidden", precede("a", "b"), ltl("G(called(b) -> !O done(a))"), "b"),
    # what one demands, the other demands too
    Planted("same", precede("a", "b"), precede("a", "b")),
    Planted("same", precede("a", "b"), ltl("G(called(b) -> Y O done(a))")),
    Planted("same", never("a"), "{pattern: absent, match: {tool: a}}"),
    Planted("same", cap("a", 2), cap("a", 2)),
    Planted("same", answered("a", "b"), answered("a", "b")),
    Planted("same", ltl("G !(called(a) | called(b))"), ltl("G !called(b) & G !called(a)")),
    Planted("same", ltl("G(called(a) -> !O called(b))"), ltl("G(O called(b) -> !called(a))")),
    Planted("implied", cap("pay", 2), cap("pay", 3)),
    Planted("implied", cap("pay", 1), cap("pay", 5)),
    Planted("implied", ltl("G(called(a) -> X called(b))"), ltl("G(called(a) -> X F called(b))")),
    Planted("implied", ltl("G(called(a) -> Y called(b))"), ltl("G(called(a) -> Y O called(b))")),
    Planted("implied", ltl("G(called(a) -> Y O done(b))"), ltl("G(called(a) -> Y O called(b))")),
    Planted("implied", ltl("G !called(a) & G !called(b)"), never("b")),
    Planted("implied", never("*"), never("b")),
    Planted("implied", ltl("G(called(a) -> Y O (done(b) & Y O done(c)))"), precede("b", "a")),
    Planted(
        "implied", ltl("G(called(a) -> F[<=2] called(b))"), ltl("G(called(a) -> F[<=5] called(b))")
    ),
    Planted(
        "implied", ltl("G(called(a) -> O[<=2] done(b))"), ltl("G(called(a) -> O[<=9] done(b))")
    ),
    Planted("implied", precede("check", "[pay, refund]"), precede("check", "pay")),
    Planted("implied", ltl("G !called(a)"), ltl("G !called(a, amount > 100)")),
    Planted(
        "implied",
        ltl('G(message(user) -> !text matches "a") & G(message(user) -> !text matches "b")'),
        ltl('G(message(user) -> !text matches "a")'),
    ),
    Planted("implied", answered("[a, b]", "c"), answered("a", "c")),
    # one is asked only where the other is broken
    Planted("idle", never("pay"), precede("check", "pay")),
    Planted("idle", never("pay"), cap("pay", 2)),
    Planted("idle", never("pay"), answered("pay", "mail")),
    Planted("idle", never("*"), precede("check", "pay")),
    Planted("idle", ltl("G !(called(a) | called(b))"), ltl("G(called(a) -> X called(c))")),
    Planted("idle", '{pattern: absent, match: {tool: "pay*"}}', precede("check", "pay_now")),
    Planted("idle", never("a"), ltl('G(called(a) & ctx(stage) = "x" -> X F called(b))')),
    Planted("idle", "{pattern: absent, match: {tool: a}}", ltl("G(called(a) -> X called(c))")),
    Planted("idle", ltl("G(message(user) -> false)"), ltl("G(message(user) -> X F called(a))")),
)

SOUND = (
    (precede("check", "pay"), cap("pay", 2)),
    (precede("check", "pay"), cap("check", 5)),
    (precede("check", "pay"), answered("pay", "mail")),
    (precede("check", "pay"), never("delete")),
    (precede("check", "pay"), precede("check", "refund")),
    (precede("check", "pay"), precede("login", "check")),
    (precede("check", "pay"), precede("login", "pay")),
    (precede("check", "pay"), answered("check", "pay")),
    (precede("check", "pay"), ltl("G(called(pay) -> X !called(pay))")),
    (precede("check", "pay"), ltl("G(called(lock) -> G !called(pay))")),
    (cap("pay", 2), cap("mail", 2)),
    (cap("pay", 2), answered("pay", "mail")),
    (cap("mail", 2), answered("pay", "mail")),
    (cap("pay", 2), ltl("G(called(pay) -> X !called(pay))")),
    (cap("pay", 2), ltl("G(called(lock) -> G !called(pay))")),
    (cap("pay", 2), ltl("G !called(pay, amount > 100)")),
    (answered("pay", "mail"), answered("refund", "mail")),
    (answered("pay", "mail"), answered("mail", "log")),
    (answered("pay", "mail"), precede("pay", "mail")),
    (answered("pay", "mail"), ltl("G(called(mail) -> X !called(mail))")),
    (answered("pay", "mail"), ltl("G(called(lock) -> X F called(unlock))")),
    (answered("open", "close"), precede("open", "close")),
    (answered("open", "close"), cap("open", 3)),
    (answered("open", "close"), answered("close", "report")),
    (never("delete"), never("drop")),
    (never("delete"), precede("check", "pay")),
    (never("delete"), ltl("G(called(pay) -> X F called(mail))")),
    (never("delete"), ltl("G !called(pay, amount > 100)")),
    (ltl("G !called(pay, amount > 100)"), ltl('G !called(pay, to = "eve")')),
    (ltl("G !called(pay, amount > 100)"), precede("check", "pay")),
    (ltl('G !called(pay, to = "eve")'), ltl('G !called(pay, to = "mallory")')),
    (ltl("F called(a)"), cap("a", 3)),
    (ltl("F called(a)"), precede("b", "a")),
    (ltl("F called(a)"), ltl("F called(b)")),
    (ltl("F called(a)"), never("b")),
    (ltl("F done(a)"), ltl("G(failed(a) -> X F called(a))")),
    (ltl("G(failed(a) -> X F called(a))"), cap("b", 3)),
    (ltl("G(called(a) -> X called(b))"), ltl("G(called(c) -> X called(b))")),
    (ltl("G(called(a) -> X called(b))"), ltl("G(called(b) -> X called(c))")),
    (ltl("G(called(a) -> X called(b))"), precede("c", "a")),
    (ltl("G(called(a) -> Y O called(b))"), ltl("G(called(a) -> Y O called(c))")),
    (ltl("G(called(a) -> O[<=5] done(b))"), ltl("G(called(a) -> Y O done(c))")),
    (ltl("G(called(a) -> F[<=5] called(b))"), ltl("G(called(b) -> F[<=5] called(c))")),
    (ltl('G(called(pay) -> ctx(stage) = "open")'), precede("check", "pay")),
    (ltl('G(called(pay) -> ctx(stage) = "open")'), ltl('G(called(mail) -> ctx(stage) = "open")')),
    (ltl('G(called(pay) -> ctx(stage) = "open")'), ltl('G(called(pay) -> ctx(kind) = "card")')),
    (ltl("G(called(pay) -> permission(pay))"), precede("check", "pay")),
    (ltl("G(called(pay) -> agent = bob)"), ltl("G(called(check) -> agent = ann)")),
    (ltl("G(called(pay) -> agent = bob)"), precede("check", "pay")),
    (ltl("G(message(user) -> X F called(a))"), ltl("G(called(a) -> X F message(assistant))")),
    (ltl("G(message(user) -> X F called(a))"), precede("b", "a")),
    ("{pattern: must_confirm, action: pay, by: ask}", cap("pay", 3)),
    ("{pattern: must_confirm, action: pay, by: ask}", precede("check", "pay")),
    ("{pattern: must_confirm, action: pay, by: ask}", answered("pay", "mail")),
    ("{pattern: cooldown, action: pay, steps: 3}", cap("pay", 3)),
    ("{pattern: cooldown, action: pay, steps: 3}", precede("check", "pay")),
    ("{pattern: deadline, trigger: pay, action: mail, steps: 3}", cap("pay", 3)),
    ("{pattern: max_length, max_words: 20}", precede("check", "pay")),
    (precede("check", "pay"), precede("pay", "mail"), precede("mail", "close")),
    (precede("check", "pay"), answered("pay", "mail"), cap("pay", 3), never("delete")),
)


@requirement("S-LOAD-18")
@pytest.mark.parametrize("planted", PLANTED, ids=lambda each: f"{each.first} {each.second}")
def test_what_two_contracts_do_to_each_other_is_found(planted: Planted) -> None:
    """It is found as what it is, with a trace, and playing the trace shows it."""
    findings = found(planted.first, planted.second).findings
    assert {each.claim.kind for each in findings} == {planted.kind}
    assert planted.tool in {each.claim.tool for each in findings}
    for each in findings:
        assert each.trace is not None
        confirm(each)


@requirement("S-LOAD-18")
@pytest.mark.parametrize("guarantees", SOUND, ids=" ".join)
def test_contracts_that_get_on_are_not_spoken_of(guarantees: tuple[str, ...]) -> None:
    """Contracts that can all be kept, and each demand something, give no finding."""
    result = found(*guarantees)
    assert [str(each.problem) for each in result.findings] == []
    assert (len(PLANTED), len(SOUND)) == (60, 60)


# --- the traces, played ---------------------------------------------------------------------------


def judged(contracts: tuple[Contract, ...], *events: dict[str, object]) -> TraceVerdict:
    """What the interceptor makes of a trace."""
    trace = trace_of({"events": timed(events)}, "played")
    return Replay(contracts, enforce=True).judge(replace(trace, inputs=ALL_INPUTS))


def played(
    contracts: tuple[Contract, ...], *events: dict[str, object]
) -> tuple[set[str], set[str]]:
    """What the interceptor stops of a trace, by contract, and what is broken at its end."""
    found = judged(contracts, *events)
    stopped = {each.contract for each in found.violations}
    return stopped, stopped | {each.contract for each in found.unfulfilled}


def confirm(finding: PairFinding) -> None:
    """Play the trace of a finding: with one of the contracts, and with both."""
    first, second = finding.claim.first, finding.claim.second
    both, trace = (first, second), finding.trace or ()
    match finding.claim.kind:
        case "conflict":
            assert played((first,), *trace) == (set(), set())
            assert played(both, *trace)[1]
        case "trap":
            assert played(both, *trace)[0] == set()
            for more in range(3):
                for rest in itertools.product(letters(finding), repeat=more):
                    assert played(both, *trace, *rest)[1], rest
        case "forbidden":
            assert trace[-1]["tool"] == finding.claim.tool
            alone = [not played((each,), *trace)[0] for each in both]
            assert any(alone)
            assert played(both, *trace)[0]
        case "idle":
            assert played((first,), *trace)[1]
            assert judged((second,), *trace).applied[second.name]
        case _:
            assert played((first,), *trace)[1]
            assert played((second,), *trace)[1]


def letters(finding: PairFinding) -> list[dict[str, object]]:
    """The calls that both contracts speak of, as they succeed."""
    each = [*letters_of(finding.claim.first), *letters_of(finding.claim.second)]
    return [one for one in each if "tool" in one and "status" not in one][:6]


def test_what_was_not_compared_is_said() -> None:
    """Pairs beyond the budget are counted, and contracts that no formula over all sessions is."""
    file = file_of(precede("a", "b"), precede("b", "a"), cap("a", 3))
    result = found_together(file.contracts, pairs=1)
    assert (result.pairs, result.undecided) == (1, 2)
    assert result.limits == [
        "2 pairs of contracts not compared to the end: the budget ended (--pairs N)"
    ]
    match = "{tool: pay, args: {to: $x}}"
    requires = "{tool: find, output: {bind: $x}}"
    bound = f"{{pattern: precedence, match: {match}, requires: {requires}}}"
    result = found(bound, cap("pay", 2), cap("find", 2), answered("pay", "find"))
    assert result.left == 1
    assert result.limits[-1] == "1 contract not compared with others (values, scopes, assumptions)"


def test_what_only_observes_makes_nothing_idle() -> None:
    """A contract that only observes stops nothing, so that a stricter one beside it is needed."""
    wide = contract("wide").guarantees(read("G !called(a)"))
    beside = contract("beside").guarantees(read("G !called(a, x = 1)"))
    assert [each.claim.kind for each in found_together([wide, beside]).findings] == ["implied"]
    assert found_together([wide.observe(), beside]).findings == ()
    assert found_together([wide.strategy("warn_only"), beside]).findings == ()
