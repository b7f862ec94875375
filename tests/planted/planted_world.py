"""Bugs against what lineage and world mean.

In: nothing. Out: `MEANING`: name, file, what stands there, what is put there instead
(`tests/planted/planted_meaning.py`). The requirements that they break are in
`tests/semantics/manifest_world.py`.
"""

from __future__ import annotations

MEANING = (
    (
        "nothing is on the world",
        "contracts/loader.py",
        'on_world=_section_of(data, "world", problems, read_world) or False',
        "on_world=False",
    ),
    (
        "snapshots leave the world out",
        "engine/ledger.py",
        "self.lineage = policy.lineage if apart else policy.all",
        "self.lineage = policy.lineage",
    ),
    (
        "forks see what they have seen",
        "session/world.py",
        "self._load(entry.read())",
        "self._load(self._data)",
    ),
    (
        "what runs again counts again",
        "session/world_contract.py",
        "return key in self.flights or key in self.settled",
        "return False",
    ),
    (
        "an id is one call for ever",
        "session/world.py",
        "self._uses.pop(id, 0) + more",
        "self._uses.pop(id, 0)",
    ),
    (
        "what is refused counts in the world",
        "session/interceptor.py",
        "return Attempt(found, (), before, answers, spent=seen.spent)",
        (
            "self.world.let_through(judgement, key)\n"
            "                return Attempt(found, (), before, answers)"
        ),
    ),
    (
        "observers count nothing in the world",
        "session/world.py",
        "owners, before = self._counting(judgement.kind, key),",
        "owners, before = self._counting(judgement.kind, key) * self._ledger.policy.enforces,",
    ),
    (
        "stores that fail are passed over",
        "session/world.py",
        "            raise StoreFailed(why) from error\n",
        "            print(why)\n",
    ),
    (
        "contracts are told by their names",
        "session/world_contract.py",
        "return cls(name, policy.fingerprints[name], clauses",
        "return cls(name, name, clauses",
    ),
    (
        "clocks run in transactions",
        "session/interceptor.py",
        "            now = time_of(self.clock) if stoppable(event) else self.now()\n",
        (
            "            with self.lock, self.world.open():\n"
            "                now = time_of(self.clock) if stoppable(event) else self.now()\n"
        ),
    ),
    ("transactions begin late", "worlds.py", "BEGIN IMMEDIATE", "BEGIN"),
    (
        "calls in flight fill the store",
        "session/world.py",
        "len(self._accounts[k].flights) >= IN_FLIGHT_CAP",
        "len(self._accounts[k].flights) >= 10 * IN_FLIGHT_CAP",
    ),
)
