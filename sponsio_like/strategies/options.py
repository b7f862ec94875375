"""What a strategy may be given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sponsio_like.errors import ContractError


def none(name: str, options: Mapping[str, Any]) -> None:
    """Raise `ContractError` if there are any."""
    if options:
        raise ContractError.of(f"`{name}` has no options", f"write strategy: {name}")
