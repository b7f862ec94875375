"""Patterns: declarations, the reading of arguments, and meanings too fine for tables.

`test_predicates.py` compares each pattern with a predicate on all short traces.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from sponsio_like import patterns
from sponsio_like.contracts.blocks import calls_of_any, whenever
from sponsio_like.contracts.declaration import CATALOG, FAMILIES, Pattern, Rule, catalog, pattern
from sponsio_like.contracts.definition import ALL_INPUTS, Contract, contract
from sponsio_like.contracts.parameters import Tools
from sponsio_like.contracts.sentences import readings
from sponsio_like.contracts.targets import Vocabulary, read_target
from sponsio_like.errors import ContractError
from sponsio_like.event_types import Call
from sponsio_like.events.registry import CUSTOM, atom
from sponsio_like.logic.formula import Custom, Formula
from sponsio_like.outcome import Escalate, Redirect
from sponsio_like.patterns import (
    always_followed_by,
    arg_allowlist,
    arg_blacklist,
    arg_length_limit,
    arg_value_range,
    cooldown,
    deadline,
    destructive_action_gate,
    idempotent,
    loop_detection,
    must_confirm,
    must_precede,
    no_data_leak,
    no_reversal,
    rate_limit,
    redirect_to_safe,
    required_steps_completion,
    requires_permission,
    segregation_of_duty,
    tool_allowlist,
    workflow_step,
)
from sponsio_like.replay.replay import Replay
from sponsio_like.traces.trace import trace_of
from tests.semantics.manifest import requirement
from tests.support import notation
from tests.support.play import Played, opened

OURS = [each for each in catalog() if each.build.__module__.startswith("sponsio_like.")]


def judged(which: Contract, text: str) -> bool:
    """Whether the contract is kept on a trace, to its end."""
    trace = trace_of({"id": "t", "events": notation.events(text)})
    return Replay([which]).judge(replace(trace, inputs=ALL_INPUTS)).clean


def ruled(rule: Rule | Formula) -> Contract:
    return contract("rule").guarantees(rule)


def play(rule: Rule) -> Played:
    return opened(ruled(rule))


def told(build: Any, *args: Any, **kwargs: Any) -> list[str]:
    """The mistakes that are told, one line each."""
    with pytest.raises(ContractError) as error:
        build(*args, **kwargs)
    return [str(problem) for problem in error.value.problems]


# --- declarations ---------------------------------------------------------------------------------


@requirement(*(f"C-{each.name}" for each in OURS), cases=True)
@pytest.mark.parametrize("which", OURS, ids=lambda which: which.name)
def test_a_pattern_is_kept_and_broken_by_its_own_traces(which: Pattern) -> None:
    """Every trace that a declaration says keeps a pattern keeps it; every other breaks it."""
    guarded = ruled(which.rule(which.example))
    assert {trace: judged(guarded, trace) for trace in which.keeps} == dict.fromkeys(
        which.keeps, True
    )
    assert {trace: judged(guarded, trace) for trace in which.breaks} == dict.fromkeys(
        which.breaks, False
    )


@pytest.mark.parametrize("which", OURS, ids=lambda which: which.name)
def test_a_declaration_is_complete(which: Pattern) -> None:
    """A pattern has a meaning, sentences, traces of both kinds, and an example."""
    assert which.summary
    assert which.sentences
    assert "" in which.keeps
    assert len(which.keeps) > 1
    assert which.breaks
    assert which.family in FAMILIES
    assert {p.name for p in which.parameters if p.required} <= which.example.keys()
    assert all(parameter.expects for parameter in which.parameters)


CATALOG_ROWS = {
    "must_precede": "first then accept=none within=none counts=done",
    "must_confirm": "action by=confirm_<action> same=none accept=none counts=done",
    "requires_permission": "tool permission",
    "no_data_leak": "source sink match=order fields=none min_length=none counts=done",
    "destructive_action_gate": "action gate=confirm_<action> role=none accept=none counts=done",
    "workflow_step": "trigger next_action",
    "no_reversal": "commitment reversal counts=done",
    "segregation_of_duty": "first second counts=done same=none",
    "always_followed_by": "trigger response counts=done",
    "required_steps_completion": "steps gate counts=done",
    "rate_limit": "action limit per=session counts=called by=none",
    "idempotent": "action by=none counts=called",
    "cooldown": "action steps=none seconds=none counts=called after=none by=none",
    "deadline": "trigger action steps=none seconds=none counts=called",
    "bounded_retry": "action retries",
    "loop_detection": "action limit similar=equal",
    "denial_limit": "limit per=call tool=*",
    "mutual_exclusion": "first second counts=done",
    "tool_allowlist": "tools",
    "redirect_to_safe": "unsafe safe map=none",
    "arg_blacklist": "tool field patterns",
    "arg_allowlist": "tool field patterns",
    "scope_limit": "tool fields paths root=none links=false",
    "host_allowlist": "tool field hosts",
    "no_other_call": "call",
    "dangerous_bash_commands": "tool=bash field=command",
    "dangerous_sql_verbs": "tool=sql field=query "
    "verbs=drop or truncate or alter or grant or revoke dialect=none",
    "date_within": "tool field last=none coming=none",
    "arg_length_limit": "tool field max_chars",
    "arg_value_range": "tool field min=none max=none",
    "amount_limit": "tool field total per=session by=none",
    "data_intact": "tool field=* after=none key=none counts=done",
    "untrusted_source_gate": "source gate=review sinks=none accept=none counts=done",
    "confirm_after_source": "source by=confirm sinks=none accept=none counts=done",
    "sanitized_before_sink": "source sanitizer sink counts=done",
    "irreversible_once": "action counts=called",
    "token_budget": "limit",
    "delegation_depth_limit": "limit",
    "approval_active": "action role seconds=none",
    "approval_freshness": "approval action max_steps counts=done",
    "audit_after": "action audit counts=done",
    "backup_before_destructive": "backup action counts=done",
    "dry_run_before_commit": "dry_run commit same=none counts=done",
    "ctx_required": "tool key values",
    "ctx_matches_required": "tool key regex",
    "duplicate_call_limit": "tool fields=* limit=1 counts=done",
    "time_since": "action event max_seconds",
    "no_keywords": "words",
    "no_pii": "kinds=personal tool=none field=* answers=none",
    "max_length": "max_words=none max_chars=none",
    "absent": "match",
    "precedence": "match requires within=none",
    "response": "match by",
    "bounded_response": "match by within",
    "resolved": "match by",
    "until": "trigger forbidden release=none",
    "value_from": "tool field source",
    "message_says": "action matches role=user",
    "repeated_failure": "action=* limit=2",
}


def test_the_catalog_has_its_patterns_with_their_arguments() -> None:
    """Names of patterns and arguments, and defaults, are fixed: users write them in files."""
    usages = {each.name: each.usage.strip("`").removeprefix(each.name) for each in OURS}
    assert {k: v.strip("()").replace(",", "") for k, v in usages.items()} == CATALOG_ROWS


def test_every_pattern_is_imported_from_the_room() -> None:
    """`from sponsio_like.patterns import NAME` finds each pattern of the package, and no others."""
    assert sorted(patterns.__all__) == sorted(each.name for each in OURS)


def test_patterns_are_listed_family_by_family() -> None:
    """Patterns are listed in reading order, whatever was imported first."""
    families = [each.family for each in OURS]
    assert list(dict.fromkeys(families)) == list(FAMILIES)


@pytest.mark.parametrize("which", OURS, ids=lambda which: which.name)
def test_the_sentence_of_a_rule_says_the_rule(which: Pattern) -> None:
    """The sentence that stands for an example reads back as that example, of that pattern first."""
    rule = which.rule(which.example)
    found, arguments = next(readings(rule.sentence))
    assert found is which
    assert found.rule(arguments) == replace(rule, arguments=arguments)


def test_what_a_sentence_does_not_say_stands_beside_it() -> None:
    """Arguments that no sentence of the pattern mentions follow it in brackets."""
    assert idempotent("pay", by=["id"]).sentence == "tool `pay` at most once (by: id)"
    assert rate_limit("pay", 5, {"seconds": 60}).sentence == (
        "tool `pay` at most 5 times per 60 seconds"
    )
    assert arg_value_range("pay", "n", max=5).sentence == "`pay.n` at most 5"
    assert must_precede({"tool": "a", "args": {"n": {"gt": 1}}}, ["b", "c"]).sentence == (
        "tool `a` with `n` > `1` must precede `b` or `c`"
    )


# --- arguments ------------------------------------------------------------------------------------


def test_an_argument_that_names_tools_takes_names_lists_globs_and_matches() -> None:
    """A tool argument is a name, a list (any of them), a glob, or a match."""
    wanted = {"tool": "pay", "args": {"n": {"gt": 5, "le": 9}, "to": {"in": ["x"]}}, "agent": "bob"}
    shown = {
        "abc": "abc",
        "mcp_*": "mcp_*",
        ("a", "b"): "[a, b]",
        ("a", "b*"): "[a, b*]",
    }
    for written, calls in shown.items():
        given = list(written) if isinstance(written, tuple) else written
        assert repr(must_precede("z", given).formula) == f"G(called({calls}) -> Y O done(z))"
    assert repr(must_precede("z", wanted).formula) == (
        'G(called(pay, n > 5, n <= 9, to in ["x"], @agent = "bob") -> Y O done(z))'
    )


@pytest.mark.parametrize(
    ("first", "then", "formula"),
    [
        ("*", "pay", 'G(called(pay) -> Y O done("*"))'),
        ("vet_*", "pay", "G(called(pay) -> Y O done(vet_*))"),
        (
            "vet_a*",
            ["vet_*", "pay"],
            (
                "G(called(pay) -> Y O done(vet_a*)) "
                "& G(called(vet_*) & !called(vet_a*) -> Y O done(vet_a*))"
            ),
        ),
        ("vet_*", ["vet_*", "pay_*"], "G(called([vet_*, pay_*]) -> Y O done(vet_*))"),
        ("pay_*", ["vet_*", "pay_*"], "G(called([vet_*, pay_*]) -> Y O done(pay_*))"),
        (
            "vet_a",
            ["vet_*", "pay_*"],
            "G(called([vet_*, pay_*]) & !called(vet_a) -> Y O done(vet_a))",
        ),
        ("vet", {"agent": "bob"}, 'G(called(*, @agent = "bob") & !called(vet) -> Y O done(vet))'),
        (["vet", "vet_*"], "*", 'G(called("*") & !called([vet, vet_*]) -> Y O done([vet, vet_*]))'),
        (
            {"agent": "bob"},
            ["pay", "x_*"],
            (
                'G(called(pay) -> Y O done(*, @agent = "bob")) '
                '& G(called(x_*) & !called("*", @agent = "bob") -> Y O done(*, @agent = "bob"))'
            ),
        ),
        (
            {"tool": "vet_*", "agent": "bob"},
            "vet_*",
            (
                'G(called(vet_*) & !called(vet_*, @agent = "bob") '
                '-> Y O done(vet_*, @agent = "bob"))'
            ),
        ),
        (
            "vet",
            {"tool": ["pay", "*"], "args": {"id": "$x"}},
            (
                'G(called(pay, id = $x, @missing = "refuse") -> Y O done(vet)) '
                '& G(called("*", id = $x) & !called(vet) -> Y O done(vet))'
            ),
        ),
        (
            {"tool": "vet_*", "args": {"n": 1}},
            ["vet_*"],
            "G(called(vet_*) & !called(vet_*, n = 1) -> Y O done(vet_*, n = 1))",
        ),
    ],
)
def test_what_is_required_is_left_out_of_globs_where_something_is_left(
    first: Any, then: Any, formula: str
) -> None:
    """Not of names, and not where a whole glob would be left out, whichever of them it is."""
    assert repr(must_precede(first, then).formula) == formula


def test_an_action_stands_for_its_calls() -> None:
    """An action may stand wherever a tool does; its conditions and those beside it both hold."""
    words = Vocabulary(None, {"secret": read_target([{"tool": "get", "args": {"k": 1}}, "vault"])})
    plain = CATALOG["no_data_leak"].rule({"source": "secret", "sink": "send"}, words)
    assert repr(plain.formula) == "G(called(send) -> !Y O done(vault; get, k = 1))"
    more = {"tool": "secret", "args": {"q": 2}}
    narrowed = CATALOG["no_data_leak"].rule({"source": more, "sink": "send"}, words)
    assert repr(narrowed.formula) == "G(called(send) -> !Y O done(vault, q = 2; get, k = 1, q = 2))"


@pytest.mark.parametrize(
    ("build", "mistake"),
    [
        (
            lambda: must_precede("a"),
            "`must_precede(first, then, accept=none, within=none, counts=done)`",
        ),
        (lambda: must_precede(*"abcdef"), "`must_precede` takes 5 arguments"),
        (lambda: must_precede("a", first="b", then="c"), "`must_precede` is given `first` twice"),
        (
            lambda: must_precede("a", thn="b", then="c"),
            "`must_precede` has no argument `thn`; did you mean `then`",
        ),
        (lambda: must_precede("", "b"), "`` is not the name of a tool"),
        (lambda: must_precede([], "b"), "no tool is named"),
        (lambda: must_precede(5, "b"), "`5` is not a tool"),
        (lambda: must_precede(0, "b"), "`0` is not a tool"),
        (lambda: must_precede("a ", "b"), "`a ` is not the name of a tool"),
        (
            lambda: must_precede("a", "b", counts="tried"),
            "`tried` is not possible here; known: `called`, `done`",
        ),
        (
            lambda: requires_permission("a", "p", counts="done"),
            "`requires_permission` has no argument",
        ),
        (
            lambda: must_precede({"tol": "a"}, "b"),
            "unknown key `tol` in a match; did you mean `tool`?",
        ),
        (lambda: must_precede({}, "b"), "an empty match"),
        (lambda: must_precede({"tool": "a", "status": "ok"}, "b"), "`status` cannot stand here"),
        (lambda: must_precede({"tool": "a", "args": 3}, "b"), "`3` does not describe arguments"),
        (
            lambda: must_precede({"tool": "a", "args": {"n": {"above": 3}}}, "b"),
            "unknown key `above` in a comparison",
        ),
        (
            lambda: must_precede({"tool": "a", "args": {"n": {"gt": True}}}, "b"),
            "`True` cannot be compared by size",
        ),
        (
            lambda: must_precede({"tool": "a", "args": {"n": {"in": "xy"}}}, "b"),
            "`xy` is not a list; write [xy]",
        ),
        (lambda: must_precede({"tool": "a", "args": {"n": [1]}}, "b"), "write {in: [..]}"),
        (
            lambda: must_precede({"tool": "a", "args": {"n": "$ x"}}, "b"),
            "`$ x` is not a variable; did you mean `$x`?",
        ),
        (
            lambda: must_precede({"tool": "a", "args": {"n": float("nan")}}, "b"),
            "nothing equals `nan`",
        ),
        (
            lambda: must_precede({"tool": "a", "args": {"n": {"matches": "("}}}, "b"),
            "does not compile",
        ),
        (lambda: must_precede({"tool": "a", "agent": 3}, "b"), "`3` is not the name of an agent"),
        (lambda: rate_limit("a", -1), "`-1` is not a whole number from 0"),
        (lambda: rate_limit("a", True), "`True` is not a whole number from 0"),
        (lambda: rate_limit("a", "5"), "`5` is not a whole number from 0"),
        (
            lambda: rate_limit("a", 5, "hour"),
            "`hour` is not a window; write session, {seconds: 60}",
        ),
        (lambda: rate_limit("a", 5, {"minutes": 1}), "unknown key `minutes` in a window"),
        (lambda: rate_limit("a", 5, {"seconds": 0}), "`0` is not a number of seconds above 0"),
        (lambda: rate_limit("a", 5, {"steps": 1.5}), "`1.5` is not a whole number from 1"),
        (lambda: cooldown("a"), "`cooldown`: either `steps` or `seconds` is needed"),
        (lambda: cooldown("a", 3, 3), "`cooldown`: either `steps` or `seconds` is needed"),
        (lambda: cooldown("a", 0), "`0` is not a whole number from 1"),
        (
            lambda: cooldown("a", 3, after=["a", "b"]),
            "`cooldown`: a call may be both `after` and `action`; leave `after` out",
        ),
        (
            lambda: segregation_of_duty({"tool": "a", "args": {"n": "$n"}}, "b"),
            "a `$x` cannot be compared for each agent by itself",
        ),
        (lambda: deadline("a", "a", 3), "every answer would be a trigger again"),
        (
            lambda: deadline(["a", "b"], ["b", "c"], seconds=3),
            "a call may be both `trigger` and `action`; use `steps`",
        ),
        (lambda: deadline("mcp_send", "mcp_*", seconds=3), "a call may be both"),
        (lambda: always_followed_by(["a", "b"], "b"), "every answer would be a trigger again"),
        (lambda: loop_detection("a", 2, "alike"), "known: `equal`, `fuzzy`"),
        (lambda: must_confirm("a", accept={"equals": "$x"}), "the variable `$x` cannot be"),
        (lambda: must_confirm("a", accept={"path": "x"}), "an empty comparison"),
        (lambda: must_confirm("a", accept=["yes", "ok"]), "no output equals several values"),
        (lambda: must_precede("a", "b", within=0), "`0` is not a whole number from 1"),
        (lambda: must_precede("a", "b", within="session"), "`session` is no time"),
        (
            lambda: must_precede("a", ["a", "b"], within={"seconds": 3}, counts="called"),
            "within seconds, a call may not come before itself",
        ),
        (lambda: must_confirm(["a", "b"]), "`action` is more than one tool, so `by` is needed"),
        (lambda: must_confirm("pay_*"), "`action` is more than one tool, so `by` is needed"),
        (lambda: must_confirm("a", same="id"), "`id` is not a list; write [id]"),
        (lambda: must_confirm("a", same=["a..b"]), "`a..b` is not a path"),
        (lambda: must_confirm("a", accept="("), "regular expression `(` does not compile"),
        (lambda: no_data_leak("a", "b", "value"), "did you mean `values`?"),
        (lambda: destructive_action_gate("a*", "g", "boss"), "approvals are by name"),
        (lambda: destructive_action_gate(["a", "b*"], "g", "boss"), "approvals are by name"),
        (lambda: required_steps_completion([], "g"), "an empty list"),
        (lambda: tool_allowlist(["a", "mcp_*"]), "`mcp_*` is not an exact name"),
        (lambda: tool_allowlist({"agent": "bob"}), "is not an exact name"),
        (lambda: redirect_to_safe("a", "s*"), "`s*` is not one tool"),
        (lambda: redirect_to_safe("a", ["s"]), "is not one tool"),
        (lambda: redirect_to_safe("a*", "ab"), "`ab` would be redirected to itself"),
        (lambda: redirect_to_safe("a", "b", "x"), "`x` is not a map of arguments"),
        (lambda: redirect_to_safe("a", "b", {"x": 3}), "`3` is not a name"),
        (lambda: arg_blacklist("a", "f", "rm"), "`rm` is not a list; write [rm]"),
        (lambda: arg_blacklist("a", "f", []), "an empty list; name at least one"),
        (lambda: arg_blacklist("a", "f", ["(?=x)"]), "RE2 syntax is needed"),
        (lambda: arg_value_range("a", "f"), "`min` or `max` is needed"),
        (lambda: arg_value_range("a", "f", 3, 2), "`min` 3 is above `max` 2"),
        (lambda: arg_value_range("a", "f", "3"), "`3` is not a number"),
        (lambda: arg_value_range("a", "f", float("inf")), "`inf` is not a number"),
        (lambda: workflow_step("a", {"called": "b", "done": "b"}), "a condition has one atom"),
        (lambda: workflow_step({"ltl": "F called(a)"}, "b"), "speaks of the future"),
        (lambda: workflow_step("done(a", "b"), "1:"),
        (lambda: workflow_step("don(a)", "b"), "unknown atom `don`; did you mean `done`?"),
    ],
)
def test_wrong_arguments_are_refused_in_words(build: Any, mistake: str) -> None:
    """A wrong argument is refused: what is wrong, and what to write instead."""
    assert mistake in "\n".join(told(build))


def test_all_wrong_arguments_are_told_at_once() -> None:
    """Every mistake in the arguments of a pattern is told, each with the keys that lead to it."""
    with pytest.raises(ContractError) as error:
        rate_limit({"tool": "a", "args": {"n": {"up": 1}}}, "5", {"seconds": "x"}, cuonts="done")
    paths = {problem.path for problem in error.value.problems}
    assert paths == {("action", "args", "n", "up"), ("limit",), ("per", "seconds"), ("cuonts",)}


def test_a_field_has_to_be_one_of_the_tools() -> None:
    """Where the inventory declares the fields of a tool, a field has to be one of them."""
    words = Vocabulary({"pay": {"amount": "number"}, "other": None})
    rule = {"tool": "pay", "field": "amuont", "max": 5}
    with pytest.raises(ContractError, match="tool `pay` has no field `amuont`; did you mean"):
        CATALOG["arg_value_range"].rule(rule, words)
    CATALOG["arg_value_range"].rule({**rule, "tool": "other"}, words)
    CATALOG["arg_value_range"].rule({**rule, "field": "amount"}, words)


def test_the_default_confirmation_is_named_after_the_action() -> None:
    """Without `by`, `confirm_x` confirms `x`; if the inventory has no such tool, a person does."""
    words = Vocabulary({"pay": None})
    action = {"action": {"tool": "pay", "args": {"n": 1}}}
    assert "done(confirm_pay)" in repr(CATALOG["must_confirm"].rule(action).formula)
    rule = CATALOG["must_confirm"].rule(action, words)
    assert repr(rule.formula).startswith("G !called(pay")
    assert rule.answer == Escalate()
    with pytest.raises(ContractError, match="unknown tool `confirm_pay`"):
        CATALOG["must_confirm"].rule({"action": "pay", "by": "confirm_pay"}, words)


# --- users' own -----------------------------------------------------------------------------------


@pytest.fixture
def fresh() -> Iterator[None]:
    """What a test registers is forgotten after it."""
    patterns, atoms = dict(CATALOG), dict(CUSTOM)
    yield
    for registry, before in ((CATALOG, patterns), (CUSTOM, atoms)):
        registry.clear()
        registry.update(before)  # type: ignore[arg-type]


@pytest.mark.usefixtures("fresh")
def test_users_register_their_own_atoms_and_patterns() -> None:
    """A user's pattern, over a user's atom, is declared like ours, and has its sentence."""

    @atom("is_even")
    def is_even(call: Call, _: object, field: str) -> bool | None:
        value = call.args.get(field)
        return value % 2 == 0 if isinstance(value, int) else None

    @pattern(
        "ours",
        "`{tool}` takes even `{field}`",
        keeps=("", "pay(n=2)"),
        breaks=("pay(n=1)", "pay"),
        example={"tool": "pay", "field": "n"},
    )
    def even(tool: Tools, field: str) -> Formula:
        """Only even numbers."""
        return whenever(tool, Custom("is_even", (field,)))

    assert catalog()[-1] is even
    for by_name in (even("pay", "n"), even(tool="pay", field="n")):
        assert play(by_name)("pay(n=2) pay(n=1) pay pay(n=4)") == ".xx."
    assert contract("x").guarantees("`pay` takes even `n`").rules[0].formula is by_name.formula


@pytest.mark.usefixtures("fresh")
def test_two_patterns_cannot_have_one_name() -> None:
    """Declaring a pattern under a name that is taken is an error, not a replacement."""

    def must_precede(first: Tools) -> Formula:
        """Something else."""
        return calls_of_any(first)

    declare = pattern("ours", "x", keeps=(), breaks=(), example={})
    assert told(declare, must_precede) == ["two patterns are named `must_precede`; rename one"]


# --- meanings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "confirms"),
    [
        ("true", True),
        ("false", False),
        ('"yes"', True),
        ('""', False),
        ("null", False),
        ("0", False),
        ("[]", False),
        ('{"ok": true}', False),
        ('{"ok": true, "confirmed": true}', True),
        ('{"ok": false}', False),
        ('"no"', False),
        ('"No, wait"', False),
        ('" NO."', False),
        ('"not now"', False),
        ('"false"', False),
        ('"denied"', False),
        ('"Deny"', False),
        ('"rejected by the user"', False),
        ('"Cancelled"', False),
        ('"declined"', False),
        ('"disallow"', False),
        ('"I do not confirm"', False),
        ('"noted"', False),
        ('"yes, but no"', False),
        ('"ok? no"', False),
        ('"OK."', True),
        ('" Confirmed!"', True),
        ('{"status": "approved", "by": "Ann"}', True),
        ('{"status": "failed"}', False),
        ('{"success": false}', False),
    ],
)
def test_only_a_yes_confirms(output: str, confirms: bool) -> None:
    """What is not yes, approved, confirmed, ok or true, and nothing else, is no yes."""
    assert play(must_confirm("x", "y"))(f"y={output} x") == (".." if confirms else ".x")


def test_accept_decides_what_confirms() -> None:
    """With `accept`, the answer has to match; what is no text does not confirm."""
    session = play(must_confirm("x", "y", accept="^(yes|no problem)"))
    assert session('y="no problem" x y=true x y="well" x y="yes" x') == "...x.x.."


def test_earlier_and_later_exclude_the_present() -> None:
    """A call is neither its own prerequisite, nor its own reversal, nor its own answer."""
    assert play(must_precede(["a", "b"], "a", counts="called"))("a b a") == "x.."
    again = {"tool": "a", "args": {"k": {"in": [1, 2]}}}
    assert play(no_reversal(again, "a"))("a(k=1) a(k=2)") == ".x"
    assert play(no_reversal(again, "a", counts="called"))("a(k=1)! a") == ".x"
    for answer, open_at_the_end in (("a", True), ("b", False), ("a b", False), ("b a", True)):
        session = play(always_followed_by("a", ["a", "b"]))
        session(f"a {answer}")
        assert bool(session.unfulfilled()) is open_at_the_end


def test_confirmations_are_not_saved_up() -> None:
    """Two confirmations do not allow two runs."""
    assert play(must_confirm("x"))("confirm_x=yes confirm_x=yes x x confirm_x=yes x") == "...x.."


def test_a_confirmed_value_confirms_only_itself() -> None:
    """`same`: a confirmation is for equal values; a call without the field is refused."""
    session = play(must_confirm("x", "y", same=["k"]))
    assert (
        session("y(k=1)=ok x(k=2) x(k=1) y=ok x y(k=2)=ok y(k=3)=ok x(k=3) x(k=2)") == ".x..x...."
    )


def test_a_window_of_seconds_is_open_at_its_beginning() -> None:
    """A window of W seconds is (t-W, t]: a call exactly W seconds ago is out of it."""
    assert play(rate_limit("q", 1, {"seconds": 60}))("q +59s q +1s q") == ".x."
    assert play(cooldown("q", seconds=60))("q +59s q +1s q +59s z +1s q") == ".x..."


def test_a_deadline_in_seconds_is_reported_not_stopped() -> None:
    """Seconds that ran out are reported at the next event; no call is to blame."""
    assert play(deadline("t", "a", seconds=10))("t +10s a t +11s z z") == "...t.."


def test_a_deadline_includes_its_last_moment() -> None:
    """`within T` includes T; at the end an open deadline is unfulfilled."""
    session = play(deadline("t", "a", seconds=10))
    assert session("t +9s z") == ".."
    assert session.unfulfilled() == ["rule"]


def test_every_step_is_needed_and_may_be_one_of_several() -> None:
    """`steps` means all of them; a list inside is any of its tools."""
    session = play(required_steps_completion(["a", ["b", "c"]], "g"))
    assert session("g a g c g") == "x.x.."


def test_permissions_are_those_of_the_calling_agent_now() -> None:
    """A permission is looked up for the agent that calls, at the moment of the call."""
    session = play(requires_permission("x", "p"))
    session.session.fact("permissions", {"ann": ["p"], "bob": ["q"]})
    assert session("x x@ann x@bob") == "x.x"
    session.session.fact("permissions", {"bob": ["p"]})
    assert session("x@ann x@bob") == "x."


def test_a_role_has_to_approve_as_well() -> None:
    """With `role`, a gate needs the confirmation and a standing approval of that action."""
    session = play(destructive_action_gate("x", "y", "boss"))
    assert (
        session("y=yes x approve:z/boss x approve:x/clerk x approve:x/boss x x y=yes x")
        == ".xxx.x.."
    )


def test_agents_can_be_source_and_sink() -> None:
    """No data flows from one agent to another once the first has succeeded."""
    session = play(no_data_leak({"agent": "reader"}, {"agent": "sender"}))
    assert session("a@sender a@reader! a@sender a@reader a@sender a") == "....x."


def test_a_context_trigger_binds_the_first_call_after_it_became_true() -> None:
    """A trigger over context fires once when it becomes true; a fact never told does not fire."""
    session = play(workflow_step({"ctx": {"roaming": "off"}}, "toggle"))
    words = "a ctx:roaming=on a ctx:roaming=off a toggle a ctx:roaming=on b ctx:roaming=off b"
    assert session(words) == "..x...x"


def test_workflow_steps_take_formulas_as_text() -> None:
    """Trigger and next step of a workflow are tools, mappings, sentences or formulas."""
    triggers: list[Any] = ["lock", "called `lock`", {"called": "lock"}, "called(lock)", ["lock"]]
    for trigger in [*triggers, {"ltl": "called(lock)"}, {"tool": "lock"}]:
        for answer in (["a", "b"], "called(a) | called(b)"):
            assert play(workflow_step(trigger, answer))("lock c b lock a c") == ".x...."


def test_a_redirect_brings_its_own_answer() -> None:
    """A redirect answers by itself: the substitute runs, with arguments renamed or dropped."""
    rule = redirect_to_safe("refund", "log", {"amount": "sum", "note": None})
    assert rule.answer == Redirect("log", (("amount", "sum"), ("note", None)))
    session = play(rule)
    assert session("refund(amount=3, note=x, id=7) log") == ">."
    assert getattr(session.outcomes[0], "args", None) == {"sum": 3, "id": 7}


def test_an_allowlist_knows_no_prefixes_and_no_cases() -> None:
    """A tool allowlist has exact names: no server prefix, no other case, no part of a name."""
    assert play(tool_allowlist(["search"]))("search mcp__x__search Search searc search2") == ".xxxx"


def test_bounds_are_read() -> None:
    """Windows are steps or seconds; a cooldown of N steps looks at N+1 calls."""
    assert "count[<=60s]" in repr(rate_limit("a", 1, {"seconds": 60}).formula)
    assert "count[<=4]" in repr(cooldown("a", 3).formula)


BLACK = [
    ("bash", "."),
    ("bash(command=ls)", "."),
    ("other(command=sudo)", "."),
    ('bash(command="sudo x")', "x"),
    ('bash(command="a\\tsudo\\nx")', "x"),
    ('bash(command=["a", ["sudo", "x"]])', "x"),
    ('bash(command={"a": {"b": "sudo x"}})', "x"),
    ('bash(command={"sudo x": 1})', "x"),
    ('bash(command=[{"a": {"sudo  x": 1}}])', "x"),
    ('bash(command=["grep", "sudoku"])', "."),
    ('bash(command=["sudo", 5])', "."),
    ('bash(command=["sudo", "x"])', "x"),
    ("bash(command=5)", "."),
    ("bash(command=null)", "."),
    ("bash(command=true)", "."),
    ('bash(cmd="sudo x")', "."),
    ('bash(command="sudo\\u00a0x")', "x"),
]


@pytest.mark.parametrize(("word", "sign"), BLACK)
def test_a_blacklist_looks_inside_whatever_the_shape(word: str, sign: str) -> None:
    """No text inside the field matches: nested, a key, in lists, argv as one line, blanks alike."""
    assert play(arg_blacklist("bash", "command", ["sudo x"]))(word) == sign


@pytest.mark.parametrize("run", ['"argv: sudo x"', '["argv", "sudo x"]', '[{"argv": "sudo x"}]'])
def test_a_blacklist_looks_at_what_stands_in_the_way_of_its_path(run: str) -> None:
    """A text or a list where an object was meant is looked at itself, whatever it names."""
    assert play(arg_blacklist("bash", "run.argv", ["sudo x"]))(f"bash(run={run})") == "x"
    assert play(arg_blacklist("bash", "run.argv", ["su -"]))(f"bash(run={run})") == "."


def test_a_blacklist_of_all_fields_looks_at_every_argument() -> None:
    """The path `*` means all arguments, so another key does not evade."""
    assert (
        play(arg_blacklist("bash", "*", ["rm -rf"]))('bash(cmd="rm  -rf") bash(x=[1]) bash')
        == "x.."
    )


def test_blanks_in_patterns_stand_for_any_blanks() -> None:
    """A run of blanks in a pattern equals any run in the text, but not inside a character class."""
    session = play(arg_blacklist("b", "c", [r"rm\s-rf", "a  +b", "x[ ]y", r"\Qp q\E"]))
    assert session('b(c="rm \\t -rf") b(c="a b") b(c="x\\ty") b(c="p q") b(c="xy")') == "xxxx."
    session = play(arg_blacklist("b", "c", ["x[^ ]y"]))
    assert session('b(c="x y") b(c="x\\ny") b(c="x\\ty")') == ".xx"


def test_what_cannot_be_inspected_violates() -> None:
    """A text over the size cap, too many values, half a character, or no data: refused."""
    session = play(arg_blacklist("b", "c", ["x"])).session
    huge = "a" * 70_000
    for value in (
        huge,
        [huge[:40_000]] * 2,
        {huge: 1},
        {"k": {huge[:40_000]: huge[:40_000]}},
        ["a"] * 6_000,
        deep(80),
        b"\xff",
        object(),
        "\ud800",
    ):
        assert type(session.decide("b", {"c": value})).__name__ == "Blocked"
    assert type(session.decide("b", {"c": "a" * 60_000})).__name__ == "Allowed"


def test_many_texts_are_inspected_together() -> None:
    """Thousands of texts are inspected, each by itself: nothing is found across two of them."""
    session = play(arg_blacklist("b", "c", ["rm -rf", "^begin", r"end$", r"\bword\b"])).session

    def sign(*last: str) -> str:
        outcome = session.decide(
            "b", {"c": [{"t": "some"}] * 1_200 + [{"t": each} for each in last]}
        )
        return type(outcome).__name__

    assert sign("rm", "beginning?", "ending", "swords") == "Blocked"
    for harmless in ("sword", "not begin", "end.", "rm-rf"):
        assert sign(harmless) == "Allowed"
    for found in ("rm \t-rf", "begin", "the end", "a word."):
        assert sign(found) == "Blocked"


def deep(levels: int) -> list[Any]:
    """A list in a list in a list."""
    value: list[Any] = ["a"]
    for _ in range(levels):
        value = [value]
    return value


ALLOW = [
    ("p(u=ab)", "."),
    ("p(u=abc)", "x"),
    ("p", "x"),
    ("p(u=5)", "x"),
    ("p(u=null)", "x"),
    ("p(u=true)", "x"),
    ('p(u=["ab", "ab"])', "."),
    ('p(u=["ab", "x"])', "x"),
    ("p(u=[])", "x"),
    ('p(u={"a": "ab"})', "x"),
    ('p(u="xq")', "."),
    ('p(u="qx")', "x"),
    ('p(u="ab\\n")', "x"),
    ("z(u=no)", "."),
]


@pytest.mark.parametrize(("word", "sign"), ALLOW)
def test_an_allowlist_matches_whole_values(word: str, sign: str) -> None:
    """The value matches one pattern as a whole, or is searched if the pattern has one anchor."""
    assert play(arg_allowlist("p", "u", ["ab", "q$"]))(word) == sign


@requirement("C-arg_allowlist")
def test_anchors_decide_how_an_allowlist_searches() -> None:
    """With `^` a pattern matches from the beginning, with `$` up to the end; with both or none, the
    whole value.
    """
    anchored = {
        "^a": "abc",
        "c$": "abc",
        "^abc$": "abc",
        "a.c": "abc",
        "a|abc": "abc",
        "(?i)^A": "abc",
    }
    for regex, text in anchored.items():
        assert play(arg_allowlist("p", "u", [regex]))(f"p(u={text})") == "."
    for regex in ("b", "^b$", "^a|c$", "^b", "b$", r"\^a", "[$]c", "ab"):
        assert play(arg_allowlist("p", "u", [regex]))("p(u=abc)") == "x"


@pytest.mark.parametrize("regex", ["^a|b", "(^a)|b", "b|c$", "b|(c$)", "(?i)^A|B", "^?b", "(?m)^b"])
def test_every_alternative_of_an_allowlist_is_held_to_the_anchor(regex: str) -> None:
    """`^https://a/|https://b/` does not let `https://evil/?https://b/` through."""
    assert play(arg_allowlist("p", "u", [regex]))('p(u="x\\nb x")') == "x"


def test_every_element_of_a_path_has_to_be_allowed() -> None:
    """With `[]` in a path, each element counts; an element without the field violates."""
    session = play(arg_allowlist("p", "to[].mail", ["[a-z]+@corp"]))
    assert session('p(to=[{"mail": "a@corp"}]) p(to=[{"mail": "a@corp"}, {"mail": "b@x"}])') == ".x"
    assert session('p(to=[{"mail": "a@corp"}, {}]) p(to=[]) p(to="a@corp")') == "xxx"


LENGTHS = [
    ("s(q=abc)", "."),
    ("s(q=abcd)", "x"),
    ("s", "."),
    ("s(q=null)", "."),
    ('s(q="äöü")', "."),
    ('s(q=["ab", "c"])', "."),
    ('s(q=["ab", "cd"])', "x"),
    ('s(q={"a": "b", "c": 1})', "x"),
    ('s(q={"a": "b", "c": null})', "."),
    ('s(q={"a": "ab", "bbbbb": "c"})', "x"),
    ("s(q=[12, true, 3])", "."),
    ("s(q=[12, 34])", "x"),
    ("s(q=5)", "x"),
    ("s(q=true)", "x"),
    ("z(q=abcd)", "."),
]


@pytest.mark.parametrize(("word", "sign"), LENGTHS)
def test_lengths_are_counted_in_characters(word: str, sign: str) -> None:
    """A field has at most so many characters, all that is in it together; missing passes."""
    assert play(arg_length_limit("s", "q", 3))(word) == sign


def test_a_length_above_the_inspection_cap_is_still_counted() -> None:
    """Counting needs no inspection, so a long text under a high limit passes."""
    session = play(arg_length_limit("s", "q", 100_000)).session
    assert type(session.decide("s", {"q": "a" * 100_000})).__name__ == "Allowed"
    assert type(session.decide("s", {"q": "a" * 100_001})).__name__ == "Blocked"


RANGES = [
    ("p(n=0)", "."),
    ("p(n=10)", "."),
    ("p(n=10.0)", "."),
    ("p(n=10.000001)", "x"),
    ("p(n=-1)", "x"),
    ("p", "x"),
    ("p(n=NaN)", "x"),
    ("p(n=Infinity)", "x"),
    ("p(n=true)", "x"),
    ('p(n="5")', "x"),
    ("p(n=null)", "x"),
    ("p(n=[5])", "x"),
    ("p(n={})", "x"),
    ("p(m=5)", "x"),
    ("z(n=99)", "."),
    ("z", "."),
]


@pytest.mark.parametrize(("word", "sign"), RANGES)
def test_a_range_is_of_numbers_and_of_its_own_tool(word: str, sign: str) -> None:
    """A number in the range passes; missing, NaN and what is no number violate; others are free."""
    assert play(arg_value_range("p", "n", 0, 10))(word) == sign


def test_a_range_may_be_open_on_one_side() -> None:
    """Either end of a range may be left out; infinity is no number."""
    assert (
        play(arg_value_range("p", "n", min=0.1))("p(n=0.1) p(n=1e30) p(n=Infinity) p(n=0)")
        == "..xx"
    )
    assert play(arg_value_range("p", "n", max=0.3))("p(n=0.3) p(n=-5) p(n=0.31)") == "..x"


def test_every_number_at_a_path_has_to_be_in_range() -> None:
    """`items[].n` is every item's n; one that is missing violates, and so does an empty list."""
    session = play(arg_value_range("p", "items[].n", 0, 5))
    assert session('p(items=[{"n": 1}, {"n": 5}]) p(items=[{"n": 1}, {"n": 6}])') == ".x"
    assert session('p(items=[{"n": 1}, {}]) p(items=[]) p(items={"n": 1})') == "xxx"
    assert play(arg_value_range("p", "a.b", 0, 5))('p(a={"b": 3}) p(a.b=3)') == ".."


@requirement("S-FILE-15")
@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    ("keeps", "breaks", "problem"),
    [
        (("pay",), ("pay(n=1)",), "the trace `pay` is to keep it, and breaks it"),
        (("",), ("pay(n=2)",), "the trace `pay(n=2)` is to break it, and keeps it"),
        (("pay((",), (), "the trace `pay((` is not understood at column 5"),
    ],
)
def test_the_traces_of_a_users_pattern_are_played_when_it_is_declared(
    keeps: tuple[str, ...], breaks: tuple[str, ...], problem: str
) -> None:
    """One that is judged otherwise refuses the declaration, and the name is free again."""

    @atom("is_one")
    def is_one(call: Call, _: object, field: str) -> bool:
        return call.args.get(field) == 1

    def small(tool: Tools, field: str) -> Formula:
        """Never the number one, and never without a number."""
        return whenever(tool, ~Custom("is_one", (field,)) & ~Custom("arg_missing", (field,)))

    example = {"tool": "pay", "field": "n"}
    declare = pattern("ours", "`{tool}` is small", keeps=keeps, breaks=breaks, example=example)
    (said,) = told(declare, small)
    assert problem in said
    assert "small" not in CATALOG


def test_a_list_at_a_limit_for_each_value_is_refused() -> None:
    """Of several values, it is not known which one counts."""
    few = opened(contract("few").guarantees(rate_limit("q", 2, by=["k"]))).session
    for several in ([1, 2], {"a": 1}):
        assert type(few.decide("q", {"k": several})).__name__ == "Blocked"
    assert type(few.decide("q", {"k": 1})).__name__ == "Allowed"
