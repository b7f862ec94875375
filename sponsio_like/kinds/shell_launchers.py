"""Commands that start others, by their arguments or by a text in an option.

In: the arguments of such a command. Out: the facts of what it starts. `shell_commands` has those
that every developer uses; what is in a program that is started, no text tells.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from sponsio_like.kinds.shell_options import behind_options
from sponsio_like.kinds.shell_state import Handler, Shell, Stdin, Words

FLAGS = frozenset(
    {
        *("-q", "--quiet", "-y", "--yes", "-v", "--verbose", "--no-install", "--user", "--wait"),
        *("-a", "--auto-servernum", "-i", "-d", "-s", "--no-capture-output", "-f", "-n", "-m"),
    }
)
"""Options of these commands that take no value."""


def _behind(short: str = "", long: tuple[str, ...] = (), skip: int = 0) -> Handler:
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


def _sub(*subcommands: str, short: str = "", skip: int = 0) -> Handler:
    """Return the launcher of what stands behind a subcommand, as in `conda run ..`."""
    launch = _behind(short, ("--name", "--prefix", "--with", "--python", "--package"), skip)

    def handle(state: Shell, args: Words, stdin: Stdin) -> str | None:
        rest = behind_options(args, "")
        if rest[:1] and rest[0] in subcommands:
            return launch(state, rest[1:], stdin)
        return None

    return handle


def _option(*options: str) -> Handler:
    """Return the launcher of the programs that stand in these options."""

    def launch(state: Shell, args: Words, _: Stdin) -> str | None:
        for each in _values(args, options):
            state.program(each.removeprefix("!"))
        return None

    return launch


def _from(*options: str) -> Handler:
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


def _texts(short: str = "") -> Handler:
    """Return the launcher of a command each of whose arguments is a program."""

    def launch(state: Shell, args: Words, _: Stdin) -> str | None:
        for each in behind_options(args, short):
            if each[:1] != "-":
                state.program(each)
        return None

    return launch


def _unknown_if(found: str) -> Handler:
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


MAKEFILES = ("Makefile", "makefile", "GNUmakefile")


def _make(state: Shell, args: Words, _: Stdin) -> str | None:
    """Note make: its file may be the input or written by the text, and its shell another one."""
    words = list(args)
    from_input = any(
        each in ("-f", "--file", "--makefile") and words[i + 1 : i + 2] in (["-"], ["/dev/stdin"])
        for i, each in enumerate(words)
    )
    odd = re.compile(
        r"\.?SHELL(?:FLAGS)?=|--eval|-f-$|-f/dev|--(?:make)?file=(?:-|/dev)|.*/dev/fd/|/proc/.*/fd/"
    )
    files = [*_values(words, ("-f", "--file", "--makefile")), *MAKEFILES]
    files += [each[2:] for each in words if each[:2] == "-f"]
    written = any(state.place(each) in state.files for each in files)
    if from_input or written or any(odd.match(each) for each in words):
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
    rest = behind_options(args, "C", ("--filter", "--dir", "--prefix"))
    if rest[:1] and rest[0] in ("exec", "x", "dlx"):
        return _npx(state, [each for each in rest[1:] if each != "--"], stdin)
    if rest[:2] == ["pkg", "set"]:
        state.writes("package.json")
        for each in rest[2:]:
            if each.startswith(("scripts.", "scripts[")):  # `npm run` runs it
                state.program(each.partition("=")[2])
    return None


def _each(*options: str) -> Handler:
    """Return the launcher of a command with programs in these options, and as its arguments."""

    def launch(state: Shell, args: Words, stdin: Stdin) -> str | None:
        _option(*options)(state, args, stdin)
        return _texts()(state, args, stdin)

    return launch


def _both(one: Handler, other: Handler) -> Handler:
    def launch(state: Shell, args: Words, stdin: Stdin) -> str | None:
        one(state, args, stdin)
        return other(state, args, stdin)

    return launch


def _container(*words: str, skip: int = 1) -> Handler:
    """Return the launcher of `crictl exec [options] name command`, behind one of these words."""
    long = ("--name", "--user", "--env", "--workdir", "--volume", "--namespace", "--context")
    behind = _behind("uewvpncf", (*long, "--file", "--container"), skip)

    def launch(state: Shell, args: Words, stdin: Stdin) -> str | None:
        at = next((i for i, each in enumerate(args) if each in words), len(args))
        return behind(state, args[at + 1 :], stdin)

    return launch


def _git(state: Shell, args: Words, _: Stdin) -> str | None:
    """Launch what git runs: hooks of `bisect run`, `submodule foreach`, `rebase -x`, and others."""
    if not GIT_STARTS.isdisjoint(args):
        _git_starts(state, args)
    for each in args:
        if each.startswith("ext::"):
            state.program(each.removeprefix("ext::").replace("% ", " "))
    return None


def _git_starts(state: Shell, args: Words) -> None:
    rest = [each for each in args if each not in ("-q", "--quiet", "--recursive")]
    for words in (["bisect", "run"], ["submodule", "foreach"]):
        at = rest.index(words[0]) if words[0] in rest else len(rest)
        if rest[at : at + 2] == words:
            inner = rest[at + 2 :]
            state.program(inner[0]) if len(inner) == 1 else _started(state, inner)
    for word, options in GIT_RUNS.items():
        if word in args:
            for each in _values(args[list(args).index(word) + 1 :], options):
                state.program(each)


GIT_RUNS: Mapping[str, tuple[str, ...]] = {
    "rebase": ("-x", "--exec"),
    "difftool": ("-x", "--extcmd"),
    "grep": ("-O", "--open-files-in-pager"),
    "filter-branch": tuple(
        f"--{each}-filter"
        for each in ("tree", "index", "msg", "env", "parent", "commit", "tag-name", "subdirectory")
    ),
    **dict.fromkeys(("fetch", "pull", "clone", "ls-remote", "fetch-pack"), ("--upload-pack", "-u")),
    "push": ("--receive-pack", "--exec"),
    "archive": ("--exec",),
    "send-email": ("--to-cmd", "--cc-cmd", "--sendmail-cmd"),
}
"""The options of subcommands of git that have a program in them."""
GIT_STARTS = frozenset({"bisect", "submodule", *GIT_RUNS})
"""The subcommands of git that run others."""


def _apt(state: Shell, args: Words, _: Stdin) -> str | None:
    for each in _values(args, ("-o", "--option")):
        if "Invoke" in each or "::Dpkg" in each or "DPkg" in each:
            state.program(each.partition("=")[2])
    return None


def _cmake(state: Shell, args: Words, _: Stdin) -> str | None:
    """Launch `cmake -E rm x`, which does what `rm x` does."""
    if args[:1] == ["-E"]:
        names = {"copy": "cp", "copy_directory": "cp", "rename": "mv", "remove": "rm"}
        names |= {"remove_directory": "rm", "make_directory": "mkdir", "create_symlink": "ln"}
        inner = list(args[1:])
        if inner[:1] == ["chdir"]:
            inner = ["env", "-C", *inner[1:]]
        return _started(state, [names.get(inner[0], inner[0]), *inner[1:]] if inner else [])
    return None


def _remote(state: Shell, args: Words, stdin: Stdin) -> str | None:
    """Launch the command that `gcloud compute ssh` gives to another host."""
    if "ssh" in args:
        _option("--command", "-c", "-C")(state, args, stdin)
        return _from("--")(state, args, stdin)
    return None


def _ansible(state: Shell, args: Words, _: Stdin) -> str | None:
    for each in _values(args, ("-a", "--args")):
        state.program(each)
    return None


def _assigned(state: Shell, args: Words, _: Stdin) -> str | None:
    """Launch what stands behind assignments: `cross-env A=b command`."""
    rest = behind_options(args, "f")
    while rest and re.match(r"\w+=", rest[0]):
        rest = rest[1:]
    return _started(state, rest)


def _daemon(state: Shell, args: Words, _: Stdin) -> str | None:
    at = list(args).index("--") if "--" in args else len(args)
    program = _values(args[:at], ("-x", "--exec", "-a", "--startas"))
    return _started(state, [*program[-1:], *args[at + 1 :]])


def _loader(state: Shell, args: Words, _: Stdin) -> str | None:
    """Launch the program that a dynamic loader is given."""
    return _started(state, behind_options(args, "", ("--library-path", "--preload", "--argv0")))


LOADER = re.compile(r"ld-(?:linux|musl)?.*\.so[.\d]*|ld\.so")
"""The names of dynamic loaders, which run the program that they are given."""


LAUNCHERS: Mapping[str, Handler] = {
    **dict.fromkeys(
        (
            *("linux32", "linux64", "i386", "x86_64", "tini", "dumb-init", "eatmydata", "nocache"),
            *("torsocks", "torify", "tsocks", "ssh-agent", "dbus-launch", "catatonit", "daemonize"),
            *("stress", "multitime", "heaptrack", "memusage", "rr", "run0", "sem", "pkgx"),
        ),
        _behind(),
    ),
    **dict.fromkeys(("proxychains", "proxychains4"), _behind("f")),
    **dict.fromkeys(("gosu", "su-exec", "setuidgid", "s6-setuidgid", "envdir"), _behind(skip=1)),
    "setarch": lambda state, args, stdin: _behind()(state, args[1:], stdin),
    "chpst": _behind("uUbenolmdrpfct0123/"),
    "softlimit": _behind("adfpsrtlmco"),
    "cgexec": _behind("g"),
    "capsh": _option("-c"),
    "start-stop-daemon": _daemon,
    "ip": _container("exec"),
    **dict.fromkeys(
        ("lxc", "incus", "multipass", "crictl", "ctr", "machinectl"), _container("exec", "shell")
    ),
    **dict.fromkeys(("docker-compose", "podman-compose"), _container("exec", "run")),
    "nerdctl": _container("exec", "run"),
    **dict.fromkeys(("apptainer", "singularity"), _container("exec")),
    "lxc-attach": _behind("nPfLoevs", ("--name",)),
    "oc": _both(_container("rsh"), _from("--")),
    "vagrant": _option("-c", "--command"),
    "heroku": _container("run", skip=0),
    "gcloud": _remote,
    "fly": _option("-C", "--command"),
    **dict.fromkeys(("ansible", "ansible-console"), _ansible),
    "salt": _unknown_if(r"^cmd\."),
    "sshpass": _behind("pfdP"),
    "mosh": _both(_from("--"), _behind(skip=1)),
    **dict.fromkeys(("rsh", "autossh"), _behind("lpM", skip=1)),
    **dict.fromkeys(("pdsh", "pssh"), _behind("wlhHtpfio")),
    "wsl": _behind("du", ("--distribution", "--user", "--cd")),
    "adb": _container("shell", skip=0),
    **dict.fromkeys(
        ("scp", "sftp"), _both(_option("-S", "-D"), _unknown_if(r"(?i)^-?o?proxycommand"))
    ),
    **{
        name: _sub("exec", "run", "tool")
        for name in ("bundle", "rbenv", "pyenv", "asdf", "mise", "nvm", "volta", "fnm", "lerna")
    },
    **dict.fromkeys(
        ("honcho", "foreman", "dotenv", "pipx", "doppler", "op"), _sub("run", short="f")
    ),
    "aws-vault": _sub("exec", skip=1),
    "cross-env": _assigned,
    "env-cmd": _assigned,
    "concurrently": _texts("nck"),
    **dict.fromkeys(("npm-run-all", "wireit"), _behind(skip=99)),
    "nix": _from("-c", "--command"),
    "watchmedo": _both(_option("-c", "--command"), _from("--")),
    **dict.fromkeys(("onchange", "chokidar"), _both(_option("-c", "--command"), _from("--"))),
    **dict.fromkeys(("dtach", "abduco"), _behind("cnAaeErz", skip=0)),
    **dict.fromkeys(("xterm", "konsole", "alacritty", "kitty", "rxvt", "urxvt"), _from("-e")),
    "gnome-terminal": _from("--", "-x"),
    "zellij": _from("--"),
    "pee": _texts(),
    "mispipe": _texts(),
    "split": _option("--filter"),
    "sort": _option("--compress-program"),
    "tcpdump": _option("-z"),
    "yt-dlp": _option("--exec"),
    "aria2c": _option("--on-download-complete", "--on-download-start", "--on-download-error"),
    **dict.fromkeys(("apt", "apt-get"), _apt),
    "cmake": _cmake,
    "git": _git,
    **dict.fromkeys(("hg", "jj"), _unknown_if(r"alias\.|hooks\.|^ext:")),
    "gh": _unknown_if(r"^alias$"),
    "dc": _unknown_if("!"),
    **dict.fromkeys(
        ("emacs", "emacsclient"), _unknown_if(r"^--?(?:eval|e|batch|l|load|f|script)$")
    ),
    **dict.fromkeys(
        ("R", "julia", "ghci", "scala", "groovy", "clojure"), _unknown_if(r"^-[eE]|^--eval")
    ),
    **dict.fromkeys(
        ("elixir", "iex", "erl", "swift", "racket"), _unknown_if(r"^--?(?:e|eval|rpc-eval)$")
    ),
    **dict.fromkeys(
        ("octave", "sbcl", "gnuplot", "maxima"), _unknown_if(r"^--?(?:e|eval|batch-string)\b")
    ),
    **dict.fromkeys(
        ("guile", "osascript", "xonsh", "nu", "elvish"), _unknown_if(r"^-\w*[ec]|^--commands?")
    ),
    **dict.fromkeys(("mongosh", "mongo"), _unknown_if(r"^--eval")),
    "lldb": _unknown_if(r"^(?:-o|-O|-s|-S|--one-line|--source).*"),
    "m4": _unknown_if(""),
    "deno": _unknown_if(r"^eval$|^https?:"),
    "dpkg": _option("--pre-invoke", "--post-invoke"),
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


@functools.lru_cache(maxsize=1_000)
def launcher(name: str) -> Handler | None:
    """Return the launcher of a command; None if it starts no other one that is known."""
    return LAUNCHERS.get(name) or (_loader if LOADER.fullmatch(name) else None)
