"""Keep the policy of SQS queues when other attributes are set; moto drops it."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from moto.sqs.models import Queue

__all__ = ["install"]


def install() -> None:
    """Make SetQueueAttributes keep the policy unless a new one is given."""
    Queue._set_attributes = _keeping_the_policy(Queue._set_attributes)  # noqa: SLF001 - moto has no other place


def _keeping_the_policy(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def set_attributes(queue: Any, attributes: Mapping[str, Any], now: float | None = None) -> None:
        kept = getattr(queue, "policy", None)  # a new queue has none yet
        original(queue, attributes, now)
        if "Policy" not in attributes:
            queue.policy = kept

    return set_attributes
