"""How much is tried: `TESTS` in the environment is `check`, `test` or `all`, as `make` sets it.

| `TESTS` | a test with many cases | one that is marked `long` | what is enumerated |
|---|---|---|---|
| `check` | five cases | none | a part |
| `test` | every case | ten cases | a part |
| `all` (`make all`) | every case | every case | all of it |
| unset (`pytest FILE`) | every case | every case | a part |

Cases are drawn once: the same are tried each time. A test is `long` if ten of its cases, or what
it enumerates in part, take more than 1.5 seconds.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Iterable

TESTS = os.environ.get("TESTS", "")
WHOLE = TESTS == "all"
PART = TESTS == "check"


def sized(whole: int, part: int) -> int:
    """`whole` where everything is tried, else `part`."""
    return whole if WHOLE else part


def drawn(names: Iterable[str], is_long: bool, tests: str = TESTS) -> list[str]:
    """Return those of the cases of one test that are tried."""
    cases = sorted(names)
    match tests, is_long:
        case "check", False:
            most = 5
        case "check", True:
            most = 0
        case "test", True:
            most = 10
        case _:
            return cases
    test = cases[0].partition("[")[0]
    return random.Random(test).sample(cases, min(most, len(cases)))


def tried(cases: Iterable[tuple[str, bool]]) -> set[str]:
    """Return the names that are tried of cases, which are given as (name, is long)."""
    tests = defaultdict[tuple[str, bool], list[str]](list)
    for name, is_long in cases:
        tests[name.partition("[")[0], is_long].append(name)
    return {name for (_, is_long), names in tests.items() for name in drawn(names, is_long)}
