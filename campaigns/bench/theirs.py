"""The other engines as contestants, in environments of their own, by their public interfaces."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from campaigns.bench.workload import TEMPLATES, TOOLS, policy

Step = Callable[[str, dict[str, Any]], bool]
"""Whether the call is denied."""


def sponsio(contracts: int) -> Step:
    """Return a step of Sponsio 0.2.0a21, `guard_before`.

    The contracts are patterns of its library, each with a description.
    """
    warnings.simplefilter("ignore")
    from sponsio.core import Sponsio  # type: ignore[import-not-found]
    from sponsio.patterns import library  # type: ignore[import-not-found]

    made = [
        {"guarantee": getattr(library, name)(*given, desc=f"c{i}:{name}"), "desc": f"c{i}"}
        for i, (name, *given) in enumerate(policy(contracts))
    ]
    guard = Sponsio(
        contracts=made,
        agent_id="bot",
        mode="enforce",
        verbose=False,
        init_banner=False,
        auto_summary=False,
    )
    return lambda tool, args: bool(guard.guard_before(tool, args).stop_original)


def acel() -> Step:
    """Return a step of acel-core 0.1.13, `Session.call`: 35 contracts of its eight templates."""
    import acel as engine  # type: ignore[import-not-found]

    session = engine.Session(state={})
    for name, *given in TEMPLATES:
        session.add_contract(getattr(engine, name)(*given))
    for tool in TOOLS:  # each that has to be preceded is
        session.call(tool, {"amount": 1}, result="ok")

    def denied(tool: str, args: dict[str, Any]) -> bool:
        try:
            session.call(tool, args, result="ok")
        except engine.ContractViolation:
            return True
        return False

    return denied
