"""A contract file is read again while the process runs; contracts enforced in some sessions."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import (
    Allowed,
    Blocked,
    CallBlocked,
    ContractError,
    Guard,
    InputMissing,
    Session,
    contract,
)
from sponsio_like.contracts import loads
from sponsio_like.guard.rules import place_of
from tests.semantics.manifest import requirement

OLD = """version: 1
contracts:
  - name: few
    guarantee: tool `pay` at most 1 times
  - name: first
    guarantee: tool `check` must precede `send`
"""
NEW = OLD.replace("at most 1", "at most 2")
SECONDS = 20


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A contract file."""
    path = tmp_path / "contracts.yaml"
    path.write_text(OLD)
    return path


def pays(guard: Guard, id: str, times: int = 3) -> str:
    """What becomes of payments in a session: `a` runs, `b` is blocked."""
    session = guard.session(id)
    return "".join("ab"[isinstance(session.decide("pay", {}), Blocked)] for _ in range(times))


# --- reload -----------------------------------------------------------------------------------


@requirement("S-RELOAD-01")
def test_new_sessions_have_the_new_contracts(file: Path) -> None:
    """Sessions opened from then on do; one that is open finishes under those it began with."""
    guard = Guard.from_yaml(file)
    assert pays(guard, "old") == "abb"
    assert not guard.reload()
    file.write_text(NEW)
    assert guard.reload()
    assert pays(guard, "new") == "aab"
    assert pays(guard, "old", 1) == "b"
    guard.session("old").finish()
    assert pays(guard, "old") == "aab"
    assert guard.policy.contracts[0].rules != loads(OLD).contracts[0].rules


@requirement("S-RELOAD-02")
@pytest.mark.parametrize("text", ["", "version: 1\n", OLD.replace("must precede", "mst preced")])
def test_a_file_with_mistakes_changes_nothing(file: Path, text: str) -> None:
    """The mistakes are raised, and the old contracts stay, all of them."""
    records: list[dict[str, Any]] = []
    guard = Guard.from_yaml(file, log=records.append)
    file.write_text(text)
    for _ in range(2):
        with pytest.raises(ContractError, match=r"contracts\.yaml"):
            guard.reload()
    assert pays(guard, "new") == "abb"
    file.unlink()
    with pytest.raises(ContractError, match="cannot be read"):
        guard.reload()
    assert pays(guard, "newer") == "abb"


@requirement("S-RELOAD-02")
def test_contracts_that_do_not_fit_the_tools_are_refused(file: Path) -> None:
    """A contract that names a tool which the guard's tools do not have would never fire."""
    guard = Guard.from_yaml(file)
    tools = guard.wrap({name: lambda: "done" for name in ("pay", "check", "send")})
    session = guard.session("s")
    with session.active():
        assert tools["pay"]() == "done"
    file.write_text(OLD.replace("`send`", "`snd`"))
    with pytest.raises(ContractError, match="snd"):
        guard.reload()
    file.write_text(NEW)
    assert guard.reload()
    with session.active():  # a session of before is one of this guard still
        tools["check"]()
    assert session.calls == 2


def test_a_reload_is_logged_with_the_contracts(file: Path, tmp_path: Path) -> None:
    """The record `reloaded` names the contracts and the hash of the file that hold from now on."""
    guard = Guard.from_yaml(file, log=tmp_path / "log")
    pays(guard, "old", 1)
    file.write_text(NEW)
    guard.reload()
    pays(guard, "new", 1)
    found = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [each["event"] for each in found] == ["decision", "reloaded", "decision"]
    (old, new) = ({one["contract"]: one["hash"] for one in each["contracts"]} for each in found[:2])
    assert old["first"] == new["first"]
    assert old["few"] != new["few"]
    assert found[0]["source"] != found[1]["source"]


def test_what_is_switched_off_stays_off(file: Path) -> None:
    """A reload turns nothing on; a switch moves the sessions of before, too."""
    guard = Guard.from_yaml(file)
    pays(guard, "old", 1)
    guard.switch.turn_off("few")
    file.write_text(NEW)
    guard.reload()
    assert pays(guard, "new") == "aaa"
    guard.switch.turn_on()
    assert pays(guard, "old", 1) == pays(guard, "new", 1) == "b"
    assert isinstance(guard.session("new").decide("send", {}), Blocked)
    guard.switch.turn_off()
    assert isinstance(guard.session("old").decide("send", {}), Allowed)


@requirement("S-RELOAD-03")
@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("version: 1\ncontracts: [", "contracts.yaml"),
        (f"{OLD}risk: {{model: none.json, threshold: 0.1}}\n", "none.json"),
    ],
    ids=["a mistake", "no model of risk"],
)
def test_a_file_that_changes_is_read_again(
    file: Path, caplog: pytest.LogCaptureFixture, wrong: str, told: str
) -> None:
    """A watched file is loaded when it changes; mistakes are said, and change nothing."""
    records: list[dict[str, Any]] = []
    guard = Guard.from_yaml(file, log=records.append)
    watch = guard.watch(0.01)

    def soon(event: str) -> dict[str, Any]:
        end = time.monotonic() + SECONDS
        while not any(each["event"] == event for each in records):
            assert time.monotonic() < end
            time.sleep(0.005)
        return next(each for each in records if each["event"] == event)

    file.write_text(wrong)
    assert told in soon("reload_failed")["message"]
    assert "the contracts stay as they are" in caplog.text
    assert pays(guard, "a") == "abb"
    file.write_text(NEW)
    soon("reloaded")
    assert pays(guard, "b") == "aab"
    watch.stop()


def test_a_guard_without_a_file_cannot_be_loaded_again() -> None:
    """It says what to write."""
    guard = Guard([contract("few").guarantees("tool `pay` at most 1 times")])
    for act in (guard.reload, guard.watch):
        with pytest.raises(ContractError, match=r"no file.*from_yaml"):
            act()


def test_sessions_that_are_opened_meanwhile_have_one_version_or_the_other(file: Path) -> None:
    """Threads that open sessions while the file changes see all of the old or all of the new."""
    guard, seen, stop = Guard.from_yaml(file), set[str](), threading.Event()

    def work(name: str) -> None:
        n = 0
        while not stop.is_set():
            n += 1
            seen.add(pays(guard, f"{name}{n}"))

    threads = [threading.Thread(target=work, args=(name,)) for name in "xyz"]
    for thread in threads:
        thread.start()
    for text in (NEW, OLD) * 5:
        file.write_text(text)
        assert guard.reload()
    stop.set()
    for thread in threads:
        thread.join()
    assert seen <= {"abb", "aab"}


# --- a share of sessions ----------------------------------------------------------------------

SOME = OLD.replace("  - name: few\n", "  - name: few\n    mode: {enforce: 30%}\n")


@requirement("S-SHARE-01")
def test_a_contract_is_enforced_in_a_share_of_sessions(file: Path) -> None:
    """About so many sessions are enforced, always the same ones; in the others it observes."""
    file.write_text(SOME)
    guard, again = Guard.from_yaml(file), Guard.from_yaml(file)
    names = [f"s{n}" for n in range(1000)]
    enforced = {name for name in names if pays(guard, name, 2) == "ab"}
    assert 240 < len(enforced) < 360
    assert enforced == {name for name in names if place_of(name) < 0.3}
    assert enforced == {name for name in names if pays(again, name, 2) == "ab"}
    assert all(isinstance(guard.session(name).decide("send", {}), Blocked) for name in names)


@requirement("S-SHARE-01")
def test_a_larger_share_has_the_sessions_of_a_smaller_one() -> None:
    """Who is enforced at 10 % is so at 20 %: nobody is let go on the way up."""
    guards = [
        Guard([contract("few").guarantees("tool `pay` at most 1 times").enforce(share)])
        for share in ("10%", 0.2, "100%")
    ]
    found = [{n for n in range(300) if pays(guard, f"s{n}", 2) == "ab"} for guard in guards]
    assert found[0] < found[1] < found[2] == set(range(300))


def test_the_log_says_which_sessions_were_enforced(file: Path) -> None:
    """A violation has the mode of its session; the first record has the share."""
    file.write_text(SOME)
    records: list[dict[str, Any]] = []
    guard = Guard.from_yaml(file, log=records.append)
    for n in range(50):
        pays(guard, f"s{n}", 2)
    (few, first) = records[0]["contracts"]
    assert (few["mode"], few["share"], "share" in first) == ("enforce", 0.3, False)
    modes = {
        each["session"]: each["violations"][0]["mode"] for each in records if each["violations"]
    }
    assert modes == {
        f"s{n}": "enforce" if place_of(f"s{n}") < 0.3 else "observe" for n in range(50)
    }


def test_a_switch_moves_every_share(file: Path) -> None:
    """Turned off, a contract observes in all sessions; turned on, it is enforced in its share."""
    file.write_text(SOME)
    guard = Guard.from_yaml(file)
    names = [f"s{n}" for n in range(50)]
    before = [pays(guard, name, 2) for name in names]
    assert set(before) == {"aa", "ab"}
    guard.switch.turn_off()
    assert {pays(guard, name, 1) for name in names} == {"a"}
    guard.switch.turn_on()
    assert [pays(guard, name, 1) for name in names] == [each[-1] for each in before]


def test_a_session_that_is_restored_keeps_its_share(file: Path) -> None:
    """The id decides, in this process and in another one."""
    file.write_text(SOME)
    guard, other = Guard.from_yaml(file), Guard.from_yaml(file)
    for n in range(20):
        session = guard.session(f"s{n}")
        session.decide("pay", {})
        again = other.restore(session.snapshot())
        same = isinstance(session.decide("pay", {}), Blocked)
        assert isinstance(again.decide("pay", {}), Blocked) == same == (place_of(f"s{n}") < 0.3)


@pytest.mark.parametrize("share", ["0%", "101%", "ten", "-5%", 0, 1.5, True, None, "5"])
def test_what_is_no_share_is_refused(share: Any) -> None:
    """It says what to write."""
    with pytest.raises(ContractError, match=r"no part of sessions.*enforce: 10%"):
        contract("few").enforce(share)
    with pytest.raises(ContractError, match="no part of sessions"):
        loads(SOME.replace("30%", json.dumps(share)))


def test_a_share_is_of_one_contract() -> None:
    """The mode of a file has no share: each contract has its own."""
    with pytest.raises(ContractError, match="unknown mode"):
        loads(OLD.replace("contracts:", "mode: {enforce: 10%}\ncontracts:"))


# --- decorated tools ----------------------------------------------------------------------------

SMALL = """version: 1
contracts:
  - name: small
    mode: MODE
    guarantee: {pattern: arg_value_range, tool: pay, field: amount, max: 100}
"""


def paid(session: Session, pay: Any, amounts: list[Any]) -> list[Any]:
    """What the body receives of each amount, or the error that is raised."""
    results = []
    for amount in amounts:
        with session.active():
            try:
                results.append(pay(amount))
            except (CallBlocked, ValueError) as error:
                results.append(type(error).__name__)
    return results


def payment(amount: int) -> int:
    return amount


@requirement("S-TOOL-05")
@requirement("S-SHARE-01")
def test_a_tool_is_not_disturbed_in_sessions_that_only_observe(file: Path) -> None:
    """Its body gets what was given there, and what was decided on in the enforced sessions."""
    file.write_text(SMALL.replace("MODE", "{enforce: 50%}"))
    guard = Guard.from_yaml(file)
    pay = guard.tool(payment, name="pay")
    given = ["7", "many", 900]
    for n in range(10):
        observes = place_of(f"s{n}") >= 0.5
        expected = given if observes else [7, "ValidationError", "CallBlocked"]
        assert paid(guard.session(f"s{n}"), pay, given) == expected


@requirement("S-TOOL-03")
@requirement("S-RELOAD-01")
@pytest.mark.parametrize("modes", [("enforce", "observe"), ("observe", "enforce")])
def test_an_open_session_keeps_how_its_tools_are_called(file: Path, modes: tuple[str, ...]) -> None:
    """Its mode decides what the body receives, and not that of the sessions after it."""
    file.write_text(SMALL.replace("MODE", modes[0]))
    guard = Guard.from_yaml(file)
    pay = guard.tool(payment, name="pay")
    old = guard.session("old")
    file.write_text(SMALL.replace("MODE", modes[1]))
    guard.reload()
    bodies = {"enforce": [7, "CallBlocked"], "observe": ["7", "900"]}
    both = [paid(session, pay, ["7", "900"]) for session in (old, guard.session("new"))]
    assert both == [bodies[mode] for mode in modes]


@requirement("S-TOOL-22")
@requirement("S-RELOAD-01")
def test_what_a_contract_asks_of_the_caller_is_asked_from_then_on(file: Path) -> None:
    """The tool was decorated before; and while the contract is switched off, nobody has to say."""
    small = SMALL.replace("MODE", "enforce")
    file.write_text(small)
    guard = Guard.from_yaml(file)
    pay = guard.tool(payment, name="pay")
    rule = '{ltl: "G(called(pay) -> !(agent = bob))"}'
    file.write_text(f"{small}  - name: not bob\n    guarantee: {rule}\n")
    guard.reload()
    with guard.session().active():
        with pytest.raises(InputMissing, match="contract `not bob` needs agents"):
            pay(5)
        guard.switch.turn_off("not bob")
        with pytest.warns(UserWarning, match="needs agents"):
            assert pay(5) == 5


class Client:
    """What is no data."""


@requirement("S-RELOAD-02")
@pytest.mark.parametrize(
    ("add", "told"),
    [
        ("tools: {pay: {fields: {amount: number}}}\n", "`pay` takes `to`, which `tools`"),
        (
            "  - {name: by, guarantee: {pattern: arg_value_range, tool: pay, field: by, max: 1}}\n",
            "whose type is not JSON data",
        ),
    ],
    ids=["a field", "a client"],
)
def test_contracts_that_do_not_fit_a_decorated_tool_are_refused(
    file: Path, add: str, told: str
) -> None:
    """As they are when it is decorated."""
    small = SMALL.replace("MODE", "enforce")
    file.write_text(small)
    guard = Guard.from_yaml(file)

    @guard.tool
    def pay(amount: int, to: str = "ann", by: Client | None = None) -> int:
        return amount

    file.write_text(small + add)
    with pytest.raises(ContractError, match=told):
        guard.reload()
    with guard.session().active():
        assert pay(5) == 5
