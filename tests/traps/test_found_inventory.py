"""Found in the first hour of use: tools and arguments that are not there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, ContractError, Guard

Loads = Callable[[str], Guard]
RULE = "contracts:\n- {name: few, guarantee: {pattern: rate_limit, action: shell, limit: 9}}\n"


@pytest.fixture
def load(tmp_path: Path) -> Loads:
    """Makes a guard of the text of a contract file."""

    def of(text: str) -> Guard:
        path = tmp_path / "contracts.yaml"
        path.write_text(text, "utf-8")
        return Guard.from_yaml(path)

    return of


# --- found 8: declared kinds were never used ----------------------------------------------------


@pytest.mark.parametrize("kind", ["path", "url", "email", "command", "sql"])
def test_a_declared_kind_that_nothing_checks_is_refused(load: Loads, kind: str) -> None:
    """A kind that nothing implements is refused when the file is loaded, at its place."""
    with pytest.raises(ContractError, match=rf":2:\d+: unknown kind `{kind}`; .*`string`"):
        load(f"version: 1\ntools: {{shell: {{fields: {{p: {kind}}}}}}}\n{RULE}")


def test_a_declared_kind_is_checked_at_the_call(load: Loads) -> None:
    """A text where a whole number is declared is refused, before the tool runs."""
    session = load(
        f"version: 1\ntools: {{shell: {{fields: {{n: integer, to: [string]}}}}}}\n{RULE}"
    ).session()
    wrong: list[dict[str, Any]] = [{"n": "five"}, {"n": True}, {"to": "a"}, {"to": [1]}]
    assert [type(session.decide("shell", args)) for args in wrong] == [Blocked] * 4
    right: list[dict[str, Any]] = [{"n": 5}, {"n": 5.0}, {"n": None}, {"to": ["a"]}, {}]
    assert [type(session.decide("shell", args)) for args in right] == [Allowed] * 5


# --- found 9: the inventory was never held against a call -----------------------------------------


def test_a_call_that_the_inventory_does_not_have_is_refused(load: Loads) -> None:
    """With `tools:`, a tool that is not listed does not run, and the refusal says why."""
    session = load(f"version: 1\ntools: [shell]\n{RULE}").session()
    for tool, args in (("bash", {"c": "rm -rf /"}), ("nuke", {})):
        outcome = session.decide(tool, args)
        assert isinstance(outcome, Blocked)
        assert f"tool `{tool}` is not listed" in outcome.advice
    assert isinstance(session.decide("shell"), Allowed)


def test_an_argument_that_the_fields_do_not_have_is_refused(load: Loads) -> None:
    """With declared fields, no other argument reaches the tool."""
    text = f"version: 1\ntools: {{shell: {{fields: {{to: string, body: string}}}}}}\n{RULE}"
    session = load(text).session()
    outcome = session.decide("shell", {"to": "a", "body": "b", "bcc": "mallory"})
    assert isinstance(outcome, Blocked)
    assert "`shell` has no argument `bcc`" in outcome.advice
    assert isinstance(session.decide("shell", {"to": "a", "body": "b"}), Allowed)


def test_unlisted_calls_run_where_the_file_says_so(load: Loads) -> None:
    """`unlisted: allow` and `mode: observe` stop nothing; observed, the call is told of."""
    session = load(f"version: 1\ntools: [shell]\nunlisted: allow\n{RULE}").session()
    assert session.decide("bash", id="a") == Allowed("a")
    observing = load(f"version: 1\nmode: observe\ntools: [shell]\n{RULE}").session()
    outcome = observing.decide("bash", {})
    assert isinstance(outcome, Allowed)
    assert [each.contract for each in outcome.observed] == ["tools"]
