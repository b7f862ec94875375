"""Follows plain commands without a tree: words, variables, pipes, comments, and files written.

In: the text of a program, or of a statement in one. Out: the facts that its tree gives, in a
fraction of the time; from the first line on that has anything else, such as a keyword or a
substitution, it needs one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from sponsio_like.kinds.shell_commands import perform
from sponsio_like.kinds.shell_output import Redirection, directed
from sponsio_like.kinds.shell_state import NOTHING, Shell, Stdin
from sponsio_like.kinds.shell_words import globbed, is_known, one_written, written_fields

LITERAL = re.compile(r"""'[^']*'|"[^"$]*\"""")
"""A word whole in quotes that has no variable."""
MARKS = re.compile("['\"$|>]")
"""The signs in a line that make its words more than what stands between blanks."""
KEYWORDS = frozenset(
    {
        *("if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case"),
        *("esac", "function", "select", "in", "time", "coproc", "declare", "typeset", "export"),
        *("readonly", "local", "unset", "unsetenv"),
    }
)
"""Words that begin something else than a command."""


class Plain(NamedTuple):
    """A command: its words, the places of those that have to be expanded (with variables in them,
    or quotes inside), and where its output goes.
    """

    words: list[str]
    written: list[int]
    into: list[Redirection]


class Sets(NamedTuple):
    """A variable that is set, and the word that says to what."""

    name: str
    value: str


class Chain(NamedTuple):
    """Pipelines with `||` between them."""

    pipelines: list[list[Plain]]


Line: TypeAlias = "list[str] | Sets | Chain"
"""A line; the words alone of a command whose words are what they say, and that writes no file."""


def plain_lines(text: str) -> tuple[list[Line], str]:
    """Return the plain lines at the beginning of a program, and the text behind them.

    A shell reads line by line: what it does with the first lines does not depend on the others.
    """
    from sponsio_like.kinds.shell_line import LINE, REMARKS

    lines: list[Line] = []
    at, next_line = 0, LINE.match
    while at < len(text):
        found = next_line(text, at)
        if found is None:
            break
        said = found[1]
        if said is None or MARKS.search(said):
            line = _line(found)
        else:
            line = globbed(said).split()
            if line[0] in KEYWORDS:
                break
        if line is None:
            break
        lines.append(line)
        at = found.end()
    if lines and "#" in text[at:] and (rest := REMARKS.fullmatch(text, at)):
        at = rest.end()
    return lines, text[at:]


def plain_line(state: Shell, text: str) -> Line | None:
    """Return the line that a statement is; None if it is not plain. A loop asks again and again."""
    if text not in state.lines:
        from sponsio_like.kinds.shell_line import LINE

        found = LINE.fullmatch(text)
        state.lines[text] = None if found is None else _line(found)
    line: Line | None = state.lines[text]
    return line


def _line(found: re.Match[str]) -> Line | None:
    text = found[1]
    if text is None:
        return Sets(*found[2].split("=", 1))
    if MARKS.search(text) is None:
        words = globbed(text).split()
        return None if words[0] in KEYWORDS else words
    from sponsio_like.kinds.shell_line import TOKEN

    pipelines = _pipelines(TOKEN.findall(text))
    for line in pipelines:
        for each in line:
            if each.words[0] in KEYWORDS:
                return None
    return Chain(pipelines)


def _pipelines(tokens: list[str]) -> list[list[Plain]]:
    made = Plain([], [], [])
    words, pipelines = made.words, [[made]]
    for token in tokens:
        found = MARKS.search(token)
        if found is None:
            words.append(globbed(token))
        elif found[0] == "|":
            made = Plain([], [], [])
            words = made.words
            if token == "|":  # noqa: S105  no password
                pipelines[-1].append(made)
            else:
                pipelines.append([made])
        elif LITERAL.fullmatch(token):
            words.append(token[1:-1])
        elif found[0] == ">" and found.start() < 2:
            made.into.append(USUAL.get(token) or _redirection(token))
        else:
            made.written.append(len(words))
            words.append(token)
    return pipelines


USUAL = {
    "2>&1": Redirection("2", ">&", "1", ()),
    "2>/dev/null": Redirection("2", ">", NOTHING, (NOTHING,)),
}
"""Redirections of messages, as nearly everybody writes them."""


def _redirection(token: str) -> Redirection:
    source = "2" if token[0] == "2" else "1"
    bare = token.removeprefix("2")
    to = bare.lstrip("> ")
    places = () if MARKS.search(to) else (globbed(to),)
    return Redirection(source, ">>" if bare[:2] == ">>" else ">", to, places)


# --- following ------------------------------------------------------------------------------------


def follow_lines(state: Shell, lines: Sequence[Line], stdin: Stdin) -> str | None:
    """Follow lines one after another; return what they write, None if that is unknown."""
    said: list[str] | None = []
    for line in lines:
        if isinstance(line, list):
            output = perform(state, line, stdin)
        else:
            output = follow_line(state, line, stdin)
        if output is None:
            said = None
        elif said is not None:
            said.append(output)
    return None if said is None else "".join(said)


def follow_line(state: Shell, line: Line, stdin: Stdin) -> str | None:
    """Follow a line; return what it writes. What is set behind `||` may be set or not."""
    match line:
        case list():
            return perform(state, line, stdin)
        case Sets(name, value):
            said = one_written(value, state)
            state.assign(name, said if is_known(said) else None)
            return ""
        case Chain(pipelines):
            output = _pipeline(state, pipelines[0], stdin)
            for each in pipelines[1:]:
                before = dict(state.variables)
                _pipeline(state, each, stdin)
                state.join(before)
            return output if len(pipelines) == 1 else None


def _pipeline(state: Shell, commands: list[Plain], stdin: Stdin) -> str | None:
    if len(commands) == 1:
        return _performed(state, commands[0], stdin)
    output: str | None = ""
    for each in commands:
        before, cwd = dict(state.variables), state.cwd
        output = _performed(state, each, stdin)
        state.variables, state.cwd = before, cwd
        stdin = Stdin(given=True, text=output)
    return output


def _performed(state: Shell, command: Plain, stdin: Stdin) -> str | None:
    """Follow a command and note where its output goes; return what goes to that of the text."""
    them, cwd = command.into, state.cwd
    if not them:
        return perform(state, _words(state, command), stdin)
    if any([MARKS.search(each.to) for each in them]):
        them = [
            each._replace(places=written_fields(each.to, state)) if MARKS.search(each.to) else each
            for each in them
        ]
    return directed(state, them, perform(state, _words(state, command), stdin), cwd)


def _words(state: Shell, command: Plain) -> list[str]:
    words = command.words
    if command.written:
        words = words[:]
        for at in reversed(command.written):
            words[at : at + 1] = written_fields(words[at], state)
    return words
