"""Reads the section `risk:` of a contract file: which model, which threshold, what is done.

In: plain data of a file. Out: a `RiskSection`; or a `ContractError` with every mistake. Its model
is read when a guard is made of the file (`sponsio_like/risk/policy.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sponsio_like.contracts.definition import read_mode
from sponsio_like.contracts.operands import check_keys
from sponsio_like.contracts.strategies import strategy
from sponsio_like.contracts.targets import NOTHING, Vocabulary
from sponsio_like.errors import ContractError, Problems
from sponsio_like.outcome import Decision, Escalate, Mode, Warn

RISK_KEYS = (
    "model", "threshold", "on_risk", "on_unknown", "horizon", "confidence", "least", "mode",
)  # fmt: skip
SAME = {"user_inspection": "escalate", "ask": "escalate", "invoke_action": "redirect_to_safe"}
"""Other names of strategies, as the literature of risk has them."""
TIMES_CAP = 1_000


@dataclass(frozen=True, slots=True)
class Examine:
    """The intervention `llm_self_examine`: refuse, and tell the model the risk and its evidence.

    At most `times` in a session; `then` after that.
    """

    times: int = 3
    then: Decision = field(default_factory=Escalate)


@dataclass(frozen=True, slots=True)
class RiskSection:
    """The section as it was read. None: it does not say."""

    model: str
    threshold: float
    on_risk: Decision | Examine | None = None
    on_unknown: Decision | Examine | None = None
    horizon: int | None = None
    confidence: float | None = None
    least: int | None = None
    mode: Mode | None = None


def read_risk(value: Any, words: Vocabulary = NOTHING) -> RiskSection:
    """Return a section `risk:`. Raises `ContractError` with every mistake."""
    if not isinstance(value, Mapping):
        hint = "write risk: {model: risk.json, threshold: 0.2}"
        raise ContractError.of(f"`{value}` is no section `risk`", hint)
    problems = Problems()
    check_keys(value, RISK_KEYS, "risk section", problems)
    for key in ("model", "threshold"):
        if key not in value:
            problems.add(f"a section `risk` without `{key}`", f"write {key}: ..")
    readers: Mapping[str, Callable[[Any], Any]] = {
        "model": _text,
        "threshold": _share,
        "confidence": _share,
        "horizon": _whole,
        "least": _whole,
        "mode": read_mode,
        "on_risk": lambda each: intervention(each, words, unknown=False),
        "on_unknown": lambda each: intervention(each, words, unknown=True),
    }
    given = [key for key in RISK_KEYS if key in value]
    found: dict[str, Any] = {
        key: problems.attempt((key,), readers[key], value[key]) for key in given
    }
    problems.check()
    return RiskSection(**found)


def _share(value: Any) -> float:
    if type(value) not in (int, float) or not 0 < value < 1:
        raise ContractError.of(f"`{value}` is no share", "write a number between 0 and 1, like 0.2")
    return float(value)


def _whole(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ContractError.of(f"`{value}` is no number of calls or runs", "write 1, 2, ..")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ContractError.of(f"`{value}` is no path", "write the file of the model")
    return value


def intervention(
    value: Any, words: Vocabulary = NOTHING, *, unknown: bool = True
) -> Decision | Examine:
    """Return the intervention of a name, `{name: {option: value}}`, or a callable.

    The names are those of strategies, `llm_self_examine`, and for what is `unknown` also `log`;
    `user_inspection`, `ask` and `invoke_action` stand for `escalate` and `redirect_to_safe`. Raises
    `ContractError`.
    """
    if isinstance(value, Examine):
        return value
    name, options = value, None
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, options),) = value.items()
    if name == "log" and options is None:
        if unknown:
            return Warn()
        raise ContractError.of("`log` stops nothing", "write mode: observe")
    if name == "llm_self_examine":
        return _examine({} if options is None else options, words)
    if isinstance(name, str) and name in SAME:
        value = SAME[name] if options is None else {SAME[name]: options}
    return strategy(value, words)


def _examine(options: Any, words: Vocabulary) -> Examine:
    if not isinstance(options, Mapping) or set(options) - {"times", "then"}:
        hint = "write {times: 3, then: escalate}"
        raise ContractError.of(f"`{options}` does not describe `llm_self_examine`", hint)
    times = options.get("times", 3)
    if type(times) is not int or not 0 < times < TIMES_CAP:
        raise ContractError.of(f"times is `{times}`", "write a whole number from 1")
    then = intervention(options.get("then", "escalate"), words)
    if isinstance(then, Examine | Warn):
        raise ContractError.of("`then` stops nothing", "write then: escalate, or then: stop")
    return Examine(times, then)
