"""Bugs against the short way of a call, for `tests/planted/planted.py`.

In: nothing. Out: `BUGS`: name, file, what stands there, what is put there, the test that notices.
"""

from __future__ import annotations

RANDOM = "tests/fastpath/test_lanes.py::test_random_contracts_are_the_same_both_ways"
PATTERNS = "tests/fastpath/test_lanes.py::test_patterns_are_the_same_both_ways"
BENCH = "tests/fastpath/test_lanes.py::test_the_policy_of_the_benchmark_is_the_same_both_ways"
DEADLINE = (
    "tests/fastpath/test_lanes_attacked.py"
    "::test_a_deadline_that_has_run_out_is_told_with_the_next_event"
)
LANES = "tests/fastpath/test_lanes.py::test_"

BUGS = [
    (
        "a lane forgets when something was",
        "monitor/past_source.py",
        "{self._now(bound)} - {last} <= {self._bound(bound)})",
        "{self._now(bound)} - {last} < {self._bound(bound)})",
        RANDOM,
    ),
    (
        "a lane counts one call too few",
        "monitor/past_source.py",
        'return _choice(more, f"{before} + 1", before)',
        'return _choice(more, f"{before} + 0", before)',
        BENCH,
    ),
    (
        "a lane takes a conjunction for its first part",
        "monitor/past_source.py",
        "f\"({' and '.join(map(str, left))})\"",
        "str(left[0])",
        RANDOM,
    ),
    (
        "a lane keeps what has left its window",
        "monitor/past_source.py",
        "{within}({self._own(i)}, {now} - {self._bound(bound)})",
        "{within}({self._own(i)}, {now} - {self._bound(bound)} - 1)",
        RANDOM,
    ),
    (
        "runs of equal calls go on across others",
        "monitor/past_source.py",
        'same = f"{own}[2] == {now} - 1 and {own}[0] == {key}"',
        'same = f"{own}[0] == {key}"',
        PATTERNS,
    ),
    (
        "a failed call is done",
        "fastpath/source.py",
        "slot.node.what == status else False",
        'slot.node.what in (status, "done") else False',
        PATTERNS,
    ),
    (
        "a lane does not ask for the assumption",
        "fastpath/source.py",
        'f"if not {code} and {assumed}: bad += ({i},)"',
        'f"if not {code} and False: bad += ({i},)"',
        RANDOM,
    ),
    (
        "a call is refused although somebody has to be asked",
        "session/fast.py",
        "or not isinstance(policy.decision(i), Block):",
        "or policy.decision(i) is None:",
        "tests/fastpath/test_lanes.py::test_who_has_to_be_asked_is_asked",
    ),
    (
        "a lane never stores what it has counted",
        "fastpath/source.py",
        "f\"if {' or '.join(changes)}:\"",
        '"if False:"',
        BENCH,
    ),
    (
        "a lane forgets to wake",
        "fastpath/source.py",
        "if changes and clause.may_wake:",
        "if False:",
        RANDOM,
    ),
    (
        "sessions share what they count",
        "fastpath/transitions.py",
        "return op[0] in BITS or (op[0] in UNBOUNDED and op[2] is None)",
        'return op[0] in BITS or op[0] in UNBOUNDED or op[0] == "count"',
        RANDOM,
    ),
    (
        "a move is taken for another",
        "fastpath/transitions.py",
        "if same is None or (id(same), letter) in self.known:\n            return",
        (
            "if self.known:\n            return next(iter(self.known.values()))\n"
            "        if same is None:\n            return"
        ),
        RANDOM,
    ),
    (
        "what a result reveals is not told",
        "fastpath/transitions.py",
        "return None if seen.violated else self._rests(seen.watch)",
        "return self._rests(seen.watch)",
        RANDOM,
    ),
    (
        "a clause of few states is never woken",
        "fastpath/transitions.py",
        "if _waits(watch) or self._clause.wakes_at(watch, PositionCounts(0, 0), 0.0) != NEVER:",
        "if _waits(watch):",
        RANDOM,
    ),
    (
        "the next call is never one that wakes",
        "fastpath/source.py",
        'lines.append(f"if {more}: return p")',
        'lines.append(f"if {more}: return never")',
        RANDOM,
    ),
    (
        "a bound runs out one step late",
        "fastpath/source.py",
        "int(op[2].count) + 1})",
        "int(op[2].count) + 2})",
        PATTERNS,
    ),
    (
        "the latest call is lost if another one comes",
        "session/interceptor.py",
        "    self.latest, self.flights[id] = None, flight",
        "    self.latest = None",
        LANES + "a_snapshot_in_flight_has_the_call",
    ),
    (
        "calls beside each other do not see each other",
        "session/fast.py",
        "            inner.flush_fast()\n        try",
        "            inner.latest = None\n        try",
        RANDOM,
    ),
    (
        "lanes of large guards are never built",
        "session/fast.py",
        "return None if first else named_lane(policy, name)",
        "return None",
        "tests/guard/test_warming.py::test_many_tools_get_lanes_at_their_second_call",
    ),
    (
        "of the words of a text only one is remembered",
        "engine/per_value.py",
        "Crowd(new))",
        "Crowd(new[:1]))",
        "tests/monitor/test_crowds.py::test_all_words_of_a_text_are_remembered",
    ),
    (
        "a word that was bound before stays as it was",
        "engine/per_value.py",
        "stays = sight.rests and step.watch == watch and OPEN not in letter",
        "stays = sight.rests and OPEN not in letter",
        "tests/monitor/test_crowds.py::test_a_word_that_was_bound_before_is_bound_anew",
    ),
    (
        "all tools of a shape are one",
        "checks/lint.py",
        'f"t{len(numbers)}"',
        '"t"',
        "tests/checks/test_shapes.py::test_which_tools_are_the_same_makes_a_difference",
    ),
    (
        "what was found wrong of one shape is not told again",
        "checks/lint.py",
        "set() if problems.found or known is None else {known}",
        "{known}",
        "tests/checks/test_shapes.py::test_each_wrong_guarantee_is_told",
    ),
    (
        "warming runs code of users",
        "session/rehearse.py",
        "        if safe:\n",
        "        if True:\n",
        "tests/guard/test_warming.py::test_warming_runs_no_code_of_users",
    ),
    (
        "clauses that are due are not shown the call",
        "session/fast.py",
        "woken = _woken(inner, lane, call, now) if ledger.soonest <= ledger.passed else ()",
        "woken: Any = ()",
        RANDOM,
    ),
    (
        "what waits for results is forgotten by the next call",
        "fastpath/source.py",
        '            end.lines.append(f"if {old}[1][2] or {old}[0][2]: return False")',
        "            pass",
        "tests/fastpath/test_lanes_attacked.py::test_a_result_that_is_on_its_way_is_not_lost",
    ),
    (
        "a call in flight is not remembered",
        "engine/open_call.py",
        "        rests.append(ledger.rest(i, key, watch, at, time))",
        "        pass",
        RANDOM,
    ),
    (
        "a call in flight is counted for one key only",
        "engine/open_call.py",
        "ledger.keyed[i].get(key) or (clause.start, 0)",
        "(clause.start, 0)",
        RANDOM,
    ),
    (
        "a violation that a status shows is kept quiet",
        "engine/open_call.py",
        "return None\n        rests.append(ledger.rest(i, change",
        "pass\n        rests.append(ledger.rest(i, change",
        RANDOM,
    ),
    (
        "a refusal leaves out what a monitor has to judge",
        "session/fast.py",
        "return None if woken or lane.at_once else _refused(",
        "return None if woken else _refused(",
        RANDOM,
    ),
    (
        "a deadline does not run out while a call is decided",
        "session/fast.py",
        "if ledger.alarms and min(ledger.alarms.values()) < now:\n        return None\n    woken",
        "woken",
        DEADLINE,
    ),
    (
        "a deadline does not run out with a result",
        "session/fast.py",
        "if ledger.alarms and min(ledger.alarms.values()) < now:\n        return None\n    end",
        "end",
        DEADLINE,
    ),
    (
        "a call that cannot be told from others is let through",
        "session/fast.py",
        "        return _begun(inner, kept)",
        "        pass",
        "tests/semantics/test_trace.py::test_a_full_memory_is_the_business_of_its_own_clause",
    ),
    (
        "clauses that are woken read another call",
        "session/fast.py",
        "other.check(ledger, tool, args, agent, depth, inner",
        'other.check(ledger, tool, args, "agent", 0, inner',
        RANDOM,
    ),
    (
        "shared states have forgotten the assumption",
        "fastpath/source.py",
        "if afters[0] and not clause.gate.past.cells and",
        "if afters[0] and not afters[1] and",
        "tests/fastpath/test_lanes_attacked.py::test_shared_states_keep_the_memory_of_the_assumption",
    ),
    (
        "results of a source are not delivered",
        "session/fast.py",
        "inner.context = inner.context.arrived(lane.sources)",
        "pass",
        PATTERNS,
    ),
    (
        "the length of a text is not looked at",
        "fastpath/readers.py",
        "return len(text) <= most if type(text) is str else None",
        "return True if type(text) is str else None",
        PATTERNS,
    ),
    (
        "a regular expression that is found is none",
        "fastpath/readers.py",
        "return find(text.encode()) is not None",
        "return find(text.encode()) is None",
        PATTERNS,
    ),
    (
        "a number has no upper bound",
        "fastpath/readers.py",
        "and (high is None or value <= high)",
        "and (high is None or value <= high + 1)",
        PATTERNS,
    ),
    (
        "equal calls are told by their tool",
        "monitor/slots.py",
        "return (tool, *pairs)",
        "return (tool,)",
        LANES + "calls_are_alike_where_their_fingerprints_are",
    ),
    (
        "a clause that speaks of any tool is asked for none",
        "engine/index.py",
        "if clause.globs or clause.concerns(OTHER))",
        "if clause.globs)",
        LANES + "a_clause_about_any_tool_is_asked_at_those_that_others_name",
    ),
    (
        "arguments of a call are the host's own",
        "values/frozen.py",
        "return args.copy()",
        "return args",
        LANES + "arguments_are_the_ones_that_were_decided",
    ),
]
