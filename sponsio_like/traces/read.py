"""Reads a file of traces: JSON lines with a trace each, a decision log, or traces from elsewhere,
checkpoints of LangGraph among them.

In: a path. Out: `Trace`s, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from sponsio_like.errors import TraceError
from sponsio_like.traces.checkpoints import checkpointed, is_sqlite
from sponsio_like.traces.elsewhere import format_of, traces_elsewhere
from sponsio_like.traces.foreign import TRACE
from sponsio_like.traces.jsonl import ignored, read_lines
from sponsio_like.traces.logged import is_log, logged_traces, read_records
from sponsio_like.traces.trace import Trace, trace_of


def read_traces(path: str | Path, progress: Callable[[int], None] = ignored) -> Iterator[Trace]:
    """Yield the traces of a file one by one. Raises `TraceError` at the first bad one.

    A file without any is refused: it would keep every contract. A log whose last line is incomplete
    is read up to it; after a line of it that is not JSON, calls are missing (`logged_traces`).
    """
    if is_sqlite(path):
        yield from _with_events(path, "checkpoints of LangGraph", checkpointed(path))
        return
    lines = read_lines(path, progress)
    first = next(lines, None)
    if first is None:
        raise TraceError(f"{path}: there are no traces in it; a line has one, like {TRACE}")
    if is_log(first.value):
        yield from _logged(path, progress)
        return
    kind = format_of(first.value)
    if kind is None:
        for where, value in chain([first], lines):
            yield trace_of(value, where)
        return
    yield from _with_events(path, kind, traces_elsewhere(kind, chain([first], lines)))


def _with_events(
    path: str | Path, kind: str, found: Iterable[tuple[str, dict[str, Any]]]
) -> Iterator[Trace]:
    """Yield the traces that have events. Raises `TraceError` if none has."""
    empty = True
    for where, value in found:
        if value["events"]:
            empty = False
            yield trace_of(value, where)
    if empty:
        raise TraceError(f"{path}: there are no traces in it; it looks like {kind}, without calls")


def _logged(path: str | Path, progress: Callable[[int], None]) -> Iterator[Trace]:
    empty = True
    for trace in logged_traces(read_records(path, progress)):
        empty = False
        yield trace
    if empty:
        raise TraceError(f"{path}: no session is in this decision log")
