"""Perform the read effects of the purchase protocol with boto3. All calls are read-only."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ultracluster_runtime.functions.clients import Clients, patience
from ultracluster_runtime.functions.responses import AWS_ERRORS
from ultracluster_runtime.purchasing import ec2_answers, effects
from ultracluster_runtime.purchasing.aws_errors import classify_read_error
from ultracluster_runtime.purchasing.offerings import Offering, parse_offering
from ultracluster_spec.findings import Finding, Severity
from ultracluster_spec.record import RuleRecord

_READING: Final = patience(attempts=3, read=20)
_PAGE_SIZE: Final = 100


class Ec2Reader:
    """Reads EC2 in any Region. Thread-safe."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._zone_ids: dict[str, Mapping[str, str]] = {}
        self.unreadable: list[Finding] = []
        """UC7043 for each offering that could not be parsed. They are never bought."""

    def perform(self, effect: effects.Describe) -> Any:
        """Perform one read and return a `Page` or `ReadFailed`."""
        try:
            return self._read(effect)
        except AWS_ERRORS as error:
            return classify_read_error(error)

    def _read(self, effect: effects.Describe) -> effects.Page[Any]:
        client = self.client(effect.region)
        paging: dict[str, Any] = {"MaxResults": _PAGE_SIZE} | (
            {"NextToken": effect.page} if effect.page else {}
        )
        items: Iterable[Any]
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
                items = self._offerings(response["CapacityBlockOfferings"], effect.region)
            case _:
                raise TypeError(f"unknown read: {type(effect).__name__}")
        return effects.Page(items=tuple(items), next_token=response.get("NextToken") or None)

    def _offerings(self, responses: Sequence[Mapping[str, Any]], region: str) -> Iterator[Offering]:
        zone_ids = self.zone_ids(region) if responses else {}
        for response in responses:
            try:
                yield parse_offering(response, region=region, zone_ids=zone_ids)
            except ValueError as error:
                self.unreadable.append(Finding(code="UC7043", problem=f"{region}: {error}"))

    def zone_ids(self, region: str) -> Mapping[str, str]:
        """Return the zone IDs of a Region by the zone names of this account."""
        if region not in self._zone_ids:
            response = self.client(region).describe_availability_zones(AllAvailabilityZones=True)
            self._zone_ids[region] = {
                zone["ZoneName"]: zone["ZoneId"] for zone in response["AvailabilityZones"]
            }
        return self._zone_ids[region]

    def client(self, region: str) -> Any:
        """Return the client for a Region."""
        return self._clients("ec2", region, config=_READING)


RECORDS: Final = (
    RuleRecord(
        "UC7043",
        "Every offering can be read.",
        severity=Severity.WARNING,
        remedy="Report it with the text of the finding; the other offerings are listed.",
        source="botocore 1.44.5, EC2 CapacityBlockOffering, 2026: no member is required.",
    ),
)
