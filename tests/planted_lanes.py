"""Bugs against the short way of a call, for `tests/planted.py`.

In: nothing. Out: `BUGS`: name, file, what stands there, what is put there, the test that notices.
"""

from __future__ import annotations

RANDOM = "tests/test_lanes.py::test_random_contracts_are_the_same_both_ways"
PATTERNS = "tests/test_lanes.py::test_patterns_are_the_same_both_ways"
BENCH = "tests/test_lanes.py::test_the_policy_of_the_benchmark_is_the_same_both_ways"
LANES = "tests/test_lanes.py::test_"

BUGS = [
    (
        "a lane forgets when something was",
        "emitting.py",
        "{self._now(bound)} - {last} <= {bound.count!r})",
        "{self._now(bound)} - {last} < {bound.count!r})",
        RANDOM,
    ),
    (
        "a lane counts one call too few",
        "emitting.py",
        'return _choice(more, f"{before} + 1", before)',
        'return _choice(more, f"{before} + 0", before)',
        BENCH,
    ),
    (
        "a lane takes a conjunction for its first part",
        "emitting.py",
        "f\"({' and '.join(map(str, left))})\"",
        "str(left[0])",
        RANDOM,
    ),
    (
        "a lane keeps what has left its window",
        "emitting.py",
        '{now} - {bound.count!r})")\n            more',
        '{now} - {bound.count!r} - 1)")\n            more',
        RANDOM,
    ),
    (
        "runs of equal calls go on across others",
        "emitting.py",
        'same = f"{own}[2] == {now} - 1 and {own}[0] == {key}"',
        'same = f"{own}[0] == {key}"',
        PATTERNS,
    ),
    (
        "a failed call is done",
        "lanes.py",
        "slot.node.what == status else False",
        'slot.node.what in (status, "done") else False',
        PATTERNS,
    ),
    (
        "a lane does not ask for the assumption",
        "lanes.py",
        'f"if not {code} and {assumed}: bad += ({i},)"',
        'f"if not {code} and False: bad += ({i},)"',
        RANDOM,
    ),
    (
        "a call is refused although somebody has to be asked",
        "passing.py",
        "or not isinstance(policy.decision(i), Block):",
        "or policy.decision(i) is None:",
        "tests/test_lanes.py::test_who_has_to_be_asked_is_asked",
    ),
    (
        "a lane never stores what it has counted",
        "lanes.py",
        "f\"if {' or '.join(changes)}:\"",
        '"if False:"',
        BENCH,
    ),
    (
        "a lane forgets to wake",
        "lanes.py",
        "if changes and clause.may_wake:",
        "if False:",
        RANDOM,
    ),
    (
        "sessions share what they count",
        "learning.py",
        "return op[0] in BITS or (op[0] in UNBOUNDED and op[2] is None)",
        'return op[0] in BITS or op[0] in UNBOUNDED or op[0] == "count"',
        RANDOM,
    ),
    (
        "a move is taken for another",
        "learning.py",
        "if same is None or (id(same), letter) in self.known:\n            return",
        (
            "if self.known:\n            return next(iter(self.known.values()))\n"
            "        if same is None:\n            return"
        ),
        RANDOM,
    ),
    (
        "what a result reveals is not told",
        "learning.py",
        "return None if seen.violated else self._rests(seen.watch)",
        "return self._rests(seen.watch)",
        RANDOM,
    ),
    (
        "a clause of few states is never woken",
        "learning.py",
        "if _waits(watch) or self._clause.wakes_at(watch, Place(0, 0), 0.0) != NEVER:",
        "if _waits(watch):",
        RANDOM,
    ),
    (
        "the next call is never one that wakes",
        "waking.py",
        'lines.append(f"if {more}: return p")',
        'lines.append(f"if {more}: return never")',
        RANDOM,
    ),
    (
        "a bound runs out one step late",
        "waking.py",
        "op[2].count + 1})",
        "op[2].count + 2})",
        PATTERNS,
    ),
    (
        "the latest call is lost if another one comes",
        "passing.py",
        "        if self._inner.latest is not None:\n            catch_up(self._inner)",
        "        self._inner.latest = None",
        LANES + "a_snapshot_in_flight_has_the_call",
    ),
    (
        "calls beside each other do not see each other",
        "passing.py",
        "if inner.latest is not None or inner.flights or ledger.alarms",
        "if inner.flights or ledger.alarms",
        RANDOM,
    ),
    (
        "clauses that are due are not shown the call",
        "passing.py",
        "if ledger.soonest <= ledger.passed:\n            woken = ",
        "if False:\n            woken = ",
        RANDOM,
    ),
    (
        "results of a source are not delivered",
        "passing.py",
        "inner.context = inner.context.arrived(lane.sources)",
        "pass",
        PATTERNS,
    ),
    (
        "the length of a text is not looked at",
        "shortcuts.py",
        "return len(text) <= most if type(text) is str else None",
        "return True if type(text) is str else None",
        PATTERNS,
    ),
    (
        "a regular expression that is found is none",
        "shortcuts.py",
        "return find(text.encode()) is not None",
        "return find(text.encode()) is None",
        PATTERNS,
    ),
    (
        "a number has no upper bound",
        "shortcuts.py",
        "and (high is None or value <= high)",
        "and (high is None or value <= high + 1)",
        PATTERNS,
    ),
    (
        "equal calls are told by their tool",
        "readers.py",
        "return (tool, *pairs)",
        "return (tool,)",
        LANES + "calls_are_alike_where_their_fingerprints_are",
    ),
    (
        "a clause that speaks of any tool is asked for none",
        "index.py",
        "if clause.globs or clause.concerns(OTHER))",
        "if clause.globs)",
        "tests/test_unnamed.py::test_what_any_call_leaves_is_remembered",
    ),
    (
        "arguments of a call are the host's own",
        "freezing.py",
        "return args.copy()",
        "return args",
        LANES + "arguments_are_the_ones_that_were_decided",
    ),
]
