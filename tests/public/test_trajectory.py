"""The trajectory monitor: what it reports, when, and that it says what the formulas mean."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import random
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from sponsio_like import ContractError, Guard, SessionError, contract, trajectory
from sponsio_like.engine import Ledger, judge
from sponsio_like.events import Step
from sponsio_like.logic import formula as f
from sponsio_like.monitor import Judgement
from sponsio_like.trajectory import (
    SPECIFICATIONS,
    F,
    G,
    StepObservation,
    TrajectorySafetyMonitor,
    U,
    X,
    and_,
    atom,
    implies,
    not_,
    or_,
    written,
)
from tests.reference.bridge import translate
from tests.reference.oracle import Trace, holds, kinds, positions, step
from tests.semantics.manifest import requirement

A, B = atom("a"), atom("b")


def watched(**specs: f.Formula) -> TrajectorySafetyMonitor:
    """A monitor of these specifications."""
    return TrajectorySafetyMonitor(specs)


def observed(formula: f.Formula, *steps: Iterable[str]) -> TrajectorySafetyMonitor:
    """A monitor of one specification, after these steps; a text is one atom for each letter."""
    monitor = watched(it=formula)
    for each in steps:
        monitor.observe(set(each))
    return monitor


# --- as it is documented --------------------------------------------------------------------------


def test_a_trajectory_that_keeps_the_built_in_specifications() -> None:
    """Every tool call was verified and every claim grounded: the final report is satisfied."""
    monitor = TrajectorySafetyMonitor()
    monitor.observe(StepObservation(tool_call=True))
    monitor.observe(StepObservation(verification_passed=True))
    monitor.observe(StepObservation(fact_claim=True))
    monitor.observe(StepObservation(evidence_retrieved=True))
    report = monitor.finalize()
    assert report["verdict"] == "satisfied"
    assert report["violations"] == []


@requirement("S-TRAJ-04", "S-TRAJ-06")
def test_a_report_is_a_document_of_names_formulas_and_steps() -> None:
    """The report of a violation, in full; steps are counted from 0."""
    name = "no_output_after_injection"
    monitor = TrajectorySafetyMonitor({name: SPECIFICATIONS[name]})
    for each in (
        StepObservation(tool_call=True),
        StepObservation(verification_passed=True),
        StepObservation(injection_detected=True, output_emitted=True),
    ):
        monitor.observe(each)
    assert monitor.report() == {
        "verdict": "violated",
        "steps": 3,
        "specs": [
            {
                "name": "no_output_after_injection",
                "verdict": "violated",
                "formula": "G ¬(injection_detected ∧ output_emitted)",
                "violated_at_step": 2,
            }
        ],
        "violations": ["no_output_after_injection"],
    }


def test_specifications_of_your_own() -> None:
    """Any named formulas can be watched, and raw sets of names observed."""
    specs = {"never_calls_external_api": G(not_(atom("external_api_call")))}
    monitor = TrajectorySafetyMonitor(specs)
    monitor.observe({"external_api_call"})
    assert monitor.report()["violations"] == ["never_calls_external_api"]


BUILT_IN = {
    "tool_calls_are_verified": (
        "G (tool_call → F verification_passed)",
        [["tool_call"], ["verification_passed"]],
        [["tool_call", "verification_passed"], ["tool_call"]],
    ),
    "handoff_is_coherence_checked": (
        "G (handoff → X coherence_check)",
        [["handoff"], ["coherence_check", "handoff"], ["coherence_check"]],
        [["handoff", "coherence_check"], [], ["coherence_check"]],
    ),
    "no_output_after_injection": (
        "G ¬(injection_detected ∧ output_emitted)",
        [["injection_detected"], ["output_emitted"]],
        [[], ["injection_detected", "output_emitted"]],
    ),
    "fact_claims_are_grounded": (
        "G (fact_claim → F evidence_retrieved)",
        [["fact_claim", "evidence_retrieved"]],
        [["evidence_retrieved"], ["fact_claim"], []],
    ),
}


@requirement("S-TRAJ-02")
def test_the_built_in_specifications_are_four() -> None:
    """They are those of the table, with these formulas."""
    formulas = {name: written(spec) for name, spec in SPECIFICATIONS.items()}
    assert formulas == {name: row[0] for name, row in BUILT_IN.items()}


@requirement("S-TRAJ-02")
@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_specification_is_kept_and_broken(name: str) -> None:
    """Each has a trajectory that keeps it, and one that breaks it alone."""
    _, keeps, breaks = BUILT_IN[name]
    for steps, verdict in ((keeps, "satisfied"), (breaks, "violated")):
        monitor = TrajectorySafetyMonitor()
        for each in steps:
            monitor.observe(StepObservation(**dict.fromkeys(each, True)))
        report = monitor.finalize()
        assert (report["verdict"], report["violations"]) == (
            verdict,
            [] if verdict == "satisfied" else [name],
        )


@requirement("S-TRAJ-01")
def test_flags_are_names() -> None:
    """An observation says the same as the set of the names of its flags."""
    names = {field.name for field in dataclasses.fields(StepObservation)}
    assert StepObservation(**dict.fromkeys(names, True)).names == names
    assert StepObservation().names == frozenset()
    used = {node.name for spec in SPECIFICATIONS.values() for node in f.postorder(spec)
            if isinstance(node, f.Observed)}  # fmt: skip
    assert used == names


# --- verdicts -------------------------------------------------------------------------------------


def verdicts(formula: f.Formula, *steps: str) -> list[str]:
    """The verdict before and after each step, and the final one."""
    monitor = watched(it=formula)
    found = [monitor.report()["verdict"]]
    for each in steps:
        monitor.observe(set(each))
        found.append(monitor.report()["verdict"])
    return [each[0] for each in (*found, monitor.finalize()["verdict"])]


@requirement("S-TRAJ-03")
@pytest.mark.parametrize(
    ("formula", "steps", "expected"),
    [
        (G(A), ["a", "a"], "iiis"),
        (G(A), ["a", "", "a"], "iivvv"),
        (F(A), ["", "a", ""], "iisss"),
        (F(A), ["", ""], "iiiv"),
        (U(A, B), ["a", "ab", ""], "iisss"),
        (U(A, B), ["a", "a"], "iiiv"),
        (U(A, B), ["a", "", "b"], "iivvv"),
        (X(A), ["", "a", ""], "iisss"),
        (X(A), ["a", ""], "iivv"),
        (X(A), ["a"], "iiv"),
        (G(implies(A, F(B))), ["a", "b"], "iiis"),
        (G(implies(A, F(B))), ["b", "a"], "iiiv"),
        (and_(F(A), G(not_(A))), [], "vv"),
        (X(and_(A, X(not_(B)))), ["", "a", "b"], "iiivv"),
        (A, ["a"], "iss"),
        (G(or_(A, B)), [], "is"),
        (F(A), [], "iv"),
    ],
    ids=repr,
)
def test_a_verdict_is_told_as_soon_as_it_is_certain(
    formula: f.Formula, steps: list[str], expected: str
) -> None:
    """Violated and satisfied are told at once and stay; the end decides what is left."""
    if formula is and_(F(A), G(not_(A))):
        with pytest.raises(ContractError, match="can never be kept"):
            watched(it=formula)
        return
    assert "".join(verdicts(formula, *steps)) == expected


@requirement("S-TRAJ-04")
def test_the_report_is_as_bad_as_its_worst_specification() -> None:
    """One violated: violated; else one open: inconclusive; else satisfied."""
    monitor = watched(first=F(A), second=F(B), third=G(not_(atom("c"))))
    found = []
    for each in ("", "a", "b", "c", ""):
        monitor.observe(set(each))
        found.append(monitor.report()["verdict"])
    assert found == ["inconclusive"] * 3 + ["violated"] * 2
    assert monitor.report()["violations"] == ["third"]
    only = watched(first=F(A), second=F(B))
    only.observe({"a", "b"})
    assert only.report()["verdict"] == "satisfied"


@requirement("S-TRAJ-03")
def test_the_first_violation_is_the_one_that_is_reported() -> None:
    """A specification that is broken again keeps the step at which it first was."""
    monitor = observed(G(A), "a", "", "a", "")
    assert monitor.report()["specs"][0]["violated_at_step"] == 1
    assert monitor.finalize()["specs"][0]["violated_at_step"] == 1


@requirement("S-TRAJ-05")
def test_what_the_end_violates_has_no_step() -> None:
    """An obligation that is open at the end is violated, at no step in particular."""
    report = observed(F(A), "", "").finalize()
    assert report["violations"] == ["it"]
    assert report["specs"][0]["violated_at_step"] is None


@requirement("S-TRAJ-05")
def test_the_end_is_the_end() -> None:
    """After `finalize` nothing can be observed, and every report is the final one."""
    monitor = observed(G(A), "a")
    final = monitor.finalize()
    assert monitor.finalize() == monitor.report() == final
    with pytest.raises(SessionError, match="finalized"):
        monitor.observe({"a"})
    final["violations"].append("x")
    final["specs"][0]["verdict"] = "x"
    assert monitor.report()["verdict"] == "satisfied"
    assert "x" not in str(monitor.report())


# --- what is kept, and what is told ---------------------------------------------------------------


@requirement("S-TRAJ-08")
def test_monitors_share_nothing() -> None:
    """What one trajectory does is not seen by the monitor of another."""
    first, second = TrajectorySafetyMonitor(), TrajectorySafetyMonitor()
    first.observe(StepObservation(injection_detected=True, output_emitted=True))
    assert first.report()["verdict"] == "violated"
    report = second.report()
    assert report["verdict"] == "inconclusive"
    assert {each["violated_at_step"] for each in report["specs"]} == {None}
    assert second.finalize()["verdict"] == "satisfied"


@requirement("S-TRAJ-06")
def test_content_is_never_reported() -> None:
    """Whatever is observed, a report has the names and formulas of specifications, and numbers."""
    monitor = observed(G(A), ["a", "account 4711 of ann"], ["ann said hello"])
    for report in (monitor.report(), monitor.finalize()):
        text = json.dumps(report)
        assert "ann" not in text
        assert report.keys() == {"verdict", "steps", "specs", "violations"}
        for each in report["specs"]:
            assert each.keys() == {"name", "verdict", "formula", "violated_at_step"}


def test_what_is_remembered_does_not_grow() -> None:
    """The state of a monitor after thousands of steps is as small as after a few."""
    monitor = TrajectorySafetyMonitor(
        {**SPECIFICATIONS, "more": G(implies(A, F(and_(B, X(U(A, B))))))}
    )
    names = [field.name for field in dataclasses.fields(StepObservation)]
    pick = random.Random(7)
    sizes = []
    for _ in range(1_000):
        monitor.observe({each for each in (*names, "a", "b") if pick.random() < 0.5})
        sizes.append(len(repr(monitor._place.states)))
    assert max(sizes[500:]) <= max(sizes[:500]) + 20


def walked(specs: dict[str, f.Formula], seed: int) -> list[Any]:
    """The reports of one monitor along a random trajectory, also of names that nobody speaks of."""
    monitor, pick = TrajectorySafetyMonitor(specs), random.Random(seed)
    names = ["tool_call", "verification_passed", "handoff", "coherence_check", "c", "d"]
    found = []
    for _ in range(40):
        monitor.observe({each for each in names if pick.random() < 0.3})
        found.append(monitor.report())
    return [*found, monitor.finalize()]


def test_a_step_is_computed_once_for_all_trajectories(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a step does from a state is learned by the first monitor, and looked up by all."""
    specs = {"computed once": G(implies(A, F(B))), "and next": G(implies(B, X(not_(B))))}
    asked: list[Step] = []

    def counted(ledger: Ledger, event: Step, *rest: Any) -> Judgement:
        asked.append(event)
        return judge(ledger, event, *rest)

    monkeypatch.setattr(trajectory, "judge", counted)
    reports = []
    for _ in range(20):
        monitor = TrajectorySafetyMonitor(specs)
        for each in ("ab", "", "b", "b", "a", "", "z") * 30:
            monitor.observe(set(each))
        reports.append(monitor.report())
    assert 5 <= len(asked) <= 16
    assert all(each == reports[0] for each in reports)
    assert reports[0]["violations"] == ["and next"]


def test_what_is_learned_may_be_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for three steps, which are forgotten again and again, all is said as before."""
    for seed in range(5):
        before = walked(dict(SPECIFICATIONS), seed)
        monkeypatch.setattr(trajectory, "MOVES_CAP", 3)
        assert walked(dict(SPECIFICATIONS), seed) == before
        monkeypatch.undo()


def test_states_with_positions_are_not_learned() -> None:
    """A bound in steps is asked of each step anew, and means the same at every position."""
    monitor = watched(soon=G(implies(A, f.Eventually(B, f.Steps(2)))))
    for n, each in enumerate(("a", "", "b", "a", "", "", "")):
        monitor.observe(set(each))
        assert monitor.report()["violations"] == (["soon"] if n > 4 else [])
    assert monitor.report()["specs"][0]["violated_at_step"] == 5
    assert not monitor._place.moves


def test_a_guard_makes_monitors() -> None:
    """`guard.trajectory_monitor()` is a new monitor each time, apart from all sessions."""
    guard = Guard([contract("it").guarantees({"ltl": "G !called(pay)"})])
    first, second = guard.trajectory_monitor(), guard.trajectory_monitor({"it": G(A)})
    first.observe(StepObservation(injection_detected=True, output_emitted=True))
    assert first.report()["violations"] == ["no_output_after_injection"]
    assert [each["name"] for each in second.report()["specs"]] == ["it"]
    assert guard.trajectory_monitor().report()["verdict"] == "inconclusive"


# --- what cannot be watched -----------------------------------------------------------------------

REFUSED: dict[str, tuple[Any, str]] = {
    "nothing": ({}, "no specification"),
    "no formula": ({"it": "G a"}, "specification `it` is no formula"),
    "what is always true": ({"it": G(or_(A, not_(A)))}, "can never be violated"),
    "what is never true": ({"it": and_(A, not_(A))}, "can never be kept"),
    "no atom": ({"it": F(X(f.TRUE))}, "speaks of no atom"),
    "a call": ({"it": G(f.Happens("called", (f.Match(("pay",)),)))}, "speaks of `called"),
    "a fact": ({"it": G(A >> f.Permitted("p"))}, "speaks of `permission"),
    "no name": ({"": G(A)}, "is not the name of a contract"),
    "a name twice": ({"it": G(A), " it": G(B)}, "two contracts are named `it`"),
    "a list": ([("it", G(A))], "specifications have names"),
}


@requirement("S-TRAJ-07")
@pytest.mark.parametrize("what", REFUSED)
def test_what_could_not_be_watched_is_refused(what: str) -> None:
    """A specification that no trajectory breaks or keeps, or steps do not touch, is an error."""
    specs, says = REFUSED[what]
    with pytest.raises(ContractError, match=says):
        TrajectorySafetyMonitor(specs)


@requirement("S-TRAJ-01")
@pytest.mark.parametrize("wrong", ["tool_call", b"a", {"a": True}, {1}, [None], None, 5], ids=repr)
def test_what_is_no_step_is_refused(wrong: Any) -> None:
    """A step is an observation or a set of names; a text is not read as its letters."""
    monitor = watched(it=G(A))
    with pytest.raises(SessionError, match="a step is"):
        monitor.observe(wrong)
    assert monitor.report()["steps"] == 0


def test_an_atom_has_a_name() -> None:
    """An atom without a name, or with one that is no text, could not be observed."""
    for name in ("", 5, None):
        with pytest.raises(ContractError, match="not the name of an atom"):
            atom(name)  # type: ignore[arg-type]


# --- formulas -------------------------------------------------------------------------------------


def test_constructors_simplify() -> None:
    """Equal formulas are one, whatever is said twice in them."""
    assert and_(A, A, B) is and_(A, B)
    assert or_(A, A) is A
    assert and_() is f.TRUE
    assert or_() is f.FALSE
    assert not_(not_(A)) is A
    assert G(G(A)) is G(A)
    assert F(F(A)) is F(A)


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (not_(G(A)), "¬G a"),
        (and_(A, or_(B, A)), "a ∧ (b ∨ a)"),
        (implies(and_(A, B), X(X(A))), "(a ∧ b) → X X a"),
        (U(not_(A), and_(A, B)), "¬a U (a ∧ b)"),
        (G(U(A, U(B, A))), "G (a U (b U a))"),
        (f.Iff(A, B), "a ↔ b"),
    ],
    ids=str,
)
def test_formulas_are_written_as_logicians_do(formula: f.Formula, text: str) -> None:
    """The formula of a report has signs for operators, and as many brackets as are needed."""
    assert written(formula) == text


# --- what formulas mean ---------------------------------------------------------------------------

LETTERS = [frozenset(some) for some in ("", "a", "b", "ab")]


def formulas(size: int) -> Iterator[f.Formula]:
    """Every formula with so many operators over two atoms."""
    if size == 0:
        yield from (A, B)
        return
    for body in formulas(size - 1):
        yield from (make(body) for make in (G, F, X, not_))
    for left in range(size):
        for pair in itertools.product(formulas(left), formulas(size - 1 - left)):
            yield from (make(*pair) for make in (U, and_, implies))


FORMULAS = list(dict.fromkeys(each for size in range(3) for each in formulas(size)))
SEEN, AHEAD = 2, 2
"""How many steps are observed, and how many may follow: no operator here looks further."""


@functools.cache
def trajectories(spoken: frozenset[str]) -> dict[tuple[frozenset[str], ...], Trace]:
    """Every short trajectory, by its steps, for formulas that speak of these kinds."""
    return {
        steps: positions([step(*each) for each in steps], spoken)
        for length in range(SEEN + AHEAD + 1)
        for steps in itertools.product(LETTERS, repeat=length)
    }


def truths(formula: f.Formula) -> dict[tuple[frozenset[str], ...], bool]:
    """Whether it holds, as the definition reads, of every short trajectory."""
    meaning = translate(formula)
    found = trajectories(kinds(meaning))
    return {steps: holds(meaning, trace, 0) for steps, trace in found.items()}


def expected(truth: dict[tuple[frozenset[str], ...], bool], steps: Any) -> str:
    """The verdict after these steps: what all that may follow agree on."""
    follow = {
        truth[(*steps, *more)]
        for length in range(AHEAD + 1)
        for more in itertools.product(LETTERS, repeat=length)
    }
    return "inconclusive" if len(follow) == 2 else "satisfied" if True in follow else "violated"


@pytest.mark.long
def test_every_small_formula_is_watched_as_it_is_defined() -> None:
    """All formulas of G, F, X, U, not, and, implies, on all short trajectories, live and final."""
    means = {f"{n}": (each, truths(each)) for n, each in enumerate(FORMULAS)}
    fine = {}
    for name, (formula, truth) in means.items():
        try:
            TrajectorySafetyMonitor({name: formula})
        except ContractError:
            assert len({true for steps, true in truth.items() if steps}) == 1, formula
        else:
            fine[name] = formula
    assert len(fine) > 0.9 * len(means)
    for steps in itertools.product(LETTERS, repeat=SEEN):
        monitor = TrajectorySafetyMonitor(fine)
        for n, each in enumerate(steps, 1):
            monitor.observe(each)
            for spec in monitor.report()["specs"]:
                formula, truth = means[spec["name"]]
                assert spec["verdict"] == expected(truth, steps[:n]), (formula, steps[:n])
        for spec in monitor.finalize()["specs"]:
            formula, truth = means[spec["name"]]
            assert (spec["verdict"] == "satisfied") == truth[steps], (formula, steps)
