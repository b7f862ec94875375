"""Judges what models drafted for ten specifications by contracts that were written by hand.

In: recorded answers (`campaigns/draft/answers/MODEL/NN_NAME.md`), read and checked by `draft`
itself. Out: for each statement that was kept, what it refuses on random sessions, compared with
what the hand-written contracts refuse; for each that was not, why.

    python -m campaigns.draft_quality                  tables of all recorded answers
    python -m campaigns.draft_quality --all            each statement, and what it was found to be
    python -m campaigns.draft_quality --adopt FOLDER --model NAME --date DAY --as A
                                                       record the answers FOLDER/NN.txt
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from campaigns.draft_runs import HOME, Specification, prompt, request, specifications
from campaigns.draft_sessions import LONG, sessions
from sponsio_like.cli.draft import run_draft
from sponsio_like.contracts import Contract, loads
from sponsio_like.outcome import Allowed
from sponsio_like.replay import Replay
from sponsio_like.traces import trace_of

EACH = 40
"""The sessions about each contract, hand-written or drafted."""
SEED = 19
NEVER = 1_000_000
"""The place of the first violation where there is none."""
OTHER = "other reading"
RIGHT = ("equal", "other reading", "several", "part")
KINDS = (*RIGHT, "weaker", "stronger", "different", "never broken")
REASONS = {
    "unknown name": r"unknown tool|never occurs|no (tool|messages|output) in",
    "said twice": r"says the same",
    "vacuous or contradictory": r"ever break|ever keep|never be|always true|both sides|can break",
}

Firsts = tuple[int, ...]
"""For each session, before how many calls a contract is broken for the first time."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A kept statement, what it was found to be, and the notes that `draft` gave."""

    name: str
    kind: str
    nearest: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of one answer."""

    specification: str
    model: str
    kept: tuple[Judged, ...]
    refused: tuple[tuple[str, str], ...]
    covered: tuple[str, ...]
    uncovered: tuple[str, ...]
    untried: tuple[str, ...]

    def count(self, *kinds: str) -> int:
        """Return how many kept statements are of these kinds."""
        return sum(each.kind in kinds for each in self.kept)


def judgement(spec: Specification, model: str, answer: str, each: int = EACH) -> Judgement:
    """Return what became of an answer, judged on so many sessions about each contract."""
    with tempfile.TemporaryDirectory() as folder:
        result = run_draft(request(spec, Path(folder), answer)).as_json()
    drafted = loads(result["contracts"], "draft").contracts if result["contracts"] else ()
    path = HOME / "contracts" / f"{spec.id}.yaml"
    written = loads(path.read_text(encoding="utf-8"), path.name)
    hands = {contract.name: contract for contract in written.contracts}
    readings = {name for name, contract in hands.items() if OTHER in contract.about.tags}
    found = broken(spec, [*hands.values(), *_marked(drafted)], each, tools=list(spec.tools))
    by_hand = {name: found[name] for name in hands}
    own = {contract.name: found[MARK + contract.name] for contract in drafted}
    kept = []
    for statement in result["kept"]:
        kind, nearest = compared(statement["name"], own, by_hand, readings)
        kept.append(Judged(statement["name"], kind, nearest, tuple(statement["notes"])))
    rules = [name for name in hands if name not in readings]
    several = [own[each.name] for each in kept if each.kind == "several"]
    covered = [rule for rule in rules if _covered(rule, by_hand, list(own.values()), several)]
    refused = [(no["statement"], sort_of(no["reasons"])) for no in result["refused"]]
    return Judgement(
        specification=spec.id,
        model=model,
        kept=tuple(kept),
        refused=tuple(refused),
        covered=tuple(covered),
        uncovered=tuple(rule for rule in rules if rule not in covered),
        untried=tuple(rule for rule in rules if set(by_hand[rule]) == {NEVER}),
    )


MARK = "drafted: "


def _marked(drafted: Iterable[Contract]) -> list[Contract]:
    return [replace(each, name=MARK + each.name) for each in drafted]


def sort_of(reasons: Iterable[str]) -> str:
    """Return one word or two for why a statement was refused."""
    text = "; ".join(reasons)
    return next(
        (sort for sort, words in REASONS.items() if re.search(words, text)), "not understood"
    )


# --- behaviour ------------------------------------------------------------------------------------


def broken(
    spec: Specification, contracts: Sequence[Contract], each: int, tools: list[str]
) -> dict[str, Firsts]:
    """Return where each contract is first broken, in random sessions about all of them."""
    player = Replay(contracts, mode="observe", tools=tools)
    inputs = frozenset(word for needs in player.needs.values() for word in needs)
    firsts: dict[str, list[int]] = {contract.name: [] for contract in contracts}
    hands = [contract for contract in contracts if not contract.name.startswith(MARK)]
    armed = [replace(contract, mode="enforce", share=1.0) for contract in hands]
    judge = Replay(armed, enforce=True, tools=tools)
    made = list(sessions(spec, contracts, each, SEED))
    for value in (*made, *(honest(each, judge) for each in made if len(each["events"]) >= LONG)):
        trace = trace_of(value)
        verdict = player.judge(replace(trace, inputs=trace.inputs | inputs))
        first = dict.fromkeys(firsts, NEVER)
        for late in verdict.unfulfilled:
            first[late.contract] = verdict.calls
        for violation in verdict.violations:
            first[violation.contract] = min(first[violation.contract], violation.position)
        for name, place in first.items():
            firsts[name].append(place)
    return {name: tuple(places) for name, places in firsts.items()}


def honest(session: dict[str, Any], judge: Replay) -> dict[str, Any]:
    """Return a session without the calls that contracts written by hand would have refused.

    What a statement refuses there, it refuses too much.
    """
    play = judge.play(trace_of(session))
    outcomes = [each.outcome for each in play.events()]
    pairs = zip(session["events"], outcomes, strict=True)
    kept = [event for event, outcome in pairs if outcome is None or isinstance(outcome, Allowed)]
    return {**session, "events": kept}


def _weaker(one: Firsts, other: Firsts) -> bool:
    """True if one lets through all that the other does: it is never broken earlier."""
    return all(a >= b for a, b in zip(one, other, strict=True))


def _together(many: Iterable[Firsts]) -> Firsts:
    return tuple(map(min, zip(*many, strict=True)))


def compared(
    name: str,
    own: Mapping[str, Firsts],
    by_hand: Mapping[str, Firsts],
    readings: set[str],
) -> tuple[str, str]:
    """Return what a drafted contract is beside those written by hand, and the nearest of them."""
    this = own[name]
    if set(this) == {NEVER}:
        return "never broken", ""
    tried = {rule: firsts for rule, firsts in by_hand.items() if set(firsts) != {NEVER}}
    equal = [rule for rule, firsts in tried.items() if firsts == this]
    if equal:
        mains = [rule for rule in equal if rule not in readings]
        return ("equal", mains[0]) if mains else ("other reading", equal[0])
    below = [rule for rule, firsts in tried.items() if _weaker(firsts, this)]
    if below and _together(tried[rule] for rule in below) == this:
        return "several", below[0]
    above = [rule for rule, firsts in tried.items() if _weaker(this, firsts)]
    for rule in above:
        if _made_up(tried[rule], list(own.values())):
            return "part", rule
    if above:
        return "weaker", above[0]
    return ("stronger", below[0]) if below else ("different", "")


def _made_up(rule: Firsts, own: Iterable[Firsts]) -> bool:
    """True if those drafted contracts that refuse no more than a rule refuse, together, as much."""
    parts = [firsts for firsts in own if _weaker(firsts, rule)]
    return bool(parts) and _together(parts) == rule


def _covered(
    rule: str, by_hand: Mapping[str, Firsts], own: list[Firsts], several: list[Firsts]
) -> bool:
    """True if drafted contracts make up a rule, in a reading, or one of them is several rules."""
    meant = [name for name in by_hand if name == rule or name.startswith(f"{rule}: ")]
    tried = [by_hand[name] for name in meant if set(by_hand[name]) != {NEVER}]
    return any(
        _made_up(each, own) or any(_weaker(each, many) for many in several) for each in tried
    )


# --- recorded answers -----------------------------------------------------------------------------


def answers() -> Iterator[tuple[Specification, str, str]]:
    """Yield each specification with the model that was asked, and its answer."""
    for spec in specifications():
        for path in sorted((HOME / "answers").glob(f"*/{spec.id}.md")):
            text = path.read_text(encoding="utf-8")
            named = re.match(r"# model: (.*)", text)
            yield spec, f"{path.parent.name}: {named[1] if named else 'not told'}", text


def adopt(folder: Path, model: str, date: str, label: str) -> None:
    """Record the answers of a model, with its name, the day, and a digest of the prompt."""
    home = HOME / "answers" / label
    home.mkdir(parents=True, exist_ok=True)
    for spec in specifications():
        path = folder / f"{spec.id[:2]}.txt"
        if path.exists():
            digest = hashlib.sha256(prompt(spec).encode()).hexdigest()[:16]
            head = f"# model: {model}\n# date: {date}\n# prompt: sha256 {digest}\n\n"
            text = head + path.read_text(encoding="utf-8").strip() + "\n"
            (home / f"{spec.id}.md").write_text(text, encoding="utf-8")


# --- tables ---------------------------------------------------------------------------------------


def rows(found: Sequence[Judgement]) -> Iterator[str]:
    """Yield the lines of the table of statements."""
    heads = ["specification", "answer", "statements", "refused", "kept", "right", *KINDS[4:]]
    yield f"| {' | '.join(heads)} | rules covered |"
    yield "|---" * (len(heads) + 1) + "|"
    for each in found:
        yield _row(f"{each.specification} | {each.model.split(':')[0]}", [each])
    for label in sorted({each.model for each in found}):
        yield _row(f"all | {label}", [each for each in found if each.model == label])


def _row(head: str, found: Sequence[Judgement]) -> str:
    kept, refused = (sum(len(each) for each in many) for many in _columns(found))
    covered = sum(len(each.covered) for each in found)
    rules = covered + sum(len(each.uncovered) for each in found)
    counts = [
        sum(each.count(*kinds) for each in found)
        for kinds in (RIGHT, *((kind,) for kind in KINDS[4:]))
    ]
    cells = [kept + refused, refused, kept, *counts, f"{covered} of {rules}"]
    return f"| {head} | " + " | ".join(map(str, cells)) + " |"


def _columns(
    found: Sequence[Judgement],
) -> tuple[list[tuple[Judged, ...]], list[tuple[tuple[str, str], ...]]]:
    return [each.kept for each in found], [each.refused for each in found]


def told(found: Sequence[Judgement]) -> Iterator[str]:
    """Yield what the checks caught, and what they did not."""
    caught = Counter(sort for each in found for _, sort in each.refused)
    yield f"caught: {dict(caught)}"
    kinds = Counter(one.kind for each in found for one in each.kept)
    yield f"kept: {dict(kinds)}"
    wrong = [one for each in found for one in each.kept if one.kind not in RIGHT]
    noted = sum(any(not note.startswith("not judged") for note in one.notes) for one in wrong)
    yield f"wrong and kept: {len(wrong)}, of these with a note: {noted}"
    for each in found:
        if each.untried:
            yield f"{each.specification}: not tried by any session: {', '.join(each.untried)}"


def details(each: Judgement) -> Iterator[str]:
    """Yield a line for each statement, and for each rule that none covers."""
    yield f"== {each.specification} {each.model}"
    for one in each.kept:
        yield f"  {one.kind:<14} {one.name}" + (f"  [{one.nearest}]" if one.nearest else "")
    for text, sort in each.refused:
        yield f"  refused: {sort}: {text[:160]}"
    for rule in each.uncovered:
        yield f"  not covered: {rule}"


def main() -> None:
    """Judge all recorded answers, or record new ones."""
    parser = argparse.ArgumentParser(prog="python -m campaigns.draft_quality")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--adopt", type=Path)
    parser.add_argument("--model", default="not told")
    parser.add_argument("--date", default="not told")
    parser.add_argument("--as", dest="label", default="A")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    if given.adopt:
        adopt(given.adopt, given.model, given.date, given.label)
        return
    found = []
    for spec, model, text in answers():
        if spec.id.startswith(given.only):
            found.append(judgement(spec, model, text))
            if given.all:
                write(details(found[-1]))
    write(rows(found))
    write(told(found))


def write(lines: Iterable[str]) -> None:
    """Write lines at once."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
