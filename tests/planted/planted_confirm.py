"""Bugs against confirmations, orders, and what is said about contracts.

In: nothing. Out: `MEANING`: name, file, what stands there, what is put there instead
(`tests/planted/planted_meaning.py`). What they break stands in
`tests/semantics/manifest_confirm.py`.
"""

from __future__ import annotations

MEANING = (
    (
        "a yes may stand anywhere in a text",
        "contracts/confirmation.py",
        "YES.fullmatch(said)",
        "YES.search(said)",
    ),
    (
        "other fields of an answer are not looked at",
        "contracts/confirmation.py",
        "return says and not any(",
        "return says or any(",
    ),
    (
        "a receipt is a yes",
        "contracts/confirmation.py",
        "_is_answer(name) and not _is_receipt(name) for",
        "_is_answer(name) for",
    ),
    (
        "no answer is a yes",
        "contracts/confirmation.py",
        'return result.status == "ok" and is_yes(result.output)',
        'return result.status == "ok" and (result.output is None or is_yes(result.output))',
    ),
    (
        "comparisons accept everything",
        "contracts/confirmation.py",
        "    return conj(*found)",
        "    return conj()",
    ),
    (
        "tests that were skipped count where none has passed",
        "contracts/reports.py",
        'return SET_ASIDE.sub(" ", text) if SOME.search(text) else text',
        'return SET_ASIDE.sub(" ", text)',
    ),
    (
        "what is a yes is not told",
        "advice/moves.py",
        "            return ANSWER\n",
        '            return ""\n',
    ),
    (
        "an order does not look at what it accepts",
        "patterns/safety.py",
        "known = known if accept is None else known & accept",
        "known = known if accept is None else known",
    ),
    (
        "seconds count from the call before",
        "contracts/blocks.py",
        "return Once(formula, within)",
        "return Yesterday(Once(formula, within))",
    ),
    (
        "a call may come before itself",
        "contracts/blocks.py",
        "if of is None or not _is_past(formula, of):",
        "if of is None:",
    ),
    (
        "why is what",
        "contracts/definition.py",
        "        contract.name,\n",
        "        (contract.name, contract.about),\n",
    ),
    (
        "advice is always in English",
        "contracts/about.py",
        'wanted = (language, language.partition("-")[0], FALLBACK)',
        "wanted = (FALLBACK,)",
    ),
    (
        "nobody is told why",
        "outcome.py",
        "return self.because or self.message",
        "return self.message",
    ),
    (
        "callables change the arguments",
        "contracts/strategies.py",
        "call=replace(event, args=freeze(event.args))",
        "call=event",
    ),
    (
        "arguments show",
        "outcome.py",
        "call: Call | None = field(default=None, repr=False, compare=False)",
        "call: Call | None = field(default=None, compare=False)",
    ),
    (
        "what is owed says nothing of itself",
        "engine/status.py",
        "message, values, **about.said())",
        "message, values)",
    ),
    (
        "all arguments are shared",
        "advice/moves.py",
        "own = fields.get(tool, like.args)",
        "own = like.args",
    ),
)
