"""The entry point: reads the command line, loads the one command that is named, and turns findings into exit code 2."""

import gc
import importlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ultracluster_rules.findings import FindingsError

__all__ = ["COMMANDS", "FINDINGS_EXIT_CODE", "app", "main"]

COMMANDS = {
    "advise": "ultracluster_cli.metrics.advise",
    "ami": "ultracluster_cli.ami.command",
    "capacity": "ultracluster_cli.capacity.command",
    "check": "ultracluster_cli.inspect.check",
    "cost": "ultracluster_cli.cost.command",
    "dashboard": "ultracluster_cli.metrics.dashboard",
    "demo": "ultracluster_cli.local.demo",
    "deploy": "ultracluster_cli.deploy.command",
    "explain": "ultracluster_cli.inspect.explain",
    "export": "ultracluster_cli.export.command",
    "init": "ultracluster_cli.project.init",
    "jobs": "ultracluster_cli.jobs.command",
    "local": "ultracluster_cli.local.command",
    "plan": "ultracluster_cli.plan.command",
    "preflight": "ultracluster_cli.preflight.command",
    "rollout": "ultracluster_cli.rollout.command",
    "rules": "ultracluster_cli.inspect.rules",
    "scale": "ultracluster_cli.scale",
    "validate": "ultracluster_cli.inspect.validate",
}
"""The module of each command or group of commands, which offers a `typer.Typer` called `app`.

A module is imported when its command is named, or to list it in the help. So it imports nothing heavy (boto3,
pydantic, moto, rich) at its top, but inside the function that needs it; tests/unit/cli/test_start_up.py holds it to that.
"""

FINDINGS_EXIT_CODE = 2
"""What the process ends with when a rule was broken; the findings are then on stderr, one line each."""

_INTERRUPTED_EXIT_CODE = 130
_OBJECTS_BEFORE_COLLECTION = 100_000


class _LazyCommands(Mapping[str, Any]):
    """The commands by name, each imported when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        command = typer.main.get_command(importlib.import_module(COMMANDS[name]).app)
        command.name = name
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _Commands(TyperGroup):
    """The commands of `COMMANDS`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = _LazyCommands()  # type: ignore[assignment]  # Typer only reads it

    def list_commands(self, ctx: Any) -> list[str]:
        del ctx
        return sorted(COMMANDS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List what each command does, as the first paragraph of its help says it; click would cut it to one line."""
        helps = {name: self.commands[name].help or "" for name in self.list_commands(ctx)}
        with formatter.section("Commands"):
            formatter.write_dl([(name, text.partition("\n\n")[0]) for name, text in helps.items()])


app = typer.Typer(
    name="ultracluster",
    cls=_Commands,
    help="AWS Trainium UltraClusters: validate a rollout, deploy it to a real account or to a local AWS.",
    no_args_is_help=True,
    rich_markup_mode=None,  # importing what draws boxes takes as long as all the rest of this help
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 - a sixth of what the help takes

        typer.echo(version("ultracluster"))
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    del version  # its callback has done the work


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: What follows the program's name. Default: the arguments of this process.

    Returns:
        The exit code: 0 for success, 1 for a command that was given up, 2 for findings and for a wrong command line,
        130 after Ctrl-C.
    """
    # What a command imports and reads stays to its end; looking through it for garbage again and again is a fifth of the
    # time of a deployment to a local AWS.
    gc.set_threshold(_OBJECTS_BEFORE_COLLECTION)
    # A plugin of pydantic that is installed beside us could change what a rollout gives; to look for one takes 5 ms.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        app(arguments, prog_name="ultracluster")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except FindingsError as error:
        sys.stdout.flush()
        sys.stderr.write(f"{error}\n")
        if sys.stderr.isatty():  # a program that reads findings gets nothing but findings
            sys.stderr.write(f"`ultracluster rules {error.findings[0].code}` explains a rule.\n")
        return FINDINGS_EXIT_CODE
    except KeyboardInterrupt:
        return _INTERRUPTED_EXIT_CODE
    return 0
