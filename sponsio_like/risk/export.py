"""Writes chains for the model checkers PRISM (`.prism`) and Storm (`.drn`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from sponsio_like.errors import RiskError
from sponsio_like.risk.chain import MarkovChain

_LABEL = re.compile(r"[A-Za-z_]\w*")


def prism_text(chain: MarkovChain) -> str:
    """Return the chain in the language of PRISM; fractions stay fractions."""
    top = max(chain.size - 1, 1)
    lines = ["dtmc", "", "module agent", f"  s : [0..{top}] init {chain.start};"]
    for i, row in enumerate(chain.rows):
        to = " + ".join(f"{_number(p)} : (s'={j})" for j, p in sorted(row.items()) if p)
        lines.append(f"  [] s={i} -> {to}; // {_clean(chain.names[i])}")
    if chain.size == 1:
        lines.append("  [] s=1 -> 1 : (s'=1);")
    lines += ["endmodule", ""]
    for name in sorted(chain.labels):
        states = " | ".join(f"s={i}" for i in sorted(chain.labels[name])) or "false"
        lines.append(f'label "{_label(name)}" = {states};')
    return "\n".join([*lines, ""])


def drn_text(chain: MarkovChain) -> str:
    """Return the chain in Storm's explicit format DRN."""
    return "\n".join(_drn(chain)) + "\n"


def _drn(chain: MarkovChain) -> Iterator[str]:
    yield "@type: DTMC"
    yield "@parameters\n"
    yield "@reward_models\n"
    yield f"@nr_states\n{chain.size}"
    yield f"@nr_choices\n{chain.size}"
    yield "@model"
    for i, row in enumerate(chain.rows):
        named = [_label(name) for name in sorted(chain.labels) if i in chain.labels[name]]
        yield " ".join([f"state {i}", *(["init"] if i == chain.start else []), *named])
        yield "\taction 0"
        for j, p in sorted(row.items()):
            if p:
                yield f"\t\t{j} : {_number(p)}"


def _number(p: Any) -> str:
    return str(p) if isinstance(p, Fraction | int) else repr(float(p))


def _label(name: str) -> str:
    if not _LABEL.fullmatch(name):
        raise RiskError(f"label `{name}` cannot be exported; write letters, digits and _")
    return name


def _clean(text: str) -> str:
    return re.sub(r"[^\x20-\x7e]", "?", text)
