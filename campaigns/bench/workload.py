"""The workload: a policy of 35 contracts over 12 tools, and a seeded trace of calls, as plain data.

Only the standard library is used here, so that any engine can be given the same, in an
environment of its own. The policy is one that users of several engines would write; a contract is
`(pattern, *arguments)`.
"""

from __future__ import annotations

import itertools
import random
from typing import Any

Row = tuple[Any, ...]
Call = tuple[str, dict[str, Any]]

BY_THREES = "one after another, a third of the time of three"
"""The calls with which those in parallel are compared."""
TOOLS = [
    "search",
    "read_file",
    "write_file",
    "run_sql",
    "http_get",
    "send_email",
    "check_policy",
    "verify_identity",
    "approve_refund",
    "issue_refund",
    "deploy",
    "bash",
]
WEIGHTS = [22, 18, 10, 12, 10, 8, 5, 5, 3, 3, 1, 3]

POLICY: list[Row] = [
    ("must_precede", "check_policy", "issue_refund"),
    ("must_precede", "verify_identity", "issue_refund"),
    ("must_precede", "verify_identity", "approve_refund"),
    ("must_precede", "read_file", "write_file"),
    ("rate_limit", "issue_refund", 2000),
    ("rate_limit", "send_email", 5000),
    ("rate_limit", "deploy", 200),
    ("rate_limit", "run_sql", 20000),
    ("bounded_retry", "http_get", 40000),
    ("idempotent", "drop_database"),
    ("arg_blacklist", "bash", "command", [r"rm\s+-[rf]+", r"\bsudo\b", r"curl[^|]*\|\s*(ba)?sh"]),
    ("arg_blacklist", "run_sql", "query", [r"(?i)\bdrop\b", r"(?i)\btruncate\b", r"(?i)\balter\b"]),
    ("arg_blacklist", "http_get", "url", [r"169\.254\.169\.254", "(?i)localhost", "(?i)file://"]),
    ("arg_blacklist", "send_email", "body", [r"\b\d{3}-\d{2}-\d{4}\b", "sk-[A-Za-z0-9]{20,}"]),
    ("arg_allowlist", "send_email", "to", [r"@example\.com$", r"@corp\.example$"]),
    ("arg_length_limit", "bash", "command", 500),
    ("arg_length_limit", "run_sql", "query", 2000),
    ("arg_value_range", "issue_refund", "amount", None, 500),
    ("arg_value_range", "approve_refund", "amount", None, 5000),
    ("scope_limit", "read_file", ["/workspace", "/tmp"]),  # noqa: S108  nothing is written there
    ("scope_limit", "write_file", ["/workspace"]),
    ("cooldown", "deploy", 3),
    ("cooldown", "approve_refund", 2),
    ("no_reversal", "close_case", "issue_refund"),
    ("no_reversal", "freeze_account", "send_email"),
    ("mutual_exclusion", "approve_loan", "reject_loan"),
    ("mutual_exclusion", "review_pr", "merge_pr"),
    ("loop_detection", "search", 8),
    ("loop_detection", "bash", 6),
    ("always_followed_by", "issue_refund", "send_email"),
    ("always_followed_by", "deploy", "http_get"),
    ("approval_freshness", "approve_refund", "issue_refund", 60),
    ("sanitized_before_sink", "web_fetch", "sanitize", "send_email"),
    ("duplicate_call_limit", "search", "zz-rare-query", 3),
    ("tool_allowlist", TOOLS),
]

WITHOUT_PATHS = [row for row in POLICY if row[0] != "scope_limit"]
"""The policy without its two contracts about where paths lead."""

PAIRS = {
    "must_precede",
    "no_reversal",
    "mutual_exclusion",
    "always_followed_by",
    "approval_freshness",
}

FIRST = ("alpha", "beta", "gamma", "delta", "report", "invoice")
WORDS = [*FIRST, "refund", "order", "customer", "status", "weekly", "sync"]

TEMPLATES: list[Row] = [
    *(("must_precede", a, b) for a, b in itertools.pairwise(TOOLS)),
    *(("at_most_n_times", tool, 100_000) for tool in TOOLS),
    *(("never_after", tool, "close_case") for tool in TOOLS[:5]),
    ("cannot_follow_without", "issue_refund", "verify_identity"),
    ("cannot_follow_without", "write_file", "read_file"),
    ("mutually_exclusive", "approve_loan", "reject_loan"),
    ("mutually_exclusive", "review_pr", "merge_pr"),
    ("at_most_total", "issue_refund", "amount", 10_000_000),
    ("at_most_total", "approve_refund", "amount", 10_000_000),
    ("rate_limit", "deploy", 1_000, 3_600.0),
]
"""35 contracts of the eight kinds that the smallest rival has; `must_precede` orders the tools."""


def trace(n: int, seed: int = 7) -> list[Call]:
    """Return so many calls; the same seed makes the same ones."""
    dice = random.Random(seed)  # noqa: S311  a workload is no secret
    out: list[Call] = [
        ("verify_identity", {"customer": "c1"}),
        ("check_policy", {"customer": "c1"}),
        ("read_file", {"path": "/workspace/README.md"}),
    ]
    while len(out) < n:
        tool = dice.choices(TOOLS, WEIGHTS)[0]
        out.append((tool, _arguments(tool, " ".join(dice.choices(WORDS, k=6)), dice)))
    return out


def _arguments(tool: str, said: str, dice: random.Random) -> dict[str, Any]:
    match tool:
        case "search":
            return {"q": said, "limit": dice.randint(1, 50)}
        case "read_file":
            return {"path": f"/workspace/src/{dice.choice(WORDS)}_{dice.randint(0, 99)}.py"}
        case "write_file":
            return {"path": f"/workspace/out/{dice.choice(WORDS)}.md", "content": said * 4}
        case "run_sql":
            query = "SELECT id, total FROM orders WHERE customer = {} LIMIT 50"
            return {"query": query.format(dice.randint(1, 9999))}
        case "http_get":
            path = f"{dice.choice(WORDS)}/{dice.randint(1, 999)}"
            return {"url": f"https://api.example.com/v1/{path}"}
        case "send_email":
            to = f"user{dice.randint(1, 99)}@example.com"
            return {"to": to, "subject": said, "body": said * 5}
        case "issue_refund" | "approve_refund":
            return {"order": dice.randint(1, 9999), "amount": dice.randint(1, 450)}
        case "deploy":
            return {"env": "staging", "sha": f"{dice.getrandbits(64):x}"}
        case "bash":
            line = f"grep -n {dice.choice(WORDS)} -r src | head -{dice.randint(1, 40)}"
            return {"command": line}
    return {"customer": f"c{dice.randint(1, 99)}"}


def policy(n: int, *, same_tools: bool = False) -> list[Row]:
    """Return so many contracts: the policy, then copies about other tools, or about the same."""
    if n <= len(POLICY):
        return [POLICY[int(i * len(POLICY) / n)] for i in range(n)]
    out, k = list(POLICY), 0
    while len(out) < n:
        k += 1
        rows = [row for row in POLICY if row[0] != "tool_allowlist"]
        out += [_copy(row, k, same_tools=same_tools) for row in rows][: n - len(out)]
    return out


def _copy(row: Row, k: int, *, same_tools: bool) -> Row:
    name, first, *rest = row
    if not same_tools:
        first = f"{first}_{k}"
        if name in PAIRS:
            rest[0] = f"{rest[0]}_{k}"
        elif name == "sanitized_before_sink":
            rest = [f"{each}_{k}" for each in rest]
    if name == "arg_blacklist":
        rest[1] = [f"{pattern}#{k}" for pattern in rest[1]]  # distinct; these never match
    elif name in ("rate_limit", "bounded_retry", "loop_detection"):
        rest[0] += k
    return name, first, *rest
