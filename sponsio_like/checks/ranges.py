"""Refuses value variables that cannot be followed: each has to be bound by the event that is
judged.

In: a compiled clause. Out: nothing, or a `ContractError`: a contract whose variables range over
values that nobody names would speak of values that never occur (in databases: formulas that are not
range-restricted; Abiteboul, Hull, Vianu, "Foundations of Databases", 5.4), and be violated on their
behalf.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import sponsio_like.logic.formula as f
from sponsio_like.checks.together import is_reachable
from sponsio_like.engine import Clause
from sponsio_like.errors import ContractError
from sponsio_like.logic import conjuncts, decompose
from sponsio_like.monitor import (
    BINDING,
    PAST,
    STATEFUL,
    Monitor,
    Program,
    VariableLayout,
    all_vars,
    is_part,
    is_tied,
    operands,
    places_of,
    relations,
    ties,
    vars_given_by_context,
    vars_in,
)

SAME = "some value"
"""The constant that takes the place of every value that does occur."""


def check_unbound_values(clause: Clause) -> None:
    """Raise `ContractError` if a trace without any event of a value violates its guarantee."""
    scope, assumption = clause.contract.segment, clause.contract.assumption
    begins = [each for each in (assumption, scope.start if scope else None) if each is not None]
    if any(all_vars(each) for each in begins):
        return  # the assumption or the scope binds it
    assert clause.bindings is not None
    names = frozenset(clause.bindings.names.places)
    nodes = [slot.node for slot in clause.slots]
    apart = any(
        relations(node, clause.bindings.names) or any(vars_given_by_context(node)) for node in nodes
    )
    sizes = range(1, len(names)) if apart else ()  # else an event binds all of them, or none
    for unseen in (names, *(frozenset(e) for n in sizes for e in combinations(sorted(names), n))):
        if unseen and _breaks(clause, _with_unbound(clause.rule.formula, unseen)):
            shown = ", ".join(f"`${name}`" for name in sorted(unseen))
            raise ContractError.of(
                f"a value of {shown} that never occurs would violate `{clause.rule.formula!r}`",
                "bind the variable at the event that is judged, and write the rest as a guarantee "
                "of its own",
            )


def _breaks(clause: Clause, formula: f.Formula) -> bool:
    """True if some trace violates the formula."""
    monitor = Monitor(Program(), decompose(formula), clause.monitor.search.tools)
    return is_reachable("violate", monitor)


def _with_unbound(root: f.Formula, unseen: frozenset[str]) -> f.Formula:
    """Return the formula for values of the variables `unseen` that no event has; all other
    variables have the value `SAME`.
    """

    def swap(node: Any) -> f.Node | None:
        match node:
            case f.Happens(what, target):
                left = _satisfiable(target, unseen)
                return f.Happens(what, left) if left else f.FALSE
            case f.Sum(target, path, bound):
                left = _satisfiable(target, unseen)
                return f.Sum(left, path, bound) if left else f.Const(0)
            case f.OutputIs(path, op, f.Var(name)):
                return f.FALSE if name in unseen else f.OutputIs(path, _plain(op), SAME)
            case f.TextIs(_, f.Var(name)):
                return f.FALSE if name in unseen else f.MessageBy("*")
            case f.Compare() if any(name in unseen for name in vars_given_by_context(node)):
                return f.FALSE
            case f.Variable(name) if name not in unseen:
                return f.Const(SAME)
        return None

    return f.rewritten(root, swap)


def _satisfiable(target: f.Target, unseen: frozenset[str]) -> f.Target:
    """Return the matches that can still hold: those that bind none of the variables `unseen`."""
    left = (match for match in target if not _binds(match, unseen))
    return tuple(_without_variables(match, unseen) for match in left)


def _plain(op: f.Op) -> f.Op:
    return "=" if op in BINDING else op


def _binds(match: f.Match, unseen: frozenset[str]) -> bool:
    found = vars_in(f.Happens("called", (match,)))
    return any(var.name in unseen and op in BINDING for op, var in found)


def _without_variables(match: f.Match, unseen: frozenset[str]) -> f.Match:
    """Return the match without conditions on the variables `unseen`, and with `SAME` for others."""
    left: list[f.Condition] = []
    for each in match.conditions:
        if not isinstance(each.value, f.Var):
            left.append(each)
        elif each.value.name not in unseen:
            left.append(replace(each, value=SAME, op=_plain(each.op)))
    return replace(match, conditions=tuple(left))


def check_variables(clause: Clause) -> None:
    """Raise `ContractError` for value variables that the monitor cannot bind at the right event."""
    if clause.bindings is None:
        return
    known = clause.bindings.names
    if clause.by:
        raise ContractError.of(
            "the guarantee is split by fields, and has value variables as well",
            "write the field as a variable too: {args: {field: $y}}",
        )
    _check_places(clause)
    bound = {var.name for slot in clause.slots for op, var in all_vars(slot.node) if op in BINDING}
    bound |= {name for slot in clause.slots for name in vars_given_by_context(slot.node)}
    for name in known.places:
        if name not in bound:
            raise ContractError.of(
                f"nothing binds `${name}`",
                f"bind it where a value stands: {{args: {{id: ${name}}}}}",
            )
    for i, slot in enumerate(clause.slots):
        for each in () if _is_tied(clause, i) else _variables_by_event(slot.node):
            _check_together(each, set(known.places))
        for match in (one for node in f.postorder(slot.node) for one in _matches(node)):
            _check_lists(slot.node, match)
    _check_single(clause)
    _check_gate(clause)
    _check_relations(clause)
    _check_context(clause)
    _check_bound_in_time(clause)
    check_unbound_values(clause)


def _occurrences(root: f.Node) -> Counter[str]:
    """Return how often each variable stands in a formula; what stands twice in it counts twice,
    though it is one node.
    """
    known: dict[f.Node, Counter[str]] = {}
    for node in f.postorder(root):
        mine = Counter(var.name for _, var in vars_in(node))
        known[node] = sum((known[each] for each in f.children(node)), mine)
    return known[root]


def _check_single(clause: Clause) -> None:
    """Refuse what forbids every value: a variable of a prohibition that stands nowhere else, in the
    assumption and the scope neither.
    """
    formula, scope = clause.rule.formula, clause.contract.segment
    ends = (scope.start, scope.stop) if scope else ()
    roots = [each for each in (formula, clause.contract.assumption, *ends) if each is not None]
    told = sum(map(_occurrences, roots), Counter[str]())
    for part in conjuncts(formula):
        match part:
            case f.Always(f.Not(f.Happens() | f.And() as event), None):
                for name in (var.name for _, var in all_vars(event)):
                    if told[name] == 1:
                        what = f"`${name}` stands only once, so it means any value: all are refused"
                        fact = f"{{ltl: 'G(called(T) -> arg(field) != ctx({name}))'}}"
                        hint = f"write the value; any is {{ne: null}}; a fact of the host {fact}"
                        raise ContractError.of(what, hint)


def _is_tied(clause: Clause, slot: int) -> bool:
    """True if the result of the atom's call binds the variables that the atom does not."""
    assert clause.bindings is not None
    names, gate = clause.bindings.names, clause.scope_monitor.program
    if any(op[0] == "lit" and op[1] == slot for op in gate.nodes):
        return False
    return is_tied(clause.monitor.program, clause.roots, slot, names)


def _check_places(clause: Clause) -> None:
    for slot in clause.slots:
        for node in f.postorder(slot.node):
            if isinstance(node, f.Repeats | f.Delivered | f.Denied) and vars_in(node):
                raise ContractError.of(
                    f"`{node!r}` cannot have a value variable", "count calls instead: count(..)"
                )
            if isinstance(node, f.Variable) and node is slot.node:
                raise ContractError.of(
                    f"`{node!r}` is compared with something that is counted or remembered",
                    f"compare it with an argument or the context: arg(price) < {node!r}",
                )


def _matches(node: f.Node) -> f.Target:
    return node.target if isinstance(node, f.Happens | f.Sum) else ()


def _check_lists(node: f.Node, match: f.Match) -> None:
    """Refuse several variables in lists: each element of one would be paired with each of the
    other.
    """
    each = (c for c in match.conditions if isinstance(c.value, f.Var) and "[]" in c.path)
    names = dict.fromkeys(c.value.name for c in each if isinstance(c.value, f.Var))
    if len(names) > 1:
        shown = " and ".join(f"`${name}`" for name in names)
        raise ContractError.of(
            f"`{node!r}` binds {shown} in lists, and would combine all with all",
            "write a contract for each, or one for a call with plain fields",
        )


def _check_gate(clause: Clause) -> None:
    """Refuse comparisons with variables in assumptions and scopes.

    An assumption is read again at the end, where no event says which value is meant.
    """
    for op in clause.scope_monitor.program.nodes:
        node = clause.slots[op[1]].node if op[0] == "lit" else f.TRUE
        if isinstance(node, f.Compare) and all_vars(node):
            raise ContractError.of(
                f"`{node!r}` cannot stand in an assumption or a scope",
                "put the condition into the guarantee: G(called(pay, to = $x) & .. -> ..)",
            )


def _variables_by_event(node: f.Node) -> Iterator[tuple[f.Node, list[tuple[f.Op | None, f.Var]]]]:
    """Yield each event of a node, with the variables in it."""
    match node:
        case f.Happens(what, target):
            for match in target:
                yield node, vars_in(f.Happens(what, (match,)))
        case f.Sum(target, path, bound):
            for match in target:
                yield node, vars_in(f.Sum((match,), path, bound))
        case f.OutputIs() | f.TextIs():
            yield node, vars_in(node)


def _check_together(
    group: tuple[f.Node, list[tuple[f.Op | None, f.Var]]], wanted: set[str]
) -> None:
    node, found = group
    mine = {var.name for _, var in found} & wanted
    if not mine or mine == wanted or any(op not in BINDING for op, _ in found):
        return
    lacking = ", ".join(f"`${name}`" for name in sorted(wanted - mine))
    raise ContractError.of(
        f"`{node!r}` binds only some of the variables, not {lacking}",
        "bind all of them in every event, in its arguments or one of them in its own answer "
        f"(`status: ok`, output: {lacking.strip('`').split('`')[0]}), or write a contract for each",
    )


def _check_relations(clause: Clause) -> None:
    """Refuse comparisons with a variable below operators of the past, where they bind nothing."""
    assert clause.bindings is not None
    several = len(clause.bindings.names.places) > 1
    for program in (clause.monitor.program, clause.scope_monitor.program):
        for i in _under_past(program):
            op = program.nodes[i]
            if op[0] != "lit":
                continue
            node = program.slots[op[1]].node
            bad = [
                each for each in relations(node, clause.bindings.names) if several or each != "!="
            ]
            if bad:
                raise ContractError.of(
                    f"`{node!r}` compares values that nothing has bound yet",
                    "remember the value instead: last(arg(price), called(offer, id = $x))",
                )


def _check_bound_in_time(clause: Clause) -> None:
    """Refuse a comparison with a variable that neither an earlier event nor this call binds."""
    assert clause.bindings is not None
    names, program = clause.bindings.names, clause.monitor.program
    plain = {"!="} if len(names.places) == 1 else set[str]()
    for parts in clause.monitor.always:
        for root in parts:
            nodes = list(_present_nodes(program, root))
            related = [
                program.slots[program.nodes[i][1]].node
                for i in nodes
                if program.nodes[i][0] == "lit"
                and set(relations(program.slots[program.nodes[i][1]].node, names)) - plain
            ]
            if related and _truth_if_unbound(program, root, names, past=False) is not True:
                raise ContractError.of(
                    f"`{related[0]!r}` compares with a value that may not be bound by then",
                    "bind the variable by an argument, or by an earlier event",
                )


def _binds_all(node: f.Node, names: VariableLayout) -> bool:
    """True if an atom binds every variable, in each way that it holds."""
    told = set(vars_given_by_context(node))
    ways = places_of(node, names) or ([told] if told else [])
    return bool(ways) and all(each >= set(names.places) for each in ways)


def _check_context(clause: Clause) -> None:
    """Refuse a value of the context that is not joined, by `&`, with an event that binds all
    variables.
    """
    assert clause.bindings is not None
    names, program = clause.bindings.names, clause.monitor.program
    if len(names.places) < 2:
        return
    for k, op in enumerate(program.nodes):
        if op[0] != "lit" or not any(vars_given_by_context(program.slots[op[1]].node)):
            continue
        node = program.slots[op[1]].node
        parents = [each for each in program.nodes if k in operands(each)]
        for parent in parents or [("", k)]:
            beside = [program.nodes[i] for i in parent[1:] if isinstance(i, int)]
            lits = [program.slots[each[1]].node for each in beside if each[0] == "lit"]
            if not any(_binds_all(each, names) for each in lits):
                raise ContractError.of(
                    f"`{node!r}` binds only some of the variables",
                    "bind all of them at the call beside it, or write a contract for each",
                )


def _present_nodes(program: Program, root: int) -> Iterator[int]:
    """Yield the root and the operands of its `&` and `|`: the nodes that are about this
    position.
    """
    stack = [root]
    while stack:
        i = stack.pop()
        yield i
        if program.nodes[i][0] in ("and", "or"):
            stack.extend(operands(program.nodes[i]))


def _truth_if_unbound(
    program: Program, i: int, names: VariableLayout, *, past: bool
) -> bool | None:
    """Return the truth of a node while its variables are unbound; None if it may be either."""
    op = program.nodes[i]
    below = [_truth_if_unbound(program, k, names, past=past or op[0] in PAST) for k in operands(op)]
    match op:
        case ("true",) | ("false",):
            return bool(op[0] == "true")
        case ("and" | "or", *_) if past and ties(program, op, names):
            return bool(op[0] == "or")
        case ("lit", slot, negated):
            node = program.slots[slot].node
            late = not past and (isinstance(node, f.OutputIs) or is_part(node, names))
            return bool(negated) if _binds_all(node, names) and not late else None
        case ("and", *_):
            return False if False in below else True if set(below) == {True} else None
        case ("or", *_):
            return True if True in below else False if set(below) == {False} else None
        case ("O" | "Y" | "YO", *_):
            return False if below[0] is False else None
        case ("S", *_):
            return False if below[1] is False else None
        case ("H" | "WY" | "WYH", *_):
            return True if below[0] is True else None
        case ("T", *_):
            return True if below[1] is True else None
    return None


def _under_past(program: Program) -> set[int]:
    """Return the nodes below operators of the past."""
    under: set[int] = set()
    for i in reversed(range(len(program.nodes))):
        op = program.nodes[i]
        if op[0] in PAST or op[0] in STATEFUL or i in under:
            under.update(operands(op))
    return under
