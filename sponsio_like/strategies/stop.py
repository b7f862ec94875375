"""The strategy `stop`: refuse the call and end the run; the session lets nothing more through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sponsio_like.contracts import Vocabulary, none
from sponsio_like.outcome import Stop


def stop(options: Mapping[str, Any], words: Vocabulary) -> Stop:
    """Return the decision to stop. Raises `ContractError` if there are options."""
    del words
    none("stop", options)
    return Stop()
