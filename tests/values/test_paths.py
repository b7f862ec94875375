"""Paths: the short way for usual ones tells what the long way tells."""

from __future__ import annotations

import random
import re

import pytest

from sponsio_like.values import paths, place_of, under

PARTS = (
    "a",
    "b",
    "/",
    "/",
    "..",
    ".",
    "w",
    "work",
    "-",
    "_",
    ".",
    "~",
    "%2e",
    " ",
    "\\",
    "C:",
    "é",
)
FOLDERS = (("/w",), ("/work", "/a"), ("/",), ("/a/../w",), ("~/a",), ("$X/a", "/w"), ("w",))


def test_usual_paths_are_told_as_the_long_way_tells_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random paths, folders and roots: the answer is the same where no path is called usual."""
    dice = random.Random(18)
    asked = [
        (
            "".join(dice.choices(PARTS[:11] if number % 2 else PARTS, k=dice.randint(0, 8))),
            dice.choice(FOLDERS),
            dice.choice(("", "/a", "$X", "/w/b")),
        )
        for number in range(20_000)
    ]
    short = [under(*each) for each in asked]
    assert sum(paths.PLAIN.fullmatch(each[0]) is not None for each in asked) > 5_000
    monkeypatch.setattr(paths, "PLAIN", re.compile(r"(?!)"))
    assert [under(*each) for each in asked] == short
    assert {True, False, None} <= set(short)


@pytest.mark.parametrize(
    ("path", "folder", "told"),
    [
        ("/proc/self/r" + "oot/etc/x", "/etc", None),
        ("/proc/1/task/2/cwd/x", "/etc", None),
        ("/proc/self/fd/3", "/app", None),
        ("/proc/self/cwd/../etc/x", "/etc", None),
        ("/proc/cpuinfo", "/etc", False),
        ("/proc/cpuinfo", "/proc", True),
        ("/proc/self" + "/r" + "oot/x", "/", True),
        ("~/x", "/root", None),
        ("~ann/x", "/root", None),
        ("$HOME/x", "/home/ann", None),
        ("~/x", "/etc", False),
        ("~/x", "~", True),
        ('"/etc/x"', "/app", None),
        ("/app/.\u200b./x", "/app", None),
        ("/app/\u202ex", "/app", None),
        ("/app/it's", "/app", True),
        ("/app/..;/etc/x", "/app", None),
        ("..;a=b/etc/x", "/app", None),
        ("/app/a..;b/.;", "/app", None),
        ("/app/a..;b/;..", "/app", True),
        ("jar:file:/etc!/x", "/app", None),
    ],
)
def test_what_leads_elsewhere_is_unknown(path: str, folder: str, told: bool | None) -> None:
    """Links of `/proc`, homes, where the folder may be one, and signs that nobody sees."""
    assert under(path, (folder,)) is told


@pytest.mark.parametrize(
    ("path", "place"),
    [
        *(("/w/a", "/w/a"), ("/w/./a", "/w/a"), ("//w//a/", "/w/a"), ("/w/x/../a", "/w/a")),
        *(("a", "a"), ("./a/", "a"), ("x/../a", "a"), (".", "."), ("/..", "/"), ("a b", "a b")),
        *(("~/a", "/~/a"), ("$HOME/a", "/~/a"), ("c:/x", "/c:/x"), ("file:///w/a", "/w/a")),
        *(("../a", None), ("a/../../b", None), ("$X/a", None), ("/w/%2e%2e/a", None)),
        *(("a\\b", None), ("/w/a ", None), ("/w/．/a", None), ("http://x/a", None), ("", None)),
        *(("/proc/self/cwd/a", None), ("/proc/x/../a", None), ("a\0b", None)),
    ],
)
def test_a_path_has_one_place_for_all_its_spellings(path: str, place: str | None) -> None:
    """None where readers differ, and where a relative path leads out of where it starts."""
    assert place_of(path) == place
