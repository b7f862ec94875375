"""The decision log: records as JSON lines, written and read back.

In: the records of a guard. Out: one JSON object a line, each with a `timestamp`, written at once;
files that rotate, chains by which a change shows, and a queue for sinks that may be slow. Nothing
is configured globally: the host's own logging is left alone.

    guard = Guard(contracts, log="decisions.jsonl")

or, to close the file at a certain point:

    with json_log("decisions.jsonl") as log:
        guard = Guard(contracts, log=log)
"""

from sponsio_like.event_types import Record
from sponsio_like.log.chain import Links, verify
from sponsio_like.log.json_lines import JsonLog, as_text, json_log, read_log
from sponsio_like.log.otel import OtelLog, otel_log
from sponsio_like.log.pretty import console_log, drawing, level_of
from sponsio_like.log.queue import Queued, entering, queued
from sponsio_like.log.redact import redacted
from sponsio_like.log.tail import followed
from sponsio_like.outbox import flush

# fmt: off
__all__ = [
    "JsonLog", "Links", "OtelLog", "Queued", "Record", "as_text", "console_log", "drawing",
    "entering", "flush", "followed", "json_log", "level_of", "otel_log", "queued", "read_log",
    "redacted", "verify",
]
# fmt: on
