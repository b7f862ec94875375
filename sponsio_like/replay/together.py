"""Shows conflicts and redundancies of pairs of contracts, each with the shortest trace for it.

In: contracts. Out: `PairFindings`: findings as problems, each with a trace that was played, and how
much was compared. A claim about every trace is proven (`checks/together.py`); that some
trace leads into a trap is shown by that trace.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sponsio_like.checks import PAIRS_CAP, Claim, compared
from sponsio_like.contracts import Contract, Inventory, Rule, contract_place
from sponsio_like.errors import Problem
from sponsio_like.logic import looks_ahead
from sponsio_like.logic.formula import conj
from sponsio_like.outcome import Mode
from sponsio_like.replay.letters import STRANGERS, Letter, letters_of
from sponsio_like.replay.replay import Replay, TraceVerdict
from sponsio_like.replay.shortest import Events, judge_events, notation
from sponsio_like.terminal import counted

TRACES = 800
"""The most traces that are played for one claim."""
LENGTH = 6
"""The most events of a trace that is tried."""
JOINT = "both together"

Shows = Callable[[TraceVerdict], bool]


@dataclass(frozen=True, slots=True)
class PairFinding:
    """A claim, and a trace that shows it; None if none was found among those that were tried."""

    claim: Claim
    trace: Events | None

    @property
    def problem(self) -> Problem:
        """The finding in words, at the place of the second contract."""
        claim = self.claim
        first, second = f"`{claim.first.name}`", f"`{claim.second.name}`"
        shown = "no short trace shows it" if self.trace is None else f"`{notation(self.trace)}`"
        said = [
            each.format(first=first, second=second, tool=claim.tool, trace=shown)
            for each in _WORDS[claim.kind]
        ]
        return Problem(said[0], contract_place(claim.second), said[1])

    def as_json(self) -> dict[str, Any]:
        """Return the finding, for programs."""
        claim, tool = self.claim, {"tool": self.claim.tool} if self.claim.tool else {}
        names = [claim.first.name, claim.second.name]
        trace = None if self.trace is None else notation(self.trace)
        return {"kind": claim.kind, "contracts": names, **tool, "trace": trace}


_WORDS = {
    "conflict": (
        "{first} and {second} can never both be kept: {trace} keeps only the first",
        "correct one of them",
    ),
    "trap": (
        "after {trace}, which both let through, {first} and {second} can no longer both be kept",
        "correct one of them, or forbid what leads there",
    ),
    "forbidden": (
        "{first} and {second} together forbid `{tool}` for good: {trace} keeps one of them alone",
        "correct one of them, or forbid the tool by itself",
    ),
    "same": ("{second} demands the same as {first}: {trace} breaks both", "leave one out"),
    "implied": (
        "{second} demands nothing that {first} does not: {trace} breaks both",
        "leave {second} out, or demand more",
    ),
    "idle": (
        "{second} is asked only where {first} is broken: {trace} breaks {first}",
        "leave one out, or correct it",
    ),
}


@dataclass(frozen=True, slots=True)
class PairFindings:
    """The findings about contracts. `pairs` were compared, and for `undecided` the budget ended.

    `left`: contracts that were not compared, because of values, scopes or assumptions.
    """

    findings: tuple[PairFinding, ...]
    pairs: int
    undecided: int
    left: int

    @property
    def limits(self) -> list[str]:
        """The lines that say what was not compared."""
        lines = []
        if self.undecided:
            pairs = counted(self.undecided, "pair")
            lines.append(
                f"{pairs} of contracts not compared to the end: the budget ended (--pairs N)"
            )
        if self.left and self.pairs:
            many = counted(self.left, "contract")
            lines.append(f"{many} not compared with others (values, scopes, assumptions)")
        return lines


def found_together(
    contracts: Sequence[Contract],
    mode: Mode = "enforce",
    inventory: Inventory | None = None,
    pairs: int = PAIRS_CAP,
) -> PairFindings:
    """Return the conflicts and redundancies of at most so many `pairs` of contracts."""
    tools = None if inventory is None else inventory.names
    result = compared(contracts, mode, tools, pairs)
    found: list[PairFinding] = []
    for claim in result.claims:
        finding = _with_trace(claim)
        if finding is not None and finding.problem not in [each.problem for each in found]:
            found.append(finding)
    return PairFindings(tuple(found), result.pairs, result.undecided, result.left)


def _with_trace(claim: Claim) -> PairFinding | None:
    """Return the claim with its trace; None for a trap into which no trace was found to lead."""
    match claim.kind:
        case "trap":
            trace = _trap(claim)
            return None if trace is None else PairFinding(claim, trace)
        case "forbidden":
            trace = _trap(claim)
            if trace is not None:  # both let it through, and cannot be kept then
                return PairFinding(replace(claim, kind="trap", tool=""), trace)
            return PairFinding(claim, _forbidden(claim))
        case "conflict":
            return _conflict(claim)
        case "idle":
            return PairFinding(claim, _shortest(claim, _triggers_broken(claim)))
    trace = _shortest(
        claim, lambda judged: _broken(judged) >= {claim.first.name, claim.second.name}
    )
    return PairFinding(claim, trace)


def _triggers_broken(claim: Claim) -> Shows:
    """Return the test for a trace to which the second contract applies and that breaks
    the first.
    """
    first, second = claim.first.name, claim.second.name
    return lambda judged: first in _broken(judged) and judged.applied.get(second, 0) > 0


def _conflict(claim: Claim) -> PairFinding:
    """Return the finding; the contract that its trace keeps is the first one of the claim."""
    first, second = claim.first.name, claim.second.name
    for one, other, swapped in ((first, second, False), (second, first, True)):
        found = _shortest(claim, lambda judged, one=one, other=other: _broken(judged) == {other})  # type: ignore[misc]
        if found is not None:
            turned = replace(claim, first=claim.second, second=claim.first)
            return PairFinding(turned if swapped else claim, found)
    return PairFinding(claim, None)


def _forbidden(claim: Claim) -> Events | None:
    """Return the shortest trace that calls the tool, and keeps one of the contracts alone."""
    both = {claim.first.name, claim.second.name}

    def shows(judged: TraceVerdict) -> bool:
        return len(both & _violated(judged)) == 1

    return _shortest(claim, shows, last=claim.tool)


def _trap(claim: Claim) -> Events | None:
    """Return the shortest trace that breaks neither contract and has no continuation
    that keeps both.
    """
    rules = (*claim.first.rules, *claim.second.rules)
    ahead = any(looks_ahead(rule.formula) for rule in rules)
    if (
        claim.steps > LENGTH
        or not ahead
        or claim.first.assumption is not None
        or claim.second.assumption is not None
    ):
        return None
    both = Contract(JOINT, (Rule(conj(*(rule.formula for rule in rules))),))

    def shows(judged: TraceVerdict) -> bool:
        return _violated(judged) == {JOINT}

    return _shortest(claim, shows, beside=(both,))


def _broken(judged: TraceVerdict) -> set[str]:
    return _violated(judged) | {each.contract for each in judged.unfulfilled}


def _violated(judged: TraceVerdict) -> set[str]:
    return {each.contract for each in judged.violations}


# --- trying ---------------------------------------------------------------------------------------


def _shortest(
    claim: Claim, shows: Shows, last: str = "", beside: tuple[Contract, ...] = ()
) -> Events | None:
    """Return the shortest trace for which `shows` holds; `last`: the tool that is called last.

    A trace that has violated both contracts, or one of `beside`, is not extended.
    """
    replay = Replay((claim.first, claim.second, *beside))
    letters = _letters(claim)
    level: list[Events] = [()]
    played = 0
    while level:
        following: list[Events] = []
        for word in ((*start, letter) for start in level for letter in letters):
            if word[-1].get("type") == "fact":
                following.append(word)
                continue
            played += 1
            if played > TRACES or len(word) > LENGTH:
                return None
            judged = judge_events(replay, word)
            if (not last or word[-1].get("tool") == last) and shows(judged):
                return word
            if len(_violated(judged)) < (1 if beside else 2):
                following.append(word)
        level = following
    return None


def _letters(claim: Claim) -> list[Letter]:
    """Return the events of both contracts, without tools that neither names; waits come last."""
    one, other = letters_of(claim.first), letters_of(claim.second)
    found = {repr(each): each for each in (*one, *other) if each.get("tool") not in STRANGERS}
    return sorted(found.values(), key=lambda each: "wait" in each)
