"""Words the advice for a refused event: the reason, and the shortest way to make it legal.

In: the ledger that refused, and the event. Out: one sentence. It never raises, and it never claims
more than was found out: a way is only told if it was tried, and that there is none is only told if
all was tried.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sponsio_like.advice.goals import asked_once
from sponsio_like.advice.withheld import whole_values, withheld, without
from sponsio_like.contracts import filled
from sponsio_like.engine import (
    Clause,
    Finding,
    Ledger,
    left_to_answer,
    missing_fields,
    unread_fields,
    unread_keys,
)
from sponsio_like.errors import ContractError
from sponsio_like.events import Call, Context, Event, Message, Ticket, inputs_of, names_tool
from sponsio_like.logic.formula import (
    Arg,
    Custom,
    Denied,
    Happens,
    Mark,
    Node,
    OutputIs,
    Repeats,
    Sum,
    TextMatches,
    Var,
    postorder,
)
from sponsio_like.monitor import UNBOUND
from sponsio_like.outcome import Decision, Redirect, Warn
from sponsio_like.values import EFFORT_CAP, HEARD, Effort

if TYPE_CHECKING:
    from sponsio_like.advice.answers import Answers, Ending
    from sponsio_like.advice.candidates import Flying
    from sponsio_like.advice.search import FoundWay

SEPARATELY = 2
"""The most repetitions of a step that are written one by one; of more, their number is."""


@dataclass(slots=True)  # not frozen: it is made at each refusal, in half the time
class Refusal:
    """All that is needed to explain a refusal later, outside the decision.

    `instead` is the substitute of a redirected call, which was refused as well; `ticket` that of
    the event; `substitute` returns the call that a redirect makes of it, or why there is none.
    `ends` is True if the run ends with it, `spent` if not all of the event could be searched.
    `unread` says why answers could not be read, by tool.
    """

    ledger: Ledger
    event: Event
    context: Context
    time: float
    found: tuple[Finding, ...]
    flights: tuple[Flying, ...] = ()
    instead: Call | None = None
    ticket: Ticket | None = None
    substitute: Callable[[Redirect], Call | str] = lambda _: ""
    ends: bool = False
    unread: Mapping[str, str] = field(default_factory=dict)
    spent: bool = False
    _said: str = field(default="", compare=False, repr=False)

    def explain(self) -> str:
        """Return one sentence: the contracts, and the shortest way to make the event legal.

        It is worked out once. It never raises.
        """
        if not self._said:
            try:
                with Effort(HEARD * EFFORT_CAP) as effort:
                    how = without(self._how(), self._withheld())
                if effort.spent:
                    how = "what would make it legal takes too long to find out"
            except Exception as error:  # the decision stands, and so does the reason
                how = f"what would make it legal could not be found out ({type(error).__name__})"
            self._said = self._in_words(how)
        return self._said

    def _in_words(self, how: str) -> str:
        """Return the sentence: what contracts say in the guard's language stands first."""
        policy, tool = self.ledger.policy, self.event.tool if isinstance(self.event, Call) else ""
        own = dict[str, str]()
        against = self._against()
        for each in against:
            contract = policy.contracts[policy.owner[each.clause]]
            if text := contract.about.advised(policy.language):
                own[contract.name] = filled(text, tool=tool, contract=contract.name, how=how)
        told = list(own.values())
        if len(own) < len({each.violation.contract for each in against}) or not own:
            told.append(f"{self._why()}; {how}")
        return " ".join(told)

    def _why(self) -> str:
        names = [
            f"`{each.violation.contract}` ({self._witnessed(each)}{self._unread(each)})"
            for each in self._against()
        ]
        what = f"`{self.event.tool}`" if isinstance(self.event, Call) else "this answer"
        return f"{what} was not allowed by {', '.join(names)}"

    def _witnessed(self, found: Finding) -> str:
        """Return what is violated: the demand, its values, and the call since which."""
        violation, hidden, said = found.violation, self._hidden(found), [found.violation.words]
        shown = [
            each for each in whole_values(violation.values, self.event) if each[0] not in hidden
        ]
        if shown:
            fields = _fields(self.ledger.policy.clauses[found.clause], self.event)
            values = [f"{fields(name)} {json.dumps(value)}" for name, value in shown]
            said.append(f"for {' and '.join(values)}")
        if violation.since is not None:
            said.append(f"since call {violation.since}")
        return ", ".join(said)

    def _hidden(self, found: Finding) -> dict[str, Any]:
        clause = self.ledger.policy.clauses[found.clause]
        return withheld(clause, found.violation.values, self.event)

    def _withheld(self) -> dict[str, Any]:
        """Return the values that must not stand in the sentence, by variable."""
        return {name: value for each in self.found for name, value in self._hidden(each).items()}

    def _unread(self, finding: Finding) -> str:
        """Return in words the parts of the call that the contract could not read."""
        if not isinstance(self.event, Call):
            return ""
        clause = self.ledger.policy.clauses[finding.clause]
        said = (
            *unread_keys(clause, self.event),
            *unread_fields(_of_calls(clause), self.event),
            *missing_fields(clause, self.event, self.context),
        )
        return "".join(f"; {each}" for each in dict.fromkeys(said))

    def _answers_unread(self) -> list[str]:
        """Return the reasons why answers could not be read that these contracts ask for."""
        if not self.unread:
            return []
        nodes = list(_read(self.ledger.policy.clauses[each.clause] for each in self._against()))
        if not any(isinstance(node, OutputIs) for node in nodes):
            return []
        asked = [each for node in nodes if isinstance(node, Happens) for each in node.target]
        return [
            f"{why}; ask `{tool}` for less at once"
            for tool, why in self.unread.items()
            if any(names_tool(match, tool) for match in asked)
        ]

    def _against(self) -> list[Finding]:
        approved = self.ticket is not None and self.ticket.status == "approved"
        found = left_to_answer(self.found, self.ticket if approved else None)
        enforced = [each for each in found if each.violation.mode == "enforce"]
        return [each for each in enforced if not isinstance(each.decision, Warn)]

    def _how(self) -> str:
        from sponsio_like.advice.ground import grounded  # only a refusal needs the search
        from sponsio_like.advice.search import way_to
        from sponsio_like.advice.trial import Scenario

        if self.ends:
            return "this is final, and the run ends here"
        if self.spent:
            return "not all of it can be searched for all contracts at once: give less text"
        if blind := self._answers_unread():
            return "; ".join(blind)
        bound = [each for each in self._against() if each.clause in self.ledger.stores]
        if any(each.key is None or UNBOUND in each.key for each in bound):
            return "give the fields that the contract reads, each as a plain value"
        try:
            ledger = grounded(self.ledger, self.event, {each.clause: each.key for each in bound})
        except ContractError:  # lists and long texts are no part of a sentence
            return "what would make it legal has not been found out for such a value"
        clauses = ledger.policy.clauses
        if isinstance(self.event, Message) and any(
            isinstance(each, TextMatches)
            for each in _read(clauses[each.clause] for each in self._against())
        ):
            return "say it differently"
        scene = Scenario(ledger, self.context, self.time)
        now = isinstance(self.event, Call) and self.event.time == self.time and not bound
        refused_by = {each.violation.contract for each in self.found} if now else None
        found = way_to(scene, self.event, self.flights, self._answers(), refused_by)
        if found.way is not None and (found.way or not bound):
            return _told(found.way, found.ending)
        if bound:
            return "no short way to make it legal was found"
        against = [clauses[i] for i in found.against]
        if found.certain and any(map(_counts_refusals, against)):
            return "this is final: do not try it again"
        none = _none(found, with_args=any(map(_splits, against)))
        return "; ".join([none, *dict.fromkeys(_dates(_read(against), self.time))])

    def _answers(self) -> Answers:
        """Return the known answers of contracts to the event."""
        from sponsio_like.advice.answers import Answers

        rulings: dict[str, Decision] = {}
        for each in self.found:  # what was found against a substitute comes last
            rulings.setdefault(each.violation.contract, each.decision)
        known = () if self.instead is None else (self.instead,)
        return Answers(rulings, self.ticket, self.substitute, known)


@asked_once
def _nodes(clause: Clause) -> tuple[Node, ...]:
    """Return every node that the clause reads."""
    return tuple(node for slot in clause.slots for node in postorder(slot.node))


@asked_once
def _of_calls(clause: Clause) -> tuple[Node, ...]:
    """Return those that may read arguments of a call."""
    read = Happens | Sum | Arg | Mark | Custom
    return tuple(node for node in _nodes(clause) if isinstance(node, read))


@asked_once
def _counts_refusals(clause: Clause) -> bool:
    """True if the clause reads how many calls were refused."""
    return any(isinstance(node, Denied) for node in _nodes(clause))


@asked_once
def _splits(clause: Clause) -> bool:
    """True if other arguments may make a difference to the clause."""
    return bool(set(clause.by) - {"@agent"}) or any(map(_of_args, _nodes(clause)))


def _read(clauses: Iterable[Clause]) -> Iterator[Node]:
    """Yield every node that these clauses read."""
    return itertools.chain.from_iterable(map(_nodes, clauses))


def _dates(nodes: Iterable[Node], now: float) -> Iterator[str]:
    """Yield the dates that a field must have, for each test of a date."""
    for node in nodes:
        match node:
            case Custom("arg_dated", (path, *bounds)):
                last, coming = (each if isinstance(each, (int, float)) else 0 for each in bounds)
                first, end = _day(now - last), _day(now + coming)
                if first and end:
                    yield f"`{path}` must be a date from {first} to {end}, written so"


def _day(seconds: float) -> str:
    """Return a day of UTC by the seconds since 1970; empty if no calendar has it."""
    try:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return ""


def _of_args(node: Node) -> bool:
    """True if the node reads the arguments of a call."""
    match node:
        case Happens(_, target):
            return any(match.conditions for match in target)
        case Custom():
            return not inputs_of(node)  # neither results nor facts
    return isinstance(node, Arg | Sum | Repeats)


def _fields(clause: Clause, event: Event) -> Callable[[str], str]:
    """Return a function that names a variable by the event's field for it, else by `$name`."""
    tool = event.tool if isinstance(event, Call) else ""
    found = {
        condition.value.name: f"`{condition.path}`"
        for node in postorder(clause.rule.formula)
        if isinstance(node, Happens)
        for match in node.target
        if names_tool(match, tool)
        for condition in match.conditions
        if isinstance(condition.value, Var) and condition.path[0] not in "@*"
    }
    return lambda name: found.get(name, f"${name} =")


def _told(way: tuple[str, ...], ending: Ending) -> str:
    """Return the way in words; long runs of one step are counted."""
    from sponsio_like.advice.answers import approval

    who = approval(ending.people)
    last = [f"{who} it"] if who else []
    last += [f"`{ending.instead}` runs instead of it"] if ending.instead else []
    if not way:
        return f"by now {', and '.join(last) or 'it is legal'}: try again"
    steps: list[str] = []
    for step, run in itertools.groupby(way):
        times = len(list(run))
        steps += [f"{step} {times} times"] if times > SEPARATELY else [step] * times
    then = f", then {', and '.join(last)}" if last else ""
    return f"to make it legal, first {', then '.join(steps)}{then}"


def _none(found: FoundWay, *, with_args: bool) -> str:
    if found.raised:
        return "what would make it legal cannot be told, since a contract could not be evaluated"
    if not found.certain:
        return "no short way to make it legal was found"
    where = "with these arguments" if with_args else "in this session"
    return f"no calls make it legal {where}" + (f", but {found.fits}" if found.fits else "")


def load_search() -> None:
    """Import the search for a way, so that no refusal has to: it takes some milliseconds, once."""
    import sponsio_like.advice.ground
    import sponsio_like.advice.search
    import sponsio_like.advice.trial  # noqa: F401
