"""What a refused call is told is worked out beside the event loop."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.tools import tool

from sponsio_like.advice.advice import Refusal
from tests.adapters.rules import few
from tests.adapters.talks import Way, ask, everywhere


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


@everywhere
def test_advice_is_not_worked_out_on_the_event_loop(
    way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes a thread of its own in async runs; each refusal is worked out once."""
    on_loop: list[bool] = []
    explain = Refusal._how

    def watched(refusal: Refusal) -> Any:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            on_loop.append(False)
        else:
            on_loop.append(True)
        assert way.later is not (threading.current_thread() is threading.main_thread())
        return explain(refusal)

    monkeypatch.setattr(Refusal, "_how", watched)
    came = way.open([pay], few("pay", 1)).say(ask("pay", amount=1), ask("pay", "b", amount=2))
    assert "`few pay`" in came.refused("b")
    assert on_loop == [False]
