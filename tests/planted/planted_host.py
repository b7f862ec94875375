"""Bugs against what a host gives and is told: logs, open sessions, recorded traces.

In: nothing. Out: `MEANING`: name, file, what stands there, what is put there instead
(`tests/planted/planted_meaning.py`). The requirements that they break are in
`tests/semantics/manifest_host.py`.
"""

from __future__ import annotations

MEANING = (
    (
        "loggers are told no fields",
        "guard/sinks.py",
        '(record["event"], **fields)',
        '(record["event"])',
    ),
    (
        "all records are as loud",
        "log/pretty.py",
        "return logging.ERROR",
        "return logging.INFO",
    ),
    (
        "anything is a log",
        "guard/sinks.py",
        '    raise ContractError.of(f"log={given!r} cannot be written to", HINT)',
        "    return lambda record: None",
    ),
    (
        "any role answers a held call",
        "replay/replay.py",
        'if ticket.status != "approved":',
        "if False:",
    ),
    (
        "fields beside empty arguments are overlooked",
        "replay/replay.py",
        "for tool, name in sorted(trace.beside):",
        "for tool, name in ():",
    ),
    (
        "other formats are read as empty calls",
        "traces/foreign.py",
        "if _bare(key) in names and key != field and _says(field, value):",
        "if False:",
    ),
    (
        "lines of other formats look like nothing",
        "traces/foreign.py",
        'if fields <= keys), "")',
        'if fields < set()), "")',
    ),
    (
        "a file without traces is fine",
        "traces/read.py",
        "    if first is None:\n        raise",
        "    if first is None:\n        return\n        raise",
    ),
    (
        "what cannot be judged is no failure",
        "cli/runs.py",
        "blind = strict and summary.not_judged",
        "blind = False",
    ),
    (
        "prerequisites apply",
        "engine/applicability.py",
        "                return bool(negated)\n",
        '                return "asked"\n',
    ),
    (
        "the log names no contracts",
        "session/decision_log.py",
        "record if more is None else {**record, **more}",
        "record",
    ),
    (
        "an empty log is fine",
        "replay/report.py",
        "    if empty:\n",
        "    if False:\n",
    ),
    (
        "what was approved was stopped",
        "replay/report.py",
        'elif runs and action == "held":',
        "elif False:",
    ),
    (
        "an id has two budgets",
        "guard/guard.py",
        "        if id is None or (world",
        "        if id or (world",
    ),
    (
        "nobody goes back",
        "guard/guard.py",
        "            session = self._begun(id, given)\n",
        "            session = self._roster.open(id, given, lambda: self._begun(id, given))\n",
    ),
    (
        "sessions that nobody holds are gone",
        "guard/sessions.py",
        "            self._kept[id] = made\n",
        "",
    ),
    (
        "any text is on",
        "guard/sessions.py",
        "        if not isinstance(value, bool):\n",
        "        if False:\n",
    ),
    (
        "anything is a notifier",
        "contracts/strategies.py",
        'return tuple(read_at(("notify",), read_each, mailbox, each))',
        "return tuple(map(Mailbox, each))",
    ),
    (
        "contracts read artifacts",
        "guard/structured_tools.py",
        "return _answer(_pair(output)[0])",
        "return _answer(output)",
    ),
)
