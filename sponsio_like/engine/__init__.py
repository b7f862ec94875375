"""Judges events by contracts, without locks; of the code of users, only atoms run here.

In: contracts. Out: a `Policy` of clauses, the `Ledger` of one session, and for each event a
judgement: the clauses that it would violate, and what letting it through changes.
"""
