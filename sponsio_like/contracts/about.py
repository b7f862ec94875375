"""Notes on a contract: its reason, its owner, the severity of a violation, tags, its own advice.

In: `because:`, `owner:`, `severity:`, `tags:` and `advice:` of a contract. Out: an `About`. It is
no part of what a contract means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from sponsio_like.errors import ContractError, Problems, closest, read_each
from sponsio_like.outcome import Severity

SEVERITIES: tuple[Severity, ...] = get_args(Severity)
KEYS = ("because", "owner", "severity", "tags")
"""The notes that a violation has."""
LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
"""The tag of a language, as BCP 47 writes them: `de`, `pt-BR`."""
PLACES = ("tool", "contract", "how")
"""The words in braces that texts of `advice` may have."""
FALLBACK = "en"
"""The language of a guard that names none, and of texts where its own has none."""


@dataclass(frozen=True, slots=True)
class About:
    """The notes on one contract; a field is empty if nothing was written."""

    because: str = ""
    owner: str = ""
    severity: Severity | None = None
    tags: tuple[str, ...] = ()
    advice: tuple[tuple[str, str], ...] = ()
    """Texts for the model in the place of the advice that is worked out: language and text."""

    def advised(self, language: str) -> str:
        """Return the text in a language, else in the one that it is a kind of, else in English.

        Empty if there is none of these.
        """
        texts = dict(self.advice)
        wanted = (language, language.partition("-")[0], FALLBACK)
        return next((texts[each] for each in wanted if each in texts), "")

    def said(self) -> dict[str, Any]:
        """Return the notes that were written, by key."""
        return said_of(self)


def said_of(about: Any) -> dict[str, Any]:
    """Return the notes of anything that has these fields, by key: an `About`, a `Violation`."""
    return {key: said for key in KEYS if (said := getattr(about, key))}


UNSAID = About()
"""An `About` without any note."""


def read_words(value: Any) -> str:
    """Return a text without the blanks around it. Raises `ContractError` if nothing is left."""
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise ContractError.of(f"`{value}` is not a text", "write some words")


def read_severity(value: Any) -> Severity:
    """Return a severity from its name. Raises `ContractError` for others."""
    for known in SEVERITIES:
        if value == known:
            return known
    raise ContractError.of(
        f"unknown severity `{value}`", closest(value, SEVERITIES) or f"one of {SEVERITIES}"
    )


def read_tags(value: Any) -> tuple[str, ...]:
    """Return a list of words as a tuple. Raises `ContractError` for anything else."""
    if not isinstance(value, (list, tuple)) or not value:
        raise ContractError.of(f"`{value}` is not a list", f"write [{value}]")
    return tuple(read_each(read_words, value))


def read_advice(value: Any) -> tuple[tuple[str, str], ...]:
    """Return texts by language as pairs. Raises `ContractError` for anything else."""
    if not isinstance(value, Mapping) or not value:
        raise ContractError.of(f"`{value}` has no language", "write {en: call check first, de: ..}")
    problems = Problems()
    found = [
        (str(tag), problems.attempt((tag,), _text_in, tag, text)) for tag, text in value.items()
    ]
    problems.check()
    return tuple((tag, text) for tag, text in found if text is not None)


def read_language(tag: Any) -> str:
    """Return the tag of a language. Raises `ContractError` for what is none."""
    if isinstance(tag, str) and LANGUAGE.fullmatch(tag):
        return tag
    raise ContractError.of(f"`{tag}` is no language", "write a tag such as en, de or pt-BR")


def _text_in(tag: Any, value: Any) -> str:
    read_language(tag)
    text = read_words(value)
    for name in re.findall(r"\{([^{}]*)\}", text):
        if name not in PLACES:
            known = ", ".join(f"{{{each}}}" for each in PLACES)
            raise ContractError.of(f"`{{{name}}}` stands for nothing here", f"known: {known}")
    return text


def filled(text: str, **said: str) -> str:
    """Return a text of `advice` with what its braces stand for."""
    return re.sub(r"\{(\w+)\}", lambda found: said[found[1]], text)
