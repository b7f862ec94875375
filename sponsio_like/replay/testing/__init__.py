"""Runs the tests that stand in contract files, and says what they leave untested.

In: a contract file with a section `tests:`. Out: for each test, whether the contracts did what is
expected; for each contract, whether tests saw it apply, kept and broken; and the mutants, contracts
that were changed a little, which no test noticed.
"""
