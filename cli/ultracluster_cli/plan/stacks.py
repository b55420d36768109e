"""Read the stacks to compare from cloud assemblies and from CloudFormation."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import botocore.exceptions

from ultracluster_cli._aws.deployed_template import read_deployed
from ultracluster_cli._aws.target import Client
from ultracluster_cli._cdk.assembly import artifacts, inside
from ultracluster_cli.progress import doing
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_rules.untrusted_files import LARGEST_JSON_FILE, read_untrusted_file, read_untrusted_json
from ultracluster_stacks.plan import StackTemplate, read_template

if TYPE_CHECKING:  # imports boto3, which `export` does not need
    from ultracluster_cli._aws.cluster_targets import ClusterTargets

_AT_ONCE = 8  # fewer than the 10 pooled connections of a boto3 client


@dataclass(frozen=True, kw_only=True, slots=True)
class AssembledStack:
    """A stack of a cloud assembly, with its account ID. None is the account of the credentials."""

    account: str | None
    stack: StackTemplate


def assembled_stacks(directory: Path) -> list[AssembledStack]:
    """Read the stacks of a cloud assembly (else UC9202) and of its stages, in the order of the manifests."""
    try:
        stacks = list(_stacks(directory, cluster=""))
        for name, stage in artifacts(directory, kind="cdk:cloud-assembly"):
            properties = stage["properties"]
            cluster = properties.get("displayName", name)
            stacks += _stacks(inside(directory, properties["directoryName"]), cluster=cluster)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"{quote(str(directory))} is not a cloud assembly: {type(error).__name__}: {error}"
        remedy = "Specify an output folder of cdk synth or cdk deploy, such as a copy of cdk.out"
        raise FindingsError.of("UC9202", problem, remedy=remedy) from error
    return stacks


def _stacks(folder: Path, *, cluster: str) -> Iterator[AssembledStack]:
    for name, artifact in artifacts(folder, kind="aws:cloudformation:stack"):
        properties = artifact["properties"]
        _, account, region = artifact["environment"].rsplit("/", 2)  # format: aws://ACCOUNT/REGION
        text = read_untrusted_file(
            inside(folder, properties["templateFile"]), most_bytes=LARGEST_JSON_FILE
        ).decode("utf-8")
        yield AssembledStack(
            account=account if account.isdecimal() else None,
            stack=StackTemplate(
                cluster=cluster,
                name=properties.get("stackName", name),
                region=region,
                template=read_template(text),
                paths=_paths(folder, name, artifact),
                assembly=folder,
                size_bytes=len(text.encode()),
            ),
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


def deployed_stacks(
    stacks: Sequence[AssembledStack], *, client: Client, account: str | None
) -> list[StackTemplate]:
    """Read deployed stacks from CloudFormation, leaving out those that do not exist.

    Raises:
        FindingsError: If a stack belongs to another account (UC9204), or a template cannot be read (UC9205).
    """
    elsewhere = [assembled for assembled in stacks if account and assembled.account not in {None, account}]
    if elsewhere:
        raise FindingsError(
            Finding(
                code="UC9204",
                problem=f"the stack {assembled.stack.name} belongs to account {assembled.account}, but the credentials to {account}",
                remedy="Use credentials of its account for its wave, or compare with a saved assembly with --against DIR",
            )
            for assembled in elsewhere
        )
    clients = {
        region: client("cloudformation", region)
        for region in {assembled.stack.region for assembled in stacks}
    }
    with doing("Reading the deployed stacks"), ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        deployed = pool.map(
            lambda assembled: _deployed(assembled.stack, clients[assembled.stack.region]), stacks
        )
        return [assembled for assembled in deployed if assembled is not None]


def deployed_by_target(stacks: Sequence[AssembledStack], targets: "ClusterTargets") -> list[StackTemplate]:
    """Read deployed stacks, each from the account of its cluster; see `deployed_stacks`."""
    profiles = [(targets.of(assembled.stack.cluster).profile, assembled) for assembled in stacks]
    return [
        stack
        for target in targets.targets.values()
        for stack in deployed_stacks(
            [assembled for profile, assembled in profiles if profile == target.profile],
            client=target.client,
            account=target.account,
        )
    ]


def _deployed(stack: StackTemplate, cloudformation: Any) -> StackTemplate | None:
    try:
        deployed = read_deployed(stack.name, cloudformation)
    except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError, ValueError) as error:
        raise _unreadable(stack, error) from error
    if deployed.template is None:
        return None
    return StackTemplate(
        cluster=stack.cluster, name=stack.name, region=stack.region, template=deployed.template
    )


def _unreadable(stack: StackTemplate, error: Exception) -> FindingsError:
    problem = f"the template of {stack.name} in {stack.region} cannot be read: {error}"
    remedy = "Grant the credentials cloudformation:DescribeStacks and cloudformation:GetTemplate"
    return FindingsError.of("UC9205", problem, remedy=remedy)
