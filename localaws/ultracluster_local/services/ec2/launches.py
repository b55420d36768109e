"""Constraints of RunInstances, after the launch template has been applied.

A message without a source nearby is that of issues of the tools that launch instances (hashicorp/terraform-provider-aws,
aws/aws-parallelcluster, aws/karpenter-provider-aws); limits of interfaces are those that DescribeInstanceTypes shows.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from moto.ec2.models import ec2_backends
from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.iam.models import iam_backends

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.ec2.errors import invalid_combination, invalid_value
from ultracluster_local.services.ec2.launch_templates import check_reservation
from ultracluster_local.services.ec2.networks import members_of, network_of, subnets
from ultracluster_local.services.ec2.placement_groups import placement_groups
from ultracluster_local.services.ec2.user_data import check_user_data
from ultracluster_local.services.ec2.volumes import check_mapping
from ultracluster_local.services.handlers import Request, ServiceError

__all__ = ["check_launch", "zone_of"]

_EFA = frozenset({"efa", "efa-only"})
_INTERFACE_TYPES = _EFA | {"interface"}


def check_launch(request: Request, given: Mapping[str, Any]) -> None:
    """Refuse launches that EC2 refuses.

    Args:
        request: API request.
        given: Parameters, with those of the launch template.

    Raises:
        ServiceError: If it is invalid.
    """
    least, most = int(given.get("MinCount") or 0), int(given.get("MaxCount") or 0)
    if least > most:
        raise invalid_value(
            f"Invalid value '{most}' for MaxCount. Must not be lower than MinCount ({least})."
        )
    if given.get("UserData"):
        check_user_data(given["UserData"])
    facts = INSTANCE_TYPES.get(given.get("InstanceType") or "")
    if facts is None and given.get("InstanceType"):
        raise invalid_value(f"Invalid value '{given['InstanceType']}' for InstanceType.")
    if not given.get("ImageId"):  # an image may also come from the launch template
        raise ServiceError("MissingParameter", "The request must contain the parameter ImageId")
    _check_addresses(given, most)
    _check_combinations(given)
    _check_names(request, given)
    _check_interfaces(request, given, facts or {})
    _check_placement(request, given, facts or {})
    for mapping in given.get("BlockDeviceMappings") or []:
        check_mapping(request, mapping, given.get("ImageId") or "")


def _check_addresses(given: Mapping[str, Any], most: int) -> None:
    """API_RunInstances, PrivateIpAddress."""
    interfaces = given.get("NetworkInterfaces") or []
    chosen = given.get("PrivateIpAddress") or any(
        one.get("PrivateIpAddress") or one.get("PrivateIpAddresses") for one in interfaces
    )
    if chosen and most > 1:
        raise invalid_combination(
            "The parameter PrivateIpAddress is supported for a single instance launch only"
        )
    if given.get("PrivateIpAddress") and interfaces:
        raise invalid_combination(
            "Network interfaces and an instance-level private address may not be specified on the same request"
        )


def _check_combinations(given: Mapping[str, Any]) -> None:
    if given.get("NetworkInterfaces") and given.get("SubnetId"):  # aws/aws-cli#809
        raise invalid_combination(
            "Network interfaces and an instance-level subnet ID may not be specified on the same request"
        )
    if given.get("SecurityGroups") and given.get("SubnetId"):  # machulav/ec2-github-runner#168
        raise invalid_combination("The parameter groupName cannot be used with the parameter subnet")
    market = given.get("InstanceMarketOptions")
    if market and not market.get("MarketType"):  # spinnaker/spinnaker#6114
        raise ServiceError("MissingParameter", "The request must contain the parameter MarketType.")
    check_reservation(given)


def _check_names(request: Request, given: Mapping[str, Any]) -> None:
    """Refuse an image, a key pair and an instance profile that do not exist."""
    ec2 = ec2_backends[ACCOUNT][request.region]
    image = given.get("ImageId") or ""
    if image.startswith("ami-") and image not in ec2.amis:
        raise ServiceError("InvalidAMIID.NotFound", f"The image id '[{image}]' does not exist")
    key = given.get("KeyName")
    if key and all(one.key_name != key for one in ec2.describe_key_pairs([])):
        raise ServiceError("InvalidKeyPair.NotFound", f"The key pair '{key}' does not exist")
    _check_profile(given.get("IamInstanceProfile") or {})


def _check_profile(profile: Mapping[str, Any]) -> None:  # CiscoDevNet/cloud-cml#4
    known = iam_backends[ACCOUNT]["aws"].instance_profiles.values()
    for key, member, word in (("Name", "name", "name"), ("Arn", "arn", "ARN")):
        if profile.get(key) and all(getattr(one, member) != profile[key] for one in known):
            raise invalid_value(
                f"Value ({profile[key]}) for parameter iamInstanceProfile.{key.lower()} is invalid. Invalid IAM Instance "
                f"Profile {word}"
            )


# Network interfaces


def _check_interfaces(request: Request, given: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    interfaces = given.get("NetworkInterfaces") or []
    if not interfaces:
        _check_network(request, given.get("SubnetId"), given.get("SecurityGroupIds") or [])
        return
    if given.get("SecurityGroupIds") or given.get("SecurityGroups"):
        raise invalid_combination(
            "Network interfaces and an instance-level security groups may not be specified on the same request"
        )
    if len(interfaces) > 1 and any(one.get("AssociatePublicIpAddress") for one in interfaces):
        # aws/karpenter-provider-aws#5666
        raise invalid_combination(
            "The associatePublicIPAddress parameter cannot be specified when launching with multiple network interfaces."
        )
    places = Counter((one.get("NetworkCardIndex") or 0, one.get("DeviceIndex")) for one in interfaces)
    if (0, 0) not in places:  # awsdocs/aws-cloudformation-user-guide#449
        raise invalid_combination("When specifying network interfaces, you must include a device at index 0.")
    if max(places.values()) > 1:
        raise invalid_value("Each network interface requires a unique device index.")
    known = ec2_backends[ACCOUNT][request.region].enis
    for one in interfaces:
        used = known.get(one.get("NetworkInterfaceId") or "")
        if used is not None and used.instance is not None:  # hashicorp/terraform-provider-aws#27513
            raise ServiceError("InvalidNetworkInterface.InUse", f"Interface: [{used.id}] in use.")
        _check_network(request, one.get("SubnetId"), one.get("Groups") or [])
    zones = {
        subnets(request.region)[one["SubnetId"]].availability_zone
        for one in interfaces
        if one.get("SubnetId")
    }
    if len(zones) > 1:
        raise invalid_combination("Network interfaces of an instance must be in the same Availability Zone")
    if facts:
        _check_cards(given["InstanceType"], interfaces, facts["NetworkInfo"])


def _check_cards(name: str, interfaces: list[Mapping[str, Any]], network: Mapping[str, Any]) -> None:
    if len(interfaces) > network["MaximumNetworkInterfaces"]:
        raise ServiceError(
            "AttachmentLimitExceeded", f"Interface count {len(interfaces)} exceeds the limit for {name}"
        )
    cards = Counter(one.get("NetworkCardIndex") or 0 for one in interfaces)
    if max(cards) >= network.get("MaximumNetworkCards", 1):
        raise invalid_value(f"Network card index {max(cards)} is not supported for instance type {name}")
    for one in interfaces:
        if one.get("InterfaceType", "interface") not in _INTERFACE_TYPES:
            raise invalid_value(f"Invalid value '{one['InterfaceType']}' for InterfaceType.")
    with_efa = [one for one in interfaces if one.get("InterfaceType") in _EFA]
    if with_efa:
        _check_efa(name, with_efa, network)


@Checks(service="ec2")("AttachNetworkInterface")
def check_attachment(request: Request) -> None:
    """Refuse an EFA on an instance of a type that has none."""
    backend, given = ec2_backends[ACCOUNT][request.region], request.parameters
    interface = backend.enis.get(given["NetworkInterfaceId"])
    instance = backend.get_instance_by_id(given["InstanceId"])
    if interface is None or instance is None or interface.interface_type not in _EFA:
        return
    attached = {**given, "InterfaceType": interface.interface_type}
    if facts := INSTANCE_TYPES.get(instance.instance_type):
        _check_efa(instance.instance_type, [attached], facts["NetworkInfo"])


def _check_efa(name: str, with_efa: list[Mapping[str, Any]], network: Mapping[str, Any]) -> None:
    if not network.get("EfaSupported"):  # devopsacademyau/academy#277
        raise invalid_combination(f"{name} instances do not support Elastic Fabric Adapters.")
    if max(Counter(one.get("NetworkCardIndex") or 0 for one in with_efa).values()) > 1:
        # hashicorp/terraform-provider-aws#24043
        raise invalid_combination("You can not attach more than 1 EFA on a single network card.")
    if len(with_efa) > network["EfaInfo"]["MaximumEfaInterfaces"]:
        raise ServiceError(
            "AttachmentLimitExceeded", f"EFA interface count {len(with_efa)} exceeds the limit for {name}"
        )
    kinds = {
        one["NetworkCardIndex"]: one.get("InterfaceTypes") or _INTERFACE_TYPES
        for one in network["NetworkCards"]
    }
    for one in with_efa:  # aws/aws-parallelcluster#7143: card 0 of p6-b300 is for ENA only
        card = one.get("NetworkCardIndex") or 0
        if one["InterfaceType"] not in kinds.get(card, _INTERFACE_TYPES):
            raise invalid_combination(
                f"Network card {card} of {name} does not support Elastic Fabric Adapters."
            )
    for one in with_efa:  # AWSEC2 user guide, efa.html, "EFA-only"
        if one["InterfaceType"] == "efa-only" and not (one.get("NetworkCardIndex") or one.get("DeviceIndex")):
            raise invalid_combination(
                "An EFA-only network interface cannot be the primary network interface of an instance."
            )


def _check_network(request: Request, subnet_id: str | None, groups: list[str]) -> None:
    if "" in groups:  # ryanmurakami/hbfl#58, trevor-laher/OnDemandMinecraft#36
        raise invalid_value("Value () for parameter groupId is invalid. The value cannot be empty")
    if not subnet_id or subnet_id not in subnets(request.region):
        return  # moto reports an unknown template
    network = subnets(request.region)[subnet_id].vpc_id
    for group_id in groups:
        if network_of(request.region, group_id) not in {None, network}:
            raise ServiceError(
                "InvalidParameter",
                f"Security group {group_id} and subnet {subnet_id} belong to different networks.",
            )


# Placement


def _check_placement(request: Request, given: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    name = (given.get("Placement") or {}).get("GroupName")
    if not name:
        return
    group = placement_groups(request.region).get(name)
    if group is None:
        raise ServiceError("InvalidPlacementGroup.Unknown", f"The placement group '{name}' is unknown")
    strategies = (facts.get("PlacementGroupInfo") or {}).get("SupportedStrategies")
    if strategies is not None and group["Strategy"] not in strategies:
        raise invalid_combination(  # dstackai/dstack#2872 (2025-07-03)
            f"{group['Strategy'].title()} placement groups are not supported by the '{given['InstanceType']}' instance type. "
            "Specify a supported instance type or change the placement group strategy, and try again."
        )
    zone = zone_of(request.region, given)
    for one in members_of(request.region, name) if group["Strategy"] == "cluster" else ():
        if zone not in {"", one.placement.zone}:  # bcbio/bcbio-nextgen-vm#45
            problem = f"The placement group '{name}' is in use in another availability zone"
            raise ServiceError("InvalidPlacementGroup.InUse", f"{problem}: {one.placement.zone}")


def zone_of(region: str, given: Mapping[str, Any]) -> str:
    """Return the Availability Zone of a launch; empty if it names none.

    Args:
        region: Region.
        given: Parameters of RunInstances.
    """
    interfaces = given.get("NetworkInterfaces") or [{}]
    subnet = subnets(region).get(given.get("SubnetId") or interfaces[0].get("SubnetId") or "")
    if subnet:
        return str(subnet.availability_zone)
    return (given.get("Placement") or {}).get("AvailabilityZone") or ""
