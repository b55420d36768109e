"""Settings that FSx refuses are refused together."""

from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.storage.file_systems import association, define_file_system, key

from ultracluster import CheckpointBucket
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def codes(stack: cdk.Stack, **changes: Any) -> list[str]:
    with pytest.raises(FindingsError) as refused:
        define_file_system(stack, **changes)
    return [finding.code for finding in refused.value.findings]


def test_scratch_refuses_throughput_metadata_iops_and_a_key_together(stack: cdk.Stack) -> None:
    changes = {"per_unit_storage_throughput": 250, "metadata_iops": 1500, "kms_key": key(stack)}
    found = codes(stack, deployment_type="SCRATCH_2", **changes)
    assert found == ["UC5002", "UC5005", "UC5007"]


def test_overlaps_are_seen_through_tokens(stack: cdk.Stack) -> None:
    bucket = CheckpointBucket(stack, "Checkpoints").bucket
    inside = association("/old", bucket.s3_url_for_object("old/"))
    assert codes(stack, checkpoint_bucket=bucket, associations=[inside]) == ["UC5024"]
