"""Contracts: the frozen `Contract` with its builder, and the readers of its parts.

In: a builder, a YAML file (`loader.py`), sentences (`sentences.py`). Out: a frozen `Contract`.

    contract("checked first").assume("called `refund`").guarantees(must_precede("check", "refund"))
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import sponsio_like.logic.formula as f
from sponsio_like.contracts.about import (
    UNSAID,
    About,
    read_advice,
    read_severity,
    read_tags,
    read_words,
)
from sponsio_like.contracts.conditions import assumption, condition, formula, with_actions
from sponsio_like.contracts.declaration import Rule, find_pattern
from sponsio_like.contracts.guarantees import check_meant
from sponsio_like.contracts.operands import check_keys
from sponsio_like.contracts.sentences import read_sentence
from sponsio_like.contracts.strategies import strategy
from sponsio_like.contracts.targets import NOTHING, Vocabulary
from sponsio_like.contracts.typed_fields import conditions_in
from sponsio_like.errors import ContractError, Problems, changed, closest, read_at, read_each
from sponsio_like.events import inputs_of
from sponsio_like.logic import looks_ahead
from sponsio_like.logic.formula import FALSE, Formula
from sponsio_like.outcome import Decision, Mode, Severity, Violation
from sponsio_like.values import kind_step, path_parts

Condition: TypeAlias = "str | Formula | Mapping[str, Any]"
"""The sentence "called `x`", a formula, or an atom: {"ctx": {"stage": "review"}}."""
Guarantee: TypeAlias = "str | Formula | Rule | Mapping[str, Any]"
"""A pattern's sentence, a formula, or a pattern: must_precede("check", "refund")."""

StrategyLike: TypeAlias = "str | Decision | Mapping[str, Any] | Callable[[Violation], Any]"
"""A strategy: its name, `{name: {option: value}}`, a callable of yours, or the path of one."""

Segment: TypeAlias = Literal["after", "before", "between", "after_until"]
SEGMENTS: tuple[Segment, ...] = get_args(Segment)
MODES: tuple[Mode, ...] = get_args(Mode)


@dataclass(frozen=True, slots=True)
class Scope:
    """The stretch of a trace in which a guarantee is demanded (Dwyer 1999).

    Each segment starts afresh.
    """

    kind: Segment
    start: Formula | None = None
    stop: Formula | None = None


@dataclass(frozen=True, slots=True)
class Contract:
    """One contract: assumption, guarantee, scope, strategy and mode, under a name.

    `where` is the `file:line:column` of its name.

    The methods return changed copies. They raise `ContractError` for what they do not understand.
    """

    name: str
    rules: tuple[Rule, ...] = ()
    assumption: Formula | None = None
    segment: Scope | None = None
    answer: Decision | None = None
    mode: Mode | None = None
    where: str = ""
    on_world: bool = False
    about: About = UNSAID
    share: float = 1.0
    """The part of sessions in which it is enforced, if it is; in the others it observes."""

    def assume(self, when: Condition) -> Contract:
        """Return a copy that applies only where this holds.

        It is "called `refund`" (by now), an atom, or a formula.
        """
        if self.assumption is not None:
            raise self._wrong("`assume` is given twice", 'say both in one formula: "f & g"')
        return replace(self, assumption=self._read(assumption, when))

    def guarantees(self, *what: Guarantee) -> Contract:
        """Return a copy that also demands all of these: patterns, formulas, or sentences."""
        problems = Problems()
        rules = [problems.attempt((), read_guarantee, each) for each in what]
        if problems.found:
            raise self._located(ContractError(*problems.found))
        return replace(self, rules=(*self.rules, *(rule for rule in rules if rule is not None)))

    def strategy(self, answer: StrategyLike) -> Contract:
        """Return a copy with this strategy: "block" (the default), "escalate", a redirect, ..

        It may also be a function that is given the `Violation` and answers with one of these.
        """
        return replace(self, answer=self._read(strategy, answer))

    def in_mode(self, mode: Mode) -> Contract:
        """Return a copy in this mode.

        `observe`: violations are logged, nothing is stopped. `enforce`: the strategy acts.
        """
        return replace(self, mode=self._read(read_mode, mode), share=1.0)

    def observe(self) -> Contract:
        """Return a copy that logs violations and stops nothing."""
        return self.in_mode("observe")

    def enforce(self, share: float | str = 1.0) -> Contract:
        """Return a copy whose strategy acts on violations.

        `share`: in so many sessions ("10%", 0.1), chosen by a hash of their ids; in the others it
        observes.
        """
        return replace(self.in_mode("enforce"), share=self._read(read_share, share))

    def world(self) -> Contract:
        """Return a copy on the world, such as money that was paid: its state is never rewound.

        No checkpoint, fork or snapshot rewinds it: it is kept in `world=`, given to the session.
        """
        return replace(self, on_world=True)

    def because(self, why: str) -> Contract:
        """Return a copy with its reason, which is shown instead of a formula.

        The model, the log and the report show it.
        """
        return self._about(because=self._read(read_words, why))

    def owner(self, who: str) -> Contract:
        """Return a copy with the name of its owner."""
        return self._about(owner=self._read(read_words, who))

    def severity(self, level: Severity) -> Contract:
        """Return a copy that says how bad a violation is: low, medium, high or critical."""
        return self._about(severity=self._read(read_severity, level))

    def tags(self, *names: str) -> Contract:
        """Return a copy with words to find it by."""
        return self._about(tags=self._read(read_tags, names))

    def advice(self, **texts: str) -> Contract:
        """Return a copy with words for the model, by language: `.advice(de="erst `check`")`.

        They stand in the place of the advice that is worked out, which `{how}` puts into them;
        `{tool}` and `{contract}` are the names. The guard says its `language`.
        """
        return self._about(advice=self._read(read_advice, texts))

    def _about(self, **said: Any) -> Contract:
        return replace(self, about=replace(self.about, **said))

    def after(self, start: Condition) -> Contract:
        """Return a copy whose guarantee binds from the first position where `start` holds."""
        return self._scoped("after", start)

    def before(self, stop: Condition) -> Contract:
        """Return a copy whose guarantee binds until `stop` first holds, even if it never does."""
        return self._scoped("before", stop)

    def between(self, start: Condition, stop: Condition) -> Contract:
        """Return a copy whose guarantee binds from each `start` to the next `stop`.

        It binds at once, before a `stop` is seen; what is still owed in a segment when the session
        ends is forgiven.
        """
        return self._scoped("between", [start, stop])

    def after_until(self, start: Condition, stop: Condition) -> Contract:
        """Return a copy whose guarantee binds from each `start` to the next `stop`, or to the end.

        What is still owed in a segment when the session ends is unfulfilled; that is the difference
        to `between`.
        """
        return self._scoped("after_until", [start, stop])

    def _scoped(self, kind: Segment, ends: Any) -> Contract:
        if self.segment is not None:
            raise self._wrong("a scope is given twice", "one contract has one scope")
        return replace(self, segment=self._read(read_scope, {kind: ends}))

    def _read(self, read_it: Any, value: Any) -> Any:
        try:
            return read_it(value)
        except ContractError as error:
            raise self._located(error) from None

    def _located(self, error: ContractError) -> ContractError:
        mine = f"contract `{self.name}`"
        return changed(error, lambda p: replace(p, where=f"{mine}, {p.where}" if p.where else mine))

    def _wrong(self, what: str, hint: str) -> ContractError:
        return self._located(ContractError.of(what, hint))


def contract(name: str) -> Contract:
    """Return a new contract: `contract("name").assume(...).guarantees(...).strategy(...)`.

    Raises `ContractError` if the name is no text.
    """
    return Contract(read_name(name))


def read_name(value: Any) -> str:
    """Return the name of a contract without blanks around it.

    Raises `ContractError` if it is no text.
    """
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise ContractError.of(f"`{value}` is not the name of a contract", "write it as text")


# --- reading its parts ----------------------------------------------------------------------------


def read_guarantee(value: Any, words: Vocabulary = NOTHING) -> Rule:
    """Read one guarantee: a rule, a formula, a sentence, `{pattern: ..}`, or `{ltl: ..}`.

    Raises `ContractError` for what is none of them.
    """
    match value:
        case Rule():
            return _authored(value) if value.pattern else value
        case Formula():
            return _authored(Rule(with_actions(value, words)))
        case str():
            rule = _authored(read_sentence(value, words))
            return replace(rule, sentence=value.strip()) if _asks_of_texts(rule) else rule
        case Mapping() if "pattern" in value:
            return _authored(_pattern(value, words))
        case Mapping():
            return _formula(value, words)
    raise ContractError.of(
        f"`{value}` is not a guarantee", "write {pattern: ..}, {ltl: ..}, or a pattern's sentence"
    )


def _asks_of_texts(rule: Rule) -> bool:
    """True if a call is compared by what a text means, for which patterns have no good words."""
    if rule.pattern not in ("absent", "no_other_call"):
        return False
    paths = [path_parts(each.path) for each in conditions_in([rule.formula])]
    return any(kind_step(part) is not None for parts in paths for part in parts)


def _authored(rule: Rule) -> Rule:
    """Return the rule, marked as written by somebody.

    Raises `ContractError` for what can hardly be meant.
    """
    check_meant(rule.formula)
    written = (rule.formula, rule.sentence, rule.pattern, rule.arguments)
    return Rule(*written, rule.by, rule.answer, authored=True, cap=rule.cap, single=rule.single)


def _pattern(value: Mapping[str, Any], words: Vocabulary) -> Rule:
    declared = read_at(("pattern",), find_pattern, value["pattern"])
    return declared.rule({k: v for k, v in value.items() if k != "pattern"}, words)


def _formula(value: Mapping[str, Any], words: Vocabulary) -> Rule:
    problems = Problems()
    check_keys(value, ("pattern", "ltl"), "guarantee", problems)
    if not value:
        problems.add("an empty guarantee", "write {pattern: ..} or {ltl: ..}")
    found = problems.attempt(("ltl",), formula, value["ltl"], words) if "ltl" in value else None
    problems.check()
    return read_at(("ltl",), _authored, Rule(FALSE if found is None else found))


def read_share(value: Any) -> float:
    """Return a part of sessions: `10%`, or a number up to 1. Raises `ContractError`."""
    text = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", value) if isinstance(value, str) else None
    number = float(text[1]) / 100 if text else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number <= 1:
        raise ContractError.of(f"`{value}` is no part of sessions", "write {enforce: 10%}")
    return float(number)


def read_modes(value: Any) -> tuple[Mode, float]:
    """Return a mode of a contract and its part of sessions: `observe`, `{enforce: 10%}`."""
    if isinstance(value, Mapping) and list(value) == ["enforce"]:
        return "enforce", read_share(value["enforce"])
    return read_mode(value), 1.0


def read_mode(value: Any) -> Mode:
    """Return the mode of this name. Raises `ContractError` if there is none."""
    for mode in MODES:
        if value == mode:
            return mode
    raise ContractError.of(f"unknown mode `{value}`", closest(value, MODES))


def read_world(value: Any) -> bool:
    """Return `world:` of a contract: true or false. Raises `ContractError` for anything else."""
    if isinstance(value, bool):
        return value
    raise ContractError.of(f"`{value}` is not true or false", "write world: true, or leave it out")


def read_scope(value: Any, words: Vocabulary = NOTHING) -> Scope:
    """Read a scope: `{after: f}`, `{before: f}`, `{between: [f, g]}`, `{after_until: [f, g]}`.

    Raises `ContractError` for anything else.
    """
    if not isinstance(value, Mapping):
        raise ContractError.of(f"`{value}` is not a scope", "write {after: {called: x}}")
    problems = Problems()
    check_keys(value, SEGMENTS, "scope", problems)
    kinds = [kind for kind in SEGMENTS if kind in value]
    if not problems.found and len(kinds) != 1:
        problems.add("a scope has one segment", "write after, before, between or after_until")
    problems.check()
    kind = kinds[0]
    if kind in ("after", "before"):
        end = read_at((kind,), _end, value[kind], words)
        return Scope(kind, start=end) if kind == "after" else Scope(kind, stop=end)
    ends = value[kind]
    if not isinstance(ends, (list, tuple)) or len(ends) != 2:
        problems.add(f"`{kind}` needs two conditions", f"write {kind}: [f, g]", kind)
    problems.check()
    start, stop = read_at((kind,), read_each, _end, ends, words)
    return Scope(kind, start, stop)


def _end(value: Any, words: Vocabulary) -> Formula:
    found = condition(value, words)
    if looks_ahead(found):
        raise ContractError.of(
            "the end of a segment cannot speak of the future", "use atoms, O, H, Y, S"
        )
    return found


def contracts_of(given: Any) -> tuple[Contract, ...]:
    """Return the contracts of a guard, of which one or several are given.

    Raises `ContractError` for what is no `Contract`.
    """
    each = [given] if isinstance(given, (Contract, str, Mapping, Rule)) else given
    found = tuple(each) if isinstance(each, Iterable) else (each,)
    for one in found:
        if not isinstance(one, Contract):
            hint = (
                "write `contract(name).guarantees(..)`; a file is read by `Guard.from_yaml(path)`"
            )
            raise ContractError.of(f"`{one}` is no contract", hint)
    return found


def contract_place(contract: Contract) -> str:
    """Return where a contract stands, for messages: its place in a file, else its name."""
    return contract.where or f"contract `{contract.name}`"


def fingerprint(contract: Contract) -> str:
    """Return a hash of what determines a contract's state: name, guarantee, assumption, scope."""
    scope = contract.segment
    parts: list[Any] = [
        contract.name,
        contract.assumption,
        scope and (scope.kind, scope.start, scope.stop),
    ]
    parts += [(rule.formula, rule.by) for rule in contract.rules]
    return hashlib.blake2b(repr(parts).encode(), digest_size=12).hexdigest()


ALL_INPUTS = frozenset(
    {"results", "messages", "usage", "agents", "depth", "facts", "time", "finish", "tool_names"}
)


def inputs_needed(contract: Contract) -> frozenset[str]:
    """Return the inputs that a session has to deliver for this contract."""
    found: set[str] = set()
    for root in formulas(contract):
        for node in f.postorder(root):
            found |= inputs_of(node)
            if isinstance(getattr(node, "bound", None), f.Seconds) or isinstance(
                node, (f.Age, f.FactAge, f.ApprovalAge)
            ):
                found.add("time")
            if isinstance(node, f.Until) or (isinstance(node, f.Eventually) and node.bound is None):
                found.add("finish")
    return frozenset(
        found | {"agents"} if any("@agent" in rule.by for rule in contract.rules) else found
    )


def formulas(contract: Contract) -> list[f.Formula]:
    """Return every formula of the contract: guarantees, assumption, ends of its scope."""
    scope = contract.segment
    extra = [contract.assumption, scope.start if scope else None, scope.stop if scope else None]
    return [
        *(rule.formula for rule in contract.rules),
        *(each for each in extra if each is not None),
    ]
