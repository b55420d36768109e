"""Each product module with behaviour has its test file, and each test file its module."""

import ast
from collections.abc import Container, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "constructs/ultracluster_catalog",
    "constructs/ultracluster_checks",
    "constructs/ultracluster_rules",
    "constructs/ultracluster_runtime",
    "stacks/ultracluster_stacks",
    "cli/ultracluster_cli",
)

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

# Test files whose subject is more than a module.
OTHER_SUBJECTS = {
    "tests/unit/checks/test_defects.py": "defects seeded into templates, and which tool finds each",
    "tests/unit/checks/test_rule_examples.py": "examples in the registry of rules",
    "tests/unit/cli/test_start_up.py": "what the whole command line imports",
    "tests/unit/cli/test_untrusted_files.py": "every reader of files of users",
    "tests/unit/runtime/functions/test_function_faults.py": "every Lambda function, with every fault of AWS",
    "tests/unit/runtime/purchasing/test_protocol.py": "the whole purchase, with every fault",
    "tests/unit/runtime/purchasing/test_protocol_bugs.py": "the exploration of faults itself",
    "tests/unit/runtime/purchasing/test_wire.py": "the requests of a whole purchase",
    "tests/unit/runtime/resume/test_interrupted_run.py": "a run that is interrupted three times, with all functions around it",
    "tests/unit/stacks/test_nothing_buys.py": "the templates of every rollout of this repository",
}
# Modules that run where their tests cannot be beside those of the others.
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


def is_named_for(file: str, tests: Container[str]) -> bool:
    """Whether the file is the test of a module, or of a part of one: test_MODULE_PART.py."""
    stem = file.removesuffix(".py")
    while not stem.endswith("/test"):
        if f"{stem}.py" in tests:
            return True
        stem = stem.rpartition("_")[0]
    return False


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


def test_each_test_file_is_named_for_a_module_or_says_what_else_it_is_about() -> None:
    named = {test for _, test in modules()}
    layers = {place.relative_to("tests/unit").parts[0] for place in map(Path, named)}
    files = {
        str(path.relative_to(ROOT))
        for layer in layers
        for path in (ROOT / "tests" / "unit" / layer).rglob("test_*.py")
    }

    assert {file for file in files if not is_named_for(file, named)} == set(OTHER_SUBJECTS)


def test_a_part_of_a_module_has_a_file_that_begins_like_that_of_the_module() -> None:
    assert is_named_for("tests/unit/rules/test_lustre_tiers.py", {"tests/unit/rules/test_lustre.py"})
    assert not is_named_for("tests/unit/rules/test_lustre.py", {"tests/unit/rules/test_lustre_tiers.py"})
    assert not is_named_for("tests/unit/rules/test_lustres.py", {"tests/unit/rules/test_lustre.py"})


def test_modules_that_are_tested_elsewhere_exist() -> None:
    assert {place for place in TESTED_ELSEWHERE if not (ROOT / place).exists()} == set()
