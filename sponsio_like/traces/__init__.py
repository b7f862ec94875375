"""Reads trace files: what agents did, one session a line.

In: JSON lines. Out: events, or the place of a mistake and what to write instead.
"""

from sponsio_like.traces.jsonl import Line, read_lines
from sponsio_like.traces.logged import CUT, logged_traces, lost_by, read_records
from sponsio_like.traces.read import read_traces
from sponsio_like.traces.trace import (
    CallEvent,
    DenialEvent,
    Event,
    FactEvent,
    MessageEvent,
    ResultEvent,
    StepEvent,
    Trace,
    trace_of,
)

# fmt: off
__all__ = [
    "CUT", "CallEvent", "DenialEvent", "Event", "FactEvent", "Line", "MessageEvent", "ResultEvent",
    "StepEvent", "Trace", "logged_traces", "lost_by", "read_lines", "read_records", "read_traces",
    "trace_of",
]
# fmt: on
