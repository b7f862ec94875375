"""Reads guarantees that are written as a sentence, as a whole or not at all.

In: "tool `check` must precede `pay`", "never call pay before check". Out: the `Rule` of the pattern
that says so, under a condition where the sentence has one. The pattern's own sentence is read
first, by its template; any other by the grammar of `prose`, which finds every reading. Readings
that mean the same are one; where two mean different things, the sentence is refused with both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import sponsio_like.logic.formula as f
from sponsio_like.contracts.circumstances import tool_test
from sponsio_like.contracts.declaration import CATALOG, Pattern, Rule, catalog
from sponsio_like.contracts.demands import circumstance, demanded_where, same_meaning
from sponsio_like.contracts.prose import Near, Reading, nearest, on_topic, sayings
from sponsio_like.contracts.targets import NOTHING, Vocabulary
from sponsio_like.contracts.templates import arguments
from sponsio_like.contracts.typed_fields import asks_an_amount, conditions_in, has_fact
from sponsio_like.errors import ContractError

LENGTH_CAP = 4_000
"""The longest sentence that is read, in characters, where it is not word for word a pattern's."""

TIME = r"[\w.,]+[ -](?:second|minute|hour|day|week)s?"
FAILS = r"\bfail(?:s|ed|ures?)\b"
SOON = r"\bwithin [\w.,]+ (?:step|call)s?\b"
OTHERWISE = (
    (
        rf"^(?!.*\b(?:not|never|no|without)\b|.*n't\b)(?:.*{FAILS}.*{SOON}|.*{SOON}.*{FAILS})",
        (
            "of failures, write the formula {ltl: 'G(failed(FIRST) -> X F[<=4] called(NEXT))'}, "
            "which says “within 5 steps”"
        ),
    ),
    (
        (
            rf"{FAILS} (?:twice|(?:2|two) times)\b(?!.*\b(?:same|repeat|retry)\b)"
            r"|^(?!.*\b(?:same|repeat|retry)\b).*\b(?:two|2) failures of\b"
        ),
        (
            "the second failure, whatever the arguments: {ltl: 'G(failed(TOOL) & Y O failed(TOOL)"
            " -> F done(NEXT))'}, or {ltl: 'G(called(TOOL) -> !Y O(failed(TOOL) & Y O "
            "failed(TOOL)))'}; of the same call: “`TOOL` must not be repeated after 2 failures”"
        ),
    ),
    (
        (
            rf"\bsame `[^`]+`,? within {TIME}\W*$|\bper `[^`]+`,? within {TIME}\W*$"
            rf"|\bper {TIME},? for (?:the same|each|every) `[^`]+`\W*$"
        ),
        (
            "write “tool `TOOL` cooldown of 600 seconds for the same `FIELD`”, or for more than "
            "one {pattern: rate_limit, action: TOOL, limit: 2, per: {seconds: 600}, by: [FIELD]}"
        ),
    ),
    (
        r"\bafter the (?:last|latest) `|\bafter `[^`]+` and before `",
        "write “no `LATER` after `CHANGE` until `CHECK`”: each change asks for a new check",
    ),
    (
        r"\bmust not (?:end|start|begin) (?:with|in)\b",
        "write “the `FIELD` of `TOOL` must not match `REGEX`”, with `^` or `$`",
    ),
    (
        rf"\b(?:unless|except|only)\b.*\bwithin {TIME} (?:of|after)\b",
        "write “`LATER` only within 10 minutes of `EARLIER`”, or “.. of a user message”",
    ),
    (
        r"^(?!.*\b(?:not|no|never|n't)\b).*\bolder than\b|\b(?:younger|newer|more recent) than\b",
        (
            "a date that has to be older is compared by the formula "
            "{ltl: 'G(called(TOOL) -> !arg_dated(\"FIELD\", SECONDS, 1000000000000))'}"
        ),
    ),
    (
        (
            r"\b(?:exceed|at most|more than|greater than|above|over|equal) (?:to )?(?:the |its )?"
            r"`[^`]+` (?:of|from|in|that|returned by|found by)\b"
        ),
        (
            "an earlier answer is compared by a formula: {ltl: 'G(called(TOOL, id = $x) -> "
            "arg(FIELD) <= last(output(FIELD), done(EARLIER, id = $x)))'}"
        ),
    ),
    (
        r"\bagents? (?:with|in|of|having) (?:the |a )?role\b",
        "the host gives a role as a permission: “only agents with permission `ROLE` may call ..”",
    ),
    (
        r"\bat most [\w,]+ (?:elements|items|entries)\b|\bat most [\w,]+ `[^`]+`\W*$",
        "the length of a list is in no contract; declare an atom of your own (docs/own-rules.md)",
    ),
    (
        (
            r"(?:^.*\S at most [\d,]+ `?(?!UNIT)[a-z_]+s`?|^at most [\d,]+ `?(?!UNIT)[a-z_]+s`? "
            r"(?:in|of) `[^`]+`)[\s.]*$"
        ).replace("UNIT", r"(?:time|call|step|second|minute|hour|day|week|retr|fail|refus|token)"),
        (
            "the length of a list is in no contract; declare an atom of your own "
            "(docs/own-rules.md); of calls, write “tool `TOOL` at most N times”"
        ),
    ),
    (
        r"\b(?:never|not|don't|no) .* or .*\b(?:twice|again|more (?:often )?than)\b",
        (
            "each of them, or both together? write a sentence for each, or “tool `A` or `B` at "
            "most N times”, which counts them together"
        ),
    ),
    (
        (
            r"\bonly (?:(?:ever )?(?:call|use|run|invoke|allow)|be (?:called|used|run)|with)\b"
            r"(?!.*\b(?:after|if|when|once|within)\b)(?=.*\bwith\b)"
        ),
        (
            "“only” may mean this tool or these arguments: write “call no tool but TOOL with ..”, "
            "or what must be: “the FIELD of TOOL must be ..”"
        ),
    ),
    (
        (
            r"\bat least once\b|\bat the end\b|\bthe last call\b|"
            r"\b(?:session|conversation|run) (?:ends|must end with)\b"
        ),
        "write the formula {ltl: 'F done(TOOL)'}: the end of the session tells what is missing",
    ),
    (
        (
            r"^(?!.*\b(?:unless|except|but|only|more than|at most|(?:not|n't) within)\b)"
            rf".*\b(?:never|not|don't|no)\b.*\b(?:within|less than|sooner than) {TIME} "
            r"(?:of|after)\b"
        ),
        (
            "within that time before it, or after? write “never call `LATER` within 10 minutes "
            "after `EARLIER`”; of another field each “.. for the same `FIELD`”"
        ),
    ),
    (
        (
            r"\btimes (?:per|for (?:each|every)) "
            r"(?!(?:second|minute|hour|day|week|session|call|step)s?\b)[a-z_]+\b"
        ),
        "put the field into backquotes: “`TOOL` at most N times per `FIELD`”",
    ),
    (
        r"^\s*(?:in|on) (?:prod\w*|staging|test\w*|dev\w*)\b",
        "write the condition as a fact that the host gives: “if ctx env is prod, ..”",
    ),
    (
        r"\b(?:same time|in parallel|concurrently|simultaneously)\b|\bwhile .* (?:is )?running\b",
        "no contract tells which calls run at the same time; let the host run them one by one",
    ),
    (
        r"\bnot be (?:on )?(?:an? |the )?(?:weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
        "declare it a `date`, and write {tool: .., args: {FIELD: {weekday: [saturday, sunday]}}}",
    ),
    (
        r"\b(?:weekends?|business hours|office hours|at night|\d\d?:\d\d|[ap]\.?m\.?)\b",
        "the time of day is no sentence: let the host give a fact, “if ctx open is no, ..”",
    ),
)
"""Expressions for what no pattern says, and what is written instead."""


BARE_AMOUNT = re.compile(
    r"\s*(?:at most|no more than|up to|max(?:imum)?) ([\d,]+) `?([a-z_]+)`?[\s.]*", re.IGNORECASE
)
BARE_TEXT = re.compile(
    r"\s*(?:the )?`([^`]+)`(?: (?:of|in) `([^`]+)`)? (?:must|should|has to) be "
    r"([A-Za-z][\w-]*)[\s.]*",
    re.IGNORECASE,
)
"""“At most 20 attendees”, “`level` must be view”: of which tool, and is it a text?"""
CONDITION = re.compile(
    r"^\s*(?:if|when|whenever|unless|while|where|as long as)\b[^,]*,|,? (?:if|when|unless)\b.*",
    re.IGNORECASE | re.DOTALL,
)
"""A condition in front of a demand, or behind it."""
APART = {
    "time_since": " (it is called only then)",
    "deadline": " (it has to be called then)",
}
"""The words that tell the sentences of two patterns apart where these sound alike."""
EACH = re.compile(r"\b(?:before|preced\w+) (?:each|every)\b|\beach\b", re.IGNORECASE)
"""The words that may ask for an earlier call of its own for each call."""


def read_sentence(sentence: str, words: Vocabulary = NOTHING) -> Rule:
    """Return the rule that a sentence states. Raises `ContractError` with the closest sentences."""
    for declared, given in readings(sentence):
        return declared.rule(given, words)
    if len(sentence) > LENGTH_CAP:
        what = f"a sentence of {len(sentence)} characters is not understood"
        raise ContractError.of(what, f"write at most {LENGTH_CAP}, or a pattern")
    found = meanings(sentence, words)
    if len(found) > 1:
        raise _two_things(sentence, *found[:2])
    if found:
        return found[0]
    raise ContractError.of(f"“{sentence.strip()}” is not understood", _instead(sentence, words))


def _two_things(sentence: str, first: Rule, second: Rule) -> ContractError:
    """Return the error for two meanings, with the words between the names that can have both."""
    shown = (f"“{each.sentence}”{APART.get(each.pattern, '')}" for each in (first, second))
    said = _linking(sentence, first.sentence)
    what = f"“{sentence.strip()}” can mean two things"
    return ContractError.of(
        f"{what}: “{said}” has both meanings" if said else what, f"write {' or '.join(shown)}"
    )


def _linking(sentence: str, meant: str) -> str:
    """Return the words of a sentence between the names that the sentence `meant` has in backquotes;
    without a condition in front or behind. Empty if there are none.
    """
    names = sorted(set(re.findall(r"`([^`]+)`", meant)), key=len, reverse=True)
    found = "|".join(map(re.escape, names))
    if not names:
        return ""
    demand = CONDITION.sub("", sentence)
    parts = re.split(rf"[`\"“]?(?<![\w-])(?:{found})(?![\w-])[`\"”]?", demand)[1:-1]
    return " .. ".join(each for part in parts if (each := part.strip(" ,")))


def _instead(sentence: str, words: Vocabulary) -> str:
    """Return what may be written instead of a sentence that is not understood."""
    for said, hint in OTHERWISE:
        if re.search(said, sentence, re.IGNORECASE):
            return hint
    if hint := _of_a_field(sentence, tool_test(words)):
        return hint
    if near := " or ".join(f"“{each}”" for each in closest_sentences(sentence, words)):
        return f"did you mean {near}?"
    return "`sponsio-like patterns` lists what can be said, with the sentence of each"


def _of_a_field(sentence: str, is_tool: Callable[[str], bool]) -> str:
    """Return what is written of a field whose tool, or whose text, is not said as such."""
    if (found := BARE_AMOUNT.fullmatch(sentence)) is not None:
        number, noun = found.groups()
        if is_tool(noun) or is_tool(noun.removesuffix("s")):
            return ""
        return (
            f"of a number that calls have: “the `FIELD` of `TOOL` must be at most {number}”; of "
            f"calls: “tool `TOOL` at most {number} times”; the length of a list is in no contract"
        )
    if (found := BARE_TEXT.fullmatch(sentence)) is not None:
        field, tool, text = found.groups()
        if is_tool(field) or (tool is None and re.search("(?:ed|en|ing)$", text)):
            return ""
        return f'write “the `{field}` of `{tool or "TOOL"}` must be "{text}"”'
    return ""


def readings(sentence: str) -> Iterator[tuple[Pattern, dict[str, Any]]]:
    """Yield every pattern that has this very sentence, with its arguments."""
    for declared in catalog():
        for template in declared.sentences:
            given = arguments(template, sentence)
            if given is not None:
                yield declared, given


# --- every reading --------------------------------------------------------------------------------


def meanings(sentence: str, words: Vocabulary = NOTHING) -> list[Rule]:
    """Return the rules that a sentence can mean: one for each meaning, in the shortest words.

    Raises the `ContractError` of a reading whose arguments are wrong, if no other reading is left.
    """
    found: list[Rule] = []
    wrong: ContractError | None = None
    for said in sayings(sentence, phrasings(), tool_test(words)):
        try:
            rule = _unmistaken(sentence, _rule(said, words), words)
            _check_each(sentence, said, rule)
            found.append(rule)
        except ContractError as error:
            if wrong is None or said.name == "absent":  # a field to be declared comes first
                wrong = error
    if not found and wrong is not None:
        raise wrong
    found.sort(key=lambda rule: (not rule.pattern, len(rule.sentence)))
    different: list[Rule] = []
    for rule in found:
        if not any(same_meaning(rule, other) for other in different):
            different.append(rule)
    return different


def phrasings() -> tuple[tuple[str, str], ...]:
    """Return the phrasings of all patterns, each with the name of its pattern."""
    return _phrasings(tuple(CATALOG))


@cache
def _phrasings(_: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((each.name, text) for each in catalog() for text in each.says)


def _rule(said: Reading, words: Vocabulary) -> Rule:
    """Return the rule of one reading. Raises `ContractError` for arguments that are wrong."""
    given = {key: _with_field(each, words) for key, each in said.arguments.items()}
    if said.name == "scope_limit" and "fields" not in given:
        given["fields"] = [_of_kind("path", given["tool"], words)]
    if said.name == "host_allowlist" and "field" not in given:
        given["field"] = _of_kind("url", given["tool"], words)
    rule = CATALOG[said.name].rule(given, words)
    if said.currency and asks_an_amount(rule.formula):
        what = f"the currency {said.currency} is a demand of its own, where the field is money"
        hint = "leave it out, and write a second guarantee: .. must be in currency "
        raise ContractError.of(what, f'{hint}"{said.currency}"')
    if said.currency and not _asks_a_number(rule.formula):
        what = f"{said.currency} are an amount, and this counts: {rule.sentence}"
        hint = "name the field: “total `TOOL.FIELD` at most N per SECONDS seconds”"
        raise ContractError.of(what, hint)
    if said.signs:
        text = re.sub(r"([.^$*+?{}()|\[\]])", r"\\\1", said.signs)
        what = f"`{said.signs}` may be this very text, or a regular expression"
        hint = f"write `{text}` for the text, “must not match” for the expression"
        raise ContractError.of(what, hint)
    if said.when is None:
        return rule
    how, what = said.when
    when, text = circumstance(how, what, words, forbids=said.name == "absent")
    formula = demanded_where(when, rule.formula, how)
    conditional = f"{text}, {rule.sentence}"
    return replace(rule, formula=formula, sentence=conditional, pattern="", arguments={}, cap=False)


def _asks_a_number(formula: f.Formula) -> bool:
    """True if the formula compares an argument of a call with something, or adds it."""
    if any(True for _ in conditions_in([formula])):
        return True
    nodes = f.postorder(formula)
    return any(
        isinstance(node, f.Arg | f.Sum) or (isinstance(node, f.Custom) and node.name[:4] == "arg_")
        for node in nodes
    )


def _check_each(sentence: str, said: Reading, rule: Rule) -> None:
    """Raise `ContractError` for “before each”: one earlier call may serve all, or none but one."""
    bare = re.sub(r"`[^`]*`", "``", sentence)
    if said.name not in ("must_precede", "required_steps_completion") or not EACH.search(bare):
        return
    match said.arguments:
        case {"first": str(first), "then": str(then)}:
            anew = f"“take a new `{first}` before each `{then}`”"
        case _:
            anew = "{pattern: backup_before_destructive, backup: .., action: ..}"
    what = f"“{sentence.strip()}” can mean two things: “{EACH.findall(bare)[0]}” has both meanings"
    hint = f"write “{rule.sentence}” if one serves all that follow, or {anew} if each needs its own"
    raise ContractError.of(what, hint)


def _unmistaken(sentence: str, rule: Rule, words: Vocabulary) -> Rule:
    """Return the rule. Raises `ContractError` if a text that it compares a field with stands in
    backticks, and is the name of another field of the tool.
    """
    matches = tuple(f.matches_in([rule.formula]))
    fields = {name for tool in words.meant(matches) for name in words.kinds_of(tool)}
    for path, text in _texts_compared(rule.formula):
        if text in fields - {path} and f"`{text}`" in sentence:
            what = f"`{text}` may be this very text, or the field of that name"
            formula = f"G(called(TOOL) -> arg({path}) != arg({text}))"
            hint = f'write "{text}" for the text; fields are compared by a formula: {formula}'
            raise ContractError.of(what, hint)
    return rule


def _texts_compared(formula: f.Formula) -> Iterator[tuple[str, str]]:
    """Yield each text that a field has to be, or must not be, with the path of the field."""
    for each in conditions_in([formula]):
        values = each.value if isinstance(each.value, tuple) else (each.value,)
        yield from ((each.path, text) for text in values if isinstance(text, str))
    for node in f.postorder(formula):
        match node:
            case f.Custom("arg_contains" | "arg_allowed", (str(path), tuple() as patterns)):
                yield from ((path, str(each).strip("^$")) for each in patterns)


def _with_field(value: Any, words: Vocabulary) -> Any:
    """Return a match whose field is not said with the one field of its tools that is meant.

    Raises `ContractError` if it cannot be told.
    """
    match value:
        case {"tool": tools, "args": {"": facts}}:
            names = [tools] if isinstance(tools, str) else tools
            asked = next(iter(facts))
            if plain := _of_files(names, asked, words):
                return {"tool": tools, "args": {plain: {asked.rpartition("_")[2]: facts[asked]}}}
            return {"tool": tools, "args": {_field_of(names, asked, words): facts}}
    return value


def _of_files(tools: Iterable[str], fact: str, words: Vocabulary) -> str:
    """Return the field of the kind `path`, if each tool has one, and folders are asked; or ''."""
    if not fact.endswith(("_outside", "_under")):
        return ""
    found = set[tuple[str, ...]]()
    for tool in tools:
        kinds = words.kinds_of(tool).items()
        other = any(has_fact(kind, fact) for _, kind in kinds)
        found.add(() if other else tuple(path for path, kind in kinds if kind == "path"))
    only = found.pop() if len(found) == 1 else ()
    return only[0] if len(only) == 1 else ""


def _field_of(tools: Iterable[str], fact: str, words: Vocabulary) -> str:
    """Return the one field of these tools whose kind has the fact. Raises `ContractError`."""
    found = set[str]()
    for tool in tools:
        kinds = words.kinds_of(tool).items()
        fields = [path for path, kind in kinds if has_fact(kind, fact)]
        if len(fields) != 1:
            many = f"{len(fields)} fields" if fields else "no field"
            what = f"`{tool}` has {many} whose kind is known to have `{fact}`"
            hint = f"name it: “the `{(fields or ['command'])[0]}` of `{tool}` ..”"
            hint += "" if fields else ", and declare its kind in `tools:`"
            raise ContractError.of(what, hint)
        found.update(fields)
    if len(found) > 1:
        what = f"`{'`, `'.join(sorted(found))}` are fields of different tools"
        raise ContractError.of(what, "write a sentence for each")
    return found.pop()


def _of_kind(kind: str, tools: Any, words: Vocabulary) -> str:
    """Return the one field of these tools that is of a kind. Raises `ContractError`."""
    if not isinstance(tools, (str, list)):
        raise ContractError.of("two conditions on one call", "write a pattern")
    names = [tools] if isinstance(tools, str) else tools
    found = {
        tuple(path for path, of in words.kinds_of(each).items() if of.strip("[]") == kind)
        for each in names
    }
    only = found.pop()
    if kind == "url" and any("shell" in words.kinds_of(each).values() for each in names):
        raise ContractError.of(
            f"`{names[0]}` runs commands, which have several hosts, or none",
            "write {pattern: no_other_call, call: {tool: .., args: {FIELD: {hosts: {every: {in: "
            "[..]}}}}}}",
        )
    if found or len(only) != 1:
        raise ContractError.of(
            f"which field of `{names[0]}` is meant is not known",
            f"name it: “the `{kind}` of `{names[0]}` ..”, or declare it in the file: "
            f"tools: {{{names[0]}: {{fields: {{{kind}: {kind}}}}}}}",
        )
    return only[0]


# --- the closest sentences ------------------------------------------------------------------------


def closest_sentences(sentence: str, words: Vocabulary = NOTHING) -> list[str]:
    """Return up to two sentences that are most like this one, with the words that were written.

    Raises `ContractError` for one that would be understood if its bare words were tools.
    """
    bare = {said.name: said for said in sayings(sentence, phrasings(), lambda _: True)}
    if bare:
        rules = [_rule(said, words) for said in bare.values()]
        return [each for each in dict.fromkeys(rule.sentence for rule in rules) if _reads(each)][:2]
    given = (sentence, phrasings(), tool_test(words))
    near = [*on_topic(*given), *islice(nearest(*given), 2)]
    shown = [(each.name, _shown(each)) for each in near]
    said = (text for name, text in shown if not text.startswith(f"{name}: ") and _reads(text))
    return list(dict.fromkeys(said))[:2]


def _reads(text: str) -> bool:
    """True if a text is a sentence, without an argument in brackets that it cannot say."""
    return re.search(r" \(\w+: [^)]*\)$", text) is None


def _shown(near: Near) -> str:
    """Return the sentence of a pattern, with capitals in the places of what was not written."""
    declared = CATALOG[near.name]
    blank = {name: name.upper() for name in near.missing}
    return declared.sentence({**near.arguments, **blank})
