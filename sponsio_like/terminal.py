"""Prints tables and pages, as plain text or drawn on a terminal, and a progress bar.

In: a `Table`. Out: lines. Plain text is never cut or wrapped, so that it can be piped; a terminal
gets colours and columns that fit.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import IO, TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

Align: TypeAlias = Literal["left", "right"]
Cell: TypeAlias = str | int
Styled: TypeAlias = tuple[str, str]
"""A line and its style, such as `bold` or `dim`."""

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
NEVER_APPLIED = "never applied"
PATIENCE = 1.0
"""The seconds after which a progress bar appears."""


@dataclass(frozen=True, slots=True)
class Table:
    """Columns with their names, and rows. Numbers stand to the right.

    `styles`: how a terminal shows the numbers of a column that are not zero, by its name.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    styles: Mapping[str, str] = field(default_factory=dict)

    def without_zeros(self, *names: str) -> Table:
        """Return the table without those of the named columns that have nothing but zeros."""
        kept = [
            i
            for i, name in enumerate(self.columns)
            if name not in names or any(row[i] != 0 for row in self.rows)
        ]
        rows = tuple(tuple(row[i] for i in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[i] for i in kept), rows=rows)

    def align(self, column: int) -> Align:
        """Return the side on which the cells of a column stand: right for numbers."""
        cells = [row[column] for row in self.rows]
        return "right" if cells and all(isinstance(cell, int) for cell in cells) else "left"


def plain(table: Table) -> str:
    """Return the table as text, with columns two blanks apart."""
    lines = [table.columns, *(tuple(shown(cell) for cell in row) for row in table.rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.columns))]
    out = [table.title] if table.title else []
    for line in lines:
        cells = [
            cell.rjust(width) if table.align(i) == "right" else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        out.append("  ".join(cells).rstrip())
    return "\n".join(out)


def shown(cell: Cell) -> str:
    """Return a cell on one line; a zero is a dot, so that numbers stand out."""
    if isinstance(cell, int):
        return f"{cell:,}" if cell else "."
    return clean(" ".join(cell.split()))


def clean(text: str) -> str:
    """Return the text without control characters, so that no attacker steers a terminal."""
    return CONTROL.sub(lambda sign: f"\\x{ord(sign[0]):02x}", text)


def print_table(table: Table, console: Console) -> None:
    """Draw the table on a terminal; write it plainly anywhere else."""
    from rich import box
    from rich.table import Table as Drawn
    from rich.text import Text

    if not console.is_terminal:
        console.out(plain(table), highlight=False)
        return
    title = Text(table.title, style="bold") if table.title else None
    drawn = Drawn(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    drawn.collapse_padding = True
    for i, name in enumerate(table.columns):
        narrowest = max(map(len, name.split()))
        drawn.add_column(name, justify=table.align(i), min_width=narrowest, overflow="fold")
    styles = [table.styles.get(name, "") for name in table.columns]
    for row in table.rows:
        cells = zip(row, styles, strict=True)
        drawn.add_row(*(Text(shown(cell), "dim" if cell == 0 else style) for cell, style in cells))
    console.print(drawn)


def console_for(
    stream: IO[str], *, terminal: bool | None = None, width: int | None = None
) -> Console:
    """Return a console that only colours on a terminal, and takes brackets in texts as they are.

    `terminal` and `width` are found out unless they are given.
    """
    from rich.console import Console

    return Console(
        file=stream,
        force_terminal=terminal,
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
    )


class LateProgress:
    """A progress bar on a terminal, which appears only when the work takes more than a second."""

    def __init__(
        self, total: int, stream: IO[str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._total = total
        self._stream = stream
        self._clock = clock
        self._start = clock()
        self._shows = stream.isatty()
        self._bar: Progress | None = None
        self._before = 0

    def __call__(self, done: int) -> None:
        """Show that so many bytes of the present file are done."""
        if not self._shows or (self._bar is None and self._clock() - self._start < PATIENCE):
            return
        if self._bar is None:
            from rich.progress import Progress

            self._bar = Progress(
                console=console_for(self._stream),
                transient=True,
                redirect_stdout=False,  # what is printed goes where it is piped
                redirect_stderr=False,
            )
            self._bar.add_task("replaying", total=self._total)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=self._before + done)

    def next_file(self, size: int) -> None:
        """Count a file of this size as done."""
        self._before += size

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()


def print_page(page: Iterable[Styled], console: Console) -> None:
    """Print lines with their styles, as they are; on a terminal, long ones are wrapped."""
    if not console.is_terminal:
        lines = [clean(text) for text, _ in page]
        if lines:
            console.out("\n".join(lines), highlight=False)
        return
    for text, style in page:
        body = text.lstrip(" ")
        print_wrapped(body, style, len(text) - len(body), console)


def print_all(*parts: Table | Iterable[Styled], stream: IO[str] | None = None) -> None:
    """Print tables and pages on a stream; on standard output, if none is given."""
    console = console_for(stream or sys.stdout)
    for each in parts:
        if isinstance(each, Table):
            print_table(each, console)
        else:
            print_page(each, console)


def print_wrapped(text: str, style: str, indent: int, console: Console) -> None:
    """Print a text in the width of the console, every line of it indented."""
    from rich.text import Text

    for line in Text(clean(text), style=style).wrap(console, max(console.width - indent, 20)):
        line.rstrip()
        console.print(Text(" " * indent).append_text(line), soft_wrap=True)


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 trace`, `2 traces`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def backticked(words: Sequence[str]) -> str:
    """Return words in backticks: `a`, `b`."""
    return ", ".join(f"`{word}`" for word in words)


def never_applied(names: Sequence[str]) -> str:
    """Return the line on contracts that never applied: perhaps tools have other names here."""
    them = "it" if len(names) == 1 else "them"
    return f"{NEVER_APPLIED}: {backticked(names)}; compare the names in {them} with your agent's"
