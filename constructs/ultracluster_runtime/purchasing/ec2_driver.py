"""Perform the effects of the purchase protocol with boto3. Only this module can buy anything."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, assert_never

from botocore.config import Config

from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.functions.responses import AWS_ERRORS
from ultracluster_runtime.purchasing import ec2_answers, effects
from ultracluster_runtime.purchasing.aws_errors import (
    classify_dry_run_error,
    classify_read_error,
    classify_send_error,
    server_time,
)
from ultracluster_runtime.purchasing.ec2_objects import (
    CreateReservation,
    PurchaseBlock,
    PurchaseExtension,
    Quote,
    Request,
)
from ultracluster_runtime.purchasing.ec2_reads import read_page
from ultracluster_runtime.purchasing.ledger import Ledger
from ultracluster_runtime.purchasing.orders import ORDER_TAG, Order, Record

PURCHASING: Final = Config(
    # A single attempt; overrides AWS_MAX_ATTEMPTS, AWS_RETRY_MODE and the shared configuration file.
    retries={"total_max_attempts": 1, "mode": "standard"},
    connect_timeout=10,
    read_timeout=60,
    user_agent_extra="ultracluster",
)


class _TooLateError(Exception):
    """The request was ready to be sent after its limit, and was not sent."""


class _SentAlreadyError(Exception):
    """The request was about to be sent a second time, and was not sent."""


class Ec2Driver:
    """Performs the effects of the purchase protocol.

    `confirm` asks the user whether to buy, and `accept` whether to buy besides other orders.
    """

    def __init__(
        self,
        *,
        clients: Clients,
        ledger: Ledger,
        confirm: Callable[[Order, Quote], bool],
        accept: Callable[[Order, tuple[Record, ...]], bool] = lambda _, __: False,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._clients = clients
        self._ledger = ledger
        self._confirm = confirm
        self._accept = accept
        self._clock = clock
        self._sleep = sleep

    def perform(self, effect: effects.Effect) -> Any:  # noqa: C901, PLR0911, PLR0912 - one branch per effect
        """Perform one effect and return its reply."""
        match effect:
            case effects.Now():
                return self._clock()
            case effects.Sleep():
                return self._sleep(effect.seconds)
            case effects.GetCallerAccount():
                return self._identify()
            case effects.ReadClock():
                return self._read_clock()
            case effects.ReadOrders():
                return self._ledger.orders()
            case effects.Accept():
                return self._accept(effect.order, effect.others)
            case effects.ReadRecord():
                return self._ledger.read(effect.name)
            case effects.Advance():
                return self._ledger.advance(effect.before, effect.after)
            case effects.Confirm():
                return self._confirm(effect.order, effect.quote)
            case effects.DryRun():
                return self._dry_run(effect.request)
            case effects.Send():
                return self._send(effect)
            case effects.CancelReservation():
                return self._cancel(effect)
            case effects.Describe():
                return read_page(self._clients, effect)
            case _:
                assert_never(effect)

    def _identify(self) -> str | effects.ReadFailed:
        try:
            return str(self._clients("sts", "us-east-1").get_caller_identity()["Account"])
        except AWS_ERRORS as error:
            return classify_read_error(error)

    def _read_clock(self) -> datetime | effects.ReadFailed:
        try:
            time_said = server_time(self._clients("sts", "us-east-1").get_caller_identity())
        except AWS_ERRORS as error:
            return classify_read_error(error)
        return time_said or effects.ReadFailed(code="NoDate", message="no Date header", transient=False)

    def _dry_run(self, request: Request) -> effects.DryRunPassed | effects.Refused | effects.DryRunExecuted:
        try:
            _call(self._purchasing_client(request.region), request, DryRun=True)
        except Exception as error:  # noqa: BLE001 - only DryRunOperation means permission
            return classify_dry_run_error(error)
        return effects.DryRunExecuted()

    def _send(self, effect: effects.Send) -> effects.Bought | effects.Refused | effects.OutcomeUnknown:
        client = self._purchasing_client(effect.request.region)
        sent_times: list[datetime] = []

        def on_leaving(**_: Any) -> None:
            # The request is signed at this point, and AWS accepts a signature for five minutes.
            if sent_times:
                raise _SentAlreadyError
            if not effect.not_before <= self._clock() <= effect.not_after:
                raise _TooLateError
            sent_times.append(self._clock())

        client.meta.events.register("before-send.ec2", on_leaving)
        try:
            response, parse = _call(client, effect.request)
            return parse(response)
        except _TooLateError:
            problem = f"not sent: it is not between {effect.not_before.isoformat()} and {effect.not_after.isoformat()}"
            return effects.Refused("TooLate", problem, sent=False)
        except Exception as error:  # noqa: BLE001 - the request may have been executed
            return classify_send_error(error, sent=bool(sent_times))

    def _cancel(
        self, effect: effects.CancelReservation
    ) -> effects.Committed | effects.Refused | effects.OutcomeUnknown:
        client = self._purchasing_client(effect.region)
        try:
            client.cancel_capacity_reservation(CapacityReservationId=effect.reservation_id)
        except AWS_ERRORS as error:
            return classify_send_error(error)
        return effects.Committed()

    def _purchasing_client(self, region: str) -> Any:
        # A new client per request, because the event handler and the single attempt belong to that request.
        return self._clients.make("ec2", region, PURCHASING)


def _call(client: Any, request: Request, **more: Any) -> tuple[Any, Callable[[Any], effects.Bought]]:
    """Send a request, and return its response and what parses it: not that of a dry run, of which any is a surprise."""
    match request:
        case PurchaseBlock():
            resources = ["capacity-reservation", *(["capacity-block"] if request.ultraserver else [])]
            response = client.purchase_capacity_block(
                CapacityBlockOfferingId=request.offering_id,
                InstancePlatform=request.platform,
                TagSpecifications=[_tags(resource, request.order_name) for resource in resources],
                **more,
            )
            return response, ec2_answers.bought
        case PurchaseExtension():
            response = client.purchase_capacity_block_extension(
                CapacityBlockExtensionOfferingId=request.offering_id,
                CapacityReservationId=request.reservation_id,
                **more,
            )
            return response, ec2_answers.bought_extension
        case CreateReservation():
            group = {"PlacementGroupArn": request.placement_group_arn} if request.placement_group_arn else {}
            response = client.create_capacity_reservation(
                ClientToken=request.client_token,
                InstanceType=request.instance_type,
                InstancePlatform=request.platform,
                InstanceCount=request.count,
                AvailabilityZoneId=request.zone_id,
                InstanceMatchCriteria="targeted",
                EndDateType="limited",
                EndDate=request.end,
                TagSpecifications=[_tags("capacity-reservation", request.order_name)],
                **group,
                **more,
            )
            return response, ec2_answers.created
        case _:
            assert_never(request)


def _tags(resource_type: str, order_name: str) -> dict[str, Any]:
    return {"ResourceType": resource_type, "Tags": [{"Key": ORDER_TAG, "Value": order_name}]}
