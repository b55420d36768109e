"""What replaces a resource, held against the registry of CloudFormation and the models of the services."""

from pathlib import Path
from typing import Any

import botocore.session
import pytest

from ultracluster_local.cloudformation.registry.replacement_table import replacement_table
from ultracluster_local.cloudformation.resource_types import PROVIDERS
from ultracluster_stacks import plan
from ultracluster_stacks.plan.allowed import SAFE
from ultracluster_stacks.plan.resource_updates import (
    JOB_CARRIERS,
    LONGEST_JOB_TIMEOUT_MINUTES,
    MOVING_ATTRIBUTES,
    NETWORK_TYPES,
    STATEFUL,
    replacement,
    touches,
)

pytestmark = pytest.mark.slow

FILE_SYSTEM = "AWS::FSx::FileSystem"
ENVIRONMENT = "AWS::Batch::ComputeEnvironment"


def shape(service: str, operation: str) -> Any:
    model = botocore.session.get_session().get_service_model(service)
    return model.operation_model(operation).input_shape


def test_the_table_matches_the_registry() -> None:
    table = Path(plan.__file__).with_name("replacement.json").read_text("utf-8")

    assert table == replacement_table(), "run `make tables`"


@pytest.mark.parametrize("resource_type", sorted({*PROVIDERS, *STATEFUL, *NETWORK_TYPES, *JOB_CARRIERS}))
def test_every_type_that_we_deploy_is_in_the_table(resource_type: str) -> None:
    assert replacement(resource_type, {}) is not None


def test_a_type_of_another_service_is_not_known() -> None:
    assert replacement("AWS::QuantumLedger::Cluster", {}) is None


def test_what_replaces_a_file_system_is_what_fsx_cannot_update() -> None:
    rules = replacement(FILE_SYSTEM, {})
    assert rules is not None
    members = shape("fsx", "UpdateFileSystem").members
    nested = [path[1] for path in rules.always if path[0] == "LustreConfiguration"]

    assert {"EfaEnabled", "DeploymentType"} <= set(nested)
    assert set(nested) & set(members["LustreConfiguration"].members) == set()
    # FSx takes another storage type of Windows file systems only.
    assert {path[0] for path in rules.always if len(path) == 1} & set(members) == {"StorageType"}


@pytest.mark.parametrize("resource_type", sorted({*STATEFUL} & {*SAFE}))
def test_nothing_is_both_safe_and_a_replacement(resource_type: str) -> None:
    rules = replacement(resource_type, {})
    assert rules is not None

    assert [path for path in SAFE[resource_type] if touches(path, rules.always | rules.sometimes)] == []


def test_the_settings_of_a_compute_environment_decide_whether_it_is_replaced() -> None:
    image = ("ComputeResources", "ImageId")
    default, kept = (
        replacement(ENVIRONMENT, {}),
        replacement(ENVIRONMENT, {"ReplaceComputeEnvironment": "false"}),
    )
    assert default is not None
    assert kept is not None

    assert touches(image, default.always)
    assert not touches(image, kept.always | kept.sometimes)
    assert touches(("Tags",), kept.always)


def test_the_longest_time_for_jobs_matches_the_model_of_batch() -> None:
    policy = shape("batch", "UpdateComputeEnvironment").members["updatePolicy"]
    said = policy.members["jobExecutionTimeoutMinutes"].documentation

    assert f"maximum value is {LONGEST_JOB_TIMEOUT_MINUTES}" in said


def test_a_path_touches_what_is_around_it_and_inside_it() -> None:
    others = frozenset({("A", "*", "B")})

    assert touches(("A",), others)
    assert touches(("A", "0", "B", "C"), others)
    assert not touches(("A", "0", "C"), others)
    assert MOVING_ATTRIBUTES
