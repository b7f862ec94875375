"""Speed, as ratios: to a loop of plain Python that runs beside it, and to itself. Never as times.

What is compared is interleaved and taken at the middle, so that a busy machine slows both. Bounds
are several times what an idle machine shows (docs/speed.md has the figures): they notice a short
way that is not taken any more, or work that grows with the trace, and not a noisy neighbour.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

from campaigns.bench import ours
from campaigns.bench.workload import POLICY, policy, trace

now = time.perf_counter_ns


def loop() -> int:
    """The unit: a few microseconds of plain Python."""
    total = 0
    for number in range(20):
        total += len(str(number))
    return total


def middles(steps: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The median time of each, in turns."""
    times: dict[str, list[int]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            started = now()
            step()
            times[name].append(now() - started)
    return {name: statistics.median(each) for name, each in times.items()}


def test_a_decision_and_its_result_cost_a_few_loops() -> None:
    """The policy of the benchmark, each call settled: some four loops; at most twelve."""
    step, calls = ours.contracts(35), iter(trace(4000))
    found = middles({"decision": lambda: step(*next(calls)), "loop": loop}, 4000)
    assert found["decision"] < 12 * found["loop"]


def test_a_call_that_nobody_speaks_of_costs_less() -> None:
    """No contract concerns it: some two loops; at most six."""
    rows = [row for row in POLICY if row[0] != "tool_allowlist"]
    step = ours.steps(ours.guard(rows).session())
    found = middles({"call": lambda: step("weather", {"city": "x"}), "loop": loop}, 2000)
    assert found["call"] < 6 * found["loop"]


def test_contracts_about_other_tools_cost_nothing() -> None:
    """Three hundred contracts cost what the policy alone costs; at most half as much again."""
    few, many = (ours.steps(ours.guard(policy(n)).session()) for n in (35, 300))
    calls = trace(3000)
    each, other = iter(calls), iter(calls)
    found = middles({"35": lambda: few(*next(each)), "300": lambda: many(*next(other))}, 3000)
    assert found["300"] < 1.5 * found["35"]


def test_contracts_about_paths_cost_nothing_where_no_path_is_given() -> None:
    """Calls that are let through take as many instructions with these two contracts as without;
    those of the tools with paths take more, but less than half as many again.
    """
    with_paths, without = ours.contracts(35), ours.without_paths()
    more, less = instructions(with_paths), instructions(without)
    grown = {tool for tool in more if more[tool] != less[tool]}
    assert grown == {"read_file", "write_file"}
    assert all(more[tool] < 1.5 * less[tool] for tool in grown)


def instructions(step: Callable[[str, dict[str, Any]], bool]) -> Counter[str]:
    """The instructions of the interpreter that calls took that were let through, by tool."""
    found: Counter[str] = Counter()
    count = 0

    def tell(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return tell

    for number, (tool, args) in enumerate(trace(800)):
        before, count = sys.gettrace(), 0
        sys.settrace(tell if number > 400 else before)  # the first ones build lanes
        denied = step(tool, args)
        sys.settrace(before)
        found[tool] += 0 if denied else count
    return found


def test_a_long_session_decides_like_a_short_one() -> None:
    """After 20,000 calls a call costs what it costs at first; at most half as much again."""
    guard = ours.guard([row for row in POLICY if row[0] != "duplicate_call_limit"])
    old, young = (ours.steps(guard.session()) for _ in range(2))
    for tool, args in trace(20_000):
        old(tool, args)
    calls = trace(2000)
    for tool, args in calls:
        young(tool, args)
    each, other = iter(calls), iter(calls)
    found = middles({"old": lambda: old(*next(each)), "young": lambda: young(*next(other))}, 2000)
    assert found["old"] < 1.5 * found["young"]


def test_a_session_opens_in_less_than_a_loop_or_two() -> None:
    """A session in which nothing has happened has no state yet: at most two loops."""
    guard = ours.guard(POLICY)
    found = middles({"open": guard.session, "loop": loop}, 2000)
    assert found["open"] < 2 * found["loop"]


def test_many_values_cost_what_a_few_do() -> None:
    """A lookup among 20,000 values is one among ten; at most half as much again."""
    sessions = {}
    for n in (10, 20_000):
        sessions[n] = ours.bound().session()
        for k in range(n):
            sessions[n].settle(sessions[n].decide("vet", {"name": f"user{k}"}).id)

    def pays(n: int) -> Callable[[], None]:
        turns = iter(range(3000))

        def pay() -> None:
            to = f"user{next(turns) * 7919 % n}"
            sessions[n].settle(sessions[n].decide("pay", {"to": to}).id)

        return pay

    found = middles({"few": pays(10), "many": pays(20_000), "loop": loop}, 3000)
    assert found["many"] < 1.5 * found["few"]
    assert found["many"] < 8 * found["loop"]
