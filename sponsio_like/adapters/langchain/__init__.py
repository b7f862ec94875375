"""LangChain: a pair of middlewares for `create_agent`, around all others.

    create_agent(model, tools, middleware=guarded(guard, tools, *others), checkpointer=...)

The calls of one message are decided together, in order, after the model and after the others have
edited them; what really runs is compared with what was decided.
"""

try:
    from sponsio_like.adapters.langchain.middleware import guarded
    from sponsio_like.adapters.langgraph.channel import GuardedState
    from sponsio_like.adapters.langgraph.people import approve, deny, waiting
except ModuleNotFoundError as error:
    if str(error.name).split(".")[0] not in ("langchain", "langchain_core", "langgraph"):
        raise
    raise ImportError(
        f"LangChain is not installed (`{error.name}`): pip install 'sponsio-like[langchain]'"
    ) from error

__all__ = ["GuardedState", "approve", "deny", "guarded", "waiting"]
