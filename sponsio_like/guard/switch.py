"""Switches contracts between enforce and observe in a running process, for all open sessions.

In: a policy, and the names of contracts (`risk` for the model of risk) or none for all. Out: from
the next decision on they only observe, or are as they were written again. Each switch is in the
log. A file may be the switch, and so may a signal.
"""

from __future__ import annotations

import logging
import signal
import threading
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path

from sponsio_like.engine import RISK_NAME, Policy, with_modes
from sponsio_like.errors import ContractError, closest
from sponsio_like.outcome import Mode

LOOK_SECONDS = 0.5
"""The seconds between two looks at a file that is a switch."""
ALL = "*"


class Switch:
    """The switch of one guard: the contracts that are switched off, and so only observe.

    `risk`: the guard has a model of risk, which is switched by the name `risk`.
    """

    def __init__(
        self,
        policies: tuple[Policy, ...],
        told: Callable[[str, tuple[str, ...], str], None],
        *,
        risk: bool = False,
    ) -> None:
        self._policies = list[tuple[weakref.ref[Policy], tuple[Mode, ...]]]()
        self._told = told
        self._off: dict[Path | None, frozenset[str]] = {None: frozenset()}
        self._lock = threading.RLock()
        self._stopped: dict[Path, threading.Event] = {}
        self.take(policies, risk=risk)

    def take(self, policies: tuple[Policy, ...], *, risk: bool = False) -> None:
        """Add contracts to those that this switch turns off and on: the first has the modes as they
        were written.

        What is off is off in them. Those of open sessions are switched as well.
        """
        with self._lock:
            self._policies = [pair for pair in self._policies if pair[0]() is not None]
            self._policies += [(weakref.ref(each), each.modes) for each in policies]
            self._policy, self._written = policies[0], policies[0].modes
            self._risk = (RISK_NAME,) if risk else ()
            self._apply()

    def _apply(self) -> None:
        for ref, written in self._policies:
            policy = ref()
            if policy is not None:
                pairs = zip(policy.contracts, written, strict=True)
                modes = ("observe" if self._is_off(each.name) else mode for each, mode in pairs)
                risk: Mode = "observe" if self._is_off(RISK_NAME) else "enforce"
                with_modes(policy, tuple[Mode, ...](modes), risk)

    @property
    def off(self) -> tuple[str, ...]:
        """The contracts that are enforced as written, and only observe now."""
        names = (each.name for each in self._policy.contracts)
        rows = zip(names, self._written, strict=True)
        enforced = (*(name for name, mode in rows if mode == "enforce"), *self._risk)
        return tuple(name for name in enforced if self._is_off(name))

    def turn_off(self, *contracts: str, by: str = "") -> None:
        """Let these contracts only observe, from the next decision on; all, if none is named.

        Raises `ContractError` for a name that no contract has.
        """
        self._set(self._off[None] | self._named(contracts), by)

    def turn_on(self, *contracts: str, by: str = "") -> None:
        """Enforce these contracts again, as they were written; all, if none is named.

        Those that a watched file names only observe as long as it is there.
        Raises `ContractError` for a name that no contract has.
        """
        named = self._named(contracts)
        left = frozenset() if ALL in named else self._known(self._off[None]) - named
        self._set(left, by)

    def on_signal(self, number: int = signal.SIGUSR1) -> None:
        """Turn all contracts off at a signal, and on at the next one. For the main thread."""

        def turn(*_: object) -> None:
            by = f"signal {number}"
            work = self.turn_on if self._off[None] else self.turn_off
            threading.Thread(target=lambda: work(by=by), daemon=True).start()

        signal.signal(number, turn)

    def watch(self, path: str | Path) -> None:
        """Make a file the switch: while it is there, the contracts it names only observe.

        A name a line; an empty file, or a line `*`, stands for all. A name that no contract has is
        said in Python's log, and the switch stays as it is. It is looked at every half second.
        """
        path = Path(path)
        stopped = self._stopped.setdefault(path, threading.Event())
        seen = self._look(path, None)
        work = threading.Thread(
            target=self._watch, args=(path, seen, stopped), name="sponsio-like switch", daemon=True
        )
        work.start()

    def close(self) -> None:
        """Watch no file any more."""
        for each in self._stopped.values():
            each.set()

    def _watch(self, path: Path, seen: str | None, stopped: threading.Event) -> None:
        while not stopped.wait(LOOK_SECONDS):
            seen = self._look(path, seen)

    def _look(self, path: Path, seen: str | None) -> str | None:
        """Turn contracts off or on if the file has changed; return its text, None if
        there is no file.
        """
        text = _text(path)
        if text == seen:
            return seen
        names = () if text is None else text.split("\n")
        given = [each.strip() for each in names if each.strip() not in ("", ALL)]
        whole = text is not None and (not given or ALL in text.split())
        try:
            named = frozenset((ALL,)) if whole else self._named(given) if given else frozenset()
        except ContractError as error:
            said = logging.getLogger("sponsio_like")
            said.error("the switch %s is not followed: %s", path, error)
            return text
        self._set(named, f"file {path.name}", path)
        return text

    def _named(self, contracts: Iterable[str]) -> frozenset[str]:
        known = self._names
        for name in contracts:
            if name not in known:
                raise ContractError.of(f"there is no contract `{name}`", closest(name, known))
        return frozenset(contracts) or frozenset((ALL,))

    def _known(self, names: frozenset[str]) -> frozenset[str]:
        if ALL not in names:
            return names
        return frozenset(self._names)

    @property
    def _names(self) -> list[str]:
        return [*(each.name for each in self._policy.contracts), *self._risk]

    def _is_off(self, name: str) -> bool:
        return any(ALL in each or name in each for each in self._off.values())

    def _set(self, off: frozenset[str], by: str, path: Path | None = None) -> None:
        """Let these contracts only observe; `path`: the file that says so, and nobody undoes."""
        with self._lock:
            before = self.off
            self._off = {**self._off, path: off}
            self._apply()
            now = self.off
        for mode, changed in (("observe", set(now) - set(before)), ("enforce", {*before} - {*now})):
            if changed:
                self._told(mode, tuple(sorted(changed)), by)


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
