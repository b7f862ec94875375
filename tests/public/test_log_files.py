"""Logs in files: they rotate, their lines are chained, and what is lost is counted and said."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import ContractError, Guard, contract
from sponsio_like.event_types import Entry, Frame
from sponsio_like.log import flush, json_log, queued, verify
from sponsio_like.log.files import LOOK_EVERY
from tests.semantics.manifest import requirement
from tests.support.command_line import run_command

FEW = contract("few").guarantees("tool `pay` at most 1 times")


def records(*paths: Path) -> list[dict[str, Any]]:
    """The records of log files."""
    return [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]


# --- rotation ---------------------------------------------------------------------------------


def test_a_full_file_is_renamed_and_nothing_is_lost(tmp_path: Path) -> None:
    """Files are renamed when they are full; together they have every record, in order."""
    path = tmp_path / "log"
    with json_log(path, rotate=10_000, keep=9) as log:
        session = Guard([FEW], log=log).session("s")
        for i in range(6 * LOOK_EVERY):
            session.decide("look", id=str(i))
    numbered = sorted(tmp_path.glob("log.*"), key=lambda each: -int(each.suffix[1:]))
    assert len(numbered) > 2
    found = [each["id"] for each in records(*numbered, path) if each["event"] == "decision"]
    assert found == [str(i) for i in range(6 * LOOK_EVERY)]
    for each in [*numbered, path]:
        assert records(each)[0]["contracts"][0]["contract"] == "few"


def test_the_oldest_files_are_removed(tmp_path: Path) -> None:
    """Only the latest `keep` files are kept beside the one that is written."""
    with json_log(tmp_path / "log", rotate="1 KB", keep=2) as log:
        for _ in range(20 * LOOK_EVERY):
            log({"event": "fact"})
    assert {each.name for each in tmp_path.iterdir()} == {"log", "log.1", "log.2"}


ROTATES = """
import sys
from sponsio_like.log import json_log
log = json_log(sys.argv[1], rotate=40_000, keep=100)
for i in range(4000):
    log({"event": "fact", "by": sys.argv[2], "n": i})
"""


def test_two_processes_rotate_one_log(tmp_path: Path) -> None:
    """Whoever finds the file full renames it, once; the other follows, and no record is lost."""
    path = tmp_path / "log"
    command = [sys.executable, "-c", ROTATES, str(path)]
    both = [subprocess.Popen([*command, name]) for name in "ab"]
    assert [each.wait(timeout=60) for each in both] == [0, 0]
    found = [(each["by"], each["n"]) for each in records(*tmp_path.glob("log*"))]
    assert sorted(found) == [(name, i) for name in "ab" for i in range(4000)]


@pytest.mark.parametrize("wrong", ["much", 0, -1, "0 MB", 1.5])
def test_a_size_that_is_none_is_refused(wrong: Any, tmp_path: Path) -> None:
    """A log that could never rotate is an error when it is made."""
    with pytest.raises(ContractError, match="rotate="):
        json_log(tmp_path / "log", rotate=wrong)


# --- what is lost -----------------------------------------------------------------------------


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")  # noqa: PTH110
def test_a_full_disk_stops_nothing_and_is_said(caplog: pytest.LogCaptureFixture) -> None:
    """Records for which there is no room are counted and said; decisions go on."""
    log = json_log("/dev/full")
    session = Guard([FEW], log=log).session("s")
    assert [type(session.decide("pay")).__name__ for _ in range(3)] == [
        "Allowed",
        "Blocked",
        "Blocked",
    ]
    assert flush()
    assert log.lost == 3
    assert "1 records are lost so far" in caplog.text
    assert "2 records are lost so far" in caplog.text


def test_the_log_says_how_many_records_it_lost() -> None:
    """When lines can be written again, the first says how many could not."""
    stream, full = io.StringIO(), [True, True, False, False]

    class Disk:
        def write(self, line: str) -> None:
            if full.pop(0):
                raise OSError(28, "no space left")
            stream.write(line)

        def flush(self) -> None: ...

    log = json_log(Disk())  # type: ignore[arg-type]
    for n in range(3):
        log({"event": "fact", "n": n})
    found = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(each["event"], each.get("records"), each.get("n")) for each in found] == [
        ("dropped", 2, None),
        ("fact", None, 2),
    ]


# --- queues -----------------------------------------------------------------------------------


def test_a_sink_that_hangs_delays_nobody(caplog: pytest.LogCaptureFixture) -> None:
    """A sink behind a queue may hang: decisions are made, and what finds no room is counted."""
    hangs, written = threading.Event(), list[dict[str, Any]]()

    def sink(record: dict[str, Any]) -> None:
        hangs.wait(60)
        written.append(record)

    log = queued(sink, cap=5)
    session = Guard([FEW], log=log).session("s")
    for i in range(20):
        session.decide("look", id=str(i))
    assert not written
    assert log.lost >= 14
    hangs.set()
    assert flush()
    assert f"{log.lost}" in str([each.get("records") for each in written])
    assert sum(each["event"] == "decision" for each in written) == 20 - log.lost
    assert "too slow" in caplog.text


def test_a_queue_keeps_order_and_context() -> None:
    """Records are written in order, each in the context of who made it; failures are counted."""
    from contextvars import ContextVar

    request: ContextVar[str] = ContextVar("request", default="none")
    written = list[tuple[str, str]]()

    def sink(record: dict[str, Any]) -> None:
        if record.get("id") == "bad":
            raise ValueError("no")
        written.append((record["event"], request.get()))

    log = queued(sink)
    log({"event": "a"})
    request.set("r1")
    log({"event": "b"})
    log({"event": "c", "id": "bad"})
    log({"event": "d"})
    assert flush()
    assert written == [("a", "none"), ("b", "r1"), ("dropped", "r1"), ("d", "r1")]
    assert log.lost == 1


def test_what_waits_for_a_file_is_written_together(tmp_path: Path) -> None:
    """Behind a queue, records of a file are written together, in order, whatever they say."""
    path, free = tmp_path / "log", threading.Event()
    log = json_log(path)
    whole, writes = log._write, list[int]()

    def write(lines: str) -> None:
        free.wait(60)
        writes.append(lines.count("\n"))
        whole(lines)

    log._write = write
    session = Guard([FEW], log=queued(log)).session("s")
    for i in range(100):
        session.settle(session.decide("look", id=str(i)).id)
    session.decide("pay", id="100")
    session.decide("pay", id="101")
    free.set()
    assert flush()
    found = [each["id"] for each in records(path) if each["event"] == "decision"]
    assert found == [str(i) for i in range(102)]
    assert len(records(path)) == 202
    assert sum(writes) == 202
    assert max(writes) > 90


def test_lines_that_did_not_fit_are_counted_one_by_one(tmp_path: Path) -> None:
    """If only some of the lines fit, those are not lost; the next line begins anew."""
    path = tmp_path / "log"
    log = json_log(path)
    file = log._file
    assert file is not None
    file._file, whole = Disk(file._file, 100), file._file  # type: ignore[assignment]
    frame = Frame("decision", {"tool": "look"})
    entries: list[Entry] = [(frame, "s", str(i), None, {}) for i in range(9)]
    log._append("a" * 30 + "\n" + "b" * 30 + "\n" + "c" * 90 + "\n" + "d", records=4)
    assert log.lost == 2
    file._file = whole
    log.enter_all(entries)
    lines = path.read_text("utf-8").splitlines()
    assert [each[0] for each in lines[:3]] == ["a", "b", "c"]
    assert json.loads(lines[3])["records"] == 2
    assert [json.loads(each)["id"] for each in lines[4:]] == [str(i) for i in range(9)]


class Disk:
    """A file that has room for so many bytes."""

    def __init__(self, file: Any, room: int) -> None:
        self._file, self._room = file, room

    def write(self, text: bytes) -> int:
        written: int = self._file.write(text[: self._room])
        self._room -= written
        return written


def test_a_record_that_cannot_be_written_spoils_no_other(tmp_path: Path) -> None:
    """Of records that are written together, one that cannot be a line is lost alone."""
    path, free = tmp_path / "log", threading.Event()
    log = json_log(path)
    whole = log._write
    log._write = lambda lines: (free.wait(60), whole(lines))
    sink = queued(log)
    frame = Frame("decision", {"tool": "look"})
    for i in range(5):
        sink.enter((frame, "s", str(i), None, {"args": {("a",): i}} if i == 2 else {}))
    free.set()
    assert flush()
    found = [each.get("id", each.get("records")) for each in records(path)]
    assert (found, sink.lost) == (["0", "1", 1, "3", "4"], 1)


@requirement("S-LOG-17")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_what_waits_at_a_fork_is_written_once() -> None:
    """What waits is written by the process that made it, though it is forked while the sink has it;
    the other one writes what it makes itself.
    """
    free, (reading, writing) = threading.Event(), os.pipe()

    def sink(record: dict[str, Any]) -> None:
        free.wait(60)
        os.write(writing, f"{record['by']} ".encode())

    log = queued(sink)
    for _ in range(3):
        log({"event": "fact", "by": "parent"})
    child = os.fork()
    if not child:
        try:
            free.set()
            log({"event": "fact", "by": "child"})
            flush(2)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    free.set()
    assert flush()
    assert os.read(reading, 1000) == b"child parent parent parent "


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_has_queue_and_chain_of_its_own(tmp_path: Path) -> None:
    """What waits is written by the process that made it; a worker that was forked writes its own
    records, in a chain of its own.
    """
    path = tmp_path / "log"
    program = """
import os, sys, threading
from sponsio_like.log import flush, json_log, queued
free, log = threading.Event(), json_log(sys.argv[1], chain=True)
sink = queued(lambda record: (free.wait(60), log(record)))
log({"event": "fact", "by": "both"})
for n in range(3):
    sink({"event": "fact", "by": "parent"})
if os.fork() == 0:
    free.set()
    sink({"event": "fact", "by": "child"})
    assert flush()
    log.close()
    os._exit(0)
assert os.wait()[1] == 0
free.set()
assert flush()
"""
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)
    found = [each.get("by", each["event"]) for each in records(path)]
    assert found == ["both", "child", "closed", *["parent"] * 3, "closed"]
    links = verify([path])
    assert (links.wrong, len(links.last), links.open) == ([], 2, set())


# --- chains -----------------------------------------------------------------------------------


@pytest.fixture
def chained(tmp_path: Path) -> Path:
    """A chained log of two writers."""
    path = tmp_path / "log"
    for name in "ab":
        with json_log(path, chain=True) as log:
            session = Guard([FEW], log=log).session(name)
            for _ in range(3):
                session.decide("pay")
    return path


def test_a_chain_that_nobody_touched_holds(chained: Path) -> None:
    """Every line of every writer is linked with the one before."""
    links = verify([chained])
    assert (links.lines, len(links.last), links.wrong, links.open) == (8, 2, [], set())


def test_a_change_shows(chained: Path) -> None:
    """A line that was changed, removed, moved or added is found, with its place."""
    lines = chained.read_text().splitlines(keepends=True)
    changed = lines[1].replace('"blocked"', '"allowed"', 1)
    for left in (
        [lines[0], changed, *lines[2:]],
        [lines[0], *lines[2:]],
        lines[1:],
        [lines[1], lines[0], *lines[2:]],
        [*lines, '{"event": "fact"}\n'],
        [*lines, lines[-1]],
    ):
        chained.write_text("".join(left))
        assert verify([chained]).wrong


def test_a_key_keeps_others_from_making_a_chain(
    chained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chain that was made with another key, or without one, does not hold."""
    monkeypatch.setenv("SPONSIO_LIKE_LOG_KEY", "secret")
    assert len(verify([chained]).wrong) == 8
    chained.unlink()
    with json_log(chained, chain=True) as log:
        log({"event": "fact"})
    assert not verify([chained]).wrong
    monkeypatch.delenv("SPONSIO_LIKE_LOG_KEY")
    assert verify([chained]).wrong


def test_the_command_line_verifies(chained: Path) -> None:
    """`log verify` has status 0 where every link holds, else 1 and the places."""
    done = run_command("log", "verify", chained)
    assert (done.returncode, "8 lines: every link holds" in done.stdout) == (0, True)
    chained.write_text(chained.read_text().replace("blocked", "allowed", 1))
    done = run_command("log", "verify", chained)
    assert (done.returncode, f"{chained}:" in done.stdout) == (1, True)


@requirement("S-LOG-12")
def test_a_chain_whose_end_was_cut_off_has_no_end(chained: Path) -> None:
    """Without its record `closed`, a chain is not whole: it is said, and a status if asked for."""
    lines = chained.read_text().splitlines(keepends=True)
    chained.write_text("".join(lines[:-1]))
    (last,) = (each for each in verify([chained]).last if each in lines[-1])
    assert (verify([chained]).wrong, verify([chained]).open) == ([], {last})
    done = run_command("log", "verify", chained)
    assert (done.returncode, f"the chain of {last} has no end" in done.stdout) == (0, True)
    assert run_command("log", "verify", chained, "--ended").returncode == 1


def test_a_process_that_ends_closes_its_chains(tmp_path: Path) -> None:
    """A log that nobody closes is closed by the end of the process, if it has written anything."""
    program = (
        "import sys; from sponsio_like.log import json_log; "
        "kept = [json_log(each, chain=True) for each in sys.argv[1:]]; kept[0]({'event': 'fact'})"
    )
    paths = [tmp_path / "a", tmp_path / "b"]
    subprocess.run([sys.executable, "-c", program, *map(str, paths)], check=True)
    events = [
        [json.loads(line)["event"] for line in each.read_text().splitlines()] for each in paths
    ]
    assert events == [["fact", "closed"], []]
    assert not verify(paths).open


def test_errors_of_a_log_do_not_go_into_it(caplog: pytest.LogCaptureFixture) -> None:
    """What is said of a log is said by the logger of the package, as an error."""
    caplog.set_level(logging.ERROR, "sponsio_like")
    stream = io.StringIO()
    log = json_log(stream)
    stream.close()
    log({"event": "fact"})
    assert [each.levelname for each in caplog.records] == ["ERROR"]
