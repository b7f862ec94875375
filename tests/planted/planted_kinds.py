"""Bugs against kinds of text.

In: nothing. Out: `MEANING`: name, file, what stands there, what is put there instead
(`tests/planted/planted_meaning.py`). The requirements that they break are in
`tests/semantics/manifest_kinds.py`. `FOUND`: bugs of detectors, with the test that has to notice
(`tests/planted/planted.py`).
"""

from __future__ import annotations

MEANING = (
    (
        "the first statement is all there is",
        "kinds/sql.py",
        "    for node in nodes:\n        if node is not None",
        "    for node in nodes[:1]:\n        if node is not None",
    ),
    (
        "any two kinds agree",
        "contracts/field_kinds.py",
        "if _is_of(other, one) or not (",
        "if other or not (",
    ),
    (
        "days are moments",
        "kinds/date.py",
        'begin if ":" in text else begin + DAY - 1',
        "begin",
    ),
    (
        "three digits are places",
        "kinds/money.py",
        "if mark and len(places) == 3 and whole",
        "if mark and len(places) == 9 and whole",
    ),
    (
        "only disks are destroyed",
        "patterns/texts.py",
        '"matches", ".")',
        '"matches", "disk")',
    ),
    (
        "any redirection takes the output away",
        "kinds/shell_output.py",
        'at_home = at_home and source != "1"',
        "at_home = False",
    ),
    (
        "money is compared as a number",
        "contracts/typed_fields.py",
        'if kind.name != "money":',
        "if True:",
    ),
    (
        "folders are prefixes",
        "values/paths.py",
        """place.startswith(tuple([f"{each.rstrip('/')}/" for each in folders]))""",
        "place.startswith(tuple([each for each in folders]))",
    ),
    (
        "hosts are suffixes",
        "events/text_atoms.py",
        "return host in exact or ",
        "return host.endswith(tuple(exact)) or host.startswith(tuple(exact)) or ",
    ),
    (
        "any call is such a call",
        "patterns/texts.py",
        "return whenever(bare, calls_of_any(call))",
        "return whenever(bare, calls_of_any(bare))",
    ),
    (
        "a fact is one value",
        "values/places.py",
        "return Many(values, each=True)",
        "return Many(values[:1], each=True)",
    ),
    (
        "what is unknown is left out",
        "values/text_kinds.py",
        "return (UNREADABLE,) if facts is None else facts.get(fact, (UNREADABLE,))",
        "return () if facts is None else tuple(x for x in facts[fact] if x is not UNREADABLE)",
    ),
    (
        "a list is no command",
        "values/text_kinds.py",
        "return self.of_words(tuple(value))",
        "return self.read(value[0])",
    ),
    (
        "any fact exists",
        "contracts/typed_fields.py",
        "if not fact or fact[0] not in kind.names:",
        "if not fact:",
    ),
    (
        "escapes stay escapes",
        "values/paths.py",
        "for _ in range(DECODINGS):",
        "for _ in range(0):",
    ),
    (
        "what is seen is not what is read",
        "kinds/seen_text.py",
        'if "%" not in text and all(',
        "if True or all(",
    ),
    (
        "only means some",
        "contracts/typed_fields.py",
        '{"every": among} if many else among',
        "among",
    ),
)
TABLE = "tests/kinds/test_found_texts.py::test_what_is_personal_or_secret_is_found"
COUNTED = "tests/kinds/test_caps.py::test_what_one_decision_reads_of_texts_is_counted"
HIDDEN = "tests/kinds/test_shell_hidden.py::test_what_is_hidden_is_found_or_unknown"
NEAR = "tests/kinds/test_found_texts.py::test_what_only_looks_like_it_is_not"
VALUES = "tests/kinds/test_plain_values.py"
EMPTIED = "tests/kinds/test_shell_emptied.py"
QUERIES = "tests/kinds/test_sql.py"
FOUND = (
    (
        "a day of the week is not compared",
        "kinds/date.py",
        "if read is None or (said and not _is_day(said, read)):",
        "if read is None:",
        f"{VALUES}::test_a_date_with_two_readings_is_unknown[Tue, 23 Nov 2026]",
    ),
    (
        "a sign of several currencies is that of one",
        "kinds/money.py",
        "currency = SIGNS.get(written) or ",
        'currency = SIGNS.get(written) or ("USD" if written == "$" else None) or ',
        f"{VALUES}::test_an_amount_is_exact_and_has_its_currency[$1,234]",
    ),
    (
        "blanks are part of a name",
        "kinds/ident.py",
        '"".join(folded(text).split())',
        "folded(text)",
        f"{VALUES}::test_a_name_has_a_plain_form[ORD 17-ord17]",
    ),
    (
        "a file that is emptied is written alone",
        "kinds/shell_output.py",
        'if said == "":',
        'if said == "nothing":',
        f"{EMPTIED}::test_a_file_of_which_nothing_is_left_is_deleted[: > a]",
    ),
    (
        "a link that a text makes leads nowhere",
        "kinds/shell_state.py",
        "if self.links and is_known(path):",
        "if not self.links and is_known(path):",
        (
            f"{EMPTIED}::test_a_link_that_the_text_makes_is_followed"
            "[ln -s /etc . && cat etc/passwd-reads-/etc/passwd]"
        ),
    ),
    (
        "a bare name is compared with whole ones",
        "contracts/typed_fields.py",
        'if isinstance(each, str) and "." not in each:',
        'if isinstance(each, str) and "." in each:',
        (
            f"{QUERIES}::test_a_formula_that_compares_whole_names_with_a_bare_one_does_not_load"
            "[reads-in [users]-read_names[]]"
        ),
    ),
    (
        "words are no addresses",
        "kinds/personal.py",
        'if match["word"] and not (match["dot"] and COMMON.fullmatch(top)):',
        'if match["word"]:',
        f"{TABLE}[email-ann at corp dot com]",
    ),
    (
        "numbers are phones by their length",
        "kinds/personal.py",
        'strict = match["sign"] == "00" or _opens_line(text, match.start())',
        "strict = False",
        f"{NEAR}[+1234567 of a patch\\n+12345678\\n-12345678]",
    ),
    (
        "any number is a card",
        "kinds/personal.py",
        'return (sum(digits.encode()) - ord("0") * len(digits)) % 10 == 0',
        "return True",
        f"{NEAR}[4111 1111 1111 1112]",
    ),
    (
        "accounts may be longer than those of their country",
        "kinds/personal.py",
        "{{{length}}}",
        "{{{length},30}}",
        f"{TABLE}[iban-de89 3704 0044 0532 0130 00 please]",
    ),
    (
        "numbers that were never given out",
        "kinds/personal.py",
        'if _passes("us.ssn", number):',
        "if number:",
        f"{NEAR}[666-12-3456]",
    ),
    (
        "national numbers have no check digits",
        "kinds/personal.py",
        "if match and (not module or ",
        "if match and (True or ",
        f"{NEAR}[390.533.447-06]",
    ),
    (
        "words behind which numbers stand are left out",
        "kinds/personal.py",
        "        if _passes(word.module, number):",
        "        if word.module == number:",
        f"{TABLE}[national-BSN: 111222333]",
    ),
    (
        "escapes of URLs hide numbers",
        "kinds/seen_text.py",
        'if "%" in text else ():',
        "if False else ():",
        "tests/kinds/test_disguises.py::test_numbers_in_disguise",
    ),
    (
        "domains have one reader",
        "kinds/email.py",
        "if READ_APART.search(bare):",
        "if len(bare) > LONGEST:",
        "tests/kinds/test_disguises.py::test_domains_in_disguise",
    ),
    (
        "the advice of dates has moments, and no days",
        "advice/advice.py",
        "_day(now - last)",
        "_day(now)",
        "tests/kinds/test_disguises.py::test_the_advice_says_which_dates_are_allowed",
    ),
    (
        "prefixes are keys",
        "kinds/secret.py",
        "random = entropy(match[0][-20:]) >= LEAST_ENTROPY",
        "random = True",
        f"{NEAR}[ghp_{'x' * 36}]",
    ),
    (
        "keys of one service are not looked for",
        "kinds/secret.py",
        '("AKIA", "ASIA"), ',
        '("AKIA",), ',
        f"{TABLE}[aws_key-id=ASIAQWERTY2345ZXCVBN]",
    ),
    (
        "a private key needs its end",
        "kinds/secret.py",
        '{0,40}-----)?"',
        '{0,40}-----)"',
        f"{TABLE}[private_key-{'-' * 5}BEGIN RSA PRIVATE KEY-----\\nMIIE]",
    ),
    (
        "any three parts are a token",
        "kinds/secret.py",
        'if isinstance(header, dict) and "alg" in header:',
        "if header:",
        "tests/kinds/test_found_texts.py::test_a_token_has_a_header",
    ),
    (
        "variables are passwords",
        "kinds/secret.py",
        "if _is_chosen(value) and not STAND_IN.search(value):",
        "if _is_chosen(value):",
        f"{NEAR}[api_key=your-api-key-123]",
    ),
    (
        "a limit of money is one of numbers",
        "contracts/typed_fields.py",
        'if known is None or known[1].name != "money":',
        "if True:",
        "tests/kinds/test_typed_fields.py::test_numbers_are_compared_with_the_amount_of_money",
    ),
    (
        "a formula may compare money as a number",
        "checks/kinds.py",
        'if "a number" in _wanted(each):',
        "if False:",
        "tests/kinds/test_typed_fields.py::test_a_formula_says_that_it_compares_the_amount",
    ),
    (
        "the currency of a limit is passed over",
        "contracts/sentences.py",
        "if said.currency and asks_an_amount(rule.formula):",
        "if False:",
        (
            "tests/sentences/test_sentences.py::test_a_sentence_means_what_is_expected_or_is_refused"
            "[the `amount` of `pay` must be at most 100 EUR]"
        ),
    ),
    (
        "a line that goes on ends a word",
        "kinds/shell.py",
        'joined(raw, _tree) if b"\\\\\\n" in raw else (raw, _tree(raw))',
        "(raw, _tree(raw))",
        "tests/kinds/test_shell_hidden.py::test_lines_are_joined_as_bash_joins_them",
    ),
    (
        "a subscript runs nothing",
        "kinds/shell.py",
        "for node in left_out(root, raw, state.followed, state.called):",
        "for node in ():",
        f"{HIDDEN}[echo ${{a[$(rm x)]}}]",
    ),
    (
        "a quoted subscript runs nothing",
        "kinds/shell_commands.py",
        "if base in NAMING and any(map(SUBSCRIPT.search, args)):",
        "if False:",
        f"{HIDDEN}[let 'a[$(rm x)]=1']",
    ),
    (
        "a pattern runs nothing",
        "kinds/shell_words.py",
        "if _hides(node, inner):",
        "if False:",
        f"{HIDDEN}[a=b; echo ${{a#$(rm x)}}]",
    ),
    (
        "reading a text by its kind costs as much as any character",
        "values/text_kinds.py",
        "spend(len(text) * self.steps)",
        "spend(len(text))",
        COUNTED,
    ),
    (
        "a lane reads long texts by their kinds, and counts nothing",
        "engine/fastpath/letter.py",
        "each.op in SEARCHING or _is_of_kind(each.path)",
        "each.op in SEARCHING",
        COUNTED,
    ),
    (
        "no query has too many tokens",
        "kinds/sql_parser.py",
        'if len(few) + INDEX * text.count("[") > most:',
        "if False:",
        "tests/kinds/test_reading_cost.py::test_a_query_of_more_than_so_many_tokens_is_not_parsed[1+]",
    ),
)
