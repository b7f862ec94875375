"""Bugs against risk, for `tests/planted/planted.py` and `planted_meaning.py`.

In: nothing. Out: `MEANING`: name, file, what stands there, what is put there instead, for the
requirements of `tests/semantics/manifest_risk.py`; `BUGS`: the same, and the test that notices.
"""

from __future__ import annotations

RUNTIME = "tests/risk/test_runtime.py::test_"
LEARNING = "tests/risk/test_learning.py::test_"
MODEL = "tests/risk/test_model.py::test_"
CHAIN = "tests/risk/test_chain.py::test_"
REPORT = "tests/risk/test_report.py::test_"
RECOUNT = f"{LEARNING}counts_are_those_of_a_recount_without_the_engine"
COVERS = "tests/risk/test_bounds.py::test_coverage_is_exactly_at_least_what_is_stated"

MEANING = [
    (
        "bounds of a one-sided interval are taken for two-sided ones",
        "risk/bounds.py",
        "total, tail = runs + unknown, delta / 2",
        "total, tail = runs + unknown, delta",
    ),
    (
        "a stopped run ends well",
        "risk/learner.py",
        "return END if self.stopped is None else None",
        "return END",
    ),
    (
        "every visit counts, and not the first of a run alone",
        "risk/learner.py",
        "first.setdefault(shortened(state, level), at)",
        "first[shortened(state, level)] = at",
    ),
    (
        "a shard is counted twice",
        "risk/model.py",
        "if twice := {*self.data.sources} & {*other.data.sources}:",
        "if twice := {*self.data.sources} & set[str]():",
    ),
    (
        "an edited model is read",
        "risk/model.py",
        'if data.get("seal") != _seal(data):',
        'if "seal" not in data:',
    ),
    (
        "a model of other contracts is used",
        "risk/policy.py",
        "if changed := changed_contracts(self.model.header.contracts, policy.fingerprints):",
        "if changed := changed_contracts({}, {}):",
    ),
    (
        "the lower bound lets through",
        "risk/policy.py",
        "if risk.hi <= self.threshold}",
        "if risk.lo <= self.threshold}",
    ),
    (
        "what no run has done is let through",
        "risk/gate.py",
        "        return found is not None\n",
        "        return True\n",
    ),
    (
        "few runs are enough",
        "risk/policy.py",
        "if count.known >= self.least:",
        "if count.known >= 1:",
    ),
    (
        "the model is told without end",
        "risk/policy.py",
        "return Block() if told < chosen.times else chosen.then",
        "return Block()",
    ),
    (
        "a snapshot without risk is at the beginning",
        "risk/gate.py",
        "            self.path.lost()\n",
        "",
    ),
    (
        "a failed call is one that succeeded",
        "risk/abstraction.py",
        'symbol[:-1] if ok else symbol[:-1] + "!"',
        "symbol[:-1]",
    ),
]

BUGS = [
    (
        "runs of which the end is unknown count as safe",
        "risk/bounds.py",
        "rate_with_tail(hits + unknown, total, tail)",
        "rate_with_tail(hits, total, tail)",
        f"{LEARNING}unknown_ends_widen_the_bounds",
    ),
    (
        "the call that violates is a visit",
        "risk/learner.py",
        "run.bad = position + mine",
        "run.bad = position + 1",
        f"{LEARNING}horizons_count_the_calls_to_the_violation",
    ),
    (
        "a horizon has one call more",
        "risk/learner.py",
        "horizon is None or run.bad - at <= horizon",
        "horizon is None or run.bad - at <= horizon + 1",
        f"{LEARNING}horizons_count_the_calls_to_the_violation",
    ),
    (
        "an unknown risk is only warned of",
        "risk/policy.py",
        'chosen = Escalate() if mode == "enforce" else Warn()',
        "chosen = Warn()",
        f"{RUNTIME}states_never_seen_are_asked_about_and_never_just_allowed",
    ),
    (
        "the estimate is compared, and not the lower bound",
        "risk/policy.py",
        'return "above" if risk.lo > self.threshold else "in doubt"',
        'return "above" if risk.hi > self.threshold else "in doubt"',
        f"{RUNTIME}between_the_bounds_is_unknown",
    ),
    (
        "a restored session forgets how often the model was told",
        "risk/gate.py",
        'self.refusals = int(data["asked"])',
        "self.refusals = 0",
        f"{RUNTIME}the_model_is_asked_to_examine_itself_a_limited_number_of_times",
    ),
    (
        "impossible successors are smoothed, too",
        "risk/chain.py",
        "valid = [each for each in states if can_reach(state, each)]",
        "valid = list(states)",
        f"{CHAIN}the_motivating_chain_is_rebuilt_from_its_counts",
    ),
    (
        "within bounds, the best chain is the worst",
        "risk/solve.py",
        "self.sign = -1.0 if highest else 1.0",
        "self.sign = 1.0 if highest else -1.0",
        f"{CHAIN}bounds_enclose_every_chain_within_them",
    ),
    (
        "what was never seen cannot follow",
        "risk/chain.py",
        "rows.append({**bounds, away: clopper_pearson(0, total, each)})",
        "rows.append(bounds or {away: clopper_pearson(0, total, each)})",
        f"{CHAIN}what_was_never_seen_may_follow_in_a_bounded_chain",
    ),
    (
        "at the end of an interval, maybe is yes",
        "risk/pctl.py",
        'return "unknown" if at_lo is not at_hi else "yes" if at_lo else "no"',
        'return "yes" if at_lo or at_hi else "no"',
        f"{CHAIN}answers_are_yes_no_or_unknown",
    ),
    (
        "the least demanding successor is enough",
        "risk/enough.py",
        "return max(runs_needed(ratio, eps, delta / states) for ratio in ratios)",
        "return min(runs_needed(ratio, eps, delta / states) for ratio in ratios)",
        "tests/risk/test_enough.py::test_the_strong_reading_gives_the_worked_example",
    ),
    (
        "the bet is not fair",
        "risk/alarm.py",
        "self._wealth = [\n            wealth * (1 +",
        "self._wealth = [\n            wealth * (1.05 +",
        "tests/risk/test_alarm.py::test_false_alarms_are_as_rare_as_stated",
    ),
    (
        "runs that were stopped count as right in hindsight",
        "risk/hindsight.py",
        "mine = [run for run in self.runs if run.ended and (run.bad is not None) == bad]",
        "mine = [run for run in self.runs if (run.bad is not None) == bad]",
        f"{REPORT}runs_are_told_apart_by_how_they_ended",
    ),
    (
        "the runs of the model are taken for new ones",
        "risk/hindsight.py",
        "data.digest == policy.model.data.digest",
        "data is policy.model.data",
        f"{REPORT}the_runs_of_the_model_are_recognised",
    ),
]
