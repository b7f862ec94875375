"""Monitors of formulas: (state, letter) -> (state, violated), with exact verdicts.

In: a formula. Out: a `Program`, and a `Monitor` that steps through letters and says at each whether
the formula is violated, satisfied or open. `parametric` does it for each value of a variable.

Read first `monitor.py`. It asks `past.py` for registers, `progression.py` for what is owed next,
`branches.py` for the registers while calls are in flight, and `reachability.py` if what is owed can
still be kept.
"""

from sponsio_like.monitor.alphabet import (
    OTHER,
    Name,
    fixed_at,
    static,
    targets_of,
    told_apart,
    tool_names,
    unconcerned_letter,
)
from sponsio_like.monitor.branches import SLOTS_CAP, TooManyBranches
from sponsio_like.monitor.delay import positions_until
from sponsio_like.monitor.in_flight import open_positions, settle_residual
from sponsio_like.monitor.monitor import Monitor, State, Verdict, overall
from sponsio_like.monitor.older_registers import has_one_register, with_one_register
from sponsio_like.monitor.owed import Instance, owing, times_due
from sponsio_like.monitor.parametric.atoms import CallMatcher, OutputMatcher
from sponsio_like.monitor.parametric.bindings import Bindings, BoundLetters, Revealed
from sponsio_like.monitor.parametric.lookup import BINDING, UNBOUND, Form
from sponsio_like.monitor.parametric.result_bindings import is_part, is_tied, places_of, ties
from sponsio_like.monitor.parametric.store import (
    RELATED_CAP,
    SKIPPED_CAP,
    STATES_CAP,
    VALUES_CAP,
    ValueStates,
    never,
    only_permits,
)
from sponsio_like.monitor.parametric.variables import (
    LONG,
    Crowd,
    Key,
    TextKeys,
    VariableLayout,
    all_vars,
    relations,
    value_text,
    variable_layout,
    vars_given_by_context,
    vars_in,
)
from sponsio_like.monitor.past import (
    EXACT,
    Letter,
    Past,
    Register,
    Registers,
    Value,
    kept,
)
from sponsio_like.monitor.past_source import Code, Emitter, Names
from sponsio_like.monitor.program import (
    FUTURE,
    PAST,
    STAMPED,
    STATEFUL,
    Op,
    Program,
    Slot,
    bounded_steps,
    operands,
)
from sponsio_like.monitor.progression import Position
from sponsio_like.monitor.reasons import JudgedPosition, Reason, reasons_of
from sponsio_like.monitor.relative_state import (
    NEVER,
    awaits_results,
    due,
    is_unchanged,
    key_after,
    memory,
)
from sponsio_like.monitor.relevance import (
    Known,
    Relevance,
    RootedProgram,
    concerned,
    dont_care_slots,
    keeps_registers,
    known,
    remembers_texts_once,
    stateless,
    unchanged_by,
)
from sponsio_like.monitor.residual import (
    NO,
    YES,
    Literal,
    Residual,
    conjunction,
    literals_of,
    one,
    overdue,
    renumbered,
)
from sponsio_like.monitor.slots import KEY_CAP, likeness, slot_reader, split_key
from sponsio_like.monitor.state import (
    Change,
    ClauseState,
    ClauseStep,
    Judgement,
    Now,
    PositionCounts,
    Read,
    Witness,
)
from sponsio_like.monitor.trees import (
    Addition,
    Branch,
    Comparison,
    ToCome,
    branching,
    renamed_trees,
)
from sponsio_like.monitor.windows import WindowEntry, of_today

# fmt: off
__all__ = [
    "BINDING", "EXACT", "FUTURE", "KEY_CAP", "LONG", "NEVER", "NO", "OTHER", "PAST", "RELATED_CAP",
    "SKIPPED_CAP", "SLOTS_CAP", "STAMPED", "STATEFUL", "STATES_CAP", "UNBOUND", "VALUES_CAP", "YES",
    "Addition", "Bindings", "BoundLetters", "Branch", "CallMatcher", "Change", "ClauseState",
    "ClauseStep", "Code", "Comparison", "Crowd", "Emitter", "Form", "Instance", "JudgedPosition",
    "Judgement", "Key", "Known", "Letter", "Literal", "Monitor", "Name", "Names", "Now", "Op",
    "OutputMatcher", "Past", "Position", "PositionCounts", "Program", "Read", "Reason", "Register",
    "Registers", "Relevance", "Residual", "Revealed", "RootedProgram", "Slot", "State", "TextKeys",
    "ToCome", "TooManyBranches", "Value", "ValueStates", "VariableLayout", "Verdict", "WindowEntry",
    "Witness", "all_vars", "awaits_results", "bounded_steps", "branching", "concerned",
    "conjunction", "dont_care_slots", "due", "fixed_at", "has_one_register", "is_part", "is_tied",
    "is_unchanged", "keeps_registers", "kept", "key_after", "known", "likeness", "literals_of",
    "memory", "never", "of_today", "one", "only_permits", "open_positions", "operands", "overall",
    "overdue", "owing", "places_of", "positions_until", "reasons_of", "relations",
    "remembers_texts_once", "renamed_trees", "renumbered", "settle_residual", "slot_reader",
    "split_key", "stateless", "static", "targets_of", "ties", "times_due", "told_apart",
    "tool_names", "unchanged_by", "unconcerned_letter", "value_text", "variable_layout",
    "vars_given_by_context", "vars_in", "with_one_register",
]
