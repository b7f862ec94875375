"""Follows a text of plain commands without a tree: words, quotes, pipes, and files written.

In: the text of a program. Out: the facts that its tree gives, in a fraction of the time; from the
first line on that has anything else, such as a variable, a keyword or an assignment, it needs one.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sponsio_like.kinds.shell_commands import perform
from sponsio_like.kinds.shell_output import Redirection, directed
from sponsio_like.kinds.shell_state import Shell, Stdin
from sponsio_like.kinds.shell_words import globbed

END = r"(?=[ \n|;]|&&|\Z)"
BARE = r"(?!=|-[ ]+2>)[\w./:=,@%*?+~^-]++"
SINGLE = r"'[^'\n\x7f-\U0010ffff]*+'"
DOUBLE = r'"[^"$`\\!\n\x7f-\U0010ffff]*+"'
WORD = rf"(?:{BARE}|{SINGLE}|{DOUBLE}){END}"
FILE = r"[A-Za-z./][\w./-]*+"
INTO = rf"(?:2>&1|2>[ ]?/dev/null|>>?[ ]?{FILE}){END}"
COMMAND = rf"{FILE}{END}(?:[ ]++{WORD})*+(?:[ ]++{INTO})*+"
STOP = r"(?:\n++|;(?![;&])[ ]*+\n*+|&&[ \n]*+(?!\Z)|\Z)"
LINE = re.compile(rf"[ ]*+({COMMAND}(?:[ ]*+\|[ ]*+{COMMAND})*+)[ ]*+{STOP}", re.ASCII)
"""A pipeline of plain commands, and what ends it."""
TOKEN = re.compile(rf"""'[^']*'|"[^"]*"|\||{INTO}|[^ |]+""", re.ASCII)
KEYWORDS = frozenset(
    {
        *("if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case"),
        *("esac", "function", "select", "in", "time", "coproc", "declare", "typeset", "export"),
        *("readonly", "local", "unset", "unsetenv"),
    }
)
"""Words that begin something else than a command."""


class Plain(NamedTuple):
    """A command: its words, and where its output goes."""

    words: list[str]
    into: list[Redirection]


def plain_lines(text: str) -> tuple[list[list[Plain]], str]:
    """Return the plain pipelines at the beginning of a program, and the text behind them.

    A shell reads line by line: what it does with the first lines does not depend on the others.
    """
    lines, at = list[list[Plain]](), 0
    while at < len(text):
        found = LINE.match(text, at)
        if found is None:
            break
        commands = _commands(found[1])
        if any([each.words[0] in KEYWORDS for each in commands]):
            break
        lines.append(commands)
        at = found.end()
    return lines, text[at:]


def _commands(line: str) -> list[Plain]:
    made = [Plain([], [])]
    for token in TOKEN.findall(line):
        if token[0] in "'\"":
            made[-1].words.append(token[1:-1])
        elif token == "|":  # noqa: S105  no password
            made.append(Plain([], []))
        elif token[0] == ">" or token[:2] == "2>":
            made[-1].into.append(_redirection(token))
        else:
            made[-1].words.append(globbed(token))
    return made


def _redirection(token: str) -> Redirection:
    if token == "2>&1":  # noqa: S105  no password
        return Redirection("2", ">&", "1", [])
    source = "2" if token[0] == "2" else "1"
    bare = token.removeprefix("2")
    to = bare.lstrip("> ")
    return Redirection(source, ">>" if bare[:2] == ">>" else ">", to, [to])


def follow_lines(state: Shell, lines: list[list[Plain]], stdin: Stdin) -> str | None:
    """Follow pipelines one after another; return what they write, None if that is unknown."""
    said: list[str] | None = []
    for commands in lines:
        if len(commands) > 1:
            output = _pipeline(state, commands, stdin)
        else:
            output = perform(state, commands[0].words, stdin)
        if commands[-1].into:
            output = directed(state, commands[-1].into, output)
        said = None if output is None or said is None else [*said, output]
    return None if said is None else "".join(said)


def _pipeline(state: Shell, commands: list[Plain], stdin: Stdin) -> str | None:
    output: str | None = ""
    for i, each in enumerate(commands):
        before, cwd = dict(state.variables), state.cwd
        output = perform(state, each.words, stdin)
        if each.into and i == 0:
            output = directed(state, each.into, output)
        state.variables, state.cwd = before, cwd
        if each.into and 0 < i < len(commands) - 1:
            output = directed(state, each.into, output)
        stdin = Stdin(given=True, text=output)
    return output
