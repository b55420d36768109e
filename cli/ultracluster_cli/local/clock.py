"""Move the clock of the local AWS through the lives of its Capacity Blocks."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ultracluster_cli._aws.local_target import read_clock
from ultracluster_cli.jobs.session import read_duration
from ultracluster_local.seeding.seed_client import move_clock
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.functions.window import BlockWindow
from ultracluster_runtime.jobs.submission import refuse_option
from ultracluster_runtime.purchasing.order_checks import parse_time
from ultracluster_spec.findings import FindingsError, quote

STAGES = ("start", "checkpoint", "drain", "termination", "end")
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """Time in the life of a block at which something happens."""

    at: datetime
    name: str
    reservation: str


def stages(client: Clients) -> list[Stage]:
    """Return the stages of all Capacity Blocks of a Region, in order of time."""
    leads = dict(_checkpoint_leads(client("lambda")))
    stages_of_blocks = []
    for reservation in client("ec2").describe_capacity_reservations().get("CapacityReservations", ()):
        if reservation.get("ReservationType") != "capacity-block" or "EndDate" not in reservation:
            continue
        reservation_id = reservation["CapacityReservationId"]
        times = BlockWindow(
            start=reservation["StartDate"],
            end=reservation["EndDate"],
            ultraserver=reservation["InstanceType"].startswith("trn2u"),
            **({"checkpoint_lead": leads[reservation_id]} if reservation_id in leads else {}),
        )
        moments = (times.start, times.checkpoint_at, times.drain_at, times.terminates_at, times.end)
        stages_of_blocks += [
            Stage(at=at, name=name, reservation=reservation_id)
            for name, at in zip(STAGES, moments, strict=True)
        ]
    return sorted(stages_of_blocks, key=lambda stage: stage.at)


def _checkpoint_leads(functions: Any) -> Iterator[tuple[str, timedelta]]:
    """Return the checkpoint lead of each block from the function that manages it."""
    for page in functions.get_paginator("list_functions").paginate():
        for function in page.get("Functions", ()):
            variables = function.get("Environment", {}).get("Variables", {})
            if "UC_RESERVATION_ID" in variables and "UC_CHECKPOINT_LEAD_SECONDS" in variables:
                lead = timedelta(seconds=int(variables["UC_CHECKPOINT_LEAD_SECONDS"]))
                yield variables["UC_RESERVATION_ID"], lead


def target_time(by: str | None, stage: str | None, *, now: datetime, known: list[Stage]) -> datetime:
    """Return the time to which a user wants to move the clock. ``by`` is a time, or a duration such as ``+13d``."""
    if stage is not None:
        ahead = [
            block_stage.at for block_stage in known if block_stage.name == stage and block_stage.at > now
        ]
        if not ahead:
            left = dict.fromkeys(block_stage.name for block_stage in known if block_stage.at > now)
            allowed = f"a stage that a block has ahead: {', '.join(left) or 'none'}"
            remedy = "Deploy a cluster in a Capacity Block, and see its times with `ultracluster local clock`"
            raise FindingsError([refuse_option("--to", quote(stage), allowed=allowed, remedy=remedy)])
        return min(ahead) + _MINUTE
    text = by or ""
    target = (
        now + read_duration("TIME", text[1:])
        if text.startswith("+")
        else parse_time("TIME", text, also="a duration such as +2m or +13d, ")
    )
    if target < now:
        problem = f"{quote(text)}, which is before the time of the clock: {now:%Y-%m-%dT%H:%M:%SZ}"
        raise FindingsError([refuse_option("TIME", problem, remedy="Run `ultracluster local reset`")])
    return target


def move(
    target: datetime,
    *,
    endpoint: str,
    key: str,
    known: list[Stage],
    wait: float,
    report: Callable[[str], None],
) -> list[Mapping[str, Any]]:
    """Move the clock, stopping a minute after each stage of a block on the way.

    The functions that act by the minute see each stage then, and processes of running jobs have time to react,
    because they run in real time. Return what was delivered to functions, topics and queues.
    """
    now = read_clock(endpoint=endpoint, key=key)
    delivered: list[Mapping[str, Any]] = []
    stops = [(stage.at + _MINUTE, stage) for stage in known if now < stage.at + _MINUTE <= target]
    for moment, stage in stops:
        answer = move_clock(endpoint=endpoint, key=key, to=moment, most_firings=1)
        delivered += answer["delivered"]
        report(f"{moment:%Y-%m-%d %H:%M} UTC: {stage.name} of {stage.reservation}")
        if wait and answer["jobs"] and moment < target:
            time.sleep(wait)
    if not stops or stops[-1][0] < target:
        delivered += move_clock(endpoint=endpoint, key=key, to=target, most_firings=1)["delivered"]
    return delivered
