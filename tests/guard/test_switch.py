"""The kill switch: contracts stop enforcing in open sessions, at the next decision."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import ContractError, Guard, contract
from sponsio_like.guard import switch

FEW = contract("few").guarantees("tool `pay` at most 1 times")
FIRST = contract("first").guarantees("tool `check` must precede `send`")
ONLY = contract("only").guarantees("tool `look` at most 0 times").observe()


@pytest.fixture
def records() -> list[dict[str, Any]]:
    """What is logged."""
    return []


@pytest.fixture
def guard(records: list[dict[str, Any]]) -> Guard:
    """A guard with two enforced contracts, and one that observes."""
    return Guard([FEW, FIRST, ONLY], log=records.append)


def names(guard: Guard, *tools: str) -> list[str]:
    """What becomes of calls in the session `s`, which stays open."""
    session = guard.session("s")
    return [type(session.decide(tool, {})).__name__ for tool in tools]


def switched(records: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The switches in the log."""
    each = (one for one in records if one["event"] == "switched")
    return [(one["mode"], *one["switched"], one["by"]) for one in each]


def test_an_open_session_is_let_go_at_the_next_decision(
    guard: Guard, records: list[dict[str, Any]]
) -> None:
    """All contracts observe from the next decision on, in open sessions too; then enforce again."""
    assert names(guard, "pay", "pay", "send") == ["Allowed", "Blocked", "Blocked"]
    guard.switch.turn_off(by="ann")
    assert names(guard, "pay", "send", "look") == ["Allowed"] * 3
    assert records[-1]["would"] == "blocked" or records[-2]["would"] == "blocked"
    assert guard.switch.off == ("few", "first")
    guard.switch.turn_on(by="ann")
    assert names(guard, "pay", "send", "look") == ["Blocked", "Blocked", "Allowed"]
    assert switched(records) == [
        ("observe", "few", "first", "ann"),
        ("enforce", "few", "first", "ann"),
    ]


def test_one_contract_is_switched(guard: Guard, records: list[dict[str, Any]]) -> None:
    """The others enforce on; a contract that is written to observe is never enforced by this."""
    names(guard, "pay")
    guard.switch.turn_off("few")
    guard.switch.turn_off("few", "only")
    assert names(guard, "pay", "send") == ["Allowed", "Blocked"]
    guard.switch.turn_on("only")
    assert names(guard, "pay", "look") == ["Allowed", "Allowed"]
    guard.switch.turn_off()
    guard.switch.turn_on("first")
    assert names(guard, "pay", "send", "look") == ["Allowed", "Blocked", "Allowed"]
    with pytest.raises(ContractError, match=r"no contract `fw`.*`few`"):
        guard.switch.turn_off("fw")
    assert switched(records)[:1] == [("observe", "few", "")]


def test_the_state_goes_on_while_a_contract_observes(guard: Guard) -> None:
    """What happened meanwhile counts when it is enforced again."""
    guard.switch.turn_off()
    assert names(guard, "pay") == ["Allowed"]
    guard.switch.turn_on()
    assert names(guard, "pay") == ["Blocked"]


def test_a_file_is_the_switch(guard: Guard, tmp_path: Path) -> None:
    """While the file is there, what it names observes; nothing in it stands for all."""
    path = tmp_path / "off"
    guard.switch.watch(path)
    try:
        assert names(guard, "pay", "pay") == ["Allowed", "Blocked"]
        for text, off in (("few\n", ("few",)), ("", ("few", "first")), ("*\n", ("few", "first"))):
            path.write_text(text)
            until(lambda off=off: guard.switch.off == off)
            path.unlink()
            until(lambda: guard.switch.off == ())
    finally:
        guard.switch.close()


def test_each_file_counts_for_itself(
    guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one names observes while it is there, whatever another file, or somebody, says."""
    monkeypatch.setattr(switch, "LOOK_SECONDS", 0.01)

    def off() -> tuple[str, ...]:
        return guard.switch.off

    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("few\n")
    guard.switch.watch(one)
    guard.switch.watch(other)
    try:
        other.write_text("first\n")
        until(lambda: off() == ("few", "first"))
        guard.switch.turn_on()
        assert off() == ("few", "first")
        other.unlink()
        until(lambda: off() == ("few",))
        guard.switch.turn_off("few")
        one.unlink()
        time.sleep(0.1)
        assert off() == ("few",)
    finally:
        guard.switch.close()


def test_a_file_that_names_nobody_changes_nothing(
    guard: Guard, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A misspelt name is said, and everything is enforced on."""
    (tmp_path / "off").write_text("fw\n")
    guard.switch.watch(tmp_path / "off")
    guard.switch.close()
    assert guard.switch.off == ()
    assert "there is no contract `fw`" in caplog.text


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="there are no such signals")
def test_a_signal_is_the_switch(guard: Guard, records: list[dict[str, Any]]) -> None:
    """The first signal turns all contracts off, the next one on again."""
    before = signal.getsignal(signal.SIGUSR1)
    try:
        guard.switch.on_signal()
        os.kill(os.getpid(), signal.SIGUSR1)
        until(lambda: guard.switch.off == ("few", "first"))
        os.kill(os.getpid(), signal.SIGUSR1)
        until(lambda: guard.switch.off == ())
    finally:
        signal.signal(signal.SIGUSR1, before)
    until(lambda: len(switched(records)) == 2)


def test_decisions_in_many_threads_are_under_either_mode(guard: Guard) -> None:
    """A switch never makes a decision fail: each is that of one mode or the other."""
    found, stop = set[str](), threading.Event()

    def work(name: str) -> None:
        session = guard.session(name)
        while not stop.is_set():
            found.add(type(session.decide("pay", {})).__name__)

    threads = [threading.Thread(target=work, args=(str(n),)) for n in range(3)]
    for each in threads:
        each.start()
    for _ in range(100):
        guard.switch.turn_off()
        guard.switch.turn_on()
    stop.set()
    for each in threads:
        each.join()
    assert found == {"Allowed", "Blocked"}
    assert names(guard, "pay", "pay") == ["Allowed", "Blocked"]


def until(true: Any) -> None:
    """Wait until this is true."""
    for _ in range(1000):
        if true():
            return
        time.sleep(0.01)
    raise AssertionError
