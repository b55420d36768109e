"""Initial contents of a Region: the resources of the CDK's bootstrap stack, and fakes that deployments refer to."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from moto.ec2.models import ec2_backends
from moto.ec2.models.amis import Ami
from moto.iam.models import iam_backends

from ultracluster_local.instance.clients import Clients
from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.ec2.capacity import zone_names
from ultracluster_local.services.ec2.capacity_market import Reservation, Segment, capacity_market
from ultracluster_local.services.handlers import Request, hex_id
from ultracluster_local.services.node_images import NodeImage, node_images

__all__ = ["BOOTSTRAP_VERSION", "bootstrap_bucket", "seed_capacity_block", "seed_from_request", "seed_region"]

BOOTSTRAP_VERSION = "30"
"""Claimed version of the CDK's bootstrap template, which the CLI reads from SSM before it deploys."""

_QUALIFIER = "hnb659fds"  # the CDK's default


def bootstrap_bucket(region: str) -> str:
    """Return the name of the bucket that the CDK publishes assets to."""
    return f"cdk-{_QUALIFIER}-assets-{ACCOUNT}-{region}"


def seed_region(clients: Clients, region: str) -> None:
    """Bootstrap a Region; later calls do nothing."""
    seeded = region_state("seed", region=region, new=list[bool])
    if seeded:
        return
    seeded.append(True)
    configuration = (
        {} if region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": region}}
    )
    clients.get("s3", region).create_bucket(Bucket=bootstrap_bucket(region), **configuration)
    clients.get("ssm", region).put_parameter(
        Name=f"/cdk-bootstrap/{_QUALIFIER}/version", Value=BOOTSTRAP_VERSION, Type="String"
    )
    _seed_bootstrap_roles(region)


def _seed_bootstrap_roles(region: str) -> None:
    """Create the roles of the CDK's bootstrap; as by default, CloudFormation's role has administrator access."""
    backend = iam_backends[ACCOUNT]["aws"]
    for purpose in ("cfn-exec", "deploy", "file-publishing", "image-publishing", "lookup"):
        trusted = {"Service": "cloudformation.amazonaws.com"} if purpose == "cfn-exec" else {"AWS": ACCOUNT}
        trust = {"Effect": "Allow", "Principal": trusted, "Action": "sts:AssumeRole"}
        role = backend.create_role(
            f"cdk-{_QUALIFIER}-{purpose}-role-{ACCOUNT}-{region}",
            json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
            path="/",
            permissions_boundary=None,
            description="",
            tags=[],
            max_session_duration="3600",
        )
        if purpose == "cfn-exec":
            everything = {"Effect": "Allow", "Action": "*", "Resource": "*"}
            policy = {"Version": "2012-10-17", "Statement": [everything]}
            role.put_policy("administrator", json.dumps(policy))


def seed_capacity_block(
    *,
    reservation_id: str,
    instance_type: str,
    count: int,
    zone_id: str,
    start: datetime,
    end: datetime,
    region: str,
    state: str = "",
) -> None:
    """Seed a Capacity Block with a given reservation ID that was never purchased here.

    Args:
        reservation_id: ``cr-...``.
        instance_type: Instance type.
        count: Number of instances.
        zone_id: Availability Zone ID.
        start: Start time.
        end: End time.
        region: Region of the zone.
        state: Fixed state to report. Default: follows the clock.

    Raises:
        ValueError: If the Region has no such zone.
    """
    _seed_reservation(
        reservation_id=reservation_id,
        segment=_segment(region, zone_id, instance_type, count),
        region=region,
        start=start,
        end=end,
        block_id=hex_id("cb"),
        forced_state=state,
    )


def seed_from_request(clients: Clients, order: Mapping[str, Any]) -> None:
    """Seed what `ultracluster_local.seeding.seed_client.seed` requests.

    Args:
        clients: Clients of this local AWS.
        order: ``regions``, ``images``, ``container_images`` and ``reservations``; existing ones are left unchanged.

    Raises:
        ValueError: If a Region has no such zone.
    """
    for region in order["regions"]:
        seed_region(clients, region)
    for wanted in order["images"]:
        backend = ec2_backends[ACCOUNT][wanted["region"]]
        if wanted["image_id"] not in backend.amis:
            backend.amis[wanted["image_id"]] = Ami(
                backend,
                wanted["image_id"],
                name=f"fake-{wanted['image_id']}",
                description="A fake of the local AWS",
                architecture="x86_64",
                virtualization_type="hvm",
                # As the AMIs of Amazon Linux 2023 have it; EC2 adds a second volume for another name in a launch template.
                root_device_name="/dev/xvda",
                region_name=wanted["region"],
            )
        node_images(wanted["region"])[wanted["image_id"]] = NodeImage(
            files=wanted.get("files") or {}, shared=wanted.get("shared", "")
        )
    for wanted in order.get("container_images", []):
        _seed_container_image(clients.get("ecr", wanted["region"]), wanted["repository"], wanted["tag"])
    for wanted in order["reservations"]:
        region, reservation_id = wanted["region"], wanted["reservation_id"]
        if reservation_id in capacity_market(region).reservations:
            continue
        _seed_reservation(
            reservation_id=reservation_id,
            segment=_segment(region, wanted["zone_id"], wanted["instance_type"], wanted["count"]),
            region=region,
            start=datetime.fromisoformat(wanted["start"]),
            end=datetime.fromisoformat(wanted["end"]) if wanted["end"] else None,
            block_id=hex_id("cb") if wanted["block"] else "",
        )


def _seed_container_image(ecr: Any, repository: str, tag: str) -> None:
    try:
        ecr.create_repository(repositoryName=repository)
    except ecr.exceptions.RepositoryAlreadyExistsException:
        if any(one.get("imageTag") == tag for one in ecr.list_images(repositoryName=repository)["imageIds"]):
            return
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
        "config": {"mediaType": "application/vnd.docker.container.image.v1+json", "size": 0, "digest": ""},
        "layers": [],
        "annotations": {"fake": f"{repository}:{tag}"},
    }
    ecr.put_image(repositoryName=repository, imageTag=tag, imageManifest=json.dumps(manifest))


def _segment(region: str, zone_id: str, instance_type: str, count: int) -> Segment:
    names = zone_names(Request(operation="", parameters={}, region=region))
    if zone_id not in names:
        raise ValueError(f"{region} has no zone {zone_id}; it has {', '.join(sorted(names))}")
    return Segment(zone=names[zone_id], zone_id=zone_id, instance_type=instance_type, count=count)


def _seed_reservation(
    *,
    reservation_id: str,
    segment: Segment,
    region: str,
    start: datetime,
    end: datetime | None,
    block_id: str,
    forced_state: str = "",
) -> None:
    request = Request(operation="", parameters={}, region=region)
    capacity_market(region).reservations[reservation_id] = Reservation(
        reservation_id=reservation_id,
        arn=request.arn("ec2", f"capacity-reservation/{reservation_id}"),
        segment=segment,
        platform="Linux/UNIX",
        created=CLOCK.now(),
        start=start,
        end=end,
        match_criteria="targeted",
        tags={},
        end_type="limited" if end else "unlimited",
        block_id=block_id,
        paid=CLOCK.now() if block_id else None,
        forced_state=forced_state,
    )
