"""What people see of a log: lines drawn by structlog, and a log that is followed as it grows."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import Guard, TraceError, contract
from sponsio_like.log import console_log, drawing, flush, followed, json_log
from tests.semantics.manifest import requirement

FEW = contract("few").guarantees("tool `pay` at most 1 times").because("money is short")
ONLY = contract("only").guarantees("tool `look` at most 0 times").observe()


def drawn(**record: Any) -> str:
    """The line of a record."""
    return drawing(colours=False)({"event": "decision", **record})


def test_a_line_says_what_happened_and_why() -> None:
    """The time, the level, the tool and what became of it; the contract and its reason."""
    stream = io.StringIO()
    session = Guard([FEW, ONLY], log=console_log(stream)).session("s")
    for tool in ("pay", "pay", "look"):
        session.decide(tool, {})
    session.finish()
    assert flush()
    first, second, third, last = (" ".join(line.split()) for line in stream.getvalue().splitlines())
    assert first == "[info ] pay allowed session=s"
    assert second == "[warning ] pay blocked session=s contract=few because='money is short'"
    assert third.startswith("[info ] look allowed (would be blocked) session=s contract=only")
    assert last == "[info ] finish session=s"


def test_levels_are_those_of_outcomes() -> None:
    """What was stopped is a warning, what raised an error, and lost records are a warning."""
    failed = {"contract": "c", "message": "the decision failed: x", "action": "blocked"}
    assert "[error" in drawn(tool="pay", outcome="blocked", violations=[failed])
    assert "[warning" in drawn(tool="pay", outcome="held")
    assert "[warning" in drawn(event="dropped", records=3)
    assert "records=3" in drawn(event="dropped", records=3)
    assert "[info" in drawn(tool="pay", outcome="allowed")


def test_no_text_of_an_agent_steers_the_terminal() -> None:
    """Control characters are shown as text, and a record is one line."""
    line = drawn(
        tool="\x1b[2Jpay\n", outcome="allowed", session="a\r\nb", args={"x": "\x1b]0;t\x07"}
    )
    assert "\x1b" not in line
    assert "\n" not in line
    assert "\r" not in line


def test_a_terminal_is_coloured() -> None:
    """Colours are for terminals only."""
    record = {"event": "decision", "tool": "pay", "outcome": "blocked"}
    assert "\x1b[" in drawing(colours=True)(record)
    assert "\x1b[" not in drawing(colours=False)(record)


# --- a log that grows -------------------------------------------------------------------------


class Growing:
    """A log that grows by one step each time that its reader waits; then the reader stops."""

    def __init__(self, *steps: Any) -> None:
        self.steps = list(steps)

    def __call__(self, _: float) -> None:
        if not self.steps:
            raise KeyboardInterrupt
        self.steps.pop(0)()


def seen(path: Path, *steps: Any) -> list[Any]:
    """What is seen of a log that grows by these steps: the field `n`, else the event."""
    found = list[Any]()
    with suppress(KeyboardInterrupt):
        for _, record in followed(path, Growing(*steps)):
            found.append(record.get("n", record["event"]))
    return found


def line(n: int) -> str:
    """One record."""
    return json.dumps({"event": "fact", "n": n}) + "\n"


@requirement("S-LOG-13")
def test_a_log_is_followed_as_it_grows(tmp_path: Path) -> None:
    """First its latest records, then each as it is written; a line that is not whole is awaited."""
    path = tmp_path / "log"
    path.write_text("".join(map(line, range(30))))

    def append(text: str) -> Any:
        def write() -> None:
            with path.open("a") as file:
                file.write(text)

        return write

    steps = [append(line(30)), append(line(31)[:9]), append(line(31)[9:]), append("{\n" + line(32))]
    assert seen(path, *steps) == [*range(20, 32), "dropped", 32]


@requirement("S-LOG-13")
def test_a_log_that_is_rotated_is_followed_on(tmp_path: Path) -> None:
    """The rest of the old file comes first, then the new one; so it is where a file is emptied."""
    path = tmp_path / "log"
    path.write_text(line(0))

    def rotate() -> None:
        with path.open("a") as file:
            file.write(line(1))
        path.rename(tmp_path / "log.1")

    steps = [rotate, lambda: path.write_text(line(2)), lambda: path.write_text(""),
             lambda: path.write_text(line(3))]  # fmt: skip
    assert seen(path, *steps) == [0, 1, 2, 3]


def test_a_log_that_is_not_there_cannot_be_followed(tmp_path: Path) -> None:
    """The error names the file."""
    with pytest.raises(TraceError, match="no such file"):
        next(followed(tmp_path / "missing"))


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Processes that are started hear SIGINT, even where this one was started to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_the_command_line_watches_a_log(tmp_path: Path) -> None:
    """`report LOG --watch` prints decisions as they are made, in other processes, too."""
    path = tmp_path / "log"
    with json_log(path) as log:
        session = Guard([FEW], log=log).session("s")
        session.decide("look", {})
        session.decide("pay", {})
        command = [sys.executable, "-m", "sponsio_like", "report", str(path), "--watch"]
        command += ["--contract", "few"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watch:
            assert watch.stdout is not None
            first = watch.stdout.readline()
            session.decide("pay", {})
            second = watch.stdout.readline()
            watch.send_signal(signal.SIGINT)
            try:
                assert watch.wait(60) == 0
            finally:
                watch.kill()
    assert "pay allowed" in first
    assert "pay blocked" in second
    assert "contract=few" in second
