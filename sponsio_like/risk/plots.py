"""Draws a model of risk, and what a policy would have done, as SVG.

In: states with their risk, a chain, a `Hindsight`. Out: the text of an `<svg>` element, by
matplotlib. Colours are legible on a light and on a dark page.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sponsio_like.errors import RiskError
from sponsio_like.risk.alarm import Calibration
from sponsio_like.risk.estimate import Risk
from sponsio_like.risk.model import BAD, BEGIN, END, RiskModel, State

INK, BLUE, RED, GREEN = "#7d8792", "#4a7fd6", "#d1503f", "#3f9467"
NODES = 14
"""Most states in the picture of a chain; the others are not drawn, and the page says how many."""
SAID = 0.05
"""Least probability of a move that is drawn."""
STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "risk",
    "font.family": "sans-serif",
    "font.size": 9,
    "text.parse_math": False,
    **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
    "axes.edgecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


@contextmanager
def _drawing(width: float, height: float) -> Iterator[tuple[Any, list[str]]]:
    """Yield axes, and a list that holds the SVG afterwards."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise RiskError("a page with plots needs more: pip install 'sponsio-like[risk]'") from None
    out: list[str] = []
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure.add_subplot(), out
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    out.append(text.getvalue().partition("<svg")[2].join(("<svg", "")))


def drawn_states(risks: Sequence[Risk], threshold: float) -> str:
    """Return states with the bounds of their risk, the first on top; dotted: the threshold."""
    with _drawing(7.6, 0.6 + 0.28 * len(risks)) as (axes, out):
        for y, risk in enumerate(reversed(risks)):
            colour = RED if risk.lo > threshold else GREEN if risk.hi <= threshold else INK
            axes.plot([risk.lo, risk.hi], [y, y], color=colour, linewidth=3, alpha=0.5)
            axes.plot([risk.estimate or 0.0], [y], "o", color=colour, markersize=5)
        axes.axvline(threshold, color=INK, linestyle=":", linewidth=1)
        names = [_named(risk.state) for risk in reversed(risks)]
        axes.set_yticks(range(len(risks)), names)
        axes.set_xlim(-0.02, 1.02)
        axes.set_xlabel("share that ended badly")
    return out[0]


def drawn_reliability(found: Calibration) -> str:
    """Return what was predicted beside what came true, by tenths."""
    with _drawing(3.6, 3.2) as (axes, out):
        axes.plot([0, 1], [0, 1], color=INK, linestyle=":", linewidth=1)
        most = max(each.runs for each in found.bins)
        for each in found.bins:
            size = 20 + 180 * each.runs / most
            axes.scatter([each.predicted], [each.observed], s=size, color=BLUE, alpha=0.7)
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(-0.03, 1.03)
        axes.set_xlabel("predicted")
        axes.set_ylabel("came true")
    return out[0]


def drawn_wealth(worth: Sequence[float], alpha: float) -> str:
    """Return the worth of the alarm's bets, run by run; above the dotted line it rings."""
    with _drawing(3.6, 3.2) as (axes, out):
        axes.plot(range(1, len(worth) + 1), worth, color=BLUE)
        axes.axhline(1 / alpha, color=RED, linestyle=":", linewidth=1)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")  # the style does not read the default's formulas
        axes.set_xlabel("runs")
        axes.set_ylabel("worth of the bets")
    return out[0]


def drawn_leads(leads: Sequence[int]) -> str:
    """Return how many calls before the end the runs that ended badly would have been stopped."""
    with _drawing(3.6, 3.2) as (axes, out):
        counts = {lead: leads.count(lead) for lead in sorted(set(leads))}
        axes.bar(list(counts), list(counts.values()), color=GREEN)
        axes.set_xlabel("calls left when it would have stepped in")
        axes.set_ylabel("bad runs")
        axes.xaxis.get_major_locator().set_params(integer=True)
    return out[0]


def drawn_chain(model: RiskModel, risk_of: Mapping[State, Risk]) -> str:
    """Return the chain of the states that most runs came to: probabilities, red by risk."""
    shown = most_visited(model)
    rows = _shares(model)
    depth = _depths(rows, shown)
    place = _places(depth)
    width = 2.4 + 2.0 * max(x for x, _ in place.values())
    height = 0.8 + 0.75 * max(sum(x == column for x, _ in place.values()) for column in range(99))
    with _drawing(width, height) as (axes, out):
        axes.axis("off")
        axes.margins(0.12)
        for one in place:
            for other, share in rows.get(one, {}).items():
                if other in place and other != one and share >= SAID:
                    _arrow(axes, place[one], place[other], share)
        for node, (x, y) in place.items():
            axes.plot([x], [y], "o", markersize=17, color=_colour(node, risk_of), zorder=3)
            name = node if isinstance(node, str) else _named(node, "\n")
            text = {"textcoords": "offset points", "ha": "center", "va": "top", "fontsize": 7}
            axes.annotate(name, (x, y), (0, -13), **text)
    return out[0]


def most_visited(model: RiskModel) -> list[State]:
    """Return the states that most runs came to, as many as are drawn."""
    counts = model.states
    return sorted(counts, key=lambda state: (-counts[state][0], state))[:NODES]


def _shares(model: RiskModel) -> dict[Any, dict[Any, float]]:
    rows: dict[Any, dict[Any, float]] = {}
    for (one, other), n in model.moves.items():
        rows.setdefault(one, {})[other] = n
    return {one: {to: n / sum(row.values()) for to, n in row.items()} for one, row in rows.items()}


def _depths(rows: Mapping[Any, Mapping[Any, float]], shown: Sequence[State]) -> dict[Any, int]:
    """Return the fewest moves from the beginning to each state that is drawn."""
    known: dict[Any, int] = {BEGIN: 0}
    front: list[Any] = [BEGIN]
    while front:
        after = [to for node in front for to in rows.get(node, {}) if to in shown]
        front = [to for to in dict.fromkeys(after) if to not in known]
        known |= dict.fromkeys(front, max(known.values()) + 1)
    last = max(known.values()) + 1
    return {**known, **{state: last for state in shown if state not in known}, BAD: last, END: last}


def _places(depth: Mapping[Any, int]) -> dict[Any, tuple[float, float]]:
    columns: dict[int, list[Any]] = {}
    for node, x in depth.items():
        columns.setdefault(x, []).append(node)
    return {
        node: (float(x), (len(nodes) - 1) / 2 - y + 0.18 * (x % 2))
        for x, nodes in columns.items()
        for y, node in enumerate(nodes)
    }


def _arrow(axes: Any, start: tuple[float, float], end: tuple[float, float], share: float) -> None:
    style = {"arrowstyle": "-|>", "color": INK, "alpha": 0.25 + 0.6 * share, "shrinkA": 9}
    curve = {"connectionstyle": "arc3,rad=0.12", "shrinkB": 9, "linewidth": 0.6 + 1.8 * share}
    axes.annotate("", end, start, arrowprops={**style, **curve})
    middle = (start[0] * 0.6 + end[0] * 0.4, start[1] * 0.6 + end[1] * 0.4)
    axes.annotate(f"{share:.2f}", middle, (0, 3), textcoords="offset points", fontsize=6)


def _colour(node: Any, risk_of: Mapping[State, Risk]) -> str:
    if isinstance(node, str):
        return {BAD: RED, END: GREEN}.get(node, INK)
    risk = risk_of.get(node)
    estimate = (risk.estimate or 0.0) if risk is not None else 0.0
    return _mixed(BLUE, RED, estimate)


def _mixed(one: str, other: str, share: float) -> str:
    parts = [(int(one[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in parts)


def _named(state: State, between: str = " ") -> str:
    """Return the proposed call and what came before it; the monitors' state is in the table."""
    _, symbols, proposed = state
    before = f"after {', '.join(symbols)}" if symbols else "first"
    return f"{_short(proposed, 30)}{between}{_short(before, 44 if between == ' ' else 30)}"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "\u2026"
