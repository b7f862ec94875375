"""A graph of LangGraph under two contracts: refused and advised, held for a person, resumed.

`guard_tools(builder, guard, tools)` stands in the place of a node with `ToolNode(tools)`. The model
is a script. The example needs LangGraph; `support/` has one with an agent of LangChain.

$ python examples/langgraph_refund.py
mia was asked: issue_refund {'amount': 900}
issue_refund: `issue_refund` was not allowed by `policy first` (tool `check_policy` must precede
    `issue_refund`); to make it legal, first call `check_policy` (it must succeed)
check_policy: refunds are paid within 30 days
issue_refund: 40 euros paid
issue_refund: 900 euros paid
"""

from textwrap import fill
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition
from langgraph.types import Command

from sponsio_like import Guard, contract
from sponsio_like.adapters.langgraph import approve, guard_tools, waiting

CONTRACTS = [
    contract("policy first").guarantees("tool `check_policy` must precede `issue_refund`"),
    contract("large refunds")
    .guarantees("`issue_refund.amount` between 0 and 100")
    .strategy({"escalate": {"roles": ["manager"]}}),
]
SCRIPT = [
    ("issue_refund", {"amount": 40}),
    ("check_policy", {}),
    ("issue_refund", {"amount": 40}),
    ("issue_refund", {"amount": 900}),
]


def check_policy() -> str:
    """Read the policy."""
    return "refunds are paid within 30 days"


def issue_refund(amount: int) -> str:
    """Pay an amount back."""
    return f"{amount} euros paid"


def model(state: MessagesState) -> dict[str, list[AIMessage]]:
    """Say what comes next in the script: a call, or at its end nothing more."""
    said = sum(isinstance(each, AIMessage) for each in state["messages"])
    calls = [
        {"name": tool, "args": args, "id": f"call-{said}", "type": "tool_call"}
        for tool, args in SCRIPT[said : said + 1]
    ]
    return {"messages": [AIMessage("" if calls else "Done.", tool_calls=calls)]}


builder = StateGraph(MessagesState)
builder.add_node("model", model)
guard_tools(builder, Guard(CONTRACTS), [check_policy, issue_refund])
builder.add_edge(START, "model")
builder.add_conditional_edges("model", tools_condition)
builder.add_edge("tools", "model")
graph: Any = builder.compile(checkpointer=InMemorySaver())

thread: Any = {"configurable": {"thread_id": "ticket-4711"}}
state = graph.invoke({"messages": [("user", "Please pay me back.")]}, thread)
questions = waiting(graph.get_state(thread))  # a call waits: in your program, ask a person
tickets = [each["ticket"] for each in questions]
state = graph.invoke(Command(resume=approve(*tickets, by="mia", role="manager")), thread)

for each in questions:
    print(f"mia was asked: {each['tool']} {each['args']}")
for message in state["messages"]:
    if isinstance(message, ToolMessage):
        print(fill(f"{message.name}: {message.content}", 96, subsequent_indent="    "))
