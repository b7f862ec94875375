"""Decisions in OpenTelemetry: events on the present span, and metrics, by the SDK itself."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk", reason="the extra `otel` is not installed")

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from sponsio_like import Guard, contract
from sponsio_like.log import OtelLog, flush, otel_log
from tests.semantics.manifest import requirement

FEW = contract("few").guarantees("tool `pay` at most 1 times")


def test_a_decision_is_an_event_of_the_present_span() -> None:
    """Each record is an event, with the names of the semantic conventions, and no content."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    session = Guard([FEW], log=otel_log(), log_args=True).session("s1")
    with provider.get_tracer("test").start_as_current_span("agent"):
        session.settle(session.decide("pay", {"iban": "SECRET"}, id="a").id)
        session.decide("pay", {"iban": "SECRET"}, id="b")
    session.decide("pay", {})  # outside of every span
    (span,) = exporter.get_finished_spans()
    events = [(each.name, dict(each.attributes or {})) for each in span.events]
    assert [name for name, _ in events] == [
        "sponsio_like.decision",
        "sponsio_like.settlement",
        "sponsio_like.decision",
    ]
    told = events[2][1]
    assert told["gen_ai.tool.name"] == "pay"
    assert told["gen_ai.tool.call.id"] == "b"
    assert told["gen_ai.conversation.id"] == "s1"
    assert told["gen_ai.agent.name"] == "agent"
    assert told["sponsio_like.outcome"] == "blocked"
    assert told["sponsio_like.contracts"] == ("few",)
    assert "SECRET" not in str(events)


def points(reader: InMemoryMetricReader) -> dict[str, list[Any]]:
    """The data points of each metric."""
    data = reader.get_metrics_data()
    assert data is not None
    each = (m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics)
    return {metric.name: list(metric.data.data_points) for metric in each}


def test_decisions_and_violations_are_counted() -> None:
    """Decisions by outcome, violations by contract, and a histogram of how long they took."""
    reader = InMemoryMetricReader()
    session = Guard([FEW], log=otel_log(MeterProvider([reader]))).session()
    for _ in range(3):
        session.decide("pay", {})
    assert flush()
    found = points(reader)
    outcomes = {p.attributes["outcome"]: p.value for p in found["sponsio_like.decisions"]}
    assert outcomes == {"allowed": 1, "blocked": 2}
    (violations,) = found["sponsio_like.violations"]
    assert (violations.value, violations.attributes["contract"]) == (2, "few")
    assert sum(p.count for p in found["sponsio_like.decision.duration"]) == 3


@requirement("S-LOG-15")
def test_what_is_counted_is_counted_by_another_thread() -> None:
    """A decision adds an event to the present span, and waits for no counter."""
    own, counted, told = threading.current_thread(), list[threading.Thread](), list[str]()

    def note(*_: Any) -> None:
        counted.append(threading.current_thread())

    instrument = SimpleNamespace(add=note, record=note)
    meter = SimpleNamespace(
        create_counter=lambda *_, **__: instrument, create_histogram=lambda *_, **__: instrument
    )
    span = SimpleNamespace(is_recording=lambda: True, add_event=lambda name, _: told.append(name))
    session = Guard([FEW], log=OtelLog(meter, lambda: span)).session()
    for n in range(3):
        session.decide("pay", {})
        assert told == ["sponsio_like.decision"] * (n + 1)
    assert flush()
    assert len(counted) == 8
    assert own not in counted
