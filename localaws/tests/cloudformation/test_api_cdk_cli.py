"""The real CDK CLI against a local AWS: deploy, no change, diff, update, rollback, destroy.

The tests of this file are one story, in their order.
"""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ultracluster_local import ACCOUNT, LocalAws

pytestmark = pytest.mark.slow

REGION = "us-east-1"
Cdk = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def local(local_aws_server: LocalAws) -> LocalAws:
    local_aws_server.reset()
    return local_aws_server


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("assembly")


@pytest.fixture(scope="module")
def cdk(local: LocalAws, assembly: Path, request: pytest.FixtureRequest) -> Cdk:
    executable = request.config.rootpath.parent / "node_modules" / ".bin" / "cdk"
    if not executable.exists() or shutil.which("node") is None:
        pytest.skip("the CDK CLI or node is not installed; run `make env`")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(executable), "--app", str(assembly), "--no-notices", "--no-color", *arguments],
            env=local.environment(REGION) | {"CI": "1"},
            cwd=assembly,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return run


def network() -> dict[str, Any]:
    return {
        "Resources": {
            "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
            "Logs": {"Type": "AWS::Logs::LogGroup", "Properties": {"RetentionInDays": 30}},
        },
        "Outputs": {"Vpc": {"Value": {"Ref": "Vpc"}, "Export": {"Name": "Network:Vpc"}}},
    }


def nodes(*, image: str = "ami-00000000000000001", extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
    interfaces = [
        {
            "NetworkCardIndex": card,
            "DeviceIndex": min(card, 1),
            "InterfaceType": "efa" if card == 0 else "efa-only",
        }
        for card in range(16)
    ]
    return {
        "Resources": {
            "Group": {
                "Type": "AWS::EC2::SecurityGroup",
                "Properties": {"GroupDescription": "EFA", "VpcId": {"Fn::ImportValue": "Network:Vpc"}},
            },
            "Template": {
                "Type": "AWS::EC2::LaunchTemplate",
                "Properties": {"LaunchTemplateData": {"ImageId": image, "NetworkInterfaces": interfaces}},
            },
            "Version": {
                "Type": "AWS::SSM::Parameter",
                "Properties": {
                    "Type": "String",
                    "Value": {"Fn::GetAtt": ["Template", "LatestVersionNumber"]},
                },
            },
            **(extra or {}),
        }
    }


def write(assembly: Path, **stacks: dict[str, Any]) -> None:
    """Write a cloud assembly as the CDK does, with the second stack after the first."""
    artifacts: dict[str, Any] = {}
    bootstrap = {
        "requiresBootstrapStackVersion": 6,
        "bootstrapStackVersionSsmParameter": "/cdk-bootstrap/hnb659fds/version",
    }
    for name, template in stacks.items():
        text, key = json.dumps(template), f"{name}.template.json"
        (assembly / key).write_text(text)
        # By its content, as the CDK does: what is in the bucket already is not published again.
        published = f"{hashlib.sha256(text.encode()).hexdigest()}.json"
        bucket = f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}"
        destination = {"bucketName": bucket, "objectKey": published, "region": REGION}
        files = {key: {"source": {"path": key, "packaging": "file"}, "destinations": {"here": destination}}}
        (assembly / f"{name}.assets.json").write_text(json.dumps({"version": "36.0.0", "files": files}))
        artifacts[f"{name}.assets"] = {
            "type": "cdk:asset-manifest",
            "properties": {"file": f"{name}.assets.json", **bootstrap},
        }
        artifacts[name] = {
            "type": "aws:cloudformation:stack",
            "environment": f"aws://{ACCOUNT}/{REGION}",
            "properties": {
                "templateFile": key,
                "stackName": name,
                "stackTemplateAssetObjectUrl": f"s3://{bucket}/{published}",
                **bootstrap,
            },
            "dependencies": [f"{name}.assets", *(["Network"] if name == "Nodes" else [])],
        }
    (assembly / "manifest.json").write_text(json.dumps({"version": "36.0.0", "artifacts": artifacts}))


def deploy(cdk: Cdk, *arguments: str) -> subprocess.CompletedProcess[str]:
    return cdk("deploy", "--all", "--require-approval", "never", *arguments)


def test_deploys_two_stacks_of_which_one_imports_from_the_other(
    cdk: Cdk, assembly: Path, local: LocalAws
) -> None:
    write(assembly, Network=network(), Nodes=nodes())
    done = deploy(cdk)
    assert done.returncode == 0, done.stdout + done.stderr
    stacks = local.client("cloudformation").describe_stacks()["Stacks"]
    assert {stack["StackName"]: stack["StackStatus"] for stack in stacks} == {
        "Network": "CREATE_COMPLETE",
        "Nodes": "CREATE_COMPLETE",
    }


def test_reports_that_nothing_changes(cdk: Cdk) -> None:
    done = deploy(cdk)
    assert done.returncode == 0, done.stderr
    assert (done.stdout + done.stderr).count("(no changes)") == 2


def test_diff_shows_the_property_of_the_launch_template_that_changes(cdk: Cdk, assembly: Path) -> None:
    write(assembly, Network=network(), Nodes=nodes(image="ami-00000000000000002"))
    done = cdk("diff", "Nodes", "--exclusively")
    said = done.stdout + done.stderr
    assert "ImageId" in said, said
    assert "ami-00000000000000002" in said
    assert "[~] AWS::EC2::LaunchTemplate" in said
    assert "requires replacement" not in said
    assert "may be replaced" not in said
    assert "AWS::EC2::SecurityGroup" not in said


def test_update_makes_a_second_version_and_passes_its_number_on(cdk: Cdk, local: LocalAws) -> None:
    done = deploy(cdk)
    assert done.returncode == 0, done.stderr
    parameters = local.client("ssm").describe_parameters()["Parameters"]
    name = next(one["Name"] for one in parameters if one["Name"].startswith("CFN-Nodes-"))
    assert local.client("ssm").get_parameter(Name=name)["Parameter"]["Value"] == "2"


def test_failing_update_is_rolled_back_with_the_reason(cdk: Cdk, assembly: Path, local: LocalAws) -> None:
    broken = {
        "Subnet": {
            "Type": "AWS::EC2::Subnet",
            "DependsOn": "Template",
            "Properties": {"VpcId": "vpc-00000000000000000", "CidrBlock": "10.0.0.0/24"},
        }
    }
    write(assembly, Network=network(), Nodes=nodes(image="ami-00000000000000003", extra=broken))
    done = deploy(cdk)
    assert done.returncode != 0
    assert "vpc-00000000000000000" in done.stdout + done.stderr
    stack = local.client("cloudformation").describe_stacks(StackName="Nodes")["Stacks"][0]
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    templates = local.client("ec2").describe_launch_templates()["LaunchTemplates"]
    latest = local.client("ec2").describe_launch_template_versions(
        LaunchTemplateId=templates[0]["LaunchTemplateId"], Versions=["$Latest"]
    )["LaunchTemplateVersions"][0]
    assert latest["LaunchTemplateData"]["ImageId"] == "ami-00000000000000002"


def test_destroys_everything(cdk: Cdk, assembly: Path, local: LocalAws) -> None:
    write(assembly, Network=network(), Nodes=nodes())
    done = cdk("destroy", "--all", "--force")
    assert done.returncode == 0, done.stdout + done.stderr
    assert local.client("cloudformation").describe_stacks()["Stacks"] == []
    assert local.client("ec2").describe_launch_templates()["LaunchTemplates"] == []
