"""Refuses guarantees that are almost certainly mistakes.

In: a formula. Out: a `ContractError` with what to write instead; or remarks, where a careful author
may mean it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

import sponsio_like.logic.formula as f
from sponsio_like.contracts.typed_fields import conditions_in
from sponsio_like.errors import ContractError, Problem, refuse
from sponsio_like.logic import conjuncts, looks_ahead
from sponsio_like.values import path_parts

_LASTING = (f.Eventually, f.Always, f.Until, f.WeakUntil, f.Release)
_BEFORE = frozenset({f.Yesterday, f.WeakYesterday})
_JUNCTIONS = (f.Not, f.And, f.Or, f.Implies, f.Iff)
ATOMS_CAP, NODES_CAP = 500, 20_000
"""The most different atoms, and the most nodes, of one guarantee."""
_STAR = re.compile(r"\S\*$|^\*\S|\s\*$|/\*")
"""A `*` at an end of a text, or of a step of a path: `/etc/*`, `rm *`, `*.env`."""
_LONG = 60
"""The most characters of a formula that a hint writes out."""


def check_meant(formula: f.Formula) -> None:
    """Raise `ContractError` for a guarantee that is almost certainly a mistake.

    It would be judged at the first position only, measures seconds from the position before, asks
    of a call what no call can be, or is too large.
    """
    nodes = list(f.postorder(formula))
    if len(nodes) > ATOMS_CAP:
        _check_size(nodes)
    said = (*_first_only(formula), *_from_the_call_before(nodes), *_never_callable(formula))
    refuse(said)


def _check_size(nodes: list[f.Node]) -> None:
    atoms = sum(isinstance(node, f.Formula) and not f.children(node) for node in nodes)
    if atoms > ATOMS_CAP or len(nodes) > NODES_CAP:
        what = f"a guarantee of {atoms:,} different atoms and {len(nodes):,} parts is too large"
        hint = f"at most {ATOMS_CAP} and {NODES_CAP:,}; write several guarantees, or lists of tools"
        raise ContractError.of(what, hint)


def remarks(formula: f.Formula) -> list[Problem]:
    """Return problems to warn of: what is possible, and seldom meant."""
    return [
        *_stronger_than_meant(formula),
        *_relative_paths(formula),
        *_stars(formula),
        *_one_is_enough(formula),
        *_one_more(formula),
    ]


def demanded_of_calls(formula: f.Formula) -> Iterator[f.Condition]:
    """Yield what `G(called(T) -> called(T, ..))` asks of arguments: what lets a call through."""
    for part in conjuncts(formula):
        match part:
            case f.Always(f.Implies(f.Happens("called", _), f.Happens("called", target))):
                yield from (each for match in target for each in match.conditions)


def forbidden_matches(formula: f.Formula) -> Iterator[f.Match]:
    """Yield each match of calls that works against the guarantee, or is counted: a call that it
    does not meet is let through.
    """
    stack: list[tuple[f.Node, bool]] = [(formula, True)]
    seen = set(stack)
    while stack:
        node, sign = stack.pop()
        yield from () if sign and isinstance(node, f.Happens) else f.matches_of(node)
        counted = isinstance(node, f.Term)
        terms = (each for each in f.children(node) if counted or isinstance(each, f.Term))
        for each in [*_signed(node, sign), *((term, False) for term in terms)]:
            if each not in seen:
                seen.add(each)
                stack.append(each)


def _one_is_enough(formula: f.Formula) -> Iterator[Problem]:
    """Yield a problem for each list of which one element lets the whole call through."""
    for each in demanded_of_calls(formula):
        if "[]" in path_parts(each.path) and not each.every:
            what = f"one value of `{each.path}` that is so lets all its other values through"
            yield Problem(what, hint=f"write `every {each.path} ..` if all have to be so")


def _stars(formula: f.Formula) -> Iterator[Problem]:
    """Yield a problem for each text to be equal to that looks like a pattern of file names."""
    for each in conditions_in([formula]):
        values = each.value if isinstance(each.value, tuple) else (each.value,)
        for text in values if each.op in ("=", "!=", "in") else ():
            if isinstance(text, str) and _STAR.search(text):
                what = f"`{each.path}` is compared with the very text `{text}`: `*` stands"
                regex = re.escape(text).replace(r"\*", ".*").replace(r"\ ", " ")
                hint = f"write {{matches: '^{regex}$'}}, or {{under: FOLDER}} for paths"
                yield Problem(f"{what} for itself", hint=hint)


def _relative_paths(formula: f.Formula) -> Iterator[Problem]:
    """Yield a problem for each forbidden folder: a relative path is taken to start in it."""
    for part in conjuncts(formula):
        match part:
            case f.Always(f.Not(f.Happens(_, target))):
                folders = [
                    (each.path, each.value[0])
                    for match in target
                    for each in match.conditions
                    if each.op == "under" and isinstance(each.value, tuple)
                ]
                for path, folder in dict.fromkeys(folders):
                    what = (
                        f"every relative `{path}` is refused, since it is taken to lie in {folder}"
                    )
                    yield Problem(
                        what, hint="forbid what lies `outside` of folders that are allowed"
                    )


# --- what the call that is decided cannot be, and what it does not count as -----------------------


def _never_callable(formula: f.Formula) -> Iterator[Problem]:
    """Yield a problem for what is asked of a call and can only hold at another one.

    `G(called(pay) -> done(check))` lets no `pay` through, and neither does
    `G(O called(pay) -> !called(pay))`, since `O` includes the present.
    """
    for when, demanded in _conditional(formula):
        match when, demanded:
            case f.Happens("called", then), f.Happens(_, other) if _apart(then, other):
                said = f"`{_short(demanded)}` is asked of a call of `{then[0].names[0]}`"
                hint = f"for an earlier call write `Y O {_short(demanded)}`"
                yield Problem(
                    f"{said}, which is none: no such call would be let through", hint=hint
                )
            case f.Once(f.Happens("called", before), None), f.Not(f.Happens("called", then)):
                if _bare_names(before) >= {name for each in then for name in each.names} != set():
                    said = f"`{_short(when)}` includes the call that is decided"
                    hint = f"write `Y {_short(when)}` for an earlier one, or “at most once”"
                    yield Problem(f"{said}: not even the first would be let through", hint=hint)


def _conditional(formula: f.Formula) -> Iterator[tuple[f.Formula, f.Formula]]:
    """Yield the two sides of each implication that holds at every position."""
    for part in conjuncts(formula):
        if isinstance(part, f.Always) and part.bound is None:
            for each in conjuncts(part.body):
                match each:
                    case f.Implies(f.Not(f.Happens("done" | "failed") as left), f.Not(right)):
                        yield right, left
                    case f.Implies(left, right):
                        yield from ((left, demanded) for demanded in conjuncts(right))


def _apart(one: f.Target, other: f.Target) -> bool:
    """True if no call is of both, by the names of the tools alone."""
    names = [{name for each in target for name in each.names} for target in (one, other)]
    plain = all(each.names and not each.globs for each in (*one, *other))
    return plain and names[0].isdisjoint(names[1])


def _bare_names(target: f.Target) -> set[str]:
    """Return the tools of which the target covers every call."""
    bare = (each for each in target if not each.conditions and each.agent is None)
    return {name for each in bare for name in each.names}


def _one_more(formula: f.Formula) -> Iterator[Problem]:
    """Yield a problem for a cap on results that the call which is decided does not count for.

    Under `G(called(pay) -> count(done(pay)) <= 3)` a fourth call is let through.
    """
    always = (part.body for part in conjuncts(formula) if isinstance(part, f.Always))
    for each in (each for body in always for each in conjuncts(body)):
        yield from _beyond(each, ("<=", "<"), None)
    for when, each in _conditional(formula):
        if isinstance(when, f.Happens):
            yield from _beyond(each, ("<=",), when.target)


def only_told(formula: f.Formula) -> Iterator[Problem]:
    """Yield a problem for what a result demands of the past: then nothing can be stopped.

    What is said or asked of the answer itself is known no earlier.
    """
    for when, demanded in _conditional(formula):
        parts = when.parts if isinstance(when, f.And) else (when,)
        each_node = (*f.postorder(when), *f.postorder(demanded))
        answer = any(isinstance(each, (f.OutputIs, f.Output)) for each in each_node)
        for each in () if answer or looks_ahead(demanded) else parts:
            match each:
                case f.Happens("done" | "failed" as what, target):
                    said = f"no call is refused for `{_short(when)}`, which its result tells"
                    called = repr(f.Happens("called", target))
                    yield Problem(said, hint=f"write `{called}` for `{what}{called[6:]}`")
                    break


def _beyond(cap: f.Formula, signs: Collection[str], calls: f.Target | None) -> Iterator[Problem]:
    """Yield the problem of one cap, for these calls or (None) for all."""
    match cap:
        case f.Compare(f.Count(f.Happens("done" | "failed" as what, target)), sign, f.Const(n)):
            if sign not in signs or not isinstance(n, (int, float)):
                return
            if calls is not None and _apart(calls, target):
                return
            count, made = repr(cap.left), repr(f.Happens("called", target))
            hint = f"write `G({made} -> {count} < {n - (sign == '<')})`"
            if what == "done":
                hint = f"write `count({made} & !failed{made[6:]}) {sign} {n}`"
            said = f"`{count} {sign} {n}` lets one call more through"
            yield Problem(f"{said}: the one that is decided has no result yet", hint=hint)


# --- of the first position only -------------------------------------------------------------------


def _first_only(formula: f.Formula) -> Iterator[Problem]:
    for part in conjuncts(formula):
        if not _lasts(part):
            said = _short(part)
            yield Problem(
                f"`{said}` would be judged at the first position only",
                hint=f"write `G({said})`; if only the first position is meant, `initially({said})`",
            )


def _lasts(part: f.Formula) -> bool:
    """True if all that the formula reads stands below an operator that goes through the trace."""
    stack: list[f.Node] = [part]
    while stack:
        node = stack.pop()
        if isinstance(node, (*_JUNCTIONS, f.Next, f.WeakNext)):
            stack.extend(f.children(node))
        elif not isinstance(node, (*_LASTING, f.Constant)):
            return False
    return True


def _short(formula: f.Formula) -> str:
    text = repr(formula)
    return text if len(text) <= _LONG else "f"


# --- seconds from the call before -----------------------------------------------------------------


def _from_the_call_before(nodes: list[f.Node]) -> Iterator[Problem]:
    for node in nodes:
        if type(node) not in _BEFORE:
            continue
        assert isinstance(node, (f.Yesterday, f.WeakYesterday))
        windows = list(_windows(node.body))
        if windows and all(isinstance(each, (f.Once, f.Historically)) for each in windows):
            yield from (_measured(node, each) for each in windows[:1])


def _windows(body: f.Formula) -> Iterator[f.Formula | None]:
    """Yield the operators with a bound in seconds below connectives; None for anything else."""
    stack: list[f.Node] = [body]
    while stack:
        node = stack.pop()
        if isinstance(node, _JUNCTIONS):
            stack.extend(f.children(node))
        elif isinstance(node, (f.Once, f.Historically)) and isinstance(node.bound, f.Seconds):
            yield node
        else:
            yield None


def _measured(node: f.Formula, window: f.Formula | None) -> Problem:
    assert isinstance(window, (f.Once, f.Historically))
    assert isinstance(window.bound, f.Seconds)
    seconds, body = f"{window.bound.count:.15g}", window.body
    if isinstance(window, f.Historically):
        body = body.body if isinstance(body, f.Not) else f.Not(body)
    sign = "<=" if isinstance(window, f.Once) else ">"
    hint = f"write `age({_short(body)}) {sign} {seconds}`, which measures from this call"
    if any(isinstance(each, f.Happens) and each.what == "called" for each in f.postorder(body)):
        hint += f"; where this call may be one itself, `count[<={seconds}s]({_short(body)})`"
    return Problem(f"`{node!r}` measures {seconds} seconds from the position before", hint=hint)


# --- a next position that nobody asked for --------------------------------------------------------


def _stronger_than_meant(formula: f.Formula) -> Iterator[Problem]:
    """Yield a problem for each `X f` where f holds if nothing happens.

    Only the session's end would break it.
    """
    for node in _demanded(formula):
        if _holds_without_events(node.body, True):
            said = _short(node.body)
            yield Problem(
                f"`X {said}` is also broken by a session that ends there, since `X` demands a next "
                "position",
                hint=f"write `WX` for “if there is a next position”: `WX {said}`",
            )


def _demanded(formula: f.Formula) -> Iterable[f.Next]:
    """Return the strong next operators that the guarantee demands, and does not negate."""
    found: dict[f.Next, None] = {}
    if not any(isinstance(node, f.Next) for node in f.postorder(formula)):
        return found
    stack: list[tuple[f.Node, bool]] = [(formula, True)]
    seen = set(stack)
    while stack:
        node, sign = stack.pop()
        if isinstance(node, f.Next) and sign:
            found[node] = None
        for inner in _signed(node, sign):
            if inner not in seen:
                seen.add(inner)
                stack.append(inner)
    return found


def _signed(node: f.Node, sign: bool) -> list[tuple[f.Node, bool]]:
    """Return the parts of a formula, each with True if its truth helps that of the whole."""
    match node:
        case f.Not(body):
            return [(body, not sign)]
        case f.Implies(left, right):
            return [(left, not sign), (right, sign)]
        case f.Iff(left, right):
            return [(each, either) for each in (left, right) for either in (True, False)]
        case f.Term():
            return []
    return [(each, sign) for each in f.children(node) if isinstance(each, f.Formula)]


def _holds_without_events(root: f.Formula, wanted: bool) -> bool:
    """True if the formula has the truth `wanted` when none of its events happens or has
    happened.
    """
    known: dict[f.Node, bool | None] = {}
    for node in f.postorder(root):
        if isinstance(node, f.Formula):
            known[node] = _truth_without_events(node, known)
    return known[root] is wanted


def _truth_without_events(node: f.Formula, known: dict[f.Node, bool | None]) -> bool | None:
    """Return the truth of a formula if none of its events happens; None if it is unknown."""
    match node:
        case f.Constant(value):
            return bool(value)
        case f.Happens() | f.MessageBy() | f.Observed() | f.TextMatches() | f.TextIs():
            return False
        case f.Not(body):
            inner = known[body]
            return None if inner is None else not inner
        case f.And(parts) | f.Or(parts):
            return _joined([known[each] for each in parts], isinstance(node, f.Or))
        case f.Implies(left, right):
            first = known[left]
            return _joined([None if first is None else not first, known[right]], True)
        case f.Until(_, right) | f.Since(_, right):
            return known[right]
        case f.WeakUntil(left, right):
            return _joined([known[left], known[right]], True)
        case f.Release(_, right):
            return known[right]
        case f.Next() | f.Yesterday():
            return False
        case f.WeakNext() | f.WeakYesterday():
            return True
        case f.Eventually(body) | f.Always(body) | f.Once(body) | f.Historically(body):
            return known[body]
    return None


def _joined(parts: list[bool | None], settles: bool) -> bool | None:
    """Return the truth of a disjunction (`settles`) or a conjunction; None if unknown."""
    if settles in parts:
        return settles
    return None if None in parts else not settles
