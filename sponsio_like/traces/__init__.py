"""Reads trace files: what agents did, one session a line.

In: JSON lines. Out: events, or the place of a mistake and what to write instead.
"""

from sponsio_like.traces.jsonl import Line, read_lines
from sponsio_like.traces.trace import (
    CallEvent,
    DenialEvent,
    Event,
    FactEvent,
    MessageEvent,
    ResultEvent,
    StepEvent,
    Trace,
    read_traces,
)

# fmt: off
__all__ = [
    "CallEvent", "DenialEvent", "Event", "FactEvent", "Line", "MessageEvent", "ResultEvent",
    "StepEvent", "Trace", "read_lines", "read_traces",
]
# fmt: on
