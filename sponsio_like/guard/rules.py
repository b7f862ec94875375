"""The contracts that a guard opens sessions under, as they are now.

In: compiled contracts, and where they are logged. Out: `Rules`, which never change: a guard that
loads its file again has others from then on, and open sessions keep theirs. A contract that is
enforced in a part of the sessions only observes in the others: which, is told by a hash of the id.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sponsio_like.contracts import ALL_INPUTS, Contract, fingerprint
from sponsio_like.engine import Policy, in_modes
from sponsio_like.outcome import Mode
from sponsio_like.session import GatePolicy, Log


@dataclass(frozen=True)
class Rules:
    """Compiled contracts, their log, and the policy of risk beside them."""

    policy: Policy
    log: Log
    risk: GatePolicy | None = None

    @cached_property
    def content(self) -> bool:
        """True if a session that gets every known input has all that the contracts need."""
        return all(needs <= ALL_INPUTS for needs in self.policy.needs.values())

    @cached_property
    def outside(self) -> bool:
        """True if only contracts on the world have state, so that a store can keep all of it."""
        return set(self.policy.stateful) <= set(self.policy.world)

    @cached_property
    def _shares(self) -> list[float]:
        pairs = zip(self.policy.contracts, self.policy.modes, strict=True)
        return sorted({each.share for each, mode in pairs if mode == "enforce" and each.share < 1})

    @cached_property
    def policies(self) -> tuple[Policy, ...]:
        """The contracts as they are in the sessions up to the first share, up to the second, .."""
        more = (self._modes(share) for share in self._shares)
        return (self.policy, *(in_modes(self.policy, modes) for modes in more))

    def _modes(self, share: float) -> tuple[Mode, ...]:
        """Return the modes in sessions that are beyond this share."""
        pairs = zip(self.policy.contracts, self.policy.modes, strict=True)
        return tuple("observe" if each.share <= share else mode for each, mode in pairs)

    def policy_of(self, session: str) -> Policy:
        """Return the contracts in the modes that they have in this session."""
        if len(self.policies) == 1:
            return self.policy
        return self.policies[bisect_right(self._shares, place_of(session))]


def place_of(session: str) -> float:
    """Return the place of a session among all, from 0 to 1, by a hash of its id."""
    found = hashlib.blake2b(session.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(found, "big") / 2**64


def as_logged(contract: Contract, mode: Mode) -> Mapping[str, Any]:
    """Return what the first record of a log says of a contract."""
    share = {"share": contract.share} if mode == "enforce" and contract.share < 1 else {}
    named = {"contract": contract.name, "mode": mode, "hash": fingerprint(contract)}
    return named | share
