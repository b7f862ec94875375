"""LangChain: a pair of middlewares for `create_agent`, around all others.

    create_agent(model, tools, middleware=guarded(guard, tools, *others), checkpointer=...)

The calls of one message are decided together, in order, after the model and after the others have
edited them; what really runs is compared with what was decided.
"""

from sponsio_like.adapters.langchain.middleware import guarded
from sponsio_like.adapters.langgraph.lineage import GuardedState
from sponsio_like.adapters.langgraph.people import approve, deny, waiting

__all__ = ["GuardedState", "approve", "deny", "guarded", "waiting"]
