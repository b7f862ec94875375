"""Bad tests in contract files: each mistake is named at its place, with what to write instead."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sponsio_like.checks import read_file
from sponsio_like.contracts import loads
from sponsio_like.errors import ContractError
from sponsio_like.replay import run_tests

HEAD = """\
version: 1
tools: {check: {fields: {order: integer}}, pay: {fields: {order: integer, to: string}}}
contracts:
  - {name: first, guarantee: tool `check` must precede `pay`}
"""

BAD = (
    # the section
    ("tests: null", "5:8", "`tests` is empty"),
    ("tests: []", "5:8", "`tests` is no list of tests; below `tests:`, write {name: .."),
    ("tests: pay", "5:8", "`tests` is no list of tests"),
    ("tests: {name: a, trace: pay, expect: allowed}", "5:8", "`tests` is no list of tests"),
    ("tests: [pay]", "5:9", "`pay` is no test; write {name: .., trace: [..], expect: allowed}"),
    ("tests: [[]]", "5:9", "`[]` is no test"),
    # its keys
    ("tests: [{trace: pay, expect: allowed}]", "5:9", "a test without `name`"),
    ("tests: [{name: a, expect: allowed}]", "5:9", "a test without `trace`"),
    ("tests: [{name: a, trace: pay}]", "5:9", "a test without `expect`"),
    ("tests: [{name: a, trace: pay, expect: null}]", "5:9", "a test without `expect`"),
    ("tests: [{name: 3, trace: pay, expect: allowed}]", "5:16", "`3` is no name"),
    ('tests: [{name: " ", trace: pay, expect: allowed}]', "5:16", "is no name"),
    ("tests: [{nam: a, trace: pay, expect: allowed}]", "5:10", "did you mean `name`?"),
    ("tests: [{name: a, trace: pay, expects: allowed}]", "5:31", "did you mean `expect`?"),
    (
        "tests: [{name: a, trace: pay, expect: allowed, proposed: maybe}]",
        "5:58",
        "`maybe` is neither true nor false; write true",
    ),
    (
        "tests:\n" + "- {name: a, trace: check, expect: allowed}\n" * 2,
        "7:10",
        "two tests are named `a`; rename one",
    ),
    # what is expected
    ("tests: [{name: a, trace: pay, expect: blocked}]", "5:39", "`blocked` by which contract?"),
    ("tests: [{name: a, trace: pay, expect: alowed}]", "5:39", "`alowed` is nothing to expect"),
    ("tests: [{name: a, trace: pay, expect: {alowed: first}}]", "5:39", "`alowed` is no outcome"),
    ("tests: [{name: a, trace: pay, expect: {block: first}}]", "5:39", "did you mean `blocked`?"),
    ("tests: [{name: a, trace: pay, expect: {allowed: first}}]", "5:39", "`allowed` is no outcome"),
    ("tests: [{name: a, trace: pay, expect: {blocked: frist}}]", "5:39", "did you mean `first`"),
    ("tests: [{name: a, trace: pay, expect: {blocked: []}}]", "5:39", "is no contract's name"),
    ("tests: [{name: a, trace: pay, expect: {blocked: 3}}]", "5:39", "`3` is no contract's name"),
    (
        "tests: [{name: a, trace: pay, expect: {blocked: first, held: first}}]",
        "5:39",
        "is nothing to expect; write `expect: allowed`, or `expect: {blocked: NAME}`",
    ),
    # the trace
    ("tests: [{name: a, trace: [], expect: allowed}]", "5:26", "this is no trace"),
    ("tests: [{name: a, trace: 3, expect: allowed}]", "5:26", "this is no trace"),
    ("tests: [{name: a, trace: [3], expect: allowed}]", "5:27", "`3` is no step"),
    (
        "tests: [{name: a, trace: [pay(order=1, to=x)], expect: allowed}]",
        "5:27",
        "`pay(order=1` was cut at a comma; quote each step",
    ),
    ('tests: [{name: a, trace: "pay(", expect: allowed}]', "5:26", "not understood at column 5"),
    ('tests: [{name: a, trace: "pay)", expect: allowed}]', "5:26", "not understood at column 4"),
    ('tests: [{name: a, trace: "", expect: allowed}]', "5:26", "is not understood"),
    ('tests: [{name: a, trace: "pay(1)", expect: allowed}]', "5:26", "write calls such as"),
    ('tests: [{name: a, trace: "pay(to=)", expect: allowed}]', "5:26", "at column 8"),
    ('tests: [{name: a, trace: "pay(to=a, to=b)", expect: allowed}]', "5:26", "`to` twice"),
    (
        "tests: [{name: a, trace: 'pay(to=\"\\q\")', expect: allowed}]",
        "5:26",
        "escape as JSON does",
    ),
    ('tests: [{name: a, trace: "ctx:=3", expect: allowed}]', "5:26", "at column 5"),
    ('tests: [{name: a, trace: "msg:user", expect: allowed}]', "5:26", "is not understood"),
)


@pytest.mark.parametrize(("text", "place", "said"), BAD, ids=[text for text, *_ in BAD])
def test_a_mistake_is_named_at_its_place(text: str, place: str, said: str) -> None:
    """The message has line and column, what is wrong, and what to write instead."""
    with pytest.raises(ContractError) as raised:
        loads(HEAD + text + "\n")
    found = {each.where: str(each) for each in raised.value.problems}
    assert said in found[f"contracts:{place}"]


def test_all_mistakes_are_said_at_once() -> None:
    """Those of several tests, and those of the contracts beside them."""
    text = HEAD.replace("precede", "preceed") + (
        "tests:\n- {name: a, trace: 'pay(', expect: allowed}\n"
        "- {name: b, expect: {blocked: firs}}\n"
    )
    with pytest.raises(ContractError) as raised:
        loads(text)
    assert len(raised.value.problems) == 4


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        ("refund", "the test `a` calls `refund`, which is no tool of this file"),
        ("chek", "did you mean `check`?"),
        ("missing.jsonl", "missing.jsonl"),
        ("broken.jsonl", "broken.jsonl"),
    ],
)
def test_a_trace_that_cannot_be_played_is_refused_at_the_test(
    trace: str, said: str, tmp_path: Path
) -> None:
    """A test that calls another tool than it means would test nothing."""
    (tmp_path / "broken.jsonl").write_text("{not json\n", "utf-8")
    path = tmp_path / "contracts.yaml"
    path.write_text(HEAD + f"tests: [{{name: a, trace: {trace}, expect: allowed}}]\n", "utf-8")
    with pytest.raises(ContractError, match=re.escape(said)) as raised:
        run_tests(read_file(path))
    assert ":5:16" in str(raised.value)
