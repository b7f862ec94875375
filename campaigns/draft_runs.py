"""Reads the specifications of `campaigns/draft/specifications/`, and makes runs of their tools.

In: a specification with its tools, and the values that their arguments and outputs have. Out: runs
as they might have been recorded, which `sponsio-like draft` grounds statements in, and the prompt
that it sends.

    python -m campaigns.draft_runs FOLDER     writes each prompt to FOLDER/NN.txt
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from campaigns.study import ROOT
from sponsio_like.cli.draft import DraftRequest, prompt_for

HOME = ROOT / "campaigns" / "draft"
RUNS = 12
"""The runs of each specification; together they have every tool and every value."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: the values of each argument, its outputs, and if it may fail."""

    args: Mapping[str, tuple[Any, ...]]
    outputs: tuple[Any, ...]
    fails: bool


@dataclass(frozen=True, slots=True)
class Specification:
    """A specification in words, and what its tools, messages, agents and facts may be."""

    id: str
    domain: str
    source: str
    text: str
    tools: Mapping[str, Tool]
    roles: tuple[str, ...]
    texts: tuple[str, ...]
    agents: tuple[str, ...]
    facts: Mapping[str, tuple[Any, ...]]
    more: Mapping[str, Any]
    """Texts, values and outputs that no recorded run has, and that statements are tried on."""


def specifications() -> list[Specification]:
    """Return the specifications, in the order of their numbers."""
    return [specification(path) for path in sorted((HOME / "specifications").glob("*.yaml"))]


def specification(path: Path) -> Specification:
    """Return the specification that is in a file."""
    import yaml

    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    tools = {
        name: Tool(
            {field: tuple(values) for field, values in tool["args"].items()},
            tuple(tool["output"]),
            tool.get("fails", False),
        )
        for name, tool in data["tools"].items()
    }
    facts = {key: tuple(values) for key, values in data.get("facts", {}).items()}
    return Specification(
        id=path.stem,
        domain=data["domain"],
        source=data["source"],
        text=data["text"],
        tools=tools,
        roles=tuple(data["roles"]),
        texts=tuple(data["texts"]),
        agents=tuple(data.get("agents", ())),
        facts=facts,
        more=data.get("more", {}),
    )


# --- runs -----------------------------------------------------------------------------------------


def recorded(spec: Specification) -> list[dict[str, Any]]:
    """Return runs of the tools, as a trace file has them: every tool, value, role and fact."""
    dice = random.Random(spec.id)  # noqa: S311  no secret
    calls = [call for name, tool in spec.tools.items() for call in _calls(name, tool)]
    calls += [{**call, "status": "error"} for call in calls if spec.tools[call["tool"]].fails][::3]
    others = [
        {"type": "fact", "key": key, "value": value}
        for key, values in spec.facts.items()
        for value in values
    ]
    others += [
        {"type": "message", "role": spec.roles[n % len(spec.roles)], "text": text}
        for n, text in enumerate(spec.texts)
    ]
    dice.shuffle(calls)
    for n, agent in enumerate(spec.agents * len(calls)):
        if n < len(calls):
            calls[n]["agent"] = agent
    runs: list[list[dict[str, Any]]] = [[] for _ in range(RUNS)]
    for n, event in enumerate([*others, *calls]):
        runs[n % RUNS].append(event)
    return [
        {
            "id": f"{spec.id}/{n}",
            "events": [{**event, "time": 60.0 * at} for at, event in enumerate(run)],
        }
        for n, run in enumerate(runs)
    ]


def _calls(name: str, tool: Tool) -> Iterator[dict[str, Any]]:
    """Yield calls of a tool that have, together, each value of each argument and each output."""
    most = max([len(tool.outputs), *map(len, tool.args.values())])
    for n in range(most):
        args = {field: values[n % len(values)] for field, values in tool.args.items()}
        output = tool.outputs[n % len(tool.outputs)]
        yield {"tool": name, "args": args, "output": output, "status": "ok"}


# --- prompts --------------------------------------------------------------------------------------


def prompt(spec: Specification) -> str:
    """Return the prompt of `sponsio-like draft`: what it says first, and what it asks then."""
    with tempfile.TemporaryDirectory() as folder:
        chat = prompt_for(request(spec, Path(folder)))
    return "\n\n".join(message["content"] for message in chat) + "\n"


def request(spec: Specification, folder: Path, answer: str | None = None) -> DraftRequest:
    """Return what `draft` is asked to do, with its files in this folder."""
    text, runs = folder / f"{spec.id}.md", folder / "runs.jsonl"
    text.write_text(spec.text, encoding="utf-8")
    runs.write_text("".join(json.dumps(run) + "\n" for run in recorded(spec)), encoding="utf-8")
    if answer is None:
        return DraftRequest(text, (runs,))
    given = folder / "answer.md"
    given.write_text(answer, encoding="utf-8")
    return DraftRequest(text, (runs,), answer=given)


def main(folder: str) -> None:
    """Write each prompt into a folder, under the number of its specification."""
    for spec in specifications():
        (Path(folder) / f"{spec.id[:2]}.txt").write_text(prompt(spec), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
