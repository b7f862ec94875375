"""Measures this engine alone, each measure in a process of its own.

    python -m campaigns.bench.measures NAME        prints JSON

Times are in nanoseconds. What is compared is interleaved: a stretch of one, a stretch of the other.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from campaigns.bench import ours
from campaigns.bench.translated import written
from campaigns.bench.workload import BY_THREES, POLICY, Call, Row, policy, trace
from sponsio_like import Allowed, Guard, Session, contract
from sponsio_like.log import flush, json_log, queued
from sponsio_like.outcome import let_through
from sponsio_like.session.fast import settle_fast, try_fast
from sponsio_like.session.ids import fresh_id
from sponsio_like.trajectory import StepObservation, TrajectorySafetyMonitor
from sponsio_like.values.frozen import freeze_args

now = time.perf_counter_ns
VALUES = {"duplicate_call_limit", "loop_detection"}
"""The patterns that remember values of arguments."""
ANSWER = {"status": "ok", "rows": 3}
"""What every tool answers."""


def timed(step: Callable[[str, dict[str, Any]], bool], calls: Iterable[Call]) -> list[int]:
    """Return the time of each call, in nanoseconds."""
    times = []
    for tool, args in calls:
        started = now()
        step(tool, args)
        times.append(now() - started)
    return times


def interleaved(
    steps: dict[str, Callable[[str, dict[str, Any]], bool]], calls: Sequence[Call], stretch: int
) -> dict[str, float]:
    """Return the median time of each step, over the same calls, in turns."""
    times: dict[str, list[int]] = {name: [] for name in steps}
    for first in range(0, len(calls), stretch):
        for name, step in steps.items():
            times[name] += timed(step, calls[first : first + stretch])
    return {name: statistics.median(each[stretch:]) for name, each in times.items()}


def resident() -> int:
    """Return the bytes of memory that this process has."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def uninvolved() -> dict[str, float]:
    """Time a call that no contract concerns, beside a call of the policy that one concerns."""
    open_to_all = [row for row in POLICY if row[0] != "tool_allowlist"]
    step = ours.steps(ours.guard(open_to_all).session())
    calls = [("get_weather", {"city": f"c{k}"}) for k in range(4000)]
    steps = {"nobody": step, "one": lambda tool, args: step("write_file", args)}
    step("read_file", {})
    return interleaved(steps, calls, 200)


def beside() -> dict[str, dict[str, float]]:
    """Time calls one after another, in parallel, and beside one that hangs; with deadlines, with
    contracts that read answers, with values; and all of that together.

    Each in warm sessions of its own, in turns, under the policy: middle and 99th of a hundred. The
    first tenth of each turn is left out: what ran before it has filled the processor's caches.
    """
    calls, stretch, times = trace(3000), 300, dict[str, list[float]]()
    kinds = workloads()
    sessions = {name: guard.session() for name, (guard, _, _) in kinds.items()}
    for name, (guard, run, hangs) in kinds.items():
        run(guard.session(), calls)
        times[name] = []
        if hangs:
            sessions[name].decide("verify_identity", {}, id="hangs")
    for first in range(0, len(calls), stretch):
        for name, (_, run, _) in kinds.items():
            turn = run(sessions[name], calls[first : first + stretch])
            times[name] += turn[len(turn) // 10 :]
    return {
        name: {"p50": statistics.median(each), "p99": sorted(each)[len(each) * 99 // 100]}
        for name, each in times.items()
    }


def workloads() -> dict[str, tuple[Guard, Callable[[Session, Sequence[Call]], list[float]], bool]]:
    """Return the guards that `beside` compares, how their calls come, and if one hangs first."""
    plain, late = ours.guard(POLICY), beside_policy(DEADLINES)
    answers, values = beside_policy(ANSWERS), beside_policy(VALUES_SEEN)
    observed = Guard(plain.policy.contracts, mode="observe")
    everything = beside_policy([*DEADLINES, *ANSWERS, *VALUES_SEEN])
    return {
        "one after another": (plain, in_turn, False),
        BY_THREES: (plain, three_in_turn, False),
        "three in parallel": (plain, three_at_once, False),
        "beside one that hangs": (plain, in_turn, True),
        "with three deadlines": (late, in_turn, False),
        "three in parallel, with three deadlines": (late, three_at_once, False),
        "with four contracts that read answers": (answers, in_turn, False),
        "with two contracts about values": (values, in_turn, False),
        "three in parallel beside one that hangs, with all of these": (
            everything,
            three_at_once,
            True,
        ),
        "observed": (observed, in_turn, False),
    }


DEADLINES = [
    f"G(called({a}) -> F[<=400] called({b}))"
    for a, b in {"issue_refund": "send_email", "deploy": "http_get", "bash": "read_file"}.items()
]
ANSWERS = [
    "G(called(issue_refund) -> !O(done(run_sql) & output.rows > 1000))",
    'G(called(deploy) -> !O(done(bash) & output.status = "red"))',
    'G(called(send_email) -> !O(done(http_get) & output.status matches "secret"))',
    "G(called(write_file) -> !O(done(read_file) & output.rows < 0))",
]
VALUES_SEEN = [
    "G(called(write_file, path = $p) -> !O(called(read_file, path = $p)))",
    "G(called(approve_refund, order = $o) -> !O(called(issue_refund, order = $o)))",
]
"""Formulas beside the policy; no call of the trace violates one."""


WRONG: list[Call] = [
    ("send_email", {"to": "x@evil.com", "subject": "hello", "body": "a b c"}),
    ("bash", {"command": "sudo ls"}),
    ("issue_refund", {"order": 1, "amount": 501}),
    ("http_get", {"url": "http://localhost/admin"}),
]
"""Calls that the policy refuses."""


def observing() -> dict[str, dict[str, float]]:
    """Time the same calls under the policy, enforced and only observed, in turns.

    Calls that it allows, with their results, and decisions on calls that it refuses; no advice is
    read, and nothing is logged. Of five rounds in sessions of their own, the best: middle and 99th
    of a hundred.
    """
    plain = ours.guard(POLICY)
    guards = {"enforced": plain, "observed": Guard(plain.policy.contracts, mode="observe")}
    first, calls, stretch = trace(1000), WRONG * 250, 100
    found: dict[str, list[tuple[float, float]]] = {}
    for _ in range(5):
        sessions = {name: guard.session() for name, guard in guards.items()}
        times: dict[str, list[float]] = {}
        for at in range(0, 1000, stretch):
            for name, session in sessions.items():
                right, wrong = first[at : at + stretch], calls[at : at + stretch]
                times.setdefault(f"allowed, {name}", []).extend(in_turn(session, right))
                times.setdefault(f"violating, {name}", []).extend(decided(session, wrong))
        for name, each in times.items():
            pair = statistics.median(each), sorted(each)[len(each) * 99 // 100]
            found.setdefault(name, []).append(pair)
    return {
        name: {"p50": min(p50 for p50, _ in pairs), "p99": min(p99 for _, p99 in pairs)}
        for name, pairs in found.items()
    }


def decided(session: Session, calls: Iterable[Call]) -> list[float]:
    """Return the time of each decision; the results of calls that run are not timed."""
    times = []
    for tool, args in calls:
        started = now()
        outcome = session.decide(tool, args)
        times.append(float(now() - started))
        if isinstance(outcome, Allowed):
            session.settle(outcome.id, output="ok")
    return times


def beside_policy(formulas: Iterable[str]) -> Guard:
    """Return the policy with a contract more for each of these formulas."""
    more = [contract(f"more {n}").guarantees({"ltl": text}) for n, text in enumerate(formulas)]
    return Guard([*ours.guard(POLICY).policy.contracts, *more])


def in_turn(session: Session, calls: Iterable[Call]) -> list[float]:
    """Return the time of each call, decided and settled before the next one."""
    return [float(each) for each in timed(ours.steps(session, ANSWER), calls)]


def three_in_turn(session: Session, calls: Sequence[Call]) -> list[float]:
    """Return a third of the time of each three calls, each settled before the next one."""
    times = in_turn(session, calls)
    return [sum(times[k : k + 3]) / 3 for k in range(0, len(times) - 2, 3)]


def three_at_once(session: Session, calls: Sequence[Call]) -> list[float]:
    """Return a third of the time of each three calls that are decided before any is settled."""
    times = []
    for first in range(0, len(calls) - 2, 3):
        started = now()
        outcomes = [session.decide(tool, args) for tool, args in calls[first : first + 3]]
        for outcome in outcomes:
            if isinstance(outcome, Allowed):
                session.settle(outcome.id, output=ANSWER)
        times.append((now() - started) / 3)
    return times


def rulebook() -> dict[str, float]:
    """Time 1,000 contracts, most of them about other tools, beside the policy alone."""
    return interleaved({str(n): ours.contracts(n) for n in (35, 1000)}, trace(8000), 200)


def same_tool() -> dict[str, float]:
    """Time more and more contracts about the past, all about the tool that is called."""

    def rows(n: int) -> list[Row]:
        kinds: list[Row] = [("must_precede", "login", "pay"), ("rate_limit", "pay", 10**6)]
        kinds += [("no_reversal", "freeze", "pay"), ("cooldown", "refund", 3)]
        return [kinds[k % 3] if k % 3 != 1 else ("rate_limit", "pay", 10**6 + k) for k in range(n)]

    steps = {}
    for n in (10, 250, 500, 1000):
        step = ours.steps(ours.guard(rows(n)).session())
        step("login", {})
        steps[str(n)] = step
    return interleaved(steps, [("pay", {"amount": 1})] * 2000, 100)


def lengths() -> dict[str, Any]:
    """Measure a session of 100,000 calls beside one of 1,000.

    Calls let through, denied calls, memory, pauses.
    """
    caps = {"rate_limit", "bounded_retry"}  # out of reach: else the old session would deny more
    rows = [(*row[:2], 10**9) if row[0] in caps else row for row in POLICY if row[0] not in VALUES]
    guard = ours.guard(rows)
    old, young = (ours.steps(guard.session()) for _ in range(2))
    part = trace(500)
    longest = before = 0
    for done in range(0, 100_000, len(part)):
        before = before or (resident() if done >= 2000 else 0)
        times = timed(old, part)
        longest = max(longest, *times) if done >= 2000 else 0
    grown = resident() - before
    for _ in range(2):
        timed(young, part)
    steps = {"100000": old, "1000": young}
    outside = [("send_email", {"to": "x@evil.com", "body": ""})] * 300
    return {
        "allowed": interleaved(steps, part * 8, 50),
        "denied": interleaved(steps, outside, 20),
        "longest": longest,
        "grown": grown,
    }


def sessions() -> dict[str, Any]:
    """Measure 100,000 open sessions: bytes each, and the time to open one."""
    guard = ours.guard(POLICY)
    kept: list[Session] = []
    warm = guard.session()
    warm.decide("search", {"q": "a"})
    before = resident()
    started = now()
    kept += (guard.session() for _ in range(100_000))
    opened = (now() - started) / 100_000
    idle = (resident() - before) / 100_000
    for session in kept[:20_000]:
        for tool, args in (("verify_identity", {}), ("read_file", {"path": "x"})):
            outcome = session.decide(tool, args)
            session.settle(outcome.id, output="ok")
    used = (resident() - before - idle * 100_000) / 20_000
    return {"opening": opened, "bytes": idle, "bytes after two calls": idle + used}


def loading() -> dict[str, float]:
    """Time the way from the text of a file to a guard."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for n in (35, 100, 1000):
            path = Path(folder) / f"{n}.yaml"
            path.write_text(written(policy(n)), "utf-8")
            started = now()
            Guard.from_yaml(path)
            found[str(n)] = now() - started
    return found


def logged() -> dict[str, float]:
    """Time the policy with a log to a file, and with one behind a queue, beside none; and what each
    adds to a call of the processor's time, in all threads, until all of it is written.
    """
    calls, stretch = trace(6000), 100
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        logs = [stack.enter_context(json_log(Path(folder) / name)) for name in ("a", "b")]
        kinds: dict[str, dict[str, Any]] = {
            "silent": {},
            "logged": {"log": logs[0]},
            "queued": {"log": queued(logs[1])},
        }
        steps = {
            name: ours.steps(ours.guard(POLICY, **log).session()) for name, log in kinds.items()
        }
        found = interleaved(steps, calls, stretch)
        spent = processor(steps, calls, stretch)
        assert flush()
    for name in ("logged", "queued"):
        more = (a - b for a, b in zip(spent[name], spent["silent"], strict=True))
        found[f"{name}, processor"] = statistics.median(more)
    return found


def processor(
    steps: dict[str, Callable[[str, dict[str, Any]], bool]], calls: Sequence[Call], stretch: int
) -> dict[str, list[float]]:
    """Return the processor's time for a call of each step, in all threads, stretch by stretch."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for first in range(0, len(calls), stretch):
        for name, step in steps.items():
            started = time.process_time_ns()
            timed(step, calls[first : first + stretch])
            flush()
            times[name].append((time.process_time_ns() - started) / stretch)
    return times


def bound() -> dict[str, float]:
    """Time a decision about values, with 10 and with 100,000 of them alive, in turns."""
    kept: dict[str, list[int]] = {}
    sessions = {}
    for n in (10, 100_000):
        sessions[n] = ours.bound().session()
        for k in range(n):
            sessions[n].settle(sessions[n].decide("vet", {"name": f"user{k}"}).id)
    for k in range(20_000):
        for n, session in sessions.items():
            args = {"to": f"user{k * 7919 % n}"}
            started = now()
            outcome = session.decide("pay", args)
            kept.setdefault(str(n), []).append(now() - started)
            session.settle(outcome.id)
    return {
        f"{n} values, {name}": float(sorted(each)[int(len(each) * part)])
        for n, each in kept.items()
        for name, part in (("p50", 0.5), ("p99", 0.99))
    }


def trajectories() -> dict[str, float]:
    """Time the steps of a trajectory under the four built-in specifications, after a first one."""
    names = [[each] for each in ("tool_call", "verification_passed", "handoff", "coherence_check")]
    steps = [frozenset(each) for each in (*names, ["fact_claim"], ["evidence_retrieved"], [])] * 600
    made = [StepObservation(**dict.fromkeys(each, True)) for each in steps]
    times: dict[str, list[int]] = {}
    for _ in range(2):
        monitors = {"names": TrajectorySafetyMonitor(), "flags": TrajectorySafetyMonitor()}
        for kind, given in (("names", steps), ("flags", made)):
            observe = monitors[kind].observe
            times[kind] = []
            for each in given:
                started = now()
                observe(each)
                times[kind].append(now() - started)
    return {kind: statistics.median(each) for kind, each in times.items()}


def parts() -> dict[str, float]:
    """Time the parts of a plain call, and what is slow: medians, in turns."""
    session = ours.guard(POLICY).session()
    inner, args = session._inner, {"path": "/workspace/README.md"}  # noqa: SLF001  its parts
    session.settle(session.decide("read_file", args).id)
    session.settle(session.decide("verify_identity", {}).id)
    lane = inner.lanes["read_file"]
    refused = {"to": "x@evil.com", "body": ""}

    def whole() -> None:
        session.settle(session.decide("read_file", args).id)

    def halves() -> None:
        try_fast(inner, "read_file", args, "a", "agent", 0)
        settle_fast(inner, "a", "ok", None)

    def check() -> None:
        lane.check(inner.ledger, "read_file", args, "agent", 0, inner.context, 1.0)

    def two() -> None:
        first, second = session.decide("read_file", args), session.decide("check_policy", {})
        session.settle(first.id)
        session.settle(second.id)

    steps: dict[str, Callable[[], Any]] = {
        "decide and settle": whole,
        "of these, the two halves of the fast path": halves,
        "of these, what the lane asks of the contracts": check,
        "the copy of the arguments": lambda: freeze_args(args),
        "a fresh id": lambda: fresh_id("auto-"),
        "the outcome object": lambda: let_through("a"),
        "a call that is blocked": lambda: session.decide("send_email", refused),
        "a call that is blocked, and its advice": lambda: (
            session.decide("send_email", refused).advice  # type: ignore[union-attr]
        ),
        "two calls in flight beside each other": two,
    }
    return {name: middle(step) for name, step in steps.items()}


def middle(step: Callable[[], Any]) -> float:
    """Return the median time of a step, less the cost of measuring."""
    times, nothing = [], []
    for _ in range(400):
        started = now()
        step()
        times.append(now() - started)
        started = now()
        nothing.append(now() - started)
    return max(0.0, statistics.median(times[50:]) - statistics.median(nothing))


def hostile() -> dict[str, float]:
    """Time decisions, without their advice, on inputs that are made to be slow."""
    deep: Any = "x"
    for _ in range(1000):
        deep = {"a": deep}
    inputs: dict[str, list[Call]] = {
        "a text of 1 MB": [("bash", {"command": "rm -r " * 170_000})] * 20,
        "a text of 64 KB": [("bash", {"command": "rm - " * 13_000})] * 20,
        "1 MB in many values": [("bash", {"command": ["rm -"] * 200_000})] * 20,
        "nested 1,000 deep": [("bash", {"command": deep})] * 20,
        "10,000 tools": [(f"tool-{k}", {"x": k}) for k in range(10_000)],
        "marks without end": [("bash", {"command": "a" + "\u0301" * 60_000})] * 20,
        "a number of 4,000 digits": [("issue_refund", {"amount": 10**4000})] * 20,
        "a regular expression": [("scan", {"text": "ab" * 32_000})] * 20,
    }
    hard: Row = ("arg_blacklist", "scan", "text", ["[ab]*a[ab]{100}c"])
    session = ours.guard([*POLICY, hard]).session()
    timed(ours.steps(session), trace(500))

    def step(tool: str, args: dict[str, Any]) -> bool:
        outcome = session.decide(tool, args)
        if isinstance(outcome, Allowed):
            session.settle(outcome.id, output="ok")
        return False

    return {name: statistics.median_high(timed(step, calls)[1:]) for name, calls in inputs.items()}


MEASURES = {
    each.__name__: each
    for each in (
        uninvolved,
        beside,
        observing,
        rulebook,
        same_tool,
        lengths,
        sessions,
        loading,
        logged,
        bound,
        trajectories,
        parts,
        hostile,
    )
}

if __name__ == "__main__":
    sys.stdout.write(json.dumps(MEASURES[sys.argv[1]]()))
