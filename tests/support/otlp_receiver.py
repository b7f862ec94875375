"""A receiver of OTLP over HTTP, as a process of its own: `python FILE MODE FOLDER [PORT]`.

In: what exporters post, as protobuf. Out: its port on standard output, and a line of JSON for each
request in FOLDER/got.jsonl: the events of spans, and the sums of metrics. MODE: `ok`, `500`, or
`hang`, which takes requests and never answers.
"""

from __future__ import annotations

import gzip
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


def events(body: bytes) -> list[Any]:
    """Return the name and the texts of each event, of all spans."""
    sent = ExportTraceServiceRequest.FromString(body)
    spans = (s for r in sent.resource_spans for scope in r.scope_spans for s in scope.spans)
    return [
        [each.name, {a.key: a.value.string_value for a in each.attributes}]
        for span in spans
        for each in span.events
    ]


def counts(body: bytes) -> dict[str, int]:
    """Return the sum of each counter, and the number that each histogram has counted."""
    sent = ExportMetricsServiceRequest.FromString(body)
    metrics = [m for r in sent.resource_metrics for scope in r.scope_metrics for m in scope.metrics]
    return {
        m.name: sum(p.as_int for p in m.sum.data_points)
        + sum(p.count for p in m.histogram.data_points)
        for m in metrics
    }


def main(mode: str, folder: str, port: str = "0") -> None:
    """Serve until the process is ended."""
    out, lock = Path(folder) / "got.jsonl", threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            got = events(body) if self.path.endswith("traces") else counts(body)
            with lock, out.open("a") as file:
                file.write(json.dumps({"path": self.path, "got": got}) + "\n")
            if mode == "hang":
                threading.Event().wait()
            self.send_response(500 if mode == "500" else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
