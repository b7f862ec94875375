"""Outcomes and decisions: a closed union that every adapter answers completely.

Out: `Allowed | Blocked | Held | Redirected`. They share no flag for "go on": a caller has to look
at the type. A new kind of outcome is a design decision; a new strategy is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from sponsio_like.event_types import Call, Ticket
from sponsio_like.notices import Mailbox

Severity: TypeAlias = Literal["low", "medium", "high", "critical"]
Mode: TypeAlias = Literal["observe", "enforce"]
Action: TypeAlias = Literal["blocked", "held", "redirected", "warned", "custom", "reported"]


@dataclass(frozen=True, slots=True)
class Violation:
    """One contract, violated at one position.

    `position` counts calls from 0 (for a message: the calls so far, and `tool` is None). `action`
    is what enforcement does about it; `reported` where no call could have prevented it. `message`
    says what had to hold, in the contract's words; it never has argument values. `values` are those
    of the contract's variables, in their canonical form: the first for which it is violated.
    `since` is the call from which on the state stands against it, None if that is not known.
    `because`, `owner`, `severity` and `tags` are what the contract says about itself. A callable
    that is a strategy gets the `call` too, with a copy of its arguments, or the `text` of a
    response; no other violation has them, and they are neither shown nor compared.
    """

    contract: str
    position: int
    tool: str | None
    action: Action
    message: str
    mode: Mode = "enforce"
    values: tuple[tuple[str, Any], ...] = field(default=(), hash=False, repr=False)
    since: int | None = None
    because: str = ""
    owner: str = ""
    severity: Severity | None = None
    tags: tuple[str, ...] = ()
    call: Call | None = field(default=None, repr=False, compare=False)
    text: str | None = field(default=None, repr=False, compare=False)

    @property
    def binding(self) -> dict[str, Any]:
        """The values of the contract's variables, by name."""
        return dict(self.values)

    @property
    def words(self) -> str:
        """The words for people and models: the reason of the contract, else what had to hold."""
        return self.because or self.message

    def __str__(self) -> str:
        return f"`{self.contract}`: {self.words}"


@dataclass(frozen=True, slots=True)
class Unfulfilled:
    """An obligation that is still open: what has to happen before the session ends.

    `values` are those of the contract's variables for which it is open, or some of them. `because`,
    `owner`, `severity` and `tags` are what the contract says about itself.
    """

    contract: str
    message: str
    values: tuple[tuple[str, Any], ...] = field(default=(), hash=False, repr=False)
    because: str = ""
    owner: str = ""
    severity: Severity | None = None
    tags: tuple[str, ...] = ()

    @property
    def binding(self) -> dict[str, Any]:
        """The values of the contract's variables, by name."""
        return dict(self.values)

    def __str__(self) -> str:
        why = f"{self.because}; " if self.because else ""
        return f"`{self.contract}`: {why}{self.message}"


@dataclass(frozen=True, slots=True)
class Allowed:
    """The call may run.

    `id` is the id to settle. `warnings` are the violations that `warn_only` answered; `observed`
    are those that `enforce` would have acted upon.
    """

    id: str
    warnings: tuple[Violation, ...] = ()
    observed: tuple[Violation, ...] = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return what `let_through` has left out: nothing was found."""
            if name in ("warnings", "observed"):
                return ()
            raise AttributeError(f"an allowed call has no `{name}`", name=name, obj=self)


_new: Callable[[type[Allowed]], Allowed] = object.__new__
_set_id = getattr(Allowed, "id").__set__  # noqa: B009  the slot, not the field


def let_through(id: str) -> Allowed:
    """Return `Allowed(id)`, in a third of the time."""
    outcome = _new(Allowed)
    _set_id(outcome, id)
    return outcome


@dataclass(frozen=True, slots=True)
class Blocked:
    """The call must not run.

    `advice` is one sentence for the model; it is computed when it is first read. `ends_run` is True
    if the run is over: nothing more is let through.
    """

    id: str
    violations: tuple[Violation, ...]
    explain: Callable[[], str] = field(repr=False, compare=False)
    ends_run: bool = False

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return what `blocked_for` has left out, made by then."""
            match name:
                case "violations":
                    found = self.explain.violations
                    _set_violations(self, found)
                    return found
                case "ends_run":
                    return False
            raise AttributeError(f"a blocked call has no `{name}`", name=name, obj=self)

    @property
    def advice(self) -> str:
        """One sentence: the reason, and the shortest way to make the call legal, if any."""
        return self.explain()


class Why(Protocol):
    """The reason of a refusal: its violations, and when it is called, the advice."""

    @property
    def violations(self) -> tuple[Violation, ...]:
        """The violations of enforced contracts."""
        ...

    def __call__(self) -> str:
        """Return the advice."""
        ...


_new_blocked: Callable[[type[Blocked]], Blocked] = object.__new__
_set_blocked = getattr(Blocked, "id").__set__  # noqa: B009  as above
_set_violations = getattr(Blocked, "violations").__set__  # noqa: B009
_set_explain = getattr(Blocked, "explain").__set__  # noqa: B009


def blocked_for(id: str, why: Why) -> Blocked:
    """Return `Blocked(id, why.violations, why)`, whose violations are made when they are read."""
    outcome = _new_blocked(Blocked)
    _set_blocked(outcome, id)
    _set_explain(outcome, why)
    return outcome


@dataclass(frozen=True, slots=True)
class Held:
    """The call waits for a person: `Session.approve` or `deny` answers the ticket.

    Then the call is decided again, under the same id.
    """

    id: str
    violations: tuple[Violation, ...]
    ticket: Ticket


@dataclass(frozen=True, slots=True)
class Redirected:
    """The tool `tool` is to run with `args` instead of the call, under the same id."""

    id: str
    tool: str
    args: Mapping[str, Any]
    violations: tuple[Violation, ...]


Outcome: TypeAlias = Allowed | Blocked | Held | Redirected


# --- what a strategy answers ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Block:
    """The decision to refuse the call."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The decision to refuse the call, and everything after it: the run ends."""


@dataclass(frozen=True, slots=True)
class Warn:
    """The decision to let the call run, with a warning."""


@dataclass(frozen=True, slots=True)
class Redirect:
    """The decision to run `tool` instead.

    `renames` maps argument names to new ones (to None: dropped); None: the same arguments.
    """

    tool: str
    renames: tuple[tuple[str, str | None], ...] | None = None


@dataclass(frozen=True, slots=True)
class Escalate:
    """The decision to hold the call until a person in one of `roles` answers; anyone, if none.

    `notify` are told. An answer has to come `within` so many seconds, if that is given.
    """

    roles: tuple[str, ...] = ()
    notify: tuple[Mailbox, ...] = field(default=(), compare=False)
    within: float | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """The decision to ask a callable of the user, which answers with a strategy."""

    name: str
    function: Callable[[Violation], Any] = field(compare=False)


Decision: TypeAlias = Block | Stop | Warn | Redirect | Escalate | Ask
