"""Reads events for a clause with value variables: one letter for each value that the event binds.

In: the slots of a clause. Out: letters: one for each key that the event (or a result) binds, and
one for all other values. Shared by all sessions; immutable but for a cache.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import sponsio_like.logic.formula as f
from sponsio_like.errors import ContractError
from sponsio_like.events import OPEN, Call, Context, End, Event, Message, Result
from sponsio_like.monitor.alphabet import fixed_at, static
from sponsio_like.monitor.parametric.atoms import (
    AmountMatcher,
    CallMatcher,
    Comparison,
    OutputMatcher,
    TextMatcher,
    form_of,
    of_target,
    side,
)
from sponsio_like.monitor.parametric.lookup import BINDING, UNBOUND
from sponsio_like.monitor.parametric.result_bindings import (
    NOTHING,
    PartialBinding,
    PartialCall,
    bound_keys,
    is_part,
    settled_part,
)
from sponsio_like.monitor.parametric.variables import (
    Atom,
    Key,
    TextKeys,
    VariableLayout,
    relations,
    value_text,
    vars_in,
)
from sponsio_like.monitor.past import Letter, kept
from sponsio_like.monitor.program import Slot
from sponsio_like.monitor.slots import slot_reader
from sponsio_like.values import ABSENT, WordIndex

Steady: TypeAlias = Callable[[Sequence[bool | None]], bool]
Mute: TypeAlias = Callable[[Sequence[bool | None]], frozenset[int]]
Gifts: TypeAlias = tuple[tuple[int, Any], ...]
CACHE_CAP = 4_096
"""Most tools whose names' consequences are cached: what of their calls makes no difference."""


class BoundLetters(NamedTuple):
    """The letters that an event gives: one for each key that it binds, and one for all others.

    `rests`: the states of the others stay as they are; `seen`: what each atom read, from which the
    letter of any other key is made; `given`: by slot, what the call binds of a key that its result
    completes.
    """

    keys: Mapping[Key, Letter]
    others: Letter
    rests: bool
    seen: tuple[Any, ...]
    given: Gifts = ()


class Revealed(NamedTuple):
    """The final values that a result gives to the slots that waited for it.

    `keys`: those that the result binds; `of`: the values by slot, for a key; `others`: the same for
    all values that nothing has bound; `apart`: each key that has a state of its own may get other
    values than these; `alike`: all of `keys` get the same values.
    """

    keys: Collection[Key]
    of: Callable[[Key], dict[int, Any]]
    others: dict[int, Any]
    apart: bool
    alike: bool = False


class Bindings:
    """The atoms with value variables of one clause.

    `relates`: an event is compared with every value, so that it concerns each key, not only the
    keys that it binds. `indexed`: the values of a text need not be told one by one.
    """

    def __init__(
        self, slots: Sequence[Slot], names: VariableLayout, *, indexed: bool = False
    ) -> None:
        self.names = names
        self.slots = tuple(slots)
        each = [(i, slot) for i, slot in enumerate(slots) if _has_vars(slot.node)]
        made = [(i, slot, _atom(slot, names, indexed=indexed)) for i, slot in each]
        self.atoms: list[tuple[int, Slot, Atom]] = made
        self.nobody: Key = (UNBOUND,) * len(names.places)
        ops = [op for _, slot in each for op in relations(slot.node, names)]
        self._compares = bool(ops)
        self.relates = any(op != "!=" for op in ops) or (bool(ops) and len(names.places) > 1)
        self.revealing = frozenset(i for i, _, atom in made if isinstance(atom, OutputMatcher))
        self.parts = frozenset(i for i, _, atom in made if isinstance(atom, PartialCall))
        self._rests: dict[Any, bool] = {}
        self._mutes: dict[str, frozenset[int]] = {}

    def see(
        self, base: Letter, event: Event, context: Context, steady: Steady, mute: Mute
    ) -> BoundLetters:
        """Return the letters that this event gives. `base`: the letter, but for variables.

        `steady` says whether a position with a letter leaves the clause as it is; `mute` lists the
        outputs that make no difference there, so that nothing waits for them.
        """
        still = self._mute(event, mute)
        seen = tuple([i not in still and atom.see(event, context) for i, _, atom in self.atoms])
        base = tuple([self._small(i, value) for i, value in enumerate(base)])
        others = self.letter(base, seen, self.nobody)
        letters = self._letters(base, seen)
        false = all(
            others[i] is False or slot.kind == "amount" or i in self.revealing
            for i, slot, _ in self.atoms
        )
        rests = false and self._steady(event, steady)
        pairs = zip(self.atoms, seen, strict=True) if self.parts else ()
        given = tuple((i, one) for (i, _, _), one in pairs if i in self.parts and one != NOTHING)
        return BoundLetters(letters, others, rests, seen, given)

    def _small(self, i: int, value: Any) -> Any:
        """Return a term's value, or `MISSING` if it is too large to be remembered in a state."""
        if self.slots[i].kind != "value" or value is OPEN or value is ABSENT:
            return value
        return kept(value)

    def _letters(self, base: Letter, seen: tuple[Any, ...]) -> Mapping[Key, Letter]:
        pairs = [(atom, one) for (_, _, atom), one in zip(self.atoms, seen, strict=True)]
        texts = [one.values for atom, one in pairs if isinstance(atom, TextMatcher)]
        if len(texts) == 1 and isinstance(texts[0], WordIndex):  # it is a message
            return TextKeys(texts[0], self.letter(base, seen, (texts[0].example(),)))
        each = [(atom, one, list(atom.binds(one))) for atom, one in pairs]
        telling = [(atom, one, keys) for atom, one, keys in each if keys]
        if len(telling) == 1 and not self.relates and len(telling[0][2]) > 1:
            atom, one, keys = telling[0]
            alike = isinstance(atom, CallMatcher | TextMatcher) and atom.is_alike(one)
            if alike:  # then all of them read the same
                return dict.fromkeys(keys, self.letter(base, seen, keys[0]))
        keys_ = dict.fromkeys(key for _, _, keys in telling for key in keys)
        return {key: self.letter(base, seen, key) for key in keys_}

    def keys_of(self, event: Event, context: Context) -> list[Key]:
        """Return the keys that the event binds."""
        pairs = ((atom, atom.see(event, context)) for _, _, atom in self.atoms)
        return list(dict.fromkeys(key for atom, seen in pairs for key in atom.binds(seen)))

    def letter(self, base: Letter, seen: Sequence[Any], key: Key) -> Letter:
        """Return the letter of this key."""
        out = list(base)
        for (i, slot, atom), one in zip(self.atoms, seen, strict=True):
            out[i] = _answer(slot, atom.holds(one, key))
        return tuple(out)

    def compares(self, reading: BoundLetters) -> bool:
        """True if the event is compared with values, and does not only bind them."""
        pairs = ((atom, one) for (_, _, atom), one in zip(self.atoms, reading.seen, strict=True))
        calls = (
            atom.compares(one) for atom, one in pairs if isinstance(atom, CallMatcher | Comparison)
        )
        return self._compares and any(calls)

    def nothing(self, base: Letter, context: Context) -> Letter:
        """Return the letter at the end of the session, where nothing happens: the same for every
        key.
        """
        seen = tuple([atom.see(End(), context) for _, _, atom in self.atoms])
        return self.letter(base, seen, self.nobody)

    def settled(
        self, letter: Letter, result: Result, base: dict[int, Any], gifts: Gifts = ()
    ) -> Revealed:
        """Return what a result decides.

        `base`: the final values of slots without variables; `gifts`: what the call has bound, by
        slot.
        """
        waiting = [
            (i, slot, atom, atom.found(result))
            for i, slot, atom in self.atoms
            if isinstance(atom, OutputMatcher) and letter[i] is OPEN
        ]
        alike = len(waiting) == 1 and not self.parts
        alike = alike and all(atom.is_alike(found) for *_, atom, found in waiting)
        words = waiting[0][3].values if alike else ()
        keys = dict[Key, None]()
        for *_, atom, found in waiting if not isinstance(words, WordIndex) else ():
            keys |= dict.fromkeys(atom.revealed(found))
        given = {i: PartialBinding(*each) for i, each in gifts if letter[i] is OPEN}
        told: dict[int, dict[Any, None]] = {}
        for *_, atom, found in waiting if given else ():
            told.setdefault(atom.place, {}).update(found.values)
        for each in given.values():
            keys |= dict.fromkeys(bound_keys(each, len(self.nobody), told))
        vague = any(found.unclear for *_, found in waiting)
        loose = any(each.unclear for each in given.values())

        def final(key: Key) -> dict[int, Any]:
            out = dict(base)
            for i, slot, atom, found in waiting:
                answer = None if loose and key == self.nobody else atom.settled(found, key)
                out[i] = slot.default if answer is None else answer
            for i in self.parts & out.keys():
                default = self.slots[i].default
                part = settled_part(given.get(i, NOTHING), key, vague=vague, default=default)
                out[i] = out[i] and part
            return out

        ops = {atom.node.op for _, _, atom, _ in waiting}
        apart = not ops <= (BINDING | {"!="} if len(self.nobody) == 1 else BINDING)
        mine = TextKeys(words) if isinstance(words, WordIndex) else tuple(keys)
        return Revealed(mine, final, final(self.nobody), apart, alike)

    # --- those that are left alone ------------------------------------------------------------

    def _steady(self, event: Event, steady: Steady) -> bool:
        if not isinstance(event, Call | Message):
            return False
        kind, name = ("call", event.tool) if isinstance(event, Call) else ("message", event.role)
        known = self._rests.get((kind, name))
        if known is None:
            fixed = (
                static(self.slots, name) if kind == "call" else fixed_at(self.slots, (kind, name))
            )
            known = steady(self.told(fixed))
            if len(self._rests) < CACHE_CAP:
                self._rests[kind, name] = known
        return known

    def _mute(self, event: Event, mute: Mute) -> frozenset[int]:
        if not isinstance(event, Call) or not self.revealing:
            return frozenset()
        found = self._mutes.get(event.tool)
        if found is None:
            found = mute(static(self.slots, event.tool))
            if len(self._mutes) < CACHE_CAP:
                self._mutes[event.tool] = found
        return found

    def told(self, letter: Sequence[bool | None]) -> tuple[bool | None, ...]:
        """Return what is known of a letter for values that the position does
        not bind; else None.
        """
        out = list(letter)
        for i, _, _ in self.atoms:
            late = i in self.revealing or i in self.parts
            out[i] = None if late and out[i] is not False else False
        return tuple(out)

    def said(self, key: Key) -> tuple[tuple[str, Any], ...]:
        """Return the variables, each with its value as people read it."""
        return tuple((name, value_text(key[place])) for name, place in self.names.places.items())


def _answer(slot: Slot, answer: Any) -> Any:
    if slot.kind != "atom" or answer is not None:
        return answer
    return OPEN if slot.waits and slot.default else slot.default


def _has_vars(node: f.Node) -> bool:
    return any(vars_in(each) for each in f.postorder(node))


def _atom(slot: Slot, names: VariableLayout, *, indexed: bool) -> Atom:
    node = slot.node
    match node:
        case f.Happens(what, target) if is_part(node, names):
            return PartialCall(of_target(target, what, names))
        case f.Happens(what, target):
            return of_target(target, what, names)
        case f.OutputIs(_, _, f.Var(name)):
            form, width = names.forms[name], len(names.places)
            indexed = indexed and node.op == "has"
            return OutputMatcher(node, names.places[name], form, width, indexed)
        case f.TextIs(op, f.Var(name)):
            indexed = indexed and op == "has"
            return TextMatcher(node, names.places[name], names.forms[name], indexed)
        case f.Compare(left, op, right):
            form = form_of(names)
            return Comparison(side(left, names), op, side(right, names), len(names.places), form)
        case f.Sum(target):
            return AmountMatcher(of_target(target, "called", names), slot_reader(slot))
    if isinstance(node, f.Variable):
        said = f"`{node!r}` cannot be compared with a value of an earlier call"
        raise ContractError.of(said, "write `arg(FIELD)` for it, the argument of this call")
    raise ContractError.of(
        f"`{node!r}` cannot have a value variable", "count calls instead: count(..)"
    )
