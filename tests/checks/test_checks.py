"""What is refused when contracts are compiled, with the words, and what just is not refused."""

from __future__ import annotations

import random
from typing import Any

import pytest

import sponsio_like.logic.formula as f
from sponsio_like.checks.compile import compile_policy
from sponsio_like.checks.lint import counted_apart, lowered
from sponsio_like.checks.names import _is_slip, alike_names
from sponsio_like.contracts.conditions import condition, event, formula, with_actions
from sponsio_like.contracts.declaration import Rule
from sponsio_like.contracts.definition import Contract, Scope, fingerprint, inputs_needed
from sponsio_like.contracts.inventory import Inventory
from sponsio_like.contracts.operands import name
from sponsio_like.contracts.targets import Vocabulary
from sponsio_like.errors import ContractError
from sponsio_like.outcome import Redirect, Warn
from sponsio_like.patterns import amount_limit
from sponsio_like.session.session import Session
from sponsio_like.syntax import read
from tests.support.play import guarded


def made(guarantee: str, assume: str = "", **more: Any) -> Contract:
    """A contract of one formula."""
    return Contract("c", (Rule(read(guarantee)),), read(assume) if assume else None, **more)


PRESENT = "the assumption speaks of the present call, but "
REFUSED = [
    (made("G(called(a) -> F called(b))", "called(a)"), PRESENT + "other calls can violate"),
    (made("G(called(a) -> F called(b))", "arg(x) = 1"), PRESENT + "other calls can violate"),
    (made("G(called(a) -> F called(b))", "depth() > 1"), PRESENT + "other calls can violate"),
    (made("G(called(a) -> F called(b))", "agent = bob"), PRESENT + "other calls can violate"),
    (made("G !called([a, b])", "called(a)"), PRESENT + "a call of `b` can violate"),
    (made("G !called(*)", "called(a)"), PRESENT + "a call of another tool can violate"),
    (made("G !called([a, b])", "called(a) | called(c)"), PRESENT + "a call of `b` can violate"),
    (made("G !called(a)", "false"), "the assumption is never true"),
    (made("G !called(a)", "O (called(b) & called(c))"), "the assumption is never true"),
    (made("G !called(a)", "!O called(a)"), "nothing can violate the guarantee where"),
    (made("true"), "can never be violated"),
    (made("F (called(a) & called(b))"), "can never be kept"),
    (made('G !called(a, x matches "(")'), r"`\(` does not compile"),
    (made('G(called(a) -> arg(x) matches "(")'), r"`\(` does not compile"),
    (made('G(called(a) -> last(arg(x), called(b)) matches "(")'), r"`\(` does not compile"),
    (made('G !output matches "("'), r"`\(` does not compile"),
    (made('G !text matches "("'), r"`\(` does not compile"),
    (made("G !called(a)", 'O output matches "("'), r"`\(` does not compile"),
    (made("G !called(a)", answer=Redirect("a")), "calls of `a` would be redirected to themselves"),
]


@pytest.mark.parametrize(("contract", "why"), REFUSED)
def test_what_cannot_work_is_refused(contract: Contract, why: str) -> None:
    """When the contract is compiled, and with the reason."""
    with pytest.raises(ContractError, match=why):
        guarded(contract)


ACCEPTED = [
    made("G !called(a)", "called(a, x = 1)"),
    made("G !called(a)", "O called(b)"),
    made("G !called([a, b])", "called(a) | called(b)"),
    made("G(called(a) -> F called(b))", "O called(c)"),
    made("G(called(a) -> F called(b))", "Y O agent = bob"),
    made("G(called(a) -> F called(b))", "count(a) > 1"),
    made("G !called([a, b])", answer=Redirect("a")),
    made("G !called(b)", answer=Redirect("a")),
    made("G !called(a)", answer=Redirect("a", (("x", None),))),
    made("G !message(assistant)", answer=Redirect("a")),
    made("G !called(*)", answer=Redirect("a")),
    made("G !called(a)", answer=Warn()),
    made('G !output matches "x"'),
    made('G !called(a, x = "(")'),
    made("G !called(a)", segment=Scope("after", read("called(b)"), None)),
]


@pytest.mark.parametrize("contract", ACCEPTED, ids=repr)
def test_what_can_work_is_accepted(contract: Contract) -> None:
    """A contract is refused only if something about it is wrong."""
    assert guarded(contract).policy.contracts[0].name == "c"


def test_every_unknown_tool_of_the_inventory_is_named() -> None:
    """With an inventory, a tool that is not in it is a mistake; one of another contract is not."""
    with pytest.raises(ContractError, match=r"unknown tool `chek`.*`check`"):
        guarded("G(called(pay) -> O called(chek))", tools=["pay", "check"])
    assert len(guarded("G !called(pay)", 'G !called("p*")', tools=["pay"]).policy.clauses) == 2


NEEDED = [
    (made("G !called(a)"), set()),
    (made("G !done(a)"), {"results"}),
    (made("F done(a)"), {"results", "finish"}),
    (made("F[<=3] called(a)"), set()),
    (made("F[<=3s] called(a)"), {"time"}),
    (made("called(a) U called(b)"), {"finish"}),
    (made("called(a) W called(b)"), set()),
    (made("G(called(a) -> age(b) > 3)"), {"time"}),
    (made("G !called(a)", "ctx(k) = 1"), {"facts"}),
    (made("G !called(a)", segment=Scope("after", read("done(b)"), None)), {"results"}),
    (Contract("c", (Rule(read("G !done(a)"), by=("@agent",)),)), {"results", "agents"}),
    (Contract("c", (Rule(read("G !done(a)"), by=("x",)),)), {"results"}),
    (
        Contract("c", (Rule(read("G !called(a)"), by=("@agent",)), Rule(read("G !called(b)")))),
        {"agents"},
    ),
]


@pytest.mark.parametrize(("contract", "inputs"), NEEDED)
def test_a_contract_needs_what_its_formulas_read(contract: Contract, inputs: set[str]) -> None:
    """Guarantee, assumption and scope, and the agent that splits it."""
    assert inputs_needed(contract) == inputs


def test_problems_are_told_with_their_contract() -> None:
    """By its place in the file, if it has one, else by its name."""
    nowhere = Contract("c", (Rule(read("true")),))
    with pytest.raises(ContractError, match="contract `c`"):
        compile_policy([nowhere], "enforce")
    placed = Contract("c", (Rule(read("true")),), where="file.yaml:3:1")
    with pytest.raises(ContractError, match=r"^file\.yaml:3:1"):
        compile_policy([placed], "enforce")
    for wrong in (
        Contract("c", (Rule(read("G !called(a)")),), answer="block"),  # type: ignore[arg-type]
        Contract("c", (Rule(read("G !called(a)"), answer="block"),)),  # type: ignore[arg-type]
    ):
        with pytest.raises(ContractError, match="contract `c`: the strategy is not a decision"):
            compile_policy([wrong], "enforce")
    empty = Contract("c", (), where="file.yaml:3:1")
    with pytest.raises(ContractError, match=r"file\.yaml:3:1.*there is no guarantee"):
        compile_policy([empty], "enforce")
    with pytest.raises(ContractError, match=r"contract `c`.*there is no guarantee"):
        compile_policy([Contract("c")], "enforce")


def test_a_policy_enforces_unless_it_is_said_otherwise() -> None:
    """The mode of a contract, else that of the guard; relaxed, all observe."""
    plain, mine = made("G !called(a)"), Contract("d", (Rule(read("G !called(b)")),), mode="observe")
    assert compile_policy([plain, mine], "enforce").modes == ("enforce", "observe")
    assert compile_policy([plain, mine], "observe").modes == ("observe", "observe")
    assert compile_policy([plain, mine], "enforce", relaxed=True).modes == ("observe", "observe")
    with pytest.raises(ContractError, match="unknown mode `strict`"):
        compile_policy([plain], "strict")  # type: ignore[arg-type]


def test_a_fingerprint_tells_what_state_means() -> None:
    """Guarantee, assumption, scope, values that split it; not where it stands or its strategy."""
    some = [
        made("G !called(a)"),
        made("G !called(b)"),
        made("G !called(a)", "O called(b)"),
        made("G !called(a)", segment=Scope("after", read("called(b)"), None)),
        made("G !called(a)", segment=Scope("before", None, read("called(b)"))),
        Contract("c", (Rule(read("G !called(a)"), by=("x",)),)),
        Contract("d", (Rule(read("G !called(a)")),)),
    ]
    assert len({fingerprint(each) for each in some}) == len(some)
    assert fingerprint(made("G !called(a)", where="x", answer=Warn())) == fingerprint(some[0])


def test_a_session_waits_for_results_unless_success_is_assumed() -> None:
    """A call stays in flight until it is settled."""
    session = Session(guarded("G(called(a) -> Y O done(b))").policy, "s")
    session.decide("b", id="1")
    session.decide("b", id="2")
    assert session._inner.in_flight() == ["1", "2"]


def test_a_node_takes_exactly_its_fields() -> None:
    """Too many, too few, or others are a mistake of the program, with the fields named."""
    called = f.Happens("called", (f.Match(("a",)),))
    wrongs: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((called, called), {}),
        ((), {}),
        ((called,), {"other": called}),
        ((), {"other": called}),
    ]
    for args, named in wrongs:
        with pytest.raises(TypeError, match="`Not` takes exactly: body"):
            f.Not(*args, **named)
    with pytest.raises(TypeError, match="`Tokens` takes exactly: nothing"):
        f.Tokens(1)  # type: ignore[call-arg]
    assert f.Not(body=called) is f.Not(called)
    assert f.Eventually(called) is f.Eventually(called, None)
    assert f.Eventually(called, bound=f.Steps(1)) is f.Eventually(called, f.Steps(1))


@pytest.mark.parametrize("wrong", [" pay", "pay ", "", 3, None, " "])
def test_a_name_is_text_without_blanks_around_it(wrong: Any) -> None:
    """Anything else is refused, not trimmed."""
    with pytest.raises(ContractError, match="is not a name"):
        name(wrong)
    assert name("pay bill") == "pay bill"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({}, "an empty mapping says nothing"),
        ({"called": "a", "ctx": {"k": 1}}, "a condition has one atom"),
        ({"cald": "a"}, "did you mean `called`"),
        ({"approved": {"action": "pay"}}, "is not an approval"),
        ({"approved": {"action": "pay", "role": "boss", "by": "ann"}}, "is not an approval"),
        ({"approved": "pay"}, "is not an approval"),
        ({"ctx": {}}, "does not describe the context"),
    ],
)
def test_a_condition_is_one_atom(value: Any, why: str) -> None:
    """With all that it needs, and nothing else; one mistake is told once."""
    with pytest.raises(ContractError, match=why) as caught:
        condition(value)
    assert len(caught.value.problems) == 1


def test_a_formula_is_checked_when_it_is_read() -> None:
    """Its regular expressions compile, wherever they stand; other values are no such."""
    for text in (
        'ctx(k) matches "("',
        'called(a, x matches "(")',
        'sum(called(a, x matches "("), n) <= 3',
        'count(called(a, x matches "(")) <= 3',
        'repeats(called(a, x matches "(")) <= 3',
        'output matches "("',
        'text matches "("',
    ):
        with pytest.raises(ContractError, match=r"`\(` does not compile"):
            formula(text)
    for text in ('ctx(k) = "("', 'called(a, x = "(")', 'output = "("'):
        assert formula(text) is read(text)


def test_an_event_is_a_call_or_a_condition() -> None:
    """A bare name or a list of them is called; other text is a formula."""
    assert event("a") is read("called(a)")
    assert event(["a", "b"]) is read("called([a, b])")
    assert event({"tool": "a"}) is read("called(a)")
    assert event("called(a) & ctx(k) = 1") is read("called(a) & ctx(k) = 1")
    assert event({"ctx": {"k": 1}}) is read("ctx(k) = 1")


def test_the_fields_of_a_sum_are_those_of_its_tool() -> None:
    """A field that the tool does not declare is a mistake; of another tool it is one as well."""
    words = Vocabulary({"pay": {"n": "number"}, "check": {"m": "number"}})
    assert with_actions(read("sum(pay, n) <= 3"), words) is read("sum(pay, n) <= 3")
    for text in ("sum(pay, m) <= 3", "sum(check, n) <= 3", "arg(zz) = 3"):
        with pytest.raises(ContractError, match="field"):
            with_actions(read(text), words)
    assert with_actions(read("arg(m) = 3"), words) is read("arg(m) = 3")


def test_an_action_in_a_formula_is_its_calls_with_what_the_formula_adds() -> None:
    """Conditions of both hold, and the agent of the formula goes before that of the action."""
    refunds = (f.Match(("pay",), (), (f.Condition("kind", "=", "refund"),), "eve"),)
    words = Vocabulary(None, {"refunds": refunds, "checks": (f.Match(("check",)),)})
    expected = {
        "called(refunds)": 'called(pay, kind = "refund", @agent = eve)',
        "called(refunds, n = 1)": 'called(pay, kind = "refund", n = 1, @agent = eve)',
        "called(refunds, @agent = bob)": 'called(pay, kind = "refund", @agent = bob)',
        "called(checks, @agent = bob)": "called(check, @agent = bob)",
        "called(checks)": "called(check)",
        "called(other)": "called(other)",
        "called(*, n = 1)": "called(*, n = 1)",
        "count(refunds) <= 1": 'count(called(pay, kind = "refund", @agent = eve)) <= 1',
    }
    for text, meant in expected.items():
        assert with_actions(read(text), words) is read(meant), text


BOUNDS = [
    ("F[<3] called(a)", r"did you mean `\[<=2\]`"),
    ("F[<3s] called(a)", r"did you mean `\[<=3s\]`"),
    ("F[<0] called(a)", r"did you mean `\[<=0s\]`"),
    ("F[<2.5] called(a)", r"did you mean `\[<=2.5s\]`"),
    ("F[<=2.5] called(a)", r"steps are whole"),
    ("F[<=2 min] called(a)", r"did you mean `\[<=120s\]`"),
    ("F[<=500 ms] called(a)", r"did you mean `\[<=0.5s\]`"),
    ("F[<=2 m] called(a)", r"did you mean `\[<=120s\]`"),
    ("F[<=2 minutes] called(a)", r"did you mean `\[<=120s\]`"),
    ("F[<=2 h] called(a)", r"did you mean `\[<=7200s\]`"),
    ("F[<=2 hours] called(a)", r"did you mean `\[<=7200s\]`"),
    ("F[<=2 d] called(a)", r"did you mean `\[<=172800s\]`"),
    ("F[<=3 steps] called(a)", r"did you mean `\[<=3\]`"),
    ("F[<=1e999s] called(a)", r"a bound is a number from 0"),
    ("F[<=-1s] called(a)", r"a bound is a number from 0|expected"),
]


@pytest.mark.parametrize(("text", "why"), BOUNDS)
def test_a_wrong_bound_is_corrected(text: str, why: str) -> None:
    """With what was probably meant."""
    with pytest.raises(ContractError, match=why):
        read(text)


def test_a_conjunction_of_many_alternatives_is_refused_before_it_is_built() -> None:
    """The ways to keep its parts are multiplied: eight parts with two ways each are too many."""
    parts = [f"(F called(a{n}) | F called(b{n}))" for n in range(8)]
    with pytest.raises(ContractError, match="of 8 parts leaves 256 ways"):
        guarded(f"G(called(go) -> ({' & '.join(parts)}))")
    guarded(f"G(called(go) -> ({' & '.join(parts[:3])}))")


def test_a_future_below_a_past_is_refused_wherever_it_stands() -> None:
    """In a conjunction, too; the assumption as the guarantee."""
    for text in ("O (called(a) & F called(b))", "O (called(a) | !(called(c) & X called(b)))"):
        with pytest.raises(ContractError, match="future operator below the past operator `O`"):
            guarded(f"G(called(x) -> {text})")
        with pytest.raises(ContractError, match="future operator below the past operator `O`"):
            guarded(made("G !called(x)", text))


def test_a_substitute_of_a_rule_is_a_tool_of_the_agent() -> None:
    """As that of a contract: nothing else can run instead."""
    rule = Rule(read("G !called(pay)"), answer=Redirect("nowhere"))
    with pytest.raises(ContractError, match="`nowhere` cannot run instead"):
        guarded(Contract("c", (rule,)), tools=["pay", "draft"])
    rule = Rule(read("G !called(pay)"), answer=Redirect("draft"))
    guarded(Contract("c", (rule,)), tools=["pay", "draft"])


ALIKE = (
    ("check_policy", "chekc_policy"),
    ("issue_refund", "isue_refund"),
    ("send_mail", "sendMail"),
    ("Pay", "pay"),
)
APART = (
    ("read_file", "read_files"),
    ("lock_door", "clock_door"),
    ("get_user", "set_user"),
    ("form", "from"),
    ("step_1", "step_2"),
    ("tool_110", "tool_101"),
    ("approve_pay", "disapprove_pay"),
)


@pytest.mark.parametrize(("names", "told"), [(e, 1) for e in ALIKE] + [(e, 0) for e in APART])
def test_names_that_are_one_but_for_a_slip_are_warned_of(names: tuple[str, str], told: int) -> None:
    """Where nothing says which tools there are, a rule about the misspelt one guards nothing."""
    contracts = [Contract(name, (Rule(read(f"G !called({name})")),), None) for name in names]
    found = [each for each in alike_names(contracts, Inventory()) if "is nearly" in each.what]
    assert len(found) == told
    assert list(alike_names(contracts, Inventory(dict.fromkeys(names)))) == []


def test_names_that_are_alike_are_found_as_if_each_were_compared() -> None:
    """Swapped letters, a letter more or less, capitals and signs: the earliest that is alike."""
    dice = random.Random(3)
    for _ in range(200):
        made_up = ("".join(dice.choices("abcA_", k=dice.randint(1, 7))) for _ in range(30))
        names = list(dict.fromkeys(made_up))
        calls = [f.Happens("called", (f.Match((each,)),)) for each in names]
        contracts = [Contract("c", (Rule(f.Always(f.Not(each))),)) for each in calls]
        wanted = [
            (one, next((each for each in names[:k] if nearly(one, each)), None))
            for k, one in enumerate(names)
        ]
        told = [each.what.split("`")[1:4:2] for each in alike_names(contracts, Inventory())]
        assert told == [[one, other] for one, other in wanted if other is not None]


def nearly(one: str, other: str) -> bool:
    """Whether two names are alike, compared letter by letter."""
    bare = [each.replace("_", "").lower() for each in (one, other)]
    return bare[0] == bare[1] or (other[:1] in one[:2] and _is_slip(one, other))


@pytest.mark.parametrize(
    ("guarantee", "warned"),
    [
        ("G(called(t) -> sum(called(t), n) <= 5)", True),
        ("G(called(t) -> sum[<=60s](called(t), n) < 5 & arg(n) > -5)", True),
        ("G(called(t) -> sum(called(t), n) <= 5 & arg(n) >= 0)", False),
        ("G(called(t, n > 0) -> sum(called(t, n > 0), n) <= 5)", False),
        ("G(called(t) -> sum(called(t), n) >= 5)", False),
    ],
)
def test_a_sum_that_an_amount_below_zero_lowers_is_told_by_check(
    guarantee: str, warned: bool
) -> None:
    """With what keeps it from being lowered; `amount_limit` does."""
    said = [str(each) for each in lowered([made(guarantee)])]
    assert bool(said) == warned
    assert all("add `& arg(n) >= 0`" in each for each in said)
    assert list(lowered([Contract("c", (amount_limit("t", "n", 5),))])) == []


@pytest.mark.parametrize(
    ("per", "world", "apart"),
    [("86400", False, True), ("604800", False, True), ("86400", True, False), ("60", False, False)],
)
def test_a_limit_for_a_day_is_told_to_be_of_each_session(
    per: str, world: bool, apart: bool
) -> None:
    """Few sessions last a day; `world: true` counts over all sessions of an id."""
    counted = made(f"G(called(t) -> count[<={per}s](called(t)) <= 3)", on_world=world)
    assert counted_apart([counted]) == (["c"] if apart else [])
    summed = made(f"G(called(t) -> sum[<={per}s](called(t), n) <= 3)", on_world=world)
    assert counted_apart([summed]) == (["c"] if apart else [])
