"""Holds contracts with a value variable against one contract for each value.

    python -m tests.fuzz.instances [seconds] [--seed N]

In: random formulas with `$x`, bounds and events without a value, and random calls of which up to
four are in flight. Out: how many calls were compared, and every difference, in what is decided,
violated and owed. Exit status 1 if there is one.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import warnings
from typing import Any, NamedTuple

from sponsio_like import Allowed, Guard, Session, contract
from sponsio_like.errors import ContractError

VALUES, FRESH = (1, 2, 3), 9
"""The values that calls have, and one that stands for all others."""
TOOLS = "abcde"


class Tally(NamedTuple):
    """What was compared, and the differences."""

    guards: int
    calls: int
    refused: int
    differences: list[str]


def _atom(dice: random.Random) -> str:
    kind, tool = dice.choice(("called", "done", "failed", "called", "done")), dice.choice(TOOLS)
    return f"{kind}({tool}, id = $x)" if dice.random() < 0.7 else f"{kind}({tool})"


def _owed(dice: random.Random, depth: int) -> str:
    """Return what a guarantee owes: bounded and unbounded, in one another."""
    if depth == 0:
        return _atom(dice)
    n, a, b = dice.randint(0, 5), _atom(dice), _atom(dice)
    one, other = _owed(dice, depth - 1), _owed(dice, depth - 1)
    return dice.choice(
        (
            f"F[<={n}] ({one})",
            f"G[<={n}] !({one})",
            f"(X ({one}) | {a})",
            f"({one} | {other})",
            f"({one} & {other})",
            f"F ({one})",
            f"WX G !({a})",
            f"({a} & O[<={n}] ({b}))",
            f"(!({a}) U ({b}))",
            f"G ({a} -> F[<={n}] {b})",
        )
    )


def formula(dice: random.Random) -> str:
    """Return a random guarantee that has `$x`."""
    when = _atom(dice)
    if dice.random() < 0.3:
        when += f" & O[<={dice.randint(1, 4)}] {_atom(dice)}"
    soon = f"F[<={dice.randint(1, 6)}] {_atom(dice)}"
    text = f"G({when} -> {soon if dice.random() < 0.4 else _owed(dice, 2)})"
    return text if "$x" in text else formula(dice)


def _guards(dice: random.Random) -> tuple[str, Guard, Guard] | None:
    """Return a formula, a guard of it, and one of a contract for each value; None if refused."""
    text, mode = formula(dice), dice.choice(("enforce", "observe"))
    each = [text.replace("$x", str(value)) for value in (*VALUES, FRESH)]
    try:
        return text, _guard([text], mode), _guard(each, mode)
    except ContractError:
        return None


def _guard(texts: list[str], mode: Any) -> Guard:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rules = [contract(f"c{n}").guarantees({"ltl": text}) for n, text in enumerate(texts)]
        return Guard(rules, mode=mode)


def _is_violated(session: Session) -> bool:
    return "violated" in session.verdicts().values()


def played(dice: random.Random, pair: tuple[Guard, Guard]) -> tuple[int, int, list[Any] | None]:
    """Return how many calls were compared and refused, and the run if the two differ at its end."""
    both = [guard.session() for guard in pair]
    flying, run, refused, calls = list[str](), list[Any](), 0, 0
    for step in range(dice.randint(5, 30)):
        if flying and dice.random() < 0.45:
            id, ok = flying.pop(dice.randrange(len(flying))), dice.random() < 0.7
            run.append((id, ok))
            for session in both:
                session.settle(id, **({"output": "ok"} if ok else {"error": "no"}))
        else:
            tool = dice.choice((*TOOLS, "other"))
            args = {"id": dice.choice(VALUES)} if dice.random() < 0.85 else {}
            run.append((str(step), tool, args))
            said = [isinstance(s.decide(tool, args, id=str(step)), Allowed) for s in both]
            calls, refused = calls + 1, refused + (not said[0])
            if said[0] is not said[1]:
                return calls, refused, run
            if said[0] and len(flying) < 4:
                flying.append(str(step))
        if _is_violated(both[0]) is not _is_violated(both[1]):
            return calls, refused, run
    owed = [bool(session.pending()) for session in both]
    return calls, refused, run if owed[0] is not owed[1] else None


def campaign(guards: int, seed: int, *, until: float = float("inf")) -> Tally:
    """Compare so many guards, in six sessions each; `until`: a time at which to end."""
    dice, found = random.Random(seed), Tally(0, 0, 0, [])
    while found.guards < guards and time.monotonic() < until and len(found.differences) < 5:
        made = _guards(dice)
        if made is None:
            continue
        text, *pair = made
        found = found._replace(guards=found.guards + 1)
        for _ in range(6):
            calls, refused, run = played(dice, (pair[0], pair[1]))
            found = found._replace(calls=found.calls + calls, refused=found.refused + refused)
            if run is not None:
                found.differences.append(f"{text} {pair[0].policy.contracts[0].mode} {run}")
    return found


def main(arguments: list[str]) -> int:
    """Compare for some seconds; 1 if the two ever differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.instances")
    parser.add_argument("seconds", nargs="?", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    found = campaign(sys.maxsize, given.seed, until=time.monotonic() + given.seconds)
    print(*found.differences, sep="\n")
    print(f"{found.guards} guards, {found.calls} calls, {found.refused} refused,", end=" ")
    print(len(found.differences), "differ")
    return 1 if found.differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
