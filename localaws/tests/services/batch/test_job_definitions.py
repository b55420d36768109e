"""Job definitions: revisions, and what Batch refuses to register."""

from typing import Any

import pytest
from tests.refusals import refusal, said, said_of_values
from tests.services.batch.training_queue import LISTS, NODES, SIZE, shown, training_queue

from ultracluster_local import LocalAws
from ultracluster_local.services.batch.job_definitions import check_retries

pytestmark = pytest.mark.slow

CONTAINER = {"type": "container", "containerProperties": SIZE}
MULTINODE = {"type": "multinode", "nodeProperties": NODES}


def task(*containers: dict[str, Any]) -> dict[str, Any]:
    return {"type": "container", "ecsProperties": {"taskProperties": [{"containers": list(containers)}]}}


@pytest.fixture
def batch(local_aws: LocalAws) -> Any:
    return local_aws.client("batch")


def test_each_registration_is_a_revision_and_the_newest_active_one_is_used(local_aws: LocalAws) -> None:
    batch = training_queue(local_aws)
    second = batch.register_job_definition(jobDefinitionName="job", type="multinode", nodeProperties=NODES)
    assert second["revision"] == 2
    batch.deregister_job_definition(jobDefinition=second["jobDefinitionArn"])
    job = batch.submit_job(jobName="one", jobQueue="training", jobDefinition="job")["jobId"]
    assert batch.describe_jobs(jobs=[job])["jobs"][0]["jobDefinition"].endswith("job-definition/job:1")
    states = {one["revision"]: one["status"] for one in batch.describe_job_definitions()["jobDefinitions"]}
    assert states == {1: "ACTIVE", 2: "INACTIVE"}


def test_a_definition_is_read_back_as_it_was_registered(batch: Any) -> None:
    batch.register_job_definition(jobDefinitionName="job", **MULTINODE, retryStrategy={"attempts": 2})

    (found,) = batch.describe_job_definitions(jobDefinitionName="job")["jobDefinitions"]
    assert found["nodeProperties"] == shown(NODES)
    assert found["retryStrategy"] == {"attempts": 2, "evaluateOnExit": []}


def test_definitions_are_found_by_revision_name_and_status(batch: Any) -> None:
    for name in ("one", "one", "two"):
        batch.register_job_definition(jobDefinitionName=name, **CONTAINER)
    batch.deregister_job_definition(jobDefinition="one:1")

    def found(**wanted: Any) -> list[tuple[str, int]]:
        shown = batch.describe_job_definitions(**wanted)["jobDefinitions"]
        return [(one["jobDefinitionName"], one["revision"]) for one in shown]

    assert found(jobDefinitions=["one:2"]) == [("one", 2)]
    assert found(jobDefinitionName="one") == [("one", 1), ("one", 2)]
    assert found(status="INACTIVE") == [("one", 1)]


def fargate(*, cpu: str = "0.25", memory: str = "512", **changes: Any) -> dict[str, Any]:
    sizes = [{"type": "VCPU", "value": cpu}, {"type": "MEMORY", "value": memory}]
    role = "arn:aws:iam::123456789012:role/execution"
    container = {"image": "busybox", "resourceRequirements": sizes, "executionRoleArn": role, **changes}
    given = {key: part for key, part in container.items() if part is not None}
    return {"type": "container", "platformCapabilities": ["FARGATE"], "containerProperties": given}


@pytest.mark.parametrize(
    ("cpu", "memory"), [("0.25", "512"), ("0.25", "2048"), ("0.5", "4096"), ("16", "122880")]
)
def test_a_definition_for_fargate_has_one_of_its_sizes(batch: Any, cpu: str, memory: str) -> None:
    wanted = fargate(cpu=cpu, memory=memory)
    batch.register_job_definition(jobDefinitionName="job", tags={}, **wanted)

    (found,) = batch.describe_job_definitions(jobDefinitionName="job")["jobDefinitions"]
    assert {key: found[key] for key in wanted} == wanted | {
        "containerProperties": LISTS
        | {"fargatePlatformConfiguration": {"platformVersion": "LATEST"}}
        | wanted["containerProperties"]
    }


@pytest.mark.parametrize(
    ("definition", "words"),
    [
        ({"type": "container"}, "ECS Container Image must be provided."),
        (CONTAINER | {"nodeProperties": NODES}, "nodeProperties must not be provided for a container"),
        ({"type": "container", "containerProperties": SIZE | {"instanceType": "c5.large"}}, "instanceType is not applicable"),
        ({"type": "multinode"}, "Node properties of multinode job is required."),
        (MULTINODE | {"platformCapabilities": ["MANAGED_INSTANCES"]}, "MANAGED_INSTANCES does not support MNP jobs"),
        (MULTINODE | {"platformCapabilities": ["FARGATE"]}, "Fargate does not support MNP jobs"),
        (fargate(executionRoleArn=None), "executionRoleArn is required for Fargate jobs."),
        (fargate(privileged=True), "privileged is not applicable for Fargate."),
        (fargate(linuxParameters={"sharedMemorySize": 64}), "linuxParameter.sharedMemorySize is not allowed for Fargate."),
        (fargate(linuxParameters={"maxSwap": 1}), "linuxParameter.maxSwap is not allowed for Fargate."),
        (fargate(ulimits=[{"name": "core", "softLimit": 1, "hardLimit": 1}]), "ulimits is not applicable for Fargate."),
        (fargate(ephemeralStorage={"sizeInGiB": 20}), "can be only between range 21 GiB to 200 GiB"),
        (fargate(logConfiguration={"logDriver": "journald"}), "Log driver for Fargate is not valid: journald"),
        (fargate(volumes=[{"name": "v", "host": {"sourcePath": "/v"}}]), "host.sourcePath should not be set for volumes in Fargate."),
        (fargate(volumes=[{"name": "v", "efsVolumeConfiguration": {"fileSystemId": "fs-12345678"}}], fargatePlatformConfiguration={"platformVersion": "1.3.0"}), "EFS is supported for Fargate platform versions 1.4.0 or later, provided 1.3.0"),
        (fargate(runtimePlatform={"operatingSystemFamily": "WINDOWS_SERVER_2022_CORE", "cpuArchitecture": "ARM64"}), "Windows supported only by X86_64 cpuArchitecture"),
        (CONTAINER | {"containerProperties": SIZE | {"ephemeralStorage": {"sizeInGiB": 21}}}, "ephemeralStorage not applicable for EC2."),
        (CONTAINER | {"containerProperties": SIZE | {"runtimePlatform": {"cpuArchitecture": "ARM64"}}}, "runtimePlatform is not applicable for EC2."),
        (CONTAINER | {"containerProperties": SIZE | {"linuxParameters": {"maxSwap": 1}}}, "swappiness value is required."),
        (CONTAINER | {"containerProperties": SIZE | {"secrets": [{"name": "a", "valueFrom": "b"}]}}, "executionRoleArn cannot be empty when using secrets or secretOptions"),
        (CONTAINER | {"containerProperties": SIZE | {"linuxParameters": {"tmpfs": [{"containerPath": "/t", "size": 0}]}}}, "Size of a tmpfs is invalid."),
        (CONTAINER | {"containerProperties": SIZE | {"volumes": [{"name": "v", "host": {"sourcePath": "/v"}, "efsVolumeConfiguration": {"fileSystemId": "fs-12345678"}}]}}, "only one volume configuration type should be used."),
        (CONTAINER | {"consumableResourceProperties": {"consumableResourceList": [{"consumableResource": str(number), "quantity": 1} for number in range(6)]}}, "at most 5 consumableResources"),
        (CONTAINER | {"platformCapabilities": ["EC2", "FARGATE"]}, "Exactly 1 capability must be provided."),
        (task(SIZE | {"name": "a"}, SIZE | {"name": "a"}), "Container names must be unique"),
        (task(SIZE | {"name": "a", "dependsOn": [{"containerName": "a", "condition": "START"}]}), "Container dependency can not be used in a single-container job."),
        (task(SIZE | {"name": "a"}, SIZE | {"name": "b", "dependsOn": [{"containerName": "c", "condition": "START"}]}), "containerName c must reference a defined container."),
        (task(SIZE | {"name": "a"}, SIZE | {"name": "b", "dependsOn": [{"containerName": "a", "condition": "COMPLETE"}]}), "can not have condition COMPLETE if the target is essential"),
        (fargate(cpu="0.25", memory="4096"), "MEMORY 4096 is not valid on Fargate with 0.25 vCPU"),
        (fargate(cpu="0.3"), "Value 0.3 for type VCPU in resourceRequirement is not valid"),
        ({"type": "container", "eksProperties": {"podProperties": {}}}, "does not simulate Amazon EKS"),
        ({"type": "multinode", "nodeProperties": {**NODES, "nodeRangeProperties": [{"targetNodes": "0:3"}]}}, "Must specify container for node range 0:3"),
        ({"type": "multinode", "nodeProperties": {**NODES, "nodeRangeProperties": [{"targetNodes": "0:3", "container": {"image": "x"}}]}}, "vCPU is not provided."),
        (CONTAINER | {"parameters": {"text": "x" * 24 * 1024}}, "exceeds the maximum size of 24576 bytes"),
        (CONTAINER | {"schedulingPriority": 10_000}, "Scheduling priority must be between 0 and 9999."),
        (task(), "Number of containers must be between 1 and 10"),
        (task(SIZE | {"essential": False}), "At least one container must be set as essential"),
    ],
)  # fmt: skip
def test_a_definition_of_which_no_job_can_be_made_is_refused(
    batch: Any, definition: dict[str, Any], words: str
) -> None:
    code, message = refusal(batch.register_job_definition, jobDefinitionName="job", **definition)

    assert code == "ClientException"
    assert words in message
    assert batch.describe_job_definitions()["jobDefinitions"] == []


def test_nodes_can_get_vcpus_and_memory_from_several_ranges(batch: Any) -> None:
    ranges = [
        {"targetNodes": "0:1", "container": SIZE},
        {"targetNodes": "2:", "container": SIZE},
        {"targetNodes": "0", "container": {"image": "y"}},
    ]

    batch.register_job_definition(
        jobDefinitionName="job", type="multinode", nodeProperties={**NODES, "nodeRangeProperties": ranges}
    )


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        (None, ""),
        ({"attempts": 10, "evaluateOnExit": [{"onExitCode": "1*", "action": "retry"}]}, ""),
        ({}, "RetryAttempts must be provided"),
        ({"attempts": 11}, "RetryAttempts must be between 1 and 10"),
        ({"attempts": 1, "evaluateOnExit": [{"onReason": "x", "action": "RETRY"}] * 6}, "at most 5 conditions, got 6"),
        ({"attempts": 1, "evaluateOnExit": [{"onReason": "x", "action": "WAIT"}]}, "action must be RETRY or EXIT"),
        ({"attempts": 1, "evaluateOnExit": [{"action": "EXIT"}]}, "EvaluateOnExit should contain at least one of onExitCode, onReason or onStatusReason"),
        ({"attempts": 1, "evaluateOnExit": [{"onReason": "a*b", "action": "EXIT"}]}, "Evaluate on exit condition contains restricted characters."),
        ({"attempts": 1, "evaluateOnExit": [{"onExitCode": "one", "action": "EXIT"}]}, "Evaluate on exit condition contains restricted characters."),
    ],
)  # fmt: skip
def test_retries_are_up_to_ten_attempts_with_five_conditions(
    strategy: dict[str, Any] | None, words: str
) -> None:
    found = said_of_values("batch", "SubmitJob", retryStrategy=strategy) or said(check_retries, strategy)

    assert words in found
    assert bool(words) == bool(found)


@pytest.mark.parametrize(("timeout", "taken"), [(None, True), ({"attemptDurationSeconds": 60}, True), ({"attemptDurationSeconds": 59}, False)])  # fmt: skip
def test_a_timeout_is_at_least_a_minute(timeout: dict[str, int] | None, *, taken: bool) -> None:
    assert (said_of_values("batch", "SubmitJob", timeout=timeout) == "") is taken


@pytest.mark.parametrize(
    ("priority", "taken"), [(None, True), (0, True), (9999, True), (-1, False), (10_000, False)]
)
def test_a_priority_is_between_zero_and_9999(priority: int | None, *, taken: bool) -> None:
    assert (said_of_values("batch", "RegisterJobDefinition", schedulingPriority=priority) == "") is taken


def test_a_variable_without_a_value_is_dropped(batch: Any) -> None:
    variables = [{"name": "EMPTY", "value": ""}, {"name": "FULL", "value": "1"}]
    batch.register_job_definition(
        jobDefinitionName="job", type="container", containerProperties={**SIZE, "environment": variables}
    )

    (found,) = batch.describe_job_definitions()["jobDefinitions"]
    assert found["containerProperties"]["environment"] == variables[1:]
