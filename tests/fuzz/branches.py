"""Random conversations with guarded LangGraphs whose calls run beside each other.

    python -m tests.fuzz.branches [conversations] [--seed N] [--only N]

In: a cap on payments, held payments in some, calls that are sent one by one, by edges or commands,
and answers of people; before any turn another process may take over, which has only the checkpoint.
Out: every conversation in which more payments were made than the cap allows, or that raised.
Threads take turns every microsecond.
"""

from __future__ import annotations

import argparse
import random
import sys
import traceback
from collections.abc import Callable

from langgraph.checkpoint.memory import InMemorySaver

from tests.adapters import test_sent_alone as sent
from tests.adapters.rules import asked, few, pay
from tests.adapters.talks import GRAPHS, Talk

LARGE = 900
"""An amount that is held."""


def conversation(seed: int) -> str:
    """Play one; return what was wrong, or an empty text."""
    dice = random.Random(seed)
    sent.RAN.clear()
    cap, holds, saver = dice.randint(2, 6), dice.random() < 0.5, InMemorySaver()
    way, path, commands = dice.choice(GRAPHS), dice.choice(sent.PATHS), dice.random() < 0.5
    rules = (few("pay", cap), *((asked(100),) if holds else ()))

    def process() -> Talk:
        return sent.open_graph(way, *rules, path=path, commands=commands, saver=saver)

    try:
        _turns(dice, process, large=holds)
    except Exception:
        return traceback.format_exc(limit=-3)
    return f"{len(sent.RAN)} payments under a cap of {cap}" if len(sent.RAN) > cap else ""


def _turns(dice: random.Random, process: Callable[[], Talk], *, large: bool) -> None:
    talk, number = process(), 0
    for _ in range(dice.randint(1, 4)):
        calls = []
        for _ in range(dice.randint(1, 5)):
            number += 1
            amount = LARGE if large and dice.random() < 0.3 else dice.randint(1, 50)
            calls.append(pay(amount, str(number)))
        if dice.random() < 0.5:
            talk = process()
        talk.say(calls)
        for _ in range(3):
            if sent.stops(talk):
                if dice.random() < 0.5:
                    talk = process()
                    talk.plan(calls)
                denied = (str(each) for each in range(1, number + 1) if dice.random() < 0.3)
                sent.answer(talk, no=tuple(denied))


def main() -> int:
    """Play them all; return 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("conversations", type=int, nargs="?", default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    given = parser.parse_args()
    sys.setswitchinterval(1e-6)
    seeds = range(given.seed, given.seed + given.conversations)
    wrong = 0
    for seed in seeds if given.only is None else [given.only]:
        if found := conversation(seed):
            wrong += 1
            print(f"--only {seed}: {found}")
    print(f"{len(seeds)} conversations, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
