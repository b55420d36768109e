"""A local AWS that runs jobs: a compute environment on demand, its queue, and what tests ask of it."""

import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ultracluster_local import LocalAws
from ultracluster_local.jobs.settings import JobSettings
from ultracluster_local.seeding.seed import seed_from_request

IMAGE = "registry.example.com/training"
REGION = "us-east-1"
PATIENCE = 60.0


class Batch:
    """AWS Batch of a local AWS that runs jobs on this Python."""

    def __init__(self, local: LocalAws) -> None:
        self.local = local
        self.api = local.client("batch", REGION)
        self.logs = local.client("logs", REGION)
        ec2 = local.client("ec2", REGION)
        self.ec2 = ec2
        network = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        subnet = ec2.create_subnet(VpcId=network, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
        group = ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=network)["GroupId"]
        iam = local.client("iam", REGION)
        iam.create_role(RoleName="node", AssumeRolePolicyDocument="{}", Path="/")
        iam.create_instance_profile(InstanceProfileName="node")
        image = "ami-0123456789abcdef0"
        seed_from_request(
            local._started(),
            {
                "regions": [],
                "images": [
                    {
                        "image_id": image,
                        "region": REGION,
                        "files": {"/run/orders/launch": "echo from /run/orders with $1\n"},
                        "shared": "/fsx",
                    }
                ],
                "reservations": [],
            },
        )
        template = ec2.create_launch_template(
            LaunchTemplateName="nodes", LaunchTemplateData={"ImageId": image}
        )["LaunchTemplate"]["LaunchTemplateId"]
        self.api.create_compute_environment(
            computeEnvironmentName="nodes",
            type="MANAGED",
            computeResources={
                "type": "EC2",
                "minvCpus": 0,
                "maxvCpus": 4 * 96,
                "instanceTypes": ["p4d.24xlarge"],
                "subnets": [subnet],
                "securityGroupIds": [group],
                "instanceRole": "node",
                "launchTemplate": {"launchTemplateId": template, "version": "$Latest"},
            },
        )
        self.api.create_job_queue(
            jobQueueName="training",
            priority=1,
            computeEnvironmentOrder=[{"order": 1, "computeEnvironment": "nodes"}],
        )

    def define(self, *command: str, nodes: int = 0, **settings: Any) -> str:
        """Register a job definition whose container runs a command, on whole nodes if their number is given."""
        container: dict[str, Any] = {
            "image": f"{IMAGE}:1",
            "command": list(command),
            "resourceRequirements": [{"type": "VCPU", "value": "24"}, {"type": "MEMORY", "value": "1024"}],
            "volumes": [
                {"name": "fsx", "host": {"sourcePath": "/fsx"}},
                {"name": "orders", "host": {"sourcePath": "/run/orders"}},
            ],
            "mountPoints": [
                {"sourceVolume": "fsx", "containerPath": "/fsx"},
                {"sourceVolume": "orders", "containerPath": "/run/orders"},
            ],
            **settings.pop("container", {}),
        }
        if nodes:
            ranges = [{"targetNodes": "0:", "container": container}]
            kind = {
                "type": "multinode",
                "nodeProperties": {"numNodes": nodes, "mainNode": 0, "nodeRangeProperties": ranges},
            }
        else:
            kind = {"type": "container", "containerProperties": container}
        answer = self.api.register_job_definition(jobDefinitionName="job", **kind, **settings)
        return str(answer["jobDefinitionArn"])

    def submit(self, definition: str, **settings: Any) -> str:
        answer = self.api.submit_job(jobName="job", jobQueue="training", jobDefinition=definition, **settings)
        return str(answer["jobId"])

    def run(self, *command: str, **settings: Any) -> dict[str, Any]:
        """Run a job to its end."""
        return self.wait(self.submit(self.define(*command, **settings)))

    def job(self, job: str) -> dict[str, Any]:
        (found,) = self.api.describe_jobs(jobs=[job])["jobs"]
        return dict(found)

    def wait(self, job: str, *states: str) -> dict[str, Any]:
        """Wait until a job has one of these states, by default an end."""
        deadline = time.monotonic() + PATIENCE
        while (found := self.job(job))["status"] not in (states or ("SUCCEEDED", "FAILED")):
            assert time.monotonic() < deadline, found
            time.sleep(0.05)
        return found

    def wait_for_line(self, job: str, line: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while line not in self.lines(self.job(job)):
            assert time.monotonic() < deadline, self.lines(self.job(job))
            time.sleep(0.05)

    def lines(self, job: Mapping[str, Any]) -> list[str]:
        stream = job["container"]["logStreamName"]
        events = self.logs.get_log_events(
            logGroupName="/aws/batch/job", logStreamName=stream, startFromHead=True
        )["events"]
        return [event["message"] for event in events]


@pytest.fixture
def settings() -> JobSettings:
    return JobSettings(images={IMAGE: Path(sys.executable).parent}, memory_mib=512)


@pytest.fixture
def batch(local_aws: LocalAws, settings: JobSettings) -> Iterator[Batch]:
    made = Batch(local_aws)
    local_aws.run_jobs(settings)
    yield made
    local_aws.run_jobs(None)
