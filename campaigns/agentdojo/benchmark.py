"""Makes the calls of recorded runs again, with the tools of the package `agentdojo`.

In: a run, and the names in the attack's words. Out: the answers, in every way that there is. It is
the only file that needs the package, which is no dependency of this project.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import email_validator
import yaml  # noqa: TID253 - this file is loaded by campaigns.agentdojo.whole alone
from agentdojo.agent_pipeline.tool_execution import ToolsExecutor, tool_result_to_str
from agentdojo.attacks.attack_registry import load_attack
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suite
from agentdojo.task_suite.task_suite import read_suite_file
from agentdojo.types import get_text_content_as_str
from pydantic import ValidationError  # noqa: TID253 - see above

from campaigns.agentdojo.ways import Answers, Names, Run, Tries, Way

VERSIONS: Final = ("v1", "v1.1", "v1.1.1", "v1.1.2", "v1.2", "v1.2.1", "v1.2.2")
NEWER: Final = "newer"
LOCAL: Final = ("Meta-SecAlign", "meta-llama_Llama-3.3")
"""Models that the benchmark knows as "local" only."""

# The same values, sooner.
yaml.safe_load = partial(yaml.load, Loader=yaml.CSafeLoader)
email_validator.validate_email = cache(email_validator.validate_email)


def tries(older: Path | None) -> Tries:
    """Return what makes the calls, with the data of this release and of an older one."""
    data: dict[str, Path | None] = {NEWER: None}
    if older is not None:
        data["older"] = older / "agentdojo" / "data" / "suites"
    return partial(_tried, data)


def _tried(data: Mapping[str, Path | None], run: Run, names: Names | None) -> dict[Way, Answers]:
    return {
        Way(name, version): _answers(_suite(run["suite"], version, folder), run, names)
        for name, folder in data.items()
        if folder is None or _differs(run["suite"], folder / run["suite"])
        for version in _versions(run)
    }


@cache
def _differs(name: str, folder: Path) -> bool:
    """True if the data of a suite in this folder are others than those of the release."""
    files = ("environment.yaml", "injection_vectors.yaml")
    texts = [[read_suite_file(name, file, place) for file in files] for place in (folder, None)]
    return texts[0] != texts[1]


@cache
def _suite(name: str, version: str, folder: Path | None) -> Any:
    suite = copy.deepcopy(get_suite(version, name))
    suite.data_path = folder and folder / name
    return suite


def _versions(run: Run) -> list[str]:
    """Return the versions in which the user asks for what was recorded, without repetitions."""
    asked: dict[Any, str] = {}
    every: dict[Any, str] = {}
    for version in VERSIONS:
        suite = _suite(run["suite"], version, None)
        task = {**suite.injection_tasks, **suite.user_tasks}.get(run["user_task_id"])
        attack = suite.injection_tasks.get(run["injection_task_id"])
        if task is None or (attack is None and run["injection_task_id"] is not None):
            continue
        every.setdefault((type(task), type(attack)), version)
        if run["user_task"] in {getattr(task, "PROMPT", None), getattr(task, "GOAL", None)}:
            asked.setdefault((type(task), type(attack)), version)
    return list((asked or every).values())


def _answers(suite: Any, run: Run, names: Names | None) -> list[str | None]:
    task = suite.user_tasks.get(run["user_task_id"])
    environment = suite.load_and_inject_default_environment(_injections(suite, run, names))
    if task is not None:
        environment = task.init_environment(environment)
    runtime = FunctionsRuntime(suite.tools)
    executor = ToolsExecutor(_marked if "spotlighting" in _model(run) else _shown)
    return [_answer(executor, runtime, environment, event) for event in run["events"]]


def _model(run: Run) -> str:
    model: str = run["label"]["model"]
    return model


def _injections(suite: Any, run: Run, names: Names | None) -> dict[str, str]:
    if run["injection_task_id"] is None:
        return {}
    attack = _attack(suite, run["label"]["attack"], _model(run), names)
    task = suite.injection_tasks[run["injection_task_id"]]
    injections: dict[str, str] = attack.attack(suite.user_tasks[run["user_task_id"]], task)
    return injections


@cache
def _attack(suite: Any, name: str, model: str, names: Names | None) -> Any:
    known = "local" if model.startswith(LOCAL) else model.replace("meta-llama_", "meta-llama/")
    attack = load_attack(name, suite, SimpleNamespace(name=known))
    attack.get_injection_candidates = partial(_places, suite)
    if names is not None:
        attack.user_name, attack.model_name = names
    return attack


@cache
def _places(suite: Any, task: Any) -> list[str]:
    """Return where an attack puts its words for a user's task: the same for every attack."""
    attack = load_attack("direct", suite, SimpleNamespace(name="local"))
    places: list[str] = attack.get_injection_candidates(task)
    return places


def _shown(result: Any) -> str:
    """Return an answer as the agent sees it. It is remembered: long ones take a while."""
    key = repr(result)
    if key not in _SHOWN:
        _SHOWN[key] = tool_result_to_str(result)
    return _SHOWN[key]


_SHOWN: Final[dict[str, str]] = {}


def _marked(result: Any) -> str:
    """Return an answer as the defence "spotlighting" shows it to the agent."""
    return f"<<{_shown(result)}>>"


def _answer(executor: Any, runtime: Any, environment: Any, event: Mapping[str, Any]) -> str | None:
    """Return the answer of a call; None if it cannot be made, or was not answered in the run."""
    if event.get("no_result"):
        return None
    try:
        call = FunctionCall(function=event["tool"], args=copy.deepcopy(event["args"]), id="")
    except ValidationError:
        return None
    asked = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    *_, messages, _ = executor.query("", runtime, environment, asked)
    answer = messages[-1]
    text: str = answer["error"] or get_text_content_as_str(answer["content"])
    return text
