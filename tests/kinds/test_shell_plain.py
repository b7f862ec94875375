"""Plain texts of the kind `shell`: without a tree they say what they say with one."""

from __future__ import annotations

import importlib
import random
from typing import Any

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
    *(
        "$X",
        "${X}",
        '"$X"',
        '"a $Y b"',
        "'$X'",
        "a'b'\"c\"",
        "x$X",
        "$X/a",
        "-$Y",
        "*$X",
        "$1",
        '""$X',
    ),
)
SETS = ("X=1", "X=rm", "X='rm a'", 'Y="$X b"', "X=", "Y=$X", "X=*", "Y=-rf", "X=$1", "X=a:b", "_=1")
INTO = ("2>&1", "2>/dev/null", "> f", ">> f", ">f", "> /tmp/f", "> /dev/null", "2> e", "3>f", ">&2")
ENDS = (
    " | ",
    "|",
    "; ",
    ";",
    "\n",
    "\n\n",
    " ;\n",
    " || ",
    " # it's\n",
    "\n# $X\n",
    ";;",
    " && ",
    " & ",
)


def text_of(dice: random.Random) -> str:
    """Some commands, most of them plain."""
    made = []
    for _ in range(dice.randint(1, 4)):
        words = [dice.choice(NAMES), *dice.choices(WORDS, k=dice.randint(0, 3))]
        words += dice.choices(INTO, k=dice.choice((0, 0, 0, 1, 2)))
        said = dice.choice(SETS) if dice.random() < 0.2 else dice.choice((" ", "  ")).join(words)
        made += [said, dice.choice(ENDS[: dice.choice((10, 13))])]
    text = "".join(made[: -dice.randint(0, 1) or None])
    loop = f"for X in a rm; do\n{text.rstrip(' |&;')}\ndone"
    return loop if dice.random() < 0.1 else text


def only_more_emptied(tree: Any, plain: Any) -> bool:
    """True if the facts are the same, but for more files that are emptied."""
    same = tree | {"deletes": plain["deletes"]} == plain
    return same and set(tree["deletes"]) < set(plain["deletes"])


@pytest.mark.long
def test_plain_texts_say_the_same_without_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """All facts are equal, but where the parser errs: then the tree says that it is unknown.

    It gives a redirection behind `a || b` to both; only without a tree is seen what `b` empties.
    """
    dice = random.Random(18)
    texts = [text_of(dice) for _ in range(4_000)]
    given = [text for text in texts if plain_lines(text)[0] or text[:4] == "for "]
    assert len(given) > 800
    short = [shell(text) for text in given]
    monkeypatch.setattr(WALK, "plain_lines", lambda text: ([], text))
    monkeypatch.setattr(WALK, "plain_line", lambda state, text: None)
    differ = [text for text, facts in zip(given, short, strict=True) if shell(text) != facts]
    wrong = [
        text
        for text, facts in zip(given, short, strict=True)
        if text in differ and UNREADABLE not in shell(text)["runs"]
        if not ("||" in text and only_more_emptied(shell(text), facts))
    ]
    assert wrong == []
    assert len(differ) < 0.03 * len(given)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "if b",
            "X=1 a",
            "X=1 Y=2",
            "_=1",
            "X+=a",
            "X[1]=a",
            "X=(a)",
            "a &",
            "a <f",
            "a#b",
            "a \\b",
        ),
        *(
            "a `b`",
            "a $(b)",
            'a "$(b)"',
            "a {b,c}",
            "a ${b:-c}",
            "a $?",
            "a $@",
            "a $10",
            "$1a",
            "a $",
        ),
        *(
            'a "!"',
            'a "\\$b"',
            "a =~ b",
            "export A",
            "(a)",
            "! a",
            "[ a ]",
            "a é",
            "a\tb",
            "a | | b",
        ),
        *("a ||", "a || if b", "a || X=1", "a >& b", "a > 'b", "a # b\\\nc", "a | X=1"),
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
        ("a\nb $X\nc", 3, ""),
        ("a\nb $(c)\nd", 1, "b $(c)\nd"),
        ("a && X=1; $X", 3, ""),
        ("# a $(b)\n\n  # c\nd # e", 1, ""),
        ("a\n# b $(c)", 1, ""),
        ("a || b || c; d", 2, ""),
        ("a 'b\nc' \"d\ne\"\nf", 2, ""),
        ("a &&", 0, "a &&"),
        ("a &&\n", 0, "a &&\n"),
        ("a && b || c", 2, ""),
        ("a && b || (c)", 1, "b || (c)"),
        ("a\ncat <<E\nb\nE", 1, "cat <<E\nb\nE"),
        ("a | b $(X)", 0, "a | b $(X)"),
    ],
)
def test_the_first_lines_may_be_plain(text: str, plain: int, rest: str) -> None:
    """The text behind them has a tree; a pipeline is never cut."""
    lines, behind = plain_lines(text)
    assert (len(lines), behind) == (plain, rest)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("X='r m'; $X \"$X\" '$X' a$X", ("r m r m $X ar m",)),
        ("X=-rf\nrm ${X} x'y'\"z$X\"", ("rm -rf xyz-rf",)),
        ("X=a; c || printf -v X b; echo $X", UNREADABLE),
        ("X=a\nb || cd $X\necho $X$X", ("b", "cd a", "echo aa")),
        ('X=; a "$X"b # $(c)', ("a b",)),
        ("X=rm\nfor Y in 1 2; do $X $Y; X=cp; done", UNREADABLE),
        ("f() { rm $1; }\nf a && f b", ("rm a", "rm b")),
        ("a ||\nb", ("a", "b")),
    ],
)
def test_variables_are_expanded_where_they_stand(text: str, calls: Any) -> None:
    """As the shell does, line by line; what may be set or not is unknown."""
    found = shell(text)["calls"]
    assert UNREADABLE in found if calls is UNREADABLE else found == calls


def test_a_variable_behind_another_one_is_seen() -> None:
    """The parser takes the second one in a word for letters, and the word for two."""
    assert shell("X=a\nY=b\nfor i in 1; do cat p$X/q$Y.json; done")["reads"] == ("pa/qb.json",)
    assert shell("cat p$X/q$Y.json")["reads"] == (UNREADABLE,)


def test_a_long_text_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The texts of its nodes are cut from it; plain lines in front are not parsed at all."""
    lengths, makes = list[int](), WALK._parser()

    class Counted:
        def parse(self, read: Any, **named: Any) -> Any:
            lengths.append(len(read(0, None)))
            return makes().parse(read, **named)

    monkeypatch.setattr(WALK, "_parser", lambda: Counted)
    shell("ls $X\n" * 200)
    assert lengths == []
    text = "if a; then b; fi\n" * 100
    assert shell("ls\n" + text)["runs"] == ("ls", "a", "b")
    assert lengths == [len(text)]


def test_a_statement_that_stands_twice_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop over words reads the lines of its body once."""
    looked = list[str]()
    plain = importlib.import_module("sponsio_like.kinds.shell_plain")
    line = plain._line

    def noted(found: Any) -> Any:
        looked.append(found[0])
        return line(found)

    monkeypatch.setattr(plain, "_line", noted)
    assert len(shell("for X in 1 2 3 4 5; do echo $X | sort; done")["calls"]) == 6
    assert looked == ["echo $X | sort"]
