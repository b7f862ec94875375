"""Chains the lines of a log by hashes, so that a line that was changed or removed shows.

In: lines. Out: the same lines, each with `chain`: its writer, its number, and the hash of what it
says and of the line before it; or what is wrong with a chain. A key that only writers know keeps
others from making a chain anew; without a key, keep the last hash elsewhere. A writer that ends
writes a record `closed`: a chain without one still grows, was killed, or was cut off at the end.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from sponsio_like.errors import ContractError

KEY = "SPONSIO_LIKE_LOG_KEY"
"""The environment variable that has the key of the chains, if there is one."""
LEAD = ', "chain": "'
CLOSED = '"event": "closed"'
"""The end of what the last line of a chain says."""


class HashChain:
    """The chain of one writer. Not for several threads at once."""

    def __init__(self, key: bytes = b"") -> None:
        self._key = key or key_given()
        self._writer = secrets.token_hex(4)
        self._number = 0
        self._last = ""

    @property
    def length(self) -> int:
        """The number of lines that were linked."""
        return self._number

    def another(self) -> HashChain:
        """Return a chain with the same key, as yet without lines."""
        return HashChain(self._key)

    def linked(self, line: str) -> str:
        """Return a line of JSON, without its end, with its link."""
        head = line[:-1]
        name = f"{self._writer}:{self._number}"
        self._last = _hash(self._key, self._last, name, head)
        self._number += 1
        return f'{head}{LEAD}{name}:{self._last}"}}'


@dataclass(slots=True)
class Links:
    """The lines of a log, the last hash of each writer, and what is wrong with its chains.

    `open` are the writers whose chain has no end.
    """

    lines: int = 0
    last: dict[str, str] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)


def verify(paths: Iterable[str | Path], key: bytes = b"") -> Links:
    """Check the chains of log files, given in the order in which they were written."""
    found, numbers = Links(), dict[str, int]()
    key = key or key_given()
    for path in paths:
        try:
            with Path(path).open("rb") as file:
                for n, raw in enumerate(file, 1):
                    _check(found, numbers, key, f"{path}:{n}", raw)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise ContractError.of(f"{path}: cannot be read: {reason}") from None
    return found


def _check(found: Links, numbers: dict[str, int], key: bytes, where: str, raw: bytes) -> None:
    line = raw.decode("utf-8", "replace").rstrip("\n")
    if not line:
        return
    found.lines += 1
    head, lead, link = line.rpartition(LEAD)
    writer, number, hashed = [*link[:-2].split(":"), "", "", ""][:3]
    if not lead or not number.isdecimal():
        found.wrong.append(f"{where}: the line has no chain: it was added, changed or torn")
        return
    expected = numbers.get(writer)
    if expected is None and number != "0":
        gone = f"the chain of {writer} begins with line {number}: those before it are gone"
        found.wrong.append(f"{where}: {gone}")
    elif expected is not None and int(number) != expected:
        found.wrong.append(f"{where}: line {expected} of {writer} is gone, or lines were moved")
    elif hashed != _hash(key, found.last.get(writer, ""), f"{writer}:{number}", head):
        found.wrong.append(f"{where}: the line was changed, or was written with another key")
    numbers[writer], found.last[writer] = int(number) + 1, hashed
    (found.open.discard if head.endswith(CLOSED) else found.open.add)(writer)


def _hash(key: bytes, before: str, name: str, head: str) -> str:
    text = json.dumps([before, name, head]).encode()
    return blake2b(text, digest_size=16, key=key).hexdigest()


def key_given() -> bytes:
    """Return the key of the environment, as at most 64 bytes; none if it has none."""
    text = os.environ.get(KEY, "").encode()
    return blake2b(text, digest_size=32).digest() if text else b""
