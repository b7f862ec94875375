"""Bad contract files: by hand, each with what is said of it; and every key with every fault."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from sponsio_like.contracts.loader import loads
from sponsio_like.errors import ContractError
from sponsio_like.replay import checked
from tests.fuzz.readers import broken, formulas, read_file_text, read_formula, seeds
from tests.project.test_contract_files import BASE, KEYS, Key, skeleton

BY_HAND: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "bad_files.yaml").read_text("utf-8")
)
HURRIED: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "hurried_files.yaml").read_text("utf-8")
)
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
PLACE = re.compile(r"(?:contracts|base)\.yaml:(\d+):(\d+)")


@pytest.mark.parametrize("row", BY_HAND, ids=lambda row: row["name"])
def test_a_bad_file_is_told_with_place_and_advice(
    row: Mapping[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every mistake of a file is told at once, with its line, its column and what to write."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.yaml").write_text(row["file"], "utf-8")
    found = checked(Path("c.yaml"), lambda _: ())
    assert [str(each) for each in found.mistakes] == row["says"]


@pytest.mark.parametrize("row", HURRIED, ids=lambda row: row["name"])
def test_what_a_hurried_user_writes_is_refused_or_warned_of(
    row: Mapping[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What would guard something else than its author thinks is told, with place and cure."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.yaml").write_text(row["file"], "utf-8")
    found = checked(Path("c.yaml"), lambda _: ())
    warned = [f"warning: {each}" for each in found.remarks]
    assert [*map(str, found.mistakes), *warned] == row["says"] != []


def test_there_are_many_of_them() -> None:
    """No two bad files have the same name, and each is refused."""
    assert len({row["name"] for row in BY_HAND}) == len(BY_HAND) >= 80
    assert all(row["says"] for row in BY_HAND)


# --- every key, with every fault ------------------------------------------------------------------

WRONG: Mapping[str, Any] = {
    "null": None,
    "a truth value": True,
    "a number": 3,
    "a fraction": -0.5,
    "a large number": 10**40,
    "an empty text": "",
    "a text": "nonsense `x",
    "a long text": "x" * 70_000,
    "an empty list": [],
    "a list": ["x", 3],
    "an empty mapping": {},
    "a mapping": {"nonsense": {"x": []}},
    "a deep list": [[[[[[["x"]]]]]]],
}


def places(data: Any, name: str) -> Iterator[tuple[Any, ...]]:
    """The paths of a key in data."""
    items = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    for key, value in items:
        if key == name:
            yield (key,)
        yield from ((key, *path) for path in places(value, name))


def changed(data: Any, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    """A copy of data, with what stands at a path changed."""
    made = copy.deepcopy(data)
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    change(inner, path[-1])
    return made


def misspell(at: dict[Any, Any], key: Any) -> None:
    """Write a key wrongly."""
    at[f"{key}x"] = at.pop(key)


def faults(data: Any, path: tuple[Any, ...]) -> Iterator[tuple[str, str]]:
    """Every fault of a key, with the text of the file that has it."""

    def put(value: Any, at: str | None = None) -> Any:
        def change(inner: dict[Any, Any], key: Any) -> None:
            inner[key if at is None else at] = copy.deepcopy(value)

        return changed(data, path, change)

    for fault, value in WRONG.items():
        yield fault, text_of(put(value))
    held = data
    for each in path:
        held = held[each]
    yield "misspelt", text_of(changed(data, path, misspell))
    yield "missing", text_of(changed(data, path, lambda inner, key: inner.pop(key)))
    yield "twice", text_of(put(held, "TWICE")).replace("TWICE", str(path[-1]))
    yield "alias bomb", text_of(put("BOMB")).replace("BOMB", "&a [x, x]").rstrip() + "\nb: [*a]\n"


def text_of(data: Any) -> str:
    """The data as YAML, without anchors."""
    return str(yaml.dump(data, Dumper=DUMPER, sort_keys=False, default_flow_style=False))


@pytest.mark.parametrize("key", KEYS, ids=lambda key: f"{key.kind} {key.name}")
def test_every_fault_of_every_key_is_told_with_its_place(
    key: Key, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A value of another type, a misspelt key, one twice: read, or refused in the file's lines."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base.yaml").write_text(BASE, "utf-8")
    data = skeleton(key.kind, key.name, yaml.safe_load(key.example))()
    path = next(places(data, key.name), None)
    if path is None:  # a name among others: it has no value
        assert key.kind == "strategies"
        return
    for fault, text in faults(data, path):
        Path("contracts.yaml").write_text(text, "utf-8")
        found = checked(Path("contracts.yaml"), lambda _: ()).mistakes
        if fault in ("misspelt", "twice", "alias bomb"):
            assert found, fault
        for each in found:
            place = PLACE.fullmatch(each.where)
            assert place, (fault, each)
            assert int(place[1]) <= text.count("\n") + 1, (fault, each)


def test_aliases_are_refused_before_they_are_followed() -> None:
    """A file of aliases of aliases is refused at the first anchor, however much it would become."""
    names = [f"a{i}" for i in range(60)]
    pairs = itertools.pairwise(names)
    lines = ["a0: &a0 [x, x]", *(f"{b}: &{b} [*{a}, *{a}, *{a}]" for a, b in pairs), "version: 1"]
    with pytest.raises(ContractError, match=r"1:5: anchor `&a0`"):
        loads("\n".join(lines))


def test_a_text_with_half_a_character_is_refused() -> None:
    """Half of a surrogate pair is no YAML; it ended in a traceback."""
    with pytest.raises(ContractError, match=r"contracts:1:4: not YAML: character '\\ud800'"):
        loads("a: \ud800")


def test_broken_files_and_formulas_are_read_or_refused() -> None:
    """A short run of `python -m tests.fuzz.readers`."""
    import random

    rng, files = random.Random(3), seeds()
    texts = formulas(files)
    for _ in range(300):
        read_file_text(broken(rng.choice(files), files, rng))
        read_formula(broken(rng.choice(texts), texts, rng))
