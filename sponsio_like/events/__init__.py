"""The events of a session, and the functions that read atoms and terms at one of them.

In: calls, messages, steps and results, and what is told beside them. Out: readers of one event.
"""
