"""Risk: how often runs that came this far ended badly, learned from traces, with bounds.

In: contracts and recorded traces. Out: a `RiskModel`, and for each state how many of how many runs
were bad, within which bounds; chains, and answers to properties of them. The engine knows nothing
of it.
"""

from sponsio_like.risk.abstraction import MonitorNames, Path
from sponsio_like.risk.bounds import Interval, clopper_pearson
from sponsio_like.risk.chain import (
    Bounded,
    Chain,
    bounded_chain,
    chain_of,
    learned_chain,
    smoothed,
)
from sponsio_like.risk.export import drn_text, prism_text
from sponsio_like.risk.learner import Learner, learn
from sponsio_like.risk.model import Count, RiskModel, described, read_model
from sponsio_like.risk.pctl import Checked, check_chain, parse_pctl
from sponsio_like.risk.predicates import Abstraction, predicate
from sponsio_like.risk.solve import next_in, reach, reach_bounds, reach_within, steps_to

# fmt: off
__all__ = [
    "Abstraction", "Bounded", "Chain", "Checked", "Count", "Interval", "Learner", "MonitorNames",
    "Path", "RiskModel", "bounded_chain", "chain_of", "check_chain", "clopper_pearson",
    "described", "drn_text", "learn", "learned_chain", "next_in", "parse_pctl", "predicate",
    "prism_text", "reach", "reach_bounds", "reach_within", "read_model", "smoothed", "steps_to",
]
# fmt: on
