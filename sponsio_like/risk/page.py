"""Writes what a model of risk says, and what its policy would have done, as one page of HTML.

In: a policy, and a `Hindsight` if there are runs to look back on. Out: text that loads nothing
from elsewhere. For a terminal: the riskiest states as a table, and the figures as lines.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sponsio_like.errors import RiskError
from sponsio_like.risk.estimate import Risk
from sponsio_like.risk.hindsight import Hindsight
from sponsio_like.risk.model import described
from sponsio_like.risk.plots import (
    NODES,
    drawn_chain,
    drawn_leads,
    drawn_reliability,
    drawn_states,
    drawn_wealth,
)
from sponsio_like.risk.policy import RiskPolicy
from sponsio_like.terminal import Table

ROWS = 15
"""Most states that are listed."""
ALPHA = 0.05
EXAMPLES = 3


def riskiest(policy: RiskPolicy) -> list[Risk]:
    """Return the states with the highest lower bounds, the highest first."""
    each = [risk for row in policy.table.values() for risk in row.values()]
    return sorted(each, key=lambda risk: (-risk.lo, -risk.runs, risk.state))[:ROWS]


def basis(risk: Risk) -> str:
    """Return in words which runs were counted: those of the state, or those of a shorter past."""
    if risk.by == "observed":
        return "for this state"
    if not risk.reach:
        return "whatever was called before"
    return "with the last call" if risk.reach == 1 else f"with the last {risk.reach} calls"


def risk_table(policy: RiskPolicy) -> Table:
    """Return the riskiest states as a table for a terminal."""
    rows = tuple(
        (
            described(each.state),
            each.runs,
            each.hits,
            f"{each.lo:.1%} to {each.hi:.1%}",
            basis(each),
        )
        for each in riskiest(policy)
    )
    return Table(("state", "runs", "bad", "risk", "counted"), rows)


def risk_lines(policy: RiskPolicy, found: Hindsight | None) -> list[str]:
    """Return the figures as lines of text."""
    data, model = policy.model.data, policy.model
    known = data.traces - data.censored
    counts = (
        f"{len(model.states):,} states from {data.traces:,} runs: {data.bad:,} bad of {known:,} "
        f"that ended, {data.censored:,} stopped, {data.left_out:,} left out"
    )
    lines = [
        counts,
        f"threshold {policy.threshold:.1%}, bounds at {policy.confidence:.0%}",
    ]
    if found is None:
        return [*lines, "give --contracts and traces to see where it would have stepped in"]
    for name, bad in (("bad runs", True), ("other runs", False)):
        runs, stopped, asked = found.outcomes(bad=bad)
        lines.append(f"{name}: {stopped:,} of {runs:,} stopped, {asked:,} asked about")
    if found.lead is not None:
        lines.append(f"calls from the stop to the violation: {found.lead:g} (median)")
    if found.calibration is not None:
        lines.append(f"Brier {found.calibration.brier:.3f}")
    alarm, _ = found.wealth(ALPHA)
    rings = "rings: reality is worse than the model" if alarm.rings else "does not ring"
    lines.append(f"the alarm {rings} (worth {alarm.wealth:.3g} after {alarm.runs:,} runs)")
    return [*lines, *([FLATTERS] if found.same else [])]


FLATTERS = "these are the runs that the model was learned from: the figures flatter it"


def risk_page(policy: RiskPolicy, title: str, found: Hindsight | None = None) -> str:
    """Return the page. Raises `RiskError` without the extra."""
    try:
        import jinja2
    except ImportError:
        raise RiskError("a page with plots needs more: pip install 'sponsio-like[risk]'") from None
    text = Path(__file__).with_suffix(".html.j2").read_text("utf-8")
    template = jinja2.Environment(autoescape=True, trim_blocks=True).from_string(text)
    rendered: str = template.render(
        title=title,
        policy=policy,
        model=policy.model,
        risks=riskiest(policy),
        found=found,
        plots=_plots(policy, found),
        alarm=None if found is None else found.wealth(ALPHA)[0],
        examples=[] if found is None else _examples(found),
        nodes=NODES,
        flatters=FLATTERS,
        said=described,
        basis=basis,
    )
    return rendered


def _plots(policy: RiskPolicy, found: Hindsight | None) -> dict[str, str]:
    risks = riskiest(policy)
    risk_of = {risk.state: risk for row in policy.table.values() for risk in row.values()}
    plots = {"chain": drawn_chain(policy.model, risk_of)}
    if risks:
        plots["states"] = drawn_states(risks, policy.threshold)
    if found is None:
        return plots
    if found.calibration is not None:
        plots["reliability"] = drawn_reliability(found.calibration)
    if found.leads:
        plots["leads"] = drawn_leads(found.leads)
    worth = found.wealth(ALPHA)[1]
    return {**plots, "wealth": drawn_wealth(worth, ALPHA)} if worth else plots


def _examples(found: Hindsight) -> list[Any]:
    """Return bad runs that would have been stopped, those with most calls left first."""
    stopped = [
        (run, visit)
        for run in found.runs
        if run.bad is not None and (visit := run.first("above", found.policy)) is not None
    ]
    stopped.sort(key=lambda pair: (pair[1].at - (pair[0].bad or 0), pair[0].id))
    return stopped[:EXAMPLES]
