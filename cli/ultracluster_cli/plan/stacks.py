"""Read the stacks to compare from cloud assemblies and from CloudFormation."""

import json
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ultracluster_catalog.names.identifiers import RESERVATION_ID
from ultracluster_cli._aws.deployed_template import read_deployed
from ultracluster_cli.progress import doing
from ultracluster_runtime.functions.responses import AWS_ERRORS
from ultracluster_spec.findings import Finding, FindingsError, quote, reject
from ultracluster_spec.untrusted_files import LARGEST_JSON_FILE, read_untrusted_file, read_untrusted_json
from ultracluster_stacks.plan import StackTemplate, read_template

if TYPE_CHECKING:  # imports boto3, which `export` does not need
    from ultracluster_cli._aws.target import ClusterTargets, Target

_AT_ONCE = 8  # fewer than the pooled connections of a client


def assembled_stacks(directory: Path) -> list[StackTemplate]:
    """Read the stacks of a cloud assembly and of its stages, in the order of the manifests."""
    try:
        stacks = list(_stacks(directory, cluster=""))
        for name, stage in _artifacts(directory, kind="cdk:cloud-assembly"):
            properties = stage["properties"]
            cluster = properties.get("displayName", name)
            stacks += _stacks(inside(directory, properties["directoryName"]), cluster=cluster)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"{quote(str(directory))} is not a cloud assembly: {type(error).__name__}: {error}"
        remedy = "Specify an output folder of cdk synth or cdk deploy, such as a copy of cdk.out"
        raise FindingsError.message(problem, remedy=remedy) from error
    return stacks


def _artifacts(folder: Path, *, kind: str) -> Iterator[tuple[str, Any]]:
    """Yield the artifacts of one kind by name, excluding those of stages."""
    manifest = read_untrusted_json(folder / "manifest.json")
    return ((name, artifact) for name, artifact in manifest["artifacts"].items() if artifact["type"] == kind)


def inside(folder: Path, name: str) -> Path:
    """Resolve a path from an assembly; a path outside of the folder is a ValueError."""
    path = folder / name
    if path.resolve().is_relative_to(folder.resolve()):
        return path
    raise ValueError(f"{name[:80]!a} is outside its folder")


def asset_destination(folder: Path) -> tuple[str, str]:
    """Return the bucket to which the CDK CLI publishes the assets of a folder, and the role for it; empty without one."""
    for _, artifact in _artifacts(folder, kind="cdk:asset-manifest"):
        manifest = read_untrusted_json(inside(folder, artifact["properties"]["file"]))
        for file in manifest["files"].values():
            for destination in file["destinations"].values():
                return destination["bucketName"], destination.get("assumeRoleArn", "")
    return "", ""


def _stacks(folder: Path, *, cluster: str) -> Iterator[StackTemplate]:
    for name, artifact in _artifacts(folder, kind="aws:cloudformation:stack"):
        properties = artifact["properties"]
        _, account, region = artifact["environment"].rsplit("/", 2)  # format: aws://ACCOUNT/REGION
        content = read_untrusted_file(
            inside(folder, properties["templateFile"]), most_bytes=LARGEST_JSON_FILE
        )
        yield StackTemplate(
            cluster=cluster,
            name=properties.get("stackName", name),
            region=region,
            template=read_template(content.decode("utf-8")),
            account=account if account.isdecimal() else None,
            paths=_paths(folder, name, artifact),
            assembly=folder,
            size_bytes=len(content),
            settings={"displayName": artifact.get("displayName", name), **properties},
        )


def _paths(folder: Path, name: str, artifact: Any) -> dict[str, str]:
    """Return construct paths by logical ID; metadata is in the manifest or in a separate file."""
    metadata = dict(artifact.get("metadata") or {})
    metadata_file = folder / f"{name}.metadata.json"
    if metadata_file.is_file():
        metadata |= read_untrusted_json(metadata_file)
    return {
        str(entry["data"]): path.strip("/")
        for path, entries in metadata.items()
        for entry in entries
        if entry["type"] == "aws:cdk:logicalId"
    }


def deployed_stacks(stacks: Sequence[StackTemplate], targets: "ClusterTargets") -> list[StackTemplate]:
    """Read deployed stacks, each from the account of its cluster, leaving out those that do not exist."""
    by_target = [(stack, targets.of(stack.cluster)) for stack in stacks]
    reject(
        Finding.message(
            f"the stack {stack.name} belongs to account {stack.account}, but the credentials to {target.account}",
            remedy="Use credentials of its account for its wave, or compare with a saved assembly with --against DIR",
        )
        for stack, target in by_target
        if target.account and stack.account not in {None, target.account}
    )
    with doing("Reading the deployed stacks"), ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        deployed = pool.map(lambda pair: _deployed(*pair), by_target)
        return [stack for stack in deployed if stack is not None]


def reservations_of(stacks: Sequence[StackTemplate]) -> set[str]:
    """Return the IDs of capacity reservations in the templates of stacks."""
    return {each for stack in stacks for each in re.findall(RESERVATION_ID, json.dumps(stack.template))}


def _deployed(stack: StackTemplate, target: "Target") -> StackTemplate | None:
    try:
        deployed = read_deployed(stack.name, target.client("cloudformation", stack.region))
    except (*AWS_ERRORS, ValueError) as error:
        problem = f"the template of {stack.name} in {stack.region} cannot be read: {error}"
        remedy = "Grant the credentials cloudformation:DescribeStacks and cloudformation:GetTemplate"
        raise FindingsError.message(problem, remedy=remedy) from error
    if deployed.template is None:
        return None
    return StackTemplate(
        cluster=stack.cluster, name=stack.name, region=stack.region, template=deployed.template
    )
