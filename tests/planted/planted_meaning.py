"""Bugs against the meaning of contracts, each planted by changing one piece of one file.

In: nothing. Out: `BUGS`: a name, a file of the package, what stands there once, what is put there
instead. `tests/semantics/manifest_rows.py` says which requirement each of them breaks, and
`python -m tests.planted.planting` looks whether the tests of that requirement notice.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.planted import (
    planted_adapters,
    planted_catalog,
    planted_confirm,
    planted_denied,
    planted_host,
    planted_inventory,
    planted_kinds,
    planted_loading,
    planted_log,
    planted_people,
    planted_risk,
    planted_values,
    planted_world,
)


class Bug(NamedTuple):
    """A small change that makes the engine wrong. `old` stands in `file` exactly once."""

    name: str
    file: str
    old: str
    new: str


BUGS = (
    # --- positions and calls in flight --------------------------------------------------------
    Bug(
        "sessions share their state",
        "session/interceptor.py",
        "self.ledger = Ledger(policy, apart=world is not None)",
        "self.ledger = globals().setdefault(f'ledger {id(policy)}', Ledger(policy))",
    ),
    Bug(
        "messages are calls",
        "events/atoms.py",
        'return frozenset({"message"})',
        'return frozenset({"call"})',
    ),
    Bug(
        "blocked calls happen",
        "session/interceptor.py",
        "return Attempt(found, (), before, answers, spent=seen.spent)",
        "self.ledger.commit(judgement); return Attempt(found, (), self.ledger, against)",
    ),
    Bug(
        "every kind of position counts",
        "engine/clause.py",
        'self.counts = _kinds(counted) or frozenset({"call"})',
        'self.counts = frozenset({"call", "message", "step"})',
    ),
    Bug(
        "every message is decided",
        "engine/findings.py",
        'event.role == "assistant"',
        "bool(event.role)",
    ),
    Bug(
        "arguments are not copied",
        "values/frozen.py",
        (
            "members = freeze_members(\n"
            "            value.items(), lambda each: frozen_copy(each, DEPTH_CAP - 1, room), most\n"
            "        )"
        ),
        "return value",
    ),
    Bug(
        "digits are numbers",
        "events/relations.py",
        "    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):",
        "    if isinstance(value, str) and value.isdigit():\n        return Decimal(value)\n"
        "    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):",
    ),
    Bug(
        "the first call is not counted",
        "monitor/past.py",
        "s[r] + bool(v[a])",
        "s[r] + (bool(v[a]) and p > 0)",
    ),
    Bug("sums are forgotten", "monitor/past.py", "return EXACT.add(s[r], amount)", "return s[r]"),
    Bug(
        "a result belongs to the last position",
        "engine/clause.py",
        "self.monitor.settle(state.segment, change.at.counted, final",
        "self.monitor.settle(state.segment, last.counted, final",
    ),
    Bug(
        "in flight is done",
        "monitor/past.py",
        "(x[slot] is True) is not negated",
        "(x[slot] is not False) is not negated",
    ),
    Bug(
        "results are judged again",
        "monitor/monitor.py",
        "return MonitorStep(state._replace(registers=registers, branches=trees), False)",
        (
            "return MonitorStep("
            "state._replace(registers=registers, branches=trees), any(final.values()))"
        ),
    ),
    Bug(
        "late results are forgotten",
        "monitor/monitor.py",
        "= self.branches.settled(state.branches, state.registers, settled, final)",
        "= state.branches, state.registers",
    ),
    Bug(
        "late results open nothing",
        "monitor/progression.py",
        'return one(("D", at.number, slot, not negated))',
        "return YES if negated else NO",
    ),
    Bug(
        "revealed violations have the last position",
        "session/settle.py",
        "reported(inner.policy, bad, *_at(flight))",
        "reported(inner.policy, bad, inner.calls, flight.tool)",
    ),
    Bug(
        "every result counts",
        "session/settle.py",
        "del inner.flights[id]",
        "pass",
    ),
    Bug(
        "success is never assumed",
        "session/session.py",
        "if self._assume_success else ()",
        "if False else ()",
    ),
    Bug(
        "calls in flight are not capped",
        "session/flights.py",
        "len(flights) < IN_FLIGHT_CAP",
        "len(flights) <= IN_FLIGHT_CAP",
    ),
    Bug(
        "branches are not capped",
        "monitor/branches.py",
        "if len(made.nodes) > CAP:",
        "if len(made.nodes) > 3 * CAP:",
    ),
    Bug(
        "a full memory stops the other contracts",
        "engine/judgement.py",
        "except Exception as error:  # this clause answers for itself; the others go on",
        "except ZeroDivisionError as error:",
    ),
    # --- ids and time -------------------------------------------------------------------------
    Bug(
        "open ids count again",
        "session/flights.py",
        "flight = flights.get(event.id)",
        "flight = None",
    ),
    Bug(
        "open ids are not compared",
        "session/decide.py",
        "if flight.digest == mark:",
        "if flight.digest:",
    ),
    Bug(
        "empty ids are ids",
        "session/ids.py",
        'if id is None or id == "" else',
        "if id is None else",
    ),
    Bug("an id may stand twice", "events/context.py", "seen |= {id} if id else set()", "pass"),
    Bug(
        "keys are merged",
        "values/canonical_form.py",
        "if len(pairs) < len(value):",
        "if False:",
    ),
    Bug("all ids are the same", "session/ids.py", "{next(_numbers)}", "1"),
    Bug(
        "time goes back",
        "session/interceptor.py",
        "self.time = max(self.time, now, self.world.time)",
        "self.time = now",
    ),
    Bug(
        "windows of seconds are closed",
        "monitor/past.py",
        "left = stamps_within(s[r], now - width)",
        "left = stamps_within(s[r], now - width - (not by_step))",
    ),
    Bug(
        "windows of steps are one too long",
        "monitor/past.py",
        "left = stamps_within(s[r], now - width)",
        "left = stamps_within(s[r], now - width - by_step)",
    ),
    Bug(
        "bounds of seconds exclude their end",
        "monitor/past.py",
        "t - s[r] <= limit",
        "t - s[r] < limit",
    ),
    Bug(
        "nothing runs out between events",
        "engine/settlement.py",
        "if due < now.time]",
        "if due < now.time - 1000]",
    ),
    # --- inputs and facts ---------------------------------------------------------------------
    Bug(
        "inputs are not needed",
        "contracts/definition.py",
        "found |= inputs_of(node)",
        "found |= set()",
    ),
    Bug(
        "any input is known",
        "guard/sessions.py",
        "if unknown := given - ALL_INPUTS:",
        "if unknown := set[str]():",
    ),
    Bug(
        "assumed success is no result",
        "guard/sessions.py",
        'given |= {"results"} if results else set()',
        "given |= set()",
    ),
    Bug(
        "facts never change",
        "events/context.py",
        "facts={**self.facts, key: value}",
        "facts={key: value, **self.facts}",
    ),
    Bug(
        "permissions are looked for in any text",
        "events/context.py",
        "isinstance(held, (list, tuple, set, frozenset)) and permission in held",
        "permission in held",
    ),
    Bug(
        "every decision approves",
        "events/context.py",
        'return asked == (action, role, "approve")',
        "return asked[:2] == (action, role)",
    ),
    Bug(
        "any permissions will do",
        "events/context.py",
        'if key == "permissions" and not isinstance(value, (list, Mapping)):',
        "if False:",
    ),
    Bug(
        "any decision will do",
        "events/context.py",
        "        _check_decision(value)\n",
        "",
    ),
    # --- atoms --------------------------------------------------------------------------------
    Bug(
        "case does not count",
        "session/session.py",
        "own, found = own_id(id), None\n",
        "own, found, tool = own_id(id), None, tool.lower()\n",
    ),
    Bug(
        "case does not count in globs",
        "events/atoms.py",
        "re.compile(fnmatch.translate(pattern)).match",
        "re.compile(fnmatch.translate(pattern), re.IGNORECASE).match",
    ),
    Bug(
        "one condition is enough",
        "events/atoms.py",
        "return False if False in answers else None if None in answers else True",
        "return True if True in answers or not answers else False",
    ),
    Bug(
        "every value has to agree",
        "events/condition_tests.py",
        "_all(answers) if every else _any(answers)",
        "_all(answers)",
    ),
    Bug(
        "outputs are lost",
        "session/settle.py",
        "given_value(output if good",
        "given_value(None if good",
    ),
    Bug(
        "any agent will do",
        "events/atoms.py",
        "isinstance(event, Call) and event.agent == name",
        "isinstance(event, Call)",
    ),
    Bug(
        "any role will do",
        "events/atoms.py",
        'isinstance(event, Message) and role in ("*", event.role)',
        "isinstance(event, Message)",
    ),
    Bug(
        "everybody has the permissions of one",
        "events/atoms.py",
        "context.permits(event.agent, name)",
        'context.permits("bob", name)',
    ),
    Bug(
        "any step will do",
        "events/atoms.py",
        "isinstance(event, Step) and name in event.atoms",
        "isinstance(event, Step) and bool(event.atoms)",
    ),
    Bug(
        "atoms that cannot tell are true",
        "events/atoms.py",
        "isinstance(event, kind) and ask(event, context)",
        "isinstance(event, kind) and ask(event, context) is not False",
    ),
    # --- terms and comparisons ----------------------------------------------------------------
    Bug("counts are never reset", "monitor/past.py", "(lambda v: v[reset])", "(lambda v: False)"),
    Bug(
        "numbers are binary",
        "values/canonical_form.py",
        "Decimal(float.__repr__(value)) if isinstance(value, float) else Decimal(value)",
        "Decimal(value)",
    ),
    Bug("what never happened is now", "monitor/past.py", 'INFINITE = float("inf")', "INFINITE = 0"),
    Bug(
        "other tools do not end a run",
        "monitor/past.py",
        "where == p - 1 and last is not None",
        "last is not None",
    ),
    Bug(
        "tokens are not added",
        "events/context.py",
        "tokens=self.tokens + tokens",
        "tokens=tokens",
    ),
    Bug(
        "windows may be of any size",
        "monitor/program.py",
        "WINDOW_CAP = 10_000",
        "WINDOW_CAP = 10_000_000",
    ),
    Bug(
        "true is one",
        "values/canonical_form.py",
        "return (type(value).__name__, value)",
        "return value if value is None else Decimal(value)",
    ),
    Bug(
        "truth values are numbers",
        "events/relations.py",
        "if isinstance(value, bool) or not isinstance(value, (int",
        "if not isinstance(value, (int",
    ),
    Bug(
        "a check without the key is in no monitor",
        "patterns/arguments.py",
        "if after is not None and key:",
        "if False:",
    ),
    Bug(
        "regular expressions match from end to end",
        "events/relations.py",
        "        search = regex(right)\n",
        '        search = regex(f"^(?:{right})$")\n',
    ),
    Bug(
        "what cannot be told is false", "monitor/program.py", "default=bad is sign", "default=False"
    ),
    Bug(
        "in an assumption too",
        "engine/clause.py",
        "outer.add(assumption, violates=True)",
        "outer.add(assumption, violates=False)",
    ),
    Bug(
        "what cannot be added is nothing",
        "monitor/past.py",
        "return MISSING if amount is MISSING else EXACT.add(_held(s[r], bound, p, t), amount)",
        "return EXACT.add(_held(s[r], bound, p, t), zero if amount is MISSING else amount)",
    ),
    Bug(
        "nan is a value",
        "values/canonical_form.py",
        'raise NotCanonical("not a number")',
        'return ("nan", 0)',
    ),
    # --- operators ----------------------------------------------------------------------------
    Bug("or is and", "monitor/past.py", "any([v[k] for k in parts])", "all([v[k] for k in parts])"),
    Bug("X holds at the end", "monitor/residual.py", 'literal[0] in "WGg"', 'literal[0] in "XWGg"'),
    Bug("WX fails at the end", "monitor/residual.py", 'literal[0] in "WGg"', 'literal[0] in "Gg"'),
    Bug(
        "F begins later",
        "monitor/progression.py",
        'either(known[body], self._later("F", i, bound, at))',
        'self._later("F", i, bound, at)',
    ),
    Bug(
        "G begins later",
        "monitor/progression.py",
        'both(known[body], self._later("G", i, bound, at))',
        'self._later("G", i, bound, at)',
    ),
    Bug("U is weak", "monitor/progression.py", 'one(("X", i))))', 'one(("W", i))))'),
    Bug(
        "W is kept at once",
        "monitor/program.py",
        '("R", "or") if sign else ("U", "and")',
        '("U", "or") if sign else ("R", "and")',
    ),
    Bug(
        "R releases too soon",
        "monitor/progression.py",
        'both(known[right], either(known[left], one(("W", i))))',
        'either(known[left], both(known[right], one(("W", i))))',
    ),
    Bug(
        "step bounds are one too long",
        "monitor/progression.py",
        "at.number + count))",
        "at.number + count + 1))",
    ),
    Bug(
        "time bounds are one too short",
        "monitor/progression.py",
        "at.time + count))",
        "at.time + count - 1))",
    ),
    Bug(
        "Y holds at the beginning",
        "monitor/past.py",
        "Register(i, False, lambda v, x, s, p, t: v[a])",
        "Register(i, True, lambda v, x, s, p, t: v[a])",
    ),
    Bug(
        "WY fails at the beginning",
        "monitor/past.py",
        "Register(i, True, lambda v, x, s, p, t: v[a])",
        "Register(i, False, lambda v, x, s, p, t: v[a])",
    ),
    Bug(
        "Y is now",
        "monitor/past.py",
        "s[r]), Register(i, False, lambda v, x, s, p, t: v[a])",
        "v[a]), Register(i, False, lambda v, x, s, p, t: v[a])",
    ),
    Bug(
        "O is now",
        "monitor/past.py",
        "v[a] or s[r]), Register(i, False, keep, once)",
        "v[a]), Register(i, False, keep, once)",
    ),
    Bug(
        "H is now",
        "monitor/past.py",
        "v[a] and s[r]), Register(i, True, keep, never)",
        "v[a]), Register(i, True, keep, never)",
    ),
    Bug(
        "S does not last",
        "monitor/past.py",
        "v[b] or (v[a] and s[r])), Register(i, False",
        "v[b] or s[r]), Register(i, False",
    ),
    Bug(
        "step bounds of the past are one too short",
        "monitor/past.py",
        "p - s[r] <= limit",
        "p - s[r] < limit",
    ),
    Bug(
        "future below the past is let in",
        "monitor/program.py",
        "if op[0] in _BACKWARD and any(self.looks_ahead(i) for i in operands(op)):",
        "if False:",
    ),
    Bug(
        "formulas are read by recursion",
        "monitor/program.py",
        "        root = (formula, True, violates)\n",
        "        root = (formula, True, violates)\n"
        "        walk = lambda again, node: [again(again, each) for each in f.children(node)]\n"
        "        walk(walk, formula)\n",
    ),
    # --- text ---------------------------------------------------------------------------------
    Bug(
        "implication does not lean",
        "grammar.lark",
        "temporal _IMPLIES implication",
        "temporal _IMPLIES temporal",
    ),
    Bug("W prints as U", "logic/printer.py", 'f.WeakUntil: ("W",', 'f.WeakUntil: ("U",'),
    Bug("there is no diamond", "grammar.lark", r"/F(?!\w)|◇/", r"/F(?!\w)/"),
    Bug("bounds may be open", "syntax.py", 'if within == "<":', 'if within == "?":'),
    Bug(
        "columns are one off",
        "logic/misread.py",
        "at - text.rfind(chr(10), 0, at)}",
        "at - text.rfind(chr(10), 0, at) - 1}",
    ),
    Bug(
        "U is written the other way round",
        "logic/operators.py",
        'f.Until(_formula("U", left), _formula("U", right))',
        'f.Until(_formula("U", right), _formula("U", left))',
    ),
    # --- verdicts -----------------------------------------------------------------------------
    Bug(
        "lost instances are silent",
        "monitor/monitor.py",
        "bad = dead or (lost and not old.lost)",
        "bad = lost and not old.lost",
    ),
    Bug(
        "nothing is ever satisfied",
        "monitor/monitor.py",
        'return "inconclusive" if free else "satisfied"',
        'return "inconclusive"',
    ),
    Bug(
        "violated does not latch",
        "engine/clause.py",
        "        if state.violated:\n",
        "        if False:\n",
    ),
    Bug(
        "nothing is thought through",
        "monitor/reachability.py",
        "self._remember(key, self._distance(goal, place, more))",
        "self._remember(key, 1)",
    ),
    Bug("there is no other tool", "monitor/alphabet.py", '        yield ("call", OTHER)\n', ""),
    Bug(
        "the inventory does not matter",
        "monitor/alphabet.py",
        "tool_names(nodes) if tools is None else told_apart(nodes, tools)",
        "tool_names(nodes)",
    ),
    Bug(
        "calls to come settle at once",
        "monitor/alphabet.py",
        'return itertools.product(("done", "failed"), (False, True))',
        'return itertools.product(("done", "failed"), (False,))',
    ),
    Bug(
        "what is free is false",
        "monitor/alphabet.py",
        "itertools.product((False, True), repeat=len(wanted))",
        "itertools.product((False,), repeat=len(wanted))",
    ),
    Bug(
        "time always runs out",
        "monitor/progression.py",
        'return one(("X", node)) if clock == "satisfy" else NO',
        "return NO",
    ),
    Bug(
        "a search that gives up says no",
        "monitor/reachability.py",
        "                    self.limited = True\n                    return FAR\n",
        "                    self.limited = True\n                    return None\n",
    ),
    # --- instances and the end ----------------------------------------------------------------
    Bug(
        "G has one instance",
        "logic/decomposition.py",
        "case f.Always(body, None):",
        "case f.Always(body, f.Steps()):",
    ),
    Bug(
        "W has one instance",
        "logic/decomposition.py",
        "return (f.Always(f.disj(left, f.Once(right))),)",
        "return (part,)",
    ),
    Bug(
        "U has no obligation",
        "logic/decomposition.py",
        "f.Once(right))), f.Eventually(right))",
        "f.Once(right))),)",
    ),
    Bug(
        "R releases at once", "logic/decomposition.py", "f.Yesterday(f.Once(left))", "f.Once(left)"
    ),
    Bug(
        "violated instances stay",
        "monitor/monitor.py",
        "return MonitorStep(State(registers, live, trees, lost), bad)",
        "return MonitorStep(State(registers, all_live, trees, lost), bad)",
    ),
    Bug(
        "every clause reports",
        "engine/findings.py",
        "found[owner] = Finding(",
        "found[(owner + 1) * 1000 + i] = Finding(",
    ),
    Bug(
        "a conflict is reported for ever",
        "monitor/monitor.py",
        "bad = dead or (lost and not old.lost)",
        "bad = dead or lost",
    ),
    Bug(
        "what ends well is pending",
        "monitor/monitor.py",
        "if not self._ends_as(each, known)]",
        "if self._ends_as(each, known)]",
    ),
    Bug(
        "nothing is left unfulfilled",
        "session/session.py",
        "        return left\n",
        "        return ()\n",
    ),
    Bug(
        "unsettled calls are read kindly",
        "monitor/monitor.py",
        "lefts is not None and all(holds_at_end(r) for left in lefts for r in left)",
        "lefts is not None and any(all(map(holds_at_end, left)) for left in lefts)",
    ),
    Bug(
        "finished sessions go on",
        "session/interceptor.py",
        "        if self.finished:\n",
        "        if False:\n",
    ),
    Bug(
        "a sooner bound does not cover a later one",
        "monitor/residual.py",
        "node == other and due <= later)",
        "node == other and False)",
    ),
    Bug("residuals are not capped", "monitor/residual.py", "TERM_CAP = 512", "TERM_CAP = 2_000"),
    # --- keyed clauses ------------------------------------------------------------------------
    Bug("all values are the same", "monitor/slots.py", "return tuple(parts)", "return ()"),
    Bug(
        "keys are compared as text",
        "monitor/slots.py",
        'short(value if path[0] == "@" else read_as(value))',
        "repr(value)",
    ),
    Bug(
        "calls without a key pass",
        "engine/judgement.py",
        "if clause.can_break(event) else",
        "if 0 else",
    ),
    Bug(
        "keys are not capped",
        "engine/ledger.py",
        "len(self.keyed[i]) >= KEYS_CAP",
        "len(self.keyed[i]) >= 1000 * KEYS_CAP",
    ),
    # --- contracts ----------------------------------------------------------------------------
    Bug(
        "assumptions do not matter",
        "engine/clause.py",
        "violated and values[self.assume])",
        "violated)",
    ),
    Bug(
        "called means now",
        "contracts/conditions.py",
        "[f.Once(Happens(atom.what, ever))]",
        "[Happens(read_atom.what, ever)]",
    ),
    Bug(
        "conditions speak of the past",
        "contracts/conditions.py",
        "ever = tuple(match for match in atom.target if not match.conditions)",
        "ever = read_atom.target",
    ),
    Bug(
        "at the end no assumption matters",
        "engine/status.py",
        "if ends and clause.assumed(state, last, now):",
        "if ends:",
    ),
    Bug(
        "assumptions may look ahead",
        "contracts/conditions.py",
        "if looks_ahead(read):",
        "if False:",
    ),
    Bug("any assumption will do", "checks/guarantees.py", "    _check_assumption(clause)\n", ""),
    Bug(
        "after begins again",
        "engine/clause.py",
        "state.segment is None and starts and",
        "starts and",
    ),
    Bug(
        "before is never open",
        "engine/clause.py",
        'self.kind_of_scope in (None, "before")\n',
        "self.kind_of_scope is None\n",
    ),
    Bug(
        "segments do not repeat",
        "engine/clause.py",
        'over = self.kind_of_scope == "before"',
        "over = True",
    ),
    Bug(
        "a segment begins later",
        "engine/clause.py",
        "if after.segment is not None and kind in self.counts:",
        "if after.segment is not None and state.segment is not None and kind in self.counts:",
    ),
    Bug(
        "segments do not end",
        "engine/clause.py",
        "if state.segment is not None and stops:",
        'if state.segment is not None and stops and self.kind_of_scope == "before":',
    ),
    Bug(
        "segments end well",
        "engine/clause.py",
        "left, failed = self.monitor.closed(state.segment)",
        "left, failed = state.left_open, False",
    ),
    Bug(
        "open segments are not forgiven",
        "engine/clause.py",
        'self.kind_of_scope not in ("before", "between"):',
        'self.kind_of_scope not in ("before",):',
    ),
    Bug(
        "segments do not wait for results",
        "engine/clause.py",
        "        if self.opens_late:\n",
        "        if False:\n",
    ),
    Bug(
        "one mode for all",
        "checks/compile.py",
        '"observe" if relaxed else each.mode or mode',
        '"observe" if relaxed else mode',
    ),
    Bug(
        "observers stop calls",
        "engine/findings.py",
        'answers = [each.decision for each in found if each.violation.mode == "enforce"]',
        "answers = [each.decision for each in found]",
    ),
    Bug(
        "any guard can be relaxed",
        "guard/guard.py",
        "self.relaxed = relaxable and _asked_to_relax()",
        "self.relaxed = _asked_to_relax()",
    ),
    Bug(
        "restrictions forgive failures",
        "contracts/blocks.py",
        'if counts == "called":',
        'if counts == "never":',
    ),
    Bug(
        "prerequisites count tries",
        "contracts/blocks.py",
        "return Happens(counts, tools)",
        'return Happens("calls_of_any", tools)',
    ),
    Bug(
        "in flight does not exclude",
        "contracts/blocks.py",
        'calls_of_any(tools) & Not(Happens("failed", tools))',
        'Happens("done", tools)',
    ),
    Bug(
        "prerequisites ignore the choice",
        "contracts/blocks.py",
        "return Happens(counts, tools)",
        'return Happens("done", tools)',
    ),
    # --- decisions ----------------------------------------------------------------------------
    Bug(
        "block does not win",
        "engine/findings.py",
        "return _STRICTNESS[type(decision)]",
        "return _STRICTNESS[type(decision)] % 4",
    ),
    Bug(
        "one violation is told",
        "engine/findings.py",
        "    for i, witness in violated.items():\n        owner",
        "    for i, witness in list(violated.items())[:1]:\n        owner",
    ),
    Bug(
        "substitutes are not decided",
        "session/decide.py",
        "    if second.before is None:\n",
        "    if True:\n",
    ),
    Bug("advice has no advice", "advice/advice.py", 'f"{self._why()}; {how}"', "self._why()"),
    Bug(
        "advice is its last step",
        "advice/advice.py",
        "first {', then '.join(steps)}",
        "first {steps[-1]}",
    ),
    Bug(
        "atoms raise out of advice",
        "advice/trial.py",
        "except Exception:  # an atom is user code; what cannot be read is refused",
        "except ZeroDivisionError:",
    ),
    Bug(
        "what was not found does not exist",
        "advice/search.py",
        "certain = certain and trial.exact and not trial.raised",
        "certain = True",
    ),
    Bug(
        "waiting is half as long",
        "advice/trial.py",
        'words = f"wait {round(wait, 3):.12g} s"',
        'words = f"wait {round(wait / 2, 3):.12g} s"',
    ),
    Bug(
        "only the success of an answer is told",
        "advice/trial.py",
        '", and ".join(["it must succeed", *filter(None, answers)])',
        '"it must succeed"',
    ),
    Bug(
        "what is unknown is taken for the worst",
        "advice/foresight.py",
        "values[i] = _always(truth)",
        "values[i] = _always(not truth)",
    ),
    Bug(
        "facts need no session",
        "engine/clause.py",
        'frozenset({"facts", "usage", "results"})',
        'frozenset({"usage", "results"})',
    ),
    Bug(
        "people are an obstacle",
        "advice/answers.py",
        "return not self.lenient or (mine and self._closed)",
        "return True",
    ),
    Bug(
        "caps are lifted",
        "advice/caps.py",
        "if limit is None or not _only_grows(",
        "if True or not _only_grows(",
    ),
    Bug("advice has no limit", "advice/search.py", "left = SEARCH", "left = 100 * SEARCH"),
    Bug(
        "there is no lock",
        "session/interceptor.py",
        "self.lock = threading.Lock()",
        "self.lock = __import__('unittest.mock').mock.MagicMock()",
    ),
    Bug(
        "doubts are forgotten",
        "session/interceptor.py",
        "is None and self.ledger.half_written",
        "is None and False",
    ),
    Bug("snapshots have no seal", "session/resume.py", 'seal(data) != data["seal"]', "not data"),
    Bug(
        "doubts are told each time", "session/interceptor.py", "not self.warned, True", "True, True"
    ),
    Bug("lanes are not capped", "session/fast.py", "LANES_CAP = 256", "LANES_CAP = 1_000_000"),
    Bug(
        "arguments are always logged",
        "session/content.py",
        'if self.has("args", tool):',
        "if True:",
    ),
    Bug(
        "snapshots leave calls in flight out",
        "session/resume.py",
        "{id: flight_data(flight) for id, flight in flying.items()}",
        "{}",
    ),
    Bug(
        "changed contracts keep their state",
        "session/snapshot.py",
        'data["contracts"].get(name) == means[name]',
        'name in data["contracts"]',
    ),
    # --- loading and files --------------------------------------------------------------------
    Bug(
        "tautologies load",
        "checks/guarantees.py",
        'if not is_reachable("violate", monitor):',
        "if False:",
    ),
    Bug(
        "contradictions load",
        "checks/guarantees.py",
        'if not is_reachable("satisfy", monitor):',
        "if False:",
    ),
    Bug(
        "regular expressions are not compiled",
        "checks/guarantees.py",
        "                regex(pattern)\n",
        "                regex('x')\n",
    ),
    Bug("names may be used twice", "checks/lint.py", "if contract.name in seen:", "if False:"),
    Bug("nothing is close", "errors.py", "n=2, cutoff=0.6", "n=2, cutoff=1.0"),
    Bug(
        "one problem is told",
        "checks/lint.py",
        "problems += [_located(contract, problem) for problem in wrong]",
        "problems = problems or [_located(contract, each) for each in wrong]",
    ),
    Bug(
        "one guarantee is read",
        "contracts/loader.py",
        'problems.attempt(("guarantee",), read_each, read_guarantee, value, words)',
        'problems.attempt(("guarantee",), read_each, read_guarantee, value[:1], words)',
    ),
    Bug("actions are tools", "contracts/targets.py", "if name in words.actions:", "if False:"),
    Bug(
        "any tool is known",
        "contracts/targets.py",
        "if words.lacks(name):",
        "if False:",
    ),
    Bug("any key is known", "contracts/operands.py", "if key not in known:", "if False:"),
    Bug(
        "columns are lost",
        "contracts/composition.py",
        'f"{self.name}:{spot.line}:{column}", problem.hint)',
        'f"{self.name}:{spot.line}:1", problem.hint)',
    ),
    Bug(
        "disputed words are text",
        "contracts/yaml_document.py",
        "if DISPUTED.fullmatch(text):",
        "if False:",
    ),
    Bug(
        "sentences may have more words",
        "contracts/templates.py",
        "pattern.fullmatch(sentence.strip())",
        "pattern.search(sentence.strip())",
    ),
    # --- replay and log -----------------------------------------------------------------------
    Bug(
        "traces settle at once",
        "traces/trace.py",
        "CallEvent(call, None if waits else self._result(event), approved_by)",
        "CallEvent(call, self._result(event), approved_by)",
    ),
    Bug("events happen at once", "traces/trace.py", "return self.time + 1.0", "return self.time"),
    Bug(
        "a replay enforces", "replay/replay.py", "as_written if enforce else observed", "as_written"
    ),
    Bug(
        "messages are calls in a replay",
        "replay/replay.py",
        "position + isinstance(event, CallEvent)",
        "position + 1",
    ),
    Bug("warnings are blocks", "engine/findings.py", 'return "warned"', 'return "blocked"'),
    Bug(
        "everything is judged",
        "replay/replay.py",
        "(wants - trace.inputs)",
        "frozenset[str]()",
    ),
    Bug(
        "all is well",
        "cli/runs.py",
        "typer.Exit(1 if summary.broken or blind else 0)",
        "typer.Exit(0)",
    ),
    Bug(
        "the log leaves observers out",
        "session/decision_log.py",
        "each = [finding.violation for finding in found]",
        'each = [f.violation for f in found if f.violation.mode == "enforce"]',
    ),
    Bug(
        "a sink can stop a call",
        "session/decision_log.py",
        "except Exception:  # a sink",
        "except ValueError:  # a sink",
    ),
    # --- failure ------------------------------------------------------------------------------
    Bug(
        "atoms that raise pass",
        "session/user_code.py",
        "failed.append(unreadable(ledger.policy, i, event, position, error))",
        "del error",
    ),
    Bug(
        "atoms run under the lock",
        "session/interceptor.py",
        "            reads, failed, spent = read_event(self.ledger, event, touched, context",
        "            with self.lock:\n"
        "                reads, failed, spent = read_event(self.ledger, event, touched, context",
    ),
    Bug(
        "regular expressions may be long",
        "events/relations.py",
        "if len(pattern) > REGEX_CAP:",
        "if False:",
    ),
    Bug(
        "any number of values is read",
        "values/frozen.py",
        "return _full(room)\n        room.values -= isinstance(item, _PLAIN)\n        members",
        "return members\n        room.values -= isinstance(item, _PLAIN)\n        members",
    ),
    Bug("any amount of work is done", "values/effort.py", "if work > self._left:", "if False:"),
    Bug(
        "settled calls stay in flight",
        "session/fast.py",
        "        bad = settle_all(ledger, results, Now(now, context))\n    del inner.flights[id]",
        "        bad = settle_all(ledger, results, Now(now, context))",
    ),
    Bug(
        "every clause is asked",
        "engine/index.py",
        "i for i in self._asked(name) if self._clauses[i].concerns(name)",
        "i for i in self._asked(name)",
    ),
    # --- patterns -----------------------------------------------------------------------------
    Bug(
        "must_precede the other way round",
        "patterns/safety.py",
        (
            "return before(then, [first], "
            "earlier(known, within, f.disj(*dependent_calls(then, first))))"
        ),
        "return whenever(first, earlier(worked(then, counts), within, calls_of_any(first)))",
    ),
    Bug(
        "one confirmation serves for ever",
        "patterns/safety.py",
        "yes = granted_since_last(confirmed(by, accept, counts), action, by)",
        "yes = earlier(confirmed(by, accept, counts))",
    ),
    Bug(
        "the other permission",
        "patterns/safety.py",
        "whenever(tool, f.Permitted(permission))",
        "whenever(tool, ~f.Permitted(permission))",
    ),
    Bug(
        "a leak is no leak",
        "patterns/safety.py",
        "whenever(sink, ~earlier(worked(source, counts)))",
        "whenever(source, ~earlier(worked(sink, counts)))",
    ),
    Bug(
        "a refusal confirms",
        "contracts/confirmation.py",
        "        case bool(said):\n            return said\n",
        "        case bool(said):\n            return True\n",
    ),
    Bug(
        "nobody revokes nothing",
        "events/context.py",
        'if value.get("by") or _stands(value, *kind) else {}',
        "",
    ),
    Bug(
        "no text is no message",
        "events/context.py",
        'text = "" if text is None else text',
        "text = text",
    ),
    Bug("nothing guards", "guard/guard.py", "if not policy.contracts and", "if False and"),
    Bug(
        "the step may come later",
        "patterns/safety.py",
        "f.Always(trigger >> f.Next(next_action))",
        "f.Always(trigger >> f.Next(f.Eventually(next_action)))",
    ),
    Bug(
        "no_reversal forgives",
        "patterns/compliance.py",
        "whenever(reversal, ~earlier(counted_calls(commitment, counts)))",
        "whenever(reversal, ~earlier(counted_calls(reversal, counts)))",
    ),
    Bug(
        "duties are the session's",
        "patterns/compliance.py",
        'by=("@agent", *(same or ()))',
        "by=same or ()",
    ),
    Bug(
        "any answer before counts",
        "patterns/compliance.py",
        "answer = Next(Eventually(worked(response, counts)))",
        "answer = __import__('sponsio_like.logic.formula').formula.Once(worked(response, counts))",
    ),
    Bug(
        "one step is enough",
        "patterns/compliance.py",
        "for step in steps))",
        "for step in steps[:1]))",
    ),
    Bug(
        "rate_limit is one too many",
        "patterns/operational.py",
        "Count(counted_calls(action, counts), None, per) <= limit)",
        "Count(counted_calls(action, counts), None, per) <= limit + 1)",
    ),
    Bug(
        "twice is once",
        "patterns/operational.py",
        "Count(counted_calls(action, counts)) <= 1)",
        "Count(counted_calls(action, counts)) <= 2)",
    ),
    Bug(
        "cooldown is one too short",
        "patterns/operational.py",
        "bound = Steps(bound.count + 1)",
        "bound = Steps(bound.count)",
    ),
    Bug(
        "deadline is one too long",
        "patterns/operational.py",
        "Steps(bound.count - 1))",
        "Steps(bound.count))",
    ),
    Bug(
        "retries never end",
        "patterns/operational.py",
        "Count(again, reset=done) <= retries)",
        "Count(again, reset=done) <= retries + 1)",
    ),
    Bug(
        "loops may be longer",
        "patterns/operational.py",
        "Repeats(action, similar) <= limit)",
        "Repeats(action, similar) <= limit + 1)",
    ),
    Bug(
        "exclusion is one-sided",
        "contracts/blocks.py",
        "whenever(first, ~earlier(counted_calls(second, counts))) & whenever(",
        "whenever(second, ~earlier(counted_calls(first, counts))) & whenever(",
    ),
    Bug(
        "the list forbids",
        "patterns/exclusion.py",
        "return Always(calls_of_any(tools))",
        "return Always(~calls_of_any(tools))",
    ),
    Bug(
        "redirect once",
        "patterns/exclusion.py",
        "Rule(Always(~calls_of_any(unsafe))",
        "Rule(~calls_of_any(unsafe)",
    ),
    Bug(
        "the blacklist allows",
        "patterns/arguments.py",
        '~Custom("arg_contains", (field, patterns))',
        'Custom("arg_contains", (field, patterns))',
    ),
    Bug(
        "the allowlist is searched",
        "events/argument_atoms.py",
        'return rf"\\A{_alone(pattern)}\\z"',
        "return _alone(pattern)",
    ),
    Bug(
        "one character more",
        "events/argument_atoms.py",
        "length is not None and length > most",
        "length is not None and length > most + 1",
    ),
    Bug(
        "ranges are open above",
        "events/argument_atoms.py",
        "(high is None or value <= high)",
        "(high is None or value <= high + 1)",
    ),
    *(Bug(*each) for each in planted_catalog.MEANING),
    *(Bug(*each) for each in planted_denied.MEANING),
    *(Bug(*each) for each in planted_values.MEANING),
    *(Bug(*each) for each in planted_people.MEANING),
    *(Bug(*each) for each in planted_adapters.MEANING),
    *(Bug(*each) for each in planted_host.MEANING),
    *(Bug(*each) for each in planted_world.MEANING),
    *(Bug(*each) for each in planted_kinds.MEANING),
    *(Bug(*each) for each in planted_loading.MEANING),
    *(Bug(*each) for each in planted_log.MEANING),
    *(Bug(*each) for each in planted_risk.MEANING),
    *(Bug(*each) for each in planted_inventory.MEANING),
    *(Bug(*each) for each in planted_confirm.MEANING),
    Bug(
        "a precedence demands a call",
        "patterns/safety.py",
        (
            "return before(then, [first], "
            "earlier(known, within, f.disj(*dependent_calls(then, first))))"
        ),
        "return whenever(then, earlier(known)) & f.Eventually(calls_of_any(first))",
    ),
    Bug(
        "a range is for all tools",
        "patterns/arguments.py",
        'having(tool, field, Custom("arg_between", (field, min, max)))',
        '__import__("sponsio_like.logic.formula").formula'
        '.Always(Custom("arg_between", (field, min, max)))',
    ),
    Bug(
        "strange characters end in a traceback",
        "contracts/yaml_document.py",
        "except (yaml.YAMLError, UnicodeEncodeError) as error:",
        "except ZeroDivisionError as error:",
    ),
    Bug(
        "the last expressions are not looked for",
        "events/argument_atoms.py",
        "for group in groups for search",
        "for group in groups[:1] for search",
    ),
)
