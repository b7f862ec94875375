"""Texts that are remembered whole: a value is looked for in them when a contract asks for it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sponsio_like import Blocked, Guard, Session, contract
from sponsio_like.contracts.definition import Contract
from sponsio_like.monitor.parametric import lookup
from sponsio_like.monitor.parametric.store import ValueStates
from sponsio_like.patterns import value_from
from sponsio_like.syntax import read
from sponsio_like.values import NotCanonical, WordIndex, index_words, tokens, word_index, words_in

SAID = "G(called(pay, to = $x) -> O(message(user) & text has $x))"
VETTED = "G(called(pay, to = $x) -> O(message(user) & text has $x) & O done(vet, name = $x))"
EITHER = "G(called(pay, to = $x) -> O((message(user) & text has $x) | done(vet, name = $x)))"
FOUND = "G(called(pay, to = $x) -> O(done(find) & output has $x))"
ANYWHERE = "G(called(pay, to = $x) -> O((done(find) & output has $x) | (message(*) & text has $x)))"
SINCE = "G(called(pay, to = $x) -> (!called(ban, name = $x)) S (message(user) & text has $x))"
TWICE = "G(called(pay, to = $x) -> O(message(user) & text has $x) & O(done(find) & output has $x))"
BANNED = "G(called(pay, to = $x) -> O(message(user) & text has $x) & !O called(ban, name = $x))"
FORMULAS = (SAID, VETTED, EITHER, FOUND, ANYWHERE, SINCE, TWICE, BANNED)
WORDS = ("ann", "bob", "bob,", "7", "7.50", "$1,000.00", "cy", "-", "id:9", "x-y", "Bob Inc.")
ASKED = ("ann", "bob", "ann bob", "7", "7.5", "1000", "9", "x-y", "y", "Bob Inc", "Bob Inc.", "no")
MANY = [f"w{k}" for k in range(1000)]


def guarded(*formulas: str) -> Session:
    """A session under these formulas."""
    return Guard(
        [contract(f"c{k}").guarantees(read(each)) for k, each in enumerate(formulas)]
    ).session()


def stores(session: Session) -> list[ValueStates]:
    """What the contracts of a session remember of values."""
    return list(session._inner.ledger.bound.values())


# --- the index ------------------------------------------------------------------------------------

SIGNS = [
    *"abAB019 09.,:;'\"()[]-_$%\u20ac@/=+ \n\t|<>\u00e9\u0663\u00bd\u00df\U0001f600 ",
    "id: ",
    "\u0301",
    "'",
]
SIGNS += [
    "DE44 5001 0517 5407 3249 31",
    "+49 171 5551234",
    "-$1,234.50",
    "name: Bob Inc. ",
    "\u2028",
]


@pytest.mark.parametrize("seed", range(20))
def test_an_index_has_what_splitting_finds(seed: int) -> None:
    """Any part of a text is in the index exactly if it is one of the values of the text."""
    dice = random.Random(seed)
    for _ in range(20):
        signs = dice.sample(SIGNS, dice.randint(3, len(SIGNS)))
        texts = ["".join(dice.choices(signs, k=dice.randint(0, 40))) for _ in range(2)]
        value = dice.choice([texts[0], texts, {"a": texts[0], texts[1]: 12.50}])
        index, found = index_words(value), words_in(value)
        whole = " ".join(" ".join(texts).split())
        parts = {whole[i : i + n] for i in range(len(whole)) for n in range(1, 9)}
        for part in {*found, *parts, "1234.5", "-1234.5", "DE445001051754073249 31"}:
            assert (part in index) == (part in found), (value, part)
        assert set(index) == found
        assert not found or index.example() in found


def test_an_index_of_which_much_is_asked_makes_all_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often a text is asked, it is searched so many times and then split once."""
    monkeypatch.setattr(word_index, "SEARCHES_CAP", 3)
    index = index_words("one two three, four")
    asked = ["one", "three", "two three", "four one", "three,", "five"]
    assert [each in index for each in asked] == [True, True, True, False, True, False]


def test_what_cannot_be_split_has_no_index() -> None:
    """Too many words, too long a text and what is no data are refused alike."""
    for value in ("a b " * tokens.WORDS_CAP, "x y" * (1 << 16), object(), float("nan")):
        for made in (words_in, index_words):
            with pytest.raises(NotCanonical):
                made(value)


# --- sessions -------------------------------------------------------------------------------------


def contracts(dice: random.Random) -> list[Contract]:
    """Some contracts about values in texts."""
    some = [
        contract(f"c{k}").guarantees(read(each))
        for k, each in enumerate(dice.sample(FORMULAS, dice.randint(1, 3)))
    ]
    return [*some, contract("from").guarantees(value_from("send", "to", "find"))]


def text(dice: random.Random) -> str:
    """A text of some words."""
    return " ".join(dice.choices(WORDS, k=dice.randint(0, 5)))


def events(dice: random.Random) -> list[tuple[Any, ...]]:
    """A random session: messages, calls, and their results in any order."""
    out, flying = list[tuple[Any, ...]](), list[str]()
    for k in range(dice.randint(5, 40)):
        what = dice.random()
        if what < 0.2:
            out.append(("message", dice.choice(["user", "user", "system"]), text(dice)))
        elif what < 0.25:
            out.append(("snapshot",))
        elif what < 0.5 and flying:
            found = dice.choice([text(dice), {"id": text(dice), "n": 7.5}, None])
            out.append(("settle", flying.pop(dice.randrange(len(flying))), found))
        else:
            tool, name = dice.choice(
                [
                    ("pay", "to"),
                    ("pay", "to"),
                    ("send", "to"),
                    ("vet", "name"),
                    ("ban", "name"),
                    ("find", "q"),
                ]
            )
            out.append(("call", tool, {name: dice.choice(ASKED)}, f"id{k}"))
            flying.append(f"id{k}")
    return out


def played(guard: Guard, told: list[tuple[Any, ...]]) -> list[Any]:
    """What a session answers to these events."""
    session, out, refused = guard.session(), list[Any](), set[str]()
    for what, *given in told:
        if what == "message":
            session.message(*given)
        elif what == "snapshot":
            session = guard.restore(session.snapshot())
        elif what == "call":
            tool, args, id = given
            outcome = session.decide(tool, args, id=id)
            out.append((type(outcome).__name__, getattr(outcome, "violations", ())))
            if isinstance(outcome, Blocked):
                refused.add(id)
                out.append(outcome.advice)
        elif given[0] not in refused:
            out.append(session.settle(given[0], output=given[1]))
        out.append((session.verdicts(), session.pending()))
    return out


@pytest.mark.parametrize("seed", range(60))
def test_texts_that_are_kept_whole_decide_as_their_words_do(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a text is remembered whole, or word by word, makes no difference to any answer."""
    dice = random.Random(seed)
    guard = Guard(contracts(dice), mode=dice.choice(["enforce", "enforce", "observe"]))
    for _ in range(6):
        told = events(dice)
        answers = []
        for few in (0, 1 << 30):
            monkeypatch.setattr(lookup, "FEW_PIECES", few)
            answers.append(played(guard, told))
        assert answers[0] == answers[1], told
