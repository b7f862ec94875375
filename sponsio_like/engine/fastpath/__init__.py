"""Python source for the calls of one tool: what the monitors would say, in microseconds.

In: a policy and a tool. Out: a lane, or the answer that there is none. The engine is right without.
"""
