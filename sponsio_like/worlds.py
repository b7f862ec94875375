"""Stores for the state of contracts on the world, outside of every snapshot.

In: the id of a session. Out: a transaction on its entry: read JSON data or None, replace it.
Nothing that a host rewinds (a checkpoint, a snapshot) rewinds an entry.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    import sqlite3

Data: TypeAlias = Mapping[str, Any]
"""JSON data; never changed, only replaced."""


class Entry(Protocol):
    """The state of one session in the store, within a transaction."""

    def read(self) -> Data | None:
        """Return the data of the entry; None if there is none yet."""

    def replace(self, data: Data) -> None:
        """Replace the data. It counts when the transaction ends, and not if that raises."""


@runtime_checkable
class World(Protocol):
    """A store of entries. A session asks it at each decision and each result."""

    def entry(self, id: str) -> AbstractContextManager[Entry]:
        """Return a transaction on the entry of the session `id`: all of it happens, or nothing.

        No two run at once, wherever they are: the second one waits, or raises. One that is left by
        an exception has changed nothing. It must not call a session.
        """


@runtime_checkable
class Processes(Protocol):
    """A store that knows which of the processes that use it still live."""

    def process(self) -> str:
        """Return the name of this process, as `lives` takes it."""

    def lives(self, process: str) -> bool:
        """True if the process of this name has not ended yet."""


class MemoryWorld:
    """A store in this process, for as long as it lives. Any number of threads may use it."""

    def __init__(self) -> None:
        self._data: dict[str, Data] = {}
        self._lock = threading.Lock()

    @contextmanager
    def entry(self, id: str) -> Iterator[Entry]:
        """Open a transaction on the entry of the session `id`."""
        with self._lock:
            entry = _StoredEntry(self._data.get(id))
            yield entry
            if entry.data is not None:
                self._data[id] = entry.data


class _StoredEntry:
    """An entry of a `MemoryWorld`."""

    def __init__(self, data: Data | None) -> None:
        self.data = data

    def read(self) -> Data | None:
        return self.data

    def replace(self, data: Data) -> None:
        self.data = data


_TABLE = "CREATE TABLE IF NOT EXISTS world (id TEXT PRIMARY KEY, data TEXT NOT NULL) WITHOUT ROWID"
_READ = "SELECT data FROM world WHERE id = ?"
_WRITE = "INSERT INTO world VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET data = excluded.data"
_INHERITED: list[sqlite3.Connection] = []
"""Connections of a parent process: a child must not even close them."""


class SqliteWorld:
    """A store in a SQLite file, for the threads and processes of one machine.

    `timeout` is the number of seconds to wait for others; then the transaction raises. An entry is
    on the disk before a call is let through; with `durable=False` only the operating system has it
    by then, and a power failure may lose the latest calls.
    """

    def __init__(self, path: str | Path, *, timeout: float = 5.0, durable: bool = True) -> None:
        self._path = os.fspath(path)
        self._timeout = timeout
        self._sync = "FULL" if durable else "NORMAL"
        self._idle: list[sqlite3.Connection] = []
        self._process = os.getpid()
        weakref.finalize(self, _close, self._idle)
        self._prepare()

    @contextmanager
    def entry(self, id: str) -> Iterator[Entry]:
        """Open a transaction on the entry of the session `id`.

        SQLite locks all entries meanwhile.
        """
        connection = self._connection()
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield _Row(connection, id)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.rollback()
            self._idle.append(connection)

    def process(self) -> str:
        """Return the name of this process, as `lives` takes it."""
        return str(_presence(self._path)[1])

    def lives(self, process: str) -> bool:
        """True if the process of this name, on this machine, has not ended yet."""
        file, own = _presence(self._path)
        return int(process) == own or _is_locked(file, int(process))

    def close(self) -> None:
        """Close the file. It is opened again when it is needed."""
        _close(self._idle)

    def _connection(self) -> sqlite3.Connection:
        """Return an idle connection; a new one if there is none."""
        if self._process != os.getpid():
            _INHERITED.extend(self._idle)
            self._idle.clear()
            self._process = os.getpid()
        try:
            return self._idle.pop()
        except IndexError:
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        import sqlite3  # only hosts with such a store need it

        connection = sqlite3.connect(
            self._path, timeout=self._timeout, isolation_level=None, check_same_thread=False
        )
        connection.execute(f"PRAGMA synchronous = {self._sync}")
        return connection

    def _prepare(self) -> None:
        """Create the file and its table; if others are doing so, try again until the timeout."""
        import sqlite3

        until = time.monotonic() + self._timeout
        while True:
            connection = self._connect()
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute(_TABLE)
            except sqlite3.OperationalError:
                connection.close()
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)
            else:
                self._idle.append(connection)
                return


class _Row:
    """An entry as a row of the table; only within its transaction."""

    def __init__(self, connection: sqlite3.Connection, id: str) -> None:
        self._connection = connection
        self._id = id

    def read(self) -> Data | None:
        row = self._connection.execute(_READ, (self._id,)).fetchone()
        return None if row is None else json.loads(row[0])

    def replace(self, data: Data) -> None:
        text = json.dumps(data, separators=(",", ":"))
        self._connection.execute(_WRITE, (self._id, text))


_PRESENT: dict[str, tuple[int, int, int]] = {}
"""By path: the process that has opened the file of processes, the file, and the byte that it locks.
It stays open: the operating system ends all its locks with the first file that is closed."""


def _presence(path: str) -> tuple[int, int]:
    """Return the file of processes, and the byte of it that this process locks while it lives."""
    import fcntl  # only hosts with such a store need it

    process, file, own = _PRESENT.get(path, (0, -1, 0))
    if process != os.getpid():
        file = os.open(f"{path}-processes", os.O_RDWR | os.O_CREAT, 0o600)
        own = secrets.randbits(62)
        fcntl.lockf(file, fcntl.LOCK_EX, 1, own)
        _PRESENT[path] = os.getpid(), file, own
    return file, own


def _is_locked(file: int, byte: int) -> bool:
    import fcntl

    try:
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, byte)
    except OSError:
        return True
    fcntl.lockf(file, fcntl.LOCK_UN, 1, byte)
    return False


def _close(connections: list[sqlite3.Connection]) -> None:
    while connections:
        connections.pop().close()
