"""Values that look like others, or like nothing, do not walk past a rule."""

from __future__ import annotations

from typing import Any

import pytest

from sponsio_like.patterns import precedence
from tests.manifest import requirement
from tests.traps.test_found_cut import played

TO = {"matches": r"(\w+)@", "bind": "$x"}
VET = {"tool": "vet", "args": {"n": "$x"}}
UNMATCHED: tuple[Any, ...] = ("eve", "", ["bob@x", "eve"], ["bob@x", ""])


@requirement("S-VALUE-19")
@pytest.mark.parametrize("to", ["eve@x", *UNMATCHED], ids=repr)
def test_an_address_without_the_name_that_is_bound_is_not_vetted(to: Any) -> None:
    """A field in which the regular expression finds nothing lacks the value that is required."""
    rule = precedence({"tool": "pay", "args": {"to": TO}}, VET)
    assert played(rule, ("vet", {"n": "bob"}), ("pay", {"to": to})) == "AB"
    assert played(rule, ("vet", {"n": "bob"}), ("pay", {"to": "bob@x"})) == "AA"


@requirement("S-VALUE-19")
def test_missing_skip_lets_a_field_without_the_name_alone() -> None:
    """`missing: skip` says that the regular expression may find nothing; what it finds counts."""
    rule = precedence({"tool": "pay", "args": {"to": TO}, "missing": "skip"}, VET)
    for to in ("eve", "", ["bob@x", "eve"]):
        assert played(rule, ("vet", {"n": "bob"}), ("pay", {"to": to})) == "AA", to
    assert played(rule, ("vet", {"n": "bob"}), ("pay", {"to": "ann@x"})) == "AB"
