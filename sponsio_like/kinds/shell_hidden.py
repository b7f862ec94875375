r"""Finds what the tree of a program hides: lines that go on, and substitutions in odd places.

In: a text, its tree, and what has been followed. Out: the text as bash joins it; the substitutions
that are left. Bash takes `\` at the end of a line away before it looks for words, so that `r\` and
`m` on the next line are `rm`; the parser takes it for a blank. Bash runs `$(..)` in a subscript.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

JOINED = re.compile(rb"(?<![\\\s])((?:\\\\)*)((?:\\\n)+)(?=\S)")
"""Lines that are joined between two letters, outside and inside of quotes."""
IN_TEXT = re.compile(r"(?<!\\)((?:\\\\)*)\\\n")
KEPT = frozenset({"raw_string", "ansi_c_string", "ansii_c_string", "comment", "heredoc_body"})
"""Nodes in which the end of a line stays; here-documents are joined where they are expanded."""
ROUNDS = 2
"""Most times that a text is joined: joining may open a quote, in which lines stay."""
RUNS = re.compile(rb"\$\(|`|[<>]\(")
SUBSCRIPT = re.compile(r"\w\[[^\]]*(?:\$\(|`)")
"""A subscript that runs something, once the word is taken for a variable: `'a[$(rm x)]'`."""
NAMING = frozenset(
    {
        *("test", "[", "let", "printf", "unset", "declare", "typeset", "local", "export", "wait"),
        *("readonly", "read", "mapfile", "readarray", "getopts"),
    }
)
"""Commands that take their arguments for names of variables, or for arithmetic."""


def joined(raw: bytes, parse: Callable[[bytes], Any]) -> tuple[bytes, Any]:
    """Return a program whose lines are joined as bash does, and the root of its tree.

    The root is None if joining lines joins others, again and again.
    """
    root = parse(raw)
    for _ in range(ROUNDS):
        parts, at = [], 0
        for found in JOINED.finditer(raw):
            if not _is_kept(root, found.start(2)):
                parts.append(raw[at : found.start(2)])
                at = found.end(2)
        if not parts:
            return raw, root
        raw = b"".join([*parts, raw[at:]])
        root = parse(raw)
    return raw, None


def joined_text(text: str) -> str:
    """Return a here-document that is expanded, with its lines joined."""
    return IN_TEXT.sub(r"\1", text) if "\\\n" in text else text


def _is_kept(root: Any, at: int) -> bool:
    node = root.descendant_for_byte_range(at, at + 1)
    while node is not None:
        if node.type in KEPT:
            return True
        node = node.parent
    return False


def left_out(
    root: Any, raw: bytes, followed: Mapping[int, tuple[Any, bytes]], called: set[str]
) -> Iterator[Any]:
    """Yield the substitutions of a program that nobody has followed; none of uncalled functions."""
    signs = len(RUNS.findall(raw))
    known = 0 if root.has_error else sum([text is raw for _, text in followed.values()])
    if signs == known or not signs:
        return  # each substitution has a sign of its own
    from tree_sitter import QueryCursor

    found = QueryCursor(_substitutions()).captures(root)
    for node in sorted(found.get("run", ()), key=lambda each: each.start_byte):
        if node.id not in followed and _is_reached(node, raw, called):
            yield node


def _is_reached(node: Any, raw: bytes, called: set[str]) -> bool:
    while node is not None:
        if node.type == "function_definition":
            name = node.child_by_field_name("name")
            if (
                name is None
                or raw[name.start_byte : name.end_byte].decode(errors="replace") not in called
            ):
                return False
        if node.type == "heredoc_body":
            return False  # it is expanded as a text of its own, unless its end is quoted
        node = node.parent
    return True


@functools.cache
def _substitutions() -> Any:
    import tree_sitter_bash  # of the extra [kinds]
    from tree_sitter import Language, Query

    wanted = "[(command_substitution) (process_substitution)] @run"
    return Query(Language(tree_sitter_bash.language()), wanted)
