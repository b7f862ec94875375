"""What was found when leaks, and values that are printed in groups, were attacked again."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import ContractError, Guard
from sponsio_like.patterns import no_data_leak, value_from
from sponsio_like.values.tokens import words_in
from tests.reference.smt_values import words
from tests.semantics.manifest import requirement
from tests.support.play import letters as play

LEAK = no_data_leak("read", "send", match="values")
IBAN = "DE89 3704 0044 0532 0130 00"


# --- names of fields, and escapes, of an answer ---------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        ({"users": {"alice@corp.com": {"balance": 1}}}, "alice@corp.com"),
        ('{"users": {"alice@corp.com": {"balance": 1}}}', "to ALICE@corp.com, please"),
        ([{"alice%40corp.com": 1}], "alice@corp.com"),
        ({IBAN: 1}, IBAN.replace(" ", "")),
        ({IBAN.replace(" ", ""): 1}, IBAN),
        ({"Maria Schmidt": 1}, "maria schmidt"),
        ({"sk_live_4242": {}}, "?k=sk_live_4242"),
    ],
)
@requirement("S-LEAK-07")
def test_names_of_fields_of_an_answer_leak_as_values_do(answer: Any, passed: str) -> None:
    """An answer that is keyed by addresses or accounts delivers these."""
    assert play(LEAK, ("read", {}, answer), ("send", {"b": passed})) == "AB"


@pytest.mark.parametrize(
    ("name", "passed"),
    [
        ("balance", "the balance"),
        ("customer_account_number", "your customer account number"),
        ("shippingAddressLine", "shippingAddressLine"),
        ("strict-transport-security", "strict-transport-security"),
        ("address_line_2", "address line 2"),
        ("2024", "in 2024"),
    ],
)
@requirement("S-LEAK-07")
def test_what_fields_are_called_is_no_leak(name: str, passed: str) -> None:
    """Names as programs write them tell what a field is, not whose."""
    assert play(LEAK, ("read", {}, {name: None}), ("send", {"b": passed})) == "AA"


@pytest.mark.parametrize(
    "answer",
    [
        {"link": "mailto:alice%40corp.com"},
        "see mailto:alice%40corp.com",
        {"password": "sword%66ish"},
    ],
)
@requirement("S-LEAK-07")
def test_escapes_of_an_answer_are_looked_through(answer: Any) -> None:
    """As those of an argument are."""
    for text in ("alice@corp.com swordfish", "alice%40corp.com sword%66ish"):
        assert play(LEAK, ("read", {}, answer), ("send", {"b": text})) == "AB", text


# --- fields of the calls that have them -----------------------------------------------------------

TOOLS = {
    "read": {"fields": {"id": "integer"}},
    "send": {"fields": {"body": "string"}},
    "report": {"fields": {"text": "string", "id": "integer"}},
    "check": {"fields": {}},
    "vet": {"fields": {"id": "integer"}},
}


@pytest.fixture
def loaded(tmp_path: Path) -> Callable[[Any], Guard]:
    """The guard of a file with one guarantee, and these tools."""

    def load(guarantee: Any) -> Guard:
        rows = [{"name": "c", "guarantee": guarantee}]
        path = tmp_path / "c.yaml"
        path.write_text(json.dumps({"version": 1, "tools": TOOLS, "contracts": rows}))
        return Guard.from_yaml(path)

    return load


@pytest.mark.parametrize(
    "rule",
    [
        {"pattern": "no_data_leak", "source": "read", "sink": "send", "match": "values"},
        {"pattern": "data_intact", "tool": "report", "field": "text", "after": "check"},
    ],
    ids=lambda rule: rule["pattern"],
)
def test_fields_are_asked_of_the_calls_that_have_them(rule: Any, loaded: Any) -> None:
    """`fields` are of the answer; what `after` is called with is nothing to the field of `tool`."""
    rule = {**rule, "fields": ["iban"]} if "sink" in rule else rule
    assert loaded(rule)


@pytest.mark.parametrize(
    ("rule", "lacking"),
    [
        ({"pattern": "data_intact", "tool": "check", "field": "text", "after": "report"}, "text"),
        (
            {
                "pattern": "dry_run_before_commit",
                "dry_run": "vet",
                "commit": "send",
                "same": ["id"],
            },
            "id",
        ),
        ({"pattern": "must_confirm", "action": "read", "by": "check", "same": ["id"]}, "id"),
        (
            {"pattern": "amount_limit", "tool": "send", "field": "body", "total": 5, "by": ["id"]},
            "id",
        ),
        ({"pattern": "idempotent", "action": "send", "by": ["id"]}, "id"),
        ({"pattern": "value_from", "tool": "send", "field": "id", "source": "read"}, "id"),
        ({"pattern": "duplicate_call_limit", "tool": "send", "fields": ["id"], "limit": 1}, "id"),
    ],
)
def test_a_field_that_its_calls_lack_is_refused(rule: Any, lacking: str, loaded: Any) -> None:
    """With every pattern that has one."""
    with pytest.raises(ContractError, match=f"has no field `{lacking}`"):
        loaded(rule)


KEYED = {"pattern": "data_intact", "tool": "report", "field": "text", "key": "id"}
KEPT = ("report", {"id": 1, "text": "a"})
EDITED = ("report", {"id": 1, "text": "b"})


def test_a_check_without_the_key_is_refused_when_loaded(loaded: Any) -> None:
    """It would be in no monitor, so nothing would be frozen."""
    with pytest.raises(ContractError, match="`check` has no field `id`"):
        loaded({**KEYED, "after": "check"})


@pytest.mark.parametrize("rule", [KEYED | {"after": "vet"}, KEYED | {"after": ["vet", "check"]}])
@requirement("S-KEY-05")
def test_a_check_that_may_lack_the_key_freezes_nothing_in_silence(rule: Any) -> None:
    """A call of `after` without the key violates, where nobody knows its fields too."""
    assert play(rule, KEPT, ("vet", {"id": 1}), KEPT, EDITED) == "AAAB"
    assert play(rule, KEPT, ("vet", {"id": 2}), EDITED) == "AAA"
    assert play(rule, KEPT, ("vet", {}), KEPT) == "ABA"
    assert play(rule, ("other", {}), ("vet", {"id": 1})) == "AA"


# --- codes as they are printed --------------------------------------------------------------------

VOUCHED = value_from("pay", "iban", "find")
CARD = "4111 1111 1111 1111"
NAMED = "NL91 ABNA 0417 1643 00"


@pytest.mark.parametrize(
    "code", [IBAN, CARD, NAMED, "GB29 NWBK 6016 1331 9268 19", "0171 555 12 34"]
)
@pytest.mark.parametrize(
    "around", ["{}", "IBAN: {}", "pay to IBAN {}, BIC X", "pay 50 to {}.", "no: ({}) BIC X\nthanks"]
)
@requirement("S-VALUE-20")
def test_a_code_vouches_as_it_is_printed_and_without_its_blanks(code: str, around: str) -> None:
    """In a text, in data, behind its name."""
    for answer in (around.format(code), {"t": around.format(code)}):
        for given in (code, code.replace(" ", "")):
            assert play(VOUCHED, ("find", {}, answer), ("pay", {"iban": given})) == "AA", given


@pytest.mark.parametrize(
    ("said", "given"),
    [
        (IBAN, "370400440532013000"),
        (NAMED, "0417164300"),
        (CARD, "41111111"),
        (f"{CARD} 1", CARD.replace(" ", "")),
        ("1200 3400", "12003400"),
        ("1200 3400", 12003400),
        ("on 2024 05 17", "20240517"),
        ("paid 1,234 5678 9012", "123456789012"),
        ("paid 1,234 5678 9012", "23456789012"),
    ],
)
@requirement("S-VALUE-20")
def test_parts_of_codes_and_numbers_beside_each_other_vouch_for_nothing(
    said: str, given: Any
) -> None:
    """A code vouches for all of it."""
    assert play(VOUCHED, ("find", {}, f"it is {said}"), ("pay", {"iban": given})) == "AB"


@requirement("S-VALUE-20")
def test_what_is_behind_a_name_vouches_to_the_end_of_its_line() -> None:
    """However many words it has."""
    answer = "to: The Society of Friends of Old Bern.\nat 12: 30"
    for given, letter in (("The Society of Friends of Old Bern", "A"), ("30", "A"), ("Old", "A")):
        assert play(VOUCHED, ("find", {}, answer), ("pay", {"iban": given})) == f"A{letter}"
    longer = "Society of Friends of Old Bern"
    assert play(VOUCHED, ("find", {}, answer), ("pay", {"iban": longer})) == "AB"


@pytest.mark.long
@requirement("S-VALUE-20")
def test_codes_are_those_of_the_definition() -> None:
    """As they are written down a second time, for the solver."""
    dice = random.Random(11)
    parts = [
        "DE89",
        "3704",
        "NWBK",
        "00",
        "1",
        "B",
        "A1",
        "123456",
        "+49",
        "0171",
        " ",
        ",",
        ".",
        ": ",
    ]
    for _ in range(3_000):
        row = (dice.choice(parts) + dice.choice(["", " ", " ", " "]) for _ in range(9))
        text = "".join(row)
        assert words_in(text) == words(text), text


# --- values inside of a word -------------------------------------------------------------------

KEY = "sk-live-abc123"
CELLS = (
    "id,name,iban,balance\n1,Ann,DE89370400440532013000,120.50\n2,Bob,GB29NWBK60161331926819,7\n"
)


@pytest.mark.parametrize(
    "answer",
    [
        f"API_KEY={KEY}\nDEBUG=1",
        f"export API_KEY='{KEY}';",
        f"key:{KEY}",
        f'log {{"a":"{KEY}","b":2}}\nlog',
        {"text": f'{{"a":"{KEY}","b":2}}'},
        {"text": f"{{'a':'{KEY}','b':2}}"},
        f"<td class=x>{KEY}</td>",
        f"user1,{KEY},x",
        f"user1;{KEY}|x",
        f"|{KEY}|x|",
        f"see https://x.example/u?page=2&token={KEY}&a=1",
        f"DATABASE_URL=postgres://app:{KEY}@db.example/x",
        {"env": [f"A=1 KEY={KEY}"]},
    ],
    ids=str,
)
@requirement("S-LEAK-03")
def test_a_value_inside_of_a_word_leaks_alone(answer: Any) -> None:
    """Lines of settings, cells, markup, data in a text: what stands between the marks counts."""
    for text in (KEY, f"https://evil.example/?q={KEY}", f"API_KEY={KEY}"):
        assert play(LEAK, ("read", {}, answer), ("send", {"b": text})) == "AB", text
    assert play(LEAK, ("read", {}, answer), ("send", {"b": "sk-live-abc124"})) == "AA"


@pytest.mark.parametrize(
    ("passed", "letter"),
    [
        ("to DE89 3704 0044 0532 0130 00", "B"),
        ("GB29NWBK60161331926819", "B"),
        ("he has 120.50", "B"),
        ("Dear Bob, your balance", "A"),
        ("I have 7 of 2", "A"),
    ],
)
@requirement("S-LEAK-03")
def test_each_cell_of_a_table_leaks(passed: str, letter: str) -> None:
    """A table whose cells are separated by commas is the plainest export there is."""
    assert play(LEAK, ("read", {}, CELLS), ("send", {"b": passed})) == f"A{letter}"


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        ("it is 1,234.50 in all", "1 and 234.50"),
        ("open=true,level=3,at=10:30:00,on=2026-11-23", "true, 3, 10:30:00, 2026-11-23"),
        ("width=100%,n=5000", "100% of 5000"),
        ("password=password", "your password"),
        ("IBAN=DE89 3704 0044 0532 0130 00", "DE89"),
        ("bob1@corp.example", "bob1"),
        ("see docs/v2api/index.html", "v2api"),
    ],
)
@requirement("S-LEAK-03")
def test_parts_of_words_that_identify_nothing_are_no_leak(answer: str, passed: str) -> None:
    """The rest is as it is between blanks."""
    assert play(LEAK, ("read", {}, answer), ("send", {"b": passed})) == "AA"
