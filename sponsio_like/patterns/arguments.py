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

SESSION = default("session")


@pattern(
    "arguments",
    "`{tool}` `{field}` must not contain `{patterns: or }`",
    says=(
        (
            "({patterns:searched} | {patterns:spelled}) MUST_NOT (appear | occur | show up | "
            "stand) in {tool.field:place}"
        ),
        (
            "NEVER let {tool.field:place} (contain | include | mention) ({patterns:searched} "
            "| {patterns:spelled})"
        ),
        (
            "{tool:every} MUST_NOT (be given | get | receive | take) [a | an] {field:field} "
            "(containing | that contains | with) ({patterns:searched} | {patterns:spelled})"
        ),
        (
            "{tool.field:place} MUST_NOT (contain | include | mention) ({patterns:searched} "
            "| {patterns:spelled})"
        ),
        "NEVER_CALL {tool:every} with {patterns:searched} in [its | the] {field:field}",
        (
            "NEVER_CALL {tool:names} with [a | an | its] {field:field} (containing | that "
            "contains | matching | that matches) {patterns:searched}"
        ),
        (
            "NEVER_CALL {tool:names} (if | when) [its | the] {field:field} (contains | "
            "matches) {patterns:searched}"
        ),
        (
            "{tool:every} MUST_NOT (contain | include | mention) {patterns:searched} in [its | "
            "the] {field:field}"
        ),
        "{tool.field:place} MUST_NOT match {patterns:texts}",
        "{tool.field:place} MUST_NOT be {patterns:exactly}",
    ),
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
    and ends of lines may stand. Texts in lists and objects count, and so do keys of objects (of the
    field `*`, the names of arguments); a list of words is also read as one line.
    """
    regex_searches(blank_tolerant, patterns)  # raises for those that do not compile
    refuse_match_all(blank_tolerant, patterns, ("",), "to forbid the call write `G !called(..)`")
    return whenever(tool, ~Custom("arg_contains", (field, patterns)))


@pattern(
    "arguments",
    "`{tool}` `{field}` must match `{patterns: or }`",
    says=(
        "{tool.field:place} MUST match {patterns:texts}",
        (
            "{tool.field:place} (MUST be [one of | either] | MAY only be [one of | either]) "
            "{patterns:exact}"
        ),
        "{tool.field:place} MUST (start | begin) with {patterns:prefixes}",
        "{tool.field:place} MUST (end with | end in) {patterns:suffixes}",
        "{tool.field:place} MUST be one of {patterns:any_of}",
        "{tool.field:place} matches {patterns:texts}",
    ),
    keeps=("", 'post(url="https://api.corp/x")', "other"),
    breaks=("post", 'post(url="https://evil/?https://api.corp/")', "post(url=5)"),
    example={"tool": "post", "field": "url", "patterns": [r"^https://api\.corp/"]},
)
def arg_allowlist(tool: Tools, field: Field, patterns: tuple[Regex, ...]) -> Formula:
    """The field matches one of `patterns` (of a list: each text in it); a missing one violates.

    `{tool: send, missing: skip}`: a call without the field passes. A pattern with `^` or `$`, but
    not both, is searched for; any other matches the whole text.
    """
    regex_searches(whole_or_anchored, patterns)  # raises for those that do not compile
    refuse_match_all(
        whole_or_anchored, patterns, (*ODD_TEXTS, "a\nb"), "for some text, whatever it is: `(?s).*`"
    )
    return having(tool, field, Custom("arg_allowed", (field, patterns)))


@pattern(
    "arguments",
    "`{tool}.{field}` at most {max_chars} chars",
    says=(
        "{tool.field:place} MUST_BE NO_LONGER_THAN {max_chars:number} CHARS",
        "{tool.field:place} [MUST (have | be) | MAY have] {max_chars:most} CHARS [long]",
        (
            "{tool.field:place} MUST_NOT (be longer than | exceed | have more than | be "
            "more than) {max_chars:number} CHARS [long]"
        ),
        "{tool.field:place} MUST be shorter than {max_chars:less} CHARS",
        "{tool.field:place} MAY have {max_chars:number} CHARS at most",
        "{max_chars:most} CHARS are (allowed | permitted) in {tool.field:place}",
    ),
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
    says=(
        "{tool.field:place} MUST_BE {max:number} or (less | lower | below | under | smaller)",
        (
            "{tool.field:place} MUST_BE {min:number} or (more | higher | above | over | larger "
            "| greater)"
        ),
        "{tool.field:place} [MUST (be | stay)] AT_LEAST {min:number} and AT_MOST {max:number}",
        "{tool.field:place} [MUST (be | lie | stay)] between {min:number} and {max:number}",
        (
            "{tool.field:place} MUST (be | lie | range | go) from {min:number} (to | "
            "through) {max:number}"
        ),
        "{tool.field:place} [MUST_BE] {min:number} through {max:number}",
        (
            "{tool:every} (takes | accepts | MAY only take) (a | an) {field:field} (of | "
            "from | between) {min:number} through {max:number} [[,] nothing else]"
        ),
        (
            "{tool.field:place} MUST_NOT (be | go) (below | less than | lower than | under) "
            "{min:number} or (above | more than | over | higher than) {max:number}"
        ),
        "{tool.field:place} [MUST_BE | MUST stay] AT_MOST {max:number}",
        "{tool.field:place} MUST_NOT be negative {min:zero}",
        (
            "{tool.field:place} MUST_NOT (exceed | be more than | be greater than | be "
            "larger than | be higher than | be above | be over | go above) {max:number}"
        ),
        "{tool.field:place} [MUST be] AT_LEAST {min:number}",
        (
            "{tool.field:place} MUST_NOT be (less than | lower than | smaller than | below "
            "| under) {min:number}"
        ),
        (
            "{tool.field:place} is (between {min:number} and {max:number} | AT_MOST "
            "{max:number} | AT_LEAST {min:number})"
        ),
        (
            "{tool.field:place} MAY be ({max:number} (at most | at the most | at maximum | "
            "tops) | AT_MOST {max:number})"
        ),
    ),
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
    says=(
        (
            "{tool.field:summed} TOGETHER ([MUST_BE | MUST stay] AT_MOST | MUST_NOT (exceed | "
            "be more than | go above | be over)) {total:number} [{per:window}]"
        ),
        (
            "[the] (total | sum of [the]) {tool.field:place} (is | MUST be) (limited to | "
            "capped at) {total:number} [{per:window}]"
        ),
        (
            "(per | for each | for every) {by:pairs} [,] [the] (total | sum of [the]) "
            "{tool.field:place} [MUST_BE | MUST stay] AT_MOST {total:number} [{per:window}]"
        ),
        (
            "[the] (total | sum of [the]) {tool.field:place} [MUST_BE | MUST stay] AT_MOST "
            "{total:number} [{per:window}] (per | for each | for every) {by:pairs}"
        ),
        (
            "[the] (total | sum of [the]) {tool.field:place} [MUST_BE | MUST stay] AT_MOST "
            "{total:number} [{per:window}]"
        ),
        (
            "[the] (total | sum of [the]) {tool.field:place} MUST_NOT (exceed | be more than "
            "| go above | be over) {total:number} [{per:window}]"
        ),
        (
            "{tool.field:place} (MAY add up to AT_MOST | MUST_NOT add up to more than) "
            "{total:number} [{per:window}]"
        ),
        (
            "{per:window} [,] ({tool.field:place} (MAY add up to AT_MOST | MUST_NOT add up "
            "to more than) | [the] (total | sum of [the]) {tool.field:place} ([MUST_BE | "
            "MUST stay] AT_MOST | MUST_NOT (exceed | be more than | go above | be over))) "
            "{total:number}"
        ),
    ),
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
    values. A missing or negative amount violates, and what is no number.
    `{tool: pay, missing: skip}`: a call without the field passes, and adds nothing.
    """
    sums = Sum(optional(tool), field, per) <= total
    each = sums & Custom("arg_between", (field, 0, None))
    return Rule(having(tool, field, each), by=by or (), cap=True)


@pattern(
    "arguments",
    "`{tool}.{field}` must not be edited after `{after}`",
    "`{tool}.{field}` must not be edited",
    says=(
        (
            "{tool.field:place} MUST_NOT (change | be changed | be edited | be modified | be "
            "altered) [after {after:tools} | from one call to the next | between calls]"
        ),
        (
            "{tool.field:place} MUST (stay | remain) the same [after {after:tools} | from "
            "one call to the next | between calls]"
        ),
        "{tool.field:place} MUST (stay | remain) (unchanged | unedited) [after {after:tools}]",
        (
            "(after | once) [CALLING] {after:tools} [OK] [,] {tool.field:place} (MUST_NOT "
            "(change | be changed | be edited | be modified | be altered) | MUST (stay | "
            "remain) (the same | unchanged | unedited))"
        ),
    ),
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
    of `after` that lacks it violates, since nobody could tell what it is about. `*` is all
    arguments together.
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
    return Rule(whole, by=(key,) if key else ())
