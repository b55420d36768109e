"""The command line answers at once: nothing heavy is imported before it is needed."""

import json
import resource
import subprocess
import sys

import pytest

from ultracluster_cli.main import COMMANDS

pytestmark = pytest.mark.process

HEAVY = {"aws_cdk", "boto3", "botocore", "jsii", "matplotlib", "moto", "plotly", "yaml"}

# Runs each command line that comes in as a line, in a process that has imported the entry point and nothing else, and
# writes the modules that are then imported. Python itself starts once for all of them.
RUNS = """
import json, os, sys
import ultracluster_cli.main
for line in sys.stdin:
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.dup2(writing, 1)
        os.close(reading)
        ultracluster_cli.main.main(json.loads(line))
        sys.stdout.flush()
        os.write(2, (json.dumps(sorted(sys.modules)) + "\\n").encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as shown:
        assert shown.read().strip()
    os.wait()
"""


@pytest.fixture(scope="module")
def imported() -> dict[str, set[str]]:
    """The modules that are imported when the command line has answered, by its arguments."""
    lines = ["--version", "--help", *(f"{command} --help" for command in COMMANDS)]
    outcome = subprocess.run(
        [sys.executable, "-c", RUNS],
        input="".join(f"{json.dumps(line.split())}\n" for line in lines),
        capture_output=True,
        text=True,
        check=True,
    )
    return {
        line: set(json.loads(modules))
        for line, modules in zip(lines, outcome.stderr.splitlines(), strict=True)
    }


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_help_and_version_import_nothing_heavy(imported: dict[str, set[str]], argument: str) -> None:
    assert "typer" in imported[argument]
    assert imported[argument] & (HEAVY | {"pydantic"}) == set()


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_help_of_a_command_imports_nothing_heavy(imported: dict[str, set[str]], command: str) -> None:
    # Typer itself imports pydantic to describe arguments.
    assert COMMANDS[command] in imported[f"{command} --help"]
    assert imported[f"{command} --help"] & HEAVY == set()


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_help_and_version_are_told_without_rich(imported: dict[str, set[str]], argument: str) -> None:
    assert "rich" not in imported[argument]


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
