"""LangGraph: guarded tools as a node of any graph, decided before the first tool of a batch runs.

    guard_tools(builder, guard, tools)      # instead of builder.add_node("tools", ToolNode(tools))

The session of a thread is part of the graph's own checkpoint, so it is right after a resume, a
replay from an earlier checkpoint, a fork and an update of the state.
"""

try:
    from sponsio_like.adapters.langgraph.channel import GuardedState
    from sponsio_like.adapters.langgraph.guarded_node import guard_node
    from sponsio_like.adapters.langgraph.node import guard_tools
    from sponsio_like.adapters.langgraph.people import approve, deny, waiting
except ModuleNotFoundError as error:
    if str(error.name).split(".")[0] not in ("langchain", "langchain_core", "langgraph"):
        raise
    raise ImportError(
        f"LangGraph is not installed (`{error.name}`): pip install 'sponsio-like[langgraph]'"
    ) from error

__all__ = ["GuardedState", "approve", "deny", "guard_node", "guard_tools", "waiting"]
