"""What these tests share: a guard of a file, and the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sponsio_like import Guard
from sponsio_like.cli import main


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], Guard]:
    """Makes a guard of the text of a contract file."""

    def of(text: str) -> Guard:
        path = tmp_path / "contracts.yaml"
        path.write_text(text, "utf-8")
        return Guard.from_yaml(path)

    return of


@pytest.fixture
def run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str]]:
    """Runs the command line in an empty folder; its status, and what it prints."""
    monkeypatch.chdir(tmp_path)

    def command(*words: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["sponsio-like", *words])
        try:
            main()
        except SystemExit as end:
            printed = capsys.readouterr()
            return int(end.code or 0), printed.out + printed.err
        return 0, capsys.readouterr().out

    return command
