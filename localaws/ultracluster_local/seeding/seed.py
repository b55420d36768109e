"""What a Region holds before anything is deployed: the CDK's bootstrap, without its stack."""

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
from ultracluster_local.instance.state import remembered
from ultracluster_local.services.ec2.capacity import zone_names
from ultracluster_local.services.ec2.capacity_market import Reservation, Segment, capacity_market
from ultracluster_local.services.handlers import Request, hex_id

__all__ = ["BOOTSTRAP_VERSION", "bootstrap_bucket", "seed_as_ordered", "seed_capacity_block", "seed_region"]

BOOTSTRAP_VERSION = "30"
"""Version of the CDK's bootstrap template that is claimed; the CLI asks SSM for it before it deploys."""

_QUALIFIER = "hnb659fds"  # the CDK's default


def bootstrap_bucket(region: str) -> str:
    """Return the name of the bucket that the CDK publishes assets to."""
    return f"cdk-{_QUALIFIER}-assets-{ACCOUNT}-{region}"


def seed_region(clients: Clients, region: str) -> None:
    """Make a Region bootstrapped, once; every later call does nothing."""
    seeded = remembered("seed", region=region, new=list[bool])
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
    """The roles of the CDK's bootstrap; that of CloudFormation may do everything, as it may by default."""
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
    """Let a Capacity Block exist that nobody bought here, so that the ids of a rollout lead somewhere.

    Args:
        reservation_id: ``cr-...``.
        instance_type: Type of its instances.
        count: Number of its instances.
        zone_id: Id of its zone.
        start: When it starts.
        end: When it ends.
        region: Region of the zone.
        state: State to show whatever the time. Default: what the clock says.

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


def seed_as_ordered(clients: Clients, order: Mapping[str, Any]) -> None:
    """Do what `ultracluster_local.seeding.seed_client.seed` asks for.

    Args:
        clients: Clients of this local AWS.
        order: ``regions``, ``images``, ``container_images`` and ``reservations``; what exists already stays as it is.

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
                description="A fake of the local AWS, so that the image of a rollout exists",
                architecture="x86_64",
                virtualization_type="hvm",
                region_name=wanted["region"],
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
