"""Traps of what is given: hostile files, conditions nobody understands, changed arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, ContractError, Guard, contract
from sponsio_like.patterns import arg_blacklist, idempotent
from tests.semantics.manifest import requirement
from tests.support.costs import work

RULE = "guarantee: {pattern: rate_limit, action: pay, limit: 3}"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
HOSTILE = {
    "an alias bomb": BOMB,
    "a list in itself": "a: &a [*a]\n",
    "a merge of itself": "a: &a {<<: *a}\n",
    "a hundred thousand brackets": "contracts: " + "[" * 100_000,
    "a hundred thousand maps": "contracts: " + "{a: " * 100_000,
    "a million characters too many": "version: 1 #" + "x" * 1_000_000,
    "ten thousand contracts without a name": "contracts:\n" + "- {}\n" * 10_000,
    "a thousand wrong keys": "version: 1\n" + "".join(f"k{n}: 1\n" for n in range(1_000)),
    "code": "version: !!python/object/apply:os.system [true]\n",
    "an open quote": 'version: "1\n',
    "an open bracket": "contracts: [\n",
    "a tab": "version: 1\n\tcontracts: []\n",
    "no text": "version: \x00\n",
    "a list": "- 1\n",
    "nothing": "",
    "no numbers": "version: .nan\ncontracts: .inf\n",
    "a list of nothing": f"version: 1\ncontracts: [null, [], 5, {{name: [], {RULE}}}]\n",
}


@pytest.mark.long
@requirement("T-36")
@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_is_refused_soon_with_its_place(what: str, tmp_path: Path) -> None:
    """Whatever stands in a file, it ends in a located error, and in bounded work."""
    path = tmp_path / "hostile.yaml"
    path.write_text(HOSTILE[what], "utf-8")
    caught: list[ContractError] = []

    def load() -> None:
        with pytest.raises(ContractError) as raised:
            Guard.from_yaml(path)
        caught.append(raised.value)

    assert work(load) < 10_000_000
    for problem in caught[0].problems:
        name, line, column = problem.where.rsplit(":", 2)
        assert name.endswith("hostile.yaml")
        assert line.isdigit()
        assert column.isdigit()


@requirement("T-37")
def test_arguments_that_change_later_change_nothing() -> None:
    """The arguments are read once: what happens to them afterwards is not what was decided on."""
    once = contract("once").guarantees(idempotent("pay", by=["order.id"]))
    session = Guard([once]).session()
    args: dict[str, Any] = {"order": {"id": 1}}
    assert isinstance(session.decide("pay", args, id="first"), Allowed)
    args["order"]["id"] = 2
    assert isinstance(session.decide("pay", {"order": {"id": 1}}), Blocked)
    assert isinstance(session.decide("pay", args), Allowed)
    assert isinstance(session.decide("pay", {"order": {"id": 1}}, id="first"), Allowed)
    assert isinstance(session.decide("pay", {"order": {"id": 3}}, id="first"), Blocked)


class Fickle(dict[str, Any]):
    """Arguments that are another thing each time they are read."""

    def __init__(self) -> None:
        super().__init__(command="ls")
        self.readings = 0

    def items(self) -> Any:
        self.readings += 1
        return {"command": "ls" if self.readings > 1 else "rm -rf /"}.items()


@requirement("T-37")
def test_arguments_are_read_once() -> None:
    """The arguments are read once, and all contracts see that one reading."""
    rules = [arg_blacklist("sh", "command", ["rm -rf"]), arg_blacklist("sh", "*", ["ls"])]
    guard = Guard([contract("rm").guarantees(rules[0]), contract("ls").guarantees(rules[1])])
    args = Fickle()
    refused = guard.session().decide("sh", args)
    assert isinstance(refused, Blocked)
    assert [each.contract for each in refused.violations] == ["rm"]
    assert args.readings == 1


@requirement("T-37")
def test_facts_and_outputs_that_change_later_change_nothing() -> None:
    """What a fact or an output was when it was told is what counts."""
    rules = ('G(called(pay) -> ctx(ok) = ["yes"])', 'G(called(ship) -> Y O output.state = "paid")')
    session = Guard([contract(text).guarantees({"ltl": text}) for text in rules]).session()
    told, output = ["yes"], {"state": "open"}
    session.fact("ok", told)
    told[0] = "no"
    outcome = session.decide("pay")
    assert isinstance(outcome, Allowed)
    session.settle(outcome.id, output=output)
    output["state"] = "paid"
    assert isinstance(session.decide("ship"), Blocked)


CONDITIONS = {
    "a word": "assume: sometimes",
    "another sentence": "assume: not called `pay`",
    "half a sentence": "assume: called pay before",
    "a sentence and more": "assume: called `pay` and later `log`",
    "an unknown atom": "assume: {calld: pay}",
    "two atoms": "assume: {called: pay, done: pay}",
    "nothing": "assume: {}",
    "null": "assume: null",
    "a list": "assume: [{called: pay}]",
    "a truth value": "assume: true",
    "a number": "assume: 1",
    "an unknown operator": 'assume: {ltl: "once called(pay)"}',
    "half a formula": 'assume: {ltl: "O called(pay"}',
    "an empty formula": 'assume: {ltl: ""}',
    "an unknown atom in a formula": 'assume: {ltl: "O caled(pay)"}',
    "the future": 'assume: {ltl: "F called(pay)"}',
    "the never true": 'assume: {ltl: "false"}',
    "an unknown part of an approval": "assume: {approved: {action: pay, rol: boss}}",
    "a condition on an argument that is none": (
        "assume: {called: {tool: pay, args: {amount: {above: 5}}}}"
    ),
    "a regular expression that is none": (
        'assume: {called: {tool: pay, args: {note: {matches: "("}}}}'
    ),
    "an unknown scope": "scope: {during: {called: pay}}",
    "half a scope": "scope: {between: [{called: pay}]}",
    "a scope of nothing": "scope: {after: null}",
    "a scope that nobody understands": "scope: {after: whenever it suits}",
    "two scopes": "scope: {after: {called: pay}, before: {called: log}}",
}


@requirement("T-38")
@pytest.mark.parametrize("what", CONDITIONS)
def test_a_condition_that_is_not_understood_is_refused(what: str, tmp_path: Path) -> None:
    """It does not load, and nothing else of its file does; the error says where it stands."""
    path = tmp_path / "c.yaml"
    text = f"version: 1\ncontracts:\n- {{name: fine, {RULE}}}\n- name: odd\n  {RULE}\n  "
    path.write_text(text + CONDITIONS[what] + "\n", "utf-8")
    with pytest.raises(ContractError) as error:
        Guard.from_yaml(path)
    (problem,) = error.value.problems
    assert problem.where.rpartition("/")[2].split(":")[:2] in (["c.yaml", "6"], ["c.yaml", "4"])
    assert problem.what
