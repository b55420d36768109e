"""Entry point of an array child that is one node of a job: meets the others, then starts the launcher as on a node.

The launcher (scripts/launch.py) reads the variables that AWS Batch sets for multi-node jobs. Here they are set from the array
index and the roster, so that launchers, gates, checkpoints and logs are the same on both roads.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import uuid
from pathlib import Path
from typing import Any, Mapping, Sequence  # noqa: UP035 - runs on Python 3.8

from ultracluster_runtime.array_rendezvous.member import run_member
from ultracluster_runtime.array_rendezvous.places import Bucket, Folder, Place
from ultracluster_runtime.array_rendezvous.rendezvous import Child, Settings, Start

EXIT_CODES: Mapping[str, int] = {"success": 0, "failure": 1, "again": 112}
"""By result; 112 is the code of a job that lost a node (ultracluster_catalog.names.launcher), which is retried."""

_PORT = 28400
_PORTS = 3
_GENERATIONS = 64
# What the launcher of this program sets for a job on one node. torchrun leaves it as it is, and programs read it.
_OF_ONE_NODE = ("NNODES", "NODE_RANK", "NEURON_RT_ROOT_COMM_ID")


def main() -> int:
    """Take part in the array of the environment with the command of the arguments."""
    given = os.environ
    child = Child(
        job=given["AWS_BATCH_JOB_ID"].partition(":")[0],
        index=int(given["AWS_BATCH_JOB_ARRAY_INDEX"]),
        size=int(given["UC_ARRAY_NODES"]),
        attempt=int(given["AWS_BATCH_JOB_ATTEMPT"]),
        nonce=uuid.uuid4().hex[:8],
        address=given.get("UC_RENDEZVOUS_ADDRESS") or _own_address(),
    )
    settings = Settings(
        poll=float(given.get("UC_RENDEZVOUS_POLL", Settings.poll)),
        deadline=float(given.get("UC_RENDEZVOUS_DEADLINE", Settings.deadline)),
        lease=float(given.get("UC_RENDEZVOUS_LEASE", Settings.lease)),
    )

    def command(start: Start) -> Sequence[str]:
        for name in _OF_ONE_NODE:
            os.environ.pop(name, None)
        os.environ.update(node_variables(child, start))
        return sys.argv[1:]

    signal.signal(signal.SIGTERM, _leave)
    _say(f"child {child.index} of {child.size}, attempt {child.attempt}, waits for the others")
    outcome = run_member(child, settings, _place(given["UC_RENDEZVOUS_PLACE"]), command)
    _say(outcome.reason)
    return EXIT_CODES[outcome.result]


def node_variables(child: Child, start: Start) -> dict[str, str]:
    """Return the variables of a node of a multi-node job for a child of a generation."""
    port = int(os.environ.get("UC_RENDEZVOUS_PORT", _PORT)) + _PORTS * (start.generation % _GENERATIONS)
    return {
        # Launchers refuse nodes of another job; those of another generation are refused by another name and other ports.
        "AWS_BATCH_JOB_ID": f"{child.job}.{start.generation}#{child.index}",
        "AWS_BATCH_JOB_NUM_NODES": str(child.size),
        "AWS_BATCH_JOB_NODE_INDEX": str(child.index),
        "AWS_BATCH_JOB_MAIN_NODE_INDEX": "0",
        "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS": start.addresses[0],
        "MASTER_PORT": str(port),
    }


def _place(where: str) -> Place:
    if not where.startswith("s3://"):
        return Folder(Path(where))
    import boto3  # noqa: PLC0415 - images that meet in a folder need none

    bucket, _, prefix = where[len("s3://") :].partition("/")
    return Bucket(boto3.client("s3"), bucket, prefix.rstrip("/") + "/")


def _own_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("10.255.255.255", 9))
        return str(probe.getsockname()[0])


def _leave(number: int, _frame: Any) -> None:
    # Leaving through the stack ends the program with SIGTERM, which has a grace period to write its checkpoint.
    sys.exit(128 + number)


def _say(what: str) -> None:
    sys.stderr.write(f"ultracluster: {what}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
