"""The guard: compiled contracts, shared by all sessions.

In: contracts, or a contract file. Out: sessions, which have all the state. A guard itself changes
only by its `switch` and by `reload`.
"""

from __future__ import annotations

import gc
import logging
import os
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload
from weakref import WeakValueDictionary

from sponsio_like.checks import check_names, check_tool, compile_policy, read_file, spellings
from sponsio_like.contracts import (
    FALLBACK,
    Contract,
    FieldKind,
    File,
    Inventory,
    InventoryLike,
    RiskSection,
    Source,
    Unlisted,
    declared,
    mailboxes,
    read_language,
    source_name,
)
from sponsio_like.engine import Policy, follow, prepare
from sponsio_like.errors import ContractError, ContractWarning, SnapshotError, SponsioLikeError
from sponsio_like.guard.decorator import ToolOptions, decorated
from sponsio_like.guard.described import Described, ToolsLike, descriptions
from sponsio_like.guard.flow import OnBlock, OnHold
from sponsio_like.guard.rules import Rules, as_logged
from sponsio_like.guard.sessions import (
    Host,
    Roster,
    SessionOptions,
    check_given,
    check_id,
    check_inputs,
    check_switches,
)
from sponsio_like.guard.switch import LOOK_SECONDS, Switch
from sponsio_like.guard.toolbox import Toolbox
from sponsio_like.guard.tools import Tool
from sponsio_like.guard.watch import Watch
from sponsio_like.outcome import Mode
from sponsio_like.session import (
    SILENT,
    Content,
    Gate,
    GatePolicy,
    Lesson,
    Log,
    Outlet,
    Session,
    fresh_id,
    lessons,
    part,
    read_content,
)
from sponsio_like.worlds import World

MANY = 200
"""Fewest clauses after which the collector runs at once."""


@contextmanager
def collector_paused() -> Iterator[list[int]]:
    """Switch the garbage collector off within the block, if it is on.

    The block adds to the list how many clauses it has loaded. After many the collector runs, else
    the first call waits for it; before it is on again, else it looks at all of them twice. What is
    older has been looked at.
    """
    on, clauses = gc.isenabled(), list[int]()
    gc.disable()
    try:
        yield clauses
    finally:
        if on:
            if sum(clauses) >= MANY:
                gc.collect(1)
            gc.enable()


if TYPE_CHECKING:
    from sponsio_like.guard.sinks import Given as LogGiven
    from sponsio_like.guard.sinks import OfLog
    from sponsio_like.logic.formula import Formula
    from sponsio_like.trajectory import TrajectorySafetyMonitor

_Tool = TypeVar("_Tool")
NO_CONTRACTS: list[Contract] = []
"""The contracts of a guard that only records; another empty list is a mistake."""
RiskReader: TypeAlias = Callable[[RiskSection, Path], GatePolicy]
_RISK_READER: list[RiskReader] = []  # the last one counts
RELAX = "SPONSIO_LIKE_MODE"
"""The environment variable that relaxes enforce to observe, where the guard allows it."""


class Guard:
    """Compiled contracts, from which sessions are opened and by which tools are guarded.

    `mode` holds for the contracts that do not say. `tools` are those that the agent has: names, or
    a map from name to `{"fields": {name: kind}}`; a call of another tool, or with another argument,
    is refused unless `unlisted="allow"`. `elsewhere` are tools of other agents, which contracts may
    name. With `relaxable`, the environment variable `SPONSIO_LIKE_MODE=observe` makes every
    contract observe; the log and `relaxed` say so. `notify` are told of every enforced violation:
    functions of a `Notice`, or `{webhook: url}`.
    `log` is where decisions are logged: a path, a function of one record, a logger of the standard
    library or of structlog. `log_content` is what it writes of the agent's content
    (docs/logging.md); `source` is the file of the contracts, as the log names it. `risk` is the
    policy of risk of every session (docs/risk.md). `language` is that of the contracts' own advice,
    a tag such as `de` (docs/contract-files.md). Raises
    `ContractError` with every problem of every contract, and for a log that cannot be written to;
    what is seldom meant is a Python warning (`ContractWarning`), and stands in `policy.warnings`.
    """

    def __init__(  # noqa: PLR0913 - each is an option
        self,
        contracts: Iterable[Contract] | Contract,
        *,
        mode: Mode = "enforce",
        tools: InventoryLike = None,
        elsewhere: Iterable[str] | None = None,
        unlisted: Unlisted | None = None,
        relaxable: bool = False,
        log: LogGiven | None = None,
        log_args: bool = False,
        log_content: Iterable[str] | bool = (),
        notify: Any = (),
        source: str = "",
        risk: GatePolicy | None = None,
        language: str = FALLBACK,
    ) -> None:
        self._language = read_language(language)
        self._file: tuple[Source, Mode | None, File] | None = None
        self._described: tuple[Described, ...] = ()
        self._reloads = threading.Lock()
        known = declared(tools, elsewhere, unlisted)
        check_switches(relaxable=relaxable, log_args=log_args)
        self.relaxed = relaxable and _asked_to_relax()
        self._sink = None if log is None else _sink(log)
        self._said = read_content(log_content, log_args=log_args)
        policy = self._compiled(contracts, mode, known)
        for each in policy.warnings:
            warnings.warn(str(each), ContractWarning, stacklevel=2)
        self._rules = Rules(policy, _log(policy, self._sink, self._said, source), risk)
        self._tools: Toolbox[Tool] = Toolbox(policy)
        self._notify = mailboxes(notify)
        self.switch = Switch(self._rules.policies, self._switched, risk=risk is not None)
        self._roster = Roster()
        self._hosts = WeakValueDictionary[int, Host]()
        self._lacks_store = False
        self._gate(self._rules, None)  # which raises if the model of risk has other contracts
        if self.relaxed:
            self._rules.log.relaxed(RELAX)

    @property
    def policy(self) -> Policy:
        """The contracts of the sessions that are opened from now on, compiled."""
        return self._rules.policy

    def _switched(self, mode: str, contracts: tuple[str, ...], by: str) -> None:
        self._rules.log.switched(mode, contracts, by)

    def _compiled(
        self, contracts: Iterable[Contract] | Contract, mode: Mode, known: Inventory
    ) -> Policy:
        """Return contracts, compiled. Raises `ContractError` for mistakes and if there are none."""
        with collector_paused() as loaded:
            policy = compile_policy(contracts, mode, known, relaxed=self.relaxed)
            policy = replace(policy, language=self._language)
            prepare(policy)
            loaded.append(len(policy.clauses))
        if not policy.contracts and contracts is not NO_CONTRACTS:
            raise ContractError.of("there are no contracts", "all would be allowed; write some")
        return policy

    def __deepcopy__(self, _: Any) -> Guard:
        """Return the guard itself, which is immutable."""
        return self

    @classmethod
    def from_yaml(  # noqa: PLR0913 - each is an option
        cls,
        path: Source,
        *,
        mode: Mode | None = None,
        tools: ToolsLike = (),
        relaxable: bool = False,
        log: LogGiven | None = None,
        log_args: bool = False,
        log_content: Iterable[str] | bool = (),
        notify: Any = (),
        language: str = FALLBACK,
    ) -> Guard:
        """Return the guard of a contract file, of a folder of them, or of several.

        `mode` holds where neither the contract nor the file says. `tools` are functions, tools of
        LangChain or of MCP, or their descriptions as JSON: the kinds of their arguments are known
        in the file (docs/kinds.md). Which tools the agent has, is said by the file.

        Raises `ContractError` with every mistake in the file, each with its line and column.
        """
        known = descriptions(tools)
        with collector_paused() as loaded:
            file = read_file(path, mode, _kinds(known))
            guard = cls(
                file.contracts,
                mode=file.mode or mode or "enforce",
                tools=file.inventory,
                relaxable=relaxable,
                log=log,
                log_args=log_args,
                log_content=log_content,
                notify=notify,
                source=f"{source_name(path)} {file.digest}",
                risk=_risk_of(file.risk, file.sources),
                language=language,
            )
            loaded.append(len(guard.policy.clauses))
        guard._file, guard._described = (path, mode, file), known
        _check_described(guard.policy, known)
        for each in spellings(file.contracts, file.words) if known else ():
            if each not in guard.policy.warnings:
                warnings.warn(str(each), ContractWarning, stacklevel=2)
        return guard

    def reload(self) -> bool:
        """Read the contract file again, for the sessions that are opened from now on; return True
        if it has changed.

        Open sessions go on under the contracts that they began with. What is switched off stays so.
        The log has a record `reloaded`. Raises `ContractError` for a file with mistakes, and for
        contracts that do not fit the tools that the guard has met, and `InputMissing` for those
        that an adapter could not keep: then the guard stays as it is.
        """
        if self._file is None:
            raise ContractError.of("this guard has no file", "write Guard.from_yaml(path)")
        path, mode, before = self._file
        with self._reloads:
            with collector_paused():
                file = read_file(path, mode, _kinds(self._described))
            if file.digest == before.digest:
                return False
            chosen = file.mode or mode or "enforce"
            policy = self._compiled(file.contracts, chosen, file.inventory)
            _check_described(policy, self._described)
            follow(policy, self.policy)
            if self.policy.known_tools.complete:
                check_names(policy)
            hosts = [host.check_contracts for host in [*self._hosts.values()]]
            for check in [*self._tools.checks.values(), *hosts]:
                check(policy)
            source = f"{source_name(path)} {file.digest}"
            log = _log(policy, self._sink, self._said, source)
            rules = Rules(policy, log, _risk_of(file.risk, file.sources))
            self._gate(rules, None)
            self._file = path, mode, file
            self.switch.take(rules.policies, risk=rules.risk is not None)
            self._rules, self._tools.policy = rules, policy
            self.__dict__.pop("_lessons", None)
        log.reloaded(source)
        return True

    def watch(self, seconds: float = LOOK_SECONDS) -> Watch:
        """Load the contract file again whenever it changes; return the watch, which `stop` ends.

        A file with mistakes is said in Python's log, and the contracts stay as they are.
        """
        if self._file is None:
            raise ContractError.of("this guard has no file", "write Guard.from_yaml(path)")
        return Watch(self._watched, self._reloaded, seconds)

    def _watched(self) -> tuple[str, ...]:
        """Return the paths of the contract files that were read, and of the folders they are in."""
        if self._file is None:
            return ()
        path, _, file = self._file
        given = [path] if isinstance(path, (str, Path)) else path
        return tuple(dict.fromkeys([*map(str, given), *file.sources]))

    def _reloaded(self) -> None:
        try:
            self.reload()
        except SponsioLikeError as error:
            said = logging.getLogger("sponsio_like")
            said.error("the contracts stay as they are: %s", error)
            self._rules.log.kept(str(error))

    @overload
    def tool(
        self,
        function: _Tool,
        /,
        *,
        name: str | None = None,
        session: Session | None = None,
        blocked: OnBlock = "raise",
        held: OnHold = "raise",
        fields: Mapping[str, str] | None = None,
    ) -> _Tool: ...

    @overload
    def tool(
        self,
        /,
        *,
        name: str | None = None,
        session: Session | None = None,
        blocked: OnBlock = "raise",
        held: OnHold = "raise",
        fields: Mapping[str, str] | None = None,
    ) -> Callable[[_Tool], _Tool]: ...

    def tool(
        self,
        function: Any = None,
        /,
        *,
        name: str | None = None,
        session: Session | None = None,
        blocked: OnBlock = "raise",
        held: OnHold = "raise",
        fields: Mapping[str, str] | None = None,
    ) -> Any:
        """Return a function, a method or a `StructuredTool`, guarded: `@guard.tool`.

        Each call is decided on the arguments that the body receives (bound to names, defaults
        filled in, coerced by their annotations), and settled after it. The session is `session`,
        or the one that is `active()`. A blocked call raises `CallBlocked`, returns the advice
        (`"return"`), or what a function makes of the outcome; a held one raises `CallHeld`,
        returns the `Ticket`, or waits for the answer. Where only observed, arguments are passed
        as they are. `fields` are kinds of arguments, `{"command": "shell"}`, as annotations may
        say them, too (docs/kinds.md). Raises `ContractError` for what cannot be guarded, and for
        kinds that contradict those of the contract file.
        """
        options = ToolOptions(name, session, blocked, held, fields)
        if function is None:
            return lambda given: decorated(self._tools, given, options, {})
        return decorated(self._tools, function, options, {})

    def wrap(self, tools: Any, **options: Any) -> Any:
        """Return tools, a list or a mapping from names to functions, guarded; options as in `tool`.

        Tools that are wrapped by one call may stand in for one another in redirects.
        """
        box, batch = self._tools, dict[str, Tool]()
        if isinstance(tools, Mapping):
            return {
                name: decorated(box, each, ToolOptions(name=name, **options), batch)
                for name, each in tools.items()
            }
        return [decorated(box, each, ToolOptions(**options), batch) for each in tools]

    def warm(self, milliseconds: float = 50) -> bool:
        """Compile ahead what the first calls would have to compile, for about so many milliseconds.

        Call it when the process starts, and as often as you like: it goes on where it stopped.
        Returns True if nothing is left to learn. Decisions are the same without. Raises
        `ContractError` for anything but a number of milliseconds.
        """
        if type(milliseconds) not in (int, float) or not milliseconds >= 0:
            raise ContractError.of(
                f"warm({milliseconds!r}): not a number of milliseconds", "write `guard.warm(50)`"
            )
        end = time.perf_counter() + milliseconds / 1000
        while time.perf_counter() < end:
            try:
                learn = self._lessons.popleft()
            except IndexError:
                return True
            learn()
        return not self._lessons

    @cached_property
    def _lessons(self) -> deque[Lesson]:
        return deque(lessons(self.policy))

    def trajectory_monitor(
        self, specs: Mapping[str, Formula] | None = None
    ) -> TrajectorySafetyMonitor:
        """Return a new monitor of the steps of one agent: of `specs`, or of the four built-in ones.

        It only watches, and what it sees is no part of any session. Raises `ContractError` as
        `TrajectorySafetyMonitor` does.
        """
        from sponsio_like.trajectory import SPECIFICATIONS, TrajectorySafetyMonitor

        return TrajectorySafetyMonitor(SPECIFICATIONS if specs is None else specs)

    def session(
        self,
        id: str | None = None,
        *,
        clock: Callable[[], float] = time.time,
        assume_success: bool = False,
        inputs: Iterable[str] | None = None,
        world: World | None = None,
        risk: GatePolicy | None = None,
    ) -> Session:
        """Return the open session of this id in this process, else a new one.

        One for each conversation. It stays open, and is kept, until it is finished. Without an id
        it is new; so it is with a `world`, if all contracts that remember are on the world: hold on
        to it, since it alone knows its calls in flight, its tickets and its facts. Raises
        `SessionError` if it is open with another clock, or other options.

        `inputs` are those that the host delivers (`results`, `messages`, `usage`, `agents`,
        `depth`, `facts`, `time`, `finish`, `tool_names`); all, if not given. `assume_success`:
        nobody settles calls; a call counts as done when the next turn is decided. `world` is the
        store of the contracts on the world; without one the session keeps their state itself. A
        store keeps it for each id: two ids have two budgets, so give the id of the account, or of
        the customer, whose budget it is. `risk` is a policy of risk, in the place of that of the
        guard. Raises `InputMissing` if a contract needs an input that is not delivered.
        """
        check_id(id)
        given = SessionOptions(clock, assume_success, check_inputs(inputs), world, risk)
        if id is None or (world is not None and self._rules.all_state_in_world):
            return self._roster.unnamed(self._begun(id, given))
        return self._roster.open(id, given, lambda: self._begun(id, given))

    def _miss_store(self, contracts: Iterable[str]) -> None:
        """Warn in Python's log, once, that each session counts these contracts for itself."""
        if not self._lacks_store:
            self._lacks_store = True
            names = ", ".join(f"`{name}`" for name in contracts)
            what = f"each session counts {names} for itself, without a store"
            hint = "write session(id, world=SqliteWorld(path))"
            logging.getLogger("sponsio_like").warning("%s; %s", what, hint)

    def _begun(self, id: str | None, given: SessionOptions) -> Session:
        """Return a new session without a past, whatever is open under its id."""
        clock, assume_success, _, world, risk = given
        rules = self._rules  # one and the same, also while they are loaded again
        check_given(rules.policy, id, given, content=rules.content)
        if rules.policy.world and world is None:
            self._miss_store(rules.policy.world)
        name = id if id is not None else fresh_id("session-")
        return Session(
            rules.policy_of(name),
            name,
            clock=clock,
            assume_success=assume_success,
            log=rules.log,
            notify=self._notify,
            world=world if rules.policy.world else None,
            gate=self._gate(rules, risk),
        )

    def _gate(self, rules: Rules, risk: GatePolicy | None) -> Gate | None:
        """Return the gate of a session: of its own policy of risk, else of that of the guard."""
        chosen = risk or rules.risk
        return None if chosen is None else chosen.opened(rules.policy, relaxed=self.relaxed)

    def restore(
        self,
        snapshot: Mapping[str, Any],
        *,
        clock: Callable[[], float] = time.time,
        assume_success: bool = False,
        inputs: Iterable[str] | None = None,
        world: World | None = None,
        risk: GatePolicy | None = None,
    ) -> Session:
        """Return the session of a snapshot.

        Its `started_anew` names the contracts that have changed since. It is a new session also
        where one of this id is open: a host may go back, or go two ways. From now on `session`
        returns it for its id; it is kept until it is finished. `clock`, `assume_success`, `inputs`
        and `world` are no part of it: give them as for `session`. The clock must not begin anew:
        else time stands still until the clock has caught up. Raises `SnapshotError` if the snapshot
        cannot be read.
        """
        given = SessionOptions(clock, assume_success, check_inputs(inputs), world, risk)
        session = self._resumed(snapshot, given)
        self._roster.restored(
            session, given, keep=world is None or not self._rules.all_state_in_world
        )
        return session

    def _resumed(self, snapshot: Mapping[str, Any], given: SessionOptions) -> Session:
        """Return the session of a snapshot, whatever is open under its id."""
        try:
            id = part(snapshot, "session", str)
            session = self._begun(id, given)
            session.resume(snapshot)
        except (
            LookupError,
            TypeError,
            ValueError,
            AttributeError,
            ArithmeticError,
            RecursionError,
        ) as error:
            raise SnapshotError(f"snapshot is damaged: {type(error).__name__}: {error}") from error
        return session


def begun(guard: Guard, id: str | None, given: SessionOptions) -> Session:
    """Return a new session without a past, for hosts that keep snapshots themselves.

    It is not kept, whatever is open under its id.
    """
    return guard._begun(id, given)  # noqa: SLF001  it is a method, but not for users


def restored(guard: Guard, snapshot: Mapping[str, Any], given: SessionOptions) -> Session:
    """Return the session of a snapshot, for hosts that restore often.

    As `Guard.restore`, but the guard keeps it only if it kept the session of this id before.
    """
    session = guard._resumed(snapshot, given)  # noqa: SLF001  as above
    guard._roster.restored(session, given, keep=False)  # noqa: SLF001  as above
    return session


def checked_by(guard: Guard, host: Host) -> None:
    """Let a host refuse contracts that it could not keep: those of a guard, now and at reloads."""
    host.check_contracts(guard.policy)
    guard._hosts[id(host)] = host  # noqa: SLF001  as above


def record(log: LogGiven, *, content: Iterable[str] | bool = True) -> Guard:
    """Return a guard without contracts, whose sessions are only recorded: the log is a trace.

    `content` is what is written of calls, answers, messages and facts: everything, unless said
    otherwise. Raises `ContractError` for a log that cannot be written to.
    """
    return Guard(NO_CONTRACTS, log=log, log_content=content)


def _kinds(known: Iterable[Described]) -> list[FieldKind]:
    return [kind for each in known for kind in each.kinds]


def _check_described(policy: Policy, known: Iterable[Described]) -> None:
    """Raise `ContractError` for what contracts name of tools that do not have it."""
    for each in known:
        check_tool(policy, each.tool, each.arguments, each.hosts, each.kinds)


def _sink(given: LogGiven) -> OfLog:
    """Return the sink of a log. Raises `ContractError` for what cannot be one."""
    from sponsio_like.guard.sinks import sink_of

    return sink_of(given)


def _log(policy: Policy, sink: OfLog | None, content: Content, source: str) -> Log:
    """Return the log of a guard, silent if it has no sink."""
    if sink is None:
        return SILENT
    from sponsio_like.engine import ByName
    from sponsio_like.log import entering

    each = (dict(as_logged(*pair)) for pair in zip(policy.contracts, policy.modes, strict=True))
    first = {"contracts": list(each), **({"source": source} if source else {})}
    outlet = Outlet(sink.write, entering(sink.write), first)
    return Log(outlet, content, ByName(policy), sink.reads)


def _risk_of(section: RiskSection | None, sources: tuple[str, ...]) -> GatePolicy | None:
    """Return the policy of a section `risk:` of a contract file; None without one."""
    return _RISK_READER[-1](section, Path(sources[-1]).parent) if section else None


def read_risk_with(reader: RiskReader) -> None:
    """Register the function that reads sections `risk:` of contract files from now on."""
    _RISK_READER.append(reader)


def _asked_to_relax() -> bool:
    asked = os.environ.get(RELAX, "")
    if asked not in ("", "observe", "enforce"):
        raise ContractError.of(
            f"environment variable {RELAX} is `{asked}`", "it may only be `observe`"
        )
    return asked == "observe"
