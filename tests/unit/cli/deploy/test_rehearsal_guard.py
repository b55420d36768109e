"""Only assemblies of rehearsals are deployed: no node can start, nothing is bought, nothing stays."""

import json
from pathlib import Path
from typing import Any

import pytest

from ultracluster_cli.deploy.rehearsal_guard import check_assembly
from ultracluster_spec.findings import FindingsError

SOUND = {
    "Environment": {
        "Type": "AWS::Batch::ComputeEnvironment",
        "Properties": {"Type": "MANAGED", "ComputeResources": {"MinvCpus": 0, "MaxvCpus": 1}},
        "DeletionPolicy": "Delete",
    }
}


def assembly(folder: Path, resources: dict[str, Any], *, name: str = "rehearsal-a-us-east-2-Cluster") -> Path:
    """A cloud assembly with one stage of one stack."""
    stage = folder / "assembly-a"
    stage.mkdir()
    properties = {"directoryName": "assembly-a", "displayName": "rehearsal-a-us-east-2"}
    nested = {"a": {"type": "cdk:cloud-assembly", "properties": properties}}
    (folder / "manifest.json").write_text(json.dumps({"artifacts": nested}))
    stack = {
        "type": "aws:cloudformation:stack",
        "environment": "aws://unknown-account/us-east-2",
        "properties": {"stackName": name, "templateFile": "t.template.json"},
    }
    (stage / "manifest.json").write_text(json.dumps({"artifacts": {"s": stack}}))
    (stage / "t.template.json").write_text(json.dumps({"Resources": resources}))
    return folder


def policy(action: str) -> dict[str, Any]:
    statement = {"Effect": "Allow", "Action": action, "Resource": "*"}
    return {
        "Type": "AWS::IAM::ManagedPolicy",
        "Properties": {"PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]}},
        "DeletionPolicy": "Delete",
    }


def environment(*, least: int, most: int) -> dict[str, Any]:
    resources = {"MinvCpus": least, "MaxvCpus": most}
    return SOUND["Environment"] | {"Properties": {"Type": "MANAGED", "ComputeResources": resources}}


def group(most: str) -> dict[str, Any]:
    return {
        "Type": "AWS::AutoScaling::AutoScalingGroup",
        "Properties": {"MinSize": "0", "MaxSize": most},
        "DeletionPolicy": "Delete",
    }


def test_a_rehearsal_is_accepted(tmp_path: Path) -> None:
    check_assembly(assembly(tmp_path, SOUND | {"Fleet": group("0")}))


@pytest.mark.parametrize(
    ("resource", "said"),
    [
        ({"Type": "AWS::EC2::Instance", "Properties": {}, "DeletionPolicy": "Delete"}, "starts instances"),
        (group("4"), "starts instances"),
        (environment(least=0, most=192), "room for a node"),
        (environment(least=1, most=1), "room for a node"),
        (SOUND["Environment"] | {"Properties": {}}, "room for a node"),
        ({"Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain"}, "DeletionPolicy Retain"),
        ({"Type": "AWS::FSx::FileSystem", "Properties": {}}, "DeletionPolicy None"),
        (policy("ec2:PurchaseCapacityBlock"), "UC6425"),
        (policy("ec2:*"), "UC6420"),
        (
            {"Type": "AWS::EC2::CapacityReservation", "Properties": {}, "DeletionPolicy": "Delete"},
            "UC4210",
        ),
    ],
)
def test_refuses_what_could_start_a_node_or_stay(tmp_path: Path, resource: Any, said: str) -> None:
    with pytest.raises(FindingsError, match=said) as raised:
        check_assembly(assembly(tmp_path, SOUND | {"Other": resource}))
    assert {finding.code for finding in raised.value.findings} == {"UC9702"}


def test_refuses_the_stack_of_a_deployment(tmp_path: Path) -> None:
    with pytest.raises(FindingsError, match="the stack a-us-east-2-Cluster is not one of a rehearsal"):
        check_assembly(assembly(tmp_path, SOUND, name="a-us-east-2-Cluster"))
