"""Launch templates: market, reservation, placement, image, metadata options and user data."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_catalog.machines.instance_type import CAPACITY_BLOCK
from ultracluster_catalog.prices.prices import ON_DEMAND_PRICES
from ultracluster_checks.machines import (
    AUTO_SCALING_GROUP,
    COMPUTE_ENVIRONMENT,
    LAUNCH_TEMPLATE,
    catalogued,
    instance_type_names,
    is_block,
    launch_data,
    template_types,
    users_of,
)
from ultracluster_checks.problem import Problem
from ultracluster_checks.shared_rules import MARKET_WITH_RESERVATION, RESERVATION_WITHOUT_SPOT
from ultracluster_checks.template import Property, Resource, Templates
from ultracluster_checks.values import Unknown
from ultracluster_rules.capacity import RESERVATION, check_block_placement, check_purchase_option
from ultracluster_rules.findings import quote
from ultracluster_rules.images import AMI
from ultracluster_rules.machines import INSTANCE_TYPE

NEW_RESERVATION: Final = "UC4210"
"""Code of a reservation that a template makes, which is billed from its deployment."""

_LARGEST_USER_DATA: Final = 16 * 1024  # bytes before Base64 (EC2 User Guide, instance user data, 2026-10)
_PART_OF_BATCH: Final = (
    1024  # 770 bytes in aws/aws-cdk#9900 (2020-08): eight lines of agent settings, with MIME headers
)
_BOUNDARY: Final = re.compile(r"""boundary="?([^"\s;$]+)(?:["\s;]|$)""", re.IGNORECASE)  # RFC 2046, 5.1.1
_PRICED_ON_DEMAND: Final = {name for name, _ in ON_DEMAND_PRICES}
_SSM_TYPE: Final = "AWS::SSM::Parameter::Value<"


def _launches(templates: Templates) -> Iterator[tuple[Resource, Property]]:
    for template in templates.of_type(LAUNCH_TEMPLATE):
        yield template, launch_data(template)


def market_and_target_go_together(templates: Templates) -> Iterator[Problem]:
    """Find Capacity Blocks without a reservation target or with Spot, and targets that allow other capacity."""
    for template, data in _launches(templates):
        market, target = data["InstanceMarketOptions"], _target(data)
        if is_block(data):
            if not isinstance(target.value, Unknown) and _target_is_missing(target):
                yield Problem.of(
                    target,
                    MARKET_WITH_RESERVATION,
                    "market type capacity-block without the reservation that nodes are launched into",
                    "CapacityReservationId, or the ARN of a resource group of blocks",
                )
            if not market["SpotOptions"].missing:
                yield Problem.of(
                    market["SpotOptions"],
                    RESERVATION_WITHOUT_SPOT,
                    "options of Spot for a Capacity Block",
                    "none",
                    "Leave them out",
                )
            yield from _spot_users(template, "a Capacity Block")
        elif market["MarketType"].text == "spot" and not _target_is_missing(target):
            yield _spot_in_reservation(
                market["MarketType"], "spot, and the target is a reservation", "capacity-block, or none"
            )
        elif market["MarketType"].missing and not _target_is_missing(target):
            yield from _spot_users(template, "a reservation")
            yield from _target_alone(template, data, target)


def _spot_users(template: Resource, capacity: str) -> Iterator[Problem]:
    for user in users_of(template):
        kind = user["ComputeResources"]["Type"]
        if kind.text == "SPOT":
            yield _spot_in_reservation(
                kind, f"SPOT, and {template.logical_id} launches into {capacity}", "EC2"
            )


def _spot_in_reservation(place: Property, problem: str, allowed: str) -> Problem:
    return Problem.of(place, RESERVATION_WITHOUT_SPOT, problem, allowed)


def _target(data: Property) -> Property:
    return data["CapacityReservationSpecification"]["CapacityReservationTarget"]


def _target_is_missing(target: Property) -> bool:
    names = (target["CapacityReservationId"], target["CapacityReservationResourceGroupArn"])
    return all(name.missing for name in names)


def _target_alone(template: Resource, data: Property, target: Property) -> Iterator[Problem]:
    """Find targets without a market type, which suit On-Demand Capacity Reservations only."""
    for machine in template_types(template):
        if CAPACITY_BLOCK in machine.purchase_options and machine.name not in _PRICED_ON_DEMAND:
            yield Problem.of(
                data["InstanceMarketOptions"],
                "UC4203",
                f"a reservation without a market type, and no on-demand price of {machine.name} is known; if it is a Capacity "
                "Block, no node starts",
                f"MarketType: {CAPACITY_BLOCK} for a Capacity Block",
            )
    preference = data["CapacityReservationSpecification"]["CapacityReservationPreference"]
    group = target["CapacityReservationResourceGroupArn"]
    if not group.missing and (preference.missing or preference.text in {"open", "none"}):
        yield Problem.of(
            preference,
            "UC4204",
            "when the reservations of the group are full, EC2 starts further nodes on demand",
            "capacity-reservations-only",
        )


def blocks_have_no_placement_group(templates: Templates) -> Iterator[Problem]:
    """Find Capacity Blocks in placement groups, which EC2 rejects or cannot fill."""
    for template, data in _launches(templates):
        if not is_block(data):
            continue
        places = [data["Placement"]["GroupName"], data["Placement"]["GroupId"]]
        places += [_group(user) for user in users_of(template)]
        for place in places:
            if not place.missing and not isinstance(place.value, Unknown):
                for finding in check_block_placement(block=True, placed=True):
                    yield Problem(place, finding)


def _group(user: Resource) -> Property:
    whole = user.properties if user.type == AUTO_SCALING_GROUP else user["ComputeResources"]
    return whole["PlacementGroup"]


def blocks_have_one_type(templates: Templates) -> Iterator[Problem]:
    """Find Capacity Blocks with several instance types."""
    for template, data in _launches(templates):
        for user in users_of(template) if is_block(data) else ():
            types = user["ComputeResources"]["InstanceTypes"]
            if user.type == COMPUTE_ENVIRONMENT and len(types.certain) > 1:
                yield Problem.of(
                    types,
                    "UC4205",
                    f"{len(types.certain)} instance types for a Capacity Block, which holds one type",
                    "its type",
                )


def types_are_sold_as_blocks(templates: Templates) -> Iterator[Problem]:
    """Find Capacity Blocks of instance types that AWS does not sell in blocks."""
    for template, data in _launches(templates):
        for machine in template_types(template) if is_block(data) else ():
            for finding in check_purchase_option(machine, CAPACITY_BLOCK):
                yield Problem(data["InstanceMarketOptions"]["MarketType"], finding)


def reservations_are_named_by_id(templates: Templates) -> Iterator[Problem]:
    """Find targets that are not the ID of a Capacity Reservation, such as that of an offering."""
    for _, data in _launches(templates):
        at = _target(data)["CapacityReservationId"]
        text = at.text
        for finding in [] if text is None else RESERVATION.check(text):
            yield Problem(at, finding)


def instance_types_are_known(templates: Templates) -> Iterator[Problem]:
    """Find sizes of Trainium and Inferentia families that do not exist."""
    for at in _type_names(templates):
        if catalogued(at) is False:
            yield from (Problem(at, finding) for finding in INSTANCE_TYPE.check(at.text))


def _type_names(templates: Templates) -> Iterator[Property]:
    for _, data in _launches(templates):
        yield data["InstanceType"]
    for environment in templates.of_type(COMPUTE_ENVIRONMENT):
        yield from instance_type_names(environment) or ()
    for instance in templates.of_type("AWS::EC2::Instance", "AWS::EC2::CapacityReservation"):
        yield instance["InstanceType"]


def images_are_pinned(templates: Templates) -> Iterator[Problem]:
    """Find AMIs that are not pinned: each deployment or launch looks them up again."""
    for at in _images(templates):
        text = at.text
        if isinstance(at.value, Unknown):
            kind = str(at.resource.template.parameters.get(at.value.name, {}).get("Type"))
            if kind.startswith(_SSM_TYPE):
                yield Problem.of(
                    at,
                    "UC4206",
                    f"the parameter {at.value.name} is looked up at each deployment, and a new image replaces the nodes",
                    "the ID of an AMI",
                    "Resolve it once and pin the ID",
                )
        elif text is not None and text.startswith("resolve:ssm:"):
            yield Problem.of(
                at,
                "UC4206",
                "the image is looked up at each launch, so that nodes of one job may run different ones",
                "the ID of an AMI",
                "Resolve it once and pin the ID",
            )
        elif text is not None and not text.startswith("{{resolve:"):
            yield from (Problem(at, finding) for finding in AMI.check(text))


def _images(templates: Templates) -> Iterator[Property]:
    for _, data in _launches(templates):
        if not data["ImageId"].missing:
            yield data["ImageId"]
    for environment in templates.of_type(COMPUTE_ENVIRONMENT):
        for item in environment["ComputeResources"]["Ec2Configuration"].items:
            if not item["ImageIdOverride"].missing:
                yield item["ImageIdOverride"]


def metadata_needs_a_token(templates: Templates) -> Iterator[Problem]:
    """Find nodes that allow IMDSv1, which exposes their credentials to request forgery."""
    for _, data in _launches(templates):
        options = data["MetadataOptions"]
        if isinstance(options.value, Unknown) or options["HttpEndpoint"].text == "disabled":
            continue
        tokens = options["HttpTokens"]
        if tokens.missing or tokens.text == "optional":
            yield Problem.of(
                tokens,
                "UC4207",
                "instance metadata, with the credentials of the node, is read without a token",
                "HttpTokens: required",
            )


def user_data_can_be_merged(templates: Templates) -> Iterator[Problem]:
    """Find user data that AWS Batch cannot merge or EC2 rejects."""
    for template, data in _launches(templates):
        at = data["UserData"]
        start = at.pattern.lstrip()
        if not start or start.startswith("${"):
            continue
        in_batch = any(user.type == COMPUTE_ENVIRONMENT for user in users_of(template))
        written = start.startswith(("#!", "#cloud-config", "<"))
        if in_batch and written:
            yield Problem.of(
                at,
                "UC4208",
                f"got {quote(start.splitlines()[0])}; AWS Batch puts its own part before it, and the environment turns INVALID",
                "MIME multipart, which begins with MIME-Version: 1.0 or Content-Type: multipart/mixed",
            )
        boundary = _BOUNDARY.search(start.partition("\n\n")[0]) if in_batch and not written else None
        if boundary and f"--{boundary[1]}" not in map(str.rstrip, start.splitlines()):
            yield Problem.of(
                at,
                "UC4208",
                f"no part begins with the boundary that the header names, {quote(boundary[1])}, so that none of it runs",
                f"the line --{boundary[1]} before each part",
            )
        size = len(at.pattern.encode(errors="replace"))
        most = _LARGEST_USER_DATA - _PART_OF_BATCH if in_batch else _LARGEST_USER_DATA
        if at.text is not None and size > most:
            beside = ", to which AWS Batch adds another part" if in_batch else ""
            yield Problem.of(
                at, "UC4209", f"{size:,} bytes{beside}", f"at most {most:,} bytes", "Read the rest from S3"
            )


def nothing_is_reserved(templates: Templates) -> Iterator[Problem]:
    """Find reservations that are billed from the moment of deployment."""
    for resource in templates.of_type("AWS::EC2::CapacityReservation", "AWS::EC2::CapacityReservationFleet"):
        yield Problem.of(
            resource.properties,
            NEW_RESERVATION,
            "the reservation is billed from its deployment until it is cancelled, used or not",
            "the ID of an existing reservation",
        )
