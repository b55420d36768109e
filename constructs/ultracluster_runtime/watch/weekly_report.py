"""Lambda function of `WeeklyReport`: tell the topic what the running Capacity Block gave for its money so far."""

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from ultracluster_runtime.functions.clients import OF_FUNCTIONS, Clients
from ultracluster_runtime.lifecycle.reader import describe_reservation
from ultracluster_runtime.metrics.block_report import (
    USES,
    BlockReport,
    Rates,
    number_text,
    percent_text,
    report_block,
    usd_text,
)
from ultracluster_runtime.metrics.metric_reads import record_metrics, recording_period

_CLIENTS: Final = Clients(config=OF_FUNCTIONS)
_WEEK: Final = timedelta(days=7)


def times_of(reservations: Sequence[Mapping[str, Any]], now: datetime) -> tuple[datetime, datetime] | None:
    """Return the time to report on: of the latest block that has begun, unless it ended more than a week ago."""
    begun = [
        (each["StartDate"], min(each.get("EndDate") or now, now))
        for each in reservations
        if each["StartDate"] < now
    ]
    start, end = max(begun, default=(now, now))
    return (start, end) if start < end and now - end < _WEEK else None


def lines_of(found: BlockReport, node_hour: float | None) -> Iterator[str]:
    """Return the report in lines."""
    price = (
        "no list price is known"
        if node_hour is None
        else f"{usd_text(node_hour)} for a node-hour, list price"
    )
    without = usd_text(found.usd_per_million_tokens_without_losses)
    yield f"paid: {usd_text(found.usd)} for {found.paid_minutes / 60:,.1f} node-hours ({price})"
    yield f"tokens: {number_text(found.tokens)}"
    yield f"a million tokens: {usd_text(found.usd_per_million_tokens)}, without losses {without}"
    yield f"MFU: {percent_text(found.mfu)}"
    yield f"saved by the compile cache: {usd_text(found.cache_usd)}"
    yield "paid minutes of nodes by use:"
    for use, meaning in USES.items():
        minutes = found.minutes[use]
        if minutes:
            share = percent_text(minutes / found.paid_minutes)
            yield f"  {use}: {minutes:,.0f} ({share}), {usd_text(found.usd_of(use))}; {meaning}"
    yield "With what the ledger or the bill says was paid: ultracluster cost report ROLLOUT --paid USD"


def handler(event: dict[str, Any], context: Any) -> None:  # noqa: ARG001 - Lambda's signature
    """Report once; say nothing where no block has begun."""
    cluster, region, now = os.environ["UC_CLUSTER"], os.environ["AWS_REGION"], datetime.now(UTC)
    ec2 = _CLIENTS("ec2")
    described = [describe_reservation(ec2, block) for block in os.environ["UC_RESERVATIONS"].split(",")]
    times = times_of([each for each in described if each is not None], now)
    if times is None:
        print(f"no block of {cluster} runs or has ended in the last week")  # noqa: T201 - the log of the function
        return
    start, end = times
    recording = record_metrics(
        _CLIENTS("cloudwatch"),
        cluster=cluster,
        region=region,
        start=start,
        end=end,
        period=recording_period(start, end, now=now),
    )
    node_hour = float(os.environ["UC_NODE_HOUR_USD"]) if os.environ["UC_NODE_HOUR_USD"] else None
    found = report_block(recording, Rates(usd=node_hour, other_usd=None, peak_ratio=None))
    title = f"{cluster} in {region}, {start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC"
    lines = ["no paid node was recorded"] if found is None else lines_of(found, node_hour)
    _CLIENTS("sns").publish(
        TopicArn=os.environ["UC_TOPIC_ARN"],
        Subject=f"{cluster}: weekly report of its block"[:100],
        Message="\n".join([title, "", *lines]),
    )
