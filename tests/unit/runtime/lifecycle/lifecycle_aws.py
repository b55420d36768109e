"""A fake of the AWS calls of the life cycle behind real boto3 clients: botocore validates requests and responses.

It is a fake: it holds one cluster in a dictionary, and fails where a test wants it to.
"""
# ruff: noqa: N802 - each method is named as the call that it answers

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from types import SimpleNamespace
from typing import Any

import boto3
from botocore.exceptions import ClientError, ReadTimeoutError
from botocore.parsers import ResponseParserError
from botocore.validate import validate_parameters
from tests.fake_clients import FakeClients

from ultracluster_runtime.lifecycle.reader import ManagedBlock

ACCOUNT = "arn:aws:batch:us-east-2:123456789012"
ENVIRONMENT = f"{ACCOUNT}:compute-environment/ours"
OTHER = f"{ACCOUNT}:compute-environment/other"
ADDITIONAL_QUEUE = f"{ACCOUNT}:job-queue/urgent"
QUEUE = f"{ACCOUNT}:job-queue/training"
TOPIC = "arn:aws:sns:us-east-2:123456789012:notices"
RESERVATION = "cr-0123456789abcdef0"
START = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
NODES = ("i-00000000000000001", "i-00000000000000002")
FOREIGN = "i-0000000000000000f"

FAULTS = (
    "throttled",
    "denied",
    "lost request",
    "lost answer",
    "internal error",
    "garbage",
    "unparsable",
    "more fields",
)
REFUSALS = {
    "throttled": "ThrottlingException",
    "denied": "AccessDeniedException",
    "internal error": "InternalError",
}
PAGED = {
    "DescribeCapacityReservations": ("CapacityReservations", "NextToken"),
    "DescribeCapacityBlockExtensionHistory": ("CapacityBlockExtensions", "NextToken"),
    "DescribeInstances": ("Reservations", "NextToken"),
    "ListJobs": ("jobSummaryList", "nextToken"),
}


def refusal(code: str, call: str = "Call", *, status: int = 400) -> ClientError:
    error: Any = {
        "Error": {"Code": code, "Message": "by a test"},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(error, call)


def cluster(**changes: Any) -> ManagedBlock:
    given: dict[str, Any] = {
        "reservation_id": RESERVATION,
        "compute_environment": ENVIRONMENT,
        "job_queue": QUEUE,
        "topic": TOPIC,
        "state_table": "states",
        "checkpoint_lead": timedelta(minutes=20),
    }
    return ManagedBlock(**given | changes)


_answering: list["FakeAws"] = []


@cache
def _client(service: str) -> Any:
    client = boto3.Session().client(  # not boto3.client, which the tests replace
        service, region_name="us-east-2", aws_access_key_id="testing", aws_secret_access_key="testing"
    )

    def remember(params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        context["asked"] = dict(params)

    def answer(model: Any, context: dict[str, Any], **_: Any) -> tuple[Any, dict[str, Any]]:
        return _answering[0].answer(model, context["asked"])

    client.meta.events.register(f"before-parameter-build.{service}.*", remember)
    client.meta.events.register(f"before-call.{service}.*", answer)
    return client


class FakeAws:
    """One cluster with a job on two nodes of its block, one on a node of somebody else, and one that waits."""

    tables = frozenset({"states"})

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.faults: dict[int, str] = {}
        self.failing: dict[str, str] = {}  # call: fault of every such call
        self.unreachable: set[str] = set()
        self.reservations: dict[str, dict[str, Any]] = {
            RESERVATION: {
                "CapacityReservationId": RESERVATION,
                "ReservationType": "capacity-block",
                "State": "active",
                "InstanceType": "trn2.48xlarge",
                "TotalInstanceCount": 2,
                "StartDate": START,
                "EndDate": START + timedelta(days=1),
            }
        }
        self.environments = {
            ENVIRONMENT: self._environment("ours", "ENABLED"),
        }
        self.queue_state = "ENABLED"
        self.strays: dict[str, str | None] = {}  # launched for the block, by the reservation that they run in
        self.instances = dict.fromkeys(NODES, RESERVATION) | {FOREIGN: "cr-0000000000000000f"}
        self.jobs = {
            "multi": "RUNNING",
            "multi#0": "RUNNING",
            "multi#1": "STARTING",
            "single": "RUNNING",
            "waits": "RUNNABLE",
        }
        self.further_jobs: set[str] = set()  # of these jobs, which are in the further queue
        self.hosts = {"multi#0": NODES[0], "multi#1": NODES[1], "single": FOREIGN}
        self.templates: dict[str, str] = {}
        self.terminated: dict[str, str] = {}
        self.commands: list[dict[str, Any]] = []
        self.published: list[dict[str, Any]] = []
        self.offers: list[dict[str, Any]] = []
        self.extensions: list[dict[str, Any]] = []
        self.items: dict[str, dict[str, Any]] = {RESERVATION: {}}
        self.empty_pages = False  # the first page of each list is empty, and names a second one
        self.seconds = 0.0  # since the current invocation began
        self.answered: Callable[[str], None] = lambda _: (
            None
        )  # called with the name of each call, before its answer
        self.arrays: dict[
            str, int
        ] = {}  # array: its size, of `jobs` whose ID is that of the array, a colon and an index
        self.node_arrays: set[str] = set()  # arrays whose children are the nodes of one job
        self.desired = 2
        self.protected = {NODES[0]: True, NODES[1]: True}
        self.shut_down: dict[str, str] = {}  # node that refused: what its console shows

    @staticmethod
    def _environment(name: str, state: str, **resources: Any) -> dict[str, Any]:
        return {
            "computeEnvironmentName": name,
            "computeEnvironmentArn": f"{ACCOUNT}:compute-environment/{name}",
            "ecsClusterArn": f"arn:aws:ecs:us-east-2:123456789012:cluster/{name}_Batch_1",
            "state": state,
            "status": "VALID",
            "computeResources": {"type": "EC2", "maxvCpus": 1, "subnets": [], **resources},
        }

    def add_environment(self, state: str, *, status: str = "VALID", reservation: str | None = None) -> None:
        """Put another compute environment behind the queue; with a reservation, its template launches into that."""
        template = {"launchTemplateId": "lt-1", "version": "7"} if reservation else None
        self.environments[OTHER] = self._environment(
            "other", state, **({"launchTemplate": template} if template else {})
        ) | {"status": status}
        if reservation:
            self.templates["lt-1"] = reservation

    @property
    def clients(self) -> FakeClients:
        """Real boto3 clients that this fake answers from now on."""
        return FakeClients(self.client)

    def client(self, service: str, *_: object, **__: object) -> Any:
        """A real boto3 client that this fake answers from now on."""
        _answering[:] = [self]
        return _client(service)

    def answer(self, model: Any, asked: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Answer one call, or fail as the test wants it."""
        fault = self.failing.get(model.name) or self.faults.get(len(self.calls), "")
        self.calls.append(model.name)
        self.answered(model.name)
        if fault in REFUSALS:
            raise refusal(REFUSALS[fault], model.name, status=500 if fault == "internal error" else 400)
        if fault == "lost request":
            raise ReadTimeoutError(endpoint_url="https://fake")
        if fault == "unparsable":
            raise ResponseParserError("Unable to parse response, invalid XML received: b'<html>'")
        if self.empty_pages and model.name in PAGED and PAGED[model.name][1] not in asked:
            result, token = PAGED[model.name]
            return SimpleNamespace(status_code=200), {result: [], token: "more"}
        answer: dict[str, Any] = getattr(self, f"_{model.name}")(asked)
        if fault == "lost answer":
            raise ReadTimeoutError(endpoint_url="https://fake")
        if fault == "more fields":
            return SimpleNamespace(status_code=200), answer | {"Unheard": {"Of": [1]}}
        if fault == "garbage":
            return SimpleNamespace(status_code=200), {}
        if model.output_shape is not None:
            validate_parameters(answer, model.output_shape)
        return SimpleNamespace(status_code=200), answer

    # EC2

    def _known(self, asked: Mapping[str, Any]) -> str:
        (wanted,) = asked["CapacityReservationIds"]
        if wanted not in self.reservations:
            raise refusal("InvalidCapacityReservationId.NotFound")
        return str(wanted)

    def _DescribeCapacityReservations(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        wanted = self._known(asked)
        return {"CapacityReservations": [self.reservations[wanted]]}

    def _DescribeInstances(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        names = {each["Name"]: each["Values"] for each in asked["Filters"]}
        if "terminated" in names["instance-state-name"]:
            assert names.get("tag:ultracluster:capacity-reservation", [RESERVATION]) == [RESERVATION]
            assert {"shutting-down", "terminated"} <= set(names["instance-state-name"])
            ended = [
                {
                    "InstanceId": node,
                    "LaunchTime": START,
                    "StateReason": {"Code": code},
                    "State": {"Name": "terminated"},
                }
                for code, nodes in {
                    "Client.InstanceInitiatedShutdown": self.shut_down,
                    "Client.UserInitiatedShutdown": ["i-scaled-down"],
                }.items()
                for node in nodes
            ]
            strays = [
                {"InstanceId": node, "LaunchTime": START, "State": {"Name": "running"}}
                | ({"CapacityReservationId": reservation} if reservation else {})
                for node, reservation in self.strays.items()
            ]
            return {"Reservations": [{"Instances": [*ended, *strays]}]}
        assert set(names["capacity-reservation-id"]) <= set(self.reservations)
        assert "running" in names["instance-state-name"]
        # Generous on purpose: those of others are shown too, and must not be touched.
        shown = [
            {"InstanceId": node, "CapacityReservationId": reservation, "LaunchTime": START}
            for node, reservation in self.instances.items()
        ]
        return {"Reservations": [{"Instances": shown}]}

    def _GetConsoleOutput(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        console = self.shut_down[asked["InstanceId"]]
        return {"InstanceId": asked["InstanceId"], **({"Output": console} if console else {})}

    def _DescribeLaunchTemplateVersions(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        assert asked["Versions"] == ["7"]
        target = {"CapacityReservationId": self.templates[asked["LaunchTemplateId"]]}
        data = {"CapacityReservationSpecification": {"CapacityReservationTarget": target}}
        return {"LaunchTemplateVersions": [{"LaunchTemplateData": data}]}

    def _DescribeCapacityBlockExtensionHistory(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        self._known(asked)
        return {"CapacityBlockExtensions": self.extensions}

    def _DescribeCapacityBlockExtensionOfferings(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        hours = asked["CapacityBlockExtensionDurationHours"]
        shown = [offer for offer in self.offers if offer["CapacityBlockExtensionDurationHours"] == hours]
        return {"CapacityBlockExtensionOfferings": shown}

    # Batch and ECS

    def _DescribeComputeEnvironments(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        return {"computeEnvironments": [self.environments[arn] for arn in asked["computeEnvironments"]]}

    def _DescribeJobQueues(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        assert QUEUE in asked["jobQueues"]
        order = [
            {"order": number, "computeEnvironment": arn}
            for number, arn in enumerate(self.environments, start=1)
        ]
        queue = {
            "jobQueueName": "training",
            "jobQueueArn": QUEUE,
            "state": self.queue_state,
            "priority": 1,
            "computeEnvironmentOrder": order,
        }
        return {"jobQueues": [queue]}

    def _ListJobs(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        if "arrayJobId" in asked:
            children = [job for job in self.jobs if job.startswith(f"{asked['arrayJobId']}:")]
            return {
                "jobSummaryList": [
                    {"jobId": job, "jobName": job, "arrayProperties": {"index": int(job.partition(":")[2])}}
                    for job in children
                    if self.jobs[job] == asked["jobStatus"]
                ]
            }
        shown = [
            {"jobId": job, "jobName": job}
            | ({"arrayProperties": {"size": self.arrays[job]}} if job in self.arrays else {})
            for job, status in self.jobs.items()
            if status == asked["jobStatus"]
            and "#" not in job
            and ":" not in job
            and (job in self.further_jobs) == (asked["jobQueue"] == ADDITIONAL_QUEUE)
        ]
        return {"jobSummaryList": shown}

    def _DescribeJobs(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        assert len(asked["jobs"]) <= 100
        return {"jobs": [self._detail(job) for job in asked["jobs"] if job in self.jobs]}

    def _detail(self, job: str) -> dict[str, Any]:
        detail: dict[str, Any] = {
            "jobId": job,
            "jobName": job,
            "jobQueue": QUEUE,
            "status": self.jobs[job],
            "startedAt": 1,
            "jobDefinition": "d",
        }
        if f"{job}#0" in self.jobs:
            nodes = sum(child.startswith(f"{job}#") for child in self.jobs)
            detail["nodeProperties"] = {"numNodes": nodes, "mainNode": 0, "nodeRangeProperties": []}
        if job in self.hosts:
            node = self.hosts[job]
            name = "theirs" if node == FOREIGN else "ours_Batch_1"
            arn = f"arn:aws:ecs:us-east-2:123456789012:container-instance/{name}/{node}"
            detail["container"] = {"containerInstanceArn": arn}
            if job.partition(":")[0] in self.node_arrays:
                size = self.arrays[job.partition(":")[0]]
                detail["container"]["environment"] = [{"name": "UC_ARRAY_NODES", "value": str(size)}]
        return detail

    def _DescribeContainerInstances(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        shown = []
        for arn in asked["containerInstances"]:
            # ECS fails the call for those of another cluster.
            assert f":container-instance/{asked['cluster']}/" in arn
            shown.append({"containerInstanceArn": arn, "ec2InstanceId": arn.rpartition("/")[2]})
        return {"containerInstances": shown}

    def _UpdateComputeEnvironment(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        assert asked.keys() == {
            "computeEnvironment",
            "state",
        }  # anything more could be an infrastructure update
        self.environments[asked["computeEnvironment"]]["state"] = asked["state"]
        return {}

    def _UpdateJobQueue(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        assert asked.keys() == {"jobQueue", "state"}
        self.queue_state = asked["state"]
        return {}

    def _TerminateJob(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        self.terminated[asked["jobId"]] = asked["reason"]
        for job in [job for job in self.jobs if job.partition("#")[0] == asked["jobId"]]:
            self.jobs[job] = "FAILED"
        return {}

    # Auto Scaling

    def _DescribeAutoScalingGroups(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        assert asked["AutoScalingGroupNames"] == ["fleet"]
        group = {
            "AutoScalingGroupName": "fleet",
            "MinSize": 0,
            "MaxSize": 2,
            "DesiredCapacity": self.desired,
            "DefaultCooldown": 300,
            "AvailabilityZones": ["us-east-2c"],
            "HealthCheckType": "EC2",
            "CreatedTime": START,
            "Instances": [
                {
                    "InstanceId": node,
                    "AvailabilityZone": "us-east-2c",
                    "LifecycleState": state,
                    "HealthStatus": "Healthy",
                    "ProtectedFromScaleIn": protected,
                }
                for node, protected, state in (
                    *((node, protected, "InService") for node, protected in self.protected.items()),
                    ("i-that-comes", False, "Pending"),
                )
            ],
        }
        return {"AutoScalingGroups": [group]}

    def _SetDesiredCapacity(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        assert asked["AutoScalingGroupName"] == "fleet"
        self.desired = asked["DesiredCapacity"]
        return {}

    def _SetInstanceProtection(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        assert len(asked["InstanceIds"]) <= 50
        self.protected |= dict.fromkeys(asked["InstanceIds"], asked["ProtectedFromScaleIn"])
        return {}

    # SNS and SSM

    def _Publish(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        assert len(asked["Subject"]) < 100
        assert asked["Subject"].isascii()
        self.published.append(dict(asked))
        return {}

    def _SendCommand(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        if self.unreachable & set(asked["InstanceIds"]):
            raise refusal("InvalidInstanceId")
        self.commands.append(dict(asked))
        return {}

    # DynamoDB, as far as the life cycle and the resumes of jobs use it

    def _Scan(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        assert asked["TableName"] in self.tables
        if self.empty_pages and "ExclusiveStartKey" not in asked:
            return {"Items": [], "LastEvaluatedKey": {"id": {"S": "cr-0"}}}
        return {"Items": [{"id": {"S": name}, **item} for name, item in self.items.items() if item]}

    def _UpdateItem(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        assert asked["TableName"] in self.tables
        item = self.items.setdefault(asked["Key"]["id"]["S"], {})
        values, names = asked["ExpressionAttributeValues"], asked["ExpressionAttributeNames"]
        match asked.get("ConditionExpression"):
            case "#owner = :owner":
                holds = item.get("owner") == values[":owner"]
            case "NOT #until BETWEEN :soon AND :latest OR #owner = :owner":
                until = int(item.get("until", {}).get("N", 0))
                held = int(values[":soon"]["N"]) <= until <= int(values[":latest"]["N"])
                holds = not held or item.get("owner") == values[":owner"]
            case "#state = :before":
                holds = item["state"] == values[":before"]
            case None:
                holds = True
        if not holds:
            raise refusal("ConditionalCheckFailedException")
        for name in re.findall(r"#\w+", asked["UpdateExpression"].partition("REMOVE")[2]):
            item.pop(names[name], None)
        for name, value in re.findall(r"(#\w+) = (:\w+)", asked["UpdateExpression"]):
            item[names[name]] = values[value]
        return {"Attributes": dict(item)}

    @property
    def parameter(self) -> str:
        """The stored state."""
        return str(self.items[RESERVATION].get("state", {"S": "{}"})["S"])

    @parameter.setter
    def parameter(self, text: str) -> None:
        self.items[RESERVATION]["state"] = {"S": text}
