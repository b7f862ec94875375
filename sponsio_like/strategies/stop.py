"""Refuse the call, and end the run: nothing more is let through in this session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sponsio_like.contracts.options import none
from sponsio_like.contracts.targets import Vocabulary
from sponsio_like.outcome import Stop


def stop(options: Mapping[str, Any], words: Vocabulary) -> Stop:
    """`stop` has no options."""
    del words
    none("stop", options)
    return Stop()
