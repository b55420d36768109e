"""The commands that README.md promises exist, and continuous integration runs the same ones."""

import os
import re
import subprocess
from pathlib import Path

import pytest


def test_continuous_integration_runs_the_test_command_of_the_readme(root: Path) -> None:
    commands = _fenced_commands(root / "README.md")
    steps = re.findall(r"^(make \w+)", (root / ".ci" / "run").read_text(), re.MULTILINE)

    assert "make test" in commands
    assert steps[-1] == "make test"
    assert {"make check", "make training"} <= set(steps)  # `make test` skips what needs torch and JAX


def test_the_readme_names_the_demo(root: Path) -> None:
    assert "make demo" in _fenced_commands(root / "README.md")


def test_every_make_command_of_the_documents_is_a_target(root: Path) -> None:
    documents = [*root.glob("*.md"), *root.glob("docs/**/*.md")]
    named = {
        (folder, target)
        for path in documents
        for folder, target in re.findall(
            r"(?:^|`)make (?:-C (\w+) )?([a-z-]+)", path.read_text(), re.MULTILINE
        )
    }
    targets = {
        (folder, target)
        for folder in ("", "localaws")
        for target in re.findall(r"^([a-z-]+):", (root / folder / "Makefile").read_text(), re.MULTILINE)
    }

    assert {("", "demo"), ("", "test"), ("localaws", "test")} <= named
    assert named - targets == set()


def test_the_ci_command_can_be_executed(root: Path) -> None:
    assert os.access(root / ".ci" / "run", os.X_OK)


@pytest.mark.slow
def test_make_help_lists_every_target(root: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(), re.MULTILINE))
    shown = subprocess.run(["make", "help"], cwd=root, capture_output=True, text=True, check=True).stdout

    assert set(re.findall(r"^  make ([\w-]+)", shown, re.MULTILINE)) == targets


@pytest.mark.slow
@pytest.mark.parametrize("python", ["no-such-python", "an-old-python"])
def test_make_names_what_is_wrong_with_python(root: Path, tmp_path: Path, python: str) -> None:
    old = tmp_path / "an-old-python"
    old.write_text("#!/bin/sh\nexit 1\n")  # answers "is your version 3.11 or newer?" with no
    old.chmod(0o755)
    (tmp_path / "Makefile").write_text((root / "Makefile").read_text())
    (tmp_path / "requirements.lock").touch()

    command = ["make", ".venv/.stamp-packages", f"PYTHON={tmp_path / python}"]
    outcome = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert outcome.returncode == 2  # make's code for a failed recipe
    assert "Python 3.11 or newer is needed" in outcome.stderr
    assert not (tmp_path / ".venv").exists()


def _fenced_commands(path: Path) -> list[str]:
    blocks = re.findall(
        r"^```(?:console|sh|bash|shell)\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL
    )
    return [line.removeprefix("$ ").strip() for block in blocks for line in block.splitlines()]
