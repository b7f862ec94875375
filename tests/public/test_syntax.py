"""Formulas as text: reading, printing, and what is said about text that is no formula."""

from __future__ import annotations

import itertools
import random
import re
import subprocess
import sys
from importlib import resources

import pytest

import sponsio_like.logic.formula as f
from sponsio_like.errors import ContractError
from sponsio_like.logic.printer import FUNCTIONS, RESERVED
from sponsio_like.syntax import read, read_term, show
from tests.support.formulas import BINARY, INFIX, UNARY, A, B, Random, small
from tests.support.size import sized

EVERY_NODE = {
    kind
    for kind in vars(f).values()
    if isinstance(kind, type)
    and issubclass(kind, f.Node)
    and kind not in {f.Node, f.Formula, f.Term}
}


def mistake(text: str) -> str:
    """What is said about a text that cannot be read."""
    with pytest.raises(ContractError) as caught:
        read(text)
    (problem,) = caught.value.problems
    assert re.fullmatch(r"\d+:\d+", problem.where), problem
    return str(problem)


# --- there and back ---------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("operators", [0, 1, 2])
def test_every_small_formula_reads_back(operators: int) -> None:
    """Every formula of up to two operators, printed and read, is the same object."""
    for formula in small(operators):
        assert read(show(formula)) is formula, show(formula)


@pytest.mark.long
def test_random_formulas_read_back() -> None:
    """Random formulas of every kind of node, odd strings and numbers, read back the same."""
    make = Random(1)
    met: set[type[f.Node]] = set()
    for number in range(sized(5000, 2000)):
        formula = make.formula(number % 10)
        text = show(formula)
        assert read(text) is formula, text
        assert text.isascii()
        met.update(type(node) for node in f.postorder(formula))
    assert met == EVERY_NODE


def test_terms_read_back() -> None:
    """A term by itself reads back as the same object; `true` is then a value, not a formula."""
    make = Random(2)
    for _ in range(500):
        term = make.reading(2)
        assert read_term(show(term)) is term, show(term)
    assert read_term("true") is f.Const(True)
    assert read("true") is f.TRUE


def test_nested_conjunctions_stay_nested() -> None:
    """Only what is written without brackets is one conjunction: `a & (b & c)` has two."""
    inner = f.And((B, f.TRUE))
    assert show(f.And((A, inner))) == "called(a) & (done(b) & true)"
    assert read("called(a) & (done(b) & true)") is f.And((A, inner))
    assert read("called(a) & done(b) & true") is f.And((A, B, f.TRUE))
    assert read("(called(a) | done(b)) | true") is f.Or((f.Or((A, B)), f.TRUE))


# --- depth ------------------------------------------------------------------------------------

DEEP = {
    "!": ("!" * 5000 + "called(a)", 5000),
    "X": ("X " * 5000 + "called(a)", 5000),
    "(": ("(" * 5000 + "called(a)" + ")" * 5000, 0),
    "&": (" & ".join(["called(a)"] * 5000), 1),
    "->": (" -> ".join(["called(a)"] * 5000), 4999),
    "U": (" U ".join(["called(a)"] * 5000), 4999),
    "-> to the left": ("(" * 4999 + "done(b)" + " -> called(a))" * 4999, 4999),
    "count": ("count(" * 5000 + "a" + ") > 0" * 5000, 15000),
}


def depth(formula: f.Formula) -> int:
    """How many nodes stand above the lowest atom."""
    levels: dict[f.Node, int] = {}
    for node in f.postorder(formula):
        levels[node] = max((levels[child] + 1 for child in f.children(node)), default=0)
    return levels[formula]


@pytest.mark.long
@pytest.mark.parametrize(("text", "levels"), DEEP.values(), ids=DEEP)
def test_depth_is_no_limit(text: str, levels: int) -> None:
    """5,000 operators or brackets inside each other can be read, printed and read again."""
    formula = read(text)
    assert read(show(formula)) is formula
    assert min(levels, 10_000) <= depth(formula) <= levels


@pytest.mark.parametrize("levels", [500, 5000])
def test_python_made_formulas_may_be_as_deep(levels: int) -> None:
    """500 and 5,000 levels of every operator in turn print and read back."""
    formula: f.Formula = A
    for _, unary, binary in zip(
        range(levels // 2), itertools.cycle(UNARY.values()), itertools.cycle(BINARY.values())
    ):
        formula = binary(B, unary(formula))
    assert depth(formula) == levels
    assert read(show(formula)) is formula


def test_deep_mistakes_are_told() -> None:
    """A mistake under 5,000 brackets is located, and the bracket that is not closed."""
    said = mistake("(" * 5000 + "called(a)")
    assert said == (
        "1:5010: expected `)` after `)`, found the end; the `(` at 1:5000 is not closed"
    )


# --- precedence -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "bracketed"),
    [
        ("a <-> b -> c", "a <-> (b -> c)"),
        ("a -> b <-> c", "(a -> b) <-> c"),
        ("a -> b -> c", "a -> (b -> c)"),
        ("a <-> b <-> c", "a <-> (b <-> c)"),
        ("a -> b U c", "a -> (b U c)"),
        ("a U b -> c", "(a U b) -> c"),
        ("a U b W c R d S e", "a U (b W (c R (d S e)))"),
        ("a | b U c | d", "(a | b) U (c | d)"),
        ("a & b U c", "(a & b) U c"),
        ("a | b & c", "a | (b & c)"),
        ("a & b | c", "(a & b) | c"),
        ("!a & b", "(!a) & b"),
        ("!a U b", "(!a) U b"),
        ("G a -> b", "(G a) -> b"),
        ("G F a", "G (F a)"),
        ("!X!Y a", "!(X(!(Y(a))))"),
        ("F[<=3] a | b", "(F[<=3] a) | b"),
        ("O[<=60s] !a", "O[<=60s](!a)"),
        ("G count(x) <= 3", "G(count(x) <= 3)"),
        ("!count(x) <= 3 & a", "(!(count(x) <= 3)) & a"),
    ],
)
def test_precedence(text: str, bracketed: str) -> None:
    """From loose to tight: `<->`, `->`, `U W R S`, `|`, `&`, unary; binary ones to the right."""
    atoms = {letter: f"step({letter})" for letter in "abcde"}
    spell = re.compile(r"\b[abcde]\b")
    one, other = (spell.sub(lambda m: atoms[m.group()], t) for t in (text, bracketed))
    assert read(one) is read(other)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("G(done(issue_refund) -> X F done(send_email))", None),
        ("!called(b) W done(a)", None),
        ("G(called(b) -> Y O done(a))", None),
        ("((called(a)) & !(done(b)))", "called(a) & !done(b)"),
        ("called(a) | called(b) & called(c)", None),
        ("(called(a) | called(b)) & called(c)", None),
        ("called(a) -> (called(b) -> called(c))", "called(a) -> called(b) -> called(c)"),
        ("(called(a) -> called(b)) -> called(c)", None),
        ("called(a) U (called(b) U called(c))", None),
        ("(called(a) | called(b)) U called(c)", None),
        ("F[<=3](called(a) & called(b)) & O[<=60s] called(a)", None),
        ("G(count(pay) <= 3)", "G(count(called(pay)) <= 3)"),
        ('!(agent="bob") & text matches "x"', '!(agent = "bob") & text matches "x"'),
        (
            "count[<=10](pay since done(login))<3",
            "count[<=10](called(pay) since done(login)) < 3",
        ),
        ("sum(pay,amount)>3", "sum(called(pay), amount) > 3"),
        ("called(a) <-> (called(b) <-> called(c))", None),
    ],
)
def test_printing_brackets_what_must_be(text: str, printed: str | None) -> None:
    """Printed formulas have the brackets they need, and those that spare a look at the table."""
    assert show(read(text)) == (printed or text)


# --- forms ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("□(called(a) → ◇ done(b))", "G(called(a) -> F done(b))"),
        ("¬called(a) ∧ ○done(b) ∨ ⊤", "!called(a) & X done(b) | true"),
        ("called(a) ↔ ⊥", "called(a) <-> false"),
        ("called(a) ⇒ called(b) ⇔ ⊤", "called(a) -> called(b) <-> true"),
        ("called(a) 𝒰 done(b)", "called(a) U done(b)"),
        ("called(a) 𝒲 (done(b) ℛ (⊤ 𝒮 ⊥))", "called(a) W (done(b) R (true S false))"),
        ("●◆■called(a)", "Y O H called(a)"),
        ("◇[≤3] □[≤60s] called(a)", "F[<=3] G[<=60s] called(a)"),
        ("count(a) ≤ 3 ∧ count(a) ≥ 1", "count(a) <= 3 & count(a) >= 1"),
        ("called(a, x ≠ 3, y ∈ [1, 2])", "called(a, x != 3, y in [1, 2])"),
        ("ctx(k) ∈ [⊤]", "ctx(k) in [true]"),
    ],
)
def test_unicode_signs(text: str, same: str) -> None:
    """The logician's signs are read as the ASCII ones."""
    assert read(text) is read(same)
    assert show(read(text)).isascii()


X_IS = f.Condition


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("pay", f.Match(("pay",))),
        ('"pay"', f.Match(("pay",))),
        ("send-email", f.Match(("send-email",))),
        ("pay_*", f.Match((), ("pay_*",))),
        ("mcp__*__p?y", f.Match((), ("mcp__*__p?y",))),
        ('"file_[ab]"', f.Match(("file_[ab]",))),
        ('"file_[ab]*"', f.Match((), ("file_[ab]*",))),
        ('="we*rd"', f.Match(("we*rd",))),
        ("*", f.Match()),
        ('"*"', f.Match((), ("*",))),
        ('""', f.Match(("",))),
        ('[b*, a, *, ="*"]', f.Match(("a", "*"), ("b*", "*"))),
        ("in", f.Match(("in",))),
        ("called", f.Match(("called",))),
        ('"bash<|channel|>commentary"', f.Match(("bash<|channel|>commentary",))),
        ("pay, amount > 3", f.Match(("pay",), (), (X_IS("amount", ">", 3),))),
        ("pay, amount > 3.0", f.Match(("pay",), (), (X_IS("amount", ">", 3.0),))),
        ("pay, to = bob", f.Match(("pay",), (), (X_IS("to", "=", "bob"),))),
        ("pay, ok = true", f.Match(("pay",), (), (X_IS("ok", "=", True),))),
        ("pay, ok != null", f.Match(("pay",), (), (X_IS("ok", "!=", None),))),
        ("pay, x in []", f.Match(("pay",), (), (X_IS("x", "in", ()),))),
        (r"pay, x matches '\d'", f.Match(("pay",), (), (X_IS("x", "matches", r"\d"),))),
        ("pay, x matches 'it''s'", f.Match(("pay",), (), (X_IS("x", "matches", "it's"),))),
        ("pay, items[].sku = 1", f.Match(("pay",), (), (X_IS("items[].sku", "=", 1),))),
        ('pay, "odd path" = 1', f.Match(("pay",), (), (X_IS("odd path", "=", 1),))),
        ("pay, in in [in]", f.Match(("pay",), (), (X_IS("in", "in", ("in",)),))),
        ("pay, @agent = bob", f.Match(("pay",), agent="bob")),
        ('pay, @agent in ["a"]', f.Match(("pay",), (), (X_IS("@agent", "in", ("a",)),))),
        ('pay, "@agent" = "bob"', f.Match(("pay",), (), (X_IS("@agent", "=", "bob"),))),
        ("*, @agent = bob, x = 1", f.Match((), (), (X_IS("x", "=", 1),), "bob")),
    ],
)
def test_what_a_call_is_matched_against(text: str, match: f.Match) -> None:
    """Tools by name, quoted, exactly or by glob, one or a list; then conditions and the agent."""
    assert read(f"called({text})") is f.Happens("called", (match,))
    both = (match, f.Match(("z",)))
    assert read(f"done({text}; z)") is f.Happens("done", both)
    assert read(show(f.Happens("done", both))) is f.Happens("done", both)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("output matches 'x'", f.OutputIs("", "matches", "x")),
        ("output = 3", f.OutputIs("", "=", 3)),
        ("output.status.code >= 500", f.OutputIs("status.code", ">=", 500)),
        ('output."[].x" in [1]', f.OutputIs("[].x", "in", (1,))),
        ("agent = planner", f.ByAgent("planner")),
        ("agent=b-c->true", f.Implies(f.ByAgent("b-c"), f.TRUE)),
        ("message(user)", f.MessageBy("user")),
        ("message(*)", f.MessageBy("*")),
        ("text matches 'a|b'", f.TextMatches("a|b")),
        ("permission(refund:write)", f.Permitted("refund:write")),
        ('approved(deploy, "site lead")', f.Approved("deploy", "site lead")),
        ("step(in)", f.Observed("in")),
        ("is_late()", f.Custom("is_late")),
        ("similar(to, 0.9, [a, 1], true)", f.Custom("similar", ("to", 0.9, ("a", 1), True))),
        ('"G"("x")', f.Custom("G", ("x",))),
        ("calld(x)", f.Custom("calld", ("x",))),
        ("ctx(env) = prod", f.Compare(f.Ctx("env"), "=", f.Const("prod"))),
        ("3 < count(a)", f.Compare(f.Const(3), "<", f.Count(read("called(a)")))),
        ("arg(to) in ctx(known)", f.Compare(f.Arg("to"), "in", f.Ctx("known"))),
        ("null = ctx(x)", f.Compare(f.Const(None), "=", f.Ctx("x"))),
        ("since(a) > 3", f.Compare(f.StepsSince(A), ">", f.Const(3))),
        ("age(done(b)) < 0.5", f.Compare(f.Age(B), "<", f.Const(0.5))),
        ("repeats(a) < 5", f.Compare(f.Repeats((f.Match(("a",)),)), "<", f.Const(5))),
        ("tokens() < depth()", f.Compare(f.Tokens(), "<", f.Depth())),
        ("count(a since 'b*') > 0", read("count(called(a) since called(b*)) > 0")),
        ("sum(called(a, x > 1; b), n) = 1", read("sum(called(a, x>1;b),'n')=1")),
        ("sum[<=60s]([a, b], n) = 1", read("sum[<=60s](called([a, b]), n) = 1")),
    ],
)
def test_atoms_and_terms(text: str, formula: f.Formula) -> None:
    """Every atom and term has one form, and shorthands where a tool stands for its call."""
    assert read(text) is formula


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[("1", 1), ("1.0", 1.0), ("-0.5e-3", -0.0005), ("1e3", 1000.0), ("NaN", "nan")],
        *[
            ("-Infinity", float("-inf")),
            ('"1"', "1"),
            ('"\\u00e9\\n\\""', 'é\n"'),
            ("'\\n'", "\\n"),
        ],
    ],
)
def test_values_keep_their_type(text: str, value: object) -> None:
    """Whole numbers, others, strings (double quotes: JSON's escapes; single: as they stand)."""
    term = read_term(text)
    assert isinstance(term, f.Const)
    assert (type(term.value), repr(term.value)) in {(type(value), repr(value)), (float, value)}


def test_white_space_does_not_matter() -> None:
    """Blanks and line breaks may stand between any two words, or be left out."""
    tight = read("G(called(pay,amount>3;x)->Y O done(b))&count[<=3](a since b)<=3")
    loose = " G ( called ( pay , amount > 3 ; x )\n-> Y\tO done ( b ) )\n"
    loose += " & count [ <= 3 ] ( a since b ) <= 3 "
    assert read(loose) is tight


# --- mistakes ---------------------------------------------------------------------------------

BOUND = "a bound is written `[<=3]` (steps) or `[<=60s]` (seconds)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1:1: expected a formula, found the end"),
        ("called x", "1:8: expected `(` after `called`, found `x`; did you mean `called(x)`?"),
        ("G(", "1:3: expected a formula after `(`, found the end; the `(` at 1:2 is not closed"),
        ("G\n (called(a) ->\n  )", "3:3: expected a formula after `->`, found `)`"),
        ("called(a))", "1:10: expected the end after `)`, found `)`; no bracket is open"),
        ("G(pay)", "1:6: expected `(` after `pay`, found `)`; did you mean `called(pay)`?"),
        ("calld x", "1:7: expected `(` after `calld`, found `x`; did you mean `called(x)`?"),
        (
            "calld(x, n > 3)",
            "1:12: expected `,` or `)` after `n`, found `>`; did you mean `called(...)`?",
        ),
        (
            "amount > 3",
            (
                "1:8: expected `(` after `amount`, found `>`;"
                " did you mean `arg(amount)` or `ctx(amount)`?"
            ),
        ),
        ("tokens < 3", "1:8: expected `(` after `tokens`, found `<`; did you mean `tokens()`?"),
        ("not called(a)", "1:1: unknown word `not`; did you mean `!`?"),
        (
            "next(called(a))",
            "1:12: expected `,` or `)` after `called`, found `(`; did you mean `X`?",
        ),
        (
            "called(a) and called(b)",
            "1:11: expected an operator or the end after `)`, found `and`; did you mean `&`?",
        ),
        (
            "called(a) <=> called(b)",
            "1:11: expected an operator or the end after `)`, found `<=>`; did you mean `<->`?",
        ),
        (
            "U(called(a))",
            "1:9: expected `,` or `)` after `called`, found `(`; did you mean `f U g`?",
        ),
        (
            "U(a)",
            (
                "1:1: `U` is a word of the syntax, so it is no atom with arguments;"
                ' an atom that you registered is written in quotes: `"U"(...)`'
            ),
        ),
        ("count(a)", "1:9: expected a comparison after `)`, found the end"),
        (
            "count(a) == 3",
            "1:10: expected a comparison after `)`, found `==`; did you mean `=`?",
        ),
        (
            "count(a sinc b) < 3",
            "1:9: expected `(`, `)` or `since` after `a`, found `sinc`; did you mean `since`?",
        ),
        ("called()", "1:8: expected a tool or `[` after `(`, found `)`"),
        ("called([])", "1:9: expected a tool after `[`, found `]`"),
        (
            "called(a, n macthes 'x')",
            "1:13: expected a comparison after `n`, found `macthes`; did you mean `matches`?",
        ),
        ("called(a, n in 3)", "1:16: expected `[` after `in`, found `3`"),
        (
            "called(a, n < true)",
            "1:15: expected a string in quotes, a number or a variable after `<`, found `true`",
        ),
        (
            "called(a, @agent = x, @agent = y)",
            "1:23: the agent is given twice; did you mean `@agent in [...]`?",
        ),
        (
            "text matches foo",
            '1:14: expected a string in quotes after `matches`, found `foo`; did you mean `"foo"`?',
        ),
        (
            "ctx(a) < foo",
            (
                "1:10: expected a term, a string in quotes or a number after `<`, found `foo`;"
                ' did you mean `"foo"`?'
            ),
        ),
        (
            r'text matches "\d"',
            (
                r"1:14: a string in double quotes has JSON's escapes: invalid \escape;"
                r" write `\\` for a backslash, or use single quotes: `'\d'`"
            ),
        ),
        ('called("abc)', '1:8: the string is not closed; end it with `"` on its line'),
        ("“a”", '1:1: expected a formula, found `“`; did you mean `"`?'),
        (
            "repeats(a, fuzy) < 3",
            "1:12: arguments are compared `equal` or `fuzzy`; did you mean `fuzzy`?",
        ),
        (
            "F[<3] called(a)",
            "1:3: a bound is inclusive: `<=`, not `<`; did you mean `[<=2]`?",
        ),
        (
            "F[<3s] called(a)",
            "1:3: a bound is inclusive: `<=`, not `<`; did you mean `[<=3s]`?",
        ),
        (
            "F[<=3m] called(a)",
            (
                "1:6: unknown unit `m`; a bound is in steps (`[<=3]`) or in seconds (`[<=60s]`);"
                " did you mean `[<=180s]`?"
            ),
        ),
        (
            "F[<=3 steps] called(a)",
            (
                "1:7: unknown unit `steps`; a bound is in steps (`[<=3]`)"
                " or in seconds (`[<=60s]`); did you mean `[<=3]`?"
            ),
        ),
        ("F[<=1.5] true", "1:5: steps are whole, not `1.5`; did you mean `[<=1.5s]`?"),
        ("F[<=-1] true", "1:5: a bound is a number from 0, not `-1`"),
        ("F[<=NaNs] true", "1:5: expected a number after `<=`, found `NaNs`; " + BOUND),
        ("F[3] true", "1:6: expected a comparison after `]`, found `true`; " + BOUND),
        ("count[0,3](a) < 1", "1:7: expected `<=` after `[`, found `0`; " + BOUND),
        ("ctx(n) < " + "9" * 5000, "1:10: a number of 5000 digits is too long"),
    ],
)
def test_mistakes_are_located(text: str, said: str) -> None:
    """A mistake has line and column, what was found, what could stand there, what was meant."""
    assert mistake(text) == said


@pytest.mark.long
def test_no_mistake_is_left_unexplained() -> None:
    """Whatever is cut out of a formula or put in, the answer is a formula or a located error."""
    chance = random.Random(3)
    texts = [show(Random(4).formula(size)) for size in range(8)]
    bits = [
        "(",
        ")",
        "[",
        "]",
        ",",
        ";",
        ".",
        "<",
        "=",
        "!",
        "G",
        "true",
        " a ",
        '"',
        "'",
        "$",
        "$x",
        " as $x",
        "every ",
        " has ",
        "3",
    ]
    said: list[str] = []
    for _ in range(3000):
        text = chance.choice(texts)
        at = chance.randrange(len(text))
        text = text[:at] + chance.choice(["", *bits]) + text[at + chance.randrange(6) :]
        try:
            formula = read(text)
        except ContractError as error:
            said.append(str(error))
        else:
            assert read(show(formula)) is formula
    assert len(said) > 2000
    assert [one for one in said if not re.match(r"\d+:\d+: \S.{10}", one)] == []
    assert [one for one in said if "expected  " in one or "expected or" in one] == []


# --- the parser itself ------------------------------------------------------------------------


def test_reserved_words_are_the_grammars() -> None:
    """The words that an atom of the user may not have unquoted are the grammar's keywords."""
    grammar = resources.files("sponsio_like").joinpath("grammar.lark").read_text("utf-8")
    keywords = re.findall(r"/\(?([A-Za-z_]+)[^/\n]*\(\?!\\w\)", grammar)
    assert {*keywords} | {"NaN", "Infinity"} == RESERVED | {
        *("in", "matches", "has", "carries", "as", "under", "outside")
    }
    assert set(FUNCTIONS) < RESERVED


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_reserved_words_are_no_atoms(word: str) -> None:
    """A word of the syntax names an atom of the user only in quotes."""
    custom = f.Custom(word, (1,))
    assert show(custom) == f'"{word}"(1)'
    assert read(show(custom)) is custom


def test_the_parser_is_loaded_when_first_needed() -> None:
    """Importing, building and printing formulas does not load the parser; reading does."""
    code = (
        "import sys; from sponsio_like.syntax import read, show; from sponsio_like import ltl;"
        "show(ltl.G(ltl.called('a'))); assert 'lark' not in sys.modules;"
        "read('true'); assert 'lark' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_node_is_not_printed() -> None:
    """A node that the printer does not know is an error, never a text that means something else."""

    class Strange(f.Formula):
        __slots__ = ()
        __match_args__ = ()

    class StrangeTerm(f.Term):
        __slots__ = ()
        __match_args__ = ()

    for kind in (Strange, StrangeTerm):
        with pytest.raises(TypeError, match="no text for Strange"):
            show(kind())


def test_infix_atoms_are_bracketed_under_operators() -> None:
    """A comparison is bracketed under a unary or temporal operator, not in `&`, `|`, `->`."""
    assert show(f.Always(INFIX)) == "G(count(called(a)) <= 1)"
    assert show(f.Until(INFIX, A)) == "(count(called(a)) <= 1) U called(a)"
    assert show(f.Implies(INFIX, A)) == "count(called(a)) <= 1 -> called(a)"
