"""Builtins of shells, and commands whose output may be known: echo, printf, cat, tee.

In: the arguments of a call, and its input. Out: the state of the shell is changed; what the command
writes is returned, None where that is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sponsio_like.kinds.shell_options import behind_options
from sponsio_like.kinds.shell_state import NOTHING, Handler, Shell, Stdin, Words
from sponsio_like.kinds.shell_words import is_known, shown, with_escapes


def _echo(_: Shell, args: Words, __: Stdin) -> str | None:
    words = list(args)
    flags = ""
    while words and words[0][:1] == "-" and re.fullmatch(r"-[neE]+", words[0]):
        flags += words.pop(0)[1:]
    text = shown(" ".join(words))
    if not is_known(text):
        return None
    text = with_escapes(text) if "e" in flags else text
    return text if "n" in flags else text + "\n"


def _printf(state: Shell, args: Words, _: Stdin) -> str | None:
    words = [shown(each) for each in args]
    name = ""
    if words[:1] == ["-v"] and len(words) > 2:
        name, words = words[1], words[2:]
    words = words[1:] if words[:1] == ["--"] else words
    said = _formatted(words)
    if name:
        state.assign(name, said)
        return ""
    return said


def _formatted(words: list[str]) -> str | None:
    if not words or not all(map(is_known, words)):
        return None
    form, rest, made = with_escapes(words[0]), words[1:], ""
    if re.search(r"%[^%sbdc]", form):
        return None
    for _ in range(max(len(rest), 1)):
        used, said = _filled(form, rest)
        made, rest = made + said, rest[used:]
        if not rest or not used:
            break
    return made


def _filled(form: str, values: list[str]) -> tuple[int, str]:
    """Return how many values a form has used, and the text with them in place."""
    made, used = "", 0
    for part in re.split(r"(%[%sbdc])", form):
        if part == "%%":
            made += "%"
        elif part[:1] == "%" and len(part) == 2:
            value = values[used] if used < len(values) else ""
            made += with_escapes(value) if part == "%b" else value
            used += 1
        else:
            made += part
    return used, made


def _cat(state: Shell, args: Words, stdin: Stdin) -> str | None:
    paths = [each for each in args if each[:1] != "-"]
    for each in paths:
        state.reads(each)
    if not paths:
        return stdin.text if stdin.given else None
    texts = ["" if each == NOTHING else state.files.get(state.place(each)) for each in paths]
    return None if None in texts else "".join(each or "" for each in texts)


def _tee(state: Shell, args: Words, stdin: Stdin) -> str | None:
    adds = "-a" in args or "--append" in args
    for each in args:
        if each[:1] != "-":
            state.writes(each, None if adds else stdin.text)
            if stdin.text == "" and not adds:
                state.deletes(each)
    return stdin.text


def _cd(state: Shell, args: Words, _: Stdin) -> str | None:
    to = next((each for each in args if each[:1] != "-" or each == "-"), "~")
    if not is_known(to) or to == "-":
        state.cwd = None
    elif to[:1] in ("/", "~"):
        state.cwd = to
    elif "CDPATH" in state.variables and to[:1] != ".":
        state.cwd = None
    elif state.cwd is not None:
        state.cwd = state.place(to) if state.cwd else to
    return ""


def _read(state: Shell, args: Words, stdin: Stdin) -> str | None:
    rest = behind_options(args, "adinNptu")
    names = [each for each in rest if each.isidentifier()]
    array = next((args[i + 1] for i, each in enumerate(args[:-1]) if each in ("-a", "-ra")), "")
    odd = any(re.match(r"-[a-zA-Z]*[dnNu]", each) for each in args[: len(args) - len(rest)])
    line = None if stdin.text is None or odd else stdin.text.split("\n", 1)[0]
    if array:
        state.arrays[array] = None if line is None else line.split()
    parts = None if line is None else line.split(None, max(len(names) - 1, 0))
    for i, name in enumerate(names or ["REPLY"]):
        state.assign(name, None if parts is None else parts[i] if i < len(parts) else "")
    return ""


def _printed(args: Words) -> str | None:
    """Return what a builtin writes that lists what it knows, if it is not told what to do."""
    return "" if args and args[0] not in ("-p", "-l", "-t", "-o", "+o") else None


def _set(state: Shell, args: Words, _: Stdin) -> str | None:
    if "--" in args:
        state.positional = list(args[list(args).index("--") + 1 :])
    elif args and args[0][:1] not in ("-", "+"):
        state.positional = list(args)
    return _printed(args)


def _shift(state: Shell, args: Words, _: Stdin) -> str | None:
    if state.positional is not None:
        n = int(args[0]) if args and args[0].isdigit() else 1
        state.positional = state.positional[n:]
    return ""


def _alias(state: Shell, args: Words, _: Stdin) -> str | None:
    for each in args:
        name, sign, text = each.partition("=")
        if sign and is_known(each):
            state.aliases[name] = text
        elif sign:
            state.found.nothing_is_clear()
    return _printed(args) if all("=" in each for each in args) else None


def _trap(state: Shell, args: Words, _: Stdin) -> str | None:
    rest = [each for each in args if each != "--"]
    if len(rest) > 1 and rest[0] not in ("-", "", "-p", "-l"):
        state.program(rest[0])
    return _printed(args)


def _quiet(_: Shell, __: Words, ___: Stdin) -> str | None:
    return ""


def _hash(state: Shell, args: Words, _: Stdin) -> str | None:
    """Note `hash -p /bin/rm ls`, after which `ls` is `rm`."""
    if "-p" in args:
        at = list(args).index("-p")
        for each in args[at + 2 :]:
            state.aliases[each] = args[at + 1]
    return "" if "-r" in args or "-p" in args else _printed(args)


def _enable(state: Shell, args: Words, _: Stdin) -> str | None:
    if "-f" in args:
        state.found.opaque()
    return ""


BUILTINS: Mapping[str, Handler] = {
    **dict.fromkeys(
        (":", "true", "false", "test", "wait", "sleep", "exit", "return", "break"), _quiet
    ),
    "echo": _echo,
    "printf": _printf,
    "cat": _cat,
    "tee": _tee,
    "cd": _cd,
    "pushd": _cd,
    "read": _read,
    "set": _set,
    "shift": _shift,
    "alias": _alias,
    "trap": _trap,
    "hash": _hash,
    "enable": _enable,
}
