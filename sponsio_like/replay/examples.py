"""Plays the traces of a user's pattern when it is declared: does it mean what its author thinks?

In: a declared pattern. Out: nothing, or the trace that is said to keep it and breaks it, or the
other way round.
"""

from __future__ import annotations

from sponsio_like.contracts import Pattern, contract, read_steps
from sponsio_like.errors import ContractError
from sponsio_like.replay.replay import Replay
from sponsio_like.replay.shortest import judge_events


def check_examples(pattern: Pattern) -> None:
    """Raise `ContractError` if a trace of the declaration is not judged as it says."""
    rule = contract(pattern.name).guarantees(pattern.rule(pattern.example))
    for texts, kept in ((pattern.keeps, True), (pattern.breaks, False)):
        for text in texts:
            events = read_steps(text) if text else []
            if judge_events(Replay([rule]), events).clean == kept:
                continue
            said, found = ("keep", "breaks") if kept else ("break", "keeps")
            raise ContractError.of(
                f"pattern `{pattern.name}`: the trace `{text}` is to {said} it, and {found} it "
                f"with {dict(pattern.example)}",
                "correct the trace, or the pattern",
            )
