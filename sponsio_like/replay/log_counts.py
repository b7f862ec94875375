"""Counts a decision log by an embedded database.

In: log files, and what of them is asked for. Out: `Facts`: plain rows for the page and for JSON.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from sponsio_like.replay.bounds import lower_bound, upper_bound
from sponsio_like.replay.exact import BY_NAMES, Applications
from sponsio_like.replay.log_database import loaded
from sponsio_like.replay.part import LogPart

Row: TypeAlias = dict[str, Any]
PARTS = ("outcomes", "tools", "agents", "over_time", "sources")


@dataclass(frozen=True, slots=True)
class Facts:
    """The counts of a log. `parts` has rows by outcome, tool, agent and time; `timelines` the
    events of the sessions that are shown.
    """

    totals: Row
    latency: Row
    contracts: list[Row]
    parts: dict[str, list[Row]]
    sessions: list[Row]
    timelines: dict[str, list[Row]]
    counted_by: str = BY_NAMES

    def as_json(self) -> Row:
        """Return the counts as JSON data."""
        return {
            **self.totals,
            "latency": self.latency,
            "contracts": self.contracts,
            **self.parts,
            "sessions_shown": self.sessions,
        }

    def counted_again(self, found: Applications) -> Facts:
        """Return the facts with where contracts applied as the sessions are played again."""
        again = []
        for each in self.contracts:
            name = each["contract"]
            applied = found.counts[name] if name in found.counts else each["applied"]
            again.append({**each, "applied": applied, **_rated(each["broken"], applied)})
        again.sort(key=lambda each: each["applied"] > 0 or each["sessions"] > 0)
        return replace(self, contracts=again, counted_by=found.said())


def facts_of(paths: Sequence[Path], asked: LogPart | None = None) -> Facts:
    """Count log files. Raises `TraceError` for those that cannot be read."""
    import tempfile

    asked = asked or LogPart()
    with tempfile.TemporaryDirectory() as folder:
        database = loaded(paths, asked, Path(folder))
        try:
            return _counted(database, asked)
        finally:
            database.close()


def _counted(database: Any, asked: LogPart) -> Facts:
    def rows(name: str, *values: Any) -> list[Row]:
        done = database.execute(_queries()[name], list(values))
        names = [each[0] for each in done.description]
        return [dict(zip(names, row, strict=True)) for row in done.fetchall()]

    contracts = [each for each in rows("contracts") if asked.contract in (None, each["contract"])]
    beside = {name: rows(name) for name in ("tools_of", "examples", "afterwards", "told_of")}
    for each in contracts:
        mine = {
            name: [row for row in found if row["contract"] == each["contract"]]
            for name, found in beside.items()
        }
        each.update(_rated(each["broken"], each["applied"]))
        each["tools"] = {row["tool"]: row["n"] for row in mine["tools_of"]}
        each["examples"] = mine["examples"]
        each["afterwards"] = next(iter(mine["afterwards"]), None)
        each["advice"] = next((row["advice"] for row in mine["told_of"]), None)
    sessions = rows("sessions")
    timelines = {each["session"]: rows("timeline", each["session"]) for each in sessions}
    parts = {name: rows(name) for name in PARTS}
    return Facts(rows("totals")[0], rows("latency")[0], contracts, parts, sessions, timelines)


def _rated(broken: int, applied: int) -> Row:
    """Return the rate, with the bounds between which the true one is with confidence of 90 %."""
    if not applied or broken > applied:
        return {"rate": None, "low": None, "high": None}
    return {
        "rate": broken / applied,
        "low": lower_bound(broken, applied),
        "high": upper_bound(broken, applied),
    }


@cache
def _queries() -> dict[str, str]:
    text = Path(__file__).with_suffix(".sql").read_text("utf-8")
    parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))
