"""Bugs against the reading of sentences, for `tests/planted/planted.py`.

In: nothing. Out: `BUGS`: name, file, what stands there, what is put there, the test that notices.
(Arguments that are exchanged in a phrasing are tried for every phrasing, in
`tests/sentences/test_phrasings.py`.)
"""

from __future__ import annotations

TABLE = "tests/sentences/test_sentences.py::test_a_sentence_means_what_is_expected_or_is_refused"
PHRASES = "tests/contracts/test_phrases.py::test_"

BUGS = [
    (
        "before is after",
        "contracts/demands.py",
        'return (was if how == "after" else ~was), f"{how} {phrase(what)}"',
        'return was, f"{how} {phrase(what)}"',
        TABLE,
    ),
    (
        "unless is if",
        "contracts/demands.py",
        'return ~read, f"unless {condition_words(what)}"',
        'return read, f"unless {condition_words(what)}"',
        TABLE,
    ),
    (
        "a fact that is not so is so",
        "contracts/prose/trees.py",
        'return found if tree.data == "ctx_is" else ["not", found]',
        "return found",
        TABLE,
    ),
    (
        "what was never called was called",
        "contracts/prose/trees.py",
        'return ["not", [tree.data[4:], self.tools(parts[0])]]',
        "return [tree.data[4:], self.tools(parts[0])]",
        f"{PHRASES}an_assumption_may_be_a_sentence",
    ),
    (
        "any condition will do",
        "contracts/circumstances.py",
        "return f.conj(*(condition_formula(each, words) for each in parts))",
        "return f.disj(*(condition_formula(each, words) for each in parts))",
        TABLE,
    ),
    (
        "fewer than 5 is 5",
        "contracts/prose/trees.py",
        'return self.number(inner) - 1 if tree.data == "below" else self.count(inner)',
        'return self.number(inner) if tree.data == "below" else self.count(inner)',
        TABLE,
    ),
    (
        "at least and at most are one",
        "contracts/prose/trees.py",
        'value if sign == "is" else {sign: value}}}]',
        'value if sign == "is" else {"le": value}}}]',
        f"{PHRASES}an_assumption_may_be_a_sentence",
    ),
    (
        "the rest of a number is lost",
        "contracts/prose/numbers.py",
        "total, part, room, least = total + part, 0, 1_000, scale",
        "total, part, room, least = part, 0, 1_000, scale",
        TABLE,
    ),
    (
        "thousands are lost",
        "contracts/prose/numbers.py",
        'digits = found[1] + found[2].replace(",", "")',
        'digits = found[1] + found[2].partition(",")[0]',
        TABLE,
    ),
    (
        "a sign is lost",
        "contracts/prose/numbers.py",
        'digits = found[1] + found[2].replace(",", "")',
        'digits = found[2].replace(",", "")',
        TABLE,
    ),
    (
        "minutes are seconds",
        "contracts/prose/numbers.py",
        "return number * _SECONDS[word[0]]",
        "return number",
        TABLE,
    ),
    (
        "of several tools the first counts",
        "contracts/prose/trees.py",
        "tool: Any = found if len(found) > 1 else found[0]",
        "tool: Any = found[0]",
        TABLE,
    ),
    (
        "tests of arguments are lost",
        "contracts/prose/trees.py",
        'return tool if tests is None else {"tool": tool, "args": self._tests(tests)}',
        "return tool",
        TABLE,
    ),
    (
        "any bare word is a tool",
        "contracts/prose/trees.py",
        "if governed or SHAPE.fullmatch(token):",
        "if True:",
        TABLE,
    ),
    (
        "the plural of a field is a field, where the tool is in the plural",
        "contracts/prose/trees.py",
        "                _check_singular(field)  #",
        "                pass  #",
        TABLE,
    ),
    (
        "never one or the other twice: both together",
        "contracts/prose/trees.py",
        'if isinstance(found["tool"] if isinstance(found, dict) else found, list):',
        "if False:",
        TABLE,
    ),
    (
        "of two meanings the first is taken",
        "contracts/sentences.py",
        "    if len(found) > 1:\n        raise _two",
        "    if len(found) > 9:\n        raise _two",
        TABLE,
    ),
    (
        "a sentence is understood without its end",
        "contracts/prose/forest.py",
        "_Search(grammar, whole).parts(start, 0, len(whole))",
        "_Search(grammar, whole).parts(start, 0, max(_Search(grammar, whole).reach(start, 0)))",
        TABLE,
    ),
    (
        "a list ends after its first word",
        "contracts/prose/forest.py",
        "        for end in ends:  # grows as it runs\n",
        "        for end in ():\n",
        TABLE,
    ),
    (
        "the first way to read a word is the only one",
        "contracts/prose/forest.py",
        "for each, *_ in self.expansions(symbol):\n            for children",
        "for each, *_ in self.expansions(symbol)[:1]:\n            for children",
        TABLE,
    ),
    (
        "apostrophes are what they look like",
        "contracts/prose/signs.py",
        "parts[::2] = [each.translate(SIGNS) for each in parts[::2]]",
        "pass",
        TABLE,
    ),
    (
        "quoted words are respelled",
        "contracts/prose/signs.py",
        "parts = KEPT.split(sentence)",
        "parts = [sentence]",
        TABLE,
    ),
    (
        "the opposite is offered",
        "contracts/prose/likeness.py",
        "if alike and sum(each in NEGATIONS for each in theirs) == denied:",
        "if alike:",
        "tests/sentences/test_sentences.py::test_a_refusal_never_offers_the_opposite",
    ),
]
