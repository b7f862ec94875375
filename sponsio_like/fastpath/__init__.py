"""Python source for the calls of one tool: what the monitors would say, in microseconds.

In: a policy and a tool. Out: a lane, or the answer that there is none. The engine is right without.
"""

from sponsio_like.fastpath.compile import AT_ONCE, checking_inventory, lane_of, named_lane, prepare
from sponsio_like.fastpath.lane import Checked, Lane
from sponsio_like.fastpath.letter import runs_user_code

# fmt: off
__all__ = [
    "AT_ONCE", "Checked", "Lane", "checking_inventory", "lane_of", "named_lane", "prepare",
    "runs_user_code",
]
# fmt: on
