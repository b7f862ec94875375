"""The command that mutates the engine tries what it is asked to, and its reasons are not stale."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from tests.planted import mutate, warm
from tests.planted.mutants import mutants, source


def test_every_reason_is_of_a_mutant_that_there_is() -> None:
    """No reason for a survivor names a mutant that is not tried any more."""
    assert mutate.stale() == []


def test_a_reason_is_stale_if_its_line_or_its_module_is_not_mutated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reason names its module and its line: if either is not mutated, the reason is reported."""
    mutant = next(mutants("logic.tree"))
    stale = ["logic.tree: return nothing => return None", "ltl: x => y"]
    reasons = tmp_path / "survivors.toml"
    reasons.write_text(f"[[accepted]]\nreason = 'r'\nmutants = {[mutant.name, *stale]}\n")
    monkeypatch.setattr(mutate, "REASONS", reasons)
    assert mutate.stale() == stale


@pytest.mark.parametrize("said", ["values.frozen", "frozen"])
def test_a_module_is_told_by_its_name_or_the_end_of_it(said: str) -> None:
    """`values.frozen` and `frozen` name the same module on the command line."""
    assert mutate.modules_named(said) == ["values.frozen"]


def test_a_module_that_is_not_mutated_is_refused() -> None:
    """A name of no mutated module ends the command with a message."""
    with pytest.raises(SystemExit, match="`freezing` is no module"):
        mutate.modules_named("freezing")


def test_the_body_of_a_context_manager_is_changed_and_not_what_wraps_it() -> None:
    """The function found for a context manager is that of its own module, not of `contextlib`."""
    importlib.import_module("sponsio_like.session.world")
    found = warm.function("session.world", ("WorldState", "_transaction"))
    assert found is not None
    assert Path(found.__code__.co_filename) == source("session.world")
