"""Checks of images: the AMI of the nodes, and the container images of the jobs."""

import json
import re
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

from ultracluster_catalog.names.identifiers import ECR_IMAGE
from ultracluster_catalog.neuron.neuron_images import BAKED_IMAGE_TAG
from ultracluster_runtime.preflight.check import Outcome, check, failed, passed, skipped, warned
from ultracluster_runtime.preflight.reader import AwsReader
from ultracluster_runtime.preflight.subjects import Account, Part
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.images import explain_entrypoint
from ultracluster_spec.nodes import ROOT_DEVICE
from ultracluster_spec.record import RuleRecord

Description = Mapping[str, Any]

_EXISTS: Final = "UC9442"
_IMAGE: Final = "UC9447"
_ARCHITECTURE: Final = "x86_64"  # all types in the catalog have it: Trainium, Inferentia and P instances


# AMIs


def _find_ami(reader: AwsReader, cluster: Cluster) -> Description | None:
    return reader.find(
        "ec2:DescribeImages",
        cluster.region,
        "Images",
        absent=("InvalidAMIID.NotFound", "InvalidAMIID.Unavailable"),
        ImageIds=[cluster.image_id],
        IncludeDeprecated=True,
        IncludeDisabled=True,
    )


def _shown(reader: AwsReader, cluster: Cluster) -> Description:
    return _find_ami(reader, cluster) or {}


@check(_EXISTS, _find_ami, subjects=lambda account: account.clusters)
def _check_ami(cluster: Cluster, description: Description | None) -> Outcome:
    remedy = "Pin another AMI: `ultracluster ami resolve ROLLOUT --write`"
    if description is None:
        return failed(
            f"{cluster.region} has no {cluster.image_id} visible to this account; an AMI exists in one Region only",
            remedy,
        )
    if description.get("State") != "available":
        return failed(f"{cluster.image_id} is {description.get('State')}", remedy)
    return passed(f"{cluster.image_id} is {description.get('Name', 'unnamed')}")


_ami_check: Final = partial(check, subjects=lambda account: account.clusters, after=(_EXISTS,))


@_ami_check("UC9443", _shown)
def _check_architecture(_: Cluster, description: Description) -> Outcome:
    got = description.get("Architecture")
    if got == _ARCHITECTURE:
        return passed(f"it is for {got}")
    return failed(f"it is for {got}; the nodes are {_ARCHITECTURE}", f"Pin an AMI for {_ARCHITECTURE}")


@_ami_check("UC9444", _shown)
def _check_purpose(cluster: Cluster, description: Description) -> Outcome:
    """Check that the AMI is meant for such nodes: by the tag of images built by a NeuronAmi, else by its name."""
    name = description.get("Name", "")
    if any(tag["Key"] == BAKED_IMAGE_TAG for tag in description.get("Tags", [])):
        return passed(f"it was built by a NeuronAmi: {name}")
    if name.startswith(("amzn2-", "amzn-")):
        # botocore 1.44.5, Batch Ec2Configuration imageType; the Neuron runtime supports Amazon Linux 2 until 2.19.
        return failed(
            f"it is of Amazon Linux 2, whose support has ended: AWS Batch makes no new environments with it, and Neuron has no "
            f"driver for it: {name}",
            "Pin an AMI of Amazon Linux 2023: `ultracluster ami resolve ROLLOUT --write`",
        )
    words = ["ecs", *(["neuron"] if cluster.node_type.is_neuron else [])]
    missing = [word for word in words if word not in name.lower()]
    if not missing:
        return passed(f"its name contains {' and '.join(words)}: {name}")
    return warned(
        f"its name does not contain {' or '.join(missing)}: {name}",
        "Check that it has the ECS agent, Docker and the drivers that nodes need (`ultracluster docs images`); nodes without them "
        "never join",
    )


@_ami_check("UC9445", lambda reader, cluster: (_shown(reader, cluster), reader.now))
def _check_deprecation(_: Cluster, evidence: tuple[Description, datetime]) -> Outcome:
    description, now = evidence
    text = description.get("DeprecationTime")
    if not text:
        return passed("it has no deprecation date")
    if datetime.fromisoformat(text) > now:
        return passed(f"it will be deprecated on {text}")
    return warned(
        f"it has been deprecated since {text}: its owner no longer patches it, and may deregister it",
        "Pin a newer AMI: `ultracluster ami resolve ROLLOUT --write`",
    )


@_ami_check("UC9480", _shown)
def _check_root_volume(cluster: Cluster, description: Description) -> Outcome:
    """Check that the AMI fits the root volume, which EC2 would refuse at each launch."""
    root, size = description.get("RootDeviceName"), cluster.root_volume.size_gib
    mapped = {one.get("DeviceName"): one.get("Ebs", {}) for one in description.get("BlockDeviceMappings", ())}
    least = mapped.get(root, {}).get("VolumeSize")
    if least is None:
        return skipped("the size of its root volume is not visible")
    if least > size:
        return failed(
            f"its root volume has {least} GiB, that of the nodes {size} GiB: EC2 refuses each launch",
            f"Set root_volume.size_gib: {least} or more",
        )
    if root != ROOT_DEVICE:
        return failed(
            f"its root device is {root}; the nodes would get {size} GiB as a second volume at {ROOT_DEVICE}",
            f"Pin an AMI whose root device is {ROOT_DEVICE}",
        )
    return passed(f"its {least} GiB fit into {size} GiB")


# Container images


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """Image in Amazon ECR."""

    account: str
    region: str
    repository: str
    image_id: Mapping[str, str]  # tag or digest, in the form of ECR's API


def read_reference(image: str) -> Reference | None:
    """Parse an image reference; return None if it is not in a private registry of Amazon ECR."""
    match = re.fullmatch(ECR_IMAGE, image)
    if match is None:
        return None
    digest, tag = match["digest"], match["tag"]
    return Reference(
        account=match["account"],
        region=match["region"],
        repository=match["repository"],
        image_id={"imageDigest": digest} if digest else {"imageTag": tag or "latest"},
    )


def _images(account: Account) -> Iterator[Part]:
    """Yield the container images of all jobs."""
    for cluster in account.clusters:
        for image in dict.fromkeys(job.image for job in cluster.jobs):
            yield Part(cluster=cluster, name=image)


def _repository(reader: AwsReader, image: Part) -> bool | None:
    reference = read_reference(image.name)
    if reference is None:
        return None
    response = reader.call_or_none(
        "ecr:DescribeRepositories",
        reference.region,
        absent=("RepositoryNotFoundException",),
        registryId=reference.account,
        repositoryNames=[reference.repository],
    )
    return response is not None


@check("UC9446", _repository, subjects=_images)
def _check_repository(image: Part, exists: bool | None) -> Outcome:
    reference = read_reference(image.name)
    if reference is None or exists is None:
        return warned(
            f"{image.name} is not in a private registry of Amazon ECR; nodes without a NAT gateway reach no other registry",
            "Copy it to ECR in the Region, or use a pull-through cache (`ultracluster docs images`)",
        )
    if not exists:
        return failed(
            f"{reference.account} has no repository {reference.repository} in {reference.region}",
            "Create it and push the image (TrainingImageRepository creates the repository)",
        )
    if reference.region != image.region:
        return failed(
            f"it is in {reference.region}, the nodes in {image.region}: every node pulls it across Regions, billed per GB, "
            "and not at all without a NAT gateway",
            f"Copy it to {image.region}: ECR can replicate repositories",
        )
    return passed(f"{reference.repository} is in {reference.region}")


def _find_image(reader: AwsReader, image: Part) -> Description | None:
    reference = read_reference(image.name)
    if reference is None:
        return {}
    return reader.find(
        "ecr:DescribeImages",
        reference.region,
        "imageDetails",
        absent=("ImageNotFoundException", "RepositoryNotFoundException"),
        registryId=reference.account,
        repositoryName=reference.repository,
        imageIds=[reference.image_id],
    )


@check(_IMAGE, _find_image, subjects=_images)
def _check_image(_: Part, description: Description | None) -> Outcome:
    if description is None:
        return failed(
            "it does not exist; jobs would fail at their start, on paid nodes", "Push it, or correct its tag"
        )
    if not description:
        return skipped("only images in Amazon ECR can be checked")
    size = int(description.get("imageSizeInBytes", 0)) / 1e9
    return passed(f"{description.get('imageDigest', '')[:19]}, {size:.1f} GB to pull")


# The ENTRYPOINT of container images, which AWS Batch cannot replace


# OCI image specification 1.1 and Docker's registry API: a manifest, or an index of manifests by platform.
_MEDIA_TYPES: Final = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_ABSENT: Final = ("ImageNotFoundException", "LayersNotFoundException", "RepositoryNotFoundException")
_PLATFORM: Final = ("linux", "amd64")  # all instance types in the catalog have this platform
_MOST_BYTES: Final = 4 * 1024 * 1024
_SECONDS: Final = 10


def _entrypoint(reader: AwsReader, image: Part) -> Sequence[str] | None:
    """Return the ENTRYPOINT, empty for none; None if the configuration of the image cannot be read."""
    reference = read_reference(image.name)
    if reference is None:
        return None
    place = {"registryId": reference.account, "repositoryName": reference.repository}

    def ask(call: str, **parameters: Any) -> Mapping[str, Any] | None:
        return reader.call_or_none(call, reference.region, absent=_ABSENT, **place, **parameters)

    def manifest_of(image_id: Mapping[str, str]) -> Mapping[str, Any]:
        found = ask("ecr:BatchGetImage", imageIds=[image_id], acceptedMediaTypes=list(_MEDIA_TYPES)) or {}
        images = found.get("images", [])
        return _object(images[0]["imageManifest"]) if images else {}

    manifest = manifest_of(reference.image_id)
    for entry in manifest.get("manifests", []):
        platform = entry.get("platform", {})
        if (platform.get("os"), platform.get("architecture")) == _PLATFORM:
            manifest = manifest_of({"imageDigest": entry["digest"]})
            break
    digest = manifest.get("config", {}).get("digest")
    layer = ask("ecr:GetDownloadUrlForLayer", layerDigest=digest) if digest else None
    if layer is None:
        return None
    configuration = _object(_download(layer["downloadUrl"])).get("config") or {}
    return configuration.get("Entrypoint") or []


def _object(text: str | bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _download(url: str) -> bytes:
    """Return the configuration of an image from the address that Amazon ECR gave; empty if it cannot be read."""
    if not url.startswith("https://"):
        return b""
    try:
        with urllib.request.urlopen(url, timeout=_SECONDS) as response:  # noqa: S310 - the scheme is checked
            return bytes(response.read(_MOST_BYTES))
    except OSError:
        return b""


@check("UC9457", _entrypoint, subjects=_images, after=(_IMAGE,))
def _check_entrypoint(_: Part, entrypoint: Sequence[str] | None) -> Outcome:
    if entrypoint is None:
        return skipped("the configuration of the image cannot be read")
    if problem := explain_entrypoint(entrypoint):
        return failed(
            f"its ENTRYPOINT {json.dumps(list(entrypoint))} {problem}",
            'Build an image on it with ENTRYPOINT [], or one that ends in exec "$@"',
        )
    return passed(
        f"its ENTRYPOINT is {json.dumps(list(entrypoint))}" if entrypoint else "it has no ENTRYPOINT"
    )


RECORDS: Final = (
    RuleRecord(
        "UC9442",
        "The AMI exists and is available in the Region.",
        remedy="Pin another one with `ultracluster ami resolve ROLLOUT --write`.",
        source="botocore 1.44.5, EC2 DescribeImages, 2026.",
    ),
    RuleRecord(
        "UC9443",
        "The AMI has the processor architecture of the nodes.",
        remedy="Pin one for x86_64: all types of the catalogue have such processors.",
        source="DescribeInstanceTypes as moto 5.2.5 ships it, about 2026-08.",
    ),
    RuleRecord(
        "UC9444",
        "The AMI is suitable for the nodes, according to its tag or its name.",
        remedy="Check that it has the ECS agent, Docker and the drivers that nodes need (`ultracluster docs images`).",
        source="Our decision: nodes without them never join, while they are paid.",
    ),
    RuleRecord(
        "UC9445",
        "The AMI is not deprecated.",
        remedy="Pin a newer one with `ultracluster ami resolve ROLLOUT --write`.",
        source="EC2 user guide, deprecate an AMI.",
    ),
    RuleRecord(
        "UC9480",
        "The AMI fits into the root volume of the nodes.",
        remedy="Set root_volume.size_gib to the size that the finding names, or pin a smaller AMI.",
        source="EC2 API, RunInstances: InvalidBlockDeviceMapping, volume smaller than snapshot; field case ec2/run-volume-smaller-than-snapshot.",
    ),
    RuleRecord(
        "UC9446",
        "The repository of a job's image exists in Amazon ECR in the Region.",
        remedy="Create the repository, or replicate it to the Region; TrainingImageRepository creates one.",
        source="Our decision: nodes reach the Amazon ECR of their Region without a NAT gateway.",
    ),
    RuleRecord(
        "UC9447",
        "The repository contains a job's image.",
        remedy="Push the image, or correct its tag: jobs would fail when they start, on paid nodes.",
        source="botocore 1.44.5, ECR DescribeImages, 2026.",
    ),
    RuleRecord(
        "UC9457",
        "A job's image runs the command of the job.",
        remedy='Build an image on it with ENTRYPOINT [], or one that ends in exec "$@": AWS Batch cannot replace an ENTRYPOINT.',
        source="AWS Batch user guide, job definition parameters, 2026-11: command is the CMD of Docker; aws-neuron/deep-learning-containers, common, 2026-08.",
    ),
)
