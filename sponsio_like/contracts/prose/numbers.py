"""Reads numbers and durations as people write them.

In: "1,000", "twenty-five", "2" and "minutes". Out: numbers, and seconds.
"""

from __future__ import annotations

import re

# fmt: off
ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
# fmt: on
VALUES = {word: n for n, word in enumerate(ONES)} | {word: 10 * n for n, word in enumerate(TENS, 2)}
SCALES = {"dozen": 12, "hundred": 100, "thousand": 1_000, "million": 1_000_000}
WORDS = "|".join(sorted([*VALUES, *SCALES], key=len, reverse=True))
"""The words of numbers, as a regular expression."""
DIGITS = re.compile(r"(-?)[$€£]?(\d+(?:,\d{3})*(?:\.\d+)?) ?(k|hundred|thousand|million)?")
THOUSANDS_OR_PARTS = re.compile(r"[1-9]\d{0,2}\.\d{3}")
"""Digits that are a thousand to some and one to others: "1.000"."""
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def read_number(text: str) -> int | float | None:
    """Return the number that digits or words say; None if the words make none."""
    found = DIGITS.fullmatch(text.lower())
    if found is not None and THOUSANDS_OR_PARTS.fullmatch(found[2]):
        return None
    if found is None:
        return _of_words(re.split(r"[ -]+", text.lower()))
    digits = found[1] + found[2].replace(",", "")
    scale = 1_000 if found[3] == "k" else SCALES.get(found[3], 1)
    if "." not in digits:
        return int(digits) * scale
    number = float(digits) * scale
    return int(number) if scale > 1 and number.is_integer() else number


def _of_words(words: list[str]) -> int | None:
    total = part = 0
    room, least = 1_000, 10**9  # what follows is smaller than these
    if words[0] in ("a", "an") and words[-1] in SCALES:
        words = ["one", *words[1:]]
    for word in words:
        if word == "and":
            continue
        if word in SCALES:
            scale = SCALES[word]
            if part == 0 or scale <= 100 <= part or scale >= least:
                return None
            part, room = part * scale, 100 if scale >= 100 else 0
            if scale > 100:
                total, part, room, least = total + part, 0, 1_000, scale
            continue
        value = VALUES.get(word, room)
        if value >= room:
            return None
        part, room = part + value, 10 if value >= 20 else 0
    return total + part


def seconds_of(number: float, unit: str) -> int | float:
    """Return so many of the unit in seconds."""
    word = unit.lower()
    if word == "ms" or word.startswith("milli"):
        return number / 1_000
    return number * _SECONDS[word[0]]
