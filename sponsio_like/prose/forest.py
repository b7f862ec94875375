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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lark import Lark

SPACE = re.compile(r"\s*")


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
    def options(self) -> dict[str, tuple[tuple[Expansion, frozenset[str]], ...]]:
        """The expansions of each symbol, with the terminals that each of them needs."""
        needs = self.needs
        return {
            name: tuple((each, _union(map(needs.__getitem__, each.symbols))) for each in expansions)
            for name, expansions in self.expansions.items()
        }


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
        self.missing = {
            name for name, each in grammar.terminals.items() if not each.search(sentence)
        }
        self.live: dict[str, tuple[Expansion, ...]] = {}
        self.spaces = [SPACE.match(sentence, i).end() for i in range(len(sentence) + 1)]  # type: ignore[union-attr]

    # --- how far ------------------------------------------------------------------------------

    def reach(self, symbol: str, at: int) -> tuple[int, ...]:
        """Return where a symbol that begins here can end."""
        known = self.ends.get((symbol, at))
        if known is not None:
            return known
        terminal = self.grammar.terminals.get(symbol)
        if terminal is not None:
            found = terminal.match(self.sentence, self.spaces[at])
            ends = [found.end()] if found and found[0] else []
        else:
            ends = self._reach_of_rule(symbol, at)
        self.ends[symbol, at] = tuple(ends)
        return self.ends[symbol, at]

    def expansions(self, symbol: str) -> tuple[Expansion, ...]:
        """Return the expansions of a symbol whose words stand somewhere in the sentence."""
        known = self.live.get(symbol)
        if known is None:
            options = self.grammar.options[symbol]
            known = tuple(each for each, needs in options if needs.isdisjoint(self.missing))
            self.live[symbol] = known
        return known

    def _reach_of_rule(self, symbol: str, at: int) -> list[int]:
        """Return the ends of all expansions; one that begins with the symbol itself goes on."""
        expansions = self.expansions(symbol)
        more = [each.symbols[1:] for each in expansions if each.symbols[:1] == (symbol,)]
        first = [each.symbols for each in expansions if each.symbols[:1] != (symbol,)]
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
        for each in self.expansions(symbol):
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
