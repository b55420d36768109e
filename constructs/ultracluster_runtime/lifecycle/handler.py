"""The Lambda function behind `BlockLifecycle`: it is woken by a clock and by EC2's events, and asks neither what to do."""

import logging
import os
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from ultracluster_runtime.lifecycle.driver import manage_block, new_clients
from ultracluster_runtime.lifecycle.reader import Clients, Cluster

__all__ = ["handler"]

logging.getLogger().setLevel(logging.INFO)


@cache
def _clients() -> Clients:
    return new_clients()


def handler(event: dict[str, Any], context: Any) -> None:  # noqa: ARG001 - the signature is Lambda's; what woke it does not matter
    """Look after the block of this function once.

    Args:
        event: What woke it.
        context: Lambda's context.

    Raises:
        LifecycleError: If something could not be seen or done, so that the alarm on errors sees it.
    """
    manage_block(
        Cluster(
            reservation_id=os.environ["UC_RESERVATION_ID"],
            compute_environment=os.environ["UC_COMPUTE_ENVIRONMENT"],
            job_queue=os.environ["UC_JOB_QUEUE"],
            topic=os.environ["UC_TOPIC"],
            memory=os.environ["UC_MEMORY"],
            checkpoint_lead=timedelta(seconds=int(os.environ["UC_CHECKPOINT_LEAD_SECONDS"])),
            further_job_queues=tuple(filter(None, os.environ.get("UC_FURTHER_JOB_QUEUES", "").split(","))),
        ),
        _clients(),
        datetime.now(UTC),
    )
