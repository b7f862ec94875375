"""Makes the pictures of reports that stand in the docs, and says how long a page takes to open.

    python -m campaigns.screenshots [PAGE.html | FOLDER]

In: the recorded runs of `examples/`, and a Chromium (`chromium`, or what `CHROMIUM` names). Out:
`docs/images/`; with a page, the milliseconds until the browser has laid it out, five times; with
the folder of the corpora, the pictures of the report on risk.
"""

# ruff: noqa: S603 - it starts the browser and its own command line

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

from sponsio_like import Allowed, Guard
from sponsio_like.log import json_log
from sponsio_like.traces import CallEvent, MessageEvent, read_traces

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
RUNS = ROOT / "examples" / "tau_airline_excerpt.jsonl"
CONTRACTS = """\
version: 1
contracts:
  - name: profile first
    guarantee: tool `get_user_details` must precede `book_reservation`
  - name: one change
    guarantee: tool `update_reservation_flights` at most 1 times
    because: changes cost money
    severity: high
    owner: bookings
  - name: certificates of at most 100
    mode: observe
    guarantee: "`send_certificate.amount` between 0 and 100"
  - name: a manager for cancellations
    guarantee: tool `cancel_reservation` at most 1 times
    strategy: {escalate: {roles: [manager]}}
  - name: few refunds
    guarantee: tool `issue_refund` at most 3 times
"""
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars",
)  # fmt: skip
DARK = ("--blink-settings=preferredColorScheme=0",)
TIMER = """<script>addEventListener('load', () => setTimeout(() => { document.title =
  'laid out in ' + Math.round(performance.now()) }, 0))</script></head>"""


def chromium() -> str | None:
    """Return the path of a Chromium; None if there is none."""
    return shutil.which(os.environ.get("CHROMIUM", "chromium"))


def browsed(page: Path, *options: str) -> str:
    """Open a page in Chromium, and return what it prints. Raises `CalledProcessError`."""
    with tempfile.TemporaryDirectory() as profile:
        command = [str(chromium()), *FLAGS, f"--user-data-dir={profile}", *options, page.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


def shot(page: Path, name: str, width: int, height: int, *options: str) -> None:
    """Write a picture of a page, in 64 colours."""
    from PIL import Image

    path = IMAGES / f"{name}.png"
    browsed(page, f"--screenshot={path}", f"--window-size={width},{height}", *options)
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)


def narrow(page: Path) -> Path:
    """Return a page that shows this one as a phone of 390 pixels would."""
    path = page.with_name("narrow.html")
    path.write_text(f'<iframe src="{page.name}" style="width:390px;height:1900px;border:0">')
    return path


def log_of_runs(folder: Path) -> Path:
    """Write the log of an agent that is played by the recorded runs; return its path."""
    contracts, log = folder / "airline.yaml", folder / "airline.jsonl"
    contracts.write_text(CONTRACTS)
    with json_log(log) as sink, chdir(folder):
        guard = Guard.from_yaml(contracts.name, log=sink, log_content=True)
        for trace in read_traces(RUNS):
            session = guard.session(trace.id)
            for event in trace.events:
                if isinstance(event, MessageEvent):
                    session.message(event.message.role, event.message.text)
                elif isinstance(event, CallEvent) and event.result is not None:
                    outcome = session.decide(event.call.tool, event.call.args)
                    if isinstance(outcome, Allowed):
                        session.settle(outcome.id, output=event.result.output)
            session.finish()
    return log


def terminal(log: Path) -> None:
    """Write the terminal's report as a picture."""
    from rich.console import Console
    from rich.text import Text

    env = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": "124", "TERM": "xterm-256color"}
    command = [sys.executable, "-m", "sponsio_like", "report", log.name]
    told = subprocess.run(
        command, env=env, cwd=log.parent, capture_output=True, text=True, check=True
    )
    console = Console(record=True, width=124, file=io.StringIO())
    console.print(f"$ sponsio-like report {log.name}", highlight=False)
    console.print(Text.from_ansi(told.stdout))
    fonts = re.compile(r"@font-face \{.*?\}", re.DOTALL)
    drawn = fonts.sub("", console.export_svg(title="sponsio-like"))
    (IMAGES / "report-terminal.svg").write_text(drawn, "utf-8")  # which loads no font


def opened_in(page: Path) -> int:
    """Return the milliseconds until the browser has laid a page out."""
    timed = page.with_name("timed.html")
    timed.write_text(page.read_text("utf-8").replace("</head>", TIMER, 1), "utf-8")
    found = re.search(r"laid out in (\d+)", browsed(timed, "--dump-dom"))
    timed.unlink()
    return int(found[1]) if found else -1


def risk(corpora: Path, folder: Path) -> None:
    """Write the pictures of the report on risk, learned from AgentDojo's runs."""
    contracts, model = ROOT / "examples" / "agentdojo.yaml", folder / "agentdojo.json"
    page = model.with_suffix(".html")
    learned, seen = (
        corpora / f"agentdojo_runs_gpt4o{each}.jsonl.gz" for each in ("", "_other_attacks")
    )
    command = [sys.executable, "-m", "sponsio_like", "risk"]
    subprocess.run([*command, "learn", contracts, learned, "-o", model], check=True)
    options: list[str | Path] = ["--contracts", contracts, "--horizon", "5", "--html", page]
    subprocess.run([*command, "report", model, seen, *options], check=True)
    shot(page, "risk-light", 1100, 1560)
    shot(page, "risk-dark", 1100, 1560, *DARK)


def main() -> None:
    """Make the pictures, or time one page."""
    if chromium() is None:
        raise SystemExit("no chromium is here; install one, or name it by CHROMIUM")
    if sys.argv[1:]:
        page = Path(sys.argv[1]).resolve()
        if page.is_dir():
            with tempfile.TemporaryDirectory() as folder:
                risk(page, Path(folder))
            return
        sys.stdout.writelines(f"{opened_in(page)} ms\n" for _ in range(5))
        return
    with tempfile.TemporaryDirectory() as folder:
        log = log_of_runs(Path(folder))
        page = log.with_suffix(".html")
        command = [sys.executable, "-m", "sponsio_like", "report", str(log), "--html", str(page)]
        subprocess.run(command, check=True, capture_output=True)
        shot(page, "report-light", 1100, 1500)
        shot(page, "report-dark", 1100, 1500, *DARK)
        shot(narrow(page), "report-narrow", 406, 1900)
        terminal(log)


if __name__ == "__main__":
    main()
