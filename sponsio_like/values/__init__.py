"""JSON values as contracts read them.

In: arguments and answers of tools. Out: private copies, canonical forms and digests, the values at
a path, the pieces of a text. Caps bound how much of one value is read.
"""

from sponsio_like.values.canonical_form import (
    NotCanonical,
    canonical,
    composed,
    digest,
    exactly,
    normal,
)
from sponsio_like.values.effort import Effort, once_per_decision, spend
from sponsio_like.values.frozen import (
    UNREADABLE,
    Cut,
    Room,
    flat_copy,
    freeze,
    freeze_args,
    small_answer,
)
from sponsio_like.values.leaks import carried_in, key_of, keys_of, leak_fields, offered_in
from sponsio_like.values.limits import (
    ANSWER_CAP,
    DEPTH_CAP,
    EFFORT_CAP,
    FORM_WORK,
    HEARD,
    JSON_CAP,
    LEAK_WORK,
    NUMBER_CAP,
    SHORT_TEXT,
    TEXT_CAP,
    TOLD_WORK,
    VALUE_WORK,
    VALUES_CAP,
)
from sponsio_like.values.paths import is_folder, place_of, plainly_under, real, under
from sponsio_like.values.places import (
    ABSENT,
    Many,
    Spot,
    find,
    forget_paths,
    has_gaps,
    is_gone,
    is_list,
    leaves_of,
    path_parts,
    reach,
    spot,
    value_in_result,
    values_in_json,
    without_nulls,
)
from sponsio_like.values.plain import (
    as_answer,
    as_data,
    as_members,
    given_args,
    given_value,
    unwrapped,
    written_data,
)
from sponsio_like.values.text_kinds import TEXT_KINDS, Facts, TextKind, kind_step
from sponsio_like.values.tokens import GIVEN_CAP, leaves, read_json, scalar_text, words_in
from sponsio_like.values.visible_text import folded
from sponsio_like.values.word_index import WordIndex, cores_of, index_words

# fmt: off
__all__ = [
    "ABSENT", "ANSWER_CAP", "DEPTH_CAP", "EFFORT_CAP", "FORM_WORK", "GIVEN_CAP", "HEARD",
    "JSON_CAP", "LEAK_WORK", "NUMBER_CAP", "SHORT_TEXT", "TEXT_CAP", "TEXT_KINDS", "TOLD_WORK",
    "UNREADABLE", "VALUES_CAP", "VALUE_WORK", "Cut", "Effort", "Facts", "Many", "NotCanonical",
    "Room", "Spot", "TextKind", "WordIndex", "as_answer", "as_data", "as_members", "canonical",
    "carried_in", "composed", "cores_of", "digest", "exactly", "find", "flat_copy", "folded",
    "forget_paths", "freeze", "freeze_args", "given_args", "given_value", "has_gaps", "index_words",
    "is_folder", "is_gone", "is_list", "key_of", "keys_of", "kind_step", "leak_fields", "leaves",
    "leaves_of", "normal", "offered_in", "once_per_decision", "path_parts", "place_of",
    "plainly_under", "reach", "read_json", "real", "scalar_text", "small_answer", "spend", "spot",
    "under", "unwrapped", "value_in_result", "values_in_json", "without_nulls", "words_in",
    "written_data",
]
# fmt: on
