"""Everything that we can make, in one app: clusters of a rollout file with each of their parts, and what stands alone."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from tests.security.roles import SUBMITTERS

import ultracluster as uc
from ultracluster_catalog.neuron.neuron_images import NeuronImage
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.stacks.cluster_stage import ClusterStage

__all__ = ["ACCOUNT", "BOUNDARY", "KEY", "PATH", "REGION", "define_everything", "rollout"]

ACCOUNT = "123456789012"
REGION = "us-east-2"
BOUNDARY = "training-boundary"
PATH = "/training/"
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/01234567-89ab-cdef-0123-456789abcdef"
IMAGE = f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com/training:2026-11-20"

_JOBS: list[dict[str, Any]] = [
    {"name": "warm", "kind": "precompile", "image": IMAGE, "command": ["train.py"]},
    {"name": "check", "kind": "support-check", "image": IMAGE, "command": ["model.py", "build"]},
    {"name": "sweep", "kind": "single-node", "image": IMAGE, "command": ["tune.py"], "array_size": 4},
    {
        "name": "pretrain",
        "image": IMAGE,
        "command": ["train.py"],
        "depends_on": ["warm"],
        "resume": 3,
        "gates": {"smoke": True, "fabric": True, "min_bandwidth": 10},
    },
]

_CLUSTER: dict[str, Any] = {
    "account": ACCOUNT,
    "region": REGION,
    "zone_id": "use2-az3",
    "instance_type": "trn1.32xlarge",
    "nodes": 2,
    "image_id": "ami-0123456789abcdef0",
    "datasets": [{"name": "corpus"}],
    "jobs": _JOBS,
    "alarms": {"emails": ["cluster@example.com"]},
}


def rollout() -> dict[str, Any]:
    """A rollout with every part of a cluster: with keys of AWS, with a key, a boundary and a path, and with a fleet and a key."""
    bounded = _CLUSTER | {
        "name": "bounded",
        "capacity": {"reservation_id": "cr-0123456789abcdef1"},
        "alarms": {"emails": ["cluster@example.com"], "weekly_report": True},
        "kms_key_arn": KEY,
        "permissions_boundary": BOUNDARY,
        "role_path": PATH,
        "budget": {"monthly_usd": 100_000, "close_queues_at_percent": 100},
        "queue": {"notify_blocked": True},
        "notify": ["cluster@example.com"],
        "capacity_watch": {
            "nodes": 2,
            "days": 14,
            "start_after": "2027-01-10T00:00:00Z",
            "start_before": "2027-02-15T00:00:00Z",
            "max_usd": 60000,
            "until": "2027-02-15T00:00:00Z",
        },
    }
    usual = _CLUSTER | {
        "name": "usual",
        "capacity": {"market_type": "on-demand"},
        "additional_capacity": [{"name": "spot", "market_type": "spot", "max_nodes": 2}],
        "queue": {"capacity": ["capacity"]},
        "compile_cache": {"versioned": True, "replicate_to": ["compile-cache-of-another-region"]},
        "additional_queues": [{"name": "small", "capacity": ["spot"]}],
        "network": {"nat_gateway": True, "cidr": "10.1.0.0/16"},
    }
    joined = _CLUSTER | {
        "name": "joined",
        "capacity": {"reservation_id": "cr-0123456789abcdef2", "launched_by": "auto-scaling"},
        "kms_key_arn": KEY,
        "jobs": [{"name": "pretrain", "image": IMAGE, "command": ["train.py"]}],
        "network": {"cidr": "10.2.0.0/16"},
    }
    return {"version": 1, "waves": [{"name": "all", "clusters": [bounded, usual, joined]}]}


def define_everything(app: cdk.App, *, directory: Path) -> None:
    """Define the clusters and the rest.

    Args:
        app: The app.
        directory: Where the rollout file may be written.
    """
    path = directory / "rollout.yaml"
    path.write_text(json.dumps(rollout()))
    for cluster in load_rollout(path).config.clusters():
        ClusterStage(app, config=cluster)
    _stand_alone(cdk.Stack(app, "Others", env=cdk.Environment(account=ACCOUNT, region=REGION)))


def _stand_alone(stack: cdk.Stack) -> None:
    ledger = uc.CapacityLedger(stack, "Ledger")
    people = iam.AccountRootPrincipal()
    uc.CapacitySearchRole(stack, "Searcher", trusted_by=people, ledger=ledger)
    uc.CapacityPurchaseRole(
        stack,
        "Buyer",
        trusted_by=people,
        ledger=ledger,
        regions=[REGION],
        instance_types=["trn2.48xlarge"],
        max_instances=16,
    )
    uc.CapacityGuard(stack, "Guard", emails=["capacity@example.com"])
    images = uc.TrainingImageRepository(stack, "Images")
    queue = uc.SageMakerTrainingQueue(stack, "SageMaker", instances={"ml.trn2.48xlarge": 4})
    queue.grant_submit(iam.Role(stack, "Submitters", assumed_by=people, description=SUBMITTERS))
    uc.CheckpointBucket(stack, "Checkpoints").grant_use(queue.execution_role)
    images.grant_pull(queue.execution_role)
    parent = NeuronImage(kind="ecs-neuron", image_id="ami-0123456789abcdef0")
    uc.NeuronAmi(stack, "Ami", name="nodes", parent=parent, container_images=[IMAGE])
    network = uc.ClusterNetwork(
        stack, "Network", zone_id="use2-az3", instance_type="trn1.2xlarge", node_count=1, cidr="10.2.0.0/16"
    )
    nodes = uc.NodeGroup(
        stack, "Nodes", network=network, instance_type="trn1.2xlarge", image_id="ami-0123456789abcdef0"
    )
    theirs = logs.LogGroup.from_log_group_name(stack, "TheirLogs", "/their/training")
    small = uc.TrainingQueue(stack, "Queue", nodes=nodes, max_nodes=1, log_group=theirs)
    uc.SingleNodeJob(stack, "Tune", uc.Job(image=IMAGE, command=("tune.py",)), queue=small)
    uc.ClusterKey(stack, "Key")
