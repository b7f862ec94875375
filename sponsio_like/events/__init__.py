"""The events of a session, and the functions that read atoms and terms at one of them.

In: calls, messages, steps and results, and what is told beside them. Out: readers of one event.
"""

from sponsio_like.event_types import (
    Call,
    End,
    Event,
    HeldBy,
    Kind,
    Message,
    Result,
    Status,
    Step,
    Ticket,
    TicketStatus,
    kind_of,
)
from sponsio_like.events.argument_atoms import (
    ANY_TEXT,
    ODD_TEXTS,
    RARE,
    blank_tolerant,
    nested_values,
    patterns_of,
    refuse_match_all,
    regex_searches,
    whole_or_anchored,
)
from sponsio_like.events.atoms import (
    LATE,
    MISSING,
    OPEN,
    Concerns,
    Truth,
    answer_reader,
    concerns,
    elapsed,
    glob_matcher,
    glob_matches,
    inputs_of,
    is_status,
    kinds_of,
    meets,
    names_tool,
    reader,
    settled_value,
    value_reader,
)
from sponsio_like.events.condition_tests import comparison_test, single, texts_of
from sponsio_like.events.context import (
    MODELS,
    NOTHING_TOLD,
    Context,
    check_fact,
    check_message,
    check_settled,
    names,
    of_batch,
    tokens_of,
    tool_of,
)
from sponsio_like.events.denials import Counted, Denials
from sponsio_like.events.registry import CUSTOM, atom, custom, taking
from sponsio_like.events.relations import (
    REGEX_CAP,
    WORK_CAP,
    RegexSearch,
    captures,
    compare,
    comparison,
    number,
    number_in,
    regex,
    same,
)
from sponsio_like.events.text_atoms import arg_inside

# fmt: off
__all__ = [
    "ANY_TEXT", "CUSTOM", "LATE", "MISSING", "MODELS", "NOTHING_TOLD", "ODD_TEXTS", "OPEN", "RARE",
    "REGEX_CAP", "WORK_CAP", "Call", "Concerns", "Context", "Counted", "Denials", "End", "Event",
    "HeldBy", "Kind", "Message", "RegexSearch", "Result", "Status", "Step", "Ticket",
    "TicketStatus", "Truth", "answer_reader", "arg_inside", "atom", "blank_tolerant", "captures",
    "check_fact",
    "check_message", "check_settled", "compare", "comparison", "comparison_test", "concerns",
    "custom", "elapsed", "glob_matcher", "glob_matches", "inputs_of", "is_status", "kind_of",
    "kinds_of", "meets", "names", "names_tool", "nested_values", "number", "number_in", "of_batch",
    "patterns_of", "reader", "refuse_match_all", "regex", "regex_searches", "same", "settled_value",
    "single", "taking", "texts_of", "tokens_of", "tool_of", "value_reader", "whole_or_anchored",
]
# fmt: on
