"""Writes the past in Python source: what a position does to the registers of one program.

In: the nodes of a program, and what is known of its letter beforehand. Out: lines of source, in
which everything that is known has been worked out. They compute what `monitor/past.py` computes,
and nothing else: what is rare is asked of the functions there.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from sponsio_like.events import elapsed
from sponsio_like.logic.formula import Const, Steps
from sponsio_like.monitor.past import INFINITE, Past, compare_nodes, kept, stamps_within
from sponsio_like.monitor.program import Op, Program

Code: TypeAlias = "str | bool"
"""An expression; or a truth value that is known already."""

ORDER = {"=": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


class Names:
    """The names of one piece of source: those it makes, and those that stand for values."""

    def __init__(self) -> None:
        self.bound: dict[str, Any] = {}
        self._made = 0

    def new(self) -> str:
        """Return a name that nothing has yet."""
        self._made += 1
        return f"v{self._made}"

    def bind(self, value: Any) -> str:
        """Return a name for this value."""
        name = self.new()
        self.bound[name] = value
        return name

    def functions(self, bodies: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Return the functions of these heads and lines, by name; they know the bound names."""
        source = "".join(
            f"def {head}:\n{textwrap.indent(chr(10).join(lines), '    ')}\n"
            for head, lines in bodies.items()
        )
        space = dict(self.bound)
        exec(compile(source, "<a lane>", "exec"), space)  # noqa: S102  source of our own
        names = [head.split("(", maxsplit=1)[0] for head in bodies]
        return {name: space[name] for name in names}


class Emitter:
    """The registers of one program, before and after one position.

    `letter`: an expression for each slot. `registers` names the tuple before the position,
    `position` its number; `t` is its time. `cells`: the numbers of the registers in that tuple;
    None: all. `lines` grows as values are asked for.
    """

    def __init__(
        self,
        names: Names,
        program: Program,
        past: Past,
        letter: Sequence[Code],
        registers: str,
        position: str,
        cells: Sequence[int] | None = None,
    ) -> None:
        self.lines: list[str] = []
        self._names, self._program, self._past = names, program, past
        self._letter, self._registers, self._position = letter, registers, position
        self._cells = past.cells if cells is None else [past.cells[r] for r in cells]
        self._cell_of = {cell.node: j for j, cell in enumerate(self._cells)}
        self._values: dict[int, Code] = {}
        self._windows: dict[int, str] = {}

    def value(self, i: int) -> Code:
        """Return an expression for the value of node `i` at this position."""
        if i not in self._values:
            code = self._value(self._program.nodes[i], i)
            plain = isinstance(code, bool) or code.isidentifier()
            self._values[i] = code if plain else self._let(str(code))
        return self._values[i]

    def after(self) -> str | None:
        """Return the registers after this position; None if they stay, whatever they are."""
        cells = [self._after(cell.node, j) for j, cell in enumerate(self._cells)]
        if all(code == self._register(j) for j, code in enumerate(cells)):
            return None
        return self._let(f"({', '.join(map(str, cells))},)")

    def letter(self) -> str:
        """Return the letter, as a tuple."""
        return f"({''.join(f'{each}, ' for each in self._letter)})"

    def _let(self, code: str) -> str:
        name = self._names.new()
        self.lines.append(f"{name} = {code}")
        return name

    def _register(self, j: int) -> str:
        return f"{self._registers}[{j}]"

    def _own(self, i: int) -> str:
        return self._register(self._cell_of[i])

    # --- values -------------------------------------------------------------------------------

    def _value(self, op: Op, i: int) -> Code:
        match op:
            case ("true" | "false",):
                return bool(op[0] == "true")
            case ("lit", slot, negated):
                return _not(self._holds(slot)) if negated else self._holds(slot)
            case ("and", *parts):
                return _all([self.value(k) for k in parts])
            case ("or", *parts):
                return _any([self.value(k) for k in parts])
            case ("value", slot):
                return self._letter[slot]
            case ("cmp", a, name, b, (negated, bad)):
                return self._compared(a, name, b, negated=negated, bad=bad)
            case ("Y" | "WY", _) | ("last", _, _):
                return self._own(i)
            case ("O", a, None):
                return _any([self.value(a), self._own(i)])
            case ("H", a, None):
                return _all([self.value(a), self._own(i)])
            case ("S", a, b):
                return _any([self.value(b), _all([self.value(a), self._own(i)])])
            case ("T", a, b):
                return _all([self.value(b), _any([self.value(a), self._own(i)])])
            case ("O", a, bound):
                return _any([self.value(a), self._recently(i, bound)])
            case ("H", a, bound):
                return _all([self.value(a), _not(self._recently(i, bound))])
            case ("YO", _, bound):
                return self._recently(i, bound)
            case ("WYH", _, bound):
                return _not(self._recently(i, bound))
        return self._term(op, i)

    def _holds(self, slot: int) -> Code:
        code = self._letter[slot]
        return code if isinstance(code, bool) else f"({code} is True)"

    def _recently(self, i: int, bound: Any) -> str:
        last = self._own(i)
        return f"({last} is not None and {self._now(bound)} - {last} <= {self._bound(bound)})"

    def _bound(self, bound: Any) -> str:
        count = bound.count
        return repr(count) if type(count) is int else self._names.bind(count)

    def _now(self, bound: Any) -> str:
        return self._position if isinstance(bound, Steps) else "t"

    def _term(self, op: Op, i: int) -> Code:
        match op:
            case ("count", a, reset, None, _):
                more = _counted(self._own(i), self.value(a))
                fresh: Code = reset >= 0 and self.value(reset)
                return _choice(fresh, "0", more)
            case ("count", *_):
                return f"len({self._stamps(op, i)})"
            case ("since" | "age", a):
                now = self._position if op[0] == "since" else "t"
                never, last = self._names.bind(INFINITE), self._own(i)
                return _choice(
                    self.value(a), "0", f"({never} if {last} is None else {now} - {last})"
                )
            case ("repeats", slot, "equal"):
                return f"({self._run(slot, i)}[1] if {self._letter[slot]} is not None else 0)"
            case ("elapsed", slot):
                return f"{self._names.bind(elapsed)}({self._letter[slot]}, t)"
            case ("sum" | "repeats", *_):
                return self._asked(self._past.values[i])
        raise TypeError(f"not an operator of the past: {op!r}")

    def _asked(self, function: Any) -> str:
        """Return a call of a function of `monitor/past.py` that reads no values of other nodes."""
        asked = f"{self._names.bind(function)}((), {self.letter()}, {self._registers}"
        return f"{asked}, {self._position}, t)"

    def _stamps(self, op: Op, i: int) -> str:
        if i not in self._windows:
            _, a, reset, bound, most = op
            within, now = self._names.bind(stamps_within), self._now(bound)
            left = self._let(f"{within}({self._own(i)}, {now} - {self._bound(bound)})")
            more = _choice(self.value(a), f"(*{left}, {now})[-{most}:]", left)
            fresh: Code = reset >= 0 and self.value(reset)
            self._windows[i] = self._let(_choice(fresh, "()", more))
        return self._windows[i]

    def _run(self, slot: int, i: int) -> str:
        """Return the run of equal calls that this one belongs to: its key, length and end."""
        if i not in self._windows:
            key, own, now = self._letter[slot], self._let(self._own(i)), self._position
            same = f"{own}[2] == {now} - 1 and {own}[0] == {key}"
            run = f"({key}, {own}[1] + 1 if {same} else 1, {now})"
            self._windows[i] = self._let(f"{run} if {key} is not None else {own}")
        return self._windows[i]

    def _compared(self, a: int, name: Any, b: int, *, negated: bool, bad: bool) -> Code:
        left, right = self.value(a), self.value(b)
        if name in ORDER and self._is_whole(a) and self._is_whole(b):
            code = f"({left} {ORDER[name]} {right})"
            return f"(not {code})" if negated else code
        ask = self._names.bind(compare_nodes(0, name, 1, negated, bad))
        asked = f"{ask}(({left}, {right}), (), (), 0, 0.0)"
        if name not in ORDER:
            return asked
        code, sign = f"{left} {ORDER[name]} {right}", "is not" if negated else "is"
        return f"(({code}) {sign} True if type({left}) is type({right}) is int else {asked})"

    def _is_whole(self, i: int) -> bool:
        """True if node `i` is a whole number, or infinite: Python compares these exactly."""
        op = self._program.nodes[i]
        if op[0] != "value":
            return op[0] in ("count", "since", "repeats")
        node = self._program.slots[op[1]].node
        return isinstance(node, Const) and type(node.value) is int

    # --- registers ----------------------------------------------------------------------------

    def _after(self, i: int, j: int) -> Code:
        op, own = self._program.nodes[i], self._register(j)
        match op:
            case ("Y" | "WY", a):
                return self.value(a)
            case ("O" | "H" | "YO" | "WYH", a, bound) if bound is not None:
                now, sought = self._now(bound), self.value(a)
                left = f"(None if {own} is None or {own} < {now} - {self._bound(bound)} else {own})"
                return _choice(sought if op[0] in ("O", "YO") else _not(sought), now, left)
            case ("count", _, _, bound, _) if bound is not None:
                return self._stamps(op, i)
            case ("since" | "age", a):
                return _choice(self.value(a), self._position if op[0] == "since" else "t", own)
            case ("last", a, b):
                return _choice(self.value(b), f"{self._names.bind(kept)}({self.value(a)})", own)
            case ("repeats", slot, "equal"):
                return self._run(slot, i)
            case ("sum" | "repeats", *_):
                return self._asked(self._cells[j].update)
        return self.value(i)


Stepped: TypeAlias = Callable[[Any, Any, int, float], tuple[bool, Any]]
"""(letter, registers before, position, time) -> True if a root does not hold; registers after."""


def compiled_step(program: Program, past: Past, roots: Iterable[int]) -> Stepped:
    """Return the step of a program that owes nothing to later positions, in one function."""
    names = Names()
    letter = [f"x[{i}]" for i in range(len(program.slots))]
    emitter = Emitter(names, program, past, letter, "s", "p")
    owed = [emitter.value(root) for root in roots]
    after = emitter.after() or "s"
    holds = _all(owed)
    made = names.functions(
        {"stepped(x, s, p, t)": [*emitter.lines, f"return not {holds}, {after}"]}
    )
    return made["stepped"]  # type: ignore[no-any-return]


Advanced: TypeAlias = Callable[[Any, Any, int, float], Any]
"""(letter, some registers before, position, time) -> the same registers after."""
WHOLE = frozenset({"sum", "repeats"})
"""Operators of the past that read their register by its number among all."""


def compiled_registers(program: Program, past: Past, cells: Sequence[int]) -> Advanced | None:
    """Return what a position does to these registers, which read no others, in one function.

    None if one of them can only be computed beside all others.
    """
    if any(program.nodes[past.cells[r].node][0] in WHOLE for r in cells):
        return None
    names = Names()
    letter = [f"x[{i}]" for i in range(len(program.slots))]
    emitter = Emitter(names, program, past, letter, "s", "p", cells)
    after = emitter.after() or "s"
    made = names.functions({"advanced(x, s, p, t)": [*emitter.lines, f"return {after}"]})
    return made["advanced"]  # type: ignore[no-any-return]


def _not(code: Code) -> Code:
    return not code if isinstance(code, bool) else f"(not {code})"


def _all(parts: Sequence[Code]) -> Code:
    """Return an expression that all of them hold."""
    left = list(dict.fromkeys(part for part in parts if part is not True))
    if False in left or not left:
        return not left
    return left[0] if len(left) == 1 else f"({' and '.join(map(str, left))})"


def _any(parts: Sequence[Code]) -> Code:
    """Return an expression that some of them holds."""
    left = list(dict.fromkeys(part for part in parts if part is not False))
    if True in left or not left:
        return bool(left)
    return left[0] if len(left) == 1 else f"({' or '.join(map(str, left))})"


def _choice(asked: Code, yes: str | Code, no: str | Code) -> str:
    """Return an expression: `yes` if it holds, else `no`."""
    if isinstance(asked, bool):
        return str(yes if asked else no)
    return f"({yes} if {asked} else {no})"


def _counted(before: str, more: Code) -> str:
    return _choice(more, f"{before} + 1", before)
