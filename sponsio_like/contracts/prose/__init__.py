"""English for contracts: a grammar that reads whole sentences, and every reading of them.

In: a sentence and the phrasings of the patterns. Out: plain data; which contract it is, and whether
its readings mean the same, is judged in `contracts/sentences.py`.
"""

from sponsio_like.contracts.prose.grammar import kinds_of
from sponsio_like.contracts.prose.likeness import Near, nearest, on_topic
from sponsio_like.contracts.prose.trees import Reading, conditions, sayings

__all__ = ["Near", "Reading", "conditions", "kinds_of", "nearest", "on_topic", "sayings"]
