"""Lambda function of `JobResume`. A schedule and events of AWS Batch invoke it; it ignores what invoked it."""

import logging
import os
from datetime import UTC, datetime
from typing import Any, Final

from ultracluster_runtime.functions.clients import OF_FUNCTIONS, Clients
from ultracluster_runtime.resume.sweep import ResumedQueues, sweep

logging.getLogger().setLevel(logging.INFO)


_CLIENTS: Final = Clients(config=OF_FUNCTIONS)


def handler(event: dict[str, Any], context: Any) -> None:  # noqa: ARG001 - Lambda's signature
    """Resubmit jobs that ended for a reason outside their program; errors fire the alarm on function errors."""
    sweep(
        ResumedQueues(
            job_queues=tuple(filter(None, os.environ["UC_JOB_QUEUES"].split(","))),
            table=os.environ["UC_STATE_TABLE"],
            topic=os.environ.get("UC_TOPIC"),
        ),
        _CLIENTS,
        datetime.now(UTC),
        owner=context.aws_request_id,
    )
