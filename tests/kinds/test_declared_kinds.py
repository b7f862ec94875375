"""Where the kind of a field is declared: contract files, annotations, decorators, schemas."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.tools import StructuredTool
from pydantic import AnyUrl, BaseModel, Field
from typer.testing import CliRunner

from sponsio_like import Allowed, ContractError, ContractWarning, Guard
from sponsio_like.cli import app
from sponsio_like.contracts import common_kind, schema_kind
from sponsio_like.guard import declared_kinds
from sponsio_like.kinds import OfKind
from tests.semantics.manifest import requirement

RULE = """
contracts:
  - name: no_rm
    guarantee: {pattern: absent, match: {tool: bash, args: {command: {runs: [rm]}}}}
"""
SCHEMA = {"type": "object", "properties": {"command": {"type": "string", "format": "uri"}}}


def bash(command: Annotated[str, OfKind("shell")]) -> str:
    """A tool whose argument is marked with its kind."""
    return f"ran {command}"


def plain(command: str) -> str:
    """The same, not marked."""
    return f"ran {command}"


def opened(folder: Path, tools: str, given: Any = ()) -> Guard:
    """The guard of a contract file with these tools."""
    path = folder / "c.yaml"
    path.write_text(f"version: 1\n{tools}{RULE}", "utf-8")
    return Guard.from_yaml(path, tools=given)


def refused(make: Callable[[], object]) -> str:
    """What is said of a mistake."""
    with pytest.raises(ContractError) as error:
        make()
    return str(error.value)


@requirement("S-KIND-09")
@pytest.mark.parametrize(
    "given",
    [
        [bash],
        {"bash": bash},
        ["other", bash],
        [{"name": "bash", "parameters": {"properties": {"command": {"type": "string"}}}}, bash],
    ],
)
@pytest.mark.parametrize("tools", ["", "tools: [bash]", "tools: {bash: {fields: {command: any}}}"])
def test_a_kind_is_taken_from_an_annotation(tmp_path: Path, tools: str, given: Any) -> None:
    """The contract file need not say it again; where it lists no tools, none are refused."""
    session = opened(tmp_path, tools, given).session()
    assert isinstance(session.decide("bash", {"command": "ls rm"}), Allowed)
    assert not isinstance(session.decide("bash", {"command": "r''m x"}), Allowed)
    assert isinstance(session.decide("other", {}), Allowed) is (not tools)


@requirement("S-LOAD-14")
def test_a_text_of_a_kind_of_the_code_is_warned_of_as_well(tmp_path: Path) -> None:
    """Where it is forbidden as it is written; without the kind nobody can tell."""
    path, tools = tmp_path / "c.yaml", tmp_path / "tools.json"
    path.write_text(f"version: 1\n{RULE.replace('{runs: [rm]}', 'reboot')}", "utf-8")
    with pytest.warns(ContractWarning, match="another spelling of the same passes"):
        Guard.from_yaml(path, tools=[bash])
    Guard.from_yaml(path, tools=[plain])
    tools.write_text(json.dumps([{"name": "bash", "parameters": SCHEMA}]), "utf-8")
    said = CliRunner().invoke(app, ["check", str(path), "--tools", str(tools)]).output
    assert "another spelling of the same passes" in said


def test_a_guarded_function_still_says_its_kinds(tmp_path: Path) -> None:
    """The decorator keeps the annotations."""
    guarded = opened(tmp_path, "", [bash]).tool(bash)
    assert opened(tmp_path, "", [guarded]).session() is not None


def test_a_file_that_is_loaded_again_knows_the_kinds(tmp_path: Path) -> None:
    """As when it was loaded first."""
    guard = opened(tmp_path, "", [bash])
    path = tmp_path / "c.yaml"
    path.write_text(path.read_text("utf-8").replace("[rm]", "[dd]"), "utf-8")
    assert guard.reload()
    assert isinstance(guard.session().decide("bash", {"command": "rm x"}), Allowed)


def test_no_kind_is_guessed(tmp_path: Path) -> None:
    """A name such as `command` says nothing."""
    assert "declare the field's kind" in refused(lambda: opened(tmp_path, "", [plain]))


@requirement("S-KIND-09")
@pytest.mark.parametrize("given", [[bash], {"bash": bash}])
def test_two_kinds_are_refused_with_both_places(tmp_path: Path, given: Any) -> None:
    """That of the file, and that of the code."""
    said = refused(lambda: opened(tmp_path, "tools: {bash: {fields: {command: sql}}}", given))
    place = tmp_path / "c.yaml"
    line = bash.__code__.co_firstlineno
    assert (
        f"{place}:2:34: `command` of `bash` is `sql` in `tools:` ({place}:2:34), and `shell` in "
        f"the annotation (test_declared_kinds.py:{line}); declare one kind in both" in said
    )


@requirement("S-KIND-09")
def test_a_schema_may_contradict_an_annotation(tmp_path: Path) -> None:
    """Formats of schemas are declarations, too."""
    tools = [{"name": "bash", "inputSchema": SCHEMA}, bash]
    said = refused(lambda: opened(tmp_path, "", tools))
    assert "`command` of `bash` is `url` in the schema of `bash`, and `shell` in the ann" in said


@requirement("S-KIND-09")
@pytest.mark.parametrize(
    ("function", "fields", "said"),
    [
        (plain, {"command": "sql"}, "`shell` in `tools:`"),
        (plain, {"comand": "shell"}, "`bash` takes no `comand`"),
        (plain, {"command": "shel"}, "unknown kind `shel`; did you mean `shell`?"),
        (plain, "shell", "fields='shell' is no map of kinds"),
        (bash, {"command": "sql"}, "`sql` in `fields=` of `bash`, and `shell` in the annotation"),
    ],
)
def test_a_decorator_declares_kinds(tmp_path: Path, function: Any, fields: Any, said: str) -> None:
    """They have to exist, to be of arguments, and to agree with the file."""
    guard = opened(tmp_path, "tools: {bash: {fields: {command: shell}}}")
    assert said in refused(lambda: guard.tool(function, name="bash", fields=fields))
    assert guard.tool(function, name="bash", fields={"command": "shell"})


def test_an_unknown_kind_is_refused_where_it_is_written() -> None:
    """Before any guard is made."""
    assert "unknown kind `shel`; did you mean `shell`?" in refused(lambda: OfKind("shel"))


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string", "format": "uri"}, "url"),
        ({"type": "string", "format": "email"}, "email"),
        ({"type": "string", "format": "hostname"}, "domain"),
        ({"type": "string", "format": "date"}, "date"),
        ({"type": "string", "format": "date-time"}, "date"),
        ({"type": ["string", "null"], "format": "date"}, "date"),
        ({"anyOf": [{"type": "string", "format": "uri"}, {"type": "null"}]}, "url"),
        ({"anyOf": [{"type": "string", "format": "uri"}, {"type": "integer"}]}, "any"),
        ({"type": "array", "items": {"type": "string", "format": "email"}}, "[email]"),
        ({"type": "array", "items": {"type": "string"}}, "array"),
        ({"type": "string", "format": "shell"}, "string"),
        ({"type": "string", "format": ["uri"]}, "string"),
        ({"type": "string"}, "string"),
        ({"format": "uri"}, "any"),
        ({"type": "integer"}, "integer"),
        ({"$ref": "#/x"}, "any"),
        (True, "any"),
    ],
)
def test_formats_of_schemas_are_kinds(schema: Any, kind: str) -> None:
    """The standard ones; a value that may be of several kinds has none."""
    assert schema_kind(schema) == kind


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ("shell", "string", "shell"),
        ("any", "shell", "shell"),
        ("shell", "sql", None),
        ("shell", "integer", None),
        ("shell", "[string]", "shell"),
        ("url", "[string]", None),
        ("[url]", "array", "[url]"),
        ("[url]", "[string]", "[url]"),
        ("[url]", "[email]", None),
        ("[url]", "url", None),
        ("money", "number", "money"),
        ("date", "integer", None),
        ("number", "string", "string"),
    ],
)
def test_two_declarations_agree_or_contradict(one: str, other: str, both: str | None) -> None:
    """The narrower kind is taken; plain kinds are not compared."""
    found = {common_kind(one, other), common_kind(other, one)}
    assert both in found if both == "string" else found == {both}


def test_annotations_say_kinds() -> None:
    """Marked ones, those in lists, and those of which pydantic makes a schema with a format."""
    command = Annotated[str, OfKind("shell")]

    def tool(
        *rest: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, **more: Any
    ) -> None:
        """Nothing."""

    tool.__annotations__ = {
        "a": command, "b": list[command], "c": command | None, "d": AnyUrl, "e": date | None,
        "f": Sequence[command], "g": str, "rest": command, "more": AnyUrl,
    }  # fmt: skip
    found = {each.field: each.kind for each in declared_kinds(tool, "tool")}
    assert found == {
        "a": "shell", "b": "[shell]", "c": "shell", "d": "url", "e": "date", "f": "[shell]",
        "g": "string", "rest": "[shell]",
    }  # fmt: skip


def test_a_kind_of_a_part_of_an_annotation_is_refused() -> None:
    """It would hold for some values alone."""

    def tool(a: Any) -> None:
        """Nothing."""

    tool.__annotations__ = {"a": Annotated[str, OfKind("shell")] | int}
    assert "`a` of `tool` is not of one kind" in refused(lambda: declared_kinds(tool, "tool"))


def test_kinds_of_arguments_of_any_name_are_refused() -> None:
    """Nobody could tell which they are."""

    def tool(**more: Any) -> None:
        """Nothing."""

    tool.__annotations__ = {"more": Annotated[str, OfKind("shell")]}
    assert "`more` of `tool` may have any name" in refused(lambda: declared_kinds(tool, "tool"))


@pytest.mark.parametrize("given", ["bash", 5, [5], [lambda x: x]])
def test_what_is_no_tool_is_refused(tmp_path: Path, given: Any) -> None:
    """With what to write instead."""
    assert "write" in refused(lambda: opened(tmp_path, "", given))


@pytest.mark.parametrize(
    ("tools", "match", "said"),
    [
        ("tools: {bash: {fields: {comand: shell}}}", "comand: {runs: rm}", "not take `comand`"),
        ("", "'comand:shell': {runs: rm}", "tool `bash` has no field `comand`"),
        ("", "comand: {runs: rm}", "unknown key `runs`"),
    ],
)
def test_a_kind_of_a_field_that_the_tool_does_not_have(
    tmp_path: Path, tools: str, match: str, said: str
) -> None:
    """It is refused when the file is loaded, if the tool is known by then."""
    path = tmp_path / "c.yaml"
    rule = RULE.replace("command: {runs: [rm]}", match)
    path.write_text(f"version: 1\n{tools}{rule}", "utf-8")
    assert said in refused(lambda: Guard.from_yaml(path, tools=[bash]))


def test_the_check_lists_fields_with_their_kinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And where each is declared: in the file, or in the schema that was given."""
    (tmp_path / "c.yaml").write_text(
        "version: 1\ntools: {bash: {fields: {command: shell}}, get: {fields: {u: any}}}\n"
        "contracts:\n- {name: c, guarantee: "
        "{pattern: absent, match: {tool: get, args: {u: {host: b.c}}}}}\n",
        "utf-8",
    )
    tool = {"properties": {"u": {"type": "string", "format": "uri"}}, "type": "object"}
    manifest = [{"name": "get", "inputSchema": tool}, {"name": "bash"}]
    (tmp_path / "mcp.json").write_text(json.dumps(manifest), "utf-8")
    monkeypatch.chdir(tmp_path)
    printed = CliRunner().invoke(app, ["check", "c.yaml", "--tools", "mcp.json"]).output
    assert "`command` of `bash` is read as `shell`: `tools:` (c.yaml:2:34)" in printed
    assert "`u` of `get` is read as `url`: mcp.json" in printed


class Sent(BaseModel):
    """The arguments of a tool of LangChain, of types that are texts with a grammar."""

    url: AnyUrl
    to: Annotated[str, Field(json_schema_extra={"format": "email"})]
    day: date
    more: list[AnyUrl] = []
    other: AnyUrl | None = None


MODEL_RULES = """
version: 1
contracts:
  - {name: a, guarantee: {pattern: absent, match: {tool: send, args: {url: {host: {ne: a.b}}}}}}
  - {name: b, guarantee: {pattern: absent, match: {tool: send, args: {to: {domain: {ne: b.c}}}}}}
  - {name: c, guarantee: {pattern: absent, match: {tool: send, args: {day: {weekday: sunday}}}}}
  - {name: d, guarantee: {pattern: absent, match: {tool: send, args: {"more[]": {private: true}}}}}
  - {name: e, guarantee: {pattern: absent, match: {tool: send, args: {other: {private: true}}}}}
"""
HONEST: dict[str, Any] = {"url": "https://a.b/c", "to": "ann@b.c", "day": "2026-11-23"}


@pytest.mark.parametrize(
    ("changed", "passes"),
    [
        ({}, True),
        ({"more": ["https://c.d/"], "other": "https://e.f/"}, True),
        ({"url": "https://a.b@c.d/"}, False),
        ({"to": "ann@c.d"}, False),
        ({"day": "2026-11-22"}, False),
        ({"more": ["https://c.d/", "http://127.1/"]}, False),
        ({"other": "http://127.1/"}, False),
    ],
)
def test_the_model_of_a_tool_of_langchain_says_kinds(
    tmp_path: Path, changed: dict[str, Any], *, passes: bool
) -> None:
    """Types of pydantic, and a `format` that a field is given, which LangChain leaves out."""
    path = tmp_path / "contracts.yaml"
    path.write_text(MODEL_RULES, "utf-8")
    made = StructuredTool.from_function(
        lambda **_: "sent", name="send", description="Sends.", args_schema=Sent
    )
    session = Guard.from_yaml(path, tools=[made]).session()
    assert isinstance(session.decide("send", {**HONEST, **changed}), Allowed) is passes
