"""Names what the calls of a recorded run can be made with: data, versions, names in an attack."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

Run: TypeAlias = Mapping[str, Any]
Names: TypeAlias = tuple[str, str]
"""The names by which an attack calls the user and the model."""


class Way(NamedTuple):
    """A way to make the calls of a run: the benchmark's data, and the version of its tasks."""

    data: str
    version: str


Answers: TypeAlias = Sequence[str | None]
Tries: TypeAlias = Callable[[Run, Names | None], Mapping[Way, Answers]]
"""Makes the calls of a run in every way that there is; None where a call cannot be made."""
