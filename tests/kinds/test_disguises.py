"""Texts that look like others, or that readers understand in different ways.

Where two readers would find different addresses, nobody can tell; what is only written otherwise is
read.
"""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like import Allowed, Guard, contract
from sponsio_like.contracts import loads
from sponsio_like.kinds import UNREADABLE, domain, email, hits, personal, url
from sponsio_like.patterns import date_within

X = (UNREADABLE,)
CYRILLIC = "c\u043erp.com"
CARD, IBAN = "4111111111111111", "DE89370400440532013000"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"ann@{CYRILLIC}", ("xn--crp-sed.com",)),
        ("ann@corp\uff0ecom", ("corp.com",)),
        ("ann@\uff43orp.com", ("corp.com",)),
        ("ann@cor\u200bp.com", X),
        ("ann@corp.com\u202e", X),
        ("ann%40corp.com", X),
        ("ann%evil.com@corp.com", X),
        ("evil.com!ann@corp.com", X),
        ("ann\uff20corp.com", X),
        ("ann@stra\xdfe.de", X),
        ("ann@\u03b2\u03cc\u03bb\u03bf\u03c2.com", X),
        ("a@b@corp.com", X),
        ("ann@corp.com evil@x.com", X),
        ("ann@corp.com<evil@x.com>", ("corp.com", "x.com")),
        ("ann@corp.com(evil@x.com)", X),
        ("ann@corp.com?cc=evil@x.com", X),
        ("ann@corp.com\nbcc: evil@x.com", X),
    ],
)
def test_domains_of_addresses_in_disguise(text: str, found: tuple[Any, ...]) -> None:
    """A domain that is known is the one that mail is sent to."""
    assert email(text)["domain"] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (CYRILLIC, ("xn--crp-sed.com",)),
        ("\uff43\uff4f\uff52\uff50\u3002com", ("corp.com",)),
        ("co\xadrp.com\u200b", ("corp.com",)),
        ("corp%2ecom", X),
        ("corp.com:80", X),
        ("corp.com/", X),
        ("fa\xdf.de", X),
        ("FA\u1e9e.de", X),
    ],
)
def test_domains_in_disguise(text: str, found: tuple[Any, ...]) -> None:
    """Other scripts are `xn--`; what is only written otherwise is the same."""
    assert domain(text)["name"] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"https://{CYRILLIC}/", ("xn--crp-sed.com",)),
        ("https://corp.com%2eevil.com/", ("corp.com.evil.com",)),
        ("https://corp.com\u3002evil.com/", ("corp.com.evil.com",)),
        ("https://corp.com%40evil.com/", X),
        ("https://corp.com%00.evil.com/", X),
        ("http://\u2460\u2461\u2466.0.0.1/", ("127.0.0.1",)),
        ("http://%31%32%37.0.0.1/", ("127.0.0.1",)),
        ("https://fa\xdf.de/", X),
        ("https://fa%C3%9F.de/", X),
        ("https://xn--fa-hia.de/", ("xn--fa-hia.de",)),
        ("https://corp.com/Stra\xdfe?a=\xdf", ("corp.com",)),
    ],
)
def test_hosts_in_disguise(text: str, found: tuple[Any, ...]) -> None:
    """`ß` is `ss` to older readers of domains; in a path it is a letter."""
    assert url(text)["host"] == found


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("4111%201111%201111%201111", "card"),
        ("4111%2D1111%2d1111%2D1111", "card"),
        ("%34111111111111111", "card"),
        ("4111\u200b1111\u200b1111\u200b1111", "card"),
        ("\uff14\uff11\uff11\uff11" + "\uff11" * 12, "card"),
        ("DE89%203704%200044%200532%200130%2000", "iban"),
        ("DE89\n3704\n0044\n0532\n0130\n00", "iban"),
        ("D\u041589370400440532013000", "iban"),
        ("\u0394\u039589370400440532013000", ""),
        ("ann%40corp%2ecom", "email"),
        ("ann@corp\u3002com", "email"),
        ("100%20 of 4111", ""),
        ("50%off%20now", ""),
    ],
)
def test_numbers_in_disguise(text: str, name: str) -> None:
    """Escapes of URLs, invisible characters and look-alikes hide none."""
    assert personal(text)["finds"] == ((name,) if name else ())


def test_what_is_found_in_escapes_has_its_place() -> None:
    """From its first character to its last one, as it was written."""
    text = "to ann%40corp%2ecom, 4111%201111%201111%2011%31%31."
    found = [text[hit.start : hit.end] for hit in hits(text, ("email", "card"))]
    assert found == ["ann%40corp%2ecom", "4111%201111%201111%2011%31%31"]


FACTS = {
    "shell": {"runs": "rm"}, "sql": {"verbs": "drop"}, "url": {"host": "evil.com"},
    "path": {"name": "passwd"}, "email": {"domain": "evil.com"}, "domain": {"name": "evil.com"},
    "date": {"weekday": "sunday"}, "money": {"currency": "USD"}, "id": {"value": "x"},
    "personal": {"finds": "card"}, "secrets": {"finds": "jwt"},
}  # fmt: skip
"""A fact of each kind."""


@pytest.mark.parametrize("value", [True, {}, {"a": 1}, {"a": "rm"}, float("nan")])
@pytest.mark.parametrize("kind", FACTS)
@pytest.mark.parametrize("declared", [True, False])
def test_a_value_of_another_type_counts_against_the_call(
    kind: str, value: Any, declared: bool
) -> None:
    """A prohibition is violated by what cannot be read, also where no tools are declared."""
    ((fact, wanted),) = FACTS[kind].items()
    tools = f"tools: {{do: {{fields: {{it: {kind}}}}}}}" if declared else ""
    path = "it" if declared else f"'it:{kind}'"
    rule = f"{{pattern: absent, match: {{tool: do, args: {{{path}: {{{fact}: [{wanted}]}}}}}}}}"
    text = f"version: 1\n{tools}\ncontracts: [{{name: c, guarantee: {rule}}}]\n"
    file = loads(text)
    session = Guard(file.contracts, tools=file.inventory).session()
    assert not isinstance(session.decide("do", {"it": value}), Allowed)


@pytest.mark.parametrize(
    ("last", "coming", "said"),
    [
        (86400, None, "`bought` must be a date from 2026-11-22 to 2026-11-23"),
        (None, 86400, "`bought` must be a date from 2026-11-23 to 2026-11-24"),
        (86400, 3 * 86400, "`bought` must be a date from 2026-11-22 to 2026-11-26"),
        (10**12, None, ""),
    ],
)
def test_the_advice_says_which_dates_are_allowed(
    last: float | None, coming: float | None, said: str
) -> None:
    """Days of UTC, from the time of the call; the first and the last one are let through."""
    rule = contract("fresh").guarantees(date_within("refund", "bought", last, coming))
    session = Guard([rule]).session(clock=lambda: 1_795_435_200.0)  # noon of 2026-11-23
    answer = session.decide("refund", {"bought": "03/04/2026"})
    assert not isinstance(answer, Allowed)
    advice = getattr(answer, "advice", "")
    assert (said in advice) if said else ("must be a date" not in advice)
    for day in said.split()[-3::2]:
        assert isinstance(session.decide("refund", {"bought": day}), Allowed)
