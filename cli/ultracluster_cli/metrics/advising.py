"""Brings a cluster of a rollout and its metrics together, and prints the advice."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from ultracluster_catalog.machines.nic_layouts import network_interfaces
from ultracluster_catalog.neuron.neuron import XLA_COMPILER_FLAGS_VARIABLE
from ultracluster_catalog.prices.prices import Price, capacity_block_price, on_demand_price, spot_price
from ultracluster_cli._aws.selection import clusters_of
from ultracluster_cli.metrics.metric_source import MetricSource, read_metrics
from ultracluster_cli.output import print_findings, print_json, say
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_runtime.advice import Report, Subject
from ultracluster_runtime.advice import advise as advise_on
from ultracluster_runtime.metrics.recorded_metrics import Recording
from ultracluster_stacks.config import ClusterConfig, load_rollout

__all__ = ["AdviceInput", "give_advice"]

_PRICES = {"capacity-block": capacity_block_price, "on-demand": on_demand_price, "spot": spot_price}


@dataclass(frozen=True, kw_only=True, slots=True)
class AdviceInput:
    """What the command line says.

    Attributes:
        rollout: The rollout file.
        recording: Recording to read. None for CloudWatch.
        cluster: Cluster to read from CloudWatch. None for a recording.
        hours: How far to look back.
        file_system_id: File system to look at too. None for none.
        node_hour: US dollars of a node-hour. None for the list price.
        profile: Profile of the AWS configuration. None for that of the cluster.
    """

    rollout: Path
    recording: Path | None
    cluster: str | None
    hours: float
    file_system_id: str | None
    node_hour: float | None
    profile: str | None


def give_advice(given: AdviceInput, *, as_json: bool) -> None:
    """Print the advice on one cluster.

    Args:
        given: What the command line says.
        as_json: JSON instead of text.

    Raises:
        FindingsError: If the rollout is wrong, the metrics cannot be read (UC9330 to UC9335), they are of no cluster of
            the rollout (UC9336), or the price is not above zero (UC9337).
    """
    if given.node_hour is not None and given.node_hour <= 0:
        problem = f"got {quote(given.node_hour)}"
        raise FindingsError(
            [Finding(code="UC9337", problem=problem, allowed="more than 0", path="--node-hour")]
        )
    loaded = load_rollout(given.rollout)
    print_findings(loaded.warnings)
    clusters = clusters_of(loaded.config, None)
    # Before CloudWatch is asked, which would be asked in the wrong Region.
    asked = _chosen(clusters, given.cluster, None, given.rollout) if given.cluster is not None else None
    recorded = read_metrics(
        MetricSource(
            recording=given.recording,
            cluster=given.cluster,
            region=asked.region if asked else None,
            hours=given.hours,
            file_system_id=given.file_system_id,
            profile=given.profile or (asked.profile if asked else None),
        )
    )
    cluster = _chosen(clusters, recorded.cluster, recorded.region, given.rollout)
    subject = _subject(cluster, given.node_hour)
    report = advise_on(recorded, subject)
    if as_json:
        print_json(_document(recorded, subject, report))
    else:
        _print(recorded, subject, report)


def _chosen(clusters: list[ClusterConfig], name: str, region: str | None, rollout: Path) -> ClusterConfig:
    for each in clusters:
        if each.name == name and region in (None, each.region):
            return each
    raise FindingsError(
        [
            Finding(
                code="UC9336",
                problem=f"got metrics of {quote(name)}{f' in {region}' if region else ''}, which the rollout does not have",
                allowed=", ".join(f"{each.name} in {each.region}" for each in clusters),
                location=str(rollout),
            )
        ]
    )


def _subject(cluster: ClusterConfig, node_hour: float | None) -> Subject:
    machine = cluster.machine
    if node_hour is None:
        price = _PRICES[cluster.capacity.market_type](machine.name, cluster.region)
    else:
        today = datetime.now(UTC).date()
        price = Price(amount=Decimal(str(node_hour)), unit="instance-hour", source="--node-hour", dated=today)
    described = cluster.file_system.file_system_id is None
    return Subject(
        instance_type=machine,
        region=cluster.region,
        node_hour=price,
        efa_interfaces=sum(each.has_efa for each in network_interfaces(machine, cluster.network.layout)),
        file_system=cluster.file_system.settings if described else None,
        untuned_jobs=frozenset(
            job.name
            for job in cluster.jobs
            if job.neuron.settings() is None and XLA_COMPILER_FLAGS_VARIABLE not in job.environment
        ),
    )


def _document(recorded: Recording, subject: Subject, report: Report) -> dict[str, Any]:
    price = subject.node_hour
    return {
        "cluster": recorded.cluster,
        "region": recorded.region,
        "hours": report.hours,
        "node_hour_usd": None if price.amount is None else float(price.amount),
        "node_hour_source": f"{price.source}, {price.dated}" if price.amount is not None else price.reason,
        "advice": [
            {
                **asdict(each),
                "usd_per_month": None if each.usd_per_month is None else float(each.usd_per_month),
            }
            for each in report.advice
        ],
        "not_judged": [asdict(each) for each in report.skipped_rules],
    }


def _print(recorded: Recording, subject: Subject, report: Report) -> None:
    price = subject.node_hour
    paid = f"{price.amount} USD ({price.source}, {price.dated})" if price.amount is not None else price.reason
    lines = [
        f"{recorded.cluster} in {recorded.region}: {report.hours:g} hours from {recorded.start:%Y-%m-%d %H:%M} UTC",
        f"a node-hour: {paid}",
    ]
    for each in report.advice:
        amount = each.usd_per_month
        saving = f"{amount:,} USD a month" if amount is not None else f"saving not known: {each.reason}"
        lines += ["", f"{each.rule}: {saving}", f"  {each.evidence}", f"  {each.remedy}"]
    if not report.advice:
        lines += ["", "nothing to advise"]
    if report.skipped_rules:
        lines += ["", "not judged:", *(f"  {each.rule}: {each.reason}" for each in report.skipped_rules)]
    print("\n".join(lines))  # noqa: T201 - what the command is for
    if report.hours < 1:
        say("warning: less than an hour is little to judge a month by")
