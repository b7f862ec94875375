"""Promises about the code itself: layers, sizes, names, exceptions, and what may be committed."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

import sponsio_like
from tests.support.size import sized

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "sponsio_like"
SOURCES = sorted(PACKAGE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

FILE_LINES = 700
FUNCTION_LINES = 45
FUNCTION_LINES_P90 = 30
SHARED_CLASSES = 5
SHARED_FUNCTIONS = 15

# Where every exception may be caught, and why. A place that is not listed fails, and so does an
# entry that is no longer needed.
BROAD_EXCEPTS: dict[str, str] = {
    "contracts/imports.py import_rules": "the modules of a contract file are the user's code",
    "values/frozen.py freeze": "a mapping may be the host's own class, and raise when it is read",
    "engine/judgement.py judge": (
        "a clause that cannot be judged blocks by itself; the others are judged"
    ),
    "session/user_code.py read_event": "atoms of users are read here: one that raises blocks",
    "session/user_code.py read_result": (
        "atoms of users read the result here: what cannot be told violates"
    ),
    "replay/reread.py final": "as `session/user_code.py read_result`, of a recorded result",
    "replay/reread.py _change": (
        "atoms of users read a recorded call here: what raises binds nothing"
    ),
    "replay/witness.py _step": (
        "as `session/user_code.py read_event`, of a recorded call: it is told"
    ),
    "session/user_code.py time_or_last": (
        "the clock is the host's: a result has to be taken all the same"
    ),
    "session/world.py _transaction": (
        "a store may be the host's: whatever it raises, nothing happens"
    ),
    "session/decide.py decided": (
        "fail closed: whatever goes wrong in a decision, the tool does not run"
    ),
    "session/interceptor.py _begin_fast": "as `engine/judgement.py judge`, which is asked then",
    "session/fast.py try_fast": (
        "the clock is the host's, and a lane was made: the slow path decides"
    ),
    "session/session.py decide": "as `try_fast`: whatever goes wrong, the slow path decides",
    "session/session.py _decide": "as `try_fast`: whatever goes wrong, the slow path decides",
    "session/session.py settle": "as `settle_fast`: the slow path settles",
    "session/settle.py settle": "as `_settle`, before it knows the call: the host is told",
    "session/settle.py _settle": (
        "the tool has run: whatever fails, its call is in flight or in doubt"
    ),
    "session/fast.py settle_fast": "the clock is the host's: the slow path takes the result",
    "advice/trial.py read": "atoms of users are asked again for advice: one that raises refuses",
    "advice/trial.py _final": "atoms of users read made-up results: what cannot be told violates",
    "advice/advice.py explain": (
        "advice is read on the agent's path: the decision and its reason stand"
    ),
    "log/queue.py _together": "as `_write`, of several records: each is written by itself",
    "log/queue.py _write": "a sink is the host's, and its thread is ours: the next is written",
    "session/decision_log.py settled": "a result stands, whatever fails in telling it",
    "session/decision_log.py _send": (
        "a log sink is the host's: the decision stands whatever it does"
    ),
    "contracts/strategies.py ruling": "a strategy of the user that raises blocks",
    "contracts/strategies.py _imported": "to import a module of the user is to run it",
    "session/notify.py _run": (
        "a strategy of the user is asked where nothing can be stopped any more"
    ),
    "notices.py _tell": "a notifier is the user's, and its thread is ours: the next notice is told",
    "values/plain.py as_data": "arguments may have code of their own: what raises cannot be read",
    "values/plain.py unwrapped": "one value that raises makes no other unreadable",
    "values/plain.py as_members": "so may answers, and what they are made of",
    "guard/arguments.py _if_it_can": (
        "validators are the user's, and here the agent is only watched"
    ),
    "guard/flow.py _settled": "whatever a tool raises is its result, and goes on to its caller",
    "guard/flow.py __call__": "a substitute that cannot take the arguments, for any reason, blocks",
    "guard/flow.py _generated": (
        "as `_settled`, for a body that runs while its caller goes through it"
    ),
    "guard/flow.py _generated_later": "as `_generated`",
    "guard/flow.py _landed": "as `_settled`, for work that an executor does",
    "guard/flow.py error_text": "the text of an exception may be code of the user",
    "guard/flow.py drive": "what a tool raises goes into the flow, which settles the call",
    "guard/flow.py _go_on": "as `drive`",
    "adapters/langgraph/asked_calls.py _validated": "validators are the user's: a refusal is told",
    "adapters/langgraph/attempts.py _once": "whatever ends a run, its answer lets it run again",
    "adapters/langgraph/sessions.py undisturbed": "who is observed is not disturbed",
    "adapters/langgraph/attempts.py body": "what a tool or node raises is its result, and goes on",
    "loops.py running": "whatever the block raises is the call's result, and goes on",
}

# A drawer for everything grows into everything.
DRAWERS = {"base", "common", "core", "helpers", "manager", "misc", "models", "types", "utils"}

# Configuration belongs in pyproject.toml.
SECOND_HOMES = {
    ".coveragerc",
    ".flake8",
    ".importlinter",
    ".ruff.toml",
    "mypy.ini",
    "pytest.ini",
    "ruff.toml",
    "setup.cfg",
    "setup.py",
    "tox.ini",
}

# Written in halves, so that this file does not name what it forbids.
UNCOMMITTED = [
    first + second
    for first, second in (
        ("/wo", "rk/"),
        ("/ro", "ot/"),
        ("pypi", ".org"),
        ("python", "hosted"),
        ("registry.", "npmjs"),
        ("deb.", "debian"),
    )
]

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text("utf-8"))


@cache
def functions(path: Path) -> tuple[Function, ...]:
    """Every function of a file, methods and inner functions too."""
    return tuple(node for node in ast.walk(parsed(path)) if isinstance(node, Function))


def length(function: Function) -> int:
    """How many lines a function takes, from `def` to its last line."""
    return (function.end_lineno or function.lineno) - function.lineno + 1


def name(path: Path) -> str:
    """A file as people write it: relative to the root."""
    return path.relative_to(ROOT).as_posix()


def imported(path: Path) -> set[str]:
    """The modules that a file imports, wherever in the file."""
    found: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(f"{'.' * node.level}{node.module or ''}")
    return found


def committed() -> list[Path]:
    """Every file that is committed, or would be: known to git, or new and not ignored."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / line for line in listed.split("\0") if line and (ROOT / line).is_file()]


def test_layers_are_kept() -> None:
    """A stage of the engine imports only the stages below it, and every module has a layer."""
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_imports_the_whole_package() -> None:
    """A module imports from the module that defines, never from the package as a whole."""
    assert [name(path) for path in SOURCES if "sponsio_like" in imported(path)] == []


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_files_are_short(path: Path) -> None:
    """No file of the package is longer than 700 lines."""
    assert len(path.read_text("utf-8").splitlines()) <= FILE_LINES


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_functions_fit_a_screen(path: Path) -> None:
    """No function of the package is longer than 45 lines."""
    long = {f"{name(path)}:{f.lineno} {f.name}": length(f) for f in functions(path)}
    assert {place: lines for place, lines in long.items() if lines > FUNCTION_LINES} == {}


def test_most_functions_are_short() -> None:
    """Nine of ten functions of the package have at most 30 lines."""
    lengths = [length(function) for path in SOURCES for function in functions(path)]
    assert statistics.quantiles(lengths, n=10)[-1] <= FUNCTION_LINES_P90


def test_no_drawer_for_everything() -> None:
    """No module is called `utils`, `helpers`, `base` or the like."""
    assert [name(path) for path in SOURCES if path.stem in DRAWERS] == []


def test_no_module_is_named_by_a_gerund() -> None:
    """A module has the name of a thing, a verb where it is one function, and never a gerund."""
    assert [name(path) for path in SOURCES if path.stem.endswith("ing")] == []


def shared(kind: type | tuple[type, ...]) -> set[str]:
    """The public names of classes, or of functions, that several modules define."""
    found = Counter(
        node.name
        for path in SOURCES
        for node in parsed(path).body
        if isinstance(node, kind) and isinstance(node, ast.ClassDef | Function)
    )
    return {each for each, times in found.items() if times > 1 and not each.startswith("_")}


def test_few_names_stand_in_several_modules() -> None:
    """A public name means one thing: few classes and functions share theirs with another module."""
    assert len(shared(ast.ClassDef)) <= SHARED_CLASSES
    assert len(shared((ast.FunctionDef, ast.AsyncFunctionDef))) <= SHARED_FUNCTIONS


def test_every_test_states_what_it_specifies() -> None:
    """Every test has a docstring, since the docstrings of the tests are the specification."""
    silent = [
        f"{name(path)}:{function.lineno} {function.name}"
        for path in TESTS
        if path.name.startswith("test_")
        for function in functions(path)
        if function.name.startswith("test_") and not ast.get_docstring(function)
    ]
    assert silent == []


def modules() -> list[str]:
    """The names of all modules of the package."""
    found = pkgutil.walk_packages(sponsio_like.__path__, "sponsio_like.")
    return ["sponsio_like", *(module.name for module in found)]


def reading_order(exported: str) -> tuple[int, str]:
    """Constants, then classes, then functions: the order that ruff keeps `__all__` in."""
    kind = 0 if exported.isupper() and len(exported) > 1 else 1 if exported[0].isupper() else 2
    return kind, exported


def exports(path: Path) -> list[str] | None:
    """The literal `__all__` of a file, if it has one."""
    for node in parsed(path).body:
        match node:
            case ast.Assign(targets=[ast.Name("__all__")], value=value):
                return [str(exported) for exported in ast.literal_eval(value)]
            case _:
                pass
    return None


@pytest.mark.parametrize("path", [p for p in SOURCES if exports(p) is not None], ids=name)
def test_exports_are_sorted_and_exist(path: Path) -> None:
    """`__all__` is sorted, repeats nothing, and names what can be imported."""
    exported = exports(path) or []
    dotted = name(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    module = importlib.import_module(dotted)
    assert exported == sorted(set(exported), key=reading_order)
    assert [one for one in exported if not hasattr(module, one)] == []


def test_public_names_are_exported() -> None:
    """What the package imports for its users stands in its `__all__`, and no more."""
    root = PACKAGE / "__init__.py"
    public = {
        alias.asname or alias.name
        for node in ast.walk(parsed(root))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sponsio_like")
        for alias in node.names
    }
    assert public | {"__version__"} == {*(exports(root) or []), "__version__"}


ALONE = """
import importlib, os, sys, tempfile, traceback

package, *names = sys.argv[1:]
importlib.import_module(package)  # always first: a package comes before what is in it

def forked(act, name):
    child = os.fork()
    if child == 0:
        try:
            act(name)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def tell(name):  # which modules of others it needs
    importlib.import_module(name)
    told.write("\\n".join(sys.modules))
    told.flush()

for name in names:
    if name in sys.modules:
        continue
    told = tempfile.TemporaryFile("w+")
    if forked(tell, name):
        sys.exit(f"cannot be imported first: {name}")
    told.seek(0)
    for each in told.read().split():
        if each.partition(".")[0] not in (package, "__main__") and each not in sys.modules:
            try:
                importlib.import_module(each)  # for the next ones, which then need no time for it
            except ImportError:
                pass  # a name that is no module of its own
"""
"""Imports a package, then each module first that this has not loaded, in a fork of its own."""


def alone(package: str, names: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """What comes of importing each of these modules first."""
    command = [sys.executable, "-c", ALONE, package, *names]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.long
def test_every_module_can_be_imported_alone() -> None:
    """A module can be imported first: the order of imports does not matter."""
    done = alone("sponsio_like", modules()[:: sized(1, 8)])
    assert done.returncode == 0, done.stderr


def test_a_module_that_cannot_be_imported_alone_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A circle of imports that only shows from one side is told by the name of that module."""
    package = tmp_path / "circle"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "one.py").write_text("name = 1\nimport circle.two\n")
    (package / "two.py").write_text("from circle.one import name, late\n")
    (package / "three.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    done = alone("circle", ["circle.one", "circle.three"])
    assert done.returncode == 1
    assert "cannot be imported first: circle.one" in done.stderr


def broad(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches everything."""
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    wide = {"Exception", "BaseException"}
    return any(one is None or (isinstance(one, ast.Name) and one.id in wide) for one in caught)


def suppresses_all(call: ast.Call) -> bool:
    """Whether a call is `suppress(Exception)`, which is a broad except in other words."""
    called = ast.unparse(call.func).rpartition(".")[2]
    return called == "suppress" and "Exception" in [ast.unparse(a) for a in call.args]


def broad_places(path: Path) -> Iterator[str]:
    """The functions of a file that catch everything, as `file function`."""
    for function in functions(path):
        for node in ast.walk(function):
            if (isinstance(node, ast.ExceptHandler) and broad(node)) or (
                isinstance(node, ast.Call) and suppresses_all(node)
            ):
                yield f"{path.relative_to(PACKAGE).as_posix()} {function.name}"


def test_broad_excepts_have_a_reason() -> None:
    """Every exception is caught only where foreign code is called, each place with its reason."""
    assert {place for path in SOURCES for place in broad_places(path)} == set(BROAD_EXCEPTS)


@pytest.mark.parametrize("judge", ["oracle.py"])
def test_judges_share_no_code_with_the_judged(judge: str) -> None:
    """The oracle imports nothing but the standard library."""
    roots = {module.partition(".")[0] for module in imported(ROOT / "tests" / "reference" / judge)}
    assert roots <= sys.stdlib_module_names


def test_configuration_has_one_home() -> None:
    """pyproject.toml is the only configuration file."""
    assert [name(path) for path in committed() if path.name in SECOND_HOMES] == []


def test_nothing_committed_names_a_machine() -> None:
    """No committed file names a path of somebody's machine or the host of a package registry."""
    named = [
        f"{name(path)}: {word}"
        for path in committed()
        for word in UNCOMMITTED
        if word.encode() in path.read_bytes()
    ]
    assert named == []


def test_contributing_names_files_that_exist() -> None:
    """Every file that CONTRIBUTING.md and README.md name in backticks exists."""
    missing = [
        f"{page}: {path}"
        for page in ("CONTRIBUTING.md", "README.md")
        for path in re.findall(
            r"`((?:\.?[\w-]+/)*[\w-]+\.(?:py|md|toml|yaml))`", (ROOT / page).read_text("utf-8")
        )
        if "/" in path and not (ROOT / path).exists()
    ]
    assert missing == []


RECIPES = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
NAMED = re.findall(r"`([A-Za-z_]\w*)` (?:in|of) `((?:[\w-]+/)+[\w-]+\.\w+)`", RECIPES)


@pytest.mark.parametrize(("word", "path"), sorted(set(NAMED)))
def test_recipes_name_what_their_files_have(word: str, path: str) -> None:
    """Of "`Call` in `event_types.py`", the file has the name."""
    assert re.search(rf"\b{word}\b", (ROOT / path).read_text("utf-8"))


def test_recipes_name_neighbours_that_exist() -> None:
    """A file named without its folder is in the folder that was named last."""
    folder, missing = ROOT, []
    for path in re.findall(r"`((?:[\w-]+/)*[\w-]+\.(?:py|lark|txt|yaml))`", RECIPES):
        if "/" in path:
            folder = (ROOT / path).parent
        elif not (folder / path).exists():
            missing.append(path)
    assert missing == []


def test_recipes_run_tests_that_exist() -> None:
    """Each file and folder behind `pytest` exists."""
    runs = " ".join(re.findall(r"`pytest ([^`]*)`", RECIPES))
    assert [each for each in re.findall(r"tests/[\w/.]+", runs) if not (ROOT / each).exists()] == []


def test_make_targets_exist() -> None:
    """Every `make` command that the documents name is a target of the Makefile."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    pages = [ROOT / page for page in ("README.md", "CONTRIBUTING.md", ".ci/run")]
    command = re.compile(r"(?:`|^(?:exec )?)make ([\w-]+)", re.MULTILINE)
    named = {target for page in pages for target in command.findall(page.read_text("utf-8"))}
    assert named <= targets
