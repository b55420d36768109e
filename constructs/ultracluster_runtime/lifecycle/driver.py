"""Perform the actions of a block's life cycle in AWS. Nothing here can buy capacity."""

import json
import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from botocore.exceptions import ClientError

from ultracluster_runtime.functions.clients import Clients, patience
from ultracluster_runtime.functions.responses import AWS_ERRORS
from ultracluster_runtime.lifecycle.actions import (
    Action,
    DrainNode,
    Notify,
    PartialDeliveryError,
    ReplaceNode,
    RequestCheckpoint,
    SetEnvironment,
    SetFleet,
    SetProtection,
    SetQueue,
    TerminateJob,
)
from ultracluster_runtime.lifecycle.lease import LeasedState, LeaseHeldError
from ultracluster_runtime.lifecycle.plan import run_cycle
from ultracluster_runtime.lifecycle.reader import ManagedBlock, chunks, host_of, observe, try_read
from ultracluster_runtime.lifecycle.state import LifecycleState

_log = logging.getLogger(__name__)

CHECKPOINT_FILE: Final = "/run/ultracluster/checkpoint"
"""File on a node that requests a checkpoint from its jobs; the launcher watches it."""

_SECONDS_TO_DELIVER = 60  # the next run sends the request again
NODES_PER_COMMAND = 50  # SendCommand, botocore 1.44.5
_NODES_PER_PROTECTION = 50  # SetInstanceProtection, API Reference, read 2026-11
_SUBJECT_LIMIT = 99  # subjects of Publish are below 100 characters
_EXTENSION_HOURS = (24, 168)  # blocks grow by a day up to 14 days, then by a week

_REQUESTS_AT_ONCE = 16
# The next run repeats requests for checkpoints; this one must end in time, however many nodes are not connected.
_BRIEFLY = patience(attempts=1, connect=2, read=5)


class LifecycleError(Exception):
    """Some reads or actions failed; the message lists all of them. The next run tries again."""


def manage_blocks(block: ManagedBlock, clients: Clients, now: datetime, *, owner: str) -> None:
    """Manage a block as `manage_block` does, and those that the cluster launched into before as long as jobs may run in them."""
    errors: list[Exception] = []

    def manage(managed: ManagedBlock) -> None:
        try:
            manage_block(managed, clients, now, owner=owner)
        except LifecycleError as error:
            errors.append(error)

    manage(block)
    for former in try_read(lambda: list(_former_blocks(block, clients, now)), errors) or ():
        manage(former)
    if errors:
        raise LifecycleError("; ".join(map(str, errors)))


def _former_blocks(block: ManagedBlock, clients: Clients, now: datetime) -> Iterator[ManagedBlock]:
    for page in clients("dynamodb").get_paginator("scan").paginate(TableName=block.state_table):
        for item in page["Items"]:
            reservation_id = item["id"]["S"]
            stored = LifecycleState.from_json(LeasedState.text_of(item), reservation_id=reservation_id)
            if reservation_id != block.reservation_id and not stored.is_over(now):
                yield replace(block, reservation_id=reservation_id, former=True)


def manage_block(block: ManagedBlock, clients: Clients, now: datetime, *, owner: str) -> None:
    """Observe a block once and perform all due actions, unless another invocation (`owner`) does so now.

    Raise `LifecycleError` at the end if a read or an action failed.
    """
    errors: list[Exception] = []
    stored = LeasedState(
        client=clients("dynamodb"), table=block.state_table, item=block.reservation_id, owner=owner
    )
    state: LifecycleState | None = None
    try:
        # Before the observations, so that no other invocation acts in between.
        state = LifecycleState.from_json(stored.acquire(now), reservation_id=block.reservation_id)
    except LeaseHeldError:
        _log.info(json.dumps({"reservation": block.reservation_id, "skipped": "another invocation runs"}))
        return
    except AWS_ERRORS as error:
        # Without its state the cycle only does what is harmless to do twice.
        errors.append(error)
    try:
        errors += _observe_and_act(block, clients, now, stored, state)
    finally:
        if state is not None:
            try_read(stored.release, errors)
    if errors:
        raise LifecycleError("; ".join(f"{type(error).__name__}: {error}" for error in errors))


def _observe_and_act(
    block: ManagedBlock, clients: Clients, now: datetime, stored: LeasedState, state: LifecycleState | None
) -> list[Exception]:
    errors: list[Exception] = []
    try:
        observations = observe(block, clients, now, errors)
    except AWS_ERRORS as error:
        return [error]
    return errors + list(
        run_cycle(
            observations,
            state,
            perform=lambda action: _perform(action, block, clients),
            save=lambda updated: stored.save(updated.to_json()),
        )
    )


# Actions


def _perform(action: Action, block: ManagedBlock, clients: Clients) -> None:
    match action:
        case SetEnvironment(enabled=enabled):
            clients("batch").update_compute_environment(
                computeEnvironment=block.compute_environment, state=_batch_state(enabled=enabled)
            )
        case SetQueue(enabled=enabled):
            clients("batch").update_job_queue(jobQueue=block.job_queue, state=_batch_state(enabled=enabled))
        case RequestCheckpoint():
            _request_checkpoints(action, clients)
        case SetFleet(nodes=nodes):
            clients("autoscaling").set_desired_capacity(
                AutoScalingGroupName=block.auto_scaling_group, DesiredCapacity=nodes
            )
        case SetProtection():
            _protect(action, block, clients)
        case TerminateJob():
            _terminate(action, clients)
        case DrainNode(node=node):
            _drain(node, block, clients)
        case ReplaceNode(node=node):
            # The block has room for another one then:
            # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-launch.html (read 2026-11). An Auto Scaling
            # group keeps its desired capacity, whether the node is protected from scaling in or not.
            clients("ec2").terminate_instances(InstanceIds=[node])
        case Notify():
            _notify(action, block, clients)
    _log.info(json.dumps({"reservation": block.reservation_id, "done": repr(action)}))


def _protect(action: SetProtection, block: ManagedBlock, clients: Clients) -> None:
    for chunk in chunks(sorted(action.nodes), _NODES_PER_PROTECTION):
        clients("autoscaling").set_instance_protection(
            AutoScalingGroupName=block.auto_scaling_group,
            InstanceIds=chunk,
            ProtectedFromScaleIn=action.protected,
        )


def _terminate(action: TerminateJob, clients: Clients) -> None:
    # What TerminateJob of an array does to its children is not documented. The array is last: while it is not over, the next
    # run finds children that are left.
    def terminate(job_id: str) -> None:
        clients("batch").terminate_job(jobId=job_id, reason=action.reason)

    with ThreadPoolExecutor(_REQUESTS_AT_ONCE) as pool:
        list(pool.map(terminate, action.children))
    terminate(action.job_id)


def _drain(node: str, block: ManagedBlock, clients: Clients) -> None:
    # Running tasks go on, and none is placed any more:
    # https://docs.aws.amazon.com/AmazonECS/latest/developerguide/container-instance-draining.html (read 2026-11).
    cluster, host = host_of(clients, block.compute_environment, node)
    if host is not None:
        clients("ecs").update_container_instances_state(
            cluster=cluster, containerInstances=[host], status="DRAINING"
        )


def _batch_state(*, enabled: bool) -> str:
    return "ENABLED" if enabled else "DISABLED"


def _request_checkpoints(action: RequestCheckpoint, clients: Clients) -> None:
    requested: set[str] = set()
    failures: list[str] = []

    def request(nodes: Sequence[str]) -> None:
        try:
            send_checkpoint_request(clients("ssm", config=_BRIEFLY), nodes, action.before, sender="new")
            requested.update(nodes)
        except AWS_ERRORS as error:
            if len(nodes) > 1 and isinstance(error, ClientError):
                # SendCommand fails as a whole if one instance is not connected to Systems Manager.
                with ThreadPoolExecutor(_REQUESTS_AT_ONCE) as pool:
                    list(pool.map(request, chunks(nodes, 1)))
            else:
                failures.append(f"{', '.join(nodes)}: {error}")

    for nodes in chunks(sorted(action.nodes), NODES_PER_COMMAND):
        request(nodes)
    if failures:
        raise PartialDeliveryError(frozenset(requested), sorted(failures))


def send_checkpoint_request(ssm: Any, nodes: Sequence[str], until: datetime, *, sender: str) -> None:
    """Request a checkpoint from the jobs on nodes, at most `NODES_PER_COMMAND`.

    The launcher ignores requests whose time has passed. Each sender has its own temporary file.
    """
    ssm.send_command(
        InstanceIds=list(nodes),
        DocumentName="AWS-RunShellScript",
        Comment="Request a checkpoint from running jobs",
        TimeoutSeconds=_SECONDS_TO_DELIVER,
        Parameters={
            "commands": [
                f"mkdir -p {CHECKPOINT_FILE.rpartition('/')[0]}",
                # Rename so that no reader sees a partial file.
                f"echo '{until:%Y-%m-%dT%H:%M:%SZ}' >{CHECKPOINT_FILE}.{sender}",
                f"mv {CHECKPOINT_FILE}.{sender} {CHECKPOINT_FILE}",
            ]
        },
    )


def _notify(notice: Notify, block: ManagedBlock, clients: Clients) -> None:
    parts = [notice.text]
    if notice.with_extension:
        parts.append(_extension_offers(block.reservation_id, clients))
    if notice.report:
        figures = json.dumps(notice.report, sort_keys=True)
        _log.info(figures)
        parts.append(figures)
    clients("sns").publish(
        TopicArn=block.topic, Subject=notice.subject[:_SUBJECT_LIMIT], Message="\n\n".join(parts)
    )


def _extension_offers(reservation_id: str, clients: Clients) -> str:
    """Describe the current extension offerings, or why they are unknown."""
    lines: list[str] = []
    for hours in _EXTENSION_HOURS:
        try:
            response = clients("ec2").describe_capacity_block_extension_offerings(
                CapacityReservationId=reservation_id, CapacityBlockExtensionDurationHours=hours
            )
            lines += [
                f"{offer['CapacityBlockExtensionDurationHours']} h for {offer['UpfrontFee']} "
                f"{offer['CurrencyCode']}, until {offer['CapacityBlockExtensionEndDate']:%Y-%m-%d %H:%M} UTC"
                for offer in response["CapacityBlockExtensionOfferings"]
            ]
        except ClientError as error:
            lines.append(f"{hours} h: not offered ({error.response['Error']['Code']})")
        except AWS_ERRORS as error:
            lines.append(f"{hours} h: price not known ({type(error).__name__})")
    offers = "\n".join(lines) or "none is offered"
    return f"Extensions offered now (ultracluster capacity extend buys one):\n{offers}"
