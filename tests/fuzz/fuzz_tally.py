"""What a campaign has tried: counts of everything, a histogram, and the shares that it must have.

In: formulas, traces, and what was said of them. Out: lines for people; the shares that are missed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import sponsio_like.logic.formula as f
from tests.fuzz.fuzz_cases import FUTURE, PAST, TERMS, mixed
from tests.fuzz.fuzz_judge import Said
from tests.fuzz.fuzz_traces import Event

LENGTH = 2
"""So long are the continuations that are written out."""
LATE = "late: beyond the limits of the search, or several bounds in seconds"
MIXED = "past and future, the outermost G set aside"
WANTED: dict[tuple[str, str], float] = {
    ("start", "inconclusive"): 0.8,  # neither tautology nor contradiction
    ("trait", MIXED): 0.3,
    ("trait", "bounds in steps"): 0.10,
    ("trait", "bounds in seconds"): 0.08,
    ("trait", "counts, sums, distances"): 0.15,
    ("trace", "with a failed call"): 0.3,
    ("trace", "with a late result"): 0.05,
    ("trace", "with a call in flight at the end"): 0.1,
    ("trace", "with messages or plain steps"): 0.05,
    ("trace", "with facts"): 0.01,
    ("trace", "with time that passes unevenly"): 0.5,
    ("verdict", "violated"): 0.2,
    ("verdict", "inconclusive"): 0.2,
    ("verdict", "satisfied"): 0.02,
}
"""The shares that a campaign must have at least: of formulas, or of traces."""
LATE_AT_MOST = 0.01
"""The share of formulas, and of traces, on which the engine may be late."""
ENOUGH = 2_000
"""So many pairs have the wanted shares."""


@dataclass
class Tally:
    """What was tried, and what came of it."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, kind: str, *names: str) -> None:
        """Count one thing of each name."""
        self.counts.update((kind, name) for name in names)

    def merge(self, other: Tally) -> None:
        """Take over what another one has counted."""
        self.counts.update(other.counts)
        self.failures += other.failures

    def of(self, kind: str) -> dict[str, int]:
        """All counts of one kind, the greatest first."""
        found = {name: n for (each, name), n in self.counts.items() if each == kind}
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    @property
    def pairs(self) -> int:
        """How many pairs were compared."""
        return self.counts["pairs", "compared"]


def missed(tally: Tally) -> Iterator[str]:
    """The wanted shares that were not reached."""
    if tally.pairs < ENOUGH:
        return
    wholes = {
        "start": sum(tally.of("start").values()),
        "trait": tally.of("formulas").get("compared", 0),
    }
    for (kind, name), wanted in WANTED.items():
        found = tally.counts[kind, name] / wholes.get(kind, tally.pairs)
        if found < wanted:
            yield f"only {found:.1%} {name}; wanted: {wanted:.0%}"
    for kind, whole in (("formulas", wholes["start"]), ("trace", tally.pairs)):
        if tally.counts[kind, LATE] > LATE_AT_MOST * whole:
            yield f"{tally.counts[kind, LATE]} {kind} {LATE}; at most {LATE_AT_MOST:.0%} may be"


# --- what was tried -------------------------------------------------------------------------------


def describe(tally: Tally, formula: f.Formula) -> None:
    """Count what a formula is made of."""
    nodes = list(f.postorder(formula))
    tally.add("formulas", "compared")
    tally.add("operator", *{operator(node) for node in nodes})
    tally.add("depth", f"{depth(formula):2}")
    past, ahead = (any(isinstance(n, kinds) for n in nodes) for kinds in (PAST, FUTURE))
    seconds = has_bound(nodes, f.Seconds) or any(isinstance(node, f.Age) for node in nodes)
    traits = {
        "past and future": past and ahead,
        MIXED: mixed(formula),
        "bounds in steps": has_bound(nodes, f.Steps),
        "bounds in seconds": seconds,
        "counts, sums, distances": any(isinstance(node, TERMS) for node in nodes),
    }
    tally.add("trait", *(name for name, has in traits.items() if has))


def operator(node: f.Node) -> str:
    """What a node is called in the histogram."""
    name = node.what if isinstance(node, f.Happens) else type(node).__name__
    conditioned = isinstance(node, f.Happens) and any(m.conditions or m.agent for m in node.target)
    bound = getattr(node, "bound", None)
    return f"{name}{' if' if conditioned else ''}{f' {type(bound).__name__}' if bound else ''}"


def has_bound(nodes: Sequence[f.Node], kind: type) -> bool:
    """Whether one of them has a bound of this kind."""
    return any(isinstance(getattr(node, "bound", None), kind) for node in nodes)


def depth(node: f.Node) -> int:
    """How deep a formula is nested."""
    return 1 + max((depth(below) for below in f.children(node)), default=0)


def describe_trace(tally: Tally, events: Sequence[Event], said: Said) -> None:
    """Count what was in a trace, and what came of it."""
    reports = sum(map(len, said.reports))
    kinds = {event["type"] for event in events}
    told = [event for event in events if event["type"] not in ("fact", "refused")]
    settled = [event["id"] for event in events if event["type"] == "result"]
    calls = [i for i, event in enumerate(events) if event["type"] == "call"]
    late = [i for i in calls if events[i]["id"] in settled and not follows(events, i)]
    traits = {
        "with a failed call": any(event.get("status") == "error" for event in events),
        "with a late result": bool(late),
        "with a call in flight at the end": any(events[i]["id"] not in settled for i in calls),
        "with messages or plain steps": bool({"message", "step"} & kinds),
        "with facts": "fact" in kinds,
        "with calls that were refused": "refused" in kinds,
        "with time that passes unevenly": len({event["time"] for event in events}) > 2,
        "with a result that reveals": any(
            found and event["type"] == "result"
            for event, found in zip(told, said.reports, strict=True)
        ),
        "unfulfilled at the end": said.unfulfilled,
    }
    tally.add("trace", *(name for name, has in traits.items() if has))
    tally.add("verdict", said.verdicts[-1])
    tally.add("reports", f"{reports:2}" if reports < 10 else "10+")
    tally.add("events", f"{len(events):2}")


def follows(events: Sequence[Event], i: int) -> bool:
    """Whether the next event is the result of the call."""
    following = events[i + 1] if i + 1 < len(events) else {}
    return following.get("type") == "result" and following["id"] == events[i]["id"]


# --- for people -----------------------------------------------------------------------------------


def lines(tally: Tally) -> Iterator[str]:
    """The histogram, for people."""
    formulas, pairs = tally.of("formulas").get("compared", 0), tally.pairs
    started = sum(tally.of("start").values())
    yield f"{pairs:,} pairs of {formulas:,} formulas, {tally.counts['pairs', 'disagree']} disagree"
    by_hand = f"verdicts held against all continuations of {LENGTH} positions, written out"
    sections = [
        ("formulas, before any event", "start", started),
        ("formulas", "formulas", sum(tally.of("formulas").values())),
        ("formulas with", "trait", formulas),
        ("formulas with the operator", "operator", formulas),
        ("formulas of depth", "depth", formulas),
        ("traces", "trace", pairs),
        ("traces with the final verdict", "verdict", pairs),
        ("traces with so many reports", "reports", pairs),
        ("traces with so many events", "events", pairs),
        (by_hand, "written out", sum(tally.of("written out").values())),
    ]
    for title, kind, whole in sections:
        found = tally.of(kind)
        names = sorted(found) if kind in ("depth", "reports", "events") else list(found)
        yield f"\n{title}"
        yield from (f"  {found[name] / whole:7.1%} {found[name]:9,}  {name}" for name in names)
