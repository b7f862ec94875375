"""The command `draft`: contracts for a specification, from a model, grounded in recorded runs.

In: texts, traces, tool files and a model. Out: a contract file of which each line was checked.
"""
