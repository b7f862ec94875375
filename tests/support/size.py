"""How much is enumerated and searched: all of it in `make test`, a part of it in `make check`.

`make test` has `WHOLE=1` in the environment, and `make check` has `PART=1`: there, of each test
with many cases some are tried, always the same. A part has every behaviour, in fewer cases. Without
either, as in `pytest FILE`, every case that stands in a table is tried.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Iterable

WHOLE = bool(os.environ.get("WHOLE"))
PART = bool(os.environ.get("PART"))


def sized(whole: int, part: int) -> int:
    """`whole` where everything is tried, else `part`."""
    return whole if WHOLE else part


CASES = 10
"""Most cases of a test that `make check` tries."""


def a_part(names: Iterable[str]) -> set[str]:
    """Return the names of the cases that are tried: at most `CASES` of each test, drawn once."""
    tests = defaultdict[str, list[str]](list)
    for name in names:
        tests[name.partition("[")[0]].append(name)
    return {
        name
        for test, cases in tests.items()
        for name in random.Random(test).sample(sorted(cases), min(CASES, len(cases)))
    }
