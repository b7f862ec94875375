"""The pages of docs/ that are made, or have made parts: `python -m tests.pages --write`.

In: the tables of `tests/trace_tables.py`, the declared patterns. Out: `PAGES`, each page's text as
it should be; `tests/test_docs.py` compares.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from types import MappingProxyType

import sponsio_like.patterns  # noqa: F401  declares the patterns
from sponsio_like.explain import example
from sponsio_like.pattern import Pattern, catalog
from sponsio_like.syntax import show
from sponsio_like.wording import blanks, words_of
from tests.trace_tables import filled

DOCS = Path(__file__).parent.parent / "docs"

HEAD = """\
# Patterns

This page is made from the declarations in `sponsio_like/patterns/`, by
`python -m tests.pages --write`. `sponsio-like patterns NAME` shows the same in a terminal. What the
words mean, and what *done* and *called* are while a call is in flight, is in `semantics.md`.

Where a pattern takes a tool it takes a list of tools, a glob, an action or a match as well. In
traces, `x!` is a call that failed, `x?` one in flight until `ok:x` or `error:x`, `x=..` one with an
answer, `x@a` one by agent a.
"""


def patterns_page(patterns: Iterable[Pattern]) -> str:
    """The page of all patterns: an overview by family, then each by itself."""
    patterns = list(patterns)
    return "\n".join([HEAD, *_overview(patterns), *(_pattern(each) for each in patterns)])


def _overview(patterns: Iterable[Pattern]) -> Iterator[str]:
    yield "| family | pattern | sentence |\n|---|---|---|"
    for family, members in groupby(patterns, key=lambda each: each.family):
        for each in members:
            yield f"| {family} | [`{each.name}`](#{each.name}) | {blanks(each.sentences[0])} |"
    yield ""


def _pattern(pattern: Pattern) -> str:
    rule = pattern.rule(pattern.example)
    parts = [
        f"## {pattern.name}\n",
        *(f"> {blanks(sentence)}\n" for sentence in pattern.sentences),
        f"{pattern.summary}\n",
        *_arguments(pattern),
        "```yaml",
        *example(pattern),
        "```\n",
        f"means “{rule.sentence}”, or `{show(rule.formula)}`"
        + (f", for each `{', '.join(rule.by)}`" if rule.by else "")
        + ".\n",
        f"Kept by {_traces(pattern.keeps)}; broken by {_traces(pattern.breaks)}.\n",
    ]
    return "\n".join(parts)


def _arguments(pattern: Pattern) -> Iterator[str]:
    yield "| argument | | default |\n|---|---|---|"
    for each in pattern.parameters:
        default = "" if each.required else f"`{words_of(each.default)}`"
        yield f"| `{each.name}` | {each.expects} | {default} |"
    yield ""


def _traces(traces: Iterable[str]) -> str:
    return ", ".join(f"`{trace}`" if trace else "an empty session" for trace in traces)


PAGES: Mapping[Path, Callable[[], str]] = MappingProxyType(
    {
        DOCS / "semantics.md": lambda: filled((DOCS / "semantics.md").read_text("utf-8")),
        DOCS / "patterns.md": lambda: patterns_page(
            each for each in catalog() if each.build.__module__.startswith("sponsio_like.")
        ),
    }
)

if __name__ == "__main__":
    for path, make in PAGES.items():
        text = make()
        if "--write" in sys.argv:
            path.write_text(text, "utf-8")
        print(f"{path.name}: {len(text.splitlines())} lines")
