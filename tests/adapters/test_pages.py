"""The examples of the pages about adapters run as they stand there, and guard something.

In: the Python of a page, in its order, with a scripted model in the place of the reader's own.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition
from langgraph.types import Command

from sponsio_like.adapters.langgraph import approve, guard_tools, waiting
from sponsio_like.guard.guard import Guard
from tests.adapters.nests import acts
from tests.adapters.rules import asked
from tests.adapters.scripted import since_user
from tests.adapters.talks import ask

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "adapters"
ON: Any = {"configurable": {"thread_id": "one"}}
GO: Any = {"messages": [("user", "go on")]}
REFUNDS: list[int] = []
PATIENCE = 120


@tool
def refund(amount: int) -> str:
    """Refund an amount."""
    REFUNDS.append(amount)
    return f"refunded {amount}"


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    REFUNDS.clear()


def programs(page: str) -> list[str]:
    """The Python of a page."""
    text = (PAGES / page).read_text("utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: Any) -> dict[str, Any]:
    """What the programs of a page find, in a folder with its contracts."""
    page: str = request.param
    text = (PAGES / page).read_text("utf-8")
    for each in re.findall(r"```yaml\n(version: .*?)```", text, re.DOTALL):
        (tmp_path / "contracts.yaml").write_text(each, "utf-8")
    monkeypatch.chdir(tmp_path)
    refunds = [ask("refund", f"r{i}", amount=i) for i in range(3)]
    return {"model": acts("model", *refunds), "tools": [refund]}


def of(page: str) -> pytest.MarkDecorator:
    """The page that a test plays."""
    return pytest.mark.parametrize("names", [page], indirect=True, ids=[""])


def run(program: str, names: dict[str, Any]) -> None:
    """Run a program with these names."""
    exec(program, names)  # noqa: S102  our own text


def answers(state: Any) -> dict[str, str]:
    """How each call was answered since the user has said something."""
    return {each.tool_call_id: each.status for each in since_user(state["messages"], ToolMessage)}


@of("nesting.md")
def test_a_sub_agent_has_a_cap_for_each_of_its_runs(names: dict[str, Any]) -> None:
    """Two searches for each question, and three questions in the thread."""
    names["sub_model"] = acts("sub", *(ask("search", f"s{i}", text="x") for i in range(3)))
    names["model"] = acts("model", *(ask("research", f"q{i}", question="x") for i in range(4)))
    run(programs("nesting.md")[0], names)
    came = names["agent"].invoke(GO, ON)
    assert list(answers(came).values()) == ["success"] * 3 + ["error"]


@of("nesting.md")
def test_a_swarm_has_one_session(names: dict[str, Any]) -> None:
    """What alice has searched counts for bob."""
    pytest.importorskip("langgraph_swarm")
    names["sub_model"] = acts("sub")
    run(programs("nesting.md")[0], names)
    searches = [ask("search", f"s{i}", text="x") for i in range(2)]
    names["model"] = acts("alice", searches[0], ask("transfer_to_bob", "t"))
    names["sub_model"] = acts("bob", *searches)
    names["guard"] = Guard(names["each_run"].policy.contracts, elsewhere=["transfer_to_bob"])
    run(programs("nesting.md")[1], names)
    said = names["graph"].invoke(GO, ON)["messages"]
    told = [each.status for each in said if isinstance(each, ToolMessage) and each.name == "search"]
    assert told == ["success", "success", "error"]


@of("functional.md")
def test_an_agent_in_an_entrypoint_remembers(names: dict[str, Any]) -> None:
    """Two refunds, over two turns."""
    run(programs("functional.md")[0], names)
    for _ in range(2):
        assert names["flow"].invoke("refund me", ON) == "model is done"
    assert REFUNDS == [0, 1]


@of("functional.md")
def test_a_loop_of_tasks_remembers(names: dict[str, Any]) -> None:
    """Two refunds, over two turns; the model hears of the third."""
    for each in programs("functional.md"):
        run(each, names)
    for _ in range(2):
        assert names["loop"].invoke([("user", "refund me")], ON).text == "model is done"
    assert REFUNDS == [0, 1]


@of("deepagents.md")
def test_a_deep_agent_and_its_sub_agent_have_one_cap(names: dict[str, Any]) -> None:
    """Two refunds, by whomever, and one file."""
    pytest.importorskip("deepagents")
    refunds = [ask("refund", f"r{i}", amount=i) for i in range(2)]
    files = [ask("write_file", f"f{i}", file_path=f"/{i}.txt", content="x") for i in range(2)]
    task = ask("task", "t", description="refund", subagent_type="general-purpose")
    names["sub_model"] = acts("sub", refunds[0], files[0])
    names["model"] = acts("model", task, *refunds, files[1])
    run(programs("deepagents.md")[0], names)
    came = answers(names["agent"].invoke(GO, ON))
    assert came == {"t": "success", "r0": "success", "r1": "error", "f1": "error"}
    assert REFUNDS == [0, 0]


@of("streams.md")
def test_a_stream_shows_what_happens(names: dict[str, Any]) -> None:
    """Answers, refusals, and questions to people; an agent shows no more."""
    run(programs("streams.md")[0], names)
    guard = Guard([asked(100)])

    @tool
    def pay(amount: int) -> str:
        """Pay an amount."""
        return f"paid {amount}"

    turns = [*ask("pay", "a", amount=1), *ask("pay", "b")], ask("pay", "c", amount=900)
    for build in (_graph, _agent):
        graph = build(guard, [pay], acts("model", *turns))
        lines = names["shown"](graph, GO, ON)
        assert sorted(each.split(":")[0] for each in lines if each.startswith("tools")) == [
            "tools",
            "tools",
        ]
        assert sum("refused" in each for each in lines) == 1
        assert lines[-1] == "asks: pay {'amount': 900}"
        (question,) = waiting(graph.get_state(ON))
        yes = approve(question["ticket"], by="ann", role="manager")
        assert names["shown"](graph, Command(resume=yes), ON)[0] == "tools: paid 900"


def _graph(guard: Guard, tools: Any, model: Any) -> Any:
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    guard_tools(builder, guard, tools)
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    return builder.compile(checkpointer=InMemorySaver())


def _agent(guard: Guard, tools: Any, model: Any) -> Any:
    from langchain.agents import create_agent

    from sponsio_like.adapters.langchain import guarded

    pair = guarded(guard, tools)
    return create_agent(model, tools, middleware=pair, checkpointer=InMemorySaver())


# --- a server -------------------------------------------------------------------------------------

APP = '''
"""The reader's own model and tools."""

from langchain_core.tools import tool

from tests.adapters.nests import acts
from tests.adapters.talks import ask


@tool
def refund(amount: int) -> str:
    """Refund an amount."""
    return f"refunded {amount}"


tools = [refund]
model = acts("model", *(ask("refund", f"r{i}", amount=a) for i, a in enumerate((1, 500, 2))))
'''


TAIL = """
import json

again = graph.invoke({"messages": [{"role": "user", "content": "again"}]}, config)
print(json.dumps([
    [each["status"] for each in one["messages"] if each["type"] == "tool"]
    for one in (state, again)
]))
"""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A development server of LangGraph in this folder; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload"]
    paths = os.pathsep.join([str(ROOT), str(folder)])
    more = {"PYTHONPATH": paths, "LANGSMITH_TRACING": "false", "LANGGRAPH_NO_VERSION_CHECK": "true"}
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [*command, "--port", str(port)],
            cwd=folder,
            env={**os.environ, **more},
            stdout=log,
            stderr=log,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{address}/ok", server, folder / "log")
        yield address
    finally:
        server.terminate()
        server.wait(PATIENCE)


def _wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(address) as answer:  # noqa: S310  our own server
                if json.load(answer).get("ok"):
                    return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(log.read_text("utf-8")[-2000:])


def test_a_deployed_agent_is_held_to_its_contracts(tmp_path: Path) -> None:
    """On a development server, by `RemoteGraph`: two refunds, a large one asked for; then none."""
    pytest.importorskip("langgraph_api")
    text = (PAGES / "deployment.md").read_text("utf-8")
    files = dict(re.findall(r"```\w+ title=(\S+)\n(.*?)```", text, re.DOTALL))
    for each, content in {**files, "my_app.py": APP}.items():
        (tmp_path / each).write_text(content, "utf-8")
    with served(tmp_path) as url:
        program = f"url = {url!r}\n{files['client.py']}{TAIL}"
        more = {"PYTHONPATH": str(ROOT), "LANGSMITH_TRACING": "false"}
        told = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            check=True,
            env={**os.environ, **more},
            text=True,
        )
    assert json.loads(told.stdout) == [
        ["success", "success", "error"],
        ["success", "success", "error", "error", "error", "error"],
    ]
