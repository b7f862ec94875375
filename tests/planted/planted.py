"""Bugs against the engine, each planted by changing one piece of one file, and its test.

In: nothing. Out: `BUGS`. `python -m tests.planted.planting` plants each, and says which tests did
not notice. (Bugs against the meaning of contracts, one for every requirement, are in
`tests/planted/planted_meaning.py`.)
"""

from __future__ import annotations

from typing import NamedTuple

from tests.planted import (
    planted_adapters,
    planted_catalog,
    planted_kinds,
    planted_lanes,
    planted_risk,
    planted_sentences,
)


class Planted(NamedTuple):
    """A small change that makes the engine wrong. `old` stands in the module exactly once."""

    name: str
    file: str
    old: str
    new: str
    test: str


AGREES = "tests/reference/test_engine.py::test_the_engine_agrees_with_the_oracle"
DEADLINES = "tests/monitor/test_owed.py::test_a_deadline_of_a_value_passes_though_no_call_names_it"
BLOCKED = "tests/reference/test_engine.py::test_exactly_the_calls_that_violate_are_blocked"
RESTORED = (
    "tests/reference/test_engine.py::test_a_restored_session_goes_on_as_if_nothing_had_happened"
)
ASSUMED = "tests/reference/test_engine.py::test_a_violation_counts_where_the_assumption_holds"
SCOPED = "tests/reference/test_engine.py::test_a_scope_starts_afresh_with_every_segment"
SPLIT = "tests/reference/test_engine.py::test_a_split_guarantee_watches_every_value_by_itself"
TOGETHER = "tests/reference/test_engine.py::test_contracts_do_not_disturb_each_other"
FIVE_TASKS = (
    "tests/session/test_threads.py::test_of_all_tasks_together_exactly_five_calls_are_let_through"
)
BRANCHES = "tests/monitor/test_branches.py::test_a_contract_rests_if_it_does_for_every_result"
EVERY_CALL = "tests/semantics/test_loading.py::test_what_concerns_every_call_sees_every_call"
KINDS = "tests/semantics/test_trace.py::test_clauses_count_the_kinds_that_they_speak_of"
UNLATCHED = (
    "tests/semantics/test_contracts.py::test_where_the_assumption_fails_the_verdict_stays_open"
)
ATTEMPTS = (
    "tests/patterns/test_patterns.py"
    "::test_a_pattern_is_kept_and_broken_by_its_own_traces[rate_limit]"
)
ORDERS = "tests/traps/test_found_second_opinions.py"
ONE_ID = "tests/session/test_threads.py::test_an_id_decided_in_all_threads_at_once_is_one_call"

BUGS = (
    # --- the end of a trace ---------------------------------------------------------------------
    Planted(
        "X is true at the end",
        "monitor/residual.py",
        'literal[0] in "WGg" for',
        'literal[0] in "XWGg" for',
        f"{AGREES}[one operator 0]",
    ),
    Planted(
        "WX is false at the end",
        "monitor/residual.py",
        'literal[0] in "WGg" for',
        'literal[0] in "Gg" for',
        f"{AGREES}[one operator 0]",
    ),
    Planted(
        "G is an obligation at the end",
        "monitor/residual.py",
        'literal[0] in "WGg" for',
        'literal[0] in "Wg" for',
        f"{AGREES}[one operator 4]",
    ),
    Planted(
        "a call in flight at the end is read as done",
        "monitor/monitor.py",
        "lefts is not None and all(holds_at_end(r) for left in lefts for r in left)",
        "lefts is not None and any(all(map(holds_at_end, left)) for left in lefts)",
        f"{AGREES}[templates 0]",
    ),
    # --- bounds -----------------------------------------------------------------------------------
    Planted(
        "a step bound of the future is one too long",
        "monitor/progression.py",
        "self.nodes[i][1], at.number + count))",
        "self.nodes[i][1], at.number + count + 1))",
        f"{AGREES}[one operator 3]",
    ),
    Planted(
        "a step bound of the future is one too short",
        "monitor/progression.py",
        "return at.number < due if",
        "return at.number < due - 1 if",
        f"{AGREES}[templates 0]",
    ),
    Planted(
        "what is implied by something else owed waits for no call in flight",
        "monitor/monitor.py",
        "        if state.branches or any(map(open_positions, each)):\n",
        "        if state.branches or open_positions(_joint(state.live)):\n",
        "tests/monitor/test_owed.py::test_what_is_implied_may_wait_for_a_call_in_flight",
    ),
    Planted(
        "a bound of no steps reaches the next position",
        "monitor/progression.py",
        "            case Steps(0):\n",
        "            case Steps(-1):\n",
        f"{AGREES}[templates 4]",
    ),
    Planted(
        "a step bound of the past is one too long",
        "monitor/past.py",
        "p - s[r] <= limit",
        "p - s[r] <= limit + 1",
        "tests/monitor/test_past.py::test_a_register_remembers_what_its_operator_means",
    ),
    Planted(
        "a step bound of the past is one too short",
        "monitor/past.py",
        "p - s[r] <= limit",
        "p - s[r] < limit",
        f"{AGREES}[templates 6]",
    ),
    Planted(
        "a time bound of the past leaves out its edge",
        "monitor/past.py",
        "t - s[r] <= limit",
        "t - s[r] < limit",
        "tests/monitor/test_past.py::test_a_register_remembers_what_its_operator_means",
    ),
    Planted(
        "a time bound of the future leaves out its edge",
        "monitor/progression.py",
        'in "FG" else at.time <= due',
        'in "FG" else at.time < due',
        f"{AGREES}[timed 0]",
    ),
    Planted(
        "what time has violated is never reported",
        "session/interceptor.py",
        "late += self.expire(seen.time, self.context)",
        "self.expire(seen.time, self.context)",
        f"{AGREES}[timed 0]",
    ),
    Planted(
        "the edge of a window in steps counts",
        "monitor/past.py",
        "bisect.bisect_right(stamps, before)",
        "bisect.bisect_left(stamps, before)",
        f"{AGREES}[templates 4]",
    ),
    Planted(
        "the edge of a window in seconds counts",
        "monitor/past.py",
        "left = stamps_within(s[r], now - width)",
        "left = stamps_within(s[r], now - width - 0.5 * (not by_step))",
        f"{AGREES}[timed 1]",
    ),
    Planted(
        "a cooldown is over one step late",
        "monitor/past.py",
        "lambda v, x, s, p, t: 0 if v[a] else INFINITE if s[r] is None else p - s[r]",
        "lambda v, x, s, p, t: 0 if v[a] else INFINITE if s[r] is None else p - s[r] - 1",
        f"{AGREES}[templates 6]",
    ),
    Planted(
        "a cooldown is not over at its last second",
        "events/relations.py",
        '        case "<=":\n            return bool(left <= right)',
        '        case "<=":\n            return bool(left < right)',
        f"{AGREES}[templates 4]",
    ),
    # --- verdicts ---------------------------------------------------------------------------------
    Planted(
        "a verdict does not latch",
        "engine/clause.py",
        "return ClauseStep(state._replace(violated=state.violated or violated), violated)",
        "return ClauseStep(state._replace(violated=violated), violated)",
        "tests/semantics/test_verdicts.py::test_a_violated_verdict_stays_under_scopes_and_assumptions",
    ),
    Planted(
        "a violated instance is armed again",
        "monitor/monitor.py",
        "return MonitorStep(State(registers, live, trees, lost), bad)",
        "return MonitorStep(State(registers, live | all_live, trees, lost), bad)",
        f"{AGREES}[templates 0]",
    ),
    Planted(
        "what cannot be kept together is not seen",
        "monitor/monitor.py",
        "bad = dead or (lost and not old.lost)",
        "bad = dead",
        f"{AGREES}[templates 1]",
    ),
    Planted(
        "what cannot be kept together is reported again at every step",
        "monitor/monitor.py",
        "bad = dead or (lost and not old.lost)",
        "bad = dead or lost",
        f"{AGREES}[templates 1]",
    ),
    Planted(
        "the end is no continuation",
        "monitor/reachability.py",
        "at)\n        if place[0].met:\n            return 0\n",
        "at)\n",
        f"{AGREES}[one operator 0]",
    ),
    Planted(
        "later positions owe nothing",
        "monitor/successors.py",
        "        if more:\n            fresh",
        "        if not more:\n            fresh",
        f"{AGREES}[templates 1]",
    ),
    Planted(
        "a step of a residual is remembered for letters that differ",
        "monitor/successors.py",
        "                reads |= self._read_by(node)",
        "                reads = self._read_by(node)",
        "tests/monitor/test_successors.py::test_a_remembered_step_is_the_step",
    ),
    Planted(
        "letters that lead elsewhere are one",
        "monitor/successors.py",
        "            key = each.bits, each.after",
        "            key = each.bits, ()",
        "tests/monitor/test_successors.py::test_letters_that_show_the_same_are_one",
    ),
    Planted(
        "a way that was found once is taken for one everywhere",
        "monitor/reachability.py",
        "            if place[0].met:\n                self._note_way(passed",
        "            if place[0] is not steps.none:\n                self._note_way(passed",
        "tests/monitor/test_search_in_turn.py::test_a_way_that_was_found_is_followed_to_its_end",
    ),
    Planted(
        "what stands between a refusal and its end is left out",
        "monitor/delay.py",
        "        length += 1",
        "        length += 2",
        "tests/advice/test_delay.py::test_no_event_passes_sooner",
    ),
    Planted(
        "weak until is strong",
        "monitor/program.py",
        'outer, inner = ("R", "or") if sign else ("U", "and")',
        'outer, inner = ("U", "or") if sign else ("U", "and")',
        f"{AGREES}[templates 2]",
    ),
    Planted(
        "a top-level weak until has to come true",
        "logic/decomposition.py",
        "            return (f.Always(f.disj(left, f.Once(right))),)",
        "            return (f.Always(f.disj(left, f.Once(right))), f.Eventually(right))",
        f"{AGREES}[templates 1]",
    ),
    Planted(
        "a top-level until need not come true",
        "logic/decomposition.py",
        "            return (f.Always(f.disj(left, f.Once(right))), f.Eventually(right))",
        "            return (f.Always(f.disj(left, f.Once(right))),)",
        f"{AGREES}[templates 2]",
    ),
    Planted(
        "a release is met by what comes together with it",
        "logic/decomposition.py",
        "f.Always(f.disj(right, f.Yesterday(f.Once(left))))",
        "f.Always(f.disj(right, f.Once(left)))",
        f"{AGREES}[one operator 10]",
    ),
    # --- calls in flight --------------------------------------------------------------------------
    Planted(
        "a call in flight counts as done",
        "monitor/past.py",
        "(lambda v, x, s, p, t: (x[slot] is True) is not negated)",
        "(lambda v, x, s, p, t: (x[slot] is not False) is not negated)",
        f"{AGREES}[templates 0]",
    ),
    Planted(
        "a late result does not reach the past",
        "monitor/monitor.py",
        "= self.branches.settled(state.branches, state.registers, settled, final)",
        "= state.branches, state.registers",
        f"{AGREES}[templates 0]",
    ),
    Planted(
        "a contract rests while its registers do, if no result comes",
        "monitor/relative_state.py",
        "    if before.branches is after.branches:",
        "    if True:",
        f"{BRANCHES}[(Y Y done(a) & sum(called(c), n) < 9)-2]",
    ),
    Planted(
        "a bound wakes its contract only for the registers of now",
        "monitor/relative_state.py",
        "    for cells, tree in cells_of_trees(monitor, state):\n        for node in tree:",
        "    for cells, tree in cells_of_trees(monitor, state):\n        for node in ():",
        f"{BRANCHES}[Y O[<=2] done(a)-6]",
    ),
    Planted(
        "a result adds to the last position, and not to its own",
        "monitor/past.py",
        "    return position if last is None else max(last, position)",
        "    return position if last is None else last",
        "tests/monitor/test_branches.py::test_late_results_in_any_order_pick_their_branches",
    ),
    Planted(
        "what is added is never too old",
        "monitor/branches.py",
        "                return added.at < at - count",
        "                return False",
        "tests/monitor/test_monitor.py::test_a_late_result_leaves_the_registers_as_a_timely_one",
    ),
    Planted(
        "what counts at once counts again with its result",
        "monitor/branches.py",
        "None if open_ is at_most else (slots, held)",
        "(slots, held) if at_most else None",
        "tests/monitor/test_branches.py::test_late_results_in_any_order_pick_their_branches",
    ),
    Planted(
        "a result also undoes what was added",
        "monitor/groups.py",
        "    return body if simple and one_way else -1",
        "    return body if simple else -1",
        "tests/monitor/test_branches.py::test_late_results_in_any_order_pick_their_branches",
    ),
    Planted(
        "one and True are one register",
        "monitor/trees.py",
        "    return (node, *map(type, node))",
        "    return node",
        "tests/monitor/test_branches.py::test_registers_of_different_types_are_told_apart",
    ),
    Planted(
        "an output that is still to come compares like any value",
        "monitor/branches.py",
        "        if type(left) is not ToCome and type(right) is not ToCome:",
        "        if True:",
        "tests/monitor/test_branches.py::test_late_results_in_any_order_pick_their_branches",
    ),
    Planted(
        "a result that is late settles at once",
        "monitor/branches.py",
        "            known = None if late else {i: final[i] for i in slots}",
        "            known = {i: final[i] for i in slots}",
        "tests/traps/test_found_loading.py::test_ways_that_come_to_the_same_are_all_the_ways",
    ),
    Planted(
        "a step is remembered for any state",
        "engine/automaton.py",
        "name = (state[:5], rank, key)",
        "name = (rank, key)",
        "tests/engine/test_automaton.py::test_remembered_steps_are_those_that_are_computed",
    ),
    Planted(
        "a result is that of the oldest call in flight",
        "engine/automaton.py",
        "flying.index(at) if at in flying else NOWHERE",
        "0 if at in flying else NOWHERE",
        "tests/engine/test_automaton.py::test_a_snapshot_has_the_calls_that_a_state_waits_for",
    ),
    Planted(
        "a state waits for the oldest calls",
        "engine/automaton.py",
        "flying = tuple([calls[k] for k in after.flying])",
        "flying = calls[: len(after.flying)]",
        "tests/engine/test_automaton.py::test_remembered_steps_are_those_that_are_computed",
    ),
    Planted(
        "steps are remembered without end",
        "engine/automaton.py",
        "if len(self._known) >= self.cap:",
        "if False:",
        "tests/engine/test_automaton.py::test_no_more_steps_are_remembered_than_the_cap",
    ),
    Planted(
        "every state of an automaton rests",
        "engine/clause.py",
        "(state, seen.state is state and not seen.violated)",
        "(state, True)",
        "tests/engine/test_automaton.py::test_remembered_steps_are_those_that_are_computed",
    ),
    Planted(
        "a result opens and ends no segments of its own",
        "engine/clause.py",
        "change.letter if self.opens_late else ()",
        "()",
        "tests/engine/test_automaton.py::test_what_a_result_opens_depends_on_its_call",
    ),
    Planted(
        "positions of an older snapshot are ranks",
        "engine/automaton.py",
        "    if state.flying or not calls:",
        "    if True:",
        "tests/session/test_windows.py::test_a_session_goes_on_as_it_would_have_before",
    ),
    Planted(
        "a late result is taken for the opposite",
        "monitor/in_flight.py",
        "elif all([final[slot] is truth for",
        "elif all([final[slot] is not truth for",
        f"{AGREES}[atoms 0]",
    ),
    Planted(
        "an answer that cannot be read is the same at each place",
        "monitor/alphabet.py",
        "(False, True, None) if unreadable and len(each) > 1 else (False, True)",
        "(False, True)",
        "tests/monitor/test_values.py::test_an_answer_that_cannot_be_read_counts_against_the_call_at_each_place",
    ),
    Planted(
        "what was so within n steps before is so one step longer",
        "monitor/program.py",
        "p.earlier(earlier, done[0], n + 1)",
        "p.earlier(earlier, done[0], n + 2)",
        "tests/monitor/test_past.py::test_a_register_remembers_what_its_operator_means",
    ),
    Planted(
        "what was so at most n steps before may be so now",
        "monitor/past.py",
        "sought if s[r] is not None and p - s[r] <= most else not sought",
        "sought if v[a] is sought or (s[r] is not None and p - s[r] <= most) else not sought",
        "tests/monitor/test_past.py::test_a_register_remembers_what_its_operator_means",
    ),
    Planted(
        "a step written in source sees the negation of what was so before",
        "monitor/past_source.py",
        'case ("WYH", _, bound):\n                return _not(self._recently(i, bound))',
        'case ("WYH", _, bound):\n                return self._recently(i, bound)',
        "tests/monitor/test_past.py::test_a_step_in_source_does_what_the_functions_do",
    ),
    Planted(
        "a call that says the contrary leaves the register as it is",
        "monitor/relevance.py",
        'quiet = values[body] is (name == "WYH")',
        'quiet = values[body] is not (name == "WYH")',
        "tests/monitor/test_listening.py::test_a_contract_about_the_last_calls_is_not_woken_by_others",
    ),
    Planted(
        "the states of an older snapshot are taken for those of today",
        "session/snapshot.py",
        "older = clause.has_one_register and ONE_REGISTER not in plain",
        "older = False",
        "tests/session/test_two_registers.py::test_a_session_goes_on_as_it_would_have_before",
    ),
    Planted(
        "of an older snapshot the bit is taken for the stamp",
        "monitor/older_registers.py",
        "places.append(length)",
        "places.append(length + (op[0] in EARLIER))",
        "tests/session/test_two_registers.py::test_a_session_goes_on_as_it_would_have_before",
    ),
    Planted(
        "what was read from an older snapshot is written as it was",
        "session/snapshot.py",
        "if older or now != state:",
        "if now != state:",
        "tests/session/test_two_registers.py::test_a_session_goes_on_as_it_would_have_before",
    ),
    Planted(
        "all that a call binds is of one value",
        "monitor/alphabet.py",
        "others |= dict.fromkeys(_partial(slots, nodes))",
        "others |= {}",
        "tests/monitor/test_values.py::test_a_call_may_bind_one_variable_twice",
    ),
    Planted(
        "an alternative that a result has excluded stays",
        "monitor/in_flight.py",
        "return frozenset(same) if left else residual",
        "return residual",
        f"{AGREES}[atoms 0]",
    ),
    Planted(
        "deadlines of other values are not seen",
        "monitor/parametric/store.py",
        "or cell.wake is None or cell.wake <= woken_by)",
        "or cell.wake is None)",
        DEADLINES,
    ),
    Planted(
        "values skip what concerns them all",
        "engine/clause.py",
        "or self.ignores_others) and letter == self._unconcerned_letter",
        "or self.ignores_others)",
        "tests/monitor/test_owed.py::test_what_concerns_all_values_is_seen_by_all",
    ),
    Planted(
        "facts of other threads are not seen",
        "engine/policy.py",
        "            or (facts and before.facts != after.facts)\n",
        "",
        "tests/session/test_threads.py::test_what_is_told_while_an_atom_is_asked_counts_for_the_decision",
    ),
    Planted(
        "a state that has moved is due when the last one was",
        "monitor/parametric/store.py",
        "self.moved, self.wake, self.due = call, None, None",
        "self.moved = call",
        "tests/monitor/test_owed.py::test_a_deadline_may_begin_for_all_values_at_once",
    ),
    Planted(
        "what is overdue is not stepped",
        "monitor/parametric/store.py",
        "if cell.due is None or cell.due < time]",
        "if cell.due is None]",
        "tests/monitor/test_owed.py::test_a_deadline_in_seconds_passes_for_each_value",
    ),
    Planted(
        "an obligation waits for no result",
        "monitor/progression.py",
        '        return one(("D", at.number, slot, not negated))',
        "        return NO if not negated else YES",
        f"{AGREES}[templates 0]",
    ),
    Planted(
        "all calls in flight end well",
        "monitor/alphabet.py",
        '    endings = itertools.product(("done", "failed"), (False, True))',
        '    endings = itertools.product(("done",), (False, True))',
        f"{AGREES}[atoms 0]",
    ),
    # --- counting ---------------------------------------------------------------------------------
    Planted(
        "a reset still counts its own position",
        "monitor/past.py",
        "0 if fresh(v) else s[r] + bool(v[a])",
        "bool(v[a]) if fresh(v) else s[r] + bool(v[a])",
        f"{AGREES}[templates 6]",
    ),
    Planted(
        "a rate limit does not count failures",
        "patterns/operational.py",
        "Count(counted_calls(action, counts), None, per) <= limit)",
        "Count(counted_calls(action, 'done'), None, per) <= limit)",
        ATTEMPTS,
    ),
    # --- residuals --------------------------------------------------------------------------------
    Planted(
        "residuals are not absorbed",
        "monitor/residual.py",
        "    if weak <= strong:\n        return True\n    return all(",
        "    if weak != strong:\n        return False\n    return all(",
        "tests/semantics/test_verdicts.py::test_what_another_demands_already_is_not_kept",
    ),
    Planted(
        "a shorter bound does not cover a longer one",
        "monitor/residual.py",
        "return bool(kind == other_kind and node == other and due <= later)",
        "return False",
        "tests/semantics/test_verdicts.py::test_what_another_demands_already_is_not_kept",
    ),
    Planted(
        "a longer bound covers a shorter one",
        "monitor/residual.py",
        "return bool(kind == other_kind and node == other and due <= later)",
        "return bool(kind == other_kind and node == other)",
        f"{AGREES}[templates 6]",
    ),
    # --- the index --------------------------------------------------------------------------------
    Planted(
        "no contract is ever woken",
        "engine/clause.py",
        "        if not self._is_quiet(state, position, time):\n            return position + 1\n",
        "",
        "tests/semantics/test_atoms.py::test_a_reset_sets_a_count_to_zero",
    ),
    Planted(
        "a contract sees only the tools that it names",
        "monitor/relevance.py",
        "return self.sees_all or static(slots, tool) != self.other",
        "return static(slots, tool) != self.other",
        EVERY_CALL,
    ),
    Planted(
        "a step bound wakes its contract one step late",
        "monitor/relative_state.py",
        "last - max(ahead - 1, 0) for last in owed",
        "last + 1 for last in owed",
        f"{AGREES}[templates 2]",
    ),
    Planted(
        "all contracts count all positions",
        "engine/ledger.py",
        "            if judgement.kind in kinds and (",
        "            if judgement.kind and (",
        KINDS,
    ),
    # --- asking and committing --------------------------------------------------------------------
    Planted(
        "a blocked call has happened",
        "session/interceptor.py",
        "if answers is not None:",
        "if answers is not None and not self.ledger.commit(judgement):",
        f"{BLOCKED}[atoms 0]",
    ),
    Planted(
        "the lock is removed, for tasks",
        "session/interceptor.py",
        "self.lock = threading.Lock()",
        "self.lock = __import__('unittest.mock').mock.MagicMock()",
        FIVE_TASKS,
    ),
    Planted(
        "an id is looked up, and not again under the lock",
        "session/flights.py",
        "    if flight is not None:\n        return Attempt(flight=flight)\n",
        "",
        ONE_ID,
    ),
    # --- assumptions, scopes, values --------------------------------------------------------------
    Planted(
        "the assumption is ignored",
        "engine/clause.py",
        "violated and values[self.assume])",
        "violated)",
        ASSUMED,
    ),
    Planted(
        "the assumption is ignored when a result reveals a violation",
        "engine/clause.py",
        "if not (seen.violated and self.assumed(seen.state, last, now)):",
        "if not seen.violated:",
        ASSUMED,
    ),
    Planted(
        "a violation without the assumption is latched",
        "engine/clause.py",
        "return self._seen(after, violated and values[self.assume])",
        "return self._seen(after._replace(broken=violated), violated and values[self.assume])",
        UNLATCHED,
    ),
    Planted(
        "a segment goes on where the last one ended",
        "engine/clause.py",
        "state = state._replace(segment=None, closed=over,",
        "state = state._replace(closed=over,",
        SCOPED,
    ),
    Planted(
        "a segment leaves out the position that opens it",
        "engine/clause.py",
        "if after.segment is not None and kind in self.counts:",
        "if after.segment is not None and state.segment is not None and kind in self.counts:",
        SCOPED,
    ),
    Planted(
        "obligations are forgotten at the end of a segment",
        "engine/clause.py",
        "left, failed = self.monitor.closed(state.segment)",
        "left, failed = state.left_open, False",
        SCOPED,
    ),
    Planted(
        "all values share one monitor",
        "engine/ledger.py",
        "return Read(i, clause.read(event, context), clause.key(event) if clause.by else ())",
        "return Read(i, clause.read(event, context), ())",
        SPLIT,
    ),
    Planted(
        "a snapshot forgets the calls in flight",
        "session/resume.py",
        "inner.flights = {**inner.flights, **all_resumed(kept, moved, sources)}",
        "pass",
        RESTORED,
    ),
    # --- orders of globs, elements without a field ----------------------------------------------
    Planted(
        "any value is spared of an order of values",
        "patterns/values.py",
        "excluding(node.what, node.target, needed)",
        "excluding(node.what, node.target, [f.Match(e.names, e.globs) for e in needed])",
        f"{ORDERS}::test_with_another_value_what_is_asked_for_waits_as_well",
    ),
    Planted(
        "what has its value in its answer is spared",
        "patterns/values.py",
        "    if any(vars_in(node) for node in asked):",
        "    if not any(vars_in(node) for node in f.postorder(requires)):",
        f"{ORDERS}::test_what_has_its_value_in_its_answer_is_covered",
    ),
    Planted(
        "only the glob of all tools spares a glob",
        "contracts/blocks.py",
        "if every and (narrow or not any(glob_matches(glob, each) for each in every))",
        'if every == ["*"] and (narrow or glob.strip("*"))',
        f"{ORDERS}::test_a_narrower_glob_that_is_asked_for_is_not_covered",
    ),
    Planted(
        "what compares has to be there as well",
        "monitor/parametric/atoms.py",
        "    strict = strict and each.op in BINDING  # only what binds has to be there\n",
        "",
        f"{ORDERS}::test_what_is_compared_with_some_element_is_not_asked_of_one_without_the_field",
    ),
    *(Planted(*each) for each in planted_catalog.TERMS),
    *(Planted(*each) for each in planted_kinds.FOUND),
    Planted(
        "what is submitted to an executor is done",
        "guard/flow.py",
        "    if _is_submitted(output):",
        "    if False:",
        "tests/guard/test_tool_arguments.py::test_work_that_is_given_to_an_executor_is_in_flight_until_it_is_done",
    ),
    *(Planted(*each) for each in planted_adapters.BUGS),
    *(Planted(*each) for each in planted_lanes.BUGS),
    *(Planted(*each) for each in planted_risk.BUGS),
    *(Planted(*each) for each in planted_sentences.BUGS),
)
