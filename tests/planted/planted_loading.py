"""Bugs against what loading refuses, and what it warns of.

In: nothing. Out: `MEANING`: name, file, what stands there, what is put there instead
(`tests/planted/planted_meaning.py`). The requirements that they break are in
`tests/semantics/manifest_loading.py`.
"""

from __future__ import annotations

MEANING = (
    (
        "every two contracts get on",
        "checks/together.py",
        "if kept is False:",
        "if False:",
    ),
    (
        "what is said to keep may break",
        "replay/examples.py",
        "for texts, kept in ((pattern.keeps, True), (pattern.breaks, False)):",
        "for texts, kept in ((pattern.breaks, False),):",
    ),
    (
        "a text imports",
        "contracts/imports.py",
        "if folder is None and name not in sys.modules:",
        "if folder is None and not name:",
    ),
    (
        "tests observe",
        "replay/testing/run.py",
        'replace(each, mode="enforce", share=1.0)',
        'replace(each, mode="observe", share=1.0)',
    ),
    (
        "a test of nothing passes",
        "replay/testing/coverage.py",
        "if len(unnamed) == len(tools) and name not in reached:",
        "if not name:",
    ),
    (
        "an override may match nothing",
        "contracts/overrides.py",
        "if not meant:",
        "if False:",
    ),
    (
        "any variable is read",
        "contracts/parameter_section.py",
        "if name not in known:",
        "if name not in os.environ:",
    ),
    (
        "included tools are unknown",
        "contracts/loader.py",
        "tools = _joined(tools or {}, read, piece, problems)",
        "tools = read",
    ),
    (
        "first positions are all there are",
        "contracts/guarantees.py",
        "said = (*_first_only(formula), *_from_the_call_before(nodes),",
        "said = (*_from_the_call_before(nodes),",
    ),
    (
        "seconds from the call before are meant",
        "contracts/guarantees.py",
        "said = (*_first_only(formula), *_from_the_call_before(nodes),",
        "said = (*_first_only(formula),",
    ),
    (
        "every strong next is meant",
        "contracts/guarantees.py",
        "if _holds_without_events(node.body, True):",
        "if False:",
    ),
    (
        "nobody is warned",
        "guard/guard.py",
        "for each in policy.warnings:",
        "for each in ():",
    ),
    (
        "every order can be kept",
        "checks/orders.py",
        "if name in possible or name in told",
        "if name or name in told",
    ),
    (
        "no pen slips",
        "contracts/slips.py",
        "refuse(_mistakes(root, tools))",
        "refuse([])",
    ),
    ("every dot is meant", "contracts/slips.py", "if written != pattern:", "if False:"),
    (
        "words hide meaning",
        "contracts/loader.py",
        "if judge is not None and file is not None and not together.wordless:",
        "if False:",
    ),
    (
        "many in flight may be anything",
        "monitor/branches.py",
        "if steps > STEPS_CAP:",
        "if len(flying) > 5:",
    ),
    (
        "any number of atoms loads",
        "contracts/guarantees.py",
        "if atoms > ATOMS_CAP or len(nodes) > NODES_CAP:",
        "if False:",
    ),
    (
        "one tool is read",
        "explain.py",
        "except ContractError:\n            continue",
        "except ContractError:\n            return sentence",
    ),
    (
        "initially is for ever",
        "logic/operators.py",
        "f.Not(f.Yesterday(f.TRUE)) >> ",
        "f.Not(f.FALSE) >> ",
    ),
    (
        "what is asked for waits for itself",
        "contracts/blocks.py",
        "    if not free:\n        return (Happens(what, tools),)",
        "    if True:\n        return (Happens(what, tools),)",
    ),
    (
        "kinds are not compared",
        "checks/kinds.py",
        "return found.pop() if len(found) == 1 else None",
        "return None",
    ),
)
