"""Judges events by contracts, without locks and without code of users but for its atoms.

In: contracts. Out: a `Policy` of clauses, the `Ledger` of one session, and for each event a
judgement: the clauses that it would violate, and what letting it through changes.
"""
