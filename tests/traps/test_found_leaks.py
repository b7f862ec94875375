"""What was found of leaks that were none, of leaks that were not seen, and of texts and blanks."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like import Guard, contract
from sponsio_like.patterns import arg_blacklist


def play(rule: Any, *calls: tuple[Any, ...]) -> str:
    """The letters of the outcomes, `A` for Allowed: calls are a tool, arguments and an answer."""
    mine = Guard([contract("c").guarantees(rule)]).session()
    out = ""
    for tool, args, *answer in calls:
        outcome = mine.decide(tool, args)
        out += type(outcome).__name__[0]
        if type(outcome).__name__ == "Allowed":
            mine.settle(outcome.id, output=answer[0] if answer else None)
    return out


# --- blanks in patterns and in texts --------------------------------------------------------------


def test_a_line_break_is_no_blank_where_the_pattern_has_none() -> None:
    """A blacklist searches the text as it is: what is not to go beyond a line does not."""
    rule = arg_blacklist("bash", "command", [r"chmod[^\n]*/usr"])
    assert play(rule, ("bash", {"command": "chmod +x a\nls /usr"})) == "A"
    assert play(rule, ("bash", {"command": "chmod +x a;  ls /usr"})) == "B"
    assert play(rule, ("bash", {"command": ["chmod +x a", "ls /usr"]})) == "B"
    assert play(arg_blacklist("bash", "command", ["a.b"]), ("bash", {"command": "a\nb"})) == "A"


@pytest.mark.parametrize(
    "pattern",
    ["rm -rf", r"rm\ -rf", r"rm\s+-rf", r"rm\s-rf", "rm[ ]-rf", r"(?i)\QRM -rf\E", r"\Qrm -rf"],
)
@pytest.mark.parametrize(
    "blank", [" ", "  ", " \t", "\n", "\v", "\x1f", "\xa0", "\u2003", "\u2028"]
)
def test_a_blank_of_a_pattern_is_any_run_of_blanks(pattern: str, blank: str) -> None:
    """However it is spaced, also as words of a list, and whatever blank stands there."""
    rule = arg_blacklist("bash", "command", [pattern])
    for command in (f"rm{blank}-rf /", ["sudo", f"rm{blank}-rf"], {"run": f"rm{blank}-rf"}):
        assert play(rule, ("bash", {"command": command})) == "B", command
    assert play(rule, ("bash", {"command": ["rm", "-rf"]})) == "B"
    assert play(rule, ("bash", {"command": "rm-rf"})) == "A"
