"""The decision log: JSON lines, written without touching anything global."""

from __future__ import annotations

import gzip
import io
import json
import logging
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sponsio_like.contracts.definition import contract
from sponsio_like.errors import TraceError
from sponsio_like.event_types import Entry, Frame, record_of
from sponsio_like.guard.guard import Guard
from sponsio_like.log import JsonLog, flush, json_lines, json_log, queued, read_log
from sponsio_like.session import Log

FEW = contract("few").guarantees("tool `pay` at most 1 times")


def logged(stream: io.StringIO) -> list[dict[str, Any]]:
    """The records that were written."""
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_every_decision_and_settlement_is_a_line() -> None:
    """The log has one JSON line per decision and per settlement, each with its time."""
    stream = io.StringIO()
    session = Guard([FEW], log=json_log(stream)).session("s")
    session.decide("pay", {"to": "bob"}, id="a")
    session.settle("a", output="paid")
    session.decide("pay", {"to": "eve"}, id="b")
    records = logged(stream)
    assert [(each["event"], each["id"]) for each in records] == [
        ("decision", "a"),
        ("settlement", "a"),
        ("decision", "b"),
    ]
    assert all(each["session"] == "s" and each["timestamp"].endswith("Z") for each in records)
    assert records[2]["outcome"] == "blocked"
    assert records[2]["violations"] == [
        {
            "contract": "few",
            "position": 1,
            "tool": "pay",
            "action": "blocked",
            "mode": "enforce",
            "message": "tool `pay` at most 1 times",
        }
    ]


def test_a_log_has_no_values_unless_asked_for() -> None:
    """Without `log_args` neither arguments, outputs, texts nor facts are written."""
    stream = io.StringIO()
    session = Guard([FEW], log=json_log(stream)).session("s")
    session.fact("key", "SECRET")
    session.message("user", "SECRET")
    session.decide("pay", {"to": "SECRET"}, id="a")
    session.settle("a", output="SECRET")
    session.decide("pay", {"to": "SECRET"}, id="b")
    assert "SECRET" not in stream.getvalue()


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("ok", "ok"),
        (float("nan"), "nan"),
        ([float("inf")], ["inf"]),
        ({"deep": -0.5}, {"deep": -0.5}),
        ("\ud800", "\ud800"),
        (object(), "<unreadable>"),
    ],
)
def test_arguments_of_any_kind_are_written_as_json(value: Any, written: Any) -> None:
    """With `log_args` the arguments are written, and the line is JSON whatever they are."""
    stream = io.StringIO()
    Guard([FEW], log=json_log(stream), log_args=True).session().decide("pay", {"x": value})
    line = json.loads(stream.getvalue(), parse_constant=pytest.fail)
    assert line["args"] == {"x": written}


def test_nothing_is_configured_globally() -> None:
    """Logging's global configuration is not touched."""
    handlers = logging.getLogger().handlers[:]
    Guard([FEW], log=json_log(io.StringIO())).session().decide("a")
    assert logging.getLogger().handlers == handlers


def test_a_file_is_appended_to_and_read_back(tmp_path: Path) -> None:
    """A log in a file goes on where it ended, and is read back in order with places."""
    path = tmp_path / "log.jsonl"
    for name in ("a", "b"):
        with json_log(path) as log:
            Guard([FEW], log=log).session(name).decide("tool")
    lines = list(read_log(path))
    assert [line.where for line in lines] == [f"{path}:1", f"{path}:2"]
    assert [line.value["session"] for line in lines] == ["a", "b"]


def test_lines_of_many_threads_do_not_mix(tmp_path: Path) -> None:
    """Sessions in several threads may share one log: every line stays whole."""
    path = tmp_path / "log.jsonl"
    with json_log(path) as log:
        guard = Guard([FEW], log=log, log_args=True)

        def work(name: str) -> None:
            session = guard.session(name)
            for i in range(100):
                session.decide("pay", {"text": name * 500, "i": i})

        threads = [threading.Thread(target=work, args=(str(n),)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sum(line.value["event"] == "decision" for line in read_log(path)) == 800


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    """A last line without its end, since the writer was stopped, is no mistake; any other is."""
    path = tmp_path / "log.jsonl"
    path.write_text('{"event": "fact"}\n{"event": "fa', "utf-8")
    assert [line.value for line in read_log(path)] == [{"event": "fact"}]
    path.write_text('{"event": "fa\n{"event": "fact"}\n', "utf-8")
    with pytest.raises(TraceError, match=r"log\.jsonl:1: not a line of JSON"):
        list(read_log(path))


def test_a_packed_log_is_read_too(tmp_path: Path) -> None:
    """A log that was rotated and packed with gzip is read as it is."""
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"event": "fact"}\n'))
    assert [line.value for line in read_log(path)] == [{"event": "fact"}]


def test_a_log_that_cannot_be_opened_is_known_at_once(tmp_path: Path) -> None:
    """A folder that does not exist is an error when the log is made, not when the agent runs."""
    with pytest.raises(OSError, match="missing"):
        json_log(tmp_path / "missing" / "log.jsonl")


def test_a_log_that_fails_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    """A sink that raises, such as a closed file, changes no decision."""
    stream = io.StringIO()
    log = json_log(stream)
    stream.close()
    session = Guard([FEW], log=log).session()
    assert [type(session.decide("pay")).__name__ for _ in range(2)] == ["Allowed", "Blocked"]
    assert "sink failed" in caplog.text


def test_a_timestamp_is_the_time_of_the_record() -> None:
    """Each line has the time at which it was written, to the microsecond, in UTC."""
    stream = io.StringIO()
    log = json_log(stream)
    before = datetime.now(UTC)
    for _ in range(3):
        log({"event": "fact"})
    found = [datetime.fromisoformat(each["timestamp"]) for each in logged(stream)]
    assert before <= found[0] <= found[1] <= found[2] <= datetime.now(UTC)
    assert all(
        len(each["timestamp"]) == len("2026-11-23T01:53:59.507180Z") for each in logged(stream)
    )


def test_a_record_is_written_alike_by_every_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The encoder that is made once writes what that of `json` writes, and gives way if missing."""
    record = {
        "event": "decision",
        "args": {"x": ["\u00e4\n", 1, 0.5, None, True]},
        "applied": ("a",),
    }
    text = json_lines._encoder()(record)
    assert text == json.dumps(record)
    monkeypatch.setattr(json.encoder, "c_make_encoder", None)
    assert json_lines._encoder()(record) == text
    monkeypatch.setattr(json.encoder, "c_make_encoder", lambda: None)  # takes other parameters
    assert json_lines._encoder().__name__ == "encode"


def test_a_record_that_is_read_later_describes_the_decision() -> None:
    """A sink may keep records: what becomes of arguments and session does not change them."""
    kept: list[dict[str, Any]] = []
    session = Guard([FEW], log=kept.append, log_args=True).session("s")
    args = {"to": ["bob"]}
    session.decide("pay", args, id="a")
    said = json.dumps(kept[0], default=list)
    args["to"].append("eve")
    session.settle("a")
    session.decide("pay", args, id="b")
    session.finish()
    assert json.dumps(kept[0], default=list) == said
    assert (kept[0]["outcome"], kept[0]["violations"], kept[0]["applied"]) == (
        "allowed",
        [],
        ("few",),
    )


def test_no_record_is_made_that_a_logger_does_not_read(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A logger that only reads warnings costs no record of calls that violate nothing."""
    made = list[str]()
    whole = Log._decided

    def counted(log: Log, session: Any, call: Any, *rest: Any) -> Entry:
        made.append(call[0])
        return whole(log, session, call, *rest)

    monkeypatch.setattr(Log, "_decided", counted)
    logger = logging.getLogger("decisions of a test")
    caplog.set_level(logging.WARNING, logger.name)
    session = Guard([FEW], log=logger).session("s")
    session.decide("pay", id="a")
    session.settle("a")
    assert not made
    session.decide("pay", id="b")
    assert made == ["b"]
    assert flush()
    (told,) = (each.sponsio_like for each in caplog.records if each.name == logger.name)  # type: ignore[attr-defined]
    assert told["outcome"] == "blocked"
    assert [(each["contract"], each["mode"]) for each in told["contracts"]] == [("few", "enforce")]
    caplog.set_level(logging.INFO, logger.name)
    session.decide("look", id="c")
    assert made == ["b", "c"]


@pytest.mark.parametrize(
    ("first", "last", "counted", "more"),
    [
        ({"tool": "pay", "status": "ok"}, {}, None, {}),
        ({"tool": 'ä"%s{}\\\n', "agent": "\ud800"}, {"applied": ("a", '"')}, (7, 12.345), {}),
        ({"tool": "pay"}, {"applied": ()}, (0, 0.04), {"args": {"x": float("nan")}, "time": 1.5}),
    ],
)
def test_an_entry_is_the_line_of_its_record(
    first: dict[str, str],
    last: dict[str, Any],
    counted: tuple[int, float] | None,
    more: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A line that is made of prepared texts is the same, byte for byte, as that of the record."""
    monkeypatch.setattr("time.time_ns", lambda: 1_764_219_508_000_045_678)
    entry: Entry = (Frame("decision", first, last), "s\u2028", 'id"', counted, more)
    streams = io.StringIO(), io.StringIO(), io.StringIO()
    json_log(streams[0])(record_of(entry))
    json_log(streams[1]).enter(entry)
    json_log(streams[2]).enter_all([entry])
    texts = {each.getvalue() for each in streams}
    assert len(texts) == 1
    assert texts.pop().startswith(
        '{"timestamp": "2025-11-27T04:58:28.000045Z", "event": "decision"'
    )


def test_texts_that_are_kept_are_bounded() -> None:
    """However many names of tools there are, the log remembers the texts of some only."""
    log = json_log(io.StringIO())
    guard = Guard([FEW], log=log)
    session = guard.session("s")
    for n in range(3 * json_lines.FRAMES_CAP):
        session.settle(session.decide(f"tool {n}").id)
    assert len(log._texts) <= json_lines.FRAMES_CAP
    assert len(session._log.frames) <= json_lines.FRAMES_CAP


def test_a_sink_that_is_derived_gets_records() -> None:
    """A log with a `__call__` of its own, as one that takes something out, gets every record."""

    class Reduced(JsonLog):
        def __call__(self, record: dict[str, Any]) -> None:
            super().__call__({key: value for key, value in record.items() if key != "args"})

    stream = io.StringIO()
    for log in (Reduced(stream.write, quick=True), queued(Reduced(stream.write, quick=True))):
        session = Guard([FEW], log=log, log_content=True).session("s")
        session.settle(session.decide("look", {"to": "SECRET"}).id)
        session.settle(session.decide("look", {"to": "SECRET"}).id)
        assert flush()
    assert [each["event"] for each in logged(stream)] == ["decision", "settlement"] * 4
    assert "SECRET" not in stream.getvalue()


def test_a_decision_of_a_batch_takes_as_long_as_it_takes() -> None:
    """Its time counts from its own beginning, not from that of the machine."""
    stream = io.StringIO()
    guard = Guard([contract("c").guarantees({"ltl": "G !called(b)"})], log=json_log(stream))
    guard.session().decide_batch([("a", {}), ("b", {})])
    took = [each["microseconds"] for each in logged(stream) if "microseconds" in each]
    assert len(took) == 2
    assert all(0 < each < 60e6 for each in took)
