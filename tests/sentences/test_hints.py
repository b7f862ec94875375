"""Sentences that are refused, and what they are told to write instead."""

from __future__ import annotations

import pytest

from sponsio_like import ContractError
from sponsio_like.contracts import loads, read_sentence

HINTS = [
    ("`deploy` needs approval", "“tool `deploy` requires confirmation”"),
    ("`deploy` must be approved by a human", "“`deploy` requires active approval from `ROLE`”"),
    ("a human must approve every `deploy`", "“tool `deploy` requires confirmation”"),
    ("only admins may call `delete`", "“tool `delete` requires permission `PERMISSION`”"),
    ("call `plan`, `build` and `ship` in this order", "“tool `plan` must precede `build`”"),
    ("every `lock` must be released with `unlock`", "“every `lock` must be followed by `unlock`”"),
    ("stop after 3 failed calls of `login`", "“`login` must not be repeated after 3 failures”"),
    ("`notify` must be called at least once", "{ltl: 'F done(TOOL)'}"),
    ("every session must end with `logout`", "{ltl: 'F done(TOOL)'}"),
    ("in production, never call `drop`", "“if ctx env is prod, ..”"),
    ("never run `backup` and `restore` at the same time", "let the host run them one by one"),
    ("don't call `pay` outside business hours", "let the host give a fact"),
    ("`book` `day` must not be on a weekend", "{weekday: [saturday, sunday]}"),
    ("the `day` of `book` must not be a Sunday", "declare it a `date`"),
    ("`patch` at most 3 times per path", "“`TOOL` at most N times per `FIELD`”"),
    ("`merge` needs a `test` after the last `patch`", "“no `LATER` after `CHANGE` until `CHECK`”"),
    ("`test` must run after `patch` and before `merge`", "“no `LATER` after `CHANGE` until"),
    (
        "the `path` of `read` must not end with `.env`",
        "“the `FIELD` of `TOOL` must not match `REGEX`”",
    ),
    ("at most 20 attendees", "“the `FIELD` of `TOOL` must be at most 20”"),
    ("`book` at most 20 `attendees`", "the length of a list is in no contract"),
    ("`book` at most 20 attendees", "the length of a list is in no contract"),
    ("at most 20 `attendees` in `book`", "the length of a list is in no contract"),
    ("if `a` fails twice, `b` must follow", "'G(failed(TOOL) & Y O failed(TOOL) -> F done(NEXT))'"),
    ("never call `a` after it failed twice", "'G(called(TOOL) -> !Y O(failed(TOOL) & Y O failed("),
    (
        "if `a` failed, `b` must follow within 5 steps",
        "'G(failed(FIRST) -> X F[<=4] called(NEXT))'",
    ),
    (
        "`b` must follow within 5 steps after `a` failed",
        "'G(failed(FIRST) -> X F[<=4] called(NEXT)",
    ),
    ("`pay` at most once for the same `id` within 10 minutes", "cooldown of 600 seconds for the"),
    ("at most 2 `pay` per `id` within 10 minutes", "limit: 2, per: {seconds: 600}, by: [FIELD]}"),
    ("call `pay` at most once per 10 minutes for the same `id`", "cooldown of 600 seconds for the"),
    ("`level` must be view", '“the `level` of `TOOL` must be "view"”'),
    ("`level` of `share` must be view", '“the `level` of `share` must be "view"”'),
    ("the `created` of `delete` must be older than 10 years", '!arg_dated("FIELD", SECONDS,'),
    ("only agents with role boss may call `pay`", "“only agents with permission `ROLE` may call"),
    ("the `amount` of `refund` must not exceed the `total` of `find`", "last(output(FIELD), done("),
    ("never ever call `pay` unless it was within 2 hours of `a`", "“`LATER` only within 10 min"),
]


@pytest.mark.parametrize(("sentence", "hint"), HINTS)
def test_a_refusal_says_what_to_write(sentence: str, hint: str) -> None:
    """It is about what the sentence is about, with the tools that were written."""
    with pytest.raises(ContractError) as caught:
        read_sentence(sentence)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("sentence", "hint"),
    [
        ("we want `b` within 5 steps of `a`", "“tool `b` within 5 steps of `a`”"),
        ("`send` to the very same `to` at most 2 times", "“`send` to same `to` at most 2 times”"),
    ],
)
def test_the_first_hint_has_all_that_was_written(sentence: str, hint: str) -> None:
    """A pattern that has no place for it comes later, and what has no value is a gap."""
    with pytest.raises(ContractError) as caught:
        read_sentence(sentence)
    assert f"did you mean {hint}" in str(caught.value)
    assert "none" not in str(caught.value)


@pytest.mark.parametrize(
    "sentence",
    [
        "`deploy` needs no approval",
        "`deploy` may run without a human",
        "not every `deploy` needs approval",
        "approval is good",
    ],
)
def test_a_sentence_that_denies_a_demand_gets_none(sentence: str) -> None:
    """Nor does one that names no tool."""
    with pytest.raises(ContractError) as caught:
        read_sentence(sentence)
    assert "confirmation" not in str(caught.value)


@pytest.mark.parametrize(
    "sentence", ["forbid each tool but `a`", "drop all tools except `a`", "no other thing than `a`"]
)
def test_what_is_excepted_is_not_offered_as_forbidden(sentence: str) -> None:
    """The hint would say the opposite."""
    with pytest.raises(ContractError) as caught:
        read_sentence(sentence)
    assert "“no `a`”" not in str(caught.value)


def test_what_no_sentence_says_is_not_offered_as_one() -> None:
    """An argument in brackets is for people who read, and is not read back."""
    with pytest.raises(ContractError) as caught:
        read_sentence("never `pay` one `order` twice, and never in the same `month`")
    assert "(by:" not in str(caught.value)


def test_a_shell_has_hosts_and_no_url() -> None:
    """A list of hosts that a tool may reach is about its URL."""
    with pytest.raises(ContractError) as caught:
        loads("""version: 1
tools: {bash: {fields: {command: shell}}}
contracts:
  - {name: few, guarantee: "`bash` may only reach github.com"}
""")
    assert "{hosts: {every: {in: [..]}}}" in str(caught.value)


def test_a_word_behind_call_is_not_always_a_tool() -> None:
    """Verbs are none."""
    with pytest.raises(ContractError) as caught:
        read_sentence("the first call must not be `login`")
    assert "`must`" not in str(caught.value)


def test_the_plural_of_a_tool_is_the_tool() -> None:
    """In a hint; in a sentence it is no name."""
    with pytest.raises(ContractError) as caught:
        loads("""version: 1
tools: [refund]
contracts:
  - {name: few, guarantee: at most three refunds}
""")
    assert "“tool `refund` at most 3 times”" in str(caught.value)


@pytest.mark.parametrize(
    "sentence",
    [
        "never call `refund` within 10 minutes of `move`",
        "`refund` must not be called within 10 minutes of `move`",
        "`refund` must not be called within 10 minutes of `move` for the same `order`",
    ],
)
def test_a_pause_is_not_offered_as_its_reverse(sentence: str) -> None:
    """A deadline would demand the call that is forbidden; and “of” may mean before, too."""
    with pytest.raises(ContractError) as caught:
        read_sentence(sentence)
    assert "“never call `LATER` within 10 minutes after `EARLIER`”" in str(caught.value)
    assert "within 600 seconds" not in str(caught.value)


@pytest.mark.parametrize(
    "sentence",
    [
        "never ever call `pay` unless we are within 10 minutes of `login`",
        "no more than 3 calls of `pay` ever within 10 minutes after `login`",
        "we do not want `pay` within three steps of `login`",
        "never " + "within " + "a" * 60 + " `pay`",
    ],
)
def test_what_is_no_pause_is_not_answered_with_one(sentence: str) -> None:
    """It would say the opposite, or something else."""
    with pytest.raises(ContractError) as caught:
        read_sentence(sentence)
    assert "never call `LATER`" not in str(caught.value)
    assert "cooldown" not in str(caught.value)
