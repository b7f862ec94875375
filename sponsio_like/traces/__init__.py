"""Reads trace files: what agents did, one session a line.

In: JSON lines. Out: events, or the place of a mistake and what to write instead.
"""
