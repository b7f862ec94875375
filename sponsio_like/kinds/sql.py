"""The kinds `sql`, `sql_postgres`, `sql_mysql`, `sql_sqlite`, `sql_tsql`: what a query does.

In: a text with any number of statements. Out: their verbs, the tables that are read and written,
and what reaches out of the database. It is parsed by sqlglot. `sql` reads it as Postgres, MySQL and
SQLite would, and adds up what they find; each of the others is for one database.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from sponsio_like.kinds.registry import kind, unknown
from sponsio_like.kinds.sql_parser import SEVERAL, WORK, TooLongError, parsed
from sponsio_like.values import UNREADABLE, Facts

FACTS = {
    "verbs[]": "the verbs of all statements, also inside of others, in small letters; "
    "`delete_all` and `update_all` beside those that spare no row, `outfile` of a written file, "
    "`reach_out` beside all that do more than read",
    "reads[]": "the tables that are read, in small letters unless in quotes",
    "writes[]": "the tables that are written, made, changed or dropped",
    "read_names[]": "the tables that are read, without database and schema, in small letters",
    "written_names[]": "the tables that are written, in the same way",
    "columns[]": "the columns that are named; unknown where there is a `*`",
    "without_where[]": "the tables of which every row is deleted or changed",
    "without_where_names[]": "the same tables, without database and schema, in small letters",
    "functions[]": "the functions that are called, in small letters",
    "reaches_out[]": "functions and statements that leave the database, or change it in a SELECT",
    "statements": "the number of statements",
}
NAMES = tuple(name.removesuffix("[]") for name in FACTS)
LAST_STEPS = {
    "read_names": "reads",
    "written_names": "writes",
    "without_where_names": "without_where",
}
"""The facts that are made of the last steps of others."""
LISTS = tuple(each for each in NAMES if each not in LAST_STEPS and each != "statements")
"""The facts that are lists of a query."""
LONGEST = 16_384
"""Most characters of a text that is parsed."""
DEPTH = 30
"""Most brackets within brackets: parsers of SQL recurse."""
STEPS = 1_000
"""The work of reading a character."""
DIALECTS = {
    "sql": ("postgres", "mysql", "sqlite"),
    "sql_postgres": ("postgres",),
    "sql_mysql": ("mysql",),
    "sql_sqlite": ("sqlite",),
    "sql_tsql": ("tsql",),
}
VERBS = {
    **{key: key for key in ("select", "insert", "update", "delete", "merge", "create", "drop")},
    **{key: key for key in ("alter", "grant", "revoke", "copy", "set", "attach", "detach", "use")},
    **{
        key: key for key in ("kill", "pragma", "describe", "show", "analyze", "comment", "rollback")
    },
    "truncatetable": "truncate",
    "loaddata": "load",
    "union": "select",
    "except": "select",
    "intersect": "select",
    "values": "select",
    "transaction": "begin",
    "commit": "commit",
    "subquery": "select",
    "cache": "cache",
    "uncache": "uncache",
    "refresh": "refresh",
}
"""The verb of each kind of node that is a statement."""
SQL_VERBS = frozenset(
    {
        *VERBS.values(),
        "delete_all",
        "update_all",
        "outfile",
        "reach_out",
        "explain",
        "call",
        "do",
        "execute",
    }
    | {"exec", "prepare", "declare", "lock", "replace", "vacuum", "handler", "rename", "optimize"}
)
"""The verbs that a contract may name."""
BEGINS = frozenset(
    {
        *("delete", "update", "insert", "merge", "exec", "execute", "drop", "truncate", "alter"),
        *("create", "grant", "revoke", "deny", "backup", "restore", "kill", "shutdown", "dbcc"),
        *("waitfor", "use", "print", "declare", "set", "if", "while", "begin", "bulk", "select"),
        *("reconfigure", "revert", "checkpoint", "open", "close", "return", "goto", "throw"),
    }
)
"""Words that begin a statement of SQL Server, where no sign has to stand between two."""
HARMLESS = frozenset(
    {"vacuum", "show", "begin", "start", "commit", "rollback", "savepoint", "release", "listen"}
)
"""Statements that sqlglot does not read, and that do nothing that is a fact here."""
WRITING = (
    "insert",
    "update",
    "delete",
    "merge",
    "create",
    "drop",
    "alter",
    "truncatetable",
    "copy",
)
NAMING = frozenset({"dot", "join", "schema", "copy", "returning"})
"""The nodes that may name columns, beside those of columns."""
TARGETED = frozenset({*WRITING, "into"})
"""The nodes that may name a table that they write."""
WRITERS = frozenset({"verb", "naming", "into"})
"""The roles of these."""
NAMED = frozenset({"column", "table", "cte", "command", "into", "star"})
"""The nodes that have a role of their own."""
OPERATORS = frozenset({"and", "or", "case", "cast", "if"})
"""The nodes that are functions to the parser alone."""
LEAVES = frozenset({"identifier", "literal"})
"""Frequent nodes that say nothing, and have no others inside."""
PG_ASKS = (
    r"get|size|relation|table|total|database_size|typeof|column|index|postmaster|conf_load|is_in|"
    r"encoding|char_to|client|has_role|\w+_is_visible|stat_get|options|tablespace|timezone|describe|"
    r"identify|sequence|show|filenode|collation|current_wal|current_snapshot|current_xact|last|"
    r"wal_lsn_diff|blocking|lock_status|backend_pid|jit|trigger|my_temp|is_other|input|prepared|"
    r"cursor|partition|settings|visible|snapshot|safe_snapshot|nextoid|available"
)
OUTSIDE = re.compile(
    rf"(?:pg_(?!(?:{PG_ASKS}))|lo_|dblink|"
    r"(?:query|table|database|schema|cursor)_to_xml|currval|nextval|setval|set_config|xp_|sp_|"
    r"openrowset|openquery|opendatasource|load_file|sys_[es]|load_extension|readfile|writefile|edit$|eval$|"
    r"fts3_tokenizer|utl_|dbms_|httpuritype|http_|http$|url$|file$|s3$|remote|mysql$|postgresql$|"
    r"jdbc|odbc|executable|system$|exec$|benchmark|sleep|get_lock|release_(?:all_)?locks?$|"
    r"read_|glob$|install|load$|ts_stat$|ts_rewrite$|crosstab|connectby$|(?:un)?schedule|add_job$|"
    r"query_export_to_s3|table_import_from_s3|invoke$|(?:master|source)_pos_wait|wait_(?:for|until)_|"
    r"fsdir|lsdir|csv_read|sniff_|(?:sqlite|postgres|mysql|parquet|csv|json)_(?:scan|query)|getenv$|"
    r"postgres_fdw_disconnect|txid_current$)"
)
"""Functions of Postgres, MySQL, SQLite, SQL Server, Oracle, DuckDB and ClickHouse, by their
manuals: they read files, open connections, run programs, wait, or change what a SELECT leaves.
"""
QUERYING = re.compile(
    r"dblink|(?:query|table|cursor)_to_xml|ts_stat$|ts_rewrite$|crosstab|connectby$"
)
"""Functions that read what a text names."""
CONDITIONAL = re.compile(r"/\*M?!\d*(.*?)\*/", re.DOTALL)
"""A comment that MySQL and MariaDB run."""
OUTFILE = re.compile(r"\binto\s+(?:outfile|dumpfile)\b", re.IGNORECASE)
INTO = re.compile(r"\binto\s+(?:out|dump)file\s*(?:'[^']*'|\"[^\"]*\")", re.IGNORECASE)
DIFFERENT = re.compile(r"""["\\#`\[{$&|!?@]""")
"""Signs that databases read differently: quotes, escapes, `||`, variables."""
COMMENTED = re.compile(
    r"--(?!\s)|(?s:/\*.*/\*)|/\*(?!.*\*/)|\binto\s+(?:out|dump)file", re.IGNORECASE | re.DOTALL
)
"""Comments that databases read differently, and files."""
UNICODE = re.compile(r"\bu&\s*[\"']", re.IGNORECASE)
"""A name or a text in Unicode escapes, which sqlglot does not read."""
BRACKET = re.compile(r"[(){}\[\]]")
NESTS = re.compile(r"\bcase\b|\bnot\b", re.IGNORECASE)
EXPLAIN = re.compile(r"\s*explain\b\s*(\([^)]*\))?((?:\s*\b(?:analyze|verbose)\b)*)", re.IGNORECASE)


@dataclass
class Query:
    """The facts of statements, as they are found."""

    verbs: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    without_where: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    reaches_out: list[str] = field(default_factory=list)
    statements: int = 0
    unclear: set[str] = field(default_factory=set)

    def all_unclear(self) -> None:
        """Note that there may be more of everything."""
        self.unclear |= set(NAMES)


def declare(name: str, dialects: tuple[str, ...]) -> None:
    """Declare the kind of this name, which reads a text as these databases do."""

    def read(text: str) -> Facts:
        return _facts(text, dialects)

    kind(name, FACTS, main="verbs", needs=("sqlglot",), steps=STEPS)(read)


def sql(text: str) -> Facts:
    """Return what a query does in Postgres, MySQL or SQLite, whichever it is."""
    return _facts(text, DIALECTS["sql"])


def _facts(text: str, dialects: Iterable[str]) -> Facts:
    if len(text) > LONGEST or "\x00" in text or _is_deep(text):
        return unknown(NAMES)
    if "&" in text and UNICODE.search(text):
        return unknown(NAMES)
    try:
        found = list(_readings(text, dialects))
    except TooLongError:
        found = []
    if not found:
        return unknown(NAMES)
    made: dict[str, tuple[Any, ...]] = {}
    unclear = frozenset().union(*[query.unclear for query in found])
    for name in LISTS:
        values = [value for query in found for value in getattr(query, name)]
        told = tuple(dict.fromkeys(values)) if values else ()
        made[name] = (*told, UNREADABLE) if name in unclear else told
    for name, tables in LAST_STEPS.items():
        them = made[tables]
        made[name] = tuple(dict.fromkeys(map(_last_step, them))) if them else ()
    if any(query.reaches_out for query in found):
        made["verbs"] = ("reach_out", *made["verbs"])
    counts = {query.statements for query in found}
    made["statements"] = (max(counts),) if len(counts) == 1 else (UNREADABLE,)
    return made


def _last_step(table: Any) -> Any:
    return table.rsplit(".", 1)[-1].lower() if isinstance(table, str) else table


def _readings(text: str, dialects: Iterable[str]) -> Iterator[Query]:
    """Yield what each database finds; the first alone, where no sign is read differently.

    Raises `TooLongError` if there are too many tokens for one of them.
    """
    alike, several = _is_alike(text), list(dialects)
    most = WORK if alike or len(several) == 1 else SEVERAL
    for dialect in several:
        query = _read(text, dialect, most)
        if query is not None:
            yield query
            if alike:
                return


def _is_alike(text: str) -> bool:
    """True if the text has no sign that databases read differently."""
    if DIFFERENT.search(text):
        return False
    plain = text.isascii() and "--" not in text and "/*" not in text
    return (plain and "file" not in text.lower()) or COMMENTED.search(text) is None


def _is_deep(text: str) -> bool:
    """True if the text has more brackets within brackets than a parser bears."""
    if text.isascii() and text.count("(") + text.count("[") + text.count("{") <= DEPTH:
        small = text.lower()
        if small.count("case") + small.count("not") <= DEPTH * 4:
            return False
    return _depth(text) > DEPTH


def _depth(text: str) -> int:
    depth = most = 0
    for each in BRACKET.findall(text):
        depth += 1 if each in "([{" else -1
        most = max(most, depth)
    return max(most, len(NESTS.findall(text)) // 4, text.count("[") // 4)


def _read(text: str, dialect: str, most: int, left: int = DEPTH) -> Query | None:
    """Return the facts of a text for one database; None if it does not parse there.

    `left`: how many times EXPLAIN may still stand in front. Raises `TooLongError` if there are more
    tokens than `most`.
    """
    query = Query()
    if dialect == "mysql":
        text = _run(text)
        if OUTFILE.search(text):
            query.verbs.append("outfile")
            query.reaches_out.append("outfile")
            text = INTO.sub(" ", text)
    explained = EXPLAIN.match(text)
    if explained is not None:
        return _explained(text, explained, dialect, most, left)
    tokens, nodes = parsed(text, dialect, most)
    if nodes is None:
        return None
    for name in _called(tokens):
        _function(name, query)
    if dialect == "tsql" and any(map(_hides_a_statement, nodes)):
        query.all_unclear()
    for node in nodes:
        if node is not None and node.key != "semicolon":
            query.statements += 1
            _statement(node, query)
    return query


def _run(text: str) -> str:
    """Return the text with the comments that MySQL runs as parts of it."""
    end = text.rfind("*/") + 2  # behind it none ends, and each would be searched to the end
    return CONDITIONAL.sub(r" \1 ", text[:end]) + text[end:] if end > 1 else text


def _explained(text: str, found: re.Match[str], dialect: str, most: int, left: int) -> Query | None:
    runs = "analy" in found[0].lower()
    inner = _read(text[found.end() :], dialect, most, left - 1) if left else None
    if inner is None:
        return None
    several = inner.statements > 1
    query = inner if runs or several else Query(statements=1)
    query.verbs.insert(0, "explain")
    return query


def _called(tokens: list[Any]) -> Iterator[str]:
    """Yield the names before a bracket, as they are written: trees have names of their own."""
    texts, at = [each.text for each in tokens], 0
    for _ in range(texts.count("(")):
        at = texts.index("(", at) + 1
        if at > 1 and tokens[at - 2].token_type.name in ("VAR", "IDENTIFIER"):
            before = texts[at - 3].lower() if at > 2 else ""
            if before not in ("into", "table", "view", "update", "tablesample"):
                yield texts[at - 2]


def _hides_a_statement(root: Any) -> bool:
    """True if an alias is a word that begins a statement: `SELECT 1 DELETE FROM a` is two."""
    from sqlglot import exp

    found = () if root is None else root.find_all(exp.Alias, exp.TableAlias)
    names = (each.args.get("alias") or each.this for each in found)
    return any(
        isinstance(each, exp.Identifier) and not each.quoted and each.name.lower() in BEGINS
        for each in names
    )


def _statement(root: Any, query: Query) -> None:
    if root.key not in VERBS and root.key != "command":
        query.all_unclear()  # an expression by itself: not SQL of this database
    told = _told(root)
    made = {node.alias_or_name.lower() for role, node in told if role == "cte"}
    writing = [node for role, node in told if role in WRITERS and node.key in TARGETED]
    written = {id(table) for node in writing for table in _targets(node)}
    whole: set[str] = set()
    for role, node in told:
        match role:
            case "column":
                query.columns.append(_spelled(node.this))
            case "table":
                whole.add(node.alias_or_name.lower())
                _table(node, query, made, written)
            case "naming":
                _named_columns(node, query)
            case "verb":
                if node is root or not (node.key == "subquery" or _is_row(node)):
                    _verb(node, query)
            case "command":
                _command(node, query)
            case "into":
                query.verbs.append("create")
            case "star":
                if node.parent is None or node.parent.key != "count":
                    query.unclear.add("columns")
            case "function":
                _function(node.name if node.key == "anonymous" else CALLED[node.__class__], query)
    if not whole.isdisjoint(query.columns):
        query.unclear.add("columns")  # the name of a table stands for all of its columns


def _told(root: Any) -> list[tuple[str, Any]]:
    """Return the nodes of a tree that say something, with their roles: the outer ones first."""
    told, queue, roles = [(ROLES[root.__class__] or "", root)], [root], ROLES
    for node in queue:
        for value in node.args.values():
            if value is None:
                continue
            if value.__class__ is list:
                for each in value:
                    role = roles[each.__class__]
                    if role is not None:
                        queue.append(each)
                        if role:
                            told.append((role, each))
                continue
            role = roles[value.__class__]
            if role is not None:
                queue.append(value)
                if role:
                    told.append((role, value))
    return told


class Called(dict[type, str]):
    """The names of functions by the class of their nodes, found out once."""

    def __missing__(self, of: Any) -> str:
        self[of] = found = of.sql_name()
        return str(found)


CALLED = Called()


class Roles(dict[type, "str | None"]):
    """The roles of nodes by their class, found out once.

    Empty: nothing is said; None: there are no nodes inside.
    """

    def __missing__(self, of: Any) -> str | None:
        self[of] = found = _role(of)
        return found


ROLES = Roles()


def _role(of: Any) -> str | None:
    from sqlglot import exp

    if not issubclass(of, exp.Expr) or of.key in LEAVES:
        return None
    if of.key in NAMED:
        return str(of.key)
    if of.key in NAMING:
        return "naming"
    if of.key in VERBS:
        return "verb"
    is_function = issubclass(of, exp.Func) and of.key not in OPERATORS
    return "function" if is_function else ""


def _named_columns(node: Any, query: Query) -> None:
    """Note columns that are named in other ways: `(a).b`, `USING (b)`, `INSERT INTO a (b)`."""
    parts = []
    match node.key:
        case "dot":
            parts = [node.expression]
        case "join":
            parts = node.args.get("using") or []
            if str(node.args.get("method") or "").upper() == "NATURAL":
                query.unclear.add("columns")
        case "schema" if node.parent is not None and node.parent.key in ("insert", "copy"):
            parts = node.expressions
        case "copy" if node.this is not None and node.this.key == "table":
            query.unclear.add("columns")
        case "returning":
            query.reads += [_name(each) for each in _targets_of(node.parent)]
    query.columns += [_spelled(each) for each in parts if each.key == "identifier"]
    if node.key == "copy":
        _verb(node, query)


def _table(node: Any, query: Query, made: set[str], written: set[int]) -> None:
    """Note a table as written, or as read unless the statement itself has made it."""
    name = _name(node)
    if name and id(node) in written:
        query.writes.append(name)
    elif name and not (name in made and _is_made(node, name)):
        query.reads.append(name)
    alias = node.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        query.unclear.add("columns")  # `a AS b(c)`: `c` is some column of `a`


def _is_made(table: Any, name: str) -> bool:
    """True if a part of a `WITH` that the table can see has this name."""
    node, inner = table, None
    while node.parent is not None:
        inner = node if node.key == "cte" else inner
        node = node.parent
        clause = node.args.get("with_") or node.args.get("with")
        for each in () if clause is None else clause.expressions:
            if each is inner and not clause.args.get("recursive"):
                break
            if each.alias_or_name.lower() == name:
                return True
    return False


def _is_row(node: Any) -> bool:
    """True for the `VALUES (1)` of an INSERT, which reads nothing."""
    return bool(node.key == "values" and node.parent.key == "insert")


def _verb(node: Any, query: Query) -> None:
    verb = VERBS[node.key]
    query.verbs.append(verb)
    if node.key in ("update", "delete"):
        where = node.args.get("where")
        if where is None or _is_always(where.this):
            query.verbs.append(f"{verb}_all")
            query.without_where += [_name(each) for each in _targets_of(node)]
    elif node.key == "truncatetable":
        query.without_where += [_name(each) for each in _targets_of(node)]
    elif node.key in ("copy", "loaddata", "attach"):
        query.reaches_out.append(verb)
    elif node.key == "set":
        query.reaches_out.append("set")


def _is_always(where: Any) -> bool:
    """True if a condition spares no row: `1 = 1`, `id = id`, `true or ..`.

    `a or b or c ..` is `((a or b) or c) ..`: it is followed from inside, as it has any length.
    """
    from sqlglot import exp

    inner, around = where, list[Any]()
    while isinstance(inner, (exp.Or, exp.And)):
        around.append(inner)
        inner = inner.left
    always = _is_always_alone(inner)
    for each in reversed(around):
        if isinstance(each, exp.And):
            always = always and _is_always(each.right)
        elif not always:
            always = _is_always(each.right) or _is_opposite(each.left, each.right)
    return always


def _is_always_alone(where: Any) -> bool:
    """True if a condition that is no `and` or `or` spares no row."""
    from sqlglot import exp

    match where:
        case exp.Paren():
            return _is_always(where.this)
        case exp.EQ() | exp.GTE() | exp.LTE() | exp.Is() | exp.NullSafeEQ() if _is_same(where):
            return True
        case exp.Like() | exp.ILike() | exp.SimilarTo() | exp.Glob() | exp.RegexpLike():
            if where.this == where.expression or where.expression.name in ANYTHING:
                return True
        case exp.Between() if where.this == where.args["low"] == where.args["high"]:
            return True
        case exp.In() if _is_of_all(where):
            return True
    return not _has_column(where)


ANYTHING = frozenset({"%", "%%", "*", ".*", "", "^", "$", "^.*$", "^.*", ".*$"})
"""Patterns that every text fits."""


def _is_same(where: Any) -> bool:
    """True if both sides are the same, or one column, once with its table and once without."""
    from sqlglot import exp

    left, right = where.left, where.right
    if left == right:
        return True
    columns = isinstance(left, exp.Column) and isinstance(right, exp.Column)
    return columns and left.name == right.name and not (left.table and right.table)


def _is_opposite(one: Any, other: Any) -> bool:
    """True if one of two conditions holds always: `a = 5 or a <> 5`."""
    from sqlglot import exp

    one, other = one.unnest(), other.unnest()
    for each, rest in ((one, other), (other, one)):
        if isinstance(each, exp.Not) and each.this.unnest() == rest:
            return True
    if isinstance(one, exp.Is) and isinstance(other, exp.Is):
        same = one.this == other.this and one.expression == other.expression
        return same and bool(one.args.get("negate")) != bool(other.args.get("negate"))
    pairs = ((exp.EQ, exp.NEQ), (exp.LT, exp.GTE), (exp.GT, exp.LTE))
    return any({type(one), type(other)} == {*each} and one.args == other.args for each in pairs)


def _is_of_all(where: Any) -> bool:
    """True for `id in (select id from a)` in a statement that changes `a`."""
    from sqlglot import exp

    inner = where.args.get("query")
    inner = None if inner is None else inner.unnest()
    if not isinstance(inner, exp.Select):
        return False
    more = ("where", "joins", "limit", "group", "having", "with_", "offset", "qualify")
    statement = where.find_ancestor(exp.Delete, exp.Update)
    tables = list(inner.find_all(exp.Table))
    return (
        not any(inner.args.get(each) for each in more)
        and len(tables) == len(inner.expressions) == 1
        and statement is not None
        and _name(tables[0]) in [_name(each) for each in _targets_of(statement)]
        and inner.expressions[0].alias_or_name == where.this.name
    )


def _has_column(node: Any) -> bool:
    from sqlglot import exp

    return node.find(exp.Column) is not None


def _targets(node: Any) -> list[Any]:
    """Return the tables that a node of a statement writes."""
    if node.key == "copy" and node.args.get("kind") is False:  # `COPY a TO ..`
        return []
    if node.key in WRITING:
        return _targets_of(node)
    if node.key != "into":
        return []
    from sqlglot import exp

    return list(node.find_all(exp.Table))


def _targets_of(node: Any) -> list[Any]:
    if node.key == "truncatetable":
        return list(node.expressions)
    if node.key in ("delete", "drop") and node.args.get("tables"):
        return list(node.args["tables"])
    target = node.this
    if getattr(target, "key", "") == "schema":
        target = target.this
    return [target] if getattr(target, "key", "") == "table" else []


def _function(name: str, query: Query) -> None:
    plain = name.lower()
    query.functions.append(plain)
    if _is_outside(plain):
        query.reaches_out.append(plain)
        if QUERYING.match(plain):
            query.unclear |= {"reads", "columns"}


@functools.lru_cache(maxsize=4_096)
def _is_outside(name: str) -> bool:
    return OUTSIDE.match(name) is not None


def _command(node: Any, query: Query) -> None:
    """Note a statement that sqlglot knows by its verb alone."""
    verb = str(node.this).lower()
    query.verbs.append(verb)
    if verb == "replace":
        query.unclear |= {"reads", "writes", "columns", "functions", "reaches_out"}
    elif verb not in HARMLESS:
        query.all_unclear()


def _name(table: Any) -> str:
    parts = [_spelled(each) for each in getattr(table, "parts", []) if each.key == "identifier"]
    return ".".join(parts)


def _spelled(part: Any) -> str:
    args = getattr(part, "args", {})
    name = args.get("this")
    if name.__class__ is not str or not name:
        name = str(getattr(part, "name", part))
    return name if args.get("quoted") else name.lower()


for _name_of_kind, _dialects in DIALECTS.items():
    declare(_name_of_kind, _dialects)
