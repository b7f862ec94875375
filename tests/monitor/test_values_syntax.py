"""Value variables as they are written: in text, in files, in Python, and in sentences."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

import sponsio_like.logic.formula as f
from sponsio_like import ltl, patterns
from sponsio_like.contracts.conditions import assumption, check_formula, condition
from sponsio_like.contracts.declaration import CATALOG, Rule
from sponsio_like.contracts.loader import loads
from sponsio_like.contracts.matches import matched
from sponsio_like.contracts.targets import NOTHING, Vocabulary, matching, read_target
from sponsio_like.contracts.templates import phrase, read_phrase
from sponsio_like.errors import ContractError
from sponsio_like.ltl import (
    G,
    O,
    Y,
    arg,
    called,
    ctx,
    done,
    failed,
    last,
    message,
    output,
    text,
    value,
    var,
    where,
)
from sponsio_like.syntax import read, read_term, show

X = f.Var("x")


def said(make: Any, *args: Any) -> str:
    """What is told about something that cannot be meant, all of it."""
    with pytest.raises(ContractError) as caught:
        make(*args)
    return str(caught.value)


# --- text -----------------------------------------------------------------------------------------

IS = f.Condition


@pytest.mark.parametrize(
    ("written", "conditions"),
    [
        ("to = $x", [IS("to", "=", X)]),
        ("to != $x", [IS("to", "!=", X)]),
        ("n < $x, n >= $_2", [IS("n", "<", X), IS("n", ">=", f.Var("_2"))]),
        (r"cmd matches 'rm (\S+)' as $x", [IS("cmd", "matches", f.Var("x", r"rm (\S+)"))]),
        ("body has $x", [IS("body", "has", X)]),
        ("body carries $x", [IS("body", "carries", X)]),
        ('"*" = $x, "*" carries $x', [IS("*", "=", X), IS("*", "carries", X)]),
        ("@call = $x", [IS("@call", "=", X)]),
        ("@agent = $x", [IS("@agent", "=", X)]),
        ("@agent != $x", [IS("@agent", "!=", X)]),
        ("every items[].sku in [a]", [IS("items[].sku", "in", ("a",), True)]),
        ("every items[] = $x", [IS("items[]", "=", X, True)]),
        ("every = 3, every in [3]", [IS("every", "=", 3), IS("every", "in", (3,))]),
        ("every every = 3", [IS("every", "=", 3, True)]),
        ('every "in" in [3]', [IS("in", "in", (3,), True)]),
        ("every.x = 3, every-day = 3", [IS("every.x", "=", 3), IS("every-day", "=", 3)]),
        ("as = 3, has = 3, has has $x", [IS("as", "=", 3), IS("has", "=", 3), IS("has", "has", X)]),
        ('to = "$x"', [IS("to", "=", "$x")]),
    ],
)
def test_a_condition_may_have_a_variable(written: str, conditions: list[f.Condition]) -> None:
    """`$x` stands where a value does, `matches .. as $x` captures, `has $x` looks inside."""
    wanted = f.Happens("called", (f.Match(("pay",), (), tuple(conditions)),))
    assert read(f"called(pay, {written})") is wanted
    assert read(show(wanted)) is wanted


def test_a_lacking_field_may_be_refused() -> None:
    """`@missing = "refuse"` makes a match strict."""
    strict = f.Happens("called", (f.Match(("pay",), (), (IS("to", "=", X),), None, True),))
    assert read('called(pay, to = $x, @missing = "refuse")') is strict
    assert read(show(strict)) is strict
    skips = f.Happens("called", (f.Match(("pay",), (), (IS("to", "=", X),), None, False),))
    assert read('called(pay, to = $x, @missing = "skip")') is skips
    assert read(show(skips)) is skips


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("output = $x", f.OutputIs("", "=", X)),
        ("output.a.id = $x", f.OutputIs("a.id", "=", X)),
        ("output.n > $x", f.OutputIs("n", ">", X)),
        ("output matches 'id (.*)' as $x", f.OutputIs("", "matches", f.Var("x", "id (.*)"))),
        ("output has $x", f.OutputIs("", "has", X)),
        ("text = $x", f.TextIs("=", X)),
        ("text has $x", f.TextIs("has", X)),
        ("text matches 'a(b)' as $x", f.TextIs("matches", f.Var("x", "a(b)"))),
        ("text matches 'a(b)'", f.TextMatches("a(b)")),
        ("ctx(user) = $x", f.Compare(f.Ctx("user"), "=", f.Variable("x"))),
        ("arg(price) < $old", f.Compare(f.Arg("price"), "<", f.Variable("old"))),
        ("$new < $old", f.Compare(f.Variable("new"), "<", f.Variable("old"))),
        ("$x in [1, 2]", f.Compare(f.Variable("x"), "in", f.Const((1, 2)))),
    ],
)
def test_outputs_messages_and_terms_may_have_variables(written: str, wanted: f.Formula) -> None:
    """A variable stands in outputs, in the text of messages, and as a term in comparisons."""
    assert read(written) is wanted
    assert read(show(wanted)) is wanted
    assert check_formula(wanted) is wanted


def test_an_output_is_a_term_of_an_earlier_call() -> None:
    """`last(output(total), ..)` is what an earlier answer had there; `output()` all of it."""
    quote = f.Happens("done", (f.Match(("quote",), (), (IS("id", "=", X),)),))
    assert read_term("last(output(total), done(quote, id = $x))") is f.Last(
        f.Output("total"), quote
    )
    assert read_term("last(output(), quote)") is f.Last(f.Output(""), read("called(quote)"))
    assert read_term('last(output("a b"), quote)') is f.Last(f.Output("a b"), read("called(quote)"))
    compared = read("arg(amount) <= last(output(total), done(quote))")
    assert check_formula(compared) is compared


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("called(pay, to = $ x)", "found `$`; did you mean `$x`?"),
        ("called(pay, to = ${x})", "found `$`; did you mean `$x`?"),
        ("called(pay, to = $1)", "found `$1`; a variable is `$` and a name: `$x`"),
        ("called(pay, to = $é)", "found `$é`; a variable is `$` and a name: `$x`"),
        ("called(pay, to in [$x])", "a variable stands after `=` and the like"),
        ("called($x)", "a tool is no variable; the tool and all its arguments are `@call = $x`"),
        (
            "called(a, b matches $x)",
            'found `$x`; did you mean `has $x` or `matches "(.*)" as $x`?',
        ),
        ("called(a, b matches 'x' as y)", "expected a variable after `as`, found `y`;"),
        ("called(a, b has 'x')", "a fixed text is found by `matches`"),
        ("body has $x", "did you mean `called(*, body has $x)`?"),
        ("agent = $x", "did you mean `called(*, @agent = $x)`?"),
        ("ctx(k) matches 'x' as $x", "what is found in arguments, outputs and texts"),
        ("text = 'x'", "expected a variable after `=`"),
        ("called(a, @missing = refse)", "1:11: a call that lacks a variable's field is refused"),
        ("called(a, @foo = 3)", "1:11: expected a field after `,`"),
    ],
)
def test_a_mistyped_variable_is_explained(written: str, told: str) -> None:
    """What is nearly a variable, or stands where none can, is told with what to write instead."""
    assert told in said(read, written)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("called(a, every n > 3)", "did you mean `every n[]`?"),
        ("called(a, '*' = 3)", "`*` is all arguments together"),
        ("called(a, @call = 3)", "`@call` is the tool and all arguments together"),
        ("called(a, @call > $x)", "`@call` is the tool and all arguments together"),
        ("called(a, @call has $x)", "`@call` is the tool and all arguments together"),
        ("output(total) > 3", "`output(total)` is a value of an earlier call"),
        ("last($x, a) = 3", "`$x` is one value, so it has no last one"),
        ("arg(n) in $x", "`$x` is neither a list nor a regular expression"),
        ("arg(n) matches $x", "`$x` is neither a list nor a regular expression"),
        ("$x = $x", "compares a variable with itself"),
        ("called(a, n matches '(a)(b)' as $x)", "`(a)(b)` has several groups"),
        ("output matches '(' as $x", "`(` does not compile"),
        ("text matches '(a)(b)' as $x", "`(a)(b)` has several groups"),
        ("delivered(called(a, n matches '(')) > 1", "`(` does not compile"),
        ("called(a, n carries 'iban' as $x)", "what counts is said of an output"),
        ("called(a, n carries '(a)(b)' as $x)", "what counts is said of an output"),
    ],
)
def test_what_a_variable_cannot_mean_is_refused(written: str, told: str) -> None:
    """Comparisons that could never be made are refused although they can be read."""
    assert told in said(check_formula, read(written))


# --- mappings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("match", "written"),
    [
        ("pay", "called(pay)"),
        (["pay", "send_*"], "called([pay, send_*])"),
        ({"tool": "pay"}, "called(pay)"),
        ({"tool": ["pay", "send"]}, "called([pay, send])"),
        ({"args": {"n": 1}}, "called(*, n = 1)"),
        ({"tool": "pay", "status": "ok"}, "done(pay)"),
        ({"tool": "pay", "status": "error"}, "failed(pay)"),
        ({"tool": "pay", "status": "any"}, "called(pay)"),
        ({"status": "error"}, "failed(*)"),
        ({"tool": "pay", "args": {"to": "$x"}}, "called(pay, to = $x)"),
        ({"tool": "pay", "args": {"to": f.Var("x")}}, "called(pay, to = $x)"),
        ({"tool": "pay", "args": {"to": {"bind": "$x"}}}, "called(pay, to = $x)"),
        ({"tool": "pay", "args": {"to": {"in": ["$x"]}}}, 'called(pay, to in ["$x"])'),
        ({"tool": "pay", "args": {"to": {"ne": "$x"}}}, "called(pay, to != $x)"),
        ({"tool": "pay", "args": {"to": {"ne": "bob"}}}, 'called(pay, to != "bob")'),
        ({"tool": "pay", "args": {"n": {"gt": "$x", "le": 5}}}, "called(pay, n > $x, n <= 5)"),
        ({"tool": "pay", "args": {"n": {"gt": 5, "bind": "$x"}}}, "called(pay, n > 5, n = $x)"),
        ({"tool": "sh", "args": {"c": {"has": "$x"}}}, "called(sh, c has $x)"),
        (
            {"tool": "sh", "args": {"c": {"matches": "rm (.*)", "bind": "$x"}}},
            'called(sh, c matches "rm (.*)" as $x)',
        ),
        ({"tool": "o", "args": {"i[].s": {"some": "$x"}}}, "called(o, i[].s = $x)"),
        ({"tool": "o", "args": {"i[].s": {"every": {"gt": 1}}}}, "called(o, every i[].s > 1)"),
        ({"tool": "o", "args": {"i[]": {"every": "a"}}}, 'called(o, every i[] = "a")'),
        ({"tool": "o", "args": {"*": "$x"}}, 'called(o, "*" = $x)'),
        ({"tool": "o", "call": "$x"}, "called(o, @call = $x)"),
        ({"call": "$x"}, "called(*, @call = $x)"),
        ({"tool": "o", "agent": "bob"}, "called(o, @agent = bob)"),
        ({"tool": "o", "agent": "$x"}, "called(o, @agent = $x)"),
        (
            {"tool": "pay", "args": {"to": "$x"}, "missing": "refuse"},
            'called(pay, to = $x, @missing = "refuse")',
        ),
        ({"tool": "q", "output": "$x"}, "called(q) & output = $x"),
        ({"tool": "q", "output": {"bind": "$x"}}, "called(q) & output = $x"),
        ({"tool": "q", "status": "ok", "output": True}, "done(q) & output = true"),
        ({"tool": "q", "output": {"path": "a.id", "bind": "$x"}}, "called(q) & output.a.id = $x"),
        (
            {"tool": "q", "output": {"path": "[].id", "bind": "$x"}},
            'called(q) & output."[].id" = $x',
        ),
        (
            {"tool": "q", "output": {"path": "n", "gt": 5, "bind": "$x"}},
            "called(q) & output.n > 5 & output.n = $x",
        ),
        (
            {"tool": "q", "output": {"matches": "id (.*)", "bind": "$x"}},
            'called(q) & output matches "id (.*)" as $x',
        ),
        (
            {"tool": "q", "output": [{"has": "$x"}, {"path": "ok", "in": [True]}]},
            "called(q) & output has $x & output.ok in [true]",
        ),
        ({"tool": "q", "output": ["$x", "done"]}, 'called(q) & output = $x & output = "done"'),
        ({"tool": "q", "output": [{"gt": 5}, {"lt": 9}]}, "called(q) & output > 5 & output < 9"),
        ({"message": "user"}, "message(user)"),
        ({"message": "*", "text": {"matches": "r"}}, 'message(*) & text matches "r"'),
        ({"message": "user", "text": "$x"}, "message(user) & text = $x"),
        ({"message": "user", "text": X}, "message(user) & text = $x"),
        ({"message": "user", "text": {"bind": "$x"}}, "message(user) & text = $x"),
        ({"message": "user", "text": {"has": "$x"}}, "message(user) & text has $x"),
        (
            {"message": "user", "text": {"matches": "to (.*)", "bind": "$x"}},
            'message(user) & text matches "to (.*)" as $x',
        ),
        (["pay", {"message": "user"}], "called(pay) | message(user)"),
    ],
)
def test_a_match_describes_one_event(match: Any, written: str) -> None:
    """A match says tool, arguments, status, output and agent, or whose message says what."""
    assert matched(match) is read(written)
    if isinstance(match, dict):
        assert condition(match) is read(written)


def test_the_status_is_that_of_its_place() -> None:
    """Where a match does not say the status, it is the one that its place asks for."""
    assert matched("vet", NOTHING, "ok") is read("done(vet)")
    assert matched(["a", {"agent": "b"}], NOTHING, "ok") is read("done(a) | done(*, @agent = b)")
    assert matched({"tool": "vet", "status": "any"}, NOTHING, "ok") is read("called(vet)")


@pytest.mark.parametrize(
    ("match", "told"),
    [
        ({}, "an empty match; write {tool: .., args: {..}}"),
        ({"tol": "a", "args": {}}, "unknown key `tol` in a match; did you mean `tool`?"),
        ({"tool": "a", "status": "failed"}, "`status`: `failed` is not a status; known: `any`"),
        ({"tool": "a", "status": ["ok"]}, "`status`: `['ok']` is not a status; known: `any`"),
        ({"tool": "a", "missing": "none"}, "`missing`: `none` is not possible here; write refuse"),
        ({"tool": "a", "call": "x"}, "`call`: `x` is not a variable; did you mean `$x`?"),
        ({"tool": "a", "agent": 3}, "`agent`: `3` is not the name of an agent"),
        ({"tool": "a", "agent": "$ x"}, "`$ x` is not a variable; did you mean `$x`?"),
        (
            {"tool": "$x"},
            "`tool`: a tool is no variable; for the tool and all arguments: {call: $x}",
        ),
        ({"message": "$x"}, "`message`: the variable `$x` cannot be a name"),
        ({"args": {"n": "$x.y"}}, "`args.n`: `$x.y` is not a variable; did you mean `$x`?"),
        ({"args": {"n": "${x}"}}, 'did you mean `$x`? for this very text write {in: ["${x}"]}'),
        ({"args": {"n": {"has": "abc"}}}, "`args.n.has`: `abc` is not a variable;"),
        ({"args": {"n": {"bind": "abc"}}}, "`args.n.bind`: `abc` is not a variable;"),
        ({"args": {"n": {"matches": "(", "bind": "$x"}}}, "`args.n.matches`: regular expression"),
        ({"args": {"n": {"matches": "(a)(b)", "bind": "$x"}}}, "`(a)(b)` has several groups"),
        ({"args": {"n": {"every": 3}}}, "did you mean `n[]`?"),
        ({"args": {"n[]": {"every": 3, "gt": 1}}}, "unknown key `gt` in a comparison; `every`"),
        ({"args": {"n[]": {"gt": 3, "bind": "$x"}}}, "may meet two elements of `n[]`"),
        ({"args": {"*": 3}}, "`args.*`: `*` is all arguments together"),
        ({"args": {"n": {"above": 3}}}, "unknown key `above` in a comparison"),
        ({"args": {"n": {}}}, "an empty comparison"),
        ({"args": {"n": {"in": "$x"}}}, "`$x` is not a list"),
        ({"tool": "a", "output": [1, 2]}, "no output equals several values"),
        ({"tool": "a", "output": []}, "no output equals several values"),
        ({"tool": "a", "output": {"path": "n"}}, "`output`: an empty comparison"),
        ({"tool": "a", "output": {"path": "*", "bind": "$x"}}, "`*` is all arguments"),
        ({"tool": "a", "output": {"path": "a..b", "bind": "$x"}}, "`a..b` is not a path"),
        ({"tool": "a", "output": {"every": 3}}, "unknown key `every` in a comparison"),
        ({"message": "user", "tool": "a"}, "`tool` is of a call, and this is a message"),
        ({"text": {"has": "$x"}}, "a `text` is of a message; write message: user beside it"),
        ({"message": ""}, "`message`: `` is not a name"),
        ({"message": "user", "text": "hello"}, "`hello` does not describe a text"),
        ({"message": "user", "text": {"gt": 3}}, "unknown key `gt` in a text"),
    ],
)
def test_a_match_that_cannot_be_meant_is_explained(match: Any, told: str) -> None:
    """Every mistake in a match is told with its place in it, and what to write instead."""
    words = Vocabulary({"a": None})
    assert told in said(matched, match, words)


def test_text_that_begins_with_a_dollar_may_be_meant() -> None:
    """`$5` is an amount, not a variable; `{in: [..]}` has any text."""
    assert matched({"args": {"n": "$5"}}) is read('called(*, n = "$5")')
    assert matched({"args": {"n": {"in": ["$x", "$"]}}}) is read('called(*, n in ["$x", "$"])')


def test_where_a_tool_stands_only_calls_can() -> None:
    """A pattern's tool may be a match with variables, but says nothing of status or output."""
    assert matching({"tool": "pay", "args": {"to": "$x"}}, NOTHING) == (
        f.Match(("pay",), (), (IS("to", "=", X),)),
    )
    for key in ("status", "output", "message", "text"):
        told = said(read_target, {"tool": "pay", key: "ok"})
        assert f"`{key}` cannot stand here: a call is matched before it has run" in told
        assert "`precedence`" in told


def test_the_context_may_be_bound() -> None:
    """`{ctx: {user: $x}}` is `ctx(user) = $x`, and may be compared otherwise."""
    assert condition({"ctx": {"user": "$x"}}) is read("ctx(user) = $x")
    assert condition({"ctx": {"n": {"gt": "$x", "ne": 3}}}) is read("ctx(n) > $x & ctx(n) != 3")


def test_an_assumed_answer_has_been_given_by_now() -> None:
    """A match with a status or an output speaks of what has happened; of this call it cannot."""
    assert assumption({"tool": "vet", "status": "ok"}) is read("O done(vet)")
    assert assumption({"tool": "vet", "output": "yes"}) is read('O(called(vet) & output = "yes")')
    assert assumption({"tool": "pay", "args": {"n": 1}}) is read("called(pay, n = 1)")
    answered = {"tool": "pay", "args": {"n": 1}, "output": "yes"}
    assert "what the call being decided will answer is not known yet" in said(assumption, answered)


def test_an_action_may_have_a_variable() -> None:
    """An action with `$x` stands for its calls with that variable, also in the tool of a match."""
    words = Vocabulary(None, {"spend": read_target({"tool": ["pay", "buy"], "args": {"to": "$x"}})})
    assert matched("spend", words) is read("called(pay, to = $x; buy, to = $x)") or (
        matched("spend", words) is read("called([pay, buy], to = $x)")
    )
    more = {"tool": "spend", "args": {"n": {"gt": 3}}, "status": "ok"}
    assert matched(more, words) is read("done([pay, buy], to = $x, n > 3)")


FIELDS = Vocabulary({"pay": {"to": "string", "items": "array"}, "vet": None})


def test_fields_of_a_match_are_of_the_inventory() -> None:
    """A field that a declared tool does not have is told, whatever is compared with it."""
    for known in ("to", "items[].sku", "*", "@agent"):
        assert isinstance(matched({"tool": "pay", "args": {known: "$x"}}, FIELDS), f.Happens)
    told = said(matched, {"tool": "pay", "args": {"too": "$x"}}, FIELDS)
    assert told == "`args.too`: tool `pay` has no field `too`; did you mean `to`?"
    free = matched({"tool": "vet", "args": {"any": "$x"}, "call": "$y"}, FIELDS)
    assert free is read("called(vet, any = $x, @call = $y)")


# --- files ----------------------------------------------------------------------------------------


def loaded(written: str) -> Rule:
    """The first rule of a file of one contract with this guarantee."""
    head = "version: 1\ntools: {pay: {fields: {to: string}}, vet: }\ncontracts:\n  - name: one\n"
    return (
        loads(head + textwrap.indent(f"guarantee: {written}\n", "    "), "c.yaml")
        .contracts[0]
        .rules[0]
    )


def test_a_file_binds_values() -> None:
    """A pattern of a file takes matches; the same variable in two of them is one value."""
    rule = loaded(
        "{pattern: precedence, match: {tool: pay, args: {to: $x}},"
        " requires: {tool: vet, args: {name: $x}, output: {path: ok, in: [true]}}}"
    )
    assert rule.formula is read(
        'G(called(pay, to = $x, @missing = "refuse") -> '
        "Y O (done(vet, name = $x) & output.ok in [true]))"
    )
    assert loaded(
        "{pattern: must_precede, first: vet, then: {tool: pay, call: $x}}"
    ).formula is read('G(called(pay, @call = $x, @missing = "refuse") -> Y O done(vet))')


@pytest.mark.parametrize(
    ("match", "told"),
    [
        ("{tool: pya}", "5:48: unknown tool `pya`; did you mean `pay`?"),
        ("{tool: pay, args: {too: $x}}", "5:65: tool `pay` has no field `too`"),
        ("{tool: pay, args: {to: {mathces: x}}}", "5:65: unknown key `mathces` in a comparison"),
        ("{tool: pay, staus: ok}", "5:53: unknown key `staus` in a match; did you mean `status`?"),
        ("{tool: pay, output: {path: id, bind: x}}", "5:78: `x` is not a variable"),
        ("{tool: pay, args: {to: $x y}}", "5:64: `$x y` is not a variable; did you mean `$x`?"),
        ("{tool: pay, args: {to: $x}, missing: no_}", "5:78: `no_` is not possible here"),
        ("{ltl: 'called(pay, to = $ x)'}", "5:65: expected a value after `=`, found `$`"),
    ],
)
def test_mistakes_in_a_match_have_a_place(match: str, told: str) -> None:
    """A mistake inside a match is told with file, line and column."""
    with pytest.raises(ContractError) as caught:
        loaded(f"{{pattern: absent, match: {match}}}")
    assert f"c.yaml:{told}" in str(caught.value)


def test_an_action_of_a_file_may_have_a_variable() -> None:
    """An action with `$x` is an event with that variable, wherever its name stands."""
    head = """\
        version: 1
        actions:
          spend: [{tool: pay, args: {to: $who}}, {tool: buy, args: {of: $who}}]
        contracts:
          - name: one
            guarantee:
              - {pattern: must_precede, first: {tool: vet, args: {name: $who}}, then: spend}
              - {pattern: response, match: spend, by: {tool: file, args: {for: $who}}}
              - {ltl: "G(called(spend, n > 3) -> Y O done(vet, name = $who))"}
        """
    rules = loads(textwrap.dedent(head), "c.yaml").contracts[0].rules
    spent = "pay, to = $who; buy, of = $who"
    needed = 'pay, to = $who, @missing = "refuse"; buy, of = $who, @missing = "refuse"'
    assert [rule.formula for rule in rules] == [
        read(f"G(called({needed}) -> Y O done(vet, name = $who))"),
        read(f"G(called({spent}) -> X F done(file, for = $who))"),
        read(
            "G(called(pay, to = $who, n > 3; buy, of = $who, n > 3) -> Y O done(vet, name = $who))"
        ),
    ]


def test_an_action_is_of_calls_that_have_not_run() -> None:
    """An action says nothing of results, and is told so where it stands."""
    written = "version: 1\nactions: {bad: {tool: pay, status: error}}\ncontracts: []\n"
    with pytest.raises(ContractError) as caught:
        loads(written, "c.yaml")
    assert "c.yaml:2:28: `status` cannot stand here" in str(caught.value)


def test_conditions_of_a_file_may_be_matches() -> None:
    """`assume` and `scope` take a match as they take an atom."""
    written = """\
        version: 1
        contracts:
          - name: one
            assume: {tool: login, status: ok, output: {path: user, bind: $who}}
            scope: {after: {message: user, text: {has: $who}}}
            guarantee: {ltl: "G !called(pay, to = $who)"}
        """
    (one,) = loads(textwrap.dedent(written), "c.yaml").contracts
    assert one.assumption is read("O(done(login) & output.user = $who)")
    assert one.segment is not None
    assert one.segment.start is read("message(user) & text has $who")


# --- Python ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "same"),
    [
        (called("pay", where("to").equals(var("x"))), "called(pay, to = $x)"),
        (called("pay", where("to").differs(var("x"))), "called(pay, to != $x)"),
        (called("pay", where("n") < var("x")), "called(pay, n < $x)"),
        (
            called("sh", where("c").captures("rm (.*)", var("x"))),
            'called(sh, c matches "rm (.*)" as $x)',
        ),
        (called("sh", where("c").has(var("x"))), "called(sh, c has $x)"),
        (called("sh", where("*").carries(var("x"))), 'called(sh, "*" carries $x)'),
        (called("o", where("i[].s", every=True) > 1), "called(o, every i[].s > 1)"),
        (called("o", where("@call").equals(var("x"))), "called(o, @call = $x)"),
        (
            done("o", where("to").equals(var("x")), missing="refuse"),
            'done(o, to = $x, @missing = "refuse")',
        ),
        (failed("o", where("@agent").equals(var("x"))), "failed(o, @agent = $x)"),
        (output("id").equals(var("x")), "output.id = $x"),
        (output("n") >= var("x"), "output.n >= $x"),
        (output().captures("id (.*)", var("x")), 'output matches "id (.*)" as $x'),
        (output().has(var("x")), "output has $x"),
        (text().equals(var("x")), "text = $x"),
        (text().has(var("x")), "text has $x"),
        (text().captures("to (.*)", var("x")), 'text matches "to (.*)" as $x'),
        (text().matches("a"), 'text matches "a"'),
        (arg("price") < value("old"), "arg(price) < $old"),
        (ctx("user").equals(value("x")), "ctx(user) = $x"),
        (value("new") < value("old"), "$new < $old"),
        (
            arg("n") <= last(output("total"), done("quote", where("id").equals(var("x")))),
            "arg(n) <= last(output(total), done(quote, id = $x))",
        ),
        (
            G(
                called("pay", where("to").equals(var("x")))
                >> Y(O(message("user") & text().has(var("x"))))
            ),
            "G(called(pay, to = $x) -> Y O(message(user) & text has $x))",
        ),
    ],
)
def test_python_binds_what_the_text_binds(made: f.Formula, same: str) -> None:
    """Every constructor with a variable makes the very object that its text makes."""
    assert made is read(same)


wrong: Any = ltl


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: wrong.var("1"), "`'1'` is not the name of a variable"),
        (lambda: wrong.var("$x"), "`'$x'` is not the name of a variable"),
        (lambda: wrong.var("é"), "is not the name of a variable"),
        (lambda: wrong.var(3), "the name of a variable must be a string"),
        (lambda: wrong.where("n").has("x"), "not a variable: `'x'`; write `var(\"x\")`"),
        (lambda: wrong.where("n").captures("r", "x"), "not a variable: `'x'`"),
        (lambda: wrong.where("n").captures(3, var("x")), "a regular expression must be a string"),
        (lambda: wrong.text().equals("x"), "a text is compared with a variable"),
        (lambda: wrong.last("n", "pay"), "`last` takes a term"),
        (lambda: wrong.last(wrong.where("n"), "pay"), "`last` takes a term"),
        (lambda: wrong.called("a", missing="none"), "`missing` is `refuse`, `skip`, or left out"),
    ],
)
def test_python_refuses_what_is_no_variable(make: Any, told: str) -> None:
    """What is no variable is refused where it is given."""
    assert told in said(make)


# --- patterns -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "written"),
    [
        (
            patterns.absent({"message": "user", "text": {"matches": "r"}}),
            "G !(message(user) & text matches 'r')",
        ),
        (patterns.precedence("pay", "vet"), "G(called(pay) -> Y O done(vet))"),
        (patterns.precedence("pay", {"message": "user"}), "G(called(pay) -> Y O message(user))"),
        (
            patterns.response("ask", {"message": "assistant"}),
            "G(called(ask) -> X F message(assistant))",
        ),
        (patterns.bounded_response("a", "b", 3), "G(called(a) -> X F[<=2] done(b))"),
        (patterns.resolved("a", "b"), "G(called(a) -> done(b) | X F(done(b) | called(a)))"),
        (patterns.until("lock", "edit"), "G(called(edit) -> WY !O called(lock))"),
        (
            patterns.until("lock", "edit", "free"),
            "G(called(edit) -> WY !(!done(free) S called(lock)))",
        ),
        (
            patterns.value_from("pay", "to", ["find", {"message": "user"}]),
            (
                'G(called(pay, to = $value, @missing = "refuse")'
                " -> Y O(done(find) & output has $value | message(user) & text has $value))"
            ),
        ),
        (
            patterns.value_from({"tool": "pay", "args": {"id": "$value"}}, "to", "find"),
            (
                'G(called(pay, id = $value, to = $value_, @missing = "refuse")'
                " -> Y O(done(find) & output has $value_))"
            ),
        ),
        (
            patterns.message_says("pay", "yes"),
            'G(called(pay) -> Y(!message(user) S (message(user) & text matches "yes")))',
        ),
        (
            patterns.repeated_failure(),
            'G(called("*", @call = $call) -> WY(count(failed("*", @call = $call)) < 2))',
        ),
        (
            patterns.no_data_leak("read", {"agent": "bob"}, "values"),
            (
                'G(called(*, "*" carries $leak, @agent = bob)'
                " -> !Y O(called(read) & output carries $leak))"
            ),
        ),
    ],
)
def test_patterns_of_values_mean_their_formulas(rule: Rule, written: str) -> None:
    """Each pattern is the formula that the catalog gives it."""
    assert rule.formula is read(written)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: patterns.value_from("pay", "*", "find"), "name one field"),
        (lambda: patterns.response("a", ["a", "b"]), ""),
        (lambda: patterns.response("a", "a"), "every answer would be a trigger again"),
        (lambda: patterns.absent("F called(a)"), "speaks of the future"),
        (lambda: patterns.bounded_response("a", "b", 0), "`0` is not a whole number from 1"),
        (lambda: patterns.absent({"tool": "a", "agnt": "b"}), "unknown key `agnt` in a match"),
        (lambda: patterns.absent(3), "`3` is not a condition"),
        (lambda: patterns.message_says("a", "("), "`(` does not compile"),
        (lambda: patterns.must_precede("$x", "a"), "a tool is no variable"),
        (lambda: patterns.requires_permission("a", "$x"), "the variable `$x` cannot be a name"),
        (lambda: patterns.ctx_required("a", "k", "$x"), "the variable `$x` cannot be a value here"),
    ],
)
def test_patterns_of_values_refuse_what_cannot_be_meant(make: Any, told: str) -> None:
    """An argument that cannot be meant is refused, in the user's words."""
    if told:
        assert told in said(make)
    else:
        make()


# --- sentences ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("match", "words"),
    [
        ("pay", "`pay`"),
        (["pay", "send"], "`pay` or `send`"),
        ({"tool": "pay", "args": {"to": "$x"}}, "`pay` with `to` = `$x`"),
        (
            {"tool": ["a", "b"], "args": {"n": {"gt": 3, "le": 5}, "to": {"in": ["x", "5"]}}},
            '`a` or `b` with `n` > `3` and `n` <= `5` and `to` in `["x", "5"]`',
        ),
        ({"tool": "a", "args": {"t": "5", "u": True}}, '`a` with `t` = `"5"` and `u` = `true`'),
        ({"tool": "a", "args": {"t": {"has": "$x"}}}, "`a` with `t` has `$x`"),
    ],
)
def test_a_plain_match_is_said_and_read_in_words(match: Any, words: str) -> None:
    """Tools and comparisons of arguments are said in words that read back."""
    assert phrase(match) == words
    assert read_phrase(words) == match


@pytest.mark.parametrize(
    ("match", "words"),
    [
        ({"tool": "pay", "status": "error"}, "failed `pay`"),
        ({"agent": "bob"}, "any call by `bob`"),
        ({"tool": "a", "call": "$x"}, "`a` with all arguments = `$x`"),
        (
            {"tool": "a", "output": [{"path": "id", "bind": "$x"}, {"has": "$y"}]},
            "`a` with output `id` = `$x` and output has `$y`",
        ),
        (
            {"tool": "a", "args": {"i[]": {"every": 1}}, "agent": "$x", "status": "ok"},
            "successful `a` by `$x` with every `i[]` = `1`",
        ),
        (
            {"tool": "a", "args": {"t": {"matches": "r", "bind": "$x"}}},
            "`a` with `t` matches `r` as `$x`",
        ),
        (
            {"tool": "a", "args": {"t": X}, "missing": "refuse"},
            "`a` with `t` = `$x`, or without such a field",
        ),
        ({"message": "user"}, "message of `user`"),
        ({"message": "user", "text": "$x"}, "message of `user` that is `$x`"),
        ({"message": "user", "text": {"matches": "r"}}, "message of `user` that matches `r`"),
    ],
)
def test_any_match_is_said_in_words(match: Any, words: str) -> None:
    """What does not read back is said in words, too."""
    assert phrase(match) == words


def test_the_sentence_of_a_rule_names_its_values() -> None:
    """A violated rule says which values have to be the same."""
    rule = CATALOG["until"].rule(
        {"trigger": {"tool": "lock", "args": {"id": "$id"}}, "forbidden": "edit", "release": "free"}
    )
    assert rule.sentence == "no `edit` after `lock` with `id` = `$id` until `free`"
    leak = patterns.no_data_leak("read", "send", "values")
    assert leak.sentence == "no data leak from `read` to `send` (match: values)"
