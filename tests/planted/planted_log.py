"""Bugs against the log and the way to enforcement.

In: nothing. Out: `MEANING`: name, file, what stands there, what is put there instead
(`tests/planted/planted_meaning.py`). The requirements that they break are in
`tests/semantics/manifest_log.py`.
"""

from __future__ import annotations

MEANING = (
    (
        "every sink is quick",
        "guard/sinks.py",
        "    return sink if quick else queued(sink)",
        "    return sink if quick or sink else queued(sink)",
    ),
    (
        "lines that are no JSON are passed over",
        "traces/logged.py",
        '{"event": "dropped", "records": 1, "damaged": True}',
        '{"event": "contracts"}',
    ),
    (
        "names of tools are evidence",
        "replay/evidence.py",
        "or judged.applied.get(self.contract):",
        "or judged.applied is not None:",
    ),
    (
        "every chain has an end",
        "log/chain.py",
        "else found.open.add)(writer)",
        "else found.open.discard)(writer)",
    ),
    (
        "rotated logs are followed no more",
        "log/tail.py",
        "elif not text and _is_another(path, file):",
        "elif not text and wait is None:",
    ),
    (
        "what is left is judged",
        "traces/logged.py",
        'return name in record and name not in record.get("redacted", ())',
        "return name in record",
    ),
    (
        "the deciding thread counts",
        "log/otel.py",
        "            self._later(record)\n",
        "            self._count(record)\n",
    ),
    (
        "refused calls are passed over",
        "replay/applied.py",
        "case DenialEvent(call) if self._told is not None:",
        "case DenialEvent(call) if self._told is None:",
    ),
    (
        "what waited goes with the fork",
        "outbox.py",
        "        each.empty()\n",
        "        each.put(None)\n",
    ),
    (
        "tickets are left out",
        "notices.py",
        "if notice.ticket is None and now - last < self._every:",
        "if now - last < self._every:",
    ),
    (
        "names are mark-up",
        "webhook.py",
        """    return " ".join(text.replace("`", "'").split())""",
        '    return text.replace("&lt;", "<")',
    ),
    (
        "contracts that are loaded again are forgotten",
        "guard/guard.py",
        "self._rules, self._tools.policy = rules, policy",
        "self._tools.policy = policy",
    ),
    (
        "contracts are loaded again whatever tools there are",
        "guard/guard.py",
        "            if self.policy.known_tools.complete:\n",
        "            if False:\n",
    ),
    (
        "nobody is told that contracts stay",
        "guard/guard.py",
        "            self._rules.log.kept(str(error))\n",
        "            del error\n",
    ),
    (
        "shares are drawn for each contract file",
        "guard/rules.py",
        'int.from_bytes(found, "big") / 2**64',
        "hash(object()) % 1000 / 1000",
    ),
)
