"""The command line answers at once: nothing heavy is imported before it is needed."""

import resource
import subprocess
import sys

import pytest

from ultracluster_cli.main import COMMANDS

pytestmark = pytest.mark.process

HEAVY = {"aws_cdk", "boto3", "botocore", "jsii", "matplotlib", "moto", "plotly", "yaml"}


def imported_by(arguments: list[str]) -> set[str]:
    code = f"import sys; from ultracluster_cli.main import main; main({arguments}); print(*sys.modules, file=sys.stderr)"
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert outcome.stdout.strip()
    return set(outcome.stderr.split())


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_help_and_version_import_nothing_heavy(argument: str) -> None:
    imported = imported_by([argument])

    assert "typer" in imported
    assert imported & (HEAVY | {"pydantic"}) == set()


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_help_of_a_command_imports_nothing_heavy(command: str) -> None:
    # Typer itself imports pydantic to describe arguments.
    assert imported_by([command, "--help"]) & HEAVY == set()


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_help_and_version_are_told_without_rich(argument: str) -> None:
    assert "rich" not in imported_by([argument])


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_help_and_version_take_less_than_half_a_second(argument: str) -> None:
    def processor_seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-c", f"from ultracluster_cli.main import main; main(['{argument}'])"]
        subprocess.run(command, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    # Of the processor and the best of a few: other work on this machine must not fail it.
    assert any(processor_seconds() < 0.5 for _ in range(5))
