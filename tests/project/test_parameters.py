"""docs/adapters/parameters.md says of each parameter what its signature says."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sponsio_like.adapters.langchain as with_langchain
import sponsio_like.adapters.langgraph as with_langgraph

PAGE = Path(__file__).parents[2] / "docs" / "adapters" / "parameters.md"
PUBLIC = {
    name: getattr(adapter, name)
    for adapter in (with_langgraph, with_langchain)
    for name in adapter.__all__
    if inspect.isfunction(getattr(adapter, name))
}


def said(function: Callable[..., Any]) -> list[tuple[str, str, str]]:
    """Each parameter with its type and its default, as the page writes them."""
    found = []
    for each in inspect.signature(function).parameters.values():
        default = f"`{each.default!r}`"
        if each.default is time.time:
            default = "`time.time`"
        elif inspect.isfunction(each.default):
            assert each.default(None) == {}
            default = "no arguments"
        elif each.default is each.empty:
            default = "none" if each.name == "others" else "required"
        star = "*" if each.kind is each.VAR_POSITIONAL else ""
        found.append((star + each.name, str(each.annotation), default))
    return found


def table(name: str) -> list[tuple[str, str, str]]:
    """The same, as the page has it."""
    section = PAGE.read_text("utf-8").partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\S+)` \| `(.+?)` \| (\S.*?) \| \S.* \|$", section, re.MULTILINE)
    return [(name, kind.replace("\\|", "|"), default) for name, kind, default in rows]


@pytest.mark.parametrize("name", PUBLIC)
def test_each_parameter_is_on_the_page_as_the_signature_has_it(name: str) -> None:
    """The table of a function has its parameters in order, each with its type and its default."""
    assert table(name) == said(PUBLIC[name])


def test_the_page_has_no_other_function() -> None:
    """A section with a table of parameters is that of a function that the adapters export."""
    text = PAGE.read_text("utf-8")
    sections = re.findall(r"^## (\w+)\n(?:(?!^## )(?:.*)\n)*?\| parameter \|", text, re.MULTILINE)
    assert sorted(sections) == sorted(PUBLIC)
