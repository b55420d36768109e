"""The Lambda function behind `ClusterBudget`: closes job queues for new jobs when a budget is spent.

It goes into the template as it is, so it needs boto3 only. Running jobs go on and write their checkpoints. Doing it twice
does what doing it once does.
"""

import os
from datetime import UTC, datetime
from typing import Any

import boto3

__all__ = ["handler"]


def handler(event: Any, context: Any) -> None:  # noqa: ARG001 - the signature is Lambda's; the message says no more
    """Close the queues of this function and tell people.

    Args:
        event: The message of AWS Budgets.
        context: Lambda's context.

    Raises:
        RuntimeError: If a queue could not be closed; the others are closed all the same.
    """
    batch = boto3.client("batch")
    queues = os.environ["UC_JOB_QUEUES"].split(",")
    failures = []
    for queue in queues:
        try:
            # The tag first: the life cycle of a Capacity Block would open an untagged queue again within the minute.
            now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            batch.tag_resource(resourceArn=queue, tags={os.environ["UC_CLOSED_TAG"]: now})
            batch.update_job_queue(jobQueue=queue, state="DISABLED")
        except Exception as error:  # noqa: BLE001 - one queue that cannot be closed keeps no other open
            failures.append(f"{queue}: {error}")
    if failures:  # Lambda tries again, and the alarm on errors tells people
        raise RuntimeError("; ".join(failures))
    boto3.client("sns").publish(
        TopicArn=os.environ["UC_TOPIC"],
        Subject="The budget of a cluster is spent: its queues are closed",
        Message="Job queues that take no new jobs any more:\n"
        + "\n".join(queues)
        + "\n\nJobs that run or wait go on, and write their checkpoints. To open a queue again, remove its tag "
        + os.environ["UC_CLOSED_TAG"]
        + " (aws batch untag-resource), then: aws batch update-job-queue --state ENABLED --job-queue ARN",
    )
