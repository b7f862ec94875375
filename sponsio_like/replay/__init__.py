"""Replays contracts on recorded traces, and reports what they would have done and why.

In: traces or a decision log. Out: counts, reports and explanations for people.
"""

from sponsio_like.replay.bounds import lower_bound, needed, upper_bound
from sponsio_like.replay.part import Part, session_page
from sponsio_like.replay.replay import Played, Replay
from sponsio_like.replay.report import report_of
from sponsio_like.replay.summary import ContractSummary, Summary, read_all
from sponsio_like.replay.timeline import explained, page

# fmt: off
__all__ = [
    "ContractSummary", "Part", "Played", "Replay", "Summary", "explained", "lower_bound",
    "needed", "page", "read_all", "report_of", "session_page", "upper_bound",
]
# fmt: on
