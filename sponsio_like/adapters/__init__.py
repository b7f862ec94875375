"""Adapters: a file for each agent framework. An adapter has three duties.

1. It opens one session for each conversation, and tells it which inputs the framework delivers.
2. It decides every call on the arguments the tool will receive, and answers each kind of outcome.
3. It settles what ran, with the output or the error.

None is here yet; `examples/refund.py` does the three by hand.
"""
