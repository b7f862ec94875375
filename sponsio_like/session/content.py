"""Chooses what of an agent's content a decision log writes: nothing, unless it was asked for.

In: what a guard is told to log, such as `args`, `args.refund.amount`, `outputs`. Out: the arguments
of one call that may be written, and the names of those that may not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from sponsio_like.errors import ContractError, closest

Kind: TypeAlias = Literal["args", "outputs", "texts", "facts", "advice"]
KINDS: tuple[Kind, ...] = ("args", "outputs", "texts", "facts", "advice")
"""The kinds of content: of what calls, tools' answers, messages, facts and refusals say."""
CACHE_CAP = 1_000


class Content:
    """The content that is written.

    A choice is a kind (`args`); or one name of it (`args.refund`, `outputs.lookup`, `texts.user`,
    `facts.stage`); or one argument (`args.refund.amount`, `args.*.amount`).
    """

    def __init__(self, chosen: Iterable[str] = ()) -> None:
        self.chosen = frozenset(chosen)
        self._whole: dict[tuple[Kind, str], bool] = {}
        self._fields: dict[str, frozenset[str]] = {}

    def __repr__(self) -> str:
        return f"Content({sorted(self.chosen)})"

    def has(self, kind: Kind, name: str = "") -> bool:
        """Return True if all that this tool, role or fact says in this way is written."""
        found = self._whole.get((kind, name))
        if found is None:
            found = bool({kind, f"{kind}.{name}", f"{kind}.*"} & self.chosen)
            if len(self._whole) < CACHE_CAP:
                self._whole[kind, name] = found
        return found

    def args(self, tool: str, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a record that tell the arguments of a call.

        `args` has those that are written; `withheld` the names of the others, if some are written.
        """
        if self.has("args", tool):
            return {"args": args}
        fields = self._of(tool)
        if not fields:
            return {}
        kept = {name: value for name, value in args.items() if name in fields}
        rest = sorted(name for name in args if name not in fields)
        return {"args": kept, "withheld": rest} if rest else {"args": kept}

    def _of(self, tool: str) -> frozenset[str]:
        found = self._fields.get(tool)
        if found is None:
            heads = (f"args.{tool}.", "args.*.")
            each = ((one, head) for one in self.chosen for head in heads if one.startswith(head))
            found = frozenset(one[len(head) :] for one, head in each)
            if len(self._fields) < CACHE_CAP:
                self._fields[tool] = found
        return found


def read_content(given: Any, *, log_args: bool = False) -> Content:
    """Return the content that a guard logs. Raises `ContractError` for what is no choice."""
    if given is True:
        return Content(KINDS)
    each = () if given is False else given
    if isinstance(each, str) or not isinstance(each, Iterable):
        raise ContractError.of(
            f"log_content={given!r} is no list", 'write log_content=["args", "outputs"], or True'
        )
    chosen = ["args", *each] if log_args else list(each)
    for one in chosen:
        kind = one.partition(".")[0] if isinstance(one, str) else ""
        if kind not in KINDS or one.endswith("."):
            hint = closest(kind, KINDS) or f"it begins with one of {', '.join(KINDS)}"
            raise ContractError.of(f"log_content has {one!r}, which is no content", hint)
    return Content(chosen)


NOTHING = Content()
ARGUMENTS = Content(["args"])
