"""SQS queues: attributes that CreateQueue refuses, and policies, which moto drops when other attributes are set."""

from collections.abc import Mapping
from typing import Any

from moto.sqs.models import Queue, sqs_backends

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Request, ServiceError
from ultracluster_local.services.replacing import instead_of

__all__: list[str] = []


@instead_of(Queue, "_set_attributes")
def _set_attributes(
    original: Any, queue: Any, attributes: Mapping[str, Any], now: float | None = None
) -> None:
    """Keep the policy unless a new one is given, and times in seconds: API_GetQueueAttributes, CreatedTimestamp."""
    kept = getattr(queue, "policy", None)  # a new queue has no policy yet
    original(queue, attributes, now)
    if "Policy" not in attributes:
        queue.policy = kept
    queue.created_timestamp = int(queue.created_timestamp)
    queue.last_modified_timestamp = int(queue.last_modified_timestamp)


_check = Checks(service="sqs")

# CreateQueue: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html
_FIFO_ONLY = ("ContentBasedDeduplication", "DeduplicationScope", "FifoThroughputLimit")
_COMPARED = {
    "DelaySeconds": "delay_seconds",
    "MaximumMessageSize": "maximum_message_size",
    "MessageRetentionPeriod": "message_retention_period",
    "ReceiveMessageWaitTimeSeconds": "receive_message_wait_time_seconds",
    "VisibilityTimeout": "visibility_timeout",
}


@_check("CreateQueue")
def check_create_queue(request: Request) -> None:
    """Refuse FIFO attributes of a standard queue, and a queue that exists with other attributes."""
    attributes = request.parameters.get("Attributes") or {}
    if str(attributes.get("FifoQueue", "false")).lower() != "true":
        if _FIFO_ONLY[0] in attributes:
            raise ServiceError("InvalidAttributeName", f"Unknown Attribute {_FIFO_ONLY[0]}.")
        for name in _FIFO_ONLY[1:]:
            if name in attributes:
                problem = f"You can specify the {name} only when FifoQueue is set to true."
                raise ServiceError("InvalidAttributeName", problem)
    kept = sqs_backends[ACCOUNT][request.region].queues.get(request.parameters["QueueName"])
    for name, member in _COMPARED.items():
        if kept is not None and name in attributes and int(attributes[name]) != getattr(kept, member):
            problem = f"A queue already exists with the same name and a different value for attribute {name}"
            raise ServiceError("QueueAlreadyExists", problem)


@_check("CreateQueue", "SetQueueAttributes")
def check_encryption(request: Request) -> None:
    """Refuse two kinds of encryption: localstack/localstack, test_sqs.snapshot.json (2024-04-30)."""
    given = request.parameters.get("Attributes") or {}
    if given.get("KmsMasterKeyId") and str(given.get("SqsManagedSseEnabled")).lower() == "true":
        problem = "You can use one type of server-side encryption (SSE) at one time. You can either enable KMS SSE or SQS SSE."
        raise ServiceError("InvalidAttributeName", problem)


@_check("SetQueueAttributes")
def check_set_queue_attributes(request: Request) -> None:
    """Refuse another type of a queue: the same snapshot (2024-05-14)."""
    wanted = (request.parameters.get("Attributes") or {}).get("FifoQueue")
    fifo = request.parameters["QueueUrl"].endswith(".fifo")
    if wanted is not None and not fifo:
        raise ServiceError("InvalidAttributeName", "Unknown Attribute FifoQueue.")
    if wanted is not None and str(wanted).lower() != "true":
        problem = "Invalid value for the parameter FifoQueue. Reason: Modifying queue type is not supported."
        raise ServiceError("InvalidAttributeValue", problem)


_RANGES = {
    "DelaySeconds": (0, 900),
    "MaximumMessageSize": (1024, 1_048_576),
    "MessageRetentionPeriod": (60, 1_209_600),
    "ReceiveMessageWaitTimeSeconds": (0, 20),
    "VisibilityTimeout": (0, 43_200),
}
"""Ranges of attributes: API_CreateQueue."""


@_check("CreateQueue", "SetQueueAttributes")
def check_ranges(request: Request) -> None:
    """Refuse attributes outside their range."""
    for name, value in (request.parameters.get("Attributes") or {}).items():
        least, most = _RANGES.get(name, (0, 0))
        if name in _RANGES and not (str(value).isdigit() and least <= int(value) <= most):
            raise ServiceError("InvalidAttributeValue", f"Invalid value for the parameter {name}.")
