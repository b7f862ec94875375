"""Makes the grammar of sentences: `prose.lark`, and the phrasings that stand beside the patterns.

In: phrasings such as "NEVER_CALL {then} before {first:tools}", where small letters are words,
capitals a shared phrase of the grammar, `{name:kind}` an argument, `[..]` may be left out, and
`(..|..)` are alternatives. Out: a `Grammar`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources

from sponsio_like.contracts.prose.forest import Expansion, Grammar, grammar_of
from sponsio_like.contracts.prose.numbers import WORDS

PIECE = re.compile(r"\{([\w.*]+):(\w+)\}|([A-Z][A-Z_]*)|([a-z][a-z'-]*)|(,)|([\[\]()|])|(\s+)")
RESERVED = (
    "a|an|the|and|or|not|no|never|any|all|each|every|everything|anything|nothing|something|someone|"
    "anyone|everyone|nobody|it|its|them|they|this|that|these|those|of|to|in|on|at|by|for|from|with|"
    "without|before|after|until|unless|if|when|while|whenever|where|as|than|then|once|twice|again|"
    "both|either|neither|only|just|but|so|be|is|are|was|were|has|have|had|must|may|can|cannot|"
    "should|shall|will|would|do|does|did|let|ever|please|most|least|more|less|fewer|per|between|tool|tools|"
    "call|calls|calling|called|other|same|different|himself|itself|oneself|else|you|we|our|which"
)
"""Words that are never the name of a tool without quotes, as a regular expression."""
BEFORE = re.compile(r"(before (?:\[CALLING\] )?\{[\w.]+:(?:every|tools)\})(?! \[?HAPPENS)")
"""A call before which something happens; it may be said in a clause: "before `pay` is called"."""
BAN = re.compile(
    r"NEVER_CALL (\{[\w.]+:(?:every|tools|names)\})(?! \(?\{limit| \(twice| more| \[\(?(?:by|via))"
)
"""A call that is forbidden; "`pay` is forbidden", "don't let `pay` run" say it too."""
BAN_COUNT = re.compile(r"NEVER_CALL (\{[\w.]+:(?:every|tools|one_tool)\})(?= \(?\{limit| \(twice)")
NEED = re.compile(r"^(\{[\w.]+:(?:every|tools|union)\}) REQUIRES")
"""The need of a call; "for `pay` you need .." says it too."""
ALIKE = {"after": ("after", "following"), "before": ("before", "prior to", "ahead of")}
"""Words that stand for another one, wherever it is written in a phrasing."""


@cache
def grammar_for(phrasings: tuple[tuple[str, str], ...]) -> Grammar:
    """Return the grammar with these phrasings: pairs of a name and a text."""
    shared = _shared()
    words: dict[str, str] = {}
    rules: dict[str, list[tuple[str, ...]]] = {}
    groups: dict[tuple[tuple[str, ...], ...], str] = {}
    for i, (_, text) in enumerate(phrasings):
        rules[f"p{i}"] = _alternatives(_widened(text), words, rules, groups)
    expansions = {
        name: tuple(Expansion(symbols, name, alone=False) for symbols in alternatives)
        for name, alternatives in rules.items()
    }
    core = tuple(Expansion((f"p{i}",), "core", alone=True) for i in range(len(phrasings)))
    return Grammar(
        {**shared.expansions, **expansions, "core": core},
        {**shared.terminals, **{name: re.compile(_word(word)) for word, name in words.items()}},
        {**shared.words, **{name: word for word, name in words.items()}},
    )


def _widened(text: str) -> str:
    """Return a phrasing with the other ways to forbid a call, to need something, to be before."""
    text = BEFORE.sub(r"\1 [HAPPENS]", text)
    text = BAN.sub(
        r"(NEVER_CALL \1 | NEVER let \1 BE_CALLED | \1 (MUST_NOT BE_CALLED | FORBIDDEN))", text
    )
    text = BAN_COUNT.sub(r"(NEVER_CALL \1 | NEVER let \1 BE_CALLED | \1 MUST_NOT BE_CALLED)", text)
    return NEED.sub(r"(\1 REQUIRES | for \1 [,] AGENT REQUIRES)", text)


@cache
def _shared() -> Grammar:
    """Return the grammar of `prose.lark`, which has no phrasings."""
    from lark import Lark

    words: dict[str, str] = {}
    text = _text_of_file(words)
    names = re.findall(r"^\??([a-z_]+):", text, re.MULTILINE)
    read = Lark(text, parser=None, lexer="basic", start=names, maybe_placeholders=False)
    return grammar_of(read, {name: word for word, name in words.items()})


def _text_of_file(words: dict[str, str]) -> str:
    """Return `prose.lark` with its words as terminals; the table `words` gets them."""
    room = resources.files("sponsio_like.contracts.prose")
    source = room.joinpath("prose.lark").read_text("utf-8")
    source = source.replace("NUMBERWORDS", WORDS).replace("RESERVED", RESERVED)
    lines = [
        line
        if re.match(r"[_A-Z]+(?:\.\d)?: /|[_A-Z]+: \"|//|%", line)
        else re.sub(r'"([^"]+)"', lambda found: _words(found[1], words), line)
        for line in source.splitlines()
    ]
    terminals = [f"{name}: /{_word(word)}/" for word, name in words.items()]
    return "\n".join([*lines, *terminals, ""])


def _alternatives(
    text: str,
    words: dict[str, str],
    rules: dict[str, list[tuple[str, ...]]],
    groups: dict[tuple[tuple[str, ...], ...], str],
) -> list[tuple[str, ...]]:
    """Return the alternatives of a phrasing. Raises `ValueError` for what is none.

    The tables `words` and `rules` get its words, and a rule for each argument and each bracket;
    `groups` has the brackets of all phrasings: the same one is one rule, and is searched for once.
    """
    stack: list[list[list[str]]] = [[[]]]
    at = 0
    while at < len(text):
        found = PIECE.match(text, at)
        if found is None:
            raise ValueError(f"`{text}` is no phrasing: see `{text[at:]}`")
        at = found.end()
        name, kind, shared, word, comma, sign, _ = found.groups()
        here = stack[-1]
        if name is not None:
            rule = f"a_{name.replace('.', '_dot_').replace('*', 'all_of_it')}__{kind}"
            rules[rule] = [(kind,)]
            here[-1].append(rule)
        elif shared is not None:
            here[-1].append(f"_{shared.lower()}")
        elif word is not None:
            here[-1].append(_words(word, words))
        elif comma is not None:
            here[-1].append("_COMMA")
        elif sign == "|":
            here.append([])
        elif sign in ("(", "["):
            stack.append([[]] if sign == "(" else [[], []])
        elif sign is not None:
            inside = tuple(tuple(each) for each in stack.pop())
            group = groups.setdefault(inside, f"_g{len(groups)}")
            rules[group] = list(inside)
            stack[-1][-1].append(group)
    return [tuple(each) for each in stack.pop()]


def _word(word: str) -> str:
    """Return the regular expression of a whole word, or of another that means the same."""
    alike = "|".join(map(re.escape, ALIKE.get(word, (word,))))
    return rf"(?i:{alike})(?![\w'-]*\w)"


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
