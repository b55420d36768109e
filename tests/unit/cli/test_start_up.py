"""The command line starts quickly: nothing heavy is imported before it is needed."""

import json
import resource
import subprocess
import sys

import pytest

from ultracluster_cli.main import COMMANDS

pytestmark = pytest.mark.slow

HEAVY = {"aws_cdk", "jsii", "moto"}
"""What takes seconds, or is optional: no command needs it to show its help."""

OFFLINE = ("docs", "export", "init", "validate")
"""Commands that never ask AWS anything."""

# Runs each command line that comes in as a line, with its module, all in one process. It writes the modules that are new and
# the most processor seconds that the line could take in a process of its own: of the start, of all imports until then, and of
# its answer.
RUNS = """
import contextlib, importlib, io, json, sys, time
import ultracluster_cli.main
known, imports = set(), time.process_time()
for line in sys.stdin:
    arguments, module = json.loads(line)
    began = time.process_time()
    if module:
        importlib.import_module(module)
    imports += time.process_time() - began
    began = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):
        ultracluster_cli.main.main(arguments)
    assert shown.getvalue().strip()
    new = sorted(set(sys.modules) - known)
    known.update(new)
    print(json.dumps([imports + time.process_time() - began, new]))
"""


@pytest.fixture(scope="module")
def answered() -> dict[str, tuple[float, set[str]]]:
    """Processor seconds at most, and new modules, by command line: those that import least come first."""
    commands = [*OFFLINE, *(name for name in COMMANDS if name not in OFFLINE)]
    lines = {"--version": "", "--help": ""} | {f"{name} --help": COMMANDS[name].module for name in commands}
    outcome = subprocess.run(
        [sys.executable, "-c", RUNS],
        input="".join(f"{json.dumps([line.split(), module])}\n" for line, module in lines.items()),
        capture_output=True,
        text=True,
        check=True,
    )
    written = map(json.loads, outcome.stdout.splitlines())
    return {line: (seconds, set(new)) for line, (seconds, new) in zip(lines, written, strict=True)}


@pytest.fixture(scope="module")
def imported(answered: dict[str, tuple[float, set[str]]]) -> dict[str, set[str]]:
    """The modules that a command line imports and none before it, by its arguments."""
    return {line: modules for line, (_, modules) in answered.items()}


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_help_and_version_import_no_command_and_nothing_heavy(
    imported: dict[str, set[str]], argument: str
) -> None:
    modules = imported[argument]

    assert "typer" in imported["--version"]
    assert modules & {command.module for command in COMMANDS.values()} == set()
    assert modules & (HEAVY | {"boto3", "botocore", "pydantic", "rich", "yaml"}) == set()
    ours = ("ultracluster_checks", "ultracluster_local", "ultracluster_runtime", "ultracluster_stacks")
    assert [name for name in modules if name.startswith(ours)] == []


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_help_of_a_command_imports_nothing_heavy(imported: dict[str, set[str]], command: str) -> None:
    assert any(COMMANDS[command].module in modules for modules in imported.values())
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
    answered: dict[str, tuple[float, set[str]]], libraries: float, arguments: str, limit: float
) -> None:
    program = f"from ultracluster_cli.main import main; main({arguments.split()})"
    # On a slow machine, the limit is three times what the libraries take that commands share.
    limit = max(limit, 3 * limit * libraries)

    # Processor time, and the best of a few runs: other work on this machine must not fail the test.
    assert answered[arguments][0] < limit or any(processor_seconds(program) < limit for _ in range(5))


@pytest.fixture(scope="module")
def libraries() -> float:
    """Processor seconds of the libraries that commands share."""
    return processor_seconds("import boto3, pydantic, rich.console, typer")


def processor_seconds(program: str) -> float:
    """Return the processor seconds in which a new Python runs a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
