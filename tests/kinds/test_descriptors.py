"""Redirections by number, by `exec` and by coprocesses; what vim and git do where they are told to.

In: commands. Out: what they write, each beside a neighbour that writes elsewhere or nothing.
"""

from __future__ import annotations

from typing import Any

import pytest

import sponsio_like.kinds  # noqa: F401  declares the kinds
from sponsio_like.values import TEXT_KINDS, UNREADABLE

WRITTEN = {
    "exec 3> a; echo x >&3": ("a",),
    "exec 3> a": ("a",),
    "exec 3>> a": ("a",),
    "exec 3>| a": ("a",),
    "exec > a; echo x": ("a",),
    "exec &> a": ("a",),
    "exec {fd}> a": ("a",),
    "echo x {fd}> a": ("a",),
    "exec 3> a 4> b": ("a", "b"),
    "cd /etc; exec 3> a; echo x >&3": ("/etc/a",),
    "eval 'exec 3>a'": ("a",),
    "exec 3> >(cat > a); echo x >&3": ("a",),
    "{ echo x; } 3> a >&3": ("a",),
    "coproc cat > a": ("a",),
    "echo x >| a": ("a",),
    "echo x &> a": ("a",),
    "echo x &>> a": ("a",),
    "echo x >& a": ("a",),
    "echo x > 3": ("3",),
    "echo x >> 3": ("3",),
    "echo x &> 3": ("3",),
    "cd /etc; echo x > 3": ("/etc/3",),
    "cd /etc; f=3; echo x > $f": ("/etc/3",),
    "cd /etc; echo x > -": ("/etc/-",),
    "cd /etc; exec 3> 7; echo x >&3": ("/etc/7",),
    "git -C /etc init": ("/etc",),
    "git -C /etc checkout x": ("/etc",),
    "cd /etc && git pull": ("/etc",),
    "exec 3>&-": (),
    "exec 3>&1": (),
    "exec 4>&3-": (),
    "echo x >&3": (),
    "echo x >& 3": (),
    "make 2>&1": (),
    "exec 3< a; cat <&3": (),
    "git -C /etc log": (),
    "git commit -m x": (),
}


def facts_of(text: str) -> dict[str, tuple[Any, ...]]:
    """Return the facts of a command."""
    return dict(TEXT_KINDS["shell"].read(text))


@pytest.mark.parametrize(("text", "written"), WRITTEN.items())
def test_what_is_written_is_known(text: str, written: tuple[str, ...]) -> None:
    """A number behind `>` is the name of a file, and behind `>&` a descriptor."""
    assert facts_of(text)["writes"] == written


@pytest.mark.parametrize(
    "text",
    [
        "ex -sc '!rm b' -cq f",
        "vim -es -c '!rm b' f",
        "vim -esc '!rm b' f",
        "vim '-c!rm b' f",
        "vim --cmd ':!rm b'",
        "vim '+!rm b' f",
    ],
)
def test_a_command_of_vim_is_run(text: str) -> None:
    """A command may stand in the same word as its option, or behind several options in one."""
    facts = facts_of(text)
    assert "rm" in facts["runs"]
    assert "!rm b" not in facts["writes"]


@pytest.mark.parametrize("text", ["vim -S a", "vim -Nu a f", "vim -esS a f", "vim -s a f"])
def test_a_file_of_commands_of_vim_is_unknown(text: str) -> None:
    """What is in it, no text tells."""
    assert UNREADABLE in facts_of(text)["runs"]


@pytest.mark.parametrize("text", ["vim -cq f", "vim +q f", "vim + f", "ex -sc wq f", "vim -es f"])
def test_a_file_is_edited(text: str) -> None:
    """A command that only ends vim leaves everything known."""
    facts = facts_of(text)
    assert facts["writes"] == ("f",)
    assert UNREADABLE not in facts["runs"]
