"""URLs: hosts that are not public, and schemes that reach none."""

from __future__ import annotations

from typing import Any

import pytest

import sponsio_like.kinds  # noqa: F401 - declares the kinds
from sponsio_like.values import TEXT_KINDS, UNREADABLE


def url(text: str) -> dict[str, Any]:
    """The facts of a URL, each one value."""
    facts = TEXT_KINDS["url"].facts_of(text)
    assert facts is not None
    return {name: values[0] for name, values in facts.items()}


@pytest.mark.parametrize(
    "host",
    [
        "192.0.0.192",
        "192.0.0.8",
        "168.63.129.16",
        "0xa83f8110",
        "[3fff::1]",
        "[::ffff:168.63.129.16]",
        "metadata.tencentyun.com",
        "metadata.packet.net",
        "100.100.100.200",
        "169.254.169.254",
        "[fd00:ec2::254]",
        "[fec0::1]",
        "[::ffff:0:127.0.0.1]",
        "nas.home",
        "db.corp",
        "x.private",
        "localhost4.localdomain4",
        "ip6-loopback",
    ],
)
def test_hosts_that_are_not_public(host: str) -> None:
    """Addresses of clouds' metadata, whatever the version of Python takes for public."""
    assert url(f"http://{host}/")["private"] is True


@pytest.mark.parametrize(
    "host",
    [
        "192.0.1.192",
        "168.63.129.17",
        "[2606:4700::1]",
        "metadata.corp.com",
        "packet.net",
        "home.com",
        "testcorp.com",
    ],
)
def test_their_neighbours_are_public(host: str) -> None:
    """The next address, and a name that begins like theirs."""
    assert url(f"http://{host}/")["private"] is False


@pytest.mark.parametrize(
    "text",
    [
        "file://api.corp.com/etc/passwd",
        "javascript://api.corp.com/%0aalert(1)",
        "vbscript://api.corp.com/",
        "data://api.corp.com/x",
        "filesystem:http://api.corp.com/x",
        "http+unix://api.corp.com/x",
    ],
)
def test_a_scheme_that_reaches_no_host_has_none(text: str) -> None:
    """An allowlist of hosts refuses it."""
    assert url(text)["host"] is UNREADABLE


def test_what_only_may_have_parts_has_them() -> None:
    """The parts that a text cannot have are not asked for, and are as if they were."""
    assert url("https://ann:x@a.b:8443/c?d=1#e") == {
        "host": "a.b",
        "scheme": "https",
        "port": 8443,
        "path": "/c",
        "query": "d=1",
        "user": "ann",
        "private": False,
    }
    assert url("https://a.b") == {
        "host": "a.b",
        "scheme": "https",
        "port": 443,
        "path": "/",
        "query": "",
        "user": "",
        "private": False,
    }
