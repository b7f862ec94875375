"""Fills in what a contract file declares in `parameters:` and `env:`: `${limit}` becomes its value.

In: a document, the values that an including file gives, the environment. Out: the document's data
with every `${name}` replaced; or problems, each at its place. Nothing else reads the environment.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sponsio_like.contracts.yaml_document import NUMBER, Document
from sponsio_like.errors import ContractError, Path, Problem, Problems, closest

NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
BLANK = re.compile(r"(?<!\\)\$(\$?)\{([A-Za-z_]\w*)\}", re.ASCII)
"""A place to fill in; `$${x}` is the text `${x}`, and `\\${x}` stands in a regular expression."""
ENV_KINDS = ("string", "integer", "number", "boolean")
DECLARED = ("parameters", "env")


@dataclass(slots=True)
class Blanks:
    """The values of a file's parameters, and which of them were used.

    `holes` are the paths of what could not be filled in.
    """

    values: Mapping[str, Any]
    missing: frozenset[str] = frozenset()
    used: set[str] = field(default_factory=set)
    holes: list[Path] = field(default_factory=list)


def filled_in(
    document: Document, given: Mapping[str, Any], problems: Problems
) -> tuple[Any, list[Path]]:
    """Return the data of a file with every `${name}` filled in, and the paths of what could not be.

    `given` are the values of its parameters. What is wrong is noted.
    """
    data = document.data
    if not isinstance(data, dict):
        return data, []
    blanks = _declared(data, given, problems)
    filled = data
    if document.has_blanks:
        filled = {
            key: value if key in DECLARED else _filled(value, (key,), blanks, problems)
            for key, value in data.items()
        }
    unused = set() if blanks.holes else {*blanks.values} - blanks.used
    for name in sorted(unused):
        key = "parameters" if name in _names(data.get("parameters")) else "env"
        what = f"`{name}` is declared, and `${{{name}}}` is used nowhere in this file"
        problems.add(what, "use it, or leave it out", *_place(data[key], key, name), of_key=True)
    return filled, blanks.holes


def _names(section: Any) -> set[str]:
    return {str(each) for each in section} if isinstance(section, (dict, list)) else set()


def _place(section: Any, key: str, name: str) -> Path:
    return (key, section.index(name) if isinstance(section, list) else name)


# --- what is declared -----------------------------------------------------------------------------


def _declared(data: Mapping[str, Any], given: Mapping[str, Any], problems: Problems) -> Blanks:
    """Return the value of each name that the file declares."""
    defaults = _section(data, "parameters", (dict,), "write {limit: 3}; null: no default", problems)
    unset = {name for name, value in defaults.items() if value is None and name not in given}
    for name in sorted(unset):
        hint = "give it where the file is included, {file: .., with: {..}}, or write a default"
        problems.add(f"parameter `{name}` has no value", hint, "parameters", name, of_key=True)
    values = {**defaults, **{name: given[name] for name in given if name in defaults}}
    env = _section(data, "env", (dict, list), "write [REGION], or {LIMIT: integer}", problems)
    for name, kind in env.items():
        at = _place(data["env"], "env", name)
        if name in defaults:
            problems.add(f"`{name}` is a parameter, too", "rename it", *at, of_key=True)
        values[name] = problems.attempt(at, _of_environment, name, kind)
        unset |= {name} if values[name] is None else set()
    return Blanks({k: v for k, v in values.items() if k not in unset}, frozenset(unset))


def _section(
    data: Mapping[str, Any], key: str, forms: tuple[type, ...], hint: str, problems: Problems
) -> dict[str, Any]:
    """Return the declarations under a key by name; of a list, each as a text."""
    if key not in data:
        return {}
    section: Any = data[key]
    if type(section) not in forms or not section:
        problems.add(f"`{section}` declares nothing", hint, key)
        return {}
    found: dict[str, Any] = {}
    for i, name in enumerate(section):
        at = (key, name) if isinstance(section, dict) else (key, i)
        if not isinstance(name, str) or not NAME.fullmatch(name):
            what = f"`{name}` is no name of a value"
            problems.add(what, "write letters, digits and `_`", *at, of_key=True)
        elif name in found:
            problems.add(f"`{name}` is declared twice", "leave one out", *at)
        else:
            found[name] = section[name] if isinstance(section, dict) else "string"
    return found


def _of_environment(name: str, kind: Any) -> str | int | float | bool:
    """Return the value of an environment variable, read as its kind."""
    if kind not in ENV_KINDS:
        raise ContractError.of(f"unknown kind `{kind}`", closest(kind, ENV_KINDS))
    text = os.environ.get(name)
    if text is None:
        raise ContractError.of(f"the environment has no variable `{name}`", "set it")
    if not text:
        raise ContractError.of(f"the environment variable `{name}` is empty", "give it a value")
    if kind == "string":
        return text
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    form = NUMBER.fullmatch(text) if kind != "boolean" and len(text) < 100 else None
    if form and not (form[1] or form[2]):
        return int(text)
    if form and kind == "number":
        return float(text)
    raise ContractError.of(f"the environment variable `{name}` is no {kind}", "correct its value")


# --- filling in -----------------------------------------------------------------------------------


def _filled(value: Any, path: Path, blanks: Blanks, problems: Problems) -> Any:
    match value:
        case str() if "${" in value:
            return _text(value, path, blanks, problems)
        case dict():
            return {
                key: _filled(each, (*path, key), blanks, problems) for key, each in value.items()
            }
        case list():
            return [_filled(each, (*path, i), blanks, problems) for i, each in enumerate(value)]
    return value


def _text(text: str, path: Path, blanks: Blanks, problems: Problems) -> Any:
    """Return the text filled in; where it is nothing but `${name}`, the value as it is."""
    wrong = list(_unknown(text, path, blanks))
    problems.found += wrong
    names = {name for dollar, name in BLANK.findall(text) if not dollar}
    blanks.used |= names
    if wrong or names & blanks.missing:
        blanks.holes.append(path)
        return text
    whole = BLANK.fullmatch(text)
    if whole and not whole[1]:
        return blanks.values[whole[2]]
    return BLANK.sub(lambda found: _part(found, blanks), text)


def _part(found: re.Match[str], blanks: Blanks) -> str:
    if found[1]:
        return found[0][1:]
    value = blanks.values[found[2]]
    return str(value).lower() if isinstance(value, bool) else str(value)


def _unknown(text: str, path: Path, blanks: Blanks) -> Iterator[Problem]:
    """Yield a problem for each name that is not declared, and for a list inside of a text."""
    known = {*blanks.values} | blanks.missing
    for found in BLANK.finditer(text):
        name, where = found[2], f"1:{found.start() + 1}"
        if found[1]:
            continue
        if name not in known:
            declare = f"declare it: `parameters: {{{name}: ..}}`, or `env: [{name}]`"
            others = f"a variable is `${name}`, and this very text `$${{{name}}}`"
            hint = closest(name, known) or f"{declare}; {others}"
            yield Problem(f"`${{{name}}}` is not declared", where, hint, path)
        elif found[0] != text and isinstance(blanks.values.get(name), (dict, list)):
            what = f"`{name}` is a list or a mapping, and stands inside of a text"
            yield Problem(what, where, f'write "${{{name}}}" alone', path)
