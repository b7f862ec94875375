"""Contracts that looked armed and were not: lists at keys, null facts, nested fields, names."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like import ContractError, ContractWarning, Guard, contract
from sponsio_like.contracts.sentences import read_sentence
from sponsio_like.patterns import (
    absent,
    amount_limit,
    arg_allowlist,
    arg_blacklist,
    data_intact,
    idempotent,
    no_data_leak,
    no_other_call,
    rate_limit,
    time_since,
)
from sponsio_like.syntax import read
from sponsio_like.worlds import MemoryWorld
from tests.semantics.manifest import requirement
from tests.support.play import letters as play
from tests.support.play import opened

COMPOSED, DECOMPOSED = "\u00e9t\u00e9", "e\u0301te\u0301"


# --- one budget for each value ----------------------------------------------------------------


@requirement("S-KEY-03")
@pytest.mark.parametrize("who", [["a", "b"], [["a"], "b"], {"id": "a"}, {}])
def test_a_list_at_a_key_is_no_budget_of_its_own(who: Any) -> None:
    """A list of several values, or an object, cannot escape the limit of each."""
    for rule in (
        amount_limit("pay", "n", 100, by=["who"]),
        idempotent("pay", by=["who"]),
        data_intact("pay", "n", key="who"),
    ):
        call = ("pay", {"who": who, "n": 60})
        assert play(rule, call, ("pay", {"who": "c", "n": 60})) == "BA", rule
        assert play(rule, ("other", {"who": who})) == "A"


@requirement("S-KEY-03")
def test_what_could_not_be_read_of_a_key_is_said() -> None:
    """Advice names the field, and what is wrong with it."""
    session = Guard([contract("c").guarantees(amount_limit("pay", "n", 9, by=["who"]))]).session()
    said = session.decide("pay", {"who": ["a", "b"], "n": 1}).advice  # type: ignore[union-attr]
    assert "field `who` has several values, or an object, where one value is expected" in said
    assert "field `who` is missing" in session.decide("pay", {"n": 1}).advice  # type: ignore[union-attr]


# --- facts ------------------------------------------------------------------------------------


@requirement("S-FACT-04")
@pytest.mark.parametrize(
    ("fact", "outcome"),
    [(None, "x"), ([], "x"), (["dev", "prod"], "x"), (["prod"], "x"), (["dev"], "."), ("dev", ".")],
)
def test_a_fact_without_a_value_switches_nothing_off(fact: Any, outcome: str) -> None:
    """`fact("env", None)` is as if it had not been told; elements of a list have to agree."""
    for assume in ({"ctx": {"env": "prod"}}, "ctx env is not dev"):
        rule = contract("c").assume(assume).guarantees(absent("drop"))
        session = Guard([rule]).session()
        session.fact("env", fact)
        assert (
            type(session.decide("drop", {})).__name__ == {"x": "Blocked", ".": "Allowed"}[outcome]
        )


@requirement("S-FACT-04")
def test_a_null_is_no_fact_that_allows() -> None:
    """Where a fact is required, a null does not meet it; only what asks for a null sees one."""
    played = opened('G(called(drop) -> ctx(env) != "prod")')
    assert played("drop ctx:env=null drop ctx:env=dev drop") == "xx."
    played = opened("G(called(drop) -> ctx(env) = null)")
    assert played("drop ctx:env=null drop ctx:env=dev drop") == "x.x"


# --- fields inside of fields --------------------------------------------------------------------


@requirement("S-LEAK-04")
@pytest.mark.parametrize(
    "answer",
    [
        {"iban": "abc"},
        {"user": {"iban": "abc"}},
        [{"account": {"iban": "abc"}}],
        {"users": [{"n": 1}, {"iban": ["abc"]}]},
        {"raw": '{"iban": "abc"}'},
        '{"user": {"iban": "abc"}}',
    ],
)
def test_a_field_leaks_wherever_it_stands(answer: Any) -> None:
    """`fields: [iban]` means the field of that name, also inside of other fields."""
    rule = no_data_leak("read", "send", match="values", fields=["iban"])
    assert play(rule, ("read", {}, answer), ("send", {"b": "it is abc"})) == "AB"
    assert play(rule, ("read", {}, answer), ("send", {"b": "it is abd"})) == "AA"


@requirement("S-LEAK-04")
def test_a_path_begins_anywhere() -> None:
    """`user.iban` is the field `iban` of any `user`, and no other one."""
    rule = no_data_leak("read", "send", match="values", fields=["user.iban"])
    send = ("send", {"b": "abc"})
    assert play(rule, ("read", {}, {"data": {"user": {"iban": "abc"}}}), send) == "AB"
    assert play(rule, ("read", {}, {"data": {"shop": {"iban": "abc"}}}), send) == "AA"


# --- names ------------------------------------------------------------------------------------


@requirement("S-CMP-01")
def test_names_of_arguments_are_read_in_nfc() -> None:
    """A name whose accents are characters of their own is the same name, at any depth."""
    rules: list[Any] = [
        absent({"tool": "pay", "args": {COMPOSED: "x"}}),
        absent({"tool": "pay", "args": {f"o.{COMPOSED}": "x"}}),
        arg_blacklist("pay", COMPOSED, ["x"]),
        arg_blacklist("pay", DECOMPOSED, ["x"]),
    ]
    for rule in rules:
        assert play(rule, ("pay", {DECOMPOSED: "x", "o": {DECOMPOSED: "x"}})) == "B", rule
        assert play(rule, ("pay", {DECOMPOSED: "y", "o": {DECOMPOSED: "y"}})) == "A", rule


@requirement("S-CMP-01")
@pytest.mark.parametrize(
    "match",
    [
        {"tool": DECOMPOSED},
        {"tool": f"{DECOMPOSED}*"},
        {"tool": "pay", "args": {DECOMPOSED: "x"}},
    ],
)
def test_a_contract_with_a_name_that_no_call_has_is_refused(match: Any) -> None:
    """The error has the name as it has to be written."""
    with pytest.raises(ContractError, match=r'write "\\u00e9t\\u00e9'):
        Guard([contract("c").guarantees(absent(match))])


@requirement("S-ATOM-02")
@pytest.mark.parametrize("name", ["file[!s]", "file[ab]", "{file,dir}_read"])
def test_brackets_alone_are_warned_of(name: str) -> None:
    """`file[!s]` is a name, no glob and no formula: a warning says so, without tools."""
    with pytest.warns(ContractWarning, match="brackets and braces are no glob"):
        Guard([contract("c").guarantees(rate_limit(name, 1))])
    if "[" in name:
        with pytest.warns(ContractWarning, match="brackets and braces are no glob"):
            Guard([contract("c").guarantees({"pattern": "absent", "match": name})])
    Guard([contract("c").guarantees(rate_limit(name, 1))], tools=[name])


# --- variables and words ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "G !(called(pay, id = $x) & Y O called(pay, id = $x))",
        "G !(called(pay, id = $x) & ctx(account) = $x)",
        "G !called(pay, id = $x, to = $x)",
    ],
)
def test_a_variable_that_stands_twice_in_a_prohibition_is_meant(text: str) -> None:
    """Once in each of two equal parts is twice; so is a fact, and another field."""
    assert Guard([contract("c").guarantees(read(text))]).policy.contracts


def test_a_variable_of_a_prohibition_may_stand_in_the_assumption_or_the_scope() -> None:
    """The value is known from there."""
    never, flagged = read("G !called(pay, id = $x)"), {"ltl": "O called(flag, id = $x)"}
    assumed = contract("c").assume(flagged).guarantees(never)
    scoped = contract("d").after({"ltl": "done(vet, id = $x)"}).guarantees(never)
    assert Guard([assumed, scoped]).policy.contracts == (assumed, scoped)


@requirement("S-VALUE-12")
def test_a_variable_that_stands_once_forbids_nothing_certain() -> None:
    """`absent` with `to: $admin` would refuse every call with `to`; the error has the cure."""
    for rule in (
        absent({"tool": "pay", "args": {"to": "$admin"}}),
        read("G !called(pay, to = $admin)"),
    ):
        with pytest.raises(ContractError, match=r"`\$admin` stands only once.*ctx\(admin\)"):
            Guard([contract("c").guarantees(rule)])
    both = {"tool": "pay", "args": {"to": "$x", "from": "$x"}}
    assert play(absent(both), ("pay", {"to": 1, "from": 1}), ("pay", {"to": 1, "from": 2})) == "BA"


@pytest.mark.parametrize(
    "sentence",
    [
        "call `ask` before each `refund`",
        "call `ask` before every `refund`",
        "before each `refund`, call `ask`",
        "each `refund` must be preceded by `ask`",
        "if ctx env is prod, call `ask` before each `refund`",
    ],
)
def test_before_each_is_refused_with_both_readings(sentence: str) -> None:
    """One earlier call may serve all, or each needs its own; both sentences are understood."""
    with pytest.raises(ContractError, match="can mean two things") as found:
        read_sentence(sentence)
    assert "tool `ask` must precede `refund`" in str(found.value)
    assert "take a new `ask` before each `refund`" in str(found.value)
    anew = read_sentence("take a new `ask` before each `refund`")
    calls: list[Any] = [(each, {}) for each in ("ask", "refund", "refund", "ask", "refund")]
    assert play(anew, *calls) == "AABAA"
    assert play(read_sentence("tool `ask` must precede `refund`"), *calls) == "AAAAA"


@pytest.mark.parametrize(
    "sentence",
    [
        "`transfer` at most 1000 EUR per day",
        "`transfer` at most $1000 per day",
        "at most 1000 USD tokens",
    ],
)
def test_an_amount_of_money_is_no_number_of_calls(sentence: str) -> None:
    """A currency where calls or tokens are counted is refused: the field has to be named."""
    with pytest.raises(ContractError, match=r"are an amount, and this counts.*TOOL\.FIELD"):
        read_sentence(sentence)
    assert read_sentence("the `amount` of `pay` must be at most 100 EUR").pattern


# --- what opens the way -------------------------------------------------------------------------


@requirement("C-time_since")
def test_a_login_that_failed_is_none() -> None:
    """`within 300s of login` asks for a success; a try counts only where `{called: ..}` says so."""
    calls: list[Any] = [("pay", {}), ("login", {}), ("pay", {})]
    for event in ("login", ["login", "pin"], {"tool": "login"}):
        rule = contract("c").guarantees(time_since("pay", event, 300))
        assert opened(rule)("pay login! pay login? pay ok:login pay") == "x.x.x.."
    rule = contract("c").guarantees(time_since("pay", {"called": "login"}, 300))
    assert opened(rule)("pay login! pay") == "x.."
    assert play(read_sentence("`pay` only within 5 minutes of `login`"), *calls) == "BAA"
    again = read_sentence("`pay` within 300s of a call of `login`")
    assert again.formula == time_since("pay", {"called": "login"}, 300).formula


# --- values -----------------------------------------------------------------------------------


@requirement("S-CMP-09")
def test_a_truth_value_in_words_is_in_doubt_in_any_case() -> None:
    """`"True"` may be true to a tool: it is refused where true is forbidden, or required."""
    rule = absent({"tool": "rm", "args": {"force": True}})
    calls: list[Any] = [("rm", {"force": each}) for each in (True, "True", " TRUE ", "False", "x")]
    assert play(rule, *calls) == "BBBAA"
    assert (
        play(no_other_call({"tool": "rm", "args": {"dry": True}}), ("rm", {"dry": "True"})) == "B"
    )


@pytest.mark.parametrize("pattern", ["^/srv/", "/srv/.*", "^/srv/a"])
def test_a_pattern_that_leaves_its_folder_is_warned_of(pattern: str) -> None:
    """`^/srv/` allows `/srv/../etc/passwd`, too; `under` does not."""
    with pytest.warns(ContractWarning, match=r"which lies elsewhere; write \{under: /srv"):
        Guard([contract("c").guarantees(arg_allowlist("write", "path", [pattern]))])
    Guard([contract("c").guarantees(arg_allowlist("write", "path", ["^/srv/[a-z]+$"]))])


@requirement("S-WORLD-02")
def test_a_contract_on_the_world_without_a_store_is_warned_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Each session counts for itself then: Python's log says so once, and what to write."""
    guard = Guard([contract("c").guarantees(rate_limit("pay", 1)).world()])
    guard.session("a", world=MemoryWorld())
    assert caplog.messages == []
    for _ in range(2):
        guard.session()
    [said] = caplog.messages
    assert "each session counts `c` for itself" in said
    assert "world=SqliteWorld(path)" in said


@pytest.mark.parametrize("text", ["admin", " admin", "admin\n", "\tadmin "])
def test_blanks_at_the_ends_do_not_hide_what_is_forbidden(text: str) -> None:
    """`^admin$` of a blacklist, and “must not be”, refuse it with blanks around, and no more."""
    for rule in (
        arg_blacklist("su", "user", ["^admin$"]),
        read_sentence('the `user` of `su` must not be "admin"'),
    ):
        assert play(rule, ("su", {"user": text}), ("su", {"user": "admin2"})) == "BA"
    assert play(arg_blacklist("su", "user", ["(^|;)rm\\b"]), ("su", {"user": " rm x"})) == "B"
