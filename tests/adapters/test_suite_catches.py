"""The suite finds wrong adapters: each bug is planted in the loop by hand, and is noticed."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import pytest

from tests.adapters import bench
from tests.adapters import wrong_steps as wrong
from tests.adapters.behaviours import BEHAVIOURS
from tests.adapters.by_hand import Steps, by_hand
from tests.adapters.harness import staged


class Bug(NamedTuple):
    """A loop of which one step is wrong, and the behaviours that have to fail for it."""

    name: str
    steps: Steps
    fails: str


BUGS = (
    Bug(
        "ignores blocks",
        Steps(to_run=wrong.ignores_blocks),
        """
        a_blocked_call_does_not_run
        a_substitute_is_decided_as_well
        arguments_that_change_later_do_not_change_history
        an_argument_that_a_body_empties_was_what_it_was
        a_call_that_nobody_answers_in_time_never_runs
        an_approval_answers_only_who_asked
        a_call_that_failed_counts_as_tried
        a_strategy_that_raises_refuses_the_call
        a_risky_call_is_refused_with_its_evidence
        a_risky_call_of_a_batch_leaves_the_others_alone
        contracts_come_before_risk
        """,
    ),
    Bug(
        "ignores holds",
        Steps(to_run=wrong.ignores_holds),
        """
        a_held_call_waits
        an_approval_is_good_for_one_call
        threads_do_not_answer_for_each_other
        a_risky_call_waits_for_a_person_and_runs_once
        a_call_that_no_run_has_made_is_asked_about
        """,
    ),
    Bug(
        "a redirect runs the original",
        Steps(to_run=wrong.runs_the_original),
        """
        a_redirect_runs_the_substitute_and_never_the_original
        a_redirect_in_a_batch_leaves_the_others_alone
        a_substitute_that_cannot_take_the_arguments_is_an_error
        a_risky_call_is_redirected
        """,
    ),
    Bug(
        "a redirect changes only the name",
        Steps(to_run=wrong.redirects_by_name),
        "a_redirect_runs_the_substitute_and_never_the_original",
    ),
    Bug(
        "stops what is warned of, or only observed",
        Steps(to_run=wrong.stops_what_is_warned_of),
        """
        a_warning_lets_the_call_run
        observing_disturbs_nothing
        nobody_is_asked_where_calls_are_only_observed
        observing_hides_what_fails_in_the_guard
        risk_that_is_observed_lets_calls_run
        """,
    ),
    Bug(
        "swallows exceptions into allow",
        Steps(decide=wrong.lets_failures_through),
        "a_condition_that_raises_refuses_the_call a_clock_that_raises_refuses_the_call",
    ),
    Bug(
        "decides parallel calls on one snapshot",
        Steps(decide=wrong.sees_one_snapshot),
        """
        a_limit_holds_over_parallel_calls
        a_count_holds_over_many_parallel_calls
        limits_hold_when_held_calls_are_approved
        """,
    ),
    Bug(
        "settles before the tool runs",
        Steps(decide=wrong.settles_first),
        """
        a_prerequisite_in_flight_does_not_count
        a_prerequisite_that_failed_does_not_count
        contracts_see_the_text_that_a_tool_returned
        """,
    ),
    Bug(
        "runs calls without an id",
        Steps(decide=wrong.lets_nameless_calls_run),
        "a_call_without_an_id_never_runs_unguarded",
    ),
    Bug(
        "decides on what the model wrote",
        Steps(received=lambda _, args: dict(args)),
        """
        arguments_are_decided_on_as_the_tool_receives_them
        arguments_that_do_not_validate_are_an_error_and_count_nothing
        people_are_shown_the_arguments_that_the_body_receives
        """,
    ),
    Bug(
        "runs calls that share an id",
        Steps(distinct=False),
        "an_id_given_twice_in_one_turn_is_refused",
    ),
    Bug(
        "never settles",
        Steps(settle=wrong.never_settles),
        """
        a_call_that_is_allowed_runs
        an_id_that_comes_again_in_a_later_turn_is_another_call
        observing_logs_the_true_verdict
        an_approved_call_runs_once
        """,
    ),
    Bug(
        "settles failures as success",
        Steps(settle=wrong.takes_failures_for_success),
        """
        a_tool_that_raises_is_settled_as_an_error
        a_prerequisite_that_failed_does_not_count
        a_failure_leaves_the_calls_beside_it_alone
        contracts_see_the_fields_that_a_tool_returned
        """,
    ),
    Bug(
        "forgets calls that are cancelled",
        Steps(settle=wrong.forgets_the_cancelled),
        "a_cancelled_call_is_settled_as_an_error",
    ),
    Bug(
        "hears answers by position",
        Steps(hear=wrong.hears_by_position),
        """
        answers_reach_their_own_calls_in_any_order
        the_last_of_three_may_be_the_one_that_is_approved
        an_answer_leaves_the_others_waiting
        equal_calls_are_answered_one_by_one
        """,
    ),
    Bug("hears only yes", Steps(hear=wrong.hears_only_yes), "a_denied_call_never_runs"),
    Bug(
        "hears one yes for all",
        Steps(hear=wrong.hears_for_all),
        "an_answer_leaves_the_others_waiting",
    ),
    Bug("hears anybody", Steps(hear=wrong.hears_anybody), "only_those_who_may_answer_are_heard"),
    Bug("hears nobody", Steps(hear=wrong.hears_nobody), "an_approved_call_runs_once"),
    Bug(
        "begins a turn anew after a pause",
        Steps(again=lambda calls, held: list(calls)),
        "a_pause_repeats_nothing",
    ),
    Bug(
        "shares a session",
        Steps(session_of=wrong.shares_a_session),
        "threads_are_isolated without_a_thread_nothing_runs_unguarded",
    ),
    Bug(
        "forgets the session",
        Steps(session_of=wrong.forgets_the_session),
        "a_limit_holds_across_turns",
    ),
    Bug(
        "names no inputs",
        Steps(session_of=wrong.names_no_inputs),
        "a_contract_on_what_nobody_tells_is_refused",
    ),
    Bug(
        "makes a thread up",
        Steps(session_of=wrong.makes_a_thread_up),
        "without_a_thread_nothing_runs_unguarded",
    ),
    Bug(
        "hides errors",
        Steps(tell=wrong.hides_errors),
        "a_tool_that_nobody_knows_is_an_error every_call_of_a_turn_gets_its_own_answer",
    ),
    Bug(
        "goes on after the end",
        Steps(ends=lambda _: False),
        "a_run_that_is_stopped_takes_no_further_step",
    ),
    Bug("keeps reasons", Steps(tell=wrong.keeps_reasons), "advice_reaches_the_model_and_works"),
)

NOTICED = [
    pytest.param(bug.steps, behaviour, id=f"{bug.name}-{behaviour}")
    for bug in BUGS
    for behaviour in bug.fails.split()
]


@pytest.mark.parametrize(("steps", "behaviour"), NOTICED)
def test_a_wrong_adapter_fails(
    steps: Steps, behaviour: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An adapter with this bug does not show this behaviour."""
    monkeypatch.setattr(bench, "PATIENCE", 0.1)
    adapter = by_hand("wrong", steps, plain=False)
    with pytest.raises(AssertionError):
        BEHAVIOURS[behaviour](partial(staged, adapter))


def test_every_behaviour_can_fail() -> None:
    """For each behaviour there is a bug that makes it fail: none is true of every adapter."""
    failing = {behaviour for bug in BUGS for behaviour in bug.fails.split()}
    assert failing == set(BEHAVIOURS)
