"""What the rest of the catalog means, as plain Python over whole traces: the second opinion.

In: as in `tests/reference/predicates.py`. Out: is the call, or the message, refused? Nothing here
comes from the package.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeAlias

from tests.reference.predicates import Refused, Seen, says_yes, since_last

Asked: TypeAlias = Callable[[Seen], bool]


def succeeded(call: Seen) -> bool:
    return call.status == "ok"


def says(output: Any) -> Asked:
    return lambda call: call.status == "ok" and call.output == output


def anyway(call: Seen) -> bool:
    return True


def tool(*names: str) -> Asked:
    return lambda call: call.tool in names


def agent(name: str) -> Asked:
    return lambda call: call.agent == name


# --- content from outside -------------------------------------------------------------------------


def ungated(
    source: Asked, gate: Asked, passes: Asked = says_yes, sink: Asked | None = None
) -> Refused:
    """No gate that passes was called after the latest result of the source came in."""

    def refused(past: list[Seen], now: Seen) -> bool:
        here = sink(now) if sink else not source(now) and not gate(now)
        came = [call.arrived for call in past if source(call) and call.arrived is not None]
        if not here or not came:
            return False
        return not any(gate(call) and passes(call) for call in past[max(came) :])

    return refused


# --- what is left, and how deep -------------------------------------------------------------------


def out_of_tokens(limit: int) -> Refused:
    return lambda past, now: now.tool != "" and now.tokens >= limit


def too_deep(limit: int) -> Refused:
    return lambda past, now: now.depth > limit


# --- approvals ------------------------------------------------------------------------------------


def unapproved(actions: str, role: str, seconds: float | None = None) -> Refused:
    """Whoever spoke last for that action in that role: did one of them approve, the last recently?

    A no that names nobody is everybody's. What is given more than a minute later than now is not
    recent.
    """

    def refused(past: list[Seen], now: Seen) -> bool:
        said: dict[Any, tuple[dict[str, Any], float]] = {}
        for fact in now.told:
            if fact.key == "approval" and fact.value["role"] == role:
                action, by = fact.value["action"], fact.value.get("by")
                if by is None and not yes(fact.value):
                    said = {who: each for who, each in said.items() if who[0] != action}
                said[action, by] = fact.value, fact.time
        mine = [each for (action, _), each in said.items() if action == now.tool and yes(each[0])]
        ages = [now.time - value.get("time", told) for value, told in mine]
        recent = ages and (seconds is None or -60 <= min(ages) <= seconds)
        return now.tool in actions and not recent

    return refused


def yes(approval: dict[str, Any]) -> bool:
    return approval.get("decision") == "approve" and not approval.get("revoked")


def not_recently(action: str, approval: str, steps: int, passes: Asked = succeeded) -> Refused:
    """None of the calls just before is an approval."""

    def refused(past: list[Seen], now: Seen) -> bool:
        recent = past[-steps:]
        return now.tool == action and not any(c.tool == approval and passes(c) for c in recent)

    return refused


def lacks_fresh(action: str, first: str, passes: Asked = succeeded, same: str = "") -> Refused:
    """No `first` since the last `action`; only calls with the same value count."""

    def refused(past: list[Seen], now: Seen) -> bool:
        if now.tool != action:
            return False
        if same:
            if same not in now.args:
                return True
            past = [call for call in past if call.args.get(same) == now.args[same]]
        return not any(call.tool == first and passes(call) for call in since_last(action, past))

    return refused


# --- who asks, in what state of things ------------------------------------------------------------


def fact_is(name: str, key: str, fits: Callable[[Any], bool]) -> Refused:
    """`fits` is asked about the fact; about `None` if it was never told."""

    def refused(past: list[Seen], now: Seen) -> bool:
        values = [fact.value for fact in now.told if fact.key == key]
        return now.tool == name and not (values and fits(values[-1]))

    return refused


def called_alike(
    name: str, alike: Callable[[dict[str, Any]], Any], limit: int, *, failed: bool = False
) -> Refused:
    """`alike`: what equal calls share; None of a call that cannot be told."""

    def refused(past: list[Seen], now: Seen) -> bool:
        if now.tool != name or alike(now.args) is None:
            return now.tool == name
        equal = [c for c in past if c.tool == name and alike(c.args) == alike(now.args)]
        return 1 + len([c for c in equal if failed or c.status != "error"]) > limit

    return refused


def long_since(
    action: str, times: Callable[[list[Seen], Seen], list[float]], most: float
) -> Refused:
    """`times`: when the event happened."""

    def refused(past: list[Seen], now: Seen) -> bool:
        found = times(past, now)
        return now.tool == action and not (found and now.time - max(found) <= most)

    return refused


def of_calls(name: str, passes: Asked = anyway) -> Callable[[list[Seen], Seen], list[float]]:
    return lambda past, now: [call.time for call in past if call.tool == name and passes(call)]


def of_facts(key: str) -> Callable[[list[Seen], Seen], list[float]]:
    return lambda past, now: [fact.time for fact in now.told if fact.key == key]


# --- what calls carry -----------------------------------------------------------------------------


def over_total(
    name: str,
    field: str,
    total: float,
    *,
    steps: int | None = None,
    seconds: float | None = None,
    by: str = "",
) -> Refused:
    """The numbers of all calls in the window together are too much, or this one is no amount."""

    def refused(past: list[Seen], now: Seen) -> bool:
        if now.tool != name:
            return False
        mine = number(now.args.get(field))
        if mine is None or mine < 0 or (by and by not in now.args):
            return True
        calls = [*past, now]
        if by:
            calls = [call for call in calls if call.args.get(by) == now.args[by]]
        if steps is not None:
            calls = calls[-steps:]
        if seconds is not None:
            calls = [call for call in calls if now.time - call.time < seconds]
        amounts = [number(call.args.get(field)) for call in calls if call.tool == name]
        return sum(x for x in amounts if x is not None) > Decimal(str(total))

    return refused


def number(value: Any) -> Decimal | None:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return Decimal(str(value)) if plain else None


def edited(
    name: str,
    field: str,
    after: str = "",
    *,
    key: str = "",
    counted: Asked = lambda call: call.status != "error",
    frozen: Asked = succeeded,
) -> Refused:
    """This call carries something else than the one that it has to agree with."""

    def carried(call: Seen) -> Any:
        outer, _, inner = field.partition(".")
        found = call.args if field == "*" else call.args.get(outer, "missing")
        if inner and isinstance(found, dict):  # what is no object stands there as it is
            return found.get(inner, "missing"), "inside"
        return found, isinstance(found, bool)

    def refused(past: list[Seen], now: Seen) -> bool:
        if now.tool != name:
            return False
        if key:
            if key not in now.args:
                return True
            past = [call for call in past if call.args.get(key) == now.args[key]]
        checks = [i for i, call in enumerate(past) if call.tool == after and frozen(call)]
        if after and not checks:
            return False
        until = checks[-1] if after else len(past)
        before = [c for c in past[:until] if c.tool == name and counted(c)]
        since = [c for c in past if c.tool == name and counted(c)]
        reference = before or since
        return bool(reference) and carried(reference[-1]) != carried(now)

    return refused


# --- what responses say ---------------------------------------------------------------------------


def response(wrong: Callable[[str], bool]) -> Refused:
    return lambda past, now: now.role == "assistant" and wrong(now.text)


def has_word(*words: str) -> Refused:
    """Some of the words, each of letters only, stands in the text by itself."""

    def wrong(text: str) -> bool:
        plain = "".join(sign if sign.isalnum() else " " for sign in text.lower())
        return any(f" {word} " in f" {' '.join(plain.split())} " for word in words)

    return response(wrong)
