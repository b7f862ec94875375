"""The strategies: the decisions on a violation, a file for each and its line here.

A strategy reads its options, once, at load time, and says how a violation is answered. The set of
strategies is open, and a callable of the user may be one; the set of answers (`outcome.Decision`)
is closed.
"""

from __future__ import annotations

from sponsio_like.contracts import STRATEGIES
from sponsio_like.strategies.block import block
from sponsio_like.strategies.escalate import escalate
from sponsio_like.strategies.redirect_to_safe import redirect_to_safe
from sponsio_like.strategies.stop import stop
from sponsio_like.strategies.warn_only import warn_only

STRATEGIES.update(
    block=block,
    escalate=escalate,
    redirect_to_safe=redirect_to_safe,
    stop=stop,
    warn_only=warn_only,
)
