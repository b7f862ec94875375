"""The state that a guarded node reads: the graph's own, and the channel of the session.

In: the schema of a graph's state: a `TypedDict`, a dataclass or a pydantic model. Out: the same
with `contracts`, which only the guarded node knows: nobody can pass it in, and no output shows
it.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypedDict, get_type_hints

from typing_extensions import is_typeddict  # as LangGraph's own states

from sponsio_like.adapters.langgraph.lineage import CHANNEL, GuardedState


def with_channel(schema: Any) -> Any:
    """The schema, with the channel. Raises `TypeError` for what is none of the three."""
    from pydantic import BaseModel, create_model

    if not isinstance(schema, type):
        raise _unlike(schema)
    name = f"Guarded{schema.__name__}"
    channel = get_type_hints(GuardedState, include_extras=True)[CHANNEL]
    hints = get_type_hints(schema, include_extras=True)
    if CHANNEL in hints:
        return schema
    if dataclasses.is_dataclass(schema):
        more: list[Any] = [(CHANNEL, channel, dataclasses.field(default_factory=dict))]
        frozen = schema.__dataclass_params__.frozen  # type: ignore[attr-defined]  # it is of all
        return dataclasses.make_dataclass(name, more, bases=(schema,), kw_only=True, frozen=frozen)
    if issubclass(schema, BaseModel):
        fields: dict[str, Any] = {CHANNEL: (channel, {})}
        return create_model(name, __base__=schema, **fields)
    if not is_typeddict(schema):
        raise _unlike(schema)
    return TypedDict(name, {**hints, CHANNEL: channel})  # type: ignore[operator]  # made when it runs


def _unlike(schema: Any) -> TypeError:
    return TypeError(
        f"the state of the graph is `{schema}`, which has no room for `{CHANNEL}`; write a "
        "TypedDict, a dataclass or a pydantic model"
    )
