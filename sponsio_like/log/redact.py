"""Takes texts of certain kinds out of the content of a log: addresses, numbers of cards, keys.

In: a sink or a path, and names of kinds. Out: a sink that writes `[email]` in the place of each. A
field in which something was taken out is named, so that no contract is judged on what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from sponsio_like.errors import ContractError, closest
from sponsio_like.log.json_lines import json_log
from sponsio_like.session import Record, Sink

TEXTS: Mapping[str, str] = {
    "email": r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+",
    "card": r"\b\d(?:[ -]?\d){11,18}\b",
    "iban": r"\b[A-Z]{2}\d\d(?: ?[A-Z0-9]{2,4}){3,8}\b",
    "key": (
        r"\b(?:sk|pk|rk)[-_][\w-]{16,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bgh[opsu]_\w{30,}"
        r"|\bxox[abprs]-[\w-]{10,}|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
        r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*-----|$)"
    ),
    "phone": r"\+\d[\d ()/.-]{6,18}\d\b",
}
"""The kinds of texts, each with its expression."""
CONTENT = ("args", "substitute_args", "output", "text", "value", "advice")
"""The fields of a record that have content."""
Found: TypeAlias = Callable[[str], str]


def redacted(sink: Sink | str | Path, kinds: Iterable[str]) -> Sink:
    """Return a sink that writes no texts of these kinds: `Guard(log=redacted(path, ["email"]))`.

    The kinds are email, card, iban, key and phone. Raises `ContractError` for others, and `OSError`
    for a path that cannot be opened.
    """
    chosen = [kinds] if isinstance(kinds, str) else list(kinds)
    for each in chosen:
        if each not in TEXTS:
            hint = closest(each, TEXTS) or f"the kinds are {', '.join(TEXTS)}"
            raise ContractError.of(f"`{each}` is no kind of text that can be taken out", hint)
    found = [_replacing(each) for each in TEXTS if each in chosen]
    write = json_log(sink) if isinstance(sink, str | Path) else sink

    def redact(record: Record) -> None:
        write(_without(record, found))

    return redact


def _without(record: Record, found: list[Found]) -> Record:
    """Return the record without those texts; the fields that had some are named in it."""
    left, fields = dict(record), list[str]()
    for name in CONTENT:
        if name in record:
            left[name] = _replaced(record[name], found)
            if left[name] != record[name]:
                fields.append(name)
    if any(each.get("values") for each in record.get("violations", ())):
        left["violations"] = [_replaced(each, found) for each in record["violations"]]
    if "args" in fields:
        names = [name for name, value in record["args"].items() if left["args"][name] != value]
        left["withheld"] = sorted({*record.get("withheld", ()), *names})
    return left | {"redacted": fields} if fields else left


def _replaced(value: Any, found: list[Found]) -> Any:
    """Return JSON data without those texts, in the names of fields, too, below the first ones."""
    match value:
        case str():
            for each in found:
                value = each(value)
            return value
        case int() if not isinstance(value, bool) and abs(value) >= 10**11:
            text = _replaced(str(value), found)
            return value if text == str(value) else text
        case Mapping():
            return {name: _replaced(each, found) for name, each in value.items()}
        case list() | tuple():
            return [_replaced(each, found) for each in value]
    return value


@cache
def _replacing(kind: str) -> Found:
    import re2  # linear in the text, whatever an agent writes

    expression = re2.compile(TEXTS[kind])
    mark = f"[{kind}]"
    if kind == "card":
        return lambda text: str(expression.sub(lambda hit: _card(hit[0], mark), text))
    return lambda text: str(expression.sub(mark, text))


def _card(text: str, mark: str) -> str:
    """Return the mark for a number whose check digit is that of a card; else the number."""
    digits = [int(sign) for sign in reversed(text) if sign.isdigit()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return mark if (sum(digits[::2]) + sum(doubled)) % 10 == 0 else text
