"""What the detectors of personal data and secrets find in recorded runs of agents.

    python -m campaigns.finds FOLDER [--show DETECTOR]
    python -m campaigns.finds FOLDER --held-back [DETECTOR]

In: a folder with the corpora of `docs/corpora.md`. Out: for each corpus and detector, how many
texts have something in them, and how many different values; with `--show`, the values in their
surroundings, to be judged by hand. The corpora that are held back were never looked at while the
detectors were written.
"""

from __future__ import annotations

import collections
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sponsio_like.kinds import chosen_detectors, hits

CORPORA = (
    *("agentdojo_benign", "bfcl_multi_turn", "odcv", "redcode_exec", "sweagent_demos"),
    *("tau_reference", "tau_retail_agentverify"),
)
HELD_BACK = ("agentdojo_attacked", "agentdojo_runs_gpt4o", "tau_airline_gpt4o")
AROUND = 30
"""Characters that are shown on each side."""


def main() -> None:
    """Print the table, or the values of one detector."""
    folder = Path(sys.argv[1])
    shown = sys.argv[3:4]
    names = chosen_detectors(shown or ("personal", "secrets"))
    for corpus in HELD_BACK if "--held-back" in sys.argv else CORPORA:
        size, count, with_some = 0, 0, collections.Counter[str]()
        values: dict[str, dict[str, str]] = collections.defaultdict(dict)
        for text in different_texts(folder / f"{corpus}.jsonl.gz"):
            size, count = size + len(text), count + 1
            found = hits(text, names)
            with_some.update({hit.name for hit in found})
            for hit in found:
                near = text[max(0, hit.start - AROUND) : hit.end + AROUND].replace("\n", " ")
                values[hit.name].setdefault(hit.value, near)
        line = f"{corpus:24} {count:6} texts, {size / 1e6:5.1f} MB"
        print(line)  # noqa: T201  the table
        for name in names:
            if values[name]:
                row = f"    {name:16} {with_some[name]:6} texts {len(values[name]):6} values"
                print(row)  # noqa: T201  "
            for value, near in values[name].items() if shown else ():
                print(f"        {value:32} {near}")  # noqa: T201  "


def different_texts(path: Path) -> Iterator[str]:
    """Yield each different text of a corpus: of messages, arguments and answers."""
    seen = set[int]()
    with gzip.open(path, "rt") as lines:
        for line in lines:
            for text in texts_in(json.loads(line).get("events")):
                if hash(text) not in seen and len(text) > 3:
                    seen.add(hash(text))
                    yield text


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text inside of a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from texts_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)


if __name__ == "__main__":
    main()
