"""The answer of a model, taken apart into statements; what cannot be read costs only itself.

In: text, with YAML in fenced blocks or bare. Out: `Statement`s: the data of each contract, or why
it cannot be read. Nothing is imported, resolved or run: data is all that YAML can be here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sponsio_like.contracts.yaml_document import parse
from sponsio_like.drafting.yaml_text import flow, one_line
from sponsio_like.errors import ContractError, SponsioLikeError, closest

ANSWER_CHARS = 200_000
"""Longest answer that is read."""
STATEMENTS_CAP = 100
"""Most statements of one answer."""
STATEMENT_CHARS = 4_000
"""Longest statement, written on one line."""
NAME_CHARS = 120
"""Longest name of a contract."""

LANGUAGES = ("", "yaml", "yml")
BEGINS = re.compile(r"( *)- +['\"]?(?:name|quote|guarantee|assume|scope|strategy)['\"]? *:")
STRATEGIES = ("block", "escalate", "redirect_to_safe", "warn_only")
"""What a draft may answer with: never code, never an address."""
LEFT_OUT = {"mode": "a draft observes", "world": "whether it is on the world, you decide"}
"""Keys of contracts that a draft does not have, and why."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement as it was given. `data`: what it says; without it, `reason` says why not."""

    text: str
    data: Any = None
    reason: str = ""


def statements(answer: str) -> list[Statement]:
    """The statements of an answer, in order. Raises `SponsioLikeError` if it is too long."""
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
    """The fenced blocks that may be YAML; one that is not closed ends with the text."""
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
    """A list of contracts; if it is not YAML as a whole, what is of its single statements."""
    try:
        document = parse(block)
        items = _items(document.data) if not document.problems else None
        reason = "this is no list of contracts"
    except ContractError as error:
        items, reason = None, why(error)
    if items is not None:
        return [Statement(shown(item), item) for item in items] + _beside(document.data)
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
    """What stands beside the contracts, and is not read."""
    keys = () if isinstance(data, list) or "contracts" not in data else data
    reason = "is not part of a draft; write each contract by itself"
    return [
        Statement(shown({key: data[key]}), None, f"`{one_line(key)}` {reason}")
        for key in keys
        if key not in ("version", "mode", "tools", "contracts")
    ]


def _pieces(block: str) -> Iterator[str]:
    """The items of the outermost list that looks like one of contracts, each by itself."""
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
    return Statement(shown(document.data[0]), document.data[0])


def why(error: ContractError) -> str:
    """The mistakes in words; where they stand in a text that nobody keeps is left out."""
    return "; ".join(f"{p.what} ({p.hint})" if p.hint else p.what for p in error.problems)


def shown(data: Any) -> str:
    """A statement on one line, shortened; what it quotes stands at its end."""
    if isinstance(data, Mapping) and "quote" in data:
        data = {**{key: value for key, value in data.items() if key != "quote"}, **data}
    text = flow(data)
    return text if len(text) <= STATEMENT_CHARS else text[:STATEMENT_CHARS] + ".."


# --- what a draft may say -------------------------------------------------------------------------


def objections(data: Any) -> list[str]:
    """What stands against some data as a statement, before anything of it is loaded."""
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
    """A strategy by its name, with options that are neither code nor an address."""
    name, options = value, None
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, options),) = value.items()
    if not isinstance(name, str) or name not in STRATEGIES:
        yield f"strategy `{one_line(str(name))}` is not one of a draft; {closest(name, STRATEGIES)}"
    elif isinstance(options, Mapping) and "notify" in options:
        yield "a draft names nobody to notify: neither code nor an address of a model is followed"
