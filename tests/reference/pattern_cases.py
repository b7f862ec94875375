"""The catalog's patterns with their predicates and the letters of their traces.

In: predicates (`predicates.py`, `predicates_catalog.py`). Out: `CASES`: a rule as a contract file
has it, and what it has to mean. The patterns of values are in `values_cases.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml

from sponsio_like.contracts.declaration import CATALOG
from sponsio_like.contracts.definition import Contract, contract
from tests.reference import predicates as p
from tests.reference import predicates_catalog as q
from tests.support import notation

Letters: TypeAlias = "tuple[str, ...]"


@dataclass(frozen=True)
class Case:
    """A rule, the letters that its traces are made of, and its predicates."""

    name: str
    given: dict[str, Any]
    letters: Letters
    refused: p.Refused
    owed: p.Owed = p.nothing

    def __str__(self) -> str:
        arguments = ",".join(f"{key}={value}" for key, value in self.given.items())
        return f"{self.name}({arguments})"

    @property
    def contract(self) -> Contract:
        return contract("rule").guarantees(CATALOG[self.name].rule(self.given))


def case(
    rule: str, letters: str, refused: p.Refused, owed: p.Owed = p.nothing, **more: Any
) -> Case:
    """Return the case of a rule: a pattern's name and its arguments as YAML, and `more` of them."""
    given = yaml.safe_load(f"{{pattern: {rule}}}") | more
    name = given.pop("pattern")
    return Case(name, given, tuple(notation.split(letters, "|")), refused, owed)


BOSS = '{"action": "x", "role": "boss", "by": "b", "decision": "approve"'
DISALLOWED = 'ctx:approval={"action": "x", "role": "boss", "by": "b", "decision": "disallow"}'
NOBODY = 'ctx:approval={"action": "x", "role": "boss", "revoked": true}'

CASES = [
    case("must_precede, first: a, then: b", "a|a!|a?|ok:a|b", p.lacks_success("b", "a")),
    case("must_precede, first: a, then: b, counts: called", "a|a!|a?|b|c", p.lacks_call("b", "a")),
    case("must_precede, first: [b, c], then: d", "a|b!|c|d", p.lacks_success("d", "b", "c")),
    case(
        "must_precede, first: a, then: b, within: {seconds: 3}",
        "+2s b|a|a!|z",
        p.lacks_recent("b", "a", seconds=3),
    ),
    case(
        "must_precede, first: a, then: b, within: {seconds: 4}",
        "b|a?|ok:a|+2s z|+3s z",
        p.lacks_recent("b", "a", seconds=4),
    ),
    case(
        "must_precede, first: a, then: b, within: 2", "a|a!|b|z", p.lacks_recent("b", "a", steps=2)
    ),
    case(
        "must_precede, first: a, then: b, within: {steps: 1}",
        "a|b?|b|z",
        p.lacks_recent("b", "a", steps=1),
    ),
    case(
        "must_precede, first: a, then: b, accept: '^fine'",
        "a|b|a=fine|a=bad",
        p.lacks_recent("b", "a", says="fine"),
    ),
    case("must_precede, first: a, then: '*'", "a|a!|a?|ok:a|b|c", p.others_lack("a")),
    case(
        "must_precede, first: pay_check, then: 'pay_*'",
        "pay_a|pay_check|pay_check!|c",
        p.others_lack("pay_check", glob="pay_*"),
    ),
    case(
        "must_precede, first: 'pay_check_*', then: 'pay_*'",
        "pay_a|pay_check_a|pay_check_b!|c",
        p.others_lack("pay_check_a", "pay_check_b", glob="pay_*"),
    ),
    case("must_confirm, action: x, by: y", "x|y|y=yes|y!|y=no", p.lacks_own_yes("x", "y")),
    case(
        "must_confirm, action: x, by: y",
        "x|y?|ok:y=true|ok:y=false|error:y",
        p.lacks_own_yes("x", "y"),
    ),
    case(
        "must_confirm, action: x, by: y",
        'x|y="OK."|y="disallow"|y={"ok":true}|y={"ok":true,"answer":"ok"}|y="yes? no"|y=1',
        p.lacks_own_yes("x", "y"),
    ),
    case(
        "must_confirm, action: x, by: y, accept: allow",
        'x|y="allow"|y="disallow"|y="I do not allow"|y',
        p.lacks_own_match("x", "y", "allow"),
    ),
    case("must_confirm, action: x", "x|confirm_x=yes|x?|z", p.lacks_own_yes("x", "confirm_x")),
    case(
        "must_confirm, action: x, by: y, accept: '^yes'",
        'x|y="yes"|y="sure yes"|y=no|y',
        p.lacks_own_match("x", "y", "yes"),
    ),
    case(
        "must_confirm, action: x, by: y, accept: {path: is, equals: 1}",
        'x|y={"is":1}|y={"is":2}|y=yes|y',
        p.lacks_own("x", "y", {"is": 1}),
    ),
    case(
        "must_confirm, action: x, by: y, accept: {equals: null}",
        "x|y|y=yes|y?",
        p.lacks_own("x", "y", None),
    ),
    case(
        "must_confirm, action: x, by: y, same: [k]",
        "x(k=1)|x(k=2)|x|y(k=1)=yes|y(k=2)=yes",
        p.lacks_own_yes("x", "y", same="k"),
    ),
    case(
        "must_confirm, action: x, by: y, counts: called", "x|y?|y!|y=yes", p.lacks_own_yes("x", "y")
    ),
    case("must_confirm, action: '*', by: y", "x|y=yes|y=no|z", p.others_lack_own("y", yes=True)),
    case(
        "requires_permission, tool: x, permission: p",
        "permit:p|permit:q|x|z",
        p.lacks_permission("x", "p"),
    ),
    case("no_data_leak, source: s, sink: k", "s|s!|s?|ok:s|k", p.after_success("k", "s")),
    case("no_data_leak, source: s, sink: k, counts: called", "s|s!|s?|k|z", p.after_call("k", "s")),
    case(
        "no_data_leak, source: {agent: s}, sink: {agent: k}",
        "z@s|z@s!|z@k|z",
        p.after_agent("k", "s"),
    ),
    case(
        "destructive_action_gate, action: x, gate: y", "x|y=yes|y?|y=no", p.lacks_own_yes("x", "y")
    ),
    case(
        "destructive_action_gate, action: x, gate: y, role: boss",
        "x|y=yes|approve:x/boss|approve:x/clerk",
        p.either(p.lacks_own_yes("x", "y"), p.lacks_approval("x", "boss")),
    ),
    case(
        "workflow_step, trigger: a, next_action: b", "a|b|c", p.not_next("a", "b"), p.last_is("a")
    ),
    case(
        "workflow_step, trigger: {ctx: {h: 1}}, next_action: b",
        "ctx:h=1|ctx:h=0|b|c",
        p.not_after_rise("h", 1, "b"),
    ),
    case("no_reversal, commitment: a, reversal: r", "a|a?|error:a|r", p.after_effort("r", "a")),
    case(
        "no_reversal, commitment: a, reversal: r, counts: called",
        "a|a!|a?|r",
        p.after_call("r", "a"),
    ),
    case("segregation_of_duty, first: a, second: b", "a@x|b@x|b@y|a@x!", p.both_by_one("a", "b")),
    case(
        "segregation_of_duty, first: a, second: b, same: [k]",
        "a(k=1)@x|b(k=1)@x|b(k=2)@x|b(k=1)@y|a@x|a(k=2)@x!",
        p.both_by_one_for("a", "b", "k"),
    ),
    case(
        "segregation_of_duty, first: a, second: b, counts: called",
        "a@x|b@x|a@x!|b@y",
        p.both_by_one("a", "b", failed=True),
    ),
    case(
        "always_followed_by, trigger: a, response: b", "a|a!|a?|b", p.never, p.unanswered("a", "b")
    ),
    case(
        "always_followed_by, trigger: a, response: b",
        "a?|error:a|ok:a|b?|error:b",
        p.never,
        p.unanswered("a", "b"),
    ),
    case(
        "always_followed_by, trigger: a, response: b, counts: called",
        "a|a!|b!|b?|c",
        p.never,
        p.unanswered_calls("a", "b"),
    ),
    case(
        "required_steps_completion, steps: [a, b], gate: g",
        "a|b|b?|g",
        p.lacks_all("g", ("a", "b")),
    ),
    case(
        "required_steps_completion, steps: [a, b], gate: g, counts: called",
        "a!|b|c|g",
        p.lacks_all("g", ("a", "b"), called=True),
    ),
    case(
        "required_steps_completion, steps: [a, b], gate: '*'",
        "a|b|b!|c",
        p.others_lack("a", "b", each=True),
    ),
    case("rate_limit, action: q, limit: 2", "q|q!|q?|z", p.too_often("q", 2)),
    case(
        "rate_limit, action: q, limit: 2, counts: done",
        "q|q!|q?|error:q",
        p.too_often("q", 2, failed=False),
    ),
    case(
        "rate_limit, action: q, limit: 2, per: {steps: 4}", "q|q!|z", p.too_often("q", 2, steps=4)
    ),
    case(
        "rate_limit, action: q, limit: 1, per: {seconds: 3}",
        "q|+3s q!|z|+2s z",
        p.too_often("q", 1, seconds=3),
    ),
    case(
        "rate_limit, action: q, limit: 2, by: [k]",
        "q(k=1)|q(k=2)|q(k=1)!|q",
        p.too_often_with("q", 2, "k"),
    ),
    case("idempotent, action: t", "t|t!|t?|z", p.too_often("t", 1)),
    case("idempotent, action: t, by: [k]", "t(k=1)|t(k=1.0)|t(k=true)|t", p.again_with("t", "k")),
    case("cooldown, action: s, steps: 2", "s|s!|z", p.within_steps("s", 2)),
    case(
        "cooldown, action: s, steps: 2, counts: done",
        "s|s!|s?|error:s|z",
        p.within_steps("s", 2, failed=False),
    ),
    case("cooldown, action: s, seconds: 3", "s|+2s s|+3s z", p.within_seconds("s", 3)),
    case("cooldown, action: s, steps: 2, after: m", "m|m!|m?|s|z", p.steps_after("s", "m", 2)),
    case(
        "cooldown, action: s, steps: 2, after: m, counts: done",
        "m|m!|m?|error:m|s|z",
        p.steps_after("s", "m", 2, failed=False),
    ),
    case(
        "cooldown, action: s, seconds: 3, after: m",
        "m|+2s s|+3s s|m!|+1s z",
        p.too_soon_after("s", "m", 3),
    ),
    case(
        "cooldown, action: s, seconds: 3, after: m, by: [k]",
        "m(k=1)|m|s(k=1)|+2s s(k=2)|+1s s(k=1)|s",
        p.too_soon_after("s", "m", 3, "k"),
    ),
    case(
        "deadline, trigger: t, action: a, steps: 2",
        "t|a|z",
        p.missed("t", "a", 2),
        p.still_due("t", "a", 2),
    ),
    case(
        "deadline, trigger: t, action: [t, a], steps: 2",
        "t|a|z",
        p.missed("t", "ta", 2),
        p.still_due("t", "ta", 2),
    ),
    case("bounded_retry, action: d, retries: 1", "d|d!|d?|z", p.too_many_retries("d", 1)),
    case(
        "bounded_retry, action: d, retries: 2", "d?|d!|ok:d|error:d|z", p.too_many_retries("d", 2)
    ),
    case("loop_detection, action: s, limit: 2", "s(q=1)|s(q=1)!|s(q=2)|z", p.looping("s", 2)),
    case(
        "denial_limit, limit: 2",
        "s(q=1)|s(q=1)~|s(q=2)~|z",
        p.refused_before(2, lambda tried, now: tried == (now.tool, now.args)),
    ),
    case(
        "denial_limit, limit: 2, per: tool",
        "s(q=1)|s(q=1)~|s(q=2)~|z",
        p.refused_before(2, lambda tried, now: tried[0] == now.tool),
    ),
    case(
        "denial_limit, limit: 2, per: session, tool: s",
        "s|s~|z~|z",
        p.refused_before(2, lambda tried, now: now.tool == "s" and tried[0] == "s"),
    ),
    case("mutual_exclusion, first: a, second: b", "a|a?|error:a|b", p.exclusive("a", "b")),
    case(
        "mutual_exclusion, first: a, second: b, counts: called",
        "a|a!|b|b!",
        p.exclusive("a", "b", failed=True),
    ),
    case("tool_allowlist, tools: [a, b]", "a|b|ab|A", p.not_among("a", "b")),
    case("redirect_to_safe, unsafe: u, safe: s", "u|u!|s|z", p.is_call("u")),
    case(
        "arg_blacklist, tool: b, field: c, patterns: ['rm -rf']",
        'b(c="rm\\t -rf")|b(c="rm")|z(c="rm -rf")',
        p.argument("b", "c", lambda v: v in ("rm -rf", "rm\t -rf")),
    ),
    case(
        "arg_allowlist, tool: b, field: c, patterns: [ok]",
        "b(c=ok)|b(c=okay)|z(c=no)",
        p.argument("b", "c", lambda v: v != "ok"),
    ),
    case(
        "scope_limit, tool: b, fields: [c], paths: [/w]",
        'b(c="/w/a")|b(c="/w/../a")|b(c="..")|b|z(c="/a")',
        p.argument("b", "c", lambda v: v in ("/w/../a", "..")),
    ),
    case(
        "host_allowlist, tool: b, field: c, hosts: [a.b, '*.c.d']",
        'b(c="http://a.b/")|b(c="http://a.b@x.y/")|b(c="http://x.c.d")|b(c="http://c.d")|z(c=no)',
        p.argument("b", "c", lambda v: v not in ("http://a.b/", "http://x.c.d")),
    ),
    case(
        "date_within, tool: b, field: c, last: 86400",
        'b(c="1970-01-01")|b(c="1969-12-01")|b(c="1970-01-01T00:00Z")|b|z(c="1969-12-01")',
        p.argument("b", "c", lambda v: not (v or "").startswith("1970")),
    ),
    case(
        "dangerous_bash_commands",
        'bash(command="ls")|bash(command="rm -r a")|bash(command="sh -c $X")|bash|z(command="$X")',
        p.argument("bash", "command", lambda v: v not in (None, "ls")),
    ),
    case(
        "dangerous_sql_verbs",
        'sql(query="SELECT 1")|sql(query="DROP TABLE a")|sql(query="SELECT 1; drop table a")|sql|z',
        p.argument("sql", "query", lambda v: v not in (None, "SELECT 1")),
    ),
    case(
        "no_other_call, call: {tool: b, args: {c: {in: [x, y]}}}",
        "b(c=x)|b(c=y)|b(c=z)|z(c=z)",
        p.argument("b", "c", lambda v: v not in ("x", "y")),
    ),
    case(
        "arg_length_limit, tool: b, field: c, max_chars: 2",
        'b(c=ab)|b(c=abc)|z(c=abc)|b(c={"abc":1})|b(c=[123])|b(c={"a":1})',
        p.argument("b", "c", lambda v: v in ("abc", {"abc": 1}, [123])),
    ),
    case(
        "arg_value_range, tool: b, field: c, min: 0, max: 2",
        "b(c=1)|b(c=3)|b|z(c=3)",
        p.argument("b", "c", lambda v: v != 1),
    ),
    case("backup_before_destructive, backup: y, action: '*'", "x|y|y!|z", p.others_lack_own("y")),
    case("backup_before_destructive, backup: b, action: d", "b|b!|d|d!", q.lacks_fresh("d", "b")),
    case(
        "backup_before_destructive, backup: b, action: d",
        "b?|ok:b|error:b|d|z",
        q.lacks_fresh("d", "b"),
    ),
    case(
        "backup_before_destructive, backup: b, action: d, counts: called",
        "b?|b!|d|z",
        q.lacks_fresh("d", "b", q.anyway),
    ),
    case(
        "untrusted_source_gate, source: s, gate: g",
        "s?|ok:s|g?|ok:g=yes|k",
        q.ungated(q.tool("s"), q.tool("g")),
    ),
    case(
        "untrusted_source_gate, source: s, gate: g",
        "s|s?|error:s|g=true|k",
        q.ungated(q.tool("s"), q.tool("g")),
    ),
    case(
        "untrusted_source_gate, source: [s, t], gate: g",
        "s?|t?|ok:s|error:t|g=yes|k",
        q.ungated(q.tool("s", "t"), q.tool("g")),
    ),
    case(
        "untrusted_source_gate, source: s, sinks: [k]",
        "s!|review|review=yes|review!|k",
        q.ungated(q.tool("s"), q.tool("review"), sink=q.tool("k")),
    ),
    case(
        "untrusted_source_gate, source: s, gate: g, accept: '^clean$'",
        "s?|ok:s|g?|g=clean|g=yes|k",
        q.ungated(q.tool("s"), q.tool("g"), q.says("clean")),
    ),
    case(
        "untrusted_source_gate, source: {agent: web}, gate: g",
        "z@web|z@web?|error:z|g=yes|g@web|k",
        q.ungated(q.agent("web"), q.tool("g")),
    ),
    case(
        "untrusted_source_gate, source: {tool: s, args: {n: {gt: 1}}}, gate: g, sinks: k",
        "s(n=1)|s(n=2)|s|g=yes|k",
        q.ungated(
            lambda c: c.tool == "s" and c.args.get("n", 0) > 1,  # what is not said is not so
            q.tool("g"),
            sink=q.tool("k"),
        ),
    ),
    case(
        "confirm_after_source, source: s",
        "s|confirm|confirm=no|confirm=yes|k",
        q.ungated(q.tool("s"), q.tool("confirm")),
    ),
    case(
        "confirm_after_source, source: s, by: c, sinks: [k]",
        "s?|error:s|c?|ok:c|ok:c=true|k",
        q.ungated(q.tool("s"), q.tool("c"), sink=q.tool("k")),
    ),
    case(
        "confirm_after_source, source: s, by: c, accept: {path: is, equals: done}",
        'c={"is":"done"}|c?|c=yes|s|k',
        q.ungated(q.tool("s"), q.tool("c"), q.says({"is": "done"})),
    ),
    case(
        "sanitized_before_sink, source: s, sanitizer: c, sink: k",
        "s?|error:s|c|k",
        q.ungated(q.tool("s"), q.tool("c"), q.succeeded, q.tool("k")),
    ),
    case(
        "sanitized_before_sink, source: s, sanitizer: c, sink: k",
        "s|c?|ok:c|error:c|k|z",
        q.ungated(q.tool("s"), q.tool("c"), q.succeeded, q.tool("k")),
    ),
    case(
        "sanitized_before_sink, source: s, sanitizer: c, sink: {agent: k}, counts: called",
        "s|c!|k@k|z@k|k",
        q.ungated(q.tool("s"), q.tool("c"), q.anyway, q.agent("k")),
    ),
    case("irreversible_once, action: p", "p|p!|p?|z", p.too_often("p", 1)),
    case(
        "irreversible_once, action: p, counts: done",
        "p?|error:p|p!|z",
        p.too_often("p", 1, failed=False),
    ),
    case("token_budget, limit: 100", "tokens:40|tokens:60|q|q!", q.out_of_tokens(100)),
    case("token_budget, limit: 1", "tokens:0|tokens:1|q|msg:assistant=hi", q.out_of_tokens(1)),
    case("delegation_depth_limit, limit: 1", "q|q^1|q^2|z^3", q.too_deep(1)),
    case("delegation_depth_limit, limit: 0", "q|q^1|z@bob", q.too_deep(0)),
    case(
        "approval_active, action: x, role: boss",
        f"approve:x/boss|approve:x/clerk|{DISALLOWED}|x|z",
        q.unapproved("x", "boss"),
    ),
    case(
        "approval_active, action: x, role: boss",
        f'ctx:approval={BOSS}}}|ctx:approval={BOSS}, "revoked": true}}|'
        'ctx:approval={"action": "x", "role": "boss", "by": "c", "decision": "approve"}|x',
        q.unapproved("x", "boss"),
    ),
    case(
        "approval_active, action: x, role: boss, seconds: 3",
        f'approve:x/boss|+3s z|x|ctx:approval={BOSS}, "time": 1}}',
        q.unapproved("x", "boss", 3),
    ),
    case(
        "approval_active, action: x, role: boss, seconds: 3",
        f'approve:x/boss|ctx:approval={BOSS}, "time": 62}}|{NOBODY}|x|+2s z',
        q.unapproved("x", "boss", 3),
    ),
    case(
        "approval_active, action: x, role: boss",
        f"approve:x/boss|ctx:approval={BOSS}}}|{NOBODY}|x",
        q.unapproved("x", "boss"),
    ),
    case(
        "approval_active, action: [x, y], role: boss",
        "approve:x/boss|approve:y/boss|x|y",
        q.unapproved("xy", "boss"),
    ),
    case(
        "approval_freshness, approval: a, action: x, max_steps: 2",
        "a|a!|x|z",
        q.not_recently("x", "a", 2),
    ),
    case(
        "approval_freshness, approval: a, action: x, max_steps: 3",
        "a?|ok:a|x|z",
        q.not_recently("x", "a", 3),
    ),
    case(
        "approval_freshness, approval: a, action: x, max_steps: 1, counts: called",
        "a?|a!|x|z",
        q.not_recently("x", "a", 1, q.anyway),
    ),
    case("audit_after, action: a, audit: b", "a|b|b!", p.never, p.unanswered("a", "b")),
    case(
        "audit_after, action: a, audit: b", "a?|error:a|ok:a|a!|b", p.never, p.unanswered("a", "b")
    ),
    case(
        "audit_after, action: a, audit: b, counts: called",
        "a!|a?|b!|c",
        p.never,
        p.unanswered_calls("a", "b"),
    ),
    case("dry_run_before_commit, dry_run: d, commit: c", "d|d?|ok:d|c!", q.lacks_fresh("c", "d")),
    case(
        "dry_run_before_commit, dry_run: d, commit: c, same: [k]",
        "d(k=1)|c(k=1)|c(k=2)|c|d",
        q.lacks_fresh("c", "d", same="k"),
    ),
    case(
        "dry_run_before_commit, dry_run: d, commit: c, counts: called",
        "d?|d!|c|c?",
        q.lacks_fresh("c", "d", q.anyway),
    ),
    case(
        "ctx_required, tool: x, key: k, values: true",
        'ctx:k=true|ctx:k="true"|ctx:k=1|x|z',
        q.fact_is("x", "k", lambda v: v is True),
    ),
    case(
        "ctx_required, tool: x, key: k, values: [1, a]",
        "ctx:k=1.0|ctx:k=a|ctx:j=a|x",
        q.fact_is("x", "k", lambda v: v in ("a", 1)),
    ),
    case(
        "ctx_matches_required, tool: x, key: k, regex: '^corp/'",
        "ctx:k=corp/a|ctx:k=x-corp/|ctx:k=5|x|z",
        q.fact_is("x", "k", lambda v: str(v).startswith("corp/")),
    ),
    case(
        "ctx_matches_required, tool: x, key: k, regex: corp",
        "ctx:k=corp|ctx:k=corps|x|z",
        q.fact_is("x", "k", lambda v: v == "corp"),
    ),
    case(
        "duplicate_call_limit, tool: m",
        "m(to=1)|m(to=1.0)!|m(to=true)",
        q.called_alike("m", lambda a: (a["to"], isinstance(a["to"], bool)), 1),
    ),
    case(
        "duplicate_call_limit, tool: m, fields: [to], limit: 2",
        "m(to=1, n=1)|m(to=1, n=2)|m(to=2)|m|m(to=1)!",
        q.called_alike("m", lambda a: a.get("to"), 2),
    ),
    case(
        "duplicate_call_limit, tool: m, fields: [to]",
        "m(to=1)?|error:m|m(to=2)?|m(to=2)!",
        q.called_alike("m", lambda a: a.get("to"), 1),
    ),
    case(
        "duplicate_call_limit, tool: m, counts: called",
        "m|m!|m(n=1)|z",
        q.called_alike("m", lambda a: sorted(a.items()), 1, failed=True),
    ),
    case(
        "duplicate_call_limit, tool: [m, n], fields: [to]",
        "m(to=1)|n(to=1)|m(to=2)|n",
        p.either(
            q.called_alike("m", lambda a: a.get("to"), 1),
            q.called_alike("n", lambda a: a.get("to"), 1),
        ),
    ),
    case(
        "time_since, action: x, event: {called: e}, max_seconds: 3",
        "e|e!|+4s z|x",
        q.long_since("x", q.of_calls("e"), 3),
    ),
    case(
        "time_since, action: x, event: {done: e}, max_seconds: 3",
        "e?|ok:e|error:e|+2s x",
        q.long_since("x", q.of_calls("e", q.succeeded), 3),
    ),
    case(
        "time_since, action: x, event: {fact: k}, max_seconds: 3",
        "ctx:k=1|ctx:j=1|+2s x|z",
        q.long_since("x", q.of_facts("k"), 3),
    ),
    case(
        "time_since, action: x, event: {message: user}, max_seconds: 3",
        "msg:user=hi|msg:assistant=hi|+2s x|z",
        q.long_since("x", q.of_facts("message user"), 3),
    ),
    case(
        "no_keywords, words: [big, 'bad one']",
        'msg:assistant="Big, bad"|msg:assistant=bigger|msg:assistant="_big_"|msg:user=big|q',
        q.has_word("big", "bad one"),
    ),
    case(
        "no_keywords, words: [big, 'bad one']",
        'msg:assistant="the bad  one!"|msg:assistant="bad ones"|msg:assistant="one bad"|msg:user=x',
        q.has_word("big", "bad one"),
    ),
    case(
        "no_pii",
        'msg:assistant="a@b.cc"|msg:assistant="a@b"|msg:assistant="123-45-6789"|msg:user="a@b.cc"|q',
        q.response(lambda text: text in ("a@b.cc", "123-45-6789")),
    ),
    case(
        "no_pii, kinds: [email], tool: b",
        'b(c="a@b.cc")|b(c=["x a@b.cc"])|b(c="123-45-6789")|z(c="a@b.cc")|b',
        p.argument("b", "c", lambda v: v in ("a@b.cc", ["x a@b.cc"])),
    ),
    case(
        "max_length, max_words: 2",
        'msg:assistant="a b"|msg:assistant="a  b c"|msg:user="a b c"|q',
        q.response(lambda text: len(text.split()) > 2),
    ),
    case(
        "max_length, max_words: 1, max_chars: 3",
        'msg:assistant="a b"|msg:assistant="abcd"|msg:assistant=abc|msg:user="abcd"',
        q.response(lambda text: len(text) > 3 or len(text.split()) > 1),
    ),
    case(
        "amount_limit, tool: p, field: n, total: 6",
        "p(n=2)|p(n=3)!|p|z(n=9)",
        q.over_total("p", "n", 6),
    ),
    case(
        "amount_limit, tool: p, field: n, total: 0.3",
        'p(n=0.1)|p(n=0.2)|p(n="1")|p(n=-1)|p(n=true)',
        q.over_total("p", "n", 0.3),
    ),
    case(
        "amount_limit, tool: p, field: n, total: 4, per: {steps: 3}",
        "p(n=2)|p(n=3)|p(n=-1)|z",
        q.over_total("p", "n", 4, steps=3),
    ),
    case(
        "amount_limit, tool: p, field: n, total: 4, per: {seconds: 3}",
        "p(n=2)|+2s p(n=3)|+3s z",
        q.over_total("p", "n", 4, seconds=3),
    ),
    case(
        "amount_limit, tool: p, field: n, total: 5, by: [k]",
        "p(n=2, k=1)|p(n=3, k=1)|p(n=3, k=2)|p(n=1)",
        q.over_total("p", "n", 5, by="k"),
    ),
    case("data_intact, tool: r, field: t", "r(t=1)|r(t=2)|r(t=2)!|r", q.edited("r", "t")),
    case(
        "data_intact, tool: r, field: t", "r(t=1)?|error:r|r(t=1.0)|r(t=true)", q.edited("r", "t")
    ),
    case("data_intact, tool: r", "r(t=1)|r(t=1, n=1)|r|z(t=1)", q.edited("r", "*")),
    case(
        "data_intact, tool: r, field: t, after: c",
        "r(t=1)|r(t=2)|r(t=2)!|c",
        q.edited("r", "t", "c"),
    ),
    case(
        "data_intact, tool: r, field: t, after: c",
        "r(t=1)|r(t=2)|c?|ok:c|error:c",
        q.edited("r", "t", "c"),
    ),
    case(
        "data_intact, tool: r, field: t, after: c",
        "r(t=1)?|error:r|r(t=2)|c|c!",
        q.edited("r", "t", "c"),
    ),
    case(
        "data_intact, tool: r, field: 't.n', after: c",
        'r(t={"n":1})|r(t=1)|r(t=2)|r(t={})|c',
        q.edited("r", "t.n", "c"),
    ),
    case(
        "data_intact, tool: r, field: t, key: k",
        "r(t=1, k=1)|r(t=2, k=1)|r(t=2, k=2)|r(t=1)",
        q.edited("r", "t", key="k"),
    ),
    case(
        "data_intact, tool: r, field: t, after: c, key: k",
        "r(t=1, k=1)|r(t=2, k=1)|r(t=2, k=2)|c(k=1)",
        q.edited("r", "t", "c", key="k"),
    ),
    case(
        "data_intact, tool: r, field: t, after: c, counts: called",
        "r(t=1)!|r(t=2)|c!",
        q.edited("r", "t", "c", counted=q.anyway, frozen=q.anyway),
    ),
]
