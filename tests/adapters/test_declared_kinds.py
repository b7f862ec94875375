"""Kinds of arguments that tools of LangChain declare: they have to agree with contracts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest

pytest.importorskip("ada_url", reason="the extra `kinds` is not installed")
pytest.importorskip("tree_sitter_bash", reason="the extra `kinds` is not installed")

from langchain_core.tools import BaseTool, tool
from langgraph.graph import MessagesState, StateGraph
from pydantic import AnyUrl, BaseModel

from sponsio_like import Allowed, ContractError, Guard
from sponsio_like.adapters.langchain import guarded
from sponsio_like.adapters.langgraph import guard_tools
from sponsio_like.contracts import loads
from sponsio_like.guard import declared_kinds
from sponsio_like.kinds import OfKind

FILE = """
version: 1
tools: {{fetch: {{fields: {{url: {}, how: any}}}}}}
contracts:
  - name: ours
    guarantee: {{pattern: rate_limit, action: fetch, limit: 3}}
"""


@tool
def fetch(url: AnyUrl, how: Annotated[str, OfKind("shell")] = "") -> str:
    """Fetch a page."""
    return f"{url} {how}"


class Asked(BaseModel):
    """The arguments of a tool."""

    url: Annotated[str, OfKind("url")]


@tool(args_schema=Asked)
def modelled(url: str) -> str:
    """Fetch a page."""
    return url


def test_schemas_and_annotations_of_tools_declare_kinds() -> None:
    """By the format of a type, by a mark in the function, by a mark in the model."""
    assert {each.field: each.kind for each in declared_kinds(fetch, "fetch")} == {
        "url": "url",
        "how": "shell",
    }
    assert {each.field: each.kind for each in declared_kinds(modelled, "m")} == {"url": "url"}


def in_graph(guard: Guard, tools: list[BaseTool]) -> object:
    """A graph with these tools, guarded."""
    return guard_tools(StateGraph(MessagesState), guard, tools)


@pytest.mark.parametrize("take", [in_graph, guarded])
@pytest.mark.parametrize(("kind", "agrees"), [("url", True), ("string", True), ("shell", False)])
def test_adapters_compare_kinds(take: object, kind: str, agrees: bool) -> None:
    """A contract file that says another kind is refused when the tools are given."""
    assert callable(take)
    file = loads(FILE.format(kind))
    guard = Guard(file.contracts, tools=file.inventory)
    if agrees:
        take(guard, [fetch])
        return
    with pytest.raises(ContractError) as error:
        take(guard, [fetch])
    assert "`url` of `fetch` is `shell` in `tools:` (contracts:3:" in str(error.value)
    assert "and `url` in the schema of `fetch`" in str(error.value)


def test_a_contract_file_takes_kinds_of_such_tools(tmp_path: Path) -> None:
    """The file has none itself."""
    path = tmp_path / "c.yaml"
    rule = "{pattern: no_other_call, call: {tool: fetch, args: {url: {host: a.b}}}}"
    path.write_text(f"version: 1\ncontracts: [{{name: ours, guarantee: {rule}}}]\n", "utf-8")
    session = Guard.from_yaml(path, tools=[fetch]).session()
    assert isinstance(session.decide("fetch", {"url": "https://a.b/x"}), Allowed)
    assert not isinstance(session.decide("fetch", {"url": "https://a.b.c/x"}), Allowed)
