"""Lambda function of `ClusterBudget`: close job queues for new jobs when a budget is exceeded.

Its source is inlined in the template, so it uses boto3 only. Running jobs continue and write their checkpoints. The
function is idempotent.
"""

import os
from datetime import UTC, datetime
from typing import Any

import boto3


def handler(event: Any, context: Any) -> None:  # noqa: ARG001 - Lambda's signature
    """Close the queues of this function and notify the topic.

    Raises:
        RuntimeError: If a queue could not be closed. All other queues are closed.
    """
    batch = boto3.client("batch")
    queues = os.environ["UC_JOB_QUEUES"].split(",")
    failures = []
    for queue in queues:
        try:
            # Tag first: the life cycle of a Capacity Block reopens untagged queues within a minute.
            now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            batch.tag_resource(resourceArn=queue, tags={os.environ["UC_CLOSED_TAG"]: now})
            batch.update_job_queue(jobQueue=queue, state="DISABLED")
        except Exception as error:  # noqa: BLE001 - a failure must not keep other queues open
            failures.append(f"{queue}: {error}")
    if failures:  # Lambda retries, and the alarm on function errors fires
        raise RuntimeError("; ".join(failures))
    boto3.client("sns").publish(
        TopicArn=os.environ["UC_TOPIC"],
        Subject="Cluster budget exceeded: job queues are closed",
        Message="These job queues accept no new jobs:\n"
        + "\n".join(queues)
        + "\n\nRunning and waiting jobs continue and write their checkpoints. To reopen a queue, remove its tag "
        + os.environ["UC_CLOSED_TAG"]
        + " (aws batch untag-resource), then: aws batch update-job-queue --state ENABLED --job-queue ARN",
    )
