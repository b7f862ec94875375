"""Imports the modules that a contract file names, whose patterns, atoms and kinds it uses.

In: the names under `import:`, and the folder of the file. Out: nothing; the modules have declared
what they have. None is imported because it is installed: a file, or the command line, names it.
"""

from __future__ import annotations

import importlib
import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sponsio_like.errors import ContractError, Problems

GROUP = "sponsio_like.rules"
"""The group of entry points by which a package offers its rules under a name."""
NAME = re.compile(r"[^\W\d]\w*([.-]\w+)*")


def import_named(data: Mapping[str, Any], folder: Path | None, problems: Problems) -> None:
    """Import what stands under `import:`; the mistakes are added to `problems`.

    Without a folder it is a text, which may name what is imported already.
    """
    if "import" not in data:
        return
    names = data["import"]
    if not isinstance(names, list) or not names:
        problems.add(f"`{names}` is no list of modules", "write [my_rules]", "import")
        return
    for i, name in enumerate(names):
        if folder is None and name not in sys.modules:
            hint = "write it into a file, or import it in Python first"
            problems.add(f"a text cannot import `{name}`", hint, "import", i)
        else:
            problems.attempt(("import", i), import_rules, name, folder)


def import_rules(name: Any, folder: Path | None = None) -> None:
    """Import a module, or what an installed package offers under this name.

    It is looked for among the entry points of `sponsio_like.rules`, then where Python looks, then
    in `folder`. Raises `ContractError` if it is not found, or if it raises.
    """
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ContractError.of(f"`{name}` is no module", "write its name, such as my_rules")
    if name in sys.modules:
        return
    from importlib.metadata import entry_points  # it loads much: only where a file imports

    offered = next(iter(entry_points(group=GROUP, name=name)), None)
    try:
        with _beside(folder):
            importlib.import_module(name) if offered is None else offered.load()
    except ContractError as error:
        found = "; ".join(str(each) for each in error.problems)
        raise ContractError.of(f"`{name}` declares what cannot be: {found}") from None
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise ContractError.of(_raised(name, error), "install it, or correct it") from None
        where = "" if folder is None else f", nor in `{folder}`"
        raise ContractError.of(
            f"there is no module `{name}` where Python looks{where}", "install it, or correct it"
        ) from None
    except (Exception, SystemExit) as error:
        raise ContractError.of(_raised(name, error), "correct the module") from None


@contextmanager
def _beside(folder: Path | None) -> Iterator[None]:
    """Let Python look in the folder, too, after all other places."""
    if folder is None:
        yield
        return
    place = str(folder.resolve())
    sys.path.append(place)
    try:
        yield
    finally:
        sys.path.remove(place)


def _raised(name: str, error: BaseException) -> str:
    """Return the line on a module that raised, with the place in it."""
    said = " ".join(traceback.format_exception_only(error)[-1].split())
    if isinstance(error, SyntaxError):
        return f"`{name}` cannot be read: line {error.lineno}: {error.msg}"
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}:{last.lineno}"
    return f"`{name}` raised when it was imported: {said} ({place})"
