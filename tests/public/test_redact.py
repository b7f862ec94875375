"""Texts of certain kinds are taken out of a log, and what is left is not judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import ContractError, Guard, contract
from sponsio_like.log import flush, redacted
from sponsio_like.replay import Replay
from sponsio_like.traces import read_traces
from tests.semantics.manifest import requirement

KINDS = ["email", "card", "iban", "openai_key", "phone"]
KEY = "sk-" + "proj1234567890abcdef"
TEXTS = {
    "email": "ann.b+c@mail.example.com",
    "card": "4111 1111 1111 1111",
    "iban": "DE89 3704 0044 0532 0130 00",
    "openai_key": KEY,
    "phone": "+49 (30) 901820-12",
}


def left(value: Any, *kinds: str) -> Any:
    """What is left of an argument."""
    records: list[Any] = []
    redacted(records.append, kinds)({"event": "decision", "args": {"x": value}})
    return records[0]["args"]["x"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_of_a_kind_is_taken_out(kind: str) -> None:
    """Its name stands in its place, and the rest of the text stays; other kinds stay, too."""
    text = f"pay {TEXTS[kind]}, please"
    assert left(text, kind) == f"pay [{kind}], please"
    assert left([{"a": (text, 5)}], *KINDS) == [{"a": [f"pay [{kind}], please", 5]}]
    others = [each for each in KINDS if each != kind]
    assert TEXTS[kind] in left(text, *others)


@pytest.mark.parametrize(
    "text", ["1234 5678 9012 3456", "order 17", "a@b", "12:30", "2026-11-23", "sk-short", "+1"]
)
def test_what_is_no_such_text_stays(text: str) -> None:
    """A number without the check digit of a card, an order, a time and a date are let be."""
    assert left(text, *KINDS) == text


def test_a_number_of_a_card_is_taken_out_as_a_number() -> None:
    """Numbers are read as they are written; others stay numbers."""
    assert left(4111111111111111, "card") == "[card]"
    assert left(4111111111111112, "card") == 4111111111111112
    assert left(True, "card") is True


@requirement("S-LOG-14")
def test_all_content_is_searched_and_nothing_is_left_of_a_secret(tmp_path: Path) -> None:
    """Arguments, answers, messages, facts and values of variables are searched, in every record."""
    known = contract("known").guarantees({"ltl": "G(called(mail, to = $x) -> !Y O called(find, who = $x))"})  # fmt: skip # noqa: E501
    mail = TEXTS["email"]
    sink = redacted(tmp_path / "log", ["email"])
    session = Guard([known], mode="observe", log=sink, log_content=True).session("s")
    session.message("user", f"write to {mail}")
    session.fact("who", mail)
    session.settle(session.decide("find", {"who": mail, "n": 1}).id, output={"found": [mail]})
    session.settle(session.decide("mail", {"to": mail}).id, error=f"no {mail}")
    session.finish()
    assert flush()
    text = (tmp_path / "log").read_text()
    assert mail not in text
    assert text.count("[email]") >= 6
    found = [json.loads(line) for line in text.splitlines()]
    assert [each.get("redacted") for each in found] == [
        ["text"], ["value"], ["args"], ["output"], ["args"], ["output"], None
    ]  # fmt: skip
    assert [each["withheld"] for each in found if "withheld" in each] == [["who"], ["to"]]
    assert any(each["violations"] for each in found if "violations" in each)


@requirement("S-LOG-14")
@pytest.mark.parametrize(
    ("rule", "lacks"),
    [
        ({"ltl": "G(called(pay) -> arg(to) matches 'example')"}, "`to` of `pay`"),
        ({"ltl": "G(called(pay) -> O text matches 'example')"}, "the texts of `user`"),
        ({"ltl": 'G(called(pay) -> ctx(who) != "x")'}, "the value of `who`"),
        ({"ltl": "G(called(pay) -> Y O (done(find) & output matches 'example'))"}, "find"),
    ],
)
def test_no_contract_is_judged_on_what_is_left(
    tmp_path: Path, rule: dict[str, str], lacks: str
) -> None:
    """A contract that reads a field of which something was taken out is not judged, and says so."""
    read = contract("read").guarantees(rule)
    few = contract("few").guarantees("`pay.amount` between 0 and 9")
    sink = redacted(tmp_path / "log", ["email"])
    session = Guard([few], log=sink, log_content=True).session("s")
    session.message("user", f"pay {TEXTS['email']}")
    session.fact("who", TEXTS["email"])
    session.settle(session.decide("find", {}).id, output=TEXTS["email"])
    session.settle(session.decide("pay", {"to": TEXTS["email"], "amount": 5}).id)
    session.finish()
    assert flush()
    (trace,) = read_traces(tmp_path / "log")
    missing = Replay([read, few]).judge(trace).not_judged
    assert set(missing) == {"read"}
    assert lacks in str(missing["read"])


def test_an_unknown_kind_is_refused() -> None:
    """It says which there are."""
    with pytest.raises(ContractError, match=r"`emial` is no kind of text.*email"):
        redacted(print, ["emial"])
