"""`ultracluster cost advise`: find capacity that you pay for but do not use."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import typer

from ultracluster_catalog.neuron.neuron import XLA_COMPILER_FLAGS_VARIABLE
from ultracluster_catalog.prices.prices import Price, capacity_block_price, on_demand_price, spot_price
from ultracluster_cli import options
from ultracluster_cli._aws.selection import load_clusters
from ultracluster_cli.metrics.metric_source import read_metrics
from ultracluster_cli.output import echo, print_json
from ultracluster_runtime.advice import Report, Subject
from ultracluster_runtime.advice import advise as advise_on
from ultracluster_runtime.metrics.recorded_metrics import Recording
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError, quote
from ultracluster_spec.network import network_interfaces
from ultracluster_spec.neuron import Neuron

_PRICES = {"capacity-block": capacity_block_price, "on-demand": on_demand_price, "spot": spot_price}


def advise(
    rollout: options.RolloutArgument,
    *,
    recording: options.RecordingOption = None,
    cluster: options.MetricsClusterOption = None,
    hours: options.LookBackOption = 24,
    file_system: options.FileSystemOption = None,
    price: options.NodeHourOption = None,
    profile: options.RolloutProfileOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Find capacity you pay for but do not use.

    Reports evidence and monthly savings for nodes, time, file system and settings.
    """
    recorded, config = read_cluster_metrics(
        rollout,
        recording=recording,
        cluster=cluster,
        period=lambda _: (hours, None),
        file_system_id=file_system,
        profile=profile,
    )
    subject = _subject_of(config, price)
    report = advise_on(recorded, subject)
    if as_json:
        print_json(**_report_json(recorded, subject, report))
    else:
        _print_report(recorded, subject, report)


def read_cluster_metrics(
    rollout: Path,
    *,
    recording: Path | None,
    cluster: str | None,
    period: Callable[[Cluster | None], tuple[float, datetime | None]],
    file_system_id: str | None = None,
    profile: str | None,
) -> tuple[Recording, Cluster]:
    """Read the metrics of a cluster of a rollout, by default of the only one; return them with the cluster.

    ``period`` is asked for the hours of CloudWatch metrics of the named cluster and their end, by default now; None is that
    of a recording.
    """
    _, clusters = load_clusters(rollout)
    if recording is None and cluster is None and len(clusters) == 1:
        cluster = clusters[0].name
    # Check the name before reading CloudWatch in the wrong Region.
    named = _cluster_named(clusters, cluster, None, rollout) if cluster is not None else None
    hours, until = period(named)
    recorded = read_metrics(
        recording=recording,
        cluster=cluster,
        region=named.region if named else None,
        hours=hours,
        until=until,
        file_system_id=file_system_id,
        profile=profile or (named.profile if named else None),
    )
    return recorded, _cluster_named(clusters, recorded.cluster, recorded.region, rollout)


def _cluster_named(clusters: list[Cluster], name: str, region: str | None, rollout: Path) -> Cluster:
    for config in clusters:
        if config.name == name and region in (None, config.region):
            return config
    raise FindingsError.message(
        f"unknown cluster {quote(name)}{f' in {region}' if region else ''}",
        allowed=", ".join(f"{config.name} in {config.region}" for config in clusters),
        location=str(rollout),
    )


def node_hour_price(cluster: Cluster, given: float | None) -> Price:
    """Return the price of a node-hour: as given, or the list price of how the cluster buys."""
    if given is None:
        return _PRICES[cluster.capacity.market_type](cluster.node_type.name, cluster.region)
    today = datetime.now(UTC).date()
    return Price(amount=Decimal(str(given)), unit="instance-hour", source="--node-hour", dated=today)


def _subject_of(cluster: Cluster, node_hour: float | None) -> Subject:
    node_type = cluster.node_type
    is_new = cluster.file_system.is_new
    return Subject(
        instance_type=node_type,
        region=cluster.region,
        node_hour=node_hour_price(cluster, node_hour),
        efa_interfaces=sum(
            interface.has_efa for interface in network_interfaces(node_type, cluster.network.layout)
        ),
        file_system=cluster.file_system.settings if is_new else None,
        untuned_jobs=frozenset(
            job.name
            for job in cluster.jobs
            if job.neuron == Neuron() and XLA_COMPILER_FLAGS_VARIABLE not in job.environment
        ),
    )


def _report_json(recorded: Recording, subject: Subject, report: Report) -> dict[str, Any]:
    price = subject.node_hour
    return {
        "cluster": recorded.cluster,
        "region": recorded.region,
        "hours": report.hours,
        "node_hour_usd": None if price.amount is None else float(price.amount),
        "node_hour_source": f"{price.source}, {price.dated}" if price.amount is not None else price.reason,
        "advice": [
            {
                **asdict(advice),
                "usd_per_month": None if advice.usd_per_month is None else float(advice.usd_per_month),
            }
            for advice in report.advice
        ],
        "not_judged": [asdict(advice) for advice in report.skipped_rules],
    }


def _print_report(recorded: Recording, subject: Subject, report: Report) -> None:
    price = subject.node_hour
    price_text = (
        f"{price.amount} USD ({price.source}, {price.dated})" if price.amount is not None else price.reason
    )
    lines = [
        f"{recorded.cluster} in {recorded.region}: {report.hours:g} hours from {recorded.start:%Y-%m-%d %H:%M} UTC",
        f"node-hour: {price_text}",
    ]
    for advice in report.advice:
        amount = advice.usd_per_month
        saving = f"{amount:,} USD per month" if amount is not None else f"savings unknown: {advice.reason}"
        lines += ["", f"{advice.rule}: {saving}", f"  {advice.evidence}", f"  {advice.remedy}"]
    if not report.advice:
        lines += ["", "No advice."]
    if report.skipped_rules:
        lines += [
            "",
            "Not assessed:",
            *(f"  {advice.rule}: {advice.reason}" for advice in report.skipped_rules),
        ]
    typer.echo("\n".join(lines))
    if report.hours < 1:
        echo("warning: monthly savings are extrapolated from less than an hour")
