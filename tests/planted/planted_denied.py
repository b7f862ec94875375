"""Bugs against what is counted of refused calls, and against runs that end.

In: nothing. Out: `MEANING`: name, file, what stands there, what is put there instead
(`tests/planted/planted_meaning.py`). The requirements that they break are in
`tests/semantics/manifest_denied.py`.
"""

from __future__ import annotations

MEANING = (
    (
        "one refusal more",
        "patterns/operational.py",
        "return whenever(tool, f.Denied(tool, like) < limit)",
        "return whenever(tool, f.Denied(tool, like) <= limit)",
    ),
    (
        "a no of a person is no refusal",
        "session/decide.py",
        "    inner.note_refusal(event)\n    return blocked(inner, event, attempt, why_closed",
        "    return blocked(inner, event, attempt, why_closed",
    ),
    (
        "nothing is refused",
        "session/refuse.py",
        "        context = context.refused(event, terms)\n",
        "        pass\n",
    ),
    (
        "all calls are the same call",
        "events/denials.py",
        "        return digest(call.tool, without_nulls(call.args))\n",
        "        return digest(call.tool, {})\n",
    ),
    (
        "what cannot be compared is not refused",
        "session/refuse.py",
        "if asks(event) is not False]",
        "if asks(event)]",
    ),
    (
        "recorded refusals happen",
        "traces/trace.py",
        "        if refused:\n            return DenialEvent(call)\n",
        "",
    ),
    (
        "refusals beyond the cap are forgotten",
        "events/denials.py",
        "            return replace(self, more=self.more + 1)\n",
        "            return self\n",
    ),
    (
        "refusals of other threads are not seen",
        "session/interceptor.py",
        "return told or refused or",
        "return told or",
    ),
    (
        "snapshots forget refusals",
        "session/snapshot.py",
        "        if name in names\n",
        "        if not name\n",
    ),
    (
        "what is closed is not final",
        "advice/advice.py",
        "if found.certain and any(map(_counts_refusals, against)):",
        "if False:",
    ),
    ("a stop is a block", "session/decide.py", "refusal.explain, ends)", "refusal.explain)"),
    (
        "the run goes on",
        "session/flights.py",
        "if context.stopped and enforces and stoppable(event):",
        "if context.stopped and enforces and stoppable(event) and not isinstance(event, Call):",
    ),
    (
        "snapshots forget the end",
        "session/snapshot.py",
        'stopped if stopped and means.get(stopped, "") == meant else',
        '"" if stopped and means.get(stopped) == meant else',
    ),
    (
        "what is observed ends the run",
        "engine/findings.py",
        '    answers = [each.decision for each in found if each.violation.mode == "enforce"]\n',
        "    answers = [each.decision for each in found]\n",
    ),
    (
        "the end is returned",
        "guard/flow.py",
        'if on_block == "raise" or outcome.ends_run:',
        'if on_block == "raise":',
    ),
    (
        "the model is asked again",
        "adapters/langgraph/gate.py",
        "if isinstance(one, Blocked) and one.ends_run), None)",
        "if isinstance(one, Held)), None)",
    ),
    (
        "tools are possible after the end",
        "session/impossible.py",
        "if inner.context.stopped and inner.policy.enforces:",
        "if False:",
    ),
    (
        "what has no reason is not told",
        "replay/timeline.py",
        "    for position in violated.keys() - told:\n",
        "    for position in ():\n",
    ),
    (
        "who asks is not to blame",
        "replay/witness.py",
        "for call, owed, each in owing if owed and call not in lost]",
        "for call, owed, each in owing if False]",
    ),
    (
        "values are not told apart in explanations",
        "replay/witness.py",
        "    return isinstance(event, Call) and playback.reader.part(event) == playback.key\n",
        "    return True\n",
    ),
    (
        "nothing says what could not be read",
        "engine/unread.py",
        "        if said := tuple(dict.fromkeys(words)):\n",
        "        if said := ():\n",
    ),
    (
        "messages are taken for calls",
        "replay/witness.py",
        "        return at if at in own else None\n",
        "        return None\n",
    ),
    (
        "no time runs out in explanations",
        "replay/witness.py",
        "    if not clause.timed or inner is None:\n",
        "    if inner is None or clause.timed:\n",
    ),
)
