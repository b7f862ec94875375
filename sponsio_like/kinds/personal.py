"""The kind `personal`: addresses, numbers of phones, cards and accounts, national numbers.

In: any text. Out: the names of what is found in it, and the values. Numbers with check digits count
only where these are right; a number that is nothing but digits, with one check digit, only behind a
word that says what it is (`BSN 111222333`).
"""

from __future__ import annotations

import functools
import itertools
import re
import string
from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

from sponsio_like.kinds.detectors import (
    DETECTORS,
    STEPS,
    Found,
    between,
    detector,
    found_hits,
)
from sponsio_like.kinds.registry import kind
from sponsio_like.kinds.seen_text import PLACE, Seen
from sponsio_like.values import UNREADABLE, Facts

FACTS = {
    "finds[]": "the names of what is found",
    "values[]": "the texts that are found, without blanks and signs",
}


def facts_of_group(text: str, group: str) -> Facts:
    """Return what the detectors of a group find in a text; unknown if it is far too much."""
    names = [each.name for each in DETECTORS.values() if each.group == group]
    found, whole = found_hits(text, names)
    more = () if whole else (UNREADABLE,)
    return {
        "finds": (*dict.fromkeys(hit.name for hit in found), *more),
        "values": (*dict.fromkeys(hit.value for hit in found), *more),
    }


@kind("personal", FACTS, main="finds", needs=("stdnum", "phonenumbers"), numbers=True, steps=STEPS)
def personal(text: str) -> Facts:
    """Return the personal data in a text."""
    return facts_of_group(text, "personal")


# --- addresses ------------------------------------------------------------------------------------

AT = re.compile(
    r"(?:(?P<sign>@|%40|&#64;|&#x40;|&commat;|\\u0040)|\s?[\[({<]\s?at\s?[\])}>]\s?|\s(?P<word>at)\s)"
    r"(?P<host>[\w-]{1,63}(?:(?:\.|\u3002(?=[A-Za-z])|\s?[\[({]\s?dot\s?[\])}]\s?|\s(?P<dot>dot)\s)[\w-]{1,63}){1,8})",
    re.IGNORECASE,
)
BLANK = r"[\s\x0b\x1c-\x1f?]"
MAYBE_AT = (
    r"(?i)((?:@|%40|&#64;|&#x40;|&commat;|\\u0040"
    rf"|{BLANK}?[\[({{<]{BLANK}?at{BLANK}?[\])}}>]{BLANK}?|{BLANK}at{BLANK})"
    rf"[\w?-]+(?:[.?]|{BLANK}?[\[({{]{BLANK}?dot{BLANK}?[\])}}]|{BLANK}dot{BLANK}))"
)
ADDRESS = 12
"""The work of telling whether something is an address, or a number by the words before it."""
LOCAL = re.compile(r"[\w.!#$&'*+/=?^`{|}~-]{1,64}$")
DOT = re.compile(r"\s?[\[({]\s?dot\s?[\])}]\s?|\sdot\s", re.IGNORECASE)
COMMON = re.compile(r"com|org|net|edu|gov|info|io|co|eu|de|uk|fr|es|ch|us", re.IGNORECASE)
"""Ends of domains that are said in words."""
NO_DOMAIN = re.compile(
    r"\d|(?:png|jpe?g|gif|svg|webp|css|js|py|md|html?|json|ya?ml)$", re.IGNORECASE
)
"""Ends of what is no domain: a number, the suffix of a file (`logo@2x.png`)."""


@detector("email", "personal")
def email_addresses(seen: Seen) -> Found:
    """Yield addresses of mail, also `ann [at] corp [dot] com`; not `git@github.com:a/b`."""
    text = seen.text
    for match in seen.matches(AT, MAYBE_AT):
        seen.take(PLACE)
        host = DOT.sub(".", match["host"]).replace("\u3002", ".")
        top = host.rpartition(".")[2]
        if len(top) < 2 or NO_DOMAIN.match(top):
            continue
        if match["word"] and not (match["dot"] and COMMON.fullmatch(top)):
            continue
        seen.take(ADDRESS)
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

GAP = r"[ ().\-/]{0,3}"
ABROAD = re.compile(rf"(?P<sign>\+|00)(?<![\w+)]\+)(?<![\w+)]00)\(?[1-9](?:{GAP}\d){{6,14}}(?!\d)")
MAYBE_ABROAD = rf"(?:^|[^\w+)])((?:\+|00)\(?[1-9](?:{GAP}\d){{6}})"
LOCAL_PART = re.compile(r"[2-9]\d\d[-. ]\d{4}(?![\w\-])")
AREA = re.compile(r"(?<![\w.\-/+])(?:1[-. ])?(?:\([2-9]\d\d\)[ -]?|[2-9]\d\d[-.])$")
MAYBE_LOCAL = r"(?:\([2-9]\d\d\)[ -]?|[2-9]\d\d[-.])([2-9]\d\d[-. ]\d{4})(?:$|[^\w\-])"
NUMBER = rf"\d{GAP}\d{GAP}\d{GAP}\d"
"""Four digits that may belong together."""
NAMED = re.compile(
    r"\b(?:(?:tele)?phone|telefon[eo]?|tel|mobile|mobil|cell|fax|handy|m[oó]vil|whatsapp"
    r"|(?:call|text|reach)\s(?:me|us|him|her|them)\s(?:at|on))\b[^\d\n+]{0,15}"
    rf"(\(?\d(?:{GAP}\d){{6,14}})(?!\d)",
    re.IGNORECASE,
)
MAYBE_NAMED = (
    r"(?i)(?:^|\W)((?:(?:tele)?phone|telefon[eo]?|tel|mobile|mobil|cell|fax|handy|m[o?]vil|whatsapp"
    r"|(?:call|text|reach)[\s\x0b\x1c-\x1f?](?:me|us|him|her|them)[\s\x0b\x1c-\x1f?](?:at|on))"
    rf"[^\d\n+]{{0,15}}\d(?:{GAP}\d){{6}})"
)
PARSED, VALIDATED = 25, 60
"""The work of telling whether a number may be that of a phone, and whether it is one."""


@detector("phone", "personal", "phonenumbers")
def phone_numbers(seen: Seen) -> Found:
    """Yield numbers of phones: `+49 30 901820`, `(212) 664-7665`, and others behind `phone`."""
    text, found = seen.text, set[int]()
    for match in seen.matches(ABROAD, MAYBE_ABROAD):
        number = "+" + between(text, *match.span()).removeprefix("00")
        strict = match["sign"] == "00" or _opens_line(text, match.start())
        seen.take(VALIDATED if strict else PARSED)
        if _is_phone(number, strict=strict):
            found.add(match.end())
            yield match.start(), match.end(), number
    for match in seen.matches(LOCAL_PART, MAYBE_LOCAL):
        seen.take(ADDRESS)
        area = AREA.search(text[max(0, match.start() - 9) : match.start()])
        if area is not None:
            start = match.start() - len(area[0])
            found.add(match.end())
            yield start, match.end(), "+1" + between(text, start, match.end())[-10:]
    for match in seen.matches(NAMED, MAYBE_NAMED):
        seen.take(ADDRESS)
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
SIGNS_BETWEEN = r"[ \-.\n\t_]"
"""One sign between two groups of digits of a card."""
GROUPS = re.compile(rf"\d{{1,20}}+(?:{SIGNS_BETWEEN}{{1,2}}+\d{{1,20}}+){{0,18}}+")
MORE = re.compile(rf"{SIGNS_BETWEEN}{{1,2}}+\d")
FEWEST, MOST_DIGITS = 12, 19
"""Fewest and most digits of a card."""
_S, _TWO = SIGNS_BETWEEN + "{1,2}", r"(?:4\d|5[0-8]|2[2-7]|3[04-8]|6\d)"
_ALIKE = "|".join(
    (
        *(rf"{_TWO}\d{{10}}", rf"{_TWO}\d(?:{_S}\d{{3}}){{3}}", rf"{_TWO}\d\d(?:{_S}\d{{4}}){{2}}"),
        *(rf"{_TWO}\d\d{_S}\d{{6}}{_S}\d{{4}}", rf"{_TWO}\d{{3}}{_S}\d{{5}}{_S}\d\d"),
        *(rf"{_TWO}\d{{{size - 2}}}{_S}\d{{{12 - size}}}" for size in range(6, 12)),
    )
)
_ALONE = rf"(?:(?:^|[^\d \-.\n\t_]){SIGNS_BETWEEN}{{0,2}}|{SIGNS_BETWEEN}{{3}})"
MAYBE_CARD = (
    rf"(?:^|[^\d.])({_ALIKE})"
    rf"|{_ALONE}([2-6]\d?{_S}\d(?:{SIGNS_BETWEEN}{{0,2}}\d){{9}})"
)
"""The first twelve digits of a card in groups of one size, of three digits and more; or in groups
of one or two, from the beginning of all of them.
"""
ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:2[2-9]|[3-6]\d|7[01]|720)\d{12,13}|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}"
    r"|62\d{14,17}|(?:5018|5020|5038|5893|6304|6759|676[1-3])\d{8,15}"
)
"""Numbers of cards by the digits that each issuer begins them with, and their lengths."""
CARD = 10
"""The work of telling whether a card begins at a digit."""
DOUBLED = str.maketrans("0123456789", "0246813579")
"""The sum of the digits of twice a digit."""


@detector("card", "personal")
def card_numbers(seen: Seen) -> Found:
    """Yield numbers of cards: those of an issuer, with the right check digit, grouped alike."""
    past = 0
    for start in seen.places(MAYBE_CARD):
        seen.take(CARD)
        card = _card_at(seen.text, start) if start >= past else None
        if card is not None:
            past = card[0]
            yield start, *card


def _card_at(text: str, start: int) -> tuple[int, str] | None:
    """Return where the card ends that begins there, and its number; the shortest, if any."""
    groups = GROUPS.match(text, start)
    if groups is None or text[start - 1 : start] == ".":
        return None
    number, sizes = "", list[int]()
    for group in DIGITS.finditer(text, start, groups.end()):
        number += group[0]
        sizes.append(len(group[0]))
        if len(number) > MOST_DIGITS:
            return None
        end = group.end()
        whole = end == groups.end() and MORE.match(text, end) is None
        if len(number) >= FEWEST and _grouped_alike(sizes, whole=whole) and _is_card(number):
            return end, number
    return None


def _is_card(number: str) -> bool:
    if ISSUERS.fullmatch(number) is None:
        return False
    digits = number[-1::-2] + number[-2::-2].translate(DOUBLED)
    return (sum(digits.encode()) - ord("0") * len(digits)) % 10 == 0


def _grouped_alike(sizes: list[int], *, whole: bool) -> bool:
    """True if groups have one size, as on a card; single and double digits only all together."""
    if len(sizes) == 1 or sizes in ([4, 6, 5], [4, 6, 4]):
        return True
    alike = len({*sizes[:-1]}) == 1 and sizes[-1] <= max(sizes[0], 4)
    return alike and (sizes[0] > 2 or whole)


COUNTRY = re.compile(r"[A-Za-z]{2} ?")
CHECKED = 20
"""The work of telling whether the check digits of a number are right."""
IN_DIGITS = {ord(each): str(int(each, 36)) for each in string.ascii_uppercase}
LOOKALIKES = str.maketrans(
    "АВЕЅІЈКМНОРСТХаеѕіјорсхΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "ABESIJKMHOPCTXaesijopcxABEZHIKMNOPTYX",
)
LOOKALIKE = re.compile(f"[{''.join(map(chr, LOOKALIKES))}]")
"""Cyrillic and Greek letters that look like Latin ones."""


@detector("iban", "personal", "stdnum")
def account_numbers(seen: Seen) -> Found:
    """Yield numbers of bank accounts (IBAN) whose check digits and length are right."""
    from stdnum import iban  # of the extra [kinds]

    past, latin = 0, seen
    if not seen.text.isascii() and LOOKALIKE.search(seen.text):
        latin = seen.translated(LOOKALIKES)
    text = latin.text
    for start in latin.places(_maybe_account()):
        latin.take(PLACE)
        code = COUNTRY.match(text, start)
        account = _account(code[0][:2].upper()) if code and code.end() >= past else None
        rest = account.match(text, code.end()) if code and account else None
        if rest is None or text[rest.end() : rest.end() + 1].isalnum():
            continue
        latin.take(CHECKED)
        number = between(text, start, rest.end())
        if _has_remainder(number) and iban.is_valid(number):
            yield start, rest.end(), number
            past = rest.end()
    seen.take(latin.work - seen.work)


@functools.cache
def _maybe_account() -> str:
    """Return what finds the letters of a country that has such numbers, and enough behind them."""
    letters = itertools.product(string.ascii_uppercase, repeat=2)
    known = "|".join(pair for each in letters if _account(pair := "".join(each)))
    return rf"(?:^|[^A-Za-z0-9])((?i:{known}) ?\d ?\d(?:[ .\n\-]{{0,2}}[A-Za-z0-9]){{11}})"


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
MAYBE_SOCIAL = r"(?:^|[^\w.\-])(\d(?: ?\d ?\d ?- ?\d ?\d ?- ?\d ?\d ?\d ?\d|\d\d\.\d\d\.\d{4}))"
SOCIAL_WORDS = "ssn|social security|social-security|itin"


@detector("ssn", "personal", "stdnum")
def social_security_numbers(seen: Seen) -> Found:
    """Yield numbers of the US Social Security, `123-45-6789`; nine digits in a row behind `SSN`."""
    for match in seen.matches(SOCIAL, MAYBE_SOCIAL):
        seen.take(CHECKED)
        number = between(seen.text, *match.span())
        if _passes("us.ssn", number):
            yield match.start(), match.end(), number
    for _, start, end, number in _behind(seen, (Word("", SOCIAL_WORDS, 9),)):
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


@detector("national", "personal", "stdnum")
def national_numbers(seen: Seen) -> Found:
    """Yield national numbers of persons, of thirty countries, whose check digits are right."""
    text = seen.text
    for start in seen.places(_maybe_national()):
        if start and JOINED.match(text, start - 1):
            continue
        seen.take(CHECKED)
        for module, whole in _shapes(digit=text[start].isdigit()):
            match = whole.match(text, start)
            seen.take(CHECKED if match and module else 0)
            if match and (not module or _passes(module, match[0].replace(" ", ""))):
                yield match.start(), match.end(), between(text, *match.span())
                break
    for word, start, end, number in _behind(seen, WORDS):
        if _passes(word.module, number):
            yield start, end, number


@functools.cache
def _maybe_national() -> str:
    looks = "|".join(look for each in SHAPES.values() for _, look in each)
    return rf"(?:^|[^\w.\-+/])({looks})(?:$|[^\w\-+/])"


@functools.cache
def _shapes(*, digit: bool) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the module and the whole look of each number that begins with a digit, or a letter."""
    end = r"(?![\w\-+/]|\.\d)"
    return tuple((module, re.compile(f"(?:{look}){end}")) for module, look in SHAPES[digit])


@functools.cache
def _word_before(words: str, digits: int) -> re.Pattern[str]:
    number = rf"\d(?:[ .\-/]{{0,3}}\d){{{digits - 1}}}"
    return re.compile(
        rf"(?<![^\W_])(?:{words})(?![^\W_])[^\d\n]{{0,24}}({number})(?!\d)", re.IGNORECASE
    )


@functools.cache
def _maybe_behind(words: tuple[Word, ...]) -> str:
    some = "|".join(each.words for each in words).replace(r"\w*", "[a-z0-9_?]*")
    return rf"(?i)(?:^|[^a-z0-9])((?:{some})[^\d\n]{{0,24}}\d(?:[ .\-/]{{0,3}}\d){{8}})"


def _behind(seen: Seen, words: tuple[Word, ...]) -> Iterator[tuple[Word, int, int, str]]:
    """Yield numbers that stand behind one of the words, of as many digits as it says."""
    past = dict[Word, int]()
    for place in seen.places(_maybe_behind(words)):
        seen.take(CHECKED)
        for word in words:
            look = _word_before(word.words, word.digits)
            match = look.match(seen.text, place) if place >= past.get(word, 0) else None
            if match is not None:
                past[word] = match.end()
                seen.take(CHECKED)
                yield word, match.start(1), match.end(1), between(seen.text, *match.span(1))


def _passes(module: str, number: str) -> bool:
    """True if python-stdnum takes the number: its length, its date, its check digits."""
    return bool(import_module(f"stdnum.{module}").is_valid(number))
