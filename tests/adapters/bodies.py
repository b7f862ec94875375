"""Tools whose bodies say what they have received.

In: calls. Out: `RAN`, which `conftest.py` clears before each test.
"""

from __future__ import annotations

from typing import Any

from langchain_core.tools import tool

RAN: list[Any] = []
"""What bodies have received."""


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    RAN.append(amount)
    return f"paid {amount}"


@tool
def shaky(amount: int) -> str:
    """Pay an amount, or fail."""
    RAN.append(amount)
    raise ValueError("no paper")
