"""Drafted statements are judged by what they refuse, beside contracts written by hand."""

from __future__ import annotations

import pytest

from campaigns.draft_quality import Judgement, judgement
from campaigns.draft_runs import HOME, Specification, prompt, specification, specifications
from sponsio_like.contracts import loads

ANSWER = """\
```yaml
contracts:
  - name: as by hand
    quote: "A refund is at most 200 euros."
    guarantee: {ltl: "G !called(issue_refund, amount > 200)"}
  - name: another reading
    quote: "Read the refund policy once before the first refund of a conversation"
    guarantee: {pattern: must_precede, first: read_policy, then: issue_refund}
  - name: two at once
    guarantee:
      - {pattern: arg_length_limit, tool: send_email, field: subject, max_chars: 80}
      - {pattern: value_from, tool: send_email, field: to, source: get_order}
  - name: any order was looked up
    guarantee: {pattern: must_precede, first: get_order, then: issue_refund}
  - name: no refund at all
    guarantee: {pattern: absent, match: issue_refund}
  - name: a policy before mail
    guarantee: {pattern: must_precede, first: read_policy, then: send_email}
  - name: a tool that nobody has
    guarantee: {pattern: absent, match: delete_order}
```
"""


@pytest.fixture(scope="module")
def judged() -> Judgement:
    """The judgement of seven statements about refunds."""
    spec = specification(HOME / "specifications" / "01_refunds.yaml")
    return judgement(spec, "by hand", ANSWER, each=25)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("as by hand", "equal"),
        ("another reading", "other reading"),
        ("two at once", "several"),
        ("any order was looked up", "weaker"),
        ("no refund at all", "stronger"),
        ("a policy before mail", "different"),
    ],
)
def test_a_statement_is_judged_by_what_it_refuses(judged: Judgement, name: str, kind: str) -> None:
    """Equal, weaker, stronger or different is told by behaviour, and not by words."""
    assert {each.name: each.kind for each in judged.kept}[name] == kind


@pytest.mark.long
def test_what_the_checks_caught_is_counted(judged: Judgement) -> None:
    """A refused statement has its reason, in a word or two."""
    assert [sort for _, sort in judged.refused] == ["unknown name"]


@pytest.mark.long
def test_a_rule_is_covered_in_any_of_its_readings(judged: Judgement) -> None:
    """A rule of the specification is covered if statements that refuse no more refuse as much."""
    assert judged.covered == (
        "the refund policy was read",
        "a refund is at most 200",
        "mail goes to an address that a lookup has shown",
        "a subject has at most 80 characters",
    )
    assert judged.untried == ()


@pytest.mark.parametrize("spec", specifications(), ids=lambda spec: spec.id)
def test_every_specification_has_a_prompt_and_contracts(spec: Specification) -> None:
    """The prompt has the words of the specification; the contracts name its tools alone."""
    assert spec.text.strip() in prompt(spec)
    path = HOME / "contracts" / f"{spec.id}.yaml"
    contracts = loads(path.read_text(encoding="utf-8"), path.name).contracts
    assert len(contracts) >= 10
