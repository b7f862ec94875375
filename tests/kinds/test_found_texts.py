"""Personal data and secrets: what has to be found, however it is written, and its neighbours."""

from __future__ import annotations

import base64
import importlib
import json
import random
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sponsio_like import Allowed, Blocked, ContractError, Guard, contract
from sponsio_like.contracts import loads
from sponsio_like.kinds import chosen_detectors, has_hits, hits, personal, secrets
from sponsio_like.kinds.detectors import DETECTORS, MOST, found_hits
from sponsio_like.kinds.seen_text import Seen
from sponsio_like.patterns import no_pii
from sponsio_like.values import TEXT_KINDS, UNREADABLE
from tests.semantics.manifest import requirement
from tests.support.costs import work
from tests.support.size import sized

RANDOM = "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5"
HEX = "a8f5f167f44f4964e6c998dee827110c"


def _part(data: dict[str, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")


TOKEN = f"{_part({'alg': 'HS256'})}.{_part({'sub': 'ann'})}.{RANDOM}"
BLOCK = "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"
PERSONAL = {
    "email": (
        "ann@corp.com",
        "Ann <ann.b+tag@mail.corp.co.uk>, bob",
        "mailto:ann@corp.com",
        "ann [at] corp [dot] com",
        "ann (at) corp.com",
        "ann at corp dot com",
        "ann%40corp.com",
        "ann&#64;corp.com",
        "a\u200bnn@corp.com",
        "ann\uff20corp.com",
        "ann@\u200bcorp.com",
        "{'to': 'ann@corp.com'}",
        "jürgen@müller.de",
        "https://x.com/?mail=ann@corp.com",
    ),
    "phone": (
        "+49 30 901820",
        "+49 (30) 901820-12",
        "+1 (212) 664-7665",
        "+1.212.664.7665",
        "+442079460958",
        "0044 20 7946 0958",
        "(212) 664-7665",
        "212-664-7665",
        "212.664.7665",
        "1-212-664-7665",
        "Phone: 030 901820",
        "tel 5551234567",
        "call me at 555 123 4567",
        "\uff0b49 30 901820",
        "+49\u00a030\u00a0901820",
        "212\u2013664\u20137665",
    ),
    "card": (
        "4111111111111111",
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "4111.1111.1111.1111",
        "4111 1111-1111 1111",
        "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "41 11 11 11 11 11 11 11",
        "4111\n1111\n1111\n1111",
        "card4111111111111111.",
        "5555555555554444",
        "2223003122003222",
        "3782 822463 10005",
        "6011111111111117",
        "3530111333300000",
        "30569309025904",
        "order 12 4111 1111 1111 1111 7",
        "4111\u200b1111\u200b1111\u200b1111",
        "4111\u20131111\u20131111\u20131111",
        "\uff14" + "\uff11" * 15,
        "\u0664" + "\u0661" * 15,
    ),
    "iban": (
        "DE89370400440532013000",
        "DE89 3704 0044 0532 0130 00",
        "de89 3704 0044 0532 0130 00 please",
        "GB29-NWBK-6016-1331-9268-19",
        "FR14 2004 1010 0505 0001 3M02 606",
        "IBAN:NL91ABNA0417164300.",
        "DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000",
    ),
    "ssn": (
        "123-45-6789",
        "123 - 45 - 6789",
        "1 2 3 - 4 5 - 6 7 8 9",
        "123.45.6789",
        "SSN 123456789",
        "social security number is 123 45 6789",
        "ITIN: 912-90-3456",
        "123\u201145\u20116789",
    ),
    "national": (
        "2 95 10 99 126 111 93",
        "RCCMNL83S18D969H",
        "54362315K",
        "x-2482300w".upper(),
        "390.533.447-05",
        "CPF 39053344705",
        "BOXW310820HNERXN09",
        "131052-308T",
        "11010519491231002X",
        "811228-9874",
        "15108695088",
        "756.9217.0769.85",
        "85.07.30-033.28",
        "12.531.909-2",
        "ABCPE1234F",
        "QQ 12 34 56 C".replace("QQ", "AB"),
        "NHS number 943 476 5870",
        "BSN: 111222333",
        "SIN 123-456-782",
        "PESEL 44051401359",
        "Aadhaar no. 2341 2341 2346",
        "Steuer-ID 36 574 261 809",
    ),
}
SECRET = {
    "aws_key": (
        "AKIA" + "IOSFODNN7EXAMPLE",
        "id=ASIA" + "QWERTY2345ZXCVBN",
        "AK\u200bIA" + "IOSFODNN7EXAMPLE",
    ),
    "github_key": ("gh" + f"p_{RANDOM}", "gh" + f"s_{RANDOM}", "github" + f"_pat_{RANDOM}"),
    "gitlab_key": ("gl" + "pat-aB3dE5gH7jK9mN1pQ3rS",),
    "slack_key": (
        "xox" + "b-123456789012-abcdefGHIJ",
        "https://hooks.slack.com/" + f"services/T0123456/B0123456/{RANDOM[:24]}",
    ),
    "stripe_key": ("sk" + "_live_aB3dE5gH7jK9mN1p", "wh" + "sec_aB3dE5gH7jK9mN1pQ3rS5tU7"),
    "anthropic_key": ("sk-" + f"ant-api03-{RANDOM}",),
    "openai_key": ("sk-" + f"proj-{RANDOM}", "Bearer sk-" + RANDOM),
    "google_key": ("AI" + f"za{RANDOM[:35]}", "GOC" + f"SPX-{RANDOM[:28]}"),
    "package_key": (
        "np" + f"m_{RANDOM}",
        "pypi-" + f"AgEIcHlwaS5vcmc{RANDOM}{RANDOM}",
        "dckr" + f"_pat_{RANDOM[:27]}",
    ),
    "sendgrid_key": ("SG" + f".{RANDOM[:22]}.{(RANDOM * 2)[:43]}",),
    "twilio_key": ("SK" + HEX,),
    "huggingface_key": ("hf" + f"_{RANDOM[:34]}",),
    "cloud_key": (
        "do" + f"p_v1_{HEX}{HEX}",
        "AccountKey=" + (RANDOM * 3)[:86] + "==",
        "gl" + f"sa_{RANDOM[:32]}_{HEX[:8]}",
        "gl" + f"c_eyJ{RANDOM}",
        "ver" + f"cel_{RANDOM[:24]}",
        "ver" + f"cel_blob_rw_{RANDOM[:16]}_{RANDOM[:32]}",
    ),
    "developer_key": (
        "lin" + f"_api_{(RANDOM * 2)[:40]}",
        "PMA" + f"K-{HEX[:24]}-{(HEX * 2)[:34]}",
    ),
    "telegram_key": ("123456789:" + "AA" + RANDOM[:33],),
    "shop_key": ("shp" + f"at_{HEX}",),
    "private_key": (BLOCK, BLOCK[:36]),
    "jwt": (TOKEN, f"Authorization: Bearer {TOKEN}"),
    "password": (
        "password=hunter2-Kx9",
        '{"password": "hunter2-Kx9"}',
        "DB_PASSWORD: 'pa55word!x'",
        f"api_key = '{HEX}'",
        "the password is Tr0ub4dor&3.",
        "postgres://app:s3cr3t@db.corp.com/x",
        f"aws_secret_access_key = {RANDOM}40xY",
    ),
}
FOUND = [
    (name, text) for table in (PERSONAL, SECRET) for name, texts in table.items() for text in texts
]
NEIGHBOURS = (
    "",
    "meet at corp.com at noon",
    "git@github.com:corp/app.git",
    "ssh://git@github.com/corp/app.git",
    "npm install left-pad@1.3.0",
    "logo@2x.png and icon@3x.svg",
    "@app.route('/x')",
    "a@b",
    "look at it dot by dot",
    "root@10.0.0.1",
    "user@localhost",
    "4111 1111 1111 1112",
    "1234 5678 9012 3456",
    "0.4111111111111111",
    "9999999999999995",
    "0000 0000 0000 0000",
    "1764000000000",
    "2023 2024 2025 2026",
    "[4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]",
    "4 8 1 5 1 6 2 3 4 2 0 1 0 1 0 1 0 1 0 1 0 1 0 1",
    "41 12 53 11 60 23 45 12 33 90 11 42 17 28 39 40",
    "order 100234567890",
    "3f786850e387550fdab836ed7e6dc881de23001b",
    "123e4567-e89b-12d3-a456-426614174000",
    "DE88 3704 0044 0532 0130 00",
    "DE89 3704 0044 0532 0130",
    "GB is a country, and so is NL91",
    "IT18 is the eighteenth item in this long list of things to do",
    "000-12-3456",
    "666-12-3456",
    "923-45-6789",
    "123-456-789",
    "123456789",
    "2026-11-23",
    "2026-11-23T12:30:00+01:00",
    "12:30 and 14:45",
    "23.11.2026 12:30:45",
    "v1.2.3 build 4567890123",
    "192.168.100.200:8080",
    "10.0.0.1 - - [23/Nov/2026:12:30:00 +0000]",
    "+1",
    "+ 5 * 10",
    "x+1234567890",
    "+1234567 of a patch\n+12345678\n-12345678",
    "USD 1,234,567.89",
    "1 000 000 000",
    "ISBN 978-3-16-148410-0",
    "12345678A",
    "BSN 111222334",
    "PESEL 44051401358",
    "111222333",
    "390.533.447-06",
    "ABCDE1234F",
    "RCCMNL83S18D969X",
    "AB12 3456",
    "page 12-14, rows 100-200, 300-400",
    "lat 52.520008, long 13.404954",
    "AKIA is a prefix",
    "vercel_deployment_production_us_east_1",
    "vercel_environmentvariableproduction",
    "lin_api_of_the_project_of_the_team",
    "sk-my-long-kebab-case-name-here",
    "task-1234567890abcdefghij",
    "risk-assessment-2026-report-final",
    "ghp_" + "x" * 36,
    "xox is a game",
    "curl -F file=@report.pl",
    "TEST PASS application_001.json FAIL(1) application_002.json",
    "(195.11 - 180.93) + (499.28 - 471.82) + 37.772490513947865 * 1000",
    "eyJub3QiOiJhIHRva2VuIn0",
    "password=${PASSWORD}",
    "password: <your-password>",
    "the password is required",
    "password = os.environ['DB_PASSWORD1']",
    "token: abcdefgh",
    "max_tokens=4096",
    "tokens per second: 12345678",
    "password must have 8 characters and 1 digit",
    "api_key=your-api-key-123",
    "secret=****************",
    "https://x.com:8080/a@b",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    "sha256:" + HEX + HEX,
    f"commit {HEX}",
    "SKU SK12345",
)


def found_in(text: str) -> set[str]:
    """The names of all that is found."""
    return {hit.name for hit in hits(text, tuple(DETECTORS))}


@requirement("S-KIND-07")
@pytest.mark.parametrize(("name", "text"), FOUND)
def test_what_is_personal_or_secret_is_found(name: str, text: str) -> None:
    """By its own detector, with words around it, too."""
    assert name in found_in(text)
    assert name in found_in(f"Dear all,\n{text}\nbest regards")


@pytest.mark.parametrize("text", NEIGHBOURS)
def test_what_only_looks_like_it_is_not(text: str) -> None:
    """Nothing at all is found."""
    assert found_in(text) == set()
    assert found_in(f"Dear all,\n{text}\nbest regards") == set()


def test_a_token_has_a_header() -> None:
    """Three parts of JSON without one are no token."""
    assert found_in(f"{_part({'typ': 'x'})}.{_part({'sub': 'ann'})}.abc") == set()


def test_the_tables_are_as_large_as_they_claim() -> None:
    """At least sixty of each; every detector has a row."""
    assert len(FOUND) >= 60
    assert len(NEIGHBOURS) >= 60
    assert {name for name, _ in FOUND} == set(DETECTORS)


@requirement("S-KIND-07")
def test_values_are_plain_and_places_are_those_of_the_text() -> None:
    """So that they can be compared, bound, and taken out."""
    text = "to \uff21nn@corp.com, card 4111\u200b-1111-1111-1111!"
    assert [(hit.value, text[hit.start : hit.end]) for hit in hits(text, ("email", "card"))] == [
        ("Ann@corp.com", "\uff21nn@corp.com"),
        ("4111111111111111", "4111\u200b-1111-1111-1111"),
    ]
    assert personal("a@b.cc, A@b.cc, a@b.cc") == {
        "finds": ("email",),
        "values": ("a@b.cc", "A@b.cc"),
    }
    assert secrets("") == {"finds": (), "values": ()}


@requirement("S-KIND-07")
def test_too_much_is_unknown() -> None:
    """A text with thousands of addresses has more than is told."""
    assert UNREADABLE in personal("a@b.cc " * (MOST + 1))["finds"]


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="4111 -.@+()\n\u200b\uff11abDE89:=/_eyJ'\"", max_size=300))
def test_any_text_is_searched_and_places_are_in_it(text: str) -> None:
    """Nothing is raised; each place is inside."""
    for hit in hits(text, tuple(DETECTORS)):
        assert 0 <= hit.start < hit.end <= len(text)


@pytest.mark.parametrize("name", DETECTORS)
@pytest.mark.parametrize(
    "piece",
    [
        *("a", "1", "1 ", "1-", "a@", "@a.", "+1", "DE89 ", "eyJa", "a.", "x://a:", "(", "A1"),
        *("password=", "-----BEGIN PRIVATE KEY-----", "tel 1", "SSN 1", " at ", "ann at ", "[at]"),
    ],
)
def test_the_work_grows_with_the_length_of_the_text(name: str, piece: str) -> None:
    """Four times the text costs less than twelve times as much: no search is quadratic."""
    short, long = piece * (4_000 // len(piece)), piece * (16_000 // len(piece))

    def cost(text: str) -> float:
        begun = time.process_time()
        hits(text, (name,))
        return time.process_time() - begun

    assert cost(long) <= 12 * max(min(cost(short) for _ in range(3)), 0.002)


COSTLY = (
    *("1", "1 ", "1.", "4111 ", "DE89 ", "756.", "2026-", "é1 ", "444 ", "4 ", "0012345678 ", "a@"),
    *("664-7665 ", "123456-7890123 ", "bsn 123456789 ", "+49 30 901820 ", "AB12CD ", "%31", "٣"),
    *(
        "212-664-7665 ",
        "123-45-6789 ",
        "3 ",
        " at ",
        "a at b dot com ",
        "phone 1 ",
        "ABCDEF12A12A123A ",
    ),
    *("DE89 3704 0044 0532 0130 00 ", "1234567890123456 ", "@a.a.a ", "fi 131052-308T ", "ﷺ1"),
)


@pytest.mark.parametrize("piece", COSTLY)
def test_digits_in_a_row_are_little_work(piece: str) -> None:
    """64 KB of what looks like numbers costs less than two calls for each character: it took up to
    thirty.
    """
    text = piece * (65_536 // len(piece))
    names = chosen_detectors(["personal", "secrets"])
    assert work(lambda: found_hits(text, names)) < 2 * len(text)
    assert work(lambda: has_hits(text, names)) < 2 * len(text)


@pytest.mark.parametrize("piece", ["666-45-6789 ", "4 ", "0012345678 ", "bsn 123456789 ", "444 "])
def test_what_is_too_much_to_look_at_is_unknown(piece: str) -> None:
    """A text of nothing but what is almost a number: nobody says that there is none in it. In half
    a page of it, it is read to the end.
    """
    names = chosen_detectors(["personal"])
    text = "444 " + piece * (65_000 // len(piece))
    told = has_hits(text, names)
    assert told is (False if piece == "4 " else None)
    assert found_hits(text, names) == ([], told is False)
    assert has_hits(text[:300], names) is False


def test_what_is_found_before_it_is_too_much_is_found() -> None:
    """A thousand addresses are found, and that there may be more."""
    facts = TEXT_KINDS["personal"].facts_of("ann@corp.com " * 5_000)
    assert facts is not None
    assert facts["finds"] == ("email", UNREADABLE)


def _quick_pairs() -> list[tuple[Any, str]]:
    module = importlib.import_module("sponsio_like.kinds.personal")
    names = {"AT": "MAYBE_AT", "ABROAD": "MAYBE_ABROAD", "NAMED": "MAYBE_NAMED"}
    names["SOCIAL"] = "MAYBE_SOCIAL"
    return [(getattr(module, exact), getattr(module, quick)) for exact, quick in names.items()]


@pytest.mark.parametrize("seed", range(sized(6, 2)))
def test_texts_are_searched_as_if_every_place_was_looked_at(seed: int) -> None:
    """The quick expressions leave out no place at which an exact one matches."""
    dice = random.Random(seed)
    parts = [
        "4111 1111",
        "1111",
        "+49 30 901820",
        "12",
        "4",
        " ",
        "-",
        "@a.de",
        "bsn ",
        "111222333",
    ]
    parts += [
        "DE89 3704 0044 0532 0130 00",
        "131052-308T",
        "phone ",
        "0",
        ".",
        "é",
        "(212) 664-7665",
    ]
    for _ in range(300):
        text = "".join(dice.choices(parts, k=dice.randint(1, 9)))
        for exact, quick in _quick_pairs():
            seen = Seen(text)
            quickly = [each.span() for each in seen.matches(exact, quick)]
            assert quickly == [each.span() for each in exact.finditer(seen.text)], text


def test_a_text_within_lists_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each list is read as a line of words, too: a text in fifty lists was searched fifty times."""
    module, searched = importlib.import_module("sponsio_like.kinds.detectors"), list[int]()
    told = module._told

    def counted(*given: Any) -> Any:
        searched.append(1)
        return told(*given)

    monkeypatch.setattr(module, "_told", counted)
    guard = Guard([contract("c").guarantees(no_pii(tool="mail", field="body"))])
    text = "1 2 3 " * 1_000
    nested: Any = text
    for _ in range(50):
        nested = [nested]
    assert isinstance(guard.session().decide("mail", {"body": nested}), Allowed)
    assert searched == [1]


def test_many_texts_are_searched_within_one_budget() -> None:
    """Beyond it the call is refused, since nobody knows what is in the rest."""
    guard = Guard([contract("c").guarantees(no_pii(tool="mail"))])
    nested: Any = ["12 " * 1_500]
    for i in range(50):
        nested = [f"{i} 1", nested]
    outcome = guard.session().decide("mail", {"body": nested})
    assert isinstance(outcome, Blocked)
    assert isinstance(guard.session().decide("mail", {"body": ["12 " * 1_500]}), Allowed)


def test_letters_are_seen_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is soon told of a letter is what is found out of any other character."""
    module = importlib.import_module("sponsio_like.kinds.seen_text")
    characters = map(chr, range(0x80, 0x110000, sized(1, 37)))
    letters = [each for each in characters if module._is_letter(each)]
    assert len(letters) > 1_000
    monkeypatch.setattr(module, "_is_letter", lambda _: False)
    for each in letters:
        assert module.seen_sign.__wrapped__(each) == each


FILE = """
version: 1
tools: {{send: {{fields: {{body: {}}}}}}}
contracts:
  - name: rule
    guarantee: {}
"""


@requirement("C-no_pii")
@pytest.mark.parametrize(
    ("rule", "body", "passes"),
    [
        ("{pattern: no_pii, tool: send}", "call +49 30 901820", False),
        ("{pattern: no_pii, tool: send, kinds: [email]}", "call +49 30 901820", True),
        ("{pattern: no_pii, tool: send, field: body, kinds: [card]}", "4111111111111111", False),
        ("{pattern: no_pii, tool: send, kinds: [secrets]}", "AKIA" + "IOSFODNN7EXAMPLE", False),
        ("{pattern: no_pii, tool: send, kinds: [secrets]}", "ann@corp.com", True),
        ("{pattern: no_pii, tool: other}", "ann@corp.com", True),
        ("{pattern: absent, match: {tool: send, args: {body: {finds: [card]}}}}", "ann@b.cc", True),
        ("{pattern: absent, match: {tool: send, args: {body: {finds: [email]}}}}", "a@b.cc", False),
        ("{pattern: absent, match: {tool: send, args: {body: {values: a@b.cc}}}}", "a@b.cc", False),
    ],
)
def test_arguments_of_calls(rule: str, body: str, passes: bool) -> None:
    """All of them or one, of some kinds; or by the facts of a field."""
    file = loads(
        FILE.format("personal", rule).replace("tools: {send", "elsewhere: [other]\ntools: {send")
    )
    session = Guard(file.contracts, tools=file.inventory).session()
    assert isinstance(session.decide("send", {"body": body}), Allowed) is passes


@requirement("C-no_pii")
@pytest.mark.parametrize(
    "value",
    [
        {"to": {"mail": ["x", "ann@corp.com"]}},
        {"ann@corp.com": 1},
        {"card": 4111111111111111},
        {"card": ["4111", "1111", "1111", "1111"]},
    ],
)
def test_whatever_is_inside_of_a_value_is_searched(value: dict[str, object]) -> None:
    """Lists, names of fields, numbers, texts in pieces; in answers, too."""
    session = Guard(
        [
            contract("given").guarantees(no_pii(tool="send")),
            contract("told").guarantees(no_pii(answers="find")),
        ]
    ).session()
    assert not isinstance(session.decide("send", {"body": value}), Allowed)
    assert [each.contract for each in session.settle(session.decide("find", {}).id, output=value)]
    assert not session.settle(session.decide("find", {}).id, output={"n": 5})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kinds": ["emial"]}, "`emial` is no kind of text that is found; did you mean `email`?"),
        ({"tool": "a", "answers": "b"}, "two demands"),
        ({"field": "x"}, "write tool: .. beside it"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, object], said: str) -> None:
    """With what to write instead."""
    with pytest.raises(ContractError) as error:
        no_pii(**given)
    assert said in str(error.value)


@requirement("S-KIND-04")
def test_a_library_that_a_detector_needs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the contract is loaded; detectors that need none do without."""
    module = importlib.import_module("sponsio_like.kinds.registry")
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(ContractError, match=r"finding `phone` needs `phonenumbers`; write: pip"):
        no_pii(["email", "phone"])
    assert no_pii(["email", "card", "secrets"]) is not None
    assert TEXT_KINDS["personal"].needs == ("stdnum", "phonenumbers")
