"""Measures how much later a decision comes with a log or a webhook, healthy or failing.

    python -m campaigns.sink_delay [CALLS] [ROUNDS]

Out: a table in Markdown: microseconds that a decision comes later than without, and that its result
takes longer, at the middle and at the 99th of a hundred, by the clock and by the time of the
processor that the deciding thread has used. Calls are decided in turns, a stretch for each kind, in
fresh sessions each round; of the rounds the best. The kinds: a healthy file; one behind a queue; a
file that can grow no more (a limit of the operating system, `RLIMIT_FSIZE`, stands for a full
disk); `/dev/full`; a function that never returns; one that returns at once; a webhook that answers
500, and one that never answers; OpenTelemetry with a collector that answers, and with one that
never does, each stretch in a span.
"""

# ruff: noqa: T201 - the table is printed

from __future__ import annotations

import gc
import logging
import os
import resource
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Tracer

from campaigns.bench import ours
from campaigns.bench.measures import WRONG
from campaigns.bench.workload import POLICY, Call, trace
from sponsio_like import Allowed, Guard, Session
from sponsio_like.log import json_log, otel_log, queued
from sponsio_like.webhook import Webhook

STRETCH = 50
WARM = 300
LARGEST = 1 << 31
"""The bytes that a file may have in this process."""
ANSWERS, SILENT = "a collector that answers", "a collector that never answers"
COLUMNS = ("decision p50", "decision p99", "result p50", "result p99")
Times: TypeAlias = tuple[list[int], list[int], list[int], list[int]]
"""Nanoseconds of each decision and each result by the clock, then of the thread."""


@contextmanager
def server(status: int, hangs: threading.Event | None = None) -> Iterator[str]:
    """Yield the address of a server that answers with this status, or never."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            if hangs is not None:
                hangs.wait()
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    found = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=found.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{found.server_port}/"
    found.shutdown()


def full(folder: Path) -> str:
    """Return the path of a file that can grow no more: each write to it fails."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST, most))
    path = folder / "full.jsonl"
    path.touch()
    os.truncate(path, LARGEST)
    return str(path)


def meters(address: str) -> MeterProvider:
    """Return metrics that are sent to this address each second."""
    counts = OTLPMetricExporter(f"{address}v1/metrics", timeout=60)
    return MeterProvider([PeriodicExportingMetricReader(counts, export_interval_millis=1000)])


def tracer(address: str) -> Tracer:
    """Return a tracer whose spans go to this address."""
    provider = TracerProvider()
    exporter = OTLPSpanExporter(f"{address}v1/traces", timeout=60)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider.get_tracer("delay")


def guards(
    folder: Path, never: threading.Event, broken: str, ok: str, hanging: str
) -> dict[str, Guard]:
    """Return a guard for each kind, of the same policy."""

    def hangs(_: dict[str, Any]) -> None:
        never.wait()

    posted, waits = Webhook(broken, retries=0), Webhook(hanging, timeout=60)
    return {
        "no log": ours.guard(POLICY),
        "a file": ours.guard(POLICY, log=str(folder / "log.jsonl")),
        "a file behind a queue": ours.guard(POLICY, log=queued(json_log(folder / "queued.jsonl"))),
        "a file that can grow no more": ours.guard(POLICY, log=full(folder)),
        "/dev/full": ours.guard(POLICY, log="/dev/full"),
        "a function that never returns": ours.guard(POLICY, log=hangs),
        "a function that returns": ours.guard(POLICY, log=lambda record: None),
        "a webhook that answers 500": ours.guard(POLICY, notify=posted),
        "a webhook that never answers": ours.guard(POLICY, notify=waits),
        ANSWERS: ours.guard(POLICY, log=otel_log(meters(ok))),
        SILENT: ours.guard(POLICY, log=otel_log(meters(hanging))),
    }


def timed(session: Session, calls: list[Call], times: Times) -> None:
    """Time each decision, and each result of a call that runs."""
    clock, own = time.perf_counter_ns, time.thread_time_ns
    decided, settled, used_deciding, used_settling = times
    for tool, args in calls:
        used, started = own(), clock()
        outcome = session.decide(tool, args)
        ended, used_then = clock(), own()
        decided.append(ended - started)
        used_deciding.append(used_then - used)
        if isinstance(outcome, Allowed):
            used, started = own(), clock()
            session.settle(outcome.id, output="ok")
            ended, used_then = clock(), own()
            settled.append(ended - started)
            used_settling.append(used_then - used)


def one_round(
    kinds: dict[str, Guard], calls: list[Call], spans: dict[str, Tracer]
) -> dict[str, list[float]]:
    """Return p50 and p99 of each kind's decisions and results, by the clock and of the thread."""
    sessions = {name: guard.session() for name, guard in kinds.items()}
    times: dict[str, Times] = {name: ([], [], [], []) for name in kinds}
    for session in sessions.values():
        timed(session, calls[:WARM], ([], [], [], []))
    gc.collect()
    for at in range(0, len(calls), STRETCH):
        for name, session in sessions.items():
            span = spans[name].start_as_current_span("agent") if name in spans else nullcontext()
            with span:
                timed(session, calls[at : at + STRETCH], times[name])
    return {
        name: [q(each) / 1000 if each else 0.0 for each in found for q in (statistics.median, _p99)]
        for name, found in times.items()
    }


def _p99(times: list[int]) -> int:
    return sorted(times)[len(times) * 99 // 100]


def main(many: str = "5000", rounds: str = "5") -> None:
    """Print the table of the delays."""
    logging.getLogger("sponsio_like").addHandler(logging.NullHandler())
    logging.getLogger("sponsio_like").propagate = False
    never = threading.Event()
    works = {"allowed": trace(int(many)), "refused": (WRONG * int(many))[: int(many)]}
    with (
        tempfile.TemporaryDirectory() as folder,
        server(500) as broken,
        server(200) as ok,
        server(200, never) as hanging,
    ):
        kinds = guards(Path(folder), never, broken, ok, hanging)
        spans = {ANSWERS: tracer(ok), SILENT: tracer(hanging)}
        heads = [f"{each}{by}" for by in ("", ", processor") for each in COLUMNS]
        print(f"| calls | with | {' | '.join(heads)} |")
        print("|---|" + "---|" * (1 + len(heads)))
        for work, calls in works.items():
            found = [one_round(kinds, calls, spans) for _ in range(int(rounds))]
            best = {
                name: [min(each) for each in zip(*(r[name] for r in found), strict=True)]
                for name in kinds
            }
            for name, each in best.items():
                plain = best["no log"] if name != "no log" else [0.0] * len(each)
                cells = " | ".join(f"{a - b:.1f}" for a, b in zip(each, plain, strict=True))
                print(f"| {work} | {name} | {cells} |", flush=True)
        never.set()


if __name__ == "__main__":
    main(*sys.argv[1:])
