"""Reads the right sides of comparisons: values, lists, variables, regular expressions.

In: plain data of a file, or the same in Python. Out: what a condition on one place in the
arguments or the output compares with; or a `ContractError` with every mistake.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias
from unicodedata import normalize

from sponsio_like.contracts.typed_fields import where_declared
from sponsio_like.errors import ContractError, Problems, closest, read_each
from sponsio_like.events import regex
from sponsio_like.logic.formula import Op, Operand, Scalar, Var
from sponsio_like.values import is_folder, path_parts

COMPARISONS: Mapping[str, Op] = MappingProxyType(
    {
        "equals": "=",
        "in": "in",
        "matches": "matches",
        "gt": ">",
        "ge": ">=",
        "lt": "<",
        "le": "<=",
        "ne": "!=",
        "under": "under",
        "outside": "outside",
    }
)
OTHER_WORDS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("min", "minimum", "at_least", "gte"), "ge: ..")
    | dict.fromkeys(("max", "maximum", "at_most", "lte"), "le: ..")
    | {
        "between": "ge: .., le: ..",
        "range": "ge: .., le: ..",
        "eq": "equals: ..",
        "is": "equals: ..",
    }
    | dict.fromkeys(("not", "neq", "not_equals"), "ne: ..")
    | dict.fromkeys(("contains", "regex", "pattern", "like"), "matches: REGEX")
    | {"starts_with": "matches: '^..'", "startswith": "matches: '^..'"}
    | {"ends_with": "matches: '..$'", "endswith": "matches: '..$'"}
    | dict.fromkeys(("one_of", "any_of"), "in: [..]")
)
"""Words of other languages for comparisons, and what is written here."""
SEARCHES: Mapping[str, Op] = MappingProxyType({"has": "has", "carries": "carries"})
VARIABLE = re.compile(r"\$([A-Za-z_]\w*)", re.ASCII)
MISTYPED = re.compile(r"\$[\s{(]*([^\W\d]\w*)")
"""A text that begins as if it were a variable: `$ x`, `${x}`, `$x.y`."""

RightSide: TypeAlias = tuple[Op, Operand]


def check_keys(
    value: Mapping[Any, Any],
    known: Iterable[str],
    what: str,
    problems: Problems,
    says: str | Callable[[object], str] = "",
) -> None:
    """Note every key that is not known, with the closest one; `says` replaces that hint."""
    for key in value:
        if key not in known:
            hint = (says if isinstance(says, str) else says(key)) or closest(key, known)
            article = "an" if what[:1] in "aeiou" else "a"
            problems.add(f"unknown key `{key}` in {article} {what}", hint, str(key), of_key=True)


def check_match_keys(value: Mapping[Any, Any], known: Iterable[str], problems: Problems) -> None:
    """Note every key that is none of a match; one that is like no other may be an argument."""

    def hint(key: object) -> str:
        near = closest(key, known)
        more = (
            ""
            if near.startswith("did you mean")
            else f"; an argument stands in args: {{{key}: ..}}"
        )
        return near + more

    check_keys(value, known, "match", problems, hint)


# --- plain values -----------------------------------------------------------------------------


def plain_value(value: Any) -> Scalar:
    """Return a value that something can be equal to; `$x` is then a text like any other.

    Raises `ContractError` for lists, mappings and numbers that are not finite.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise ContractError.of(f"nothing equals `{value}`", "write a number")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ContractError.of(
        f"`{value}` is not a plain value", "for one of several, write {in: [..]}"
    )


def scalars(value: Any) -> tuple[Scalar, ...]:
    """Return a list of plain values as a tuple.

    Raises `ContractError` for anything else, also a string.
    """
    if not isinstance(value, (list, tuple)) or not value:
        raise ContractError.of(f"`{value}` is not a list", f"write [{value}]")
    return tuple(read_each(plain_value, value))


def folders(value: Any) -> tuple[str, ...]:
    """Return absolute folders: one, or a list of them. Raises `ContractError` for anything else."""
    listed = scalars([value] if isinstance(value, str) else value)
    return tuple(map(folder, listed))


def folder(value: Any) -> str:
    """Return an absolute folder. Raises `ContractError` for anything else."""
    if isinstance(value, str) and is_folder(value):
        return value
    hint = "write /workspace, ~/work or C:/work"
    raise ContractError.of(f"`{value}` is not an absolute folder", hint)


def pattern_text(value: Any) -> str:
    """Return a regular expression that compiles. Raises `ContractError` for one that does not."""
    if not isinstance(value, str) or not value:
        raise ContractError.of(f"`{value}` is not a regular expression", "write it as a string")
    regex(value)
    return value


def field_path(value: Any) -> str:
    """Return a path into arguments: `to`, `customer.id`, `items[].sku`; `*` is all.

    Raises `ContractError` for anything else.
    """
    parts = value.replace("[]", "").split(".") if isinstance(value, str) else [""]
    if all(part and part == part.strip() for part in parts) and parts != ["*", "*"]:
        return normalize("NFC", str(value))
    raise ContractError.of(
        f"`{value}` is not a path", "write `to`, `customer.id`, `items[].sku`, or `*` for all"
    )


# --- variables --------------------------------------------------------------------------------


def scalar(value: Any) -> Scalar | Var:
    """Return a plain value, or the variable `$x`. Raises `ContractError` for what is neither."""
    if isinstance(value, Var):
        return value
    if isinstance(value, str) and (found := VARIABLE.fullmatch(value)):
        return Var(found[1])
    if isinstance(value, str) and (meant := MISTYPED.match(value)):
        name = f"`${meant[1]}`" if meant[1].isascii() else "`$` and ASCII letters"
        raise ContractError.of(
            f"`{value}` is not a variable",
            f'did you mean {name}? for this very text write {{in: ["{value}"]}}',
        )
    return plain_value(value)


def variable(value: Any) -> Var:
    """Return the variable `$x`. Raises `ContractError` for anything else."""
    found = scalar(value)
    if isinstance(found, Var):
        return found
    hint = f"did you mean `${value}`?" if isinstance(value, str) and value.isidentifier() else ""
    raise ContractError.of(f"`{value}` is not a variable", hint or "write $ and a name: $x")


def check_no_variable(value: Any, place: str) -> None:
    """Raise `ContractError` for a variable where none can stand."""
    if isinstance(value, Var) or (isinstance(value, str) and VARIABLE.fullmatch(value)):
        shown = f"${value.name}" if isinstance(value, Var) else value
        raise ContractError.of(f"the variable `{shown}` cannot be {place}", "write it out")


def name(value: Any) -> str:
    """Return a name: some text without blanks around it.

    Raises `ContractError` for anything else.
    """
    check_no_variable(value, "a name")
    if isinstance(value, str) and value and value == value.strip():
        return value
    raise ContractError.of(f"`{value}` is not a name", "write it as text")


def capture(pattern: Any, name: Any) -> Var:
    r"""Return the variable of `{matches: "id (\w+)", bind: $x}`.

    Its value is what the group finds; without a group, the whole match.
    """
    text, found = pattern_text(pattern), variable(name)
    one_group(text)
    return Var(found.name, text)


def one_group(pattern: str) -> None:
    """Raise `ContractError` for a regular expression with several groups: one value is bound."""
    import re2  # loaded only where a contract has a regular expression

    regex(pattern)
    if re2.compile(pattern).groups > 1:
        raise ContractError.of(
            f"`{pattern}` has several groups, and one value is bound",
            "write the others as `(?:..)`",
        )


# --- comparisons ------------------------------------------------------------------------------


def read_comparison(wanted: Any, path: str, about: tuple[str, ...] = ()) -> list[RightSide]:
    """Read the comparisons of one place: `value`, `$x`, `{gt: 3}`, `{has: $x}`, ..

    `path` is the place; `about` are keys that may stand beside the comparisons, and are read
    elsewhere. Raises `ContractError` with every mistake.
    """
    if not isinstance(wanted, Mapping):
        return [("=", scalar(wanted))]
    problems = Problems()
    known = (*COMPARISONS, *SEARCHES, "bind", *about)
    check_keys(wanted, known, "comparison", problems, lambda key: _meant(key, path, known))
    if not wanted.keys() - {*about}:
        problems.add("an empty comparison", "write {gt: 100}, or the value itself")
    found: list[RightSide] = []
    for key in (key for key in wanted if key in COMPARISONS or key in SEARCHES):
        if key == "matches" and "bind" in wanted:
            continue
        operand = problems.attempt((key,), _operand, key, wanted[key])
        found.append((COMPARISONS.get(key) or SEARCHES[key], operand))
    if "bind" in wanted:
        found += _bound(wanted, path, len(found), problems)
    problems.check()
    return found


def _meant(key: object, path: str, known: Iterable[str]) -> str:
    """Return what may be meant by a key that is no comparison: another word, or a field inside."""
    if (sign := OTHER_WORDS.get(str(key))) is not None:
        return f"write {{{sign}}}"
    hint = where_declared(key, path) or closest(key, known)
    if key == "only" or hint.startswith("did you mean") or not isinstance(key, str):
        return hint
    if "path" in known:
        return f"{hint}; a field inside is {{path: {key}, equals: ..}}"
    plain = path and path[0] not in "@*" and ":" not in path
    return f'{hint}; a field inside is "{path}.{key}": ..' if plain else hint


def _bound(
    wanted: Mapping[Any, Any], path: str, others: int, problems: Problems
) -> list[RightSide]:
    if others and "[]" in path_parts(path):
        problems.add(
            f"`bind` and the comparison may meet two elements of `{path}`", "write one of them"
        )
    if "matches" not in wanted:
        found = problems.attempt(("bind",), variable, wanted["bind"])
        return [("=", found)]
    problems.attempt(("bind",), variable, wanted["bind"])
    problems.attempt(("matches",), pattern_text, wanted["matches"])
    if problems.found:
        return []
    found = problems.attempt(("matches",), capture, wanted["matches"], wanted["bind"])
    return [("matches", found)]


def _operand(key: str, value: Any) -> Operand:
    match key:
        case "in":
            return scalars(value)
        case "under" | "outside":
            return folders(value)
        case "matches":
            return pattern_text(value)
        case "has" | "carries":
            return variable(value)
        case "equals" | "ne":
            return scalar(value)
    if isinstance(value, (int, float, str, Var)) and not isinstance(value, bool):
        return scalar(value)
    raise ContractError.of(f"`{value}` cannot be compared by size", "write a number")
