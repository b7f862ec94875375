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
from sponsio_like.values import TEXT_KINDS

BASH, SQL = default("bash"), default("sql")
VERBS = ("drop", "truncate", "alter", "grant", "revoke")
Dialect: TypeAlias = Literal["postgres", "mysql", "sqlite", "tsql"]


@pattern(
    "texts",
    "`{tool}` `{fields: and }` must lie under `{paths: or }`",
    says=(
        (
            "{tool:union} MAY only (access | touch | open) [(files | paths | anything | "
            "folders) [UNDER]] {paths:paths}"
        ),
        (
            "{tool:union} MUST (stay | remain) UNDER {paths:paths} [with (its | the) "
            "{fields:one_field}]"
        ),
        "no {tool:one} outside [of] {paths:paths}",
        "NEVER_CALL {tool:every} outside [of] {paths:paths}",
        (
            "{tool.fields:places} MUST (lie | be [a (path | file | folder)] | stay) (under | "
            "in | inside | below) {paths:paths}"
        ),
        "{tool.fields:places} MUST_NOT leave {paths:paths}",
        (
            "{tool:union} MAY only (write to | read from | access) (a | the) "
            "{fields:one_field} UNDER {paths:paths}"
        ),
    ),
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
    says=(
        "{tool:union} MAY only (reach | contact) {hosts:hosts}",
        "{tool.field:place} MAY only (reach | go to | point to | contact) {hosts:hosts}",
        "{tool.field:place} MAY only reach {hosts:texts}",
        "{tool.field:place} MUST have [the | a] host [in] {hosts:texts}",
        "the host of {tool.field:place} MUST_BE [in | one of] {hosts:texts}",
    ),
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
    says=(
        "{call:one} and no other call of it",
        "{call:strictly}",
        "{call:required_facts}",
        "the only {call:those}",
    ),
    keeps=("", 'sql(query="a")', "other", 'sql(query="b") sql(query="a")'),
    breaks=('sql(query="c")', "sql", 'sql(query="a") sql(query="c")'),
    example={"call": {"tool": "sql", "args": {"query": {"in": ["a", "b"]}}}},
)
def no_other_call(call: Tools) -> Formula:
    """Every call of the tools that are named is as `call` says: what it asks of arguments holds.

    `{tool: sql, args: {query: {only: [select]}}}` lets no other query through. What is missing or
    cannot be told violates.
    """
    bare = join(replace(each, conditions=(), agent=None, strict=None) for each in call)
    if any(not (each.names or each.globs) for each in bare):
        raise ContractError.of("no tool is named", "write {tool: sql, args: {..}}")
    if bare == call:
        raise ContractError.of("every call is such a call", "say what its arguments must be")
    return whenever(bare, calls_of_any(call))


@pattern(
    "texts",
    "`{tool}` must not run dangerous commands",
    says=(
        (
            "(dangerous | destructive) [shell | bash] commands MUST_NOT be (run | executed) "
            "(in | through | via | with | by) {tool:tools}"
        ),
        (
            "NEVER let {tool:tools} (run | execute) [any] (dangerous | destructive) [shell | "
            "bash] commands"
        ),
        (
            "{tool:tools} MUST_NOT (run | execute) any (dangerous | destructive) [shell | "
            "bash] commands"
        ),
        "no (dangerous | destructive) commands (in | through | via | with) {tool:tools}",
        (
            "NEVER (run | execute) (dangerous | destructive) commands (in | through | via | "
            "with) {tool:tools}"
        ),
        "{tool:tools} MUST_NOT (run | execute) (dangerous | destructive) commands",
        (
            "nothing (dangerous | destructive) MAY be (run | executed) (in | through | via | "
            "with) {tool:tools}"
        ),
    ),
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
    says=(
        (
            "{tool:tools} MUST_NOT (issue | execute | run) {verbs:verbs} [(statements | queries"
            " | commands)]"
        ),
        "{tool:tools} MUST_NOT issue {verbs:texts}",
        (
            "{tool.field:place} MUST_NOT (contain | include | issue | run) [any] "
            "{verbs:verbs} (statements | statement | commands | command)"
        ),
        (
            "[the sql in] {tool.field:place} MUST have no {verbs:verbs} (in it | statements) "
            "[[,] nested statements included]"
        ),
        (
            "{verbs:verbs} [statements | commands | queries] FORBIDDEN in ({tool:tools} | "
            "{tool.field:place})"
        ),
    ),
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
    says=(
        (
            "{tool.field:place} MUST (lie | be | fall) (in | within) the (last | past) "
            "{last:seconds}"
        ),
        "{tool.field:place} MUST_NOT be older than {last:seconds}",
        (
            "{tool:every} only (takes | accepts) (a | an) {field:field} (from | in | within) "
            "the (last | past) {last:seconds}"
        ),
        "{tool.field:place} MUST (lie | be) within {last:seconds}",
        "{tool.field:place} MUST (lie | be) within {coming:seconds}",
        (
            "{tool.field:place} MUST (lie | be | fall) (in | within) the (next | coming) "
            "{coming:seconds}"
        ),
        (
            "{tool.field:place} MUST (lie | be) (in | within) the last {last:seconds} or the next "
            "{coming:seconds}"
        ),
        (
            "{tool:every} (ONLY_ALLOWED | MAY only BE_CALLED) (if | when) [its | the] "
            "{field:field} is (at most | no more than) {last:seconds} (ago | old)"
        ),
        "{tool.field:place} MUST be (at most | no more than) {last:seconds} (ago | old)",
    ),
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
