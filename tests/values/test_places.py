"""What stands at a path: as conditions, keys, and patterns over arguments each read it."""

from __future__ import annotations

from typing import Any

import pytest

import sponsio_like.kinds  # noqa: F401  declares the kinds
from sponsio_like.values.frozen import UNREADABLE
from sponsio_like.values.places import (
    ABSENT,
    Many,
    find,
    has_gaps,
    is_gone,
    is_list,
    leaves_of,
    parsed_text,
    reach,
    reached,
    spot,
    value_in_result,
    without_nulls,
)
from tests.semantics.manifest import requirement


def one_of(*parts: Any) -> Many:
    """Several values where one was meant."""
    return Many(parts, each=False)


def each_of(*parts: Any) -> Many:
    """Several values that are asked for one by one."""
    return Many(parts, each=True)


@requirement("S-ATOM-04")
@pytest.mark.parametrize(
    ("data", "path", "found"),
    [
        ({"a": None}, "a", None),
        ({}, "a", ABSENT),
        ({"a": None}, "a.b", ABSENT),
        ({"a": {}}, "a.b", ABSENT),
        ({"a": {"b": 2}}, "a.b", 2),
        ({"a.b": 1}, "a.b", 1),
        ({"a.b": 1, "a": {"b": 2}}, "a.b", one_of(1, 2)),
        ({"a[]": 5, "a": [1]}, "a[]", one_of(5, each_of(1))),
        ({"a": [{"b": 1}, {"b": 2}]}, "a.b", one_of(1, 2)),
        ({"a": [{"b": 1}, {}]}, "a[].b", each_of(1, ABSENT)),
        ({"a": [[1], [2]]}, "a[][]", each_of(each_of(1), each_of(2))),
        ({"a": {"b": 1}}, "a[].b", UNREADABLE),
        ({"a": UNREADABLE}, "a.b", UNREADABLE),
        ([1, 2], "[]", each_of(1, 2)),
        ({"[]": 1}, "[]", UNREADABLE),
    ],
)
def test_a_path_leads_to_what_stands_there(data: Any, path: str, found: Any) -> None:
    """In arguments and in answers; what is of another shape cannot be told."""
    assert spot(data, path) == found
    assert value_in_result(data, path) == found


@pytest.mark.parametrize(
    ("data", "path", "found"),
    [
        ({"a": "b.com"}, "a:domain.name", "b.com"),
        ({"a": "b.com"}, "a:domain", "b.com"),
        ({"a": "b.com"}, "a:domain.labels[]", each_of("com", "b")),
        ({"a": "b.com"}, "a:domain.labels", one_of("com", "b")),
        ({"a": "b.com", "a:domain.name": 1}, "a:domain.name", one_of(1, "b.com")),
        ({"a": None}, "a:domain.name", ABSENT),
        ({}, "a:domain.name", ABSENT),
        ({"a": 7}, "a:domain.name", UNREADABLE),
        ({"a": ["b.com"]}, "a:domain.name", one_of("b.com")),
        ({"a": ["b.com"]}, "a[]:domain.name", each_of("b.com")),
        ({"a": {"b": "c.com"}}, "a.b:domain.name", "c.com"),
        (["b.com"], "[]:domain.name", each_of("b.com")),
    ],
)
def test_a_path_leads_to_a_fact_of_a_text(data: Any, path: str, found: Any) -> None:
    """The text may stand anywhere, and a key that is the whole path stands beside the fact."""
    assert spot(data, path) == found
    assert value_in_result(data, path) == found


@requirement("S-ATOM-04")
@pytest.mark.parametrize(
    ("data", "path", "in_arguments", "in_an_answer"),
    [
        ({"a": "text"}, "a.b", UNREADABLE, ABSENT),
        ({"a": 7}, "a.b", UNREADABLE, ABSENT),
        ({"a": '{"b": 1}'}, "a.b", UNREADABLE, 1),
        ({"a": " [1]"}, "a[]", UNREADABLE, each_of(1)),
        ({"a": "[1"}, "a[]", UNREADABLE, ABSENT),
        ({"a": '"b"'}, "a.b", UNREADABLE, ABSENT),
    ],
)
def test_a_plain_scalar_has_fields_in_arguments_alone(
    data: Any, path: str, in_arguments: Any, in_an_answer: Any
) -> None:
    """What a tool makes of such an argument cannot be told; an answer says what it says."""
    assert spot(data, path) == in_arguments
    assert value_in_result(data, path) == in_an_answer
    assert value_in_result("x", "") == "x"
    assert parsed_text("7") is ABSENT


@requirement("S-KEY-03")
@pytest.mark.parametrize(
    ("data", "path", "found"),
    [
        ({"a": {"b": 2}}, "a.b", [2]),
        ({"a.b": 1, "a": {"b": 2}}, "a.b", [1, 2]),
        ({"a": [{"b": 1}, {"b": 2}, {}]}, "a[].b", [1, 2]),
        ({"a": {"b": 1}}, "a[].b", []),
        ({"a": "b"}, "a.b", []),
        ({"a": UNREADABLE}, "a.b", [UNREADABLE]),
        ({"a": 1}, "a", [1]),
        ({}, "a", []),
    ],
)
def test_keys_are_the_values_at_a_path(data: Any, path: str, found: Any) -> None:
    """What is of another shape is missing."""
    assert find(data, path) == found


@pytest.mark.parametrize(
    ("data", "path", "found", "lacking"),
    [
        ({"a": 1}, "a", [1], False),
        ({}, "a", [], True),
        ({"a.b": 1}, "a.b", [1], False),
        ({"a.b": 1, "a": {"b": 2}}, "a.b", [1, 2], False),
        ({"a": "has b"}, "a.b", ["has b"], True),
        ({"a": ["b", 2]}, "a.b", [["b", 2]], True),
        ({"a": {"b": 1}}, "a[].b", [1], True),
        ({"a": [{"b": 1}, {}]}, "a[].b", [1], True),
        ({"a": []}, "a[]", [], True),
        ({"a": 1, "b": 2}, "*", [1, 2], False),
        ({}, "*", [], True),
        ("odd", "a", ["odd"], False),
    ],
)
def test_patterns_look_at_what_stands_in_the_way_of_a_path(
    data: Any, path: str, found: list[Any], lacking: bool
) -> None:
    """A value of another shape is found as it is, and what is missing is said."""
    assert reach(data, path) == (found, lacking)


def test_an_empty_list_lacks_nothing_where_each_element_is_asked() -> None:
    """It has no element that could lack it."""
    assert reached({"a": []}, "a[].b") == ([], False)
    assert reached({"a": {}}, "a.b") == ([], True)


@requirement("S-CMP-08")
@pytest.mark.parametrize(
    ("place", "gaps", "listed", "leaves"),
    [
        (1, False, False, [1]),
        (None, True, False, [None]),
        (ABSENT, True, False, []),
        ([], True, True, []),
        ([None, [1]], False, True, [None, 1]),
        (each_of(1, ABSENT), True, True, [1]),
        (each_of(1, each_of(2, [])), True, True, [1, 2]),
        (one_of(1, [2, 3]), False, True, [1, 2, 3]),
        (each_of(), False, True, []),
    ],
)
def test_gaps_are_told_apart_from_values(
    place: Any, gaps: bool, listed: bool, leaves: list[Any]
) -> None:
    """In every element, however deep it stands."""
    assert has_gaps(place) is gaps
    assert is_list(place) is listed
    assert list(leaves_of(place)) == leaves


@requirement("S-CMP-08", "S-KEY-06")
def test_nulls_and_empty_lists_count_as_missing() -> None:
    """Where all arguments are compared together, a null is as if it were not given."""
    assert without_nulls({"a": None, "b": 0, "c": []}) == {"b": 0, "c": []}
    assert without_nulls({"a": 1, "b": False}) == {"a": 1, "b": False}
    assert all(map(is_gone, [None, [], [None], [[], None]]))
    assert not any(map(is_gone, [0, "", False, {}, [None, 0]]))
