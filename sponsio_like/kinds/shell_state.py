"""The state of a shell while its text is followed, and the facts that are found.

In: assignments, commands, paths. Out: values of variables, and the facts of the kind `shell`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from sponsio_like.kinds.shell_hidden import joined_text
from sponsio_like.kinds.shell_words import LOOSE, QUOTED, is_known, shown
from sponsio_like.values import UNREADABLE, Facts

LONGEST = 8_192
"""Most characters of a text that is followed: parsing what is no shell takes its square."""
NODES_CAP = 8_000
"""Most nodes of trees that are visited for one text; recorded commands have up to 4,000."""
DEPTH_CAP = 12
"""Most texts within texts: `sh -c "sh -c ..."`."""
FACTS = {
    "runs[]": "the commands that run, by the last step of their paths",
    "calls[]": "each command with its words, one blank between them",
    "reads[]": "paths that are read, as far as the table of commands tells",
    "writes[]": "paths that are written, made or changed, by redirections too",
    "deletes[]": "paths that are deleted, moved away, or left with nothing in them",
    "hosts[]": "hosts that are reached",
    "packages[]": "packages that are installed",
    "destroys[]": "what cannot be undone: `rm -r`, `git push --force`, `dd`, `chmod -R` ..",
    "sets[]": "variables that are exported, or set for a command",
    "pipes_to_shell": "true if an interpreter runs what is fetched, decoded or not known",
    "elevates": "true if it runs as another user: sudo, su, doas",
    "background": "true if something goes on when the command has ended",
}
NAMES = {name.removesuffix("[]"): name.endswith("[]") for name in FACTS}
"""The facts by name, and whether they may have several values."""
PROGRAMS = re.compile(
    r"(?:\w+_)?(?:EDITOR|PAGER|RSH|ASKPASS|VISUAL|BROWSER)|GIT_SSH(?:_COMMAND)?|GIT_EXTERNAL_DIFF|"
    r"GIT_PROXY_COMMAND|LESSOPEN|LESSCLOSE|PROMPT_COMMAND|FCEDIT"
)
"""Variables whose values are run."""
POINTERS = re.compile(
    r"(?i:(?:https?|all|ftp)_proxy)|(?:PIP|UV)_(?:EXTRA_)?INDEX_URL|(?i:npm_config_registry)|GOPROXY|"
    r"DOCKER_HOST|PGHOST|MYSQL_HOST|AWS_ENDPOINT_URL"
)
"""Variables that send programs to a host."""
HEEDED = re.compile(f"{PROGRAMS.pattern}|{POINTERS.pattern}|IFS")
"""Variables whose values matter by themselves."""
PLACED = re.compile(r"(?:~?/)?(?:[\w-][\w.-]*+/)*+[\w-][\w.-]*+", re.ASCII)
"""A path without `.`, `..`, slashes that stand for nothing, and signs."""
ANY_FOLDER = re.compile("/[^/]*[\ue002-\ue004][^/]*/")
"""A path whose first folder may be any."""
ANY_HIDDEN = re.compile("(?:^|/)\\.[^/]*[\ue002-\ue004]")
"""A path with a step that may be any of the hidden files: `.e*`, which `.env` is one of."""
DISK = re.compile(r"/dev/(?:[svh]d|xvd|nvme|mmcblk|disk|mapper/|md|r?disk)\w*")
IGNORED = re.compile(r"/dev/(?:null|stdout|stderr|stdin|tty|zero|u?random|fd/.*)")
NETWORK = re.compile(r"/dev/(?:tcp|udp)/([^/]*)/.*")


NOTHING = "/dev/null"
"""The file that is empty, and stays so."""


class TooMuch(Exception):
    """Raised where following a text takes more steps than the caps allow."""


class Stdin(NamedTuple):
    """The input of a command. `given`: it is not that of the whole text; `text`: None: unknown."""

    given: bool = False
    text: str | None = None


@dataclass
class Found:
    """The facts that are found. A value with a sign of `shell_words` in it is unknown."""

    runs: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    deletes: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    packages: list[str] = field(default_factory=list)
    destroys: list[str] = field(default_factory=list)
    sets: list[str] = field(default_factory=list)
    pipes_to_shell: bool = False
    elevates: bool = False
    background: bool = False

    def nothing_is_clear(self) -> None:
        """Note that there may be more than what is found: the text is not understood."""
        for each in ("runs", "calls", "reads", "writes", "deletes", "hosts", "destroys"):
            getattr(self, each).append(QUOTED)

    def opaque(self) -> None:
        """Note that code runs which is not known."""
        self.nothing_is_clear()
        self.pipes_to_shell = True

    def facts(self) -> Facts:
        """Return the facts, each value once."""
        found = vars(self)
        return {
            name: _told(found[name]) if many else (found[name],) for name, many in NAMES.items()
        }


def _told(values: list[str]) -> tuple[Any, ...]:
    """Return the values as they are shown, each once; what is unknown stands at the end."""
    if not values:
        return ()
    if is_known("".join(values)):
        return tuple(dict.fromkeys(values))
    said = dict.fromkeys(map(shown, values))
    told = tuple(each for each in said if is_known(each))
    return told if len(told) == len(said) else (*told, UNREADABLE)


def _is_lost(path: str) -> bool:
    """True if nobody can tell where a path leads."""
    if path.isascii():
        return False
    if LOOSE in path or QUOTED in path or ANY_FOLDER.match(path) is not None:
        return True
    return ANY_HIDDEN.search(path) is not None


Words: TypeAlias = Sequence[str]
Handler: TypeAlias = "Callable[[Shell, Words, Stdin], str | None]"
"""A function that follows a command by its arguments and its input; it returns what that writes."""
Follow: TypeAlias = "Callable[[Shell, Any, Stdin], str | None]"
"""A function that follows a text, or a node, in a shell, and returns what it writes."""


Perform: TypeAlias = "Callable[[Shell, list[str], Stdin], str | None]"
"""A function that notes what a command does, and returns what it writes."""


class Shell:
    """The state of a shell while a text is followed. `cwd`: None if it is unknown."""

    REPEATS = 50
    """Most rounds of a loop over known words."""

    def __init__(self, found: Found, follow: Follow, perform: Perform) -> None:
        self.found, self._follow, self._perform = found, follow, perform
        self.variables: dict[str, str | None] = {"IFS": " \t\n", "HOME": "~"}
        self.arrays: dict[str, list[str] | None] = {}
        self.functions: dict[str, tuple[bytes, Any]] = {}
        """The functions: the text in which each stands, and the node of its body."""
        self.lines: dict[str, Any] = {}
        """The statements that were looked at, each as a line of `shell_plain`, or None."""
        self.raw = b""
        """The text whose nodes are followed."""
        self.aliases: dict[str, str] = {}
        self.files: dict[str, str | None] = {}
        self.links: dict[str, str] = {}
        self.stdin = Stdin()
        """The input of commands that have none of their own."""
        self.positional: list[str] | None = None
        self.zero: str | None = None
        self.cwd: str | None = ""
        self.depth = self.steps = 0
        self.followed: dict[int, tuple[Any, bytes]] = {}
        """The nodes of substitutions that were followed, each with its text, by number."""
        self.called: set[str] = set()
        """The functions that were called."""
        self.renamed: set[str] = set()
        """The names that programs were copied to."""
        self.changing: set[str] = set()
        """The variables that have other values than those that they are given."""

    def step(self, steps: int = 1) -> None:
        """Count one step, or so many. Raises `TooMuch`."""
        self.steps += steps
        if self.steps > NODES_CAP:
            raise TooMuch

    # --- as words are expanded

    def source(self, node: Any) -> bytes:
        return self.raw[node.start_byte : node.end_byte]

    def value(self, name: str) -> str | None:
        if name == "PWD":
            return self.cwd or None
        if name.isdigit():
            i = int(name)
            if i == 0:
                return self.zero
            if self.positional is None or i > len(self.positional):
                return None if self.positional is None else ""
            said = self.positional[i - 1]
            return said if is_known(said) else None
        return self.variables.get(name)

    def values(self, name: str) -> list[str] | None:
        return self.positional if name in "@*" else self.arrays.get(name)

    def assign(self, name: str, value: str | None) -> None:
        if name in self.changing or (value is not None and len(value) > LONGEST):
            value = None
        self.variables[name] = value
        self.arrays.pop(name, None)
        if value and ("$(" in value or "`" in value or "${" in value):
            self.found.nothing_is_clear()  # `$((x))`, `${x@P}` and `PS4` run what is in it
        if HEEDED.fullmatch(name) is None:
            return
        if PROGRAMS.fullmatch(name):
            self.program(value if value is not None else QUOTED)
        self.pointed(name, value)
        if name == "IFS" and value not in (" \t\n", None):
            self.found.nothing_is_clear()

    def pointed(self, name: str, value: str | None) -> None:
        """Note the host that a variable sends programs to."""
        if POINTERS.fullmatch(name) and value != "":
            said = re.sub(r"^\w+://|^.*@|[/,].*$", "", value or "")
            self.found.hosts.append(QUOTED if value is None else re.sub(r":\d+$", "", said))

    def unclear(self) -> None:
        self.found.nothing_is_clear()

    def output(self, node: Any) -> str | None:
        self.depth += 1
        if self.depth > DEPTH_CAP * 4:
            raise TooMuch
        self.followed[node.id] = node, self.raw
        before, cwd = dict(self.variables), self.cwd
        written = self.source(node)
        if written[:1] == b"`" and b"\\`" in written:  # one inside of another
            inner = written[1:-1].decode(errors="replace").replace("\\`", "`")
            said = self.program(inner)
            self.variables, self.cwd, self.depth = before, cwd, self.depth - 1
            return None if said is None else said.rstrip("\n")
        fed = node.type == "process_substitution" and written[:1] == b">"
        said = self._follow(self, node, Stdin(given=fed))
        self.variables, self.cwd = before, cwd
        self.depth -= 1
        return None if said is None else said.rstrip("\n")

    def in_quotes(self, body: str) -> str | None:
        """Return a here-document with its variables and substitutions in place."""
        shown = joined_text(body).replace('"', '\\"')
        said = self._follow(self, f'printf %s "{shown}"', Stdin())
        if self.found.runs[-1:] == ["printf"]:
            del self.found.runs[-1:], self.found.calls[-1:]
        return said

    # --- as commands do

    def call(self, name: str, stdin: Stdin) -> str | None:
        """Follow the body of a function; return its output."""
        self.depth += 1
        if self.depth > DEPTH_CAP:
            raise TooMuch
        before = self.raw
        self.raw, body = self.functions[name]
        said = self._follow(self, body, stdin)
        self.raw = before
        self.depth -= 1
        return said

    def program(self, text: str, stdin: Stdin = Stdin()) -> str | None:  # noqa: B008  immutable
        """Follow a text as a program; return its output, None if that is unknown."""
        if not is_known(text):
            self.found.opaque()
            return None
        self.depth += 1
        if self.depth > DEPTH_CAP:
            raise TooMuch
        said = self._follow(self, text, stdin)
        self.depth -= 1
        return said

    def perform(self, words: list[str]) -> None:
        """Note what a command does that another program runs."""
        self._perform(self, words, Stdin())

    def join(self, before: dict[str, str | None]) -> None:
        """Take each variable as unknown that is set in another way than before."""
        for name, value in self.variables.items():
            if name not in before or before[name] != value:
                self.variables[name] = None

    def place(self, path: str) -> str:
        """Return a path from where the text began; unknown after an unknown `cd`."""
        if not path or path[0] in "/~" or self.cwd == "":
            if not path or PLACED.fullmatch(path) or not is_known(path):
                return path
            if path[:6] == "/proc/" and ".." in path:  # behind a link, `..` leads elsewhere
                return QUOTED
            plain = posixpath.normpath(path)
            return plain if path[0] != "~" or plain[0] == "~" else QUOTED  # `~/../x`
        if self.cwd is None:
            return QUOTED
        whole = f"{self.cwd}/{path}"
        return whole if PLACED.fullmatch(whole) else posixpath.normpath(whole)

    def reads(self, path: str) -> None:
        """Note a path that is read."""
        self._path(path, self.found.reads)

    def writes(self, path: str, text: str | None = None) -> None:
        """Note a path that is written; `text` is what it has then, if that is known."""
        place = self._path(path, self.found.writes)
        if path[:5] == "/dev/" and DISK.fullmatch(path):
            self.found.destroys.append(f"write {path}")
        if is_known(path):
            self.files[place or self.place(path)] = text

    def deletes(self, path: str) -> None:
        """Note a path that is deleted, or whose content is."""
        self._path(path, self.found.deletes)

    def link(self, name: str, to: str) -> None:
        """Note that a name stands for another path from now on."""
        if is_known(name) and is_known(to):
            place = self.place(name)
            self.links[place] = posixpath.normpath(posixpath.join(posixpath.dirname(place), to))

    def _behind(self, path: str) -> list[str]:
        """Return where a path leads by the links that the text itself has made."""
        places = [self.place(path)]
        for place in places:
            for link, to in self.links.items():
                if f"{place}/".startswith(f"{link}/"):
                    behind = posixpath.normpath(to + place[len(link) :])
                    places += [behind] if behind not in places and len(places) < DEPTH_CAP else []
        return places[1:]

    def _path(self, path: str, into: list[str]) -> str | None:
        """Note a path; return its place, None if it stands for no file, or for one that is lost."""
        if self.links and is_known(path):
            into += self._behind(path)
        if path[:5] == "/dev/":
            if found := NETWORK.fullmatch(path):
                self.found.hosts.append(found[1])
                return None
            if IGNORED.fullmatch(path):
                return None
        if (self.cwd == "" or path[:1] in "/~") and PLACED.fullmatch(path):
            into.append(path)
            return path
        place = None if _is_lost(path) else self.place(path)
        into.append(QUOTED if place is None else place)
        return place
