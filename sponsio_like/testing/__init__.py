"""Runs the tests that stand in contract files, and says what they leave untested.

In: a contract file with a section `tests:`. Out: for each test, whether the contracts did what is
expected; for each contract, whether tests saw it apply, kept and broken; and the mutants, contracts
that were changed a little, which no test noticed.
"""

from sponsio_like.testing.coverage import Coverage
from sponsio_like.testing.mutants import Mutant, mutants_of, surviving
from sponsio_like.testing.propose import proposed, with_proposed
from sponsio_like.testing.results import Results, file_results
from sponsio_like.testing.run import Tested, TestResult, run_tests

# fmt: off
__all__ = [
    "Coverage", "Mutant", "Results", "TestResult", "Tested", "file_results", "mutants_of",
    "proposed", "run_tests", "surviving", "with_proposed",
]
# fmt: on
