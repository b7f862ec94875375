"""Reads a sentence into every thing that it can say, as plain data.

In: a sentence, the phrasings, and which bare words are names of tools. Out: each `Reading`: which
phrasing it is, with its arguments as in a contract file, and the condition in front or behind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from sponsio_like.contracts.prose.bare_words import (
    ANYBODY,
    CURRENCIES,
    ENDS_LIST,
    NO_ARGUMENTS,
    NO_FIELDS,
    POINTERS,
    REGEX,
    SHAPE,
    SIGNS,
    SPECIAL,
    VERB,
    singulars,
)
from sponsio_like.contracts.prose.forest import trees
from sponsio_like.contracts.prose.grammar import grammar_for
from sponsio_like.contracts.prose.numbers import read_number, seconds_of
from sponsio_like.contracts.prose.signs import one_spelling

if TYPE_CHECKING:
    from lark import Token

READINGS_CAP = 64
"""The most readings of one sentence that are compared."""
LONGEST_SENTENCE = 600
"""The most characters of a sentence."""
READING = ["select", "explain", "show", "describe"]
"""The verbs of SQL that read; `EXPLAIN ANALYZE DELETE` has the verb `delete` as well."""

ALIKE = ("match", "requires", "by", "trigger", "forbidden")
"""The parameters of patterns whose calls have the same value where a sentence says so."""
FOR_THE_SAME = re.compile(r"\bfor (?:the )?same\b", re.IGNORECASE)
CONSTANTS: Mapping[str, Any] = {
    "zero": 0,
    "single": 1,
    "each_call": "call",
    "all_others": "*",
    "any_tool": {"tool": "*"},
    "any_call": {"tool": "*"},
    "by_values": "values",
}
"""The kinds of arguments whose value is told by the phrasing alone, and it."""

ORDERED = frozenset({"gt", "lt", "ge", "le"})
"""The tests in words that compare numbers by size. “`path` under `/etc`” is about no number."""

Phrasings = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading: the name of the phrasing's owner, its arguments, and when it is demanded.

    `when` is None, or a pair: `when`, `unless`, `after` or `before`, and a condition or tools.
    """

    name: str
    arguments: dict[str, Any] = field(hash=False)
    when: tuple[str, Any] | None = None
    currency: str = ""
    """The currency in which an amount is said: `EUR`; empty without one."""
    signs: str = ""
    """A text to search for that may be a regular expression, or itself: `$100`, `C++`."""


class NotSaid(ValueError):
    """A reading that is none: a bare word that is no tool, a number that is none."""


def sayings(
    sentence: str, phrasings: Phrasings, is_tool: Callable[[str], bool]
) -> Iterator[Reading]:
    """Yield each reading of the sentence as a demand; one that several phrasings have, once."""
    sentence = one_spelling(sentence)
    known: list[Reading] = []
    for tree in _trees(sentence, phrasings, "start"):
        try:
            said = _Reader(sentence, is_tool).sentence(tree, phrasings)
        except NotSaid:
            continue
        if said not in known:
            known.append(said)
            yield said


def conditions(sentence: str, is_tool: Callable[[str], bool]) -> Iterator[Any]:
    """Yield each reading of the sentence as a condition."""
    sentence = one_spelling(sentence)
    for tree in _trees(sentence, (), "condition_alone"):
        try:
            yield _Reader(sentence, is_tool).condition(tree.children[0])
        except NotSaid:
            continue


def _trees(sentence: str, phrasings: Phrasings, start: str) -> Iterator[Any]:
    if not sentence.strip() or len(sentence) > LONGEST_SENTENCE:
        return
    yield from islice(trees(grammar_for(phrasings), start, sentence), READINGS_CAP)


class _Reader:
    """The values in one tree. Its methods raise `NotSaid`."""

    def __init__(self, sentence: str, is_tool: Callable[[str], bool]) -> None:
        self.source = sentence
        self.is_tool = is_tool
        self.currency = self.signs = ""

    # --- the sentence ---------------------------------------------------------------------------

    def sentence(self, tree: Any, phrasings: Phrasings) -> Reading:
        """Return what a tree of the rule `start` says."""
        when = None
        name, given = "", dict[str, Any]()
        if tree.children[0].data == "only_if":
            tools, condition = tree.children[0].children
            return Reading(
                "absent", {"match": self.tools(tools)}, ("unless", self.condition(condition))
            )
        if tree.children[0].data in ("only_by", "not_by", "may_only"):
            return self._by_agent(tree.children[0])
        for child in tree.children:
            if re.fullmatch(r"p\d+", child.data):
                name, _ = phrasings[int(child.data[1:])]
                given = self._arguments(child)
            elif child.data in ("when", "unless"):
                when = (child.data, self.condition(child.children[0]))
            else:
                when = (child.data, self.tools(child.children[0]))
        if name == "tool_allowlist" and tree.children[-1].data in ("when", "unless"):
            raise NotSaid("“only call `x` if ..” is about `x`, and no list of tools")
        once = name == "duplicate_call_limit" and given.get("limit") == 1
        if once and FOR_THE_SAME.search(self.source):
            raise NotSaid("“once for the same `x`” counts tries, too, as `idempotent` does")
        return Reading(name, given, when, self.currency, self.signs)

    def _by_agent(self, tree: Any) -> Reading:
        *names, tools = sorted(tree.children, key=lambda each: each.data != "agent_name")
        agents, calls = [["agent", self.word(each)] for each in names], self.tools(tools)
        if tree.data == "may_only":
            listed = calls if isinstance(calls, list) else [calls]
            return Reading("tool_allowlist", {"tools": listed}, ("when", agents[0]))
        if tree.data == "only_by":
            these = agents[0] if len(agents) == 1 else ["either", *agents]
            return Reading("absent", {"match": calls}, ("unless", these))
        ((_, agent),) = agents
        match = calls if isinstance(calls, dict) else {"tool": calls}
        return Reading("absent", {"match": {**match, "agent": agent}})

    def _arguments(self, tree: Any) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for child in tree.children:
            name, _, kind = child.data.partition("__")
            read = getattr(self, kind, None)
            value = read(child.children[0]) if read is not None else CONSTANTS[kind]
            path = name.removeprefix("a_")
            if path == "all_of_it":
                out.update(value)
            elif "_dot_" in path:
                out.update(zip(path.split("_dot_"), value, strict=True))
            elif out.setdefault(path, value) != value:
                raise NotSaid(f"two values of `{path}`")
        alike = out.pop("alike", ())
        for key in ALIKE if alike else ():
            if key in out:
                out[key] = _alike(out[key], alike)
        return out

    # --- tools ----------------------------------------------------------------------------------

    def tools(self, tree: Any) -> Any:
        """Return one name, a list of names, or a match."""
        found = list(self._names(tree))
        tests = next((each for each in tree.iter_subtrees() if each.data == "with"), None)
        tool: Any = found if len(found) > 1 else found[0]
        return tool if tests is None else {"tool": tool, "args": self._tests(tests)}

    every = union = alone = one = names = later = tools

    def tried(self, tree: Any) -> Any:
        """Return the calls of tools, whatever became of them."""
        return {"called": self.tools(tree)}

    def one_tool(self, tree: Any) -> Any:
        """Return one name, or its match: of several, each may be meant, or all together."""
        found = self.tools(tree)
        if isinstance(found["tool"] if isinstance(found, dict) else found, list):
            raise NotSaid("each, or together")
        return found

    def name_calls(self, tree: Any) -> str:
        """Return the name before "calls"."""
        return self._name(tree.children[0], governed=False)

    def call_if(self, tree: Any) -> dict[str, Any]:
        """Return the match of a call and what stands behind "if its"."""
        calls = self.tools(tree.children[0])
        if isinstance(calls, dict):
            raise NotSaid("conditions twice")
        tests = type(tree)("with", tree.children[1:])
        return {"tool": calls, "args": self._tests(tests)}

    called_with = those = call_if

    def strictly(self, tree: Any) -> dict[str, Any]:
        """Return the match of calls whose argument is as it must be."""
        tools, path = self.place(tree.children[0])
        if tree.data == "positive":
            return {"tool": tools, "args": {path: {"gt": 0}}}
        if tree.data == "filled":
            return {"tool": tools, "args": {path: {"matches": r"\S"}}}
        number = self.number(tree.children[1])
        return {"tool": tools, "args": {path: number if tree.data == "eq" else {tree.data: number}}}

    # --- what texts mean ------------------------------------------------------------------------

    def forbidden_facts(self, tree: Any) -> dict[str, Any]:
        """Return the match of the calls that ask of a text what it must not mean."""
        parts = tree.children
        match str(tree.data):
            case "runs":
                return self._meaning(parts[0], {"runs": self.texts(parts[1])})
            case "runs_in":
                return self._meaning(parts[1], {"runs": self.texts(parts[0])})
            case "reaches":
                fact = f"{parts[1].data}_{parts[2].data}"
                return self._meaning(parts[0], {fact: self.texts(parts[3])})
            case "touches":
                return self._meaning(parts[0], {str(parts[1].data): self.texts(parts[2])})
            case "stays":
                return self._meaning(parts[0], {f"{parts[1].data}_outside": self.texts(parts[2])})
            case "issues":
                return self._meaning(parts[0], {"verbs": _words_of(parts[1:])})
            case "elevates":
                return self._meaning(parts[0], {"elevates": True})
            case "mails":
                return self._meaning(parts[0], {"domain": self._domains(parts[1])})
            case "falls":
                return self._meaning(parts[0], {"weekday": _words_of(parts[1:])})
        return self._meaning(parts[0], {"private": True})

    def required_facts(self, tree: Any) -> dict[str, Any]:
        """Return the match of the calls that ask of a text what it has to mean."""
        subject, *rest = tree.children
        match str(tree.data):
            case "runs":
                return self._meaning(subject, {"runs": _all_in(self.texts(rest[0]))})
            case "issues":
                return self._meaning(subject, {"verbs": _all_in(_words_of(rest))})
            case "queried":
                return self._meaning(subject, {"verbs": _all_in(READING)})
            case "queries":
                read = _all_in(self.texts(rest[0]))
                return self._meaning(subject, {"verbs": _all_in(["select"]), "reads": read})
            case "mails":
                return self._meaning(subject, {"domain": _all_in(self._domains(rest[0]))})
        wanted = self.texts(rest[0])
        match = self._meaning(subject, {"currency": wanted})
        if any("[]" in path for path in match["args"]):
            return self._meaning(subject, {"currency": _all_in(wanted)})
        return match

    def _domains(self, tree: Any) -> list[str]:
        domains = [each.removeprefix("@") for each in self.texts(tree)]
        if any("*" in each for each in domains):
            raise NotSaid("a domain is one name")
        return domains

    def _meaning(self, subject: Any, facts: dict[str, Any]) -> dict[str, Any]:
        """Return the match of calls by facts of a field; its name is empty if it is not said."""
        said = subject.children[0] if subject.data == "subject" else subject
        tools, path = (self.tools(said), "") if said.data == "every" else self.place(said)
        if isinstance(tools, dict):
            raise NotSaid("conditions twice")
        return {"tool": tools, "args": {path: facts}}

    def failed_call(self, tree: Any) -> dict[str, Any]:
        """Return the match of calls that have failed."""
        return {"tool": self._name(tree.children[0].children[0], governed=False), "status": "error"}

    def failing(self, tree: Any) -> dict[str, Any]:
        """Return the match of calls that have failed, of a tool that "fails"."""
        return {"tool": self.tool_name(tree), "status": "error"}

    succeeded_call = tools

    def message(self, tree: Any) -> dict[str, Any]:
        """Return the match of messages of a role."""
        return {"message": self.word(tree)}

    def tool_name(self, tree: Any) -> str:
        """Return the name of one tool."""
        return next(self._names(tree))

    def together(self, tree: Any) -> list[str]:
        """Return all names of a list with "and"."""
        return list(self._names(tree))

    one_step = together

    def _names(self, tree: Any) -> Iterator[str]:
        tokens = [each.children[0] for each in _of(tree, "name")]
        governed = VERB.search(self.source[: tokens[0].start_pos]) is not None
        between = self.source[tokens[-2:][0].start_pos : tokens[-1].start_pos]
        listed = ENDS_LIST.search(between) is not None
        for i, token in enumerate(tokens):
            yield self._name(token, governed and (i == 0 or listed))

    def _name(self, token: Token, governed: bool) -> str:
        if token.type == "QUOTED":
            return _unquoted(token)
        if self.is_tool(token):
            return str(token)
        if known := self._known(token):
            return known
        if governed or SHAPE.fullmatch(token):
            return str(token)
        raise NotSaid(f"`{token}` is not plainly a tool")

    def _known(self, token: Token) -> str:
        """Return the tool that a word without quotes is the plural of; empty if there is none.

        A capital at the beginning of the sentence is no part of the name.
        """
        if token.type == "QUOTED" or self.is_tool(token):
            return ""
        words = [str(token), token[0].lower() + token[1:]] if token.start_pos == 0 else [str(token)]
        found = (each for word in words for each in (word, *singulars(word)) if self.is_tool(each))
        return next(found, "")

    def _tests(self, tree: Any) -> dict[str, Any]:
        signs = {"equal": "=", "taken": "=", "gt": "gt", "lt": "lt", "ge": "ge", "le": "le"}
        keys = {"=": "=", "!=": "ne", ">": "gt", ">=": "ge", "<": "lt", "<=": "le"}
        keys |= {"≥": "ge", "≤": "le", "≠": "ne"}
        out: dict[str, Any] = {}
        for test in tree.children:
            first, last = test.children[0], test.children[-1]
            path = self.field(last if test.data == "taken" else first)
            value = self.value(first if test.data == "taken" else last)
            sign = signs.get(test.data) or keys.get(test.children[1], str(test.children[1]))
            if test.data == "among":
                out[path] = {"in": [self.value(each) for each in test.children[1:]]}
            elif sign == "=":
                out[path] = value
            elif test.data in ORDERED and isinstance(value, str):
                raise NotSaid(f"`{value}` is no number that `{path}` could be over or under")
            else:
                inner = out.setdefault(path, {})
                if not isinstance(inner, dict):
                    raise NotSaid(f"two values of `{path}`")
                inner[sign] = value
        return out

    # --- places and values ----------------------------------------------------------------------

    def word(self, tree: Any) -> str:
        """Return a text, or a name that is no tool: of a field, a role, a permission."""
        return _unquoted(_leaf(tree))

    field = key = text = office = word

    def one_field(self, tree: Any) -> list[str]:
        """Return one path into the arguments, as a list."""
        return [self.field(tree.children[0])]

    def place(self, tree: Any) -> tuple[Any, str]:
        """Return the tools, and the path into their arguments."""
        if tree.data == "dotted":
            tool, dot, path = _unquoted(tree.children[0]).partition(".")
            if not (tool and dot and path):
                raise NotSaid("a place without a dot")
            return tool, path
        if tree.data == "of":
            field = _leaf(tree.children[0])
            if field.type == "BARE" and NO_ARGUMENTS.fullmatch(field):
                raise NotSaid(f"`{field}` is not plainly one field")
            if any(self._known(each.children[0]) for each in _of(tree.children[1], "name")):
                _check_singular(field)  # the name of the tool is in the plural, too
            return self.tools(tree.children[1]), self.field(tree.children[0])
        if tree.data == "front":
            return self.tools(tree.children[0]), self.field(tree.children[1])
        first, second = tree.children
        name, word = _leaf(first), _leaf(second)
        if tree.data == "behind":
            return self._name(name, governed=False), word[1:]
        if tree.data == "beside" and word.type != "QUOTED" and NO_FIELDS.fullmatch(word):
            raise NotSaid(f"`{word}` is not plainly a field")
        governed = VERB.search(self.source[: name.start_pos]) is not None
        return self._name(name, governed), self.field(second)

    def summed(self, tree: Any) -> tuple[Any, str]:
        """Return the tools and a path whose numbers are added; a plural may be that of a field."""
        for each in _of(tree, "field")[-1:]:
            _check_singular(each.children[0])
        return self.place(tree.children[0])

    def places(self, tree: Any) -> tuple[Any, list[str]]:
        """Return the tools, and several paths into their arguments."""
        if tree.data == "several":
            return self.tools(tree), self.pairs(tree.children[1])
        tools, path = self.place(tree.children[0])
        return tools, [path]

    def texts(self, tree: Any) -> list[str]:
        """Return the texts without their quotes, the words, or the proper names."""
        return [_unquoted(each) for each in tree.scan_values(lambda _: True)]

    paths = hosts = listed = verbs = mentions = texts

    def pairs(self, tree: Any) -> list[str]:
        """Return the names of fields; without quotes, such as look like one, or "with the same"."""
        tokens = [_leaf(each) for each in tree.children]
        plain = [each for each in tokens if each.type == "BARE" and not SHAPE.fullmatch(each)]
        before = self.source[: tokens[0].start_pos].rstrip().lower()
        if any(NO_FIELDS.fullmatch(each) for each in plain) or (
            len(plain) == len(tokens) and not before.endswith("with the same")
        ):
            raise NotSaid(f"`{plain[0]}` is not plainly a field")
        return [_unquoted(each) for each in tokens]

    def named_words(self, tree: Any) -> list[str]:
        """Return words that are announced as such; those that point elsewhere are none."""
        if any(each.type == "BARE" and POINTERS.fullmatch(each) for each in tree.children):
            raise NotSaid("words that stand elsewhere")
        return self.texts(tree)

    def spelled(self, tree: Any) -> list[str]:
        """Return regular expressions that find texts that are announced as such."""
        return [re.escape(each) for each in self.named_words(tree)]

    def pii(self, tree: Any) -> list[str]:
        """Return kinds of personal data."""
        return [str(each.data) for each in tree.children]

    finds = pii

    def exact(self, tree: Any) -> list[str]:
        """Return regular expressions that match these very texts."""
        found = self.texts(tree)
        if any(read_number(each) is not None for each in found if each[:1].isdigit()):
            raise NotSaid("a number is no text")
        return [re.escape(each) for each in found]

    any_of = exact

    def exactly(self, tree: Any) -> list[str]:
        """Return regular expressions that find these texts where they are the whole text."""
        return [f"^{each}$" for each in self.exact(tree)]

    def searched(self, tree: Any) -> list[str]:
        """Return texts that are searched for; one that may be a regular expression is noted."""
        found = self.texts(tree)
        odd = (each for each in found if SPECIAL.search(each) and not REGEX.search(each))
        self.signs = next(odd, self.signs)
        return found

    def prefixes(self, tree: Any) -> list[str]:
        """Return regular expressions that match what begins with these texts."""
        return [f"^{re.escape(each)}" for each in self.texts(tree)]

    def suffixes(self, tree: Any) -> list[str]:
        """Return regular expressions that match what ends with these texts."""
        return [f"{re.escape(each)}$" for each in self.texts(tree)]

    def prefix(self, tree: Any) -> str:
        """Return a regular expression that matches what begins with this text."""
        return "^" + re.escape(self.text(tree))

    def suffix(self, tree: Any) -> str:
        """Return a regular expression that matches what ends with this text."""
        return re.escape(self.text(tree)) + "$"

    def said_text(self, tree: Any) -> str:
        """Return a regular expression that finds this very text."""
        return re.escape(self.text(tree))

    def told(self, tree: Any) -> tuple[str, Any]:
        """Return the key of a fact, and its values."""
        return self.key(tree.children[0]), self.values(tree.children[1])

    def role(self, tree: Any) -> str:
        """Return the name of a role; without quotes, none that is anybody."""
        name = _leaf(tree)
        if name.type == "BARE" and name.lower() in ANYBODY:
            raise NotSaid(f"`{name}` is not plainly a role")
        return _unquoted(name)

    def refused(self, tree: Any) -> str:
        """Return what refusals are counted for."""
        return str(tree.data)

    def value(self, tree: Any) -> Any:
        """Return a value: JSON, a number in words, or a text."""
        token = _leaf(tree)
        if token.type in ("QUOTED", "TEXT") and token[0] != "`":
            return str(token[1:-1])
        text = _unquoted(token)
        if token.type == "NUMBER":
            return self._number(token)
        words: dict[str, Any] = {"true": True, "false": False, "null": None}
        if text.lower() in words:
            return words[text.lower()]
        number = re.fullmatch(r"-?\d+(?:\.\d+)?", text)
        return read_number(text) if number else text

    def values(self, tree: Any) -> Any:
        """Return a value, or the list of several."""
        found = [self.value(each) for each in tree.children]
        return found if len(found) > 1 else found[0]

    # --- numbers --------------------------------------------------------------------------------

    def number(self, tree: Any) -> int | float:
        """Return a number; a currency behind it, or as its sign, is noted."""
        sign, *behind = tree.children if tree.data == "number" else (_leaf(tree),)
        said = CURRENCIES.get(str(behind[0]).lower()) if behind else SIGNS.get(str(sign)[:1])
        self.currency = said or self.currency
        return self._number(_leaf(tree))

    def _number(self, token: Token) -> int | float:
        found = read_number(token)
        if found is None:
            raise NotSaid(f"`{token}` is no number")
        return found

    def count(self, tree: Any) -> int | float:
        """Return how many times are said."""
        counts = {"one": 1, "two": 2}
        return counts[tree.data] if tree.data in counts else self.number(tree.children[0])

    def atmost(self, tree: Any) -> int | float:
        """Return the largest count that is allowed."""
        if tree.data == "second":
            return 1
        inner = tree.children[0]
        return self.number(inner) - 1 if tree.data == "below" else self.count(inner)

    excess = atmost

    def less(self, tree: Any) -> int | float:
        """Return the largest whole number below one."""
        return self.number(tree) - 1

    def most(self, tree: Any) -> int | float:
        """Return the largest number that is allowed."""
        return self.number(tree.children[0]) - (1 if tree.data == "below" else 0)

    def most_real(self, tree: Any) -> int | float:
        """Return the largest number that is allowed, of any kind."""
        return self.number(tree.children[0])

    def span(self, tree: Any) -> dict[str, Any]:
        """Return seconds or steps."""
        if tree.data in ("unit", "half"):
            seconds = seconds_of(1, tree.children[0])
            return {"seconds": seconds / 2 if tree.data == "half" else seconds}
        number = self.number(tree.children[0])
        if tree.data == "steps":
            return {"steps": number}
        return {"seconds": seconds_of(number, tree.children[1])}

    def seconds(self, tree: Any) -> int | float:
        """Return seconds; steps are none."""
        return self._only(tree, "seconds")

    def steps(self, tree: Any) -> int | float:
        """Return steps; seconds are none."""
        return self._only(tree, "steps")

    def _only(self, tree: Any, unit: str) -> int | float:
        found = self.span(tree.children[0])
        if unit not in found:
            raise NotSaid(f"no {unit}")
        return cast("float", found[unit])

    def window(self, tree: Any) -> Any:
        """Return a window of a rate: `session`, seconds or steps."""
        return "session" if tree.data == "session" else self.span(tree)

    # --- conditions -----------------------------------------------------------------------------

    def condition(self, tree: Any) -> Any:
        """Return a condition as nested lists: `["not", ["done", tools]]`."""
        parts = tree.children
        match str(tree.data):
            case "both" | "either":
                return [str(tree.data), *(self.condition(each) for each in parts)]
            case "ctx_is" | "ctx_isnt":
                found = ["ctx", self.key(parts[0]), self.value(parts[1])]
                return found if tree.data == "ctx_is" else ["not", found]
            case "called" | "done" | "failed":
                return [str(tree.data), self.tools(parts[0])]
            case "not_called" | "not_done":
                return ["not", [tree.data[4:], self.tools(parts[0])]]
            case "permitted" | "agent":
                return [str(tree.data), self.word(parts[0])]
            case "approved":
                return ["approved", self.tools(parts[1]), self.word(parts[0])]
        tools, path = self.place(parts[0])
        sign = str(tree.data).removeprefix("arg_")
        value = self.value(parts[1]) if sign == "is" else self.number(parts[1])
        return ["now", {"tool": tools, "args": {path: value if sign == "is" else {sign: value}}}]


def _alike(match: Any, fields: Iterable[str]) -> Any:
    """Return a match whose fields have the values that the other matches' have."""
    whole = match if isinstance(match, dict) else {"tool": match}
    if "tool" not in whole or any(each in whole.get("args", {}) for each in fields):
        raise NotSaid("a field is said twice")
    same = {each: f"${name}" for each, name in zip(fields, "xyzuvw", strict=False)}
    return {**whole, "args": {**whole.get("args", {}), **same}}


def _of(tree: Any, rule: str) -> list[Any]:
    """Return the subtrees of this rule, from left to right."""
    return sorted(
        (each for each in tree.iter_subtrees() if each.data == rule),
        key=lambda each: each.children[0].start_pos,
    )


def _words_of(trees: Iterable[Any]) -> list[str]:
    """Return the words of these leaves, in small letters."""
    return [str(_leaf(each)).lower() for each in trees]


def _check_singular(field: Token) -> None:
    """Raise `NotSaid` for a word without quotes that may be the plural of a field."""
    if field.type == "BARE" and field[-1] == "s":
        raise NotSaid(f"`{field}` may be the plural of a field")


def _all_in(values: list[str]) -> dict[str, Any]:
    return {"every": {"in": values}}


def _leaf(tree: Any) -> Token:
    while not isinstance(tree, str):
        tree = tree.children[0]
    return cast("Token", tree)


def _unquoted(token: Token) -> str:
    quoted = token.type in ("QUOTED", "TEXT") or token[0] == "`"
    return str(token[1:-1] if quoted else token)
