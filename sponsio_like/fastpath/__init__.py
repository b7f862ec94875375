"""Python source for the calls of one tool: what the monitors would say, in microseconds.

In: a policy and a tool. Out: a lane, or the answer that there is none. The engine is right without.
"""

from sponsio_like.fastpath.compile import lane_of, listed, prepare
from sponsio_like.fastpath.lane import Checked, Lane

# fmt: off
__all__ = [
    "Checked", "Lane", "lane_of", "listed", "prepare",
]
# fmt: on
