"""Reads a contract file with every mistake in it: of its text, of its words, of what they mean.

In: a path. Out: a `File`; or a `ContractError`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sponsio_like.checks.compile import compile_policy
from sponsio_like.outcome import Mode

if TYPE_CHECKING:
    from sponsio_like.contracts import File


def read_file(path: str | Path, mode: Mode | None = None) -> File:
    """Return a contract file. `mode` is for contracts where neither they nor the file state one.

    Raises `ContractError` with every mistake that can be found: of the text, and of the meaning of
    those contracts that could be read.
    """
    from sponsio_like.contracts import load

    return load(
        path,
        lambda file: compile_policy(file.contracts, file.mode or mode or "enforce", file.inventory),
    )
