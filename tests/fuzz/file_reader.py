"""Loads contract files with whatever version of the package is on the path, and says what each is.

    python -P file_reader.py BATCH

In: a pickle of texts, or of paths. Out: a pickle with, for each, every mistake; or the warnings,
what was understood, and what is decided in a random session. It imports nothing of the tests.
"""

from __future__ import annotations

import json
import pickle
import random
import re
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from sponsio_like import Blocked, Guard
from sponsio_like.contracts import fingerprint, inputs_needed
from sponsio_like.contracts.loader import loads
from sponsio_like.errors import ContractError, SponsioLikeError
from sponsio_like.explain import contracts_page
from sponsio_like.syntax import show

WORDS = ("x", "a@b.example", "rm -rf /", "https://api.corp/x", "/workspace/a", "", "DROP TABLE t")
FIELDS = ("to", "amount", "path", "command", "q", "url", "id")
VALUES = (*WORDS, 1, 2, 3, 600, 0.5, True, None, ["x", 2], {"id": 1})
CALLS = 24


def understood(guard: Guard) -> Any:
    """Return all that a policy says of its contracts."""
    policy = guard.policy
    page = contracts_page(policy.contracts, policy.mode)
    rules = [
        [
            (show(each.formula), each.sentence, each.by, repr(each.answer), each.cap, each.authored)
            for each in contract.rules
        ]
        for contract in policy.contracts
    ]
    rest = [(each.where, fingerprint(each), inputs_needed(each)) for each in policy.contracts]
    kept = policy.stateful, policy.reading_outputs, policy.needs, policy.modes, policy.limited
    return page, rules, repr(policy.contracts), rest, kept, [*map(str, policy.warnings)]


def decided(guard: Guard, names: list[str], dice: random.Random) -> list[Any]:
    """Return what is decided in a random session."""
    now, open_calls = [0.0], list[str]()
    session = guard.session("s", clock=lambda: now[0])
    out: list[Any] = []
    for k in range(CALLS):
        now[0] += dice.choice((0, 1, 40, 4000))
        args = {each: dice.choice(VALUES) for each in dice.sample(FIELDS, dice.randint(0, 4))}
        try:
            outcome = session.decide(dice.choice(names), args, id=f"{k}")
            violations = sorted(map(repr, getattr(outcome, "violations", None) or ()))
            advice = outcome.advice if isinstance(outcome, Blocked) else ""
            out.append((type(outcome).__name__, violations, advice))
            if type(outcome).__name__ == "Allowed":
                open_calls.append(f"{k}")
            while open_calls and dice.random() < 0.7:
                told = {"error": "no"} if dice.random() < 0.2 else {"output": dice.choice(VALUES)}
                out.append(repr(session.settle(open_calls.pop(0), **told)))
            if dice.random() < 0.2:
                out.append(repr(session.message("user", dice.choice(WORDS))))
        except SponsioLikeError as error:
            out.append(f"{type(error).__name__}: {error}")
    return [*out, session.verdicts(), json.dumps(session.snapshot(), sort_keys=True)]


def read(path: Path, seed: int) -> Any:
    """Return what one file is: its mistakes, or its meaning."""
    dice = random.Random(seed)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            guard = Guard.from_yaml(path)
        except ContractError as error:
            return "refused", [*map(repr, error.problems)], _alone(path)
    formulas = " ".join(
        show(rule.formula) for each in guard.policy.contracts for rule in each.rules
    )
    found = re.findall(r"[A-Za-z_][\w.]*", formulas)
    names = [*sorted({*found} - {"G", "F", "X", "called", "done", "failed"})[:12], "other"]
    told = [str(each.message) for each in said]
    return "read", told, understood(guard), decided(guard, names, dice)


def _alone(path: Path) -> list[str]:
    """Return the mistakes of the text alone, without those of what its contracts mean."""
    try:
        loads(path.read_text("utf-8"), "file")
    except ContractError as error:
        return [*map(repr, error.problems)]
    except ValueError as error:
        return [type(error).__name__]
    return []


def main(batch: Path) -> list[tuple[str, str]]:
    """Return what each file of a batch is."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number, each in enumerate(pickle.loads(batch.read_bytes())):  # noqa: S301  our own
            path = each
            if isinstance(each, str):
                path = Path(folder) / "file.yaml"
                path.write_bytes(each.encode("utf-8", "surrogatepass"))
            kind, *said = read(path, number)
            found.append((kind, repr(said).replace(folder, "")))
    return found


if __name__ == "__main__":
    sys.stdout.buffer.write(pickle.dumps(main(Path(sys.argv[1]))))
