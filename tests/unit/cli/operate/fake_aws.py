"""A cluster of the quick start as AWS describes it."""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import botocore.session
from botocore.exceptions import ClientError
from tests.fake_clients import FakeClients

from ultracluster_catalog.names.launcher import LAUNCHER_PATH
from ultracluster_cli._aws.target import Target

SERVICES = frozenset(botocore.session.Session().get_available_services())
STAGE = "quickstart-us-east-2"
QUEUE = "arn:aws:batch:us-east-2:123456789012:job-queue/training"
TABLE = "endings"
NODES = {"numNodes": 1, "nodeRangeProperties": [{"container": {"command": [LAUNCHER_PATH]}}]}
JOB = "11111111-2222-3333-4444-555555555555"
NODE = "i-0123456789abcdef0"
START = datetime.now(UTC) - timedelta(days=2)

RESOURCES = {
    f"{STAGE}-Network": [("AWS::EC2::VPC", "Vpc", "vpc-1")],
    f"{STAGE}-Storage": [
        ("AWS::FSx::FileSystem", "Files", "fs-1"),
        ("AWS::S3::Bucket", "Bucket", "bucket-1"),
    ],
    f"{STAGE}-Cluster": [
        ("AWS::Batch::JobQueue", "Queue", QUEUE),
        ("AWS::CloudWatch::Alarm", "Alarm", "alarm-1"),
        ("AWS::Logs::LogGroup", "ClusterMetricsLogs0D6C5D49", "logs-1"),
    ],
}


def refusal(code: str, message: str = "no") -> ClientError:
    said: Any = {"Error": {"Code": code, "Message": message}}
    return ClientError(said, "AnyCall")


class Aws:
    """The calls of `status`, `nodes` and `destroy`; `done` lists those that change something."""

    exceptions = SimpleNamespace(NoSuchBucket=type("NoSuchBucket", (Exception,), {}))

    def __init__(self) -> None:
        self.stacks = dict.fromkeys(RESOURCES, "CREATE_COMPLETE")
        self.done: list[str] = []
        self.endings: list[dict[str, Any]] = []  # of JobResume
        self.refused: dict[str, str] = {}
        self.job_state = "RUNNING"
        self.job_kind: dict[str, Any] = {"nodeProperties": NODES}
        self.nodes = [NODE]
        self.events: list[str] = []  # of the metrics of nodes
        self.group: list[dict[str, Any]] = []
        self.alarm = "ALARM"
        self.block = "active"
        self.deleted_with_their_stack = {"Queue", "Alarm"}

    def __call__(self, service: str, *_: str) -> "Aws":
        assert service in SERVICES
        if service in self.refused:
            raise refusal(self.refused[service])
        return self

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if not name.startswith(("delete_", "terminate_", "send_")):
            raise AttributeError(name)

        def call(**given: Any) -> dict[str, Any]:
            (value, *_) = (str(value) for value in given.values())
            if name in self.refused:
                raise refusal(self.refused[name])
            self.done.append(f"{name} {value}")
            if name == "delete_stack":
                self.stacks.pop(value, None)
            return {}

        return call

    def get_paginator(self, operation: str) -> Any:
        return SimpleNamespace(paginate=lambda **given: [getattr(self, operation)(**given)])

    def describe_stacks(self, *, StackName: str) -> Any:  # noqa: N803 - boto3's name
        if StackName not in self.stacks:
            raise refusal("ValidationError", f"Stack with id {StackName} does not exist")
        return {
            "Stacks": [
                {
                    "StackName": StackName,
                    "StackId": StackName,
                    "StackStatus": self.stacks[StackName],
                    "CreationTime": START,
                }
            ]
        }

    def get_template(self, *, StackName: str, **_: Any) -> Any:  # noqa: N803
        return {
            "TemplateBody": {
                "Resources": {
                    name: {
                        "Type": kind,
                        "DeletionPolicy": "Delete" if name in self.deleted_with_their_stack else "Retain",
                    }
                    for kind, name, _ in RESOURCES[StackName]
                }
            }
        }

    def describe_stack_resources(self, *, PhysicalResourceId: str) -> Any:  # noqa: N803
        assert PhysicalResourceId == QUEUE
        return {"StackResources": [{"StackName": f"{STAGE}-Cluster"}]}

    def scan(self, *, TableName: str) -> Any:  # noqa: N803
        assert TableName == TABLE
        return {"Items": self.endings}

    def list_stack_resources(self, *, StackName: str) -> Any:  # noqa: N803
        if StackName not in self.stacks:
            raise refusal("ValidationError", "does not exist")
        endings = [("AWS::DynamoDB::Table", "JobResumeState", TABLE)] if self.endings else []
        return {
            "StackResourceSummaries": [
                {
                    "ResourceType": kind,
                    "LogicalResourceId": name,
                    "PhysicalResourceId": physical_id,
                    "ResourceStatus": "CREATE_COMPLETE",
                }
                for kind, name, physical_id in (*RESOURCES[StackName], *endings)
            ]
        }

    def describe_capacity_reservations(self, **_: Any) -> Any:
        reservation = {
            "CapacityReservationId": "cr-0123456789abcdef0",
            "State": self.block,
            "TotalInstanceCount": 4,
            "AvailableInstanceCount": 3,
            "StartDate": START,
            "EndDate": START + timedelta(days=14),
            "ReservationType": "capacity-block",
        }
        return {"CapacityReservations": [reservation]}

    def describe_instances(self, **given: Any) -> Any:
        wanted = {item["Name"]: item["Values"][0] for item in given["Filters"]}["instance-id"]
        instances = [
            {
                "InstanceId": node,
                "State": {"Name": "running"},
                "InstanceType": "trn2.48xlarge",
                "Placement": {"AvailabilityZone": "us-east-2c"},
                "LaunchTime": START,
                "CapacityReservationId": "cr-0123456789abcdef0",
                "Tags": [{"Key": "ultracluster:cluster", "Value": "quickstart"}],
            }
            for node in self.nodes
            if node.startswith(wanted.rstrip("*"))
        ]
        return {"Reservations": [{"Instances": instances}]}

    def describe_auto_scaling_groups(self, **_: Any) -> Any:
        return {"AutoScalingGroups": [{"Instances": [dict(node) for node in self.group]}]}

    def update_auto_scaling_group(self, **given: Any) -> None:
        self.done.append(f"scale {given['AutoScalingGroupName']} to {given['MaxSize']}")

    def set_instance_protection(self, **given: Any) -> None:
        assert not given["ProtectedFromScaleIn"]
        self.done.append(f"unprotect {len(given['InstanceIds'])}")
        for node in self.group:
            node["ProtectedFromScaleIn"] &= node["InstanceId"] not in given["InstanceIds"]
        self.group[:] = [node for node in self.group if node["ProtectedFromScaleIn"]]

    def describe_instance_status(self, **_: Any) -> Any:
        event = {"Code": "instance-retirement", "Description": "degraded hardware"}
        status = {
            "SystemStatus": {"Status": "impaired"},
            "InstanceStatus": {"Status": "ok"},
            "Events": [event],
        }
        return {"InstanceStatuses": [status]}

    def describe_job_queues(self, **_: Any) -> Any:
        return {"jobQueues": [{"jobQueueArn": QUEUE, "state": "ENABLED", "status": "VALID"}]}

    def list_jobs(self, *, jobStatus: str = "", filters: Any = (), **_: Any) -> Any:  # noqa: N803
        found = jobStatus == self.job_state or (filters and filters[0]["values"] == ["pretrain"])
        return {"jobSummaryList": [{"jobId": JOB, "status": self.job_state}] if found else []}

    def describe_jobs(self, *, jobs: list[str]) -> Any:
        host = "arn:aws:ecs:us-east-2:123456789012:container-instance/nodes/one"
        container = {"taskArn": "arn:task", "containerInstanceArn": host}
        job = {"jobName": "pretrain", "status": self.job_state, "createdAt": 0, "startedAt": 1_000}
        return {
            "jobs": [{**job, "jobId": job_id, "container": container, **self.job_kind} for job_id in jobs]
        }

    def filter_log_events(self, *, logGroupName: str, **_: Any) -> Any:  # noqa: N803
        assert logGroupName == "logs-1"
        return {"events": [{"message": event} for event in self.events]}

    def describe_container_instances(self, *, containerInstances: list[str], **_: Any) -> Any:  # noqa: N803
        return {
            "containerInstances": [
                {"containerInstanceArn": arn, "ec2InstanceId": NODE} for arn in containerInstances
            ]
        }

    def describe_alarms(self, **_: Any) -> Any:
        return {
            "MetricAlarms": [{"AlarmName": "alarm-1", "StateValue": self.alarm, "StateReason": "too hot"}]
        }

    def get_parameter(self, **_: Any) -> Any:
        raise refusal("ParameterNotFound")

    def list_object_versions(self, **_: Any) -> Any:
        return {"Versions": [{"Key": "k", "VersionId": "1"}]}

    def describe_file_systems(self, **_: Any) -> Any:
        raise refusal("FileSystemNotFound")

    def account(self, profile: str | None = None) -> Target:
        """Stands in for an account that credentials were found for."""
        return Target(
            name="account 123456789012",
            local=False,
            environment=os.environ,
            client=FakeClients(self),
            profile=profile,
        )
