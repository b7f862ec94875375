"""Takes personal data and secrets out of the content of a log, by the detectors of `no_pii`.

In: a sink or a path, and names of kinds. Out: a sink that writes `[email]` in the place of each. A
field in which something was taken out is named, so that no contract is judged on what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from sponsio_like.event_types import Record, Sink
from sponsio_like.kinds import chosen_detectors, hits
from sponsio_like.log.json_lines import json_log

CONTENT = ("args", "substitute_args", "output", "text", "value", "advice")
"""The fields of a record that have content."""
Found: TypeAlias = Callable[[str], str]


def redacted(sink: Sink | str | Path, kinds: Iterable[str]) -> Sink:
    """Return a sink that writes no texts of these kinds: `Guard(log=redacted(path, ["email"]))`.

    The kinds are those of `no_pii`: `email`, `card`, .., and all of `personal` or `secrets`. Raises
    `ContractError` for others and for a library that is missing, and `OSError` for a path that
    cannot be opened.
    """
    names = chosen_detectors([kinds] if isinstance(kinds, str) else kinds)
    write = json_log(sink) if isinstance(sink, str | Path) else sink

    def found(text: str) -> str:
        return _replacing(text, names)

    def redact(record: Record) -> None:
        write(_without(record, found))

    return redact


def _without(record: Record, found: Found) -> Record:
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


def _replaced(value: Any, found: Found) -> Any:
    """Return JSON data without those texts, in the names of fields, too, below the first ones."""
    match value:
        case str():
            return found(value)
        case int() if not isinstance(value, bool) and abs(value) >= 10**11:
            text = _replaced(str(value), found)
            return value if text == str(value) else text
        case Mapping():
            return {name: _replaced(each, found) for name, each in value.items()}
        case list() | tuple():
            return [_replaced(each, found) for each in value]
    return value


def _replacing(text: str, names: tuple[str, ...]) -> str:
    """Return the text with the name of a kind in the place of each text of it."""
    parts, past = list[str](), 0
    for hit in hits(text, names):
        if hit.start >= past:
            parts += [text[past : hit.start], f"[{hit.name}]"]
        past = max(past, hit.end)
    return "".join(parts) + text[past:]
