"""A shop as an MCP server: what its tools have received, and the tools as LangChain has them.

With `langchain-mcp-adapters`, or with `langchain.mcp`; run as a script, it is a server that speaks
over its standard input and output.
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import BaseModel

RAN: list[tuple[str, dict[str, Any]]] = []
"""The bodies that ran, with what they received."""


class Customer(BaseModel):
    """Who was found."""

    id: int
    name: str


def refund(order: int, why: str = "late") -> str:
    """Refund an order."""
    RAN.append(("refund", {"order": order, "why": why}))
    return f"refunded {order}"


def find_customer(name: str) -> Customer:
    """Find a customer."""
    RAN.append(("find_customer", {"name": name}))
    return Customer(id=len(name), name=name)


def names() -> list[str]:
    """Tell all names."""
    return ["ann", "bob"]


def pay(to: int, amount: float | None = None, notes: list[str] | None = None) -> str:
    """Pay a customer."""
    if amount is not None and amount < 0:
        raise ValueError("no such amount")
    RAN.append(("pay", {"to": to, "amount": amount, "notes": notes}))
    return "ok"


BODIES: tuple[Callable[..., Any], ...] = (refund, find_customer, names, pay)


def served(package: str) -> Any:
    """The server, made with `FastMCP` of this package."""
    app = importlib.import_module(package).FastMCP("shop")
    for each in BODIES:
        app.tool()(each)
    return app


@asynccontextmanager
async def by_adapters() -> AsyncIterator[list[Any]]:
    """Its tools, by `langchain-mcp-adapters`."""
    made = pytest.importorskip("langchain_mcp_adapters.tools")
    memory = pytest.importorskip("mcp.shared.memory")
    server = served("mcp.server.fastmcp")
    async with memory.create_connected_server_and_client_session(server._mcp_server) as session:
        yield await made.load_mcp_tools(session)


@asynccontextmanager
async def by_langchain() -> AsyncIterator[list[Any]]:
    """Its tools, by `langchain.mcp`."""
    fastmcp = pytest.importorskip("fastmcp")
    made = pytest.importorskip("langchain.mcp")
    client = fastmcp.Client(served("fastmcp"))
    async with client:
        tools = await client.list_tools()
        yield [await made.as_langchain_tool(each, client) for each in tools]


if __name__ == "__main__":
    served("mcp.server.fastmcp").run()
