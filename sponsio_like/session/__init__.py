"""Sessions: they decide a call before it runs, and settle it when it has run.

In: calls, results, messages and facts. Out: an outcome for each call, tickets, notices, a decision
log, snapshots. The lock and the code of users are here.

Read first `session.py`. It asks `fast.py`; where that cannot answer, `decide.py`, which asks
`interceptor.py`; and for a result `settle.py`.
"""

from sponsio_like.session.active import Caller, caller_in, caller_under
from sponsio_like.session.content import ARGUMENTS, Content, read_content
from sponsio_like.session.decision_log import SILENT, Log, Outlet
from sponsio_like.session.gate import CallFields, Gate, GatePolicy
from sponsio_like.session.ids import fresh_id
from sponsio_like.session.rehearse import Lesson, lessons
from sponsio_like.session.session import Session, decide_fitted, read_saved, saved
from sponsio_like.session.snapshot import part

# fmt: off
__all__ = [
    "ARGUMENTS", "SILENT", "CallFields", "Caller", "Content", "Gate", "GatePolicy", "Lesson", "Log",
    "Outlet", "Session", "caller_in", "caller_under", "decide_fitted", "fresh_id", "lessons",
    "part", "read_content", "read_saved", "saved",
]
# fmt: on
