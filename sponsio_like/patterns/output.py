"""Output: words and personal data that the agent's responses must not have, and their length.

Each function is a pattern; `contracts/declaration.py` tells what its arguments and decorator mean.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from sponsio_like.contracts import Field, Name, Natural, Tools, calls_of_any, pattern
from sponsio_like.errors import ContractError
from sponsio_like.events import Context, Message, atom
from sponsio_like.kinds import chosen_detectors
from sponsio_like.logic.formula import Always, Custom, Formula, MessageBy
from sponsio_like.patterns.phrasings import PHRASINGS
from sponsio_like.values import NotCanonical, folded

RESPONSE = MessageBy("assistant")


@pattern(
    "output",
    "response must not mention `{words: or }`",
    says=PHRASINGS["no_keywords"],
    keeps=(
        "",
        "msg:assistant=hello",
        'msg:assistant="acmes and bigcorp"',
        'msg:user="what of acme?"',
    ),
    breaks=("msg:assistant=acme", 'msg:assistant="Try ACME!"', 'msg:assistant="the big  corp"'),
    example={"words": ["acme", "big corp"]},
)
def no_keywords(words: tuple[Name, ...]) -> Formula:
    """Responses have none of `words` in them: whole words, in any case.

    A word is whole where no letter or digit stands beside it.
    """
    return Always(RESPONSE >> ~Custom("text_mentions", (words,)))


@pattern(
    "output",
    "response under {max_words} words",
    "response under {max_chars} characters",
    says=PHRASINGS["max_length"],
    keeps=("", 'msg:assistant="one two three"', 'msg:user="one two three four"'),
    breaks=('msg:assistant="one two three four"',),
    example={"max_words": 3},
)
def max_length(max_words: Natural | None = None, max_chars: Natural | None = None) -> Formula:
    """A response has at most `max_words` words (runs without blanks) and `max_chars` characters."""
    if max_words is None and max_chars is None:
        raise ContractError.of("`max_words` or `max_chars` is needed", "write max_words: 200")
    return Always(RESPONSE >> Custom("text_within", (max_words, max_chars)))


@pattern(
    "output",
    "response must not contain `{kinds: or }` data",
    "`{tool}` must not be given `{kinds: or }` data",
    "`{answers}` must not answer with `{kinds: or }` data",
    says=PHRASINGS["no_pii"],
    keeps=(
        "",
        'msg:assistant="your order 4111 1111 1111 1112 is on its way"',
        'msg:assistant="git@github.com:corp/app, version 1.2.3, 2026-11-23"',
        'msg:user="my mail is ann@corp.com"',
        'send(to="ann@corp.com")',
    ),
    breaks=(
        'msg:assistant="write to ann@corp.com"',
        'msg:assistant="card 4111-1111-1111-1111"',
        'msg:assistant="pay to DE89 3704 0044 0532 0130 00"',
        'msg:assistant="SSN 123-45-6789"',
        'msg:assistant="call +49 30 901820"',
    ),
    example={"kinds": ["personal"]},
)
def no_pii(
    kinds: tuple[Name, ...] = ("personal",),
    tool: Tools | None = None,
    field: Field = "*",
    answers: Tools | None = None,
) -> Formula:
    """Responses have no personal data; with `tool`, its arguments; with `answers`, its answers.

    `kinds` are those of `docs/kinds.md`: email, phone, card, iban, ssn, national, or a key such as
    `aws_key`; `personal` and `secrets` are all of theirs. Numbers count if their
    check digits are right. `field` is the argument that is searched, with all in it. Of an answer,
    it is known only once it is given. Needs the extra `[kinds]`.
    """
    names = chosen_detectors(kinds)
    if tool is not None and answers is not None:
        raise ContractError.of("`tool` and `answers` are two demands", "write two guarantees")
    if field != "*" and tool is None:
        raise ContractError.of("`field` is an argument of `tool`", "write tool: .. beside it")
    if tool is not None:
        return Always(calls_of_any(tool) >> ~Custom("arg_finds", (field, names)))
    if answers is not None:
        return Always(calls_of_any(answers) >> ~Custom("output_finds", (names,)))
    return Always(RESPONSE >> ~Custom("text_finds", (names,)))


# --- atoms --------------------------------------------------------------------------------------


@atom("text_mentions", about="message")
def text_mentions(message: Message, _: Context, words: tuple[str, ...]) -> bool | None:
    """True if one of `words` stands in the text as a whole word, whatever its case and its blanks.

    None if the text cannot be read.
    """
    try:
        return _mention(words).search(folded(message.text)) is not None
    except NotCanonical:
        return None


@functools.lru_cache(maxsize=1024)
def _mention(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return a regular expression for any of the words, with no letter or digit beside it.

    It has literals only, so the search is linear in the text.
    """
    each = (r"\s+".join(map(re.escape, folded(word).split())) for word in words)
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(each)})(?![^\W_])")


@atom("text_within", about="message")
def text_within(message: Message, _: Context, most_words: Any, most_chars: Any) -> bool:
    """True if the text has at most so many words and characters, as far as each is limited."""
    if most_chars is not None and len(message.text) > most_chars:
        return False
    return most_words is None or len(message.text.split()) <= most_words
