"""The errors that this package raises, drawn as the tree they form.

SponsioLikeError
├── CallBlocked        a decorated tool was not run; its advice is for the model (`guard/raised.py`)
│   └── RunStopped     and no other will be: the run is over (`guard/raised.py`)
├── CallHeld           a decorated tool waits for a person; it has the ticket (`guard/raised.py`)
├── ContractError      the author of a contract made a mistake (all mistakes of a file at once)
├── InputMissing       a contract needs an input that the session does not get
├── RiskError          a model of risk, or a question to it, that cannot be read or used
├── SessionError       the host used a session wrongly: an unknown call id, a finished session
├── SnapshotError      a snapshot that cannot be restored
└── TraceError         a trace file or a decision log that cannot be read

A contract that can be understood, and hardly meant, is a Python warning: `ContractWarning`.
A contract that is *broken* by an agent is not an error: it is an outcome (`outcome.py`).
"""

from __future__ import annotations

import difflib
import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, ParamSpec, TypeAlias, TypeVar

Path: TypeAlias = tuple[str | int, ...]
_P = ParamSpec("_P")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: its place, what is wrong, what to write instead.

    `where` is `file:line:column`, a contract's name, or empty. Until it is known, `path` has the
    keys that lead to the mistake inside what is being read; `of_key`: the last key itself is wrong.
    """

    what: str
    where: str = ""
    hint: str = ""
    path: Path = ()
    of_key: bool = False

    def __str__(self) -> str:
        head = f"{self.where}: " if self.where else ""
        if self.path and not self.of_key:
            head += f"`{'.'.join(map(str, self.path))}`: "
        tail = f"; {self.hint}" if self.hint else ""
        return f"{head}{self.what}{tail}"


class SponsioLikeError(Exception):
    """The root of every error raised by this package."""


class ContractError(SponsioLikeError):
    """Raised for a contract that cannot be understood; nothing of its file is loaded.

    `problems` has every mistake that was found, in file order.
    """

    def __init__(self, *problems: Problem) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems

    @classmethod
    def of(cls, what: str, hint: str = "", where: str = "") -> ContractError:
        """Return the error of one mistake."""
        return cls(Problem(what, where, hint))


class ContractWarning(UserWarning):
    """A warning of a contract that loads and has something that is rarely intended.

    `guard.policy.warnings` has all of them.

    `warnings.simplefilter("error", ContractWarning)` makes errors of them.
    """


class Problems:
    """A collection of mistakes, so that one error has all of them."""

    def __init__(self) -> None:
        self.found: list[Problem] = []

    def add(self, what: str, hint: str = "", *path: str | int, of_key: bool = False) -> None:
        """Note a mistake at `path`."""
        self.found.append(Problem(what, "", hint, path, of_key))

    def attempt(
        self, path: Path, read: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T | None:
        """Return what `read` returns; None on a `ContractError`, whose problems are noted.

        They are noted under `path`.
        """
        try:
            return read(*args, **kwargs)
        except ContractError as error:
            self.found += [replace(each, path=path + each.path) for each in error.problems]
            return None

    def check(self) -> None:
        """Raise `ContractError` with the mistakes that were noted, if there are any."""
        if self.found:
            raise ContractError(*self.found)


def refuse(problems: Iterable[Problem]) -> None:
    """Raise `ContractError` with these mistakes, if there are any."""
    if found := tuple(problems):
        raise ContractError(*found)


def changed(error: ContractError, change: Callable[[Problem], Problem]) -> ContractError:
    """Return an error of the same mistakes, each changed."""
    return ContractError(*map(change, error.problems))


def read_at(path: Path, read: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Return what `read` returns. Raises its `ContractError`, with the mistakes under `path`."""
    try:
        return read(*args, **kwargs)
    except ContractError as error:
        raise changed(error, lambda each: replace(each, path=path + each.path)) from None


def read_each(read: Callable[..., _T], values: Iterable[Any], *args: Any) -> list[_T]:
    """Return what `read` returns for each value. Raises `ContractError` with every mistake, under
    the number of its value.
    """
    problems, found = Problems(), list[_T]()
    for i, value in enumerate(values):
        try:
            found.append(read_at((i,), read, value, *args))
        except ContractError as error:
            problems.found += error.problems
    problems.check()
    return found


NEAR_CAP = 300
"""The most names that a word is compared with, letter by letter."""
KNOWN_CAP = 100
"""The most names that are listed where none is close."""


def closest(word: Any, known: Iterable[str]) -> str:
    """Return a hint for an unknown word: similar names, or all; empty if there are none."""
    names, text = list(known), str(word)
    among = names
    if len(names) > NEAR_CAP:
        alike = (each for each in names if abs(len(each) - len(text)) < 3)
        among = heapq.nlargest(NEAR_CAP, alike, key=lambda each: _shared(each, text))
    near = difflib.get_close_matches(text, among, n=2, cutoff=0.6)
    if near:
        return "did you mean " + " or ".join(f"`{name}`" for name in near) + "?"
    if not names:
        return ""
    more = f" and {len(names) - KNOWN_CAP} more" if len(names) > KNOWN_CAP else ""
    return "known: " + ", ".join(f"`{name}`" for name in names[:KNOWN_CAP]) + more


def _shared(one: str, other: str) -> int:
    """Return the number of equal characters with which two words begin, and end."""
    return sum(
        next((n for n, (a, b) in enumerate(zip(x, y, strict=False)) if a != b), min(len(x), len(y)))
        for x, y in ((one, other), (one[::-1], other[::-1]))
    )


class InputMissing(SponsioLikeError):
    """Raised if a contract needs an input (results, facts, ...) that the session does not get."""


class RiskError(SponsioLikeError):
    """Raised for a model of risk, or a question to it, that cannot be read or used."""


class SessionError(SponsioLikeError):
    """Raised if the host uses a session wrongly."""


STRAIN = (RecursionError, MemoryError)
"""The errors that any line may raise when the host has left little memory or stack."""


class Finished(SessionError):
    """Raised if a session that is finished is to decide anything more."""

    def __init__(self, session: str) -> None:
        super().__init__(f"session `{session}` is finished; open a new one")


class SnapshotError(SponsioLikeError):
    """Raised for a snapshot that was not made by `Session.snapshot`, or is damaged."""


class TraceError(SponsioLikeError):
    """Raised for a trace file or a decision log that cannot be read.

    The message has file and line.
    """
