"""Two versions of the package held against each other: the same sessions, decided by each.

    python -m tests.fuzz.versions N --old DIR [--seed S]

`DIR`: an unpacked wheel of another version, or a tree that has it. In: random contracts, those of
the catalog, and sessions with up to six calls in flight, batches, late and shuffled results,
snapshots half-way, both modes. Out: how many calls were decided by both; every difference in
outcomes, violations, verdicts, and what is pending; in how many guards advice differs; and how many
have words that only the new version knows (`newly said`).
"""

from __future__ import annotations

import argparse
import os
import pickle
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from sponsio_like.contracts.definition import Contract
from sponsio_like.logic.formula import Formula
from sponsio_like.logic.printer import show
from tests.fuzz.automata import scoped
from tests.fuzz.fuzz_traces import Event, Traces, late
from tests.fuzz.twins import contracts
from tests.reference.pattern_cases import CASES

PLAYER = Path(__file__).with_name("player.py")
ROOT = Path(__file__).parents[2]
NEW_WORDS = ("unknown atom", "found `:`")
"""Parts of the messages by which an old version refuses what only the new one can say."""
BATCH = 200
"""Guards that one process plays."""
Plain: TypeAlias = dict[str, Any]
Batches: TypeAlias = Callable[[int, int], Iterable[Any]]
"""(seed, how many) -> what is compared, in batches."""
Compared: TypeAlias = Callable[[Path, Any, Counter[str]], list[str]]
"""(old version, batch, what is counted) -> the differences."""


class Task(NamedTuple):
    """A guard in plain data, with its sessions."""

    number: int
    contracts: list[Plain]
    mode: str
    sessions: list[tuple[list[Event], int]]

    @property
    def calls(self) -> int:
        """How many calls are decided."""
        return sum(each["type"] == "call" for events, _ in self.sessions for each in events)


def most_in_flight(events: list[Event]) -> int:
    """Return how many calls are in flight at once."""
    flying: set[str] = set()
    most = 0
    for each in events:
        match each["type"]:
            case "call":
                flying.add(each["id"])
            case "result":
                flying.discard(each["id"])
        most = max(most, len(flying))
    return most


def plain(contract: Contract) -> Plain:
    """Return a contract in texts that every version reads."""
    scope = contract.segment
    return {
        "name": contract.name,
        "rules": [(show(rule.formula), rule.by) for rule in contract.rules],
        "assumption": _text(contract.assumption),
        "scope": scope and (scope.kind, _text(scope.start), _text(scope.stop)),
    }


def _text(formula: Formula | None) -> str | None:
    return None if formula is None else show(formula)


def task(seed: int, number: int) -> Task:
    """Return the guard of this number: every third is a pattern of the catalog."""
    dice = random.Random(f"{seed}/{number}")
    if number % 3:
        made = scoped(contracts(dice), dice)
    else:
        made = [CASES[number // 3 % len(CASES)].contract]
    sessions = []
    for _ in range(6):
        events = Traces(dice, made[0].rules[0].formula).trace(dice.randint(6, 24))
        events = late(events, dice) if dice.random() < 0.7 else list(events)
        sessions.append((events, dice.randrange(2 * len(events))))
    return Task(
        number, [plain(each) for each in made], dice.choice(("enforce", "observe")), sessions
    )


def batches(seed: int, calls: int) -> Iterator[list[Task]]:
    """Yield guards until their sessions have so many calls."""
    number = 0
    while calls > 0:
        batch = [task(seed, n) for n in range(number, number + BATCH)]
        number += BATCH
        calls -= sum(each.calls for each in batch)
        yield batch


def said_by(version: Path, batch: Path) -> subprocess.Popen[bytes]:
    """Start the process that plays the batch with this version; it prints pickles."""
    env = {**os.environ, "PYTHONPATH": str(version), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-P", str(PLAYER), str(batch)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=env, cwd=version)


def is_newly_said(said: tuple[Any, Any]) -> bool:
    """Return True if only the new version has the words for the guard's contracts."""
    old, new = said
    unread = isinstance(old, str) and any(each in old for each in NEW_WORDS)
    return unread and not isinstance(new, str)


def difference(one: Task, said: tuple[Any, Any]) -> str:
    """Return the first difference in what the versions said; nothing if there is none."""
    old, new = said
    if old == new or is_newly_said(said):
        return ""
    where = f"guard {one.number}: {one.contracts} ({one.mode})"
    if isinstance(old, str) or isinstance(new, str):
        return f"{where}\n    old {old}\n    new {new}"
    for (events, _), before, after in zip(one.sessions, old, new, strict=True):
        for k, (was, now) in enumerate(zip(before, after, strict=True)):
            if was != now:
                event = events[k] if k < len(events) else "the end"
                return f"{where}\n    event {k}, {event}\n    old {was}\n    new {now}"
    return f"{where}: something else"


def _without_advice(said: Any) -> Any:
    """Return what was said of the sessions of a guard, without the advice of refusals."""
    if isinstance(said, str):
        return said
    return [
        [[told[0] if isinstance(told, list) else told, *rest] for told, *rest in session]
        for session in said
    ]


def compared(old: Path, batch: list[Task], tally: Counter[str]) -> list[str]:
    """Return the differences of one batch."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "batch"
        path.write_bytes(pickle.dumps([tuple(each) for each in batch]))
        players = [said_by(version, path) for version in (old, ROOT)]
        said = [pickle.loads(each.communicate()[0]) for each in players]  # noqa: S301  our own
    for each, new in zip(batch, said[1], strict=True):
        refused = isinstance(new, str)
        tally["refused" if refused else "guards"] += 1
        tally["calls"] += 0 if refused else each.calls
        flying = [most_in_flight(events) for events, _ in each.sessions]
        tally["in flight"] = max(tally["in flight"], *flying)
        tally["refusals"] += 0 if refused else sum("Blocked" in str(x) for s in new for x in s)
    pairs = list(zip(*said, strict=True))
    bare = [(_without_advice(old), _without_advice(new)) for old, new in pairs]
    tally["newly said"] += sum(map(is_newly_said, pairs))
    tally["advice differs"] += sum(
        old != new and one == two for (old, new), (one, two) in zip(pairs, bare, strict=True)
    )
    found = [difference(each, pair) for each, pair in zip(batch, bare, strict=True)]
    return [each for each in found if each]


def campaign(said: str | None, count: int, batches: Batches, compared: Compared) -> int:
    """Compare batches until eight differences are found, or as many as asked for are compared;
    return 1 if there is one. `said`: the help; `count`: how many, if that is not said.
    """
    parser = argparse.ArgumentParser(description=said)
    parser.add_argument("count", type=int, nargs="?", default=count)
    parser.add_argument("--old", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    tally: Counter[str] = Counter()
    bad: list[str] = []
    for batch in batches(asked.seed, asked.count):
        bad += compared(asked.old.resolve(), batch, tally)
        print(dict(tally), len(bad), "differ", flush=True)
        if len(bad) >= 8:
            break
    print(*bad[:8], sep="\n")
    return bool(bad)


if __name__ == "__main__":
    raise SystemExit(campaign(__doc__, 10_000, batches, compared))
