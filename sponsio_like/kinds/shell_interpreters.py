"""Interpreters: shells, Python, awk, and languages that are not read.

In: the arguments of a call, and its input. Out: the code they are given is followed; where it is
not is_known, or in a language that nothing here reads, what it does is unknown.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from sponsio_like.kinds.python_code import python_facts
from sponsio_like.kinds.shell_options import behind_options
from sponsio_like.kinds.shell_state import Handler, Shell, Stdin, Words
from sponsio_like.kinds.shell_table import note
from sponsio_like.kinds.shell_words import QUOTED, is_known, shown

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"})
OTHERS = frozenset(
    {"node", "nodejs", "deno", "bun", "perl", "ruby", "php", "lua", "Rscript", "tclsh"}
)
UNREAD = frozenset(
    {
        *("pwsh", "powershell", "powershell.exe", "pwsh.exe", "cmd", "cmd.exe"),
        *("csh", "tcsh", "rc", "es"),
    }
)
"""Shells of another language."""
PYTHON = re.compile(r"python(\d(\.\d+)?)?|pypy3?|ipython3?")


def script(state: Shell, path: str, args: Words) -> str | None:
    """Follow a script that this text has written before; what it is otherwise nobody can tell."""
    place = state.place(path)
    if place not in state.files:
        return None
    text = state.files[place]
    if text is None:
        state.found.opaque()
        return None
    before, state.positional = state.positional, list(args)
    said = state.program(text)
    state.positional = before
    return said


FED = re.compile(r"/dev/(?:fd/|stdin)|/proc/[^/]*/fd/")
"""A path that stands for a descriptor, such as the input."""


def fed(state: Shell, stdin: Stdin) -> str | None:
    """Follow what a shell reads from its input."""
    if not stdin.given:
        return None
    if stdin.text is None:
        state.found.opaque()
        return None
    return state.program(stdin.text)


def _shell(state: Shell, args: Words, stdin: Stdin) -> str | None:
    rest = list(args)
    while rest and rest[0][:1] in "-+" and len(rest[0]) > 1:
        option = rest.pop(0)
        if option in ("--init-file", "--rcfile"):
            _source(state, rest[:1], stdin)
        if option in ("--init-file", "--rcfile", "-O", "+O", "-o", "+o"):
            rest = rest[1:]
        elif option == "--":
            break
        elif option[:2] != "--" and "c" in option and option[0] == "-":
            return given_text(state, rest)
        elif option[:2] != "--" and "s" in option:
            return fed(state, stdin)
    if not rest or rest[0] == "-":
        return fed(state, stdin)
    return _file(state, rest)


def given_text(state: Shell, rest: Words) -> str | None:
    while rest and rest[0][:1] == "-":
        rest = rest[1:]
    if not rest or not is_known(rest[0]):
        state.found.opaque()
        return None
    before, state.positional = (state.positional, state.zero), list(rest[2:])
    state.zero = rest[1] if len(rest) > 1 and is_known(rest[1]) else None
    said = state.program(rest[0])
    state.positional, state.zero = before
    return said


def _file(state: Shell, rest: Words) -> str | None:
    path = rest[0]
    if FED.search(path) or not is_known(path):
        state.found.opaque()
        return None
    state.reads(path)
    state.found.runs.append(path.rsplit("/", 1)[-1])
    return script(state, path, rest[1:])


def _python(state: Shell, args: Words, stdin: Stdin) -> str | None:
    rest = list(args)
    while rest and rest[0][:1] == "-" and len(rest[0]) > 1:
        option = rest.pop(0)
        if option[:2] != "--" and "c" in option:
            inner = option.partition("c")[2]
            _python_text(state, inner or (rest[0] if rest else QUOTED))
            return None
        if option[:2] != "--" and "m" in option:
            module = option.partition("m")[2] or (rest[0] if rest else QUOTED)
            more = rest if option.partition("m")[2] else rest[1:]
            if not is_known(module) or module in ("code", "idlelib", "pdb"):
                state.found.nothing_is_clear()
            elif module == "timeit":
                _python_text(state, "\n".join(each for each in more if each[:1] != "-"))
            elif module in ("venv", "virtualenv"):
                for each in behind_options(more, "")[:1]:
                    state.writes(each)
            else:
                note(state, module.split(".")[0], more)
            return None
        if option in ("-W", "-X"):
            rest = rest[1:]
    if rest and rest[0] != "-":
        return _module(state, rest)
    if stdin.given:
        _python_text(state, QUOTED if stdin.text is None else stdin.text)
    return None


def _module(state: Shell, rest: Words) -> str | None:
    path = rest[0]
    if FED.search(path) or not is_known(path):
        state.found.opaque()
        return None
    state.reads(path)
    name = path.rsplit("/", 1)[-1]
    state.found.runs.append(name)
    if name == "manage.py":
        note(state, name, rest[1:])
    place = state.place(path)
    if place in state.files:
        _python_text(state, state.files[place] or QUOTED)
    return None


def _python_text(state: Shell, text: str) -> None:
    if not is_known(text):
        state.found.opaque()
        return
    facts = python_facts(text)
    if facts is None:
        state.found.nothing_is_clear()
        return
    for command in facts.commands:
        if isinstance(command, str):
            state.program(command)
        else:
            state.perform(list(command))
    for path in facts.reads:
        state.reads(path)
    for path in facts.writes:
        state.writes(path)
    for path in facts.deletes:
        state.deletes(path)
    state.found.hosts += facts.hosts
    state.found.destroys += facts.destroys
    if facts.runs_code:
        state.found.opaque()
    elif facts.opaque:
        state.found.nothing_is_clear()


SUBSTITUTION = re.compile(r"\s*(?:s|y|tr)([/|#,!])(?:(?!\1).)*\1(?:(?!\1).)*\1[gimsx]*\s*;?\s*")


def _code(state: Shell, args: Words, stdin: Stdin) -> str | None:
    """Note code of a language that is not read: perl, node, ruby, php, lua."""
    rest, i = list(args), 0
    if rest[:1] == ["eval"]:  # of deno
        state.found.nothing_is_clear()
        return None
    rest = rest[1:] if rest[:1] == ["run"] else rest
    while i < len(rest) and rest[i][:1] == "-" and len(rest[i]) > 1:
        option = rest[i]
        if option in ("--version", "-v", "--help", "-h", "--check", "-l"):
            return None
        inline = option in ("--eval", "--print", "-p", "-r") or re.fullmatch(r"-\w*[eE]", option)
        if option.startswith(("--eval=", "--print=", "-e=")):
            state.found.nothing_is_clear()
        if inline and i + 1 < len(rest):
            if not (re.fullmatch(r"-[pnlia]*e", option) and SUBSTITUTION.fullmatch(rest[i + 1])):
                state.found.nothing_is_clear()
            i += 1
        i += 1
    if i < len(rest):
        if any(re.fullmatch(r"-\w*[eE]", each) for each in rest[:i]):
            if any(re.match(r"-[pnla0]*i", each) for each in rest[:i]):
                for each in rest[i:]:  # `perl -i -pe s/a/b/ file`
                    state.writes(each)
        else:
            _file_of_code(state, rest[i:])
        return None
    if stdin.given and i == 0:
        state.found.opaque()
    return None


def _file_of_code(state: Shell, rest: Words) -> None:
    path = rest[0]
    if path == "-" or "://" in path or FED.search(path) or not is_known(path):
        state.found.opaque()
        return
    state.reads(path)
    state.found.runs.append(path.rsplit("/", 1)[-1])
    if state.place(path) in state.files:
        state.found.opaque()


def _unread(state: Shell, _: Words, __: Stdin) -> str | None:
    """Note a command of a language that is not read at all."""
    state.found.nothing_is_clear()
    return None


AWK_RUNS = re.compile(r"\bsystem\b|(?<!\|)\|(?!\|)|\bgetline\b|@\w|(?<!\|)\|&")


def _awk(state: Shell, args: Words, stdin: Stdin) -> str | None:
    rest = list(args)
    while rest and rest[0][:1] == "-" and len(rest[0]) > 1:
        option = rest.pop(0)
        if option in ("-i", "--include") and rest[:1] == ["inplace"]:
            for each in rest[2:]:
                state.writes(each)
        if option in ("-f", "--file", "-i", "--include", "-e"):
            if option in ("-f", "--file") and rest:
                state.reads(rest[0])
            fed = rest[:1] in (["-"], ["/dev/stdin"]) and stdin.given
            if fed or (rest and state.place(rest[0]) in state.files):
                state.found.opaque()
            return None
        if option in ("-F", "-v", "--assign", "--field-separator"):
            rest = rest[1:]
    program, paths = (rest[0] if rest else ""), rest[1:]
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', program)
    bare = re.sub(r"(?<=[~(,;{!&|])\s*/(?:[^/\\\n]|\\.)+/|^\s*/(?:[^/\\\n]|\\.)+/", "", bare)
    if not is_known(program) or AWK_RUNS.search(bare):
        state.found.nothing_is_clear()
    elif re.search(r"\bprintf?\b[^;}\n]*>", bare):
        state.found.writes.append(QUOTED)
    for each in paths:
        if "=" not in each:
            state.reads(each)
    return None


VIM_COMMAND = re.compile(r"--cmd|-[^-c]*c(.*)|\+(.*)", re.DOTALL)
"""An argument of vim that is a command, or that has one in the next: `-c`, `-esc`, `-cq`, `+q`."""
VIM_SCRIPT = re.compile(r"-s|-[^-c]*[SuUW].*", re.DOTALL)
"""An argument of vim that names a file of commands."""
VIM_HARMLESS = re.compile(r":?(?:w?q!?|\d+|wqa?!?|x|set \w+)")


def _vim(state: Shell, args: Words, stdin: Stdin) -> str | None:
    if any(map(VIM_SCRIPT.fullmatch, args)) or (stdin.given and stdin.text is None):
        state.found.nothing_is_clear()
    words = iter(args)
    for each in words:
        if found := VIM_COMMAND.fullmatch(each):
            behind = found[1] or found[2]
            _vim_command(state, behind or ("" if each[0] == "+" else next(words, "")))
        elif each[:1] != "-":
            state.reads(each)
            state.writes(each)
    return None


def _vim_command(state: Shell, text: str) -> None:
    if text.lstrip(":").startswith("!"):
        state.program(text.lstrip(":")[1:])
    elif text and not VIM_HARMLESS.fullmatch(text):
        state.found.nothing_is_clear()


def _eval(state: Shell, args: Words, stdin: Stdin) -> str | None:
    words = args[1:] if args[:1] == ["--"] else args
    return state.program(shown(" ".join(words)), stdin)


def _source(state: Shell, args: Words, stdin: Stdin) -> str | None:
    if not args:
        return None
    path = args[0]
    if (FED.search(path) and path != "/dev/stdin") or not is_known(path):
        state.found.opaque()
        return None
    if path in ("/dev/stdin", "-"):
        return fed(state, stdin)
    state.reads(path)
    state.found.runs.append(path.rsplit("/", 1)[-1])
    place = state.place(path)
    if place in state.files:
        text = state.files[place]
        if text is None:
            state.found.opaque()
            return None
        return state.program(text)
    return None


INTERPRETERS: Mapping[str, Handler] = {
    **dict.fromkeys(SHELLS, _shell),
    **dict.fromkeys(OTHERS, _code),
    **dict.fromkeys(UNREAD, _unread),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    **dict.fromkeys(("vim", "vi", "ex", "nvim", "view", "vimdiff", "rvim", "gvim"), _vim),
    "eval": _eval,
    "source": _source,
    ".": _source,
}


@functools.lru_cache(maxsize=1_000)
def interpreter(name: str) -> Handler | None:
    """Return the handler of an interpreter; None if it is none."""
    return INTERPRETERS.get(name) or (_python if PYTHON.fullmatch(name) else None)
