"""Agentic security: content from outside is checked before the agent acts upon it.

Each function is a pattern; `contracts/declaration.py` tells what its arguments and decorator mean.
"""

from __future__ import annotations

from sponsio_like.contracts import (
    Accept,
    Counts,
    Tools,
    calls_of_any,
    confirmed,
    counted_calls,
    default,
    dependent_calls,
    pattern,
    whenever,
    worked,
)
from sponsio_like.logic.formula import Always, Count, Delivered, Formula, Last, Match, Target, disj
from sponsio_like.patterns.phrasings import PHRASINGS

REVIEW = default("review")
CONFIRM = default("confirm")


@pattern(
    "agentic",
    "content from `{source}` requires review",
    says=PHRASINGS["untrusted_source_gate"],
    keeps=("", "send", "web review=ok send send", "web web review=ok send", "web review web"),
    breaks=(
        "web send",
        "web! send",
        "web review send",
        "web review=FAILED send",
        "web review! send",
        "web? review=ok ok:web send",
        "web review=ok web send",
        "web review? send",
    ),
    example={"source": "web"},
)
def untrusted_source_gate(
    source: Tools,
    gate: Tools = REVIEW,
    sinks: Tools | None = None,
    accept: Accept | None = None,
    counts: Counts = "done",
) -> Formula:
    """Once a result of `source` has arrived, `sinks` need a yes of a `gate` called after it.

    A failure brings content too. What is a yes, and `accept`, are as in `must_confirm`. `sinks` are
    all tools but `source` and `gate`, unless named.
    """
    return _gated(source, confirmed(gate, accept, counts), _sinks(sinks, source, gate))


@pattern(
    "agentic",
    "confirmation required after reading from `{source}`",
    says=PHRASINGS["confirm_after_source"],
    keeps=("", "send", "web confirm=true send send", "web web confirm=yes send"),
    breaks=(
        "web send",
        "web confirm send",
        "web confirm=false send",
        "web? confirm=yes ok:web send",
    ),
    example={"source": "web"},
)
def confirm_after_source(
    source: Tools,
    by: Tools = CONFIRM,
    sinks: Tools | None = None,
    accept: Accept | None = None,
    counts: Counts = "done",
) -> Formula:
    """Once a result of `source` has arrived, `sinks` need a confirmation called for after it.

    What confirms, and `accept`, are as in `must_confirm`. `sinks` are all tools but `source` and
    `by`, unless named.
    """
    return _gated(source, confirmed(by, accept, counts), _sinks(sinks, source, by))


@pattern(
    "agentic",
    "`{source}` must pass `{sanitizer}` before `{sink}`",
    says=PHRASINGS["sanitized_before_sink"],
    keeps=("", "write", "input sanitize write write", "input other"),
    breaks=("input write", "input! write", "input sanitize input write", "input sanitize! write"),
    example={"source": "input", "sanitizer": "sanitize", "sink": "write"},
)
def sanitized_before_sink(
    source: Tools, sanitizer: Tools, sink: Tools, counts: Counts = "done"
) -> Formula:
    """Once a result of `source` has arrived, `sink` needs a `sanitizer` called after it."""
    return _gated(source, worked(sanitizer, counts), disj(*dependent_calls(sink, sanitizer)))


@pattern(
    "agentic",
    "`{action}` at most once per session",
    says=PHRASINGS["irreversible_once"],
    keeps=("", "post", "other post other"),
    breaks=("post post", "post! post", "post? post"),
    example={"action": "post"},
)
def irreversible_once(action: Tools, counts: Counts = "called") -> Formula:
    """`action` is tried once: what failed may have done its work."""
    return whenever(action, Count(counted_calls(action, counts)) <= 1)


def _sinks(sinks: Target | None, *others: Target) -> Formula:
    if sinks is not None:
        return disj(*dependent_calls(sinks, others[-1]))
    found = calls_of_any((Match(),))
    for other in others:
        found = found & ~calls_of_any(other)
    return found


def _gated(source: Target, passed: Formula, sink: Formula) -> Formula:
    """Return the formula that at `sink` no result of `source` came after the latest `passed`."""
    results = Delivered(source)
    return Always(sink >> (results.equals(0) | results.equals(Last(results, passed))))
