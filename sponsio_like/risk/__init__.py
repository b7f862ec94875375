"""Risk: how often runs that came this far ended badly, learned from traces, with bounds.

In: contracts and recorded traces. Out: a `RiskModel`, and for each state how many of how many runs
were bad, within which bounds; chains, and answers to properties of them. The engine knows nothing
of it.
"""

from sponsio_like.risk.abstraction import Path
from sponsio_like.risk.alarm import Alarm, Calibration, calibration
from sponsio_like.risk.bounds import Interval, clopper_pearson
from sponsio_like.risk.chain import (
    BoundedChain,
    MarkovChain,
    bounded_chain,
    chain_of,
    learned_chain,
    smoothed,
)
from sponsio_like.risk.enough import RunsNeeded, needed_of_row, runs_missing, runs_needed
from sponsio_like.risk.estimate import Risk
from sponsio_like.risk.export import drn_text, prism_text
from sponsio_like.risk.hindsight import Hindsight, look_back
from sponsio_like.risk.learner import Learner, learn
from sponsio_like.risk.model import RiskModel, RunCount, described, read_model
from sponsio_like.risk.page import risk_lines, risk_page, risk_table
from sponsio_like.risk.pctl import Checked, check_chain, parse_pctl
from sponsio_like.risk.policy import RiskPolicy, policy_of
from sponsio_like.risk.predicates import Abstraction, predicate
from sponsio_like.risk.solve import reach, reach_bounds, steps_to

# fmt: off
__all__ = [
    "Abstraction", "Alarm", "BoundedChain", "Calibration", "Checked", "Hindsight", "Interval",
    "Learner", "MarkovChain", "Path", "Risk", "RiskModel", "RiskPolicy", "RunCount", "RunsNeeded",
    "bounded_chain", "calibration", "chain_of", "check_chain", "clopper_pearson", "described",
    "drn_text", "learn", "learned_chain", "look_back", "needed_of_row", "parse_pctl", "policy_of",
    "predicate", "prism_text", "reach", "reach_bounds", "read_model", "risk_lines", "risk_page",
    "risk_table", "runs_missing", "runs_needed", "smoothed", "steps_to",
]
# fmt: on
