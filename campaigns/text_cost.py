"""Measures what a message, or an answer, costs under five contracts about the values in it.

    python -m campaigns.text_cost

In: nothing. Out: milliseconds at the middle and at the best, by words, and the memory they take.
"""

# ruff: noqa: S311, T201 - random words are no secrets, and the table is printed

from __future__ import annotations

import random
import statistics
import time
import tracemalloc
from collections.abc import Callable

from sponsio_like import Guard, contract
from sponsio_like.patterns import value_from
from sponsio_like.syntax import read

ROUNDS = 40
WORDS = (10, 100, 500, 1_000)
SAID = 'G(called({tool}, to = $x, @missing = "refuse") -> Y O (message(user) & text has $x))'


def guards() -> tuple[Guard, Guard]:
    """Return two guards of five contracts: about words of messages, and of answers."""
    tools = [f"send{i}" for i in range(5)]
    said = [contract(each).guarantees(read(SAID.format(tool=each))) for each in tools]
    found = [contract(each).guarantees(value_from(each, "to", "look")) for each in tools]
    return Guard(said), Guard(found)


def words(dice: random.Random, many: int) -> str:
    """Return a text of so many different words, one in ten with a comma behind."""
    each = ["".join(dice.choices("abcdefghijklmnop", k=dice.randint(3, 9))) for _ in range(many)]
    return " ".join(word + "," * (i % 10 == 9) for i, word in enumerate(each))


def timed(prepared: Callable[[], Callable[[], object]]) -> tuple[float, float]:
    """Return milliseconds at the middle and at the best of what is prepared anew each time."""
    taken = []
    for _ in range(ROUNDS):
        run = prepared()
        start = time.perf_counter()
        run()
        taken.append((time.perf_counter() - start) * 1e3)
    return statistics.median(taken), min(taken)


def main() -> None:
    """Print the table."""
    dice, (said, found) = random.Random(1), guards()

    def message(many: int) -> Callable[[], object]:
        session, text = said.session(), words(dice, many)
        session.message("user", "hello")
        return lambda: session.message("user", text)

    def answer(many: int) -> Callable[[], object]:
        session, text = found.session(), words(dice, many)
        call = session.decide("look").id
        return lambda: session.settle(call, output=text)

    for name, make in (("message", message), ("answer", answer)):
        for many in WORDS:
            middle, best = timed(lambda make=make, many=many: make(many))  # type: ignore[misc]
            print(f"{name} of {many} words: {middle:.2f} ms at the middle, {best:.2f} at the best")
    session, text = said.session(), words(dice, WORDS[-1])
    tracemalloc.start()
    session.message("user", text)
    print(f"memory of {WORDS[-1]} words: {tracemalloc.get_traced_memory()[0] // 1024} KB")


if __name__ == "__main__":
    main()
