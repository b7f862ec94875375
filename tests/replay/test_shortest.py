"""The shortest traces that keep and break a contract: each is judged, and none is shorter."""

from __future__ import annotations

import pytest

from sponsio_like.contracts import Contract, Pattern, Rule, catalog, contract, read_sentence
from sponsio_like.replay import shortest_lines, shortest_of

PATTERNS = [each for each in catalog() if each.build.__module__.startswith("sponsio_like.")]

SHORTEST = {
    "tool `check` must precede `pay`": ("check pay", "pay"),
    "never call `pay`": ("other", "pay"),
    "`query` at most three times": ("query", "query (x4)"),
    "`query` at most twelve times": ("query", "query (x13)"),
    "every `refund` must be followed by `notify`": (
        "refund notify",
        "refund, if the session ends there",
    ),
    "never call `reject` after `approve`": ("reject", "approve reject"),
    "`deploy` requires confirmation": ("confirm_deploy=yes deploy", "deploy"),
    "`a` and `b` are mutually exclusive": ("a", "a b"),
    "`deploy` requires ctx env is prod": ("ctx:env=prod deploy", "deploy"),
    "if ctx env is prod, never call `drop`": ("other", "drop"),
    "`pay.amount` must be between 0 and 100": ("pay(amount=0)", "pay(amount=101)"),
    "total LLM tokens under 50": ("other", "tokens:50 other"),
    "`send` has a cooldown of 30 seconds": ("send", "send send"),
    "`respond` must be called within 2 steps of `receive`": (
        "receive respond",
        "receive, if the session ends there",
    ),
    "at most two refusals per session": ("other", "other~ other~ other"),
    "sub-agent delegation at most 2 levels": ("other", "other^3"),
    "`bash.command` must not contain `rm -rf`": ("bash(command=other)", 'bash(command="rm -rf")'),
    "`pay.to` must come from `find`": ("find=x1 pay(to=x1)", "pay(to=x1)"),
    "response must not mention `acme`": ("msg:assistant=other", "msg:assistant=acme"),
}


def of(rule: Rule) -> Contract:
    """A contract that demands this rule."""
    return contract("it").guarantees(rule)


@pytest.mark.parametrize("sentence", SHORTEST)
def test_the_shortest_traces_of_a_sentence(sentence: str) -> None:
    """What keeps and breaks a sentence is found, and is as short as can be."""
    keeps, breaks = SHORTEST[sentence]
    found = shortest_lines(of(read_sentence(sentence)))
    assert found == [("keeps", keeps), ("breaks", breaks)]


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda each: each.name)
def test_both_traces_are_found_for_every_pattern(pattern: Pattern) -> None:
    """Each pattern of the catalog has a short trace that keeps it, and one that breaks it."""
    found = shortest_of(of(pattern.rule(pattern.example)))
    assert found.keeps
    assert found.breaks
    assert max(len(found.keeps), len(found.breaks)) <= 4


def test_a_contract_that_no_tried_trace_breaks_has_none() -> None:
    """If no trace was found that breaks a contract, that is said."""
    found = shortest_lines(of(read_sentence("`a` at most 1000 times")))
    assert found == [("keeps", "a"), ("breaks", "none was found")]
