"""Cloud assemblies without the CDK CLI: order, stages, assets, updates, failures."""

import json
from pathlib import Path
from typing import Any

import pytest

from ultracluster_local import ACCOUNT, LocalAws
from ultracluster_local.deploy import deploy_assembly, destroy_assembly, read_assembly
from ultracluster_local.errors import LocalAwsError

REGION = "us-east-2"


def topic(**outputs: Any) -> dict[str, Any]:
    return {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}, "Outputs": outputs}


def write(
    directory: Path,
    stacks: dict[str, tuple[dict[str, Any], list[str]]],
    *,
    stages: tuple[str, ...] = (),
    images: dict[str, Any] | None = None,
    region: str = REGION,
) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    artifacts: dict[str, Any] = {
        stage: {"type": "cdk:cloud-assembly", "properties": {"directoryName": stage}} for stage in stages
    }
    for name, (template, needs) in stacks.items():
        (directory / f"{name}.template.json").write_text(json.dumps(template))
        (directory / "asset.code").mkdir(exist_ok=True)
        (directory / "asset.code" / "index.py").write_text(
            "def handler(event, context):\n    return 'from an asset'\n"
        )
        destination = {
            "bucketName": "cdk-hnb659fds-assets-${AWS::AccountId}-${AWS::Region}",
            "objectKey": "code.zip",
        }
        source = {"path": "asset.code", "packaging": "zip"}
        files = {"a": {"source": source, "destinations": {"here": destination}}}
        manifest = {"version": "36.0.0", "files": files, "dockerImages": images or {}}
        (directory / f"{name}.assets.json").write_text(json.dumps(manifest))
        artifacts[f"{name}.assets"] = {
            "type": "cdk:asset-manifest",
            "properties": {"file": f"{name}.assets.json"},
        }
        artifacts[name] = {
            "type": "aws:cloudformation:stack",
            "environment": f"aws://{ACCOUNT}/{region}",
            "properties": {"templateFile": f"{name}.template.json", "stackName": f"Prod-{name}"},
            "dependencies": [*needs, f"{name}.assets"],
        }
    (directory / "manifest.json").write_text(json.dumps({"version": "36.0.0", "artifacts": artifacts}))


def test_stacks_come_after_those_that_they_need_those_of_stages_too(tmp_path: Path) -> None:
    write(tmp_path / "stage", {"C": (topic(), ["B"]), "B": (topic(), ["A"]), "A": (topic(), [])})
    write(tmp_path, {"Top": (topic(), [])}, stages=("stage",))
    names = [one.name for one in read_assembly(tmp_path)]
    assert sorted(names) == ["Prod-A", "Prod-B", "Prod-C", "Prod-Top"]
    assert names.index("Prod-A") < names.index("Prod-B") < names.index("Prod-C")


@pytest.mark.parametrize(("given", "expected"), [("us-west-2", "us-west-2"), ("unknown-region", "us-east-1")])
def test_stack_without_a_region_goes_to_the_default_one(tmp_path: Path, given: str, expected: str) -> None:
    write(tmp_path, {"A": (topic(), [])}, region=given)
    assert [one.region for one in read_assembly(tmp_path)] == [expected]


def test_circle_of_stacks_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"A": (topic(), ["B"]), "B": (topic(), ["A"])})
    with pytest.raises(LocalAwsError, match=r"UC8007.*Prod-A, Prod-B"):
        read_assembly(tmp_path)


def test_anything_but_an_assembly_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LocalAwsError, match=r"UC8007.*not a cloud assembly"):
        read_assembly(tmp_path)


@pytest.mark.slow
def test_deploys_updates_and_destroys(tmp_path: Path, local_aws: LocalAws) -> None:
    name = {"Value": {"Ref": "Topic"}, "Export": {"Name": "topic"}}
    user = {
        "Type": "AWS::SSM::Parameter",
        "Properties": {"Type": "String", "Value": {"Fn::ImportValue": "topic"}},
    }
    assumed = {
        "Effect": "Allow",
        "Principal": {"Service": "lambda.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }
    trust = {"Version": "2012-10-17", "Statement": [assumed]}
    role = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": trust}}
    function = {
        "Type": "AWS::Lambda::Function",
        "Properties": {
            "Runtime": "python3.13",
            "Handler": "index.handler",
            "Role": {"Fn::GetAtt": ["Role", "Arn"]},
            "Code": {
                "S3Bucket": {"Fn::Sub": "cdk-hnb659fds-assets-${AWS::AccountId}-${AWS::Region}"},
                "S3Key": "code.zip",
            },
        },
    }
    second = {"Resources": {"User": user, "Role": role, "Function": function}}
    stacks = {"B": (second, ["A"]), "A": (topic(Name=name), [])}
    write(tmp_path, stacks)
    first = deploy_assembly(local_aws, tmp_path)
    assert [(one.name, one.status, one.reason) for one in first] == [
        ("Prod-A", "CREATE_COMPLETE", ""),
        ("Prod-B", "CREATE_COMPLETE", ""),
    ]
    assert first[0].outputs["Name"] == first[0].resources["Topic"]
    answer = local_aws.client("lambda", REGION).invoke(FunctionName=first[1].resources["Function"])
    assert json.loads(answer["Payload"].read()) == "from an asset"
    assert [one.status for one in deploy_assembly(local_aws, tmp_path)] == ["CREATE_COMPLETE"] * 2
    second["Resources"]["More"] = {"Type": "AWS::SQS::Queue"}
    write(tmp_path, stacks)
    assert [one.status for one in deploy_assembly(local_aws, tmp_path)] == [
        "CREATE_COMPLETE",
        "UPDATE_COMPLETE",
    ]
    gone = destroy_assembly(local_aws, tmp_path)
    assert [(one.name, one.status) for one in gone] == [
        ("Prod-B", "DELETE_COMPLETE"),
        ("Prod-A", "DELETE_COMPLETE"),
    ]
    assert destroy_assembly(local_aws, tmp_path) == []


@pytest.mark.slow
def test_stops_after_the_first_failure_and_reports_the_reason(tmp_path: Path, local_aws: LocalAws) -> None:
    properties = {"VpcId": "vpc-00000000000000000", "CidrBlock": "10.0.0.0/24"}
    broken = {"Resources": {"Subnet": {"Type": "AWS::EC2::Subnet", "Properties": properties}}}
    write(tmp_path, {"A": (broken, []), "B": (topic(), ["A"])})
    (only,) = deploy_assembly(local_aws, tmp_path)
    assert only.status == "ROLLBACK_COMPLETE"
    assert only.reason.startswith("Subnet: ")
    assert "vpc-00000000000000000" in only.reason
    write(tmp_path, {"A": (topic(), []), "B": (topic(), ["A"])})
    assert [one.status for one in deploy_assembly(local_aws, tmp_path)] == ["CREATE_COMPLETE"] * 2


@pytest.mark.slow
def test_container_images_are_refused(tmp_path: Path, local_aws: LocalAws) -> None:
    write(tmp_path, {"A": (topic(), [])}, images={"image": {}})
    with pytest.raises(LocalAwsError, match=r"UC8007.*container images"):
        deploy_assembly(local_aws, tmp_path)
