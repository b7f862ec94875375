"""The command `draft`: contracts for a specification, drafted by a model and checked on recorded
runs.

In: texts, traces, tool files and a model. Out: a contract file of which each line was checked.
"""
