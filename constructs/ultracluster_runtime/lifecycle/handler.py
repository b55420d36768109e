"""Lambda function of `BlockLifecycle`. A schedule and EC2 events invoke it; it ignores what invoked it."""

import logging
import os
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from ultracluster_runtime.functions.clients import OF_FUNCTIONS, Clients
from ultracluster_runtime.lifecycle.driver import manage_blocks
from ultracluster_runtime.lifecycle.reader import ManagedBlock

logging.getLogger().setLevel(logging.INFO)


_CLIENTS: Final = Clients(config=OF_FUNCTIONS)


def handler(event: dict[str, Any], context: Any) -> None:  # noqa: ARG001 - Lambda's signature
    """Manage the block of this function once, and those that it had before; errors fire the alarm on function errors."""
    manage_blocks(
        ManagedBlock(
            reservation_id=os.environ["UC_RESERVATION_ID"],
            compute_environment=os.environ["UC_COMPUTE_ENVIRONMENT"],
            job_queue=os.environ["UC_JOB_QUEUE"],
            topic=os.environ["UC_TOPIC"],
            state_table=os.environ["UC_STATE_TABLE"],
            checkpoint_lead=timedelta(seconds=int(os.environ["UC_CHECKPOINT_LEAD_SECONDS"])),
            additional_job_queues=tuple(
                filter(None, os.environ.get("UC_ADDITIONAL_JOB_QUEUES", "").split(","))
            ),
            max_refusals=int(os.environ["UC_MAX_REFUSALS"]),
            auto_scaling_group=os.environ.get("UC_AUTO_SCALING_GROUP", ""),
            metrics_log_group=os.environ.get("UC_METRICS_LOG_GROUP", ""),
            replaces_sick=os.environ.get("UC_SICK_NODES") == "replace",
        ),
        _CLIENTS,
        datetime.now(UTC),
        owner=context.aws_request_id,
    )
