"""The kind `money`: an amount and its currency, `$1,234.50`, `EUR 12`, `12,50 €`.

In: a text. Out: the exact amount, and the currency as ISO 4217 names it. Nothing is guessed:
`1.234` is one and a bit or over a thousand, and `$` is the sign of twenty currencies.
"""

from __future__ import annotations

import re
from decimal import Decimal

from sponsio_like.kinds.registry import kind, unknown
from sponsio_like.values import UNREADABLE, Facts

PARTS = {
    "amount": "the amount, exactly, with its sign",
    "currency": "the currency, `EUR`; unknown where none is written, and of `$`, `¥` and `kr`",
}
# fmt: off
SIGNS = {
    "€": "EUR", "£": "GBP", "₹": "INR", "₩": "KRW", "₺": "TRY", "₽": "RUB", "₪": "ILS", "฿": "THB",
    "₫": "VND", "₴": "UAH", "₦": "NGN", "₱": "PHP", "zł": "PLN", "R$": "BRL", "Kč": "CZK",
    "Ft": "HUF", "US$": "USD", "C$": "CAD", "CA$": "CAD", "A$": "AUD", "AU$": "AUD", "NZ$": "NZD",
    "HK$": "HKD", "S$": "SGD", "CN¥": "CNY", "JP¥": "JPY",
}
# fmt: on
OF_MANY = ("$", "¥", "kr", "Fr.")
"""Signs of several currencies."""
CODES = frozenset(
    re.findall(
        r"\w+",
        """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP
    BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP
    GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES
    KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU
    MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON
    RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND
    TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG
""",
    )
)
"""The currencies of ISO 4217."""
THREE_PLACES = frozenset({"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"})
"""Currencies with thousandths."""
LONGEST = 64
"""Most characters that are read."""
BLANK = "[ \u00a0\u2009\u202f]"
SIGN = "|".join(map(re.escape, sorted([*SIGNS, *OF_MANY], key=len, reverse=True)))
TEXT = re.compile(
    rf"(?P<minus>[-−+])?(?:(?P<before>{SIGN}|[A-Za-z]{{3}}){BLANK}?)?(?P<inner>[-−])?"
    rf"(?P<number>[0-9](?:[0-9.,']|{BLANK}(?=[0-9]))*)(?:{BLANK}?(?P<behind>{SIGN}|[A-Za-z]{{3}}))?"
)
WHOLE = re.compile(r"[0-9]+")
GROUPED = re.compile(rf"[0-9]{{1,3}}(?:(?P<sign>[,.']|{BLANK})[0-9]{{3}})(?:(?P=sign)[0-9]{{3}})*")
INDIAN = re.compile(r"[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}")


@kind("money", PARTS, main="amount", numbers=True, steps=10)
def money(text: str) -> Facts:
    """Return an amount and its currency; what can be read in two ways is unknown."""
    match = TEXT.fullmatch(text.strip(" ")) if len(text) <= LONGEST else None
    if (
        match is None
        or (match["before"] and match["behind"])
        or (match["minus"] and match["inner"])
    ):
        return unknown(PARTS)
    written = match["before"] or match["behind"] or ""
    currency = SIGNS.get(written) or (written.upper() if written.upper() in CODES else None)
    if written and currency is None and written not in OF_MANY:
        return unknown(PARTS)
    size = _size(match["number"], currency, written)
    below = (match["minus"] or match["inner"] or "+") != "+"
    amount = UNREADABLE if size is None else -size if below else size
    return {"amount": (amount,), "currency": (UNREADABLE if currency is None else currency,)}


def _size(number: str, currency: str | None, written: str) -> Decimal | int | None:
    """Return the exact number; None if it can be read in two ways, or in none."""
    whole, mark, places = _split(number)
    if mark and len(places) == 3 and whole != "0" and WHOLE.fullmatch(whole):
        if mark == "." or not written or currency in THREE_PLACES:
            return None  # `1.234`; `1,234` alone
        whole, mark, places = whole + places, "", ""
    if mark == "," and len(places) > 3:
        return None  # `1,0000` is ten thousand to a reader that takes commas away
    digits = _digits(whole, mark)
    if digits is None or (mark and not places):
        return None
    return Decimal(f"{digits}.{places}") if int(places or 0) else int(digits)


def _split(number: str) -> tuple[str, str, str]:
    """Return what stands before the last mark, the mark, and the digits behind it.

    A number in groups of three has no mark for its places.
    """
    if INDIAN.fullmatch(number) or (
        (groups := GROUPED.fullmatch(number)) and (len(number) > 7 or groups["sign"] not in ",.")
    ):
        return number, "", ""
    found = re.fullmatch(r"(.*)([.,])([0-9]*)", number)
    return (found[1], found[2], found[3]) if found else (number, "", "")


def _digits(whole: str, mark: str) -> str | None:
    """Return the digits before the places, without the signs between groups."""
    groups = GROUPED.fullmatch(whole)
    fits = (groups and groups["sign"] != mark) or (INDIAN.fullmatch(whole) and mark != ",")
    if not WHOLE.fullmatch(whole) and not fits:
        return None
    return re.sub(r"[^0-9]", "", whole)
