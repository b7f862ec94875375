"""Facts of texts in contracts: paths to them, typed comparisons, what is unknown or refused."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, ContractError, ContractWarning, Guard, contract
from sponsio_like.contracts import loads
from sponsio_like.explain import contracts_page
from sponsio_like.kinds import UNREADABLE, Facts, kind
from sponsio_like.patterns import arg_value_range
from sponsio_like.values import TEXT_KINDS, find, forget_paths, reach, spot
from tests.semantics.manifest import requirement

FILE = """
version: 1
tools:
  run: {{fields: {{line: words, "odd:name": string}}}}
  fetch: {{fields: {{url: url}}}}
  write: {{fields: {{file: path, files: "[path]"}}}}
  send: {{fields: {{to: email}}}}
elsewhere: [far]
contracts:
  - name: rule
    guarantee: {}
"""


@pytest.fixture(autouse=True)
def words() -> Iterator[None]:
    """A kind: the words of a text, of which `?` is unknown, its number, and a list as one text."""

    def read(text: str) -> Facts:
        said = tuple(UNREADABLE if each == "?" else each for each in text.split())
        return {"says": said, "first": said[:1], "size": (len(said),)}

    facts = {"says[]": "its words", "first": "the first one", "size": "their number"}
    declare = kind("words", facts, main="says", of_words=lambda many: read(" ".join(many)))
    declare(read)
    yield
    del TEXT_KINDS["words"]
    forget_paths()


def guard_of(guarantee: str) -> Guard:
    """A guard with one contract."""
    file = loads(FILE.format(guarantee))
    return Guard(file.contracts, tools=file.inventory)


def allowed(guarantee: str, tool: str, **args: Any) -> bool:
    """True if one call is allowed under one contract."""
    return isinstance(guard_of(guarantee).session().decide(tool, args), Allowed)


@requirement("S-KIND-01")
@pytest.mark.parametrize(
    ("guarantee", "line", "passes"),
    [
        ("{ltl: 'G !called(run, line:words.says[] = rm)'}", "ls rm", False),
        ("{ltl: 'G !called(run, line:words.says[] = rm)'}", "ls mr", True),
        ("{ltl: 'G !called(run, line:words.first = rm)'}", "ls rm", True),
        ("{ltl: 'G !called(run, line:words.first = rm)'}", "rm ls", False),
        ("{ltl: 'G !called(run, line:words.size > 2)'}", "a b c", False),
        ("{ltl: 'G (called(run) -> arg(line:words.first) = ls)'}", "rm", False),
        ("{ltl: 'G (called(run) -> arg(line:words.first) = ls)'}", "ls", True),
        ("{ltl: 'G (called(run) -> arg(line:words.first) = ls)'}", "", False),
        ("{ltl: 'G (sum(run, line:words.size) <= 2)'}", "a b c", False),
        ("{ltl: 'G (sum(run, line:words.size) <= 2)'}", "a b", True),
    ],
)
def test_a_fact_is_compared_and_added_as_an_argument_is(
    guarantee: str, line: str, passes: bool
) -> None:
    """In conditions, as a term, in a sum."""
    assert allowed(guarantee, "run", line=line) is passes


@requirement("S-KIND-01")
def test_a_fact_is_bound_and_is_a_key() -> None:
    """A variable keeps what was said first; `by` counts for each value."""
    told = "{ltl: 'G (called(send) -> O called(run, line:words.says[] = $x))'}"
    with pytest.raises(ContractError):
        guard_of(told)
    said = "{tool: run, args: {'line:words.says[]': $x}}"
    bound = f"{{pattern: precedence, match: {{tool: send, args: {{to: $x}}}}, requires: {said}}}"
    session = guard_of(bound).session()
    assert not isinstance(session.decide("send", {"to": "a@b.c"}), Allowed)
    assert session.settle(session.decide("run", {"line": "tell a@b.c now"}).id) == ()
    assert isinstance(session.decide("send", {"to": "a@b.c"}), Allowed)
    once = "{pattern: duplicate_call_limit, tool: run, fields: ['line:words.first']}"
    session = guard_of(once).session()
    assert isinstance(session.decide("run", {"line": "ls a"}), Allowed)
    assert isinstance(session.decide("run", {"line": "rm a"}), Allowed)
    assert not isinstance(session.decide("run", {"line": "ls b"}), Allowed)


@requirement("S-KIND-01")
def test_every_way_to_read_a_path_finds_the_same_facts() -> None:
    """Conditions, keys and sums, patterns over arguments."""
    args = {"line": "a b", "deep": [{"line": "c"}]}
    assert [*spot(args, "line:words.says[]").parts] == ["a", "b"]
    assert find(args, "line:words.says[]") == ["a", "b"]
    assert reach(args, "line:words.says[]") == (["a", "b"], False)
    assert find(args, "deep[].line:words.first") == ["c"]
    assert reach({"line": None}, "line:words.first") == ([], True)
    assert find({"line:words.first": 1, "line": "a"}, "line:words.first") == [1, "a"]


@requirement("S-KIND-02")
@pytest.mark.parametrize(
    ("test", "line", "passes"),
    [
        ("!called(run, line:words.says[] = rm)", "ls ?", False),
        ("!called(run, line:words.says[] = rm)", "rm ?", False),
        ("!called(run, every line:words.says[] = ls)", "ls ?", False),
        ("!called(run, every line:words.says[] = ls)", "rm ?", True),
        ("(called(run) -> called(run, line:words.says[] = ls))", "ls ?", True),
        ("(called(run) -> called(run, line:words.says[] = ls))", "rm ?", False),
        ("(called(run) -> called(run, every line:words.says[] = ls))", "ls ?", False),
        ("(called(run) -> called(run, every line:words.says[] = ls))", "ls ls", True),
    ],
)
def test_what_is_unknown_counts_against_the_call(test: str, line: str, passes: bool) -> None:
    """Unless a known value settles it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContractWarning)  # one word that is so is enough
        assert allowed(f'{{ltl: "G {test}"}}', "run", line=line) is passes


@requirement("S-KIND-03")
@pytest.mark.parametrize(
    ("args", "passes"),
    [
        ({"line": ["ls", "rm"]}, False),
        ({"line": ["ls", "mr"]}, True),
        ({"line": []}, False),
        ({"line": "ls " * 30_000}, False),
        ({}, True),
        ({"line": None}, True),
    ],
)
def test_shapes_of_texts(args: dict[str, Any], passes: bool) -> None:
    """A list of words is one text for a kind that says so; what is too long is unknown."""
    assert allowed("{ltl: 'G !called(run, line:words.says[] = rm)'}", "run", **args) is passes


@requirement("S-KIND-03")
@pytest.mark.parametrize(
    ("value", "passes"), [("/w/a", True), (["/w/a", "b"], True), (["/w/a", "/x"], False)]
)
def test_each_text_of_a_list_is_read(value: Any, passes: bool) -> None:
    """Where the kind has no list of words."""
    rule = "{ltl: 'G !called(write, files[]:path.name in [x])'}"
    assert allowed(rule, "write", files=value if isinstance(value, list) else [value]) is passes


@requirement("S-KIND-04")
@pytest.mark.parametrize(
    ("match", "said"),
    [
        (
            "{tool: far, args: {'line:wrods.says[]': a}}",
            "`line:wrods.says[]`: no kind is named `wrods`; did you mean `words`?",
        ),
        (
            "{tool: run, args: {'line:words.sais[]': a}}",
            "`line:words.sais[]` asks for no fact of the kind `words`; did you mean `says`?",
        ),
        (
            "{tool: run, args: {'line:words': a}}",
            "asks for no fact of the kind `words`; its facts are says[], first, size",
        ),
        (
            "{tool: run, args: {'line:words.says': a}}",
            "the fact is `says[]`; write it so, at the end",
        ),
        ("{tool: run, args: {'line:words.first[]': a}}", "the fact is `first`"),
        ("{tool: run, args: {line: {sais: a}}}", "unknown key `sais` of the kind `words`"),
        ("{tool: send, args: {to: {under: work}}}", "`work` is not an absolute folder"),
        (
            "{args: {line: {says: a}}}",
            "unknown key `says` in a comparison; declare the field's kind",
        ),
    ],
)
def test_what_does_not_exist_is_refused(match: str, said: str) -> None:
    """With what to write instead."""
    with pytest.raises(ContractError) as error:
        guard_of(f"{{pattern: absent, match: {match}}}")
    assert said in str(error.value)


@requirement("S-KIND-04")
def test_a_library_that_is_missing_is_named() -> None:
    """When the contract is loaded, not when a call comes."""
    kind("sums", {"total": "its sum"}, main="total", needs=("no_such_library",))(lambda _: {})
    try:
        with pytest.raises(ContractError, match=r"needs `no_such_library`; write: pip install"):
            guard_of("{pattern: absent, match: {tool: send, args: {'to:sums.total': 1}}}")
    finally:
        del TEXT_KINDS["sums"]
        forget_paths()


@requirement("S-KIND-04")
def test_a_library_that_is_broken_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A library that is there and cannot be imported stops the loading, too."""
    (tmp_path / "broken_library.py").write_text("import no_such_library", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    kind("sums", {"total": "its sum"}, main="total", needs=("broken_library",))(lambda _: {})
    try:
        with pytest.raises(ContractError, match="which cannot be imported: No module named"):
            guard_of("{pattern: absent, match: {tool: send, args: {'to:sums.total': 1}}}")
    finally:
        del TEXT_KINDS["sums"]
        forget_paths()


@requirement("S-KIND-04")
def test_a_declared_argument_may_have_a_colon_in_its_name() -> None:
    """And is no kind."""
    rule = "{pattern: absent, match: {tool: run, args: {'odd:name': a}}}"
    assert not allowed(rule, "run", **{"odd:name": "a"})
    assert allowed(rule, "run", **{"odd:name": "b"})


INSIDE = [
    "/workspace",
    "/workspace/",
    "/workspace/a",
    "a",
    "./a",
    "a/../b",
    "/workspace/a..b",
    "/workspace/.../x",
    "/workspace/50%25.txt",
    "100%",
    "note:1.txt",
    "price $5",
    "a\\b",
    "file:///workspace/a",
    "grün/ß.txt",
    " a",
    "/workspace//a",
]
OUTSIDE = ["/workspacex", "..", "../workspace2", "/workspace/../etc", "~/a", "$HOME/a", "C:/a", "/"]
UNTOLD = [
    "",
    " /etc",
    "..%2fetc",
    "%2e%2e/etc",
    "%252e%252e/etc",
    "%25252525252e",
    "..\\etc",
    "\uff0e\uff0e/etc",
    "a\uff0f..\uff0f..\uff0fetc",
    "a\u2215b",
    "$DIR/a",
    "`pwd`",
    "${X}",
    "a\x00b",
    "a\nb",
    ".. /etc",
    "a\ud800",
    "a" * 5000,
    "http://x/y",
]


@requirement("S-KIND-05")
@pytest.mark.filterwarnings("ignore::sponsio_like.ContractWarning")
@pytest.mark.parametrize("path", [*INSIDE, *OUTSIDE, *UNTOLD])
def test_a_path_lies_in_a_folder_or_outside(path: str) -> None:
    """Or nobody can tell: then neither the one is allowed, nor the other."""
    must = "{ltl: \"G (called(write) -> called(write, file under ['/workspace']))\"}"
    never = "{pattern: absent, match: {tool: write, args: {file: {outside: /workspace}}}}"
    strays = "{pattern: absent, match: {tool: write, args: {file: {under: [/workspace, /tmp]}}}}"
    inside = path in INSIDE
    assert allowed(must, "write", file=path) is inside
    assert allowed(never, "write", file=path) is inside
    assert allowed(strays, "write", file=path) is (path in OUTSIDE)


@requirement("S-KIND-06")
@pytest.mark.parametrize(
    ("match", "args", "passes"),
    [
        ("{tool: run, args: {line: {says: [rm, dd]}}}", {"line": "a dd"}, False),
        ("{tool: run, args: {line: {says: [rm, dd]}}}", {"line": "a b"}, True),
        ("{tool: run, args: {line: {says: rm}}}", {"line": "rm"}, False),
        ("{tool: run, args: {line: {size: {gt: 2}}}}", {"line": "a b c"}, False),
        ("{tool: run, args: {line: {size: {gt: 2}, first: rm}}}", {"line": "a b c"}, True),
        ("{tool: run, args: {'line:words': {only: [ls]}}}", {"line": "ls rm"}, True),
        ("{tool: run, args: {'line:words': {only: ls}}}", {"line": "ls ls"}, False),
        ("{tool: run, args: {line: {says_outside: /w}}}", {"line": "/w/a /x"}, False),
        ("{tool: run, args: {line: {says_outside: /w}}}", {"line": "/w/a b"}, True),
        ("{tool: run, args: {line: {matches: rm}}}", {"line": "farm"}, False),
        ("{tool: fetch, args: {url: {host: {ne: corp.com}}}}", {"url": "https://corp.com/"}, True),
        ("{tool: fetch, args: {url: {host: {ne: corp.com}}}}", {"url": "https://c.com/"}, False),
    ],
)
def test_typed_comparisons(match: str, args: dict[str, Any], passes: bool) -> None:
    """Keys that are facts of the declared kind, or of one that is written."""
    tool = "fetch" if "fetch" in match else "run"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContractWarning)  # texts are compared as they are written
        assert allowed(f"{{pattern: absent, match: {match}}}", tool, **args) is passes


@requirement("S-KIND-06")
@pytest.mark.parametrize(
    ("value", "passes"), [("a", True), (["a"], True), (5, False), ([5], False)]
)
def test_a_field_of_a_kind_has_to_be_a_text(value: Any, passes: bool) -> None:
    """As for the kinds of JSON values."""
    assert (
        allowed("{ltl: 'G !called(other)'}".replace("other", "send"), "run", line=value) is passes
    )


def test_contracts_with_facts_are_printed_and_read_back() -> None:
    """The formula's text is read as the same formula."""
    text = 'G !called(run, line:words.says[] in ["rm"], line:words.first outside ["/w"])'
    rule = guard_of(f"{{ltl: '{text}'}}").policy.contracts[0].rules[0]
    again = guard_of(f"{{ltl: '{rule.formula!r}'}}").policy.contracts[0].rules[0]
    assert rule.formula == again.formula


@pytest.mark.parametrize(
    ("name", "facts", "main", "said"),
    [
        ("string", {"a": ""}, "a", "`string` is no name for a kind"),
        ("A b", {"a": ""}, "a", "`A b` is no name for a kind"),
        ("new", {"a[0]": ""}, "a", "`a[0]` is no name for a fact"),
        ("new", {"a": ""}, "b", "kind `new` has no fact `b`"),
        ("words", {"a": ""}, "a", "kind `words` exists already"),
    ],
)
def test_kinds_that_cannot_be(name: str, facts: dict[str, str], main: str, said: str) -> None:
    """A name that is taken, a fact that no path could name."""
    with pytest.raises(ContractError) as error:
        kind(name, facts, main=main)(lambda _: {})
    assert said in str(error.value)


def test_a_text_is_read_once() -> None:
    """Repeated texts are looked up, however often a contract asks."""
    asked: list[str] = []

    def read(text: str) -> Facts:
        asked.append(text)
        return {"a": (text,)}

    kind("counted", {"a": ""}, main="a")(read)
    try:
        rule = "{pattern: absent, match: {tool: send, args: {'to:counted.a': x}}}"
        session = guard_of(rule).session()
        for _ in range(5):
            session.decide("send", {"to": "y"})
        assert asked == ["y"]
        session.decide("fetch", {"url": "https://a.b/"})
        assert asked == ["y"]
    finally:
        del TEXT_KINDS["counted"]
        forget_paths()


@requirement("S-KIND-06")
@pytest.mark.parametrize("path", ["urls", "urls[]"])
@pytest.mark.parametrize(
    ("hosts", "passes"), [(["a.b"], True), (["a.b", "evil.com"], False), (["evil.com"], False)]
)
def test_only_speaks_of_every_element_of_a_list(path: str, hosts: list[str], passes: bool) -> None:
    """One that is right does not make up for others; `[]` may be left out."""
    rule = f"{{pattern: no_other_call, call: {{tool: get, args: {{'{path}': {{only: a.b}}}}}}}}"
    tools = "tools: {get: {fields: {urls: '[url]'}}}"
    file = loads(f"version: 1\n{tools}\ncontracts: [{{name: c, guarantee: {rule}}}]\n")
    session = Guard(file.contracts, tools=file.inventory).session()
    urls = [f"https://{host}/" for host in hosts]
    assert isinstance(session.decide("get", {"urls": urls}), Allowed) is passes


MONEY = """
version: 1
tools: {{pay: {{fields: {{amount: money, parts: "[money]"}}}}}}
contracts: [{{name: rule, guarantee: {}}}]
"""
OVER = "{pattern: absent, match: {tool: pay, args: {amount: {gt: 100}}}}"
EXACTLY = "{pattern: absent, match: {tool: pay, args: {amount: {in: [100, 7.5]}}}}"
PARTS = "{pattern: absent, match: {tool: pay, args: {parts: {gt: 100}}}}"
RANGE = "{pattern: arg_value_range, tool: pay, field: amount, max: 100}"
TOTAL = "{pattern: amount_limit, tool: pay, field: amount, total: 100}"
SAID = "the `amount` of `pay` must be at most 100"


@requirement("S-KIND-11")
@pytest.mark.parametrize(
    ("guarantee", "args", "passes"),
    [
        *((each, {"amount": "EUR 99.99"}, True) for each in (OVER, RANGE, TOTAL, SAID)),
        *((each, {"amount": "$101"}, False) for each in (OVER, RANGE, TOTAL, SAID)),
        *((each, {"amount": 100}, True) for each in (OVER, RANGE, TOTAL, SAID)),
        *((each, {"amount": 100.5}, False) for each in (OVER, RANGE, TOTAL, SAID)),
        *((each, {"amount": "1.234"}, False) for each in (OVER, RANGE, TOTAL, SAID)),
        *((each, {"amount": "much"}, False) for each in (OVER, RANGE, TOTAL, SAID)),
        (EXACTLY, {"amount": "100 EUR"}, False),
        (EXACTLY, {"amount": "7,50 €"}, False),
        (EXACTLY, {"amount": "8 EUR"}, True),
        (PARTS, {"parts": ["EUR 1", "EUR 100"]}, True),
        (PARTS, {"parts": ["EUR 1", "EUR 101"]}, False),
    ],
)
def test_numbers_are_compared_with_the_amount_of_money(
    guarantee: str, args: dict[str, Any], passes: bool
) -> None:
    """In a match, in the field of a pattern, in a sentence; what has two readings is no amount."""
    file = loads(MONEY.format(guarantee))
    session = Guard(file.contracts, tools=file.inventory).session()
    assert isinstance(session.decide("pay", args), Allowed) is passes


@requirement("S-KIND-11")
@pytest.mark.parametrize(
    "formula", ["G !called(pay, amount > 100)", "G !called(pay, amount in [1, 2])"]
)
def test_a_formula_says_that_it_compares_the_amount(formula: str) -> None:
    """`EUR 5` is no number: the formula would refuse every text."""
    file = loads(MONEY.format(f"{{ltl: '{formula}'}}"))
    with pytest.raises(ContractError, match=r"write `amount:money\.amount`"):
        Guard(file.contracts, tools=file.inventory)
    other = loads(MONEY.format(f"{{ltl: '{formula.replace('amount', 'amount:money.amount')}'}}"))
    Guard(other.contracts, tools=other.inventory)


BOTH = """version: 1
tools:
  refund: {{fields: {{amount: money}}}}
  voucher: {{fields: {{amount: number}}}}
  gift: {{fields: {{amount: integer}}}}
contracts:
  - name: rule
    guarantee: {}
"""
ALL = "[refund, voucher, gift]"


@requirement("S-KIND-11")
@pytest.mark.parametrize(
    "guarantee",
    [
        f"{{pattern: absent, match: {{tool: {ALL}, args: {{amount: {{gt: 100}}}}}}}}",
        f"{{pattern: arg_value_range, tool: {ALL}, field: amount, max: 100}}",
        f"{{pattern: amount_limit, tool: {ALL}, field: amount, total: 100}}",
        "{pattern: amount_limit, tool: '*', field: amount, total: 100}",
    ],
)
def test_money_of_one_tool_and_a_number_of_another_are_both_amounts(guarantee: str) -> None:
    """A budget over several tools adds them up, however each declares its field."""
    file = loads(BOTH.format(guarantee))
    guard = Guard(file.contracts, tools=file.inventory)
    for tool, amount in (("refund", "EUR 60"), ("refund", 60), ("voucher", 60), ("gift", 60)):
        session = guard.session()
        assert isinstance(session.decide(tool, {"amount": amount}), Allowed)
        if "total" in guarantee:
            assert isinstance(session.decide("refund", {"amount": "EUR 41"}), Blocked)
            assert isinstance(session.decide("voucher", {"amount": 40.5}), Blocked)
            assert isinstance(session.decide("gift", {"amount": 40}), Allowed)
    assert isinstance(guard.session().decide("refund", {"amount": "EUR 101"}), Blocked)
    assert isinstance(guard.session().decide("voucher", {"amount": 101}), Blocked)
    assert isinstance(guard.session().decide("voucher", {"amount": "EUR 5"}), Blocked)


@requirement("S-KIND-11")
def test_a_formula_about_money_and_numbers_says_that_it_compares_amounts() -> None:
    """As it does about money alone."""
    file = loads(BOTH.format("{ltl: 'G !called([refund, voucher], amount > 100)'}"))
    with pytest.raises(ContractError, match=r"write `amount:money\.amount`"):
        Guard(file.contracts, tools=file.inventory)


@requirement("S-KIND-11")
@pytest.mark.parametrize("declared", [arg_value_range("pay", "amount", max=100)])
def test_a_pattern_of_python_says_that_it_compares_the_amount(declared: Any) -> None:
    """It is made before the tools are known."""
    inventory = loads(MONEY.format(OVER)).inventory
    with pytest.raises(ContractError, match=r"write `amount:money\.amount`"):
        Guard([contract("rule").guarantees(declared)], tools=inventory)


@pytest.mark.parametrize(
    ("match", "said"),
    [
        ("{tool: write, args: {file: {under: [/etc, /usr]}}}", ["/etc"]),
        ("{tool: write, args: {files: {under: /etc}}}", ["/etc"]),
        ("{tool: write, args: {file: {outside: /etc}}}", []),
        ("{tool: write, args: {file: {suffix: env}}}", []),
    ],
)
def test_a_folder_that_is_forbidden_is_warned_of(match: str, said: list[str]) -> None:
    """A relative path is taken to lie there; what is allowed is told by `outside`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContractWarning)
        guard = guard_of(f"{{pattern: absent, match: {match}}}")
        inside = guard_of(f"{{pattern: no_other_call, call: {match}}}")
    warned = [str(each) for each in guard.policy.warnings]
    assert len(warned) == len(said)
    assert all(f"it is taken to lie in {each}; forbid" in warned[0] for each in said)
    assert inside.policy.warnings == ()


@requirement("S-LOAD-14")
@pytest.mark.parametrize(
    ("guarantee", "field"),
    [
        ("{pattern: absent, match: {tool: write, args: {file: /etc/passwd}}}", "file"),
        ("{pattern: absent, match: {tool: write, args: {'files[]': /etc/passwd}}}", "files[]"),
        ("{pattern: absent, match: {tool: write, args: {file: {whole: a}}}}", "file:path.whole"),
        ("{pattern: absent, match: {tool: fetch, args: {url: {in: ['http://a.b/']}}}}", "url"),
        ("{pattern: absent, match: {tool: send, args: {to: {matches: '@evil'}}}}", "to"),
        ("{pattern: arg_blacklist, tool: run, field: line, patterns: [rm]}", "line"),
        ('{ltl: "G(called(send, to = a) -> Y O done(write))"}', "to"),
        ('{ltl: "G(called(send) -> count(called(send, to = a)) <= 1)"}', "to"),
        ("never call `send` with `to` = `eve@evil.com`", "to"),
    ],
)
def test_a_text_of_a_kind_that_is_forbidden_as_it_is_written_is_warned_of(
    guarantee: str, field: str
) -> None:
    """Another spelling of the same passes: `/etc/./passwd`, `<Eve@evil.com>`."""
    with pytest.warns(ContractWarning, match="another spelling of the same passes") as told:
        guard_of(guarantee)
    assert f"`{field}` of" in str(told[0].message)


@pytest.mark.parametrize(
    "guarantee",
    [
        "{pattern: no_other_call, call: {tool: fetch, args: {url: 'http://a.b/'}}}",
        "{pattern: arg_allowlist, tool: fetch, field: url, patterns: ['http://a[.]b/x']}",
        "{pattern: absent, match: {tool: send, args: {to: {address: a@b.cd}}}}",
        "{pattern: absent, match: {tool: send, args: {to: {ne: a@b.cd}}}}",
        "{pattern: value_from, tool: send, field: to, source: run}",
        '{ltl: "G(called(fetch) -> Y O done(send, to = a))"}',
    ],
)
def test_what_another_spelling_does_not_pass_is_not_warned_of(guarantee: str) -> None:
    """There it is refused."""
    assert guard_of(guarantee).policy.warnings == ()


def test_a_key_of_a_kind_counts_each_spelling_apart() -> None:
    """A warning says by which facts they are one."""
    with pytest.warns(ContractWarning, match="each spelling counts apart") as told:
        guard_of("{pattern: idempotent, action: send, by: [to]}")
    assert "`to:email.address[]`" in str(told[0].message)
    guard = guard_of('{pattern: idempotent, action: send, by: ["to:email.address[]"]}')
    session = guard.session()
    assert isinstance(session.decide("send", {"to": "ann@corp.com"}), Allowed)
    assert isinstance(session.decide("send", {"to": "Ann <Ann@CORP.com>"}), Blocked)


def test_the_place_of_a_path_is_a_key_for_all_its_spellings() -> None:
    """`duplicate_call_limit` on a field of the kind `path` names the fact that makes them one."""
    with pytest.warns(ContractWarning, match=r"counts apart; write `file:path\.place`$"):
        guard_of("{pattern: idempotent, action: write, by: [file]}")
    with pytest.warns(ContractWarning, match=r"counts apart; write `file:path\.place`$"):
        guard_of('{pattern: idempotent, action: write, by: ["file:path.whole"]}')
    guard = guard_of('{pattern: idempotent, action: write, by: ["file:path.place"]}')
    for again in ("/w/a", "/w/./a", "//w/b/../a", "/w/a/", "file:///w/a", "/w/%61", "/w/$X/a"):
        session = guard.session()
        assert isinstance(session.decide("write", {"file": "/w/a"}), Allowed)
        assert isinstance(session.decide("write", {"file": again}), Blocked)
        assert isinstance(session.decide("write", {"file": "/w/b"}), Allowed)


def test_agents_are_apart_for_each_spelling_of_what_they_share() -> None:
    """Of `segregation_of_duty`, another spelling lets the same agent do both."""
    two = "first: write, second: far, same: [file]"
    with pytest.warns(ContractWarning, match="each spelling counts apart"):
        guard_of(f"{{pattern: segregation_of_duty, {two}}}")


@pytest.mark.parametrize(
    "args",
    [
        "{line: {says: [ls, cat]}}",
        "{line: {says: ls}}",
        "{'files[]': a}",
        "{'line:words.says[]': {in: [ls]}}",
    ],
)
def test_one_of_several_values_allows_no_call(args: str) -> None:
    """`{runs: [ls]}` in `no_other_call` let `ls; rm -r /` through."""
    tool = "write" if "files" in args else "run"
    with pytest.raises(ContractError, match=r"may have several values.*write \{every: "):
        guard_of(f"{{pattern: no_other_call, call: {{tool: {tool}, args: {args}}}}}")


@requirement("S-LOAD-14")
def test_a_formula_that_one_of_several_values_is_enough_for_is_warned_of() -> None:
    """`every` is about all of them."""
    with pytest.warns(ContractWarning, match=r"write `every files\[\] \.\.`"):
        guard_of('{ltl: "G(called(write) -> called(write, files[] under [\\"/w\\"]))"}')
    guard_of('{ltl: "G(called(write) -> called(write, every files[] under [\\"/w\\"]))"}')


@pytest.mark.parametrize(
    ("asked", "warned"),
    [
        ('"/etc/*"', True),
        ('"*.env"', True),
        ('{in: [a, "rm *"]}', True),
        ('{ne: "/etc/*"}', True),
        ('"SELECT * FROM a"', False),
        ('"2 * 3"', False),
        ('"*"', False),
        ('{matches: "^/etc/.*"}', False),
    ],
)
def test_a_star_in_a_text_to_be_equal_to_is_warned_of(asked: str, warned: bool) -> None:
    """It stands for itself there; people write it for any text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContractWarning)
        match = f"{{tool: t, args: {{f: {asked}}}}}"
        rule = f"{{pattern: absent, match: {match}}}"
        file = f"version: 1\ncontracts:\n  - {{name: c, guarantee: {rule}}}\n"
        guard = Guard(loads(file).contracts)
    assert any("`*` stands for itself" in str(each) for each in guard.policy.warnings) is warned


MAILS = """version: 1
tools:
  send: {fields: {to: email, cc: "[email]", body: string}}
  note: {fields: {body: string}}
contracts:
  - name: rule
    guarantee: RULE
"""


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("{pattern: no_pii, tool: send}", ["to", "cc"]),
        ("{pattern: no_pii, tool: [note, send], kinds: [email]}", ["to", "cc"]),
        ("{pattern: no_pii, tool: '*'}", ["to", "cc"]),
        ("{pattern: no_pii, tool: send, field: body}", []),
        ("{pattern: no_pii, tool: send, kinds: [card, secrets]}", []),
        ("{pattern: no_pii, tool: note}", []),
        ("{pattern: no_pii, answers: send}", []),
    ],
)
def test_addresses_that_every_call_has_are_warned_of(rule: str, said: list[str]) -> None:
    """A rule against personal data in all arguments would refuse every mail."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContractWarning)
        loaded = loads(MAILS.replace("RULE", rule))
        guard = Guard(loaded.contracts, tools=loaded.inventory)
    warned = [str(each) for each in guard.policy.warnings]
    assert len(warned) == len(said)
    for each, one in zip(said, warned, strict=True):
        assert f"`{each}` of `send` is an e-mail address" in one
    refused = guard.session().decide("send", {"to": "ann@corp.com", "cc": [], "body": "hi"})
    assert isinstance(refused, Blocked if said else Allowed)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("{to: string, body: string}", ["to"]),
        ("{CC: '[string]', body: string}", ["CC"]),
        ("{'mail.recipients': string, body: string}", ["mail.recipients"]),
        ("{to: integer, body: string}", []),
        ("{total: string, into: string}", []),
    ],
)
def test_fields_that_are_addresses_by_their_name_are_warned_of(
    fields: str, said: list[str]
) -> None:
    """Most files declare no kind but a text."""
    rule = "{pattern: no_pii, tool: send}"
    text = MAILS.replace("RULE", rule).replace('{to: email, cc: "[email]", body: string}', fields)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContractWarning)
        loaded = loads(text)
        guard = Guard(loaded.contracts, tools=loaded.inventory)
    warned = [str(each) for each in guard.policy.warnings if "by its name" in str(each)]
    assert [f"`{each}` of `send`" in one for each, one in zip(said, warned, strict=True)] == [
        True for _ in said
    ]


TOOLS = """version: 1
tools:
  bash: {fields: {command: shell}}
  db: {fields: {query: sql}}
  pay: {fields: {amount: money}}
  send: {fields: {to: "[email]"}}
contracts:
  - name: rule
    guarantee: >-
      SENTENCE
"""


@pytest.mark.parametrize(
    "sentence",
    [
        'the `command` of `bash` may only run "git" or "ls"',
        "the `query` of `db` may only select, insert, update",
        'the `amount` of `pay` must be in currency "EUR" or "USD"',
        'the `to` of `send` must be in domain "a.com"',
    ],
)
def test_a_demand_on_a_text_is_printed_as_a_sentence(sentence: str) -> None:
    """What a text has to mean is read back from what is printed, as what it must not mean is."""
    file = loads(TOOLS.replace("SENTENCE", sentence))
    page = [text for text, _ in contracts_page(file.contracts, "enforce", words=file.words)]
    assert f"  must     {sentence}" in page


def test_a_demand_that_no_sentence_says_is_printed_as_a_pattern() -> None:
    """Two facts of one text, written as a pattern."""
    every = "{verbs: {every: {in: [select]}}, reads: {every: {in: [users]}}}"
    call = f"{{tool: db, args: {{query: {every}}}}}"
    written = TOOLS.replace(">-\n      SENTENCE", f"{{pattern: no_other_call, call: {call}}}")
    file = loads(written)
    page = [text for text, _ in contracts_page(file.contracts, "enforce", words=file.words)]
    assert any("must     {pattern: no_other_call" in each for each in page)


def test_the_model_reads_the_sentence_that_a_person_wrote() -> None:
    """Patterns have no good words for what a text has to mean; the sentence has."""
    sentence = 'db may only read from the table "users"'
    file = loads(TOOLS.replace("SENTENCE", sentence))
    page = [text for text, _ in contracts_page(file.contracts, "enforce", words=file.words)]
    assert f"  must     {sentence}" in page
    refused = (
        Guard(file.contracts, tools=file.inventory)
        .session()
        .decide("db", {"query": "DROP TABLE t"})
    )
    assert isinstance(refused, Blocked)
    assert f"by `rule` ({sentence})" in refused.advice


def test_a_sentence_about_one_of_several_fields_names_one_that_there_is() -> None:
    """The hint names a field of the tool, and asks for no declaration that is there."""
    text = (
        "version: 1\ntools: {send: {fields: {to: [email], cc: [email]}}}\ncontracts:\n"
        "- {name: inside, guarantee: `send` may only send to corp.com}\n"
    ).replace("`send` may only send to corp.com", "'`send` may only send to corp.com'")
    with pytest.raises(ContractError, match=r"has 2 fields") as told:
        loads(text)
    assert "name it: “the `to` of `send` ..”" in str(told.value)
    assert "declare" not in str(told.value)


@pytest.mark.parametrize(
    "sentence", ["the `line` of `run` may only run kubectl", "`run` only by `lead`"]
)
def test_what_is_offered_for_a_sentence_is_a_sentence(sentence: str) -> None:
    """A pattern that cannot be said with these words is not offered as if it could."""
    with pytest.raises(ContractError, match=r"is not understood") as told:
        loads(FILE.format(json.dumps(sentence, ensure_ascii=False)))
    assert "paths:" not in str(told.value)
    assert "hosts:" not in str(told.value)
