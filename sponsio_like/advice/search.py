"""Searches for the shortest way to make a refused event legal, by trying moves.

In: the state that refused it. Out: the moves that have to come first, in words; or that there is no
such way, and whether that is certain. Three rounds: with calls, results and messages alone; with
waiting as well; with facts as well, which only the host can state. Where contracts ask people, or
have substitutes, these are obstacles in a first round with calls alone, and are none in the rounds
after it. Each round first takes moves that reach what the clauses still demand, then looks breadth
first for anything shorter. Every way that is found has been tried: following it makes the event
allowed.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from sponsio_like.advice.answers import Answering, Answers, Ending, may_be_lenient
from sponsio_like.advice.candidates import Candidates, Flying, Kind, Obstacles
from sponsio_like.advice.caps import Cap, lessened, used_up
from sponsio_like.advice.goals import (
    WHOLE,
    by_context,
    enumerable,
    goals,
    key_of_state,
    memoryless,
    waits_for_results,
)
from sponsio_like.advice.moves import MakeEvent, PassTime, StateFact, argument_of
from sponsio_like.advice.trial import Scenario, Trial
from sponsio_like.events import Event
from sponsio_like.monitor import ClauseState, PositionCounts
from sponsio_like.outcome import Block, Redirect, Stop

STRAIGHT, SEARCH = 600, 400
"""The most judgements of a clause in each round: of the direct, and of the shorter search."""
ROUNDS: tuple[Kind, ...] = ("calls", "waits", "facts")
NESTING = 4
"""The most levels of calls that need other calls first, in the direct search."""


class FoundWay(NamedTuple):
    """The result of a search: the moves in words (None if none were found), and the ending.

    `certain`: no way exists. `raised`: an atom of the user could not be asked. `against`: the
    clauses that stop the event. `fits`: an argument that would be legal, in words.
    """

    way: tuple[str, ...] | None
    ending: Ending = Ending()
    certain: bool = False
    raised: bool = False
    against: tuple[int, ...] = ()
    fits: str = ""


def way_to(
    scene: Scenario,
    event: Event,
    flights: Iterable[Flying],
    answers: Answers,
    refused_by: Container[str] | None = None,
) -> FoundWay:
    """Return the shortest way to make `event` legal.

    `refused_by`: the contracts that have just refused it in this very state; None: not known.
    """
    policy, flying = scene.ledger.policy, tuple(flights)
    asks = may_be_lenient(policy, answers.rulings)

    def quest(*, lenient: bool) -> WaySearch:
        trial = Trial(Answering(policy, event, answers, asks=asks, lenient=lenient), STRAIGHT)
        return WaySearch(Candidates(trial, scene, event, flying), refused_by)

    if not asks:
        return quest(lenient=False).found(ROUNDS)
    found = quest(lenient=False).found(ROUNDS[:1])
    return found if found.way is not None else quest(lenient=True).found(ROUNDS)


class WaySearch:
    """A search in rounds. `exhausted` is True if the last round tried everything."""

    def __init__(self, choices: Candidates, refused_by: Container[str] | None) -> None:
        self.choices = choices
        self.refused_by = refused_by
        self.trial = choices.trial
        self.clauses = choices.clauses
        self.exhausted = False
        self._keys: dict[Any, tuple[ClauseState, Any]] = {}

    def found(self, rounds: Iterable[Kind]) -> FoundWay:
        """Return the shortest way that these rounds find."""
        trial, scene, stopped = self.trial, self.choices.start, self._stopped()
        instead = None if stopped else self._instead(scene)
        against = tuple(stopped if instead is None else instead.standing)
        if not against:
            return FoundWay((), trial.ending(scene))
        redirects = None if instead is None else instead.instead
        if redirects is None or self._is_for_good(redirects):
            stays = self._is_for_good if redirects is None else self._lasts
            lasting = [i for i in against if stays(i)]
            if lasting and not trial.raised:
                certain = not all(map(trial.answering.unsure, lasting))
                return FoundWay(None, certain=certain, against=against, fits=self._fitting(lasting))
            if any(memoryless(self.clauses[i]) for i in against):
                rounds = [kind for kind in rounds if kind == "facts"]
        first, certain = instead or self._standing(scene, self.choices.event, {}, stopped), True
        for kind in rounds:
            best = self.best(first, kind)
            if best is not None:
                return FoundWay(best.way, trial.ending(best))
            certain = certain and self.exhausted
        certain = certain and trial.exact and not trial.raised
        return FoundWay(None, certain=certain, raised=trial.raised, against=against)

    # --- obstacles that are final ---------------------------------------------------------------

    def _lasts(self, i: int) -> bool:
        """True if clause `i` says the same of the event for ever."""
        return memoryless(self.clauses[i]) and not by_context(self.clauses[i])

    def _is_for_good(self, i: int) -> bool:
        """True if clause `i`, which stops the event, does so for ever."""
        read = self.trial.read(i, self.choices.event, self.choices.start.context)
        lacks = read is not None and read.key is None  # an argument that the clause needs
        return (
            lacks
            or self._lasts(i)
            or self._used_up(i) is not None
            or (self._refuses(i) and self.choices.until(self.choices.start, i) == math.inf)
        )

    def _refuses(self, i: int) -> bool:
        """True if nobody can let the event pass where clause `i` is violated."""
        return isinstance(self.trial.policy.decision(i), Block | Stop | Redirect)

    def _used_up(self, i: int) -> Cap | None:
        """Return the cap of clause `i` that the event exceeds for ever; None if there is none."""
        scene, event = self.choices.start, self.choices.event
        counts = self._refuses(i) and not self._lasts(i)
        read = self.trial.read(i, event, scene.context) if counts else None
        if read is None:
            return None
        clause, (state, at) = self.clauses[i], (scene.ledger.states[i], scene.ledger.next(i))
        if clause.by:
            state, seen = scene.ledger.keyed[i].get(read.key, (clause.start, 0))
            at = PositionCounts(seen, seen)
        return used_up(clause, state, read.letter, at, scene.time)

    def _fitting(self, lasting: Iterable[int]) -> str:
        """Return in words the smaller argument that would be legal at once; empty if none would."""
        scene, event = self.choices.start, self.choices.event
        own = [i for i in lasting if not self.clauses[i].contract.on_world]
        caps = [cap for i in own if (cap := self._used_up(i)) is not None]
        for cap in sorted(caps, key=lambda each: each.room):
            less = lessened(event, cap)
            if less is not None and not self.trial.judged(scene, less)[1]:
                path = argument_of(cap.path)
                article = "an" if path[0] in "aeiou" else "a"
                return f"{article} `{path}` of at most {cap.room.normalize():f} would fit"
        return ""

    # --- rounds ---------------------------------------------------------------------------------

    def best(self, first: Obstacles, kind: Kind) -> Scenario | None:
        """Return the shortest scene found in which the event is allowed; None if none was."""
        choices = self.choices
        choices.known |= first.standing.keys()
        self.trial.left = STRAIGHT
        choices.learn(kind)
        new = {"waits": PassTime, "facts": StateFact}.get(kind, object)
        if not any(isinstance(move, new) for move in choices.moves):
            self.exhausted = all(enumerable(self.clauses[i]) for i in choices.known)
            return None
        best = self._straight(choices.start, choices.event, NESTING, first)
        self.trial.left = SEARCH
        while True:
            most = len(best.way) if best is not None else math.inf
            if best is None or choices.least(first) < most:
                best = self._shorter(first, most) or best
            if self.trial.left <= 0 or not choices.learn(kind):
                return best

    # --- obstacles of an event ------------------------------------------------------------------

    def _stopped(self) -> list[int]:
        """Return the clauses that stop the event at the start.

        Clauses of contracts that have just let it pass are not judged again; those that read the
        context are, since the refusal may have changed it.
        """
        scene, event, policy = self.choices.start, self.choices.event, self.trial.policy
        only = None
        if self.refused_by is not None:
            only = {
                i
                for i in scene.ledger.touched(event)
                if policy.contracts[policy.owner[i]].name in self.refused_by
                or by_context(self.clauses[i])
            }
        return self.trial.judged(scene, event, only)[1]

    def look(self, scene: Scenario, event: Event, before: Obstacles | None = None) -> Obstacles:
        """Return what stops `event` in a scene.

        Clauses that have not changed since the look `before` are not judged again.
        """
        if before is not None and before.instead is not None:
            before = None
        same = {} if before is None else self._unchanged(scene, event, before)
        only = None if before is None else set(scene.ledger.touched(event)) - same.keys()
        return self._standing(scene, event, same, self.trial.judged(scene, event, only)[1])

    def _standing(
        self,
        scene: Scenario,
        event: Event,
        same: Mapping[int, frozenset[int]],
        stopped: Iterable[int],
    ) -> Obstacles:
        """Return the same, where these clauses stop the event, besides those known to be so."""
        standing = {i: found for i, found in same.items() if found}
        standing.update((i, self._goals(scene, event, i)) for i in stopped)
        if not standing and event is self.choices.event:
            return self._instead(scene)
        return Obstacles(scene, standing)

    def _instead(self, scene: Scenario) -> Obstacles:
        """Return the look at an event that no clause stops: its substitute may be stopped."""
        found = self.trial.redirected(scene)
        if found is None:
            return Obstacles(scene, {})
        i, safe = found
        self.trial.refusers.add(i)
        _, stopped = self.trial.judged(scene, safe, final=True)
        return Obstacles(scene, {k: self._goals(scene, safe, k) for k in stopped}, i)

    def _unchanged(
        self, scene: Scenario, event: Event, before: Obstacles
    ) -> dict[int, frozenset[int]]:
        old = before.scene
        if scene.time != old.time or scene.context is not old.context:
            return {}
        return {
            i: before.standing.get(i, frozenset())
            for i in scene.ledger.touched(event)
            if self.choices.is_steady(i)
            and not self.clauses[i].by
            and scene.ledger.states[i] is old.ledger.states[i]
        }

    def _goals(self, scene: Scenario, event: Event, i: int) -> frozenset[int]:
        clause, read = self.clauses[i], self.trial.read(i, event, scene.context)
        if read is None or clause.by:
            return frozenset({WHOLE})
        at = scene.ledger.next(i)
        return goals(clause, scene.ledger.states[i], read.letter, at, scene.time)

    # --- searching ------------------------------------------------------------------------------

    def _straight(
        self, scene: Scenario, event: Event, nesting: int, first: Obstacles | None = None
    ) -> Scenario | None:
        """Return a scene that is reached by moves that each reach a goal; None if there is none.

        It is quick, and not always the shortest way. `first`: what stops the event in this scene.
        """
        look = first or (self.look(scene, event) if self.trial.left > 0 else None)
        while look is not None and look.standing:
            look = self._nearer(look, event, nesting) if self.trial.left > 0 else None
        return None if look is None else look.scene

    def _nearer(self, look: Obstacles, event: Event, nesting: int) -> Obstacles | None:
        """Return the look after some move that reaches a goal; None if none does.

        If no move does at once, the events that a move itself needs are tried first.
        """
        loose = any(self.choices.is_loose(i, look.scene) for i in look.standing)
        each = [
            self.choices.bearing(i, goal) for i, found in look.standing.items() for goal in found
        ]
        near = sorted(frozenset().union(*each))
        if loose:  # any other move may do it as well
            near += [k for k in range(len(self.choices.moves)) if k not in near]
        for deep in (False, True) if nesting else (False,):
            for move in (self.choices.moves[k] for k in near):
                start: Scenario | None = look.scene
                if deep and isinstance(move, MakeEvent):
                    start = self._straight(look.scene, move.event, nesting - 1)
                if start is None or (deep and start is look.scene):
                    continue
                for after in self.trial.after(start, move, self.choices.known):
                    found = self.look(after, event, look)
                    if found.open < look.open:
                        return found
        return None

    def _shorter(self, first: Obstacles, most: float) -> Scenario | None:
        """Return a scene of less than `most` moves, found breadth first; None if there is none."""
        level, seen = [first], {self._key(first.scene)}
        while level and self.trial.left > 0:
            following: list[Obstacles] = []
            for look in level:
                for after in self._following(look.scene):
                    key = self._key(after)
                    if key in seen:
                        continue
                    seen.add(key)
                    found = self.look(after, self.choices.event, look)
                    if not found.standing:
                        return after
                    if len(after.way) + self.choices.least(found) < most:
                        following.append(found)
                    self.trial.refusers.update(found.standing)
            level = following
        known = all(enumerable(self.clauses[i]) for i in self.choices.known)
        self.exhausted = known and not level and self.trial.left > 0
        return None

    def _following(self, scene: Scenario) -> Iterator[Scenario]:
        for move in self.choices.moves:
            yield from self.trial.after(scene, move, self.choices.known)

    def _key(self, scene: Scenario) -> Any:
        """Return a key that is equal for scenes that the known clauses cannot tell apart."""
        self.trial.left -= 1
        ledger = scene.ledger
        told = [
            scene.context.facts.get(each.key)
            for each in self.choices.moves
            if isinstance(each, StateFact)
        ]
        out: list[Any] = [scene.time, repr(told)]
        for i in sorted(self.choices.known):
            if self.clauses[i].by:
                for key, (state, n) in ledger.keyed[i].items():
                    out.append((key, self._key_of(i, state, PositionCounts(n - 1, n - 1))))
            else:
                out.append(self._key_of(i, ledger.states[i], ledger.last(i)))
        return tuple(out)

    def _key_of(self, i: int, state: ClauseState, last: PositionCounts) -> Any:
        name = (
            i,
            id(state),
            None if self.choices.is_steady(i) and not waits_for_results(state) else last,
        )
        if name not in self._keys:
            self._keys[name] = (state, key_of_state(self.clauses[i], state, last))
        return self._keys[name][1]
