"""Runs the tests that stand in contract files, and says what they leave untested.

In: a contract file with a section `tests:`. Out: for each test, whether the contracts did what is
expected; for each contract, whether tests saw it apply, kept and broken; and the mutants, contracts
that were changed a little, which no test noticed.
"""

from sponsio_like.testing.mutants import Mutant, mutants_of, surviving
from sponsio_like.testing.propose import proposed
from sponsio_like.testing.run import Coverage, Tested, TestResult, run_tests

# fmt: off
__all__ = [
    "Coverage", "Mutant", "TestResult", "Tested", "mutants_of", "proposed", "run_tests",
    "surviving",
]
# fmt: on
