"""A trajectory watched by its steps: names of what happened, and four specifications.

Nothing is stopped here: a monitor says, at the step where it is certain, which specification is
violated. Its report has formulas, names and step numbers, never content.

$ python examples/trajectory.py
handoff -> inconclusive
tool_call -> violated handoff_is_coherence_checked
verification_passed -> violated handoff_is_coherence_checked
fact_claim -> violated handoff_is_coherence_checked
satisfied: G (tool_call → F verification_passed)
violated at 1: G (handoff → X coherence_check)
satisfied: G ¬(injection_detected ∧ output_emitted)
violated at the end: G (fact_claim → F evidence_retrieved)
"""

from sponsio_like.trajectory import TrajectorySafetyMonitor

monitor = TrajectorySafetyMonitor()
for names in (["handoff"], ["tool_call"], ["verification_passed"], ["fact_claim"]):
    monitor.observe(set(names))
    known = monitor.report()
    print(*names, "->", known["verdict"], *known["violations"])

for spec in monitor.finalize()["specs"]:
    step = spec["violated_at_step"]
    when = (
        "" if spec["verdict"] == "satisfied" else " at the end" if step is None else f" at {step}"
    )
    print(f"{spec['verdict']}{when}: {spec['formula']}")
