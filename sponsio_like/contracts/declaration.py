"""Patterns: one declaration each, from which everything else about the pattern is derived.

In: a function from arguments to a formula, its sentences, traces that keep and break it.
Out: the YAML key, the sentence, the listing, the docs row, the first tests.

    @pattern(
        "exclusion",
        "`{first}` and `{second}` never meet",
        keeps=("", "a", "a a"), breaks=("a b",), example={"first": "a", "second": "b"},
    )
    def never_both(first: Tools, second: Tools) -> Formula:
        '''A session with `first` has no `second`.'''

How sentences are written stands in `templates.py`. A parameter `counts: Counts` with a default lets
users choose what counts.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from sponsio_like.contracts.parameters import (
    Default,
    Field,
    NumberField,
    Reader,
    Tools,
    expects,
    of_kind,
    reader_of,
)
from sponsio_like.contracts.slips import check_idle_missing
from sponsio_like.contracts.targets import NOTHING, Vocabulary, known_field
from sponsio_like.contracts.templates import argument_text, fill, made_name, named_argument
from sponsio_like.contracts.typed_fields import amount_path
from sponsio_like.errors import ContractError, Problems, changed, closest
from sponsio_like.logic.formula import Formula
from sponsio_like.outcome import Decision


@dataclass(frozen=True, slots=True)
class Rule:
    """One clause of a guarantee: a formula, and the sentence or pattern that it was written as.

    `by` splits the trace: one monitor for each combination of values of these argument paths
    (`@agent`: of the calling agent). A call that lacks one of them violates, if such calls can.
    `answer` is the rule's own strategy, if it brings one. `cap`: its sum over the session never
    falls, since what would lower it violates. `single`: a call with several values at a path
    of `by` violates. `authored`: it stands in a contract as somebody wrote it, so that what can
    hardly be meant is refused.
    """

    formula: Formula
    sentence: str = ""
    pattern: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)
    by: tuple[str, ...] = ()
    answer: Decision | None = None
    authored: bool = field(default=False, compare=False)
    cap: bool = field(default=False, compare=False)
    single: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Parameter:
    """One argument of a pattern: what it expects, and its default, if it has one."""

    name: str
    annotation: Any
    default: Any = inspect.Parameter.empty

    @cached_property
    def read(self) -> Reader:
        """The function that reads its value."""
        return reader_of(self.annotation)

    @cached_property
    def required(self) -> bool:
        """True if the argument has to be given."""
        return self.default is inspect.Parameter.empty

    @property
    def expects(self) -> str:
        """The values that the argument may have, in words."""
        return expects(self.annotation)


@dataclass(frozen=True, eq=False)
class Pattern:
    """A declared pattern; calling it with arguments makes a `Rule`."""

    name: str
    family: str
    sentences: tuple[str, ...]
    summary: str
    build: Callable[..., Rule | Formula]
    keeps: tuple[str, ...]
    breaks: tuple[str, ...]
    example: Mapping[str, Any]
    parameters: tuple[Parameter, ...]
    says: tuple[str, ...] = ()
    """The other phrasings that mean the pattern, in the notation of `prose/grammar.py`."""
    whose: Mapping[str, str] = field(default_factory=dict)
    """The parameters of kind `Field` that only some calls have, each with the parameter of those
    calls.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Rule:
        """Return the rule for these arguments, read as in a contract file.

        Raises `ContractError` with every mistake in them.
        """
        names = [parameter.name for parameter in self.parameters]
        if len(args) > len(names):
            raise ContractError.of(f"`{self.name}` takes {len(names)} arguments", self.usage)
        given = dict(zip(names, args, strict=False))
        if twice := given.keys() & kwargs.keys():
            raise ContractError.of(f"`{self.name}` is given `{min(twice)}` twice", self.usage)
        return self.rule({**given, **kwargs})

    def rule(self, given: Mapping[str, Any], words: Vocabulary = NOTHING) -> Rule:
        """Return the rule for arguments by name.

        Raises `ContractError` with every mistake in them.
        """
        problems = Problems()
        self._names(given, problems)
        values: dict[str, Any] = {}
        for parameter in self.parameters:
            name = parameter.name
            if given.get(name) is not None:
                values[name] = problems.attempt((name,), parameter.read, given[name], words)
            elif not parameter.required:
                values[name] = self._default(parameter, given, words, problems)
        problems.check()
        self._fields(values, words, problems)
        problems.check()
        self._amounts(values, words)
        try:
            built = self.build(**values)
        except ContractError as error:
            raise changed(error, lambda p: replace(p, what=f"`{self.name}`: {p.what}")) from None
        formula = built.formula if isinstance(built, Rule) else built
        for problem in check_idle_missing(formula):
            problems.found.append(replace(problem, path=_said("missing", given), of_key=True))
        problems.check()
        kept = {key: value for key, value in given.items() if value is not None}
        if not isinstance(built, Rule):
            return Rule(formula, self.sentence(kept), self.name, kept)
        sentence = built.sentence or self.sentence(kept)
        return replace(built, sentence=sentence, pattern=self.name, arguments=kept)

    def _names(self, given: Mapping[str, Any], problems: Problems) -> None:
        for name in given:
            if name not in self._known:
                hint = closest(name, self._known)
                what = f"`{self.name}` has no argument `{name}`"
                problems.add(what, hint, str(name), of_key=True)
        for parameter in self.parameters:
            if parameter.required and given.get(parameter.name) is None:
                problems.add(f"`{self.name}` needs `{parameter.name}`", self.usage)

    def _default(
        self, parameter: Parameter, given: Mapping[str, Any], words: Vocabulary, problems: Problems
    ) -> Any:
        if not isinstance(parameter.default, Default):
            return parameter.default
        try:
            made = made_name(parameter.default, given)
        except KeyError as missing:
            if given.get(missing.args[0]) is not None:
                what = f"`{missing.args[0]}` is more than one tool, so `{parameter.name}` is needed"
                problems.add(what, f"write {parameter.name}: ..")
            return None
        if parameter.default.lacking(made, words):
            return None
        known = words if made in words.actions else NOTHING
        return parameter.read(made, known)  # a tool that does not exist is fine: no call has it

    def lacks(self, given: Mapping[str, Any], words: Vocabulary) -> bool:
        """True if an optional default would name a tool that the inventory does not have."""
        optional = [
            each
            for each in self.parameters
            if isinstance(each.default, Default) and each.default.optional
        ]
        return any(
            given.get(each.name) is None and self._default(each, given, words, Problems()) is None
            for each in optional
        )

    def fields(self, given: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
        """Yield each path in the arguments, its parameter, and that of the calls that have it."""
        calls = [name for name in self._calls if given.get(name) is not None]
        for name in (name for name in self._paths if given.get(name) is not None):
            for path in [given[name]] if isinstance(given[name], str) else given[name]:
                yield from ((path, name, e) for e in calls if self.whose.get(name, e) == e)

    def _fields(self, values: Mapping[str, Any], words: Vocabulary, problems: Problems) -> None:
        """Note every field that the calls it is read from do not have."""
        if words.tools is None:
            return
        for path, name, calls in self.fields(values):
            for match in values[calls]:
                known_field(path, match, words, (name,), problems)

    @cached_property
    def _known(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.parameters)

    @cached_property
    def _defaults(self) -> dict[str, Any]:
        each = {one.name: one.default for one in self.parameters if not one.required}
        return {name: default for name, default in each.items() if default is not None}

    def _of_kind(self, *wanted: Any) -> tuple[str, ...]:
        """Return the parameters of these kinds."""
        return tuple(each.name for each in self.parameters if of_kind(each.annotation, *wanted))

    @cached_property
    def _calls(self) -> tuple[str, ...]:
        return self._of_kind(Tools)

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        return self._of_kind(Field, NumberField)

    @cached_property
    def _numbers(self) -> tuple[str, ...]:
        """The fields that are compared as numbers."""
        return self._of_kind(NumberField)

    def _amounts(self, values: dict[str, Any], words: Vocabulary) -> None:
        """Have the amount compared, where a number is asked of a field of the kind `money`."""
        for name in self._numbers:
            tools = words.meant(values[self._calls[0]])
            values[name] = amount_path(values[name], map(words.kinds_of, tools))

    @property
    def usage(self) -> str:
        """The pattern as it is written: `must_precede(first, then, counts=done)`."""
        shown = [
            p.name if p.required else f"{p.name}={argument_text(p.default)}"
            for p in self.parameters
        ]
        return f"`{self.name}({', '.join(shown)})`"

    def sentence(self, given: Mapping[str, Any]) -> str:
        """Return the demand in words: the sentence with most arguments, then the others."""
        best, said = "", frozenset[str]()
        values = {**self._defaults, **given}
        for template in self.sentences:
            text, names = fill(template, values)
            if text and (not best or len(names & given.keys()) > len(said & given.keys())):
                best, said = text, names
        rest = {name: value for name, value in given.items() if name not in said}
        tail = ", ".join(named_argument(name, value) for name, value in rest.items())
        if best and tail:
            return f"{best} ({tail})"
        return best or f"{self.name}: {tail}"


def _said(key: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the path of this key in the first argument that is a mapping and has it; or `()`."""
    names = (name for name, each in given.items() if isinstance(each, Mapping) and key in each)
    return next(((name, key) for name in names), ())


# --- declaring --------------------------------------------------------------------------------

CATALOG: dict[str, Pattern] = {}
"""The declared patterns, by name."""
_CHECKS: list[Callable[[Pattern], None]] = []
FAMILIES = (
    "safety", "compliance", "operational", "exclusion", "arguments", "texts", "agentic", "resource",
    "approval", "identity", "output", "values",
)  # fmt: skip
"""The families in reading order; those of users follow."""


def when_declared(check: Callable[[Pattern], None]) -> None:
    """Register a function that is called with each pattern declared from now on, and may raise."""
    _CHECKS.append(check)


def catalog() -> list[Pattern]:
    """Return the declared patterns, in reading order."""
    places = {family: i for i, family in enumerate(FAMILIES)}
    return sorted(CATALOG.values(), key=lambda each: places.get(each.family, len(places)))


def pattern(
    family: str,
    *sentences: str,
    keeps: Iterable[str],
    breaks: Iterable[str],
    example: Mapping[str, Any],
    says: Iterable[str] = (),
    whose: Mapping[str, str] | None = None,
) -> Callable[[Callable[..., Rule | Formula]], Pattern]:
    """Declare the decorated function as a pattern: its name is the key, its docstring the meaning.

    `sentences` are templates (`templates.py`), `says` other phrasings of them
    (`sponsio_like/contracts/prose/grammar.py`), `keeps` and `breaks` traces, `example` arguments by
    name; `whose` names the parameter of the calls that have a field. Raises `ContractError` for a
    name that is taken, and for a trace that, with the arguments of the example, is judged
    otherwise.
    """

    def declare(build: Callable[..., Rule | Formula]) -> Pattern:
        name = build.__name__
        if name in CATALOG:
            raise ContractError.of(f"two patterns are named `{name}`", "rename one")
        hints = typing.get_type_hints(build, include_extras=True)
        parameters = tuple(
            Parameter(p.name, hints[p.name], p.default)
            for p in inspect.signature(build).parameters.values()
        )
        summary = inspect.cleandoc(build.__doc__ or "")
        declared = Pattern(
            name,
            family,
            sentences,
            summary,
            build,
            tuple(keeps),
            tuple(breaks),
            dict(example),
            parameters,
            tuple(says),
            whose or {},
        )
        return _registered(declared)

    return declare


def _registered(declared: Pattern) -> Pattern:
    """Register a pattern, and return it; one that a check refuses is forgotten."""
    CATALOG[declared.name] = declared
    try:
        for each in _CHECKS:
            each(declared)
    except ContractError:
        del CATALOG[declared.name]
        raise
    return declared


def find_pattern(name: Any) -> Pattern:
    """Return the pattern of this name. Raises `ContractError` with the closest names."""
    if isinstance(name, str) and name in CATALOG:
        return CATALOG[name]
    raise ContractError.of(f"unknown pattern `{name}`", closest(name, CATALOG))
