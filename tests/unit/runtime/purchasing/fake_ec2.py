"""Fake EC2 and STS that sell one Capacity Block to whoever asks, and count purchases. It is not AWS."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

ACCOUNT = "123456789012"
_EC2 = "http://ec2.amazonaws.com/doc/2016-11-15/"


@dataclass
class FakeEc2:
    """What the fake was asked, and how it behaves.

    Attributes:
        purchases: The parameters of every purchase request that was not a dry run.
        executed: The reservations that purchases made.
    """

    purchases: list[dict[str, str]] = field(default_factory=list)
    executed: list[dict[str, str]] = field(default_factory=list)
    ignores_dry_run: bool = False
    fee: str = "192241.66"
    begun: datetime = field(default_factory=lambda: datetime.now(UTC).replace(microsecond=0))

    def answer(self, action: str, parameters: dict[str, str]) -> tuple[int, str]:
        """The status and body of an answer."""
        if action == "GetCallerIdentity":
            return 200, (
                '<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>'
                f"<Account>{ACCOUNT}</Account><Arn>a</Arn><UserId>u</UserId></GetCallerIdentityResult>"
                "<ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></GetCallerIdentityResponse>"
            )
        if action == "PurchaseCapacityBlock":
            return self._purchase(parameters)
        bodies = {
            "DescribeAvailabilityZones": "<availabilityZoneInfo><item><zoneName>us-east-2c</zoneName>"
            "<zoneId>use2-az3</zoneId></item></availabilityZoneInfo>",
            "DescribeCapacityBlockOfferings": f"<capacityBlockOfferingSet>{self._offering()}</capacityBlockOfferingSet>",
            "DescribeCapacityReservations": "<capacityReservationSet>"
            + "".join(f"<item>{self._reservation(item)}</item>" for item in self.executed)
            + "</capacityReservationSet>",
            "DescribeCapacityBlocks": "<capacityBlockSet/>",
        }
        return 200, _response(action, bodies[action])

    def _purchase(self, parameters: dict[str, str]) -> tuple[int, str]:
        if parameters.get("DryRun") == "true" and not self.ignores_dry_run:
            return 412, error_body("DryRunOperation")
        self.purchases.append(parameters)
        self.executed.append(parameters | {"id": f"cr-{len(self.executed):017x}", "fee": self.fee})
        body = f"<capacityReservation>{self._reservation(self.executed[-1])}</capacityReservation>"
        return 200, _response("PurchaseCapacityBlock", body)

    def _dates(self) -> str:
        begin, end = (
            (self.begun + timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S.000Z") for days in (10, 24)
        )
        return f"<startDate>{begin}</startDate><endDate>{end}</endDate>"

    def _offering(self) -> str:
        return (
            "<item><capacityBlockOfferingId>cb-good</capacityBlockOfferingId><instanceType>trn2.48xlarge</instanceType>"
            f"<availabilityZone>us-east-2c</availabilityZone><instanceCount>16</instanceCount>{self._dates()}"
            f"<capacityBlockDurationHours>336</capacityBlockDurationHours><upfrontFee>{self.fee}</upfrontFee>"
            "<currencyCode>USD</currencyCode><tenancy>default</tenancy></item>"
        )

    def _reservation(self, bought: dict[str, str]) -> str:
        key, value = (bought[f"TagSpecification.1.Tag.1.{part}"] for part in ("Key", "Value"))
        return (
            f"<capacityReservationId>{bought['id']}</capacityReservationId><instanceType>trn2.48xlarge</instanceType>"
            "<state>payment-pending</state><reservationType>capacity-block</reservationType>"
            "<availabilityZoneId>use2-az3</availabilityZoneId><totalInstanceCount>16</totalInstanceCount>"
            f"{self._dates()}<tagSet><item><key>{key}</key><value>{value}</value></item></tagSet>"
        )


def _response(action: str, body: str) -> str:
    return f'<{action}Response xmlns="{_EC2}"><requestId>r</requestId>{body}</{action}Response>'


def error_body(code: str) -> str:
    """The body of an error of EC2."""
    return f"<Response><Errors><Error><Code>{code}</Code><Message>fake</Message></Error></Errors><RequestID>r</RequestID></Response>"
