"""A checkpoint is read again where another task has written to its saver meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("langgraph")

from sponsio_like.adapters.langgraph.pending_writes import TRIES, fetched
from sponsio_like.guard import adrive, drive


class Changing:
    """A saver in memory that changes while it is read, so many times."""

    def __init__(self, times: int) -> None:
        self.left = times

    def get_tuple(self, where: Any) -> str:
        """The checkpoint, once nobody writes any more."""
        self.left -= 1
        if self.left >= 0:
            raise RuntimeError("dictionary changed size during iteration")
        return f"found at {where}"

    async def aget_tuple(self, where: Any) -> str:
        """Ask as `get_tuple` does."""
        return self.get_tuple(where)


@pytest.mark.parametrize("times", [0, 1, TRIES])
def test_a_checkpoint_is_read_again_if_its_saver_has_changed(times: int) -> None:
    """Another task of the step writes its result while the decision reads what is pending."""
    assert drive(fetched(Changing(times), "c", later=False)) == "found at c"
    assert asyncio.run(adrive(fetched(Changing(times), "c", later=True))) == "found at c"


def test_a_saver_that_never_stands_still_is_an_error() -> None:
    """Whoever reads is told so, instead of waiting for ever."""
    with pytest.raises(RuntimeError, match="changed size"):
        drive(fetched(Changing(TRIES + 1), "c", later=False))
    with pytest.raises(RuntimeError, match="changed size"):
        asyncio.run(adrive(fetched(Changing(TRIES + 1), "c", later=True)))
