"""Writes data from anywhere as YAML that shows a person every character.

In: JSON-like data. Out: text on one line, which `contracts/yaml_document.py` reads back. Invisible
characters (control characters, marks that turn the order of letters) are written as escapes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

PLAIN_WORD = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
LINE = 90
"""The longest line of what can be broken."""
RESERVED = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "none"}


def flow(value: Any) -> str:
    """Return data on one line, with quotes only where they are needed."""
    match value:
        case Mapping():
            return "{" + ", ".join(f"{flow(k)}: {flow(v)}" for k, v in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(flow, value)) + "]"
        case str() if PLAIN_WORD.fullmatch(value) and value.lower() not in RESERVED:
            return value
        case str():
            return quoted(value)
    return json.dumps(value)


def entry(key: str, value: Any) -> list[str]:
    """Return a key and its value as lines: one if it is short enough, else its parts below."""
    line = f"{flow(key)}: {flow(value)}"
    if len(line) <= LINE:
        return [line]
    match value:
        case Mapping():
            below = [line for key, each in value.items() for line in entry(key, each)]
        case list() | tuple():
            below = [f"- {flow(each)}" for each in value]
        case _:
            return [line]
    return [f"{flow(key)}:", *(f"  {line}" for line in below)] if below else [line]


def quoted(text: str) -> str:
    """Return a text in quotes; invisible characters are escaped."""
    if '"' in text and "'" not in text and text.isprintable():
        return f"'{text}'"
    return '"' + "".join(map(_sign, text)) + '"'


def _sign(sign: str) -> str:
    if sign in '"\\':
        return f"\\{sign}"
    return sign if sign.isprintable() else escaped(sign)


def escaped(sign: str) -> str:
    """Return the escape of a character."""
    number = ord(sign)
    return f"\\x{number:02x}" if number < 256 else f"\\U{number:08x}"


def one_line(text: str) -> str:
    """Return a text on one line; invisible characters are escaped."""
    line = " ".join(text.split())
    return "".join(sign if sign.isprintable() else escaped(sign) for sign in line)
