"""Bugs against the patterns of values.

In: nothing. Out: `MEANING`: name, file, what stands there, what is put there instead
(`tests/planted/planted_meaning.py`).
"""

from __future__ import annotations

VALUES = "patterns/values.py"

MEANING = (
    (
        "what is optional is required",
        "contracts/blocks.py",
        "whenever(may, free | then)",
        "whenever(may, then)",
    ),
    (
        "another tool is a duplicate",
        "patterns/identity.py",
        'by = ("@tool", *fields) if several else fields',
        "by = fields",
    ),
    ("what must not be has to be", VALUES, "f.Always(~match)", "f.Always(match)"),
    (
        "what is required comes two events before",
        VALUES,
        ">> earlier(requires, within, match)",
        ">> earlier(f.Yesterday(requires), within, match)",
    ),
    ("answers come at once", VALUES, "f.Next(f.Eventually(by))", "f.Next(by)"),
    ("answers may take one event more", VALUES, "f.Steps(within - 1)", "f.Steps(within)"),
    (
        "what is resolved comes again",
        VALUES,
        "f.Eventually(by | match)",
        "f.Eventually(match)",
    ),
    ("releases are forgotten", VALUES, "f.Since(~release, trigger)", "f.Once(trigger)"),
    (
        "only whole answers are sources",
        VALUES,
        'f.OutputIs("", "has", value)',
        'f.OutputIs("", "=", value)',
    ),
    ("any message will do", VALUES, "f.Yesterday(said)", "f.Yesterday(f.Once(said))"),
    ("one failure more", VALUES, "failures < limit", "failures <= limit"),
    (
        "values that are not bound stand still",
        "engine/per_value.py",
        "for state in store.states(but, woken_by=woken_by):",
        "for state in list[ClauseState]():",
    ),
    (
        "the value is not named",
        "engine/ledger.py",
        "() if key is None else bindings.said(key)",
        "()",
    ),
    (
        "text is not compared as text",
        "monitor/parametric/variables.py",
        'if op in ("has", "matches", "carries"):',
        'if op == "carries":',
    ),
    (
        "a call without the field matches",
        "monitor/parametric/lookup.py",
        "return None if strict and op in BINDING else False",
        "return None if op in BINDING else False",
    ),
    (
        "one element is enough",
        "monitor/parametric/atoms.py",
        "set(found.values)",
        "set(list(found.values)[:1])",
    ),
    (
        "outputs bind nothing",
        "monitor/parametric/atoms.py",
        "return zip(found.values) if one else iter(())",
        "return iter(())",
    ),
    (
        "parts of words are words",
        "values/tokens.py",
        'found.update(word_tokens(" ".join([each for each in words if not is_one(each)])))',
        'found.update(re.findall(r"\\w+", text))',
    ),
    ("codes are nothing without their blanks", "values/tokens.py", "(code, joined)", "(code,)"),
    (
        "unequal values are equal",
        "monitor/parametric/lookup.py",
        "return bool(found != value)",
        "return False",
    ),
    ("percent signs hide a value", "values/leaks.py", "(text, unquote(text))", "(text,)"),
    ("numbers are what their groups are", "values/leaks.py", "JOINED = 7", "JOINED = 70"),
    (
        "every number identifies",
        "values/leaks.py",
        "len(digits) >= least and not COMMON.fullmatch(number)",
        "bool(digits)",
    ),
    (
        "fields that are asked for are not looked at",
        "values/leaks.py",
        "if fields and structured else [(data, False)]",
        "if False else [(data, False)]",
    ),
    (
        "names of fields deliver nothing",
        "values/leaks.py",
        "(name is not None or not NAMED.fullmatch(each))",
        "name is not None",
    ),
    ("advice says what leaks", "advice/withheld.py", 'op == "carries"', 'op == "<"'),
    ("a passage is longer than it is", "values/leaks.py", "RUN = 5", "RUN = 7"),
    (
        "prohibitions are forgotten",
        "monitor/parametric/store.py",
        "one == two or (one is True and two is False) for one, two in pairs",
        "one is not None for one, two in pairs",
    ),
    (
        "blindness is told every time",
        "engine/judgement.py",
        "found.full and not (store.blind and ledger.policy.observes(i))",
        "found.full",
    ),
    (
        "values are kept for ever",
        "monitor/parametric/store.py",
        "if state == self.rest.state and not (self.texts and self._in_texts(key)):",
        "if False:",
    ),
    (
        "values that never occur may violate",
        "checks/ranges.py",
        "if unseen and _breaks(clause, _with_unbound(clause.rule.formula, unseen)):",
        "if False:",
    ),
    ("what changed is not remembered", "replay/witness.py", "if old != new:", "if False:"),
    (
        "answers are tied to no call",
        "monitor/parametric/result_bindings.py",
        "known = dict(part)",
        "known = dict(part[1:])",
    ),
    (
        "what is missing may be anything",
        "events/condition_tests.py",
        "    if place is ABSENT:\n        return False\n",
        "    if place is ABSENT:\n        return None\n",
    ),
    (
        "blanks make another value",
        "events/relations.py",
        "left.strip() == right.strip() else False",
        "left == right else False",
    ),
    (
        "heaps of marks are compared as they are",
        "values/canonical_form.py",
        '    if heaps_marks(text):\n        raise NotCanonical("too many marks in a row")\n',
        "    if heaps_marks(text):\n        return text\n",
    ),
    (
        "nothing is required of calls that precedence matches",
        "contracts/blocks.py",
        "globs=some, strict=True)",
        "globs=some)",
    ),
    (
        "what a regular expression leaves is let alone",
        "monitor/parametric/lookup.py",
        'op == "matches" and not all(read)',
        "False",
    ),
    (
        "any of several values vouches",
        "monitor/parametric/lookup.py",
        "return None if found.mixed or (every and found.unclear) else True",
        "return True",
    ),
    (
        "only answers that are texts are searched",
        "events/condition_tests.py",
        "            stack.extend(value.values())\n",
        "            continue\n",
    ),
    (
        "digits are ordered as text",
        "monitor/parametric/lookup.py",
        "return compare(one, op, other)",
        "return compare(left, op, right)",
    ),
    (
        "a null makes another call",
        "values/places.py",
        "some = any(value is None for value in args.values())",
        "some = False",
    ),
    (
        "digits in quotes are words",
        "events/relations.py",
        "if PLAIN.fullmatch(one) and PLAIN.fullmatch(other):",
        "if False:",
    ),
    (
        "nothing is said of what could not be read",
        "engine/unread.py",
        "        if _why(call.args, path):\n",
        "        if False:\n",
    ),
)
