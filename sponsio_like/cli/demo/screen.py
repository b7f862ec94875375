"""Draws the demo: readable at 80 columns, coloured only on a terminal.

In: a `Story`. Out: text on a console.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sponsio_like.cli.demo.story import Fate, Scene, Story, StoryCall
from sponsio_like.outcome import Violation
from sponsio_like.syntax import show
from sponsio_like.terminal import counted, print_wrapped

if TYPE_CHECKING:
    from rich.console import Console

SIGNS: dict[Fate, tuple[str, str, str]] = {
    "ran": ("✓", "ok", "green"),
    "stopped": ("✗", "NO", "bold red"),
    "replaced": ("↪", "->", "bold yellow"),
    "warned": ("!", "! ", "bold yellow"),
    "would be stopped": ("!", "! ", "bold yellow"),
}
WORDS: dict[Fate, str] = {
    "ran": "",
    "stopped": "STOPPED",
    "replaced": "REPLACED",
    "warned": "warned",
    "would be stopped": "would have been stopped",
}
NEXT = (
    ("demo --save demo", "copy these contracts and this run, to change them"),
    ("demo --contracts demo/contracts.yaml", "and see what changes here"),
    ("patterns", "what else contracts can say"),
    ("check demo/contracts.yaml", "what was understood of a contract file"),
    ("replay demo/contracts.yaml demo/excerpt.jsonl", "judge whole files of runs"),
)


def program_here() -> str:
    """Return the command that starts the program from the current folder."""
    if shutil.which("sponsio-like"):
        return "sponsio-like"
    python = Path(sys.executable)
    script = python.with_name("sponsio-like")
    return str(_from_here(script)) if script.exists() else f"{_from_here(python)} -m sponsio_like"


def _from_here(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


class Screen:
    """A console, with methods that draw the parts of a story on it."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.signs = 0 if console.encoding.lower().startswith("utf") else 1

    def draw(self, story: Story) -> None:
        """Draw the whole story, and what to do next."""
        self._opening(story)
        self.rule("1. Without contracts")
        self._alone(story)
        self.rule(f"2. With {counted(len(story.contracts), 'contract')}")
        self._contracts(story)
        self._judged(story.enforced)
        self._missing(story)
        self.rule("3. The same contracts in observe mode")
        self._judged(story.observed)
        self.rule("What to do next")
        program = program_here()
        for command, why in NEXT:
            self.line(f"{program} {command}", "bold", indent=2)
            self.line(why, "dim", indent=6)

    def _opening(self, story: Story) -> None:
        fields = story.trace.fields
        self.console.print()
        self.line(f"A recorded agent run: {counted(story.trace.calls, 'tool call')}", "bold")
        self.line(story.trace.id, "dim")
        for key in ("source", "licence"):
            if key in fields:
                self.line(f"{key}: {fields[key]}", "dim")
        if "user_task" in fields:
            self.console.print()
            self.line(f"The user asked: {fields['user_task']}")

    def _alone(self, story: Story) -> None:
        for step in story.alone.steps:
            self.line(f"{step.number}  {step.tool}", "bold", indent=2)
            for text, style, indent in ((step.args, "", 5), (step.output, "dim", 7)):
                if text:
                    self.line(text, style, indent)
            if step.note:
                self.line(f"^ {step.note}", "yellow", indent=5)
        label = story.trace.fields.get("label")
        if isinstance(label, dict) and isinstance(label.get("attack_succeeded"), bool):
            verdict = "the attack succeeded" if label["attack_succeeded"] else "the attack failed"
            self.console.print()
            self.line(f"The benchmark's own verdict: {verdict}.", "bold red")

    def _contracts(self, story: Story) -> None:
        """Draw what the contracts say, so that what follows can be understood."""
        for each in story.contracts:
            self.line(each.name, "bold", indent=2)
            for rule in each.rules:
                self.line(rule.sentence or show(rule.formula), "dim", indent=4)
        self.console.print()

    def _judged(self, scene: Scene) -> None:
        for step in scene.steps:
            self._step(step)
        self.console.print()
        for left in scene.unfulfilled:
            self.line(f"still owed at the end: {left}", "yellow", indent=2)
        self.line(_conclusion(scene), "bold", indent=2)

    def _step(self, step: StoryCall) -> None:
        sign, colour = SIGNS[step.fate][self.signs], SIGNS[step.fate][2]
        self.line(f"{sign} {step.number}  {step.tool}  {WORDS[step.fate]}".rstrip(), colour, 2)
        for violation in step.violations:
            self.line(f"{violation.contract}: {_action(violation)}", "bold", indent=7)
            self.line(violation.words, indent=9)
        if step.told:
            self.line("the agent is told:", "dim", indent=7)
            self.line(step.told, "cyan", indent=9)

    def _missing(self, story: Story) -> None:
        for name in story.not_judged:
            self.line(f"not judged, since this run does not have what it needs: {name}", "dim", 2)

    def rule(self, title: str) -> None:
        """Draw a heading."""
        from rich.rule import Rule
        from rich.text import Text

        self.console.print()
        self.console.print(Rule(Text(title, "bold cyan"), align="left", style="cyan"))

    def line(self, text: str, style: str = "", indent: int = 0) -> None:
        """Print a text, every line of it indented."""
        print_wrapped(text, style, indent, self.console)


def _action(violation: Violation) -> str:
    if violation.mode == "enforce" or violation.action == "reported":
        return violation.action
    return "would warn" if violation.action == "warned" else f"would be {violation.action}"


def _conclusion(scene: Scene) -> str:
    total = counted(len(scene.steps), "call")
    stopped, would = scene.count("stopped"), scene.count("would be stopped")
    if stopped or scene.count("replaced"):
        return f"{stopped + scene.count('replaced')} of {total} stopped; the rest went on."
    if would:
        return f"Nothing was stopped: {would} of {total} would have been."
    return f"None of {total} stopped."
