"""The kind `personal`: addresses, numbers of phones, cards and accounts, national numbers.

In: any text. Out: the names of what is found in it, and the values. Numbers with check digits count
only where these are right; a number that is nothing but digits, with one check digit, only behind a
word that says what it is (`BSN 111222333`).
"""

from __future__ import annotations

import functools
import re
import string
from bisect import bisect_left
from collections.abc import Iterator
from importlib import import_module
from itertools import accumulate
from typing import NamedTuple

from sponsio_like.kinds.detectors import DETECTORS, MOST, Found, between, detector, hits
from sponsio_like.kinds.registry import kind
from sponsio_like.values import UNREADABLE, Facts

FACTS = {
    "finds[]": "the names of what is found",
    "values[]": "the texts that are found, without blanks and signs",
}


def facts_of_group(text: str, group: str) -> Facts:
    """Return what the detectors of a group find in a text; unknown if it is far too much."""
    names = [each.name for each in DETECTORS.values() if each.group == group]
    found = hits(text, names)
    more = (UNREADABLE,) if len(found) >= MOST else ()
    return {
        "finds": (*dict.fromkeys(hit.name for hit in found), *more),
        "values": (*dict.fromkeys(hit.value for hit in found), *more),
    }


@kind("personal", FACTS, main="finds", needs=("stdnum", "phonenumbers"), numbers=True)
def personal(text: str) -> Facts:
    """Return the personal data in a text."""
    return facts_of_group(text, "personal")


# --- addresses ------------------------------------------------------------------------------------

AT = re.compile(
    r"(?:(?P<sign>@|%40|&#64;|&#x40;|&commat;|\\u0040)|\s?[\[({<]\s?at\s?[\])}>]\s?|\s(?P<word>at)\s)"
    r"(?P<host>[\w-]{1,63}(?:(?:\.|\u3002(?=[A-Za-z])|\s?[\[({]\s?dot\s?[\])}]\s?|\s(?P<dot>dot)\s)[\w-]{1,63}){1,8})",
    re.IGNORECASE,
)
SIGNS = ("@", "%40", "&#", "&commat", "u0040", "dot", "[at", "(at", "{at", "<at", "[ at", "( at")
"""One of these is in a text that has an address."""
LOCAL = re.compile(r"[\w.!#$&'*+/=?^`{|}~-]{1,64}$")
DOT = re.compile(r"\s?[\[({]\s?dot\s?[\])}]\s?|\sdot\s", re.IGNORECASE)
COMMON = re.compile(r"com|org|net|edu|gov|info|io|co|eu|de|uk|fr|es|ch|us", re.IGNORECASE)
"""Ends of domains that are said in words."""
NO_DOMAIN = re.compile(
    r"\d|(?:png|jpe?g|gif|svg|webp|css|js|py|md|html?|json|ya?ml)$", re.IGNORECASE
)
"""Ends of what is no domain: a number, the suffix of a file (`logo@2x.png`)."""


@detector("email", "personal")
def email_addresses(text: str) -> Found:
    """Yield addresses of mail, also `ann [at] corp [dot] com`; not `git@github.com:a/b`."""
    lower = text.lower()
    for match in AT.finditer(text) if any(sign in lower for sign in SIGNS) else ():
        host = DOT.sub(".", match["host"]).replace("\u3002", ".")
        top = host.rpartition(".")[2]
        if len(top) < 2 or NO_DOMAIN.match(top):
            continue
        if match["word"] and not (match["dot"] and COMMON.fullmatch(top)):
            continue
        before = LOCAL.search(text[max(0, match.start() - 64) : match.start()])
        if before is None:
            continue
        local = before[0].lstrip("'`{/=").rpartition("//")[2]
        start = match.start() - len(local)
        if not local.strip(".") or local[-1] in "=$" or _is_login(text, start, match.end(), local):
            continue
        yield start, match.end(), f"{local}@{host.lower()}"


def _is_login(text: str, start: int, end: int, local: str) -> bool:
    """True for the user in the URL of a repository, and the password in that of a server."""
    if local == "git" and text[end : end + 1] in (":", "/"):
        return True
    word = re.split(r"\s", text[max(0, start - 80) : start])[-1]
    return re.search(r"://[^/@]*:$", word) is not None


# --- phones ---------------------------------------------------------------------------------------

ABROAD = re.compile(
    r"(?P<sign>\+|00)(?<![\w+)]\+)(?<![\w+)]00)\(?\d(?:[ ().\-/]{0,3}\d){6,14}(?!\d)"
)
LOCAL_PART = re.compile(r"[2-9]\d\d[-. ]\d{4}(?![\w\-])")
AREA = re.compile(r"(?<![\w.\-/+])(?:1[-. ])?(?:\([2-9]\d\d\)[ -]?|[2-9]\d\d[-.])$")
NUMBER = re.compile(r"\d[ ().\-/]{0,3}\d[ ().\-/]{0,3}\d[ ().\-/]{0,3}\d")
"""Four digits that may belong together."""
NAMED = re.compile(
    r"\b(?:(?:tele)?phone|telefon[eo]?|tel|mobile|mobil|cell|fax|handy|m[oó]vil|whatsapp"
    r"|(?:call|text|reach)\s(?:me|us|him|her|them)\s(?:at|on))\b[^\d\n+]{0,15}"
    r"(\(?\d(?:[ ().\-/]{0,3}\d){6,14})(?!\d)",
    re.IGNORECASE,
)


@detector("phone", "personal", "phonenumbers")
def phone_numbers(text: str) -> Found:
    """Yield numbers of phones: `+49 30 901820`, `(212) 664-7665`, and others behind `phone`."""
    found: set[int] = set()
    for match in ABROAD.finditer(text):
        number = "+" + between(text, *match.span()).removeprefix("00")
        if _is_phone(number, strict=match["sign"] == "00" or _opens_line(text, match.start())):
            found.add(match.end())
            yield match.start(), match.end(), number
    for match in LOCAL_PART.finditer(text):
        area = AREA.search(text[max(0, match.start() - 9) : match.start()])
        if area is not None:
            start = match.start() - len(area[0])
            found.add(match.end())
            yield start, match.end(), "+1" + between(text, start, match.end())[-10:]
    for match in NAMED.finditer(text) if NUMBER.search(text) else ():
        if match.end(1) not in found:
            yield match.start(1), match.end(1), between(text, *match.span(1))


def _opens_line(text: str, place: int) -> bool:
    """True at the start of a line that is one digit string: `+12345678` of a patch."""
    return text[place - 1 : place] in ("", "\n") and place > 0


def _is_phone(number: str, *, strict: bool) -> bool:
    import phonenumbers  # of the extra [kinds]

    try:
        read = phonenumbers.parse(number)
    except phonenumbers.NumberParseException:
        return False
    return bool((phonenumbers.is_valid_number if strict else phonenumbers.is_possible_number)(read))


# --- cards and accounts ---------------------------------------------------------------------------

DIGITS = re.compile(r"\d+")
CHAIN = re.compile(r"\d++(?:[ \-.\n\t_]{1,2}+\d++)*+")
"""Groups of digits that only blanks, dashes and the like stand between."""
FEWEST, MOST_DIGITS = 12, 19
"""Fewest and most digits of a card."""
THREE = re.compile(r"\d{3}")
ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:2[2-9]|[3-6]\d|7[01]|720)\d{12,13}|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}"
    r"|62\d{14,17}|(?:5018|5020|5038|5893|6304|6759|676[1-3])\d{8,15}"
)
"""Numbers of cards by the digits that each issuer begins them with, and their lengths."""
DOUBLED = str.maketrans("0123456789", "0246813579")
"""The sum of the digits of twice a digit."""


@detector("card", "personal")
def card_numbers(text: str) -> Found:
    """Yield numbers of cards: those of an issuer, with the right check digit, grouped alike."""
    for chain in _chains(text):
        digits = "".join([text[start:end] for start, end in chain])
        sums = [0, *accumulate([end - start for start, end in chain])]
        past = 0
        for i in range(len(chain)):
            if chain[i][0] < past or digits[sums[i]] not in "23456":
                continue
            for j in range(bisect_left(sums, sums[i] + FEWEST, i) - 1, len(chain)):
                number, start = digits[sums[i] : sums[j + 1]], chain[i][0]
                if len(number) > MOST_DIGITS:
                    break
                alike = _is_card(number) and _grouped_alike(chain, i, j)
                if alike and text[start - 1 : start] != ".":
                    past = chain[j][1]
                    yield start, past, number
                    break


def _chains(text: str) -> Iterator[list[tuple[int, int]]]:
    """Yield groups of digits that may have a card among them.

    Where no group has three digits, they are a card all together or not at all.
    """
    for match in CHAIN.finditer(text):
        size = match.end() - match.start()
        if size > 3 * MOST_DIGITS and THREE.search(text, *match.span()) is None:
            continue
        if size >= FEWEST:
            yield [each.span() for each in DIGITS.finditer(text, *match.span())]


def _is_card(number: str) -> bool:
    if ISSUERS.fullmatch(number) is None:
        return False
    digits = number[-1::-2] + number[-2::-2].translate(DOUBLED)
    return (sum(digits.encode()) - ord("0") * len(digits)) % 10 == 0


def _grouped_alike(chain: list[tuple[int, int]], first: int, last: int) -> bool:
    """True if groups have one size, as on a card; single and double digits only all together."""
    sizes = [end - start for start, end in chain[first : last + 1]]
    if len(sizes) == 1 or sizes in ([4, 6, 5], [4, 6, 4]):
        return True
    alike = len({*sizes[:-1]}) == 1 and sizes[-1] <= max(sizes[0], 4)
    return alike and (sizes[0] > 2 or (first == 0 and last == len(chain) - 1))


CHECK_DIGITS = re.compile(r"\d(?= ?\d)(?:(?<=[A-Za-z]\d)|(?<=[A-Za-z] \d))")
COUNTRY = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2} ?$")
IN_DIGITS = {ord(each): str(int(each, 36)) for each in string.ascii_uppercase}
LOOKALIKES = str.maketrans(
    "АВЕЅІЈКМНОРСТХаеѕіјорсхΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "ABESIJKMHOPCTXaesijopcxABEZHIKMNOPTYX",
)
"""Cyrillic and Greek letters that look like Latin ones."""


@detector("iban", "personal", "stdnum")
def account_numbers(text: str) -> Found:
    """Yield numbers of bank accounts (IBAN) whose check digits and length are right."""
    from stdnum import iban  # of the extra [kinds]

    past, text = 0, text if text.isascii() else text.translate(LOOKALIKES)
    for digits in CHECK_DIGITS.finditer(text):
        place = digits.start()
        code = COUNTRY.search(text[max(0, place - 4) : place]) if place >= past else None
        account = _account(code[0][:2].upper()) if code else None
        rest = account.match(text, place) if account else None
        if code is None or rest is None or text[rest.end() : rest.end() + 1].isalnum():
            continue
        start = place - len(code[0])
        number = between(text, start, rest.end())
        if _has_remainder(number) and iban.is_valid(number):
            yield start, rest.end(), number
            past = rest.end()


@functools.cache
def _account(country: str) -> re.Pattern[str] | None:
    """Return what stands behind the letters of a country, as long as its account numbers are."""
    from stdnum import numdb  # of the extra [kinds]

    shape = numdb.get("iban").info(country)[0][1].get("bban", "")
    length = sum(map(int, re.findall(r"\d+", shape)))
    return re.compile(rf"\d ?\d(?:[ .\n\-]{{0,2}}[A-Za-z0-9]){{{length}}}") if shape else None


def _has_remainder(number: str) -> bool:
    """True if the check digits are right; this much is known soon."""
    return int((number[4:] + number[:4]).translate(IN_DIGITS)) % 97 == 1


# --- national numbers -----------------------------------------------------------------------------

SOCIAL = re.compile(
    r"\d(?<![\w.\-]\d)(?: ?\d ?\d ?- ?\d ?\d ?- ?\d ?\d ?\d ?\d|\d\d\.\d\d\.\d{4})(?![\w\-]|\.\d)"
)
SOCIAL_WORDS = "ssn|social security|social-security|itin"


@detector("ssn", "personal", "stdnum")
def social_security_numbers(text: str) -> Found:
    """Yield numbers of the US Social Security, `123-45-6789`; nine digits in a row behind `SSN`."""
    for match in SOCIAL.finditer(text):
        number = between(text, *match.span())
        if _passes("us.ssn", number):
            yield match.start(), match.end(), number
    for start, end, number in _behind(text, SOCIAL_WORDS, 9):
        if _passes("us.ssn", number) or _passes("us.itin", number):
            yield start, end, number


class Shape(NamedTuple):
    """A national number: its module of python-stdnum, and its look where that is enough."""

    module: str
    look: str


class Word(NamedTuple):
    """A national number that only counts behind a word, and how many digits it has."""

    module: str
    words: str
    digits: int


SHAPES = {
    True: (
        Shape("fr.nir", r"[12] ?\d\d ?[01]\d ?\d[\dAB] ?\d{3} ?\d{3} ?\d\d"),
        Shape("es.dni", r"\d{8}-?[A-Z]"),
        Shape("br.cpf", r"\d{3}\.\d{3}\.\d{3}-\d\d"),
        Shape("fi.hetu", r"\d{6}[-+A-FU-Y]\d{3}[0-9A-Y]"),
        Shape("cn.ric", r"[1-9]\d{16}[\dXx]"),
        Shape("kr.rrn", r"\d{6}-\d{7}"),
        Shape("se.personnummer", r"(?:19|20)?\d{6}[-+]\d{4}"),
        Shape("no.fodselsnummer", r"\d{6} ?\d{5}"),
        Shape("ch.ssn", r"756\.?\d{4}\.?\d{4}\.?\d\d"),
        Shape("be.nn", r"\d\d\.\d\d\.\d\d-\d{3}\.\d\d"),
        Shape("cl.rut", r"\d{1,2}\.\d{3}\.\d{3}-[\dKk]"),
    ),
    False: (
        Shape("it.codicefiscale", r"[A-Za-z]{6} ?\d\d[A-Za-z]\d\d ?[A-Za-z]\d{3}[A-Za-z]"),
        Shape("es.nie", r"[XYZ]-?\d{7}-?[A-Z]"),
        Shape("mx.curp", r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d"),
        Shape("in_.pan", r"[A-Z]{3}P[A-Z]\d{4}[A-Z]"),
        Shape("", r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D]"),  # UK: no check
    ),
}
"""Numbers that begin with a digit, and with a letter."""
WORDS = (
    Word("gb.nhs", "nhs", 10),
    Word("nl.bsn", "bsn|burgerservicenummer|sofi", 9),
    Word("ca.sin", "sin|social insurance", 9),
    Word("au.tfn", "tfn|tax file", 9),
    Word("de.idnr", r"steuer-?id\w*|idnr|steuerliche identifikationsnummer|tax id|tax-id", 11),
    Word("pl.pesel", "pesel", 11),
    Word("br.cpf", "cpf", 11),
    Word("in_.aadhaar", "aadhaar|aadhar|uidai", 12),
    Word("za.idnr", "sa id|south african id|identity", 13),
    Word("ro.cnp", "cnp", 13),
    Word("tr.tckimlik", "tc kimlik|tckn|kimlik", 11),
    Word("dk.cpr", "cpr", 10),
    Word("pt.nif", "nif|contribuinte", 9),
    Word("il.idnr", "teudat zehut", 9),
    Word("hr.oib", "oib", 11),
    Word("bg.egn", "egn", 10),
)
JOINED = re.compile(r"[\w.\-+/]")
BEFORE = re.compile(r"(?<![\w.\-+/])[A-Za-z]{1,6}[ -]?$")
"""The letters before the first digit of a number."""


@detector("national", "personal", "stdnum")
def national_numbers(text: str) -> Found:
    """Yield national numbers of persons, of thirty countries, whose check digits are right."""
    for digit in _first_digits().finditer(text):
        for start in _starts(text, digit.start()):
            for module, look in SHAPES[text[start].isdigit()]:
                match = _whole(look).match(text, start)
                if match and (not module or _passes(module, match[0].replace(" ", ""))):
                    yield match.start(), match.end(), between(text, *match.span())
                    break
    for module, words, digits in WORDS if NUMBER.search(text) else ():
        for start, end, number in _behind(text, words, digits):
            if _passes(module, number):
                yield start, end, number


@functools.cache
def _first_digits() -> re.Pattern[str]:
    """Return what finds a digit at which a number may begin, or letters before it.

    It begins with the digit, which is searched for fast, and looks back from there.
    """
    looks = "|".join(look for _, look in SHAPES[True])
    number = rf"(?<![\w.\-+/])(?=(?:{looks})(?![\w\-+/]|\.\d))\d"
    before = rf"(?<=[A-Za-z]\d)|(?<=[A-Za-z][ -]\d)|(?<={number})"
    return re.compile(rf"\d(?<!\d\d)(?=[ .]?\d[ .A-Za-z]?\d)(?:{before})")


def _starts(text: str, digit: int) -> Iterator[int]:
    """Yield where a number may start that has its first digit there: at it, at letters before."""
    if digit == 0 or not JOINED.match(text, digit - 1):
        yield digit
    letters = BEFORE.search(text[max(0, digit - 8) : digit])
    if letters is not None:
        yield digit - len(letters[0])


@functools.cache
def _whole(look: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{look})(?![\w\-+/]|\.\d)")


@functools.cache
def _word_before(words: str, digits: int) -> re.Pattern[str]:
    number = rf"\d(?:[ .\-/]{{0,3}}\d){{{digits - 1}}}"
    return re.compile(
        rf"(?<![^\W_])(?:{words})(?![^\W_])[^\d\n]{{0,24}}({number})(?!\d)", re.IGNORECASE
    )


@functools.cache
def _stems(words: str) -> tuple[str, ...]:
    """Return the letters that each of the words begins with."""
    return tuple(re.split(r"\W", word)[0] for word in words.split("|"))


def _behind(text: str, words: str, digits: int) -> Found:
    """Yield numbers of so many digits that stand behind one of the words."""
    said = any(word in text.lower() for word in _stems(words))
    for match in _word_before(words, digits).finditer(text) if said else ():
        yield match.start(1), match.end(1), between(text, *match.span(1))


def _passes(module: str, number: str) -> bool:
    """True if python-stdnum takes the number: its length, its date, its check digits."""
    return bool(import_module(f"stdnum.{module}").is_valid(number))
