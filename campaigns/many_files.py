"""Makes many contract files, as a company's teams would have them, and times `sponsio-like check`.

    python -m campaigns.many_files FOLDER [FILES]

writes 300 files (or so many) of six contracts each into the folder, if it is empty: sentences,
patterns with arguments, and formulas, over five tools of their own, with limits that dice choose.
Then it checks them all by one command, and prints the seconds by the clock and of the processor.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import time
from pathlib import Path

VERBS = ["create", "close", "send", "fetch", "approve", "delete", "refund", "book"]
NOUNS = ["order", "ticket", "invoice", "mail", "user", "record", "report", "seat"]


def text_of(dice: random.Random) -> str:
    """Return a contract file of six contracts."""
    a, b, c, d, e = dice.sample([f"{verb}_{noun}" for verb in VERBS for noun in NOUNS], 5)
    most, amount, minutes = dice.randint(1, 9), dice.randint(1, 99) * 10, dice.randint(1, 59)
    return f"""version: 1
tools:
  {a}: {{fields: {{id: integer, amount: number}}}}
  {b}: {{fields: {{id: integer}}}}
  {c}: {{fields: {{to: string, text: string}}}}
  {d}:
  {e}:
contracts:
  - name: first
    guarantee: never call `{a}` before `{b}`
  - name: seldom
    guarantee: at most {most} calls of `{a}` per {minutes} minutes
  - name: small
    guarantee: {{pattern: arg_value_range, tool: {a}, field: amount, max: {amount}}}
    strategy: escalate
  - name: told
    guarantee: every `{a}` must be followed by `{c}`
  - name: ours
    assume: ctx env is prod
    guarantee: tool `{d}` requires confirmation
  - name: formula
    guarantee: {{ltl: "G(called({e}) -> Y O done({d}))"}}
"""


def main(arguments: list[str]) -> int:
    """Make the files where there are none, check them, and print the time."""
    folder, files = Path(arguments[0]), int(arguments[1]) if arguments[1:] else 300
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        for number in range(files):
            text = text_of(random.Random(number))  # noqa: S311  not a secret
            (folder / f"team_{number:03}.yaml").write_text(text, encoding="utf-8")
    paths = sorted(map(str, folder.glob("*.yaml")))
    began = time.perf_counter()
    command = [sys.executable, "-m", "sponsio_like", "check", *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    seconds = time.perf_counter() - began
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
    last = done.stdout.splitlines()[-1] if done.stdout else done.stderr[-400:]
    spent = f"{seconds:.2f} s, {cpu.ru_utime + cpu.ru_stime:.2f} s of processor time"
    sys.stdout.write(f"{last}\n{len(paths)} files: status {done.returncode}, {spent}\n")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
