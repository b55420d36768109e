"""`ultracluster cost actual`: compare actual and estimated costs of clusters."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, Final

import typer

from ultracluster_catalog.names.cluster_tag import CLUSTER_TAG
from ultracluster_cli._aws.selection import load_clusters
from ultracluster_cli._aws.targets import existing_targets
from ultracluster_cli.cost.output import money_json
from ultracluster_cli.options import (
    ClusterOption,
    FallbackRegionOption,
    JsonOption,
    RolloutArgument,
    wrong_option,
)
from ultracluster_cli.output import print_json, print_note, print_table
from ultracluster_runtime.costs.cost_explorer import COST_EXPLORER_REGION, ActualCosts, actual_costs
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.cost import Money, Usage, catalogue_prices, configured_footprint, estimate_cost

_LONGEST: Final = timedelta(days=366)  # Cost Explorer keeps daily costs for 14 months
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Comparison:
    cluster: Cluster
    actual: ActualCosts
    node_hours: Decimal
    estimate: Money


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
        typer.Option(metavar="TAG", help="Cost allocation tag to group by. Default: group by service."),
    ] = None,
    node_hours: Annotated[
        float | None,
        typer.Option(help="Hours for which the nodes were paid. Default: hours of the capacity, else all."),
    ] = None,
    fallback_region: FallbackRegionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare actual and estimated costs of the clusters of a rollout.

    Uses Cost Explorer, which charges 0.01 USD per request.
    """
    start, end = _parse_period(first, last)
    if node_hours is not None and not 0 <= node_hours <= (end - start) / timedelta(hours=1):
        allowed = f"0 to {(end - start) // timedelta(hours=1)}, the hours of this period"
        raise FindingsError([wrong_option("--node-hours", node_hours, allowed=allowed)])
    _, clusters = load_clusters(rollout, names=[cluster] if cluster else [])
    targets = existing_targets(clusters)
    comparisons = []
    for config in clusters:
        amounts = actual_costs(
            start=start,
            end=end,
            region=config.region,
            tag_key=CLUSTER_TAG,
            tag_value=config.name,
            by=by,
            client=targets.of(config.stage).client("ce", COST_EXPLORER_REGION),
        )
        paid = _paid_hours(config, start, end) if node_hours is None else Decimal(str(node_hours))
        estimate = estimated_cost(
            config, node_hours=paid, hours=in_hours(end - start), fallback_region=fallback_region
        )
        comparisons.append(_Comparison(cluster=config, actual=amounts, node_hours=paid, estimate=estimate))
    if as_json:
        rows = [_comparison_json(comparison) for comparison in comparisons]
        print_json(first=start, last=end - _DAY, clusters=rows)
        return
    for comparison in comparisons:
        _print_comparison(comparison, start, end, by=by)


def _parse_period(first: str, last: str | None) -> tuple[date, date]:
    today = datetime.now(UTC).date()
    try:
        start = date.fromisoformat(first)
        end = today if last is None else date.fromisoformat(last) + _DAY
    except ValueError as error:
        raise _invalid_period(str(error)) from None
    if not start < end <= today + _DAY or end - start > _LONGEST:
        raise _invalid_period(f"got {first} to {end - _DAY}")
    return start, end


def _invalid_period(problem: str) -> FindingsError:
    allowed = "days such as 2026-11-01 in order, up to today, at most 366 days"
    return FindingsError.message(problem, allowed=allowed)


def in_hours(duration: timedelta) -> Decimal:
    """Return a duration in hours, to the minute; a begun minute counts, so that no cost is shown as zero."""
    return Decimal(-(-duration // timedelta(minutes=1))) / 60


def estimated_cost(
    cluster: Cluster, *, node_hours: Decimal, hours: Decimal, fallback_region: str | None = None
) -> Money:
    """Return the estimated cost of a cluster that exists for some hours, and whose nodes are paid for some of them."""
    usage = Usage(hours=max(node_hours, Decimal(1)))
    prices = catalogue_prices(fallback_region=fallback_region)
    estimate = estimate_cost(configured_footprint(cluster), usage=usage, prices=prices)
    nodes = Money.total(line.hour for line in estimate.lines if line.charged == "run")
    return nodes * node_hours + estimate.idle_hour * hours


def _paid_hours(cluster: Cluster, start: date, end: date) -> Decimal:
    first, last = (datetime.combine(day, time(), UTC) for day in (start, end))
    opens = max(first, cluster.capacity.start or first)
    closes = min(last, cluster.capacity.end or last)
    return in_hours(max(closes - opens, timedelta(0)))


def _comparison_json(comparison: _Comparison) -> dict[str, Any]:
    return {
        "cluster": comparison.cluster.name,
        "region": comparison.cluster.region,
        "currency": comparison.actual.currency,
        "estimated": comparison.actual.estimated,
        "amounts": {name: str(amount) for name, amount in _sorted(comparison.actual.amounts).items()},
        "actual": str(comparison.actual.total),
        "node_hours": f"{comparison.node_hours:f}",
        "estimate": money_json(comparison.estimate),
    }


def _sorted(amounts: Mapping[str, Decimal]) -> dict[str, Decimal]:
    return dict(sorted(amounts.items(), key=lambda item: -item[1]))


def _print_comparison(comparison: _Comparison, start: date, end: date, *, by: str | None) -> None:
    name = by or "service"
    rows = [
        {name: group or "(without this tag)", "actual": f"{amount:,.2f}"}
        for group, amount in _sorted(comparison.actual.amounts).items()
    ]
    rows.append({name: "total", "actual": f"{comparison.actual.total:,.2f}"})
    print_table(rows, title=f"{comparison.cluster.name} in {comparison.cluster.region}")
    if comparison.actual.estimated:
        print_note("Preliminary: AWS may still change these amounts.")
    without = f", without {', '.join(comparison.estimate.without)}" if comparison.estimate.without else ""
    typer.echo(
        f"  {start} to {end - _DAY}, {comparison.actual.currency}; estimate for {comparison.node_hours:,.0f} hours of all nodes: {comparison.estimate.text()} USD{without}"
    )
    if not comparison.actual.amounts:
        print_note(f"No costs have the tag {CLUSTER_TAG}. Check that it is an active cost allocation tag.")
