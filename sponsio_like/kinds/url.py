"""The kind `url`: scheme, host, port and path, by the rules of the URL Standard.

In: a text. Out: its parts, as a browser reads them (https://url.spec.whatwg.org, by the library
`ada-url`). Where a reader by RFC 3986 finds another host, the host is unknown: nobody can tell
which of the two the tool has.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Any
from urllib.parse import unquote, urlsplit

from sponsio_like.kinds.email import READ_APART
from sponsio_like.kinds.registry import kind, unknown
from sponsio_like.values import UNREADABLE, Facts

PARTS = {
    "host": "the host that is reached, in small letters, as ASCII, an address in its usual form",
    "scheme": "`https`, `file`, ..",
    "port": "the port, also where it is that of the scheme",
    "path": "the path, decoded",
    "query": "what stands behind `?`",
    "user": "the name before `@`, empty without one",
    "private": "true if the host is an address that is not public, or a name of such a host",
}
PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}
LONGEST = 8_192
"""Most characters of a URL that is read."""
LOCAL = re.compile(
    r"(?:.*\.)?(?:localhost|local|internal|intranet|lan|home\.arpa|localdomain[46]?|"
    r"home|corp|private|test)|localhost[46]|ip6-(?:localhost|loopback)|"
    r"metadata|metadata\.tencentyun\.com|metadata\.packet\.net|instance-data|kubernetes(?:\.default(?:\.svc)?)?",
)
"""Names that resolve inside of a network (RFC 6761, RFC 6762, RFC 8375, names that ICANN does not
give away, clouds' metadata).
"""
NOT_PUBLIC = tuple(
    map(
        ipaddress.ip_network,
        ("192.0.0.0/24", "168.63.129.16/32", "3fff::/20", "5f00::/16", "fec0::/10"),
    )
)
"""Networks that are not public, whatever the version of Python says of them: of IANA's registries,
with the metadata of Oracle's cloud, and the address of Azure's host.
"""
LOCAL_SCHEMES = frozenset(
    {
        *("file", "javascript", "vbscript", "data", "about", "blob", "filesystem", "unix"),
        *("http+unix", "https+unix"),
    }
)
"""Schemes that reach no host, whatever stands in its place."""
EMBEDDED = (
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "2002::/16",
    "::ffff:0:0/96",
    "::ffff:0:0:0/96",
    "::/96",
)
"""Networks of IPv6 whose addresses have an address of IPv4 in them."""


@kind("url", PARTS, main="host", needs=("ada_url",), steps=10)
def url(text: str) -> Facts:
    """Return the parts of a URL. Of a text that is no absolute URL, nothing is known."""
    if len(text) > LONGEST:
        return unknown(PARTS)
    import ada_url  # of the extra [kinds]

    try:
        read = ada_url.URL(text)
    except ValueError:
        return unknown(PARTS)
    scheme = read.protocol.removesuffix(":")
    host = _agreed(text, scheme, read.hostname)
    port = read.port if text.count(":") > 1 else ""  # a part is asked for where it may be
    known = isinstance(host, str)
    return {
        "host": (host,),
        "scheme": (scheme,),
        "port": (int(port) if port else PORTS.get(scheme, 0),),
        "path": (unquote(read.pathname) if known else UNREADABLE,),
        "query": (read.search.removeprefix("?") if "?" in text else "",),
        "user": (unquote(read.username) if "@" in text else "",),
        "private": (private_host(host) if known else UNREADABLE,),
    }


def host_of(text: str) -> Any:
    """Return the host of a URL, or of a bare host name; `UNREADABLE` where that cannot be told."""
    return url(text)["host"][0]


def _agreed(text: str, scheme: str, host: str) -> Any:
    """Return the host in its usual form, if a reader by RFC 3986 finds it, too."""
    plain = host.rstrip(".").lower()
    if scheme not in PORTS:
        return UNREADABLE if scheme in LOCAL_SCHEMES or not plain else plain
    if text != text.strip() or re.search(r"[\x00-\x20\\]", text) or "://" not in text:
        return UNREADABLE
    try:
        other = urlsplit(text).hostname
    except ValueError:
        return UNREADABLE
    if other is None or not plain or READ_APART.search(unquote(other)):
        return UNREADABLE
    return plain if other == plain or _ascii(other) == _ascii(plain) else UNREADABLE


def _ascii(host: str) -> str:
    """Return a host as the URL Standard writes it; one that it has no form for, as it is."""
    import ada_url

    bare = f"[{host}]" if ":" in host and host[:1] != "[" else host
    try:
        return ada_url.URL(f"http://{bare}/").hostname.rstrip(".").lower()
    except ValueError:
        return host


def private_host(host: str) -> bool:
    """Return True if a host is no public one: loopback, private, link-local, metadata, reserved."""
    bare = host.strip("[]").partition("%")[0]
    if bare[-1:].isalpha() and ":" not in bare:  # no address
        return LOCAL.fullmatch(host) is not None or "." not in host
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        return LOCAL.fullmatch(host) is not None or "." not in host
    return any(not _is_public(each) for each in _with_embedded(address))


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    listed = any(address in each for each in NOT_PUBLIC if each.version == address.version)
    return address.is_global and not address.is_multicast and not listed


def _with_embedded(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """Return the address, or the address of IPv4 that it carries."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    number = int(address)
    if any(address in ipaddress.ip_network(each) for each in EMBEDDED):
        shift = 80 if address in ipaddress.ip_network("2002::/16") else 0
        inner = ipaddress.IPv4Address(number >> shift & 0xFFFFFFFF)
        return [inner] if number > 1 and shift == 0 else [inner, address]
    return [address]
