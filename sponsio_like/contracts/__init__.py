"""Contracts as people write them: YAML, sentences, mappings, Python.

In: files and declarations. Out: a `Contract` with its rules, or every mistake with its place.
Patterns are declared here, and defined in a room of their own.
"""

from sponsio_like.contracts.about import (
    FALLBACK,
    KEYS,
    UNSAID,
    About,
    filled,
    read_language,
    said_of,
)
from sponsio_like.contracts.blocks import (
    Counts,
    before,
    by_name,
    calls_of_any,
    counted_calls,
    dependent_calls,
    earlier,
    excluding,
    exclusive,
    fresh_variable,
    granted_since_last,
    having,
    narrowed,
    optional,
    refusing,
    whenever,
    worked,
)
from sponsio_like.contracts.comparisons import check_comparisons
from sponsio_like.contracts.composition import NO_TEXTS, Source, Texts, files_of, source_name
from sponsio_like.contracts.conditions import regexes
from sponsio_like.contracts.confirmation import confirmed, reads_answer
from sponsio_like.contracts.contradictions import (
    check_disjoint,
    check_release,
    check_settles,
    covered,
)
from sponsio_like.contracts.declaration import (
    CATALOG,
    Parameter,
    Pattern,
    Rule,
    catalog,
    find_pattern,
    pattern,
    when_declared,
)
from sponsio_like.contracts.definition import (
    ALL_INPUTS,
    MODES,
    Contract,
    Scope,
    contract,
    contracts_of,
    fingerprint,
    formulas,
    inputs_needed,
    place_of,
    read_share,
)
from sponsio_like.contracts.field_kinds import (
    TOOL_FORMS,
    FieldKind,
    common_kind,
    contradiction,
    is_text_kind,
    joined_kinds,
    schema_fields,
    schema_kind,
    schema_of_tool,
)
from sponsio_like.contracts.guarantees import remarks
from sponsio_like.contracts.imports import import_rules
from sponsio_like.contracts.inventory import (
    CONTRACT,
    NOTHING_KNOWN,
    SHOWN,
    Fields,
    Inventory,
    InventoryLike,
    MetTools,
    Unlisted,
    declared,
    read_inventory,
    read_kind,
)
from sponsio_like.contracts.layout import formatted, laid_out
from sponsio_like.contracts.loader import File, load, loads
from sponsio_like.contracts.parameters import (
    Accept,
    AnswerField,
    Default,
    Duration,
    Event,
    ExactTools,
    Field,
    Folder,
    Moment,
    Name,
    Natural,
    Number,
    NumberField,
    Occurrence,
    OneTool,
    Positive,
    Regex,
    Renames,
    Scalars,
    Success,
    Tools,
    Window,
    Within,
    default,
    expects,
)
from sponsio_like.contracts.risk_section import Examine, RiskSection, intervention
from sponsio_like.contracts.schema import SCHEMA_NAME, modeline, schema_text
from sponsio_like.contracts.sentences import read_sentence
from sponsio_like.contracts.slips import (
    check_idle_missing,
    check_slips,
    check_tools_meant,
    doubts,
    unsaid,
)
from sponsio_like.contracts.steps import read_steps
from sponsio_like.contracts.strategies import STRATEGIES, mailboxes, ruling
from sponsio_like.contracts.targets import Vocabulary, join, known_field, read_target
from sponsio_like.contracts.templates import argument_text, made_name
from sponsio_like.contracts.tests_section import Expected, WrittenTest
from sponsio_like.contracts.typed_fields import unknown_facts, values_never_had
from sponsio_like.contracts.yaml_document import SIZE_CAP, parse

# fmt: off
__all__ = [
    "ALL_INPUTS", "CATALOG", "CONTRACT", "FALLBACK", "KEYS", "MODES", "NOTHING_KNOWN", "NO_TEXTS",
    "SCHEMA_NAME", "SHOWN", "SIZE_CAP", "STRATEGIES", "TOOL_FORMS", "UNSAID", "About", "Accept",
    "AnswerField", "Contract", "Counts", "Default", "Duration", "Event", "ExactTools", "Examine",
    "Expected", "Field", "FieldKind", "Fields", "File", "Folder", "Inventory", "InventoryLike",
    "MetTools", "Moment", "Name", "Natural", "Number", "NumberField", "Occurrence", "OneTool",
    "Parameter", "Pattern", "Positive", "Regex", "Renames", "RiskSection", "Rule", "Scalars",
    "Scope", "Source", "Success", "Texts", "Tools", "Unlisted", "Vocabulary", "Window", "Within",
    "WrittenTest", "argument_text", "before", "by_name", "calls_of_any", "catalog",
    "check_comparisons", "check_disjoint", "check_idle_missing", "check_release", "check_settles",
    "check_slips", "check_tools_meant", "common_kind", "confirmed", "contract", "contracts_of",
    "contradiction", "counted_calls", "covered", "declared", "default", "dependent_calls", "doubts",
    "earlier", "excluding", "exclusive", "expects", "files_of", "filled", "find_pattern",
    "fingerprint", "formatted", "formulas", "fresh_variable", "granted_since_last", "having",
    "import_rules", "inputs_needed", "intervention", "is_text_kind", "join", "joined_kinds",
    "known_field", "laid_out", "load", "loads", "made_name", "mailboxes", "modeline", "narrowed",
    "optional", "parse", "pattern", "place_of", "read_inventory", "read_kind", "read_language",
    "read_sentence", "read_share", "read_steps", "read_target", "reads_answer", "refusing",
    "regexes", "remarks", "ruling", "said_of", "schema_fields", "schema_kind", "schema_of_tool",
    "schema_text", "source_name", "unknown_facts", "unsaid", "values_never_had", "when_declared",
    "whenever", "worked",
]
# fmt: on
