"""Makes a large decision log, and counts it by itself, to compare with `sponsio-like report`.

    python -m campaigns.big_log make FILE [DECISIONS]
    python -m campaigns.big_log compare FILE

`make` lets a guard decide calls that dice choose, in sessions of some fifty, until the log has so
many decisions. `compare` counts the file with a loop that shares nothing with the report, and says
of each number of the report and of the page if it is the same.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sponsio_like import Allowed, Guard, Held, contract
from sponsio_like.log import json_log, read_log
from sponsio_like.replay import facts_of, report_of

RULES = [
    contract("few").guarantees("tool `pay` at most 5 times"),
    contract("first").guarantees("tool `check` must precede `pay`").observe(),
    contract("asked").guarantees("`refund.amount` between 0 and 95").strategy("escalate"),
    contract("safe").guarantees("redirect `send` to `draft`"),
    contract("soft").guarantees("tool `look` at most 9 times").strategy("warn_only"),
    contract("answered").guarantees("every `check` must be followed by `pay`"),
    contract("never").guarantees("tool `no_such_tool` at most 1 times"),
]
TOOLS = {"pay": 6, "check": 6, "refund": 10, "send": 1, "look": 12, "other": 30}
STOPS = ("blocked", "custom", "held", "redirected")


def make(path: Path, decisions: int) -> None:
    """Write a log with so many decisions, or a few more."""
    dice, done = random.Random(17), 0  # noqa: S311  not a secret
    with json_log(path) as sink:
        guard = Guard(RULES, log=sink)
        for number in itertools.count():
            session = guard.session(f"s{number}")
            for i in range(dice.randint(1, 100)):
                tool = dice.choices(list(TOOLS), list(TOOLS.values()))[0]
                agent, args = dice.choice(["agent", "sub"]), {"amount": dice.randint(0, 99)}
                outcome = session.decide(tool, args, id=f"c{i}", agent=agent)
                done += 1
                if isinstance(outcome, Held) and dice.random() < 0.5:
                    session.approve(outcome.ticket, by="ann")
                    outcome = session.decide(tool, args, id=f"c{i}", agent=agent)
                    done += 1
                if isinstance(outcome, Allowed):
                    session.settle(outcome.id, output="ok")
            if dice.random() < 0.9:
                session.finish()
            if done >= decisions:
                return


def records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the records of a log, numbered."""
    with path.open("rb") as file:
        yield from enumerate(map(json.loads, file))


def told_anew(path: Path) -> set[int]:
    """Return the numbers of the records of held calls that ran later: they are told again then."""
    held: dict[tuple[str, str], list[int]] = defaultdict(list)
    found = set[int]()
    for n, each in records(path):
        if "outcome" in each and "id" in each:
            key = each["session"], each["id"]
            if each["outcome"] == "held" and not each.get("again"):
                held[key].append(n)
            elif each["outcome"] in ("allowed", "redirected"):
                found.update(held.pop(key, ()))
    return found


def counted(path: Path) -> dict[str, Any]:
    """Return the numbers of a log, by a loop over its lines, read twice."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    tools: dict[str, Counter[str]] = defaultdict(Counter)
    seen: dict[str, set[str]] = defaultdict(set)
    anew, times = told_anew(path), array("d")
    for n, each in records(path):
        if "session" in each:
            seen["session"].add(each["session"])
        if each["event"] == "finish":
            seen["finish"].add(each["session"])
        if each["event"] == "decision":
            seen["decision"].add(each["session"])
            times.append(each["microseconds"])
            for name in ("outcome", "tool", "agent"):
                sums[name][each[name]] += 1
        for told in each.get("contracts", ()):
            rows[told["contract"]] += Counter()
        if n not in anew:
            _of_contracts(each, rows, tools, seen)
    ordered = sorted(times)
    return {
        "decisions": len(ordered),
        "sessions": len(seen["session"]),
        "without_end": len(seen["decision"] - seen["finish"]),
        **{f"{name}s": found for name, found in sums.items()},
        "latency": {q: ordered[-(-len(ordered) * q // 100) - 1] for q in (50, 90, 99)},
        "rows": {
            name: {**row, "sessions": len(seen[f"of {name}"]), "tools": dict(tools[name])}
            for name, row in rows.items()
        },
    }


def _of_contracts(
    each: dict[str, Any],
    rows: dict[str, Counter[str]],
    tools: dict[str, Counter[str]],
    seen: dict[str, set[str]],
) -> None:
    """Count what a record says of contracts."""
    first = each["event"] == "decision" and not each.get("again")
    for name in each.get("applied", ()) if first else ():
        rows[name]["applied"] += 1
    found = each.get("violations", ())
    for name in {v["contract"] for v in found} if first else ():
        rows[name]["broken"] += 1
    for v in found:
        rows[v["contract"]][_kind(v, each.get("outcome"))] += 1
        tools[v["contract"]][v["tool"] or "(no call)"] += 1
        seen[f"of {v['contract']}"].add(each["session"])
    for left in each.get("unfulfilled", ()):
        rows[left["contract"]]["unfulfilled"] += 1
        seen[f"of {left['contract']}"].add(each["session"])


def _kind(violation: dict[str, Any], outcome: str | None) -> str:
    action = violation["action"]
    if action in STOPS and violation["mode"] == "observe":
        return "would"
    if action == "held" and outcome in ("allowed", "redirected"):
        return "approved"
    return {"custom": "blocked", "reported": "late"}.get(action, str(action))


def differences(path: Path) -> Iterator[tuple[str, Any, Any]]:
    """Yield each number: its name, what the loop has counted, and what the report has."""
    own = counted(path)
    page, terminal = facts_of([path]).as_json(), report_of(read_log(path)).as_json()
    for name in ("decisions", "sessions"):
        yield f"page: {name}", own[name], page[name]
        yield f"report: {name}", own[name], terminal[name]
    yield "report: without_end", own["without_end"], terminal["without_end"]
    for q, time in own["latency"].items():
        yield f"page: p{q}", time, page["latency"][f"p{q}"]
    for name in ("outcomes", "tools", "agents"):
        for row in page[name]:
            yield f"page: {name} {row[name[:-1]]}", own[name][row[name[:-1]]], row["n"]
        for each, n in terminal.get(name, {}).items():
            yield f"report: {name} {each}", own[name][each], n
    names = ("applied", "broken", "warned", "approved", "unfulfilled", "sessions")
    stopped = ("blocked", "held", "redirected")
    for row in page["contracts"]:
        mine = own["rows"][row["contract"]]
        for key in (*names, *stopped, "would", "late"):
            yield f"page: {row['contract']}: {key}", mine.get(key, 0), row[key]
        yield f"page: {row['contract']}: tools", mine["tools"], row["tools"]
        yield from _bounds(row, mine)
    for row in terminal["contracts"]:
        mine = own["rows"][row["contract"]]
        mine["stopped"] = sum(mine.get(key, 0) for key in stopped)
        mine |= {"would_have_stopped": mine.get("would", 0), "reported": mine.get("late", 0)}
        for key in (*names, "stopped", "would_have_stopped", "reported"):
            yield f"report: {row['contract']}: {key}", mine.get(key, 0), row[key]


def _bounds(row: dict[str, Any], mine: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the rate and its bounds, which are quantiles of a beta distribution."""
    from scipy.stats import beta

    k, n = mine.get("broken", 0), mine.get("applied", 0)
    if not n:
        return
    bounds = {
        "rate": k / n,
        "low": float(beta.ppf(0.05, k, n - k + 1)) if k else 0.0,
        "high": float(beta.ppf(0.95, k + 1, n - k)) if k < n else 1.0,
    }
    for key, value in bounds.items():
        yield f"page: {row['contract']}: {key}", round(value, 9), round(row[key], 9)


def main(what: str, path: str, decisions: str = "1000000") -> int:
    """Make a log, or compare one; return how many numbers differ."""
    if what == "make":
        make(Path(path), int(decisions))
        return 0
    each = list(differences(Path(path)))
    wrong = [f"{name}: counted {own}, reported {said}" for name, own, said in each if own != said]
    sys.stdout.write("".join(f"{line}\n" for line in wrong))
    sys.stdout.write(f"{len(each)} numbers, {len(wrong)} differ\n")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(min(main(*sys.argv[1:]), 1))
