# ruff: noqa: N802  X, F, G are the names that temporal logic gave to its operators
"""Offers the temporal operators in Python, by the names that temporal logic gave them.

In: formulas, bounds in steps or seconds. Out: formulas. Raises `ContractError` for anything else.
"""

from __future__ import annotations

import math
from typing import Any

import sponsio_like.logic.formula as f
from sponsio_like.errors import ContractError

# --- the future -------------------------------------------------------------------------------


def X(body: f.Formula) -> f.Formula:
    """Say that there is a next position, and that the formula holds there: `X(called("b"))`."""
    return f.Next(_formula("X", body))


def WX(body: f.Formula) -> f.Formula:
    """Say that the formula holds at the next position, if there is one: `WX(called("b"))`."""
    return f.WeakNext(_formula("WX", body))


def F(body: f.Formula, *, steps: int | None = None, seconds: float | None = None) -> f.Formula:
    """Say that it holds now or later, within the bound: `F(done("b"), steps=3)` looks at four
    positions.
    """
    return f.Eventually(_formula("F", body), bound(steps, seconds))


def G(body: f.Formula, *, steps: int | None = None, seconds: float | None = None) -> f.Formula:
    """Say that it holds now and at every later position, within the bound: `G(~called("b"))`."""
    return f.Always(_formula("G", body), bound(steps, seconds))


def U(left: f.Formula, right: f.Formula) -> f.Formula:
    """Say `right` now or later, `left` at every position before it:
    `U(~called("b"), done("a"))`.
    """
    return f.Until(_formula("U", left), _formula("U", right))


def W(left: f.Formula, right: f.Formula) -> f.Formula:
    """Say `U`, or `left` for ever: `W(~called("b"), done("a"))`."""
    return f.WeakUntil(_formula("W", left), _formula("W", right))


def R(left: f.Formula, right: f.Formula) -> f.Formula:
    """Say `right` up to and including the first `left`, or for ever:
    `R(done("a"), ~called("b"))`.
    """
    return f.Release(_formula("R", left), _formula("R", right))


# --- the past ---------------------------------------------------------------------------------


def Y(body: f.Formula) -> f.Formula:
    """Say that there is a previous position, and that the formula held there: `Y(done("a"))`."""
    return f.Yesterday(_formula("Y", body))


def WY(body: f.Formula) -> f.Formula:
    """Say that the formula held at the previous position, if there is one: `WY(done("a"))`."""
    return f.WeakYesterday(_formula("WY", body))


def O(body: f.Formula, *, steps: int | None = None, seconds: float | None = None) -> f.Formula:  # noqa: E743
    """Say that it holds now or before, within the bound: `Y(O(done("a")))` is "earlier"."""
    return f.Once(_formula("O", body), bound(steps, seconds))


def H(body: f.Formula, *, steps: int | None = None, seconds: float | None = None) -> f.Formula:
    """Say that it holds now and at every earlier position, within the bound: `H(~failed("a"))`."""
    return f.Historically(_formula("H", body), bound(steps, seconds))


def S(left: f.Formula, right: f.Formula) -> f.Formula:
    """Say `right` now or before, `left` ever after it up to now: `S(~called("b"), done("a"))`."""
    return f.Since(_formula("S", left), _formula("S", right))


def initially(body: f.Formula) -> f.Formula:
    """Say that the formula holds at the first position, and nothing about the others.

    `initially(called("login"))` is the same formula as `G(~Y(true) >> called("login"))`.
    """
    return f.Always(f.Not(f.Yesterday(f.TRUE)) >> _formula("initially", body))


# --- arguments that cannot be meant -----------------------------------------------------------


def _formula(operator: str, value: object) -> f.Formula:
    if isinstance(value, f.Formula):
        return value
    hint = f"did you mean `{operator}(called({value!r}))`?" if isinstance(value, str) else ""
    raise ContractError.of(f"`{operator}` takes formulas, not `{value!r}`", hint)


def bound(steps: Any, seconds: Any) -> f.Bound:
    """Return a bound in steps, in seconds, or None. Raises `ContractError` for both, or for no
    number.
    """
    if steps is not None and seconds is not None:
        raise ContractError.of("a bound is in steps or in seconds, not in both")
    size = seconds if steps is None else steps
    if isinstance(size, int) and size > f.LONGEST:
        raise ContractError.of("a bound is too large", f.AT_MOST)
    if steps is not None:
        if isinstance(steps, int) and not isinstance(steps, bool) and steps >= 0:
            return f.Steps(steps)
        raise ContractError.of(f"`steps` is a whole number from 0, not `{steps!r}`")
    if seconds is None:
        return None
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if number and math.isfinite(seconds) and seconds >= 0:
        return f.Seconds(float(seconds))
    raise ContractError.of(f"`seconds` is a number from 0, not `{seconds!r}`")
