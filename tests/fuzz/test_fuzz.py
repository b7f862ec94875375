"""Random guarantees on random sessions: the engine says what the oracle says, and would be caught.

What fails is printed with the command that makes it again. More pairs: `make fuzz N=1000000`.
"""

from __future__ import annotations

import subprocess
import sys
from math import inf
from pathlib import Path
from typing import NamedTuple

import pytest

from sponsio_like.syntax import read
from tests.fuzz.campaign import campaign
from tests.fuzz.fuzz_judge import Judged
from tests.fuzz.fuzz_tally import lines, missed
from tests.fuzz.fuzz_traces import Event
from tests.support.size import sized

ROOT = Path(__file__).parents[2]
PAIRS = 3_000
SEEDS = (2,)
SMALL = 2_000
"""Within so many pairs a planted bug is found, with a seed that makes the right formulas soon."""


class Bug(NamedTuple):
    """What stands in a module once, what the bug puts in its place, the seed that finds it."""

    module: str
    old: str
    new: str
    seed: int = 1


BUGS = {
    "X holds at the end": Bug("monitor.residual", 'literal[0] in "WGg"', 'literal[0] in "XWGg"'),
    "WX fails at the end": Bug("monitor.residual", 'literal[0] in "WGg"', 'literal[0] in "Gg"'),
    "a bound ahead is a step too long": Bug(
        "monitor.progression", "at.number + count)", "at.number + count + 1)", 5
    ),
    "a bound behind is a step too long": Bug(
        "monitor.past", "p - s[r] <= limit", "p - s[r] - 1 <= limit", 4
    ),
    "a time bound leaves out its edge": Bug(
        "monitor.past", "t - s[r] <= limit", "t - s[r] < limit", 10
    ),
    "a window has its edge in it": Bug(
        "monitor.past", "bisect_right(stamps", "bisect_left(stamps", 12
    ),
    "a call in flight counts as done": Bug(
        "monitor.past", "(x[slot] is True)", "(x[slot] is not False)"
    ),
    "a late result does not reach the past": Bug(
        "monitor.monitor",
        "= self.branches.settled(state.branches, state.registers, settled, final)",
        "= state.branches, state.registers",
        2,
    ),
    "sums do not hear every call": Bug(
        "monitor.relevance", " or any(letter[slot] for slot in sums)", "", 4
    ),
    "a verdict does not latch": Bug(
        "engine.clause", "violated=state.violated or violated", "violated=violated"
    ),
    "a violated instance is armed again": Bug(
        "monitor.monitor",
        "return MonitorStep(State(registers, live, trees, lost), bad)",
        "return MonitorStep(State(registers, live | all_live, trees, lost), bad)",
    ),
}
PLANT = """
import sys
from tests.planted.trial import Changed
module, source, *arguments = sys.argv[1:]
sys.meta_path.insert(0, Changed(module, source))
from tests.fuzz.campaign import main
sys.exit(main(arguments))
"""


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_the_engine_agrees_with_the_oracle_on_random_pairs(seed: int) -> None:
    """On 3,000 random pairs of a guarantee and a session, as varied as wanted, none disagrees."""
    tally = campaign(PAIRS // len(SEEDS), seed)
    print("\n".join(lines(tally)))
    assert tally.pairs >= PAIRS // len(SEEDS)
    assert tally.failures == []
    assert list(missed(tally)) == []


FOUND: dict[str, tuple[str, list[Event], str]] = {
    "a message has no refusals of calls like it": (
        "G(denied(called(*), call) < 1 & ((message(assistant) <-> false) -> X true))",
        [{"type": "call", "tool": "c", "id": "3", "args": {}, "time": 0.0}],
        "violated",
    ),
    "a count and its negation are of one kind of call": (
        "G(called(a) <-> true U (count[<=0](age(true) != 2) > 1))",
        [{"type": "call", "tool": tool, "id": tool, "args": {}, "time": 0.0} for tool in "ba"],
        "violated",
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_both_know_at_once_what_no_continuation_keeps(name: str) -> None:
    """The oracle's judge finds the violation where the engine does, and not later."""
    formula, events, verdict = FOUND[name]
    engine, judge = Judged(read(formula), inf).both(events)
    assert judge.verdicts == engine.verdicts
    assert judge.verdicts[-1] == verdict


@pytest.mark.long
@pytest.mark.parametrize("name", [*BUGS][:: sized(2, 6)])
def test_a_planted_bug_is_found_soon(name: str) -> None:
    """The same search finds a bug in the engine within 2,000 pairs, and says how to see it."""
    bug = BUGS[name]
    source = (ROOT / "sponsio_like" / f"{bug.module.replace('.', '/')}.py").read_text("utf-8")
    assert source.count(bug.old) == 1
    planted = source.replace(bug.old, bug.new)
    arguments = [bug.module, planted, str(SMALL), "--most=1", f"--seed={bug.seed}"]
    command = [sys.executable, "-c", PLANT, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert f"python -m tests.fuzz --seed {bug.seed} --only" in done.stdout
    assert "    engine: " in done.stdout
