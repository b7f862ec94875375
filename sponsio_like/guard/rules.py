"""The contracts that a guard opens sessions under, as they are now.

In: compiled contracts, and their log. Out: `Rules`, which never change: a guard that loads its file
again gets new ones for the sessions that are opened from then on. A contract that is enforced in a
share of the sessions only observes in the others; a hash of the session's id decides in which.
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
    def all_state_in_world(self) -> bool:
        """True if only contracts on the world have state, so that a store can keep all of it."""
        return set(self.policy.stateful) <= set(self.policy.world)

    @cached_property
    def _shares(self) -> list[float]:
        pairs = zip(self.policy.contracts, self.policy.modes, strict=True)
        return sorted({each.share for each, mode in pairs if mode == "enforce" and each.share < 1})

    @cached_property
    def policies(self) -> tuple[Policy, ...]:
        """The contracts in the modes of each group of sessions, as the shares divide them."""
        more = (self._modes(share) for share in self._shares)
        return (self.policy, *(in_modes(self.policy, modes) for modes in more))

    def _modes(self, share: float) -> tuple[Mode, ...]:
        """Return the modes in the sessions whose place is above this share."""
        pairs = zip(self.policy.contracts, self.policy.modes, strict=True)
        return tuple("observe" if each.share <= share else mode for each, mode in pairs)

    def policy_of(self, session: str) -> Policy:
        """Return the contracts in the modes that they have in this session."""
        if len(self.policies) == 1:
            return self.policy
        return self.policies[bisect_right(self._shares, place_of(session))]


def place_of(session: str) -> float:
    """Return a number from 0 to 1 that a hash of the session's id gives; shares are
    compared with it.
    """
    found = hashlib.blake2b(session.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(found, "big") / 2**64


def as_logged(contract: Contract, mode: Mode) -> Mapping[str, Any]:
    """Return what the first record of a log says of a contract."""
    share = {"share": contract.share} if mode == "enforce" and contract.share < 1 else {}
    named = {"contract": contract.name, "mode": mode, "hash": fingerprint(contract)}
    return named | share
