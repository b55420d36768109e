"""`queue` and `further_queues` of a cluster: who comes first, and what a queue uses."""

from dataclasses import replace
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from ultracluster_rules.queues import (
    PRIORITY,
    RESERVED_PERCENT,
    SHARE_DECAY_HOURS,
    WAIT_LIMIT_HOURS,
    check_shares,
)
from ultracluster_stacks.config.models.constraints import constraint, refusal_of
from ultracluster_stacks.config.models.model import ConfigModel
from ultracluster_stacks.config.models.names import Name

__all__ = ["OWN_CAPACITY", "FurtherQueueConfig", "QueueConfig", "WaitLimitsConfig"]

OWN_CAPACITY: Final = "capacity"
"""Name by which a queue refers to the capacity of its cluster that has no name."""

_Hours = Annotated[int, constraint(WAIT_LIMIT_HOURS)]


def _check_shares(shares: dict[str, int]) -> dict[str, int]:
    for finding in check_shares(shares, path="shares"):
        where = finding.path.removeprefix("shares").removeprefix(".")
        raise refusal_of(replace(finding, problem=f"{where}: {finding.problem}") if where else finding)
    return shares


class WaitLimitsConfig(ConfigModel):
    """Hours after which a job that waits at the head of a queue is cancelled. Never what waits for a Capacity Block."""

    insufficient_capacity: _Hours | None = Field(
        default=None,
        description="EC2 has no instances for any of the capacity: 1 to 24 hours. Not with reserved capacity, whose "
        "jobs may wait for it to start. Default: for ever.",
    )
    exceeds_environments: _Hours | None = Field(
        default=None,
        description="The job needs more nodes than any of the capacity may have: 1 to 24 hours. Not with a Capacity "
        "Block. Default: for ever.",
    )
    exceeds_nodes: _Hours | None = Field(
        default=None,
        description="The container of the job fits no node: 1 to 24 hours. Default: for ever.",
    )


class QueueConfig(ConfigModel):
    """How a queue divides the nodes."""

    priority: Annotated[int, constraint(PRIORITY)] = Field(
        default=1,
        description="Whose jobs come first among queues with nodes in common: the higher number, 0 to 1,000.",
    )
    shares: Annotated[dict[str, int], AfterValidator(_check_shares)] = Field(
        default_factory=dict,
        description="Parts of the nodes for each share identifier (letters and digits, an asterisk at the end for all "
        "that begin so), 1 to 1,000: one with 4 is due four times as much as one with 1. Others have one part.",
    )
    share_decay_hours: Annotated[int, constraint(SHARE_DECAY_HOURS)] = Field(
        default=24, description="Hours for which the use of a share is remembered, 1 to 168."
    )
    compute_reservation_percent: Annotated[int, constraint(RESERVED_PERCENT)] = Field(
        default=0,
        description="What is kept free for share identifiers without jobs, 0 to 99 percent. Default: nothing.",
    )
    capacity: tuple[str, ...] = Field(
        default=(),
        description="Names of the capacity that the queue uses, in order of preference, up to three: those of "
        "`further_capacity`, and `capacity` for that of the cluster. Default: all.",
    )
    notify_blocked: bool = Field(
        default=False,
        description="Whether AWS Batch's event about a blocked queue goes to the topic `BlockedQueues` of the cluster. "
        "Default: it does not.",
    )
    wait_limits: WaitLimitsConfig = Field(
        default_factory=WaitLimitsConfig.model_construct,
        description="When a job that waits at the head is cancelled. Default: never.",
    )


class FurtherQueueConfig(QueueConfig):
    """One more queue over the nodes of a cluster."""

    name: Name = Field(
        description="Name of the queue, once in a cluster; `ultracluster jobs submit --queue NAME`."
    )
