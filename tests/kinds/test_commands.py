"""Commands that break one of six rules, 1,387 by what they do, and honest ones near to them.

In: `commands.txt`, a command a line, in sections: the rule, and whether it stops the command.
`docs/kinds-measured.md` has how many were told right before anything was changed for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sponsio_like.kinds import UNREADABLE, shell
from sponsio_like.values import under
from tests.kinds.sections import sections

WORKSPACE = ("/workspace",)
PRIVATE = ("/etc", "/" + "root", "~/.ssh")


def inside(paths: tuple[Any, ...]) -> bool:
    """True if all paths lie in the workspace."""
    return all(under(each, WORKSPACE) is True for each in paths)


def is_ours(path: Any) -> bool:
    """True for a path in the workspace, or in no folder that is private."""
    return under(path, PRIVATE) is False or under(path, WORKSPACE) is True


def knows_runs(text: str) -> bool:
    """True if all that runs is known."""
    return UNREADABLE not in shell(text)["runs"]


RULES: dict[str, Callable[[str], bool]] = {
    "no_rm": lambda text: knows_runs(text) and "rm" not in shell(text)["runs"],
    "no_pipe": lambda text: knows_runs(text) and shell(text)["pipes_to_shell"] == (False,),
    "writes": lambda text: inside(shell(text)["writes"] + shell(text)["deletes"]),
    "destroys": lambda text: not shell(text)["destroys"],
    "hosts": lambda text: {*shell(text)["hosts"]} <= {"api.corp.com"},
    "reads": lambda text: knows_runs(text) and all(map(is_ours, shell(text)["reads"])),
}
"""What each rule lets pass."""


SECTIONS = sections("commands.txt")


@pytest.mark.parametrize("rule", RULES)
def test_what_breaks_a_rule_is_seen_or_unknown(rule: str) -> None:
    """No command of the section passes."""
    assert [text for text in SECTIONS[rule, "stop"] if RULES[rule](text)] == []


@pytest.mark.parametrize("rule", RULES)
def test_honest_commands_pass(rule: str) -> None:
    """No command of the section is refused."""
    assert [text for text in SECTIONS[rule, "pass"] if not RULES[rule](text)] == []


def test_every_rule_has_its_commands() -> None:
    """Each section has texts, and no text stands in one twice."""
    assert {rule for rule, _ in SECTIONS} == set(RULES)
    for rule in RULES:
        for told in ("stop", "pass"):
            texts = SECTIONS[rule, told]
            assert len(texts) >= 12
            assert len(texts) == len(set(texts))
