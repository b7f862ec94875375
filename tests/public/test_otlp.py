"""Decisions over OTLP to a receiver that is a process: what arrives, and that no decision sends."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk", reason="the extra `otel` is not installed")
pytest.importorskip("opentelemetry.exporter.otlp", reason="the exporter is not installed")

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor

from sponsio_like import Guard, contract
from sponsio_like.log import flush, otel_log

RECEIVER = Path(__file__).parents[1] / "support" / "otlp_receiver.py"
SECONDS = 60.0
FEW = contract("few").guarantees("tool `pay` at most 1 times")
TOLD = {"sponsio_like.decisions": 10, "sponsio_like.violations": 9}


@dataclass
class Receiver:
    """A receiver in a process of its own."""

    process: subprocess.Popen[str]
    url: str
    file: Path

    def got(self, what: str) -> list[Any]:
        """What has arrived at /v1/traces or /v1/metrics, request by request."""
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        each = map(json.loads, (line for line in lines if line.endswith("}")))
        return [one["got"] for one in each if one["path"] == f"/v1/{what}"]


@contextmanager
def receiver(mode: str, folder: Path, port: str = "0") -> Iterator[Receiver]:
    """Start a receiver; it is ended with the block."""
    folder.mkdir(exist_ok=True)
    command = [sys.executable, str(RECEIVER), mode, str(folder), port]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        found = process.stdout.readline().strip()
        yield Receiver(process, f"http://127.0.0.1:{found}", folder / "got.jsonl")
    finally:
        process.kill()
        process.communicate()


@dataclass
class Agent:
    """An agent whose decisions are told by OTLP, and the threads that have sent something."""

    url: str
    simple: bool = False
    senders: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        spans = OTLPSpanExporter(f"{self.url}/v1/traces", timeout=1)
        counts = OTLPMetricExporter(f"{self.url}/v1/metrics", timeout=1)
        self._noted(spans)
        self._noted(counts)
        self.tracers = TracerProvider()
        processor = SimpleSpanProcessor(spans) if self.simple else BatchSpanProcessor(spans)
        self.tracers.add_span_processor(processor)
        self.reader = PeriodicExportingMetricReader(counts, export_interval_millis=50)
        self.meters = MeterProvider([self.reader])
        self.log = otel_log(self.meters)

    def _noted(self, exporter: Any) -> None:
        """Have the names of the threads that export kept."""
        export: Callable[..., Any] = exporter.export

        def noted(*args: Any, **options: Any) -> Any:
            self.senders.append(threading.current_thread().name)
            return export(*args, **options)

        exporter.export = noted

    def decide(self) -> None:
        """Make ten decisions in a span, of which nine are refusals."""
        session, before = Guard([FEW], log=self.log).session("s1"), len(self.senders)
        with self.tracers.get_tracer("test").start_as_current_span("agent"):
            for _ in range(10):
                session.decide("pay", {"iban": "SECRET"})
            assert threading.current_thread().name not in self.senders[before:]

    def end(self) -> None:
        """Send what is left, and end the exporters."""
        assert flush()
        self.tracers.shutdown()
        self.meters.shutdown()


def until(true: Callable[[], Any]) -> None:
    """Wait until something is true."""
    end = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("simple", [False, True])
def test_what_arrives_at_a_receiver(tmp_path: Path, *, simple: bool) -> None:
    """Each decision is an event of the span, and is counted; nothing of the content arrives."""
    with receiver("ok", tmp_path) as there:
        agent = Agent(there.url, simple)
        agent.decide()
        agent.end()
        (events,), counted = there.got("traces"), there.got("metrics")[-1]
    assert [name for name, _ in events] == ["sponsio_like.decision"] * 10
    assert events[1][1]["gen_ai.tool.name"] == "pay"
    assert events[1][1]["sponsio_like.outcome"] == "blocked"
    assert {name: counted[name] for name in TOLD} == TOLD
    assert counted["sponsio_like.decision.duration"] == 10
    assert "SECRET" not in (tmp_path / "got.jsonl").read_text()


def test_a_receiver_that_answers_with_errors(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """No decision sends anything; the SDK says in Python's log that nothing was taken."""
    with receiver("500", tmp_path) as there:
        agent = Agent(there.url)
        agent.decide()
        agent.end()
        assert there.got("traces")
    assert "Failed to export" in caplog.text


def test_a_receiver_that_hangs(tmp_path: Path) -> None:
    """Decisions are made while it has requests that it does not answer."""
    with receiver("hang", tmp_path) as there:
        agent = Agent(there.url)
        agent.decide()
        until(lambda: there.got("metrics"))
        agent.decide()
        there.process.kill()
        agent.end()


def test_a_receiver_that_dies_and_comes_back(tmp_path: Path) -> None:
    """Counts that were not taken arrive later, since they are sums; decisions go on meanwhile."""
    with receiver("ok", tmp_path / "first") as there:
        agent = Agent(there.url)
        agent.decide()
        until(lambda: there.got("metrics"))
    agent.decide()
    with receiver("ok", tmp_path / "second", there.url.rpartition(":")[2]) as again:
        assert flush()
        until(lambda: (again.got("metrics") or [{}])[-1].get("sponsio_like.decisions") == 20)
        agent.end()
