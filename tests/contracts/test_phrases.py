"""Sentences: the catalog's own, read as a whole or refused."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like.contracts import sentences as phrases
from sponsio_like.contracts import templates as wording
from sponsio_like.contracts.conditions import assumption
from sponsio_like.contracts.declaration import catalog, find_pattern
from sponsio_like.contracts.demands import same_meaning
from sponsio_like.contracts.sentences import meanings
from sponsio_like.contracts.targets import Vocabulary
from sponsio_like.errors import ContractError
from sponsio_like.syntax import read

SENTENCES: dict[str, tuple[str, dict[str, Any]]] = {
    "tool `A` must precede `B`": ("must_precede", {"first": "A", "then": "B"}),
    "must call `A` before `B`": ("must_precede", {"first": "A", "then": "B"}),
    "tool `A` must precede `B` by at most 60 seconds": (
        "must_precede",
        {"first": "A", "then": "B", "within": {"seconds": 60}},
    ),
    "tool `A` must precede `B` by at most 1 step": (
        "must_precede",
        {"first": "A", "then": "B", "within": {"steps": 1}},
    ),
    "tool `A` requires confirmation": ("must_confirm", {"action": "A"}),
    "tool `A` requires confirmation by `B`": ("must_confirm", {"action": "A", "by": "B"}),
    "tool `A` requires permission `p`": (
        "requires_permission",
        {"tool": "A", "permission": "p"},
    ),
    "no data leak from `A` to `B`": ("no_data_leak", {"source": "A", "sink": "B"}),
    "destructive action `A` requires confirmation": ("destructive_action_gate", {"action": "A"}),
    "after `A`, the next step must be `B`": (
        "workflow_step",
        {"trigger": "A", "next_action": "B"},
    ),
    "after `A`, tool `B` is forbidden": ("no_reversal", {"commitment": "A", "reversal": "B"}),
    "tools `A` and `B` must be by different agents": (
        "segregation_of_duty",
        {"first": "A", "second": "B"},
    ),
    "tools `A` and `B` must be by different agents for the same `k`": (
        "segregation_of_duty",
        {"first": "A", "second": "B", "same": ["k"]},
    ),
    "tool `A` at most 5 times for each `k`": (
        "rate_limit",
        {"action": "A", "limit": 5, "by": ["k"]},
    ),
    "tool `A` at most 5 times per 60 seconds for each `k`": (
        "rate_limit",
        {"action": "A", "limit": 5, "per": {"seconds": 60}, "by": ["k"]},
    ),
    "tool `A` cooldown of 60 seconds for the same `k`": (
        "cooldown",
        {"action": "A", "seconds": 60, "by": ["k"]},
    ),
    "tool `A` cooldown of 60 seconds after `B` for the same `k`": (
        "cooldown",
        {"action": "A", "seconds": 60, "after": "B", "by": ["k"]},
    ),
    "every `A` must be followed by `B`": (
        "always_followed_by",
        {"trigger": "A", "response": "B"},
    ),
    "`A` and `B` must complete before `C`": (
        "required_steps_completion",
        {"steps": ["A", "B"], "gate": "C"},
    ),
    "`A` must complete before `C`": ("required_steps_completion", {"steps": ["A"], "gate": "C"}),
    "tool `A` at most 5 times": ("rate_limit", {"action": "A", "limit": 5}),
    "tool `A` at most 5 times per 60 seconds": (
        "rate_limit",
        {"action": "A", "limit": 5, "per": {"seconds": 60}},
    ),
    "tool `A` at most 5 times per 10 steps": (
        "rate_limit",
        {"action": "A", "limit": 5, "per": {"steps": 10}},
    ),
    "tool `A` at most 1 times": ("rate_limit", {"action": "A", "limit": 1}),
    "tool `A` at most once": ("idempotent", {"action": "A"}),
    "tool `A` cooldown of 3 steps": ("cooldown", {"action": "A", "steps": 3}),
    "tool `A` cooldown of 0.5 seconds": ("cooldown", {"action": "A", "seconds": 0.5}),
    "tool `A` cooldown of 3 steps after `B`": (
        "cooldown",
        {"action": "A", "steps": 3, "after": "B"},
    ),
    "tool `A` cooldown of 60 seconds after `B`": (
        "cooldown",
        {"action": "A", "seconds": 60, "after": "B"},
    ),
    "tool `B` within 3 steps of `A`": ("deadline", {"trigger": "A", "action": "B", "steps": 3}),
    "tool `B` within 3 seconds of `A`": (
        "deadline",
        {"trigger": "A", "action": "B", "seconds": 3},
    ),
    "tool `A` at most 3 retries": ("bounded_retry", {"action": "A", "retries": 3}),
    "tool `A` must not loop more than 5 times": ("loop_detection", {"action": "A", "limit": 5}),
    "at most 3 refusals per session": ("denial_limit", {"limit": 3, "per": "session"}),
    "tool `A` at most 3 refusals per call": (
        "denial_limit",
        {"tool": "A", "limit": 3, "per": "call"},
    ),
    "tools `A` and `B` are mutually exclusive": (
        "mutual_exclusion",
        {"first": "A", "second": "B"},
    ),
    "agent may only call `A`, `B`": ("tool_allowlist", {"tools": ["A", "B"]}),
    "agent may call no tool but `A` with `n` = `5`": (
        "tool_allowlist",
        {"tools": {"tool": "A", "args": {"n": 5}}},
    ),
    "redirect `A` to `B`": ("redirect_to_safe", {"unsafe": "A", "safe": "B"}),
    "`A` `f` must not contain `p q`": (
        "arg_blacklist",
        {"tool": "A", "field": "f", "patterns": ["p q"]},
    ),
    "`A` `f` must match `^p$`": (
        "arg_allowlist",
        {"tool": "A", "field": "f", "patterns": ["^p$"]},
    ),
    "`A` `f` and `g` must lie under `/w` or `/data`": (
        "scope_limit",
        {"tool": "A", "fields": ["f", "g"], "paths": ["/w", "/data"]},
    ),
    "`A` `f` may only reach `api.corp.com` or `*.x.org`": (
        "host_allowlist",
        {"tool": "A", "field": "f", "hosts": ["api.corp.com", "*.x.org"]},
    ),
    "`A` must not issue `drop` or `alter`": (
        "dangerous_sql_verbs",
        {"tool": "A", "verbs": ["drop", "alter"]},
    ),
    "`A` `f` must lie in the last 60 seconds": (
        "date_within",
        {"tool": "A", "field": "f", "last": 60},
    ),
    "`A` `f` must lie in the next 60 seconds": (
        "date_within",
        {"tool": "A", "field": "f", "coming": 60},
    ),
    "`A` `f` must lie in the last 60 seconds or the next 5 seconds": (
        "date_within",
        {"tool": "A", "field": "f", "last": 60, "coming": 5},
    ),
    "`A` must not run dangerous commands": ("dangerous_bash_commands", {"tool": "A"}),
    "`A` with `n` > `5` and no other call of it": (
        "no_other_call",
        {"call": {"tool": "A", "args": {"n": {"gt": 5}}}},
    ),
    "`A.f` at most 500 chars": (
        "arg_length_limit",
        {"tool": "A", "field": "f", "max_chars": 500},
    ),
    "`A.f.g` between -1.5 and 10000": (
        "arg_value_range",
        {"tool": "A", "field": "f.g", "min": -1.5, "max": 10000},
    ),
    "`A.f` at most 5": ("arg_value_range", {"tool": "A", "field": "f", "max": 5}),
    "`A.f` at least -5": ("arg_value_range", {"tool": "A", "field": "f", "min": -5}),
    "total `A.f` at most 1000": ("amount_limit", {"tool": "A", "field": "f", "total": 1000}),
    "total `A.f` at most 1000 per 60 seconds": (
        "amount_limit",
        {"tool": "A", "field": "f", "total": 1000, "per": {"seconds": 60}},
    ),
    "total `A.f` at most 1000 per 10 steps": (
        "amount_limit",
        {"tool": "A", "field": "f", "total": 1000, "per": {"steps": 10}},
    ),
    "`A.f` must not be edited after `B`": (
        "data_intact",
        {"tool": "A", "field": "f", "after": "B"},
    ),
    "`A.f` must not be edited": ("data_intact", {"tool": "A", "field": "f"}),
    "content from `A` requires review": ("untrusted_source_gate", {"source": "A"}),
    "confirmation required after reading from `A`": ("confirm_after_source", {"source": "A"}),
    "`A` must pass `B` before `C`": (
        "sanitized_before_sink",
        {"source": "A", "sanitizer": "B", "sink": "C"},
    ),
    "`A` at most once per session": ("irreversible_once", {"action": "A"}),
    "total LLM tokens under 50000": ("token_budget", {"limit": 50000}),
    "sub-agent delegation at most 3 levels": ("delegation_depth_limit", {"limit": 3}),
    "`A` requires active approval from `r`": ("approval_active", {"action": "A", "role": "r"}),
    "`A` valid for 10 steps before `B`": (
        "approval_freshness",
        {"approval": "A", "action": "B", "max_steps": 10},
    ),
    "every `A` must log `B`": ("audit_after", {"action": "A", "audit": "B"}),
    "backup `A` must precede `B`": (
        "backup_before_destructive",
        {"backup": "A", "action": "B"},
    ),
    "dry run `A` must precede `B`": ("dry_run_before_commit", {"dry_run": "A", "commit": "B"}),
    "`A` requires ctx[k]=v": ("ctx_required", {"tool": "A", "key": "k", "values": "v"}),
    "`A` requires ctx[k]=true": ("ctx_required", {"tool": "A", "key": "k", "values": True}),
    '`A` requires ctx[k]="true" or 5': (
        "ctx_required",
        {"tool": "A", "key": "k", "values": ["true", 5]},
    ),
    "`A` requires k matching `r`": (
        "ctx_matches_required",
        {"tool": "A", "key": "k", "regex": "r"},
    ),
    "`A` to same `f` at most 1 time": (
        "duplicate_call_limit",
        {"tool": "A", "fields": ["f"], "limit": 1},
    ),
    "`A` to same `f` and `g` at most 2 times": (
        "duplicate_call_limit",
        {"tool": "A", "fields": ["f", "g"], "limit": 2},
    ),
    "`A` within 60s of a call of `B`": (
        "time_since",
        {"action": "A", "event": {"called": "B"}, "max_seconds": 60},
    ),
    "`A` within 60s of `B`": ("time_since", {"action": "A", "event": "B", "max_seconds": 60}),
    "response must not mention `w`": ("no_keywords", {"words": ["w"]}),
    "response must not contain `email` or `card` data": ("no_pii", {"kinds": ["email", "card"]}),
    "`A` must not be given `card` data": ("no_pii", {"kinds": ["card"], "tool": "A"}),
    "`A` must not answer with `secrets` data": ("no_pii", {"kinds": ["secrets"], "answers": "A"}),
    "response under 200 words": ("max_length", {"max_words": 200}),
    "response under 200 characters": ("max_length", {"max_chars": 200}),
    "no `A`": ("absent", {"match": "A"}),
    "every `A` with `x` = `$x` requires an earlier `B` or `C`": (
        "precedence",
        {"match": {"tool": "A", "args": {"x": "$x"}}, "requires": ["B", "C"]},
    ),
    "every `A` requires an earlier `B` within 60 seconds": (
        "precedence",
        {"match": "A", "requires": "B", "within": {"seconds": 60}},
    ),
    "every `A` requires an earlier `B` within 3 events": (
        "precedence",
        {"match": "A", "requires": "B", "within": {"steps": 3}},
    ),
    "every `A` must be answered by `B`": ("response", {"match": "A", "by": "B"}),
    "every `A` must be answered by `B` within 3 events": (
        "bounded_response",
        {"match": "A", "by": "B", "within": 3},
    ),
    "the last `A` must be resolved by `B`": ("resolved", {"match": "A", "by": "B"}),
    "no `B` after `A` until `C`": ("until", {"trigger": "A", "forbidden": "B", "release": "C"}),
    "no `B` after `A`": ("until", {"trigger": "A", "forbidden": "B"}),
    "`A.f` must come from `B`": ("value_from", {"tool": "A", "field": "f", "source": "B"}),
    "`A` requires the latest `user` message to match `yes`": (
        "message_says",
        {"action": "A", "role": "user", "matches": "yes"},
    ),
    "`A` must not be repeated after 1 failure": ("repeated_failure", {"action": "A", "limit": 1}),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_of_the_catalog_states_its_rule(sentence: str) -> None:
    """Every pattern's exact sentence builds that pattern's rule, and the rule says the sentence."""
    name, given = SENTENCES[sentence]
    rule = phrases.read_sentence(f"  {sentence} ")
    assert (rule.pattern, rule.arguments) == (name, given)
    if "must call" not in sentence:
        assert rule.sentence == sentence


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_means_one_thing(sentence: str) -> None:
    """No sentence of one pattern is also a sentence of another."""
    assert [found.name for found, _ in phrases.readings(sentence)] == [SENTENCES[sentence][0]]


def test_every_sentence_is_listed_here() -> None:
    """Every sentence of every pattern has an example above."""
    unread = [
        template
        for declared in catalog()
        if declared.build.__module__.startswith("sponsio_like.")
        for template in declared.sentences
        if not any(wording.arguments(template, sentence) is not None for sentence in SENTENCES)
    ]
    assert unread == []


@pytest.mark.parametrize(
    ("sentence", "near"),
    [
        ("never call `deploy` before noon", "tool `noon` must precede `deploy`"),
        ("respond within 3 steps of receive", "tool `respond` within 3 steps of `receive`"),
        ("`read` must sometimes be followed by `send`", "every `read` must be followed by `send`"),
        ("tool `A` must precede `B` or else", "tool `A` must precede `B`"),
        ("tool A must precede `B`, always", "tool `A` must precede `B`"),
        ("tool `A` must precede `B` and tool `C` must precede `D`", ""),
        ("tool `A` must precede ``", "tool `A` must precede `THEN`"),
        ("tool `A` at most some times", "tool `A` at most LIMIT times"),
        ("tool `A` at most 5 times per 60 fortnights", "tool `A` at most 5 times"),
        ("response must be polite", ""),
        ("", ""),
    ],
)
def test_what_is_not_entirely_understood_is_refused(sentence: str, near: str) -> None:
    """A sentence is read as a whole; else it is refused, with the sentences most like it."""
    with pytest.raises(ContractError) as error:
        phrases.read_sentence(sentence)
    assert f"“{sentence}” is not understood" in str(error.value)
    assert near in str(error.value)


def test_the_arguments_of_a_sentence_are_checked() -> None:
    """What stands in a sentence is read like any argument of a pattern."""
    words = Vocabulary({"check": None, "pay": None})
    with pytest.raises(ContractError, match=r"unknown tool `chek`; did you mean `check`\?"):
        phrases.read_sentence("tool `chek` must precede `pay`", words)
    with pytest.raises(ContractError, match=r"`2\.5` is not a whole number from 0"):
        phrases.read_sentence("tool `pay` at most 2.5 times")
    with pytest.raises(ContractError, match=r"`pay_\*` is not an exact name"):
        phrases.read_sentence("agent may only call `pay_*`")


ASSUMED = {
    "called `x`": "O called(x)",
    "called x": "O called(x)",
    "not called `x`": "!O called(x)",
    "`x` has been called": "O called(x)",
    "`x` or `y` was called": "O called([x, y])",
    "`x` has not yet been called": "!O called(x)",
    "`x` has never been called": "!O called(x)",
    "`x` has succeeded": "O done(x)",
    "`x` hasn't succeeded": "!O done(x)",
    "`x` has failed and `y` has succeeded": "O failed(x) & O done(y)",
    "ctx env is prod": 'ctx(env) = "prod"',
    "the context `env` is not `prod`": '!(ctx(env) = "prod")',
    "ctx[open] = true": "ctx(open) = true",
    "the agent has permission `p`": 'permission("p")',
    "the agent is `bob`": 'agent = "bob"',
    "`pay.amount` is over 100": "called(pay, amount > 100)",
    "the `amount` of `pay` is at least one thousand": "called(pay, amount >= 1000)",
}


@pytest.mark.parametrize("sentence", ASSUMED)
def test_an_assumption_may_be_a_sentence(sentence: str) -> None:
    """In an assumption a sentence says what has happened by now, what is told, or what is asked."""
    assert assumption(sentence) is read(ASSUMED[sentence])


@pytest.mark.parametrize(
    "sentence",
    [
        "`x` called",
        "called `x` and called",
        "done `x`",
        "`x` will be called",
        "`x` is called",
        "env is prod",
        "x has been called",
        "ctx env",
    ],
)
def test_a_condition_is_understood_as_a_whole_or_refused(sentence: str) -> None:
    """What says no condition, or does not say of what, is refused."""
    with pytest.raises(ContractError, match="is not understood; write called `x`"):
        assumption(sentence)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_grammar_reads_the_sentences_of_the_catalog_as_their_templates_do(
    sentence: str,
) -> None:
    """A pattern's own sentence means the same where the grammar reads it, as behind a condition."""
    name, given = SENTENCES[sentence]
    found = meanings(sentence)
    several = {"`A` within 60s of `B`": 2, "`A` within 60s of a call of `B`": 3}
    assert len(found) == several.get(sentence, 1)  # of several the template decides
    assert any(same_meaning(each, find_pattern(name).rule(given)) for each in found)


def test_an_argument_that_looks_like_a_place_is_no_place() -> None:
    """What an argument says is not filled in again."""
    given = {"first": "{then}", "then": "b"}
    assert wording.fill("`{first}` before `{then}`", given) == (
        "`{then}` before `b`",
        frozenset(given),
    )
