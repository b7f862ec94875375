"""Reads the nodes of the abstract past at a letter; what no register changes is read once.

In: a letter by its number, and registers. Out: the values of all nodes when the call is decided,
and the registers behind the position.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sponsio_like.logic.formula import Steps
from sponsio_like.monitor.abstraction import Abstract, abstracted
from sponsio_like.monitor.past import Letter, Registers, Values
from sponsio_like.monitor.program import PAST, Program, Slot, operands


class LetterValues:
    """The values at the letters of one program.

    `slots`: those of a letter, of which the program may have got more since; `letters`: what a
    position may be; `changing`: the nodes whose values depend on registers.
    """

    def __init__(
        self,
        program: Program,
        slots: Sequence[Slot],
        abstract: Abstract,
        letters: Callable[[], Sequence[Letter]],
    ) -> None:
        self._past = abstract.past
        self._relative = [
            (k, bound)
            for k, bound in enumerate(abstract.bounds)
            if bound is not None and isinstance(bound[1], Steps)
        ]
        self._waiting = frozenset(i for i, slot in enumerate(slots) if slot.waits)
        self._letters = letters
        self._changing = _changing(program, abstract)
        self.changing = frozenset(i for i, _ in self._changing)
        self._undecided: dict[int, Letter] = {}
        self._once: dict[Letter, Values] = {}

    def read(self, k: int, registers: Registers) -> tuple[Values, Registers]:
        """Return the values at letter number `k` while its call is open, and the registers once it
        has settled.
        """
        letter = self._letters()[k]
        undecided = self._undecided.get(k)
        if undecided is None:
            open_ = tuple([i not in self._waiting and value for i, value in enumerate(letter)])
            undecided = self._undecided[k] = letter if open_ == letter else open_
        seen = self._values(undecided, registers)
        values = seen if undecided is letter else self._values(letter, registers)
        return seen, self._behind(values, letter, registers)

    def after(self, letter: Letter, registers: Registers) -> Registers:
        """Return the registers behind a position with this letter, once its call has settled."""
        return self._behind(self._values(letter, registers), letter, registers)

    def _values(self, letter: Letter, registers: Registers) -> Values:
        known = self._once.get(letter)
        if known is None:
            known = self._once[letter] = self._past.read(letter, registers, 1, 0.0)
        values = known.copy()
        for i, value in self._changing:
            values[i] = value(values, letter, registers, 1, 0.0)
        return values

    def _behind(self, values: Values, letter: Letter, registers: Registers) -> Registers:
        """Return the registers relative to the position that these values are read at."""
        after = self._past.after(values, letter, registers, 1, 0.0)
        if not self._relative:
            return after
        moved = [*after]
        for k, bound in self._relative:
            moved[k] = abstracted(moved[k], bound, 1)
        return tuple(moved)


def _changing(program: Program, abstract: Abstract) -> list[tuple[int, Callable[..., object]]]:
    """Return the nodes whose values depend on registers, each with the function that reads it."""
    found: dict[int, Callable[..., object]] = {}
    for i, (op, value) in enumerate(zip(program.nodes, abstract.past.values, strict=True)):
        below = op[0] in ("and", "or") and not found.keys().isdisjoint(operands(op))
        if value is not None and (op[0] in PAST or below):
            found[i] = value
    return list(found.items())
