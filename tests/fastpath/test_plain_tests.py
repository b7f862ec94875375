"""Plain tests that come before an expression is searched or a path is read: they never say more."""

from __future__ import annotations

import random

import pytest
import re2

from sponsio_like import Allowed, Guard, contract
from sponsio_like.engine.fastpath.literals import end_of_all, part_of_all
from sponsio_like.patterns import arg_blacklist
from sponsio_like.values import plainly_under, under
from tests.support.size import sized

PARTS = [
    *("a", "b", "ab", "-", r"\.", r"\s", r"\b", r"\d", ".", "^", "$", "[ab]", "[^a]", r"[\s-]"),
    *("(a|b)", "(?:ab)", r"(?:\s+)", "(a*b)", "(?i)", "(?i:a)", "(?s:.)", r"\x61", r"\Qa.\E"),
    *("|", "[[:alpha:]]", "[]a]", r"[\]]", r"\pL", "{", "}", "]", ")"),
]
TIMES = ["", "", "", "*", "+", "?", "{0}", "{2}", "{0,1}", "{1,}", "*?", "+?", "??", "{,2}", "{a}"]


def expression(dice: random.Random) -> str:
    """An expression, which may be wrong."""
    quiet = "(?i)" if dice.random() < 0.2 else ""
    few = PARTS if dice.random() < 0.3 else PARTS[:21]
    parts = [f"{dice.choice(few)}{dice.choice(TIMES)}" for _ in range(dice.randint(1, 5))]
    return f"{quiet}{''.join(parts)}"


def finder(pattern: str) -> re2._Regexp | None:
    """The expression, compiled; None if it is wrong."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern.encode(), options)
    except re2.error:
        return None


def test_what_is_needed_stands_in_whatever_is_found() -> None:
    """Without it, the expression is not searched."""
    dice, told, found = random.Random(1), 0, 0
    for _ in range(sized(20_000, 4_000)):
        pattern = expression(dice)
        part, search = part_of_all(pattern), finder(pattern)
        if part is None or search is None:
            continue
        told += 1
        for _ in range(12):
            text = "".join(dice.choices("abAB-. 1{},", k=dice.randint(0, 6)))
            if search.search(text.encode()) is not None:
                found += 1
                where = text.lower() if part[1] else text
                assert (part[0].lower() if part[1] else part[0]) in where, (pattern, text)
    assert told > 300
    assert found > 300


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        (r"169\.254\.169\.254", ("169.254.169.254", False)),
        ("(?i)file://", ("file://", True)),
        ("ab?cde", ("cde", False)),
        ("abc*de{0,3}f", ("ab", False)),
        (r"rm(?:\s+)+-[rf]+", ("rm", False)),
        (r"curl[^|]*\|\s*(ba)?sh", ("curl", False)),
        ("a|b", None),
        ("(?i:abc)", None),
        (r"\x41b", None),
        (r"\Qa.c\E", None),
        ("[0-9]+", None),
    ],
)
def test_the_longest_part_is_needed(pattern: str, part: tuple[str, bool] | None) -> None:
    """Of expressions with alternatives, flags and escapes nothing is told."""
    assert part_of_all(pattern) == part


def test_an_end_is_the_end_of_all_that_is_found() -> None:
    """Of other expressions than a text and `$`, none is told."""
    assert end_of_all(r"@example\.com$") == "@example.com"
    assert [end_of_all(each) for each in ("a|b$", "ab", "a.$", "^a$", r"a\$", "(a)$")] == [None] * 6
    search = finder(r"@example\.com$")
    assert search is not None
    for text in ("a@example.com", "a@example.com ", "@example.comx", "a@example.com@example.com"):
        assert (search.search(text.encode()) is not None) == text.endswith("@example.com")


FOLDERS = [("/workspace", "/tmp"), ("/",), ("/proc/self",), ("/a/", "/b b"), ("work",)]  # noqa: S108


@pytest.mark.parametrize("folders", FOLDERS, ids=str)
def test_a_path_that_is_plainly_in_a_folder_is(folders: tuple[str, ...]) -> None:
    """Whatever else stands in it."""
    dice, plainly, told = random.Random(2), plainly_under(folders), 0
    steps = [
        "workspace",
        "tmp",
        "proc",
        "self",
        "root",
        "a",
        "b b",
        "..",
        ".",
        "",
        "~",
        "%2e",
        "x.py",
    ]
    for _ in range(sized(20_000, 4_000)):
        path = "/".join(["", *dice.choices(steps, k=dice.randint(1, 4))])
        if plainly(path):
            told += 1
            assert under(path, folders) is True, path
    assert told > 100 or folders in {("/proc/self",), ("work",)}
    assert plainly(f"/workspace/{'x' * 5000}") is False


def test_a_pattern_with_capitals_is_found_beside_one_without_case() -> None:
    """All parts that a text is searched for first are in lower case, if one of them is."""
    rule = contract("c").guarantees(arg_blacklist("sh", "cmd", ["(?i)sudo", "DROP TABLE"]))
    session = Guard([rule]).session()
    ran = [isinstance(session.decide("sh", {"cmd": each}), Allowed) for each in TEXTS]
    assert ran == [False, True, False, True]


TEXTS = ("DROP TABLE x", "drop table x", "SuDo x", "ls")
