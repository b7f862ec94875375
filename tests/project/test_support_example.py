"""The support agent in examples/ does what its README shows, in processes of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SUPPORT = ROOT / "examples" / "support"
COMMAND = "python examples/support/agent.py"
PAID = ((80, 17), (700, 18), (15, 19), (10, 20))
WRAPPED = re.compile(r"\n {13}")


def run(*arguments: str | Path) -> str:
    """What the program prints in a process of its own, with long lines unwrapped."""
    environment = {key: each for key, each in os.environ.items() if key != "SUPPORT_MODEL"}
    done = subprocess.run(
        [sys.executable, SUPPORT / "agent.py", *arguments],
        cwd=ROOT,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def promised() -> str:
    """The story, as the README of the example shows it."""
    readme = (SUPPORT / "README.md").read_text("utf-8")
    [shown] = re.findall(rf"```console\n\$ {re.escape(COMMAND)}\n(.*?)```", readme, re.DOTALL)
    return str(shown)


@pytest.fixture(scope="module")
def story() -> str:
    """What the program prints."""
    return run()


@pytest.mark.long
def test_the_story_is_the_one_in_its_readme(story: str) -> None:
    """The README of the support agent shows what it prints, to the letter, and no warning."""
    assert story.strip() == promised().strip()


@pytest.mark.long
def test_the_graph_tells_the_same_story(story: str) -> None:
    """The node of LangGraph and the middleware of LangChain decide alike, and say the same."""
    assert run("--graph").replace(" --graph\n", "\n") == story


@pytest.mark.long
def test_each_scene_ends_as_it_should(story: str) -> None:
    """Advised and done right; held and resumed; redirected; capped; and all that when observed."""
    scenes = WRAPPED.sub(" ", story).split("\n--- ")[1:]
    advised, held, redirected, capped, observed = scenes
    assert calls_in(advised) == ["issue_refund", "check_policy", "issue_refund"]
    assert held.count("waits for a manager") == 2  # in the process that stops, in the one that asks
    assert held.index("mia       yes") < held.index("700 euros were paid back")
    assert held.endswith("\nNothing waits.\n")
    assert "call-6: delete_account" in redirected
    assert "call-6: deactivate_account ran instead" in redirected
    assert re.search(r"order=20, amount=10\)\n.*refused: .*`at most 800", capped)
    assert "refused" not in observed
    assert len(re.findall("would have (?:blocked|held|redirected) it", observed)) == 7


@pytest.mark.long
def test_each_payment_is_made_once(story: str) -> None:
    """The shop's books have what was allowed, once; when observed, all that was asked for."""
    guarded, observed = re.findall(r"The shop's books:\n\n((?:.+\n)+)", story)
    paid = [f"{amount} euros were paid back for order {order}" for amount, order in PAID]
    assert guarded.splitlines() == [*paid[:-1], "the account of ann was deactivated"]
    assert observed.splitlines() == [*paid, "the account of ann was deleted"]


@pytest.mark.long
def test_a_manager_says_no_in_another_process(tmp_path: Path) -> None:
    """A conversation waits in its file, and cannot go on before it is answered; then it is."""
    db = tmp_path / "support.db"
    texts = ["Pay back 80 euros for order 17.", "Pay back 700 euros for order 18.", "And?"]
    said = run("ask", *texts, "--db", db)
    assert "waits for a manager:" in said
    assert said.endswith("This conversation waits for a manager.\n")
    assert "mia said no" in WRAPPED.sub(" ", run("deny", "--db", db, "--by", "mia"))
    books = db.with_suffix(".books").read_text("utf-8")
    assert books == "80 euros were paid back for order 17\n"


def calls_in(scene: str) -> list[str]:
    """The tools that the model calls, in order."""
    return re.findall(r"^agent +call-\d+: (\w+)\(", scene, re.MULTILINE)
