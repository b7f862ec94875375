"""Finds every tree that a grammar has for a sentence.

In: rules and terminals as lark reads them, and a sentence. Out: `Tree`s. First it is found how far
each symbol can reach from each place, which takes few steps; trees are made only of what reaches
the end. lark's own parser finds the same trees, twenty times slower (`tests/sentences`).
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from lark import Lark

SPACE = re.compile(r"\s*")
WORD = re.compile(r"[A-Za-z](?:[\w'-]*\w)?")


@dataclass(frozen=True, slots=True)
class Expansion:
    """The symbols that one symbol can be, one after another."""

    symbols: tuple[str, ...]
    data: str
    """The name of its tree."""
    alone: bool
    """True if an only child stands in its place."""


@dataclass(frozen=True)
class Grammar:
    """The expansions of each symbol, and the regular expression of each terminal.

    A symbol that begins with `_` has no tree of its own: what is in it stands in its parent.
    """

    expansions: Mapping[str, tuple[Expansion, ...]]
    terminals: Mapping[str, re.Pattern[str]]
    words: Mapping[str, str]
    """The terminals that are one word, and the word."""

    @functools.cached_property
    def needs(self) -> dict[str, frozenset[str]]:
        """The terminals that stand in every text of a symbol: without one of them it cannot be."""
        needs = {name: frozenset({name}) for name in self.terminals}

        def work_out(name: str) -> frozenset[str]:
            if name not in needs:
                needs[name] = frozenset()  # within itself, a symbol is taken to need nothing
                each = [_union(map(work_out, one.symbols)) for one in self.expansions[name]]
                needs[name] = frozenset.intersection(*each) if each else frozenset(self.terminals)
            return needs[name]

        for name in self.expansions:
            work_out(name)
        return needs

    @functools.cached_property
    def begins(self) -> dict[str, frozenset[str]]:
        """The terminals with which a text of each symbol begins; with `""` if it may be empty."""
        begins = {name: frozenset({name}) for name in self.terminals}
        begins |= {name: frozenset[str]() for name in self.expansions}
        grown = True
        while grown:
            grown = False
            for name, each in self.expansions.items():
                found = _union(_first(one.symbols, begins) for one in each)
                grown = grown or found != begins[name]
                begins[name] = found
        return begins

    @functools.cached_property
    def stands_for(self) -> dict[str, str]:
        """The one symbol that a symbol is, of those that are nothing else: it reaches as far."""
        return {
            name: each[0].symbols[0]
            for name, each in self.expansions.items()
            if len(each) == 1 and len(each[0].symbols) == 1
        }

    @functools.cached_property
    def options(self) -> dict[str, tuple[Option, ...]]:
        """The expansions of each symbol, with what each needs, and with what it begins."""
        return {
            name: tuple(
                Option(
                    each,
                    _union(map(self.needs.__getitem__, each.symbols)),
                    _first(each.symbols, self.begins),
                )
                for each in expansions
            )
            for name, expansions in self.expansions.items()
        }

    @functools.cached_property
    def by_word(self) -> dict[str, str]:
        """The terminals that are one word and stand for no other, by it in small letters."""
        return {
            word.lower(): name
            for name, word in self.words.items()
            if "|" not in self.terminals[name].pattern
        }


class Option(NamedTuple):
    """An expansion, the terminals that stand in it, and those with which it begins."""

    expansion: Expansion
    needs: frozenset[str]
    begins: frozenset[str]


def _first(symbols: tuple[str, ...], begins: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return the terminals with which these symbols begin; with `""` if all may be empty."""
    found = frozenset[str]()
    for symbol in symbols:
        found |= begins[symbol] - {""}
        if "" not in begins[symbol]:
            return found
    return found | {""}


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)


def grammar_of(read: Lark, words: Mapping[str, str]) -> Grammar:
    """Return a grammar that lark has read; `words` are its terminals that are one word."""
    expansions: dict[str, list[Expansion]] = defaultdict(list)
    for rule in sorted(read.rules, key=lambda each: each.order):
        symbols = tuple(str(each.name) for each in rule.expansion)
        alone = bool(rule.options.expand1) and not rule.alias
        name = str(rule.origin.name)
        expansions[name].append(Expansion(symbols, str(rule.alias or name), alone))
    return Grammar(
        {name: tuple(each) for name, each in expansions.items()},
        {
            each.name: re.compile(each.pattern.to_regexp())
            for each in read.terminals
            if each.name not in read.ignore_tokens
        },
        words,
    )


def trees(grammar: Grammar, start: str, sentence: str) -> Iterator[Any]:
    """Yield every `lark.Tree` of the whole sentence."""
    whole = sentence.rstrip()
    return (each for [each] in _Search(grammar, whole).parts(start, 0, len(whole)))


class _Search:
    """The ends that were found in one sentence, and its trees."""

    def __init__(self, grammar: Grammar, sentence: str) -> None:
        self.grammar = grammar
        self.sentence = sentence
        self.ends: dict[tuple[str, int], tuple[int, ...]] = {}
        self.missing = self._missing()
        self.live: dict[str, tuple[Option, ...]] = {}
        self.seen: dict[int, dict[str, int]] = {}
        self.spaces = [SPACE.match(sentence, i).end() for i in range(len(sentence) + 1)]  # type: ignore[union-attr]
        others = grammar.terminals.keys() - self.missing - set(grammar.by_word.values())
        self.others = [(name, grammar.terminals[name].match) for name in sorted(others)]

    def _missing(self) -> set[str]:
        """Return terminals that stand nowhere in the sentence: most of them."""
        by_word, small = self.grammar.by_word, self.sentence.lower()
        missing = {name for word, name in by_word.items() if word not in small}
        others = self.grammar.terminals.keys() - set(by_word.values())
        return missing | {
            name for name in others if not self.grammar.terminals[name].search(self.sentence)
        }

    # --- how far ------------------------------------------------------------------------------

    def here(self, at: int) -> dict[str, int]:
        """Return the terminals that stand here, behind spaces, each with its end."""
        begin = self.spaces[at]
        found = self.seen.get(begin)
        if found is None:
            found = self.seen[begin] = {"": begin}
            for name, match in self.others:
                if (one := match(self.sentence, begin)) and one[0]:
                    found[name] = one.end()
            if (word := WORD.match(self.sentence, begin)) and (
                name := self.grammar.by_word.get(word[0].lower(), "")
            ):
                found[name] = word.end()
        return found

    def reach(self, symbol: str, at: int) -> tuple[int, ...]:
        """Return where a symbol that begins here can end."""
        known = self.ends.get((symbol, at))
        if known is None:
            if symbol in self.grammar.terminals:
                end = self.here(at).get(symbol)
                known = () if end is None else (end,)
            elif (inner := self.grammar.stands_for.get(symbol)) is not None:
                known = self.reach(inner, at)
            elif self.grammar.begins[symbol].isdisjoint(self.here(at)):
                known = ()
            else:
                known = tuple(self._reach_of_rule(symbol, at))
            self.ends[symbol, at] = known
        return known

    def expansions(self, symbol: str) -> tuple[Option, ...]:
        """Return the expansions of a symbol whose words stand somewhere in the sentence."""
        known = self.live.get(symbol)
        if known is None:
            options = self.grammar.options[symbol]
            known = tuple(each for each in options if each.needs.isdisjoint(self.missing))
            self.live[symbol] = known
        return known

    def _reach_of_rule(self, symbol: str, at: int) -> list[int]:
        """Return the ends of all expansions; one that begins with the symbol itself goes on."""
        here = self.here(at).keys()
        symbols = [
            each.expansion.symbols
            for each in self.expansions(symbol)
            if not each.begins.isdisjoint(here)
        ]
        more = [each[1:] for each in symbols if each[:1] == (symbol,)]
        first = [each for each in symbols if each[:1] != (symbol,)]
        ends = list(dict.fromkeys(end for each in first for end in self.through(each, {at})))
        for end in ends:  # grows as it runs
            ends += [new for each in more for new in self.through(each, {end}) if new not in ends]
        return ends

    def through(self, symbols: Iterable[str], places: set[int]) -> set[int]:
        """Return where these symbols, one after another, can end."""
        for symbol in symbols:
            if not places:
                break
            places = {end for at in places for end in self.reach(symbol, at)}
        return places

    # --- trees --------------------------------------------------------------------------------

    def parts(self, symbol: str, at: int, end: int) -> Iterator[list[Any]]:
        """Yield the children that a symbol adds to its parent, for each way to read it."""
        from lark import Token, Tree

        if symbol in self.grammar.terminals:
            begin = self.spaces[at]
            token = Token(symbol, self.sentence[begin:end], start_pos=begin)
            yield [] if symbol.startswith("_") else [token]
            return
        for each, *_ in self.expansions(symbol):
            for children in self._children(each.symbols, at, end):
                if symbol.startswith("_") or (each.alone and len(children) == 1):
                    yield children
                else:
                    yield [Tree(each.data, children)]

    def _children(self, symbols: tuple[str, ...], at: int, end: int) -> Iterator[list[Any]]:
        if not symbols:
            if at == end:
                yield []
            return
        first, rest = symbols[0], symbols[1:]
        for middle in self.reach(first, at):
            if middle <= end and end in self.through(rest, {middle}):
                for head in self.parts(first, at, middle):
                    for tail in self._children(rest, middle, end):
                        yield [*head, *tail]
