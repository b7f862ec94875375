"""Redirects the edges around guarded nodes when the graph is compiled.

In: a graph builder, and the names of its guarded nodes. Out: a builder whose `compile` leads every
edge that ends at a guarded node to the node that decides (`tools.decide`), and every edge that
starts there from where its calls have ended. Nodes that decide are hidden from streams, and so is
the channel of the sessions: a guarded graph streams what it would stream without contracts.
"""

from __future__ import annotations

import copy
import inspect
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.constants import END, START, TAG_HIDDEN
from langgraph.graph import StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, RetryPolicy, Send

from sponsio_like.adapters.langgraph.channel import CHANNEL, GuardedState
from sponsio_like.adapters.langgraph.payloads import to_decide
from sponsio_like.adapters.langgraph.place import turn_of
from sponsio_like.errors import SponsioLikeError
from sponsio_like.guard import Flow, adrive, drive

Handled: TypeAlias = Callable[[Any, StateGraph[Any, Any, Any, Any]], Any]
"""Makes a handler of errors, for the nodes of a builder, one for guarded nodes, too."""


@dataclass
class Exits:
    """The nodes that a guarded node leads to; known when the graph is compiled."""

    guard: Any = None
    names: tuple[str, ...] = ()
    several: bool = False
    """True if other nodes of the graph have the same guard."""
    idle: tuple[str, ...] = ()
    """A node that runs beside calls: nodes that are deferred wait for it, and not for a `Send`."""


@dataclass
class Routes:
    """The guarded nodes of one builder; `compile` stands in the place of the builder's own."""

    builder: StateGraph[Any, Any, Any, Any]
    handled: Handled
    exits: dict[str, Exits] = field(default_factory=dict)

    def compile(self, *args: Any, **options: Any) -> Any:
        """Compile the graph with its edges redirected. Takes what `StateGraph.compile` takes."""
        gates = {end: f"{end}.joined" for end in self._met()}
        routed = self._routed(gates)
        pause = options.get("interrupt_before")
        if isinstance(pause, Sequence) and not isinstance(pause, str):
            options["interrupt_before"] = [self._entry(each) for each in pause]
        graph = routed.compile(*args, **options)
        own = [each for name in self.exits for each in (decides(name), ended(name), idle(name))]
        for each in (*own, *gates.values()):
            if each in graph.nodes:
                graph.nodes[each].tags = [*(graph.nodes[each].tags or ()), TAG_HIDDEN]
                graph.nodes[each].cache_policy = None  # a default of the builder is for others
        for name in self.exits:
            self._lead_on(graph, name)
        if CHANNEL not in self.builder.schemas[self.builder.state_schema]:
            shown = graph.stream_channels or ()
            graph.stream_channels = [each for each in shown if each != CHANNEL]
        return graph

    def _lead_on(self, graph: Any, name: str) -> None:
        """Let the edges of a guarded node hold for `update_state`, which runs no node.

        A node that runs says by itself where the graph goes, so that it goes without them.
        """
        for end in self.exits[name].names if ended(name) not in graph.nodes else ():
            graph.attach_edge(name, end)
        leads = graph.nodes.get(ended(name), graph.nodes[name])
        for each, by in ((decides(name), graph.nodes[decides(name)]), (name, leads)):
            node, edges = graph.nodes[each], by.writers[1:]  # the first one writes the state
            del node.writers[1:]
            vars(node)["node"] = _in_one(node)  # what runs is as it is now
            node.writers.append(_unless_it_says_where(edges))

    def _entry(self, name: str) -> str:
        return decides(name) if name in self.exits else name

    def _met(self) -> set[str]:
        """Return the nodes that a guarded one leads to, and so does one that may run beside it.

        Without contracts both would lead there in one step.
        """
        old, leads = self.builder, defaultdict[str, set[str]](set)
        bound = {*old.branches, *(start for start, _ in old.edges)}
        bound |= {start for starts, _ in old.waiting_edges for start in starts}
        for start, end in old.edges:
            leads[start].add(end)
        for start, branches in old.branches.items():
            for each in branches.values():
                leads[start].update(each.ends.values() if each.ends else old.nodes)
        for name, spec in old.nodes.items():  # by a command; one without edges may lead anywhere
            leads[name].update(spec.ends or (() if name in bound else old.nodes))
        own = {*self.exits, *map(decides, self.exits)}
        found: set[str] = set()
        for ends in [leads[start] for start in [*leads] if start not in own]:
            others = ends - own
            for name in ends & self.exits.keys():
                after = {end for start, end in old.edges if start == name} - {END}
                beside = [leads.get(each, set()) for each in others]
                found |= {end for end in after for each in beside if end in each}
        return {end for end in found if not old.nodes[end].defer}

    def _into(self, starts: Collection[str], end: str, gates: Mapping[str, str]) -> str:
        """Return where an edge leads now, that led to this node."""
        guarded = START in starts or not self.exits.keys().isdisjoint(starts)
        return self._entry(end) if guarded else gates.get(end, self._entry(end))

    def _routed(self, gates: Mapping[str, str]) -> StateGraph[Any, Any, Any, Any]:
        """Return a builder of the same nodes, with the edges redirected."""
        old = self.builder
        new = copy.copy(old)
        del new.__dict__["compile"]
        new.nodes, new.branches = dict(old.nodes), defaultdict(dict)
        known: Any = getattr(old, "_node_defaults", None)
        if handler := getattr(known, "error_handler", None):
            defaults = replace(known, error_handler=self.handled(handler, old))
            new._node_defaults = defaults  # noqa: SLF001  there is no other way to read them
        simple = {name: self._is_simple(name) for name in self.exits}
        leads: dict[str, list[str]] = {name: [] for name in self.exits}
        new.edges = set()
        for start, end in old.edges:
            if simple.get(start):
                leads[start].append(self._entry(end))
            else:
                place = ended(start) if start in self.exits else start
                new.edges.add((place, self._into([start], end, gates)))
        new.waiting_edges = {
            (
                tuple(ended(s) if s in self.exits else s for s in starts),
                self._into(starts, end, gates),
            )
            for starts, end in old.waiting_edges
        }
        for start, branches in old.branches.items():
            if start in map(decides, self.exits):
                continue
            place = ended(start) if start in self.exits else start
            into = partial(self._into, [start], gates=gates)
            new.branches[place] = {key: self._branch(each, into) for key, each in branches.items()}
        for end, gate in gates.items():
            new.nodes[gate] = self._gate(end)
        for name, exits in self.exits.items():
            exits.names = tuple(sorted(leads[name])) if simple[name] else (ended(name),)
            if not simple[name]:
                new.nodes[ended(name)] = _joining(old.nodes[name], old.state_schema)
            self._leave(new, name, exits)
        return new

    def _leave(self, new: StateGraph[Any, Any, Any, Any], name: str, exits: Exits) -> None:
        """Let the guarded node, and the one that decides, lead to where its calls have ended."""
        old = self.builder
        ends = old.nodes[name].ends
        more = {decides(name): None, **dict.fromkeys(exits.names)}
        both: Any = {**more, **ends} if isinstance(ends, dict) else (*more, *(ends or ()))
        new.nodes[name] = replace(old.nodes[name], ends=both)
        exits.idle = (idle(name),) if any(each.defer for each in old.nodes.values()) else ()
        for each in exits.idle:
            new.nodes[each] = _joining(old.nodes[name], GuardedState)
        new.branches[decides(name)] = old.branches[decides(name)]
        ends = (name, decides(name), *exits.idle)
        new.nodes[decides(name)] = replace(old.nodes[decides(name)], ends=ends)

    def _is_simple(self, name: str) -> bool:
        """True if only plain edges start at this node: then no node has to join its calls."""
        waits = any(name in starts for starts, _ in self.builder.waiting_edges)
        return not waits and not self.builder.branches.get(name)

    def _is_sent(self, chosen: Any) -> bool:
        """True if this sends something to a guarded node."""
        return isinstance(chosen, Send) and chosen.node in self.exits

    def _gate(self, end: str) -> Any:
        """Return a node that leads to this one, unless guarded nodes beside it have just decided.

        Then these lead there, when their calls have ended.
        """
        guarded = [name for name in self.exits if (name, end) in self.builder.edges]

        def lead(state: Any, config: RunnableConfig) -> Any:
            turns = [turn_of(config, name) for name in guarded]
            steps = [kept.get("steps", {}) for kept in (state or {}).get(CHANNEL, {}).values()]
            beside = any(each.get(node) == now - 1 for each in steps for node, now in turns)
            return None if beside else Command(goto=self._entry(end))

        spec = _joining(self.builder.nodes[end], GuardedState)
        return replace(spec, runnable=RunnableCallable(lead, trace=False), ends=(self._entry(end),))

    def _branch(self, branch: Any, into: Callable[[str], str]) -> Any:
        ends = branch.ends and {key: into(end) for key, end in branch.ends.items()}

        def renamed(chosen: Any) -> list[Any]:
            several = chosen if isinstance(chosen, (list, tuple)) else [chosen]
            sent = {each.node: list[Any]() for each in several if self._is_sent(each)}
            led = list[Any]()
            for each in several:
                if self._is_sent(each):
                    sent[each.node].append(each.arg)
                elif isinstance(each, str) and ends is None:
                    led.append(into(each))
                else:
                    led.append(each)
            return [*led, *(to_decide(decides(name), args) for name, args in sent.items())]

        def lead(state: Any, config: RunnableConfig) -> list[Any]:
            return renamed(branch.path.invoke(state, config))

        async def alead(state: Any, config: RunnableConfig) -> list[Any]:
            return renamed(await branch.path.ainvoke(state, config))

        path = RunnableCallable(lead, alead, name=branch.path.name, trace=False)
        return branch._replace(path=path, ends=ends)


def add(
    builder: StateGraph[Any, Any, Any, Any], name: str, node: Any, options: Mapping[str, Any]
) -> StateGraph[Any, Any, Any, Any]:
    """Add a node, with those options of `add_node` that are given.

    Raises `TypeError` for what this version of LangGraph does not have, and would not tell of.
    """
    given = {key: each for key, each in options.items() if each is not None}
    if unknown := given.keys() - inspect.signature(builder.add_node).parameters.keys():
        raise TypeError(f"this version of LangGraph has no `{min(unknown)}` for nodes")
    if policy := given.get("retry_policy"):
        every = [policy] if isinstance(policy, RetryPolicy) else policy
        given["retry_policy"] = [each._replace(retry_on=_but_refusals(each)) for each in every]
    return builder.add_node(name, node, **given)


def _but_refusals(policy: RetryPolicy) -> Callable[[Exception], bool]:
    """Return the policy's test of errors that are tried again, without refusals."""

    def tries(error: Exception) -> bool:
        on = policy.retry_on
        if isinstance(error, SponsioLikeError):
            return False
        if isinstance(on, (type, Sequence)):
            return isinstance(error, on if isinstance(on, type) else tuple(on))
        return on(error)

    return tries


def node_of(flow: Callable[..., Flow], name: str) -> RunnableCallable:
    """Return a node that goes through a flow, in the event loop where there is one."""

    def run(given: Any, config: RunnableConfig, runtime: Runtime[Any]) -> Any:
        return drive(flow(given, config, runtime, later=False))

    async def arun(given: Any, config: RunnableConfig, runtime: Runtime[Any]) -> Any:
        return await adrive(flow(given, config, runtime, later=True))

    return RunnableCallable(run, arun, name=name, trace=False)


def learned(
    builder: StateGraph[Any, Any, Any, Any], name: str, action: Any, schema: Any, ends: Any
) -> Any:
    """Return what LangGraph knows of a node with this action and these options; add none."""
    add(builder, name, action, {"input_schema": schema, "destinations": ends})
    return builder.nodes.pop(name)


def decides(name: str) -> str:
    """Return the name of the node that decides what runs in this one."""
    return f"{name}.decide"


def ended(name: str) -> str:
    """Return the name of the node where the calls of this one are joined."""
    return f"{name}.ended"


def idle(name: str) -> str:
    """Return the name of the node that does nothing beside the calls of this one."""
    return f"{name}.idle"


def route(
    builder: StateGraph[Any, Any, Any, Any], name: str, guard: Any, handled: Handled
) -> Exits:
    """Redirect a guarded node's edges once the builder is compiled; return its exits."""
    compile_ = builder.compile
    routes = getattr(compile_, "__self__", None)
    if not isinstance(routes, Routes):
        routes = Routes(builder, handled)
        builder.compile = routes.compile  # type: ignore[method-assign]  # of this builder alone
    known = routes.exits.setdefault(name, Exits(guard))
    same = [each for each in routes.exits.values() if each.guard is guard]
    for each in same:
        each.several = len(same) > 1
    return known


def goto(exits: Exits) -> list[str]:
    """Return where the graph goes from a guarded node: to its exits, or to the graph's end."""
    return [*exits.names] or [END]


def _unless_it_says_where(edges: Sequence[Any]) -> RunnableCallable:
    """Return a writer that follows the edges, unless a node has written where the graph goes."""

    def says(written: Any) -> bool:
        parts = written if isinstance(written, (list, tuple)) else [written]
        return any(isinstance(each, Command) and bool(each.goto) for each in parts)

    def lead(written: Any, config: RunnableConfig) -> Any:
        for each in () if says(written) else edges:
            each.invoke(written, config)
        return written

    async def alead(written: Any, config: RunnableConfig) -> Any:
        for each in () if says(written) else edges:
            await each.ainvoke(written, config)
        return written

    return RunnableCallable(lead, alead, trace=False, tags=[TAG_HIDDEN])


def _in_one(node: Any) -> RunnableCallable:
    """Return what runs the body of a node and its first writer, as one run in the traces."""
    body, writer = node.bound, node.writers[0]

    def run(given: Any, config: RunnableConfig) -> Any:
        return writer.invoke(body.invoke(given, config), config)

    async def arun(given: Any, config: RunnableConfig) -> Any:
        return await writer.ainvoke(await body.ainvoke(given, config), config)

    return RunnableCallable(run, arun, recurse=False)


def _joining(spec: Any, schema: Any) -> Any:
    """Return a node that does nothing: what starts there starts once, when all calls have ended."""
    nothing = RunnableCallable(lambda _: None, trace=False)
    options = {"metadata", "retry_policy", "cache_policy", "timeout", "error_handler_node"}
    without = dict.fromkeys(options & {each.name for each in fields(spec)})
    return replace(spec, runnable=nothing, input_schema=schema, ends=(), defer=False, **without)


def check_state(builder: StateGraph[Any, Any, Any, Any]) -> None:
    """Raise `TypeError` for a state without keys, which has no room for the channel."""
    schema = builder.state_schema
    if "__root__" in builder.schemas[schema]:
        raise TypeError(
            f"the state of the graph is `{schema}`, which has no room for `{CHANNEL}`; write a "
            "TypedDict, a dataclass or a pydantic model"
        )


def state_of(schema: Any, values: Mapping[str, Any]) -> Any:
    """Return the state as nodes receive it, from the values of its channels."""
    if isinstance(schema, type) and not issubclass(schema, dict):
        return schema(**values)
    return dict(values)
