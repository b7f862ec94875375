"""The pages of docs/ that are made, or have made parts: `python -m tests.project.pages --write`.

Names of pages behind it (`patterns.md api.md`) make only those.

In: the tables of `tests/reference/trace_tables.py`, the declared patterns, the tests of adapters.
Out: `PAGES`, each page's text as it should be; `tests/project/test_docs.py` compares.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

import sponsio_like.patterns  # noqa: F401  declares the patterns
from sponsio_like import contracts
from sponsio_like.contracts import SCHEMA_NAME, schema_text
from sponsio_like.contracts.declaration import Pattern, catalog
from sponsio_like.contracts.templates import argument_text, blanks
from sponsio_like.explain import example_file
from sponsio_like.syntax import show
from tests.project.api_page import api_page
from tests.project.played import played
from tests.reference.trace_tables import filled
from tests.support import faults

DOCS = Path(__file__).parents[2] / "docs"
SHIPPED = Path(contracts.__file__).with_name(SCHEMA_NAME)
"""The schema of contract files, as the package has it for editors."""

HEAD = """\
# Patterns

This page is made from the declarations in `sponsio_like/patterns/`, by
`python -m tests.project.pages --write`. `sponsio-like patterns NAME` shows the same in a terminal.
What the words mean, and what *done* and *called* are while a call is in flight, is in
`semantics.md`.

Where a pattern takes a tool it takes a list of tools, a glob, an action or a match as well. In
traces, `x!` is a call that failed, `x?` one in flight until `ok:x` or `error:x`, `x=..` one with an
answer, `x@a` one by agent a, `x^2` one by an agent two levels deep.
"""


def overview(patterns: Iterable[Pattern]) -> str:
    """The page of all patterns: their sentences, by family."""
    lines = [HEAD, "| family | pattern | sentence |\n|---|---|---|"]
    for each in patterns:
        link = f"[`{each.name}`](patterns/{each.family}.md#{each.name})"
        lines.append(f"| {each.family} | {link} | {blanks(each.sentences[0])} |")
    return "\n".join([*lines, ""])


def family_page(patterns: Iterable[Pattern]) -> str:
    """The page of one family: what it is for, then each pattern by itself."""
    members = list(patterns)
    about = inspect.getdoc(sys.modules[members[0].build.__module__]) or ""
    head = f"# {about.splitlines()[0]}\n\nAll families: [patterns](../patterns.md).\n"
    return "\n".join([head, *(_pattern(each) for each in members)])


def families() -> Mapping[str, list[Pattern]]:
    """The declared patterns of this package, by family."""
    found: dict[str, list[Pattern]] = {}
    for each in catalog():
        if each.build.__module__.startswith("sponsio_like."):
            found.setdefault(each.family, []).append(each)
    return found


def _pattern(pattern: Pattern) -> str:
    rule = pattern.rule(pattern.example)
    parts = [
        f"## {pattern.name}\n",
        *(f"> {blanks(sentence)}\n" for sentence in pattern.sentences),
        f"{pattern.summary}\n",
        *_arguments(pattern),
        "```yaml",
        *example_file(pattern),
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
        default = "" if each.required else f"`{argument_text(each.default)}`"
        yield f"| `{each.name}` | {each.expects} | {default} |"
    yield ""


def _traces(traces: Iterable[str]) -> str:
    return ", ".join(f"`{trace}`" if trace else "an empty session" for trace in traces)


def _langgraph() -> str:
    from tests.adapters.page import with_scenarios  # loads the frameworks

    return with_scenarios((DOCS / "adapters" / "langgraph.md").read_text("utf-8"))


def _conformance() -> str:
    from tests.adapters.page import conformance  # as above

    return conformance()


GUIDES = (
    "writing-contracts",
    "contract-files",
    "own-rules",
    "sentences",
    "testing",
    "testing-contracts",
    "logging",
    "shadow-to-enforcement",
    "record-first",
    "deployment",
    "how-it-works",
)
"""The pages that a reader follows by hand, from top to bottom."""


def _guide(name: str) -> str:
    return played((DOCS / f"{name}.md").read_text("utf-8"))


PAGES: Mapping[Path, Callable[[], str]] = MappingProxyType(
    {
        DOCS / "adapters" / "langgraph.md": _langgraph,
        DOCS / "adapters" / "conformance.md": _conformance,
        DOCS / "semantics.md": lambda: filled((DOCS / "semantics.md").read_text("utf-8")),
        DOCS / "api.md": api_page,
        DOCS / "faults.md": faults.page,
        SHIPPED: schema_text,
        **{DOCS / f"{name}.md": partial(_guide, name) for name in GUIDES},
        DOCS / "patterns.md": lambda: overview(
            each for members in families().values() for each in members
        ),
        **{
            DOCS / "patterns" / f"{family}.md": partial(family_page, members)
            for family, members in families().items()
        },
    }
)


def named(names: Iterable[str]) -> Mapping[Path, Callable[[], str]]:
    """The pages of these file names; all, if there are none. Raises `SystemExit` for another."""
    wanted = set(names)
    if unknown := sorted(wanted - {path.name for path in PAGES}):
        known = ", ".join(sorted(path.name for path in PAGES))
        raise SystemExit(f"no page is called {', '.join(unknown)}; known: {known}")
    return {path: make for path, make in PAGES.items() if not wanted or path.name in wanted}


if __name__ == "__main__":
    for path, make in named(each for each in sys.argv[1:] if each != "--write").items():
        text = make()
        if "--write" in sys.argv:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
        print(f"{path.name}: {len(text.splitlines())} lines")
