"""Runs one contestant in a process of its own: given a stretch of the trace, it prints the times.

    python -m campaigns.bench.worker TASK        then, on standard input: FIRST LAST

Out, a line of JSON for each stretch: the nanoseconds of each call, and the numbers of those denied.

Only the contestant that is asked for is imported: others need other environments.
"""

from __future__ import annotations

import gc
import importlib
import json
import sys
import time

from campaigns.bench.workload import trace

TASKS = {
    "sponsio": ("theirs", "sponsio"),
    "acel": ("theirs", "acel"),
    "ours": ("ours", "contracts"),
    "ours without paths": ("ours", "without_paths"),
    "ours templates": ("ours", "templates"),
    "ours three": ("ours", "three"),
    "floor": ("floor", "policy"),
    "floor three": ("floor", "three"),
}
MANY, MANY_THREE = 20_000, 100_000


def main(task: str, *given: str) -> None:
    """Answer until standard input ends."""
    module, name = TASKS[task]
    step = getattr(importlib.import_module(f"campaigns.bench.{module}"), name)(*map(int, given))
    calls = trace(MANY_THREE if task.endswith("three") else MANY)
    if task.endswith("three"):
        calls = [("bash", args) for tool, args in calls if tool == "bash"]
        step("check", {})
    gc.collect()
    gc.freeze()  # the trace is no garbage of the contestant's
    now = time.perf_counter_ns
    for line in sys.stdin:
        first, last = map(int, line.split())
        times, denied = [], []
        for number, (tool, args) in enumerate(calls[first:last]):
            started = now()
            refused = step(tool, args)
            times.append(now() - started)
            if refused:
                denied.append(number)
        sys.stdout.write(json.dumps({"ns": times, "denied": denied}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
