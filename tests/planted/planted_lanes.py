"""Bugs against the fast path of a call, for `tests/planted/planted.py`.

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
LATE = "tests/session/test_late_reasons.py::test_"
LANES = "tests/fastpath/test_lanes.py::test_"
CALM = "tests/fastpath/test_lanes_attacked.py::test_whatever_happens_between_calls_is_seen"
LITERALS = "tests/fastpath/test_plain_tests.py::test_"
CROWD = "tests/semantics/test_trace.py::test_a_full_memory_is_the_business_of_its_own_clause"

ANSWERS = "tests/fastpath/test_answers.py::test_"

BUGS = [
    (
        "a lane reads no answer",
        "engine/fastpath/source.py",
        "{self._names.bind(condition_reader(slot))}(answer)",
        "{self._names.bind(condition_reader(slot))}(None)",
        ANSWERS + "small_answers_are_read_without_the_slow_path",
    ),
    (
        "a lane takes answers for idle",
        "engine/fastpath/source.py",
        "return [] if len(idle) == len(numbers) else",
        "return [] if numbers else",
        ANSWERS + "small_answers_are_read_without_the_slow_path",
    ),
    (
        "a clause of few states forgets what its answer said",
        "engine/fastpath/transitions.py",
        "key = (status, *answers)",
        "key = (status,)",
        ANSWERS + "every_answer_is_the_same_both_ways",
    ),
    (
        "an answer that cannot be compared is as if it did not violate",
        "engine/fastpath/readers.py",
        "return default if said is None else said",
        "return False if said is None else said",
        ANSWERS + "every_answer_is_the_same_both_ways",
    ),
    (
        "a lane searches in any answer",
        "values/frozen.py",
        "if sum(map(len, texts)) <= LITTLE_TEXT else None",
        "if texts else None",
        ANSWERS + "other_answers_take_the_slow_path",
    ),
    (
        "an answer that could not be read is told for ever",
        "session/fast.py",
        (
            "answer = small_answer(output if ok else error)\n"
            "        if answer is UNREADABLE or inner.unread is not NOTHING_UNREAD:\n"
            "            return None\n"
            "    try:"
        ),
        (
            "answer = small_answer(output if ok else error)\n"
            "        if answer is UNREADABLE:\n"
            "            return None\n"
            "    try:"
        ),
        ANSWERS + "an_answer_that_could_not_be_read_is_forgotten_with_the_next_one",
    ),
    (
        "a value in flight is not remembered",
        "engine/fastpath/source.py",
        'self._store_value(i, clause, where, call.afters, self._open, "None")',
        "pass",
        ANSWERS + "calls_in_flight_under_values_keep_to_the_fast_path",
    ),
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
        "engine/fastpath/source.py",
        "slot.node.what == status else False",
        'slot.node.what in (status, "done") else False',
        PATTERNS,
    ),
    (
        "a lane does not ask for the assumption",
        "engine/fastpath/source.py",
        'f"if not {code} and {assumed}: bad += ({i},)"',
        'f"if not {code} and False: bad += ({i},)"',
        RANDOM,
    ),
    (
        "a call is refused although somebody has to be asked",
        "session/fast.py",
        "    if not answers <= STOPS_OR_NOT:\n        return None\n    if Block in answers:",
        "    if answers != {Warn}:",
        "tests/fastpath/test_lanes.py::test_who_has_to_be_asked_is_asked",
    ),
    (
        "a refusal that is read late has the modes of today",
        "session/denied.py",
        "if policy.modes is not self.modes:",
        "if False:",
        LATE + "reasons_that_are_read_late_are_those_of_the_decision",
    ),
    (
        "a refusal that is read late counts the calls of today",
        "engine/ledger.py",
        "twin.positions, twin.states = self.positions[:], self.states[:]",
        "twin.positions, twin.states = self.positions, self.states",
        LATE + "reasons_that_are_read_late_are_those_of_the_decision",
    ),
    (
        "a refusal that nobody is notified of is not logged",
        "session/session.py",
        "told = self._logs or self._notify",
        "told = self._notify",
        LATE + "both_ways_say_the_same",
    ),
    (
        "somebody who is to be told is not",
        "session/session.py",
        "if type(passed) is LaneRefusal and self._tells_nobody(passed):",
        "if type(passed) is LaneRefusal:",
        LATE + "who_is_to_be_told_is_told_at_once",
    ),
    (
        "a lane never stores what it has counted",
        "engine/fastpath/source.py",
        '(f"if {changed}:", f"    states[{i}] = {new}")',
        '("if False:", f"    states[{i}] = {new}")',
        BENCH,
    ),
    (
        "a lane forgets to wake",
        "engine/fastpath/source.py",
        "if clause.may_wake:\n                end.writes",
        "if False:\n                end.writes",
        RANDOM,
    ),
    (
        "sessions share what they count",
        "engine/fastpath/transitions.py",
        "is_simple(program.nodes[cell.node], counts=False)",
        "is_simple(program.nodes[cell.node], counts=True)",
        LANES + "sessions_share_no_counts",
    ),
    (
        "a move is taken for another",
        "engine/fastpath/transitions.py",
        "self.known[id(state), letter] = move",
        "self.known[id(self._clause.start), letter] = move",
        RANDOM,
    ),
    (
        "what a result reveals is not told",
        "engine/fastpath/transitions.py",
        "return state if rests and not (violated or state.flying) else None",
        "return state if rests and not state.flying else None",
        RANDOM,
    ),
    (
        "a clause of few states is never woken",
        "engine/fastpath/transitions.py",
        "rests = clause.wakes_at(state, HERE, 0.0) == NEVER",
        "rests = True",
        LANES + "a_call_that_owes_the_next_one_is_not_forgotten",
    ),
    (
        "the next call is never one that wakes",
        "engine/fastpath/source.py",
        'lines.append(f"if {more}: return p")',
        'lines.append(f"if {more}: return never")',
        RANDOM,
    ),
    (
        "a bound runs out one step late",
        "engine/fastpath/source.py",
        "int(op[2].count) + 1})",
        "int(op[2].count) + 2})",
        PATTERNS,
    ),
    (
        "a call in flight is not counted where no result matters",
        "engine/fastpath/source.py",
        'writes += [f"if {knows}({changed}):", f"    states[{i}] = {new}"]',
        'writes += [f"if False and {knows}({changed}):", f"    states[{i}] = {new}"]',
        RANDOM,
    ),
    (
        "a call in flight does not say when it wakes",
        "engine/fastpath/source.py",
        'writes += [f"    {wakes}"] if changed else []',
        'writes += ["    pass"] if changed else []',
        RANDOM,
    ),
    (
        "a call in flight leaves clauses awake",
        "engine/fastpath/source.py",
        "if {knows}{i} in ledger.wakes: {wakes}",
        "if False: {wakes}",
        RANDOM,
    ),
    (
        "a result is not waited for",
        "engine/clause.py",
        "return self.automaton is None or self.opens_late or at.seen in state.flying",
        "return self.automaton is None",
        RANDOM,
    ),
    (
        "a state that waits is taken for one at rest",
        "engine/clause.py",
        "key = (id(outer), id(segment), closed, broken, id(left))\n        found = self._rests",
        "key = ()\n        found = self._rests",
        RANDOM,
    ),
    (
        "what a status says is known by the letter alone",
        "engine/clause.py",
        "key = (letter, status, tool)",
        "key = letter",
        RANDOM,
    ),
    (
        "a state is known by its gate alone",
        "engine/automaton.py",
        "name = (state[:5], rank, key)",
        "name = (state[:1], rank, key)",
        RANDOM,
    ),
    (
        "the latest call is lost if another one comes",
        "session/interceptor.py",
        "        self.fly(id, tuple.__new__(Flight, said))",
        "        pass",
        LANES + "a_snapshot_in_flight_has_the_call",
    ),
    (
        "calls beside each other do not see each other",
        "session/fast.py",
        "        inner.flush_fast()\n    id, tool, args",
        "        inner.latest = None\n    id, tool, args",
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
        "tests/monitor/test_crowds.py::test_a_word_that_was_bound_before_is_bound_anew",
    ),
    (
        "any part of a word stands in a text",
        "values/word_index.py",
        "if value == words or value in bare_forms(words):",
        "if value in words:",
        "tests/monitor/test_texts_whole.py::test_an_index_has_what_splitting_finds",
    ),
    (
        "a text leaves known values as they are",
        "engine/per_value.py",
        "for key, state in _changed(store, steps, keys)",
        "for key, state in list[tuple[Key, ClauseState]]()",
        "tests/monitor/test_texts_whole.py::test_a_text_changes_values_that_are_known",
    ),
    (
        "a text hides what else is asked of texts",
        "monitor/relevance.py",
        "len(bits) != 1",
        "not bits",
        "tests/monitor/test_texts_whole.py::test_texts_of_which_more_is_asked_are_told_word_by_word",
    ),
    (
        "an entry that permits less than a text is forgotten",
        "monitor/parametric/store.py",
        "if cell is otherwise or self.permits(cell.state, otherwise.state):",
        "if cell is self.rest or self.permits(cell.state, self.rest.state):",
        "tests/monitor/test_texts_whole.py::test_an_entry_that_permits_less_than_a_text_is_kept",
    ),
    (
        "a word that was bound before stays as it was",
        "engine/per_value.py",
        "stays = reading.rests and step.state == state and OPEN not in letter",
        "stays = reading.rests and OPEN not in letter",
        "tests/monitor/test_crowds.py::test_a_word_that_was_bound_before_is_bound_anew",
    ),
    (
        "all tools of a shape are one",
        "engine/shapes.py",
        "names.setdefault(each, len(names))",
        "names.setdefault(each, 0)",
        "tests/checks/test_shapes.py::test_an_atom_of_the_same_tool_makes_a_difference",
    ),
    (
        "what was found wrong of one shape is not told again",
        "checks/lint.py",
        "    if shape is None or shape.exactly not in sound:\n",
        (
            "    sound |= {shape and shape.key}\n"
            "    if shape is None or shape.exactly not in sound:\n"
        ),
        "tests/checks/test_shapes.py::test_each_wrong_guarantee_is_told",
    ),
    (
        "what one shape compares with is checked once",
        "checks/lint.py",
        '    keys = [shape and ("never", shape.exactly) for shape in shapes]\n',
        '    keys = [shape and ("never", shape.key) for shape in shapes]\n',
        "tests/checks/test_shapes.py::test_each_comparison_with_what_no_text_has_is_told",
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
        "_woken(inner, kept) if ledger.soonest <= ledger.passed else ()",
        "()",
        RANDOM,
    ),
    (
        "what waits for results is forgotten by the next call",
        "engine/fastpath/source.py",
        "            self._waiting[i] = None",
        "            pass",
        "tests/fastpath/test_lanes_attacked.py::test_a_result_that_is_on_its_way_is_not_lost",
    ),
    (
        "a call in flight is not remembered",
        "engine/open_call.py",
        "        into[0].append(ledger.rest(i, key, state, at, time))",
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
        "engine/settlement.py",
        "        if violated:\n            found[i] = Witness()\n    half_written",
        "    half_written",
        RANDOM,
    ),
    (
        "a refusal leaves out what a monitor has to judge",
        "session/fast.py",
        "    if woken or lane.needs_monitor:\n        return None",
        "    if woken:\n        return None",
        RANDOM,
    ),
    (
        "a deadline does not run out while a call is decided",
        "session/fast.py",
        "    if ledger.alarms and _rings(ledger, now):\n        return None\n    inner.sequential",
        "    inner.sequential",
        DEADLINE,
    ),
    (
        "a deadline does not run out with a result",
        "session/fast.py",
        "if ledger.half_written or _rings(ledger, now) or",
        "if ledger.half_written or",
        DEADLINE,
    ),
    (
        "a call that cannot be told from others is let through",
        "session/fast.py",
        "        return kept if inner.begin(kept) else None",
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
        "engine/fastpath/source.py",
        "if clause.bindings is None and inner and not clause.scope_monitor.past.cells and",
        "if clause.bindings is None and inner and not outer and",
        "tests/fastpath/test_lanes_attacked.py::test_shared_states_keep_the_memory_of_the_assumption",
    ),
    (
        "results of a source are not delivered",
        "session/fast.py",
        "                            inner.context = inner.context.arrived(lane.sources)",
        "                            pass",
        PATTERNS,
    ),
    (
        "the length of a text is not looked at",
        "engine/fastpath/readers.py",
        'f"len({text}) <= {most} if type',
        'f"True if type',
        PATTERNS,
    ),
    (
        "a regular expression that is found is none",
        "engine/fastpath/readers.py",
        "return find(text.encode()) is not None",
        "return find(text.encode()) is None",
        PATTERNS,
    ),
    (
        "a number has no upper bound",
        "engine/fastpath/readers.py",
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
    (
        "no call beside others changes a state",
        "engine/open_call.py",
        "elif still is not None and state is before and",
        "elif still is not None and",
        BENCH,
    ),
    (
        "a call beside others is kept, though too much may depend on it",
        "session/fast.py",
        "if woken or (flights and _may_branch(ledger, lane)):",
        "if woken:",
        CROWD,
    ),
    (
        "sessions share when their clauses are woken",
        "engine/ledger.py",
        "if self.wakes is self.policy.wakes:",
        "if not self.wakes:",
        RANDOM,
    ),
    (
        "sessions share what they remember by key",
        "engine/ledger.py",
        "self.keyed = {each: {} for each in self.keyed}",
        "pass",
        LANES + "sessions_share_no_keys",
    ),
    (
        "a letter that leaves nothing owed leaves all as it is",
        "monitor/monitor.py",
        "idle = self._may_idle and not (state.live or state.lost)",
        "idle = self._may_idle and not state.lost",
        LANES + "what_owes_nothing_owes_something_again",
    ),
    (
        "what happens between two calls goes unseen",
        "session/interceptor.py",
        "        self.sequential = False\n        if self.latest",
        "        if self.latest",
        CALM,
    ),
    (
        "a call in flight goes unseen by the next",
        "session/interceptor.py",
        "self.latest, self.sequential = None, False",
        "self.latest = None",
        CALM,
    ),
    (
        "a part that may be left out is sought",
        "engine/fastpath/literals.py",
        'if sign and (times is None or times[0] == "+"):',
        "if sign:",
        LITERALS + "what_is_needed_stands_in_whatever_is_found",
    ),
    (
        "letters beside a gap are one part",
        "engine/fastpath/literals.py",
        "if not sign or times is not None:",
        "if not sign:",
        LITERALS + "the_longest_part_is_needed",
    ),
    (
        "a path that leads upwards is plainly in a folder",
        "values/paths.py",
        'if ".." in path or not',
        "if not",
        LITERALS + "a_path_that_is_plainly_in_a_folder_is",
    ),
]
