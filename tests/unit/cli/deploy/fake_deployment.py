"""A fake of the CDK CLI that synthesizes and deploys, what it was called with, and the cluster that is there then."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.unit.cli._aws.folder_bucket import FolderBucket, client_of
from tests.unit.cli.plan.fake_project import CloudFormation

from ultracluster_cli._aws.target import Target

FAKE_CDK = """\
import json, os, pathlib, shutil, sys
command, arguments = sys.argv[1], sys.argv[1:]
pathlib.Path(f"called-{command}.json").write_text(json.dumps({"arguments": arguments, "environment": dict(os.environ)}))
if command == "synth":
    shutil.copytree("new", sys.argv[sys.argv.index("--output") + 1])
    sys.exit(0)
with open("all-calls.jsonl", "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
print("✨  Synthesis time: 0.01s")
print("a/N (a-N): deploying... [1/1]")
if os.environ.get("FAKE_FAILURE") == "silent":
    print("connect ECONNREFUSED 127.0.0.1:1")
    sys.exit(1)
if os.environ.get("FAKE_FAILURE"):
    print("a-N | 1/3 | 3:43:52 AM | CREATE_FAILED | AWS::S3::Bucket | B no such luck")
    sys.exit(1)
print("✅  a/N (a-N)")
print("✨  Deployment time: 0.5s")
"""

READ_BACK: dict[str, Any] = {
    "name": "training-us-east-2",
    "region": "us-east-2",
    "instance_type": "trn2.48xlarge",
    "nodes": 4,
    "chips": 64,
    "neuron_cores": 512,
    "logical_neuron_cores": 256,
    "efa_interfaces_per_node": 16,
    "efa_gbps_per_node": 3200,
    "placement_group": None,
    "reservation": {
        "id": "cr-0123456789abcdef0",
        "state": "active",
        "market_type": "capacity-block",
        "instances": 4,
        "ends": datetime(2026, 12, 1, 11, 30, tzinfo=UTC),
    },
    "file_systems": [
        {
            "id": "fs-0123456789abcdef0",
            "state": "AVAILABLE",
            "storage_gib": 4800,
            "throughput_mb_per_s": 1200,
            "object_servers": 2,
            "node_gbps": 10,
            "node_mb_per_s": 300,
            "usd_per_month": 1008.0,
        }
    ],
    "buckets": ["checkpoints"],
    "queue": "training (ENABLED)",
    "job_definitions": [
        {"name": "pretrain:3", "job": "pretrain", "nodes": 4, "neuron_devices": 16, "efa_devices": 16}
    ],
    "stacks": [{"name": "training-us-east-2-Cluster", "status": "CREATE_COMPLETE", "resources": 6}],
}
"""What is read of a deployed cluster, and shown in the summary."""


def account(profile: str | None = None, *, cloudformation: Any = None) -> Target:
    """Stands in for an account that credentials were found for, in which the stack of `fake_project` is deployed."""
    return Target(
        name=f"account of {profile}",
        local=False,
        environment=os.environ,
        client=client_of(cloudformation or CloudFormation(), FolderBucket(Path("s3"))),
        profile=profile,
    )


def called(project: Path, command: str = "deploy") -> dict[str, Any]:
    told: dict[str, Any] = json.loads((project / f"called-{command}.json").read_text())
    return told
