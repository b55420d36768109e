"""A cluster of a live run: deployed by boto3 from exported templates, as docs/how-to/export.md describes, and its jobs."""

import json
import string
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.live.session import Live

__all__ = ["Cluster", "deploy", "image_id", "zone_of"]

_IMAGE: Final = "public.ecr.aws/docker/library/python:3.12-slim"
_NEURON_IMAGE: Final = (
    "public.ecr.aws/neuron/pytorch-training-neuronx:2.9.0-neuronx-py312-sdk2.27.1-ubuntu24.04"
)
_PARTS: Final = ("network", "storage", "cluster")
_ROOT: Final = Path(__file__).parents[2]
_ENDED: Final = {"SUCCEEDED", "FAILED"}
_AMI: Final = "/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/recommended/image_id"


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
        live: The question.
        file: Rollout file beside this module, in which the names after ``$`` are replaced.
        region: Region. Default: that of small nodes.
        suffix: Ends the name of the cluster, where a run has several.
        values: Values to replace.
    """
    region = region or live.region
    name = f"live-{live.run.id}{suffix}"
    folder = live.run.folder / f"{name}-{region}"
    _export(
        Path(__file__).with_name(file),
        folder,
        NAME=name,
        REGION=region,
        RUN=json.dumps(live.run.id),
        **values,
    )
    base = Cluster(live, {"name": name, "region": region, "bucket": live.name(f"{region}{suffix}").lower()})
    s3 = base.client("s3")
    location = {} if region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": region}}
    s3.create_bucket(Bucket=base.bucket, **location)
    s3.put_bucket_tagging(Bucket=base.bucket, Tagging={"TagSet": live.tag_list})
    for path in (folder / "templates" / "assets").glob("*"):
        s3.put_object(Bucket=base.bucket, Key=path.name, Body=path.read_bytes())
    for part in _PARTS:
        text = (folder / "templates" / f"{name}-{region}" / f"{part}.template.json").read_text("utf-8")
        declared = (
            {"AssetBucket": base.bucket} if "AssetBucket" in json.loads(text).get("Parameters", {}) else {}
        )
        base.put_stack(part, text, declared)
    live.keep(**base.found)
    return base


def _export(source: Path, folder: Path, **values: str) -> None:
    """Export a rollout, in which the names after ``$`` are replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    given = {"IMAGE": _IMAGE, "NEURON_IMAGE": _NEURON_IMAGE, "MAIL": "live@example.com", **values}
    rollout = folder / "rollout.yaml"
    rollout.write_text(string.Template(source.read_text("utf-8")).substitute(given), encoding="utf-8")
    command = [sys.executable, "-m", "ultracluster_cli", "export", rollout, "--output", folder / "templates"]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"export: {done.stderr[-2000:]}"


class Cluster:
    """A deployed cluster.

    Args:
        live: The question that uses it.
        found: What `deploy` kept.
    """

    def __init__(self, live: Live, found: Mapping[str, Any]) -> None:
        self.live = live
        self.found = {"resources": {}, **found}
        self.name: str = found["name"]
        self.region: str = found["region"]
        self.bucket: str = found["bucket"]
        self.resources: dict[str, str] = self.found["resources"]

    def client(self, service: str) -> Any:
        """Return a client in the Region of the cluster."""
        return self.live.client(service, self.region)

    def stack(self, part: str) -> dict[str, Any]:
        """Describe a stack."""
        (found,) = self.client("cloudformation").describe_stacks(StackName=f"{self.name}-{part}")["Stacks"]
        return dict(found)

    def put_stack(self, part: str, template: str, parameters: Mapping[str, str] | None = None) -> None:
        """Create a stack, or update it if `parameters` is not given, and wait until it is complete."""
        stacks, where = self.client("cloudformation"), self.live.run.where
        self.client("s3").put_object(Bucket=self.bucket, Key=f"{part}.json", Body=template.encode())
        host = f"https://{self.bucket}.s3.{self.region}.amazonaws.com"
        request = {
            "StackName": f"{self.name}-{part}",
            "TemplateURL": f"{where.endpoint}/{self.bucket}/{part}.json"
            if where.endpoint
            else f"{host}/{part}.json",
            "Capabilities": ["CAPABILITY_NAMED_IAM"],
            "RoleARN": where.deployer(self.region),
        }
        if parameters is None:
            shown = self.stack(part)
            kept = [
                {"ParameterKey": each["ParameterKey"], "UsePreviousValue": True}
                for each in shown.get("Parameters", [])
            ]
            stacks.update_stack(**request, Parameters=kept, Tags=shown["Tags"])
        else:
            given = [{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()]
            stacks.create_stack(**request, Parameters=given, Tags=self.live.tag_list, OnFailure="DO_NOTHING")

        def ended() -> str:
            status = str(self.stack(part)["StackStatus"])
            return "" if status.endswith("IN_PROGRESS") else status

        status = self.live.wait(f"stack {part}", ended, minutes=40, every=20)
        if status not in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}:
            events = stacks.describe_stack_events(StackName=f"{self.name}-{part}")["StackEvents"]
            failed = [each for each in events if each["ResourceStatus"].endswith("FAILED")]
            reasons = filter(None, (each.get("ResourceStatusReason") for each in failed))
            raise AssertionError(f"stack {part} is {status}: {'; '.join(reasons)}")
        for page in stacks.get_paginator("list_stack_resources").paginate(StackName=f"{self.name}-{part}"):
            for each in page["StackResourceSummaries"]:
                self.resources[each["LogicalResourceId"]] = each["PhysicalResourceId"]

    def logical_id(self, prefix: str) -> str:
        """Return the logical ID that is `prefix` and a hash."""
        found = [key for key in self.resources if key.startswith(prefix) and len(key) == len(prefix) + 8]
        assert len(found) == 1, f"{prefix}: {sorted(self.resources)}"
        return found[0]

    def one(self, prefix: str) -> str:
        """Return the physical ID of the resource whose logical ID is `prefix` and a hash."""
        return self.resources[self.logical_id(prefix)]

    def environment(self, name: str = "") -> dict[str, Any]:
        """Describe the compute environment of a source."""
        arn = self.one(f"ClusterQueueComputeEnvironment{name}")
        (found,) = self.client("batch").describe_compute_environments(computeEnvironments=[arn])[
            "computeEnvironments"
        ]
        return dict(found)

    def template_data(self) -> dict[str, Any]:
        """Return the data of the launch template of the first source."""
        found = self.client("ec2").describe_launch_template_versions(
            LaunchTemplateId=self.one("ClusterNodes"), Versions=["$Latest"]
        )
        return dict(found["LaunchTemplateVersions"][0]["LaunchTemplateData"])

    def submit(self, job: str, *, queue_arn: str = "", **more: Any) -> str:
        """Submit a job of the cluster, and return its ID."""
        batch = self.client("batch")
        submitted = batch.submit_job(
            jobName=f"live-{self.live.question.id}-{job}",
            jobQueue=queue_arn or self.one("ClusterQueue"),
            jobDefinition=self.one(f"Cluster{job}"),
            tags=self.live.tags,
            **more,
        )["jobId"]
        if "reservation" not in self.found:  # the nodes of a block are paid, and stay
            self.live.undo(self._let_nodes_go)
        self.live.undo(lambda: batch.terminate_job(jobId=submitted, reason="live question: the end"))
        return str(submitted)

    def _let_nodes_go(self) -> None:
        """Wait until AWS Batch has scaled down, and terminate what is left, so that the next question starts without nodes."""
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

    def log(self, stream: str) -> str:
        """Return what a stream of the log of jobs has."""
        events = self.client("logs").get_log_events(
            logGroupName=self.one("ClusterQueueLogs"), logStreamName=stream, startFromHead=True
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

    def interfaces(self) -> list[dict[str, Any]]:
        """Describe the network interfaces of the instances of the cluster."""
        ids = [each["InstanceId"] for each in self.nodes()]
        filters = [{"Name": "attachment.instance-id", "Values": ids}]
        return list(self.client("ec2").describe_network_interfaces(Filters=filters)["NetworkInterfaces"])

    def launch(self, user_data: str) -> str:
        """Launch a node as AWS Batch does, but with other user data, and return its ID.

        It has the launch template's settings, and the subnet and instance profile of the environment. It does not join the
        cluster, for which AWS Batch adds to the user data.
        """
        resources, data = self.environment()["computeResources"], self.template_data()
        profile = resources["instanceRole"]
        kept = ("ImageId", "InstanceType", "BlockDeviceMappings", "MetadataOptions")
        launched = self.client("ec2").run_instances(
            MinCount=1,
            MaxCount=1,
            **{key: data[key] for key in kept if key in data},
            InstanceInitiatedShutdownBehavior="terminate",
            IamInstanceProfile={"Arn" if profile.startswith("arn:") else "Name": profile},
            NetworkInterfaces=[
                {**each, "SubnetId": resources["subnets"][0]} for each in data["NetworkInterfaces"]
            ],
            UserData=user_data,  # boto3 encodes it
            TagSpecifications=self.live.tagged("instance", "volume", "network-interface"),
        )
        return str(launched["Instances"][0]["InstanceId"])

    def desired(self, name: str = "") -> int:
        """Return the vCPUs that AWS Batch wants of a source."""
        return int(self.environment(name)["computeResources"].get("desiredvCpus", 0))
