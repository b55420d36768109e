"""Fake EC2 and STS server on a loopback port that counts purchase requests and fails them on demand. It is not AWS."""

import os
import signal
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

ACCOUNT = "123456789012"
_EC2 = "http://ec2.amazonaws.com/doc/2016-11-15/"


@dataclass
class FakeEc2:
    """What the fake was asked, and how it behaves.

    Attributes:
        behaviour: What happens to a purchase that is not a dry run: ``ok``, ``drop-before``, ``drop-after``,
            ``500-before``, ``500-after``, ``503``, ``refuse``, ``garbage``, ``hang`` or ``kill`` (the process that asks).
        purchases: The parameters of every purchase request that was not a dry run.
        executed: The reservations that purchases made.
    """

    behaviour: str = "ok"
    actions: list[str] = field(default_factory=list)
    purchases: list[dict[str, str]] = field(default_factory=list)
    executed: list[dict[str, str]] = field(default_factory=list)
    ignores_dry_run: bool = False
    clock_ahead: timedelta = timedelta(0)
    victim: int = 0
    hang_until: threading.Event = field(default_factory=threading.Event)
    endpoint: str = ""
    fee: str = "192241.66"
    begun: datetime = field(default_factory=lambda: datetime.now(UTC).replace(microsecond=0))

    def answer(self, action: str, parameters: dict[str, str]) -> tuple[int, str] | None:
        """The status and body of an answer; None to drop the connection."""
        self.actions.append(action)
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
            "DescribeCapacityBlockOfferings": "<capacityBlockOfferingSet>"
            f"{_offering(self.fee, self.begun)}</capacityBlockOfferingSet>",
            "DescribeCapacityReservations": "<capacityReservationSet>"
            + "".join(f"<item>{_reservation(item, self.begun)}</item>" for item in self.executed)
            + "</capacityReservationSet>",
            "DescribeCapacityBlocks": "<capacityBlockSet/>",
        }
        if action not in bodies:
            return 400, _error("InvalidAction")
        return 200, _response(action, bodies[action])

    def _purchase(self, parameters: dict[str, str]) -> tuple[int, str] | None:
        if parameters.get("DryRun") == "true" and not self.ignores_dry_run:
            return 412, _error("DryRunOperation")
        self.purchases.append(parameters)
        if self.behaviour in _BEFORE:
            return _BEFORE[self.behaviour]
        self.executed.append(parameters | {"id": f"cr-{len(self.executed):017x}", "fee": self.fee})
        if self.behaviour == "kill":
            os.kill(self.victim, signal.SIGKILL)
        if self.behaviour == "hang":
            self.hang_until.wait(20)
        if self.behaviour in _AFTER:
            return _AFTER[self.behaviour]
        body = f"<capacityReservation>{_reservation(self.executed[-1], self.begun)}</capacityReservation>"
        return 200, _response("PurchaseCapacityBlock", body)


def _time(begun: datetime, days: float) -> str:
    return (begun + timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _offering(fee: str, begun: datetime) -> str:
    return (
        "<item><capacityBlockOfferingId>cb-good</capacityBlockOfferingId><instanceType>trn2.48xlarge</instanceType>"
        "<availabilityZone>us-east-2c</availabilityZone><instanceCount>16</instanceCount>"
        f"<startDate>{_time(begun, 10)}</startDate><endDate>{_time(begun, 24)}</endDate>"
        f"<capacityBlockDurationHours>336</capacityBlockDurationHours><upfrontFee>{fee}</upfrontFee>"
        "<currencyCode>USD</currencyCode><tenancy>default</tenancy></item>"
    )


def _reservation(bought: dict[str, str], begun: datetime) -> str:
    tag = f"<item><key>{bought['TagSpecification.1.Tag.1.Key']}</key><value>{bought['TagSpecification.1.Tag.1.Value']}</value></item>"
    return (
        f"<capacityReservationId>{bought['id']}</capacityReservationId><instanceType>trn2.48xlarge</instanceType>"
        f"<state>payment-pending</state><reservationType>capacity-block</reservationType>"
        f"<availabilityZoneId>use2-az3</availabilityZoneId><totalInstanceCount>16</totalInstanceCount>"
        f"<startDate>{_time(begun, 10)}</startDate><endDate>{_time(begun, 24)}</endDate><tagSet>{tag}</tagSet>"
    )


def _response(action: str, body: str) -> str:
    return f'<{action}Response xmlns="{_EC2}"><requestId>r</requestId>{body}</{action}Response>'


def _error(code: str) -> str:
    return f"<Response><Errors><Error><Code>{code}</Code><Message>fake</Message></Error></Errors><RequestID>r</RequestID></Response>"


# What each behaviour answers, before the purchase is executed or after. None: the connection is reset.
_BEFORE: dict[str, tuple[int, str] | None] = {
    "drop-before": None,
    "500-before": (500, _error("InternalError")),
    "503": (503, _error("RequestLimitExceeded")),
    "refuse": (400, _error("UnauthorizedOperation")),
}
_AFTER: dict[str, tuple[int, str] | None] = {
    "drop-after": None,
    "kill": None,
    "hang": None,
    "500-after": (500, _error("InternalError")),
    "garbage": (200, "<PurchaseCapacityBlockResponse><capacityRes"),
}


@contextmanager
def running_fake_ec2() -> Iterator[FakeEc2]:
    """Serve a fake until the end of the block."""
    fake = FakeEc2()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            parameters = {name: values[0] for name, values in parse_qs(body).items()}
            answer = fake.answer(parameters["Action"], parameters)
            if answer is None:
                # A reset, not an orderly end: the peer must not take it for an empty answer.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                return
            status, text = answer
            self.send_response_only(status)
            self.send_header("Date", format_datetime(datetime.now(UTC) + fake.clock_ahead, usegmt=True))
            self.send_header("Content-Type", "text/xml")
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            pass

        def finish(self) -> None:
            with suppress(OSError, ValueError):  # the connection was reset on purpose
                super().finish()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    fake.endpoint = f"http://127.0.0.1:{server.server_port}"
    try:
        yield fake
    finally:
        fake.hang_until.set()
        server.shutdown()
        server.server_close()
        thread.join()
