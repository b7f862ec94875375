"""What contracts say of events, without locks and without code of users.

In: contracts. Out: a `Policy` of clauses, the `Ledger` of one session, and for each event a
judgement: which clauses it would violate, and what letting it through changes.
"""
