"""Opens the session that decides in a node, and refuses where it could not remember.

In: the guard, and the value of the channel where the node runs. Out: a session, live or restored;
or a refusal, where contracts would have to remember and nothing would. Where contracts only
observe, what fails here is kept from the agent (`undisturbed`).
"""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from weakref import WeakKeyDictionary

from langgraph.errors import GraphBubbleUp

from sponsio_like.adapters.langgraph.channel import CHANNEL, GuardPart, mine, part_of, rev_of
from sponsio_like.adapters.langgraph.journal import JournalEntry, catch_up, goes_on, known_to
from sponsio_like.adapters.langgraph.leases import Together
from sponsio_like.adapters.langgraph.live import Live, LiveStep, Out, live_of
from sponsio_like.adapters.langgraph.messages import Facts, refuse_answers
from sponsio_like.adapters.langgraph.place import Outer, Place
from sponsio_like.engine import Policy
from sponsio_like.errors import ContractError, InputMissing, SessionError, SnapshotError
from sponsio_like.guard import Flow, Guard, SessionOptions, begun, checked_by, restored
from sponsio_like.session import Session, fresh_id, read_saved, saved
from sponsio_like.worlds import World

Scope: TypeAlias = Literal["thread", "run"]
"""The extent of a session: over all runs of a thread, or over one run of the graph."""

HINTS = {
    "facts": "give facts=, a function of the state and the config",
    "finish": "no node hears the end; use the middleware of sponsio_like.adapters.langchain",
}
"""Advice about an input that is missing."""
LINE_CAP = 200
"""Most ancestors that a shared part names: the steps of a subgraph before its parent hears."""
BESIDE_CAP = 8
"""Most ancestors that another part names."""
READ = "__pregel_read"
"""The key of what reads the channels, in the config of a node."""
INPUTS = frozenset({"results", "messages", "usage", "agents", "depth", "time", "tool_names"})


@dataclass(frozen=True)
class Sessions:
    """Opens sessions for the nodes of one graph.

    Raises `InputMissing` for contracts that need what no node hears of, and `ContractError` for
    contracts on the world where there is no store for it.
    """

    guard: Guard
    agent: str = "agent"
    scope: Scope = "thread"
    shared: bool = False
    world: World | None = None
    clock: Callable[[], float] = time.time
    facts: Facts | None = None
    inputs: frozenset[str] = INPUTS
    live: Live = field(init=False)
    part: str = field(init=False)

    def __deepcopy__(self, _: Any) -> Sessions:
        """Return this very object: a copied builder has the same guard, world and clock."""
        return self

    def __post_init__(self) -> None:
        object.__setattr__(self, "live", live_of(self.guard))
        object.__setattr__(self, "part", part_of(self.guard))
        if self.scope not in ("thread", "run"):
            raise ContractError.of(f"scope={self.scope!r}", "write thread or run")
        checked_by(self.guard, self)

    def check_contracts(self, policy: Policy) -> None:
        """Raise `InputMissing` or `ContractError` for contracts that could not be kept here."""
        for contract, needs in policy.needs.items():
            if missing := sorted(needs - self.delivered):
                raise InputMissing(
                    f"contract `{contract}` needs {', '.join(missing)}; {HINTS[missing[0]]}"
                )
        if policy.world and self.world is None:
            raise ContractError.of(
                f"contract `{policy.world[0]}` is on the world, which no checkpoint keeps",
                "give world=SqliteWorld(path), from sponsio_like.worlds",
            )
        if "finish" not in self.inputs:
            refuse_answers(policy)

    @functools.cached_property
    def delivered(self) -> frozenset[str]:
        """The inputs that contracts may ask for here."""
        return self.inputs | ({"facts"} if self.facts is not None else set())

    @property
    def listens(self) -> bool:
        """True if any contract speaks of messages, or of tokens."""
        return any(needs & {"messages", "usage"} for needs in self.guard.policy.needs.values())

    @property
    def own(self) -> list[str]:
        """The contracts that remember, from run to run, what no store on the world keeps."""
        policy, of_run = self.guard.policy, self.scope == "run"
        return [] if of_run else [each for each in policy.stateful if each not in policy.world]

    def open(self, kept: GuardPart, place: Place, batch: str = "") -> Out:
        """Return the session that stands where the node runs, for a batch.

        Calls that this run of the graph has decided in an earlier batch, and that have not ended,
        never will. Raises `SessionError` if there can be no session.
        """
        self._check(kept, place)
        run = "" if self.shared else place.run  # graphs that share the channel share the session
        step = LiveStep(rev_of(kept), place.root, place.step, run)
        out = self.live.open(step, lambda live: self._opened(live, kept, place))
        with out.lock:
            catch_up(out.session, (*kept.get("results", ()), *place.ended))
            if not out.shared and kept.get("group") != batch:
                runs = self.live.runs(out.session)  # of a run that was left, or beside this one
                for id in set(_left(out.session, place, batch)) - runs:
                    out.session.settle(id, error="the step that it belonged to has not ended")
            _decides(out.session, place, batch)
            self._at(out.session, place.step)
        return out

    @property
    def _given(self) -> SessionOptions:
        world = None if self.world is None else Together(self.world)
        return SessionOptions(self.clock, False, self.delivered, world)

    def lives(self, kept: GuardPart) -> bool:
        """True if the session of this part lives here."""
        return self.live.look(rev_of(kept)) is not None

    def decided_here(self, kept: GuardPart) -> bool:
        """True if the session of this part was written in this process, and lives here."""
        live = self.live.look(rev_of(kept))
        return live is not None and known_to(live).name == kept.get("live")

    def beside(
        self, kept: GuardPart, place: Place, id: str = "", siblings: Iterable[JournalEntry] = ()
    ) -> Session:
        """Return the session of this part, for the call `id`, which may run beside others.

        `siblings`: what calls that have ended before say, where the session has to be restored.
        It is restored, too, if it knows how this call has ended, which runs again: in a replay.
        """
        live = self.live.look(rev_of(kept))
        ended = {each["id"] for each in kept.get("results", ())}
        flying = () if live is None else live._inner.in_flight()  # noqa: SLF001  as in `_left`
        again = live is not None and id and id not in ended and id not in flying
        if live is None or again:
            live = self._restored(kept, place)
            self._at(live, kept.get("place", ""))
            catch_up(live, (*kept.get("results", ()), *siblings))
            if again:
                self.live.replace(rev_of(kept), live)
        return self.live.keep(rev_of(kept), live)

    def seen(self, kept: GuardPart, place: Place) -> Session:
        """Return the session of this part, to look at."""
        live = self.live.look(rev_of(kept))
        if live is None:
            self._check(kept, place)
        session = self._opened(live, kept, place)
        if session is not live:
            catch_up(session, kept.get("results", ()))
        return session

    def after(self, kept: GuardPart, session: Session, more: GuardPart) -> GuardPart:
        """Return the next part; the session lives on for it."""
        known = known_to(session)
        with known.lock:
            known.name = known.name or fresh_id()
            more = {**more, "live": known.name, "seq": known.count}
            if not (self.guard.policy.stateful and self.guard.policy.enforces):
                more["loose"] = True
            value = successor(kept, {"session": saved(session), **more}, shared=self.shared)
            value["told"] = known.since(next(iter(value["line"]), ""))
            known.wrote(value["rev"])
        self.live.keep(rev_of(value), session)
        return value

    def once_answered(self, question: str, written: Mapping[str, GuardPart]) -> None:
        """Raise `SessionError` if the answer that this was decided with is spent already."""
        if question and not self.live.answered(question, written[self.part]["rev"]):
            raise SessionError(
                "this answer was given before, and the calls that it lets through have run"
            )

    def wrote(self, kept: GuardPart) -> dict[str, GuardPart]:
        """Return the part of this guard, as the channel takes it."""
        return {self.part: kept}

    def _at(self, session: Session, step: str) -> None:
        if self.world is not None:
            session.place(step)

    def _opened(self, live: Session | None, kept: GuardPart, place: Place) -> Session:
        """Return the session that lives here, under the contracts as they are now; else another."""
        if live is None:
            return self._restored(kept, place)
        if live.policy.contracts is self.guard.policy.contracts:
            return live
        return goes_on(live, restored(self.guard, live.snapshot(), self._given))

    def _restored(self, kept: GuardPart, place: Place) -> Session:
        if "rev" not in kept:
            return begun(self.guard, place.thread, self._given)
        if "session" not in kept:
            raise SessionError(
                f"the channel `{CHANNEL}` is of a graph that ran inside a guarded tool; give it a "
                "thread of its own"
            )
        try:
            return restored(self.guard, read_saved(kept["session"]), self._given)
        except SnapshotError:
            if self.guard.policy.enforces:
                raise
            log_failure("the session in the checkpoint cannot be read, and begins anew")
            return begun(self.guard, place.thread, self._given)

    def kept_in(self, config: Mapping[str, Any]) -> GuardPart:
        """Return the part of this guard. Raises `SessionError` if the graph has no such channel."""
        try:
            whole = read_channels(config, CHANNEL)
        except KeyError:
            whole = None
        if whole is None:
            raise SessionError(
                f"the graph has no channel `{CHANNEL}`, so nothing would be remembered; add the "
                "node with guard_tools(builder, guard, tools), or give the agent "
                "middleware=guarded(guard, tools)"
            )
        return self.mine(whole)

    def mine(self, whole: Mapping[str, GuardPart]) -> GuardPart:
        """Return the part of this guard, of the value of the channel."""
        return mine(whole, self.part, self.guard)

    def _check(self, kept: GuardPart, place: Place) -> None:
        if self.scope == "run" and place.thread is not None and not place.inside:
            raise SessionError('scope="run" is for graphs without a thread; this one has one')
        policy, own = self.guard.policy, self.own
        if not (own or policy.world):
            return
        what = f"contract `{(*own, *policy.world)[0]}` remembers earlier calls, but"
        if own and place.inside and not self.shared and not place.lasting:
            why = (
                f"{what} this graph runs inside another one and forgets them at its end; write "
                'scope="run" to hold the contract in each of its runs, checkpointer=True to have '
                "it go on where it was, or shared=True for the session of the graph around it, "
                "and add GuardedState to the states of both"
            )
        elif own and self.shared and "rev" not in kept and kept.get("around", 0) < place.depth:
            why = (
                f"{what} this graph runs inside another one that does not share `{CHANNEL}`; add "
                "GuardedState to the states of all graphs around it (a Send has to send it), or "
                'write scope="run" if it is a tool, which has no state'
            )
        elif place.thread is None:
            instead = ', or write scope="run"' if own else ""
            why = (
                f"{what} nothing keeps them: compile the graph with a checkpointer and give a "
                f"thread_id{instead}"
            )
        else:
            return
        self.refuse(why)

    def refuse(self, why: str) -> None:
        """Raise `SessionError` for contracts that would forget; if none is enforced, warn."""
        if why and self.guard.policy.enforces:
            raise SessionError(why)
        if why:
            logging.getLogger("sponsio_like").warning("%s", why)


_BATCHES: WeakKeyDictionary[Session, tuple[str, dict[str, str]]] = WeakKeyDictionary()
"""The latest step of the outermost graph in which a session has decided; and which batch, for each
run of a graph in there: it decides it now, or the step has ended without a result."""


def _decides(session: Session, place: Place, batch: str) -> None:
    """Note that this run decides this batch from now on."""
    root, batches = _BATCHES.get(session, ("", {}))
    _BATCHES[session] = (place.root, {**(batches if root == place.root else {}), place.run: batch})


def _left(session: Session, place: Place, batch: str) -> list[str]:
    """Return the calls in flight of an earlier batch, without those of runs beside this one."""
    root, batches = _BATCHES.get(session, ("", {}))
    if batches.get(place.run) == batch:
        return []
    flying = session._inner.in_flight()  # noqa: SLF001  it has no public name
    if root != place.root or not place.inside:
        return flying
    return [id for id in flying if Outer("").own(place.run, "") in id]


def read_channels(config: Mapping[str, Any], channels: Any, *, fresh: bool = False) -> Any:
    """Return the values of channels where a node runs; `fresh`: with what this node has written.

    Raises `SessionError` outside of a graph.
    """
    reader = config.get("configurable", {}).get(READ)
    if reader is None:
        raise SessionError("this is no node of a graph that runs: there is no state to be read")
    return reader(channels, fresh)


def successor(kept: GuardPart, more: GuardPart, *, shared: bool) -> GuardPart:
    """Return the part that comes after `kept`, with this content."""
    mine = [*kept.get("line", ()), kept["rev"]] if "rev" in kept else []
    return {"rev": fresh_id(), "line": mine[-(LINE_CAP if shared else BESIDE_CAP) :], **more}


# --- where nothing is enforced --------------------------------------------------------------------


def undisturbed(guard: Guard, work: Flow, instead: Callable[[], Any]) -> Flow:
    """Do the work, and return what it gives; `instead`, if it raises and nothing is enforced."""
    try:
        return (yield from work)
    except GraphBubbleUp:
        raise
    except Exception:
        if guard.policy.enforces:
            raise
        log_failure("the contracts were not observed here")
        return instead()


def log_failure(what: str) -> None:
    """Log what has failed, with the exception that is being handled."""
    logging.getLogger("sponsio_like").warning("%s", what, exc_info=True)  # noqa: LOG014
