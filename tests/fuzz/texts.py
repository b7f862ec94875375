"""Reads broken texts of each kind: facts of the right shape come out, soon, and nothing is raised.

`python -m tests.fuzz.texts SECONDS [KIND ..]` takes the texts of tests/kinds, changes, repeats and
nests them, and reads what comes of it, so many seconds for each kind; all kinds if none is named.
"""

from __future__ import annotations

import ast
import faulthandler
import json
import math
import random
import re
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import sponsio_like.kinds  # noqa: F401  declares the kinds
from sponsio_like.values import TEXT_KINDS, UNREADABLE, TextKind
from tests.fuzz.readers import broken

SEEDS = Path(__file__).parents[1] / "kinds"
LONGEST = 20_000
"""Most characters of a text that is made: beyond the cap of every kind."""
SLOW = 10.0
"""Seconds of CPU time after which a text counts as one that hangs."""
PARTS = (
    *("$(", ")", "`", "${", "}", "((", "))", "'", '"', "$'", "\\", "\n", ";", "|", "&&", "&", "#"),
    *("<<EOF\n", "\nEOF\n", "<<<", ">(", "<(", "{a,b}", "{1..9}", "[[ ", " ]]", "case x in ", "if"),
    *("/*!", "*/", "--", "U&'", "$$", "(", "select ", "case when ", "not ", " union ", "@", "://"),
    *("[::1]", "%2e", "%00", "xn--", "../", "~", "C:", "0x7f", ":", "\0", "\u202e", "\u200b", "ß"),
    *("\ue000", "\ue001", "\uff11", "4111 ", "DE89", "1,", "1.", "€", "-", "00", "2026-", "T", "+"),
)
"""Signs that mean something in one of the grammars, or to a reader that is not careful."""


SIGNS = re.compile("[\ue000-\ue005]")


class Tally(NamedTuple):
    """The texts that were read, the longest time of one, and how long that one was."""

    texts: int
    slowest: float
    length: int


def seeds() -> list[str]:
    """The texts that stand in tests/kinds, in data and in code."""
    found = list[str]()
    for path in sorted(SEEDS.glob("*.jsonl")):
        found += [json.loads(line)["text"] for line in path.read_text("utf-8").splitlines()]
    for path in sorted(SEEDS.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return [each for each in found if 1 < len(each) < 2_000]


def changed(among: list[str], rng: random.Random) -> str:
    """A text that was changed, and now and then repeated or nested."""
    text = broken(rng.choice(among), among, rng)
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(PARTS) * rng.choice((1, 1, 2, 40)) + text[at:]
    match rng.randrange(20):
        case 0:
            text *= rng.choice((2, 10, 100, 1_000))
        case 1:
            times = rng.choice((2, 10, 100, 1_000))
            text = rng.choice(PARTS) * times + text + rng.choice(PARTS) * times
        case 2:
            text = "".join(rng.choice(PARTS) for _ in range(rng.choice((5, 50, 5_000))))
    return text[:LONGEST]


def read_text(kind: TextKind, text: str) -> None:
    """Read a text twice. Raises `AssertionError` for facts of a wrong shape, or that differ."""
    facts, own = kind.read(text), text if kind.name != "shell" else ""
    assert set(facts) == set(kind.names), facts
    for name, values in facts.items():
        assert isinstance(values, tuple), (name, values)
        assert kind.has_many(name) or len(values) <= 1, (name, values)
        assert all(is_value(each, own) for each in values), (name, values)
    assert facts == kind.read(text)


def is_value(value: Any, own: str) -> bool:
    """True for what a fact may have: plain values, without signs that the kind `shell` uses inside.

    A sign that the text has itself, `own`, is a letter to the other kinds.
    """
    if isinstance(value, str):
        return all(each in own for each in SIGNS.findall(value))
    if isinstance(value, float):
        return math.isfinite(value)
    return value is UNREADABLE or isinstance(value, (bool, int, Decimal))


def campaign(
    kind: TextKind, seconds: float, seed: int, read: Callable[[TextKind, str], None] = read_text
) -> Tally:
    """Read changed texts for so many seconds. Raises `AssertionError` for one that hangs."""
    among, rng = seeds(), random.Random(f"{kind.name} {seed}")
    count, slowest, length, end = 0, 0.0, 0, time.monotonic() + seconds
    while time.monotonic() < end:
        text = changed(among, rng)
        if count % 100 == 0:
            faulthandler.dump_traceback_later(60 * SLOW, exit=True)
        start = time.process_time()
        try:
            read(kind, text)
            took = (time.process_time() - start) / 2
            assert took < SLOW, took
        except BaseException:
            sys.stdout.write(f"{kind.name}: {text!r}\n")
            raise
        count += 1
        if took > slowest:
            slowest, length = took, len(text)
    faulthandler.cancel_dump_traceback_later()
    return Tally(count, slowest, length)


def main(arguments: list[str]) -> int:
    """Fuzz each kind for the given seconds."""
    seconds = float(arguments[0]) if arguments else 10
    for name in arguments[1:] or sorted(TEXT_KINDS):
        count, slowest, length = campaign(TEXT_KINDS[name], seconds, 1)
        sys.stdout.write(
            f"{name}: {count:,} texts in {seconds:g} s; "
            f"the slowest took {slowest * 1000:.0f} ms, {length:,} characters\n"
        )
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
