"""Validation of the arguments of `NeuronAmi`."""

import re
from collections.abc import Sequence

from aws_cdk import Token
from aws_cdk import aws_ec2 as ec2

from ultracluster_catalog.names.identifiers import ECR_IMAGE
from ultracluster_catalog.neuron.neuron_images import EFA_INSTALLERS, NeuronImage
from ultracluster_rules.findings import Finding, quote, require

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{1,62}[A-Za-z0-9]")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_EFA_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
_REGION = re.compile(r"[a-z]{2}(?:-[a-z]+)+-[0-9]")
_SYSTEM = "Amazon Linux 2023"
_LONGEST_DATA = 16_000  # characters; limit of the registry schema of AWS::ImageBuilder::Component
_LEAST_DISK_GIB = 30  # size of the ECS Neuron AMI


def private_image(image: str) -> re.Match[str] | None:
    """Return account, region and repository of a private image with a tag or digest; None for others and tokens."""
    match = None if Token.is_unresolved(image) else re.fullmatch(ECR_IMAGE, image)
    return match if match and (match["tag"] or match["digest"]) else None


def check_sources(
    parent: NeuronImage, efa_version: str, efa_sha256: str | None, images: Sequence[str]
) -> list[Finding]:
    """Check the parent, the EFA installer and the container images of an AMI."""
    findings = []
    findings += require(
        parent.facts.operating_system in {_SYSTEM, ""},
        "UC4051",
        f"got {parent.kind}, which is {parent.facts.operating_system}",
        allowed=_SYSTEM,
        path="parent",
    )
    findings += require(
        _EFA_VERSION.fullmatch(efa_version) and _SHA256.fullmatch(efa_sha256 or ""),
        "UC4052",
        f"got version {quote(efa_version)} with checksum {quote(efa_sha256)}",
        allowed=f"{', '.join(EFA_INSTALLERS)}, or another version with its SHA-256",
        path="efa_installer_version",
    )
    findings += [
        Finding(
            "UC4053",
            f"got {quote(image)}",
            allowed="an image in a private repository of Amazon ECR, with a tag or digest",
            path=f"container_images[{index}]",
        )
        for index, image in enumerate(images)
        if not (Token.is_unresolved(image) or private_image(image))
    ]
    return findings


def check_document(data: str, images: Sequence[str]) -> list[Finding]:
    """Check that the component document does not exceed the limit of Image Builder."""
    return require(
        len(data) <= _LONGEST_DATA,
        "UC4054",
        f"with {len(images)} images the document has {len(data):,} characters",
        allowed=f"at most {_LONGEST_DATA:,}",
        remedy="Remove images",
        path="container_images",
    )


def check_place(
    *, name: str, vpc: ec2.IVpc | None, subnet: ec2.ISubnet | None, disk: int, regions: Sequence[str]
) -> list[Finding]:
    """Check the name, the network, the size and the Regions of an AMI."""

    def wrong(path: str, value: object, allowed: str) -> Finding:
        return Finding("UC4054", f"got {quote(value)}", allowed=allowed, path=path)

    findings = []
    if not _NAME.fullmatch(name):
        findings.append(wrong("name", name, "3 to 64 letters, digits and hyphens"))
    findings += require(
        (vpc is None) == (subnet is None),
        "UC4054",
        f"got {'a subnet without its VPC' if vpc is None else 'a VPC without a subnet'}",
        allowed="both or neither",
        path="subnet",
    )
    if disk < _LEAST_DISK_GIB:
        findings.append(wrong("root_volume_gib", disk, f"{_LEAST_DISK_GIB} or more"))
    findings += [
        wrong(f"regions[{index}]", region, "another Region, once")
        for index, region in enumerate(regions)
        if not _REGION.fullmatch(region) or region in regions[:index]
    ]
    return findings
