"""Replays a recorded run without contracts, with them, and in observe mode.

In: a trace and contracts. Out: a `Story`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from sponsio_like.checks import read_file
from sponsio_like.contracts import Contract, File
from sponsio_like.outcome import Allowed, Blocked, Held, Outcome, Redirected, Unfulfilled, Violation
from sponsio_like.replay import Played, Replay
from sponsio_like.traces import CallEvent, Trace, read_traces

Fate: TypeAlias = Literal["ran", "stopped", "replaced", "warned", "would be stopped"]


@dataclass(frozen=True, slots=True)
class StoryCall:
    """One call, and what became of it. `told` is what the agent is told instead of a result."""

    number: int
    tool: str
    args: str
    output: str
    note: str
    fate: Fate = "ran"
    violations: tuple[Violation, ...] = ()
    told: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """One replay of the run."""

    steps: tuple[StoryCall, ...]
    unfulfilled: tuple[Unfulfilled, ...] = ()

    def count(self, *fates: Fate) -> int:
        """Return the number of calls with one of these fates."""
        return sum(step.fate in fates for step in self.steps)


@dataclass(frozen=True, slots=True)
class Story:
    """A run without contracts, with them, and in observe mode."""

    trace: Trace
    contracts: tuple[Contract, ...]
    not_judged: tuple[str, ...]
    alone: Scene
    enforced: Scene
    observed: Scene


def read_story(contracts: Path, trace: Path) -> Story:
    """Return the story of the first run of a trace file. Raises `ContractError`, `TraceError`."""
    file = read_file(contracts)
    recorded = next(read_traces(trace))
    player = _player(file, enforce=True)
    return Story(
        recorded,
        tuple(file.contracts),
        tuple(player.missing(recorded)),
        _scene(recorded, Replay(())),
        _scene(recorded, player),
        _scene(recorded, _player(file, enforce=False)),
    )


def _player(file: File, *, enforce: bool) -> Replay:
    return Replay(
        file.contracts, enforce=enforce, mode=file.mode or "enforce", tools=file.inventory
    )


def _scene(trace: Trace, player: Replay) -> Scene:
    play = player.play(trace)
    notes = trace.fields.get("notes")
    known = notes if isinstance(notes, dict) else {}
    steps = tuple(
        _step(played, str(known.get(str(played.position), "")))
        for played in play.events()
        if isinstance(played.event, CallEvent)
    )
    _, unfulfilled = play.finish()
    return Scene(steps, unfulfilled)


def _step(played: Played, note: str) -> StoryCall:
    assert isinstance(played.event, CallEvent)
    call, result = played.event.call, played.event.result
    fate, told = _fate(played.outcome, played.violations)
    return StoryCall(
        played.position,
        call.tool,
        ", ".join(f"{name}={_short(value)}" for name, value in call.args.items()),
        _text(None if result is None else result.output),
        note,
        fate,
        played.violations,
        told,
    )


def _fate(outcome: Outcome | None, violations: tuple[Violation, ...]) -> tuple[Fate, str]:
    match outcome:
        case Blocked():
            return "stopped", outcome.advice
        case Held():
            return "stopped", "the call waits for a person's answer"
        case Redirected(tool=tool):
            return "replaced", f"`{tool}` is called instead"
        case Allowed(observed=(_, *_)) if any(each.action != "warned" for each in violations):
            return "would be stopped", ""
    return ("warned" if violations else "ran"), ""


def _short(value: Any, limit: int = 60) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= limit else f"{text[: limit - 4]} ..."


def _text(output: Any, lines: int = 12, limit: int = 700) -> str:
    """Return an output as it is shown: without empty lines, and shortened."""
    if output is None:
        return ""
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    full = [line.rstrip() for line in text.splitlines() if line.strip()]
    kept = "\n".join(full[:lines])[:limit]
    return kept if len(kept) == len("\n".join(full)) else f"{kept} ..."
