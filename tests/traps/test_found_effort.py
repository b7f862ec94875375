"""Sizes are capped together: those of one call, and the work that all contracts make of it."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, Guard, Outcome, contract
from sponsio_like.patterns import arg_blacklist, no_data_leak, value_from
from sponsio_like.session.session import Session
from sponsio_like.values.limits import CHARACTERS_CAP, TEXT_CAP
from tests.semantics.manifest import requirement
from tests.support.costs import beside, work

TEXT = ("the quick brown fox jumps over the lazy dog; " * 2_000)[:TEXT_CAP]
USUAL = (
    r"rm\s+-rf",
    r"\bsudo\b",
    r"curl .*\| *sh",
    r"(?i)password\s*=",
    r"AKIA[0-9A-Z]{16}",
    r"[\w.]+@[\w.]+\.\w+",
    r"\d{3}-\d{2}-\d{4}",
    r"-----BEGIN .*KEY",
    r"ghp_[A-Za-z0-9]{36}",
    r"eyJ[\w-]{10,}\.[\w-]{10,}",
)
OVER = "not all of it can be searched for all contracts at once"


def session_of(rules: list[Any]) -> Session:
    """A session under these rules, one contract each."""
    return Guard([contract(f"c{i}").guarantees(rule) for i, rule in enumerate(rules)]).session()


def forbidding(patterns: list[str], fields: int = 1) -> Session:
    """A session in which none of these stands in any of the fields."""
    names = [f"a{k}" for k in range(fields)]
    return session_of([arg_blacklist("t", name, [each]) for name in names for each in patterns])


def advice(outcome: Outcome) -> str:
    """What is said to a call that has to be refused."""
    assert isinstance(outcome, Blocked)
    return outcome.advice


@pytest.mark.long
@requirement("S-FAIL-12")
@pytest.mark.parametrize("fields", [1, 20])
def test_the_work_of_all_contracts_is_capped_together(fields: int) -> None:
    """Regular expressions that are much work each cannot all be searched for, and that violates."""
    session = forbidding([rf"a[ab ]{{30}}c{i}" for i in range(40)], fields)
    args = {f"a{k}": f"{TEXT[:-2]}{k:02}" for k in range(fields)}
    assert OVER in advice(session.decide("t", args))
    assert isinstance(session.decide("t", {"a0": "short"} | dict.fromkeys(args, "x")), Allowed)


@requirement("S-FAIL-12")
@pytest.mark.parametrize("end", ["", "é"])
def test_usual_expressions_are_searched_in_a_long_text(end: str) -> None:
    """64 KB under eighty usual expressions are decided, by what stands in there."""
    session = forbidding([f"{each}(?:x{i})?" for i in range(8) for each in USUAL])
    text = TEXT[:-40] + end
    assert isinstance(session.decide("t", {"a0": text}), Allowed)
    assert OVER not in advice(session.decide("t", {"a0": f"{text} rm  -rf /"}))


def test_many_small_texts_count_as_one_large_one() -> None:
    """What is too much in one argument is too much in a thousand texts."""
    session = session_of([arg_blacklist("t", "a", [rf"a[ab ]{{30}}c{i}"]) for i in range(40)])
    lists = [TEXT[k : k + 64] for k in range(0, 50_000, 64)]
    assert OVER in advice(session.decide("t", {"a": lists}))


@requirement("S-FAIL-12")
def test_the_words_of_a_text_are_told_apart_once() -> None:
    """What `has $x` finds in a text is worked out once, however many contracts ask for it."""
    text = " ".join(f"w{i}," for i in range(300))
    costs = []
    for count in (1, 2, 3):
        rules = [{"ltl": f"G(called(t, a has $x) -> O called(s{i}, k = $x))"} for i in range(count)]
        session = session_of(rules)
        session.decide("t", {"a": "w"})
        costs.append(work(lambda session=session: session.decide("t", {"a": text})))  # type: ignore[misc]
    first, more, still_more = costs
    assert more - first < first
    assert still_more - more < first


@requirement("S-FAIL-12")
def test_words_are_capped_over_all_fields_and_contracts() -> None:
    """2,000 words in each of many fields are too many together, and each alone is not."""
    words = " ".join(f"w{i}" for i in range(1_900))
    rules = [{"ltl": f"G(called(t, a{i} has $x) -> O called(s, k = $x))"} for i in range(20)]
    args = {f"a{i}": f"{words} {i}" for i in range(20)}
    assert OVER in advice(session_of(rules).decide("t", args))
    assert OVER not in advice(session_of(rules[:1]).decide("t", args))


def test_leaks_of_several_sources_are_looked_for_in_one_long_text() -> None:
    """An argument of 64 KB is decided where several sources must not reach it."""
    rules = [no_data_leak(f"s{i}", "t", "values") for i in range(3)]
    session = session_of(rules)
    session.settle(session.decide("s1").id, output={"token": "sk-12345678"})
    assert isinstance(session.decide("t", {"a": TEXT}), Allowed)
    assert isinstance(session.decide("t", {"a": f"{TEXT[:-20]} sk-12345678"}), Blocked)


@requirement("S-FAIL-05")
@pytest.mark.parametrize(
    ("value", "met"),
    [
        ([10**4000 - i for i in range(56)], "more than 20,000 digits together"),
        (10**5000, "a number of more than 4,300 digits"),
        (["x" * (CHARACTERS_CAP // 8)] * 9, "more than 8,000,000 characters"),
        ({"x" * CHARACTERS_CAP: 1, "y": 2}, "more than 8,000,000 characters"),
        ([0] * 6_000, "more than 5,000 values"),
    ],
    ids=["digits", "number", "characters", "names", "values"],
)
def test_advice_says_which_cap_was_met(value: Any, met: str) -> None:
    """Values that are too much together are unreadable, each cap named; others are read."""
    session = session_of([arg_blacklist("t", "a", ["secret"])])
    refused = advice(session.decide("t", {"a": value}))
    assert f"`a` could not be read: the call has {met}" in refused
    assert isinstance(session.decide("t", {"a": "fine"}), Allowed)


def test_digits_are_capped_before_any_contract_reads_them() -> None:
    """Hundreds of long numbers take no more than a few hundred times a loop of a millisecond."""
    session = session_of([value_from("t", "f", "s")])
    session.decide("t", {"f": 1})
    many = [10**4000 - i for i in range(1_000)]
    assert beside(lambda: session.decide("t", {"f": many})) < 300
