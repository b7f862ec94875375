"""Trace files: what agents did, one session a line.

In: JSON lines. Out: events, or where a line is wrong and what to write instead.
"""
