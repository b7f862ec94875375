"""Makes the cut answers of AgentDojo's recorded runs whole, by making their calls again.

    python -m campaigns.agentdojo.whole FOLDER OUT --older PACKAGE

FOLDER has the files of recorded runs, whose answers are cut at 2,000 characters. OUT gets the same
files, with whole answers where they could be made, and `whole.json`, which counts them. It runs in
an environment of its own, with the benchmark's package (docs/agentdojo.md says how to make one);
PACKAGE is an older release of it, unpacked.

An answer is taken only if it begins as the recorded one does, and if every answer before it in the
run was made equal: then the tools were in the same state. Else the recorded one stays.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from campaigns.agentdojo.ways import Answers, Names, Run, Tries, Way

CUT: Final = 2_000
"""The length at which the answers in the files are cut."""
WITHHELD: Final = "<Data omitted because a prompt injection was detected>"
"""What one of the defences gave the agent in place of an answer; the tool had run."""
TIME: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}")
"""A time that the tool read from the clock: those in the benchmark's data have no fractions."""
NO_TIME: Final = "2000-01-01 00:00:00.000000"
RELEASE: Final = re.compile(r"errors\.pydantic\.dev/[\d.]+/")
GAP: Final = r"(?:\s|\\+n|\\+ )+"
"""A space in an answer: lines are broken, and breaks are escaped, as YAML and Python do it."""
GREETING: Final = re.compile(
    rf"message{GAP}from{GAP}me,{GAP}(.{{,60}}?),{GAP}to{GAP}you,{GAP}(.{{,60}}?)\.{GAP}", re.DOTALL
)

Kind: TypeAlias = Literal["equal", "order", "withheld", "different", "cut"]


# --- one run --------------------------------------------------------------------------------------


def is_cut(event: Mapping[str, Any]) -> bool:
    """True if the answer of the event may have been cut."""
    return len(event.get("output") or "") == CUT


def compared(event: Mapping[str, Any], made: str | None) -> Kind:
    """Return how the recorded answer differs from the one that was made.

    "cut" is one that begins as the recorded one does, "order" has the same lines in another order.
    """
    recorded = event.get("output") or ""
    if recorded == WITHHELD:
        return "withheld"
    if made is None:
        return "different"
    old, new = _without_chance(recorded), _without_chance(made)
    if is_cut(event):
        return "cut" if new.startswith(old) else "different"
    if old == new:
        return "equal"
    return "order" if sorted(old.splitlines()) == sorted(new.splitlines()) else "different"


def _without_chance(answer: str) -> str:
    return RELEASE.sub("", TIME.sub(NO_TIME, answer))


def score(run: Run, made: Answers) -> int:
    """Return the number of answers that were made as they were recorded."""
    pairs = zip(run["events"], made, strict=True)
    return sum(compared(event, answer) != "different" for event, answer in pairs)


def with_answers(run: Run, made: Answers) -> tuple[dict[str, Any], Counter[str]]:
    """Return the run with whole answers, and the number of answers of each kind."""
    events, counts, same = [], Counter[str](), True
    for event, answer in zip(run["events"], made, strict=True):
        kind = compared(event, answer)
        if is_cut(event):
            counts["remade" if same and kind == "cut" else f"kept, {_reason(kind)}"] += 1
        else:
            counts[kind] += 1
        if same and kind == "cut" and answer is not None:
            whole = event["output"] + TIME.sub(NO_TIME, answer)[CUT:]
            events.append({**event, "output": whole})
        else:
            events.append(event)
        same = same and kind != "different"
    return {**run, "events": events}, counts


def _reason(kind: Kind) -> str:
    return "another beginning" if kind == "different" else "another answer before it"


# --- many runs ------------------------------------------------------------------------------------


def names_of(run: Run) -> Names | None:
    """Return the names in the attack's words, if an answer has them."""
    for event in run["events"]:
        if found := GREETING.search(event.get("output") or ""):
            return re.sub(GAP, " ", found[1]), re.sub(GAP, " ", found[2])
    return None


def usual_names(runs: Iterable[Run]) -> dict[tuple[str, ...], Names]:
    """Return the names that are most frequent, for each model, attack and suite."""
    counts: defaultdict[tuple[str, ...], Counter[Names]] = defaultdict(Counter)
    for run in runs:
        if names := names_of(run):
            counts[_group(run)][names] += 1
    return {group: counter.most_common(1)[0][0] for group, counter in counts.items()}


def _group(run: Run) -> tuple[str, ...]:
    return run["label"]["model"], run["label"]["attack"], run["suite"]


def votes(tried: Iterable[tuple[Run, Mapping[Way, Answers]]]) -> dict[tuple[str, str], str]:
    """Return the data that agree with more runs, for each model and suite.

    A run in which all data agree equally well has no vote.
    """
    counts: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for run, tries in tried:
        scores: Counter[str] = Counter()
        for way, made in tries.items():
            scores[way.data] = max(scores[way.data], score(run, made))
        first, *others = scores.most_common()
        if others and others[0][1] < first[1]:
            counts[_place(run)][first[0]] += 1
    return {place: counter.most_common(1)[0][0] for place, counter in counts.items()}


def _place(run: Run) -> tuple[str, str]:
    return run["label"]["model"], run["suite"]


def chosen(run: Run, tries: Mapping[Way, Answers], data: Mapping[tuple[str, str], str]) -> Way:
    """Return the way that agrees with the most answers.

    Among equals it is one with the data of most runs of this model and suite, then the first.
    """
    usual = data.get(_place(run))
    return max(tries, key=lambda way: (score(run, tries[way]), way.data == usual))


def whole(runs: Sequence[Run], tries: Tries) -> tuple[list[Run], dict[str, Counter[str]]]:
    """Return the runs with whole answers, and the counts of each suite.

    Runs without a cut answer stay as they are, and are not counted.
    """
    names = usual_names(runs)
    tried = {
        place: tries(run, names_of(run) or names.get(_group(run)))
        for place, run in enumerate(runs)
        if any(is_cut(event) for event in run["events"])
    }
    data = votes((runs[place], each) for place, each in tried.items())
    out, counts = list(runs), defaultdict[str, Counter[str]](Counter)
    for place, each in tried.items():
        run = runs[place]
        way = chosen(run, each, data)
        out[place], found = with_answers(run, each[way])
        counts[run["suite"]] += found + Counter({"runs": 1, f"data {way.data}": 1})
    return out, dict(counts)


def main() -> int:
    """Run the command."""
    from campaigns.agentdojo.benchmark import tries

    parser = argparse.ArgumentParser(prog="python -m campaigns.agentdojo.whole")
    parser.add_argument("folder", type=Path, help="the recorded runs: agentdojo_runs_*.jsonl.gz")
    parser.add_argument("out", type=Path, help="where the runs with whole answers are written")
    parser.add_argument("--older", type=Path, help="an older release of the package, unpacked")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    make, report = tries(options.older), {}
    for path in sorted(options.folder.glob("agentdojo_runs_*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            runs = [json.loads(line) for line in file]
        made, counts = whole(runs, make)
        with gzip.open(options.out / path.name, "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(run, ensure_ascii=False) + "\n" for run in made)
        report[path.name] = {suite: dict(sorted(counts[suite].items())) for suite in sorted(counts)}
        sys.stdout.write(f"{path.name}: {json.dumps(report[path.name])}\n")
        sys.stdout.flush()
    (options.out / "whole.json").write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
