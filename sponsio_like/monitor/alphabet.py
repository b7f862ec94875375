"""Lists the letters that one more position could be, as far as a program can tell.

In: a program's slots, and the inventory of tools if there is one. Out: letters. Conditions on
arguments, context, agents and texts may be true or false; a call settles at once, or only at the
end (`LATE`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

from sponsio_like.events import LATE, MISSING, glob_matches, kinds_of, names_tool
from sponsio_like.logic.formula import (
    Compare,
    Const,
    Delivered,
    Denied,
    Happens,
    Match,
    MessageBy,
    Node,
    Repeats,
    Sum,
    Target,
    Var,
    postorder,
)
from sponsio_like.monitor.parametric.variables import vars_in
from sponsio_like.monitor.past import Letter
from sponsio_like.monitor.program import Slot

FREE_CAP = 8
"""Most free atoms of one kind of position of which every combination becomes a letter."""
LETTERS_CAP = 200_000
"""Most slots in all letters together; beyond, letters are left out."""
GLOBS_CAP = 4
"""Most globs of which every combination is tried."""
Name: TypeAlias = "str | frozenset[str]"
"""A tool by its name; or, for a tool that no contract names, the globs that match it."""
OTHER: frozenset[str] = frozenset()
"""A tool, or a role, that no contract speaks of."""

Choice = dict[Any, bool]


def letters(
    slots: Sequence[Slot], free: int, tools: Iterable[str] | None
) -> tuple[list[Letter], bool]:
    """Return all letters, each with `free` more free bits, and True if none had to be left out.

    `tools`: the inventory; None if it is unknown.
    """
    kinds = {kind for slot in slots if slot.kind == "atom" for kind in kinds_of(slot.node)} or {
        "call"
    }
    found: dict[Letter, None] = {}
    complete = True
    for world in _worlds(slots, kinds, tools):
        if len(found) * len(slots) > LETTERS_CAP:
            return list(found), False
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


def unconcerned_letter(slots: Sequence[Slot]) -> Letter:
    """Return the letter of a call to a tool that no contract names; free atoms are false."""
    return tuple(_unconcerned_value(slot) for slot in slots)


def _unconcerned_value(slot: Slot) -> Any:
    match slot.kind, slot.node:
        case "value", Const(value):
            return value
        case "value", _:
            return MISSING
        case "amount", _:
            return Decimal(0)
        case "key", _:
            return None
    return bool(_fixed(slot, ("call", OTHER)))


def static(slots: Sequence[Slot], tool: Name) -> tuple[bool | None, ...]:
    """Return the value that the tool's name alone gives each slot; None where it does not.

    For a sum and for repeats: False if it has nothing to do with the tool, else True.
    """
    return tuple(_told_by_name(slot, tool) for slot in slots)


def fixed_at(slots: Sequence[Slot], world: tuple[str, Name]) -> tuple[bool | None, ...]:
    """Return the value of each atom at such a position, as `("message", role)`;
    None if it is free.
    """
    return tuple(_fixed(slot, world) if slot.kind == "atom" else None for slot in slots)


def _told_by_name(slot: Slot, tool: Name) -> bool | None:
    match slot.node:
        case Sum(target) | Repeats(target):
            return _spoken_of(target, tool) is not False
    return None if slot.kind != "atom" else _fixed(slot, ("call", tool))


def _worlds(
    slots: Sequence[Slot], kinds: set[Any], tools: Iterable[str] | None
) -> Iterator[tuple[str, Name]]:
    nodes = [slot.node for slot in slots]
    if "call" in kinds:
        named = tool_names(nodes) if tools is None else told_apart(nodes, tools)
        for tool in named:
            yield ("call", tool)
        yield ("call", OTHER)
    if "message" in kinds:
        roles = dict.fromkeys(node.role for node in nodes if isinstance(node, MessageBy))
        yield from (("message", role) for role in roles)
        yield ("message", OTHER)
    if "step" in kinds:
        yield ("step", "")


def targets_of(slots: Iterable[Slot]) -> list[Match]:
    """Return the matches in all atoms and terms of these slots."""
    return _targets(node for slot in slots for node in postorder(slot.node))


def _targets(nodes: Iterable[Node]) -> list[Match]:
    kinds = Happens | Sum | Repeats | Delivered | Denied
    targeted = [node for node in nodes if isinstance(node, kinds)]
    return [match for node in targeted for match in node.target]


def tool_names(nodes: Iterable[Node]) -> dict[Name, None]:
    """Return every tool that is named, and the combinations of globs that may match one tool.

    All combinations of at most `GLOBS_CAP` globs; of more, single globs, pairs and all together.
    """
    matches = _targets(nodes)
    globs = list(dict.fromkeys(glob for match in matches for glob in match.globs))
    sizes = range(1, len(globs) + 1) if len(globs) <= GLOBS_CAP else (1, 2, len(globs))
    names: dict[Name, None] = {name: None for match in matches for name in match.names}
    names.update(
        (frozenset(each), None) for k in sizes for each in itertools.combinations(globs, k)
    )
    return names


def told_apart(nodes: Iterable[Node], tools: Iterable[str]) -> dict[Name, None]:
    """Return the tools of an inventory as contracts distinguish them: by name, or by matching
    globs.

    A tool that no contract speaks of is left out.
    """
    matches = _targets(nodes)
    named = {name for match in matches for name in match.names}
    globs = list(dict.fromkeys(glob for match in matches for glob in match.globs))
    each: Iterator[Name] = (
        tool if tool in named else frozenset(glob for glob in globs if glob_matches(glob, tool))
        for tool in tools
    )
    return {name: None for name in each if name != OTHER}


def _fixed(slot: Slot, world: tuple[str, Name]) -> bool | None:
    """Return the slot's value if this kind of position decides it; None if it is free."""
    kind, name = world
    node = slot.node
    if slot.kind != "atom":
        return False
    if kinds_of(node) and kind not in kinds_of(node):
        return isinstance(node, Compare) and slot.default  # there is nothing to compare
    match node:
        case Happens(_, target):
            return _spoken_of(target, name)
        case MessageBy(role):
            return role in ("*", name)
    return None


def _spoken_of(target: Target, tool: Name) -> bool | None:
    hits = [match for match in target if _names(match, tool)]
    if any(not match.conditions and match.agent is None for match in hits):
        return True
    return None if hits else False


def _names(match: Match, tool: Name) -> bool:
    if isinstance(tool, str):
        return names_tool(match, tool)
    everything = not match.names and not match.globs
    return everything or any(glob in tool or not glob.strip("*") for glob in match.globs)


def _name(slot: Slot) -> Any:
    """Return the key of a free choice: for calls the target, so that `done` implies `called`."""
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
    """Return how the call may settle, each as (status, late); only None if no slot waits for it."""
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
    slots: Sequence[Slot], open_slots: Sequence[int], *, unreadable: bool = False
) -> list[tuple[dict[int, bool], bool]]:
    """Return each way in which a call in flight may settle.

    That is the final value of its open slots, and True if it settles only at the end. An atom that
    binds some of the variables may be false of the values that the result binds, however the call
    ends. `unreadable`: the result may be one that cannot be read, of which each slot has its
    default; no continuation has such a result.
    """
    nodes = [slots[i].node for i in open_slots]
    others = dict.fromkeys(node for node in nodes if not isinstance(node, Happens))
    others |= dict.fromkeys(_partial(slots, nodes))
    defaults = {
        node: {slots[i].default for i in open_slots if slots[i].node == node} for node in others
    }
    answers = [
        (False, True, None) if unreadable and len(each) > 1 else (False, True)
        for each in defaults.values()
    ]
    out: list[tuple[dict[int, bool], bool]] = []
    endings = itertools.product(("done", "failed"), (False, True))
    for (status, late), told in itertools.product(endings, itertools.product(*answers)):
        known, final = dict(zip(others, told, strict=True)), dict[int, bool]()
        for i, node in zip(open_slots, nodes, strict=True):
            answer = known.get(node, True)
            holds = slots[i].default if answer is None else answer
            final[i] = holds and (not isinstance(node, Happens) or node.what == status)
        out.append((final, late))
    return out


def _partial(slots: Sequence[Slot], nodes: Iterable[Node]) -> list[Node]:
    """Return the atoms of calls that bind some of the variables, and not all."""
    calls = [node for node in nodes if isinstance(node, Happens) and vars_in(node)]
    if not calls:
        return []
    every = {var.name for slot in slots for _, var in vars_in(slot.node)}
    return [node for node in calls if any(0 < n < len(every) for n in map(_bound, node.target))]


def _bound(match: Match) -> int:
    """Return how many variables a match binds."""
    return len({each.value.name for each in match.conditions if isinstance(each.value, Var)})
