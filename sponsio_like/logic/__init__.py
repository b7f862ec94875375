"""Formulas of linear temporal logic over the facts of a trace, as frozen trees.

In: nodes, made by hand or by `ltl` and `syntax`. Out: the same nodes printed, matched and
decomposed into the parts that are watched one by one. Nothing here knows what an event is.
"""
