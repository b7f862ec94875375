"""The guard: compiled contracts, the sessions under them, and guarded tools.

In: contracts and tools. Out: a `Guard` that opens sessions and decorates tools.
"""

from sponsio_like.guard.guard import Guard

__all__ = ["Guard"]
