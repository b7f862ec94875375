"""What advice costs, in calls of functions: other contracts add little."""

from __future__ import annotations

from sponsio_like import Blocked, Guard, contract
from sponsio_like.contracts import Contract
from sponsio_like.syntax import read
from tests.support.costs import work


def _advised(contracts: list[Contract]) -> int:
    """Return what the second advice costs under these contracts, about another value."""
    guard = Guard(contracts)

    def advise(value: str) -> str:
        outcome = guard.session().decide("go", {"f": value})
        assert isinstance(outcome, Blocked)
        return outcome.advice

    assert "first call `seen`" in advise("a")
    return work(lambda: advise("b"))


def test_contracts_about_values_of_other_tools_are_not_compiled_for_each_advice() -> None:
    """They are compiled once, for values that nothing binds, with the first advice."""
    rules = ["G(called(go, f = $x) -> Y O done(seen, f = $x))"]
    rules += [f"G(done(a{i}, f = $x) -> X F done(b{i}, f = $x))" for i in range(30)]
    own, all_ = (
        _advised([contract(f"c{i}").guarantees(read(each)) for i, each in enumerate(some)])
        for some in (rules[:1], rules)
    )
    assert all_ < 3 * own, (own, all_)
