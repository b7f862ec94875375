"""Solves chains: the probability to reach a set, within some steps or at all, and the steps to it.

In: a chain, and sets of states. Out: one value a state. Fractions give fractions, by elimination;
floats, and chains of more than some hundred states, are iterated until the residual, which is
checked, bounds the error. numpy and scipy are needed for these.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from sponsio_like.errors import RiskError
from sponsio_like.risk.chain import BoundedChain, MarkovChain, Row

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

EXACT_CAP = 300
"""Most states between start and end that are eliminated exactly."""
RESIDUAL = 1e-13
ERROR = 1e-9
"""The error that an iterated answer may have."""
SWEEPS = 700
"""The sweeps of plain iteration that are tried first: they are cheap, and mostly enough."""
ROUNDS = 1_000_000


class Solved(NamedTuple):
    """One value a state; `error`: how far each may be from the truth, 0 if it is exact."""

    values: Sequence[Any]
    error: float = 0.0


def reach(
    chain: MarkovChain, stay: Collection[int], goal: Collection[int], *, exact: bool | None = None
) -> Solved:
    """Return the probability of `stay U goal`: to reach the goal through states in `stay`."""
    goal, stay = frozenset(goal), frozenset(stay) - frozenset(goal)
    maybe = sorted(_can_reach(chain.rows, stay, goal))
    values: list[Any] = [Fraction(int(i in goal)) for i in range(chain.size)]
    plain = chain.exact and len(maybe) <= EXACT_CAP if exact is None else exact
    if plain:
        found = _eliminated(chain.rows, maybe, {i: values[i] for i in goal})
        for i, value in zip(maybe, found, strict=True):
            values[i] = value
        return Solved(values)
    return _iterated(chain.rows, maybe, [float(each) for each in values])


def reach_within(
    chain: MarkovChain, stay: Collection[int], goal: Collection[int], steps: int
) -> Solved:
    """Return the probability of `stay U<=steps goal`."""
    goal, stay = frozenset(goal), frozenset(stay) - frozenset(goal)
    values: list[Any] = [Fraction(int(i in goal)) for i in range(chain.size)]
    if not chain.exact or chain.size > EXACT_CAP:
        return Solved(_stepped(chain.rows, stay, [float(each) for each in values], steps), 1e-14)
    for _ in range(steps):
        values = [
            sum((p * values[j] for j, p in chain.rows[i].items()), Fraction(0))
            if i in stay
            else values[i]
            for i in range(chain.size)
        ]
    return Solved(values)


def next_in(chain: MarkovChain, goal: Collection[int]) -> Solved:
    """Return the probability that the next state is in the goal."""
    return Solved(
        [sum((p for j, p in row.items() if j in goal), Fraction(0)) for row in chain.rows]
    )


def steps_to(chain: MarkovChain, goal: Collection[int], *, exact: bool | None = None) -> Solved:
    """Return the expected steps to the goal, of the runs that reach it; None where none does."""
    hit = reach(chain, range(chain.size), goal, exact=exact)
    goal = frozenset(goal)
    maybe = [i for i in range(chain.size) if i not in goal and hit.values[i] > 0]
    gain = {i: hit.values[i] for i in maybe}
    if chain.exact and len(maybe) <= EXACT_CAP if exact is None else exact:
        found: Iterable[Any] = _eliminated(chain.rows, maybe, {}, gain)
        error = 0.0
    else:
        zeros = [0.0] * chain.size
        solved = _iterated(chain.rows, maybe, zeros, [float(gain[i]) for i in maybe])
        found, error = [solved.values[i] for i in maybe], solved.error
    out: list[Any] = [0 if i in goal else None for i in range(chain.size)]
    for i, value in zip(maybe, found, strict=True):
        out[i] = value / hit.values[i]
    return Solved(out, error)


def _can_reach(rows: Sequence[Row], stay: Collection[int], goal: Collection[int]) -> set[int]:
    """Return the states of `stay` from which the goal can be reached at all."""
    before: dict[int, list[int]] = {}
    for i in stay:
        for j, p in rows[i].items():
            if p:
                before.setdefault(j, []).append(i)
    found: set[int] = set()
    todo = list(goal)
    while todo:
        for i in before.get(todo.pop(), ()):
            if i not in found:
                found.add(i)
                todo.append(i)
    return found


def _eliminated(
    rows: Sequence[Row],
    maybe: Sequence[int],
    known: dict[int, Any],
    gain: dict[int, Any] | None = None,
) -> list[Any]:
    """Return the solution of `x = A x + b` over the states `maybe`, exactly: state elimination."""
    inside = frozenset(maybe)
    left: dict[int, dict[int, Any]] = {}
    constant: dict[int, Any] = {}
    before: dict[int, set[int]] = {i: set() for i in maybe}
    for i in maybe:
        left[i] = {j: Fraction(p) for j, p in rows[i].items() if j in inside and p}
        parts = (Fraction(p) * known.get(j, 0) for j, p in rows[i].items() if j not in inside)
        constant[i] = sum(parts, Fraction(gain[i]) if gain else Fraction(0))
        for j in left[i]:
            before[j].add(i)
    order = sorted(maybe, key=lambda i: len(left[i]) * len(before[i]))
    for k in order:
        row = left[k]
        scale = 1 / (1 - row.pop(k, Fraction(0)))
        for j in row:
            row[j] *= scale
        constant[k] *= scale
        before[k].discard(k)
        for i in before[k]:
            weight = left[i].pop(k, None)
            if weight is None:
                continue
            constant[i] += weight * constant[k]
            for j, p in row.items():
                left[i][j] = left[i].get(j, 0) + weight * p
                before[j].add(i)
        for j in row:
            before[j].discard(k)
    solved: dict[int, Any] = {}
    for k in reversed(order):
        solved[k] = constant[k] + sum((p * solved[j] for j, p in left[k].items()), Fraction(0))
    return [solved[i] for i in maybe]


# --- by iteration -----------------------------------------------------------------------------


def _iterated(
    rows: Sequence[Row], maybe: Sequence[int], known: list[float], gain: list[float] | None = None
) -> Solved:
    """Return the solution of `x = A x + b` by iteration, with a bound of its error."""
    import numpy as np
    from scipy.sparse import csr_matrix, identity
    from scipy.sparse.linalg import bicgstab

    if not maybe:
        return Solved(known)
    number = {state: i for i, state in enumerate(maybe)}
    at, to, weight = [], [], []
    b = np.zeros(len(maybe)) if gain is None else np.asarray(gain, dtype=float)
    for i, state in enumerate(maybe):
        for j, p in rows[state].items():
            if j in number:
                at.append(i)
                to.append(number[j])
                weight.append(float(p))
            else:
                b[i] += float(p) * known[j]
    a = csr_matrix((weight, (at, to)), shape=(len(maybe), len(maybe)))
    matrix = identity(len(maybe), format="csr") - a
    x = _settled(matrix, a, b, bicgstab)
    error = float(np.max(np.abs(b - matrix @ x))) * _longest(matrix, a, bicgstab)
    if not error <= ERROR * max(1.0, float(np.max(np.abs(x)))):
        raise RiskError(f"the chain mixes too slowly: the answer may be off by {error:.1e}")
    for state, value in zip(maybe, x, strict=True):
        known[state] = float(value)
    return Solved(known, error)


def _longest(matrix: Any, a: Any, bicgstab: Any) -> float:
    """Return a bound of the expected steps, which is how much a residual may grow to an error.

    From `M s = 1 - r` follows `M^-1 1 <= s / (1 - |r|)`, since `M^-1` has no negative entries.
    """
    import numpy as np

    ones = np.ones(matrix.shape[0])
    steps, left = np.zeros(matrix.shape[0]), ones
    for _ in range(SWEEPS):
        steps, left = steps + left, a @ left
        if (rest := float(np.max(left))) <= 0.1:
            return float(np.max(steps)) / (1.0 - rest)
    steps = _settled(matrix, a, ones, bicgstab)
    rest = float(np.max(np.abs(ones - matrix @ steps)))
    return float(np.max(np.abs(steps))) / (1.0 - rest) if rest < 0.5 else float("inf")


def _settled(matrix: Any, a: Any, b: Any, bicgstab: Any) -> Any:
    """Return x with `matrix x = b`: by sweeps, by BiCGSTAB, or directly where that gives up."""
    import numpy as np

    x, left = np.zeros(matrix.shape[0]), b
    for _ in range(SWEEPS):
        x, left = x + left, a @ left
        if np.max(left) <= RESIDUAL:
            return x
    x, _ = bicgstab(matrix, b, rtol=1e-14, atol=0.0, maxiter=2_000)
    for _ in range(200):
        residual = b - matrix @ x
        if np.max(np.abs(residual)) <= RESIDUAL * max(1.0, float(np.max(np.abs(x)))):
            return x
        more, _ = bicgstab(matrix, residual, rtol=1e-8, atol=0.0, maxiter=500)
        better = x + more
        if not np.max(np.abs(b - matrix @ better)) < np.max(np.abs(residual)):
            break
        x = better
    if matrix.shape[0] <= 20_000:
        from scipy.sparse.linalg import spsolve

        x = spsolve(matrix.tocsc(), b)
        return x + spsolve(matrix.tocsc(), b - matrix @ x)
    for _ in range(ROUNDS):
        after = a @ x + b
        if np.max(np.abs(after - x)) <= RESIDUAL:
            return after
        x = after
    return x


def _stepped(rows: Sequence[Row], stay: Collection[int], values: list[float], n: int) -> Any:
    import numpy as np
    from scipy.sparse import csr_matrix

    cells = [(i, j, float(p)) for i in stay for j, p in rows[i].items()]
    at, to, weight = zip(*cells, strict=True) if cells else ((), (), ())
    a = csr_matrix((weight, (at, to)), shape=(len(rows), len(rows)))
    inside = np.zeros(len(rows), dtype=bool)
    inside[list(stay)] = True
    x = np.asarray(values)
    for _ in range(n):
        x = np.where(inside, a @ x, x)
    return [float(each) for each in x]


# --- within bounds ----------------------------------------------------------------------------


def reach_bounds(
    chain: BoundedChain,
    stay: Collection[int],
    goal: Collection[int],
    *,
    highest: bool,
    steps: int | None = None,
) -> Solved:
    """Return the least, or the highest, probability of `stay U goal` of all chains in the bounds.

    Unbounded, the least is approached from below and the highest from above, so that neither is
    ever too optimistic, wherever the iteration ends.
    """
    import numpy as np

    goal, stay = frozenset(goal), frozenset(stay) - frozenset(goal)
    rows = [{j: each.hi for j, each in row.items()} for row in chain.rows]
    maybe = _can_reach(rows, stay, goal)
    x = np.zeros(chain.size)
    x[list(goal)] = 1.0
    if not maybe:
        return Solved(x.tolist())
    step = _Robust(chain, sorted(maybe), highest=highest)
    if highest and steps is None:
        x[sorted(maybe)] = 1.0
    for _ in range(ROUNDS if steps is None else steps):
        after = step(x)
        moved = float(np.max(np.abs(after - x)))
        x = after
        if moved <= 1e-12 and (steps is None or moved == 0.0):
            break
    return Solved(x.tolist(), 1e-12)


class _Robust:
    """One step of value iteration, in which each row takes the worst probabilities it may have."""

    def __init__(self, chain: BoundedChain, inside: Sequence[int], *, highest: bool) -> None:
        import numpy as np

        cells = [(n, j, e.lo, e.hi) for n, i in enumerate(inside) for j, e in chain.rows[i].items()]
        row, to, lo, hi = zip(*cells, strict=True)
        self.inside = np.asarray(inside)
        self.row, self.to = np.asarray(row), np.asarray(to)
        self.lo, self.gap = np.asarray(lo), np.asarray(hi) - np.asarray(lo)
        self.left = 1.0 - np.bincount(self.row, weights=self.lo)
        self.sign = -1.0 if highest else 1.0
        self.first = np.concatenate([[0], np.cumsum(np.bincount(self.row))[:-1]])

    def __call__(self, x: Floats) -> Floats:
        """Return the values one step earlier."""
        import numpy as np

        value = x[self.to]
        order = np.lexsort((self.sign * value, self.row))
        gap = self.gap[order]
        taken = np.cumsum(gap)
        base = np.concatenate([[0.0], taken])[self.first]
        before = taken - gap - base[self.row[order]]
        more = np.clip(self.left[self.row[order]] - before, 0.0, gap)
        p = self.lo[order] + more
        out = x.copy()
        out[self.inside] = np.bincount(self.row[order], weights=p * value[order])
        return out
