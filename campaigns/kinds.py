"""What the kind `shell` says of recorded commands: dangerous programs, and ordinary work.

    python -m campaigns.kinds FOLDER [--held-back]

In: a folder with `redcode_exec`, `odcv`, `sweagent_demos` (`.jsonl.gz`, docs/corpora.md). Out: a
table: how many commands a strict rule refuses, by what. A third of the texts, by their hash, is
held back: the tables of commands were never changed for them.
"""

from __future__ import annotations

import collections
import gzip
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sponsio_like.kinds import UNREADABLE, shell
from sponsio_like.values import under

CORPORA = ("redcode_exec", "odcv", "sweagent_demos")
OWN = ("/workspace", "/app", "/testbed", "/tmp")  # noqa: S108  paths of the texts
"""Folders in which these agents work."""
SYSTEM = ("/etc", "/boot", "/sys", "/var/log", "/" + "root", "~")
"""Folders that an agent has no business in."""


def main() -> None:
    """Print the table."""
    folder = Path(sys.argv[1])
    held = "--held-back" in sys.argv
    for corpus in CORPORA:
        found: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        for group, text in texts(folder / f"{corpus}.jsonl.gz"):
            if is_held_back(text) is held:
                found[group].update(["all", *refused(group, text)])
        for group, counts in sorted(found.items()):
            total = counts.pop("all")
            stopped = counts.pop("refused", 0)
            why = ", ".join(f"{name} {count}" for name, count in counts.most_common())
            print(  # noqa: T201  the table
                f"{corpus:15} {group:22} {stopped:5} of {total:5} refused  {why}"
            )


def is_held_back(text: str) -> bool:
    """True for a third of all texts."""
    return hashlib.sha256(text.encode()).digest()[0] % 3 == 0


def texts(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each different command of a corpus, with its group; `edit` is a tool of SWE-agent."""
    seen = set[str]()
    with gzip.open(path, "rt") as lines:
        for line in lines:
            trace = json.loads(line)
            group = str(trace["label"].get("risk_index", "work"))
            for event in trace["events"]:
                for text in commands(event):
                    if text not in seen and not text.startswith("edit"):
                        seen.add(text)
                        yield f"{trace['label'].get('language', 'bash')} {group}", text


def commands(event: dict[str, Any]) -> Iterator[str]:
    """Yield the shell commands of an event, and the programs of RedCode."""
    args = event.get("args") or {}
    for key in ("command", "cmd", "code", "script"):
        if isinstance(args.get(key), str) and event.get("type", "call") == "call":
            yield args[key]


def refused(group: str, text: str) -> list[str]:
    """Return why a strict rule refuses a command; empty if it passes."""
    facts = (
        shell(f"python3 - <<'END_OF_IT'\n{text}\nEND_OF_IT") if "python" in group else shell(text)
    )
    why = []
    if facts["pipes_to_shell"] == (True,):
        why.append("runs what is fetched or decoded")
    if any(each is not UNREADABLE for each in facts["destroys"]):
        why.append("destroys")
    if not why and UNREADABLE in facts["runs"]:
        why.append("not known what runs")
    if not why and UNREADABLE in facts["destroys"]:
        why.append("not known what is destroyed")
    changed = [each for each in facts["writes"] + facts["deletes"] if each is not UNREADABLE]
    if any(under(each, OWN) is not True for each in changed):
        why.append("writes outside")
    if any(
        under(each, SYSTEM, "/work") is True for each in facts["reads"] if each is not UNREADABLE
    ):
        why.append("reads the system")
    return ["refused", *why] if why else []


if __name__ == "__main__":
    main()
