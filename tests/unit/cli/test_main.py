"""The entry point: version, help and exit codes."""

import errno
import importlib
import importlib.metadata
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
import typer
from tests.unit.cli.conftest import Run

from ultracluster_cli import main as main_module
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.main import COMMANDS, Command, load_command
from ultracluster_spec.findings import Finding, FindingsError


@pytest.fixture
def add_command(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Add a command `probe` that runs a function."""

    def add(function: Callable[[], None]) -> None:
        module = types.ModuleType("ultracluster_cli_probe")
        module.probe = function  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setitem(COMMANDS, "probe", Command(module.__name__, "Probe."))

    return add


def test_the_version_is_that_of_the_package(run: Run) -> None:
    assert run("--version").stdout.strip() == importlib.metadata.version("ultracluster")


@pytest.mark.slow
def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "ultracluster", "--version"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown.strip() == importlib.metadata.version("ultracluster")


def test_the_help_describes_every_command(run: Run) -> None:
    shown = run("--help").stdout

    words = " ".join(shown.split())
    for name, command in COMMANDS.items():
        assert f" {name} {command.help} " in words


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_list_of_commands_matches_the_help_of_each_command(name: str) -> None:
    assert load_command(name).help.partition("\n\n")[0] == COMMANDS[name].help


def test_the_help_and_the_documentation_list_every_exit_code(run: Run) -> None:
    words = " ".join(run("--help").stdout.partition("Exit codes:")[2].split())
    page = (Path(__file__).parents[3] / "docs" / "reference" / "command-line.md").read_text("utf-8")

    assert words == " ".join(f"{code.value} {code.meaning}" for code in ExitCode)
    assert "\n".join(f"| {code.value} | {code.meaning} |" for code in ExitCode) in page


def test_nothing_named_shows_the_help(run: Run) -> None:
    outcome = run()

    assert outcome.code == 2
    assert "Usage: ultracluster" in outcome.stdout + outcome.stderr


def test_an_unknown_command_is_refused_with_the_nearest_one(run: Run) -> None:
    outcome = run("valdate")

    assert outcome.code == 2
    assert "validate" in outcome.stderr
    assert outcome.stdout == ""


def test_findings_end_as_lines_on_stderr_with_code_2_and_no_traceback(run: Run, add_command: Any) -> None:
    findings = [Finding.message("first"), Finding("UC4101", "second")]

    def probe() -> NoReturn:
        raise FindingsError(findings)

    add_command(probe)

    outcome = run("probe")

    assert outcome.code == 2
    assert outcome.stderr == "error: first.\nUC4101: second.\n"
    assert outcome.stdout == ""


def test_ctrl_c_ends_with_code_130_and_no_traceback(run: Run, add_command: Any) -> None:
    def probe() -> NoReturn:
        raise KeyboardInterrupt

    add_command(probe)

    outcome = run("probe")

    assert outcome.code == 130
    assert "Traceback" not in outcome.stderr


def test_an_internal_error_is_not_hidden(run: Run, add_command: Any) -> None:
    def probe() -> NoReturn:
        raise RuntimeError("a bug")

    add_command(probe)

    outcome = run("probe")

    assert outcome.code == ExitCode.FAILED
    assert outcome.stderr.startswith("error: a bug in ultracluster: RuntimeError: a bug (test_main.py:")


def test_a_command_can_set_its_exit_code(run: Run, add_command: Any) -> None:
    def probe() -> NoReturn:
        raise typer.Exit(7)

    add_command(probe)

    assert run("probe").code == 7


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_complete_commands(shell: str) -> None:
    script = subprocess.run(
        [sys.executable, "-c", "import sys; from ultracluster_cli.main import main; sys.exit(main())"],
        env={"_ULTRACLUSTER_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "ultracluster" in script.stdout


@pytest.mark.parametrize(("command", "code"), [("docs", ExitCode.DONE), ("plan", ExitCode.UNKNOWN)])
def test_a_reader_that_closes_its_pipe_is_no_error(
    command: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def gone(*_: object, **__: object) -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr(main_module, "app", gone)
    assert main_module.main([command]) == code
    assert capsys.readouterr().err == ""
