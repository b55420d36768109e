"""Process that buys one order and prints the result, for tests that kill it."""

import functools
import sys
import uuid
from typing import Any

import boto3
from botocore.config import Config
from tests.unit.runtime.purchasing.ledger_table import TABLE

from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.purchasing.ec2_driver import Ec2Driver
from ultracluster_runtime.purchasing.effects import perform_all
from ultracluster_runtime.purchasing.ledger import Ledger
from ultracluster_runtime.purchasing.purchase import buy
from ultracluster_runtime.purchasing.reconcile import Outcome

_session = functools.cache(boto3.Session)  # one session reads EC2's large model once


def hasty_clients() -> Clients:
    """Clients that wait half a second for an answer, so that a test does; all else is as the product sets it."""

    def make(service: str, *, region_name: str, config: Config) -> Any:
        hasty = config.merge(Config(read_timeout=0.5))
        return _session().client(service, region_name=region_name, config=hasty)

    return Clients(make)


def driver() -> Ec2Driver:
    """A driver as the command line makes it, which confirms everything."""
    clients = hasty_clients()
    ledger = Ledger(clients("dynamodb", "us-east-2"), TABLE)
    return Ec2Driver(clients=clients, ledger=ledger, confirm=_always, accept=_always, sleep=_never)


def _always(*_: Any) -> bool:
    return True


def _never(_: float) -> None:
    """Tests do not wait."""


def main() -> int:
    """Buy the order that is named.

    Returns:
        0.
    """
    outcome: Outcome = perform_all(buy(sys.argv[1], nonce=uuid.uuid4().hex), driver().perform)
    sys.stdout.write(f"{outcome.record.state} {' '.join(outcome.record.reservation_ids)}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
