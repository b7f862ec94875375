"""Reads broken contract files and formulas: only a `ContractError` may come out, with its place.

`python -m tests.fuzz.readers SECONDS [SEED]` takes the contract files of the repository, changes
letters, words and lines of them, and reads what is left; then the formulas in them likewise.
"""

from __future__ import annotations

import random
import re
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import sponsio_like  # noqa: F401  declares patterns and strategies
from sponsio_like.contracts.loader import loads
from sponsio_like.errors import ContractError
from sponsio_like.syntax import read

ROOT = Path(__file__).parents[2]
SIGNS = "{}[]:,-'\"#&*!|>%@`$\\\t\n ?~^<=\x00\ud800\u202e\xe9" + "aG0."
PLACE = re.compile(r"fuzzed:(\d+):(\d+)")


def seeds() -> list[str]:
    """The contract files of the repository."""
    folders = ("examples", "sponsio_like/cli/demo", "tests/draft", "tests/reference")
    return [
        path.read_text("utf-8")[:4_000]
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.yaml"))
    ]


def formulas(files: list[str]) -> list[str]:
    """The formulas that stand in files."""
    found = [text for file in files for text in re.findall(r"ltl: [\"'](.*?)[\"']\}?\n", file)]
    return [*found, "G(called(a, x > 3) -> Y O done(b))", "F[<=3] $x = 1 & !(a U b)"]


def broken(text: str, among: list[str], rng: random.Random) -> str:
    """A text with some letters, words or lines changed."""
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(text) + 1)
        other = rng.choice(among)
        start = rng.randrange(len(other) + 1)
        part = other[start : start + rng.randint(1, 40)]
        match rng.randrange(5):
            case 0:
                text = text[:at] + rng.choice(SIGNS) + text[at:]
            case 1:
                text = text[:at] + text[at + rng.randint(1, 20) :]
            case 2:
                text = text[:at] + part + text[at:]
            case 3:
                text = text[:at] + part + text[at + len(part) :]
            case _:
                lines = text.split("\n")
                rng.shuffle(lines)
                text = "\n".join(lines)
    return text


def read_file_text(text: str) -> None:
    """Read a contract file. Raises `AssertionError` for a problem without its place."""
    try:
        loads(text, "fuzzed")
    except ContractError as error:
        lines = re.split("\r\n|[\r\n\x85\u2028\u2029]", text)
        for each in error.problems:
            found = PLACE.fullmatch(each.where)
            assert found, each
            assert 1 <= int(found[1]) <= len(lines) + 1, each
            assert each.what, each


def read_formula(text: str) -> None:
    """Read a formula; it is read, or refused."""
    with suppress(ContractError):
        read(text)


def campaign(reader: Callable[[str], None], among: list[str], seconds: float, seed: int) -> int:
    """Read broken texts for so many seconds; return how many."""
    rng, count, end = random.Random(seed), 0, time.monotonic() + seconds
    while time.monotonic() < end:
        text = broken(rng.choice(among), among, rng)
        try:
            reader(text)
        except BaseException:
            sys.stdout.write(f"{text!r}\n")
            raise
        count += 1
    return count


def main(arguments: list[str]) -> int:
    """Fuzz both readers; each for the given seconds."""
    seconds = float(arguments[0]) if arguments else 60
    seed = int(arguments[1]) if len(arguments) > 1 else 1
    files = seeds()
    for name, reader, among in (
        ("files", read_file_text, files),
        ("formulas", read_formula, formulas(files)),
    ):
        print(f"{name}: {campaign(reader, among, seconds, seed)} read, in {seconds:g} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
