"""Risk: how often runs that came this far ended badly, learned from traces, with bounds.

In: contracts and recorded traces. Out: a `RiskModel`, and for each state how many of how many runs
were bad, within which bounds. The engine knows nothing of it.
"""

from sponsio_like.risk.abstraction import MonitorNames, Path
from sponsio_like.risk.bounds import Interval, clopper_pearson
from sponsio_like.risk.learner import Learner, learn
from sponsio_like.risk.model import Count, RiskModel, described, read_model
from sponsio_like.risk.predicates import Abstraction, predicate

# fmt: off
__all__ = [
    "Abstraction", "Count", "Interval", "Learner", "MonitorNames", "Path", "RiskModel",
    "clopper_pearson", "described", "learn", "predicate", "read_model",
]
# fmt: on
