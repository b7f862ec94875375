"""Contract files: what is read, and that every mistake is told with its line and column."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from sponsio_like.contracts.definition import Contract, Scope
from sponsio_like.contracts.loader import File, load, loads
from sponsio_like.contracts.yaml_document import parse
from sponsio_like.errors import ContractError
from sponsio_like.guard.guard import Guard
from sponsio_like.outcome import Block, Redirect, Warn
from sponsio_like.patterns import arg_value_range, must_precede, rate_limit
from sponsio_like.syntax import read
from tests.support.costs import costs, work

EXAMPLE = """\
version: 1
mode: observe                       # optional; enforce when nothing says otherwise
tools: [check_policy, issue_refund, send_email, read_file, get_secret, login]
actions:
  read_secret: [{tool: read_file, args: {path: {matches: "^/secrets/"}}}, {tool: get_secret}]
contracts:
  - name: the policy is checked before refunds
    assume: {called: issue_refund}
    guarantee: {pattern: must_precede, first: check_policy, then: issue_refund}
    strategy: block
    mode: enforce
  - name: refunds are small and few
    scope: {after: {called: login}}
    guarantee:                      # a list is a conjunction
      - {pattern: arg_value_range, tool: issue_refund, field: amount, min: 0, max: 500}
      - {pattern: rate_limit, action: issue_refund, limit: 3}
  - name: every refund is announced
    assume: called `issue_refund`
    guarantee: {ltl: "G(done(issue_refund) -> X F done(send_email))"}
    strategy: warn_only
  - name: secrets stay here
    guarantee: no data leak from `read_secret` to `send_email`
    strategy: {redirect_to_safe: {to: login, map: {body: note, to: null}}}
"""


def loaded(text: str) -> File:
    return loads(textwrap.dedent(text), "c.yaml")


def mistakes(text: str) -> list[str]:
    """What is wrong with a file, one line for each mistake."""
    with pytest.raises(ContractError) as error:
        loaded(text)
    return [str(problem) for problem in error.value.problems]


def ruled(text: str) -> str:
    """A file of one contract with this text below its name."""
    return "version: 1\ncontracts:\n  - name: one\n" + textwrap.indent(
        textwrap.dedent(text), "    "
    )


RULE = 'guarantee: {ltl: "G !called(x)"}\n'


# --- what is read ---------------------------------------------------------------------------------


def test_the_example_of_the_format_is_read() -> None:
    """Version, mode, tools, actions and contracts are read; a contract knows where it stands."""
    file = loaded(EXAMPLE)
    refund = read("O called(issue_refund)")
    assert (file.version, file.mode) == (1, "observe")
    assert file.tools is not None
    assert file.tools[:2] == ("check_policy", "issue_refund")
    gate, small, announced, secrets = file.contracts
    assert gate == Contract(
        "the policy is checked before refunds",
        (must_precede("check_policy", "issue_refund"),),
        refund,
        None,
        Block(),
        "enforce",
        "c.yaml:7:11",
    )
    assert small.segment == Scope("after", read("called(login)"))
    assert small.rules == (
        arg_value_range("issue_refund", "amount", 0, 500),
        rate_limit("issue_refund", 3),
    )
    assert (announced.assumption, announced.answer) == (refund, Warn())
    assert secrets.answer == Redirect("login", (("body", "note"), ("to", None)))
    assert repr(secrets.rules[0].formula) == (
        'G(called(send_email) -> !Y O done(get_secret; read_file, path matches "^/secrets/"))'
    )


def test_a_guard_is_made_of_a_file(tmp_path: Path) -> None:
    """`Guard.from_yaml` reads, compiles and enforces a file."""
    path = tmp_path / "contracts.yaml"
    path.write_text(EXAMPLE, "utf-8")
    session = Guard.from_yaml(path).session()
    assert type(session.decide("issue_refund", {"amount": 3})).__name__ == "Blocked"
    assert type(session.decide("send_email", {})).__name__ == "Allowed"


def test_the_inventory_may_describe_fields() -> None:
    """`tools` is a list of names, or a map from a name to its fields and their kinds."""
    text = """\
        version: 1
        tools:
          pay: {fields: {amount: number, to: string}}
          ping:
        contracts:
          - name: one
            guarantee: {pattern: arg_value_range, tool: pay, field: %s, max: 5}
        """
    file = loaded(text % "amount")
    assert file.tools == ("pay", "ping")
    assert file.inventory.fields == {"pay": {"amount": "number", "to": "string"}}
    (problem,) = mistakes(text % "amonut")
    assert problem == ("c.yaml:7:61: tool `pay` has no field `amonut`; did you mean `amount`?")


def test_scopes_are_read() -> None:
    """A scope is after, before, between or after_until."""
    x, y = read("called(x)"), read("done(y)")
    scopes: dict[str, Scope] = {
        "{after: {called: x}}": Scope("after", x),
        "{before: called `x`}": Scope("before", None, x),
        "{between: [{called: x}, {ltl: done(y)}]}": Scope("between", x, y),
        "{after_until: [{called: x}, {done: y}]}": Scope("after_until", x, y),
    }
    for written, means in scopes.items():
        assert loaded(ruled(RULE + f"scope: {written}")).contracts[0].segment == means


def test_actions_build_on_those_above() -> None:
    """An action may name tools, lists, globs, matches, and actions that stand above it."""
    text = """\
        version: 1
        actions:
          read: fs_*
          secret: [vault, {tool: read, args: {path: {matches: "^/s"}}}]
        contracts:
          - name: one
            guarantee: {pattern: no_data_leak, source: secret, sink: send}
          - name: two
            guarantee: {ltl: "G(called(secret, n > 1) -> O done(read))"}
        """
    one, two = loaded(text).contracts
    assert repr(one.rules[0].formula) == (
        'G(called(send) -> !Y O done(vault; fs_*, path matches "^/s"))'
    )
    assert repr(two.rules[0].formula) == (
        'G(called(vault, n > 1; fs_*, path matches "^/s", n > 1) -> O done(fs_*))'
    )


# --- what YAML readers disagree about -------------------------------------------------------------


def test_values_are_what_they_look_like() -> None:
    """Numbers, truth values, null and text are told apart as everybody does; quotes make text."""
    text = """\
a: 1
b: -2.5
c: 1e3
d: true
e: False
f: ~
g: null
h:
i: "1"
j: 'true'
k: 2024-01-01
l: 1.2.3
m: |
  no
n: y
"""
    assert parse(text).data == {
        "a": 1,
        "b": -2.5,
        "c": 1000.0,
        "d": True,
        "e": False,
        "f": None,
        "g": None,
        "h": None,
        "i": "1",
        "j": "true",
        "k": "2024-01-01",
        "l": "1.2.3",
        "m": "no\n",
        "n": "y",
    }


@pytest.mark.parametrize(
    "word",
    [
        "no",
        "on",
        "Yes",
        "OFF",
        "010",
        "1_000",
        "0x1F",
        "12:30",
        ".5",
        "5.",
        ".inf",
        ".NaN",
    ],
)
def test_words_that_readers_disagree_about_are_refused(word: str) -> None:
    """`no`, `on`, `010` mean different things to different readers: they have to be quoted."""
    (problem,) = mistakes(f"version: 1\ncontracts: {word}\n")
    assert problem.startswith(
        f"c.yaml:2:12: `{word}` means different things to YAML readers; write"
    )
    assert parse(f"a: '{word}'").problems == []


def test_keys_are_text_whatever_they_look_like() -> None:
    """A key is a word: `on`, `1` and `no` as keys are just these words."""
    assert parse("on: 1\n1: 2\nno: 3\ntrue: 4\n").data == {"on": 1, "1": 2, "no": 3, "true": 4}
    file = loaded(ruled(RULE + "assume: {ctx: {on: true, 1: x}}"))
    assert repr(file.contracts[0].assumption) == 'ctx(on) = true & ctx("1") = "x"'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "c.yaml:1:1: an empty file; begin with `version: 1` and `contracts:`"),
        ("# nothing\n", "c.yaml:1:1: an empty file"),
        ("- a\n- b\n", "c.yaml:1:1: the file is not a mapping"),
        ("just text", "c.yaml:1:1: the file is not a mapping"),
        ("version: 1\n\tcontracts: []\n", "c.yaml:2:1: not YAML"),
        ("version: 1\n\tcontracts: []\n", "indent with spaces, not with tabs"),
        ("version: [1\n", "c.yaml:2:1: not YAML"),
        ('version: "1\n', "not YAML"),
        ("version: 1\n  mode: x\n", "c.yaml:2:7: not YAML"),
        ("a: 1\n---\nb: 2\n", "c.yaml:2:1: a second document; one file has one document"),
        ("a: &x 1\nb: *x\n", "c.yaml:1:4: anchor `&x`; write the value where it is needed"),
        ("a: *x\n", "alias `*x`"),
        (
            "a: !!python/object:os.system x\n",
            "c.yaml:1:4: tag `tag:yaml.org,2002:python/object:os.system`",
        ),
        ("a: !mine x\n", "c.yaml:1:4: tag `!mine`"),
        ("a: !!set {x}\n", "tag `tag:yaml.org,2002:set`"),
        ("[a]: 1\n", "a list or a mapping as a key"),
        ("{a: 1}: 1\n", "a list or a mapping as a key"),
        ("a: \x07\n", "c.yaml:1:4: not YAML: character '\\x07' is not allowed"),
        ("a: " + "[" * 100, "nested more than 64 levels deep"),
        ("a: " + "{b: " * 5_000, "nested more than 64 levels deep"),
        ("a: " + "x" * 1_000_001, "at most 1000000 are read"),
    ],
)
def test_what_is_no_contract_file_is_told_with_its_place(text: str, problem: str) -> None:
    """Whatever stands in a file, it ends in a located error, never in a traceback."""
    assert problem in "\n".join(mistakes(text))


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


def test_an_alias_bomb_costs_nothing() -> None:
    """Anchors and aliases are refused where they stand, so nothing is ever expanded."""
    told: list[str] = []
    assert work(lambda: told.extend(mistakes(BOMB))) < 100_000
    assert told[0].startswith("c.yaml:1:4: anchor `&a`")


def test_bytes_that_are_no_text_are_told_with_their_place(tmp_path: Path) -> None:
    """What is not UTF-8, or cannot be opened, is an error with its name; a BOM is no harm."""
    path = tmp_path / "c.yaml"
    path.write_bytes(b"version: 1\nname: \xff\n")
    with pytest.raises(ContractError, match=r"c\.yaml:2:7: not UTF-8 text; save the file as UTF-8"):
        load(path)
    path.write_bytes(b"\xef\xbb\xbf" + EXAMPLE.encode())
    assert len(load(path).contracts) == 4
    for missing in (tmp_path / "none.yaml", tmp_path / "none"):
        with pytest.raises(ContractError, match="cannot be read: "):
            load(missing)


def test_the_slow_reader_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the C library of YAML, files read the same, and mistakes stand at the same places."""
    fast = loaded(EXAMPLE)
    bad = mistakes(BAD)
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert loaded(EXAMPLE) == fast
    assert mistakes(BAD) == bad


# --- mistakes -------------------------------------------------------------------------------------

BAD = """\
version: 2
mod: observe
tools: [check_policy, issue_refund, send_email]
contracts:
  - name: a
    name: b
    assume: {called: isue_refund}
    guarantee: {pattern: must_precde, first: check_policy, then: issue_refund}
    strategy: blok
    mode: enforced
  - name: a
    guarantee:
      - {pattern: arg_value_range, tool: issue_refund, feild: amount, min: "0", max: 500}
      - {pattern: rate_limit, action: issue_refund, limit: five, per: {secs: 3}}
      - {pattern: arg_blacklist, tool: send_email, field: to, patterns: rm}
      - {pattern: arg_blacklist, tool: send_email, field: to, patterns: ["(", "(?=x)"]}
      - tool `issue_refund` at most twice, or so
      - {ltl: "G(done(issue_refund) -> X F don(send_email))"}
      - {ltl: "G(done(issue_refund) -> X F done(send_email)"}
      - {ltl: "G(done(issue_refnd) -> X F done(send_email))"}
      - no data leak from `send_emai` to `issue_refund`
  - guarantee: {patern: x}
    strategy: {escalate: {role: boss}}
    scope: {between: {called: login}}
    assume: {ltl: "F called(send_email)"}
  - name: no
    guarantee: tool `issue_refund` at most 5 times
    guarante: 1
  - just text
"""

TOLD = """\
1:10: version `2` is not known; write `version: 1`
2:1: unknown key `mod` in a contract file; did you mean `mode`
6:5: key `name` is given twice; it stands in line 5 already
7:22: unknown tool `isue_refund`; did you mean `issue_refund`
8:26: unknown pattern `must_precde`; did you mean `must_precede`
9:15: unknown strategy `blok`; did you mean `block`
10:11: unknown mode `enforced`; did you mean `enforce`
11:11: two contracts are named `a`; rename one
13:9: `arg_value_range` needs `field`
13:56: `arg_value_range` has no argument `feild`; did you mean `field`
13:76: `0` is not a number
14:60: `five` is not a whole number from 0
14:72: unknown key `secs` in a window; did you mean `seconds`
15:73: `rm` is not a list; write [rm]
16:74: regular expression `(` does not compile
16:79: regular expression `(?=x)` does not compile
17:9: “tool `issue_refund` at most twice, or so” is not understood; did you mean
18:15: unknown atom `don`; did you mean `done`
19:60: expected
20:15: unknown tool `issue_refnd`; did you mean `issue_refund`
21:9: unknown tool `send_emai`; did you mean `send_email`
22:5: a contract without `name`; write name: ..
22:17: unknown key `patern` in a guarantee; did you mean `pattern`
23:27: unknown key `role` in a strategy; did you mean `roles`
24:22: `between` needs two conditions; write between: [f, g]
25:13: an assumption cannot speak of the future
26:11: `no` means different things to YAML readers
28:5: unknown key `guarante` in a contract; did you mean `guarantee`
29:5: `just text` is not a contract
"""


def test_every_mistake_is_told_at_once_with_line_and_column() -> None:
    """A bad file is refused with all of its mistakes, each with a place and a suggestion."""
    found = mistakes(BAD)
    expected = [f"c.yaml:{line}" for line in TOLD.splitlines()]
    assert [line[: len(want)] for line, want in zip(found, expected, strict=False)] == expected
    assert len(found) == len(expected)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "contracts:\n  - {name: a, guarantee: called `x`}\n",
            "1:1: `version` is missing; write `version: 1`",
        ),
        ('version: "1"\n', '1:10: version `"1"` is not known'),
        ("version: true\n", "1:10: version `true` is not known"),
        ("version: 1.0\n", "1:10: version `1.0` is not known"),
        ("version: 1\n", "1:1: no contracts; write `contracts:`"),
        ("version: 1\ncontracts: []\n", "2:12: no contracts"),
        ("version: 1\ncontracts:\n  name: a\n", "3:3: `contracts` is not a list"),
        ("version: 1\nmode:\n", "2:6: `mode` is empty"),
        ("version: 1\ntools: check\n", "2:8: `check` is not a list of tools"),
        ("version: 1\ntools: []\n", "2:8: `[]` is not a list of tools"),
        ("version: 1\ntools: [a, a]\n", "2:12: tool `a` is listed twice"),
        ("version: 1\ntools: [a, 5]\n", "2:12: `5` is not the name of a tool"),
        ("version: 1\ntools: [mcp_*]\n", "2:9: `mcp_*` is not the name of a tool"),
        (
            "version: 1\ntools: {a: {field: x}}\n",
            "2:13: unknown key `field` in a tool; did you mean `fields`?",
        ),
        (
            "version: 1\ntools: {a: {fields: {x: nubmer}}}\n",
            "2:25: unknown kind `nubmer`; did you mean `number`?",
        ),
        ("version: 1\ntools: {a: 5}\n", "2:12: `5` describes no tool"),
        ("version: 1\nactions: [a]\n", "2:10: `['a']` is no map of actions"),
        (
            "version: 1\nactions: {a: [b], b: x}\n",
            "2:14: action `b` is not defined above; move it up",
        ),
        ("version: 1\nactions: {a: a}\n", "2:14: action `a` is not defined above"),
        (
            "version: 1\ntools: [a]\nactions: {a: a}\n",
            "3:11: `a` is a tool already; rename the action",
        ),
        ("version: 1\ntools: [a]\nactions: {x: b}\n", "3:14: unknown tool `b`"),
        (
            "version: 1\nactions: {x: {tool: b, agrs: 1}}\n",
            "2:24: unknown key `agrs` in a match; did you mean `args`?",
        ),
    ],
)
def test_mistakes_around_contracts_are_told(text: str, problem: str) -> None:
    """Version, mode, tools and actions are read as strictly as contracts."""
    assert f"c.yaml:{problem}" in "\n".join(mistakes(text))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("assume: called `x`", "3:5: a contract without `guarantee`"),
        ("guarantee:", "4:15: `guarantee` is empty"),
        ("guarantee: []", "4:16: an empty list"),
        ("guarantee: 5", "4:16: `5` is not a guarantee"),
        ("guarantee: [[called `x`]]", "4:17: `['called `x`']` is not a guarantee"),
        ("guarantee: tool `x` at most once\nassume:", "5:12: `assume` is empty"),
        (
            "guarantee: tool `x` at most once\nassume: {called: x, done: y}",
            "5:13: a condition has one atom",
        ),
        (
            "guarantee: tool `x` at most once\nassume: {called: {tool: x, arg: {}}}",
            "5:32: unknown key `arg` in a match",
        ),
        (
            "guarantee: tool `x` at most once\nassume: {ctx: {k: {in: x}}}",
            "5:28: `x` is not a list; write [x]",
        ),
        (
            "guarantee: tool `x` at most once\nscope: {aftr: called `x`}",
            "5:13: unknown key `aftr` in a scope; did you mean `after`",
        ),
        ("guarantee: tool `x` at most once\nscope: after", "5:12: `after` is not a scope"),
        (
            "guarantee: tool `x` at most once\nscope: {between: [called `x`, sometimes]}",
            "5:35: `sometimes` is not understood",
        ),
        (
            "guarantee: tool `x` at most once\nscope: {after: called `x`, before: called `y`}",
            "5:12: a scope has one segment",
        ),
        (
            "guarantee: tool `x` at most once\nstrategy: my.package:function",
            "5:15: `my.package:function` cannot be imported",
        ),
        (
            "guarantee: tool `x` at most once\nstrategy: {redirect_to_safe: {to: y, mapp: {}}}",
            "5:42: unknown key `mapp` in a redirect; did you mean `map`?",
        ),
        (
            "guarantee: tool `x` at most once\nstrategy: {redirect_to_safe: {to: y, map: {a: 5}}}",
            "5:51: `5` is not a name",
        ),
        ("guarantee: {pattern: must_precede, first: [x, 5], then: y}", "4:51: `5` is not a tool"),
        (
            "guarantee: {pattern: required_steps_completion, steps: [], gate: y}",
            "4:60: an empty list",
        ),
        (
            "guarantee: {pattern: tool_allowlist, tools: 'mcp_*'}",
            "4:49: `mcp_*` is not an exact name",
        ),
        (
            "guarantee: {pattern: must_precede, first: {tool: x, args: {n: {over: 3}}}, then: y}",
            "4:68: unknown key `over` in a comparison",
        ),
        (
            "guarantee: {pattern: workflow_step, trigger: {ltl: 'G called(x)'}, next_action: y}",
            "4:50: `G called(x)` speaks of the future",
        ),
        (
            "guarantee: {pattern: cooldown, action: x}",
            "4:16: `cooldown`: either `steps` or `seconds` is needed",
        ),
        ("guarantee: {ltl: 5}", "4:22: `5` is not a formula"),
        ('guarantee: {ltl: "G called(x"}', "4:33: expected"),
        ("guarantee: {ltl: G called(x}", "4:"),
        (
            "guarantee: {ltl: \"G(called(x) -> text matches '(')\"}",
            "4:22: regular expression `(` does not compile",
        ),
        ("name: again\nguarantee: tool `x` at most once", "4:5: key `name` is given twice"),
    ],
)
def test_mistakes_in_contracts_are_told(text: str, problem: str) -> None:
    """Every part of a contract that is not understood is told, as deep inside as it stands."""
    assert f"c.yaml:{problem}" in "\n".join(mistakes(ruled(text)))


def test_a_formula_in_a_block_is_told_by_its_line() -> None:
    """A formula over several lines is located at its beginning."""
    text = ruled("guarantee:\n  ltl: >\n    G(called(x)\n    -> called(\n")
    assert mistakes(text)[0].startswith("c.yaml:5:12: ")


def test_nothing_of_a_bad_file_is_loaded() -> None:
    """One mistake is enough: no contract of the file is loaded."""
    with pytest.raises(ContractError):
        loaded(EXAMPLE + "  - name: extra\n    guarantee: nonsense\n")


def test_a_big_file_takes_work_in_proportion() -> None:
    """A file of 400 contracts is read with four times the work of one of 100."""

    def reading(number: int) -> Callable[[], None]:
        lines = ["version: 1", "contracts:"]
        for i in range(number):
            lines += [f"  - name: c{i}", f"    guarantee: tool `check{i}` must precede `pay{i}`"]

        def read() -> None:
            assert len(loads("\n".join(lines)).contracts) == number

        return read

    few, many = costs(reading(100), reading(400))
    assert many < 5 * few


def test_guards_refuse_what_only_compiling_shows(tmp_path: Path) -> None:
    """What can never be kept, or never fire, is told with the place of its contract."""
    path = tmp_path / "c.yaml"
    path.write_text(ruled('guarantee: {ltl: "F called(a) & G !called(a)"}'), "utf-8")
    with pytest.raises(ContractError, match=r"c\.yaml:3:11: .* can never be kept"):
        Guard.from_yaml(path)


def test_a_mistake_in_a_tool_is_told_once() -> None:
    """Its name is known: the sentence that has it without quotes is understood."""
    with pytest.raises(ContractError) as caught:
        loads("""version: 1
tools:
  get_order: {}
  refund: {fields: {id: string}}
contracts:
  - {name: order, guarantee: refund only after get_order}
  - {name: slip, guarantee: never call refnd}
""")
    assert [each.what for each in caught.value.problems] == [
        "its fields are missing",
        "unknown tool `refnd`",
    ]
