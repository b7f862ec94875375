"""Replays contracts on recorded traces, and reports what they would have done and why.

In: traces or a decision log. Out: counts, reports and explanations for people, as text, JSON or a
page of HTML (`log_page.py`; logs of any size are counted by an embedded database, `log_counts.py`).
"""

from sponsio_like.replay.bounds import lower_bound, needed, rate_with_tail, upper_bound
from sponsio_like.replay.check_report import CheckedFile, checked, underlined
from sponsio_like.replay.diff import difference
from sponsio_like.replay.evidence import Wanted, evidence_of
from sponsio_like.replay.exact import Applications, applications
from sponsio_like.replay.examples import check_examples
from sponsio_like.replay.log_counts import facts_of
from sponsio_like.replay.log_page import page_of
from sponsio_like.replay.part import LogPart, session_page
from sponsio_like.replay.promote import promoted, promotion
from sponsio_like.replay.replay import Played, Replay
from sponsio_like.replay.report import Report, report_of
from sponsio_like.replay.review import ANSWERS, add_label, labels_of, to_review
from sponsio_like.replay.shortest import notation, shortest_lines, shortest_of
from sponsio_like.replay.summary import ContractSummary, Summary, read_all
from sponsio_like.replay.testing.mutants import mutants_of, surviving
from sponsio_like.replay.testing.propose import proposed, with_proposed
from sponsio_like.replay.testing.results import file_results
from sponsio_like.replay.testing.run import run_tests
from sponsio_like.replay.timeline import explained, page

# fmt: off
__all__ = [
    "ANSWERS", "Applications", "CheckedFile", "ContractSummary", "LogPart", "Played", "Replay",
    "Report", "Summary", "Wanted", "add_label", "applications", "check_examples", "checked",
    "difference", "evidence_of", "explained", "facts_of", "file_results", "labels_of",
    "lower_bound", "mutants_of", "needed", "notation", "page", "page_of", "promoted", "promotion",
    "proposed", "rate_with_tail", "read_all", "report_of", "run_tests", "session_page",
    "shortest_lines", "shortest_of", "surviving", "to_review", "underlined", "upper_bound",
    "with_proposed",
]
# fmt: on
