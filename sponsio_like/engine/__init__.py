"""Judges events by contracts, without locks; of the code of users, only atoms run here.

In: contracts. Out: a `Policy` of clauses, the `Ledger` of one session, and for each event a
judgement: the clauses that it would violate, and what letting it through changes.

Read first `clause.py`, then `ledger.py` and `judgement.py` for a call, `settlement.py` for a result
and a deadline, `findings.py` for what is answered. `fastpath` does the same, faster.
"""

from sponsio_like.engine.applicability import ByName, Letter, applies, contract_names
from sponsio_like.engine.automaton import is_simple, ranked
from sponsio_like.engine.clause import MOMENT, Clause
from sponsio_like.engine.codec import decode, encode
from sponsio_like.engine.fastpath.compile import (
    EAGER_LANES_CAP,
    checking_inventory,
    lane_of,
    named_lane,
    prepare,
)
from sponsio_like.engine.fastpath.lane import Checked, Lane, ResultPart
from sponsio_like.engine.fastpath.letter import runs_user_code
from sponsio_like.engine.findings import (
    INVENTORY,
    RISK,
    RISK_NAME,
    Finding,
    action_of,
    enforced,
    findings_of,
    holding,
    in_doubt,
    inventory_mode,
    left_to_answer,
    lost,
    needing_ruling,
    observed,
    renamed,
    reported,
    still_asks,
    stoppable,
    stopping,
    strictest,
    unlisted_call,
    unreadable,
)
from sponsio_like.engine.index import INDEX_CAP
from sponsio_like.engine.judgement import judge, witnesses
from sponsio_like.engine.ledger import Entry, Ledger
from sponsio_like.engine.open_call import (
    NOTHING_OPENED,
    Opened,
    keep_all,
    open_clause,
    open_clauses,
)
from sponsio_like.engine.per_value import OTHERS, FinalValues
from sponsio_like.engine.policy import LINEAGE, Counter, Policy, follow, in_modes, with_modes
from sponsio_like.engine.settlement import Results, expire, settle_all, split_world
from sponsio_like.engine.shapes import Compiled, Shape
from sponsio_like.engine.status import open_obligations, owed, verdicts
from sponsio_like.engine.unread import (
    KEPT,
    Unread,
    missing_fields,
    too_large,
    unread_fields,
    unread_in_result,
    unread_keys,
    unread_slots,
    why_unread,
)

# fmt: off
__all__ = [
    "EAGER_LANES_CAP", "INDEX_CAP", "INVENTORY", "KEPT", "LINEAGE", "MOMENT", "NOTHING_OPENED",
    "OTHERS", "RISK", "RISK_NAME", "ByName", "Checked", "Clause", "Compiled", "Counter", "Entry",
    "FinalValues", "Finding", "Lane", "Ledger", "Letter", "Opened", "Policy", "ResultPart",
    "Results", "Shape", "Unread", "action_of", "applies", "checking_inventory", "contract_names",
    "decode", "encode", "enforced", "expire", "findings_of", "follow", "holding", "in_doubt",
    "in_modes", "inventory_mode", "is_simple", "judge", "keep_all", "lane_of", "left_to_answer",
    "lost", "missing_fields", "named_lane", "needing_ruling", "observed", "open_clause",
    "open_clauses", "open_obligations", "owed", "prepare", "ranked", "renamed", "reported",
    "runs_user_code", "settle_all", "split_world", "still_asks", "stoppable", "stopping",
    "strictest", "too_large", "unlisted_call", "unread_fields", "unread_in_result", "unread_keys",
    "unread_slots", "unreadable", "verdicts", "why_unread", "with_modes", "witnesses",
]
# fmt: on
