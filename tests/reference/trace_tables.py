"""The tables of docs/semantics.md: what formulas and terms are worth along example traces.

In: examples, below. Out: Markdown between `<!-- table: name -->` and `<!-- /table -->`. Every cell
is made by the oracle; `tests/semantics/test_operators.py` asks the engine for each of them.
`python -m tests.project.pages --write` puts the tables into the docs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from sponsio_like.syntax import read, read_term
from tests.reference import bridge, oracle
from tests.reference.oracle_runs import Report, run, would_violate
from tests.support import notation

PLACE = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- /table -->)", re.DOTALL)


@dataclass(frozen=True)
class Truth:
    """Whether each formula holds at each position of the trace."""

    trace: str
    rows: tuple[str, ...]


@dataclass(frozen=True)
class Worth:
    """The value of each term at each position of the trace."""

    trace: str
    rows: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """What is said of one formula at each event of a trace."""

    formula: str
    trace: str
    enforced: bool = False


@dataclass(frozen=True)
class Said:
    """Several cases."""

    cases: tuple[Case, ...]


Table: TypeAlias = Truth | Worth | Said

A, B, BOB = "called(a)", "called(b)", 'agent = "bob"'
TABLES: dict[str, Table] = {
    "in-flight": Said(
        (
            Case("G(called(pay) -> Y O done(check))", "pay check? pay ok:check pay", enforced=True),
            Case("G(called(pay) -> Y O done(check))", "check? error:check pay", enforced=True),
            Case("G(done(pay) -> X F done(tell))", "pay? - ok:pay tell? ok:tell", enforced=True),
            Case("G(called(pay) -> !failed(pay))", "pay? - error:pay -", enforced=True),
        )
    ),
    "terms": Worth(
        "a - a b - a",
        ("count(a)", "count(a since b)", "count[<=3](a)", "since(a)", "since(b)", "age(b)"),
    ),
    "windows": Worth(
        "pay(n=5) +30s pay(n=2) +30s - +1s pay(n=1)",
        ("count[<=60s](pay)", "sum(pay, n)", "sum[<=60s](pay, n)", "age(pay)", "repeats(pay)"),
    ),
    "connectives": Truth(
        "a@bob b@bob a -",
        (A, BOB, f"!{A}", f"{A} & {BOB}", f"{A} | {BOB}", f"{A} -> {BOB}", f"{A} <-> {BOB}"),
    ),
    "next": Truth("a - a b", (A, f"X {A}", f"WX {A}", f"X !{A}", f"WX !{A}")),
    "eventually": Truth("- a - a -", (A, f"F {A}", f"X F {A}", f"G !{A}", f"G({A} -> F {A})")),
    "until": Truth(
        "a a b - a - a", (f"{A} U {B}", f"{A} W {B}", f"{B} R {A}", f"{B} R ({A} | {B})")
    ),
    "bounded-future": Truth(
        "- - - a -", (f"F[<=0] {A}", f"F[<=1] {A}", f"F[<=2] {A}", f"G[<=1] !{A}", f"X F[<=1] {A}")
    ),
    "timed-future": Truth(
        "- +5s - +10s a +5s -", (f"F[<=5s] {A}", f"F[<=10s] {A}", f"G[<=5s] !{A}")
    ),
    "yesterday": Truth("a - a b", (A, f"Y {A}", f"WY {A}", f"Y !{A}", f"WY !{A}")),
    "once": Truth("- a - a -", (A, f"O {A}", f"Y O {A}", f"H !{A}", f"H({A} | H !{A})")),
    "since": Truth("a b a a - a", (f"{A} S {B}", f"!{A} S {B}", f"{A} S {A}", f"Y(!{A} S {B})")),
    "bounded-past": Truth(
        "a - +5s - +1s -",
        (
            f"O[<=1] {A}",
            f"O[<=2] {A}",
            f"H[<=1] !{A}",
            f"O[<=5s] {A}",
            f"O[<=7s] {A}",
            f"H[<=6s] !{A}",
        ),
    ),
    "verdicts": Said(
        (
            Case(f"G({A} -> X F {B})", "a - b a"),
            Case(f"G({A} -> X F[<=1] {B})", "a - - b"),
            Case(f"F {A}", "- a -"),
            Case(f"!{B} W {A}", "- b a b"),
            Case(f"X {A} | X X {A}", "- - - -"),
            Case(f"G(called(c) -> X {A} & X {B})", "- c - c"),
            Case(f"G({A} -> F {B} & G !{B})", "- a -"),
            Case(f"G({A} -> F[<=5s] {B})", "a +4s b a +9s -"),
        )
    ),
}


# --- traces -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Word:
    """One word of a trace, and the time at which it happens."""

    text: str
    time: float


def words(trace: str) -> list[Word]:
    """The words of a trace: one second apart, unless a pause says otherwise."""
    found: list[Word] = []
    wait = 1.0
    for text in notation.split(trace, " "):
        if pause := notation.TIME.fullmatch(text):
            wait = float(pause[1])
            continue
        found.append(Word(text, found[-1].time + wait if found else 0.0))
        wait = 1.0
    return found


def happened(word: Word, before: list[oracle.Event], formula: oracle.Formula) -> list[oracle.Event]:
    """The events that a word stands for, after those before it."""
    if result := re.fullmatch(r"(ok|error):(\w+)", word.text):
        settled = {event.of for event in before if event.kind == "settle"}
        of = next(
            n
            for n, event in enumerate(before)
            if event.kind == "call" and event.name == result[2] and n not in settled
        )
        return [oracle.settle(of, "done" if result[1] == "ok" else "failed", time=word.time)]
    (event, *_) = notation.events(word.text)
    subjects = {"arg": event["args"], "agent": event.get("agent", "agent")}
    true, _ = bridge.facts(formula, subjects)
    call = oracle.call(event["tool"], *true, time=word.time, **event["args"])
    if word.text.endswith("?"):
        return [call]
    status = "done" if event["status"] == "ok" else "failed"
    return [call, oracle.settle(len(before), status, time=word.time)]


def positions(trace: str, formula: oracle.Formula) -> oracle.Trace:
    """The trace as the oracle sees it."""
    events: list[oracle.Event] = []
    for word in words(trace):
        events += happened(word, events, formula)
    return oracle.positions(events, frozenset({"call"}))


# --- cells --------------------------------------------------------------------------------------


def truth(row: str, trace: str) -> list[bool]:
    """Whether the formula holds at each position."""
    formula = bridge.translate(read(row))
    seen = positions(trace, formula)
    return [oracle.holds(formula, seen, i) for i in range(len(seen))]


def worth(row: str, trace: str) -> list[float]:
    """What the term is worth at each position."""
    term = bridge._term(read_term(row), ())
    seen = positions(trace, term)
    return [oracle.value(term, seen, i, seen[i].decided) for i in range(len(seen))]


@dataclass(frozen=True)
class Saying:
    """What is said at one word, with a sign as in `tests/support/play.py`, and the verdict after
    it.

    `unfulfilled`: whether something would be if the session ended there.
    """

    sign: str
    verdict: str
    unfulfilled: bool


def said(case: Case) -> list[Saying]:
    """What is said at each word."""
    formula = bridge.translate(read(case.formula))
    events: list[oracle.Event] = []
    out: list[Saying] = []
    for word in words(case.trace):
        new = happened(word, events, formula)
        if case.enforced and new[0].kind == "call" and would_violate(formula, events, new[0]):
            sign, new = "x", []
        else:
            sign = _sign(run(formula, [*events, *new]).reports, len(events), new[0].kind)
        events += new
        found = run(formula, events)
        out.append(Saying(sign, found.verdicts[-1], bool(found.unfulfilled)))
    return out


def _sign(reports: Sequence[Report], moment: int, kind: str) -> str:
    due = [report for report in reports if report.moment >= moment]
    late = "t" if any(report.expired for report in due) else ""
    if all(report.expired for report in due):
        return late + "."
    return late + ("r" if kind == "settle" else "w")


# --- Markdown -----------------------------------------------------------------------------------

SIGNS = {".": "", "x": "blocked", "w": "violated", "r": "revealed", "t.": "time ran out"}


def rendered(table: Table) -> str:
    """The table as Markdown."""
    match table:
        case Truth(trace, rows):
            cells = [["T" if cell else "." for cell in truth(row, trace)] for row in rows]
            return _markdown("", trace, list(zip(map(_code, rows), cells, strict=True)))
        case Worth(trace, rows):
            values = [[_number(cell) for cell in worth(row, trace)] for row in rows]
            return _markdown("", trace, list(zip(map(_code, rows), values, strict=True)))
        case Said(cases):
            return "\n".join(map(_case, cases))


def _case(case: Case) -> str:
    found = said(case)
    rows = [("verdict", [saying.verdict for saying in found])]
    if any(saying.sign != "." for saying in found):
        rows.append(("what is said", [SIGNS[saying.sign] for saying in found]))
    if any(saying.unfulfilled for saying in found):
        rows.append(("if it ended here", ["unfulfilled" if s.unfulfilled else "" for s in found]))
    return _markdown(_code(case.formula), case.trace, rows)


def _markdown(corner: str, trace: str, rows: list[tuple[str, list[str]]]) -> str:
    steps = words(trace)
    timed = "+" in trace
    heads = [_code(word.text) + (f" {word.time:g}s" if timed else "") for word in steps]
    lines = [
        [corner, *heads],
        ["---"] * (len(steps) + 1),
        *([label, *cells] for label, cells in rows),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _number(value: float) -> str:
    return "∞" if value == inf else f"{value:g}"


def filled(text: str) -> str:
    """The text with all tables as they should be."""
    return PLACE.sub(lambda place: f"{place[1]}\n{rendered(TABLES[place[2]])}\n{place[3]}", text)


def places(text: str) -> list[str]:
    """The names of the tables that the text has."""
    return [place[2] for place in PLACE.finditer(text)]
