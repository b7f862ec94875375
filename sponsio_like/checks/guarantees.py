"""Refuses contracts that cannot work: that could never fire, never be kept, or never be violated.

In: a compiled clause. Out: nothing, or a `ContractError`. Everything that has happened within a
segment is left free, so a contract that could work is never refused.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import sponsio_like.logic.formula as f
from sponsio_like.checks.ranges import check_variables
from sponsio_like.checks.together import is_reachable, owed_at_start
from sponsio_like.contracts import Inventory, Scope, check_comparisons, formulas, regexes
from sponsio_like.engine import Clause
from sponsio_like.errors import ContractError, closest
from sponsio_like.events import regex
from sponsio_like.logic import decompose
from sponsio_like.monitor import (
    OTHER,
    PAST,
    STATEFUL,
    Monitor,
    Program,
    Slot,
    operands,
    static,
    tool_names,
)
from sponsio_like.outcome import Redirect

_REMEMBERS = (f.Yesterday, f.WeakYesterday, f.Once, f.Historically, f.Since, f.Compare)


def check_not_vacuous(clause: Clause) -> None:
    """Refuse a guarantee that no trace can violate where its assumption and its scope hold."""
    scope, assumption = clause.contract.segment, clause.contract.assumption
    if scope is None and assumption is None:
        return
    assumed = f.TRUE if assumption is None else assumption
    inside = f.TRUE if scope is None else _in_segment(scope)
    if clause.monitor.plain:
        bad = _present_violation(clause, exact=scope is None)
    else:
        bad = f.TRUE
        if scope is not None and scope.stop is not None:
            inside = f.disj(inside, scope.stop & f.Yesterday(inside))
    if _happens(f.conj(assumed, inside, bad), clause):
        return
    if not _happens(assumed, clause):
        raise ContractError.of("the assumption is never true", "leave it out, or correct it")
    if not _happens(inside, clause):
        raise ContractError.of("no segment of the scope ever begins", "correct its conditions")
    if scope is None:
        what = "nothing can violate the guarantee where the assumption holds"
        raise ContractError.of(what, "correct the assumption")
    also = "" if assumption is None else ", where the assumption holds"
    raise ContractError.of(
        f"nothing can violate the guarantee inside the scope{also}",
        "a segment includes the position that begins it, and excludes the one that ends it",
    )


def _in_segment(scope: Scope) -> f.Formula:
    """Return the formula "this position is in a segment"."""
    match scope:
        case Scope("before", _, f.Formula() as stop):
            return ~f.Once(stop)
        case Scope("after", f.Formula() as start):
            return f.Once(start)
        case Scope(_, f.Formula() as start, f.Formula() as stop):
            return f.Since(~stop, start)
    return f.TRUE


def _present_violation(clause: Clause, *, exact: bool) -> f.Formula:
    """Return the formula "what is owed at every position does not hold at this one".

    Unless `exact`, everything that is remembered or compared in it is left free.
    """
    owed = f.conj(*(part for parts in decompose(clause.rule.formula).always for part in parts))
    return ~(owed if exact else _without_memory(owed))


def _without_memory(root: f.Formula) -> f.Formula:
    """Return the formula with everything that is remembered, or compared, left free."""
    numbers = itertools.count()

    def swap(part: Any) -> f.Node | None:
        return f.Approved(f"free {next(numbers)}", "") if isinstance(part, _REMEMBERS) else None

    return f.rewritten(root, swap)


def _happens(formula: f.Formula, clause: Clause) -> bool:
    """True if this formula holds at some position of some trace."""
    reading = decompose(f.Eventually(formula))
    return is_reachable("satisfy", Monitor(Program(), reading, clause.monitor.search.tools))


_PRESENT = (f.Arg, f.Depth)
PRODUCT_CAP = 128
"""Most ways to choose one alternative of each part of a conjunction."""


def check_values(clause: Clause) -> None:
    """Raise `ContractError` for comparisons and regular expressions that cannot be meant."""
    for root in formulas(clause.contract):
        for node in f.postorder(root):
            for pattern in regexes(node):
                regex(pattern)
        check_comparisons(root)


def check_guarantees(clause: Clause) -> None:
    """Raise `ContractError` for a clause that cannot work, whatever the trace."""
    check_variables(clause)
    _check_alternatives(clause.monitor.program)
    _check_assumption(clause)
    _check_verdict(clause)
    check_not_vacuous(clause)


def check_redirect(clause: Clause) -> None:
    """Refuse a redirect of a call to the very same call: it would be refused
    like the call itself.
    """
    answer = clause.contract.answer
    if not isinstance(answer, Redirect) or answer.renames or not clause.restricts(answer.tool):
        return
    names = (*tool_names([slot.node for slot in clause.slots]), OTHER)
    if not any(name != answer.tool and clause.restricts(name) for name in names):
        raise ContractError.of(
            f"calls of `{answer.tool}` would be redirected to themselves", "name another tool"
        )


def check_substitute(clause: Clause, known: Inventory) -> None:
    """Refuse a redirect to a tool that the inventory does not have."""
    answer = clause.contract.answer or clause.rule.answer
    if isinstance(answer, Redirect) and not known.has(answer.tool):
        what = f"`{answer.tool}` cannot run instead: this agent does not have it"
        raise ContractError.of(what, closest(answer.tool, known.tools or ()))


def _check_alternatives(program: Program) -> None:
    """Refuse conjunctions with too many alternatives: to keep them would take long at each
    decision.
    """
    ways: list[int] = []
    for i, op in enumerate(program.nodes):
        parts = [ways[k] for k in operands(op) if program.looks_ahead(k)]
        found = 1
        if op[0] == "and":
            found = math.prod(parts)
        elif op[0] == "or":
            found = sum(parts)
        if op[0] == "and" and found > PRODUCT_CAP:
            what = f"a conjunction of {len(parts)} parts leaves {found} ways to keep it"
            raise ContractError.of(what, "write a guarantee for each part")
        ways.append(max(found, 1) if program.looks_ahead(i) else 1)


def _check_verdict(clause: Clause) -> None:
    """Refuse a guarantee that no trace keeps, or that no trace breaks."""
    monitor, formula = clause.monitor, clause.rule.formula
    if not is_reachable("satisfy", monitor):
        raise ContractError.of(
            f"guarantee `{formula!r}` can never be kept", "it contradicts itself"
        )
    if not is_reachable("violate", monitor):
        what = f"guarantee `{formula!r}` can never be violated"
        raise ContractError.of(what, "it is always true")
    if clause.rule.authored:
        _check_events(clause)


def _check_events(clause: Clause) -> None:
    """Refuse a guarantee that every event violates, or that none can violate.

    Such a guarantee distinguishes only the session in which nothing happens.
    """
    search, formula = clause.monitor.search, clause.rule.formula
    joint, registers = owed_at_start(clause.monitor), clause.monitor.start.registers
    if not search.reachable_later("violate", joint, registers):
        raise ContractError.of(
            f"whatever is called, it cannot violate `{formula!r}`",
            "it is true as soon as anything is",
        )
    if clause.contract.assumption is not None or _names_every_event(clause):
        return  # to forbid all calls may be meant where the assumption holds
    if not search.reachable_later("satisfy", joint, registers):
        raise ContractError.of(
            f"whatever is called violates `{formula!r}`",
            "correct it; to forbid every call write `G !called(*)`",
        )


def _names_every_event(clause: Clause) -> bool:
    """True if all calls, or all messages, are named: then to forbid them all may be meant."""
    everything = (f.Match(), f.Match(globs=("*",)))
    return any(
        (isinstance(node, f.Happens) and any(each in everything for each in node.target))
        or (isinstance(node, f.MessageBy) and node.role == "*")
        for node in f.postorder(clause.rule.formula)
    )


def _check_assumption(clause: Clause) -> None:
    """Refuse an assumption about the present call if other calls can violate the guarantee.

    Refuse an assumption that is never true, too.
    """
    if clause.scope_monitor.program.nodes[clause.assume] == ("false",):
        raise ContractError.of("the assumption is never true", "leave it out, or correct it")
    present = list(_slots_of_assumption(clause))
    if not present:
        return
    hint = "put the condition into the guarantee, where it says which call it means"
    if not clause.monitor.plain or clause.kind_of_scope:
        raise ContractError.of(
            "the assumption speaks of the present call, but other calls can violate the guarantee",
            hint,
        )
    for tool in (*tool_names([slot.node for slot in clause.slots]), OTHER):
        spoken = [static([slot], tool)[0] is not False for slot in present]
        if not any(spoken) and clause.restricts(tool):
            other = f"a call of `{tool}`" if isinstance(tool, str) else "a call of another tool"
            raise ContractError.of(
                f"the assumption speaks of the present call, but {other} can violate the guarantee",
                hint,
            )


def _slots_of_assumption(clause: Clause) -> Iterator[Slot]:
    """Yield the slots that the assumption reads of the call being decided."""
    program = clause.scope_monitor.program
    stack = [clause.assume]
    while stack:
        op = program.nodes[stack.pop()]
        if op[0] == "lit" and _about_call(clause.slots[op[1]].node):
            yield clause.slots[op[1]]
        if op[0] not in PAST | STATEFUL:
            stack.extend(operands(op))


def _about_call(node: f.Node) -> bool:
    match node:
        case f.Happens() | f.ByAgent() | f.OutputIs():
            return True
        case f.Compare():
            return any(isinstance(each, _PRESENT) for each in f.children(node))
    return False
