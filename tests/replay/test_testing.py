"""Tests in contract files: what passes, what fails and why, and what they leave untested."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from sponsio_like.checks import read_file
from sponsio_like.contracts import CATALOG, Pattern, Vocabulary, contract, loads
from sponsio_like.contracts.steps import read_steps
from sponsio_like.replay import mutants_of, notation, proposed, run_tests, surviving, with_proposed
from tests.semantics.manifest import requirement

CONTRACTS = """\
version: 1
mode: observe
tools:
  check: {fields: {order: integer}}
  pay: {fields: {order: integer, amount: number}}
  mail: {fields: {to: string}}
contracts:
  - {name: first, guarantee: tool `check` must precede `pay`}
  - {name: few, guarantee: {pattern: rate_limit, action: pay, limit: 2}}
  - {name: small, guarantee: "`pay.amount` between 0 and 500", strategy: escalate}
  - {name: told, guarantee: every `pay` must be followed by `mail`}
  - {name: polite, guarantee: "response must not mention `idiot`", strategy: warn_only}
tests:
"""
RIGHT = (
    ("check pay(amount=3) mail", "allowed"),
    ("pay(amount=3)", "{blocked: first}"),
    ("check! pay(amount=3)", "{blocked: first}"),
    ("check pay(amount=3) pay(amount=3) pay(amount=3)", "{blocked: few}"),
    ("check pay(amount=3)! pay(amount=3) mail", "allowed"),
    ("check pay(amount=501)", "{held: small}"),
    ("pay(amount=501)", "{blocked: [first, small]}"),
    ("check pay(amount=500)", "{unfulfilled: told}"),
    ('msg:assistant="you idiot"', "{warned: polite}"),
    ('msg:assistant="you idiot" check pay(amount=3) mail', "allowed"),
)
WRONG = (
    ("pay(amount=3)", "allowed", "`pay` was blocked by `first`; expected: allowed"),
    ("check", "{blocked: first}", "`check` was allowed; expected: blocked"),
    ("pay(amount=3)", "{blocked: few}", "`pay` was blocked by `first`, not by `few`"),
    ("pay(amount=3)", "{held: first}", "`pay` was blocked by `first`; expected: held"),
    (
        "pay(amount=3) check",
        "{blocked: first}",
        "`pay` (step 1 of 2, not the last) was blocked by `first`; expected: allowed",
    ),
    ("check pay(amount=3)", "allowed", "at the end `told` is unfulfilled; expected: allowed"),
    (
        "check pay(amount=3) mail",
        "{unfulfilled: told}",
        "at the end nothing is owed by `told`; expected: unfulfilled",
    ),
    ("ctx:stage=open", "allowed", "nothing in this trace is decided"),
)


def one(trace: str, expect: str) -> str:
    """A contract file with one test."""
    return CONTRACTS + f"- name: a\n  trace: '{trace}'\n  expect: {expect}\n"


@requirement("S-FILE-13")
@pytest.mark.parametrize(("trace", "expect"), RIGHT)
def test_a_test_passes_if_all_is_as_expected(trace: str, expect: str) -> None:
    """Contracts are enforced in tests, whatever the mode of the file."""
    tested = run_tests(loads(one(trace, expect)))
    assert [each.wrong for each in tested.results] == [""]
    assert tested.passed


HELD = """\
version: 1
contracts:
  - {name: small, guarantee: "`pay.amount` between 0 and 500", strategy: escalate}
  - name: boss
    guarantee: never call `pay` with `amount` over 1000
    strategy: {escalate: {roles: [boss]}}
  - {name: two, guarantee: tool `pay` at most 2 times}
  - {name: soft, guarantee: never call `pay` with `to` = `eve`, strategy: warn_only}
tests:
"""
APPROVED = (
    ("pay(amount=501)", "{held: small}"),
    ("pay(amount=501)/ann", "allowed"),
    ("pay(amount=501)/ann pay(amount=502)", "{held: small}"),
    ("pay(amount=501)/ann pay(amount=502)/bob pay(amount=1)", "{blocked: two}"),
    ("pay(amount=1001)/ann", "{held: boss}"),
    ("pay(amount=1001)/boss", "allowed"),
    ("pay(amount=5)/boss", "allowed"),
    ("pay(amount=1) pay(amount=1) pay(amount=501)/ann", "{blocked: [small, two]}"),
    ("pay(amount=501, to=eve)/ann", "{warned: soft}"),
    ("pay(amount=501)!/ann pay(amount=1) pay(amount=1)", "{blocked: two}"),
)


@requirement("S-REPLAY-14")
@pytest.mark.parametrize(("trace", "expect"), APPROVED)
def test_a_person_lets_a_held_call_run(trace: str, expect: str) -> None:
    """One whose role may answer, for each contract that holds it; it runs, and counts."""
    text = f"{HELD}- name: a\n  trace: '{trace}'\n  expect: {expect}\n"
    (result,) = run_tests(loads(text)).results
    assert result.wrong == ""


@requirement("S-FILE-13")
@pytest.mark.parametrize(("trace", "expect", "wrong"), WRONG)
def test_a_test_fails_and_says_what_differs(trace: str, expect: str, wrong: str) -> None:
    """The step, what became of it and by which contract, and what was expected."""
    tested = run_tests(loads(one(trace, expect)))
    assert [each.wrong for each in tested.results] == [wrong]
    assert not tested.passed


def test_a_file_without_tests_does_not_pass() -> None:
    """Nothing was tested, which is no success."""
    assert not run_tests(loads(CONTRACTS.replace("tests:\n", ""))).passed


UNLISTED = """\
version: 1
contracts:
  - {name: first, guarantee: tool `check` must precede `pay`}
  - {name: only, guarantee: {pattern: tool_allowlist, tools: [check, pay]}}
  - {name: reads, guarantee: {pattern: rate_limit, action: read_*, limit: 3}}
  - {name: polite, guarantee: "response must not mention `idiot`"}
tests:
"""
ONE_SIDED = UNLISTED.replace("  - {name: only", "#  - {name: only")
NAMED = (
    (ONE_SIDED, "check", "allowed", ""),
    (ONE_SIDED, "look check", "allowed", ""),
    (ONE_SIDED, "msg:assistant=hello", "allowed", ""),
    (ONE_SIDED, "look look", "allowed", "no contract speaks of `look`: the test would pass"),
    (ONE_SIDED, "msg:user=hello", "allowed", "no contract speaks of what happens in this trace"),
    (ONE_SIDED, "chekc", "allowed", "no contract names `chekc`; did you mean `check`?"),
    (ONE_SIDED, "chekc pay", "{blocked: first}", "no contract names `chekc`"),
    (ONE_SIDED, "read_all", "allowed", ""),
    (UNLISTED, "chek", "{blocked: only}", ""),
    (UNLISTED, "look", "{blocked: only}", ""),
)


@requirement("S-FILE-16")
@pytest.mark.parametrize(("file", "trace", "expect", "wrong"), NAMED)
def test_a_test_of_which_no_contract_speaks_does_not_pass(
    file: str, trace: str, expect: str, wrong: str
) -> None:
    """Without `tools:`, nothing else tells a misspelt name: it would pass for nothing."""
    text = f"{file}- name: a\n  trace: '{trace}'\n  expect: {expect}\n"
    (result,) = run_tests(loads(text)).results
    assert wrong in result.wrong
    assert result.passed == (not wrong)
    listed = text.replace(
        "contracts:", "tools: [check, pay, look, chek, chekc, read_all]\ncontracts:"
    )
    assert [each.wrong for each in run_tests(loads(listed)).results] == [""]


def test_coverage_says_what_no_test_has_seen() -> None:
    """A contract that was never kept, or broken, or reached; and tools that were never called."""
    seen = run_tests(loads(one("check pay(amount=501)", "{held: small}"))).coverage
    assert {name: each.missing for name, each in seen.items()} == {
        "first": "no test breaks it",
        "few": "no test breaks it",
        "small": "no test keeps it",
        "told": "no test reaches it; never tried: `mail`",
        "polite": "no test reaches it",
    }


def test_a_trace_file_stands_beside_the_contract_file(tmp_path: Path) -> None:
    """Each trace of the file has to end as expected."""
    pay = '{"type": "call", "tool": "pay", "args": {"amount": 3}}'
    path = tmp_path / "contracts.yaml"
    path.write_text(CONTRACTS + "- {name: a, trace: t.jsonl, expect: {blocked: first}}\n", "utf-8")
    (tmp_path / "t.jsonl").write_text(f'{{"id": "1", "events": [{pay}]}}\n' * 2, "utf-8")
    results = run_tests(read_file(path)).results
    assert [each.wrong for each in results] == ["", ""]


def test_tests_of_a_folder_see_all_its_contracts(tmp_path: Path) -> None:
    """Contracts that are in force together are tested together; included files keep their tests."""
    (tmp_path / "a.yaml").write_text(one("pay(amount=3)", "{blocked: first}"), "utf-8")
    rule = "version: 1\ncontracts: [{name: b, guarantee: tool `audit` must precede `pay`}]\n"
    (tmp_path / "b.yaml").write_text(rule.replace("audit", "mail"), "utf-8")
    (result,) = run_tests(read_file(tmp_path)).results
    assert result.passed
    outer = tmp_path / "outer.yaml"
    outer.write_text("version: 1\ninclude: [a.yaml]\n", "utf-8")
    assert read_file(outer).tests == ()


# --- the notation ---------------------------------------------------------------------------------

EVENTS = (
    {"tool": "pay"},
    {"tool": "pay", "args": {"to": "a b", "n": 3, "x": -1.5, "yes": True, "no": None}},
    {"tool": "pay", "args": {"l": [1, "a", {"b": []}], "a-b": "true"}, "status": "error"},
    {"tool": "a.b-c", "agent": "ann", "depth": 2, "status": "refused"},
    {"tool": "find", "output": {"a": 'say "hi"\n', "e": "é\u202e"}},
    {"tool": "find", "output": "x" * 100, "wait": 60.5},
    {"type": "message", "role": "user", "text": "a, b) & 'c'"},
    {"type": "fact", "key": "stage", "value": {"a": [1]}},
    {"type": "fact", "key": "permissions", "value": ["a", "b"]},
    {
        "type": "fact",
        "key": "approval",
        "value": {"action": "pay", "role": "boss", "decision": "approve", "by": "boss"},
    },
)


@pytest.mark.parametrize("event", EVENTS, ids=str)
def test_what_is_written_is_read_again(event: dict[str, object]) -> None:
    """The notation that proposals are written in is the one that tests are read in."""
    assert read_steps(notation([event], whole=True)) == [event]


def test_quotes_and_bare_words() -> None:
    """A bare word is a text; digits are a number; three words are what JSON means by them."""
    assert read_steps("pay(a=x, b='1', c=1, d=true, e=null, f=truely)") == [
        {"tool": "pay", "args": {"a": "x", "b": "1", "c": 1, "d": True, "e": None, "f": "truely"}}
    ]


# --- mutants and proposals ------------------------------------------------------------------------


def test_a_mutant_survives_until_a_test_tells_it_apart() -> None:
    """The bound of `few` is found to be untested, and is not once a test stands on each side."""
    rest = "- {name: b, trace: 'check pay(amount=0) mail', expect: allowed}\n"
    thrice = "check pay(amount=3) pay(amount=3) pay(amount=3)"
    before = {str(each) for each in surviving(loads(one("pay(amount=3)", "{blocked: first}")))}
    assert "`few` left out" in before
    after = {str(each) for each in surviving(loads(one(thrice, "{blocked: few}") + rest))}
    assert not any("`few`" in each for each in after)
    assert "`small` left out" in after


def test_contracts_of_formulas_have_mutants() -> None:
    """Numbers and signs of a formula are changed; what does not parse is left out."""
    rule = contract("it").guarantees({"ltl": "G(called(pay, amount > 3) -> Y O done(check))"})
    assert {each.change.partition(":")[0] for each in mutants_of(rule, Vocabulary())} >= {
        "with 4 for 3",
        "with 2 for 3",
        "with `H` for `O`",
    }


@pytest.mark.long
@pytest.mark.parametrize("pattern", CATALOG.values(), ids=lambda each: each.name)
def test_what_is_proposed_passes(pattern: Pattern, tmp_path: Path) -> None:
    """For each pattern a test is proposed that passes as it stands, and is marked as proposed."""
    rule = {"pattern": pattern.name, **pattern.example}
    text = yaml.safe_dump({"version": 1, "contracts": [{"name": "it", "guarantee": rule}]})
    path = tmp_path / "contracts.yaml"
    path.write_text(text, "utf-8")
    written = with_proposed(text, read_file(path))
    assert written is not None
    assert written.startswith(text)
    path.write_text(written, "utf-8")
    file = read_file(path)
    assert all(each.proposed for each in file.tests)
    assert any(each.by == ("it",) for each in file.tests)
    assert [each.wrong for each in run_tests(file).results if each.wrong] == []
    assert proposed(file) == ""
    assert with_proposed(written, file) is None


def test_proposed_calls_have_the_kinds_that_their_fields_are_declared(tmp_path: Path) -> None:
    """Where any value would do, a field that is a number gets one, and so does what equals it."""
    text = (
        "version: 1\ntools:\n  find: {fields: {order: integer}}\n"
        "  pay: {fields: {order: integer, amount: number}}\n"
        "contracts:\n- name: found\n  guarantee:\n    pattern: precedence\n"
        "    match: {tool: pay, args: {order: $o}}\n    requires: {tool: find, args: {order: $o}}\n"
        "- name: once\n  guarantee: {pattern: idempotent, action: pay, by: [order]}\n"
        "- name: from\n  guarantee: {pattern: value_from, tool: pay, field: amount, source: find}\n"
    )
    path = tmp_path / "contracts.yaml"
    path.write_text(text, "utf-8")
    found = proposed(read_file(path))
    assert "x1" not in found
    assert "tools" not in found.replace("tests:", "")
    assert found.count("expect: allowed") == 3
