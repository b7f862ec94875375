"""Compares values in calls, answers and messages, in plain Python: no line of the engine.

In: JSON data. Out: which values are the same, which stand at a path, and whether one stands in a
text as a whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

AROUND = "\"'`.,;:!?()[]{}<>*"
"""Punctuation around a word that does not belong to it."""
BETWEEN = re.compile(r"""[\s'",;|<>()\[\]{}=]+""")
"""The characters that part words."""


def same(value: Any) -> Any:
    """Return a key that is equal for two values if, and only if, they are equal as JSON."""
    match value:
        case bool() | None:
            return (type(value).__name__, value)
        case int() | float():
            return ("number", float(value))
        case list():
            return ("list", tuple(same(each) for each in value))
        case dict():
            return ("object", frozenset((key, same(each)) for key, each in value.items()))
    return ("text", value)


def inside(value: Any, path: str) -> Iterator[Any]:
    """Yield every value at a path: `items[].item_id`."""
    found = [value]
    for step in path.replace("[]", ".[]").split("."):
        if step == "[]":
            found = [each for many in found if isinstance(many, list) for each in many]
        else:
            found = [each[step] for each in found if isinstance(each, dict) and step in each]
    yield from found


def read(output: Any) -> Any:
    """Return an output; a text of JSON is parsed."""
    if isinstance(output, str) and output.lstrip()[:1] in {"{", "["}:
        try:
            return json.loads(output)
        except ValueError:
            return output
    return output


def written(value: Any) -> str:
    """Return a single value as text."""
    match value:
        case bool() | None:
            return json.dumps(value)
        case int() | float():
            return f"{value:.15g}"
    return " ".join(str(value).split())


def single(value: Any) -> Iterator[Any]:
    """Yield every single value in there, and the names of fields."""
    match value:
        case list():
            yield from (one for each in value for one in single(each))
        case dict():
            yield from value
            yield from (one for each in value.values() for one in single(each))
        case _:
            yield value


def stands_in(value: Any, place: Any) -> bool:
    """True if a value stands as a whole in a text, or in data: not as a part of a longer word."""
    wanted = written(value)
    return bool(wanted) and any(_whole(wanted, each) for each in single(read(place)))


def _whole(wanted: str, text: Any) -> bool:
    if not isinstance(text, str):
        return wanted == written(text)
    if wanted in {written(text), *map(written, text.splitlines()), *re.findall(r"\w+", text)}:
        return True
    if any(wanted in {each, each.strip(AROUND)} for each in BETWEEN.split(text)):
        return True
    words, length = text.split(), len(wanted.split())
    runs = [" ".join(words[i : i + length]) for i in range(len(words) - length + 1)]
    return length <= 5 and any(wanted in {each, each.strip(AROUND)} for each in runs)
