r"""Reads what clients of databases are given: SQL, and commands of their own such as `\! rm x`.

In: the arguments of psql, mysql or sqlite3, and their input. Out: facts are noted: hosts, files,
commands, and what the SQL destroys. What stands in a file of SQL, no text tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import TypeAlias

from sponsio_like.kinds.shell_options import sorted_options
from sponsio_like.kinds.shell_state import Handler, Shell, Stdin, Words
from sponsio_like.kinds.shell_table import host_in
from sponsio_like.kinds.shell_words import QUOTED, is_known
from sponsio_like.values import TEXT_KINDS, UNREADABLE

Meta: TypeAlias = Callable[[Shell, str], bool]
DESTROYING = ("drop", "truncate", "delete_all", "update_all")
"""The verbs of SQL that cannot be undone."""
PROGRAM = re.compile(r"\b(?:to|from)\s+program\s*'((?:[^']|'')*)'", re.IGNORECASE)
VACUUM = re.compile(r"\b(?:vacuum\s+into|attach(?:\s+database)?)\s*'((?:[^']|'')*)'", re.IGNORECASE)
LOCAL = re.compile(r"\binfile\s*'((?:[^']|'')*)'", re.IGNORECASE)
COPIED = re.compile(r"\\copy\b.*\b(to|from)\s+(program\s+)?'((?:[^']|'')*)'", re.IGNORECASE)
ASKS = re.compile(
    r"\\(?:d\S*|l\+?|z|c|connect|x|t|a|q|timing|pset|echo|conninfo|h|\?|set|encoding|sf|sv|password)"
    r"(?:\s.*)?"
)
"""Commands of psql that only ask, or set how answers look."""
ASKED = re.compile(
    r"\.(?:tables|schema|mode|headers?|width|dump|index\w*|quit|exit|help|databases|show|nullvalue|"
    r"separator|timer|stats|bail|echo|print|limit|fullschema|param\w*|eqp|explain|changes|timeout|"
    r"dbinfo|lint|sha3sum|version)(?:\s.*)?"
)
"""Commands of sqlite3 that only ask, or set how answers look."""


def _sql(state: Shell, text: str, kind: str) -> None:
    """Note what a text of SQL destroys, the programs that it starts, and files of this machine."""
    known = TEXT_KINDS[kind]
    if not is_known(text) or any(find_spec(each) is None for each in known.needs):
        state.found.destroys.append(QUOTED)
        return
    for found in PROGRAM.finditer(text):
        state.program(found[1].replace("''", "'"))
    if kind == "sql_sqlite":
        for found in VACUUM.finditer(text):
            state.writes(found[1])
    for found in LOCAL.finditer(text):
        state.reads(found[1])
    for verb in known.read(text)["verbs"]:
        if verb is UNREADABLE:
            state.found.destroys.append(QUOTED)
        elif verb in DESTROYING:
            state.found.destroys.append(f"sql {verb}")


def _lines(state: Shell, text: str, kind: str, meta: Meta) -> None:
    """Follow a text of SQL in which some lines are commands of the client."""
    rest = "\n".join([line for line in text.split("\n") if not meta(state, line.strip())])
    if rest.strip():
        _sql(state, rest, kind)


def _psql_line(state: Shell, line: str) -> bool:
    if "\\" not in line:
        return False
    if found := COPIED.match(line):
        sign, program, what = found.groups()
        if program:
            state.program(what)
        elif what and sign.lower() == "to":
            state.writes(what)
        else:
            state.reads(what)
    elif found := re.match(r"\\!\s*(.*)", line):
        state.program(found[1])
    elif found := re.match(r"\\(?:o|g|w|out|write)\s+(\S+)$", line):
        state.program(found[1][1:]) if found[1][:1] == "|" else state.writes(found[1])
    elif found := re.match(r"\\(?:i|ir|include)\s+(\S+)$", line):
        state.reads(found[1])
    elif not ASKS.fullmatch(line) or "`" in line:
        state.found.nothing_is_clear()
    return True


def _mysql_line(state: Shell, line: str) -> bool:
    if found := re.match(r"(?:\\!|system\b|pager\b|\\P)\s*(.*)", line, re.IGNORECASE):
        state.program(found[1].rstrip(";"))
    elif found := re.match(r"(?:tee\b|\\T)\s*([^\s;]+)", line, re.IGNORECASE):
        state.writes(found[1])
    elif found := re.match(r"(?:source\b|\\\.)\s*([^\s;]+)", line, re.IGNORECASE):
        state.reads(found[1])
    elif re.search(r"\\[!PTed]|;\s*(?:system|tee|pager|edit)\b", line, re.IGNORECASE):
        state.found.nothing_is_clear()
    else:
        return False
    return True


def _sqlite_line(state: Shell, line: str) -> bool:
    if line[:1] != ".":
        return False
    name, _, rest = line.partition(" ")
    word = rest.strip().split(" ")[-1].strip("'\"")
    if re.fullmatch(r"\.(?:sh\w*|sys\w*)", name):
        state.program(rest.strip())
    elif re.fullmatch(r"\.(?:output|once|backup|save|log|clone|archive|ar|open)", name):
        state.program(word[1:]) if word[:1] == "|" else state.writes(word)
    elif name in (".read", ".restore"):
        state.program(word[1:]) if word[:1] == "|" else state.reads(word)
    elif name == ".import":
        source = (rest.split() or [""])[0].strip("'\"")
        state.program(source[1:]) if source[:1] == "|" else state.reads(source)
    elif not ASKED.fullmatch(line):
        state.found.nothing_is_clear()
    return True


def _hosts(state: Shell, said: Mapping[str, str], rest: Words) -> None:
    """Note the host in an option, in a URL, or in `host=name dbname=x`."""
    for option in ("-h", "--host"):
        if option in said:
            state.found.hosts.append(host_in(said[option]))
    for each in (*rest, said.get("-d", ""), said.get("--dbname", "")):
        if "://" in each:
            state.found.hosts.append(host_in(each))
        elif found := re.search(r"\bhost(?:addr)?=(\S+)", each):
            state.found.hosts.append(found[1])


def _psql(state: Shell, args: Words, stdin: Stdin) -> str | None:
    long = ("--command", "--file", "--host", "--output", "--dbname", "--port", "--username")
    said = sorted_options(args, "cfhodpUvFLPRT", (*long, "--set", "--log-file"))
    _hosts(state, said.values, said.rest)
    for option in ("-o", "--output", "-L", "--log-file"):
        if option in said.values:
            state.writes(said.values[option])
    for option in ("-f", "--file"):
        if option in said.values:
            state.reads(said.values[option])
    texts = _given(args, ("-c", "--command"))
    for each in texts or _input(stdin):
        _lines(state, each, "sql_postgres", _psql_line)
    return None


def _given(args: Words, options: Sequence[str]) -> list[str]:
    """Return the values of an option, which may stand several times."""
    found: list[str] = []
    for i, each in enumerate(args):
        if each in options:
            found += args[i + 1 : i + 2]
        elif any(each.startswith(f"{one}=") for one in options if one[:2] == "--"):
            found.append(each.partition("=")[2])
        elif re.match(r"-[A-Za-z]*$", each) and each[-1:] == options[0][1] and each[:2] != "--":
            found += args[i + 1 : i + 2]
        elif each[:2] == options[0]:
            found.append(each[2:])
    return found


def _input(stdin: Stdin) -> list[str]:
    return [stdin.text] if stdin.given and stdin.text is not None else []


def _mysql(state: Shell, args: Words, stdin: Stdin) -> str | None:
    words = [each for each in args if not re.match(r"-p|--password", each)]
    long = ("--execute", "--host", "--user", "--database", "--port", "--tee")
    said = sorted_options(words, "ehuDPS", long)
    _hosts(state, said.values, ())
    if "--tee" in said.values:
        state.writes(said.values["--tee"])
    for each in _given(words, ("-e", "--execute")) or _input(stdin):
        _lines(state, each, "sql_mysql", _mysql_line)
    return None


def _sqlite(state: Shell, args: Words, stdin: Stdin) -> str | None:
    said = sorted_options(
        [re.sub("^-(?=[a-z]{2})", "--", each) for each in args],
        "A",
        ("--cmd", "--init", "--separator", "--nullvalue", "--newline", "--mmap"),
    )
    for each in said.rest[:1]:
        state.writes(each)
    if "--init" in said.values:
        state.reads(said.values["--init"])
    texts = [said.values.get("--cmd", ""), *(said.rest[1:] or _input(stdin))]
    for each in texts:
        _lines(state, each, "sql_sqlite", _sqlite_line)
    return None


DATABASES: Mapping[str, Handler] = {
    "psql": _psql,
    **dict.fromkeys(("mysql", "mariadb"), _mysql),
    **dict.fromkeys(("sqlite3", "sqlite"), _sqlite),
}
"""The clients by name."""
