"""Entry point: import the requested command, run it, and convert findings to an exit code."""

import atexit
import gc
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from ultracluster_cli.exit_codes import CommandError, ExitCode, NotRunningError, exit_code_of
from ultracluster_cli.options import LOCAL_HELP
from ultracluster_cli.output import wrapped
from ultracluster_cli.predecessors import successor_note
from ultracluster_cli.progress import interruption_note, progress_line
from ultracluster_spec.findings import FindingsError, quote


class Command(NamedTuple):
    """A command, or a group of commands.

    Attributes:
        module: Module, imported when the command runs, with a function of the command's name, or for a group with a
            `typer.Typer` called `app`.
        help: One line for the list of commands; the first paragraph of the command's own help.
        member: Command of the group that this is a short word for. Default: none.
    """

    module: str
    help: str
    member: str = ""


_COMMANDS = {
    "ami": ("ami.command", "Bake and find AMIs, and pin rollouts to their IDs."),
    "clusters": ("operate.clusters", "List the clusters of an account, without a rollout file."),
    "capacity": ("capacity.command", "Find Capacity Blocks, buy each at most once, and verify their use."),
    "cost": (
        "cost.command",
        "Estimate costs, show actual ones, report what a block gave, or find savings.",
    ),
    "dashboard": (
        "metrics.dashboard",
        "Chart the metrics of a cluster on an HTML page, or save them as a recording.",
    ),
    "demo": ("local.demo", "Buy capacity on a local AWS, deploy a rollout, and train on it."),
    "destroy": (
        "operate.destroy",
        "Delete the stacks of clusters, and list the retained resources with their monthly cost.",
    ),
    "deploy": ("deploy.command", "Deploy a rollout with the CDK CLI and show the result."),
    "docs": (
        "docs",
        "Print a page of the documentation or about a class, explain rules by their codes, or search for words.",
    ),
    "export": ("export.command", "Export CloudFormation templates for teams that deploy without the CDK."),
    "init": (
        "project.init",
        "Create a project: app, rollout file, tests and pipelines for GitHub and GitLab.",
    ),
    "jobs": ("jobs.command", "Submit, list, explain, follow and stop jobs."),
    "local": ("local.command", "Run a local AWS on this machine, without an account or costs."),
    "nodes": ("operate.nodes", "List, describe and replace nodes, or open a shell."),
    "plan": ("plan.command", "Show what a deployment would add, change, replace, retain and remove."),
    "preflight": ("preflight.command", "Check whether an account is ready for a rollout."),
    "rollout": ("rollout.command", "Deploy a rollout wave by wave, with gates in between."),
    "run": (
        "run.command",
        "Run a Python program from a folder on a cluster, and follow its log until it ends.",
    ),
    "status": ("operate.status", "Show what is deployed, what runs, and what it costs, on one screen."),
    "validate": ("validate", "Validate a rollout file, or CloudFormation templates."),
}
_JOBS = "ultracluster_cli.jobs.command"
COMMANDS = {
    **{name: Command(f"ultracluster_cli.{module}", text) for name, (module, text) in _COMMANDS.items()},
    "logs": Command(_JOBS, "Print the log of a job: of its main node, of another node, or of all.", "logs"),
    "queue": Command(
        _JOBS,
        "List the jobs of a cluster by queue, oldest first, and those that wait for their resume.",
        "list",
    ),
    "stop": Command(_JOBS, "Stop or cancel a job after giving it time to write a checkpoint.", "stop"),
}
"""The commands by name. Listing them in the help imports none of their modules."""


_SHOWING = frozenset({"clusters", "cost", "dashboard", "docs", "jobs", "logs", "nodes", "queue", "status"})
_MEANT = {
    **dict.fromkeys(("delete", "remove", "teardown", "undeploy", "rm"), "destroy"),
    **dict.fromkeys(("list", "ls", "ps", "info", "describe"), "status"),
    **dict.fromkeys(("shell", "ssh", "node"), "nodes"),
    **dict.fromkeys(("apply", "up", "launch"), "deploy"),
    **dict.fromkeys(("submit", "job"), "jobs"),
    **dict.fromkeys(("buy", "reserve", "reservations"), "capacity"),
    **dict.fromkeys(("diff", "preview"), "plan"),
    **dict.fromkeys(("new", "create", "configure"), "init"),
    **dict.fromkeys(("bake", "image", "images"), "ami"),
}
"""Commands by what others call them."""

_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")


def _read_plain_numbers(command: Any) -> None:
    """Make all options of a command refuse numbers that Python reads and people do not write: ``1_0``, ``nan``, ``٣``."""
    for child in getattr(command, "commands", {}).values():
        _read_plain_numbers(child)
    for parameter in command.params:
        if re.search(r"\b(?:int|float)\b", str(parameter.type_descriptor.annotation)):
            parameter.process_value = partial(_plain_number, parameter, parameter.process_value)


def _add_local_option(command: Any, option: Any) -> None:
    """Add `--local` to a command that takes an AWS profile, and to the commands of a group."""
    for child in getattr(command, "commands", {}).values():
        _add_local_option(child, option)
    names = {parameter.name for parameter in command.params}
    if "profile" in names and "local" not in names:
        command.params.append(option)


def _local_option() -> Any:
    def probe(
        *, local: Annotated[bool, typer.Option("--local", help=LOCAL_HELP, callback=_use_local_aws)] = False
    ) -> None:
        del local

    probing = typer.Typer(add_completion=False, rich_markup_mode=None)
    probing.command()(probe)
    options = {option.name: option for option in typer.main.get_command(probing).params}
    option = options["local"]
    option.expose_value = False  # the commands know AWS by their environment
    return option


def _use_local_aws(context: typer.Context, requested: bool) -> bool:
    if requested and not context.resilient_parsing:
        from ultracluster_cli._aws.targets import use_local_aws  # noqa: PLC0415 - boto3, which the help does not need

        context.call_on_close(use_local_aws())
    return requested


def _plain_number(parameter: Any, process_value: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    for text in value if isinstance(value, (list, tuple)) else (value,):
        if isinstance(text, str) and not _NUMBER.fullmatch(text):
            problem = f"{quote(text)} is not a number such as 10 or 2.5."
            raise typer.BadParameter(problem, param_hint=f"'{parameter.opts[0]}'")
    return process_value(context, value)


def load_command(name: str) -> Any:
    """Import a command or a group of commands."""
    module = importlib.import_module(COMMANDS[name].module)
    member = COMMANDS[name].member
    group = getattr(module, "app", None)
    if group is None:
        group = typer.Typer(add_completion=False, rich_markup_mode=None)
        group.command()(getattr(module, name))
    command: Any = typer.main.get_command(group)
    command = command.commands[member] if member else command
    command.name = name
    _add_local_option(command, _local_option())
    _read_plain_numbers(command)
    return command


class _LazyCommands(Mapping[str, Any]):
    """The commands by name, each imported when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        return load_command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


@contextmanager
def _usage_errors_wrapped() -> Iterator[None]:
    """Let a terminal get errors of usage wrapped at words, as it gets findings; Typer prints each as one line."""
    try:
        yield
    except TyperException as error:
        text = wrapped(f"Error: {error.format_message()}").removeprefix("Error: ")
        error.format_message = lambda: text  # type: ignore[method-assign]
        raise


class _Commands(TyperGroup):
    """The commands of `COMMANDS`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = _LazyCommands()  # type: ignore[assignment]  # Typer only reads it

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        with _usage_errors_wrapped():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        with _usage_errors_wrapped():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        # "destroy" must never be answered with "deploy": only what nearly matches, or means the same, is suggested.
        if args and args[0] not in COMMANDS:
            similar = get_close_matches(args[0], COMMANDS, cutoff=0.75)
            meant = _MEANT.get(args[0]) or next(iter(similar), None)
            suggestion = f" Did you mean {meant!r}?" if meant else ""
            ctx.fail(f"No such command {quote(args[0])}.{suggestion}")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        del ctx
        return sorted(COMMANDS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name].help) for name in self.list_commands(ctx)])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        del ctx
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code.value), code.meaning) for code in ExitCode])


app = typer.Typer(
    name="ultracluster",
    cls=_Commands,
    help="Plan, buy, deploy and operate AWS Trainium UltraClusters.",
    no_args_is_help=True,
    rich_markup_mode=None,  # rich doubles the time of the help
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _show_version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version  # noqa: PLC0415 - takes a sixth of the time of --help

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
    del version  # the callback of the option handles it


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, by default with the arguments of this process, and return an `ExitCode`."""
    # A command makes objects once and ends: models of AWS services and templates, at which the collector would look for
    # a tenth to a third of its time.
    gc.set_threshold(100_000, 50, 50)
    atexit.register(gc.freeze)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the caller closed it
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - open until the process ends
    code = _run(arguments)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            # Otherwise the interpreter fails when it exits, with another exit code.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if not isinstance(error, BrokenPipeError):  # a reader such as `head` has seen enough
                code = code or _report(error)
    return code


def _run(arguments: Sequence[str] | None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    if note := successor_note(words):
        with suppress(OSError):
            sys.stderr.write(f"{note}\n")
        return ExitCode.FINDINGS
    command = " ".join(word for word in words[:2] if word.isalpha())
    try:
        with progress_line(command):
            app(arguments, prog_name="ultracluster")
    except SystemExit as exit_request:
        if isinstance(exit_request.__context__, OSError):  # Typer ends so if the reader of a pipe has gone
            return _report(exit_request.__context__, command)
        if exit_request.code == ExitCode.INTERRUPTED:
            _note_interruption(command)
        return exit_request.code if isinstance(exit_request.code, int) else ExitCode.DONE
    except KeyboardInterrupt:
        _note_interruption(command)
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - people get a line, whatever it is
        return _report(error, command)
    return ExitCode.DONE


def _note_interruption(command: str) -> None:
    with suppress(OSError):
        sys.stderr.write(f"{wrapped(interruption_note(command))}\n")


def _report(error: Exception, command: str = "") -> int:
    """Print findings, or an unforeseen error as one, and return the exit code."""
    if isinstance(error, BrokenPipeError) and error.filename is None:
        # A reader such as `head` has seen enough. What only shows something has done its work; else the outcome is not known.
        return ExitCode.DONE if command.partition(" ")[0] in _SHOWING else ExitCode.UNKNOWN
    endpoint = os.environ.get("AWS_ENDPOINT_URL", "")
    if endpoint.startswith("http://localhost:") and f'connect to the endpoint URL: "{endpoint}' in str(error):
        problem = f"the local AWS at {endpoint}, which this shell uses, has stopped"
        remedy = 'Run `eval "$(ultracluster local down)"` to leave it, or start another with `ultracluster local up`'
        error = NotRunningError.message(problem, remedy=remedy)
    if not isinstance(error, FindingsError):
        from ultracluster_cli.unforeseen import finding_of  # noqa: PLC0415 - not needed by most runs

        error = CommandError([finding_of(error)])
    with suppress(OSError):
        sys.stdout.flush()
    with suppress(OSError):
        sys.stderr.write(f"{wrapped(str(error))}\n")
        code = error.findings[0].code
        if code and sys.stderr.isatty():  # if piped, print findings only
            sys.stderr.write(f"Run `ultracluster docs {code}` for an explanation.\n")
    return error.exit_code if isinstance(error, CommandError) else exit_code_of(error.findings)
