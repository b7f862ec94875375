"""Terms that look back, in the engine and by the oracle: on all short traces they say the same.

Calls in flight, failures, and results that arrive in any order; facts and approvals told in
between, while time passes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import inf

import pytest

from sponsio_like.syntax import read
from tests.fuzz.fuzz_judge import Judged
from tests.fuzz.fuzz_traces import Event
from tests.reference.tables import TERMS, table
from tests.reference.walk import walk

NARROW = [f for f in TERMS if len(table(f).nodes) < 60]
"""Of these, all traces that are one event longer as well."""


@pytest.mark.parametrize("n", range(len(NARROW)))
def test_terms_agree_on_longer_traces(n: int) -> None:
    """After every event, a formula of terms says what the oracle says."""
    assert [str(each) for each in itertools.islice(walk(table(NARROW[n], 1)), 1)] == []


# --- what the host tells, and what calls carry ----------------------------------------------------

APPROVAL = {"action": "pay", "role": "boss", "by": "x"}
NOBODY = {"action": "pay", "role": "boss"}
AHEAD = NOBODY | {"by": "y", "decision": "approve", "time": 62}
LETTERS: dict[str, Event] = {
    "a": {"type": "call", "tool": "a"},
    "a@bob": {"type": "call", "tool": "a", "agent": "bob"},
    "a(n=1)": {"type": "call", "tool": "a", "args": {"n": 1}},
    "a(n=2)": {"type": "call", "tool": "a", "args": {"n": 2.0}},
    "a(n=no)": {"type": "call", "tool": "a", "args": {"n": "no"}},
    "b": {"type": "call", "tool": "b"},
    "b(n=2)": {"type": "call", "tool": "b", "args": {"n": 2}},
    "told": {"type": "fact", "key": "stage", "value": 1},
    "other": {"type": "fact", "key": "mood", "value": 1},
    "approved": {"type": "fact", "key": "approval", "value": APPROVAL | {"decision": "approve"}},
    "refused": {"type": "fact", "key": "approval", "value": APPROVAL | {"decision": "refuse"}},
    "withdrawn": {"type": "fact", "key": "approval", "value": NOBODY | {"revoked": True}},
    "ahead": {"type": "fact", "key": "approval", "value": AHEAD},
    "said": {"type": "message", "role": "assistant", "text": "yes"},
    "ok": {"type": "result", "status": "ok", "output": "yes"},
    "failed": {"type": "result", "status": "error", "output": "no"},
}


def traces(letters: str, length: int, gaps: tuple[float, ...]) -> Iterator[list[Event]]:
    """All traces of that length; a result is of any call in flight."""
    trace: list[Event] = []

    def longer() -> Iterator[list[Event]]:
        if len(trace) == length:
            yield list(trace)
            return
        now = trace[-1]["time"] if trace else 0.0
        for letter, gap in itertools.product(letters.split(), gaps):
            event = LETTERS[letter] | {"time": now + gap}
            for id in flying(trace) if event["type"] == "result" else [str(len(trace))]:
                trace.append({"args": {}} | event | {"id": id})
                yield from longer()
                trace.pop()

    yield from longer()


def flying(trace: list[Event]) -> list[str]:
    """The calls that have no result yet."""
    settled = {each["id"] for each in trace if each["type"] == "result"}
    calls = [each["id"] for each in trace if each["type"] == "call"]
    return [id for id in calls if id not in settled]


@pytest.mark.long
@pytest.mark.parametrize(
    ("formula", "letters", "gaps"),
    [
        ('G(called(a) -> fact_age("stage") <= 2)', "a told other", (1.0, 2.0)),
        ('G(called(a) -> X F[<=2] (fact_age("stage") < 3))', "a told", (1.0, 2.0)),
        ('G(called(b) -> Y(fact_age("stage") < 2))', "a b told", (1.0,)),
        ('G(called(b) -> last(fact_age("stage"), done(a)) <= 1)', "a b told ok failed", (1.0,)),
        ('G(called(a) -> approval_age("pay", "boss") <= 2)', "a approved refused", (1.0, 2.0)),
        ('G(called(a) -> !(approval_age("pay", "boss") > 2))', "a approved", (1.0, 2.0)),
        ('G(called(a) -> approval_age("pay", "boss") <= 9)', "a approved ahead withdrawn", (1.0,)),
        (
            'G(called(a) -> !(approval_age("pay", "boss") > 9))',
            "a approved ahead withdrawn",
            (1.0,),
        ),
        ("G(called(b) -> delivered(called(a, n > 1)) < 1)", "a(n=1) a(n=2) a(n=no) b ok", (1.0,)),
        ('G(called(b) -> delivered(called(a, @agent = "bob")) = 0)', "a a@bob b ok", (1.0,)),
        ("G(called(b) -> !(delivered(a) = last(delivered(a), called(b))))", "a b said ok", (1.0,)),
        ("G(message(assistant) -> X(delivered(called(a)) > 0))", "a said ok failed", (1.0,)),
        ("G(called(b) -> mark(n) = last(mark(n), called(a)))", "a a(n=1) a(n=2) b(n=2)", (1.0,)),
        (
            "G(called(b) -> mark(*) = last(mark(*), called(a) & !failed(a)))",
            "a(n=2) b(n=2) failed",
            (1.0,),
        ),
        ("G(called(b) -> arg(n) <= last(arg(n), done(a)))", "a(n=2) a(n=no) b(n=2) ok", (1.0,)),
    ],
    ids=str,
)
def test_what_is_told_and_carried_agrees(
    formula: str, letters: str, gaps: tuple[float, ...]
) -> None:
    """Ages of facts and approvals, results of some calls, and marks are those of the oracle."""
    judged = Judged(read(formula), inf)
    reported = set()
    for trace in traces(letters, 4, gaps):
        engine, oracle = judged.both(trace)
        assert engine == oracle, trace
        reported.add(any(engine.reports))
    assert reported == {True, False}
