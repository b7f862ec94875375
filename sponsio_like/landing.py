"""A call has its result: it is in flight no more.

Flow: id, result -> what that reveals. INVARIANT: no lock is held while code of the user runs.
"""

from __future__ import annotations

from typing import TypeAlias

from sponsio_like.events import Result
from sponsio_like.flights import Flight
from sponsio_like.interceptor import Interceptor
from sponsio_like.lasting import StoreFailed
from sponsio_like.outcome import Violation
from sponsio_like.passing import Held
from sponsio_like.perceiving import finals
from sponsio_like.settling import Results, apart, settle_all
from sponsio_like.verdicts import lost, reported
from sponsio_like.watch import Change, Now, Witness

Waits: TypeAlias = tuple[Change, ...]
Late: TypeAlias = list[Violation]


def land(inner: Interceptor, id: str) -> Flight | None:
    """Take the call out of the air, to `settle` it; None if it is not in flight."""
    with Held(inner):
        flight = inner.flights.pop(id, None)
        inner.landing += flight is not None
        return flight


def settle(inner: Interceptor, id: str, flight: Flight, result: Result) -> tuple[Violation, ...]:
    """The call has its result. What that reveals, and what time has."""
    late: list[Violation] = []
    while True:
        with Held(inner):
            waits = inner.waits(flight)
        results = finals(inner.policy, waits, result, flight.tool)
        now = inner.now()
        try:
            with Held(inner):
                bad = _settled(inner, (id, flight), waits, results, now, late)
        except StoreFailed as error:
            with Held(inner):
                inner.flights.setdefault(id, flight)
                inner.landing -= 1
            why = f"the result of `{flight.tool}` is not kept, settle it again: {error}"
            return (*late, lost(inner.policy, flight.position, flight.tool, why))
        if bad is not None:
            return (*late, *reported(inner.policy, bad, flight.position, flight.tool))


def _settled(
    inner: Interceptor,
    landed: tuple[str, Flight],
    waits: Waits,
    results: Results,
    now: float,
    late: Late,
) -> dict[int, Witness] | None:
    """The clauses that a result shows to be violated; None if others have to read it."""
    id, flight = landed
    with inner.world.open():
        if inner.waits(flight) != waits:
            return None
        context = inner.context.arrived(flight.sources)
        late += inner.expire(now, context)
        present = Now(inner.time, context)
        world, mine = apart(inner.ledger, results)
        bad = settle_all(inner.ledger, world, present)
        inner.world.settled(flight.key)
    inner.context = context
    inner.landing -= 1
    inner.world.heard(id)
    return bad | settle_all(inner.ledger, mine, present)
