"""What to tell the model whose call was refused: why, and the shortest way to make the call legal.

In: the ledger that refused, and the call. Out: one sentence. It never raises, and it never says
more than was found out: a way has been tried, and that there is none is said where everything
has been.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sponsio_like.atoms import inputs_of
from sponsio_like.context import Context
from sponsio_like.events import Call, Event, Message
from sponsio_like.formula import Arg, Custom, Happens, Node, Repeats, Sum, TextMatches, postorder
from sponsio_like.ledger import Ledger
from sponsio_like.outcome import Warn
from sponsio_like.verdicts import Finding

if TYPE_CHECKING:
    from sponsio_like.choices import Flying
    from sponsio_like.ways import Found

SEPARATELY = 2
"""So often the same step is said in full; beyond, how often."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """All that is needed to explain a refusal, later, without holding anything up.

    `meant`: what has to be allowed, if it is not the event: of a redirected call, its substitute.
    """

    ledger: Ledger
    event: Event
    context: Context
    time: float
    found: tuple[Finding, ...]
    flights: tuple[Flying, ...] = ()
    meant: Event | None = None
    _said: list[str] = field(default_factory=list, compare=False, repr=False)

    def explain(self) -> str:
        """One sentence: the contracts, and the shortest continuation that makes the call legal."""
        if not self._said:
            try:
                how = self._how()
            except Exception as error:  # the decision stands, and so does the reason
                how = f"what would make it legal could not be found out ({type(error).__name__})"
            self._said.append(f"{self._why()}; {how}")
        return self._said[0]

    def _why(self) -> str:
        names = [
            f"`{each.violation.contract}` ({each.violation.message})" for each in self._against()
        ]
        what = f"`{self.event.tool}`" if isinstance(self.event, Call) else "this answer"
        return f"{what} was not allowed by {', '.join(names)}"

    def _against(self) -> list[Finding]:
        enforced = [each for each in self.found if each.violation.mode == "enforce"]
        return [each for each in enforced if not isinstance(each.decision, Warn)]

    def _how(self) -> str:
        from sponsio_like.supposing import Scene  # the search is only needed by who is refused
        from sponsio_like.ways import way_to

        nodes = list(self._read())
        if isinstance(self.event, Message) and any(isinstance(each, TextMatches) for each in nodes):
            return "say it differently"
        scene = Scene(self.ledger, self.context, self.time)
        found = way_to(scene, self.meant or self.event, self.flights)
        if found.way is not None:
            return _told(found.way)
        policy = self.ledger.policy
        split = any(set(policy.clauses[each.clause].by) - {"@agent"} for each in self._against())
        return _none(found, with_args=split or any(map(_of_args, nodes)))

    def _read(self) -> Iterator[Node]:
        """Everything that the clauses read that stand against it."""
        for each in self._against():
            for slot in self.ledger.policy.clauses[each.clause].slots:
                yield from postorder(slot.node)


def _of_args(node: Node) -> bool:
    """Whether it reads the arguments of a call."""
    match node:
        case Happens(_, target):
            return any(match.conditions for match in target)
        case Custom():
            return not inputs_of(node)  # neither results nor facts
    return isinstance(node, Arg | Sum | Repeats)


def _told(way: tuple[str, ...]) -> str:
    """The way, in words; long runs of one step are counted."""
    if not way:
        return "by now it is legal: try again"
    steps: list[str] = []
    for step, run in itertools.groupby(way):
        times = len(list(run))
        steps += [f"{step} {times} times"] if times > SEPARATELY else [step] * times
    return f"to make it legal, first {', then '.join(steps)}"


def _none(found: Found, *, with_args: bool) -> str:
    if found.raised:
        return "what would make it legal cannot be told, since a contract could not be evaluated"
    if not found.certain:
        return "no short way to make it legal was found"
    where = "with these arguments" if with_args else "in this session"
    return f"no calls make it legal {where}"
