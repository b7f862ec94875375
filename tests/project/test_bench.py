"""The benchmark: its policy is the one of the workload, its pages are made of its results."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from campaigns.bench import floor, ours
from campaigns.bench.page import PAGES, RESULTS, ROOT, pages
from campaigns.bench.translated import written
from campaigns.bench.workload import POLICY, TEMPLATES, policy, trace
from sponsio_like import Guard
from sponsio_like.contracts.loader import loads


def test_the_policy_file_is_the_workload() -> None:
    """policy.yaml is the translation of the rows, and loads."""
    path = ROOT / "campaigns" / "bench" / "policy.yaml"
    assert path.read_text("utf-8") == written(POLICY)
    assert len(Guard.from_yaml(path).policy.contracts) == len(POLICY) == 35
    assert len(loads(written(TEMPLATES)).contracts) == len(TEMPLATES) == 35


def test_more_contracts_are_copies_that_load() -> None:
    """Rulebooks of any size have as many contracts, about other tools or about the same."""
    for n in (5, 35, 80):
        for same in (False, True):
            assert len(loads(written(policy(n, same_tools=same))).contracts) == n


def test_what_is_written_by_hand_denies_the_same_calls() -> None:
    """The floor is no other policy: it denies what the contracts deny, but for one in a thousand.

    Its window of approvals counts calls from another end.
    """
    engine, hand = ours.contracts(35), floor.policy()
    differ = sum(engine(tool, args) is not hand(tool, args) for tool, args in trace(2000))
    assert differ <= 2


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages_have_the_results(path: object) -> None:
    """The tables are made of docs/speed.json: `python -m campaigns.bench.page`."""
    assert pages(json.loads(RESULTS.read_text("utf-8")))[path] == path.read_text("utf-8")  # type: ignore[index,attr-defined]


def test_a_worker_answers_for_a_stretch_of_the_trace() -> None:
    """A contestant in a process of its own says how long each call took, and what it denied."""
    command = [sys.executable, "-m", "campaigns.bench.worker", "ours", "35"]
    done = subprocess.run(
        command, cwd=ROOT, input="0 20\n", check=True, capture_output=True, text=True
    )
    said = json.loads(done.stdout)
    assert len(said["ns"]) == 20
    assert all(0 <= each < 20 for each in said["denied"])
