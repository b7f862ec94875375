"""Sessions: they decide a call before it runs, and settle it when it has run.

In: calls, results, messages and facts. Out: an outcome for each call, tickets, notices, a decision
log, snapshots. The lock and the code of users are here.
"""

from sponsio_like.session.session import Session

__all__ = ["Session"]
