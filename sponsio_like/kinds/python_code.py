"""Reads a short program in Python: what it runs, reads, writes and deletes.

In: the text of `python -c`, or of a here-document. Out: facts, by its syntax tree; None if it does
not parse. A call that is not in the tables does nothing that is noted; code that is made at run
time (`exec`, `eval`, `getattr` by a computed name) is `opaque`.
"""

from __future__ import annotations

import ast
import posixpath
import re
import shlex
import warnings
from dataclasses import dataclass, field
from typing import TypeAlias

from sponsio_like.kinds.shell_words import QUOTED

LONGEST = 16_384
"""Most characters that are read."""
RUNS = frozenset(
    {
        *("os.system", "os.popen", "subprocess.run", "subprocess.call", "subprocess.Popen"),
        *("subprocess.check_call", "subprocess.check_output", "subprocess.getoutput"),
        *("subprocess.getstatusoutput", "pty.spawn", "commands.getoutput"),
        *("asyncio.create_subprocess_shell", "asyncio.create_subprocess_exec"),
    }
)
RUNNING = frozenset(
    {"system", "popen", "Popen", "check_call", "check_output", "getoutput", "getstatusoutput"}
)
"""Methods that run a command, whatever the module is called."""
EXECS = tuple(
    f"os.{kind}{form}" for kind in ("exec", "spawn", "posix_spawn") for form in ("l", "v", "")
)
OPAQUE = frozenset(
    {
        *("exec", "eval", "compile", "__import__", "importlib.import_module", "getattr", "globals"),
        *("runpy.run_path", "runpy.run_module", "pickle.loads", "pickle.load", "marshal.loads"),
        *("ctypes.CDLL", "locals", "vars", "code.interact", "setattr", "types.FunctionType"),
        *("timeit.timeit", "timeit.repeat", "timeit.Timer", "cProfile.run", "profile.run"),
        *("pdb.run", "code.InteractiveInterpreter", "webbrowser.get", "webbrowser.register"),
        *("builtins.exec", "builtins.eval", "builtins.compile", "builtins.__import__"),
    }
)
DELETES = frozenset(
    {"os.remove", "os.unlink", "os.rmdir", "os.removedirs", "send2trash.send2trash"}
)
TREES = frozenset({"shutil.rmtree"})
MOVES = frozenset({"os.rename", "os.replace", "shutil.move", "os.renames"})
COPIES = frozenset(
    {
        *("shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree"),
        "shutil.unpack_archive",
    }
)
MAKES = frozenset(
    {
        *("os.mkdir", "os.makedirs", "os.chmod", "os.chown", "os.truncate", "os.symlink"),
        *("os.link", "os.mkfifo", "numpy.save", "numpy.savetxt", "numpy.savez"),
        *("logging.FileHandler", "shelve.open", "dbm.open"),
    }
)
SHOWS = frozenset(
    {
        *("os.listdir", "os.scandir", "os.walk", "glob.glob", "glob.iglob", "os.readlink"),
        *("linecache.getlines", "linecache.getline", "fileinput.input", "numpy.load"),
        *("numpy.loadtxt", "numpy.genfromtxt", "mmap.mmap"),
    }
)
OPENS = frozenset(
    {
        *("open", "io.open", "codecs.open", "pathlib.Path.open", "io.FileIO", "gzip.open"),
        *("bz2.open", "lzma.open", "tarfile.open", "zipfile.ZipFile", "tarfile.TarFile"),
    }
)
"""Functions that take a path and a mode."""
VERBS = ("get", "post", "put", "delete", "patch", "head", "request", "stream", "options")
NETWORK = frozenset(
    {
        *("urllib.request.urlopen", "urllib.request.urlretrieve", "urllib.request.Request"),
        *(f"{room}.{verb}" for room in ("requests", "httpx") for verb in VERBS[:6]),
        *("http.client.HTTPConnection", "http.client.HTTPSConnection", "smtplib.SMTP"),
        *("ftplib.FTP", "socket.create_connection", "telnetlib.Telnet", "paramiko.SSHClient"),
        *("socket.gethostbyname", "socket.getaddrinfo", "smtplib.SMTP_SSL", "imaplib.IMAP4_SSL"),
    }
)
JOINS = frozenset({"os.path.join", "posixpath.join", "pathlib.Path", "pathlib.PurePath"})
PATHS = frozenset({"unlink", "rmdir", "write_text", "write_bytes", "touch", "mkdir", "rename"})
"""Methods of `pathlib.Path` that change what they are called on."""
SEES = frozenset({"read_text", "read_bytes", "iterdir", "glob", "rglob"})
"""Methods of `pathlib.Path` that read what they are called on."""
SAVES = re.compile(
    r"to_(?:csv|json|parquet|excel|pickle|html|feather|markdown|latex|xml)|savefig|save"
)
"""Methods that write the file that they are given."""
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://")
MODULES = frozenset({"os", "subprocess", "shutil", "sys", "pty", "importlib", "ctypes", "pathlib"})
Command: TypeAlias = "str | tuple[str, ...]"


@dataclass
class PythonFacts:
    """The facts of a program."""

    commands: list[Command] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    deletes: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    destroys: list[str] = field(default_factory=list)
    opaque: bool = False
    runs_code: bool = False
    """True if it runs code that is made at run time: `exec`, `eval`."""


def python_facts(text: str) -> PythonFacts | None:
    """Return what a program does; None if it does not parse, or is too long."""
    if len(text) > LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    reader = _Reader()
    reader.visit(tree)
    return reader.found


class _Reader(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found = PythonFacts()
        self.names: dict[str, str] = {}
        self.values: dict[str, str | None] = {}
        self.cwd = ""
        self.seen: set[int] = set()
        """The nodes of functions that are called, or named anew."""

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            self.names[each.asname or each.name.split(".")[0]] = (
                each.name if each.asname else each.name.split(".")[0]
            )

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for each in node.names:
            if each.name == "*":
                self.found.opaque |= node.module in ("os", "subprocess", "shutil")
            self.names[each.asname or each.name] = f"{node.module}.{each.name}"

    def visit_Assign(self, node: ast.Assign) -> None:
        self.seen.add(id(node.value))
        self.generic_visit(node)
        for target in node.targets:
            if isinstance(target, ast.Name):
                again = target.id in self.values
                self.values[target.id] = None if again else self.text(node.value)
                said = self.dotted(node.value)
                if said in OPAQUE | MODULES or _does(said):
                    self.names[target.id] = said

    def visit_Name(self, node: ast.Name) -> None:
        self.mentioned(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.mentioned(node)
        self.generic_visit(node)

    def mentioned(self, node: ast.expr) -> None:
        """Note a function that is handed on, as in `map(os.system, ..)`: who knows for what."""
        if id(node) not in self.seen:
            name = self.dotted(node)
            if _does(name):
                self.found.opaque = True

    def visit_Call(self, node: ast.Call) -> None:
        self.seen.add(id(node.func))
        self.generic_visit(node)
        name = self.dotted(node.func)
        last = name.rpartition(".")[2]
        if name in RUNS or name.startswith(EXECS) or (last in RUNNING and node.args):
            self.found.commands.append(self.command(node, name))
        elif name in OPAQUE:
            self.coded(node, name)
        elif not (self.filed(node, name) or self.connected(node, name)):
            if isinstance(node.func, ast.Attribute):
                self.method(node, node.func)
            elif not name:
                self.found.opaque = True

    def given(self, node: ast.Call, at: int = 0, *names: str) -> str:
        """Return an argument by its place, or by one of its names, as far as it is known."""
        if len(node.args) > at:
            return self.text(node.args[at]) or QUOTED
        named = [each.value for each in node.keywords if each.arg in names]
        return (self.text(named[0]) if named else None) or QUOTED

    def coded(self, node: ast.Call, name: str) -> None:
        """Note what runs code, or gets a function by its name."""
        given = [self.text(each) or QUOTED for each in node.args]
        if name.rpartition(".")[2] in ("exec", "eval"):
            self.evaluated(given)
        else:
            plain = name == "getattr" and len(given) > 1 and given[1].isidentifier()
            self.found.opaque |= not (plain and given[1] not in (*RUNNING, "remove", "rmtree"))

    def evaluated(self, given: list[str]) -> None:
        """Note code that is run by `exec` or `eval`: a constant text is read like the rest."""
        inner = python_facts(given[0]) if given and given[0] != QUOTED else None
        if inner is None:
            self.found.runs_code = True
            return
        for each in ("commands", "reads", "writes", "deletes", "hosts", "destroys"):
            getattr(self.found, each).extend(getattr(inner, each))
        self.found.runs_code |= inner.runs_code
        self.found.opaque |= inner.opaque

    def placed(self, path: str) -> str:
        """Return a path from where the program began."""
        if not self.cwd or path == QUOTED or path[:1] in ("/", "~"):
            return path
        return QUOTED if self.cwd == QUOTED else posixpath.join(self.cwd, path)

    def filed(self, node: ast.Call, name: str) -> bool:
        """Note what a function does to files; return False if it is none of these."""
        found = self.found
        first = self.placed(self.given(node, 0, "path", "src", "file", "name", "filename", "top"))
        second = self.placed(self.given(node, 1, "dst", "extract_dir", "filename", "target"))
        if name in DELETES:
            found.deletes.append(first)
        elif name in TREES or name.endswith(".rmtree"):
            found.deletes.append(first)
            found.destroys.append("rm -r")
        elif name in MOVES:
            found.deletes.append(first)
            found.writes.append(second)
        elif name in COPIES:
            found.reads.append(first)
            found.writes.append(second)
        elif name in MAKES:
            found.writes.append(second if name.endswith("link") else first)
        elif name in SHOWS or name.startswith("pandas.read_"):
            found.reads.append("." if first == QUOTED and not node.args else first)
        elif name in OPENS:
            self.opened(node, first, 1)
        elif name == "os.chdir":
            self.cwd = first
        else:
            return self.kept(node, name, first)
        return True

    def kept(self, node: ast.Call, name: str, first: str) -> bool:
        """Note the files of functions with arguments of their own."""
        named = {each.arg: self.text(each.value) or QUOTED for each in node.keywords}
        if name == "os.open":
            flags = ast.unparse(node.args[1]) if len(node.args) > 1 else ""
            reads = flags == "0" or flags.endswith("O_RDONLY")
            (self.found.reads if reads else self.found.writes).append(first)
        elif name == "sqlite3.connect":
            if "mode=ro" in first:
                self.found.reads.append(re.sub(r"^file:|\?.*", "", first))
            elif first != ":memory:":
                self.found.writes.append(first)
        elif name == "logging.basicConfig" and "filename" in named:
            self.found.writes.append(self.placed(named["filename"]))
        elif name.startswith("tempfile.") and "dir" in named:
            self.found.writes.append(self.placed(named["dir"]))
        else:
            return False
        return True

    def visit_Expr(self, node: ast.Expr) -> None:
        self.generic_visit(node)
        match node.value:
            case ast.Call(ast.Attribute(opened, "close")):
                self.emptied(opened)
            case opened:
                self.emptied(opened)

    def visit_With(self, node: ast.With) -> None:
        self.generic_visit(node)
        for each in node.items if isinstance(node.body[0], ast.Pass) else ():
            self.emptied(each.context_expr)

    def emptied(self, node: ast.expr) -> None:
        """Note a file that is opened for writing, and into which nothing is written."""
        opens = isinstance(node, ast.Call) and self.dotted(node.func) in OPENS
        if isinstance(node, ast.Call) and opens and "w" in (self.mode(node, 1) or ""):
            self.found.deletes.append(self.placed(self.given(node, 0, "file", "filename")))

    def mode(self, node: ast.Call, at: int) -> str | None:
        """Return the mode in which a file is opened, the argument at this place."""
        modes = [*node.args[at : at + 1], *(e.value for e in node.keywords if e.arg == "mode")]
        return self.text(modes[0]) if modes else "r"

    def opened(self, node: ast.Call, path: str, at: int) -> None:
        """Note a file that is opened."""
        mode = self.mode(node, at)
        if mode is None or set(mode) & set("wax+"):
            self.found.writes.append(path)
        else:
            self.found.reads.append(path)

    def connected(self, node: ast.Call, name: str) -> bool:
        """Note the hosts that a call reaches; return False if it is no such call."""
        last = name.rpartition(".")[2]
        for each in node.keywords:
            if each.arg in ("url", "base_url", "proxy", "proxies"):
                inner = each.value.values if isinstance(each.value, ast.Dict) else [each.value]
                for part in inner:
                    self.reached(self.text(part) or QUOTED)
        if name in NETWORK:
            if node.args or not any(each.arg == "url" for each in node.keywords):
                self.reached(self.given(node))
            if last == "urlretrieve" and (len(node.args) > 1 or node.keywords):
                self.found.writes.append(self.placed(self.given(node, 1, "filename")))
        elif last in VERBS or last in ("connect", "connect_ex", "ws_connect"):
            self.addressed(node, name, last)
        else:
            return False
        return True

    def addressed(self, node: ast.Call, name: str, last: str) -> None:
        """Note the address in a call such as `session.get(url)`; `data.get(key)` has none."""
        for each in node.args[:2]:
            if isinstance(each, ast.Tuple) and each.elts and last.startswith("connect"):
                self.reached(self.text(each.elts[0]) or QUOTED)
            elif ADDRESS.match(self.text(each) or ""):
                self.reached(self.text(each) or QUOTED)
            elif name in (f"requests.{last}", f"httpx.{last}"):
                self.reached(self.text(node.args[-1]) or QUOTED)

    def reached(self, url: str) -> None:
        """Note a host; the URL of a file reaches none."""
        if url.lower().startswith("file:"):
            self.found.reads.append(re.sub(r"(?i)^file:(?://[^/]*)?", "", url))
        else:
            self.found.hosts.append(_host(url))

    def method(self, node: ast.Call, func: ast.Attribute) -> None:
        """Note a method that reads or changes the file of a path, or a file that it is given."""
        path = self.text(func.value)
        known = QUOTED if path is None else self.placed(path)
        given = self.text(node.args[0]) if node.args else None
        if func.attr in PATHS:
            owned = isinstance(func.value, (ast.Name, ast.Call, ast.BinOp))
            sure = func.attr in ("unlink", "rmdir", "write_text", "write_bytes")
            if path is not None or (owned and sure):
                gone = func.attr in ("unlink", "rmdir", "rename")
                (self.found.deletes if gone else self.found.writes).append(known)
        elif func.attr in SEES and path is not None:
            self.found.reads.append(known)
        elif func.attr == "open" and path is not None:
            self.opened(node, known, 0)
        elif func.attr == "read" and given is not None:
            self.found.reads.append(self.placed(given))
        elif func.attr in ("extractall", "extract"):
            at = 0 if func.attr == "extractall" else 1
            has = len(node.args) > at or any(each.arg == "path" for each in node.keywords)
            self.found.writes.append(self.placed(self.given(node, at, "path") if has else "."))
        elif SAVES.fullmatch(func.attr) and given is not None:
            self.found.writes.append(self.placed(given))

    def command(self, node: ast.Call, name: str) -> Command:
        """Return the command that a call runs: a text for a shell, or words."""
        given = [*node.args, *(each.value for each in node.keywords if each.arg in ("args", "cmd"))]
        first = given[0] if given else None
        folder = [each.value for each in node.keywords if each.arg == "cwd"]
        cwd = (self.text(folder[0]) or QUOTED) if folder else self.cwd
        words = self.listed(first)
        if words is None and name.startswith(EXECS) and len(node.args) > 1:
            listed = isinstance(node.args[1], ast.List)
            more = node.args[1].elts[1:] if listed else node.args[2:]  # type: ignore[attr-defined]
            words = tuple(self.text(each) or QUOTED for each in (node.args[0], *more))
        if words is not None:
            return ("env", "-C", cwd, *words) if cwd else words
        text = (self.text(first) if first is not None else None) or QUOTED
        return f"cd {shlex.quote(cwd)} && {text}" if cwd and QUOTED not in (cwd, text) else text

    def listed(self, node: ast.expr | None) -> tuple[str, ...] | None:
        """Return the words of a list, or of `"ls -l".split()`; None for anything else."""
        if isinstance(node, (ast.List, ast.Tuple)):
            return tuple(self.text(each) or QUOTED for each in node.elts)
        return None

    def text(self, node: ast.expr) -> str | None:
        """Return a constant text; None if it is made at run time."""
        match node:
            case ast.Constant(str() as value):
                return value
            case ast.Name(name):
                return self.values.get(name)
            case ast.BinOp(left, ast.Add(), right):
                one, other = self.text(left), self.text(right)
                return None if one is None or other is None else one + other
            case ast.Call(func, parts) if self.dotted(func) in JOINS:
                said = [self.text(each) for each in parts]
                return None if None in said else posixpath.join(*(each or "" for each in said))
            case ast.Call(ast.Attribute(owner, "joinpath"), parts):
                said = [self.text(owner), *map(self.text, parts)]
                return None if None in said else posixpath.join(*(each or "" for each in said))
            case ast.BinOp(left, ast.Div(), right):
                one, other = self.text(left), self.text(right)
                return None if one is None or other is None else posixpath.join(one, other)
            case ast.JoinedStr(parts):
                said = [self.text(each) for each in parts]
                return None if None in said else "".join(each or "" for each in said)
        return None

    def dotted(self, node: ast.expr) -> str:
        """Return the full name of a function: `os.system`; empty if it has none."""
        match node:
            case ast.Name(name):
                return self.names.get(name, name)
            case ast.Attribute(value, attr):
                inner = self.dotted(value)
                return f"{inner}.{attr}" if inner else f"?.{attr}"
            case ast.Call(func, [ast.Constant(str() as module), *_]):
                return (
                    module if self.dotted(func) in ("__import__", "importlib.import_module") else ""
                )
        return ""


def _does(name: str) -> bool:
    """True for a function that runs commands, or deletes."""
    return name in RUNS or name in DELETES or name in TREES or name.startswith(EXECS)


def _host(url: str) -> str:
    from sponsio_like.kinds.shell_table import host_in

    return host_in(url) if url != QUOTED else QUOTED
