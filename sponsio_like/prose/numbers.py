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
SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
WORDS = "|".join(sorted([*VALUES, *SCALES], key=len, reverse=True))
"""The words of numbers, as a regular expression."""
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def read_number(text: str) -> int | float | None:
    """Return the number that digits or words say; None if the words make none."""
    digits = text.strip("$").replace(",", "").replace("$", "")
    if re.fullmatch(r"-?\d+", digits):
        return int(digits)
    if re.fullmatch(r"-?\d+\.\d+", digits):
        return float(digits)
    return _of_words(re.split(r"[ -]+", text.lower()))


def _of_words(words: list[str]) -> int | None:
    total = part = 0
    room = 1_000  # a smaller word may follow, below this
    for word in words:
        if word == "and":
            continue
        if word in SCALES:
            if part == 0 or SCALES[word] <= 100 <= part:
                return None
            part, room = part * SCALES[word], 100
            if SCALES[word] > 100:
                total, part, room = total + part, 0, 1_000
            continue
        value = VALUES[word]
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
