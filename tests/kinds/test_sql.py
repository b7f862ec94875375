"""The kind `sql`: what queries do, whatever they look like; and what only looks like it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sponsio_like import Allowed, Blocked, ContractError, ContractWarning, Guard
from sponsio_like.contracts import loads
from sponsio_like.kinds import UNREADABLE, sql
from sponsio_like.kinds.sql import DEPTH, LONGEST, NAMES
from sponsio_like.values import TEXT_KINDS
from tests.semantics.manifest import requirement

READING = {"select", "explain", "show", "describe"}


def only_reads(text: str) -> bool:
    """True if nothing but reading is done, and nothing reaches out."""
    facts = sql(text)
    return {*facts["verbs"]} <= READING and not facts["reaches_out"]


MORE_THAN_READING = [
    "DELETE FROM a WHERE id = 1",
    "delete from a where id = 1",
    "DELETE/**/FROM/**/a",
    "SELECT 1; DELETE FROM a",
    "SELECT 1;\n--x\nDELETE FROM a",
    "/* SELECT */ DELETE FROM a",
    "UPDATE a SET b = 1",
    "INSERT INTO a VALUES (1)",
    "INSERT INTO a SELECT * FROM b",
    "REPLACE INTO a VALUES (1)",
    "WITH d AS (DELETE FROM a RETURNING *) SELECT * FROM d",
    "WITH d AS (INSERT INTO a VALUES (1) RETURNING *) SELECT * FROM d",
    "WITH d AS (SELECT 1) DELETE FROM a",
    "SELECT * INTO b FROM a",
    "CREATE TABLE b AS SELECT * FROM a",
    "CREATE TEMP TABLE b (c INT)",
    "DROP TABLE a",
    "DROP/**/TABLE a",
    "TRUNCATE a",
    "ALTER TABLE a DROP COLUMN b",
    "GRANT ALL ON a TO b",
    "REVOKE ALL ON a FROM b",
    "MERGE INTO a USING b ON a.x = b.x WHEN MATCHED THEN DELETE",
    "COPY a TO PROGRAM 'sh'",
    "COPY a FROM '/etc/passwd'",
    "COPY (SELECT * FROM a) TO '/x'",
    "CALL p()",
    "EXEC p",
    "EXECUTE p",
    "PREPARE x AS DELETE FROM a",
    "DO $$ BEGIN DELETE FROM a; END $$",
    "EXPLAIN ANALYZE DELETE FROM a",
    "EXPLAIN (ANALYZE, VERBOSE) DELETE FROM a",
    "explain analyze verbose update a set b = 1",
    "EXPLAIN SELECT 1; DELETE FROM a",
    "SET ROLE admin",
    "SET a = 1",
    "LOCK TABLE a",
    "ATTACH DATABASE '/x' AS y",
    "PRAGMA writable_schema = 1",
    "VACUUM INTO '/x'; DELETE FROM a",
    "SELECT 1 INTO OUTFILE '/x'",
    "SELECT * FROM a INTO DUMPFILE '/x'",
    "SELECT /*! 1 INTO OUTFILE '/x' */",
    "/*!50000 DROP TABLE a */",
    "/*M! DROP TABLE a */",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT PG_READ_FILE('/etc/passwd')",
    "SELECT pg_catalog.pg_read_file('/etc/passwd')",
    "SELECT \"pg_read_file\"('/etc/passwd')",
    "SELECT pg_read_file /**/ ('/etc/passwd')",
    "SELECT * FROM pg_ls_dir('/')",
    "SELECT (SELECT pg_read_file('/x'))",
    "SELECT a FROM b WHERE pg_sleep(9) IS NULL",
    "SELECT a FROM b ORDER BY lo_import('/x')",
    "SELECT dblink('host=x', 'DELETE FROM a')",
    "SELECT * FROM dblink_exec('DELETE FROM a')",
    "SELECT setval('s', 1)",
    "SELECT nextval('s')",
    "SELECT set_config('a', 'b', false)",
    "SELECT pg_terminate_backend(1)",
    "SELECT query_to_xml('DELETE FROM a', true, true, '')",
    "SELECT load_file('/etc/passwd')",
    "SELECT sleep(9)",
    "SELECT benchmark(9, 1)",
    "SELECT load_extension('x')",
    "SELECT writefile('/x', 'y')",
    "SELECT U&\"pg\\005fread_file\"('/x')",
    "SELECT 'a\\'; DELETE FROM a; -- '",
    "/* /* */; DELETE FROM a; -- */",
    "nonsense here",
    "SELECT (",
    "SELECT 1 \x00",
]
READS = [
    "SELECT 1",
    "select * from a",
    "SELECT 'please delete me'",
    "SELECT 'DROP TABLE a'",
    'SELECT "delete" FROM a',
    "SELECT `update` FROM a",
    "SELECT update_count, deleted_at FROM a",
    "SELECT * FROM drops",
    "SELECT * FROM a WHERE note = 'update'",
    "SELECT * FROM a WHERE b = 'x; DROP TABLE a'",
    "SELECT * FROM a -- DROP TABLE a",
    "SELECT * FROM a /* DELETE */",
    "SELECT 'it''s; DELETE FROM a'",
    "SELECT a FROM b JOIN c ON b.x = c.x LEFT JOIN d USING (y)",
    "SELECT a FROM b WHERE c IN (SELECT c FROM d)",
    "SELECT a FROM b UNION ALL SELECT a FROM c",
    "SELECT a FROM b EXCEPT SELECT a FROM c",
    "WITH d AS (SELECT 1 AS x) SELECT * FROM d",
    "WITH RECURSIVE d AS (SELECT 1 UNION ALL SELECT 2) SELECT * FROM d",
    "SELECT count(*), sum(a), max(b) FROM c GROUP BY d HAVING count(*) > 1",
    "SELECT row_number() OVER (PARTITION BY a ORDER BY b) FROM c",
    "SELECT CASE WHEN a THEN 'drop' ELSE b END FROM c",
    "SELECT coalesce(a, b), lower(c), substring(d, 1, 2) FROM e",
    "SELECT a::int, b::text FROM c",
    "SELECT * FROM a ORDER BY b DESC LIMIT 10 OFFSET 5",
    "SELECT * FROM a WHERE b LIKE '%delete%'",
    "SELECT * FROM a WHERE b BETWEEN 1 AND 2",
    "SELECT * FROM a WHERE b IS NOT NULL AND NOT c",
    "SELECT * FROM a FOR UPDATE",
    "SELECT now(), current_date",
    "SELECT date_trunc('day', a) FROM b",
    "SELECT a->>'b' FROM c",
    "SELECT DISTINCT a FROM b",
    "SELECT a.* FROM a",
    "SELECT * FROM schema1.a",
    "SELECT 1;",
    "SELECT 1; SELECT 2",
    "  \n SELECT 1 \n ",
    "(SELECT 1)",
    "EXPLAIN SELECT * FROM a",
    "EXPLAIN ANALYZE SELECT * FROM a",
    "EXPLAIN DELETE FROM a",
    "SHOW TABLES",
    "SELECT string_agg(a, ',') FROM b",
    "SELECT extract(year FROM a) FROM b",
    "SELECT EXISTS (SELECT 1 FROM a)",
    "SELECT 'grant', 'revoke', 'truncate'",
    "SELECT AVG(price) AS set_price FROM products",
]
ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent / "blind_sql.jsonl").read_text("utf-8").splitlines()
]
UNBOUNDED = {"delete_all", "update_all", "truncate", "drop", UNREADABLE}
RULES: dict[str, Callable[[str], bool]] = {
    "select_only": only_reads,
    "no_unbounded_write": lambda text: not {*sql(text)["verbs"]} & UNBOUNDED,
}
"""What each rule of the blind texts lets pass; `docs/kinds-measured.md` has the first score."""


@pytest.mark.parametrize("text", MORE_THAN_READING)
def test_what_does_more_than_read_is_seen(text: str) -> None:
    """Or nobody can tell, which is no reading either."""
    assert not only_reads(text)


@pytest.mark.parametrize("text", READS)
def test_reading_is_reading(text: str) -> None:
    """Whatever words stand in it."""
    assert only_reads(text)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["text"][:60])
def test_texts_of_someone_who_had_not_seen_the_kind(row: dict[str, str]) -> None:
    """What breaks the rule is seen, or cannot be told; honest work passes."""
    assert RULES[row["rule"]](row["text"]) is (row["expect"] == "pass"), row["why"]


@pytest.mark.parametrize(
    ("text", "fact", "values"),
    [
        ("SELECT a, b FROM c", "columns", ("a", "b")),
        ("SELECT * FROM c", "columns", (UNREADABLE,)),
        ("SELECT count(*) FROM c", "columns", ()),
        ("SELECT a FROM s.T", "reads", ("s.t",)),
        ('SELECT a FROM "S"."T"', "reads", ("S.T",)),
        ("WITH d AS (SELECT a FROM b) SELECT a FROM d", "reads", ("b",)),
        ("INSERT INTO a SELECT x FROM b", "writes", ("a",)),
        ("INSERT INTO a SELECT x FROM b", "reads", ("b",)),
        ("UPDATE a SET x = 1 WHERE y IN (SELECT y FROM b)", "writes", ("a",)),
        ("UPDATE a SET x = 1 WHERE y IN (SELECT y FROM b)", "reads", ("b",)),
        ("DELETE FROM a", "writes", ("a",)),
        ("DELETE FROM a", "without_where", ("a",)),
        ("DELETE FROM a WHERE x = 1", "without_where", ()),
        ("DELETE FROM a WHERE 1 = 1", "without_where", ("a",)),
        ("DELETE FROM a WHERE true", "without_where", ("a",)),
        ("DELETE FROM a WHERE x = x", "without_where", ("a",)),
        ("DELETE FROM a WHERE x = 1 OR 1 = 1", "without_where", ("a",)),
        ("DELETE FROM a WHERE x = 1 OR NOT (2 > 3)", "without_where", ("a",)),
        ("DELETE FROM a WHERE x = 1 AND 1 = 1", "without_where", ()),
        ("DELETE FROM a WHERE x LIKE '%'", "without_where", ("a",)),
        ("UPDATE a SET b = 1", "verbs", ("update", "update_all")),
        ("TRUNCATE a", "without_where", ("a",)),
        ("DROP TABLE a", "writes", ("a",)),
        ("CREATE TABLE b AS SELECT x FROM a", "writes", ("b",)),
        ("SELECT 1; SELECT 2", "statements", (2,)),
        ("SELECT lower(a), f(b) FROM c", "functions", ("lower", "f")),
        ("COPY a TO PROGRAM 'x'", "reaches_out", ("copy",)),
        ("SELECT nextval('a')", "reaches_out", ("nextval",)),
        ("SELECT nextval('a')", "verbs", ("reach_out", "select")),
        ("SELECT pg_read_file('/etc/passwd')", "verbs", ("reach_out", "select")),
        ("SELECT lower(a), count(*) FROM b", "verbs", ("select",)),
    ],
)
def test_facts(text: str, fact: str, values: tuple[Any, ...]) -> None:
    """Tables, columns, rows, functions."""
    assert sql(text)[fact] == values


@pytest.mark.parametrize(
    ("text", "kind", "verbs"),
    [
        ("select $$;drop table a$$", "sql_postgres", ("select",)),
        ("select $$;drop table a$$", "sql_mysql", ("select", "drop")),
        ("SELECT 'a\\'; DROP TABLE a; -- '", "sql_mysql", ("select",)),
        ("SELECT 'a\\'; DROP TABLE a; -- '", "sql_postgres", ("select", "drop")),
        ("SELECT TOP 5 a FROM b", "sql_tsql", ("select",)),
        ("SELECT [a] FROM [b]", "sql_tsql", ("select",)),
        ("SELECT 1 x, 2 [delete] FROM a z", "sql_tsql", ("select",)),
        ("SELECT 1 DELETE FROM a", "sql_tsql", ("select", UNREADABLE)),
        ("SELECT a DROP FROM b", "sql_tsql", (UNREADABLE,)),
        ("SELECT * FROM a SHUTDOWN", "sql_tsql", ("select", UNREADABLE)),
        ("SELECT 1 RECONFIGURE", "sql_tsql", ("select", UNREADABLE)),
        ("SELECT 1 delete FROM a", "sql_postgres", ("select",)),
    ],
)
def test_one_database_reads_a_text_in_one_way(text: str, kind: str, verbs: tuple[str, ...]) -> None:
    """Where databases differ, `sql` has what each of them would find."""
    assert TEXT_KINDS[kind].read(text)["verbs"] == verbs


@pytest.mark.parametrize("text", [*MORE_THAN_READING, *READS])
def test_what_any_database_finds_is_found(text: str) -> None:
    """One database alone is asked where no sign is read differently; none finds more than that."""
    facts = sql(text)
    for name in ("sql_postgres", "sql_mysql", "sql_sqlite"):
        one = TEXT_KINDS[name].read(text)
        if one["statements"] == (UNREADABLE,):
            continue  # it is no text of this database
        for fact in NAMES[:-1]:
            more = {*one[fact]} - {*facts[fact]}
            assert not more or UNREADABLE in facts[fact], (name, fact)


def test_an_or_that_only_one_database_reads() -> None:
    """`||` joins texts in Postgres, and is `or` in MySQL: then every row is deleted."""
    assert "delete_all" in sql("DELETE FROM a WHERE 1 || id = 5")["verbs"]


def test_caps_at_their_edges() -> None:
    """At the cap all is known, above it nothing is."""
    assert sql("SELECT 1" + " " * (LONGEST - 8))["verbs"] == ("select",)
    assert sql("SELECT 1" + " " * (LONGEST - 7))["verbs"] == (UNREADABLE,)
    assert sql("SELECT " + "(" * DEPTH + "1" + ")" * DEPTH)["verbs"] == ("select",)
    assert sql("SELECT " + "(" * (DEPTH + 1) + "1" + ")" * (DEPTH + 1))["verbs"] == (UNREADABLE,)


PIECES = st.sampled_from(
    (
        *"()'\"`;,*=$-/\n\\ ",
        *(
            "SELECT",
            "DELETE",
            "FROM",
            "WHERE",
            "a",
            "1",
            "--",
            "/*",
            "*/",
            "/*!",
            "$$",
            "WITH x AS (",
        ),
        *("UNION", "CASE", "NOT", "EXPLAIN", "INTO OUTFILE 'x'", "COPY", "u&'", "é", "\x00", "END"),
    )
)


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=25).map(" ".join) | st.text(max_size=50))
def test_no_text_raises_and_every_fact_is_there(text: str) -> None:
    """Whatever the text is."""
    facts = sql(text)
    assert {*facts} == {*NAMES}
    for values in facts.values():
        assert all(each is UNREADABLE or isinstance(each, (str, int)) for each in values)


@pytest.mark.parametrize("dialect", ["sql", "sql_postgres", "sql_mysql", "sql_sqlite", "sql_tsql"])
def test_rows_that_are_inserted_are_not_selected(dialect: str) -> None:
    """`{only: [insert]}` lets an ordinary INSERT run; one that reads selects as well."""

    def verbs(text: str) -> set[str]:
        return set((TEXT_KINDS[dialect].facts_of(text) or {})["verbs"])

    assert verbs("INSERT INTO t (a) VALUES (1), (2)") == {"insert"}
    assert verbs("INSERT INTO t (a) SELECT a FROM b") == {"insert", "select"}
    assert verbs("INSERT INTO t (a) VALUES ((SELECT a FROM b))") == {"insert", "select"}


READ = "SELECT a FROM {}"
TABLE = """version: 1
tools: {db: {fields: {query: sql}}}
contracts:
  - name: rule
    guarantee: GUARANTEE
"""


@pytest.mark.filterwarnings("ignore:.*behind `SET search_path`")
@pytest.mark.parametrize(
    ("guarantee", "refused", "passed"),
    [
        (
            "db must not read the table `users`",
            ("users", "USERS", "public.users", '"Users"', "db.public.users", "`users`"),
            ("orders", "public.orders", "users_old", "users.orders"),
        ),
        (
            "{pattern: absent, match: {tool: db, args: {query: {reads: USERS}}}}",
            ("users", "public.users"),
            ("orders",),
        ),
        (
            "{pattern: absent, match: {tool: db, args: {query: {reads: {in: [users]}}}}}",
            ("users", "public.users"),
            ("orders",),
        ),
        (
            "{pattern: absent, match: {tool: db, args: {query: {reads: public.users}}}}",
            ("public.users",),
            ("users", "orders"),
        ),
    ],
)
def test_a_table_without_a_schema_is_that_of_every_schema(
    guarantee: str, refused: tuple[str, ...], passed: tuple[str, ...]
) -> None:
    """A query may write the schema or leave it out; a rule that names one speaks of that."""
    loaded = loads(TABLE.replace("GUARANTEE", guarantee))
    session = Guard(loaded.contracts, tools=loaded.inventory).session()
    for table in refused:
        outcome = session.decide("db", {"query": READ.format(table)})
        assert isinstance(outcome, Blocked), table
    for table in passed:
        assert isinstance(session.decide("db", {"query": READ.format(table)}), Allowed), table


@requirement("S-LOAD-14")
def test_a_table_that_is_forbidden_with_its_schema_is_warned_of() -> None:
    """Another database in front, or a search path, and it is another name; a bare name is not."""
    rule = "{pattern: absent, match: {tool: db, args: {query: {reads: NAME}}}}"
    for names in ("hr.salaries", "[hr.salaries, hr.bonus]"):
        loaded = loads(TABLE.replace("GUARANTEE", rule.replace("NAME", names)))
        with pytest.warns(
            ContractWarning, match=r"`other\.hr\.salaries`.* `\{reads: salaries\}` is"
        ):
            Guard(loaded.contracts, tools=loaded.inventory)
    loaded = loads(TABLE.replace("GUARANTEE", rule.replace("NAME", "salaries")))
    assert Guard(loaded.contracts, tools=loaded.inventory).policy.warnings == ()


def test_reading_is_more_than_select() -> None:
    """A plan, tables and columns may be asked for; what a plan runs counts."""
    loaded = loads(TABLE.replace("GUARANTEE", "db is read-only"))
    session = Guard(loaded.contracts, tools=loaded.inventory).session()
    for text in ("SELECT 1", "EXPLAIN SELECT 1", "SHOW TABLES", "DESCRIBE orders"):
        assert isinstance(session.decide("db", {"query": text}), Allowed), text
    for text in ("EXPLAIN ANALYZE DELETE FROM a WHERE b = 1", "SHOW TABLES; DROP TABLE a"):
        assert isinstance(session.decide("db", {"query": text}), Blocked), text


@pytest.mark.parametrize("text", ["SHOW TABLE", "SHOW", "SHOW FULL", "SHOW INDEX"])
@pytest.mark.parametrize("kind", ["sql", "sql_mysql", "sql_postgres", "sql_sqlite", "sql_tsql"])
def test_a_statement_that_ends_too_soon_raises_nothing(kind: str, text: str) -> None:
    """The parser raises errors that are not its own there; it is no text that only selects."""
    facts = TEXT_KINDS[kind].read(text)
    assert facts is not None
    assert set(facts["verbs"]) != {"select"}


@pytest.mark.filterwarnings("ignore:.*behind `SET search_path`")
@pytest.mark.parametrize(
    ("asked", "refused", "passed"),
    [
        (
            "without_where: users",
            ("DELETE FROM public.users", 'UPDATE "Users" SET a = 1', "TRUNCATE db.users"),
            ("DELETE FROM users WHERE id = 1", "DELETE FROM public.orders", "SELECT 1"),
        ),
        ("without_where: public.users", ("DELETE FROM public.users",), ("DELETE FROM users",)),
    ],
)
def test_every_row_of_a_table_is_meant_in_every_schema(
    asked: str, refused: tuple[str, ...], passed: tuple[str, ...]
) -> None:
    """As what is read and written is."""
    guarantee = f"{{pattern: absent, match: {{tool: db, args: {{query: {{{asked}}}}}}}}}"
    loaded = loads(TABLE.replace("GUARANTEE", guarantee))
    session = Guard(loaded.contracts, tools=loaded.inventory).session()
    assert all(isinstance(session.decide("db", {"query": each}), Blocked) for each in refused)
    assert all(isinstance(session.decide("db", {"query": each}), Allowed) for each in passed)


@pytest.mark.parametrize(
    ("fact", "value", "instead"),
    [
        ("reads", "in [users]", "read_names[]"),
        ("writes", '= "users"', "written_names[]"),
        ("without_where", 'in ["a.b", "users"]', "without_where_names[]"),
    ],
)
def test_a_formula_that_compares_whole_names_with_a_bare_one_does_not_load(
    fact: str, value: str, instead: str
) -> None:
    """`public.users` would pass it."""
    rule = f"{{ltl: 'G !called(db, query:sql.{fact}[] {value})'}}"
    loaded = loads(TABLE.replace("GUARANTEE", rule))
    with pytest.raises(ContractError, match=r"compares whole names") as caught:
        Guard(loaded.contracts, tools=loaded.inventory)
    assert instead in str(caught.value)


@pytest.mark.filterwarnings("ignore:.*behind `SET search_path`")
@pytest.mark.parametrize(
    "written",
    [
        "query:sql.reads[] in [public.users]",
        "query:sql.read_names[] in [users]",
        "every query:sql.reads[] in [users]",
        'query:sql.reads[] matches "users$"',
        'query:sql.reads[] != "users"',
    ],
)
def test_whole_names_and_demands_on_all_of_them_load(written: str) -> None:
    """What a bare name leaves out, these refuse or say."""
    loaded = loads(TABLE.replace("GUARANTEE", f"{{ltl: 'G !called(db, {written})'}}"))
    Guard(loaded.contracts, tools=loaded.inventory)


def test_a_variable_is_bound_by_the_whole_names_of_tables() -> None:
    """`{reads: $t}` is about each table that a query reads, and no text `$t`."""
    loaded = loads(
        "version: 1\ntools:\n  db: {fields: {query: sql}}\n  save: {fields: {table: string}}\n"
        "contracts:\n- name: read first\n  guarantee:\n    pattern: precedence\n"
        "    match: {tool: save, args: {table: $t}}\n"
        "    requires: {tool: db, args: {query: {reads: $t}}}\n"
    )
    session = Guard(loaded.contracts, tools=loaded.inventory).session()
    call = session.decide("db", {"query": "SELECT a FROM s.t JOIN u ON true"})
    assert isinstance(call, Allowed)
    session.settle(call.id, output="done")
    passed = {
        name: isinstance(session.decide("save", {"table": name}), Allowed)
        for name in ("s.t", "u", "t", "v")
    }
    assert passed == {"s.t": True, "u": True, "t": False, "v": False}
