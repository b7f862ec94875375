"""Reads a YAML text as plain data with positions: mappings, lists, strings, numbers, true, false,
null.

In: text. Out: a `Document`. Stricter than YAML: no tags, anchors or aliases, no second document, no
key twice, and no words or numbers that YAML readers disagree about (`no`, `on`, `010`, `1_000`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

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


class TextPlace(NamedTuple):
    """The place where something begins: line and column, from 1.

    `text` is the column of its own text.
    """

    line: int
    column: int
    text: int | None = None


@dataclass(slots=True)
class Document:
    """Plain data, and the YAML event of each value and each key of it, by path."""

    data: Any = None
    values: dict[Path, Any] = field(default_factory=dict)
    keys: dict[Path, Any] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    has_blanks: bool = False
    """True if a text has `${` in it."""

    def spot(self, path: Path, *, of_key: bool = False) -> TextPlace:
        """Return the place of the value at `path`, or of its key, or of what is nearest."""
        if of_key and path in self.keys:
            return _spot(self.keys[path])
        while path and path not in self.values:
            path = path[:-1]
        return _spot(self.values[path]) if path in self.values else TextPlace(1, 1)


def parse(text: str) -> Document:
    """Read a text. Raises `ContractError` if it is not YAML; other mistakes are in `problems`."""
    import yaml

    if len(text) > SIZE_CAP:
        raise ContractError.of(
            f"a file of {len(text)} characters", f"at most {SIZE_CAP} are read; split it"
        )
    document = Document()
    try:
        _Reader(document, getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text).get_event).read()
    except yaml.MarkedYAMLError as error:
        raise _malformed(text, error.problem_mark, error.problem) from None
    except (yaml.YAMLError, UnicodeEncodeError) as error:  # a character that YAML does not allow
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


class _Reader:
    """A reader of data from the events of the YAML parser, one value within the other."""

    def __init__(self, document: Document, get: Callable[[], Any]) -> None:
        import yaml

        self.document = document
        self.get = get
        self.scalar, self.mapping = yaml.ScalarEvent, yaml.MappingStartEvent
        self.ends = (yaml.MappingEndEvent, yaml.SequenceEndEvent)

    def read(self) -> None:
        import yaml

        starts = 0
        while (event := self.get()) is not None:
            if isinstance(event, yaml.DocumentStartEvent):
                starts += 1
                if starts > 1:
                    raise _at(event, "a second document", "one file has one document")
            elif isinstance(event, yaml.NodeEvent):
                self.document.data = self._value(event, (), 0)

    def _value(self, event: Any, path: Path, depth: int) -> Any:
        if event.anchor or event.tag:  # an alias has an anchor
            _refuse(event)
        self.document.values[path] = event
        if isinstance(event, self.scalar):
            return self._scalar(event)
        if depth >= DEPTH_CAP:
            raise _at(event, f"nested more than {DEPTH_CAP} levels deep", "write it flatter")
        if isinstance(event, self.mapping):
            return self._mapping(path, depth + 1)
        items: list[Any] = []
        while not isinstance(each := self.get(), self.ends):
            items.append(self._value(each, (*path, len(items)), depth + 1))
        return items

    def _mapping(self, path: Path, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := self.get(), self.ends):
            if event.anchor or event.tag:
                _refuse(event)
            if not isinstance(event, self.scalar):
                raise _at(event, "a list or a mapping as a key", "a key is a word")
            key, place = event.value, (*path, event.value)
            if key in found:
                what, first = f"key `{key}` is given twice", _spot(self.document.keys[place])
                self._problem(_spot(event), what, f"it stands in line {first.line} already")
                self._value(self.get(), ("", "ignored"), depth)
                continue
            self.document.keys[place] = event
            found[key] = self._value(self.get(), place, depth)
        return found

    def _scalar(self, event: Any) -> Any:
        text = event.value
        if "${" in text:
            self.document.has_blanks = True
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

    def _problem(self, spot: TextPlace, what: str, hint: str) -> None:
        self.document.problems.append(Problem(what, f"{spot.line}:{spot.column}", hint))


def _refuse(event: Any) -> None:
    """Refuse what stricter readers than YAML's have no need of: aliases, anchors, tags."""
    import yaml

    if isinstance(event, yaml.AliasEvent):
        raise _at(event, f"alias `*{event.anchor}`", "write the value again")
    if event.anchor:
        raise _at(event, f"anchor `&{event.anchor}`", "write the value where it is needed")
    if event.tag and event.tag != "!":
        raise _at(event, f"tag `{event.tag}`", "write the value without a tag, quoted if text")


def _integer(text: str) -> int | float:
    return int(text) if len(text) < 400 else float(text)


def _spot(event: Any) -> TextPlace:
    start, end = event.start_mark, event.end_mark
    column = start.column + 1
    style = getattr(event, "style", None)
    text = column + (style in ("'", '"')) if start.line == end.line else None
    return TextPlace(start.line + 1, column, None if style in ("|", ">") else text)


def _at(event: Any, what: str, hint: str) -> ContractError:
    spot = _spot(event)
    return ContractError.of(what, hint, f"{spot.line}:{spot.column}")
