"""The adapters that every behaviour is tried with. To add one, add its line here."""

from __future__ import annotations

from tests.adapters.by_hand import BY_HAND
from tests.adapters.decorated import DECORATED
from tests.adapters.graphs import GRAPHS
from tests.adapters.harness import Adapter

ADAPTERS: tuple[Adapter, ...] = (*DECORATED, *BY_HAND, *GRAPHS)
