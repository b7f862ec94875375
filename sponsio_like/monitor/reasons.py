"""Explains why a formula was false at a position: by which of its parts, and since when.

In: the nodes of a program, their values at the position, and when its registers last changed. Out:
`Reason`s, in the contract's words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from sponsio_like.monitor.program import Program, operands
from sponsio_like.syntax import show

What: TypeAlias = Literal["violates", "forbids", "missing", "counted", "asks", "unread"]


class Reason(NamedTuple):
    """One cause of a false formula, in words (`text`).

    `call`: the position of the call that matters; None: there is none so far. `event`: the number
    of the event, if that is not a call.
    """

    what: What
    call: int | None
    text: str
    event: int | None = None


class JudgedPosition(NamedTuple):
    """One position as it was judged: its call, the values of its nodes, and when registers changed.

    `flips`: by node, the position at which its register last changed; `unread`: by slot, what could
    not be read there.
    """

    program: Program
    values: Sequence[Any]
    flips: Mapping[int, int]
    call: int
    unread: Mapping[int, Sequence[str]]


def reasons_of(judged: JudgedPosition, roots: Iterable[int]) -> list[Reason]:
    """Return why these nodes are false; nothing for those that are not."""
    found: dict[Reason, None] = {}
    for root in roots:
        if judged.values[root] is False:
            found.update(dict.fromkeys(_why(judged, root, past=False)))
    return list(found)


def _why(judged: JudgedPosition, i: int, *, past: bool) -> Iterator[Reason]:
    """Yield why node `i`, which is false, is false."""
    op, flip = judged.program.nodes[i], judged.flips.get(i)
    match op:
        case ("lit", slot, _) if slot in judged.unread and not past:
            yield from _unread(judged, i)
        case ("lit", slot, negated):
            text = show(judged.program.slots[slot].node)
            if past:
                yield Reason("forbids" if negated else "missing", None, text)
            else:
                yield Reason("violates", judged.call, text if negated else f"not {text}")
        case ("and" | "or", *parts):
            for k in parts:
                if judged.values[k] is False:
                    yield from _why(judged, k, past=past)
        case ("O" | "S" | "YO", *rest):
            body = rest[1] if op[0] == "S" else rest[0]
            yield Reason("missing", flip, _words(judged.program, body))
        case ("H" | "T" | "WYH", *rest):
            body = rest[1] if op[0] == "T" else rest[0]
            yield Reason("forbids", flip, _words(judged.program, body, negated=True))
        case ("Y" | "WY", body):
            yield from _earlier(judged, body)
        case ("cmp", left, _, right, _):
            calls = [judged.flips[k] for k in (left, right) if k in judged.flips]
            yield Reason("counted", max(calls, default=None), _words(judged.program, i))
            for k in (left, right) if not past else ():
                if judged.program.nodes[k][0] in ("value", "sum"):
                    yield from _unread(judged, k)


def _unread(judged: JudgedPosition, i: int) -> Iterator[Reason]:
    """Return what could not be read there for node `i`."""
    slot = judged.program.nodes[i][1]
    return (Reason("unread", judged.call, each) for each in judged.unread.get(slot, ()))


def _earlier(judged: JudgedPosition, i: int) -> Iterator[Reason]:
    """Yield why node `i` was false at the position before."""
    op = judged.program.nodes[i]
    if op[0] in ("and", "or"):
        for k in operands(op):
            yield from _earlier(judged, k)
    else:
        yield from _why(judged, i, past=True)


def _words(program: Program, i: int, *, negated: bool = False) -> str:
    """Return a node in the contract's words."""
    op = program.nodes[i]
    match op:
        case ("lit", slot, sign):
            text = show(program.slots[slot].node)
            return text if sign is negated else f"!{text}"
        case ("and" | "or" as kind, *parts):
            word = " and " if (kind == "and") is not negated else " or "
            return word.join(_words(program, k, negated=negated) for k in parts)
        case ("cmp", left, name, right, (sign, _)):
            text = f"{_words(program, left)} {name} {_words(program, right)}"
            return f"not {text}" if sign is not negated else text
        case ("value" | "sum" | "repeats" | "elapsed", slot, *_):
            return show(program.slots[slot].node)
        case ("count", body, *_):
            return f"count({_words(program, body)})"
        case ("YO" | "WYH" as name, body, _):
            return f"{'!' if negated else ''}{name[:-1]}({name[-1]}({_words(program, body)}))"
    inner = ", ".join(_words(program, k) for k in operands(op))
    return f"{'!' if negated else ''}{op[0]}({inner})"
