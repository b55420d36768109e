"""Options shared by several commands, so that they have the same name and help everywhere."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import is_dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ultracluster_cli._cdk.workspace import default_rollout
from ultracluster_spec.findings import Finding, FindingsError, quote

LEDGER_VARIABLE = "ULTRACLUSTER_LEDGER"
LEDGER_REGION_VARIABLE = "ULTRACLUSTER_LEDGER_REGION"


def refuse_cluster(context: typer.Context, rollout: Path) -> Path:
    """Refuse the name of a cluster of the project in place of a file: other commands take one there."""
    if context.resilient_parsing or rollout.suffix or rollout.exists():
        return rollout
    from ultracluster_cli._aws.selection import project_clusters  # noqa: PLC0415 - reads YAML, which the help does not need

    name = str(rollout)
    if any(cluster.name == name for cluster in project_clusters()):
        command = context.command_path
        names_clusters = any(parameter.name == "cluster" for parameter in context.command.params)
        remedy = f"Run `{command} --cluster {name}`" if names_clusters else "Leave it out"
        problem = f"got {quote(name)}, which is a cluster of {default_rollout()}"
        raise FindingsError.message(problem, path="ROLLOUT", allowed="a rollout file", remedy=remedy)
    return rollout


RolloutArgument = Annotated[
    Path,
    typer.Argument(
        metavar="ROLLOUT",
        callback=refuse_cluster,
        help="Rollout file. Default: the `rollout` context value in cdk.json.",
        default_factory=default_rollout,
        show_default=False,
    ),
]
DefaultClusterArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="CLUSTER",
        help="Cluster name, stack name, or ARN of the job queue. Default: the only cluster of the project.",
        show_default=False,
    ),
]
WaveOption = Annotated[str | None, typer.Option(help="Limit to the clusters of this wave. Default: all.")]
ClusterOption = Annotated[str | None, typer.Option(help="Limit to this cluster. Default: all.")]
ClustersOption = Annotated[
    list[str] | None, typer.Option(help="Limit to this cluster; repeatable. Default: all.")
]
AllowOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WHAT",
        help="Allow a dangerous change, as named by `plan`, such as replace:STACK/LOGICAL_ID, or `unanswered`: what the "
        "account did not answer; repeatable.",
    ),
]
SkipOption = Annotated[
    list[str] | None, typer.Option(metavar="CODE", help="Skip this preflight check; repeatable.")
]
ProfileOption = Annotated[
    str | None, typer.Option(help="AWS profile. Default: AWS_PROFILE or the default profile.")
]
RolloutProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile",
        help="AWS profile. Default: the cluster's `profile`, else AWS_PROFILE or the default profile.",
    ),
]
LedgerOption = Annotated[
    str | None,
    typer.Option(
        help="DynamoDB table of the capacity ledger. Default: `ledger` in the context of cdk.json.",
        envvar=LEDGER_VARIABLE,
        show_envvar=True,
    ),
]
LedgerRegionOption = Annotated[
    str | None,
    typer.Option(
        help="Region of the capacity ledger. Default: that of the table in cdk.json.",
        envvar=LEDGER_REGION_VARIABLE,
        show_envvar=True,
    ),
]
RecordingOption = Annotated[
    Path | None, typer.Option("--from", metavar="FILE", help="Read metrics from this recording.")
]
MetricsClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        help="Read the metrics of this cluster from CloudWatch. Default: the only cluster of the project.",
    ),
]
LookBackOption = Annotated[float, typer.Option("--hours", help="Hours of CloudWatch metrics to read.")]
FileSystemOption = Annotated[
    str | None, typer.Option(metavar="fs-…", help="Include the free space of this file system.")
]


def wrong_option(option: str, value: object, *, allowed: str, remedy: str = "") -> Finding:
    """Return the message that an option has a wrong value."""
    return Finding.message(f"got {quote(value)}", allowed=allowed, remedy=remedy, path=option)


def _check_price(price: float | None) -> float | None:
    if price is not None and not 0 < price < float("inf"):
        raise FindingsError([wrong_option("--node-hour", price, allowed="more than 0")])
    return price


NodeHourOption = Annotated[
    float | None,
    typer.Option(
        "--node-hour",
        metavar="USD",
        help="Price of a node-hour. Without it, `cost advise` and `cost report` use the list price.",
        callback=_check_price,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
FallbackRegionOption = Annotated[
    str | None,
    typer.Option(metavar="REGION", help="Region whose prices replace unknown ones. Default: the nearest."),
]
LOCAL_HELP = "Use a local AWS on this machine instead of an account."
LocalOption = Annotated[bool, typer.Option("--local", help=LOCAL_HELP)]


def _check_suffix(context: typer.Context, path: Path | None) -> Path | None:
    """Refuse a file that is not written before the command does anything: only the dashboard is a page."""
    suffix = ".html" if context.info_name == "dashboard" else ".svg"
    if path is not None and path.suffix != suffix:
        raise FindingsError([wrong_option("--picture", str(path), allowed=f"FILE{suffix}")])
    return path


PictureOption = Annotated[
    Path | None,
    typer.Option("--picture", metavar="FILE", help="Draw the result to this file.", callback=_check_suffix),
]
WriteOption = Annotated[
    bool, typer.Option("--write", help="Update the rollout file. Default: only show the result.")
]
YesOption = Annotated[bool, typer.Option("--yes", help="Skip confirmation prompts.")]


class CommandGroup(TyperGroup):
    """Commands that the help lists with their whole first sentence, which Click would cut off."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands."""
        del ctx
        with formatter.section("Commands"):
            commands = self.commands.items()
            formatter.write_dl([(name, command.get_short_help_str(limit=200)) for name, command in commands])


def command_group(
    description: str, *, cls: type[CommandGroup] = CommandGroup, **settings: Any
) -> typer.Typer:
    """Return a group of commands, whose help shows a description."""
    return typer.Typer(
        cls=cls,
        add_completion=False,
        no_args_is_help=True,
        help=description,
        rich_markup_mode=None,  # rich doubles the time of the help
        **settings,
    )


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for Typer, with one option for each field of a parameter whose type is a data class."""
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Callable[..., Any]] = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if isinstance(parameter.annotation, type) and is_dataclass(parameter.annotation)
    }

    @functools.wraps(command)
    def run(**options: Any) -> None:
        for name, group in groups.items():
            options[name] = group(
                **{field: options.pop(field) for field in inspect.signature(group).parameters}
            )
        command(**options)

    parameters = [
        option
        for name, parameter in signature.parameters.items()
        for option in (
            inspect.signature(groups[name]).parameters.values() if name in groups else (parameter,)
        )
    ]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run
