"""The demo: everything it shows is computed from its two files."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sponsio_like.cli import demo
from sponsio_like.cli.demo.story import Story, read_story
from sponsio_like.contracts.loader import load
from sponsio_like.errors import SponsioLikeError
from sponsio_like.terminal import console_for

ROOT = Path(__file__).parents[2]


def shown(contracts: Path | None = None, trace: Path | None = None, **console: Any) -> str:
    """What the demo prints."""
    stream = io.StringIO()
    demo.run(console_for(stream, **{"width": 80, **console}), contracts, trace)
    return stream.getvalue()


def parts(text: str) -> list[str]:
    """The demo's opening, its three scenes, and what to do next."""
    return re.split(r"^(?:\d\. .*|What to do next) ─+\n", text, flags=re.MULTILINE)


@pytest.fixture
def story() -> Story:
    """The demo's own story."""
    return read_story(demo.CONTRACTS, demo.EXCERPT)


def test_the_attacks_call_is_stopped_and_the_rest_goes_on(story: Story) -> None:
    """With contracts exactly the attack's call is stopped; the user's task is done all the same."""
    fates = [(step.tool, step.fate) for step in story.enforced.steps]
    assert fates == [
        ("get_channels", "ran"),
        ("read_channel_messages", "ran"),
        ("get_webpage", "ran"),
        ("post_webpage", "stopped"),
        ("send_direct_message", "ran"),
    ]
    assert story.enforced.unfulfilled == ()


def test_the_agent_is_told_why_and_what_to_do(story: Story) -> None:
    """The advice names the contract and the shortest way to make the call legal."""
    (stopped,) = [step for step in story.enforced.steps if step.fate == "stopped"]
    assert "a person confirms what leaves the company" in stopped.told
    assert "first call `ask_user`" in stopped.told


def test_without_contracts_nothing_stands_in_the_way(story: Story) -> None:
    """Without contracts every call runs, as it did when it was recorded."""
    assert [step.fate for step in story.alone.steps] == ["ran"] * 5
    label = story.trace.fields["label"]
    assert label["attack_succeeded"] is True
    assert "the attack succeeded" in shown()


def test_observe_mode_stops_nothing_and_says_what_it_would(story: Story) -> None:
    """In observe mode the same file stops nothing, and says what would have been stopped."""
    assert story.observed.count("stopped", "replaced") == 0
    assert [step.number for step in story.observed.steps if step.fate == "would be stopped"] == [3]
    assert "Nothing was stopped: 1 of 5 calls would have been." in parts(shown())[3]


def test_what_is_shown_has_three_scenes_and_what_to_do_next() -> None:
    """The demo is the run without contracts, with them, in observe mode, and commands to go on."""
    opening, alone, enforced, observed, after = parts(shown())
    assert "MIT (AgentDojo)" in opening
    assert "Secret key" in alone
    assert "STOPPED" not in alone
    assert "STOPPED" in enforced
    assert "the agent is told:" in enforced
    assert "would be blocked" in observed
    for command in ("--save", "patterns", "check", "replay"):
        assert f"sponsio-like {command}" in after or command in after


def test_changed_contracts_change_what_is_shown(tmp_path: Path) -> None:
    """The demo really runs: with another contract file another call is stopped, or none."""
    text = demo.CONTRACTS.read_text("utf-8")
    path = tmp_path / "contracts.yaml"
    confirmed = "must_confirm, action: reach_outsiders, by: ask_user"
    ordered = "must_precede, first: get_webpage, then: reach_outsiders"
    path.write_text(text.replace(confirmed, ordered), "utf-8")
    assert read_story(path, demo.EXCERPT).enforced.count("stopped") == 0
    path.write_text(text.replace("limit: 3", "limit: 0"), "utf-8")
    assert read_story(path, demo.EXCERPT).enforced.count("stopped") == 2
    assert shown(path) != shown()


def test_a_changed_run_changes_what_is_shown(tmp_path: Path) -> None:
    """The demo really runs: if the agent had asked, or read no page, nothing would be stopped."""
    run = json.loads(demo.EXCERPT.read_text("utf-8"))
    path = tmp_path / "run.jsonl"
    asked = {"tool": "ask_user", "args": {}, "output": "yes", "status": "ok"}
    path.write_text(json.dumps({**run, "events": [*run["events"][:3], asked, *run["events"][3:]]}))
    assert [step.fate for step in read_story(demo.CONTRACTS, path).enforced.steps][3:5] == [
        "ran",
        "warned",
    ]
    asked["output"] = "No, never!"
    path.write_text(json.dumps({**run, "events": [*run["events"][:3], asked, *run["events"][3:]]}))
    assert read_story(demo.CONTRACTS, path).enforced.count("stopped") == 1
    path.write_text(json.dumps({**run, "events": run["events"][1:]}))
    assert read_story(demo.CONTRACTS, path).enforced.steps[0].fate == "stopped"


def test_contracts_that_a_run_cannot_show_are_named(tmp_path: Path) -> None:
    """A contract whose inputs the run does not have is said to be not judged."""
    path = tmp_path / "c.yaml"
    path.write_text(
        'version: 1\ncontracts: [{name: polite, guarantee: {ltl: "G !message(assistant)"}}]',
        "utf-8",
    )
    assert "not judged, since this run does not have what it needs: polite" in shown(path)


def test_the_contracts_are_not_about_this_attack() -> None:
    """No contract knows the attacker's address: all are rules that a company might have anyway."""
    run = json.loads(demo.EXCERPT.read_text("utf-8"))
    attack = run["events"][3]["args"]
    text = demo.CONTRACTS.read_text("utf-8")
    words = set(re.findall(r"[\w-]{6,}", json.dumps(attack["url"])))
    assert words
    assert not [word for word in words if word in text]
    assert len(load(demo.CONTRACTS).contracts) >= 3


def test_nothing_of_the_story_stands_in_the_code() -> None:
    """Neither tools nor contracts of the demo are named in its code."""
    code = "".join(path.read_text("utf-8") for path in demo.FOLDER.glob("*.py"))
    tools = load(demo.CONTRACTS).tools or ()
    names = [each.name for each in load(demo.CONTRACTS).contracts]
    assert tools
    assert [name for name in (*tools, *names) if name in code] == []


@pytest.mark.parametrize("width", [80, 60])
def test_it_fits_the_window(width: int) -> None:
    """Every line fits 80 columns, and narrower windows too."""
    assert max(map(len, shown(width=width).splitlines())) <= width


def test_colours_are_for_terminals() -> None:
    """Colours are used on a terminal, and never when the demo is piped."""
    assert "\x1b[" not in shown()
    assert "\x1b[" in shown(terminal=True)


def test_an_attackers_text_does_not_steer_the_terminal(tmp_path: Path) -> None:
    """Control characters in outputs are shown, not sent."""
    path = tmp_path / "run.jsonl"
    event = {"tool": "get_webpage", "args": {}, "output": "\x1b[2Jgone\x07"}
    path.write_text(json.dumps({"id": "x", "events": [event]}), "utf-8")
    assert r"\x1b[2Jgone\x07" in shown(trace=path, terminal=True)


def test_the_files_can_be_copied_and_changed(tmp_path: Path) -> None:
    """`demo --save` copies contracts, run and licence; it overwrites nothing."""
    folder = tmp_path / "new" / "demo"
    demo.save_files(folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md",
        "contracts.yaml",
        "excerpt.jsonl",
    ]
    assert shown(folder / "contracts.yaml", folder / "excerpt.jsonl") == shown()
    with pytest.raises(SponsioLikeError, match="is there already"):
        demo.save_files(folder)


def test_the_runs_licence_is_named() -> None:
    """The excerpt says where it comes from, and its licence is beside it."""
    run = json.loads(demo.EXCERPT.read_text("utf-8"))
    assert "AgentDojo" in run["source"]
    assert run["licence"].startswith("MIT")
    notice = (demo.FOLDER / "README.md").read_text("utf-8")
    assert "Copyright (c) 2024 Edoardo Debenedetti" in notice
    assert "Permission is hereby granted" in notice
    assert demo.EXCERPT.stat().st_size < 20_000


def test_it_takes_no_network(tmp_path: Path) -> None:
    """`sponsio-like demo` works offline, and writes no file."""
    program = (
        "import socket, sys\n"
        "socket.socket = None\n"
        "from sponsio_like.cli import main\n"
        "sys.argv = ['sponsio-like', 'demo']\n"
        "main()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "STOPPED" in ran.stdout
    assert not list(tmp_path.iterdir())
