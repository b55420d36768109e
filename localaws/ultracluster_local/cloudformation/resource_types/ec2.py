"""EC2 launch templates, placement groups and Capacity Reservations."""

from collections.abc import Mapping

from ultracluster_local.cloudformation.providers import ApiProvider, Context, Provider
from ultracluster_local.cloudformation.values import Properties, changed_keys, to_api
from ultracluster_local.instance.clients import service_model

__all__ = ["PROVIDERS"]


class _LaunchTemplate(ApiProvider):
    """A launch template. Changed data create a version; the default version stays 1."""

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        if {"LaunchTemplateData", "VersionDescription"} & set(changed_keys(old, new)):
            shape = service_model("ec2").operation_model("CreateLaunchTemplateVersion").input_shape
            sent = {key: new[key] for key in ("LaunchTemplateData", "VersionDescription") if key in new}
            request = to_api(shape, {**sent, "LaunchTemplateId": physical_id})
            context.call("ec2", "CreateLaunchTemplateVersion", request)
        return physical_id


PROVIDERS: Mapping[str, Provider] = {
    "AWS::EC2::LaunchTemplate": _LaunchTemplate.described(
        "ec2", "LaunchTemplate", "LaunchTemplateId", generates=("LaunchTemplateName", 128)
    ),
    "AWS::EC2::PlacementGroup": ApiProvider.described(
        "ec2", "PlacementGroup", "GroupName", tags_as="placement-group", generates=("GroupName", 255)
    ),
    "AWS::EC2::CapacityReservation": ApiProvider.described(
        "ec2",
        "CapacityReservation",
        "CapacityReservationId",
        deletes=("CancelCapacityReservation", "CapacityReservationId"),
        attribute_paths={
            name: name for name in ("AvailabilityZone", "AvailabilityZoneId", "InstanceType", "Tenancy")
        },
        updates=("ModifyCapacityReservation", "CapacityReservationId"),
    ),
}
