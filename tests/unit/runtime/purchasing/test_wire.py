"""Requests on the wire: never more than one purchase per order, whatever happens and whatever the environment configures."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError
from moto.dynamodb.models import DynamoDBBackend
from moto.server import ThreadedMotoServer
from tests.unit.runtime.purchasing.buy_process import driver
from tests.unit.runtime.purchasing.example_orders import block_order
from tests.unit.runtime.purchasing.fake_ec2 import FakeEc2, running_fake_ec2
from tests.unit.runtime.purchasing.ledger_table import TABLE, create_table

from ultracluster_runtime.purchasing.ec2_objects import PurchaseBlock
from ultracluster_runtime.purchasing.effects import OutcomeUnknown, Send, perform_all
from ultracluster_runtime.purchasing.ledger import Ledger
from ultracluster_runtime.purchasing.purchase import buy
from ultracluster_runtime.purchasing.reconcile import Outcome, reconcile
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

_ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def dynamodb_endpoint() -> Iterator[str]:
    # DynamoDB's transactions are atomic; those of moto's threaded server are not.
    transact, one_at_a_time = DynamoDBBackend.transact_write_items, threading.Lock()

    def transact_alone(*arguments: Any) -> Any:
        with one_at_a_time:
            return transact(*arguments)

    DynamoDBBackend.transact_write_items = transact_alone
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()
    DynamoDBBackend.transact_write_items = transact


@pytest.fixture
def ec2(dynamodb_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeEc2]:
    with running_fake_ec2() as fake:
        for name, value in {
            "AWS_ENDPOINT_URL_EC2": fake.endpoint,
            "AWS_ENDPOINT_URL_STS": fake.endpoint,
            "AWS_ENDPOINT_URL_DYNAMODB": dynamodb_endpoint,
            "AWS_MAX_ATTEMPTS": "10",
            "AWS_RETRY_MODE": "adaptive",
        }.items():
            monkeypatch.setenv(name, value)
        client = table()
        if TABLE in client.list_tables()["TableNames"]:
            client.delete_table(TableName=TABLE)
        create_table(client)
        now = datetime.now(UTC)
        order = block_order(
            start_after=now,
            start_before=now + timedelta(days=30),
            expires_at=now + timedelta(hours=1),
            max_fee=Decimal(200000),
        )
        Ledger(client, TABLE).approve(order, now=now)
        yield fake


def table() -> Any:
    return boto3.client("dynamodb", region_name="us-east-2")


def run(steps: Any) -> Outcome | FindingsError:
    try:
        return perform_all(steps, driver().perform)
    except FindingsError as error:
        return error


BEHAVIOURS = {
    "ok": "PURCHASED",
    "drop-before": "SENDING",
    "drop-after": "PURCHASED",
    "500-before": "SENDING",
    "500-after": "PURCHASED",
    "503": "SENDING",
    "garbage": "PURCHASED",
    "hang": "PURCHASED",
    "refuse": "REJECTED",
}
"""What the fake does with the purchase, and what the ledger says right after."""


@pytest.mark.parametrize("behaviour", sorted(BEHAVIOURS))
def test_sends_one_purchase_request_however_often_it_runs(ec2: FakeEc2, behaviour: str) -> None:
    ec2.behaviour = behaviour
    first = run(buy("december", nonce="first"))
    assert isinstance(first, Outcome), first
    assert first.record.state == BEHAVIOURS[behaviour]
    for attempt in range(2):
        run(buy("december", nonce=f"again-{attempt}"))
    assert len(ec2.purchases) == 1
    after = run(reconcile("december"))
    assert isinstance(after, Outcome)
    assert list(after.record.reservation_ids) == [item["id"] for item in ec2.executed]


def test_client_with_default_retries_would_buy_twice(ec2: FakeEc2, monkeypatch: pytest.MonkeyPatch) -> None:
    # The control: the same fake, without our configuration of the client. Two attempts, so that it waits once.
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    monkeypatch.setenv("AWS_RETRY_MODE", "standard")
    ec2.behaviour = "drop-after"
    client = boto3.client("ec2", region_name="us-east-2")
    with pytest.raises(BotoCoreError):
        client.purchase_capacity_block(
            CapacityBlockOfferingId="cb-good",
            InstancePlatform="Linux/UNIX",
            TagSpecifications=[
                {"ResourceType": "capacity-reservation", "Tags": [{"Key": "uc:po", "Value": "x"}]}
            ],
        )
    assert len(ec2.executed) == 2


def test_refuses_to_buy_after_a_dry_run_that_executed(ec2: FakeEc2) -> None:
    ec2.ignores_dry_run = True
    error = run(buy("december", nonce="n"))
    assert isinstance(error, FindingsError)
    assert error.findings[0].code == "UC7047"
    run(buy("december", nonce="again"))
    assert len(ec2.purchases) == 1  # the dry run itself, which this EC2 executed
    after = run(reconcile("december"))
    assert isinstance(after, Outcome)
    assert list(after.record.reservation_ids) == [ec2.executed[0]["id"]]


REQUEST = PurchaseBlock(
    region="us-east-2", offering_id="cb-good", platform="Linux/UNIX", order_name="december", ultraserver=False
)


def test_request_is_not_sent_twice_even_if_the_client_retries(
    ec2: FakeEc2, monkeypatch: pytest.MonkeyPatch
) -> None:
    retrying = Config(retries={"total_max_attempts": 3, "mode": "standard"})
    monkeypatch.setattr("ultracluster_runtime.purchasing.ec2_driver.PURCHASING", retrying)
    ec2.behaviour = "drop-after"
    now = datetime.now(UTC)
    reply = driver().perform(Send(request=REQUEST, not_before=now, not_after=now + timedelta(minutes=1)))
    assert isinstance(reply, OutcomeUnknown)
    assert len(ec2.purchases) == 1


def test_process_killed_during_the_purchase_bought_once(ec2: FakeEc2) -> None:
    ec2.behaviour = "kill"
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.unit.runtime.purchasing.buy_process", "december"],
        cwd=_ROOT,
        env=dict(os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    ec2.victim = child.pid
    _, stderr = child.communicate(timeout=30)
    assert child.returncode == -9, stderr
    ec2.behaviour = "ok"
    again = run(buy("december", nonce="again"))
    assert isinstance(again, Outcome)
    assert len(ec2.purchases) == 1
    assert again.record.state == "PURCHASED"
    assert list(again.record.reservation_ids) == [ec2.executed[0]["id"]]


def test_several_processes_at_once_buy_once(ec2: FakeEc2) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.unit.runtime.purchasing.buy_process", "december"],
            cwd=_ROOT,
            env=dict(os.environ),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for child in children:
        _, stderr = child.communicate(timeout=30)
        assert child.returncode == 0, stderr
    assert ec2.actions.count("GetCallerIdentity") >= 1
    assert len(ec2.purchases) == 1
