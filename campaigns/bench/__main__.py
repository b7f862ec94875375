"""Runs the benchmark and writes it down: docs/speed.json, its curves as SVG, and its tables.

    python -m campaigns.bench [--sponsio PYTHON] [--acel PYTHON] [--calls N] [--policy]

`PYTHON` is the interpreter of an environment that has the other engine. Contestants run in
processes of their own, in turns: a stretch of the same trace each, again and again, so that
whatever disturbs the machine disturbs all. Times of one run can be compared with each other, and
with nothing else. The first calls of a stretch, after the others have used the processor, are
summed up apart. `--policy` renews the first row alone, and keeps the rest of docs/speed.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from campaigns.bench.measures import MEASURES
from campaigns.bench.page import RESULTS, ROOT, write

STRETCH = 250
WARM = 25
"""The first calls of a stretch: the processor's caches still hold what the others ran."""
SIZES = (35, 100, 300, 1000)


class Contestant:
    """A worker process that measures one engine."""

    def __init__(self, python: str, *task: str) -> None:
        command = [python, "-m", "campaigns.bench.worker", *task]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(  # noqa: S603  our own module
            command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True
        )
        self.times: list[int] = []
        self.warm: list[int] = []
        self.cold: list[int] = []
        self.denied: list[int] = []

    def run(self, first: int, last: int) -> None:
        """Run a stretch of the trace, and note its times."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{first} {last}\n")
        self._process.stdin.flush()
        said = json.loads(self._process.stdout.readline())
        self.times += said["ns"]
        self.warm += said["ns"][WARM:]
        self.cold += said["ns"][:1]
        self.denied += [said["ns"][k] for k in said["denied"]]

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def together(contestants: Mapping[str, Contestant], calls: int) -> dict[str, Any]:
    """Run all contestants over the same calls, in turns; return their summaries."""
    for first in range(0, calls, STRETCH):
        for each in contestants.values():
            each.run(first, min(first + STRETCH, calls))
    for each in contestants.values():
        each.close()
    return {name: summary(each) for name, each in contestants.items()}


def summary(contestant: Contestant) -> dict[str, Any]:
    """Return the distribution of times, and the median as the trace grows; in nanoseconds."""
    times, ordered, denied = contestant.times, sorted(contestant.warm), sorted(contestant.denied)
    ends = [n for n in (250, 500, 1000, 2500, 5000, 10_000) if n <= len(times)]
    return {
        "calls": len(times),
        "p50": statistics.median(ordered),
        "p90": ordered[len(ordered) * 90 // 100],
        "p99": ordered[len(ordered) * 99 // 100],
        "max": ordered[-1],
        "first of a stretch": statistics.median(contestant.cold),
        "denied": len(denied),
        "denied, p50": denied[len(denied) // 2] if denied else 0,
        "denied, p99": denied[len(denied) * 99 // 100] if denied else 0,
        "along": {str(n): statistics.median(times[max(0, n - 500) : n]) for n in ends},
    }


def growth(python: str, task: str, calls: Mapping[int, int]) -> dict[str, float]:
    """Return the median time, in nanoseconds, for each number of contracts."""
    found = {}
    for size, n in calls.items():
        contestant = Contestant(python, task, str(size))
        contestant.run(0, n)
        contestant.close()
        found[str(size)] = statistics.median(contestant.times[n // 10 :])
    return found


def machine() -> str:
    """Return the processor, the operating system and the version of Python."""
    said = Path("/proc/cpuinfo").read_text("utf-8") if Path("/proc/cpuinfo").exists() else ""
    model = re.search(r"model name\s*: (.+)", said)
    name = model[1] if model else platform.processor() or platform.machine()
    return (
        f"{name}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    )


def measured(name: str) -> Any:
    """Return one measure of this engine alone, from a process of its own."""
    command = [sys.executable, "-m", "campaigns.bench.measures", name]
    done = subprocess.run(  # noqa: S603  our own module
        command, cwd=ROOT, check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def run_now() -> dict[str, Any]:
    """Return the day, the machine, and how busy it is."""
    today = datetime.now(UTC).date().isoformat()
    return {"date": today, "machine": machine(), "load": os.getloadavg()[0]}


def policy(sponsio: str, calls: int) -> dict[str, Any]:
    """Return the measures of the policy: with its contracts about paths and without, by hand, and
    of Sponsio, if there is an environment of it.
    """
    here, run = sys.executable, run_now()
    tasks = {"ours": (here, "ours", "35"), "without paths": (here, "ours without paths")}
    tasks |= {"floor": (here, "floor")} | (
        {"sponsio": (sponsio, "sponsio", "35")} if sponsio else {}
    )
    contestants = {name: Contestant(*task) for name, task in tasks.items()}
    return {**together(contestants, calls), "run": run}


def main(given: Sequence[str]) -> None:
    """Run all measures, or those of the policy alone, and write the results down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sponsio", default="")
    parser.add_argument("--acel", default="")
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--policy", action="store_true")
    asked = parser.parse_args(given)
    results = run_now() | {"policy": policy(asked.sponsio, asked.calls)}
    if asked.policy:
        results = json.loads(RESULTS.read_text("utf-8")) | {"policy": results["policy"]}
    else:
        results |= others(asked.sponsio, asked.acel, asked.calls)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    print(write(results))  # noqa: T201  a command


def others(sponsio: str, acel: str, calls: int) -> dict[str, Any]:
    """Return all measures but those of the policy."""
    here = sys.executable
    three = {name: Contestant(here, f"{name} three") for name in ("ours", "floor")}
    results: dict[str, Any] = {"three": together(three, 2500)}
    if acel:
        rivals = {
            "ours": Contestant(here, "ours templates"),
            "acel": Contestant(acel, "acel"),
        }
        results["templates"] = together(rivals, calls)
    results["contracts"] = {"ours": growth(here, "ours", dict.fromkeys(SIZES, 2000))}
    if sponsio:
        sizes = {35: 300, 100: 200, 300: 100, 1000: 60}
        results["contracts"]["sponsio"] = growth(sponsio, "sponsio", sizes)
    return results | {name: measured(name) for name in MEASURES}


if __name__ == "__main__":
    main(sys.argv[1:])
