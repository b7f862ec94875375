"""A support agent under contracts, with LangChain and with LangGraph. README.md has what it prints.

python examples/support/agent.py                                  the story, in five scenes
python examples/support/agent.py ask TEXT... --db FILE            say something as a customer
python examples/support/agent.py approve --db FILE --by NAME      what waits, and a manager's yes
python examples/support/agent.py deny --db FILE --by NAME         what waits, and a manager's no

With `--graph` the agent is a graph of LangGraph instead of LangChain's `create_agent`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import SystemMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition
from langgraph.types import Command

from scripted import Scripted
from sponsio_like import Guard
from sponsio_like.adapters.langchain import approve, deny, guarded, waiting
from sponsio_like.adapters.langgraph import guard_tools
from sponsio_like.log import Record
from telling import tell, tell_conversation, tell_log, tell_waiting
from tools import Shop

CONTRACTS = Path(__file__).with_name("contracts.yaml")
PROMPT = SystemMessage(
    "You are the support agent of a shop. Do what the customer asks, with your tools. "
    "A call may be refused; the answer then says why, and what to call first."
)


def agent(shop: Shop, guard: Guard, saver: SqliteSaver) -> Any:
    """Return the agent with LangChain: its contracts are middleware."""
    middleware = guarded(guard, shop.tools)
    return create_agent(
        model(), shop.tools, system_prompt=PROMPT, middleware=middleware, checkpointer=saver
    )


def graph(shop: Shop, guard: Guard, saver: SqliteSaver) -> Any:
    """Return the same agent with LangGraph: its contracts stand before the node of the tools."""
    bound = model().bind_tools(shop.tools)
    builder = StateGraph(MessagesState)
    builder.add_node(
        "model", lambda state: {"messages": bound.invoke([PROMPT, *state["messages"]])}
    )
    guard_tools(builder, guard, shop.tools)
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    return builder.compile(checkpointer=saver)


def model() -> BaseChatModel:
    """Return the model that SUPPORT_MODEL names, such as `openai:gpt-5`; else a scripted one."""
    name = os.environ.get("SUPPORT_MODEL")
    if not name:
        return Scripted()
    from langchain.chat_models import init_chat_model

    real: BaseChatModel = init_chat_model(name)
    return real


@contextmanager
def opened(db: Path, build: Any, **options: Any) -> Iterator[Any]:
    """Open the agent, whose conversations are kept in `db`; the shop's books lie beside it."""
    guard = Guard.from_yaml(CONTRACTS, **options)
    with SqliteSaver.from_conn_string(str(db)) as saver:
        yield build(Shop(db.with_suffix(".books")), guard, saver)


def ask(support: Any, text: str, thread: str) -> None:
    """Say something as a customer. It ends with an answer, or with a call that waits."""
    if waits_in(support, thread):
        tell("This conversation waits for a manager.")
        return
    go_on(support, thread, {"messages": [("user", text)]})


def answer(support: Any, by: str, *, yes: bool) -> None:
    """List what waits, in every conversation; answer it, and let the agent go on."""
    threads = {each.config["configurable"]["thread_id"] for each in support.checkpointer.list(None)}
    waits = [(thread, each) for thread in sorted(threads) for each in waits_in(support, thread)]
    if not waits:
        tell("Nothing waits.")
    for thread, question in waits:
        tell_waiting(question)
        tell("yes" if yes else "no", f"{by}")
        said = approve if yes else deny
        go_on(support, thread, Command(resume=said(question["ticket"], by=by, role="manager")))


def waits_in(support: Any, thread: str) -> list[dict[str, Any]]:
    """Return the questions to people that a conversation has stopped with."""
    return waiting(support.get_state({"configurable": {"thread_id": thread}}))


def go_on(support: Any, thread: str, given: Any) -> None:
    """Run the agent until it has answered, or has to wait; tell what was said."""
    config = {"configurable": {"thread_id": thread}}
    before = len(support.get_state(config).values.get("messages", ()))
    tell_conversation(support.invoke(given, config)["messages"], before)
    for question in waits_in(support, thread):
        tell_waiting(question)


SCENES = (
    ("refused, advised, then done right", "Please pay me back 80 euros for order 17."),
    ("held for a manager", "Please pay me back 700 euros for order 18."),
    ("redirected", "Please delete the account of ann."),
    ("a cap of 800", "Please pay me back 15 euros for order 19 and 10 euros for order 20."),
)


def story(build: Any, more: Sequence[str]) -> None:
    """Tell a conversation, in which another process answers what waits; then observe the same."""
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "support.db"
        for number, (title, text) in enumerate(SCENES, 1):
            print(f"\n--- {number}. {title}\n", flush=True)
            with opened(db, build) as support:
                ask(support, text, "conversation")
                waits = waits_in(support, "conversation")
            for _ in range(2 * len(waits)):  # the second time it finds nothing
                started(["approve", "--db", db.name, "--by", "mia", *more], folder)
        tell_books(db)
        print("\n--- 5. the same, in observe mode\n")
        db = Path(folder) / "observed.db"
        log: list[Record] = []
        with opened(db, build, mode="observe", log=log.append) as support:
            for _, text in SCENES:
                ask(support, text, "conversation")
        print("\nThe log:\n")
        tell_log(log)
        tell_books(db)


def started(arguments: list[str], folder: str) -> None:
    """Run this program in a process of its own."""
    print(f"\n$ python agent.py {' '.join(arguments)}\n", flush=True)
    program = [sys.executable, str(Path(__file__).resolve()), *arguments]
    subprocess.run(program, cwd=folder, check=True)  # noqa: S603  it is this one


def tell_books(db: Path) -> None:
    """Print what was really done, sorted by order: calls of one message run beside each other."""
    print("\nThe shop's books:\n")
    books = db.with_suffix(".books")
    done = books.read_text("utf-8").splitlines() if books.exists() else []
    for line in sorted(done, key=lambda each: each.rpartition(" ")[2]):
        tell(line)


def main() -> None:
    """Run a command; without one, the story."""
    parser = argparse.ArgumentParser(description="A support agent under contracts.")
    parser.add_argument("--graph", action="store_true", help="with LangGraph, not LangChain")
    commands = parser.add_subparsers(dest="command")
    for name in ("ask", "approve", "deny"):
        command = commands.add_parser(name)
        command.add_argument("--db", type=Path, required=True, help="the file of conversations")
        command.add_argument("--graph", action="store_true", default=argparse.SUPPRESS)
        if name == "ask":
            command.add_argument("text", nargs="+", help="what the customer says")
            command.add_argument("--thread", default="conversation", help="which conversation")
        else:
            command.add_argument("--by", required=True, help="the name of the manager")
    given = parser.parse_args()
    build = graph if given.graph else agent
    if given.command is None:
        story(build, ["--graph"] * given.graph)
        return
    with opened(given.db, build) as support:
        for text in getattr(given, "text", ()):
            ask(support, text, given.thread)
        if given.command != "ask":
            answer(support, given.by, yes=given.command == "approve")


if __name__ == "__main__":
    main()
