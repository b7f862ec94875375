"""The kind `shell`: what a command of a POSIX shell or of bash runs, reads, writes and deletes.

In: a text, or the words of one command. Out: facts. The text is parsed (tree-sitter-bash) and
followed as the shell would: quotes, variables, substitutions, pipes, here-documents, functions, and
commands that run others. What only a running shell could tell is unknown. Nothing is run.
"""

from __future__ import annotations

import functools
import itertools
import re
import shlex
from collections.abc import Callable
from typing import Any

from sponsio_like.kinds.registry import kind, unknown
from sponsio_like.kinds.shell_commands import perform
from sponsio_like.kinds.shell_hidden import SUBSCRIPT, joined, left_out
from sponsio_like.kinds.shell_output import Redirection, directed, emptied
from sponsio_like.kinds.shell_plain import follow_line, follow_lines, plain_line, plain_lines
from sponsio_like.kinds.shell_state import (
    FACTS,
    LONGEST,
    NOTHING,
    Found,
    Shell,
    Stdin,
    TooMuch,
)
from sponsio_like.kinds.shell_words import QUOTED, fields, is_known, one_field, plain_words, text_of
from sponsio_like.values import Facts

SKIPPED = frozenset({"comment", "heredoc_start", "heredoc_end", "file_descriptor", "variable_name"})
"""Nodes in which nothing runs."""
SETS = re.compile(rb"[\w+\]]=|read|cd|pushd|popd|mapfile")
"""A sign of each text that sets a variable or goes to another folder."""
PIECE = 256
"""Bytes for which the parser may take so many steps; a shorter text is parsed without a count."""
STEPS = 10
"""Hundreds of steps for each piece; commands that people write take two at most."""
READS, PIECE_READS = 24, 4
"""Most times that the parser may go back in the text, and how many more for each piece: what people
write takes it some ten times, what is no shell once for each sign.
"""
IN_ERROR = 8
"""A step past an error counts as so many: there the text is no shell."""
DOUBLE = re.compile(
    rb"\[[^\[\]]*?(?:&&|\|)[^\[\]]*[^\s\[\]]\]|\S\][^\S\n]*(?:\\\n\s*)?\|(?!\|)", re.DOTALL
)
"""A test that may also be words, `[a&&b]|`: the parser keeps both readings of each."""
DOUBLES = 16
"""Most of these: with each one more, the parser takes twice the time, and cannot be stopped."""
STARTS = re.compile("[(`<>]")
"""The signs of substitutions and redirections."""
BRANCHES = frozenset({"if_statement", "elif_clause", "else_clause", "case_statement", "case_item"})


@functools.cache
def _parser() -> Callable[[], Any]:
    """Return a function that makes a parser: one must not be used by two threads."""
    import tree_sitter_bash  # of the extra [kinds]
    from tree_sitter import Language, Parser

    return functools.partial(Parser, Language(tree_sitter_bash.language()))


def _tree(text: bytes) -> Any:
    """Return the root of the tree of a text. Raises `TooMuch`.

    What is no shell takes the parser up to the cube of its length. So its work is counted: it tells
    after each hundred steps if it is looking for a way past an error, and asks for the text
    whenever it goes back in it.
    """
    if text.count(b"]") > DOUBLES and len(DOUBLE.findall(text)) > DOUBLES:
        raise TooMuch
    parser = _parser()()
    if len(text) <= PIECE:
        return parser.parse(text).root_node
    pieces = 1 + len(text) // PIECE
    left, reads = STEPS * pieces, READS + PIECE_READS * pieces

    def is_too_much(_: int, has_error: bool) -> bool:
        nonlocal left
        left -= IN_ERROR if has_error else 1
        return left < 0 or reads < 0

    def read(at: int, _: Any) -> bytes:
        nonlocal reads
        reads -= 1
        return text[at:]

    try:
        tree = parser.parse(read, progress_callback=is_too_much)
    except ValueError:
        raise TooMuch from None
    return tree.root_node


def _words_of(words: tuple[str, ...]) -> Facts:
    """Return the facts of a command that is given as a list of words."""
    if len(words) == 1:
        return shell(words[0])  # a tool may hand it to a shell
    return _facts(lambda state: perform(state, [text_of(each) for each in words], Stdin()), words)


@kind(
    "shell",
    FACTS,
    main="runs",
    needs=("tree_sitter", "tree_sitter_bash", "sponsio_like.kinds.shell_line"),
    of_words=_words_of,
    steps=100,
)
def shell(text: str) -> Facts:
    """Return what a command does, as far as its text tells."""
    return _facts(lambda state: state.program(text_of(text)), (text,))


def _facts(follow: Any, given: tuple[str, ...]) -> Facts:
    if sum(map(len, given)) > LONGEST:
        return unknown(name.removesuffix("[]") for name in FACTS)
    found = Found()
    try:
        follow(Shell(found, _walk_text, perform))
    except (TooMuch, RecursionError):
        return unknown(name.removesuffix("[]") for name in FACTS)
    return found.facts()


# --- statements -----------------------------------------------------------------------------------


def _walk_text(state: Shell, text: Any, stdin: Stdin) -> str | None:
    """Follow a program, or a node of one; return what it writes, None if that is unknown."""
    if not isinstance(text, str):
        return (
            _sequence(state, text, stdin)
            if text.type != "compound_statement"
            else follow(state, text, stdin)
        )
    if "\x00" in text:
        state.found.nothing_is_clear()
        return None
    lines, text = plain_lines(text)
    if lines:
        said = follow_lines(state, lines, stdin)
        rest = _parsed(state, text, stdin) if text.strip() else ""
        return None if said is None or rest is None else said + rest
    return _parsed(state, text, stdin)


def _parsed(state: Shell, text: str, stdin: Stdin) -> str | None:
    """Follow a program by its tree; return what it writes."""
    raw = text.encode(errors="replace")
    raw, root = joined(raw, _tree) if b"\\\n" in raw else (raw, _tree(raw))
    if root is None:
        raise TooMuch
    if root.has_error and not (b"<>" in raw and _is_clear(root)):
        state.found.nothing_is_clear()
    before, state.raw = state.raw, raw
    output = _sequence(state, root, stdin)
    for node in left_out(root, raw, state.followed, state.called):
        state.output(node)
    state.raw = before
    return output


def _is_clear(node: Any) -> bool:
    """True if the only errors in a tree are signs of `<>`, which the parser lacks."""
    if node.is_error or node.is_missing:
        return _opens_both(node)
    return not node.has_error or all(map(_is_clear, node.children))


def _opens_both(error: Any) -> bool:
    """True if an error is one of both signs of `3<> a`; the parser knows the other one."""
    if error.parent is None or error.parent.type != "file_redirect":
        return False
    if error.text == b"<":
        other, sign = error.next_sibling, ">"
    else:
        other, sign = error.prev_sibling, "<" if error.text == b">" else ""
    adjoins = other is not None and error.end_byte - other.start_byte in (0, 2)
    return bool(adjoins and other.type == sign)


def _sequence(state: Shell, node: Any, stdin: Stdin) -> str | None:
    """Follow the statements in a node, one after another."""
    said: list[str] | None = []
    for child in node.children:
        if not child.is_named or child.type in SKIPPED:
            if child.type == "&":
                state.found.background = True
            continue
        output = follow(state, child, stdin)
        said = None if output is None or said is None else [*said, output]
    return None if said is None else "".join(said)


def follow(state: Shell, node: Any, stdin: Stdin) -> str | None:
    """Follow one statement; return what it writes to its output, None if that is unknown."""
    state.step()
    match node.type:
        case "command" | "pipeline" | "redirected_statement":
            line = None if node.has_error else plain_line(state, _said(state, node))
            if line is not None:
                return follow_line(state, line, stdin)
            return SIMPLE[node.type](state, node, stdin)
        case "variable_assignment":
            _assignment(state, node)
            return ""
        case "declaration_command":
            return _declared(state, node)
        case "function_definition":
            return _defined(state, node)
        case "for_statement":
            return _for(state, node, stdin)
        case "while_statement" | "c_style_for_statement":
            return _loop(state, node, stdin)
        case "if_statement" | "case_statement":
            return _branches(state, node, stdin)
        case "subshell":
            return _apart(state, node, stdin)
        case "list":
            return _list(state, node, stdin)
        case "unset_command":
            return _unset(state, node)
        case "compound_statement" | "program" | "do_group" | "negated_command" | "else_clause":
            return _sequence(state, node, stdin)
        case "test_command":
            return _tested(state, node, stdin)
        case "file_redirect":  # `$(<file)`
            if not _writes(node):
                return _redirect(state, node, stdin).text
            _written(state, node)
            return None
        case "elif_clause" | "case_item" | "ERROR":
            _inside(state, node, stdin)
            return ""
    _inside(state, node, stdin)
    return None


def _defined(state: Shell, node: Any) -> str:
    """Note a function, and the files that are written whenever it is called."""
    body = node.child_by_field_name("body")
    name = _said(state, node.child_by_field_name("name"))
    state.functions[name] = state.raw, body
    for each in node.children_by_field_name("redirect"):
        if _writes(each):
            _written(state, each)
    if name == "command_not_found_handle":
        follow(state, body, Stdin())
    return ""


def _written(state: Shell, redirect: Any) -> None:
    """Note the file that a redirection by itself empties; what it has later, nobody can tell."""
    them = _redirection(state, redirect)
    directed(state, [them], None, state.cwd)
    emptied(state, [them])


def _unset(state: Shell, node: Any) -> str:
    if SUBSCRIPT.search(_said(state, node)):
        state.found.nothing_is_clear()
    for child in node.children[1:]:
        state.variables[_said(state, child)] = ""
    return ""


def _tested(state: Shell, node: Any, stdin: Stdin) -> str:
    said = _said(state, node)
    if SUBSCRIPT.search(said):
        state.found.nothing_is_clear()
    if node.has_error or STARTS.search(said):
        _inside(state, node, stdin)
    return ""


def _said(state: Shell, node: Any) -> str:
    return "" if node is None else state.source(node).decode(errors="replace")


STATEMENTS = frozenset(
    {
        *("command", "pipeline", "redirected_statement", "variable_assignment", "list", "subshell"),
        *("declaration_command", "function_definition", "for_statement", "while_statement"),
        *("c_style_for_statement", "if_statement", "case_statement", "unset_command"),
        *("compound_statement", "do_group", "negated_command", "else_clause", "test_command"),
        *("elif_clause", "case_item", "ERROR"),
    }
)


def _inside(state: Shell, node: Any, stdin: Stdin) -> None:
    """Follow what stands in a node of another kind: statements, and substitutions in words."""
    for child in node.children:
        state.step()
        if child.type in STATEMENTS:
            follow(state, child, stdin)
        elif child.type in ("command_substitution", "process_substitution"):
            state.output(child)
        elif child.type not in SKIPPED:
            _inside(state, child, stdin)


def _list(state: Shell, node: Any, stdin: Stdin, redirected: Any = None) -> str | None:
    """Follow `a && b || c`; what the second one sets may be set or not.

    `redirected` has the redirections of the last one.
    """
    first, *rest = [child for child in node.children if child.is_named]
    output = follow(state, first, stdin)
    chained = any(child.type == "||" for child in node.children)
    for each in rest:
        before = dict(state.variables)
        last = redirected if each is rest[-1] else None
        other = follow(state, each, stdin) if last is None else _behind(state, last, each, stdin)
        if chained:
            state.join(before)
        output = None if output is None or other is None or chained else output + other
    return output


def _branches(state: Shell, node: Any, stdin: Stdin) -> str | None:
    """Follow every branch; a variable that they set differently is unknown afterwards."""
    before = dict(state.variables)
    for child in node.children:
        if child.type in BRANCHES:
            _branches(state, child, stdin)
        elif child.type in STATEMENTS:
            follow(state, child, stdin)
        else:
            _inside(state, child, stdin)
    state.join(before)
    return None


def _apart(state: Shell, node: Any, stdin: Stdin) -> str | None:
    """Follow a subshell: what it sets is forgotten."""
    before, cwd = dict(state.variables), state.cwd
    output = _sequence(state, node, stdin)
    state.variables, state.cwd = before, cwd
    return output


def _for(state: Shell, node: Any, stdin: Stdin) -> str | None:
    """Follow the body for each word that is known; else once, with a variable that is unknown."""
    name = _said(state, node.child_by_field_name("variable"))
    body = node.child_by_field_name("body")
    values = [
        text for child in node.children_by_field_name("value") for text in fields(child, state)
    ]
    listed = any(child.type == "in" for child in node.children)
    if not listed or len(values) > state.REPEATS or not all(map(is_known, values)):
        _forget(state, body)
        state.variables[name] = None
        follow(state, body, stdin)
        return None
    if len(values) > 1:
        _forget(state, body)
    for value in values:
        state.variables[name] = value
        follow(state, body, stdin)
    return None


def _loop(state: Shell, node: Any, stdin: Stdin) -> str | None:
    _forget(state, node)
    _inside(state, node, stdin)
    return None


def _forget(state: Shell, node: Any) -> None:
    """Take what is set in a loop as unknown: it may be set there before it is read."""
    if not SETS.search(state.source(node)):
        return
    stack = [node]
    while stack:
        child = stack.pop()
        state.step()
        if child.type == "variable_assignment":
            state.variables[_said(state, child.child_by_field_name("name")).split("[")[0]] = None
        elif child.type == "command":
            words = [_said(state, each) for each in child.children]
            if words and words[0] in ("read", "cd", "pushd", "popd", "mapfile", "readarray"):
                for each in words[1:]:
                    state.variables[each] = None
                if words[0] in ("cd", "pushd", "popd"):
                    state.cwd = None
        stack += child.children


# --- commands -------------------------------------------------------------------------------------


def _assignment(state: Shell, node: Any) -> None:
    name = _said(state, node.child_by_field_name("name"))
    value = node.child_by_field_name("value")
    adds = any(child.type == "+=" for child in node.children)
    if "[" in name:
        if name.startswith(("BASH_ALIASES", "BASH_CMDS")):
            state.found.nothing_is_clear()
        state.variables[name.split("[")[0]] = None
    elif value is not None and value.type == "array":
        words = [
            text for child in value.children if child.is_named for text in fields(child, state)
        ]
        state.arrays[name] = None if adds else words
        state.variables[name] = words[0] if words and is_known(words[0]) and not adds else None
    else:
        said = "" if value is None else one_field(value, state)
        before = state.value(name) if adds else ""
        whole = None if before is None or not is_known(said) else before + said
        state.assign(name, whole)


CHANGING = re.compile(r"[-+]\w*[nlui]")
"""Options of `declare` that change what is assigned: `-n`, `-l`, `-u`, `-i`."""


def _declared(state: Shell, node: Any) -> str | None:
    changes = any(CHANGING.fullmatch(_said(state, child)) for child in node.children)
    for child in node.children:
        if child.type == "variable_assignment":
            if changes:
                _changing(state, child.child_by_field_name("name"), child)
            _assignment(state, child)
            if node.children[0].type in ("export", "declare", "typeset"):
                state.found.sets.append(_said(state, child.child_by_field_name("name")))
        elif child.type == "variable_name":
            if changes:
                _changing(state, child, None)
        elif child.is_named:
            said = one_field(child, state)
            name, sign, value = said.partition("=")
            if sign:
                state.assign(name, value if is_known(value) and not changes else None)
    lists = not any(
        "=" in _said(state, each) or each.type == "variable_name" for each in node.children
    )
    return None if lists else ""


def _changing(state: Shell, name: Any, assignment: Any) -> None:
    """Take a variable as unknown from now on, and the one that it may be another name of."""
    state.changing.add(_said(state, name))
    value = None if assignment is None else assignment.child_by_field_name("value")
    if value is not None:
        other = one_field(value, state)
        if other.isidentifier():
            state.changing.add(other)
            state.assign(other, None)


def _command(state: Shell, node: Any, stdin: Stdin) -> str | None:
    words = plain_words(node, state)
    if words:
        return perform(state, words, stdin)
    sets: dict[str, str | None] = {}
    them = [_redirection(state, child) for child in node.children if _writes(child)]
    ends, cwd = _line_ends(state, node), state.cwd
    for i, child in enumerate(node.children):
        if i in ends:
            state.found.nothing_is_clear()
            perform(state, words, stdin)
            words = []
        if child.type == "variable_assignment":
            value = child.child_by_field_name("value")
            said = "" if value is None else one_field(value, state)
            sets[_said(state, child.child_by_field_name("name"))] = said if is_known(said) else None
        elif child.type in ("herestring_redirect", "file_redirect", "heredoc_redirect"):
            if words and words[-1].isdigit() and node.children[i - 1].end_byte == child.start_byte:
                state.found.nothing_is_clear()  # `sh 0<<< a`: no word, but a descriptor
            stdin = _redirect(state, child, stdin)
        elif child.type == "ERROR":
            _inside(state, child, stdin)
        elif child.is_named and child.type != "comment":
            words += fields(child, state)
    state.found.sets += sets
    if not words:
        for name, value in sets.items():
            state.assign(name, value)
        return ""
    behind = _redirects_behind(node)
    if any(not _writes(each) for each in behind):
        stdin = stdin._replace(text=None)  # that one counts, if there are two
    output = directed(state, them, perform(state, words, stdin, sets), cwd)
    return None if them and behind else output


def _redirects_behind(command: Any) -> Any:
    """Return the redirections behind a command that has others in itself: `> a ls > b`."""
    within, around = command.children_by_field_name("redirect"), command.parent
    if not within or around is None or around.type != "redirected_statement":
        return ()
    return around.children_by_field_name("redirect")


def _line_ends(state: Shell, node: Any) -> set[int]:
    """Return the children that stand on another line: the parser takes the line behind
    `a | b | c` for arguments of `c` if something is redirected there.
    """
    raw, first = state.source(node), node.start_byte
    if b"\n" not in raw:
        return set()
    pairs = enumerate(itertools.pairwise(node.children), 1)
    gaps = {i: raw[a.end_byte - first : b.start_byte - first] for i, (a, b) in pairs}
    return {i for i, gap in gaps.items() if b"\n" in gap.replace(b"\\\n", b"")}


def _pipeline(state: Shell, node: Any, stdin: Stdin, redirected: Any = None) -> str | None:
    """Follow `a | b`. `redirected` has the redirections of the last one."""
    output: str | None = ""
    source, left = stdin, node.child_count
    for child in node.children:
        left -= 1
        if child.type == "|&":  # with messages of errors
            source = Stdin(given=True, text=None)
        if not child.is_named or child.type in SKIPPED:
            continue
        before, cwd = dict(state.variables), state.cwd
        last = None if left else redirected
        output = (
            follow(state, child, source) if last is None else _behind(state, last, child, source)
        )
        state.variables, state.cwd = before, cwd
        source = Stdin(given=True, text=output)
    return output


def _redirected(state: Shell, node: Any, stdin: Stdin) -> str | None:
    return _behind(state, node, node.child_by_field_name("body"), stdin)


def _behind(state: Shell, node: Any, body: Any, stdin: Stdin) -> str | None:
    """Follow a statement with the redirections behind it.

    Those behind `a && b` and `a | b` are of `b` alone, though the parser puts them around both.
    Files are opened before anything runs.
    """
    if body is not None and body.type in ("list", "pipeline"):
        return (_list if body.type == "list" else _pipeline)(state, body, stdin, node)
    redirects = node.children_by_field_name("redirect")
    inner = [one for each in redirects for one in (each, *each.children_by_field_name("redirect"))]
    them, cwd = [_redirection(state, each) for each in inner if _writes(each)], state.cwd
    for each in redirects:
        stdin = _redirect(state, each, stdin)
    output = "" if body is None else _body(state, body, redirects, stdin)
    output = directed(state, them, output, cwd)
    if body is None:
        emptied(state, them)
    return _further(state, node, stdin, output)


DESCRIPTOR = re.compile(rb"(?:^|\s)(?:\{(\w+)\}|\d+)$")
"""The number of a redirection, or the variable that gets it, if the parser takes it for a word."""


def _body(state: Shell, body: Any, redirects: Any, stdin: Stdin) -> str | None:
    """Follow what is redirected; `a {fd}> b` has a word less than the parser says."""
    said = state.source(body)
    adjoins = redirects and body.end_byte == redirects[0].start_byte
    found = DESCRIPTOR.search(said) if adjoins else None
    if found is None:
        return follow(state, body, stdin)
    if found[1] is None:  # which descriptor it is matters
        state.found.nothing_is_clear()
    else:
        state.assign(found[1].decode(), "10")
    return state.program(said[: found.start()].decode(errors="replace"), stdin)


def _further(state: Shell, node: Any, stdin: Stdin, output: str | None) -> str | None:
    """Follow what the parser has put into redirections: the pipe behind `a <<E | b`, for one."""
    piped, redirects = None, node.children_by_field_name("redirect")
    for each in redirects:
        for child in each.children:
            if child.type == "pipeline":
                piped = _pipeline(state, child, Stdin(given=True, text=output))
            elif each.type == "heredoc_redirect" and child.type in STATEMENTS:
                follow(state, child, Stdin())
    errors = [child for child in node.children if child.type == "ERROR"]
    for each in errors:
        _inside(state, each, stdin)
    return output if piped is None else piped


SIMPLE = {"command": _command, "pipeline": _pipeline, "redirected_statement": _redirected}
"""The functions that follow statements which are plain most of the time."""
WRITING = frozenset({">", ">>", "&>", "&>>", ">|", ">&"})
"""The signs of redirections that write; `<>` is no sign to the parser."""
DESCRIBED = "file_descriptor"
NO_WORDS = frozenset({DESCRIBED, "ERROR"})
"""The nodes in a redirection that are no words, beside its signs."""


def _redirection(state: Shell, node: Any) -> Redirection:
    source, sign = "1", ""
    for child in node.children:
        if child.type == "file_descriptor":
            source = _said(state, child)
        elif child.is_error and _opens_both(child):
            sign = "<>"
        elif not sign and child.type in WRITING:
            sign = child.type
    to = node.child_by_field_name("destination")
    places = [] if to is None else fields(to, state)
    return Redirection(source, sign, _said(state, to), places)


def _writes(redirect: Any) -> bool:
    return redirect.type == "file_redirect" and any(
        each.type in WRITING or (each.is_error and _opens_both(each)) for each in redirect.children
    )


def _redirect(state: Shell, node: Any, stdin: Stdin) -> Stdin:
    """Return the input that a redirection gives; what it writes is noted by `directed`."""
    number = next((_said(state, each) for each in node.children if each.type == DESCRIBED), "0")
    if node.type == "heredoc_redirect":
        text = _heredoc(state, node)
        return stdin if number.strip("0") else Stdin(given=True, text=text)
    signs = [child.type if not child.is_error else "<" for child in node.children]
    if node.type == "file_redirect" and not ("<" in signs or "<&" in signs):
        return stdin
    words = [each for each in node.children if each.is_named and each.type not in NO_WORDS]
    if node.type == "herestring_redirect":
        said = one_field(words[0], state) if words else QUOTED
        return Stdin(given=True, text=said + "\n" if is_known(said) else None)
    if "<&" in signs:
        return Stdin(given=True, text=None)
    if "<" in signs:
        before = len(state.found.writes)
        read = "".join(text for each in words for text in fields(each, state))
        state.reads(read)
        if number.strip("0"):
            return stdin
        text = state.files.get(state.place(read)) if len(state.found.writes) == before else None
        text = "" if read == NOTHING else text
        return Stdin(given=True, text=text)
    return stdin


def _heredoc(state: Shell, node: Any) -> str | None:
    """Return the text of a here-document; variables in it are expanded unless its end is quoted."""
    mark = next(
        (_said(state, child) for child in node.children if child.type == "heredoc_start"), ""
    )
    bodies = [child for child in node.children if child.type == "heredoc_body"]
    body = "".join(_said(state, each) for each in bodies)
    end = next((_said(state, child) for child in node.children if child.type == "heredoc_end"), "")
    if end.strip() != _unquoted(mark):
        state.found.nothing_is_clear()
    if any(child.type == "<<-" for child in node.children):
        body = "\n".join(line.lstrip("\t") for line in body.split("\n"))
    if any(each in mark for each in "'\"\\") or not any(each in body for each in "$`\\"):
        return body
    return state.in_quotes(body)


def _unquoted(mark: str) -> str | None:
    """Return the word that ends a here-document, without its quotes; None if one is not closed."""
    try:
        words = shlex.split(mark)
    except ValueError:
        return None
    return words[0] if words else ""
