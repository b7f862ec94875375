"""`sponsio-like explain`: why a recorded trace breaks contracts."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from sponsio_like import cli
from sponsio_like.contracts.loader import load, loads
from sponsio_like.errors import ContractError
from sponsio_like.replay.replay import Replay
from sponsio_like.replay.timeline import KEYS_CAP, ExplainedViolation, explained
from sponsio_like.traces.trace import trace_of
from tests.semantics.manifest import requirement
from tests.support.notation import events

VALUES = Path(__file__).parents[2] / "examples" / "values"


class Ran(NamedTuple):
    """What a command printed, and its status."""

    status: int
    out: str


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Runs `sponsio-like explain` on the example of values."""

    def command(*more: str) -> Ran:
        files = (str(VALUES / "contracts.yaml"), str(VALUES / "trace.jsonl"))
        monkeypatch.setattr(sys, "argv", ["sponsio-like", "explain", *files, *more])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        return Ran(int(stopped.value.code or 0), capsys.readouterr().out)

    return command


def findings(guarantee: str, text: str) -> list[ExplainedViolation]:
    """What is told of a formula or a pattern on this trace."""
    file = loads(f"version: 1\ncontracts:\n  - {{name: c, guarantee: {guarantee}}}\n", "c.yaml")
    return explained(Replay(file.contracts), trace_of({"id": "t", "events": events(text)}))


def reasons(guarantee: str, text: str) -> dict[int, set[tuple[str, int | None]]]:
    """For each call that violates it: what matters, and where."""
    found = findings(guarantee, text)
    return {each.told.call: {(one.what, one.call) for one in each.told.reasons} for each in found}


def test_an_example_is_a_small_timeline(run: Callable[..., Ran]) -> None:
    """The values, the call that forbids, the call that violates, what never happened."""
    ran = run("--values")
    assert ran.status == 1
    assert 'a frozen account stays frozen: violated in tuesday, $a = "A1"' in ran.out
    lines = [line.strip() for line in ran.out.splitlines()]
    at = lines.index('call 4    freeze(account="A1")')
    assert lines[at + 1] == "<- forbids it: called(freeze, account = $a)"
    assert lines[at + 2] == 'call 7    pay(to=17, account="A1")'
    assert "<- never happened so far" in lines


@requirement("S-VALUE-13")
def test_as_json_it_is_a_line_for_each_violation(run: Callable[..., Ran]) -> None:
    """With the contract, the call, the values, and what matters."""
    ran = run("--json", "--contract", "secrets do not leave")
    (line,) = map(json.loads, ran.out.splitlines())
    assert (line["id"], line["call"], line["open"]) == ("tuesday", 6, False)
    assert line["values"] == {"leak": "#1"}
    assert line["witnesses"] == [6]
    assert {(each["what"], each["call"]) for each in line["because"]} == {
        ("violates", 6),
        ("forbids", 3),
    }


def test_only_one_trace_or_contract_may_be_asked_for(run: Callable[..., Ran]) -> None:
    """Nothing to explain is status 0; a trace that is not there is a mistake."""
    assert run("--id", "wednesday").status == 2
    kept = run("--contract", "two tries for each card")
    assert kept.status == 0
    assert "violated" not in kept.out


def test_a_contract_that_is_not_there_is_a_mistake() -> None:
    """The names that are there are told."""
    file = load(VALUES / "contracts.yaml")
    trace = trace_of({"id": "t", "events": []})
    with pytest.raises(ContractError, match="no contract is named `x`; there are: only who"):
        explained(Replay(file.contracts), trace, "x")


@pytest.mark.parametrize(
    ("guarantee", "text", "told"),
    [
        (
            "{pattern: must_precede, first: check, then: refund}",
            "a refund",
            {1: {("violates", 1), ("missing", None)}},
        ),
        (
            "{pattern: no_reversal, commitment: sign, reversal: cancel}",
            "a sign b cancel",
            {3: {("violates", 3), ("forbids", 1)}},
        ),
        (
            "{pattern: must_confirm, action: drop, by: ask}",
            "ask=yes drop a drop",
            {3: {("violates", 3), ("missing", 1)}},
        ),
        (
            "{pattern: rate_limit, action: try, limit: 2}",
            "try a try b try",
            {4: {("violates", 4), ("counted", 2)}},
        ),
        (
            "{pattern: deadline, trigger: ask, action: answer, steps: 2}",
            "a ask b c d",
            {3: {("violates", 3), ("asks", 1)}},
        ),
        (
            "{pattern: always_followed_by, trigger: open, response: close}",
            "open close a open open b",
            {3: {("asks", 3)}, 4: {("asks", 4)}},
        ),
    ],
)
def test_contracts_without_values_are_explained_too(
    guarantee: str, text: str, told: dict[int, set[tuple[str, int | None]]]
) -> None:
    """What forbade, what was missing and since when, what was counted, what asked for more."""
    assert reasons(guarantee, text) == told


@requirement("S-VALUE-13")
@pytest.mark.parametrize(
    ("guarantee", "text", "blamed"),
    [
        (
            "{pattern: must_precede, first: check, then: refund}",
            "refund a refund",
            {0: [0], 2: [2]},
        ),
        (
            "{pattern: deadline, trigger: ask, action: answer, steps: 2}",
            "a ask ask b c",
            {3: [1], 4: [2]},
        ),
        (
            "{pattern: always_followed_by, trigger: open, response: close}",
            "open open",
            {0: [0], 1: [1]},
        ),
        ('{ltl: "G(called(a) -> X F(called(b) & called(c)))"}', "d a d", {1: [1]}),
    ],
)
def test_the_witnesses_are_the_calls_of_which_the_formula_is_false(
    guarantee: str, text: str, blamed: dict[int, list[int]]
) -> None:
    """Of something owed, those that asked, whenever that is found out."""
    assert {each.told.call: [*each.told.witnesses] for each in findings(guarantee, text)} == blamed


def test_of_many_values_only_the_violated_are_told() -> None:
    """An answer of thousands of words binds thousands of values."""
    words = " ".join(f"word{i}" for i in range(KEYS_CAP))
    text = f'read="{words}" send(body=word7) send(body=fine)'
    found = reasons("{pattern: no_data_leak, source: read, sink: send, match: values}", text)
    assert found == {1: {("violates", 1), ("forbids", 0)}}
