"""When a clause over the past has to be shown a call that does not concern it: in Python source.

In: a clause. Out: a function from its watch to the next position that it has to see, as
`Clause.wakes_at` tells it: the next one, if a call that nobody speaks of would change what is
remembered; else when the first bound in steps runs out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sponsio_like.engine import MOMENT, Clause
from sponsio_like.logic.formula import Steps
from sponsio_like.monitor import NEVER, ClauseState, Code, Emitter, Monitor, Names, quiet

Rests = Callable[[ClauseState, int, float], int]
"""(watch, last position, time) -> the next position that it has to see, whatever the tool."""


def rests(clause: Clause) -> Rests:
    """The function for a clause over the past."""
    names = Names()
    letter = [_code(names, value) for value in quiet(clause.slots)]
    lines = ["p, t = last + 1, time + moment"]
    bounds: list[str] = []
    assumed: Code = True
    for monitor, state in ((clause.gate, "watch[0]"), (clause.monitor, "watch[1]")):
        emitter = Emitter(names, monitor.program, monitor.past, letter, f"{state}[0]", "p")
        owed = [emitter.value(root) for roots in monitor.always for root in roots]
        assumed = emitter.value(clause.assume) if monitor is clause.gate else assumed
        after = emitter.after()
        lines += emitter.lines
        lines += [f"if not {code} and {assumed}: return p" for code in owed if code is not True]
        if after is not None:
            lines += _changed(monitor, after, f"{state}[0]")
        bounds += _bounds(monitor, f"{state}[0]") if monitor.counts_steps else []
    lines.append(
        f"soon = [each for each in ({''.join(f'{each}, ' for each in bounds)}) if each > last]"
    )
    lines.append("return min(soon, default=never)")
    names.bound |= {"never": NEVER, "moment": MOMENT}
    made = names.functions({"rests(watch, last, time)": lines})
    return made["rests"]  # type: ignore[no-any-return]


def _code(names: Names, value: Any) -> Code:
    return value if isinstance(value, bool) else names.bind(value)


def _changed(monitor: Monitor, after: str, before: str) -> list[str]:
    """Is any register another one, but for what time makes forget."""
    lines = []
    for j, cell in enumerate(monitor.past.cells):
        op, new, old = monitor.program.nodes[cell.node], f"{after}[{j}]", f"{before}[{j}]"
        more = f"{new} != {old}"
        if op[0] in ("O", "H") and op[2] is not None:
            more += f" and {new} is not None"
        elif op[0] in ("count", "sum"):
            more += f" and not (type({old}) is tuple and set({new}) <= set({old}))"
        lines.append(f"if {more}: return p")
    return lines


def _bounds(monitor: Monitor, before: str) -> list[str]:
    """The positions at which bounds in steps run out."""
    found = []
    for j, cell in enumerate(monitor.past.cells):
        op = monitor.program.nodes[cell.node]
        if op[0] in ("O", "H") and isinstance(op[2], Steps):
            own = f"{before}[{j}]"
            found.append(f"(-1 if {own} is None else {own} + {int(op[2].count) + 1})")
    return found
