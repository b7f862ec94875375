"""Runs the command `draft` as a whole: files and a model in, a contract file and a report out.

In: a `DraftRequest`. Out: a `DraftResult`, told as a table, as lines for people, as JSON. A person
reads what was drafted; nothing of it is enforced until they say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from sponsio_like.cli.draft.client import ANSWER_BYTES, TIMEOUT, Completion, ask
from sponsio_like.cli.draft.draft import Draft, drafted, try_contracts
from sponsio_like.cli.draft.observed import ObservedTools, signature_of
from sponsio_like.cli.draft.prompt import chat_messages
from sponsio_like.cli.draft.yaml_text import one_line
from sponsio_like.contracts import SCHEMA_NAME, catalog, modeline, schema_text
from sponsio_like.errors import SponsioLikeError
from sponsio_like.replay import Summary, read_all
from sponsio_like.terminal import Styled, Table, counted

SPECIFICATION_BYTES = 400_000
"""The longest specification, as it is stored."""
SHOWN_CHARS = 200
"""The most characters of a refused statement, or a reason, that are printed; JSON has all of it."""


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """The options of one draft. `answer` is a file that has the answer of the model."""

    specification: Path
    traces: tuple[Path, ...]
    endpoint: str | None = None
    model: str | None = None
    answer: Path | None = None
    timeout: float = TIMEOUT
    values: bool = True
    out: Path | None = None

    def check(self) -> None:
        """Raise `SponsioLikeError` for what cannot work, before anything is read or asked."""
        if not self.traces:
            raise SponsioLikeError("no traces to ground in; give recorded runs with --traces FILE")
        for path in self.traces:
            if path.exists() and not path.is_file():
                raise SponsioLikeError(f"{path}: traces are read twice, so they must be a file")
        if self.out is not None and self.out.exists():
            raise SponsioLikeError(f"{self.out}: is there already; choose another file")
        if not 0 < self.timeout <= 86_400:
            raise SponsioLikeError(f"--timeout {self.timeout:g} is no number of seconds above 0")


@dataclass(frozen=True, slots=True)
class DraftResult:
    """A draft, what it would have done on the traces, and notes on what was odd."""

    draft: Draft
    summary: Summary
    signature: ObservedTools
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return a row for each kept contract: what it would have done."""
        return self.summary.table()

    def page(self) -> list[Styled]:
        """Return the notes, the refused statements, and the totals, as lines for people."""
        kept, refused = self.draft.kept, self.draft.refused
        page: list[Styled] = []
        odd = [each for each in kept if each.notes]
        if odd:
            page += [("", ""), ("to look at", "bold")]
        for each in odd:
            page += [(f"  {each.name}", ""), *((f"    {note}", "dim") for note in each.notes)]
        if refused:
            page += [("", ""), ("refused", "bold")]
        for no in refused:
            page.append((f"  {_shortened(no.text)}", ""))
            page += [(f"    {_shortened(reason)}", "dim") for reason in no.reasons]
        page += [("", ""), *((note, "") for note in self.notes)]
        return [
            *page,
            (f"kept {len(kept)} of {counted(len(kept) + len(refused), 'statement')}", ""),
        ]

    def as_json(self) -> dict[str, Any]:
        """Return all of it, for programs."""
        return {
            "traces": self.signature.traces,
            "calls": self.signature.calls,
            "kept": [
                {
                    "name": each.name,
                    "statement": dict(each.data),
                    "quote": each.quote,
                    "notes": list(each.notes),
                    "judged": each.tried.judged,
                    "broken": each.tried.broken,
                }
                for each in self.draft.kept
            ],
            "refused": [
                {"statement": no.text, "reasons": list(no.reasons)} for no in self.draft.refused
            ],
            "notes": list(self.notes),
            "contracts": self.draft.text if self.draft.kept else None,
        }


def _shortened(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= SHOWN_CHARS else f"{line[:SHOWN_CHARS]}.."


def prompt_for(order: DraftRequest, progress: IO[str] | None = None) -> list[dict[str, str]]:
    """Return the messages that would be sent to a model. Raises `SponsioLikeError`."""
    order.check()
    return _messages(order, _specification(order), _signature(order, progress))


def run_draft(order: DraftRequest, progress: IO[str] | None = None) -> DraftResult:
    """Draft contracts, and write them to `out` if any were kept. Raises `SponsioLikeError`."""
    order.check()
    specification, signature = _specification(order), _signature(order, progress)
    answer = _answer(order, specification, signature)
    draft = drafted(answer.text, specification, signature)
    summary = Summary(())
    if draft.kept:
        draft = replace(draft, about=tuple(_about(order, draft, signature)))
        draft, summary = try_contracts(draft, read_all(order.traces, progress))
        if order.out is not None:
            _save(order.out, f"{modeline()}\n{draft.text}")
            beside = order.out.with_name(SCHEMA_NAME)
            if not beside.exists():
                _save(beside, schema_text())
    return DraftResult(draft, summary, signature, tuple(_notes(answer, signature)))


# --- its parts ------------------------------------------------------------------------------------


def _specification(order: DraftRequest) -> str:
    text = _text(order.specification, SPECIFICATION_BYTES)
    if not text.strip():
        raise SponsioLikeError(f"{order.specification}: the specification is empty")
    return text


def _signature(order: DraftRequest, progress: IO[str] | None) -> ObservedTools:
    signature = signature_of(read_all(order.traces, progress))
    if not signature.tools:
        raise SponsioLikeError("the traces have no calls, so nothing can be grounded in them")
    return signature


def _messages(
    order: DraftRequest, specification: str, signature: ObservedTools
) -> list[dict[str, str]]:
    return chat_messages(specification, signature, catalog(), values=order.values)


def _answer(order: DraftRequest, specification: str, signature: ObservedTools) -> Completion:
    if order.answer is not None:
        return Completion(_text(order.answer, ANSWER_BYTES))
    if order.endpoint is None or order.model is None:
        lacks = "--endpoint" if order.endpoint is None else "--model"
        raise SponsioLikeError(
            f"{lacks} is missing: name any OpenAI-compatible server, --endpoint https://host/v1"
            " --model NAME; --prompt shows what would be sent"
        )
    chat = _messages(order, specification, signature)
    return ask(order.endpoint, order.model, chat, timeout=order.timeout)


def _text(path: Path, most: int) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(most + 1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SponsioLikeError(f"{path}: cannot be read: {reason}") from None
    if len(raw) > most:
        raise SponsioLikeError(f"{path}: at most {most:,} bytes are read; split it")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SponsioLikeError(f"{path}: not UTF-8 text") from None


def _save(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SponsioLikeError(f"{path}: cannot be written: {reason}") from None


def _about(order: DraftRequest, draft: Draft, signature: ObservedTools) -> Iterator[str]:
    """Yield the lines at the head of the file."""
    model = f"the model `{order.model}`" if order.model else "a model"
    files = ", ".join(path.name for path in order.traces)
    every = counted(len(draft.kept) + len(draft.refused), "statement")
    seen = f"{counted(signature.traces, 'trace')}, {counted(signature.calls, 'call')}"
    kept = f"{len(draft.kept)} of {every}"
    yield f"Drafted by {model} from `{order.specification.name}`; {kept} were kept."
    yield f"What they name occurs in recorded runs ({files}: {seen})."
    yield "Whether they mean what the specification says, no program has checked: read each of"
    yield "them, and the words that it is from, before you take the line `mode: observe` away."


def _notes(answer: Completion, signature: ObservedTools) -> Iterator[str]:
    if answer.cut:
        yield "the answer was cut off before its end: there may have been more statements"
    if signature.lost:
        yield f"{counted(signature.lost, 'call')} of tools that cannot be named, or are too many"
    for name, tool in signature.tools.items():
        if tool.lost:
            yield f"`{name}` has more fields than are listed"
