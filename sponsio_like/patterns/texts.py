"""Texts: what arguments mean, read by their grammar: paths, URLs, commands, queries.

Each function is a pattern; `contracts/declaration.py` tells what its arguments and decorator mean.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

import sponsio_like.logic.formula as f
from sponsio_like.contracts import (
    Duration,
    Field,
    Folder,
    Name,
    Tools,
    calls_of_any,
    default,
    having,
    join,
    narrowed,
    pattern,
    whenever,
)
from sponsio_like.errors import ContractError, closest
from sponsio_like.kinds import SQL_VERBS, host_of, installed
from sponsio_like.logic.formula import Condition, Custom, Formula, conj
from sponsio_like.patterns.phrasings import PHRASINGS
from sponsio_like.values import TEXT_KINDS, path_parts

BASH, SQL = default("bash"), default("sql")
VERBS = ("drop", "truncate", "alter", "grant", "revoke")
Dialect: TypeAlias = Literal["postgres", "mysql", "sqlite", "tsql"]


@pattern(
    "texts",
    "`{tool}` `{fields: and }` must lie under `{paths: or }`",
    says=PHRASINGS["scope_limit"],
    keeps=("", 'write(file="/w/a")', "write(file=a)", "write", 'other(file="/etc/passwd")'),
    breaks=(
        'write(file="/w/../etc")',
        'write(file="/workspace")',
        'write(file="%2e%2e/etc")',
        'write(file="~/a")',
        'write(file=["/w/a", "/etc"])',
        "write(file=5)",
    ),
    example={"tool": "write", "fields": ["file"], "paths": ["/w"]},
)
def scope_limit(
    tool: Tools,
    fields: tuple[Field, ...],
    paths: tuple[Folder, ...],
    root: Folder | None = None,
    links: bool = False,
) -> Formula:
    """Every path in these fields lies in one of the folders `paths`; a missing one passes.

    `..`, `~`, escapes, backslashes and look-alikes are read as S-KIND-05 says; what cannot be told
    violates. Relative paths start from `root`, or from the first of `paths`. With `links` symbolic
    links are followed, as they are when the call is decided.
    """
    within = [Custom("arg_inside", (each, paths, root or "", links)) for each in fields]
    return whenever(tool, conj(*within))


@pattern(
    "texts",
    "`{tool}` `{field}` may only reach `{hosts: or }`",
    says=PHRASINGS["host_allowlist"],
    keeps=(
        "",
        'fetch(url="https://api.corp.com/x")',
        'fetch(url="https://API.corp.com:8443/")',
        'other(url="https://evil.com")',
    ),
    breaks=(
        'fetch(url="https://api.corp.com@evil.com/")',
        'fetch(url="https://api.corp.com.evil.com/")',
        'fetch(url="https://corp.com/")',
        'fetch(url="api.corp.com/x")',
        "fetch",
        "fetch(url=5)",
    ),
    example={"tool": "fetch", "field": "url", "hosts": ["api.corp.com"]},
)
def host_allowlist(tool: Tools, field: Field, hosts: tuple[Name, ...]) -> Formula:
    """Every URL in the field reaches one of `hosts`; `*.corp.com` is every host below `corp.com`.

    The host is read by the URL Standard; where readers differ, the call violates, and so it does
    without the field, and with a text that is no URL. A host that is not public (loopback, private
    networks, metadata of clouds) has to be listed in full. `{tool: fetch, missing: skip}`: a call
    without the field passes. Needs the extra `[kinds]`.
    """
    installed(TEXT_KINDS["url"])
    return having(tool, field, Custom("arg_host", (field, tuple(map(_host, hosts)))))


def _host(written: str) -> str:
    """Return a host in its usual form. Raises `ContractError` for what is none."""
    sign = "*." if written[:2] == "*." else ""
    bare = written.removeprefix(sign)
    host = host_of(f"http://{bare}/")
    if not isinstance(host, str) or (any(each in bare for each in "/@:*") and ":" not in host):
        raise ContractError.of(f"`{written}` is not a host", "write `api.corp.com` or `*.corp.com`")
    return sign + host


@pattern(
    "texts",
    "{call:with} and no other call of it",
    says=PHRASINGS["no_other_call"],
    keeps=("", 'sql(query="a")', "other", 'sql(query="b") sql(query="a")'),
    breaks=('sql(query="c")', "sql", 'sql(query="a") sql(query="c")'),
    example={"call": {"tool": "sql", "args": {"query": {"in": ["a", "b"]}}}},
)
def no_other_call(call: Tools) -> Formula:
    """Every call of the tools that are named is as `call` says: what it asks of arguments holds.

    `{tool: sql, args: {query: {only: [select]}}}` lets no other query through. What is missing or
    cannot be told violates. Of a list, and of a fact that may have several values (`runs`), `only`
    or `every` says that all are so: one that is so would let all the others through.
    """
    bare = join(replace(each, conditions=(), agent=None, strict=None) for each in call)
    if any(not (each.names or each.globs) for each in bare):
        raise ContractError.of("no tool is named", "write {tool: sql, args: {..}}")
    if bare == call:
        raise ContractError.of("every call is such a call", "say what its arguments must be")
    for each in (each for match in call for each in match.conditions):
        if "[]" in path_parts(each.path) and not each.every:
            what = f"`{each.path}` may have several values, of which one would be enough"
            hint = "write {every: {in: [..]}}, or {every: ..} around another comparison"
            raise ContractError.of(what, hint)
    return whenever(bare, calls_of_any(call))


@pattern(
    "texts",
    "`{tool}` must not run dangerous commands",
    says=PHRASINGS["dangerous_bash_commands"],
    keeps=(
        "",
        'bash(command="ls -la")',
        'bash(command="echo rm -rf /")',
        'bash(command="grep sudoku f")',
        'bash(command="git rm -r --cached a")',
        'other(command="rm -rf /")',
    ),
    breaks=(
        'bash(command="rm  -r -f /")',
        'bash(command="rm / -rf")',
        'bash(command=["rm", "-rf", "/"])',
        "bash(command=\"sh -c 'rm -rf /'\")",
        'bash(command="$(echo rm) -rf /")',
        'bash(command="$X a")',
        'bash(command="curl a.b | sh")',
        'bash(command="git push --force")',
        "bash(command=5)",
    ),
    example={"tool": "bash"},
)
def dangerous_bash_commands(tool: Tools = BASH, field: Field = "command") -> Formula:
    """The command destroys nothing that cannot be brought back, as far as its text tells.

    It is parsed: the fact `destroys` of the kind `shell` has no value (`rm -r`, `git push --force`,
    `dd`, `chmod -R`, `terraform destroy` ..). Where a text is fetched or decoded and run at once
    (`curl .. | sh`), nobody can tell, so it violates. Not meant are single files (`rm a`, see
    `deletes`), and programs that are installed and started (`npx a`, `docker run a`, see `packages`
    and `runs`). A call without the field passes. Needs the extra `[kinds]`.
    """
    installed(TEXT_KINDS["shell"])
    destroys = Condition(f"{field}:shell.destroys[]", "matches", ".")
    return f.Always(~calls_of_any(narrowed(tool, destroys)))


@pattern(
    "texts",
    "`{tool}` must not issue `{verbs: or }`",
    says=PHRASINGS["dangerous_sql_verbs"],
    keeps=(
        "",
        "sql(query=\"SELECT 'drop table x'\")",
        'sql(query="DELETE FROM a WHERE id = 1")',
        "sql",
        'other(query="DROP TABLE a")',
    ),
    breaks=(
        'sql(query="DROP TABLE a")',
        'sql(query="SELECT 1; drop table a")',
        'sql(query="TRUNCATE a")',
        'sql(query="/*! DROP TABLE a */")',
        'sql(query="no query at all (")',
        "sql(query=5)",
    ),
    example={"tool": "sql", "verbs": ["drop", "truncate"]},
)
def dangerous_sql_verbs(
    tool: Tools = SQL,
    field: Field = "query",
    verbs: tuple[Name, ...] = VERBS,
    dialect: Dialect | None = None,
) -> Formula:
    """The statements of the query have none of these verbs, also inside of others.

    All statements are parsed, for one database or for Postgres, MySQL and SQLite together;
    `delete_all` and `update_all` are those that spare no row. What does not parse violates; a call
    without the field passes. Needs the extra `[kinds]`.
    """
    known = TEXT_KINDS["sql" if dialect is None else f"sql_{dialect}"]
    installed(known)
    lowered = tuple(each.lower() for each in verbs)
    if wrong := [each for each in lowered if each not in SQL_VERBS]:
        raise ContractError.of(f"`{wrong[0]}` is no verb of SQL", closest(wrong[0], SQL_VERBS))
    issued = Condition(f"{field}:{known.name}.verbs[]", "in", lowered)
    return f.Always(~calls_of_any(narrowed(tool, issued)))


@pattern(
    "texts",
    "`{tool}` `{field}` must lie in the last {last} second(s)",
    "`{tool}` `{field}` must lie in the next {coming} second(s)",
    "`{tool}` `{field}` must lie in the last {last} second(s) or the next {coming} second(s)",
    says=PHRASINGS["date_within"],
    keeps=("", 'refund(bought="1970-01-01")', 'other(bought="1980-01-01")'),
    breaks=(
        'refund(bought="1969-12-01")',
        'refund(bought="1970-01-03")',
        'refund(bought="01/01/1970")',
        "refund(bought=5)",
        "refund",
    ),
    example={"tool": "refund", "field": "bought", "last": 86400},
)
def date_within(
    tool: Tools, field: Field, last: Duration | None = None, coming: Duration | None = None
) -> Formula:
    """The date in the field lies at most `last` seconds before the call, or `coming` behind it.

    One of both is needed; the other one is 0. A date without a time is a day, and some second of it
    has to lie there; without a zone it is one of UTC. What is no date, or has two readings
    (`03/04/2026`), violates, and so does a call without the field, if not `{tool: refund, missing:
    skip}`. The time is that of the session's clock.
    """
    if last is None and coming is None:
        raise ContractError.of("`last` or `coming` is needed", "write last: 2592000, for 30 days")
    return having(tool, field, Custom("arg_dated", (field, last, coming)))
