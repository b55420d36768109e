"""Lambda function of `CapacityWatch`: search offerings and tell a topic when one appears or its price falls. Nothing here buys."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_catalog.observability.metrics import (
    OFFERINGS_DIMENSION,
    OFFERINGS_METRIC,
    OFFERINGS_NAMESPACE,
    OFFERINGS_PRICE_METRIC,
)
from ultracluster_runtime.functions.clients import OF_FUNCTIONS, Clients
from ultracluster_runtime.metrics.metric_reads import read_points
from ultracluster_runtime.purchasing.offerings import Offering, parse_offering

_CLIENTS: Final = Clients(config=OF_FUNCTIONS)
_DAY: Final = timedelta(days=1)  # blocks end at one time of day, so that they last up to a day more or less
# CloudWatch takes the metrics from the log after a minute or two; an offering that was seen within this time is no news.
_LOOK_BACK: Final = timedelta(minutes=20)
_CENT: Final = 0.01


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What the function waits for."""

    watch: str
    instance_type: str
    counts: tuple[int, ...]
    hours: int
    start_after: datetime
    start_before: datetime
    regions: tuple[str, ...]
    max_usd: int
    until: datetime

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Wanted":
        """Read what `CapacityWatch` wrote."""
        values = json.loads(environment["UC_STANDING_ORDER"])
        times = {
            name: datetime.fromisoformat(values[name]) for name in ("start_after", "start_before", "until")
        }
        lists = {name: tuple(values[name]) for name in ("counts", "regions")}
        return cls(**{**values, **times, **lists})

    def is_over(self, now: datetime) -> bool:
        """Whether nothing is to be searched any more."""
        return now >= min(self.until, self.start_before)

    def fits(self, offering: Offering) -> bool:
        """Whether an offering is what a person waits for."""
        return (
            offering.instance_type == self.instance_type
            and offering.ultraserver_type is None
            and offering.instance_count in self.counts
            and offering.currency == "USD"
            and offering.fee <= self.max_usd
            and self.start_after <= offering.start <= self.start_before
            and abs(offering.duration - timedelta(hours=self.hours)) <= _DAY
        )


def search(wanted: Wanted, ec2: Callable[[str], Any], now: datetime) -> tuple[list[Offering], list[str]]:
    """Return the offerings that fit, the largest and cheapest first, and why Regions gave no answer."""
    found: dict[str, Offering] = {}
    unread: list[str] = []
    for region in wanted.regions:
        try:
            for offering in _offerings(wanted, ec2(region), region, now):
                if wanted.fits(offering):
                    found[offering.offering_id] = offering
        except (ClientError, BotoCoreError, ValueError) as error:
            unread.append(f"{region}: {error}")
    best = sorted(found.values(), key=lambda one: (-one.instance_count, one.fee, one.start, one.offering_id))
    return best, unread


def _offerings(wanted: Wanted, client: Any, region: str, now: datetime) -> Iterator[Offering]:
    pages = client.get_paginator("describe_capacity_block_offerings")
    for count in wanted.counts:
        for page in pages.paginate(
            InstanceType=wanted.instance_type,
            InstanceCount=count,
            CapacityDurationHours=wanted.hours,
            StartDateRange=max(wanted.start_after, now),
            EndDateRange=wanted.start_before + timedelta(hours=wanted.hours) + _DAY,
        ):
            for response in page["CapacityBlockOfferings"]:
                yield parse_offering(response, region=region, zone_ids={})


def last_price(cloudwatch: Any, watch: str, now: datetime) -> float | None:
    """Return the lowest price of a node-hour when the function last saw an offering; None if that is long ago."""
    metric = (OFFERINGS_NAMESPACE, OFFERINGS_PRICE_METRIC, "Minimum", ((OFFERINGS_DIMENSION, watch),))
    (prices,) = read_points(
        cloudwatch, [metric], start=now - _LOOK_BACK, end=now, period=timedelta(minutes=1)
    )
    return prices[max(prices)] if prices else None


def record(wanted: Wanted, offerings: list[Offering], unread: list[str], now: datetime) -> str:
    """Return the log event with the metrics, which is also the history of what was on offer."""
    metrics: dict[str, float] = {OFFERINGS_METRIC: len(offerings)}
    if offerings:
        metrics[OFFERINGS_PRICE_METRIC] = float(_lowest(offerings))
    directive = {
        "Namespace": OFFERINGS_NAMESPACE,
        "Dimensions": [[OFFERINGS_DIMENSION]],
        "Metrics": [{"Name": name, "Unit": "None"} for name in metrics],
    }
    about = {"Timestamp": int(now.timestamp() * 1000), "CloudWatchMetrics": [directive]}
    seen = [_described(offering) for offering in offerings]
    return json.dumps(
        {"_aws": about, OFFERINGS_DIMENSION: wanted.watch, **metrics, "offerings": seen, "unread": unread}
    )


def _lowest(offerings: list[Offering]) -> Decimal:
    return min(offering.fee_per_node_hour for offering in offerings)


def _described(offering: Offering) -> str:
    return (
        f"{offering.instance_count} x {offering.instance_type} in {offering.region} ({offering.zone}), "
        f"{offering.start:%Y-%m-%d %H:%M} to {offering.end:%Y-%m-%d %H:%M} UTC, {offering.fee} USD "
        f"({offering.fee_per_node_hour:.2f} per node-hour), {offering.offering_id}"
    )


def news(offerings: list[Offering], before: float | None) -> str:
    """Return what is new about the offerings; empty if nothing is."""
    if not offerings:
        return ""
    lowest = float(_lowest(offerings))
    if before is None:
        return "Capacity is on offer"
    return f"The price fell from {before:.2f} USD per node-hour" if lowest <= before - _CENT else ""


def handler(event: dict[str, Any], context: Any) -> None:  # noqa: ARG001 - Lambda's signature
    """Search once, and tell the topic what is new."""
    wanted, now = Wanted.from_environment(os.environ), datetime.now(UTC)
    if wanted.is_over(now):
        return
    offerings, unread = search(wanted, lambda region: _CLIENTS("ec2", region), now)
    if len(unread) == len(wanted.regions):  # no offering was counted, which is not the same as none
        raise RuntimeError(f"no Region answered: {'; '.join(unread)}")
    # Before the record, so that this search is not taken for an earlier one.
    said = news(offerings, last_price(_CLIENTS("cloudwatch"), wanted.watch, now))
    if said:
        lines = [
            f"{said}:",
            *map(_described, offerings[:5]),
            "Nothing is held. To buy what an order approves:",
        ]
        lines.append("ultracluster capacity buy ORDER --wait --token TOKEN")
        _CLIENTS("sns").publish(
            TopicArn=os.environ["UC_TOPIC_ARN"],
            Subject=f"{wanted.watch}: {said}"[:100],
            Message="\n".join(lines),
        )
    print(record(wanted, offerings, unread, now))  # noqa: T201 - CloudWatch reads the metrics from the log
