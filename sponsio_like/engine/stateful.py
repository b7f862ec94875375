"""Whether a clause remembers: whether anything but the event at hand can change what it says.

In: a compiled clause. Out: yes or no. What is not certain to be told by the event alone counts as
remembered; of an atom of the user, what it declares.
"""

from __future__ import annotations

from sponsio_like.engine.clause import Clause
from sponsio_like.events.atoms import inputs_of
from sponsio_like.logic.formula import Denied, postorder

TOLD = frozenset({"facts", "usage", "results"})
"""The inputs that reach a session apart from the event that is decided."""


def remembers(clause: Clause) -> bool:
    """Whether a session has to keep anything for it, or to be told anything besides."""
    if clause.by or clause.kind_of_scope is not None or not clause.monitor.plain:
        return True
    if clause.monitor.past.cells or clause.gate.past.cells:
        return True
    read = [each for slot in clause.slots for each in postorder(slot.node)]
    return any(isinstance(each, Denied) or inputs_of(each) & TOLD for each in read)
