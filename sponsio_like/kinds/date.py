"""The kind `date`: a day, or a moment, as ISO 8601, RFC 2822 or a month's name writes it.

In: a text. Out: the day, the seconds since 1970, the day of the week. What has two readings, such
as `03/04/2026`, is unknown.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

from sponsio_like.kinds.registry import kind, unknown
from sponsio_like.values import Facts

PARTS = {
    "date": "the day, as it stands there: `2026-11-23`",
    "seconds": "seconds since 1970; without a time, those of midnight; without a zone, in UTC",
    "weekday": "`monday`, ..",
}
DAY = 86_400
LONGEST = 64
"""Most characters that are read."""
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
LONG_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
MONTH = "(?P<month>" + "|".join([*LONG_MONTHS, "sept", *MONTHS]) + r")\.?"
CLOCK = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
ISO = re.compile(
    rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:[T ]{CLOCK}(?:Z| ?UTC|[+-][0-9]{{2}}:?[0-9]{{2}})?)?",
    re.IGNORECASE,
)
NAMED = re.compile(
    rf"(?:(?P<weekday>[a-z]+)\.?,? )?(?:(?P<day>[0-9]{{1,2}})\.? {MONTH}"
    rf"|{MONTH.replace('month', 'other')} (?P<second>[0-9]{{1,2}})),? (?P<year>[0-9]{{4}})"
    rf"(?:,? (?P<clock>{CLOCK})(?: (?P<zone>[+-][0-9]{{4}}|gmt|utc))?)?",
    re.IGNORECASE,
)


@kind("date", PARTS, main="date", steps=10)
def date_text(text: str) -> Facts:
    """Return the day and the moment that a text names; unknown if it can be read in two ways."""
    moment = _moment(text)
    if moment is None:
        return unknown(PARTS)
    begin = _seconds(moment)
    return {
        "date": (moment.date().isoformat(),),
        "seconds": (int(begin) if begin.is_integer() else begin,),
        "weekday": (DAYS[moment.weekday()],),
    }


def date_bounds(text: str) -> tuple[float, float] | None:
    """Return the first and the last second of a moment, or of a day; None if it is unknown."""
    moment = _moment(text)
    if moment is None:
        return None
    begin = _seconds(moment)
    return begin, begin if ":" in text else begin + DAY - 1


def _seconds(moment: datetime) -> float:
    """Return the seconds since 1970; a moment without a zone is one of UTC."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _moment(written: str) -> datetime | None:
    text = written.strip(" ")
    if len(text) > LONGEST or not text.isascii():
        return None
    if ISO.fullmatch(text):
        plain = re.sub(r" ?utc$", "Z", text, flags=re.IGNORECASE)
        return _read(plain.upper().replace(" ", "T", 1))
    match = NAMED.fullmatch(text)
    if match is None:
        return None
    name = (match["month"] or match["other"]).lower()[:3]
    day = int(match["day"] or match["second"])
    zone = {"gmt": "+0000", "utc": "+0000"}.get(str(match["zone"]).lower(), match["zone"] or "")
    clock = f"T{match['clock']}{zone}" if match["clock"] else ""
    read = _read(f"{match['year']}-{MONTHS.index(name) + 1:02}-{day:02}{clock}")
    said = (match["weekday"] or "").lower()
    if read is None or (said and not _is_day(said, read)):
        return None
    return read


def _read(iso: str) -> datetime | None:
    try:
        return datetime.fromisoformat(iso)
    except ValueError:
        return None


def _is_day(said: str, read: date) -> bool:
    """True if a name of a day, or its beginning, is that of the date."""
    return len(said) >= 3 and DAYS[read.weekday()].startswith(said)
