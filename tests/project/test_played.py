"""A page that is played shows what its commands print, and nothing on it stays untried."""

from __future__ import annotations

import pytest

from tests.project.played import played

PAGE = """\
```yaml title=contracts.yaml
version: 1
contracts:
```

Add a contract:

```yaml add=contracts.yaml
  - {name: a, guarantee: "tool `pay` at most once"}
```

```console
$ sponsio-like check contracts.yaml | grep understood
%s```
"""


@pytest.mark.long
def test_an_output_is_what_the_command_prints() -> None:
    """Files are written, lines are added to them, and what stands below a command is its output."""
    right = PAGE % "contracts.yaml: 1 contract understood\n"
    assert played(PAGE % "contracts.yaml: 9 contracts understood\n") == right
    assert played(PAGE % "") == right
    assert played(right) == right


def test_times_and_ids_stay_as_they_stood() -> None:
    """What differs from run to run does not make a page old; all else does."""
    page = "```console\n$ echo %s\n%s\n```\n"
    assert played(page % ("in 0.03s", "in 2.00s")) == page % ("in 0.03s", "in 2.00s")
    assert played(page % ("at 0.03s", "at 2.00s")) == page % ("at 0.03s", "at 0.03s")


def test_a_failure_is_shown_as_it_is() -> None:
    """A command that fails shows what it says on standard error, too."""
    shown = played("```console\n$ sponsio-like check none.yaml\n```\n")
    assert "none.yaml: cannot be read" in shown


@pytest.mark.parametrize(
    "block", ["```python\nx = 1\n```", "```yaml\nversion: 1\n```", "```\na\n```"]
)
def test_a_block_that_nothing_runs_is_refused(block: str) -> None:
    """A block that is no file, no command and no picture would be untried."""
    with pytest.raises(ValueError, match="nothing runs"):
        played(f"text\n\n{block}\n")
