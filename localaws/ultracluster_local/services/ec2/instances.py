"""Launches into reservations: RunInstances uses the targeted reservation and is refused when that is full.

moto launches instances without reservations and without our launch templates.
"""

import copy
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

import moto.ec2.utils
from moto.ec2.models import ec2_backends
from moto.ec2.models.elastic_network_interfaces import Attachment
from moto.ec2.models.instances import Instance, InstanceBackend
from moto.ec2.responses import EC2Response
from moto.ec2.utils import filter_dict_attribute_mapping

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.ec2.capacity import find_reservation, instances_in
from ultracluster_local.services.ec2.capacity_market import Reservation
from ultracluster_local.services.ec2.errors import invalid_combination, invalid_value
from ultracluster_local.services.ec2.launch_templates import template_data, template_tags
from ultracluster_local.services.ec2.launches import check_launch, zone_of
from ultracluster_local.services.handlers import Request, ServiceError
from ultracluster_local.services.replacing import instead_of

__all__: list[str] = []

_BEYOND_DEVICES = 1000  # keys of interfaces whose device index an interface of another card has
_CAPACITY_BLOCK = "capacity-block"
_FILTERS = {
    "capacity-reservation-id": "capacity_reservation_id",
    "iam-instance-profile.arn": "instance_profile_arn",
    "instance-lifecycle": "lifecycle",
}
"""Filters of DescribeInstances that moto lacks, and the attributes of its instances."""


_check = Checks(service="ec2")


def _instances(request: Request) -> list[Any]:
    names = request.parameters.get("InstanceIds") or [request.parameters.get("InstanceId")]
    found = map(ec2_backends[ACCOUNT][request.region].get_instance_by_id, names)
    return [one for one in found if one is not None]


@_check("ModifyInstanceAttribute", "StartInstances", "StopInstances")
def check_state(request: Request) -> None:
    """Refuse an instance that is terminated, and another type for one that is not stopped.

    burstable-ai/burst#42; EC2's errors-overview.html, IncorrectInstanceState
    """
    for one in _instances(request):
        problem = f"The instance '{one.id}' is not in the 'stopped' state."
        if request.operation != "ModifyInstanceAttribute":
            which, done = ("The", "started") if request.operation == "StartInstances" else ("This", "stopped")
            problem = f"{which} instance '{one.id}' is not in a state from which it can be {done}."
        if one.state == "terminated" or (request.parameters.get("InstanceType") and one.state != "stopped"):
            raise ServiceError("IncorrectInstanceState", problem)


@_check("StartInstances")
def check_start_instances(request: Request) -> None:
    """Refuse an instance whose reservation is full, over, or for another type (hashicorp/terraform-provider-aws#32458)."""
    for instance in _instances(request):
        reserved = getattr(instance, "capacity_reservation_id", None)
        if reserved and instance.state == "stopped":
            reservation = find_reservation(request, reserved)
            if reservation.segment.instance_type != instance.instance_type or not _room(request, reservation):
                raise _no_room()


@_check("StopInstances", "TerminateInstances")
def check_protection(request: Request) -> None:
    """Refuse to stop or terminate an instance that is protected against stops.

    cloud-custodian/cloud-custodian, tests/data/placebo, test_ec2_stop_with_protection_enabled and its _ephemeral.
    """
    done = "stopped" if request.operation == "StopInstances" else "terminated"
    for one in _instances(request):
        first = done == "terminated" and getattr(one, "disable_api_termination", False)
        if getattr(one, "disable_api_stop", False) is True and not first:  # moto says the first
            problem = f"The instance '{one.id}' may not be {done}. Modify its 'disableApiStop' instance attribute and try again."
            raise ServiceError("OperationNotPermitted", problem)


@_check("CopyImage", "CreateImage", "RegisterImage")
def check_image_name(request: Request) -> None:
    """Refuse a name that an image of the account has: EC2's errors-overview.html, InvalidAMIName.Duplicate."""
    name = request.parameters.get("Name")
    for one in ec2_backends[ACCOUNT][request.region].amis.values():
        if one.owner_id == ACCOUNT and one.name == name:
            problem = f"AMI name {name} is already in use by AMI {one.id}"
            raise ServiceError("InvalidAMIName.Duplicate", problem)


@_check("AttachNetworkInterface")
def check_attach_network_interface(request: Request) -> None:
    """Refuse a device index that an interface of the instance has (cilium/cilium#42512); moto knows one network card."""
    index = int(request.parameters["DeviceIndex"])
    for one in _instances(request):
        if index in one.nics and not request.parameters.get("NetworkCardIndex"):
            raise invalid_value(
                f"Instance '{one.id}' already has an interface attached at device index '{index}'."
            )


filter_dict_attribute_mapping.update(_FILTERS)


@instead_of(moto.ec2.utils, "instance_value_in_filter_values")
def _with_wildcards(original: Any, value: Any, wanted: Any) -> Any:
    """Match ``*`` and ``?`` in the values of filters, which moto knows in those of tags only.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Filtering.html (2026-11-23)
    """
    if isinstance(value, str):
        return any(fnmatchcase(value, pattern.replace("[", "[[]")) for pattern in wanted)
    return original(value, wanted)


@instead_of(Instance, "terminate")
def _with_all_interfaces(original: Any, instance: Any) -> Any:
    """Delete the interfaces of all network cards; moto knows one for each device index, which the cards share.

    Accept an instance that is terminated already:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_TerminateInstances.html
    """
    if instance.state == "terminated":
        return copy.copy(instance._state)  # noqa: SLF001 - moto has no public name for it
    own = [one for one in instance.ec2_backend.enis.values() if one.instance is instance]
    answer = original(instance)
    for interface in own:
        if interface.delete_on_termination and interface.id in instance.ec2_backend.enis:
            interface.stop()
            interface.delete()
    return answer


@instead_of(InstanceBackend, "terminate_instances")
def _unless_protected(original: Any, ec2: Any, names: list[str]) -> Any:
    """Terminate the instances of other zones than those of protected ones, and then refuse: API_TerminateInstances."""
    found = ec2.get_multi_instances_by_id(names)
    kept = {one.placement.zone for one in found if one.disable_api_termination is True}
    found.sort(key=lambda one: (one.placement.zone in kept, one.disable_api_termination is not True))
    return original(ec2, [one.id for one in found] if kept else names)


@instead_of(Instance, "attach_eni")
def _on_any_card(original: Any, instance: Any, eni: Any, device_index: int) -> Any:
    """Keep each interface: moto forgets one if an interface of another card has its device index."""
    other = instance.nics.get(int(device_index))
    attachment = original(instance, eni, device_index)
    if other is not None and other is not eni:
        instance.nics[int(device_index)] = other
        instance.nics[_BEYOND_DEVICES + len(instance.nics)] = eni
    return attachment


@instead_of(Attachment, "__init__")
def _with_card(original: Any, attachment: Any, interface: Any) -> None:
    original(attachment, interface)
    attachment.network_card_index = getattr(interface, "network_card_index", 0)


@instead_of(Instance, "detach_eni")
def _from_any_card(original: Any, instance: Any, eni: Any) -> Any:
    eni.device_index = next((key for key, one in instance.nics.items() if one is eni), eni.device_index)
    return original(instance, eni)


@instead_of(EC2Response, "run_instances")
def _run_instances(original: Any, response: Any) -> Any:
    given = response.params
    request = Request(operation="RunInstances", parameters=given, region=response.region)
    template = given.pop("LaunchTemplate", None)
    own_tags = template_tags(response.region, template) if template else {}
    if template:
        for key, value in template_data(response.region, template).items():
            given.setdefault(key, value)
    check_launch(request, given)
    reservation = _targeted(request)
    if reservation is None:
        return _placed(original(response), given, own_tags)
    # EC2 launches up to MaxCount; moto launches MinCount.
    count = min(int(given["MaxCount"]), _room(request, reservation))
    if count < int(given["MinCount"]):
        raise _no_room()
    given["MinCount"] = count
    answer = _placed(original(response), given, own_tags)
    for instance in answer.result.instances:
        instance.capacity_reservation_id = reservation.reservation_id
        instance.lifecycle = _CAPACITY_BLOCK if reservation.block_id else None
    return answer


def _placed(answer: Any, given: Mapping[str, Any], own_tags: Mapping[str, str]) -> Any:
    """Record what moto drops.

    That is tags of the template, placement group, profile, protection, types and cards of interfaces, and that EC2 deletes the
    interface that it creates.
    """
    profile = given.get("IamInstanceProfile") or {}
    arn = profile.get("Arn") or f"arn:aws:iam::{ACCOUNT}:instance-profile/{profile.get('Name')}"
    for instance in answer.result.instances:
        instance.ec2_backend.create_tags([instance.id], dict(own_tags))
        instance.placement.group_name = (given.get("Placement") or {}).get("GroupName") or ""
        instance.instance_profile_arn = arn if profile else None
        instance.disable_api_termination = given.get("DisableApiTermination") or False
        if not given.get("NetworkInterfaces"):
            for interface in instance.nics.values():
                interface.delete_on_termination = True
        left = list(instance.nics.values())
        for one in given.get("NetworkInterfaces") or []:
            interface = next(each for each in left if each.device_index == one["DeviceIndex"])
            left.remove(interface)
            interface.interface_type = one.get("InterfaceType") or interface.interface_type
            interface.network_card_index = one.get("NetworkCardIndex") or 0
    return answer


def _targeted(request: Request) -> Reservation | None:
    specification = request.parameters.get("CapacityReservationSpecification") or {}
    target = specification.get("CapacityReservationTarget") or {}
    market: Mapping[str, Any] = request.parameters.get("InstanceMarketOptions") or {}
    if not target.get("CapacityReservationId"):
        if market.get("MarketType") == _CAPACITY_BLOCK or target:
            raise invalid_combination(
                "The local AWS launches into a reservation by ID only: specify CapacityReservationTarget."
                "CapacityReservationId.",
            )
        return None
    reservation = find_reservation(request, target["CapacityReservationId"])
    if bool(reservation.block_id) != (market.get("MarketType") == _CAPACITY_BLOCK):
        # terraform-aws-modules/terraform-aws-ec2-instance#404
        raise invalid_value(
            "The market type (purchasing) option is not valid. Choose a different market type and try again",
        )
    if (request.parameters.get("Placement") or {}).get("GroupName"):
        # terraform-aws-modules/terraform-aws-eks#3730; a reservation of the local AWS has no placement group
        raise ServiceError(
            "InsufficientInstanceCapacity",
            "There is no capacity available that matches your request: the RunInstances request includes a CPG constraint "
            "that doesn't match the reservation.",
        )
    if zone_of(request.region, request.parameters) not in {"", reservation.segment.zone}:
        raise _no_room()
    if reservation.segment.instance_type != request.parameters.get("InstanceType"):
        raise invalid_value(
            f"{reservation.reservation_id} is for {reservation.segment.instance_type} only.",
        )
    return reservation


def _no_room() -> ServiceError:
    problem = "The requested reservation does not have sufficient compatible and available capacity for this request."
    return ServiceError("ReservationCapacityExceeded", problem)


def _room(request: Request, reservation: Reservation) -> int:
    if reservation.block_id and CLOCK.now() >= reservation.termination():
        # "until 30 minutes before the end time of the Capacity Block": Amazon EKS User Guide, capacity-blocks
        return 0
    return reservation.available() - len(instances_in(request.region, reservation.reservation_id))
