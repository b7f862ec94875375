"""Looking back on recorded runs: what a policy would have done, and the page that shows it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from sponsio_like import contract
from sponsio_like.cli import app
from sponsio_like.errors import RiskError
from sponsio_like.risk import Hindsight, RiskPolicy, look_back, risk_page
from sponsio_like.risk.estimate import Risk
from sponsio_like.risk.page import basis
from tests.risk.runs import contracts, trace
from tests.risk.test_runtime import MODEL, RISKY, SAFE

NEW = [SAFE] * 3 + [RISKY] * 4 + [RISKY[:3]] * 2 + [["look", "pay", "send-"]]
"""Runs that the model has not seen: 3 safe, 4 bad, 2 that turned back, 1 that was stopped."""
POLICY = RiskPolicy(MODEL, 0.5, least=20)


def seen(runs: list[list[str]] = NEW, policy: RiskPolicy = POLICY) -> Hindsight:
    """What the policy would have done in these runs."""
    return look_back(policy, contracts(), [trace(each, f"r{i}") for i, each in enumerate(runs)])


def test_runs_are_told_apart_by_how_they_ended() -> None:
    """All that pay twice would have been stopped: 4 of 4 bad ones, 2 of 5 others."""
    found = seen()
    assert found.outcomes(bad=True)[:2] == (4, 4)
    assert found.outcomes(bad=False)[:2] == (5, 2)
    assert [run.ended for run in found.runs].count(False) == 1


def test_the_lead_is_counted_in_calls() -> None:
    """The second payment would have been stopped, and the third makes the run bad: one call."""
    found = seen()
    assert found.leads == (1, 1, 1, 1)
    assert found.lead == 1
    assert seen([SAFE]).lead is None


def test_states_are_listed_where_calls_would_have_been_stopped() -> None:
    """One state, of six runs that ended, four of them badly."""
    (place,) = seen().places
    assert place.state.endswith("then pay")
    assert (place.runs, place.bad) == (6, 4)
    assert place.risk.lo > POLICY.threshold


def test_a_call_that_nobody_has_made_before_is_asked_about() -> None:
    """A run of an unknown tool is neither stopped nor let through."""
    found = seen([["look", "nuke"]])
    assert found.outcomes(bad=False) == (1, 0, 1)


def test_calibration_and_alarm_leave_out_stopped_runs() -> None:
    """Each visited state counts with how its run ended; each run once for the alarm."""
    found = seen()
    assert found.calibration is not None
    ended = [run for run in found.runs if run.ended]
    assert found.calibration.runs == sum(len(run.visits) for run in ended)
    alarm, worth = found.wealth()
    assert alarm.runs == len(worth) == len(ended)


def test_the_alarm_rings_where_reality_is_worse() -> None:
    """The model expects one run in nine to be bad; here all are."""
    assert seen([RISKY] * 40).wealth()[0].rings
    assert not seen([SAFE] * 40).wealth()[0].rings


def test_a_horizon_counts_what_comes_true_within_it() -> None:
    """Within one call, the first look of a bad run has not come true."""
    near = seen([RISKY], RiskPolicy(MODEL, 0.5, least=20, horizon=1))
    far = seen([RISKY])
    assert near.calibration is not None
    assert far.calibration is not None
    observed = [sum(each.runs * each.observed for each in found.bins)
                for found in (near.calibration, far.calibration)]  # fmt: skip
    assert [round(each) for each in observed] == [1, 3]


@pytest.mark.long
def test_the_runs_of_the_model_are_recognised() -> None:
    """Figures over the runs that it was learned from flatter it, and that is said."""
    runs = (
        [SAFE] * 80
        + [["look", "pay", "send"]] * 400
        + [RISKY] * 50
        + [RISKY[:3]] * 10
        + [["look", "look", "send"]] * 3
    )
    same = look_back(POLICY, contracts(), [trace(each, f"{i}") for i, each in enumerate(runs)])
    assert same.same
    assert not seen().same
    assert "flatter" in risk_page(POLICY, "m", same)
    assert "flatter" not in risk_page(POLICY, "m", seen())


def test_other_contracts_are_refused() -> None:
    """A model says nothing of contracts that it was not learned under."""
    other = [*contracts(), contract("more").guarantees("tool `send` at most 2 times")]
    with pytest.raises(RiskError, match="other contracts: `more`"):
        look_back(POLICY, other, [])


class _Page(HTMLParser):
    """What a page loads, and the elements it has."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [
            value
            for name, value in attrs
            if name in ("src", "href", "xlink:href") and value and not value.startswith("#")
        ]


def test_the_page_has_its_figures_and_loads_nothing() -> None:
    """Five plots, every number that the terminal shows, and nothing from elsewhere."""
    text = risk_page(POLICY, "model of a test", seen())
    page = _Page()
    page.feed(text)
    assert page.loads == []
    assert page.tags.count("svg") == 5
    assert "script" not in page.tags
    cells = re.findall(r'<td class="n[^"]*">([^<]*)</td>', text)
    assert [cells[:2], cells[4:6]] == [["4", "4"], ["5", "2"]]
    assert "went bad at call 3 of" in text


def test_a_page_without_runs_has_the_model_alone() -> None:
    """The chain and the riskiest states."""
    text = risk_page(POLICY, "m")
    assert text.count("<svg") == 2
    assert "stepped in" not in text


@pytest.mark.parametrize("name", ["$x$", "<b>", "a_b^c", "{{ x }}"])
def test_names_of_tools_are_text(name: str) -> None:
    """Neither mathematics, nor mark-up, nor a template."""
    policy = RiskPolicy(MODEL, 0.5)
    text = risk_page(policy, name, look_back(policy, contracts(), [trace([name], name)]))
    assert "<b>" not in text.partition("<h1>")[2].partition("</h1>")[2].partition("</p>")[0]
    assert "script" not in text


def test_the_same_page_is_the_same_text() -> None:
    """A page can be compared with an earlier one."""
    assert risk_page(POLICY, "m", seen()) == risk_page(POLICY, "m", seen())


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """A model, its contracts, and runs to look back on."""
    said = [{"name": each.name, "guarantee": each.rules[0].sentence} for each in contracts()]
    (tmp_path / "c.yaml").write_text(yaml.safe_dump({"version": 1, "contracts": said}), "utf-8")
    lines = [json.dumps({"id": f"r{i}", "events": _events(each)}) for i, each in enumerate(NEW)]
    (tmp_path / "t.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    MODEL.save(tmp_path / "m.json")
    return {name: tmp_path / name for name in ("c.yaml", "t.jsonl", "m.json", "p.html")}


def _events(calls: list[str]) -> list[dict[str, Any]]:
    status = {"!": "error", "-": "refused"}
    return [{"tool": each.rstrip("!-"), "status": status.get(each[-1], "ok")} for each in calls]


@pytest.mark.parametrize(
    ("by", "reach", "words"),
    [
        ("observed", 2, "for this state"),
        ("backoff", 2, "with the last 2 calls"),
        ("backoff", 1, "with the last call"),
        ("backoff", 0, "whatever was called before"),
    ],
)
def test_a_row_says_which_runs_were_counted(by: Any, reach: int, words: str) -> None:
    """Those of the state itself, or those that came there with a shorter past."""
    assert basis(Risk(("-", ("a", "b", "c"), "d"), 9, 1, 0.1, 0.2, by, reach, None)) == words


def test_the_command_shows_it(files: dict[str, Path]) -> None:
    """`risk report`: the riskiest states as a table, and the outcomes below."""
    look = ["--contracts", str(files["c.yaml"]), str(files["t.jsonl"]), "--threshold", "0.5"]
    done = CliRunner().invoke(app, ["risk", "report", str(files["m.json"]), *look])
    assert done.exit_code == 0, done.output
    assert "bad runs: 4 of 4 stopped" in done.output
    assert "other runs: 2 of 5 stopped" in done.output
    assert "calls from the stop to the violation: " in done.output
    done = CliRunner().invoke(
        app, ["risk", "report", str(files["m.json"]), *look, "--html", str(files["p.html"])]
    )
    assert done.exit_code == 0, done.output
    assert files["p.html"].read_text("utf-8").count("<svg") == 5


@pytest.mark.parametrize("given", [["--contracts", "c.yaml"], ["t.jsonl"]])
def test_half_of_what_looking_back_needs_is_refused(
    files: dict[str, Path], given: list[str]
) -> None:
    """Contracts without traces, or traces without contracts."""
    given = [str(files.get(each, each)) for each in given]
    done = CliRunner().invoke(app, ["risk", "report", str(files["m.json"]), *given])
    assert done.exit_code != 0
    assert "both --contracts FILE and traces" in str(done.exception or done.output)


def test_matplotlib_is_loaded_for_the_page_alone() -> None:
    """Neither the package nor the room loads it."""
    code = "import sys, sponsio_like.risk; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
