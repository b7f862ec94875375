"""Plain texts of the kind `shell`: without a tree they say what they say with one."""

from __future__ import annotations

import importlib
import random

import pytest

from sponsio_like.kinds import UNREADABLE, shell
from sponsio_like.kinds.shell_plain import plain_lines

WALK = importlib.import_module("sponsio_like.kinds.shell")  # the door has a function of this name
NAMES = (
    *("ls", "rm", "cat", "echo", "cd", "sh", "tee", "xargs", "printf", "test", "let", "if", "for"),
    *("export", "curl", "sudo", "find", "env", "alias", "./a", "/bin/rm", ".", "exec", "python3"),
    *("sed", "awk", "eval", "dd", "git", "select", "function", "trap", "set", "read", "mapfile"),
)
WORDS = (
    *("a", "b", "-r", "-rf", "/w/x", "../y", "'*'", '"a b"', "'|'", "'a;b'", "*.py", "a=1", "x?"),
    *("~", "~/a", "-", "--", "2", "10", "@", "%", ",", "+", "^", ":x", "--a=b", "''", "'rm x'"),
    *("-c", "-exec", "of=/x", "=a", "=~", "==", "?", "/dev/stdout"),
)
INTO = ("2>&1", "2>/dev/null", "> f", ">> f", ">f", "> /tmp/f", "> /dev/null", "2> e", "3>f", ">&2")
ENDS = (" | ", "|", "; ", ";", "\n", "\n\n", " ;\n", ";;", " && ", " & ")


def text_of(dice: random.Random) -> str:
    """Some commands, most of them plain."""
    made = []
    for _ in range(dice.randint(1, 4)):
        words = [dice.choice(NAMES), *dice.choices(WORDS, k=dice.randint(0, 3))]
        words += dice.choices(INTO, k=dice.choice((0, 0, 0, 1, 2)))
        made += [dice.choice((" ", "  ")).join(words), dice.choice(ENDS[: dice.choice((7, 10))])]
    return "".join(made[: -dice.randint(0, 1) or None])


def test_plain_texts_say_the_same_without_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """All facts are equal, but where the parser errs: then the tree says that it is unknown."""
    dice = random.Random(18)
    given = [text for text in (text_of(dice) for _ in range(4_000)) if plain_lines(text)[0]]
    assert len(given) > 800
    short = [shell(text) for text in given]
    monkeypatch.setattr(WALK, "plain_lines", lambda text: ([], text))
    differ = [text for text, facts in zip(given, short, strict=True) if shell(text) != facts]
    assert [text for text in differ if UNREADABLE not in shell(text)["runs"]] == []
    assert len(differ) < 0.02 * len(given)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "$X a",
            "if b",
            "X=1 a",
            "a || b",
            "a &",
            "a <f",
            "a # b",
            "a \\b",
            "a `b`",
            "a {b,c}",
        ),
        *(
            "a 'b'c",
            'a "$b"',
            "a =~ b",
            "export A",
            "(a)",
            "! a",
            "[ a ]",
            "a é",
            "a\tb",
            "a | | b",
        ),
    ],
)
def test_what_is_not_plain_has_a_tree(text: str) -> None:
    """Anything that means more than itself."""
    assert plain_lines(text) == ([], text)


@pytest.mark.parametrize("part", ["a ", "a|", "a\n", "a 'b' ", "a >f ", "a  ", "a;"])
def test_long_texts_are_looked_through_once(part: str) -> None:
    """What stands at the end makes it no plain text, and nothing is tried twice."""
    assert plain_lines(part * 50_000 + "(")[1].endswith("(")


@pytest.mark.parametrize(
    ("text", "plain", "rest"),
    [
        ("a && b", 2, ""),
        ("a; if b; then c; fi", 1, "if b; then c; fi"),
        ("a\nb $X\nc", 1, "b $X\nc"),
        ("a && $X", 1, "$X"),
        ("a &&", 0, "a &&"),
        ("a &&\n", 0, "a &&\n"),
        ("a && b || c", 1, "b || c"),
        ("a\ncat <<E\nb\nE", 1, "cat <<E\nb\nE"),
        ("a | b $X", 0, "a | b $X"),
    ],
)
def test_the_first_lines_may_be_plain(text: str, plain: int, rest: str) -> None:
    """The text behind them has a tree; a pipeline is never cut."""
    lines, behind = plain_lines(text)
    assert (len(lines), behind) == (plain, rest)
