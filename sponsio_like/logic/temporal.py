"""The temporal operators: the future and the past, reflexive, with bounds in steps or seconds."""

from __future__ import annotations

from sponsio_like.logic.connectives import Bound, Formula

# --- the future -------------------------------------------------------------------------------


class Next(Formula):
    """`X f`: there is a next position, and f holds there."""

    body: Formula


class WeakNext(Formula):
    """`WX f`: if there is a next position, f holds there."""

    body: Formula


class Eventually(Formula):
    """`F f`, `F[<=3] f`, `F[<=60s] f`: now or later (within the bound)."""

    body: Formula
    bound: Bound = None


class Always(Formula):
    """`G f`, bounded likewise: now and at every later position (within the bound)."""

    body: Formula
    bound: Bound = None


class Until(Formula):
    """`f U g`: g now or later, f at every position before it."""

    left: Formula
    right: Formula


class WeakUntil(Formula):
    """`f W g`: `f U g`, or f for ever."""

    left: Formula
    right: Formula


class Release(Formula):
    """`f R g`: g up to and including the first position where f holds, or for ever."""

    left: Formula
    right: Formula


# --- the past ---------------------------------------------------------------------------------


class Yesterday(Formula):
    """`Y f`: there is a previous position, and f held there."""

    body: Formula


class WeakYesterday(Formula):
    """`WY f`: if there is a previous position, f held there."""

    body: Formula


class Once(Formula):
    """`O f`, `O[<=10] f`, `O[<=60s] f`: now or before (within the bound)."""

    body: Formula
    bound: Bound = None


class Historically(Formula):
    """`H f`, bounded likewise: now and at every earlier position (within the bound)."""

    body: Formula
    bound: Bound = None


class Since(Formula):
    """`f S g`: g now or before, f at every position after it up to now."""

    left: Formula
    right: Formula
