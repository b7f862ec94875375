"""Decides which violations are obstacles to an event, from the strategies that answer them.

In: a policy, and the known answers to the refused event. Out: True if a violation is an obstacle.
`lenient`: a violation that a person may approve, or that a substitute answers, is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from sponsio_like.engine import Finding, Policy, findings_of, holding, left_to_answer, strictest
from sponsio_like.events import Call, Event, Ticket
from sponsio_like.monitor import Witness
from sponsio_like.outcome import Ask, Decision, Escalate, Redirect, Warn

Roles: TypeAlias = tuple[str, ...]
CLOSED = ("denied", "expired", "revoked")


class Ending(NamedTuple):
    """The end of a way: the roles that have to approve, and the tool that runs instead."""

    people: tuple[Roles, ...] = ()
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Answers:
    """The known answers to the refused event. `ticket` is its own, if it has one.

    `rulings` are decisions of callables of the user, by contract; `substitute` returns the call
    that a redirect makes of it, or why there is none; `known` are such calls that were tried.
    """

    rulings: Mapping[str, Decision] = field(default_factory=dict)
    ticket: Ticket | None = None
    substitute: Callable[[Redirect], Call | str] = lambda _: ""
    known: tuple[Call, ...] = ()


class Answering:
    """The answers of a policy to the refused `event`, and to others on the way to it.

    `asks`: some contract asks people, or has a substitute.
    """

    def __init__(
        self, policy: Policy, event: Event, answers: Answers, *, asks: bool, lenient: bool
    ) -> None:
        self.policy = policy
        self.event = event
        self.asks = asks
        self.lenient = lenient
        self.answers = answers
        self._substitutes: dict[Redirect, Call | str] = {}

    def matters(self, i: int) -> bool:
        """True if a violation of clause `i` does more than warn."""
        enforced = self.policy.modes[self.policy.owner[i]] == "enforce"
        return enforced and not isinstance(self.policy.decision(i), Warn)

    def unsure(self, i: int) -> bool:
        """True if a callable of the user decides for clause `i`, so that the answer may vary."""
        return isinstance(self.policy.decision(i), Ask)

    def stops(self, i: int, event: Event, *, final: bool = False) -> bool:
        """True if a violation of clause `i` stops `event`; `final`: it is a substitute."""
        if not self.matters(i):
            return False
        mine = event is self.event
        match self._decision(i, event):
            case Warn():
                return False
            case Escalate(roles) if mine and self._approved(i, roles):
                return False
            case Escalate() if not final:
                return not self.lenient or (mine and self._closed)
            case Redirect() as answer if mine and self.lenient:
                return not isinstance(self._instead(answer), Call)
        return True

    def ending(self, violated: Iterable[int], event: Event) -> Ending:
        """Return who has to approve `event` if it violates these clauses, and what runs instead."""
        if not self.asks:
            return Ending()
        left = self._found(violated, event)
        if event is self.event:
            left = left_to_answer(left, self._ticket("approved"))
        people = tuple(dict.fromkeys(answer.roles for _, answer in holding(left)))
        named = tuple(roles for roles in people if roles)  # they may answer for anyone
        safe = self.redirected(violated) if event is self.event else None
        return Ending(named or people, "" if safe is None else safe.tool)

    def redirected(self, violated: Iterable[int]) -> Call | None:
        """Return the call that runs instead of the refused event; None if none does.

        It is assumed to violate these clauses, and to be approved where people are asked.
        """
        found = self._found(violated, self.event)
        answer = strictest(each for each in found if not isinstance(each.decision, Escalate))
        safe = self._instead(answer) if isinstance(answer, Redirect) else ""
        return safe if isinstance(safe, Call) else None

    def redirects(self, i: int) -> bool:
        """True if clause `i` may answer the refused event with a substitute."""
        return self.lenient and isinstance(self._decision(i, self.event), Redirect)

    # --- what is known ------------------------------------------------------------------------

    def _decision(self, i: int, event: Event) -> Decision:
        """Return the decision of clause `i`; for a callable, the decision that it has made."""
        decision = self.policy.decision(i)
        if isinstance(decision, Ask) and event is self.event:
            return self.answers.rulings.get(self._name(i), decision)
        return decision

    def _found(self, violated: Iterable[int], event: Event) -> tuple[Finding, ...]:
        rulings = self.answers.rulings if event is self.event else {}
        return findings_of(self.policy, dict.fromkeys(violated, Witness()), event, 0, rulings)

    def _name(self, i: int) -> str:
        return self.policy.contracts[self.policy.owner[i]].name

    def _instead(self, answer: Redirect) -> Call | str:
        if answer not in self._substitutes:
            call = isinstance(self.event, Call)
            self._substitutes[answer] = self.answers.substitute(answer) if call else ""
        return self._substitutes[answer]

    def _ticket(self, *status: str) -> Ticket | None:
        """Return the ticket of the refused event if it has this status; else None."""
        ticket = self.answers.ticket
        return ticket if ticket is not None and ticket.status in status else None

    @property
    def _closed(self) -> bool:
        """True if the refused event can no longer be approved by anybody."""
        return self._ticket(*CLOSED) is not None

    def _approved(self, i: int, roles: Roles) -> bool:
        ticket = self._ticket("approved")
        asked = () if ticket is None else ticket.asked
        return (self._name(i), roles) in [(each.contract, each.roles) for each in asked]


def may_be_lenient(policy: Policy, rulings: Mapping[str, Decision]) -> bool:
    """True if an enforced contract asks people, or has a substitute."""
    pairs = zip(policy.owner, policy.clauses, strict=True)
    known = {
        type(policy.contracts[owner].answer or clause.rule.answer)
        for owner, clause in pairs
        if policy.modes[owner] == "enforce"
    }
    return not {Escalate, Redirect}.isdisjoint([*known, *map(type, rulings.values())])


def approval(people: Iterable[Roles]) -> str:
    """Return in words who has to approve; empty if nobody has to."""
    named = [" or ".join(f"`{role}`" for role in roles) or "person" for roles in people]
    who = ", and ".join(f"a {each}" for each in named)
    return f"{who} {'has' if len(named) == 1 else 'have'} to approve" if who else ""
