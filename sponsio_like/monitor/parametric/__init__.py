"""Monitors of formulas with value variables: one state for all values that share it.

In: a clause with `$x`, and events. Out: the values that an event binds, and the states by value.

`bindings.py` reads an event, by the atoms of `atoms.py`; `lookup.py` reads one place of it, such as
a text; `store.py` has the states. The engine steps them in `engine/per_value.py`.
"""
