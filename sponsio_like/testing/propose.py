"""Proposes tests for contracts: the shortest traces that keep and that break each.

In: a contract file. Out: the text of a section `tests:`, for a person to read, correct and keep.
Each was tried; what it expects is what the contracts do now, be that right or wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sponsio_like.contracts import Contract, File, WrittenTest
from sponsio_like.errors import ContractError
from sponsio_like.replay import notation, shortest
from sponsio_like.testing.run import became_in

HEAD = "# Proposed: read each, and correct what the contracts should do instead."


def proposed(file: File) -> str:
    """Return a section `tests:`; the name of a test that the file has already is left out."""
    known = {test.name for test in file.tests}
    lines = [HEAD, "tests:"]
    for contract in file.contracts:
        for test in _tests(contract, file):
            if test.name not in known:
                lines += _written(test)
    return "\n".join(lines) + "\n"


def _tests(contract: Contract, file: File) -> Iterator[WrittenTest]:
    found = shortest(replace(contract, mode=None))
    for word, how in ((found.keeps, "kept"), (found.breaks, "broken")):
        if word is None:
            continue
        test = WrittenTest(f"{contract.name}: {how}", tuple(word), "allowed")
        try:
            became = became_in(test, file)
        except ContractError:
            continue  # the file has no such tool
        if became is not None:
            yield replace(test, expect=became[0], by=became[1])


def _written(test: WrittenTest) -> Iterator[str]:
    yield f"- name: {_text(test.name)}"
    yield f"  trace: {_text(notation(test.events, whole=True))}"
    by = _text(test.by[0]) if len(test.by) == 1 else f"[{', '.join(map(_text, test.by))}]"
    expect = test.expect if not test.by else f"{{{test.expect}: {by}}}"
    yield f"  expect: {expect}"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
