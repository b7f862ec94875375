"""Tells which values a fact of a text can have: a rule about another value would guard nothing.

In: a kind, a fact of it, and a value that a contract compares it with. Out: what to write instead,
or nothing where some text may have that value. Facts of kinds of users may have any value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from sponsio_like.errors import closest
from sponsio_like.kinds.date import DAYS
from sponsio_like.kinds.detectors import DETECTORS
from sponsio_like.kinds.email import plain_domain
from sponsio_like.kinds.money import CODES
from sponsio_like.kinds.sql import SQL_VERBS
from sponsio_like.kinds.url import host_of
from sponsio_like.values import place_of

Instead: TypeAlias = Callable[[str], str]
"""A function from a text to what to write instead of it; empty if the text will do."""
TRUTHS = frozenset(
    {
        ("shell", "pipes_to_shell"),
        ("shell", "elevates"),
        ("shell", "background"),
        ("url", "private"),
        ("path", "absolute"),
    }
)
"""The facts that are true or false."""
NUMBERS = frozenset(
    {("sql", "statements"), ("date", "seconds"), ("money", "amount"), ("url", "port")}
)
"""The facts that are numbers."""


def value_hint(kind: str, fact: str, value: Any) -> str:
    """Return what to write instead of a value that no text of the kind has; empty if one may."""
    known = "sql" if kind.startswith("sql_") else kind
    if known not in OURS:
        return ""
    if (known, fact) in TRUTHS:
        return "" if isinstance(value, bool) else "write true or false"
    if (known, fact) in NUMBERS:
        plain = isinstance(value, (bool, str))
        return "write a number" if plain else ""
    if not isinstance(value, str):
        return 'write a text; `{matches: "."}` is any'
    if "*" in value and (known, fact) not in WITH_STARS:
        return f"`*` stands for itself here; write {{matches: ..}}, or {fact}_under: FOLDER"
    ask = FORMS.get((known, fact))
    return "" if ask is None else ask(value)


OURS = frozenset({"shell", "sql", "url", "email", "domain", "path", "money", "date"}) | {
    "personal",
    "secrets",
}
WITH_STARS = frozenset(
    {("shell", "calls"), ("url", "path"), ("url", "query"), ("path", "whole"), ("path", "place")}
)
"""The facts whose values may well have a `*`."""


def _command(value: str) -> str:
    if words := value.split():
        first = words[0].rsplit("/", 1)[-1]
        if len(words) > 1:
            return f"write `{first}`, the command alone, or calls: {{matches: {_call(words)}}}"
        return "" if first == value else f"write `{first}`, the last step of its path"
    return "write a command"


def _call(words: list[str]) -> str:
    """Return a regular expression, in quotes for YAML, that finds a call of these words.

    The command may stand with its folder, options in front of its subcommand, and more
    behind it: `/usr/bin/git -C a push -u --force`.
    """
    first, second, *more = (re.escape(each).replace("\\-", "-") for each in words)
    gap = "(.* )?" if second[0] == "-" else r"(-\S+ (\S+ )?)*"
    parts = (f"(^|/){first.rsplit('/', 1)[-1]}", gap + second, *(f"(.* )?{one}" for one in more))
    said = " ".join(parts).replace("'", "''")
    return f"'{said}( |$)'"


def _verb(value: str) -> str:
    if value in SQL_VERBS:
        return ""
    low = value.lower()
    return f"write `{low}`" if low in SQL_VERBS else closest(low, SQL_VERBS) or _one_of(SQL_VERBS)


def _host(value: str) -> str:
    bare = re.sub(r"^[\w+.-]*://", "", value).split("/")[0]
    host = host_of(f"http://{bare}/")
    if not isinstance(host, str):
        return "write a host: `api.corp.com`"
    return "" if host == value else f"write `{host}`"


def _domain(value: str) -> str:
    name = plain_domain(value.rsplit("@", 1)[-1])
    if name is None:
        return "write a domain: `corp.com`"
    return "" if name == value else f"write `{name}`"


def _scheme(value: str) -> str:
    low = value.lower().split(":")[0]
    return "" if low == value else f"write `{low}`"


def _suffix(value: str) -> str:
    low = value.rsplit(".", 1)[-1].lower()
    return "" if low == value else f"write `{low}`"


def _folder(value: str) -> str:
    return f"it is one step; write {{under: {value}}} of the field" if "/" in value else ""


def _address(value: str) -> str:
    local, _, host = value.rpartition("@")
    name = plain_domain(host)
    if not local or name is None:
        return "write an address: `ann@corp.com`"
    return _small(value) if host == name else f"write `{local.lower()}@{name}`"


def _small(value: str) -> str:
    return "" if value == value.lower() else f"write `{value.lower()}`"


def _among(names: Callable[[], tuple[str, ...]], form: Callable[[str], str]) -> Instead:
    """Return a function for a fact that has only these values."""

    def ask(value: str) -> str:
        known = names()
        if value in known:
            return ""
        plain = form(value)
        return f"write `{plain}`" if plain in known else closest(plain, known) or _one_of(known)

    return ask


def _one_of(names: Any) -> str:
    return f"write one of {', '.join(sorted(names)[:12])}"


def _detected() -> tuple[str, ...]:
    return tuple(DETECTORS)


def _place(value: str) -> str:
    found = place_of(value)
    return "" if found == value else f"write `{found}`" if found else "write a plain path"


FORMS: Mapping[tuple[str, str], Instead] = MappingProxyType(
    {
        ("shell", "runs"): _command,
        ("shell", "hosts"): _host,
        ("sql", "verbs"): _verb,
        ("url", "host"): _host,
        ("url", "scheme"): _scheme,
        ("email", "domain"): _domain,
        ("email", "address"): _address,
        ("email", "local"): _small,
        ("email", "tag"): _small,
        ("domain", "name"): _domain,
        ("path", "place"): _place,
        ("path", "suffix"): _suffix,
        ("path", "folders"): _folder,
        ("money", "currency"): _among(lambda: tuple(CODES), str.upper),
        ("date", "weekday"): _among(lambda: tuple(DAYS), str.lower),
        ("personal", "finds"): _among(_detected, str.lower),
        ("secrets", "finds"): _among(_detected, str.lower),
    }
)
"""For each fact whose values have a form, what to write instead of a value of another form."""
