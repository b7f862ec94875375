"""Finds likely typing mistakes in arguments: what compiles, and can never match, or matches far too
much.

In: a formula, and the tools that there are. Out: problems that are refused, and those that are
warned of.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

import sponsio_like.logic.formula as f
from sponsio_like.contracts.guarantees import demanded_of_calls
from sponsio_like.errors import Problem, refuse
from sponsio_like.events import ANY_TEXT, ODD_TEXTS, regex, whole_or_anchored
from sponsio_like.values import kind_step, path_parts

EVERYTHING = frozenset({"any", "all", "every", "everything"})
"""Names that are taken for a slip, unless the inventory has a tool of that name."""
CAP = 1_000_000
"""The number of calls from which a cap is never reached."""

ESCAPED = re.compile(r"\\.", re.DOTALL)
LETTER = r"[\w #%@&,;:<>=/'\"~!-]"
MISPLACED = re.compile(
    rf"\$(?:{LETTER}|\((?!\?)[^()|]*\))(?![*?{{])|\$\{{[A-Za-z]|(?:{LETTER}|\.)\^"
)
"""A sign for the end of a text with a letter behind it, or for its beginning with one before it."""
GROUP = re.compile(r"\(\?(?:[a-zA-Z]*:|P?<\w+>)")
MULTILINE = re.compile(r"\(\?[a-zU]*m")

CLASS = re.compile(r"(?<!\\)\[(\^?)((?:\[:\^?\w+:\]|\\.|[^\]\\])+)\]")
RANGE = re.compile(r"[a-y]-[zf]|[A-Y]-[ZF]|\d-\d|\\[wdsWDS]|\[:")
HOST = re.compile(r"(?:[\w-]*[A-Za-z]\w\\?\.)+[A-Za-z]{2,}\$?|[A-Za-z]{4,}\$", re.ASCII)
AUTHORITY = re.compile(
    r"(?:(?<=://)|(?<=@))(?:\w|\\?[.-]|\\-)+"
    r"|(?<![\w.\\/])(?:\w[\w-]*\\?\.)+(?:com|org|net|io|dev|gov|edu|corp|local|internal)\b",
    re.ASCII,
)
BARE = re.compile(r"(?<=\w)\.(?=\w)", re.ASCII)
AFTER_SCHEME = re.compile(r"https?\??:(?:\\?/){2}([^/]*)")
LITERAL = re.compile(r"(?:[\w-]|\\?[.-])*[A-Za-z](?:[\w-]|\\?[.-])*", re.ASCII)
OTHER_HOSTS = tuple(
    scheme + text
    for scheme in ("https://", "http://")
    for text in (
        "{}.evil.example/",
        "{}@evil.example/",
        "{}:443@evil.example/",
        "evil.example/{}/",
        "evil.example?{}/",
        "evil.example/?https://{}/",
    )
)
"""`AFTER_SCHEME` and `LITERAL` find hosts in a pattern; `OTHER_HOSTS` have them elsewhere."""
INDEX = re.compile(r"\[\d+\]")
LENGTH = re.compile(r"\.(?:length|len|size)$")
COMPARISON = re.compile(r"\s*(>=|<=|==|!=|>|<|=)\s*([+-]?\d+(?:\.\d+)?)\s*", re.ASCII)
SIGNS = {">=": "ge", "<=": "le", "==": "equals", "=": "equals", "!=": "ne", ">": "gt", "<": "lt"}
GLOB = re.compile(r"\*[\w@.+-]+|[\w@.+-]+\*", re.ASCII)
"""`COMPARISON` and `GLOB` find texts that were meant as a comparison or as a glob."""
OPTIONAL = (
    "leave it out: it is about a field that binds a `$x`, the `field` of `value_from`, "
    "`arg_allowlist`, `arg_value_range` and `amount_limit`, and no field of `by`, `fields`, `same`"
)
WORDS = re.compile(r"(?<!\\)(?:\\\\)*\\[wW]")
EDGES = re.compile(r"[^\x00-\x7f]\)*\\[bB]|(?<!\\)\\[bB](?:\((?:\?\w*:)?)*[^\x00-\x7f]")
r"""`WORDS` finds `\w` and `\W`; `EDGES` finds `\b` beside a letter that is not of ASCII."""
FOLDER = re.compile(r"\^?((?:/[\w-]+)+)", re.ASCII)
"""The folder with which a pattern has texts begin."""
LETTERS = r"write `[\pL\pM\pN_]` for `\w`, and `(?:^|[^\pL])`, `(?:[^\pL]|$)` for `\b`"
_TARGETED = (f.Happens, f.Sum, f.Repeats, f.Delivered, f.Denied)
_TELLING = frozenset(
    {
        *_TARGETED,
        f.Arg,
        f.Mark,
        f.Output,
        f.OutputIs,
        f.TextIs,
        f.TextMatches,
        f.Compare,
        f.Custom,
    }
)
"""The nodes that have targets, paths, values or regular expressions of their own."""
LISTED = frozenset({"arg_allowed"})
"""The atoms of allowlists."""


def check_slips(root: f.Formula, tools: Collection[str] | None) -> None:
    """Raise `ContractError` for what can never match, or means something unexpected."""
    refuse(_mistakes(root, tools))


def check_tools_meant(root: f.Formula, tools: Collection[str] | None) -> None:
    """Raise `ContractError` for a name that is taken for a word, as `check_slips` does."""
    refuse(_names(root, tools))


def _mistakes(root: f.Formula, tools: Collection[str] | None) -> Iterator[Problem]:
    nodes = [node for node in f.postorder(root) if type(node) in _TELLING]
    yield from _names(root, tools)
    yield from _whole_and_part(nodes)
    yield from (each for node in nodes for each in _texts(node))
    yield from (each for node in nodes for each in _empty(node))
    yield from (each for node in nodes for each in _never_full(node))
    for node in nodes:
        for path in _paths(node):
            if INDEX.search(path):
                instead = INDEX.sub("[]", path)
                what = f"no call has a field `{path}`: elements of a list have no numbers here"
                yield Problem(what, hint=f"write `{instead}` for all of them")
        for pattern in _patterns(node):
            yield from _negated(pattern)
            yield from _never(pattern)


def _never_full(node: f.Node) -> Iterator[Problem]:
    """Yield a problem for a cap that so few steps never reach."""
    match node:
        case f.Compare(f.Count(bound=f.Steps(steps)), "<=" | "<" as sign, f.Const(most)):
            if isinstance(most, (int, float)) and most >= steps + (sign == "<"):
                what = f"at most {most} in {steps} steps is never broken"
                hint = (
                    f"{steps} steps have {steps} calls at most; write a smaller cap, or more steps"
                )
                yield Problem(what, hint=hint)


def check_idle_missing(root: f.Formula) -> Iterator[Problem]:
    """Yield a problem for each `missing` whose match binds no value, so that it changes nothing."""
    said: dict[str, None] = {}
    for match in f.matches_in([root]):
        if match.strict is None:
            continue
        bound = {each.path for each in match.conditions if isinstance(each.value, f.Var)}
        if match.strict is True and not bound:
            said["refuse"] = None
        elif match.strict is False and bound <= {"*", "@call"}:
            said["skip"] = None
    for word in said:
        yield Problem(f"`missing: {word}` would change nothing here", hint=OPTIONAL)


def doubts(root: f.Formula) -> Iterator[Problem]:
    """Yield problems to warn of: what may be meant, and seldom is."""
    for node in f.postorder(root):
        if type(node) not in _TELLING:
            continue
        for path in _paths(node):
            if LENGTH.search(path) and not any(map(kind_step, path_parts(path))):
                what = f"`{path}` is a field of that name: lists and texts have none"
                yield Problem(what, hint=f"for the elements write `{LENGTH.sub('[]', path)}`")
        for path, op, value in () if isinstance(node, f.Happens) else _tests(node):
            if op == "=" and isinstance(value, str) and GLOB.fullmatch(value):
                instead = re.escape(value).replace(r"\*", ".*").replace(r"\@", "@")
                what = f"`{path}` is compared with `{value}`, in which `*` and `?` have no meaning"
                yield Problem(what, hint=f"write {{matches: '^{instead}$'}}")
        for pattern in _patterns(node):
            yield from _ascii_only(pattern)
        match node:
            case f.Compare(f.Count() | f.Repeats() | f.Delivered(), "<=" | "<", f.Const(most)):
                if isinstance(most, (int, float)) and most >= CAP:
                    yield Problem(f"a cap of {most} is never reached", hint="write a smaller one")
            case f.Custom(name, (_, tuple() as patterns)) if name in LISTED:
                for pattern in patterns:
                    yield from _bare(pattern)
                    yield from _another_host(pattern, whole_or_anchored(pattern))
                    yield from _all(pattern)
                    yield from _upwards(pattern, whole_or_anchored(pattern))
    for each in demanded_of_calls(root):
        if each.op == "matches" and isinstance(each.value, str):
            yield from _bare(each.value)
            yield from _another_host(each.value, each.value)
            yield from _upwards(each.value, each.value)


def lowered_sums(root: f.Formula) -> Iterator[Problem]:
    """Yield a problem for each cap on a sum that an amount below 0 may lower."""
    for node in f.postorder(root):
        match node:
            case f.Compare(f.Sum(_, path), "<=" | "<", f.Const()) if not _is_floored(root, path):
                what = f"an amount below 0 lowers the sum of `{path}`"
                hint = f"write the pattern `amount_limit`, or add `& arg({path}) >= 0`"
                yield Problem(what, hint=hint)


def _is_floored(root: f.Formula, path: str) -> bool:
    """True if a formula asks somewhere that what it sums is at least a number from 0 on."""
    bounds: list[object] = []
    for node in f.postorder(root):
        match node:
            case f.Compare(f.Arg(said), ">=" | ">", f.Const(least)) if said == path:
                bounds.append(least)
            case f.Custom("arg_between", (said, least, _)) if said == path:
                bounds.append(least)
            case f.Happens(_, target):
                asked = (each for match in target for each in match.conditions)
                bounds += [each.value for each in asked if each.path == path and each.op[0] == ">"]
    return any(isinstance(each, int | float) and each >= 0 for each in bounds)


def unsaid(root: f.Formula, given: Mapping[str, object]) -> Iterator[Problem]:
    """Yield a problem for each regular expression that has to find a value, where
    `missing` is not given.
    """
    if _says_missing(given):
        return
    for match in dict.fromkeys(f.matches_in([root])):
        for each in match.conditions if match.strict else ():
            if isinstance(each.value, f.Var) and each.value.regex and each.op == "matches":
                names = ", ".join(f"`{name}`" for name in match.names + match.globs)
                what = f"a call of {names} is refused if `{each.value.regex}` finds nothing"
                hint = "to let it pass write `missing: skip` in the match, else `missing: refuse`"
                yield Problem(f"{what} in its `{each.path}`", hint=hint)


def _says_missing(value: object) -> bool:
    """True if any match of an argument has `missing`."""
    match value:
        case f.Match():
            return value.strict is not None
        case f.Formula():
            return any(map(_says_missing, f.matches_in([value])))
        case str():
            return "@missing" in value
        case Mapping():
            return "missing" in value or any(map(_says_missing, value.values()))
        case list() | tuple():
            return any(map(_says_missing, value))
    return False


# --- tools ----------------------------------------------------------------------------------------


def _names(root: f.Formula, tools: Collection[str] | None) -> Iterator[Problem]:
    for name in dict.fromkeys(name for match in f.matches_in([root]) for name in match.names):
        if name.lower() in EVERYTHING and name not in (tools or ()):
            hint = "did you mean `*`? a tool that is really called so has to stand in `tools:`"
            yield Problem(f"`{name}` would be the name of a tool", hint=hint)


# --- values -------------------------------------------------------------------------------------


def _texts(node: f.Node) -> Iterator[Problem]:
    """Yield a problem for each text that looks like a comparison, and is compared as text."""
    for path, op, value in _tests(node):
        found = COMPARISON.fullmatch(value) if isinstance(value, str) and op in "!=" else None
        if found is not None:
            key = SIGNS[found[1]]
            what = f"`{path}` is compared with the very text `{value}`, which no number equals"
            hint = f'write {{{key}: {found[2]}}}; for this very text write {{in: ["{value}"]}}'
            yield Problem(what, hint=hint)


def _empty(node: f.Node) -> Iterator[Problem]:
    """Yield a problem for each pair of bounds on one value that no value can meet."""
    for match in f.matches_of(node):
        bounds: dict[str, list[tuple[float, bool, bool]]] = {}
        for each in match.conditions:
            value = each.value
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if number and each.op in ("<", "<=", ">", ">=") and "[]" not in each.path:
                assert isinstance(value, (int, float))
                bound = (value, each.op[0] == ">", each.op[1:] == "")
                bounds.setdefault(each.path, []).append(bound)
        for path, both in bounds.items():
            least = max((b for b in both if b[1]), default=None)
            most = min((b for b in both if not b[1]), key=lambda b: (b[0], not b[2]), default=None)
            if least is None or most is None:
                continue
            if least[0] > most[0] or (least[0] == most[0] and (least[2] or most[2])):
                what = f"nothing is above {least[0]} and below {most[0]}, as `{path}` would have to"
                yield Problem(what, hint="correct the bounds, or write two matches")


# --- variables ------------------------------------------------------------------------------------


def _whole_and_part(nodes: list[f.Node]) -> Iterator[Problem]:
    """Yield a problem for each variable that is all arguments here, and part of a text there."""
    whole: dict[str, None] = {}
    parts: set[str] = set()
    for path, op, value in (test for node in nodes for test in _tests(node)):
        if not isinstance(value, f.Var):
            continue
        if path == "@call" or (path == "*" and op == "="):
            whole[value.name] = None
        elif op in ("has", "carries") or value.regex is not None:
            parts.add(value.name)
    for name in (each for each in whole if each in parts):
        yield Problem(
            f"`${name}` is a whole call with all its arguments, which no text has in it",
            hint=f"bind one field: {{args: {{field: ${name}}}}}; a tool's name cannot be bound",
        )


def _tests(node: f.Node) -> Iterator[tuple[str, str, object]]:
    match node:
        case f.Happens(_, target):
            for condition in (each for match in target for each in match.conditions):
                yield condition.path, condition.op, condition.value
        case f.OutputIs(path, op, value):
            yield f"output.{path}", op, value
        case f.TextIs(op, value):
            yield "text", op, value


# --- paths and regular expressions ----------------------------------------------------------------


def _paths(node: f.Node) -> Iterator[str]:
    match node:
        case f.Happens(_, target):
            yield from (each.path for match in target for each in match.conditions)
        case f.Sum(_, path) | f.Arg(path) | f.Mark(path) | f.OutputIs(path) | f.Output(path):
            yield path
        case f.Custom(name, (str(path), *_)) if name.startswith("arg_"):
            yield path


def _patterns(node: f.Node) -> Iterator[str]:
    match node:
        case f.TextMatches(str(pattern)) | f.Compare(_, "matches", f.Const(str(pattern))):
            yield pattern
        case f.Custom(name, args) if name.startswith("arg_"):
            for each in args:
                if isinstance(each, tuple):
                    yield from (one for one in each if isinstance(one, str))
    for _, op, value in _tests(node):
        if isinstance(value, f.Var) and value.regex is not None:
            yield value.regex
        elif op == "matches" and isinstance(value, str):
            yield value


def _negated(pattern: str) -> Iterator[Problem]:
    """Yield a problem for `[^host.com$]`, meant as “not this host”: it is one character."""
    for found in CLASS.finditer(pattern):
        inside = found[2]
        if HOST.fullmatch(inside) and not RANGE.search(inside):
            yield Problem(
                f"`{found[0]}` stands for one character, not for a word or its absence",
                hint="without brackets it is the word; what must not be there is for "
                "`arg_blacklist`, what alone may be for `arg_allowlist`",
            )


def _never(pattern: str) -> Iterator[Problem]:
    """Yield a problem for `$100` and `a^b`: nothing stands behind the end of a text."""
    if MULTILINE.search(pattern):
        return
    bare = GROUP.sub("(", CLASS.sub("x", ESCAPED.sub("x", pattern)))
    if found := MISPLACED.search(bare):
        sign = "$" if "$" in found[0] else "^"
        where = "the end of the text" if sign == "$" else "its beginning"
        what = f"`{pattern}` never matches: `{sign}` is {where}"
        yield Problem(what, hint=f"write `\\{sign}` for the sign itself")


def _ascii_only(pattern: str) -> Iterator[Problem]:
    r"""Yield a problem for `\w` and `\b` beside letters that are not of ASCII."""
    plain = CLASS.sub(lambda found: found[0] if found[0].isascii() else "", pattern)
    letters = [each for each in pattern if each.isalpha() and not each.isascii()]
    if letters and (WORDS.search(plain) or EDGES.search(plain)):
        what = f"in `{pattern}` `\\w` and `\\b` know the letters of ASCII alone, not `{letters[0]}`"
        yield Problem(what, hint=LETTERS)


def _all(pattern: str) -> Iterator[Problem]:
    """Yield a problem for `.*` in an allowlist, which refuses only texts of several lines."""
    if not pattern.startswith(ANY_TEXT) and all(map(regex(whole_or_anchored(pattern)), ODD_TEXTS)):
        what = f"`{pattern}` matches every text of one line"
        yield Problem(what, hint="write what is allowed; for some text, whatever it is: `(?s).*`")


def _bare(pattern: str) -> Iterator[Problem]:
    """Yield a problem for `^https://api.corp/`, which lets `https://apixcorp/` through."""
    written = AUTHORITY.sub(lambda found: BARE.sub(r"\\.", found[0]), pattern)
    if written != pattern:
        what = f"in `{pattern}` a dot stands for any character"
        yield Problem(what, hint=f"write `{written}`")


def _upwards(pattern: str, searched: str) -> Iterator[Problem]:
    """Yield a problem for `^/workspace/`, which lets `/workspace/../etc/passwd` through.

    `searched` is the pattern as it is searched for.
    """
    found = FOLDER.match(pattern)
    path = f"{found[1]}/../../../../etc/passwd" if found else ""
    if found and regex(searched)(path):
        what = f"`{pattern}` also matches `{path}`, which lies elsewhere"
        yield Problem(what, hint=f"write {{under: {found[1]}}}, or `scope_limit`")


def _another_host(pattern: str, searched: str) -> Iterator[Problem]:
    """Yield a problem for `^https://api`, which lets `https://api.evil.example/` through.

    `searched` is the pattern as it is searched for.
    """
    matches = regex(searched)
    for url in _urls_elsewhere(pattern):
        if matches(url):
            what = f"`{pattern}` also matches `{url}`, which is a URL of another host"
            yield Problem(
                what, hint=r"write the host whole, and `/` behind it: `^https://api\.corp/`"
            )
            return


def _urls_elsewhere(pattern: str) -> Iterator[str]:
    """Yield URLs of other hosts that have a host of the pattern somewhere else in them."""
    for found in AFTER_SCHEME.finditer(CLASS.sub("?", pattern)):
        for literal in LITERAL.finditer(found[1]):
            host = literal[0].replace("\\", "")
            named = f"x{host}" if host[0] in ".-" else host
            yield from (each.format(named) for each in OTHER_HOSTS)
