"""The file of a model: written, read back, sealed; whatever is wrong with one is an error."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import contract
from sponsio_like.errors import RiskError
from sponsio_like.risk import RiskModel, learn, read_model
from sponsio_like.risk.model import _seal, dumps, loads
from tests.risk.runs import contracts, random_calls, trace
from tests.semantics.manifest import requirement


def model(seed: int = 1) -> RiskModel:
    """A model of random runs."""
    rng = random.Random(seed)
    runs = [trace(random_calls(rng, refused=True), f"{seed}.{i}") for i in range(60)]
    return learn(contracts(), runs)


def edited(change: Any, *, sealed: bool = True) -> str:
    """The text of a model, changed by somebody; `sealed`: who knows how to seal it."""
    data = json.loads(dumps(model()))
    change(data)
    return json.dumps({**data, "seal": _seal(data)} if sealed else data)


def test_a_model_is_read_back_as_it_was(tmp_path: Path) -> None:
    """Saved and read, a model is equal in everything."""
    kept, path = model(), tmp_path / "m.json"
    kept.save(path)
    again = read_model(path)
    assert (again, again.levels, again.moves) == (kept, kept.levels, kept.moves)
    assert (again.header.contracts, again.monitors) == (kept.header.contracts, kept.monitors)
    assert dumps(again) == dumps(kept)


@pytest.mark.parametrize("cut", [0, 1, 100, -2])
def test_a_truncated_file_is_refused(cut: int, tmp_path: Path) -> None:
    """A file that was cut anywhere is no model."""
    (tmp_path / "m.json").write_text(dumps(model())[:cut])
    with pytest.raises(RiskError, match=r"m\.json: not "):
        read_model(tmp_path / "m.json")


@requirement("S-RISK-08")
def test_an_edited_file_is_refused() -> None:
    """One count that was changed is noticed by the seal."""
    text = edited(lambda data: data["levels"][0][0].__setitem__(3, 1_000_000), sealed=False)
    with pytest.raises(RiskError, match="not as it was when it was written"):
        loads(text)


CHANGES = {
    "more hits than runs": lambda data: data["levels"][0][0].__setitem__(5, 9_999),
    "a negative count": lambda data: data["levels"][0][0].__setitem__(3, -1),
    "a count that is no number": lambda data: data["levels"][0][0].__setitem__(3, "7"),
    "a count that is a truth value": lambda data: data["levels"][0][0].__setitem__(4, True),
    "a missing horizon": lambda data: data["levels"][0][0].pop(),
    "a missing level": lambda data: data["levels"].pop(),
    "a move to nowhere": lambda data: data["moves"].append([0, 10**6, 1]),
    "a move from bad": lambda data: data["moves"].append(["bad", 0, 1]),
    "a move that nobody made": lambda data: data["moves"].append([0, 0, 0]),
    "no contracts": lambda data: data.pop("contracts"),
    "other data": lambda data: data["data"].update(more=1),
}


@pytest.mark.parametrize("what", CHANGES)
def test_counts_that_cannot_be_are_refused_even_when_sealed(what: str) -> None:
    """A file that was made with wrong counts is refused, whoever has sealed it."""
    with pytest.raises(RiskError, match="damaged"):
        loads(edited(CHANGES[what]))


def test_another_format_is_refused() -> None:
    """A file of another format, or any other JSON, is no model."""
    for text in (edited(lambda data: data.update(format="x 2")), "[]", "{}", "7"):
        with pytest.raises(RiskError, match="not a model of format"):
            loads(text)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """The path is named, and what is wrong with it."""
    with pytest.raises(RiskError, match="cannot be read: no such file"):
        read_model(tmp_path / "none.json")


def test_models_of_other_contracts_are_not_merged() -> None:
    """Contracts that mean something else are named; so is another reach."""
    other = [contract("look first").guarantees("tool `send` must precede `pay`"), contracts()[0]]
    with pytest.raises(RiskError, match="other contracts cannot be merged: `look first`"):
        model().merged(learn(other, [trace(["look"])]))
    with pytest.raises(RiskError, match="other reach"):
        model().merged(learn(contracts(), [trace(["look"])], reach=1))


@requirement("S-RISK-12")
def test_a_shard_is_never_counted_twice(tmp_path: Path) -> None:
    """A shard that is already in a model is refused, also after both were written and read."""
    one, two, three = (model(seed) for seed in (1, 2, 3))
    both = one.merged(two)
    both.save(tmp_path / "b.json")
    for known in (both, read_model(tmp_path / "b.json")):
        for again in (one, two, three.merged(two), known):
            with pytest.raises(RiskError, match=r"counted twice; merge each model once"):
                known.merged(again)
        assert known.merged(three).data.traces == 180
    with pytest.raises(RiskError, match="1 of the merged shards"):
        one.merged(model(1))


def test_a_file_without_shards_is_one_shard() -> None:
    """A model that was written before shards were noted is read, and not merged with itself."""
    kept = loads(edited(lambda data: data["data"].pop("shards")))
    with pytest.raises(RiskError, match="counted twice"):
        kept.merged(model())
