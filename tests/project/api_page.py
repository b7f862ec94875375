"""The reference of the public names, from their own signatures and docstrings.

In: what `sponsio_like` and its public modules export. Out: the text of `docs/api.md`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import sponsio_like
from sponsio_like import log, loops, ltl, notices, trajectory, webhook, worlds

HEAD = """\
# Reference

Made from the code by `python -m tests.project.pages --write`. See also: [patterns](patterns.md),
[what contracts mean](semantics.md), [strategies](strategies/README.md).
"""

SECTIONS: tuple[tuple[str, ModuleType, tuple[str, ...]], ...] = (
    (
        "Contracts and sessions",
        sponsio_like,
        ("Guard", "Session", "Contract", "contract", "pattern", "atom", "Rule"),
    ),
    (
        "Outcomes",
        sponsio_like,
        ("Allowed", "Blocked", "Held", "Redirected", "Violation", "Unfulfilled", "Ticket"),
    ),
    (
        "Errors",
        sponsio_like,
        (
            "SponsioLikeError",
            "ContractError",
            "Problem",
            "InputMissing",
            "SessionError",
            "SnapshotError",
            "TraceError",
            "CallBlocked",
            "CallHeld",
        ),
    ),
    ("Loops written by hand", loops, ("running", "Running", "said")),
    ("Stores for contracts on the world", worlds, ("MemoryWorld", "SqliteWorld", "World", "Entry")),
    ("Notifiers", notices, ("Notice", "Sparsely", "drain")),
    ("Webhooks", webhook, ("Webhook",)),
    (
        "The decision log",
        log,
        (
            *("json_log", "read_log", "console_log", "redacted", "queued", "flush"),
            "otel_log",
            "verify",
        ),
    ),
    (
        "The trajectory monitor",
        trajectory,
        ("TrajectorySafetyMonitor", "StepObservation", "SPECIFICATIONS", "written"),
    ),
    ("Formulas in Python", ltl, tuple(name for name in ltl.__all__ if name[0].islower())),
    ("Formulas in Python", ltl, tuple(name for name in ltl.__all__ if name.isupper())),
)


def api_page() -> str:
    """The whole page."""
    parts, before = [HEAD], ""
    for title, module, names in SECTIONS:
        if title != before:
            parts.append(f"## {title}\n\n`from {module.__name__} import ...`\n")
        before = title
        parts += [part for name in names for part in _entry(name, getattr(module, name))]
    return "\n".join(parts)


def _entry(name: str, found: Any) -> Iterator[str]:
    yield f"### {name}\n"
    if inspect.isclass(found) or inspect.isfunction(found):
        yield f"```python\n{name}{_signature(found)}\n```\n"
        yield f"{inspect.cleandoc(found.__doc__ or '')}\n"
    else:
        yield f"`{found!r}`\n" if not isinstance(found, dict) else f"{', '.join(found)}\n"
    if inspect.isclass(found):
        yield from _members(found)


def _members(cls: type) -> Iterator[str]:
    for name, member in vars(cls).items():
        function = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        if name.startswith("_") or not (
            inspect.isfunction(function) or isinstance(member, property)
        ):
            continue
        doc = inspect.cleandoc(getattr(member, "__doc__", None) or "")
        if not doc:
            continue
        shown = "" if isinstance(member, property) else _signature(function, method=True)
        body = doc.replace("\n", "\n  ").replace("\n  \n", "\n\n")
        yield f"- **`{name}{shown}`** {body}"
    yield ""


def _signature(found: Any, *, method: bool = False) -> str:
    try:
        signature = inspect.signature(found)
    except ValueError:
        return ""
    parameters = list(signature.parameters.values())[1 if method else 0 :]
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in parameters]
    shown = str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))
    return shown.replace("<built-in function time>", "time.time")
