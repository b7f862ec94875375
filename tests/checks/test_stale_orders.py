"""An order of calls, and tools that write after what was checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from sponsio_like import Guard
from sponsio_like.checks import outdated
from sponsio_like.contracts import loads, read_sentence
from sponsio_like.replay import checked

ORDER = "tool `run_tests` must precede `merge_pr`"
WRITERS = "[run_tests, write_file, apply_patch, read_file, merge_pr]"
SPOKEN = "no `merge_pr` after `write_file` or `apply_patch` until `run_tests`"


def told(*guarantees: str, tools: str = WRITERS) -> list[str]:
    """The warnings about contracts with these guarantees, as texts."""
    named = "\n".join(f"  - {{name: c{i}, guarantee: {each}}}" for i, each in enumerate(guarantees))
    file = loads(f"version: 1\ntools: {tools}\ncontracts:\n{named}\n")
    return [str(each) for each in outdated(file.contracts, file.tools or ())]


@pytest.mark.parametrize(
    "order",
    [
        ORDER,
        "{pattern: must_precede, first: run_tests, then: merge_pr, accept: passed}",
        "{pattern: must_confirm, action: merge_pr, by: run_tests, accept: passed}",
        "{pattern: required_steps_completion, steps: [run_tests], gate: merge_pr}",
    ],
)
def test_an_old_success_that_opens_a_later_call_is_warned_of(order: str) -> None:
    """With the tools that may have written in between, and the sentence that is missing."""
    (warning,) = told(order)
    assert "a success of `run_tests` counts for `merge_pr`, also where `write_file` or" in warning
    assert warning.endswith(f"add “{SPOKEN}”")


def test_the_sentence_that_is_offered_is_understood_and_ends_the_warning() -> None:
    """It forbids the later call until the check is made anew."""
    assert read_sentence(SPOKEN).pattern == "until"
    assert told(ORDER, SPOKEN) == []


def test_a_tool_of_which_no_contract_speaks_is_left() -> None:
    """Where one of two tools that write is covered, the other one is named."""
    (warning,) = told(ORDER, "no `merge_pr` after `write_file` until `run_tests`")
    assert "also where `apply_patch` comes between" in warning


@pytest.mark.parametrize(
    ("order", "tools"),
    [
        (ORDER, "[run_tests, read_file, merge_pr]"),
        ("tool `run_tests` must precede `write_file`", WRITERS),
        ("tool `check_policy` must precede `issue_refund`", "[check_policy, issue_refund, edit]"),
        ("{pattern: must_confirm, action: merge_pr, by: run_tests, same: [pr]}", WRITERS),
        ("{pattern: must_precede, first: 'run_*', then: merge_pr}", WRITERS),
        ("tool `run_tests` at most 3 times", WRITERS),
    ],
)
def test_where_nothing_is_written_nothing_is_said(order: str, tools: str) -> None:
    """Nor of checks that look at no files, or of values: those are about something else."""
    assert told(order, tools=tools) == []


@pytest.mark.parametrize(
    "writer",
    [
        *("edit", "write_file", "str_replace", "fs.write", "mcp__files__edit_file", "applyPatch"),
        *("append_to_file", "create_file", "updateFile", "delete_files", "edit_source", "patch"),
    ],
)
def test_a_tool_that_writes_files_is_told_by_its_name(writer: str) -> None:
    """Whatever it does with them."""
    assert len(told(ORDER, tools=f"[run_tests, {writer}, merge_pr]")) == 1


@pytest.mark.parametrize(
    ("order", "tools"),
    [
        ("tool `review_claim` must precede `pay_claim`", "[review_claim, edit_ticket, pay_claim]"),
        ("tool `scan_id` must precede `open_account`", "[scan_id, write_email, open_account]"),
        ("tool `build_quote` must precede `send_quote`", "[build_quote, edit_note, send_quote]"),
        ("tool `review_order` must precede `ship`", "[review_order, modify_user_address, ship]"),
        ("tool `compile_report` must precede `mail`", "[compile_report, insert_row, mail]"),
        ("tool `test_drive` must precede `sign`", "[test_drive, update_order, sign]"),
        ("tool `run_tests` must precede `merge_pr`", "[run_tests, read_file, find_file, merge_pr]"),
    ],
)
def test_what_writes_letters_and_tickets_writes_no_files(order: str, tools: str) -> None:
    """What was reviewed, scanned or built there has not been written again."""
    assert told(order, tools=tools) == []


def test_check_prints_it_once_for_each_order(tmp_path: Path) -> None:
    """It is a warning of `check`; contracts load without it."""
    path = tmp_path / "merge.yaml"
    both = "".join(f"  - {{name: {name}, guarantee: {ORDER}}}\n" for name in "ab")
    path.write_text(f"version: 1\ntools: {WRITERS}\ncontracts:\n{both}")
    said = [each.what for each in checked(path, lambda _: ()).warnings]
    assert [each for each in said if "counts for `merge_pr`" in each] == said[:1]


@pytest.mark.parametrize(
    ("calls", "letters"),
    [
        ("w -w t -t m", "AAA"),
        ("w t -w -t m", "AAB"),
        ("w t -t -w m", "AAB"),
        ("t w -w -t m", "AAB"),
        ("t -t w m", "AAB"),
        ("w t -t m", "AAA"),
    ],
)
def test_a_write_that_ends_while_tests_run_counts_where_its_result_does(
    calls: str, letters: str
) -> None:
    """`until` goes by calls, `sanitized_before_sink` by results (`-w`), as the page says."""
    arrived = "{pattern: sanitized_before_sink, source: w, sanitizer: t, sink: m}"
    both = f"    guarantee: [no `m` after `w` until `t`, {arrived}]"
    mine = Guard(loads(f"version: 1\ncontracts:\n  - name: a\n{both}\n").contracts).session()
    said = ""
    for each in calls.split():
        if each[0] == "-":
            mine.settle(each[1:], output=1)
            continue
        said += type(mine.decide(each, {}, id=each)).__name__[0]
    assert said == letters
