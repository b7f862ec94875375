"""How much of one call, or of one answer, is read: the sums beyond which it is unreadable.

What is cut off here compares as unreadable everywhere, and never as missing.
"""

from __future__ import annotations

DEPTH_CAP = 64
"""Deepest nesting that is looked at."""
VALUES_CAP = 5_000
"""Most values of the arguments of one call: scalars, lists, objects."""
ANSWER_CAP = 100_000
"""Most values of one answer."""
NUMBER_CAP = 4_300
"""Largest power of ten of a number that is calculated with or written."""
BITS_CAP = 14_000
"""Largest whole number that is looked at, in bits: some 4,200 digits."""
DIGITS_CAP = 20_000
"""Most digits of all numbers of one call, or answer, that are longer than `SHORT_NUMBER`."""
SHORT_NUMBER = 20
"""Longest number, in digits, of which there may be any number."""
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
"""So many times as much is spent on an answer: the call has run, and nobody waits."""
WORD_WORK = 2_500
"""What it takes to tell one word of a text apart, in such steps;"""
VALUE_WORK = 500
"""to look up one value of those, for one contract;"""
LEAK_WORK = 100
"""the same where leaks are looked for, in arguments of many more pieces;"""
FORM_WORK = 25
"""and to put one character into the normal form of Unicode."""
JSON_CAP = 4_000_000
"""Longest text, in characters, of an answer that is read as JSON."""
