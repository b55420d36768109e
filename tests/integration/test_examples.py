"""Every example app is short, synthesizes without warnings, passes the checks, deploys and is destroyed."""

import functools
import json
import runpy
from collections.abc import Callable, Mapping
from pathlib import Path

import aws_cdk as cdk
import pytest
from tests.cfn_lint import lint
from tests.grid import inventory

from ultracluster_local import LocalAws
from ultracluster_local.cloudformation.resource_types import unsupported_types
from ultracluster_local.deploy import deploy_assembly, destroy_assembly, read_assembly

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.parent.name for path in (ROOT / "examples").glob("*/app.py"))
MOST_LINES = 79
REGION = "us-east-2"

# What holds data outlives its stack; beside that, what only a log, a table or an image needs.
KEPT = inventory.RETAINED | {"AWS::DynamoDB::Table", "AWS::KMS::Key", "AWS::ECR::Repository"}


def _somebody_elses(local: LocalAws) -> Mapping[str, str]:
    """Make what examples/existing-everything brings; gives the ids that stand for those in the app."""
    ec2 = local.client("ec2", REGION)
    vpc = ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.20.0.0/20", AvailabilityZoneId="use2-az3")["Subnet"]
    groups = [
        ec2.create_security_group(VpcId=vpc, GroupName=name, Description=name)["GroupId"]
        for name in ("nodes", "lustre")
    ]
    for bucket in ("their-checkpoints", "their-compile-cache"):
        local.client("s3", REGION).create_bucket(
            Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION}
        )
    local.client("logs", REGION).create_log_group(logGroupName="/their/training")
    return {
        "subnet-0123456789abcdef0": subnet["SubnetId"],
        "sg-0123456789abcdef0": groups[0],
        "sg-0123456789abcdef1": groups[1],
    }


BEFORE: Mapping[str, Callable[[LocalAws], Mapping[str, str]]] = {"existing-everything": _somebody_elses}


@pytest.fixture(scope="module")
def assemblies(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """The cloud assembly of each example, with the feature flags that `ultracluster init` writes beside it."""
    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    found = {}
    for example in EXAMPLES:
        directory = tmp_path_factory.mktemp(example)
        with pytest.MonkeyPatch.context() as patch:
            app = functools.partial(cdk.App, outdir=str(directory), context=context)
            patch.setattr(cdk, "App", app)
            runpy.run_path(str(ROOT / "examples" / example / "app.py"))
        found[example] = directory
    return found


def test_the_examples_are_found() -> None:
    assert DESTROYED_ALWAYS | {"own-vpc", "p5-bake-off", "sagemaker-queue"} <= set(EXAMPLES)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_app_is_short_and_documents_its_deployment(example: str) -> None:
    text = (ROOT / "examples" / example / "app.py").read_text()
    assert len(text.splitlines()) <= MOST_LINES
    assert "cdk deploy" in text
    assert f"examples/{example}/app.py" in text


@pytest.mark.parametrize("example", EXAMPLES)
def test_synthesis_warns_of_nothing_and_looks_nothing_up(
    assemblies: Mapping[str, Path], example: str
) -> None:
    manifest = json.loads((assemblies[example] / "manifest.json").read_text())
    assert "missing" not in manifest
    said = [
        entry["data"]
        for path in assemblies[example].glob("*.json")
        for entry in _metadata(json.loads(path.read_text()))
        if entry["type"] in {"aws:cdk:warning", "aws:cdk:error"}
    ]
    # Each Capacity Block warns that nobody showed AWS Batch launching its type into one, until somebody does.
    assert [each for each in said if not each.startswith("UC4152: ")] == []


def test_a_warning_is_seen() -> None:
    warning = {"type": "aws:cdk:warning", "data": "beware"}
    assert _metadata({"artifacts": {"Stack": {"metadata": {"/Stack/Nodes": [warning]}}}}) == [warning]
    assert _metadata({"/Stack/Nodes": [warning]}) == [warning]


@pytest.mark.deep
def test_templates_are_clean_for_their_region(assemblies: Mapping[str, Path]) -> None:
    stacks = [stack for directory in assemblies.values() for stack in read_assembly(directory)]
    assert len(stacks) >= len(EXAMPLES)
    for stack in stacks:
        text = stack.template.read_text()
        found = lint(text, regions=[stack.region])
        assert [f"{stack.template}: {match}" for match in found] == []
        assert unsupported_types(json.loads(text)) == []


# The two with most resources, and the two that stand on what exists already or keep a ledger.
DESTROYED_ALWAYS = {"capacity-ledger", "existing-everything", "own-app", "ultraserver-pretrain"}


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(example, marks=() if example in DESTROYED_ALWAYS else pytest.mark.deep)
        for example in EXAMPLES
    ],
)
def test_destroy_retains_only_resources_with_data(
    assemblies: Mapping[str, Path], local_aws: LocalAws, example: str
) -> None:
    assembly = assemblies[example]
    if example in BEFORE:
        ids = BEFORE[example](local_aws)
        for template in assembly.glob("*.template.json"):
            text = template.read_text()
            for placeholder, real in ids.items():
                assert placeholder in text
                text = text.replace(placeholder, real)
            template.write_text(text)
    for stack in read_assembly(assembly):
        local_aws.client("iam", stack.region)  # which bootstraps the Region
    before = inventory.inventory(local_aws, REGION)

    deployed = deploy_assembly(local_aws, assembly)
    assert [(each.name, each.reason) for each in deployed if each.status != "CREATE_COMPLETE"] == []
    assert deployed

    gone = destroy_assembly(local_aws, assembly)
    assert [(each.name, each.reason) for each in gone if each.status != "DELETE_COMPLETE"] == []
    after = inventory.inventory(local_aws, REGION)
    assert {kind for kind in after if after[kind] - before[kind]} <= KEPT
    assert {kind for kind in before if before[kind] - after[kind]} == set()


def _metadata(document: Mapping[str, object]) -> list[Mapping[str, str]]:
    """Entries of the constructs' metadata, in a manifest or in the file that it moved to."""
    found: list[Mapping[str, str]] = []
    for key, part in document.items():
        if isinstance(part, dict):
            found += _metadata(part)
        elif key.startswith("/") and isinstance(part, list):
            found += part
    return found
