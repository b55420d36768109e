"""`ultracluster cost`: what will a cluster cost, and what did it cost? The work is in `ultracluster_cli.cost.estimate`."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ultracluster_cli.options import ClusterOption, JsonOption, RolloutArgument

__all__ = ["actual", "app", "bake_off", "estimate"]


class _EstimateUnlessNamed(TyperGroup):
    """`ultracluster cost ROLLOUT` is `ultracluster cost estimate ROLLOUT`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        known = args and args[0] in self.commands
        return super().resolve_command(ctx, args if known else ["estimate", *args])


app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    cls=_EstimateUnlessNamed,
    context_settings={"ignore_unknown_options": True},
    help="Say what a cluster will cost, with the source and date of each price, and what it did cost.",
)

_FallbackRegion = Annotated[
    str | None,
    typer.Option(metavar="REGION", help="Take the price of this Region where the cluster's is not known."),
]


@app.command()
def estimate(
    rollout: RolloutArgument,
    *,
    cluster: ClusterOption = None,
    hours: Annotated[
        float | None,
        typer.Option(help="Hours of one run. Default: from start to end of the capacity, else 730, a month."),
    ] = None,
    runs_per_month: Annotated[int, typer.Option(help="Runs in a month.")] = 1,
    tokens_per_second: Annotated[
        float | None, typer.Option(help="What the whole cluster trains; gives the price of a million tokens.")
    ] = None,
    savings_plan: Annotated[
        float | None,
        typer.Option(metavar="USD", help="What a node-hour costs you under a Savings Plan; on-demand only."),
    ] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(metavar="LINE=USD", help="A price that you know, by the line's name; may be repeated."),
    ] = None,
    fallback_region: _FallbackRegion = None,
    stored_gb: Annotated[float | None, typer.Option(help="GB in the buckets.")] = None,
    logs_gb: Annotated[float | None, typer.Option(help="GB of logs written in a month.")] = None,
    endpoint_gb: Annotated[float | None, typer.Option(help="GB through endpoints in a month.")] = None,
    nat_gb: Annotated[float | None, typer.Option(help="GB through the NAT gateway in a month.")] = None,
    transfer_gb: Annotated[float | None, typer.Option(help="GB to the internet in a month.")] = None,
    backup_gb: Annotated[float | None, typer.Option(help="GB of backups of the file system.")] = None,
    tiered_gb: Annotated[float | None, typer.Option(help="GB on Intelligent-Tiering.")] = None,
    metrics: Annotated[int, typer.Option(help="Custom metrics of your own.")] = 0,
    compile_hours: Annotated[float, typer.Option(help="Hours of compiling before the first run.")] = 0,
    compile_reuse: Annotated[int, typer.Option(help="Runs that use what was compiled.")] = 1,
    compare: Annotated[
        str | None,
        typer.Option(metavar="TYPE", help="Another instance type beside it, such as p5.48xlarge."),
    ] = None,
    throughput_ratio: Annotated[
        float | None,
        typer.Option(help="Tokens per second of a node of that type over those of a node of the cluster."),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Ask the AWS Price List API for prices of today.")
    ] = False,
    chart: Annotated[
        Path | None, typer.Option(metavar="FILE.html|png", help="Draw the bill into this file as well.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what the clusters of a rollout will cost, line by line; what has no dated price is called not known."""
    from ultracluster_cli.cost.estimate import Plans, estimate_rollout  # noqa: PLC0415 - pydantic; not for the help

    estimate_rollout(
        rollout,
        cluster=cluster,
        plans=Plans(
            hours=hours,
            runs_per_month=runs_per_month,
            tokens_per_second=tokens_per_second,
            savings_plan=savings_plan,
            prices=tuple(price or ()),
            fallback_region=fallback_region,
            use={
                "stored_gb": stored_gb,
                "logs_gb": logs_gb,
                "endpoint_gb": endpoint_gb,
                "nat_gb": nat_gb,
                "transfer_gb": transfer_gb,
                "backup_gb": backup_gb,
                "tiered_gb": tiered_gb,
            },
            metrics=metrics,
            compile_hours=compile_hours,
            compile_reuse=compile_reuse,
            compare=compare,
            throughput_ratio=throughput_ratio,
        ),
        live=live,
        chart=chart,
        as_json=as_json,
    )


@app.command()
def actual(
    rollout: RolloutArgument,
    *,
    first: Annotated[str, typer.Option("--from", metavar="DAY", help="First day, such as 2026-11-01.")],
    last: Annotated[
        str | None, typer.Option("--to", metavar="DAY", help="Last day. Default: yesterday.")
    ] = None,
    cluster: ClusterOption = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="TAG", help="Group by this cost allocation tag. Default: by service."),
    ] = None,
    node_hours: Annotated[
        float | None,
        typer.Option(help="Hours in which the nodes were paid. Default: those of the capacity, else all."),
    ] = None,
    fallback_region: _FallbackRegion = None,
    as_json: JsonOption = False,
) -> None:
    """Say what the clusters of a rollout did cost by Cost Explorer, beside the estimate; a question costs a cent."""
    from ultracluster_cli.cost.actual import show_actual_costs  # noqa: PLC0415 - boto3; not for the help

    show_actual_costs(
        rollout,
        cluster=cluster,
        first=first,
        last=last,
        by=by,
        node_hours=node_hours,
        fallback_region=fallback_region,
        as_json=as_json,
    )


@app.command("bake-off")
def bake_off(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="Path of the BakeOff in its app, such as Stack/BakeOff.")
    ],
    *,
    region: Annotated[str, typer.Option(help="Region of its stack.")],
    weeks: Annotated[int, typer.Option(help="Weeks to report, from Monday, UTC; the last is this one.")] = 4,
    nodes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COUNT[xTYPE]",
            help="Nodes of a contestant, such as trn2=4xtrn2.48xlarge; the first one is what others are compared with.",
        ),
    ] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=USD",
            help="What you pay for a node and hour. Default: by the type, as a Capacity Block.",
        ),
    ] = None,
    on_demand: Annotated[
        bool, typer.Option("--on-demand", help="Take on-demand prices of the types, not those of blocks.")
    ] = False,
    figure: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A figure. Default: all that were reported within two weeks."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what the contestants of a bake-off reached week by week, side by side, and what a dollar bought of it."""
    from ultracluster_cli.cost.bake_off import show_weeks  # noqa: PLC0415 - boto3; not for the help

    show_weeks(
        path,
        region=region,
        weeks=weeks,
        nodes=nodes or (),
        prices=price or (),
        market="on-demand" if on_demand else "capacity-block",
        figures=figure or (),
        as_json=as_json,
    )
