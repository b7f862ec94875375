"""Draws records of a decision log as lines for people, by structlog.

In: records. Out: a line each, with its time, its level, what happened and why; coloured for a
terminal. No text of an agent steers the terminal.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping
from typing import IO, Any

from sponsio_like.event_types import Record, Sink
from sponsio_like.terminal import clean

FAILURES = ("the decision failed", "it could not be evaluated")
"""The beginnings of the messages of violations that no agent has committed: something raised."""
LOUD = frozenset({"dropped", "relaxed", "reload_failed", "switched"})
"""The events that are warnings by themselves."""
STOPPED = frozenset({"blocked", "held", "redirected"})
SHOWN = ("session", "agent", "args", "output", "text", "status", "ticket", "by", "records")
"""The fields that a line has, where the record has them, and in this order."""
USUAL = {"agent": "agent", "status": "ok"}
"""The values that are not worth a word."""


def level_of(record: Mapping[str, Any]) -> int:
    """Return the level of a record: error, warning or information (`logging`'s numbers).

    Error: something raised in a decision. Warning: a call or a response was not let through as it
    was made, an enforced contract was violated where nothing could be stopped, enforcement is
    turned off, records were lost, or contracts could not be loaded again.
    """
    violations = record.get("violations", ())
    if any(each["message"].startswith(FAILURES) for each in violations):
        return logging.ERROR
    late = any(each["action"] == "reported" and each["mode"] == "enforce" for each in violations)
    if late or record.get("outcome") in STOPPED or record["event"] in LOUD:
        return logging.WARNING
    return logging.INFO


def drawing(*, colours: bool) -> Callable[[Record], str]:
    """Return a function that draws a record as one line."""
    from structlog.dev import ConsoleRenderer

    render = ConsoleRenderer(colors=colours, sort_keys=False, pad_event_to=34)

    def draw(record: Record) -> str:
        level = logging.getLevelName(level_of(record)).lower()
        at = str(record.get("timestamp", ""))[11:19]
        fields = {"level": level, "event": clean(_happened(record)), **_fields(record)}
        line = render(None, level, {"timestamp": at, **fields} if at else fields)
        return " ".join(line.split("\n"))

    return draw


def console_log(stream: IO[str] | None = None) -> Sink:
    """Return a sink that draws each record as a line for people, on standard error if not told.

    It is coloured on a terminal.
    """
    chosen = sys.stderr if stream is None else stream
    draw = drawing(colours=chosen.isatty())

    def write(record: Record) -> None:
        chosen.write(draw(record) + "\n")
        chosen.flush()

    return write


def _happened(record: Mapping[str, Any]) -> str:
    """Return what happened, in some words: `pay blocked`."""
    event = record["event"]
    name = record.get("tool") or record.get("role") or record.get("key") or ""
    would = f" (would be {record['would']})" if "would" in record else ""
    if event in ("decision", "message"):
        return f"{name} {record.get('outcome', '')}{would}"
    return f"{event} {name}".rstrip().replace("_", " ")


def _fields(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields that a line shows, as texts on one line."""
    found = {
        name: _word(record[name])
        for name in SHOWN
        if name in record and record[name] not in ("", None, USUAL.get(name))
    }
    violations = [*record.get("violations", ()), *record.get("unfulfilled", ())]
    if names := dict.fromkeys(str(each["contract"]) for each in violations):
        found["contract"] = _word(", ".join(names))
        found["because"] = _word(violations[0].get("because") or violations[0]["message"])
    for name in ("switched", "message", "source"):
        if name in record and record["event"] in (*LOUD, "reloaded"):
            found[name] = _word(record[name])
    return found


def _word(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return clean(" ".join(text.split()))
