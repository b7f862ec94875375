"""Replays contracts on recorded traces, and reports what they would have done and why.

In: traces or a decision log. Out: counts, reports and explanations for people.
"""

from sponsio_like.replay.report import report_of

__all__ = ["report_of"]
