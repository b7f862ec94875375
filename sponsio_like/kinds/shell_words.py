"""Expands words of a shell command as the shell does: quotes, variables, braces, splitting.

In: a node of the tree of `tree-sitter-bash`, and the values of variables. Out: the fields that the
command receives. What only a running shell could tell stands in a field as a sign of its own
(https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html, and bash's manual).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from fnmatch import translate
from typing import Any, NamedTuple, Protocol, TypeAlias

QUOTED, LOOSE = "\ue000", "\ue001"
"""The signs for what is unknown: in quotes, where it is part of one field, and outside, where it
may be many."""
GLOBS = {"*": "\ue002", "?": "\ue003", "[": "\ue004"}
"""Signs outside of quotes that stand for names of files."""
GLOB_SIGNS = str.maketrans(GLOBS)
BLANKS = re.compile("[ \t\n\ue005]")
"""The ends of fields in what an expansion gives: blanks, and `FIELD_END`."""
PLAIN_GLOBS = str.maketrans({sign: char for char, sign in GLOBS.items()})
SIGNS = re.compile("[\ue000-\ue004]")
OWN = re.compile("[\ue000-\uf8ff]")
FIELDS = 1_000
"""Most fields of one word."""
LETTERS = 50_000
"""Most characters that are looked at while the braces of one word are followed."""
SHORT = 200
"""Most characters of a value of which a pattern is cut off."""
ALONE = re.compile(rb"[\w./:=,@%^-]+", re.ASCII)
"""A word that is what it says."""
PLAIN = re.compile(
    rb"""[\w./:][\w./:,@%*?+~^-]*
    (?:[ ]+(?:[\w./:=,@%*?+~^-]+|'[^'\x80-\xff]*'|"[^"$`\\\x80-\xff]*"))*""",
    re.ASCII | re.VERBOSE,
)
"""A command without assignments, of words that say what they are, alone or whole in quotes."""
WORDS = re.compile(r"""'[^']*'|"[^"]*"|[^ ]+""")
SAME = frozenset({"command_name", "number", "word"})
"""Nodes that are what they say, if they are such words."""


class Char(NamedTuple):
    """Characters, one or more, and where they are from: as written, quoted, from an expansion."""

    text: str
    origin: int


Chars: TypeAlias = list[Char]
WRITTEN, IN_QUOTES, EXPANDED = 0, 1, 2


class Env(Protocol):
    """The source of values, positional parameters, and the output of commands."""

    def source(self, node: Any) -> bytes:
        """Return the text of a node."""

    def value(self, name: str) -> str | None:
        """Return the value of a variable; None if it is unknown."""

    def values(self, name: str) -> list[str] | None:
        """Return the elements of an array, `@` for the positional parameters; None: unknown."""

    def assign(self, name: str, value: str | None) -> None:
        """Set a variable."""

    def output(self, node: Any) -> str | None:
        """Run a command substitution; return what it writes, None if that is unknown."""

    def unclear(self) -> None:
        """Note that something is written in a way that is not understood."""


def globbed(text: str) -> str:
    """Return a text with signs in place of what stands for names of files."""
    if "*" in text or "?" in text or "[" in text:
        return text.translate(GLOB_SIGNS)
    return text


def shown(text: str) -> str:
    """Return a text with `*` and its like in place of their signs."""
    return text if text.isascii() else text.translate(PLAIN_GLOBS)


def is_known(field: str) -> bool:
    """True if nothing in the field is unknown."""
    return field.isascii() or SIGNS.search(field) is None


def fields(node: Any, env: Env) -> list[str]:
    """Return the fields that a word expands to; unquoted variables may give none, or several."""
    raw, type_of = env.source(node), node.type
    if type_of in SAME and ALONE.fullmatch(raw):
        return [raw.decode()]
    if type_of == "raw_string":
        return [raw[1:-1].decode(errors="replace")]
    chars = _chars(node, env, quoted=False)
    if not any(origin == WRITTEN and "{" in text for text, origin in chars):
        return list(_split(chars))
    made: list[str] = []
    for each in _braces(_apart(chars)):
        made += _split(each)
        if len(made) > FIELDS:
            env.unclear()
            return [LOOSE]
    return made


def plain_words(node: Any, env: Env) -> list[str]:
    """Return the words of a command that says them as they are; none if there is more to read."""
    raw = env.source(node)
    if PLAIN.fullmatch(raw) is None or node.has_error:
        return []
    text: str = raw.decode()
    if b"'" not in raw and b'"' not in raw:
        return globbed(text).split()
    return [each[1:-1] if each[0] in "'\"" else globbed(each) for each in WORDS.findall(text)]


WHOLE = re.compile("[^'\"$]+")
PIECES = re.compile(r"""'([^']*)'|"([^"]*)"|\$\{?(\w+)\}?|[^'"$]+""")
VALUED = re.compile(r"\$\{?(\w+)\}?")


def written_fields(text: str, env: Env) -> list[str]:
    """Return the fields of a word given as text: quotes, variables, letters and plain signs."""
    if text[0] == '"' and text.find('"', 1) == len(text) - 1:  # one field, whatever is in it
        parts = VALUED.split(text[1:-1])
        for i in range(1, len(parts), 2):
            value = env.value(parts[i])
            parts[i] = QUOTED if value is None else value
        return ["".join(parts)]
    if "'" not in text and '"' not in text:
        parts = VALUED.split(text)
        for i in range(1, len(parts), 2):
            value = env.value(parts[i])
            if value is None:
                parts[i] = LOOSE
            elif value and BLANKS.search(value) is None:
                parts[i] = value
            else:
                break
        else:
            return [globbed("".join(parts))]
    return list(_split(_pieces(text, env)))


def one_written(text: str, env: Env) -> str:
    """Return such a word as one field, as in an assignment."""
    if WHOLE.fullmatch(text):
        return text.replace(LOOSE, QUOTED)
    return "".join([each.text for each in _pieces(text, env)]).replace(LOOSE, QUOTED)


def _pieces(text: str, env: Env) -> Chars:
    chars: Chars = []
    for found in PIECES.finditer(text):
        match found.lastindex:
            case 1:
                chars += _run(found[1], IN_QUOTES)
            case 2:
                for i, part in enumerate(VALUED.split(found[2])):
                    chars += _variable(part, env, quoted=True) if i % 2 else _run(part, IN_QUOTES)
            case 3:
                chars += _variable(found[3], env, quoted=False)
            case _:
                chars.append(Char(found[0], WRITTEN))
    return chars


def one_field(node: Any, env: Env) -> str:
    """Return a word as one field, as in an assignment and after `<<<`."""
    chars = _chars(node, env, quoted=False)
    return "".join(each.text for each in chars).replace(LOOSE, QUOTED)


def text_of(source: str) -> str:
    """Return a text with the signs for what is unknown replaced; such signs are no letters."""
    return OWN.sub("\ufffd", source)


def _run(text: str, origin: int) -> Chars:
    return [Char(text, origin)] if text else []


def _apart(chars: Chars) -> Chars:
    """Return characters one by one: braces are found among them."""
    return [Char(each, origin) for text, origin in chars for each in text]


# --- characters -----------------------------------------------------------------------------------


def _chars(node: Any, env: Env, *, quoted: bool) -> Chars:
    origin = IN_QUOTES if quoted else WRITTEN
    text = env.source(node).decode(errors="replace")
    match node.type:
        case "word" | "number" | "variable_name" | "extglob_pattern" | "regex" | "test_operator":
            return _unescaped(text, origin)
        case "raw_string":
            return _run(text[1:-1], IN_QUOTES)
        case "ansi_c_string" | "ansii_c_string":
            return _run(_ansi(text[2:-1]), IN_QUOTES)
        case "string":
            return _in_quotes(node, env)
        case "translated_string" | "concatenation" | "command_name" | "subscript_text":
            return [char for each in node.children for char in _part(each, env, quoted=quoted)]
        case "simple_expansion":
            return _variable(text[1:], env, quoted=quoted)
        case "expansion":
            return _expansion(node, env, quoted=quoted)
        case "command_substitution":
            return _expanded(env.output(node), quoted=quoted)
        case "arithmetic_expansion":
            return _arithmetic(node, env)
        case "brace_expression":
            return _run(text, WRITTEN)
        case "process_substitution":
            env.output(node)
            return [Char("/dev/fd/" + QUOTED, IN_QUOTES)]
        case "array":
            return [Char(LOOSE, EXPANDED)]
    env.unclear()
    return [Char(QUOTED, origin)]


def _part(node: Any, env: Env, *, quoted: bool) -> Chars:
    if node.type == "$":  # of `$"..."`
        return []
    return _chars(node, env, quoted=quoted)


def _unescaped(text: str, origin: int) -> Chars:
    if "\\" not in text:
        return _run(text, origin)
    made: Chars = []
    i = 0
    while i < len(text):
        if text[i] == "\\" and origin == WRITTEN and i + 1 < len(text):
            if text[i + 1] != "\n":
                made.append(Char(text[i + 1], IN_QUOTES))
            i += 2
        else:
            made.append(Char(text[i], origin))
            i += 1
    return made


def _in_quotes(node: Any, env: Env) -> Chars:
    """Return what stands in double quotes: text between the children counts, too."""
    made: Chars = []
    raw, start = env.source(node), node.start_byte
    at, end = 1, len(raw) - 1
    for child in node.children:
        if child.type in ('"', "string_content"):
            continue
        first = child.start_byte - start
        if child.type == "$":
            continue
        made += _plain(raw[at:first])
        made += _chars(child, env, quoted=True)
        at = child.end_byte - start
    return made + _plain(raw[at:end])


ESCAPED = re.compile(r'\\([$`"\\])')


def _plain(raw: bytes) -> Chars:
    text = raw.decode(errors="replace")
    if "\\" in text:
        text = ESCAPED.sub(r"\1", text.replace("\\\n", ""))
    return _run(text, IN_QUOTES)


SIMPLE = {"\\n": "\n", "\\t": "\t", "\\e": "\x1b", "\\E": "\x1b", "\\?": "?", '\\"': '"'}
ANSI = re.compile(
    r"\\(?:x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL
)


def _ansi(text: str) -> str:
    r"""Return `\x72m` as `rm`, as in `$'..'` and in `echo -e`."""

    def char(found: re.Match[str]) -> str:
        said = found[0]
        if said in SIMPLE:
            return SIMPLE[said]
        if said[1] in "xuU" and len(said) > 2:
            return chr(min(int(said[2:], 16), 0x10FFFF))  # noqa: FURB166  no prefix of Python
        if said[1] in "01234567":
            return chr(int(said[1:], 8) & 0xFF)
        if said[1] == "c" and len(said) == 3:
            return chr(ord(said[2].upper()) ^ 0x40)
        return codecs.decode(said, "unicode_escape") if said[1] in "abfrv\\'" else said

    return ANSI.sub(char, text)


def with_escapes(text: str) -> str:
    r"""Return a text as `echo -e` and `printf` write it: `\x72` is `r`, `\0162` too."""
    return _ansi(re.sub(r"\\0([0-7]{1,3})", r"\\\1", text))


# --- expansions -----------------------------------------------------------------------------------


def _expanded(value: str | None, *, quoted: bool) -> Chars:
    if value is None:
        return [Char(QUOTED, IN_QUOTES) if quoted else Char(LOOSE, EXPANDED)]
    return _run(value, IN_QUOTES if quoted else EXPANDED)


def _variable(name: str, env: Env, *, quoted: bool) -> Chars:
    if name in ("@", "*"):
        return _array(name, env, quoted=quoted)
    if name in ("#", "?", "$", "!", "-"):
        return [Char(QUOTED, IN_QUOTES)]
    return _expanded(env.value(name), quoted=quoted)


FIELD_END = "\ue005"
"""The end of a field inside of quotes: `"$@"` gives several."""


def _array(name: str, env: Env, *, quoted: bool) -> Chars:
    found = env.values(name)
    if found is None:
        return [Char(LOOSE, EXPANDED)]
    chars: Chars = []
    for i, each in enumerate(found):
        if i:
            chars.append(Char(FIELD_END, EXPANDED))
        chars += _run(each, IN_QUOTES if quoted else EXPANDED)
    return chars


def _hides(node: Any, text: str) -> bool:
    """True if the text of `${..}` runs more than its tree shows: `${a#$(rm x)}` is a pattern."""
    written = text.count("$(") + (text.count("`") + 1) // 2
    if not written:
        return False
    stack, shown = [node], 0
    while stack:
        each = stack.pop()
        shown += each.type in ("command_substitution", "arithmetic_expansion")
        stack += each.children
    return shown < written


def _expansion(node: Any, env: Env, *, quoted: bool) -> Chars:
    """Return what `${..}` gives, for the operators that are known; else it is unknown."""
    inner = env.source(node).decode(errors="replace")[2:-1]
    if _hides(node, inner):
        env.unclear()
    if found := re.fullmatch(r"(\w+)\[([@*]|\d+)\]", inner):
        if found[2] in "@*":
            return _array(found[1], env, quoted=quoted)
        values = env.values(found[1])
        known_one = values is not None and int(found[2]) < len(values)
        return _expanded(values[int(found[2])] if values and known_one else None, quoted=quoted)
    if re.fullmatch(r"\w+|[@*]", inner):
        return _variable(inner, env, quoted=quoted)
    if found := re.fullmatch(r"!(\w+)", inner):
        name = env.value(found[1])
        value = env.value(name) if name is not None and name.isidentifier() else None
        return _expanded(value, quoted=quoted)
    found = re.match(r"(\w+)(:?[-=+?]|:|##?|%%?|//?|\^\^?|,,?)", inner)
    if found is None:
        if not re.match(r"#\w+$", inner):
            _inside(node, env)
        return _expanded(None, quoted=quoted)
    return _expanded(_operated(node, found[1], found[2], inner[found.end() :], env), quoted=quoted)


def _inside(node: Any, env: Env) -> list[str]:
    """Return the words inside of `${..}`, expanded, so that commands in them are run."""
    words = ("word", "string", "raw_string", "concatenation", "expansion", "simple_expansion")
    runs = ("command_substitution", "ansi_c_string", "regex", "process_substitution", "number")
    return [one_field(each, env) for each in node.children if each.type in words + runs]


def _operated(node: Any, name: str, sign: str, rest: str, env: Env) -> str | None:
    value, words = env.value(name), _inside(node, env)
    said = "".join(words)
    if sign.lstrip(":") in ("-", "=", "+", "?") and len(sign.lstrip(":")):
        return _default(name, sign, value, said, env)
    if value is None or not all(map(is_known, words)):
        return None
    if sign == ":":
        found = re.fullmatch(r"\s*(-?\d+)(?::\s*(-?\d+))?\s*", rest)
        if found is None:
            return None
        first = int(found[1])
        last = None if found[2] is None else int(found[2])
        end = None if last is None else (last if last < 0 else first % (len(value) + 1) + last)
        return value[first:end]
    if sign in ("^", "^^", ",", ",,") and not rest:
        change = str.upper if sign[0] == "^" else str.lower
        return change(value) if len(sign) == 2 else change(value[:1]) + value[1:]
    if sign[0] in "#%":
        return _trimmed(value, rest, sign)
    if sign[0] == "/" and re.fullmatch(r"[\w. -]*(/[\w. -]*)?", rest):
        old, _, new = rest.partition("/")
        return value.replace(old, new, -1 if sign == "//" else 1) if old else value
    return None


def _default(name: str, sign: str, value: str | None, said: str, env: Env) -> str | None:
    """Return `${X:-said}` and its like. A variable that nobody has set may be set or not."""
    if sign[-1] == "+":
        return None if value is None else said if value else ""
    if value is None:
        return None
    if value == "" and sign[-1] in "-=":
        if sign[-1] == "=":
            env.assign(name, said)
        return said
    return value


def _trimmed(value: str, pattern: str, sign: str) -> str | None:
    if len(value) > SHORT:
        return None
    if re.search(r"[\\'\"$`(]", pattern):
        return None
    fits = re.compile(translate(pattern)).match
    cuts: Iterator[int] = iter(range(len(value) + 1))
    order = list(cuts) if sign in ("#", "%%") else list(range(len(value), -1, -1))
    for cut in order:
        if sign[0] == "#" and fits(value[:cut]):
            return value[cut:]
        if sign[0] == "%" and fits(value[cut:]):
            return value[:cut]
    return value


def _arithmetic(node: Any, env: Env) -> Chars:
    """Return a number where the sum is one; anything else is some number."""
    stack = list(node.children)
    while stack:
        child = stack.pop()
        if child.type == "command_substitution":
            env.output(child)
        else:
            stack += child.children
    inner = env.source(node).decode(errors="replace").strip("$()[] ")
    if re.fullmatch(r"\d{1,9}", inner):
        return _run(inner, IN_QUOTES)
    return [Char(QUOTED, IN_QUOTES)]


# --- braces and fields ----------------------------------------------------------------------------


def _braces(chars: Chars) -> Iterator[Chars]:
    """Yield the words of `a{b,c}` and `{1..3}`; what is in quotes is no brace."""
    stack, count = [(chars, 0)], 0
    work = chars.count(Char("{", WRITTEN)) * len(chars)
    while stack and count <= FIELDS and work <= LETTERS:
        word, start = stack.pop()
        work += len(word)
        cut = _first_brace(word, start)
        if cut is None:
            count += 1
            yield word
            continue
        first, last, options = cut
        count += len(options) // 8
        if len(options) > FIELDS or len(options) * len(word) > LETTERS:
            stack.append((word, first))
            break
        stack += [(word[:first] + each + word[last + 1 :], first) for each in reversed(options)]
    if stack:  # more than are followed
        yield [Char(LOOSE, EXPANDED)]


def _first_brace(chars: Chars, start: int) -> tuple[int, int, list[Chars]] | None:
    for first in range(start, len(chars)):
        if chars[first] == ("{", WRITTEN):
            found = _options(chars, first)
            if found is not None:
                return (first, *found)
    return None


def _options(chars: Chars, first: int) -> tuple[int, list[Chars]] | None:
    depth, start = 0, first + 1
    parts: list[Chars] = []
    for i in range(first, len(chars)):
        text, origin = chars[i]
        if origin != WRITTEN:
            continue
        depth += (text == "{") - (text == "}")
        if depth == 1 and text == ",":
            parts.append(chars[start:i])
            start = i + 1
        elif depth == 0:
            parts.append(chars[start:i])
            if len(parts) > 1:
                return i, parts
            inner = "".join(each.text for each in parts[0])
            items = _counted(inner)
            return None if items is None else (i, items)
    return None


def _counted(inner: str) -> list[Chars] | None:
    if found := re.fullmatch(r"(-?\d{1,6})\.\.(-?\d{1,6})(?:\.\.-?\d+)?", inner):
        a, b = int(found[1]), int(found[2])
        step = 1 if a <= b else -1
        numbers = range(a, b + step, step)[: FIELDS + 1]
        return [[Char(each, IN_QUOTES) for each in str(number)] for number in numbers]
    if found := re.fullmatch(r"([A-Za-z])\.\.([A-Za-z])", inner):
        a, b = ord(found[1]), ord(found[2])
        step = 1 if a <= b else -1
        return [[Char(chr(each), IN_QUOTES)] for each in range(a, b + step, step)]
    return None


def _split(chars: Chars) -> Iterator[str]:
    """Yield the fields of a word: what an expansion gave outside of quotes is split at blanks."""
    field: list[str] = []
    there = not chars or any(each.origin != EXPANDED for each in chars)
    begun = False
    for text, origin in chars:
        if origin == EXPANDED and (cuts := BLANKS.split(text))[1:]:
            for each in cuts[:-1]:
                if begun or each:
                    yield "".join(field) + globbed(each)
                field, begun = [], False
            text = cuts[-1]  # noqa: PLW2901  the last one goes on
            if not text:
                continue
        begun = True
        field.append(text if origin == IN_QUOTES else globbed(text))
    if field or (there and not begun):
        yield "".join(field)
