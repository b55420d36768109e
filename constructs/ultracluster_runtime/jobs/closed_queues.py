"""Say why a queue accepts no jobs: the block that ended or drains, and the next one. All calls are read-only."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from ultracluster_catalog.capacity.capacity_blocks import EXTENSION_CLOSES
from ultracluster_catalog.limits.budgets import CLOSED_BY_BUDGET_TAG
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.functions.responses import AWS_ERRORS
from ultracluster_runtime.jobs.describe import describe_environments
from ultracluster_runtime.jobs.diagnose import Reason
from ultracluster_runtime.lifecycle.observations import ENDED, UPCOMING, Reservation


def explain_closed_queue(queue: Mapping[str, Any], *, now: datetime, client: Clients) -> Reason | None:
    """Return why a queue that AWS Batch describes accepts no jobs, and when it will; None if it does."""
    if queue["state"] == "ENABLED":
        return None
    name = queue["jobQueueName"]
    if CLOSED_BY_BUDGET_TAG in queue.get("tags", {}):
        return Reason(
            reason="queue-disabled",
            evidence=f"queue {name} is DISABLED: a budget closed it",
            remedy=f"Check the cost, remove the tag {CLOSED_BY_BUDGET_TAG}, then open it: aws batch update-job-queue --job-queue {name} --state ENABLED",
        )
    environments, unseen = describe_environments(queue, client=client)
    blocks = {one.capacity.id: one.capacity.reservation for one in environments if one.capacity is not None}
    lost = [f"EC2 no longer knows {block}" for block, reservation in blocks.items() if reservation is None]
    past = [
        _why_closed(block, one, now) for block, one in blocks.items() if one and one.state not in UPCOMING
    ]
    coming = [_coming(block, one) for block, one in blocks.items() if one and one.state in UPCOMING]
    types = {environment.instance_type for environment in environments if environment.instance_type}
    bought = [] if coming else _unused_blocks(types, blocks, client)
    evidence = "; ".join([*past, *lost, *coming, *unseen]) or "no block is known"
    if coming:
        remedy = "It opens with that block; submit the job again then"
    elif bought:
        remedy = f"Next is {' and '.join(bought)}: put its ID into the rollout file and deploy"
    else:
        latest = [
            one.end - EXTENSION_CLOSES
            for one in blocks.values()
            if one and one.end and one.state not in ENDED
        ]
        extend = (
            f"extend the block (ultracluster capacity extend, until {min(latest):%Y-%m-%d %H:%M} UTC), or "
            if latest and now < min(latest)
            else ""
        )
        remedy = (
            f"No next block is known: {extend}buy one (ultracluster capacity find) and deploy with its ID"
        )
    return Reason(reason="queue-disabled", evidence=f"queue {name} is DISABLED: {evidence}", remedy=remedy)


def _why_closed(block: str, reservation: Reservation, now: datetime) -> str:
    window = reservation.window(checkpoint_lead=timedelta(0))
    if window is None:
        return f"{block} is {reservation.state}"
    end = f"{window.end:%Y-%m-%d %H:%M} UTC"
    if reservation.state in ENDED or window.end <= now:
        return f"Capacity Block {block} ended {end} ({reservation.state})"
    if now >= window.drain_at:
        return f"Capacity Block {block} ends {end}, and since {window.drain_at:%H:%M} UTC no jobs start in it"
    drain = f"{window.drain_at:%Y-%m-%d %H:%M} UTC"
    return f"Capacity Block {block} is {reservation.state} until {end}; before {drain}, only a person closes the queue"


def _coming(block: str, reservation: Reservation) -> str:
    start = f" and starts {reservation.start:%Y-%m-%d %H:%M} UTC" if reservation.start else ""
    return f"the next block {block} is {reservation.state}{start}"


def _unused_blocks(types: Iterable[str], known: Collection[str], client: Clients) -> list[str]:
    """Return the blocks of the account that are still to start and in none of the environments."""
    filters = [
        {"Name": "instance-type", "Values": sorted(types)},
        {"Name": "state", "Values": ["scheduled", "pending", "payment-pending"]},
    ]
    try:
        pages = client("ec2").get_paginator("describe_capacity_reservations").paginate(Filters=filters)
        found = [block for page in pages for block in page["CapacityReservations"]] if types else []
    except AWS_ERRORS:
        return []  # only a hint
    return [
        f"{block['CapacityReservationId']}, which starts {block['StartDate']:%Y-%m-%d %H:%M} UTC"
        for block in found
        if block["CapacityReservationId"] not in known and block.get("StartDate")
    ]
