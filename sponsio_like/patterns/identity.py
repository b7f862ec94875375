"""Identity, context, repetition: facts that a call needs, limits for equal calls, freshness.

Each function is a pattern; `contracts/declaration.py` tells what its arguments and decorator mean.
"""

from __future__ import annotations

from sponsio_like.contracts import (
    Counts,
    Duration,
    Field,
    Moment,
    Name,
    Natural,
    Regex,
    Rule,
    Scalars,
    Tools,
    counted_calls,
    pattern,
    whenever,
)
from sponsio_like.events import regex_searches, whole_or_anchored
from sponsio_like.logic.formula import Count, Ctx, Formula

ALL: tuple[Field, ...] = ("*",)


@pattern(
    "identity",
    "`{tool}` requires ctx[{key:=}]={values:=}",
    says=(
        "{tool:union} only (if | when | while) {key.values:told}",
        "{tool:union} REQUIRES [that] {key.values:told}",
        "NEVER_CALL {tool:every} unless {key.values:told}",
        "[AGENT MAY] only CALL {tool:union} (if | when | while) {key.values:told}",
        ("{tool:union} (MAY only BE_CALLED | ONLY_ALLOWED) (if | when | while) {key.values:told}"),
    ),
    keeps=("", "ctx:verified=true publish", "other"),
    breaks=("publish", "ctx:verified=false publish", 'ctx:verified="true" publish'),
    example={"tool": "publish", "key": "verified", "values": [True]},
)
def ctx_required(tool: Tools, key: Name, values: Scalars) -> Formula:
    """The fact `key` is one of `values` when `tool` is called; a fact never told is none.

    Values keep their type: `true` is not `"true"`.
    """
    return whenever(tool, Ctx(key).is_in(values))


@pattern(
    "identity",
    "`{tool}` requires {key:=} matching `{regex}`",
    says=(
        "for {tool:union} [,] CTX {key:key} MUST match {regex:text}",
        "{tool:union} REQUIRES CTX {key:key} to match {regex:text}",
        "{tool:union} REQUIRES [CTX] {key:key} matching {regex:text}",
        "{tool:union} REQUIRES [that] CTX {key:key} matches {regex:text}",
        (
            "{tool:union} (MAY only BE_CALLED if | ONLY_ALLOWED if | REQUIRES that) CTX "
            "{key:key} ((starts | begins) with {regex:prefix} | ends (in | with) "
            "{regex:suffix} | matches {regex:text})"
        ),
    ),
    keeps=("", 'ctx:caller="corp/finance" refund', "other"),
    breaks=("refund", 'ctx:caller="evil/corp/finance" refund', "ctx:caller=5 refund"),
    example={"tool": "refund", "key": "caller", "regex": "^corp/"},
)
def ctx_matches_required(tool: Tools, key: Name, regex: Regex) -> Formula:
    """The fact `key` is a text that matches, when `tool` is called.

    A pattern with `^` or `$`, but not both, is searched for; any other matches the whole text.
    """
    regex_searches(whole_or_anchored, (regex,))  # raises if it does not compile
    return whenever(tool, Ctx(key).matches(whole_or_anchored(regex)))


@pattern(
    "identity",
    "`{tool}` to same `{fields: and }` at most {limit} time(s)",
    says=(
        "[AGENT MAY] CALL {tool:tools} (to | for | with | on) SAME {fields:pairs} {limit:atmost}",
        "{tool:tools} MAY BE_CALLED {limit:atmost} (to | for | with | on) SAME {fields:pairs}",
        "{tool:tools} MAY only BE_CALLED {limit:count} (to | for | with | on) SAME {fields:pairs}",
        "{tool:tools} (to | for | with) SAME {fields:pairs} {limit:atmost}",
        "CALL {tool:tools} {limit:atmost} (to | for | with | on) SAME {fields:pairs}",
        "NEVER_CALL {tool:tools} {limit:excess} (to | for | with | on) SAME {fields:pairs}",
        (
            "NEVER_CALL {tool:tools} ({limit:excess} with the same arguments | with the same "
            "arguments {limit:excess})"
        ),
        (
            "there MUST_NOT be two [successful] {tool:name_calls} WITH_SAME {fields:pairs} "
            "{limit:single}"
        ),
        (
            "not counting (failures | failed calls | failed ones) [,] {tool:tools} MAY "
            "BE_CALLED {limit:atmost} WITH_SAME {fields:pairs}"
        ),
        (
            "NEVER (send | make) more than {limit:number} {tool:names} (to | for | with) "
            "SAME {fields:pairs}"
        ),
    ),
    keeps=("", 'mail(to="a") mail(to="b")', 'mail(to="a")! mail(to="a")', "other other"),
    breaks=('mail(to="a") mail(to="a")', 'mail(to="a") other mail(to="a", n=2)', "mail"),
    example={"tool": "mail", "fields": ["to"]},
)
def duplicate_call_limit(
    tool: Tools,
    fields: tuple[Field, ...] = ALL,
    limit: Natural = 1,
    counts: Counts = "done",
) -> Rule:
    """The same tool is called at most `limit` times with equal `fields`; failures do not count.

    Each tool of a list or a glob counts for itself. A call without one of the fields violates.
    """
    several = len(tool) > 1 or len(tool[0].names) != 1 or bool(tool[0].globs)
    by = ("@tool", *fields) if several else fields
    return Rule(whenever(tool, Count(counted_calls(tool, counts)) <= limit), by=by)


@pattern(
    "identity",
    "`{action}` within {max_seconds}s of `{event}`",
    says=(
        "{action:names} only within {max_seconds:seconds} (of | after) {event:tools}",
        "{action:names} within {max_seconds:seconds} of {event:tools}",
        (
            "{action:every} (MAY only BE_CALLED | MAY BE_CALLED only | ONLY_ALLOWED) within "
            "{max_seconds:seconds} (of | after) [the latest | the last | the most recent] "
            "{event:tools}"
        ),
        (
            "[AGENT MAY] only CALL {action:tools} within {max_seconds:seconds} (of | after) "
            "{event:tools}"
        ),
        (
            "{action:every} MUST (come | BE_CALLED) (at most {max_seconds:seconds} after | "
            "within {max_seconds:seconds} of) (the latest | the last | the most recent) "
            "[call of | call to] {event:tools}"
        ),
    ),
    keeps=("", "ask act", "ask +60s act", "ask +100s ask act"),
    breaks=("act", "ask +61s act", "ask act +61s act"),
    example={"action": "act", "event": {"called": "ask"}, "max_seconds": 60},
)
def time_since(action: Tools, event: Moment, max_seconds: Duration) -> Formula:
    """`action` is called at most `max_seconds` after the latest `event`; never without one.

    An event is a tool, `{called: ..}`, `{done: ..}`, `{fact: key}` (told), or `{message: role}`.
    """
    return whenever(action, event <= max_seconds)
