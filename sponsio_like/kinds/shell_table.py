"""The table of commands: which arguments are paths, hosts and packages, and what destroys.

In: the name of a command and its arguments. Out: facts are noted. Sources: the manual pages of GNU
coreutils, git, and of each tool named. Of a command that is not here, no paths are known.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from sponsio_like.kinds.shell_state import Shell
from sponsio_like.kinds.shell_words import LOOSE, QUOTED, SIGNS

Words: TypeAlias = Sequence[str]
Destroys: TypeAlias = "Callable[[Options], str]"
"""A function that returns what a call destroys, in a few words; empty for nothing."""


class Options(NamedTuple):
    """The arguments of a call: options, values of options, and the rest. `loose`: there may be
    more options than are known.
    """

    flags: frozenset[str]
    values: dict[str, str]
    rest: list[str]
    loose: bool

    def has(self, *names: str) -> bool:
        """True if one of these options is given."""
        return not self.flags.isdisjoint(names)


def sorted_options(args: Words, short: str = "", long: Words = ()) -> Options:
    """Return the arguments, sorted; `short` and `long` are options that take a value."""
    if not any([each[:1] == "-" for each in args]):
        return Options(frozenset(), {}, list(args), any([each[:1] == LOOSE for each in args]))
    flags, values, rest = set[str](), dict[str, str](), list[str]()
    words, i = list(args), 0
    while i < len(words):
        word, i = words[i], i + 1
        if word == "--":
            rest += words[i:]
            break
        if word[:2] == "--":
            name, sign, value = word.partition("=")
            flags.add(name)
            if sign:
                values[name] = value
            elif name in long and i < len(words):
                values[name], i = words[i], i + 1
        elif word[:1] == "-" and len(word) > 1:
            for j, each in enumerate(word[1:], 2):
                flags.add(f"-{each}")
                if each in short:
                    if word[j:]:
                        values[f"-{each}"] = word[j:]
                    elif i < len(words):
                        values[f"-{each}"], i = words[i], i + 1
                    break
        else:
            rest.append(word)
    loose = any([each[:1] == LOOSE for each in rest])
    return Options(frozenset(flags), values, rest, loose)


def behind_options(args: Words, short: str, long: tuple[str, ...] = ()) -> list[str]:
    """Return the arguments from the first one that is neither an option nor its value."""
    rest = list(args)
    while rest and rest[0][:1] == "-" and len(rest[0]) > 1:
        option = rest.pop(0)
        if option == "--":
            break
        if option[:2] == "--":
            rest = rest[1:] if option in long else rest
        elif any(each in short for each in option[1:]):
            at = next(i for i, each in enumerate(option) if i and each in short)
            rest = rest[1:] if at == len(option) - 1 else rest
    return rest


class Row(NamedTuple):
    """A command. `roles` has a letter for each argument: `r` read, `w` written, `t` written with
    its content as it was, `d` deleted, `m` moved away, `h` host, `p` package, `-` none. `s` is
    read, `c` written, unless on another host; `S` and `C` unless in a container or in a cloud. The
    letter before `*` is that of all others, and what stands behind it is of the last ones. `paths`:
    options whose values are paths.
    """

    roles: str = ""
    short: str = ""
    long: tuple[str, ...] = ()
    paths: Mapping[str, str] = {}
    destroys: Destroys | None = None
    depends: bool = True
    """True if it depends on an option that may be hidden in an unknown argument."""


def note(state: Shell, name: str, args: Words) -> None:
    """Note what the table says of a call."""
    for sign, role in ASSIGNED.get(name, {}).items():
        for word in _assigned(args, sign):
            _noted(state, role, word)
    row = _subcommand(state, name, args) if name in SUBCOMMANDS else _row(name)
    if row is None:
        return
    if name == "git":
        args = behind_options(args, "Cc", _GIT_PATHS)
    said = sorted_options(args, row.short, row.long)
    words = said.rest[1:] if name in SUBCOMMANDS else said.rest
    roles = _roles(row.roles, len(words))
    if name in IN_PLACE and not said.flags.isdisjoint(IN_PLACE[name]):
        roles = roles.replace("r", "w")
    if said.has("-t", "--target-directory") and row.roles.endswith("*w"):
        roles = row.roles[0] * len(words)
    for role, word in zip(roles, words, strict=False):
        _noted(state, role, word)
    for option, role in row.paths.items():
        if option in said.values:
            _noted(state, role, said.values[option])
    if name == "curl":
        for each in said.values.values():
            if found_file := re.match(r"(?:[\w.]+=)?[@<](?!-)([^;]+)", each):
                state.reads(found_file[1])
    if row.destroys is not None:
        found = row.destroys(said._replace(rest=words))
        if found:
            state.found.destroys.append(found)
        elif said.loose and row.depends:
            state.found.destroys.append(QUOTED)


@functools.lru_cache(maxsize=1_000)
def _row(name: str) -> Row | None:
    return ROWS.get(name) or next((row for fits, row in PATTERNS if fits.fullmatch(name)), None)


def _roles(roles: str, count: int) -> str:
    """Return a letter for each argument; those without `*` may be more or fewer."""
    first, star, last = roles.partition("*")
    if not star:
        return roles
    repeated, fixed = first[-1:], first[:-1]
    middle = max(count - len(fixed) - len(last), 0)
    return (fixed + repeated * middle + last)[-count:] if count else ""


def _noted(state: Shell, role: str, word: str) -> None:
    match role:
        case "r":
            state.reads(word)
        case "w":
            state.writes(word)
        case "t":
            state.writes(word, state.files.get(state.place(word), ""))
        case "d":
            state.deletes(word)
        case "m":
            state.reads(word)
            state.deletes(word)
        case "h":
            state.found.hosts.append(host_in(word))
        case "s" | "c" if REMOTE.match(word):
            state.found.hosts.append(host_in(word))
        case "s":
            state.reads(word)
        case "c":
            state.writes(word)
        case "S" | "C" if INSIDE.match(word):
            pass
        case "S":
            state.reads(word)
        case "C":
            state.writes(word)
        case "p":
            state.found.packages.append(QUOTED if SIGNS.search(word) else word)


def _assigned(args: Words, sign: str) -> Iterator[str]:
    """Yield what stands behind `of=`, or in the argument behind `-out`."""
    for i, each in enumerate(args):
        if sign[-1:] == "=" and each.startswith(sign):
            yield each.removeprefix(sign)
        elif each == sign and i + 1 < len(args):
            yield args[i + 1]


def host_in(word: str) -> str:
    """Return the host of a URL, of `user@host:path`, or of a bare name."""
    if SIGNS.search(word):
        found = re.match(r"[a-z]+://([\w.-]+)(?=[/:?#])", word)
        return found[1] if found else QUOTED
    bare = re.sub(r"^[A-Za-z][\w+.-]*://", "", word)
    bare = re.split(r"[/?#]", bare, maxsplit=1)[0].rpartition("@")[2]
    return re.sub(r":.*$", "", bare).lower() if bare[:1] != "[" else bare


# --- what destroys --------------------------------------------------------------------------------


def _rm(said: Options) -> str:
    return "rm -r" if said.has("-r", "-R", "--recursive") else ""


def _recursive(name: str) -> Destroys:
    return lambda said: f"{name} -R" if said.has("-R", "--recursive") else ""


def always(what: str) -> Destroys:
    """Return a rule: every call destroys."""
    return lambda _: what


def _dd(said: Options) -> str:
    to = next((each[3:] for each in said.rest if each.startswith("of=")), "")
    return f"dd of={to}" if to and to != "/dev/null" else ""


def _kill(said: Options) -> str:
    return "kill all" if "-1" in said.rest or (said.has("-1") and not said.rest) else ""


def _git_push(said: Options) -> str:
    forced = said.has("--force", "-f", "--mirror", "--delete", "-d", "--prune")
    return "git push --force" if forced or any(each[:1] in "+:" for each in said.rest[1:]) else ""


def _git_reset(said: Options) -> str:
    return "git reset --hard" if said.has("--hard", "--merge") else ""


def _git_clean(said: Options) -> str:
    return "" if said.has("-n", "--dry-run") or not said.has("-f", "--force") else "git clean -f"


def _git_checkout(said: Options) -> str:
    return "git checkout --force" if said.has("-f", "--force") or "." in said.rest else ""


def _git_branch(said: Options) -> str:
    return "git branch -D" if said.has("-D") or (said.has("--force") and said.has("-d")) else ""


def _flag(what: str, *flags: str) -> Destroys:
    return lambda said: what if said.has(*flags) else ""


def _first(what: str, *words: str) -> Destroys:
    return lambda said: f"{what} {said.rest[0]}" if said.rest[:1] and said.rest[0] in words else ""


def _systemctl(said: Options) -> str:
    stops = ("stop", "disable", "mask", "poweroff", "reboot", "halt", "isolate", "kill")
    return f"systemctl {said.rest[0]}" if said.rest and said.rest[0] in stops else ""


def _crontab(said: Options) -> str:
    return "crontab -r" if said.has("-r") else ""


def _iptables(said: Options) -> str:
    return "iptables -F" if said.has("-F", "--flush", "-X") else ""


ROWS: dict[str, Row] = {
    **dict.fromkeys(("less", "more", "nl", "tac", "rev", "wc", "file", "stat"), Row("r*")),
    **dict.fromkeys(("ls", "dir", "tree", "du", "readlink", "realpath"), Row("r*")),
    "uniq": Row("rw", "fsw"),
    "xxd": Row("rw", "clgsoR"),
    **dict.fromkeys(("md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum"), Row("r*")),
    **dict.fromkeys(("strings", "od", "hexdump", "base64", "base32", "paste", "comm"), Row("r*")),
    **dict.fromkeys(("diff", "cmp", "fold", "fmt", "column", "zcat", "bzcat"), Row("r*")),
    **dict.fromkeys(("head", "tail"), Row("r*", "nc", ("--lines", "--bytes"))),
    "sort": Row("r*", "koStT", paths={"-o": "w", "--output": "w"}),
    "cut": Row("r*", "dfcb", ("--delimiter", "--fields")),
    "tr": Row("-*"),
    **dict.fromkeys(
        ("grep", "egrep", "fgrep", "zgrep"),
        Row("-r*", "efmABCdD", ("--include", "--exclude", "--exclude-dir", "--max-count")),
    ),
    **dict.fromkeys(("rg", "ag", "ack"), Row("-r*", "egtTmABC", ("--glob", "--type"))),
    "jq": Row("-r*", "", ("--arg", "--argjson")),
    "cp": Row("r*w", "tS", ("--target-directory",), {"-t": "w", "--target-directory": "w"}),
    "install": Row(
        "r*w",
        "mogt",
        ("--mode", "--owner", "--group", "--target-directory"),
        {"-t": "w", "--target-directory": "w"},
    ),
    "link": Row("rw"),
    "mknod": Row("w-*"),
    "rsync": Row(
        "s*c", "efTM", ("--rsh", "--exclude", "--include", "--files-from", "--rsync-path")
    ),
    "scp": Row("s*c", "PioFlSJc"),
    "csplit": Row("r-*", "fbn", paths={"-f": "w"}),
    "7z": Row("-r*", "opw", paths={"-o": "w"}),
    "sqlite3": Row("w-*", "", ("--cmd",)),
    "rclone": Row("-SC"),
    "gsutil": Row("-SC"),
    "ssh-keygen": Row("", "fCtbNPmOz", paths={"-f": "w"}),
    "gpg": Row("r*", "orukb", ("--output", "--recipient"), {"-o": "w", "--output": "w"}),
    "objcopy": Row("rw", "IOBjR"),
    "strip": Row("w*", "oK", paths={"-o": "w"}),
    "ffmpeg": Row("r*w"),
    **dict.fromkeys(("convert", "magick", "wkhtmltopdf"), Row("r*w")),
    "mysqldump": Row("", "rhuP", ("--result-file",), {"-r": "w", "--result-file": "w", "-h": "h"}),
    **dict.fromkeys(
        ("pg_dump", "pg_dumpall"),
        Row("", "fhUpdnt", ("--file",), {"-f": "w", "--file": "w", "-h": "h"}),
    ),
    "mktemp": Row("w", "p", ("--tmpdir",), {"-p": "w", "--tmpdir": "w"}),
    "mount": Row("rw", "tor"),
    "visudo": Row("", "f", paths={"-f": "w"}),
    **dict.fromkeys(("black", "isort", "rustfmt", "dos2unix", "unix2dos"), Row("w*")),
    **dict.fromkeys(
        ("prettier", "gofmt", "clang-format", "autopep8", "yapf", "shfmt", "eslint"),
        Row("r*", "", ("--config", "--parser", "--style")),
    ),
    "yq": Row("-r*"),
    **dict.fromkeys(
        ("pandoc", "iconv"), Row("r*", "oft", ("--output",), {"-o": "w", "--output": "w"})
    ),
    "tcpdump": Row("", "wricBsS", paths={"-w": "w", "-r": "r"}),
    "script": Row("w", "cEOIBT", ("--command",)),
    "ld": Row("r*", "olLmT", paths={"-o": "w"}),
    "rustc": Row("r*", "oLlC", ("--out-dir", "--edition"), {"-o": "w", "--out-dir": "w"}),
    "javac": Row("r*", "d", paths={"-d": "w"}),
    "cmake": Row("-*", "BSGD", ("--install-prefix",), {"-B": "w", "--install-prefix": "w"}),
    "mv": Row("m*w", "tS", ("--target-directory",), {"-t": "w", "--target-directory": "w"}),
    "ln": Row("r*w", "tS"),
    "mkdir": Row("t*", "m", ("--mode",)),
    "mkfifo": Row("w*", "m"),
    "touch": Row("t*", "drt", ("--date", "--reference")),
    "rm": Row("d*", destroys=_rm),
    "rmdir": Row("d*"),
    "unlink": Row("d*"),
    "srm": Row("d*", destroys=always("srm"), depends=False),
    "shred": Row("d*", "ns", ("--iterations", "--size"), destroys=always("shred"), depends=False),
    "wipe": Row("d*", destroys=always("wipe"), depends=False),
    "truncate": Row("w*", "sr", ("--size", "--reference"), destroys=always("truncate")),
    "dd": Row("", destroys=_dd, depends=False),
    "chmod": Row("-t*", destroys=_recursive("chmod")),
    "chown": Row("-t*", destroys=_recursive("chown")),
    "chgrp": Row("-t*", destroys=_recursive("chgrp")),
    "chattr": Row("-t*"),
    "setfacl": Row("w*", "mxM", destroys=_recursive("setfacl")),
    "split": Row("rw", "lbnaC"),
    "patch": Row("w*", "pidoB", paths={"-i": "r", "-o": "w", "-d": "w"}),
    "zip": Row("wr*", "xiP"),
    "unzip": Row("r-*", "dxP", paths={"-d": "w"}),
    **dict.fromkeys(("gzip", "bzip2", "xz", "gunzip", "bunzip2", "unxz"), Row("w*")),
    "vim": Row("w*", "cSu"),
    **dict.fromkeys(("vi", "nano", "emacs", "ed", "ex", "pico"), Row("w*")),
    "wget": Row(
        "h*",
        "OPoaUTt",
        ("--output-document", "--directory-prefix", "--header", "--post-data", "--user-agent"),
        {"-O": "w", "--output-document": "w", "-P": "w", "--post-file": "r"},
    ),
    "curl": Row(
        "h*",
        "oXHdFTuAebcxmKEw",
        (
            *("--output", "--request", "--header", "--data", "--form", "--upload-file", "--user"),
            *("--user-agent", "--data-binary", "--data-raw", "--data-urlencode", "--max-time"),
            *("--connect-timeout", "--retry", "--url", "--proxy", "--cookie", "--cacert", "--json"),
            *("--write-out", "--output-dir", "--resolve", "--cookie-jar", "--config"),
        ),
        {
            **dict.fromkeys(("-o", "--output", "--cookie-jar", "--output-dir"), "w"),
            **dict.fromkeys(("-T", "--upload-file", "--config", "-K"), "r"),
            **dict.fromkeys(("--url", "-x", "--proxy"), "h"),
        },
    ),
    **dict.fromkeys(
        ("ping", "nc", "ncat", "telnet", "dig", "host", "nslookup"), Row("h*", "cwipt")
    ),
    **dict.fromkeys(("traceroute", "nmap", "whois", "ftp", "sftp"), Row("h*", "pP")),
    "mysql": Row("", "hueDP", paths={"-h": "h", "--host": "h"}),
    "psql": Row("", "hUcdpf", paths={"-h": "h", "--host": "h", "-f": "r"}),
    "redis-cli": Row(
        "", "hpn", paths={"-h": "h"}, destroys=_first("redis-cli", "FLUSHALL", "FLUSHDB")
    ),
    "dropdb": Row(destroys=always("dropdb"), depends=False),
    **dict.fromkeys(
        ("mkfs", "mkswap", "wipefs", "fdisk", "sfdisk", "parted"),
        Row("w*", destroys=always("format a disk"), depends=False),
    ),
    **dict.fromkeys(
        ("shutdown", "reboot", "halt", "poweroff", "init"),
        Row(destroys=always("stop the machine"), depends=False),
    ),
    **dict.fromkeys(
        ("userdel", "groupdel", "deluser"), Row(destroys=always("delete a user"), depends=False)
    ),
    "passwd": Row(destroys=always("passwd"), depends=False),
    "kill": Row(destroys=_kill, depends=False),
    "killall": Row(destroys=always("killall"), depends=False),
    "pkill": Row(destroys=always("pkill"), depends=False),
    "crontab": Row("r", "u", destroys=_crontab),
    "iptables": Row(destroys=_iptables),
    "ufw": Row(destroys=_first("ufw", "disable", "reset")),
    "systemctl": Row(destroys=_systemctl),
    "service": Row(destroys=lambda said: "service stop" if "stop" in said.rest else ""),
    "umount": Row("w*"),
    "history": Row(destroys=_flag("history -c", "-c")),
}
ASSIGNED: Mapping[str, Mapping[str, str]] = {
    "dd": {"of=": "w", "if=": "r"},
    "openssl": {"-out": "w", "-keyout": "w", "-in": "r"},
    "make": {"-C": "w", "DESTDIR=": "w"},
    "configure": {"--prefix=": "w"},
}
"""The signs in the arguments of a command, each with the role of the text behind it."""
IN_PLACE: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("prettier", "gofmt", "shfmt"), frozenset({"-w", "--write"})),
    **dict.fromkeys(("clang-format", "autopep8", "yapf", "yq"), frozenset({"-i", "--in-place"})),
    "eslint": frozenset({"--fix"}),
}
"""The options with which a command writes the files that it reads otherwise."""
REMOTE = re.compile(r"[a-z]+://|[^/]+:")
INSIDE = re.compile(r"[a-z0-9]+://|[^/]+:")
PATTERNS = (
    (re.compile(r"mkfs\..+"), Row("w*", destroys=always("format a disk"), depends=False)),
    (re.compile(r"(g?cc|g\+\+|clang(\+\+)?)"), Row("r*", "oIlLDx", paths={"-o": "w"})),
)

_GIT_PATHS = ("-C", "-c", "--git-dir", "--work-tree", "--namespace")
_NAMES = ("--name", "--namespace", "-n", "--context", "--kubeconfig", "-f", "--profile", "--region")
_NONE: dict[str, Row] = {}
_PIP: dict[str, Row] = {
    "install": Row(
        "p*",
        "reitc",
        ("--target", "--index-url", "--prefix"),
        dict.fromkeys(("-t", "--target", "--prefix"), "w")
        | {"-r": "r", "--index-url": "h", "-i": "h"},
    ),
    "uninstall": Row("-*", destroys=always("pip uninstall"), depends=False),
    "download": Row("p*", "d", paths={"-d": "w"}),
}
_NPM: dict[str, Row] = {
    **dict.fromkeys(
        ("install", "i", "add", "ci"),
        Row("p*", "", ("--prefix", "--registry"), {"--prefix": "w"}),
    ),
    "pack": Row("", "", ("--pack-destination",), {"--pack-destination": "w"}),
    **dict.fromkeys(("uninstall", "remove", "rm"), Row("-*")),
    "publish": Row(destroys=always("npm publish"), depends=False),
    "unpublish": Row(destroys=always("npm unpublish"), depends=False),
}
_APT: dict[str, Row] = {
    **dict.fromkeys(("install", "add"), Row("p*", "ot")),
    **dict.fromkeys(
        ("remove", "purge", "autoremove", "erase", "del", "uninstall"),
        Row("-*", destroys=always("remove packages"), depends=False),
    ),
}
_TERRAFORM: dict[str, Row] = {
    "destroy": Row(destroys=always("terraform destroy"), depends=False),
    "apply": Row(destroys=_flag("terraform apply -auto-approve", "-auto-approve", "-a")),
    "state": Row(destroys=_first("terraform state", "rm", "push")),
}
SUBCOMMANDS: Mapping[str, dict[str, Row]] = {
    "git": {
        "push": Row("h", "o", destroys=_git_push),
        "reset": Row(destroys=_git_reset),
        "clean": Row("d*", "e", destroys=_git_clean),
        "checkout": Row("", "bB", destroys=_git_checkout),
        "restore": Row("w*", "s", destroys=_flag("", "-")),
        "branch": Row(destroys=_git_branch),
        "init": Row("w", "b"),
        "rm": Row(
            "d*", destroys=lambda s: "git rm -r" if s.has("-r") and not s.has("--cached") else ""
        ),
        "mv": Row("m*w"),
        "clone": Row("hw", "bou", ("--depth", "--branch", "--origin")),
        "fetch": Row("h"),
        "stash": Row(destroys=_first("git stash", "drop", "clear")),
        "reflog": Row(destroys=_first("git reflog", "expire", "delete")),
        "filter-branch": Row(destroys=always("git filter-branch"), depends=False),
        "filter-repo": Row(destroys=always("git filter-repo"), depends=False),
        "gc": Row(destroys=_flag("git gc --prune", "--prune")),
        "update-ref": Row(destroys=_flag("git update-ref -d", "-d")),
        "tag": Row(destroys=_flag("git tag -d", "-d", "--delete")),
        "worktree": Row("-w", "bB", destroys=_first("git worktree", "remove", "prune")),
    },
    **dict.fromkeys(("pip", "pip3", "pipx"), _PIP),
    "uv": {"add": Row("p*"), "pip": Row("-p*"), "tool": Row("-p*")},
    "poetry": {"add": Row("p*"), "remove": Row("-*")},
    "pipenv": {"install": Row("p*")},
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), _NPM),
    **dict.fromkeys(("npx", "bunx", "uvx"), _NONE),
    **dict.fromkeys(("apt", "apt-get", "yum", "dnf", "apk", "brew", "zypper", "snap"), _APT),
    "gem": {"install": Row("p*")},
    "cargo": {
        "install": Row("p*", "", ("--root", "--path"), {"--root": "w"}),
        "add": Row("p*"),
        "publish": Row(destroys=always("cargo publish")),
    },
    "go": {"install": Row("p*"), "get": Row("p*"), "build": Row("-*", "o", paths={"-o": "w"})},
    "ruff": {"format": Row("w*")},
    "docker": {
        "cp": Row("SC"),
        **dict.fromkeys(("rm", "rmi"), Row(destroys=always("docker rm"), depends=False)),
        "system": Row(destroys=_first("docker system", "prune")),
        "volume": Row(destroys=_first("docker volume", "rm", "prune")),
        "image": Row(destroys=_first("docker image", "rm", "prune")),
        "container": Row(destroys=_first("docker container", "rm", "prune")),
        "push": Row(destroys=always("docker push"), depends=False),
    },
    "kubectl": {
        "cp": Row("SC", "c", _NAMES),
        **dict.fromkeys(
            ("delete", "drain", "replace"),
            Row(long=_NAMES, destroys=always("kubectl delete"), depends=False),
        ),
        "scale": Row(
            destroys=lambda s: "kubectl scale 0" if s.values.get("--replicas") == "0" else ""
        ),
    },
    "helm": dict.fromkeys(
        ("uninstall", "delete", "rollback"), Row(destroys=always("helm uninstall"), depends=False)
    ),
    **dict.fromkeys(("terraform", "tofu"), _TERRAFORM),
    "aws": {
        "s3": Row(
            "-SC",
            destroys=lambda s: (
                f"aws s3 {s.rest[0]}"
                if (s.rest[:1] and s.rest[0] in ("rm", "rb")) or s.has("--delete")
                else ""
            ),
        ),
        "ec2": Row(
            destroys=lambda s: (
                s.rest[0] if s.rest and s.rest[0].startswith(("terminate-", "delete-")) else ""
            )
        ),
        "rds": Row(
            destroys=lambda s: s.rest[0] if s.rest and s.rest[0].startswith("delete-") else ""
        ),
        "iam": Row(
            destroys=lambda s: s.rest[0] if s.rest and s.rest[0].startswith("delete-") else ""
        ),
    },
    "gh": {
        "repo": Row(destroys=_first("gh repo", "delete", "archive")),
        "release": Row(destroys=_first("gh release", "delete")),
    },
}


_GIT_PROGRAMS = ("pager", "editor", "sshCommand", "askpass", "fsmonitor", "askPass")
"""The ends of settings whose values are run."""


def _subcommand(state: Shell, name: str, args: Words) -> Row | None:
    """Return the row of `git push` and its like; options before the subcommand are passed over."""
    rest = list(args)
    while rest and rest[0][:1] == "-" and len(rest[0]) > 1:
        option = rest.pop(0)
        if name == "git" and option == "-c" and rest:
            key, _, value = rest[0].partition("=")
            if value[:1] == "!" or key.endswith(_GIT_PROGRAMS):
                state.program(value.removeprefix("!"))
        if name == "git" and option in ("-C", "--git-dir", "--work-tree") and rest:
            state.reads(rest[0])
        if option in _GIT_PATHS or option in _NAMES:
            rest = rest[1:]
    if name == "git" and rest[:1] == ["config"]:
        for key, value in itertools.pairwise(rest[1:]):
            if value[:1] == "!" or key.endswith(_GIT_PROGRAMS):
                state.program(value.removeprefix("!"))
    if name in ("npx", "bunx", "uvx"):
        state.found.packages += rest[:1]
        return None
    if rest and SIGNS.search(rest[0]):
        state.found.destroys.append(QUOTED)
        return None
    return SUBCOMMANDS[name].get(rest[0]) if rest else None
