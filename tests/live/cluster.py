"""A cluster of a live run: deployed by boto3 from exported templates, as docs/how-to/export.md describes, and its jobs."""

import base64
import json
import string
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.live.session import Live

__all__ = [
    "IMAGE",
    "NEURON_IMAGE",
    "PARTS",
    "Cluster",
    "deploy",
    "image_id",
    "ultracluster",
    "write_rollout",
    "zone_of",
]

IMAGE: Final = "public.ecr.aws/docker/library/python:3.12-slim"
NEURON_IMAGE: Final = (
    "public.ecr.aws/neuron/pytorch-training-neuronx:2.9.0-neuronx-py312-sdk2.27.1-ubuntu24.04"
)
PARTS: Final = ("network", "storage", "cluster")
_ROOT: Final = Path(__file__).parents[2]
_ENDED: Final = {"SUCCEEDED", "FAILED"}
_AMI: Final = "/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/recommended/image_id"

_METRICS: Final = """
import json, time
for step in range(300):
    now = int(time.time() * 1000)
    metrics = [{"Namespace": "UltraCluster", "Dimensions": [["Cluster"]], "Metrics": [{"Name": "StepSeconds", "Unit": "Seconds"}]}]
    print(json.dumps({"_aws": {"Timestamp": now, "CloudWatchMetrics": metrics}, "Cluster": "$NAME", "StepSeconds": 1.0}), flush=True)
    print("50%|#####     | 150/300", end="\\r", flush=True)
    time.sleep(1)
"""
_COMPILE: Final = """
import torch, torch_xla.core.xla_model as xm
device = xm.xla_device()
x = torch.ones(128, 128, device=device)
for _ in range(2):
    x = torch.tanh(x @ x)
    xm.mark_step()
"""


def image_id(live: Live, region: str = "") -> str:
    """Return the newest ECS AMI with the Neuron driver."""
    return str(live.client("ssm", region).get_parameter(Name=_AMI)["Parameter"]["Value"])


def zone_of(live: Live, instance_type: str, region: str = "") -> str:
    """Return the ID of the first zone that offers a type."""
    ec2 = live.client("ec2", region)
    offered = ec2.describe_instance_type_offerings(
        LocationType="availability-zone-id", Filters=[{"Name": "instance-type", "Values": [instance_type]}]
    )["InstanceTypeOfferings"]
    zones = sorted(each["Location"] for each in offered)
    assert zones, f"no zone of {region or live.region} offers {instance_type}"
    return zones[0]


def deploy(live: Live, file: str, *, region: str = "", suffix: str = "", **values: str) -> "Cluster":
    """Export a rollout, deploy its three stacks by boto3, and keep what was made.

    Args:
        live: The test.
        file: Rollout file beside this module, in which the names after ``$`` are replaced.
        region: Region. Default: that of small nodes.
        suffix: Ends the name of the cluster, where a run has several.
        values: Values to replace.
    """
    region = region or live.region
    name = f"live-{live.run.id}{suffix}"
    folder = live.run.folder / f"{name}-{region}"
    templates = folder / "templates" / f"{name}-{region}"
    if not templates.exists():
        write_rollout(live, file, folder, region=region, name=name, **values)
        _export_once(live, folder, file, values)
    bucket = live.name(f"{region}{suffix}").lower()
    s3, stacks = live.client("s3", region), live.client("cloudformation", region)
    location = {} if region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": region}}
    s3.create_bucket(Bucket=bucket, **location)
    s3.put_bucket_tagging(Bucket=bucket, Tagging={"TagSet": live.tag_list})
    for path in (folder / "templates" / "assets").glob("*"):
        s3.put_object(Bucket=bucket, Key=path.name, Body=path.read_bytes())
    resources: dict[str, str] = {}
    for part in PARTS:
        text = (templates / f"{part}.template.json").read_text("utf-8")
        s3.put_object(Bucket=bucket, Key=f"{part}.json", Body=text.encode())
        base = live.run.where.endpoint or f"https://{bucket}.s3.{region}.amazonaws.com"
        url = f"{base}/{bucket}/{part}.json" if live.run.where.endpoint else f"{base}/{part}.json"
        declared = json.loads(text).get("Parameters", {})
        parameters = (
            [{"ParameterKey": "AssetBucket", "ParameterValue": bucket}] if "AssetBucket" in declared else []
        )
        stack = f"live-{live.run.id}{suffix}-{part}"
        stacks.create_stack(
            StackName=stack,
            TemplateURL=url,
            Parameters=parameters,
            Capabilities=["CAPABILITY_NAMED_IAM"],
            RoleARN=live.run.where.deployer(region),
            Tags=live.tag_list,
            OnFailure="DO_NOTHING",
        )

        def ended(stack: str = stack) -> str:
            status = str(stacks.describe_stacks(StackName=stack)["Stacks"][0]["StackStatus"])
            return "" if status.endswith("IN_PROGRESS") else status

        status = live.wait(f"stack {part}", ended, minutes=40, every=20)
        if status != "CREATE_COMPLETE":
            events = stacks.describe_stack_events(StackName=stack)["StackEvents"]
            reasons = [
                each.get("ResourceStatusReason", "")
                for each in events
                if each["ResourceStatus"].endswith("FAILED")
            ]
            raise AssertionError(f"stack {part} is {status}: {'; '.join(filter(None, reasons))}")
        for page in stacks.get_paginator("list_stack_resources").paginate(StackName=stack):
            resources |= {
                each["LogicalResourceId"]: each["PhysicalResourceId"]
                for each in page["StackResourceSummaries"]
            }
    found = {"name": name, "region": region, "bucket": bucket, "resources": resources}
    live.keep(**found)
    return Cluster(live, found)


def write_rollout(live: Live, file: str, folder: Path, *, region: str, name: str, **values: str) -> Path:
    """Write a rollout file of this folder with its words in capitals replaced, and return its path."""
    given = {
        "NAME": name,
        "REGION": region,
        "RUN": json.dumps(live.run.id),
        "IMAGE": IMAGE,
        "NEURON_IMAGE": NEURON_IMAGE,
        "MAIL": "live@example.com",
        "METRICS": json.dumps(_METRICS.replace("$NAME", name)),
        "COMPILE": json.dumps(_COMPILE),
        **values,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "rollout.yaml"
    text = (Path(__file__).with_name(file)).read_text("utf-8")
    path.write_text(string.Template(text).substitute(given), encoding="utf-8")
    return path


_exported: Final[dict[str, tuple[str, Path, Mapping[str, str]]]] = {}
_OF_A_BLOCK: Final = ("RESERVATION", "START", "END")
"""Values of another block, of which templates have the reservation only."""


def _export_once(live: Live, folder: Path, file: str, values: Mapping[str, str]) -> None:
    """Export the rollout in `folder`; another run on the local AWS takes the same templates, with its own IDs in them."""
    others = sorted((key, value) for key, value in values.items() if key not in _OF_A_BLOCK)
    key = f"{file} {others}" if live.run.where.is_local else str(folder)
    if key not in _exported:
        export(folder / "rollout.yaml", folder / "templates")
        _exported[key] = (live.run.id, folder, values)
        return
    run_id, source, known = _exported[key]
    replaced = [
        (run_id, live.run.id),
        *((known[name], values[name]) for name in known if name == "RESERVATION"),
    ]
    for path in (source / "templates").rglob("*"):
        target = folder / str(path.relative_to(source)).replace(run_id, live.run.id)
        if path.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            content = path.read_bytes()
            for old, new in replaced if path.suffix != ".zip" else ():
                content = content.replace(old.encode(), new.encode())
            target.write_bytes(content)


def export(rollout: Path, output: Path) -> None:
    """Export the templates of a rollout."""
    done = ultracluster("export", str(rollout), "--output", str(output), "--json")
    assert done.returncode == 0, f"export: {done.stderr[-2000:]}"


def ultracluster(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line."""
    command = [sys.executable, "-m", "ultracluster_cli", *arguments]
    return subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)


class Cluster:
    """A deployed cluster.

    Args:
        live: The test that uses it.
        found: What `deploy` kept.
    """

    def __init__(self, live: Live, found: Mapping[str, Any]) -> None:
        self.live = live
        self.name: str = found["name"]
        self.region: str = found["region"]
        self.resources: Mapping[str, str] = found["resources"]
        self.prepaid = bool(found.get("prepaid"))

    def client(self, service: str) -> Any:
        """Return a client in the Region of the cluster."""
        return self.live.client(service, self.region)

    def one(self, prefix: str) -> str:
        """Return the physical ID of the resource whose logical ID is `prefix` and a hash."""
        found = [
            value
            for key, value in self.resources.items()
            if key.startswith(prefix) and len(key) == len(prefix) + 8
        ]
        assert len(found) == 1, f"{prefix}: {sorted(self.resources)}"
        return found[0]

    def environment(self, name: str = "") -> dict[str, Any]:
        """Describe the compute environment of a source."""
        arn = self.one(f"ClusterQueueComputeEnvironment{name}")
        (found,) = self.client("batch").describe_compute_environments(computeEnvironments=[arn])[
            "computeEnvironments"
        ]
        return dict(found)

    def template_data(self, name: str = "") -> dict[str, Any]:
        """Return the data of the launch template of a source."""
        found = self.client("ec2").describe_launch_template_versions(
            LaunchTemplateId=self.one(f"ClusterNodes{name}"), Versions=["$Latest"]
        )
        return dict(found["LaunchTemplateVersions"][0]["LaunchTemplateData"])

    def submit(self, job: str, *, queue: str = "", queue_arn: str = "", **more: Any) -> str:
        """Submit a job of the cluster, and return its ID."""
        batch = self.client("batch")
        arn = queue_arn or self.one(f"ClusterQueue{queue}")
        submitted = batch.submit_job(
            jobName=f"live-{self.live.question.id}-{job}",
            jobQueue=arn,
            jobDefinition=self.one(f"Cluster{job}"),
            tags=self.live.tags,
            **more,
        )["jobId"]
        if not self.prepaid:
            self.live.undo(self._let_nodes_go)
        self.live.undo(lambda: batch.terminate_job(jobId=submitted, reason="live test: the end"))
        return str(submitted)

    def _let_nodes_go(self) -> None:
        """Wait until AWS Batch has scaled down, and terminate what is left, so that the next test starts without nodes."""
        for _ in range(1 if self.live.run.where.is_local else 20):
            if not self.nodes():
                return
            self.live.run.where.sleep(30)
        if left := [each["InstanceId"] for each in self.nodes()]:
            self.client("ec2").terminate_instances(InstanceIds=left)

    def job(self, job: str) -> dict[str, Any]:
        """Describe a job."""
        (found,) = self.client("batch").describe_jobs(jobs=[job])["jobs"]
        return dict(found)

    def wait_for(self, job: str, *, status: str = "SUCCEEDED", minutes: float) -> dict[str, Any]:
        """Wait until a job has a status, and return it.

        Raises:
            AssertionError: If it ends otherwise.
        """

        def reached() -> dict[str, Any] | None:
            found = self.job(job)
            if found["status"] != status and found["status"] in _ENDED:
                raise AssertionError(
                    f"job {found['jobName']} is {found['status']}: {found.get('statusReason', '')}"
                )
            return found if found["status"] == status else None

        return dict(self.live.wait(f"job {status}", reached, minutes=minutes))

    def log(self, job: Mapping[str, Any], stream: str = "") -> str:
        """Return the log of a job."""
        name = stream or job["container"]["logStreamName"]
        group = self.one("ClusterQueueLogs")
        events = self.client("logs").get_log_events(
            logGroupName=group, logStreamName=name, startFromHead=True
        )["events"]
        return "\n".join(each["message"] for each in events)

    def nodes(self, *states: str) -> list[dict[str, Any]]:
        """Describe the instances of the cluster; by default those that are pending or run."""
        filters = [
            {"Name": "tag:ultracluster:cluster", "Values": [self.name]},
            {"Name": "instance-state-name", "Values": list(states or ("pending", "running"))},
        ]
        pages = self.client("ec2").get_paginator("describe_instances").paginate(Filters=filters)
        return [each for page in pages for group in page["Reservations"] for each in group["Instances"]]

    def launch(self, count: int = 1, **changes: Any) -> list[dict[str, Any]]:
        """Launch nodes as AWS Batch does: from the launch template, in the subnet and with the instance profile of the environment.

        They do not join the cluster, for which AWS Batch adds to the user data.

        Args:
            count: Number of nodes. Default: 1.
            changes: Parameters of RunInstances that replace those of the launch template; user data as text.
        """
        resources, data = self.environment()["computeResources"], self.template_data()
        profile = resources["instanceRole"]
        cards = [{**each, "SubnetId": resources["subnets"][0]} for each in data["NetworkInterfaces"]]
        user_data = base64.b64decode(data["UserData"]).decode()
        kept = {
            key: data[key]
            for key in ("ImageId", "InstanceType", "BlockDeviceMappings", "MetadataOptions")
            if key in data
        }
        request = {
            **kept,
            "InstanceInitiatedShutdownBehavior": "terminate",
            "IamInstanceProfile": {"Arn" if profile.startswith("arn:") else "Name": profile},
            "NetworkInterfaces": cards,
            "UserData": user_data,  # boto3 encodes it
            "TagSpecifications": self.live.tagged("instance", "volume", "network-interface"),
            **changes,
        }
        return list(self.client("ec2").run_instances(MinCount=count, MaxCount=count, **request)["Instances"])

    def desired(self, name: str = "") -> int:
        """Return the vCPUs that AWS Batch wants of a source."""
        return int(self.environment(name)["computeResources"].get("desiredvCpus", 0))
