"""Performs a command on paper: functions, commands that run others, the table of the rest.

In: the words of a command, its input, the state of the shell. Out: facts are noted; what the
command writes to its output is returned, None where that is unknown.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping

from sponsio_like.kinds.shell_builtins import BUILTINS
from sponsio_like.kinds.shell_databases import DATABASES
from sponsio_like.kinds.shell_files import sed, tar
from sponsio_like.kinds.shell_hidden import NAMING, SUBSCRIPT
from sponsio_like.kinds.shell_interpreters import fed, given_text, interpreter, script
from sponsio_like.kinds.shell_launchers import LAUNCHERS, launcher
from sponsio_like.kinds.shell_options import behind_options, sorted_options
from sponsio_like.kinds.shell_state import PROGRAMS, Handler, Shell, Stdin, Words
from sponsio_like.kinds.shell_table import host_in, note
from sponsio_like.kinds.shell_words import (
    LOOSE,
    QUOTED,
    SIGNS,
    shown,
)

CODE = re.compile(
    r"LD_(?:PRELOAD|AUDIT)|DYLD_.*|BASH_ENV|PYTHONSTARTUP|PERL5(?:OPT|DB)|RUBYOPT|NODE_OPTIONS|"
    r"BASH_FUNC_.*|GIT_CONFIG_(?:COUNT|PARAMETERS|KEY_\d+|VALUE_\d+)|TAR_OPTIONS|PYTHONBREAKPOINT|JAVA_TOOL_OPTIONS"
)
"""Variables that bring code of their own into a program, or options that do."""


def perform(
    state: Shell, words: list[str], stdin: Stdin, sets: Mapping[str, str | None] | None = None
) -> str | None:
    """Note what a command does; return what it writes."""
    state.step(1 + len(words) // 4)
    if sets:
        _brought(state, sets)
    stdin = stdin if stdin.given else state.stdin
    name = words[0] if words else ""
    if name == LOOSE and len(words) > 1:  # `$SUDO rm`: the variable may be empty
        state.found.nothing_is_clear()
        return perform(state, words[1:], stdin)
    if name in state.aliases:
        return _aliased(state, words, stdin)
    if name in state.functions:
        return _called(state, words, stdin)
    base = name.rsplit("/", 1)[-1] if "/" in name else name
    state.found.calls.append(" ".join([e or "''" for e in words] if "" in words else words))
    if not base or not (base.isascii() or SIGNS.search(base) is None):
        state.found.nothing_is_clear()
        return None
    state.found.runs.append(base)
    args = words[1:]
    if base == "exec" and not args and stdin.given:  # `exec < a`
        state.stdin = Stdin(given=True, text=None)
    written = state.files.get(state.place(name), "") if "/" in name else ""
    if written != "":
        return script(state, name, args)
    if base in NAMING and any(map(SUBSCRIPT.search, args)):
        state.found.nothing_is_clear()
    handler = HANDLERS.get(base) or interpreter(base)
    if handler is not None:
        return handler(state, args, stdin)
    note(state, base, args)
    if base in state.renamed and "/" not in name:
        state.found.nothing_is_clear()
    launch = launcher(base)
    return None if launch is None else launch(state, args, stdin)


def _brought(state: Shell, sets: Mapping[str, str | None]) -> None:
    """Note the code that variables bring into a command for which they are set."""
    for name, value in sets.items():
        if PROGRAMS.fullmatch(name):
            state.program(value if value is not None else QUOTED)
        elif _brings_code(name, value):
            state.found.opaque()
        else:
            state.pointed(name, value)


def _brings_code(name: str, value: str | None) -> bool:
    if name == "ENV":  # a file, to a shell; to most programs, a name such as `production`
        return value is None or "/" in value
    if name == "LESS":
        return value is None or "!" in value
    return value != "" and CODE.fullmatch(name) is not None


def _aliased(state: Shell, words: list[str], stdin: Stdin) -> str | None:
    text = state.aliases.pop(words[0])
    quoted = " ".join(_quoted(each) for each in words[1:])
    said = state.program(f"{text} {quoted}", stdin)
    state.aliases[words[0]] = text
    return said


def _quoted(word: str) -> str:
    return "'" + shown(word).replace("'", "'\\''") + "'"


def _called(state: Shell, words: list[str], stdin: Stdin) -> str | None:
    before = state.positional
    state.called.add(words[0])
    state.positional = words[1:]
    said = state.call(words[0], stdin)
    state.positional = before
    return said


# --- commands that run others ---------------------------------------------------------------------


def _run(state: Shell, words: Words, stdin: Stdin) -> str | None:
    return perform(state, list(words), stdin) if words else None


def wrapper(short: str = "", long: tuple[str, ...] = (), skip: int = 0) -> Handler:
    """Return the handler of a command that runs what stands behind its own options.

    `short` are the letters of options that take a value, `long` such options by name; `skip`
    arguments stand before the command.
    """

    def handle(state: Shell, args: Words, stdin: Stdin) -> str | None:
        rest = behind_options(args, short, long)
        if "o" in short:
            for each in written_by(args[: len(args) - len(rest)]):
                state.writes(each)
        return _run(state, rest[skip:], stdin)

    return handle


def written_by(options: Words) -> list[str]:
    """Return the files that `-o` and `--output` name."""
    pairs = itertools.pairwise(options)
    found = [value for option, value in pairs if option in ("-o", "--output")]
    found += [each[2:] for each in options if each[:2] == "-o" and each[2:]]
    return [*found, *(each[9:] for each in options if each.startswith("--output="))]


def _env(state: Shell, args: Words, stdin: Stdin) -> str | None:
    rest = list(args)
    while rest:
        word = rest[0]
        if word in ("-S", "--split-string"):
            return state.program(" ".join(rest[1:]), stdin)
        if word.startswith(("-S", "--split-string=")):
            text = word.removeprefix("-S").removeprefix("--split-string=")
            return state.program(" ".join([text, *map(_quoted, rest[1:])]), stdin)
        if re.match(r"-[iv0]+S", word):
            glued = word.partition("S")[2]
            texts = (
                [glued, *map(_quoted, rest[1:])] if glued else [*rest[1:2], *map(_quoted, rest[2:])]
            )
            return state.program(" ".join(texts), stdin)
        if word in ("-C", "--chdir") or word.startswith(("--chdir=", "-C")):
            return _env_folder(state, rest, stdin)
        if word in ("-u", "--unset", "-a", "--argv0"):
            rest = rest[2:]
        elif word[:1] == "-":
            rest = rest[1:]
        elif re.match(r"[\w%]+=", word):
            name, _, value = word.partition("=")
            state.found.sets.append(name)
            return _env_set(state, name, value, rest[1:], stdin)
        else:
            break
    return _run(state, rest, stdin)


def _env_folder(state: Shell, rest: Words, stdin: Stdin) -> str | None:
    """Follow `env -C folder command`."""
    glued = rest[0].partition("=")[2] or rest[0].removeprefix("--chdir").removeprefix("-C")
    folder, behind = (glued, rest[1:]) if glued else ("".join(rest[1:2]), rest[2:])
    return _in_folder(state, folder, lambda: _env(state, behind, stdin))


def _in_folder(state: Shell, folder: str, run: Callable[[], str | None]) -> str | None:
    """Run something in another folder, and come back."""
    before = state.cwd
    BUILTINS["cd"](state, [folder], Stdin())
    said = run()
    state.cwd = before
    return said


def _env_set(state: Shell, name: str, value: str, rest: Words, stdin: Stdin) -> str | None:
    _brought(state, {name: value})
    return _env(state, rest, stdin)


def _elevated(short: str, long: tuple[str, ...] = ()) -> Handler:
    def handle(state: Shell, args: Words, stdin: Stdin) -> str | None:
        state.found.elevates = True
        rest = behind_options(args, short, long)
        while rest and re.match(r"\w+=", rest[0]):
            rest = rest[1:]
        flags = args[: len(args) - len(rest)]
        if not rest and any(each in ("-s", "-i", "--shell", "--login") for each in flags):
            return fed(state, stdin)
        said = sorted_options(flags, short, long).values
        folder = said.get("-D", said.get("--chdir", ""))
        if folder:
            return _in_folder(state, folder, lambda: _run(state, rest, stdin))
        return _run(state, rest, stdin)

    return handle


def _su(state: Shell, args: Words, stdin: Stdin) -> str | None:
    state.found.elevates = True
    for i, each in enumerate(args):
        if each in ("-c", "--command") and i + 1 < len(args):
            return given_text(state, args[i + 1 : i + 2])
        if each.startswith("--command="):
            return given_text(state, [each.partition("=")[2]])
    return fed(state, stdin)


def _xargs(state: Shell, args: Words, stdin: Stdin) -> str | None:
    rest = behind_options(
        args,
        "IiLlnPsdEeaSR",
        (
            *("--replace", "--max-args", "--max-procs", "--delimiter", "--arg-file"),
            *("--max-lines", "--process-slot-var", "--max-chars"),
        ),
    )
    flags = list(args[: len(args) - len(rest)])
    given = [LOOSE] if stdin.text is None else stdin.text.split()
    for option, value in itertools.pairwise(flags):
        if option in ("-a", "--arg-file"):
            state.reads(value)
            given = [LOOSE]
    if not rest:
        return None
    marks = {flags[i + 1] for i, each in enumerate(flags[:-1]) if each in ("-I", "--replace")}
    marks |= {each[2:] or "{}" for each in flags if each.startswith(("-I", "-i")) and len(each) > 2}
    if marks:
        said = " ".join(given) if stdin.text is not None else QUOTED
        filled = [_replaced(each, marks, said) for each in rest]
        return _run(state, filled, Stdin())
    return _run(state, [*rest, *given], Stdin())


def _replaced(word: str, marks: set[str], said: str) -> str:
    for mark in marks:
        word = word.replace(mark, said) if mark else word
    return word


def _parallel(state: Shell, args: Words, stdin: Stdin) -> str | None:
    rest = behind_options(args, "jnNLdaI", ("--jobs", "--max-args", "--delay", "--timeout"))
    cut = next((i for i, each in enumerate(rest) if each in (":::", "::::", ":::+")), len(rest))
    command, given = rest[:cut], [each for each in rest[cut + 1 :] if each[:3] != ":::"]
    if not command:
        if not rest and stdin.text is None:
            state.found.opaque()
            return None
        for each in given or (stdin.text or "").splitlines():
            state.program(each)
        return None
    said = given if cut < len(rest) else [LOOSE]
    for each in said:
        filled = [_replaced(word, {"{}"}, each) for word in command]
        more = [] if any("{}" in word for word in command) else [each]
        state.program(" ".join([*filled, *more]))
    return None


def _joined(short: str, long: tuple[str, ...] = ()) -> Handler:
    """Return the handler of a command that hands its arguments to a shell as one text."""

    def handle(state: Shell, args: Words, _: Stdin) -> str | None:
        rest = behind_options(args, short, long)
        return state.program(" ".join(rest)) if rest else None

    return handle


HOPS = re.compile(r"(?i)(?:proxyjump|hostname)\s*[= ]\s*(.*)")
FORWARD = re.compile(r"(?:[^:]*:)?\d+:([^:]+):\d+$|^([^:]+):\d+$")
"""The host of `-L 80:host:80`, and of `-W host:80`."""


def _ssh(state: Shell, args: Words, stdin: Stdin) -> str | None:
    rest = behind_options(args, SSH)
    flags = list(args[: len(args) - len(rest)])
    ssh_options(state, flags)
    if rest:
        state.found.hosts.append(host_in(rest[0]))
    if len(rest) > 1:
        _away(state, " ".join(rest[1:]), stdin)
        return None
    return fed(state, stdin)


def _scp(state: Shell, args: Words, stdin: Stdin) -> str | None:
    ssh_options(state, list(args))
    note(state, "scp" if len(args) > 1 else "sftp", args)
    return LAUNCHERS["scp"](state, args, stdin)


SSH = "BbcDEeFIiJLlmOopQRSWw"


def ssh_options(state: Shell, flags: list[str]) -> None:
    """Note the hosts, files and commands in options of ssh and scp."""
    options = [*itertools.pairwise(flags), *((each[:2], each[2:]) for each in flags if each[2:])]
    for option, value in options:
        if option == "-o":
            if re.match(r"(?i)(?:Proxy|Local)Command\s*[= ]", value) and "none" not in value:
                state.program(re.split(r"[= ]", value, maxsplit=1)[1])
            elif found := HOPS.fullmatch(value):
                state.found.hosts.append(host_in(found[1]))
            elif value.lower().startswith("identityfile"):
                state.reads(re.split(r"[= ]", value, maxsplit=1)[-1])
        elif option == "-J":
            state.found.hosts += [host_in(each) for each in value.split(",")]
        elif option in ("-i", "-F"):
            state.reads(value)
        elif option in ("-W", "-L", "-R") and (found := FORWARD.search(value)):
            state.found.hosts.append(found[1] or found[2])


def _away(state: Shell, text: str, stdin: Stdin) -> None:
    """Follow a program on another host: it starts in a folder that nobody knows."""
    before, state.cwd = state.cwd, None
    state.program(text, stdin)
    state.cwd = before


def _kubectl(state: Shell, args: Words, stdin: Stdin) -> str | None:
    """Note kubectl: what it destroys, and what it runs inside of a pod."""
    cut = list(args).index("--") if "--" in args else len(args)
    note(state, "kubectl", args[:cut])
    inner = args[cut + 1 :]
    if not inner and "exec" in args:
        inner = behind_options(args[list(args).index("exec") + 1 :], "cnf", ("--container",))[1:]
    return _run(state, inner, stdin)


CONTAINER = (
    *("--name", "--volume", "--env", "--publish", "--user", "--workdir", "--entrypoint"),
    *("--network", "--memory", "--cpus", "--env-file", "--mount", "--gpus", "--platform"),
    *("--add-host", "--hostname", "--label", "--restart", "--ulimit", "--shm-size", "--cidfile"),
)
"""Options of `docker run` that take a value."""


def _container(state: Shell, args: Words, stdin: Stdin) -> str | None:
    """Note docker and podman: what they destroy, and what they run inside."""
    note(state, "docker", args)
    rest = behind_options(args, "cHl", ("--context", "--host", "--config", "--log-level"))
    if rest[:1] in (["compose"], ["container"]):
        rest = behind_options(rest[1:], "fp", ("--file", "--project-name"))
    if rest[:1] not in (["run"], ["exec"]):
        return None
    inner = behind_options(rest[1:], "apveulwhmcn" if rest[0] == "run" else "euw", CONTAINER)
    flags = rest[1 : len(rest) - len(inner)]
    for each, may_write in _mounted(rest[1:]):
        state.reads(each)
        if may_write:
            state.writes(each)
    given = sorted_options(flags, "apveulwhmcn", CONTAINER).values
    entry = [given["--entrypoint"]] if given.get("--entrypoint") else []
    return _run(state, [*entry, *inner[1:]], stdin)


def _mounted(args: Words) -> list[tuple[str, bool]]:
    """Return the folders of the host that a container sees, and whether it may write them.

    Of a relative one nobody knows.
    """
    found = []
    for i, each in enumerate(args):
        value = args[i + 1] if each in ("-v", "--volume") and i + 1 < len(args) else ""
        value = each.partition("=")[2] if each.startswith("--volume=") else value
        if each == "--mount" or each.startswith("--mount="):
            mount = each.partition("=")[2] or (args[i + 1] if i + 1 < len(args) else "")
            source = re.search(r"(?:^|,)(?:source|src)=([^,]+)", mount)
            value = f"{source[1]}:" if source and "type=bind" in mount else ""
            value += "/:ro" if value and re.search(r"(?:^|,)(?:readonly|ro)\b", mount) else ""
        folder, _, inside = value.partition(":")
        if folder[:1] in ("/", "~") and not SIGNS.search(folder):
            found.append((folder, not inside.endswith(":ro")))
    return found


def _find(state: Shell, args: Words, _: Stdin) -> str | None:
    places = []
    rest = list(args)
    while rest and rest[0] in ("-H", "-L", "-P"):
        rest = rest[1:]
    while (rest and rest[0][:1] not in ("-", "(", "!")) or (rest and rest[0] == "-"):
        places.append(rest.pop(0))
    places = places or ["."]
    for each in places:
        state.reads(each)
    for i, each in enumerate(rest):
        if each in ("-exec", "-execdir", "-ok", "-okdir"):
            inner = rest[i + 1 :]
            end = next((j for j, word in enumerate(inner) if word in (";", "+")), len(inner))
            found = f"{places[0].rstrip('/')}/{GLOB_STAR}"
            perform(state, [word.replace("{}", found) for word in inner[:end]], Stdin())
        elif each == "-delete":
            for place in places:
                state.deletes(place)
            state.found.destroys.append("find -delete")
        elif each in ("-fprint", "-fprintf", "-fls", "-fprint0") and i + 1 < len(rest):
            state.writes(rest[i + 1])
        elif SIGNS.search(each) and LOOSE in each:
            state.found.nothing_is_clear()
    return None


GLOB_STAR = "\ue002"


def _command(state: Shell, args: Words, stdin: Stdin) -> str | None:
    if args and re.fullmatch(r"-[vV]+", args[0]):
        return None
    return _run(state, behind_options(args, ""), stdin)


def _coproc(state: Shell, args: Words, stdin: Stdin) -> str | None:
    if any(each in ("{", "(") for each in args):  # `coproc name { .. }` is no simple command
        state.found.nothing_is_clear()
    return _exec(state, args, stdin)


def _exec(state: Shell, args: Words, stdin: Stdin) -> str | None:
    return _run(state, behind_options(args, "a"), stdin)


def _busybox(state: Shell, args: Words, stdin: Stdin) -> str | None:
    return _run(state, args, stdin)


HANDLERS: Mapping[str, Handler] = {
    **BUILTINS,
    **DATABASES,
    "command": _command,
    "builtin": _command,
    "exec": _exec,
    "coproc": _coproc,
    "env": _env,
    "sudo": _elevated(
        "CDghpRrTtuU",
        ("--user", "--group", "--host", "--prompt", "--chdir", "--role", "--type", "--chroot"),
    ),
    "doas": _elevated("aCu"),
    "pkexec": _elevated("", ("--user",)),
    "su": _su,
    "nohup": wrapper(),
    "time": wrapper("fo", ("--format", "--output")),
    "nice": wrapper("n", ("--adjustment",)),
    "ionice": wrapper("cnp", ("--class", "--classdata")),
    "timeout": wrapper("ks", ("--kill-after", "--signal"), skip=1),
    "stdbuf": wrapper("ioe", ("--input", "--output", "--error")),
    "setsid": wrapper(),
    "chroot": wrapper("", ("--userspec", "--groups"), skip=1),
    "unshare": wrapper(
        "RwSGlT",
        (
            *("--map-users", "--map-groups", "--map-user", "--map-group", "--wd", "--root"),
            *("--setuid", "--setgid", "--propagation", "--setgroups", "--kill-child"),
        ),
    ),
    "strace": wrapper("eopsuSXbIP"),
    "ltrace": wrapper("eopsuSlnD"),
    "setpriv": wrapper(
        "",
        (
            *("--reuid", "--regid", "--groups", "--inh-caps", "--ambient-caps"),
            *("--bounding-set", "--securebits", "--pdeathsig", "--selinux-label"),
        ),
    ),
    "taskset": wrapper("", (), skip=1),
    "catchsegv": wrapper(),
    "fakeroot": wrapper(),
    "uv": lambda state, args, stdin: _runner(state, "uv", args, stdin),
    "poetry": lambda state, args, stdin: _runner(state, "poetry", args, stdin),
    "pipenv": lambda state, args, stdin: _runner(state, "pipenv", args, stdin),
    "xargs": _xargs,
    "parallel": _parallel,
    "watch": _joined("n", ("--interval",)),
    "busybox": _busybox,
    "toybox": _busybox,
    "ssh": _ssh,
    "docker": _container,
    "podman": _container,
    "kubectl": _kubectl,
    "find": _find,
    "scp": _scp,
    "sftp": _scp,
    "sed": sed,
    "tar": tar,
    "bsdtar": tar,
}


def _runner(state: Shell, name: str, args: Words, stdin: Stdin) -> str | None:
    note(state, name, args)
    rest = behind_options(args, "CP", ("--directory", "--project"))
    if name == "uv" and rest[:2] == ["tool", "run"]:
        rest = rest[1:]
    if rest[:1] == ["run"]:
        return _run(state, behind_options(rest[1:], "", ("--with", "--python", "--from")), stdin)
    return None
