"""The lower bound: the policy written by hand, with `if`.

It has no sessions, ids, results, explanations or time, and nobody could add a contract to it.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable
from typing import Any

import re2

Step = Callable[[str, dict[str, Any]], bool]
"""A function that is True if the call is denied."""


def _search(*patterns: str) -> Callable[[bytes], Any]:
    options = re2.Options()
    options.never_capture = True
    return re2.compile("|".join(f"(?:{each})" for each in patterns).encode(), options).search  # type: ignore[no-any-return]


def policy() -> Step:
    """Return a step that enforces the 35 contracts of the workload."""
    unix = _search(r"rm\s+-[rf]+", r"\bsudo\b", r"curl[^|]*\|\s*(ba)?sh")
    sql = _search(r"(?i)\bdrop\b", r"(?i)\btruncate\b", r"(?i)\balter\b")
    url = _search(r"169\.254\.169\.254", "(?i)localhost", "(?i)file://")
    secret = _search(r"\b\d{3}-\d{2}-\d{4}\b", "sk-[A-Za-z0-9]{20,}")
    to = _search(r"@example\.com$", r"@corp\.example$")
    counts: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    last: dict[str, Any] = {}

    def denied(tool: str, args: dict[str, Any]) -> bool:
        match tool:
            case "issue_refund":
                fresh = counts["all"] - last.get("approve_refund", -100) < 60
                ready = counts["check_policy"] and counts["verify_identity"] and fresh
                if not ready or counts[tool] >= 2000 or args["amount"] > 500:
                    return True
            case "approve_refund":
                soon = counts["all"] - last.get(tool, -100) <= 2
                if not counts["verify_identity"] or soon or args["amount"] > 5000:
                    return True
                last[tool] = counts["all"]
            case "read_file":
                if not posixpath.normpath(args["path"]).startswith(("/workspace/", "/tmp/")):  # noqa: S108
                    return True
            case "write_file":
                inside = posixpath.normpath(args["path"]).startswith("/workspace/")
                if not inside or not counts["read_file"]:
                    return True
            case "run_sql":
                query = args["query"]
                if counts[tool] >= 20_000 or len(query) > 2000 or sql(query.encode()):
                    return True
            case "http_get":
                if url(args["url"].encode()):
                    return True
            case "send_email":
                body, sent = args["body"].encode(), counts[tool]
                if sent >= 5000 or secret(body) or not to(args["to"].encode()):
                    return True
            case "bash":
                command = args["command"]
                if len(command) > 500 or unix(command.encode()):
                    return True
                last["run"] = last.get("run", 0) + 1 if last.get(tool) == command else 1
                last[tool] = command
                if last["run"] > 6:
                    return True
            case "deploy":
                if counts[tool] >= 200 or counts["all"] - last.get(tool, -100) <= 3:
                    return True
                last[tool] = counts["all"]
            case "search":
                query = args["q"]
                if asked[query] >= 3:
                    return True
                asked[query] += 1
        counts[tool] += 1
        counts["all"] += 1
        return False

    return denied


def three() -> Step:
    """Return a step that enforces three contracts: a regular expression, an order, a limit."""
    unix = _search(r"rm\s+-[rf]+", r"\bsudo\b", r"curl[^|]*\|\s*(ba)?sh")
    counts: Counter[str] = Counter()

    def denied(tool: str, args: dict[str, Any]) -> bool:
        if tool == "bash" and (
            unix(args["command"].encode()) or not counts["check"] or counts["bash"] >= 1_000_000
        ):
            return True
        counts[tool] += 1
        return False

    return denied
