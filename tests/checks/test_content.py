"""What a log withheld is asked of every node that reads it (docs/logging.md)."""

from __future__ import annotations

import pytest

import sponsio_like.logic.formula as f
from sponsio_like import Guard, contract
from sponsio_like.checks.content import content_missing
from sponsio_like.syntax import read
from tests.support.formulas import LEAVES

ARGS, OUTPUTS, TEXTS = ("args", "pay", "n"), ("outputs", "look"), ("texts", "user")
READS: dict[type[f.Node], tuple[str, tuple[str, ...]]] = {
    f.Happens: ("G !called(pay, n > 3)", ARGS),
    f.Custom: ('G(called(pay) -> !arg_missing("n"))', ARGS),
    f.Arg: ("G(called(pay) -> arg(n) > 3)", ARGS),
    f.Mark: ("G(called(pay) -> mark(n) = last(mark(n), called(look)))", ARGS),
    f.Sum: ("G(called(pay) -> sum(pay, n) <= 9)", ARGS),
    f.Repeats: ("G(called(pay) -> repeats(pay) <= 2)", ARGS),
    f.Denied: ("G(called(pay) -> denied(pay, call) < 2)", ARGS),
    f.OutputIs: ("G !(done(look) & output.a = 1)", OUTPUTS),
    f.Output: ("G(called(pay) -> arg(n) = last(output(a), done(look)))", OUTPUTS),
    f.TextMatches: ('G !text matches "x"', TEXTS),
    f.TextIs: ("G(called(pay, n = $x) -> O text has $x)", TEXTS),
    f.Permitted: ("G(called(pay) -> permission(p))", ("facts", "permissions")),
    f.Approved: ("G(called(pay) -> approved(pay, boss))", ("facts", "approval")),
    f.ApprovalAge: ("G(called(pay) -> approval_age(pay, boss) < 9)", ("facts", "approval")),
    f.Ctx: ("G(called(pay) -> ctx(k) = 1)", ("facts", "k")),
    f.FactAge: ("G(called(pay) -> fact_age(k) < 9)", ("facts", "k")),
}
"""For each node that reads what a log may withhold: a formula with it, and what is withheld."""
NOTHING = (
    *(f.ByAgent, f.MessageBy, f.Observed, f.Tokens, f.Depth, f.Delivered, f.Const, f.Constant),
    *(f.Variable, f.Compare),
)
"""The nodes without formulas in them that read no content: by themselves."""


def test_of_every_atom_and_term_it_is_said_what_it_reads() -> None:
    """A new node stands in one of the two tables of this file."""
    assert {*READS, *NOTHING} == LEAVES


@pytest.mark.parametrize("node", READS, ids=lambda node: node.__name__)
def test_a_contract_that_reads_what_was_withheld_cannot_be_judged(node: type[f.Node]) -> None:
    """Whichever atom or term reads it: the contract is named."""
    said, withheld = READS[node]
    formula = read(said)
    assert any(isinstance(each, node) for each in f.postorder(formula))
    policy = Guard([contract("c").guarantees(formula)]).policy
    assert set(content_missing(policy, [withheld])) == {"c"}
