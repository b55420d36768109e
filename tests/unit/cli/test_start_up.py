"""The command line starts quickly: nothing heavy is imported before it is needed."""

import json
import resource
import subprocess
import sys

import pytest

from ultracluster_cli.main import COMMANDS

pytestmark = pytest.mark.process

HEAVY = {"aws_cdk", "jsii", "moto"}
"""What takes seconds, or is optional: no command needs it to show its help."""

OFFLINE = ("check", "explain", "export", "init", "rules", "validate")
"""Commands that never ask AWS anything."""

# Runs each command line that comes in as a line, in a process that has imported the entry point and nothing else, and
# writes the modules that are then imported and the processor seconds, as if Python had started for this one alone.
RUNS = """
import json, os, sys, time
import ultracluster_cli.main
started = time.process_time()
for line in sys.stdin:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writing, 1)
        os.close(reading)
        os.close(writing)
        ultracluster_cli.main.main(json.loads(line))
        os.write(2, json.dumps(sorted(sys.modules)).encode())
        sys.exit()
    os.close(writing)
    with os.fdopen(reading) as shown:
        assert shown.read().strip()
    usage = os.wait4(child, 0)[2]
    os.write(2, f"\\t{started + usage.ru_utime + usage.ru_stime}\\n".encode())
"""


@pytest.fixture(scope="module")
def answered() -> dict[str, tuple[float, set[str]]]:
    """Processor seconds and imported modules when the command line has answered, by its arguments."""
    lines = ["--version", "--help", *(f"{command} --help" for command in COMMANDS)]
    outcome = subprocess.run(
        [sys.executable, "-c", RUNS],
        input="".join(f"{json.dumps(line.split())}\n" for line in lines),
        capture_output=True,
        text=True,
        check=True,
    )
    written = [line.split("\t") for line in outcome.stderr.splitlines()]
    return {
        line: (float(seconds), set(json.loads(modules)))
        for line, (modules, seconds) in zip(lines, written, strict=True)
    }


@pytest.fixture(scope="module")
def imported(answered: dict[str, tuple[float, set[str]]]) -> dict[str, set[str]]:
    """The modules that are imported when the command line has answered, by its arguments."""
    return {line: modules for line, (_, modules) in answered.items()}


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_help_and_version_import_no_command_and_nothing_heavy(
    imported: dict[str, set[str]], argument: str
) -> None:
    modules = imported[argument]

    assert "typer" in modules
    assert modules & {command.module for command in COMMANDS.values()} == set()
    assert modules & (HEAVY | {"boto3", "botocore", "pydantic", "rich", "yaml"}) == set()
    ours = ("ultracluster_checks", "ultracluster_local", "ultracluster_runtime", "ultracluster_stacks")
    assert [name for name in modules if name.startswith(ours)] == []


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_help_of_a_command_imports_nothing_heavy(imported: dict[str, set[str]], command: str) -> None:
    assert COMMANDS[command].module in imported[f"{command} --help"]
    assert imported[f"{command} --help"] & HEAVY == set()


@pytest.mark.parametrize("command", OFFLINE)
def test_a_command_that_never_calls_aws_does_not_import_boto3(
    imported: dict[str, set[str]], command: str
) -> None:
    assert "boto3" not in imported[f"{command} --help"]


@pytest.mark.parametrize(
    ("arguments", "limit"),
    [("--version", 0.25), ("--help", 0.25), *((f"{name} --help", 1) for name in COMMANDS)],
)
def test_the_command_line_starts_quickly(
    answered: dict[str, tuple[float, set[str]]], arguments: str, limit: float
) -> None:
    program = f"from ultracluster_cli.main import main; main({arguments.split()})"

    def is_quick() -> bool:
        libraries = processor_seconds("import boto3, pydantic, rich.console, typer")
        return processor_seconds(program) < max(limit, 3 * limit * libraries)

    # Processor time, and the best of a few runs: other work on this machine must not fail the test. On a slow one, the limit
    # is three times what the libraries take that commands share.
    assert answered[arguments][0] < limit or any(is_quick() for _ in range(5))


def processor_seconds(program: str) -> float:
    """Return the processor seconds in which a new Python runs a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
