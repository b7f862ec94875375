"""The behaviours that every adapter shows, or declares impossible.

In: the test files that have an `opened` to try. Out: `BEHAVIOURS`, from the name of a behaviour to
its test, which is a function of `opened`; its docstring says what has to hold.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TypeAlias

from tests.adapters import (
    test_calls,
    test_failures,
    test_holds,
    test_risks,
    test_stopping,
    test_turns,
)
from tests.adapters.harness import Open

Behaviour: TypeAlias = Callable[[Open], None]


def _of(*files: ModuleType) -> dict[str, Behaviour]:
    return {
        name.removeprefix("test_"): found
        for file in files
        for name, found in vars(file).items()
        if name.startswith("test_")
    }


BEHAVIOURS = _of(test_calls, test_turns, test_holds, test_failures, test_stopping, test_risks)
