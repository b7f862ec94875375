"""Makes the grammar of sentences: `prose.lark`, and the phrasings that stand beside the patterns.

In: phrasings such as "NEVER_CALL {then} before {first:tools}", where small letters are words,
capitals a shared phrase of the grammar, `{name:kind}` an argument, `[..]` may be left out, and
`(..|..)` are alternatives. Out: a parser that finds every reading of a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from sponsio_like.prose.numbers import WORDS

if TYPE_CHECKING:
    from lark import Lark

PIECE = re.compile(r"\{([\w.*]+):(\w+)\}|([A-Z][A-Z_]*)|([a-z][a-z'-]*)|(,)|([\[\]()|])|(\s+)")
RESERVED = (
    "a|an|the|and|or|not|no|never|any|all|each|every|everything|anything|nothing|something|someone|"
    "anyone|everyone|nobody|it|its|them|they|this|that|these|those|of|to|in|on|at|by|for|from|with|"
    "without|before|after|until|unless|if|when|while|whenever|where|as|than|then|once|twice|again|"
    "both|either|neither|only|just|but|so|be|is|are|was|were|has|have|had|must|may|can|cannot|"
    "should|shall|will|would|do|does|did|let|most|least|more|less|fewer|per|between|tool|tools|"
    "call|calls|calling|called|other|same|different|himself|itself|oneself|else|you|which"
)
"""Words that are never the name of a tool without quotes, as a regular expression."""


@cache
def parser_for(phrasings: tuple[tuple[str, str], ...]) -> Lark:
    """Return the parser for these phrasings: pairs of a name and a text."""
    from lark import Lark

    text = grammar_text(phrasings)
    return Lark(
        text,
        parser="earley",
        lexer="dynamic",
        ambiguity="explicit",
        start=["start", "condition_alone"],
        maybe_placeholders=False,
    )


def grammar_text(phrasings: Iterable[tuple[str, str]]) -> str:
    """Return the whole grammar in lark's notation."""
    source = resources.files("sponsio_like.prose").joinpath("prose.lark").read_text("utf-8")
    words: dict[str, str] = {}
    arguments: dict[str, str] = {}
    rules = [f"p{i}: {_rule(text, words, arguments)}" for i, (_, text) in enumerate(phrasings)]
    source = source.replace("NUMBERWORDS", WORDS).replace("RESERVED", RESERVED)
    shared = "\n".join(
        line
        if re.match(r"[_A-Z]+(?:\.\d)?: /|[_A-Z]+: \"|//|%", line)
        else re.sub(r'"([^"]+)"', lambda found: _words(found[1], words), line)
        for line in source.splitlines()
    )
    core = " | ".join(f"p{i}" for i in range(len(rules))) or "tools"
    named = [f"{name}: {kind}" for name, kind in arguments.items()]
    terminals = [f"{name}: /{re.escape(word)}(?![\\w'-]*\\w)/i" for word, name in words.items()]
    return "\n".join([shared, f"?core: {core}", *rules, *named, *terminals, ""])


def _rule(text: str, words: dict[str, str], rules: dict[str, str]) -> str:
    """Return a phrasing in lark's notation. Raises `ValueError` for what is none.

    `rules` gets a rule for each argument and each bracket: fewer combinations than in one rule.
    """
    stack: list[list[str]] = [[]]
    at = 0
    while at < len(text):
        found = PIECE.match(text, at)
        if found is None:
            raise ValueError(f"`{text}` is no phrasing: see `{text[at:]}`")
        at = found.end()
        name, kind, shared, word, comma, sign, _ = found.groups()
        if name is not None:
            rule = f"a_{name.replace('.', '_dot_').replace('*', 'all_of_it')}__{kind}"
            rules[rule] = kind
            stack[-1].append(rule)
        elif shared is not None:
            stack[-1].append(f"_{shared.lower()}")
        elif word is not None:
            stack[-1].append(_words(word, words))
        elif comma is not None or sign == "|":
            stack[-1].append("_COMMA" if comma else "|")
        elif sign in ("(", "["):
            stack.append(["|"] if sign == "[" else [])
        elif sign is not None:
            inside = " ".join(stack.pop())
            known = {body: name for name, body in rules.items()}
            group = known.get(inside, f"_g{len(rules)}")
            rules[group] = inside
            stack[-1].append(group)
    return " ".join(stack.pop())


def _words(text: str, words: dict[str, str]) -> str:
    """Return the terminals of these words, one for each; the table `words` gets the new ones."""
    if not re.match(r"[a-z]", text, re.IGNORECASE):
        return f'"{text}"'
    names = [
        words.setdefault(word, "_W_" + re.sub(r"\W", "_", word).upper()) for word in text.split()
    ]
    return f"({' '.join(names)})" if len(names) > 1 else names[0]


def kinds_of(phrasing: str) -> Mapping[str, str]:
    """Return the arguments of a phrasing, each with its kind."""
    return {found[1]: found[2] for found in PIECE.finditer(phrasing) if found[1]}
