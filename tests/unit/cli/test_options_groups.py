"""A data class of options is one parameter of a command and several options on the command line."""

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from ultracluster_cli.options import with_option_groups


@dataclass(frozen=True, kw_only=True)
class _Account:
    profile: Annotated[str | None, typer.Option(help="Profile.")] = None
    region: Annotated[str, typer.Option(help="Region.")]


def _run(*arguments: str) -> tuple[int, str]:
    app = typer.Typer()

    @app.command()
    @with_option_groups
    def show(name: str, *, account: _Account, times: int = 1) -> None:
        """Show the options."""
        typer.echo(f"{name} {account.profile} {account.region} {times}")

    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.output


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (("a", "--region", "us-east-2"), "a None us-east-2 1\n"),
        (("a", "--region", "us-east-2", "--profile", "p", "--times", "3"), "a p us-east-2 3\n"),
    ],
)
def test_a_command_gets_a_group_with_the_options_of_its_fields(
    arguments: tuple[str, ...], output: str
) -> None:
    assert _run(*arguments) == (0, output)


def test_a_field_without_a_default_is_a_required_option() -> None:
    code, output = _run("a")

    assert code == 2
    assert "--region" in output


def test_the_help_of_a_command_is_its_docstring_and_the_help_of_each_field() -> None:
    _, output = _run("--help")

    assert all(text in output for text in ("Show the options.", "Profile.", "Region.", "--times"))
