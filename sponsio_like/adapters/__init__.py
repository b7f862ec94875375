"""Adapters: one for each agent framework. An adapter has three duties.

1. It opens one session for each conversation, and tells it which inputs the framework delivers.
2. It decides every call on the arguments the tool will receive, and answers each kind of outcome.
3. It settles what ran, with the output or the error.

`langgraph`: a node of guarded tools. `langchain`: middleware for `create_agent`. Plain functions
need none: `Guard.tool`. What every adapter has to show is in `tests/adapters`.
"""
