"""Loads a decision log into an embedded database, so that a large one is counted quickly.

In: log files, and what of them is asked for. Out: a connection with the table `log`, a row a
record, and `told`, those of them that count: without calls that were held and ran later.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sponsio_like.errors import SponsioLikeError, TraceError
from sponsio_like.replay.part import LogPart

VIOLATION = (
    "STRUCT(contract VARCHAR, position BIGINT, tool VARCHAR, action VARCHAR, mode VARCHAR, "
    "message VARCHAR, because VARCHAR, owner VARCHAR, severity VARCHAR, tags VARCHAR[])[]"
)
COLUMNS = {
    "timestamp": "TIMESTAMP",
    "event": "VARCHAR",
    "session": "VARCHAR",
    "id": "VARCHAR",
    "tool": "VARCHAR",
    "role": "VARCHAR",
    "agent": "VARCHAR",
    "outcome": "VARCHAR",
    "would": "VARCHAR",
    "status": "VARCHAR",
    "digest": "VARCHAR",
    "again": "BOOLEAN",
    "microseconds": "DOUBLE",
    "position": "BIGINT",
    "records": "BIGINT",
    "applied": "VARCHAR[]",
    "args": "JSON",
    "advice": "VARCHAR",
    "violations": VIOLATION,
    "unfulfilled": "STRUCT(contract VARCHAR, message VARCHAR)[]",
    "contracts": "STRUCT(contract VARCHAR, mode VARCHAR, hash VARCHAR)[]",
    "source": "VARCHAR",
}
OF_PART = """
($since IS NULL OR timestamp IS NULL OR timestamp >= CAST($since AS TIMESTAMP))
  AND ($session IS NULL OR session = $session)
  AND ($agent IS NULL OR coalesce(agent, $agent) = $agent)
"""
LOAD = """
CREATE TABLE log AS SELECT * REPLACE (coalesce(event, 'dropped') AS event,
  CASE WHEN event IS NULL THEN 1 ELSE records END AS records)
FROM read_json($paths, format = 'newline_delimited',
  columns = $columns, ignore_errors = true, maximum_object_size = 67108864)
WHERE contracts IS NOT NULL OR (PART)
""".replace("PART", OF_PART)
"""A line that is not JSON has no event: it is a record that is lost, as `traces/logged.py` says."""
LAST = "SELECT max(rowid) FROM log WHERE event = 'dropped' AND timestamp IS NULL"
EMPTIED = """
UPDATE log SET event = 'contracts', session = NULL, outcome = NULL, applied = NULL,
  violations = NULL, unfulfilled = NULL WHERE NOT coalesce((PART), false)
""".replace("PART", OF_PART)
"""Empties records that are kept only because they name the contracts, and are not of the part."""
TOLD = """
CREATE VIEW told AS SELECT rowid AS n, * FROM log WHERE NOT (
  outcome = 'held' AND again IS NULL AND rowid IN (
    SELECT h.rowid FROM log h JOIN log r ON h.session = r.session
      AND coalesce(h.id, '') = coalesce(r.id, '') AND r.rowid > h.rowid
    WHERE h.outcome = 'held' AND h.again IS NULL AND r.again IS NULL
      AND r.outcome IN ('allowed', 'redirected')))
"""


def loaded(paths: Sequence[Path], asked: LogPart, folder: Path) -> Any:
    """Return a connection to a database in this folder with the records of the logs.

    Raises `TraceError` for a file that cannot be read, or has no record of a log.
    """
    database = connected(folder)
    for path in paths:
        if not path.is_file():
            raise TraceError(f"{path}: cannot be read: no such file")
    asks = {"since": asked.since, "session": asked.session, "agent": asked.agent}
    unended = sum(map(_is_torn, paths))
    database.execute(LOAD, {"paths": [str(path) for path in paths], "columns": COLUMNS, **asks})
    database.execute(EMPTIED, asks)
    for _ in range(unended):
        database.execute(f"DELETE FROM log WHERE rowid = ({LAST})")  # noqa: S608 - a text of ours
    some = "SELECT count(*) FROM log WHERE event <> 'dropped' OR timestamp IS NOT NULL"
    if not database.execute(some).fetchone()[0]:
        raise TraceError(f"{', '.join(map(str, paths))}: no record of a decision log is in it")
    database.execute(TOLD)
    return database


def _is_torn(path: Path) -> bool:
    """True if the last line of a log has no end, since its writer was stopped."""
    with path.open("rb") as file:
        file.seek(max(file.seek(0, 2) - 1, 0))
        return file.read(1) not in (b"", b"\n")


def connected(folder: Path) -> Any:
    """Return a new database in this folder. Raises `SponsioLikeError` without the extra."""
    try:
        import duckdb
    except ImportError:
        raise SponsioLikeError(
            "a report as a page needs more: pip install 'sponsio-like[report]'"
        ) from None
    database = duckdb.connect(str(folder / "log.duckdb"))
    database.execute("SET memory_limit = '600MB'")
    database.execute("SET temp_directory = ?", [str(folder / "spilled")])
    return database
