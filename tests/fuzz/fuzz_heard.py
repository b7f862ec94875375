"""The events of a trace file, as the oracle knows them.

In: a formula of the oracle, events. Out: events of the oracle, each with the facts of the formula
that hold of it, and those that cannot be known.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.fuzz.fuzz_traces import Event
from tests.reference import bridge, oracle

PERMISSIONS = ("write",)
APPROVALS = (("pay", "boss"),)
AGES = ("fact age", "approval age")
SPOKEN = ("prop", "prop?", "output", *AGES)


def spoken(formula: oracle.Formula) -> oracle.Formula:
    """The facts that a formula speaks of, as a formula without anything else."""
    return ("and", *{g: None for g in oracle.under(formula) if g[0] in SPOKEN})


def heard(formula: oracle.Formula, events: Sequence[Event]) -> list[oracle.Event]:
    """The events as the oracle knows them: facts are part of what follows."""
    told: list[oracle.Event] = []
    context: dict[str, Any] = {}
    tokens, places = 0, {}
    aged = any(g[0] in AGES for g in oracle.under(formula))
    told_so_far: tuple[tuple[str, Any, float], ...] = ()
    for event in events:
        tokens += event.get("usage", {}).get("total_tokens", 0)
        if event["type"] == "fact":
            context[event["key"]] = event["value"]
            said = tuple(event["value"].items()) if event["key"] == "approval" else None
            told_so_far += ((event["key"], said, event["time"]),) if aged else ()
            continue
        about = {**subjects(event, context), "tokens": tokens}
        if event["type"] == "result":
            about = {"output": event["output"]}
        made = oracle.Event(event["type"], "", *bridge.facts(formula, about), time=event["time"])
        made = replace(made, told=told_so_far)
        match event["type"]:
            case "call" | "refused" as kind:
                if kind == "call":
                    places[event["id"]] = len(told)
                args = tuple((key, flat(value)) for key, value in sorted(event["args"].items()))
                made = replace(made, name=event["tool"], args=args)
            case "result":
                status = "done" if event["status"] == "ok" else "failed"
                made = replace(made, kind="settle", name=status, of=places[event["id"]])
            case "message":
                made = replace(made, name=event["role"])
            case "step":
                made = replace(made, true=made.true | frozenset(event["atoms"]))
        told.append(made)
    return told


def flat(value: Any) -> Any:
    """A value that can be hashed; the oracle only compares those inside others as a whole."""
    return json.dumps(value, sort_keys=True) if isinstance(value, dict) else value


def subjects(event: Event, context: dict[str, Any]) -> dict[str, Any]:
    """What an event is, and the context then, for `bridge.facts`."""
    agent = event.get("agent", "agent")
    held = context.get("permissions", ())
    held = held.get(agent, ()) if isinstance(held, dict) else held
    approval = context.get("approval", {})
    given = (approval.get("action"), approval.get("role"), approval.get("decision"))
    call = event["type"] in ("call", "refused")
    return {
        "arg": event.get("args", {}) if call else bridge.ODD,
        "agent": agent if call else bridge.ABSENT,
        "depth": event.get("depth", 0) if call else bridge.ABSENT,
        "text": event.get("text", bridge.ABSENT),
        "ctx": context,
        "permission": {name: call and name in held for name in PERMISSIONS},
        "approved": {a: r if given == (a, r, "approve") else "" for a, r in APPROVALS},
    }
