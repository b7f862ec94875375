"""Files that a command leaves empty are deleted; links that it makes are followed."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like import Allowed, Guard
from sponsio_like.contracts import loads
from sponsio_like.kinds import UNREADABLE, shell

EMPTIED = [
    *(
        "> a",
        ">| a",
        ": > a",
        "true > a",
        "cat /dev/null > a",
        "cat < /dev/null > a",
        "echo -n > a",
    ),
    *("printf '' > a", "tee a < /dev/null", "cat /dev/null | tee a", "echo -n '' | tee a"),
    *("truncate -s 0 a", "truncate -s0 a", "truncate --size=0 a", "cp /dev/null a"),
    *("install /dev/null a", "ln -sf /dev/null a", "sed -i d a", "sed -i '1,$d' a", "sed -i.b d a"),
    *("sh -c '> a'", "sudo sh -c ': > a'", "for f in a; do > $f; done", "if true; then : > a; fi"),
    *("cat <<EOF > a\nEOF", "f() { :; } > a; f", "x=a; > $x", "cd x > a; cd ..; > ../a"),
    *('python3 -c \'open("a", "w").close()\'', 'python3 -c \'open("a", mode="wb")\''),
    "python3 - <<E\nfrom io import open as o\nwith o(file='a', mode='w+'):\n    pass\nE",
    *("test -f x > a", "cd . > a", "&> a", "2> a", "> a 2>&1", "> a &", "(> a)", "> a || true"),
]
KEPT = [
    *("echo x > a", "echo > a", ">> a", ": >> a", "make > a", "ls > a", "cat b > a", "x | tee a"),
    *("exec > a", "exec > a 2>&1", "exec 2> a", "export > a", "export -p > a", "declare -p > a"),
    *("set > a", "alias > a", "alias x > a", "trap > a", "trap -p > a", "hash > a", "readonly > a"),
    *("type ls > a", "source x > a", "for i in 1 2; do ls; done > a", "if x; then y; fi > a"),
    *("while read l; do echo $l; done < b > a", "{ date; ls; } > a", "(ls) > a", "f > a"),
    *(
        "f() { ls; }; f > a",
        "time ls > a",
        "eval ls > a",
        "python3 x.py > a",
        "touch a",
        "touch a b",
    ),
    *("truncate -s 10M a", "truncate -s +1 a", "cp b a", "sed -i 1d a", "sed -i /x/d a", "sed d a"),
    *(
        "> /dev/null",
        "ls > /dev/null 2>&1",
        "echo hi > f; cat f > a",
        "sort -o a a",
        *("nohup x > a &", "> a echo x", "2> a make", "> a 2>&1 make", "make 2> a", "make &> a"),
    ),
    *("python3 -c 'open(\"a\").close()'", 'python3 -c \'open("a", "a").close()\''),
    *('python3 -c \'open("a", "w").write(x)\'', 'python3 -c \'f = open("a", "w")\''),
    "python3 - <<E\nwith open('a', 'w') as f:\n    f.write('x')\nE",
    *("curl -o a b.c", "cat <<EOF > a\nx\nEOF", "ln -s b a", "tee -a a < /dev/null", "env > a"),
]


@pytest.mark.parametrize("text", EMPTIED)
def test_a_file_of_which_nothing_is_left_is_deleted(text: str) -> None:
    """Whoever forbids to delete `a` means what it holds."""
    assert any(str(each).endswith("a") for each in shell(text)["deletes"])


@pytest.mark.parametrize("text", KEPT)
def test_a_file_that_is_written_anew_is_not_deleted(text: str) -> None:
    """Something may be written there: it is among `writes` alone."""
    assert shell(text)["deletes"] == ()


def test_an_unknown_file_that_is_emptied_is_unknown() -> None:
    """A rule about what is deleted refuses it."""
    assert UNREADABLE in shell("> $X")["deletes"]


RULE = """version: 1
tools: {bash: {fields: {command: shell}}}
contracts: [{name: rule, guarantee: {pattern: absent, match: {tool: bash, args: {command: ASKED}}}}]
"""


@pytest.mark.parametrize(
    ("asked", "text", "passes"),
    [
        ("{deletes_outside: /w}", "mv /w/a /w/b", True),
        ("{deletes_outside: /w}", "mv /etc/a /w/b", False),
        ("{deletes_outside: /w}", ": > /w/a", True),
        ("{deletes_outside: /w}", ": > /etc/hosts", False),
        ('{deletes: {matches: "."}}', "mv a b", False),
        ("{runs: [rm, rmdir, unlink, shred]}", "mv a b", True),
    ],
)
def test_what_is_moved_away_is_gone_from_where_it_was(asked: str, text: str, passes: bool) -> None:
    """Within a folder that a rule allows, files may be moved."""
    file = loads(RULE.replace("ASKED", asked))
    outcome = (
        Guard(file.contracts, tools=file.inventory).session().decide("bash", {"command": text})
    )
    assert isinstance(outcome, Allowed) is passes


@pytest.mark.parametrize(
    ("text", "fact", "path"),
    [
        ("ln -s /etc /w/e; echo x > /w/e/hosts", "writes", "/etc/hosts"),
        ("ln -s /etc . && cat etc/passwd", "reads", "/etc/passwd"),
        ("cd /w; ln -sfn ../etc x; rm x/a", "deletes", "/etc/a"),
        ("ln -st d /etc; cat d/etc/x", "reads", "/etc/x"),
        ("ln -s /etc a; ln -s a b; cat b/x", "reads", "/etc/x"),
        ("ln -s a b; ln -s b a; cat a", "reads", "a"),
        ("git diff --no-index /dev/null /etc/passwd", "reads", "/etc/passwd"),
    ],
)
def test_a_link_that_the_text_makes_is_followed(text: str, fact: str, path: str) -> None:
    """What is written behind it lies elsewhere; `git diff --no-index` reads any file."""
    assert path in shell(text)[fact]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("ln -s /w/a /w/b; cat /w/bc", {"reads": ("/w/a", "/w/bc")}),
        ("git diff a b", {"reads": ()}),
        ("cat e/x; ln -s /etc e", {"reads": ("e/x", "/etc")}),
    ],
)
def test_what_lies_beside_a_link_is_where_it_is(text: str, facts: dict[str, Any]) -> None:
    """A name that begins alike, and what was read before the link was there."""
    assert {name: shell(text)[name] for name in facts} == facts
