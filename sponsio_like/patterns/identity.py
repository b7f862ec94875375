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
from sponsio_like.patterns.phrasings import PHRASINGS

ALL: tuple[Field, ...] = ("*",)


@pattern(
    "identity",
    "`{tool}` requires ctx[{key:=}]={values:=}",
    says=PHRASINGS["ctx_required"],
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
    says=PHRASINGS["ctx_matches_required"],
    keeps=("", 'ctx:caller="corp/finance" refund', "other"),
    breaks=("refund", 'ctx:caller="evil/corp/finance" refund', "ctx:caller=5 refund"),
    example={"tool": "refund", "key": "caller", "regex": "^corp/"},
)
def ctx_matches_required(tool: Tools, key: Name, regex: Regex) -> Formula:
    """The fact `key` is a text that matches, when `tool` is called.

    A pattern with `^`, and no `$`, has to match from the beginning of the text, one with `$` alone
    up to its end; any other matches the whole text.
    """
    regex_searches(whole_or_anchored, (regex,))  # raises if it does not compile
    return whenever(tool, Ctx(key).matches(whole_or_anchored(regex)))


@pattern(
    "identity",
    "`{tool}` to same `{fields: and }` at most {limit} time(s)",
    says=PHRASINGS["duplicate_call_limit"],
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
    "`{action}` within {max_seconds}s of a call of `{event.called}`",
    "`{action}` within {max_seconds}s of `{event}`",
    says=PHRASINGS["time_since"],
    keeps=("", "ask act", "ask +60s act", "ask +100s ask act"),
    breaks=("act", "ask +61s act", "ask act +61s act", "ask! act", "ask? act"),
    example={"action": "act", "event": "ask", "max_seconds": 60},
)
def time_since(action: Tools, event: Moment, max_seconds: Duration) -> Formula:
    """`action` is called at most `max_seconds` after the latest `event`; never without one.

    An event is a tool (a call that succeeded), `{called: ..}` (a try, too), `{done: ..}`, `{fact:
    key}` (told), or `{message: role}`.
    """
    return whenever(action, event <= max_seconds)
