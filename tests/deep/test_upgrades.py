"""What is kept of each version is deployed to the local AWS and then updated to what today's code gives: nothing is made anew."""

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.deep.conftest import Tried
from tests.golden.configurations import EXPORTED, GOLDEN, NEXT, configurations, released, templates_of
from tests.golden.kept import NO_HASH, read_kept, text_of
from tests.golden.resource_changes import named_since, unexplained
from tests.golden.synthesis import synthesize

from ultracluster_local import LocalAws
from ultracluster_local.seeding.seed import bootstrap_bucket
from ultracluster_local.services.batch import instance_types
from ultracluster_stacks.plan import Action, Plan, StackTemplate, compare
from ultracluster_stacks.plan.resource_updates import MOVING_IDS

pytestmark = pytest.mark.deep

REGION = "us-east-2"
CHANGELOG = (GOLDEN.parents[1] / "CHANGELOG.md").read_text("utf-8")
_CUSTOM_TYPE = "trn9.48xlarge"  # in machines.yaml
_LOGS = {"Service": f"logs.{REGION}.amazonaws.com"}
_KEY_POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": each, "Action": "kms:*", "Resource": "*"}
        for each in ({"AWS": "arn:aws:iam::123456789012:root"}, _LOGS)
    ],
}
OLD_CODE, NEW_CODE = NO_HASH, "1" * 64

# Exported templates are those of a rollout with parameters; tests/integration/test_export_on_local_aws.py deploys them.
CASES = [
    (version, name)
    for version in (*released(), NEXT)
    for name in configurations(version)
    if not name.endswith(EXPORTED)
]

Ids = Mapping[str, str]


@pytest.fixture(scope="module")
def today(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, dict[str, list[StackTemplate]]]:
    return {
        version: synthesize(configurations(version), tmp_path_factory.mktemp(version.name))
        for version in (*released(), NEXT)
    }


@pytest.fixture
def theirs(local_aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """What configurations name as existing; the ids that stand for those in their files."""
    ec2 = local_aws.client("ec2", REGION)
    vpc = ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.20.0.0/18", AvailabilityZoneId="use2-az3")["Subnet"]
    groups = [
        ec2.create_security_group(VpcId=vpc, GroupName=name, Description=name)["GroupId"]
        for name in ("nodes", "lustre")
    ]
    ec2.create_placement_group(GroupName="theirs", Strategy="cluster")
    for bucket in ("their-checkpoints", "their-compile-cache", "their-corpus"):
        local_aws.client("s3", REGION).create_bucket(
            Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION}
        )
    elsewhere, copies = "ap-southeast-4", "train-ap-southeast-4-stor-compilecacheresource-0abcdefghijk"
    s3 = local_aws.client("s3", elsewhere)
    s3.create_bucket(Bucket=copies, CreateBucketConfiguration={"LocationConstraint": elsewhere})
    s3.put_bucket_versioning(Bucket=copies, VersioningConfiguration={"Status": "Enabled"})
    local_aws.client("logs", REGION).create_log_group(logGroupName="/their/training")
    key = local_aws.client("kms", REGION).create_key(Policy=json.dumps(_KEY_POLICY))["KeyMetadata"]["KeyId"]
    # AWS Batch will know a custom type by the day that it is launched.
    known = instance_types._known() | {_CUSTOM_TYPE}
    monkeypatch.setattr(instance_types, "_known", lambda: known)
    return {
        "01234567-89ab-cdef-0123-456789abcdef": key,
        "vpc-0123456789abcdef0": vpc,
        "subnet-0123456789abcdef0": subnet["SubnetId"],
        "sg-0123456789abcdef0": groups[0],
        "sg-0123456789abcdef1": groups[1],
    }


@pytest.mark.parametrize(("version", "name"), CASES, ids=lambda part: getattr(part, "name", part))
def test_an_update_makes_nothing_anew_that_the_changelog_does_not_name(  # noqa: PLR0917 - a version, and fixtures
    version: Path,
    name: str,
    today: dict[Path, dict[str, list[StackTemplate]]],
    local_aws: LocalAws,
    theirs: Mapping[str, str],
    tried: Tried,
) -> None:
    kept = read_kept(templates_of(version, name).read_text("utf-8"))
    now = read_kept(text_of(today[version][name]).replace(OLD_CODE, NEW_CODE))
    functions = [
        one for stack in now for one in stack.resources.values() if "Lambda::Function" in one["Type"]
    ]
    tried("upgrades", f"{version.name}/{name}: {len(kept)} stacks, new code in {len(functions)} functions")

    before = deployed(local_aws, kept, theirs)
    after = deployed(local_aws, now, theirs)

    plan = compare(kept, now)
    assert moved(before, after) == expected(plan)
    named = [] if version == NEXT else named_since(CHANGELOG, version.name)
    assert unexplained(plan, named) == []


def test_what_is_made_anew_is_seen(local_aws: LocalAws, theirs: Mapping[str, str], tried: Tried) -> None:
    tried("upgrades", "a file system that had another logical id")
    now = read_kept(templates_of(NEXT, "own-app.py").read_text("utf-8"))
    (file_system,) = (
        logical_id
        for stack in now
        for logical_id, resource in stack.resources.items()
        if resource["Type"] == "AWS::FSx::FileSystem"
    )
    kept = read_kept(text_of(now).replace(f'"{file_system}"', '"OldFiles"'))

    before = deployed(local_aws, kept, theirs)
    after = deployed(local_aws, now, theirs)

    plan = compare(kept, now)
    found = moved(before, after)
    assert found == expected(plan)
    assert found["Training/OldFiles"] == "gone"
    assert found[f"Training/{file_system}"] == "new"
    assert any("remove:Training/OldFiles" in each for each in unexplained(plan, []))


def deployed(local: LocalAws, stacks: list[StackTemplate], theirs: Mapping[str, str]) -> dict[str, str]:
    """Create or update stacks as `cdk deploy` does, and give the physical id of each stack and logical id."""
    found = {}
    for stack in in_order(stacks):
        cloudformation = local.client("cloudformation", stack.region)
        s3 = local.client("s3", stack.region)
        for code in (OLD_CODE, NEW_CODE):
            s3.put_object(Bucket=bootstrap_bucket(stack.region), Key=f"{code}.zip", Body=_archive(code))
        text = json.dumps(stack.template)
        for placeholder, real in theirs.items():
            text = text.replace(placeholder, real)
        bucket, key = bootstrap_bucket(stack.region), f"{stack.name}.json"  # a body has at most 51,200 bytes
        s3.put_object(Bucket=bucket, Key=key, Body=text.encode())
        url = f"{local.endpoint}/{bucket}/{key}"
        request = {"StackName": stack.name, "TemplateURL": url, "Capabilities": ["CAPABILITY_NAMED_IAM"]}
        status = _change(cloudformation, request)
        assert status in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}, _why(cloudformation, stack.name)
        for one in cloudformation.describe_stack_resources(StackName=stack.name)["StackResources"]:
            found[f"{stack.name}/{one['LogicalResourceId']}"] = one["PhysicalResourceId"]
    return found


def _change(cloudformation: Any, request: Mapping[str, Any]) -> str:
    name = request["StackName"]
    known = {one["StackName"] for one in cloudformation.describe_stacks()["Stacks"]}
    try:
        (cloudformation.update_stack if name in known else cloudformation.create_stack)(**request)
    except cloudformation.exceptions.ClientError as error:
        if "No updates" not in str(error):
            raise
    (described,) = cloudformation.describe_stacks(StackName=name)["Stacks"]
    return str(described["StackStatus"])


def _why(cloudformation: Any, name: str) -> str:
    events = cloudformation.describe_stack_events(StackName=name)["StackEvents"]
    return "\n".join(
        f"{event['LogicalResourceId']}: {event['ResourceStatusReason']}"
        for event in events
        if event["ResourceStatus"].endswith("FAILED")
    )


def _archive(code: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("index.py", f"CODE = '{code}'\n\n\ndef handler(event, context):\n    return CODE\n")
    return buffer.getvalue()


def in_order(stacks: list[StackTemplate]) -> Iterator[StackTemplate]:
    """Stacks after those whose exports they import; what is kept is sorted by name."""
    waiting = {stack.name: stack for stack in stacks}
    exported: set[str] = set()
    every = {name for stack in stacks for name in _exports(stack)}
    while waiting:
        ready = [stack for stack in waiting.values() if _imports(stack) & every <= exported]
        assert ready, sorted(waiting)
        for stack in ready:
            yield waiting.pop(stack.name)
            exported |= _exports(stack)


def _exports(stack: StackTemplate) -> set[str]:
    outputs = (stack.template.get("Outputs") or {}).values()
    return {output["Export"]["Name"] for output in outputs if "Export" in output}


def _imports(stack: StackTemplate) -> set[str]:
    return set(re.findall(r'"Fn::ImportValue": "([^"]+)"', json.dumps(stack.template)))


def moved(before: Ids, after: Ids) -> dict[str, str]:
    """What is another resource than before, what is new and what is gone."""
    found = {}
    for place in {**before, **after}:
        old, new = before.get(place), after.get(place)
        if old != new:
            found[place] = "new" if old is None else "gone" if new is None else "other"
    return found


def expected(plan: Plan) -> dict[str, str]:
    said = {Action.ADD: "new", Action.REPLACE: "other", Action.REMOVE: "gone", Action.RETAIN: "gone"}
    return {
        f"{stack.name}/{change.logical_id}": said.get(change.action, "other")
        for stack in plan.stacks
        for change in stack.changes
        if change.action in said or change.resource_type in MOVING_IDS
    }
