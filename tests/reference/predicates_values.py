"""What the patterns of values mean, as plain Python over whole traces: the second opinion.

In: the calls that were let through, as far as they have settled, and the call to be decided. Out:
is it refused, is something owed? Nothing here comes from the package.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from tests.reference.predicates import Owed, Refused, Seen

Named: TypeAlias = tuple[str, str]
"""A tool, and the field whose value matters."""
Finds: TypeAlias = Callable[[Any, str], bool]
"""Whether a value, as text, stands in an output."""


def value_of(call: Seen, what: Named) -> list[str]:
    """The value that a call of this tool has there, as JSON; none of another call."""
    tool, field = what
    there = call.tool == tool and field in call.args
    return [re.sub(r"\.0$", "", json.dumps(call.args[field]))] if there else []


def values(past: list[Seen], what: Named) -> set[str]:
    return {value for call in past for value in value_of(call, what)}


def succeeded(past: list[Seen]) -> list[Seen]:
    return [call for call in past if call.status == "ok"]


# --- matches --------------------------------------------------------------------------------------


def is_given(what: Named, value: Any) -> Refused:
    """This very value: a call without any is none."""
    return lambda past, now: now.tool == what[0] and now.args.get(what[1]) == value


def says(role: str, regex: str) -> Refused:
    return lambda past, now: now.role == role and re.search(regex, now.text) is not None


def lacks_same(what: Named, first: Named, *, refuses: bool = True) -> Refused:
    """No success of the one before the other had the same value; `refuses`: or it has none."""

    def refused(past: list[Seen], now: Seen) -> bool:
        known = values(succeeded(past), first)
        if now.tool == what[0] and what[1] not in now.args:
            return refuses
        return any(value not in known for value in value_of(now, what))

    return refused


def others_lack_same(first: Named) -> Refused:
    """Of all tools, a value in this field that no success of the first had, but for itself."""

    def refused(past: list[Seen], now: Seen) -> bool:
        known = values(succeeded(past), first)
        there = value_of(now, (now.tool, first[1]))
        return now.tool != first[0] and any(value not in known for value in there)

    return refused


def lacks_recent(what: Named, first: Named, *, steps: int = 99, seconds: float = 99) -> Refused:
    """No success of the one had the same value and was so near, counted from the call itself."""

    def refused(past: list[Seen], now: Seen) -> bool:
        near = [call for call in past[-steps:] if now.time - call.time <= seconds]
        known = values(succeeded(near), first)
        return any(value not in known for value in value_of(now, what))

    return refused


def lacks_shown(what: Named, first: str) -> Refused:
    """No success of the tool had this value, in the answer's field `id`."""

    def refused(past: list[Seen], now: Seen) -> bool:
        shown = [call.output for call in succeeded(past) if call.tool == first]
        known = [str(one["id"]) for one in shown if isinstance(one, dict) and "id" in one]
        return now.tool == what[0] and value_of(now, what)[:1] not in [[each] for each in known]

    return refused


def owes_same(what: Named, by: Named, *, last_only: bool = False) -> Owed:
    """Some value was never answered after it; `last_only`: after its last time."""

    def owed(past: list[Seen]) -> bool:
        for i, call in enumerate(past):
            later = past[i + 1 :]
            for value in value_of(call, what):
                again = last_only and value in values(later, what)
                if not again and value not in values(succeeded(later), by):
                    return True
        return False

    return owed


def too_late(what: Named, by: Named, within: int) -> Refused:
    """This was the last of the next calls that could have answered."""

    def refused(past: list[Seen], now: Seen) -> bool:
        if len(past) < within:
            return False
        due, *between = past[len(past) - within :]
        answers = [call for call in between if call.status in ("ok", "open")]
        return any(value not in values([*answers, now], by) for value in value_of(due, what))

    return refused


def owes_in_time(what: Named, by: Named, within: int) -> Owed:
    """Some call within the time that is left was not answered yet, or failed to be."""

    def owed(past: list[Seen]) -> bool:
        for i, call in enumerate(past):
            window = past[i + 1 : i + 1 + within]
            missing = [v for v in value_of(call, what) if v not in values(succeeded(window), by)]
            waits = len(window) < within or any(one.status == "open" for one in window)
            if missing and waits:
                return True
        return False

    return owed


def locked(trigger: Named, forbidden: Named, release: Named | None = None) -> Refused:
    """The value was triggered before, and not released since."""

    def refused(past: list[Seen], now: Seen) -> bool:
        for value in value_of(now, forbidden):
            last = max((i for i, c in enumerate(past) if value in value_of(c, trigger)), default=-1)
            since = succeeded(past[last + 1 :]) if release else []
            if last >= 0 and not (release and value in values(since, release)):
                return True
        return False

    return refused


# --- outputs and messages -------------------------------------------------------------------------


def leaves(output: Any) -> Iterator[Any]:
    """The plain values of JSON data."""
    if isinstance(output, dict):
        for inner in output.values():
            yield from leaves(inner)
    elif isinstance(output, list):
        for inner in output:
            yield from leaves(inner)
    else:
        yield output


def unseen(what: Named, source: str, role: str = "") -> Refused:
    """The value is a word of no earlier answer, and of no message of this role."""

    def refused(past: list[Seen], now: Seen) -> bool:
        texts = [
            str(leaf)
            for call in succeeded(past)
            if call.tool == source
            for leaf in leaves(call.output)
        ]
        texts += [told.value for told in now.told if told.key == f"message {role}"]
        words = {word for text in texts for word in re.findall(r"\w+", text)}
        there = value_of(now, what)
        return now.tool == what[0] and not (there and there[0].strip('"') in words)

    return refused


def not_said(tool: str, role: str, regex: str) -> Refused:
    def refused(past: list[Seen], now: Seen) -> bool:
        texts = [told.value for told in now.told if told.key == f"message {role}"]
        return now.tool == tool and not (texts and re.search(regex, texts[-1]))

    return refused


def leaked(source: str, sink: str) -> Refused:
    """A word of an argument stands in an answer: of text, one with a digit."""

    def refused(past: list[Seen], now: Seen) -> bool:
        secrets: set[str] = set()
        for call in past:
            if call.tool == source and call.status == "ok" and isinstance(call.output, str):
                long = [word for word in re.findall(r"\S+", call.output) if len(word) >= 4]
                secrets.update(word.casefold() for word in long if re.search(r"[\d@]", word))
            elif call.tool == source and call.status == "ok" and call.output is not None:
                secrets.update(str(leaf).casefold() for leaf in leaves(call.output))
        words = {word.casefold() for leaf in leaves(now.args) for word in str(leaf).split()}
        return now.tool == sink and not words.isdisjoint(secrets)

    return refused


# --- repetition -----------------------------------------------------------------------------------


def failed_before(limit: int, *tools: str) -> Refused:
    """The very same call has failed so often."""

    def refused(past: list[Seen], now: Seen) -> bool:
        same = [call for call in past if (call.tool, call.args) == (now.tool, now.args)]
        failures = [call for call in same if call.status == "error"]
        return (not tools or now.tool in tools) and len(failures) >= limit

    return refused
