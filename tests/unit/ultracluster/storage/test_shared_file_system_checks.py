"""Settings that FSx refuses are refused together."""

from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import only
from tests.unit.ultracluster.storage.default_file_system import file_system
from tests.unit.ultracluster.storage.file_systems import association, define_file_system, key

from ultracluster import CheckpointBucket
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

_TIERED: dict[str, Any] = {"storage_type": "INTELLIGENT_TIERING", "read_cache": "NO_CACHE"}
_BACKUPS: dict[str, Any] = {"backup_retention_days": 7, "backup_start_time": "03:30"}
_EFA: dict[str, Any] = {"efa_clients": "p5.48xlarge", "storage_capacity_gib": 19_200}


def codes(stack: cdk.Stack, **changes: Any) -> list[str]:
    with pytest.raises(FindingsError) as refused:
        define_file_system(stack, **changes)
    return [finding.code for finding in refused.value.findings]


@pytest.mark.parametrize("iops", [1499, 18_000, 192_001])
def test_rejects_metadata_iops_that_fsx_does_not_provision(stack: cdk.Stack, iops: int) -> None:
    assert codes(stack, metadata_iops=iops) == ["UC5006"]


def test_scratch_refuses_throughput_metadata_iops_and_a_key_together(stack: cdk.Stack) -> None:
    changes = {"per_unit_storage_throughput": 250, "metadata_iops": 1500, "kms_key": key(stack)}
    found = codes(stack, deployment_type="SCRATCH_2", **changes)
    assert found == ["UC5002", "UC5005", "UC5007"]


@pytest.mark.parametrize("deployment_type", ["SCRATCH_1", "PERSISTENT_1", "persistent_2", ""])
def test_rejects_the_deployment_types_of_the_past(stack: cdk.Stack, deployment_type: str) -> None:
    assert codes(stack, deployment_type=deployment_type) == ["UC1023"]


def test_a_read_cache_must_be_requested_explicitly(stack: cdk.Stack) -> None:
    assert codes(stack, storage_type="INTELLIGENT_TIERING") == ["UC5013"]


def test_intelligent_tiering_is_not_joined_with_checkpoints(stack: cdk.Stack) -> None:
    bucket = CheckpointBucket(stack, "Checkpoints").bucket
    assert codes(stack, **_TIERED, checkpoint_bucket=bucket) == ["UC5020"]


def test_a_file_system_linked_to_s3_has_no_backups(stack: cdk.Stack) -> None:
    bucket = CheckpointBucket(stack, "Checkpoints").bucket
    assert codes(stack, **_BACKUPS, checkpoint_bucket=bucket) == ["UC5014"]


@pytest.mark.parametrize("instance_type", ["trn2.48xlarge", "trn2.3xlarge", "inf2.48xlarge"])
def test_efa_is_refused_for_clients_that_cannot_use_it(stack: cdk.Stack, instance_type: str) -> None:
    assert codes(stack, **_EFA | {"efa_clients": instance_type}) == ["UC5027"]


def test_efa_is_refused_on_a_small_file_system(stack: cdk.Stack) -> None:
    assert codes(stack, efa_clients="trn1.32xlarge") == ["UC5003"]


def test_overlaps_are_seen_through_tokens(stack: cdk.Stack) -> None:
    bucket = CheckpointBucket(stack, "Checkpoints").bucket
    inside = association("/old", bucket.s3_url_for_object("old/"))
    assert codes(stack, checkpoint_bucket=bucket, associations=[inside]) == ["UC5024"]


@pytest.mark.parametrize(("capacity", "throughput"), [(1200, 125), (2400, 1000), (4800, 500)])
def test_accepts_the_sizes_that_fsx_takes(stack: cdk.Stack, capacity: int, throughput: int) -> None:
    file_system(stack, storage_capacity_gib=capacity, per_unit_storage_throughput=throughput)
    assert only(stack, "AWS::FSx::FileSystem")["StorageCapacity"] == capacity


@pytest.mark.parametrize(("capacity", "throughput"), [(1199, 250), (3600, 250), (4800, 200), (4800, 1001)])
def test_rejects_the_sizes_that_fsx_refuses(stack: cdk.Stack, capacity: int, throughput: int) -> None:
    with pytest.raises(FindingsError, match="UC5"):
        file_system(stack, storage_capacity_gib=capacity, per_unit_storage_throughput=throughput)
