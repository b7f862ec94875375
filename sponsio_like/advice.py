"""What to tell the model whose call was refused: why, and the shortest way to make the call legal.

In: the ledger that refused, and the call. Out: one sentence. The way is found by trying:
breadth-first over the calls that the contracts speak of, each judged like a real one, so
following it makes the call allowed, and nothing shorter does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from sponsio_like.clause import Now
from sponsio_like.context import Context
from sponsio_like.events import Call, Event, Message, Result
from sponsio_like.formula import Happens
from sponsio_like.ledger import Judgement, Ledger
from sponsio_like.outcome import Warn
from sponsio_like.verdicts import Finding, findings, strictest, unreadable

DEPTH_CAP = 5
"""Longest way that is looked for, in calls."""
TRIES_CAP = 2_000
"""Most calls that are tried."""
ANY_OTHER = "\0other"


class Hint(NamedTuple):
    """One call of a way: the tool, and whether it has to succeed (None: it does not matter)."""

    tool: str
    succeeds: bool | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """All that is needed to explain a refusal, later, without holding anything up."""

    ledger: Ledger
    event: Event
    context: Context
    time: float
    found: tuple[Finding, ...]
    _said: list[str] = field(default_factory=list, compare=False, repr=False)

    def explain(self) -> str:
        """One sentence: the contracts, and the shortest continuation that makes the call legal."""
        if not self._said:
            self._said.append(f"{self._why()}; {self._how()}")
        return self._said[0]

    def _why(self) -> str:
        names = [
            f"`{each.violation.contract}` ({each.violation.message})"
            for each in self.found
            if each.violation.mode == "enforce" and not isinstance(each.decision, Warn)
        ]
        what = f"`{self.event.tool}`" if isinstance(self.event, Call) else "this answer"
        return f"{what} was not allowed by {', '.join(names)}"

    def _how(self) -> str:
        if isinstance(self.event, Message):
            return "say it differently"
        way = self.way()
        if way is None:
            return "no calls make it legal in this session"
        return f"to make it legal, first {', then '.join(map(_say, way))}"

    def way(self) -> list[Hint] | None:
        """The shortest calls after which the refused call is allowed.

        None if there are none (within the caps).
        """
        assert isinstance(self.event, Call)
        tools = _spoken_of(self.ledger)
        frontier: list[tuple[Ledger, list[Hint]]] = [(self.ledger, [])]
        tries = 0
        for _ in range(DEPTH_CAP):
            following: list[tuple[Ledger, list[Hint]]] = []
            for ledger, way in frontier:
                for hint, after in self._reachable(ledger, tools):
                    tries += 1
                    if self._judged(after, self.event) is not None:
                        return [*way, hint]
                    if tries > TRIES_CAP:
                        return None
                    following.append((after, [*way, hint]))
            frontier = following
        return None

    def _reachable(self, ledger: Ledger, tools: Sequence[str]) -> Iterator[tuple[Hint, Ledger]]:
        """What every call that is legal now leads to, once it has succeeded or failed."""
        assert isinstance(self.event, Call)
        for tool in tools:
            for args in ({}, self.event.args) if self.event.args else ({},):
                call = replace(self.event, tool=tool, args=args)
                judgement = self._judged(ledger, call)
                if judgement is not None:
                    break
            else:
                continue
            yield from self._settled(ledger, call, judgement)

    def _settled(
        self, ledger: Ledger, call: Call, judgement: Judgement
    ) -> Iterator[tuple[Hint, Ledger]]:
        waits = ledger.waiting(judgement)
        for status in ("ok", "error") if waits else ("ok",):
            after = ledger.copy(change.key for change in judgement.changes)
            after.commit(judgement)
            for change in waits:
                clause = ledger.policy.clauses[change.clause]
                final = clause.results(change.letter, Result(status, None), call.tool)
                after.settle(change, final, Now(self.time, self.context))
            yield Hint(call.tool, status == "ok" if waits else None), after

    def _judged(self, ledger: Ledger, event: Event) -> Judgement | None:
        """The judgement of `event`, if it would be let through."""
        reads = [ledger.read(i, event, self.context) for i in ledger.touched(event)]
        judgement = ledger.judge(event, reads, self.time)
        policy = ledger.policy
        failed = [unreadable(policy, i, event, 0, error) for i, error in judgement.failed]
        found = (*findings(policy, judgement.violated, event, 0), *failed)
        return judgement if strictest(found) is None else None


def _spoken_of(ledger: Ledger) -> list[str]:
    """Every tool that a contract names, and one that none does."""
    names: dict[str, None] = {}
    for clause in ledger.policy.clauses:
        for slot in clause.slots:
            if isinstance(slot.node, Happens):
                names.update((name, None) for match in slot.node.target for name in match.names)
    return [*names, ANY_OTHER]


def _say(hint: Hint) -> str:
    tool = "some other tool" if hint.tool == ANY_OTHER else f"`{hint.tool}`"
    ending = {True: " (it must succeed)", False: " (which has to fail)", None: ""}[hint.succeeds]
    return f"call {tool}{ending}"
