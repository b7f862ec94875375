"""Runs that end: the strategy `stop` takes no further step of the model, and lets no tool run."""

from __future__ import annotations

from tests.adapters.harness import Open
from tests.adapters.rules import check, few, pay
from tests.semantics.manifest import requirement


@requirement("S-STOP-06")
def test_a_run_that_is_stopped_takes_no_further_step(opened: Open) -> None:
    """Nothing runs after the refusal that ends the run, and the model is not asked again."""
    stage = opened(few("pay").strategy("stop"))
    stage.run([check("a")], [pay(5, "b")], [check("c")], raises=True)
    assert stage.tools() == ["check"]
    assert stage.outcomes("pay") == ["blocked"]
    assert stage.decided() == 2
    stage.run([check("d")], raises=True)
    assert stage.tools() == ["check"]
