"""Each product module with behaviour has its test file, and each test file its module."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("cli/ultracluster_cli",)

# What decides: a module none of whose functions contains any of these is data, a model or wiring in a straight line, and
# is tested through what uses it.
DECISIONS = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.While,
    ast.Try,
    ast.With,
    ast.Match,
    ast.Raise,
    ast.BoolOp,
    ast.Compare,
    ast.comprehension,
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

# Folders of tests whose subject is no package, and files whose subject is a whole folder or its data.
OTHER_SUBJECTS = {
    "tests/unit/cli/test_start_up.py": "what the whole command line imports",
    "tests/unit/cli/test_untrusted_files.py": "every reader of files of users",
}
TESTED_ELSEWHERE: dict[str, str] = {}


def modules() -> Iterator[tuple[Path, str]]:
    """Each module with its test file. A package is tested in the file of its name, beside those of its modules or in its
    folder."""
    for package in PACKAGES:
        layer = Path(package).name.removeprefix("ultracluster_")
        for path in sorted((ROOT / package).rglob("*.py")):
            place = Path("tests/unit", layer, path.relative_to(ROOT / package))
            name = place.parent.name if path.name.startswith("__") else place.stem
            yield path, str(place.with_name(f"test_{name}.py"))


def has_behaviour(source: str) -> bool:
    functions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, FUNCTIONS))
    return any(isinstance(node, DECISIONS) for function in functions for node in ast.walk(function))


@pytest.mark.parametrize(
    ("source", "behaves"),
    [
        ("LIMIT = 5\nTABLE = {n: n for n in range(LIMIT)}", False),
        ("class Model:\n    name: str\n    def text(self):\n        return self.name", False),
        ("class Model:\n    def text(self):\n        return self.name or 'nobody'", True),
        ("async def read():\n    raise OSError", True),
    ],
)
def test_behaviour_is_a_function_that_decides(source: str, *, behaves: bool) -> None:
    assert has_behaviour(source) is behaves


def test_each_module_with_behaviour_has_a_test_file() -> None:
    missing = {
        f"{path.relative_to(ROOT)}: {test}"
        for path, test in modules()
        if not path.name.startswith("__")
        and str(path.relative_to(ROOT)) not in TESTED_ELSEWHERE
        and not (ROOT / test).exists()
        and has_behaviour(path.read_text(encoding="utf-8"))
    }

    assert missing == set()


def test_each_test_file_is_named_for_a_module() -> None:
    named = {test for _, test in modules()}

    assert {file for file in files_of_tests() - named if not excused(file)} == set()


def files_of_tests() -> set[str]:
    layers = [
        ROOT / "tests" / "unit" / Path(package).name.removeprefix("ultracluster_") for package in PACKAGES
    ]
    return {str(path.relative_to(ROOT)) for layer in layers for path in layer.rglob("test_*.py")}


def excused(file: str) -> bool:
    return any(file == subject or file.startswith(f"{subject}/") for subject in OTHER_SUBJECTS)


def test_exceptions_are_needed() -> None:
    named = {test for _, test in modules()}

    assert {place for place in TESTED_ELSEWHERE if not (ROOT / place).exists()} == set()
    assert {
        subject
        for subject in OTHER_SUBJECTS
        if not any(file == subject or file.startswith(f"{subject}/") for file in files_of_tests() - named)
    } == set()
