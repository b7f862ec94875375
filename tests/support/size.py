"""How much is enumerated and searched: all of it in `make test`, a part of it in `make check`.

`make test` has `WHOLE=1` in the environment. A part has every behaviour, in fewer cases.
"""

from __future__ import annotations

import os

WHOLE = bool(os.environ.get("WHOLE"))


def sized(whole: int, part: int) -> int:
    """`whole` where everything is tried, else `part`."""
    return whole if WHOLE else part
