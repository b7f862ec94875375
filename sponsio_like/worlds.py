"""Where the state of contracts on the world is kept, outside of every snapshot.

In: the id of a session. Out: a transaction on its entry: read JSON data or None, replace it.
Nothing that a host rewinds (a checkpoint, a snapshot) rewinds an entry.
"""

from __future__ import annotations

import json
import os
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
    """What the world remembers of one session, within a transaction."""

    def read(self) -> Data | None:
        """The data of the entry; None if there is none yet."""

    def replace(self, data: Data) -> None:
        """Put this in its place. It counts when the transaction ends, and not if that raises."""


@runtime_checkable
class World(Protocol):
    """A store of entries. A session asks it at each decision and each result."""

    def entry(self, id: str) -> AbstractContextManager[Entry]:
        """A transaction on the entry of the session `id`: all of it happens, or nothing.

        No two at once, wherever they run: the second one waits, or raises. One that is left by an
        exception has changed nothing. It must not call a session.
        """


class MemoryWorld:
    """A store in this process, for as long as it lives. Any number of threads may use it."""

    def __init__(self) -> None:
        self._data: dict[str, Data] = {}
        self._lock = threading.Lock()

    @contextmanager
    def entry(self, id: str) -> Iterator[Entry]:
        """A transaction on the entry of the session `id`."""
        with self._lock:
            entry = _Kept(self._data.get(id))
            yield entry
            if entry.data is not None:
                self._data[id] = entry.data


class _Kept:
    """An entry as data."""

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

    `timeout`: seconds to wait for others; then the transaction raises. An entry is on the disk
    before a call is let through; with `durable=False` only the operating system has it by then,
    and power that fails may take the latest calls.
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
        """A transaction on the entry of the session `id`; on all entries, as SQLite has it."""
        connection = self._connection()
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield _Row(connection, id)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.rollback()
            self._idle.append(connection)

    def close(self) -> None:
        """Close the file. It is opened again when it is needed."""
        _close(self._idle)

    def _connection(self) -> sqlite3.Connection:
        """One that nobody uses; a new one if there is none."""
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
        """Make the file and its table. Others may be doing so; that is not always waited for."""
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
    """An entry as a row; only within its transaction."""

    def __init__(self, connection: sqlite3.Connection, id: str) -> None:
        self._connection = connection
        self._id = id

    def read(self) -> Data | None:
        row = self._connection.execute(_READ, (self._id,)).fetchone()
        return None if row is None else json.loads(row[0])

    def replace(self, data: Data) -> None:
        text = json.dumps(data, separators=(",", ":"))
        self._connection.execute(_WRITE, (self._id, text))


def _close(connections: list[sqlite3.Connection]) -> None:
    while connections:
        connections.pop().close()
