"""Notes what the table of commands says of a call: paths, hosts, packages, and what destroys.

In: the name of a command and its arguments. Out: facts are noted. `shell_rows` and
`shell_subcommands` have the table. Of a command that is not there, no paths are known.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from sponsio_like.kinds.shell_options import Options, Row, always, sorted_options
from sponsio_like.kinds.shell_rows import ROWS
from sponsio_like.kinds.shell_state import NOTHING, Shell, Words
from sponsio_like.kinds.shell_subcommands import GLOBAL, SERVERS, SUBCOMMANDS
from sponsio_like.kinds.shell_words import QUOTED, SIGNS

ASSIGNED: Mapping[str, Mapping[str, str]] = {
    "dd": {"of=": "w", "if=": "r"},
    "openssl": {
        "-out": "w",
        "-keyout": "w",
        "-in": "r",
        "-connect": "h",
        "-url": "h",
        "-proxy": "h",
    },
    "make": {"-C": "w", "DESTDIR=": "w", "prefix=": "w", "PREFIX=": "w"},
    "socat": dict.fromkeys(
        tuple(f"{a}{b}:" for a in ("TCP", "UDP", "OPENSSL", "SSL", "SCTP") for b in ("", "4", "6")),
        "h",
    ),
    "terraform": {"-chdir=": "w"},
    "configure": {"--prefix=": "w"},
}
"""The signs in the arguments of a command, each with the role of the text behind it."""
IN_PLACE: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("prettier", "gofmt", "shfmt"), frozenset({"-w", "--write"})),
    **dict.fromkeys(("clang-format", "autopep8", "yapf", "yq"), frozenset({"-i", "--in-place"})),
    "eslint": frozenset({"--fix"}),
}
"""The options with which a command writes the files that it reads otherwise."""
RENAMING = frozenset({"cp", "mv", "ln", "install", "link"})
PACKERS = frozenset({"gzip", "bzip2", "xz", "zstd", "gunzip", "bunzip2", "unxz"})
PACKERS_ASK = frozenset({"-c", "--stdout", "--to-stdout", "-l", "-t", "--list", "--test"})
"""The options with which these write no file."""
SEARCHES = frozenset({"grep", "egrep", "fgrep", "zgrep", "rgrep", "rg", "ag", "ack"})
"""Commands whose first argument is a pattern, unless an option gives one."""
REMOTE = re.compile(r"[a-z]+://|[^/]+:")
LINKED = re.compile(r"[a-z][a-z0-9+.-]*://|[\w.-]+@[\w.-]+:|[\w-]+(?:\.[\w-]+)+:", re.IGNORECASE)
"""A URL, or a host and a path as git and ssh write them."""
INSIDE = re.compile(r"[a-z0-9]+://|[^/]+:")
PATTERNS = (
    (re.compile(r"mkfs\..+"), Row("w*", destroys=always("format a disk"), depends=False)),
    (re.compile(r"(g?cc|g\+\+|clang(\+\+)?)"), Row("r*", "oIlLDx", paths={"-o": "w"})),
)


class Known(NamedTuple):
    """The table's knowledge of a command. `named`: it names files in ways of its own; `changes`:
    options change what its arguments are.
    """

    row: Row | None
    assigned: Mapping[str, str]
    has_subcommands: bool
    named: bool
    changes: bool


@functools.lru_cache(maxsize=1_000)
def _known(name: str) -> Known:
    row = ROWS.get(name) or next((row for fits, row in PATTERNS if fits.fullmatch(name)), None)
    changes = name in IN_PLACE or name in PACKERS or name in SEARCHES
    changes = changes or (row is not None and row.roles.endswith("*w"))
    named = name in RENAMING or name in ("curl", "wget", "truncate")
    return Known(row, ASSIGNED.get(name, {}), name in SUBCOMMANDS, named, changes)


def note(state: Shell, name: str, args: Words) -> None:
    """Note what the table says of a call."""
    if len(args) == 1 and args[0] in ("--help", "--version"):
        return
    row, assigned, has_subcommands, named, changes = _known(name)
    before = len(state.found.destroys)
    for sign, role in assigned.items():
        for word in _assigned(args, sign):
            _noted(state, role, word)
    if has_subcommands:
        if name == "git" and "-C" in args[:-1]:
            _elsewhere(state, args)
            return
        row, args = _subcommand(state, name, args)
        changes = True
    if row is None:
        for each in args:
            if "://" in each:
                _named(state, each)
        return
    flags, values, words = said = sorted_options(args, row.short, row.long)
    roles = _roles(row.roles, len(words))
    if flags and (changes or "--reference" in flags):
        roles = _changed(name, row, flags, roles, len(words))
    for role, word in zip(roles, words, strict=False):
        if role != "-":
            _noted(state, role, word)
    for option, value in values.items():
        if option in row.paths:
            _noted(state, row.paths[option], value)
    if row.roles == "hw" and len(words) == 1:  # `git clone` into a folder with the same name
        state.writes(re.sub(r"^.*[/:]|\.git$", "", words[0].rstrip("/")) or QUOTED)
    if named:
        _own_names(state, name, said)
    if row.destroys is not None:
        found = row.destroys(said)
        if found:
            state.found.destroys[before:] = [found]  # one name for it, not `write /dev/sda` too
        elif said.loose and row.depends:
            state.found.destroys.append(QUOTED)


def _own_names(state: Shell, name: str, said: Options) -> None:
    """Note files that are fetched, renamed and emptied."""
    if name in ("curl", "wget"):
        _fetched(state, name, said)
        return
    if name in RENAMING:
        _renamed(state, said.rest)
    _emptied(state, name, said)


def _changed(name: str, row: Row, flags: AbstractSet[str], roles: str, count: int) -> str:
    """Return the letters of arguments, as options change them: `sed -i`, `cp -t`, `grep -e`."""
    if name in IN_PLACE and not flags.isdisjoint(IN_PLACE[name]):
        roles = roles.replace("r", "w")
    if row.roles.endswith("*w") and not flags.isdisjoint(("-t", "--target-directory")):
        roles = row.roles[0] * count
    if "--no-index" in flags:
        roles = "r" * count  # `git diff --no-index a b`
    if "--reference" in flags:
        roles = "t" * count
    if name in PACKERS and not flags.isdisjoint(PACKERS_ASK):
        roles = "r" * count
    if name in SEARCHES and not flags.isdisjoint(("-e", "-f", "--regexp", "--file")):
        roles = "r" * count
    return roles


def _renamed(state: Shell, words: Words) -> None:
    """Note that the last word is the name of what the first one is: `cp /bin/rm tidy`."""
    if len(words) == 2:
        other = words[1].rpartition("/")[2]
        if words[0].rpartition("/")[2] != other:
            state.renamed.add(other)


def _emptied(state: Shell, name: str, said: Options) -> None:
    """Note the files of which nothing is left (`cp /dev/null a`), and what links stand for."""
    gone: Words = ()
    if name == "ln" and said.rest:
        _linked(state, said.rest, said)
    if name == "truncate":
        size = said.values.get("-s", said.values.get("--size", ""))
        gone = said.rest if size in ("0", "<0", "/0", "%0") else ()
    elif name in ("cp", "install", "ln") and said.rest[:-1] == [NOTHING]:
        gone = said.rest[-1:]
    for each in gone:
        state.deletes(each)


def _linked(state: Shell, words: Words, said: Options) -> None:
    """Note what a link stands for; its name may be that of a folder, in which it is then made."""
    folder = said.values.get("-t", said.values.get("--target-directory", ""))
    targets = words if folder or len(words) == 1 else words[:-1]
    name = folder or (words[-1] if len(words) > 1 else ".")
    for each in targets:
        if name not in (folder, "."):
            state.link(name, each)
        state.link(f"{name}/{each.rstrip('/').rpartition('/')[2]}", each)


def _fetched(state: Shell, name: str, said: Options) -> None:
    """Note the files that curl sends (`-d @file`), and those that are named by their URLs."""
    folder = said.values.get("--output-dir", said.values.get("-P", ""))
    folder = said.values.get("--directory-prefix", folder)
    named = said.has("-O", "--remote-name", "--remote-name-all")
    if name == "wget":
        named = not said.has("-O", "--output-document", "-i", "--spider")
    for each in said.rest if named else ():
        found = re.search(r"^(?:\w+://)?[^/?#]+/(?:[^?#]*/)?([^/?#]+)", each)
        last = found[1] if found else "index.html"
        place = f"{folder.rstrip('/')}/{last}" if folder else last
        state.writes(QUOTED if SIGNS.search(each) else place)
    for each in said.values.values() if name == "curl" else ():
        if found := re.match(r"(?:[\w.]+=?)?[@<](?!-)([^;]+)", each):
            state.reads(found[1])


def _named(state: Shell, word: str) -> None:
    """Note a URL that a command is given of which the table says nothing."""
    if found := re.match(r"(?:-{1,2}[\w-]+=)?(?=[a-z][a-z0-9+.-]*://)", word):
        _noted(state, "h", word[found.end() :])


@functools.lru_cache(maxsize=1_000)
def _roles(roles: str, count: int) -> str:
    """Return a letter for each argument; those without `*` may be more or fewer."""
    first, star, last = roles.partition("*")
    if not star:
        return roles
    repeated, fixed = first[-1:], first[:-1]
    middle = max(count - len(fixed) - len(last), 0)
    return (fixed + repeated * middle + last)[-count:] if count else ""


def _noted(state: Shell, role: str, word: str) -> None:
    if "://" in word and role in "rwtdhu" and (found := re.match(r"(\w[\w+.-]*)://", word)):
        if found[1].lower() == "file":
            state.reads(re.sub(r"^\w+://[^/]*", "", word))
        else:
            state.found.hosts.append(host_in(word))
        return
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
        case "e":
            state.reads(word)
            state.writes(word)
        case "s" | "c" if REMOTE.match(word):
            state.found.hosts.append(host_in(word))
        case "S" | "C" if INSIDE.match(word):
            pass
        case "s" | "S":
            state.reads(word)
        case "c" | "C":
            state.writes(word)
        case "p":
            state.found.packages.append(QUOTED if SIGNS.search(word) else word)
            _source(state, word)
        case "g":
            state.found.packages.append(QUOTED if SIGNS.search(word) else word)
            _noted(state, "i", word)
        case _:
            _reached(state, role, word)


def _reached(state: Shell, role: str, word: str) -> None:
    """Note the host that a word names, in one of its forms."""
    hosts = state.found.hosts
    match role:
        case "h":
            hosts.append(host_in(word))
        case "u" if LINKED.match(word):
            hosts.append(host_in(word))
        case "i" if re.match(r"[^/]*[.:][^/]*/", word):
            hosts.append(host_in(word))
        case "a" if "@" in word:
            hosts.append(word.rpartition("@")[2].lower() if not SIGNS.search(word) else QUOTED)
        case "q" if "=" not in word and not word.isupper():
            hosts.append(host_in(word))
        case "H":
            parts = word.split(":")
            hosts.append(parts[2] if len(parts) > 2 and not SIGNS.search(word) else QUOTED)
        case "o" if "://" in word:
            hosts.append(host_in(word))
        case "b" if "=" not in word:
            state.reads(word)
        case "o":
            state.reads(word)
        case "k":
            state.reads(word)
            hosts.append(QUOTED)


def _source(state: Shell, word: str) -> None:
    """Note the host that a package is fetched from, if its name says one."""
    if "://" in word and (found := re.search(r"[a-z+]+://\S+", word)):
        state.found.hosts.append(host_in(found[0]))


def _assigned(args: Words, sign: str) -> Iterator[str]:
    """Yield what stands behind `of=`, or in the argument behind `-out`."""
    for i, each in enumerate(args):
        if sign[-1:] in ("=", ":") and each.startswith(sign):
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


_GIT_PROGRAMS = re.compile(
    r".*(?:pager|editor|sshCommand|askpass|fsmonitor|hooksPath|gitProxy|external|textconv|cmd|"
    r"driver|helper|program|clean|smudge|process|uploadpack|receivepack)",
    re.IGNORECASE,
)
"""Settings whose values are run."""


_GIT_CHANGES = frozenset(
    {
        *("pull", "checkout", "switch", "merge", "reset", "rebase", "am", "apply"),
        *("cherry-pick", "revert", "add", "commit"),
    }
)
"""Subcommands that change files of the folder in which they run."""


def _subcommand(state: Shell, name: str, args: Words) -> tuple[Row | None, Words]:
    """Return the row of `git push` and its like, and the arguments without the subcommand."""
    at, valued = 0, _valued(name)
    while at < len(args) and args[at][:1] == "-" and len(args[at]) > 1:
        at += 2 if args[at] in valued else 1
    before, rest = args[:at], args[at + 1 :]
    if name == "git" and (at or args[:1] == ["config"]):
        _git_options(state, before, args[at:])
    if name in ("npx", "bunx", "uvx"):
        state.found.packages += args[at : at + 1]
        return None, args
    if at >= len(args):
        return None, args
    if SIGNS.search(args[at]):
        state.found.destroys.append(QUOTED)
        return None, args
    if name == "git" and state.cwd != "" and args[at] in _GIT_CHANGES:
        state.writes(".")
    rows = SUBCOMMANDS[name]
    row = rows.get(args[at]) or rows.get("*")
    if name == "git":
        if args[at] == "clone":
            _git_options(state, rest, ())
        return row, rest
    if args[at] not in rows:
        rest = args[at:]
    short = "".join(each[1] for each in valued if len(each) == 2)
    if before and row is not None:
        row = row._replace(short=row.short + short, long=(*row.long, *valued))
        rest = [*before, *rest]
    return row, rest


@functools.lru_cache(maxsize=1_000)
def _valued(name: str) -> tuple[str, ...]:
    """Return the options before a subcommand that take a value."""
    return (*GLOBAL.get(name, ()), *SERVERS.get(name, {}))


GIT_ASKS = frozenset(
    {
        *("status", "log", "diff", "show", "rev-parse", "rev-list", "ls-files", "ls-tree", "blame"),
        *("ls-remote", "grep", "describe", "cat-file", "shortlog", "for-each-ref", "merge-base"),
        *("name-rev", "reflog", "check-ignore", "count-objects", "fsck", "help", "version", "var"),
        *("branch", "remote", "tag", "config", "stash", "worktree", "notes", "archive", "bundle"),
        *("push", "format-patch", "range-diff", "whatchanged", "symbolic-ref", "show-ref", "clone"),
    }
)
"""Subcommands of git that only read the folder, or may."""


def _elsewhere(state: Shell, args: Words) -> None:
    """Note what `git -C folder ..` does: its paths start from the folder."""
    at = list(args).index("-C")
    folder, before = args[at + 1], state.cwd
    state.reads(folder)
    if GIT_ASKS.isdisjoint(args):
        state.writes(folder)
    state.cwd = None if SIGNS.search(folder) else state.place(folder)
    note(state, "git", [*args[:at], *args[at + 2 :]])
    state.cwd = before


def _git_options(state: Shell, before: Words, rest: Words) -> None:
    """Note the folder of `git -C`, and settings whose values are run."""
    for option, value in itertools.pairwise(before):
        if option in ("-c", "--config"):
            key, _, said = value.partition("=")
            _git_setting(state, key, said)
        elif option in ("--git-dir", "--work-tree"):
            state.reads(value)
    for each in before:
        option, _, value = each.partition("=")
        if option in ("--git-dir", "--work-tree"):
            state.reads(value)
        elif option == "--config":
            _git_setting(state, *value.partition("=")[::2])
    if rest[:1] == ["config"]:
        for key, value in itertools.pairwise(rest[1:]):
            _git_setting(state, key, value)
        _git_file(state, rest[1:])


def _git_file(state: Shell, args: Words) -> None:
    """Note the file of settings that `git config` reads or writes."""
    said = sorted_options(args, "f", ("--file",))
    path = said.values.get("-f", said.values.get("--file", ""))
    path = path or ("~/.gitconfig" if "--global" in said.flags else "")
    path = path or ("/etc/gitconfig" if "--system" in said.flags else "")
    asks = said.has("--get", "--get-all", "--list", "-l") or (
        len(said.rest) < 2 and not said.has("--unset", "--unset-all", "--edit", "-e")
    )
    if path:
        state.reads(path) if asks else state.writes(path)


def _git_setting(state: Shell, key: str, value: str) -> None:
    if value[:1] == "!" or ("." in key and _GIT_PROGRAMS.fullmatch(key)):
        state.program(value.removeprefix("!"))
    if key.lower().endswith(("proxy", ".url", ".pushurl")):
        _noted(state, "h", value)
    if found := re.fullmatch(r"(?i)url\.(.*)\.(?:push)?insteadof", key):
        _noted(state, "u", found[1])
