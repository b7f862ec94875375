"""The small changes that mechanical mutation makes: what they are, and how they are applied.

In: the name of a module of the package. Out: its mutants, and the changed module of each. A
mutant is a number in the order of the tree, and is named by the line it stands on, so a reason
that is written down for it outlives changes elsewhere.

What cannot make a difference is no mutant: `None` for `False` where only the truth is asked
(`-> bool`), a number that only tunes (`TUNING`), and whether exactly so much is below it.
"""

from __future__ import annotations

import ast
import copy
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "sponsio_like"


# --- operators ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mutant:
    """One change: the node's place in the tree of its module, and which of its changes.

    `scope`: the function it stands in, after the classes around that; empty if in none.
    """

    module: str
    index: int
    change: int
    line: int
    lines: tuple[int, ...]
    what: str
    scope: tuple[str, ...]

    @property
    def name(self) -> str:
        """How it is called in `survivors.toml`, whatever line it has moved to."""
        return f"{self.module}: {self.what}"


COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
LARGE = 100
"""From here on a number is a cap, and one more or less is no fault."""
TUNING = re.compile(r"\w*CAP|FAR|NEVER|BUDGET|NODES_FREE|MOMENT|SIMILAR")
"""Names of numbers of which one more or less is no fault either."""
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


def changes(node: ast.AST) -> Iterator[ast.AST | None]:
    """Every small change of this node; None stands for leaving it out."""
    match node:
        case ast.Compare(left, [op], right):
            for other in COMPARISONS[type(op)]:
                yield ast.Compare(left, [other()], right)
        case ast.Compare(left, [first, *ops], right):
            for other in COMPARISONS[type(first)]:
                yield ast.Compare(left, [other(), *ops], right)
            for other in COMPARISONS[type(ops[0])]:
                yield ast.Compare(left, [first, other(), *ops[1:]], right)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            for k in range(len(values)):
                rest = values[:k] + values[k + 1 :]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.UnaryOp(ast.USub(), operand):
            yield operand
        case ast.BinOp(left, op, right) if type(op) in ARITHMETIC:
            yield ast.BinOp(left, ARITHMETIC[type(op)](), right)
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() as value) if value < LARGE:
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Name(name, ast.Load()) if name in NAMES:
            yield ast.Name(NAMES[name], ast.Load())
        case ast.Return(ast.Constant(None)) | ast.Return(None):
            pass
        case ast.Return(_):
            yield ast.Return(ast.Constant(None))
        case ast.If(test, body, orelse) if not is_negated_elsewhere(test):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.comprehension(target, each, ifs, is_async) if ifs:
            yield ast.comprehension(target, each, ifs[1:], is_async)
    yield from changed_statements(node)


def changed_statements(node: ast.AST) -> Iterator[ast.AST | None]:
    """What can be left out, or changed, in a statement."""
    match node:
        case ast.Expr(ast.Call()) | ast.Continue() | ast.Break() | ast.Delete():
            yield None
        case ast.Assign() | ast.AugAssign():
            yield None
        case ast.match_case(pattern, None, _) if not is_wild(pattern):
            yield None
        case ast.match_case(pattern, guard, body) if guard is not None:
            yield from (None, ast.match_case(pattern, None, body))


def is_wild(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None


def is_negated_elsewhere(test: ast.expr) -> bool:
    """Whether a change of this test itself turns it around."""
    return isinstance(test, ast.UnaryOp) or (isinstance(test, ast.Compare) and len(test.ops) == 1)


# --- finding and applying -------------------------------------------------------------------------


class Numbering(ast.NodeVisitor):
    """All nodes that may be changed, in order, each with the outermost function it stands in.

    No annotations, aliases of types, docstrings, messages or imports; nor `strict=True`, which
    only checks.
    """

    def __init__(self) -> None:
        self.found: list[tuple[ast.AST, tuple[str, ...]]] = []
        self._classes: tuple[str, ...] = ()
        self._scope: tuple[str, ...] = ()

    def visit(self, node: ast.AST) -> None:
        if is_left_alone(node):
            return
        self.found.append((node, self._scope))
        before = self._classes, self._scope
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_params"):
                continue
            if name == "body" and not self._scope:
                self._enter(node)
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, ast.AST):
                    self.visit(each)
        self._classes, self._scope = before

    def _enter(self, node: ast.AST) -> None:
        match node:
            case ast.ClassDef(name):
                self._classes = (*self._classes, name)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                self._scope = (*self._classes, name)


def is_left_alone(node: ast.AST) -> bool:
    """Whether neither this node nor what stands in it is changed."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.JoinedStr() | ast.Raise() | ast.Assert():
            return True
        case ast.AnnAssign(_, ast.Name("TypeAlias")) | ast.keyword("strict"):
            return True
    return False


def numbered(tree: ast.AST) -> list[tuple[ast.AST, tuple[str, ...]]]:
    """The nodes of a tree by number, and their scopes."""
    numbering = Numbering()
    numbering.visit(tree)
    return numbering.found


def idle_nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes of a module that make no difference: `return False` for a truth, tuning."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(returns=ast.Name("bool")):
                returns = (each for each in ast.walk(node) if isinstance(each, ast.Return))
                yield from (e for e in returns if getattr(e.value, "value", None) is False)
            case ast.Assign([ast.Name(name)], value) if TUNING.fullmatch(name):
                yield from ast.walk(value)


def is_boundary(node: ast.AST) -> bool:
    """Whether something is held against a number that only tunes: `<` or `<=` is the same then."""
    match node:
        case ast.Compare(left, [ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()], [right]):
            return any(isinstance(e, ast.Name) and TUNING.fullmatch(e.id) for e in (left, right))
    return False


def source(module: str) -> Path:
    """The file of a module."""
    return PACKAGE / f"{module.replace('.', '/')}.py"


def mutants(module: str) -> Iterator[Mutant]:
    """Every mutant of a module. The same change twice on one line is told apart by a number."""
    text = source(module).read_text("utf-8")
    lines = text.splitlines()
    seen: Counter[str] = Counter()
    top = (1, 1)
    tree = ast.parse(text)
    idle = {*idle_nodes(tree)}
    for index, (node, scope) in enumerate(numbered(tree)):
        if isinstance(node, ast.stmt):
            top = (node.lineno, header_of(node))
        line = line_of(node, top[0])
        last = int(getattr(node, "end_lineno", line)) if isinstance(node, ast.expr) else line
        for change, new in enumerate(changes(node)):
            if not scope and isinstance(node, ast.Assign) and new is None:
                continue  # a constant left out: nothing could be imported
            if node in idle or (change == 0 and is_boundary(node)):
                continue
            old = one_line(node)
            where = lines[line - 1].strip()
            what = f"{old} => {one_line(new) if new is not None else '(left out)'}"
            name = what if where == old else f"{where} :: {what}"
            seen[name] += 1
            again = f" #{seen[name]}" if seen[name] > 1 else ""
            around = range(min(top[0], line), max(top[1], last) + 1)
            yield Mutant(module, index, change, line, tuple(around), name + again, scope)


def line_of(node: ast.AST, default: int) -> int:
    """The line a node stands on; some nodes do not know."""
    match node:
        case ast.match_case(pattern, _, _):
            return pattern.lineno
        case ast.comprehension(target, _, _, _):
            return target.lineno
    return int(getattr(node, "lineno", default))


def header_of(statement: ast.stmt) -> int:
    """The last line of a simple statement; of a compound one, the line it starts on."""
    if isinstance(getattr(statement, "body", None), list) or isinstance(statement, ast.Match):
        return statement.lineno
    return statement.end_lineno or statement.lineno


def one_line(node: ast.AST) -> str:
    """The node as text, short."""
    match node:
        case ast.match_case(pattern, guard, _):
            text = f"case {ast.unparse(pattern)}" + (f" if {ast.unparse(guard)}" if guard else "")
        case ast.If(test, _, _):
            text = f"if {ast.unparse(test)}"
        case ast.comprehension():
            text = ast.unparse(node).strip()
        case _:
            text = ast.unparse(ast.fix_missing_locations(copy.deepcopy(node)))
    text = " ".join(text.split())
    return text if len(text) <= 90 else text[:87] + "..."


def mutated(mutant: Mutant) -> ast.Module:
    """The tree of the module with this one change."""
    tree = ast.parse(source(mutant.module).read_text("utf-8"))
    target, _ = numbered(tree)[mutant.index]
    new = list(changes(target))[mutant.change]
    replace_in(tree, target, new)
    return ast.fix_missing_locations(tree)


def replace_in(tree: ast.AST, old: ast.AST, new: ast.AST | None) -> None:
    """Put `new` where `old` stands; a statement that is left out becomes `pass`."""
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, ast.copy_location(new or ast.Constant(None), old))
            elif isinstance(value, list) and any(each is old for each in value):
                k = next(n for n, each in enumerate(value) if each is old)
                value[k : k + 1] = replacement(old, new)
                if not value:
                    value.append(ast.match_case(ast.MatchAs(), None, [ast.Pass()]))


def replacement(old: ast.AST, new: ast.AST | None) -> list[ast.AST]:
    if new is None:
        return [] if isinstance(old, ast.match_case) else [ast.copy_location(ast.Pass(), old)]
    has_place = isinstance(new, (ast.expr, ast.stmt))
    return [ast.copy_location(new, old) if has_place else new]
