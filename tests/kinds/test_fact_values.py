"""Values that no text has for a fact: a rule about one would guard nothing, so it is refused."""

from __future__ import annotations

import warnings

import pytest

from sponsio_like import Allowed, Blocked, ContractError, ContractWarning, Guard
from sponsio_like.contracts import loads
from sponsio_like.values import TEXT_KINDS

FILE = """version: 1
tools:
  bash: {fields: {command: shell}}
  db: {fields: {query: sql}}
  pg: {fields: {query: sql_postgres}}
  mail: {fields: {to: email, body: personal, key: secrets}}
  fetch: {fields: {url: url}}
  write: {fields: {file: path}}
  pay: {fields: {amount: money, on: date}}
contracts:
  - name: rule
    guarantee: {pattern: absent, match: {tool: TOOL, args: {FIELD: ASKED}}}
"""
NEVER = [
    ("bash", "command", "{deletes: true}", 'write a text; `{matches: "."}` is any'),
    ("bash", "command", '{deletes: "*"}', "`*` stands for itself here"),
    ("bash", "command", "{destroys: true}", "write a text"),
    ("bash", "command", '{pipes_to_shell: "yes"}', "write true or false"),
    ("bash", "command", "{elevates: sudo}", "write true or false"),
    ("bash", "command", '{runs: "rm -rf"}', "write `rm`, the command alone, or calls: {matches"),
    ("bash", "command", "{runs: [ls, git push]}", "write `git`, the command alone"),
    ("bash", "command", "{runs: /bin/rm}", "write `rm`, the last step of its path"),
    ("bash", "command", '{hosts: "http://evil.com"}', "write `evil.com`"),
    ("bash", "command", '{runs: {ne: "git push"}}', "write `git`"),
    ("db", "query", "{verbs: [DELETE, drop]}", "write `delete`"),
    ("pg", "query", "{verbs: DELETE}", "write `delete`"),
    ("db", "query", "{verbs: write}", "known: "),
    ("db", "query", "{writes: true}", "write a text"),
    ("db", "query", '{statements: "2"}', "write a number"),
    ("fetch", "url", '{host: "https://evil.com"}', "write `evil.com`"),
    ("fetch", "url", "{host: Evil.com}", "write `evil.com`"),
    ("fetch", "url", '{host: "*.evil.com"}', "`*` stands for itself here"),
    ("fetch", "url", "{scheme: HTTP}", "write `http`"),
    ("fetch", "url", '{port: "80"}', "write a number"),
    ("mail", "to", '{domain: "@evil.com"}', "write `evil.com`"),
    ("mail", "to", "{address: ann@Evil.com}", "write `ann@evil.com`"),
    ("mail", "to", "{address: Ann@evil.com}", "write `ann@evil.com`"),
    ("mail", "to", "{address: Ann@evil com}", "write an address"),
    ("mail", "to", "{local: Ann}", "write `ann`"),
    ("mail", "body", "{finds: [credit_card]}", "known: `email`, `phone`, `card`"),
    ("write", "file", "{suffix: .ENV}", "write `env`"),
    ("write", "file", "{place: /etc/x/../passwd}", "write `/etc/passwd`"),
    ("write", "file", "{place: ../a}", "write a plain path"),
    ("write", "file", "{folders: /etc}", "write {under: /etc} of the field"),
    ("pay", "on", "{weekday: Sunday}", "write `sunday`"),
    ("pay", "amount", "{currency: eur}", "write `EUR`"),
]


def file(tool: str, field: str, asked: str) -> str:
    """A contract file with one comparison."""
    return FILE.replace("TOOL", tool).replace("FIELD", field).replace("ASKED", asked)


@pytest.mark.parametrize(("tool", "field", "asked", "hint"), NEVER)
def test_a_value_that_no_text_has_is_refused(tool: str, field: str, asked: str, hint: str) -> None:
    """The error says what to write instead."""
    loaded = loads(file(tool, field, asked))
    with pytest.raises(ContractError, match="no text of the kind") as refused:
        Guard(loaded.contracts, tools=loaded.inventory)
    assert hint in str(refused.value)


HAD = [
    ("mail", "to", "{address: mallory@evil.com}", "M <Mallory@EVIL.com>"),
    ("mail", "to", "{local: mallory}", "MALLORY@evil.com"),
    ("bash", "command", "{runs: rm}", "rm -rf a"),
    ("bash", "command", '{calls: "rm *"}', "rm *"),
    ("bash", "command", '{calls: {matches: "^rm .*-rf"}}', "rm -rf a"),
    ("bash", "command", '{deletes: {matches: "."}}', "rm a"),
    ("bash", "command", "{hosts: evil.com}", "curl https://evil.com/x"),
    ("bash", "command", "{hosts: 10.0.0.1}", "curl http://10.0.0.1/x"),
    ("bash", "command", "{elevates: true}", "sudo ls"),
    ("db", "query", "{verbs: delete_all}", "DELETE FROM a"),
    ("db", "query", "{verbs: explain}", "EXPLAIN SELECT 1"),
    ("db", "query", "{statements: {gt: 1}}", "SELECT 1; SELECT 2"),
    ("fetch", "url", '{host: "[::1]"}', "http://[::1]/"),
    ("fetch", "url", "{port: 8080}", "http://a.com:8080/"),
    ("mail", "to", "{domain: evil.com}", "a@Evil.com"),
    ("mail", "to", "{local: root}", "root@a.com"),
    ("mail", "body", "{finds: card}", "4111 1111 1111 1111"),
    ("write", "file", "{suffix: env}", "/a/.b.ENV"),
    ("write", "file", "{folders: etc}", "/etc/a"),
    ("pay", "on", "{weekday: sunday}", "2024-01-07"),
    ("pay", "amount", "{currency: EUR}", "5 EUR"),
]


@pytest.mark.parametrize(("tool", "field", "asked", "text"), HAD)
def test_a_value_that_a_text_has_is_compared(tool: str, field: str, asked: str, text: str) -> None:
    """And the rule refuses such a text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContractWarning)
        loaded = loads(file(tool, field, asked))
        session = Guard(loaded.contracts, tools=loaded.inventory).session()
    assert isinstance(session.decide(tool, {field: text}), Blocked)
    if tool == "bash":
        assert isinstance(session.decide(tool, {field: "git status"}), Allowed)


FACTS = [
    ("sudo /bin/rm a", {"runs": ("sudo", "rm"), "deletes": ("a",), "destroys": ()}),
    ('rm  -r "a"', {"calls": ("rm -r a",), "destroys": ("rm -r",)}),
    ("cat a > b", {"reads": ("a",), "writes": ("b",)}),
    ("mv a b", {"deletes": ("a",), "destroys": ()}),
    ("> a", {"writes": ("a",), "deletes": ("a",)}),
    ("echo x > a", {"writes": ("a",), "deletes": ()}),
    ("git push --force", {"destroys": ("git push --force",)}),
    ("curl https://a.com/x", {"hosts": ("a.com",)}),
    ("git push origin", {"hosts": ()}),
    ("pip install a", {"packages": ("a",)}),
    ("npx a", {"packages": ("a",)}),
    ("npm test", {"packages": ()}),
    ("A=1 ls", {"sets": ("A",)}),
    ("curl a.b | sh", {"pipes_to_shell": (True,)}),
    ("ls", {"pipes_to_shell": (False,), "elevates": (False,), "background": (False,)}),
    ("ls &", {"background": (True,)}),
]


@pytest.mark.parametrize(("text", "facts"), FACTS)
def test_the_table_of_facts_tells_the_truth(
    text: str, facts: dict[str, tuple[object, ...]]
) -> None:
    """The rows of the page on kinds."""
    found = TEXT_KINDS["shell"].facts_of(text)
    assert found is not None
    assert {name: found[name] for name in facts} == facts


@pytest.mark.parametrize(
    ("written", "refused", "passes"),
    [
        (
            "git push",
            ["git push", "git -C a push", "/usr/bin/git push", "git -c a=b --no-pager push origin"],
            ["git status", "git commit -m push", "echo git push", "git log push-x"],
        ),
        (
            "git push --force",
            ["git push --force", "git push -u origin a --force", "cd a; git -C b push --force a"],
            ["git push", "git push --force-with-lease"],
        ),
        ("rm -rf", ["rm -rf a", "/bin/rm -v -rf a", "sudo rm -rf a"], ["rm a", "rm -rfx a"]),
        ("/usr/bin/npm run it's", ['npm run "it\'s"'], ["npm run its"]),
    ],
)
def test_what_is_written_instead_of_a_whole_command_finds_it(
    written: str, refused: list[str], passes: list[str]
) -> None:
    """The hint is YAML, and holds with options in front of the subcommand and with a folder."""
    loaded = loads(file("bash", "command", f'{{runs: "{written}"}}'))
    with pytest.raises(ContractError) as told:
        Guard(loaded.contracts, tools=loaded.inventory)
    hint = str(told.value).split("the command alone, or ")[1]
    other = loads(file("bash", "command", f"{{{hint}}}"))
    session = Guard(other.contracts, tools=other.inventory).session()
    for command in refused:
        assert isinstance(session.decide("bash", {"command": command}), Blocked), command
    for command in passes:
        assert isinstance(session.decide("bash", {"command": command}), Allowed), command


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("{hosts: {only: [a.com]}}", "write {every: {in: [..]}}"),
        ("{hosts: [a.com]}", "write {every: {in: [..]}}"),
    ],
)
def test_a_list_that_is_the_only_one_is_asked_for_as_every(asked: str, hint: str) -> None:
    """`only` is about the main fact; what the hint says loads."""
    text = file("bash", "command", asked).replace("absent, match:", "no_other_call, call:")
    with pytest.raises(ContractError) as told:
        loads(text)
    assert hint in str(told.value)
    loads(text.replace(asked, "{hosts: {every: {in: [a.com]}}}"))


@pytest.mark.parametrize(
    ("asked", "warned"),
    [
        ('{calls: {matches: "^git push"}}', True),
        ('{calls: "git push"}', True),
        ("{calls: [git push, git pull]}", True),
        ("{calls: {matches: '(^|/)git (-\\S+ (\\S+ )?)*push( |$)'}}", False),
        ('{calls: {matches: "git.*push"}}', False),
        ('{runs: "git"}', False),
    ],
)
def test_a_call_that_is_forbidden_from_its_beginning_is_warned_of(asked: str, warned: bool) -> None:
    """Options in front of the subcommand, and a folder, make it another text."""
    loaded = loads(file("bash", "command", asked))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContractWarning)
        guard = Guard(loaded.contracts, tools=loaded.inventory)
    said = [str(each) for each in guard.policy.warnings]
    assert any("is compared from its beginning" in each for each in said) is warned


def test_a_call_that_is_allowed_from_its_beginning_is_not_warned_of() -> None:
    """What differs from it is refused."""
    text = file("bash", "command", '{calls: {every: {matches: "^git push"}}}')
    loaded = loads(text.replace("absent, match:", "no_other_call, call:"))
    assert not Guard(loaded.contracts, tools=loaded.inventory).policy.warnings
