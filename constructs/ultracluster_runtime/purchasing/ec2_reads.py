"""Perform the read effects of the purchase protocol with boto3. All calls are read-only."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from ultracluster_runtime.functions.clients import Clients, patience
from ultracluster_runtime.functions.responses import AWS_ERRORS
from ultracluster_runtime.purchasing import ec2_answers, effects
from ultracluster_runtime.purchasing.aws_errors import classify_read_error
from ultracluster_runtime.purchasing.fold import iterate_pages
from ultracluster_runtime.purchasing.offerings import Offering, parse_offering
from ultracluster_spec.findings import Finding, Severity
from ultracluster_spec.record import RuleRecord

_READING: Final = patience(attempts=3, read=20)
_PAGE_SIZE: Final = 100


def read_page(clients: Clients, effect: effects.Describe) -> effects.Page[Any] | effects.ReadFailed:
    """Perform one read."""
    try:
        return _read(clients, effect)
    except AWS_ERRORS as error:
        return classify_read_error(error)


def read_all(clients: Clients, describe: Callable[..., effects.Effect], what: str) -> list[Any]:
    """Read a listing to its last page, with retries, as `iterate_pages` says."""

    def perform(effect: Any) -> Any:
        return time.sleep(effect.seconds) if isinstance(effect, effects.Sleep) else read_page(clients, effect)

    return effects.perform_all(iterate_pages(describe, what), perform)


def _read(clients: Clients, effect: effects.Describe) -> effects.Page[Any]:
    client = clients("ec2", effect.region, config=_READING)
    paging: dict[str, Any] = {"MaxResults": _PAGE_SIZE} | ({"NextToken": effect.page} if effect.page else {})
    items: Iterable[Any]
    unreadable: list[Finding] = []
    match effect:
        case effects.DescribeReservations():
            response = client.describe_capacity_reservations(**paging)
            items = map(ec2_answers.reservation, response["CapacityReservations"])
        case effects.DescribeBlocks():
            response = client.describe_capacity_blocks(**paging)
            items = map(ec2_answers.block, response["CapacityBlocks"])
        case effects.DescribeExtensionHistory():
            response = client.describe_capacity_block_extension_history(
                CapacityReservationIds=[effect.reservation_id], **paging
            )
            items = map(ec2_answers.extension, response["CapacityBlockExtensions"])
        case effects.DescribeExtensionOfferings():
            response = client.describe_capacity_block_extension_offerings(
                CapacityReservationId=effect.reservation_id,
                CapacityBlockExtensionDurationHours=effect.hours,
                **paging,
            )
            items = (
                ec2_answers.extension_offering(offering, reservation_id=effect.reservation_id)
                for offering in response["CapacityBlockExtensionOfferings"]
            )
        case effects.DescribeOfferings():
            kind, name = "Instance", effect.instance_type
            if effect.ultraserver_type is not None:
                kind, name = "Ultraserver", effect.ultraserver_type
            response = client.describe_capacity_block_offerings(
                CapacityDurationHours=effect.hours,
                StartDateRange=effect.start_after,
                EndDateRange=effect.end_by,
                **{f"{kind}Type": name, f"{kind}Count": effect.count},
                **paging,
            )
            items = _offerings(clients, response["CapacityBlockOfferings"], effect.region, unreadable)
        case _:
            raise TypeError(f"unknown read: {type(effect).__name__}")
    page = tuple(items)
    return effects.Page(
        items=page, next_token=response.get("NextToken") or None, unreadable=tuple(unreadable)
    )


def _offerings(
    clients: Clients, responses: Sequence[Mapping[str, Any]], region: str, unreadable: list[Finding]
) -> Iterator[Offering]:
    zone_ids = _zone_ids(clients, region) if responses else {}
    for response in responses:
        try:
            yield parse_offering(response, region=region, zone_ids=zone_ids)
        except ValueError as error:
            unreadable.append(Finding(code="UC7043", problem=f"{region}: {error}"))


@lru_cache
def _zone_ids(clients: Clients, region: str) -> Mapping[str, str]:
    """Return the zone IDs of a Region by the zone names of this account, which are all that offerings have."""
    client = clients("ec2", region, config=_READING)
    response = client.describe_availability_zones(AllAvailabilityZones=True)
    return {zone["ZoneName"]: zone["ZoneId"] for zone in response["AvailabilityZones"]}


RECORDS: Final = (
    RuleRecord(
        "UC7043",
        "Every offering can be read.",
        severity=Severity.WARNING,
        remedy="Report it with the text of the finding; the other offerings are listed.",
        source="botocore 1.44.5, EC2 CapacityBlockOffering, 2026: no member is required.",
    ),
)
