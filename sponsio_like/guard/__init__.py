"""The guard: compiled contracts, the sessions under them, and guarded tools.

In: contracts and tools. Out: a `Guard` that opens sessions and decorates tools.
"""

from sponsio_like.contracts import Pattern, when_declared
from sponsio_like.guard.described import declared_kinds
from sponsio_like.guard.flow import Flow, Run, adrive, drive, error_text
from sponsio_like.guard.guard import Guard, begun, record, restored
from sponsio_like.guard.raised import CallBlocked, CallHeld, RunStopped, blocked_exception
from sponsio_like.guard.sessions import SessionOptions

# fmt: off
__all__ = [
    "CallBlocked", "CallHeld", "Flow", "Guard", "Run", "RunStopped", "SessionOptions", "adrive",
    "begun", "blocked_exception", "declared_kinds", "drive", "error_text", "record", "restored",
]
# fmt: on


def _check_examples(pattern: Pattern) -> None:
    from sponsio_like.replay import check_examples

    check_examples(pattern)


when_declared(_check_examples)
