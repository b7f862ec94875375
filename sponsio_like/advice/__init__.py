"""Finds the advice for a refused event: the reason, and the shortest way to make it legal.

In: a refusal. Out: one sentence, found by trying events on copies of the ledger within a budget.
"""
