"""`sponsio-like fmt`: one way to lay a contract file out; data and comments stay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from sponsio_like.cli import app
from sponsio_like.contracts import formatted, parse
from sponsio_like.errors import ContractError

ROOT = Path(__file__).parents[2]
FOLDERS = ("examples", "campaigns", "sponsio_like", "tests/draft/drafts")
FILES = [
    path
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.yaml"))
    if "\ncontracts:" in path.read_text("utf-8") and path.name != "broken.yaml"
]
UNTIDY = """\
version:   1   # the first
tools: [a,   b,"c d"]


contracts:
- name: x
  guarantee: 'a before b'
  because: >
    folded

    # no comment


- {name: y, tags: [p,
   q]}
# of z
- name: z
  guarantee: {pattern: rate_limit, action: {tool: pay, args: {amount: {gt: 5}}}, limit: 3, per: {
     seconds: 60}}
    # deep
"""
TIDY = """\
version: 1     # the first
tools: [a, b, "c d"]

contracts:
  - name: x
    guarantee: 'a before b'
    because: >
      folded

      # no comment

  - {name: y, tags: [p, q]}

  # of z
  - name: z
    guarantee:
      pattern: rate_limit
      action: {tool: pay, args: {amount: {gt: 5}}}
      limit: 3
      per: {seconds: 60}
# deep
"""


def test_one_way() -> None:
    """Indentation, blanks and blank lines; long braces line by line; quotes stay."""
    assert formatted(UNTIDY) == TIDY
    assert formatted(UNTIDY.replace("\n", "\r\n")) == TIDY


@pytest.mark.long
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_keep_what_they_say(path: Path) -> None:
    """The files of this project: the same data, every comment, and nothing changes twice."""
    text = path.read_text("utf-8")
    once = formatted(text)
    assert json.dumps(parse(once).data) == json.dumps(parse(text).data)
    assert once.count("#") == text.count("#")
    assert formatted(once) == once


SCALARS = st.one_of(
    st.sampled_from(
        ["yes", "1.50", "010", "null", "2026-01-01", "a: b", "# c", " x ", "- a", "a\nb\n\n", "1e3"]
    ),
    st.text("ab:#-'\"\\\n {}[],é", max_size=12),
    st.integers(-5, 5),
    st.none(),
    st.booleans(),
)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner),
    max_leaves=12,
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A YAML text of any data, in one of several manners, with comments between its lines."""
    import yaml

    text = yaml.safe_dump(
        {"contracts": draw(DATA)},
        default_flow_style=draw(st.sampled_from([True, False, None])),
        width=draw(st.sampled_from([20, 80, 1000])),
        allow_unicode=True,
        default_style=draw(st.sampled_from([None, '"', "'"])),
    )
    lines = text.splitlines()
    for place in draw(st.lists(st.integers(0, len(lines)), max_size=2)):
        lines.insert(place, draw(st.sampled_from(["# c", "", "   # d"])))
    return "\n".join(lines) + "\n"


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(texts())
def test_any_text_keeps_what_it_says(text: str) -> None:
    """Or it is refused with a `ContractError`; what was formatted once stays."""
    try:
        before = parse(text)
        once = formatted(text)
    except ContractError:
        return
    assert json.dumps(parse(once).data) == json.dumps(before.data)
    assert once.count("#") == text.count("#")
    assert formatted(once) == once


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("contracts: [", "not YAML"),
        ("- a", "not a contract file"),
        ("a: yes", "means different things"),
        ("a: 1\na: 2", "given twice"),
        ("a: [1, # why\n  2]\n", "the comment `# why` would be lost"),
    ],
)
def test_what_is_not_formatted(text: str, told: str) -> None:
    """A file with mistakes, and one whose comment cannot be kept."""
    with pytest.raises(ContractError, match=told):
        formatted(text)


def test_the_command_writes_and_checks(tmp_path: Path) -> None:
    """`--check` writes nothing, and its status is 1; a bad file is told and left as it is."""
    good, bad = tmp_path / "good.yaml", tmp_path / "sub" / "bad.yaml"
    bad.parent.mkdir()
    good.write_text(UNTIDY, "utf-8")
    bad.write_text("a: 1\na: 2\n", "utf-8")
    seen = CliRunner().invoke(app, ["fmt", "--check", str(good)])
    assert (seen.exit_code, good.read_text("utf-8")) == (1, UNTIDY)
    assert "-version:   1   # the first\n" in seen.output
    assert CliRunner().invoke(app, ["fmt", str(tmp_path)]).exit_code == 0
    assert good.read_text("utf-8") == TIDY
    again = CliRunner().invoke(app, ["fmt", "--check", str(tmp_path)])
    assert (again.exit_code, again.output) == (0, "")
    with pytest.raises(ContractError, match=r"bad\.yaml:2:1: key `a` is given twice"):
        CliRunner().invoke(app, ["fmt", str(bad)], catch_exceptions=False)
    assert bad.read_text("utf-8") == "a: 1\na: 2\n"
