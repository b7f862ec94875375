"""Bugs against the engine, each planted by changing one piece of one file, and the test that finds it.

    python -m tests.planted [beginnings of names ...]

In: nothing. Out: `BUGS`. Run as a command it plants each bug and says which tests did not notice,
as JSON; `tests/test_planted.py` runs it. (Bugs against the meaning of contracts, one for every
requirement, are in `tests/planted_meaning.py`.)
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tests import tables, trial
from tests.trial import Trial


class Planted(NamedTuple):
    """A small change that makes the engine wrong. `old` stands in the module exactly once."""

    name: str
    module: str
    old: str
    new: str
    test: str


AGREES = "tests/test_engine.py::test_the_engine_agrees_with_the_oracle"
BLOCKED = "tests/test_engine.py::test_exactly_the_calls_that_violate_are_blocked"
RESTORED = "tests/test_engine.py::test_a_restored_session_goes_on_as_if_nothing_had_happened"
ASSUMED = "tests/test_engine.py::test_a_violation_counts_where_the_assumption_holds"
SCOPED = "tests/test_engine.py::test_a_scope_starts_afresh_with_every_segment"
SPLIT = "tests/test_engine.py::test_a_split_guarantee_watches_every_value_by_itself"
TOGETHER = "tests/test_engine.py::test_contracts_do_not_disturb_each_other"
FIVE = "tests/test_threads.py::test_of_all_threads_together_exactly_five_calls_are_let_through"
FIVE_TASKS = "tests/test_threads.py::test_of_all_tasks_together_exactly_five_calls_are_let_through"
ONE_ID = "tests/test_threads.py::test_an_id_decided_in_all_threads_at_once_is_one_call"

BUGS = (
    # --- the end of a trace ---------------------------------------------------------------------
    Planted(
        "X is true at the end",
        "residual",
        'literal[0] in "WGg" for',
        'literal[0] in "XWGg" for',
        f"{AGREES}[one operator 0]",
    ),
    Planted(
        "WX is false at the end",
        "residual",
        'literal[0] in "WGg" for',
        'literal[0] in "Gg" for',
        f"{AGREES}[one operator 0]",
    ),
    Planted(
        "G is an obligation at the end",
        "residual",
        'literal[0] in "WGg" for',
        'literal[0] in "Wg" for',
        f"{AGREES}[one operator 3]",
    ),
    Planted(
        "a call in flight at the end is read as done",
        "monitor",
        "return all(all(holds_at_end(r) for r in _settled(instance, way)) for way in ways)",
        "return any(all(holds_at_end(r) for r in _settled(instance, way)) for way in ways)",
        f"{AGREES}[templates 0]",
    ),
    # --- bounds -----------------------------------------------------------------------------------
    Planted(
        "a step bound of the future is one too long",
        "future",
        "return one((kind, i, at.number + count))",
        "return one((kind, i, at.number + count + 1))",
        f"{AGREES}[templates 0]",
    ),
    Planted(
        "a step bound of the future is one too short",
        "future",
        "more = at.number < due if",
        "more = at.number < due - 1 if",
        f"{AGREES}[templates 0]",
    ),
    Planted(
        "a bound of no steps reaches the next position",
        "future",
        "            case Steps(0):\n",
        "            case Steps(-1):\n",
        f"{AGREES}[templates 4]",
    ),
    Planted(
        "a step bound of the past is one too long",
        "past",
        "p - s[r] <= limit",
        "p - s[r] <= limit + 1",
        f"{AGREES}[templates 1]",
    ),
    Planted(
        "a step bound of the past is one too short",
        "past",
        "p - s[r] <= limit",
        "p - s[r] < limit",
        f"{AGREES}[templates 1]",
    ),
    Planted(
        "a time bound of the past leaves out its edge",
        "past",
        "t - s[r] <= limit",
        "t - s[r] < limit",
        f"{AGREES}[timed 0]",
    ),
    Planted(
        "a time bound of the future leaves out its edge",
        "monitor",
        'if lit[0] in "fg" and lit[2] < time',
        'if lit[0] in "fg" and lit[2] <= time',
        f"{AGREES}[timed 0]",
    ),
    Planted(
        "what time has violated is never reported",
        "interceptor",
        "late += self._expire(now)",
        "self._expire(now)",
        f"{AGREES}[timed 0]",
    ),
    Planted(
        "the edge of a window in steps counts",
        "past",
        "if each > p - width]",
        "if each >= p - width]",
        f"{AGREES}[templates 4]",
    ),
    Planted(
        "the edge of a window in seconds counts",
        "past",
        "if each > t - width]",
        "if each >= t - width]",
        f"{AGREES}[timed 1]",
    ),
    Planted(
        "a cooldown is over one step late",
        "past",
        "lambda v, x, s, p, t: 0 if v[a] else INFINITE if s[r] is None else p - s[r]",
        "lambda v, x, s, p, t: 0 if v[a] else INFINITE if s[r] is None else p - s[r] - 1",
        f"{AGREES}[templates 5]",
    ),
    Planted(
        "a cooldown is not over at its last second",
        "values",
        '        case "<=":\n            return bool(left <= right)',
        '        case "<=":\n            return bool(left < right)',
        f"{AGREES}[templates 4]",
    ),
    # --- verdicts ---------------------------------------------------------------------------------
    Planted(
        "a verdict does not latch",
        "clause",
        "return Seen(watch._replace(broken=watch.broken or violated), violated)",
        "return Seen(watch._replace(broken=violated), violated)",
        f"{AGREES}[atoms 0]",
    ),
    Planted(
        "a violated instance is armed again",
        "monitor",
        "return Step(State(registers, live, window, lost), bad)",
        "return Step(State(registers, live | frozenset(owing), window, lost), bad)",
        f"{AGREES}[templates 0]",
    ),
    Planted(
        "what cannot be kept together is not seen",
        "monitor",
        "bad = dead or (lost and not old.lost)",
        "bad = dead",
        f"{AGREES}[templates 1]",
    ),
    Planted(
        "what cannot be kept together is reported again at every step",
        "monitor",
        "bad = dead or (lost and not old.lost)",
        "bad = dead or lost",
        f"{AGREES}[templates 1]",
    ),
    Planted(
        "the end is no continuation",
        "search",
        "        if self._met(place[0], goal):\n            return True\n",
        "",
        f"{AGREES}[one operator 0]",
    ),
    Planted(
        "later positions owe nothing",
        "search",
        "        if more:\n            parts.extend(",
        "        if not more:\n            parts.extend(",
        f"{AGREES}[templates 1]",
    ),
    Planted(
        "weak until is strong",
        "program",
        'outer, inner = ("R", "or") if sign else ("U", "and")',
        'outer, inner = ("U", "or") if sign else ("U", "and")',
        f"{AGREES}[templates 2]",
    ),
    Planted(
        "a top-level weak until has to come true",
        "reading",
        "            return (f.Always(f.disj(left, f.Once(right))),)",
        "            return (f.Always(f.disj(left, f.Once(right))), f.Eventually(right))",
        f"{AGREES}[templates 1]",
    ),
    Planted(
        "a top-level until need not come true",
        "reading",
        "            return (f.Always(f.disj(left, f.Once(right))), f.Eventually(right))",
        "            return (f.Always(f.disj(left, f.Once(right))),)",
        f"{AGREES}[templates 2]",
    ),
    Planted(
        "a release is met by what comes together with it",
        "reading",
        "f.Always(f.disj(right, f.Yesterday(f.Once(left))))",
        "f.Always(f.disj(right, f.Once(left)))",
        f"{AGREES}[templates 2]",
    ),
    # --- calls in flight --------------------------------------------------------------------------
    Planted(
        "a call in flight counts as done",
        "past",
        "(lambda v, x, s, p, t: (x[slot] is True) is not negated)",
        "(lambda v, x, s, p, t: (x[slot] is not False) is not negated)",
        f"{AGREES}[templates 0]",
    ),
    Planted(
        "a late result does not reach the past",
        "monitor",
        "        window, registers = known or (state.window, state.registers)",
        "        window, registers = state.window, state.registers",
        f"{AGREES}[templates 0]",
    ),
    Planted(
        "a late result is taken for the opposite",
        "window",
        "return YES if final[literal[2]] is literal[3] else NO",
        "return NO if final[literal[2]] is literal[3] else YES",
        f"{AGREES}[atoms 0]",
    ),
    Planted(
        "an obligation waits for no result",
        "future",
        '        return one(("D", at.number, slot, not negated))',
        "        return NO if not negated else YES",
        f"{AGREES}[templates 0]",
    ),
    Planted(
        "all calls in flight end well",
        "alphabet",
        '("done", "failed"), (False, True), *[(False, True)]',
        '("done",), (False, True), *[(False, True)]',
        f"{AGREES}[atoms 0]",
    ),
    # --- counting ---------------------------------------------------------------------------------
    Planted(
        "a reset still counts its own position",
        "past",
        "0 if fresh(v) else s[r] + bool(v[a])",
        "bool(v[a]) if fresh(v) else s[r] + bool(v[a])",
        f"{AGREES}[templates 5]",
    ),
    Planted(
        "a rate limit does not count failures",
        "patterns.operational",
        "return whenever(action, Count(tried(action, counts), None, per) <= limit)",
        "return whenever(action, Count(worked(action, counts), None, per) <= limit)",
        "tests/test_patterns.py::test_what_breaks_a_pattern_is_blocked[rate_limit]",
    ),
    # --- residuals --------------------------------------------------------------------------------
    Planted(
        "residuals are not absorbed",
        "residual",
        "return weak <= strong or all(any(implies(s, w) for s in strong) for w in weak)",
        "return weak == strong",
        "tests/test_memory.py::test_what_is_owed_does_not_grow_with_the_trace",
    ),
    Planted(
        "a shorter bound does not cover a longer one",
        "residual",
        "return bool(kind == other_kind and node == other and due <= later)",
        "return False",
        "tests/test_memory.py::test_what_is_owed_does_not_grow_with_the_trace",
    ),
    Planted(
        "a longer bound covers a shorter one",
        "residual",
        "return bool(kind == other_kind and node == other and due <= later)",
        "return bool(kind == other_kind and node == other)",
        f"{AGREES}[templates 0]",
    ),
    # --- the index --------------------------------------------------------------------------------
    Planted(
        "no contract is ever woken",
        "clause",
        "        if not self._is_quiet(watch, position, time):\n            return position + 1\n",
        "",
        f"{AGREES}[one operator 0]",
    ),
    Planted(
        "a contract sees only the tools that it names",
        "listening",
        "        return self.all or letter != self.other",
        "        return letter != self.other",
        f"{AGREES}[templates 5]",
    ),
    Planted(
        "a step bound wakes its contract one step late",
        "resting",
        "due = [lit[2] for each in state.live",
        "due = [lit[2] + 1 for each in state.live",
        f"{AGREES}[templates 0]",
    ),
    Planted(
        "all contracts count all positions",
        "ledger",
        "            if judgement.kind in kinds:\n",
        "            if judgement.kind:\n",
        f"{AGREES}[templates 6]",
    ),
    # --- asking and committing --------------------------------------------------------------------
    Planted(
        "a blocked call has happened",
        "interceptor",
        "if stoppable(event) and strictest(found) is not None:",
        "if self._ledger.commit(judgement) or (stoppable(event) and strictest(found)):",
        f"{BLOCKED}[atoms 0]",
    ),
    Planted(
        "the lock is removed",
        "interceptor",
        "self._lock = threading.Lock()",
        "self._lock = __import__('contextlib').nullcontext()",
        FIVE,
    ),
    Planted(
        "the lock is removed, for tasks",
        "interceptor",
        "self._lock = threading.Lock()",
        "self._lock = __import__('contextlib').nullcontext()",
        FIVE_TASKS,
    ),
    Planted(
        "an id is looked up, and not again under the lock",
        "interceptor",
        "        if flight is not None:\n            return Attempt(flight=flight)\n",
        "",
        ONE_ID,
    ),
    # --- assumptions, scopes, values --------------------------------------------------------------
    Planted(
        "the assumption is ignored",
        "clause",
        "violated and values[self.assume])",
        "violated)",
        ASSUMED,
    ),
    Planted(
        "the assumption is ignored when a result reveals a violation",
        "clause",
        "return self._seen(watch, failed and self.assumed(watch, last, now))",
        "return self._seen(watch, failed)",
        ASSUMED,
    ),
    Planted(
        "a violation without the assumption is latched",
        "clause",
        "return self._seen(Watch(gate, inner, over, watch.broken), violated and values[self.assume])",
        "return self._seen(Watch(gate, inner, over, watch.broken or violated), violated and values[self.assume])",
        ASSUMED,
    ),
    Planted(
        "a segment goes on where the last one ended",
        "clause",
        "            inner, over = None, self.kind_of_scope",
        "            over = self.kind_of_scope",
        SCOPED,
    ),
    Planted(
        "a segment leaves out the position that opens it",
        "clause",
        "        if inner is None and starts and not over:\n            inner = self.monitor.start\n        return",
        "        return",
        SCOPED,
    ),
    Planted(
        "obligations are forgotten at the end of a segment",
        "clause",
        "failed = bool(self.monitor.open_ends(inner))",
        "failed = False",
        SCOPED,
    ),
    Planted(
        "all values share one monitor",
        "ledger",
        "return Read(i, clause.read(event, context), clause.key(event) if clause.by else ())",
        "return Read(i, clause.read(event, context), ())",
        SPLIT,
    ),
    Planted(
        "a snapshot forgets the calls in flight",
        "interceptor",
        "self.flights = {id: _flight(id, plain, moved) for id, plain in flights.items()}",
        "self.flights = {}",
        RESTORED,
    ),
)


def trials(bugs: Iterable[Planted]) -> list[Trial]:
    """One trial for each bug, of its one test."""
    found = []
    for bug in bugs:
        text = trial.path_of(bug.module).read_text("utf-8")
        if text.count(bug.old) != 1:
            raise SystemExit(f"“{bug.name}”: stands {text.count(bug.old)} times in {bug.module}")
        changed = text.replace(bug.old, bug.new)
        found.append(Trial(bug.name, bug.module, changed, [[bug.test]]))
    return found


def main(chosen: Sequence[str]) -> int:
    """Plant all bugs, or those whose names begin so, and say which tests failed."""
    trial.prepare()
    tables.prepare()
    bugs = [bug for bug in BUGS if bug.name.startswith(tuple(chosen or [""]))]
    noticed = {
        result.trial.name: result.test if result.verdict == "failed" else result.verdict
        for result in trial.run(trials(bugs))
    }
    print(json.dumps(noticed, indent=1))
    missed = [bug.name for bug in bugs if noticed[bug.name].partition("[")[0] not in bug.test]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
