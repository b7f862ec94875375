"""Everything that one more position could be, as far as a program can tell.

In: a program's slots, and the inventory of tools if there is one. Out: letters. Argument
conditions, context, agents and texts are free; a call settles at once, or only at the end
(`LATE`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from sponsio_like.atoms import LATE, MISSING, glob_matches, kinds_of, names_tool
from sponsio_like.formula import Happens, MessageBy, Node, Repeats, Sum, Target
from sponsio_like.past import Letter
from sponsio_like.program import Slot

FREE_CAP = 8
"""Most free atoms of one kind of position whose combinations are all tried."""
OTHER = "\0other"
"""A tool, or a role, that no contract names."""

Choice = dict[Any, bool]


def letters(
    slots: Sequence[Slot], free: int, tools: Iterable[str] | None
) -> tuple[list[Letter], bool]:
    """All letters, with `free` more unconstrained bits each.

    And whether none had to be left out.
    """
    kinds = {kind for slot in slots if slot.kind == "atom" for kind in kinds_of(slot.node)} or {
        "call"
    }
    found: dict[Letter, None] = {}
    complete = True
    for world in _worlds(slots, kinds, tools):
        base = [_fixed(slot, world) for slot in slots]
        names = list(
            dict.fromkeys(
                _name(slot) for slot, value in zip(slots, base, strict=True) if value is None
            )
        )
        wanted: list[Any] = [*names, *range(free)]
        complete = complete and len(wanted) <= FREE_CAP
        for choice in _choices(wanted):
            for ending in _endings(slots, base) if world[0] == "call" else (None,):
                extra = tuple(choice[k] for k in range(free))
                found[(*_letter(slots, base, choice, ending), *extra)] = None
    return list(found), complete


def quiet(slots: Sequence[Slot]) -> Letter:
    """What is read at a call of a tool that no contract names."""
    blank = {"value": MISSING, "amount": Decimal(0), "key": None}
    return tuple(
        blank[slot.kind] if slot.kind != "atom" else bool(_fixed(slot, ("call", OTHER)))
        for slot in slots
    )


def static(slots: Sequence[Slot], tool: str) -> tuple[bool | None, ...]:
    """What is known of every slot from the tool's name alone; None where it takes more."""
    return tuple(_told_by_name(slot, tool) for slot in slots)


def _told_by_name(slot: Slot, tool: str) -> bool | None:
    match slot.node:
        case Sum(target) | Repeats(target):
            return _spoken_of(target, tool) is not False
    return None if slot.kind != "atom" else _fixed(slot, ("call", tool))


def _worlds(
    slots: Sequence[Slot], kinds: set[Any], tools: Iterable[str] | None
) -> Iterator[tuple[str, str]]:
    nodes = [slot.node for slot in slots]
    if "call" in kinds:
        named = tool_names(nodes) if tools is None else dict.fromkeys(tools)
        yield from (("call", tool) for tool in (*named, OTHER))
    if "message" in kinds:
        roles = dict.fromkeys(node.role for node in nodes if isinstance(node, MessageBy))
        yield from (("message", role) for role in (*roles, OTHER))
    if "step" in kinds:
        yield ("step", "")


def tool_names(nodes: Iterable[Node]) -> dict[str, None]:
    """Every name, and for every glob a name that it matches."""
    names: dict[str, None] = {}
    for node in nodes:
        for match in node.target if isinstance(node, Happens | Sum | Repeats) else ():
            names.update(dict.fromkeys(match.names))
            names.update((_sample(glob), None) for glob in match.globs)
    return names


def _sample(glob: str) -> str:
    """A name that the glob matches, and that nobody uses."""

    def member(found: re.Match[str]) -> str:
        chosen = (chr(i) for i in (*found.group().encode(), *range(1, 256)))
        return next((each for each in chosen if glob_matches(found.group(), each)), "\0")

    return re.sub(
        r"\[!?\]?[^\]]*\]|[*?]", lambda m: member(m) if m.group()[0] == "[" else "\0", glob
    )


def _fixed(slot: Slot, world: tuple[str, str]) -> bool | None:
    """The slot's value if this kind of position settles it; None if it is free."""
    kind, name = world
    node = slot.node
    if slot.kind != "atom":
        return False
    if kinds_of(node) and kind not in kinds_of(node):
        return False
    match node:
        case Happens(_, target):
            return _spoken_of(target, name)
        case MessageBy(role):
            return role in ("*", name)
    return None


def _spoken_of(target: Target, tool: str) -> bool | None:
    hits = [match for match in target if names_tool(match, tool)]
    if any(not match.conditions and match.agent is None for match in hits):
        return True
    return None if hits else False


def _name(slot: Slot) -> Any:
    """What is chosen freely: a conditioned target as one, so that `done` implies `called`."""
    return slot.node.target if isinstance(slot.node, Happens) else slot.node


def _choices(wanted: list[Any]) -> Iterator[Choice]:
    if len(wanted) <= FREE_CAP:
        for bits in itertools.product((False, True), repeat=len(wanted)):
            yield dict(zip(wanted, bits, strict=True))
        return
    yield dict.fromkeys(wanted, False)
    yield dict.fromkeys(wanted, True)
    for one in wanted:
        yield {each: each == one for each in wanted}


def _endings(
    slots: Sequence[Slot], base: Sequence[bool | None]
) -> Iterable[tuple[str, bool] | None]:
    """How the call settles: (status, late)."""
    if not any(slot.waits and value is not False for slot, value in zip(slots, base, strict=True)):
        return (None,)
    return itertools.product(("done", "failed"), (False, True))


def _letter(slots: Sequence[Slot], base: Sequence[Any], choice: Choice, ending: Any) -> Letter:
    out: list[Any] = []
    for slot, fixed in zip(slots, base, strict=True):
        value: Any = choice[_name(slot)] if fixed is None else fixed
        if slot.waits and value and ending is not None:
            status, late = ending
            holds = not isinstance(slot.node, Happens) or slot.node.what == status
            value = holds and (LATE if late else True)
        out.append(value)
    return tuple(out)


def settlements(
    slots: Sequence[Slot], open_slots: Sequence[int]
) -> list[tuple[dict[int, bool], bool]]:
    """How a call in flight may settle.

    The final value of its open slots, and whether only at the end.
    """
    others = [i for i in open_slots if not isinstance(slots[i].node, Happens)]
    out: list[tuple[dict[int, bool], bool]] = []
    endings = itertools.product(("done", "failed"), (False, True))
    for (status, late), bits in itertools.product(
        endings, itertools.product((False, True), repeat=len(others))
    ):
        final = dict(zip(others, bits, strict=True))
        for i in open_slots:
            node = slots[i].node
            if isinstance(node, Happens):
                final[i] = node.what == status
        out.append((final, late))
    return out
