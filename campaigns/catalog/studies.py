"""Lists which contract files of the catalog are judged on which corpora.

Out: studies, as the campaign over the example policies has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from campaigns.catalog import (
    recount_assistant,
    recount_functions,
    recount_retail,
    recount_shell,
)
from campaigns.corpora import STUDIES as POLICIES
from campaigns.recount import Recount
from campaigns.study import Corpus, Study

FOLDER = "campaigns/catalog"


def _rewarded(value: Mapping[str, Any]) -> str:
    return "reward 1" if value["label"]["reward"] == 1 else "reward 0"


def _shop(value: Mapping[str, Any]) -> str | None:
    return "reference" if "retail" in value["id"] else None


def _severe(value: Mapping[str, Any]) -> str:
    return "severe" if value["label"]["violating"] else "not severe"


def _study(name: str, recounts: Mapping[str, Recount], *corpora: Corpus) -> Study:
    file = f"{FOLDER}/{name}"
    return Study(f"catalog-{name}", f"{file}.yaml", f"{file}_triggers.yaml", recounts, corpora)


def _named(name: str, like: Corpus) -> Corpus:
    return Corpus(name, like.files, like.label, like.labels)


def _one(name: str, file: str, label: str) -> Corpus:
    return Corpus(name, (file,), lambda _: label, (label,))


STUDIES = (
    _study(
        "assistant",
        recount_assistant.RECOUNTS,
        *(_named(f"catalog-{each.name}", each) for each in POLICIES[0].corpora),
    ),
    _study(
        "retail",
        recount_retail.RECOUNTS,
        Corpus(
            "catalog-tau-retail",
            ("tau_retail_agentverify.jsonl.gz",),
            _rewarded,
            ("reward 1", "reward 0"),
        ),
        Corpus("catalog-tau-reference", ("tau_reference.jsonl.gz",), _shop, ("reference",)),
    ),
    _study(
        "functions",
        recount_functions.RECOUNTS,
        _one("catalog-bfcl", "bfcl_multi_turn.jsonl.gz", "reference"),
    ),
    _study(
        "shell",
        recount_shell.RECOUNTS,
        Corpus("catalog-odcv", ("odcv.jsonl.gz",), _severe, ("severe", "not severe")),
        _one("catalog-redcode", "redcode_exec.jsonl.gz", "risky program"),
        _one("catalog-sweagent", "sweagent_demos.jsonl.gz", "demonstration"),
    ),
)
