"""Commands that start others, by their arguments or by a text in an option.

In: the arguments of such a command. Out: the facts of what it starts. `shell_commands` has those
that every developer uses; what is in a program that is started, no text tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from sponsio_like.kinds.shell_options import Words, behind_options
from sponsio_like.kinds.shell_state import Shell, Stdin

Launcher: TypeAlias = Callable[[Shell, Words, Stdin], str | None]


FLAGS = frozenset(
    {
        *("-q", "--quiet", "-y", "--yes", "-v", "--verbose", "--no-install", "--user", "--wait"),
        *("-a", "--auto-servernum", "-i", "-d", "-s", "--no-capture-output", "-f", "-n", "-m"),
    }
)
"""Options of these commands that take no value."""


def _behind(short: str = "", long: tuple[str, ...] = (), skip: int = 0) -> Launcher:
    """Return the launcher of what stands behind options, and behind `skip` arguments."""

    def launch(state: Shell, args: Words, _: Stdin) -> str | None:
        rest = behind_options(args, short, long)
        _doubted(state, args, rest[skip:], len(args) - len(rest))
        return _started(state, rest[skip + 1 :] if rest[skip:][:1] == ["--"] else rest[skip:])

    return launch


def _doubted(state: Shell, args: Words, rest: Words, at: int) -> None:
    """Start what would be the command, if an option that is not known takes a value.

    `at`: the place of the first argument that is no option.
    """
    last = args[at - 1] if at else ""
    is_option = last[:1] == "-" and last != "--" and "=" not in last and last not in FLAGS
    if is_option and len(rest) > 1 and rest[1][:1] != "-":
        state.perform(list(rest[1:]))


def _started(state: Shell, words: list[str]) -> str | None:
    if words:
        state.perform(words)
    return None


def _sub(*subcommands: str, short: str = "", skip: int = 0) -> Launcher:
    """Return the launcher of what stands behind a subcommand, as in `conda run ..`."""
    launch = _behind(short, ("--name", "--prefix", "--with", "--python", "--package"), skip)

    def handle(state: Shell, args: Words, stdin: Stdin) -> str | None:
        rest = behind_options(args, "")
        if rest[:1] and rest[0] in subcommands:
            return launch(state, rest[1:], stdin)
        return None

    return handle


def _option(*options: str) -> Launcher:
    """Return the launcher of the programs that stand in these options."""

    def launch(state: Shell, args: Words, _: Stdin) -> str | None:
        for each in _values(args, options):
            state.program(each.removeprefix("!"))
        return None

    return launch


def _from(*options: str) -> Launcher:
    """Return the launcher of the command whose words stand behind one of these options."""

    def launch(state: Shell, args: Words, _: Stdin) -> str | None:
        at = next((i for i, each in enumerate(args) if each in options), len(args))
        return _started(state, list(args[at + 1 :]))

    return launch


def _values(args: Words, options: tuple[str, ...]) -> list[str]:
    """Return the values of these options: `-e x`, `-ex`, `--exec x`, `--exec=x`."""
    found: list[str] = []
    for i, each in enumerate(args):
        name, sign, value = each.partition("=")
        letters = [one for one in options if len(one) == 2]
        if each in options:
            found += args[i + 1 : i + 2]
        elif sign and name in options:
            found.append(value)
        elif each[:1] == "-" and each[:2] != "--" and any(one[1] in each[1:] for one in letters):
            letter = next(one[1] for one in letters if one[1] in each[1:])
            tail = each.partition(letter)[2]
            found += [tail] if tail else args[i + 1 : i + 2]
    return found


def _texts(short: str = "") -> Launcher:
    """Return the launcher of a command each of whose arguments is a program."""

    def launch(state: Shell, args: Words, _: Stdin) -> str | None:
        for each in behind_options(args, short):
            if each[:1] != "-":
                state.program(each)
        return None

    return launch


def _unknown_if(found: str) -> Launcher:
    """Return the launcher of a command that may run anything if its arguments have this in them."""
    sign = re.compile(found)

    def launch(state: Shell, args: Words, _: Stdin) -> str | None:
        if any(sign.search(each) for each in args):
            state.found.opaque()
        return None

    return launch


def _faketime(state: Shell, args: Words, _: Stdin) -> str | None:
    skip = 0 if any(each[:2] == "-f" for each in args) else 1
    return _started(state, behind_options(args, "f")[skip:])


def _runuser(state: Shell, args: Words, stdin: Stdin) -> str | None:
    state.found.elevates = True
    if any(each in ("-u", "--user") for each in args):
        return _behind("ugGw", ("--user",))(state, args, stdin)
    return _option("-c", "--command")(state, args, stdin)


def _group(state: Shell, args: Words, _: Stdin) -> str | None:
    """Launch `sg group -c text`, or `sg group text`."""
    if len(args) > 1:
        state.program(args[-1])
    return None


def _flock(state: Shell, args: Words, _: Stdin) -> str | None:
    rest = behind_options(args, "wE", ("--timeout", "--wait", "--conflict-exit-code"))[1:]
    if rest[:1] in (["-c"], ["--command"]):
        state.program(" ".join(rest[1:2]))
        return None
    return _started(state, rest)


def _later(state: Shell, args: Words, stdin: Stdin) -> str | None:
    """Launch what `at` and `batch` read from their input or from a file."""
    if any(each in ("-l", "-r", "-d", "-q", "-c", "-V") for each in args):
        return None
    if "-f" in args or not stdin.given or stdin.text is None:
        state.found.opaque()
    else:
        state.program(stdin.text)
    return None


def _crontab(state: Shell, args: Words, _: Stdin) -> str | None:
    if not any(each in ("-l", "-r") for each in args):
        state.found.opaque()
    return None


def _make(state: Shell, args: Words, _: Stdin) -> str | None:
    """Note make: its file may be the input, and its shell another one."""
    words = list(args)
    from_input = any(
        each in ("-f", "--file", "--makefile") and words[i + 1 : i + 2] in (["-"], ["/dev/stdin"])
        for i, each in enumerate(words)
    )
    odd = re.compile(r"\.?SHELL(?:FLAGS)?=|--eval|-f-$|-f/dev|--(?:make)?file=(?:-|/dev)")
    if from_input or any(odd.match(each) for each in words):
        state.found.opaque()
    return None


def _ed(state: Shell, _: Words, stdin: Stdin) -> str | None:
    """Note ed: it may run a line of its input."""
    if stdin.given and (stdin.text is None or "!" in stdin.text):
        state.found.opaque()
    return None


def _socat(state: Shell, args: Words, _: Stdin) -> str | None:
    for each in args:
        if found := re.match(r"(?:EXEC|SYSTEM|SHELL):([^,]*)", each, re.IGNORECASE):
            state.program(found[1])
    return None


def _entr(state: Shell, args: Words, stdin: Stdin) -> str | None:
    if any(each[:1] == "-" and "s" in each for each in args):
        return _texts()(state, args, stdin)
    return _behind()(state, args, stdin)


def _npx(state: Shell, args: Words, _: Stdin) -> str | None:
    """Launch the program of a package: `npx rimraf@5 x` is `rimraf x`."""
    rest = behind_options(args, "pc", ("--package", "--call", "--from", "--with"))
    _doubted(state, args, rest, len(args) - len(rest))
    for each in _values(args, ("-c", "--call")):
        state.program(each)
    if not rest:
        return None
    return _started(state, [re.sub(r"(?<=.)@[^/]*$", "", rest[0]), *rest[1:]])


def _node_package(state: Shell, args: Words, stdin: Stdin) -> str | None:
    """Launch `npm exec ..`, `pnpm dlx ..`, `yarn dlx ..`."""
    if args[:1] and args[0] in ("exec", "x", "dlx"):
        return _npx(state, [each for each in args[1:] if each != "--"], stdin)
    return None


LAUNCHERS: Mapping[str, Launcher] = {
    "nsenter": _behind("tSG", ("--target", "--setuid", "--setgid")),
    "numactl": _behind("CNmipPw"),
    "chrt": _behind("TPD", skip=1),
    "prlimit": _behind("o"),
    "firejail": _behind(),
    "proot": _behind("rbqmwvi"),
    "dbus-run-session": _behind(),
    "xvfb-run": _behind("nesfpw"),
    "valgrind": _behind(),
    "caffeinate": _behind("tw"),
    "cpulimit": _behind("lept"),
    "chronic": _behind(),
    "ifne": _behind(),
    "unbuffer": _behind(),
    "systemd-run": _behind("EpPMHuD", ("--unit", "--property", "--setenv", "--uid", "--gid")),
    "rlwrap": _behind("bCDfgHlMmOpPqSst"),
    "faketime": _faketime,
    "runuser": _runuser,
    "sg": _group,
    "flock": _flock,
    "script": _option("-c", "--command"),
    "hyperfine": _texts("wmMrLuSn"),
    "tmux": _unknown_if(
        r"^(?:new|new-session|neww|new-window|split\S*|send\S*|run\S*|resp\S*|if\S*)$"
    ),
    "screen": _unknown_if(r"^-\w*[dDmX]"),
    "expect": _unknown_if(r"^-\w*c"),
    "gdb": _unknown_if(r"!|shell|python|system|^-x|--command"),
    "bwrap": _unknown_if(""),
    "socat": _socat,
    **dict.fromkeys(("ed", "ex"), _ed),
    "less": _unknown_if(r"^\+!"),
    "nc": _option("-e", "-c", "--exec", "--sh-exec"),
    "ncat": _option("-e", "-c", "--exec", "--sh-exec"),
    "perf": _sub("stat", "record", "trace", short="eoFCtpc"),
    "conda": _sub("run", short="np"),
    "mamba": _sub("run", short="np"),
    "micromamba": _sub("run", short="np"),
    "pdm": _sub("run", short="p"),
    "hatch": _sub("run", short="e"),
    "rye": _sub("run"),
    "pixi": _sub("run", short="e"),
    "tox": _sub("exec", "e", short="e"),
    "direnv": _sub("exec", skip=1),
    "nix-shell": _option("--run", "--command"),
    "at": _later,
    "batch": _later,
    "crontab": _crontab,
    "make": _make,
    "gmake": _make,
    "entr": _entr,
    "nodemon": _option("-x", "--exec"),
    "watchexec": _behind("weifrsdp", ("--watch", "--exts", "--ignore", "--filter")),
    "fd": _from("-x", "-X", "--exec", "--exec-batch"),
    "fdfind": _from("-x", "-X", "--exec", "--exec-batch"),
    "rg": _option("--pre", "--hostname-bin"),
    "man": _option("-P", "--pager"),
    "zip": _option("-TT", "--unzip-command"),
    "rsync": _option("-e", "--rsh", "--rsync-path"),
    "compgen": _option("-C"),
    "complete": _option("-C"),
    "mapfile": _option("-C"),
    "readarray": _option("-C"),
    "bind": _unknown_if("^-x$"),
    "fc": _unknown_if("^-[se]"),
    **dict.fromkeys(("npx", "bunx", "uvx"), _npx),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), _node_package),
}
"""The commands by name."""
