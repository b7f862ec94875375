"""A contract of import-linter: a room is entered by its door.

In: the import graph. Out: every import, from outside of a room, of a module inside of it. The door
of a room is its `__init__`, which names what others may use; `open_modules` are further doors.
"""

from __future__ import annotations

from typing import Any

import grimp
from importlinter import Contract, ContractCheck, fields, output


class Doors(Contract):
    """The packages of `container` are imported by their names alone, but for `open_modules`."""

    container: Any = fields.StringField()
    open_modules: Any = fields.SetField(
        subfield=fields.StringField(), required=False, default=set()
    )

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> ContractCheck:
        """Find the imports that go past a door."""
        rooms = {each for each in graph.find_children(self.container) if graph.find_children(each)}
        past: list[tuple[str, str]] = []
        for room in rooms:
            inside = graph.find_descendants(room)
            past += (
                (importer, module)
                for module in inside - self.open_modules
                for importer in graph.find_modules_that_directly_import(module)
                if importer != room and importer not in inside
            )
        return ContractCheck(kept=not past, metadata={"past": sorted(past)})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print each import, and what to write instead."""
        for importer, module in check.metadata["past"]:
            room = ".".join(module.split(".")[:2])
            output.print_error(f"{importer} imports {module}: import it from {room}")
