"""The events of a session, and what an atom or a term of a formula says of one of them.

In: calls, messages, steps and results, and what is told beside them. Out: readers of one event.
"""
