"""Monitors of formulas with value variables: one state for all values that share it.

In: a clause with `$x`, and events. Out: the values that an event binds, and the states by value.
"""
