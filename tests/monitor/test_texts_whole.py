"""Texts that are remembered whole: a value is looked for in them when a contract asks for it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sponsio_like import Allowed, Blocked, Guard, Session, contract
from sponsio_like.contracts.definition import Contract
from sponsio_like.monitor import TextKeys, never
from sponsio_like.monitor.parametric import lookup
from sponsio_like.monitor.parametric.store import ValueStates
from sponsio_like.patterns import value_from
from sponsio_like.syntax import read
from sponsio_like.values import (
    NotCanonical,
    WordIndex,
    index_words,
    tokens,
    word_index,
    words_in,
)
from tests.monitor.test_crowds import anything, watch
from tests.support.size import sized

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
    return list(session._inner.ledger.stores.values())


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


@pytest.mark.long
@pytest.mark.parametrize("seed", range(sized(30, 15)))
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


def never_split(*_: Any) -> frozenset[str]:
    """Fail: nothing asks for all pieces of a text."""
    raise AssertionError("a text was split")


def test_what_a_text_costs_is_independent_of_words_that_nothing_asks_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A message of 1,000 words makes as many states as one of 20, and no entry for any word."""
    monkeypatch.setattr(word_index, "all_pieces", never_split)
    made = []
    for words in (20, 1_000):
        session = guarded(*[SAID.replace("pay", f"pay{k}") for k in range(5)])
        session.message("user", " ".join(MANY[:words]))
        made.append([(len(each.cells), len(each.keys)) for each in stores(session)])
        assert isinstance(session.decide("pay0", {"to": "w7"}), Allowed)
        assert isinstance(session.decide("pay0", {"to": "w8 w9"}), Allowed)
        assert isinstance(session.decide("pay0", {"to": "w1000"}), Blocked)
        assert [len(each.keys) for each in stores(session)] == [2, 0, 0, 0, 0]
    assert made[0] == made[1] == [(2, 0)] * 5


def test_an_answer_is_remembered_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """The words of an answer, too, take no entry each until a call has them."""
    monkeypatch.setattr(word_index, "all_pieces", never_split)
    session = Guard([contract("a").guarantees(value_from("pay", "to", "find"))]).session()
    session.settle(session.decide("find").id, output={"note": " ".join(MANY), "id": 7})
    assert [len(each.keys) for each in stores(session)] == [0]
    assert isinstance(session.decide("pay", {"to": "w999"}), Allowed)
    assert isinstance(session.decide("pay", {"to": 7}), Allowed)
    assert isinstance(session.decide("pay", {"to": "w1000"}), Blocked)


def test_a_text_changes_values_that_are_known() -> None:
    """A value that has an entry is looked for in the text, and the text counts for it."""
    session = guarded(VETTED)
    session.settle(session.decide("vet", {"name": "w5"}).id)
    assert isinstance(session.decide("pay", {"to": "w5"}), Blocked)
    session.message("user", " ".join(MANY))
    assert isinstance(session.decide("pay", {"to": "w5"}), Allowed)
    assert isinstance(session.decide("pay", {"to": "w6"}), Blocked)
    session.settle(session.decide("vet", {"name": "w6"}).id)
    assert isinstance(session.decide("pay", {"to": "w6"}), Allowed)


@pytest.mark.parametrize("formula", [SINCE, TWICE])
def test_texts_of_which_more_is_asked_are_told_word_by_word(formula: str) -> None:
    """Where a value may be forgotten again, or stands in two kinds of texts, each has an entry."""
    session = guarded(formula)
    session.message("user", " ".join(MANY))
    assert [len(each.texts) for each in stores(session)] == [0]
    assert len(stores(session)[0].keys) > len(MANY)


def test_snapshots_have_texts_whole() -> None:
    """A restored session knows the words of texts, and one without texts is written as before."""
    guard = Guard([contract("c").guarantees(read(SAID))])
    session = guard.session()
    session.message("user", "hello bob")
    assert len(stores(session)[0].plain()) == 5
    session.message("user", " ".join(MANY))
    twin = guard.restore(session.snapshot())
    assert stores(twin)[0].plain() == stores(session)[0].plain()
    assert isinstance(twin.decide("pay", {"to": "w5 w6"}), Allowed)
    assert isinstance(twin.decide("pay", {"to": "w6 w5"}), Blocked)
    assert isinstance(twin.decide("pay", {"to": "bob"}), Allowed)


# --- the store ------------------------------------------------------------------------------------


def keys_in(*texts: str) -> TextKeys:
    """The values of these texts."""
    return TextKeys(WordIndex((), texts))


@pytest.mark.parametrize("seed", range(30))
def test_a_text_is_stored_as_its_words(seed: int) -> None:
    """`put_text` gives every key the state that `put_all` gives to those without one."""
    dice = random.Random(seed)
    whole, single = (ValueStates(watch(0), 10_000, anything, 100) for _ in range(2))
    for call in range(40):
        what, to = dice.random(), watch(dice.randrange(1, 4))
        if what < 0.4:
            key = (dice.choice(ASKED),)
            for store in (whole, single):
                store.put(key, dice.choice([to, to]), call)
        elif what < 0.5:
            moves = {watch(n): watch(dice.randrange(1, 4)) for n in range(1, 4)}
            for store in (whole, single):
                store.move(moves, call)
        else:
            keys = keys_in("x " + text(dice))
            whole.put_text(keys, to, call)
            single.put_all([key for key in keys if not single.knows(key)], to, call)
        twin = ValueStates(watch(0), 10_000, anything, 100)
        twin.fill(whole.plain())
        for asked in ASKED:
            key = (asked,)
            for store in (whole, twin):
                assert store.knows(key) == single.knows(key)
                assert store.state(key) == single.state(key)
                assert store.since(key) == single.since(key)


def test_the_oldest_texts_are_forgotten_whole() -> None:
    """At its cap the store forgets the oldest texts, and says so of none that may not be."""
    store = ValueStates(watch(0), 30, anything, 100)
    for call, each in enumerate(["a b", "c d", "e f", "g h"]):
        store.put_text(keys_in(each), watch(1), call)
    assert [store.knows((each,)) for each in "abcdefgh"] == [False] * 2 + [True] * 6
    assert not store.blind
    for n in range(30):
        store.put((n,), watch(1), 10 + n)
    assert not store.texts
    assert len(store.keys) <= 30


def test_an_entry_that_permits_less_than_a_text_is_kept() -> None:
    """An entry that permits less than a text is kept as long as the text: the text would permit."""
    store = ValueStates(watch(0), 12, never, 100)
    store.put_text(keys_in("a b"), watch(1), 0)
    store.put(("a",), watch(0), 1)
    for n in range(5):
        store.put((n,), watch(1), 2 + n)
    assert store.state(("a",)) == watch(0)
    assert store.state(("b",)) == watch(1)
    assert store.blind
