"""Measures what reading texts by their kinds costs: commands, queries, addresses, paths.

    python -m campaigns.kind_cost [FOLDER]

In: nothing, or a folder with the corpora of `docs/corpora.md`, whose commands are then read, too.
Out: CPU time of a first reading at its best, also for each 1,024 characters, and of a second one.
"""

# ruff: noqa: T201 - the table is printed

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from campaigns.kinds import CORPORA, texts
from sponsio_like.values import TEXT_KINDS

ROUNDS = 200
PLAIN = (
    *("cd /workspace", "ls -la src", "git status", "git diff HEAD~1", "cat README.md"),
    *('grep -rn "TODO" src/app.py', "python -m pytest -q tests/unit", "mkdir -p build/out"),
    *("cp src/app.py build/out/", 'echo "done" > build/log.txt'),
)
"""Ordinary commands."""
VARIABLES = (
    *("OUT=build/out", 'cd "$HOME/work"', "ls -la $OUT", "git diff $1", 'cat "$OUT/README.md"'),
    *('grep -rn "TODO" ${OUT}/app.py', "python -m pytest -q $OUT/tests 2>&1 | tail -5"),
    *('mkdir -p "$OUT"', 'cp src/app.py "$OUT/"', 'echo "done: $OUT" >> "$OUT/log.txt"'),
)
"""The same with variables and pipes."""
SCRIPT = (
    *('for f in "$OUT"/*.json; do echo "== $f"; jq .id "$f"; done', "N=$(wc -l < log.txt)"),
    *('if [ -f "$OUT/a.txt" ]; then rm -f "$OUT/a.txt"; fi', 'test "$N" -gt 5 && exit 1'),
)
"""Statements that need a tree."""
QUERIES = """
SELECT u.id, u.name, count(o.id) AS orders, sum(o.total) AS spent
FROM users u LEFT JOIN orders o ON o.user_id = u.id
WHERE u.created > '2024-01-01' AND o.status IN ('paid', 'shipped')
GROUP BY u.id, u.name HAVING sum(o.total) > 100 ORDER BY spent DESC LIMIT 20;
UPDATE orders SET status = 'shipped', shipped_at = now() WHERE id = 17 AND status = 'paid';
INSERT INTO log (actor, action, target) VALUES ('ann', 'ship', 17), ('bob', 'ship', 18);
WITH recent AS (SELECT * FROM orders WHERE total > 10)
SELECT r.id, p.title FROM recent r JOIN products p ON p.id = r.product_id
WHERE p.price BETWEEN 5 AND 50;
DELETE FROM sessions WHERE expires < now();
SELECT category, avg(price) FROM products WHERE stock > 0 GROUP BY category;
"""
TEXTS: Sequence[tuple[str, str, str]] = (
    ("plain commands", "shell", "\n".join((PLAIN * 5)[:45])),
    ("commands with variables", "shell", "\n".join((VARIABLES * 3)[:30])),
    ("loops, tests, substitutions", "shell", "\n".join(SCRIPT * 5)),
    ("one command", "shell", "ls -la src"),
    ("queries that all databases read alike", "sql", QUERIES),
    ("the same, with names in quotes", "sql", QUERIES.replace("u.name", 'u."name"')),
    ("one query", "sql", "SELECT id, name FROM users WHERE id = 17"),
    ("an address", "url", "https://api.corp.com/v1/orders?id=17"),
    ("a path", "path", "/workspace/src/app.py"),
)
"""The texts that are read: what they are, the kind, and the text."""


def best(run: Callable[[], object], rounds: int = ROUNDS, each: int = 5) -> float:
    """Return microseconds of CPU time at the best."""
    taken = []
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(each):
            run()
        taken.append((time.process_time() - start) / each)
    return min(taken) * 1e6


def line(name: str, took: float, length: int) -> str:
    """Return a line of the table."""
    return f"{name:42} {length:9,} characters {took:12,.1f} µs {took * 1024 / length:9,.1f} per KB"


def recorded(folder: Path) -> dict[str, list[str]]:
    """Return the recorded shell commands: all of them, and those with a variable."""
    found = [
        text
        for corpus in CORPORA
        for group, text in texts(folder / f"{corpus}.jsonl.gz")
        if "python" not in group
    ]
    whole = [text for text in found if len(text) <= 8_192]  # a longer one is not read
    return {"recorded commands": whole, "those with a `$`": [each for each in whole if "$" in each]}


def main() -> None:
    """Print the table."""
    for name, kind, text in TEXTS:
        read = TEXT_KINDS[kind].read
        print(line(f"{kind}: {name}", best(lambda r=read, t=text: r(t)), len(text)))  # type: ignore[misc]
    for name, kind, text in TEXTS:
        known = TEXT_KINDS[kind]
        took = best(lambda k=known, t=text: k.facts_of(t), 20, 1_000)  # type: ignore[misc]
        print(f"{kind}: {name}, read before: {took:.2f} µs")
    for name, them in recorded(Path(sys.argv[1])).items() if sys.argv[1:] else ():

        def run(them: list[str] = them) -> Any:
            for text in them:
                TEXT_KINDS["shell"].read(text)

        print(line(f"{len(them):,} {name}", best(run, 5, 1), sum(map(len, them))))


if __name__ == "__main__":
    main()
