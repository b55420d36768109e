"""constructs/ is a source root as src/ is elsewhere; a package of that name would hide the one that aws_cdk imports."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOP_LEVEL_FILES = {
    ".editorconfig",
    ".gitignore",
    ".npmrc",
    ".pre-commit-config.yaml",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "SECURITY.md",
    "app.py",
    "cdk.json",
    "hatch_build.py",
    "package-lock.json",
    "package.json",
    "pyproject.toml",
    "requirements.lock",
}
TOP_LEVEL_FOLDERS = {
    ".ci",
    ".github",
    "benchmarks",
    "cli",
    "constructs",
    "docs",
    "examples",
    "localaws",
    "stacks",
    "tests",
}


def test_no_source_root_is_a_package(root: Path) -> None:
    assert [name for name in sorted(TOP_LEVEL_FOLDERS) if (root / name / "__init__.py").exists()] == []


def test_no_folder_of_tests_is_called_constructs(root: Path) -> None:
    folders = [path for path in (root / "tests").rglob("*") if path.is_dir()]

    assert folders
    assert [path for path in folders if path.name == "constructs"] == []


def test_the_top_level_holds_what_it_should_and_nothing_else(root: Path, ignored: frozenset[str]) -> None:
    entries = {path.name: path.is_dir() for path in root.iterdir() if path.name not in ignored}

    entries.pop("PKG-INFO", None)  # a source distribution has it
    assert {name for name, is_folder in entries.items() if not is_folder} == TOP_LEVEL_FILES
    assert {name for name, is_folder in entries.items() if is_folder} <= TOP_LEVEL_FOLDERS


def test_every_package_is_typed(root: Path) -> None:
    packages = [
        path.parent for path in root.glob("*/*/__init__.py") if path.parent.name.startswith("ultracluster")
    ]

    assert len(packages) == 8
    assert [package.name for package in packages if not (package / "py.typed").exists()] == []


@pytest.mark.slow
def test_pytest_names_the_cause_when_constructs_is_a_package(root: Path, tmp_path: Path) -> None:
    (tmp_path / "constructs").mkdir()
    (tmp_path / "constructs" / "__init__.py").touch()
    (tmp_path / "tests").mkdir()
    shutil.copy(root / "tests" / "conftest.py", tmp_path / "tests" / "conftest.py")
    (tmp_path / "tests" / "test_nothing.py").write_text("def test_nothing() -> None:\n    pass\n")

    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"]
    outcome = subprocess.run([*command, "tests"], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert outcome.returncode == 4  # pytest's code for wrong usage
    assert "constructs/__init__.py exists" in outcome.stdout + outcome.stderr
