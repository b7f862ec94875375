"""Keeps failures of the adapter from the agent, where contracts only observe.

In: the work of a node. Out: what it gives; or, where it raises and nothing is enforced, what the
agent would do without contracts. The failure is logged.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from langgraph.errors import GraphBubbleUp

from sponsio_like.guard import Flow, Guard

LOG = logging.getLogger("sponsio_like")


def undisturbed(guard: Guard, work: Flow, instead: Callable[[], Any]) -> Flow:
    """Do the work, and return what it gives; `instead`, if it raises and nothing is enforced."""
    try:
        return (yield from work)
    except GraphBubbleUp:
        raise
    except Exception:
        if guard.policy.enforces:
            raise
        log_failure("the contracts were not observed here")
        return instead()


def log_failure(what: str) -> None:
    """Log what has failed, with the exception that is being handled."""
    LOG.warning("%s", what, exc_info=True)  # noqa: LOG014  callers handle one
