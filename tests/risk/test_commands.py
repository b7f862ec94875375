"""The commands that ask the chain of a model, and write it for model checkers."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from sponsio_like.cli import app
from sponsio_like.errors import RiskError
from sponsio_like.risk import chain_of, drn_text, learn, prism_text, read_model
from tests.risk.runs import contracts, random_calls, trace


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The file of a model of random runs."""
    rng = random.Random(41)
    runs = [trace(random_calls(rng), f"{i}") for i in range(3_000)]
    path = tmp_path_factory.mktemp("model") / "risk.json"
    learn(contracts(), runs).save(path)
    return str(path)


def run(*words: str) -> Result:
    """`sponsio-like risk ..`."""
    return CliRunner().invoke(app, ["risk", *words])


@pytest.mark.long
@pytest.mark.parametrize(
    ("formula", "answer", "status"),
    [
        ("P>=0.05 [F bad]", "yes", 0),
        ("P<=0.05 [F bad]", "no", 1),
        ("P<=0.9 [F<=1 bad] & P>=0.05 [F end]", "yes", 0),
    ],
)
def test_the_bounded_chain_answers(formula: str, answer: str, status: int, model: str) -> None:
    """The answer where runs begin is shown, and is the exit status."""
    shown = run("check", model, formula)
    assert shown.exit_code == status
    assert shown.output.splitlines()[1].split()[:2] == ["begin", answer]


def test_a_threshold_between_the_bounds_is_unknown(model: str) -> None:
    """The counted share itself is no answer of the bounded chain; as counted it is."""
    share = float(run("check", model, "P>=0 [F bad]", "--counted").output.split()[-1][:-1]) / 100
    bounded = run("check", model, f"P<={share - 0.001:.4f} [F bad]")
    assert (bounded.exit_code, bounded.output.splitlines()[1].split()[1]) == (1, "unknown")
    counted = run("check", model, f"P<={share + 0.001:.4f} [F bad]", "--counted")
    assert counted.exit_code == 0


def test_every_state_is_shown_on_demand(model: str) -> None:
    """With `--all`, a line for each state, and `bad` and `end`."""
    lines = run("check", model, "P<=0.05 [F bad]", "--all", "--counted").output.splitlines()
    assert len(lines) == 1 + chain_of(read_model(model)).size
    assert any(line.split()[:2] == ["bad", "no"] for line in lines)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "P<=2 [F bad]"], "a probability of 2"),
        (["check", "P<=0.1 [F worse]"], "no state has the label `worse`"),
        (["check", "P<=0.1 [F bad]", "--confidence", "1"], "confidence is 1.0"),
        (["export", "-o", "chain.txt"], "ends in .prism or .drn"),
    ],
)
def test_mistakes_are_told(words: list[str], said: str, model: str) -> None:
    """A formula, a label, a confidence or a format that is none is an error."""
    failed = run(words[0], model, *words[1:])
    assert isinstance(failed.exception, RiskError)
    assert said in str(failed.exception)


def test_the_chain_is_written_for_model_checkers(model: str, tmp_path: Path) -> None:
    """What `export` writes is the text of the counted chain."""
    chain = chain_of(read_model(model))
    for name, text in (("c.prism", prism_text(chain)), ("c.drn", drn_text(chain))):
        assert run("export", model, "-o", str(tmp_path / name)).exit_code == 0
        assert (tmp_path / name).read_text("utf-8") == text
