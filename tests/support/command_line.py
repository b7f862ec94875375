"""Runs the command line in this process, in milliseconds; a new interpreter takes a second."""

from __future__ import annotations

import io
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from unittest import mock

from sponsio_like.cli import main


def run_command(*words: object, stdin: str = "", cwd: Path | None = None) -> CompletedProcess[str]:
    """Return the status of `sponsio-like WORDS`, and what it printed."""
    told = ["sponsio-like", *map(str, words)]
    out, err, status = io.StringIO(), io.StringIO(), 0
    with (
        chdir(cwd or Path.cwd()),
        mock.patch.object(sys, "argv", list(told)),
        mock.patch.object(sys, "stdin", io.StringIO(stdin)),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            status = int(end.code or 0)
    return CompletedProcess(told, status, out.getvalue(), err.getvalue())
