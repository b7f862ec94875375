"""Says in words where and why a text cannot be read as a formula.

In: the text, where the parser stopped, what it could have gone on with. Out: a `ContractError` that
says what was found, what could stand there, and what was probably meant.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from sponsio_like.errors import ContractError
from sponsio_like.logic.printer import FUNCTIONS, RESERVED

_LEXEME = re.compile(
    r"""
    "(?:\\.|[^"\\\n])*" | '(?:''|[^'\n])*'      # strings
    | \$\w* | [^\W\d]\w*                        # variables, words
    | <-> | <=> | -> | => | <= | >= | != | == | && | \|\| | >> | =~ | <> | \S
    """,
    re.VERBOSE,
)
_BOUND = re.compile(r"(?:(?<!\w)(?:[FGOH]|count|sum)|[◇□◆■])\s*\[[^\[\]]*\]?\s*")

# Words and signs of other notations, each with the one that is written here.
_INSTEAD = {
    "&&": "&", "and": "&", "||": "|", "or": "|", "not": "!", "~": "!", "==": "=", "is": "=",
    "=>": "->", ">>": "->", "implies": "->", "<=>": "<->", "iff": "<->", "<>": "!=", "next": "X",
    "eventually": "F", "finally": "F", "always": "G", "globally": "G", "until": "U", "unless": "W",
    "weak_until": "W", "release": "R", "releases": "R", "yesterday": "Y", "previously": "Y",
    "once": "O", "historically": "H", "u": "U", "w": "W", "r": "R", "s": "S", "None": "null",
    "True": "true", "False": "false", "tool": "called", "total": "sum", "“": '"', "”": '"',
    "exists": "O", "=~": "matches", "contains": "matches", "like": "matches",
}  # fmt: skip

# Terminals in words: where the sign of a group is possible, its words stand for all members.
_TERM = (
    "_COUNT _SUM _SINCE _AGE _REPEATS _LAST _DELIVERED _DENIED _FACT_AGE _APPROVAL_AGE _ARG _MARK"
    " _CTX _TOKENS _DEPTH _OUTPUT VARIABLE"
)
_VALUE = "NUMBER STRING LITERAL _TRUE _FALSE _NULL LSQB VARIABLE"
_FORMULA = (
    f"{_TERM} {_VALUE} _NOT LPAR _NEXT _WEAK_NEXT _YESTERDAY _WEAK_YESTERDAY _EVENTUALLY _ALWAYS"
    " _ONCE _HISTORICALLY _INITIALLY CALLED DONE FAILED _OUTPUT _AGENT _MESSAGE _TEXT _PERMISSION"
    " _APPROVED _STEP NAME"
)
_GROUPS = (
    ("_NOT", "a formula", _FORMULA),
    ("_ARG", "a term", _TERM),
    ("_TRUE", "a value", f"{_VALUE} WORD"),
    ("TOOL", "a tool", "TOOL STRING LITERAL EQUAL"),
    ("PATH", "a field", "PATH STRING LITERAL AT EVERY"),
    ("WORD", "a name", "WORD STRING LITERAL"),
    ("STRING", "a string in quotes", "STRING LITERAL"),
    ("UNEQUAL", "a comparison", "ORDER EQUAL UNEQUAL IN MATCHES HAS CARRIES UNDER OUTSIDE"),
    ("_IMPLIES", "an operator", "_IFF _IMPLIES _UNTIL _WEAK_UNTIL _RELEASE _LASTING _AND _OR"),
)
_SIGNS = {
    "LPAR": "`(`", "RPAR": "`)`", "LSQB": "`[`", "RSQB": "`]`", "COMMA": "`,`", "SEMICOLON": "`;`",
    "DOT": "`.`", "STAR": "`*`", "EQUAL": "`=`", "WITHIN": "`<=`", "NUMBER": "a number",
    "UNIT": "`s`", "VARIABLE": "a variable", "$END": "the end",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Stop:
    """The place where the parser stopped: what stands there, before it, and open around it."""

    text: str
    at: int
    possible: AbstractSet[str]
    found: str
    before: str
    before_at: int
    opened: tuple[tuple[str, int, str], ...]
    """Brackets that are open: sign, place, the word in front of it."""


def syntax_mistake(text: str, at: int | None, possible: AbstractSet[str]) -> ContractError:
    """Return the error for the mistake at `at`, where one of the terminals
    `possible` had to stand.
    """
    stop = _stop(text, at, possible)
    where = _where(text, stop.at)
    expected = _either([*_expected(possible)] or ["the end"])
    if stop.found in {'"', "'"}:
        return ContractError.of(
            "the string is not closed", f"end it with `{stop.found}` on its line", where
        )
    if stop.before in _INSTEAD and possible == {"LPAR"}:
        what, where = f"unknown word `{stop.before}`", _where(text, stop.before_at)
    else:
        after = f" after `{stop.before}`" if stop.before else ""
        found = f"`{stop.found}`" if stop.found else "the end"
        what = f"expected {expected}{after}, found {found}"
    return ContractError.of(what, _hint(stop), where)


def _stop(text: str, at: int | None, possible: AbstractSet[str]) -> _Stop:
    end = len(text.rstrip())
    place = end if at is None or at >= end else at
    before, before_at = "", 0
    opened: list[tuple[str, int, str]] = []
    for lexeme in _LEXEME.finditer(text, 0, place):
        sign = lexeme.group()
        if sign in "([":
            opened.append((sign, lexeme.start(), before))
        elif sign in ")]" and opened:
            opened.pop()
        before, before_at = sign, lexeme.start()
    here = _LEXEME.match(text, place)
    found = here.group() if here else ""
    return _Stop(text, place, possible, found, before, before_at, tuple(opened))


def _where(text: str, at: int) -> str:
    return f"{text.count(chr(10), 0, at) + 1}:{at - text.rfind(chr(10), 0, at)}"


def _expected(possible: AbstractSet[str]) -> Iterator[str]:
    left = set(possible)
    for sign, words, members in _GROUPS:
        if sign in left:
            yield words
            left.difference_update(members.split())
    for terminal in sorted(left):
        yield _SIGNS.get(terminal) or f"`{terminal.strip('_').lower()}`"


def _either(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _hint(stop: _Stop) -> str:
    guesses = (_in_bound, _variable, _known, _unknown_function, _bare_name, _similar, _brackets)
    for guess in guesses:
        if said := guess(stop):
            return said
    return ""


def _mean(*words: str) -> str:
    return "did you mean " + " or ".join(f"`{word}`" for word in words) + "?"


def _in_bound(stop: _Stop) -> str:
    """Return a hint for mistakes inside the bound of an operator: `F[3]`, `F[<=]`, `F[0,3]`."""
    spoiled = any(m.end() == stop.at for m in _BOUND.finditer(stop.text, 0, stop.at))
    return "a bound is written `[<=3]` (steps) or `[<=60s]` (seconds)" if spoiled else ""


def _variable(stop: _Stop) -> str:
    """Return a hint for `$1`, `$ x`, `${x}`, `as x`, and for variables where none can stand."""
    if stop.possible == {"VARIABLE"}:
        if stop.found.isidentifier():
            return _mean(f"${stop.found}")
        if stop.found[:1] in {'"', "'"}:
            return "a variable is `$` and a name: `$x`; a fixed text is found by `matches`"
    if stop.found == "as":
        return "what is found in arguments, outputs and texts of messages can have a name"
    if not stop.found.startswith("$"):
        return ""
    if "VARIABLE" in stop.possible:
        meant = re.compile(r"\$[\s{(]*([A-Za-z_]\w*)", re.ASCII).match(stop.text, stop.at)
        return _mean(f"${meant[1]}") if meant else "a variable is `$` and a name: `$x`"
    if "TOOL" in stop.possible:
        return "a tool is no variable; the tool and all its arguments are `@call = $x`"
    if stop.before == "matches":
        return _mean(f"has {stop.found}", f'matches "(.*)" as {stop.found}')
    if re.search(r"(?<!\w)agent\s*=\s*$", stop.text[: stop.at]):
        return _mean(f"called(*, @agent = {stop.found})")
    return "a variable stands after `=` and the like, `has`, or `as`: `called(pay, to = $x)`"


def _known(stop: _Stop) -> str:
    """Return a hint for words and signs of other notations: `not f`, `f && g`."""
    for word in (stop.before, stop.found) if stop.possible == {"LPAR"} else (stop.found,):
        if word in _INSTEAD:
            return _mean(_INSTEAD[word])
    return ""


def _unknown_function(stop: _Stop) -> str:
    """Return a hint for `calld(pay, amount > 3)`, which is read as an atom of the user at first."""
    for sign, _, word in reversed(stop.opened):
        if sign == "(" and word.isidentifier() and word not in FUNCTIONS:
            if word in {"U", "W", "R", "S"}:
                return _mean(f"f {word} g")
            if word in _INSTEAD:
                return _mean(_INSTEAD[word])
            near = difflib.get_close_matches(word, FUNCTIONS, n=1)
            return _mean(f"{near[0]}(...)") if near else ""
    return ""


def _bare_name(stop: _Stop) -> str:
    """Return a hint for a name in the place of a formula: `called x`, `G(pay)`, `amount > 3`."""
    name = stop.before
    if stop.possible != {"LPAR"} or not name.isidentifier():
        return ""
    if name in FUNCTIONS:
        inside = stop.found if stop.found.isidentifier() else ""
        return _mean(f"{name}({inside})") if inside or name in {"tokens", "depth"} else ""
    if stop.found in {"<", "<=", "=", "!=", ">=", ">", "in", "matches"}:
        return _mean(f"arg({name})", f"ctx({name})")
    if stop.found in {"has", "carries"}:
        return _mean(f"called(*, {name} {stop.found} $x)")
    near = difflib.get_close_matches(name, [*FUNCTIONS, "true", "false"], n=1)
    if near and stop.found.isidentifier():
        return _mean(f"{near[0]}({stop.found})")
    return _mean(near[0] if near else f"called({name})")


def _similar(stop: _Stop) -> str:
    words = [terminal.strip("_").lower() for terminal in stop.possible if terminal not in _SIGNS]
    near = difflib.get_close_matches(stop.found, words, n=1)
    if near:
        return _mean(near[0])
    quoted = "STRING" in stop.possible and stop.possible.isdisjoint({"WORD", "NAME"})
    plain = stop.found.isidentifier() and stop.found not in RESERVED
    return _mean(f'"{stop.found}"') if quoted and plain else ""


def _brackets(stop: _Stop) -> str:
    if stop.opened and not stop.found:
        sign, at, _ = stop.opened[-1]
        return f"the `{sign}` at {_where(stop.text, at)} is not closed"
    return "no bracket is open" if stop.found in {")", "]"} and not stop.opened else ""
