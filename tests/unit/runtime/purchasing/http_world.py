"""EC2, STS, Systems Manager and DynamoDB on one loopback port, where anything may happen to a request on its way.

The ledger is moto's DynamoDB. The product's own boto3 clients, retries and parsers are at work; only what the wire carries
is ours. It is not AWS.
"""

import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import boto3
import pytest
from botocore.config import Config
from moto.dynamodb.models import dynamodb_backends
from moto.moto_server.werkzeug_app import create_backend_app
from tests.fake_clients import FakeClients
from tests.unit.runtime.purchasing.example_orders import block_order
from tests.unit.runtime.purchasing.fake_ec2 import ACCOUNT, FakeEc2, error_body
from tests.unit.runtime.purchasing.invariants import Violation
from tests.unit.runtime.purchasing.ledger_table import TABLE, create_table
from tests.unit.runtime.purchasing.protocol_player import Running
from werkzeug.test import Client

from ultracluster_runtime.purchasing.ec2_driver import Ec2Driver
from ultracluster_runtime.purchasing.ledger import Ledger, order_key
from ultracluster_runtime.purchasing.orders import OrderState
from ultracluster_runtime.purchasing.purchase import buy
from ultracluster_runtime.purchasing.reconcile import Outcome, reconcile
from ultracluster_spec.findings import FindingsError

REGION = "us-east-2"
_ROOT = Path(__file__).parents[4]
_HTML = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><p>Sign in<br></body></html>"
_XHTML = b'<html xmlns="http://www.w3.org/1999/xhtml"><body>Sign in</body></html>'
_PURCHASE = "PurchaseCapacityBlock"

FAULTS = (
    "reset-before",
    "reset-after",
    "500-before",
    "500-after",
    "503-before",
    "502-html-after",
    "403-before",
    "403-after",
    "403-html",
    "html-before",
    "html-after",
    "xhtml-before",
    "empty-before",
    "empty-after",
    "forged-before",
    "truncated-after",
    "without-members-after",
)
"""What may happen to a request, before AWS executes it or after. ``forged`` is a 200 answer with a request ID."""


@dataclass
class HttpWorld:
    """The world behind the port.

    Attributes:
        ec2: EC2 and STS.
        ahead: How far the clock of this world is ahead of real time.
        choose_fault: Chooses a fault for a call, such as ``PutItem``; empty for none.
        kill: Number or name of the call at which a process is killed, whether after it was executed, and its ID.
        patience: How many seconds a client waits for the answer to a purchase.
        calls: Names of all calls.
    """

    ec2: FakeEc2 = field(default_factory=FakeEc2)
    ahead: timedelta = timedelta(0)
    choose_fault: Callable[[str], str] = lambda _: ""
    kill: tuple[int | str, bool, int] | None = None
    patience: float = 20
    calls: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    endpoint: str = ""
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    def now(self) -> datetime:
        """Return the time of this world."""
        return datetime.now(UTC) + self.ahead

    def answer(self, headers: Any, body: bytes) -> tuple[int, dict[str, str], bytes] | None:
        """Answer a request: status, headers and body; None to reset the connection."""
        target = headers.get("X-Amz-Target", "")
        parameters = (
            {name: values[0] for name, values in parse_qs(body.decode()).items()} if not target else {}
        )
        call = target.rpartition(".")[2] or parameters["Action"]
        if call == _PURCHASE and parameters.get("DryRun") == "true":
            call = "DryRun"
        with self._one_at_a_time:
            self.calls.append(call)
            fault = self.choose_fault(call)
            kills = self.kill is not None and self.kill[0] in {call, len(self.calls)}
            if self.kill and kills and not self.kill[1]:
                os.kill(self.kill[2], signal.SIGKILL)
                return None
            whole = None
            if not fault.endswith("-before") and fault != "403-html":
                whole = self._execute(call, target, parameters, headers, body)
            elif call == _PURCHASE:
                self._arrive(parameters)
                self.ec2.purchases.append(parameters)
            if self.kill and kills:
                os.kill(self.kill[2], signal.SIGKILL)
                return None
        return self._tamper(fault, target, whole)

    def _execute(
        self, call: str, target: str, parameters: dict[str, str], headers: Any, body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        if target.startswith("AmazonSSM."):  # no cluster was rehearsed
            return 400, {"Content-Type": "application/x-amz-json-1.1"}, b'{"__type":"ParameterNotFound"}'
        if target:
            answered = _dynamodb().post("/", data=body, headers=list(headers.items()))
            return answered.status_code, dict(answered.headers), answered.data
        if call == _PURCHASE:
            self._arrive(parameters)
        answer = self.ec2.answer(parameters["Action"], parameters)
        return answer[0], {"Content-Type": "text/xml"}, answer[1].encode()

    def _arrive(self, parameters: dict[str, str]) -> None:
        """Hold a purchase against the ledger at the moment at which it arrives."""
        name = parameters["TagSpecification.1.Tag.1.Value"]
        ledger = held(name)
        fee = Decimal(self.ec2.fee)
        if not ledger or ledger["state"]["S"] != OrderState.SENDING:
            self.violations.append(f"{name} was sent, and the ledger holds {ledger}")
            return
        terms = json.loads(ledger["terms"]["S"])
        spent = sum((Decimal(item["fee"]) for item in self.ec2.executed), Decimal(0))
        if fee > Decimal(terms["max_fee"]) or Decimal(ledger["fee"]["N"]) != fee:
            self.violations.append(
                f"{name} was sent for {fee}; the ledger holds {ledger['fee']}, {terms['max_fee']}"
            )
        if spent + fee > Decimal(terms["month_cap"]):
            self.violations.append(f"{name} was sent for {fee}, above the month's {terms['month_cap']}")

    def _tamper(
        self, fault: str, target: str, whole: tuple[int, dict[str, str], bytes] | None
    ) -> tuple[int, dict[str, str], bytes] | None:
        if fault == "hang-after":
            time.sleep(2 * self.patience)
        if fault.startswith(("reset", "hang")):
            return None
        if fault == "truncated-after" and whole is not None:
            return whole[0], whole[1], whole[2][: len(whole[2]) // 2]
        if fault in _ANSWERS:
            return _ANSWERS[fault]
        if fault in _OF_SERVICES:
            status, dynamodb, ec2 = _OF_SERVICES[fault]
            return status, {"x-amzn-RequestId": "r"}, dynamodb if target else ec2
        return whole


_PAGE = {"Content-Type": "text/html"}
_ANSWERS: dict[str, tuple[int, dict[str, str], bytes]] = {
    "502-html-after": (502, _PAGE, _HTML),
    "403-html": (403, _PAGE, _HTML),
    "html-before": (200, _PAGE, _HTML),
    "html-after": (200, _PAGE, _HTML),
    "xhtml-before": (200, _PAGE, _XHTML),
    "empty-before": (200, {}, b""),
    "empty-after": (200, {}, b""),
}
_FAILED = (500, b'{"__type":"InternalServerError"}', error_body("InternalError").encode())
_REFUSED = (403, b'{"__type":"AccessDeniedException"}', error_body("UnauthorizedOperation").encode())
_OF_SERVICES: dict[str, tuple[int, bytes, bytes]] = {
    "500-before": _FAILED,
    "500-after": _FAILED,
    "503-before": (503, b'{"__type":"ServiceUnavailable"}', error_body("RequestLimitExceeded").encode()),
    "403-before": _REFUSED,
    "403-after": _REFUSED,
    "forged-before": (200, b"{}", b"<Response><requestId>r</requestId></Response>"),
    "without-members-after": (200, b"{}", b"<Response/>"),
}
"""Status, body of DynamoDB and body of EC2."""


@cache
def _dynamodb() -> Client:
    return Client(create_backend_app("dynamodb"))


def held(name: str) -> dict[str, Any] | None:
    """Return the item of an order, past the wire."""
    item = dynamodb_backends[ACCOUNT][REGION].get_item(TABLE, order_key(name))
    return None if item is None else item.to_json()["Attributes"]


@contextmanager
def running_http_world() -> Iterator[HttpWorld]:
    """Serve a world to all clients until the end of the block, where retries are wanted and pauses take no time."""
    world = HttpWorld()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else each body waits 40 ms for the acknowledgement of its head

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer = world.answer(self.headers, body)
            if answer is None:
                # A reset, not an orderly end: the peer must not take it for an empty answer.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                self.close_connection = True
                return
            status, headers, text = answer
            self.send_response_only(status)
            dropped = {"date", "content-length", "connection", "x-amz-crc32"}
            for name, value in headers.items():
                if name.lower() not in dropped:
                    self.send_header(name, value)
            self.send_header("Date", format_datetime(world.now(), usegmt=True))
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            pass

        def finish(self) -> None:
            with suppress(OSError, ValueError):  # the connection was reset on purpose
                super().finish()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    world.endpoint = f"http://127.0.0.1:{server.server_port}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", world.endpoint)
        patch.setenv("AWS_MAX_ATTEMPTS", "10")
        patch.setenv("AWS_RETRY_MODE", "adaptive")
        # The pauses between attempts of boto3 would take longer than all requests.
        patch.setattr("botocore.endpoint.time", types.SimpleNamespace(sleep=lambda _: None))
        yield world
    server.shutdown()
    server.server_close()
    thread.join()


@cache
def _client(endpoint: str, service: str, region: str, attempts: int) -> Any:
    retries: Any = {"total_max_attempts": attempts, "mode": "standard"}
    return boto3.client(
        service, region_name=region, endpoint_url=endpoint, config=Config(retries=retries, read_timeout=20)
    )


def driver(world: HttpWorld, confirm: Callable[..., bool] = lambda *_: True) -> Ec2Driver:
    """Return a driver of the product, whose clock is that of the world and which sleeps in no time."""

    class Clients(FakeClients):
        def make(self, service: str, region: str | None, config: Config) -> Any:  # with hooks of its own
            hasty = config.merge(Config(read_timeout=world.patience))
            return boto3.client(service, region_name=region, config=hasty)

    def sleep(seconds: float) -> None:
        world.ahead += timedelta(seconds=seconds)

    ledger = Ledger(_client(world.endpoint, "dynamodb", REGION, 3), TABLE)
    return Ec2Driver(
        clients=Clients(lambda service, region: _client(world.endpoint, service, str(region), 2)),
        ledger=ledger,
        confirm=confirm,
        accept=lambda *_: True,
        clock=world.now,
        sleep=sleep,
    )


def begin(world: HttpWorld, *, orders: int = 1, one_cluster: bool = True, **terms: Any) -> list[str]:
    """Begin anew, with an empty ledger but for approved orders.

    Returns:
        Their names.
    """
    dynamodb_backends[ACCOUNT][REGION].reset()
    world.ec2, world.ahead, world.choose_fault, world.kill = FakeEc2(), timedelta(0), lambda _: "", None
    world.calls.clear()
    world.violations.clear()
    client = _client(world.endpoint, "dynamodb", REGION, 3)
    create_table(client)
    now = world.now()
    names = ["december", "january"][:orders]
    for name in names:
        order = block_order(
            name=name,
            cluster="ohio" if one_cluster else name,
            start_after=now,
            start_before=now + timedelta(days=30),
            expires_at=now + timedelta(days=1),
            **terms,
        )
        Ledger(client, TABLE).approve(order, now=now)
    world.calls.clear()
    return names


def run(world: HttpWorld, steps: Any) -> Outcome | FindingsError:
    """Run a protocol to its end."""
    ended: Outcome | FindingsError = Running(steps, driver(world).perform).run()
    return ended


def check(world: HttpWorld, names: list[str]) -> None:
    """What must hold at any time."""
    if world.violations:
        raise Violation("; ".join(world.violations))
    for name in names:
        asked = [item for item in world.ec2.purchases if item["TagSpecification.1.Tag.1.Value"] == name]
        if len(asked) > 1:
            raise Violation(f"{len(asked)} purchase requests for {name}")


def settle_and_check(world: HttpWorld, names: list[str]) -> None:
    """What must hold once nothing fails any more: the ledger lists exactly what was bought, and nobody buys again."""
    world.choose_fault = lambda _: ""
    world.ahead += timedelta(hours=1)
    for name in names:
        outcome = run(world, reconcile(name))
        if not isinstance(outcome, Outcome):
            raise Violation(f"reconcile refused: {outcome}")
        bought = [item["id"] for item in world.ec2.executed if item["TagSpecification.1.Tag.1.Value"] == name]
        if list(outcome.record.reservation_ids) != bought:
            raise Violation(f"{name} lists {outcome.record.reservation_ids}; bought is {bought}")
        if world.ec2.purchases:
            run(world, buy(name, nonce="again"))
    check(world, names)


def strike_http_call(world: HttpWorld, call: str, occurrence: int, fault: str) -> Outcome | FindingsError:
    """Buy, and again, while one call fails from one occurrence on, so that retries do not help; then let all be well.

    Returns:
        What the first attempt came to.
    """
    names = begin(world)
    seen: list[str] = []

    def choose(name: str) -> str:
        if name == call:
            seen.append(name)
        return fault if name == call and len(seen) > occurrence else ""

    world.choose_fault = choose
    try:
        first, _ = (run(world, buy(names[0], nonce=nonce)) for nonce in ("first", "again at once"))
        check(world, names)
        settle_and_check(world, names)
    except Exception as cause:
        raise Violation(f"{type(cause).__name__}: {cause} ({fault} at {call} {occurrence})") from cause
    return first


def random_http_life(world: HttpWorld, seed: int) -> int:
    """One random life: one or two orders, up to four buyers that may die, faults, and fees that rise.

    Returns:
        The number of faults that struck.
    """
    dice = random.Random(seed)  # noqa: S311 - a repeatable test, not a secret
    names = begin(
        world,
        orders=dice.choice((1, 1, 2)),
        one_cluster=dice.random() < 0.5,
        max_fee=Decimal(200000),
        month_cap=Decimal(dice.choice((250000, 500000))),
    )
    budget = dice.choice((0, 1, 1, 2, 2, 3, 4))
    struck: list[str] = []

    def choose(call: str) -> str:
        # The purchase and the ledger matter most, and blind chance would seldom hit them.
        likely = 0.5 if call in {_PURCHASE, "TransactWriteItems", "GetItem"} else 0.08
        if len(struck) >= budget or dice.random() > likely:
            return ""
        struck.append(f"{call}: {dice.choice(FAULTS)}")
        return struck[-1].rpartition(" ")[2]

    def confirm(*_: Any) -> bool:
        if dice.random() < 0.2:
            world.ec2.fee = dice.choice(("192241.67", "200000.01", "180000.00"))
        if dice.random() < 0.1:
            world.ahead += timedelta(minutes=dice.choice((1, 11)))
        return True

    try:
        for number in range(dice.randint(1, 4)):
            world.choose_fault = choose
            steps = buy(dice.choice(names), nonce=f"nonce-{seed}-{number}")
            buyer = Running(steps, driver(world, confirm).perform)
            lives = dice.randint(1, 30) if dice.random() < 0.2 else 1000
            while lives and buyer.step():
                lives -= 1
            check(world, names)
            _check_told(world, buyer.result)
            if dice.random() < 0.3:
                world.ahead += timedelta(minutes=dice.choice((1, 5, 45)))
        settle_and_check(world, names)
    except Exception as cause:
        raise Violation(f"{type(cause).__name__}: {cause} (seed {seed}, {struck})") from cause
    return len(struck)


def _check_told(world: HttpWorld, result: Outcome | FindingsError | None) -> None:
    """IDs that AWS returned are told: a buyer that says PURCHASED or PAID names them."""
    if isinstance(result, Outcome) and result.record.state in {OrderState.PURCHASED, OrderState.PAID}:
        ids = {item["id"] for item in world.ec2.executed}
        if not result.record.reservation_ids or not set(result.record.reservation_ids) <= ids:
            raise Violation(f"told {result.record.reservation_ids}; bought is {ids}")


def random_http_schedule(world: HttpWorld, seed: int) -> None:
    """Two buyers in turns of random length, of one order or of two for one cluster, with at most one fault."""
    dice = random.Random(seed)  # noqa: S311 - a repeatable test, not a secret
    names = begin(world, orders=dice.choice((1, 2)), max_fee=Decimal(200000), month_cap=Decimal(500000))
    faults = [dice.choice(FAULTS)] if dice.random() < 0.5 else []
    strikes = dice.choice((_PURCHASE, "TransactWriteItems", "GetItem"))
    world.choose_fault = lambda call: faults.pop() if faults and call == strikes else ""
    running = [
        Running(buy(names[number % len(names)], nonce=f"nonce-{number}"), driver(world).perform)
        for number in range(2)
    ]
    try:
        while running:
            buyer = dice.choice(running)
            for _ in range(dice.randint(1, 8)):
                if not buyer.step():
                    running.remove(buyer)
                    break
            check(world, names)
            if dice.random() < 0.1:
                world.ahead += timedelta(seconds=dice.choice((1, 45, 1900)))
        settle_and_check(world, names)
    except Exception as cause:
        raise Violation(f"{type(cause).__name__}: {cause} (schedule {seed})") from cause


def command_line(name: str, then: str = "") -> subprocess.Popen[str]:
    """Start `ultracluster capacity buy` in a shell that does something with its output."""
    item = held(name)
    assert item is not None
    command = f"{sys.executable} -m ultracluster_cli capacity buy {name} --token {item['token']['S']}"
    return subprocess.Popen(
        ["bash", "-c", f"set -o pipefail; exec {command} --ledger {TABLE} --ledger-region {REGION} {then}"],
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def buy_and_kill(world: HttpWorld, call: int | str, *, after: bool) -> None:
    """Kill a command line at a call, before the call was executed or after, and run it again."""
    (name,) = begin(world)
    child = command_line(name)
    world.kill = (call, after, child.pid)
    _, stderr = child.communicate(timeout=120)
    assert child.returncode == -9, (call, stderr)
    world.kill = None
    again = command_line(name)
    _, stderr = again.communicate(timeout=120)
    assert "Traceback" not in stderr
    assert again.returncode in {0, 5}, stderr
    check(world, [name])
    settle_and_check(world, [name])
