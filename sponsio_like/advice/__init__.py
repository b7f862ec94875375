"""Finds the advice for a refused event: the reason, and the shortest way to make it legal.

In: a refusal. Out: one sentence, found by trying events on copies of the ledger within a budget.
"""

from sponsio_like.advice.advice import Refusal, load_search
from sponsio_like.advice.foresight import View, view
from sponsio_like.advice.withheld import labelled, plainly

# fmt: off
__all__ = [
    "Refusal", "View", "labelled", "load_search", "plainly", "view",
]
# fmt: on
