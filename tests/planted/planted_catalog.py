"""Bugs against the rest of the catalog, and against the terms that its formulas need.

In: nothing. Out: `MEANING`: name, file, what stands there, what is put there instead
(`tests/planted/planted_meaning.py`); `TERMS`: the same with the test that has to notice
(`tests/planted/planted.py`).
"""

from __future__ import annotations

MEANING = (
    (
        "amounts may be negative",
        "patterns/arguments.py",
        'sums & Custom("arg_between", (field, 0, None))',
        'sums & Custom("arg_between", (field, None, None))',
    ),
    (
        "what has failed is the reference",
        "patterns/arguments.py",
        "put, value = counted_calls(tool, counts), Mark(field)",
        'put, value = counted_calls(tool, "called"), Mark(field)',
    ),
    (
        "any answer opens the gate",
        "patterns/agentic.py",
        "_gated(source, confirmed(gate, accept, counts), ",
        "_gated(source, worked(gate, counts), ",
    ),
    (
        "any answer confirms what came in",
        "patterns/agentic.py",
        "_gated(source, confirmed(by, accept, counts), ",
        "_gated(source, worked(by, counts), ",
    ),
    (
        "sanitizers may fail",
        "patterns/agentic.py",
        "return _gated(source, worked(sanitizer, counts), ",
        'return _gated(source, worked(sanitizer, "calls_of_any"), ',
    ),
    (
        "what failed has done nothing",
        "patterns/agentic.py",
        "Count(counted_calls(action, counts)) <= 1",
        'Count(counted_calls(action, "done")) <= 1',
    ),
    ("the budget may be met", "patterns/resource.py", "Tokens() < limit", "Tokens() <= limit"),
    ("one level deeper", "patterns/resource.py", "Depth() <= limit", "Depth() <= limit + 1"),
    (
        "the other role approves",
        "patterns/approval.py",
        "given = Approved(name, role)",
        'given = Approved(name, role) | Approved(name, "clerk")',
    ),
    (
        "approvals stay fresh for one step more",
        "patterns/approval.py",
        "Steps(max_steps - 1)",
        "Steps(max_steps)",
    ),
    (
        "audits come first",
        "patterns/approval.py",
        ">> Next(Eventually(worked(audit, counts)))",
        ">> Once(worked(audit, counts))",
    ),
    (
        "one backup serves for ever",
        "patterns/approval.py",
        "granted_since_last(worked(backup, counts), action, backup)",
        "Yesterday(Once(worked(backup, counts)))",
    ),
    (
        "dry runs may fail",
        "patterns/approval.py",
        "granted_since_last(worked(dry_run, counts), commit, dry_run)",
        'granted_since_last(worked(dry_run, "called"), commit, dry_run)',
    ),
    (
        "the fact must be another",
        "patterns/identity.py",
        "Ctx(key).is_in(values)",
        "~Ctx(key).is_in(values)",
    ),
    (
        "any text matches",
        "patterns/identity.py",
        "Ctx(key).matches(whole_or_anchored(regex))",
        'Ctx(key).matches("")',
    ),
    (
        "duplicates are one too many",
        "patterns/identity.py",
        "Count(counted_calls(tool, counts)) <= limit",
        "Count(counted_calls(tool, counts)) <= limit + 1",
    ),
    (
        "time may run out",
        "patterns/identity.py",
        "whenever(action, event <= max_seconds)",
        "whenever(action, event <= 2 * max_seconds)",
    ),
    (
        "words are parts of words",
        "patterns/output.py",
        "(?<![^\\W_])(?:{'|'.join(each)})(?![^\\W_])",
        "(?:{'|'.join(each)})",
    ),
    (
        "only mail is personal",
        "patterns/output.py",
        "names = chosen_detectors(kinds)",
        'names = ("email",)',
    ),
    (
        "one word more",
        "patterns/output.py",
        "len(message.text.split()) <= most_words",
        "len(message.text.split()) <= most_words + 1",
    ),
)

AGREES = "tests/reference/test_engine.py::test_the_engine_agrees_with_the_oracle[terms {}]"
TOLD = "tests/reference/test_terms.py::test_what_is_told_and_carried_agrees"
MEANS = (
    "tests/reference/test_predicates.py::test_a_pattern_means_what_its_predicate_says"
    "[approval_active(action=x,role=boss,seconds=3)0]"
)
CAUGHT = "tests/traps/test_attacks_catalog.py"
MISREAD = "tests/traps/test_attacked_answers.py"
LAST = "tests/traps/test_found_last_confirm.py"
REFUSES = "tests/reference/test_predicates.py::test_a_pattern_refuses_what_its_predicate_refuses"
PLACES = "tests/kinds/test_typed_fields.py"
REPORTS = "tests/traps/test_found_last_confirm.py::test_a_report_that_falls_short_is_not"
BESIDE = (
    "tests/traps/test_attacked_answers.py"
    "::test_a_field_that_is_no_yes_and_no_plain_data_confirms_nothing"
)
TERMS = (
    # --- arguments of patterns ------------------------------------------------------------------
    (
        "a limit for each value is one for all",
        "patterns/operational.py",
        "return Rule(few, by=by or (), single=True)",
        "return Rule(few, by=(), single=True)",
        f"{REFUSES}[rate_limit(action=q,limit=2,by=['k'])]",
    ),
    (
        "a call without the value has a limit of its own",
        "patterns/operational.py",
        "return Rule(few, by=by or (), single=True)",
        "return Rule(few, by=by or (), single=False)",
        "tests/patterns/test_patterns.py::test_a_list_at_a_limit_for_each_value_is_refused",
    ),
    (
        "a cooldown after a call is one between calls",
        "patterns/operational.py",
        "most, pausing = (1, action) if after is None else (0, after)",
        "most, pausing = (1, action)",
        f"{REFUSES}[cooldown(action=s,steps=2,after=m)]",
    ),
    (
        "a cooldown for each value is one for all",
        "patterns/operational.py",
        "return Rule(rested, by=by or (), single=True)",
        "return Rule(rested, by=(), single=True)",
        f"{REFUSES}[cooldown(action=s,seconds=3,after=m,by=['k'])]",
    ),
    (
        "what a cooldown is measured from may lack the value",
        "patterns/operational.py",
        "rested = f.conj(rested, *known)",
        "rested = f.conj(rested)",
        f"{REFUSES}[cooldown(action=s,seconds=3,after=m,by=['k'])]",
    ),
    (
        "one agent may do both for no value at all",
        "patterns/compliance.py",
        'by=("@agent", *(same or ()))',
        'by=("@agent",)',
        f"{REFUSES}[segregation_of_duty(first=a,second=b,same=['k'])]",
    ),
    (
        "the place of a path is its text",
        "kinds/file_path.py",
        '"place": unclear if place is None else (place,),',
        '"place": (text,),',
        f"{PLACES}::test_the_place_of_a_path_is_a_key_for_all_its_spellings",
    ),
    (
        "a path that readers take differently has the place of its text",
        "kinds/file_path.py",
        '"place": unclear if place is None else (place,),',
        '"place": (text,) if place is None else (place,),',
        f"{PLACES}::test_the_place_of_a_path_is_a_key_for_all_its_spellings",
    ),
    # --- what is accepted -----------------------------------------------------------------------
    (
        "an exit code in a field is a number like any other",
        "contracts/confirmation.py",
        "elif _says_no(name, data) or _has_exited(name, data) or (",
        "elif _says_no(name, data) or (",
        REPORTS,
    ),
    (
        "an exit code in a text says nothing",
        "contracts/confirmation.py",
        "{FAILED}|{EXITED}|{DELAYED}",
        "{FAILED}|{DELAYED}",
        REPORTS,
    ),
    (
        "none that has passed is some",
        "contracts/confirmation.py",
        "None if number is None else number > 0",
        "None if number is None else number >= 0",
        REPORTS,
    ),
    (
        "tests that are missing are no matter",
        "contracts/confirmation.py",
        "inside += [False] if word.counts and ",
        "inside += [] if word.counts and ",
        REPORTS,
    ),
    (
        "a review is a yes",
        "contracts/confirmation.py",
        "return isinstance(data, Mapping) and is_yes(data, depth)",
        "return isinstance(data, Mapping)",
        BESIDE,
    ),
    (
        "the last value is that of now",
        "monitor/past.py",
        "return (lambda v, x, s, p, t: s[r]), Register(\n                i, MISSING,",
        (
            "return (lambda v, x, s, p, t: v[a] if v[b] else s[r]), Register(\n"
            "                i, MISSING,"
        ),
        AGREES.format(0),
    ),
    (
        "the last value is the first one",
        "monitor/past.py",
        "v, x, s, p, t: kept(v[a]) if v[b] else s[r]",
        "v, x, s, p, t: kept(v[a]) if v[b] and s[r] is MISSING else s[r]",
        "tests/reference/test_terms.py::test_terms_agree_on_longer_traces",
    ),
    (
        "results that are only compared are not counted",
        "engine/policy.py",
        "return [node for slot in slots for node in postorder(slot.node)]",
        "return [slot.node for slot in slots]",
        AGREES.format(0),
    ),
    (
        "results of calls with a doubt are not counted",
        "engine/policy.py",
        "for each, asks in self.sources.items() if asks(call) is not False",
        "for each, asks in self.sources.items() if asks(call)",
        TOLD,
    ),
    (
        "failures bring no content",
        "session/settle.py",
        "inner.context.arrived(flight.sources)",
        "inner.context.arrived(())",
        AGREES.format(0),
    ),
    (
        "a missing argument has no mark",
        "events/atoms.py",
        '[without_nulls(call.args)] if path == "*" else list(reach(call.args, path))',
        '[without_nulls(call.args)] if path == "*" else list(reach(call.args, path))[1:]',
        AGREES.format(1),
    ),
    (
        "a fact is as old as its first telling",
        "events/context.py",
        "told_at={**self.told_at, key: time}",
        "told_at={key: time, **self.told_at}",
        TOLD,
    ),
    (
        "an approval is as old as the oldest",
        "events/context.py",
        "return max(times, default=never)",
        "return min(times, default=never)",
        MEANS,
    ),
    (
        "words are accepted in words",
        "contracts/confirmation.py",
        "plain = PLAIN.fullmatch(text)",
        "plain = None",
        f"{CAUGHT}::test_a_plain_word_is_accepted_as_a_word",
    ),
    (
        "a full stop is any letter",
        "contracts/confirmation.py",
        r"|(?<=\w)\.(?!\S))*",
        ")*",
        "tests/traps/test_found_last_rest.py::test_a_full_stop_after_a_word_is_no_regular_expression",
    ),
    (
        "objects agree",
        "contracts/confirmation.py",
        "return says and not any(",
        "return True or not any(",
        f"{CAUGHT}::test_what_is_not_a_yes_does_not_confirm",
    ),
    (
        "fields of any name are data",
        "contracts/confirmation.py",
        "return not DATA.fullmatch(name) or not _is_data(name, value)",
        "return not _is_data(name, value)",
        f"{MISREAD}::test_a_field_that_is_no_yes_and_no_plain_data_confirms_nothing",
    ),
    (
        "a word is accepted beside a no",
        "contracts/confirmation.py",
        "return False if False in inside else (True in inside or None)",
        "return True in inside or None",
        f"{MISREAD}::test_a_plain_word_is_not_accepted_where_something_says_otherwise",
    ),
    (
        "a word that is left open is meant",
        "contracts/confirmation.py",
        "return not AGAINST.search(beside) and not OPEN.search(beside)",
        "return not AGAINST.search(beside)",
        f"{LAST}::test_a_word_beside_its_opposite_is_not_accepted",
    ),
    (
        "a word that is taken back is meant",
        "contracts/confirmation.py",
        "return not AGAINST.search(beside) and not OPEN.search(beside)",
        "return not OPEN.search(beside)",
        f"{LAST}::test_a_word_beside_its_opposite_is_not_accepted",
    ),
    (
        "answers by hand stay closed",
        "values/plain.py",
        "return freeze(value, most, unwrapped)",
        "return freeze(value, most)",
        f"{LAST}::test_a_yes_of_the_host_s_own_making_is_a_yes",
    ),
    (
        "arguments by hand stay closed",
        "values/plain.py",
        "return freeze_args(args, unwrapped)",
        "return freeze_args(args)",
        f"{LAST}::test_arguments_by_hand_are_compared_as_data",
    ),
    (
        "what is opened is not counted",
        "values/frozen.py",
        "room.values -= not inner",
        "room.values -= 0",
        f"{LAST}::test_what_is_opened_keeps_to_the_bounds",
    ),
    (
        "a sentence is a name",
        "contracts/confirmation.py",
        "return not _says_no(name, value) and not SENTENCE.match(value)",
        "return not _says_no(name, value)",
        f"{LAST}::test_what_is_said_in_a_field_of_data_is_an_objection",
    ),
    (
        "any heap of marks is put in order",
        "values/canonical_form.py",
        '        raise NotCanonical("too many marks in a row")\n',
        "        pass\n",
        f"{CAUGHT}::test_a_heap_of_marks_is_no_response",
    ),
    (
        "capitals of mathematics stay capitals",
        "values/visible_text.py",
        'plain = normal(UNSEEN.sub("", text), "NFKC")\n',
        'plain = UNSEEN.sub("", text)\n',
        f"{CAUGHT}::test_a_word_is_found_in_any_dress",
    ),
    (
        "keys have no length",
        "events/argument_atoms.py",
        "return sum(len(str(key)) for key in value)",
        "return 0",
        f"{CAUGHT}::test_keys_and_numbers_have_a_length",
    ),
)
