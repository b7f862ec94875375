"""The kinds `email` and `domain`: who a message is sent to, and the name of a host.

In: a text. Out: addresses by RFC 5321 as mail programs write them, `Ann <ann@corp.com>, bob@x.org`;
a domain in small letters, as ASCII. Anything else is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sponsio_like.kinds.registry import kind, unknown
from sponsio_like.values import UNREADABLE, Facts

ADDRESSES = {
    "domain[]": "the domains of the addresses, in small letters, as ASCII",
    "address[]": "the addresses, in small letters",
    "local[]": "what stands before the `@`, in small letters",
    "tag[]": "what stands behind a `+` before the `@`, in small letters",
}
NAMES = {
    "name": "the domain in small letters, as ASCII",
    "labels[]": "its parts, the last one first",
}
LONGEST = 2_000
"""Most characters that are read."""
NESTED = 20
"""Most brackets and colons: comments and groups stand in others, and their reader recurses."""
LOCAL = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]+")
LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?", re.ASCII)
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"\s*(?=<)')
"""A name in quotes before an address in angle brackets."""
ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Characters that an address is not written with, and that hide parts of one."""
READ_APART = re.compile("[\xdf\u1e9e\u03c2\u200c\u200d]")
"""Letters of domains that older readers take for others: `straße` is `strasse` to them."""


@kind("email", ADDRESSES, main="domain", steps=10)
def email(text: str) -> Facts:
    """Return the addresses in a list of recipients; unknown if any of it is no address."""
    if len(text) > LONGEST or ODD.search(text) or "%" in text or "\\" in text:
        return unknown(_bare(ADDRESSES))
    if text.count("(") + text.count(":") > NESTED:
        return unknown(_bare(ADDRESSES))
    from email.utils import getaddresses  # here: `import sponsio_like` does not load it

    bare = QUOTED.sub(" ", text).replace(";", ",")
    pairs = [_address(each) for _, each in getaddresses([bare])]
    if not pairs or any(each is None for each in pairs) or bare.count("@") != len(pairs):
        return unknown(_bare(ADDRESSES))
    known = [each for each in pairs if each is not None]
    return {
        "domain": tuple(host for _, host in known),
        "address": tuple(f"{local}@{host}" for local, host in known),
        "local": tuple(local for local, _ in known),
        "tag": tuple(local.partition("+")[2] for local, _ in known),
    }


def _address(text: str) -> tuple[str, str] | None:
    """Return the two sides of an address, in small letters, as servers read them; None if it is
    none.
    """
    local, sign, host = text.rpartition("@")
    name = plain_domain(host)
    if not sign or not LOCAL.fullmatch(local) or "!" in local or name is None:
        return None
    from email.headerregistry import Address

    try:
        Address(addr_spec=f"{local}@{name}") if local.isascii() else None
    except (ValueError, IndexError):
        return None
    return local.lower(), name


@kind("domain", NAMES, main="name", steps=10)
def domain(text: str) -> Facts:
    """Return a domain in its usual form; unknown if the text is none."""
    name = plain_domain(text)
    if name is None:
        return {"name": (UNREADABLE,), "labels": (UNREADABLE,)}
    return {"name": (name,), "labels": tuple(reversed(name.split(".")))}


def plain_domain(text: str) -> str | None:
    """Return a domain in small letters, letters of other scripts as `xn--`; None if it is none."""
    bare = text.removesuffix(".")
    if not bare or len(text) > LONGEST:
        return None
    if READ_APART.search(bare):
        return None
    if not bare.isascii():
        import idna  # of httpx, which this package needs

        try:
            bare = idna.encode(bare, uts46=True).decode()
        except idna.IDNAError:
            return None
    name = bare.lower()
    return name if len(name) <= 253 and all(map(LABEL.fullmatch, name.split("."))) else None


def _bare(facts: Mapping[str, str]) -> list[str]:
    return [name.removesuffix("[]") for name in facts]
