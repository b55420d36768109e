"""Figures of deployed clusters come from AWS's responses, which botocore's models validate here."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import botocore.session
import pytest
from botocore.stub import Stubber
from tests.fake_clients import FakeClients
from tests.unit.cli.deploy.fake_deployment import READ_BACK

from ultracluster_cli.deploy.verification import read_clusters
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.instance_type import get_instance_type
from ultracluster_stacks.plan import StackTemplate

REGION = "us-east-2"
STACK = StackTemplate(
    cluster="training-us-east-2", name="training-us-east-2-Cluster", region=REGION, template={}
)
RESERVATION = "cr-0123456789abcdef0"
RESOURCES = {
    "AWS::Batch::ComputeEnvironment": "arn:aws:batch:us-east-2:123456789012:compute-environment/nodes",
    "AWS::Batch::JobQueue": "arn:aws:batch:us-east-2:123456789012:job-queue/training",
    "AWS::Batch::JobDefinition": "arn:aws:batch:us-east-2:123456789012:job-definition/pretrain:3",
    "AWS::FSx::FileSystem": "fs-0123456789abcdef0",
    "AWS::S3::Bucket": "checkpoints",
    "AWS::IAM::Role": "role",
}
OWN_TYPES = {
    "trn9.48xlarge": dataclasses.replace(get_instance_type("trn2.48xlarge"), name="trn9.48xlarge", vcpus=256)
}
Answers = dict[str, list[tuple[str, dict[str, Any]]]]


@pytest.fixture
def answers() -> Answers:
    """What AWS answers about a cluster of four trn2.48xlarge, in the order of the questions."""
    resources = [
        {
            "LogicalResourceId": f"R{number}",
            "PhysicalResourceId": physical_id,
            "ResourceType": resource_type,
            "LastUpdatedTimestamp": datetime.now(UTC),
            "ResourceStatus": "CREATE_COMPLETE",
        }
        for number, (resource_type, physical_id) in enumerate(RESOURCES.items())
    ]
    stack = {"StackName": STACK.name, "CreationTime": datetime.now(UTC), "StackStatus": "CREATE_COMPLETE"}
    environment = {
        "computeEnvironmentName": "nodes",
        "computeEnvironmentArn": RESOURCES["AWS::Batch::ComputeEnvironment"],
        "computeResources": {
            "type": "EC2",
            "maxvCpus": 768,
            "subnets": ["subnet-1"],
            "instanceTypes": ["trn2.48xlarge"],
            "launchTemplate": {"launchTemplateId": "lt-1", "version": "7"},
        },
    }
    queue = {
        "jobQueueName": "training",
        "jobQueueArn": RESOURCES["AWS::Batch::JobQueue"],
        "state": "ENABLED",
        "priority": 1,
        "computeEnvironmentOrder": [
            {"order": 2, "computeEnvironment": "further"},
            {"order": 1, "computeEnvironment": RESOURCES["AWS::Batch::ComputeEnvironment"]},
        ],
    }
    # Of a precompile job: read past.
    further = {**queue, "jobQueueName": "small", "tags": {"ultracluster:queue-name": "precompile"}}
    devices = [{"hostPath": f"/dev/neuron{number}"} for number in range(16)]
    devices += [{"hostPath": f"/dev/infiniband/uverbs{number}"} for number in range(16)]
    log = {"logDriver": "awslogs", "options": {"awslogs-stream-prefix": "pretrain"}}
    container = {"image": "image", "linuxParameters": {"devices": devices}, "logConfiguration": log}
    job = {
        "jobDefinitionName": "pretrain",
        "jobDefinitionArn": RESOURCES["AWS::Batch::JobDefinition"],
        "revision": 3,
        "type": "multinode",
        "nodeProperties": {
            "numNodes": 4,
            "mainNode": 0,
            "nodeRangeProperties": [{"targetNodes": "0:3", "container": container}],
        },
    }
    file_system = {
        "FileSystemId": RESOURCES["AWS::FSx::FileSystem"],
        "Lifecycle": "AVAILABLE",
        "StorageCapacity": 4800,
        "LustreConfiguration": {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250},
    }
    reservation = {
        "CapacityReservationId": RESERVATION,
        "State": "active",
        "TotalInstanceCount": 4,
        "EndDate": datetime(2026, 12, 1, 11, 30, tzinfo=UTC),
    }
    return {
        "cloudformation": [
            ("list_stack_resources", {"StackResourceSummaries": resources[:4], "NextToken": "more"}),
            ("list_stack_resources", {"StackResourceSummaries": resources[4:]}),
            ("describe_stacks", {"Stacks": [stack]}),
        ],
        "batch": [
            ("describe_job_queues", {"jobQueues": [further, queue]}),
            ("describe_compute_environments", {"computeEnvironments": [environment]}),
            ("describe_job_definitions", {"jobDefinitions": [job]}),
        ],
        "ec2": [
            (
                "describe_launch_template_versions",
                {"LaunchTemplateVersions": [{"LaunchTemplateData": template()}]},
            ),
            ("describe_capacity_reservations", {"CapacityReservations": [reservation]}),
        ],
        "fsx": [("describe_file_systems", {"FileSystems": [file_system]})],
        "s3": [("list_buckets", {"Buckets": [{"Name": "checkpoints"}, {"Name": "somebody-else"}]})],
        "autoscaling": [],
    }


def template() -> dict[str, Any]:
    """The launch template of a Capacity Block: an EFA interface on each of the 16 cards."""
    interfaces = [
        {
            "NetworkCardIndex": card,
            "DeviceIndex": min(card, 1),
            "InterfaceType": "efa-only" if card else "efa",
        }
        for card in range(16)
    ]
    return {
        "NetworkInterfaces": interfaces,
        "InstanceMarketOptions": {"MarketType": "capacity-block"},
        "CapacityReservationSpecification": {
            "CapacityReservationTarget": {"CapacityReservationId": RESERVATION}
        },
    }


ASKED = {"describe_launch_template_versions": {"LaunchTemplateId": "lt-1", "Versions": ["7"]}}
"""The version that the nodes have, not the newest one."""


@pytest.fixture(scope="module")
def clients() -> Mapping[str, Any]:
    """Clients of each service; to load EC2's model takes a tenth of a second."""
    session = botocore.session.Session()
    services = ("autoscaling", "cloudformation", "batch", "ec2", "fsx", "s3")
    return {service: session.create_client(service, region_name=REGION) for service in services}


@pytest.fixture
def read(answers: Answers, clients: Mapping[str, Any]) -> Iterator[Callable[[], dict[str, Any]]]:
    """Read back the cluster from the answers as they are at that time."""
    stubbers = {service: Stubber(client) for service, client in clients.items()}

    def client(service: str, region: str) -> Any:
        assert region == REGION
        return clients[service]

    def read_one() -> dict[str, Any]:
        for service, stubber in stubbers.items():
            for operation, answer in answers[service]:
                stubber.add_response(operation, answer, ASKED.get(operation))
            stubber.activate()
        (cluster,) = read_clusters([STACK], client=FakeClients(client), own_types=OWN_TYPES)
        return cluster

    yield read_one
    for stubber in stubbers.values():
        stubber.deactivate()


def test_reads_a_type_that_the_rollout_describes_itself(
    answers: Answers, read: Callable[[], dict[str, Any]]
) -> None:
    environment = next(each for call, each in answers["batch"] if call == "describe_compute_environments")
    environment["computeEnvironments"][0]["computeResources"] |= {
        "instanceTypes": ["trn9.48xlarge"],
        "maxvCpus": 512,
    }
    cluster = read()
    assert (cluster["instance_type"], cluster["nodes"]) == ("trn9.48xlarge", 2)


def test_reads_a_cluster(read: Callable[[], dict[str, Any]]) -> None:
    assert read() == READ_BACK


@pytest.mark.parametrize(
    ("described", "read_back"),
    [
        (
            {"StorageCapacity": 2400, "LustreConfiguration": {"DeploymentType": "SCRATCH_2"}},
            (2400, 480, 1, 5, 120),
        ),
        (
            {
                "StorageType": "INTELLIGENT_TIERING",
                "LustreConfiguration": {
                    "DeploymentType": "PERSISTENT_2",
                    "ThroughputCapacity": 8000,
                    "DataReadCacheConfiguration": {"SizingMode": "NO_CACHE"},
                    "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
                },
            },
            (None, 8000, 2, 10, 1250),
        ),
    ],
)
def test_reads_file_systems_of_every_kind(
    read: Callable[[], dict[str, Any]],
    answers: Answers,
    described: dict[str, Any],
    read_back: tuple[int | None, float, int, float, float],
) -> None:
    (found,) = answers["fsx"][0][1]["FileSystems"]
    answers["fsx"][0][1]["FileSystems"] = [
        {name: found[name] for name in ("FileSystemId", "Lifecycle")} | described
    ]
    (system,) = read()["file_systems"]
    assert (
        system["storage_gib"],
        system["throughput_mb_per_s"],
        system["object_servers"],
        system["node_gbps"],
        system["node_mb_per_s"],
    ) == read_back


def test_counts_the_interfaces_of_the_launch_template(
    read: Callable[[], dict[str, Any]], answers: Answers
) -> None:
    data = template_data(answers)
    data["NetworkInterfaces"][3]["InterfaceType"] = "interface"
    del data["NetworkInterfaces"][8:]

    cluster = read()

    assert cluster["efa_interfaces_per_node"] == 7
    assert cluster["efa_gbps_per_node"] == 7 * 200


def test_counts_the_nodes_that_the_compute_environment_can_have(
    read: Callable[[], dict[str, Any]], answers: Answers
) -> None:
    answers["batch"][1][1]["computeEnvironments"][0]["computeResources"]["maxvCpus"] = 256

    assert read()["nodes"] == 1  # what the L2 construct's default of 256 vCPUs makes of trn2.48xlarge


def test_nodes_of_an_unmanaged_environment_are_those_of_the_auto_scaling_group(
    read: Callable[[], dict[str, Any]], answers: Answers
) -> None:
    environment = answers["batch"][1][1]["computeEnvironments"][0]
    environment |= {"type": "UNMANAGED"}
    del environment["computeResources"]
    answers["cloudformation"][0][1]["StackResourceSummaries"][-1] |= {
        "ResourceType": "AWS::AutoScaling::AutoScalingGroup",
        "PhysicalResourceId": "fleet",
    }
    answers["fsx"] = []
    group = {
        "AutoScalingGroupName": "fleet",
        "MinSize": 0,
        "MaxSize": 4,
        "DesiredCapacity": 0,
        "DefaultCooldown": 300,
        "AvailabilityZones": ["us-east-2c"],
        "HealthCheckType": "EC2",
        "CreatedTime": datetime.now(UTC),
        "LaunchTemplate": {"LaunchTemplateId": "lt-1", "LaunchTemplateName": "nodes", "Version": "7"},
    }
    answers["autoscaling"] = [("describe_auto_scaling_groups", {"AutoScalingGroups": [group]})]
    template_data(answers)["InstanceType"] = "trn2.48xlarge"
    (job,) = answers["batch"][-1][1]["jobDefinitions"]
    del job["nodeProperties"]
    job["containerProperties"] = {"environment": [{"name": "UC_ARRAY_NODES", "value": "4"}]}

    cluster = read()

    assert (cluster["nodes"], cluster["instance_type"]) == (4, "trn2.48xlarge")
    assert cluster["job_definitions"][0]["nodes"] == 4
    assert cluster["reservation"] is not None


def test_on_demand_capacity_has_no_reservation(read: Callable[[], dict[str, Any]], answers: Answers) -> None:
    data = template_data(answers)
    del data["CapacityReservationSpecification"], data["InstanceMarketOptions"]
    data["Placement"] = {"GroupName": "group"}

    cluster = read()

    assert cluster["reservation"] is None
    assert cluster["placement_group"] == "group"


def test_a_bucket_that_s3_does_not_list_is_a_finding(
    read: Callable[[], dict[str, Any]], answers: Answers
) -> None:
    answers["s3"] = [("list_buckets", {"Buckets": []})]

    with pytest.raises(FindingsError, match=r"^error: .*S3 does not list checkpoints"):
        read()


def test_a_missing_queue_is_a_finding(read: Callable[[], dict[str, Any]], answers: Answers) -> None:
    answers["batch"][0] = ("describe_job_queues", {"jobQueues": []})

    with pytest.raises(FindingsError, match=r"^error: .*has 0 resources of kind job queue, expected 1"):
        read()


def test_a_refusal_of_aws_is_a_finding(clients: Mapping[str, Any]) -> None:
    with Stubber(clients["cloudformation"]) as stubber:
        stubber.add_client_error("list_stack_resources", "AccessDenied", "not allowed")

        with pytest.raises(FindingsError, match=r"^error: .*\(AccessDenied\).*not allowed"):
            read_clusters([STACK], client=FakeClients(lambda service, _: clients[service]))


def template_data(answers: Answers) -> dict[str, Any]:
    data: dict[str, Any] = answers["ec2"][0][1]["LaunchTemplateVersions"][0]["LaunchTemplateData"]
    return data
