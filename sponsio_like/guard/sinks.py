"""Makes the sink of a log from what `Guard(log=...)` is given.

In: a path, a callable, a logger of the standard library, or one like structlog's. Out: a function
of one record, which never waits: functions and loggers are called by a thread of their own.
Anything else would lose every record, so it is refused when the guard is made.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

from sponsio_like.errors import ContractError
from sponsio_like.event_types import Record, Sink
from sponsio_like.log import JsonLog, OtelLog, Queued, as_text, json_log, level_of, queued

HINT = (
    'write a path ("decisions.jsonl"), a function of one record, a logger of the standard library '
    "or of structlog, or json_log(stream), from sponsio_like.log"
)


class OfLog(NamedTuple):
    """A sink, and whether it reads records without a violation now; None: it reads all."""

    write: Sink
    reads: Callable[[], bool] | None = None


class Structured(Protocol):
    """A logger that takes an event and its fields by name, as structlog's do."""

    def bind(self, **fields: Any) -> Any: ...
    def info(self, event: str, **fields: Any) -> Any: ...
    def warning(self, event: str, **fields: Any) -> Any: ...
    def error(self, event: str, **fields: Any) -> Any: ...


Given: TypeAlias = "str | Path | Sink | logging.Logger | logging.LoggerAdapter[Any] | Structured"
"""The types that may be given as `log`."""


def sink_of(given: Any) -> OfLog:
    """Return the sink. Raises `ContractError` for what cannot be one."""
    match given:
        case str() | Path() if str(given):
            return OfLog(_aside(_file(given)))
        case logging.Logger() | logging.LoggerAdapter():
            reads = partial(given.isEnabledFor, logging.INFO)
            return OfLog(queued(_standard(given)), reads)
    if callable(given):
        return OfLog(_aside(_function(given)))
    methods = [getattr(given, each, None) for each in ("bind", "info", "warning", "error")]
    if all(map(callable, methods)):  # they may be found by `__getattr__`
        return OfLog(queued(_structured(given)))
    raise ContractError.of(f"log={given!r} cannot be written to", HINT)


def _aside(sink: Sink) -> Sink:
    """Return the sink, behind a queue unless it is known to be quick."""
    quick = inspect.isbuiltin(sink) or isinstance(sink, Queued | OtelLog)
    if isinstance(sink, JsonLog):
        quick = sink.quick
    return sink if quick else queued(sink)


def _file(path: str | Path) -> JsonLog:
    try:
        return json_log(path)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        hint = "name a file in a folder that exists and may be written to"
        raise ContractError.of(f"log `{path}` cannot be opened: {why}", hint) from None


def _function(given: Any) -> Sink:
    called = given if inspect.isroutine(given) else type(given).__call__
    if inspect.iscoroutinefunction(given) or inspect.iscoroutinefunction(called):
        raise ContractError.of(f"log={given!r} is a coroutine function", "nobody would await it")
    try:
        inspect.signature(given).bind({})
    except TypeError:
        raise ContractError.of(f"log={given!r} does not take one record", HINT) from None
    except ValueError:  # its parameters are not known
        pass
    return given  # type: ignore[no-any-return]


def _standard(logger: logging.Logger | logging.LoggerAdapter[Any]) -> Sink:
    """Return a sink that logs the record as JSON, and as `record.sponsio_like` for handlers."""

    def write(record: Record) -> None:
        level = level_of(record)
        if logger.isEnabledFor(level):
            logger.log(level, "%s", as_text(record), extra={"sponsio_like": record})

    return write


def _structured(logger: Structured) -> Sink:
    """Return a sink that logs the record's event, with its other fields by name."""
    by_level = {logging.ERROR: "error", logging.WARNING: "warning", logging.INFO: "info"}

    def write(record: Record) -> None:
        fields = {key: value for key, value in record.items() if key != "event"}
        getattr(logger, by_level[level_of(record)])(record["event"], **fields)

    return write
