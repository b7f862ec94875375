"""Sends the decision log to OpenTelemetry: an event on the present span, and metrics.

In: the records of a guard. Out: for each decision a span event `sponsio_like.decision`, with the
field names of the semantic conventions for generative AI where they exist; counts of decisions by
outcome and of violations by contract; a histogram of how long decisions took. An event is added at
once, since a span that has ended takes none; what is counted goes by a thread of its own. Nothing
here sends anything: the exporters of the SDK do, by their threads or when a span ends.

    guard = Guard(contracts, log=otel_log())
"""

from __future__ import annotations

import atexit
from collections.abc import Mapping
from typing import Any

from sponsio_like.errors import SponsioLikeError
from sponsio_like.event_types import Record
from sponsio_like.log.queue import queued
from sponsio_like.outbox import flush

SCOPE = "sponsio_like"
NAMES = {
    "tool": "gen_ai.tool.name",
    "id": "gen_ai.tool.call.id",
    "session": "gen_ai.conversation.id",
    "agent": "gen_ai.agent.name",
}
"""The fields of a record that have names in the semantic conventions."""
OWN = ("outcome", "would", "position", "status", "role", "digest", "ticket", "substitute")


class OtelLog:
    """A sink that tells OpenTelemetry of each record."""

    def __init__(self, meter: Any, current_span: Any) -> None:
        self._current = current_span
        self._later = queued(self._count)
        self._decisions = meter.create_counter(
            "sponsio_like.decisions", unit="{decision}", description="decisions, by outcome"
        )
        self._violations = meter.create_counter(
            "sponsio_like.violations", unit="{violation}", description="violations, by contract"
        )
        self._latency = meter.create_histogram(
            "sponsio_like.decision.duration", unit="us", description="time that a decision took"
        )

    def __call__(self, record: Record) -> None:
        """Add an event to the present span, and have it counted."""
        span = self._current()
        if span.is_recording():
            span.add_event(f"sponsio_like.{record['event']}", _attributes(record))
        if record["event"] == "decision" or record.get("violations"):
            self._later(record)

    def _count(self, record: Record) -> None:
        if record["event"] == "decision":
            by = {"outcome": record["outcome"], "gen_ai.tool.name": record["tool"]}
            self._decisions.add(1, by)
            self._latency.record(record["microseconds"], {"outcome": record["outcome"]})
        for each in record.get("violations", ()):
            by = {name: each[name] for name in ("contract", "action", "mode")}
            self._violations.add(1, by)


def otel_log(meter_provider: Any = None) -> OtelLog:
    """Return a sink for `Guard(log=...)`. Raises `SponsioLikeError` without OpenTelemetry.

    `meter_provider`: that of the process, if not given.
    """
    try:
        from opentelemetry import metrics, trace
    except ImportError:
        raise SponsioLikeError(
            "OpenTelemetry is missing: pip install 'sponsio-like[otel]'"
        ) from None
    meter = metrics.get_meter(SCOPE, meter_provider=meter_provider)
    atexit.unregister(flush)
    atexit.register(flush)  # which runs before the end of a provider that was made before
    return OtelLog(meter, trace.get_current_span)


def _attributes(record: Mapping[str, Any]) -> dict[str, Any]:
    found = {NAMES[key]: record[key] for key in NAMES if key in record}
    found |= {f"sponsio_like.{key}": record[key] for key in OWN if key in record}
    violations = record.get("violations", ())
    if violations:
        found["sponsio_like.contracts"] = [each["contract"] for each in violations]
        found["sponsio_like.actions"] = [each["action"] for each in violations]
    return found
