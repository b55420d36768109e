"""Perform the read effects of the purchase protocol with boto3. All calls are read-only."""

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from botocore.config import Config

from ultracluster_rules.findings import Finding
from ultracluster_runtime.functions.responses import AWS_ERRORS
from ultracluster_runtime.purchasing import ec2_answers, effects
from ultracluster_runtime.purchasing.aws_errors import classify_read_error
from ultracluster_runtime.purchasing.offerings import parse_offering

MakeClient = Callable[[str, str, Config], Any]
"""Creates a boto3 client for a service, Region and configuration."""

ReadEffect = (
    effects.DescribeOfferings
    | effects.DescribeReservations
    | effects.DescribeBlocks
    | effects.DescribeExtensionOfferings
    | effects.DescribeExtensionHistory
)

_READING: Final = Config(
    retries={"total_max_attempts": 3, "mode": "standard"},
    connect_timeout=5,
    read_timeout=20,
    user_agent_extra="ultracluster",
)
_PAGE_SIZE: Final = 100


class Ec2Reads:
    """Reads EC2 in any Region. Thread-safe."""

    def __init__(self, make_client: MakeClient) -> None:
        self._make_client = make_client
        self._clients: dict[str, Any] = {}
        self._zone_ids: dict[str, Mapping[str, str]] = {}
        self._client_lock = threading.Lock()  # boto3 clients are thread-safe, sessions are not
        self.unreadable: list[Finding] = []
        """UC7043 for each offering that could not be parsed. They are never bought."""

    def perform(self, effect: ReadEffect) -> Any:
        """Perform one read and return a `Page` or `ReadFailed`."""
        try:
            return self._read(effect)
        except AWS_ERRORS as error:
            return classify_read_error(error)

    def _read(self, effect: ReadEffect) -> effects.Page[Any]:
        client = self.client(effect.region)
        paging: dict[str, Any] = {"NextToken": effect.page} if effect.page else {}
        if isinstance(effect, effects.DescribeReservations):
            response = client.describe_capacity_reservations(MaxResults=_PAGE_SIZE, **paging)
            return _page(response, map(ec2_answers.reservation, response["CapacityReservations"]))
        if isinstance(effect, effects.DescribeBlocks):
            response = client.describe_capacity_blocks(MaxResults=_PAGE_SIZE, **paging)
            return _page(response, map(ec2_answers.block, response["CapacityBlocks"]))
        if isinstance(effect, effects.DescribeExtensionHistory):
            response = client.describe_capacity_block_extension_history(
                CapacityReservationIds=[effect.reservation_id], MaxResults=_PAGE_SIZE, **paging
            )
            return _page(response, map(ec2_answers.extension, response["CapacityBlockExtensions"]))
        if isinstance(effect, effects.DescribeExtensionOfferings):
            response = client.describe_capacity_block_extension_offerings(
                CapacityReservationId=effect.reservation_id,
                CapacityBlockExtensionDurationHours=effect.hours,
                MaxResults=_PAGE_SIZE,
                **paging,
            )
            read = (
                ec2_answers.extension_offering(item, reservation_id=effect.reservation_id)
                for item in response["CapacityBlockExtensionOfferings"]
            )
            return _page(response, read)
        return self._offerings(client, effect, paging)

    def _offerings(
        self, client: Any, effect: effects.DescribeOfferings, paging: dict[str, Any]
    ) -> effects.Page[Any]:
        if effect.ultraserver_type is not None:
            what: dict[str, Any] = {
                "UltraserverType": effect.ultraserver_type,
                "UltraserverCount": effect.count,
            }
        else:
            what = {"InstanceType": effect.instance_type, "InstanceCount": effect.count}
        response = client.describe_capacity_block_offerings(
            CapacityDurationHours=effect.hours,
            StartDateRange=effect.start_after,
            EndDateRange=effect.end_by,
            MaxResults=_PAGE_SIZE,
            **what,
            **paging,
        )
        items = response["CapacityBlockOfferings"]
        zone_ids = self.zone_ids(effect.region) if items else {}
        offerings = []
        for item in items:
            try:
                offerings.append(parse_offering(item, region=effect.region, zone_ids=zone_ids))
            except ValueError as error:
                self.unreadable.append(Finding(code="UC7043", problem=f"{effect.region}: {error}"))
        return _page(response, offerings)

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
        with self._client_lock:
            if region not in self._clients:
                self._clients[region] = self._make_client("ec2", region, _READING)
            return self._clients[region]


def _page(response: Mapping[str, Any], items: Iterable[Any]) -> effects.Page[Any]:
    return effects.Page(items=tuple(items), next_token=response.get("NextToken") or None)
