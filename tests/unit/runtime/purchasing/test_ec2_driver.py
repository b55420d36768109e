"""Calls of each effect of the protocol, and its reply; test_http_faults.py counts the requests sent."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from tests.unit.runtime.purchasing.example_orders import block_order
from tests.unit.runtime.purchasing.fake_boto3 import Boto3

from ultracluster_runtime.purchasing import effects
from ultracluster_runtime.purchasing.ec2_driver import PURCHASING, Ec2Driver
from ultracluster_runtime.purchasing.ec2_objects import (
    CreateReservation,
    PurchaseBlock,
    PurchaseExtension,
    Request,
)

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
END = NOW + timedelta(days=5)
BLOCK = PurchaseBlock(
    region="us-east-2", offering_id="cb-1", platform="Linux/UNIX", order_name="december", ultraserver=False
)
ULTRASERVER = PurchaseBlock(
    region="us-east-2", offering_id="cb-1", platform="Linux/UNIX", order_name="december", ultraserver=True
)
EXTENSION = PurchaseExtension(region="us-east-2", offering_id="cbe-1", reservation_id="cr-1")
GROUP = "arn:aws:ec2:us-east-2:123456789012:placement-group/g"


def on_demand(group: str | None = None) -> CreateReservation:
    return CreateReservation(
        region="us-east-2",
        instance_type="trn1.32xlarge",
        count=4,
        platform="Linux/UNIX",
        zone_id="use2-az3",
        end=END,
        placement_group_arn=group,
        client_token="token",
        order_name="december",
    )


def tagged(*resource_types: str) -> list[dict[str, Any]]:
    tags = [{"Key": "uc:po", "Value": "december"}]
    return [{"ResourceType": each, "Tags": tags} for each in resource_types]


ON_DEMAND_ARGUMENTS = {
    "ClientToken": "token",
    "InstanceType": "trn1.32xlarge",
    "InstancePlatform": "Linux/UNIX",
    "InstanceCount": 4,
    "AvailabilityZoneId": "use2-az3",
    "InstanceMatchCriteria": "targeted",
    "EndDateType": "limited",
    "EndDate": END,
    "TagSpecifications": tagged("capacity-reservation"),
}
BLOCK_ARGUMENTS = {"CapacityBlockOfferingId": "cb-1", "InstancePlatform": "Linux/UNIX"}
REQUESTS: list[tuple[Request, str, dict[str, Any], dict[str, Any]]] = [
    (
        BLOCK,
        "purchase_capacity_block",
        BLOCK_ARGUMENTS | {"TagSpecifications": tagged("capacity-reservation")},
        {"CapacityReservation": {"CapacityReservationId": "cr-1"}},
    ),
    (
        ULTRASERVER,
        "purchase_capacity_block",
        BLOCK_ARGUMENTS | {"TagSpecifications": tagged("capacity-reservation", "capacity-block")},
        {"CapacityReservation": {"CapacityReservationId": "cr-1"}},
    ),
    (
        EXTENSION,
        "purchase_capacity_block_extension",
        {"CapacityBlockExtensionOfferingId": "cbe-1", "CapacityReservationId": "cr-1"},
        {"CapacityBlockExtensions": [{"CapacityReservationId": "cr-1"}]},
    ),
    (
        on_demand(),
        "create_capacity_reservation",
        ON_DEMAND_ARGUMENTS,
        {"CapacityReservation": {"CapacityReservationId": "cr-1"}},
    ),
    (
        on_demand(GROUP),
        "create_capacity_reservation",
        ON_DEMAND_ARGUMENTS | {"PlacementGroupArn": GROUP},
        {"CapacityReservation": {"CapacityReservationId": "cr-1"}},
    ),
]


def driver(boto3: Boto3, **settings: Any) -> Ec2Driver:
    given = {"ledger": None, "confirm": lambda *_: False, "clock": lambda: NOW} | settings
    return Ec2Driver(clients=boto3, **given)


def refusal(code: str) -> ClientError:
    answer: Any = {
        "Error": {"Code": code, "Message": "said"},
        "ResponseMetadata": {"HTTPStatusCode": 400, "HTTPHeaders": {}},
    }
    return ClientError(answer, "Call")


def sent(boto3: Boto3, *, not_before: datetime = NOW, not_after: datetime = NOW, **settings: Any) -> Any:
    return driver(boto3, **settings).perform(
        effects.Send(request=BLOCK, not_before=not_before, not_after=not_after)
    )


@pytest.mark.parametrize(("request_", "operation", "arguments", "answer"), REQUESTS)
def test_sends_exactly_the_request(
    request_: Request, operation: str, arguments: dict[str, Any], answer: dict[str, Any]
) -> None:
    boto3 = Boto3(answer)

    reply = driver(boto3).perform(effects.Send(request=request_, not_before=NOW, not_after=NOW))

    assert boto3.calls == [(operation, arguments)]
    assert boto3.made == [("ec2", "us-east-2", PURCHASING)]
    assert reply == effects.Bought(reservation_ids=("cr-1",))


@pytest.mark.parametrize(("request_", "operation", "arguments", "answer"), REQUESTS)
def test_dry_run_sends_the_same_request_with_the_dry_run_flag(
    request_: Request, operation: str, arguments: dict[str, Any], answer: dict[str, Any]
) -> None:
    boto3 = Boto3(refusal("DryRunOperation"))

    assert driver(boto3).perform(effects.DryRun(request_)) == effects.DryRunPassed(None)
    assert boto3.calls == [(operation, arguments | {"DryRun": True})]
    assert driver(Boto3(answer)).perform(effects.DryRun(request_)) == effects.DryRunExecuted()
    assert driver(Boto3(refusal("UnauthorizedOperation"))).perform(
        effects.DryRun(request_)
    ) == effects.Refused("UnauthorizedOperation", "said")


def test_purchase_is_attempted_once_under_every_configuration_of_the_environment() -> None:
    assert PURCHASING.retries == {"total_max_attempts": 1, "mode": "standard"}
    assert (PURCHASING.connect_timeout, PURCHASING.read_timeout) == (10, 60)


def test_request_that_is_ready_too_late_is_not_sent() -> None:
    answer = {"CapacityReservation": {"CapacityReservationId": "cr-1"}}
    late = Boto3(answer)

    assert sent(
        late, not_before=NOW - timedelta(hours=1), not_after=NOW - timedelta(seconds=1)
    ) == effects.Refused(
        "TooLate",
        "not sent: it is not between 2026-11-20T08:00:00+00:00 and 2026-11-20T08:59:59+00:00",
        sent=False,
    )
    assert late.calls == []
    assert isinstance(sent(Boto3(answer), not_after=NOW), effects.Bought)


def test_request_is_not_sent_twice() -> None:
    twice = Boto3({"CapacityReservation": {"CapacityReservationId": "cr-1"}}, leaves=2)

    assert isinstance(sent(twice), effects.OutcomeUnknown)  # the first one may have arrived
    assert twice.calls == []


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        (refusal("InvalidParameterValue"), effects.Refused),
        (ReadTimeoutError(endpoint_url="https://ec2"), effects.OutcomeUnknown),
        ({"CapacityReservation": {}}, effects.OutcomeUnknown),
        (ValueError("unreadable"), effects.OutcomeUnknown),
    ],
)
def test_only_a_refusal_means_nothing_was_bought(answer: Any, reply: type) -> None:
    assert isinstance(sent(Boto3(answer)), reply)


def test_cancels_a_reservation() -> None:
    boto3 = Boto3({})
    effect = effects.CancelReservation(region="us-west-2", reservation_id="cr-1")

    assert driver(boto3).perform(effect) == effects.Committed()
    assert boto3.calls == [("cancel_capacity_reservation", {"CapacityReservationId": "cr-1"})]
    assert boto3.made == [("ec2", "us-west-2", PURCHASING)]
    assert isinstance(driver(Boto3(refusal("InvalidParameterValue"))).perform(effect), effects.Refused)


def test_returns_the_account_of_the_credentials() -> None:
    boto3 = Boto3({"Account": 123456789012})

    assert driver(boto3).perform(effects.GetCallerAccount()) == "123456789012"
    assert boto3.calls == [("get_caller_identity", {})]
    assert [made[:2] for made in boto3.made] == [("sts", "us-east-1")]
    assert driver(Boto3(refusal("ExpiredToken"))).perform(effects.GetCallerAccount()) == effects.ReadFailed(
        code="ExpiredToken", message="said", transient=False
    )


def test_uses_the_confirmation_the_clock_and_the_ledger() -> None:
    order, quote, slept = block_order(), object(), []
    ledger = SimpleNamespace(
        read=lambda name: ("read", name), advance=lambda before, after: ("wrote", before, after)
    )
    asked = driver(
        Boto3(), ledger=ledger, confirm=lambda *given: given, sleep=slept.append, clock=lambda: END
    ).perform

    assert asked(effects.Now()) == END
    assert asked(effects.Sleep(2.5)) is None
    assert slept == [2.5]
    assert asked(effects.ReadRecord("december")) == ("read", "december")
    before: Any = "before"
    after: Any = "after"
    assert asked(effects.Advance(before=before, after=after)) == ("wrote", "before", "after")
    given: Any = quote
    assert asked(effects.Confirm(order=order, quote=given)) == (order, quote)


def test_reads_listings_with_separate_clients() -> None:
    boto3 = Boto3({"CapacityReservations": [{"CapacityReservationId": "cr-1"}], "NextToken": "more"})

    page = driver(boto3).perform(effects.DescribeReservations(region="us-west-2", page=None))

    assert [item.reservation_id for item in page.items] == ["cr-1"]
    assert page.next_token == "more"
    assert boto3.made[0][:2] == ("ec2", "us-west-2")


def test_reads_the_clock_of_aws_and_the_orders_and_asks_about_those_that_overlap() -> None:
    headers = {"HTTPHeaders": {"date": "Fri, 20 Nov 2026 09:00:00 GMT"}}
    boto3 = Boto3({"ResponseMetadata": headers})
    assert driver(boto3).perform(effects.ReadClock()) == datetime(2026, 11, 20, 9, tzinfo=UTC)
    assert boto3.made[0][:2] == ("sts", "us-east-1")
    untold = driver(Boto3({"ResponseMetadata": {}})).perform(effects.ReadClock())
    assert untold == effects.ReadFailed(code="NoDate", message="no Date header", transient=False)
    assert driver(Boto3(refusal("ExpiredToken"))).perform(effects.ReadClock()) == effects.ReadFailed(
        code="ExpiredToken", message="said", transient=False
    )
    asked: list[Any] = []
    answering = driver(
        Boto3({}),
        ledger=SimpleNamespace(orders=lambda: ["order"]),
        accept=lambda *words: bool(asked.append(words)) or True,
    )
    assert answering.perform(effects.ReadOrders()) == ["order"]
    assert answering.perform(effects.Accept(order=block_order(), others=()))
    assert asked == [(block_order(), ())]
    assert not driver(Boto3({})).perform(effects.Accept(order=block_order(), others=()))


def test_a_request_is_not_sent_by_a_clock_that_was_set_back() -> None:
    boto3 = Boto3({"CapacityReservation": {"CapacityReservationId": "cr-1"}})
    reply = sent(boto3, not_before=NOW + timedelta(seconds=1), not_after=NOW + timedelta(minutes=1))
    assert (reply.code, reply.sent) == ("TooLate", False)
