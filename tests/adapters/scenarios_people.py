"""Scenarios about calls that wait for people, and tools that ask by themselves.

In: a way. Out: the story of what was observed.
"""

from __future__ import annotations

from langchain_core.tools import BaseTool
from langgraph.types import Command, interrupt

from sponsio_like.adapters.langgraph import waiting
from tests.adapters.apps import State, Way, kit, made_tool, opened
from tests.adapters.harness import Call
from tests.adapters.rules import asked, few, no, pay, send, spending, yes
from tests.adapters.scripted import resume


def beside_others(way: Way) -> str:
    """A call is held beside two that nobody has to approve."""
    app = opened(kit(way, asked()))
    state = app.say([send("hello", "a"), pay(900, "b"), pay(5, "c")])
    app.note("first", state)
    state = app.run(Command(resume="nobody has answered"))
    app.note("no answer", state)
    app.note("approved", app.answer(state, yes("b")))
    return app.told()


def in_reverse(way: Way) -> str:
    """Two calls are held; the second is answered first, the first in another resume."""
    app = opened(kit(way, asked()))
    state = app.say([pay(900, "a"), pay(800, "b")])
    app.note("first", state)
    state = app.answer(state, no("b"))
    app.note("no to the second", state)
    app.note("yes to the first", app.answer(state, yes("a")))
    return app.told()


def twice(way: Way) -> str:
    """The same answer comes twice, the second time when the call has run."""
    app = opened(kit(way, asked()))
    state = app.say([pay(900, "a")])
    said = resume(waiting(state), yes("a"))
    app.note("approved", app.run(said))
    app.note("approved again", app.run(said))
    app.note("the same call later", app.say([pay(900, "b")]))
    app.note("approved with the first answer", app.run(said))
    return app.told()


def of_another(way: Way) -> str:
    """The answer to one call comes when another one waits, of the same id and other arguments."""
    app = opened(kit(way, asked()))
    said = resume(waiting(app.say([pay(900, "a")])), yes("a"))
    app.note("the user goes on", app.say([pay(901, "a")]))
    app.note("approved what was asked first", app.run(said))
    return app.told()


def said_meanwhile(way: Way) -> str:
    """Instead of an answer the user says something else."""
    app = opened(kit(way, asked(), spending(1_000)))
    app.note("first", app.say([pay(900, "a"), pay(1, "b")]))
    app.note("something else", app.say([send("sorry", "c")], [pay(100, "d")]))
    return app.told()


def asking(way: Way) -> BaseTool:
    """A tool whose body asks people."""

    def ask(what: str) -> str:
        return f"{what}: {interrupt({'what': what})}"

    async def aask(what: str) -> str:
        return ask(what)

    return made_tool(way, ask, aask)


def ask(what: str, id: str) -> Call:
    """The model asks for a question."""
    return Call("ask", {"what": what}, id)


def own_interrupts(way: Way) -> str:
    """Two tools ask people by themselves, beside a payment, the only one that is allowed."""
    app = opened(kit(way, few("pay", 1)), asking(way))
    state = app.say([ask("size", "a"), pay(60, "b"), ask("colour", "c")])
    app.note("first", state)
    state = app.run(Command(resume={_interrupt(state, "colour"): "red"}))
    app.note("colour answered", state)
    state = app.run(Command(resume={_interrupt(state, "size"): "small"}))
    app.note("size answered", state)
    answers = [
        each.text for each in state["messages"] if each.type == "tool" and each.name == "ask"
    ]
    app.story.append(f"the model is told {', '.join(answers)}")
    app.note("then", app.say([pay(1, "d")]))
    return app.told()


def _interrupt(state: State, what: str) -> str:
    """The id of the interrupt that asks this."""
    return next(str(each.id) for each in state["__interrupt__"] if each.value["what"] == what)
