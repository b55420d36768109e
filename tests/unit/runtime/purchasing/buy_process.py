"""Process that buys one order and prints the result, for tests that kill it."""

import functools
import sys
import uuid
from typing import Any

from botocore.config import Config
from tests.unit.runtime.purchasing.ledger_table import TABLE

from ultracluster_runtime.purchasing.ec2_driver import Ec2Driver, session_clients
from ultracluster_runtime.purchasing.effects import perform_all
from ultracluster_runtime.purchasing.ledger import Ledger
from ultracluster_runtime.purchasing.purchase import buy
from ultracluster_runtime.purchasing.reconcile import Outcome

_session = functools.cache(session_clients)  # one session reads EC2's large model once


def hasty_clients() -> Any:
    """Clients that wait half a second for an answer, so that a test does; all else is as the product sets it."""
    make = _session()

    def make_hasty(service: str, region: str, config: Config) -> Any:
        return make(service, region, config.merge(Config(read_timeout=0.5)))

    return make_hasty


def driver() -> Ec2Driver:
    """A driver as the command line makes it, which confirms everything."""
    make = hasty_clients()
    ledger = Ledger(make("dynamodb", "us-east-2", Config(read_timeout=5)), TABLE)
    return Ec2Driver(make_client=make, ledger=ledger, confirm=_always, accept=_always, sleep=_never)


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
