"""Random guarantees on random sessions: the engine says what the oracle says, and would be caught.

Reproduce a failure with the command that stands above it. More pairs: `make fuzz N=1000000`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz import campaign
from tests.fuzz_tally import lines, missed

SEED = 2
PAIRS = 50_000
PARTS = 5
SMALL = 600
"""So many pairs are enough to find a planted bug."""
BUGS = {
    "X holds at the end": ("residual", 'literal[0] in "WGg"', 'literal[0] in "XWGg"'),
    "WX fails at the end": ("residual", 'literal[0] in "WGg"', 'literal[0] in "Gg"'),
    "a bound ahead is one step too long": (
        "future",
        "at.number + count)",
        "at.number + count + 1)",
    ),
    "a bound behind is one step too long": ("past", "p - s[r] <= limit", "p - s[r] <= limit + 1"),
    "a time bound behind leaves out its edge": ("past", "t - s[r] <= limit", "t - s[r] < limit"),
    "a window has its edge in it": ("past", "if each > p - width", "if each >= p - width"),
    "a call in flight counts as done": ("past", "(x[slot] is True)", "(x[slot] is not False)"),
    "a late result does not reach the past": (
        "monitor",
        "window, registers = known or (state.window, state.registers)",
        "window, registers = state.window, state.registers",
    ),
    "a verdict does not latch": ("clause", "broken=watch.broken or violated", "broken=violated"),
    "a violated instance is armed again": (
        "monitor",
        "return Step(State(registers, live, window, lost), bad)",
        "return Step(State(registers, live | frozenset(owing), window, lost), bad)",
    ),
    "a bound ahead wakes its contract too late": (
        "resting",
        "last - max(ahead - 1, 0) for last in owed",
        "last for last in owed",
    ),
}
"""By name: the module, what stands in it once, and what the bug puts in its place."""
PLANT = """
import sys
from tests.trial import Changed
module, source, *arguments = sys.argv[1:]
sys.meta_path.insert(0, Changed(module, source))
from tests.fuzz import main
sys.exit(main(arguments))
"""


@pytest.mark.parametrize("part", range(PARTS))
def test_the_engine_agrees_with_the_oracle_on_random_pairs(part: int) -> None:
    """On 50,000 random pairs of a guarantee and a session, varied as wanted, none disagrees."""
    tally = campaign(PAIRS // PARTS, seed=SEED + part)
    print("\n".join(lines(tally)))
    assert tally.pairs >= PAIRS // PARTS
    assert tally.failures == []
    assert list(missed(tally)) == []


@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_found_soon(name: str) -> None:
    """The same campaign finds a bug in the engine within a few hundred pairs, and says where."""
    module, old, new = BUGS[name]
    root = Path(__file__).parent.parent
    source = (root / "sponsio_like" / f"{module}.py").read_text("utf-8")
    assert source.count(old) == 1
    arguments = [module, source.replace(old, new), str(SMALL), "--most=1"]
    command = [sys.executable, "-c", PLANT, *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "    engine: " in done.stdout
    assert "python -m tests.fuzz --seed 1 --only" in done.stdout
