"""Deploy a cloud assembly (`cdk.out`) to a local AWS without the CDK CLI, which would cost tests seconds."""

import io
import json
import time
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ultracluster_local.errors import LocalAwsError, quote
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.seeding.seed import bootstrap_bucket
from ultracluster_local.server.local_aws import LocalAws

__all__ = [
    "AssemblyStack",
    "StackResult",
    "deploy_assembly",
    "deploy_stack",
    "destroy_assembly",
    "read_assembly",
]

_DEFAULT_REGION = "us-east-1"
_UNKNOWN = "unknown-"


@dataclass(frozen=True, kw_only=True, slots=True)
class AssemblyStack:
    """One stack of an assembly.

    Attributes:
        name: Stack name.
        region: Region to deploy to.
        template: Template file.
        directory: Assembly that contains it: the root, or that of its stage.
        parameters: Parameter values.
        tags: Tags of the stack.
        needs: Names of the stacks it depends on.
        assets: Asset manifest; None without assets.
    """

    name: str
    region: str
    template: Path
    directory: Path
    parameters: Mapping[str, str]
    tags: Mapping[str, str]
    needs: tuple[str, ...]
    assets: Path | None


@dataclass(frozen=True, kw_only=True, slots=True)
class StackResult:
    """Result of deploying one stack.

    Attributes:
        name: Name of the stack.
        region: Region of the stack.
        status: Stack status, such as ``CREATE_COMPLETE``.
        reason: Failure reason: the first failed resource and its service's message; empty on success.
        outputs: Stack outputs.
        resources: Physical IDs by logical ID.
    """

    name: str
    region: str
    status: str
    reason: str
    outputs: Mapping[str, str]
    resources: Mapping[str, str]


def read_assembly(directory: Path) -> list[AssemblyStack]:
    """Read the stacks of an assembly and of its stages in deployment order.

    Args:
        directory: The assembly, such as ``cdk.out``.

    Raises:
        LocalAwsError: If it is not a cloud assembly (UC8007).
    """
    stacks = list(_stacks(directory))
    done: dict[str, AssemblyStack] = {}
    waiting = {one.name: one for one in stacks}
    while waiting:
        ready = [
            one for one in waiting.values() if all(need in done or need not in waiting for need in one.needs)
        ]
        if not ready:
            raise _error(
                f"stacks of {directory} depend on each other in a cycle: {', '.join(sorted(waiting))}"
            )
        for one in ready:
            done[one.name] = waiting.pop(one.name)
    return list(done.values())


def _stacks(directory: Path) -> Iterator[AssemblyStack]:
    try:
        manifest = json.loads((directory / "manifest.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise _error(f"{quote(str(directory))} is not a cloud assembly: {error}") from None
    artifacts: Mapping[str, Any] = manifest.get("artifacts") or {}
    names = {
        key: one["properties"].get("stackName", key)
        for key, one in artifacts.items()
        if one["type"] == "aws:cloudformation:stack"
    }
    stages = [one for one in artifacts.values() if one["type"] == "cdk:cloud-assembly"]
    for stage in stages:
        yield from _stacks(directory / stage["properties"]["directoryName"])
    for key, one in artifacts.items():
        if key not in names:
            continue
        properties = one["properties"]
        region = one.get("environment", "").rsplit("/", 1)[-1]
        needed = one.get("dependencies") or []
        manifests = [
            directory / artifacts[need]["properties"]["file"]
            for need in needed
            if artifacts[need]["type"] == "cdk:asset-manifest"
        ]
        yield AssemblyStack(
            name=names[key],
            region=_DEFAULT_REGION if not region or region.startswith(_UNKNOWN) else region,
            template=directory / properties["templateFile"],
            directory=directory,
            parameters=properties.get("parameters") or {},
            tags=properties.get("tags") or {},
            needs=tuple(names[need] for need in needed if need in names),
            assets=manifests[0] if manifests else None,
        )


def deploy_assembly(local: LocalAws, directory: Path) -> list[StackResult]:
    """Deploy the stacks of an assembly in order, stopping at the first failure.

    Existing stacks are updated; unchanged ones keep their status.

    Args:
        local: A started local AWS.
        directory: The assembly, such as ``cdk.out``.

    Returns:
        A result for each attempted stack; the last one may be a failure.

    Raises:
        LocalAwsError: If it is not a cloud assembly, or contains container images, which need Docker (UC8007).
    """
    results: list[StackResult] = []
    for stack in read_assembly(directory):
        result = deploy_stack(local, stack)
        results.append(result)
        if result.status not in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}:
            break
    return results


def destroy_assembly(local: LocalAws, directory: Path) -> list[StackResult]:
    """Delete the deployed stacks of an assembly in reverse order; as with `cdk destroy`, published assets stay.

    Args:
        local: A started local AWS.
        directory: The assembly, such as ``cdk.out``.

    Raises:
        LocalAwsError: If it is not a cloud assembly (UC8007).
    """
    results = []
    for stack in reversed(read_assembly(directory)):
        cloudformation = local.client("cloudformation", stack.region)
        found = _described(cloudformation, stack.name)
        if found is not None:
            cloudformation.delete_stack(StackName=found["StackId"])
            results.append(_result(cloudformation, stack, found["StackId"]))
    return results


def _described(cloudformation: Any, name: str) -> Any:
    try:
        return cloudformation.describe_stacks(StackName=name)["Stacks"][0]
    except cloudformation.exceptions.ClientError:
        return None


def deploy_stack(local: LocalAws, stack: AssemblyStack) -> StackResult:
    """Publish the assets of one stack of an assembly, then create or update it."""
    _publish(local, stack)
    cloudformation = local.client("cloudformation", stack.region)
    text = stack.template.read_text("utf-8")
    declared = json.loads(text).get("Parameters") or {}
    # The template is sent by S3 URL, as the CLI does: a body has at most 51,200 bytes.
    bucket, key = bootstrap_bucket(stack.region), f"{stack.name}.template.json"
    local.client("s3", stack.region).put_object(Bucket=bucket, Key=key, Body=text.encode())
    request = {
        "StackName": stack.name,
        "TemplateURL": f"{local.endpoint}/{bucket}/{key}",
        "Parameters": [
            {"ParameterKey": key, "ParameterValue": value}
            for key, value in stack.parameters.items()
            if key in declared
        ],
        "Tags": [{"Key": key, "Value": value} for key, value in stack.tags.items()],
        "Capabilities": ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"],
    }
    found = _described(cloudformation, stack.name)
    if found is not None and found["StackStatus"] in {"ROLLBACK_COMPLETE", "REVIEW_IN_PROGRESS"}:
        cloudformation.delete_stack(StackName=stack.name)
        found = None
    if found is None:
        cloudformation.create_stack(**request)
    else:
        try:
            cloudformation.update_stack(**request)
        except cloudformation.exceptions.ClientError as error:
            if "No updates are to be performed" not in error.response["Error"]["Message"]:
                raise
    return _result(cloudformation, stack, stack.name)


def _result(cloudformation: Any, stack: AssemblyStack, name: str) -> StackResult:
    found = cloudformation.describe_stacks(StackName=name)["Stacks"][0]
    while found["StackStatus"].endswith("_IN_PROGRESS"):  # the server itself waits for short operations
        time.sleep(0.2)
        found = cloudformation.describe_stacks(StackName=name)["Stacks"][0]
    resources = cloudformation.describe_stack_resources(StackName=name)["StackResources"]
    failed = found["StackStatus"] not in {"CREATE_COMPLETE", "UPDATE_COMPLETE", "DELETE_COMPLETE"}
    return StackResult(
        name=stack.name,
        region=stack.region,
        status=found["StackStatus"],
        reason=_first_failure(cloudformation, name) or found.get("StackStatusReason", "") if failed else "",
        outputs={one["OutputKey"]: one["OutputValue"] for one in found.get("Outputs") or []},
        resources={one["LogicalResourceId"]: one["PhysicalResourceId"] for one in resources},
    )


def _first_failure(cloudformation: Any, name: str) -> str:
    """Return the error message of the first resource that failed in the latest run."""
    said = ""
    for event in cloudformation.describe_stack_events(StackName=name)[
        "StackEvents"
    ]:  # events are listed newest first
        own = event["ResourceType"] == "AWS::CloudFormation::Stack"
        if own and event.get("ResourceStatusReason") == "User Initiated":
            break
        if not own and event["ResourceStatus"].endswith("_FAILED"):
            said = f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason', '')}"
    return said


def _publish(local: LocalAws, stack: AssemblyStack) -> None:
    """Upload the file assets of a stack as `cdk deploy` does."""
    if stack.assets is None:
        return
    manifest = json.loads(stack.assets.read_text("utf-8"))
    if manifest.get("dockerImages"):
        raise _error(f"{stack.name} contains container images, which the local AWS cannot build")
    s3 = local.client("s3", stack.region)
    for asset in (manifest.get("files") or {}).values():
        source = asset["source"]
        if "path" not in source:
            raise _error(f"{stack.name} has an asset built by a command: {quote(source)}")
        body = _packed(stack.directory / source["path"], packaging=source.get("packaging", "file"))
        for destination in asset["destinations"].values():
            bucket = _filled(destination["bucketName"], stack.region)
            s3.put_object(Bucket=bucket, Key=_filled(destination["objectKey"], stack.region), Body=body)


def _filled(text: str, region: str) -> str:
    return (
        text.replace("${AWS::AccountId}", ACCOUNT)
        .replace("${AWS::Region}", region)
        .replace("${AWS::Partition}", "aws")
    )


def _packed(path: Path, *, packaging: str) -> bytes:
    if packaging == "file":
        return path.read_bytes()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for one in sorted(path.rglob("*")):
            if one.is_file():
                archive.write(one, one.relative_to(path))
    return buffer.getvalue()


def _error(problem: str) -> LocalAwsError:
    return LocalAwsError(
        "UC8007", problem, remedy="Synthesize it with `cdk synth`, and see `ultracluster docs local-aws`"
    )
