"""One call on its way through the middlewares, from the outermost to the tool and back.

In: what becomes of it, attempt by attempt. Out: the entries that the session is told. What the tool
returned or raised counts, whatever the others make of it for the model.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph.errors import GraphBubbleUp, ParentCommand

from sponsio_like.adapters.langgraph.answers import handed_here, result_of
from sponsio_like.adapters.langgraph.gate import Ruling
from sponsio_like.adapters.langgraph.journal import Entry, catch_up, decision, result
from sponsio_like.adapters.langgraph.lineage import Kept
from sponsio_like.adapters.langgraph.outer import within
from sponsio_like.naming import fresh
from sponsio_like.running import Flow, Run, told
from sponsio_like.session import Session


@dataclass
class Way:
    """A call that is on its way: its `id`, `of` a message, and as what it was let through.

    `ran`: how often something was about to run; `anew`: some of it was decided on the way;
    `refused`: the last of it was.
    """

    session: Session
    kept: Kept
    id: str
    of: str | None
    ran: int = 0
    anew: bool = False
    refused: bool = False
    entries: list[Entry] = field(default_factory=list)

    @property
    def ruling(self) -> Mapping[str, Any] | None:
        """As what it was let through with the others of its message."""
        rulings = self.kept.get("rulings", {}) if self.kept.get("of") == self.of else {}
        ruling: Mapping[str, Any] | None = rulings.get(self.id)
        return ruling

    @property
    def own(self) -> str:
        """The id that it was let through under."""
        return str((self.ruling or {}).get("id", self.id))

    def came(self, id: str, what: Mapping[str, Any]) -> None:
        """This has come of an attempt: `output`, or `error`."""
        self.entries.append(result(fresh(), id, what))

    def decide(self, rule: Callable[[], Ruling], by: tuple[str, int]) -> Ruling:
        """Decide an attempt on what has come of those before it."""
        catch_up(self.session, self.entries)
        self.anew, ruling = True, rule()
        if ruling.settles:
            self.entries.append(decision(fresh(), ruling, by))
            catch_up(self.session, self.entries)
        return ruling

    def run(self, id: str, handler: Callable[[Any], Any], request: Any) -> Flow:
        """Run it, and note what comes of it; an interrupt is nothing yet."""
        with within(self.kept.get("place", ""), id) as call:
            try:
                output = yield Run(handler, (request,))
            except ParentCommand as error:
                output = handed_here(error)
                if output is None:
                    raise
            except GraphBubbleUp:
                raise
            except Exception as error:
                self.entries.extend(call.entries.values())
                self.came(id, {"error": told(error)})
                raise
        self.entries.extend(call.entries.values())
        self.came(id, result_of(output, request.tool_call["id"]))
        return output


_WAYS: dict[int, Way] = {}
"""The ways of calls, each by the runtime that it has for as long as its task runs."""


def begun(runtime: Any, begin: Callable[[], Way]) -> Way:
    """The way of the call of this runtime, which begins where it is first seen."""
    way = _WAYS.get(id(runtime))
    if way is None:
        way = _WAYS[id(runtime)] = begin()
        weakref.finalize(runtime, _WAYS.pop, id(runtime), None)
    return way


def way_of(runtime: Any) -> Way | None:
    """The way of the call of this runtime; None if it has not come past the outermost."""
    return _WAYS.get(id(runtime))
