"""Reads a YAML text as plain data with positions: mappings, lists, strings, numbers, true, false,
null.

In: text. Out: a `Document`. Stricter than YAML: no tags, anchors or aliases, no second document, no
key twice, and no words or numbers that YAML readers disagree about (`no`, `on`, `010`, `1_000`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sponsio_like.errors import ContractError, Path, Problem

if TYPE_CHECKING:
    import yaml

SIZE_CAP = 1_000_000
"""The largest file, in characters."""
DEPTH_CAP = 64
"""The deepest nesting of lists and mappings."""

_WORDS: dict[str, bool | None] = {"null": None, "true": True, "false": False}
PLAIN = {"": None, "~": None} | {
    written: value
    for word, value in _WORDS.items()
    for written in (word, word.title(), word.upper())
}
NUMBER = re.compile(r"[-+]?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")
DISPUTED = re.compile(
    r"yes|no|on|off|[-+]?\.inf|\.nan"
    r"|[-+]?(?:0\d+|0[xob]\w+|\d[\d_]*_[\d_]*|\d+(?::[0-5]?\d)+|\.\d+|\d+\.)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Spot:
    """The place where something begins: line and column, from 1.

    `text` is the column of its own text.
    """

    line: int
    column: int
    text: int | None = None


@dataclass(slots=True)
class Document:
    """Plain data, and the place of each value and each key of it, by path."""

    data: Any = None
    values: dict[Path, Spot] = field(default_factory=dict)
    keys: dict[Path, Spot] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def spot(self, path: Path, *, of_key: bool = False) -> Spot:
        """Return the place of the value at `path`, or of its key, or of what is nearest."""
        if of_key and path in self.keys:
            return self.keys[path]
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, Spot(1, 1))


def parse(text: str) -> Document:
    """Read a text. Raises `ContractError` if it is not YAML; other mistakes are in `problems`."""
    import yaml

    if len(text) > SIZE_CAP:
        raise ContractError.of(
            f"a file of {len(text)} characters", f"at most {SIZE_CAP} are read; split it"
        )
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document = Document()
    try:
        events = yaml.parse(text, Loader=loader)
        _Builder(document).build(events)
    except yaml.MarkedYAMLError as error:
        raise _malformed(text, error.problem_mark, error.problem) from None
    except yaml.YAMLError as error:  # a character that YAML does not allow
        raise _unreadable(text, error) from None
    return document


def _malformed(text: str, mark: yaml.Mark | None, problem: str | None) -> ContractError:
    row, column = (mark.line, mark.column) if mark else (0, 0)
    line = (text.splitlines() or [""])[row : row + 1]
    tab = bool(line) and "\t" in line[0][: column + 1]
    hint = "indent with spaces, not with tabs" if tab else "check indentation, quotes and brackets"
    return ContractError.of(f"not YAML: {problem}", hint, f"{row + 1}:{column + 1}")


def _unreadable(text: str, error: Exception) -> ContractError:
    found = re.search(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text)
    before = text[: found.start()] if found else ""
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    shown = f"character {found[0]!a} is not allowed" if found else str(error).splitlines()[0]
    return ContractError.of(f"not YAML: {shown}", "", f"{line}:{column}")


@dataclass(slots=True)
class _Open:
    """A list or mapping that is being read. `key`: the key that waits for its value."""

    into: Any
    path: Path
    key: str | None = None
    ignore: bool = False


class _Builder:
    """A builder of data from the events of the YAML parser, without recursion."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.stack: list[_Open] = []
        self.documents = 0

    def build(self, events: Iterator[Any]) -> None:
        import yaml

        for event in events:
            match event:
                case yaml.DocumentStartEvent():
                    self.documents += 1
                    if self.documents > 1:
                        raise _at(event, "a second document", "one file has one document")
                case yaml.AliasEvent():
                    raise _at(event, f"alias `*{event.anchor}`", "write the value again")
                case yaml.ScalarEvent():
                    self._refuse(event)
                    self._scalar(event)
                case yaml.MappingStartEvent():
                    self._refuse(event)
                    self._start({}, event)
                case yaml.SequenceStartEvent():
                    self._refuse(event)
                    self._start([], event)
                case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                    self.stack.pop()

    def _refuse(self, event: Any) -> None:
        if event.anchor:
            raise _at(event, f"anchor `&{event.anchor}`", "write the value where it is needed")
        if event.tag and event.tag != "!":
            raise _at(event, f"tag `{event.tag}`", "write the value without a tag, quoted if text")

    def _scalar(self, event: Any) -> None:
        top = self.stack[-1] if self.stack else None
        if top is not None and isinstance(top.into, dict) and top.key is None:
            self._key(top, event)
        elif self._place(event) is not None:
            self._put(self._value(event))

    def _key(self, top: _Open, event: Any) -> None:
        top.key, spot = event.value, _spot(event)
        top.ignore = event.value in top.into
        if top.ignore:
            first = self.document.keys[(*top.path, event.value)]
            what = f"key `{event.value}` is given twice"
            self._problem(spot, what, f"it stands in line {first.line} already")
        else:
            self.document.keys[(*top.path, event.value)] = spot

    def _start(self, empty: Any, event: Any) -> None:
        top = self.stack[-1] if self.stack else None
        if top is not None and isinstance(top.into, dict) and top.key is None:
            raise _at(event, "a list or a mapping as a key", "a key is a word")
        if len(self.stack) >= DEPTH_CAP:
            raise _at(event, f"nested more than {DEPTH_CAP} levels deep", "write it flatter")
        path = self._place(event)
        if path is not None:
            self._put(empty)
        self.stack.append(_Open(empty, ("", "ignored") if path is None else path))

    def _place(self, event: Any) -> Path | None:
        """Return the path of the next value; None for the value of a key that is given twice."""
        if not self.stack:
            path: Path = ()
        elif isinstance(self.stack[-1].into, list):
            path = (*self.stack[-1].path, len(self.stack[-1].into))
        elif self.stack[-1].ignore:
            self.stack[-1].key, self.stack[-1].ignore = None, False
            return None
        else:
            path = (*self.stack[-1].path, str(self.stack[-1].key))
        self.document.values[path] = _spot(event)
        return path

    def _put(self, value: Any) -> None:
        if not self.stack:
            self.document.data = value
            return
        top = self.stack[-1]
        if isinstance(top.into, list):
            top.into.append(value)
        else:
            top.into[top.key] = value
            top.key = None

    def _value(self, event: Any) -> Any:
        text = event.value
        if not event.implicit[0]:  # quoted
            return text
        if text in PLAIN:
            return PLAIN[text]
        if found := NUMBER.fullmatch(text):
            return float(text) if found[1] or found[2] else _integer(text)
        if DISPUTED.fullmatch(text):
            hint = f'write "{text}" if it is text, else true, false, null or a plain number'
            self._problem(_spot(event), f"`{text}` means different things to YAML readers", hint)
        return text

    def _problem(self, spot: Spot, what: str, hint: str) -> None:
        self.document.problems.append(Problem(what, f"{spot.line}:{spot.column}", hint))


def _integer(text: str) -> int | float:
    return int(text) if len(text) < 400 else float(text)


def _spot(event: Any) -> Spot:
    start, end = event.start_mark, event.end_mark
    column = start.column + 1
    style = getattr(event, "style", None)
    text = column + (style in ("'", '"')) if start.line == end.line else None
    return Spot(start.line + 1, column, None if style in ("|", ">") else text)


def _at(event: Any, what: str, hint: str) -> ContractError:
    spot = _spot(event)
    return ContractError.of(what, hint, f"{spot.line}:{spot.column}")
