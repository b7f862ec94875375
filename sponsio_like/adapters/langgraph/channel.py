"""The channel of the sessions, in the graph's own checkpoint: right under resume, replay and fork.

In: what nodes write. Out: the value of the channel: a part for each guard. A part names the one
that it was made from. Two that were made beside each other from the same one fit together if one
live session stands behind both; otherwise neither knows the calls of the other, and the graph
stops.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, TypeAlias
from weakref import WeakValueDictionary

from typing_extensions import (
    TypedDict,  # as LangGraph's own states: classes of both can be joined
)

from sponsio_like.errors import SessionError, SnapshotError
from sponsio_like.guard import Guard
from sponsio_like.session import read_saved

CHANNEL = "__contracts__"
"""The name of the channel, and of the key in a state that shares it: one that nobody else has."""
AROUND = ""
"""The part that counts the graphs around this one that have the channel, too."""

GuardPart: TypeAlias = dict[str, Any]
"""The part of one guard, as JSON data: `rev` and its ancestors in `line`; the `session`, which is
number `seq` of the ones that `live` has written; the messages that were `heard`; what was `asked`
of people; `rulings` and `plan` of the calls that were decided, and the `results` of those that have
ended; the `steps` of the graph in which guarded nodes began; the part that goes `on` from here,
where another version of the guard has decided since."""


def rev_of(kept: Mapping[str, Any]) -> str:
    """Return the `rev` of a part, which tells it from others; `""` if it has none."""
    return str(kept.get("rev", ""))


def merged(old: Mapping[str, GuardPart], new: Mapping[str, GuardPart]) -> dict[str, GuardPart]:
    """Return the channel's value after a write. Raises `SessionError` for parts that do not fit."""
    around = old.get(AROUND, {"graphs": 0})
    if not old and (not new or AROUND in new):  # it comes from the graph around this one
        around = {"graphs": new.get(AROUND, around)["graphs"] + 1}
    whole = dict(old)
    for part, each in new.items():
        if part != AROUND:
            _write(whole, part, each)
    return {**whole, AROUND: around}


def _write(whole: dict[str, GuardPart], part: str, new: GuardPart) -> None:
    """Write a part to its place; mark parts of another version that it goes on from (`on`)."""
    if "line" not in new:
        others = (at for at, each in whole.items() if new["rev"] and _is_of(each, new["rev"]))
        part = part if part in whole and _is_of(whole[part], new["rev"]) else next(others, part)
        if part in whole or not new["rev"]:
            whole[part] = part_after(whole.get(part, {}), new)
        return
    before = [at for at, each in whole.items() if at != part and each.get("rev") in new["line"]]
    left = [whole[at] for at in before if whole[at].get("on") != part]
    whole.update({at: {**whole[at], "on": part} for at in before})
    whole[part] = part_after(left[0] if left else whole.get(part, {}), new)


class GuardedState(TypedDict):
    """The channel, for states that share it: of a graph and of the subgraphs in it."""

    __contracts__: Annotated[dict[str, GuardPart], merged]


def part_after(old: GuardPart, new: GuardPart) -> GuardPart:
    """Return a part after a write: results and answers are added, a successor takes its place."""
    if new.keys() == {"rev", "results"}:
        ours = _is_of(old, new["rev"]) or _is_cached(old, new["results"])
        return _with_results(old, new["results"]) if ours else old
    if new.keys() == {"rev", "said", "of"}:
        return _with_answer(old, new["of"], new["said"]) if _is_of(old, new["rev"]) else old
    if new.keys() == {"rev", "steps"}:
        return {**old, "steps": {**old.get("steps", {}), **new["steps"]}}
    new = dict(new)
    told = new.pop("told", ())
    if "rev" not in old or new["rev"] == old["rev"]:
        return _with_results({**old, **new}, old.get("results", ()))
    if old["rev"] in new["line"]:
        left = [each for each in old.get("results", ()) if each["key"] not in told]
        return _with_results(new, left)
    if old.get("live") == new.get("live"):
        return _beside(old, new)
    if new.get("loose"):
        return new
    raise SessionError(
        f"two branches of the graph have written `{CHANNEL}` at once, each without the calls "
        "of the other; let guarded tools run one after another, or give each branch a session "
        "of its own"
    )


def _is_of(old: GuardPart, rev: str) -> bool:
    """True if this part is the one of that `rev`, or came from it."""
    return rev == old.get("rev", "") or rev in old.get("line", ())


def _is_cached(old: GuardPart, results: Iterable[Mapping[str, Any]]) -> bool:
    """True if these results, written to another part, are of calls that this one has decided."""
    mine = {each.get("id") for each in old.get("rulings", {}).values()}
    mine |= {each["id"] for each in results if "decided" in each}
    return mine.issuperset(each["id"] for each in results)


def _with_results(part: GuardPart, results: Iterable[Mapping[str, Any]]) -> GuardPart:
    known = {each["key"] for each in part.get("results", ())}
    added = [each for each in results if each["key"] not in known]
    return {**part, "results": [*part.get("results", ()), *added]} if added else part


def _with_answer(part: GuardPart, of: str, said: Any) -> GuardPart:
    asked = part.get("asked", {})
    if of not in asked:
        return part
    *before, last = asked[of]
    return {**part, "asked": {**asked, of: [*before, {**last, "said": said}]}}


def _beside(one: GuardPart, other: GuardPart) -> GuardPart:
    """Join two parts that one session has written beside each other: the later one knows all."""
    first, last = sorted((one, other), key=lambda each: int(each["seq"]))
    both: dict[str, Any] = {
        key: {**first.get(key, {}), **last.get(key, {})}
        for key in ("rulings", "asked", "steps")
        if key in first or key in last
    }
    line = dict.fromkeys([*first["line"], first["rev"], *last["line"]])
    heard = dict.fromkeys([*first.get("heard", ()), *last.get("heard", ())])
    whole = {**last, **both, "line": list(line), "heard": list(heard)}
    return _with_results(whole, first.get("results", ()))


# --- whose part it is -----------------------------------------------------------------------------

_KNOWN: WeakValueDictionary[str, Guard] = WeakValueDictionary()
"""The guards of this process, by their parts."""


def part_of(guard: Guard) -> str:
    """Return the name of a guard's part: a hash of its contracts' names and what they say."""
    said = sorted(guard.policy.fingerprints.items())
    part = hashlib.blake2b(repr(said).encode(), digest_size=6).hexdigest()
    _KNOWN[part] = guard
    return part


def mine(whole: Mapping[str, GuardPart], part: str, guard: Guard) -> GuardPart:
    """Return the part of this guard; or of another version of it, which has decided last.

    If it has none, that with the most of its contracts, and never one of another guard that lives.
    """
    at = part if part in whole else _older(whole, guard)
    for _ in whole:
        on = whole.get(at, {}).get("on", at)
        at = on if on in whole and on not in _KNOWN else at
    found = whole.get(at, {})
    return {**found, "around": whole[AROUND]["graphs"]} if AROUND in whole else dict(found)


def _older(whole: Mapping[str, GuardPart], guard: Guard) -> str:
    """Return the name of an older version's part: its contracts have the same names; else `-`."""
    mine, found = guard.policy.fingerprints, dict[str, tuple[int, int]]()
    for at, kept in whole.items():
        theirs = {name: said for name, said in _said(kept).items() if name in mine}
        if theirs and at not in _KNOWN:
            found[at] = (sum(mine[name] == said for name, said in theirs.items()), len(theirs))
    return max(found, key=lambda at: found[at], default="-")


def _said(kept: GuardPart) -> dict[str, str]:
    """Return the contracts that a part is of: their names, and a hash of what each says."""
    session = kept.get("session")
    if not isinstance(session, (str, Mapping)):
        return {}
    try:
        contracts = read_saved(session).get("contracts")
    except SnapshotError:
        return {}
    return contracts if isinstance(contracts, dict) else {}
