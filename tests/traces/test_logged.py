"""A decision log is a trace: its sessions are replayed, and what it lacks is not judged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sponsio_like import Contract, ContractError, Guard, TraceError, contract, record
from sponsio_like.replay import Replay
from sponsio_like.traces import CUT, read_traces
from tests.semantics.manifest import requirement

FEW = contract("few").guarantees("tool `pay` at most 1 times")
SMALL = contract("small").guarantees("`pay.amount` between 0 and 100")
ASKED = contract("asked").guarantees({"ltl": "G(called(pay) -> O text matches 'yes')"})
STAGED = contract("staged").guarantees({"ltl": 'G(called(pay) -> ctx(stage) = "review")'})
ALL = (FEW, SMALL, ASKED, STAGED)


def played(path: Path, *, content: Any, rules: Sequence[Contract] = (FEW,)) -> None:
    """Write the log of one session, which pays twice, the second time too much."""
    session = Guard(rules, mode="observe", log=path, log_content=content).session("s")
    session.message("user", "yes, please")
    session.fact("stage", "review")
    for amount in (5, 500):
        call = session.decide("pay", {"amount": amount, "iban": "DE1"})
        session.settle(call.id, output={"paid": True})
    session.finish()


def judged(path: Path, *rules: Contract) -> tuple[dict[str, int], dict[str, frozenset[str]]]:
    """The violations by contract, and the contracts that were not judged, with what is missing."""
    replay = Replay(rules)
    (trace,) = read_traces(path)
    found = replay.judge(trace)
    counts = {each.name: 0 for each in rules}
    for violation in found.violations:
        counts[violation.contract] += 1
    return counts, dict(found.not_judged)


@requirement("S-LOG-10")
def test_a_log_cut_in_the_middle_is_read(tmp_path: Path) -> None:
    """A line that is not JSON is a gap: what came by then is judged, open sessions are not."""
    log = tmp_path / "l"
    guard = Guard([FEW], mode="observe", log=log)
    for name in "abc":
        session = guard.session(name)
        for _ in range(2):
            session.settle(session.decide("pay", {}).id)
        session.finish()
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join([*lines[:6], lines[6][:30] + "\n", *lines[7:]]))
    replay = Replay([FEW])
    found = {each.id: (each.withheld, replay.judge(each)) for each in read_traces(log)}
    assert [len(judged.violations) for _, judged in found.values()] == [1, 0, 0]
    assert [CUT in withheld for withheld, _ in found.values()] == [False, True, True]
    log.write_text("".join(["nonsense\n", *lines]))
    with pytest.raises(TraceError, match="l:1: not a line of JSON"):
        list(read_traces(log))


def test_a_log_with_content_is_judged_like_the_session(tmp_path: Path) -> None:
    """With everything recorded, the replay of a log finds what the session found."""
    played(tmp_path / "l", content=True)
    assert judged(tmp_path / "l", *ALL) == ({"few": 1, "small": 1, "asked": 0, "staged": 0}, {})


def test_content_that_was_not_recorded_is_not_judged(tmp_path: Path) -> None:
    """Without content, only contracts that read none are judged; the others name what they lack."""
    played(tmp_path / "l", content=())
    counts, missing = judged(tmp_path / "l", *ALL)
    assert counts == {"few": 1, "small": 0, "asked": 0, "staged": 0}
    assert missing["small"] == {"the arguments of `pay`"}
    assert missing["asked"] == {"the texts of `user`"}
    assert {"facts", "the value of `stage`"} >= missing["staged"] > set()


def test_one_argument_is_recorded_by_itself(tmp_path: Path) -> None:
    """`args.pay.amount` records this argument, names the other, and no more of either."""
    played(tmp_path / "l", content=["args.pay.amount"])
    text = (tmp_path / "l").read_text()
    assert "DE1" not in text
    assert '"withheld": ["iban"]' in text
    rest = contract("rest").guarantees("`pay` `iban` must match `DE.*`")
    assert judged(tmp_path / "l", SMALL, rest) == (
        {"small": 1, "rest": 0},
        {"rest": frozenset({"`iban` of `pay`"})},
    )


def test_answers_are_recorded_by_tool(tmp_path: Path) -> None:
    """A contract on answers is judged where they were recorded, and else is not."""
    bad = contract("bad").guarantees({"ltl": "G(done(pay) -> !output.paid = true)"})
    played(tmp_path / "a", content=["outputs.pay"])
    played(tmp_path / "b", content=["outputs.look"])
    assert judged(tmp_path / "a", bad)[0] == {"bad": 2}
    assert judged(tmp_path / "b", bad)[1] == {"bad": {"the answers of `pay`"}}


def test_a_session_whose_calls_are_not_all_there_is_not_judged(tmp_path: Path) -> None:
    """Where a record is lost, nothing is said of the session: what is missing may matter."""
    played(tmp_path / "l", content=True)
    lines = (tmp_path / "l").read_text().splitlines(keepends=True)
    for lost in ("decision", "dropped"):
        first = next(i for i, line in enumerate(lines) if '"event": "decision"' in line)
        left = lines[:first] + lines[first + 1 :]
        if lost == "dropped":
            left = [*lines[:first], '{"event": "dropped", "records": 1}\n', *lines[first:]]
        (tmp_path / "cut").write_text("".join(left))
        (trace,) = read_traces(tmp_path / "cut")
        assert CUT in trace.withheld
        assert judged(tmp_path / "cut", FEW)[1] == {"few": {"some of the calls"}}


def test_a_session_that_has_not_ended_owes_nothing_yet(tmp_path: Path) -> None:
    """What is still to come is not judged in a session that goes on."""
    soon = contract("soon").guarantees("every `pay` must be followed by `note`")
    session = record(tmp_path / "l").session("s")
    session.settle(session.decide("pay", {}).id)
    assert judged(tmp_path / "l", soon, FEW)[1] == {"soon": {"finish"}}
    session.finish()
    (trace,) = read_traces(tmp_path / "l")
    assert [each.contract for each in Replay([soon]).judge(trace).unfulfilled] == ["soon"]


def test_calls_that_were_stopped_are_refused_in_the_trace(tmp_path: Path) -> None:
    """A call that was blocked did not happen; one that was redirected is its substitute."""
    rules = [FEW, contract("draft").guarantees("redirect `send` to `draft`")]
    session = Guard(rules, log=tmp_path / "l", log_content=["args"]).session("s")
    for tool in ("pay", "pay", "send"):
        session.decide(tool, {"x": tool}, id=None)
    session.refused("mail", {"x": 1})
    session.finish()
    (trace,) = read_traces(tmp_path / "l")
    told = [(type(each).__name__, each.call.tool, dict(each.call.args)) for each in trace.events]  # type: ignore[union-attr]
    assert told == [
        ("CallEvent", "pay", {"x": "pay"}),
        ("DenialEvent", "pay", {"x": "pay"}),
        ("CallEvent", "draft", {"x": "send"}),
        ("DenialEvent", "mail", {"x": 1}),
    ]


def test_a_call_without_a_result_is_in_flight(tmp_path: Path) -> None:
    """No result is made up for a call whose result the log does not have."""
    done = contract("done").guarantees({"ltl": "G(called(b) -> O done(a))"})
    session = record(tmp_path / "l").session("s")
    session.decide("a", {})
    session.decide("b", {})
    (trace,) = read_traces(tmp_path / "l")
    assert [each.contract for each in Replay([done]).judge(trace).violations] == ["done"]


def test_the_time_of_a_session_is_kept(tmp_path: Path) -> None:
    """A session with a clock of its own has its times in the log; else the timestamps are."""
    times = iter([10.0, 10.0, 20.0, 20.0, 30.0, 30.0])
    session = record(tmp_path / "l").session("s", clock=lambda: next(times))
    for _ in range(2):
        session.decide("a", {})
    (trace,) = read_traces(tmp_path / "l")
    assert [each.call.time for each in trace.events] == [10.0, 10.0]  # type: ignore[union-attr]


def test_an_old_log_is_still_read(tmp_path: Path) -> None:
    """A log without positions, as they were written before, is a trace, too."""
    lines = [
        {"event": "decision", "session": "s", "id": "1", "tool": "pay", "agent": "agent",
         "outcome": "allowed", "violations": [], "microseconds": 1.0,
         "timestamp": "2026-11-23T01:53:59.507180Z"},
        {"event": "settlement", "session": "s", "id": "1", "tool": "pay", "status": "ok",
         "violations": [], "timestamp": "2026-11-23T01:54:00.507180Z"},
    ]  # fmt: skip
    (tmp_path / "l").write_text("".join(json.dumps(each) + "\n" for each in lines * 2))
    assert judged(tmp_path / "l", FEW, SMALL) == (
        {"few": 1, "small": 0},
        {"small": frozenset({"the arguments of `pay`"})},
    )


def test_a_recorded_agent_has_no_contracts(tmp_path: Path) -> None:
    """`record` refuses nothing, and its log has everything; an empty guard is a mistake still."""
    session = record(tmp_path / "l").session("s")
    session.settle(session.decide("pay", {"amount": 1}).id, output="ok")
    (trace,) = read_traces(tmp_path / "l")
    assert trace.withheld == frozenset()
    with pytest.raises(ContractError, match="no contracts"):
        Guard([])


@pytest.mark.parametrize("wrong", ["args", ["arguments"], ["args."], [1], 5])
def test_a_choice_of_content_that_means_nothing_is_refused(wrong: Any) -> None:
    """A text, or an unknown kind of content, is an error: nothing would be recorded."""
    with pytest.raises(ContractError, match="log_content"):
        Guard([FEW], log_content=wrong)
