"""Lays the text of a contract file out in one way: indentation, blanks, blank lines.

In: text. Out: text with the same data and the same comments, in the same order; quotes stay as they
are written. The library ruamel.yaml (the extra `fmt`) writes it.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sponsio_like.contracts.composition import contract_text
from sponsio_like.contracts.yaml_document import parse
from sponsio_like.errors import ContractError, SponsioLikeError

if TYPE_CHECKING:
    from ruamel.yaml import YAML

WIDTH = 100
"""The longest line, in characters, if its words allow it."""
COMMENT = re.compile(r"#[^\n]*")


def laid_out(path: Path) -> tuple[str, str]:
    """Return the text of a contract file, and the text as `sponsio-like fmt` writes it.

    Raises `ContractError` with the places of mistakes, and as `formatted` does.
    """
    text = contract_text(path)
    try:
        return text, formatted(text)
    except ContractError as error:
        told = [replace(each, where=f"{path}:{each.where or '1:1'}") for each in error.problems]
        raise ContractError(*told) from None


def formatted(text: str) -> str:
    """Return a contract file as `sponsio-like fmt` writes it.

    Raises `ContractError` for a text that has mistakes, and where a comment would be lost;
    `SponsioLikeError` if the extra `fmt` is not installed.
    """
    document = parse(text)
    if document.problems:
        raise ContractError(*document.problems)
    if not isinstance(document.data, dict):
        raise ContractError.of("not a contract file", "write a mapping with `contracts:`")
    lines = _spaced(_written(text))
    found = "\n".join(lines) + "\n"
    if json.dumps(parse(found).data) != json.dumps(document.data):
        raise ContractError.of("this file cannot be formatted: it would mean something else")
    kept = [*_comments(found)]
    for line, comment in _comments(text):
        if not kept or kept.pop(0)[1] != comment:
            raise ContractError.of(
                f"the comment `{comment}` would be lost or moved",
                "put it on a line of its own, outside of brackets",
                f"{line}:1",
            )
    return found


def _written(text: str) -> str:
    """Return the text as ruamel.yaml writes it."""
    yaml = _writer()
    data = yaml.load(text.replace("\r\n", "\n"))
    _unfold(data, 0)
    out = io.StringIO()
    yaml.dump(data, out)
    return out.getvalue()


def _writer() -> YAML:
    try:
        from ruamel.yaml import YAML
    except ImportError:
        raise SponsioLikeError("fmt needs ruamel.yaml: pip install 'sponsio-like[fmt]'") from None
    yaml = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = WIDTH
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def _unfold(data: Any, column: int) -> None:
    """Write those collections in braces or brackets line by line that do not fit on one line."""
    children = data.items() if isinstance(data, dict) else enumerate(data)
    for key, each in children:
        if not isinstance(each, dict | list):
            continue
        inner = column + (4 if isinstance(data, list) else 2)
        before = column + (len(f"{key}: ") if isinstance(data, dict) else len("  - "))
        flow = each.fa.flow_style()  # type: ignore[union-attr] # a collection of ruamel.yaml
        if flow and before + _length(each) > WIDTH:
            each.fa.set_block_style()  # type: ignore[union-attr]
        if not each.fa.flow_style():  # type: ignore[union-attr]
            _unfold(each, inner)


def _length(data: object) -> int:
    """Return the characters that a value takes on one line, quotes as they are written."""
    match data:
        case dict():
            return 2 + sum(_length(k) + _length(v) + 4 for k, v in data.items()) - 2
        case list():
            return 2 + sum(_length(each) + 2 for each in data) - 2
        case str():
            return len(data) + 2 * (type(data) is not str)  # else a quoted text of ruamel.yaml
    return len(str(data))


def _spaced(text: str) -> list[str]:
    """Return lines with one blank line between sections and contracts, and never two.

    Comments stand where the next line begins. Lines of texts in several lines stay as they are.
    """
    inside = set(_inside(text))
    found, above = list[str](), list[str]()
    for number, line in enumerate(text.splitlines()):
        if number in inside:
            found.append(line)
        elif not line.strip() or line.lstrip().startswith("#"):
            above.append(line.strip())
        else:
            found += _between(found[-1] if found else "", above, line)
            found.append(line.rstrip())
            above = []
    return found + [each for each in above if each]


def _between(after: str, above: list[str], line: str) -> list[str]:
    """Return the comments and the blank lines that stand above a line."""
    indent = line[: len(line) - len(line.lstrip())]
    blank = "" in above[:1] or (line.startswith("  - name:") and not after.endswith(":"))
    found = [""] if blank and after else []
    for each in above:
        if each:
            found.append(f"{indent}{each}")
        elif found and found[-1]:
            found.append("")
    return found


def _inside(text: str) -> Iterator[int]:
    """Yield the lines, from 0, that go on with a text that began on a line before.

    Blank lines at its end are none of it, unless its mark says so (`|+`).
    """
    import yaml

    lines = text.splitlines()
    for each in yaml.scan(text, Loader=yaml.SafeLoader):
        if isinstance(each, yaml.ScalarToken):
            begin, end = each.start_mark.line + 1, each.end_mark.line
            if each.style in ("'", '"', None):
                end += 1
            elif "+" not in lines[begin - 1][each.start_mark.column :]:
                while end > begin and not lines[end - 1].strip():
                    end -= 1
            yield from range(begin, end)


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield each comment with its line, from 1: what stands between tokens, but blanks."""
    import yaml

    at = 0
    for each in yaml.scan(text, Loader=yaml.SafeLoader):
        for found in COMMENT.finditer(text, at, max(at, each.start_mark.index)):
            yield text.count("\n", 0, found.start()) + 1, found[0].rstrip()
        at = max(at, each.end_mark.index)
