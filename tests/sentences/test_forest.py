"""The search for trees finds those that lark's own parser finds."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from lark import Lark, Token, Tree, UnexpectedInput

import sponsio_like.patterns  # noqa: F401 - declares the phrasings
from sponsio_like.contracts.prose.forest import Grammar, trees
from sponsio_like.contracts.prose.grammar import grammar_for
from sponsio_like.contracts.sentences import phrasings
from tests.sentences.test_sentences import TABLE
from tests.support.size import sized

SLASH, ESCAPED = re.compile(r"(?<!\\)/"), r"\\/"


@cache
def earley() -> Lark:
    """Return lark's parser of the grammar, which yields a tree with all ambiguities."""
    return Lark(
        written(grammar_for(phrasings())), parser="earley", lexer="dynamic", ambiguity="explicit"
    )


def written(grammar: Grammar) -> str:
    """Return the grammar in lark's notation."""
    lines = []
    for name, expansions in grammar.expansions.items():
        each = [
            " ".join(map(plain, one.symbols)) + (f" -> {one.data}" if one.data != name else "")
            for one in expansions
        ]
        alone = "?" if any(one.alone for one in expansions) else ""
        lines.append(f"{alone}{plain(name)}: {' | '.join(each)}")
    for name, terminal in grammar.terminals.items():
        lines.append(f"{name}: /{SLASH.sub(ESCAPED, terminal.pattern)}/")
    return "\n".join([*lines, "%ignore /\\s+/", ""])


def plain(symbol: str) -> str:
    """Return the symbol with one line in front where lark gave it two."""
    return "_made_" + symbol.lstrip("_") if symbol.startswith("__") else symbol


def unfolded(node: Any) -> list[str]:
    """Return every tree without ambiguity, as text."""
    if isinstance(node, Token):
        return [f"{node.type}:{node}@{node.start_pos}"]
    if node.data == "_ambig":
        return [text for each in node.children for text in unfolded(each)]
    texts = [""]
    for child in node.children:
        texts = [f"{text} {more}" for text in texts for more in unfolded(child)]
    return [f"{node.data}({text})" for text in texts]


@pytest.mark.long
@pytest.mark.parametrize("sentence", [row.sentence for row in TABLE[:: sized(96, 192)]])
def test_the_search_finds_the_trees_that_the_parser_of_lark_finds(sentence: str) -> None:
    """No reading is lost, and none is added: two parsers agree on all trees of a sentence."""
    found = [
        text
        for tree in trees(grammar_for(phrasings()), "start", sentence)
        for text in unfolded(tree)
    ]
    try:
        parsed: Tree[Any] | None = earley().parse(sentence)
    except UnexpectedInput:
        parsed = None
    assert sorted(found) == sorted(unfolded(parsed) if parsed else [])
