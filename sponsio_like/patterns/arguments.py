"""Arguments: the values that calls may have, and how long or large they may be.

Each function is a pattern; `contracts/declaration.py` tells what its arguments and decorator mean.
"""

from __future__ import annotations

from sponsio_like.contracts import (
    Counts,
    Field,
    Natural,
    Number,
    NumberField,
    Regex,
    Rule,
    Tools,
    Window,
    counted_calls,
    default,
    earlier,
    having,
    optional,
    pattern,
    whenever,
    worked,
)
from sponsio_like.errors import ContractError
from sponsio_like.events import (
    ODD_TEXTS,
    blank_tolerant,
    refuse_match_all,
    regex_searches,
    whole_or_anchored,
)
from sponsio_like.logic.formula import Custom, Formula, Last, Mark, Sum
from sponsio_like.patterns.phrasings import PHRASINGS

SESSION = default("session")


@pattern(
    "arguments",
    "`{tool}` `{field}` must not contain `{patterns: or }`",
    says=PHRASINGS["arg_blacklist"],
    keeps=("", 'bash(command="ls -l")', "bash", 'other(command="rm -rf /")'),
    breaks=(
        'bash(command="rm -rf /")',
        'bash(command="rm   -rf /")',
        'bash(command=["rm", "-rf", "/"])',
        'bash(command={"run": "rm -rf /"})',
    ),
    example={"tool": "bash", "field": "command", "patterns": ["rm -rf"]},
)
def arg_blacklist(tool: Tools, field: Field, patterns: tuple[Regex, ...]) -> Formula:
    """The texts inside the field match none of `patterns`; a call without the field passes.

    Patterns are searched for in the text as it is; where a pattern has a blank, any run of blanks
    and ends of lines may stand, and so they may behind `^` and before `$`. Texts in lists and
    objects count, and so do keys of objects (of the field `*`, the names of arguments); a list of
    words is also read as one line.
    """
    regex_searches(blank_tolerant, patterns)  # raises for those that do not compile
    refuse_match_all(blank_tolerant, patterns, ("",), "to forbid the call write `G !called(..)`")
    return whenever(tool, ~Custom("arg_contains", (field, patterns)))


@pattern(
    "arguments",
    "`{tool}` `{field}` must match `{patterns: or }`",
    says=PHRASINGS["arg_allowlist"],
    keeps=("", 'post(url="https://api.corp/x")', "other"),
    breaks=("post", 'post(url="https://evil/?https://api.corp/")', "post(url=5)"),
    example={"tool": "post", "field": "url", "patterns": [r"^https://api\.corp/"]},
)
def arg_allowlist(tool: Tools, field: Field, patterns: tuple[Regex, ...]) -> Formula:
    """The field matches one of `patterns` (of a list: each text in it); a missing one violates.

    `{tool: send, missing: skip}`: a call without the field passes. A pattern with `^`, and no
    `$`, has to match from the beginning of the text, one with `$` alone up to its end; any other
    matches the whole text.
    """
    regex_searches(whole_or_anchored, patterns)  # raises for those that do not compile
    refuse_match_all(
        whole_or_anchored, patterns, (*ODD_TEXTS, "a\nb"), "for some text, whatever it is: `(?s).*`"
    )
    return having(tool, field, Custom("arg_allowed", (field, patterns)))


@pattern(
    "arguments",
    "`{tool}.{field}` at most {max_chars} chars",
    says=PHRASINGS["arg_length_limit"],
    keeps=("", 'sql(query="12345")', "sql", 'other(query="123456")'),
    breaks=('sql(query="123456")', 'sql(query=["123", "456"])'),
    example={"tool": "sql", "field": "query", "max_chars": 5},
)
def arg_length_limit(tool: Tools, field: Field, max_chars: Natural) -> Formula:
    """The field has at most `max_chars` characters; a call without the field passes.

    Of a list or an object, all that is in it counts together: texts, keys and numbers.
    """
    return whenever(tool, Custom("arg_length", (field, max_chars)))


@pattern(
    "arguments",
    "`{tool}.{field}` between {min} and {max}",
    "`{tool}.{field}` at most {max}",
    "`{tool}.{field}` at least {min}",
    says=PHRASINGS["arg_value_range"],
    keeps=("", "pay(amount=0)", "pay(amount=100)", "other", "other(amount=500)"),
    breaks=(
        "pay(amount=101)",
        "pay(amount=-1)",
        "pay",
        'pay(amount="50")',
        "pay(amount=NaN)",
        "pay(amount=true)",
    ),
    example={"tool": "pay", "field": "amount", "min": 0, "max": 100},
)
def arg_value_range(
    tool: Tools,
    field: NumberField,
    min: Number | None = None,  # noqa: A002  the word of contract files
    max: Number | None = None,  # noqa: A002  the word of contract files
) -> Formula:
    """The field is a number from `min` to `max`; missing, NaN or no number violates.

    `{tool: pay, missing: skip}`: a call without the field passes.
    """
    if min is None and max is None:
        raise ContractError.of("`min` or `max` is needed", "write max: 500")
    if min is not None and max is not None and min > max:
        raise ContractError.of(f"`min` {min} is above `max` {max}", "then no call could pass")
    return having(tool, field, Custom("arg_between", (field, min, max)))


@pattern(
    "arguments",
    "total `{tool}.{field}` at most {total}",
    "total `{tool}.{field}` at most {total} per {per.seconds} seconds",
    "total `{tool}.{field}` at most {total} per {per.steps} steps",
    says=PHRASINGS["amount_limit"],
    keeps=("", "pay(amount=60) pay(amount=40)", "pay(amount=0.1) pay(amount=99.9)", "other"),
    breaks=(
        "pay(amount=60) pay(amount=41)",
        "pay(amount=60)? pay(amount=60)?",
        "pay(amount=60)! pay(amount=60)",
        "pay",
        'pay(amount="5")',
        "pay(amount=-1)",
    ),
    example={"tool": "pay", "field": "amount", "total": 100},
)
def amount_limit(
    tool: Tools,
    field: NumberField,
    total: Number,
    per: Window = SESSION,
    by: tuple[Field, ...] | None = None,
) -> Rule:
    """The amounts of all calls of `tool` together are at most `total`; tries count, exactly.

    In the session, or in any sliding window (`per`); with `by`, for each combination of these
    values; a call with a list of several at one of these fields, or an object, violates. A missing
    or negative amount violates, and what is no number.
    `{tool: pay, missing: skip}`: a call without the field passes, and adds nothing.
    """
    sums = Sum(optional(tool), field, per) <= total
    each = sums & Custom("arg_between", (field, 0, None))
    return Rule(having(tool, field, each), by=by or (), cap=True, single=True)


@pattern(
    "arguments",
    "`{tool}.{field}` must not be edited after `{after}`",
    "`{tool}.{field}` must not be edited",
    says=PHRASINGS["data_intact"],
    keeps=(
        "",
        'report(text="a") report(text="b") check',
        'report(text="a") check report(text="a") report(text="a")',
        'report(text="a") check report(text="a")! report(text="a")',
        'report(text="a") report(text="b")! check report(text="a")',
    ),
    breaks=(
        'report(text="a") check report(text="b")',
        'report(text="a") check report',
        'report(text="a") check? ok:check report(text="b")',
        'check report(text="a") report(text="b")',
    ),
    example={"tool": "report", "field": "text", "after": "check"},
    whose={"field": "tool"},
)
def data_intact(
    tool: Tools,
    field: Field = "*",
    after: Tools | None = None,
    key: Field | None = None,
    counts: Counts = "done",
) -> Rule:
    """The field keeps its value: that of the last call of `tool` that has not failed.

    With `after`, the value that it had when the `after` that succeeded last was called; if there
    was none by then, that of the last call since. With `key`, for each value of that field; a call
    with a list of several there, or an object, violates, and so does a call of `after` that lacks
    it, since nobody could tell what it is about. `*` is all arguments together.
    """
    put, value = counted_calls(tool, counts), Mark(field)
    last = Last(value, put)
    if after is None:
        kept = ~earlier(put) | value.equals(last)
    else:
        frozen = worked(after, counts)
        known = earlier(frozen & earlier(put))
        kept = (
            ~earlier(frozen)
            | (known & value.equals(Last(last, frozen)))
            | (~known & (~earlier(put) | value.equals(last)))
        )
    whole = whenever(tool, kept)
    if after is not None and key:  # no monitor sees a call without its key (S-KEY-03)
        whole &= whenever(after, Mark(key).equals(Mark(key)))
    return Rule(whole, by=(key,) if key else (), single=True)
