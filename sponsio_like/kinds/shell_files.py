"""Reads the small languages of `sed` and `tar`: what they write, and the commands they may run.

In: the arguments of a call. Out: facts are noted. Sources: the manuals of GNU sed and GNU tar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sponsio_like.kinds.shell_options import sorted_options
from sponsio_like.kinds.shell_state import Shell, Stdin, Words
from sponsio_like.kinds.shell_words import QUOTED, is_known

EVERY_LINE = re.compile(r"\s*(?:1\s*,\s*\$|//)?\s*[dD]\s*;?\s*")
"""A script of sed after which nothing is left."""
ADDRESS = re.compile(r"\s*(?:\d+(?:~\d+)?|\$|[+~]\d+|0)?")


def sed(state: Shell, args: Words, _: Stdin) -> str | None:
    """Note what a call of sed does: files edited in place, `w`, `e`, `r`."""
    said = sorted_options(_without_suffix(args), "efl", ("--expression", "--file", "--line-length"))
    scripts = [said.values[each] for each in ("-e", "--expression") if each in said.values]
    paths = list(said.rest)
    if "-f" in said.values or "--file" in said.values:
        state.found.nothing_is_clear()
    elif not scripts and paths:
        scripts = [paths.pop(0)]
    edits = said.has("-i", "--in-place")
    for each in paths:
        state.writes(each) if edits else state.reads(each)
        if edits and any(map(EVERY_LINE.fullmatch, scripts)):
            state.deletes(each)
    for script in scripts:
        _script(state, script)
    return None


def _without_suffix(args: Words) -> list[str]:
    """Return the arguments with `-i.bak` as `-i`: the suffix stands in the same word."""
    return [re.sub(r"^-([nrEsuz]*)i.*", r"-\1i", each) for each in args]


def _script(state: Shell, script: str) -> None:
    if not is_known(script):
        # a variable inside of a script may be anything, `;w file` too; most are names in `s/../../`
        script = script.replace(QUOTED, "x")
        if not is_known(script):
            state.found.nothing_is_clear()
            return
    try:
        for sign, text in _commands(script):
            if sign == "w":
                state.writes(text.strip())
            elif sign == "r":
                state.reads(text.strip())
            elif text.strip():
                state.program(text.strip())
            else:
                state.found.opaque()
    except (IndexError, ValueError):
        state.found.nothing_is_clear()


def _commands(script: str) -> Iterator[tuple[str, str]]:
    """Yield the commands that reach out of a script: `w`, `r` and `e`, with their texts.

    Raises `ValueError` or `IndexError` for what is not understood.
    """
    i = 0
    while i < len(script):
        if script[i] in " \t\n;{}":
            i += 1
            continue
        i = _after_address(script, i)
        sign, i = script[i], i + 1
        end = script.find("\n", i) if "\n" in script[i:] else len(script)
        if sign in "sy":
            i = _after_part(script, _after_part(script, i + 1, script[i]), script[i])
            flags = re.match(r"[gpIiMm0-9]*", script[i:])
            i += flags.end() if flags else 0
            while i < len(script) and script[i] in "ew":
                if script[i] == "w":
                    yield "w", script[i + 1 : end]
                    i = end
                else:
                    yield "e", ""
                    i += 1
            more = re.match(r"[gpIiMm0-9]*[ \t]*", script[i:])
            i += more.end() if more else 0
            if i < len(script) and script[i] not in ";\n}#":
                raise ValueError(script)
        elif sign in "wW":
            yield "w", script[i:end]
            i = end
        elif sign in "rR":
            yield "r", script[i:end]
            i = end
        elif sign == "e":
            yield "e", script[i:end]
            i = end
        elif sign in "aic#":
            i = end
        elif sign in ":btTvqQlL":
            while i < len(script) and script[i] not in ";\n}":
                i += 1
        elif sign not in "=dDgGhHnNpPxzF":
            raise ValueError(script)


def _after_address(script: str, i: int) -> int:
    while True:
        found = ADDRESS.match(script, i)
        i = found.end() if found else i
        if script[i] in "/\\":
            sign = script[i] if script[i] == "/" else script[i + 1]
            i = _after_part(script, i + (1 if script[i] == "/" else 2), sign)
            while script[i] in "IM":
                i += 1
        if script[i] in ", !":
            i += 1
            continue
        return i


def _after_part(script: str, i: int, sign: str) -> int:
    """Return the place behind the next `sign` that is not escaped, nor in brackets."""
    in_brackets = False
    while script[i] != sign or in_brackets:
        if script[i] == "\\":
            i += 1
        elif script[i] == "[" and not in_brackets and "]" in script[i + 2 :]:
            in_brackets = True
            i += 2 if script[i + 1] == "^" else 1
        elif script[i] == "]":
            in_brackets = False
        i += 1
    return i + 1


RUNS = (
    "--checkpoint-action",
    "--to-command",
    "--use-compress-program",
    "-I",
    "--info-script",
    "-F",
)


def tar(state: Shell, args: Words, __: Stdin) -> str | None:
    """Note what a call of tar does: the archive, the folder it extracts to, commands it runs."""
    words = list(args)
    if words and words[0][:1] != "-":
        words[0] = f"-{words[0]}"
    words = _old_style(words)
    long = ("--file", "--directory", "--exclude", "--transform", *RUNS)
    said = sorted_options(words, "fCIFTXbgKNVH", long)
    for each in words:
        if each.startswith("--checkpoint-action="):
            _action(state, each.partition("=")[2])
    for each in RUNS[1:]:
        if each in said.values:
            state.program(said.values[each])
    archive = said.values.get("-f", said.values.get("--file", ""))
    folder = said.values.get("-C", said.values.get("--directory", ""))
    host, sign, _ = archive.partition(":")
    if sign and "/" not in host and not said.has("--force-local"):
        state.found.hosts.append(host.rpartition("@")[2])
    if said.has("-x", "--extract", "--get"):
        state.reads(archive or "-")
        state.writes(folder or ".")
        if said.has("-P", "--absolute-names"):
            state.found.writes.append(QUOTED)
        if "--one-top-level" in said.values:
            state.writes(said.values["--one-top-level"])
    elif said.has("-c", "-r", "-u", "--create", "--append"):
        for each in said.rest:
            state.reads(f"{folder.rstrip('/')}/{each}" if folder and each[:1] != "/" else each)
        for each in ("-T", "--files-from"):
            if each in said.values:
                state.reads(said.values[each])
        if archive and archive != "-":
            state.writes(archive)
    if said.has("--remove-files"):
        for each in said.rest:
            state.deletes(each)
    return None


def _old_style(words: list[str]) -> list[str]:
    """Return `-xzf a.tar` as `-xz -f a.tar`: letters with values need not be the last one."""
    if not words or not re.fullmatch(r"-[A-Za-z]{2,}", words[0]):
        return words
    letters, rest = words[0][1:], words[1:]
    made: list[str] = []
    for each in letters:
        made.append(f"-{each}")
        if each in "fCbIFTX" and rest:
            made.append(rest.pop(0))
    return made + rest


def _action(state: Shell, text: str) -> None:
    if text.startswith("exec="):
        state.program(text.removeprefix("exec="))
