"""Contracts in observe mode: they stop nothing, and the log tells what they would have stopped.

Three conversations run as they would without a guard. The decision log goes to a file; from it
comes the report, as `sponsio-like report decisions.jsonl` prints it. It has no arguments of calls.

$ python examples/observe.py
tuesday: send_mail ran, against `no mail after secrets`
wednesday: send_mail ran, against `few mails`

contract               applied  broken  at most  stopped  would have stopped  unfulfilled  sessions  tools
few mails                    5       1  66 %           .                   1            .         1  send_mail 1
no mail after secrets        5       1  66 %           .                   1            .         1  send_mail 1
every mail is filed          5       .  45 %           .                   .            1         1
all contracts               15       2  36 %           .                   2            1         2

3 sessions, 10 decisions: 10 allowed
"""  # noqa: E501  as a terminal of 120 columns shows it

import tempfile
from pathlib import Path

from sponsio_like import Allowed, Guard, contract
from sponsio_like.log import json_log, read_log
from sponsio_like.replay import report_of
from sponsio_like.terminal import plain

CONTRACTS = [
    contract("no mail after secrets").guarantees("no data leak from `read_secret` to `send_mail`"),
    contract("few mails").guarantees("tool `send_mail` at most 2 times"),
    contract("every mail is filed").guarantees("every `send_mail` must be followed by `file_mail`"),
]
CONVERSATIONS = {
    "monday": ("search", "send_mail", "file_mail"),
    "tuesday": ("read_secret", "search", "send_mail", "file_mail"),
    "wednesday": ("send_mail", "send_mail", "send_mail"),
}

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "decisions.jsonl"
    with json_log(path) as log:
        guard = Guard(CONTRACTS, mode="observe", log=log)
        for name, tools in CONVERSATIONS.items():
            session = guard.session(name)
            for tool in tools:
                decided = session.decide(tool, {"to": "somebody"})
                assert isinstance(decided, Allowed)  # always, in observe mode
                session.settle(decided.id, output="ok")
                for violation in decided.observed:
                    print(f"{name}: {tool} ran, against `{violation.contract}`")
            session.finish()
    report = report_of(read_log(path))

print("", plain(report.table()), "", *report.conclusion(), sep="\n")
