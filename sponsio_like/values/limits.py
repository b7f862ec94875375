"""The caps on how much of one call, or of one answer, is read: beyond them it is unreadable.

What is cut off here compares as unreadable everywhere, and never as missing.
"""

from __future__ import annotations

DEPTH_CAP = 64
"""Deepest nesting that is read."""
VALUES_CAP = 5_000
"""Most values of the arguments of one call: scalars, lists, objects."""
ANSWER_CAP = 100_000
"""Most values of one answer."""
NUMBER_CAP = 4_300
"""Largest power of ten of a number that is calculated with or written."""
BITS_CAP = 14_000
"""Largest whole number that is read, in bits: some 4,200 digits."""
DIGITS_CAP = 20_000
"""Most digits of all numbers of one call, or answer, that are longer than `SHORT_NUMBER`."""
SHORT_NUMBER = 20
"""Longest number, in digits, that does not count towards `DIGITS_CAP`."""
CHARACTERS_CAP = 8_000_000
"""Most characters of all texts of one call, or of one answer."""
TEXT_CAP = 64 * 1024
"""Longest text, in characters, that is searched."""
COMPOSED_CAP = 1 << 20
"""Longest text, in characters, that is put into a normal form of Unicode, unless it is ASCII."""
EFFORT_CAP = 30_000_000
"""Most work of one decision over all its contracts, in steps of a regular expression."""
SHORT_TEXT = 4_096
"""Longest text, in characters, that is searched without counting the work."""
HEARD = 4
"""The factor by which more work may be spent on an answer: the call has run, and nobody waits."""
WORD_WORK = 2_500
"""The work to find one word of a text, in such steps;"""
INDEX_WORK = 250
"""to make it possible to look it up, in a text that is remembered whole;"""
TOLD_WORK = 10
"""to remember such a text, for each value that it takes the room of, and one contract;"""
VALUE_WORK = 500
"""to look up one of these words, for one contract;"""
LEAK_WORK = 100
"""to look up one piece where leaks are looked for, which finds many more of them;"""
FORM_WORK = 25
"""to put one character into the normal form of Unicode."""
JSON_CAP = 4_000_000
"""Longest text, in characters, of an answer that is read as JSON;"""
JSON_WORK, JSON_VALUE_WORK = 8, 800
"""the work to read one character of it, and one value."""
