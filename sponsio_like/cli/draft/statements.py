"""Splits the answer of a model into statements; one that cannot be read costs only itself.

In: text, with YAML in fenced blocks or bare. Out: `Statement`s: the data of each contract, or why
it cannot be read. Nothing is imported, resolved or run: YAML is read as data alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sponsio_like.cli.draft.yaml_text import flow, one_line
from sponsio_like.contracts import parse
from sponsio_like.errors import ContractError, SponsioLikeError, closest

ANSWER_CHARS = 200_000
"""The longest answer that is read."""
STATEMENTS_CAP = 100
"""The most statements of one answer."""
STATEMENT_CHARS = 4_000
"""The longest statement, written on one line."""
NAME_CHARS = 120
"""The longest name of a contract."""

LANGUAGES = ("", "yaml", "yml")
BEGINS = re.compile(r"( *)- +['\"]?(?:name|quote|guarantee|assume|scope|strategy)['\"]? *:")
STRATEGIES = ("block", "escalate", "redirect_to_safe", "warn_only")
"""The strategies that a draft may have: none of them runs code or has an address."""
LEFT_OUT = {"mode": "a draft observes", "world": "whether it is on the world, you decide"}
"""The keys of contracts that a draft does not have, each with the reason."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement as it was given. `data` is its content; if it has none, `reason` says why."""

    text: str
    data: Any = None
    reason: str = ""


def statements(answer: str) -> list[Statement]:
    """Return the statements of an answer, in order. Raises `SponsioLikeError` if it is too long."""
    if len(answer) > ANSWER_CHARS:
        raise SponsioLikeError(
            f"the answer has {len(answer):,} characters; at most {ANSWER_CHARS:,} are read"
        )
    blocks = fenced(answer) or [answer]
    found = [statement for block in blocks for statement in _in_block(block)]
    over = len(found) - STATEMENTS_CAP
    if over > 0:
        reason = f"only the first {STATEMENTS_CAP} statements are read"
        found[STATEMENTS_CAP:] = [Statement(f"({over} more)", None, reason)]
    return found


def fenced(answer: str) -> list[str]:
    """Return the fenced blocks that may be YAML; one that is not closed ends with the text."""
    blocks: list[list[str]] = []
    block: list[str] = []
    fence = ""
    for line in answer.split("\n"):
        mark = line.strip()
        if fence and mark.startswith(fence) and not mark.strip(fence[0]):
            fence = ""
        elif fence:
            block.append(line)
        elif mark.startswith(("```", "~~~")):
            fence, block = mark[:3], []
            if mark.strip("`~").strip().lower() in LANGUAGES:
                blocks.append(block)
    return ["\n".join(lines) for lines in blocks]


def _in_block(block: str) -> list[Statement]:
    """Return the statements of a list of contracts.

    If the block is not YAML as a whole, its items are read one by one.
    """
    try:
        document = parse(block)
        items = _items(document.data) if not document.problems else None
        reason = "this is no list of contracts"
    except ContractError as error:
        items, reason = None, why(error)
    if items is not None:
        return [Statement(statement_line(item), item) for item in items] + _beside(document.data)
    pieces = list(_pieces(block))
    return [_piece(text) for text in pieces] or [Statement(block.strip(), None, reason)]


def _items(data: Any) -> list[Any] | None:
    match data:
        case {"contracts": [*items]} | [*items]:
            return items
        case {"guarantee": _}:
            return [data]
    return None


def _beside(data: Any) -> list[Statement]:
    """Return a refused statement for each key beside the contracts, which is not read."""
    keys = () if isinstance(data, list) or "contracts" not in data else data
    reason = "is not part of a draft; write each contract by itself"
    return [
        Statement(statement_line({key: data[key]}), None, f"`{one_line(key)}` {reason}")
        for key in keys
        if key not in ("version", "mode", "tools", "contracts")
    ]


def _pieces(block: str) -> Iterator[str]:
    """Yield the items of the outermost list that looks like one of contracts, each by itself."""
    indent: int | None = None
    piece: list[str] = []
    for line in block.split("\n"):
        begins = BEGINS.match(line)
        if begins and indent in (None, len(begins[1])):
            indent = len(begins[1])
            if piece:
                yield "\n".join(piece)
            piece = [line]
        elif piece and (not line.strip() or len(line) - len(line.lstrip(" ")) > (indent or 0)):
            piece.append(line)
        elif piece:
            yield "\n".join(piece)
            piece = []
    if piece:
        yield "\n".join(piece)


def _piece(text: str) -> Statement:
    try:
        document = parse(text)
    except ContractError as error:
        return Statement(text.strip(), None, why(error))
    if document.problems:
        return Statement(text.strip(), None, why(ContractError(*document.problems)))
    return Statement(statement_line(document.data[0]), document.data[0])


def why(error: ContractError) -> str:
    """Return the mistakes in words, without their places in a text that is not kept."""
    return "; ".join(f"{p.what} ({p.hint})" if p.hint else p.what for p in error.problems)


def statement_line(data: Any) -> str:
    """Return a statement on one line, shortened; its quotation comes last."""
    if isinstance(data, Mapping) and "quote" in data:
        data = {**{key: value for key, value in data.items() if key != "quote"}, **data}
    text = flow(data)
    return text if len(text) <= STATEMENT_CHARS else text[:STATEMENT_CHARS] + ".."


# --- what a draft may say -------------------------------------------------------------------------


def objections(data: Any) -> list[str]:
    """Return what is wrong with some data as a statement, before anything of it is loaded."""
    if not isinstance(data, Mapping):
        return ["a statement is a mapping: {name: .., guarantee: ..}"]
    if len(flow(data)) > STATEMENT_CHARS:
        return [f"a statement of more than {STATEMENT_CHARS:,} characters"]
    found = []
    name = data.get("name")
    if isinstance(name, str) and (len(name) > NAME_CHARS or not name.isprintable()):
        found.append(f"a name is one line of at most {NAME_CHARS} characters that can be seen")
    if "strategy" in data:
        found += _strategy(data["strategy"])
    return found


def _strategy(value: Any) -> Iterator[str]:
    """Yield a mistake for a strategy that a draft may not have.

    Nor may its options have code or an address.
    """
    name, options = value, None
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, options),) = value.items()
    if not isinstance(name, str) or name not in STRATEGIES:
        yield f"strategy `{one_line(str(name))}` is not one of a draft; {closest(name, STRATEGIES)}"
    elif isinstance(options, Mapping) and "notify" in options:
        yield "a draft names nobody to notify: neither code nor an address of a model is followed"
