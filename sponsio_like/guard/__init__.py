"""The guard: compiled contracts, the sessions under them, and guarded tools.

In: contracts and tools. Out: a `Guard` that opens sessions and decorates tools.
"""

from sponsio_like.guard.described import declared_kinds
from sponsio_like.guard.flow import Flow, Run, adrive, drive, error_text
from sponsio_like.guard.guard import Guard, begun, checked_by, read_risk_with, record, restored
from sponsio_like.guard.raised import CallBlocked, CallHeld, RunStopped, blocked_exception
from sponsio_like.guard.sessions import SessionOptions
from sponsio_like.guard.tools import refuse_again

# fmt: off
__all__ = [
    "CallBlocked", "CallHeld", "Flow", "Guard", "Run", "RunStopped", "SessionOptions", "adrive",
    "begun", "blocked_exception", "checked_by", "declared_kinds", "drive", "error_text",
    "read_risk_with", "record", "refuse_again", "restored",
]
# fmt: on
