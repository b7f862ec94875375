"""Reads a short program in Python: what it runs, reads, writes and deletes.

In: the text of `python -c`, or of a here-document. Out: facts, by its syntax tree; None if it does
not parse. A call that is not in the tables does nothing that is noted; code that is made at run
time (`exec`, `eval`, `getattr` by a computed name) is `opaque`.
"""

from __future__ import annotations

import ast
import posixpath
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
EXECS = tuple(
    f"os.{kind}{form}" for kind in ("exec", "spawn", "posix_spawn") for form in ("l", "v", "")
)
OPAQUE = frozenset(
    {
        *("exec", "eval", "compile", "__import__", "importlib.import_module", "getattr", "globals"),
        *("runpy.run_path", "runpy.run_module", "pickle.loads", "pickle.load", "marshal.loads"),
        *("ctypes.CDLL", "locals", "vars", "code.interact", "setattr", "types.FunctionType"),
    }
)
DELETES = frozenset(
    {"os.remove", "os.unlink", "os.rmdir", "os.removedirs", "send2trash.send2trash"}
)
TREES = frozenset({"shutil.rmtree"})
MOVES = frozenset({"os.rename", "os.replace", "shutil.move", "os.renames"})
COPIES = frozenset({"shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree"})
MAKES = frozenset(
    {"os.mkdir", "os.makedirs", "os.chmod", "os.chown", "os.truncate", "os.symlink", "os.link"}
)
NETWORK = frozenset(
    {
        *("urllib.request.urlopen", "urllib.request.urlretrieve", "urllib.request.Request"),
        *(f"{room}.{verb}" for room in ("requests", "httpx") for verb in ("get", "post", "put")),
        *(
            f"{room}.{verb}"
            for room in ("requests", "httpx")
            for verb in ("delete", "patch", "head")
        ),
        *("http.client.HTTPConnection", "http.client.HTTPSConnection", "smtplib.SMTP"),
        *("ftplib.FTP", "socket.create_connection", "telnetlib.Telnet", "paramiko.SSHClient"),
    }
)
JOINS = frozenset({"os.path.join", "posixpath.join", "pathlib.Path", "pathlib.PurePath"})
PATHS = frozenset({"unlink", "rmdir", "write_text", "write_bytes", "touch", "mkdir", "rename"})
"""Methods of `pathlib.Path` that change what they are called on."""
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
        self.generic_visit(node)
        for target in node.targets:
            if isinstance(target, ast.Name):
                again = target.id in self.values
                self.values[target.id] = None if again else self.text(node.value)
                said = self.dotted(node.value)
                if said in RUNS | OPAQUE | DELETES | TREES or said.startswith(EXECS):
                    self.names[target.id] = said

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        name = self.dotted(node.func)
        given = [self.text(each) or QUOTED for each in node.args]
        first = given[0] if given else QUOTED
        if name in RUNS or name.startswith(EXECS):
            self.found.commands.append(self.command(node, name))
        elif name in ("exec", "eval"):
            self.evaluated(given)
        elif name in OPAQUE:
            plain = name == "getattr" and len(given) > 1 and given[1].isidentifier()
            self.found.opaque |= not (plain and given[1] not in ("system", "popen", "remove"))
        elif name in DELETES:
            self.found.deletes.append(first)
        elif name in TREES:
            self.found.deletes.append(first)
            self.found.destroys.append("rm -r")
        elif name in MOVES:
            self.found.deletes.append(first)
            self.found.writes += given[1:2]
        elif name in COPIES:
            self.found.reads.append(first)
            self.found.writes += given[1:2]
        elif name in MAKES:
            self.found.writes.append(given[-1] if name.endswith("link") else first)
        elif name in NETWORK:
            self.found.hosts.append(_host(first))
        elif name in ("open", "io.open", "codecs.open", "pathlib.Path.open"):
            self.opened(node, first)
        elif isinstance(node.func, ast.Attribute):
            self.method(node.func)
        elif not name:
            self.found.opaque = True

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

    def opened(self, node: ast.Call, path: str) -> None:
        """Note a file that is opened."""
        modes = [*node.args[1:2], *(each.value for each in node.keywords if each.arg == "mode")]
        mode = self.text(modes[0]) if modes else "r"
        if mode is None or set(mode) & set("wax+"):
            self.found.writes.append(path)
        else:
            self.found.reads.append(path)

    def method(self, func: ast.Attribute) -> None:
        """Note a method that changes the file of a path."""
        if func.attr not in PATHS:
            return
        owner = func.value
        path = QUOTED
        if isinstance(owner, ast.Call) and self.dotted(owner.func).endswith("Path") and owner.args:
            path = self.text(owner.args[0]) or QUOTED
        elif not isinstance(owner, ast.Name):
            return
        into = (
            self.found.deletes if func.attr in ("unlink", "rmdir", "rename") else self.found.writes
        )
        if path != QUOTED or func.attr in ("unlink", "rmdir", "write_text", "write_bytes"):
            into.append(path)

    def command(self, node: ast.Call, name: str) -> Command:
        """Return the command that a call runs: a text for a shell, or words."""
        first = node.args[0] if node.args else None
        if isinstance(first, (ast.List, ast.Tuple)):
            return tuple(self.text(each) or QUOTED for each in first.elts)
        if name.startswith(EXECS) and len(node.args) > 1:
            more = (
                node.args[2:] if not isinstance(node.args[1], ast.List) else node.args[1].elts[1:]
            )
            return tuple(self.text(each) or QUOTED for each in (node.args[0], *more))
        return (self.text(first) if first is not None else None) or QUOTED

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


def _host(url: str) -> str:
    from sponsio_like.kinds.shell_table import host_in

    return host_in(url) if url != QUOTED else QUOTED
