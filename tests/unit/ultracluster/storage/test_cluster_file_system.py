"""The file system of a cluster is described by a value."""

from dataclasses import replace

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_kms as kms
from tests.unit.ultracluster.builders import (
    IMAGE,
    ZONE,
    block,
    new_stack,
    of_type,
    only,
    ultra_cluster,
)

from ultracluster import Alarms, ClusterDashboard, FileSystem, Job, Queue
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def test_a_value_describes_the_new_file_system(stack: cdk.Stack) -> None:
    key = kms.Key(stack, "Key")
    given = FileSystem(storage_capacity_gib=9600, link_checkpoints=False)
    whole = ultra_cluster(stack, capacity=block(), file_system=given, kms_key=key)
    system = only(stack, "AWS::FSx::FileSystem")
    assert (whole.file_system.storage_capacity_gib, system["StorageCapacity"]) == (9600, 9600)
    assert system["KmsKeyId"] == stack.resolve(key.key_arn)
    assert whole.checkpoint_bucket is not None
    assert of_type(stack, "AWS::FSx::DataRepositoryAssociation") == []


def test_a_value_describes_an_existing_file_system(stack: cdk.Stack) -> None:
    given = FileSystem(
        file_system_id="fs-0123456789abcdef0",
        mount_name="abcdefgh",
        dns_name="fs-0123456789abcdef0.fsx.us-east-2.amazonaws.com",
        zone_id=ZONE,
        security_group_id="sg-0123456789abcdef0",
    )
    whole = ultra_cluster(stack, capacity=block(), file_system=given)
    assert of_type(stack, "AWS::FSx::FileSystem") == []
    assert (whole.file_system.mount_name, whole.file_system.dns_name) == ("abcdefgh", given.dns_name)
    opened = {str(rule["Properties"]["GroupId"]) for rule in of_type(stack, "AWS::EC2::SecurityGroupIngress")}
    assert "sg-0123456789abcdef0" in opened


def test_findings_about_the_file_system_come_with_the_others(stack: cdk.Stack) -> None:
    given = FileSystem(storage_capacity_gib=600, deployment_type="SCRATCH_2", efa=True)
    with pytest.raises(FindingsError) as refused:
        ultra_cluster(stack, capacity=block(), file_system=given, queue=Queue(priority=-1))
    assert [(each.code, each.path) for each in refused.value.findings] == [
        ("UC6305", "queue.priority"),
        ("UC5101", "file_system.storage_capacity_gib"),
        ("UC5005", "file_system.efa"),
        ("UC5027", "file_system.efa"),
    ]
    assert stack.node.try_find_child("Cluster") is None


def test_the_key_of_the_file_system_goes_before_that_of_the_cluster(stack: cdk.Stack) -> None:
    own = "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
    key = kms.Key(stack, "Key")
    ultra_cluster(stack, capacity=block(), file_system=FileSystem(kms_key_arn=own), kms_key=key)
    assert only(stack, "AWS::FSx::FileSystem")["KmsKeyId"] == own


def test_without_a_value_a_cluster_has_the_defaults_of_the_value(stack: cdk.Stack) -> None:
    other = new_stack()
    ultra_cluster(stack, capacity=block())
    ultra_cluster(other, capacity=block(), file_system=FileSystem())
    templates = [assertions.Template.from_stack(each).to_json() for each in (stack, other)]
    assert templates[0] == templates[1]


@pytest.mark.parametrize(("road", "place"), [("batch", None), ("auto-scaling", "s3://")])
def test_a_cluster_without_a_file_system_meets_in_its_bucket(
    stack: cdk.Stack, road: str, place: str | None
) -> None:
    whole = ultra_cluster(
        stack, capacity=replace(block(), launched_by=road), file_system="none", alarms=Alarms(dashboard=True)
    )
    ClusterDashboard(stack, "Dashboard", cluster=whole)
    job = whole.add_multi_node_job("train", Job(image=IMAGE, command=("train.py",)))
    gate = whole.add_fabric_gate("fabric", image=IMAGE)
    assert (whole.file_system, whole.checkpoint_bucket is None) == (None, False)
    written = str(assertions.Template.from_stack(stack).to_json())
    assert "AWS::FSx" not in written
    assert "UC_FILE_SYSTEM" not in written
    assert "FileSystemFull" not in written
    assert "/fsx" not in written
    for each in (job, gate):
        assert (each.environment.get("UC_RENDEZVOUS_PLACE") or "")[:5] == (place or "")
