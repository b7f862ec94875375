"""Broken, long and deep texts of every kind, and words of commands that are read in two ways."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sponsio_like import Allowed, Blocked, Guard, contract
from sponsio_like.kinds import domain, email, ident, money, shell, url
from sponsio_like.kinds.email import NESTED
from sponsio_like.kinds.shell_words import FIELDS
from sponsio_like.values import TEXT_KINDS, UNREADABLE, TextKind
from sponsio_like.values.effort import Effort, once_per_decision
from tests.fuzz.texts import campaign, changed, read_text, seeds
from tests.support.size import sized

X = (UNREADABLE,)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(TEXT_KINDS))
def test_broken_texts_have_facts_of_the_right_shape(name: str) -> None:
    """Nothing is raised, each fact has its values, and a second reading finds the same."""
    among, rng = seeds(), random.Random(name)
    for _ in range(sized(2_000, 60)):
        read_text(TEXT_KINDS[name], changed(among, rng)[: sized(20_000, 2_000)])


def test_the_campaign_counts_texts_and_knows_the_slowest() -> None:
    """A campaign reads texts until its time is over; the length of the slowest is told."""
    tally = campaign(TEXT_KINDS["id"], 0.05, 1)
    assert tally.texts > 0
    assert tally.slowest >= 0
    assert tally.length >= 0


def test_caps_at_their_edges() -> None:
    """A text of the most characters, brackets or words is read; one more, and it is unknown."""
    host = "a" * 60 + "." + "b" * 60 + ".org"
    assert url("http://x.org/" + "a" * (8_192 - 13))["host"] == ("x.org",)
    assert url("http://x.org/" + "a" * (8_192 - 12))["host"] == X
    assert email(" " * (2_000 - 7) + "a@b.org")["domain"] == ("b.org",)
    assert email(" " * (2_000 - 6) + "a@b.org")["domain"] == X
    assert domain(host)["name"] == (host,)
    assert domain("a." * 125 + "org")["name"] == ("a." * 125 + "org",)
    assert domain("a." * 126 + "org")["name"] == X
    assert money("1" * 64)["amount"] == (int("1" * 64),)
    assert money("1" * 65)["amount"] == X
    assert ident("a" * 256)["value"] == ("a" * 256,)
    assert ident("a" * 257)["value"] == X


def test_recipients_with_comments_in_comments_and_groups_in_groups() -> None:
    """Both may be nested, to a depth that the reader of the standard library bears."""
    for depth in (1, NESTED):
        assert email("(" * depth + ")" * depth + "a@b.org")["domain"] == ("b.org",)
    for depth in (NESTED + 1, 900):
        assert email("(" * depth + ")" * depth + "a@b.org")["domain"] == X
        assert email("x:" * depth + "a@b.org")["domain"] == X


def test_a_star_alone_is_no_query() -> None:
    """A text that sqlglot reads as a bare `*` is unknown."""
    assert TEXT_KINDS["sql_mysql"].read("*")["columns"] == X


def test_more_fields_of_one_word_than_are_followed() -> None:
    """A word that gives more fields than are followed makes what is run unknown."""
    half = shell(f"echo {{1..{FIELDS // 2}}}")["calls"]
    assert half == (" ".join(["echo", *map(str, range(1, FIELDS // 2 + 1))]),)
    assert shell(f"echo {{1..{FIELDS + 1}}}")["calls"] == X


ENDLESS = "|" * 978 + "h~ost" + "+" * 25 + "{a,b}" + "+" * 8 + "--" + "+" * 5 + "#" * 292
"""No shell: the parser takes seconds, the cube of its length, to find what might be meant."""


def test_a_text_that_the_parser_does_not_get_through_is_unknown() -> None:
    """The parser's steps are counted; a long script is read as a short one."""
    assert all(values == X for values in shell(f"rm a; {ENDLESS}").values())
    assert "rm" in shell(f"rm a; {ENDLESS[-300:]}")["runs"]
    script = "git add 'a b' | tee x >> y\n" * 290
    assert len(shell(script)["runs"]) == 2


@pytest.mark.parametrize("sign", ["||[-<", "!|", "||", "|&", "<<A\n"])
def test_a_text_in_which_the_parser_goes_back_at_each_sign_is_unknown(sign: str) -> None:
    """How often the parser goes back is counted: 8,000 such characters took it half a second."""
    assert all(values == X for values in shell(f"rm a; {sign * (8_000 // len(sign))}").values())


@pytest.mark.parametrize("word", ["{a,b}" * 40 + "c" * 500, "x{1..9}" * 400])
def test_braces_that_would_be_followed_too_long_are_unknown(word: str) -> None:
    """A word with very many braces gives what is unknown; the command that has it is known."""
    facts = shell(f"rm {word}")
    assert facts["runs"] == ("rm",)
    assert facts["deletes"] == X


def test_very_many_square_brackets_are_no_query_that_is_read() -> None:
    """The parser of SQL takes the square of their number."""
    assert TEXT_KINDS["sql_postgres"].read("select a" + "[1]" * 60)["verbs"] == ("select",)
    assert TEXT_KINDS["sql_postgres"].read("select a" + "[1]" * 200)["verbs"] == X


WORDS = st.sampled_from(
    ["ls", "-la", "a.txt", "*", "x?", "~", "~/a", "a=b", "'a b'", '"a b"', "''", '""', "+x", "%d"]
)


@given(st.lists(WORDS, min_size=1, max_size=6), st.sampled_from([" ", "  "]))
def test_plain_commands_are_read_as_word_by_word(words: list[str], blank: str) -> None:
    """A command that is read at once has the words that it has beside one with an escape."""
    text = f"ls {blank.join(words)}"
    (call,) = shell(text)["calls"]
    assert shell(f"{text} \\y")["calls"] == (f"{call} y",)


@pytest.mark.parametrize(
    "part", ["[a&&b]|", "[a||b] | ", "[a|b]|", "! [a &&b]|", "[ a&&b]|&", "[a\n|b]|"]
)
def test_tests_that_may_be_words_are_counted(part: str) -> None:
    """The parser takes twice the time for each one more: a hundred would take for ever."""
    assert shell(part * 100)["runs"] == X
    assert shell(part * 17)["runs"] == X


def test_brackets_that_double_nothing_are_read() -> None:
    """Tests with blanks, and patterns in words."""
    assert UNREADABLE not in shell("[ -n a ] && ls\n" * 40)["runs"]
    assert UNREADABLE not in shell("grep '[a-z]' f | wc -l\n" * 40)["runs"]
    assert UNREADABLE not in shell('[[ $a == b && -n "$c" ]] && ls\n' * 40)["runs"]


SQL = [each for each in sorted(TEXT_KINDS) if each.startswith("sql")]


@pytest.mark.parametrize("name", SQL)
@pytest.mark.parametrize(
    "text",
    [
        "select * from a" + " join b" * 30,
        "select * from a" + " left join b" * 1_000,
        "select * from a" + " straight_join b" * 30,
        "select 1 from a" + " join natural" * 30,
        "select 1 from a" + " join b as natural" * 30,
        "with a as (select 1) " + "+ if " * 22 + ")",
        "select b " + "+ if " * 40 + "from a",
        "merge into a using b " + "( struct " * 22 + ")",
        "create table a (" + "union ( " * 22 + "from a",
    ],
    ids=[
        "joins",
        "more joins",
        "straight joins",
        "a name",
        "an alias",
        "if",
        "more if",
        "types",
        "unions",
    ],
)
def test_a_query_for_which_the_parser_takes_twice_the_time_for_each_part_is_unknown(
    name: str, text: str
) -> None:
    """Joins without a condition, `if` without `then`, types in types: 30 would take for ever."""
    assert TEXT_KINDS[name].read(text)["verbs"] == X


def test_joins_that_have_a_condition_or_need_none_are_read() -> None:
    """However many there are; and a few that have none."""
    for joins in (
        "select * from a" + " join b on a.x = b.x" * 40,
        "select * from a" + " join b using (x)" * 40,
        "select * from a" + " cross join b" * 40,
        "select * from a" + " natural join b" * 40,
        "select * from a" + " join b" * 8,
        "select * from a" + " join b join c on b.x = c.x on a.x = b.x" * 4,
    ):
        assert TEXT_KINDS["sql"].read(joins)["verbs"] == ("select",)


@pytest.mark.parametrize("name", SQL)
def test_long_conditions_and_words_in_a_row_raise_nothing(name: str) -> None:
    """A condition of hundreds of parts is read; thousands of EXPLAIN are unknown."""
    where, read = "delete from a where ", TEXT_KINDS[name].read
    assert "delete_all" not in read(where + " or ".join(["x = 1"] * 450))["verbs"]
    assert "delete_all" not in read(where + " and ".join(["x = 1", *["1 = 1"] * 450]))["verbs"]
    assert "delete_all" in read(where + " or ".join([*["x = 1"] * 450, "1 = 1"]))["verbs"]
    assert "delete_all" in read(where + " and ".join(["1 = 1"] * 450))["verbs"]
    assert read("explain " * 1_500 + "select 1")["verbs"] == X
    assert read("explain " * 3 + "select 1")["verbs"] != X


def select(columns: Iterable[str]) -> str:
    """Return a query of these columns."""
    return " ".join(("select", ", ".join(columns), "from t"))


@pytest.mark.parametrize(("many", "expected"), [(2, Allowed), (3, Blocked)])
def test_what_one_decision_reads_of_texts_is_counted(many: int, expected: type) -> None:
    """Each text of a list is within the cap, and all of them together are not: none is searched for
    ever. What has been read before is counted, too, so that the answer is the same again.
    """
    rule = {"pattern": "absent", "match": {"tool": "run", "args": {"texts[]:sql.verbs[]": "drop"}}}
    guard = Guard([contract("read only").guarantees(rule)])
    texts = [select(f"column_number_{k}_{n}" for k in range(2_000))[:14_000] for n in range(many)]
    for _ in range(2):
        assert type(guard.session().decide("run", {"texts": texts})) is expected


def test_a_text_is_counted_once_for_all_contracts() -> None:
    """Twenty contracts about one long query read it once, and refuse nothing that is honest."""
    rule = {"pattern": "absent", "match": {"tool": "run", "args": {"text:sql.verbs[]": "drop"}}}
    guard = Guard([contract(f"c{n}").guarantees(rule) for n in range(20)])
    text = select(f"column_{k}" for k in range(900))
    assert type(guard.session().decide("run", {"text": text})) is Allowed


@pytest.mark.parametrize(("many", "expected"), [(30, Allowed), (40, Blocked)])
def test_commands_that_are_lists_of_words_are_counted_as_texts(many: int, expected: type) -> None:
    """Each command is within the cap of `shell`; so many of them are more than one decision."""
    rule = {"pattern": "absent", "match": {"tool": "run", "args": {"all[]:shell.runs[]": "rm"}}}
    guard = Guard([contract("no rm").guarantees(rule)])
    commands = [["echo", f"{k}", "x" * 8_000] for k in range(many)]
    assert type(guard.session().decide("run", {"all": commands})) is expected


def test_a_kind_may_have_the_name_of_another_reading() -> None:
    """What is cached for a decision is cached by kind: `forms` is also what regexes read."""
    known = TextKind("forms", lambda text: {"size": (len(text),)}, {"size": "its length"}, "size")
    with Effort():
        assert once_per_decision("forms", "abc", lambda _: "other") == "other"
        assert known.facts_of("abc") == {"size": (3,)}
