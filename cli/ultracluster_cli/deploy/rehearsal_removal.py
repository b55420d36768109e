"""Find and remove the stacks of rehearsals, whatever state they were left in."""

import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from botocore.exceptions import ClientError

from ultracluster_cli._aws.deployed_template import describe_stack, stack_resources
from ultracluster_cli.exit_codes import CommandError
from ultracluster_cli.output import echo
from ultracluster_runtime.functions.clients import Clients
from ultracluster_spec.findings import Finding
from ultracluster_stacks.config.rehearsal import REHEARSAL_PREFIX, REHEARSAL_TAG

_ORDER: Final = ("-Cluster", "-Storage", "-Network")  # a stack is deleted after those that import from it
_ATTEMPTS: Final = 3  # Lambda and FSx release their network interfaces minutes after they are deleted
_FIRST_WAIT: Final = 0.1
_LONGEST_WAIT: Final = 5.0
_UNTAGGED: Final = "REVIEW_IN_PROGRESS"  # a change set that was never executed; it has no resources


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftStack:
    """A stack of a rehearsal, with its ARN, by which it is also found when it is deleted."""

    region: str
    name: str
    stack_id: str
    status: str


def find_stacks(client: Clients, *, regions: Collection[str], stages: Collection[str]) -> list[LeftStack]:
    """Return the stacks of rehearsals, the last to be deleted at the end.

    A stack is one of a rehearsal by its name and its tag together.
    """
    wanted = {f"{stage}{part}" for stage in stages for part in _ORDER}
    stacks = [
        LeftStack(
            region=region, name=stack["StackName"], stack_id=stack["StackId"], status=stack["StackStatus"]
        )
        for region in regions
        for page in client("cloudformation", region).get_paginator("describe_stacks").paginate()
        for stack in page["Stacks"]
        if stack["StackName"] in wanted
        and stack["StackName"].startswith(REHEARSAL_PREFIX)
        and (
            stack["StackStatus"] == _UNTAGGED
            or REHEARSAL_TAG in {tag["Key"] for tag in stack.get("Tags", [])}
        )
    ]
    return sorted(stacks, key=lambda stack: _rank(stack.name))


def _rank(name: str) -> int:
    return next(rank for rank, part in enumerate(_ORDER) if name.endswith(part))


def remove_stacks(
    client: Clients,
    stacks: Collection[LeftStack],
    *,
    empty: bool = True,
    again: str = "ultracluster deploy ROLLOUT --without-capacity --clean",
) -> None:
    """Delete stacks, and wait until they are gone; what could not be removed is a CommandError, in AWS's words.

    ``empty`` is whether to empty their buckets first, ``again`` the command that continues after a failure.
    """
    findings: list[Finding] = []
    for rank in range(len(_ORDER)):
        part = [stack for stack in stacks if _rank(stack.name) == rank]
        for stack in part:
            echo(f"Removing {stack.name} in {stack.region}")
            _begin(client, stack, empty=empty)
        for stack in part:
            if reason := _finish(client, stack, empty=empty):
                remedy = f"Remove the cause, then run `{again}`"
                problem = f"{stack.name} in {stack.region} still exists: {reason}"
                findings.append(Finding.message(problem, remedy=remedy))
    if findings:
        raise CommandError(findings)


def _begin(client: Clients, stack: LeftStack, *, empty: bool) -> None:
    cloudformation = client("cloudformation", stack.region)
    for bucket in _buckets(cloudformation, stack) if empty else ():
        empty_bucket(client("s3", stack.region), bucket)
    cloudformation.delete_stack(StackName=stack.stack_id)


def _finish(client: Clients, stack: LeftStack, *, empty: bool) -> str | None:
    """Wait until a stack is gone. Return why it is not."""
    cloudformation = client("cloudformation", stack.region)
    for attempt in range(_ATTEMPTS):
        status = _wait_until_settled(cloudformation, stack)
        if status in (None, "DELETE_COMPLETE"):
            return None
        if attempt < _ATTEMPTS - 1:
            time.sleep(_LONGEST_WAIT * attempt)
            _begin(client, stack, empty=empty)
    return _deletion_failures(cloudformation, stack)


def _wait_until_settled(cloudformation: Any, stack: LeftStack) -> str | None:
    wait = _FIRST_WAIT
    while True:
        described = describe_stack(stack.stack_id, cloudformation)
        status = str(described["StackStatus"]) if described else None
        if status is None or not status.endswith("_IN_PROGRESS"):
            return status
        time.sleep(wait)
        wait = min(wait * 1.5, _LONGEST_WAIT)


def _deletion_failures(cloudformation: Any, stack: LeftStack) -> str:
    pages = cloudformation.get_paginator("describe_stack_events").paginate(StackName=stack.stack_id)
    reasons = dict.fromkeys(
        f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason', 'no reason')}"
        for page in pages
        for event in page["StackEvents"]
        if event["ResourceStatus"] == "DELETE_FAILED"
    )
    return "; ".join(reasons) or "CloudFormation gave no reason"


def _buckets(cloudformation: Any, stack: LeftStack) -> list[str]:
    try:
        resources = list(stack_resources(stack.stack_id, cloudformation))
    except ClientError:  # a stack without resources
        return []
    return [
        resource["PhysicalResourceId"]
        for resource in resources
        if resource["ResourceType"] == "AWS::S3::Bucket"
    ]


def empty_bucket(s3: Any, bucket: str) -> None:
    """Delete every version of every object, such as the test object that FSx writes for a link."""
    try:
        pages = list(s3.get_paginator("list_object_versions").paginate(Bucket=bucket))
    except ClientError:
        return  # if the bucket remains, CloudFormation reports why
    for page in pages:
        versions = [*page.get("Versions", ()), *page.get("DeleteMarkers", ())]
        objects = [{"Key": version["Key"], "VersionId": version["VersionId"]} for version in versions]
        if objects:
            s3.delete_objects(Bucket=bucket, Delete={"Objects": objects})
