"""Python source for the calls of one tool: what the monitors would say, in microseconds.

In: a policy and a tool. Out: a lane, or the answer that there is none. The engine is right without.

Read first `lane.py`: what a lane answers. `compile.py` says when one is built, `source.py` writes
it. A tool has none where a clause runs code of users, or has value variables for which there is no
source (`NoLane`); which calls do not take the lane of their tool stands in `session/fast.py`.
"""
