"""Another table, by one who had read `docs/kinds.md` alone: evasions and honest neighbours.

In: `blind_third.jsonl`, each text with its rule, a contract as a user would write it. Those about
descriptors were added after a first round. `docs/kinds-measured.md` has the scores.
"""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sponsio_like import Allowed, Guard

TEXTS = (Path(__file__).parent / "blind_third.jsonl").read_text("utf-8")
ROWS = [json.loads(line) for line in TEXTS.splitlines()]
NOW = datetime(2026, 11, 27, 18, tzinfo=UTC).timestamp()
COUNT = itertools.count()


def absent(match: str) -> str:
    """Return a guarantee that refuses calls with this in the field."""
    return f"{{pattern: absent, match: {{tool: t, args: {{f: {match}}}}}}}"


def alone(match: str) -> str:
    """Return a guarantee that refuses all calls without this in the field."""
    return f"{{pattern: no_other_call, call: {{tool: t, args: {{f: {match}}}}}}}"


SELECT = alone("{only: [select]}")
RULES = {
    "no_rm": ("shell", absent("{runs: [rm]}")),
    "writes_inside": ("shell", absent("{writes_outside: [/workspace, /dev/null]}")),
    "no_destroy": ("shell", "{pattern: dangerous_bash_commands, tool: t, field: f}"),
    "host_api_sh": ("shell", absent("{hosts: {ne: api.corp.com}}")),
    **{
        f"select_only:{kind}": (kind, SELECT)
        for kind in ("sql", "sql_postgres", "sql_mysql", "sql_sqlite")
    },
    "sql_verbs": ("sql", "{pattern: dangerous_sql_verbs, tool: t, field: f}"),
    "every_row": ("sql", absent("{verbs: [delete_all, update_all]}")),
    "no_users": ("sql", absent("{reads: users}")),
    "private": ("url", absent("{private: true}")),
    "host_api": ("url", alone("{host: {in: [api.corp.com]}}")),
    "scope": ("path", "{pattern: scope_limit, tool: t, fields: [f], paths: [/workspace]}"),
    "mail_corp": ("email", alone("{only: corp.com}")),
    "money100": ("money", alone("{amount: {le: 100}}")),
    "date30": ("date", "{pattern: date_within, tool: t, field: f, last: 2592000}"),
}
"""The kind of the field, and the contract."""


@pytest.fixture(scope="module")
def guards(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Guard]:
    """The guard of each rule."""
    made = {}
    for name, (kind, guarantee) in RULES.items():
        path = tmp_path_factory.mktemp("rule") / "contracts.yaml"
        path.write_text(
            f"version: 1\ntools:\n  t: {{fields: {{f: {kind}}}}}\n"
            f"contracts:\n  - name: c\n    guarantee: {guarantee}\n",
            "utf-8",
        )
        made[name] = Guard.from_yaml(path)
    return made


@pytest.mark.parametrize("rule", RULES)
def test_texts_are_told_right(rule: str, guards: dict[str, Guard]) -> None:
    """What breaks the rule is refused; honest work passes."""
    wrong = []
    for row in ROWS:
        if row["rule"] != rule:
            continue
        session = guards[rule].session(f"s{next(COUNT)}", clock=lambda: NOW)
        passes = isinstance(session.decide("t", {"f": row["text"]}), Allowed)
        if passes is not (row["expect"] == "pass"):
            wrong.append((row["expect"], row["text"]))
    assert wrong == []


@pytest.mark.parametrize(
    "text",
    [
        "https://api.telegram.org/bot123456789:" + "AAJEBlI2y27pfCwiZfa0XjxZbbqJD9y3Hfd/send",
        "AGE-SECRET-" + "KEY-1QCCTD5C5XH0XDJN3Y2Y6TWY66WM70N6394T6PF8JTMV5X4YRLGY5VACW7X",
        "Authorization: Basic " + "xg0emnuxlD5RVWfpz8IDyahM9xiRaFy9",
    ],
)
def test_a_key_is_found(text: str) -> None:
    """Behind `bot` in a URL, of age, and as a header."""
    from sponsio_like.kinds.secret import secrets

    assert secrets(text)["finds"]
