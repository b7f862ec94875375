"""Contracts that would load and then do nothing, do something else, or take for ever to load."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import (
    Allowed,
    Blocked,
    Contract,
    ContractError,
    ContractWarning,
    Guard,
    atom,
    contract,
)
from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Scope
from sponsio_like.events.registry import CUSTOM
from sponsio_like.patterns import must_precede, rate_limit
from sponsio_like.syntax import read
from tests.support.costs import work

PAY_ZERO = rate_limit("pay", 0)


def ruled(*rules: Any) -> Contract:
    """A contract of these rules."""
    return contract("x").guarantees(*rules)


@pytest.fixture
def _own_atoms() -> Any:
    """Atoms that a test registers are forgotten when it is over."""
    before = dict(CUSTOM)
    yield
    CUSTOM.clear()
    CUSTOM.update(before)


# --- modes, strategies, guarantees that are none --------------------------------------------------


@pytest.mark.parametrize("mode", ["Enforce", "enforced", "observ", "", None, True, "block"])
def test_a_mode_with_a_typo_is_refused(mode: Any, tmp_path: Path) -> None:
    """A guard, a file or a contract with a mode that does not exist would enforce nothing."""
    file = tmp_path / "rules.yaml"
    file.write_text("version: 1\ncontracts: [{name: a, guarantee: 'tool `pay` at most once'}]")
    makers: list[Callable[[], object]] = [
        lambda: Guard([ruled(PAY_ZERO)], mode=mode),
        lambda: Guard([Contract("x", (PAY_ZERO,), mode=mode)]),
        lambda: Guard.from_yaml(file, mode=mode),
    ]
    for make in makers[: 1 if mode is None else 3]:
        if mode == "" and make is makers[2]:
            continue  # nothing is said, as in a file
        with pytest.raises(ContractError, match="mode"):
            make()


@pytest.mark.parametrize(
    "empty", [contract("x"), contract("x").assume("called `pay`"), contract("x").guarantees()]
)
def test_a_contract_without_a_guarantee_is_refused(empty: Contract) -> None:
    """A name, or an assumption, by itself demands nothing."""
    with pytest.raises(ContractError, match="no guarantee"):
        Guard([empty])


@pytest.mark.parametrize("answer", ["block", "warn_only", "nothing", {"redirect_to_safe": {}}])
def test_an_answer_that_is_no_decision_is_refused(answer: Any) -> None:
    """A strategy by its name, where a decision belongs, would let everything pass."""
    with pytest.raises(ContractError, match="strategy"):
        Guard([Contract("x", (PAY_ZERO,), answer=answer)])
    with pytest.raises(ContractError, match="strategy"):
        Guard([Contract("x", (Rule(read("G !called(pay)"), answer=answer),))])


# --- assumptions, scopes, comparisons -------------------------------------------------------------

NEVER: dict[str, Contract] = {
    "an assumption that is false": ruled(PAY_ZERO).assume({"ltl": "false"}),
    "an assumption that contradicts itself": ruled(PAY_ZERO).assume({"ltl": "Y false"}),
    "an assumption that excludes the call": ruled(PAY_ZERO).assume({"ltl": "!called(pay)"}),
    "an assumption of two pasts": ruled(PAY_ZERO).assume({"ltl": "O called(a) & H !called(a)"}),
    "a scope before the call": ruled(PAY_ZERO).before("called `pay`"),
    "a scope before anything": ruled(PAY_ZERO).before({"ltl": "true"}),
    "a scope after nothing": ruled(PAY_ZERO).after({"ltl": "false"}),
    "a scope that is over at once": ruled(PAY_ZERO).between("called `a`", {"ltl": "true"}),
    "a scope up to the call": ruled(PAY_ZERO).between("called `a`", "called `pay`"),
    "a scope without a beginning": ruled(PAY_ZERO).after_until({"ltl": "false"}, "called `a`"),
    "a count before its own tool": ruled(rate_limit("pay", 3)).before("called `pay`"),
    "an order before the second": ruled(must_precede("check", "pay")).before("called `pay`"),
    "an obligation after nothing": ruled({"ltl": "F called(pay)"}).after({"ltl": "Y false"}),
    "a scope and an assumption": ruled(PAY_ZERO)
    .assume({"ltl": "O called(a)"})
    .before("called `a`"),
}


@pytest.mark.parametrize("name", NEVER)
def test_a_contract_that_binds_nowhere_is_refused(name: str) -> None:
    """Where assumption and scope leave nothing to violate, the contract would never fire."""
    with pytest.raises(ContractError, match=r"never|nothing can violate|no segment"):
        Guard([NEVER[name]])


@pytest.mark.parametrize(
    "sound",
    [
        ruled(PAY_ZERO).before({"done": "pay"}),
        ruled(PAY_ZERO).before("called `a`"),
        ruled(PAY_ZERO).after("called `pay`"),
        ruled(PAY_ZERO).after_until("called `pay`", "called `pay`"),
        ruled(PAY_ZERO).after({"done": "login"}),
        ruled({"ltl": "F called(pay)"}).before("called `pay`"),
        ruled(PAY_ZERO).assume({"ltl": "O called(a)"}).after("called `a`"),
        ruled(PAY_ZERO).assume({"ctx": {"env": "prod"}}),
        ruled({"ltl": "G(called(a) -> F[<=60s] called(b))"}).before("called `a`"),
        ruled(rate_limit("pay", 3)).assume({"called": {"tool": "pay", "args": {"n": 5}}}),
    ],
    ids=repr,
)
def test_a_contract_that_binds_somewhere_loads(sound: Contract) -> None:
    """Where there is a trace on which it counts, a contract is not refused."""
    assert Guard([sound]).session().verdicts() == {"x": "inconclusive"}


@pytest.mark.parametrize(
    "comparison",
    [
        *("count(a) >= 0", "count(a) > -1", "0 <= count(a)", "tokens() != -1", "depth() >= -2.5"),
        *("count(a) < 0", "age(a) <= -1", "count(a) = 0.5", "repeats(a) in [-1, 1.5]"),
        *('count(a) <= "3"', '"3" > count(a)', "sum(a, n) = true", 'tokens() in ["1"]'),
        *('count(a) matches "3"', "3 < 4", '"a" = "a"', "arg(n) < NaN", "arg(n) in []"),
        *("ctx(k) = NaN", "since(a) = null", "arg(n) in [NaN]"),
    ],
)
def test_a_comparison_that_says_nothing_is_refused(comparison: str) -> None:
    """What is always true, never true, or can never be made is a mistake, wherever it stands."""
    for frame in ("G(called(a) -> %s)", "G(called(a) -> O(called(b) & !(%s)))"):
        with pytest.raises(ContractError, match=r"always|never|constants"):
            ruled({"ltl": frame % comparison})
    with pytest.raises(ContractError, match=r"always|never|constants"):
        Guard([ruled(PAY_ZERO).assume(read(comparison))])


@pytest.mark.parametrize("atom", ["!arg_contains(n, [])", "arg_allowed(n, [])"])
def test_a_search_for_nothing_is_refused(atom: str) -> None:
    """It would find nothing, or allow nothing, whatever is called."""
    with pytest.raises(ContractError, match="there is no pattern to look for; write at least one"):
        Guard([contract("c").guarantees({"ltl": f"G {atom}"})])


@pytest.mark.parametrize("condition", ["n = NaN", "n in []", "n < NaN"])
def test_a_condition_that_says_nothing_is_refused(condition: str) -> None:
    """A condition on arguments that no value meets is a mistake, too."""
    with pytest.raises(ContractError, match="never"):
        ruled({"ltl": f"G !called(a, {condition})"})


@pytest.mark.parametrize(
    "comparison",
    [
        *("count(a) > 0", "count(a) <= 0", "count(a) < 0.5", "since(a) < Infinity", "age(a) = 0.5"),
        *(
            "sum(a, n) >= 0",
            "sum(a, n) < -1.5",
            "count(a) = 2",
            "count(a) in [-1, 1]",
            "5 in arg(n)",
        ),
        *('arg(n) <= "3"', "count(a) <= ctx(most)", 'arg(n) in [1, "a"]', "arg(n) = true"),
        *("true = arg(n)", "null != arg(n)", "[1, 2] = arg(n)"),
    ],
)
def test_a_comparison_that_says_something_loads(comparison: str) -> None:
    """A comparison that may come out either way is not refused."""
    guard = Guard([ruled({"ltl": f"G(called(a) -> {comparison})"})])
    assert guard.session().verdicts() == {"x": "inconclusive"}


# --- names ----------------------------------------------------------------------------------------


def test_brackets_alone_are_part_of_a_name() -> None:
    """`db[prod]` is the tool of this name; with `*` or `?`, brackets are a class of characters."""
    with pytest.warns(ContractWarning, match="brackets and braces are no glob"):
        guard = Guard([ruled(rate_limit("db[prod]", 0), {"ltl": 'G !called("x[1]")'})])
    mine = guard.session()
    for tool, kind in (("db[prod]", Blocked), ("dbp", Allowed), ("x[1]", Blocked), ("x1", Allowed)):
        assert isinstance(mine.decide(tool), kind)
    globbed = Guard([ruled(rate_limit("db[pq]*", 0))]).session()
    for tool, kind in (("dbp", Blocked), ("dbq_x", Blocked), ("dbr", Allowed), ("db[p]", Allowed)):
        assert isinstance(globbed.decide(tool), kind)


def test_brackets_may_stand_in_an_inventory(tmp_path: Path) -> None:
    """A tool with brackets in its name can be listed, and is held against the inventory."""
    file = tmp_path / "rules.yaml"
    text = "version: 1\ntools: ['db[prod]', pay]\ncontracts: [{name: a, guarantee: %s}]"
    rule = "{pattern: rate_limit, action: '%s', limit: 0}"
    file.write_text(text % rule % "db[prod]")
    assert isinstance(Guard.from_yaml(file).session().decide("db[prod]"), Blocked)
    file.write_text(text % rule % "db[prd]")
    with pytest.raises(ContractError, match=r"did you mean `db\[prod\]`"):
        Guard.from_yaml(file)


@pytest.mark.parametrize(
    ("formula", "trace"),
    [
        ("G(called(x) -> X(called('a*') & called('*b')))", ["x", "ab", "x"]),
        ("G(called(x) -> X(called('a[bc]*') & called('*')))", ["x", "ab", "x"]),
        ("G(called(x) -> X(called('a?') & called('?b') & !called(ab)))", ["x"]),
    ],
)
def test_a_tool_may_match_several_globs(formula: str, trace: list[str]) -> None:
    """A call is not refused too soon because no sample of a name matched all globs at once."""
    mine = Guard([ruled({"ltl": formula.replace("'", '"')})]).session()
    outcomes = [mine.decide(tool) for tool in trace]
    expected = [Allowed] * len(trace) if "!" not in formula else [Allowed]
    assert [type(each) for each in outcomes] == expected


def test_globs_that_overlap_can_be_violated() -> None:
    """That no tool matches two globs is a rule: `aXb` would break it."""
    mine = Guard([ruled({"ltl": 'G !(called("a*") & called("*b"))'})]).session()
    assert [type(mine.decide(tool)) for tool in ("ax", "xb", "aXb")] == [Allowed, Allowed, Blocked]


def test_tools_that_a_glob_matches_leave_nothing_behind() -> None:
    """Thousands of names that match a glob are told apart by the globs, not one by one."""
    guard = Guard([ruled(rate_limit("pay_*", 10**5)), contract("y").guarantees(PAY_ZERO)])
    mine = guard.session()
    for n in range(2_000):
        mine.settle(mine.decide(f"pay_{n}").id)
    assert len(guard.policy.index._known) < 10


FIELDS = (
    "version: 1\n"
    "tools: {pay: {fields: {amount: number}}, pay_all: {fields: {amount: number}}, log: }\n"
    "contracts: [{name: a, guarantee: %s}]"
)


@pytest.mark.parametrize(
    ("guarantee", "tools"),
    [
        ('{ltl: "G(called(pay) -> sum(pay, amonut) <= 5)"}', "pay"),
        ("{ltl: \"G(called(pay) -> sum('pay*', amonut) <= 5)\"}", "pay"),
        ("{ltl: \"G !called('pay*', amonut > 5)\"}", "pay"),
        ("{pattern: arg_value_range, tool: 'pay*', field: amonut, max: 5}", "pay"),
        ("{pattern: rate_limit, action: {tool: 'pay*', args: {amonut: 5}}, limit: 1}", "pay"),
        ("{pattern: idempotent, action: 'pay_*', by: [amonut]}", "pay"),
        ('{ltl: "G(called(pay) -> arg(amonut) <= 5)"}', "pay"),
        ("{ltl: \"G !called('*', amonut > 5)\"}", "all"),
    ],
)
def test_a_misspelt_field_is_refused_wherever_it_stands(
    guarantee: str, tools: str, tmp_path: Path
) -> None:
    """Sums, globs and comparisons are held against the declared fields, as names of tools are."""
    file = tmp_path / "rules.yaml"
    text = FIELDS % guarantee
    if tools == "all":
        file.write_text(text)
        assert Guard.from_yaml(file).session().calls == 0  # `log` may have any field
        text = text.replace("log: }", "log: {fields: {text: string}}}")
    file.write_text(text)
    with pytest.raises(ContractError, match=r"no field|has a field.*did you mean `amount`"):
        Guard.from_yaml(file)
    file.write_text(text.replace("amonut", "amount"))
    assert Guard.from_yaml(file).session().calls == 0


def test_a_call_is_not_redirected_to_itself() -> None:
    """A substitute that is the refused call itself would be refused: the contract is."""
    to_itself = {"redirect_to_safe": {"to": "pay"}}
    for rule in (PAY_ZERO, rate_limit("pay", 3), must_precede("check", "pay")):
        with pytest.raises(ContractError, match="redirected to themselves"):
            Guard([ruled(rule).strategy(to_itself)])
    renamed = {"redirect_to_safe": {"to": "pay", "map": {"amount": None}}}
    Guard([ruled({"ltl": "G !called(pay, amount > 5)"}).strategy(renamed)])
    Guard([ruled(rate_limit(["pay", "pay_all"], 3)).strategy(to_itself)])


def test_a_path_with_a_null_is_a_mistake_of_the_file() -> None:
    """A path that cannot be one is a `ContractError`, as for any file that cannot be read."""
    with pytest.raises(ContractError):
        Guard.from_yaml("a\0b")


# --- atoms of the user ----------------------------------------------------------------------------


@pytest.mark.usefixtures("_own_atoms")
@pytest.mark.parametrize("answer", [1, "yes", [1], 0, "", object()], ids=range(6))
def test_an_atom_that_answers_neither_true_nor_false_fails_closed(answer: Any) -> None:
    """An atom answers True, False or None; anything else blocks the call, and it is said why."""
    atom("odd")(lambda call, context: answer)
    for formula in ("G(called(x) -> !odd())", "G(called(x) -> odd())"):
        mine = Guard([ruled({"ltl": formula})]).session()
        outcome = mine.decide("x")
        assert isinstance(outcome, Blocked)
        assert "odd" in outcome.advice
        assert mine.calls == 0


@pytest.mark.usefixtures("_own_atoms")
def test_an_atom_is_no_coroutine() -> None:
    """A coroutine function would never answer: it is refused when it is registered."""

    async def later(call: Any, context: Any) -> bool:
        return True

    with pytest.raises(ContractError, match="coroutine"):
        atom("later")(later)


@pytest.mark.usefixtures("_own_atoms")
@pytest.mark.parametrize("call", ["mine()", 'mine("a", "b")'])
def test_an_atom_with_other_arguments_than_its_function_takes_is_refused(call: str) -> None:
    """Read in Python or from a file: such a contract would refuse every call of the tool."""
    atom("mine")(lambda event, context, field: True)
    text = f"G(called(book) -> {call})"
    for guarantee in (read(text), {"ltl": text}):
        with pytest.raises(ContractError, match=r"argument.*see the atom's function"):
            Guard([ruled(guarantee)])


def test_an_atom_has_a_name() -> None:
    """Without one, the function would not be an atom, and nobody would say so."""
    bare: Any = atom
    with pytest.raises(ContractError, match="an atom needs a name"):
        bare(lambda event, context: True)


@pytest.mark.usefixtures("_own_atoms")
@pytest.mark.parametrize("name", ["arg_contains", "arg_between", "mine"])
def test_an_atom_is_not_replaced(name: str) -> None:
    """Whoever registers a name that is taken, built in or not, is told so."""
    if name == "mine":
        atom(name)(lambda call, context: True)
    with pytest.raises(ContractError, match="exists already"):
        atom(name)(_another)
    assert CUSTOM[name].read is not _another


def _another(call: Any, context: Any, *args: Any) -> bool:
    return False


# --- time to load ---------------------------------------------------------------------------------

LOADING = 100_000_000
"""Most functions that are called to load a guard;"""
DECIDING = 15_000_000
"""and to decide a call."""

LARGE = {
    "until": "G(called(a) -> " + "(called(b) U " * 500 + "called(c)" + ")" * 501,
    "release": "G(called(a) -> " + "(called(b) R " * 500 + "called(c)" + ")" * 501,
    "many pasts": "G(called(x) -> " + " & ".join(f"O done(t{n})" for n in range(490)) + ")",
    "many alternatives": "G(called(x) -> "
    + " | ".join(f"X called(t{n})" for n in range(400))
    + ")",
    "many negations": "G " + "!" * 5_001 + "called(x)",
}


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.*too large for exact verdicts")
@pytest.mark.parametrize("shape", LARGE)
def test_a_large_formula_loads_soon(shape: str) -> None:
    """However a formula is nested, what is looked for at load time is bounded."""
    made: list[Guard] = []
    assert work(lambda: made.append(Guard([ruled({"ltl": LARGE[shape]})]))) < LOADING
    assert isinstance(made[0].session().decide("other"), Allowed)


OWED = {
    "alternatives": "X ("
    + " & ".join(f"(F called(b{n}) | F called(c{n}))" for n in range(7))
    + ")",
    "deadlines": " & ".join(f"F[<={10 - n % 8}] called(b{n})" for n in range(20)),
}


@pytest.mark.filterwarnings("ignore:.*too large for exact verdicts")
@pytest.mark.parametrize("owed", OWED)
def test_much_that_is_owed_at_once_is_decided_soon(owed: str) -> None:
    """What a call would have to bring with it may be long; the search for a way has its limits."""
    session = Guard([ruled({"ltl": f"G(called(a) -> {OWED[owed]})"})]).session()
    assert work(lambda: session.decide("a")) < DECIDING


def test_scopes_and_rules_may_be_written_by_hand() -> None:
    """A contract made of its parts is held to the same as one that was built."""
    scope = Scope("before", stop=read("called(pay)"))
    with pytest.raises(ContractError, match="nothing can violate"):
        Guard([Contract("x", (PAY_ZERO,), segment=scope)])
