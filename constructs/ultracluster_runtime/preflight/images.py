"""Checks of images: the AMI of the nodes, and the container images of the jobs."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ultracluster_catalog.names.identifiers import ECR_IMAGE
from ultracluster_catalog.neuron.neuron_images import BAKED_IMAGE_TAG
from ultracluster_runtime.preflight.check import (
    REGION_IS_ENABLED,
    AnyCheck,
    Check,
    Outcome,
    failed,
    passed,
    skipped,
    warned,
)
from ultracluster_runtime.preflight.reads import Reads
from ultracluster_runtime.preflight.requirements import ClusterNeeds, ImageNeeds, RolloutNeeds

__all__ = ["IMAGE_CHECKS", "Reference", "read_reference"]

Shown = Mapping[str, Any]

_EXISTS: Final = "UC9442"
_REPOSITORY: Final = "UC9446"
_ARCHITECTURE: Final = "x86_64"  # of every type of the catalogue: Trainium, Inferentia and P instances


# AMIs


def _find(reads: Reads, needs: ClusterNeeds) -> Shown | None:
    answer = reads.find(
        "ec2",
        needs.region,
        "DescribeImages",
        absent=("InvalidAMIID.NotFound", "InvalidAMIID.Unavailable"),
        ImageIds=[needs.image_id],
        IncludeDeprecated=True,
        IncludeDisabled=True,
    )
    return answer["Images"][0] if answer and answer["Images"] else None


def _shown(reads: Reads, needs: ClusterNeeds) -> Shown:
    return _find(reads, needs) or {}


def _judge_ami(needs: ClusterNeeds, shown: Shown | None) -> Outcome:
    """Whether nodes can be launched from the AMI."""
    remedy = "Pin another one: `ultracluster ami resolve ROLLOUT --write`"
    if shown is None:
        return failed(
            f"{needs.region} shows this account no {needs.image_id}; an AMI belongs to one Region", remedy
        )
    if shown.get("State") != "available":
        return failed(f"{needs.image_id} is {shown.get('State')}", remedy)
    return passed(f"{needs.image_id} is {shown.get('Name', 'without a name')}")


def _judge_architecture(_: ClusterNeeds, shown: Shown) -> Outcome:
    """Whether the AMI is for the processors of the nodes."""
    got = shown.get("Architecture")
    if got == _ARCHITECTURE:
        return passed(f"it is for {got}")
    return failed(f"it is for {got}; the nodes are {_ARCHITECTURE}", f"Pin one for {_ARCHITECTURE}")


def _judge_purpose(needs: ClusterNeeds, shown: Shown) -> Outcome:
    """Whether the AMI looks like one for such nodes: by the tag of what was baked here, else by its name."""
    name = shown.get("Name", "")
    if any(tag["Key"] == BAKED_IMAGE_TAG for tag in shown.get("Tags", [])):
        return passed(f"it was baked by a NeuronAmi: {name}")
    words = ["ecs", *(["neuron"] if needs.neuron else [])]
    missing = [word for word in words if word not in name.lower()]
    if not missing:
        return passed(f"its name says {' and '.join(words)}: {name}")
    return warned(
        f"its name does not say {' nor '.join(missing)}: {name}",
        "See that it has the ECS agent, Docker and the drivers that nodes need (docs/images.md); nodes without them "
        "never join",
    )


def _with_now(reads: Reads, needs: ClusterNeeds) -> tuple[Shown, datetime]:
    return _shown(reads, needs), reads.now


def _judge_deprecation(_: ClusterNeeds, seen: tuple[Shown, datetime]) -> Outcome:
    """Whether its owner still stands behind the AMI."""
    shown, now = seen
    text = shown.get("DeprecationTime")
    if not text:
        return passed("it has no day of deprecation")
    if datetime.fromisoformat(text) > now:
        return passed(f"it is deprecated from {text} on")
    return warned(
        f"it has been deprecated since {text}: its owner no longer mends it, and may take it away",
        "Pin a newer one: `ultracluster ami resolve ROLLOUT --write`",
    )


# Container images


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """An image in Amazon ECR.

    Attributes:
        account: The account of the registry.
        region: Its Region.
        repository: The repository.
        image_id: Tag or digest, as ECR's calls take it.
    """

    account: str
    region: str
    repository: str
    image_id: Mapping[str, str]


def read_reference(image: str) -> Reference | None:
    """Read an image's name; None if it is not one of a private registry of Amazon ECR."""
    found = re.fullmatch(ECR_IMAGE, image)
    if found is None:
        return None
    digest, tag = found["digest"], found["tag"]
    return Reference(
        account=found["account"],
        region=found["region"],
        repository=found["repository"],
        image_id={"imageDigest": digest} if digest else {"imageTag": tag or "latest"},
    )


def _images(rollout: RolloutNeeds) -> Iterator[ImageNeeds]:
    for cluster in rollout.clusters:
        yield from cluster.images


def _repository(reads: Reads, needs: ImageNeeds) -> bool | None:
    reference = read_reference(needs.image)
    if reference is None:
        return None
    answer = reads.find(
        "ecr",
        reference.region,
        "DescribeRepositories",
        absent=("RepositoryNotFoundException",),
        registryId=reference.account,
        repositoryNames=[reference.repository],
    )
    return answer is not None


def _judge_repository(needs: ImageNeeds, exists: bool | None) -> Outcome:
    """Whether the repository of an image is there, and in the Region of the nodes."""
    reference = read_reference(needs.image)
    if reference is None or exists is None:
        return warned(
            f"{needs.image} is not in a private registry of Amazon ECR; nodes without a NAT gateway reach no other",
            "Copy it to ECR in the Region, or cache it there (docs/images.md)",
        )
    if not exists:
        return failed(
            f"{reference.account} has no repository {reference.repository} in {reference.region}",
            "Make it and push the image (TrainingImageRepository does the first)",
        )
    if reference.region != needs.region:
        return failed(
            f"it is in {reference.region}, the nodes in {needs.region}: every node pulls it across Regions, for money, "
            "and without a NAT gateway not at all",
            f"Copy it to {needs.region}: ECR replicates repositories",
        )
    return passed(f"{reference.repository} is in {reference.region}")


def _image(reads: Reads, needs: ImageNeeds) -> Shown | None:
    reference = read_reference(needs.image)
    if reference is None:
        return {}
    answer = reads.find(
        "ecr",
        reference.region,
        "DescribeImages",
        absent=("ImageNotFoundException", "RepositoryNotFoundException"),
        registryId=reference.account,
        repositoryName=reference.repository,
        imageIds=[reference.image_id],
    )
    return answer["imageDetails"][0] if answer and answer["imageDetails"] else None


def _judge_image(_: ImageNeeds, shown: Shown | None) -> Outcome:
    """Whether nodes can pull the image."""
    if shown is None:
        return failed(
            "it is not there; jobs would fail when they start, on paid nodes",
            "Push it, or correct its tag",
        )
    if not shown:
        return skipped("only images in Amazon ECR can be looked for")
    size = int(shown.get("imageSizeInBytes", 0)) / 1e9
    return passed(f"{shown.get('imageDigest', '')[:19]}, {size:.1f} GB to pull")


def _ami_check(code: str, judge: Any, gather: Any = _shown) -> AnyCheck:
    return Check(
        code=code,
        calls=("ec2:DescribeImages",),
        subjects=lambda rollout: rollout.clusters,
        gather=gather,
        judge=judge,
        after=(_EXISTS,),
    )


IMAGE_CHECKS: Final[tuple[AnyCheck, ...]] = (
    Check(
        code=_EXISTS,
        calls=("ec2:DescribeImages",),
        subjects=lambda rollout: rollout.clusters,
        gather=_find,
        judge=_judge_ami,
        after=(REGION_IS_ENABLED,),
    ),
    _ami_check("UC9443", _judge_architecture),
    _ami_check("UC9444", _judge_purpose),
    _ami_check("UC9445", _judge_deprecation, _with_now),
    Check(
        code=_REPOSITORY,
        calls=("ecr:DescribeRepositories",),
        subjects=_images,
        gather=_repository,
        judge=_judge_repository,
        after=(REGION_IS_ENABLED,),
    ),
    Check(
        code="UC9447",
        calls=("ecr:DescribeImages",),
        subjects=_images,
        gather=_image,
        judge=_judge_image,
        after=(REGION_IS_ENABLED,),
    ),
)
