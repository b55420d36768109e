"""How the life cycle of a block acts in AWS: it opens and closes, tells and ends. It can buy nothing."""

import json
import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from ultracluster_runtime.lifecycle.actions import (
    Action,
    Notify,
    PartialDeliveryError,
    RequestCheckpoint,
    SetEnvironment,
    SetQueue,
    TerminateJob,
)
from ultracluster_runtime.lifecycle.machine import run_cycle
from ultracluster_runtime.lifecycle.reader import READ_ERRORS, Clients, Cluster, chunks, observe, try_read
from ultracluster_runtime.lifecycle.state import LifecycleState

__all__ = ["CHECKPOINT_FILE", "LifecycleError", "manage_block", "new_clients"]

_log = logging.getLogger(__name__)

CHECKPOINT_FILE: Final = "/run/ultracluster/checkpoint"
"""The file on a node whose content tells its jobs to write a checkpoint; launch.sh watches it."""

_SECONDS_TO_DELIVER = 60  # the next wake-up tells again
_NODES_PER_COMMAND = 50  # SendCommand, botocore 1.44.5
_SUBJECT_LIMIT = 99  # Publish: below 100 characters
_EXTENSION_HOURS = (24, 168)  # blocks grow by a day up to 14 days, then by a week

# A wake-up lasts less than a minute, because the next one comes then; what hangs is cut off early.
_CONFIG = Config(connect_timeout=3, read_timeout=10, retries={"mode": "standard", "total_max_attempts": 3})


class LifecycleError(Exception):
    """Something could not be seen or done; all of it, in one text. The next wake-up tries again."""


def new_clients() -> Clients:
    """Make the clients, for the Region and credentials of the environment."""
    return Clients(
        **{name: boto3.client(name, config=_CONFIG) for name in ("batch", "ec2", "ecs", "sns", "ssm")}
    )


def manage_block(cluster: Cluster, clients: Clients, now: datetime) -> None:
    """Look at everything once and do what is missing.

    Args:
        cluster: What is looked after.
        clients: The clients.
        now: The time, aware.

    Raises:
        LifecycleError: If something could not be seen or done. Everything else was done all the same.
    """
    errors: list[Exception] = []
    try:
        observations = observe(cluster, clients, now, errors)
    except READ_ERRORS as error:
        raise LifecycleError(f"{type(error).__name__}: {error}") from error
    state = try_read(lambda: _load_state(cluster, clients), errors)
    errors += run_cycle(
        observations,
        state,
        perform=lambda action: _perform(action, cluster, clients),
        save=lambda updated: _save_state(updated, cluster, clients),
    )
    if errors:
        raise LifecycleError("; ".join(f"{type(error).__name__}: {error}" for error in errors))


# What is done


def _perform(action: Action, cluster: Cluster, clients: Clients) -> None:
    match action:
        case SetEnvironment(enabled=enabled):
            clients.batch.update_compute_environment(
                computeEnvironment=cluster.compute_environment, state=_batch_state(enabled=enabled)
            )
        case SetQueue(enabled=enabled):
            clients.batch.update_job_queue(jobQueue=cluster.job_queue, state=_batch_state(enabled=enabled))
        case RequestCheckpoint():
            _request_checkpoints(action, clients)
        case TerminateJob(job_id=job_id, reason=reason):
            clients.batch.terminate_job(jobId=job_id, reason=reason)
        case Notify():
            _notify(action, cluster, clients)
    _log.info(json.dumps({"reservation": cluster.reservation_id, "done": repr(action)}))


def _batch_state(*, enabled: bool) -> str:
    return "ENABLED" if enabled else "DISABLED"


def _request_checkpoints(action: RequestCheckpoint, clients: Clients) -> None:
    requested: set[str] = set()
    failures: list[str] = []
    for chunk in chunks(sorted(action.nodes), _NODES_PER_COMMAND):
        try:
            _send_command(chunk, action.before, clients)
            requested.update(chunk)
        except (BotoCoreError, ClientError):
            # One node without a connection to Systems Manager fails the command for all of them.
            for node in chunk:
                try:
                    _send_command([node], action.before, clients)
                    requested.add(node)
                except (BotoCoreError, ClientError) as error:
                    failures.append(f"{node}: {error}")
    if failures:
        raise PartialDeliveryError(frozenset(requested), failures)


def _send_command(nodes: Sequence[str], before: datetime, clients: Clients) -> None:
    folder = CHECKPOINT_FILE.rpartition("/")[0]
    clients.ssm.send_command(
        InstanceIds=list(nodes),
        DocumentName="AWS-RunShellScript",
        Comment="Tell jobs to write a checkpoint",
        TimeoutSeconds=_SECONDS_TO_DELIVER,
        Parameters={
            "commands": [
                f"mkdir -p {folder}",
                # By a rename, so that nobody reads half of it.
                f"echo '{before:%Y-%m-%dT%H:%M:%SZ}' >{CHECKPOINT_FILE}.new",
                f"mv {CHECKPOINT_FILE}.new {CHECKPOINT_FILE}",
            ]
        },
    )


def _notify(notice: Notify, cluster: Cluster, clients: Clients) -> None:
    parts = [notice.text]
    if notice.with_extension:
        parts.append(_extension_offers(cluster.reservation_id, clients))
    if notice.report:
        figures = json.dumps(notice.report, sort_keys=True)
        _log.info(figures)
        parts.append(figures)
    clients.sns.publish(
        TopicArn=cluster.topic, Subject=notice.subject[:_SUBJECT_LIMIT], Message="\n\n".join(parts)
    )


def _extension_offers(reservation_id: str, clients: Clients) -> str:
    """What an extension costs now, as text; also that this could not be found out."""
    lines: list[str] = []
    for hours in _EXTENSION_HOURS:
        try:
            response = clients.ec2.describe_capacity_block_extension_offerings(
                CapacityReservationId=reservation_id, CapacityBlockExtensionDurationHours=hours
            )
            lines += [
                f"{offer['CapacityBlockExtensionDurationHours']} h for {offer['UpfrontFee']} "
                f"{offer['CurrencyCode']}, until {offer['CapacityBlockExtensionEndDate']:%Y-%m-%d %H:%M} UTC"
                for offer in response["CapacityBlockExtensionOfferings"]
            ]
        except ClientError as error:
            lines.append(f"{hours} h: not offered ({error.response['Error']['Code']})")
        except (BotoCoreError, KeyError) as error:
            lines.append(f"{hours} h: price not known ({type(error).__name__})")
    offers = "\n".join(lines) or "none is offered"
    return f"Extensions offered now (ultracluster capacity extend buys one):\n{offers}"


# What is remembered


def _load_state(cluster: Cluster, clients: Clients) -> LifecycleState:
    stored = clients.ssm.get_parameter(Name=cluster.memory)["Parameter"]["Value"]
    return LifecycleState.from_json(stored, reservation_id=cluster.reservation_id)


def _save_state(state: LifecycleState, cluster: Cluster, clients: Clients) -> None:
    clients.ssm.put_parameter(Name=cluster.memory, Value=state.to_json(), Overwrite=True)
