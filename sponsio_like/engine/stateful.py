"""Decides whether a clause is stateful: whether earlier events can change what it says of this one.

In: a compiled clause. Out: True if it is. A clause counts as stateful unless the event alone is
certain to decide; an atom of the user, by what it declares.
"""

from __future__ import annotations

from sponsio_like.engine.clause import Clause
from sponsio_like.events import inputs_of
from sponsio_like.logic.formula import Denied, postorder

TOLD = frozenset({"facts", "usage", "results"})
"""The inputs that reach a session apart from the event that is decided."""


def is_stateful(clause: Clause) -> bool:
    """True if a session has to keep anything for the clause, or to be told anything besides the
    event.
    """
    if clause.by or clause.kind_of_scope is not None or not clause.monitor.plain:
        return True
    if clause.monitor.past.cells or clause.gate.past.cells:
        return True
    read = [each for slot in clause.slots for each in postorder(slot.node)]
    return any(isinstance(each, Denied) or inputs_of(each) & TOLD for each in read)
