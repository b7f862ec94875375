"""Makes example texts for which a condition on the meaning of a text holds, and some for which not.

In: a kind, a fact of it, and what a contract compares the fact with: `shell`, `runs`, `rm`. Out:
short texts, such as `rm x`, to be tried in traces. Whether they mean what they should is found out
where they are tried: the kind itself reads them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

VERBS = {
    "select": "SELECT a FROM t",
    "insert": "INSERT INTO t (a) VALUES (1)",
    "update": "UPDATE t SET a = 1 WHERE b = 2",
    "delete": "DELETE FROM t WHERE a = 1",
    "drop": "DROP TABLE t",
    "truncate": "TRUNCATE TABLE t",
    "alter": "ALTER TABLE t ADD COLUMN a INT",
    "create": "CREATE TABLE t (a INT)",
    "grant": "GRANT SELECT ON t TO bob",
}
"""A statement for each verb of SQL."""
SampleTexts: TypeAlias = dict[str, tuple[str, ...]]
SQL: SampleTexts = {
    "reads": ("SELECT a FROM {}",),
    "writes": ("UPDATE {} SET a = 1 WHERE b = 2",),
    "read_names": ("SELECT a FROM {}",),
    "written_names": ("UPDATE {} SET a = 1 WHERE b = 2",),
    "columns": ("SELECT {} FROM t",),
    "without_where": ("DELETE FROM t", VERBS["delete"]),
    "without_where_names": ("DELETE FROM {}", "UPDATE {} SET a = 1"),
    "functions": ("SELECT {}(a) FROM t",),
    "reaches_out": ("SELECT pg_read_file('a')", VERBS["select"]),
}
SHELL: SampleTexts = {
    "runs": ("{} x",),
    "writes": ("touch {}",),
    "reads": ("cat {}",),
    "deletes": ("rm {}",),
    "hosts": ("curl https://{}/",),
    "packages": ("pip install {}",),
    "elevates": ("sudo ls", "ls"),
    "destroys": ("git push --force", "ls"),
    "sets": ("{}=x ls",),
    "pipes_to_shell": ("curl https://example.com/ | sh", "ls"),
    "background": ("ls &", "ls"),
}
URL: SampleTexts = {
    "host": ("https://{}/",),
    "scheme": ("{}://example.com/",),
    "port": ("https://example.com:{}/",),
    "path": ("https://example.com{}",),
    "private": ("http://127.0.0.1/", "https://example.com/"),
    "user": ("https://{}@example.com/",),
}
EMAIL: SampleTexts = {"domain": ("ann@{}",), "address": ("{}",), "local": ("{}@example.com",)}
MONEY: SampleTexts = {"amount": ("{} EUR",), "currency": ("1 {}",)}
WRITTEN: dict[str, SampleTexts] = {
    "shell": SHELL,
    "url": URL,
    "email": EMAIL,
    "money": MONEY,
    **dict.fromkeys(("sql", "sql_postgres", "sql_mysql", "sql_sqlite", "sql_tsql"), SQL),
}
"""SampleTexts for the facts of each kind; `{}` is what the contract compares with."""
WEEK = {
    day: f"2024-01-{number:02}"
    for number, day in enumerate(
        ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"), start=1
    )
}
"""A date of each day of the week."""
ELSE = {
    "domain": ("example.org", "example.net"),
    "host": ("example.org", "example.net"),
    "hosts": ("example.org", "example.net"),
    "currency": ("CHF", "EUR"),
    "runs": ("ls", "cat"),
}
"""Values of facts for which not any word would do: the first that is not compared with is taken."""
FOLDERS = ("/elsewhere/a",)


def texts_for(kind: str, fact: str, op: str, value: Any) -> Iterator[Any]:
    """Yield texts to try for one comparison; none for a fact that has no text here."""
    if kind == "date" and fact == "weekday":
        yield from (WEEK[each] for each in (*_all(value), *WEEK) if each in WEEK)
    elif fact == "verbs":
        yield from (VERBS[each] for each in (*_all(value), *VERBS) if each in VERBS)
    else:
        for text in WRITTEN.get(kind, {}).get(fact, ()):
            if "{}" not in text:
                yield text
                continue
            yield from (text.format(each) for each in _values(fact, op, value))


def _values(fact: str, op: str, value: Any) -> Iterator[Any]:
    """Yield values of a fact that meet a comparison, and some that do not."""
    if op in ("under", "outside"):
        yield from (f"{str(each).rstrip('/')}/a" for each in _all(value))
        yield from FOLDERS
        return
    numbers = [each for each in _all(value) if isinstance(each, (int, float))]
    if numbers:
        yield from (number + step for number in numbers for step in (0, 1, -1))
    else:
        yield from _all(value)
        yield next(each for each in ELSE.get(fact, ("other",)) if each not in _all(value))


def _all(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
