"""Files that include others: one guard of several files, parameters, the environment, overrides."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from sponsio_like import Allowed, Blocked, ContractError, Guard
from sponsio_like.checks import read_file
from sponsio_like.contracts.composition import CHAIN_CAP
from sponsio_like.contracts.loader import File, loads
from tests.semantics.manifest import requirement

BASE = """\
version: 1
tools: [check, pay, mail]
actions: {spends: [pay]}
contracts:
  - name: few payments
    guarantee: {pattern: rate_limit, action: spends, limit: 3}
  - name: checked
    guarantee: {pattern: must_precede, first: check, then: pay}
"""
OWN = """\
contracts:
  - name: mailed
    guarantee: {pattern: always_followed_by, trigger: spends, response: mail}
"""
ROOT = "version: 1\ninclude: [base.yaml]\n"
PACK = """\
version: 1
parameters: {action: null, limit: 3, why: [money]}
contracts:
  - name: few ${action}
    guarantee: {pattern: rate_limit, action: "${action}", limit: "${limit}"}
    because: at most ${limit} calls of ${action}
    tags: ${why}
"""

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes files into a folder of its own, and goes there; returns the folder."""

    def files(**texts: str) -> Path:
        monkeypatch.chdir(tmp_path)
        for name, text in texts.items():
            path = tmp_path / (name.replace("__", "/") + ".yaml")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text), "utf-8")
        return tmp_path

    return files


def names(file: File) -> list[str]:
    """The names of the contracts of a file."""
    return [each.name for each in file.contracts]


def mistakes(path: str) -> list[str]:
    """What is wrong with a contract file."""
    with pytest.raises(ContractError) as caught:
        read_file(path)
    return str(caught.value).splitlines()


@requirement("S-FILE-10")
def test_a_file_has_the_contracts_tools_and_actions_of_those_it_includes(write: Write) -> None:
    """Included contracts come first; the including file may use their tools and actions."""
    write(root=ROOT + "tools: [report]\n" + OWN, base=BASE)
    file = read_file("root.yaml")
    assert names(file) == ["few payments", "checked", "mailed"]
    assert file.tools == ("check", "pay", "mail", "report")
    assert [each.where for each in file.contracts] == [
        "base.yaml:5:11",
        "base.yaml:7:11",
        "root.yaml:5:11",
    ]
    guard = Guard.from_yaml("root.yaml")
    session = guard.session("one")
    assert isinstance(session.decide("pay", {}), Blocked)
    assert isinstance(session.decide("check", {}), Allowed)


def test_a_folder_and_several_files_make_one_guard(write: Write) -> None:
    """The files of a folder are read in the order of their names; several paths in theirs."""
    write(rules__b=PACK.replace("action: null", "action: pay"), rules__a=BASE)
    assert names(read_file("rules")) == ["few payments", "checked", "few pay"]
    assert names(read_file(["rules/b.yaml", "rules/a.yaml"])) == [
        "few pay",
        "few payments",
        "checked",
    ]
    assert len(Guard.from_yaml("rules").policy.contracts) == 3
    write(root="version: 1\ninclude: [rules]\n")
    assert names(read_file("root.yaml")) == ["few payments", "checked", "few pay"]


def test_a_file_of_a_package_is_included(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """`package:file` is a file of an installed package, none of whose code is run."""
    folder = write(my_rules__base=BASE, root="version: 1\ninclude: ['my_rules:base.yaml']\n")
    (folder / "my_rules" / "__init__.py").write_text("raise SystemExit('it was run')\n")
    monkeypatch.syspath_prepend(folder)
    assert names(read_file("root.yaml")) == ["few payments", "checked"]


def test_a_file_that_is_included_twice_is_read_once(write: Write) -> None:
    """Two ways to one file are one file; with other values it is another one."""
    write(
        root="version: 1\ninclude: [left.yaml, right.yaml]\n",
        left="version: 1\ninclude: [base.yaml]\n",
        right="version: 1\ninclude: [base.yaml]\n",
        base=BASE,
    )
    assert names(read_file("root.yaml")) == ["few payments", "checked"]
    entries = "".join(f"  - {{file: pack.yaml, with: {{action: {each}}}}}\n" for each in "ab")
    write(root=f"version: 1\ninclude:\n{entries}", pack=PACK)
    assert names(read_file("root.yaml")) == ["few a", "few b"]


def test_each_contract_has_the_mode_of_its_file(write: Write) -> None:
    """`mode` of an included file is for its contracts; else that of the one that includes it."""
    write(
        root="version: 1\nmode: enforce\ninclude: [middle.yaml]\n" + OWN,
        middle="version: 1\nmode: observe\ninclude: [base.yaml]\n",
        base=BASE,
    )
    file = read_file("root.yaml")
    assert [each.mode for each in file.contracts] == ["observe", "observe", None]
    assert file.mode == "enforce"


# --- parameters and the environment ---------------------------------------------------------------


@requirement("S-FILE-11")
def test_parameters_are_filled_in(write: Write) -> None:
    """Alone, `${x}` is the value with its type; inside a text, its text."""
    write(
        root="""\
            version: 1
            include: [{file: pack.yaml, with: {action: pay, limit: 1, why: [a, b]}}]
            """,
        pack=PACK,
    )
    (few,) = read_file("root.yaml").contracts
    assert (few.name, few.about.because) == ("few pay", "at most 1 calls of pay")
    assert few.about.tags == ("a", "b")
    assert few.rules[0].arguments == {"action": "pay", "limit": 1}


@requirement("S-FILE-11")
def test_the_environment_is_read_where_it_is_declared(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A declared variable is read as its kind; the hash of the file changes with its value."""
    write(
        root="""\
            version: 1
            env: {LIMIT: integer, TEAM: string}
            contracts:
              - name: few
                guarantee: {pattern: rate_limit, action: pay, limit: "${LIMIT}"}
                owner: ${TEAM}
                because: $${TEAM} is the owner
            """
    )
    monkeypatch.setenv("LIMIT", "2")
    monkeypatch.setenv("TEAM", "017")
    file = read_file("root.yaml")
    assert file.contracts[0].rules[0].arguments["limit"] == 2
    assert file.contracts[0].about.owner == "017"
    assert file.contracts[0].about.because == "${TEAM} is the owner"
    monkeypatch.setenv("LIMIT", "3")
    assert read_file("root.yaml").digest != file.digest


def test_a_dollar_in_a_regular_expression_stays() -> None:
    r"""`\${HOME}` in a regular expression is no place to fill in."""
    text = r"""
version: 1
contracts:
  - {name: a, guarantee: {pattern: arg_blacklist, tool: sh, field: c, patterns: ['\${HOME}']}}
"""
    assert loads(text).contracts[0].rules[0].arguments["patterns"] == [r"\${HOME}"]


# --- overrides ------------------------------------------------------------------------------------


@requirement("S-FILE-12")
def test_an_override_stands_in_the_place_of_what_a_contract_says(write: Write) -> None:
    """A key of an override replaces that of the contract; others stay; `remove` takes it away."""
    overrides = """\
overrides:
  - {name: "*", owner: payments}
  - {name: few payments, mode: observe, guarantee: {pattern: idempotent, action: spends}}
  - {name: checked, remove: true}
"""
    write(root=ROOT + OWN + overrides, base=BASE)
    few, mailed = read_file("root.yaml").contracts
    assert (few.name, few.mode, few.about.owner) == ("few payments", "observe", "payments")
    assert few.rules[0].pattern == "idempotent"
    assert (mailed.name, mailed.about.owner) == ("mailed", "")


def test_a_mistake_in_an_override_is_told_where_it_stands(write: Write) -> None:
    """What an override says wrongly has its own place; what the contract says, that of its file."""
    overrides = "overrides:\n  - {name: checked, severity: hihg}\n"
    write(root=ROOT + overrides, base=BASE.replace("first: check", "first: chekc"))
    assert mistakes("root.yaml") == [
        "base.yaml:8:47: unknown tool `chekc`; did you mean `check`?",
        "root.yaml:4:31: unknown severity `hihg`; did you mean `high`?",
    ]


# --- what is refused ------------------------------------------------------------------------------

REFUSED: Mapping[str, tuple[dict[str, str], list[str]]] = {
    "a file that is not there": (
        {"root": "version: 1\ninclude: [base.yml]\n"},
        ["root.yaml:2:11: `base.yml` cannot be read: No such file or directory"],
    ),
    "a folder without files": (
        {"root": "version: 1\ninclude: [empty]\n", "empty__x__y": BASE},
        ["root.yaml:2:11: no contract file is in this folder"],
    ),
    "a package that is not there": (
        {"root": "version: 1\ninclude: ['no_such_rules:a.yaml']\n"},
        [
            "root.yaml:2:11: there is no package `no_such_rules`; install it, or correct its name",
        ],
    ),
    "a file that includes itself": (
        {
            "root": "version: 1\ninclude: [a.yaml]\n",
            "a": "version: 1\ninclude: [b.yaml]\n",
            "b": "version: 1\ninclude: [root.yaml]\n",
        },
        [
            (
                "b.yaml:2:11: a file includes itself: root.yaml -> a.yaml -> b.yaml -> "
                "root.yaml; leave one out"
            ),
        ],
    ),
    "an include that is no list": (
        {"root": "version: 1\ninclude: base.yaml\n", "base": BASE},
        ["root.yaml:2:10: `base.yaml` is no list of files; write [base.yaml]"],
    ),
    "an include with another key": (
        {"root": "version: 1\ninclude: [{file: base.yaml, parameters: {}}]\n", "base": BASE},
        [
            "root.yaml:2:29: unknown key `parameters` in an include; known: `file`, `with`",
        ],
    ),
    "mistakes in two files": (
        {
            "root": ROOT + OWN.replace("mailed", "mailed\n    ownr: me"),
            "base": BASE.replace("limit: 3", "limit: many"),
        },
        [
            "base.yaml:6:61: `many` is not a whole number from 0",
            "root.yaml:5:5: unknown key `ownr` in a contract; did you mean `owner`?",
        ],
    ),
    "an included file that is no YAML": (
        {"root": ROOT, "base": "version: [1\n"},
        [
            (
                "base.yaml:2:1: not YAML: did not find expected ',' or ']'; check indentation, "
                "quotes and brackets"
            ),
        ],
    ),
    "two contracts of one name": (
        {"root": ROOT + OWN.replace("mailed", "checked"), "base": BASE},
        [
            (
                "root.yaml:4:11: two contracts are named `checked`; rename one; the other "
                "stands at base.yaml:7:11"
            ),
        ],
    ),
    "a tool that is none of both": (
        {"root": ROOT + "tools: [report]\n" + OWN.replace("mail}", "mial}"), "base": BASE},
        ["root.yaml:6:73: unknown tool `mial`; did you mean `mail`?"],
    ),
    "a tool with other fields": (
        {
            "root": ROOT + "tools: {pay: {fields: {sum: number}}}\n",
            "base": BASE.replace(
                "[check, pay, mail]", "{check: null, mail: null, pay: {fields: {}}}"
            ),
        },
        [
            (
                "root.yaml:3:14: tool `pay` has other fields in a file that is included; "
                "declare them once"
            ),
        ],
    ),
    "an action that is there": (
        {"root": ROOT + "actions: {spends: [mail]}\n", "base": BASE},
        [
            (
                "root.yaml:3:11: action `spends` is defined in a file that is included; rename "
                "the action"
            ),
        ],
    ),
    "risk in an included file": (
        {"root": ROOT, "base": BASE + "risk: {model: m.json, threshold: 0.2}\n"},
        [
            (
                "base.yaml:9:1: an included file has a section `risk`; write it in the file "
                "that is loaded"
            ),
        ],
    ),
    "a parameter without a value": (
        {"root": "version: 1\ninclude: [pack.yaml]\n", "pack": PACK},
        [
            (
                "pack.yaml:2:14: parameter `action` has no value; give it where the file is "
                "included, {file: .., with: {..}}, or write a default"
            ),
        ],
    ),
    "a value for no parameter": (
        {
            "root": "version: 1\ninclude: [{file: pack.yaml, with: {action: a, limits: 2}}]\n",
            "pack": PACK,
        },
        ["root.yaml:2:11: `pack.yaml` has no parameter `limits`; did you mean `limit`?"],
    ),
    "a name that is not declared": (
        {"root": BASE.replace("limit: 3", 'limit: "${LIMIT}"')},
        [
            (
                "root.yaml:6:62: `${LIMIT}` is not declared; declare it: `parameters: {LIMIT: "
                "..}`, or `env: [LIMIT]`; a variable is `$LIMIT`, and this very text "
                "`$${LIMIT}`"
            ),
        ],
    ),
    "a variable of the environment that is not declared": (
        {"root": BASE.replace("name: checked", "name: checked\n    owner: ${HOME}")},
        [
            (
                "root.yaml:8:12: `${HOME}` is not declared; declare it: `parameters: {HOME: ..}`, "
                "or `env: [HOME]`; a variable is `$HOME`, and this very text `$${HOME}`"
            )
        ],
    ),
    "a name that is misspelt": (
        {"root": "version: 1\nparameters: {limit: 3}\ncontracts: [{name: '${limits} ${limit}'}]\n"},
        [
            "root.yaml:3:13: a contract without `guarantee`; write guarantee: ..",
            "root.yaml:3:21: `${limits}` is not declared; did you mean `limit`?",
        ],
    ),
    "a parameter that is used nowhere": (
        {"root": BASE + "parameters: {limit: 3}\n"},
        [
            (
                "root.yaml:9:14: `limit` is declared, and `${limit}` is used nowhere in this "
                "file; use it, or leave it out"
            ),
        ],
    ),
    "a variable that is not set": (
        {"root": BASE.replace("limit: 3", 'limit: "${NOT_SET}"') + "env: {NOT_SET: integer}\n"},
        [
            "root.yaml:9:16: the environment has no variable `NOT_SET`; set it",
        ],
    ),
    "a variable that is empty": (
        {"root": BASE.replace("limit: 3", 'limit: "${EMPTY}"') + "env: [EMPTY]\n"},
        ["root.yaml:9:7: the environment variable `EMPTY` is empty; give it a value"],
    ),
    "an environment that is no list": (
        {"root": BASE + "env: LIMIT\n"},
        ["root.yaml:9:6: `LIMIT` declares nothing; write [REGION], or {LIMIT: integer}"],
    ),
    "a kind that is none": (
        {"root": BASE.replace("limit: 3", 'limit: "${HOME}"') + "env: {HOME: path}\n"},
        [
            "root.yaml:9:13: unknown kind `path`; known: `string`, `integer`, `number`, `boolean`",
        ],
    ),
    "overrides that leave no contract": (
        {"root": ROOT + 'overrides: [{name: "*", remove: true}]\n', "base": BASE},
        ["root.yaml:3:12: no contract is left; remove fewer: all would be allowed"],
    ),
    "an override of nothing": (
        {"root": ROOT + "overrides: [{name: cheked, mode: observe}]\n", "base": BASE},
        ["root.yaml:3:20: no included contract is named `cheked`; did you mean `checked`?"],
    ),
    "a glob of nothing": (
        {"root": ROOT + "overrides: [{name: 'mail*', mode: observe}]\n" + OWN, "base": BASE},
        [
            (
                "root.yaml:3:20: no included contract is named `mail*`; known: `few payments`, "
                "`checked`"
            ),
        ],
    ),
    "an override of a contract of the file": (
        {"root": ROOT + "overrides: [{name: mailed, mode: observe}]\n" + OWN, "base": BASE},
        ["root.yaml:3:20: `mailed` is a contract of this file; change it there"],
    ),
    "an override without includes": (
        {"root": BASE + "overrides: [{name: checked, mode: observe}]\n"},
        ["root.yaml:9:20: `checked` is a contract of this file; change it there"],
    ),
    "an override that changes nothing": (
        {"root": ROOT + "overrides: [{name: checked}]\n", "base": BASE},
        ["root.yaml:3:13: an override that changes nothing; write {name: .., mode: observe}"],
    ),
    "an override with another key": (
        {"root": ROOT + "overrides: [{name: checked, limit: 3}]\n", "base": BASE},
        [
            (
                "root.yaml:3:29: unknown key `limit` in an override; known: `name`, `assume`, "
                "`scope`, `guarantee`, `strategy`, `mode`, `world`, `because`, `owner`, "
                "`severity`, `tags`, `advice`, `remove`"
            ),
        ],
    ),
    "a key that two files change": (
        {
            "root": "version: 1\ninclude: [left.yaml, right.yaml]\n",
            "left": ROOT + "overrides: [{name: checked, mode: observe}]\n",
            "right": ROOT + "overrides: [{name: checked, mode: enforce}]\n",
            "base": BASE,
        },
        [
            (
                "right.yaml:3:29: `mode` of `checked` is changed in left.yaml, too; change it "
                "in one of them"
            ),
        ],
    ),
}


@requirement("S-FILE-10", "S-FILE-11", "S-FILE-12")
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_put_together_is_refused(
    name: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each mistake has its file, line and column, and what to write instead."""
    texts, said = REFUSED[name]
    monkeypatch.setenv("EMPTY", "")
    write(**texts)
    assert mistakes("root.yaml") == said


def test_a_long_chain_of_files_is_refused(write: Write) -> None:
    """Files that include one another too deeply are refused, and not followed for ever."""
    chain = {f"f{i}": f"version: 1\ninclude: [f{i + 1}.yaml]\n" for i in range(CHAIN_CAP + 5)}
    write(root="version: 1\ninclude: [f0.yaml]\n", **chain)
    assert f"more than {CHAIN_CAP} files, one in the other" in mistakes("root.yaml")[0]


def test_a_text_includes_nothing() -> None:
    """A text that is no file has no folder to include from."""
    with pytest.raises(ContractError, match="a text has no folder to include from"):
        loads(ROOT)


def test_a_change_of_an_included_file_is_loaded(write: Write) -> None:
    """`reload` sees a change in a file that is included, and a file that is new in a folder."""
    folder = write(root=ROOT, base=BASE)
    guard = Guard.from_yaml("root.yaml")
    assert not guard.reload()
    write(base=BASE.replace("limit: 3", "limit: 4"))
    assert guard.reload()
    rules = Guard.from_yaml(folder)
    write(more=PACK.replace("action: null", "action: mail"))
    assert rules.reload()
    assert names(read_file(folder)) == ["few payments", "checked", "few mail"]
    assert set(guard._watched()) == {"root.yaml", "base.yaml"}
    assert str(folder) in rules._watched()
