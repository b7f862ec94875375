"""The model of risk: counts by state, with hashes of the contracts and of the data.

In: counts from `learner.py`, or a file. Out: a `RiskModel`; the same as JSON, sealed. Nothing that
follows from the counts stands in the file, so that nothing in it can contradict them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from sponsio_like.errors import RiskError
from sponsio_like.risk.abstraction import START
from sponsio_like.risk.bounds import Interval, clopper_pearson

FORMAT = "sponsio-like risk 1"
HORIZONS: tuple[int | None, ...] = (1, 3, 5, None)
"""The numbers of calls within which BAD is counted; None: at all."""
State: TypeAlias = tuple[str, tuple[str, ...], str]
"""The name of the monitors' state, the last symbols, the symbol of the proposed call."""
BAD, END, BEGIN = "bad", "end", "begin"
Move: TypeAlias = tuple[Any, Any]
"""From a state, or `begin`, to a state, `bad` or `end`."""
MODULUS = 1 << 256


class RunCount(NamedTuple):
    """The runs that came to a state: `hits` of them were bad within a horizon.

    `unknown` were stopped or changed by somebody before that could be seen; `runs` counts them too.
    """

    runs: int
    unknown: int
    hits: int

    def interval(self, delta: float) -> Interval:
        """Return the bounds of the risk at confidence 1 - delta; `unknown` runs widen them."""
        return clopper_pearson(self.hits, self.runs - self.unknown, delta, self.unknown)

    @property
    def known(self) -> int:
        """The runs of which the end is known."""
        return self.runs - self.unknown


@dataclass(frozen=True, slots=True)
class Header:
    """All that two models must share to be merged.

    `reach`: the most symbols in a state; `bad`: `violated`, or `field=value` of a trace;
    `predicates`: texts by name; `contracts`: a hash of the meaning of each.
    """

    reach: int
    bad: str
    contracts: Mapping[str, str] = field(hash=False)
    predicates: Mapping[str, str] = field(default_factory=dict, hash=False)
    horizons: tuple[int | None, ...] = HORIZONS


@dataclass(frozen=True, slots=True)
class Data:
    """The runs of which a model is made; `digest` is the same in any order of them.

    `shards`: the digests of the models that were merged; none if it was learned in one piece.
    """

    traces: int = 0
    bad: int = 0
    censored: int = 0
    left_out: int = 0
    digest: str = "0"
    shards: tuple[str, ...] = field(default=(), compare=False)

    @property
    def sources(self) -> tuple[str, ...]:
        """The digests of the pieces in which these runs were learned."""
        return self.shards or (self.digest,)

    def joined(self, other: Data) -> Data:
        """Return the data of both."""
        both = (int(self.digest, 16) + int(other.digest, 16)) % MODULUS
        return Data(
            self.traces + other.traces,
            self.bad + other.bad,
            self.censored + other.censored,
            self.left_out + other.left_out,
            f"{both:x}",
            tuple(sorted((*self.sources, *other.sources))),
        )


@dataclass(frozen=True, slots=True)
class RiskModel:
    """Counts of runs by state.

    `levels[r]` has the states with the last `r` symbols, each with the runs that came there, and
    for each horizon the unknown ones and the hits. `moves` are counted between the states of the
    longest level; `monitors` says what each name of the monitors' state stands for.
    """

    header: Header
    data: Data
    levels: tuple[Mapping[State, tuple[int, ...]], ...] = field(hash=False)
    moves: Mapping[Move, int] = field(hash=False)
    monitors: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def count(self, state: State, horizon: int | None = None, level: int = -1) -> RunCount:
        """Return the counts of a state; zeros for one that was never seen."""
        row = self.levels[level].get(state)
        at = self.column(horizon)
        return RunCount(0, 0, 0) if row is None else RunCount(row[0], row[at], row[at + 1])

    def column(self, horizon: int | None) -> int:
        """Return the place of a horizon in a row. Raises `RiskError` for one not counted."""
        if horizon not in self.header.horizons:
            known = ", ".join(str(each) for each in self.header.horizons if each is not None)
            hint = f"write one of {known}, or leave it out"
            raise RiskError(f"horizon {horizon} was not counted; {hint}")
        return 1 + 2 * self.header.horizons.index(horizon)

    @property
    def states(self) -> Mapping[State, tuple[int, ...]]:
        """The states of the longest level."""
        return self.levels[-1]

    def merged(self, other: RiskModel) -> RiskModel:
        """Return the model of the runs of both.

        Raises `RiskError` if they are of other things, or if a shard is in both.
        """
        _check_alike(self.header, other.header)
        if twice := {*self.data.sources} & {*other.data.sources}:
            raise RiskError(
                f"{len(twice)} of the merged shards would be counted twice; merge each model once"
            )
        levels = tuple(_added_rows(a, b) for a, b in zip(self.levels, other.levels, strict=True))
        moves = dict(self.moves)
        for move, n in other.moves.items():
            moves[move] = moves.get(move, 0) + n
        monitors = {**self.monitors, **other.monitors}
        return RiskModel(self.header, self.data.joined(other.data), levels, moves, monitors)

    def save(self, path: str | Path) -> None:
        """Write the model to a file."""
        Path(path).write_text(dumps(self), "utf-8")


def described(state: State) -> str:
    """Return a state in words: `get_webpage, send! then pay`."""
    monitors, symbols, proposed = state
    past = ", ".join(symbols) or "the beginning"
    mark = "" if monitors == START else f" (monitors {monitors})"
    return f"{past}{mark}, then {proposed}"


def shortened(state: State, level: int) -> State:
    """Return the state with the last `level` symbols only."""
    monitors, symbols, proposed = state
    return monitors, symbols[len(symbols) - level :] if level < len(symbols) else symbols, proposed


def _check_alike(one: Header, other: Header) -> None:
    for name in ("reach", "bad", "horizons", "predicates"):
        a, b = getattr(one, name), getattr(other, name)
        if a != b:
            raise RiskError(f"models of other {name} cannot be merged: `{a}` and `{b}`")
    if changed := changed_contracts(one.contracts, other.contracts):
        raise RiskError(f"models of other contracts cannot be merged: {', '.join(changed)}")


def changed_contracts(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Return the contracts that only one side has, or that do not mean the same."""
    names = sorted({*one, *other})
    return [f"`{name}`" for name in names if one.get(name) != other.get(name)]


def _added_rows(
    one: Mapping[State, tuple[int, ...]], other: Mapping[State, tuple[int, ...]]
) -> dict[State, tuple[int, ...]]:
    out = dict(one)
    for state, row in other.items():
        mine = out.get(state)
        out[state] = row if mine is None else tuple(map(int.__add__, mine, row))
    return out


# --- as JSON ----------------------------------------------------------------------------------


def dumps(model: RiskModel) -> str:
    """Return the text of a model's file."""
    header, number = model.header, {state: i for i, state in enumerate(sorted(model.states))}
    moves = [[number.get(a, a), number.get(b, b), n] for (a, b), n in model.moves.items()]
    data = {
        "format": FORMAT,
        "reach": header.reach,
        "bad": header.bad,
        "horizons": list(header.horizons),
        "predicates": dict(header.predicates),
        "contracts": dict(sorted(header.contracts.items())),
        "data": {name: getattr(model.data, name) for name in Data.__dataclass_fields__},
        "monitors": {name: list(parts) for name, parts in sorted(model.monitors.items())},
        "levels": [
            [[m, list(s), t, *level[m, s, t]] for m, s, t in sorted(level)]
            for level in model.levels
        ],
        "moves": sorted(moves, key=lambda move: [f"{each:>9}" for each in move[:2]]),
    }
    return json.dumps({**data, "seal": _seal(data)}, separators=(",", ":")) + "\n"


def _seal(data: Mapping[str, Any]) -> str:
    text = json.dumps({key: data[key] for key in data if key != "seal"}, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def read_model(path: str | Path) -> RiskModel:
    """Return the model in a file. Raises `RiskError` for one that was truncated, edited, or is
    none.
    """
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise RiskError(f"{path}: cannot be read: {str(reason).lower()}") from None
    return loads(text, str(path))


def loads(text: str, where: str = "model") -> RiskModel:
    """Return the model that a text describes. Raises `RiskError`."""
    again = "learn it again with `sponsio-like risk learn`"
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise RiskError(f"{where}: not a whole JSON document; {again}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise RiskError(f"{where}: not a model of format `{FORMAT}`; {again}")
    if data.get("seal") != _seal(data):
        raise RiskError(f"{where}: it is not as it was when it was written; {again}")
    try:
        return _model(data)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise RiskError(f"{where}: damaged: {type(error).__name__}: {error}; {again}") from None


def _model(data: Mapping[str, Any]) -> RiskModel:
    horizons = tuple(None if each is None else int(each) for each in data["horizons"])
    contracts, predicates = dict(data["contracts"]), dict(data["predicates"])
    header = Header(int(data["reach"]), str(data["bad"]), contracts, predicates, horizons)
    levels = tuple(dict(_rows(level, header)) for level in data["levels"])
    if len(levels) != header.reach + 1:
        raise ValueError("a level is missing")
    states = sorted(levels[-1])
    moves = {
        (_end(a, states, (BEGIN,)), _end(b, states, (BAD, END))): _whole(n, 1)
        for a, b, n in data["moves"]
    }
    said = dict(data["data"])
    known = Data(**{**said, "shards": tuple(map(str, said.get("shards", ())))})
    monitors = {name: tuple(parts) for name, parts in data["monitors"].items()}
    return RiskModel(header, known, levels, moves, monitors)


def _end(value: Any, states: list[State], names: tuple[str, ...]) -> Any:
    if value in names:
        return value
    return states[_whole(value, 0)]


def _whole(value: Any, least: int) -> int:
    if type(value) is not int or value < least:
        raise ValueError(f"`{value}` is no count")
    return value


def _rows(level: Iterable[Any], header: Header) -> Iterator[tuple[State, tuple[int, ...]]]:
    for monitors, symbols, proposed, *row in level:
        runs = _whole(row[0], 1)
        for i, horizon in enumerate(header.horizons):
            unknown, hits = (_whole(each, 0) for each in row[1 + 2 * i : 3 + 2 * i])
            if unknown + hits > runs:
                raise ValueError(f"more hits than runs within {horizon}")
        if len(row) != 1 + 2 * len(header.horizons):
            raise ValueError("a horizon is missing")
        yield (str(monitors), tuple(map(str, symbols)), str(proposed)), tuple(row)
