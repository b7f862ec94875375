"""Keeps the state of the contracts on the world in a store, so that no rewind touches it.

In: a store, and the ledger of a session. Out: transactions, in which the ledger has what the store
has, and the store gets what the ledger becomes. A call that is executed again from an earlier
snapshot is known by its key, and counts once. INVARIANT: outside of transactions the ledger has, of
contracts on the world, what was last seen in the store.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from sponsio_like.engine import LINEAGE, Ledger, Policy, decode, encode
from sponsio_like.errors import SessionError
from sponsio_like.events import Call, Event, Kind
from sponsio_like.monitor import Change, Judgement
from sponsio_like.outcome import Violation
from sponsio_like.session.flights import IN_FLIGHT_CAP
from sponsio_like.session.snapshot import moment
from sponsio_like.session.world_contract import KEY, WorldContract
from sponsio_like.worlds import Data, World

FORMAT = 1
SETTLED_CAP = 1_000
"""Most settled calls that an entry remembers for each contract."""
USES_CAP = SETTLED_CAP + IN_FLIGHT_CAP
"""Most ids that a session remembers to have used at one place: more than an entry knows of it."""
CONTRACTS_CAP = 100
"""Most contracts, and versions of them, in one entry; the oldest are forgotten first."""
NO_ACCOUNTS: dict[int, WorldContract] = {}
NO_USES: dict[str, int] = {}
NOTHING: frozenset[int] = frozenset()
NO_TRANSACTION = nullcontext()


class StoreFailed(Exception):
    """The store could not be read or written, and nothing has changed. Hosts never see it."""


class WorldState:
    """The part of a session that is in a store; without a store, nothing.

    `place`: the point in the history of its host at which the session stands. `started_anew`: the
    contracts of which the entry had no state, though it had been used. `lineage`: the owners of
    the counters that the session keeps, and a snapshot rewinds. The interceptor holds its lock.
    """

    __slots__ = (
        "_accounts", "_changed", "_data", "_id", "_ledger", "_looked", "_store", "_uses",
        "lineage", "place", "started_anew", "time",
    )  # fmt: skip

    def __init__(self, ledger: Ledger, id: str, store: World | None) -> None:
        self.place = ""
        self.time = float("-inf")
        self.started_anew: tuple[str, ...] = ()
        self._ledger, self._id, self._store = ledger, id, store
        self._accounts = NO_ACCOUNTS if store is None else _accounts(ledger.policy)
        self.lineage = None if store is None else (LINEAGE,)
        self._uses = NO_USES if store is None else {}
        self._data: Data | None = None
        self._changed = self._looked = False

    # --- transactions -------------------------------------------------------------------------

    def open(self, late: list[Violation] | None = None) -> AbstractContextManager[None]:
        """Return a transaction, in which the ledger has what the store has. It raises
        `StoreFailed`.

        `late`: what time gone by has violated. What a transaction that fails has added of contracts
        on the world is removed: the next one finds it again.
        """
        store = self._store
        return (
            NO_TRANSACTION
            if store is None
            else self._transaction(store, [] if late is None else late)
        )

    @contextmanager
    def _transaction(self, store: World, late: list[Violation]) -> Iterator[None]:
        inside: Exception | None = None
        told = len(late)
        done = self._changed = False
        try:
            with store.entry(self._id) as entry:
                self._load(entry.read())
                try:
                    yield
                except Exception as error:
                    inside = error
                    raise
                data = self._plain() if self._changed else self._data
                if self._changed and data is not None:
                    entry.replace(data)
            self._data, done = data, True
        except Exception as error:  # a store may be the host's: whatever it raises, nothing happens
            if error is inside:
                raise
            why = f"the store of the world failed: {type(error).__name__}: {error}"
            raise StoreFailed(why) from error
        finally:
            if not done:
                self._load(self._data, again=True)
                on_world = {each.name for each in self._accounts.values()}
                late[told:] = [each for each in late[told:] if each.contract not in on_world]

    def _load(self, data: Data | None, *, again: bool = False) -> None:
        """Take over what the store has; what has not changed, only if asked `again`."""
        if data is self._data and data is not None and not again:
            return
        kept: Mapping[str, Any] = {}
        time = float("-inf")
        if data is not None:
            if data["format"] != FORMAT:
                raise ValueError(f"format {data['format']!r} is not {FORMAT}")
            kept, time = data["contracts"], moment(data)
        for account in self._accounts.values():
            account.load(self._ledger, kept.get(account.means), again=again)
        if data is not None and not self._looked:
            each = self._accounts.values()
            self.started_anew = tuple(one.name for one in each if one.means not in kept)
        self._data, self.time, self._looked = data, time, True

    def _plain(self) -> Data:
        """Return what the store gets: our contracts last, so that those nobody
        uses are forgotten.
        """
        contracts = dict(self._data["contracts"]) if self._data is not None else {}
        for account in self._accounts.values():
            contracts.pop(account.means, None)
            contracts[account.means] = account.write(self._ledger)
        for means in list(contracts)[: -max(CONTRACTS_CAP, len(self._accounts))]:
            del contracts[means]
        return {"format": FORMAT, "time": encode(self.time), "contracts": contracts}

    def refresh(self) -> None:
        """Take over what the store has; if it cannot be read, keep what was seen last."""
        try:
            with self.open():
                pass
        except StoreFailed:  # what was seen last is kept
            return

    # --- within a transaction -----------------------------------------------------------------

    def passes(self, time: float) -> None:
        """Move to this time; if a deadline has run out, write that, so that it is told once."""
        if not self._accounts:
            return
        self.time = time
        alarms = self._ledger.alarms.items()
        if any(due < time and self._ledger.owner(i) != LINEAGE for (i, _), due in alarms):
            self._change(self._accounts)

    def counted(self, key: str) -> frozenset[int]:
        """Return the clauses that have counted this very call already; they do
        not judge it again.
        """
        if not key:
            return NOTHING
        known = [each for each in self._accounts.values() if each.knows(key)]
        return frozenset(i for account in known for i in account.clauses)

    def full(self, key: str) -> bool:
        """True if too many calls are in flight. Where nothing is enforced, forget the oldest
        instead.
        """
        if not key:
            return False
        owners = self._counting("call", key)
        full = [k for k in owners if len(self._accounts[k].flights) >= IN_FLIGHT_CAP]
        if self._ledger.policy.enforces:
            return bool(full)
        for flights in (self._accounts[k].flights for k in full):
            del flights[next(iter(flights))]
        return False

    def let_through(self, judgement: Judgement, key: str) -> None:
        """Commit the event for the contracts that have not counted it."""
        if not self._accounts:
            return
        owners, before = self._counting(judgement.kind, key), self._ledger.half_written
        self._ledger.commit(judgement, owners)
        self._ledger.half_written = before
        for k in owners if key else ():
            self._accounts[k].flights[key] = self._ledger.waiting(judgement, (k,))
        if owners or any(each.plain is None for each in self._accounts.values()):
            self._change(owners)  # from now on the entry has all of them

    def _counting(self, kind: Kind, key: str) -> list[int]:
        """Return the contracts that count such positions, and have not counted this one."""
        each = self._accounts.items()
        return [k for k, one in each if kind in one.kinds and not (key and one.knows(key))]

    def _change(self, owners: Iterable[int]) -> None:
        self._changed = True
        for owner in owners:
            self._accounts[owner].plain = None

    def waiting(self, key: str) -> tuple[Change, ...]:
        """Return what waits in the world for the result of this call."""
        return tuple(c for each in self._accounts.values() for c in each.flights.get(key, ()))

    def settled(self, key: str) -> None:
        """Note that the call has its result."""
        owners = [k for k, each in self._accounts.items() if key in each.flights]
        for k in owners:
            self._accounts[k].settle(key, SETTLED_CAP)
        if owners:
            self._change(owners)

    # --- keys ---------------------------------------------------------------------------------

    def key(self, event: Event, mark: str) -> str:
        """Return a key of the call: the same if it is executed again at the same place."""
        if not self._accounts or not isinstance(event, Call):
            return ""
        said = [self.place, event.id, self._uses.get(event.id, 0), event.tool, mark]
        hashed = hashlib.blake2b(json.dumps(said).encode(), digest_size=KEY * 3 // 4).digest()
        return base64.urlsafe_b64encode(hashed).decode()

    def used(self, id: str, more: int = 1) -> None:
        """Note that the id was used at this place: the next call with it is another call."""
        if self._accounts:
            self._uses[id] = self._uses.pop(id, 0) + more
        if len(self._uses) > USES_CAP:
            del self._uses[next(iter(self._uses))]

    def heard(self, id: str) -> None:
        """Mark the id of a call that has its result as the latest, so that it is forgotten last."""
        if id in self._uses:
            self.used(id, 0)

    def set_place(self, place: str) -> None:
        """Set the place at which the session stands. Raises `SessionError` for anything but a
        string.
        """
        if not isinstance(place, str):
            raise SessionError(f"place {place!r} has to be a string")
        if self._store is not None and place != self.place:
            self.place, self._uses = place, {}

    def standing(self) -> dict[str, Any]:
        """Return the place of the session, for its snapshot, and the ids it has used there."""
        return {"place": (self.place, self._uses)} if self._accounts else {}

    def resume(self, data: Mapping[str, Any], *, lived: bool) -> tuple[str, ...]:
        """Take over the place of a snapshot; return the contracts that start anew.

        If the session has `lived`, that is let calls through, and has no entry, all of them start
        anew.
        """
        if self._store is not None and "place" in data:
            place, uses = decode(data["place"])
            if not isinstance(place, str) or not isinstance(uses, dict):
                raise ValueError(f"`place` is `{place}`")
            self.place, self._uses = place, uses
        if self._data is None and lived:
            self.started_anew = tuple(each.name for each in self._accounts.values())
        return self.started_anew


NO_WORLD = WorldState(Ledger(Policy((), (), (), ())), "", None)
"""The part of all sessions without a store, which never changes."""


def _accounts(policy: Policy) -> dict[int, WorldContract]:
    return {
        k: WorldContract.of(policy, k) for k, each in enumerate(policy.contracts) if each.on_world
    }
